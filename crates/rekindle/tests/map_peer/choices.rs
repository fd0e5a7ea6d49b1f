//! The commands of a walk: those that advance a workflow, and those that make no sense at its step.

use rekindle_text::python_json::{self, Json};
use serde_json::{Value, json};

use crate::scene::{Dice, Scene};

/// A command line for one of MAP's scripts, with its input.
pub(crate) struct Typed {
    pub(crate) script: &'static str,
    pub(crate) words: Vec<String>,
    pub(crate) input: String,
}

fn typed(script: &'static str, words: &[&str]) -> Typed {
    Typed {
        script,
        words: words.iter().map(|word| (*word).to_owned()).collect(),
        input: String::new(),
    }
}

/// Returns the state, or null.
fn state(scene: &Scene) -> Value {
    let path = scene
        .ours
        .join(format!(".map/{}/step_state.json", scene.branch));
    let text = fs_err::read_to_string(path).unwrap_or_default();
    serde_json::from_str(&text).unwrap_or_default()
}

/// Changes files in both projects now and then.
pub(crate) fn live(scene: &Scene, dice: &mut Dice, history: &mut Vec<String>) {
    let what = dice.roll(14);
    match what {
        0 => {
            let file = dice.pick(&[
                "src/a.py",
                "src/b.py",
                "src/new.py",
                "src/stray.py",
                "tests/test_a.py",
                "a b.txt",
                "ä.txt",
            ]);
            scene.write(file, &format!("{}\n", dice.roll(1000)));
            history.push(format!("[edit {file}]"));
        }
        1 => {
            scene.git(&["add", "."]);
            scene.git(&["commit", "-qm", "work"]);
            history.push("[commit]".to_owned());
        }
        2 => {
            let text = dice.pick(&[
                "execution.wave_mode: off\n",
                "worktree.isolation: off\n",
                "worktree.isolation: required\nexecution.concurrent_dispatch: false\n",
                "execution.concurrent_dispatch: no\nworktree.isolation: off\n",
                "",
            ]);
            scene.write(".map/config.yaml", text);
            history.push(format!("[config {text:?}]"));
        }
        3 => {
            let number = dice.roll(12);
            let text = "# Review\n- fix this\n  - and that\n\nlast\n";
            scene.write_map(&format!("code-review-{number:03}.md"), text);
            history.push("[review]".to_owned());
        }
        4 => {
            let word = dice.pick(&["NEEDS WORK", "READY FOR REVIEW", ""]);
            scene.write_map(
                "verification-summary.md",
                &format!("# V\n- Verdict: {word}\n"),
            );
            history.push("[verification]".to_owned());
        }
        5 => {
            scene.write_map("flaky_test_triage.json", &triage(dice).to_string());
            history.push("[triage]".to_owned());
        }
        6 => {
            let id = subtask(scene, dice);
            scene.write_map(&format!("test_contract_{id}.md"), "# Contract\n");
            history.push(format!("[contract {id}]"));
        }
        7 if dice.once_in(2) => {
            let key = dice.pick(&KEYS);
            if let Some(text) = damaged(scene, key) {
                scene.write_map("step_state.json", &text);
                history.push(format!("[{key} is null]"));
            }
        }
        _ => {}
    }
}

/// Keys that are set to null.
const KEYS: [&str; 12] = [
    "subtask_index",
    "subtask_sequence",
    "pending_steps",
    "completed_steps",
    "skipped_steps",
    "subtask_phases",
    "subtask_results",
    "execution_waves",
    "retry_count",
    "retry_isolation_status",
    "retry_quarantine_paths",
    "current_subtask_id",
];

/// Returns the state with a key that is null.
fn damaged(scene: &Scene, key: &str) -> Option<String> {
    let path = format!(".map/{}/step_state.json", scene.branch);
    let text = fs_err::read_to_string(scene.ours.join(path)).ok()?;
    let Ok(Json::Object(mut state)) = python_json::parse(&text) else {
        return None;
    };
    state.set(key, Json::Null);
    Some(state.to_lines())
}

fn triage(dice: &mut Dice) -> Value {
    let runs = 1 + dice.roll(3);
    let outcomes: Vec<&str> = (0..runs)
        .map(|_| dice.pick(&["passed", "failed"]))
        .collect();
    let passed = outcomes
        .iter()
        .filter(|outcome| **outcome == "passed")
        .count();
    let evidence: Vec<Value> = (1..)
        .zip(&outcomes)
        .map(|(run, status)| json!({"run": run, "status": status, "exit_code": 0, "summary": "s"}))
        .collect();
    let disposition = dice.pick(&[
        "deferred_nondeterministic",
        "deferred_nondeterministic",
        "deterministic_failure",
        "not_reproduced",
        "odd",
    ]);
    let mut entry = json!({
        "check_id": "c1", "command": "make", "reason": "both ways", "run_count": runs,
        "pass_count": passed, "fail_count": runs - passed, "outcome_sequence": outcomes,
        "disposition": disposition, "recommended_next_action": "x",
        "monitor_verdict_policy": "not_valid_without_explicit_triage",
        "operator_requirements": [], "evidence": evidence,
    });
    if dice.once_in(6) {
        entry["command"] = Value::Null;
    }
    json!({"schema_version": "1.0", "branch": "main", "triages": [entry]})
}

