//! The engine end to end: real git, real workers, real kills.

#![expect(
    clippy::disallowed_methods,
    reason = "tests make the files they look at"
)]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Output;

use rekindle_testkit::repository::{Project, WRITE, kill, run_words, text};

#[track_caller]
fn assert_done(output: &Output) {
    assert!(
        output.status.success(),
        "{}\n{}",
        text(&output.stdout),
        text(&output.stderr)
    );
}

#[test]
fn every_task_lands_once_after_what_it_needs_and_the_checkout_is_left_alone() {
    let project = Project::new(env!("CARGO_BIN_EXE_rekindle"));
    project.plan("A B<A C<A D<B,C E F<E");
    let before = project.git(&["status", "--porcelain", "--branch"]);
    assert_done(&project.run(WRITE, &["--jobs", "3"]));
    let order = project.tasks();
    let place = |task: &str| order.split(' ').position(|landed| landed == task).unwrap();
    assert_eq!(project.landed().len(), 6);
    for (task, need) in [("B", "A"), ("C", "A"), ("D", "B"), ("D", "C"), ("F", "E")] {
        assert!(place(task) > place(need), "{order}");
    }
    for task in ["A", "B", "C", "D", "E", "F"] {
        assert_eq!(
            project.git(&["show", &format!("result:{task}.txt")]),
            format!("{task}\n")
        );
    }
    let after = project.git(&["status", "--porcelain", "--branch"]);
    assert_eq!(after.replace("?? .agent-memory/\n", ""), before);
    assert_eq!(project.git(&["worktree", "list"]).lines().count(), 1);
    assert_eq!(project.git(&["for-each-ref", "refs/rekindle"]), "");
    assert_eq!(project.processes(), BTreeMap::new());
    let status = text(&project.rekindle(&["status", "-a"]).stdout);
    assert!(status.contains("complete  6/6"), "{status}");
}

#[test]
fn a_worktree_holds_what_its_dependencies_have_landed() {
    let project = Project::new(env!("CARGO_BIN_EXE_rekindle"));
    project.plan("A B<A");
    let agent = "cat > prompt-$REKINDLE_TASK; [ $REKINDLE_TASK = A ] || cp A.txt B.txt; [ $REKINDLE_TASK = B ] || echo from-a > A.txt; pwd > where-$REKINDLE_TASK";
    assert_done(&project.run(agent, &[]));
    assert_eq!(project.git(&["show", "result:B.txt"]), "from-a\n");
    let prompt = project.git(&["show", "result:prompt-B"]);
    assert!(prompt.contains("Do task B.\n"), "{prompt}");
    assert!(prompt.contains("~~~\nDo B\n~~~\n"), "{prompt}");
    let folder = project.git(&["show", "result:where-B"]);
    assert!(folder.contains("/.rekindle/worktrees/"), "{folder}");
}

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
fn a_conflict_is_handed_back_to_the_agent_once_and_then_lands() {
    let project = Project::new(env!("CARGO_BIN_EXE_rekindle"));
    project.plan("A B");
    // Both change the same line; B waits until A has landed, so that it conflicts.
    let agent = r#"cat > /dev/null; root=$PWD/../../../..
        if [ $REKINDLE_TASK = B ] && [ $REKINDLE_ATTEMPT = 1 ]; then
            while ! git -C $root log --format=%s result | grep -q '\[A\]'; do sleep 0.05; done
        fi
        echo "$REKINDLE_TASK was here" >> README; sed -i "1s/.*/$REKINDLE_TASK/" README"#;
    let output = project.run(agent, &["--jobs", "2"]);
    assert_done(&output);
    let said = text(&output.stderr);
    assert!(
        said.contains("it conflicts with work that has landed in `README`"),
        "{said}"
    );
    assert_eq!(project.landed(), [("A".to_owned(), 1), ("B".to_owned(), 2)]);
    assert_eq!(
        project.git(&["show", "result:README"]),
        "B\nA was here\nB was here\n"
    );
}

#[test]
fn a_check_on_the_integrated_tree_keeps_a_broken_combination_from_landing() {
    let project = Project::new(env!("CARGO_BIN_EXE_rekindle"));
    project.plan("A B");
    // Each is fine alone; together there would be two owners.
    let agent = r"cat > /dev/null; root=$PWD/../../../..
        if [ $REKINDLE_TASK = B ] && [ $REKINDLE_ATTEMPT = 1 ]; then
            while ! git -C $root log --format=%s result | grep -q '\[A\]'; do sleep 0.05; done
            touch owner-B
        elif [ $REKINDLE_TASK = B ]; then touch guest-B; else touch owner-A; fi";
    let output = project.run(
        agent,
        &[
            "--jobs",
            "2",
            "--verify",
            "test $(ls owner-* 2>/dev/null | wc -l) -le 1",
        ],
    );
    assert_done(&output);
    let said = text(&output.stderr);
    assert!(
        said.contains("did not pass on the integrated tree"),
        "{said}"
    );
    assert_eq!(
        project.git(&["ls-tree", "--name-only", "result"]),
        "README\nguest-B\nowner-A\n"
    );
}

