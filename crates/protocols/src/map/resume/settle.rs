//! What follows from what somebody who was sent off has left.

use rekindle_model::{Action, AgentTask, Ended, Plan, StopKind, Then};
use rekindle_text::excerpt;
use rekindle_text::python_json::{Json, Object};
use rekindle_text::python_text::strip;

use super::go_on::object;
use super::order::{Mode, Order};
use super::plan::{Planner, effects, stop};
use super::prompts;
use super::read::Workflow;
use crate::map::blueprint;
use crate::map::fault::Fault;
use crate::map::machine::defer::Outcome;
use crate::map::machine::validate::{self, Close};
use crate::map::machine::{results, retry, waves};
use crate::map::monitor;
use crate::map::plan;
use crate::map::reply::Reply;
use crate::map::state::{State, key};
use crate::map::table::{self, Return, SETTLEMENTS, Settlement};

/// How often somebody is sent off for the same step because what they left could not be used.
const MOST_ATTEMPTS: u32 = 2;
/// How often new tests are written because they did not fail.
const MOST_TESTS: u32 = 3;
/// The longest summary that a result keeps.
const LONGEST_SUMMARY: usize = 500;

impl Planner<'_> {
    pub(super) fn settle(
        &self,
        workflow: &Workflow,
        task: &AgentTask,
        ended: &Ended,
    ) -> Result<Plan, Fault> {
        let Some(order) = task.seen.as_deref().and_then(Order::parse) else {
            return Ok(self.plan(Vec::new(), Then::Again));
        };
        if let Ended::Failed { reason } | Ended::CheckFailed { reason, .. } = ended {
            return Ok(self.failed(workflow, task, reason));
        }
        let subtask = task.task.as_deref().unwrap_or_default();
        let is_due = match order.mode {
            Mode::Serial => workflow.state.is(key::STEP, &order.step),
            Mode::Wave => true,
        };
        let Some(step) = table::step(&order.step) else {
            return Ok(self.plan(Vec::new(), Then::Again));
        };
        let settlement = SETTLEMENTS.decide(Return {
            duty: step.duty,
            is_again: task.attempt > 1,
            is_due,
        });
        match settlement {
            // The state is at the gate already.
            Settlement::GateAgain => {
                let step = Order::new("2.26", order.mode);
                Ok(self.gate(workflow, subtask, &step, task.attempt))
            }
            Settlement::Again => Ok(self.plan(Vec::new(), Then::Again)),
            Settlement::Blueprint => self.settle_blueprint(task),
            Settlement::Research => self.settle_research(workflow, subtask, task, &order),
            Settlement::Gate => self.settle_gate(workflow, subtask, task, &order),
            Settlement::Judgment => self.settle_verdict(workflow, subtask, task, &order),
            Settlement::Closed => self.close_for(&order, subtask, task.role),
        }
    }

    /// The state is what it was; the person is told where that is.
    fn failed(&self, workflow: &Workflow, task: &AgentTask, reason: &str) -> Plan {
        let word = |key| workflow.state.get(key).as_text().unwrap_or_default();
        let closed = workflow
            .state
            .texts(key::COMPLETED_STEPS)
            .unwrap_or_default();
        let last = closed.last().map_or("none", String::as_str);
        let reason = format!(
            "{}: {reason}; the state is kept at step {} ({}), the last step that was closed is {last}",
            task.summary,
            word(key::STEP),
            word(key::PHASE)
        );
        let hints = [
            "`rekindle resume` tries again; if it fails again, look at what the agent printed above",
            "`rekindle explain AGENT_FAILED` tells more",
        ];
        self.plan(Vec::new(), stop(StopKind::Blocked, &reason, &hints))
    }

    /// Closes the step that somebody was sent off for.
    fn close_for(&self, order: &Order, subtask: &str, role: &str) -> Result<Plan, Fault> {
        let why = format!("the {role} is done with {subtask}");
        match order.mode {
            Mode::Serial => self.close(&order.step, &why),
            Mode::Wave => {
                let reply = waves::validate(self.desk, subtask, &order.step)?;
                Ok(self.closed(&reply, &why))
            }
        }
    }

    fn settle_blueprint(&self, task: &AgentTask) -> Result<Plan, Fault> {
        if !blueprint::ids(self.desk)?.is_empty() {
            return self.close("1.0", "the blueprint is there");
        }
        let complaint = "blueprint.json has no subtask with an id such as ST-001";
        let again = prompts::decomposer(self.desk, task.attempt + 1, Some(complaint));
        match again.filter(|_| task.attempt < MOST_ATTEMPTS) {
            Some(again) => Ok(self.agent(again, &Order::new("1.0", Mode::Serial))),
            None => Ok(self.unusable(task, complaint)),
        }
    }

    fn settle_research(
        &self,
        workflow: &Workflow,
        subtask: &str,
        task: &AgentTask,
        order: &Order,
    ) -> Result<Plan, Fault> {
        let close = Close {
            step: order.step.clone(),
            ..Close::default()
        };
        let reply = validate::validate(self.desk, &close)?;
        if reply.exit == 0 {
            return Ok(self.closed(&reply, &format!("the research for {subtask} holds")));
        }
        let answer = object(&reply);
        let complaint = answer.text("message").unwrap_or_default();
        if task.attempt >= MOST_ATTEMPTS {
            return Ok(self.unusable(task, complaint));
        }
        let attempt = task.attempt + 1;
        let again = prompts::research(self.desk, workflow, subtask, attempt, Some(complaint));
        Ok(self.agent(again, order))
    }

    fn unusable(&self, task: &AgentTask, complaint: &str) -> Plan {
        let reason = format!("{}: {}", task.summary, excerpt(complaint, 1000));
        let hints = ["mend it by hand or let somebody try again with `rekindle resume`"];
        self.plan(Vec::new(), stop(StopKind::Blocked, &reason, &hints))
    }

    /// New tests must fail; those that do not are written anew.
    fn settle_gate(
        &self,
        workflow: &Workflow,
        subtask: &str,
        task: &AgentTask,
        order: &Order,
    ) -> Result<Plan, Fault> {
        let verdict = match self.verdict(order) {
            Ok(verdict) => verdict,
            Err(problem) => return Ok(self.unusable(task, &problem)),
        };
        if verdict.is_clean() {
            return self.close_for(order, subtask, task.role);
        }
        let feedback = verdict.feedback();
        if task.attempt >= MOST_TESTS {
            return Ok(self.unusable(task, &feedback));
        }
        let attempt = task.attempt + 1;
        let again = prompts::test_writer(self.desk, workflow, subtask, attempt, Some(&feedback));
        Ok(self.agent(again, &Order::new("2.25", order.mode)))
    }

    fn settle_verdict(
        &self,
        workflow: &Workflow,
        subtask: &str,
        task: &AgentTask,
        order: &Order,
    ) -> Result<Plan, Fault> {
        let verdict = match self.verdict(order) {
            Ok(verdict) => verdict,
            Err(problem) if task.attempt < MOST_ATTEMPTS => {
                let attempt = task.attempt + 1;
                return Ok(self.monitor(workflow, subtask, order, attempt, Some(&problem)));
            }
            Err(problem) => return Ok(self.unusable(task, &problem)),
        };
        if verdict.is_clean() {
            return self.passed(workflow, subtask, order, &verdict);
        }
        let feedback = verdict.feedback();
        let reply = match order.mode {
            Mode::Serial => retry::monitor_failed(self.desk, &feedback)?,
            Mode::Wave => retry::wave_monitor_failed(self.desk, subtask, &feedback)?,
        };
        Ok(self.rejected(subtask, &reply, &feedback))
    }

    /// The monitor said no: the actor tries again, or a person is needed.
    fn rejected(&self, subtask: &str, reply: &Reply, feedback: &str) -> Plan {
        let answer = object(reply);
        let why = format!("the monitor rejects {subtask}");
        let steps = effects(reply.actions.clone(), &why);
        if answer.text("status") == Some("retrying") {
            return self.plan(steps, Then::Again);
        }
        let message = answer.text("message").unwrap_or_default();
        let reason = format!(
            "{subtask} was rejected again: {message} The monitor says: {}",
            excerpt(feedback, 500)
        );
        let hints = [
            "mend it by hand; then `rekindle map mark_subtask_complete ID --kind done --reason TEXT` closes it",
            "or change its contract in plan and blueprint and answer `Start fresh` to `rekindle resume`",
        ];
        self.plan(steps, stop(StopKind::Blocked, &reason, &hints))
    }

    /// The monitor said yes: the result is kept, the step is closed, and the plan says so too.
    fn passed(
        &self,
        workflow: &Workflow,
        subtask: &str,
        order: &Order,
        verdict: &Verdict,
    ) -> Result<Plan, Fault> {
        let outcome = verdict.outcome();
        let record = |state: &mut State| {
            results::put(self.desk, state, subtask, "valid", &outcome).map(drop)
        };
        let reply = match order.mode {
            Mode::Serial => {
                let close = Close {
                    step: order.step.clone(),
                    recommendation: Some("proceed".to_owned()),
                    envelope: Some(verdict.text.clone()),
                    ..Close::default()
                };
                validate::validate_with(self.desk, &close, record)?
            }
            Mode::Wave => waves::validate_with(self.desk, subtask, &order.step, record)?,
        };
        if reply.exit != 0 {
            // Refused once: nothing was changed although files were to be. The monitor is told.
            let saved = effects(reply.actions.clone(), "that no file was changed is noted");
            let is_noted = saved
                .iter()
                .any(|step| matches!(step.action, Action::Edit { .. }));
            let answer = object(&reply);
            let complaint = answer.text("message").unwrap_or_default();
            if !is_noted {
                return Ok(self.closed(&reply, "the step is refused"));
            }
            let mut again = self.monitor(workflow, subtask, order, 1, Some(complaint));
            again.steps.splice(0..0, saved);
            return Ok(again);
        }
        let mut plan = self.closed(&reply, &format!("the monitor accepts {subtask}"));
        plan.steps.extend(self.marked(subtask)?);
        Ok(plan)
    }

    /// Marks a subtask as complete in the plan, where its status can be found.
    fn marked(&self, subtask: &str) -> Result<Vec<rekindle_model::Step>, Fault> {
        let path = self.desk.branch.plan();
        let Some(bytes) = self.desk.bytes(&path)? else {
            return Ok(Vec::new());
        };
        let marked = str::from_utf8(&bytes)
            .ok()
            .and_then(|text| plan::with_status(text, subtask, "complete"));
        let action = marked.map(|text| Action::Edit {
            path: path.into(),
            before: bytes,
            after: text.into_bytes(),
        });
        let why = format!("the plan says that {subtask} is complete");
        Ok(effects(action.into_iter().collect(), &why))
    }

    fn verdict(&self, order: &Order) -> Result<Verdict, String> {
        let path = order.verdict.as_deref().unwrap_or_default();
        let text = match self.desk.text(path) {
            Ok(text) => text.unwrap_or_default(),
            Err(Fault(reason)) => return Err(reason),
        };
        let object = monitor::envelope(&text)
            .map_err(|problem| format!("the verdict in `{path}` can not be used: {problem}"))?;
        match object.get("valid") {
            Some(Json::Bool(_)) => Ok(Verdict { text, object }),
            Some(_) | None => Err(format!("`valid` in `{path}` is neither true nor false")),
        }
    }
}

