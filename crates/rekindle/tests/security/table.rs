//! That `docs/threat-model.md` and the tests it names stay together.

use std::collections::BTreeSet;

use anyhow::Result;
use camino::Utf8Path;
use regex::Regex;
use rekindle_testkit::catalogue::tests_below;

/// Returns the tests that the threat model names: what stands in backticks and has blanks in it, so to speak.
fn named() -> Result<BTreeSet<String>> {
    let top = Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let text = fs_err::read_to_string(top.join("docs/threat-model.md"))?;
    let name = Regex::new(r"`([a-z0-9]+(?:_[a-z0-9]+){3,})`")?;
    Ok(name
        .captures_iter(&text)
        .map(|found| found[1].to_owned())
        .collect())
}

#[test]
fn every_test_that_the_threat_model_names_is_there() -> Result<()> {
    let crates = Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let known = tests_below(&crates)?;
    let missing: Vec<String> = named()?.difference(&known).cloned().collect();
    assert_eq!(missing, [""; 0]);
    Ok(())
}

#[test]
fn every_test_of_this_folder_is_in_the_threat_model() -> Result<()> {
    let here = Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/security");
    let own = fs_err::read_to_string(here.join("table.rs"))?;
    let mut tests = tests_below(&here)?;
    tests.retain(|name| !own.contains(&format!("fn {name}(")));
    let missing: Vec<String> = tests.difference(&named()?).cloned().collect();
    assert_eq!(missing, [""; 0]);
    Ok(())
}
