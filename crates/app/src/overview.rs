//! The workflows of a project as a person sees them: the order, the words, the short ids.
//!
//! Programs get the same workflows in the order of the protocols, see [`crate::Overview::object`].

use std::cmp::Reverse;

use rekindle_model::{Condition, ProtocolName, Room, Summary, WorkflowId};

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
}

/// How many workflows have no line.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Folded {
    /// Those that are finished.
    pub finished: usize,
    /// Those in which nothing happened for a long time.
    pub older: usize,
}

/// Returns a line for each workflow that deserves one, in the order in which a person needs them.
pub(crate) fn lines<'a>(
    workflows: &'a [Summary],
    at_work: &'a [(WorkflowId, AtWork)],
    all: bool,
) -> (Vec<Line<'a>>, Folded) {
    let ids: Vec<&WorkflowId> = workflows.iter().map(|summary| &summary.id).collect();
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
            }
        })
        .collect();
    // The sort is stable: what a protocol lists first stays first among equals.
    lines.sort_by_key(|line| {
        let is_open = line.summary.state.is_open();
        let comes_later = !(is_open && line.summary.view.is_current);
        let newest = Reverse(line.summary.last_activity);
        (!is_open, comes_later, line.condition.attention(), newest)
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
        return (hidden.into_iter().take(1).collect(), folded);
    }
    (shown, folded)
}

/// Returns the state of a workflow in a person's words.
fn condition(summary: &Summary, at_work: Option<&AtWork>) -> Condition {
    let condition = summary.view.condition;
    // Workers alone land nothing, so a person has to resume.
    let is_held = at_work.is_some_and(AtWork::is_rekindle);
    let is_limited = matches!(condition, Condition::Limited { .. });
    if is_held && !is_limited {
        Condition::Running
    } else {
        condition
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
        let (shown, folded) = lines(&all, &[], false);
        let order = ["current", "new", "asks", "old", "limited", "ready", "draft"];
        assert_eq!(names(&shown), order);
        assert_eq!((folded.finished, folded.older), (1, 0));
        assert_eq!(lines(&all, &[], true).0.len(), all.len());
    }

    #[test]
    fn who_is_at_work_decides_the_word_and_keeps_the_line() {
        let mut old = workflow("old", Condition::Interrupted, 2);
        old.view.room = Room::Folded;
        let all = [workflow("new", Condition::Interrupted, 4), old];
        let (_, folded) = lines(&all, &[], false);
        assert_eq!((folded.finished, folded.older), (0, 1));
        let at_work = [(id("map:old"), AtWork::Rekindle(None))];
        let (shown, folded) = lines(&all, &at_work, false);
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
        let (shown, folded) = lines(&all, &[], false);
        assert_eq!((names(&shown), folded.older), (vec!["w3".to_owned()], 2));
    }
}
