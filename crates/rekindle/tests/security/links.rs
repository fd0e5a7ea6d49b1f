//! Links that lead out of the project, in the place of everything that is read or written.

use std::os::unix::fs::symlink;

use anyhow::{Context as _, Result, ensure};
use camino::Utf8Path;
use rekindle_testkit::agent_memory::Run;
use rekindle_testkit::repository::{Project, WRITE, text};
use rekindle_testkit::sandbox::Sandbox;
use serde_json::json;

use crate::BINARY;
use crate::scenes::{CASES, contents, lay_out, places, run};

/// Moves each file and folder of a project out in turn, leaves a link, and resumes.
#[test]
fn nothing_is_written_through_a_link_that_leads_out_of_the_project() -> Result<()> {
    for (protocol, cases) in CASES {
        let count = places(&lay_out(protocol, cases[0])?)?.len();
        for number in 0..count {
            let sandbox = lay_out(protocol, cases[0])?;
            let place = places(&sandbox)?.remove(number);
            // What a protocol keeps in the home is the user's to link as they like, and the user's own
            // files are nobody's state.
            let is_state = place
                .strip_prefix(sandbox.project())
                .is_ok_and(|name| name.starts_with("specs") || name.as_str().starts_with('.'));
            if !is_state {
                continue;
            }
            let outside = sandbox.root().join("outside");
            fs_err::create_dir(&outside)?;
            fs_err::rename(&place, outside.join("moved"))?;
            symlink(outside.join("moved"), &place)?;
            let before = contents(&outside)?;
            let named = ["--protocol", protocol];
            for args in [
                &[&["resume", "--yes", "--agent-cmd", "true"], &named[..]].concat()[..],
                &["checkpoint"],
            ] {
                let ran = run(&sandbox, args)?;
                ensure!(
                    contents(&outside)? == before,
                    "{protocol}: {place} by {args:?}: {ran}"
                );
            }
        }
    }
    Ok(())
}

/// Does all that writes into a project of `rekindle run`, whatever comes of it.
fn write_everything(project: &Project) {
    project.plan("A");
    for words in [
        &[
            "run",
            "plan.json",
            "--branch",
            "result",
            "--yes",
            "--verify",
            "true",
            "--agent-cmd",
            WRITE,
        ][..],
        &["resume", "--yes", "--agent-cmd", WRITE],
        &["clean", "--yes"],
        &["checkpoint"],
    ] {
        project.rekindle(words);
    }
}

/// What rekindle keeps of its own, and what a plan's run makes.
const OWN: [&str; 9] = [
    ".rekindle",
    ".rekindle/locks",
    ".rekindle/journal",
    ".rekindle/runs",
    ".rekindle/worktrees",
    ".rekindle/redo",
    ".rekindle/restored",
    ".agent-memory",
    ".agent-memory/runs",
];

#[test]
fn our_own_folders_are_not_used_where_they_are_links_out_of_the_project() -> Result<()> {
    for link in OWN {
        let project = Project::new(BINARY);
        let outside = tempfile::tempdir()?;
        let outside = Utf8Path::from_path(outside.path()).context("a name that is text")?;
        fs_err::write(outside.join("mine"), "mine\n")?;
        let before = contents(outside)?;
        let path = project.path().join(link);
        fs_err::create_dir_all(path.parent().context("a folder above")?)?;
        symlink(outside, &path)?;
        write_everything(&project);
        assert_eq!(contents(outside)?, before, "{link}");
        let refs = project.git(&["worktree", "list"]);
        ensure!(!refs.contains(outside.as_str()), "{link}: {refs}");
    }
    Ok(())
}

#[test]
fn a_hook_does_not_write_through_a_link() -> Result<()> {
    for link in [
        "hook.log",
        "stopped.json",
        "told.json",
        ".gitignore",
        "locks",
    ] {
        let sandbox = Sandbox::new(BINARY)?;
        Run::interrupted("20260119-0900-orders-api-k2l3").lay_out(&sandbox)?;
        let outside = sandbox.root().join("outside");
        fs_err::write(&outside, "mine\n")?;
        fs_err::create_dir(sandbox.path(".rekindle"))?;
        symlink(&outside, sandbox.path(".rekindle").join(link))?;
        for (moment, told) in [
            (
                "stop",
                json!({"session_id": "s", "cwd": sandbox.project()}).to_string(),
            ),
            (
                "session-start",
                json!({"session_id": "s", "cwd": sandbox.project()}).to_string(),
            ),
            (
                "pre-compact",
                json!({"session_id": "s", "cwd": sandbox.project()}).to_string(),
            ),
            (
                "stop-failure",
                json!({"session_id": "s", "cwd": sandbox.project(), "error": "rate_limit"})
                    .to_string(),
            ),
            ("session-end", "no json".to_owned()),
        ] {
            let hook = sandbox.typed(&["hook", moment, "--agent", "claude"]);
            hook.answering(&told).run()?;
            assert_eq!(
                fs_err::read_to_string(&outside)?,
                "mine\n",
                "{link} by {moment}"
            );
        }
    }
    Ok(())
}

/// A capture, a restored rescue and a plan are named by a person, who may name a link.
#[test]
fn what_a_person_names_is_never_overwritten() -> Result<()> {
    let sandbox = Sandbox::new(BINARY)?;
    Run::interrupted("20260119-0900-orders-api-k2l3").lay_out(&sandbox)?;
    let outside = sandbox.root().join("outside");
    fs_err::write(&outside, "mine\n")?;
    symlink(&outside, sandbox.path("capture"))?;
    symlink(sandbox.root().join("nowhere"), sandbox.path("dangling"))?;
    for name in ["capture", "dangling"] {
        let ran = sandbox.run(&["inspect", "--capture", name])?;
        assert_eq!(ran.code(), Some(1), "{ran}");
    }
    assert_eq!(fs_err::read_to_string(&outside)?, "mine\n");
    assert!(!sandbox.root().join("nowhere").exists());
    Ok(())
}

/// An agent can leave links in its worktree; what they lead to is neither read into a commit nor changed.
#[test]
fn links_that_an_agent_leaves_land_as_links() -> Result<()> {
    let project = Project::new(BINARY);
    project.plan("A");
    let outside = tempfile::tempdir()?;
    let outside = Utf8Path::from_path(outside.path()).context("a name that is text")?;
    fs_err::write(outside.join("secret"), "secret\n")?;
    let agent = format!(
        "cat > /dev/null; ln -s {outside} folder; ln -s {outside}/secret file; rm README; ln -s {outside}/secret README"
    );
    let run = project.run(&agent, &["--verify", "true"]);
    ensure!(run.status.success(), "{}", text(&run.stderr));
    let tree = project.git(&["ls-tree", "-r", "result"]);
    assert_eq!(tree.matches("120000 blob").count(), 3, "{tree}");
    assert_eq!(fs_err::read_to_string(outside.join("secret"))?, "secret\n");
    Ok(())
}
