//! What follows from the result of an agent.

use rekindle_map_machine::boundary::Boundary;
use rekindle_map_machine::commands::validate::{self, Close};
use rekindle_map_machine::commands::{results, retry, waves};
use rekindle_map_machine::reply::Reply;
use rekindle_map_machine::state::{State, key};
use rekindle_map_machine::table as machine_table;
use rekindle_map_machine::{Fault, blueprint, documents, task_plan};
use rekindle_model::{Action, AgentTask, Ended, Plan, Step, Stop, StopKind, Then};
use rekindle_text::python_text::strip;
use rekindle_text::{excerpt, shell_word};

use crate::order::{Mode, Order};
use crate::plan::{Planner, create, effects};
use crate::prompts::{self, Work};
use crate::read::Workflow;
use crate::table::{Return, SETTLEMENTS, Settlement};
use crate::verdict::Verdict;

/// The attempts at a step whose results could not be used.
const MOST_ATTEMPTS: u32 = 2;
/// The attempts at writing tests that fail.
const MOST_TESTS: u32 = 3;

/// The result of an agent: the subtask, the task and the order.
struct Returned<'a> {
    work: Work<'a>,
    task: &'a AgentTask,
    order: &'a Order,
}

impl Planner<'_> {
    pub(crate) fn settle(
        &self,
        workflow: &Workflow,
        task: &AgentTask,
        ended: &Ended,
    ) -> Result<Plan, Fault> {
        let Some(order) = task.seen.as_deref().and_then(Order::parse) else {
            return Ok(self.only(Then::Again));
        };
        if let Ended::Failed { reason } | Ended::CheckFailed { reason, .. } = ended {
            return Ok(self.failed(workflow, task, reason));
        }
        let Some(step) = machine_table::step(&order.step) else {
            return Ok(self.only(Then::Again));
        };
        let settlement = SETTLEMENTS.decide(Return {
            duty: step.duty,
            is_again: task.attempt > 1,
            is_due: is_due(&workflow.state, task, &order)?,
        });
        let back = Returned {
            work: self.work(workflow, task.task.as_deref().unwrap_or_default()),
            task,
            order: &order,
        };
        match settlement {
            // The state is at the gate already.
            Settlement::GateAgain => {
                let order = Order::new("2.26", order.mode);
                Ok(self.gate(back.work, &order, task.attempt))
            }
            Settlement::Again => Ok(self.only(Then::Again)),
            Settlement::Blueprint => self.settle_blueprint(task),
            Settlement::Research => self.settle_research(&back),
            Settlement::Gate => self.settle_gate(&back),
            Settlement::Judgment => self.settle_verdict(&back),
            Settlement::Closed => self.close_for(&back),
        }
    }

    /// Stops after a failed agent; the state is unchanged.
    fn failed(&self, workflow: &Workflow, task: &AgentTask, reason: &str) -> Plan {
        let text = |key| workflow.state.get(key).as_text().unwrap_or_default();
        let closed = workflow.state.entries(key::COMPLETED_STEPS);
        let last = closed.unwrap_or_default().pop().flatten();
        let reason = format!(
            "{}: {reason}; the state remains at step {} ({}), the last closed step is {}",
            task.summary,
            text(key::STEP),
            text(key::PHASE),
            last.unwrap_or("none")
        );
        let hints = [
            "`rekindle resume` tries again; if it fails again, read the agent's output above",
            "`rekindle explain AGENT_FAILED` explains more",
        ];
        self.stop(StopKind::Blocked, reason, &hints)
    }

    /// Closes the step of an agent.
    fn close_for(&self, back: &Returned<'_>) -> Result<Plan, Fault> {
        let (step, subtask) = (back.order.step.as_str(), back.work.subtask);
        let why = format!("the {} has finished {subtask}", back.task.role);
        match back.order.mode {
            Mode::Serial => self.close(step, &why),
            Mode::Wave => Ok(self.closed(&waves::validate(self.desk, subtask, step)?, &why)),
        }
    }

    fn settle_blueprint(&self, task: &AgentTask) -> Result<Plan, Fault> {
        if !blueprint::ids(self.desk)?.is_empty() {
            return self.close("1.0", "the blueprint exists");
        }
        let complaint = "blueprint.json has no subtask with an id such as ST-001";
        let again = prompts::decomposer(self.desk, task.attempt + 1, Some(complaint));
        Ok(match again.filter(|_| task.attempt < MOST_ATTEMPTS) {
            Some(again) => self.agent(again, &Order::new("1.0", Mode::Serial)),
            None => self.unusable(task, complaint),
        })
    }

    fn settle_research(&self, back: &Returned<'_>) -> Result<Plan, Fault> {
        let reply = validate::validate(self.desk, &Close::of(&back.order.step))?;
        if reply.exit == 0 {
            let why = format!("the research for {} is valid", back.work.subtask);
            return Ok(self.closed(&reply, &why));
        }
        let (complaint, attempt) = (reply.message(), back.task.attempt + 1);
        if back.task.attempt >= MOST_ATTEMPTS {
            return Ok(self.unusable(back.task, complaint));
        }
        let again = prompts::research(back.work, attempt, Some(complaint));
        Ok(self.agent(again, back.order))
    }

    fn unusable(&self, task: &AgentTask, complaint: &str) -> Plan {
        let reason = format!("{}: {}", task.summary, excerpt(complaint, 1000));
        self.stop(
            StopKind::Blocked,
            reason,
            &["`rekindle resume` tries again"],
        )
    }

    /// Has new tests that do not fail rewritten.
    fn settle_gate(&self, back: &Returned<'_>) -> Result<Plan, Fault> {
        let verdict = match self.verdict(back.order) {
            Ok(verdict) => verdict,
            Err(problem) => return Ok(self.unusable(back.task, &problem)),
        };
        if verdict.is_clean() {
            return self.close_for(back);
        }
        let (feedback, attempt) = (verdict.feedback(), back.task.attempt + 1);
        if back.task.attempt >= MOST_TESTS {
            return Ok(self.unusable(back.task, &feedback));
        }
        let again = prompts::test_writer(back.work, attempt, Some(&feedback));
        Ok(self.agent(again, &Order::new("2.25", back.order.mode)))
    }

    fn settle_verdict(&self, back: &Returned<'_>) -> Result<Plan, Fault> {
        let verdict = match self.verdict(back.order) {
            Ok(verdict) => verdict,
            Err(problem) if back.task.attempt < MOST_ATTEMPTS => {
                return Ok(self.monitor(
                    back.work,
                    back.order,
                    back.task.attempt + 1,
                    Some(&problem),
                ));
            }
            Err(problem) => return Ok(self.unusable(back.task, &problem)),
        };
        if verdict.is_clean() {
            if verdict.wants_a_person() {
                return Ok(self.escalated(back, &verdict));
            }
            return self.passed(back, &verdict);
        }
        let feedback = verdict.feedback();
        let reply = match back.order.mode {
            Mode::Serial => retry::monitor_failed(self.desk, &feedback)?,
            Mode::Wave => retry::wave_monitor_failed(self.desk, back.work.subtask, &feedback)?,
        };
        Ok(self.rejected(back.work.subtask, &reply, &feedback))
    }

    /// Sends a rejected subtask back to the actor, or stops for a person.
    fn rejected(&self, subtask: &str, reply: &Reply, feedback: &str) -> Plan {
        let why = format!("the monitor rejects {subtask}");
        let mut steps = effects(reply.actions.clone(), &why);
        steps.push(self.review(subtask, feedback));
        if reply.object().text("status") == Some("retrying") {
            return self.plan(steps, Then::Again);
        }
        let reason = format!(
            "{subtask} was rejected again: {} The monitor says: {}",
            reply.message(),
            excerpt(&feedback.lines().collect::<Vec<_>>().join("; "), 500)
        );
        let id = shell_word(subtask);
        let stop = Stop::new(StopKind::Blocked, reason)
            .hint(format!("fix it by hand; then `rekindle map mark_subtask_complete {id} --kind done --reason TEXT` closes it"))
            .hint("or change its contract in plan and blueprint and answer `Start fresh` to `rekindle resume`");
        self.plan(steps, stop)
    }

    /// Saves a rejection as a review, where MAP's briefing and its skills read it.
    fn review(&self, subtask: &str, feedback: &str) -> Step {
        let (number, name) = documents::next_name(self.desk, "code-review");
        let lines = feedback.lines().filter(|line| !strip(line).is_empty());
        let lines: Vec<String> = lines.map(prompts::bulleted).collect();
        let contents = format!(
            "# Code Review {number:03}\n\n{}{subtask}\n\n{}\n",
            prompts::REVIEWED,
            lines.join("\n")
        );
        let action = create(self.desk.branch.file(&name), contents);
        Step::new(action, "the rejection is saved as a review")
    }

    /// Stops where the monitor accepts a subtask and asks for a person.
    fn escalated(&self, back: &Returned<'_>, verdict: &Verdict) -> Plan {
        let subtask = back.work.subtask;
        let reason = format!(
            "the monitor accepts {subtask} and asks for a review by a person: {}",
            excerpt(&verdict.summary(), 500)
        );
        let (accept, reject) = match back.order.mode {
            Mode::Serial => (
                "validate_step 2.4 --recommendation proceed".to_owned(),
                "monitor_failed".to_owned(),
            ),
            Mode::Wave => (
                format!("validate_wave_step {subtask} 2.4"),
                format!("wave_monitor_failed {subtask}"),
            ),
        };
        let stop = Stop::new(StopKind::Blocked, reason)
            .hint(format!("`rekindle map record_subtask_result {subtask} valid` and `rekindle map {accept}` accept it"))
            .hint(format!("`rekindle map {reject} --feedback TEXT` sends it back to the actor"));
        self.only(stop)
    }

    /// Records the result of an accepted subtask, closes the step and updates the plan.
    fn passed(&self, back: &Returned<'_>, verdict: &Verdict) -> Result<Plan, Fault> {
        let (subtask, step) = (back.work.subtask, back.order.step.as_str());
        let mut outcome = verdict.outcome();
        if outcome.files.is_empty() {
            let boundary = Boundary::read(self.desk, subtask).ok().flatten();
            outcome.files = boundary.map_or_else(Vec::new, |boundary| boundary.actual);
        }
        let record = |state: &mut State| {
            results::put(self.desk, state, subtask, "valid", &outcome).map(drop)
        };
        let reply = match back.order.mode {
            Mode::Serial => {
                let close = Close {
                    recommendation: Some("proceed".to_owned()),
                    envelope: Some(verdict.text.clone()),
                    ..Close::of(step)
                };
                validate::validate_with(self.desk, &close, record)?
            }
            Mode::Wave => waves::validate_with(self.desk, subtask, step, record)?,
        };
        if reply.exit != 0 {
            // The state machine refuses once if no file was changed, and notes that in the state.
            let is_edit = |action: &Action| matches!(action, Action::Edit { .. });
            if !reply.actions.iter().any(is_edit) {
                return Ok(self.closed(&reply, "the step is refused"));
            }
            let mut again = self.monitor(back.work, back.order, 1, Some(reply.message()));
            let noted = effects(reply.actions.clone(), "no file was changed");
            again.steps.splice(0..0, noted);
            return Ok(again);
        }
        let mut plan = self.closed(&reply, &format!("the monitor accepts {subtask}"));
        plan.steps.extend(self.marked(subtask)?);
        Ok(plan)
    }

    /// Marks a subtask as complete in the plan, if its status line is found.
    fn marked(&self, subtask: &str) -> Result<Option<Step>, Fault> {
        let path = self.desk.branch.plan();
        let Some(before) = self.desk.bytes(&path)? else {
            return Ok(None);
        };
        let text = str::from_utf8(&before).ok();
        let after = text.and_then(|text| task_plan::with_status(text, subtask, "complete"));
        Ok(after.map(|after| {
            let (path, after) = (path.into(), after.into_bytes());
            let action = Action::Edit {
                path,
                before,
                after,
            };
            Step::new(action, format!("the plan marks {subtask} as complete"))
        }))
    }

    fn verdict(&self, order: &Order) -> Result<Verdict, String> {
        let path = order.verdict.as_deref().unwrap_or_default();
        let text = self.desk.text(path).map_err(|Fault(reason)| reason)?;
        Verdict::parse(&text.unwrap_or_default())
            .map_err(|problem| format!("the verdict in `{path}` cannot be used: {problem}"))
    }
}

/// Returns whether the state is still at the agent's step: agents that know MAP may have advanced it.
fn is_due(state: &State, task: &AgentTask, order: &Order) -> Result<bool, Fault> {
    // A test writer whose tests did not fail is started at the gate.
    let step = match order.step.as_str() {
        "2.25" if task.attempt > 1 => "2.26",
        step => step,
    };
    let subtask = task.task.as_deref();
    Ok(match order.mode {
        Mode::Serial => {
            state.is(key::STEP, step) && (subtask.is_none() || state.subtask() == subtask)
        }
        Mode::Wave => {
            let members = waves::members(state)?.unwrap_or_default();
            let mut members = members.iter();
            members.any(|(id, at)| subtask == Some(id.as_str()) && at.is_text(step))
        }
    })
}
