//! Lists the workflows of a project.

use rekindle_model::{
    Condition, Intent, Standing, State, StopKind, Summary, Then, Work, WorkTask, WorkflowId,
};
use rekindle_protocol::capability::TaskSource;
use rekindle_world::World;

use crate::last_session::last_session;
use crate::lists::RunsOfLists;
use crate::{AtWork, Folded, LastSession, Line, Listing, Project, overview, survey};

/// Every workflow of a project.
#[derive(Debug)]
pub struct Overview {
    /// Those that can be resumed first, each protocol's in its own order and lists of tasks in one.
    pub workflows: Vec<Summary>,
    /// The workflows that somebody is working on right now, and who.
    pub at_work: Vec<(WorkflowId, AtWork)>,
    /// The command to run next.
    pub next_step: Option<NextStep>,
    /// How the last session of a coding agent here ended, if that matters.
    pub last_session: Option<LastSession>,
    /// The sessions of coding agents that worked on a workflow here, each with the workflow.
    pub worked_on: Vec<(WorkflowId, WorkflowId)>,
    /// The current time.
    pub now: jiff::Timestamp,
    /// Lists of tasks that are only counted.
    counted: Vec<Summary>,
    /// Whether finished and old ones are listed too.
    all: bool,
}

/// The command to type next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NextStep {
    /// What it does.
    pub verb: Verb,
    /// The workflow; `None` where it is clear without a name.
    pub id: Option<WorkflowId>,
    /// The shortest text that means the workflow.
    short_id: String,
}

/// What a next command does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verb {
    /// It goes on.
    Resume,
    /// It tries failed tasks again, since nothing else can go on.
    Retry,
    /// It shows why nothing can go on.
    Inspect,
}

impl NextStep {
    /// Returns the command with the whole id, for programs.
    pub fn command(&self) -> String {
        self.typed(self.id.as_ref().map(ToString::to_string))
    }

    /// Returns the command with the short id, for people.
    pub fn short_command(&self) -> String {
        self.typed(self.id.as_ref().map(|_| self.short_id.clone()))
    }

    fn typed(&self, id: Option<String>) -> String {
        let verb = match self.verb {
            Verb::Resume => "resume",
            Verb::Retry => "retry --all",
            Verb::Inspect => "inspect",
        };
        let option = match self.verb {
            Verb::Retry => "--run ",
            Verb::Resume | Verb::Inspect => "",
        };
        match id {
            Some(id) => format!("rekindle {verb} {option}{}", rekindle_text::shell_word(&id)),
            None => format!("rekindle {verb}"),
        }
    }
}

impl Overview {
    /// Returns a line for each workflow that deserves one, in the order in which a person needs them.
    pub fn lines(&self) -> (Vec<Line<'_>>, Folded) {
        let (lines, folded) =
            overview::lines(&self.workflows, &self.counted, &self.at_work, self.all);
        (overview::beside(&lines, &self.worked_on), folded)
    }

    /// Returns the state of a workflow in a person's words.
    pub(crate) fn condition(&self, summary: &Summary) -> Condition {
        let at_work = self.at_work.iter().find(|(id, _)| *id == summary.id);
        overview::condition(summary, at_work.map(|(_, who)| who))
    }
}

/// Lists the workflows of every protocol.
pub fn status(project: &Project, listing: Listing) -> Overview {
    let world = project.world();
    let (workflows, chosen) = survey::survey(&world, listing);
    let (workflows, counted) = if listing.all {
        (workflows, Vec::new())
    } else {
        overview::split_counted(workflows)
    };
    let runs = RunsOfLists::of(&world, workflows.iter().map(|summary| &summary.id));
    // Who is at work is reported if it is known; what is open is reported in any case.
    let with_worker = |summary: &Summary| {
        let at_work = AtWork::on(project, runs.worked_on(&summary.id)).ok()??;
        Some((summary.id.clone(), at_work))
    };
    let at_work: Vec<(WorkflowId, AtWork)> = workflows
        .iter()
        .filter(|summary| summary.state.is_open())
        .filter_map(with_worker)
        .collect();
    let open: Vec<Summary> = workflows
        .iter()
        .filter(|summary| summary.state.is_open())
        .cloned()
        .collect();
    // A session among the workflows says itself how it ended.
    let of_others = open.iter().filter(|summary| !gives_way(summary));
    let others: Vec<Summary> = of_others.cloned().collect();
    let (lines, _) = overview::lines(&workflows, &counted, &at_work, listing.all);
    Overview {
        next_step: next_step(&world, &lines, open.len(), &chosen),
        last_session: last_session(project, &others, project.own_session()),
        worked_on: crate::beside::links(project, &workflows),
        workflows,
        counted,
        at_work,
        now: project.now(),
        all: listing.all,
    }
}

