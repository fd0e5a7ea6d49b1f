//! What a resume does to the session besides: rollbacks that stay, entries that are archived, a
//! context that is compacted, a timestamp that is updated.

use anyhow::{Result, ensure};

use crate::project::{MARKER, Project, SESSION, TEXT};

const ARCHIVE: &str = "specs/user-authentication/session-archive.md";
const SPEC: &str = "## User Scenarios & Testing\n## Requirements\n- **FR-001**: x\n## Review & Acceptance Checklist\n";
const PLAN: &str = "## Technical Context\n## Constitution Check\n## Phase 0: ACE-Enhanced Research & Exploration\n## Phase 1: Design & Contracts\n";

/// Returns a project whose checkpoint has a high context, with five entries in its history.
fn crowded() -> Result<Project> {
    let project = Project::new()?;
    let third = "2. **2026-03-10** - Plan: Completed technical planning.\n";
    let more = "4. **2026-03-09** - Resume: Resumed user-authentication.\n5. **2026-03-08** - Spec: Written.\n";
    let text = TEXT.replace(third, &format!("{third}{more}")).replace(
        "  - **Artifacts**",
        "  - **Context**: 72% utilization\n  - **Artifacts**",
    );
    project.write(SESSION, &text)?;
    Ok(project)
}

/// Returns a project whose checkpoint is forty days old and whose pages are valid.
fn stale() -> Result<Project> {
    let project = Project::new()?;
    project.write("specs/user-authentication/spec.md", SPEC)?;
    project.write("specs/user-authentication/plan.md", PLAN)?;
    project.write(
        SESSION,
        &TEXT.replace("(2026-03-13 15:20)", "(2026-02-01 15:20)"),
    )?;
    Ok(project)
}

fn checkpoint(project: &Project) -> Result<String> {
    let facts = project.json(&["inspect"])?["facts"].take();
    Ok(format!("{} {}", facts["checkpoint"], facts["phase"]).replace('"', ""))
}

#[test]
fn a_rollback_stays_and_a_plain_resume_goes_on_from_it() -> Result<()> {
    for eol in ["\n", "\r\n"] {
        let project = Project::new()?;
        project.write(SESSION, &TEXT.replace('\n', eol))?;
        let ran = project.run(&["rollback", "user-authentication", "CP-003", "--yes"])?;
        ensure!(ran.code() == Some(0), "{ran}");
        for _ in 0..2 {
            assert_eq!(checkpoint(&project)?, "CP-003 plan");
            let session = project.read(SESSION)?;
            assert_eq!(session.matches(eol).count(), session.matches('\n').count());
            for said in [
                "- **Phase**: plan",
                "  - **Task ID**: None",
                "  - **Restored**: 2026-03-14 10:00, rolled back from CP-007 (2026-03-13 15:20)",
            ] {
                assert!(session.contains(&format!("{said}{eol}")), "{session}");
            }
            assert_eq!(
                project.read(MARKER)?,
                "specs/user-authentication:plan|spec,plan\n"
            );
            let ran = project.run(&["resume", "--yes"])?;
            ensure!(ran.code() == Some(0), "{ran}");
            // Work that was done after the checkpoint is not accomplished at it.
            let (summary, _) = ran
                .stdout()
                .split_once("Current state")
                .map_or_else(Default::default, |(a, b)| (a.to_owned(), b.to_owned()));
            assert!(!summary.contains("Completed T003"), "{ran}");
        }
        // Going forward again finds the newer checkpoint with all that it said.
        let ran = project.run(&["rollback", "user-authentication", "CP-007", "--yes"])?;
        ensure!(ran.code() == Some(0), "{ran}");
        assert_eq!(checkpoint(&project)?, "CP-007 implement");
        let facts = project.json(&["inspect"])?["facts"].take();
        assert_eq!(facts["next_command"], "/implement user-authentication T004");
        assert_eq!(facts["inferred"], false);
        assert_eq!(project.read(SESSION)?.matches("**Restored**").count(), 1);
    }
    Ok(())
}

