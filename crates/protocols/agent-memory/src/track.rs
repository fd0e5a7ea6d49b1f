//! The events of one task, and their result.
//!
//! The latest event decides, within a log the later line. Of simultaneous events in several logs
//! the last of each log counts, and of those the most careful.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::event::TaskEvent;
use super::log::Mark;
use rekindle_protocol::table::values;

/// The events of one task.
#[derive(Debug)]
pub(super) struct Track {
    pub(super) id: Box<str>,
    /// The first event that names it.
    first: Mark,
    /// The last event, without skips.
    status: LastWord,
    /// The last event with skips, if there is one.
    with_skips: Option<Box<LastWord>>,
    failures: Vec<Mark>,
    /// Those of the failures in which the agent did not start.
    unstarted: Vec<Mark>,
    /// The newest completions, all of the same instant, at most one a log.
    completions: Vec<Mark>,
    /// The newest reason that a failure or a block gave.
    reason: Option<(Mark, String)>,
    /// The last event of each numbered attempt.
    ends: BTreeMap<u32, LastWord>,
    /// The highest number of a started attempt.
    newest_attempt: u32,
    /// The newest failure that names its attempt.
    last_failed: Option<(Mark, u32)>,
    /// Failures by merge conflicts.
    conflicts: Vec<Mark>,
    /// Attempts whose worker or agent was killed from outside.
    interruptions: Vec<Mark>,
    /// The last event that called it ready.
    ready: Option<Mark>,
    /// The cost of each attempt, in millionths of a dollar.
    costs: BTreeMap<u32, u64>,
    /// The last commit that landed.
    landed: Option<(Mark, String)>,
    /// The last usage limit that its agent reached, with its end.
    limited: Option<(Mark, Option<Timestamp>)>,
}

impl Track {
    pub(super) fn new(id: &str, first: Mark) -> Self {
        Self {
            id: id.into(),
            first,
            status: LastWord::default(),
            with_skips: None,
            failures: Vec::new(),
            unstarted: Vec::new(),
            completions: Vec::new(),
            reason: None,
            ends: BTreeMap::new(),
            newest_attempt: 0,
            last_failed: None,
            conflicts: Vec::new(),
            interruptions: Vec::new(),
            ready: None,
            costs: BTreeMap::new(),
            landed: None,
            limited: None,
        }
    }

    pub(super) fn hear(
        &mut self,
        event: TaskEvent,
        mark: Mark,
        attempt: Option<u32>,
        reason: impl FnOnce() -> Option<String>,
    ) {
        match event.state() {
            State::Done => self.complete(mark),
            State::Failed => {
                self.failures.push(mark);
                if let Some(attempt) = attempt
                    && self
                        .last_failed
                        .is_none_or(|(known, _)| mark.order() >= known.order())
                {
                    self.last_failed = Some((mark, attempt));
                }
                self.explain(mark, reason());
            }
            State::Blocked => self.explain(mark, reason()),
            State::Pending | State::InProgress | State::Skipped => {}
        }
        let said = Decided { event, mark };
        let is_skip = said.state() == State::Skipped;
        if is_skip {
            self.with_skips.get_or_insert_with(|| Box::new(self.status));
        }
        if let Some(with_skips) = &mut self.with_skips {
            with_skips.hear(said);
        }
        match attempt.filter(|_| event.is_end()) {
            Some(attempt) => self.ends.entry(attempt).or_default().hear(said),
            None if is_skip => {}
            None => self.status.hear(said),
        }
        if event == TaskEvent::Ready && self.ready.is_none_or(|known| mark.order() >= known.order())
        {
            self.ready = Some(mark);
        }
        if matches!(event, TaskEvent::Claimed | TaskEvent::Started) {
            self.newest_attempt = self.newest_attempt.max(attempt.unwrap_or(0));
        }
    }

    /// Records the cost of an attempt so far; it can only grow.
    pub(super) fn pay(&mut self, attempt: u32, cost: u64) {
        let known = self.costs.entry(attempt).or_default();
        *known = cost.max(*known);
    }

