//! What `/proc` shows of the processes of this machine: who descends from whom, who has a file open,
//! and what was put into whose environment.
//!
//! Of an environment only the variable that is asked for is kept.

use std::path::{Path, PathBuf};

use camino::{Utf8Path, Utf8PathBuf};
use jiff::{SignedDuration, Timestamp};
use rekindle_fs::{Lock, Occupancy, ProcessIdentity};

use crate::{Carrier, Opener, ProcessAnswer, ProcessQuestion};

/// The unit of the times in `/proc/PID/stat`, the same on every Linux that programs see.
const TICKS_A_SECOND: u64 = 100;
/// Numbers are reused while this climbs, so it must end.
const MOST_ANCESTORS: usize = 256;
/// The words of a command line that are kept: they name the program and its subcommand.
const FIRST_WORDS: usize = 3;
/// A command line can be megabytes long.
const LONGEST_WORD: usize = 200;

/// Answers a question of a world.
pub(crate) fn ask(question: &ProcessQuestion) -> ProcessAnswer {
    match question {
        ProcessQuestion::Start { pid } => {
            let process = ProcessIdentity::of(*pid);
            ProcessAnswer::Start(process.and_then(|process| process.start_time))
        }
        ProcessQuestion::Boot => ProcessAnswer::Boot(boot()),
        ProcessQuestion::Locked { file } => {
            ProcessAnswer::Locked(matches!(Lock::probe(file), Ok(Occupancy::Held(_))))
        }
        ProcessQuestion::Openers { file } => ProcessAnswer::Openers(openers(file)),
        ProcessQuestion::Carriers { variable } => ProcessAnswer::Carriers(carriers(variable)),
        ProcessQuestion::Ancestors => ProcessAnswer::Ancestors(ancestors()),
    }
}

/// Returns the living processes that have a file open, which is named by its real path.
///
/// Those of other users cannot be seen.
fn openers(file: &Utf8Path) -> Vec<Opener> {
    let pids = alive().filter(|&pid| has_open(pid, file.as_std_path()));
    pids.map(|pid| Opener {
        pid,
        folder: folder(pid),
        started: started(pid),
        command: command(pid),
    })
    .collect()
}

fn alive() -> impl Iterator<Item = u32> {
    let own = std::process::id();
    let is_alive = move |&(pid, _, state): &(u32, u32, u8)| state != b'Z' && pid != own;
    processes()
        .into_iter()
        .filter(is_alive)
        .map(|(pid, ..)| pid)
}

fn has_open(pid: u32, file: &Path) -> bool {
    let Ok(open) = fs_err::read_dir(format!("/proc/{pid}/fd")) else {
        return false;
    };
    let target = |entry: std::io::Result<fs_err::DirEntry>| -> Option<PathBuf> {
        fs_err::read_link(entry.ok()?.path()).ok()
    };
    open.filter_map(target).any(|target| target == file)
}

fn folder(pid: u32) -> Option<Utf8PathBuf> {
    let folder = fs_err::read_link(format!("/proc/{pid}/cwd")).ok()?;
    Utf8PathBuf::from_path_buf(folder).ok()
}

fn started(pid: u32) -> Option<Timestamp> {
    let ticks = ProcessIdentity::of(pid)?.start_time?;
    let milliseconds = i64::try_from(ticks.checked_mul(1000 / TICKS_A_SECOND)?).ok()?;
    boot()?
        .checked_add(SignedDuration::from_millis(milliseconds))
        .ok()
}

/// Returns when the machine was booted.
fn boot() -> Option<Timestamp> {
    let stat = fs_err::read_to_string("/proc/stat").ok()?;
    let boot = stat.lines().find_map(|line| line.strip_prefix("btime "))?;
    Timestamp::from_second(boot.trim().parse().ok()?).ok()
}

/// Returns the first words of the command line of a process.
fn command(pid: u32) -> Vec<String> {
    let line = fs_err::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let words = line
        .split(|&byte| byte == 0)
        .filter(|word| !word.is_empty());
    let text =
        |word: &[u8]| String::from_utf8_lossy(&word[..word.len().min(LONGEST_WORD)]).into_owned();
    words.take(FIRST_WORDS).map(text).collect()
}

/// Returns the living processes that have a variable in their environment, without ourselves.
fn carriers(name: &str) -> Vec<Carrier> {
    let carrier = |pid| {
        Some(Carrier {
            pid,
            value: variable(pid, name)?,
            folder: folder(pid),
            command: command(pid),
        })
    };
    alive().filter_map(carrier).collect()
}

/// Returns the living processes with a variable in their environment, without ourselves.
pub fn carrying(variable: &str, value: &str) -> Vec<u32> {
    let wanted = format!("{variable}={value}");
    let own = std::process::id();
    processes()
        .into_iter()
        .filter(|&(pid, _, state)| state != b'Z' && pid != own && carries(pid, &wanted))
        .map(|(pid, ..)| pid)
        .collect()
}

