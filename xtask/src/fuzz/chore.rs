//! Builds the targets, runs them in parallel, and reports the results.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::thread;
use std::time::Instant;

use xtask::origin::Origin;
use xtask::{files, run};

use super::corpus;
use super::report::{self, Outcome};
use crate::Chore;

pub(crate) const CHORE: Chore = Chore {
    name: "fuzz",
    about: "fuzz every reader for a few seconds, or the named ones; --runs N for N inputs each, recorded in docs/robustness.md",
    run: chore,
};

/// How long a target runs by default.
const SECONDS: u64 = 3;
/// How many inputs a target gets without libFuzzer by default.
const PLAIN_RUNS: u64 = 5000;
const SEED: u64 = 20_261_116;
/// Makes LLVM count which code an input reaches, as cargo-fuzz does, except for the tracing of every
/// comparison: that took nearly half of the time, and readers of text compare strings, which libFuzzer
/// sees in `memcmp`.
const COVERAGE: &[&str] = &[
    "--cfg",
    "fuzzing",
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Ccodegen-units=16",
];

/// The arguments.
#[derive(Debug, Default, PartialEq, Eq)]
struct Options {
    targets: Vec<String>,
    n_runs: Option<u64>,
    /// Without libFuzzer.
    plain: bool,
}

/// How inputs are found.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Engine {
    LibFuzzer,
    Plain,
}

/// The folders of a session.
struct Folders {
    /// The built targets.
    programs: PathBuf,
    /// The first inputs, made anew each time.
    seeds: PathBuf,
    /// Inputs that reached new code, saved for the next session.
    corpus: PathBuf,
    /// Inputs that broke something.
    broken: PathBuf,
}

fn chore(args: &[String]) -> Result<bool, String> {
    let options = options(args)?;
    let known = targets()?;
    let chosen = chosen(&options, &known)?;
    let engine = if options.plain || !has_compiler() {
        println!(
            "without libFuzzer, which needs a C++ compiler: inputs are changed at random, without coverage"
        );
        Engine::Plain
    } else {
        Engine::LibFuzzer
    };
    let origin = Origin::now();
    let target = run::target_folder()?;
    let folders = Folders {
        programs: build(&target, engine, &known)?,
        seeds: target.join("fuzz-seeds"),
        corpus: target.join("fuzz-corpus"),
        broken: target.join("fuzz-broken"),
    };
    corpus::write(&run::root(), &folders.seeds, &known)?;
    let is_soak = options.n_runs.is_some() && engine == Engine::LibFuzzer;
    let page = Mutex::new(run::root().join("docs/robustness.md"));
    let outcomes = in_parallel(&chosen, |name| {
        let outcome = folders.fuzz(name, engine, options.n_runs)?;
        println!("{}", outcome.line());
        // Hours may pass before the last target ends, so each result is written at once.
        if is_soak && let Ok(page) = page.lock() {
            let before = files::read(&*page).unwrap_or_default();
            files::write(&*page, report::document(&before, &outcome, &origin))?;
        }
        Ok(outcome)
    })?;
    let n_broken = outcomes.iter().filter(|outcome| !outcome.good).count();
    if n_broken == 0 {
        println!("{} targets, nothing broke", outcomes.len());
        return Ok(true);
    }
    Err(format!(
        "{n_broken} targets broke\n\nhint: the inputs are in `{}`; pass one to the target's program in `{}`",
        folders.broken.display(),
        folders.programs.display()
    ))
}

fn options(args: &[String]) -> Result<Options, String> {
    let mut options = Options::default();
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--plain" => options.plain = true,
            "--runs" => {
                let number = args.next().and_then(|number| number.parse().ok());
                options.n_runs = Some(number.ok_or("`--runs` needs a number")?);
            }
            other if other.starts_with('-') => return Err(format!("unknown option `{other}`")),
            target => options.targets.push(target.to_owned()),
        }
    }
    Ok(options)
}

/// Returns the names of all targets: each has a file.
fn targets() -> Result<Vec<String>, String> {
    let paths = files::list(run::root().join("fuzz/fuzz_targets"))?;
    let names = paths.iter().filter_map(|path| path.file_stem());
    Ok(names
        .map(|name| name.to_string_lossy().into_owned())
        .collect())
}

