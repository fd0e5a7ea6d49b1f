//! The questions of a resume, with what each answer does.

use rekindle_model::Question;

pub(crate) const RESUME_WORKFLOW: &str = "resume_workflow";
pub(crate) const CORRUPT_STATE: &str = "corrupt_state";
pub(crate) const MISSING_PLAN: &str = "missing_plan";
pub(crate) const CIRCUIT_BREAKER: &str = "circuit_breaker";
pub(crate) const PLAN_REVIEW: &str = "plan_review";

pub(crate) const RESUME: &str = "Resume (recommended)";
pub(crate) const FRESH: &str = "Start fresh";
pub(crate) const ABORT: &str = "Abort";
pub(crate) const RAW: &str = "View raw file contents";
pub(crate) const CREATE: &str = "Create a new task plan";
pub(crate) const CONTINUE: &str = "Continue";
pub(crate) const STOP: &str = "Stop";
pub(crate) const APPROVE: &str = "approve";
pub(crate) const REVISE: &str = "revise: FEEDBACK";

const PUT_AWAY: &str = "move the state file away and start over with /map-efficient";

/// Whether to resume an interrupted workflow; `doubt` is why only a person can say so.
pub(crate) fn resume(doubt: Option<&str>) -> Question {
    let unanswered = doubt.map_or_else(
        || "nobody answered, so nothing was changed; `rekindle resume --yes` resumes".to_owned(),
        |doubt| format!("nothing was changed: {doubt}, or answer `1` without --yes"),
    );
    let fresh = "Delete state files and start over with /map-efficient";
    let answers = vec![
        (RESUME, "Continue from last checkpoint step"),
        (FRESH, fresh),
        (ABORT, "Do nothing, keep state files intact"),
    ];
    let text = "Resume workflow from last checkpoint?";
    Question::labels(RESUME_WORKFLOW, text, answers)
        .header("Resume")
        .no(ABORT)
        .open_with_yes(doubt.is_some())
        .unanswered(unanswered)
}

/// What to do with a state file that cannot be used.
pub(crate) fn unusable() -> Question {
    let answers = vec![(RAW, "show it, to be repaired by hand"), (FRESH, PUT_AWAY)];
    Question::labels(CORRUPT_STATE, "What should happen with the state file?", answers)
        .no(Question::LEAVE)
        .open_with_yes(true)
        .about_a_blocker()
        .unanswered("the state file was not changed; repair it, or answer `2` to `rekindle resume` to move it away")
}

/// What to do about a missing plan.
///
/// Before the step that writes the plan, the workflow creates it by continuing.
pub(crate) fn missing_plan(is_before_plan: bool) -> Question {
    let creates = if is_before_plan {
        "continue with the step of the workflow that writes it"
    } else {
        "write one from the state and the blueprint"
    };
    let answers = vec![(CREATE, creates), (FRESH, PUT_AWAY)];
    Question::labels(
        MISSING_PLAN,
        "What should happen about the task plan?",
        answers,
    )
    .open_with_yes(!is_before_plan)
    .about_a_blocker()
    .unanswered("nothing was changed; answer `1` to `rekindle resume` to have a plan written")
}

/// Whether to continue a workflow that has taken more steps than expected.
pub(crate) fn breaker(text: String) -> Question {
    continue_or_stop(text, "let the actor try again anyway")
        .unanswered("the circuit breaker prevents the next attempt; `rekindle resume` without --yes takes your answer")
}

/// Whether to judge a subtask again that was rejected too often.
pub(crate) fn exhausted(text: String) -> Question {
    continue_or_stop(text, "have it judged once more").unanswered(
        "a person has to decide; fix it, then `rekindle resume` without --yes takes your answer",
    )
}

fn continue_or_stop(text: String, continues: &'static str) -> Question {
    let answers = vec![(CONTINUE, continues), (STOP, "leave it and check it first")];
    Question::labels(CIRCUIT_BREAKER, text, answers)
        .no(STOP)
        .open_with_yes(true)
        .fails_unanswered()
}

/// Whether the plan may be carried out; only a person can say so.
pub(crate) fn approval() -> Question {
    let answers = vec![
        (APPROVE, "continue with the first subtask"),
        (REVISE, "have the plan revised, then ask again"),
    ];
    Question::words(PLAN_REVIEW, "May this plan be carried out?", answers)
        .no(Question::LEAVE)
        .unanswered("the plan waits for your approval; `rekindle resume` takes it")
}
