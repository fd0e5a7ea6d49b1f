//! The two questions of the protocol, with and without answers.

use anyhow::{Result, ensure};
use rekindle_testkit::running::wait_until_gone;
use rekindle_testkit::sandbox::LIMIT;

use crate::project::{Project, out};

fn blocked() -> Result<Project> {
    let project = Project::new(
        "stage: validation\nstatus: blocked\ncorrection_cycle: 3\n",
        "",
    )?;
    project.sandbox.write(
        ".kiln/validation/report.md",
        "# Validation Report\n\n## Verdict\n\n**FAIL**\n",
    )?;
    Ok(project)
}

fn complete() -> Result<Project> {
    Project::new("stage: complete\nstatus: complete\n", "")
}

#[test]
fn without_an_answer_a_resume_does_not_wait() -> Result<()> {
    let project = blocked()?;
    let ran = project.alone(&["--yes"]).run()?;
    insta::assert_snapshot!(ran, @"
    exit 0
    --- stdout
    === Kiln Resume ===
    Project: [PROJECT]
    Stage:   validation
    Correction: cycle 3/3
    Status:  blocked
    Handoff: Plan approved; execution starting.
    =====================

    Validation failed after 3 correction cycles. Here is the validation report:

    # Validation Report

    ## Verdict

    **FAIL**

    How would you like to proceed? Options: retry validation, fix manually, or mark complete.
    --- stderr
    validation waits for a decision; the next `rekindle resume` lets Argus validate again, and asks again if that fails
    ");
    assert_eq!(project.field("status")?, "in_progress");
    let project = complete()?;
    let before = project.memory()?;
    let ran = project.alone(&[]).run()?;
    insta::assert_snapshot!(ran, @"
    exit 0
    --- stdout
    === Kiln Resume ===
    Project: [PROJECT]
    Stage:   complete
    Status:  complete
    Handoff: Plan approved; execution starting.
    =====================

    This project is marked complete.

    What would you like to do next?
      1. Start a new project in this directory (/kiln:start)
      2. Review the decisions log
      3. Review the pitfalls log
      4. Archive this project's memory
    --- stderr
    What would you like to do next?
      1                      start a new project in this directory
      2                      review the decisions log
      3                      review the pitfalls log
      4                      archive this project's memory; nothing is deleted
    > 
    the project is complete; `rekindle resume` without --yes takes your choice
    ");
    assert_eq!(project.memory()?, before);
    Ok(())
}

#[test]
fn retry_validation_validates_and_asks_again_if_it_fails() -> Result<()> {
    let project = blocked()?;
    project.verdicts(&["FAIL", "PASS"])?;
    let ran = project
        .asked("12:00")
        .answering("y\nwhat?\nretry validation\nretry validation\n")
        .run()?;
    ensure!(ran.code() == Some(0), "{ran}");
    assert_eq!(
        project.calls()?,
        "kiln-validator validation 4\nkiln-validator validation 4\n"
    );
    assert_eq!(project.field("stage")?, "complete");
    assert_eq!(project.field("correction_cycle")?, "0");
    project.unrelated_is_untouched()
}

#[test]
fn a_fourth_correction_is_never_started() -> Result<()> {
    let project = Project::new(
        "stage: validation\nstatus: in_progress\ncorrection_cycle: 3\n",
        "",
    )?;
    project.verdicts(&["FAIL"])?;
    let ran = project.resume("12:00").run()?;
    ensure!(ran.code() == Some(0), "{ran}");
    assert_eq!(project.calls()?, "kiln-validator validation 4\n");
    ensure!(
        out(&ran).contains("Resuming validation — correction cycle 3/3 in progress.\n"),
        "{ran}"
    );
    ensure!(out(&ran).ends_with("How would you like to proceed? Options: retry validation, fix manually, or mark complete.\n"), "{ran}");
    assert_eq!(
        (project.field("stage")?, project.field("status")?),
        ("validation".to_owned(), "blocked".to_owned())
    );
    Ok(())
}

#[test]
fn three_corrections_are_made_and_then_a_person_is_asked() -> Result<()> {
    let project = Project::new("stage: validation\nstatus: in_progress\n", "")?;
    project.verdicts(&["FAIL", "PARTIAL", "FAIL", "FAIL"])?;
    let ran = project.resume("12:00").run()?;
    ensure!(ran.code() == Some(0), "{ran}");
    let mut calls = String::new();
    for n in 1..=3 {
        calls += &format!("kiln-validator validation {n}\nkiln-phase-executor correction-{n} 1\n");
    }
    assert_eq!(project.calls()?, calls + "kiln-validator validation 4\n");
    assert_eq!(project.field("correction_cycle")?, "3");
    assert_eq!(project.field("status")?, "blocked");
    let memory = project.memory()?;
    ensure!(
        memory.contains("- Cycle 2: PARTIAL, 1 correction tasks\n"),
        "{memory}"
    );
    assert_eq!(memory.matches("[correction_complete]").count(), 3);
    Ok(())
}

#[test]
fn fix_manually_pauses_and_the_next_resume_validates() -> Result<()> {
    let project = blocked()?;
    let ran = project
        .alone(&["--no-agent"])
        .answering("y\nfix manually\n")
        .run()?;
    ensure!(ran.code() == Some(0), "{ran}");
    assert_eq!(project.field("status")?, "paused");
    project.verdicts(&["PASS"])?;
    let ran = project.resume("13:00").run()?;
    ensure!(out(&ran).contains("Resuming validation stage.\n"), "{ran}");
    assert_eq!(project.field("stage")?, "complete");
    Ok(())
}

#[test]
fn marking_complete_ends_the_project() -> Result<()> {
    let project = blocked()?;
    let ran = project
        .alone(&["--no-agent"])
        .answering("y\nmark complete\n")
        .run()?;
    ensure!(ran.code() == Some(0), "{ran}");
    assert_eq!(
        (project.field("stage")?, project.field("status")?),
        ("complete".to_owned(), "complete".to_owned())
    );
    assert_eq!(project.field("completed_at")?, "2026-02-20T12:00:00Z");
    project.unrelated_is_untouched()
}

#[test]
fn the_menu_shows_logs_and_names_the_command() -> Result<()> {
    let project = complete()?;
    let before = project.memory()?;
    for (choice, said) in [
        ("2\n", "## Integer cents\nDecision: cents\n"),
        ("5\n3\n", "pitfalls.md is absent.\n"),
    ] {
        let ran = project.alone(&[]).answering(choice).run()?;
        ensure!(ran.code() == Some(0) && out(&ran).ends_with(said), "{ran}");
    }
    let ran = project.alone(&[]).answering("1\n").run()?;
    ensure!(
        ran.code() == Some(0) && ran.stderr().contains("run /kiln:start in this directory"),
        "{ran}"
    );
    assert_eq!(project.memory()?, before);
    Ok(())
}

#[test]
fn archiving_moves_the_memory_to_a_dated_folder() -> Result<()> {
    let project = complete()?;
    let before = project.memory()?;
    let ran = project.alone(&[]).answering("4\n").run()?;
    ensure!(ran.code() == Some(0), "{ran}");
    ensure!(!project.memory_dir().exists());
    let archive = project
        .memory_dir()
        .with_file_name("memory-archive")
        .join("2026-02-20T12-00-00Z");
    assert_eq!(fs_err::read_to_string(archive.join("MEMORY.md"))?, before);
    for name in ["master-plan.md", "vision.md", "decisions.md"] {
        ensure!(archive.join(name).exists(), "{name}");
    }
    let ran = project.alone(&[]).run()?;
    ensure!(
        ran.code() == Some(1) && out(&ran).starts_with("[kiln:resume] No memory found at "),
        "{ran}"
    );
    assert_eq!(ran.stderr(), "", "the block and nothing else");
    project.write_memory("MEMORY.md", "# Kiln Project Memory\nstage: tea\n")?;
    let ran = project.alone(&[]).run()?;
    ensure!(
        ran.code() == Some(1) && out(&ran).starts_with("[kiln:resume] MEMORY.md is corrupted"),
        "{ran}"
    );
    assert_eq!(ran.stderr(), "", "the block and nothing else");
    let looked = project.sandbox.typed(&["status"]).run()?;
    ensure!(
        looked.stderr().contains("rekindle inspect ledg")
            && !out(&looked).contains("rekindle resume"),
        "a resume cannot help: {looked}"
    );
    Ok(())
}

#[test]
fn a_resume_without_questions_reads_no_answer() -> Result<()> {
    for (project, answer) in [
        (blocked()?, "mark complete\n"),
        (complete()?, "4\n"),
        (complete()?, "2\n"),
    ] {
        let stage = project.field("stage")?;
        let ran = project
            .alone(&["--yes", "--no-agent"])
            .answering(answer)
            .run()?;
        ensure!(ran.code() == Some(0), "{ran}");
        ensure!(!out(&ran).contains("Integer cents"), "{ran}");
        assert_eq!(project.field("stage")?, stage);
        // Standard input that stays open without data.
        let running = project.alone(&["--yes", "--no-agent"]).start()?;
        wait_until_gone(running.pid(), LIMIT)?;
        running.finish()?;
        assert_eq!(project.field("stage")?, stage);
    }
    Ok(())
}
