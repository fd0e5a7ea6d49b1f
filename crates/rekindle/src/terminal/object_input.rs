//! A JSON object on standard input, from whoever may never close it.

use std::io::{self, IsTerminal as _, Read as _};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

/// How long whoever tells us something may be silent in the middle of it.
const PATIENCE: Duration = Duration::from_secs(2);
/// How long a pipe is listened to after all was told; whoever closes it does so at once.
const AFTERTHOUGHT: Duration = Duration::from_millis(50);
/// How long somebody may go on telling.
const LONGEST_TELLING: Duration = Duration::from_secs(10);

/// Reads a JSON object on standard input: to its end, or until nothing more comes.
///
/// `None` when it is longer than this; nothing where a person types. A pipe that is never closed
/// is no reason to wait for ever.
pub(crate) fn input(most: usize) -> Option<Vec<u8>> {
    if io::stdin().is_terminal() {
        return Some(Vec::new());
    }
    let (sender, pieces) = sync_channel(4);
    let over = sender.clone();
    // What both wait for may never come; they end with the process.
    thread::spawn(move || listen(&sender));
    thread::spawn(move || {
        thread::sleep(LONGEST_TELLING);
        over.send(None).ok();
    });
    let mut bytes = Vec::new();
    let mut is_too_long = false;
    let mut patience = PATIENCE;
    while let Ok(Some(piece)) = pieces.recv_timeout(patience) {
        // What is too long is read all the same: whoever writes must not find a closed pipe.
        is_too_long |= bytes.len() + piece.len() > most;
        if !is_too_long {
            bytes.extend_from_slice(&piece);
            patience = if is_object(&bytes) {
                AFTERTHOUGHT
            } else {
                PATIENCE
            };
        }
    }
    (!is_too_long).then_some(bytes)
}

/// Passes on what comes on standard input, and nothing at its end.
fn listen(sender: &SyncSender<Option<Vec<u8>>>) {
    let mut input = io::stdin().lock();
    let mut room = vec![0; 64 * 1024];
    loop {
        let piece = match input.read(&mut room) {
            Ok(0) => None,
            Ok(len) => room.get(..len).map(<[u8]>::to_vec),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(_) => None,
        };
        let is_end = piece.is_none();
        if sender.send(piece).is_err() || is_end {
            return;
        }
    }
}

/// Returns whether all of an object is there.
fn is_object(bytes: &[u8]) -> bool {
    bytes.trim_ascii_end().ends_with(b"}")
        && serde_json::from_slice::<serde::de::IgnoredAny>(bytes).is_ok()
}
