//! The states of tasks: what the marks claim, what commits prove, and what may start now.

use std::collections::BTreeSet;

use crate::lists::format::Format;
use crate::lists::order::Needs;
use crate::lists::table::{self, Claim, ParentVerdict, Parts, Progress, TaskState};
use crate::lists::task::TaskFile;

/// The tasks of a list, judged.
#[derive(Debug)]
pub struct Standing {
    /// The state of each task.
    pub states: Vec<TaskState>,
    /// Which tasks are work, and not only a heading of others.
    pub is_work: Vec<bool>,
    /// The parts of each task.
    pub children: Vec<Vec<usize>>,
    /// What each task needs.
    pub needs: Needs,
    /// Open tasks that can start, in the order of the list.
    pub runnable: Vec<usize>,
    /// Tasks that are marked while parts of them are open.
    pub marked_early: Vec<usize>,
    /// Tasks that are done and not marked.
    pub mark_missing: Vec<usize>,
    /// Tasks whose commit has landed.
    pub landed: BTreeSet<usize>,
    /// Tasks that the last session of a coding agent was working on.
    pub at_hand: BTreeSet<usize>,
    /// How many tasks that are work have each state.
    pub counts: Counts,
}

/// How many tasks have each state.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Open and not blocked.
    pub pending: usize,
    /// Begun.
    pub in_progress: usize,
    /// Done.
    pub done: usize,
    /// Waiting for themselves or for what was deferred.
    pub blocked: usize,
    /// Left out.
    pub skipped: usize,
}

impl Counts {
    /// Returns how many tasks there are.
    pub const fn total(self) -> usize {
        self.pending + self.in_progress + self.done + self.blocked + self.skipped
    }

    /// Returns how far the tasks are.
    pub(crate) const fn progress(self) -> Progress {
        let open = self.pending + self.in_progress + self.blocked;
        match (self.total(), open) {
            (0, _) => Progress::NoTasks,
            (_, 0) => Progress::Finished,
            _ if self.done + self.in_progress > 0 => Progress::Begun,
            _ => Progress::NotBegun,
        }
    }
}

impl Standing {
    /// Judges the tasks of a file; `landed` are the ids of tasks whose commits are there.
    pub fn of(format: &dyn Format, file: &TaskFile, landed: &BTreeSet<String>) -> Self {
        Self::with_session(format, file, landed, &BTreeSet::new())
    }

    /// Judges the tasks of a file of which a session of a coding agent was working on some.
    pub fn with_session(
        format: &dyn Format,
        file: &TaskFile,
        landed: &BTreeSet<String>,
        at_hand: &BTreeSet<usize>,
    ) -> Self {
        let children = file.children();
        let is_work: Vec<bool> = children
            .iter()
            .map(|parts| parts.is_empty() || format.are_parents_work())
            .collect();
        let needs = Needs::of(file, &is_work, &children);
        let mut standing = Self {
            states: vec![TaskState::Pending; file.tasks.len()],
            is_work,
            children,
            needs,
            runnable: Vec::new(),
            marked_early: Vec::new(),
            mark_missing: Vec::new(),
            landed: BTreeSet::new(),
            at_hand: at_hand.clone(),
            counts: Counts::default(),
        };
        let is_proven = |task: &usize| landed.contains(&file.tasks[*task].id);
        standing.landed = (0..file.tasks.len()).filter(is_proven).collect();
        standing.judge(file);
        standing.runnable = standing.find_runnable(file);
        standing
    }

