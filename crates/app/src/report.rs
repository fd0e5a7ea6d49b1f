//! Events and checkpoints that workers, scripts and people report.

use camino::Utf8PathBuf;
use rekindle_model::{Action, Checkpoint, Intent, Plan, Report, Step, Stop, Then, WorkflowId};
use rekindle_protocol::capability::CheckpointList;
use rekindle_runner::{Output, Runner};

use crate::at_work::refuse_beside;
use crate::choose::{chosen, inspect_world};
use crate::inspect::{explain, plan_world};
use crate::{Error, Face, News, Outcome, Project, Query, Resumed};

/// What was recorded, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recorded {
    /// The workflow.
    pub id: WorkflowId,
    /// The log or document, relative to the project.
    pub log: Utf8PathBuf,
    /// The line.
    pub record: String,
    /// Remarks for the reporter, one sentence each.
    pub notes: Vec<String>,
    /// The finished steps of an interrupted command, one sentence each.
    pub finished: Vec<String>,
}

/// Appends an event to a workflow's log.
///
/// An event of a task that the workflow does not have is refused.
pub fn event(project: &Project, query: &Query, report: Report) -> Result<Recorded, Error> {
    record(project, query, &Intent::Report(report))
}

/// Appends an event that an agent reports from inside its session.
///
/// It is refused beside a rekindle that is at work on the workflow and did not start the agent, and
/// where it lacks what its readers need: a model can be asked again, a script cannot.
pub fn event_of_agent(project: &Project, query: &Query, report: Report) -> Result<Recorded, Error> {
    let id = plan_world(&project.world(), query, &Intent::Open)?.plan.id;
    refuse_beside(project, &id)?;
    if let Some(missing) = missing(&report) {
        let event = report.event;
        return Err(Error::DetailsNeeded { event, missing });
    }
    event(project, query, report)
}

/// Returns what an event lacks, without which nobody could act on it.
fn missing(report: &Report) -> Option<&'static str> {
    let details = report.details.as_deref().unwrap_or("{}");
    let details: serde_json::Value = serde_json::from_str(details).unwrap_or_default();
    let says = |key: &str| {
        let value = &details[key];
        let text = value.as_str().map(str::trim);
        text.map_or(!value.is_null(), |text| !text.is_empty())
    };
    match report.event.to_ascii_lowercase().replace('-', "_").as_str() {
        "phase_transition" if !says("to_phase") => Some("`to_phase`"),
        "task_failed" | "task_blocked" | "task_verification_failed"
            if !says("reason") && !says("error") =>
        {
            Some("a `reason`")
        }
        _ => None,
    }
}

/// Makes a checkpoint.
pub fn checkpoint(project: &Project, query: &Query, note: String) -> Result<Recorded, Error> {
    record(project, query, &Intent::Checkpoint { note })
}

/// The checkpoints of a workflow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Timeline {
    /// The workflow.
    pub id: WorkflowId,
    /// Oldest first.
    pub checkpoints: Vec<Checkpoint>,
    /// The list in the protocol's own words, if it has them.
    pub words: Option<String>,
}

/// Lists the checkpoints of a workflow.
pub fn checkpoints(project: &Project, query: &Query) -> Result<Timeline, Error> {
    let inspected = inspect_world(&project.world(), query)?;
    let kept = inspected.case.checkpoints();
    Ok(Timeline {
        id: chosen(&inspected, query)?,
        checkpoints: kept.map(CheckpointList::list).unwrap_or_default(),
        words: kept.and_then(CheckpointList::timeline),
    })
}

/// Archives old parts of a workflow's record, if the person agrees; they are kept in a file.
pub fn archive(
    project: &Project,
    query: &Query,
    yes: bool,
    face: &mut dyn Face,
) -> Result<Resumed, Error> {
    let look = || {
        let inspected = inspect_world(&project.world(), query)?;
        let protocol = inspected.protocol;
        chosen(&inspected, query)?;
        let option = "--archive";
        let plan = inspected.case.checkpoints();
        let plan = plan.and_then(CheckpointList::archive);
        plan.ok_or(Error::NotOffered { protocol, option })
    };
    let planned = look()?;
    let id = planned.id.clone();
    let ended = |(outcome, finished): (Outcome, Vec<String>)| Resumed {
        finished,
        ..Resumed::plain(Some(id.clone()), outcome)
    };
    if planned.steps.is_empty() {
        return Ok(ended((stopped(planned.then), Vec::new())));
    }
    let unfinished = project.state().unfinished(&id)?;
    if !yes && !face.agree(&deeds(&unfinished, &planned.steps)).given()? {
        return Ok(ended((Outcome::Declined, Vec::new())));
    }
    carry_out(project, &id, "archive", || look().map(Some), face).map(ended)
}

/// Returns the question to a person: first the unfinished steps of an interrupted command.
pub(crate) fn deeds(unfinished: &[String], steps: &[Step]) -> String {
    let first = unfinished.iter();
    let first = first.map(|line| format!("  - {line} (from an interrupted command)"));
    let deeds: Vec<String> = first.chain(steps.iter().map(deed)).collect();
    format!("This will:\n{}", deeds.join("\n"))
}

