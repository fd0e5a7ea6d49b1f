//! The commands beside resume: rollback, checkpoints, archive, validate, migrate, explain.

use anyhow::{Result, ensure};

use crate::project::{LEGACY, MARKER, Project, SESSION, TEXT};

#[test]
fn a_rollback_keeps_what_it_replaces_and_deletes_nothing() -> Result<()> {
    let project = Project::new()?;
    project.touch("tests/login.test.ts", "2026-03-13T14:00:00Z")?;
    let before = project.sandbox.files()?;
    let declined = project
        .typed(&["rollback", "user-authentication", "CP-003"])
        .answering("n\n")
        .run()?;
    ensure!(declined.code() == Some(0), "{declined}");
    assert_eq!(project.sandbox.files()?, before);
    let ran = project
        .typed(&["rollback", "user-authentication", "CP-003"])
        .answering("y\n")
        .run()?;
    ensure!(ran.code() == Some(0), "{ran}");
    assert!(ran.stdout().contains("Later work: 1 files were written after CP-003; nothing of it is deleted\n- tests/login.test.ts\n"), "{ran}");
    assert_eq!(
        project.read(MARKER)?,
        "specs/user-authentication:plan|spec,plan\n"
    );
    let kept = ".bifrost/rollback-backup/20260314-100000";
    assert_eq!(project.read(&format!("{kept}/session.md"))?, TEXT);
    assert_eq!(
        project.read(&format!("{kept}/active-workflow"))?,
        "specs/user-authentication:plan|spec\n"
    );
    let session = project.read(SESSION)?;
    assert!(
        session.contains("**CP-007** (2026-03-13 15:20)"),
        "{session}"
    );
    // Another one in the same second finds a folder of its own.
    let again = project.run(&["rollback", "user-authentication", "CP-004", "--yes"])?;
    ensure!(again.code() == Some(0), "{again}");
    assert_eq!(project.read(&format!("{kept}-2/session.md"))?, session);
    Ok(())
}

