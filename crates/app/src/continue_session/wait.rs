//! Waiting for the end of a usage limit.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use rekindle_model::{Session, SessionState, Unsafe};

use crate::Project;

/// Limits end a little later than they say.
const MARGIN: SignedDuration = SignedDuration::from_secs(60);
/// The clock is looked at this often: a machine that sleeps wakes up later.
const LOOK: Duration = Duration::from_secs(5);

/// Returns until when to wait for a session, if only a limit with a known end is in its way.
pub(super) fn due(session: &Session, is_wanted: bool) -> Option<Timestamp> {
    let only_limited = session.reasons == [Unsafe::Limited];
    let is_due = is_wanted && only_limited && session.state == SessionState::Limited;
    let until = session.until.filter(|_| is_due)?;
    until.checked_add(MARGIN).ok()
}

/// Waits until a time.
pub(super) fn until(project: &Project, time: Timestamp) {
    loop {
        let left = time.duration_since(project.now());
        let Ok(left) = Duration::try_from(left) else {
            return;
        };
        if left.is_zero() {
            return;
        }
        std::thread::sleep(left.min(LOOK));
    }
}
