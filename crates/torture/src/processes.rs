//! The processes of a scene, and killing them.

use std::fmt;
use std::time::Duration;

use camino::Utf8Path;
use rustix::process::{Pid, Signal, kill_process};

/// The variable that every process of a scene inherits.
pub(crate) const MARK: &str = "REKINDLE_TORTURE";

/// How often [`end`] looks before it gives up.
const MOST_LOOKS: usize = 200;

/// How much of a command line is shown.
const MOST_SHOWN: usize = 120;

/// The role of a process in a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    Orchestrator,
    Worker,
    Agent,
    /// A git, or a process that an agent has started.
    Other,
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Orchestrator => "orchestrator",
            Self::Worker => "worker",
            Self::Agent => "agent",
            Self::Other => "process",
        })
    }
}

/// A living process of a scene.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Process {
    pub(crate) pid: Pid,
    pub(crate) role: Role,
}

/// Returns every living process that has inherited a mark.
pub(crate) fn living(mark: &str) -> Vec<Process> {
    let wanted = format!("{MARK}={mark}");
    let Ok(entries) = std::fs::read_dir("/proc") else {
        return Vec::new();
    };
    let pids = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<i32>().ok());
    pids.filter_map(|pid| {
        let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        let mut variables = environment.split(|&byte| byte == 0);
        if !variables.any(|variable| variable == wanted.as_bytes()) {
            return None;
        }
        let words = command_line(pid);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        // A zombie has no command line.
        let role = role(&words)?;
        Some(Process {
            pid: Pid::from_raw(pid)?,
            role,
        })
    })
    .collect()
}

/// Returns the command line of a process; empty if it has ended.
fn command_line(pid: i32) -> Vec<String> {
    let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let line = String::from_utf8_lossy(&line);
    let words = line.split('\0').filter(|word| !word.is_empty());
    words.map(str::to_owned).collect()
}

/// Describes every living process that has inherited a mark.
pub(crate) fn described(mark: &str) -> String {
    let living = living(mark);
    if living.is_empty() {
        return "no processes".to_owned();
    }
    let described = living.iter().map(|process| {
        let words = command_line(process.pid.as_raw_nonzero().get()).join(" ");
        let words: String = words.chars().take(MOST_SHOWN).collect();
        format!(
            "{} {} `{words}`",
            process.role,
            process.pid.as_raw_nonzero()
        )
    });
    described.collect::<Vec<String>>().join(", ")
}

fn role(words: &[&str]) -> Option<Role> {
    let program = Utf8Path::new(words.first()?)
        .file_name()
        .unwrap_or_default();
    let is_rekindle = program.starts_with("rekindle");
    Some(match words.get(1) {
        Some(&"worker") if is_rekindle => Role::Worker,
        Some(&("run" | "resume")) if is_rekindle => Role::Orchestrator,
        _ if words.iter().any(|word| word.ends_with(crate::agent::FILE)) => Role::Agent,
        _ => Role::Other,
    })
}

/// Sends a signal; returns whether the process was still alive.
pub(crate) fn send(process: Process, signal: Signal) -> bool {
    kill_process(process.pid, signal).is_ok()
}

/// Kills every process that has inherited a mark, and whatever these have started meanwhile.
pub(crate) fn end(mark: &str) {
    // A process that is just being started may be missed by the first check.
    let mut n_empty = 0;
    for _ in 0..MOST_LOOKS {
        let left = living(mark);
        n_empty = if left.is_empty() { n_empty + 1 } else { 0 };
        if n_empty == 2 {
            return;
        }
        for process in left {
            send(process, Signal::KILL);
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_role_is_recognized_by_the_command_line() {
        let cases: [(&[&str], Option<Role>); 7] = [
            (
                &["/x/rekindle", "run", "plan.json"],
                Some(Role::Orchestrator),
            ),
            (
                &["/x/rekindle", "resume", "--yes"],
                Some(Role::Orchestrator),
            ),
            (&["/x/rekindle", "worker", "/o.json"], Some(Role::Worker)),
            (&["/bin/sh", "-c", "/s/agent.sh"], Some(Role::Agent)),
            (&["/bin/sh", "/s/agent.sh"], Some(Role::Agent)),
            (&["git", "status"], Some(Role::Other)),
            (&[], None),
        ];
        for (words, expected) in cases {
            assert_eq!(role(words), expected, "{words:?}");
        }
    }
}
