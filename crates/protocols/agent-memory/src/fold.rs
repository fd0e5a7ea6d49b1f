//! All events of a run, folded into one state; a [`Track`] has the events of one task.
//!
//! The order in which logs are read does not matter: times decide, and within a log its lines.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use jiff::Timestamp;

use super::event::{Event, Kind, RunEnd, TaskEvent};
use super::log::Mark;
use super::track::{State, TaskRecord, Track};

/// One move from phase to phase.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Transition {
    pub(super) mark: Mark,
    pub(super) from: Option<i64>,
    pub(super) to: i64,
    pub(super) notes: Option<String>,
}

/// A checkpoint event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CheckpointEvent {
    pub(super) mark: Mark,
    pub(super) note: String,
}

/// Which events count: those of this run, or, in a renamed folder, those of the run it was.
#[derive(Debug, Clone, Copy)]
pub(super) enum Owner<'a> {
    Folder(&'a str),
    Renamed(&'a str),
}

impl Owner<'_> {
    fn id(&self) -> &str {
        match self {
            Self::Folder(id) | Self::Renamed(id) => id,
        }
    }
}

/// The fold while the logs are read.
#[derive(Debug)]
pub(super) struct Fold<'a> {
    owner: Owner<'a>,
    /// The index of each task's track; a lookup must not copy the name.
    index: HashMap<Box<str>, usize>,
    tracks: Vec<Track>,
    /// The track that was asked for last.
    last: usize,
    transitions: Vec<Transition>,
    checkpoints: Vec<CheckpointEvent>,
    /// The latest time in the order of events, and the stamp of the event that has it.
    latest: Option<(Option<Timestamp>, Option<Timestamp>)>,
    last_work: Option<Timestamp>,
    /// For each log the latest event that ends the run.
    ends: BTreeMap<usize, (RunEnd, Mark)>,
    /// For each log the latest event that opens an ended run again.
    reopening: BTreeMap<usize, Mark>,
    cleanup_completed: bool,
    nameless_task_event: Option<Mark>,
    is_of_the_engine: bool,
    feature: Option<String>,
    own: u64,
    foreign: BTreeMap<Box<str>, Mark>,
}

/// The state after all events of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Folded {
    pub(super) tasks: BTreeMap<String, TaskRecord>,
    /// In the order of their time.
    pub(super) transitions: Vec<Transition>,
    /// In the order of their time.
    pub(super) checkpoints: Vec<CheckpointEvent>,
    /// When the latest event happened, as it was stamped.
    pub(super) last_activity: Option<Timestamp>,
    /// The latest event that is work: a resume that only looked is not.
    pub(super) last_work: Option<Timestamp>,
    /// The time after which a new event has to come.
    pub(super) latest: Option<Timestamp>,
    /// The event that ended the run, unless a later one opened it again.
    pub(super) ended: Option<RunEnd>,
    /// Whether the run ended once and was opened again.
    pub(super) reopened: bool,
    pub(super) cleanup_completed: bool,
    pub(super) nameless_task_event: Option<Mark>,
    /// Whether events show that `rekindle run` started the run.
    pub(super) is_of_the_engine: bool,
    /// The feature that the first event with one names.
    pub(super) feature: Option<String>,
    /// Other runs that events name, with the first location of each.
    pub(super) foreign: Vec<(String, Mark)>,
    /// The one other run that all events name, when none names this one.
    pub(super) renamed_from: Option<String>,
}

impl Folded {
    /// Returns the task that was completed last, and when.
    pub(super) fn last_completed(&self) -> Option<(&str, Mark)> {
        self.tasks
            .iter()
            .filter_map(|(id, task)| {
                let decided = task.decided?;
                (decided.event.state() == State::Done).then_some((id.as_str(), decided.mark))
            })
            .max_by_key(|(_, mark)| mark.order())
    }
}

/// The most other runs that are counted separately.
const MOST_FOREIGN: usize = 16;

