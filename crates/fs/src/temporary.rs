//! Temporary files and folders beside what they will become, and the removal of those that a crash left.
//!
//! The name says who writes it: `.rekindle-tmp-<machine>-<boot>-<pid>-<start>-<random>`, where machine
//! and boot are short hashes; a folder's begins with `.rekindle-new-`. Only a name whose writer has ended for certain is removed, and only in
//! the folder that is being written to anyway; a name of another machine, of another container or of
//! an unknown form stays for ever. There is no removal by age: a slow writer is not a dead one.

use std::ffi::OsString;
use std::fs;
use std::io::{self, Seek as _};
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

use camino::Utf8Path;
use tempfile::NamedTempFile;

use crate::error::At as _;
use crate::folder::{ensure_dir, parent};
use crate::process::{Liveness, ProcessIdentity};
use crate::{Error, disk};

/// What all our temporary files begin with.
pub(crate) const PREFIX: &str = ".rekindle-tmp-";
/// What folders begin with that are not finished.
const DRAFT: &str = ".rekindle-new-";

/// Opens a new, empty file for what a program prints; missing folders are made.
///
/// Such a file is evidence and not state: nothing is synced, and one that is there is continued.
pub fn create_output(path: &Utf8Path) -> Result<fs::File, Error> {
    ensure_dir(parent(path))?;
    let mut options = fs::OpenOptions::new();
    options.create(true).append(true);
    disk::open(&options, path.as_std_path()).at("open", path)
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

/// Makes a temporary file of this mode (less the umask) in the folder; dropping it removes it.
pub(crate) fn create_in(folder: &Utf8Path, mode: u32) -> io::Result<NamedTempFile> {
    disk::make_temporary(folder.as_std_path(), &signed(PREFIX), mode)
}

/// Returns the name under which we make the folder of this name, until it is whole.
pub(crate) fn draft_of(name: &str) -> String {
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

/// Removes what [`create_folder`](crate::create_folder) left in this folder when its process was killed.
///
/// A folder whose maker may be alive stays, and so does everything that is no such folder. Failing is
/// no reason to stop: what stays is removed by a later call or by a person.
pub fn sweep_drafts(folder: &Utf8Path) {
    let Ok(entries) = fs::read_dir(folder) else {
        return;
    };
    for entry in entries.flatten() {
        if let Some(name) = entry.file_name().to_str()
            && entry.file_type().is_ok_and(|kind| kind.is_dir())
            && is_orphan(name, DRAFT)
        {
            remove_draft(&folder.join(name));
        }
    }
}

/// Removes a draft, which is rekindle's own; what it was made from is still there.
pub(crate) fn remove_draft(draft: &Utf8Path) {
    disk::remove_all(draft.as_std_path()).ok();
}

/// Returns whether the writer that a name tells has ended for certain.
fn is_orphan(name: &str, prefix: &str) -> bool {
    writer(name, prefix, &ProcessIdentity::current())
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
    use camino::Utf8PathBuf;

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

    #[test]
    fn sweeping_a_folder_that_is_not_there_does_nothing() {
        sweep("/not/there");
        sweep_drafts("/not/there".into());
    }
}
