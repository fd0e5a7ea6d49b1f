//! How a task runs again: its worktree, its evidence, its count.

use anyhow::{Result, ensure};
use rekindle_testkit::conformance::Stage;
use serde_json::{Value, json};

use crate::scenes::{codes, dead, idle, landed, of_tasks, scene, stage, subject, wave, with};

/// An agent that writes a file named after its task.
pub(crate) const WRITES: &str =
    r#"cat >/dev/null; echo done > "$(echo "$REKINDLE_TASK" | tr : -).txt""#;
const AT: &str = "2026-02-16T15:00:00Z";

/// Does something to a scene before the resume.
type Harm = fn(&Stage) -> std::io::Result<()>;

pub(crate) fn row(task: &str, retries: &str, status: &str, next_action: &str) -> Vec<String> {
    [task, "1", retries, AT, status, next_action]
        .map(str::to_owned)
        .to_vec()
}

/// Returns an agent that counts its calls, and how often it was called so far.
pub(crate) fn counting(stage: &Stage, script: &str) -> Result<(String, impl Fn() -> usize)> {
    let calls = stage.sandbox().root().join("calls");
    let text = format!("cat >/dev/null\necho x >> {calls}\n{script}\n");
    let agent = stage.sandbox().script("agent.sh", &text)?;
    Ok((agent, move || {
        fs_err::read_to_string(&calls).map_or(0, |text| text.lines().count())
    }))
}

#[test]
fn a_dead_workers_task_is_run_again_in_its_worktree() -> Result<()> {
    let stage = wave(&[dead(1, 1)])?;
    let there = stage.worktree(1, 1);
    fs_err::write(
        there.join(".kiln-artifacts/P1-T11/error_context.json"),
        "{}",
    )?;
    let script = "ls -A > seen.txt; ls .kiln-artifacts/P1-T11 > evidence.txt; cp .kiln-snapshot/STATE.md copy.md";
    let (agent, n_calls) = counting(&stage, script)?;
    let ran = stage.resume(&["--agent-cmd", &agent])?;
    ensure!(ran.code() == Some(0), "{ran}");
    assert_eq!(n_calls(), 1);
    assert_eq!(stage.log()?, [subject(1, 1)]);
    let read = |path: &str| stage.sandbox().read(path);
    assert!(!read("seen.txt")?.contains("junk.txt"));
    assert_eq!(read("evidence.txt")?, "attempt-1\n");
    assert!(read("copy.md")?.contains("## Orchestration Session"));
    assert_eq!(stage.ledger()?, [row("P1-T11", "1", "dead-worker", "none")]);
    let kept = ".kiln/tracks/phase-1/artifacts/P1-T11";
    for file in [
        "attempt-1/error_context.json",
        "attempt-1/sharpened.md",
        "changed_ops.json",
    ] {
        assert!(stage.sandbox().path(kept).join(file).exists(), "{file}");
    }
    let rescued = stage.git(&[
        "for-each-ref",
        "--format=%(refname)",
        "refs/rekindle/rescue",
    ])?;
    ensure!(rescued.lines().count() == 1, "{rescued}");
    let junk = stage.git(&["show", &format!("{}:junk.txt", rescued.trim())])?;
    assert_eq!(junk, "junk\n");
    let task = stage.task(1)?;
    assert_eq!(
        (&task["status"], &task["metadata"]["kiln_stage"]),
        (&json!("completed"), &json!("verified"))
    );
    Ok(())
}

#[test]
fn a_hosts_worker_is_only_reported_in_the_plan() -> Result<()> {
    let stage = wave(&[dead(1, 1)])?;
    let home = stage.sandbox().root().join("home");
    let inbox = home.join(".claude/teams/kiln-exec-phase-1/inboxes/worker-1.json");
    fs_err::create_dir_all(inbox.parent().unwrap_or(&home))?;
    fs_err::write(&inbox, "[]")?;
    let plan = stage.typed("plan", &["--json"]).run()?.json()?;
    let text = plan.to_string();
    ensure!(
        text.contains("ask_host") && text.contains("worker-1"),
        "{text}"
    );
    let ran = stage.resume(&["--agent-cmd", WRITES])?;
    ensure!(ran.code() == Some(0), "{ran}");
    assert_eq!(fs_err::read_to_string(inbox)?, "[]");
    Ok(())
}

#[test]
fn an_agent_that_fails_three_times_halts_the_phase() -> Result<()> {
    let stage = wave(&[idle(1, 1), idle(2, 1)])?;
    let (agent, n_calls) = counting(&stage, "echo half > half.txt; exit 3")?;
    let ran = stage.resume(&["--agent-cmd", &agent])?;
    ensure!(ran.code() == Some(1), "{ran}");
    ensure!(ran.stdout().contains("P1-T11"), "{ran}");
    assert_eq!(n_calls(), 3);
    assert!(stage.log()?.is_empty());
    assert_eq!(stage.ledger()?, [row("P1-T11", "2", "failed", "halt")]);
    assert!(stage.state()?.contains("- **Step Status:** failed\n"));
    assert!(stage.worktree(1, 1).join("half.txt").exists());
    let facts = stage.facts()?;
    assert_eq!(facts["halted"], true);
    assert_eq!(
        facts["classification"],
        of_tasks(&[(1, 1, "rerun_required"), (2, 1, "gated")])
    );
    // It stays halted, and no agent is started.
    let again = stage.resume(&["--agent-cmd", &agent])?;
    ensure!(again.code() == Some(1), "{again}");
    assert_eq!(n_calls(), 3);
    Ok(())
}

