//! What `resume` and `next_step` answer: the step to do now, or why there is none.

use rekindle_app::{Error, Outcome, Resumed};
use rekindle_model::{AgentTask, Finding, Severity, StopKind};
use rekindle_wire::{CallOut, RequestOut, Turn, WorkOut};
use serde_json::{Map, Value, json};

use crate::listener::Listener;
use crate::quote::in_hint;

/// How a workflow is named in the calls that a step asks for.
pub(crate) struct Naming {
    /// Whether several workflows were resumed in this conversation.
    pub(crate) is_needed: bool,
}

/// Returns the object of a turn.
pub(crate) fn turn(resumed: Resumed, listener: Listener, naming: &Naming) -> Turn {
    let findings = resumed.findings.iter().filter(|finding| is_shown(finding));
    let mut turn = Turn {
        schema: "rekindle.turn/1",
        id: resumed.id.as_ref().map(ToString::to_string),
        state: String::new(),
        summary: String::new(),
        text: listener.printed.trim_matches('\n').to_owned(),
        step: None,
        question: None,
        findings: findings.map(rekindle_wire::finding).collect(),
        requests: resumed.requests.iter().map(RequestOut::from).collect(),
        finished: resumed.finished,
        hints: listener.hints,
    };
    let id = resumed.id.as_ref();
    let in_terminal = || {
        let id = id.map_or_else(|| "ID".to_owned(), in_hint);
        format!("the user answers in a terminal: `rekindle resume {id}`; then call `next_step`")
    };
    let (state, summary) = match resumed.outcome {
        Outcome::Nothing => ("done", "nothing to resume here".to_owned()),
        Outcome::Declined => ("needs_person", "the user did not agree".to_owned()),
        Outcome::Ran(ending) => (
            "done",
            format!(
                "{} landed",
                rekindle_text::count(ending.tally.landed, "task")
            ),
        ),
        Outcome::Stopped(stop) => {
            // It ends here without an agent, and what comes next is the user's or the caller's.
            if resumed.handed.is_some() && matches!(stop.kind, StopKind::Done | StopKind::Said) {
                turn.hints.push(stop.reason.clone());
            }
            turn.hints.extend(stop.hints);
            let state = match stop.kind {
                StopKind::Done | StopKind::Said => "done",
                StopKind::OthersAtWork => "waiting",
                StopKind::Waiting | StopKind::Blocked | StopKind::BlockedAndSaid => "needs_person",
            };
            (state, stop.reason)
        }
        Outcome::AgentNeeded(task) => {
            let summary = task.summary.clone();
            let id = id.filter(|_| naming.is_needed).map(ToString::to_string);
            turn.step = Some(work(task, id.as_deref()));
            ("step", summary)
        }
        Outcome::Unanswered(question) => {
            turn.question = Some(rekindle_wire::question(&question));
            turn.hints.push(in_terminal());
            ("needs_person", question.unanswered)
        }
    };
    state.clone_into(&mut turn.state);
    turn.summary = summary;
    turn
}

/// Returns the turn of a workflow that cannot go on before a person has looked at it.
pub(crate) fn refused(error: &Error) -> Option<Turn> {
    let Error::Blocked { id, reasons } = error else {
        return None;
    };
    Some(Turn {
        schema: "rekindle.turn/1",
        id: Some(id.to_string()),
        state: "needs_person".to_owned(),
        summary: reasons.join("; "),
        text: String::new(),
        step: None,
        question: None,
        findings: Vec::new(),
        requests: Vec::new(),
        finished: Vec::new(),
        hints: vec![format!("`inspect` with `id` {} shows where", in_hint(id))],
    })
}

/// Returns a turn without a workflow.
pub(crate) fn nothing(summary: &str) -> Turn {
    let listener = Listener::default();
    let mut turn = turn(
        Resumed::plain(None, Outcome::Nothing),
        listener,
        &Naming { is_needed: false },
    );
    summary.clone_into(&mut turn.summary);
    turn
}

fn is_shown(finding: &Finding) -> bool {
    finding.severity() >= Severity::Warning
}

/// Returns a step with the calls that report its end.
fn work(task: AgentTask, id: Option<&str>) -> WorkOut {
    let call = |when: &str, result: Value| {
        let mut arguments = Map::new();
        if let Some(id) = id {
            arguments.insert("id".to_owned(), json!(id));
        }
        if let Value::Object(result) = result {
            arguments.extend(result);
        }
        CallOut {
            when: when.to_owned(),
            tool: "next_step".to_owned(),
            arguments,
        }
    };
    WorkOut {
        who: task.role.to_owned(),
        task: task.task,
        attempt: Some(task.attempt).filter(|attempt| *attempt > 1),
        prompt: task.prompt,
        checks: task.checks,
        report: vec![
            call("done", json!({"result": "done"})),
            call("not done", json!({"result": "failed", "reason": "WHY"})),
        ],
    }
}
