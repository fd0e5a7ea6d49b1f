//! Attempts: retries, sessions, and the worktrees that agents work in.

use std::fs;
use std::path::Path;

use rekindle_testkit::repository::{Project, WRITE, run_words, text};

use crate::assert_done;

#[test]
fn a_task_that_fails_is_tried_again_with_the_reason_and_given_up_after_two_retries() {
    let project = Project::new(env!("CARGO_BIN_EXE_rekindle"));
    project.plan("A B C<B");
    let agent = r#"cat > .prompt; if [ $REKINDLE_TASK = B ]; then cp .prompt "$PWD/../../../../seen-$REKINDLE_ATTEMPT"; exit 3; fi; echo x > A.txt"#;
    let output = project.run(agent, &["--jobs", "1"]);
    assert_eq!(output.status.code(), Some(1));
    let said = text(&output.stderr);
    assert!(
        said.contains("B: it failed 3 times: it ended with exit code 3"),
        "{said}"
    );
    assert_eq!(project.tasks(), "A");
    let third = fs::read_to_string(project.path().join("seen-3")).unwrap();
    assert!(third.contains("it ended with exit code 3"), "{third}");
    // The worktree of a failed task is kept, and resuming does not try it again by itself.
    assert_eq!(project.git(&["worktree", "list"]).lines().count(), 2);
    let again = project.rekindle(&["resume", "--yes", "--agent-cmd", WRITE]);
    assert_eq!(again.status.code(), Some(1), "{}", text(&again.stderr));
    assert_eq!(project.tasks(), "A");
    // A person who says that it is ready gives it all its attempts back.
    let id = text(&project.rekindle(&["status", "--json"]).stdout);
    let id = id
        .split("\"id\":\"")
        .nth(1)
        .unwrap()
        .split('"')
        .next()
        .unwrap()
        .to_owned();
    assert_done(&project.rekindle(&["event", &id, "task_ready", "--task", "B"]));
    assert_done(&project.rekindle(&["resume", "--yes", "--agent-cmd", WRITE]));
    assert_eq!(project.tasks(), "A B C");
}

#[test]
fn cleaning_removes_a_failed_tasks_worktree_and_keeps_what_was_in_it() {
    let project = Project::new(env!("CARGO_BIN_EXE_rekindle"));
    project.plan("A");
    let agent = "cat > /dev/null; echo precious > half.txt; exit 1";
    let output = project.run(agent, &["--retries", "0"]);
    assert_eq!(output.status.code(), Some(1));
    let unanswered = project.rekindle(&["clean"]);
    assert_eq!(unanswered.status.code(), Some(3));
    assert!(text(&unanswered.stderr).contains("nobody answered"));
    assert_eq!(project.git(&["worktree", "list"]).lines().count(), 2);
    let cleaned = project.rekindle(&["clean", "--yes", "--json"]);
    assert_done(&cleaned);
    assert!(
        text(&cleaned.stdout).contains("\"saved_as\":\"refs/rekindle/rescue/"),
        "{}",
        text(&cleaned.stdout)
    );
    assert_eq!(project.git(&["worktree", "list"]).lines().count(), 1);
    let name = project.git(&[
        "for-each-ref",
        "--format=%(refname)",
        "refs/rekindle/rescue",
    ]);
    assert_eq!(
        project.git(&["show", &format!("{}:half.txt", name.trim())]),
        "precious\n"
    );
    assert!(text(&project.rekindle(&["clean"]).stdout).contains("No worktrees to remove."));
}