#[test]
fn every_retry_adds_one_to_the_ledger() -> Result<()> {
    let stage = wave(&[dead(1, 1)])?;
    let counts = stage.sandbox().root().join("counts");
    let script =
        format!("grep -c '| P1-T11 | 1 | 1 |' .kiln-snapshot/STATE.md >> {counts}; exit 1");
    let (agent, n_calls) = counting(&stage, &script)?;
    let ran = stage.resume(&["--agent-cmd", &agent])?;
    ensure!(ran.code() == Some(1), "{ran}");
    assert_eq!(n_calls(), 2);
    assert_eq!(fs_err::read_to_string(counts)?, "1\n0\n");
    assert_eq!(stage.ledger()?, [row("P1-T11", "2", "failed", "halt")]);
    Ok(())
}

#[test]
fn tasks_that_never_started_or_were_canceled_spend_no_retry() -> Result<()> {
    let canceled = with(
        dead(1, 2),
        json!({"status": "completed", "stage": "shutdown_ack"}),
    );
    let ledger = json!({"state": {"ledger": [["P1-T12", "1", "2", "2026-02-16T13:00:00Z", "failed", "retry"]]}});
    let stage = stage(&with(scene(&[idle(1, 1), canceled]), ledger))?;
    assert_eq!(stage.facts()?["halted"], false);
    let ran = stage.resume(&["--agent-cmd", WRITES])?;
    ensure!(ran.code() == Some(0), "{ran}");
    assert_eq!(stage.log()?, [subject(1, 1), subject(1, 2)]);
    let ledger = stage.ledger()?;
    assert_eq!(
        (ledger[0][2].as_str(), ledger[0][5].as_str()),
        ("2", "none")
    );
    Ok(())
}

#[test]
fn a_missing_or_broken_worktree_is_recreated_and_its_files_are_kept() -> Result<()> {
    let lost = with(dead(1, 1), json!({"worktree_lost": true}));
    let hollow = with(dead(1, 1), json!({"worktree": "hollow"}));
    let never = with(dead(1, 1), json!({"worktree": "none"}));
    let intact: Harm = |_| Ok(());
    let without_git: Harm = |stage| fs_err::remove_file(stage.worktree(1, 1).join(".git"));
    let garbled: Harm =
        |stage| fs_err::write(stage.worktree(1, 1).join(".git"), "gitdir: /nowhere\n");
    let a_file: Harm = |stage| {
        fs_err::remove_dir_all(stage.worktree(1, 1))?;
        fs_err::write(stage.worktree(1, 1), "a file\n")
    };
    let no_root: Harm = |stage| fs_err::remove_dir_all(stage.root());
    let rows: [(&str, Value, Harm, usize); 7] = [
        ("lost", lost, intact, 0),
        ("hollow", hollow, intact, 0),
        ("never", never, intact, 0),
        ("without .git", dead(1, 1), without_git, 1),
        ("garbled .git", dead(1, 1), garbled, 1),
        ("a file", dead(1, 1), a_file, 1),
        ("no root", dead(1, 1), no_root, 0),
    ];
    for (about, task, harm, n_aside) in rows {
        let stage = wave(&[landed(1, 2, json!({"src/x.js": "x\n"})), task])?;
        harm(&stage)?;
        let ran = stage.resume(&["--agent-cmd", WRITES])?;
        ensure!(ran.code() == Some(0), "{about}: {ran}");
        ensure!(
            stage.log()? == [subject(1, 2), subject(1, 1)],
            "{about}: {:?}",
            stage.log()?
        );
        let answer = stage.inspected()?;
        let orphaned = answer["facts"]["orphaned"].as_array().map_or(0, Vec::len);
        ensure!(
            orphaned == n_aside,
            "{about}: {}",
            answer["facts"]["orphaned"]
        );
        ensure!(codes(&answer).len() >= n_aside, "{about}");
        assert_eq!(
            stage.git(&["status", "--porcelain", "--", ":!.kiln"])?,
            "",
            "{about}"
        );
    }
    Ok(())
}

#[test]
fn an_agents_evidence_is_kept_and_checked() -> Result<()> {
    let own = "mkdir -p .kiln-artifacts/P1-T11; echo hi > a.txt; \
        printf '[{\"op\":\"add\",\"path\":\"a.txt\"}]' > .kiln-artifacts/P1-T11/changed_ops.json; \
        printf '{\"result\":\"pass\",\"checks\":[],\"by\":\"agent\"}' > .kiln-artifacts/P1-T11/verify_summary.json";
    let stage = wave(&[idle(1, 1)])?;
    let (agent, _) = counting(&stage, own)?;
    let ran = stage.resume(&["--agent-cmd", &agent])?;
    ensure!(ran.code() == Some(0), "{ran}");
    let kept = stage
        .sandbox()
        .read(".kiln/tracks/phase-1/artifacts/P1-T11/verify_summary.json")?;
    assert!(kept.contains("\"by\":\"agent\""), "{kept}");

    let lies = [
        own.replace(r#""path":"a.txt""#, r#""path":"b.txt""#),
        own.replace("pass", "fail"),
        "echo hi > a.txt; git add -A; git commit -qm mine".to_owned(),
    ];
    for lie in lies {
        let stage = wave(&[idle(1, 1)])?;
        let (agent, n_calls) = counting(&stage, &lie)?;
        let ran = stage.resume(&["--agent-cmd", &agent])?;
        ensure!(ran.code() == Some(1), "{lie}: {ran}");
        ensure!(n_calls() == 3, "{lie}: {} calls", n_calls());
        ensure!(stage.log()?.is_empty(), "{lie}");
        ensure!(
            stage.ledger()? == [row("P1-T11", "2", "inconsistent", "halt")],
            "{lie}: {:?}",
            stage.ledger()?
        );
    }
    Ok(())
}
