//! The facts of a session, as `inspect --json` and `sessions --json` have them.

use rekindle_model::{Fact, Session, SubAgent, TodoList, Unsafe, WorkflowId};
use rekindle_text::format_seconds;

/// The facts that only one session alone has.
const DETAILS: [&str; 3] = ["said", "uncommitted", "subagents"];

/// Where the workflow of another protocol is that a session worked on.
const WORKFLOW: &str = "workflow";

/// Returns the facts of a session; `uncommitted` are its files that git calls changed. No protocol
/// knows another, so the workflow is added later.
pub(crate) fn facts(session: &Session, uncommitted: &[String]) -> Fact {
    let open = &session.open;
    Fact::object([
        ("agent", session.agent.into()),
        ("session", session.session.as_str().into()),
        ("title", session.title.as_deref().into()),
        ("state", session.state.as_str().into()),
        ("until", session.until.map(format_seconds).into()),
        (
            "open",
            Fact::object([
                ("kind", open.kind.as_str().into()),
                ("tool", open.tool.as_deref().into()),
                // Of errors and sub-agents the model has a text for people here.
                (
                    "step",
                    open.step.as_deref().filter(|_| open.tool.is_some()).into(),
                ),
                ("calls", open.calls.into()),
            ]),
        ),
        ("prompt", session.prompt.as_deref().into()),
        ("said", session.said.as_deref().into()),
        ("todo", session.todo.as_ref().map_or(Fact::Null, todo)),
        ("folder", path(session.folder.as_deref())),
        ("folder_exists", session.folder_exists.into()),
        ("project", path(session.project.as_deref())),
        ("branch", session.branch.as_deref().into()),
        ("touched", texts(&session.touched)),
        ("uncommitted", texts(uncommitted)),
        (
            "subagents",
            Fact::list(session.subagents.iter().map(subagent)),
        ),
        ("alive", session.alive.into()),
        ("holder", holder(session)),
        (
            "last_activity",
            session.last_activity.map(format_seconds).into(),
        ),
        ("stale", session.is_stale.into()),
        ("headless", session.is_headless.into()),
        ("torn", session.is_torn.into()),
        ("superseded_by", session.superseded_by.as_deref().into()),
        (WORKFLOW, Fact::Null),
        ("safe", session.is_safe().into()),
        (
            "reasons",
            Fact::list(session.reasons.iter().copied().map(Unsafe::as_str)),
        ),
        (
            "resume",
            Fact::object([
                ("folder", path(session.folder.as_deref())),
                ("interactive", texts(&session.interactive)),
                ("headless", texts(&session.headless)),
            ]),
        ),
    ])
}

/// Returns the facts of a session in a list: its id, and what needs no second look.
pub(crate) fn listed(session: &Session, workflow: Option<&WorkflowId>) -> Fact {
    let Fact::Object(all) = with_workflow(facts(session, &[]), workflow) else {
        return Fact::Null;
    };
    let id = ("id".to_owned(), Fact::from(session.id.to_string()));
    let kept = all
        .into_iter()
        .filter(|(key, _)| !DETAILS.contains(&key.as_str()));
    Fact::object(std::iter::once(id).chain(kept))
}

/// Returns the facts of a session with the workflow that it worked on.
pub(crate) fn with_workflow(facts: Fact, workflow: Option<&WorkflowId>) -> Fact {
    let set = |(key, fact): (String, Fact)| match workflow {
        Some(workflow) if key == WORKFLOW => (key, workflow.to_string().into()),
        Some(_) | None => (key, fact),
    };
    match facts {
        Fact::Object(all) => Fact::object(all.into_iter().map(set)),
        other @ (Fact::Null | Fact::Bool(_) | Fact::Int(_) | Fact::Text(_) | Fact::List(_)) => {
            other
        }
    }
}

fn path(path: Option<&camino::Utf8Path>) -> Fact {
    path.map(camino::Utf8Path::as_str).into()
}

fn texts(texts: &[String]) -> Fact {
    Fact::list(texts.iter().map(String::as_str))
}

fn todo(list: &TodoList) -> Fact {
    Fact::object([
        ("done", list.done.into()),
        ("total", list.total().into()),
        ("current", list.current.as_deref().into()),
    ])
}

fn subagent(one: &SubAgent) -> Fact {
    Fact::object([
        ("id", Fact::from(one.id.as_str())),
        ("type", one.kind.as_deref().into()),
        ("about", one.about.as_deref().into()),
        ("step", one.step.as_deref().into()),
    ])
}

fn holder(session: &Session) -> Fact {
    let holder = session.holder.as_ref();
    holder.map_or(Fact::Null, |holder| {
        Fact::object([
            ("pid", Fact::from(holder.pid)),
            ("server", holder.is_server.into()),
        ])
    })
}
