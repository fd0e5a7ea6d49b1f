//! What was rescued, end to end: made by real retries and by `clean`, listed, shown and restored.

#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "tests make the files they look at, and fail by panicking"
)]

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

use rekindle_testkit::repository::{Project, text};
use serde_json::Value;

const BINARY: &str = env!("CARGO_BIN_EXE_rekindle");

/// Leaves all kinds of half-done work on its first attempt and a copy of it in `../seen`.
const HALF_DONE: &str = r#"cat > /dev/null
    [ "$REKINDLE_ATTEMPT" != 1 ] && { echo done > done.txt; exit 0; }
    printf 'changed\r\n\000\377' > README
    rm gone; chmod +x plain
    echo staged > staged; git add staged; echo 'on the disk' > staged
    printf '#!/bin/sh\n' > tool; chmod +x tool
    ln -s 'nowhere at all' link; mkdir -p deep/er; echo x > deep/er/-dash
    echo x > "$(printf 'new\nline \033[31m\302\2332J')"; echo x > "$(printf 'no-text-\377')"
    echo x > 'quo"te\'; : > empty; echo x > ' blank '
    mkdir "$SEEN" && tar -cf - --exclude=./.git . | tar -xf - -C "$SEEN"
    exit 1"#;

/// Makes a project with a run whose first attempt was rescued; returns it and a copy of what there was.
fn rescued() -> (Project, PathBuf) {
    let project = Project::new(BINARY);
    fs::write(project.path().join("gone"), "x").unwrap();
    fs::write(project.path().join("plain"), "x").unwrap();
    project.git(&["add", "."]);
    project.git(&["commit", "-qm", "more"]);
    project.plan("A");
    let seen = project.path().join(".rekindle-test-home/seen");
    fs::create_dir(seen.parent().unwrap()).unwrap();
    let agent = format!("SEEN='{}'\n{HALF_DONE}", seen.display());
    let ran = project.run(&agent, &[]);
    assert!(ran.status.success(), "{}", text(&ran.stderr));
    (project, seen)
}

/// Makes a rescue of one new file under this name of a ref, as the program itself would.
fn rescue(project: &Project, name: &str) {
    let base = project.git(&["rev-parse", "HEAD"]);
    let tree = project.git(&["rev-parse", "HEAD^{tree}"]);
    let message = format!(
        "rescue\n\nRekindle-Rescue-Head: {}\nRekindle-Rescue-Staged: nothing",
        base.trim()
    );
    let made = project.git(&[
        "commit-tree",
        tree.trim(),
        "-p",
        base.trim(),
        "-m",
        &message,
    ]);
    let name = format!("refs/rekindle/rescue/{name}");
    project.git(&["update-ref", &name, made.trim()]);
}

fn code(output: &Output) -> i32 {
    output.status.code().unwrap()
}

fn json(project: &Project, arguments: &[&str]) -> Value {
    let output = project.rekindle(&[arguments, &["--json"]].concat());
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Every file below a folder: its bytes or its target, and whether it is executable.
fn files(top: &Path) -> BTreeMap<OsString, (Vec<u8>, String)> {
    let mut found = BTreeMap::new();
    let mut open = vec![top.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let metadata = path.symlink_metadata().unwrap();
            let name = path.strip_prefix(top).unwrap().as_os_str().to_owned();
            if metadata.is_dir() {
                open.push(path);
            } else if metadata.is_symlink() {
                let target = fs::read_link(path).unwrap().into_os_string();
                found.insert(name, (target.as_bytes().to_owned(), "link".to_owned()));
            } else {
                let mode = format!("{:o}", metadata.permissions().mode() & 0o111);
                found.insert(name, (fs::read(path).unwrap(), mode));
            }
        }
    }
    found
}

#[track_caller]
fn assert_harmless(output: &Output) {
    for stream in [&output.stdout, &output.stderr] {
        let shown = text(stream);
        let bad = |c: char| c.is_control() && c != '\n';
        assert!(
            !shown.contains(bad) && !shown.contains('\u{202e}'),
            "{shown:?}"
        );
    }
}

