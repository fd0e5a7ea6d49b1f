//! Who a process is, so that a recorded one can be told from another that got the same number.
//!
//! A bare pid means nothing after a restart or a wrap of the counter. What is compared is the pid, the
//! time the process started (in clock ticks since boot), the boot, the host and the pid namespace.
//! When any of that cannot be known, the answer is [`Liveness::Unknown`]; it is never guessed, because
//! "gone" makes callers take over the work. This module sends no signals.

use std::fs;
use std::io;

use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};
use serde::{Deserialize, Serialize};

/// One process of one boot of one machine.
///
/// On disk it is a JSON object of these fields, without a version of its own: readers ignore fields
/// they do not know, and a missing optional field only makes the answer more careful.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ProcessIdentity {
    /// The number of the process.
    pub pid: u32,
    /// Clock ticks from boot to its start; absent on systems without `/proc`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_time: Option<u64>,
    /// The boot it ran in; absent on systems without `/proc`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub boot_id: Option<String>,
    /// The pid namespace that the number belongs to, as `pid:[4026531836]`.
    ///
    /// Containers on one machine may share host name and boot, but not their numbers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pid_namespace: Option<String>,
    /// The name of the machine.
    pub host: String,
}

/// Whether a recorded process still runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Liveness {
    /// That very process runs.
    Alive,
    /// It has ended for certain, or is a zombie that nobody has collected.
    Gone,
    /// It cannot be told from here.
    Unknown,
}

impl ProcessIdentity {
    /// Returns the identity of this process.
    pub fn current() -> Self {
        let pid = std::process::id();
        // A `/proc` that was mounted for another pid namespace shows us under another number (or
        // not at all), and then its answers about other numbers are about other processes too.
        let own = read_stat("self")
            .ok()
            .flatten()
            .filter(|stat| stat.pid == pid);
        Self {
            pid,
            start_time: own.map(|stat| stat.start_time),
            boot_id: fs::read_to_string("/proc/sys/kernel/random/boot_id")
                .ok()
                .map(|text| text.trim().to_owned()),
            pid_namespace: fs::read_link("/proc/self/ns/pid")
                .ok()
                .map(|link| link.to_string_lossy().into_owned()),
            host: Self::host(),
        }
    }

    /// Returns the name of this machine.
    pub(crate) fn host() -> String {
        let names = rustix::system::uname();
        names.nodename().to_string_lossy().into_owned()
    }

    /// Returns the identity of a process that runs here now, such as a child just started.
    ///
    /// `None` when it is not running, or when this system cannot say when it started.
    pub fn of(pid: u32) -> Option<Self> {
        let here = Self::current();
        here.start_time?;
        match observe(pid) {
            Observed::Running { start_time } => Some(Self {
                pid,
                start_time: Some(start_time),
                ..here
            }),
            Observed::Ended | Observed::Hidden => None,
        }
    }

    /// Looks whether this process still runs.
    pub fn is_alive(&self) -> Liveness {
        judge(self, &Self::current(), observe)
    }
}

/// The rule, apart from looking at the system.
fn judge(
    recorded: &ProcessIdentity,
    here: &ProcessIdentity,
    observe: impl FnOnce(u32) -> Observed,
) -> Liveness {
    if recorded.host != here.host {
        return Liveness::Unknown;
    }
    match (&recorded.boot_id, &here.boot_id) {
        (Some(then), Some(now)) if then != now => return Liveness::Gone,
        (Some(_), Some(_)) => {}
        (None, _) | (_, None) => return Liveness::Unknown,
    }
    if let (Some(theirs), Some(ours)) = (&recorded.pid_namespace, &here.pid_namespace)
        && theirs != ours
    {
        return Liveness::Unknown;
    }
    if here.start_time.is_none() {
        return Liveness::Unknown;
    }
    match (observe(recorded.pid), recorded.start_time) {
        (Observed::Running { start_time }, Some(then)) if start_time == then => Liveness::Alive,
        // The number is free, or has gone to another process since.
        (Observed::Ended, _) | (Observed::Running { .. }, Some(_)) => Liveness::Gone,
        (Observed::Running { .. }, None) | (Observed::Hidden, _) => Liveness::Unknown,
    }
}

/// What the system shows of a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Observed {
    Running { start_time: u64 },
    Ended,
    Hidden,
}

fn observe(pid: u32) -> Observed {
    match read_stat(&pid.to_string()) {
        Ok(Some(stat)) if matches!(stat.state, b'Z' | b'X' | b'x') => Observed::Ended,
        Ok(Some(stat)) => Observed::Running {
            start_time: stat.start_time,
        },
        Err(error) if is_no_such_process(&error) => {
            // With `hidepid` other users' processes are missing in `/proc` although they run, so the
            // kernel is asked as well: signal 0 reaches nobody, but finds every process.
            let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
            match pid.map(test_kill_process) {
                Some(Err(Errno::SRCH)) => Observed::Ended,
                _ => Observed::Hidden,
            }
        }
        Ok(None) | Err(_) => Observed::Hidden,
    }
}

/// A process that ends between opening and reading its file gives `ESRCH` instead of "not found".
fn is_no_such_process(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::NotFound
        || error.raw_os_error() == Some(Errno::SRCH.raw_os_error())
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stat {
    pid: u32,
    state: u8,
    start_time: u64,
}

fn read_stat(name: &str) -> io::Result<Option<Stat>> {
    Ok(parse_stat(&fs::read(format!("/proc/{name}/stat"))?))
}

/// Reads the fields 1, 3 and 22 of `/proc/PID/stat`.
///
/// Field 2 is the program's name in parentheses, and the name may hold blanks, parentheses, line
/// breaks and bytes that are no UTF-8; the last closing parenthesis of the file ends it.
fn parse_stat(bytes: &[u8]) -> Option<Stat> {
    let open = bytes.iter().position(|&byte| byte == b'(')?;
    let close = bytes.iter().rposition(|&byte| byte == b')')?;
    let pid = std::str::from_utf8(bytes.get(..open)?)
        .ok()?
        .trim()
        .parse()
        .ok()?;
    let rest = std::str::from_utf8(bytes.get(close + 1..)?).ok()?;
    let mut fields = rest.split_ascii_whitespace();
    let state = *fields.next()?.as_bytes().first()?;
    // The state is field 3, so field 22 is the nineteenth after it.
    let start_time = fields.nth(18)?.parse().ok()?;
    Some(Stat {
        pid,
        state,
        start_time,
    })
}

#[cfg(test)]
#[path = "process_tests.rs"]
mod tests;
