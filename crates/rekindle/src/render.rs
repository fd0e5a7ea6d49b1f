//! Text for people. What comes from files is made safe for a terminal before it gets here or right here.

use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};
use jiff::{SignedDuration, Timestamp};
use rekindle_app::{Briefing, Recovered};
use rekindle_model::{
    Action, AgentTask, Code, Ended, Explanation, Finding, Plan, Question, Severity, State, Summary,
    Then,
};
use rekindle_text::{excerpt, printable};

const ERROR: Style = AnsiColor::Red.on_default().bold();
const WARNING: Style = AnsiColor::Yellow.on_default().bold();
const NOTE: Style = AnsiColor::Cyan.on_default();
const GOOD: Style = AnsiColor::Green.on_default();
const STRONG: Style = Style::new().bold();
const FAINT: Style = Style::new().dimmed();

/// Writes to a text, which has no way to fail.
macro_rules! put {
    ($text:expr, $($arguments:tt)*) => {
        let _ = write!($text, $($arguments)*);
    };
}

fn styled(style: Style, text: &str) -> String {
    format!("{style}{text}{style:#}")
}

pub(crate) fn failure(
    message: &str,
    causes: &[String],
    hints: &[String],
    code: Option<Code>,
) -> String {
    let mut text = format!("{}: {}\n", styled(ERROR, "error"), printable(message));
    for cause in causes {
        put!(text, "  cause: {}\n", printable(cause));
    }
    if !hints.is_empty() || code.is_some() {
        text.push('\n');
    }
    for hint in hints {
        put!(text, "{}: {}\n", styled(NOTE, "hint"), printable(hint));
    }
    if let Some(code) = code {
        put!(
            text,
            "{}: `rekindle explain {code}` tells more\n",
            styled(NOTE, "hint")
        );
    }
    text
}

/// Returns how long ago something was, in the largest unit that says enough.
pub(crate) fn age(at: Option<Timestamp>, now: Timestamp) -> String {
    let Some(at) = at else {
        return "age unknown".to_owned();
    };
    let ago = now.duration_since(at);
    if ago < SignedDuration::ZERO {
        return "in the future".to_owned();
    }
    let (n, unit) = match ago.as_secs() {
        0..60 => return "just now".to_owned(),
        secs @ 60..3600 => (secs / 60, "minute"),
        secs @ 3600..86_400 => (secs / 3600, "hour"),
        secs => (secs / 86_400, "day"),
    };
    let plural = if n == 1 { "" } else { "s" };
    format!("{n} {unit}{plural} ago")
}

fn state(state: State) -> String {
    let style = match state {
        State::Interrupted => WARNING,
        State::Waiting => NOTE,
        State::Blocked | State::Corrupt | State::Unknown => ERROR,
        State::Complete => GOOD,
        State::Nothing | State::Choice => Style::new(),
    };
    styled(style, state.as_str())
}

fn workflow(summary: &Summary, now: Timestamp) -> String {
    format!(
        "{}  {}, {}, {} tasks, {}\n",
        styled(STRONG, &excerpt(&summary.id.to_string(), 120)),
        state(summary.state),
        summary.stage,
        summary.progress,
        age(summary.last_activity, now),
    )
}

pub(crate) fn status(workflows: &[Summary], now: Timestamp, all: bool) -> String {
    let open: Vec<&Summary> = workflows
        .iter()
        .filter(|summary| summary.state.is_open())
        .collect();
    let finished = workflows.len() - open.len();
    let mut text = String::new();
    for summary in workflows
        .iter()
        .filter(|summary| all || summary.state.is_open())
    {
        text.push_str(&workflow(summary, now));
        if summary.state.is_open() {
            put!(text, "  next: {}\n", summary.next.summary);
        }
    }
    if open.is_empty() {
        text.push_str("Nothing to resume here.\n");
    }
    if finished > 0 && !all {
        let (are, them) = match finished {
            1 => ("workflow is", "it"),
            _ => ("workflows are", "them"),
        };
        let line =
            format!("{finished} finished {are} not shown; `rekindle status -v` shows {them}");
        put!(text, "{}\n", styled(FAINT, &line));
    }
    text
}

pub(crate) fn choices(open: &[Summary], now: Timestamp) -> String {
    let mut text = "Several workflows can be resumed:\n".to_owned();
    for (number, summary) in (1..).zip(open) {
        put!(text, "{number:>3}. {}", workflow(summary, now));
    }
    text
}

