//! What follows from what somebody who was sent off has left.

use rekindle_model::{Action, AgentTask, Ended, Plan, Step, StopKind, Then};
use rekindle_text::python_json::{Json, Object};
use rekindle_text::python_text::strip;
use rekindle_text::{excerpt, shell_word};

use super::go_on::object;
use super::order::{Mode, Order};
use super::plan::{Planner, effects, stop};
use super::prompts;
use super::read::Workflow;
use crate::blueprint;
use crate::boundary::Boundary;
use crate::documents;
use crate::fault::Fault;
use crate::machine::defer::Outcome;
use crate::machine::validate::{self, Close};
use crate::machine::{results, retry, waves};
use crate::monitor;
use crate::plan;
use crate::reply::Reply;
use crate::state::{State, key};
use crate::table::{self, Return, SETTLEMENTS, Settlement};

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
        let Some(step) = table::step(&order.step) else {
            return Ok(self.plan(Vec::new(), Then::Again));
        };
        let settlement = SETTLEMENTS.decide(Return {
            duty: step.duty,
            is_again: task.attempt > 1,
            is_due: is_due(&workflow.state, task, &order)?,
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
        let closed = workflow.state.entries(key::COMPLETED_STEPS);
        let last = closed.unwrap_or_default().pop().flatten();
        let last = last.unwrap_or("none");
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
        let hints = ["`rekindle resume` lets somebody try again"];
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
            if verdict.wants_a_person() {
                return Ok(self.escalated(subtask, order, &verdict));
            }
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
        let mut steps = effects(reply.actions.clone(), &why);
        steps.push(self.reviewed(subtask, feedback));
        if answer.text("status") == Some("retrying") {
            return self.plan(steps, Then::Again);
        }
        let message = answer.text("message").unwrap_or_default();
        let reason = format!(
            "{subtask} was rejected again: {message} The monitor says: {}",
            excerpt(&feedback.lines().collect::<Vec<_>>().join("; "), 500)
        );
        let close = format!(
            "mend it by hand; then `rekindle map mark_subtask_complete {} --kind done --reason TEXT` closes it",
            shell_word(subtask)
        );
        let hints = [
            close.as_str(),
            "or change its contract in plan and blueprint and answer `Start fresh` to `rekindle resume`",
        ];
        self.plan(steps, stop(StopKind::Blocked, &reason, &hints))
    }

    /// Keeps a rejection as a review, where MAP's briefing and its own skills look for it.
    fn reviewed(&self, subtask: &str, feedback: &str) -> Step {
        let (number, name) = documents::next_name(self.desk, "code-review");
        let about = format!("{}{subtask}", prompts::REVIEWED);
        let lines = feedback.lines().filter(|line| !strip(line).is_empty());
        let lines = lines.map(prompts::bulleted);
        let lines: Vec<String> = lines.collect();
        let contents = format!(
            "# Code Review {number:03}\n\n{about}\n\n{}\n",
            lines.join("\n")
        );
        Step {
            action: Action::Create {
                path: self.desk.branch.file(&name).into(),
                contents: contents.into_bytes(),
            },
            why: "what was rejected is kept as a review".to_owned(),
        }
    }

    /// The monitor said yes and asks for a person, who closes the step or sends it back.
    fn escalated(&self, subtask: &str, order: &Order, verdict: &Verdict) -> Plan {
        let reason = format!(
            "the monitor accepts {subtask} and wants a person to look at it: {}",
            excerpt(&verdict.summary(), 500)
        );
        let (accept, reject) = match order.mode {
            Mode::Serial => (
                "rekindle map validate_step 2.4 --recommendation proceed".to_owned(),
                "rekindle map monitor_failed --feedback TEXT".to_owned(),
            ),
            Mode::Wave => (
                format!("rekindle map validate_wave_step {subtask} 2.4"),
                format!("rekindle map wave_monitor_failed {subtask} --feedback TEXT"),
            ),
        };
        let accept = format!(
            "`rekindle map record_subtask_result {subtask} valid` and `{accept}` accept it"
        );
        let reject = format!("`{reject}` sends it back to the actor");
        let hints = [accept.as_str(), reject.as_str()];
        self.plan(Vec::new(), stop(StopKind::Blocked, &reason, &hints))
    }

    /// The monitor said yes: the result is kept, the step is closed, and the plan says so too.
    fn passed(
        &self,
        workflow: &Workflow,
        subtask: &str,
        order: &Order,
        verdict: &Verdict,
    ) -> Result<Plan, Fault> {
        let mut outcome = verdict.outcome();
        if outcome.files.is_empty() {
            // The state machine knows itself what differs from where the subtask began.
            let boundary = Boundary::read(self.desk, subtask).ok().flatten();
            outcome.files = boundary.map_or_else(Vec::new, |boundary| boundary.actual);
        }
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
    fn marked(&self, subtask: &str) -> Result<Vec<Step>, Fault> {
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
        Verdict::parse(&text)
            .map_err(|problem| format!("the verdict in `{path}` can not be used: {problem}"))
    }
}

/// Returns whether the state still is where it was when somebody was sent off: agents that know MAP
/// may have moved it by themselves, to another step or to another subtask.
fn is_due(state: &State, task: &AgentTask, order: &Order) -> Result<bool, Fault> {
    // A writer whose tests did not fail is sent off from the gate, and followed by it.
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

/// Returns a text without the code fence around it.
fn unfenced(text: &str) -> &str {
    let inner = || {
        let (_, inner) = strip(text).strip_prefix("```")?.split_once('\n')?;
        inner.strip_suffix("```")
    };
    inner().unwrap_or(text)
}

/// What a monitor recommends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Recommendation {
    Accept,
    Reject,
}

/// What a monitor, or a gate, has said.
struct Verdict {
    text: String,
    object: Object,
}

impl Verdict {
    fn parse(text: &str) -> Result<Self, String> {
        // The state machine takes an answer that may be cut off, so it insists on a brace at the end.
        let text = unfenced(text).to_owned();
        let object = monitor::envelope(&text)?;
        if !matches!(object.get("valid"), Some(Json::Bool(_))) {
            return Err("`valid` is neither true nor false".to_owned());
        }
        let verdict = Self { text, object };
        if verdict.recommendation().is_none() {
            return Err(format!(
                "`recommendation` is none of proceed, approve, {}",
                validate::REJECTING.join(", ")
            ));
        }
        Ok(verdict)
    }

    /// Returns whether the work passes; a doubtful recommendation counts more than a loose yes.
    fn is_clean(&self) -> bool {
        self.object.get("valid") == Some(&Json::Bool(true))
            && self.recommendation() == Some(Recommendation::Accept)
    }

    /// Returns what is recommended; `None` for a word that says neither this nor that.
    fn recommendation(&self) -> Option<Recommendation> {
        let word = match self.object.get("recommendation") {
            None | Some(Json::Null) => return Some(Recommendation::Accept),
            Some(word) => strip(word.as_text()?).to_lowercase(),
        };
        if validate::REJECTING.contains(&word.as_str()) {
            return Some(Recommendation::Reject);
        }
        let accepts = ["", "proceed", "approve"].contains(&word.as_str());
        accepts.then_some(Recommendation::Accept)
    }

    fn wants_a_person(&self) -> bool {
        self.object.get("escalation_required") == Some(&Json::Bool(true))
    }

    /// Returns what is wrong, one line each; never nothing, since the actor is told nothing else.
    fn feedback(&self) -> String {
        let mut lines = Vec::from_iter(Some(self.summary()).filter(|text| !text.is_empty()));
        let issues = match self.object.get("issues") {
            None | Some(Json::Null) => &[],
            Some(Json::List(issues)) => issues.as_slice(),
            Some(issue) => std::slice::from_ref(issue),
        };
        for issue in issues {
            let line = match (issue.as_text(), issue.as_object()) {
                (Some(text), _) => prompts::bulleted(text),
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
        if lines.is_empty() {
            let verdict = self.object.to_line();
            lines.push(format!("The verdict names no reason: {verdict}"));
        }
        let recommendation = self.object.text("recommendation");
        lines.extend(recommendation.map(|word| format!("Recommendation: {word}")));
        lines.join("\n")
    }

    fn summary(&self) -> String {
        match self.object.get("summary") {
            None | Some(Json::Null) => String::new(),
            Some(Json::Text(summary)) => summary.clone(),
            Some(summary) => summary.to_line(),
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verdict_passes_rejects_or_can_not_be_used() {
        let with = |more: &str| format!(r#"{{"valid": true, "summary": "s", "issues": []{more}}}"#);
        let is_clean = |text: &str| Verdict::parse(text).map(|verdict| verdict.is_clean()).ok();
        for (text, expected) in [
            (with(""), Some(true)),
            (with(r#", "recommendation": null"#), Some(true)),
            (with(r#", "recommendation": " Approve""#), Some(true)),
            (with(r#", "recommendation": "block""#), Some(false)),
            (with(r#", "recommendation": "banana""#), None),
            (with(r#", "recommendation": ["block"]"#), None),
            (with("").replace("true", "false"), Some(false)),
            (with("").replace("true", "\"true\""), None),
            (format!("```json\n{}\n```\n", with("")), Some(true)),
            (
                format!("```\n{}\n```", with("").replace("true", "false")),
                Some(false),
            ),
            (format!("{} done", with("")), None),
        ] {
            assert_eq!(is_clean(&text), expected, "{text}");
        }
    }

    #[test]
    fn feedback_is_never_nothing() {
        let feedback = |summary: &str, issues: &str| {
            let text = format!(r#"{{"valid": false, "summary": {summary}, "issues": {issues}}}"#);
            Verdict::parse(&text).map(|verdict| verdict.feedback())
        };
        for (summary, issues, expected) in [
            (r#""s""#, r#"["a"]"#, "s\n- a"),
            ("5", r#""all wrong""#, "5\n- all wrong"),
            ("null", r#"{"severity": "high", "title": "t"}"#, "- high: t"),
            (
                r#""""#,
                "[]",
                r#"The verdict names no reason: {"valid": false, "summary": "", "issues": []}"#,
            ),
        ] {
            assert_eq!(feedback(summary, issues), Ok(expected.to_owned()));
        }
    }
}
