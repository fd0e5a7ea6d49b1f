//! The results of benches, as Markdown for the terminal and for the file.

use std::fmt::{self, Write as _};

use xtask::origin;

use crate::chart::Chart;
use crate::standing::{self, Standing};

/// The result of one bench.
#[derive(Default)]
pub(crate) struct Section {
    pub(crate) title: &'static str,
    /// What was run, one sentence per line.
    pub(crate) about: String,
    pub(crate) table: Table,
    pub(crate) targets: Vec<Target>,
    pub(crate) standings: Vec<Standing>,
    pub(crate) chart: Option<Chart>,
}

impl Section {
    /// Returns the targets that were missed, one line each.
    pub(crate) fn missed(&self) -> Vec<String> {
        let missed = self.targets.iter().filter(|target| !target.met);
        missed
            .map(|target| format!("{}: {}", self.title, target.line))
            .collect()
    }
}

/// A limit, and whether the measured figure keeps it.
pub(crate) struct Target {
    line: String,
    met: bool,
}

impl Target {
    /// Requires a figure above a limit.
    pub(crate) fn above(what: &str, measured: f64, limit: f64, unit: &str) -> Self {
        Self::new(
            &format!("{what} >"),
            measured,
            limit,
            unit,
            measured > limit,
        )
    }

    /// Requires a figure below a limit.
    pub(crate) fn below(what: &str, measured: f64, limit: f64, unit: &str) -> Self {
        Self::new(
            &format!("{what} <"),
            measured,
            limit,
            unit,
            measured < limit,
        )
    }

    fn new(what: &str, measured: f64, limit: f64, unit: &str, met: bool) -> Self {
        let word = if met { "reached" } else { "MISSED" };
        let [limit, measured] = [limit, measured].map(figure);
        let line = format!("{what} {limit} {unit}: {measured} {unit}, {word}");
        Self { line, met }
    }
}

/// Rows below a head; the first `n_text` columns are text, the others figures.
#[derive(Default)]
pub(crate) struct Table {
    pub(crate) n_text: usize,
    pub(crate) head: &'static [&'static str],
    pub(crate) rows: Vec<Vec<String>>,
}

/// The folder of the pictures, next to the file.
pub(crate) const PICTURES: &str = "numbers";

/// Returns the whole file.
pub(crate) fn document(
    call: &str,
    facts: &[(&'static str, String)],
    sections: &[Section],
) -> String {
    let facts = origin::list(facts);
    let standings = || sections.iter().flat_map(|section| &section.standings);
    let mut text = format!(
        "# Numbers\n\n\
         Above 1, rekindle is ahead; each row has the strongest of the programs that were compared.\n\
         [All comparisons](#all-comparisons) are at the end, [the results of kills and crashes](robustness.md) on a page of their own.\n\n\
         {}\n\
         Written by `{call}`, which also checks the targets; do not edit.\n\n{facts}",
        standing::summary(standings())
    );
    for section in sections {
        let _ = write!(text, "\n{section}");
        if let Some(Chart { title, name, .. }) = &section.chart {
            let _ = write!(text, "\n![{title}]({PICTURES}/{name}.svg)\n");
        }
    }
    let behind = standing::reasons(standings());
    let _ = write!(
        text,
        "\n## All comparisons\n\n{}\nWhere rekindle is behind, and what being ahead would require:\n\n{behind}",
        standing::table(standings())
    );
    text
}

/// Returns a figure with at least three significant digits.
pub(crate) fn figure(value: f64) -> String {
    let n_digits = match value.abs() {
        size if size >= 99.95 || size == 0.0 => 0,
        size if size >= 9.995 => 1,
        size if size >= 0.9995 => 2,
        _ => 3,
    };
    grouped(&format!("{value:.n_digits$}"))
}

/// Returns an integer.
pub(crate) fn count(value: u64) -> String {
    grouped(&value.to_string())
}

/// Separates thousands.
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

/// Returns a number of bytes or events in millions.
#[expect(clippy::cast_precision_loss, reason = "all counts are far below 2^53")]
pub(crate) fn millions(count: u64) -> f64 {
    count as f64 / 1e6
}

impl fmt::Display for Section {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "## {}\n\n{}\n\n{}", self.title, self.about, self.table)?;
        if !self.targets.is_empty() {
            writeln!(f)?;
        }
        let mut targets = self.targets.iter();
        targets.try_for_each(|target| writeln!(f, "* {}", target.line))
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
        let rule = widths.iter().enumerate().map(|(column, width)| {
            let end = if column < self.n_text { "-" } else { ":" };
            "-".repeat(width - 1) + end
        });
        for row in [&head, &rule.collect()].into_iter().chain(&self.rows) {
            for (column, (cell, width)) in row.iter().zip(&widths).enumerate() {
                if column < self.n_text {
                    write!(f, "| {cell:<width$} ")?;
                } else {
                    write!(f, "| {cell:>width$} ")?;
                }
            }
            writeln!(f, "|")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_at_least_three_significant_digits() {
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
    fn the_page_starts_with_a_summary_and_ends_with_the_reasons() {
        let peers = vec![("fast".to_owned(), 1.0), ("slow".to_owned(), 9.0)];
        let sections = [Section {
            title: "Speed",
            standings: vec![Standing::less("time, ms", 2.0, peers, "it does less").headline()],
            ..Section::default()
        }];
        let page = document("bench", &[], &sections);
        let (summary, rest) = page.split_once("Written by `bench`").unwrap();
        assert!(
            summary.contains("fast") && !summary.contains("slow"),
            "{summary}"
        );
        assert!(!summary.contains("it does less"), "{summary}");
        assert!(rest.contains("slow"), "{rest}");
        assert!(
            page.ends_with("require:\n\n* time, ms: it does less\n"),
            "{page}"
        );
    }

    #[test]
    fn a_section_is_markdown_with_its_targets() {
        let section = Section {
            title: "Speed",
            about: "Something ran.".to_owned(),
            table: Table {
                n_text: 2,
                head: &["program", "how", "ms"],
                rows: vec![
                    ["rekindle", "alone", "1.50"].map(str::to_owned).to_vec(),
                    ["jq", "twice", "1,000"].map(str::to_owned).to_vec(),
                ],
            },
            targets: vec![
                Target::below("time", 1.5, 1.0, "ms"),
                Target::above("speed", 500.0, 400.0, "MB/s"),
            ],
            ..Section::default()
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
