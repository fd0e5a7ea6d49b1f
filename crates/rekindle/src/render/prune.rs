//! What was removed because it is no longer needed, and what was left.

use std::fmt::Write as _;

use rekindle_app::{Prunable, Pruning};
use rekindle_text::{excerpt, printable};

use super::{ERROR, FAINT, styled};

/// The longest name that is shown.
const LONGEST: usize = 200;

/// Returns a line for each run, branch and backup.
pub(crate) fn pruning(pruning: &Pruning) -> String {
    let mut text = String::new();
    for one in &pruning.removed {
        let commit = one.commit.as_ref().map_or_else(String::new, |commit| {
            styled(
                FAINT,
                &format!(" (was at {})", commit.get(..12).unwrap_or(commit)),
            )
        });
        put!(text, "removed {}{commit}\n", named(one));
    }
    for one in &pruning.kept {
        put!(text, "kept {}: {}\n", named(one), printable(&one.why));
    }
    if text.is_empty() && pruning.stuck.is_empty() {
        text.push_str("Nothing to remove.\n");
    }
    text
}

/// Returns a line for each of them that could not be removed.
pub(crate) fn not_pruned(pruning: &Pruning) -> String {
    let mut text = String::new();
    for (one, reason) in &pruning.stuck {
        let word = styled(ERROR, "error");
        put!(text, "{word}: {}: {}\n", named(one), printable(reason));
    }
    text
}

fn named(one: &Prunable) -> String {
    format!("{} {}", one.kind.as_str(), excerpt(&one.name, LONGEST))
}
