//! The next step: rekindle does what needs nobody, and starts an agent for the rest.
//!
//! Changes of the state machine are written first and the next round reads them, so an agent is only
//! started for a step that the state on disk has.

use rekindle_map_machine::commands::advance::BLOCKED;
use rekindle_map_machine::commands::validate::{self, Close};
use rekindle_map_machine::commands::{completion, contract, next, waves};
use rekindle_map_machine::reply::Reply;
use rekindle_map_machine::state::{COMPLETE, CONTRACT_READY, State, WORKFLOW_COMPLETE, key};
use rekindle_map_machine::steps::{CLEAN_RETRY, phase};
use rekindle_map_machine::table::{self, Duty, RETRIES, Rejection, Retry};
use rekindle_map_machine::{Fault, blueprint, layout, quarantine};
use rekindle_model::{AgentTask, Plan, Step, Stop, StopKind, Then};
use rekindle_text::python_json::{Json, Object};
use rekindle_text::{excerpt, shell_word};

use crate::order::{self, Mode, Order};
use crate::plan::{FIX, Planner, create, effects};
use crate::prompts::{self, Past, Work};
use crate::read::Workflow;
use crate::{messages, new_plan, questions, session};

impl Planner<'_> {
    /// Plans the next step of the state machine.
    pub(crate) fn go_on(&self, workflow: &Workflow) -> Result<Plan, Fault> {
        if is_in_waves(&workflow.state)? && !workflow.state.is(key::STATUS, WORKFLOW_COMPLETE) {
            return self.wave(workflow);
        }
        let reply = next::next(self.desk)?;
        if !reply.actions.is_empty() {
            let steps = effects(reply.actions, "the state machine advances");
            return Ok(self.plan(steps, Then::Again));
        }
        let answer = reply.object();
        match answer.text("step_id").unwrap_or_default() {
            COMPLETE => self.completed(workflow),
            CONTRACT_READY => self.resume_contract(workflow),
            BLOCKED => Ok(self.blocked(&answer)),
            step => match table::step(step).map(|step| step.duty) {
                Some(Duty::Decompose) => self.decompose(),
                Some(Duty::WritePlan) => self.write_plan(workflow),
                Some(Duty::Approve) => self.review_plan(workflow),
                Some(Duty::Close) => self.close(step, "the state takes the plan's subtasks"),
                Some(
                    Duty::Research
                    | Duty::WriteTests
                    | Duty::TestGate
                    | Duty::Implement
                    | Duty::Judge,
                )
                | None => self.start(workflow, step),
            },
        }
    }

    /// Starts an agent for a step of the current subtask.
    fn start(&self, workflow: &Workflow, step: &str) -> Result<Plan, Fault> {
        let state = &workflow.state;
        if let Some(subtask) = state.subtask() {
            return self.dispatch(self.work(workflow, subtask), step, Mode::Serial);
        }
        let index = usize::try_from(state.int(key::SUBTASK_INDEX)?).ok();
        let sequence = state.texts(key::SEQUENCE)?;
        let indexed = index.and_then(|index| sequence.get(index));
        let indexed = indexed.map(|id| {
            let id = excerpt(id, 80);
            format!("; `subtask_index` points to `{id}`")
        });
        Err(Fault::new(format!(
            "step {step} is next, but `current_subtask_id` of step_state.json names no subtask{}",
            indexed.unwrap_or_default()
        )))
    }

    fn dispatch(&self, work: Work<'_>, step: &str, mode: Mode) -> Result<Plan, Fault> {
        let subtask = work.subtask;
        if !order::is_plain(subtask) {
            return Err(Fault::new(format!(
                "`{subtask}` is not usable as a subtask id, because files are named after it"
            )));
        }
        let order = Order::new(step, mode);
        Ok(match table::step(step).map(|step| step.duty) {
            Some(Duty::Research) => self.agent(prompts::research(work, 1, None), &order),
            Some(Duty::WriteTests) => self.agent(prompts::test_writer(work, 1, None), &order),
            Some(Duty::TestGate) => self.gate(work, &order, 1),
            Some(Duty::Implement) => match self.breaker(work.workflow, mode)? {
                Some(text) => self.only(questions::breaker(text)),
                None => self.actor(work, &order)?,
            },
            Some(Duty::Judge) => match exhausted(work, mode)? {
                Some(text) => self.only(questions::exhausted(text)),
                None => self.monitor(work, &order, 1, None),
            },
            Some(Duty::Decompose | Duty::WritePlan | Duty::Approve | Duty::Close) | None => {
                return Err(Fault::new(format!(
                    "step `{step}` of the state cannot be carried out"
                )));
            }
        })
    }

    /// Starts an agent although the limit of attempts is reached.
    pub(crate) fn retry_anyway(&self, workflow: &Workflow) -> Result<Plan, Fault> {
        let state = &workflow.state;
        let (subtask, step, mode) = if is_in_waves(state)? {
            let (subtask, step) = open_member(state)?.unwrap_or_default();
            (Some(subtask), step, Mode::Wave)
        } else {
            let subtask = state.subtask().map(str::to_owned);
            (subtask, state.get(key::STEP).clone(), Mode::Serial)
        };
        let Some(subtask) = subtask else {
            return Ok(self.only(Then::Again));
        };
        let work = self.work(workflow, &subtask);
        match step.as_text() {
            Some("2.3") => self.actor(work, &Order::new("2.3", mode)),
            Some("2.4") => Ok(self.monitor(work, &Order::new("2.4", mode), 1, None)),
            _ => Ok(self.only(Then::Again)),
        }
    }

    pub(crate) fn work<'a>(&'a self, workflow: &'a Workflow, subtask: &'a str) -> Work<'a> {
        let desk = self.desk;
        Work {
            desk,
            workflow,
            subtask,
        }
    }

    /// Returns the question of the circuit breaker, if the workflow took more steps than expected.
    fn breaker(&self, workflow: &Workflow, mode: Mode) -> Result<Option<String>, Fault> {
        if mode == Mode::Wave || workflow.total() == 0 {
            return Ok(None);
        }
        let answer = next::circuit_breaker(self.desk)?.object();
        let number = |key: &str| answer.get(key).map_or_else(String::new, Json::to_line);
        Ok(answer.is_true("triggered").then(|| {
            format!(
                "The circuit breaker has tripped: the workflow took {} steps, and the limit for its size is {}. Should the actor try again?",
                number("tool_count"),
                number("max_iterations")
            )
        }))
    }

    fn actor(&self, work: Work<'_>, order: &Order) -> Result<Plan, Fault> {
        let (workflow, subtask) = (work.workflow, work.subtask);
        // A reopened subtask still has the status of its last retry, but its count starts again.
        let isolation = workflow.state.map(key::ISOLATION)?.text(subtask);
        let is_repeated = rejection(work, order.mode)?.is_repeated;
        if isolation != Some(CLEAN_RETRY) || !is_repeated {
            // Earlier findings are for the first subtask of the resume.
            let n_completed = session::ended(self.desk, workflow, &self.log).n_completed;
            let past = match n_completed {
                0 => Past::Known,
                _ => Past::OwnFeedback,
            };
            let task = prompts::actor(work, order.mode, &past);
            return Ok(self.agent(task, order));
        }
        let branch = self.desk.branch;
        let paths = workflow.state.map(key::QUARANTINES).ok();
        let path = paths.and_then(|paths| paths.text(subtask));
        let path = path.filter(|path| !path.is_empty()).map(str::to_owned);
        let path = path.unwrap_or_else(|| branch.file(layout::QUARANTINE));
        if !path.starts_with(&branch.file("")) || path.split('/').any(|part| part == "..") {
            return Err(Fault::new(format!(
                "the quarantine `{path}` of {subtask} is not in `.map/{branch}`"
            )));
        }
        // A clean retry depends on the quarantine alone, so it must be valid.
        let reply = quarantine::validate(self.desk, Some(&path))?;
        if reply.exit != 0 {
            let answer = reply.object();
            let errors: Vec<&str> = answer.texts("errors").take(5).collect();
            return Err(Fault::new(format!(
                "a clean retry of {subtask} needs a valid `{path}`: {}",
                errors.join("; ")
            )));
        }
        let entries = prompts::quarantine(self.desk, subtask, &path);
        if entries.is_empty() {
            return Err(Fault::new(format!(
                "a clean retry of {subtask} needs `{path}`, which has no entry for {subtask}"
            )));
        }
        let past = Past::Quarantine(path, entries);
        let task = prompts::actor(work, order.mode, &past);
        Ok(Plan {
            steps: effects(reply.actions, "the quarantine of failed attempts is valid"),
            ..self.agent(task, order)
        })
    }

    /// Starts the monitor, with a file for its verdict.
    pub(crate) fn monitor(
        &self,
        work: Work<'_>,
        order: &Order,
        attempt: u32,
        complaint: Option<&str>,
    ) -> Plan {
        let order = order.clone().with_verdict(self.desk, work.subtask);
        let task = prompts::monitor(work, &order, attempt, complaint);
        self.judge(task, &order)
    }

    /// Starts the gate, which runs the new tests.
    pub(crate) fn gate(&self, work: Work<'_>, order: &Order, attempt: u32) -> Plan {
        let order = order.clone().with_verdict(self.desk, work.subtask);
        let task = prompts::gate(work, &order, attempt);
        self.judge(task, &order)
    }

    fn judge(&self, task: AgentTask, order: &Order) -> Plan {
        let verdict = order.verdict.clone().map(|path| create(path, ""));
        Plan {
            steps: effects(Vec::from_iter(verdict), "a file for the verdict"),
            ..self.agent(task, order)
        }
    }

    pub(crate) fn agent(&self, task: AgentTask, order: &Order) -> Plan {
        self.only(AgentTask {
            by_hand: order.by_hand(self.desk.world, task.task.as_deref()),
            seen: Some(order.to_line()),
            ..task
        })
    }

    /// Closes a step that needs nobody.
    pub(crate) fn close(&self, step: &str, why: &str) -> Result<Plan, Fault> {
        let reply = validate::validate(self.desk, &Close::of(step))?;
        Ok(self.closed(&reply, why))
    }

    /// Writes the changes of the state machine, or stops with its refusal.
    pub(crate) fn closed(&self, reply: &Reply, why: &str) -> Plan {
        let mut steps = effects(reply.actions.clone(), why);
        if let Some(warning) = reply.object().get("scope_warning") {
            let text = format!("Scope warning: {}\n", excerpt(&warning.to_line(), 1000));
            steps.push(Step::print(text, "the state machine warns once"));
        }
        if reply.exit == 0 {
            return self.plan(steps, Then::Again);
        }
        let message = match reply.message() {
            "" => "the step was refused",
            message => message,
        };
        self.plan(steps, Stop::new(StopKind::Blocked, message).hint(FIX))
    }

    /// Has the task split; the state does not have the task, so it must be in a file.
    fn decompose(&self) -> Result<Plan, Fault> {
        if !blueprint::ids(self.desk)?.is_empty() {
            return self.close("1.0", "the blueprint exists");
        }
        if let Some(task) = prompts::decomposer(self.desk, 1, None) {
            return Ok(self.agent(task, &Order::new("1.0", Mode::Serial)));
        }
        let reason = "MAP does not save the task of a workflow before it is decomposed, and there is neither a spec nor a plan to read it from";
        let hint = "`/map-efficient \"task description\"` in your coding agent continues from here";
        Ok(self.stop(StopKind::Waiting, reason, &[hint]))
    }

    fn write_plan(&self, workflow: &Workflow) -> Result<Plan, Fault> {
        if workflow.has_plan {
            return self.close("1.5", "the plan exists");
        }
        let Some(text) = new_plan::plan(self.desk, workflow) else {
            return Err(Fault::new(
                "the plan cannot be written: blueprint.json names no subtask; write it, or start fresh",
            ));
        };
        let action = create(self.desk.branch.plan(), text);
        let step = Step::new(action, "the plan is written from the blueprint");
        Ok(self.plan(vec![step], Then::Again))
    }

    fn review_plan(&self, workflow: &Workflow) -> Result<Plan, Fault> {
        if workflow.state.get(key::PLAN_APPROVED).is_truthy() {
            return self.close("1.55", "the plan is approved");
        }
        let text = messages::review(self.desk.branch, workflow);
        let steps = vec![Step::print(text, "the plan to approve")];
        Ok(self.plan(steps, questions::approval()))
    }

    fn resume_contract(&self, workflow: &Workflow) -> Result<Plan, Fault> {
        let Some(subtask) = workflow.state.subtask() else {
            return Err(Fault::new(
                "a test contract is ready, but the state names no subtask",
            ));
        };
        let reply = contract::resume(self.desk, subtask)?;
        if reply.object().text("status") == Some("error") {
            return Err(Fault::new(reply.message()));
        }
        let why = "the implementation starts from its test contract";
        Ok(self.plan(effects(reply.actions, why), Then::Again))
    }

    fn blocked(&self, answer: &Object) -> Plan {
        let left: Vec<&str> = answer.texts("blocked_subtasks").collect();
        let reason = format!("{} wait for incomplete subtasks", left.join(", "));
        let hints = [
            "check `dependencies` in blueprint.json and `subtask_results` in step_state.json",
            "`rekindle map record_subtask_result SUBTASK valid` records a missing result of a dependency",
        ];
        self.stop(StopKind::Blocked, reason, &hints)
    }

    fn completed(&self, workflow: &Workflow) -> Result<Plan, Fault> {
        if !workflow.state.is(key::STATUS, WORKFLOW_COMPLETE) {
            let reply = completion::mark_workflow(self.desk)?;
            return Ok(self.closed(&reply, "nothing is left to do"));
        }
        let session = session::ended(self.desk, workflow, &self.log);
        let text = messages::completion(self.desk.branch, workflow, &session);
        let steps = vec![Step::print(
            format!("\n{text}"),
            "the summary of the resume",
        )];
        Ok(self.plan(steps, Stop::new(StopKind::Done, "the workflow is complete")))
    }

    /// Processes the members of a wave one by one, because agents share the checkout.
    fn wave(&self, workflow: &Workflow) -> Result<Plan, Fault> {
        if waves::members(&workflow.state)?.is_none() {
            return self.after_waves(workflow);
        }
        let Some((subtask, step)) = open_member(&workflow.state)? else {
            let reply = waves::advance(self.desk)?;
            return Ok(self.closed(&reply, "the wave is complete"));
        };
        let step = step.as_text().unwrap_or_default();
        self.dispatch(self.work(workflow, &subtask), step, Mode::Wave)
    }

    /// Checks every result, because MAP leaves a wave whatever its results are.
    fn after_waves(&self, workflow: &Workflow) -> Result<Plan, Fault> {
        let done = workflow.state.done()?;
        let mut left = workflow.state.texts(key::SEQUENCE)?;
        left.retain(|id| !done.contains(id));
        if !left.is_empty() {
            let command = |id: &String| {
                let id = shell_word(id);
                format!("`rekindle map record_subtask_result {id} valid`")
            };
            let commands: Vec<String> = left.iter().map(command).collect();
            return Err(Fault::new(format!(
                "all waves are complete, but there is no result of {}; record it with {}",
                left.join(", "),
                commands.join(", ")
            )));
        }
        let steps = effects(waves::finish(self.desk)?, "all waves are complete");
        Ok(self.plan(steps, Then::Again))
    }
}