#[test]
fn when_time_is_over_the_whole_tree_of_processes_is_ended() {
    let project = Project::new(env!("CARGO_BIN_EXE_rekindle"));
    project.plan("A");
    let agent = r#"setsid sh -c 'trap "" TERM; while :; do sleep 100; done' & trap "" TERM; while :; do sleep 100; done"#;
    let output = project.run(agent, &["--timeout", "1s", "--retries", "0"]);
    assert_eq!(output.status.code(), Some(1));
    let said = text(&output.stderr);
    assert!(said.contains("it took longer than 1 s"), "{said}");
    assert_eq!(project.processes(), BTreeMap::new());
}

#[test]
fn what_an_agent_leaves_running_goes_when_it_ends() {
    let project = Project::new(env!("CARGO_BIN_EXE_rekindle"));
    project.plan("A");
    let agent = "cat > /dev/null; setsid sh -c 'while :; do sleep 100; done' & echo x > A.txt";
    assert_done(&project.run(agent, &[]));
    assert_eq!(project.processes(), BTreeMap::new());
}

#[test]
fn a_second_orchestrator_learns_who_holds_the_run() {
    let project = Project::new(env!("CARGO_BIN_EXE_rekindle"));
    project.plan("A");
    let gate = project.path().join("gate");
    let agent = format!(
        "cat > /dev/null; echo in > {0}.in; while [ ! -e {0} ]; do sleep 0.05; done",
        gate.display()
    );
    let mut first = project.command(&run_words(&agent)).spawn().unwrap();
    wait_for(&gate.with_extension("in"));
    let second = project.rekindle(&["resume", "--yes", "--agent-cmd", WRITE]);
    assert_eq!(second.status.code(), Some(4));
    let said = text(&second.stderr);
    assert!(said.contains(&format!("process {}", first.id())), "{said}");
    fs::write(&gate, "").unwrap();
    assert!(first.wait().unwrap().success());
}

#[test]
fn a_worker_that_outlives_its_orchestrator_is_found_and_not_doubled() {
    let project = Project::new(env!("CARGO_BIN_EXE_rekindle"));
    project.plan("A");
    let gate = project.path().join("gate");
    let agent = format!(
        "cat > /dev/null; echo x >> {0}.in; while [ ! -e {0} ]; do sleep 0.05; done; echo done > A.txt",
        gate.display()
    );
    let mut first = project.command(&run_words(&agent)).spawn().unwrap();
    wait_for(&gate.with_extension("in"));
    kill(first.id(), "KILL");
    first.wait().unwrap();
    // Nobody holds the run, but somebody is at work on it.
    let status = project.rekindle(&["status"]);
    let at_work = "running: a worker at `A`; the rekindle that started it has ended";
    assert!(text(&status.stdout).contains(at_work), "{status:?}");
    assert!(
        text(&status.stderr).contains("`rekindle resume"),
        "{status:?}"
    );
    let mut second = project
        .command(&["resume", "--yes", "--agent-cmd", &agent])
        .spawn()
        .unwrap();
    // The new orchestrator says that it found the worker, and only then the agent may end.
    let mut said = String::new();
    let mut lines = std::io::BufRead::lines(std::io::BufReader::new(second.stderr.take().unwrap()));
    while !said.contains("still running") {
        said.push_str(&lines.next().unwrap().unwrap());
    }
    fs::write(&gate, "").unwrap();
    assert!(lines.all(|line| line.is_ok()));
    assert!(second.wait().unwrap().success());
    assert_eq!(project.landed(), [("A".to_owned(), 1)]);
    assert_eq!(
        fs::read_to_string(gate.with_extension("in")).unwrap(),
        "x\n"
    );
}

#[test]
fn a_plan_that_cannot_be_carried_out_is_refused_with_its_lines() {
    let project = Project::new(env!("CARGO_BIN_EXE_rekindle"));
    project.plan("A<B B<A C<X C");
    let output = project.run(WRITE, &[]);
    assert_eq!(output.status.code(), Some(1));
    let said = text(&output.stderr);
    for expected in [
        "plan.json:2: these tasks depend on each other in a cycle: `A`, `B` [DEPENDENCY_CYCLE]",
        "plan.json:4: `C` needs `X`, but the plan has no such task [UNKNOWN_DEPENDENCY]",
        "plan.json:5: the id `C` is already used [DUPLICATE_TASK]",
    ] {
        assert!(said.contains(expected), "{said}");
    }
    assert!(!project.path().join(".agent-memory").exists());
}

