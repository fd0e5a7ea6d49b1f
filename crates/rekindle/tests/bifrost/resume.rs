//! Resuming: what is asked, what is written, what is not.

use anyhow::{Result, ensure};

use crate::project::{MARKER, Project, SESSION, TEXT};

/// What a resume makes of the session, by hand.
fn resumed(text: &str) -> String {
    text.replace("**Last Updated**: 2026-03-13", "**Last Updated**: 2026-03-14")
        .replace("- **Status**: Awaiting next action", "- **Status**: Resuming")
        .replace("2. **2026-03-10**", "4. **2026-03-10**")
        .replace("2. **2026-03-12", "3. **2026-03-12")
        .replace(
            "1. **2026-03-13**",
            "1. **2026-03-14** - Resume: Resumed user-authentication at implement phase from checkpoint CP-007 (2026-03-13 15:20). Next: /implement user-authentication T004.\n2. **2026-03-13**",
        )
}

#[test]
fn after_consent_marker_and_session_change_only_by_the_intended_bytes() -> Result<()> {
    for windows in [false, true] {
        let eol = |text: &str| {
            if windows {
                text.replace('\n', "\r\n")
            } else {
                text.to_owned()
            }
        };
        let project = Project::new()?;
        project.write(SESSION, &eol(TEXT))?;
        let ran = project.typed(&["resume"]).answering("details\nY\n").run()?;
        ensure!(ran.code() == Some(0), "{ran}");
        assert_eq!(
            project.read(MARKER)?,
            "specs/user-authentication:implement|spec,plan,tasks\n"
        );
        assert_eq!(project.read(SESSION)?, eol(&resumed(TEXT)));
        let out = ran.stdout();
        assert_eq!(
            out.matches("Ready to resume from this checkpoint? (y/n/details)")
                .count(),
            2
        );
        assert!(
            out.ends_with("Run the command above to continue your workflow.\n"),
            "{out}"
        );
        assert_eq!(ran.stderr(), "");
    }
    Ok(())
}

#[test]
fn where_no_feature_can_be_chosen_the_failure_has_the_prescribed_words() -> Result<()> {
    let project = Project::new()?;
    let ran = project.run(&["resume", "../x"])?;
    assert_eq!(ran.code(), Some(2), "{ran}");
    let block = "❌ **RESUME FAILED**: The feature's name is not valid\n\nIssue: `../x` is not a valid feature name: it leaves `specs/`";
    assert!(ran.stdout().starts_with(block), "{ran}");
    fs_err::remove_dir_all(project.sandbox.path("specs"))?;
    fs_err::remove_file(project.sandbox.path(MARKER))?;
    let ran = project.run(&["resume"])?;
    assert_eq!(ran.code(), Some(1), "{ran}");
    let block = "❌ **RESUME FAILED**: There is no feature\n\nIssue: there is no feature below";
    assert!(ran.stdout().starts_with(block), "{ran}");
    Ok(())
}

#[test]
fn any_answer_but_yes_changes_nothing() -> Result<()> {
    for answer in ["n\n", "no\n", "", "\n", "details\n", "what?\nN\n"] {
        let project = Project::new()?;
        let before = project.sandbox.files()?;
        let ran = project.typed(&["resume"]).answering(answer).run()?;
        ensure!(ran.code() == Some(0), "{ran}");
        assert!(!ran.stdout().contains("WORKFLOW RESUMED"), "{ran}");
        assert_eq!(project.sandbox.files()?, before, "{answer:?}");
    }
    Ok(())
}

#[test]
fn inspect_and_plan_change_nothing_and_know_the_options() -> Result<()> {
    let project = Project::new()?;
    let before = project.sandbox.files()?;
    for command in ["inspect", "plan"] {
        for option in [
            &[][..],
            &["--fresh"],
            &["--validate"],
            &["--checkpoint", "CP-003"],
        ] {
            let args: Vec<&str> = [command].iter().chain(option).copied().collect();
            project.json(&args)?;
        }
    }
    let facts = project.json(&["inspect", "--checkpoint", "3"])?["facts"].take();
    assert_eq!(facts["checkpoint"], "CP-003");
    assert_eq!(facts["next_command"], "/tasks user-authentication");
    assert_eq!(project.sandbox.files()?, before);
    Ok(())
}

