//! What holds over several orchestrators: who may land, what is counted, what is confirmed.

#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "tests make the files they look at, and fail by panicking"
)]

use std::fs;
use std::io::{Read as _, Write as _};
use std::path::Path;
use std::process::{Child, Output, Stdio};

use rekindle_testkit::repository::{Project, WRITE, kill, text};

#[track_caller]
fn assert_done(output: &Output) {
    assert!(output.status.success(), "{}", text(&output.stderr));
}

#[track_caller]
fn assert_says(output: &Output, wanted: &str) {
    let said = text(&output.stderr);
    assert!(said.contains(wanted), "no `{wanted}` in: {said}");
}

/// Starts a run on the branch `result` without waiting for it.
fn start(project: &Project, agent: &str, more: &[&str]) -> Child {
    let mut arguments = vec!["run", "plan.json", "--branch", "result", "--yes"];
    arguments.extend(["--agent-cmd", agent]);
    arguments.extend(more);
    project.command(&arguments).spawn().unwrap()
}

/// Returns the ids of all runs, oldest first.
fn runs(project: &Project) -> Vec<String> {
    let mut found: Vec<(std::time::SystemTime, String)> =
        fs::read_dir(project.path().join(".agent-memory/runs"))
            .into_iter()
            .flatten()
            .flatten()
            .map(|run| {
                let settings = run.path().join("rekindle-run.json");
                let made = fs::metadata(settings).unwrap().modified().unwrap();
                (made, run.file_name().to_string_lossy().into_owned())
            })
            .collect();
    found.sort();
    found.into_iter().map(|(_, id)| id).collect()
}

/// An agent that tells by a file that it is at work, and ends when another file is there.
fn gated(gate: &Path) -> String {
    format!(
        "cat > /dev/null; echo in > {0}.in; while [ ! -e {0} ]; do sleep 0.05; done; echo x > $REKINDLE_TASK.txt",
        gate.display()
    )
}

/// Waits until something holds; a test that waits in vain fails by the runner's limit.
fn wait_until(holds: impl Fn() -> bool) {
    while !holds() {
        std::thread::yield_now();
    }
}

#[test]
fn a_branch_is_one_runs_at_a_time_and_free_when_its_holder_is_dead() {
    let project = Project::new(env!("CARGO_BIN_EXE_rekindle"));
    project.plan("A");
    let failed = project.run(
        "cat > /dev/null; exit 1",
        &["--retries", "3", "--max-cost", "0"],
    );
    assert_eq!(failed.status.code(), Some(1));
    let first = runs(&project).remove(0);
    let gate = project.path().join("gate");
    let mut second = start(&project, &gated(&gate), &[]);
    wait_until(|| gate.with_extension("in").exists());
    let holder = format!("process {} (`run agent-memory:", second.id());
    // A third run, and a resume of the first one, would land on the same branch.
    let third = project.run(WRITE, &[]);
    assert_eq!(third.status.code(), Some(4), "{}", text(&third.stderr));
    assert_says(&third, "another run is landing on the branch `result`");
    assert_says(&third, &holder);
    assert_eq!(
        runs(&project).len(),
        2,
        "a refused run leaves nothing behind"
    );
    let resume = [
        "resume",
        &first,
        "--yes",
        "--max-cost",
        "9",
        "--agent-cmd",
        WRITE,
    ];
    let resumed = project.rekindle(&resume);
    assert_eq!(resumed.status.code(), Some(4), "{}", text(&resumed.stderr));
    assert_says(&resumed, &holder);
    kill(second.id(), "KILL");
    second.wait().unwrap();
    assert_done(&project.rekindle(&resume));
    assert_eq!(project.tasks(), "A");
}

