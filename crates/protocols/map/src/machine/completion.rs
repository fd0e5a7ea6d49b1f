//! The end of a workflow, and what comes after it: completing, reopening, archiving, abandoning.

use rekindle_model::Action;
use rekindle_text::python_json::{Json, Object};

use crate::desk::Desk;
use crate::fault::Fault;
use crate::feedback;
use crate::layout;
use crate::reply::Reply;
use crate::state::{COMPLETE, IN_PROGRESS, State, StateFile, WORKFLOW_COMPLETE, key};
use crate::steps;

/// Returns the answer to a command that needs a state where there is none.
pub(super) fn no_state(file: &StateFile) -> Reply {
    Reply::error(format!("There is no {}.", file.path()))
}

/// `mark_workflow_complete`: ends a workflow that has nothing left to do.
pub(crate) fn mark_workflow(desk: Desk<'_>) -> Result<Reply, Fault> {
    let mut file = StateFile::read(desk)?;
    if !file.is_there() {
        return Ok(no_state(&file));
    }
    let state = &mut file.state;
    let pending = state.get(key::PENDING_STEPS);
    if pending.is_truthy() {
        return Ok(Reply::error(format!(
            "Steps are still due: {}. Close them first.",
            pending.to_line()
        )));
    }
    let now = desk.stamp();
    state.complete(now.clone());
    let answer = Reply::success()
        .with("workflow_status", WORKFLOW_COMPLETE)
        .with("current_step_id", COMPLETE)
        .with("current_step_phase", COMPLETE)
        .with("completed_at", now);
    Ok(Reply::of(answer).doing(file.saved()))
}

/// Why a subtask is closed without its steps.
const KINDS: &[&str] = &["deferred", "done", "noop", "prior_pr", "stub"];

/// `mark_subtask_complete`: closes a subtask without its steps.
pub(crate) fn mark_subtask(
    desk: Desk<'_>,
    subtask: &str,
    reason: &str,
    kind: Option<&str>,
) -> Result<Reply, Fault> {
    let mut file = StateFile::read(desk)?;
    if !file.is_there() {
        return Ok(no_state(&file).failing());
    }
    let state = &mut file.state;
    if !state
        .list(key::SEQUENCE)?
        .iter()
        .any(|id| id.is_text(subtask))
    {
        return Ok(Reply::error(format!("The workflow has no subtask {subtask}.")).failing());
    }
    let kind = kind.filter(|kind| !kind.is_empty()).unwrap_or("noop");
    let kind = rekindle_text::python_text::strip(kind).to_lowercase();
    if !KINDS.contains(&kind.as_str()) {
        let known = KINDS.join(", ");
        return Ok(Reply::error(format!("`{kind}` is none of {known}.")).failing());
    }
    let status = if kind == "noop" {
        "no-op"
    } else {
        kind.as_str()
    };
    let result = Object::new()
        .with("subtask_id", subtask)
        .with("files_changed", Vec::<Json>::new())
        .with("status", status)
        .with(
            "summary",
            format!("Marked {kind} via mark_subtask_complete: {reason}"),
        );
    state.map_mut(key::RESULTS)?.set(subtask, result);
    state.map_mut(key::SUBTASK_PHASES)?.set(subtask, COMPLETE);
    let why = Object::new()
        .with("kind", kind.as_str())
        .with("reason", reason)
        .with("recorded_at", desk.stamp());
    reasons(state)?.set(subtask, why);
    let mut advanced_to = Json::Null;
    let mut is_closed = false;
    if state.is(key::CURRENT_SUBTASK, subtask) {
        let next = state.int_after(key::SUBTASK_INDEX)?;
        let sequence = state.list(key::SEQUENCE)?;
        let id = usize::try_from(next)
            .ok()
            .and_then(|next| sequence.get(next));
        if let Some(id) = id.cloned() {
            state.set(key::SUBTASK_INDEX, next);
            state.set(key::CURRENT_SUBTASK, &id);
            state.begin_subtask();
            advanced_to = id;
        } else {
            state.set(key::PENDING_STEPS, Vec::<Json>::new());
            state.complete(desk.stamp());
            is_closed = true;
        }
    }
    let answer = Reply::success()
        .with("subtask_id", subtask)
        .with("reason", reason)
        .with("kind", kind)
        .with("advanced_to", advanced_to)
        .with("workflow_complete", is_closed);
    Ok(Reply::of(answer).doing(file.saved()))
}

/// Returns the reasons why subtasks were closed; whatever else stands there makes room for them.
pub(super) fn reasons(state: &mut State) -> Result<&mut Object, Fault> {
    if state.get(key::COMPLETION_REASONS).as_object().is_none() {
        state.set(key::COMPLETION_REASONS, Object::new());
    }
    state.map_mut(key::COMPLETION_REASONS)
}

