//! Selects the runs that a hook reads, so that thousands of finished runs do not slow it down.
//!
//! A run with a `summary.md` and no later session is over, as is one whose orchestrator's last log
//! ends with such an event. What an earlier look found to be over is known by its name, if it is not
//! one of the newest, else by the names, times and lengths of its files. Of the others the newest are
//! read and the rest are counted, except old ones.

use std::cmp::Reverse;

use camino::{Utf8Path, Utf8PathBuf};
use jiff::{SignedDuration, Timestamp};
use rekindle_protocol::capability::{Finished, Known, WORTH_RECORDING};
use rekindle_world::{End, Kind, Meta, Seen, World};

use super::event::Event;
use super::layout::{self, Artifact};
use super::read::LARGEST_BLANK;

/// This many of the newest runs are always read: a log may have reopened one that seems to be over.
const ALWAYS_READ: usize = 16;
/// Of this many of the newest runs, the sessions are compared with the summary.
const NEWEST: usize = 512;
/// The most runs that are read. One takes about 60 system calls.
const MOST_READ: usize = 128;
/// The most runs of which the last line is looked at, which takes 18 system calls.
const MOST_PEEKED: usize = 8192;
/// The event that ends a run is a few hundred bytes long.
const LONGEST_END: usize = 4096;
/// A session that closes a run may start its log this much later than the summary was written.
const CLOSING: SignedDuration = SignedDuration::from_mins(10);

/// The runs that are to be read, and how many others may be open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Selection {
    /// Sorted by name.
    pub(super) read: Vec<String>,
    pub(super) unread: usize,
    /// Those that are over, with their signs, if that is worth recording.
    pub(super) finished: Finished,
}

/// What the metadata of a run's folder says.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Glance {
    name: String,
    /// When its latest session started, if known.
    at: Option<Timestamp>,
    /// When the folder of its sessions changed.
    session: Option<Timestamp>,
    /// Whether it has a summary and no later session.
    is_over: bool,
}

/// Chooses among the runs of a project.
pub(super) fn select(world: &dyn World, mut names: Vec<String>, known: &Known<'_>) -> Selection {
    if names.len() <= ALWAYS_READ {
        return Selection {
            read: names,
            unread: 0,
            finished: Finished::new(),
        };
    }
    names.sort_unstable_by(|a, b| b.cmp(a));
    let old = names.split_off(names.len().min(NEWEST));
    let newest = names.len();
    let is_known = |name: &String| known.finished.contains_key(name);
    let (settled, unsettled): (Vec<_>, Vec<_>) = old.into_iter().partition(is_known);
    names.extend(unsettled);
    let end = |run: &Glance| {
        let sign = known.finished.get(&run.name);
        let sign = sign.filter(|sign| has_sign(world, run, sign)).cloned();
        sign.or_else(|| sign_of_end(world, run))
    };
    let mut selection = choose(glances(world, names, newest), known.since, end);
    let is_new = |(name, sign): &(&String, &String)| known.finished.get(*name) != Some(*sign);
    if selection.finished.iter().filter(is_new).count() < WORTH_RECORDING {
        selection.finished.clear();
    } else {
        // Their names are enough.
        let settled = settled.into_iter().map(|name| (name, String::new()));
        selection.finished.extend(settled);
    }
    selection
}

/// `end` returns the sign by which a run is over, if its log says so.
fn choose(
    mut runs: Vec<Glance>,
    since: Timestamp,
    end: impl Fn(&Glance) -> Option<String>,
) -> Selection {
    runs.sort_by(|a, b| (Reverse(a.at), &b.name).cmp(&(Reverse(b.at), &a.name)));
    let mut finished = Finished::new();
    let mut read = Vec::new();
    let (mut unread, mut n_peeked) = (0, 0);
    for (age, run) in runs.into_iter().enumerate() {
        if age >= ALWAYS_READ {
            if run.is_over {
                finished.insert(run.name, String::new());
                continue;
            }
            if run.at.is_some_and(|at| at < since) {
                continue;
            }
            n_peeked += 1;
            let sign = (n_peeked <= MOST_PEEKED).then(|| end(&run)).flatten();
            if let Some(sign) = sign {
                finished.insert(run.name, sign);
                continue;
            }
        }
        if read.len() < MOST_READ {
            read.push(run.name);
        } else {
            unread += 1;
        }
    }
    read.sort_unstable();
    Selection {
        read,
        unread,
        finished,
    }
}

