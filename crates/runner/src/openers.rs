//! Finds processes that have a file open, or that a dead process has left, from `/proc`.

use std::path::{Path, PathBuf};

use camino::{Utf8Path, Utf8PathBuf};
use jiff::{SignedDuration, Timestamp};
use rekindle_fs::ProcessIdentity;

use crate::process_tree::{processes, variable};

/// The unit of the times in `/proc/PID/stat`, the same on every Linux that programs see.
const TICKS_A_SECOND: u64 = 100;

/// A process that has a file open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Opener {
    /// Its id.
    pub pid: u32,
    /// Its working folder.
    pub folder: Option<Utf8PathBuf>,
    /// Its start time.
    pub started: Option<Timestamp>,
}

impl Opener {
    /// Returns whether it ran at a time; unknown counts as yes.
    pub fn was_there(&self, at: Option<Timestamp>) -> bool {
        match (self.started, at) {
            (Some(started), Some(at)) => started <= at,
            (None, _) | (_, None) => true,
        }
    }
}

/// Returns the living processes that have a file open, which is named by its real path.
///
/// Processes of other users are not visible.
pub fn openers(file: &Utf8Path) -> Vec<Opener> {
    let pids = alive().filter(|&pid| has_open(pid, file.as_std_path()));
    pids.map(|pid| Opener {
        pid,
        folder: folder(pid),
        started: started(pid),
    })
    .collect()
}

/// Returns the living processes in a folder, or below it, whose environment names, in a variable, a
/// process that has ended.
pub fn abandoned(variable_name: &str, project: &Utf8Path) -> Vec<u32> {
    let has_lost = |&pid: &u32| {
        let owner: Option<u32> = variable(pid, variable_name).and_then(|pid| pid.parse().ok());
        owner.is_some_and(|owner| ProcessIdentity::of(owner).is_none())
    };
    let is_there = |&pid: &u32| folder(pid).is_some_and(|folder| folder.starts_with(project));
    alive().filter(has_lost).filter(is_there).collect()
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
    let told = fs_err::read_to_string("/proc/stat").ok()?;
    let boot = told.lines().find_map(|line| line.strip_prefix("btime "))?;
    let boot = Timestamp::from_second(boot.trim().parse().ok()?).ok()?;
    boot.checked_add(SignedDuration::from_millis(milliseconds))
        .ok()
}

#[cfg(test)]
mod tests {
    use std::io::BufRead as _;
    use std::process::{Command, Stdio};

    use super::*;

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
    fn who_outlives_the_process_that_started_it_is_abandoned() {
        let folder = tempfile::tempdir().unwrap();
        let folder = Utf8PathBuf::try_from(folder.path().canonicalize().unwrap()).unwrap();
        let name = "REKINDLE_TEST_OWNER";
        let mut owner = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
        let mut child = Command::new("cat")
            .env(name, owner.id().to_string())
            .current_dir(&folder)
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        assert_eq!(abandoned(name, &folder), [] as [u32; 0]);
        drop(owner.stdin.take());
        owner.wait().unwrap();
        assert_eq!(abandoned(name, &folder), [child.id()]);
        assert_eq!(abandoned(name, &folder.join("other")), [] as [u32; 0]);
        drop(child.stdin.take());
        child.wait().unwrap();
    }
}