fn chosen(options: &Options, known: &[String]) -> Result<Vec<String>, String> {
    if options.targets.is_empty() {
        return Ok(known.to_vec());
    }
    let unknown = options.targets.iter().find(|name| !known.contains(name));
    match unknown {
        Some(name) => Err(format!(
            "unknown target `{name}`; known: {}",
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
fn build(target: &Path, engine: Engine, names: &[String]) -> Result<PathBuf, String> {
    let (folder, host) = (target.join("fuzz"), host()?);
    let mut command = run::cargo(&["build", "--manifest-path", "fuzz/Cargo.toml"]);
    let programs = match engine {
        // `--target` keeps the flags away from build scripts and macros. `plain` is not built: the flags
        // need libFuzzer.
        Engine::LibFuzzer => {
            command
                .args(names.iter().flat_map(|name| ["--bin", name]))
                .args(["--release", "--features", "libfuzzer", "--target", &host])
                .arg("--target-dir")
                .arg(&folder)
                .env("RUSTFLAGS", COVERAGE.join(" "));
            folder.join(host).join("release")
        }
        // In the target folder of the tests, which has most of its dependencies already.
        Engine::Plain => {
            command.args(["--bin", "plain", "--target-dir"]).arg(target);
            target.join("debug")
        }
    };
    run::timed("build", || run::check(&mut command)).0?;
    Ok(programs)
}

fn host() -> Result<String, String> {
    let version = run::output_of("rustc", &["-vV"]).unwrap_or_default();
    let host = version.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned)
        .ok_or_else(|| "`rustc -vV` does not name the host".to_owned())
}

/// Runs the targets, one on each core, and returns the outcomes in the order of the names.
fn in_parallel(
    names: &[String],
    fuzz: impl Fn(&str) -> Result<Outcome, String> + Sync,
) -> Result<Vec<Outcome>, String> {
    let next = Mutex::new(names.iter().enumerate());
    let done = Mutex::new(Vec::new());
    let n_cores = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        for _ in 0..n_cores {
            scope.spawn(|| {
                while let Some((at, name)) = next.lock().ok().and_then(|mut next| next.next()) {
                    let outcome = fuzz(name);
                    if let Ok(mut done) = done.lock() {
                        done.push((at, outcome));
                    }
                }
            });
        }
    });
    let mut done = done
        .into_inner()
        .map_err(|_| "a target's thread panicked")?;
    done.sort_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, outcome)| outcome).collect()
}

impl Folders {
    fn fuzz(&self, name: &str, engine: Engine, n_runs: Option<u64>) -> Result<Outcome, String> {
        let [seeds, corpus, broken] =
            [&self.seeds, &self.corpus, &self.broken].map(|folder| folder.join(name));
        for folder in [&seeds, &corpus, &broken] {
            files::make_folder(folder)?;
        }
        let mut command = match engine {
            Engine::LibFuzzer => {
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
            Engine::Plain => {
                let mut command = Command::new(self.programs.join("plain"));
                command
                    .args([name, &n_runs.unwrap_or(PLAIN_RUNS).to_string()])
                    .arg(SEED.to_string())
                    .args([&seeds, &corpus]);
                command
            }
        };
        let start = Instant::now();
        let done = command
            .current_dir(&broken)
            .stdin(Stdio::null())
            .output()
            .map_err(|e| format!("cannot run the target `{name}`: {e}"))?;
        let output = [done.stdout, done.stderr].concat();
        let output = String::from_utf8_lossy(&output);
        let outcome = Outcome::read(name, &output, start.elapsed(), done.status.success());
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
    fn targets_and_options_may_come_in_any_order() {
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
        let read = |path: &str| files::read(run::root().join(path)).unwrap();
        let (table, manifest) = (read("fuzz/src/lib.rs"), read("fuzz/Cargo.toml"));
        let names = targets().unwrap();
        for name in &names {
            assert!(table.contains(&format!("(\"{name}\", {name})")), "{name}");
            assert!(manifest.contains(&format!("name = \"{name}\"")), "{name}");
        }
        assert_eq!(table.matches("    (\"").count(), names.len());
    }

    #[test]
    fn outcomes_keep_the_order_of_the_names() {
        let names: Vec<String> = (0..9).map(|n| n.to_string()).collect();
        let outcomes = in_parallel(&names, |name| {
            Ok(Outcome::read(name, "", std::time::Duration::ZERO, true))
        });
        let found: Vec<String> = outcomes.unwrap().into_iter().map(|one| one.name).collect();
        assert_eq!(found, names);
        assert!(in_parallel(&names, |name| Err(name.to_owned())).is_err());
    }
}
