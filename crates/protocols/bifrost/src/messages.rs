//! The messages of the protocol: those of the specification to the letter, and some of our own.
//!
//! The summary comes before the question and the closing block last.

mod failure;
mod left;
mod summary;
mod timeline;
mod upkeep;

use camino::Utf8Path;
use rekindle_model::{Code, Finding, Severity};
use rekindle_text::{excerpt, printable};

pub(super) use self::failure::{failed, halted};
use self::left::{breakdown, left};
use self::summary::{context, context_available, continuity, few, later_work, summary};
pub(super) use self::timeline::timeline;
pub(super) use self::upkeep::{
    compaction_line, compaction_offer, refresh_line, refresh_offer, task_state,
};
use super::assess::Judged;
use super::layout;
use super::phase::Phase;
use super::read::{Artifact, Presence};

/// The question that the specification prescribes.
pub(super) const QUESTION: &str = "Ready to resume from this checkpoint? (y/n/details)";

/// A field of a checkpoint is shown whole, unless nobody can have meant it to be read.
const LONGEST_FIELD: usize = 8 * 1024;
/// How many files of later work are shown before the question, and among the details.
const FEW_LATER: usize = 20;
const MOST_LATER: usize = 500;

/// How many open items of one kind are shown before the question, and in the details.
const FEW_LEFT: usize = 8;
const MOST_LEFT: usize = 200;

/// Returns the text before the question.
pub(super) fn opening(judged: &Judged) -> String {
    let mut text = preface(judged);
    text.push_str(&summary(judged));
    let is_whole = !judged.feature.asked.fresh;
    let checkpoints = &judged.feature.checkpoints;
    if is_whole && timeline::is_of_several_days(checkpoints) {
        text.push_str(&timeline::course(checkpoints));
    }
    text.push_str(&warnings(judged));
    if is_whole {
        text.push_str(&context_available(judged));
        text.push_str(&continuity(judged));
        text.push_str(&left(judged, FEW_LEFT));
    }
    if judged.is_rollback() {
        text.push_str(&later_work(judged, FEW_LATER));
    }
    text.push_str(&what_happens(judged));
    text
}

/// Returns the warning about a legacy session and the reports of the validators.
fn preface(judged: &Judged) -> String {
    let feature = &judged.feature;
    let mut text = legacy_warning(&feature.name, &feature.session_path);
    for validation in &judged.validations {
        text.push_str(&format!("{}\n", printable_report(&validation.report)));
    }
    text
}

/// Returns the prescribed warning about a legacy session, if one is used.
fn legacy_warning(name: &str, session: &Utf8Path) -> String {
    if session != layout::LEGACY_SESSION {
        return String::new();
    }
    format!(
        "⚠️  Using legacy session format. Consider migrating: .bifrost/scripts/migrate-session-memory.sh {}\n\n",
        printable(name)
    )
}

/// Returns the message about a checkpoint in code or in a comment.
pub(super) fn hidden_checkpoint(at: usize) -> String {
    format!(
        "line {} of the session looks like a checkpoint, but is in a code block or a comment",
        at + 1
    )
}

/// Returns a name as it can be typed into a shell.
pub(super) fn typed(name: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./".contains(c);
    let name = printable(name);
    if name.chars().all(is_plain) {
        return name.into_owned();
    }
    format!("'{}'", name.replace('\'', r"'\''"))
}

fn printable_report(report: &str) -> String {
    rekindle_text::printable_block(report).into_owned()
}

/// Returns every warning with its recommendations.
fn warnings(judged: &Judged) -> String {
    let warned = |finding: &&Finding| finding.severity() == Severity::Warning;
    let mut text = String::new();
    for finding in judged.findings.iter().filter(warned) {
        text.push_str(&format!(
            "⚠️  {}: {}\n",
            finding.code,
            printable(&finding.message)
        ));
        for advice in advice(judged, finding) {
            text.push_str(&format!("   Recommendation: {advice}\n"));
        }
    }
    let noted = |finding: &&Finding| finding.severity() == Severity::Note;
    for finding in judged.findings.iter().filter(noted) {
        text.push_str(&format!("ℹ️  {}\n", printable(&finding.message)));
    }
    if text.is_empty() {
        text
    } else {
        format!("\n{text}")
    }
}

