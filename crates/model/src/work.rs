//! Work that runs in parallel: tasks on a branch, attempts, and what workers say of them.
//!
//! A protocol that lets its tasks run by the engine describes them as [`Work`]
//! and gives words to what happens ([`Happened`]). An attempt has a number; a
//! word that carries one counts only if it is the newest attempt's.

use std::collections::BTreeMap;

use camino::Utf8PathBuf;
use jiff::Timestamp;

/// No task is tried more often: a higher attempt number was not counted up to, no matter who wrote it,
/// and there must be room to count on.
pub const MOST_ATTEMPTS: u32 = 1_000_000;

/// What the engine is to do: tasks in plan order, on one branch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Work {
    /// How it is to be done.
    pub settings: Settings,
    /// In plan order.
    pub tasks: Vec<WorkTask>,
    /// The commit that was last said to have landed.
    pub last_commit: Option<String>,
    /// Where finished work goes.
    pub destination: Destination,
    /// How many workers at once, where the workflow says so and nobody else does.
    pub jobs: Option<usize>,
    /// The time of the newest event of the record, after which new ones have to come.
    pub latest: Option<Timestamp>,
}

/// Where finished work goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Destination {
    /// The engine lands it on the branch of the settings.
    Branch,
    /// It stays in its worktree; the protocol lands it in a plan of its own. No attempt is repeated.
    Worktree,
}

/// Where an attempt works, where the protocol has a place of its own for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkPlace {
    /// The worktree, absolute.
    pub worktree: Utf8PathBuf,
    /// The commit that the attempt begins with.
    pub base: String,
    /// Names at the worktree's top that are nobody's work; git is told to ignore them.
    pub keep: Vec<String>,
    /// Documents of the project that are copied in afresh, each with where it goes in the worktree.
    pub copies: Vec<(Utf8PathBuf, Utf8PathBuf)>,
    /// The folder of those copies, which is emptied first, relative to the worktree.
    pub copies_folder: Utf8PathBuf,
    /// Where evidence of the work is left, relative to the worktree.
    pub artifacts: Utf8PathBuf,
    /// How often the task was started before; what those attempts left as evidence is kept apart.
    pub earlier: u32,
    /// A file of the host's in which the task's state is kept up to date, absolute.
    pub mirror: Utf8PathBuf,
    /// What that file held when the task was judged.
    pub seen: Vec<u8>,
}

/// How a run is to be done; fixed when it is started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// The branch on which the work lands.
    pub branch: String,
    /// The commit that the branch was made from.
    pub base: String,
    /// Commands that must succeed on every integrated tree.
    pub verify: Vec<String>,
    /// How often a failed task is tried again.
    pub retries: u32,
    /// How long one attempt may take, in seconds.
    pub timeout: Option<u64>,
    /// No new attempts once the agents' reported cost has reached this, in millionths of a dollar.
    pub max_cost: Option<u64>,
    /// What the run is for, in a few words; empty where nobody said it.
    pub title: String,
    /// The plan file that it was started from, as it was typed, relative to the project.
    pub plan: Option<Utf8PathBuf>,
    /// The agent, where the record names one.
    pub agent: Option<AgentChoice>,
    /// How many workers at once, where a person said so.
    pub jobs: Option<usize>,
    /// The list that the tasks come from, where each is marked with its work.
    pub list: Option<ListSource>,
}

/// The agent that a run was started with; a resume uses it unless another is named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AgentChoice {
    /// An agent of this name, as the configuration describes it.
    Named(String),
    /// A shell command.
    Command(String),
}

/// A list of tasks that a run does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListSource {
    /// The list as a workflow, `protocol:name`.
    pub id: String,
    /// The file with the tasks, relative to the project.
    pub path: Utf8PathBuf,
}

/// One task as the engine sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkTask {
    /// Its id.
    pub id: String,
    /// Its title.
    pub title: String,
    /// The tasks it needs, by their place in the plan.
    pub needs: Vec<usize>,
    /// Whether it needs something that is not there, and so can never run.
    pub unreachable: bool,
    /// Whether the plan itself leaves it out, which no event can change.
    pub left_out_by_plan: bool,
    /// Files it is about; tasks that share one do not run side by side.
    pub files: Vec<String>,
    /// Commands that check its work.
    pub checks: Vec<String>,
    /// Whether an attempt that changes nothing can be its work.
    pub may_be_empty: bool,
    /// Its state by the protocol's own record.
    pub standing: Standing,
    /// How often it failed since it was last done or said to be ready.
    pub failures: u32,
    /// How often that was a conflict with what landed meanwhile.
    pub conflicts: u32,
    /// How often its worker or agent was killed from outside since then.
    pub interruptions: u32,
    /// The highest number of an attempt that its record names.
    pub attempts: u32,
    /// The attempt of the newest failure, where it names one.
    pub last_failed: Option<u32>,
    /// Why it last failed or is blocked.
    pub reason: Option<String>,
    /// Until when it waits for its agent's usage limit, where that is known; it may be past.
    pub limited_until: Option<Timestamp>,
    /// What its attempts have cost, by their numbers, in millionths of a dollar; those that told none are not in it.
    pub costs: BTreeMap<u32, u64>,
    /// Where it is worked on, where the protocol says so.
    pub place: Option<WorkPlace>,
}

/// The state of a task by the protocol's own record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// Something is left to do.
    Open,
    /// A worker of ours was started; if it lives it is followed, and if not it failed.
    AtWork,
    /// A person must decide.
    Blocked,
    /// It was left out.
    Skipped,
    /// It is said to be done.
    Done,
}