#[test]
fn ids_with_stray_blanks_are_refused_with_their_lines() {
    let project = Project::new(env!("CARGO_BIN_EXE_rekindle"));
    let plan =
        "{\"tasks\":[\n{\"id\":\"A\"},\n{\"id\":\" B\"},\n{\"id\":\"C\\t\"},\n{\"id\":\"  \"}]}";
    fs::write(project.path().join("plan.json"), plan).unwrap();
    let output = project.run(WRITE, &[]);
    assert_eq!(output.status.code(), Some(1));
    let said = text(&output.stderr);
    for line in [3, 4, 5] {
        let wanted = format!("plan.json:{line}: ");
        let found = said.lines().find(|said| said.contains(&wanted));
        assert!(
            found.is_some_and(|found| found.contains("[UNSAFE_NAME]")),
            "{line}: {said}"
        );
    }
    assert!(!said.contains("plan.json:2:"), "{said}");
    assert!(!project.path().join(".agent-memory").exists());
}

#[test]
fn a_markdown_list_is_a_plan_too() {
    let project = Project::new(env!("CARGO_BIN_EXE_rekindle"));
    fs::write(project.path().join("plan.md"), "# Greeting\n\n## T1: Write it\nVerify: `test -e T1.txt`\n\n- [ ] T2 Use it\n  - depends: T1\n").unwrap();
    let output = project.rekindle(&[
        "run",
        "plan.md",
        "--branch",
        "result",
        "--yes",
        "--agent-cmd",
        WRITE,
    ]);
    assert_done(&output);
    assert_eq!(project.tasks(), "T1 T2");
    let said = text(&output.stderr);
    for expected in [
        "done: 2 of 2 tasks landed in 2 attempts\n",
        "the work is on branch `result`\n",
        "hint: merge it into your branch with `git merge result`\n",
    ] {
        assert!(said.contains(expected), "{said}");
    }
}

#[test]
fn a_checkbox_without_an_id_is_reported_with_its_line_and_a_hint() {
    let project = Project::new(env!("CARGO_BIN_EXE_rekindle"));
    let run = |plan: &str| {
        fs::write(project.path().join("plan.md"), plan).unwrap();
        let words = ["--branch", "result", "--yes", "--agent-cmd", WRITE];
        project.rekindle(&[&["run", "plan.md"][..], &words].concat())
    };
    let one = run("1. [ ] T1 Write it\n2. [ ] T2 Use it (depends: T1)\n3. [ ] praise it\n");
    assert_done(&one);
    assert_eq!(project.tasks(), "T1 T2");
    let said = text(&one.stderr);
    assert!(said.contains("warning[TASK_WITHOUT_ID]"), "{said}");
    assert!(said.contains("plan.md:3"), "{said}");
}

#[test]
fn a_run_that_nobody_agrees_to_changes_nothing_and_says_so() {
    let project = Project::new(env!("CARGO_BIN_EXE_rekindle"));
    project.plan("A");
    let words = [
        "run",
        "plan.json",
        "--branch",
        "result",
        "--agent-cmd",
        WRITE,
    ];
    let asked = project.rekindle(&words);
    assert_eq!(asked.status.code(), Some(3));
    let said = text(&asked.stderr);
    assert!(said.contains("nobody answered the question"), "{said}");
    assert!(said.contains("use `--yes` to agree in advance"), "{said}");
    let object = project.rekindle(&[&words[..], &["--json"]].concat());
    assert_eq!(object.status.code(), Some(3));
    let object: serde_json::Value = serde_json::from_slice(&object.stdout).unwrap();
    assert_eq!(object["schema"], "rekindle.error/1");
    assert_eq!(object["error"]["exit"], 3);
    assert!(!project.path().join(".agent-memory").exists());
}

#[test]
fn a_branch_that_somebody_works_on_is_never_used() {
    let project = Project::new(env!("CARGO_BIN_EXE_rekindle"));
    project.plan("A");
    let output = project.rekindle(&[
        "run",
        "plan.json",
        "--branch",
        "main",
        "--yes",
        "--agent-cmd",
        WRITE,
    ]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("the branch `main` is checked out"));
}