pub(crate) fn findings(findings: &[&Finding]) -> String {
    let mut text = String::new();
    for finding in findings {
        let style = match finding.severity() {
            Severity::Blocker => ERROR,
            Severity::Warning => WARNING,
            Severity::Note => NOTE,
        };
        let word = styled(style, finding.severity().as_str());
        put!(text, "{word}[{}]: {}\n", finding.code, finding.message);
        if let Some(place) = &finding.place {
            put!(text, "  at {}\n", excerpt(&place.to_string(), 300));
        }
    }
    if let Some(first) = findings.first() {
        put!(
            text,
            "{}: `rekindle explain {}` says what to do\n",
            styled(NOTE, "hint"),
            first.code
        );
    }
    text
}

pub(crate) fn recovered(recovered: &Recovered) -> String {
    let mut text = String::new();
    if recovered.damaged > 0 {
        put!(
            text,
            "{}: {} damaged line(s) of rekindle's own journal did not count\n",
            styled(WARNING, "warning"),
            recovered.damaged
        );
    }
    if recovered.appended > 0 {
        put!(
            text,
            "finished what an earlier resume had begun: {} event(s) recorded\n",
            recovered.appended
        );
    }
    for agent in &recovered.lost_agents {
        put!(
            text,
            "an earlier agent ended without a word: {}\n",
            excerpt(agent, 120)
        );
    }
    text
}

pub(crate) fn agent_starts(task: &AgentTask) -> String {
    format!("{} {}\n", styled(STRONG, "agent:"), task.summary)
}

pub(crate) fn agent_ended(task: &AgentTask, ended: &Ended) -> String {
    match ended {
        Ended::Succeeded => format!("{} the {} is done\n", styled(GOOD, "agent:"), task.role),
        Ended::Failed { reason } => format!(
            "{} the {} did not succeed: {reason}\n",
            styled(ERROR, "agent:"),
            task.role
        ),
        Ended::CheckFailed { check, reason } => {
            format!(
                "{} `{}` did not succeed: {reason}\n",
                styled(ERROR, "check:"),
                excerpt(check, 200)
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
    let mut text = workflow(briefing.summary, briefing.now);
    text.push_str(&findings(&shown));
    put!(text, "  next: {}\n", briefing.summary.next.summary);
    text.push_str(&steps(briefing.plan));
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
                    step.why
                );
            }
            Action::Create { path, .. } => {
                put!(
                    text,
                    "  - make `{}`: {}\n",
                    excerpt(path.as_str(), 300),
                    step.why
                );
            }
            Action::Print(_) => {
                put!(text, "  - print {}\n", step.why);
            }
        }
    }
    match &plan.then {
        Then::Agent(task) => {
            put!(text, "  - start an agent: {}\n", task.summary);
        }
        Then::Ask(question) => {
            put!(text, "  - ask: {}\n", printable(&question.text));
        }
        Then::Again => text.push_str("  - go on with the next step\n"),
        Then::Stop(stop) => {
            put!(text, "  - stop: {}\n", printable(&stop.reason));
        }
    }
    text
}

pub(crate) fn plan(plan: &Plan, summary: Option<&Summary>, digest: &str) -> String {
    let mut text = format!("{}\n", styled(STRONG, &excerpt(&plan.id.to_string(), 120)));
    text.push_str(&steps(plan));
    if let Some(summary) = summary {
        put!(text, "Next: {}\n", summary.next.summary);
    }
    put!(text, "{}\n", styled(FAINT, &format!("made from {digest}")));
    text
}

pub(crate) fn question(question: &Question) -> String {
    let mut text = format!("{}\n", printable(&question.text));
    for (answer, meaning) in &question.answers {
        put!(text, "  {answer:<22} {meaning}\n");
    }
    text.push_str("> ");
    text
}

pub(crate) fn unanswered(question: &Question) -> String {
    format!("{}\n", printable(&question.unanswered))
}

pub(crate) fn agent_needed(task: &AgentTask) -> String {
    let mut text = format!("Next for an agent ({}): {}\n", task.role, task.summary);
    text.push_str("hint: let one do it: `rekindle resume --agent-cmd 'COMMAND'` (the prompt is on its standard input)\n");
    text.push_str("hint: `rekindle resume --no-agent --json` has the whole prompt\n");
    text
}

pub(crate) fn explanation(explanation: &Explanation) -> String {
    let mut text = format!(
        "{} of {} is {}\n",
        styled(STRONG, &excerpt(&explanation.task, 120)),
        excerpt(&explanation.id.to_string(), 120),
        styled(STRONG, &explanation.verdict)
    );
    put!(text, "because {}\n", explanation.rule);
    if explanation.left_out > 0 {
        put!(
            text,
            "({} older events are not shown)\n",
            explanation.left_out
        );
    }
    for said in &explanation.said {
        let mark = if said.decided { "→" } else { " " };
        let at = said
            .at
            .map_or_else(|| "no time".to_owned(), rekindle_text::format_seconds);
        put!(text, "{mark} {at:<20}  {}\n", said.what);
        put!(
            text,
            "    {}\n",
            styled(FAINT, &excerpt(&said.place.to_string(), 300))
        );
    }
    text
}

