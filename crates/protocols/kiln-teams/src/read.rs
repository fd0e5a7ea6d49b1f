//! Evidence: the four sources that can disagree after a crash, and main's history.
//!
//! Cheap evidence is read for every task; a worktree's files are read only if the task reports success
//! and its work is not on main yet.

mod git;
mod list;
mod orphans;
mod owner;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use camino::{Utf8Path, Utf8PathBuf};
use rekindle_model::{Code, Finding, Place};
use rekindle_world::{
    GitAnswer, GitCommit, GitPath, GitQuestion, GitRepository, GitWorktree, ReadError, World,
};

use super::changes::{Main, Touched};
use super::config::Config;
use super::layout;
use super::plan_file::{PlanFile, PlannedTask};
use super::state::{LedgerRow, StateFile};
use super::task_list::{self, Stage, TaskFile, TaskId};

pub(super) use self::orphans::Orphan;

/// The largest file that is read.
const LARGEST: u64 = 8 * 1024 * 1024;

/// What was read of a project.
#[derive(Debug)]
pub(super) enum Evidence {
    /// There is no `.kiln/` at all.
    Nothing,
    /// `.kiln/` exists without `STATE.md`.
    NoState,
    /// `STATE.md` was written by a newer Kiln, which this protocol does not read.
    Newer,
    /// `STATE.md` cannot be understood.
    Corrupt,
    /// A phase that can be judged.
    Phase(Box<Phase>),
}

/// Everything that is known of the current phase.
#[derive(Debug)]
pub(super) struct Phase {
    pub(super) number: u32,
    pub(super) state: StateFile,
    pub(super) config: Config,
    pub(super) plan: PlanFile,
    pub(super) tasks: BTreeMap<TaskId, TaskEvidence>,
    pub(super) gates: Vec<TaskFile>,
    /// The folder of the team's task list.
    pub(super) task_list: Option<Utf8PathBuf>,
    /// Whether the task list is a file that a person named, which is never written.
    pub(super) is_list_foreign: bool,
    pub(super) repository: Option<GitRepository>,
    pub(super) root: Utf8PathBuf,
    /// The entries of the folder of worktrees that belong to no task.
    pub(super) orphans: Vec<Orphan>,
    pub(super) waves: BTreeMap<u32, Wave>,
    pub(super) findings: Vec<Finding>,
    /// The finding of a question that git or the disk could not answer; then no verdict counts.
    pub(super) unanswered: Option<Finding>,
}

impl Phase {
    /// Returns whether the task list has tasks of another project.
    pub(super) fn is_list_shared(&self) -> bool {
        let mut findings = self.findings.iter();
        findings.any(|finding| finding.code == Code::OtherProjectTask)
    }

    /// Returns a task's row of the retry ledger.
    pub(super) fn ledger_row(&self, task: &TaskEvidence) -> Option<&LedgerRow> {
        let plan_task = task.plan_task.as_ref()?;
        let mut rows = self.state.ledger().iter();
        rows.rfind(|row| row.plan_task == *plan_task)
    }

    /// Returns the finding of a file that cannot be read.
    ///
    /// It may have a task, so no wave can be marked complete.
    pub(super) fn unread(&self) -> Option<&Finding> {
        let is_unread = |finding: &&Finding| {
            matches!(finding.code, Code::UnreadableTask | Code::UnreadableFile)
        };
        self.findings.iter().find(is_unread)
    }
}

/// What is known of a wave as a whole.
#[derive(Debug, Default)]
pub(super) struct Wave {
    /// The commit that its worktrees were made from, if one of them shows it.
    pub(super) base: Option<String>,
    /// The commit before the first of its tasks that landed, if no worktree shows the base.
    pub(super) before_first: Option<String>,
    /// The project's changes since that commit; only if work waits to land.
    pub(super) main: Option<Main>,
}

/// What is known of one task.
#[derive(Debug)]
pub(super) struct TaskEvidence {
    pub(super) file: TaskFile,
    /// Its name in the plan, if it is known and safe in a path.
    pub(super) plan_task: Option<String>,
    pub(super) title: String,
    /// Its position in the plan; tasks that the plan lacks come last.
    pub(super) place: usize,
    /// The path of its worktree, existing or not.
    pub(super) worktree: Utf8PathBuf,
    /// The worktree as git knows it, if it is sound.
    pub(super) tree: Option<Tree>,
    /// The commit on main that proves that it landed.
    pub(super) landed: Option<GitCommit>,
    /// The paths of that commit, if peers wait to land.
    pub(super) landed_paths: BTreeSet<GitPath>,
    /// Whether its artifacts were archived in the project.
    pub(super) is_archived: bool,
    /// Whether its worktree has artifacts; only read if it landed.
    pub(super) has_artifacts_left: bool,
    /// The evidence of its worker, if it reports success.
    pub(super) artifacts: Option<Artifacts>,
    /// The changes of its worktree, if it reports success.
    pub(super) touched: Option<Result<Touched, String>>,
}

