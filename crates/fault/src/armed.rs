//! Crash points of builds for tests, controlled by the environment.

#![expect(
    clippy::disallowed_methods,
    reason = "a build for tests only, controlled by its environment"
)]

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::sync::{LazyLock, Mutex, PoisonError};

/// The numbers of the two errors are the same on every system that rekindle runs on.
const EIO: i32 = 5;
const ENOSPC: i32 = 28;

static ORDERS: LazyLock<Orders> = LazyLock::new(Orders::read);
static PASSED: Mutex<BTreeMap<String, u32>> = Mutex::new(BTreeMap::new());

/// Passes a crash point without a change.
pub fn point(name: &str) {
    let nth = pass(name, ' ');
    if ORDERS.is_death(name, nth) && ORDERS.strikes() {
        std::process::abort();
    }
}

/// Passes a crash point before a change that needs no room on the disk.
pub fn change(name: &str) -> io::Result<()> {
    point(name);
    ORDERS.fails(pass_change(), Room::NotNeeded)
}

/// Passes a crash point before a change that may need room on the disk.
pub fn growth(name: &str) -> io::Result<()> {
    point(name);
    ORDERS.fails(pass_change(), Room::Needed)
}

/// Writes bytes; at the crash point `NAME-half`, and on a full disk, only half of them.
pub fn write<T>(
    name: &str,
    bytes: &[u8],
    write: impl FnOnce(&[u8]) -> io::Result<T>,
) -> io::Result<T> {
    point(name);
    let half = &bytes[..bytes.len() / 2];
    if let Err(error) = ORDERS.fails(pass_change(), Room::Needed) {
        if error.raw_os_error() == Some(ENOSPC) && !half.is_empty() {
            write(half)?;
        }
        return Err(error);
    }
    let name = format!("{name}-half");
    let nth = pass(&name, ' ');
    if ORDERS.is_death(&name, nth) && ORDERS.strikes() {
        write(half)?;
        std::process::abort();
    }
    write(bytes)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Room {
    Needed,
    NotNeeded,
}

/// The orders in the environment.
struct Orders {
    /// The first word on the command line.
    command: String,
    death: Option<Target>,
    failure: Option<Target>,
    notes: Option<PathBuf>,
}

/// A crash point and the number of its passing.
struct Target {
    name: String,
    nth: u32,
}

impl Orders {
    fn read() -> Self {
        let command = std::env::args().nth(1).unwrap_or_default();
        let target = |variable: &str| {
            let text = std::env::var(variable).ok()?;
            let name = match text.split_once('/') {
                Some((meant, name)) if meant == command => name,
                Some(_) => return None,
                None => text.as_str(),
            };
            let (name, nth) = name.split_once(':').unwrap_or((name, "1"));
            let nth = nth.parse().unwrap_or(1);
            Some(Target {
                name: name.to_owned(),
                nth,
            })
        };
        Self {
            death: target("REKINDLE_CRASH_AT"),
            failure: target("REKINDLE_FAIL_AT"),
            notes: std::env::var_os("REKINDLE_POINTS").map(PathBuf::from),
            command,
        }
    }

    fn is_death(&self, name: &str, nth: u32) -> bool {
        let death = self.death.as_ref();
        death.is_some_and(|death| death.name == name && death.nth == nth)
    }

    fn fails(&self, nth: u32, room: Room) -> io::Result<()> {
        let Some(failure) = &self.failure else {
            return Ok(());
        };
        let errno = match failure.name.as_str() {
            "eio" if failure.nth == nth && self.strikes() => EIO,
            "enospc" if room == Room::Needed && self.is_full(failure, nth) => ENOSPC,
            _ => return Ok(()),
        };
        Err(io::Error::from_raw_os_error(errno))
    }

    /// Returns whether the disk is full: from the ordered change on, for every process.
    fn is_full(&self, failure: &Target, nth: u32) -> bool {
        let is_reached = nth >= failure.nth;
        match self.struck() {
            None => is_reached,
            Some(struck) => struck.exists() || (is_reached && self.strikes()),
        }
    }

    /// Returns whether the order happens now: with notes, only once in all processes.
    fn strikes(&self) -> bool {
        self.struck().is_none_or(|struck| {
            let mut options = OpenOptions::new();
            options.write(true).create_new(true).open(struck).is_ok()
        })
    }

    fn struck(&self) -> Option<PathBuf> {
        Some(self.notes.as_ref()?.with_extension("struck"))
    }
}

/// Counts the passing of a crash point; returns its number in this process.
fn pass(name: &str, mark: char) -> u32 {
    let mut passed = PASSED.lock().unwrap_or_else(PoisonError::into_inner);
    let nth = passed.entry(name.to_owned()).or_default();
    *nth += 1;
    if let Some(notes) = &ORDERS.notes {
        let line = format!("{}{mark}{}/{name}\n", std::process::id(), ORDERS.command);
        let opened = OpenOptions::new().append(true).create(true).open(notes);
        // A failed write shows as a crash point that was never passed.
        opened
            .and_then(|mut notes| notes.write_all(line.as_bytes()))
            .ok();
    }
    *nth
}

/// Counts a change of any name.
fn pass_change() -> u32 {
    pass("change", '=')
}
