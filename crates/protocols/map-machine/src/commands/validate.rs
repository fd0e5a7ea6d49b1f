//! `validate_step`: closes a step if its requirements are met.

use rekindle_model::Action;
use rekindle_text::python_json::{Json, Object};
use rekindle_text::python_text::strip;
use rekindle_text::shell_word;

use super::advance::{self, Closing};
use super::defer::{self, Outcome};
use crate::boundary::{self, Boundary};
use crate::desk::Desk;
use crate::reply::{Fault, Reply};
use crate::state::{NONDETERMINISTIC, State, StateFile, key};
use crate::{blueprint, layout, monitor, research};

/// Recommendations of the monitor that keep the step open.
pub const REJECTING: &[&str] = &["revise", "block", "needs_investigation"];

/// A request to close a step.
#[derive(Debug, Clone, Default)]
pub struct Close {
    /// The step.
    pub step: String,
    /// The monitor's recommendation.
    pub recommendation: Option<String>,
    /// The monitor's answer.
    pub envelope: Option<String>,
    /// The disposition of a flaky check.
    pub disposition: Option<String>,
    /// The flaky check.
    pub check_id: Option<String>,
    /// The result of the work.
    pub outcome: Outcome,
}

impl Close {
    /// Returns the request to close a step without further information.
    pub fn of(step: &str) -> Self {
        Self {
            step: step.to_owned(),
            ..Self::default()
        }
    }
}

/// `validate_step`.
pub fn validate(desk: Desk<'_>, close: &Close) -> Result<Reply, Fault> {
    validate_with(desk, close, |_| Ok(()))
}

