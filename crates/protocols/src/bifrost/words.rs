//! The texts of the protocol: the seed's, to the letter, and few of our own where it gives none.
//!
//! The summary comes before the question and the closing block last. The summary has the seed's long
//! form but for its title: before a yes nothing was resumed.

mod failure;

use rekindle_model::{Code, Finding, Severity};
use rekindle_text::{excerpt, printable};

pub(super) use self::failure::{failed, halted, timeline};
use super::assess::{HIGH_CONTEXT, Judged};
use super::layout;
use super::phase::Phase;
use super::read::{Artifact, Presence};
use super::session::HistoryEntry;
use super::tasks::State;

/// The seed's question.
pub(super) const QUESTION: &str = "Ready to resume from this checkpoint? (y/n/details)";
/// How many accomplishments are told.
const MOST_ACCOMPLISHMENTS: usize = 3;
/// How many points of a section, or paths of a list, are shown.
const MOST_POINTS: usize = 5;
const MOST_PATHS: usize = 20;

/// All that is said before the question.
pub(super) fn opening(judged: &Judged) -> String {
    let mut text = preface(judged);
    text.push_str(&summary(judged));
    text.push_str(&warnings(judged));
    if !judged.feature.asked.fresh {
        text.push_str(&context_available(judged));
        text.push_str(&continuity(judged));
    }
    if judged.is_rollback() {
        text.push_str(&later_work(judged));
    }
    text.push_str(&what_happens(judged));
    text
}

/// What comes before anything else: the warning of a legacy session, and what validators said.
fn preface(judged: &Judged) -> String {
    let mut text = String::new();
    if judged.feature.session_path == layout::LEGACY_SESSION {
        text.push_str(&format!(
            "⚠️  Using legacy session format. Consider migrating: .bifrost/scripts/migrate-session-memory.sh {}\n\n",
            printable(&judged.feature.name)
        ));
    }
    for validation in &judged.validations {
        text.push_str(&format!("{}\n", printable_report(&validation.report)));
    }
    text
}

fn printable_report(report: &str) -> String {
    rekindle_text::printable_block(report).into_owned()
}

/// The seed's long form.
fn summary(judged: &Judged) -> String {
    let feature = &judged.feature;
    let (present, named) = judged.counted(|_| true);
    let mut text = format!(
        "📋 **RESUME SUMMARY**\n\nFeature: {}\nLast checkpoint: {} ({})\nResuming at: {} phase\n\nWhat was accomplished:\n",
        printable(&feature.name),
        when(judged),
        age(judged.age_minutes),
        judged.phase.as_str()
    );
    for accomplishment in accomplishments(judged) {
        text.push_str(&format!("- {accomplishment}\n"));
    }
    text.push_str(&format!(
        "\nCurrent state:\n- Phase: {} ({})\n- Progress: {}\n- Artifacts: {present}/{named} verified\n- Context: {}\n",
        judged.phase.as_str(),
        judged.status(),
        progress(judged),
        context(judged)
    ));
    let estimated = feature.estimated_context;
    if feature
        .chosen
        .context()
        .is_some_and(|recorded| estimated > recorded)
    {
        text.push_str(&format!(
            "- Context now: ~{estimated}% utilization (estimated), more than at the checkpoint\n"
        ));
    }
    if let Some(tasks) = &feature.tasks
        && !tasks.all.is_empty()
    {
        let (done, total) = tasks.progress();
        text.push_str(&format!("- Tasks: {done}/{total} complete\n"));
    }
    text.push_str(&format!(
        "\nNext action: {}\n\nReady to continue! Run the command above.\n",
        printable(&judged.next.command)
    ));
    text
}

/// The checkpoint first, then the newest entries of the history that tell of work.
fn accomplishments(judged: &Judged) -> Vec<String> {
    let feature = &judged.feature;
    let history = feature.session.history();
    // What came after a checkpoint that is gone back to is not where the work will be.
    let last = feature.chosen.at.filter(|_| judged.is_rollback());
    let last = last.map(|at| at.date().to_string());
    let is_before = |entry: &&HistoryEntry| match (&last, entry.day()) {
        (Some(last), Some(day)) => day <= last.as_str(),
        (Some(_), None) | (None, _) => true,
    };
    let told = history
        .iter()
        .filter(|entry| !entry.is_resume())
        .filter(is_before);
    let told = told
        .map(HistoryEntry::said)
        .filter(|_| !feature.asked.fresh);
    let all = [feature.chosen.description.as_str()]
        .into_iter()
        .chain(told);
    let all = all.filter(|text| !text.is_empty());
    all.take(MOST_ACCOMPLISHMENTS)
        .map(|text| excerpt(text, 200))
        .collect()
}

/// `● spec → ◐ plan → ○ tasks → ○ implement`.
fn progress(judged: &Judged) -> String {
    let all = Phase::ALL.map(|phase| {
        let sign = if judged.completed.contains(&phase) {
            '●'
        } else if phase == judged.phase {
            '◐'
        } else {
            '○'
        };
        format!("{sign} {}", phase.as_str())
    });
    all.join(" → ")
}

