//! From a list and an intent to effects: one task at a time in the checkout, or one step of a stage.

use rekindle_model::{
    Action, AgentTask, Ended, Intent, Plan, Question, Step, Stop, StopKind, Then, WithYes,
};
use rekindle_text::excerpt;
use rekindle_world::World;

use crate::lists::assess::Judged;
use crate::lists::format::{Format, NextKind};
use crate::lists::{mark, messages};

const BY_HAND: &str = "by_hand";
const DONE: &str = "Done";
const MARKED: &str = "include_marked";
const INCLUDE: &str = "Include";

/// A list and how it is to be done.
pub(crate) struct Asked<'c> {
    pub(crate) world: &'c dyn World,
    pub(crate) format: &'c dyn Format,
    pub(crate) judged: &'c Judged,
    pub(crate) protocol: rekindle_model::ProtocolName,
    /// Whether tasks below a mark are done too.
    pub(crate) includes_marked: bool,
}

/// Plans the next steps; `None` for what a list does not keep.
pub(crate) fn plan(asked: &Asked<'_>, intent: &Intent) -> Option<Plan> {
    Some(match intent {
        Intent::Open | Intent::GoOn { .. } => asked.with_missing_marks(asked.next()),
        Intent::Settle { task, ended, .. } => asked.settle(task, ended),
        Intent::Answer {
            question, answer, ..
        } => asked.answered(question, answer),
        Intent::Finish { .. } => asked.with(
            Vec::new(),
            Stop::new(StopKind::Done, "every task has landed"),
        ),
        Intent::Checked { .. } | Intent::Checkpoint { .. } | Intent::Report(_) => return None,
    })
}

