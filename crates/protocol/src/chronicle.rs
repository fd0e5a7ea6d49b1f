//! From the events of a workflow's logs to its [`History`].
//!
//! The words are those of [`happened`](crate::happened), which every log of the engine has, and those
//! that agents write by themselves. An event that is not understood is a sign of life and nothing more.

use std::collections::HashMap;

use camino::Utf8Path;
use jiff::Timestamp;
use rekindle_model::{
    AttemptEnd, FailureKind, History, Kill, Life, LifeEnd, MOST_BEATS, Milestone, PastAttempt,
    Stage, Victim, Wait,
};
use rekindle_text::{LineSplitter, RawLine, Text};
use rekindle_world::World;
use serde_json::Value;

/// The key of the time after which an event counts, where its stamp does not tell it.
pub const AFTER: &str = "rekindle_after";
/// A longer line is not an event of anybody.
const LONGEST_LINE: usize = 1024 * 1024;
/// The actor of events that an orchestrator writes.
const ORCHESTRATOR: &str = "orchestrator";

/// Collects events in any order.
#[derive(Debug, Default)]
pub struct Chronicle {
    tasks: HashMap<String, usize>,
    events: Vec<Event>,
}

#[derive(Debug)]
struct Event {
    at: Timestamp,
    is_orchestrators: bool,
    task: Option<usize>,
    attempt: Option<u32>,
    what: What,
}

#[derive(Debug)]
enum What {
    Resumed {
        last_seen: Option<Timestamp>,
        end: LifeEnd,
    },
    RunEnded,
    Mark(String),
    Began,
    Beat(Stage),
    Cost(u64),
    Delivered(Option<String>),
    Done(Option<String>),
    Failed(FailureKind, String),
    Limited(Option<Timestamp>),
    Stopped,
    Killed(Option<Kill>),
    Other,
}

impl Chronicle {
    /// Returns an empty one for tasks in plan order.
    pub fn new<'a>(tasks: impl IntoIterator<Item = &'a str>) -> Self {
        let tasks = tasks.into_iter().map(str::to_owned).zip(0..);
        Self {
            tasks: tasks.collect(),
            events: Vec::new(),
        }
    }

    /// Adds the events of a log that `is_own` accepts; `actor` wrote those that name nobody.
    ///
    /// A line that is not one whole event leaves a gap: whoever inspects has a finding about it.
    pub fn read(
        &mut self,
        world: &dyn World,
        log: &Utf8Path,
        actor: &str,
        is_own: &dyn Fn(&Value) -> bool,
    ) {
        let mut splitter = LineSplitter::new(LONGEST_LINE);
        let mut hear = |line: RawLine<'_>| {
            if let Text::Whole(bytes) = line.text
                && let Ok(event) = serde_json::from_slice(bytes)
                && is_own(&event)
            {
                self.hear_event(&event, actor);
            }
        };
        let read = world.stream(log, &mut |piece| splitter.push(piece, &mut hear));
        if read.is_ok() {
            splitter.finish(&mut hear);
        }
    }

    fn hear_event(&mut self, event: &Value, actor: &str) {
        let text = |key: &str| event.get(key).and_then(Value::as_str);
        let time = |key: &str| rekindle_text::parse_instant(text(key)?);
        let nothing = Value::Null;
        let details = event.get("details").filter(|details| details.is_object());
        let name = ["event_type", "type", "event"].into_iter().find_map(text);
        let (Some(name), Some(at)) = (name, time("timestamp").max(time(AFTER))) else {
            return;
        };
        let name = name.to_ascii_lowercase().replace('-', "_");
        let of_details = |key: &str| details.and_then(|details| details.get(key)?.as_str());
        let task = text("task_id").or_else(|| of_details("task_id"));
        let actor = text("actor").unwrap_or(actor);
        self.hear(at, actor, &name, task, details.unwrap_or(&nothing));
    }

    /// Adds an event, with its name in lower case and underscores.
    pub fn hear(
        &mut self,
        at: Timestamp,
        actor: &str,
        event: &str,
        task: Option<&str>,
        details: &Value,
    ) {
        let number = details.get("attempt").and_then(Value::as_u64);
        self.events.push(Event {
            at,
            is_orchestrators: actor == ORCHESTRATOR,
            task: task.and_then(|task| self.tasks.get(task).copied()),
            attempt: number
                .and_then(|number| u32::try_from(number).ok())
                .filter(|number| (1..=rekindle_model::MOST_ATTEMPTS).contains(number)),
            what: What::of(event, details),
        });
    }

    /// Adds what was heard to a history.
    pub fn finish(mut self, history: &mut History) {
        self.events.sort_by_key(|event| event.at);
        let mut fold = Fold::default();
        for event in self.events {
            fold.hear(event);
        }
        fold.finish(history);
    }
}

