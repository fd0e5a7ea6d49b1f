//! Doing the tasks of a list as a run: each lands as one commit with its mark.
//!
//! A run that was cut off goes on; else the open tasks of the list become a new one. Documents of the
//! list that are not committed are the first commit of the branch, so that every worktree has them.

use rekindle_git::{Message, ObjectId, Program, Repo, RepoPath};
use rekindle_model::{ListSource, State, Summary, WorkflowId};
use rekindle_protocol::ResumeOption;
use rekindle_protocol::capability::TaskMarks;
use rekindle_world::{Kind, World};

use crate::choose::inspect_world;
use crate::resume::{Options, Outcome, Resumed, resume};
use crate::run::{PlanText, Ran, RunOptions, run_list};
use crate::{Error, Face, News, Project, Query};

/// A document that is larger is not committed for an agent.
const LARGEST: u64 = 64 * 1024 * 1024;

/// The documents of a list, and how its tasks are marked.
pub(crate) struct ListDocuments {
    pub(crate) source: ListSource,
    folder: String,
    marks: &'static dyn TaskMarks,
    /// Id and title of the tasks that have landed in what is checked out and are not marked.
    unmarked: Vec<(String, String)>,
}

/// Does the tasks of a list on the engine; `None` if it is not a list or has nothing for it.
pub(crate) fn go_on(
    project: &Project,
    query: &Query,
    options: &Options,
    face: &mut dyn Face,
) -> Result<Option<Resumed>, Error> {
    let given = |wanted: ResumeOption| query.options.iter().any(|(option, _)| *option == wanted);
    let Some(wish) = &options.engine else {
        return Ok(None);
    };
    if given(ResumeOption::IN_PLACE) || options.agreed_to.is_some() {
        return Ok(None);
    }
    let world = project.world();
    let inspected = inspect_world(&world, query)?;
    let (Some(list), Some(id)) = (inspected.case.list(), &inspected.assessment().id) else {
        return Ok(None);
    };
    let (Some(marks), None) = (
        rekindle_registry::find(id.protocol).marks(),
        inspected.assessment().blockers().next(),
    ) else {
        return Ok(None);
    };
    if let Some(run) = open_run(project, id) {
        crate::revise::follow_list(project, &run, list, face)?;
        return resume(project, &Query::only(&run), options, face).map(Some);
    }
    let tasks = list.tasks(&world);
    if tasks.is_empty() || crate::engine_options(project, wish)?.is_none() {
        return Ok(None);
    }
    face.tell(&News::Findings(&inspected.assessment().findings));
    let source = list.source();
    let bytes = world.read(&project.folder().join(source), LARGEST);
    let plan = PlanText {
        name: source.to_owned(),
        bytes: bytes.unwrap_or_default(),
    };
    let (_, starter) = rekindle_registry::starter();
    let draft = starter.listed(source, list.title(), tasks);
    let documents = ListDocuments {
        source: ListSource {
            id: id.to_string(),
            path: source.to_owned(),
        },
        folder: list.folder().to_string(),
        marks,
        unmarked: list.unmarked(&world),
    };
    let usual = || RunOptions::of(wish.clone());
    let mut how = RunOptions {
        yes: options.yes,
        ..options.start.clone().unwrap_or_else(usual)
    };
    if how.branch.is_none() {
        how.branch = branch_ahead(project, id)?;
    }
    let ran = run_list(project, &plan, draft, &documents, &how, face)?;
    Ok(Some(match ran {
        Ran::Ended(id, ending) => Resumed::plain(Some(id), Outcome::Ran(*ending)),
        Ran::Instead(id) => Resumed::plain(Some(id), Outcome::Nothing),
        Ran::Declined | Ran::Shown(_) => Resumed::plain(None, Outcome::Declined),
    }))
}

