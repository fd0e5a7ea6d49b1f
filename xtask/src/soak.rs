//! `cargo xtask soak`: kills at random moments; `soak places`: every crash and every failing write of
//! which the tests try a part; `soak bytes`: files damaged at every byte.

use std::collections::BTreeMap;
use std::process::Command;
use std::time::{Duration, Instant};

use xtask::origin::Origin;
use xtask::robustness::{self, Row};
use xtask::{files, run, tools};

use crate::Chore;

pub(crate) const CHORE: Chore = Chore {
    name: "soak",
    about: "kill runs of the engine at random moments; number of kills as argument; with `places`, crash at every point instead; both write docs/robustness.md; with `bytes`, damage files at every byte",
    run: chore,
};

const KILLS: u32 = 2000;
/// Makes the tests try everything and append their counts to the file it names.
const SOAK: &str = "REKINDLE_SOAK";

fn chore(args: &[String]) -> Result<bool, String> {
    tools::ready()?;
    match args.first().map(String::as_str) {
        Some("places") => places(),
        Some("bytes") => bytes(),
        Some(text) => kills(
            text.parse()
                .map_err(|_| format!("invalid number `{text}`"))?,
        ),
        None => kills(KILLS),
    }
}

fn kills(kills: u32) -> Result<bool, String> {
    let origin = Origin::now();
    let mut command = Command::new(run::release_build()?);
    let start = Instant::now();
    command.args(["torture", "--kills", &kills.to_string()]);
    // Outside of this repository, so that torture makes a small one: the figures are then comparable.
    command.current_dir(std::env::temp_dir());
    let mut figures = String::new();
    let succeeded = run::line_by_line(&mut command, |line| {
        println!("{line}");
        figures.push_str(&format!("    {line}\n"));
    })?;
    let n_kills = figures
        .lines()
        .find_map(|line| line.trim_start().strip_prefix("kills "))
        .and_then(|rest| rest.split_whitespace().next()?.parse().ok());
    let row = Row {
        test: "kills at random moments".to_owned(),
        n: n_kills.unwrap_or(u64::from(kills)),
        is_faulty: !succeeded,
    };
    let section = section_of_kills(&origin, kills, &figures, start.elapsed());
    record("Kills", &origin, &[row], &section)?;
    Ok(succeeded)
}

/// Writes a section of `docs/robustness.md`.
fn record(title: &str, origin: &Origin, rows: &[Row], section: &str) -> Result<(), String> {
    let path = run::root().join("docs/robustness.md");
    let before = files::read(&path).unwrap_or_default();
    files::write(
        path,
        robustness::replace(&before, title, origin, rows, section),
    )?;
    println!("written: docs/robustness.md");
    Ok(())
}

fn section_of_kills(origin: &Origin, kills: u32, figures: &str, took: Duration) -> String {
    format!(
        "Made by `cargo xtask soak {kills}`, which is `rekindle torture --kills {kills}`; all figures are from that run.\n\n\
         {}\n\
         Orchestrators, workers, agents or all of them at once are killed with `kill -9`; some are stopped for longer than the timeout of a silent worker, and then continued.\n\
         A random seed decides the plans, and the kind, delay and target of each disturbance; what a process does at that moment depends on the machine, so the figures vary.\n\
         After each death of an orchestrator the run is resumed.\n\
         At the end, every task has landed exactly once, the tree equals that of an undisturbed run, every line that an agent wrote is on the branch or saved, no process, worktree or folder is left over, no log has a damaged line, and every run is complete; everything else is listed under \"Wrong\".\n\
         The time from a restart to its first action covers the resumes that got that far before they were killed; the slowest waited two seconds for a stopped worker to count as silent.\n\n\
         {figures}\n\
         It took {} s in all.\n",
        origin.list(),
        took.as_secs()
    )
}