    /// Returns the last event, without skips.
    ///
    /// The end of an attempt counts only if no newer attempt was started: a worker that was given
    /// up must not decide anything.
    fn last_word(&self) -> Option<Decided> {
        let ends = self.ends.range(self.newest_attempt..);
        let words = ends
            .filter_map(|(_, words)| words.get())
            .chain(self.status.get());
        words.reduce(Decided::later)
    }

    fn explain(&mut self, mark: Mark, reason: Option<String>) {
        let newer = |(known, _): &(Mark, String)| mark.order() >= known.order();
        if let Some(reason) = reason
            && self.reason.as_ref().is_none_or(newer)
        {
            self.reason = Some((mark, reason));
        }
    }

    fn complete(&mut self, mark: Mark) {
        match self.completions.first() {
            Some(newest) if newest.at > mark.at => return,
            Some(newest) if newest.at == mark.at => {
                self.completions.retain(|done| done.file != mark.file);
            }
            Some(_) | None => self.completions.clear(),
        }
        self.completions.push(mark);
        // Failures before a completion do not count.
        self.failures.retain(|failure| failure.at >= mark.at);
    }

    pub(super) fn land(&mut self, mark: Mark, commit: String) {
        let newer = |(known, _): &(Mark, String)| mark.order() >= known.order();
        if self.landed.as_ref().is_none_or(newer) {
            self.landed = Some((mark, commit));
        }
    }

    pub(super) fn conflict(&mut self, mark: Mark) {
        self.conflicts.push(mark);
    }

    pub(super) fn unstarted(&mut self, mark: Mark) {
        self.unstarted.push(mark);
    }

    pub(super) fn interrupted(&mut self, mark: Mark) {
        self.interruptions.push(mark);
    }

    pub(super) fn limited(&mut self, mark: Mark, until: Option<Timestamp>) {
        if self
            .limited
            .is_none_or(|(known, _)| mark.order() >= known.order())
        {
            self.limited = Some((mark, until));
        }
    }

    /// Returns the failures that count; an event that calls the task ready resets them.
    fn trials(&self) -> Trials {
        let count = |marks: &[Mark]| {
            let counts = |mark: &&Mark| {
                let fresh_starts = self.completions.iter().chain(&self.ready);
                fresh_starts
                    .into_iter()
                    .all(|start| !start.is_after(**mark))
            };
            u32::try_from(marks.iter().filter(counts).count()).unwrap_or(u32::MAX)
        };
        Trials {
            // An agent that did not start has not tried.
            failures: count(&self.failures).saturating_sub(count(&self.unstarted)),
            conflicts: count(&self.conflicts),
            interruptions: count(&self.interruptions),
        }
    }

    /// Returns how often it failed since it was last done.
    fn failures(&self) -> u32 {
        // At the instant of a completion in another log it counts: the verdict follows the work.
        let counts = |failure: &&Mark| {
            self.completions
                .iter()
                .all(|done| !done.is_after(**failure))
        };
        u32::try_from(self.failures.iter().filter(counts).count()).unwrap_or(u32::MAX)
    }

    /// Returns the deciding event; a skip counts only if the task was not done before.
    fn decided(&self) -> Option<Decided> {
        let status = self.last_word();
        let Some(last) = self.with_skips.as_ref().and_then(|words| words.get()) else {
            return status;
        };
        let before = status.filter(|status| status.mark.at < last.mark.at);
        let was_done = before.filter(|before| before.state() == State::Done);
        was_done
            .filter(|_| last.state() == State::Skipped)
            .or(Some(last))
    }

    pub(super) fn finish(self) -> (String, TaskRecord) {
        let decided = self.decided();
        // Whatever happened to the task since then has ended the wait.
        let waits = |limit: &Mark| decided.is_none_or(|last| !last.mark.is_after(*limit));
        let limit = self.limited.filter(|(mark, _)| waits(mark));
        let record = TaskRecord {
            failures: self.failures(),
            trials: self.trials(),
            decided,
            limit: limit.map(|(_, until)| Limit { until }),
            attempts: self.newest_attempt,
            last_failed: self.last_failed.map(|(_, attempt)| attempt),
            reason: self.reason.map(|(_, reason)| reason),
            costs: self.costs,
            landed: self.landed,
            first: self.first,
        };
        (self.id.into_string(), record)
    }
}

