//! What a person decides on before tasks run: what is left, who does it, where it lands, what it costs.

use std::collections::HashMap;

use rekindle_git::{Program, Repo};
use rekindle_model::{
    Command, CommandRole, Destination, Settings, Standing, Work, WorkTask, WorkflowId,
};
use rekindle_protocol::capability::Draft;
use rekindle_runner::Cost;
use rekindle_wire::{OutlineOut, OutlineTaskOut};

use crate::engine::EngineOptions;
use crate::inspect::Planned;
use crate::resume::engine_of;
use crate::{EngineWish, Project};

/// A run as it is decided on.
#[derive(Debug, Clone)]
pub struct Outline {
    /// What the run is called; empty if it has no title.
    pub title: String,
    /// All tasks, in the order of the plan.
    pub tasks: Vec<OutlineTask>,
    /// The agent's command; `None` if no agent is named anywhere.
    pub agent: Option<Command>,
    /// How many workers at once.
    pub jobs: usize,
    /// The branch on which the work lands.
    pub branch: String,
    /// The commands that prepare worktrees, and those that run before they are removed.
    pub outfit: Vec<Command>,
    /// The commands that check the work.
    pub checks: Vec<Command>,
    /// What the run has cost so far.
    pub cost: Cost,
    /// No new attempts once the cost has reached this, in millionths of a dollar.
    pub max_cost: Option<u64>,
    /// How many backups of interrupted attempts there are.
    pub rescued: usize,
}

/// A task of an outline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutlineTask {
    /// Its id.
    pub id: String,
    /// Its title.
    pub title: String,
    /// The tasks it needs, by their place in the plan.
    pub needs: Vec<usize>,
    /// What is left to do.
    pub state: OutlineState,
    /// How many attempts there were.
    pub attempts: u32,
}

/// Returns a planned resume as a person decides on it; `None` if the tasks are not ours to land.
pub fn outline(project: &Project, planned: &Planned, wish: &EngineWish) -> Option<Outline> {
    // Without a usable configuration it is known all the same what is left.
    let engine = engine_of(project, planned, Some(wish)).ok().flatten();
    Outline::of_run(project, planned, engine.as_ref())
}

/// What is left of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutlineState {
    /// All of it.
    Left,
    /// An attempt began and came to nothing: it is done again.
    Again,
    /// A worker is at it.
    AtWork,
    /// Its work is finished and only has to land.
    Finished,
    /// A person has to decide.
    Blocked,
    /// It is left out.
    Skipped,
    /// Nothing.
    Done,
}

impl OutlineState {
    /// Returns the word used in text and JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Left => "left",
            Self::Again => "again",
            Self::AtWork => "at_work",
            Self::Finished => "finished",
            Self::Blocked => "blocked",
            Self::Skipped => "skipped",
            Self::Done => "done",
        }
    }

    /// Returns whether something is left to do.
    pub const fn is_left(self) -> bool {
        match self {
            Self::Left | Self::Again | Self::AtWork | Self::Finished | Self::Blocked => true,
            Self::Skipped | Self::Done => false,
        }
    }
}

impl Outline {
    /// Returns the outline of a run that is about to be started.
    pub(crate) fn of_draft(
        draft: &dyn Draft,
        settings: &Settings,
        engine: &EngineOptions,
        checks: Vec<Command>,
    ) -> Self {
        let listed = draft.tasks();
        let places: HashMap<&str, usize> = listed
            .iter()
            .enumerate()
            .map(|(place, task)| (task.id.as_str(), place))
            .collect();
        let place = |id: &String| places.get(id.as_str()).copied();
        let tasks = listed.iter().map(|task| OutlineTask {
            id: task.id.clone(),
            title: task.title.clone(),
            needs: task.needs.iter().filter_map(place).collect(),
            state: if task.is_skipped {
                OutlineState::Skipped
            } else {
                OutlineState::Left
            },
            attempts: 0,
        });
        Self {
            title: settings.title.clone(),
            tasks: tasks.collect(),
            agent: Some(engine.command()),
            jobs: engine.jobs.unwrap_or(engine.default_jobs),
            branch: settings.branch.clone(),
            outfit: engine.outfit.clone(),
            checks,
            cost: Cost::default(),
            max_cost: settings.max_cost,
            rescued: 0,
        }
    }

    /// Returns the outline of a resume; `None` if the tasks are not ours to land.
    pub(crate) fn of_run(
        project: &Project,
        planned: &Planned,
        engine: Option<&EngineOptions>,
    ) -> Option<Self> {
        let work = planned.work.as_ref()?;
        if work.destination != Destination::Branch {
            return None;
        }
        let id = &planned.plan.id;
        let repo = Program::find(&project.search_path)
            .ok()
            .map(|program| Repo::at(&program, project.folder()));
        let at_work = project.state().tasks_at_work(id);
        let tasks = work.tasks.iter().map(|task| OutlineTask {
            id: task.id.clone(),
            title: task.title.clone(),
            needs: task.needs.clone(),
            state: state(task, id, &at_work, repo.as_ref()),
            attempts: task.attempts,
        });
        let rescues = repo.as_ref().and_then(|repo| repo.rescues().ok());
        let is_ours = |rescue: &&rekindle_git::Rescue| rescue.workflow == id.name;
        Some(Self {
            title: work.settings.title.clone(),
            tasks: tasks.collect(),
            agent: engine.map(EngineOptions::command),
            jobs: jobs(work, engine),
            branch: work.settings.branch.clone(),
            outfit: engine.map_or_else(Vec::new, |engine| engine.outfit.clone()),
            checks: planned
                .commands
                .iter()
                .filter(|command| command.role == CommandRole::Check)
                .cloned()
                .collect(),
            cost: Cost::of(&work.tasks),
            max_cost: engine.map_or(work.settings.max_cost, |engine| engine.limit(work)),
            rescued: rescues.unwrap_or_default().iter().filter(is_ours).count(),
        })
    }