pub(crate) fn stop(stop: &rekindle_model::Stop) -> String {
    let word = match stop.kind {
        rekindle_model::StopKind::Done => styled(GOOD, "done"),
        rekindle_model::StopKind::Waiting => styled(NOTE, "waiting"),
        rekindle_model::StopKind::Blocked => styled(ERROR, "stopped"),
    };
    let mut text = format!("{word}: {}\n", printable(&stop.reason));
    for hint in &stop.hints {
        put!(text, "{}: {}\n", styled(NOTE, "hint"), printable(hint));
    }
    text
}

pub(crate) fn checkpoints(checkpoints: &[rekindle_model::Checkpoint]) -> String {
    if checkpoints.is_empty() {
        return "No checkpoints yet.\n".to_owned();
    }
    let mut text = String::new();
    for checkpoint in checkpoints {
        let at = checkpoint
            .at
            .map_or_else(|| "no time".to_owned(), rekindle_text::format_seconds);
        put!(
            text,
            "{}  {at}  {}\n",
            excerpt(&checkpoint.name, 40),
            excerpt(&checkpoint.note, 200)
        );
        put!(
            text,
            "    {}\n",
            styled(FAINT, &excerpt(&checkpoint.place.to_string(), 300))
        );
    }
    text
}

pub(crate) fn recorded(log: &camino::Utf8Path) -> String {
    format!("recorded in `{}`\n", printable(log.as_str()))
}

/// Returns what is to be known of a capture.
pub(crate) fn captured(file: &camino::Utf8Path) -> String {
    format!(
        "{}: `{}` holds the contents of the files that were read; look before you share it\n",
        styled(NOTE, "note"),
        printable(file.as_str())
    )
}

/// Returns a hint in a line of its own.
pub(crate) fn hint(hint: &str) -> String {
    format!("{}: {}\n", styled(NOTE, "hint"), printable(hint))
}

pub(crate) fn doctor(checks: &[rekindle_app::Check]) -> String {
    let mut text = String::new();
    for check in checks {
        let style = match check.verdict {
            rekindle_app::Verdict::Ok => GOOD,
            rekindle_app::Verdict::Note => NOTE,
            rekindle_app::Verdict::Problem => ERROR,
        };
        let word = styled(style, check.verdict.as_str());
        put!(
            text,
            "{word}  {}: {}\n",
            excerpt(&check.name, 120),
            excerpt(&check.seen, 400)
        );
        if let Some(hint) = &check.hint {
            put!(text, "    {}: {hint}\n", styled(NOTE, "hint"));
        }
    }
    text
}

/// Shows an assessment: the state, then the protocol's facts as an indented outline.
pub(crate) fn inspection(assessment: &rekindle_model::Assessment) -> String {
    let mut text = match &assessment.id {
        Some(id) => format!(
            "{}  {}\n",
            styled(STRONG, &excerpt(&id.to_string(), 120)),
            state(assessment.state)
        ),
        None => format!("{}\n", state(assessment.state)),
    };
    outline(&mut text, &assessment.facts, 0);
    text
}

fn outline(text: &mut String, fact: &rekindle_model::Fact, depth: usize) {
    use rekindle_model::Fact;
    let Fact::Object(entries) = fact else {
        return;
    };
    let indent = "  ".repeat(depth);
    for (key, value) in entries {
        let key = excerpt(key, 120);
        match value {
            Fact::Object(inner) if inner.is_empty() => {
                put!(text, "{indent}{key}: none\n");
            }
            Fact::Object(_) => {
                put!(text, "{indent}{key}:\n");
                outline(text, value, depth + 1);
            }
            Fact::List(items) if items.is_empty() => {
                put!(text, "{indent}{key}: none\n");
            }
            Fact::List(items) => {
                let shown: Vec<String> = items.iter().map(scalar).collect();
                put!(text, "{indent}{key}: {}\n", shown.join(", "));
            }
            Fact::Null | Fact::Bool(_) | Fact::Int(_) | Fact::Text(_) => {
                put!(text, "{indent}{key}: {}\n", scalar(value));
            }
        }
    }
}

fn scalar(fact: &rekindle_model::Fact) -> String {
    use rekindle_model::Fact;
    match fact {
        Fact::Null => "none".to_owned(),
        Fact::Bool(true) => "yes".to_owned(),
        Fact::Bool(false) => "no".to_owned(),
        Fact::Int(number) => number.to_string(),
        Fact::Text(value) => excerpt(value, 200),
        Fact::List(_) | Fact::Object(_) => "…".to_owned(),
    }
}

