//! Changes of others to the memory are never overwritten, and only one resume works on a project.

use anyhow::{Result, ensure};

use crate::project::{Project, out};

fn executing() -> Result<Project> {
    Project::new(
        "stage: execution\nstatus: paused\nphase_total: 3\n",
        "- phase_number: 1 | phase_name: Storage | phase_status: in_progress\n",
    )
}

#[test]
fn changes_of_the_agent_in_the_memory_are_kept() -> Result<()> {
    let project = executing()?;
    project.verdicts(&["PASS"])?;
    project.stop_in("phase-1")?;
    let typed = project.resume("12:00");
    let running = typed.start()?;
    project.gate.wait()?;
    let note = "## Written meanwhile\n- by another process\n";
    project.write_memory("MEMORY.md", &format!("{}{note}", project.memory()?))?;
    let mut project = project;
    project.gate.open()?;
    let typed = project.resume("12:00");
    let ran = typed.ran(running.finish()?);
    ensure!(ran.code() == Some(0), "{ran}");
    ensure!(project.memory()?.contains(note), "{}", project.memory()?);
    assert_eq!(project.field("stage")?, "complete");
    project.unrelated_is_untouched()
}

#[test]
fn of_two_resumes_one_runs_and_the_other_names_the_holder() -> Result<()> {
    let project = executing()?;
    project.stop_in("phase-1")?;
    let running = project.resume("12:00").start()?;
    let agent = project.gate.wait()?;
    let before = project.memory()?;
    let second = project.resume("12:30").run()?;
    assert_eq!(second.code(), Some(4), "{second}");
    let holder = format!("held by process {}", running.pid());
    ensure!(second.stderr().contains(&holder), "{second}");
    assert_eq!(project.memory()?, before);
    project.kill(running, agent)
}

#[test]
fn a_memory_that_an_agent_damages_stops_the_resume_and_is_kept() -> Result<()> {
    let project = executing()?;
    let memory = project.memory_dir().join("MEMORY.md");
    let agent = format!("cat >/dev/null; echo broken > '{memory}'");
    let args = [
        "resume",
        "--protocol",
        "kiln",
        "--yes",
        "--agent-cmd",
        &agent,
    ];
    let ran = project.sandbox.typed(&args).run()?;
    assert_eq!(ran.code(), Some(1), "{ran}");
    ensure!(ran.to_string().contains("MEMORY.md"), "{ran}");
    assert_eq!(project.memory()?, "broken\n");
    Ok(())
}

#[test]
fn step_7_keeps_line_ends_and_permissions() -> Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    let project = executing()?;
    let crlf = project.memory()?.replace('\n', "\r\n");
    project.write_memory("MEMORY.md", &crlf)?;
    let path = project.memory_dir().join("MEMORY.md");
    fs_err::set_permissions(&path, std::fs::Permissions::from_mode(0o600))?;
    let ran = project.alone(&["--yes", "--no-agent"]).run()?;
    ensure!(ran.code() == Some(0), "{ran}");
    let wanted = crlf
        .replace("status: paused", "status: in_progress")
        .replace(
            "last_updated: 2026-02-20T08:15:00Z",
            "last_updated: 2026-02-20T12:00:00Z",
        )
        .replace(
            "via /kiln:start\r\n",
            "via /kiln:start\r\n- Resumed: 2026-02-20T12:00:00Z\r\n",
        );
    assert_eq!(project.memory()?, wanted);
    assert_eq!(fs_err::metadata(&path)?.permissions().mode() & 0o777, 0o600);
    ensure!(!out(&ran).contains('\r'), "{ran}");
    Ok(())
}

#[test]
fn a_resume_writes_step_7_without_asking() -> Result<()> {
    for typed in ["", "n\n"] {
        let project = executing()?;
        let ran = project.alone(&["--no-agent"]).answering(typed).run()?;
        ensure!(ran.code() == Some(0), "{ran}");
        ensure!(!ran.stderr().contains("[y/N]"), "{ran}");
        ensure!(
            out(&ran).ends_with("\nResuming phase 1/3: Storage — spawning Maestro.\n"),
            "{ran}"
        );
        ensure!(
            project
                .memory()?
                .contains("- Resumed: 2026-02-20T12:00:00Z\n"),
            "{}",
            project.memory()?
        );
    }
    Ok(())
}
