//! The texts of a resume: the seed's, to the letter, and few of our own where it gives none.

use rekindle_text::{excerpt, printable, printable_block};

use super::read::{Damage, Suspended, Unusable, Workflow};
use crate::interruption::Interruption;
use crate::layout::{self, Branch};
use crate::state::key;

/// The longest part of a state that is shown as it is.
const LONGEST_RAW: usize = 16 * 1024;
/// The longest line of a plan or review that is shown.
const LONGEST_LINE: usize = 300;

/// What is said after a state was put away.
pub(super) const CLEARED: &str = "State cleared. Start fresh with /map-efficient.\n";

/// The text of a branch without a checkpoint.
pub(super) fn nothing(branch: &Branch) -> String {
    format!(
        "## No Workflow in Progress\n\
         \n\
         No checkpoint file found at `{}`.\n\
         \n\
         **To start a new workflow, use:**\n\
         - `/map-efficient \"task description\"` - Standard implementation workflow\n\
         - `/map-debug \"issue description\"` - Debugging workflow\n\
         - `/map-fast \"task description\"` - Minimal workflow\n\
         \n\
         No recovery needed.\n",
        branch.file(layout::STATE)
    )
}

/// The dialogue of a state that can not be used.
pub(super) fn unusable(branch: &Branch, unusable: &Unusable) -> String {
    let path = branch.file(layout::STATE);
    let (title, sentence) = match unusable.damage {
        Damage::Corrupt => (
            "State File Corrupted",
            format!("The state file at `{path}` could not be parsed."),
        ),
        Damage::Foreign => (
            "Unknown State File",
            format!(
                "The file at `{path}` is not a MAP 3.x state: it has another shape, and nothing is guessed from it."
            ),
        ),
    };
    format!(
        "## {title}\n\
         \n\
         {sentence}\n\
         \n\
         **Options:**\n\
         1. View raw file contents and attempt manual recovery\n\
         2. Delete state files and start fresh\n\
         \n\
         Would you like me to show the raw state contents?\n"
    )
}

/// A state as it is, safe to show and not longer than anybody reads.
pub(super) fn raw(branch: &Branch, unusable: &Unusable) -> String {
    let bytes = &unusable.bytes;
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(LONGEST_RAW)]);
    let shown = printable_block(&text);
    let fence = fence(&shown);
    let rest = bytes.len().saturating_sub(LONGEST_RAW);
    let cut = if rest > 0 {
        format!("\n[{rest} more bytes]")
    } else {
        String::new()
    };
    let path = branch.file(layout::STATE);
    let n_bytes = bytes.len();
    let reason = printable(&unusable.reason);
    format!("\n`{path}` ({n_bytes} bytes; {reason}):\n\n{fence}text\n{shown}{cut}\n{fence}\n")
}

/// Returns a fence that the text can not close.
fn fence(text: &str) -> String {
    let mut fence = "```".to_owned();
    while text.contains(&fence) {
        fence.push('`');
    }
    fence
}

/// What helps when marker and journal of a repair disagree.
pub(super) const REPAIR_HINT: &str = "let `python3 .map/scripts/map_orchestrator.py begin_repair`, `verify_repair` or `finish_repair` of MAP bring them together, or move the folder of repairs away if no repair is open";

/// What comes next for a run that a repair has suspended.
pub(super) fn repair_next(interruption: &Interruption) -> String {
    match interruption {
        Interruption::Idle | Interruption::Unclear(_) => {
            "a repair and the state file disagree: look at both before anything goes on".to_owned()
        }
        Interruption::Open(repair) => {
            format!(
                "continue the repair in `{}`, then run `verify_repair` and `finish_repair` of MAP for `{}`",
                excerpt(&repair.checkout, LONGEST_LINE),
                excerpt(&repair.operation, 80)
            )
        }
    }
}

/// The text of a run that a repair has suspended.
pub(super) fn suspended(branch: &Branch, suspended: &Suspended) -> String {
    let repair = match &suspended.interruption {
        Interruption::Open(repair) => repair,
        Interruption::Unclear(contradiction) => {
            return format!(
                "## Repair and State Disagree\n\
                 \n\
                 {}.\n\
                 \n\
                 Nothing was changed.\n",
                printable(&contradiction.reason)
            );
        }
        Interruption::Idle => return String::new(),
    };
    let mut lines = match &suspended.workflow {
        Some(workflow) => head("Workflow Suspended by a Repair", branch, workflow),
        None => vec![
            "## Workflow Suspended by a Repair\n".to_owned(),
            format!("**Branch:** {branch}"),
        ],
    };
    let operation = excerpt(&repair.operation, 80);
    lines.push(format!("**Repair:** {operation}"));
    lines.push(format!("**Stage:** {}", excerpt(&repair.stage, 80)));
    lines.push(format!(
        "**Private checkout:** {}",
        excerpt(&repair.checkout, LONGEST_LINE)
    ));
    lines.push(format!(
        "\nThe run does not go on before the repair is finished:\n\
         1. Continue the repair in its private checkout.\n\
         2. `python3 .map/scripts/map_orchestrator.py verify_repair {operation} --monitor-file FILE`\n\
         3. `python3 .map/scripts/map_orchestrator.py finish_repair {operation}`"
    ));
    lines.join("\n") + "\n"
}

