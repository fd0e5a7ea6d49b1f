//! Why a use case could not be carried out.

use rekindle_model::{Code, Finding, ProtocolName, Summary, WorkflowId};
use rekindle_wire::exit;

/// The most names of workflows in a message.
const MOST_NAMES: usize = 10;

/// Why a use case could not be carried out.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No workflow has the name that was given.
    #[error("no workflow `{name}` in this project")]
    Unknown {
        /// The name as it was typed.
        name: String,
        /// What is here and open.
        open: Vec<Summary>,
    },
    /// What was to be explained is no code, and no task was named.
    #[error("unknown code `{name}`")]
    UnknownCode {
        /// The word as it was typed.
        name: String,
    },
    /// The name is that of several workflows.
    #[error("`{name}` is ambiguous: it matches {}", list(among))]
    Ambiguous {
        /// The name as it was typed.
        name: String,
        /// What it could be.
        among: Vec<WorkflowId>,
    },
    /// Workflows are open and none was named.
    #[error("workflows are open, but none was named")]
    ChoiceNeeded {
        /// What is open.
        open: Vec<Summary>,
    },
    /// A finding says why no workflow can be chosen.
    #[error("{}", finding.message)]
    NotChosen {
        /// The finding.
        finding: Box<Finding>,
    },
    /// The protocol does not know what was asked for.
    #[error("`{protocol}` does not support `{option}`")]
    NotOffered {
        /// The protocol.
        protocol: ProtocolName,
        /// What was typed.
        option: &'static str,
    },
    /// The project has nothing of any protocol.
    #[error("nothing to resume here")]
    Nothing,
    /// The project has nothing of the protocol that was named.
    #[error("no {protocol} workflow found in this project")]
    NothingOf {
        /// The protocol.
        protocol: ProtocolName,
    },
    /// The protocol of a workflow has no place for what was told.
    #[error("`{id}` does not record {what}")]
    NotKept {
        /// The workflow.
        id: WorkflowId,
        /// What was told.
        what: &'static str,
    },
    /// An event of a task was told without the task.
    #[error("the event `{event}` needs a task")]
    TaskNeeded {
        /// The event.
        event: String,
    },
    /// A task is not known to its workflow.
    #[error("`{id}` has no task `{task}`")]
    UnknownTask {
        /// The workflow.
        id: WorkflowId,
        /// The task as it was typed.
        task: String,
    },
    /// The workflow has no document of that name, or it does not stand in the project.
    #[error("`{id}` has no document `{name}`")]
    UnknownDocument {
        /// The workflow.
        id: WorkflowId,
        /// The name as it was typed.
        name: String,
    },
    /// What was read has changed since the plan was made.
    #[error("the files of `{id}` changed while the plan was shown")]
    Moved {
        /// The workflow.
        id: WorkflowId,
    },
    /// The plan was used, or something else was done with the workflow since it was made.
    #[error(
        "the plan of `{id}` is outdated: this plan or another one has been applied since it was made"
    )]
    Spent {
        /// The workflow.
        id: WorkflowId,
    },
    /// Findings keep it from being resumed.
    #[error("`{id}` cannot be resumed")]
    Blocked {
        /// The workflow.
        id: WorkflowId,
        /// Why, each a line.
        reasons: Vec<String>,
    },
    /// A step was done and is due again unchanged.
    #[error("the {role} reported success, but the same step is due again: {summary}")]
    NoProgress {
        /// Who did it.
        role: &'static str,
        /// The step.
        summary: String,
    },
    /// The configuration can not be used.
    #[error(transparent)]
    Config(rekindle_agents::ConfigError),
    /// A plan can not be carried out as it is.
    #[error("`{path}` is not a valid plan")]
    BadPlan {
        /// The file.
        path: camino::Utf8PathBuf,
        /// What is wrong with it; empty when it has no tasks.
        findings: Vec<Finding>,
    },
    /// The branch of a run must not be one that somebody works on.
    #[error("the branch `{branch}` is checked out in `{path}`")]
    CheckedOut {
        /// The branch.
        branch: String,
        /// Where.
        path: String,
    },
    /// The name can not be that of a branch.
    #[error("`{name}` is not a valid branch name")]
    BadBranch {
        /// The name.
        name: String,
    },
    /// There is nothing to start from.
    #[error("the repository has no commit yet")]
    NoCommits,
    /// The scripts of MAP are not here.
    #[error("MAP is not set up in this project: `{path}` does not exist")]
    NoMapScripts {
        /// Where they would be.
        path: camino::Utf8PathBuf,
    },
    /// What was replaced can not be brought back.
    #[error("`{path}`, the backup of MAP's script, is missing")]
    OriginalMissing {
        /// Where it was kept.
        path: camino::Utf8PathBuf,
    },
    /// What was replaced is another thing than what stands there now.
    #[error("the backup `{path}` differs from the current script")]
    OriginalDiffers {
        /// Where it is kept.
        path: camino::Utf8PathBuf,
    },
    /// Nothing was rescued of the workflow that was named, and it is not here either.
    #[error("no rescue and no workflow is named `{workflow}`")]
    NothingRescued {
        /// The name as it was typed.
        workflow: String,
    },
    /// No worktree or orphan has the name that was given.
    #[error("no leftover worktree is named `{name}`")]
    UnknownLeftover {
        /// The name as it was typed.
        name: String,
    },
    /// No rescue has the name that was given.
    #[error("no rescue is named `{name}`")]
    UnknownRescue {
        /// The name as it was typed.
        name: String,
    },
    /// The name is that of several rescues.
    #[error("`{name}` is ambiguous: it matches {} rescues", among.len())]
    AmbiguousRescue {
        /// The name as it was typed.
        name: String,
        /// What it could be.
        among: Vec<String>,
    },
    /// A rescue is only written into a folder that is not there yet.
    #[error("`{path}` already exists")]
    Taken {
        /// The folder, or whatever it is.
        path: camino::Utf8PathBuf,
    },
    /// A rescue could not be written whole.
    #[error("the rescue was only partly restored, to `{draft}`")]
    NotRestored {
        /// The folder.
        draft: camino::Utf8PathBuf,
        /// Why.
        source: rekindle_git::Error,
    },
    /// git could not do what was needed.
    #[error(transparent)]
    Git(rekindle_git::Error),
    /// A recording could not be used.
    #[error("`{path}` is not a valid recording")]
    Recording {
        /// The file.
        path: camino::Utf8PathBuf,
        /// Why.
        source: rekindle_world::RecordingError,
    },
    /// A file that a person named can not be read.
    #[error("cannot read `{path}`: {reason}")]
    Unreadable {
        /// The file.
        path: camino::Utf8PathBuf,
        /// Why.
        reason: rekindle_world::ReadError,
    },
    /// Another rekindle holds the workflow; the source names it.
    #[error("`{id}` is in use")]
    Held {
        /// The workflow.
        id: WorkflowId,
        /// Who holds it.
        source: rekindle_fs::LockError,
    },
    /// Another run lands on the branch; the source names who.
    #[error("another run is landing on the branch `{branch}`")]
    BranchHeld {
        /// The branch.
        branch: String,
        /// Who holds it.
        source: rekindle_fs::LockError,
    },
    /// A run is complete by its record, and git does not have its work.
    #[error("`{id}` is recorded as complete, but {}", absent(branch, missing))]
    WorkMissing {
        /// The workflow.
        id: WorkflowId,
        /// The run's branch.
        branch: String,
        /// What is not there.
        missing: rekindle_runner::Missing,
    },
    /// An agent that an earlier rekindle started is still at work.
    #[error("{message}")]
    AgentAlive {
        /// Who it is and what it does.
        message: String,
        /// Its processes.
        pids: Vec<u32>,
    },
    /// A session of a coding agent that is not ours is at work in the project.
    #[error("{message}")]
    SessionAlive {
        /// The workflow.
        id: WorkflowId,
        /// Who it is.
        message: String,
        /// Its process.
        pid: u32,
    },
    /// The plan could not be carried out.
    #[error("the plan could not be applied")]
    Run(#[source] rekindle_runner::Error),
    /// A program could not be set up.
    #[error(transparent)]
    Install(#[from] crate::install::InstallError),
    /// A file could not be written.
    #[error(transparent)]
    Files(#[from] rekindle_fs::Error),
}

impl Error {
    /// Returns the exit code of a command that ends with this.
    pub fn exit(&self) -> u8 {
        match self {
            Self::Ambiguous { .. } | Self::AmbiguousRescue { .. } | Self::ChoiceNeeded { .. } => {
                exit::CHOICE
            }
            Self::Held { .. }
            | Self::BranchHeld { .. }
            | Self::AgentAlive { .. }
            | Self::SessionAlive { .. } => exit::HELD,
            Self::Config(_)
            | Self::BadBranch { .. }
            | Self::NotOffered { .. }
            | Self::TaskNeeded { .. } => exit::USAGE,
            Self::NotChosen { finding } if finding.code == Code::BadFeatureName => exit::USAGE,
            Self::Unknown { .. }
            | Self::UnknownCode { .. }
            | Self::NotChosen { .. }
            | Self::Nothing
            | Self::NothingOf { .. }
            | Self::NotKept { .. }
            | Self::UnknownTask { .. }
            | Self::UnknownDocument { .. }
            | Self::Moved { .. }
            | Self::Spent { .. }
            | Self::Blocked { .. }
            | Self::NoProgress { .. }
            | Self::BadPlan { .. }
            | Self::CheckedOut { .. }
            | Self::WorkMissing { .. }
            | Self::NoCommits
            | Self::NothingRescued { .. }
            | Self::UnknownRescue { .. }
            | Self::UnknownLeftover { .. }
            | Self::NoMapScripts { .. }
            | Self::OriginalMissing { .. }
            | Self::OriginalDiffers { .. }
            | Self::Taken { .. }
            | Self::NotRestored { .. }
            | Self::Git(_)
            | Self::Recording { .. }
            | Self::Unreadable { .. }
            | Self::Install(_)
            | Self::Run(_)
            | Self::Files(_) => exit::CANNOT,
        }
    }

    /// Returns the code that explains it, where it has one.
    pub fn code(&self) -> Option<Code> {
        match self {
            Self::Unknown { .. } => Some(Code::UnknownWorkflow),
            Self::NotChosen { finding } => Some(finding.code),
            Self::Moved { .. } | Self::Spent { .. } => Some(Code::WorldMoved),
            Self::NoProgress { .. } => Some(Code::NoProgress),
            Self::WorkMissing { .. } => Some(Code::LandedWorkMissing),
            Self::SessionAlive { .. } => Some(Code::SessionAlive),
            Self::Held { .. } | Self::BranchHeld { .. } | Self::AgentAlive { .. } => {
                Some(Code::LockHeld)
            }
            Self::UnknownCode { .. }
            | Self::NotOffered { .. }
            | Self::Ambiguous { .. }
            | Self::ChoiceNeeded { .. }
            | Self::Nothing
            | Self::NothingOf { .. }
            | Self::NotKept { .. }
            | Self::TaskNeeded { .. }
            | Self::UnknownTask { .. }
            | Self::UnknownDocument { .. }
            | Self::Blocked { .. }
            | Self::BadPlan { .. }
            | Self::Config(_)
            | Self::BadBranch { .. }
            | Self::CheckedOut { .. }
            | Self::NoCommits
            | Self::NothingRescued { .. }
            | Self::UnknownRescue { .. }
            | Self::UnknownLeftover { .. }
            | Self::NoMapScripts { .. }
            | Self::OriginalMissing { .. }
            | Self::OriginalDiffers { .. }
            | Self::AmbiguousRescue { .. }
            | Self::Taken { .. }
            | Self::NotRestored { .. }
            | Self::Git(_)
            | Self::Recording { .. }
            | Self::Unreadable { .. }
            | Self::Install(_)
            | Self::Run(_)
            | Self::Files(_) => None,
        }
    }

    /// Sorts out what a person can act upon from what kept a workflow's plan from being carried out.
    pub(crate) fn from_run(id: &WorkflowId, error: rekindle_runner::Error) -> Self {
        match error {
            rekindle_runner::Error::Lock(source @ rekindle_fs::LockError::Held { .. }) => {
                Self::Held {
                    id: id.clone(),
                    source,
                }
            }
            rekindle_runner::Error::AgentAlive { ref pids, .. } => Self::AgentAlive {
                pids: pids.clone(),
                message: error.to_string(),
            },
            error @ (rekindle_runner::Error::Lock(_)
            | rekindle_runner::Error::Files(_)
            | rekindle_runner::Error::Git(_)
            | rekindle_runner::Error::BaseGone { .. }
            | rekindle_runner::Error::BranchMoves { .. }
            | rekindle_runner::Error::Changed { .. }
            | rekindle_runner::Error::CheckedOut { .. }
            | rekindle_runner::Error::GitsOwn { .. }
            | rekindle_runner::Error::InTheWay { .. }
            | rekindle_runner::Error::NoBranch
            | rekindle_runner::Error::NoCommit
            | rekindle_runner::Error::NoFolder { .. }
            | rekindle_runner::Error::Submodule { .. }
            | rekindle_runner::Error::WorkerStays { .. }
            | rekindle_runner::Error::WorktreeMoved { .. }
            | rekindle_runner::Error::NoNumber { .. }
            | rekindle_runner::Error::NoOrder { .. }
            | rekindle_runner::Error::ForeignWorker { .. }
            | rekindle_runner::Error::Tracked { .. }
            | rekindle_runner::Error::Runtime(_)
            | rekindle_runner::Error::Unfinished { .. }
            | rekindle_runner::Error::PutAside { .. }
            | rekindle_runner::Error::HalfDone { .. }
            | rekindle_runner::Error::WorkerFailed { .. }
            | rekindle_runner::Error::Worker { .. }) => Self::Run(error),
        }
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
