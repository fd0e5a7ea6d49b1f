//! When an event of ours happened, and after what: a clock that never runs backwards.
//!
//! The system's clock can be set back. A word that is written later must count later all the same, so
//! every writer of ours stamps an event after all that it has read or written before. Where the clock
//! is behind by little, the stamp itself is moved, which every reader of the log understands. Where it
//! is behind by more than a day, somebody's clock was wrong: the stamp is what the clock says, and
//! `after` says in addition what the event comes after.

use jiff::{SignedDuration, Timestamp};

/// As far as this a stamp is moved ahead of the clock.
const FARTHEST: SignedDuration = SignedDuration::from_hours(24);
/// Stamps have six digits of a second.
const STEP: SignedDuration = SignedDuration::from_micros(1);

/// The time of an event that is about to be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moment {
    /// What the event is stamped with.
    pub stamp: Timestamp,
    /// The time that the event has in the order of events, where the stamp does not tell it.
    pub after: Option<Timestamp>,
}

impl Moment {
    /// Returns the moment of an event that is written now and comes after everything until `latest`.
    pub fn next(now: Timestamp, latest: Option<Timestamp>) -> Self {
        let least = latest.map(|latest| latest.checked_add(STEP).unwrap_or(latest));
        match least {
            Some(least) if least > now => {
                if least.duration_since(now) < FARTHEST {
                    Self {
                        stamp: least,
                        after: None,
                    }
                } else {
                    Self {
                        stamp: now,
                        after: Some(least),
                    }
                }
            }
            Some(_) | None => Self {
                stamp: now,
                after: None,
            },
        }
    }

    /// Returns the time that the event has in the order of events.
    pub fn order(self) -> Timestamp {
        self.after.map_or(self.stamp, |after| after.max(self.stamp))
    }
}

impl From<Timestamp> for Moment {
    fn from(stamp: Timestamp) -> Self {
        Self { stamp, after: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stamp_is_moved_by_little_and_never_by_days() {
        let at = |text: &str| text.parse::<Timestamp>().unwrap();
        let noon = at("2026-01-20T12:00:00Z");
        for (now, stamp, after) in [
            ("2026-01-20T13:00:00Z", "2026-01-20T13:00:00Z", None),
            ("2026-01-20T12:00:00Z", "2026-01-20T12:00:00.000001Z", None),
            ("2026-01-20T03:00:00Z", "2026-01-20T12:00:00.000001Z", None),
            (
                "2026-01-18T12:00:00Z",
                "2026-01-18T12:00:00Z",
                Some("2026-01-20T12:00:00.000001Z"),
            ),
            (
                "1970-01-01T00:00:00Z",
                "1970-01-01T00:00:00Z",
                Some("2026-01-20T12:00:00.000001Z"),
            ),
        ] {
            let moment = Moment::next(at(now), Some(noon));
            let expected = Moment {
                stamp: at(stamp),
                after: after.map(at),
            };
            assert_eq!(moment, expected, "{now}");
            assert!(moment.order() > noon, "{now}");
        }
        assert_eq!(Moment::next(noon, None), Moment::from(noon));
    }
}