/// `reopen_for_fixes`: a finished workflow goes back to the actor.
pub(crate) fn reopen(desk: Desk<'_>, said: &str) -> Result<Reply, Fault> {
    let mut file = StateFile::read(desk)?;
    if !file.is_there() {
        return Ok(no_state(&file));
    }
    let state = &mut file.state;
    if !state.is_complete()? {
        return Ok(Reply::error(
            "The workflow is not complete; a rejected step goes back with monitor_failed.",
        ));
    }
    state.set(key::STEP, "2.3");
    state.set(key::PHASE, "ACTOR");
    state.set(key::PENDING_STEPS, vec!["2.3", "2.4"]);
    state.set(key::RETRY_COUNT, 0_i64);
    state.set(key::STATUS, IN_PROGRESS);
    state.set(key::COMPLETED_AT, Json::Null);
    let title = "Review Feedback (post-COMPLETE reopen)";
    let written = feedback::file(desk, layout::REVIEW_FEEDBACK, title, said)?;
    let (path, action) = written.unzip();
    let answer = Object::new()
        .with("status", "reopened")
        .with("current_phase", "ACTOR")
        .with("feedback_file", path)
        .with("message", "The workflow is open again at the actor.");
    Ok(Reply::of(answer)
        .doing(action.flatten())
        .doing(file.saved()))
}

/// `archive`: puts a finished state away under a name with the time.
pub(crate) fn archive(desk: Desk<'_>) -> Result<Reply, Fault> {
    let file = StateFile::read(desk)?;
    if !file.is_there() {
        return Ok(nothing_to("archive", &file));
    }
    if !file.state.is_complete()? {
        return Ok(Reply::error(
            "The workflow is not complete. Finish it with mark_workflow_complete, or put it away with abandon.",
        )
        .failing());
    }
    Ok(archived(desk, &file))
}

fn nothing_to(what: &str, file: &StateFile) -> Reply {
    let path = file.path();
    Reply::of(Object::new().with("status", "noop").with(
        "message",
        format!("There is no {path}, so nothing to {what}."),
    ))
}

fn archived(desk: Desk<'_>, file: &StateFile) -> Reply {
    let to = put_away_name(desk, "completed");
    let answer = Object::new()
        .with("status", "archived")
        .with("archive_file", &to)
        .with(
            "message",
            "The state is put away; the branch is free for new work.",
        );
    Reply::of(answer).doing([put_away(file, to)])
}

/// `abandon`: puts any state away, an unreadable one too.
pub(crate) fn abandon(desk: Desk<'_>) -> Result<Reply, Fault> {
    let file = StateFile::read(desk)?;
    if !file.is_there() {
        return Ok(nothing_to("abandon", &file));
    }
    if file.state.is_complete()? {
        return Ok(archived(desk, &file));
    }
    let to = put_away_name(desk, "abandoned");
    let answer = Object::new()
        .with("status", "abandoned")
        .with("abandon_file", &to)
        .with("phase_at_abandon", file.state.get(key::PHASE))
        .with(
            "message",
            "The state is put away and can be looked at there; the branch is free for new work.",
        );
    Ok(Reply::of(answer).doing([put_away(&file, to)]))
}

/// Returns the effect that gives the state's file another name.
pub(crate) fn put_away(file: &StateFile, to: String) -> Action {
    Action::MoveFile {
        from: file.path().into(),
        to: to.into(),
        contents: file.bytes().unwrap_or_default().to_vec(),
    }
}

/// Returns a free name for a state that is put away: the second, or where that is taken, the microsecond.
pub(crate) fn put_away_name(desk: Desk<'_>, how: &str) -> String {
    let now = desk.world.now();
    let stamp = now.strftime("%Y%m%dT%H%M%S").to_string();
    let stem = layout::STATE.trim_end_matches(".json");
    let named = |stamp: &str| desk.branch.file(&format!("{stem}.{how}-{stamp}Z.json"));
    let name = named(&stamp);
    if !desk.exists(&name) {
        return name;
    }
    named(&format!("{stamp}{:06}", now.subsec_microsecond()))
}

/// `skip_step`: a test-first step is left out.
pub(crate) fn skip(desk: Desk<'_>, step: &str) -> Result<Reply, Fault> {
    if !steps::SKIPPABLE.contains(&step) {
        let which = steps::SKIPPABLE.join(" and ");
        return Ok(Reply::error(format!(
            "Step {step} can not be skipped; only {which} can."
        )));
    }
    let mut file = StateFile::read(desk)?;
    let state = &mut file.state;
    if !state.is(key::STEP, step) {
        let current = state.get(key::STEP).to_line();
        return Ok(Reply::error(format!(
            "The step that is due is {current}, not {step}."
        )));
    }
    state.list_mut(key::COMPLETED_STEPS)?.push(step.into());
    super::validate::take_out(state, step)?;
    if let Some(next) = state.list(key::PENDING_STEPS)?.first().cloned() {
        let phase = steps::phase_or_unknown(next.as_text().unwrap_or_default());
        state.set(key::STEP, next);
        state.set(key::PHASE, phase);
    } else {
        state.set(key::STEP, COMPLETE);
        state.set(key::PHASE, COMPLETE);
    }
    let answer = Reply::success()
        .with("message", format!("Step {step} is left out."))
        .with("next_step", state.get(key::STEP));
    Ok(Reply::of(answer).doing(file.saved()))
}