#[test]
fn half_done_work_of_a_retried_task_is_listed_shown_and_restored_as_it_was() {
    let (project, seen) = rescued();
    let before = (
        project.git(&["status", "--porcelain"]),
        project.git(&["for-each-ref"]),
    );
    let listed = json(&project, &["rescue", "list"]);
    let name = listed["rescues"][0]["name"].as_str().unwrap();
    let short = name.strip_prefix("refs/rekindle/rescue/").unwrap();
    assert_eq!(listed["rescues"].as_array().unwrap().len(), 1);
    assert!(short.ends_with("/A/1"), "{short}");
    let list = project.rekindle(&["rescue", "list"]);
    assert!(text(&list.stdout).starts_with(&format!("{short}  ")));

    let shown = project.rekindle(&["rescue", "show", short]);
    assert_harmless(&shown);
    let printed = text(&shown.stdout);
    for line in [
        "  task      A\n",
        "12 files differ from the base:\n",
        "  untracked  blank \n",
        "  modified  README\n",
        "  untracked deep/er/-dash\n",
        "  untracked empty\n",
        "  deleted   gone\n",
        "  untracked link (symbolic link)\n",
        "  untracked new\\nline \\u{1b}[31m\\u{9b}2J\n",
        "  untracked no-text-\\xff\n",
        "  modified  plain (executable)\n",
        "  untracked quo\"te\\\\\n",
        "  added     staged\n",
        "  untracked tool (executable)\n",
    ] {
        assert!(printed.contains(line), "{line:?}: {printed}");
    }
    let object = json(&project, &["rescue", "show", name]);
    assert_eq!(object["task"], "A");
    assert_eq!(object["base"], project.git(&["rev-parse", "main"]).trim());
    let place = object["worktree"].as_str().unwrap();
    assert!(place.contains("/.rekindle/worktrees/"), "{place}");
    let index = object["index"].as_str().unwrap();
    assert_eq!(
        project.git(&["show", &format!("{index}:staged")]),
        "staged\n"
    );

    let unanswered = project.rekindle(&["rescue", "restore", short]);
    assert_eq!(code(&unanswered), 3);
    assert!(text(&unanswered.stderr).contains("nobody answered"));
    let restored = json(&project, &["rescue", "restore", short, "--yes"]);
    let into = Path::new(restored["into"].as_str().unwrap());
    assert!(into.starts_with(project.path().join(".rekindle/restored")));
    assert_eq!(files(into), files(&seen));
    let top = project.path();
    assert_eq!(restored["compare_with"], top.to_str().unwrap());
    let after = (
        project.git(&["status", "--porcelain"]),
        project.git(&["for-each-ref"]),
    );
    assert_eq!(after, before);
}

#[test]
fn a_person_is_asked_and_shown_how_to_compare_and_copy_back() {
    let (project, seen) = rescued();
    let into = project.path().join("a b/re's");
    let mut restore = project.command(&["rescue", "restore", "2", "--into", "a b/re's"]);
    let mut child = restore.stdin(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"y\n").unwrap();
    let output = child.wait_with_output().unwrap();
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(out, format!("restored into {}\n", into.display()));
    assert_eq!(files(&into), files(&seen));
    let commands: Vec<&str> = err.lines().filter_map(|l| l.split('`').nth(1)).collect();
    let copy = commands.iter().find(|c| c.starts_with("cp -ai ")).unwrap();
    let done = project.shell(&copy.replace("FILE", "deep"));
    assert!(done.status.success(), "{copy}: {}", text(&done.stderr));
    let back = files(&project.path().join("deep"));
    assert_eq!(back, files(&seen.join("deep")));
    let compare = commands.iter().find(|c| c.starts_with("git -C ")).unwrap();
    let compared = text(&project.shell(&format!("{compare} --stat")).stdout);
    assert!(compared.contains("12 files changed"), "{compared}");
}

#[test]
fn nothing_that_exists_is_written_over() {
    let (project, _) = rescued();
    let at = |name: &str| project.path().join(name);
    fs::create_dir(at("empty")).unwrap();
    symlink("nowhere", at("dangling")).unwrap();
    symlink("empty", at("to-empty")).unwrap();
    for target in [
        "empty",
        "empty/",
        "README",
        "dangling",
        "to-empty/",
        ".",
        "",
        "/",
    ] {
        let output = project.rekindle(&["rescue", "restore", "2", "--yes", "--into", target]);
        let said = text(&output.stderr);
        assert_eq!(code(&output), 1, "{target}: {said}");
        assert!(said.contains("already exists"), "{target}: {said}");
        assert!(said.contains("`--into DIR`"), "{target}: {said}");
    }
    assert_eq!(fs::read_dir(at("empty")).unwrap().count(), 0);
    assert!(!at("nowhere").exists());
    // The folder that is taken without `--into`, for the second time.
    let again = ["rescue", "restore", "2", "--yes"];
    assert_eq!(code(&project.rekindle(&again)), 0);
    assert_eq!(code(&project.rekindle(&again)), 1);
    // A file where a folder should be.
    let output = project.rekindle(&["rescue", "restore", "2", "--yes", "--into", "README/x"]);
    assert_eq!(code(&output), 1, "{}", text(&output.stderr));
    assert_eq!(fs::read_to_string(at("README")).unwrap(), "hello\n");
}

