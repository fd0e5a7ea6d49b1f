//! The workflows of a project as a person sees them: the order, the words, the short ids.
//!
//! Programs get the same workflows in the order of the protocols, see [`crate::Overview::object`].

use std::cmp::Reverse;

use jiff::Timestamp;
use rekindle_model::{Attention, Condition, ProtocolName, Room, Summary, WorkflowId};

use crate::AtWork;

/// Which workflows a list is about.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Listing {
    /// Only those of this protocol.
    pub protocol: Option<ProtocolName>,
    /// Finished and old ones too.
    pub all: bool,
}

/// One workflow in a list for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line<'a> {
    /// What its protocol says of it.
    pub summary: &'a Summary,
    /// The shortest text that means it.
    pub short_id: String,
    /// Its state in a person's words.
    pub condition: Condition,
    /// Who is at work on it.
    pub at_work: Option<&'a AtWork>,
    /// The sessions of coding agents that worked on it.
    pub sessions: Vec<&'a Summary>,
}

/// How many workflows have no line.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Folded {
    /// Those that are finished.
    pub finished: usize,
    /// Those in which nothing happened for a long time.
    pub older: usize,
}

/// So many lists of tasks have a line where not all are asked for.
const MOST_LISTS: usize = 5;

/// Puts the workflows in the order that programs get: open ones first, then as the protocols have
/// them, and the lists of tasks of all formats in one order.
pub(crate) fn order(workflows: &mut [Summary]) {
    workflows.sort_by_key(|summary| {
        let view = &summary.view;
        let of_list = view.is_list.then(|| {
            let is_over = view.room == Room::Counted;
            let attention = view.condition.attention();
            (is_over, !view.is_current, attention, newest(summary))
        });
        (!summary.state.is_open(), of_list)
    });
}

/// Splits off the workflows that are only counted: old lists of tasks, and those after the first few.
pub(crate) fn split_counted(workflows: Vec<Summary>) -> (Vec<Summary>, Vec<Summary>) {
    let mut n_lists = 0;
    workflows.into_iter().partition(|summary| {
        let is_shown = summary.view.room != Room::Counted;
        n_lists += usize::from(is_shown && summary.view.is_list);
        is_shown && !(summary.view.is_list && n_lists > MOST_LISTS)
    })
}

/// Returns what sorts the newest first; lists of tasks that nobody has begun keep their order.
fn newest(summary: &Summary) -> Reverse<Option<Timestamp>> {
    let is_unordered =
        summary.view.is_list && summary.view.condition.attention() != Attention::Needed;
    Reverse(summary.last_activity.filter(|_| !is_unordered))
}

/// Returns a line for each workflow that deserves one, in the order in which a person needs them;
/// `counted` are those that have none in any case.
pub(crate) fn lines<'a>(
    workflows: &'a [Summary],
    counted: &[Summary],
    at_work: &'a [(WorkflowId, AtWork)],
    all: bool,
) -> (Vec<Line<'a>>, Folded) {
    let known = workflows.iter().chain(counted);
    let ids: Vec<&WorkflowId> = known.map(|summary| &summary.id).collect();
    let mut lines: Vec<Line<'_>> = workflows
        .iter()
        .map(|summary| {
            let at_work = at_work.iter().find(|(id, _)| *id == summary.id);
            let at_work = at_work.map(|(_, who)| who);
            Line {
                summary,
                short_id: short_id(&summary.id, &ids),
                condition: condition(summary, at_work),
                at_work,
                sessions: Vec::new(),
            }
        })
        .collect();
    // The sort is stable: what a protocol lists first stays first among equals.
    lines.sort_by_key(|line| {
        let is_open = line.summary.state.is_open();
        let is_over = line.summary.view.room == Room::Counted;
        let comes_later = !(is_open && line.summary.view.is_current);
        let attention = line.condition.attention();
        let newest = newest(line.summary);
        (!is_open, is_over, comes_later, attention, newest)
    });
    let (shown, hidden): (Vec<_>, Vec<_>) = lines
        .into_iter()
        .partition(|line| all || line.at_work.is_some() || line.summary.view.room == Room::Line);
    let is_old = |line: &&Line<'_>| line.summary.state.is_open();
    let older = hidden.iter().filter(is_old).count();
    let mut folded = Folded {
        finished: hidden.len() - older,
        older,
    };
    if shown.is_empty() && folded.older > 0 {
        // The newest of the old ones is better than nothing.
        folded.older -= 1;
        let shown = hidden.into_iter().take(1).collect();
        return (shown, folded.and(counted));
    }
    (shown, folded.and(counted))
}