fn subtask(scene: &Scene, dice: &mut Dice) -> String {
    let current = state(scene)["current_subtask_id"]
        .as_str()
        .map(str::to_owned);
    match current {
        Some(current) if !dice.once_in(3) => current,
        _ => format!("ST-{:03}", 1 + dice.roll(7)),
    }
}

fn research(dice: &mut Dice) -> String {
    let good = json!({
        "status": "OK", "confidence": 0.5,
        "search_stats": {"files_scanned": 1, "total_matches_found": 1, "results_truncated": false},
        "relevant_locations": [{"path": "src/a.py", "lines": [1, 1], "relevance": "here"}],
    });
    let mut odd = good.clone();
    match dice.roll(9) {
        0 => odd["status"] = json!("FINE"),
        1 => odd["relevant_locations"][0]["lines"] = json!([1, 900]),
        2 => odd["relevant_locations"][0]["path"] = json!("../x"),
        3 => return "not JSON".to_owned(),
        _ => return good.to_string(),
    }
    odd.to_string()
}

const ORCHESTRATOR: &str = "map_orchestrator";
const STEP_RUNNER: &str = "map_step_runner";

/// Chooses a command: mostly the one that the state needs, else any.
pub(crate) fn choose(scene: &Scene, dice: &mut Dice) -> Typed {
    if dice.once_in(3) {
        return anything(scene, dice);
    }
    let state = state(scene);
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let step = text(&state["pending_steps"][0]);
    let subtask = text(&state["current_subtask_id"]);
    if step != text(&state["current_step_id"]) || step.is_empty() {
        return typed(ORCHESTRATOR, &["get_next_step"]);
    }
    let feedback = dice.pick(&FEEDBACK);
    match (step.as_str(), dice.roll(12)) {
        ("1.55", _) if state["plan_approved"] == false => {
            typed(ORCHESTRATOR, &["set_plan_approved", "true"])
        }
        ("2.2", 0..6) => Typed {
            input: research(dice),
            ..typed(STEP_RUNNER, &["save_research", &scene.branch, &subtask])
        },
        ("2.3" | "2.4", 0..3) => typed(ORCHESTRATOR, &["monitor_failed", "--feedback", feedback]),
        ("2.3" | "2.4", 3) => envelope(dice),
        ("2.3" | "2.4", 4) => typed(
            ORCHESTRATOR,
            &["defer_flaky_subtask", &subtask, "--check-id", "c1"],
        ),
        ("2.3" | "2.4", 5) => typed(
            ORCHESTRATOR,
            &["wave_monitor_failed", &subtask, "--feedback", feedback],
        ),
        ("2.4", _) => {
            let word = dice.pick(&["proceed", "proceed", "proceed", "revise", "Approve "]);
            typed(
                ORCHESTRATOR,
                &["validate_step", "2.4", "--recommendation", word],
            )
        }
        (step, _) => typed(ORCHESTRATOR, &["validate_step", step]),
    }
}

fn anything(scene: &Scene, dice: &mut Dice) -> Typed {
    let id = subtask(scene, dice);
    match dice.roll(3) {
        0 => on_the_whole(dice),
        1 => on_a_subtask(dice, &id),
        _ => on_notes(scene, dice, &id),
    }
}

fn on_the_whole(dice: &mut Dice) -> Typed {
    let step = dice.pick(&STEPS);
    let yes = dice.pick(&["true", "false", "Y", "maybe"]);
    let words: &[&str] = match dice.roll(21) {
        0 => &["peek_current_step"],
        1 => &["validate_step", step],
        2 => &["initialize", "a task"],
        3 => &["set_plan_approved", yes],
        4 => &[
            "set_execution_mode",
            dice.pick(&["batch", "STEP_BY_STEP", "x"]),
        ],
        5 | 6 => &["set_tdd_mode", yes],
        7 => &["skip_step", step],
        8 => &["set_subtasks", "ST-001", "ST-003", "ST-002"],
        9 => &["set_subtasks", "ST-002 ST-001", "ST-004"],
        10 => &[
            "set_subtasks",
            dice.pick(&["ST-1 ST-1 ST-2", "x", "ST-002"]),
        ],
        11 => &["resume_from_plan"],
        12 => &["check_circuit_breaker"],
        13 | 14 => &["set_waves"],
        15 => &["get_wave_step"],
        16 => &["advance_wave"],
        17 => &["select_execution_strategy"],
        18 => &["mark_workflow_complete"],
        19 => &["archive"],
        _ => &["abandon"],
    };
    typed(ORCHESTRATOR, words)
}