#[test]
fn a_task_said_to_be_done_whose_commit_is_gone_is_done_again() {
    let project = Project::new(env!("CARGO_BIN_EXE_rekindle"));
    project.plan("A B");
    // B fails by design; what matters is that A has landed.
    let agent = "cat > /dev/null; [ $REKINDLE_TASK = A ] && echo A > A.txt";
    let output = project.run(agent, &["--jobs", "1", "--retries", "0"]);
    assert_eq!(output.status.code(), Some(1));
    project.git(&["update-ref", "refs/heads/result", "main"]);
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
    let one = ["resume", "--yes", "--jobs", "1", "--agent-cmd", WRITE];
    let output = project.rekindle(&one);
    assert_done(&output);
    assert!(
        text(&output.stderr).contains("its commit is not on the branch"),
        "{}",
        text(&output.stderr)
    );
    assert_eq!(project.tasks(), "A B");
}

#[test]
fn one_interrupt_starts_nothing_new_and_lets_the_work_end() {
    let project = Project::new(env!("CARGO_BIN_EXE_rekindle"));
    project.plan("A B");
    let gate = project.path().join("gate");
    let agent = gated(&gate);
    let mut run = project
        .command(&[
            "run",
            "plan.json",
            "--branch",
            "result",
            "--yes",
            "--jobs",
            "1",
            "--agent-cmd",
            &agent,
        ])
        .spawn()
        .unwrap();
    wait_for(&gate.with_extension("in"));
    kill(run.id(), "INT");
    let mut lines = std::io::BufRead::lines(std::io::BufReader::new(run.stderr.take().unwrap()));
    while !lines
        .next()
        .unwrap()
        .unwrap()
        .contains("no new tasks are started")
    {}
    fs::write(&gate, "").unwrap();
    let rest: Vec<String> = lines.map(Result::unwrap).collect();
    assert_eq!(run.wait().unwrap().code(), Some(1), "{rest:?}");
    assert_eq!(project.landed(), [("A".to_owned(), 1)], "{rest:?}");
    assert_done(&project.rekindle(&["resume", "--yes", "--agent-cmd", &agent]));
    assert_eq!(project.tasks(), "A B");
}