impl Asked<'_> {
    fn with(&self, steps: Vec<Step>, then: impl Into<Then>) -> Plan {
        Plan::new(self.judged.id(self.protocol), steps, then)
    }

    /// Adds the marks of tasks whose commits are in what is checked out.
    fn with_missing_marks(&self, mut plan: Plan) -> Plan {
        let list = &self.judged.list;
        let unmarked = self.judged.unmarked(self.world, self.format);
        if unmarked.is_empty() {
            return plan;
        }
        let path = self.world.project().join(list.source());
        let before = self.world.read(&path, u64::MAX).unwrap_or_default();
        let tasks = unmarked.iter().map(|task| &list.file.tasks[*task]);
        let wanted = tasks.map(|task| (task.id.as_str(), task.title.as_str()));
        let (after, _) = mark::mark_all(self.format, &before, &wanted.collect());
        if after != before {
            let why = format!(
                "{}: a commit with the work has landed",
                self.names(&unmarked)
            );
            let edit = Action::Edit {
                path,
                before,
                after,
            };
            plan.steps.insert(0, Step::new(edit, why));
        }
        plan
    }

    fn next(&self) -> Plan {
        let judged = self.judged;
        let sentence = judged.next_sentence();
        match judged.next.kind {
            _ if judged.list.unreadable.is_some() => {
                self.with(Vec::new(), Stop::new(StopKind::Blocked, sentence))
            }
            NextKind::ExecuteTasks => self.tasks(),
            NextKind::AskPerson if !judged.next.tasks.is_empty() => self.by_hand(),
            NextKind::WriteDocument | NextKind::AskPerson | NextKind::Close => {
                let task = messages::stage(self.world, self.format, judged);
                self.with(Vec::new(), task)
            }
            NextKind::None => self.with(Vec::new(), Stop::new(StopKind::Done, sentence)),
        }
    }

    /// The first task that can start; what is open only below a mark needs a person's word.
    fn tasks(&self) -> Plan {
        let judged = self.judged;
        let file = &judged.list.file;
        let is_free =
            |task: &&usize| self.includes_marked || !judged.standing.is_below_mark(file, **task);
        let Some(&first) = judged.next.tasks.iter().find(is_free) else {
            return self.ask_about_marked();
        };
        let mut task = messages::task(self.world, self.format, judged, first, 1, None);
        task.by_hand = vec![format!(
            "When the work is done and checked, write `{}` between the brackets of `{}` in `{}`.",
            self.format.done_mark(),
            excerpt(&file.tasks[first].id, 80),
            excerpt(judged.list.source().as_str(), 200)
        )];
        let mut plan = self.with(Vec::new(), task);
        let after = judged.standing.counts.pending + judged.standing.counts.in_progress;
        if after > 1 {
            plan.ahead = vec![format!(
                "then the other {} open tasks, one after another",
                after - 1
            )];
        }
        plan
    }

    fn ask_about_marked(&self) -> Plan {
        let names = self.names(&self.judged.next.tasks);
        let text = format!(
            "Open only below a task that is marked as done: {names}. Nearly always this is finished work. Do it all the same?"
        );
        let answers = vec![
            (INCLUDE, "do them"),
            (Question::LEAVE, "leave them as they are"),
        ];
        let mut question = Question::labels(MARKED, text, answers)
            .no(Question::LEAVE)
            .unanswered(format!(
                "left out, because a task above is marked as done: {names}"
            ));
        question.with_yes = WithYes::Answer(Question::LEAVE);
        self.with(Vec::new(), question)
    }

    fn by_hand(&self) -> Plan {
        let judged = self.judged;
        let names = self.names(&judged.next.tasks);
        let is_persons = |task: &&usize| judged.list.file.tasks[**task].is_for_person;
        let Some(&first) = judged.next.tasks.iter().find(is_persons) else {
            let reason = format!("these tasks depend on each other in a cycle: {names}");
            return self.with(Vec::new(), Stop::new(StopKind::Blocked, reason));
        };
        let task = &judged.list.file.tasks[first];
        let text = format!(
            "A person has to do `{}` by hand: {}. Is it done?",
            excerpt(&task.id, 80),
            excerpt(&task.title, 300)
        );
        let answers = vec![
            (DONE, "mark it as done"),
            (Question::LEAVE, "it is not done yet"),
        ];
        let mut question = Question::labels(BY_HAND, text, answers)
            .no(Question::LEAVE)
            .unanswered(format!("a person has to do {names}"));
        question.with_yes = WithYes::LeaveOpen;
        self.with(Vec::new(), question)
    }

    fn names(&self, tasks: &[usize]) -> String {
        let tasks = tasks.iter().take(10);
        let all = &self.judged.list.file.tasks;
        let names = tasks.map(|task| format!("`{}`", excerpt(&all[*task].id, 80)));
        names.collect::<Vec<_>>().join(", ")
    }

    fn answered(&self, question: &str, answer: &str) -> Plan {
        let judged = self.judged;
        match (question, answer) {
            (BY_HAND, DONE) => {
                let is_persons = |task: &&usize| judged.list.file.tasks[**task].is_for_person;
                match judged.next.tasks.iter().find(is_persons) {
                    Some(&task) => self.mark(task, "a person has done it"),
                    None => self.next(),
                }
            }
            (MARKED, INCLUDE) => Self {
                includes_marked: true,
                ..*self
            }
            .tasks(),
            (MARKED, _) => {
                let names = self.names(&judged.next.tasks);
                let reason = format!("left out, because a task above is marked as done: {names}");
                self.with(
                    Vec::new(),
                    Stop::new(StopKind::Waiting, reason).hint(self.include_hint()),
                )
            }
            _ => self.with(
                Vec::new(),
                Stop::new(StopKind::Waiting, judged.next_sentence()),
            ),
        }
    }

    fn include_hint(&self) -> String {
        let id = self.judged.id(self.protocol).to_string();
        format!(
            "`rekindle resume --include-marked {}` does them too",
            rekindle_text::shell_word(&id)
        )
    }

    /// An agent has ended: a task is marked, a stage is for a person to look at.
    fn settle(&self, task: &AgentTask, ended: &Ended) -> Plan {
        match ended {
            Ended::Succeeded => {}
            Ended::Failed { reason } => {
                return self.with(Vec::new(), Stop::new(StopKind::Blocked, reason.clone()));
            }
            Ended::CheckFailed { check, reason } => {
                let reason = format!("`{}` did not pass: {reason}", excerpt(check, 200));
                return self.with(Vec::new(), Stop::new(StopKind::Blocked, reason));
            }
        }
        let tasks = &self.judged.list.file.tasks;
        let Some(id) = &task.task else {
            let reason = format!(
                "{}; look at it before you go on",
                self.judged.next_sentence()
            );
            let id = self.judged.id(self.protocol).to_string();
            let hint = format!(
                "`rekindle resume {}` goes on",
                rekindle_text::shell_word(&id)
            );
            return self.with(Vec::new(), Stop::new(StopKind::Waiting, reason).hint(hint));
        };
        match tasks.iter().position(|task| task.id == *id) {
            Some(at) => self.mark(at, "its work is done"),
            None => self.with(Vec::new(), Then::Again),
        }
    }

    /// Marks a task in the checkout.
    fn mark(&self, at: usize, why: &str) -> Plan {
        let list = &self.judged.list;
        let task = &list.file.tasks[at];
        let path = self.world.project().join(list.source());
        let before = self.world.read(&path, u64::MAX).unwrap_or_default();
        let Some(after) = mark::mark(self.format, &before, &task.id, &task.title) else {
            let reason = format!(
                "the line of `{}` cannot be found again in `{}`, so it is not marked",
                excerpt(&task.id, 80),
                excerpt(list.source().as_str(), 200)
            );
            return self.with(Vec::new(), Stop::new(StopKind::Waiting, reason));
        };
        if after == before {
            return self.with(Vec::new(), Then::Again);
        }
        let why = format!("`{}`: {why}", excerpt(&task.id, 80));
        let step = Step::new(
            Action::Edit {
                path,
                before,
                after,
            },
            why,
        );
        self.with(vec![step], Then::Again)
    }
}
