//! Landings: order, conflicts, checks of the combined tree, and branches that somebody else moves.

use std::collections::BTreeMap;

use rekindle_testkit::repository::{Project, WRITE, run_words, text};

use crate::assert_done;

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
    assert_eq!(project.worktrees(), [""; 0]);
    assert!(project.pooled().len() <= 5, "{:?}", project.pooled());
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
