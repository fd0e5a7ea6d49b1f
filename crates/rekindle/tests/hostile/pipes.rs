//! Pipes and folders where a file belongs.

use std::os::unix::fs::symlink;

use anyhow::Result;
use rekindle_testkit::gate::make_pipe;

use crate::{ORDERS, done, interrupted, look_at_everything};

#[test]
fn pipes_and_folders_in_place_of_files_are_never_waited_for() -> Result<()> {
    let (sandbox, run) = interrupted()?;
    make_pipe(&sandbox.path(run.path("events/executor/pipe.jsonl")))?;
    fs_err::create_dir(sandbox.path(run.path("events/executor/folder.jsonl")))?;
    fs_err::remove_file(sandbox.path(run.path("tasks/T002.md")))?;
    make_pipe(&sandbox.path(run.path("tasks/T002.md")))?;
    symlink(
        "pipe.jsonl",
        sandbox.path(run.path("events/executor/to-pipe.jsonl")),
    )?;
    look_at_everything(&sandbox, "T002")?;
    assert_eq!(done(&sandbox)?, 1);
    let ran = sandbox.run(&["resume", "--yes", "--no-agent"])?;
    assert_eq!(ran.code(), Some(0), "{ran}");
    Ok(())
}

#[test]
fn a_pipe_in_place_of_the_graph_is_not_a_graph() -> Result<()> {
    let (sandbox, run) = interrupted()?;
    fs_err::remove_file(sandbox.path(run.path("task-graph.json")))?;
    make_pipe(&sandbox.path(run.path("task-graph.json")))?;
    look_at_everything(&sandbox, "T002")?;
    let next = &sandbox.run(&["status", "--json"])?.json()?["workflows"][0]["next"];
    assert_eq!(next["kind"], "break_tasks");
    Ok(())
}

#[test]
fn pipes_in_place_of_our_own_files_are_an_error_and_no_hang() -> Result<()> {
    let names = [
        (
            ".rekindle/locks",
            format!(".rekindle/locks/agent-memory-{ORDERS}.lock"),
        ),
        (
            ".rekindle/journal",
            format!(".rekindle/journal/agent-memory-{ORDERS}.jsonl"),
        ),
    ];
    for (folder, name) in names {
        let (sandbox, run) = interrupted()?;
        fs_err::create_dir_all(sandbox.path(folder))?;
        make_pipe(&sandbox.path(&name))?;
        let ran = sandbox.run(&["resume", "--yes", "--no-agent"])?;
        assert_eq!(ran.code(), Some(1), "{name}: {ran}");
        assert!(ran.stderr().contains(&name), "{name}: {ran}");
        assert_eq!(run.told(&sandbox)?, "", "{name}");
    }
    Ok(())
}
