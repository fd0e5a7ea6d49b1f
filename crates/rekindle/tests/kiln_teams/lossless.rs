//! Every kind of change lands unchanged, compared with plain git's view of the worktree.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;

use anyhow::{Result, ensure};
use camino::Utf8Path;
use rekindle_testkit::conformance::Stage;
use serde_json::{Value, json};

use crate::scenes::{NO_AGENT, id, ready, subject, wave, with};

/// A success without a change of its own; the test makes one.
fn blank() -> Value {
    with(ready(1, 1, json!({})), json!({"change": {}}))
}

/// Writes the evidence of a correct worker.
fn tell(stage: &Stage, paths: &[&str]) -> Result<()> {
    let operations: Vec<Value> = paths
        .iter()
        .map(|path| json!({"op": "untracked", "path": path}))
        .collect();
    let folder = stage.worktree(1, 1).join(".kiln-artifacts/P1-T11");
    fs_err::write(
        folder.join("changed_ops.json"),
        json!(operations).to_string(),
    )?;
    Ok(())
}

/// Lands the one task, and compares main with git's view of the worktree.
fn lands_whole(stage: &Stage, paths: &[&str]) -> Result<()> {
    tell(stage, paths)?;
    let class = stage.facts()?["classification"][id(1, 1)].take();
    ensure!(class == "ready_for_integration", "{class}");
    let ran = stage.resume(&NO_AGENT)?;
    ensure!(ran.code() == Some(0), "{ran}");
    ensure!(stage.log()? == [subject(1, 1)], "{:?}", stage.log()?);
    let there = stage.worktree(1, 1);
    stage.git_in(&there, &["add", "-A", "--", ":!.kiln"])?;
    let wanted = stage.git_in(&there, &["write-tree"])?;
    let landed = stage.git(&["rev-parse", "HEAD^{tree}"])?;
    if wanted != landed {
        let between = stage.git(&["diff", "--raw", wanted.trim(), landed.trim()])?;
        anyhow::bail!("main differs from the worktree: {between}");
    }
    let status = stage.git(&["status", "--porcelain", "--", ":!.kiln"])?;
    ensure!(status.is_empty(), "{status}");
    Ok(())
}

fn git(stage: &Stage, args: &[&str]) -> Result<()> {
    stage.git_in(&stage.worktree(1, 1), args)?;
    Ok(())
}

fn put(stage: &Stage, path: &str, bytes: impl AsRef<[u8]>) -> Result<()> {
    let path = stage.worktree(1, 1).join(path);
    fs_err::create_dir_all(path.parent().unwrap_or(Utf8Path::new("/")))?;
    Ok(fs_err::write(path, bytes)?)
}

#[test]
fn binary_empty_and_unterminated_files_land() -> Result<()> {
    let stage = wave(&[blank()])?;
    put(&stage, "bin/data", [0, 255, 10, 13, 0, 200])?;
    put(&stage, "empty", "")?;
    put(&stage, "no-end", "no line end")?;
    put(&stage, "crlf.txt", "a\r\nb\r\n")?;
    lands_whole(&stage, &["bin/data", "empty", "no-end", "crlf.txt"])?;
    let read = fs_err::read(stage.sandbox().path("crlf.txt"))?;
    assert_eq!(read, b"a\r\nb\r\n");
    Ok(())
}

#[test]
fn modes_and_links_land() -> Result<()> {
    let stage = wave(&[blank()])?;
    let there = stage.worktree(1, 1);
    let executable = std::fs::Permissions::from_mode(0o755);
    fs_err::set_permissions(there.join("src/index.js"), executable.clone())?;
    put(&stage, "run.sh", "#!/bin/sh\n")?;
    fs_err::set_permissions(there.join("run.sh"), executable)?;
    fs_err::os::unix::fs::symlink("src/index.js", there.join("link"))?;
    fs_err::os::unix::fs::symlink("/nowhere/at all", there.join("broken"))?;
    fs_err::remove_file(there.join("src/log.js"))?;
    fs_err::os::unix::fs::symlink("index.js", there.join("src/log.js"))?;
    let paths = ["src/index.js", "run.sh", "link", "broken", "src/log.js"];
    lands_whole(&stage, &paths)?;
    let mode = fs_err::metadata(stage.sandbox().path("run.sh"))?.permissions();
    assert_eq!(mode.mode() & 0o111, 0o111);
    let target = fs_err::read_link(stage.sandbox().path("broken"))?;
    assert_eq!(target.to_str(), Some("/nowhere/at all"));
    Ok(())
}

