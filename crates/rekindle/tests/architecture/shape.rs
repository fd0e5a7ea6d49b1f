//! How files are cut and called, and that none is forgotten.

use std::collections::{BTreeMap, BTreeSet};

use camino::{Utf8Path, Utf8PathBuf};
use regex::Regex;

use crate::workspace::{crate_folders, metadata, none, root, rust_files, short};

/// Names that say nothing about what is inside.
const EMPTY_NAMES: &[&str] = &["common", "core", "helpers", "utils"];

/// The most lines of code a file may have, its tests aside.
const MOST_LINES: usize = 800;

#[test]
fn nothing_has_a_name_that_says_nothing() -> anyhow::Result<()> {
    let inline = Regex::new(&format!(
        r"(?m)^\s*(pub(\([^)]*\))? )?mod ({})\b",
        EMPTY_NAMES.join("|")
    ))?;
    let mut faults = Vec::new();
    for folder in crate_folders()? {
        for path in rust_files(&folder)? {
            let parts = short(&path).components().map(|part| part.as_str());
            for part in parts.map(|part| part.trim_end_matches(".rs")) {
                if EMPTY_NAMES.contains(&part) {
                    faults.push(format!(
                        "{}: call `{part}` after what it does",
                        short(&path)
                    ));
                }
            }
            for found in inline.find_iter(&fs_err::read_to_string(&path)?) {
                let said = found.as_str().trim();
                faults.push(format!(
                    "{}: call `{said}` after what it does",
                    short(&path)
                ));
            }
        }
    }
    none(&faults);
    Ok(())
}

#[test]
fn no_file_is_longer_than_one_can_read() -> anyhow::Result<()> {
    let mut faults = Vec::new();
    for folder in crate_folders()? {
        for path in rust_files(&folder.join("src"))? {
            let lines = lines_of_code(&path, &fs_err::read_to_string(&path)?);
            if lines > MOST_LINES {
                let path = short(&path);
                faults.push(format!(
                    "{path}: {lines} lines; split it before {MOST_LINES}"
                ));
            }
        }
    }
    none(&faults);
    Ok(())
}

/// The most lines of a format of task lists, all its files together; what formats share is in the kit.
const MOST_LINES_OF_A_FORMAT: usize = 400;

#[test]
fn a_format_of_task_lists_is_a_small_reader() -> anyhow::Result<()> {
    let folder = root().join("crates/protocols/task-lists/src");
    let mut sizes: BTreeMap<String, usize> = BTreeMap::new();
    for path in rust_files(&folder)? {
        let stem = path.file_stem().unwrap_or_default();
        if stem == "lib" || stem.ends_with("_tests") {
            continue;
        }
        let format = stem.trim_end_matches("_tasks").to_owned();
        let lines = fs_err::read_to_string(&path)?.lines().count();
        *sizes.entry(format).or_default() += lines;
    }
    let sizes = sizes.into_iter();
    let too_long = sizes.filter(|(_, lines)| *lines > MOST_LINES_OF_A_FORMAT);
    let faults = too_long.map(|(format, lines)| {
        format!(
            "{format}: {lines} lines; move what others could use into `rekindle_protocol::lists`"
        )
    });
    none(&faults.collect::<Vec<_>>());
    Ok(())
}

/// Counts lines up to a closing module of tests; files of tests count for nothing.
fn lines_of_code(path: &Utf8Path, text: &str) -> usize {
    let stem = path.file_stem().unwrap_or_default();
    if stem == "tests" || stem.ends_with("_tests") {
        return 0;
    }
    let code = text
        .split("\n#[cfg(test)]\nmod tests {")
        .next()
        .unwrap_or_default();
    code.lines().count()
}

#[test]
fn every_crate_begins_with_what_it_is_for() -> anyhow::Result<()> {
    let mut faults = Vec::new();
    for folder in crate_folders()? {
        for root in ["src/lib.rs", "src/main.rs"].map(|name| folder.join(name)) {
            if root.exists() && !fs_err::read_to_string(&root)?.starts_with("//! ") {
                faults.push(format!(
                    "{}: begin with `//!` and one sentence",
                    short(&root)
                ));
            }
        }
    }
    none(&faults);
    Ok(())
}

#[test]
fn every_file_is_reached_by_cargo() -> anyhow::Result<()> {
    let mut faults = Vec::new();
    for package in &metadata()?.packages {
        let Some(folder) = package.manifest_path.parent() else {
            continue;
        };
        let targets: BTreeSet<&Utf8PathBuf> = package
            .targets
            .iter()
            .map(|target| &target.src_path)
            .collect();
        for part in ["src", "tests", "benches", "examples"].map(|name| folder.join(name)) {
            let files = rust_files(&part)?;
            let declared = declared_modules(&files)?;
            let forgotten = files
                .iter()
                .filter(|path| !targets.contains(path) && !declared.contains(module_name(path)));
            faults.extend(
                forgotten
                    .map(|path| format!("{}: no `mod` names it and it is no target", short(path))),
            );
        }
    }
    none(&faults);
    Ok(())
}

/// Returns every name that a `mod` says, or that stands in a `#[path = "…"]` above one.
fn declared_modules(files: &[Utf8PathBuf]) -> anyhow::Result<BTreeSet<String>> {
    let declaration = Regex::new(r"(?m)^\s*(?:pub(?:\([^)]*\))? )?mod (?:r#)?(\w+);")?;
    let path_above = Regex::new(r#"(?m)^\s*#\[path = "(?:[^"]*/)?(\w+)\.rs"\]"#)?;
    let mut names = BTreeSet::new();
    for path in files {
        let text = fs_err::read_to_string(path)?;
        for pattern in [&declaration, &path_above] {
            names.extend(
                pattern
                    .captures_iter(&text)
                    .map(|found| found[1].to_owned()),
            );
        }
    }
    Ok(names)
}

/// Returns the name that a `mod` must say to reach the file.
fn module_name(path: &Utf8Path) -> &str {
    match path.file_stem() {
        Some("mod") => path
            .parent()
            .and_then(Utf8Path::file_name)
            .unwrap_or_default(),
        stem => stem.unwrap_or_default(),
    }
}

#[test]
fn tests_do_not_count_as_code() {
    let text = "//! x\nfn a() {}\n\n#[cfg(test)]\nmod tests {\n    fn b() {}\n}\n";
    assert_eq!(lines_of_code(Utf8Path::new("src/a.rs"), text), 2);
    assert_eq!(lines_of_code(Utf8Path::new("src/a_tests.rs"), text), 0);
}
