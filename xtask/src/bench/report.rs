//! What benches return, and how it is written: the same Markdown on the terminal and in the file.

use std::fmt::{self, Write as _};

use super::chart::Chart;
use super::standing::{self, Standing};
use crate::origin;

/// The answer of one bench.
pub(super) struct Section {
    pub(super) title: &'static str,
    /// What was run, a sentence each.
    pub(super) about: Vec<String>,
    pub(super) table: Table,
    pub(super) targets: Vec<Target>,
    /// What of it is held against others.
    pub(super) standings: Vec<Standing>,
    /// The same as a picture.
    pub(super) chart: Option<Chart>,
}

impl Section {
    /// Returns the targets that were not reached, a line each.
    pub(super) fn missed(&self) -> Vec<String> {
        let missed = self.targets.iter().filter(|target| !target.met);
        missed
            .map(|target| format!("{}: {}", self.title, target.line()))
            .collect()
    }
}

/// A promise and what became of it.
pub(super) struct Target {
    what: String,
    limit: String,
    measured: String,
    met: bool,
}

impl Target {
    /// Promises that a figure is above a limit.
    pub(super) fn above(what: &str, measured: f64, limit: f64, unit: &str) -> Self {
        Self {
            what: what.to_owned(),
            limit: format!("> {} {unit}", figure(limit)),
            measured: format!("{} {unit}", figure(measured)),
            met: measured > limit,
        }
    }

    /// Promises that a figure is below a limit.
    pub(super) fn below(what: &str, measured: f64, limit: f64, unit: &str) -> Self {
        Self {
            what: what.to_owned(),
            limit: format!("< {} {unit}", figure(limit)),
            measured: format!("{} {unit}", figure(measured)),
            met: measured < limit,
        }
    }

    fn line(&self) -> String {
        let Self {
            what,
            limit,
            measured,
            met,
        } = self;
        let word = if *met { "reached" } else { "MISSED" };
        format!("{what} {limit}: {measured}, {word}")
    }
}

/// Rows under a head; the first columns are text, all others are figures.
pub(super) struct Table {
    /// How many columns are text.
    pub(super) n_text: usize,
    pub(super) head: Vec<&'static str>,
    pub(super) rows: Vec<Vec<String>>,
}

/// The folder of the pictures, beside the file.
pub(super) const PICTURES: &str = "numbers";

/// Returns the whole file.
///
/// `call` is what was typed for it, `soak` the page of the last soak.
pub(super) fn document(
    call: &str,
    facts: &[(&'static str, String)],
    sections: &[Section],
    soak: &str,
) -> String {
    let mut text = format!(
        "# Numbers\n\n\
         Written by `{call}`, which also checks the targets; not to be edited by hand.\n\n\
         {}",
        origin::list(facts)
    );
    let standings = sections.iter().flat_map(|section| &section.standings);
    let _ = write!(
        text,
        "\n## All of it\n\n\
         A row for each figure and each program that it was held against, from the sections below, where it stands what was run and how.\n\
         Above 1 is ahead; where rekindle is behind, the row says why, and what being ahead would take.\n\n\
         {}",
        standing::table(standings)
    );
    for section in sections {
        let _ = write!(text, "\n{section}");
        if let Some(chart) = &section.chart {
            let _ = write!(
                text,
                "\n![{}]({PICTURES}/{}.svg)\n",
                chart.title, chart.name
            );
        }
    }
    with_kills(&text, soak)
}

const KILLS: &str = "\n## Kills\n";

/// Returns the file with the figures of a soak, which takes too long to be a bench, as its last section.
pub(crate) fn with_kills(numbers: &str, soak: &str) -> String {
    let numbers = numbers.split(KILLS).next().unwrap_or_default();
    let Some(made) = soak.lines().find(|line| line.starts_with("Made by ")) else {
        return numbers.to_owned();
    };
    let origin: Vec<&str> = soak.lines().filter(|line| line.starts_with("* ")).collect();
    let figures: Vec<&str> = soak
        .lines()
        .filter(|line| line.starts_with("    "))
        .collect();
    format!(
        "{numbers}{KILLS}\n{made}\n[The page of the soak](soak.md) says what is killed and what is looked at.\n\n{}\n\n{}\n",
        origin.join("\n"),
        figures.join("\n")
    )
}

/// Returns a figure with at least three digits that count.
pub(super) fn figure(value: f64) -> String {
    let n_digits = match value.abs() {
        size if size >= 99.95 || size == 0.0 => 0,
        size if size >= 9.995 => 1,
        size if size >= 0.9995 => 2,
        _ => 3,
    };
    grouped(&format!("{value:.n_digits$}"))
}

/// Returns a count, which has no fraction.
pub(super) fn count(value: u64) -> String {
    grouped(&value.to_string())
}

/// Sets thousands apart, as in prose.
fn grouped(plain: &str) -> String {
    let (whole, rest) = plain.split_at(plain.find('.').unwrap_or(plain.len()));
    let mut grouped = String::new();
    for (at, digit) in whole.chars().enumerate() {
        if at > 0 && digit != '-' && (whole.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped + rest
}

impl fmt::Display for Section {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "## {}\n", self.title)?;
        for sentence in &self.about {
            writeln!(f, "{sentence}")?;
        }
        write!(f, "\n{}", self.table)?;
        if !self.targets.is_empty() {
            writeln!(f)?;
        }
        for target in &self.targets {
            writeln!(f, "* {}", target.line())?;
        }
        Ok(())
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let head: Vec<String> = self.head.iter().map(|name| (*name).to_owned()).collect();
        let mut widths: Vec<usize> = head.iter().map(|name| name.chars().count()).collect();
        for row in &self.rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = (*width).max(cell.chars().count());
            }
        }
        line(f, &head, &widths, self.n_text)?;
        write!(f, "|")?;
        for (column, width) in widths.iter().enumerate() {
            let (dashes, end) = if column < self.n_text {
                ("-".repeat(*width), "")
            } else {
                ("-".repeat(width - 1), ":")
            };
            write!(f, " {dashes}{end} |")?;
        }
        writeln!(f)?;
        for row in &self.rows {
            line(f, row, &widths, self.n_text)?;
        }
        Ok(())
    }
}