/// The dialogue of a workflow without its plan.
pub(super) fn missing_plan(branch: &Branch) -> String {
    format!(
        "## Task Plan File Missing\n\
         \n\
         State files exist but the task plan is missing.\n\
         \n\
         **State:** {}\n\
         **Expected plan:** {}\n\
         \n\
         **Options:**\n\
         1. Create a new task plan based on state information\n\
         2. Clear state files and start fresh workflow\n",
        branch.file(layout::STATE),
        branch.plan()
    )
}

/// The briefing of an interrupted workflow.
pub(super) fn briefing(branch: &Branch, workflow: &Workflow) -> String {
    let mut lines = head("Found Incomplete Workflow", branch, workflow);
    let state = &workflow.state;
    let value = |key| {
        let value = state.get(key);
        let text = value
            .as_text()
            .map_or_else(|| value.to_line(), str::to_owned);
        printable(&text).into_owned()
    };
    lines.push(format!("**Current Step:** {}", value(key::STEP)));
    lines.push(format!("**Current Phase:** {}", value(key::PHASE)));
    lines.push(format!("**Started:** {}", value(key::STARTED)));
    if state.is_tdd() {
        lines.push("**TDD Mode:** on".to_owned());
    }
    lines.push(String::new());
    lines.extend(resume_briefing(workflow));
    let artifacts = &workflow.briefing.artifacts;
    lines.push("### Requested Fixes / Follow-ups\n".to_owned());
    if artifacts.fixes.is_empty() {
        lines.push("- none".to_owned());
    }
    lines.extend(artifacts.fixes.iter().map(|fix| excerpt(fix, LONGEST_LINE)));
    let context = if artifacts.review.is_empty() {
        "none".into()
    } else {
        printable_block(&artifacts.review)
    };
    let fence = fence(&context);
    lines.push(format!(
        "\n### Recent Session Context\n\n{fence}text\n{context}\n{fence}\n"
    ));
    lines.push("### Progress Overview\n".to_owned());
    lines.extend(overview(workflow));
    lines.push(String::new());
    lines.extend(completed(workflow));
    lines.push("\n### Remaining Subtasks".to_owned());
    lines.extend(remaining(workflow));
    lines.join("\n") + "\n"
}

fn head(title: &str, branch: &Branch, workflow: &Workflow) -> Vec<String> {
    let goal = workflow
        .goal
        .as_deref()
        .unwrap_or("(the plan names no goal)");
    vec![
        format!("## {title}\n"),
        format!("**Task:** {}", excerpt(goal, LONGEST_LINE)),
        format!("**Branch:** {branch}"),
    ]
}

fn resume_briefing(workflow: &Workflow) -> Vec<String> {
    let briefing = &workflow.briefing;
    let artifacts = &briefing.artifacts;
    let or_none = |text: Option<&str>| excerpt(text.unwrap_or("none"), LONGEST_LINE);
    let (_, _, suggested) = briefing.counts();
    let mut due = briefing.next_action.iter();
    let first = due.next().map_or("resume current step", String::as_str);
    let mut lines = vec![
        "### Resume Briefing\n".to_owned(),
        format!("- **Suggested next subtask:** {}", or_none(suggested)),
        format!(
            "- **Latest verification verdict:** {}",
            or_none(artifacts.verdict.as_deref())
        ),
        format!(
            "- **Latest review artifact:** {}",
            or_none(artifacts.review_path.as_deref())
        ),
        format!(
            "- **Immediate next action:** {}",
            excerpt(first, LONGEST_LINE)
        ),
    ];
    // The first one is often only that there is something to read, so the others are shown too.
    lines.extend(due.map(|next| format!("  - then: {}", excerpt(next, LONGEST_LINE))));
    if let Some(count) = workflow.rejections() {
        lines.push(format!(
            "- **Rejected:** {count} times, more often than is allowed; a person has to decide"
        ));
    }
    if let Some(isolation) = briefing.retry_isolation.as_text() {
        let path = briefing.quarantine_path.as_text();
        let path = path.map_or_else(String::new, |path| format!(" ({})", excerpt(path, 200)));
        lines.push(format!(
            "- **Retry isolation:** {}{path}",
            excerpt(isolation, 80)
        ));
    }
    lines.push(String::new());
    lines
}

fn overview(workflow: &Workflow) -> Vec<String> {
    let (done, total) = (workflow.done().len(), workflow.total());
    let mut lines = vec![share(done, total)];
    let drift = workflow.drift();
    if let (false, Some((planned, of))) = (drift.is_empty(), workflow.planned()) {
        let named: Vec<String> = drift
            .iter()
            .map(|(id, status)| format!("{} ({})", excerpt(id, 40), excerpt(status, 40)))
            .collect();
        lines.push(format!(
            "\nNote: the plan's Status lines say {planned}/{of} and differ for {}. step_state.json decides.",
            named.join(", ")
        ));
    }
    let (planned, stated) = workflow.unmatched();
    for (ids, has, lacks) in [(planned, "plan", "state"), (stated, "state", "plan")] {
        if !ids.is_empty() {
            lines.push(format!(
                "\nNote: the {has} has {}, and the {lacks} does not. step_state.json decides.",
                excerpt(&ids.join(", "), LONGEST_LINE)
            ));
        }
    }
    lines
}