impl What {
    fn of(event: &str, details: &Value) -> Self {
        let text = |key: &str| details.get(key).and_then(Value::as_str).map(str::to_owned);
        let time = |key: &str| rekindle_text::parse_instant(details.get(key)?.as_str()?);
        let says = |key: &str| details.get(key).and_then(Value::as_bool) == Some(true);
        let reason = || text("error").or_else(|| text("reason")).unwrap_or_default();
        match event {
            "session_resumed" => Self::Resumed {
                last_seen: time("last_seen"),
                end: match (says("stopped"), says("rebooted")) {
                    (true, _) => LifeEnd::Stopped,
                    (false, true) => LifeEnd::Restarted,
                    (false, false) => LifeEnd::Interrupted,
                },
            },
            "run_completed" | "run_complete" | "run_cancelled" | "stm_archived" => Self::RunEnded,
            "checkpoint_created" => Self::Mark("checkpoint".to_owned()),
            "phase_transition" => match details.get("to_phase") {
                Some(phase) => Self::Mark(format!("phase {}", phase.to_string().trim_matches('"'))),
                None => Self::Other,
            },
            "task_claimed" | "task_started" => Self::Began,
            "heartbeat" => Self::Beat(match details.get("stage").and_then(Value::as_str) {
                Some("verifying") => Stage::Verifying,
                Some(_) | None => Stage::Implementing,
            }),
            "agent_cost" => match details.get("cost_microdollars").and_then(Value::as_u64) {
                Some(cost) => Self::Cost(cost),
                None => Self::Other,
            },
            "task_implemented" | "task_verified" => Self::Delivered(text("commit")),
            "task_completed" => Self::Done(text("commit")),
            "task_failed" | "task_failure" | "task_verification_failed" => Self::Failed(
                FailureKind::parse(&text("category").unwrap_or_default()),
                reason(),
            ),
            "usage_limited" => Self::Limited(time("until")),
            "attempt_stopped" if details.get("killed").is_none() => Self::Stopped,
            "attempt_stopped" | "attempt_interrupted" => Self::Killed(kill(details)),
            _ => Self::Other,
        }
    }
}

fn kill(details: &Value) -> Option<Kill> {
    let victim = Victim::parse(details.get("killed")?.as_str()?)?;
    let signal = details.get("signal").and_then(Value::as_i64);
    let signal = signal.and_then(|signal| i32::try_from(signal).ok());
    Some(Kill { victim, signal })
}

#[derive(Debug, Default)]
struct Fold {
    lives: Vec<Life>,
    waits: Vec<(usize, Wait)>,
    marks: Vec<Milestone>,
    attempts: HashMap<usize, Vec<Seen>>,
    last: Option<Timestamp>,
    /// The newest event that only a living orchestrator causes.
    orchestrators: Option<Timestamp>,
}

/// An attempt, and its last sign of life.
#[derive(Debug)]
struct Seen {
    attempt: PastAttempt,
    sign: Timestamp,
}

impl Fold {
    fn hear(&mut self, event: Event) {
        let at = event.at;
        let last = self.last.replace(at).unwrap_or(at);
        if self.lives.is_empty() {
            self.live(at);
        }
        let orchestrators = self.orchestrators;
        // A claim is written by a worker, which an orchestrator has just started.
        if event.is_orchestrators || matches!(event.what, What::Began) {
            self.orchestrators = Some(at);
        }
        match event.what {
            What::Resumed { last_seen, end } => {
                if let Some(life) = self.lives.last_mut().filter(|life| life.from < at) {
                    if life.to.is_none() {
                        let seen = match last_seen {
                            Some(seen) => orchestrators.unwrap_or(seen).max(seen),
                            None => last,
                        };
                        let seen = seen.clamp(life.from, at);
                        (life.to, life.end) = (Some(seen), end);
                    }
                    self.live(at);
                }
            }
            What::RunEnded => {
                if let Some(life) = self.lives.last_mut() {
                    (life.to, life.end) = (Some(at), LifeEnd::Finished);
                }
            }
            What::Mark(name) => self.marks.push(Milestone { at, name }),
            What::Began
            | What::Beat(_)
            | What::Cost(_)
            | What::Delivered(_)
            | What::Done(_)
            | What::Failed(..)
            | What::Limited(_)
            | What::Stopped
            | What::Killed(_) => {
                if let Some(task) = event.task {
                    self.of_task(task, event);
                }
            }
            What::Other => {}
        }
    }

    fn live(&mut self, from: Timestamp) {
        self.lives.push(Life {
            from,
            to: None,
            end: LifeEnd::Alive,
        });
    }

    fn of_task(&mut self, task: usize, event: Event) {
        let at = event.at;
        let begins = matches!(event.what, What::Began);
        if begins {
            self.waits
                .iter_mut()
                .filter(|(of, wait)| *of == task && wait.to.is_none_or(|to| to > at))
                .for_each(|(_, wait)| wait.to = Some(at));
        }
        let seen = self.attempts.entry(task).or_default();
        let place = match event.attempt {
            Some(number) => seen.iter().position(|one| one.attempt.number == number),
            // Without a number it is the last one, unless that is over and another one begins.
            None if begins => seen.iter().rposition(|one| one.attempt.to.is_none()),
            None => seen.len().checked_sub(1),
        };
        let place = place.unwrap_or_else(|| {
            let next = seen.iter().map(|one| one.attempt.number).max().unwrap_or(0) + 1;
            seen.push(Seen::new(task, event.attempt.unwrap_or(next), at));
            seen.len() - 1
        });
        let one = &mut seen[place];
        if let What::Limited(until) = event.what {
            self.waits.push((
                task,
                Wait {
                    from: at,
                    to: until.filter(|until| *until > at),
                },
            ));
        }
        if !event.is_orchestrators {
            one.sign = at;
        }
        one.hear(at, event.is_orchestrators, event.what, &self.lives);
    }