/// The result of all events of one task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TaskRecord {
    pub(super) decided: Option<Decided>,
    pub(super) failures: u32,
    pub(super) trials: Trials,
    /// The highest number of a started attempt.
    pub(super) attempts: u32,
    /// The attempt of the newest failure.
    pub(super) last_failed: Option<u32>,
    pub(super) reason: Option<String>,
    /// The cost of each attempt, in millionths of a dollar.
    pub(super) costs: BTreeMap<u32, u64>,
    /// The last commit that landed.
    pub(super) landed: Option<(Mark, String)>,
    /// The usage limit that it waits for.
    pub(super) limit: Option<Limit>,
    /// The first event that names it.
    pub(super) first: Mark,
}

/// A usage limit that a task waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Limit {
    /// Its end, where the agent named a time.
    pub(super) until: Option<Timestamp>,
}

/// The failures of an engine task since it was last done or ready.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Trials {
    pub(super) failures: u32,
    pub(super) conflicts: u32,
    pub(super) interruptions: u32,
}

/// The last event of a task in the logs so far.
#[derive(Debug, Clone, Copy, Default)]
struct LastWord {
    settled: Option<Decided>,
    /// The last event of the current log.
    current: Option<Decided>,
}

impl LastWord {
    fn hear(&mut self, said: Decided) {
        match self.current {
            Some(current) if current.mark.file == said.mark.file => {
                if said.mark.at >= current.mark.at && !said.is_void_after(current) {
                    self.current = Some(said);
                }
            }
            Some(_) | None => {
                self.settled = self.get();
                self.current = Some(said);
            }
        }
    }

    fn get(&self) -> Option<Decided> {
        let words = self.settled.into_iter().chain(self.current);
        words.max_by_key(|word| word.weight())
    }
}

/// The deciding event and its position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Decided {
    pub(super) event: TaskEvent,
    pub(super) mark: Mark,
}

impl Decided {
    fn state(self) -> State {
        self.event.state()
    }

    /// Returns which of two events counts: in one log the later line, otherwise the weightier.
    fn later(self, other: Self) -> Self {
        let same_moment = (self.mark.at, self.mark.file) == (other.mark.at, other.mark.file);
        let self_counts = if same_moment {
            self.mark.number >= other.mark.number
        } else {
            self.weight() >= other.weight()
        };
        if self_counts { self } else { other }
    }

    /// Returns whether it skips a task that its log completes at the same instant.
    fn is_void_after(self, before: Self) -> bool {
        self.state() == State::Skipped
            && before.state() == State::Done
            && self.mark.at == before.mark.at
    }

    /// Returns the order of the last events of several logs: by time, then by the more careful
    /// state.
    ///
    /// Equal states are ordered by the course of a task.
    fn weight(self) -> impl Ord {
        let Self { event, mark } = self;
        (mark.at, event.state(), event, mark.file, mark.number)
    }
}

values! {
    /// The state of a task; of simultaneous states the greatest counts, which is the most careful.
    State {
        Pending "pending",
        InProgress "in_progress",
        Done "done",
        Skipped "skipped",
        Failed "failed",
        Blocked "blocked",
    }
}

impl State {
    /// Returns whether nothing is left to be done.
    pub(super) fn is_finished(self) -> bool {
        matches!(self, Self::Done | Self::Skipped)
    }
}

impl TaskEvent {
    /// Returns whether it ends an attempt.
    pub(super) fn is_end(self) -> bool {
        matches!(self.state(), State::Done | State::Failed) || self == Self::Implemented
    }

    /// Returns the state that a task is in after this event.
    pub(super) fn state(self) -> State {
        match self {
            Self::Created | Self::Ready => State::Pending,
            Self::Claimed | Self::Started | Self::Implemented => State::InProgress,
            Self::Completed | Self::Verified => State::Done,
            Self::Failed | Self::Failure | Self::VerificationFailed => State::Failed,
            Self::Blocked => State::Blocked,
            Self::Skipped => State::Skipped,
        }
    }
}
