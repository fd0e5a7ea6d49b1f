//! `validate_step`: closes a step if all that it asks for is there.

use rekindle_model::Action;
use rekindle_text::python_json::{Json, Object};
use rekindle_text::python_text::strip;
use rekindle_text::shell_word;

use super::advance::{self, Closing};
use super::defer::{self, Outcome};
use crate::blueprint;
use crate::boundary::{self, Boundary};
use crate::desk::Desk;
use crate::fault::Fault;
use crate::layout;
use crate::monitor;
use crate::reply::Reply;
use crate::research;
use crate::state::{NONDETERMINISTIC, State, StateFile, key};
use crate::steps;

/// Recommendations of the monitor that keep its step open.
pub(crate) const REJECTING: &[&str] = &["revise", "block", "needs_investigation"];

/// What a caller says about the step.
#[derive(Debug, Clone, Default)]
pub(crate) struct Close {
    pub(crate) step: String,
    pub(crate) recommendation: Option<String>,
    pub(crate) envelope: Option<String>,
    pub(crate) disposition: Option<String>,
    pub(crate) check_id: Option<String>,
    pub(crate) outcome: Outcome,
}

/// `validate_step`.
pub(crate) fn validate(desk: Desk<'_>, close: &Close) -> Result<Reply, Fault> {
    validate_with(desk, close, |_| Ok(()))
}

/// `validate_step`, with something more that goes into the state if the step is closed.
pub(crate) fn validate_with(
    desk: Desk<'_>,
    close: &Close,
    more: impl FnOnce(&mut State) -> Result<(), Fault>,
) -> Result<Reply, Fault> {
    let mut file = StateFile::read(desk)?;
    let state = &mut file.state;
    let step = close.step.as_str();
    let is_closed = state.has_entry(key::COMPLETED_STEPS, step)?;
    if is_closed && !state.is(key::STEP, step) {
        let answer = Object::new()
            .with("valid", true)
            .with("message", format!("Step {step} was closed before."))
            .with("next_step", state.get(key::STEP))
            .with("idempotent", true);
        return Ok(Reply::of(answer));
    }
    if step == "2.4" && state.is(key::STEP, "2.3") {
        accept_actor(state)?;
    }
    if !state.is(key::STEP, step) {
        let current = state.get(key::STEP);
        let current = current
            .as_text()
            .map_or_else(|| current.to_line(), str::to_owned);
        return Ok(invalid(format!(
            "The step that is due is {current}, not {step}."
        )));
    }
    if step == "1.55" && !state.get(key::PLAN_APPROVED).is_truthy() {
        return Ok(invalid(
            "The plan is not approved. Say so with `rekindle map set_plan_approved true`.",
        ));
    }
    if step == "1.6"
        && !state.get(key::SEQUENCE).is_truthy()
        && let Some(refusal) = fill_sequence(desk, state)?
    {
        return Ok(refusal);
    }
    if step == "2.4"
        && let Some(reply) = judged(desk, close, state)?
    {
        return Ok(reply);
    }
    let mut actions: Vec<Action> = Vec::new();
    if step == "2.2" && state.subtask_by_name()?.is_some() {
        match researched(desk, state)? {
            Ok(baseline) => actions.extend(baseline),
            Err(refusal) => return Ok(*refusal),
        }
    }
    let mut scope_warning = None;
    if step == "2.4" && state.subtask().is_some() {
        let (boundary, log) = looked_at(desk, state)?;
        actions.extend(log);
        match boundary {
            Verdict::Clean => {}
            Verdict::Warned(warning) => scope_warning = Some(warning),
            Verdict::Refused(reply) => return Ok(reply.doing(actions)),
            Verdict::Idle(reply) => return Ok(reply.doing(actions).doing(file.saved())),
        }
    }
    let closing = closed(desk, state, step)?;
    more(state)?;
    let answer = Object::new()
        .with("valid", true)
        .with("message", format!("Step {step} is closed."));
    let mut answer = closing.tell(answer);
    if let Some(warning) = scope_warning {
        answer.set("scope_warning", warning);
    }
    Ok(Reply::of(answer).doing(actions).doing(file.saved()))
}

fn contains(steps: &[Json], step: &str) -> bool {
    steps.iter().any(|known| known.is_text(step))
}

fn refusal(message: impl Into<String>) -> Object {
    Object::new()
        .with("valid", false)
        .with("message", message.into())
}

fn invalid(message: impl Into<String>) -> Reply {
    Reply::of(refusal(message)).failing()
}

/// A monitor that approves has accepted the actor's work: its step need not be closed by itself.
fn accept_actor(state: &mut State) -> Result<(), Fault> {
    if !contains(state.list(key::PENDING_STEPS)?, "2.3") {
        return Ok(());
    }
    state.list_mut(key::COMPLETED_STEPS)?.push("2.3".into());
    take_out(state, "2.3")?;
    state.set(key::STEP, "2.4");
    state.set(key::PHASE, "MONITOR");
    Ok(())
}