impl<'a> Fold<'a> {
    pub(super) fn new(owner: Owner<'a>) -> Self {
        Self {
            owner,
            index: HashMap::new(),
            tracks: Vec::new(),
            last: 0,
            transitions: Vec::new(),
            checkpoints: Vec::new(),
            latest: None,
            last_work: None,
            ends: BTreeMap::new(),
            reopening: BTreeMap::new(),
            cleanup_completed: false,
            nameless_task_event: None,
            is_of_the_engine: false,
            feature: None,
            own: 0,
            foreign: BTreeMap::new(),
        }
    }

    /// Takes one event in.
    pub(super) fn hear(&mut self, event: &Event<'_>, mark: Mark) {
        if !self.is_ours(event, mark) {
            return;
        }
        self.latest = self.latest.max(Some((mark.at, mark.stamp)));
        self.is_of_the_engine = self.is_of_the_engine || event.is_of_the_engine();
        if self.feature.is_none() {
            self.feature = event.feature().filter(|feature| !feature.trim().is_empty());
        }
        if let (Some(cost), Some(task), Some(attempt)) =
            (event.cost(), event.task_id(), event.attempt())
        {
            self.track(task, mark).pay(attempt, cost);
        }
        let kind = event.kind();
        if kind != Kind::SessionResumed {
            self.last_work = self.last_work.max(mark.at);
        }
        match kind {
            Kind::Task(said) => {
                self.reopen(mark);
                self.task(said, event, mark);
                return;
            }
            Kind::PhaseTransition => {
                self.reopen(mark);
                if let Some(to) = event.phase_after() {
                    self.transitions.push(Transition {
                        mark,
                        from: event.phase_before(),
                        to,
                        notes: event.notes(),
                    });
                }
            }
            Kind::SessionResumed => self.reopen(mark),
            Kind::RunEnded(_) => {
                let known = self.ends.get(&mark.file);
                if let Some(end) = event.end()
                    && known.is_none_or(|(_, known)| mark.is_after(*known))
                {
                    self.ends.insert(mark.file, (end, mark));
                }
            }
            Kind::AttemptInterrupted => {
                if let Some(task) = event.task_id() {
                    self.track(task, mark).interrupted(mark);
                }
            }
            Kind::UsageLimited => {
                if let Some(task) = event.task_id() {
                    self.track(task, mark).limited(mark, event.until());
                }
            }
            Kind::CleanupCompleted => self.cleanup_completed = true,
            Kind::CheckpointCreated => self.checkpoints.push(CheckpointEvent {
                mark,
                note: event.notes().or_else(|| event.reason()).unwrap_or_default(),
            }),
            Kind::Other => {}
        }
        // Any event may name a task; an unknown one is a finding.
        if let Some(task) = event.task_id() {
            self.track(task, mark);
        }
    }

    fn is_ours(&mut self, event: &Event<'_>, mark: Mark) -> bool {
        let Some(named) = event.run_id() else {
            return true;
        };
        if named == self.owner.id() {
            self.own += 1;
            return true;
        }
        if !self.foreign.contains_key(named) && self.foreign.len() < MOST_FOREIGN {
            self.foreign.insert(named.into(), mark);
        }
        false
    }

    fn reopen(&mut self, mark: Mark) {
        let latest = self.reopening.entry(mark.file).or_insert(mark);
        if mark.at >= latest.at {
            *latest = mark;
        }
    }

    fn task(&mut self, said: TaskEvent, event: &Event<'_>, mark: Mark) {
        let Some(task) = event.task_id() else {
            self.nameless_task_event.get_or_insert(mark);
            return;
        };
        let track = self.track(task, mark);
        let informational = said == TaskEvent::Blocked && event.is_informational();
        if said == TaskEvent::Completed
            && let Some(commit) = event.commit()
        {
            track.land(mark, commit);
        }
        if said.state() == State::Failed && event.is_conflict() {
            track.conflict(mark);
        }
        if said.state() == State::Failed && event.is_unstarted() {
            track.unstarted(mark);
        }
        if !informational {
            track.hear(said, mark, event.attempt(), || event.reason());
        }
    }

