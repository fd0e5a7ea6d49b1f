//! What the lists of a project mean: their states, what comes next, and which one is meant.

use std::collections::BTreeSet;

use jiff::{SignedDuration, Timestamp};
use rekindle_model::{
    Assessment, Condition, Fact, Finding, Next, Progress, ProtocolName, Room, State, Summary, View,
    WorkflowId,
};
use rekindle_world::World;

use crate::Ask;

use crate::lists::format::{Format, List, NextKind, Stage};
use crate::lists::shelf::Visit;
use crate::lists::states::Standing;
use crate::lists::table::{Far, LISTS, ListState, TaskState};
use crate::lists::{doing, facts, findings, past, stages};

/// A list without any activity for so long is stale.
const FRESH: SignedDuration = SignedDuration::from_hours(30 * 24);

/// The lists of a project, judged.
pub(crate) struct Lists {
    pub(crate) protocol: ProtocolName,
    /// In the order in which they are shown.
    pub(crate) all: Vec<Judged>,
    /// Findings about the project.
    pub(crate) findings: Vec<Finding>,
}

/// A list, judged.
#[derive(Debug)]
pub(crate) struct Judged {
    pub(crate) list: List,
    pub(crate) standing: Standing,
    pub(crate) stage: Stage,
    pub(crate) next: Due,
    pub(crate) state: ListState,
    pub(crate) is_current: bool,
    pub(crate) is_stale: bool,
    pub(crate) last: Option<Timestamp>,
    /// The time before which nothing of it can have landed, in seconds since 1970.
    pub(crate) since: Option<i64>,
}

/// What comes next in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Due {
    pub(crate) kind: NextKind,
    pub(crate) tasks: Vec<usize>,
    pub(crate) document: Option<&'static str>,
    pub(crate) command: Option<String>,
}

impl Lists {
    /// Reads and judges the lists of a project, or only one.
    pub(crate) fn read(format: &dyn Format, world: &dyn World, ask: &Ask) -> Self {
        let name = ask.name.as_deref();
        let mut visit = Visit::new(world, name.filter(|_| ask.alone));
        visit.asked = name;
        visit.all = ask.all;
        let shelf = format.visit(&mut visit);
        let pasts = past::of_each(world, format.name(), &shelf.lists);
        let current = shelf.current;
        let at_hand = doing::at_hand(format, &shelf, &ask.sessions);
        let each = shelf.lists.into_iter().zip(pasts).enumerate();
        let mut all: Vec<Judged> = each
            .map(|(at, (list, past))| {
                let none = BTreeSet::new();
                let at_hand = at_hand.get(&at).unwrap_or(&none);
                let mut standing =
                    Standing::with_session(format, &list.file, &past.landed, at_hand);
                if list.is_archived {
                    standing.runnable.clear();
                }
                let since = past.since;
                let stage = stages::stage(format, &list, standing.counts.progress());
                let is_current = current == Some(at);
                let judged = judge(list, standing, stage, past.last, is_current, world.now());
                Judged { since, ..judged }
            })
            .collect();
        all.sort_by_key(Judged::place);
        let mut findings = shelf.findings;
        findings.extend(visit.take_findings());
        Self {
            protocol: ProtocolName::new(format.name()),
            all,
            findings,
        }
    }

    /// Returns the list that is meant: the one that is named, the current one, or the only one.
    pub(crate) fn chosen(&self, name: Option<&str>) -> Option<&Judged> {
        let is_open = |judged: &&Judged| judged.state != ListState::Complete;
        let open = || self.all.iter().filter(is_open);
        if let Some(name) = name {
            let exact = self.all.iter().find(|judged| judged.list.name == name);
            let begun = |judged: &&Judged| judged.list.name.starts_with(name);
            return exact.or_else(|| only(self.all.iter().filter(begun)));
        }
        if let Some(current) = open().find(|judged| judged.is_current) {
            return Some(current);
        }
        let interrupted = || open().filter(|judged| judged.state == ListState::Interrupted);
        if interrupted().next().is_some() {
            only(interrupted())
        } else {
            only(open())
        }
    }