#[test]
fn a_session_that_an_agent_reports_is_kept_and_a_retry_continues_it() {
    let project = Project::new(env!("CARGO_BIN_EXE_rekindle"));
    project.plan("A");
    let agent = project.path().join("agent.sh");
    let script = r#"cat > /dev/null
        echo "$*" >> "$0.calls"
        echo '{"type":"system","subtype":"init","session_id":"5e5510-1"}'
        [ "$REKINDLE_ATTEMPT" = 1 ] && exit 1
        echo x > x
        echo '{"type":"result","subtype":"success","is_error":false,"terminal_reason":"completed","num_turns":1,"session_id":"5e5510-1","total_cost_usd":0.25,"result":"ok"}'"#;
    fs::write(&agent, script).unwrap();
    let config = format!(
        "[agent]\ndefault = \"mine\"\n[agents.mine]\ncommand = \"sh {}\"\nstream = \"claude-json\"\nresume = [\"--resume\", \"{{session}}\"]\n",
        agent.display()
    );
    fs::create_dir_all(project.path().join(".rekindle")).unwrap();
    fs::write(project.path().join(".rekindle/config.toml"), config).unwrap();
    let output = project.rekindle(&["run", "plan.json", "--branch", "result", "--yes"]);
    assert_done(&output);
    let calls = fs::read_to_string(project.path().join("agent.sh.calls")).unwrap();
    assert_eq!(calls, "\n--resume 5e5510-1\n");
    assert!(
        text(&output.stderr).contains("cost: $0.25"),
        "{}",
        text(&output.stderr)
    );
    assert!(
        text(&output.stderr).contains("sets agents.mine.command"),
        "{}",
        text(&output.stderr)
    );
}

#[test]
fn an_agent_that_breaks_its_worktree_never_reaches_the_users_repository() {
    for breaking in [
        "rm -rf .git",
        "rm -rf .git; mkdir .git",
        "rm -rf .git; git init -q",
    ] {
        let project = Project::new(env!("CARGO_BIN_EXE_rekindle"));
        project.plan("A");
        fs::write(project.path().join("mine.txt"), "private\n").unwrap();
        let before = (
            project.git(&["status", "--porcelain"]),
            project.git(&["rev-parse", "HEAD"]),
        );
        let agent = format!(
            "cat > /dev/null; echo x > x.txt; if [ $REKINDLE_ATTEMPT = 1 ]; then {breaking}; fi; git checkout -q -b agent-branch; true"
        );
        let output = project.run(&agent, &[]);
        assert_done(&output);
        let said = text(&output.stderr);
        assert!(said.contains("failed A (attempt 1)"), "{breaking}: {said}");
        assert_eq!(
            project.git(&["ls-tree", "--name-only", "result"]),
            "README\nx.txt\n",
            "{breaking}"
        );
        let status = project
            .git(&["status", "--porcelain"])
            .replace("?? .agent-memory/\n", "");
        assert_eq!(
            (status, project.git(&["rev-parse", "HEAD"])),
            before,
            "{breaking}"
        );
        assert_eq!(
            project.git(&["branch", "--show-current"]),
            "main\n",
            "{breaking}"
        );
    }
}

#[test]
fn a_retry_never_moves_a_branch_that_the_agent_checked_out() {
    let project = Project::new(env!("CARGO_BIN_EXE_rekindle"));
    project.git(&["checkout", "-q", "-b", "feature"]);
    project.git(&["commit", "-q", "--allow-empty", "-m", "mine"]);
    let feature = project.git(&["rev-parse", "feature"]);
    project.git(&["checkout", "-q", "main"]);
    project.plan("A");
    let agent = "cat > /dev/null; if [ $REKINDLE_ATTEMPT = 1 ]; then git checkout -q feature; exit 1; fi; echo x > x";
    assert_done(&project.run(agent, &[]));
    assert_eq!(project.git(&["rev-parse", "feature"]), feature);
}