fn context(judged: &Judged) -> String {
    match judged.feature.chosen.context() {
        Some(percent) => format!("{percent}% utilization"),
        None => format!(
            "~{}% utilization (estimated)",
            judged.feature.estimated_context
        ),
    }
}

/// Every warning with what helps.
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
    let name = printable(&judged.feature.name);
    let mut advice: Vec<String> = finding
        .hint
        .iter()
        .map(|hint| printable(hint).into_owned())
        .collect();
    if matches!(finding.code, Code::Stale7d | Code::Stale30d) {
        advice.push(if judged.feature.asked.validate {
            format!("validation passed: `rekindle checkpoint {name} -m \"Validated again\"` makes a checkpoint with a fresh timestamp")
        } else {
            format!("`rekindle resume {name} --validate` runs the validators first")
        });
    }
    if finding.code == Code::HighContext {
        advice.push("let a subagent do what is left of this phase".to_owned());
        advice.push(format!("`rekindle checkpoints {name} --archive` makes the session shorter; look through its Manual Notes yourself"));
    }
    if matches!(finding.code, Code::MarkerMalformed | Code::MarkerMismatch) {
        advice.push("the checkpoint counts; the marker is written anew when you resume".to_owned());
    }
    advice
}

/// What the session keeps for whoever goes on.
fn context_available(judged: &Judged) -> String {
    let session = &judged.feature.session;
    let mut text = String::new();
    let focus = ["Status", "Task ID", "Progress"]
        .into_iter()
        .filter_map(|key| Some(format!("{key} {}", excerpt(session.focus(key)?, 80))));
    let focus: Vec<String> = focus.collect();
    if !focus.is_empty() {
        text.push_str(&format!("- Active Focus: {}\n", focus.join(", ")));
    }
    let sections = [
        ("From Spec", "from spec"),
        ("From Plan", "from plan"),
        ("From Tasks", "from tasks"),
        ("Architectural Decisions", "architectural decisions"),
        ("Design Choices", "design choices"),
        ("Feature Progress", "feature progress"),
        ("Phase Breakdown", "phase breakdown"),
    ];
    for (title, section) in sections {
        text.push_str(&points(title, &session.points(section)));
    }
    text.push_str(&points("Known Issues & Blockers", &session.issues()));
    if text.is_empty() {
        return text;
    }
    format!("\nContext available:\n{text}")
}

fn points(title: &str, points: &[String]) -> String {
    if points.is_empty() {
        return String::new();
    }
    let mut text = format!("- {title}:\n");
    for point in points.iter().take(MOST_POINTS) {
        text.push_str(&format!("  - {}\n", excerpt(point, 160)));
    }
    let more = points.len().saturating_sub(MOST_POINTS);
    if more > 0 {
        text.push_str(&format!("  - … and {more} more in the session\n"));
    }
    text
}

/// How the work came here, and what is left of the phase.
fn continuity(judged: &Judged) -> String {
    let feature = &judged.feature;
    let all = feature.checkpoints.all();
    let first = all.iter().filter_map(|entry| entry.at).min();
    let mut text = String::new();
    if let Some(first) = first {
        text.push_str(&format!(
            "- Since {}: {} checkpoints, {} of 4 phases complete\n",
            first.date(),
            all.len(),
            judged.completed.len()
        ));
    }
    if judged.phase == Phase::Plan && !judged.is_complete {
        let is_there = |name: &&str| feature.files.iter().any(|file| file.path.ends_with(name));
        let left: Vec<&str> = ["research.md", "data-model.md", "contracts"]
            .into_iter()
            .filter(|name| !is_there(name))
            .collect();
        if !left.is_empty() {
            text.push_str(&format!(
                "- Left in this phase, where the plan needs it: {}\n",
                left.join(", ")
            ));
        }
    }
    if let Some(tasks) = &feature.tasks {
        let is_left = |state: State| matches!(state, State::Open | State::InProgress);
        let left = tasks.all.iter().filter(|task| is_left(task.state));
        let left: Vec<&str> = left.map(|task| task.id.as_str()).collect();
        if !left.is_empty() && judged.phase == Phase::Implement {
            text.push_str(&format!(
                "- Left in this phase: {} tasks ({})\n",
                left.len(),
                few(&left)
            ));
        }
    }
    if text.is_empty() {
        return text;
    }
    format!("\nContinuity:\n{text}")
}

fn few(ids: &[&str]) -> String {
    let shown = ids.iter().take(MOST_POINTS).copied().collect::<Vec<_>>();
    let more = if ids.len() > MOST_POINTS { ", …" } else { "" };
    format!("{}{more}", shown.join(", "))
}

