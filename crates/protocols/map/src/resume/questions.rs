//! The questions of a resume, with what each answer does.

use rekindle_model::{Question, QuestionKind};

pub(super) const RESUME: &str = "Resume (recommended)";
pub(super) const FRESH: &str = "Start fresh";
pub(super) const ABORT: &str = "Abort";
pub(super) const RAW: &str = "View raw file contents";
pub(super) const CREATE: &str = "Create a new task plan";
pub(super) const CONTINUE: &str = "Continue";
pub(super) const STOP: &str = "Stop";
pub(super) const APPROVE: &str = "approve";
pub(super) const REVISE: &str = "revise: FEEDBACK";

const PUT_AWAY: &str = "put the state file away and start over with /map-efficient";

/// Whether an interrupted workflow is to go on; where there is a doubt only a person can say so.
pub(super) fn resume(doubt: Option<&str>) -> Question {
    let unanswered = doubt.map_or_else(
        || "nobody answered, so nothing was changed; `rekindle resume --yes` resumes".to_owned(),
        |doubt| format!("nothing was changed: {doubt}, or answer `1` without --yes"),
    );
    Question {
        kind: QuestionKind::ResumeWorkflow,
        text: "Resume workflow from last checkpoint?".to_owned(),
        answers: vec![
            (RESUME, "Continue from last checkpoint step"),
            (
                FRESH,
                "Delete state files and start over with /map-efficient",
            ),
            (ABORT, "Do nothing, keep state files intact"),
        ],
        unanswered,
        may_stay_open: doubt.is_some(),
    }
}

/// What is to be done with a state that can not be used.
pub(super) fn unusable() -> Question {
    Question {
        kind: QuestionKind::CorruptState,
        text: "What is to be done with the state file?".to_owned(),
        answers: vec![
            (RAW, "show it as it is, to be mended by hand"),
            (FRESH, PUT_AWAY),
        ],
        unanswered: "the state file was left as it is; mend it, or answer `2` to `rekindle resume` to put it away"
            .to_owned(),
        may_stay_open: true,
    }
}

/// What is to be done about a plan that is not there.
///
/// Where the workflow has not come to the step that writes it, going on is how it is created.
pub(super) fn missing_plan(is_before_plan: bool) -> Question {
    let creates = if is_before_plan {
        "go on with the step of the workflow that writes it"
    } else {
        "write one from the state and the blueprint"
    };
    Question {
        kind: QuestionKind::MissingPlan,
        text: "What is to be done about the task plan?".to_owned(),
        answers: vec![(CREATE, creates), (FRESH, PUT_AWAY)],
        unanswered: "nothing was changed; answer `1` to `rekindle resume` to have a plan written"
            .to_owned(),
        may_stay_open: !is_before_plan,
    }
}

/// Whether a workflow is to go on that has taken more steps than it should.
pub(super) fn breaker(text: String) -> Question {
    Question {
        kind: QuestionKind::CircuitBreaker,
        text,
        answers: vec![
            (CONTINUE, "let the actor try again all the same"),
            (STOP, "leave it as it is and look at it first"),
        ],
        unanswered:
            "the circuit breaker keeps the next attempt back; `rekindle resume` without --yes takes your answer"
                .to_owned(),
        may_stay_open: true,
    }
}

/// Whether a subtask is to be judged again that was rejected too often.
pub(super) fn exhausted(text: String) -> Question {
    Question {
        kind: QuestionKind::CircuitBreaker,
        text,
        answers: vec![
            (CONTINUE, "have it judged once more, as it is now"),
            (STOP, "leave it as it is and look at it first"),
        ],
        unanswered: "a person has to decide; mend it, then `rekindle resume` without --yes takes your answer"
            .to_owned(),
        may_stay_open: true,
    }
}

/// Whether the plan may be carried out; only a person can say so.
pub(super) fn approval() -> Question {
    Question {
        kind: QuestionKind::PlanReview,
        text: "May this plan be carried out?".to_owned(),
        answers: vec![
            (APPROVE, "go on with the first subtask"),
            (REVISE, "have the plan changed, then ask again"),
        ],
        unanswered: "the plan waits for your approval; `rekindle resume` takes it".to_owned(),
        may_stay_open: false,
    }
}