/// Puts sessions that worked on a workflow into its line.
pub(crate) fn beside<'a>(
    lines: &[Line<'a>],
    worked_on: &[(WorkflowId, WorkflowId)],
) -> Vec<Line<'a>> {
    let workflow = |line: &Line<'_>| {
        let mut links = worked_on.iter();
        let (_, workflow) = links.find(|(session, _)| *session == line.summary.id)?;
        Some(workflow)
    };
    let is_shown = |id: &WorkflowId| lines.iter().any(|line| line.summary.id == *id);
    let (moved, mut kept): (Vec<_>, Vec<_>) = lines
        .iter()
        .cloned()
        .partition(|line| workflow(line).is_some_and(is_shown));
    for session in moved {
        let id = workflow(&session);
        let of = kept.iter_mut().find(|line| Some(&line.summary.id) == id);
        if let Some(line) = of {
            line.sessions.push(session.summary);
        }
    }
    kept
}

impl Folded {
    /// Returns the numbers with more workflows that have no line.
    fn and(self, more: &[Summary]) -> Self {
        let older = more
            .iter()
            .filter(|summary| summary.state.is_open())
            .count();
        Self {
            finished: self.finished + more.len() - older,
            older: self.older + older,
        }
    }
}

/// Returns the state of a workflow in a person's words.
pub(crate) fn condition(summary: &Summary, at_work: Option<&AtWork>) -> Condition {
    let condition = summary.view.condition;
    // Workers alone land nothing, so a person has to resume.
    let is_held = at_work.is_some_and(AtWork::is_rekindle);
    let is_limited = matches!(condition, Condition::Limited { .. });
    match (is_held, is_limited) {
        (true, false) => Condition::Running,
        // Nobody waits for the end of the limit.
        (false, true) if summary.view.is_ours => Condition::Interrupted,
        (true, true) | (false, _) => condition,
    }
}

/// A short id has at least this many characters.
const SHORTEST: usize = 4;

/// Returns the shortest beginning of a workflow's name that means no other workflow, or the whole id.
pub(crate) fn short_id(id: &WorkflowId, all: &[&WorkflowId]) -> String {
    let others = || all.iter().filter(|other| **other != id);
    if others().any(|other| other.name == id.name) || id.name.contains(':') {
        return id.to_string();
    }
    let mut ends = id
        .name
        .char_indices()
        .map(|(start, c)| start + c.len_utf8());
    let is_unique = |end: &usize| {
        let beginning = &id.name[..*end];
        // A beginning that ends between words is hard to read.
        beginning.ends_with(char::is_alphanumeric)
            && !others().any(|other| other.name.starts_with(beginning))
    };
    let end = ends.by_ref().skip(SHORTEST - 1).find(is_unique);
    let short = end.map_or(id.name.as_str(), |end| &id.name[..end]);
    // A beginning of one name can be all of another.
    if others().any(|other| other.name.starts_with(short)) {
        return id.to_string();
    }
    short.to_owned()
}

#[cfg(test)]
mod tests {
    use rekindle_model::{Next, Progress, State, View};

    use super::*;

    fn id(text: &str) -> WorkflowId {
        let (protocol, name) = text.split_once(':').unwrap();
        let protocols = ["agent-memory", "map", "session"];
        let protocol = protocols.into_iter().find(|known| *known == protocol);
        WorkflowId::new(ProtocolName::new(protocol.unwrap()), name)
    }

    fn shortened(ids: &[&str]) -> Vec<String> {
        let ids: Vec<WorkflowId> = ids.iter().map(|text| id(text)).collect();
        let all: Vec<&WorkflowId> = ids.iter().collect();
        ids.iter().map(|id| short_id(id, &all)).collect()
    }

    #[test]
    fn short_ids_are_unique_beginnings_of_at_least_four_characters() {
        assert_eq!(shortened(&["agent-memory:20260119-0900-a"]), ["2026"]);
        assert_eq!(
            shortened(&[
                "agent-memory:20260119-0900-orders",
                "agent-memory:20260119-1000-billing",
                "agent-memory:20260120-0800-x",
                "map:main",
            ]),
            ["20260119-0", "20260119-1", "2026012", "main"]
        );
    }

    #[test]
    fn a_name_that_another_begins_with_keeps_its_protocol() {
        assert_eq!(
            shortened(&["map:main", "agent-memory:main-menu", "map:x"]),
            ["map:main", "main-m", "x"]
        );
        assert_eq!(
            shortened(&["map:main", "agent-memory:main"]),
            ["map:main", "agent-memory:main"]
        );
        assert_eq!(shortened(&["session:claude:3f2a"]), ["session:claude:3f2a"]);
    }

