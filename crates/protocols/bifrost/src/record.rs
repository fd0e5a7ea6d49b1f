//! New checkpoints and shorter sessions.

use camino::Utf8Path;
use rekindle_model::{Action, Plan, Step, Stop, StopKind};
use rekindle_text::{excerpt, is_printable};

use super::artifacts;
use super::assess::Judged;
use super::checkpoint::{Checkpoints, Entry};
use super::messages;
use super::next::Situation;
use super::phase::Phase;
use super::plan::write_session;
use super::read::{Feature, Presence};
use super::session::{NewCheckpoint, Session};
use super::{id, layout};

/// How many checkpoints stay in the session, and how many entries of its history.
pub(super) const MOST: usize = 5;
/// The description of a checkpoint without a note.
const UNNAMED: &str = "Checkpoint made by hand";
const COMPLETE: &str = "Complete";

/// Plans a new checkpoint of the current work.
pub(super) fn checkpoint(judged: &Judged, note: &str) -> Plan {
    let new = new_checkpoint(judged, note);
    let feature = &judged.feature;
    let day = feature.now.date().to_string();
    let session = feature.session.with_checkpoint(&new);
    let (session, moved) = without_old_checkpoints(&session);
    let session = session.updated(&day);
    let latest = Checkpoints::read(&session).latest;
    let is_read_back = latest.is_some_and(|latest| {
        let is_complete = new.status == COMPLETE;
        latest.id.as_deref() == Some(new.id.as_str())
            && latest.phase == Some(new.phase)
            && latest.is_complete() == is_complete
    });
    if !is_read_back {
        let reason = "the session has no place for a checkpoint that could be read back";
        let stop = Stop::new(StopKind::Blocked, reason);
        return Plan::only(id(&feature.name), stop);
    }
    let why = format!("a new checkpoint: {}", new.line());
    let mut steps: Vec<Step> = kept(feature, &moved).into_iter().collect();
    steps.push(write_session(judged, &session, &why));
    Plan::new(
        id(&feature.name),
        steps,
        Stop::new(StopKind::Done, new.line()),
    )
}

fn new_checkpoint(judged: &Judged, note: &str) -> NewCheckpoint {
    let feature = &judged.feature;
    let note: String = note
        .chars()
        .map(|c| if is_printable(c) { c } else { ' ' })
        .collect();
    let note = note.trim();
    let archive = feature.archive.before.as_deref().unwrap_or_default();
    let number = feature
        .checkpoints
        .next_number(&String::from_utf8_lossy(archive));
    let now = standing(judged);
    let is_complete = match now.phase {
        Phase::Implement => judged.completed.contains(&Phase::Implement),
        Phase::Spec | Phase::Plan | Phase::Tasks => now.is_complete,
    };
    NewCheckpoint {
        id: format!("CP-{number:03}"),
        when: messages::minute(feature.now),
        description: if note.is_empty() { UNNAMED } else { note }.to_owned(),
        phase: now.phase,
        status: if is_complete { COMPLETE } else { "In Progress" },
        context: feature.estimated_context,
        artifacts: named_files(feature),
        dependencies: dependencies(feature, now.phase),
        next: format!("`{}`", now.next().command),
    }
}

/// Returns the current position: the latest checkpoint, unless the marker is ahead of it, or marker
/// and session both went back.
fn standing(judged: &Judged) -> Situation<'_> {
    let feature = &judged.feature;
    let checkpoint = Situation {
        feature: &feature.name,
        phase: judged.phase,
        is_complete: judged.is_complete,
        said: feature.chosen.fields.next.as_deref(),
        tasks: feature.tasks.as_ref(),
    };
    let marker = feature.marker.marker();
    let ours = marker.filter(|marker| marker.feature.as_ref() == Some(&feature.name));
    let Some((phase, completed)) = ours.and_then(|ours| Some((ours.phase?, ours.completed))) else {
        return checkpoint;
    };
    let focus = feature.session.focus("Phase").and_then(Phase::read);
    if phase > judged.phase || phase < judged.phase && focus == Some(phase) {
        return Situation {
            phase,
            is_complete: completed.contains(&phase),
            said: None,
            ..checkpoint
        };
    }
    checkpoint
}

fn named_files(feature: &Feature) -> String {
    let folder = layout::folder(&feature.name);
    let present = feature
        .files
        .iter()
        .filter(|file| file.state == Presence::Present);
    let names: Vec<String> = present
        .map(|file| {
            let path = Utf8Path::new(&file.path);
            let short = path.strip_prefix(&folder).unwrap_or(path);
            artifacts::written(short, path, file.is_folder)
        })
        .collect();
    if names.is_empty() {
        "Session file created".to_owned()
    } else {
        names.join(", ")
    }
}

