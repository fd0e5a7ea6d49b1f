//! Work that is handed on: to another agent, and to a disk that others need too.

use anyhow::{Result, ensure};
use rekindle_testkit::repository::{Project, WRITE, text};

use crate::BINARY;
use crate::cut::Cut;

/// Elsewhere a task could be continued only in the program that it was begun in.
#[test]
fn cc_switch_5305_a_run_goes_on_with_another_agent() -> Result<()> {
    let cut = Cut::new()?;
    let resumed = cut
        .project
        .rekindle(&["resume", "--yes", "--agent-cmd", WRITE]);
    ensure!(resumed.status.success(), "{}", text(&resumed.stderr));
    assert_eq!(cut.project.git(&["show", "result:A.txt"]), "A\n");
    assert_eq!(cut.rescued().as_deref(), Some("half\n"));
    Ok(())
}

/// Elsewhere a store grew to gigabytes of what nobody needed anymore.
#[test]
fn openwiki_257_a_finished_run_leaves_little() -> Result<()> {
    let project = Project::new(BINARY);
    project.plan("A B C<A");
    let run = project.run(WRITE, &[]);
    ensure!(run.status.success(), "{}", text(&run.stderr));
    let size = project.shell(
        "find .rekindle .agent-memory -type f -printf '%s\\n' | awk '{n+=$1} END {print n}'",
    );
    let size: u64 = text(&size.stdout).trim().parse()?;
    assert!(size < 64 << 10, "{size} bytes for three tasks");
    // Worktrees stay for the next run, as many as there were workers, until somebody wants the room.
    assert!(project.pooled().len() <= 4, "{:?}", project.pooled());
    let cleaned = project.rekindle(&["clean", "--yes"]);
    ensure!(cleaned.status.success(), "{}", text(&cleaned.stderr));
    let worktrees = project.shell("find .rekindle/worktrees -mindepth 3 -type f | wc -l");
    assert_eq!(text(&worktrees.stdout).trim(), "0");
    Ok(())
}