#[test]
fn a_link_out_of_the_project_is_not_followed() {
    let (project, _) = rescued();
    let outside = tempfile::tempdir().unwrap();
    symlink(outside.path(), project.path().join(".rekindle/restored")).unwrap();
    let output = project.rekindle(&["rescue", "restore", "2", "--yes"]);
    assert_eq!(code(&output), 1, "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("is a symbolic link"));
    assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 0);
}

#[test]
fn without_anything_rescued_there_is_nothing_to_show() {
    let project = Project::new(BINARY);
    let list = project.rekindle(&["rescue", "list"]);
    assert_eq!(
        (code(&list), text(&list.stdout).as_str()),
        (0, "No backups in this project.\n")
    );
    for arguments in [
        &["list", "nonsense"][..],
        &["list", ""],
        &["show", "nonsense"],
        &["show", ""],
        &["restore", "nonsense", "--yes"],
    ] {
        let output = project.rekindle(&[&["rescue"], arguments].concat());
        assert_eq!(code(&output), 1, "{arguments:?}");
        let said = text(&output.stderr);
        assert!(said.contains("hint: `rekindle rescue list`"), "{said}");
    }
    // A workflow that is here and of which nothing was rescued is no mistake.
    project.plan("A");
    project.run("cat > /dev/null; echo x > x", &[]);
    let run = fs::read_dir(project.path().join(".agent-memory/runs")).unwrap();
    let run = run.map(|entry| entry.unwrap().file_name()).next().unwrap();
    let id = format!("agent-memory:{}", run.to_str().unwrap());
    assert_eq!(code(&project.rekindle(&["rescue", "list", &id])), 0);

    let elsewhere = tempfile::tempdir().unwrap();
    let folder = elsewhere.path().to_str().unwrap();
    let output = project.rekindle(&["-C", folder, "rescue", "list"]);
    assert_eq!(code(&output), 1);
    assert!(text(&output.stderr).contains("`-C DIR`"));
    assert_eq!(code(&project.rekindle(&["rescue"])), 2);
}

#[test]
fn a_name_may_be_short_but_not_that_of_several() {
    let project = Project::new(BINARY);
    for name in [
        "20260119-x/A/1",
        "20260119-x/A/10",
        "20260119-x/B/1",
        "other/A/1",
    ] {
        rescue(&project, name);
    }
    let count = |workflow: &str| json(&project, &["rescue", "list", workflow])["rescues"].clone();
    assert_eq!(count("20260119-x").as_array().unwrap().len(), 3);
    assert_eq!(count("agent-memory:2026").as_array().unwrap().len(), 3);
    assert_eq!(count("other").as_array().unwrap().len(), 1);
    for (typed, number) in [("20260119-x/A/1", 1), ("20260119-x/A/10", 10), ("o", 1)] {
        assert_eq!(json(&project, &["rescue", "show", typed])["number"], number);
    }
    for command in ["show", "restore"] {
        let output = project.rekindle(&["rescue", command, "20260119-x/A"]);
        let said = text(&output.stderr);
        assert_eq!(code(&output), 3, "{said}");
        assert!(said.contains("it matches 2 backups"), "{said}");
        assert!(
            said.contains("`rekindle rescue show 20260119-x/A/10`"),
            "{said}"
        );
    }
}

