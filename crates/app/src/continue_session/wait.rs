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

#[cfg(test)]
mod tests {
    use rekindle_model::{OpenKind, OpenStep, ProtocolName, WorkflowId};

    use super::*;

    fn limited(until: Option<&str>, reasons: &[Unsafe]) -> Session {
        Session {
            id: WorkflowId::new(ProtocolName::new("x"), "y"),
            agent: "claude",
            session: "y".to_owned(),
            title: None,
            state: SessionState::Limited,
            until: until.map(|until| until.parse().unwrap()),
            open: OpenStep {
                kind: OpenKind::Limit,
                tool: None,
                step: None,
                calls: 0,
            },
            prompt: None,
            said: None,
            todo: None,
            folder: None,
            folder_exists: true,
            project: None,
            branch: None,
            touched: Vec::new(),
            subagents: Vec::new(),
            alive: Some(false),
            holder: None,
            left: Vec::new(),
            last_activity: None,
            is_stale: false,
            is_headless: false,
            is_torn: false,
            superseded_by: None,
            reasons: reasons.to_vec(),
            interactive: Vec::new(),
            headless: Vec::new(),
            add_worktree: None,
            transcript: "/t".into(),
        }
    }

    #[test]
    fn only_a_limit_with_a_known_end_is_waited_for_and_a_minute_longer() {
        let at = Some("2026-01-20T14:30:00Z");
        for (session, is_wanted, expected) in [
            (
                limited(at, &[Unsafe::Limited]),
                true,
                Some("2026-01-20T14:31:00Z"),
            ),
            (limited(at, &[Unsafe::Limited]), false, None),
            (limited(None, &[Unsafe::Limited]), true, None),
            (
                limited(at, &[Unsafe::FolderGone, Unsafe::Limited]),
                true,
                None,
            ),
        ] {
            let expected = expected.map(|at| at.parse().unwrap());
            assert_eq!(due(&session, is_wanted), expected, "{session:?}");
        }
    }
}
