//! What is said about a plan file that was edited since its run was started.

use camino::Utf8Path;
use rekindle_app::Revision;
use rekindle_text::{excerpt, shell_word};

use super::{NOTE, WARNING, styled};

/// The most characters of a name that are shown.
const MOST_SHOWN: usize = 200;
/// The most changes that are listed in one line.
const MOST_CHANGES: usize = 5;

/// Returns the note that a run goes on by its old plan.
pub(crate) fn plan_changed(plan: &Utf8Path, revision: &Revision) -> String {
    format!(
        "{}: {} has changed ({}); the run goes on by its old plan, `rekindle resume --update-plan` takes the changes over\n",
        styled(NOTE, "note"),
        excerpt(plan.as_str(), MOST_SHOWN),
        changes(revision)
    )
}

/// Returns the warning that an edited plan is not a valid one.
pub(crate) fn plan_unsound(plan: &Utf8Path) -> String {
    format!(
        "{}: {} has changed and is not a valid plan; the run goes on by its old one, `rekindle run --dry-run {}` shows what is wrong\n",
        styled(WARNING, "warning"),
        excerpt(plan.as_str(), MOST_SHOWN),
        shell_word(plan.as_str())
    )
}

/// Returns what was taken over from an edited plan.
pub(crate) fn plan_taken_over(plan: &Utf8Path, revision: &Revision) -> String {
    let kept = revision.kept.iter();
    let kept: Vec<String> = kept
        .map(|kept| format!("{}: {kept}, so it stays as it is\n", styled(NOTE, "note")))
        .collect();
    format!(
        "taken over from {}: {}\n{}",
        excerpt(plan.as_str(), MOST_SHOWN),
        changes(revision),
        kept.concat()
    )
}

fn changes(revision: &Revision) -> String {
    let left_out = revision.changes.len().saturating_sub(MOST_CHANGES);
    let mut shown: Vec<&str> = revision.changes.iter().map(String::as_str).collect();
    shown.truncate(MOST_CHANGES);
    let more = format!("{left_out} more");
    if left_out > 0 {
        shown.push(&more);
    }
    shown.join("; ")
}
