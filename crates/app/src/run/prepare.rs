//! A plan file becomes a run that can be shown and started; nothing is written here.

use camino::{Utf8Path, Utf8PathBuf};
use rekindle_git::{Head, Program, Repo};
use rekindle_model::{Code, Command, CommandRole, Finding, ProtocolName, Settings, WorkflowId};
use rekindle_protocol::capability::{Draft, NewRun};

use super::{PlanText, RunOptions, STANDARD_INPUT};
use crate::engine::EngineOptions;
use crate::{Error, Outline, Project};

/// A run that could be started.
pub(super) struct Prepared {
    pub(super) id: WorkflowId,
    pub(super) draft: Box<dyn Draft>,
    pub(super) new: NewRun,
    /// The files of the run, relative to its folder.
    pub(super) files: Vec<(Utf8PathBuf, String)>,
    pub(super) repo: Repo,
    pub(super) now: jiff::Timestamp,
    pub(super) outline: Outline,
}

/// Reads a plan, or says everything that is wrong with it.
pub(super) fn draft(plan: &PlanText) -> Result<(ProtocolName, Box<dyn Draft>), Error> {
    let (protocol, starter) = rekindle_registry::starter();
    let draft = starter.draft(&plan.name, &plan.bytes);
    refuse_unsound(&plan.name, draft.findings(), draft.n_tasks())?;
    Ok((protocol, draft))
}

/// Prepares a run from a plan that was read.
pub(super) fn prepare(
    project: &Project,
    plan: &PlanText,
    (protocol, draft): (ProtocolName, Box<dyn Draft>),
    options: &RunOptions,
    engine: &EngineOptions,
) -> Result<Prepared, Error> {
    let repo = Repo::at(
        &Program::find(&project.search_path).map_err(Error::Git)?,
        project.folder(),
    );
    let now = project.now();
    let short = short_id(&project.folder().join(&plan.name), now);
    let branch = match &options.branch {
        Some(branch) => branch.clone(),
        None => format!("rekindle/{}", draft.workflow(now, &short)),
    };
    let timeout = options.timeout.or(engine.agent.timeout);
    let new = NewRun {
        settings: Settings {
            base: base(&repo, &branch)?,
            branch,
            verify: options.verify.clone(),
            retries: options.retries,
            timeout: Some(timeout.unwrap_or(options.default_timeout).as_secs()),
            max_cost: engine.max_cost.or(engine.default_max_cost),
            title: draft.title().to_owned(),
            // Standard input cannot be read a second time.
            plan: (plan.name != STANDARD_INPUT).then(|| plan.name.clone()),
            agent: Some(engine.choice.clone()),
            jobs: engine.jobs,
            list: None,
        },
        source: plan.name.to_string(),
        text: String::from_utf8_lossy(&plan.bytes).into_owned(),
        short_id: short,
    };
    let (name, files) = draft.files(&new, now);
    let checks = checks(&plan.name, draft.as_ref(), options);
    let outline = Outline::of_draft(draft.as_ref(), &new.settings, engine, checks);
    Ok(Prepared {
        id: WorkflowId::new(protocol, name),
        draft,
        new,
        files,
        repo,
        now,
        outline,
    })
}

impl Prepared {
    /// Returns every command that is run once a person agrees.
    pub(super) fn commands(&self) -> Vec<Command> {
        let commands = self.outline.agent.iter().chain(&self.outline.outfit);
        let commands = commands.chain(&self.outline.checks);
        commands.cloned().collect()
    }
}

/// Returns the commands that check the work: of all tasks, then of single ones.
fn checks(plan: &Utf8Path, draft: &dyn Draft, options: &RunOptions) -> Vec<Command> {
    let of_all = options.verify.iter().map(|check| Command {
        text: check.clone(),
        role: CommandRole::Check,
        source: options.verify_from.clone(),
        tasks: draft.n_tasks(),
    });
    of_all
        .chain(Command::checks_of(plan.as_str(), draft.checks()))
        .collect()
}

/// Refuses a plan that could not be carried out, with everything that is wrong with it.
fn refuse_unsound(plan: &Utf8Path, findings: &[Finding], n_tasks: usize) -> Result<(), Error> {
    let is_harmless = |finding: &Finding| {
        matches!(
            finding.code,
            Code::OverlappingFiles
                | Code::TaskWithoutId
                | Code::UnknownMark
                | Code::NoText
                | Code::TornLine
                | Code::UnclosedBlock
                | Code::NotUtf8
        )
    };
    if n_tasks > 0 && findings.iter().all(is_harmless) {
        return Ok(());
    }
    // Without a task, what could be meant as one is all that is wrong.
    let wrong = findings.iter();
    let wrong = wrong.filter(|finding| n_tasks == 0 || !is_harmless(finding));
    let wrong: Vec<Finding> = wrong.cloned().collect();
    Err(Error::BadPlan {
        path: plan.to_owned(),
        findings: wrong,
    })
}

/// Returns the commit that the run starts from: the branch if it is there, else what is checked out.
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

/// Returns four characters that tell runs of the same minute and title apart.
fn short_id(path: &Utf8PathBuf, now: jiff::Timestamp) -> String {
    let text = format!("{path} {} {}", now.as_nanosecond(), std::process::id());
    let digest = rekindle_fs::Fingerprint::of(text.as_bytes()).to_hex();
    digest[..4].to_owned()
}
