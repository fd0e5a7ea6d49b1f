//! Temporary files and folders, and the removal of those that a crash left.
//!
//! The name says who writes it: `.rekindle-tmp-<machine>-<boot>-<pid>-<start>-<random>`, where
//! machine and boot are short hashes. Unfinished folders start with `.rekindle-new-`, those in a
//! temporary folder with `rekindle-tmp-`. Only a name whose writer has certainly ended is removed;
//! a name of another machine, another container or an unknown form stays. Age does not matter,
//! since a slow writer is not a dead one.

use std::ffi::OsString;
use std::fs;
use std::io::{self, Seek as _};
use std::path::Path;
use std::sync::Once;
use std::sync::atomic::{AtomicU32, Ordering};

use camino::{Utf8Path, Utf8PathBuf};
use tempfile::{NamedTempFile, TempDir};

use crate::fingerprint::short_hash;
use crate::folder::{ensure_dir, parent};
use crate::process::{Liveness, ProcessIdentity};
use crate::{Error, disk, sole};

/// The prefix of temporary files.
pub(crate) const PREFIX: &str = ".rekindle-tmp-";
/// The prefix of unfinished folders.
const DRAFT: &str = ".rekindle-new-";
/// The prefix of folders that only one process uses.
const SCRATCH: &str = "rekindle-tmp-";

/// Opens a file for the output of a program, creating missing folders; an existing file is
/// continued, unless it is a link or has a second name. Nothing is synced.
pub fn create_output(path: &Utf8Path) -> Result<fs::File, Error> {
    ensure_dir(parent(path))?;
    let mut options = fs::OpenOptions::new();
    options.create(true).append(true);
    sole::open_to_write(&mut options, path, disk::open)
}

/// Returns a file without a name that contains `bytes`, positioned at its start.
///
/// Used as standard input, since a pipe would make the writer wait for a program that does not
/// read.
pub fn scratch(bytes: &[u8]) -> io::Result<fs::File> {
    let mut file = disk::make_nameless()?;
    disk::write_all(&file, bytes)?;
    file.rewind()?;
    Ok(file)
}

/// Creates a private folder in a temporary folder; dropping it removes it. The first call of a
/// process also removes those of killed processes.
pub fn temporary_folder(above: &Path) -> io::Result<TempDir> {
    static SWEPT: Once = Once::new();
    SWEPT.call_once(|| sweep_scratch(above));
    disk::make_temporary_folder(above, &signed(SCRATCH))
}

fn sweep_scratch(above: &Path) {
    sweep_folders(above, |name, _| is_orphan(name, SCRATCH));
}

/// Removes our own folders that a predicate on name and path selects. A failure is ignored: a later
/// call or a person removes the rest.
fn sweep_folders(above: &Path, is_left: impl Fn(&str, &Path) -> bool) {
    use std::os::unix::fs::MetadataExt as _;
    let Ok(entries) = fs::read_dir(above) else {
        return;
    };
    let is_ours =
        |found: fs::Metadata| found.is_dir() && found.uid() == rustix::process::geteuid().as_raw();
    for entry in entries.flatten() {
        let path = entry.path();
        if let Some(name) = entry.file_name().to_str()
            && is_left(name, &path)
            && path.symlink_metadata().is_ok_and(is_ours)
        {
            disk::remove_all(&path).ok();
        }
    }
}

/// Marks a folder as unfinished by a file in it; dropping it removes the file. See
/// [`sweep_unfinished`].
#[derive(Debug)]
pub struct Unfinished {
    _mark: NamedTempFile,
}

impl Unfinished {
    /// Marks a folder.
    pub fn mark(folder: &Utf8Path) -> io::Result<Self> {
        let mark = create_in(folder, 0o600)?;
        Ok(Self { _mark: mark })
    }
}

/// Removes the folders with this prefix that a killed process left [`Unfinished`].
pub fn sweep_unfinished(above: &Path, prefix: &str) {
    sweep_folders(above, |name, path| {
        name.starts_with(prefix) && is_left_unfinished(path)
    });
}

fn is_left_unfinished(folder: &Path) -> bool {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    names.any(|name| is_orphan(&name, PREFIX))
}

/// Creates a temporary file of this mode (less the umask) in the folder; dropping it removes it.
pub(crate) fn create_in(folder: &Utf8Path, mode: u32) -> io::Result<NamedTempFile> {
    disk::make_temporary(folder.as_std_path(), &signed(PREFIX), mode)
}

