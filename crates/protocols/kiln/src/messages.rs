//! What is printed: the protocol's texts to the letter, and a few of our own.

use rekindle_model::Question;
use rekindle_text::markdown::{Heading, headings};
use rekindle_text::{excerpt, printable, printable_block};

use super::assess::{Execution, Judged, MOST_CORRECTIONS};
use super::inventory::Phase;
use super::layout::{self, Layout};
use super::table::Branch;
use super::values::{PhaseStatus, Stage, SubStage};

/// The menu of a complete project, as prescribed.
const COMPLETE_MENU: &str = "This project is marked complete.\n\
    \n\
    What would you like to do next?\n  \
      1. Start a new project in this directory (/kiln:start)\n  \
      2. Review the decisions log\n  \
      3. Review the pitfalls log\n  \
      4. Archive this project's memory\n";

/// The prescribed text for a project without a memory.
pub(super) fn no_memory(layout: &Layout) -> String {
    format!(
        "[kiln:resume] No memory found at {}.\n\
         Memory may not have been initialized. Run /kiln:start to begin a new project session.\n",
        printable(&layout.shown_memory())
    )
}

/// The prescribed text for a memory without a known stage or status.
pub(super) fn corrupt(layout: &Layout, fields: &[&str]) -> String {
    format!(
        "[kiln:resume] MEMORY.md is corrupted or incomplete (missing required fields: {}).\n\
         Run /kiln:start to reinitialize, or manually repair $CLAUDE_HOME/projects/{}/memory/MEMORY.md.\n",
        fields.join(", "),
        printable(&layout.encoded)
    )
}

/// The banner, the context of the last session, and its recommendation.
pub(super) fn opening(judged: &Judged) -> String {
    let fields = &judged.project.fields;
    let mut lines = vec![
        "=== Kiln Resume ===".to_owned(),
        format!(
            "Project: {}",
            printable(judged.project.layout.project.as_str())
        ),
    ];
    if let Some(mode) = &fields.project_mode {
        lines.push(format!("Mode:    {}", printable(mode)));
    }
    lines.push(format!("Stage:   {}", fields.stage.as_str()));
    if let (Stage::Execution, Some(number)) = (fields.stage, fields.phase_number) {
        let line = format!(
            "Phase:   {number}/{} {}",
            total(judged),
            printable(&fields.phase_name)
        );
        lines.push(line.trim_end().to_owned());
    }
    if fields.correction_cycle > 0 {
        lines.push(format!(
            "Correction: cycle {}/{MOST_CORRECTIONS}",
            fields.correction_cycle
        ));
    }
    lines.push(format!("Status:  {}", fields.status.as_str()));
    let note = if fields.handoff_note.is_empty() {
        "(none)"
    } else {
        &fields.handoff_note
    };
    lines.push(format!("Handoff: {}", printable(note)));
    lines.push("=====================".to_owned());
    if !fields.handoff_context.is_empty() {
        lines.push("Context:".to_owned());
        let context = printable_block(&fields.handoff_context);
        lines.extend(
            context
                .lines()
                .map(|line| format!("  {line}").trim_end().to_owned()),
        );
    }
    if let Some(next) = &fields.recommended {
        lines.push(format!(
            "Recommended next step (from last reset): {}",
            printable(next)
        ));
    }
    lines.join("\n") + "\n"
}

pub(super) fn brainstorm(judged: &Judged) -> String {
    format!(
        "\nResuming brainstorming session. Here is the current vision:\n\n{}\n\
         What would you like to explore or refine next?\n",
        document(judged, layout::VISION)
    )
}

pub(super) fn planning(judged: &Judged, sub_stage: SubStage) -> String {
    format!(
        "\nResuming planning stage ({}).\n\n{}\nWhat would you like to change or settle in the plan?\n",
        sub_stage.as_str(),
        document(judged, layout::MASTER_PLAN)
    )
}

/// The line before a phase's executor is started.
pub(super) fn status_line(judged: &Judged, execution: &Execution) -> String {
    format!(
        "\nResuming phase {}/{}: {} — spawning Maestro.\n",
        execution.phase.number,
        total(judged),
        printable(&execution.phase.name)
    )
}

/// The text for a phase that a person must look at first.
pub(super) fn operator(execution: &Execution, reason: &str) -> String {
    format!(
        "\nPhase {} ({}) waits for the operator: {reason}.\n",
        execution.phase.number,
        printable(&execution.phase.name)
    )
}

/// Describes which phases are missing.
pub(super) fn no_phases(inventory: &[Phase]) -> &'static str {
    if inventory.is_empty() {
        "neither master-plan.md nor MEMORY.md has a phase"
    } else {
        "master-plan.md has no phases, and all phases of MEMORY.md are completed"
    }
}

/// The text for a project without known phases.
pub(super) fn without_a_plan(judged: &Judged) -> String {
    format!(
        "\nThe remaining work is unknown: {}.\n",
        no_phases(&judged.inventory)
    )
}