#[test]
fn odd_names_arrive() -> Result<()> {
    let stage = wave(&[blank()])?;
    let names = [
        "a b",
        "-dash",
        "tab\there",
        "line\nend",
        "\"quoted\"",
        "größe/naïve.txt",
        "*glob?",
        ":colon",
        "back\\slash",
    ];
    for name in names {
        put(&stage, name, name)?;
    }
    let bytes = OsStr::from_bytes(b"latin-\xe9");
    fs_err::write(stage.worktree(1, 1).as_std_path().join(bytes), "bytes\n")?;
    let mut told = names.to_vec();
    told.push("latin-\u{fffd}");
    lands_whole(&stage, &told)?;
    let there = stage.sandbox().project().as_std_path().join(bytes);
    assert_eq!(fs_err::read(there)?, b"bytes\n");
    Ok(())
}

#[test]
fn staged_renamed_and_half_staged_changes_land() -> Result<()> {
    let stage = wave(&[blank()])?;
    git(&stage, &["mv", "src/log.js", "src/moved.js"])?;
    put(
        &stage,
        "src/moved.js",
        "export const log = console.log;\n// and edited after it was staged\n",
    )?;
    put(&stage, "src/index.js", "staged\n")?;
    put(&stage, "new.js", "staged\n")?;
    put(&stage, "came-and-went.js", "staged, then removed\n")?;
    git(&stage, &["add", "-A"])?;
    put(&stage, "src/index.js", "and changed again\n")?;
    fs_err::remove_file(stage.worktree(1, 1).join("came-and-went.js"))?;
    git(&stage, &["rm", "-q", "--cached", "README.md"])?;
    lands_whole(
        &stage,
        &["src/log.js", "src/moved.js", "src/index.js", "new.js"],
    )?;
    assert_eq!(stage.sandbox().read("README.md")?, "# ledger-api\n");
    Ok(())
}

#[test]
fn a_file_turned_folder_and_a_folder_turned_file_land() -> Result<()> {
    let stage = wave(&[blank()])?;
    let there = stage.worktree(1, 1);
    fs_err::remove_file(there.join("README.md"))?;
    put(&stage, "README.md/intro.md", "now a folder\n")?;
    fs_err::remove_dir_all(there.join("src"))?;
    put(&stage, "src", "now a file\n")?;
    let gone = ["src/index.js", "src/log.js", "src/legacy.js"];
    lands_whole(
        &stage,
        &[&gone[..], &["README.md", "README.md/intro.md", "src"]].concat(),
    )
}

#[test]
fn ignored_files_and_kilns_own_files_do_not_land() -> Result<()> {
    let stage = wave(&[blank()])?;
    put(&stage, ".gitignore", "node_modules/\n")?;
    put(&stage, "node_modules/x/index.js", "x\n")?;
    put(&stage, ".kiln/STATE.md", "scribbled over\n")?;
    put(&stage, ".kiln/extra.md", "scribbled\n")?;
    put(&stage, ".kiln-snapshot/STATE.md", "scribbled over\n")?;
    put(&stage, ".rekindle/x", "scribbled\n")?;
    put(
        &stage,
        "deep/.kiln/kept.md",
        "a folder of this name elsewhere is work\n",
    )?;
    let state = stage.state()?;
    tell(
        &stage,
        &[".gitignore", "deep/.kiln/kept.md", ".kiln/STATE.md"],
    )?;
    let ran = stage.resume(&NO_AGENT)?;
    ensure!(ran.code() == Some(0), "{ran}");
    let changed = stage.git(&["diff", "--name-only", "HEAD~1", "HEAD"])?;
    assert_eq!(changed, ".gitignore\ndeep/.kiln/kept.md\n");
    let kept = |text: &str| {
        text.lines()
            .filter(|line| !line.contains("**Last "))
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    assert_eq!(kept(&stage.state()?), kept(&state));
    assert!(!stage.sandbox().path(".kiln/extra.md").exists());
    assert!(!stage.sandbox().path("node_modules").exists());
    Ok(())
}

#[test]
fn attributes_and_filters_of_the_project_do_not_change_what_lands() -> Result<()> {
    let stage = wave(&[blank()])?;
    put(
        &stage,
        ".gitattributes",
        "*.txt text eol=crlf\n*.up filter=up\n",
    )?;
    put(&stage, "a.txt", "a\r\nb\r\n")?;
    put(&stage, "b.up", "words\n")?;
    lands_whole(&stage, &[".gitattributes", "a.txt", "b.up"])
}
