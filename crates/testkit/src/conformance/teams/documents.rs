//! The texts of a Kiln Teams project: plan, state, configuration, artifacts.

use std::fmt::Write;

use serde_json::{Value, json};

use super::layout::TEAM;
use super::spec::{Change, PlanTask, Spec};

/// The source files of the project before any task.
pub(super) const BASE_FILES: [(&str, &str); 5] = [
    ("README.md", "# ledger-api\n"),
    ("package.json", "{\"name\": \"ledger-api\"}\n"),
    ("src/index.js", "export const version = 1;\n"),
    ("src/log.js", "export const log = console.log;\n"),
    ("src/legacy.js", "export const old = true;\n"),
];

/// The text of `ROADMAP.md`.
pub(super) const ROADMAP: &str = "\
# ROADMAP

## Phase 1: Ledger core
Postings and balances.

## Phase 2: Reporting
Daily totals.
";

/// Returns the text of `config.json`.
pub(super) fn config(spec: &Spec) -> Value {
    json!({
        "projectType": "node",
        "modelMode": "multi-model",
        "preferences": {
            "maxRetries": 2,
            "useTeams": true,
            "waveParallelism": 3,
            "executeConcurrency": "worktree",
            "deadWorkerTimeoutMinutes": spec.dead_worker_timeout,
        },
    })
}

/// Returns the text of `PLAN.md`.
pub(super) fn plan(tasks: &[PlanTask]) -> String {
    let mut text = "\
# Plan: Phase 1 — Ledger core

## Context

Double-entry ledger.

## Task Packets

"
    .to_owned();
    for task in tasks {
        let PlanTask {
            id, title, wave, ..
        } = task;
        let files: Vec<String> = task
            .files
            .iter()
            .map(|(path, operation)| format!("{path} ({operation})"))
            .collect();
        let files = or_none(files.join(", "));
        let deps = or_none(task.deps.join(", "));
        let packet = format!(
            "\
### Task {id}: {title}

**Goal:** {title}
**Acceptance Criteria:**
- works
**Files:** {files}
**Dependencies:** {deps}
**Wave:** {wave}

---

"
        );
        text.push_str(&packet);
    }
    text
}

/// Returns the text of `STATE.md`; the last activity is the time given.
pub(super) fn state(spec: &Spec, last_activity: &str) -> String {
    let state = &spec.state;
    let mut ledger = String::new();
    for row in &state.ledger {
        writeln!(ledger, "| {} |", row.join(" | ")).ok();
    }
    let mut active = String::new();
    for task in spec
        .tasks
        .iter()
        .filter(|task| task.status == "in_progress")
    {
        writeln!(active, "  - {}", task.subject).ok();
    }
    let steps = if state.corrupt {
        String::new()
    } else {
        let step = state.step.as_deref().unwrap_or("execute");
        let status = state.step_status.as_deref().unwrap_or("in-progress");
        format!("- **Current Step:** {step}\n- **Step Status:** {status}\n")
    };
    let paused = state.paused;
    let reason = &state.pause_reason;
    format!(
        "\
# Project State

- **Project:** ledger-api
- **Model Mode:** multi-model
- **Initialized:** 2026-02-16T09:00:00Z

## Phase Progress

| Phase | Title | Status |
| --- | --- | --- |
| 1 | Ledger core | in-progress |
| 2 | Reporting | pending |

## Current Track

- **Phase:** 1 — Ledger core
{steps}- **Started:** 2026-02-16T13:55:00Z

## Correction Cycles

- **Mini-verify retries (current task):** 0 / 2
- **E2E correction cycles (current track):** 0 / 3
- **Code review correction cycles (current track):** 0 / 3

### Task Retry Ledger

| Plan Task ID | Wave | Retries | Last Attempt | Last Status | Next Action |
| ------------ | ---- | ------- | ------------ | ----------- | ----------- |
{ledger}
## Regression Suite

0 tests from 0 completed phases

## Session Recovery

- **Last Activity:** {last_activity}
- **Last Completed Action:** phase-1/wave-1: workers spawned
- **Next Expected Action:** Wait for wave-1 workers of phase-1

## Orchestration Session

- **Orchestration Engine:** teams
- **Team Name:** {TEAM}
- **UI Mode:** inline
- **Active Stage:** track:phase-1:execute
- **Active Task IDs:**
{active}- **Last Transition ID:** execute
- **Paused:** {paused}
- **Pause Reason:** {reason}
"
    )
}

/// Returns the content of `changed_ops.json` for a worker's change.
pub(super) fn operations(change: &Change) -> Value {
    let renamed = change
        .rename
        .iter()
        .map(|(old, new)| json!({"op": "rename", "path": new, "from_path": old}));
    let deleted = change
        .delete
        .iter()
        .map(|path| json!({"op": "delete", "path": path}));
    let written = change.write.keys().map(|path| {
        let known = BASE_FILES.iter().any(|(base, _)| base == path);
        json!({"op": if known { "modify" } else { "add" }, "path": path})
    });
    renamed.chain(deleted).chain(written).collect()
}

/// Returns the content of `verify_summary.json`; the result is `pass` or `fail`.
pub(super) fn verify_summary(result: &str) -> Value {
    let check = json!({"name": "tests", "outcome": result, "command": "npm test"});
    json!({"result": result, "checks": [check]})
}

/// Returns the content of `error_context.json`.
pub(super) fn error_context() -> Value {
    json!({
        "stage": "verifying",
        "message": "tests failed",
        "details_path": "verify/verify-step-1.stderr.log",
    })
}

fn or_none(list: String) -> String {
    if list.is_empty() {
        "none".to_owned()
    } else {
        list
    }
}
