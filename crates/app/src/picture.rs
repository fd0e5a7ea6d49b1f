//! What happened to a workflow, as one object that every front end only paints.

mod details;
mod masked;
mod numbers;
mod settle;
mod story;

use std::collections::BTreeMap;

use camino::{Utf8Path, Utf8PathBuf};
use jiff::Timestamp;
use rekindle_fs::Content;
use rekindle_git::{Program, Repo, Rescue};
use rekindle_model::graph::Graph;
use rekindle_model::{
    AttemptEnd, Finding, History, PastAttempt, Severity, State, TaskState, WorkflowId,
};
use rekindle_text::{format_instant, shell_word};
use rekindle_wire::{
    LifeOut, MarkOut, NeedOut, Picture, PictureAttempt, PictureTask, ReportPage, WaitOut,
};

use crate::choose::{chosen, inspect_world};
use crate::inspect::Inspected;
use crate::{AtWork, Error, Listing, Project, Query, gives_way, records, status};

pub use self::details::ReportWish;

/// The most needs of a person that are listed; the tasks have them all.
const MOST_NEEDS: usize = 20;

/// Returns the picture of a workflow: the named one, the one at work, or the newest.
pub fn picture(project: &Project, query: &Query) -> Result<Picture, Error> {
    Ok(look(project, query)?.0)
}

/// Returns the picture of a workflow with what there is to read about its tasks.
pub fn report_page(
    project: &Project,
    query: &Query,
    wish: ReportWish,
) -> Result<ReportPage, Error> {
    let (picture, id) = look(project, query)?;
    let details = details::details(project, &id, &picture, wish);
    Ok(ReportPage {
        schema: "rekindle.report/1",
        picture,
        details,
    })
}

/// Writes a report to the file that a person named, in one step: a death in the middle leaves the old
/// file, or none.
///
/// A link is not followed, so that a project cannot send a report to another file.
pub fn write_report(path: &Utf8Path, bytes: &[u8]) -> Result<(), Error> {
    match Content::read(path)? {
        Content::Absent => rekindle_fs::create_private(path, bytes)?,
        old @ Content::Present(_) => rekindle_fs::replace(path, &old, bytes)?,
    }
    Ok(())
}

/// Writes a report to a new file of a folder, and returns its path.
///
/// The name comes from files of the project, so it never takes the place of another file: where it is
/// taken, the next number is added.
pub fn write_new_report(
    folder: &Utf8Path,
    name: &str,
    ending: &str,
    bytes: &[u8],
) -> Result<Utf8PathBuf, Error> {
    let mut number = 1;
    loop {
        let path = match number {
            1 => folder.join(format!("{name}{ending}")),
            n => folder.join(format!("{name}-{n}{ending}")),
        };
        match rekindle_fs::create_private(&path, bytes) {
            Ok(()) => return Ok(path),
            Err(rekindle_fs::Error::Exists(_)) => number += 1,
            Err(error) => return Err(error.into()),
        }
    }
}

fn look(project: &Project, query: &Query) -> Result<(Picture, WorkflowId), Error> {
    let query = match (&query.name, query.protocol) {
        (None, None) => Query::only(&newest(project).ok_or(Error::Nothing)?),
        (Some(_), _) | (None, Some(_)) => query.clone(),
    };
    let world = project.world();
    let inspected = inspect_world(&world, &query)?;
    let id = chosen(&inspected, &query)?;
    let history = inspected.case.history(&world);
    let what = "a history";
    let history = history.ok_or_else(|| Error::NotKept {
        id: id.clone(),
        what,
    })?;
    let picture = paint(project, &inspected, &id, history);
    Ok((masked::masked(picture), id))
}

/// Returns the workflow that a person most likely means: one at work, or the newest.
pub(crate) fn newest(project: &Project) -> Option<WorkflowId> {
    let overview = status(
        project,
        Listing {
            protocol: None,
            all: true,
        },
    );
    let (mut lines, _) = overview.lines();
    lines.sort_by_key(|line| {
        let is_free = line.at_work.is_none();
        let latest = std::cmp::Reverse(line.summary.last_activity);
        (gives_way(line.summary), is_free, latest)
    });
    lines.first().map(|line| line.summary.id.clone())
}

