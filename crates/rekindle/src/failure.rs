//! Failures as a person and a program see them: what happened, why, what to type next.

use std::error::Error as StdError;

use rekindle_app::{ConfigError, Error, FilesError, InstallError, Missing, Unattached, Unfit};
use rekindle_model::{Code, Finding, WorkflowId};
use rekindle_text::{excerpt, shell_word};
use rekindle_wire::{ErrorBody, ErrorOut, exit};

use crate::render;
use crate::terminal::Terminal;

/// The most tasks for which a hint names a command each.
const MOST_TASKS: usize = 5;

/// Why a command failed.
#[derive(Debug)]
pub(crate) struct Failure {
    exit: u8,
    code: Option<Code>,
    error: Box<dyn StdError>,
    hints: Vec<String>,
    /// What is wrong with what was read.
    findings: Vec<Finding>,
}

impl Failure {
    /// Returns a failure of what was typed.
    pub(crate) fn usage(message: String) -> Self {
        Self {
            exit: exit::USAGE,
            code: None,
            error: message.into(),
            hints: Vec::new(),
            findings: Vec::new(),
        }
    }

    /// Returns a failure of the thing itself.
    pub(crate) fn cannot(error: impl Into<Box<dyn StdError>>) -> Self {
        Self {
            exit: exit::CANNOT,
            error: error.into(),
            ..Self::usage(String::new())
        }
    }

    /// Returns a failure that has causes of its own.
    pub(crate) fn of(error: impl StdError + 'static) -> Self {
        Self {
            exit: exit::CANNOT,
            code: None,
            error: Box::new(error),
            hints: Vec::new(),
            findings: Vec::new(),
        }
    }

