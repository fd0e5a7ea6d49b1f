//! The record of a run that `rekindle run` started: damaged, lost, or with names that git refuses.

use std::path::PathBuf;

use anyhow::{Context as _, Result, ensure};
use rekindle_testkit::repository::{Project, WRITE, text};

use crate::BINARY;

/// An agent that does every task but `B`.
const ALL_BUT_B: &str =
    r#"cat > /dev/null; [ "$REKINDLE_TASK" != B ] || exit 3; echo x > "$REKINDLE_TASK.txt""#;

/// Returns a run in which `A` has landed and `B` has failed once, and the run's folder.
fn interrupted() -> Result<(Project, PathBuf)> {
    let project = Project::new(BINARY);
    project.plan("A B C<B");
    let output = project.run(ALL_BUT_B, &["--retries", "0"]);
    ensure!(output.status.code() == Some(1), "{}", text(&output.stderr));
    let runs = project.path().join(".agent-memory/runs");
    let run = fs_err::read_dir(runs)?.next().context("a run")??.path();
    let id = run
        .file_name()
        .and_then(|name| name.to_str())
        .context("a name")?;
    let ready = project.rekindle(&["event", id, "task_ready", "--task", "B"]);
    ensure!(ready.status.success(), "{}", text(&ready.stderr));
    Ok((project, run))
}

/// Checks that no way of continuing a run touches the checkout, and that each names the finding.
fn check_refused(project: &Project, what: &str) -> Result<()> {
    let before = project.git(&["status", "--porcelain"]);
    for words in [
        &["resume", "--yes", "--agent-cmd", WRITE][..],
        &["resume", "--yes", "--no-agent"],
        &["plan", "--json"],
    ] {
        let output = project.rekindle(words);
        let said = text(&output.stdout) + &text(&output.stderr);
        ensure!(
            said.contains("BROKEN_RUN_RECORD"),
            "{what}: {words:?}: {said}"
        );
        if words[0] == "resume" {
            ensure!(output.status.code() == Some(1), "{what}: {words:?}: {said}");
        }
    }
    assert_eq!(project.git(&["status", "--porcelain"]), before, "{what}");
    assert_eq!(project.tasks(), "A", "{what}");
    Ok(())
}

#[test]
fn a_run_whose_settings_cannot_be_read_is_not_continued_in_the_checkout() -> Result<()> {
    let (project, run) = interrupted()?;
    let file = run.join("rekindle-run.json");
    let good = fs_err::read_to_string(&file)?;
    let torn = &good[..good.len() / 2];
    let newer = good.replace("run-settings/1", "run-settings/2");
    let typed = good.replace("\"retries\": 0", "\"retries\": \"0\"");
    let branch = good.replace("\"result\"", "\"--all\"");
    for bad in ["", " \n", torn, &newer, &typed, &branch, "[]", "null", "\0"] {
        fs_err::write(&file, bad)?;
        check_refused(&project, bad)?;
    }
    fs_err::remove_file(&file)?;
    check_refused(&project, "missing")?;
    for line in ["mkdir", "mkfifo", "ln -s /etc/passwd", "ln -s nowhere"] {
        let made = project.shell(&format!("{line} '{}'", file.display()));
        ensure!(made.status.success(), "{line}");
        check_refused(&project, line)?;
        project.shell(&format!("rm -rf '{}'", file.display()));
    }
    // With its settings back, it continues in worktrees and lands.
    fs_err::write(&file, good)?;
    let output = project.rekindle(&["resume", "--yes", "--agent-cmd", WRITE]);
    ensure!(output.status.success(), "{}", text(&output.stderr));
    assert_eq!(project.tasks(), "A B C");
    Ok(())
}

#[test]
fn a_run_whose_task_graph_is_lost_is_not_continued_in_the_checkout() -> Result<()> {
    let (project, run) = interrupted()?;
    let file = run.join("task-graph.json");
    for bad in ["", "{\"tasks\":", "[]"] {
        fs_err::write(&file, bad)?;
        check_refused(&project, bad)?;
    }
    fs_err::remove_file(&file)?;
    check_refused(&project, "missing")
}

#[test]
fn a_run_with_commits_is_not_continued_in_the_checkout_though_its_record_says_nothing() -> Result<()>
{
    // Each step takes away what else says that `rekindle run` started it, until only git knows.
    let (project, run) = interrupted()?;
    fs_err::remove_file(run.join("rekindle-run.json"))?;
    let graph = run.join("task-graph.json");
    let foreign = fs_err::read_to_string(&graph)?.replace("\"rekindle\"", "\"task-breaker\"");
    fs_err::write(&graph, foreign)?;
    check_refused(&project, "events")?;
    fs_err::remove_dir_all(run.join("events"))?;
    check_refused(&project, "orders")?;
    fs_err::remove_dir_all(project.path().join(".rekindle/runs"))?;
    check_refused(&project, "commits")
}

#[test]
fn every_id_lands_whatever_git_and_the_shell_think_of_it() -> Result<()> {
    let ids = [
        "T1.lock",
        "a..b",
        "-x",
        "--all",
        "@",
        "a@{b",
        "ä",
        "a~b",
        "a b",
        ".a",
        "a.",
        "..",
        "HEAD",
        "a^b:c",
        "a'b",
        "\\\"q\\\"",
        "%2E",
        "T1",
        "t1",
    ];
    let project = Project::new(BINARY);
    let tasks: Vec<String> = ids
        .iter()
        .map(|id| format!("{{\"id\":\"{id}\"}}"))
        .collect();
    let plan = format!("{{\"title\":\"Odd\",\"tasks\":[{}]}}", tasks.join(","));
    fs_err::write(project.path().join("plan.json"), plan)?;
    let agent =
        r#"cat > /dev/null; n=$(printf %s "$REKINDLE_TASK" | cksum | tr ' ' -); echo x > "$n""#;
    let output = project.run(agent, &["--jobs", "1", "--retries", "0"]);
    ensure!(output.status.success(), "{}", text(&output.stderr));
    let landed: Vec<String> = project.landed().into_iter().map(|(task, _)| task).collect();
    assert_eq!(landed.len(), ids.len(), "{landed:?}");
    for id in ["T1.lock", "a..b", "-x", "ä", "a.", "@"] {
        ensure!(landed.iter().any(|task| task == id), "{id}: {landed:?}");
    }
    assert_eq!(project.git(&["for-each-ref", "refs/rekindle"]), "");
    // The proof is found again: nothing is done twice.
    let again = project.rekindle(&["resume", "--yes", "--agent-cmd", "false"]);
    ensure!(again.status.success(), "{}", text(&again.stderr));
    Ok(())
}

#[test]
fn a_branch_can_have_the_names_that_git_lets_it_have() {
    let project = Project::new(BINARY);
    for name in [
        "a", "a/b", "a.b", "ä", "a..b", ".a", "a/.b", "a.", "a/", "/a", "a//b", "a.lock",
        "a.lock/b", "a b", "a~b", "a^b", "a:b", "a?b", "a*b", "a[b", "a\\b", "a@{b", "a@b", "a\tb",
        "a\u{7f}b", "a-", "a{b}", "\u{9b}",
    ] {
        let full = format!("refs/heads/{name}");
        let quoted = rekindle_testkit::sandbox::quoted(&full);
        let known = project.shell(&format!("git check-ref-format {quoted}"));
        let expected = known.status.success();
        assert_eq!(rekindle_text::is_branch_name(name), expected, "{name:?}");
    }
}
