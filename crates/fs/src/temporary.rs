//! Temporary files and folders beside what they will become, and the removal of those that a crash left.
//!
//! The name says who writes it: `.rekindle-tmp-<machine>-<boot>-<pid>-<start>-<random>`, where machine
//! and boot are short hashes; a folder's begins with `.rekindle-new-`, and `rekindle-tmp-` in a folder for
//! temporary things. Only a name whose writer has ended for certain is removed, and only in
//! the folder that is being written to anyway; a name of another machine, of another container or of
//! an unknown form stays for ever. There is no removal by age: a slow writer is not a dead one.

use std::ffi::OsString;
use std::fs;
use std::io::{self, Seek as _};
use std::path::Path;
use std::sync::Once;
use std::sync::atomic::{AtomicU32, Ordering};

use camino::{Utf8Path, Utf8PathBuf};
use tempfile::{NamedTempFile, TempDir};

use crate::folder::{ensure_dir, parent};
use crate::process::{Liveness, ProcessIdentity};
use crate::{Error, disk, sole};

/// What all our temporary files begin with.
pub(crate) const PREFIX: &str = ".rekindle-tmp-";
/// What folders begin with that are not finished.
const DRAFT: &str = ".rekindle-new-";
/// What folders begin with that are of use to one process only.
const SCRATCH: &str = "rekindle-tmp-";

/// Opens a new, empty file for what a program prints; missing folders are made.
///
/// Such a file is evidence and not state: nothing is synced, and one that is there is continued, unless
/// it is a link or has a second name.
pub fn create_output(path: &Utf8Path) -> Result<fs::File, Error> {
    ensure_dir(parent(path))?;
    let mut options = fs::OpenOptions::new();
    options.create(true).append(true);
    sole::open_to_write(&mut options, path, disk::open)
}

/// Returns a file without a name that holds `bytes` and is read from its beginning.
///
/// It is gone with its last reader; used as the standard input of a program, because a pipe would
/// make the writer wait for a program that does not read.
pub fn scratch(bytes: &[u8]) -> io::Result<fs::File> {
    let mut file = disk::make_nameless()?;
    disk::write_all(&file, bytes)?;
    file.rewind()?;
    Ok(file)
}

/// Makes a folder in a temporary folder that nobody else can look into; dropping it removes it.
///
/// The first one that a process makes removes those of processes that were killed.
pub fn temporary_folder(above: &Path) -> io::Result<TempDir> {
    static SWEPT: Once = Once::new();
    SWEPT.call_once(|| sweep_scratch(above));
    disk::make_temporary_folder(above, &signed(SCRATCH))
}

/// Removes the folders of [`temporary_folder`] whose makers are gone.
fn sweep_scratch(above: &Path) {
    sweep_folders(above, |name, _| is_orphan(name, SCRATCH));
}

/// Removes the folders in a folder that a question about name and path picks.
///
/// The folder above may be anybody's to write to, so only a folder of our own counts. Failing is no
/// reason to stop: what stays is removed by a later call or by a person.
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

/// Says by a file in a folder that this process has not finished it; dropping it removes the file.
///
/// For folders that a person is to find under a name of their own; see [`sweep_unfinished`].
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

/// Removes the folders whose names begin like this and that a process marked as [`Unfinished`] before
/// it was killed.
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

/// Makes a temporary file of this mode (less the umask) in the folder; dropping it removes it.
pub(crate) fn create_in(folder: &Utf8Path, mode: u32) -> io::Result<NamedTempFile> {
    disk::make_temporary(folder.as_std_path(), &signed(PREFIX), mode)
}

/// Returns the path next to a folder under which this process makes it, until it is whole.
///
/// What a kill leaves there is for [`sweep_drafts`].
pub fn draft_beside(folder: &Utf8Path) -> Utf8PathBuf {
    parent(folder).join(draft_of(folder.file_name().unwrap_or_default()))
}

fn draft_of(name: &str) -> String {
    let digest = blake3::hash(name.as_bytes()).to_hex();
    format!("{}{}", signed(DRAFT), &digest[..8])
}

/// Returns a name that this process has not used yet.
pub(crate) fn free_name() -> OsString {
    static USED: AtomicU32 = AtomicU32::new(0);
    let number = USED.fetch_add(1, Ordering::Relaxed);
    format!("{}{number:06}", signed(PREFIX)).into()
}

/// Returns the beginning of a name that says who writes it.
fn signed(prefix: &str) -> String {
    let here = ProcessIdentity::current();
    let [machine, boot] = origin(&here);
    // Without a start time nobody could tell whether we still live; `x` is never removed.
    let start = here
        .start_time
        .map_or_else(|| "x".to_owned(), |ticks| ticks.to_string());
    format!("{prefix}{machine}-{boot}-{}-{start}-", here.pid)
}