/// What a monitor, or a gate, has said.
struct Verdict {
    text: String,
    object: Object,
}

impl Verdict {
    /// Returns whether the work passes; a doubtful recommendation counts more than a loose yes.
    fn is_clean(&self) -> bool {
        let recommendation = self.object.text("recommendation").map(strip);
        let recommendation = recommendation.unwrap_or_default().to_lowercase();
        self.object.get("valid") == Some(&Json::Bool(true))
            && !validate::REJECTING.contains(&recommendation.as_str())
    }

    /// Returns what is wrong, one line each.
    fn feedback(&self) -> String {
        let mut lines = vec![self.summary()];
        let issues = self.object.get("issues").and_then(Json::as_list);
        for issue in issues.unwrap_or_default() {
            let line = match (issue.as_text(), issue.as_object()) {
                (Some(text), _) => format!("- {text}"),
                (None, Some(issue)) => {
                    let severity = issue.text("severity").unwrap_or("issue");
                    let said = ["description", "message", "issue", "title"];
                    let said = said.iter().find_map(|key| issue.text(key));
                    let said = said.map_or_else(|| issue.to_line(), str::to_owned);
                    format!("- {severity}: {said}")
                }
                (None, None) => format!("- {}", issue.to_line()),
            };
            lines.push(line);
        }
        let recommendation = self.object.text("recommendation");
        lines.extend(recommendation.map(|word| format!("Recommendation: {word}")));
        lines.join("\n")
    }

    fn summary(&self) -> String {
        self.object.text("summary").unwrap_or_default().to_owned()
    }

    fn outcome(&self) -> Outcome {
        let files = self.object.get("files_changed").and_then(Json::as_list);
        let files = files.unwrap_or_default().iter().filter_map(Json::as_text);
        Outcome {
            files: files.map(str::to_owned).collect(),
            summary: excerpt(&self.summary(), LONGEST_SUMMARY),
            commit: None,
        }
    }
}