/// `validate_step`, with a further change of the state if the step is closed.
pub fn validate_with(
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
            .with("message", format!("Step {step} is already closed."))
            .with("next_step", state.get(key::STEP))
            .with("idempotent", true);
        return Ok(Reply::of(answer));
    }
    if step == "2.4" && state.is(key::STEP, "2.3") {
        accept_actor(state)?;
    }
    if !state.is(key::STEP, step) {
        let current = state.get(key::STEP).to_plain_text();
        let message = format!("The current step is {current}, not {step}.");
        return Ok(invalid(message));
    }
    if step == "1.55" && !state.get(key::PLAN_APPROVED).is_truthy() {
        return Ok(invalid(
            "The plan is not approved. Approve it with `rekindle map set_plan_approved true`.",
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
        let (boundary, log) = check_files(desk, state)?;
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
    let mut answer = closing.add_to(answer);
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

/// Closes the actor's step along with the monitor's.
fn accept_actor(state: &mut State) -> Result<(), Fault> {
    if !contains(state.list(key::PENDING_STEPS)?, "2.3") {
        return Ok(());
    }
    state.list_mut(key::COMPLETED_STEPS)?.push("2.3".into());
    take_out(state, "2.3")?;
    state.enter("2.4", "MONITOR");
    Ok(())
}

/// Removes the first occurrence of a step from the pending steps.
pub(super) fn take_out(state: &mut State, step: &str) -> Result<(), Fault> {
    let pending = state.list_mut(key::PENDING_STEPS)?;
    if let Some(at) = pending.iter().position(|known| known.is_text(step)) {
        pending.remove(at);
    }
    Ok(())
}

/// Fills the sequence from blueprint or plan, sorted by dependencies.
fn fill_sequence(desk: Desk<'_>, state: &mut State) -> Result<Option<Reply>, Fault> {
    let plan = desk.plan()?.unwrap_or_default();
    let ids = blueprint::planned_ids(desk, &plan)?;
    let Some(first) = ids.first() else {
        let answer = refusal(
            "Neither the state nor blueprint.json nor the plan lists a subtask. `rekindle map resume_from_plan` starts from a plan.",
        );
        let answer = answer.with("hint", "resume_from_plan");
        return Ok(Some(Reply::of(answer).failing()));
    };
    let dependencies = blueprint::dependencies(desk)?;
    let first = first.clone();
    // Subtasks with circular dependencies keep their order.
    let sorted = blueprint::sorted(&ids, &dependencies).unwrap_or(ids);
    let first = sorted.first().cloned().unwrap_or(first);
    state.set(key::SEQUENCE, sorted);
    state.set(key::CURRENT_SUBTASK, first);
    state.set(key::SUBTASK_INDEX, 0_i64);
    Ok(None)
}

/// Checks the monitor's answer; `None` allows the step to be closed.
fn judged(desk: Desk<'_>, close: &Close, state: &State) -> Result<Option<Reply>, Fault> {
    if let Some(envelope) = &close.envelope
        && let Err(problem) = monitor::envelope(envelope)
    {
        let answer = refusal(format!(
            "The monitor's answer cannot be used: {problem}. Ask it again for the JSON object alone; if it is still cut off, stop and ask for clarification."
        ));
        let answer = answer.with("envelope_error", problem);
        return Ok(Some(Reply::of(answer).failing()));
    }
    if let Some(disposition) = close.disposition.as_deref().filter(|text| !text.is_empty()) {
        return deferred(desk, close, disposition, state).map(Some);
    }
    let recommendation = close.recommendation.as_deref().unwrap_or_default();
    if recommendation.is_empty() {
        let answer =
            refusal("Step 2.4 needs the monitor's recommendation: pass it as `--recommendation`.");
        let answer = answer.with("recommendation_required", true);
        return Ok(Some(Reply::of(answer).failing()));
    }
    let word = strip(recommendation).to_lowercase();
    if REJECTING.contains(&word.as_str()) {
        let answer = refusal(format!(
            "The monitor recommends `{word}`: have the actor fix the work and the monitor judge it again before this step is closed."
        ));
        let answer = answer.with("recommendation", word);
        return Ok(Some(Reply::of(answer).failing()));
    }
    Ok(None)
}

/// Defers a flaky check: it is recorded, and the workflow continues.
fn deferred(
    desk: Desk<'_>,
    close: &Close,
    disposition: &str,
    state: &State,
) -> Result<Reply, Fault> {
    let disposition = strip(disposition).to_lowercase();
    if disposition != NONDETERMINISTIC {
        return Ok(invalid(format!(
            "`{disposition}` is not a disposition; use `{NONDETERMINISTIC}`."
        )));
    }
    let check_id = close.check_id.as_deref().unwrap_or_default();
    if strip(check_id).is_empty() {
        return Ok(invalid(
            "A deferral needs `--check-id` with the id of the check in the triage.",
        ));
    }
    let given = close.recommendation.as_deref().unwrap_or_default();
    let recommendation = strip(given).to_lowercase();
    if !given.is_empty() && recommendation != "needs_investigation" {
        return Ok(invalid(format!(
            "`{recommendation}` contradicts a deferral: recommend `needs_investigation`, or nothing."
        )));
    }
    let Some(envelope) = &close.envelope else {
        return Ok(invalid(
            "A deferral needs `--monitor-envelope` with the verdict of the monitor.",
        ));
    };
    if let Err(problem) = monitor::defers(envelope, &disposition, strip(check_id)) {
        return Ok(invalid(format!(
            "The monitor's answer does not support the deferral: {problem}"
        )));
    }
    let subtask = state.subtask_key().to_owned();
    let reply = defer::defer(desk, &subtask, check_id, "", &close.outcome)?;
    let deferral = reply.object();
    if deferral.text("status") != Some("success") {
        let detail = deferral.text("message").unwrap_or("it was refused");
        let answer = refusal(format!("The deferral was refused. {detail}"));
        let refused = Reply::of(answer.with("deferral", deferral)).failing();
        return Ok(refused.doing(reply.actions));
    }
    let mut answer = Object::new()
        .with("valid", false)
        .with("deferred", true)
        .with("non_green_outcome", true)
        .with("disposition", disposition);
    for key in [
        "subtask_id",
        "next_step",
        "subtask_advanced_from",
        "subtask_advanced_to",
        "triage_path",
    ] {
        answer.set(key, deferral.get(key).cloned().unwrap_or_default());
    }
    let message = format!("{subtask} is deferred as flaky ({check_id}); the workflow continues.");
    let answer = answer.with("message", message).with("deferral", deferral);
    Ok(Reply::of(answer).doing(reply.actions))
}

/// Checks the research, and records which files were changed before the actor started.
fn researched(desk: Desk<'_>, state: &State) -> Result<Result<Option<Action>, Box<Reply>>, Fault> {
    let subtask = state.subtask_key();
    let report = research::report(desk, subtask, None)?;
    if !report.is_true("valid") {
        let errors: Vec<&str> = report.texts("errors").take(3).collect();
        let id = shell_word(subtask);
        let answer = refusal(format!(
            "The research for {subtask} is not valid: {}. Save it with `rekindle map save_research {} {id}`, or close a subtask that needs none with `rekindle map mark_subtask_complete {id} --reason \"...\"`.",
            errors.join("; "),
            desk.branch
        ));
        let answer = answer.with("research_report", report);
        return Ok(Err(Box::new(Reply::of(answer).failing())));
    }
    boundary::baseline(desk, subtask).map(Ok)
}

/// The result of the check of changed files.
enum Verdict {
    Clean,
    Warned(Object),
    /// Refused without a record.
    Refused(Reply),
    /// Refused once, with a record.
    Idle(Reply),
}

fn check_files(desk: Desk<'_>, state: &mut State) -> Result<(Verdict, Option<Action>), Fault> {
    if !desk.exists(&desk.branch.file(layout::BLUEPRINT)) {
        return Ok((Verdict::Clean, None));
    }
    let subtask = state.subtask_key().to_owned();
    let Some(boundary) = Boundary::read(desk, &subtask)? else {
        // As in MAP, the results must be readable even if git or the blueprint is not.
        state.map(key::RESULTS)?;
        return Ok((Verdict::Clean, None));
    };
    let log = boundary.log(desk);
    if boundary.is_violation() {
        let files = boundary.unexpected.join(", ");
        let message =
            format!("MAP_STRICT_SCOPE is set and files outside the subtask were changed: {files}");
        return Ok((Verdict::Refused(invalid(message)), log));
    }
    let mut verdict = Verdict::Clean;
    let is_warned = contains(state.list(key::SCOPE_FEEDBACK)?, &subtask);
    if !boundary.unexpected.is_empty() && !is_warned {
        let warned = state.list_mut(key::SCOPE_FEEDBACK)?;
        warned.push(subtask.as_str().into());
        verdict = Verdict::Warned(boundary.warning());
    }
    let result = state.map(key::RESULTS)?.object(&subtask);
    let commit = result.and_then(|result| result.get("commit_sha"));
    let has_commit = commit.is_some_and(Json::is_truthy);
    let is_idle = !boundary.expected.is_empty() && boundary.actual.is_empty() && !has_commit;
    if is_idle && !contains(state.list(key::PROGRESS_FEEDBACK)?, &subtask) {
        let warned = state.list_mut(key::PROGRESS_FEEDBACK)?;
        warned.push(subtask.as_str().into());
        let files = boundary.expected.join(", ");
        let message = format!(
            "{subtask} should change {files}, but no file changed. Make the change, or stop and say why it is not needed."
        );
        return Ok((Verdict::Idle(invalid(message)), log));
    }
    Ok((verdict, log))
}

/// Marks the step as completed and enters the next one.
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
    match state.enter_pending()? {
        Some(next) => Ok(Closing::step(next)),
        None => advance::close_subtask(desk, state),
    }
}