/// Takes the first of equal steps off the list of what is due.
pub(super) fn take_out(state: &mut State, step: &str) -> Result<(), Fault> {
    let pending = state.list_mut(key::PENDING_STEPS)?;
    if let Some(at) = pending.iter().position(|known| known.is_text(step)) {
        pending.remove(at);
    }
    Ok(())
}

/// Takes the subtasks from blueprint or plan, sorted by what they depend on.
fn fill_sequence(desk: Desk<'_>, state: &mut State) -> Result<Option<Reply>, Fault> {
    let plan = desk.plan()?.unwrap_or_default();
    let ids = blueprint::planned_ids(desk, &plan)?;
    let Some(first) = ids.first() else {
        let answer = refusal(
            "No subtask is listed, neither in the state nor in blueprint.json nor in the plan. `rekindle map resume_from_plan` starts from a plan.",
        );
        let answer = answer.with("hint", "resume_from_plan");
        return Ok(Some(Reply::of(answer).failing()));
    };
    let dependencies = blueprint::dependencies(desk)?;
    let first = first.clone();
    let sorted = if dependencies.is_empty() {
        ids
    } else {
        // In a circle no order is right, and the listed one is kept.
        blueprint::sorted(&ids, &dependencies).unwrap_or(ids)
    };
    let first = sorted.first().cloned().unwrap_or(first);
    state.set(key::SEQUENCE, sorted);
    state.set(key::CURRENT_SUBTASK, first);
    state.set(key::SUBTASK_INDEX, 0_i64);
    Ok(None)
}

/// Looks at what the monitor said; `None` lets the step be closed.
fn judged(desk: Desk<'_>, close: &Close, state: &State) -> Result<Option<Reply>, Fault> {
    if let Some(envelope) = &close.envelope
        && let Err(problem) = monitor::envelope(envelope)
    {
        let answer = refusal(format!(
            "The monitor's answer can not be used: {problem}. Ask it again for the JSON object alone; if it stays cut off, stop and ask for clarification."
        ));
        let answer = answer.with("envelope_error", problem);
        return Ok(Some(Reply::of(answer).failing()));
    }
    if let Some(disposition) = close.disposition.as_deref().filter(|text| !text.is_empty()) {
        return deferred(desk, close, disposition, state).map(Some);
    }
    let recommendation = close.recommendation.as_deref().unwrap_or_default();
    if recommendation.is_empty() {
        let answer = refusal(
            "Step 2.4 closes only with the monitor's own word: pass it as `--recommendation`.",
        );
        let answer = answer.with("recommendation_required", true);
        return Ok(Some(Reply::of(answer).failing()));
    }
    let word = strip(recommendation).to_lowercase();
    if REJECTING.contains(&word.as_str()) {
        let answer = refusal(format!(
            "The monitor recommends `{word}`: let the actor mend it and the monitor look again before this step is closed."
        ));
        let answer = answer.with("recommendation", word);
        return Ok(Some(Reply::of(answer).failing()));
    }
    Ok(None)
}

/// The third verdict: a check that fails now and then is recorded as such, and the work goes on.
fn deferred(
    desk: Desk<'_>,
    close: &Close,
    disposition: &str,
    state: &State,
) -> Result<Reply, Fault> {
    let disposition = strip(disposition).to_lowercase();
    if disposition != NONDETERMINISTIC {
        return Ok(invalid(format!(
            "`{disposition}` is no disposition; there is only `{NONDETERMINISTIC}`."
        )));
    }
    let check_id = close.check_id.as_deref().unwrap_or_default();
    if strip(check_id).is_empty() {
        return Ok(invalid(
            "A deferral needs `--check-id` with the check as the triage names it.",
        ));
    }
    let recommendation = close.recommendation.as_deref().unwrap_or_default();
    let recommendation = strip(recommendation).to_lowercase();
    let is_said = close
        .recommendation
        .as_deref()
        .is_some_and(|text| !text.is_empty());
    if is_said && recommendation != "needs_investigation" {
        return Ok(invalid(format!(
            "`{recommendation}` and a deferral contradict each other: recommend `needs_investigation`, or nothing."
        )));
    }
    let Some(envelope) = &close.envelope else {
        return Ok(invalid(
            "A deferral needs `--monitor-envelope`: the verdict must be the monitor's own.",
        ));
    };
    if let Err(problem) = monitor::defers(envelope, &disposition, strip(check_id)) {
        return Ok(invalid(format!(
            "The monitor's answer does not back the deferral: {problem}"
        )));
    }
    let subtask = state.subtask_key().to_owned();
    let reply = defer::defer(desk, &subtask, check_id, "", &close.outcome)?;
    let crate::reply::Body::Lines(deferral) = reply.body else {
        return Err(Fault::new("a deferral without an answer"));
    };
    if deferral.text("status") != Some("success") {
        let detail = deferral.text("message").unwrap_or("it was refused");
        let answer = refusal(format!("The deferral was refused. {detail}"));
        let reply_to_close = Reply::of(answer.with("deferral", deferral)).failing();
        return Ok(reply_to_close.doing(reply.actions));
    }
    let told = |key: &str| deferral.get(key).cloned().unwrap_or_default();
    let answer = Object::new()
        .with("valid", false)
        .with("deferred", true)
        .with("non_green_outcome", true)
        .with("disposition", disposition)
        .with("subtask_id", told("subtask_id"))
        .with("next_step", told("next_step"))
        .with("subtask_advanced_from", told("subtask_advanced_from"))
        .with("subtask_advanced_to", told("subtask_advanced_to"))
        .with("triage_path", told("triage_path"))
        .with(
            "message",
            format!("{subtask} is put on record as failing now and then ({check_id}), and the work goes on."),
        )
        .with("deferral", deferral);
    Ok(Reply::of(answer).doing(reply.actions))
}

