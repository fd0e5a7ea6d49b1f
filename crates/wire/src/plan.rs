//! A plan as `--json` shows it: effects, and what comes after them.

use rekindle_model::{
    Action, AgentTask, Command, CommandSource, Finding, Plan, Question, Step, Then,
};
use schemars::JsonSchema;
use serde::Serialize;

use crate::output::{FindingOut, finding};

/// `rekindle plan --json`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct PlanOut {
    /// `rekindle.plan/1`.
    pub schema: &'static str,
    /// `protocol:name`.
    pub id: String,
    /// A digest of everything that the plan was made from.
    pub digest: String,
    /// What was noticed.
    pub findings: Vec<FindingOut>,
    /// What an interrupted command had begun and is finished before the steps, each a line with its path.
    pub unfinished: Vec<String>,
    /// The effects, in order.
    pub steps: Vec<StepOut>,
    /// What happens after them.
    pub then: ThenOut,
    /// What is to be expected after that, each a sentence.
    pub ahead: Vec<String>,
    /// Every command that files of the project let run once a person agrees.
    pub commands: Vec<CommandOut>,
}

/// A command that will run.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct CommandOut {
    /// The command, whole.
    pub command: String,
    /// `agent` or `check`.
    pub role: String,
    /// The file of the project that asks for it; none where a person chose it.
    pub file: Option<String>,
    /// How many tasks it is run for.
    pub tasks: usize,
}

/// One effect.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(tag = "action", rename_all = "snake_case")]
pub enum StepOut {
    /// A line is appended to a log.
    Append {
        /// The log, relative to the project.
        log: String,
        /// The line.
        record: String,
        /// Why.
        why: String,
    },
    /// A file is made.
    Create {
        /// The file, relative to the project.
        path: String,
        /// Why.
        why: String,
    },
    /// A file is changed, if it still is what was read.
    Edit {
        /// The file; relative to the project, or absolute outside of it.
        path: String,
        /// The lines that change, as a unified diff.
        diff: String,
        /// Why.
        why: String,
    },
    /// A folder is moved.
    MoveFolder {
        /// Where it is.
        from: String,
        /// Where it goes.
        to: String,
        /// Why.
        why: String,
    },
    /// A file is moved.
    MoveFile {
        /// Where it is.
        from: String,
        /// Where it goes.
        to: String,
        /// Why.
        why: String,
    },
    /// A worktree's files become one commit on the branch that is checked out.
    Land {
        /// The task.
        task: String,
        /// The worktree.
        worktree: String,
        /// The commit that the worktree began with.
        base: String,
        /// The subject of the commit.
        subject: String,
        /// The paths that change.
        paths: Vec<String>,
        /// Why.
        why: String,
    },
    /// A worker of ours is ended.
    EndWorker {
        /// The task it holds.
        task: String,
        /// Why.
        why: String,
    },
    /// Something that only the host can do.
    AskHost {
        /// Who is to be told.
        who: String,
        /// What.
        what: String,
        /// Why.
        why: String,
    },
    /// Text is printed on standard output.
    Print {
        /// The text.
        text: String,
        /// Why.
        why: String,
    },
}

/// What happens after a plan's effects.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ThenOut {
    /// An agent is started.
    Agent(AgentOut),
    /// A person is asked.
    Ask(QuestionOut),
    /// Workers do the tasks that are ready.
    Workers,
    /// Commands are run in the project.
    Check {
        /// What they are the check of.
        of: String,
        /// The commands, in order.
        commands: Vec<String>,
    },
    /// The evidence is read again and planned anew.
    Again,
    /// The resume is over.
    Stop {
        /// Why.
        reason: String,
        /// What to do next.
        hints: Vec<String>,
    },
}

/// Work for an agent.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct AgentOut {
    /// Who is needed.
    pub role: String,
    /// The task, where it is one.
    pub task: Option<String>,
    /// Which attempt this is, from 1.
    pub attempt: u32,
    /// One sentence for a person.
    pub summary: String,
    /// What the agent is told, whole.
    pub prompt: String,
    /// Commands that check its work.
    pub checks: Vec<String>,
    /// How a caller tells what came of it who does the work itself, each a sentence.
    pub by_hand: Vec<String>,
}

/// A question that only a person can answer.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct QuestionOut {
    /// The word above the question; left out where there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub header: Option<String>,
    /// The question.
    pub text: String,
    /// The answers that are understood.
    pub answers: Vec<String>,
    /// What each of the answers does, in the same order.
    pub descriptions: Vec<String>,
}

/// Turns a plan into what is printed.
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

fn command(command: &Command) -> CommandOut {
    CommandOut {
        command: command.text.clone(),
        role: command.role.as_str().to_owned(),
        file: match &command.source {
            CommandSource::Project(file) => Some(file.clone()),
            CommandSource::Typed | CommandSource::User => None,
        },
        tasks: command.tasks,
    }
}

/// Turns an agent's work into what is printed.
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

/// Turns a question into what is printed.
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
