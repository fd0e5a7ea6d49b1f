//! Signals that a short task of ours outlives.

use tokio::signal::unix::{SignalKind, signal};

/// Lets this process go on to its end when it is asked to end.
///
/// Claude Code sends TERM to the hooks of a turn that failed as soon as it has nothing more to do
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
