//! Builds the binary, runs the benches, and writes their numbers.

use std::path::PathBuf;

use xtask::origin::Origin;
use xtask::{files, run};

use crate::report::{self, PICTURES, Section};
use crate::{
    breakdown, briefing, crashes, durable, growth, hook, install, lists, long_run, machine, map,
    overhead, overview, replay, sessions, size, startup, stories, worktrees,
};

/// A name and a measurement.
type Bench = (&'static str, fn(&Setting) -> Result<Section, String>);

/// Every bench, in the order of the report.
const BENCHES: [Bench; 18] = [
    ("briefing", briefing::bench),
    ("durable", durable::bench),
    ("crashes", crashes::bench),
    ("replay", replay::bench),
    ("overview", overview::bench),
    ("lists", lists::bench),
    ("sessions", sessions::bench),
    ("startup", startup::bench),
    ("map", map::bench),
    ("hook", hook::bench),
    ("stories", stories::bench),
    ("growth", growth::bench),
    ("size", size::bench),
    ("install", install::bench),
    ("overhead", overhead::bench),
    ("worktrees", worktrees::bench),
    ("long-run", long_run::bench),
    ("breakdown", breakdown::bench),
];

/// What a bench works with.
pub(crate) struct Setting {
    /// The release binary.
    pub(crate) rekindle: PathBuf,
    /// A folder for generated projects and scratch files.
    pub(crate) folder: PathBuf,
    /// Whether to measure the sizes that take minutes.
    pub(crate) full: bool,
}

/// Runs the named benches, or all; returns whether every target was reached.
pub(crate) fn run(args: &[String]) -> Result<bool, String> {
    let (full, chosen) = options(args)?;
    let setting = Setting {
        rekindle: run::release_build()?,
        folder: run::target_folder()?.join("bench"),
        full,
    };
    files::make_folder(&setting.folder)?;
    let (origin, load_before) = (Origin::now(), machine::load());
    let mut sections = Vec::new();
    for (name, bench) in &chosen {
        let section = run::timed(name, || bench(&setting)).0?;
        println!("\n{section}");
        sections.push(section);
    }
    let facts = machine::facts(origin, load_before);
    if chosen.len() == BENCHES.len() {
        let docs = run::root().join("docs");
        let call = format!("cargo xtask bench{}", if full { " --full" } else { "" });
        let page = report::document(&call, &facts, &sections);
        files::write(docs.join("numbers.md"), page)?;
        for chart in sections.iter().filter_map(|section| section.chart.as_ref()) {
            let file = docs.join(PICTURES).join(chart.name).with_extension("svg");
            files::write(file, chart.svg())?;
        }
        println!("written: docs/numbers.md and its pictures");
    }
    let missed: Vec<String> = sections.iter().flat_map(Section::missed).collect();
    for target in &missed {
        eprintln!("missed: {target}");
    }
    Ok(missed.is_empty())
}

/// Returns whether `--full` is among the arguments, and the benches that the others name.
fn options(args: &[String]) -> Result<(bool, Vec<Bench>), String> {
    let (full, named): (Vec<&String>, Vec<_>) = args.iter().partition(|arg| *arg == "--full");
    let find = |name: &String| {
        let known = BENCHES.map(|(name, _)| name).join(", ");
        let mut benches = BENCHES.into_iter();
        benches
            .find(|(bench, _)| bench == name)
            .ok_or_else(|| format!("unknown bench `{name}`; known: {known}"))
    };
    let chosen: Vec<Bench> = named.into_iter().map(find).collect::<Result<_, _>>()?;
    let is_all = chosen.is_empty();
    Ok((
        !full.is_empty(),
        if is_all { BENCHES.to_vec() } else { chosen },
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn full_may_come_anywhere_and_does_not_name_a_bench() {
        let all = BENCHES.map(|(name, _)| name).join(" ");
        for (typed, full, expect) in [
            ("", false, all.as_str()),
            ("--full", true, &all),
            ("--full overhead", true, "overhead"),
            ("startup --full overhead", true, "startup overhead"),
        ] {
            let args: Vec<String> = typed.split_whitespace().map(str::to_owned).collect();
            let (is_full, chosen) = options(&args).unwrap();
            let names: Vec<&str> = chosen.iter().map(|(name, _)| *name).collect();
            assert_eq!((is_full, names.join(" ").as_str()), (full, expect));
        }
        assert!(options(&["--fast".to_owned()]).is_err());
    }
}