#[test]
fn hostile_names_do_no_harm() {
    let project = Project::new(BINARY);
    let names = [
        "%1B%5B31m%C2%9B2J/%0A%E2%80%AE/1",
        "%2E%2E%2F%2E%2E/%2E%2E/1",
        "--yes/-n/1",
        "%-/%-/1",
        "%24%28touch%20x%29/%60x%60/1",
    ];
    for name in names {
        rescue(&project, name);
    }
    // Refs that are no rescues, and one that is no commit.
    project.git(&["update-ref", "refs/rekindle/rescue/loose", "HEAD"]);
    project.git(&["update-ref", "refs/rekindle/rescue/a/b/01", "HEAD"]);
    project.git(&["update-ref", "refs/rekindle/rescue/a/c/1", "HEAD:README"]);
    let list = project.rekindle(&["rescue", "list"]);
    assert_eq!(text(&list.stdout).lines().count(), names.len());
    assert_harmless(&list);
    for name in names {
        let full = format!("refs/rekindle/rescue/{name}");
        let shown = project.rekindle(&["rescue", "show", &full]);
        assert_eq!(code(&shown), 0, "{name}: {}", text(&shown.stderr));
        assert_harmless(&shown);
        let restored = project.rekindle(&["rescue", "restore", &full, "--yes"]);
        assert_eq!(code(&restored), 0, "{name}: {}", text(&restored.stderr));
        assert_harmless(&restored);
        let into = json(&project, &["rescue", "restore", &full, "--into", "unused"]);
        assert_eq!(into["error"]["exit"], 3);
    }
    let found = files(&project.path().join(".rekindle/restored"));
    assert_eq!(found.len(), names.len(), "{found:?}");
    let mut top = fs::read_dir(project.path()).unwrap().flatten();
    assert!(top.all(|entry| {
        let known = [".git", ".rekindle", "README"];
        known
            .iter()
            .any(|name| OsStr::new(name) == entry.file_name())
    }));
    for typed in ["\u{1b}[31m", "\n", "\u{202e}", "-x", "..", "a b"] {
        let output = project.rekindle(&["rescue", "show", "--", typed]);
        assert!([0, 1].contains(&code(&output)), "{typed:?}");
        assert_harmless(&output);
    }
}

#[test]
fn a_long_list_of_files_is_cut_and_says_so() {
    let project = Project::new(BINARY);
    project.plan("A");
    let agent = r#"cat > /dev/null; [ "$REKINDLE_ATTEMPT" = 1 ] || exit 0
        i=0; while [ $i -lt 1200 ]; do : > "f$i"; i=$((i+1)); done; exit 1"#;
    project.run(agent, &[]);
    let lines = |more: &[&str]| {
        let shown = project.rekindle(&[&["rescue", "show", "2"], more].concat());
        let shown = text(&shown.stdout);
        assert!(shown.contains("1200 files differ"), "{shown}");
        let last = shown.lines().last().unwrap().to_owned();
        (shown.matches("  untracked ").count(), last)
    };
    assert_eq!(
        lines(&[]),
        (50, "  … and 1150 more, which `-v` shows".to_owned())
    );
    assert_eq!(
        lines(&["-v"]),
        (1000, "  … and 200 more, which git shows".to_owned())
    );
    let object = json(&project, &["rescue", "show", "2"]);
    assert_eq!(object["files"].as_array().unwrap().len(), 1000);
    assert_eq!(object["left_out"], 200);
}

#[test]
fn commits_of_an_agent_that_landed_nowhere_are_shown() {
    let project = Project::new(BINARY);
    project.plan("A");
    let agent = r#"cat > /dev/null; [ "$REKINDLE_ATTEMPT" = 1 ] || { echo y > y; exit 0; }
        echo x > x; git add x; git commit -qm "$(printf 'half \033[31mdone')"; exit 1"#;
    project.run(agent, &[]);
    let shown = project.rekindle(&["rescue", "show", "2"]);
    assert_harmless(&shown);
    let shown = text(&shown.stdout);
    assert!(
        shown.contains("Commits that are not on a branch:\n"),
        "{shown}"
    );
    assert!(shown.contains("half \\u{1b}[31mdone\n"), "{shown}");
    assert!(shown.contains("No file differs from the base."), "{shown}");
}

#[test]
fn rescues_of_clean_are_listed_with_those_of_retries() {
    let project = Project::new(BINARY);
    project.plan("A");
    let agent = r#"cat > /dev/null; echo "$REKINDLE_ATTEMPT" > half.txt; exit 1"#;
    project.run(agent, &["--retries", "1"]);
    let cleaned = project.rekindle(&["clean", "--yes"]);
    assert!(text(&cleaned.stderr).contains("`rekindle rescue list`"));
    let listed = json(&project, &["rescue", "list"])["rescues"].clone();
    let told = |at: usize, key: &str| listed[at][key].clone();
    assert_eq!(listed.as_array().unwrap().len(), 2, "{listed}");
    assert_eq!(told(0, "workflow"), told(1, "workflow"));
    assert_eq!((told(0, "number"), told(1, "number")), (1.into(), 2.into()));
    let name = told(1, "name");
    let restore = [
        "rescue",
        "restore",
        name.as_str().unwrap(),
        "--yes",
        "--into",
        "out",
    ];
    assert_eq!(code(&project.rekindle(&restore)), 0);
    let kept = fs::read_to_string(project.path().join("out/half.txt")).unwrap();
    assert_eq!(kept, "2\n");
}
