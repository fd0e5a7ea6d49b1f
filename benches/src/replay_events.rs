//! The events of the large run: what each actor writes about a task.

use crate::generate::Random;

/// The state of a task after an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    Pending,
    InProgress,
    Done,
    Failed,
    Blocked,
}

/// An event without its head.
pub(crate) struct Event {
    pub(crate) kind: &'static str,
    /// The new state of the task, if it changes.
    pub(crate) state: Option<State>,
    /// Members of JSON.
    pub(crate) payload: String,
}

fn event(kind: &'static str, state: Option<State>, payload: impl Into<String>) -> Event {
    Event {
        kind,
        state,
        payload: payload.into(),
    }
}

/// Returns one of the three events that bring the run to its second phase.
pub(crate) fn opening(second: u64) -> Option<Event> {
    match second {
        0 => Some(event(
            "run_started",
            None,
            r#""feature_name": "Bulk migration""#,
        )),
        1 | 2 => {
            let from = second - 1;
            let payload = format!(
                r#""from_phase": {from}, "to_phase": {second}, "trigger": "user_approval""#
            );
            Some(event("phase_transition", None, payload))
        }
        _ => None,
    }
}

/// Returns the next event of an actor; `is_new` means that it has just taken this task.
pub(crate) fn next(actor: &str, task: usize, is_new: bool, random: &mut Random) -> Event {
    match actor.split_once('-').map_or(actor, |(role, _)| role) {
        "orchestrator" => orchestrator(task, random),
        "executor" if is_new => {
            let payload = format!(r#""lane_branch": "bulk/lane-{task:04}""#);
            event("task_started", Some(State::InProgress), payload)
        }
        "executor" => executor(task, random),
        "verifier" => verifier(task, random),
        _ => artifact("plan", "docs/plan", "md", task, random),
    }
}

fn orchestrator(task: usize, random: &mut Random) -> Event {
    match random.below(100) {
        0..30 => event(
            "task_ready",
            Some(State::Pending),
            r#""dependencies_completed": true"#,
        ),
        30..75 => {
            let (attempts, minutes) = (1 + random.below(3), random.below(90));
            let payload =
                format!(r#""total_attempts": {attempts}, "total_duration": "{minutes}m""#);
            event("task_completed", Some(State::Done), payload)
        }
        75..95 => {
            let payload = format!(
                r#""original_escalation_id": "esc-{task:04}", "resolution": "keep the old column until the next release", "resolved_by": "human""#
            );
            event("escalation_resolved", None, payload)
        }
        _ => event(
            "checkpoint_created",
            None,
            r#""notes": "before the next batch""#,
        ),
    }
}

fn executor(task: usize, random: &mut Random) -> Event {
    match random.below(1000) {
        0..250 => {
            let payload = format!(r#""elapsed_seconds": {}"#, random.below(3600));
            event("heartbeat", None, payload)
        }
        250..480 => artifact(
            "source",
            &format!("src/module_{task}/step"),
            "rs",
            task,
            random,
        ),
        480..700 => {
            let (code, ms) = (random.below(2), random.below(90_000));
            let payload = format!(
                r#""command": "cargo test -p module_{task}", "exit_code": {code}, "duration_ms": {ms}"#
            );
            event("command_finished", None, payload)
        }
        700..780 => {
            let kind = *random.pick(&["build", "test", "file"]);
            let attempt = 1 + random.below(3);
            let payload = format!(
                r#""error_type": "{kind}", "attempt": {attempt}, "resolution": "take the lock before the cache – not after""#
            );
            event("recovery_attempt", None, payload)
        }
        780..840 => event("execution_error", None, compiler_error(task, random)),
        840..890 => event(
            "task_claimed",
            Some(State::InProgress),
            r#""estimated_duration": "30m""#,
        ),
        890..960 => {
            let files: Vec<String> = (0..=random.below(3))
                .map(|file| format!("src/module_{task}/step_{file}.rs"))
                .collect();
            let payload = format!(r#""files_modified": {files:?}, "ready_for_verification": true"#);
            event("task_implemented", Some(State::InProgress), payload)
        }
        960..980 => event(
            "task_failed",
            Some(State::Failed),
            compiler_error(task, random),
        ),
        980..995 => event(
            "task_blocked",
            None,
            r#""blocker_description": "waits for the review of another task", "blocking": false"#,
        ),
        _ => event(
            "task_blocked",
            Some(State::Blocked),
            r#""blocker_type": "missing_requirement", "blocker_description": "the format of dates is not in the PRD", "blocking": true"#,
        ),
    }
}

fn verifier(task: usize, random: &mut Random) -> Event {
    match random.below(100) {
        0..40 => event(
            "task_verified",
            Some(State::Done),
            r#""result": "PASSED", "issues_count": 0, "verification_summary": "all criteria met""#,
        ),
        40..50 => {
            let (criterion, attempt) = (random.below(9), 1 + random.below(3));
            let payload =
                format!(r#""failures": ["criterion {criterion} not met"], "attempt": {attempt}"#);
            event("task_verification_failed", Some(State::Failed), payload)
        }
        _ => artifact("verification", "verifications/report", "md", task, random),
    }
}

fn artifact(kind: &str, path: &str, extension: &str, task: usize, random: &mut Random) -> Event {
    let (number, lines) = (task % 7, random.below(400));
    let payload = format!(
        r#""artifact_type": "{kind}", "artifact_path": "{path}_{number}.{extension}", "lines_added": {lines}"#
    );
    event("artifact_created", None, payload)
}

fn compiler_error(task: usize, random: &mut Random) -> String {
    let line = random.below(900);
    format!(
        r#""error": "error[E0308]: mismatched types\n  --> src/module_{task}/mod.rs:{line}:9\n   | expected \"Row\"""#
    )
}
