//! Starts a run from a plan.

use camino::{Utf8Path, Utf8PathBuf};
use rekindle_git::{Expected, Head, ObjectId, Program, Repo};
use rekindle_model::{Code, Command, CommandRole, CommandSource, Finding, Settings, WorkflowId};
use rekindle_protocol::capability::NewRun;
use rekindle_runner::{Ending, Runner};
use rekindle_world::World as _;

use crate::engine::{EngineOptions, drive, hold_branch};
use crate::{Error, Face, Project};

/// Options for starting a run.
#[derive(Debug, Clone)]
pub struct RunOptions {
    /// How tasks are run.
    pub engine: EngineOptions,
    /// The branch; by default the run gets its own.
    pub branch: Option<String>,
    /// Commands that must succeed on every integrated tree.
    pub verify: Vec<String>,
    /// Who chose them.
    pub verify_from: CommandSource,
    /// How often a failed task is retried.
    pub retries: u32,
    /// The time limit of one attempt, in seconds.
    pub timeout: Option<u64>,
    /// Continue without asking.
    pub yes: bool,
}

/// The result of a run.
#[derive(Debug)]
pub struct Ran {
    /// The workflow.
    pub id: WorkflowId,
    /// The branch.
    pub branch: String,
    /// How it ended; `None` if the person declined.
    pub ending: Option<Ending>,
}

/// The largest plan that is read.
const LARGEST_PLAN: u64 = 256 * 1024 * 1024;

/// Starts a run from a plan file and works on it until it is done or a person is needed.
pub fn run(
    project: &Project,
    plan: &Utf8Path,
    options: &RunOptions,
    face: &mut dyn Face,
) -> Result<Ran, Error> {
    let path = project.typed_path(plan);
    let bytes = project
        .world()
        .read(&path, LARGEST_PLAN)
        .map_err(|reason| Error::Unreadable {
            path: path.clone(),
            reason,
        })?;
    let (protocol, starter) = rekindle_registry::starter();
    let draft = starter.draft(plan, &bytes);
    refuse_unsound(plan, draft.findings(), draft.n_tasks())?;
    let repo = Repo::at(
        &Program::find(&project.search_path).map_err(Error::Git)?,
        project.folder(),
    );
    let now = project.now();
    let short = short_id(&path, now);
    let branch = match &options.branch {
        Some(branch) => branch.clone(),
        None => format!("rekindle/{}", draft.workflow(now, &short)),
    };
    let base = base(&repo, &branch)?;
    let new = NewRun {
        settings: Settings {
            branch: branch.clone(),
            base,
            verify: options.verify.clone(),
            retries: options.retries,
            timeout: options.timeout,
            max_cost: options.engine.max_cost.or(options.engine.default_max_cost),
        },
        source: plan.to_string(),
        text: String::from_utf8_lossy(&bytes).into_owned(),
        short_id: short,
    };
    let (name, files) = draft.files(&new, now);
    let id = WorkflowId::new(protocol, name);
    face.tell(&crate::News::Findings(draft.findings()));
    let summary = format!(
        "{}: {} tasks on branch `{branch}`, {} at a time",
        draft.title(),
        draft.n_tasks(),
        options.engine.jobs.unwrap_or(options.engine.default_jobs)
    );
    let mut commands = vec![options.engine.command()];
    commands.extend(options.verify.iter().map(|check| Command {
        text: check.clone(),
        role: CommandRole::Check,
        source: options.verify_from.clone(),
        tasks: draft.n_tasks(),
    }));
    commands.extend(Command::checks_of(plan.as_str(), draft.checks()));
    face.tell(&crate::News::Commands(&commands));
    if !options.yes && !face.agree(&summary) {
        return Ok(Ran {
            id,
            branch,
            ending: None,
        });
    }
    // A link in its way could lead anywhere; nothing has been created yet that would have to be removed.
    let folder = rekindle_fs::confine(project.folder(), &draft.folder(&id.name))?;
    let purpose = format!("run {id}");
    let _branch = hold_branch(project, &branch, &purpose)?;
    let (mut runner, _) = Runner::open(
        &project.state(),
        &id,
        &purpose,
        now,
        project.reach(Vec::new()),
    )
    .map_err(|error| Error::from_run(&id, error))?;
    crate::clean::sweep_drafts(project);
    // The branch first: an invalid name must not leave a run behind that can never continue.
    let name = format!("refs/heads/{branch}");
    if repo.resolve(&name).map_err(Error::Git)?.is_none() {
        let base = ObjectId::parse(&new.settings.base).map_err(Error::Git)?;
        repo.update_ref(&name, &base, &Expected::Missing)
            .map_err(Error::Git)?;
    }
    rekindle_fs::create_folder(&folder, &files)?;
    let log = draft.log(&id.name, now);
    let ending = drive(project, &id, &log, &options.engine, &mut runner, face)?;
    Ok(Ran { id, branch, ending })
}

/// Refuses an invalid plan, with all faults.
fn refuse_unsound(plan: &Utf8Path, findings: &[Finding], n_tasks: usize) -> Result<(), Error> {
    let is_harmless =
        |finding: &Finding| matches!(finding.code, Code::OverlappingFiles | Code::TaskWithoutId);
    if n_tasks > 0 && findings.iter().all(is_harmless) {
        return Ok(());
    }
    // Without a task, only lines that look like tasks are reported.
    let wrong = findings.iter();
    let wrong = wrong.filter(|finding| n_tasks == 0 || !is_harmless(finding));
    let wrong: Vec<Finding> = wrong.cloned().collect();
    Err(Error::BadPlan {
        path: plan.to_owned(),
        findings: wrong,
    })
}

/// Returns the base commit of the run: that of the branch if it exists, else that of HEAD.
fn base(repo: &Repo, branch: &str) -> Result<String, Error> {
    if !rekindle_text::is_branch_name(branch) {
        return Err(Error::BadBranch {
            name: branch.to_owned(),
        });
    }
    let name = format!("refs/heads/{branch}");
    for worktree in repo.worktrees().map_err(Error::Git)? {
        if worktree.branch.as_deref() == Some(branch) {
            return Err(Error::CheckedOut {
                branch: branch.to_owned(),
                path: worktree.path.display().to_string(),
            });
        }
    }
    if let Some(tip) = repo.resolve(&name).map_err(Error::Git)? {
        return Ok(tip.as_str().to_owned());
    }
    let head = repo.head().map_err(Error::Git)?;
    match head {
        Head::Branch {
            commit: Some(commit),
            ..
        }
        | Head::Detached { commit } => Ok(commit.as_str().to_owned()),
        Head::Branch { commit: None, .. } => Err(Error::NoCommits),
    }
}

/// Returns four characters that distinguish runs of the same minute and title.
fn short_id(path: &Utf8PathBuf, now: jiff::Timestamp) -> String {
    let text = format!("{path} {} {}", now.as_nanosecond(), std::process::id());
    let digest = rekindle_fs::Fingerprint::of(text.as_bytes()).to_hex();
    digest[..4].to_owned()
}
