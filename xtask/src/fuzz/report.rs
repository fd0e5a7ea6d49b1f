//! The outcome of a target, read from what libFuzzer prints, and the section of a soak.

use std::collections::BTreeMap;
use std::time::Duration;

use xtask::origin::Origin;
use xtask::robustness::{self, Row};

/// The outcome of one target.
#[derive(Debug)]
pub(super) struct Outcome {
    pub(super) name: String,
    pub(super) good: bool,
    pub(super) n_runs: Option<u64>,
    /// Edges of the code that were reached.
    pub(super) n_edges: Option<u64>,
    /// Inputs that each reach something that no other does.
    pub(super) n_inputs: Option<u64>,
    took: Duration,
    /// The last lines of the output.
    pub(super) end: String,
}

/// How many lines of a broken target are shown.
const SHOWN: usize = 60;

impl Outcome {
    /// Reads the output of a target.
    pub(super) fn read(name: &str, output: &str, took: Duration, good: bool) -> Self {
        let lines: Vec<&str> = output.lines().collect();
        let after = |line: &str, word: &str| -> Option<u64> {
            let rest = line.split_once(word)?.1.trim_start();
            let digits = rest.split(|c: char| !c.is_ascii_digit()).next()?;
            digits.parse().ok()
        };
        let last = |word: &str| lines.iter().rev().find_map(|line| after(line, word));
        let plain = || {
            let number = lines.iter().find_map(|line| line.strip_suffix(" runs"))?;
            number.parse().ok()
        };
        Self {
            name: name.to_owned(),
            good,
            n_runs: last("stat::number_of_executed_units:").or_else(plain),
            n_edges: last(" cov:"),
            n_inputs: last(" corp:"),
            took,
            end: lines[lines.len().saturating_sub(SHOWN)..].join("\n"),
        }
    }

    /// Returns it as a line for the terminal.
    pub(super) fn line(&self) -> String {
        let word = if self.good { "ok" } else { "BROKE" };
        let [runs, edges, inputs] = self.counts();
        format!(
            "{:<14} {word:<6} {runs:>9} runs {edges:>6} edges {inputs:>5} inputs {:>7.1} s",
            self.name,
            self.took.as_secs_f64()
        )
    }

    fn counts(&self) -> [String; 3] {
        [self.n_runs, self.n_edges, self.n_inputs]
            .map(|number| number.map_or_else(|| "–".to_owned(), |number| number.to_string()))
    }
}

const TITLE: &str = "Fuzzing";
/// How many cells a row has.
const CELLS: usize = 9;

/// Adds the outcome of one target to `docs/robustness.md`, or replaces its row.
///
/// Targets may be soaked one at a time, so each row has its own date and binary.
pub(super) fn document(before: &str, outcome: &Outcome, origin: &Origin) -> String {
    let name = |row: &str| row.split('|').nth(1).map(|name| name.trim().to_owned());
    let is_row = |line: &&str| line.starts_with("| ") && !line.starts_with("| ---");
    let old = robustness::section(before, TITLE).lines();
    let old = old.filter(is_row).skip(1);
    let mut rows: BTreeMap<_, String> = old.map(|row| (name(row), filled(row))).collect();
    let row = format!(
        "| {} | {} | {:.0} | {} | {} | {} | {} |\n",
        outcome.name,
        outcome.counts().join(" | "),
        outcome.took.as_secs_f64(),
        if outcome.good { "no" } else { "YES" },
        origin.date,
        origin.binary,
        origin.cores
    );
    rows.insert(name(&row), row);
    let cell = |row: &str, at: usize| row.split('|').nth(at).map(|cell| cell.trim().to_owned());
    let runs = |row: &String| cell(row, 2).and_then(|runs| runs.parse::<u64>().ok());
    let total = Row {
        test: format!("fuzzed inputs, {} readers", rows.len()),
        n: rows.values().filter_map(runs).sum(),
        is_faulty: rows
            .values()
            .any(|row| cell(row, 6).as_deref() == Some("YES")),
    };
    let rows: String = rows.into_values().collect();
    let section = format!(
        "Written by `cargo xtask fuzz --runs N`, for all targets or the named ones.\n\
         Each target passes arbitrary bytes to one reader of foreign data; `fuzz/src/` says what each guarantees besides not panicking.\n\
         The first inputs are the conformance cases, and coverage guides the others (libFuzzer); integer overflows and failed assertions count as panics.\n\
         An edge is a step from one basic block to the next, libraries included.\n\n\
         | target | inputs tried | edges reached | inputs saved | seconds | broke | date | binary | cores |\n\
         | --- | ---: | ---: | ---: | ---: | --- | --- | --- | ---: |\n\
         {rows}"
    );
    robustness::replace(before, TITLE, origin, &[total], &section)
}

/// Adds the cells that a row of an older page lacks.
fn filled(row: &str) -> String {
    let n_cells = row.matches('|').count().saturating_sub(1);
    format!("{row}{}\n", " – |".repeat(CELLS.saturating_sub(n_cells)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_figures_of_a_target_are_used() {
        let output = "#2\tINITED cov: 10 ft: 11 corp: 1/5b exec/s: 0 rss: 30Mb\n\
                    #999\tDONE   cov: 345 ft: 678 corp: 90/12Kb lim: 65536 exec/s: 500 rss: 40Mb\n\
                    stat::number_of_executed_units: 1000\n\
                    stat::average_exec_per_sec:     500\n";
        let outcome = Outcome::read("map", output, Duration::from_secs(2), true);
        assert_eq!(
            (outcome.n_runs, outcome.n_edges, outcome.n_inputs),
            (Some(1000), Some(345), Some(90))
        );
        let origin = |date: &str| Origin {
            date: date.to_owned(),
            binary: "rekindle 1.2.3 at abc1234".to_owned(),
            cores: "2".to_owned(),
        };
        let page = document("", &outcome, &origin("Monday"));
        let row = "| map | 1000 | 345 | 90 | 2 | no | Monday | rekindle 1.2.3 at abc1234 | 2 |";
        assert!(page.contains(row), "{page}");
        let total = "| fuzzed inputs, 1 readers | 1000 | none | Monday |";
        assert!(page.contains(total), "{page}");
        // An existing row is replaced, and others stay; a row of an older page has fewer cells.
        let page = format!("{page}| old | 1 | 2 | 3 | 4 | no |\n");
        let kiln = Outcome::read("kiln", output, Duration::from_secs(3), false);
        let page = document(&page, &kiln, &origin("Tuesday"));
        let map = Outcome::read("map", "", Duration::ZERO, true);
        let page = document(&page, &map, &origin("Friday"));
        let rows: Vec<&str> = page.lines().rev().take(3).collect();
        assert_eq!(
            rows,
            [
                "| old | 1 | 2 | 3 | 4 | no | – | – | – |",
                "| map | – | – | – | 0 | no | Friday | rekindle 1.2.3 at abc1234 | 2 |",
                "| kiln | 1000 | 345 | 90 | 3 | YES | Tuesday | rekindle 1.2.3 at abc1234 | 2 |"
            ]
        );
        let total = "| fuzzed inputs, 3 readers | 1001 | YES | Friday |";
        assert!(page.contains(total), "{page}");
        let plain = Outcome::read("map", "5000 runs\n", Duration::from_secs(1), true);
        assert_eq!((plain.n_runs, plain.n_edges), (Some(5000), None));
    }
}