    fn finish(mut self, history: &mut History) {
        let mut attempts = Vec::new();
        let mut tasks: Vec<usize> = self.attempts.keys().copied().collect();
        tasks.sort_unstable();
        for task in tasks {
            let mut of_task = self.attempts.remove(&task).unwrap_or_default();
            of_task.sort_by_key(|one| one.attempt.number);
            for n in 1..of_task.len() {
                let (before, after) = of_task.split_at_mut(n);
                if let (Some(before), Some(next)) = (before.last_mut(), after.first_mut()) {
                    before.give_way(next, &self.lives);
                }
            }
            attempts.extend(of_task.into_iter().map(|one| one.attempt));
        }
        history.attempts = attempts;
        history.lives = self.lives;
        history.waits = self.waits.into_iter().map(|(_, wait)| wait).collect();
        history.marks = self.marks;
        history.latest = self.last;
        history.orchestrators = self.orchestrators;
    }
}

impl Seen {
    fn new(task: usize, number: u32, from: Timestamp) -> Self {
        let attempt = PastAttempt {
            task,
            number,
            from,
            to: None,
            end: AttemptEnd::Running,
            delivered: None,
            landed: None,
            commit: None,
            beats: Vec::new(),
            stage: None,
            reason: None,
            cost: None,
        };
        Self {
            attempt,
            sign: from,
        }
    }

    fn hear(&mut self, at: Timestamp, is_orchestrators: bool, what: What, lives: &[Life]) {
        let attempt = &mut self.attempt;
        match what {
            What::Beat(stage) => {
                attempt.stage = Some(stage);
                attempt.beats.push(at);
                if attempt.beats.len() > MOST_BEATS {
                    let mut n = 0_usize;
                    attempt.beats.retain(|_| {
                        n += 1;
                        n % 2 == 1
                    });
                }
            }
            What::Cost(cost) => attempt.cost = attempt.cost.max(Some(cost)),
            What::Delivered(commit) => {
                attempt.delivered = Some(at);
                attempt.commit = commit.or_else(|| attempt.commit.take());
                self.end(at, AttemptEnd::Delivered);
            }
            What::Done(commit) => {
                attempt.landed = Some(at);
                attempt.commit = commit.or_else(|| attempt.commit.take());
                let to = attempt.to.unwrap_or(at);
                self.end(to, AttemptEnd::Done);
            }
            What::Failed(kind, reason) => {
                attempt.reason = (!reason.is_empty()).then_some(reason);
                // A landing that fails ends no later than the work did.
                let to = attempt.to.unwrap_or(at);
                self.end(to, AttemptEnd::Failed(kind));
            }
            What::Limited(_) => self.end(at, AttemptEnd::Limited),
            What::Stopped => self.end(at, AttemptEnd::Stopped),
            What::Killed(kill) => {
                // The next orchestrator only finds it out.
                let to = if is_orchestrators {
                    self.torn(at, lives)
                } else {
                    at
                };
                self.end(to, AttemptEnd::Killed(kill));
            }
            What::Began | What::Resumed { .. } | What::RunEnded | What::Mark(_) | What::Other => {}
        }
    }

    fn end(&mut self, to: Timestamp, end: AttemptEnd) {
        self.attempt.to = Some(to.max(self.attempt.from));
        self.attempt.end = end;
    }

    /// Returns when it was killed, if its end was found out at a time: with the orchestrator, if that was
    /// interrupted after its last sign of life.
    fn torn(&self, found: Timestamp, lives: &[Life]) -> Timestamp {
        let mut tears = lives
            .iter()
            .filter(|life| life.end.is_interruption() || life.end == LifeEnd::Stopped)
            .filter_map(|life| life.to);
        tears
            .find(|tear| (self.sign..=found).contains(tear))
            .unwrap_or(self.sign)
    }

    /// Ends where the next attempt begins, at the latest: two attempts at a task never overlap.
    fn give_way(&mut self, next: &mut Self, lives: &[Life]) {
        next.attempt.from = next.attempt.from.max(self.attempt.from);
        let from = next.attempt.from;
        if let Some(to) = &mut next.attempt.to {
            *to = from.max(*to);
        }
        match self.attempt.to {
            None => {
                let to = self.torn(from, lives).min(from);
                self.end(to, AttemptEnd::Killed(None));
            }
            Some(to) => self.attempt.to = Some(to.min(from)),
        }
    }
}

#[cfg(test)]
#[path = "chronicle_tests.rs"]
mod tests;
