//! Single files of a checkout, and that no link leads out of it.

#![expect(
    clippy::disallowed_methods,
    reason = "what others write need be neither atomic nor durable"
)]

use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use super::*;

struct Two {
    folder: tempfile::TempDir,
    from: Tree,
    to: Tree,
}

fn two() -> Two {
    let folder = tempfile::tempdir().unwrap();
    let open = |name: &str| {
        let path = folder.path().join(name);
        fs::create_dir(&path).unwrap();
        Tree::open(&path).unwrap()
    };
    let (from, to) = (open("from"), open("to"));
    Two { folder, from, to }
}

impl Two {
    fn copy(&self, path: &Path) -> Result<(), Error> {
        let (source, target) = (self.from.look(path)?, self.to.look(path)?);
        let draft = self.to.draft(path, &self.from, &source)?;
        draft.place(&target, Modes::Executable)
    }
}

#[test]
fn files_links_modes_and_odd_names_are_copied() {
    let two = two();
    let odd = Path::new(OsStr::from_bytes(b"a b/-\xff\n\"x"));
    fs::create_dir(two.from.path.join("a b")).unwrap();
    fs::write(two.from.path.join(odd), "1").unwrap();
    fs::set_permissions(two.from.path.join(odd), fs::Permissions::from_mode(0o755)).unwrap();
    symlink("/etc/passwd", two.from.path.join("link")).unwrap();
    fs::write(two.to.path.join("link"), "a file before").unwrap();
    for path in [odd, Path::new("link")] {
        two.copy(path).unwrap();
        assert_eq!(two.to.look(path).unwrap(), two.from.look(path).unwrap());
    }
    assert_eq!(fs::read_dir(&two.to.path).unwrap().count(), 2);
}

#[test]
fn no_call_follows_a_link_or_leaves_the_tree() {
    let two = two();
    let outside = two.folder.path().join("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("x"), "theirs").unwrap();
    symlink(&outside, two.to.path.join("a")).unwrap();
    fs::create_dir(two.from.path.join("a")).unwrap();
    fs::write(two.from.path.join("a/x"), "ours").unwrap();
    let path = Path::new("a/x");
    assert_eq!(two.to.look(path).unwrap(), Node::Absent);
    assert!(matches!(two.copy(path), Err(Error::NotAFile { .. })));
    two.to.remove(path, &Node::Absent).unwrap();
    for path in ["../outside/x", "/etc/passwd", "", "."] {
        assert!(
            matches!(two.to.look(Path::new(path)), Err(Error::Outside { .. })),
            "{path}"
        );
    }
    assert_eq!(fs::read(outside.join("x")).unwrap(), b"theirs");
}

#[test]
fn permissions_of_a_replaced_file_are_kept_and_only_the_executable_bit_changes() {
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    for (before, is_executable, modes, after) in [
        (0o600, false, Modes::Executable, 0o600),
        (0o444, false, Modes::Executable, 0o444),
        (0o600, true, Modes::Executable, 0o700),
        (0o640, true, Modes::Executable, 0o750),
        (0o755, false, Modes::Executable, 0o644),
        (0o755, false, Modes::Kept, 0o755),
        (0o600, true, Modes::Kept, 0o600),
    ] {
        let two = two();
        let path = Path::new("x");
        let set = |tree: &Tree, text: &str, mode: u32| {
            fs::write(tree.path.join(path), text).unwrap();
            fs::set_permissions(tree.path.join(path), fs::Permissions::from_mode(mode)).unwrap();
        };
        set(&two.from, "new", if is_executable { 0o755 } else { 0o644 });
        set(&two.to, "old", before);
        let (source, target) = (two.from.look(path).unwrap(), two.to.look(path).unwrap());
        let draft = two.to.draft(path, &two.from, &source).unwrap();
        draft.place(&target, modes).unwrap();
        assert_eq!(mode(&two.to.path.join(path)), after, "{before:o} {modes:?}");
        assert_eq!(fs::read(two.to.path.join(path)).unwrap(), b"new");
        assert_eq!(fs::read_dir(&two.to.path).unwrap().count(), 1);
    }
}

/// The save comes between the check and the rename, so this test skips the check.
#[test]
fn a_save_during_the_rename_is_put_back() {
    let two = two();
    let path = Path::new("x");
    fs::write(two.from.path.join(path), "new").unwrap();
    fs::write(two.to.path.join(path), "old").unwrap();
    let (source, target) = (two.from.look(path).unwrap(), two.to.look(path).unwrap());
    let draft = two.to.draft(path, &two.from, &source).unwrap();
    fs::write(two.to.path.join(path), "saved").unwrap();
    assert!(matches!(draft.rename(&target), Err(Error::Changed { .. })));
    let name = path.as_os_str();
    let taken = two.to.take_away(&two.to.folder, path, name, &target);
    assert!(matches!(taken, Err(Error::Changed { .. })));
    assert_eq!(fs::read(two.to.path.join(path)).unwrap(), b"saved");
    assert_eq!(fs::read_dir(&two.to.path).unwrap().count(), 1);
}

#[test]
fn files_that_are_not_as_expected_stay() {
    let two = two();
    let path = Path::new("x");
    fs::write(two.from.path.join(path), "new").unwrap();
    let source = two.from.look(path).unwrap();
    let draft = two.to.draft(path, &two.from, &source).unwrap();
    fs::write(two.to.path.join(path), "theirs").unwrap();
    assert!(matches!(
        draft.place(&Node::Absent, Modes::Executable),
        Err(Error::Changed { .. })
    ));
    assert!(matches!(
        two.to.remove(path, &source),
        Err(Error::Changed { .. })
    ));
    fs::write(two.from.path.join(path), "newer").unwrap();
    let stale = two.to.draft(path, &two.from, &source);
    assert!(matches!(stale, Err(Error::Changed { .. })));
    drop(stale);
    // The drafts are gone too.
    assert_eq!(fs::read_dir(&two.to.path).unwrap().count(), 1);
    assert_eq!(fs::read(two.to.path.join(path)).unwrap(), b"theirs");
}

#[test]
fn empty_folders_are_removed_and_others_stay() {
    let two = two();
    fs::create_dir_all(two.to.path.join("a/b/c")).unwrap();
    fs::create_dir_all(two.to.path.join("a/e/f")).unwrap();
    two.to.prune(Path::new("a/b/c/gone/x")).unwrap();
    assert!(two.to.path.join("a").exists() && !two.to.path.join("a/b").exists());
    fs::write(two.to.path.join("a/e/f/x"), "").unwrap();
    assert!(two.to.clear(Path::new("a")).is_err());
    assert_eq!(
        two.to.files_below(Path::new("a")).unwrap(),
        [Path::new("a/e/f/x")]
    );
    fs::remove_file(two.to.path.join("a/e/f/x")).unwrap();
    two.to.clear(Path::new("a")).unwrap();
    assert!(!two.to.path.join("a").exists());
    two.to.prune(Path::new("x")).unwrap();
    assert!(two.to.path.exists());
}