/// Runs the list whose tasks are in a plan file; `None` if no list's are.
pub(crate) fn run_file(
    project: &Project,
    plan: &PlanText,
    options: &RunOptions,
    face: &mut dyn Face,
) -> Result<Option<Ran>, Error> {
    let world = project.world();
    let mut all = rekindle_registry::ALL.iter();
    let found = all.find_map(|protocol| {
        let name = protocol.marks()?.list_in(&world, &plan.name)?;
        Some(WorkflowId::new(protocol.name(), name))
    });
    let Some(id) = found.filter(|_| !options.dry_run) else {
        return Ok(None);
    };
    let how = Options {
        yes: options.yes,
        engine: Some(options.engine.clone()),
        start: Some(options.clone()),
        ..Options::default()
    };
    let resumed = go_on(project, &Query::only(&id), &how, face)?;
    Ok(resumed.map(|resumed| match (resumed.id, resumed.outcome) {
        (Some(id), Outcome::Ran(ending)) => Ran::Ended(id, Box::new(ending)),
        (
            Some(_) | None,
            Outcome::Ran(_)
            | Outcome::Nothing
            | Outcome::Declined
            | Outcome::Stopped(_)
            | Outcome::AgentNeeded(_)
            | Outcome::Unanswered(_),
        ) => Ran::Declined,
    }))
}

/// The runs that do tasks of lists, the newest first.
pub(crate) struct RunsOfLists(Vec<(String, WorkflowId)>);

impl RunsOfLists {
    /// Reads them, if one of these workflows is a list.
    pub(crate) fn of<'i>(world: &dyn World, ids: impl IntoIterator<Item = &'i WorkflowId>) -> Self {
        let is_list = |id: &WorkflowId| rekindle_registry::find(id.protocol).marks().is_some();
        if !ids.into_iter().any(is_list) {
            return Self(Vec::new());
        }
        let (protocol, starter) = rekindle_registry::starter();
        let runs = starter.runs_of_lists(world).into_iter().rev();
        Self(
            runs.map(|run| (run.list, WorkflowId::new(protocol, run.name)))
                .collect(),
        )
    }

    /// Returns the workflow that is worked on where one is meant: of a list its newest run.
    pub(crate) fn worked_on<'a>(&'a self, id: &'a WorkflowId) -> &'a WorkflowId {
        let list = id.to_string();
        let mut runs = self.0.iter();
        runs.find(|(of, _)| *of == list).map_or(id, |(_, run)| run)
    }
}

/// Returns the newest run of a list that is not complete.
fn open_run(project: &Project, list: &WorkflowId) -> Option<WorkflowId> {
    let world = project.world();
    let (protocol, starter) = rekindle_registry::starter();
    let list = list.to_string();
    let runs = starter.runs_of_lists(&world).into_iter().rev();
    let mut runs = runs.filter(|run| run.list == list);
    runs.find_map(|run| {
        let id = WorkflowId::new(protocol, run.name);
        let inspected = inspect_world(&world, &Query::only(&id)).ok()?;
        let summary = inspected.assessment().chosen()?;
        let is_open = summary.state.is_open() && summary.state != State::Corrupt;
        is_open.then_some(id)
    })
}

/// Returns a query for the open run that does the tasks of a list, where the list is meant: what a person
/// decides is recorded there.
pub(crate) fn with_run(project: &Project, query: &Query) -> Result<Query, Error> {
    let inspected = inspect_world(&project.world(), query)?;
    let id = inspected.assessment().id.as_ref();
    let list = id.filter(|_| inspected.case.list().is_some());
    let run = list.and_then(|id| open_run(project, id));
    Ok(run.map_or_else(|| query.clone(), |run| Query::only(&run)))
}

/// Returns the branch of a list's last run if it has more than what is checked out: what is open may
/// need what has landed there.
fn branch_ahead(project: &Project, list: &WorkflowId) -> Result<Option<String>, Error> {
    let (_, starter) = rekindle_registry::starter();
    let list = list.to_string();
    let mut runs = starter.runs_of_lists(&project.world()).into_iter().rev();
    let Some(run) = runs.find(|run| run.list == list) else {
        return Ok(None);
    };
    let program = Program::find(&project.search_path).map_err(Error::Git)?;
    let repo = Repo::at(&program, project.folder());
    let branch = repo.resolve(&format!("refs/heads/{}", run.branch));
    let Some(tip) = branch.map_err(Error::Git)? else {
        return Ok(None);
    };
    let worktrees = repo.worktrees().map_err(Error::Git)?.into_iter();
    let mut checked_out = worktrees.filter_map(|worktree| worktree.branch);
    if checked_out.any(|branch| branch == run.branch) {
        return Ok(None);
    }
    Ok(contains_head(&repo, &tip)?.then_some(run.branch))
}

