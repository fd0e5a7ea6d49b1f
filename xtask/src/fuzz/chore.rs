//! The chore itself: builds the targets, runs them side by side, and says what came of it.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::sync::Mutex;
use std::thread;
use std::time::Instant;

use super::corpus;
use super::report::{self, Outcome};
use crate::origin::Origin;
use crate::{Chore, run};

pub(crate) const CHORE: Chore = Chore {
    name: "fuzz",
    about: "fuzz every reader for a few seconds, or the named ones; --runs N for so many inputs each, which go into docs/fuzz.md",
    run: chore,
};

/// How long a target runs if nothing is said.
const SECONDS: u64 = 3;
/// How many inputs a target gets without libFuzzer if nothing is said.
const PLAIN_RUNS: u64 = 5000;
const SEED: u64 = 20_261_116;
/// What makes LLVM count which code an input reaches, as cargo-fuzz sets it, but for the tracing of every
/// comparison: nearly half of the time went into that, and what readers of text compare are strings, which
/// libFuzzer sees in `memcmp`.
const COVERAGE: &[&str] = &[
    "--cfg",
    "fuzzing",
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Ccodegen-units=16",
];

/// What was typed.
#[derive(Debug, PartialEq, Eq)]
struct Options {
    targets: Vec<String>,
    n_runs: Option<u64>,
    /// Without libFuzzer.
    plain: bool,
}

/// How inputs are found.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    LibFuzzer,
    Plain,
}

/// Where things are.
struct Places {
    /// The built targets.
    programs: PathBuf,
    /// Inputs to begin with, made anew each time.
    seeds: PathBuf,
    /// Inputs that reached something new, kept from run to run.
    corpus: PathBuf,
    /// Inputs that broke something.
    broken: PathBuf,
}

fn chore(args: &[String]) -> Result<ExitCode, String> {
    let options = options(args)?;
    let known = targets()?;
    let chosen = chosen(&options, &known)?;
    let way = if options.plain || !has_compiler() {
        Way::Plain
    } else {
        Way::LibFuzzer
    };
    if way == Way::Plain {
        println!(
            "without libFuzzer, which needs a C++ compiler: inputs are changed by chance, and nothing \
             leads them to code that was not reached before"
        );
    }
    let origin = Origin::now();
    let target = run::target_folder()?;
    let places = Places {
        programs: built(&target, way, &known)?,
        seeds: target.join("fuzz-seeds"),
        corpus: target.join("fuzz-corpus"),
        broken: target.join("fuzz-broken"),
    };
    corpus::write(&run::root(), &places.seeds, &known)?;
    let is_soak = options.n_runs.is_some() && way == Way::LibFuzzer;
    let page = Mutex::new(run::root().join("docs/fuzz.md"));
    let outcomes = side_by_side(&chosen, |name| {
        let outcome = places.fuzz(name, way, options.n_runs)?;
        println!("{}", outcome.line());
        // Hours may lie between the first and the last; what is known is not to be lost with the rest.
        if is_soak && let Ok(page) = page.lock() {
            written_down(&page, &outcome, &origin)?;
        }
        Ok(outcome)
    })?;
    let n_broken = outcomes.iter().filter(|outcome| !outcome.good).count();
    if n_broken == 0 {
        println!("{} targets, nothing broke", outcomes.len());
        return Ok(ExitCode::SUCCESS);
    }
    eprintln!(
        "error: {n_broken} targets broke\n\nhint: the inputs are in `{}`; give one to the target's program in `{}`",
        places.broken.display(),
        places.programs.display()
    );
    Ok(ExitCode::FAILURE)
}

/// Puts what came of a target on the page of the soak; the rows of others stay.
fn written_down(page: &Path, outcome: &Outcome, origin: &Origin) -> Result<(), String> {
    let before = std::fs::read_to_string(page).unwrap_or_default();
    std::fs::write(page, report::document(&before, outcome, origin))
        .map_err(|e| format!("cannot write `{}`: {e}", page.display()))
}

fn options(args: &[String]) -> Result<Options, String> {
    let mut options = Options {
        targets: Vec::new(),
        n_runs: None,
        plain: false,
    };
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--plain" => options.plain = true,
            "--runs" => {
                let number = args.next().and_then(|number| number.parse().ok());
                options.n_runs = Some(number.ok_or("`--runs` needs a number")?);
            }
            other if other.starts_with('-') => return Err(format!("there is no option `{other}`")),
            target => options.targets.push(target.to_owned()),
        }
    }
    Ok(options)
}

/// Returns the names of all targets: each has a file.
fn targets() -> Result<Vec<String>, String> {
    let folder = run::root().join("fuzz/fuzz_targets");
    let cannot = |e| format!("cannot list `{}`: {e}", folder.display());
    let mut names = Vec::new();
    for entry in std::fs::read_dir(&folder).map_err(cannot)? {
        let path = entry.map_err(cannot)?.path();
        names.extend(
            path.file_stem()
                .map(|name| name.to_string_lossy().into_owned()),
        );
    }
    names.sort();
    Ok(names)
}

fn chosen(options: &Options, known: &[String]) -> Result<Vec<String>, String> {
    if options.targets.is_empty() {
        return Ok(known.to_vec());
    }
    let unknown = options.targets.iter().find(|name| !known.contains(name));
    match unknown {
        Some(name) => Err(format!(
            "there is no target `{name}`; known: {}",
            known.join(", ")
        )),
        None => Ok(options.targets.clone()),
    }
}

/// libFuzzer is C++.
fn has_compiler() -> bool {
    let named = std::env::var("CXX").unwrap_or_else(|_| "c++".to_owned());
    run::output_of(&named, &["--version"]).is_some()
}