/// A sound worktree.
#[derive(Debug, Clone)]
pub(super) struct Tree {
    pub(super) head: String,
    /// Whether HEAD is not on main: the worker committed, which workers never do.
    pub(super) has_own_commits: bool,
}

/// The evidence of a worker.
#[derive(Debug, Default)]
pub(super) struct Artifacts {
    /// The paths it reports as changed, or why they cannot be read; `None` without the file.
    pub(super) changed: Option<Result<BTreeSet<GitPath>, String>>,
    /// Whether its checks passed; `None` if the file is missing or unreadable.
    pub(super) passed: Option<bool>,
}

/// Reads everything that decides.
pub(super) fn evidence(world: &dyn World, tasks_file: Option<&Utf8Path>) -> Evidence {
    let project = world.project().to_owned();
    let state = match world.read(&project.join(layout::STATE), LARGEST) {
        Ok(bytes) => StateFile::parse(bytes),
        Err(ReadError::NotFound) if world.stat(&project.join(".kiln")).is_ok() => {
            return Evidence::NoState;
        }
        Err(ReadError::NotFound) => return Evidence::Nothing,
        Err(ReadError::Denied | ReadError::TooLarge { .. } | ReadError::Failed(_)) => {
            return Evidence::Corrupt;
        }
    };
    if state.is_newer() {
        return Evidence::Newer;
    }
    let Some(number) = state.phase().filter(|_| !state.is_corrupt()) else {
        return Evidence::Corrupt;
    };
    let mut reader = Reader {
        world,
        findings: Vec::new(),
        unanswered: RefCell::new(None),
    };
    Evidence::Phase(Box::new(reader.phase(number, state, tasks_file)))
}

struct Reader<'w> {
    world: &'w dyn World,
    findings: Vec<Finding>,
    /// The finding of the first question that git or the disk could not answer.
    unanswered: RefCell<Option<Finding>>,
}

