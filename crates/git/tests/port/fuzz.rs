//! Random dirty worktrees: whatever was done to them, a rescue gives every byte back.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use proptest::prelude::*;

use crate::fixture::{Fixture, OnDisk, files, files_not_ignored};
use crate::rescue::restored;

/// Names that get in each other's way: files that are folders elsewhere, odd bytes, ignored ones.
const NAMES: &[&[u8]] = &[
    b"a",
    b"a/b",
    b"a/b/c",
    b"-dash",
    b"new\nline",
    b"quo\"te",
    b"\xff\xfe",
    b"d/tracked.log",
    b"d/other.log",
    b"d/text.txt",
    b"space \t",
    b":(top)x",
];

#[derive(Clone, Debug)]
enum Operation {
    Write {
        name: usize,
        content: Vec<u8>,
    },
    Link {
        name: usize,
        target: usize,
    },
    Remove {
        name: usize,
    },
    Executable {
        name: usize,
    },
    Move {
        from: usize,
        to: usize,
    },
    /// A git command with the name as its last argument; it may fail.
    Git {
        args: &'static [&'static str],
        name: usize,
    },
    Attributes {
        text: &'static str,
    },
    Commit,
}

const COMMANDS: &[&[&str]] = &[
    &["add"],
    &["add", "--force"],
    &["add", "--intent-to-add"],
    &["rm", "--quiet", "--cached", "-r"],
    &["rm", "--quiet", "--force", "-r"],
    &["update-index", "--assume-unchanged"],
    &["update-index", "--skip-worktree"],
    &["update-index", "--chmod=+x"],
    &["stash", "push", "--quiet"],
];

const ATTRIBUTES: &[&str] = &[
    "* text=auto eol=crlf\n",
    "*.txt text eol=lf\n",
    "* ident\n",
    "",
];

fn operation() -> impl Strategy<Value = Operation> {
    let name = || 0..NAMES.len();
    let line = prop::sample::select(vec!["one\n", "two\r\n", "$Id$\n", "\0", "last"]);
    let content = prop::collection::vec(line, 0..4).prop_map(|lines| lines.concat().into_bytes());
    prop_oneof![
        6 => (name(), content).prop_map(|(name, content)| Operation::Write { name, content }),
        1 => (name(), name()).prop_map(|(name, target)| Operation::Link { name, target }),
        2 => name().prop_map(|name| Operation::Remove { name }),
        1 => name().prop_map(|name| Operation::Executable { name }),
        1 => (name(), name()).prop_map(|(from, to)| Operation::Move { from, to }),
        5 => (prop::sample::select(COMMANDS), name())
            .prop_map(|(args, name)| Operation::Git { args, name }),
        1 => prop::sample::select(ATTRIBUTES).prop_map(|text| Operation::Attributes { text }),
        1 => Just(Operation::Commit),
    ]
}

/// Operations that cannot be done (no such file, a folder in the way) do nothing.
fn apply(fixture: &Fixture, operation: &Operation) {
    let path = |name: usize| fixture.path(std::ffi::OsStr::from_bytes(NAMES[name]));
    match operation {
        Operation::Write { name, content } => {
            make_way(&path(*name));
            fs::write(path(*name), content).ok();
        }
        Operation::Link { name, target } => {
            make_way(&path(*name));
            std::os::unix::fs::symlink(std::ffi::OsStr::from_bytes(NAMES[*target]), path(*name))
                .ok();
        }
        Operation::Remove { name } => remove(&path(*name)),
        Operation::Executable { name } => {
            if path(*name)
                .symlink_metadata()
                .is_ok_and(|metadata| metadata.is_file())
            {
                fs::set_permissions(path(*name), fs::Permissions::from_mode(0o755)).unwrap();
            }
        }
        Operation::Move { from, to } => {
            if !NAMES[*to].starts_with(NAMES[*from]) && path(*from).symlink_metadata().is_ok() {
                make_way(&path(*to));
                fs::rename(path(*from), path(*to)).ok();
            }
        }
        Operation::Git { args, name } => {
            let name = std::ffi::OsStr::from_bytes(NAMES[*name]);
            let args = args.iter().map(std::ffi::OsStr::new);
            let dashes = std::ffi::OsStr::new("--");
            let literal = std::ffi::OsStr::new("--literal-pathspecs");
            let all = [literal].into_iter().chain(args).chain([dashes, name]);
            fixture.try_git(&fixture.dir, all);
        }
        Operation::Attributes { text } => fixture.write(".gitattributes", text),
        Operation::Commit => {
            fixture.try_git(&fixture.dir, ["commit", "--quiet", "-m", "x"]);
        }
    }
}

fn make_way(path: &Path) {
    let parent = path.parent().unwrap();
    if fs::create_dir_all(parent).is_err() {
        // A file or a link is where a folder should be.
        for folder in parent.ancestors() {
            if folder
                .symlink_metadata()
                .is_ok_and(|metadata| !metadata.is_dir())
            {
                fs::remove_file(folder).unwrap();
            }
        }
        fs::create_dir_all(parent).unwrap();
    }
    remove(path);
}

fn remove(path: &Path) {
    match path.symlink_metadata() {
        Ok(metadata) if metadata.is_dir() => fs::remove_dir_all(path).unwrap(),
        Ok(_) => fs::remove_file(path).unwrap(),
        Err(_) => {}
    }
}

fn start() -> Fixture {
    let fixture = Fixture::new();
    fixture.write(".gitignore", "*.log\n");
    fixture.write("d/tracked.log", "1\n");
    fixture.write("d/text.txt", "one\r\n");
    fixture.write("a/b/c", "deep\n");
    fixture.git(["add", "--force", "d/tracked.log"]);
    fixture.commit_all("start");
    fixture.git(["branch", "holds-the-start"]);
    fixture
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 16,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn every_byte_of_a_dirty_worktree_comes_back(
        operations in prop::collection::vec(operation(), 1..12),
    ) {
        let fixture = start();
        for operation in &operations {
            apply(&fixture, operation);
        }
        let before = (fixture.state(), files(&fixture.dir));
        let rescue = fixture.repo().rescue("workflow", "task").unwrap();
        prop_assert_eq!(&(fixture.state(), files(&fixture.dir)), &before);
        let on_disk = files_not_ignored(&fixture);
        match rescue {
            Some(rescue) => {
                let back = files(&restored(&fixture, &rescue));
                // `skip-worktree` says of an absent file that it is not deleted.
                let back: std::collections::BTreeMap<Vec<u8>, OnDisk> = back
                    .into_iter()
                    .filter(|(name, _)| on_disk.contains_key(name) || !is_skipped(&fixture, name))
                    .collect();
                prop_assert_eq!(back, on_disk);
                prop_assert_eq!(&(fixture.state(), files(&fixture.dir)), &before);
            }
            None => prop_assert!(before.0.3.is_empty(), "git status was not empty"),
        }
    }
}

fn is_skipped(fixture: &Fixture, name: &[u8]) -> bool {
    let output = fixture
        .try_git(&fixture.dir, ["ls-files", "-z", "-v"])
        .stdout;
    output.split(|byte| *byte == 0).any(|line| {
        line.strip_prefix(b"S ")
            .or_else(|| line.strip_prefix(b"s "))
            == Some(name)
    })
}
