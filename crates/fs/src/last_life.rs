//! When the last holder of a lock was seen alive, and how it went.
//!
//! A process that works for long stamps its lock's text. The next holder finds the stamp, also past holders in
//! between that never stamp, such as a command that only records an event.

use serde::{Deserialize, Serialize};

use crate::ProcessIdentity;

/// The last life that was stamped in a lock file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LastLife {
    /// Its last sign of life, as RFC 3339.
    pub seen: String,
    /// How it ended.
    pub departure: Departure,
}

/// How a holder went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Departure {
    /// It released the lock.
    Released,
    /// It was killed, or the machine died.
    Died,
    /// It was gone when the machine was restarted.
    Restarted,
}

/// A life as it is written down; unknown fields are ignored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Life {
    seen: String,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    released: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    process: Option<ProcessIdentity>,
}

impl Life {
    /// Returns the life of a holder that releases its lock now.
    pub(crate) fn released(seen: String) -> Self {
        Self {
            seen,
            released: true,
            process: None,
        }
    }

    /// Returns the life that a lock's text tells of: its holder's, or the one before it.
    pub(crate) fn read(text: &[u8]) -> Option<Self> {
        #[derive(Deserialize)]
        struct Text {
            seen: Option<String>,
            process: Option<ProcessIdentity>,
            last: Option<Life>,
        }
        let text: Text = serde_json::from_slice(text).ok()?;
        match text.seen {
            Some(seen) => Some(Self {
                seen,
                released: false,
                process: text.process,
            }),
            None => text.last,
        }
    }

    /// Returns how it ended, as seen from here.
    pub(crate) fn judge(&self) -> LastLife {
        let here = ProcessIdentity::current();
        LastLife {
            seen: self.seen.clone(),
            departure: self.departure(&here),
        }
    }

    fn departure(&self, here: &ProcessIdentity) -> Departure {
        let process = self.process.as_ref();
        let boot = process
            .filter(|process| process.host == here.host)
            .and_then(|process| process.boot_id.as_ref());
        match (self.released, boot, &here.boot_id) {
            (true, _, _) => Departure::Released,
            (false, Some(then), Some(now)) if then != now => Departure::Restarted,
            (false, _, _) => Departure::Died,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn life(boot: Option<&str>, host: &str) -> Life {
        Life {
            seen: "2026-01-20T12:00:00Z".to_owned(),
            released: false,
            process: Some(ProcessIdentity {
                boot_id: boot.map(str::to_owned),
                host: host.to_owned(),
                ..ProcessIdentity::current()
            }),
        }
    }

    #[test]
    fn another_boot_of_the_same_machine_is_a_restart_and_nothing_else_is() {
        let here = ProcessIdentity {
            boot_id: Some("b".to_owned()),
            host: "h".to_owned(),
            ..ProcessIdentity::current()
        };
        for (boot, host, expect) in [
            (Some("a"), "h", Departure::Restarted),
            (Some("b"), "h", Departure::Died),
            (Some("a"), "other", Departure::Died),
            (None, "h", Departure::Died),
        ] {
            assert_eq!(life(boot, host).departure(&here), expect, "{boot:?} {host}");
        }
        let released = Life::released("t".to_owned());
        assert_eq!(released.departure(&here), Departure::Released);
    }

    #[test]
    fn a_text_that_is_not_ours_tells_of_no_life() {
        for text in [
            "",
            "{}",
            "[]",
            "{\"seen\":1}",
            "{\"v\":1,\"seen\":\"x",
            "\0",
        ] {
            assert_eq!(Life::read(text.as_bytes()), None, "{text:?}");
        }
    }
}