#[test]
fn checkpoints_are_listed_made_and_archived() -> Result<()> {
    let project = Project::new()?;
    let ran = project.run(&["checkpoints"])?;
    insta::assert_snapshot!(ran, @r"
    exit 0
    --- stdout
    CP-003 (2026-03-10 16:20): Plan validated, ready for tasks ✓ VALID
      … gap of 2 days
    CP-004 (2026-03-12 17:00): Tasks breakdown complete, T001-T004 ready ✓ VALID
    CP-007 (2026-03-13 15:20): Task T003 complete - login contract test created ✓ VALID
    ");
    let made = project.json(&["checkpoint", "-m", "Half way"])?;
    assert_eq!(made["record"], "**CP-008** (2026-03-14 10:00): Half way");
    assert_eq!(made["log"], SESSION);
    for n in 9..=11 {
        project.run(&["checkpoint", "-m", &format!("Number {n}")])?;
    }
    let session = project.read(SESSION)?;
    let fifth =
        "5. **CP-007** (2026-03-13 15:20): Task T003 complete - login contract test created\n\n";
    assert!(session.contains(fifth), "{session}");
    let more = "6. **CP-002** (2026-03-02 08:00): Plan started\n7. **CP-001** (2026-03-01 08:00): Session initialized\n\n";
    let longer = format!("{}{more}", fifth.trim_end_matches('\n').to_owned() + "\n");
    project.write(SESSION, &session.replace(fifth, &longer))?;
    let listed = project.json(&["checkpoints"])?["checkpoints"].take();
    assert_eq!(listed.as_array().map(Vec::len), Some(7));
    assert_eq!(listed[3]["at"], "2026-03-14T09:00:00Z");
    assert_eq!(listed[3]["valid"], true);
    let before = project.sandbox.files()?;
    let declined = project
        .typed(&["checkpoints", "--archive"])
        .answering("n\n")
        .run()?;
    ensure!(declined.code() == Some(0), "{declined}");
    assert_eq!(project.sandbox.files()?, before);
    let ran = project.run(&["checkpoints", "--archive", "--yes"])?;
    ensure!(ran.code() == Some(0), "{ran}");
    let archive = project.read("specs/user-authentication/session-archive.md")?;
    // Two left when newer ones were made, and two now.
    for line in [
        "- **CP-004** (2026-03-12 17:00)",
        "- **CP-003** (2026-03-10 16:20)",
        "- **CP-002** (2026-03-02 08:00)",
        "- **CP-001** (2026-03-01 08:00)",
    ] {
        assert!(archive.contains(line), "{archive}");
    }
    assert_eq!(
        project.json(&["inspect"])?["facts"]["history_ids"]
            .as_array()
            .map(Vec::len),
        Some(5)
    );
    let nothing = project.run(&["checkpoints", "--archive"])?;
    ensure!(nothing.code() == Some(0), "{nothing}");
    let other = project.run(&["checkpoints", "--archive", "--protocol", "kiln"])?;
    ensure!(other.code() != Some(0), "{other}");
    Ok(())
}

#[test]
fn a_checkpoint_that_cannot_be_read_is_shown_and_repaired() -> Result<()> {
    let project = Project::new()?;
    project.write(SESSION, &TEXT.replacen("**CP-007** (2026-03-13 15:20): Task T003 complete - login contract test created\n  - **Phase**: implement", "**CP-007** (2026-03-1", 1))?;
    let ran = project.run(&["checkpoints"])?;
    assert!(
        ran.stdout().contains("CP-007 (): (2026-03-1 [CORRUPTED]\n"),
        "{ran}"
    );
    let blocked = project.run(&["resume"])?;
    assert_eq!(blocked.code(), Some(1), "{blocked}");
    assert!(
        blocked
            .stdout()
            .contains("`rekindle resume user-authentication --checkpoint CP-007`"),
        "{blocked}"
    );
    let offered = project.run(&[
        "resume",
        "user-authentication",
        "--checkpoint",
        "CP-007",
        "--yes",
    ])?;
    ensure!(offered.code() == Some(0), "{offered}");
    let made = project.run(&["checkpoint", "-m", "Mended"])?;
    ensure!(made.code() == Some(0), "{made}");
    assert_eq!(project.json(&["inspect"])?["facts"]["checkpoint"], "CP-008");
    Ok(())
}

#[test]
fn a_feature_is_validated_by_name_or_by_file() -> Result<()> {
    let project = Project::new()?;
    let bad = project.run(&["validate", "specs/user-authentication/"])?;
    assert_eq!(bad.code(), Some(1), "{bad}");
    assert!(
        bad.stdout().contains("🚫 Specification validation FAILED"),
        "{bad}"
    );
    assert!(
        bad.stdout()
            .contains("🚫 Plan validation FAILED (4 critical issues)"),
        "{bad}"
    );
    project.write("s.md", "## User Scenarios & Testing\n## Requirements\n- **FR-001**: x\n## Review & Acceptance Checklist\n")?;
    let good = project.run(&["validate", "--spec", "s.md"])?;
    assert_eq!(good.code(), Some(0), "{good}");
    let missing = project.run(&["validate", "--plan", "nope.md"])?;
    assert_eq!(missing.code(), Some(1), "{missing}");
    for wrong in [
        &["validate"][..],
        &["validate", "--spec", "a", "--plan", "b"],
        &["validate", "../x"],
        &["validate", "x", "--rules", "r"],
    ] {
        assert_eq!(project.run(wrong)?.code(), Some(2), "{wrong:?}");
    }
    Ok(())
}

#[test]
fn a_legacy_session_is_migrated_once() -> Result<()> {
    let project = Project::new()?;
    fs_err::create_dir_all(project.sandbox.path(".bifrost/memory"))?;
    let exists = project.run(&["migrate", "user-authentication"])?;
    assert_eq!(exists.code(), Some(1), "{exists}");
    fs_err::rename(project.sandbox.path(SESSION), project.sandbox.path(LEGACY))?;
    let mismatch = project.run(&["migrate", "other"])?;
    assert_eq!(mismatch.code(), Some(2), "{mismatch}");
    insta::assert_snapshot!(project.run(&["migrate"])?, @"
    exit 3
    --- stderr
    This will:
      - specs/user-authentication/session.md: the session of user-authentication
      - .bifrost/memory/session.md: the legacy session is saved under another name
    Continue? [y/N] 
    error: nobody answered the question

    hint: use `--yes` to agree in advance
    ");
    ensure!(project.sandbox.path(LEGACY).exists());
    let declined = project.sandbox.typed(&["migrate"]).answering("n\n").run()?;
    assert_eq!(declined.code(), Some(0), "{declined}");
    ensure!(project.sandbox.path(LEGACY).exists());
    let ran = project.run(&["migrate", "--yes"])?;
    insta::assert_snapshot!(ran, @r"
    exit 0
    --- stdout
    `specs/user-authentication/session.md` is the session of user-authentication now; the legacy one is saved as `.bifrost/memory/session.md.backup-20260314-100000`
    --- stderr
    hint: there is no `.bifrost/memory/project-session.md`, so no shared session is started
    ");
    assert_eq!(project.read(SESSION)?, TEXT);
    assert_eq!(
        project.read(".bifrost/memory/session.md.backup-20260314-100000")?,
        TEXT
    );
    ensure!(!project.sandbox.path(LEGACY).exists());
    assert_eq!(project.run(&["migrate"])?.code(), Some(1));
    Ok(())
}

#[test]
fn tasks_are_explained_and_features_listed() -> Result<()> {
    let project = Project::new()?;
    let ran = project.run(&["explain", "user-authentication", "t003"])?;
    insta::assert_snapshot!(ran, @r"
    exit 0
    --- stdout
    T003 of bifrost:user-authentication is complete
    because tasks.md alone says how far a task is; a checkpoint may be older
    → no time               complete (c)
        specs/user-authentication/tasks.md:9
      2026-03-13T14:20:00Z  CP-007 (2026-03-13 15:20): Task T003 complete - login contract test created
        specs/user-authentication/session.md:38
    ");
    let ran = project.run(&["status"])?;
    insta::assert_snapshot!(ran, @"
    exit 0
    --- stdout
    ID    STATE        TASKS  AGE           TITLE
    user  interrupted  3/4    18 hours ago  user-authentication, implement
    --- stderr
    hint: go on with `rekindle resume`
    ");
    Ok(())
}
