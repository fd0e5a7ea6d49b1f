//! The end of a workflow: completing, reopening, archiving and abandoning it.

use rekindle_model::Action;
use rekindle_text::python_json::{Json, Object};
use rekindle_text::python_text::strip;

use crate::desk::Desk;
use crate::reply::{Fault, Reply};
use crate::state::{COMPLETE, IN_PROGRESS, State, StateFile, WORKFLOW_COMPLETE, key};
use crate::{feedback, layout, steps};

/// Returns the answer of a command that needs a state.
pub(super) fn no_state(file: &StateFile) -> Reply {
    Reply::error(format!("There is no {}.", file.path()))
}

/// `mark_workflow_complete`: completes a workflow without pending steps.
pub fn mark_workflow(desk: Desk<'_>) -> Result<Reply, Fault> {
    let mut file = StateFile::read(desk)?;
    if !file.is_there() {
        return Ok(no_state(&file));
    }
    let state = &mut file.state;
    let pending = state.get(key::PENDING_STEPS);
    if pending.is_truthy() {
        let pending = pending.to_line();
        let message = format!("There are pending steps: {pending}. Close them first.");
        return Ok(Reply::error(message));
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

/// The reasons for closing a subtask without its steps.
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
    if !state.has_subtask(subtask)? {
        return Ok(Reply::error(format!("The workflow has no subtask {subtask}.")).failing());
    }
    let kind = kind.filter(|kind| !kind.is_empty()).unwrap_or("noop");
    let kind = strip(kind).to_lowercase();
    if !KINDS.contains(&kind.as_str()) {
        let message = format!("`{kind}` is none of {}.", KINDS.join(", "));
        return Ok(Reply::error(message).failing());
    }
    let status = match kind.as_str() {
        "noop" => "no-op",
        kind => kind,
    };
    let summary = format!("Marked {kind} via mark_subtask_complete: {reason}");
    let result = Object::new()
        .with("subtask_id", subtask)
        .with("files_changed", Vec::<Json>::new())
        .with("status", status)
        .with("summary", summary);
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
        let id = usize::try_from(next).ok();
        if let Some(id) = id.and_then(|next| sequence.get(next)).cloned() {
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

/// Returns the completion reasons, replacing a value that is not an object.
pub(super) fn reasons(state: &mut State) -> Result<&mut Object, Fault> {
    if state.get(key::COMPLETION_REASONS).as_object().is_none() {
        state.set(key::COMPLETION_REASONS, Object::new());
    }
    state.map_mut(key::COMPLETION_REASONS)
}

/// `reopen_for_fixes`: sends a complete workflow back to the actor.
pub(crate) fn reopen(desk: Desk<'_>, said: &str) -> Result<Reply, Fault> {
    let mut file = StateFile::read(desk)?;
    if !file.is_there() {
        return Ok(no_state(&file));
    }
    let state = &mut file.state;
    if !state.is_complete()? {
        return Ok(Reply::error(
            "The workflow is not complete; use monitor_failed for a rejected step.",
        ));
    }
    state.enter("2.3", "ACTOR");
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
    let reply = Reply::of(answer).doing(action.flatten());
    Ok(reply.doing(file.saved()))
}

/// `archive`: renames the state of a complete workflow.
pub(crate) fn archive(desk: Desk<'_>) -> Result<Reply, Fault> {
    let file = StateFile::read(desk)?;
    if !file.is_there() {
        return Ok(nothing_to("archive", &file));
    }
    if !file.state.is_complete()? {
        return Ok(Reply::error(
            "The workflow is not complete. Complete it with mark_workflow_complete, or use abandon.",
        )
        .failing());
    }
    Ok(archived(desk, &file))
}

fn nothing_to(what: &str, file: &StateFile) -> Reply {
    let message = format!("There is no {} to {what}.", file.path());
    let answer = Object::new().with("status", "noop");
    Reply::of(answer.with("message", message))
}

fn archived(desk: Desk<'_>, file: &StateFile) -> Reply {
    let to = put_away_name(desk, "completed");
    let answer = Object::new()
        .with("status", "archived")
        .with("archive_file", &to)
        .with("message", "The state is archived; the branch is free.");
    Reply::of(answer).doing([put_away(file, to)])
}

/// `abandon`: renames any state, even an unreadable one.
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
        .with("message", "The state is renamed; the branch is free.");
    Ok(Reply::of(answer).doing([put_away(&file, to)]))
}

/// Returns the effect that renames the state file.
pub(crate) fn put_away(file: &StateFile, to: String) -> Action {
    Action::MoveFile {
        from: file.path().into(),
        to: to.into(),
        contents: file.bytes().unwrap_or_default().to_vec(),
    }
}

/// Returns an unused name for a renamed state: with the second, else with the microsecond.
pub fn put_away_name(desk: Desk<'_>, how: &str) -> String {
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

/// `skip_step`: skips a test-first step.
pub(crate) fn skip(desk: Desk<'_>, step: &str) -> Result<Reply, Fault> {
    if !steps::SKIPPABLE.contains(&step) {
        let which = steps::SKIPPABLE.join(" and ");
        let message = format!("Step {step} cannot be skipped; only {which} can.");
        return Ok(Reply::error(message));
    }
    let mut file = StateFile::read(desk)?;
    let state = &mut file.state;
    if !state.is(key::STEP, step) {
        let current = state.get(key::STEP).to_line();
        let message = format!("The current step is {current}, not {step}.");
        return Ok(Reply::error(message));
    }
    state.list_mut(key::COMPLETED_STEPS)?.push(step.into());
    super::validate::take_out(state, step)?;
    if state.enter_pending()?.is_none() {
        state.enter(COMPLETE, COMPLETE);
    }
    let answer = Reply::success()
        .with("message", format!("Step {step} is skipped."))
        .with("next_step", state.get(key::STEP));
    Ok(Reply::of(answer).doing(file.saved()))
}
