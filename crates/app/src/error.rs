//! Errors of use cases.

mod class;

use rekindle_model::{Finding, ProtocolName, Summary, WorkflowId};

use crate::attach::Unattached;

/// The most names of workflows in a message.
const MOST_NAMES: usize = 10;

/// Why a use case failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No workflow has the given name.
    #[error("no workflow `{name}` in this project")]
    Unknown {
        /// The given name.
        name: String,
        /// The open workflows.
        open: Vec<Summary>,
    },
    /// The given word is not a code, and no task was given.
    #[error("unknown code `{name}`")]
    UnknownCode {
        /// The given word.
        name: String,
    },
    /// Several workflows match the name.
    #[error("`{name}` is ambiguous: it matches {}", list(among))]
    Ambiguous {
        /// The given name.
        name: String,
        /// The matches.
        among: Vec<WorkflowId>,
    },
    /// There are open workflows, and none was named.
    #[error("several workflows are open; name one")]
    ChoiceNeeded {
        /// The open workflows.
        open: Vec<Summary>,
    },
    /// No agent is named anywhere, and the work needs one.
    #[error("no agent was given")]
    NoAgent,
    /// The agent's program cannot be started, so no attempt can succeed.
    #[error("the agent `{agent}` cannot start: {problem}")]
    AgentCannotStart {
        /// The agent's name.
        agent: String,
        /// What is wrong.
        problem: String,
    },
    /// The configuration that a team shares is there already.
    #[error("`{path}` exists already")]
    AlreadyConfigured {
        /// The file.
        path: camino::Utf8PathBuf,
    },
    /// The configuration could not be changed.
    #[error("`{path}` could not be changed")]
    NotConfigured {
        /// The file.
        path: camino::Utf8PathBuf,
        /// Why.
        source: rekindle_text::TomlEditError,
    },
    /// A question was asked, and standard input was at its end.
    #[error("nobody answered the question")]
    NobodyAnswered,
    /// A finding explains why no workflow can be chosen.
    #[error("{}", finding.message)]
    NotChosen {
        /// The finding.
        finding: Box<Finding>,
    },
    /// The protocol does not support an option.
    #[error("`{protocol}` does not support `{option}`")]
    NotOffered {
        /// The protocol.
        protocol: ProtocolName,
        /// The option.
        option: &'static str,
    },
    /// The project has no workflow of any protocol.
    #[error("no workflow found in this project")]
    Nothing,
    /// All workflows of the project are finished, and none was named.
    #[error("no open workflow in this project")]
    NothingOpen,
    /// The project has no workflow of the given protocol.
    #[error("no {protocol} workflow found in this project")]
    NothingOf {
        /// The protocol.
        protocol: ProtocolName,
    },
    /// The protocol of a workflow has no place for such a record.
    #[error("`{id}` does not record {what}")]
    NotKept {
        /// The workflow.
        id: WorkflowId,
        /// The kind of record.
        what: &'static str,
    },
    /// Nothing that an agent printed is kept.
    #[error("`{id}` has no output{}", .task.as_ref().map_or_else(String::new, |task| format!(" of task `{task}`")))]
    NoOutput {
        /// The workflow.
        id: WorkflowId,
        /// The task, where one was named.
        task: Option<String>,
    },
    /// There is nothing to follow.
    #[error("`{id}` cannot be followed: {reason}")]
    NotAttached {
        /// The workflow.
        id: WorkflowId,
        /// Why.
        reason: Unattached,
    },
    /// An event that needs a task was reported without one.
    #[error("the event `{event}` needs a task")]
    TaskNeeded {
        /// The event.
        event: String,
    },
    /// An event lacks what its readers need.
    #[error("`{event}` needs {missing} in its details")]
    DetailsNeeded {
        /// The event.
        event: String,
        /// What is missing.
        missing: &'static str,
    },
    /// The workflow does not have the task.
    #[error("`{id}` has no task `{task}`")]
    UnknownTask {
        /// The given task.
        id: WorkflowId,
        /// The task as it was typed.
        task: String,
    },
    /// The workflow has no document of that name, or it is not inside the project.
    #[error("`{id}` has no document `{name}`")]
    UnknownDocument {
        /// The given name.
        id: WorkflowId,
        /// The name as it was typed.
        name: String,
    },
    /// Files have changed since the plan was made.
    #[error("the files of `{id}` changed while the plan was shown")]
    Moved {
        /// The workflow.
        id: WorkflowId,
    },
    /// The plan was applied already, or the workflow has changed since it was made.
    #[error(
        "the plan of `{id}` is outdated: this plan or another one has been applied since it was made"
    )]
    Spent {
        /// The workflow.
        id: WorkflowId,
    },
    /// Findings prevent a resume.
    #[error("`{id}` cannot be resumed")]
    Blocked {
        /// The workflow.
        id: WorkflowId,
        /// The reasons, one line each.
        reasons: Vec<String>,
    },
    /// A finished step is due again unchanged.
    #[error("the {role} reported success, but the same step is due again: {summary}")]
    NoProgress {
        /// Who did it.
        role: &'static str,
        /// The step.
        summary: String,
    },
    /// The configuration is invalid.
    #[error(transparent)]
    Config(rekindle_agents::ConfigError),
    /// A plan is invalid.
    #[error("`{path}` is not a valid plan")]
    BadPlan {
        /// The file.
        path: camino::Utf8PathBuf,
        /// The faults; empty if the plan has no tasks.
        findings: Vec<Finding>,
    },
    /// The branch of a run must not be checked out.
    #[error("the branch `{branch}` is checked out in `{path}`")]
    CheckedOut {
        /// The branch.
        branch: String,
        /// The worktree that has it checked out.
        path: String,
    },
    /// The name is not a valid branch name.
    #[error("`{name}` is not a valid branch name")]
    BadBranch {
        /// The name.
        name: String,
    },
    /// There is no commit to start from.
    #[error("the repository has no commit yet")]
    NoCommits,
    /// MAP's scripts do not exist.
    #[error("MAP is not set up in this project: `{path}` does not exist")]
    NoMapScripts {
        /// The expected path.
        path: camino::Utf8PathBuf,
    },
    /// The backup of a replaced script is missing.
    #[error("`{path}`, the backup of MAP's script, is missing")]
    OriginalMissing {
        /// The path of the backup.
        path: camino::Utf8PathBuf,
    },
    /// The backup of a replaced script differs from the current script.
    #[error("the backup `{path}` differs from the current script")]
    OriginalDiffers {
        /// The path of the backup.
        path: camino::Utf8PathBuf,
    },
    /// Neither a rescue nor a workflow has the given name.
    #[error("no backup and no workflow is named `{workflow}`")]
    NothingRescued {
        /// The given name.
        workflow: String,
    },
    /// No worktree or orphan has the given name.
    #[error("no leftover worktree is named `{name}`")]
    UnknownLeftover {
        /// The given name.
        name: String,
    },
    /// What was named cannot be removed.
    #[error("`{name}` cannot be pruned: {reason}")]
    NotPrunable {
        /// The given name.
        name: String,
        /// Why not.
        reason: String,
    },
    /// No rescue has the given name.
    #[error("no backup is named `{name}`")]
    UnknownRescue {
        /// The given name.
        name: String,
    },
    /// Several rescues match the name.
    #[error("`{name}` is ambiguous: it matches {} backups", among.len())]
    AmbiguousRescue {
        /// The given name.
        name: String,
        /// The matches.
        among: Vec<String>,
    },
    /// A rescue is restored only into a new folder.
    #[error("`{path}` already exists")]
    Taken {
        /// The existing path.
        path: camino::Utf8PathBuf,
    },
    /// A rescue could not be restored completely.
    #[error("the backup was only partly restored, to `{draft}`")]
    NotRestored {
        /// The incomplete folder.
        draft: camino::Utf8PathBuf,
        /// The reason.
        source: rekindle_git::Error,
    },
    /// git failed.
    #[error(transparent)]
    Git(rekindle_git::Error),
    /// A recording is invalid.
    #[error("`{path}` is not a valid recording")]
    Recording {
        /// The file.
        path: camino::Utf8PathBuf,
        /// The reason.
        source: rekindle_world::RecordingError,
    },
    /// A file that a person named cannot be read.
    #[error("cannot read `{path}`: {reason}")]
    Unreadable {
        /// The file.
        path: camino::Utf8PathBuf,
        /// The reason.
        reason: rekindle_world::ReadError,
    },
    /// Another rekindle holds the workflow; the source names it.
    #[error("`{id}` is in use")]
    Held {
        /// The workflow.
        id: WorkflowId,
        /// The holder.
        source: rekindle_fs::LockError,
    },
    /// Another run lands on the branch; the source names it.
    #[error("another run is landing on the branch `{branch}`")]
    BranchHeld {
        /// The branch.
        branch: String,
        /// The holder.
        source: rekindle_fs::LockError,
    },
    /// A run is recorded as complete, but git does not have its work.
    #[error("`{id}` is recorded as complete, but {}", absent(branch, missing))]
    WorkMissing {
        /// The workflow.
        id: WorkflowId,
        /// The run's branch.
        branch: String,
        /// What is missing.
        missing: rekindle_runner::Missing,
    },
    /// An agent that an earlier rekindle started is still running.
    #[error("{message}")]
    AgentAlive {
        /// The agent and its task.
        message: String,
        /// Its processes.
        pids: Vec<u32>,
    },
    /// Another session of a coding agent is at work in the project.
    #[error("{message}")]
    SessionAlive {
        /// The workflow.
        id: WorkflowId,
        /// The session.
        message: String,
        /// Its process.
        pid: u32,
    },
    /// The plan could not be applied.
    #[error("the plan could not be applied")]
    Run(#[source] rekindle_runner::Error),
    /// A program could not be set up.
    #[error(transparent)]
    Install(#[from] crate::install::InstallError),
    /// A session of a coding agent is not continued.
    #[error(transparent)]
    Session(Box<crate::SessionError>),
    /// A file could not be written.
    #[error(transparent)]
    Files(#[from] rekindle_fs::Error),
}

impl Error {
    /// Converts an error of the runner; errors that a person can act upon get a variant of their own.
    pub(crate) fn from_run(id: &WorkflowId, error: rekindle_runner::Error) -> Self {
        use rekindle_runner::Error as Run;
        if let Run::Lock(source @ rekindle_fs::LockError::Held { .. }) = error {
            let id = id.clone();
            return Self::Held { id, source };
        }
        if let Run::AgentAlive { pids, .. } = &error {
            let (pids, message) = (pids.clone(), error.to_string());
            return Self::AgentAlive { message, pids };
        }
        Self::Run(error)
    }
}

fn absent(branch: &str, missing: &rekindle_runner::Missing) -> String {
    let tasks: Vec<String> = missing
        .tasks
        .iter()
        .take(5)
        .map(|task| format!("`{task}`"))
        .collect();
    let more = if missing.tasks.len() > 5 { ", …" } else { "" };
    let tasks = tasks.join(", ");
    if missing.branch_is_gone {
        format!("the branch `{branch}` is gone, and the checked-out branch lacks {tasks}{more}")
    } else {
        format!("neither the branch `{branch}` nor the checked-out branch has {tasks}{more}")
    }
}

fn list(ids: &[WorkflowId]) -> String {
    let names = ids.iter().take(MOST_NAMES).map(|id| format!("`{id}`"));
    let names = names.collect::<Vec<_>>().join(", ");
    match ids.len().saturating_sub(MOST_NAMES) {
        0 => names,
        more => format!("{names} and {more} more"),
    }
}
