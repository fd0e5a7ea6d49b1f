use std::fs;
use std::fs::Permissions;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};

use camino::Utf8PathBuf;
use proptest::prelude::*;

use super::*;

struct Folder {
    _guard: tempfile::TempDir,
    path: Utf8PathBuf,
}

impl Folder {
    fn new() -> Self {
        let guard = tempfile::tempdir().unwrap();
        let path = Utf8Path::from_path(guard.path())
            .unwrap()
            .canonicalize_utf8()
            .unwrap();
        Self {
            _guard: guard,
            path,
        }
    }

    fn with(name: &str, bytes: &[u8]) -> (Self, Utf8PathBuf) {
        let folder = Self::new();
        let file = folder.path.join(name);
        create(&file, bytes).unwrap();
        (folder, file)
    }

    fn names(&self) -> Vec<String> {
        let entries = self.path.read_dir_utf8().unwrap();
        let mut names: Vec<String> = entries
            .map(|entry| entry.unwrap().file_name().to_owned())
            .collect();
        names.sort();
        names
    }
}

fn mode(path: &Utf8Path) -> u32 {
    fs::metadata(path).unwrap().mode() & 0o7777
}

#[test]
fn contents_are_replaced_byte_for_byte_and_nothing_else_is_left() {
    let (folder, file) = Folder::with("state.md", b"\xef\xbb\xbfa\r\nb\r\n");
    let new = b"\xef\xbb\xbfa\r\nc\r\n\0\xff no final newline";
    replace(&file, &Content::of(b"\xef\xbb\xbfa\r\nb\r\n"), new).unwrap();
    assert_eq!(fs::read(&file).unwrap(), new);
    assert_eq!(folder.names(), ["state.md"]);
}

#[test]
fn a_changed_file_is_refused_and_untouched() {
    let (folder, file) = Folder::with("state.md", b"somebody else's");
    let before = fs::metadata(&file).unwrap();
    for expected in [Content::of(b"what we read"), Content::Absent] {
        let error = replace(&file, &expected, b"ours").unwrap_err();
        assert!(
            matches!(&error, Error::Changed(path) if *path == file),
            "{error:?}"
        );
    }
    let after = fs::metadata(&file).unwrap();
    assert_eq!(fs::read(&file).unwrap(), b"somebody else's");
    assert_eq!(
        (before.ino(), before.mtime_nsec()),
        (after.ino(), after.mtime_nsec())
    );
    assert_eq!(folder.names(), ["state.md"]);
}

#[test]
fn a_file_that_vanished_is_not_brought_back() {
    let folder = Folder::new();
    let file = folder.path.join("state.md");
    let error = replace(&file, &Content::of(b"old"), b"new").unwrap_err();
    assert!(matches!(error, Error::Changed { .. }));
    assert_eq!(folder.names(), [""; 0]);
}

#[test]
fn an_absent_file_is_made() {
    let folder = Folder::new();
    let file = folder.path.join("state.md");
    replace(&file, &Content::Absent, b"new").unwrap();
    assert_eq!(fs::read(&file).unwrap(), b"new");
    assert_eq!(folder.names(), ["state.md"]);
}

#[test]
fn the_mode_is_kept_even_when_the_umask_would_forbid_it() {
    let (_folder, file) = Folder::with("script", b"1");
    for wanted in [0o600, 0o755, 0o666, 0o444, 0o2770] {
        fs::set_permissions(&file, Permissions::from_mode(wanted)).unwrap();
        replace(&file, &Content::read(&file).unwrap(), b"2").unwrap();
        assert_eq!(mode(&file), wanted, "{wanted:o}");
    }
}

#[test]
fn a_new_file_has_the_mode_that_any_new_file_has() {
    let (folder, file) = Folder::with("new", b"1");
    fs::File::create(folder.path.join("ordinary")).unwrap();
    assert_eq!(
        mode(&file),
        mode(&folder.path.join("ordinary")) & NEW_FILE_MODE
    );
}

#[test]
fn a_link_that_may_be_followed_stays_and_the_file_behind_it_is_replaced() {
    let (folder, file) = Folder::with("real/state.md", b"old");
    let link = folder.path.join("link.md");
    let outer = folder.path.join("outer.md");
    symlink("real/state.md", &link).unwrap();
    symlink(&link, &outer).unwrap();
    replace_followed(&outer, &Content::of(b"old"), b"new").unwrap();
    assert_eq!(fs::read(&file).unwrap(), b"new");
    assert_eq!(link.read_link_utf8().unwrap(), "real/state.md");
    assert_eq!(outer.read_link_utf8().unwrap(), link);
    assert_eq!(folder.names(), ["link.md", "outer.md", "real"]);
}

