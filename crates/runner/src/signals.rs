//! Lets a short task survive signals.

use tokio::signal::unix::{SignalKind, signal};

/// Lets this process finish its task after TERM.
///
/// Claude Code sends TERM to the hooks of a failed turn as soon as it has nothing more to do
/// itself, some forty milliseconds after it started them. A handler stays for the life of the process.
pub fn outlive_signals() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .build();
    if let Ok(runtime) = runtime {
        runtime.block_on(async {
            for kind in [SignalKind::terminate(), SignalKind::hangup()] {
                signal(kind).ok();
            }
        });
    }
}