/// Checks that research is there, and remembers which files were changed before the actor began.
fn researched(desk: Desk<'_>, state: &State) -> Result<Result<Option<Action>, Box<Reply>>, Fault> {
    let subtask = state.subtask_key();
    let report = research::report(desk, subtask, None)?;
    if report.get("valid") != Some(&Json::Bool(true)) {
        let errors = report.get("errors").and_then(Json::as_list);
        let errors = errors.unwrap_or_default().iter().take(3);
        let errors: Vec<&str> = errors.filter_map(Json::as_text).collect();
        let id = shell_word(subtask);
        let answer = refusal(format!(
            "The research for {subtask} does not hold: {}. Save it with `rekindle map save_research {} {id}`, or close a subtask that needs none with `rekindle map mark_subtask_complete {id} --reason \"...\"`.",
            errors.join("; "),
            desk.branch
        ));
        let answer = answer.with("research_report", report);
        return Ok(Err(Box::new(Reply::of(answer).failing())));
    }
    boundary::baseline(desk, subtask).map(Ok)
}

/// What came of a look at the files that were changed.
enum Verdict {
    Clean,
    Warned(Object),
    /// Refused, and nothing of it is remembered.
    Refused(Reply),
    /// Refused once, and that is remembered.
    Idle(Reply),
}

fn looked_at(desk: Desk<'_>, state: &mut State) -> Result<(Verdict, Option<Action>), Fault> {
    if !desk.exists(&desk.branch.file(layout::BLUEPRINT)) {
        return Ok((Verdict::Clean, None));
    }
    let subtask = state.subtask_key().to_owned();
    let boundary = Boundary::read(desk, &subtask)?;
    let Some(boundary) = boundary else {
        // Where git or the blueprint can not tell, the results are asked for all the same.
        state.map(key::RESULTS)?;
        return Ok((Verdict::Clean, None));
    };
    let log = boundary.log(desk);
    if boundary.is_violation() {
        let files = boundary.unexpected.join(", ");
        return Ok((
            Verdict::Refused(invalid(format!(
                "MAP_STRICT_SCOPE is set and files outside of the subtask were changed: {files}"
            ))),
            log,
        ));
    }
    let mut verdict = Verdict::Clean;
    let is_told = contains(state.list(key::SCOPE_FEEDBACK)?, &subtask);
    if !boundary.unexpected.is_empty() && !is_told {
        state
            .list_mut(key::SCOPE_FEEDBACK)?
            .push(subtask.as_str().into());
        verdict = Verdict::Warned(boundary.warning());
    }
    let results = state.map(key::RESULTS)?;
    let result = results.get(&subtask).and_then(Json::as_object);
    let has_commit = result
        .and_then(|result| result.get("commit_sha"))
        .is_some_and(Json::is_truthy);
    let is_idle = !boundary.expected.is_empty() && boundary.actual.is_empty() && !has_commit;
    if is_idle && !contains(state.list(key::PROGRESS_FEEDBACK)?, &subtask) {
        state
            .list_mut(key::PROGRESS_FEEDBACK)?
            .push(subtask.as_str().into());
        let files = boundary.expected.join(", ");
        return Ok((
            Verdict::Idle(invalid(format!(
                "{subtask} was to change {files}, and no file changed. Make the change, or stop and say why it is not needed."
            ))),
            log,
        ));
    }
    Ok((verdict, log))
}

/// Marks the step as done and goes to what follows it.
fn closed(desk: Desk<'_>, state: &mut State, step: &str) -> Result<Closing, Fault> {
    state.list_mut(key::COMPLETED_STEPS)?.push(step.into());
    take_out(state, step)?;
    if step == "1.6"
        && state.subtask().is_none()
        && let Some(first) = state.list_or_nothing(key::SEQUENCE)?.first().cloned()
    {
        state.set(key::CURRENT_SUBTASK, first);
        state.set(key::SUBTASK_INDEX, 0_i64);
    }
    if let Some(next) = state.list(key::PENDING_STEPS)?.first().cloned() {
        let phase = steps::phase_or_unknown(next.as_text().unwrap_or_default());
        state.set(key::STEP, &next);
        state.set(key::PHASE, phase);
        return Ok(Closing::step(next));
    }
    advance::close_subtask(desk, state)
}
