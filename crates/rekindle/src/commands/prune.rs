//! `rekindle prune`: what is no longer needed, listed before it is removed.

use rekindle_app::{Project, Prunable, PruneWish, Pruning};
use rekindle_wire::{NotPrunedOut, PruneOut, PrunedOut, exit};

use crate::arguments::PruneArguments;
use crate::failure::Failure;
use crate::render;
use crate::terminal::Terminal;

pub(super) fn prune(
    project: &Project,
    arguments: PruneArguments,
    terminal: &mut Terminal,
) -> Result<u8, Failure> {
    let wish = PruneWish {
        names: arguments.names,
        older_than: arguments.older_than,
        yes: arguments.yes,
    };
    let pruning = rekindle_app::prune(project, &wish, terminal)?;
    let is_done = pruning.stuck.is_empty();
    if terminal.is_json() {
        terminal.json(&object(pruning));
    } else if pruning.is_declined {
        terminal.declined();
    } else {
        terminal.result(&render::pruning(&pruning));
        terminal.note(&render::not_pruned(&pruning));
        if !pruning.kept.is_empty() {
            terminal.hint(&render::hint(
                "`rekindle prune NAME` removes what is not merged",
            ));
        }
    }
    Ok(if is_done { exit::DONE } else { exit::CANNOT })
}

fn object(pruning: Pruning) -> PruneOut {
    let out = |one: Prunable| PrunedOut {
        kind: one.kind.as_str().to_owned(),
        name: one.name,
        why: one.why,
        commit: one.commit,
    };
    let failed = |(one, reason): (Prunable, String)| NotPrunedOut {
        kind: one.kind.as_str().to_owned(),
        name: one.name,
        reason,
    };
    PruneOut {
        schema: "rekindle.prune/1",
        removed: pruning.removed.into_iter().map(out).collect(),
        kept: pruning.kept.into_iter().map(out).collect(),
        failed: pruning.stuck.into_iter().map(failed).collect(),
    }
}
