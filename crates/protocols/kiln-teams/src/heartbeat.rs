//! A running task's heartbeat, judged by the table of [`super::table::silence`].

use jiff::{SignedDuration, Timestamp};

use super::table::silence::allowed;
use super::task_list::{Heartbeat, Stage};

/// What a heartbeat's age means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Tier {
    Healthy,
    Warning,
    Dead,
}

impl Tier {
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Healthy => "healthy",
            Self::Warning => "warning",
            Self::Dead => "dead",
        }
    }
}

/// A running task's heartbeat, judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Pulse {
    pub(super) tier: Tier,
    /// Its age; `None` without a readable heartbeat.
    pub(super) age: Option<SignedDuration>,
    /// After which age the worker counts as dead.
    pub(super) dead_after: SignedDuration,
    /// Whether the worker's clock is ahead of ours.
    pub(super) is_from_the_future: bool,
}

/// Judges the heartbeat of a running task; `uniform` replaces the table.
pub(super) fn judge(
    stage: Option<&Stage>,
    heartbeat: &Heartbeat,
    uniform: Option<SignedDuration>,
    now: Timestamp,
) -> Pulse {
    let allowed = allowed(stage);
    let dead_after = uniform.unwrap_or(SignedDuration::from_mins(allowed.dead));
    let warn_from = uniform
        .is_none()
        .then(|| SignedDuration::from_mins(allowed.warning));
    let Heartbeat::At(at) = heartbeat else {
        return Pulse {
            tier: Tier::Dead,
            age: None,
            dead_after,
            is_from_the_future: false,
        };
    };
    // Whole seconds: a fraction of a second must not decide.
    let age = SignedDuration::from_secs(now.as_second() - at.as_second());
    let tier = if age > dead_after {
        Tier::Dead
    } else if warn_from.is_some_and(|from| age >= from) {
        Tier::Warning
    } else {
        Tier::Healthy
    };
    Pulse {
        tier,
        age: Some(age),
        dead_after,
        is_from_the_future: age.is_negative(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tier(stage: Option<&Stage>, seconds: i64, uniform: Option<i64>) -> Tier {
        let now: Timestamp = "2026-02-16T15:00:00Z".parse().unwrap();
        let at = now - SignedDuration::from_secs(seconds);
        let uniform = uniform.map(SignedDuration::from_mins);
        judge(stage, &Heartbeat::At(at), uniform, now).tier
    }

    #[test]
    fn limits_apply_at_their_exact_minute() {
        let odd = || Stage::Unknown("implmenting".to_owned());
        let rows = [
            (Some(Stage::Claimed), 5, 10),
            (Some(Stage::Sharpening), 10, 15),
            (Some(Stage::Sharpened), 10, 15),
            (Some(Stage::Implementing), 20, 30),
            (Some(Stage::Implemented), 20, 30),
            (Some(Stage::Verifying), 15, 20),
            (Some(odd()), 20, 30),
            (None, 20, 30),
        ];
        for (stage, low, high) in rows {
            let at = |seconds| tier(stage.as_ref(), seconds, None);
            assert_eq!(at(low * 60 - 1), Tier::Healthy, "{stage:?}");
            assert_eq!(at(low * 60), Tier::Warning, "{stage:?}");
            assert_eq!(at(high * 60), Tier::Warning, "{stage:?}");
            assert_eq!(at(high * 60 + 1), Tier::Dead, "{stage:?}");
        }
    }

    #[test]
    fn the_override_has_no_warning_limit() {
        let at = |seconds| tier(Some(&Stage::Claimed), seconds, Some(45));
        assert_eq!(at(45 * 60), Tier::Healthy);
        assert_eq!(at(45 * 60 + 1), Tier::Dead);
    }

    #[test]
    fn a_missing_heartbeat_is_dead_and_a_future_one_healthy() {
        let now: Timestamp = "2026-02-16T15:00:00Z".parse().unwrap();
        for bad in [Heartbeat::Absent, Heartbeat::Unreadable("soon".to_owned())] {
            assert_eq!(judge(None, &bad, None, now).tier, Tier::Dead);
        }
        let ahead = Heartbeat::At(now + SignedDuration::from_hours(2));
        let pulse = judge(None, &ahead, None, now);
        assert_eq!(
            (pulse.tier, pulse.is_from_the_future),
            (Tier::Healthy, true)
        );
    }
}
