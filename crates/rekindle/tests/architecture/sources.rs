//! What pure code must not name: it gets everything through its arguments.

use camino::Utf8Path;
use regex::Regex;

use crate::workspace::{crate_folders, none, root, rust_files, short};

/// The folders that hold decisions and vocabulary, tests in them included.
const WITHOUT_IO: &[&str] = &[
    "crates/model/src",
    "crates/protocols/src",
    "crates/text/src",
];

/// What stands there for I/O, a clock or the environment, and what to do instead.
const BANNED: &[(&str, &str)] = &[
    (
        r"\bstd::fs\b",
        "read through the World; write by planning an action",
    ),
    (
        r"\bfs_err\b",
        "read through the World; write by planning an action",
    ),
    (r"\bstd::process\b", "ask the World about git and processes"),
    (r"\bstd::env\b", "ask the World about the environment"),
    (r"\bstd::net\b", "nothing here talks to a network"),
    (
        r"\bstd::\{[^}]*\b(fs|process|env|net)\b",
        "nothing here does I/O: go through the World",
    ),
    (r"\bSystemTime\b", "the clock comes in through the World"),
    (r"\bInstant\b", "the clock comes in through the World"),
    (
        r"\b(Timestamp|Zoned)::now\b",
        "the clock comes in through the World",
    ),
];

#[test]
fn decisions_do_no_io_and_know_no_clock() -> anyhow::Result<()> {
    let mut faults = Vec::new();
    for folder in WITHOUT_IO {
        for path in rust_files(&root().join(folder))? {
            let code = without_comments(&fs_err::read_to_string(&path)?);
            faults.extend(banned_in(&path, &code)?);
        }
    }
    none(&faults);
    Ok(())
}

/// Examples in documentation are not run by `cargo xtask test`, so none may look as if it were.
#[test]
fn no_documentation_has_an_example_that_nobody_runs() -> anyhow::Result<()> {
    let example = Regex::new(r"^\s*//[/!]\s*```(\s*|rust.*|no_run.*)$")?;
    let mut faults = Vec::new();
    for folder in crate_folders()? {
        for path in rust_files(&folder.join("src"))? {
            let text = fs_err::read_to_string(&path)?;
            let lines = text.lines().enumerate();
            // What is between two fences is named by the first; the second has no name.
            let mut is_open = false;
            for (at, line) in lines.filter(|(_, line)| fence(line)) {
                is_open = !is_open;
                if is_open && example.is_match(line) {
                    let at = at + 1;
                    faults.push(format!("{}:{at}: name it `text`", short(&path)));
                }
            }
        }
    }
    none(&faults);
    Ok(())
}

fn fence(line: &str) -> bool {
    let line = line.trim_start();
    let rest = line
        .strip_prefix("///")
        .or_else(|| line.strip_prefix("//!"));
    rest.is_some_and(|rest| rest.trim_start().starts_with("```"))
}

/// Calls that change the disk, which stand in `disk.rs` alone.
const CHANGES: &[&str] = &[
    r"\bfs::(create_dir|create_dir_all|write|rename|remove_\w+|copy|hard_link|set_permissions)\b",
    r"\.(write_all|write_all_at|write_at|sync_all|sync_data|set_len|set_permissions)\(",
    r"\.(set_modified|set_times|persist|persist_noclobber|open)\(",
    r"\.write\(([^t]|t[^r])",
    r"\b(symlink|fchown|chown|hard_link)\(",
    r"\b(mkdirat|unlinkat|renameat\w*|symlinkat|linkat|fsync|fdatasync|syncfs|ftruncate)\(",
    r"\bFile::(create\w*|options)\b",
    r"\btempfile::(Builder|tempfile|tempdir)\b",
];

#[test]
fn every_call_that_changes_the_disk_passes_a_place() -> anyhow::Result<()> {
    let folder = root().join("crates/fs/src");
    let mut faults = Vec::new();
    for path in rust_files(&folder)? {
        let name = path.file_name().unwrap_or_default();
        if name == "disk.rs" || name.ends_with("_tests.rs") {
            continue;
        }
        let text = fs_err::read_to_string(&path)?;
        let code = text.split("#[cfg(test)]\nmod tests {").next();
        let code = without_comments(code.unwrap_or_default());
        for pattern in CHANGES {
            for found in Regex::new(pattern)?.find_iter(&code) {
                let line = code[..found.start()].matches('\n').count() + 1;
                let (path, said) = (short(&path), found.as_str());
                faults.push(format!("{path}:{line}: `{said}`: call it in `disk.rs`"));
            }
        }
    }
    none(&faults);
    Ok(())
}

fn banned_in(path: &Utf8Path, code: &str) -> anyhow::Result<Vec<String>> {
    let mut faults = Vec::new();
    for (pattern, instead) in BANNED {
        for found in Regex::new(pattern)?.find_iter(code) {
            let line = code[..found.start()].matches('\n').count() + 1;
            let said = found.as_str().replace('\n', " ");
            faults.push(format!("{}:{line}: `{said}`: {instead}", short(path)));
        }
    }
    Ok(faults)
}

/// Cuts every line at `//`; the number of lines stays.
fn without_comments(text: &str) -> String {
    let code: Vec<&str> = text
        .lines()
        .map(|line| line.split_once("//").map_or(line, |(code, _)| code))
        .collect();
    code.join("\n")
}

#[test]
fn a_ban_is_seen_in_every_spelling_but_not_in_a_comment() -> anyhow::Result<()> {
    let found = |code: &str| banned_in(Utf8Path::new("x.rs"), &without_comments(code));
    assert_eq!(found("fn a() {}\nuse std::fs;\n")?.len(), 1);
    assert!(found("fn a() {}\nuse std::fs;\n")?[0].starts_with("x.rs:2: `std::fs`: "));
    assert_eq!(
        found("use std::{\n    collections::BTreeMap,\n    env,\n};")?.len(),
        1
    );
    assert_eq!(found("let now = jiff::Timestamp::now();")?.len(), 1);
    assert_eq!(
        found("// never `std::fs`\nuse std::fmt; // no Instant here")?.len(),
        0
    );
    assert_eq!(
        found("let x = std::environment; let y = Instantly;")?.len(),
        0
    );
    Ok(())
}
