//! The texts that a resume prints: those of MAP's specification verbatim, and a few of our own.

use rekindle_map_machine::interruption::Interruption;
use rekindle_map_machine::state::key;
use rekindle_map_machine::task_plan::Planned;
use rekindle_map_machine::{Branch, layout};
use rekindle_text::{excerpt, printable, printable_block};

use crate::read::{Damage, Suspended, Unusable, Workflow};
use crate::session::Session;

/// The longest raw part of a state that is shown.
const LONGEST_RAW: usize = 16 * 1024;
/// The longest line of a plan or review that is shown.
const LONGEST_LINE: usize = 300;

/// The text after a state was moved away.
pub(crate) const CLEARED: &str = "State cleared. Start fresh with /map-efficient.\n";

/// The text of a branch without a checkpoint.
pub(crate) fn nothing(branch: &Branch) -> String {
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

/// The dialogue about a state that cannot be used.
pub(crate) fn unusable(branch: &Branch, unusable: &Unusable) -> String {
    let path = branch.file(layout::STATE);
    let (title, sentence) = match unusable.damage {
        Damage::Corrupt => {
            let sentence = format!("The state file at `{path}` could not be parsed.");
            ("State File Corrupted", sentence)
        }
        Damage::Foreign => {
            let sentence = format!("The file at `{path}` is not a MAP 3.x state.");
            ("Unknown State File", sentence)
        }
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

/// The raw text of a state, printable and shortened.
pub(crate) fn raw(branch: &Branch, unusable: &Unusable) -> String {
    let bytes = &unusable.bytes;
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(LONGEST_RAW)]);
    let shown = printable_block(&text);
    let fence = fence(&shown);
    let rest = bytes.len().saturating_sub(LONGEST_RAW);
    let cut = match rest {
        0 => String::new(),
        rest => format!("\n[{rest} more bytes]"),
    };
    let path = branch.file(layout::STATE);
    let n_bytes = bytes.len();
    let reason = printable(&unusable.reason);
    format!("\n`{path}` ({n_bytes} bytes; {reason}):\n\n{fence}text\n{shown}{cut}\n{fence}\n")
}

/// Returns a fence that the text cannot close.
fn fence(text: &str) -> String {
    let mut fence = "```".to_owned();
    while text.contains(&fence) {
        fence.push('`');
    }
    fence
}

/// The hint for a repair whose marker and journal disagree.
pub(crate) const REPAIR_HINT: &str = "run MAP's `python3 .map/scripts/map_orchestrator.py begin_repair`, `verify_repair` or `finish_repair`, or move the repair folder away if no repair is open";

/// The next action for a run that a repair has suspended.
pub(crate) fn repair_next(interruption: &Interruption) -> String {
    match interruption {
        Interruption::Idle | Interruption::Unclear(_) => {
            "a repair and the state file disagree: check both before the run continues".to_owned()
        }
        Interruption::Open(repair) => format!(
            "continue the repair in `{}`, then run MAP's `verify_repair` and `finish_repair` for `{}`",
            excerpt(&repair.checkout, LONGEST_LINE),
            excerpt(&repair.operation, 80)
        ),
    }
}

/// The text of a run that a repair has suspended.
pub(crate) fn suspended(branch: &Branch, suspended: &Suspended) -> String {
    let repair = match &suspended.interruption {
        Interruption::Open(repair) => repair,
        Interruption::Unclear(unclear) => {
            let reason = printable(&unclear.reason);
            return format!("## Repair and State Disagree\n\n{reason}.\n\nNothing was changed.\n");
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
        "\nThe run continues when the repair is finished:\n\
         1. Continue the repair in its private checkout.\n\
         2. `python3 .map/scripts/map_orchestrator.py verify_repair {operation} --monitor-file FILE`\n\
         3. `python3 .map/scripts/map_orchestrator.py finish_repair {operation}`"
    ));
    lines.join("\n") + "\n"
}

/// The dialogue about a workflow without its plan.
pub(crate) fn missing_plan(branch: &Branch) -> String {
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
pub(crate) fn briefing(branch: &Branch, workflow: &Workflow) -> String {
    let mut lines = head("Found Incomplete Workflow", branch, workflow);
    let state = &workflow.state;
    let value = |key| printable(&state.get(key).to_plain_text()).into_owned();
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
    let context = match artifacts.review.as_str() {
        "" => "none".into(),
        review => printable_block(review),
    };
    let fence = fence(&context);
    lines.push(format!(
        "\n### Recent Session Context\n\n{fence}text\n{context}\n{fence}\n"
    ));
    lines.push("### Progress Overview\n".to_owned());
    lines.extend(overview(workflow));
    lines.push("\n### Completed Subtasks".to_owned());
    lines.extend(checked(workflow));
    lines.push("\n### Remaining Subtasks".to_owned());
    lines.extend(remaining(workflow));
    lines.join("\n") + "\n"
}

fn head(title: &str, branch: &Branch, workflow: &Workflow) -> Vec<String> {
    let goal = workflow.goal.as_deref();
    let goal = goal.unwrap_or("(the plan names no goal)");
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
    let verdict = or_none(artifacts.verdict.as_deref());
    let review = or_none(artifacts.review_path.as_deref());
    let mut actions = briefing.next_action.iter();
    let first = actions.next().map_or("resume current step", String::as_str);
    let first = excerpt(first, LONGEST_LINE);
    let mut lines = vec![
        "### Resume Briefing\n".to_owned(),
        format!("- **Suggested next subtask:** {}", or_none(suggested)),
        format!("- **Latest verification verdict:** {verdict}"),
        format!("- **Latest review artifact:** {review}"),
        format!("- **Immediate next action:** {first}"),
    ];
    // The first action is often only to read something, so the others are shown too.
    lines.extend(actions.map(|next| format!("  - then: {}", excerpt(next, LONGEST_LINE))));
    if let Some(count) = workflow.rejections() {
        lines.push(format!(
            "- **Rejected:** {count} times, and the retries are used up; a person has to decide"
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
    if !drift.is_empty() {
        let planned = workflow.planned();
        let is_complete = |planned: &&Planned| planned.status == "complete";
        let n_complete = planned.iter().filter(is_complete).count();
        let named = drift.iter().map(|planned| {
            let (id, status) = (excerpt(&planned.id, 40), excerpt(&planned.status, 40));
            format!("{id} ({status})")
        });
        lines.push(format!(
            "\nNote: the plan's Status lines say {n_complete}/{} and differ for {}. step_state.json decides.",
            planned.len(),
            named.collect::<Vec<_>>().join(", ")
        ));
    }
    let (planned, stated) = workflow.unmatched();
    for (ids, has, lacks) in [(planned, "plan", "state"), (stated, "state", "plan")] {
        if !ids.is_empty() {
            lines.push(format!(
                "\nNote: the {has} has {}, but the {lacks} does not. step_state.json decides.",
                excerpt(&ids.join(", "), LONGEST_LINE)
            ));
        }
    }
    lines
}

fn share(done: usize, total: usize) -> String {
    // Rounds half up.
    let percent = (done * 200 + total).checked_div(total * 2).unwrap_or(0);
    format!("{done}/{total} subtasks completed ({percent}%)")
}

/// Returns the completed subtasks, one a line.
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
    let mut left = workflow.subtasks();
    left.retain(|id| !done.contains(id));
    if left.is_empty() {
        return vec!["- none".to_owned()];
    }
    let current = workflow.state.subtask();
    let phase = workflow.state.get(key::PHASE).as_text().unwrap_or_default();
    let line = |id: &String| {
        let position = if current == Some(id.as_str()) {
            format!("currently at phase: {}", excerpt(phase, 80))
        } else {
            "pending".to_owned()
        };
        format!("- [ ] {} — {position}", named(workflow, id))
    };
    left.iter().map(line).collect()
}

/// Returns the id and title of a subtask.
fn named(workflow: &Workflow, id: &str) -> String {
    let shown = excerpt(id, 80);
    match workflow.title(id) {
        Some(title) => format!("**{shown}**: {}", excerpt(title, LONGEST_LINE)),
        None => format!("**{shown}**"),
    }
}

/// The text about a complete workflow.
pub(crate) fn complete(branch: &Branch, workflow: &Workflow) -> String {
    let mut lines = head("Workflow Already Complete", branch, workflow);
    if let Some(at) = workflow.state.get(key::COMPLETED_AT).as_text() {
        lines.push(format!("**Completed:** {}", excerpt(at, 80)));
    }
    lines.push("\nThe workflow of this branch is already complete.\n".to_owned());
    lines.push("### Progress Overview\n".to_owned());
    lines.extend(overview(workflow));
    lines.push("\n### Completed Subtasks".to_owned());
    lines.extend(checked(workflow));
    lines.push("\nNo recovery needed.".to_owned());
    lines.join("\n") + "\n"
}

/// The summary after the last subtask.
pub(crate) fn completion(branch: &Branch, workflow: &Workflow, session: &Session) -> String {
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
        None => lines.push("- unknown: git cannot say".to_owned()),
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

/// The plan that a person approves.
pub(crate) fn review(branch: &Branch, workflow: &Workflow) -> String {
    let mut lines = head("Plan Review", branch, workflow);
    lines.push(format!("**Plan:** {}", branch.plan()));
    lines.push("\n### Subtasks".to_owned());
    let subtasks = workflow.subtasks().into_iter();
    lines.extend(subtasks.map(|id| format!("- {}", named(workflow, &id))));
    lines.join("\n") + "\n"
}

/// Returns a text with every run of white space replaced by one space.
pub(crate) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentage_is_rounded_half_up() {
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