    /// Returns the assessment in the words that all protocols share.
    pub(crate) fn assessment(&self, name: Option<&str>) -> Assessment {
        let chosen = self.chosen(name);
        let is_open = |judged: &Judged| judged.state != ListState::Complete;
        let state = match (chosen, name) {
            (Some(judged), _) => judged.state(),
            (None, Some(_)) => State::Unknown,
            (None, None) if self.all.iter().any(is_open) => State::Choice,
            (None, None) => State::Nothing,
        };
        let mut findings = self.findings.clone();
        let shown = self.all.iter().filter(|judged| match chosen {
            Some(chosen) => std::ptr::eq(chosen, *judged),
            None => is_open(judged) && !judged.is_stale,
        });
        findings.extend(shown.flat_map(findings::findings));
        let all = self.all.iter();
        let workflows = all.map(|judged| judged.summary(self.protocol));
        Assessment {
            id: chosen.map(|judged| judged.id(self.protocol)),
            state,
            workflows: workflows.collect(),
            findings,
            facts: chosen.map_or_else(|| Fact::object::<&str>([]), facts::facts),
        }
    }
}

/// Returns the only item.
fn only<'l>(mut found: impl Iterator<Item = &'l Judged>) -> Option<&'l Judged> {
    let first = found.next()?;
    found.next().is_none().then_some(first)
}

fn judge(
    list: List,
    standing: Standing,
    stage: Stage,
    last: Option<Timestamp>,
    is_current: bool,
    now: Timestamp,
) -> Judged {
    let is_unreadable = list.unreadable.is_some();
    let state = *LISTS.decide(Far {
        is_unreadable,
        is_archived: list.is_archived,
        progress: standing.counts.progress(),
        is_to_close: stage.next == NextKind::Close,
    });
    let mut next = Due {
        kind: stage.next,
        tasks: Vec::new(),
        document: stage.document,
        command: stage.command.clone(),
    };
    if is_unreadable {
        next.kind = NextKind::AskPerson;
        next.document = None;
        next.command = None;
    } else if stage.next == NextKind::ExecuteTasks {
        let (tasks, are_agents) = standing.next_tasks(&list.file);
        next.tasks = tasks;
        if !are_agents {
            next.kind = NextKind::AskPerson;
        }
    }
    let is_old = last.is_some_and(|last| now.duration_since(last) > FRESH);
    Judged {
        list,
        standing,
        stage,
        next,
        state,
        is_current,
        is_stale: is_old && !is_current,
        last,
        since: None,
    }
}

impl Judged {
    /// Returns the id of the list as a workflow.
    pub(crate) fn id(&self, protocol: ProtocolName) -> WorkflowId {
        WorkflowId::new(protocol, &self.list.name)
    }

    /// Returns the state in the words that all protocols share.
    pub(crate) const fn state(&self) -> State {
        match self.state {
            ListState::Complete => State::Complete,
            ListState::Interrupted if self.list.unreadable.is_some() => State::Corrupt,
            ListState::Interrupted | ListState::Ready | ListState::Drafting => State::Interrupted,
        }
    }

    /// Returns by what lists are sorted: the current one first, then by state, then the newest.
    fn place(&self) -> (bool, bool, u8, std::cmp::Reverse<Timestamp>) {
        let is_folded = self.is_stale || self.state == ListState::Complete;
        let (rank, newest) = match self.state {
            ListState::Interrupted => (0, self.last),
            ListState::Ready => (1, None),
            ListState::Drafting => (2, None),
            ListState::Complete => (3, None),
        };
        let newest = newest.unwrap_or(Timestamp::UNIX_EPOCH);
        (is_folded, !self.is_current, rank, std::cmp::Reverse(newest))
    }

