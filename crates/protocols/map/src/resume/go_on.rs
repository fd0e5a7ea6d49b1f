//! The step that is due: what needs nobody is done, for the rest somebody is sent off.
//!
//! Whatever the state machine changes is written first, and the next round looks again; so somebody is
//! only ever sent off for a step that stands in the state on disk.

use rekindle_model::{Action, AgentTask, Plan, Step, StopKind, Then};
use rekindle_text::python_json::{Json, Object};
use rekindle_text::{excerpt, shell_word};

use super::order::{self, Mode, Order};
use super::plan::{Planner, effects, says, stop};
use super::prompts::{self, Past};
use super::read::Workflow;
use super::{questions, rebuilt, session, words};
use crate::blueprint;
use crate::fault::Fault;
use crate::layout;
use crate::machine::advance::BLOCKED;
use crate::machine::validate::{self, Close};
use crate::machine::{completion, contract, next, waves};
use crate::quarantine;
use crate::reply::{Body, Reply};
use crate::state::{COMPLETE, CONTRACT_READY, State, WORKFLOW_COMPLETE, key};
use crate::steps;
use crate::table::{self, Duty, RETRIES, Rejection, Retry};

impl Planner<'_> {
    /// Asks the state machine what is due.
    pub(super) fn go_on(&self, workflow: &Workflow) -> Result<Plan, Fault> {
        if is_in_waves(&workflow.state)? && !workflow.state.is(key::STATUS, WORKFLOW_COMPLETE) {
            return self.wave(workflow);
        }
        let reply = next::next(self.desk)?;
        if !reply.actions.is_empty() {
            let steps = effects(reply.actions, "the state machine moves on");
            return Ok(self.plan(steps, Then::Again));
        }
        let answer = object(&reply);
        match answer.text("step_id").unwrap_or_default() {
            COMPLETE => self.completed(workflow),
            CONTRACT_READY => self.take_up_contract(workflow),
            BLOCKED => Ok(self.blocked(&answer)),
            step => match table::step(step).map(|step| step.duty) {
                Some(Duty::Decompose) => self.decompose(),
                Some(Duty::WritePlan) => self.write_plan(workflow),
                Some(Duty::Approve) => self.review(workflow),
                Some(Duty::Close) => self.close(step, "the plan's subtasks are taken over"),
                Some(
                    Duty::Research
                    | Duty::WriteTests
                    | Duty::TestGate
                    | Duty::Implement
                    | Duty::Judge,
                )
                | None => self.send(workflow, step),
            },
        }
    }

    /// Sends somebody off for a step of the current subtask.
    fn send(&self, workflow: &Workflow, step: &str) -> Result<Plan, Fault> {
        let Some(subtask) = workflow.state.subtask() else {
            let sequence = workflow.state.texts(key::SEQUENCE)?;
            let index = usize::try_from(workflow.state.int(key::SUBTASK_INDEX)?).ok();
            let meant = index.and_then(|index| sequence.get(index));
            let meant = meant.map_or_else(String::new, |id| {
                format!("; by `subtask_index` it is `{}`", excerpt(id, 80))
            });
            return Err(Fault::new(format!(
                "step {step} is due, and `current_subtask_id` of step_state.json names no subtask{meant}"
            )));
        };
        self.dispatch(workflow, subtask, step, Mode::Serial)
    }

    fn dispatch(
        &self,
        workflow: &Workflow,
        subtask: &str,
        step: &str,
        mode: Mode,
    ) -> Result<Plan, Fault> {
        if !order::is_plain(subtask) {
            return Err(Fault::new(format!(
                "`{subtask}` can not be the id of a subtask, since files are named after it"
            )));
        }
        let order = Order::new(step, mode);
        match table::step(step).map(|step| step.duty) {
            Some(Duty::Research) => {
                let task = prompts::research(self.desk, workflow, subtask, 1, None);
                Ok(self.agent(task, &order))
            }
            Some(Duty::WriteTests) => {
                let task = prompts::test_writer(self.desk, workflow, subtask, 1, None);
                Ok(self.agent(task, &order))
            }
            Some(Duty::TestGate) => Ok(self.gate(workflow, subtask, &order, 1)),
            Some(Duty::Implement) => match self.breaker(workflow, mode)? {
                Some(text) => Ok(self.plan(Vec::new(), Then::Ask(questions::breaker(text)))),
                None => self.actor(workflow, subtask, &order),
            },
            Some(Duty::Judge) => match exhausted(workflow, subtask, mode)? {
                Some(text) => Ok(self.plan(Vec::new(), Then::Ask(questions::exhausted(text)))),
                None => Ok(self.monitor(workflow, subtask, &order, 1, None)),
            },
            Some(Duty::Decompose | Duty::WritePlan | Duty::Approve | Duty::Close) | None => {
                Err(Fault::new(format!(
                    "step `{step}` of the state is none that can be carried out"
                )))
            }
        }
    }

    /// Sends somebody off although there were more attempts than there should be.
    pub(super) fn all_the_same(&self, workflow: &Workflow) -> Result<Plan, Fault> {
        let state = &workflow.state;
        let (subtask, step, mode) = if is_in_waves(state)? {
            let members = waves::members(state)?.unwrap_or_default();
            let mut open = members
                .into_iter()
                .filter(|(_, step)| !step.is_text(COMPLETE));
            let (subtask, step) = open.next().unwrap_or_default();
            (Some(subtask), step, Mode::Wave)
        } else {
            let subtask = state.subtask().map(str::to_owned);
            (subtask, state.get(key::STEP).clone(), Mode::Serial)
        };
        match (subtask, step.as_text()) {
            (Some(subtask), Some("2.3")) => {
                self.actor(workflow, &subtask, &Order::new("2.3", mode))
            }
            (Some(subtask), Some("2.4")) => {
                let order = Order::new("2.4", mode);
                Ok(self.monitor(workflow, &subtask, &order, 1, None))
            }
            _ => Ok(self.plan(Vec::new(), Then::Again)),
        }
    }

    /// Returns what the circuit breaker says, if more steps were taken than the workflow should need.
    fn breaker(&self, workflow: &Workflow, mode: Mode) -> Result<Option<String>, Fault> {
        if mode == Mode::Wave || workflow.total() == 0 {
            return Ok(None);
        }
        let answer = object(&next::circuit_breaker(self.desk)?);
        let number = |key: &str| answer.get(key).map_or_else(String::new, Json::to_line);
        let is_triggered = answer.get("triggered") == Some(&Json::Bool(true));
        Ok(is_triggered.then(|| {
            format!(
                "The circuit breaker has tripped: {} steps were taken, and {} are the most for a workflow of this size. Is the actor to try again?",
                number("tool_count"),
                number("max_iterations")
            )
        }))
    }

    fn actor(&self, workflow: &Workflow, subtask: &str, order: &Order) -> Result<Plan, Fault> {
        // The status outlives the acceptance of a subtask that is opened again later; its retries do not.
        let is_clean = workflow.state.map(key::ISOLATION)?.text(subtask)
            == Some(steps::CLEAN_RETRY)
            && rejection(workflow, subtask, order.mode)?.is_repeated;
        let Some(path) = is_clean.then(|| self.quarantine(workflow, subtask)) else {
            // What was found before the resume is for the subtask that it begins with.
            let is_first = session::ended(self.desk, workflow, &self.log).n_completed == 0;
            let past = if is_first {
                Past::Known
            } else {
                Past::OwnFeedback
            };
            let task = prompts::actor(self.desk, workflow, subtask, order.mode, &past);
            return Ok(self.agent(task, order));
        };
        if !path.starts_with(&self.desk.branch.file("")) || path.split('/').any(|part| part == "..")
        {
            return Err(Fault::new(format!(
                "the quarantine of {subtask} is to be `{path}`, which is not in `.map/{}`",
                self.desk.branch
            )));
        }
        // A clean retry goes by the quarantine alone, so that must hold.
        let reply = quarantine::validate(self.desk, Some(&path))?;
        if reply.exit != 0 {
            let answer = object(&reply);
            let errors = answer.get("errors").and_then(Json::as_list);
            let errors = errors.unwrap_or_default().iter().filter_map(Json::as_text);
            let errors: Vec<&str> = errors.take(5).collect();
            return Err(Fault::new(format!(
                "a clean retry of {subtask} needs `{path}`, and it does not hold: {}",
                errors.join("; ")
            )));
        }
        let entries = prompts::quarantine(self.desk, subtask, &path);
        if entries.is_empty() {
            return Err(Fault::new(format!(
                "a clean retry of {subtask} needs `{path}`, and it has nothing about {subtask}"
            )));
        }
        let past = Past::Quarantine(path, entries);
        let task = prompts::actor(self.desk, workflow, subtask, order.mode, &past);
        let mut plan = self.agent(task, order);
        plan.steps = effects(reply.actions, "the quarantine of the failed attempts holds");
        Ok(plan)
    }

    /// Returns where the quarantine of a subtask is; a state that does not say so means the usual place.
    fn quarantine(&self, workflow: &Workflow, subtask: &str) -> String {
        let paths = workflow.state.map(key::QUARANTINES).ok();
        let path = paths.and_then(|paths| paths.text(subtask));
        let path = path.filter(|path| !path.is_empty()).map(str::to_owned);
        path.unwrap_or_else(|| self.desk.branch.file(layout::QUARANTINE))
    }

    /// Sends the monitor off, with a place for its verdict.
    pub(super) fn monitor(
        &self,
        workflow: &Workflow,
        subtask: &str,
        order: &Order,
        attempt: u32,
        complaint: Option<&str>,
    ) -> Plan {
        let order = order.clone().with_verdict(self.desk, subtask);
        let task = prompts::monitor(self.desk, workflow, subtask, &order, attempt, complaint);
        self.judging(task, &order)
    }

    /// Has somebody run the new tests, which must fail.
    pub(super) fn gate(
        &self,
        workflow: &Workflow,
        subtask: &str,
        order: &Order,
        attempt: u32,
    ) -> Plan {
        let order = order.clone().with_verdict(self.desk, subtask);
        let task = prompts::gate(self.desk, workflow, subtask, &order, attempt);
        self.judging(task, &order)
    }

    fn judging(&self, task: AgentTask, order: &Order) -> Plan {
        let mut plan = self.agent(task, order);
        plan.steps.extend(order.verdict.as_ref().map(|path| Step {
            action: Action::Create {
                path: path.into(),
                contents: Vec::new(),
            },
            why: "a place for the verdict".to_owned(),
        }));
        plan
    }

    pub(super) fn agent(&self, task: AgentTask, order: &Order) -> Plan {
        let task = AgentTask {
            by_hand: order.by_hand(self.desk.world, task.task.as_deref()),
            seen: Some(order.to_line()),
            ..task
        };
        self.plan(Vec::new(), Then::Agent(task))
    }

    /// Closes a step that needs nobody.
    pub(super) fn close(&self, step: &str, why: &str) -> Result<Plan, Fault> {
        let close = Close {
            step: step.to_owned(),
            ..Close::default()
        };
        let reply = validate::validate(self.desk, &close)?;
        Ok(self.closed(&reply, why))
    }

    /// Writes what the state machine answered; what it refused is told.
    pub(super) fn closed(&self, reply: &Reply, why: &str) -> Plan {
        let mut steps = effects(reply.actions.clone(), why);
        let answer = object(reply);
        if let Some(warning) = answer.get("scope_warning") {
            let text = format!("Scope warning: {}\n", excerpt(&warning.to_line(), 1000));
            steps.push(says(text, "the state machine warns once"));
        }
        if reply.exit == 0 {
            return self.plan(steps, Then::Again);
        }
        let message = answer.text("message").unwrap_or("the step was refused");
        let hints = ["mend what it names, then run `rekindle resume` again"];
        self.plan(steps, stop(StopKind::Blocked, message, &hints))
    }

    /// The task of a workflow is not in its state, so somebody must have written it down.
    fn decompose(&self) -> Result<Plan, Fault> {
        if !blueprint::ids(self.desk)?.is_empty() {
            return self.close("1.0", "the blueprint is there");
        }
        if let Some(task) = prompts::decomposer(self.desk, 1, None) {
            return Ok(self.agent(task, &Order::new("1.0", Mode::Serial)));
        }
        let reason = "MAP does not keep the task of a workflow that is not yet decomposed, and there is neither a spec nor a plan to take it from";
        let hints =
            ["`/map-efficient \"task description\"` in your coding agent goes on from here"];
        Ok(self.plan(Vec::new(), stop(StopKind::Waiting, reason, &hints)))
    }

    fn write_plan(&self, workflow: &Workflow) -> Result<Plan, Fault> {
        if workflow.has_plan {
            return self.close("1.5", "the plan is there");
        }
        let Some(text) = rebuilt::plan(self.desk, workflow) else {
            return Err(Fault::new(
                "a plan is due, and blueprint.json names no subtask; write it, or start fresh",
            ));
        };
        let step = Step {
            action: Action::Create {
                path: self.desk.branch.plan().into(),
                contents: text.into_bytes(),
            },
            why: "the plan is written from the blueprint".to_owned(),
        };
        Ok(self.plan(vec![step], Then::Again))
    }

    fn review(&self, workflow: &Workflow) -> Result<Plan, Fault> {
        if workflow.state.get(key::PLAN_APPROVED).is_truthy() {
            return self.close("1.55", "the plan is approved");
        }
        let text = words::review(self.desk.branch, workflow);
        Ok(self.ask(text, questions::approval()))
    }

    fn take_up_contract(&self, workflow: &Workflow) -> Result<Plan, Fault> {
        let Some(subtask) = workflow.state.subtask() else {
            return Err(Fault::new(
                "a test contract is ready, and the state names no subtask",
            ));
        };
        let reply = contract::resume(self.desk, subtask)?;
        let answer = object(&reply);
        if answer.text("status") == Some("error") {
            let message = answer.text("message").unwrap_or_default();
            return Err(Fault::new(message));
        }
        let steps = effects(
            reply.actions,
            "the implementation begins from its test contract",
        );
        Ok(self.plan(steps, Then::Again))
    }

    fn blocked(&self, answer: &Object) -> Plan {
        let left = answer.get("blocked_subtasks").and_then(Json::as_list);
        let left: Vec<&str> = left
            .unwrap_or_default()
            .iter()
            .filter_map(Json::as_text)
            .collect();
        let reason = format!("{} wait for subtasks that are not done", left.join(", "));
        let hints = [
            "look at `dependencies` in blueprint.json and `subtask_results` in step_state.json",
            "`rekindle map record_subtask_result SUBTASK valid` records the result of a dependency that is missing",
        ];
        self.plan(Vec::new(), stop(StopKind::Blocked, &reason, &hints))
    }

    fn completed(&self, workflow: &Workflow) -> Result<Plan, Fault> {
        if !workflow.state.is(key::STATUS, WORKFLOW_COMPLETE) {
            let reply = completion::mark_workflow(self.desk)?;
            return Ok(self.closed(&reply, "nothing is left to do"));
        }
        let session = session::ended(self.desk, workflow, &self.log);
        let text = words::completion(self.desk.branch, workflow, &session);
        let steps = vec![says(
            format!("\n{text}"),
            "what the resume brought to its end",
        )];
        Ok(self.plan(steps, stop(StopKind::Done, "the workflow is complete", &[])))
    }

    /// The members of a wave one after the other: agents that share a checkout must not work at once.
    fn wave(&self, workflow: &Workflow) -> Result<Plan, Fault> {
        let Some(members) = waves::members(&workflow.state)? else {
            return self.after_waves(workflow);
        };
        let open = members.iter().find(|(_, step)| !step.is_text(COMPLETE));
        let Some((subtask, step)) = open else {
            let reply = waves::advance(self.desk)?;
            return Ok(self.closed(&reply, "the wave is through"));
        };
        let step = step.as_text().unwrap_or_default();
        self.dispatch(workflow, subtask, step, Mode::Wave)
    }

    /// The peer moves on from a wave whatever came of it, so each result is looked for.
    fn after_waves(&self, workflow: &Workflow) -> Result<Plan, Fault> {
        let done = workflow.state.done()?;
        let sequence = workflow.state.texts(key::SEQUENCE)?.into_iter();
        let left: Vec<String> = sequence.filter(|id| !done.contains(id)).collect();
        if !left.is_empty() {
            let records = left.iter().map(|id| {
                let id = shell_word(id);
                format!("`rekindle map record_subtask_result {id} valid`")
            });
            let records: Vec<String> = records.collect();
            return Err(Fault::new(format!(
                "all waves are through, and nothing says what came of {}; {} records it",
                left.join(", "),
                records.join(", ")
            )));
        }
        let steps = effects(waves::finish(self.desk)?, "all waves are through");
        Ok(self.plan(steps, Then::Again))
    }
}