fn share(done: usize, total: usize) -> String {
    // Half up, in whole numbers.
    let percent = (done * 200 + total).checked_div(total * 2).unwrap_or(0);
    format!("{done}/{total} subtasks completed ({percent}%)")
}

fn completed(workflow: &Workflow) -> Vec<String> {
    let mut lines = vec!["### Completed Subtasks".to_owned()];
    lines.extend(checked(workflow));
    lines
}

/// Returns the subtasks that are done, one a line.
fn checked(workflow: &Workflow) -> Vec<String> {
    let done = workflow.done();
    if done.is_empty() {
        return vec!["- none".to_owned()];
    }
    let line = |id: &String| format!("- [x] {} (complete)", named(workflow, id));
    done.iter().map(line).collect()
}

fn remaining(workflow: &Workflow) -> Vec<String> {
    let done = workflow.done();
    let left = workflow.subtasks().into_iter();
    let left: Vec<String> = left.filter(|id| !done.contains(id)).collect();
    if left.is_empty() {
        return vec!["- none".to_owned()];
    }
    let current = workflow.state.subtask();
    let phase = workflow.state.get(key::PHASE).as_text().unwrap_or_default();
    let line = |id: &String| {
        let place = if current == Some(id.as_str()) {
            format!("currently at phase: {}", excerpt(phase, 80))
        } else {
            "pending".to_owned()
        };
        format!("- [ ] {} — {place}", named(workflow, id))
    };
    left.iter().map(line).collect()
}

/// Returns a subtask as the lists have it: its id, and what it is called where that is known.
fn named(workflow: &Workflow, id: &str) -> String {
    let shown = excerpt(id, 80);
    match workflow.title(id) {
        Some(title) => format!("**{shown}**: {}", excerpt(title, LONGEST_LINE)),
        None => format!("**{shown}**"),
    }
}

/// The text of a workflow that is over.
pub(super) fn complete(branch: &Branch, workflow: &Workflow) -> String {
    let mut lines = head("Workflow Already Complete", branch, workflow);
    if let Some(at) = workflow.state.get(key::COMPLETED_AT).as_text() {
        lines.push(format!("**Completed:** {}", excerpt(at, 80)));
    }
    lines.push("\nThe workflow of this branch is already complete.\n".to_owned());
    lines.push("### Progress Overview\n".to_owned());
    lines.extend(overview(workflow));
    lines.push(String::new());
    lines.extend(completed(workflow));
    lines.push("\nNo recovery needed.".to_owned());
    lines.join("\n") + "\n"
}

/// What a resume brought to its end.
pub(super) struct Session {
    pub(super) n_completed: usize,
    /// What was changed since it began; `None` where git can not tell.
    pub(super) files: Option<Vec<String>>,
}

/// The summary after the last subtask.
pub(super) fn completion(branch: &Branch, workflow: &Workflow, session: &Session) -> String {
    let mut lines = head("Workflow Resumed and Completed", branch, workflow);
    lines.push(format!("**Total Subtasks:** {}", workflow.total()));
    lines.push(format!(
        "**Subtasks Completed This Session:** {}",
        session.n_completed
    ));
    lines.push("\n### Completion Summary".to_owned());
    lines.extend(checked(workflow));
    lines.push("\n### Files Modified".to_owned());
    match &session.files {
        None => lines.push("- unknown: git can not tell".to_owned()),
        Some(files) if files.is_empty() => lines.push("- none".to_owned()),
        Some(files) => lines.extend(files.iter().map(|file| format!("- {}", printable(file)))),
    }
    lines.push(
        "\n---\n\
         \n\
         **Optional next steps:**\n\
         - Run `/map-learn` to extract and preserve patterns from this workflow\n\
         - Run `/map-check` to verify all acceptance criteria\n\
         - Run tests to verify implementation\n\
         - Create a commit with your changes"
            .to_owned(),
    );
    lines.join("\n") + "\n"
}

/// The plan as it is shown before a person approves it.
pub(super) fn review(branch: &Branch, workflow: &Workflow) -> String {
    let mut lines = head("Plan Review", branch, workflow);
    lines.push(format!("**Plan:** {}", branch.plan()));
    lines.push("\n### Subtasks".to_owned());
    let subtasks = workflow.subtasks();
    lines.extend(
        subtasks
            .iter()
            .map(|id| format!("- {}", named(workflow, id))),
    );
    lines.join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_rounded_half_up() {
        for (done, total, shown) in [
            (0, 0, "0/0 subtasks completed (0%)"),
            (3, 5, "3/5 subtasks completed (60%)"),
            (1, 6, "1/6 subtasks completed (17%)"),
            (1, 8, "1/8 subtasks completed (13%)"),
            (6, 6, "6/6 subtasks completed (100%)"),
        ] {
            assert_eq!(share(done, total), shown);
        }
    }
}