#[test]
fn a_second_conflict_needs_a_person_even_if_the_orchestrator_died_between_the_two() {
    let project = Project::new(env!("CARGO_BIN_EXE_rekindle"));
    project.plan("A");
    let gate = project.path().join("gate");
    // Whoever moves the branch under the agent's work makes it conflict: in attempt 1 that is the
    // agent itself, in attempt 2 the test.
    let agent = format!(
        r#"cat > /dev/null; echo "attempt $REKINDLE_ATTEMPT" > README
        if [ $REKINDLE_ATTEMPT = 1 ]; then
            blob=$(echo other | git hash-object -w --stdin)
            tree=$(printf '100644 blob %s\tREADME\n' $blob | git mktree)
            git update-ref refs/heads/result $(git commit-tree -p result -m mine $tree)
        else echo in > {0}.in; while [ ! -e {0} ]; do sleep 0.05; done; fi"#,
        gate.display()
    );
    let mut first = start(&project, &agent, &["--retries", "9"]);
    wait_until(|| gate.with_extension("in").exists());
    assert_eq!(project.events("task_failed", "A"), 1);
    kill(first.id(), "KILL");
    first.wait().unwrap();
    let blob = fs::write(project.path().join("other"), "again\n")
        .map(|()| project.git(&["hash-object", "-w", "other"]))
        .unwrap();
    let tree = project.path().join("tree");
    fs::write(&tree, format!("100644 blob {}\tREADME\n", blob.trim())).unwrap();
    let made = project.shell("git update-ref refs/heads/result $(git commit-tree -p result -m again $(git mktree < tree))");
    assert_done(&made);
    fs::write(&gate, "").unwrap();
    let resumed = project.rekindle(&["resume", "--yes", "--agent-cmd", &agent]);
    assert_eq!(resumed.status.code(), Some(1));
    assert_says(&resumed, "it conflicts again with landed work");
    assert_eq!(project.events("task_started", "A"), 2);
}

#[test]
fn kills_are_counted_over_orchestrators_and_a_person_forgives_them_all() {
    let project = Project::new(env!("CARGO_BIN_EXE_rekindle"));
    project.plan("A");
    let gate = project.path().join("gate");
    let agent = format!(
        "if [ $REKINDLE_ATTEMPT = 6 ]; then echo in > {0}.in; while [ ! -e {0} ]; do sleep 0.05; done; fi
         if [ $REKINDLE_ATTEMPT -gt 12 ]; then echo x > x; else kill -9 $PPID; sleep 100; fi",
        gate.display()
    );
    let mut first = start(&project, &agent, &[]);
    wait_until(|| gate.with_extension("in").exists());
    kill(first.id(), "KILL");
    first.wait().unwrap();
    fs::write(&gate, "").unwrap();
    // The sixth is killed while no orchestrator is there to see it, which counts for nothing.
    wait_until(|| {
        project
            .processes()
            .values()
            .all(|line| !line.contains(" worker "))
    });
    let resumed = project.rekindle(&["resume", "--yes", "--agent-cmd", &agent]);
    assert_eq!(resumed.status.code(), Some(1));
    assert_says(
        &resumed,
        "it was lost 11 times; the last time its worker was killed by signal 9",
    );
    assert_eq!(project.events("attempt_interrupted", "A"), 11);
    let run = runs(&project).remove(0);
    assert_done(&project.rekindle(&["event", &run, "task_ready", "--task", "A"]));
    assert_done(&project.rekindle(&["resume", "--yes", "--agent-cmd", &agent]));
    assert_eq!(project.landed(), [("A".to_owned(), 13)]);
}

#[test]
fn a_task_that_was_given_its_attempts_back_keeps_them_over_a_restart() {
    let project = Project::new(env!("CARGO_BIN_EXE_rekindle"));
    project.plan("A");
    let gate = project.path().join("gate");
    let agent = format!(
        "if [ $REKINDLE_ATTEMPT = 3 ]; then echo in > {0}.in; while [ ! -e {0} ]; do sleep 0.05; done; fi
         [ $REKINDLE_ATTEMPT -gt 2 ] && echo x > x",
        gate.display()
    );
    assert_eq!(
        project.run(&agent, &["--retries", "0"]).status.code(),
        Some(1)
    );
    let run = runs(&project).remove(0);
    assert_done(&project.rekindle(&["event", &run, "task_ready", "--task", "A"]));
    assert_eq!(
        project
            .rekindle(&["resume", "--yes", "--agent-cmd", &agent])
            .status
            .code(),
        Some(1)
    );
    assert_done(&project.rekindle(&["event", &run, "task_ready", "--task", "A"]));
    let mut third = project
        .command(&["resume", "--yes", "--agent-cmd", &agent])
        .spawn()
        .unwrap();
    wait_until(|| gate.with_extension("in").exists());
    kill(third.id(), "KILL");
    third.wait().unwrap();
    for (pid, _) in project.processes() {
        kill(pid, "KILL");
    }
    assert_done(&project.rekindle(&["resume", "--yes", "--agent-cmd", &agent]));
    assert_eq!(project.landed(), [("A".to_owned(), 4)]);
}