    fn workflow(name: &str, condition: Condition, hour: i64) -> Summary {
        let state = match condition {
            Condition::Complete => State::Complete,
            Condition::NeedsPerson => State::Waiting,
            Condition::Blocked => State::Blocked,
            Condition::Unreadable => State::Corrupt,
            Condition::Running
            | Condition::Interrupted
            | Condition::Limited { .. }
            | Condition::Ready
            | Condition::Drafting => State::Interrupted,
        };
        Summary {
            id: id(&format!("map:{name}")),
            state,
            stage: String::new(),
            progress: Progress {
                done: 0,
                total: None,
            },
            last_activity: jiff::Timestamp::from_second(hour * 3600).ok(),
            next: Next {
                kind: "x",
                summary: String::new(),
            },
            view: View {
                condition,
                ..View::of(state)
            },
        }
    }

    fn names(lines: &[Line<'_>]) -> Vec<String> {
        lines
            .iter()
            .map(|line| line.summary.id.name.clone())
            .collect()
    }

    #[test]
    fn what_needs_a_person_comes_first_and_then_the_newest() {
        let mut current = workflow("current", Condition::Ready, 1);
        current.view.is_current = true;
        let all = [
            workflow("draft", Condition::Drafting, 9),
            workflow("ready", Condition::Ready, 8),
            workflow("limited", Condition::Limited { until: None }, 9),
            workflow("old", Condition::Interrupted, 2),
            workflow("done", Condition::Complete, 9),
            workflow("asks", Condition::NeedsPerson, 3),
            workflow("new", Condition::Interrupted, 4),
            current,
        ];
        let (shown, folded) = lines(&all, &[], &[], false);
        let order = ["current", "new", "asks", "old", "limited", "ready", "draft"];
        assert_eq!(names(&shown), order);
        assert_eq!((folded.finished, folded.older), (1, 0));
        assert_eq!(lines(&all, &[], &[], true).0.len(), all.len());
    }

    #[test]
    fn who_is_at_work_decides_the_word_and_keeps_the_line() {
        let mut old = workflow("old", Condition::Interrupted, 2);
        old.view.room = Room::Folded;
        let all = [workflow("new", Condition::Interrupted, 4), old];
        let (_, folded) = lines(&all, &[], &[], false);
        assert_eq!((folded.finished, folded.older), (0, 1));
        let at_work = [(id("map:old"), AtWork::Rekindle(None))];
        let (shown, folded) = lines(&all, &[], &at_work, false);
        assert_eq!(names(&shown), ["new", "old"]);
        assert_eq!(shown[1].condition, Condition::Running);
        assert_eq!(folded, Folded::default());
    }

    #[test]
    fn where_all_are_old_the_newest_is_shown() {
        let all: Vec<Summary> = [1, 3, 2]
            .map(|hour| {
                let mut old = workflow(&format!("w{hour}"), Condition::Interrupted, hour);
                old.view.room = Room::Folded;
                old
            })
            .into();
        let (shown, folded) = lines(&all, &[], &[], false);
        assert_eq!((names(&shown), folded.older), (vec!["w3".to_owned()], 2));
    }

    fn list(name: &str, condition: Condition, hour: i64) -> Summary {
        let mut list = workflow(name, condition, hour);
        list.view.is_list = true;
        if condition == Condition::Complete {
            list.view.room = Room::Counted;
        }
        list
    }

    #[test]
    fn lists_of_all_formats_are_in_one_order_and_only_five_have_a_line() {
        let mut stale = list("stale", Condition::Interrupted, 1);
        stale.view.room = Room::Counted;
        let mut current = list("current", Condition::Drafting, 1);
        current.view.is_current = true;
        let mut all = vec![
            list("old", Condition::Interrupted, 2),
            list("ready", Condition::Ready, 3),
            list("done", Condition::Complete, 9),
            stale,
            list("draft", Condition::Drafting, 9),
            list("new", Condition::Interrupted, 4),
            list("later", Condition::Ready, 8),
            current,
            workflow("other", Condition::Interrupted, 1),
        ];
        order(&mut all);
        let all_names: Vec<&str> = all.iter().map(|summary| summary.id.name.as_str()).collect();
        let expected = [
            "other", "current", "new", "old", "ready", "later", "draft", "stale", "done",
        ];
        assert_eq!(all_names, expected);
        let (listed, _) = lines(&all, &[], &[], true);
        assert_eq!(names(&listed)[6..], ["draft", "stale", "done"]);
        let (kept, counted) = split_counted(all);
        let (shown, folded) = lines(&kept, &counted, &[], false);
        assert_eq!(
            names(&shown),
            ["current", "new", "old", "other", "ready", "later"]
        );
        assert_eq!((folded.finished, folded.older), (1, 2));
    }
}