/// Returns the processes that this one descends from, the nearest first.
fn ancestors() -> Vec<u32> {
    let parent = |pid: u32| status(pid).map(|(parent, _)| parent);
    let is_one = |&pid: &u32| pid != 0;
    let above = |&pid: &u32| parent(pid).filter(is_one);
    std::iter::successors(parent(std::process::id()).filter(is_one), above)
        .take(MOST_ANCESTORS)
        .collect()
}

/// Returns whether a process has an entry `NAME=value` in its environment.
pub fn carries(pid: u32, wanted: &str) -> bool {
    entries(&environment(pid)).any(|entry| entry == wanted.as_bytes())
}

/// Returns the value of a variable in the environment of a process.
fn variable(pid: u32, name: &str) -> Option<String> {
    let environment = environment(pid);
    let value = |entry: &[u8]| {
        let value = entry.strip_prefix(name.as_bytes())?.strip_prefix(b"=")?;
        Some(String::from_utf8_lossy(value).into_owned())
    };
    entries(&environment).find_map(value)
}

fn environment(pid: u32) -> Vec<u8> {
    fs_err::read(format!("/proc/{pid}/environ")).unwrap_or_default()
}

fn entries(environment: &[u8]) -> impl Iterator<Item = &[u8]> {
    environment.split(|&byte| byte == 0)
}

/// Returns pid, parent and state of every process.
pub fn processes() -> Vec<(u32, u32, u8)> {
    let Ok(entries) = fs_err::read_dir("/proc") else {
        return Vec::new();
    };
    entries
        .filter_map(|entry| {
            let pid: u32 = entry.ok()?.file_name().to_str()?.parse().ok()?;
            let (parent, state) = status(pid)?;
            Some((pid, parent, state))
        })
        .collect()
}

/// Returns the parent of a process and the letter of its state.
fn status(pid: u32) -> Option<(u32, u8)> {
    let stat = fs_err::read(format!("/proc/{pid}/stat")).ok()?;
    // The name stands in parentheses and may hold any character, so the last one ends it.
    let after = stat.iter().rposition(|&byte| byte == b')')? + 2;
    let rest = String::from_utf8_lossy(stat.get(after..)?).into_owned();
    let mut fields = rest.split(' ');
    let state = *fields.next()?.as_bytes().first()?;
    let parent = fields.next()?.parse().ok()?;
    Some((parent, state))
}

#[cfg(test)]
mod tests {
    #![expect(
        clippy::disallowed_methods,
        reason = "a test needs processes of its own to find"
    )]

    use std::io::BufRead as _;
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn ancestors_are_those_that_started_us_up_to_the_first_process() {
        let ancestors = ancestors();
        let parent = std::os::unix::process::parent_id();
        assert_eq!(ancestors.first(), Some(&parent));
        assert!(!ancestors.contains(&std::process::id()));
        for pair in ancestors.windows(2) {
            let told = fs_err::read_to_string(format!("/proc/{}/status", pair[0])).unwrap();
            assert!(
                told.contains(&format!("\nPPid:\t{}\n", pair[1])),
                "{ancestors:?}"
            );
        }
    }

    #[test]
    fn who_has_a_file_open_is_found_with_its_folder_and_its_start() {
        let folder = tempfile::tempdir().unwrap();
        let folder = Utf8PathBuf::try_from(folder.path().canonicalize().unwrap()).unwrap();
        let file = folder.join("it");
        fs_err::write(&file, "").unwrap();
        assert_eq!(openers(&file), []);
        let mut child = Command::new("sh")
            .args(["-c", "exec 5<it; echo ready; read line"])
            .current_dir(&folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let output = child.stdout.take().unwrap();
        std::io::BufReader::new(output)
            .read_line(&mut line)
            .unwrap();
        let found = openers(&file);
        let [opener] = found.as_slice() else {
            panic!("{found:?}");
        };
        assert_eq!(
            (opener.pid, opener.folder.as_ref()),
            (child.id(), Some(&folder))
        );
        // The file is a little older, by a clock that boot and files share to the second.
        let written = fs_err::metadata(&file).unwrap().modified().unwrap();
        let age = opener.started.unwrap() - Timestamp::try_from(written).unwrap();
        assert!(age.get_seconds().abs() < 600, "{opener:?}");
        // Both may have been started within one tick.
        assert!(opener.started >= started(std::process::id()), "{opener:?}");
        drop(child.stdin.take());
        child.wait().unwrap();
        assert_eq!(openers(&file), []);
    }

    #[test]
    fn whose_environment_has_a_variable_is_found_with_its_folder() {
        let folder = tempfile::tempdir().unwrap();
        let folder = Utf8PathBuf::try_from(folder.path().canonicalize().unwrap()).unwrap();
        let name = "REKINDLE_TEST_OWNER";
        let mut child = Command::new("cat")
            .env(name, "4711")
            .current_dir(&folder)
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        let found = carriers(name);
        let [carrier] = found.as_slice() else {
            panic!("{found:?}");
        };
        assert_eq!((carrier.pid, carrier.value.as_str()), (child.id(), "4711"));
        assert_eq!(carrier.folder.as_ref(), Some(&folder));
        assert_eq!(carrier.command, ["cat"]);
        drop(child.stdin.take());
        child.wait().unwrap();
        assert_eq!(carriers(name), []);
    }
}
