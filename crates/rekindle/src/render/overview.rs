//! What the looking commands show: workflows, findings, facts, explanations, checks.

use std::fmt::Write as _;

use jiff::Timestamp;
use rekindle_model::{Explanation, Finding, Severity, Summary};
use rekindle_text::{excerpt, printable};

use super::{ERROR, FAINT, GOOD, NOTE, STRONG, WARNING, state, styled, workflow};

/// What is said where there is nothing to resume.
pub(crate) const NOTHING: &str = "Nothing to resume here.\n";

pub(crate) fn choices(open: &[Summary], now: Timestamp) -> String {
    let mut text = match open.len() {
        1 => "One workflow can be resumed:\n",
        _ => "Several workflows can be resumed:\n",
    }
    .to_owned();
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
        let message = printable(&finding.message);
        put!(text, "{word}[{}]: {message}\n", finding.code);
        if let Some(place) = &finding.place {
            put!(text, "  at {}\n", excerpt(&place.to_string(), 300));
        }
    }
    if let Some(first) = findings.first() {
        put!(
            text,
            "{}: see `rekindle explain {}`\n",
            styled(NOTE, "hint"),
            first.code
        );
    }
    text
}

pub(crate) fn explanation(explanation: &Explanation) -> String {
    let mut text = format!(
        "{} of {} is {}\n",
        styled(STRONG, &excerpt(&explanation.task, 120)),
        excerpt(&explanation.id.to_string(), 120),
        styled(STRONG, &printable(&explanation.verdict))
    );
    put!(text, "because {}\n", printable(&explanation.rule));
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
        put!(text, "{mark} {at:<20}  {}\n", printable(&said.what));
        put!(
            text,
            "    {}\n",
            styled(FAINT, &excerpt(&said.place.to_string(), 300))
        );
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

/// Returns whether sessions are told of a workflow.
pub(crate) fn muted(id: &rekindle_model::WorkflowId, hearing: rekindle_app::Hearing) -> String {
    let id = printable(&id.to_string()).into_owned();
    match hearing {
        rekindle_app::Hearing::Muted => format!("new sessions are not told of `{id}` any more\n"),
        rekindle_app::Hearing::Told => format!("new sessions are told of `{id}`\n"),
    }
}

/// Returns what is to be known of a capture.
pub(crate) fn captured(file: &camino::Utf8Path) -> String {
    format!(
        "{}: `{}` holds the contents of the files that were read; check it before you share it\n",
        styled(NOTE, "note"),
        printable(file.as_str())
    )
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
            let mut lines = hint.lines();
            let line = lines.next().unwrap_or_default();
            put!(text, "    {}: {}\n", styled(NOTE, "hint"), printable(line));
            // Lines to paste.
            for line in lines {
                put!(text, "      {}\n", printable(line));
            }
        }
    }
    text
}

/// Shows an assessment: the state, then the protocol's facts as an indented outline.
pub(crate) fn inspection(inspected: &rekindle_app::Inspected) -> String {
    let assessment = inspected.assessment();
    let mut text = match &assessment.id {
        Some(id) => format!(
            "{}  {}\n",
            styled(STRONG, &excerpt(&id.to_string(), 120)),
            state(assessment.state)
        ),
        None => format!("{}\n", state(assessment.state)),
    };
    outline(&mut text, &inspected.facts(), 0);
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
            Fact::List(items) if items.iter().all(is_scalar) => {
                let shown: Vec<String> = items.iter().map(scalar).collect();
                put!(text, "{indent}{key}: {}\n", shown.join(", "));
            }
            Fact::List(items) => {
                put!(text, "{indent}{key}:\n");
                for item in items {
                    put!(text, "{indent}  - {}", element(item, depth + 2));
                }
            }
            Fact::Null | Fact::Bool(_) | Fact::Int(_) | Fact::Text(_) => {
                put!(text, "{indent}{key}: {}\n", scalar(value));
            }
        }
    }
}

/// Returns an element of a list, whose first line stands behind a dash.
fn element(item: &rekindle_model::Fact, depth: usize) -> String {
    use rekindle_model::Fact;
    let mut text = String::new();
    match item {
        Fact::Object(entries) if !entries.is_empty() => outline(&mut text, item, depth),
        Fact::List(items) if !items.is_empty() => {
            let shown: Vec<String> = items.iter().map(scalar).collect();
            put!(text, "{}\n", shown.join(", "));
        }
        Fact::Object(_) | Fact::List(_) => text.push_str("none\n"),
        Fact::Null | Fact::Bool(_) | Fact::Int(_) | Fact::Text(_) => {
            put!(text, "{}\n", scalar(item));
        }
    }
    text.trim_start().to_owned()
}

fn is_scalar(fact: &rekindle_model::Fact) -> bool {
    use rekindle_model::Fact;
    match fact {
        Fact::Null | Fact::Bool(_) | Fact::Int(_) | Fact::Text(_) => true,
        Fact::List(_) | Fact::Object(_) => false,
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