fn advice(judged: &Judged, finding: &Finding) -> Vec<String> {
    let name = typed(&judged.feature.name);
    let mut advice: Vec<String> = finding
        .hint
        .iter()
        .map(|hint| printable(hint).into_owned())
        .collect();
    if matches!(finding.code, Code::Stale7d | Code::Stale30d) {
        advice.push(if judged.feature.asked.validate {
            "validation passed: you are asked whether to update its timestamp".to_owned()
        } else {
            format!("`rekindle resume {name} --validate` runs the validators first")
        });
    }
    if finding.code == Code::HighContext {
        advice.push("compact the session: you are asked whether to, and `--fresh` does it without asking; look through its Manual Notes yourself".to_owned());
        advice.push(
            "hand the remaining work to a sub-agent: `details` prints the text for it".to_owned(),
        );
    }
    if matches!(finding.code, Code::MarkerMalformed | Code::MarkerMismatch) {
        advice.push("the checkpoint counts; a resume rewrites the marker".to_owned());
    }
    advice
}

/// Returns what a resume will change.
fn what_happens(judged: &Judged) -> String {
    let feature = &judged.feature;
    let mut text = format!("\nWhen you resume from {}:\n", feature.chosen.name());
    if judged.is_restored() {
        text.push_str(&format!(
            "- session and marker are saved in {}/ first\n- {} becomes the latest checkpoint again; newer ones stay in the history\n",
            feature.backup,
            feature.chosen.name()
        ));
    }
    if judged.is_compacted() {
        text.push_str("- the session is compacted, with a line in its Session History\n");
    }
    text.push_str(&format!(
        "- {} will say {}\n- the Active Focus of {} will be Resuming, with one line in the Session History; entries over five go to {}\n- next: {}\n- with an agent configured, it is started with that command\n\n",
        layout::MARKER,
        printable(judged.marker().trim_end()),
        printable(feature.session_path.as_str()),
        printable(feature.archive.path.as_str()),
        printable(&judged.next.command)
    ));
    text
}

/// Returns the answer to `details`: the whole checkpoint and every file.
pub(super) fn details(judged: &Judged) -> String {
    let chosen = &judged.feature.chosen;
    let fields = &chosen.fields;
    let said = |value: &Option<String>| match value {
        Some(text) => excerpt(text, LONGEST_FIELD),
        None => "(not recorded)".to_owned(),
    };
    let artifacts = if fields.artifacts.is_empty() {
        "(not recorded)".to_owned()
    } else {
        excerpt(&fields.artifacts.join(", "), LONGEST_FIELD)
    };
    let needs = judged.phase.needs();
    let mut text = format!(
        "\nCheckpoint {}\n- Timestamp: {}\n- Description: {}\n- Phase: {}\n- Status: {}\n- Context: {}\n- Artifacts: {artifacts}\n- Dependencies: {}\n- Next: {}\n- Needs: {}\n- Context needed: {}\n\nArtifacts:\n",
        chosen.name(),
        when(judged),
        excerpt(&chosen.description, LONGEST_FIELD),
        judged.phase.as_str(),
        fields.status.as_deref().map_or_else(
            || judged.status().to_owned(),
            |status| excerpt(status, LONGEST_FIELD)
        ),
        context(judged),
        said(&fields.dependencies),
        said(&fields.next),
        needs.dependencies,
        needs.context
    );
    for file in &judged.feature.files {
        text.push_str(&format!("- {}\n", artifact(judged, file)));
    }
    if judged.is_rollback() {
        text.push_str(&later_work(judged, MOST_LATER));
    }
    text.push_str(&timeline::course(&judged.feature.checkpoints));
    text.push_str(&left(judged, MOST_LEFT));
    text.push_str(&upkeep::hand_over(judged));
    text.push_str(&checklist(judged));
    text.push('\n');
    text
}

/// Returns the prescribed checklist with its results.
fn checklist(judged: &Judged) -> String {
    let has = |codes: &[Code]| {
        let mut findings = judged.findings.iter();
        findings.any(|finding| codes.contains(&finding.code))
    };
    let session = printable(judged.feature.session_path.as_str());
    let exists = format!("Session Memory Exists: {session}");
    let items = [
        (exists.as_str(), true),
        ("Valid Checkpoint", !has(&[Code::IncompleteMetadata])),
        ("Artifacts Present", judged.missing().is_empty()),
        ("Dependencies Met", !has(&[Code::DependencyOpen])),
        (
            "Workflow Coherence",
            !has(&[Code::MarkerMalformed, Code::MarkerMismatch]),
        ),
        ("No Corruption", true),
        (
            "Reasonable Timestamp",
            !has(&[Code::Stale30d, Code::FutureTimestamp]),
        ),
    ];
    let lines = items.map(|(item, is_met)| {
        let sign = if is_met { 'x' } else { ' ' };
        format!("- [{sign}] {item}\n")
    });
    format!("\nResume checklist:\n{}", lines.concat())
}