#[test]
fn a_project_in_a_subfolder_of_its_repository_is_worked_on_there() {
    for is_tracked in [true, false] {
        let project = Project::new(env!("CARGO_BIN_EXE_rekindle"));
        let inner = project.path().join("sub/inner");
        fs::create_dir_all(inner.join(".agent-memory")).unwrap();
        if is_tracked {
            fs::write(inner.join(".agent-memory/notes"), "mine\n").unwrap();
            fs::write(inner.join("code"), "x\n").unwrap();
            project.git(&["add", "-f", "sub"]);
            project.git(&["commit", "-qm", "project"]);
        }
        project.plan("A B");
        fs::rename(project.path().join("plan.json"), inner.join("plan.json")).unwrap();
        // B waits for A, so that the checks run on an integrated tree too.
        let agent = r#"cat > /dev/null; [ $REKINDLE_TASK = A ] || while ! git log --format=%s result | grep -q '\[A\]'; do sleep 0.05; done
            echo "$(pwd) $REKINDLE_WORKTREE" > where-$REKINDLE_TASK
            mkdir -p .agent-memory .rekindle; echo evil > .agent-memory/evil; echo evil >> .agent-memory/notes; echo evil > .rekindle/evil"#;
        let check = r#"test -e where-$REKINDLE_TASK && test "$(pwd)" = "$REKINDLE_WORKTREE/sub/inner" && test -e ../../README"#;
        let output = project.rekindle(&[
            "-C",
            "sub/inner",
            "run",
            "plan.json",
            "--branch",
            "result",
            "--yes",
            "--retries",
            "0",
            "--verify",
            check,
            "--agent-cmd",
            agent,
        ]);
        assert_done(&output);
        let landed = project.git(&["ls-tree", "-r", "--name-only", "result"]);
        let expected = if is_tracked {
            "README\nsub/inner/.agent-memory/notes\nsub/inner/code\nsub/inner/where-A\nsub/inner/where-B\n"
        } else {
            "README\nsub/inner/where-A\nsub/inner/where-B\n"
        };
        assert_eq!(landed, expected);
        if is_tracked {
            let notes = project.git(&["show", "result:sub/inner/.agent-memory/notes"]);
            assert_eq!(notes, "mine\n");
        }
        assert!(!project.path().join(".agent-memory").exists());
        assert!(!project.path().join(".rekindle").exists());
        let resumed = project.rekindle(&["-C", "sub/inner", "status", "-a"]);
        assert!(
            text(&resumed.stdout).contains("complete  2/2"),
            "{}",
            text(&resumed.stdout)
        );
    }
}

#[test]
fn variables_that_point_git_elsewhere_do_not_reach_an_agent() {
    let project = Project::new(env!("CARGO_BIN_EXE_rekindle"));
    project.plan("A");
    let agent = "cat > /dev/null; echo x > x.txt; git add -A; git commit -qm agent";
    let main = project.git(&["rev-parse", "main"]);
    let output = project
        .command(&run_words(agent))
        .env("GIT_DIR", project.path().join(".git"))
        .env("GIT_INDEX_FILE", project.path().join(".git/index"))
        .output()
        .unwrap();
    assert_done(&output);
    assert_eq!(project.git(&["rev-parse", "main"]), main);
}

/// Some programs go by this variable and not by the folder they are in.
#[test]
fn the_working_folder_of_an_agent_is_its_worktree_by_all_accounts() {
    let project = Project::new(env!("CARGO_BIN_EXE_rekindle"));
    project.plan("A");
    let script = project.path().join(".rekindle/agent.awk");
    fs::create_dir_all(script.parent().unwrap()).unwrap();
    fs::write(&script, r#"BEGIN { print ENVIRON["PWD"] > "A.txt" }"#).unwrap();
    // No shell: that would set it right by itself.
    let config = format!(
        "[agent]\ndefault = \"mine\"\n[agents.mine]\ncommand = \"awk -f {}\"\n",
        script.display()
    );
    fs::write(project.path().join(".rekindle/config.toml"), config).unwrap();
    let arguments = ["run", "plan.json", "--branch", "result", "--yes"];
    let mut run = project.command(&arguments);
    assert_done(&run.env("PWD", project.path()).output().unwrap());
    let told = project.git(&["show", "result:A.txt"]);
    let worktrees = project.path().join(".rekindle/worktrees");
    assert!(Path::new(told.trim()).starts_with(&worktrees), "{told}");
    assert!(told.trim().ends_with("/pool/0"), "{told}");
}
