//! Messages about the context and old checkpoints: offers, history entries, and the hand-over to a
//! sub-agent.

use rekindle_model::AgentTask;
use rekindle_text::{excerpt, printable};

use super::super::assess::{HIGH_CONTEXT, Judged};
use super::super::record::Compacted;
use super::super::session::{CHECKPOINT, CONTEXT};
use super::left::left;
use super::{minute, when};

/// How many decisions a hand-over has.
const MOST_DECISIONS: usize = 10;

/// Returns the question whether the session is to be compacted.
pub(crate) fn compaction_offer(judged: &Judged, compacted: &Compacted) -> String {
    format!(
        "The context is at {}. Compact the session: move {} to {}? (y/n)",
        high(judged),
        counted(compacted),
        printable(judged.feature.archive.path.as_str())
    )
}

/// Returns the history entry of a compaction, without its number.
pub(crate) fn compaction_line(judged: &Judged, compacted: &Compacted) -> String {
    let feature = &judged.feature;
    let what = if compacted.is_empty() {
        "Nothing had to be moved".to_owned()
    } else {
        let name = feature.archive.path.file_name().unwrap_or_default();
        format!("Moved {} to {name}", counted(compacted))
    };
    format!(
        "**{}** - {CONTEXT} the session at {}. {what}.",
        feature.now.date(),
        high(judged)
    )
}

/// Returns the question whether an old checkpoint is to have the time of now.
pub(crate) fn refresh_offer(judged: &Judged) -> String {
    format!(
        "Validation passed. Update the timestamp of {} from {} to {}? (y/n)",
        judged.feature.chosen.name(),
        when(judged),
        minute(judged.feature.now)
    )
}

/// Returns the history entry of an updated timestamp.
pub(crate) fn refresh_line(judged: &Judged) -> String {
    let feature = &judged.feature;
    format!(
        "**{}** - {CHECKPOINT} of {} updated from {} to {} after validation passed.",
        feature.now.date(),
        feature.chosen.name(),
        when(judged),
        minute(feature.now)
    )
}

/// Returns the state of a command's task in tasks.md, as the end of a sentence.
pub(crate) fn task_state(judged: &Judged, task: &AgentTask) -> String {
    let tasks = judged.feature.tasks.as_ref();
    let mut ids = super::super::phase::task_ids(&task.prompt);
    let found = ids.find_map(|id| tasks?.find(id));
    found.map_or_else(String::new, |found| {
        format!(
            "; tasks.md says that {} is {}",
            found.id,
            found.state.as_str()
        )
    })
}

/// Returns the utilization that is too high, as it is written.
fn high(judged: &Judged) -> String {
    let recorded = judged.feature.chosen.context();
    match recorded.filter(|percent| *percent > HIGH_CONTEXT) {
        Some(percent) => format!("{percent}% utilization"),
        None => format!("~{}% utilization", judged.feature.estimated_context),
    }
}

fn counted(compacted: &Compacted) -> String {
    let plural = |n: usize, one: &str, more: &str| match n {
        0 => None,
        1 => Some(format!("1 {one}")),
        n => Some(format!("{n} {more}")),
    };
    let parts = [
        plural(compacted.history.len(), "history entry", "history entries"),
        plural(compacted.checkpoints.len(), "checkpoint", "checkpoints"),
    ];
    parts
        .into_iter()
        .flatten()
        .collect::<Vec<_>>()
        .join(" and ")
}

/// Returns the hand-over to a sub-agent, if the context is high.
pub(super) fn hand_over(judged: &Judged) -> String {
    if !judged.is_context_high() {
        return String::new();
    }
    let feature = &judged.feature;
    let mut text = format!(
        "\nHand-over to a sub-agent:\n---\nTake over the feature {} in its {} phase, from checkpoint {} ({}): {}\n\nRead first:\n",
        printable(&feature.name),
        judged.phase.as_str(),
        feature.chosen.name(),
        when(judged),
        excerpt(&feature.chosen.description, 200)
    );
    for file in feature.files.iter().filter(|file| file.is_required) {
        text.push_str(&format!("- {}\n", excerpt(&file.path, 200)));
    }
    let decisions = feature.session.decisions().into_iter();
    let decisions: Vec<String> = decisions.take(MOST_DECISIONS).collect();
    if !decisions.is_empty() {
        text.push_str("\nDecisions to keep:\n");
        for decision in decisions {
            text.push_str(&format!("- {}\n", excerpt(&decision, 160)));
        }
    }
    text.push_str(&left(judged, usize::MAX));
    text.push_str(&format!(
        "\nRun: {}\nWhen you are done, report which files you changed and what is still open, so that {} gets its next checkpoint.\n---\n",
        printable(&judged.next.command),
        printable(feature.session_path.as_str())
    ));
    text
}