#[test]
fn two_interrupts_end_the_workers_too_and_cost_no_attempt_more_than_needed() {
    let project = Project::new(env!("CARGO_BIN_EXE_rekindle"));
    project.plan("A");
    let gate = project.path().join("gate");
    let agent = gated(&gate);
    let mut run = project.command(&run_words(&agent)).spawn().unwrap();
    wait_for(&gate.with_extension("in"));
    let mut lines = std::io::BufRead::lines(std::io::BufReader::new(run.stderr.take().unwrap()));
    kill(run.id(), "INT");
    while !lines
        .next()
        .unwrap()
        .unwrap()
        .contains("no new tasks are started")
    {}
    kill(run.id(), "INT");
    let rest: Vec<String> = lines.map(Result::unwrap).collect();
    assert_eq!(run.wait().unwrap().code(), Some(1), "{rest:?}");
    assert_eq!(project.processes(), BTreeMap::new(), "{rest:?}");
    fs::write(&gate, "").unwrap();
    assert_done(&project.rekindle(&["resume", "--yes", "--agent-cmd", &agent]));
    assert_eq!(project.landed(), [("A".to_owned(), 2)]);
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
fn an_agents_commit_never_lands_what_belongs_to_the_run() {
    let project = Project::new(env!("CARGO_BIN_EXE_rekindle"));
    project.plan("A");
    let agent = "cat > /dev/null; echo x > x.txt; mkdir -p .agent-memory .rekindle; echo evil > .agent-memory/evil; echo evil > .rekindle/evil; git add -Af; git commit -qm agent";
    assert_done(&project.run(agent, &[]));
    assert_eq!(
        project.git(&["ls-tree", "--name-only", "result"]),
        "README\nx.txt\n"
    );
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

#[test]
fn a_branch_that_is_checked_out_meanwhile_is_not_moved() {
    let project = Project::new(env!("CARGO_BIN_EXE_rekindle"));
    project.plan("A B<A");
    let agent = "cat > /dev/null; [ $REKINDLE_TASK = A ] && echo A > A.txt";
    assert_eq!(
        project.run(agent, &["--retries", "0"]).status.code(),
        Some(1)
    );
    project.git(&["checkout", "-q", "result"]);
    let tip = project.git(&["rev-parse", "result"]);
    let output = project.rekindle(&["resume", "--yes", "--agent-cmd", WRITE]);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        text(&output.stderr).contains("the branch `result` is checked out"),
        "{}",
        text(&output.stderr)
    );
    assert_eq!(project.git(&["rev-parse", "result"]), tip);
}

/// `HEAD` is a dummy file in such a repository.
#[test]
fn a_checkout_during_a_run_is_noticed_with_reftables() {
    let project = Project::new(env!("CARGO_BIN_EXE_rekindle"));
    let made = project.shell(
        "rm -rf .git && git init -q -b main --ref-format=reftable \
         && git add . && git commit -qm start",
    );
    if !made.status.success() {
        // Only git 2.45 and newer can.
        return;
    }
    project.plan("A B<A");
    let agent = "cat > /dev/null; echo x > $REKINDLE_TASK.txt; \
                 [ $REKINDLE_TASK = A ] || git -C \"$ENGINE_PROJECT\" checkout -q result";
    let words = run_words(agent);
    let output = project
        .command(&words)
        .env("ENGINE_PROJECT", project.path())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(
        text(&output.stderr).contains("the branch `result` is checked out"),
        "{}",
        text(&output.stderr)
    );
    let status = project.git(&["status", "--porcelain", "--untracked-files=no"]);
    assert_eq!(status, "");
}

#[test]
fn a_commit_that_somebody_adds_to_the_branch_is_built_upon() {
    let project = Project::new(env!("CARGO_BIN_EXE_rekindle"));
    project.plan("A");
    // The agent itself stands in for the somebody: it moves the branch while its task is at work.
    let agent = "cat > /dev/null; git update-ref refs/heads/result $(git commit-tree -p result -m mine result^{tree}); echo x > x.txt";
    assert_done(&project.run(agent, &[]));
    assert_eq!(
        project.git(&["log", "--format=%s", "main..result"]),
        "[A] Do A\nmine\n"
    );
}

#[test]
fn a_name_that_cannot_be_a_branch_leaves_nothing_behind() {
    let project = Project::new(env!("CARGO_BIN_EXE_rekindle"));
    project.plan("A");
    for name in [
        "a b",
        "x..y",
        "x.lock",
        "HEAD",
        "@",
        "refs/heads/x",
        "main/x",
    ] {
        let output = project.rekindle(&[
            "run",
            "plan.json",
            "--branch",
            name,
            "--yes",
            "--agent-cmd",
            WRITE,
        ]);
        assert!(matches!(output.status.code(), Some(1 | 2)), "{name}");
        assert!(
            !project.path().join(".agent-memory").exists(),
            "{name}: {}",
            text(&output.stderr)
        );
    }
}

/// An agent that tells by a file that it is at work, and ends when another file is there.
fn gated(gate: &Path) -> String {
    format!(
        "cat > /dev/null; echo in > {0}.in; while [ ! -e {0} ]; do sleep 0.05; done; echo x > $REKINDLE_TASK.txt",
        gate.display()
    )
}

/// Waits until a file is there; a test that waits in vain fails by the runner's limit.
fn wait_for(path: &Path) {
    while !path.exists() {
        std::thread::yield_now();
    }
}

/// A git that was killed in a worktree leaves its locks there; nothing of the work may get stuck behind them.
#[test]
fn locks_that_a_killed_git_left_in_a_worktree_lose_no_work() {
    for lock in [
        r#": > "$(git rev-parse --git-dir)/index.lock""#,
        r#": > "$(git rev-parse --git-dir)/HEAD.lock""#,
        "git worktree lock --reason initializing .",
    ] {
        let project = Project::new(env!("CARGO_BIN_EXE_rekindle"));
        project.plan("A");
        let agent = format!(
            "cat > /dev/null; if [ $REKINDLE_ATTEMPT = 1 ]; then echo half > half.txt; {lock}; kill -9 $$; fi; echo x > A.txt"
        );
        assert_done(&project.run(&agent, &[]));
        let refs = project.git(&[
            "for-each-ref",
            "--format=%(refname)",
            "refs/rekindle/rescue",
        ]);
        let [rescue] = refs.lines().collect::<Vec<_>>()[..] else {
            panic!("{lock}: {refs:?}");
        };
        assert_eq!(
            project.git(&["show", &format!("{rescue}:half.txt")]),
            "half\n"
        );
        let worktrees = project.git(&["worktree", "list", "--porcelain"]);
        assert_eq!(
            worktrees.matches("worktree ").count(),
            1,
            "{lock}: {worktrees}"
        );
        let folders = fs::read_dir(project.path().join(".rekindle/worktrees")).unwrap();
        let left = folders
            .flatten()
            .flat_map(|folder| fs::read_dir(folder.path()).unwrap());
        assert_eq!(left.count(), 0, "{lock}");
    }
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
    assert!(told.trim().ends_with("/A"), "{told}");
}