impl Reader<'_> {
    fn phase(&mut self, number: u32, state: StateFile, tasks_file: Option<&Utf8Path>) -> Phase {
        let config = self.config();
        let plan_path = layout::plan(number);
        let plan = self
            .document(&plan_path)
            .map_or_else(PlanFile::default, |bytes| PlanFile::parse(&bytes));
        for (id, line) in &plan.duplicates {
            let message = format!("the plan has `{}` twice; the first counts", shown(id));
            let place = Place::line(plan_path.clone(), *line);
            self.notice(Finding::new(Code::DuplicateTask, message).at(place));
        }
        let team = state
            .team()
            .filter(|team| layout::is_plain_name(team))
            .map_or_else(|| layout::team(number), str::to_owned);
        let task_list = layout::task_list(self.world, &team);
        let files = match (tasks_file, &task_list) {
            (Some(path), _) => self.listed_in_file(path),
            (None, Some(folder)) => self.listed(folder),
            (None, None) => Vec::new(),
        };
        let repository = self.repository();
        let trees = self.worktrees();
        let list = tasks_file.or(task_list.as_deref());
        let files = self.of_this_project(files, list, repository.as_ref(), &trees);
        let of_phase = |file: &TaskFile| file.phase.is_none_or(|phase| phase == number);
        let (merged, gates, duplicates) =
            task_list::merge(files.into_iter().filter(of_phase).collect());
        for id in duplicates {
            let message = format!("the task list has {id} more than once; the newest entry counts");
            self.notice(Finding::new(Code::DuplicateTask, message));
        }
        let root = self.root(&merged);
        let mut phase = Phase {
            number,
            tasks: BTreeMap::new(),
            gates,
            task_list,
            is_list_foreign: tasks_file.is_some(),
            repository,
            orphans: Vec::new(),
            waves: BTreeMap::new(),
            findings: Vec::new(),
            unanswered: None,
            root,
            state,
            config,
            plan,
        };
        for (id, file) in merged {
            if id.phase != number {
                continue;
            }
            let task = self.task(&phase, &id, file, &trees);
            phase.waves.entry(id.wave).or_default();
            phase.tasks.insert(id, task);
        }
        self.notice_unlisted(&phase);
        self.notice_lost(&phase);
        self.bases(&mut phase);
        self.history(&mut phase);
        self.read_trees(&mut phase);
        self.orphans(&mut phase, &trees);
        phase.unanswered = self.unanswered.take();
        self.findings.extend(phase.unanswered.clone());
        phase.findings = std::mem::take(&mut self.findings);
        phase
    }

    /// Asks git about the project. A missing repository is reported elsewhere.
    fn ask(&self, question: &GitQuestion) -> Result<GitAnswer, ReadError> {
        let answer = self.world.git(self.world.project(), question);
        if let Err(error) = &answer
            && !error.is_not_found()
        {
            let message = format!("git could not report what has landed: {error}");
            self.unanswered(
                Finding::new(Code::GitFailed, message)
                    .hint("fix that, then run the command again: nothing was changed"),
            );
        }
        answer
    }

    /// Keeps the finding of an unanswered question: without the answer it is unknown what has landed,
    /// waits to land or blocks a landing.
    fn unanswered(&self, finding: Finding) {
        self.unanswered.borrow_mut().get_or_insert(finding);
    }

    fn notice(&mut self, finding: Finding) {
        self.findings.push(finding);
    }

    fn document(&mut self, relative: &Utf8Path) -> Option<Vec<u8>> {
        match self
            .world
            .read(&self.world.project().join(relative), LARGEST)
        {
            Ok(bytes) => Some(bytes),
            Err(ReadError::NotFound) => None,
            Err(error) => {
                let message = format!("`{relative}` cannot be read: {error}");
                self.notice(Finding::new(Code::UnreadableFile, message).at(Place::path(relative)));
                None
            }
        }
    }

    fn config(&mut self) -> Config {
        let bytes = self.document(Utf8Path::new(layout::CONFIG));
        let config = Config::parse(bytes.as_deref());
        if !config.is_readable {
            let message = "not a JSON object, so limits and retries are unknown";
            self.notice(
                Finding::new(Code::UnsupportedConfig, message).at(Place::path(layout::CONFIG)),
            );
        }
        if !config.execute_concurrency_ok {
            let message = "executeConcurrency is not `worktree`, the only supported value";
            self.notice(
                Finding::new(Code::UnsupportedConfig, message)
                    .at(Place::path(layout::CONFIG))
                    .hint("set preferences.executeConcurrency to \"worktree\""),
            );
        }
        config
    }

    /// Returns the folder of worktrees: the one that tasks name comes first.
    fn root(&mut self, tasks: &BTreeMap<TaskId, TaskFile>) -> Utf8PathBuf {
        let named = tasks.iter().find_map(|(id, file)| {
            let worktree = file.worktree.as_ref()?;
            is_place_of(worktree, id).then(|| worktree.parent())?
        });
        let root = named.map_or_else(|| layout::worktree_root(self.world), Utf8Path::to_owned);
        if let Some(reason) = layout::distrust(self.world, &root) {
            self.notice(
                Finding::new(Code::UntrustedRoot, reason)
                    .at(Place::path(root.clone()))
                    .hint("set KILN_WORKTREE_ROOT to a folder of your own, and move the worktrees there with `git worktree move`"),
            );
        }
        root
    }

    fn repository(&mut self) -> Option<GitRepository> {
        let project = self.world.project();
        let answer = self.world.git(project, &GitQuestion::Repository);
        match answer.and_then(GitAnswer::repository) {
            Ok(repository) => Some(repository),
            Err(error) => {
                let message = format!("no git repository to land work in: {error}");
                self.notice(Finding::new(Code::NoRepository, message));
                None
            }
        }
    }

    /// Returns the sound worktrees of the repository by path, without the main one.
    fn worktrees(&self) -> BTreeMap<Utf8PathBuf, GitWorktree> {
        let answer = self
            .ask(&GitQuestion::Worktrees)
            .and_then(GitAnswer::worktrees);
        answer
            .unwrap_or_default()
            .into_iter()
            .skip(1)
            .filter(|tree| tree.prunable.is_none())
            .map(|tree| (tree.path.clone(), tree))
            .collect()
    }

    fn task(
        &mut self,
        phase: &Phase,
        id: &TaskId,
        file: TaskFile,
        trees: &BTreeMap<Utf8PathBuf, GitWorktree>,
    ) -> TaskEvidence {
        let planned = planned(&phase.plan, id, &file);
        let plan_task = file
            .plan_task
            .clone()
            .or_else(|| planned.map(|(_, task)| task.id.clone()));
        if let Some(unfit) = plan_task.as_ref().filter(|id| !layout::is_plain_name(id)) {
            let message = format!("`{}` is not a name of a plan's task", shown(unfit));
            self.notice(Finding::new(Code::UnsafeName, message).at(Place::path(file.path.clone())));
        }
        if let Some(Stage::Unknown(stage)) = &file.stage {
            let message = format!(
                "{id} has the unknown stage `{}`; the longest limit is used",
                shown(stage)
            );
            self.notice(
                Finding::new(Code::UnknownStage, message).at(Place::path(file.path.clone())),
            );
        }
        let worktree = file
            .worktree
            .clone()
            .filter(|path| is_place_of(path, id))
            .unwrap_or_else(|| phase.root.join(id.slug()));
        let plan_task = plan_task.filter(|id| layout::is_plain_name(id));
        let archived = plan_task.as_ref().map(|plan_task| {
            let folder = layout::archived(phase.number, plan_task);
            self.world.stat(&self.world.project().join(folder)).is_ok()
        });
        TaskEvidence {
            tree: self.tree(&worktree, trees),
            title: planned.map_or_else(|| id.to_string(), |(_, task)| task.title.clone()),
            place: planned.map_or(usize::MAX, |(place, _)| place),
            is_archived: archived == Some(true),
            has_artifacts_left: false,
            plan_task,
            worktree,
            landed: None,
            landed_paths: BTreeSet::new(),
            artifacts: None,
            touched: None,
            file,
        }
    }

    /// Returns the worktree at a path if git knows it; git resolves links in its answer.
    fn tree(&self, path: &Utf8Path, trees: &BTreeMap<Utf8PathBuf, GitWorktree>) -> Option<Tree> {
        let known = trees.get(path).or_else(|| {
            let resolved = self.world.resolve(path).ok()?;
            trees.get(&resolved)
        })?;
        // In a folder without `.git`, git would find a repository above it.
        self.world.stat(&path.join(".git")).ok()?;
        Some(Tree {
            head: known.head.clone()?,
            has_own_commits: false,
        })
    }

    /// Reports tasks of the plan that the task list lacks.
    fn notice_unlisted(&mut self, phase: &Phase) {
        let listed: BTreeSet<&str> = phase
            .tasks
            .values()
            .filter_map(|task| task.plan_task.as_deref())
            .collect();
        let unlisted = phase
            .plan
            .tasks
            .iter()
            .filter(|task| !listed.contains(task.id.as_str()));
        for task in unlisted {
            let message = format!(
                "{} is in the plan but not in the task list; it is not launched",
                shown(&task.id)
            );
            let place = Place::line(layout::plan(phase.number), task.line);
            self.findings
                .push(Finding::new(Code::UnlistedTask, message).at(place));
        }
    }

    /// Reports tasks that STATE.md lists as active and the task list lacks.
    fn notice_lost(&mut self, phase: &Phase) {
        for id in phase.state.active_tasks() {
            let is_listed =
                TaskId::parse(&id).is_some_and(|parsed| phase.tasks.contains_key(&parsed));
            if !is_listed {
                let message = format!(
                    "STATE.md lists {} as active, but the task list lacks it",
                    shown(&id)
                );
                self.findings
                    .push(Finding::new(Code::UnlistedTask, message).at(Place::path(layout::STATE)));
            }
        }
    }
}

/// Returns a task's packet in the plan and its position: by its name, or by its number in the wave.
fn planned<'p>(
    plan: &'p PlanFile,
    id: &TaskId,
    file: &TaskFile,
) -> Option<(usize, &'p PlannedTask)> {
    let mut all = plan.tasks.iter().enumerate();
    if let Some(name) = &file.plan_task {
        return all.find(|(_, task)| task.id == *name);
    }
    let nth = usize::try_from(id.number).ok()?.checked_sub(1)?;
    all.filter(|(_, task)| task.wave == Some(id.wave)).nth(nth)
}

/// Returns whether a folder has the name of a task's worktree.
fn is_place_of(path: &Utf8Path, id: &TaskId) -> bool {
    path.file_name().and_then(TaskId::parse_slug) == Some(*id)
}

/// Returns text from a file for one line.
pub(super) fn shown(text: &str) -> String {
    rekindle_text::excerpt(text, 80)
}