    /// Finds the states; parts come after what they are a part of, so the last is judged first.
    fn judge(&mut self, file: &TaskFile) {
        let in_ring: BTreeSet<usize> = self.needs.rings.iter().flatten().copied().collect();
        for task in (0..file.tasks.len()).rev() {
            let claim = file.tasks[task].claim;
            let parts = self.parts(task, file);
            if !self.is_work[task] {
                let verdict = *table::PARENTS.decide(table::Whole { parts, claim });
                match verdict {
                    ParentVerdict::DoneUnmarked => self.mark_missing.push(task),
                    ParentVerdict::MarkedEarly => self.marked_early.push(task),
                    ParentVerdict::Done
                    | ParentVerdict::Skipped
                    | ParentVerdict::InProgress
                    | ParentVerdict::Pending => {}
                }
                self.states[task] = verdict.state();
                continue;
            }
            let has_landed = self.landed.contains(&task);
            let has_open_part = parts == Parts::Open;
            self.states[task] = *table::TASKS.decide(table::Signs {
                has_landed,
                claim,
                is_in_ring: in_ring.contains(&task),
                has_open_part,
                is_at_hand: self.at_hand.contains(&task),
            });
            if claim == Claim::Done && has_open_part && !has_landed {
                self.marked_early.push(task);
            }
            if has_landed && claim != Claim::Done {
                self.mark_missing.push(task);
            }
            self.count(task);
        }
        self.marked_early.reverse();
        self.mark_missing.reverse();
    }

    /// Returns how far the parts of a task are together.
    fn parts(&self, task: usize, file: &TaskFile) -> Parts {
        let parts = &self.children[task];
        let open = |part: &&usize| !self.states[**part].is_finished();
        let is_needed = |part: &usize| !file.tasks[*part].is_optional;
        let mut still_open = parts.iter().filter(open).peekable();
        if still_open.peek().is_some() {
            return if still_open.copied().any(|part| is_needed(&part)) {
                Parts::Open
            } else {
                Parts::OptionalOpen
            };
        }
        let is_done = |part: &usize| self.states[*part] == TaskState::Done;
        if parts.is_empty() || parts.iter().any(is_done) {
            Parts::Finished
        } else {
            Parts::LeftOut
        }
    }

    fn count(&mut self, task: usize) {
        let counts = &mut self.counts;
        *match self.states[task] {
            TaskState::Pending => &mut counts.pending,
            TaskState::InProgress => &mut counts.in_progress,
            TaskState::Done => &mut counts.done,
            TaskState::Blocked => &mut counts.blocked,
            TaskState::Skipped => &mut counts.skipped,
        } += 1;
    }

    /// Returns the open tasks that can start.
    fn find_runnable(&self, file: &TaskFile) -> Vec<usize> {
        let finished: Vec<bool> = self
            .states
            .iter()
            .map(|state| state.is_finished())
            .collect();
        let met = self.needs.are_met(&finished);
        let mut is_taken = vec![false; file.groups.len().max(1)];
        let mut runnable = Vec::new();
        for &task in &self.needs.order {
            if finished[task] {
                continue;
            }
            let entry = &file.tasks[task];
            if self.needs.are_groups_exclusive && !entry.is_parallel {
                let is_first = is_taken
                    .get_mut(entry.group)
                    .is_none_or(|taken| !std::mem::replace(taken, true));
                if !is_first {
                    continue;
                }
            }
            if met[task] && self.states[task] != TaskState::Blocked {
                runnable.push(task);
            }
        }
        runnable
    }

    /// Returns whether a task is open only below one that is marked done, or is such a one itself.
    pub fn is_below_mark(&self, file: &TaskFile, task: usize) -> bool {
        let mut above = Some(task);
        std::iter::from_fn(|| {
            let here = above?;
            above = file.tasks[here].parent;
            Some(here)
        })
        .any(|task| self.marked_early.binary_search(&task).is_ok())
    }

    /// Returns the tasks that come next: those that can start, an agent's before a person's, else those that are blocked.
    pub fn next_tasks(&self, file: &TaskFile) -> (Vec<usize>, bool) {
        let is_agents = |task: &usize| !file.tasks[*task].is_for_person;
        let agents: Vec<usize> = self.runnable.iter().copied().filter(is_agents).collect();
        if !agents.is_empty() {
            return (agents, true);
        }
        if !self.runnable.is_empty() {
            return (self.runnable.clone(), false);
        }
        let is_blocked = |task: &usize| self.states[*task] == TaskState::Blocked;
        let blocked = self.needs.order.iter().copied().filter(is_blocked);
        (blocked.collect(), false)
    }
}
