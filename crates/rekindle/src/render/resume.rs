//! What `resume` and `plan` show: the briefing, the steps, questions, agents, the end.

use std::fmt::Write as _;

use rekindle_app::{Briefing, Recovered};
use rekindle_model::{
    Action, AgentTask, Checks, Command, CommandSource, Ended, Finding, Plan, Question, Severity,
    Step, Stop, Summary, Then,
};
use rekindle_text::{excerpt, printable, printable_block, visible_command};

use super::{
    ERROR, FAINT, GOOD, NOTE, STRONG, WARNING, count, findings, last_session, outline, styled,
    workflow,
};

pub(crate) fn recovered(recovered: &Recovered) -> String {
    let mut text = String::new();
    if recovered.damaged > 0 {
        put!(
            text,
            "{}: {} damaged line(s) of rekindle's journal were ignored\n",
            styled(WARNING, "warning"),
            recovered.damaged
        );
    }
    for line in rekindle_app::finished(recovered) {
        put!(text, "{line}\n");
    }
    if recovered.superseded > 0 {
        put!(
            text,
            "{}: {} step(s) of an earlier resume were skipped: the files they depended on have changed\n",
            styled(WARNING, "warning"),
            recovered.superseded
        );
    }
    for agent in &recovered.lost_agents {
        put!(
            text,
            "a previous agent exited without reporting a result: {}\n",
            excerpt(agent, 120)
        );
    }
    text
}

/// Returns what of a plan a person wants to know once it is done; records of it are not told one by one.
pub(crate) fn applied(steps: &[Step]) -> String {
    let mut text = String::new();
    for step in steps {
        match &step.action {
            Action::Land(landing) => {
                let subject = excerpt(&landing.subject, 200);
                put!(text, "{} {subject}\n", styled(GOOD, "landed"));
            }
            Action::AskHost { who, what } => {
                let (what, who) = (excerpt(what, 80), excerpt(who, 80));
                let word = styled(NOTE, "for the host to do");
                put!(
                    text,
                    "{word}: send `{what}` to {who}, because {}\n",
                    printable(&step.why)
                );
            }
            Action::EndWorker { task } => {
                let task = excerpt(task, 80);
                put!(
                    text,
                    "{} the worker of {task}, because {}\n",
                    styled(NOTE, "ended"),
                    printable(&step.why)
                );
            }
            Action::Append { .. }
            | Action::Create { .. }
            | Action::Edit { .. }
            | Action::MoveFolder { .. }
            | Action::MoveFile { .. }
            | Action::Print(_) => {}
        }
    }
    text
}

pub(crate) fn watching(stop: &Stop) -> String {
    format!("waiting: {}\n", printable(&stop.reason))
}

pub(crate) fn checking(checks: &Checks) -> String {
    format!("checking {} on main\n", printable(&checks.of))
}

pub(crate) fn agent_starts(task: &AgentTask) -> String {
    format!(
        "{} {}\n",
        styled(STRONG, "agent:"),
        printable(&task.summary)
    )
}

pub(crate) fn agent_ended(task: &AgentTask, ended: &Ended) -> String {
    match ended {
        Ended::Succeeded => format!("{} the {} is done\n", styled(GOOD, "agent:"), task.role),
        Ended::Failed { reason } => format!(
            "{} the {} did not succeed: {}\n",
            styled(ERROR, "agent:"),
            task.role,
            printable(reason)
        ),
        Ended::CheckFailed { check, reason } => {
            format!(
                "{} `{}` did not succeed: {}\n",
                styled(ERROR, "check:"),
                excerpt(check, 200),
                printable(reason)
            )
        }
    }
}

pub(crate) fn briefing(briefing: &Briefing<'_>, verbose: bool) -> String {
    let least = if verbose {
        Severity::Note
    } else {
        Severity::Warning
    };
    let shown: Vec<&Finding> = briefing
        .findings
        .iter()
        .filter(|finding| finding.severity() >= least)
        .collect();
    if let Some(run) = briefing.outline {
        let mut text = outline(run, verbose);
        text.push_str(&findings(&shown));
        if let Some(last) = briefing.last_session {
            text.push_str(&last_session(last));
        }
        if verbose {
            text.push_str(&steps(briefing.plan));
        }
        return text;
    }
    let mut text = workflow(briefing.summary, briefing.now);
    text.push_str(&findings(&shown));
    put!(
        text,
        "  next: {}\n",
        printable(&briefing.summary.next.summary)
    );
    if let Some(last) = briefing.last_session {
        text.push_str(&last_session(last));
    }
    text.push_str(&steps(briefing.plan));
    text.push_str(&commands(briefing.commands));
    text
}

/// Returns every command that will run, whole: nothing of one may hide behind its end.
pub(crate) fn commands(commands: &[Command]) -> String {
    if commands.is_empty() {
        return String::new();
    }
    let mut text = "These commands will run:\n".to_owned();
    for command in commands {
        let mut about = Vec::new();
        match command.tasks {
            0 => {}
            1 => about.push("for 1 task".to_owned()),
            n => about.push(format!("for {n} tasks")),
        }
        if let CommandSource::Project(file) = &command.source {
            let file = excerpt(file, 300);
            about.push(format!("from `{file}`, a file of the project"));
        }
        let about = match about.join(", ") {
            about if about.is_empty() => about,
            about => format!(" ({about})"),
        };
        let role = command.role.as_str();
        put!(
            text,
            "  - {role}: `{}`{about}\n",
            visible_command(&command.text)
        );
    }
    text
}

/// Returns what is finished before a plan, path by path.
fn unfinished(lines: &[String]) -> String {
    let mut text = String::new();
    if !lines.is_empty() {
        text.push_str("An interrupted command started these changes; they are completed first:\n");
    }
    for line in lines {
        put!(text, "  - {line}\n");
    }
    text
}