/// Damages files at every byte. A release build, since it reads ten times faster.
fn bytes() -> Result<bool, String> {
    let mut tests = run::cargo(&["test", "--release", "--lib", "--test", "torn"]);
    tests.args([
        "--package",
        "rekindle-registry",
        "--package",
        "rekindle-kiln-teams",
    ]);
    run::succeeds(tests.args(["--", "broken"]).env(SOAK, "1"))
}

/// Crashes at every point of every scenario.
fn places() -> Result<bool, String> {
    let origin = Origin::now();
    let figures = run::target_folder()?.join("soak-places");
    let start = Instant::now();
    files::write(&figures, "")?;
    let mut deaths = run::cargo(&["test", "--workspace", "--features", "rekindle/crash-points"]);
    deaths.args(["--test", "deaths", "--", "--include-ignored"]);
    if !run::succeeds(deaths.env(SOAK, &figures))? {
        return Ok(false);
    }
    let rows = rows(&files::read(&figures)?);
    record(
        "Crash points",
        &origin,
        &rows,
        &section_of_points(&origin, start.elapsed()),
    )?;
    Ok(true)
}

/// Adds up the counts of the tests by name.
fn rows(counts: &str) -> Vec<Row> {
    let mut sums: BTreeMap<&str, u64> = BTreeMap::new();
    for line in counts.lines() {
        if let Some((test, number)) = line.rsplit_once(' ') {
            *sums.entry(test).or_default() += number.parse().unwrap_or(0);
        }
    }
    let row = |(test, n): (&str, u64)| Row {
        test: named(test).to_owned(),
        n,
        is_faulty: false,
    };
    sums.into_iter().map(row).collect()
}

/// Returns the name of a count in the table.
fn named(test: &str) -> &str {
    match test {
        "broken files" => "damaged files",
        "deaths" => "crashes at a crash point",
        "failed changes" => "failing writes: disk full or broken",
        "second deaths" => "second crashes, during the resume",
        other => other,
    }
}

/// Returns the section of a soak that succeeded.
fn section_of_points(origin: &Origin, took: Duration) -> String {
    format!(
        "Made by `cargo xtask soak places`; all figures are from that run, which found no fault.\n\n\
         {}\n\
         The tests cover a part of this every time.\n\
         Every scenario of a protocol and of the engine crashes at every crash point that it passes, and is resumed; for the second crashes the resume crashed too, each time at another point, before another one completed.\n\
         Every write fails once because the disk is full and once because it is broken, and the next run continues.\n\
         Scenarios that resemble others (random waves, halts and failures of kiln-teams, commands of map) are covered in part.\n\
         Files of scenarios that crashed half way are truncated and have bytes flipped, and are then read.\n\
         The result always equals that of the undisturbed scenario.\n\
         `cargo xtask soak bytes` truncates files of all five protocols at every byte and flips every byte: no unread file is overwritten, and no workflow advances.\n\n\
         It took {} s in all.\n",
        origin.list(),
        took.as_secs()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_section_names_its_origin_before_its_figures() {
        let (origin, took) = (Origin::now(), Duration::from_secs(9));
        let kills = section_of_kills(&origin, 7, "    kills 7\n", took);
        let head = format!("from that run.\n\n{}\nOrchestrators", origin.list());
        assert!(kills.contains(&head), "{kills}");
        assert!(
            kills.ends_with("\n\n    kills 7\n\nIt took 9 s in all.\n"),
            "{kills}"
        );
        let points = section_of_points(&origin, took);
        let head = format!("found no fault.\n\n{}\nThe tests", origin.list());
        assert!(points.contains(&head), "{points}");
    }

    #[test]
    fn counts_of_tests_are_added_up_by_name() {
        let rows = rows("second deaths 2\ndeaths 3\nsecond deaths 5\n");
        let rows: Vec<(&str, u64)> = rows.iter().map(|row| (row.test.as_str(), row.n)).collect();
        let expect = [
            ("crashes at a crash point", 3),
            ("second crashes, during the resume", 7),
        ];
        assert_eq!(rows, expect);
    }
}