    fn summary(&self, protocol: ProtocolName) -> Summary {
        let state = self.state();
        let counts = self.standing.counts;
        let progress = Progress {
            done: counts.done,
            total: Some(counts.total()),
        };
        let next = Next::new(self.next.kind.as_str(), self.next_sentence());
        let summary = Summary::new(self.id(protocol), state, self.stage.name, progress, next);
        Summary {
            last_activity: self.last,
            view: View {
                condition: match self.state {
                    ListState::Ready => Condition::Ready,
                    ListState::Drafting => Condition::Drafting,
                    ListState::Interrupted | ListState::Complete => Condition::of(state),
                },
                word: Some(self.state.as_str()),
                is_list: true,
                is_current: self.is_current,
                room: if self.is_stale || self.state == ListState::Complete {
                    Room::Counted
                } else {
                    Room::Line
                },
                ..View::of(state).titled(&self.list.title)
            },
            ..summary
        }
    }

    /// Returns the open tasks that agents can do without a person, in the order of the list.
    ///
    /// What needs one that is left out is left out too.
    pub(crate) fn for_agents(&self, includes_marked: bool) -> Vec<usize> {
        let file = &self.list.file;
        let standing = &self.standing;
        if self.stage.next != NextKind::ExecuteTasks || self.list.unreadable.is_some() {
            return Vec::new();
        }
        let mut is_met: Vec<bool> = standing
            .states
            .iter()
            .map(|state| state.is_finished())
            .collect();
        let mut taken = BTreeSet::new();
        // Needs mostly point back; those that do not are met in a later round.
        loop {
            let before = taken.len();
            for &task in &standing.needs.order {
                let is_open = !is_met[task] && standing.states[task] != TaskState::Blocked;
                let is_free = includes_marked || !standing.is_below_mark(file, task);
                if is_open
                    && is_free
                    && !file.tasks[task].is_for_person
                    && standing.needs.is_met(task, &is_met)
                {
                    is_met[task] = true;
                    taken.insert(task);
                }
            }
            if taken.len() == before {
                break;
            }
        }
        let order = standing.needs.order.iter().copied();
        order.filter(|task| taken.contains(task)).collect()
    }

    /// Returns the tasks without a mark whose commits what is checked out has.
    pub(crate) fn unmarked(&self, world: &dyn World, format: &dyn Format) -> Vec<usize> {
        let is_proven = |task: &&usize| self.standing.landed.contains(task);
        let missing = self.standing.mark_missing.iter().filter(is_proven);
        let missing: Vec<usize> = missing.copied().collect();
        let (Some(since), false) = (self.since, missing.is_empty() || self.list.is_archived) else {
            return Vec::new();
        };
        let here = past::in_head(world, format.name(), &self.list, since);
        let is_here = |task: &usize| here.contains(&self.list.file.tasks[*task].id);
        missing.into_iter().filter(is_here).collect()
    }

    /// Returns what comes next, in one sentence.
    pub(crate) fn next_sentence(&self) -> String {
        let tasks = &self.list.file.tasks;
        let names = self
            .next
            .tasks
            .iter()
            .take(4)
            .map(|task| rekindle_text::excerpt(&tasks[*task].id, 40));
        let mut names: Vec<String> = names.collect();
        if self.next.tasks.len() > names.len() {
            names.push(format!("{} more", self.next.tasks.len() - names.len()));
        }
        let names = names.join(", ");
        let document = self.next.document.unwrap_or_default();
        match self.next.kind {
            NextKind::ExecuteTasks => format!("do {names}"),
            NextKind::WriteDocument => format!("write `{document}`"),
            NextKind::AskPerson if !names.is_empty() => format!("a person has to do {names}"),
            NextKind::AskPerson if !document.is_empty() => {
                format!("answer the open questions in `{document}`")
            }
            NextKind::AskPerson => "make the file with the tasks readable".to_owned(),
            NextKind::Close => match &self.next.command {
                Some(command) => format!("close it with `{command}`"),
                None => "close it".to_owned(),
            },
            NextKind::None => "nothing is left to do".to_owned(),
        }
    }
}
