//! What came of a target, as libFuzzer tells it, and the page of a soak.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

use crate::origin::Origin;

/// What came of one target.
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
    /// The end of what was printed.
    pub(super) end: String,
}

/// How many lines of a broken target are shown.
const SHOWN: usize = 60;

impl Outcome {
    /// Reads what a target printed.
    pub(super) fn read(name: &str, said: &str, took: Duration, good: bool) -> Self {
        let lines: Vec<&str> = said.lines().collect();
        let after = |line: &str, word: &str| -> Option<u64> {
            let rest = line.split_once(word)?.1.trim_start();
            let digits = rest.split(|c: char| !c.is_ascii_digit()).next()?;
            digits.parse().ok()
        };
        let last = |word: &str| lines.iter().rev().find_map(|line| after(line, word));
        let plain = || {
            let told = lines.iter().find_map(|line| line.strip_suffix(" runs"));
            told.and_then(|number| number.parse().ok())
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
        format!(
            "{:<14} {word:<6} {:>9} runs {:>6} edges {:>5} inputs {:>7.1} s",
            self.name,
            shown(self.n_runs),
            shown(self.n_edges),
            shown(self.n_inputs),
            self.took.as_secs_f64()
        )
    }
}

fn shown(number: Option<u64>) -> String {
    number.map_or_else(|| "–".to_owned(), |number| number.to_string())
}

/// How many cells a row has.
const CELLS: usize = 9;

/// Returns the page of a soak as it was, with what came of one more target.
///
/// Targets are soaked one at a time, so each row names what it was made from.
pub(super) fn document(before: &str, outcome: &Outcome, origin: &Origin) -> String {
    let name = |row: &str| row.split('|').nth(1).map(|name| name.trim().to_owned());
    let is_row = |line: &&str| line.starts_with("| ") && !line.starts_with("| ---");
    let old = before.lines().filter(is_row).skip(1);
    let mut rows: BTreeMap<_, String> = old.map(|row| (name(row), filled(row))).collect();
    let row = format!(
        "| {} | {} | {} | {} | {:.0} | {} | {} | {} | {} |",
        outcome.name,
        shown(outcome.n_runs),
        shown(outcome.n_edges),
        shown(outcome.n_inputs),
        outcome.took.as_secs_f64(),
        if outcome.good { "no" } else { "YES" },
        origin.date,
        origin.binary,
        origin.cores
    );
    rows.insert(name(&row), row);
    let mut text = "# Fuzzing\n\n\
         Written by `cargo xtask fuzz --runs N`, all targets or the named ones; not to be edited by hand.\n\n\
         Each target takes any bytes and gives them to one reader of what others wrote; `fuzz/src/` says what each promises beyond not to panic.\n\
         Inputs begin with the conformance cases and are led by coverage (libFuzzer); sums that overflow and broken assertions count as panics.\n\
         An edge is a step from one piece of code to the next, all libraries included.\n\n\
         | target | inputs tried | edges reached | inputs kept | seconds | broke | date | binary | cores |\n\
         | --- | ---: | ---: | ---: | ---: | --- | --- | --- | ---: |\n"
        .to_owned();
    for row in rows.values() {
        let _ = writeln!(text, "{row}");
    }
    text
}

/// Returns a row of an older page with the cells that it did not have.
fn filled(row: &str) -> String {
    let n_cells = row.matches('|').count().saturating_sub(1);
    format!("{row}{}", " – |".repeat(CELLS.saturating_sub(n_cells)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_figures_of_a_target_count() {
        let said = "#2\tINITED cov: 10 ft: 11 corp: 1/5b exec/s: 0 rss: 30Mb\n\
                    #999\tDONE   cov: 345 ft: 678 corp: 90/12Kb lim: 65536 exec/s: 500 rss: 40Mb\n\
                    stat::number_of_executed_units: 1000\n\
                    stat::average_exec_per_sec:     500\n";
        let outcome = Outcome::read("map", said, Duration::from_secs(2), true);
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
        // A row that is there is replaced, and others stay; one of an older page has fewer cells.
        let page = format!("{page}| old | 1 | 2 | 3 | 4 | no |\n");
        let kiln = Outcome::read("kiln", said, Duration::from_secs(3), false);
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
        let plain = Outcome::read("map", "5000 runs\n", Duration::from_secs(1), true);
        assert_eq!((plain.n_runs, plain.n_edges), (Some(5000), None));
    }
}