#[test]
fn a_link_that_may_be_followed_and_leads_nowhere_gets_the_file_it_names() {
    let folder = Folder::new();
    let link = folder.path.join("link");
    symlink("later", &link).unwrap();
    replace_followed(&link, &Content::Absent, b"new").unwrap();
    assert_eq!(folder.names(), ["later", "link"]);
    assert!(link.is_symlink());
}

#[test]
fn create_makes_folders_and_refuses_what_exists() {
    let (folder, file) = Folder::with("a/b/file", b"first");
    let error = create(&file, b"second").unwrap_err();
    assert!(
        matches!(&error, Error::Exists(path) if *path == file),
        "{error:?}"
    );
    assert_eq!(fs::read(&file).unwrap(), b"first");

    symlink("nowhere", folder.path.join("dangling")).unwrap();
    assert!(matches!(
        create(&folder.path.join("dangling"), b""),
        Err(Error::Exists { .. })
    ));
    assert!(matches!(
        create(&folder.path.join("a"), b""),
        Err(Error::Exists { .. })
    ));
    assert!(matches!(
        create("/".into(), b""),
        Err(Error::NotAFile { .. })
    ));
    assert_eq!(folder.names(), ["a", "dangling"]);
}

#[test]
fn folders_are_never_replaced() {
    let folder = Folder::new();
    let error = replace(&folder.path, &Content::Absent, b"").unwrap_err();
    assert!(
        matches!(&error, Error::NotAFile(path) if *path == folder.path),
        "{error:?}"
    );
}

#[test]
fn a_missing_folder_is_named() {
    let folder = Folder::new();
    let file = folder.path.join("missing/file");
    let error = replace(&file, &Content::Absent, b"").unwrap_err();
    assert!(error.to_string().contains(file.as_str()), "{error}");
}

// Permission bits do not stop root, who runs the tests in containers; `/proc` stops everybody.
#[cfg(target_os = "linux")]
#[test]
fn a_folder_that_cannot_be_written_gives_an_error_that_names_the_file() {
    for path in ["/proc/self/comm", "/proc/self/rekindle-new"] {
        let expected = Content::read(path.into()).unwrap();
        let error = replace(path.into(), &expected, b"x").unwrap_err();
        assert!(matches!(error, Error::Io { .. }), "{error:?}");
        let text = error.to_string();
        assert!(text.contains("/proc/"), "{text}");
        assert!(
            text.contains(Utf8Path::new(path).file_name().unwrap()),
            "{text}"
        );
    }
    let error = create("/proc/self/rekindle-new".into(), b"x").unwrap_err();
    assert!(error.to_string().contains("rekindle-new"), "{error}");
}

#[test]
fn what_a_crashed_writer_left_is_removed_by_the_next_write() {
    let (folder, file) = Folder::with("state.md", b"1");
    // A crash is a temporary file that nobody drops; the writer's start time is then made to be
    // that of an earlier process with our number.
    let left = temporary::create_in(&folder.path, 0o600)
        .unwrap()
        .keep()
        .unwrap()
        .1;
    let left = Utf8PathBuf::try_from(left).unwrap();
    replace(&file, &Content::of(b"1"), b"2").unwrap();
    assert!(left.exists(), "its writer, this process, is alive");

    if let Some(start) = crate::ProcessIdentity::current().start_time {
        let dead = left
            .as_str()
            .replace(&format!("-{start}-"), &format!("-{}-", start + 1));
        fs::rename(&left, &dead).unwrap();
        replace(&file, &Content::of(b"2"), b"3").unwrap();
        assert_eq!(folder.names(), ["state.md"]);
    }
}

#[test]
fn of_many_writers_that_read_the_same_only_complete_files_appear() {
    let (folder, file) = Folder::with("counter", &[b'0'; 5000]);
    std::thread::scope(|scope| {
        for writer in b'1'..=b'4' {
            let file = &file;
            scope.spawn(move || {
                for _ in 0..5 {
                    let read = Content::read(file).unwrap();
                    match replace(file, &read, &[writer; 5000]) {
                        Ok(()) | Err(Error::Changed { .. }) => {}
                        Err(error) => panic!("{error:?}"),
                    }
                    let now = fs::read(file).unwrap();
                    assert!(now.len() == 5000 && now.iter().all(|byte| *byte == now[0]));
                }
            });
        }
    });
    assert_eq!(folder.names(), ["counter"]);
}

