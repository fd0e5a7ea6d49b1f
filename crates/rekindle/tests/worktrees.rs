//! Worktrees that lead elsewhere, projects that were moved or copied, deliveries that were pruned.

#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "tests make the files they look at, and fail by panicking"
)]

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use rekindle_testkit::repository::{Project, WRITE, kill, run_words, text};

const RESUME: [&str; 4] = ["resume", "--yes", "--agent-cmd", WRITE];

#[track_caller]
fn assert_done(output: &Output) {
    assert!(output.status.success(), "{}", text(&output.stderr));
}

/// Returns what the user would miss: HEAD, index, refs of branches, and the log of HEAD.
fn users(project: &Project) -> Vec<Vec<u8>> {
    let git = project.path().join(".git");
    ["HEAD", "index", "logs/HEAD", "refs/heads/main"]
        .map(|name| fs::read(git.join(name)).unwrap())
        .to_vec()
}

/// Runs a shell line and requires that it succeeds.
fn shell(line: &str) -> String {
    let output = Command::new("sh").args(["-c", line]).output().unwrap();
    assert!(output.status.success(), "{line}: {}", text(&output.stderr));
    text(&output.stdout)
}

#[test]
fn an_agent_that_redirects_its_worktree_changes_nothing_of_the_users() {
    for redirect in [
        "echo gitdir: $REPO/.git > .git",
        "echo gitdir: ../../../../.git > .git",
        "echo gitdir: $REPO/.git/worktrees/mine > .git",
        "rm .git; ln -s $REPO/.git .git",
        "rm .git; git init -q .",
        "ln -sf $REPO/.git/index $(git rev-parse --git-dir)/index",
        "echo $REPO/.git > $(git rev-parse --git-dir)/gitdir",
    ] {
        let project = Project::new(env!("CARGO_BIN_EXE_rekindle"));
        project.plan("A");
        let other = tempfile::tempdir().unwrap();
        let mine = other.path().join("mine");
        let mine = mine.to_str().unwrap();
        project.git(&["worktree", "add", "-q", "-b", "mine", mine]);
        fs::write(project.path().join("staged"), "precious\n").unwrap();
        project.git(&["add", "staged"]);
        fs::write(project.path().join("README"), "changed\n").unwrap();
        let before = users(&project);
        let agent = format!(
            "cat > /dev/null; REPO={}; echo x > x.txt; if [ $REKINDLE_ATTEMPT = 1 ]; then {redirect}; exit 1; fi",
            project.path().display()
        );
        let output = project.run(&agent, &[]);
        assert_done(&output);
        assert_eq!(users(&project), before, "{redirect}");
        let readme = fs::read_to_string(project.path().join("README")).unwrap();
        assert_eq!(readme, "changed\n", "{redirect}");
        assert_eq!(project.tasks(), "A", "{redirect}");
        assert_eq!(project.git(&["for-each-ref", "refs/rekindle/rescue"]), "");
    }
}

#[test]
fn a_check_that_redirects_the_worktree_of_the_checks_changes_nothing_of_the_users() {
    let project = Project::new(env!("CARGO_BIN_EXE_rekindle"));
    project.plan("A B C");
    fs::write(project.path().join("README"), "changed\n").unwrap();
    let before = users(&project);
    let check = format!(
        "case $PWD in *.integration) echo gitdir: {}/.git > .git;; esac; true",
        project.path().display()
    );
    assert_done(&project.run(WRITE, &["--jobs", "3", "--verify", &check]));
    assert_eq!(users(&project), before);
    assert_eq!(project.landed().len(), 3);
    let readme = fs::read_to_string(project.path().join("README")).unwrap();
    assert_eq!(readme, "changed\n");
}

/// Runs a plan with checks until one task has landed and another is at work, and kills everything.
fn killed_at_work(project: &Project) {
    project.plan("A B C");
    let gate = project.path().join(".git/gate");
    let agent = format!(
        "cat > /dev/null; echo x > $REKINDLE_TASK.txt; [ $REKINDLE_TASK != C ] || {{ echo > {0}; sleep 600; }}",
        gate.display()
    );
    let mut words = run_words(&agent).to_vec();
    words.extend(["--jobs", "3", "--verify", "true"]);
    let mut run = project.command(&words).spawn().unwrap();
    let is_ready = || gate.exists() && project.landed().len() == 2;
    while !is_ready() {
        assert!(run.try_wait().unwrap().is_none(), "the run has ended");
        std::thread::yield_now();
    }
    for pid in project.processes().into_keys() {
        kill(pid, "KILL");
    }
    run.wait().unwrap();
    while !project.processes().is_empty() {
        std::thread::yield_now();
    }
}

/// Runs the binary in a folder that is not the project's own.
fn resume_in(project: &Project, folder: &Path) -> Output {
    project
        .command(&RESUME)
        .current_dir(folder)
        .output()
        .unwrap()
}

fn landed_in(folder: &Path) -> usize {
    let line = format!(
        "git -C {} log --format=%s main..result | wc -l",
        folder.display()
    );
    shell(&line).trim().parse().unwrap()
}