/// Removes the folders under the names of [`draft_beside`] that were left here by killed processes.
///
/// A folder whose maker may be alive stays, and so does everything that is no such folder.
pub fn sweep_drafts(folder: &Utf8Path) {
    sweep_folders(folder.as_std_path(), |name, _| is_orphan(name, DRAFT));
}

/// Removes a draft, which is rekindle's own; what it was made from is still there.
pub(crate) fn remove_draft(draft: &Utf8Path) {
    disk::remove_all(draft.as_std_path()).ok();
}

/// Returns whether the writer that a name tells has ended for certain.
fn is_orphan(name: &str, prefix: &str) -> bool {
    // Who we are is asked of the system, which is too much for every name in a folder.
    name.starts_with(prefix)
        && writer(name, prefix, &ProcessIdentity::current())
            .is_some_and(|writer| writer.is_alive() == Liveness::Gone)
}

/// Removes the temporary files and links in this folder whose writers are gone.
///
/// Failing is no reason not to write: what stays is removed by a later call or by a person.
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

/// Reads the writer out of a name, if it wrote on this machine.
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
    let short = |text: &str| blake3::hash(text.as_bytes()).to_hex()[..8].to_owned();
    let namespace = here.pid_namespace.as_deref().unwrap_or_default();
    [
        short(&format!("{}\0{namespace}", here.host)),
        short(here.boot_id.as_deref().unwrap_or_default()),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder() -> (tempfile::TempDir, Utf8PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = Utf8PathBuf::try_from(folder.path().to_owned()).unwrap();
        (folder, path)
    }

    #[test]
    fn a_name_tells_its_writer() {
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
            format!("{PREFIX}{machine}-{boot}-{pid}-{}-aaaaaa", start + 1),
            format!("{PREFIX}{machine}-{boot}-1073741824-{start}-aaaaaa"),
            format!("{PREFIX}{machine}-00000000-{pid}-{start}-aaaaaa"),
        ];
        let kept = [
            format!("{PREFIX}{machine}-{boot}-{pid}-{start}-aaaaaa"),
            format!("{PREFIX}00000000-{boot}-{pid}-{}-aaaaaa", start + 1),
            format!("{PREFIX}{machine}-{boot}-{pid}-x-aaaaaa"),
            format!("{PREFIX}notes-of-a-person"),
            format!("{PREFIX}{machine}-{boot}-{pid}-{}-a-b", start + 1),
            "ordinary".to_owned(),
        ];
        for name in ended.iter().chain(&kept) {
            fs::File::create(path.join(name)).unwrap();
        }
        let folder_like_ended = format!("{PREFIX}{machine}-{boot}-{pid}-{}-bbbbbb", start + 1);
        fs::create_dir(path.join(&folder_like_ended)).unwrap();

        sweep(&path);

        let mut left: Vec<String> = path
            .read_dir_utf8()
            .unwrap()
            .map(|entry| entry.unwrap().file_name().to_owned())
            .collect();
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
        let here = ProcessIdentity::current();
        let [machine, boot] = origin(&here);
        let (pid, start) = (here.pid, here.start_time.unwrap());
        let ended = format!("{DRAFT}{machine}-{boot}-{pid}-{}-0a0a0a0a", start + 1);
        let kept = [draft_of("run"), format!("{DRAFT}123-run"), "run".to_owned()];
        for name in kept.iter().chain([&ended]) {
            fs::create_dir_all(path.join(name).join("events")).unwrap();
            fs::File::create(path.join(name).join("events/log")).unwrap();
        }
        let file = format!("{DRAFT}{machine}-{boot}-{pid}-{}-0b0b0b0b", start + 1);
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
        let here = ProcessIdentity::current();
        let [machine, boot] = origin(&here);
        let (pid, start) = (here.pid, here.start_time.unwrap());
        let ended = format!("{SCRATCH}{machine}-{boot}-{pid}-{}-aaaaaa", start + 1);
        let linked = format!("{SCRATCH}{machine}-{boot}-{pid}-{}-bbbbbb", start + 1);
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
        let here = ProcessIdentity::current();
        let [machine, boot] = origin(&here);
        let gone = here.start_time.unwrap() + 1;
        let left = format!("{PREFIX}{machine}-{boot}-{}-{gone}-aaaaaa", here.pid);
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
    fn sweeping_a_folder_that_is_not_there_does_nothing() {
        sweep("/not/there");
        sweep_drafts("/not/there".into());
    }
}