/// What happened to an attempt, in words that every protocol can record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Happened {
    /// A worker took it.
    Claimed,
    /// Its agent begins, on this commit.
    Started {
        /// The commit.
        base: String,
    },
    /// It is alive.
    Beat {
        /// What it is doing.
        stage: Stage,
    },
    /// Its agent told the name of its own session.
    Session {
        /// The name.
        id: String,
    },
    /// Its agent told what it has cost until now.
    Cost {
        /// All of the attempt, in millionths of a dollar.
        microdollars: u64,
    },
    /// Its agent has ended and reported no failure; checks and delivery follow.
    Ended(AgentEnd),
    /// Its work is there.
    Implemented(Delivery),
    /// It did not succeed.
    Failed {
        /// Why.
        reason: String,
        /// Of what kind.
        kind: FailureKind,
    },
    /// The agent may continue only after a time.
    Limited {
        /// When, as the agent said it.
        until: Option<String>,
    },
    /// It was stopped by a person or killed from outside, which is no failure.
    Stopped {
        /// What was killed, if it was no person's wish.
        killed: Option<Kill>,
    },
    /// Its worker or agent was killed from outside, and an orchestrator saw it.
    Interrupted(Kill),
    /// Its work has landed.
    Completed {
        /// The commit on the branch.
        commit: String,
    },
    /// Only a person can help.
    Blocked {
        /// Why.
        reason: String,
    },
    /// It is to be done again although it was said to be done.
    Reopened {
        /// Why.
        reason: String,
    },
}

/// The end of an agent that reported no failure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentEnd {
    /// Its exit code; `None` if it had to be ended after its last report.
    pub exit: Option<i32>,
    /// The last tool that it was not allowed to use.
    pub denied: Option<String>,
    /// The boot of the machine, where it is known: files that were written in an earlier one may be
    /// incomplete.
    pub boot: Option<String>,
}

/// What an agent is told about the attempt before its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Before<'a> {
    /// It did not succeed, for this reason.
    Failed(&'a str),
    /// It was cut short for this reason. The agent goes on in the same session, in the same worktree.
    CutShort(&'a str),
}

/// A death that was nobody's own doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kill {
    /// Who died.
    pub victim: Victim,
    /// By which signal, where it is known.
    pub signal: Option<i32>,
}

/// A clause for a person: "its agent was killed by signal 9".
impl std::fmt::Display for Kill {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let victim = self.victim.as_str();
        match (self.victim, self.signal) {
            (_, Some(signal)) => write!(formatter, "its {victim} was killed by signal {signal}"),
            (Victim::Worker, None) => {
                write!(formatter, "its {victim} exited without reporting a result")
            }
            (Victim::Agent | Victim::Check, None) => write!(formatter, "its {victim} was killed"),
        }
    }
}

/// Processes of an attempt that can be killed from outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Victim {
    /// The supervisor of the attempt.
    Worker,
    /// The agent.
    Agent,
    /// A command that checks its work.
    Check,
}

impl Victim {
    /// Returns the word used in text and JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Worker => "worker",
            Self::Agent => "agent",
            Self::Check => "check",
        }
    }

    /// Returns who is meant by a word.
    pub fn parse(word: &str) -> Option<Self> {
        [Self::Worker, Self::Agent, Self::Check]
            .into_iter()
            .find(|victim| victim.as_str() == word)
    }
}

/// What a worker is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// The agent works.
    Implementing,
    /// The checks run.
    Verifying,
}

impl Stage {
    /// Returns the word used in text and JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Implementing => "implementing",
            Self::Verifying => "verifying",
        }
    }
}

/// Kinds of failure that are treated differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailureKind {
    /// The agent said so, or a check of its work did.
    Work,
    /// It took longer than it may.
    Timeout,
    /// It does not fit with what landed meanwhile.
    Conflict,
    /// The integrated tree did not pass.
    Integration,
    /// The agent's program did not start, which says nothing about the task and is never retried.
    Start,
}

impl FailureKind {
    /// Returns the word used in text and JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Work => "work",
            Self::Timeout => "timeout",
            Self::Conflict => "conflict",
            Self::Integration => "integration",
            Self::Start => "start",
        }
    }

    /// Returns the kind that a word names.
    pub fn parse(word: &str) -> Self {
        [
            Self::Timeout,
            Self::Conflict,
            Self::Integration,
            Self::Start,
        ]
        .into_iter()
        .find(|kind| kind.as_str() == word)
        .unwrap_or(Self::Work)
    }
}

/// Work that a worker hands over.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Delivery {
    /// A commit whose tree is the worktree's, on top of `base`.
    pub commit: String,
    /// The commit's tree.
    pub tree: String,
    /// The commit that the attempt began with.
    pub base: String,
    /// The agent's own session, where it told one.
    pub session: Option<String>,
    /// What it cost, in millionths of a dollar, where the agent told it.
    pub cost: Option<u64>,
}

/// The result of an attempt in a worktree that belongs to the protocol.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attempted {
    /// The files that it changed, or why it failed.
    pub result: Result<Vec<FileChange>, String>,
    /// The commands that checked it.
    pub checks: Vec<String>,
}

/// A file that an attempt changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileChange {
    /// Its path in the worktree.
    pub path: String,
    /// How it changed.
    pub kind: FileChangeKind,
}

/// How a file changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileChangeKind {
    /// It is new.
    Added,
    /// It has another content or type.
    Modified,
    /// It is gone.
    Deleted,
    /// It has another name.
    Renamed {
        /// The former path.
        from: String,
    },
}
