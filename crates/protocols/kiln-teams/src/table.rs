//! The decisions of a recovery as tables: the state of a task ([`task`]), what a claim of success is
//! worth ([`claim`]), what a round does ([`round`]), and how long a worker may be silent ([`silence`]).

pub(super) mod claim;
pub(super) mod round;
pub(super) mod silence;
pub(super) mod task;

use rekindle_protocol::table::Decision;

/// Returns the decisions for the documentation.
pub(crate) fn decisions() -> Vec<Decision> {
    vec![
        task::TASKS.printed(),
        claim::CLAIMS.printed(),
        silence::printed(),
        round::ROUNDS.printed(),
        round::NEXT.printed(),
    ]
}