/// Resumes without `--yes`, lets `meanwhile` happen while the question is open, and answers yes.
fn resume_slowly(project: &Project, agent: &str, meanwhile: impl FnOnce()) -> (Output, String) {
    let mut resumed = project
        .command(&["resume", "--agent-cmd", agent])
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    let mut errors = resumed.stderr.take().unwrap();
    let mut said = Vec::new();
    while !said.ends_with(b"Resume? [Y/n] ") {
        let mut byte = [0];
        errors.read_exact(&mut byte).unwrap();
        said.push(byte[0]);
    }
    meanwhile();
    resumed.stdin.take().unwrap().write_all(b"y\n").unwrap();
    errors.read_to_end(&mut said).unwrap();
    (resumed.wait_with_output().unwrap(), text(&said))
}

/// A run of `A B<A` whose orchestrator is dead and whose worker waits at the gate.
fn orphaned(gate: &Path, project: &Project) -> String {
    project.plan("A B<A");
    let agent = gated(gate);
    let mut first = start(project, &agent, &[]);
    wait_until(|| gate.with_extension("in").exists());
    kill(first.id(), "KILL");
    first.wait().unwrap();
    agent
}

#[test]
fn what_workers_write_while_a_person_thinks_does_not_stop_the_resume() {
    let project = Project::new(env!("CARGO_BIN_EXE_rekindle"));
    let gate = project.path().join("gate");
    let agent = orphaned(&gate, &project);
    let (resumed, said) = resume_slowly(&project, &agent, || {
        fs::write(&gate, "").unwrap();
        wait_until(|| project.events("task_implemented", "A") == 1);
    });
    assert!(resumed.status.success(), "{said}");
    assert_eq!(project.landed(), [("A".to_owned(), 1), ("B".to_owned(), 1)]);
}

#[test]
fn a_resume_that_fails_before_it_begins_names_the_workers_of_a_killed_run() {
    let project = Project::new(env!("CARGO_BIN_EXE_rekindle"));
    let gate = project.path().join("gate");
    let agent = orphaned(&gate, &project);
    let run = runs(&project).remove(0);
    let settings = project
        .path()
        .join(format!(".agent-memory/runs/{run}/rekindle-run.json"));
    let resume = ["resume", "--yes", "--agent-cmd", &agent];
    let assert_named = |output: &Output| {
        assert!(!output.status.success(), "{}", text(&output.stderr));
        assert_says(output, "still at work: A (attempt 1), process ");
        assert_says(output, "`rekindle resume` continues it, `kill ");
    };
    // Something blocks it.
    let kept = fs::read(&settings).unwrap();
    fs::write(&settings, "{").unwrap();
    assert_named(&project.rekindle(&resume));
    fs::write(&settings, kept).unwrap();
    // git is not found.
    let no_git = project.command(&resume).env("PATH", "/nowhere").output();
    assert_named(&no_git.unwrap());
    // Another run has the branch.
    project.plan("C");
    let other_gate = project.path().join("other");
    let mut other = start(&project, &gated(&other_gate), &[]);
    wait_until(|| other_gate.with_extension("in").exists());
    let resume_it = ["resume", &run, "--yes", "--agent-cmd", &agent];
    assert_named(&project.rekindle(&resume_it));
    fs::write(&other_gate, "").unwrap();
    assert!(other.wait().unwrap().success());
    // The worker was only named, not ended.
    fs::write(&gate, "").unwrap();
    let done = project.rekindle(&resume_it);
    assert_done(&done);
    assert!(!text(&done.stderr).contains("still at work: "));
    assert_eq!(project.tasks(), "C A B");
}

#[test]
fn what_a_person_decides_meanwhile_stops_a_resume() {
    let project = Project::new(env!("CARGO_BIN_EXE_rekindle"));
    let gate = project.path().join("gate");
    let agent = orphaned(&gate, &project);
    let run = runs(&project).remove(0);
    let (resumed, said) = resume_slowly(&project, &agent, || {
        assert_done(&project.rekindle(&["event", &run, "task_skipped", "--task", "B"]));
    });
    assert_eq!(resumed.status.code(), Some(1));
    assert!(said.contains("WORLD_MOVED"), "{said}");
}