/// What was written after the checkpoint that one goes back to.
fn later_work(judged: &Judged) -> String {
    let later = &judged.feature.later_work;
    let name = judged.feature.chosen.name();
    if later.is_empty() {
        return format!("\nLater work: no file was written after {name}\n");
    }
    let mut text = format!(
        "\nLater work: {} files were written after {name}; nothing of it is deleted\n",
        later.len()
    );
    for path in later.iter().take(MOST_PATHS) {
        text.push_str(&format!("- {}\n", excerpt(path.as_str(), 200)));
    }
    let more = later.len().saturating_sub(MOST_PATHS);
    if more > 0 {
        text.push_str(&format!("- … and {more} more\n"));
    }
    text
}

/// What a yes sets going.
fn what_happens(judged: &Judged) -> String {
    let feature = &judged.feature;
    let mut text = format!("\nWhen you resume from {}:\n", feature.chosen.name());
    if judged.is_rollback() {
        text.push_str(&format!(
            "- session and marker are kept in {}/ first\n",
            feature.backup
        ));
    }
    text.push_str(&format!(
        "- {} will say {}\n- the Active Focus of {} will be Resuming, with one line in the Session History\n- next: {}\n- with an agent configured, it is started with that command\n\n",
        layout::MARKER,
        printable(judged.marker().trim_end()),
        printable(feature.session_path.as_str()),
        printable(&judged.next.command)
    ));
    text
}

/// What "details" shows: all that the checkpoint says, and every file that was looked at.
pub(super) fn details(judged: &Judged) -> String {
    let chosen = &judged.feature.chosen;
    let fields = &chosen.fields;
    let said = |value: &Option<String>| match value {
        Some(text) => excerpt(text, 400),
        None => "(not recorded)".to_owned(),
    };
    let artifacts = if fields.artifacts.is_empty() {
        "(not recorded)".to_owned()
    } else {
        excerpt(&fields.artifacts.join(", "), 400)
    };
    let needs = judged.phase.needs();
    let mut text = format!(
        "\nCheckpoint {}\n- Timestamp: {}\n- Description: {}\n- Phase: {}\n- Status: {}\n- Context: {}\n- Artifacts: {artifacts}\n- Dependencies: {}\n- Next: {}\n- Needs: {}\n- Context needed: {}\n\nArtifacts:\n",
        chosen.name(),
        when(judged),
        excerpt(&chosen.description, 400),
        judged.phase.as_str(),
        fields
            .status
            .as_deref()
            .map_or_else(|| judged.status().to_owned(), |status| excerpt(status, 200)),
        context(judged),
        said(&fields.dependencies),
        said(&fields.next),
        needs.dependencies,
        needs.context
    );
    for file in &judged.feature.files {
        text.push_str(&format!("- {}\n", artifact(judged, file)));
    }
    text.push_str(&checklist(judged));
    text.push('\n');
    text
}

/// The seed's checklist, with what was found.
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
        Presence::Present if judged.modified.contains(&file.path) => {
            "✓ present, modified after the checkpoint"
        }
        Presence::Present => "✓ present",
        Presence::Placeholder => "✗ still a placeholder",
        Presence::Absent => "✗ missing",
    };
    let why = if file.is_required { ", required" } else { "" };
    format!("{}: {state}{why}", excerpt(&file.path, 200))
}

/// What is said after the state was written: guidance for the phase, then the mandated block.
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
        Phase::Plan if judged.context() > HIGH_CONTEXT => {
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
            format!("💡 Tip: the breakdown has {n} tasks{of}; setup and tests come before the implementation.\n")
        }
        Phase::Implement => {
            let Some(tasks) = tasks else {
                return String::new();
            };
            let (done, total) = tasks.progress();
            match tasks.next() {
                Some(task) => format!(
                    "💡 Tip: {done}/{total} tasks are complete; next is {} ({}).\n",
                    task.id,
                    excerpt(&task.title, 120)
                ),
                None => format!("💡 Tip: {done}/{total} tasks are complete and none is left; polish what was built.\n"),
            }
        }
    }
}

/// The line of the session history, without its number.
pub(super) fn history_line(judged: &Judged) -> String {
    let feature = &judged.feature;
    let note = match &feature.checkpoints.latest {
        Some(latest) if judged.is_rollback() => format!("Rolled back from {}. ", latest.name()),
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

fn age(minutes: i64) -> String {
    let plural = |n: i64, unit: &str| {
        let s = if n == 1 { "" } else { "s" };
        format!("{n} {unit}{s} ago")
    };
    match minutes {
        ..0 => "in the future, taken as now".to_owned(),
        0..60 => "0 hours ago".to_owned(),
        60..1440 => plural(minutes / 60, "hour"),
        _ => plural(minutes / 1440, "day"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_are_told_in_days_or_hours() {
        for (minutes, told) in [
            (-1, "in the future, taken as now"),
            (59, "0 hours ago"),
            (60, "1 hour ago"),
            (1439, "23 hours ago"),
            (1440, "1 day ago"),
            (11_520, "8 days ago"),
        ] {
            assert_eq!(age(minutes), told);
        }
    }
}