fn line(
    f: &mut fmt::Formatter<'_>,
    cells: &[String],
    widths: &[usize],
    n_text: usize,
) -> fmt::Result {
    write!(f, "|")?;
    for (column, (cell, width)) in cells.iter().zip(widths).enumerate() {
        if column < n_text {
            write!(f, " {cell:<width$} |")?;
        } else {
            write!(f, " {cell:>width$} |")?;
        }
    }
    writeln!(f)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_at_least_three_digits_that_count() {
        for (value, expect) in [
            (0.0, "0"),
            (0.04567, "0.046"),
            (0.99951, "1.00"),
            (4.567, "4.57"),
            (45.67, "45.7"),
            (99.97, "100"),
            (456.7, "457"),
            (2_345_678.0, "2,345,678"),
            (-1234.5, "-1,234"),
        ] {
            assert_eq!(figure(value), expect);
        }
        assert_eq!([1, 10, 67_179].map(count), ["1", "10", "67,179"]);
    }

    #[test]
    fn the_figures_of_the_last_soak_stand_at_the_end() {
        let soak = "# Soak\n\nMade by `it`.\n\n* date: today\n* cores: 2\n\nAll are killed.\n\n    kills  2,000\n    lost   0\n\nIt took 9 s.\n";
        let page = document("bench", &[], &[], soak);
        assert!(
            page.ends_with(
                "looked at.\n\n* date: today\n* cores: 2\n\n    kills  2,000\n    lost   0\n"
            ),
            "{page}"
        );
        assert!(page.contains("## Kills\n\nMade by `it`.\n"), "{page}");
        assert!(!document("bench", &[], &[], "").contains("Kills"));
        // The figures of another soak take their place.
        let again = with_kills(&page, &soak.replace("2,000", "3,000"));
        assert_eq!(again, page.replace("2,000", "3,000"));
    }

    #[test]
    fn a_section_is_markdown_with_its_targets() {
        let section = Section {
            title: "Speed",
            about: vec!["Something ran.".to_owned()],
            table: Table {
                n_text: 2,
                head: vec!["program", "how", "ms"],
                rows: vec![
                    ["rekindle", "alone", "1.50"].map(str::to_owned).to_vec(),
                    ["jq", "twice", "1,000"].map(str::to_owned).to_vec(),
                ],
            },
            targets: vec![
                Target::below("time", 1.5, 1.0, "ms"),
                Target::above("speed", 500.0, 400.0, "MB/s"),
            ],
            standings: Vec::new(),
            chart: None,
        };
        let expect = "\
## Speed

Something ran.

| program  | how   |    ms |
| -------- | ----- | ----: |
| rekindle | alone |  1.50 |
| jq       | twice | 1,000 |

* time < 1.00 ms: 1.50 ms, MISSED
* speed > 400 MB/s: 500 MB/s, reached
";
        assert_eq!(section.to_string(), expect);
        assert_eq!(section.missed(), ["Speed: time < 1.00 ms: 1.50 ms, MISSED"]);
    }
}