fn paint(
    project: &Project,
    inspected: &Inspected,
    id: &WorkflowId,
    mut history: History,
) -> Picture {
    let now = project.now();
    let assessment = inspected.assessment();
    let at_work = AtWork::on(project, id).ok().flatten();
    let summary = assessment.chosen();
    let is_complete = assessment.state == State::Complete;
    let last_life = project.state().last_life(id).ok().flatten();
    settle::settle(&mut history, at_work.as_ref(), last_life, is_complete, now);
    let state = match (&at_work, summary) {
        (Some(_), _) => "running",
        (None, Some(summary)) => summary.word(),
        (None, None) => assessment.state.as_str(),
    };
    let counts = numbers::counts(&history, now);
    let work = inspected
        .case
        .tasks()
        .and_then(rekindle_protocol::capability::TaskSource::work);
    let mut findings: Vec<Finding> = assessment.findings.clone();
    findings.extend(records::findings(project, Some(id), work.as_ref()));
    findings.retain(|finding| finding.severity() >= Severity::Note);
    let title = Some(std::mem::take(&mut history.title)).filter(|title| !title.is_empty());
    let title = title.or_else(|| summary.and_then(|summary| summary.view.title.clone()));
    let offset = project.zone.get().to_offset(now).seconds();
    Picture {
        schema: "rekindle.picture/1",
        id: id.to_string(),
        title: title.unwrap_or_else(|| id.name.clone()),
        state: state.to_owned(),
        word: word(state).to_owned(),
        story: story::story(&history, &counts),
        now: format_instant(now),
        utc_offset: offset,
        branch: history.branch.clone(),
        lives: history.lives.iter().map(life).collect(),
        waits: history
            .waits
            .iter()
            .map(|wait| WaitOut {
                from: format_instant(wait.from),
                to: wait.to.map(format_instant),
            })
            .collect(),
        marks: history
            .marks
            .iter()
            .map(|mark| MarkOut {
                at: format_instant(mark.at),
                name: mark.name.clone(),
            })
            .collect(),
        needs_person: needs(id, &history, state),
        tasks: tasks(project, id, &history, &findings),
        findings: findings.iter().map(rekindle_wire::finding).collect(),
        counts,
    }
}

/// Returns what a person calls the state of a workflow.
fn word(state: &str) -> &str {
    match state {
        "waiting" | "blocked" => "needs you",
        "corrupt" => "unreadable",
        other => other,
    }
}

fn life(life: &rekindle_model::Life) -> LifeOut {
    LifeOut {
        from: format_instant(life.from),
        to: life.to.map(format_instant),
        end: life.end.as_str().to_owned(),
    }
}

fn needs(id: &WorkflowId, history: &History, state: &str) -> Vec<NeedOut> {
    let of_tasks = history.tasks.iter();
    let blocked = of_tasks.filter(|task| task.state == TaskState::NeedsPerson);
    let mut needs: Vec<NeedOut> = blocked
        .take(MOST_NEEDS)
        .map(|task| {
            let why = task
                .reason
                .as_deref()
                .unwrap_or("it cannot continue by itself");
            NeedOut {
                task: Some(task.id.clone()),
                text: why.to_owned(),
                command: Some(format!(
                    "rekindle retry {} {}",
                    shell_word(&id.to_string()),
                    shell_word(&task.id)
                )),
            }
        })
        .collect();
    if needs.is_empty() && ["interrupted", "waiting"].contains(&state) {
        let text = match state {
            "waiting" => "It waits for your answer.",
            _ => "Nobody is at work on it. A resume continues where it stopped.",
        };
        needs.push(NeedOut {
            task: None,
            text: text.to_owned(),
            command: Some(format!("rekindle resume {}", shell_word(&id.to_string()))),
        });
    }
    needs
}

/// Returns for each task the findings that name it, by their place.
fn named_by(history: &History, findings: &[Finding]) -> BTreeMap<usize, Vec<usize>> {
    let ids = history.tasks.iter().zip(0..);
    let places: BTreeMap<&str, usize> =
        ids.map(|(task, place)| (task.id.as_str(), place)).collect();
    let mut named: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (n, finding) in findings.iter().enumerate() {
        let is_apart = |c: char| !c.is_alphanumeric() && !"-_./".contains(c);
        let words = finding.message.split(is_apart);
        let mut tasks: Vec<usize> = words.filter_map(|word| places.get(word).copied()).collect();
        tasks.sort_unstable();
        tasks.dedup();
        for task in tasks {
            named.entry(task).or_default().push(n);
        }
    }
    named
}

fn tasks(
    project: &Project,
    id: &WorkflowId,
    history: &History,
    findings: &[Finding],
) -> Vec<PictureTask> {
    let mut named = named_by(history, findings);
    let ids = history.tasks.iter().map(|task| {
        let needs = task
            .needs
            .iter()
            .filter_map(|need| history.tasks.get(*need));
        let needs = needs.map(|need| need.id.clone()).collect();
        (task.id.clone(), needs)
    });
    let places = Graph::new(ids).0.places();
    let rescues = rescues(project, id);
    let mut attempts = history.attempts.iter().peekable();
    let tasks = history.tasks.iter().enumerate().map(|(place, task)| {
        let mut of_task = Vec::new();
        while let Some(attempt) = attempts.next_if(|attempt| attempt.task <= place) {
            of_task.push(attempt);
        }
        let mut saved = saved(
            &of_task,
            rescues.iter().filter(|rescue| rescue.task == task.id),
        );
        let costs = of_task.iter().filter_map(|attempt| attempt.cost);
        let position = places.get(place).copied().unwrap_or_default();
        PictureTask {
            id: task.id.clone(),
            title: task.title.clone(),
            state: task.state.as_str().to_owned(),
            word: word_of_task(history, place, !of_task.is_empty()),
            reason: task.reason.clone(),
            needs: task.needs.clone(),
            layer: position.layer,
            place: position.row,
            cost_microdollars: costs.reduce(u64::saturating_add),
            attempts: of_task
                .iter()
                .zip(saved.drain(..))
                .map(|(attempt, saved)| of_attempt(attempt, saved))
                .collect(),
            findings: named.remove(&place).unwrap_or_default(),
        }
    });
    tasks.collect()
}

