//! Interruption by a person.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use crate::Error;

/// How often a wait checks for an interruption.
pub(crate) const TICK: Duration = Duration::from_millis(5);

/// Whether a person wants to stop; not by default.
#[derive(Debug, Clone, Default)]
pub struct Interruption(Arc<AtomicBool>);

impl Interruption {
    /// Listens to Ctrl-C, `kill` and the end of the terminal; the second signal ends the process at
    /// once.
    pub fn heed() -> Result<Self, Error> {
        let wanted = Arc::<AtomicBool>::default();
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            // In this order: an earlier signal decides.
            signal_hook::flag::register_conditional_default(signal, Arc::clone(&wanted))
                .and_then(|_| signal_hook::flag::register(signal, Arc::clone(&wanted)))
                .map_err(Error::system("listen to signals"))?;
        }
        Ok(Self(wanted))
    }

    /// Returns whether to stop.
    pub(crate) fn is_wanted(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Returns an error if it was interrupted.
    pub(crate) fn check(&self) -> Result<(), Error> {
        if self.is_wanted() {
            return Err(Error::Interrupted);
        }
        Ok(())
    }

    /// Waits for a time or an interruption.
    pub(crate) fn pause(&self, time: Duration) {
        let started = Instant::now();
        while !self.is_wanted() && started.elapsed() < time {
            std::thread::sleep(TICK);
        }
    }
}
