//! That `docs/museum.md` and the tests it names stay together.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context as _, Result};
use camino::{Utf8Path, Utf8PathBuf};
use regex::Regex;
use rekindle_testkit::catalogue::tests_below;

/// How many reports were collected.
const REPORTS: u32 = 130;

/// One row: the numbers of the collected reports, where they stand, and the tests that answer them.
#[derive(Debug)]
struct Row {
    numbers: Vec<u32>,
    elsewhere: String,
    tests: BTreeSet<String>,
}

fn top() -> Utf8PathBuf {
    Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Reads every row that begins with numbers.
fn rows() -> Result<Vec<Row>> {
    let text = fs_err::read_to_string(top().join("docs/museum.md"))?;
    let name = Regex::new(r"`([a-z0-9_]+)`")?;
    let mut rows = Vec::new();
    for line in text.lines() {
        let cells: Vec<&str> = line
            .split(" | ")
            .map(|cell| cell.trim_matches(['|', ' ']))
            .collect();
        let [numbers, elsewhere, _broke, tests, ..] = cells[..] else {
            continue;
        };
        if !numbers.starts_with(|c: char| c.is_ascii_digit()) {
            continue;
        }
        let numbers = numbers.split(", ").map(str::parse);
        let tests = name.captures_iter(tests).map(|found| found[1].to_owned());
        rows.push(Row {
            numbers: numbers
                .collect::<Result<_, _>>()
                .with_context(|| line.to_owned())?,
            elsewhere: elsewhere.to_owned(),
            tests: tests.collect(),
        });
    }
    Ok(rows)
}

/// Returns the tests of the museum but for those of this file.
fn exhibits() -> Result<BTreeSet<String>> {
    let here = Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/museum");
    let mut names = tests_below(&here)?;
    let own = fs_err::read_to_string(here.join("table.rs"))?;
    names.retain(|name| !own.contains(&format!("fn {name}(")));
    Ok(names)
}

#[test]
fn every_report_is_accounted_for() -> Result<()> {
    let told: BTreeSet<u32> = rows()?.into_iter().flat_map(|row| row.numbers).collect();
    assert_eq!(told, (1..=REPORTS).collect());
    Ok(())
}

#[test]
fn every_test_that_the_table_names_is_there() -> Result<()> {
    let known = tests_below(&top().join("crates"))?;
    let named: BTreeSet<String> = rows()?.into_iter().flat_map(|row| row.tests).collect();
    let missing: Vec<&String> = named.difference(&known).collect();
    assert_eq!(missing, [""; 0]);
    Ok(())
}

#[test]
fn every_exhibit_is_in_the_table_under_its_own_report() -> Result<()> {
    let mut places: BTreeMap<String, String> = BTreeMap::new();
    for row in rows()? {
        for test in row.tests {
            let place = places.entry(test).or_default();
            place.push_str(&row.elsewhere);
            place.push(' ');
        }
    }
    let report = Regex::new(r"[\w.-]+/([\w.-]+)#(\d+)")?;
    for exhibit in exhibits()? {
        let place = places
            .get(&exhibit)
            .with_context(|| format!("`{exhibit}` is not in docs/museum.md"))?;
        let is_named_so = report.captures_iter(place).any(|found| {
            let repository = found[1].to_lowercase().replace(['-', '.'], "_");
            exhibit.starts_with(&format!("{repository}_{}_", &found[2]))
        });
        assert!(is_named_so, "`{exhibit}` is named after none of {place}");
    }
    Ok(())
}