/// Builds the targets; returns the folder of their programs.
fn built(target: &Path, way: Way, names: &[String]) -> Result<PathBuf, String> {
    let (folder, host) = (target.join("fuzz"), host()?);
    let mut command = run::cargo(&["build", "--manifest-path", "fuzz/Cargo.toml"]);
    match way {
        // With a target named, build scripts and macros are built without the flags. `plain` is not among
        // the programs: what the flags call is in libFuzzer.
        Way::LibFuzzer => command
            .args(names.iter().flat_map(|name| ["--bin", name]))
            .args(["--release", "--features", "libfuzzer", "--target", &host])
            .arg("--target-dir")
            .arg(&folder)
            .env("RUSTFLAGS", COVERAGE.join(" ")),
        // Where the tests are built, which have most of its parts already.
        Way::Plain => command.args(["--bin", "plain", "--target-dir"]).arg(target),
    };
    let (done, _) = run::timed("build", || run::watched(&mut command));
    if !done? {
        return Err("the fuzz targets can not be built".to_owned());
    }
    Ok(match way {
        Way::LibFuzzer => folder.join(host).join("release"),
        Way::Plain => target.join("debug"),
    })
}

fn host() -> Result<String, String> {
    let told = run::output_of("rustc", &["-vV"]).unwrap_or_default();
    let host = told.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned)
        .ok_or_else(|| "`rustc -vV` does not say what machine this is".to_owned())
}

/// Runs the targets, as many at once as there are cores, and returns what came of them in their order.
fn side_by_side(
    names: &[String],
    fuzz: impl Fn(&str) -> Result<Outcome, String> + Sync,
) -> Result<Vec<Outcome>, String> {
    let next = Mutex::new(names.iter().enumerate());
    let done = Mutex::new(Vec::new());
    let n_cores = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        for _ in 0..n_cores {
            scope.spawn(|| {
                loop {
                    let taken = next.lock().ok().and_then(|mut next| next.next());
                    let Some((at, name)) = taken else {
                        return;
                    };
                    let outcome = fuzz(name);
                    if let Ok(mut done) = done.lock() {
                        done.push((at, outcome));
                    }
                }
            });
        }
    });
    let mut done = done.into_inner().map_err(|_| "a target's thread died")?;
    done.sort_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, outcome)| outcome).collect()
}

impl Places {
    fn fuzz(&self, name: &str, way: Way, n_runs: Option<u64>) -> Result<Outcome, String> {
        let [seeds, corpus, broken] =
            [&self.seeds, &self.corpus, &self.broken].map(|folder| folder.join(name));
        for folder in [&seeds, &corpus, &broken] {
            std::fs::create_dir_all(folder)
                .map_err(|e| format!("cannot make `{}`: {e}", folder.display()))?;
        }
        let mut command = match way {
            Way::LibFuzzer => {
                let mut command = Command::new(self.programs.join(name));
                let limit = match n_runs {
                    Some(n_runs) => format!("-runs={n_runs}"),
                    None => format!("-max_total_time={SECONDS}"),
                };
                command
                    .arg(limit)
                    .arg(format!("-seed={}", SEED % 0x7fff_ffff))
                    .arg(format!("-artifact_prefix={}/", broken.display()))
                    .args(["-max_len=16384", "-timeout=20", "-rss_limit_mb=2048"])
                    .args(["-print_final_stats=1", "-verbosity=1"])
                    .args([&corpus, &seeds]);
                command
            }
            Way::Plain => {
                let mut command = Command::new(self.programs.join("plain"));
                command
                    .args([name, &n_runs.unwrap_or(PLAIN_RUNS).to_string()])
                    .arg(SEED.to_string())
                    .args([&seeds, &corpus]);
                command
            }
        };
        let begun = Instant::now();
        let done = command
            .current_dir(&broken)
            .stdin(Stdio::null())
            .output()
            .map_err(|e| format!("cannot run the target `{name}`: {e}"))?;
        let said = [done.stdout, done.stderr].concat();
        let outcome = Outcome::read(
            name,
            &String::from_utf8_lossy(&said),
            begun.elapsed(),
            done.status.success(),
        );
        if !outcome.good {
            eprintln!("{}", outcome.end);
        }
        Ok(outcome)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_and_options_may_stand_in_any_order() {
        let typed = |words: &str| {
            let words: Vec<String> = words.split_whitespace().map(str::to_owned).collect();
            options(&words)
        };
        assert_eq!(
            typed("map --runs 10 --plain kiln"),
            Ok(Options {
                targets: vec!["map".to_owned(), "kiln".to_owned()],
                n_runs: Some(10),
                plain: true,
            })
        );
        assert!(typed("--runs").is_err() && typed("--runs x").is_err() && typed("--fast").is_err());
    }

    #[test]
    fn every_target_has_a_row_a_program_and_a_name() {
        let read = |path: &str| std::fs::read_to_string(run::root().join(path)).unwrap();
        let (table, manifest) = (read("fuzz/src/lib.rs"), read("fuzz/Cargo.toml"));
        let names = targets().unwrap();
        for name in &names {
            assert!(table.contains(&format!("(\"{name}\", {name})")), "{name}");
            assert!(manifest.contains(&format!("name = \"{name}\"")), "{name}");
        }
        assert_eq!(table.matches("    (\"").count(), names.len());
    }

    #[test]
    fn what_is_run_side_by_side_keeps_its_order() {
        let names: Vec<String> = (0..9).map(|n| n.to_string()).collect();
        let outcomes = side_by_side(&names, |name| {
            Ok(Outcome::read(name, "", std::time::Duration::ZERO, true))
        });
        let told: Vec<String> = outcomes.unwrap().into_iter().map(|one| one.name).collect();
        assert_eq!(told, names);
        assert!(side_by_side(&names, |name| Err(name.to_owned())).is_err());
    }
}