/// Returns the word for something that happened, for programs.
pub(crate) fn progress_word(progress: &rekindle_app::Progress<'_>) -> &'static str {
    use rekindle_app::Progress;
    match progress {
        Progress::Adopted(..) => "adopted",
        Progress::Started(..) => "started",
        Progress::Landed(..) => "landed",
        Progress::Failed(..) => "failed",
        Progress::Interrupted(..) => "interrupted",
        Progress::Reopened(..) => "reopened",
        Progress::Limited(..) => "limited",
        Progress::Stopping(..) => "stopping",
    }
}

pub(crate) fn progress(progress: &rekindle_app::Progress<'_>) -> String {
    use rekindle_app::Progress;
    let name = |task: &str| excerpt(task, 80);
    match progress {
        Progress::Adopted(task, attempt) => format!(
            "{} {} (attempt {attempt}) is still at work\n",
            styled(NOTE, "found"),
            name(task)
        ),
        Progress::Started(task, attempt) => format!(
            "{} {} (attempt {attempt})\n",
            styled(STRONG, "start"),
            name(task)
        ),
        Progress::Landed(task, commit) => format!(
            "{} {} as {commit:.12}\n",
            styled(GOOD, "landed"),
            name(task)
        ),
        Progress::Failed(task, attempt, reason, again) => {
            let then = if *again {
                "it is tried again"
            } else {
                "it needs a person"
            };
            format!(
                "{} {} (attempt {attempt}): {}; {then}\n",
                styled(ERROR, "failed"),
                name(task),
                excerpt(reason, 300)
            )
        }
        Progress::Interrupted(task, attempt) => {
            format!(
                "{} {} (attempt {attempt}) was killed and is done again\n",
                styled(WARNING, "lost"),
                name(task)
            )
        }
        Progress::Reopened(task) => {
            format!(
                "{} {} was said to be done, but its commit is not on the branch\n",
                styled(WARNING, "again"),
                name(task)
            )
        }
        Progress::Limited(task, wait) => format!(
            "{} {}: the agent's limit is reached; going on in {} s (Ctrl-C stops the wait)\n",
            styled(NOTE, "wait"),
            name(task),
            wait.as_secs()
        ),
        Progress::Stopping(false) => {
            "stopping: nothing new is started; Ctrl-C again stops the workers too\n".to_owned()
        }
        Progress::Stopping(true) => "stopping now\n".to_owned(),
    }
}

pub(crate) fn ending(id: &str, ending: &rekindle_app::Ending) -> String {
    let budget = if ending.over_budget {
        "the budget is used up\n"
    } else {
        ""
    };
    let tally = ending.tally;
    let complete = tally.landed + tally.skipped == tally.total;
    let word = if complete {
        styled(GOOD, "done")
    } else {
        styled(ERROR, "stopped")
    };
    let mut text = format!(
        "{word}: {} of {} tasks landed in {} attempts\n",
        tally.landed, tally.total, ending.attempts
    );
    text.push_str(budget);
    if ending.cost > 0 {
        let cents = ending.cost / 10_000;
        put!(text, "cost: ${}.{:02}\n", cents / 100, cents % 100);
    }
    for (task, reason) in &ending.given_up {
        put!(
            text,
            "{} {}: {}\n",
            styled(ERROR, "blocked"),
            excerpt(task, 80),
            excerpt(reason, 300)
        );
    }
    let hint = styled(NOTE, "hint");
    if let Some((task, _)) = ending.given_up.first() {
        put!(
            text,
            "{hint}: when that is mended: `rekindle event {id} task_ready --task {}`, then `rekindle resume {id}`\n",
            excerpt(task, 80)
        );
    } else if !complete {
        put!(text, "{hint}: go on with `rekindle resume {id}`\n");
    }
    text
}

pub(crate) fn cleaning(cleaning: &rekindle_app::Cleaning) -> String {
    let mut text = String::new();
    for cleaned in &cleaning.removed {
        let path = excerpt(cleaned.leftover.path.as_str(), 300);
        match &cleaned.saved_as {
            Some(name) => {
                put!(text, "removed {path}, kept as {}\n", excerpt(name, 300));
            }
            None => {
                put!(text, "removed {path}\n");
            }
        }
    }
    for leftover in &cleaning.kept {
        let why = if leftover.in_use {
            "a rekindle is at work there"
        } else {
            "nothing was changed"
        };
        put!(
            text,
            "kept {}: {why}\n",
            excerpt(leftover.path.as_str(), 300)
        );
    }
    if text.is_empty() {
        text.push_str("Nothing to clean here.\n");
    }
    text
}
