//! Named points at which a test can end the process as `kill -9` would.
//!
//! A point is one line between two effects: `crash::point("after-intent")`. In
//! a normal build it does nothing. With the feature `crash-points` the process
//! kills itself at the point that the variable `REKINDLE_CRASH_AT` names, at its
//! n-th passing if the name is followed by `:n`.

/// Every point there is; a test goes through all of them.
pub const POINTS: &[&str] = &[
    "after-lock",
    "after-intent",
    "after-effect",
    "after-done",
    "after-end",
    "before-agent-record",
    "after-agent-start",
    "after-agent-end",
];

/// The points of the engine; another test goes through these.
pub const ENGINE_POINTS: &[&str] = &[
    "after-claim",
    "after-worker-start",
    "before-land",
    "after-land",
    "after-completed",
];

/// The points of the single effects, before and after each change on the disk; a third test goes
/// through these.
pub const EFFECT_POINTS: &[&str] = &[
    "create-before",
    "edit-before-replace",
    "edit-after-replace",
    "move-file-before",
    "move-file-after",
    "move-before-rename",
    "move-after-rename",
    "move-after-copy",
    "move-after-place",
    "move-after-removal",
    "land-before-remove",
    "land-after-remove",
    "land-after-prune",
    "land-before-copy",
    "land-after-clear",
    "land-after-copy",
    "land-after-place",
    "land-before-stage",
    "land-after-stage",
    "land-before-ref",
    "land-after-ref",
    "end-worker-before-term",
    "end-worker-after-end",
    "after-repeat",
];

/// The points of drop-in commands, where those of the single effects are passed too.
pub const TRANSACTION_POINTS: &[&str] = &[
    "transaction-after-lock",
    "transaction-after-record",
    "transaction-after-effect",
    "transaction-after-end",
    "transaction-after-repeat",
    "transaction-after-take-back",
];

fn is_listed(name: &str) -> bool {
    let lists = [POINTS, ENGINE_POINTS, EFFECT_POINTS, TRANSACTION_POINTS];
    lists.iter().any(|points| points.contains(&name))
}

#[cfg(not(feature = "crash-points"))]
pub(crate) fn point(name: &'static str) {
    debug_assert!(is_listed(name), "{name} is not listed");
}

#[cfg(feature = "crash-points")]
#[expect(
    clippy::disallowed_methods,
    reason = "a build for tests only, told by its environment where to die"
)]
pub(crate) fn point(name: &'static str) {
    use std::sync::atomic::{AtomicU32, Ordering};
    static PASSED: AtomicU32 = AtomicU32::new(0);

    assert!(is_listed(name), "{name} is not listed");
    let Ok(wanted) = std::env::var("REKINDLE_CRASH_AT") else {
        return;
    };
    let (wanted, nth) = wanted.split_once(':').unwrap_or((&wanted, "1"));
    if wanted == name && PASSED.fetch_add(1, Ordering::Relaxed) + 1 == nth.parse().unwrap_or(1) {
        std::process::abort();
    }
}