    /// Returns the failure of a result that could not be written.
    pub(crate) fn lost_result(error: &std::io::Error) -> Self {
        Self::cannot(format!(
            "cannot write the result to standard output: {error}"
        ))
        .hint("free some space or write to another file, then run it again")
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// Shows it and returns the exit code.
    pub(crate) fn show(self, terminal: &mut Terminal) -> u8 {
        if !terminal.is_json() {
            return self.show_as_text(terminal);
        }
        terminal.end_live();
        let error = ErrorBody::new(&*self.error, self.code, self.hints, self.exit);
        let error = error.about(&self.findings);
        let schema = "rekindle.error/1";
        terminal.json(&ErrorOut { schema, error });
        self.exit
    }

    /// Shows it on standard error, whatever the result's form is, and returns the exit code.
    pub(crate) fn show_as_text(self, terminal: &mut Terminal) -> u8 {
        terminal.end_live();
        let error = ErrorBody::new(&*self.error, self.code, self.hints, self.exit);
        terminal.note(&render::failure(&error));
        self.exit
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self {
            exit: error.exit(),
            code: error.code(),
            hints: hints(&error),
            findings: findings(&error),
            error: Box::new(error),
        }
    }
}

/// Returns what is wrong with what was read.
fn findings(error: &Error) -> Vec<Finding> {
    if let Error::BadPlan { findings, .. } = error {
        findings.clone()
    } else {
        Vec::new()
    }
}

/// Returns what to do next, each a line.
#[expect(clippy::too_many_lines, reason = "one arm for each error")]
fn hints(error: &Error) -> Vec<String> {
    let one = |hint: &str| vec![hint.to_owned()];
    match error {
        Error::Unknown { open, .. } => {
            let resumable = open
                .iter()
                .map(|summary| format!("`{}` can be resumed", summary.id));
            resumable
                .chain(one("`rekindle` lists the workflows of this project"))
                .collect()
        }
        Error::UnknownCode { .. } => one(
            "codes are listed in `rekindle inspect`; a task is explained by `rekindle explain ID TASK`",
        ),
        Error::Ambiguous { .. } => {
            one("type more of the name, or add the protocol: `protocol:name`")
        }
        Error::ChoiceNeeded { open } => open
            .iter()
            .map(|summary| format!("`rekindle resume {}`", typed(&summary.id)))
            .collect(),
        Error::NoAgent => no_agent(),
        Error::AgentCannotStart { .. } => {
            one("install it or correct the command, or name another with `--agent NAME`")
        }
        Error::NotConfigured { .. } => one("add the line by hand"),
        Error::NobodyAnswered => one("use `--yes` to agree in advance"),
        Error::NotChosen { finding } => finding.hint.iter().cloned().collect(),
        Error::NotOffered { option, .. } => vec![not_offered(option)],
        Error::Nothing => one("`rekindle run PLAN` starts a run; `-C DIR` uses another project"),
        Error::NothingOpen => one("`rekindle -a` lists the finished ones, too"),
        Error::NothingOf { .. } => one("`rekindle` lists the workflows of this project"),
        Error::NotKept { id, .. } => vec![format!(
            "events are not needed: progress is read from the files; `rekindle plan {}` shows what comes next",
            typed(id)
        )],
        Error::NoOutput { id, .. } => no_output(id),
        Error::NotAttached { id, reason } => vec![not_attached(id, *reason)],
        Error::TaskNeeded { .. } => one("name the task with `--task ID`"),
        Error::DetailsNeeded { .. } => one("add it with `--details`"),
        Error::UnknownTask { id, .. } => {
            vec![format!("`rekindle inspect {}` lists its tasks", typed(id))]
        }
        Error::UnknownDocument { .. } => one("open the files of the project instead"),
        Error::Moved { .. } => one("run `rekindle resume` again"),
        Error::Spent { .. } => one("make a new plan: `rekindle plan`, or `rekindle resume`"),
        Error::Blocked { id, reasons } => {
            let look = format!("`rekindle inspect {}` shows where", typed(id));
            reasons.iter().cloned().chain([look]).collect()
        }
        Error::NoProgress { .. } => one("look at the agent's output above"),
        Error::BadPlan { findings, .. } => bad_plan(findings),
        Error::Config(ConfigError::UnknownAgent { .. }) => {
            one("name a known one, or define it below `[agents.NAME]` in `.rekindle/config.toml`")
        }
        Error::Config(_) => one("fix it, then run `rekindle doctor`"),
        Error::BadBranch { .. } => one("choose another branch with `--branch`"),
        Error::CheckedOut { .. } => one(
            "choose another branch with `--branch`; the branch that is checked out is never changed",
        ),
        Error::WorkMissing {
            id,
            branch,
            missing,
        } => work_missing(id, branch, missing),
        Error::NoCommits => one("create a first commit, then run it again"),
        Error::NoMapScripts { .. }
        | Error::OriginalMissing { .. }
        | Error::OriginalDiffers { .. } => one(map_scripts(error)),
        Error::NotPrunable { .. } => one("`rekindle prune` lists what can be removed"),
        Error::UnknownLeftover { .. } => one("`rekindle clean` lists leftover worktrees"),
        Error::NothingRescued { .. } | Error::UnknownRescue { .. } => {
            one("`rekindle rescue list` lists the backups")
        }
        Error::AmbiguousRescue { among, .. } => ambiguous_rescue(among),
        Error::Taken { .. } => one("name a folder that does not exist yet: `--into DIR`"),
        Error::NotRestored { .. } => one(
            "free some space or fix the permissions, then restore it again; the backup is unchanged",
        ),
        Error::Git(error) if error.is_no_repository() => {
            one("go to the project's folder, or name it with `-C DIR`")
        }
        Error::Git(error) => match error.trust_command() {
            Some(command) => vec![format!("if you trust it: `{command}`")],
            None => one("`rekindle doctor` checks git"),
        },
        Error::Recording { .. } => one("create one with `rekindle inspect --capture FILE`"),
        Error::AlreadyConfigured { .. } => {
            one("`rekindle config` shows what holds; edit that file")
        }
        Error::Unreadable { .. } => one("check the path and its permissions"),
        Error::Held { .. } => {
            one("wait for it, or end that process; its lock is released when it ends")
        }
        Error::BranchHeld { .. } => branch_held(),
        Error::AgentAlive { pids, .. } => agent_alive(pids),
        Error::SessionAlive { id, pid, .. } => session_alive(id, *pid),
        Error::Run(error) => vec![error.hint().unwrap_or_else(doctor)],
        Error::Install(error) => one(install(error)),
        Error::Session(error) => vec![error.hint()],
        Error::Files(error) => vec![files(error)],
    }
}

/// Returns what to do about MAP's own scripts.
fn map_scripts(error: &Error) -> &'static str {
    if let Error::NoMapScripts { .. } = error {
        "`mapify init` sets MAP up; run it in the project's folder"
    } else if let Error::OriginalMissing { .. } = error {
        "`mapify init` writes MAP's own script again"
    } else {
        "MAP has written a newer script; compare the two, and remove the one that you do not need"
    }
}

fn files(error: &FilesError) -> String {
    if let FilesError::Exists(_) | FilesError::NotAFile(_) = error {
        "choose the name of a file that does not exist yet".to_owned()
    } else {
        doctor()
    }
}

fn agent_alive(pids: &[u32]) -> Vec<String> {
    let pids: Vec<String> = pids.iter().map(u32::to_string).collect();
    vec![format!(
        "wait until it ends, or end it: `kill {}`",
        pids.join(" ")
    )]
}