/// Returns the shortest text that means a workflow.
pub fn short_id(project: &Project, id: &WorkflowId) -> String {
    let all = Listing {
        all: true,
        ..Listing::default()
    };
    let (workflows, _) = survey::survey(&project.world(), all);
    let ids: Vec<&WorkflowId> = workflows.iter().map(|summary| &summary.id).collect();
    overview::short_id(id, &ids)
}

/// Returns whether a workflow comes after those of other protocols, as a session does.
pub fn gives_way(summary: &Summary) -> bool {
    rekindle_registry::find(summary.id.protocol).gives_way()
}

/// Returns what to do with the first workflow that nobody is at work on.
fn next_step(
    world: &dyn World,
    lines: &[Line<'_>],
    n_open: usize,
    chosen: &[WorkflowId],
) -> Option<NextStep> {
    let is_free = |line: &&Line<'_>| !line.at_work.is_some_and(AtWork::is_rekindle);
    let open = lines.iter().filter(|line| line.summary.state.is_open());
    let first = open
        .filter(is_free)
        .min_by_key(|line| gives_way(line.summary))?;
    let id = &first.summary.id;
    // If a resume would only stop, inspect shows why.
    let verb = if !goes_on(world, first.summary) {
        Verb::Inspect
    } else if waits_for_retry(world, first.summary) {
        Verb::Retry
    } else {
        Verb::Resume
    };
    // Without a name, the workflow of the checked-out branch may be chosen, which may not be open.
    let is_clear = verb != Verb::Inspect && n_open == 1 && chosen.contains(id);
    Some(NextStep {
        verb,
        id: (!is_clear).then(|| id.clone()),
        short_id: first.short_id.clone(),
    })
}

/// Returns whether a run of ours has failed tasks that a person must decide about, and none that can start.
fn waits_for_retry(world: &dyn World, summary: &Summary) -> bool {
    if summary.state != State::Blocked || !summary.view.is_ours {
        return false;
    }
    let case = survey::one(world, &summary.id);
    let work = case.tasks().and_then(TaskSource::work);
    work.is_some_and(|work| {
        let is_blocked = |task: &WorkTask| task.standing == Standing::Blocked;
        let can_start = |task: &WorkTask| match task.standing {
            Standing::AtWork => true,
            Standing::Open => {
                !task.unreachable && task.needs.iter().all(|need| is_met(&work, *need))
            }
            Standing::Blocked | Standing::Skipped | Standing::Done => false,
        };
        work.tasks.iter().any(is_blocked) && !work.tasks.iter().any(can_start)
    })
}

/// Returns whether nothing is left to do for a task that others need.
fn is_met(work: &Work, task: usize) -> bool {
    let standing = work.tasks.get(task).map(|task| task.standing);
    matches!(standing, Some(Standing::Done | Standing::Skipped))
}

/// Returns whether a resume would do anything.
pub(crate) fn goes_on(world: &dyn World, summary: &Summary) -> bool {
    match summary.state {
        State::Corrupt => return false,
        State::Waiting | State::Blocked => {}
        State::Interrupted | State::Nothing | State::Choice | State::Unknown | State::Complete => {
            return true;
        }
    }
    let case = survey::one(world, &summary.id);
    let is_blocked = case.assessment().blockers().next().is_some();
    let plan = case.plan(world, &Intent::Open);
    plan.is_some_and(|plan| match plan.then {
        Then::Stop(stop) => {
            !is_blocked && !stop.kind.is_blocked() && stop.kind != StopKind::Waiting
        }
        Then::Ask(question) => !is_blocked || question.is_about_a_blocker,
        Then::Agent(_) | Then::Workers | Then::Check(_) | Then::Again => !is_blocked,
    })
}
