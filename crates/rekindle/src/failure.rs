//! Failures as a person and a program see them: what happened, why, what to type next.

use std::error::Error as StdError;

use rekindle_app::{Error, InstallError, Missing, Unfit};
use rekindle_model::{Code, Finding, WorkflowId};
use rekindle_wire::{ErrorBody, ErrorOut, exit};

use crate::render;
use crate::terminal::Terminal;

/// Why a command failed.
#[derive(Debug)]
pub(crate) struct Failure {
    exit: u8,
    code: Option<Code>,
    error: Box<dyn StdError>,
    hints: Vec<String>,
}

impl Failure {
    /// Returns a failure of what was typed.
    pub(crate) fn usage(message: String) -> Self {
        Self {
            exit: exit::USAGE,
            code: None,
            error: message.into(),
            hints: Vec::new(),
        }
    }

    /// Returns a failure of the thing itself.
    pub(crate) fn cannot(message: String) -> Self {
        Self {
            exit: exit::CANNOT,
            ..Self::usage(message)
        }
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// Shows it and returns the exit code.
    pub(crate) fn show(self, terminal: &mut Terminal) -> u8 {
        terminal.end_live();
        let message = self.error.to_string();
        let chain = std::iter::successors(self.error.source(), |&error| error.source());
        let causes: Vec<String> = chain.map(ToString::to_string).collect();
        if terminal.is_json() {
            terminal.json(&ErrorOut {
                schema: "rekindle.error/1",
                error: ErrorBody {
                    code: self.code.map(|code| code.to_string()),
                    message,
                    causes,
                    hints: self.hints,
                    exit: self.exit,
                },
            });
        } else {
            terminal.note(&render::failure(&message, &causes, &self.hints, self.code));
        }
        self.exit
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self {
            exit: exit_code(&error),
            code: code(&error),
            hints: hints(&error),
            error: Box::new(error),
        }
    }
}

fn exit_code(error: &Error) -> u8 {
    match error {
        Error::Ambiguous { .. } | Error::AmbiguousRescue { .. } | Error::ChoiceNeeded { .. } => {
            exit::CHOICE
        }
        Error::Held { .. } | Error::BranchHeld { .. } | Error::AgentAlive { .. } => exit::HELD,
        Error::Config(_) | Error::BadBranch { .. } => exit::USAGE,
        Error::Unknown { .. }
        | Error::UnknownCode { .. }
        | Error::NothingOf { .. }
        | Error::UnknownTask { .. }
        | Error::Moved { .. }
        | Error::Blocked { .. }
        | Error::NoProgress { .. }
        | Error::BadPlan { .. }
        | Error::CheckedOut { .. }
        | Error::WorkMissing { .. }
        | Error::NoCommits
        | Error::NothingRescued { .. }
        | Error::UnknownRescue { .. }
        | Error::Taken { .. }
        | Error::NotRestored { .. }
        | Error::Git(_)
        | Error::Recording { .. }
        | Error::Unreadable { .. }
        | Error::Install(_)
        | Error::Run(_)
        | Error::Files(_) => exit::CANNOT,
    }
}

fn code(error: &Error) -> Option<Code> {
    match error {
        Error::Unknown { .. } => Some(Code::UnknownWorkflow),
        Error::Moved { .. } => Some(Code::WorldMoved),
        Error::NoProgress { .. } => Some(Code::NoProgress),
        Error::WorkMissing { .. } => Some(Code::LandedWorkMissing),
        Error::Held { .. } | Error::BranchHeld { .. } | Error::AgentAlive { .. } => {
            Some(Code::LockHeld)
        }
        Error::UnknownCode { .. }
        | Error::Ambiguous { .. }
        | Error::ChoiceNeeded { .. }
        | Error::NothingOf { .. }
        | Error::UnknownTask { .. }
        | Error::Blocked { .. }
        | Error::BadPlan { .. }
        | Error::Config(_)
        | Error::BadBranch { .. }
        | Error::CheckedOut { .. }
        | Error::NoCommits
        | Error::NothingRescued { .. }
        | Error::UnknownRescue { .. }
        | Error::AmbiguousRescue { .. }
        | Error::Taken { .. }
        | Error::NotRestored { .. }
        | Error::Git(_)
        | Error::Recording { .. }
        | Error::Unreadable { .. }
        | Error::Install(_)
        | Error::Run(_)
        | Error::Files(_) => None,
    }
}

/// Returns what to do next, each a line.
fn hints(error: &Error) -> Vec<String> {
    let one = |hint: &str| vec![hint.to_owned()];
    match error {
        Error::Unknown { open, .. } => {
            let resumable = open
                .iter()
                .map(|summary| format!("`{}` can be resumed", summary.id));
            resumable
                .chain(one("`rekindle` lists what is here"))
                .collect()
        }
        Error::UnknownCode { .. } => {
            one("to explain a task, name it too: `rekindle explain ID TASK`")
        }
        Error::Ambiguous { .. } => one("write the protocol before the name"),
        Error::ChoiceNeeded { open } => open
            .iter()
            .map(|summary| format!("`rekindle resume {}`", summary.id))
            .collect(),
        Error::NothingOf { .. } => one("`rekindle` lists what is here"),
        Error::UnknownTask { id, .. } => vec![format!("`rekindle inspect {id}` lists its tasks")],
        Error::Moved { .. } => one("run `rekindle resume` again"),
        Error::Blocked { id, reasons } => {
            let look = format!("`rekindle inspect {id}` shows where");
            reasons.iter().cloned().chain([look]).collect()
        }
        Error::NoProgress { .. } => one("look at the agent's output above"),
        Error::BadPlan { findings, .. } if findings.is_empty() => {
            one("it has no tasks: headings or checkboxes with ids, or a list `tasks` in JSON")
        }
        Error::BadPlan { findings, .. } => findings.iter().map(finding).collect(),
        Error::Config(_) => one("mend it, then run `rekindle doctor`"),
        Error::BadBranch { .. } => one("name another with `--branch`"),
        Error::CheckedOut { .. } => {
            one("name another branch with `--branch`: yours is never touched")
        }
        Error::WorkMissing {
            id,
            branch,
            missing,
        } => work_missing(id, branch, missing),
        Error::NoCommits => one("make a first commit, then run it again"),
        Error::NothingRescued { .. } | Error::UnknownRescue { .. } => {
            one("`rekindle rescue list` lists what was kept")
        }
        Error::AmbiguousRescue { among, .. } => ambiguous_rescue(among),
        Error::Taken { .. } => one("name a folder that is not there yet: `--into DIR`"),
        Error::NotRestored { .. } => one(
            "make room or mend the permissions there, then restore it again; the rescue itself is untouched",
        ),
        Error::Git(error) if error.is_no_repository() => {
            one("go to the project's folder, or name it with `-C DIR`")
        }
        Error::Git(_) => one("`rekindle doctor` checks git"),
        Error::Recording { .. } => one("make one with `rekindle inspect --capture FILE`"),
        Error::Unreadable { .. } => one("check the path and its permissions"),
        Error::Held { .. } => {
            one("wait for it, or end that process; the lock is freed when it ends")
        }
        Error::BranchHeld { .. } => vec![
            "wait for it, or end that process; the branch is free when it ends".to_owned(),
            "a new run can land elsewhere: name another branch with `--branch`".to_owned(),
        ],
        Error::AgentAlive { pid, .. } => {
            vec![format!("wait until it ends, or end it: `kill {pid}`")]
        }
        Error::Run(error) => vec![error.hint().unwrap_or_else(doctor)],
        Error::Install(error) => one(install(error)),
        Error::Files(_) => vec![doctor()],
    }
}

fn install(error: &InstallError) -> &'static str {
    match error {
        InstallError::NoHome => "set `HOME`, or name the project's settings with `--project`",
        InstallError::Unfit { source, .. } => match source {
            Unfit::Json(_) => {
                "mend it, or add the lines by hand: `--dry-run` in a new folder shows them"
            }
            Unfit::NotText => "mend it, then run it again",
            Unfit::Foreign => "move it out of the way, then run it again",
        },
    }
}