/// Returns the last rejection of a subtask.
fn rejection(workflow: &Workflow, subtask: &str, mode: Mode) -> Result<Rejection, Fault> {
    let count = i64::from(prompts::retries(workflow, subtask, mode));
    Ok(Rejection::new(count, workflow.state.int(key::MAX_RETRIES)?))
}

/// Returns what a person is told of a subtask that was rejected more often than it may be.
fn exhausted(workflow: &Workflow, subtask: &str, mode: Mode) -> Result<Option<String>, Fault> {
    let verdict = RETRIES.decide(rejection(workflow, subtask, mode)?);
    Ok((*verdict == Retry::Exhausted).then(|| {
        let count = prompts::retries(workflow, subtask, mode);
        format!("{subtask} was rejected {count} times, which is more than the retries it has. Is it to be judged again?")
    }))
}

/// Returns whether the workflow was gone through in waves so far.
fn is_in_waves(state: &State) -> Result<bool, Fault> {
    if state.list(key::WAVES)?.is_empty() {
        return Ok(false);
    }
    let phases = state.map(key::SUBTASK_PHASES)?;
    let is_step = |id: &str| {
        phases
            .text(id)
            .is_some_and(|step| steps::phase(step).is_some())
    };
    let members = waves::members(state)?.unwrap_or_default();
    Ok(state.int(key::WAVE_INDEX)? > 0 || members.iter().any(|(id, _)| is_step(id)))
}

/// Returns the member of the current wave that comes next, with its phase; nothing outside of waves.
pub(super) fn in_wave(state: &State) -> Result<Option<(String, &'static str)>, Fault> {
    if !is_in_waves(state)? {
        return Ok(None);
    }
    let members = waves::members(state)?.unwrap_or_default().into_iter();
    let mut open = members.filter(|(_, step)| !step.is_text(COMPLETE));
    Ok(open.next().map(|(subtask, step)| {
        let phase = step.as_text().and_then(steps::phase).unwrap_or("ACTOR");
        (subtask, phase)
    }))
}

/// Returns the object of an answer.
pub(super) fn object(reply: &Reply) -> Object {
    match &reply.body {
        Body::Lines(object) | Body::Line(object) => object.clone(),
        Body::Text(_) => Object::new(),
    }
}