/// Looks at all runs at once; of a run with a summary that is not one of the `newest`, which come
/// first, nothing else is checked.
fn glances(world: &dyn World, names: Vec<String>, newest: usize) -> Vec<Glance> {
    let in_run = |name: &String, file: &str| {
        let folder = world.project().join(layout::run_folder(name));
        folder.join(file)
    };
    let summary = Artifact::Summary.file_name();
    let summaries: Vec<Utf8PathBuf> = names.iter().map(|name| in_run(name, summary)).collect();
    let mut runs: Vec<Look> = names
        .into_iter()
        .zip(world.look_at_each(&summaries))
        .map(|(name, summary)| Look {
            name,
            summary,
            session: None,
        })
        .collect();
    // Every session has its own log, so this folder changes when one starts.
    for file in ["events/orchestrator", "events"] {
        let mut unclear: Vec<&mut Look> = runs
            .iter_mut()
            .enumerate()
            .filter(|(age, run)| *age < newest || !run.is_written())
            .map(|(_, run)| run)
            .filter(|run| run.session.is_none())
            .collect();
        let paths: Vec<Utf8PathBuf> = unclear.iter().map(|run| in_run(&run.name, file)).collect();
        for (run, seen) in unclear.iter_mut().zip(world.look_at_each(&paths)) {
            run.session = seen;
        }
    }
    runs.into_iter().map(Look::glance).collect()
}

/// The metadata of a run's folder.
struct Look {
    name: String,
    summary: Option<Seen>,
    session: Option<Seen>,
}

impl Look {
    /// Returns whether the run has a summary with something in it.
    fn is_written(&self) -> bool {
        let is_written = |meta: Meta| meta.kind == Kind::File && meta.len > LARGEST_BLANK;
        self.summary.is_some_and(|seen| is_written(seen.meta))
    }

    fn glance(self) -> Glance {
        // The time of a link says nothing about its target.
        let is_link = |seen: Seen| seen.meta.kind == Kind::Link;
        let began = self.session.and_then(|seen| seen.modified);
        let closed = self.summary.and_then(|seen| seen.modified);
        // Without a session there is nothing that could have opened it again.
        let is_last =
            |closed: Timestamp| began.is_none_or(|began| began.duration_since(closed) <= CLOSING);
        Glance {
            at: began.max(rekindle_text::file_stamp(&self.name)),
            session: began,
            is_over: self.is_written()
                && !self.session.is_some_and(is_link)
                && closed.is_some_and(is_last),
            name: self.name,
        }
    }
}

/// Returns the length and the name of a log, and the time of its folder.
fn sign(log: &str, len: u64, session: Option<Timestamp>) -> Option<String> {
    Some(format!("{len} {} {log}", session?))
}

/// Returns whether the log by whose end a run was over is still the last one, and as long as it was.
fn has_sign(world: &dyn World, run: &Glance, known: &str) -> bool {
    let Some(log) = known.splitn(3, ' ').nth(2) else {
        return false;
    };
    let found = world.stat(&sessions(world, run).join(log));
    found.is_ok_and(|meta| sign(log, meta.len, run.session).as_deref() == Some(known))
}

/// Returns the folder with the orchestrator's logs.
fn sessions(world: &dyn World, run: &Glance) -> Utf8PathBuf {
    let folder = layout::run_folder(&run.name).join("events/orchestrator");
    world.project().join(folder)
}

/// Returns the sign of a run whose orchestrator's last log ends it with its last line.
fn sign_of_end(world: &dyn World, run: &Glance) -> Option<String> {
    let folder = sessions(world, run);
    let is_folder = |path: &Utf8Path| {
        let found = world.stat(path);
        found.is_ok_and(|meta| meta.kind == Kind::Folder)
    };
    // A link may lead out of the project; only a full read follows it.
    if !is_folder(folder.parent()?) || !is_folder(&folder) {
        return None;
    }
    let mut names = world.list(&folder).unwrap_or_default();
    names.retain(|entry| Utf8Path::new(&entry.name).extension() == Some("jsonl"));
    let last = names.last().filter(|last| last.kind == Kind::File)?;
    let path = folder.join(&last.name);
    let len = world.stat(&path).ok()?.len;
    let tail = world.read_end(&path, End::Tail, LONGEST_END).ok()?;
    // Without a time of the folder it is over and is not known again.
    ends(&tail, &run.name).then(|| sign(&last.name, len, run.session).unwrap_or_default())
}

