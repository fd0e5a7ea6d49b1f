//! The chore itself: builds the binary, runs the benches, writes the numbers down.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use super::report::{PICTURES, Section};
use super::{
    breakdown, briefing, crashes, durable, growth, hook, machine, map, overhead, overview, replay,
    report, size, startup,
};
use crate::origin::Origin;
use crate::{Chore, run};

pub(crate) const CHORE: Chore = Chore {
    name: "bench",
    about: "measure the release binary; all benches write docs/numbers.md, named ones only print; --full adds 1,000 worktrees and 10,000 tasks",
    run: chore,
};

const CALL: &str = "cargo xtask bench";
const FULL_CALL: &str = "cargo xtask bench --full";

/// Every bench, in the order of the report.
const BENCHES: &[Bench] = &[
    briefing::BENCH,
    durable::BENCH,
    crashes::BENCH,
    replay::BENCH,
    overview::BENCH,
    startup::BENCH,
    map::BENCH,
    hook::BENCH,
    growth::BENCH,
    size::BENCH,
    overhead::BENCH,
    breakdown::BENCH,
];

/// Something that is measured.
pub(super) struct Bench {
    pub(super) name: &'static str,
    /// Measures it; everything that it needs comes with the setting.
    pub(super) run: fn(&Setting) -> Result<Section, String>,
}

/// What a bench works with.
pub(super) struct Setting {
    /// The release binary.
    pub(super) rekindle: PathBuf,
    /// A folder for generated projects and scratch files.
    pub(super) folder: PathBuf,
    /// Whether sizes are measured that take minutes.
    pub(super) full: bool,
}

fn chore(args: &[String]) -> Result<ExitCode, String> {
    let (full, named) = options(args);
    let chosen = chosen(&named)?;
    let setting = setting(full)?;
    let (origin, load_before) = (Origin::now(), machine::load());
    let mut sections = Vec::new();
    for bench in &chosen {
        let (section, _) = run::timed(bench.name, || (bench.run)(&setting));
        let section = section?;
        println!("\n{section}");
        sections.push(section);
    }
    let facts = machine::facts(origin, load_before);
    if chosen.len() == BENCHES.len() {
        let call = if full { FULL_CALL } else { CALL };
        let docs = run::root().join("docs");
        let soak = std::fs::read_to_string(docs.join("soak.md")).unwrap_or_default();
        write(
            &docs.join("numbers.md"),
            &report::document(call, &facts, &sections, &soak),
        )?;
        for chart in sections.iter().filter_map(|section| section.chart.as_ref()) {
            let file = docs.join(PICTURES).join(chart.name).with_extension("svg");
            write(&file, &chart.svg())?;
        }
        println!("written: docs/numbers.md and its pictures");
    }
    let missed: Vec<String> = sections.iter().flat_map(Section::missed).collect();
    for target in &missed {
        eprintln!("missed: {target}");
    }
    Ok(if missed.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

fn write(file: &Path, text: &str) -> Result<(), String> {
    let folder = file.parent().unwrap_or(file);
    std::fs::create_dir_all(folder)
        .and_then(|()| std::fs::write(file, text))
        .map_err(|e| format!("cannot write `{}`: {e}", file.display()))
}

/// Takes `--full` out of the arguments; what is left are names of benches.
fn options(args: &[String]) -> (bool, Vec<String>) {
    let (full, named): (Vec<_>, Vec<_>) = args.iter().cloned().partition(|arg| arg == "--full");
    (!full.is_empty(), named)
}

fn chosen(args: &[String]) -> Result<Vec<&'static Bench>, String> {
    if args.is_empty() {
        return Ok(BENCHES.iter().collect());
    }
    let find = |name: &String| {
        let known: Vec<&str> = BENCHES.iter().map(|bench| bench.name).collect();
        BENCHES
            .iter()
            .find(|bench| bench.name == name)
            .ok_or_else(|| format!("there is no bench `{name}`; known: {}", known.join(", ")))
    };
    args.iter().map(find).collect()
}

/// Builds the binary and makes the scratch folder.
fn setting(full: bool) -> Result<Setting, String> {
    let rekindle = run::release_build()?;
    let folder = run::target_folder()?.join("bench");
    std::fs::create_dir_all(&folder)
        .map_err(|e| format!("cannot make `{}`: {e}", folder.display()))?;
    Ok(Setting {
        rekindle,
        folder,
        full,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn full_may_stand_anywhere_and_names_no_bench() {
        let check = |args: &[&str], full, expect: &[&str]| {
            let args: Vec<String> = args.iter().map(|arg| (*arg).to_owned()).collect();
            let (is_full, named) = options(&args);
            assert_eq!(is_full, full);
            let chosen: Vec<&str> = chosen(&named)
                .unwrap()
                .iter()
                .map(|bench| bench.name)
                .collect();
            assert_eq!(chosen, expect);
        };
        let all = [
            "briefing",
            "durable",
            "crashes",
            "replay",
            "overview",
            "startup",
            "map",
            "hook",
            "growth",
            "size",
            "overhead",
            "breakdown",
        ];
        check(&[], false, &all);
        check(&["--full"], true, &all);
        check(&["--full", "overhead"], true, &["overhead"]);
        check(
            &["startup", "--full", "overhead"],
            true,
            &["startup", "overhead"],
        );
        assert!(chosen(&["--fast".to_owned()]).is_err());
    }
}