#[test]
fn a_project_that_was_moved_after_a_kill_comes_to_the_same_end() {
    let project = Project::new(env!("CARGO_BIN_EXE_rekindle"));
    killed_at_work(&project);
    let elsewhere = tempfile::tempdir().unwrap();
    let moved = elsewhere.path().canonicalize().unwrap().join("moved");
    let from = project.path();
    fs::rename(&from, &moved).unwrap();
    fs::create_dir(&from).unwrap();
    assert_done(&resume_in(&project, &moved));
    assert_eq!(landed_in(&moved), 3);
}

#[test]
fn a_copy_comes_to_the_same_end_and_the_original_stays_byte_for_byte() {
    let project = Project::new(env!("CARGO_BIN_EXE_rekindle"));
    killed_at_work(&project);
    let elsewhere = tempfile::tempdir().unwrap();
    let copy = elsewhere.path().canonicalize().unwrap().join("copy");
    let from = project.path();
    shell(&format!("cp -a {} {}", from.display(), copy.display()));
    let sums = format!(
        "cd {} && find . -type f -print0 | sort -z | xargs -0 sha256sum",
        from.display()
    );
    let before = shell(&sums);
    assert_done(&resume_in(&project, &copy));
    assert_eq!(landed_in(&copy), 3);
    assert_eq!(shell(&sums), before);
}

/// Runs A and B on the same base, and ends with B delivered and not landed.
#[test]
fn a_delivery_that_was_pruned_is_reported_and_done_again() {
    let project = Project::new(env!("CARGO_BIN_EXE_rekindle"));
    project.plan("A B");
    // The branch is checked out when B delivers, so that nothing lands.
    let agent = format!(
        "{WRITE}; [ $REKINDLE_TASK != B ] || git -C {} switch -q result",
        project.path().display()
    );
    let output = project.run(&agent, &["--jobs", "1"]);
    assert!(!output.status.success());
    project.git(&["switch", "-q", "main"]);
    let refs = project.git(&["for-each-ref", "--format=%(refname)", "refs/rekindle/work"]);
    assert_eq!(refs.lines().count(), 1, "{refs}");
    for name in refs.lines() {
        project.git(&["update-ref", "-d", name]);
    }
    project.git(&["reflog", "expire", "--expire=now", "--all"]);
    project.git(&["gc", "-q", "--prune=now"]);
    let output = project.rekindle(&RESUME);
    assert_done(&output);
    let said = text(&output.stderr);
    assert!(said.contains("is no longer in the repository"), "{said}");
    assert_eq!(project.tasks(), "A B");
}

#[test]
fn an_error_names_the_workers_that_are_still_at_work_and_how_to_stop_them() {
    let project = Project::new(env!("CARGO_BIN_EXE_rekindle"));
    project.plan("A B");
    let gate = project.path().join(".git/gate");
    let agent = format!(
        "cat > /dev/null; echo x > $REKINDLE_TASK.txt; if [ $REKINDLE_TASK = B ]; then echo > {0}.in; while [ ! -e {0} ]; do sleep 0.05; done; else while [ ! -e {0}.in ]; do sleep 0.05; done; git -C {1} switch -q result; fi",
        gate.display(),
        project.path().display()
    );
    let output = project.run(&agent, &["--jobs", "2"]);
    let said = text(&output.stderr);
    assert!(!output.status.success(), "{said}");
    assert!(
        said.contains("still at work: B (attempt 1), process "),
        "{said}"
    );
    assert!(said.contains("`kill "), "{said}");
    project.git(&["switch", "-q", "main"]);
    fs::write(&gate, "").unwrap();
    assert_done(&project.rekindle(&RESUME));
    assert_eq!(project.landed().len(), 2);
}

#[test]
fn a_commit_in_a_submodule_that_nobody_else_has_does_not_land() {
    let project = Project::new(env!("CARGO_BIN_EXE_rekindle"));
    let library = tempfile::tempdir().unwrap();
    let library = library.path().canonicalize().unwrap();
    let commit = "git -c user.name=a -c user.email=a@b commit -q --allow-empty -m x";
    shell(&format!(
        "cd {} && git init -q && {commit}",
        library.display()
    ));
    let allow = ["-c", "protocol.file.allow=always"];
    let add = [
        "submodule",
        "--quiet",
        "add",
        library.to_str().unwrap(),
        "sub",
    ];
    project.git(&[&allow[..], &add].concat());
    project.git(&["commit", "-qm", "submodule"]);
    project.plan("A");
    let agent = format!(
        "cat > /dev/null; git -c protocol.file.allow=always submodule --quiet update --init && cd sub && {commit}"
    );
    let output = project.run(&agent, &["--retries", "0"]);
    let said = text(&output.stderr);
    assert!(!output.status.success(), "{said}");
    assert!(said.contains("which only this worktree has"), "{said}");
    assert_eq!(project.landed().len(), 0);
    // The same work is done where the user has the commit.
    let agent = format!(
        "{agent}; git push -q {}/sub HEAD:refs/heads/from-agent",
        project.path().display()
    );
    let id = text(&project.rekindle(&["status", "--json"]).stdout);
    let id = id.split("\"id\":\"").nth(1).unwrap();
    let id = id.split('"').next().unwrap().to_owned();
    assert_done(&project.rekindle(&["event", &id, "task_ready", "--task", "A"]));
    assert_done(&project.rekindle(&["resume", "--yes", "--agent-cmd", &agent]));
    assert_eq!(project.landed().len(), 1);
}