#[test]
fn of_many_creators_exactly_one_wins() {
    let folder = Folder::new();
    let file = folder.path.join("new/file");
    let n_made = std::thread::scope(|scope| {
        let file = &file;
        let threads = [1, 2, 3, 4].map(|writer| scope.spawn(move || create(file, &[writer])));
        threads
            .map(|thread| thread.join().unwrap())
            .iter()
            .filter(|made| made.is_ok())
            .count()
    });
    assert_eq!(n_made, 1);
    assert_eq!(fs::read(&file).unwrap().len(), 1);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn any_contents_are_replaced_by_any_others(old: Vec<u8>, new: Vec<u8>) {
        let (folder, file) = Folder::with("file", &old);
        replace(&file, &Content::of(&old), &new).unwrap();
        prop_assert_eq!(fs::read(&file).unwrap(), new);
        prop_assert_eq!(folder.names(), ["file"]);
    }
}

#[test]
fn only_a_file_that_was_read_is_removed() {
    let (folder, path) = Folder::with("file", b"ours");
    let error = remove(&path, &Content::of(b"other")).unwrap_err();
    assert!(matches!(error, Error::Changed { .. }), "{error:?}");
    let link = folder.path.join("link");
    symlink(&path, &link).unwrap();
    let error = remove(&link, &Content::of(b"ours")).unwrap_err();
    assert!(matches!(error, Error::Link { .. }), "{error:?}");
    remove(&path, &Content::of(b"ours")).unwrap();
    assert_eq!(folder.names(), ["link"]);
    remove(&path, &Content::of(b"ours")).unwrap();
}

#[test]
fn links_and_files_with_a_second_name_are_not_replaced() {
    let (folder, file) = Folder::with("precious", b"precious");
    let [link, nowhere, second] = ["link", "nowhere", "second"].map(|name| folder.path.join(name));
    symlink(&file, &link).unwrap();
    symlink("later", &nowhere).unwrap();
    let expected = Content::of(b"precious");
    for (path, expected) in [(&link, &expected), (&nowhere, &Content::Absent)] {
        let error = replace(path, expected, b"new").unwrap_err();
        assert!(matches!(error, Error::Link { .. }), "{error:?}");
    }
    fs::hard_link(&file, &second).unwrap();
    for replace in [replace, replace_followed] {
        let error = replace(&second, &expected, b"new").unwrap_err();
        assert!(matches!(error, Error::SeveralNames { .. }), "{error:?}");
    }
    assert_eq!(fs::read(&file).unwrap(), b"precious");
    assert_eq!(folder.names(), ["link", "nowhere", "precious", "second"]);
}

#[cfg(target_os = "linux")]
#[test]
fn extended_attributes_are_kept() {
    use rustix::fs::{XattrFlags, getxattr, setxattr};

    let (_folder, file) = Folder::with("MEMORY.md", b"old");
    let long = [7; 1000];
    for (name, value) in [
        ("user.note", &b"mine"[..]),
        ("user.long", &long),
        ("user.empty", b""),
    ] {
        match setxattr(file.as_str(), name, value, XattrFlags::empty()) {
            // Not every file system has them.
            Err(rustix::io::Errno::NOTSUP) => return,
            other => other.unwrap(),
        }
    }
    fs::set_permissions(&file, Permissions::from_mode(0o640)).unwrap();
    replace(&file, &Content::of(b"old"), b"new").unwrap();
    assert_eq!(fs::read(&file).unwrap(), b"new");
    assert_eq!(mode(&file), 0o640);
    for (name, value) in [
        ("user.note", &b"mine"[..]),
        ("user.long", &long),
        ("user.empty", b""),
    ] {
        let mut found = [0; 2000];
        let length = getxattr(file.as_str(), name, &mut found[..]).unwrap();
        assert_eq!(&found[..length], value, "{name}");
    }
}

#[test]
fn a_private_file_is_for_its_owner_alone() {
    let folder = Folder::new();
    let file = folder.path.join("capture");
    create_private(&file, b"secret").unwrap();
    assert_eq!(mode(&file) & !0o600, 0);
    assert_eq!(
        fs::metadata(&file).unwrap().uid(),
        rustix::process::geteuid().as_raw()
    );
}