/// Returns the last rejection of a subtask.
fn rejection(work: Work<'_>, mode: Mode) -> Result<Rejection, Fault> {
    let most = work.workflow.state.int(key::MAX_RETRIES)?;
    Ok(Rejection::new(i64::from(work.retries(mode)), most))
}

/// Returns the question about a subtask whose retries are used up.
fn exhausted(work: Work<'_>, mode: Mode) -> Result<Option<String>, Fault> {
    let verdict = RETRIES.decide(rejection(work, mode)?);
    let text = format!(
        "{} was rejected {} times, and its retries are used up. Should it be judged again?",
        work.subtask,
        work.retries(mode)
    );
    Ok((*verdict == Retry::Exhausted).then_some(text))
}

/// Returns whether the workflow is processed in waves.
fn is_in_waves(state: &State) -> Result<bool, Fault> {
    if state.list(key::WAVES)?.is_empty() {
        return Ok(false);
    }
    let phases = state.map(key::SUBTASK_PHASES)?;
    let is_step = |id: &str| phases.text(id).and_then(phase).is_some();
    let members = waves::members(state)?.unwrap_or_default();
    Ok(state.int(key::WAVE_INDEX)? > 0 || members.iter().any(|(id, _)| is_step(id)))
}

/// Returns the first incomplete member of the current wave with its step.
fn open_member(state: &State) -> Result<Option<(String, Json)>, Fault> {
    let mut members = waves::members(state)?.unwrap_or_default().into_iter();
    Ok(members.find(|(_, step)| !step.is_text(COMPLETE)))
}

/// Returns the next member of the current wave with its phase, if the workflow is in waves.
pub(crate) fn in_wave(state: &State) -> Result<Option<(String, &'static str)>, Fault> {
    if !is_in_waves(state)? {
        return Ok(None);
    }
    Ok(open_member(state)?.map(|(subtask, step)| {
        let phase = step.as_text().and_then(phase).unwrap_or("ACTOR");
        (subtask, phase)
    }))
}