/// Returns whether the end of a log has an event that ends the run as its last line.
fn ends(tail: &[u8], run: &str) -> bool {
    let Some(lines) = tail.strip_suffix(b"\n") else {
        return false;
    };
    let last = lines.rsplit(|byte| *byte == b'\n').next().unwrap_or(lines);
    // The first line may be cut off.
    let Ok(event) = serde_json::from_slice::<Event<'_>>(last) else {
        return false;
    };
    event.run_id().is_none_or(|named| named == run) && event.end().is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(minute: i64, is_over: bool) -> Glance {
        Glance {
            name: format!("run-{minute:05}"),
            at: Timestamp::from_second(minute * 60).ok(),
            session: None,
            is_over,
        }
    }

    #[test]
    fn reads_an_old_open_run_among_many_finished() {
        let mut runs: Vec<Glance> = (1..5000).map(|minute| run(minute, true)).collect();
        runs.push(run(0, false));
        let chosen = choose(runs, Timestamp::MIN, |_| None);
        assert_eq!(chosen.read.len(), ALWAYS_READ + 1);
        assert_eq!(chosen.read[0], "run-00000");
        assert_eq!(chosen.unread, 0);
    }

    #[test]
    fn reads_the_newest_and_counts_the_rest() {
        let runs: Vec<Glance> = (0..5000).map(|minute| run(minute, false)).collect();
        let chosen = choose(runs, Timestamp::MIN, |_| None);
        assert_eq!(chosen.read.len(), MOST_READ);
        assert_eq!(chosen.read.last().map(String::as_str), Some("run-04999"));
        assert_eq!(chosen.unread, 5000 - MOST_READ);
    }

    #[test]
    fn a_run_without_a_summary_is_over_if_its_last_line_says_so() {
        let runs = (0..5000).map(|minute| run(minute, false));
        let chosen = choose(runs.collect(), Timestamp::MIN, |run| {
            (run.name != "run-00007").then(String::new)
        });
        assert_eq!(chosen.read.len(), ALWAYS_READ + 1);
        assert_eq!(chosen.read[0], "run-00007");
        assert_eq!(chosen.unread, 0);
        let more = (0..20_000).map(|minute| run(minute, false)).collect();
        let chosen = choose(more, Timestamp::MIN, |_| Some(String::new()));
        assert_eq!(chosen.unread + chosen.read.len(), 20_000 - MOST_PEEKED);
    }

    #[test]
    fn old_open_runs_are_neither_read_nor_counted() {
        let runs: Vec<Glance> = (0..5000).map(|minute| run(minute, false)).collect();
        let since = Timestamp::from_second(4970 * 60).unwrap();
        let chosen = choose(runs, since, |_| None);
        assert_eq!((chosen.read.len(), chosen.unread), (30, 0));
    }

    #[test]
    fn only_a_last_line_ends_a_run() {
        let line = |kind: &str, rest: &str| format!("{{\"event_type\":\"{kind}\"{rest}}}\n");
        let over = line("run_completed", "");
        let cut = &over[3..];
        let table = [
            (over.clone(), true),
            (line("task_started", "") + &over, true),
            (over.clone() + &line("session_resumed", ""), false),
            (over.trim_end().to_owned(), false),
            (cut.to_owned(), false),
            (cut.to_owned() + &over, true),
            (line("run_completed", ",\"run_id\":\"r\""), true),
            (line("run_completed", ",\"run_id\":\"other\""), false),
            (line("run_failed", ""), true),
            (
                line("run_failed", ",\"details\":{\"recovery_possible\":true}"),
                false,
            ),
            (over.clone() + "\n", false),
            (String::new(), false),
        ];
        for (tail, expected) in table {
            assert_eq!(ends(tail.as_bytes(), "r"), expected, "{tail}");
        }
    }

    #[test]
    fn runs_without_a_time_come_last_and_by_name() {
        let timeless = |n: i64| Glance {
            at: None,
            ..run(n, false)
        };
        let mut runs: Vec<Glance> = (0..200).map(timeless).collect();
        runs.push(run(7000, false));
        let chosen = choose(runs, Timestamp::MIN, |_| None);
        assert_eq!(chosen.read.len(), MOST_READ);
        assert!(chosen.read.contains(&"run-07000".to_owned()));
        assert!(chosen.read.contains(&"run-00199".to_owned()));
        assert!(!chosen.read.contains(&"run-00000".to_owned()));
    }
}