/// Returns the runs that do tasks of a list that is among some workflows itself.
pub(crate) fn runs_of(world: &dyn World, workflows: &[Summary]) -> Vec<WorkflowId> {
    let (protocol, starter) = rekindle_registry::starter();
    let is_listed = |list: &str| {
        workflows
            .iter()
            .any(|summary| summary.id.to_string() == list)
    };
    let runs = starter.runs_of_lists(world).into_iter();
    let runs = runs.filter(|run| is_listed(&run.list));
    runs.map(|run| WorkflowId::new(protocol, run.name))
        .collect()
}

impl ListDocuments {
    /// Returns a commit on top of another that has the documents as they are in the checkout, with the
    /// marks of what has landed, or the other one if it has them all.
    pub(crate) fn commit(
        &self,
        project: &Project,
        repo: &Repo,
        tip: &ObjectId,
    ) -> Result<ObjectId, Error> {
        let world = project.world();
        let prefix = repo.prefix().map_err(Error::Git)?;
        let folder = std::slice::from_ref(&self.folder);
        let mut files = Vec::new();
        for path in repo.uncommitted(folder).map_err(Error::Git)? {
            let Some(name) = path.as_str() else {
                continue;
            };
            let full = project.folder().join(name);
            let is_file = world.stat(&full).is_ok_and(|meta| meta.kind == Kind::File);
            let Some(mut bytes) = is_file.then(|| world.read(&full, LARGEST).ok()).flatten() else {
                continue;
            };
            let path = RepoPath::from(prefix.join(name).as_str());
            let there = repo.file_at(tip, &path).map_err(Error::Git)?;
            if let Some((_, old)) = &there
                && self.source.path == name
            {
                // What has landed on the branch is marked there, and not yet in the checkout.
                bytes = self.marks.with_marks_of(old, &bytes);
            }
            if there.is_none_or(|(_, old)| old != bytes) {
                files.push((path, bytes));
            }
        }
        let are_documents = !files.is_empty();
        if !self.unmarked.is_empty() && contains_head(repo, tip)? {
            let source = RepoPath::from(prefix.join(&self.source.path).as_str());
            let at = files.iter().position(|(path, _)| *path == source);
            let there = || repo.file_at(tip, &source).map_err(Error::Git);
            let before = match at {
                Some(at) => Some(files[at].1.clone()),
                None => there()?.map(|(_, bytes)| bytes),
            };
            if let Some(marked) = before.and_then(|before| self.marked(&before)) {
                match at {
                    Some(at) => files[at].1 = marked,
                    None => files.push((source, marked)),
                }
            }
        }
        if files.is_empty() {
            return Ok(tip.clone());
        }
        let what = if are_documents {
            "Add the documents of"
        } else {
            "Mark what has landed of"
        };
        let tree = repo.tree_with(tip, &files).map_err(Error::Git)?;
        let message = Message {
            subject: format!("{what} {}", rekindle_text::excerpt(&self.source.id, 120)),
            body: String::new(),
            trailers: Vec::new(),
        };
        repo.commit_tree(&tree, std::slice::from_ref(tip), &message, None)
            .map_err(Error::Git)
    }

    /// Returns the file with the marks of what has landed, if that changes it.
    fn marked(&self, before: &[u8]) -> Option<Vec<u8>> {
        let mut after = before.to_vec();
        for (task, title) in &self.unmarked {
            after = self.marks.mark(&after, task, title).unwrap_or(after);
        }
        (after != before).then_some(after)
    }
}

/// Returns whether a commit has what is checked out.
fn contains_head(repo: &Repo, tip: &ObjectId) -> Result<bool, Error> {
    let head = repo.head().map_err(Error::Git)?;
    match head.commit() {
        Some(head) => repo.is_ancestor(head, tip).map_err(Error::Git),
        None => Ok(false),
    }
}
