//! The decisions of the recovery as data, each in one place: what a task is ([`task`]), what a
//! claim of success is worth ([`claim`]), what is due
//! in a round ([`round`]), and how long a worker may be silent ([`silence`]).

pub(super) mod claim;
pub(super) mod round;
pub(super) mod silence;
pub(super) mod task;

use rekindle_protocol::table::Decision;

/// Returns the decisions for the page about them.
pub(crate) fn decisions() -> Vec<Decision> {
    vec![
        task::TASKS.printed(),
        claim::CLAIMS.printed(),
        silence::printed(),
        round::ROUNDS.printed(),
        round::NEXT.printed(),
    ]
}
