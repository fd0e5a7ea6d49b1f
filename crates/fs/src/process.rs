//! Identity of a process, to distinguish it from a later one with the same pid.
//!
//! Pid, start time (in clock ticks since boot), boot, host and pid namespace are compared. When one
//! of them is unknown, the answer is [`Liveness::Unknown`]: "gone" makes callers take over the
//! work. This module sends no signals.

use std::fs;
use std::io;

use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};
use serde::{Deserialize, Serialize};

/// One process of one boot of one machine.
///
/// On disk it is a JSON object without a version: readers ignore unknown fields, and a missing
/// optional field only makes the answer more careful.
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
    /// The pid namespace, as `pid:[4026531836]`: containers may share host name and boot, but not
    /// pids.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pid_namespace: Option<String>,
    /// The name of the machine.
    pub host: String,
}

/// Whether a recorded process still runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Liveness {
    /// The process is running.
    Alive,
    /// It has ended, or is a zombie.
    Gone,
    /// It cannot be determined from here.
    Unknown,
}

impl ProcessIdentity {
    /// Returns the identity of this process.
    pub fn current() -> Self {
        let pid = std::process::id();
        // A `/proc` of another pid namespace shows us under another pid, and so its answers are
        // about other processes.
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

    /// Returns the identity of a running process, such as a new child; `None` if it or its start
    /// time is not visible.
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

    /// Returns whether this process is still running.
    pub fn is_alive(&self) -> Liveness {
        judge(self, &Self::current(), observe)
    }
}

/// The rule, separate from the system calls.
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
        // The pid is free, or belongs to another process now.
        (Observed::Ended, _) | (Observed::Running { .. }, Some(_)) => Liveness::Gone,
        (Observed::Running { .. }, None) | (Observed::Hidden, _) => Liveness::Unknown,
    }
}

/// What the system shows for a pid.
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
        Err(error) if is_missing_process(&error) => {
            // `hidepid` hides other users' processes in `/proc`, so the kernel is asked too: signal
            // 0 reaches nobody but finds every process.
            let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
            match pid.map(test_kill_process) {
                Some(Err(Errno::SRCH)) => Observed::Ended,
                _ => Observed::Hidden,
            }
        }
        Ok(None) | Err(_) => Observed::Hidden,
    }
}

/// A process that ends while its file is read gives `ESRCH` instead of "not found".
fn is_missing_process(error: &io::Error) -> bool {
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
/// Field 2 is the program's name in parentheses and may contain any bytes; the last closing
/// parenthesis ends it.
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