fn dependencies(feature: &Feature, phase: Phase) -> String {
    match (phase, &feature.tasks) {
        (Phase::Spec, _) => "None".to_owned(),
        (Phase::Plan, _) => "Spec complete".to_owned(),
        (Phase::Implement, Some(tasks)) => {
            let (done, total) = tasks.progress();
            format!("{done}/{total} tasks complete")
        }
        (Phase::Tasks, _) | (Phase::Implement, None) => "Spec and plan complete".to_owned(),
    }
}

/// Plans a shorter session; its archive gets the removed entries word for word.
///
/// The newest five checkpoints and the newest five history entries about work stay.
pub(super) fn archive(judged: &Judged) -> Plan {
    let feature = &judged.feature;
    let (session, moved) = shorter(&feature.session);
    if moved.is_empty() {
        let reason = format!(
            "nothing is to be archived: {MOST} checkpoints or fewer, and only work in the history"
        );
        let stop = Stop::new(StopKind::Done, reason);
        return Plan::only(id(&feature.name), stop);
    }
    let day = feature.now.date().to_string();
    let path = &feature.archive.path;
    let mut steps: Vec<Step> = kept(feature, &moved).into_iter().collect();
    steps.push(write_session(
        judged,
        &session.updated(&day),
        "archived entries leave the session",
    ));
    let size = |session: &Session| session.bytes().len();
    let reason = format!(
        "{} entries are in {} now, and the session has {} bytes instead of {}",
        moved.len(),
        excerpt(path.as_str(), 200),
        size(&session),
        size(&feature.session)
    );
    Plan::new(id(&feature.name), steps, Stop::new(StopKind::Done, reason))
}

/// Returns the step that adds entries to the archive.
pub(super) fn kept(feature: &Feature, moved: &[String]) -> Option<Step> {
    if moved.is_empty() {
        return None;
    }
    let day = feature.now.date();
    let page = format!("\n## {day}\n\n{}\n", moved.join("\n"));
    let path = feature.archive.path.clone();
    let action = match &feature.archive.before {
        Some(before) => Action::Edit {
            path,
            before: before.clone(),
            after: [before.as_slice(), page.as_bytes()].concat(),
        },
        None => Action::Create {
            path,
            contents: format!("# Session Archive\n{page}").into_bytes(),
        },
    };
    let why = format!("{} entries are archived", moved.len());
    Some(Step::new(action, why))
}

/// Returns the shorter session and the removed entries.
fn shorter(session: &Session) -> (Session, Vec<String>) {
    let (session, compacted) = compacted(session, MOST);
    (session, compacted.moved())
}

/// The entries that a compaction removes, as they were written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Compacted {
    pub(super) checkpoints: Vec<String>,
    pub(super) history: Vec<String>,
}

impl Compacted {
    /// Returns everything as items of the archive.
    pub(super) fn moved(self) -> Vec<String> {
        let history = self.history.iter().map(|text| archived(text));
        let moved = self.checkpoints.iter().cloned().chain(history);
        moved.collect()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.checkpoints.is_empty() && self.history.is_empty()
    }
}

/// Returns an entry of the session history as an item of the archive.
pub(super) fn archived(text: &str) -> String {
    format!("- {text}")
}

/// Returns the session with the newest five checkpoints and history entries about work, and the
/// others.
pub(super) fn compacted(session: &Session, most_history: usize) -> (Session, Compacted) {
    let (session, checkpoints) = without_old_checkpoints(session);
    let (session, history) = session.with_short_history(most_history);
    let compacted = Compacted {
        checkpoints,
        history,
    };
    (session, compacted)
}

/// Returns the session with the newest checkpoints of its history, and the others as they were
/// written.
fn without_old_checkpoints(session: &Session) -> (Session, Vec<String>) {
    let checkpoints = Checkpoints::read(session);
    let latest = checkpoints
        .latest
        .as_ref()
        .and_then(|entry| entry.id.as_ref());
    let is_latest = |entry: &Entry| latest.is_some() && entry.id.as_ref() == latest;
    // Lists exist in either order, so the time counts, and the position only among equals.
    let mut newest_first: Vec<&Entry> = checkpoints.history.iter().collect();
    newest_first.sort_by_key(|entry| std::cmp::Reverse((is_latest(entry), entry.at)));
    let kept: Vec<usize> = newest_first
        .iter()
        .take(MOST)
        .map(|entry| entry.line)
        .collect();
    let history = checkpoints.history.iter();
    let over: Vec<&Entry> = history
        .filter(|entry| !kept.contains(&entry.line))
        .collect();
    let moved: Vec<String> = over
        .iter()
        .map(|entry| format!("- {}", session.written(entry)))
        .collect();
    let session = if over.is_empty() {
        session.clone()
    } else {
        session.without_checkpoints(&over)
    };
    (session, moved)
}