fn artifact(judged: &Judged, file: &Artifact) -> String {
    let state = match file.state {
        // Both are sorted by path.
        Presence::Present if judged.modified.binary_search(&file.path).is_ok() => {
            "✓ present, modified after the checkpoint".to_owned()
        }
        Presence::Present => "✓ present".to_owned(),
        Presence::Placeholder => "✗ still a placeholder".to_owned(),
        Presence::Unreadable(reason) => format!("✗ unreadable: {reason}"),
        Presence::Absent => "✗ missing".to_owned(),
    };
    let why = if file.is_required { ", required" } else { "" };
    format!("{}: {state}{why}", excerpt(&file.path, 200))
}

/// Returns the text after the resume: a tip for the phase, then the prescribed block.
pub(super) fn closing(judged: &Judged) -> String {
    let (present, named) = judged.counted(|_| true);
    format!(
        "\n{}\n✅ **WORKFLOW RESUMED** from checkpoint {}\n\nLast checkpoint: {}\nResuming phase: {}\nNext action: {}\n\nContext preserved: {}\nArtifacts verified: {present}/{named} present\n\nRun the command above to continue your workflow.\n",
        tip(judged),
        judged.feature.chosen.name(),
        when(judged),
        judged.phase.as_str(),
        printable(&judged.next.command),
        context(judged)
    )
}

/// A reminder that fits the phase.
fn tip(judged: &Judged) -> String {
    let feature = &judged.feature;
    let tasks = feature.tasks.as_ref();
    match judged.phase {
        Phase::Spec => format!(
            "💡 Tip: resolve every [NEEDS CLARIFICATION: …] and let `rekindle validate {}` (validate-spec.sh) pass before `/plan`.\n",
            printable(&feature.name)
        ),
        Phase::Plan if judged.is_context_high() => {
            "💡 Tip: the context is high; summarize the research, keep decisions only, and leave long reading to a subagent.\n".to_owned()
        }
        Phase::Plan => format!(
            "💡 Tip: the plan is ready when `rekindle validate {}` (validate-plan.sh) passes.\n",
            printable(&feature.name)
        ),
        Phase::Tasks => {
            let n = tasks.map_or(0, |tasks| tasks.all.len());
            let of = tasks.map_or_else(String::new, |tasks| {
                let ids: Vec<&str> = tasks.all.iter().map(|task| task.id.as_str()).collect();
                format!(" ({})", few(&ids))
            });
            let of = if n == 0 { String::new() } else { of };
            let groups = tasks.map_or_else(String::new, |tasks| breakdown(tasks, 0));
            format!("💡 Tip: the breakdown has {n} tasks{of}; setup and tests come before the implementation.\n{groups}")
        }
        Phase::Implement => {
            let Some(tasks) = tasks else {
                return String::new();
            };
            let (done, total) = tasks.progress();
            let left = tasks.next();
            // The task of the command; the next open task may be another.
            let named = match &judged.next.task {
                Some(id) => tasks.find(id),
                None => left.filter(|_| judged.next.command.starts_with("/implement")),
            };
            match (named, left) {
                (Some(task), _) => format!(
                    "💡 Tip: {done}/{total} tasks are complete; next is {} ({}).\n",
                    task.id,
                    excerpt(&task.title, 120)
                ),
                (None, Some(_)) => format!("💡 Tip: {done}/{total} tasks are complete.\n"),
                (None, None) => format!("💡 Tip: {done}/{total} tasks are complete and none is left; polish the feature.\n"),
            }
        }
    }
}

/// The line of the session history, without its number.
pub(super) fn history_line(judged: &Judged) -> String {
    let feature = &judged.feature;
    let note = match &feature.checkpoints.latest {
        Some(latest) if judged.is_rollback() => format!("Rolled back from {}. ", latest.name()),
        Some(_) if judged.is_restored() => "Restored from the history. ".to_owned(),
        Some(_) => String::new(),
        None => "Rolled back. ".to_owned(),
    };
    format!(
        "**{}** - Resume: Resumed {} at {} phase from checkpoint {} ({}). {note}Next: {}.",
        feature.now.date(),
        feature.name,
        judged.phase.as_str(),
        feature.chosen.name(),
        when(judged),
        judged.next.command
    )
}

/// Returns the checkpoint's time as it is written.
pub(super) fn when(judged: &Judged) -> String {
    let at = judged.feature.chosen.at;
    at.map_or_else(|| "unknown".to_owned(), minute)
}

/// Returns a minute as checkpoints have it.
pub(super) fn minute(at: jiff::civil::DateTime) -> String {
    at.strftime("%Y-%m-%d %H:%M").to_string()
}

#[cfg(test)]
#[path = "messages_tests.rs"]
mod tests;