fn no_agent() -> Vec<String> {
    vec![
            "name one with `--agent NAME`, or a command with `--agent-cmd 'COMMAND'` (it gets the prompt on standard input)".to_owned(),
            "`rekindle init` writes a configuration for the agents that are installed; `[agent] default = \"NAME\"` in it sets the default".to_owned(),
        ]
}

fn branch_held() -> Vec<String> {
    vec![
        "wait for it, or end that process; the branch is available when it ends".to_owned(),
        "a new run can use another branch: `--branch NAME`".to_owned(),
    ]
}

fn session_alive(id: &WorkflowId, pid: u32) -> Vec<String> {
    vec![
        format!("wait until process {pid} has finished its turn, or stop that turn"),
        format!(
            "to resume anyway, confirm it yourself: `rekindle resume {}` without `--yes`",
            typed(id)
        ),
    ]
}

fn install(error: &InstallError) -> &'static str {
    match error {
        InstallError::NoHome => "set `HOME`, or name the project's settings with `--project`",
        InstallError::Unfit { source, .. } => match source {
            Unfit::Json(_) | Unfit::Toml(_) => {
                "fix it, or add the lines by hand: `--dry-run --project` in a new folder shows them"
            }
            Unfit::NotText => "fix it, then run it again",
            Unfit::Foreign => "move it out of the way, then run it again",
            Unfit::ForeignServer => "give that server another name, then run it again",
        },
    }
}

/// Returns which workflows an option is for.
fn not_offered(option: &str) -> String {
    let names = rekindle_app::protocols_with(option).into_iter();
    let names: Vec<String> = names.map(|name| format!("`{name}`")).collect();
    match names.as_slice() {
        [] => "it is for `bifrost` only; name a feature, or omit the option".to_owned(),
        [only] => format!("it is for {only} only; name a workflow of it, or omit the option"),
        [first @ .., last] => {
            let first = first.join(", ");
            format!("it is for {first} and {last}; name one of their workflows, or omit the option")
        }
    }
}

fn no_output(id: &WorkflowId) -> Vec<String> {
    let logs = format!(
        "`rekindle logs {}` shows the tasks that were started here",
        typed(id)
    );
    vec![logs]
}

fn not_attached(id: &WorkflowId, reason: Unattached) -> String {
    let id = typed(id);
    match reason {
        Unattached::Nobody => format!(
            "`rekindle resume {id}` continues it, `rekindle logs {id}` shows what its agents printed"
        ),
        Unattached::OnlyWorkers => {
            format!("`rekindle resume {id}` continues with them and lands their work")
        }
        Unattached::OneAtATime => {
            format!("`rekindle inspect {id}` shows how far it is")
        }
    }
}

/// Names some of the rescues that could be meant.
fn ambiguous_rescue(among: &[String]) -> Vec<String> {
    let show = among
        .iter()
        .take(5)
        .map(|name| format!("`rekindle rescue show {}`", shell_word(name)));
    let rest = among.len().saturating_sub(5);
    let more = (rest > 0).then(|| format!("`rekindle rescue list` lists {rest} more"));
    show.chain(more).collect()
}

fn bad_plan(findings: &[Finding]) -> Vec<String> {
    if findings.is_empty() {
        let hint = "the plan has no tasks: write each as `- [ ] What is to be done`, as a numbered item, or as `## Task 1: What is to be done`; in JSON, put them into an array named `tasks`";
        return vec![hint.to_owned()];
    }
    // Findings of one kind share their hint, which is said once.
    let hint = findings.iter().find_map(|finding| finding.hint.clone());
    findings.iter().map(finding).chain(hint).collect()
}

fn work_missing(id: &WorkflowId, branch: &str, missing: &Missing) -> Vec<String> {
    let mut hints = Vec::new();
    match &missing.last_commit {
        Some(commit) if missing.branch_is_gone => {
            hints.push(format!(
                "its last commit still exists: `git branch {} {commit:.12}` restores the branch",
                shell_word(branch)
            ));
        }
        Some(commit) => {
            hints.push(format!(
                "its last commit still exists: `git log {commit:.12}` shows what landed"
            ));
        }
        None => {}
    }
    let events = missing.tasks.iter().take(MOST_TASKS);
    hints.extend(events.map(|task| {
        let event = render::event_of(&id.to_string(), "task_ready", task);
        format!("to repeat `{}`: `{event}`", excerpt(task, 80))
    }));
    match missing.tasks.len().saturating_sub(MOST_TASKS) {
        0 => {}
        more => hints.push(format!("and {more} more tasks in the same way")),
    }
    hints.push(format!("then: `rekindle resume {}`", typed(id)));
    hints
}

/// Returns a workflow's id as it can be pasted into a shell.
fn typed(id: &WorkflowId) -> String {
    shell_word(&id.to_string()).into_owned()
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