fn on_a_subtask(dice: &mut Dice, id: &str) -> Typed {
    let feedback = dice.pick(&FEEDBACK);
    let words: &[&str] = match dice.roll(14) {
        0 => &["mark_contract_ready", id],
        1 => &["resume_from_test_contract", id],
        2 => &["validate_wave_step", id, dice.pick(&STEPS)],
        3 => &["resume_single_subtask", id, "--tdd"],
        4 => &["resume_single_subtask", id],
        5 => &["monitor_failed", "--feedback", feedback],
        6 => &["wave_monitor_failed", id, "--feedback", feedback],
        7 => &[
            "defer_flaky_subtask",
            id,
            "--check-id",
            dice.pick(&["c1", "c2"]),
        ],
        8 => &["reopen_for_fixes", "--feedback", feedback],
        9 => {
            let kind = dice.pick(&["done", "noop", "DEFERRED", "x"]);
            &[
                "mark_subtask_complete",
                id,
                "--kind",
                kind,
                "--reason",
                "because",
            ]
        }
        10 => &["mark_subtask_complete", id, "--mech"],
        11 => {
            let status = dice.pick(&["valid", "invalid"]);
            let files = dice.pick(&FILES);
            &[
                "record_subtask_result",
                id,
                status,
                "--files",
                files,
                "--summary",
                "s é",
            ]
        }
        12 => &["validate_step", "2.4"],
        _ => return envelope(dice),
    };
    typed(ORCHESTRATOR, words)
}

fn on_notes(scene: &Scene, dice: &mut Dice, id: &str) -> Typed {
    let item = dice.pick(&["YG-001", "YG-002", "YG-1", "YG-009"]);
    let status = dice.pick(&["complete", "pending"]);
    match dice.roll(13) {
        0 | 1 => typed(ORCHESTRATOR, &["get_plan_progress"]),
        2 => typed(ORCHESTRATOR, &["restore_deferred_yagni", item]),
        3 => typed(
            ORCHESTRATOR,
            &["restore_deferred_yagni", "YG-001", "--subtask-id", id],
        ),
        4 => typed(ORCHESTRATOR, &["backfill_subtask_ids"]),
        5 => typed(ORCHESTRATOR, &["finalize_plan"]),
        6 => typed(STEP_RUNNER, &["validate_retry_quarantine"]),
        7 => typed(STEP_RUNNER, &["update_plan_status", id, status]),
        8 => typed(STEP_RUNNER, &["read_current_goal"]),
        9 => typed(STEP_RUNNER, &["ensure_human_artifacts"]),
        10 => typed(STEP_RUNNER, &["next_numbered_artifact_path", "code-review"]),
        11 => typed(STEP_RUNNER, &["get_current_phase"]),
        _ => by_branch(scene, dice, id),
    }
}

const STEPS: [&str; 8] = ["1.0", "1.6", "2.2", "2.25", "2.26", "2.3", "2.4", "9.9"];
const FEEDBACK: [&str; 5] = [
    "",
    "BLOCKER: it crashes",
    "looks odd\n\nreally",
    "style only",
    "x",
];
const FILES: [&str; 5] = [
    "src/a.py",
    "src/a.py,src/new.py src/gone.py",
    "../elsewhere/x",
    "",
    ".map/x,ä.txt",
];

fn envelope(dice: &mut Dice) -> Typed {
    let good = json!({
        "valid": false, "summary": "s", "issues": [], "failed_checks": ["testability"],
        "disposition": {"kind": "deferred_nondeterministic", "check_id": "c1"},
    })
    .to_string();
    let text = match dice.roll(5) {
        0 => String::new(),
        1 => "{\"valid\": true}".to_owned(),
        2 => format!("Here: {good}"),
        _ => good,
    };
    let words: &[&str] = if dice.once_in(4) {
        &[
            "validate_step",
            "2.4",
            "--recommendation",
            "proceed",
            "--monitor-envelope",
            "-",
        ]
    } else {
        &[
            "validate_step",
            "2.4",
            "--disposition",
            "deferred_nondeterministic",
            "--check-id",
            "c1",
            "--monitor-envelope",
            "-",
        ]
    };
    Typed {
        input: text,
        ..typed(ORCHESTRATOR, words)
    }
}

fn by_branch(scene: &Scene, dice: &mut Dice, id: &str) -> Typed {
    let branch = scene.branch.as_str();
    match dice.roll(4) {
        0 => typed(STEP_RUNNER, &["validate_research", branch, id]),
        1 if dice.once_in(2) => {
            let verdict = dice.pick(&["READY FOR REVIEW", "NEEDS WORK"]);
            typed(
                STEP_RUNNER,
                &[
                    "write_verification_summary",
                    verdict,
                    "walk",
                    "- [AC-1] ran",
                ],
            )
        }
        1 => typed(STEP_RUNNER, &["load_research", branch, id, "--all"]),
        2 => typed(
            STEP_RUNNER,
            &[
                "record_test_contract_handoff",
                id,
                "make test",
                "a.py, b.py",
            ],
        ),
        _ => Typed {
            input: research(dice),
            ..typed(
                STEP_RUNNER,
                &["save_research", branch, id, "monitor", "--attempt", "2"],
            )
        },
    }
}
