//! Single keys that a person presses while something is shown.

use std::io::{self, IsTerminal as _, Read as _};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use rekindle_app::Attention;
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};

/// What Ctrl-C and Ctrl-D send where the terminal makes no signal of them.
const CTRL_C: u8 = 3;
const CTRL_D: u8 = 4;

/// Listens to the keyboard while it lives; then the terminal is as it was.
pub(crate) struct Keys {
    before: Option<Termios>,
    /// The keys that mean that the person leaves.
    leaving: Receiver<()>,
}

impl Keys {
    /// Listens, if a person sits at a terminal.
    pub(crate) fn listen() -> Self {
        let (sender, leaving) = channel();
        let is_watched = io::stdin().is_terminal() && io::stderr().is_terminal();
        let before = is_watched.then(by_key).flatten();
        if before.is_some() {
            // It waits for a key until the process ends.
            thread::spawn(move || {
                let keys = io::stdin().lock().bytes();
                let is_leaving = |key: &u8| matches!(*key, b'q' | b'Q' | CTRL_C | CTRL_D);
                if keys.map_while(Result::ok).any(|key| is_leaving(&key)) {
                    sender.send(()).ok();
                }
            });
        }
        Self { before, leaving }
    }

    /// Waits for so long, or until the person leaves.
    pub(crate) fn wait(&self, time: Duration) -> Attention {
        match self.leaving.recv_timeout(time) {
            Ok(()) => Attention::Leaves,
            Err(RecvTimeoutError::Timeout) => Attention::Stays,
            Err(RecvTimeoutError::Disconnected) => {
                // Nobody types anything.
                thread::sleep(time);
                Attention::Stays
            }
        }
    }
}

impl Drop for Keys {
    fn drop(&mut self) {
        if let Some(before) = &self.before {
            tcsetattr(io::stdin(), OptionalActions::Now, before).ok();
        }
    }
}

/// Has the terminal pass on each key at once, and returns how it was.
fn by_key() -> Option<Termios> {
    let before = tcgetattr(io::stdin()).ok()?;
    let mut by_key = before.clone();
    by_key
        .local_modes
        .remove(LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG);
    tcsetattr(io::stdin(), OptionalActions::Now, &by_key).ok()?;
    Some(before)
}