#[test]
fn a_rollback_from_a_corrupt_checkpoint_or_an_open_error_stays() -> Result<()> {
    let torn = TEXT.replacen("**CP-007** (2026-03-13 15:20)", "**CP-007** (2026-03-1", 1);
    let error = TEXT.replace(
        "- **Status**: Awaiting next action",
        "- **Status**: Error Recovery\n- **Error Type**: Tool Failure",
    ) + "\n### Current Blockers\n\n- **Tool Failure (2026-03-13)**: x\n  - **Status**: In Progress\n- **Validation Failure (2026-03-12)**: y\n";
    for (text, id, phase) in [
        (&torn, "CP-007", "implement"),
        (&torn, "CP-004", "tasks"),
        (&error, "CP-003", "plan"),
    ] {
        let project = Project::new()?;
        project.write(SESSION, text)?;
        assert_eq!(project.run(&["resume", "--yes"])?.code(), Some(1));
        let back = ["resume", "user-authentication", "--checkpoint", id, "--yes"];
        let ran = project.run(&back)?;
        ensure!(ran.code() == Some(0), "{ran}");
        let kept = ".bifrost/rollback-backup/20260314-100000/session.md";
        assert_eq!(&project.read(kept)?, text);
        let plain = project.run(&["resume", "--yes"])?;
        ensure!(plain.code() == Some(0), "{id}: {plain}");
        assert_eq!(checkpoint(&project)?, format!("{id} {phase}"));
        let session = project.read(SESSION)?;
        assert!(
            !session.contains("Error Type") && !session.contains("In Progress"),
            "{session}"
        );
    }
    Ok(())
}

#[test]
fn five_resumes_lose_no_entry_of_the_history() -> Result<()> {
    let project = Project::new()?;
    for n in 0..6 {
        let ran = project.run(&["resume", "--yes"])?;
        ensure!(ran.code() == Some(0), "{ran}");
        let session = project.read(SESSION)?;
        let archive = project.read(ARCHIVE).unwrap_or_default();
        let both = format!("{session}{archive}");
        for entry in [
            "**2026-03-13** - Implement Phase 2: Completed T003. Login contract test created.\n",
            "**2026-03-12 21:00** - Tasks: Created 8 tasks.\n",
            "**2026-03-10** - Plan: Completed technical planning.\n",
        ] {
            assert_eq!(both.matches(entry).count(), 1, "{n}: {both}");
        }
        assert_eq!(both.matches(" - Resume: Resumed ").count(), n + 1, "{both}");
    }
    // An archive that cannot be used keeps nobody from resuming.
    fs_err::remove_file(project.sandbox.path(ARCHIVE))?;
    fs_err::create_dir(project.sandbox.path(ARCHIVE))?;
    let ran = project.run(&["resume", "--yes"])?;
    ensure!(ran.code() == Some(0), "{ran}");
    let second = project.read("specs/user-authentication/session-archive-2.md")?;
    assert!(second.contains("- **2026-03-14** - Resume: "), "{second}");
    Ok(())
}

#[test]
fn a_high_context_is_compacted_after_consent_or_with_fresh() -> Result<()> {
    let question = "The context is at 72% utilization. Compact the session: move 2 history entries to specs/user-authentication/session-archive.md? (y/n)";
    let line = "**2026-03-14** - Context: Compacted the session at 72% utilization. Moved 2 history entries to session-archive.md.\n";
    for (args, answer, is_asked, is_compacted) in [
        (&["resume"][..], "y\ny\n", true, true),
        (&["resume", "--yes"], "", false, true),
        (&["resume", "--fresh"], "y\n", false, true),
        (&["resume"], "y\nn\n", true, false),
        (&["resume"], "y\n", true, false),
        (&["resume"], "y\nwhat?\n\n", true, false),
        (&["resume"], "n\ny\n", false, false),
    ] {
        let project = crowded()?;
        let ran = project.typed(args).answering(answer).run()?;
        ensure!(ran.code() == Some(0), "{ran}");
        assert_eq!(ran.stdout().contains(question), is_asked, "{ran}");
        let session = project.read(SESSION)?;
        assert_eq!(
            session.contains(line),
            is_compacted,
            "{args:?} {answer:?} {session}"
        );
        if is_compacted {
            let archive = project.read(ARCHIVE)?;
            for gone in [
                "2026-03-09** - Resume: Resumed",
                "2026-03-08** - Spec: Written.",
            ] {
                assert!(
                    archive.contains(gone) && !session.contains(gone),
                    "{archive}"
                );
            }
            let order = "1. **2026-03-14** - Resume: ";
            assert!(
                session.contains(order) && session.contains("\n5. **2026-03-10** - Plan"),
                "{session}"
            );
            assert!(
                ran.stdout()
                    .ends_with("Run the command above to continue your workflow.\n")
            );
        }
    }
    Ok(())
}