fn steps(plan: &Plan) -> String {
    let mut text = "This will:\n".to_owned();
    for step in &plan.steps {
        match &step.action {
            Action::Append { log, .. } => {
                put!(
                    text,
                    "  - append an event to `{}`: {}\n",
                    excerpt(log.as_str(), 300),
                    printable(&step.why)
                );
            }
            Action::Create { path, .. } => {
                put!(
                    text,
                    "  - make `{}`: {}\n",
                    excerpt(path.as_str(), 300),
                    printable(&step.why)
                );
            }
            Action::Edit { path, .. } => {
                put!(
                    text,
                    "  - change `{}`: {}\n",
                    excerpt(path.as_str(), 300),
                    printable(&step.why)
                );
            }
            Action::MoveFolder { from, to } | Action::MoveFile { from, to, .. } => {
                put!(
                    text,
                    "  - move `{}` to `{}`: {}\n",
                    excerpt(from.as_str(), 300),
                    excerpt(to.as_str(), 300),
                    printable(&step.why)
                );
            }
            Action::Land(landing) => {
                put!(
                    text,
                    "  - commit `{}` ({}): {}\n",
                    excerpt(&landing.subject, 200),
                    count(landing.files.len(), "file"),
                    printable(&step.why)
                );
            }
            Action::EndWorker { task } => {
                put!(
                    text,
                    "  - end the worker of {}: {}\n",
                    excerpt(task, 200),
                    printable(&step.why)
                );
            }
            Action::AskHost { who, what } => {
                put!(
                    text,
                    "  - for the host to do: send `{}` to {}: {}\n",
                    excerpt(what, 200),
                    excerpt(who, 200),
                    printable(&step.why)
                );
            }
            Action::Print(_) => {
                put!(text, "  - print {}\n", printable(&step.why));
            }
        }
    }
    match &plan.then {
        Then::Agent(task) => {
            put!(text, "  - start an agent: {}\n", printable(&task.summary));
        }
        Then::Ask(question) => {
            put!(text, "  - ask: {}\n", printable(&question.text));
        }
        Then::Workers => text.push_str("  - start workers for the tasks that are ready\n"),
        Then::Check(checks) => {
            for command in &checks.commands {
                put!(
                    text,
                    "  - run `{}`, the check of {}\n",
                    excerpt(command, 200),
                    printable(&checks.of)
                );
            }
        }
        Then::Again => text.push_str("  - continue with the next step\n"),
        Then::Stop(stop) => {
            put!(text, "  - stop: {}\n", printable(&stop.reason));
        }
    }
    for sentence in &plan.ahead {
        put!(text, "  then: {}\n", printable(sentence));
    }
    text
}

pub(crate) fn plan(
    plan: &Plan,
    summary: Option<&Summary>,
    begun: &[String],
    will_run: &[Command],
    digest: &str,
) -> String {
    let mut text = format!("{}\n", styled(STRONG, &excerpt(&plan.id.to_string(), 120)));
    text.push_str(&unfinished(begun));
    text.push_str(&steps(plan));
    text.push_str(&commands(will_run));
    if let Some(summary) = summary {
        put!(text, "Next: {}\n", printable(&summary.next.summary));
    }
    put!(
        text,
        "{}\n",
        styled(FAINT, &format!("plan digest: {digest}"))
    );
    text
}

pub(crate) fn question(question: &Question) -> String {
    let mut text = String::new();
    if let Some(header) = question.header {
        put!(text, "{}\n", styled(STRONG, header));
    }
    put!(text, "{}\n", printable(&question.text));
    for (number, (answer, meaning)) in (1..).zip(&question.answers) {
        let (answer, meaning) = (printable(answer), printable(meaning));
        if question.is_list {
            put!(text, "  {number}. {answer:<22} {meaning}\n");
        } else {
            put!(text, "  {answer:<22} {meaning}\n");
        }
    }
    text.push_str("> ");
    text
}

pub(crate) fn unanswered(question: &Question) -> String {
    format!("{}\n", printable(&question.unanswered))
}

pub(crate) fn agent_needed(task: &AgentTask, is_inside_agent: bool) -> String {
    let summary = printable(&task.summary);
    let mut text = format!("Next for an agent ({}): {summary}\n", task.role);
    let hint = styled(NOTE, "hint");
    if is_inside_agent {
        put!(text, "\n{}\n", printable_block(task.prompt.trim_end()));
        for sentence in &task.by_hand {
            put!(text, "{hint}: {}\n", printable(sentence));
        }
        put!(
            text,
            "{hint}: do it, then run `rekindle resume --yes` again\n"
        );
    } else {
        put!(
            text,
            "{hint}: let an agent do it: `rekindle resume --agent-cmd 'COMMAND'` (it gets the prompt on standard input)\n"
        );
        put!(
            text,
            "{hint}: `rekindle resume --no-agent --json` has the whole prompt\n"
        );
    }
    text
}

pub(crate) fn stop(stop: &rekindle_model::Stop) -> String {
    let word = match stop.kind {
        rekindle_model::StopKind::Said | rekindle_model::StopKind::BlockedAndSaid => {
            return String::new();
        }
        rekindle_model::StopKind::Done => styled(GOOD, "done"),
        rekindle_model::StopKind::Waiting | rekindle_model::StopKind::OthersAtWork => {
            styled(NOTE, "waiting")
        }
        rekindle_model::StopKind::Blocked => styled(ERROR, "stopped"),
    };
    let mut text = format!("{word}: {}\n", printable(&stop.reason));
    for hint in &stop.hints {
        put!(text, "{}: {}\n", styled(NOTE, "hint"), printable(hint));
    }
    text
}
