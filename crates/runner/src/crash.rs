//! The named crash points between intent, effect and outcome.
//!
//! A point is one line: `crash::point("after-intent")`. A build with the feature `crash-points` dies
//! there if it is ordered to; `rekindle-fault` contains the mechanism. `fs` and `git` have further
//! points before each call that changes the disk.
//!
//! Effects need no points of their own: all of them go through [`around`], which derives the points
//! before and after one from its [`Kind`]. Only effects of several steps have more.

use rekindle_model::Action;
use rekindle_wire::journal::Effect;

use crate::Error;

/// The points inside of functions.
const POINTS: &[&str] = &[
    // The loop.
    "after-lock",
    "after-intent",
    "after-effect",
    "after-done",
    "after-end",
    "after-repeat",
    "before-agent-record",
    "after-agent-start",
    "after-agent-end",
    // The engine.
    "after-claim",
    "after-worker-start",
    "after-agent-done",
    "before-land",
    "after-land",
    "after-completed",
    // Inside of single effects, between two changes on the disk.
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
    // Drop-in commands, where those of the single effects are passed too.
    "transaction-after-lock",
    "transaction-after-record",
    "transaction-after-effect",
    "transaction-after-end",
    "transaction-after-repeat",
    "transaction-after-take-back",
];

/// The kind of an effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Append,
    Create,
    Edit,
    MoveFolder,
    MoveFile,
    Land,
    EndWorker,
    /// Text for a person or a host, which changes nothing.
    Print,
}

impl Kind {
    const ALL: [Self; 8] = [
        Self::Append,
        Self::Create,
        Self::Edit,
        Self::MoveFolder,
        Self::MoveFile,
        Self::Land,
        Self::EndWorker,
        Self::Print,
    ];

    /// Returns the names of the points before and after such an effect.
    const fn points(self) -> [&'static str; 2] {
        match self {
            Self::Append => ["before-append", "after-append"],
            Self::Create => ["before-create", "after-create"],
            Self::Edit => ["before-edit", "after-edit"],
            Self::MoveFolder => ["before-move-folder", "after-move-folder"],
            Self::MoveFile => ["before-move-file", "after-move-file"],
            Self::Land => ["before-landing", "after-landing"],
            Self::EndWorker => ["before-end-worker", "after-end-worker"],
            Self::Print => ["before-print", "after-print"],
        }
    }
}

impl From<&Action> for Kind {
    fn from(action: &Action) -> Self {
        match action {
            Action::Append { .. } => Self::Append,
            Action::Create { .. } => Self::Create,
            Action::Edit { .. } => Self::Edit,
            Action::MoveFolder { .. } => Self::MoveFolder,
            Action::MoveFile { .. } => Self::MoveFile,
            Action::Land(_) => Self::Land,
            Action::EndWorker { .. } => Self::EndWorker,
            Action::AskHost { .. } | Action::Print(_) => Self::Print,
        }
    }
}

impl From<&Effect> for Kind {
    fn from(effect: &Effect) -> Self {
        match effect {
            Effect::Append { .. } => Self::Append,
            Effect::Create { .. } => Self::Create,
            Effect::Edit { .. } => Self::Edit,
            Effect::MoveFolder { .. } => Self::MoveFolder,
            Effect::MoveFile { .. } => Self::MoveFile,
            Effect::Land { .. } => Self::Land,
            Effect::EndWorker { .. } => Self::EndWorker,
            Effect::Print => Self::Print,
        }
    }
}

/// Performs an effect between its two points.
pub(crate) fn around<T>(kind: Kind, act: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
    let [before, after] = kind.points();
    point(before);
    let done = act()?;
    point(after);
    Ok(done)
}

/// Passes a point.
pub(crate) fn point(name: &'static str) {
    debug_assert!(places().any(|place| place == name), "{name} is not listed");
    rekindle_fault::point(name);
}

/// Returns the name of every place at which a build for tests can die, those of `fs` and `git`
/// included. A test passes all of them.
pub fn places() -> impl Iterator<Item = &'static str> {
    POINTS
        .iter()
        .copied()
        .chain(Kind::ALL.into_iter().flat_map(Kind::points))
        .chain(rekindle_fs::places())
        .chain(rekindle_git::PLACES.iter().copied())
}