#[test]
fn a_high_context_can_be_handed_over_to_a_sub_agent() -> Result<()> {
    let project = crowded()?;
    let ran = project.typed(&["resume"]).answering("details\nn\n").run()?;
    let out = ran.stdout();
    assert!(
        out.contains("hand the remaining work to a sub-agent: `details` prints the text for it\n"),
        "{out}"
    );
    let (_, text) = out
        .split_once("\nHand-over to a sub-agent:\n")
        .unwrap_or_default();
    for said in [
        "the feature user-authentication in its implement phase, from checkpoint CP-007",
        "- specs/user-authentication/tasks.md\n",
        "- Argon2id,  64 MiB\n",
        "T004 d: open, waits for nothing\n",
        "Run: /implement user-authentication T004\n",
    ] {
        assert!(text.contains(said), "{said}: {out}");
    }
    let plain = Project::new()?;
    let ran = plain.typed(&["resume"]).answering("details\nn\n").run()?;
    assert!(!ran.stdout().contains("Hand-over"), "{ran}");
    Ok(())
}

#[test]
fn a_stale_checkpoint_that_validates_gets_a_new_time_and_no_new_checkpoint() -> Result<()> {
    let question = "Validation passed. Update the timestamp of CP-007 from 2026-02-01 15:20 to 2026-03-14 10:00? (y/n)";
    for (args, answer, is_asked, is_updated) in [
        (&["resume", "--validate"][..], "y\nY\n", true, true),
        (&["resume", "--validate", "--yes"], "", false, true),
        (&["resume", "--validate"], "y\n", true, false),
        (&["resume", "--validate"], "y\nno\n", true, false),
        (&["resume"], "y\ny\n", false, false),
    ] {
        let project = stale()?;
        let before = project.read(SESSION)?;
        let ran = project.typed(args).answering(answer).run()?;
        ensure!(ran.code() == Some(0), "{ran}");
        assert_eq!(ran.stdout().contains(question), is_asked, "{ran}");
        let session = project.read(SESSION)?;
        let line = "2. **2026-03-14** - Checkpoint: Timestamp of CP-007 updated from 2026-02-01 15:20 to 2026-03-14 10:00 after validation passed.\n";
        assert_eq!(session.contains(line), is_updated, "{session}");
        let latest = |text: &str| -> String {
            let (_, rest) = text
                .split_once("#### Latest Checkpoint")
                .unwrap_or_default();
            rest.to_owned()
        };
        let wanted = if is_updated {
            latest(&before).replacen("2026-02-01 15:20", "2026-03-14 10:00", 1)
        } else {
            latest(&before)
        };
        assert_eq!(latest(&session), wanted);
        assert!(!ran.stdout().contains("rekindle checkpoint user"), "{ran}");
    }
    Ok(())
}

#[test]
fn the_end_of_an_agent_says_what_is_proven() -> Result<()> {
    let project = Project::new()?;
    let idle = project.run(&["resume", "--yes", "--agent-cmd", "true"])?;
    assert_eq!(idle.code(), Some(0), "{idle}");
    assert!(!idle.stderr().contains("done:"), "{idle}");
    assert!(
        idle.stderr().contains("/implement user-authentication T004 ended without an error but made no checkpoint; tasks.md says that T004 is open"),
        "{idle}"
    );
    let new = r"sed -i 's/^1\. \*\*CP-007/1. **CP-008** (2026-03-14 09:30): Task T004 complete\n2. **CP-007/' specs/user-authentication/session.md";
    let done = project.run(&["resume", "--yes", "--agent-cmd", new])?;
    assert!(
        done.stderr().contains("done: /implement user-authentication T004 is done: CP-008 (2026-03-14 09:30): Task T004 complete"),
        "{done}"
    );
    Ok(())
}

#[test]
fn the_timeline_is_shown_for_several_days_and_by_details() -> Result<()> {
    let lines = "\nTimeline:\n- CP-003 (2026-03-08 16:20): plan, Complete\n- … gap of 4 days\n- CP-004 (2026-03-12 17:00): tasks, Complete\n- CP-007 (2026-03-13 15:20): implement, Complete\n";
    let project = Project::new()?;
    let text = TEXT.replace("2026-03-10 16:20", "2026-03-08 16:20");
    project.write(SESSION, &text)?;
    let ran = project.typed(&["resume"]).answering("details\nn\n").run()?;
    assert_eq!(ran.stdout().matches(lines).count(), 2, "{ran}");
    let one_day = text
        .replace("2026-03-08 16:20", "2026-03-13 16:20")
        .replace("2026-03-12 17:00", "2026-03-13 17:00");
    project.write(SESSION, &one_day)?;
    let ran = project.typed(&["resume"]).answering("n\n").run()?;
    assert!(!ran.stdout().contains("Timeline"), "{ran}");
    let ran = project.typed(&["resume"]).answering("details\nn\n").run()?;
    assert_eq!(ran.stdout().matches("\nTimeline:\n").count(), 1, "{ran}");
    Ok(())
}