/// Returns the path under which this process prepares a folder; [`sweep_drafts`] removes leftovers.
pub fn draft_beside(folder: &Utf8Path) -> Utf8PathBuf {
    parent(folder).join(draft_of(folder.file_name().unwrap_or_default()))
}

fn draft_of(name: &str) -> String {
    format!("{}{}", signed(DRAFT), short_hash(&[name.as_bytes()], 8))
}

/// Returns a name that this process has not used yet.
pub(crate) fn free_name() -> OsString {
    static USED: AtomicU32 = AtomicU32::new(0);
    let number = USED.fetch_add(1, Ordering::Relaxed);
    format!("{}{number:06}", signed(PREFIX)).into()
}

/// Returns the start of a name that identifies its writer.
fn signed(prefix: &str) -> String {
    let here = ProcessIdentity::current();
    let [machine, boot] = origin(&here);
    // Without a start time nobody could know whether we are alive; `x` is never removed.
    let start = here
        .start_time
        .map_or_else(|| "x".to_owned(), |ticks| ticks.to_string());
    format!("{prefix}{machine}-{boot}-{}-{start}-", here.pid)
}

/// Removes the folders of [`draft_beside`] that killed processes left here.
pub fn sweep_drafts(folder: &Utf8Path) {
    sweep_folders(folder.as_std_path(), |name, _| is_orphan(name, DRAFT));
}

/// Removes a draft.
pub(crate) fn remove_draft(draft: &Utf8Path) {
    disk::remove_all(draft.as_std_path()).ok();
}

/// Returns whether the writer of a name has certainly ended.
fn is_orphan(name: &str, prefix: &str) -> bool {
    // The own identity is asked of the system, which is too slow for every name in a folder.
    name.starts_with(prefix)
        && writer(name, prefix, &ProcessIdentity::current())
            .is_some_and(|writer| writer.is_alive() == Liveness::Gone)
}

/// Removes the temporary files and links in this folder whose writers are gone. A failure is
/// ignored.
pub(crate) fn sweep(folder: impl AsRef<Path>) {
    let Ok(entries) = fs::read_dir(folder.as_ref()) else {
        return;
    };
    for entry in entries.flatten() {
        if let Some(name) = entry.file_name().to_str()
            && entry
                .file_type()
                .is_ok_and(|kind| kind.is_file() || kind.is_symlink())
            && is_orphan(name, PREFIX)
        {
            disk::remove_file(&entry.path()).ok();
        }
    }
}

/// Parses the writer out of a name, if it ran on this machine.
fn writer(name: &str, prefix: &str, here: &ProcessIdentity) -> Option<ProcessIdentity> {
    let parts: Vec<&str> = name.strip_prefix(prefix)?.split('-').collect();
    let [machine, boot, pid, start, _random] = parts.as_slice() else {
        return None;
    };
    let [our_machine, our_boot] = origin(here);
    if *machine != our_machine {
        return None;
    }
    let boot_id = if *boot == our_boot {
        here.boot_id.clone()
    } else {
        Some((*boot).to_owned())
    };
    Some(ProcessIdentity {
        pid: pid.parse().ok()?,
        start_time: Some(start.parse().ok()?),
        boot_id,
        ..here.clone()
    })
}

