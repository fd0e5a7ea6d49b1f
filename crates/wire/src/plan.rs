//! A plan in the output of `--json`: its effects, and what follows them.

use rekindle_model::{
    Action, AgentTask, Command, CommandSource, Finding, Plan, Question, Step, Then,
};
use schemars::JsonSchema;
use serde::Serialize;

use crate::output::{FindingOut, OutlineOut, finding};

/// `rekindle plan --json`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct PlanOut {
    /// `rekindle.plan/1`.
    pub schema: &'static str,
    /// `protocol:name`.
    pub id: String,
    /// A digest of everything that the plan depends on.
    pub digest: String,
    /// The findings.
    pub findings: Vec<FindingOut>,
    /// What is finished for an interrupted command before the steps, one line each, with its path.
    pub unfinished: Vec<String>,
    /// The effects, in order.
    pub steps: Vec<StepOut>,
    /// What follows the effects.
    pub then: ThenOut,
    /// What to expect after that, one sentence each.
    pub ahead: Vec<String>,
    /// Every command from project files that runs once a person agrees.
    pub commands: Vec<CommandOut>,
    /// The run as a person decides on it, with its agent and its tasks; null if the tasks are not ours to land.
    pub outline: Option<OutlineOut>,
}

/// A command that will run.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct CommandOut {
    /// The full command.
    pub command: String,
    /// `agent` or `check`.
    pub role: String,
    /// The project file that asks for it; none if a person chose it.
    pub file: Option<String>,
    /// The number of tasks it runs for.
    pub tasks: usize,
}

/// One effect.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(tag = "action", rename_all = "snake_case")]
pub enum StepOut {
    /// Appends a line to a log.
    Append {
        /// The log, relative to the project.
        log: String,
        /// The line.
        record: String,
        /// The reason.
        why: String,
    },
    /// Creates a file.
    Create {
        /// The file, relative to the project.
        path: String,
        /// The reason.
        why: String,
    },
    /// Changes a file, if its contents are still those that were read.
    Edit {
        /// The file; relative to the project, or absolute if outside.
        path: String,
        /// The changes as a unified diff.
        diff: String,
        /// The reason.
        why: String,
    },
    /// Moves a folder.
    MoveFolder {
        /// The old path.
        from: String,
        /// The new path.
        to: String,
        /// The reason.
        why: String,
    },
    /// Moves a file.
    MoveFile {
        /// The old path.
        from: String,
        /// The new path.
        to: String,
        /// The reason.
        why: String,
    },
    /// Lands a worktree's files as one commit on the checked-out branch.
    Land {
        /// The task.
        task: String,
        /// The worktree.
        worktree: String,
        /// The base commit of the worktree.
        base: String,
        /// The subject of the commit.
        subject: String,
        /// The paths that change.
        paths: Vec<String>,
        /// The reason.
        why: String,
    },
    /// Ends one of our workers.
    EndWorker {
        /// The task it holds.
        task: String,
        /// The reason.
        why: String,
    },
    /// A request that only the host can carry out.
    AskHost {
        /// The recipient.
        who: String,
        /// The message.
        what: String,
        /// The reason.
        why: String,
    },
    /// Prints text on standard output.
    Print {
        /// The text.
        text: String,
        /// The reason.
        why: String,
    },
}

/// What follows a plan's effects.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ThenOut {
    /// Start an agent.
    Agent(AgentOut),
    /// Ask a person.
    Ask(QuestionOut),
    /// Let workers do the ready tasks.
    Workers,
    /// Run commands in the project.
    Check {
        /// The subject of the check.
        of: String,
        /// The commands, in order.
        commands: Vec<String>,
    },
    /// Read the evidence again and make a new plan.
    Again,
    /// The resume ends.
    Stop {
        /// The reason.
        reason: String,
        /// What to do next.
        hints: Vec<String>,
    },
}

/// Work for an agent.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct AgentOut {
    /// The agent's role.
    pub role: String,
    /// The task, if it has one.
    pub task: Option<String>,
    /// The number of the attempt, from 1.
    pub attempt: u32,
    /// One sentence for a person.
    pub summary: String,
    /// The full prompt.
    pub prompt: String,
    /// Commands that check its work.
    pub checks: Vec<String>,
    /// How a caller that does the work itself reports the result, one sentence each.
    pub by_hand: Vec<String>,
}

