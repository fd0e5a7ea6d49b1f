//! `cargo xtask soak`: `rekindle torture`, for as long as it takes; `cargo xtask soak places`: every
//! death and every failing change of which the tests try a part; `cargo xtask soak bytes`: every broken byte.

use std::collections::BTreeMap;
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use crate::bench::with_kills;
use crate::origin::Origin;
use crate::{Chore, run, tools};

pub(crate) const CHORE: Chore = Chore {
    name: "soak",
    about: "kill runs of the engine at random moments; number of kills as argument; writes docs/soak.md and its figures into docs/numbers.md; with `places`, die at every place instead, and write docs/places.md; with `bytes`, break files at every byte",
    run: chore,
};

const KILLS: u32 = 2000;
/// What makes the tests try everything; the file that it names gets what they counted.
const SOAK: &str = "REKINDLE_SOAK";

fn chore(args: &[String]) -> Result<ExitCode, String> {
    tools::ready()?;
    match args.first().map(String::as_str) {
        Some("places") => return places(),
        Some("bytes") => return bytes(),
        Some(_) | None => {}
    }
    let kills: u32 = match args.first() {
        Some(text) => text
            .parse()
            .map_err(|_| format!("`{text}` is no number of kills"))?,
        None => KILLS,
    };
    let origin = Origin::now();
    let mut command = Command::new(run::release_build()?);
    let begun = Instant::now();
    command.args(["torture", "--kills", &kills.to_string()]);
    // On a small repository of its own: the figures are to be the same wherever this one lies.
    command.current_dir(std::env::temp_dir());
    let mut figures = Vec::new();
    let good = run::line_by_line(&mut command, |line| {
        println!("{line}");
        figures.push(format!("    {line}\n"));
    })?;
    let text = page_of_kills(&origin, kills, &figures.concat(), begun.elapsed());
    let file = run::root().join("docs/soak.md");
    std::fs::write(&file, &text).map_err(|e| format!("cannot write `{}`: {e}", file.display()))?;
    let numbers = run::root().join("docs/numbers.md");
    let before = std::fs::read_to_string(&numbers).unwrap_or_default();
    std::fs::write(&numbers, with_kills(&before, &text))
        .map_err(|e| format!("cannot write `{}`: {e}", numbers.display()))?;
    println!("written: docs/soak.md, and its figures in docs/numbers.md");
    Ok(if good {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

fn page_of_kills(origin: &Origin, kills: u32, figures: &str, took: Duration) -> String {
    format!(
        "# Soak\n\n\
         Made by `cargo xtask soak {kills}`, which is `rekindle torture --kills {kills}`; every figure is of that run.\n\n\
         {}\n\
         Orchestrators, workers, agents and all of them at once are killed with `kill -9`; some are stopped for longer than a silent worker is waited for, and then go on.\n\
         Plans and disturbances come from a seed: which kind, how long after the one before, which of those whom it fits; what these are doing at that moment is up to the machine, so that the figures differ from time to time.\n\
         After each death of an orchestrator the run is resumed.\n\
         At the end every task has landed exactly once, the tree is that of an undisturbed run, every line that an agent wrote is on the branch or kept, no process, no worktree and nothing of one is left, no log has a damaged line, and every run has come to its end; whatever is not so is listed under \"Wrong\".\n\
         The time from a restart to its first deed is of the resumes that came so far before they were killed; the slowest found a worker that was stopped, and waited until it counted as silent, which is two seconds here.\n\n\
         {}\n\
         It took {} s in all.\n",
        origin.list(),
        figures,
        took.as_secs()
    )
}

/// Breaks files at every byte. It is nothing but reading, which is ten times faster as it is released.
fn bytes() -> Result<ExitCode, String> {
    let mut torn = run::cargo(&[
        "test",
        "--release",
        "--package",
        "rekindle-protocols",
        "--lib",
        "--test",
        "torn",
        "--",
        "broken",
    ]);
    let is_good = run::watched(torn.env(SOAK, "1"))?;
    Ok(if is_good {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// Goes through all places of all stories.
fn places() -> Result<ExitCode, String> {
    let origin = Origin::now();
    let figures = run::target_folder()?.join("soak-places");
    let begun = Instant::now();
    // Those of an earlier soak do not count.
    std::fs::write(&figures, "")
        .map_err(|e| format!("cannot write `{}`: {e}", figures.display()))?;
    let mut deaths = run::cargo(&[
        "test",
        "--workspace",
        "--features",
        "rekindle/crash-points",
        "--test",
        "deaths",
        "--",
        "--include-ignored",
    ]);
    let is_good = run::watched(deaths.env(SOAK, &figures))?;
    if !is_good {
        return Ok(ExitCode::FAILURE);
    }
    let counted = std::fs::read_to_string(&figures)
        .map_err(|e| format!("cannot read `{}`: {e}", figures.display()))?;
    let file = run::root().join("docs/places.md");
    let page = page_of_places(&origin, &counted, begun.elapsed());
    std::fs::write(&file, page).map_err(|e| format!("cannot write `{}`: {e}", file.display()))?;
    println!("written: docs/places.md");
    Ok(ExitCode::SUCCESS)
}

/// Returns the page of a soak that found nothing wrong, from what its tests have counted.
fn page_of_places(origin: &Origin, counted: &str, took: Duration) -> String {
    let mut sums: BTreeMap<&str, u64> = BTreeMap::new();
    for line in counted.lines() {
        if let Some((what, number)) = line.rsplit_once(' ') {
            *sums.entry(what).or_default() += number.parse().unwrap_or(0);
        }
    }
    let rows: Vec<String> = sums
        .iter()
        .map(|(what, sum)| format!("| {what} | {sum} |\n"))
        .collect();
    format!(
        "# Places\n\n\
         Made by `cargo xtask soak places`; every figure is of that run, in which nothing was wrong.\n\n\
         {}\n\
         The tests go through a part of all this every time.\n\
         Every story of a protocol and of the engine dies at every place that it passes, and is taken up again; where second deaths are counted, who took it up died too, at another place each time, before one came to the end.\n\
         Every change on the disk fails once because the disk is full and once because it is broken, and the next run goes on.\n\
         Of stories that are like others (waves by chance, halts and failures of kiln-teams, commands of map) it is a part of both.\n\
         Files of stories that died half way are cut short and have bytes flipped, and are asked about.\n\
         The end is always the one of the story that nothing disturbed.\n\
         `cargo xtask soak bytes` cuts files of all five protocols at every byte and flips every byte: nothing is overwritten that was not read, and no workflow is further than it was.\n\n\
         | what | how often |\n| --- | ---: |\n{}\n\
         It took {} s in all.\n",
        origin.list(),
        rows.concat(),
        took.as_secs()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_soak_names_what_it_was_made_from_and_hands_that_on_with_its_figures() {
        let origin = Origin::now();
        let page = page_of_kills(&origin, 7, "    kills 7\n", Duration::from_secs(9));
        let head = format!("of that run.\n\n{}\nOrchestrators", origin.list());
        assert!(page.contains(&head), "{page}");
        let numbers = with_kills("# Numbers\n", &page);
        let end = format!("\n\n{}\n    kills 7\n", origin.list());
        assert!(numbers.ends_with(&end), "{numbers}");
    }

    #[test]
    fn what_tests_have_counted_is_summed_up_by_name() {
        let counted = "second deaths 2\ndeaths 3\nsecond deaths 5\n";
        let origin = Origin::now();
        let page = page_of_places(&origin, counted, Duration::from_secs(9));
        let head = format!("nothing was wrong.\n\n{}\nThe tests", origin.list());
        assert!(page.contains(&head), "{page}");
        assert!(page.contains("| deaths | 3 |\n| second deaths | 7 |\n\nIt took 9 s"));
    }
}