/// The text for a plan that lacks unfinished phases.
pub(super) fn lacking_phases(lacking: &str) -> String {
    format!("\nNot all phases are done: master-plan.md lacks {lacking}.\n")
}

pub(super) fn validation(judged: &Judged, branch: Branch) -> String {
    let cycle = judged.project.fields.correction_cycle;
    match branch {
        Branch::Blocked => format!(
            "\nValidation failed after {cycle} correction cycles. Here is the validation report:\n\n{}\n{}\n",
            report(judged),
            FAILED_VALIDATION
        ),
        Branch::Correction => {
            format!(
                "\nResuming validation — correction cycle {cycle}/{MOST_CORRECTIONS} in progress.\n"
            )
        }
        Branch::Fresh => format!("\nResuming validation stage.\n{}", summary(judged)),
    }
}

/// What was built and what was decided.
fn summary(judged: &Judged) -> String {
    let mut text = String::new();
    if judged.inventory.is_empty() {
        text.push_str("\nThe master plan has no phases.\n");
    } else {
        text.push_str("\nBuilt so far:\n");
        for phase in &judged.inventory {
            let mark = match phase.status {
                PhaseStatus::Completed => String::new(),
                PhaseStatus::Pending | PhaseStatus::InProgress | PhaseStatus::Failed => {
                    format!(" ({})", phase.status.as_str())
                }
            };
            text.push_str(&format!(
                "  Phase {}: {}{mark}\n",
                phase.number,
                printable(&phase.name)
            ));
        }
    }
    let decisions = judged.project.document(layout::DECISIONS);
    let decisions = decisions.map(entries).unwrap_or_default();
    if decisions.is_empty() {
        text.push_str("No decisions are recorded.\n");
    } else {
        text.push_str("Decisions:\n");
        for decision in decisions {
            text.push_str(&format!("  {}\n", excerpt(&decision, 200)));
        }
    }
    text
}

/// Returns the titles of a log's entries: every heading of the second level except `Format`.
pub(super) fn entries(text: &str) -> Vec<String> {
    let title = |heading: &Heading| {
        let title = heading.title(text);
        let title = title.strip_prefix("Decision:").unwrap_or(title);
        title.trim().to_owned()
    };
    let entries = headings(text)
        .into_iter()
        .filter(|heading| heading.level == 2);
    let entries = entries.filter(|heading| heading.title(text) != "Format");
    entries.map(|heading| title(&heading)).collect()
}

fn report(judged: &Judged) -> String {
    match &judged.project.report {
        Some(report) => block(&report.text),
        None => format!(
            "There is no validation report at .kiln/{}.\n",
            layout::REPORT
        ),
    }
}

/// Returns a supporting file as it is printed, or a line that it is absent.
pub(super) fn document(judged: &Judged, name: &str) -> String {
    match judged.project.document(name) {
        Some(text) => block(text),
        None => format!("{name} is absent.\n"),
    }
}

fn block(text: &str) -> String {
    format!("{}\n", printable_block(text.trim_end()))
}

/// The menu of a complete project.
pub(super) fn complete() -> String {
    format!("\n{COMPLETE_MENU}")
}

/// What an unanswered question results in after step 7 has made the status `in_progress`: the next
/// resume does not start with the question.
pub(super) const ASKED_ONCE: &str = "validation waits for a decision; the next `rekindle resume` lets Argus validate again, and asks again if that fails";

const FAILED_VALIDATION: &str =
    "How would you like to proceed? Options: retry validation, fix manually, or mark complete.";

/// The id of [`failed_validation`].
pub(super) const VALIDATION: &str = "failed_validation";
/// The id of [`complete_project`].
pub(super) const COMPLETE: &str = "complete_project";

/// The question after the last correction failed.
pub(super) fn failed_validation() -> Question {
    let answers = vec![
        ("retry validation", "let Argus validate again"),
        (
            "fix manually",
            "pause; the next resume validates what you have fixed",
        ),
        ("mark complete", "end the project as it is"),
    ];
    Question::words(VALIDATION, FAILED_VALIDATION, answers)
        .open_with_yes(true)
        .unanswered(
            "validation waits for a decision; `rekindle resume` without --yes takes your answer",
        )
}

/// The question of a complete project.
pub(super) fn complete_project() -> Question {
    let answers = vec![
        ("1", "start a new project in this directory"),
        ("2", "review the decisions log"),
        ("3", "review the pitfalls log"),
        ("4", "archive this project's memory; nothing is deleted"),
    ];
    Question::words(COMPLETE, "What would you like to do next?", answers)
        .open_with_yes(true)
        .unanswered("the project is complete; `rekindle resume` without --yes takes your choice")
}

/// Returns the number of phases in the memory.
fn total(judged: &Judged) -> String {
    let total = judged.project.fields.phase_total;
    total.map_or_else(|| "?".to_owned(), |total| total.to_string())
}

/// Returns a phase with its name, for a sentence.
pub(super) fn named(number: u32, name: &str) -> String {
    if name.is_empty() {
        return format!("phase {number}");
    }
    format!("phase {number} ({})", excerpt(name, 80))
}