fn deed(step: &Step) -> String {
    let path = match &step.action {
        Action::Create { path, .. } | Action::Edit { path, .. } => path.as_str(),
        Action::Append { log, .. } => log.as_str(),
        Action::MoveFolder { from, .. } | Action::MoveFile { from, .. } => from.as_str(),
        Action::Land(_) | Action::EndWorker { .. } | Action::AskHost { .. } | Action::Print(_) => {
            ""
        }
    };
    format!("  - {path}: {}", step.why)
}

fn stopped(then: Then) -> Outcome {
    let nothing = || Stop {
        kind: rekindle_model::StopKind::Done,
        reason: String::new(),
        hints: Vec::new(),
    };
    match then {
        Then::Stop(stop) => Outcome::Stopped(stop),
        Then::Agent(_) | Then::Ask(_) | Then::Workers | Then::Check(_) | Then::Again => {
            Outcome::Stopped(nothing())
        }
    }
}

/// Takes the lock, finishes interrupted steps, makes a new plan and applies it.
///
/// Also returns what was finished, one line each.
pub(crate) fn carry_out(
    project: &Project,
    id: &WorkflowId,
    purpose: &str,
    plan: impl Fn() -> Result<Option<Plan>, Error>,
    face: &mut dyn Face,
) -> Result<(Outcome, Vec<String>), Error> {
    let (mut runner, recovered) = Runner::open(
        &project.state(),
        id,
        &format!("{purpose} {id}"),
        project.now(),
        project.reach(Vec::new()),
    )
    .map_err(|error| Error::from_run(id, error))?;
    if recovered != rekindle_runner::Recovered::default() {
        face.tell(&News::Recovered(&recovered));
    }
    let finished = crate::records::finished(&recovered);
    let Some(plan) = plan()? else {
        return Ok((Outcome::Nothing, finished));
    };
    runner
        .apply(&plan.steps, project.now(), face)
        .map_err(Error::Run)?;
    Ok((stopped(plan.then), finished))
}

fn record(project: &Project, query: &Query, intent: &Intent) -> Result<Recorded, Error> {
    struct Silent;
    impl Output for Silent {
        fn print(&mut self, _: &str) {}
    }

    let planned = plan_world(&project.world(), query, intent)?;
    let id = planned.plan.id.clone();
    if let (true, Then::Stop(stop)) = (planned.plan.steps.is_empty(), &planned.plan.then) {
        let reasons = vec![stop.reason.clone()];
        return Err(Error::Blocked { id, reasons });
    }
    if let Intent::Report(report) = intent {
        refuse_unknown_task(project, &id, report)?;
    }
    let edits = |step: &Step| matches!(step.action, Action::Edit { .. });
    let mut finished = Vec::new();
    // A line in a log of one's own needs no lock; a document that others write needs one.
    let plan = if planned.plan.steps.iter().any(edits) {
        let purpose = format!("checkpoint {id}");
        let reach = project.reach(planned.roots);
        let (mut runner, recovered) =
            Runner::open(&project.state(), &id, &purpose, project.now(), reach)
                .map_err(|error| Error::from_run(&id, error))?;
        finished = crate::records::finished(&recovered);
        let plan = plan_world(&project.world(), query, intent)?.plan;
        runner
            .apply(&plan.steps, project.now(), &mut Silent)
            .map_err(Error::Run)?;
        plan
    } else {
        rekindle_runner::report(&project.state(), &id, &planned.plan.steps, &mut Silent)
            .map_err(Error::Run)?;
        planned.plan
    };
    let notes = match &plan.then {
        Then::Stop(stop) => stop.hints.clone(),
        Then::Agent(_) | Then::Ask(_) | Then::Workers | Then::Check(_) | Then::Again => Vec::new(),
    };
    let (log, record) = recorded(plan);
    Ok(Recorded {
        id,
        log,
        record,
        notes,
        finished,
    })
}

/// Refuses an event of an unknown task: the reporter would believe that it was recorded.
fn refuse_unknown_task(project: &Project, id: &WorkflowId, report: &Report) -> Result<(), Error> {
    let event = report.event.to_ascii_lowercase().replace('-', "_");
    match &report.task {
        // The event itself creates the task.
        Some(_) if event == "task_created" => Ok(()),
        Some(task) => {
            let query = Query::default().of(id.protocol, Some(id.name.clone()));
            explain(project, &query, Some(task)).map(|_| ())
        }
        None if event.starts_with("task_") => Err(Error::TaskNeeded {
            event: report.event.clone(),
        }),
        None => Ok(()),
    }
}

/// Returns the last line that a plan writes, and its file.
fn recorded(plan: Plan) -> (Utf8PathBuf, String) {
    let said = match plan.then {
        Then::Stop(stop) => stop.reason,
        Then::Agent(_) | Then::Ask(_) | Then::Workers | Then::Check(_) | Then::Again => {
            String::new()
        }
    };
    let lines = plan.steps.into_iter().rev();
    let mut lines = lines.filter_map(|step| match step.action {
        Action::Append { log, record } => Some((log, record)),
        Action::Edit { path, .. } => Some((path, said.clone())),
        Action::Create { .. }
        | Action::MoveFolder { .. }
        | Action::MoveFile { .. }
        | Action::Land(_)
        | Action::EndWorker { .. }
        | Action::AskHost { .. }
        | Action::Print(_) => None,
    });
    lines.next().unwrap_or_default()
}