/// A question that only a person can answer.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct QuestionOut {
    /// The heading of the question; omitted if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub header: Option<String>,
    /// The question.
    pub text: String,
    /// The possible answers.
    pub answers: Vec<String>,
    /// What each answer does, in the same order.
    pub descriptions: Vec<String>,
}

/// Converts a plan to its output form.
pub fn plan(plan: &Plan, digest: &str, findings: &[Finding], commands: &[Command]) -> PlanOut {
    let step = |step: &Step| match &step.action {
        Action::Append { log, record } => StepOut::Append {
            log: log.to_string(),
            record: record.clone(),
            why: step.why.clone(),
        },
        Action::Create { path, .. } => StepOut::Create {
            path: path.to_string(),
            why: step.why.clone(),
        },
        Action::Edit {
            path,
            before,
            after,
        } => StepOut::Edit {
            path: path.to_string(),
            diff: rekindle_text::diff(before, after),
            why: step.why.clone(),
        },
        Action::MoveFolder { from, to } => StepOut::MoveFolder {
            from: from.to_string(),
            to: to.to_string(),
            why: step.why.clone(),
        },
        Action::MoveFile { from, to, .. } => StepOut::MoveFile {
            from: from.to_string(),
            to: to.to_string(),
            why: step.why.clone(),
        },
        Action::Land(landing) => StepOut::Land {
            task: landing.task.clone(),
            worktree: landing.worktree.to_string(),
            base: landing.base.clone(),
            subject: landing.subject.clone(),
            paths: landing
                .files
                .iter()
                .map(|file| String::from_utf8_lossy(&file.path).into_owned())
                .collect(),
            why: step.why.clone(),
        },
        Action::EndWorker { task } => StepOut::EndWorker {
            task: task.clone(),
            why: step.why.clone(),
        },
        Action::AskHost { who, what } => StepOut::AskHost {
            who: who.clone(),
            what: what.clone(),
            why: step.why.clone(),
        },
        Action::Print(text) => StepOut::Print {
            text: text.clone(),
            why: step.why.clone(),
        },
    };
    PlanOut {
        schema: "rekindle.plan/1",
        id: plan.id.to_string(),
        digest: digest.to_owned(),
        findings: findings.iter().map(finding).collect(),
        outline: None,
        unfinished: Vec::new(),
        steps: plan.steps.iter().map(step).collect(),
        then: match &plan.then {
            Then::Agent(task) => ThenOut::Agent(agent(task)),
            Then::Ask(asked) => ThenOut::Ask(question(asked)),
            Then::Workers => ThenOut::Workers,
            Then::Check(checks) => ThenOut::Check {
                of: checks.of.clone(),
                commands: checks.commands.clone(),
            },
            Then::Again => ThenOut::Again,
            Then::Stop(stop) => ThenOut::Stop {
                reason: stop.reason.clone(),
                hints: stop.hints.clone(),
            },
        },
        ahead: plan.ahead.clone(),
        commands: commands.iter().map(command).collect(),
    }
}

/// Turns a command into what is printed.
pub fn command(command: &Command) -> CommandOut {
    CommandOut {
        command: command.text.clone(),
        role: command.role.as_str().to_owned(),
        file: match &command.source {
            CommandSource::Project(file) => Some(file.clone()),
            CommandSource::Typed | CommandSource::User | CommandSource::Agreed => None,
        },
        tasks: command.tasks,
    }
}

/// Converts an agent's step to its output form.
pub fn agent(task: &AgentTask) -> AgentOut {
    AgentOut {
        role: task.role.to_owned(),
        task: task.task.clone(),
        attempt: task.attempt,
        summary: task.summary.clone(),
        prompt: task.prompt.clone(),
        checks: task.checks.clone(),
        by_hand: task.by_hand.clone(),
    }
}

/// Converts a question to its output form.
pub fn question(question: &Question) -> QuestionOut {
    let (answers, descriptions) = question
        .answers
        .iter()
        .map(|(answer, description)| ((*answer).to_owned(), (*description).to_owned()))
        .unzip();
    QuestionOut {
        header: question.header.map(str::to_owned),
        text: question.text.clone(),
        answers,
        descriptions,
    }
}