#[test]
fn what_a_run_left_that_was_killed_while_it_was_being_made_is_removed() {
    let drafts = |project: &Project| {
        let entries = fs::read_dir(project.path().join(".agent-memory/runs")).unwrap();
        let names = entries.flatten().map(|entry| entry.file_name());
        names
            .filter(|name| name.to_string_lossy().starts_with(".rekindle-new-"))
            .count()
    };
    for next in ["run", "resume", "clean"] {
        let project = Project::new(env!("CARGO_BIN_EXE_rekindle"));
        project.plan("A");
        if next == "resume" {
            assert_eq!(
                project.run("exit 1", &["--retries", "0"]).status.code(),
                Some(1)
            );
        }
        // The kernel kills it in the middle of the first large file that it writes.
        let large = format!(
            "# Large\n\n## T1: Do it\n\n{}\n",
            "much to say ".repeat(4000)
        );
        fs::write(project.path().join("large.md"), large).unwrap();
        let killed = project.shell(&format!(
            "ulimit -c 0; ulimit -f 40; exec {} run large.md --branch result --yes --agent-cmd true",
            env!("CARGO_BIN_EXE_rekindle")
        ));
        assert_eq!(killed.status.code(), None, "{}", text(&killed.stderr));
        assert_eq!(drafts(&project), 1, "{next}");
        let cleaned = match next {
            "run" => project.run(WRITE, &[]),
            "resume" => project.rekindle(&["resume", "--yes", "--agent-cmd", WRITE]),
            _ => project.rekindle(&["clean"]),
        };
        assert_eq!(drafts(&project), 0, "{next}: {}", text(&cleaned.stderr));
    }
}

#[test]
fn a_run_is_not_complete_on_its_records_word_alone() {
    let project = Project::new(env!("CARGO_BIN_EXE_rekindle"));
    project.plan("A B");
    assert_done(&project.run(WRITE, &["--jobs", "1"]));
    let run = runs(&project).remove(0);
    let resume = ["resume", &run, "--yes", "--agent-cmd", WRITE];
    assert_says(&project.rekindle(&resume), "is complete");
    let tip = project.git(&["rev-parse", "result"]);
    project.git(&["branch", "-D", "result"]);
    let gone = project.rekindle(&resume);
    assert_eq!(gone.status.code(), Some(1));
    assert_says(
        &gone,
        "the branch `result` is gone, and the checked-out branch lacks `A`, `B`",
    );
    let back = format!("git branch result {tip:.12}");
    assert_says(&gone, &back);
    assert_says(&gone, "rekindle explain LANDED_WORK_MISSING");
    assert_done(&project.shell(&back));
    assert_done(&project.rekindle(&resume));
    // Merged and deleted, as branches are.
    project.git(&["merge", "-q", "result"]);
    project.git(&["branch", "-D", "result"]);
    assert_done(&project.rekindle(&resume));
    // Lost for good, and done again.
    project.git(&["reset", "-q", "--hard", "HEAD~2"]);
    project.git(&["branch", "result"]);
    assert_says(
        &project.rekindle(&resume),
        "neither the branch `result` nor",
    );
    assert_done(&project.rekindle(&["event", &run, "task_ready", "--task", "A"]));
    assert_done(&project.rekindle(&resume));
    assert_eq!(project.tasks(), "A B");
}

#[test]
fn a_task_behind_a_skipped_one_is_reported_with_a_hint() {
    for (verb, task) in [("retry", "A"), ("skip", "B")] {
        let project = Project::new(env!("CARGO_BIN_EXE_rekindle"));
        project.plan("A B<A C");
        let agent = "cat > /dev/null; [ $REKINDLE_TASK = C ] && echo x > C.txt";
        assert_eq!(
            project.run(agent, &["--retries", "0"]).status.code(),
            Some(1)
        );
        let run = runs(&project).remove(0);
        assert_done(&project.rekindle(&["event", &run, "task_skipped", "--task", "A"]));
        let resumed = project.rekindle(&["resume", &run, "--yes", "--agent-cmd", WRITE]);
        assert_says(&resumed, "blocked B: it needs `A`, which was skipped");
        let hint = format!("rekindle {verb} --run agent-memory:{run} {task}");
        assert_says(&resumed, &hint);
        let said = text(&resumed.stderr);
        assert!(!said.contains("rekindle retry --run B"), "{said}");
        let words: Vec<&str> = hint.split(' ').skip(1).collect();
        assert_done(&project.rekindle(&words));
        assert_done(&project.rekindle(&["resume", &run, "--yes", "--agent-cmd", WRITE]));
    }
}

