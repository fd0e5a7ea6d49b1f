//! What pure code must not name: it gets everything through its arguments.

use std::collections::BTreeSet;

use camino::{Utf8Path, Utf8PathBuf};
use regex::Regex;

use crate::workspace::{crate_folders, none, root, rust_files, short};

/// The folders that hold decisions and vocabulary, tests in them included.
const WITHOUT_IO: &[&str] = &[
    "crates/model/src",
    "crates/protocol/src",
    "crates/protocols",
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

#[test]
fn every_table_of_decisions_is_documented_and_enumerated() -> anyhow::Result<()> {
    let name = Regex::new(r"static ([A-Z_]+): (?:Table<|[A-Z]\w+, asked by)")?;
    let mut faults = Vec::new();
    let mut n_tables = 0;
    let mut folders = vec![root().join("crates/protocol/src/lists")];
    for protocol in root().join("crates/protocols").read_dir_utf8()? {
        folders.push(protocol?.into_path());
    }
    for protocol in folders {
        let texts: Vec<String> = rust_files(&protocol)?
            .iter()
            .map(fs_err::read_to_string)
            .collect::<Result<_, _>>()?;
        let code = without_comments(&texts.concat());
        for found in name.captures_iter(&code) {
            n_tables += 1;
            for (use_of_it, what) in [
                (format!("{}.printed()", &found[1]), "in no `decisions()`"),
                (
                    format!("check(&{});", &found[1]),
                    "never gone through by `check`",
                ),
            ] {
                if !code.contains(&use_of_it) {
                    faults.push(format!("{}: {} is {what}", short(&protocol), &found[1]));
                }
            }
        }
    }
    anyhow::ensure!(n_tables > 10, "only {n_tables} tables were found");
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

/// Calls that change the disk, by the names of functions; in `fs` they stand in `disk.rs` alone.
const CHANGES: &[&str] = &[
    r"\b(fs|fs_err|tokio::fs)::(create_dir\w*|write|rename|remove_\w+|copy|hard_link|set_permissions|symlink)\b",
    r"\.(write_all|write_all_at|write_at|sync_all|sync_data|set_len|set_permissions)\(",
    r"\.(set_modified|set_times|persist|persist_noclobber)\(",
    r"\bwrite(ln)?!\(\s*&?(mut )?self\.file\b",
    r"\b(symlink|fchown|chown|hard_link)\(",
    r"\b(mkdirat|unlinkat|renameat\w*|symlinkat|linkat|fsetxattr|fsync|fdatasync|syncfs|ftruncate)\(",
    r"\bFile::(create\w*|options)\b",
    r"\btempfile::(Builder|tempfile|tempdir)\b",
];

/// Where `fs` has files open, these are calls too; elsewhere they are all kinds of things.
const CHANGES_IN_FS: &[&str] = &[r"\.write\(([^t]|t[^r])", r"\.open\("];
const CHANGES_ELSEWHERE: &[&str] = &[r"\bOpenOptions\b"];

/// Who changes the disk without `rekindle-fs`, and why that is right.
const CHANGERS: &[(&str, &str)] = &[
    (
        "crates/fs/src/disk.rs",
        "it is the file for all of them, and each passes a crash point",
    ),
    (
        "crates/fault/src/armed.rs",
        "notes of a build for tests, outside of any project",
    ),
    (
        "crates/git/src/abandoned.rs",
        "a lock of git's own goes and an empty file is filled, after the places `git-break-lock` and `git-complete-registration`; `git` does not know `fs`",
    ),
    (
        "crates/git/src/bring.rs",
        "the index and what was begun in a worktree's own git folder, and files that a commit has, after the places `git-keep-index`, `git-tidy` and `git-remove-added`",
    ),
    (
        "crates/git/src/register.rs",
        "where git has a worktree, after the places `git-register` and `git-rejoin`; `git` does not know `fs`",
    ),
    (
        "crates/git/src/scratch.rs",
        "a temporary folder, made after the place `git-scratch` and gone with the process",
    ),
    ("crates/mcp/src/input.rs", "a pipe within the process"),
    ("crates/runner/src/agent.rs", "a pipe to the agent"),
    (
        "crates/runner/src/output_log.rs",
        "what an agent prints, line by line: evidence and not state, and the file is made by `fs`",
    ),
    (
        "crates/rekindle/src/terminal.rs",
        "standard output and standard error",
    ),
    ("crates/rekindle/src/live.rs", "standard error"),
    ("crates/rekindle/src/live/announce.rs", "standard error"),
    (
        "crates/rekindle/src/commands/demo.rs",
        "a project of its own in a new temporary folder, which nobody resumes after a crash",
    ),
    (
        "crates/rekindle/src/commands/demo/sessions.rs",
        "a home of its own in that folder",
    ),
    (
        "crates/torture/src/scene.rs",
        "a copy of a project in a temporary folder, made to be broken",
    ),
];

#[test]
fn every_call_that_changes_the_disk_passes_a_place() -> anyhow::Result<()> {
    let mut faults = Vec::new();
    let mut changers = BTreeSet::new();
    let all = |more: &[&str]| -> Result<Vec<Regex>, regex::Error> {
        let patterns = CHANGES.iter().chain(more).map(|text| Regex::new(text));
        patterns.collect()
    };
    let (in_fs, elsewhere) = (all(CHANGES_IN_FS)?, all(CHANGES_ELSEWHERE)?);
    for (path, code) in shipped()? {
        let is_in_fs = path.starts_with("crates/fs/");
        let patterns = if is_in_fs { &in_fs } else { &elsewhere };
        for found in patterns.iter().flat_map(|pattern| pattern.find_iter(&code)) {
            if CHANGERS.iter().any(|(changer, _)| *changer == path) {
                changers.insert(path.clone());
                continue;
            }
            let line = code[..found.start()].matches('\n').count() + 1;
            let said = found.as_str();
            faults.push(format!(
                "{path}:{line}: `{said}`: call `rekindle-fs`, and there `disk.rs`"
            ));
        }
    }
    let idle = CHANGERS
        .iter()
        .filter(|(path, _)| !changers.contains(*path));
    faults.extend(idle.map(|(path, _)| format!("{path} changes nothing: take it off the list")));
    none(&faults);
    Ok(())
}

/// Calls that read a file, by the names of functions.
const READS: &[&str] = &[
    r"\b(fs|fs_err|tokio::fs)::(read|read_to_string|File::open)\s*\(",
    r"\bFile::open\(",
    r"\brustix::fs::open(at)?\(",
    r"\bTimeZone::(try_)?system\(",
];

/// Who reads files without the guarded reader of `rekindle-fs`, and why that is right.
const READERS: &[(&str, &str)] = &[
    ("crates/fs/src/guarded.rs", "it is the guarded reader"),
    (
        "crates/fs/src/tree.rs",
        "it opens the folder at the top of a checkout, and files through the guarded reader",
    ),
    ("crates/fs/src/disk.rs", "it makes files, and reads none"),
    ("crates/fs/src/folder.rs", "it opens folders, to sync them"),
    (
        "crates/fs/src/relocate.rs",
        "it looks at kinds first, and compares a copy of ours",
    ),
    ("crates/fs/src/process.rs", "files of the kernel in `/proc`"),
    (
        "crates/git/src/abandoned.rs",
        "files of the kernel in `/proc`",
    ),
    (
        "crates/world/src/process_table.rs",
        "files of the kernel in `/proc`",
    ),
    (
        "crates/runner/src/process_tree.rs",
        "files of the kernel in `/proc`",
    ),
    (
        "crates/torture/src/processes.rs",
        "files of the kernel in `/proc`",
    ),
    (
        "crates/torture/src/scene.rs",
        "a copy of a project in a temporary folder of its own",
    ),
    (
        "crates/rekindle/src/commands/demo.rs",
        "a project of its own in a new temporary folder",
    ),
    (
        "crates/rekindle/src/commands/demo/sessions.rs",
        "a home of its own in that folder",
    ),
    (
        "crates/world/src/zone.rs",
        "the system's time zone, where `TZ` names none",
    ),
];

#[test]
fn every_file_is_read_by_the_guarded_reader() -> anyhow::Result<()> {
    let patterns: Vec<Regex> = READS
        .iter()
        .map(|text| Regex::new(text))
        .collect::<Result<_, _>>()?;
    let mut faults = Vec::new();
    let mut readers = BTreeSet::new();
    for (path, code) in shipped()? {
        for found in patterns.iter().flat_map(|pattern| pattern.find_iter(&code)) {
            if READERS.iter().any(|(reader, _)| *reader == path) {
                readers.insert(path.clone());
                continue;
            }
            let line = code[..found.start()].matches('\n').count() + 1;
            let said = found.as_str();
            faults.push(format!(
                "{path}:{line}: `{said}`: read through the World, or `rekindle_fs::read_within`"
            ));
        }
    }
    let idle = READERS.iter().filter(|(path, _)| !readers.contains(*path));
    faults.extend(idle.map(|(path, _)| format!("{path} reads nothing: take it off the list")));
    none(&faults);
    Ok(())
}

/// Returns the code of the binary's crates by its files, without comments and tests.
pub(crate) fn shipped() -> anyhow::Result<Vec<(String, String)>> {
    // The rest of the workspace is not in the binary.
    let is_shipped =
        |folder: &Utf8PathBuf| !matches!(folder.file_name(), Some("benches" | "testkit" | "xtask"));
    let mut files = Vec::new();
    for folder in crate_folders()?.into_iter().filter(is_shipped) {
        for path in rust_files(&folder.join("src"))? {
            if path.as_str().ends_with("_tests.rs") {
                continue;
            }
            let text = fs_err::read_to_string(&path)?;
            let code = text.split("#[cfg(test)]\nmod tests {").next();
            let code = without_comments(code.unwrap_or_default());
            files.push((short(&path).to_string(), code));
        }
    }
    Ok(files)
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