/// Names some of the rescues that could be meant.
fn ambiguous_rescue(among: &[String]) -> Vec<String> {
    let show = among
        .iter()
        .take(5)
        .map(|name| format!("`rekindle rescue show {name}`"));
    let rest = among.len().saturating_sub(5);
    let more = (rest > 0).then(|| format!("`rekindle rescue list` lists {rest} more"));
    show.chain(more).collect()
}

fn work_missing(id: &WorkflowId, branch: &str, missing: &Missing) -> Vec<String> {
    let mut hints = Vec::new();
    match &missing.last_commit {
        Some(commit) if missing.branch_is_gone => {
            hints.push(format!("its last commit is still there: `git branch {branch} {commit:.12}` brings the branch back"));
        }
        Some(commit) => {
            hints.push(format!(
                "its last commit is still there: `git log {commit:.12}` shows what landed"
            ));
        }
        None => {}
    }
    if let Some(task) = missing.tasks.first() {
        hints.push(format!("to have it done again: `rekindle event {id} task_ready --task {task}`, then `rekindle resume {id}`"));
    }
    hints
}

fn doctor() -> String {
    "`rekindle doctor` checks what rekindle needs".to_owned()
}

fn finding(finding: &Finding) -> String {
    let place = finding
        .place
        .as_ref()
        .map_or_else(String::new, |place| format!("{place}: "));
    format!("{place}{} [{}]", finding.message, finding.code)
}