fn rescues(project: &Project, id: &WorkflowId) -> Vec<Rescue> {
    let repo = Program::find(&project.search_path);
    let repo = repo.map(|program| Repo::at(&program, project.folder()));
    let rescues = repo.and_then(|repo| repo.rescues()).unwrap_or_default();
    let is_ours = |rescue: &Rescue| rescue.workflow == id.name;
    rescues.into_iter().filter(is_ours).collect()
}

/// Returns the backup of each attempt: it is made before the next attempt begins, or later.
fn saved<'r>(
    attempts: &[&PastAttempt],
    rescues: impl Iterator<Item = &'r Rescue>,
) -> Vec<Option<String>> {
    let mut saved = vec![None; attempts.len()];
    for rescue in rescues {
        let made = Timestamp::from_second(rescue.made_at).unwrap_or_default();
        let is_before = |attempt: &&PastAttempt| attempt.from.as_second() <= made.as_second();
        let is_over = |attempt: &PastAttempt| match attempt.end {
            AttemptEnd::Running | AttemptEnd::Done => false,
            AttemptEnd::Delivered
            | AttemptEnd::Failed(_)
            | AttemptEnd::Killed(_)
            | AttemptEnd::Limited
            | AttemptEnd::Stopped => true,
        };
        let mut places = (0..attempts.len()).rev();
        let found = places.find(|&place| {
            is_before(&attempts[place]) && is_over(attempts[place]) && saved[place].is_none()
        });
        if let Some(place) = found {
            saved[place] = Some(rescue.short_name().to_owned());
        }
    }
    saved
}

fn of_attempt(attempt: &PastAttempt, saved: Option<String>) -> PictureAttempt {
    let after = |beat: &Timestamp| {
        let seconds = beat.duration_since(attempt.from).as_secs();
        u32::try_from(seconds.max(0)).unwrap_or(u32::MAX)
    };
    let killed = match attempt.end {
        AttemptEnd::Killed(Some(kill)) => Some(kill.to_string()),
        AttemptEnd::Killed(None)
        | AttemptEnd::Running
        | AttemptEnd::Delivered
        | AttemptEnd::Done
        | AttemptEnd::Failed(_)
        | AttemptEnd::Limited
        | AttemptEnd::Stopped => None,
    };
    PictureAttempt {
        number: attempt.number,
        from: format_instant(attempt.from),
        to: attempt.to.map(format_instant),
        end: attempt.end.as_str().to_owned(),
        delivered: attempt.delivered.map(format_instant),
        landed: attempt.landed.map(format_instant),
        commit: attempt.commit.clone(),
        saved,
        beats: attempt.beats.iter().map(after).collect(),
        stage: attempt.stage.map(|stage| stage.as_str().to_owned()),
        reason: killed.or_else(|| attempt.reason.clone()),
        cost_microdollars: attempt.cost,
    }
}

/// Returns the state of a task in a person's words; one that cannot begin names the task it waits for.
fn word_of_task(history: &History, place: usize, was_tried: bool) -> String {
    let task = &history.tasks[place];
    let needs = task
        .needs
        .iter()
        .filter_map(|need| history.tasks.get(*need));
    let holds = needs.into_iter().find(|need| need.state != TaskState::Done);
    match (task.state, holds) {
        (TaskState::Done, _) if history.branch.is_some() => "landed".to_owned(),
        (TaskState::Done, _) => "done".to_owned(),
        (TaskState::Running, _) => "running".to_owned(),
        (TaskState::NeedsPerson, _) => "needs you".to_owned(),
        (TaskState::Interrupted, _) => "interrupted".to_owned(),
        (TaskState::Failed, _) => "failed".to_owned(),
        (TaskState::Limited, _) => "usage limit".to_owned(),
        (TaskState::Skipped, _) => "skipped".to_owned(),
        (TaskState::Open, Some(need)) => format!("waits for {}", need.id),
        (TaskState::Open, None) if was_tried => "open again".to_owned(),
        (TaskState::Open, None) => "not started".to_owned(),
    }
}