    fn track(&mut self, task: &str, mark: Mark) -> &mut Track {
        // Events of a log come in stretches about one task.
        if self
            .tracks
            .get(self.last)
            .is_some_and(|last| *last.id == *task)
        {
            return &mut self.tracks[self.last];
        }
        let at = if let Some(&at) = self.index.get(task) {
            at
        } else {
            let at = self.tracks.len();
            self.index.insert(task.into(), at);
            self.tracks.push(Track::new(task, mark));
            at
        };
        self.last = at;
        &mut self.tracks[at]
    }

    /// Returns the state after all events.
    pub(super) fn finish(mut self) -> Folded {
        let stands = |end: Mark| !self.reopening.values().any(|event| event.is_after(end));
        let standing = self.ends.values().filter(|(_, mark)| stands(*mark));
        let ended = standing
            .max_by_key(|(end, mark)| (mark.at, *end, mark.file))
            .map(|(end, _)| *end);
        let renamed_from = match self.owner {
            Owner::Renamed(from) => Some(from.to_owned()),
            Owner::Folder(_) if self.own == 0 && self.foreign.len() == 1 => {
                self.foreign.keys().next().map(|id| id.as_ref().to_owned())
            }
            Owner::Folder(_) => None,
        };
        self.checkpoints
            .sort_by_key(|checkpoint| checkpoint.mark.order());
        Folded {
            tasks: self.tracks.into_iter().map(Track::finish).collect(),
            transitions: in_order(self.transitions),
            checkpoints: self.checkpoints,
            last_activity: self.latest.and_then(|(_, stamp)| stamp),
            latest: self.latest.and_then(|(at, _)| at),
            last_work: self.last_work,
            ended,
            reopened: ended.is_none() && !self.ends.is_empty(),
            cleanup_completed: self.cleanup_completed,
            nameless_task_event: self.nameless_task_event,
            is_of_the_engine: self.is_of_the_engine,
            feature: self.feature,
            foreign: self
                .foreign
                .into_iter()
                .map(|(id, mark)| (id.into_string(), mark))
                .collect(),
            renamed_from,
        }
    }
}

/// Sorts phase transitions by time.
///
/// Of simultaneous ones in several logs, a transition follows the one that leads to its start;
/// otherwise the furthest comes first, so that the run is never considered further than it is.
fn in_order(mut transitions: Vec<Transition>) -> Vec<Transition> {
    transitions.sort_by_key(|transition| transition.mark.order());
    let mut ordered: Vec<Transition> = Vec::with_capacity(transitions.len());
    for instant in transitions.chunk_by(|a, b| a.mark.at == b.mark.at) {
        let logs = instant.chunk_by(|a, b| a.mark.file == b.mark.file);
        let mut logs: Vec<&[Transition]> = logs.collect();
        while !logs.is_empty() {
            let phase = ordered.last().map(|last| last.to);
            let heads = logs.iter().filter_map(|log| log.first());
            let entered: BTreeSet<i64> = heads.map(|head| head.to).collect();
            let rank = |head: &Transition| {
                let goes_on = head.from.is_some() && head.from == phase;
                let begins = head.from.is_none_or(|from| !entered.contains(&from));
                (goes_on, begins, head.to)
            };
            let next = (0..logs.len()).max_by_key(|&at| logs[at].first().map(rank));
            let Some((head, rest)) = next.and_then(|at| logs[at].split_first()) else {
                break;
            };
            ordered.push(head.clone());
            for log in &mut logs {
                if log.first().is_some_and(|first| first.mark == head.mark) {
                    *log = rest;
                }
            }
            logs.retain(|log| !log.is_empty());
        }
    }
    ordered
}
