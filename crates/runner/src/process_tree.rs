//! Ends all processes of an attempt, including those that try to escape.
//!
//! An agent is a tree of processes (`npx` starts `node` starts a shell starts a
//! build), and any of them may leave its group or session. Every process of an
//! attempt has the attempt's token in its environment, and what outlives its
//! parent becomes a child of the worker, which is a subreaper. So the processes
//! are found by token and by descent, and ended with TERM, a delay, and KILL.

use std::collections::BTreeSet;
use std::time::Duration;

use camino::Utf8Path;
use rekindle_world::{carries, processes};
use rustix::process::{Pid, Signal};

/// How often the processes are checked.
const PAUSE: Duration = Duration::from_millis(20);
/// How long to wait for killed processes; one that is stuck in the kernel is not waited for longer.
const LAST_WAIT: Duration = Duration::from_secs(5);

/// Whether the worker of an order is running, even if it has no claim yet.
pub(crate) fn has_worker(order_file: &Utf8Path) -> bool {
    let mut processes = processes().into_iter();
    processes.any(|(pid, ..)| is_worker(pid, order_file))
}

/// Returns whether a process was started as the worker of an order.
pub(crate) fn is_worker(pid: u32, order_file: &Utf8Path) -> bool {
    let wanted = [b"worker".as_slice(), order_file.as_str().as_bytes()];
    fs_err::read(format!("/proc/{pid}/cmdline")).is_ok_and(|line| {
        let words: Vec<&[u8]> = line.split(|&byte| byte == 0).collect();
        words.windows(2).any(|pair| pair == wanted)
    })
}

/// Ends every process that carries the token and every descendant of `root`, but not `root` itself.
///
/// Returns how many there were.
pub(crate) fn end(token: &str, root: Option<u32>, grace: Duration) -> usize {
    let found = members(token, root);
    if found.is_empty() {
        return 0;
    }
    let mut asked = BTreeSet::new();
    wait(token, root, grace, &mut |left| {
        // One that was just being started is signaled too, or it would use up the whole delay.
        let new = left.difference(&asked).copied().collect();
        signal(&new, Signal::TERM);
        // A stopped process reacts to a TERM only when it runs again.
        signal(&new, Signal::CONT);
        asked.extend(new);
    });
    loop {
        let left = members(token, root);
        if left.is_empty() {
            break;
        }
        signal(&left, Signal::KILL);
        if !wait(token, root, LAST_WAIT, &mut |_| {}) && members(token, root) == left {
            break;
        }
    }
    found.len()
}

/// Waits until all have ended, and reports the rest at each check. Returns false if the time is over before.
fn wait(
    token: &str,
    root: Option<u32>,
    limit: Duration,
    each_look: &mut dyn FnMut(&BTreeSet<u32>),
) -> bool {
    let mut waited = Duration::ZERO;
    loop {
        let left = members(token, root);
        if left.is_empty() {
            return true;
        }
        each_look(&left);
        if waited >= limit {
            return false;
        }
        std::thread::sleep(PAUSE);
        waited += PAUSE;
    }
}

fn signal(pids: &BTreeSet<u32>, signal: Signal) {
    for &pid in pids {
        let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
        if let Some(pid) = pid {
            // It may have ended by itself.
            rustix::process::kill_process(pid, signal).ok();
        }
    }
}

/// Returns the living processes that carry the token or descend from `root`, without ourselves.
fn members(token: &str, root: Option<u32>) -> BTreeSet<u32> {
    let own = std::process::id();
    let wanted = format!("REKINDLE_TOKEN={token}");
    let mut children: Vec<(u32, u32)> = Vec::new();
    let mut found = BTreeSet::new();
    for (pid, parent, state) in processes() {
        // A zombie is dead; only its parent has not noticed yet.
        if state == b'Z' || pid == own {
            continue;
        }
        children.push((parent, pid));
        if carries(pid, &wanted) {
            found.insert(pid);
        }
    }
    if let Some(root) = root {
        let mut open = vec![root];
        while let Some(parent) = open.pop() {
            for &(_, pid) in children.iter().filter(|(of, _)| *of == parent) {
                if pid != root && found.insert(pid) | !open.contains(&pid) && pid != parent {
                    open.push(pid);
                }
            }
            children.retain(|(of, _)| *of != parent);
        }
        found.remove(&root);
    }
    found
}

#[cfg(test)]
mod tests {
    use std::io::BufRead as _;
    use std::process::{Command, Stdio};

    use super::*;

    /// Starts a shell that prints its pid, and waits for that.
    fn shell(token: &str, script: &str) -> std::process::Child {
        let mut child = Command::new("sh")
            .args(["-c", script])
            .env("REKINDLE_TOKEN", token)
            .stdout(Stdio::piped())
            .stdin(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        std::io::BufReader::new(child.stdout.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        assert_eq!(line, "ready\n");
        child
    }

    #[test]
    fn a_grandchild_that_ignores_term_in_a_session_of_its_own_is_ended() {
        let token = format!("tree-{}", std::process::id());
        let mut child = shell(
            &token,
            "setsid sh -c 'trap \"\" TERM; echo ready; while :; do sleep 100; done' & trap '' TERM; wait; wait",
        );
        assert!(end(&token, None, Duration::from_millis(50)) >= 2);
        child.wait().unwrap();
        assert_eq!(members(&token, None), BTreeSet::new());
    }

    #[test]
    fn others_are_left_alone() {
        let token = format!("spare-{}", std::process::id());
        let mut child = shell(&token, "echo ready; exec sleep 100");
        assert_eq!(end(&format!("{token}-other"), None, Duration::ZERO), 0);
        assert_eq!(child.try_wait().unwrap(), None);
        assert_eq!(end(&token, None, Duration::from_secs(5)), 1);
        child.wait().unwrap();
    }
}