    /// Returns the tasks that are left, in waves: those of a wave can run once all before have landed.
    ///
    /// Tasks that can never run, because they need one that is left out, are in no wave.
    pub fn waves(&self) -> Vec<Vec<&OutlineTask>> {
        let mut is_settled: Vec<bool> = self
            .tasks
            .iter()
            .map(|task| task.state == OutlineState::Done)
            .collect();
        let mut waves = Vec::new();
        loop {
            let is_next = |(place, task): &(usize, &OutlineTask)| {
                let has = |need: &usize| is_settled.get(*need).is_some_and(|is| *is);
                task.state.is_left() && !is_settled[*place] && task.needs.iter().all(has)
            };
            let wave: Vec<(usize, &OutlineTask)> =
                self.tasks.iter().enumerate().filter(is_next).collect();
            if wave.is_empty() {
                return waves;
            }
            for (place, _) in &wave {
                is_settled[*place] = true;
            }
            waves.push(wave.into_iter().map(|(_, task)| task).collect());
        }
    }

    /// Returns the object of `run --dry-run`.
    pub fn object(&self) -> OutlineOut {
        let mut wave_of = HashMap::new();
        for (number, wave) in (1..).zip(self.waves()) {
            wave_of.extend(wave.iter().map(|task| (task.id.as_str(), number)));
        }
        let id = |place: &usize| Some(self.tasks.get(*place)?.id.clone());
        let tasks = self.tasks.iter().map(|task| OutlineTaskOut {
            id: task.id.clone(),
            title: task.title.clone(),
            needs: task.needs.iter().filter_map(id).collect(),
            state: task.state.as_str().to_owned(),
            attempts: task.attempts,
            wave: wave_of.get(task.id.as_str()).copied(),
        });
        OutlineOut {
            schema: "rekindle.outline/1",
            title: self.title.clone(),
            agent: self.agent.as_ref().map(|agent| agent.text.clone()),
            jobs: self.jobs,
            branch: self.branch.clone(),
            setup: self.texts(CommandRole::Setup),
            teardown: self.texts(CommandRole::Teardown),
            checks: self.checks.iter().map(|check| check.text.clone()).collect(),
            cost_microdollars: self.cost.told,
            max_cost_microdollars: self.max_cost,
            tasks: tasks.collect(),
        }
    }

    fn texts(&self, role: CommandRole) -> Vec<String> {
        let commands = self.outfit.iter().filter(|command| command.role == role);
        commands.map(|command| command.text.clone()).collect()
    }

    /// Returns how many tasks are left.
    pub fn left(&self) -> usize {
        let tasks = self.tasks.iter();
        tasks.filter(|task| task.state.is_left()).count()
    }
}

/// Returns how many workers there are at once: as typed for this call, as for the run, as configured.
fn jobs(work: &Work, engine: Option<&EngineOptions>) -> usize {
    let typed = engine.and_then(|engine| engine.jobs).or(work.jobs);
    typed.unwrap_or_else(|| engine.map_or(1, |engine| engine.default_jobs))
}

fn state(
    task: &WorkTask,
    id: &WorkflowId,
    at_work: &[String],
    repo: Option<&Repo>,
) -> OutlineState {
    match task.standing {
        Standing::Done => OutlineState::Done,
        Standing::Skipped => OutlineState::Skipped,
        Standing::Blocked => OutlineState::Blocked,
        Standing::Open | Standing::AtWork if at_work.contains(&task.id) => OutlineState::AtWork,
        Standing::Open | Standing::AtWork if task.attempts == 0 => OutlineState::Left,
        Standing::Open | Standing::AtWork => {
            let is_delivered = repo.is_some_and(|repo| {
                rekindle_runner::is_delivered(repo, id, &task.id, task.attempts)
            });
            if is_delivered {
                OutlineState::Finished
            } else {
                OutlineState::Again
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(id: &str, needs: &[usize], state: OutlineState) -> OutlineTask {
        OutlineTask {
            id: id.to_owned(),
            title: String::new(),
            needs: needs.to_vec(),
            state,
            attempts: 0,
        }
    }

    #[test]
    fn a_task_is_in_the_wave_after_the_last_task_it_needs() {
        use OutlineState::{Done, Left, Skipped};
        let outline = Outline {
            title: String::new(),
            tasks: vec![
                task("A", &[], Done),
                task("B", &[0], Left),
                task("C", &[], Left),
                task("D", &[1, 2], Left),
                task("E", &[], Skipped),
                task("F", &[4], Left),
            ],
            agent: None,
            jobs: 1,
            branch: String::new(),
            outfit: Vec::new(),
            checks: Vec::new(),
            cost: Cost::default(),
            max_cost: None,
            rescued: 0,
        };
        let waves = outline.waves();
        let ids: Vec<Vec<&str>> = waves
            .iter()
            .map(|wave| wave.iter().map(|task| task.id.as_str()).collect())
            .collect();
        assert_eq!(ids, [vec!["B", "C"], vec!["D"]]);
        assert_eq!(outline.left(), 4);
    }
}