#[test]
fn local_times_are_those_of_the_zone() -> Result<()> {
    let project = Project::new()?;
    // 15:20 in Oslo is 14:20 in UTC.
    project.touch("tests/login.test.ts", "2026-03-13T14:20:59Z")?;
    let modified = |zone: &str| -> Result<String> {
        let ran = project
            .typed(&["inspect", "--json"])
            .with("TZ", zone)
            .run()?;
        Ok(ran.json()?["facts"]["modified"].to_string())
    };
    assert_eq!(modified("Europe/Oslo")?, "[]");
    assert_eq!(modified("Asia/Tokyo")?, r#"["tests/login.test.ts"]"#);
    assert_eq!(modified("UTC")?, "[]");
    assert_eq!(modified("<+09>-9")?, r#"["tests/login.test.ts"]"#);
    let ran = project
        .typed(&["inspect"])
        .with("TZ", "Mars/Olympus")
        .run()?;
    assert_eq!(ran.code(), Some(2), "{ran}");
    Ok(())
}

#[test]
fn a_feature_is_chosen_by_number_or_name() -> Result<()> {
    let project = Project::new()?;
    project.write(MARKER, "\n")?;
    project.write("specs/billing/spec.md", "x")?;
    for answer in [
        "2\ny\n",
        "user-authentication\ny\n",
        "specs/user-authentication/\ny\n",
        "user-auth\n3.\n../x\n2\ny\n",
    ] {
        let ran = project.typed(&["resume"]).answering(answer).run()?;
        ensure!(ran.code() == Some(0), "{ran}");
        assert!(
            project
                .read(MARKER)?
                .starts_with("specs/user-authentication:")
        );
        project.write(MARKER, "")?;
    }
    let nobody = project.run(&["resume"])?;
    assert_eq!(nobody.code(), Some(3), "{nobody}");
    let before = project.sandbox.files()?;
    let none = project.typed(&["resume"]).answering("n\n").run()?;
    assert_eq!(none.code(), Some(0), "{none}");
    // The seed prints its list as it prints everything else.
    let list: Vec<String> = none.stdout().lines().map(str::to_owned).collect();
    assert_eq!(list.len(), 3, "{none}");
    assert!(list[1].starts_with("  1. bifrost:billing"), "{none}");
    assert!(list[2].starts_with("  2. bifrost:user-auth"), "{none}");
    assert_eq!(project.sandbox.files()?, before);
    // One feature alone is asked for, too.
    fs_err::remove_dir_all(project.sandbox.path("specs/billing"))?;
    let one = project.run(&["resume"])?;
    assert_eq!(one.code(), Some(3), "{one}");
    assert!(one.stdout().starts_with("One workflow can"), "{one}");
    Ok(())
}

#[test]
fn what_is_wrong_is_said_on_standard_output_with_its_exit_code() -> Result<()> {
    let project = Project::new()?;
    for (args, code, said) in [
        (
            &["resume", "gone"][..],
            1,
            "❌ ERROR: No session memory found (tried specs/gone/session.md and .bifrost/memory/session.md). Cannot resume without previous session context. Start new feature with `/spec`.",
        ),
        (
            &["resume", "--checkpoint", "CP-099"],
            1,
            "CP-003 (2026-03-10 16:20)",
        ),
        (&["resume", "../x", "--protocol", "bifrost"], 2, ""),
        (&["resume", "../x"], 2, ""),
        (
            &["resume", "--validate"],
            1,
            "🚫 Specification validation FAILED",
        ),
    ] {
        let before = project.sandbox.files()?;
        let ran = project.typed(args).answering("y\n").run()?;
        assert_eq!(ran.code(), Some(code), "{ran}");
        assert!(ran.stdout().contains(said), "{ran}");
        assert_eq!(project.sandbox.files()?, before);
    }
    Ok(())
}

#[test]
fn an_agent_gets_the_command_after_consent_and_only_then() -> Result<()> {
    let project = Project::new()?;
    let agent = project.sandbox.script("agent.sh", "cat > ../prompt")?;
    let prompt = project.sandbox.root().join("prompt");
    let resume = ["resume", "--agent-cmd", &agent];
    project.typed(&resume).answering("n\n").run()?;
    assert!(!prompt.exists());
    let ran = project.typed(&resume).answering("y\n").run()?;
    ensure!(ran.code() == Some(0), "{ran}");
    assert_eq!(
        fs_err::read_to_string(&prompt)?,
        "/implement user-authentication T004"
    );
    let failing = ["resume", "--yes", "--agent-cmd", "exit 3"];
    assert_eq!(project.run(&failing)?.code(), Some(1));
    Ok(())
}

#[test]
fn other_protocols_say_that_the_options_are_not_theirs() -> Result<()> {
    let project = Project::new()?;
    for option in [
        &["--fresh"][..],
        &["--validate"],
        &["--checkpoint", "CP-001"],
    ] {
        let args: Vec<&str> = ["resume", "--protocol", "kiln"]
            .iter()
            .chain(option)
            .copied()
            .collect();
        let ran = project.run(&args)?;
        assert_eq!(ran.code(), Some(2), "{ran}");
        assert!(
            ran.stderr().contains("`kiln` does not support `--"),
            "{ran}"
        );
    }
    Ok(())
}

#[test]
fn a_capture_shows_the_same_verdict_on_another_machine() -> Result<()> {
    let project = Project::new()?;
    project.touch("tests/login.test.ts", "2026-03-13T20:00:00Z")?;
    let here = project.json(&["inspect", "--capture", "capture.jsonl"])?;
    assert_eq!(here["facts"]["modified"][0], "tests/login.test.ts");
    let elsewhere = Project::new()?;
    fs_err::copy(
        project.sandbox.path("capture.jsonl"),
        elsewhere.sandbox.path("c"),
    )?;
    let there = elsewhere
        .typed(&["inspect", "--from", "c", "--json"])
        .with("TZ", "Asia/Tokyo");
    assert_eq!(there.run()?.json()?, here);
    Ok(())
}