#[test]
fn what_the_plan_leaves_out_cannot_be_brought_back_by_an_event() {
    let project = Project::new(env!("CARGO_BIN_EXE_rekindle"));
    let plan = r#"{"tasks":[{"id":"A","status":"skipped"},{"id":"B","dependencies":["A"]}]}"#;
    fs::write(project.path().join("plan.json"), plan).unwrap();
    let output = project.run(WRITE, &[]);
    assert_says(&output, "rekindle skip --run ");
    let said = text(&output.stderr);
    assert!(!said.contains("rekindle retry"), "{said}");
}

/// Puts a git in front of the real one that does as a script says when the worktree of A is removed,
/// whose folder it is in; `$n` says for how many times that was before. Returns the search path.
fn over_the_removal(project: &Project, script: &str) -> String {
    let git = text(&project.shell("command -v git").stdout);
    let bin = project.path().join(".git/bin");
    fs::create_dir_all(&bin).unwrap();
    let script = format!(
        "#!/bin/sh\ncase \"$*\" in *'worktree remove'*/A)\n\
         n=$(cat {0}/n 2> /dev/null || echo 0); echo $((n + 1)) > {0}/n\n\
         for last; do :; done; cd \"$last\"; {script};;\nesac\nexec {1} \"$@\"\n",
        bin.display(),
        git.trim()
    );
    fs::write(bin.join("git"), script).unwrap();
    project.shell("chmod +x .git/bin/git");
    format!("{}:{}", bin.display(), std::env::var("PATH").unwrap())
}

/// Runs a plan of two tasks to its end with this search path; returns how many worktrees are left.
fn left_after(project: &Project, path: &str) -> usize {
    project.plan("A B");
    let more = ["--jobs", "1", "--fresh-worktrees", "--agent-cmd", WRITE];
    let mut run = project.command(&["run", "plan.json", "--branch", "result", "--yes"]);
    assert_done(&run.args(more).env("PATH", path).output().unwrap());
    assert!(project.path().join(".git/bin/n").exists());
    assert_eq!(project.landed(), [("A".to_owned(), 1), ("B".to_owned(), 1)]);
    let worktrees = project.git(&["worktree", "list", "--porcelain"]);
    let folders = project.shell("ls .rekindle/worktrees/*");
    let n_left = worktrees.matches("worktree ").count() - 1;
    assert_eq!(
        text(&folders.stdout).contains('A'),
        n_left > 0,
        "{worktrees}"
    );
    n_left
}

#[test]
fn a_worktree_that_is_half_removed_goes_and_one_with_more_than_was_delivered_stays() {
    // What is left when git is killed over the removal, in the order in which it comes upon things.
    for (left, stays) in [
        ("rm A.txt", false),
        ("rm .git", false),
        ("rm A.txt .git", false),
        ("rm A.txt; echo mine > mine.txt", true),
        ("rm .git; echo mine > A.txt", true),
    ] {
        let project = Project::new(env!("CARGO_BIN_EXE_rekindle"));
        let script = format!("[ $n = 0 ] && {{ {left}; kill -9 $$; }}");
        let path = over_the_removal(&project, &script);
        assert_eq!(left_after(&project, &path), usize::from(stays), "{left}");
    }
}

#[test]
fn a_worktree_goes_though_its_worker_died_over_the_removal_and_the_next_try_failed() {
    let project = Project::new(env!("CARGO_BIN_EXE_rekindle"));
    let path = over_the_removal(
        &project,
        "[ $n = 0 ] && kill -9 $PPID $$; [ $n = 1 ] && exit 1",
    );
    assert_eq!(left_after(&project, &path), 0);
    let tried = fs::read_to_string(project.path().join(".git/bin/n")).unwrap();
    assert_eq!(tried.trim(), "3");
}
