//! The plans that were shown, so that a refusal can list the changes since.

use std::collections::{BTreeSet, VecDeque};
use std::sync::{Mutex, PoisonError};

use camino::Utf8PathBuf;
use rekindle_app::{Planned, Project, Readings};
use rekindle_model::Severity;
use rekindle_text::excerpt;
use rekindle_wire::{FindingOut, PlanOut, Proposal, StepOut, ThenOut, WorkflowOut};

/// How many plans are kept; a session has one or two at a time.
const MOST: usize = 16;
/// The most changes that are listed.
const MOST_CHANGES: usize = 12;
/// The most files that are named.
const MOST_FILES: usize = 5;

/// The plans that this server has shown, newest last.
#[derive(Debug, Default)]
pub(crate) struct Plans(Mutex<VecDeque<Shown>>);

/// A plan as it was shown.
#[derive(Debug, Clone)]
struct Shown {
    plan: PlanOut,
    workflow: Option<WorkflowOut>,
    readings: Readings,
    project: Utf8PathBuf,
}

impl Shown {
    fn of(project: &Project, planned: &Planned) -> Self {
        Self {
            plan: planned.object(),
            workflow: planned
                .assessment
                .chosen()
                .map(|summary| rekindle_wire::workflow(summary, summary.view.condition)),
            readings: planned.readings.clone(),
            project: project.folder.clone(),
        }
    }
}

impl Plans {
    /// Keeps a plan that is being shown, and returns it in short.
    pub(crate) fn show(&self, project: &Project, planned: &Planned) -> Proposal {
        let shown = Shown::of(project, planned);
        let proposal = proposal(planned, &shown);
        let mut plans = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        plans.retain(|known| known.plan.digest != proposal.digest);
        plans.push_back(shown);
        while plans.len() > MOST {
            plans.pop_front();
        }
        proposal
    }

    /// Returns the workflow of the plan with this digest, if it was shown.
    pub(crate) fn workflow(&self, digest: &str) -> Option<String> {
        let plans = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let shown = plans.iter().find(|shown| shown.plan.digest == digest);
        shown.map(|shown| shown.plan.id.clone())
    }

    /// Returns whether a plan with this digest was shown.
    pub(crate) fn is_known(&self, digest: &str) -> bool {
        self.workflow(digest).is_some()
    }

    /// Returns what is other in a plan than in the one with this digest, each a line.
    pub(crate) fn changes(&self, project: &Project, digest: &str, now: &Planned) -> Vec<String> {
        let plans = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let before = plans.iter().find(|shown| shown.plan.digest == digest);
        let Some(before) = before.cloned() else {
            return vec!["no plan with this digest was shown since this server started".to_owned()];
        };
        drop(plans);
        let mut changes = changes(&before, &Shown::of(project, now));
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
    changes.extend(files(before, now));
    changes
}

/// Names the files that have changed.
fn files(before: &Shown, now: &Shown) -> Option<String> {
    let changed = before.readings.differences(&now.readings);
    let named: Vec<String> = changed
        .iter()
        .take(MOST_FILES)
        .map(|path| {
            let path = path.strip_prefix(&now.project).unwrap_or(path);
            format!("`{}`", excerpt(path.as_str(), 200))
        })
        .collect();
    let more = match changed.len().saturating_sub(MOST_FILES) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    (!named.is_empty()).then(|| format!("changed: {}{more}", named.join(", ")))
}

/// Returns a plan in short, without the texts that a protocol prints when it is carried out.
fn proposal(planned: &Planned, shown: &Shown) -> Proposal {
    let Shown { plan, workflow, .. } = shown;
    let is_change = |step: &&StepOut| !matches!(step, StepOut::Print { .. });
    let workflow_line = workflow.as_ref().map_or_else(
        || plan.id.clone(),
        |one| {
            let total = one
                .total
                .map_or_else(|| "?".to_owned(), |total| total.to_string());
            format!(
                "{}: {}, {}, {}/{total} tasks",
                one.id, one.state, one.stage, one.done
            )
        },
    );
    let next = match (&plan.then, workflow) {
        (ThenOut::Again, Some(one)) => one.next.summary.clone(),
        (other, _) => then(other),
    };
    Proposal {
        schema: "rekindle.proposal/1",
        id: plan.id.clone(),
        digest: plan.digest.clone(),
        workflow: workflow_line,
        changes: plan.steps.iter().filter(is_change).map(change).collect(),
        unfinished: plan.unfinished.clone(),
        next,
        ahead: plan.ahead.clone(),
        question: match &plan.then {
            ThenOut::Ask(question) => Some(question.clone()),
            ThenOut::Agent(_)
            | ThenOut::Workers
            | ThenOut::Check { .. }
            | ThenOut::Again
            | ThenOut::Stop { .. } => None,
        },
        commands: plan.commands.clone(),
        findings: planned
            .assessment
            .findings
            .iter()
            .filter(|finding| finding.severity() >= Severity::Warning)
            .map(rekindle_wire::finding)
            .collect(),
        at_work: None,
        hints: match &plan.then {
            ThenOut::Stop { hints, .. } => hints.clone(),
            ThenOut::Agent(_)
            | ThenOut::Ask(_)
            | ThenOut::Workers
            | ThenOut::Check { .. }
            | ThenOut::Again => Vec::new(),
        },
    }
}

/// Returns a change with its file.
fn change(step: &StepOut) -> String {
    match step {
        StepOut::Append { log, why, .. } => format!("append to `{log}`: {why}"),
        StepOut::Create { .. }
        | StepOut::Edit { .. }
        | StepOut::MoveFolder { .. }
        | StepOut::MoveFile { .. }
        | StepOut::Land { .. }
        | StepOut::EndWorker { .. }
        | StepOut::AskHost { .. }
        | StepOut::Print { .. } => step_line(step),
    }
}

/// Returns what stands of a workflow in one line, value by value.
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
    shown.plan.steps.iter().map(step_line).collect()
}

fn step_line(step: &StepOut) -> String {
    match step {
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
    }
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
                outline: None,
                commands: Vec::new(),
            },
            workflow: Some(WorkflowOut {
                worked_on: None,
                id: "agent-memory:x".to_owned(),
                state: "interrupted".to_owned(),
                condition: "interrupted",
                waiting_until: None,
                stage: "phase 2".to_owned(),
                done,
                total: Some(3),
                last_activity: None,
                next: NextOut {
                    kind: "k".to_owned(),
                    summary: "s".to_owned(),
                },
            }),
            readings: Readings::default(),
            project: Utf8PathBuf::new(),
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
}
