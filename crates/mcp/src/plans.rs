//! The plans that were shown, so that a refusal can list the changes since.

use std::collections::{BTreeSet, VecDeque};
use std::sync::{Mutex, PoisonError};

use rekindle_app::Planned;
use rekindle_wire::{FindingOut, PlanOut, StepOut, ThenOut, WorkflowOut};

/// How many plans are kept; a session has one or two at a time.
const MOST: usize = 16;
/// The most changes that are listed.
const MOST_CHANGES: usize = 12;

/// The plans that this server has shown, newest last.
#[derive(Debug, Default)]
pub(crate) struct Plans(Mutex<VecDeque<Shown>>);

/// A plan as it was shown.
#[derive(Debug, Clone)]
struct Shown {
    plan: PlanOut,
    workflow: Option<WorkflowOut>,
}

impl Shown {
    fn of(planned: &Planned) -> Self {
        Self {
            plan: planned.object(),
            workflow: planned.assessment.chosen().map(rekindle_wire::workflow),
        }
    }
}

impl Plans {
    /// Stores a plan and returns its object.
    pub(crate) fn show(&self, planned: &Planned) -> PlanOut {
        let shown = Shown::of(planned);
        let plan = shown.plan.clone();
        let mut plans = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        plans.retain(|known| known.plan.digest != plan.digest);
        plans.push_back(shown);
        while plans.len() > MOST {
            plans.pop_front();
        }
        plan
    }

    /// Returns the differences from the plan with this digest, one line each.
    pub(crate) fn changes(&self, digest: &str, now: &Planned) -> Vec<String> {
        let plans = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let before = plans.iter().find(|shown| shown.plan.digest == digest);
        let Some(before) = before.cloned() else {
            return vec!["no plan with this digest was shown since this server started".to_owned()];
        };
        drop(plans);
        let mut changes = changes(&before, &Shown::of(now));
        let rest = changes.len().saturating_sub(MOST_CHANGES);
        changes.truncate(MOST_CHANGES);
        if rest > 0 {
            changes.push(format!("and {rest} more changes"));
        }
        changes
    }
}

fn changes(before: &Shown, now: &Shown) -> Vec<String> {
    let mut changes = Vec::new();
    for ((name, was), (_, is)) in values(before).into_iter().zip(values(now)) {
        if was != is {
            changes.push(format!("{name} was {was}, is {is}"));
        }
    }
    for (name, lines) in [
        ("finding", [before, now].map(findings)),
        ("step", [before, now].map(steps)),
    ] {
        let [was, is] = lines;
        changes.extend(
            is.difference(&was)
                .map(|line| format!("new {name}: {line}")),
        );
        let gone = was.difference(&is);
        changes.extend(gone.map(|line| format!("gone: {name}: {line}")));
    }
    if changes.is_empty() {
        changes.push(
            "the files that the plan was made from have changed, but its steps have not".to_owned(),
        );
    }
    changes
}

/// Returns the values of a workflow that a change is reported for.
fn values(shown: &Shown) -> Vec<(&'static str, String)> {
    let plan = &shown.plan;
    let mut values = vec![("the workflow", plan.id.clone())];
    let workflow = shown.workflow.as_ref();
    let of = |value: &dyn Fn(&WorkflowOut) -> String| {
        workflow.map_or_else(|| "unknown".to_owned(), value)
    };
    let or_unknown = |value: Option<String>| value.unwrap_or_else(|| "unknown".to_owned());
    values.push(("the state", of(&|workflow| workflow.state.clone())));
    values.push(("the stage", of(&|workflow| workflow.stage.clone())));
    values.push((
        "the number of finished tasks",
        of(&|workflow| workflow.done.to_string()),
    ));
    values.push((
        "the number of tasks",
        of(&|workflow| or_unknown(workflow.total.map(|total| total.to_string()))),
    ));
    values.push((
        "the last activity",
        of(&|workflow| or_unknown(workflow.last_activity.clone())),
    ));
    values.push((
        "the next action",
        of(&|workflow| workflow.next.summary.clone()),
    ));
    values.push(("what follows", then(&plan.then)));
    values
}

fn then(then: &ThenOut) -> String {
    match then {
        ThenOut::Agent(agent) => agent.summary.clone(),
        ThenOut::Ask(question) => question.text.clone(),
        ThenOut::Workers => "workers start the ready tasks".to_owned(),
        ThenOut::Check { of, .. } => format!("the check of {of}"),
        ThenOut::Again => "the next step".to_owned(),
        ThenOut::Stop { reason, .. } => reason.clone(),
    }
}

fn findings(shown: &Shown) -> BTreeSet<String> {
    let line = |finding: &FindingOut| format!("{}: {}", finding.code, finding.message);
    shown.plan.findings.iter().map(line).collect()
}

/// Returns the steps without records and texts, which change with the time.
fn steps(shown: &Shown) -> BTreeSet<String> {
    let line = |step: &StepOut| match step {
        StepOut::Append { why, .. } => format!("an event: {why}"),
        StepOut::Create { path, why } => format!("create `{path}`: {why}"),
        StepOut::Edit { path, why, .. } => format!("change `{path}`: {why}"),
        StepOut::MoveFolder { from, to, why } | StepOut::MoveFile { from, to, why } => {
            format!("move `{from}` to `{to}`: {why}")
        }
        StepOut::Land { subject, why, .. } => format!("commit `{subject}`: {why}"),
        StepOut::EndWorker { task, why } => format!("end the worker of {task}: {why}"),
        StepOut::AskHost { who, what, why } => format!("send `{what}` to {who}: {why}"),
        StepOut::Print { why, .. } => format!("print {why}"),
    };
    shown.plan.steps.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use rekindle_wire::NextOut;

    use super::*;

    fn shown(done: usize, steps: &[&str], findings: &[&str]) -> Shown {
        Shown {
            plan: PlanOut {
                schema: "rekindle.plan/1",
                id: "agent-memory:x".to_owned(),
                digest: "d".to_owned(),
                findings: findings.iter().map(|code| finding(code)).collect(),
                unfinished: Vec::new(),
                steps: steps
                    .iter()
                    .map(|why| StepOut::Append {
                        log: "l".to_owned(),
                        record: format!("at {done}"),
                        why: (*why).to_owned(),
                    })
                    .collect(),
                then: ThenOut::Again,
                ahead: Vec::new(),
                commands: Vec::new(),
            },
            workflow: Some(WorkflowOut {
                id: "agent-memory:x".to_owned(),
                state: "interrupted".to_owned(),
                stage: "phase 2".to_owned(),
                done,
                total: Some(3),
                last_activity: None,
                next: NextOut {
                    kind: "k".to_owned(),
                    summary: "s".to_owned(),
                },
            }),
        }
    }

    fn finding(code: &str) -> FindingOut {
        FindingOut {
            code: code.to_owned(),
            severity: "warning".to_owned(),
            message: "m".to_owned(),
            place: None,
            hint: None,
        }
    }

    #[test]
    fn new_removed_and_different_values_are_distinguished() {
        let before = shown(1, &["a", "b"], &["X"]);
        let now = shown(2, &["b", "c"], &["Y"]);
        assert_eq!(
            changes(&before, &now),
            [
                "the number of finished tasks was 1, is 2",
                "new finding: Y: m",
                "gone: finding: X: m",
                "new step: an event: c",
                "gone: step: an event: a",
            ]
        );
    }

    #[test]
    fn a_change_that_does_not_show_is_described_as_one() {
        let same = shown(1, &["a"], &[]);
        assert_eq!(
            changes(&same, &same),
            ["the files that the plan was made from have changed, but its steps have not"]
        );
    }
}