/// Returns short hashes of the machine (with the pid namespace) and of the boot.
fn origin(here: &ProcessIdentity) -> [String; 2] {
    let short = |text: &str| short_hash(&[text.as_bytes()], 8);
    let namespace = here.pid_namespace.as_deref().unwrap_or_default();
    [
        short(&format!("{}\0{namespace}", here.host)),
        short(here.boot_id.as_deref().unwrap_or_default()),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::tests::folder;

    /// Returns the name that a process which has ended would use.
    #[cfg(target_os = "linux")]
    fn of_ended_process(prefix: &str, end: &str) -> String {
        let here = ProcessIdentity::current();
        let [machine, boot] = origin(&here);
        let start = here.start_time.unwrap() + 1;
        format!("{prefix}{machine}-{boot}-{}-{start}-{end}", here.pid)
    }

    #[test]
    fn a_name_identifies_its_writer() {
        let (_folder, path) = folder();
        let file = create_in(&path, 0o600).unwrap();
        let name = file.path().file_name().unwrap().to_str().unwrap();
        let here = ProcessIdentity::current();
        assert_eq!(writer(name, PREFIX, &here), Some(here.clone()));
        let elsewhere = ProcessIdentity {
            host: "elsewhere".into(),
            ..here
        };
        assert_eq!(writer(name, PREFIX, &elsewhere), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn only_files_of_ended_writers_are_swept() {
        let (_folder, path) = folder();
        let here = ProcessIdentity::current();
        let [machine, boot] = origin(&here);
        let (pid, start) = (here.pid, here.start_time.unwrap());
        let ended = [
            of_ended_process(PREFIX, "aaaaaa"),
            format!("{PREFIX}{machine}-{boot}-1073741824-{start}-aaaaaa"),
            format!("{PREFIX}{machine}-00000000-{pid}-{start}-aaaaaa"),
        ];
        let kept = [
            format!("{PREFIX}{machine}-{boot}-{pid}-{start}-aaaaaa"),
            format!("{PREFIX}00000000-{boot}-{pid}-{}-aaaaaa", start + 1),
            format!("{PREFIX}{machine}-{boot}-{pid}-x-aaaaaa"),
            format!("{PREFIX}notes-of-a-person"),
            of_ended_process(PREFIX, "a-b"),
            "ordinary".to_owned(),
        ];
        for name in ended.iter().chain(&kept) {
            fs::File::create(path.join(name)).unwrap();
        }
        let folder_like_ended = of_ended_process(PREFIX, "bbbbbb");
        fs::create_dir(path.join(&folder_like_ended)).unwrap();

        sweep(&path);

        let entries = path.read_dir_utf8().unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().to_owned());
        let mut left: Vec<String> = names.collect();
        left.sort();
        let mut expected = kept.to_vec();
        expected.push(folder_like_ended);
        expected.sort();
        assert_eq!(left, expected);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn only_drafts_of_ended_makers_are_swept() {
        let (_folder, path) = folder();
        let ended = of_ended_process(DRAFT, "0a0a0a0a");
        let kept = [draft_of("run"), format!("{DRAFT}123-run"), "run".to_owned()];
        for name in kept.iter().chain([&ended]) {
            fs::create_dir_all(path.join(name).join("events")).unwrap();
            fs::File::create(path.join(name).join("events/log")).unwrap();
        }
        let file = of_ended_process(DRAFT, "0b0b0b0b");
        fs::File::create(path.join(&file)).unwrap();
        sweep_drafts(&path);
        assert!(!path.join(&ended).exists());
        assert!(path.join(&file).exists());
        for name in &kept {
            assert!(path.join(name).join("events/log").exists(), "{name}");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn only_scratch_folders_of_ended_makers_are_swept() {
        let (_folder, path) = folder();
        let ended = of_ended_process(SCRATCH, "aaaaaa");
        let linked = of_ended_process(SCRATCH, "bbbbbb");
        let living = temporary_folder(path.as_std_path()).unwrap();
        fs::create_dir_all(path.join("mine/deep")).unwrap();
        fs::create_dir_all(path.join(&ended).join("objects")).unwrap();
        std::os::unix::fs::symlink(path.join("mine"), path.join(&linked)).unwrap();
        std::os::unix::fs::symlink(path.join("mine"), path.join(&ended).join("link")).unwrap();
        sweep_scratch(path.as_std_path());
        assert!(!path.join(&ended).exists());
        assert!(living.path().exists() && path.join("mine/deep").exists());
        assert!(path.join(&linked).exists(), "a link is not ours");
        let kept = living.path().to_owned();
        drop(living);
        assert!(!kept.exists());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn only_folders_that_a_killed_process_left_unfinished_are_swept() {
        let (_folder, path) = folder();
        let left = of_ended_process(PREFIX, "aaaaaa");
        for name in ["demo-killed", "demo-finished", "demo-living", "other"] {
            fs::create_dir_all(path.join(name).join("deep")).unwrap();
        }
        for name in ["demo-killed", "other"] {
            fs::File::create(path.join(name).join(&left)).unwrap();
        }
        std::os::unix::fs::symlink(path.join("other"), path.join("demo-link")).unwrap();
        let living = Unfinished::mark(&path.join("demo-living")).unwrap();
        drop(Unfinished::mark(&path.join("demo-finished")).unwrap());
        sweep_unfinished(path.as_std_path(), "demo-");
        let kept = |name: &str| path.join(name).symlink_metadata().is_ok();
        assert!(!kept("demo-killed"));
        for name in ["demo-finished", "demo-living", "demo-link", "other/deep"] {
            assert!(kept(name), "{name}");
        }
        drop(living);
    }

    #[test]
    fn sweeping_a_missing_folder_does_nothing() {
        sweep("/not/there");
        sweep_drafts("/not/there".into());
    }
}
