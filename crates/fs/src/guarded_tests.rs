use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;

use super::*;

const LIMIT: u64 = 100;

/// A folder `root` with a file in a folder of it, and a file next to `root`.
fn scene() -> (tempfile::TempDir, Utf8PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let base = Utf8Path::from_path(folder.path())
        .unwrap()
        .canonicalize_utf8()
        .unwrap();
    crate::create(&base.join("root/inside/file"), b"inside").unwrap();
    crate::create(&base.join("outside/file"), b"outside").unwrap();
    (folder, base.join("root"))
}

fn sparse(path: &Utf8Path, len: u64) {
    fs::File::create(path).unwrap().set_len(len).unwrap();
}

fn pipe(path: &Utf8Path) {
    let mode = Mode::from_raw_mode(0o600);
    rustix::fs::mknodat(CWD, path.as_str(), FileType::Fifo, mode, 0).unwrap();
}

#[derive(Debug, PartialEq, Eq)]
enum Got {
    Bytes(Vec<u8>),
    Nothing,
    Link(String),
    NotAFile,
    TooLarge(u64),
    Outside,
    Failed,
}

fn got(root: &Utf8Path, read: Result<Option<Vec<u8>>, Error>) -> Got {
    match read {
        Ok(Some(bytes)) => Got::Bytes(bytes),
        Ok(None) => Got::Nothing,
        Err(Error::Link(path)) => Got::Link(path.strip_prefix(root).unwrap().to_string()),
        Err(Error::NotAFile { .. }) => Got::NotAFile,
        Err(Error::TooLarge { len, .. }) => Got::TooLarge(len),
        Err(Error::Outside { .. }) => Got::Outside,
        Err(_) => Got::Failed,
    }
}

#[test]
fn only_ordinary_files_of_a_limited_size_are_read() {
    let (_folder, root) = scene();
    pipe(&root.join("pipe"));
    let _socket = UnixListener::bind(root.join("socket")).unwrap();
    sparse(&root.join("limit"), LIMIT);
    sparse(&root.join("over"), LIMIT + 1);
    sparse(&root.join("sparse"), 8 << 30);
    for (link, target) in [
        ("link", "inside/file"),
        ("zero", "/dev/zero"),
        ("away", "../outside/file"),
        ("nowhere", "not-there"),
        ("circle", "circle"),
        ("folder", "inside"),
        ("elsewhere", "../outside"),
        ("to-pipe", "pipe"),
    ] {
        symlink(target, root.join(link)).unwrap();
    }
    let link = |name: &str| Got::Link(name.to_owned());
    let inside = || Got::Bytes(b"inside".to_vec());
    let absolute = root.join("inside/file");
    for (path, within, followed) in [
        ("inside/file", inside(), inside()),
        (absolute.as_str(), inside(), inside()),
        ("./inside/./file", inside(), inside()),
        ("not-there", Got::Nothing, Got::Nothing),
        ("not/there", Got::Nothing, Got::Nothing),
        ("inside", Got::NotAFile, Got::NotAFile),
        ("", Got::NotAFile, Got::NotAFile),
        ("pipe", Got::NotAFile, Got::NotAFile),
        ("socket", Got::NotAFile, Got::NotAFile),
        ("limit", Got::Bytes(vec![0; 100]), Got::Bytes(vec![0; 100])),
        ("over", Got::TooLarge(101), Got::TooLarge(101)),
        ("sparse", Got::TooLarge(8 << 30), Got::TooLarge(8 << 30)),
        ("link", link("link"), inside()),
        ("zero", link("zero"), Got::NotAFile),
        ("away", link("away"), Got::Bytes(b"outside".to_vec())),
        ("nowhere", link("nowhere"), Got::Nothing),
        ("circle", link("circle"), Got::Failed),
        ("folder/file", link("folder"), inside()),
        (
            "elsewhere/file",
            link("elsewhere"),
            Got::Bytes(b"outside".to_vec()),
        ),
        ("to-pipe", link("to-pipe"), Got::NotAFile),
        ("inside/file/more", Got::Failed, Got::Nothing),
        ("../root/inside/file", Got::Outside, inside()),
        ("/etc/passwd-not-there", Got::Outside, Got::Nothing),
    ] {
        assert_eq!(
            got(&root, read_within(&root, path.into(), LIMIT)),
            within,
            "{path}"
        );
        let read = read_followed(&root.join(path), LIMIT);
        assert_eq!(got(&root, read), followed, "{path}, followed");
    }
}

#[test]
fn files_whose_size_the_system_does_not_report_are_read_up_to_the_limit() {
    if cfg!(target_os = "linux") {
        let read = read_followed("/proc/self/status".into(), 1 << 20).unwrap();
        assert!(!read.unwrap().is_empty());
        let read = read_followed("/proc/self/status".into(), 10);
        assert!(matches!(read, Err(Error::TooLarge { len: 11, .. })));
    }
}

#[test]
fn folders_are_listed_unless_they_are_links() {
    let (_folder, root) = scene();
    symlink("inside", root.join("folder")).unwrap();
    let list = |path: &str| list_within(&root, path.into());
    assert_eq!(list("inside").unwrap(), ["file"]);
    assert_eq!(list("").unwrap(), ["folder", "inside"]);
    assert_eq!(list("not-there").unwrap(), [""; 0]);
    assert!(matches!(list("folder"), Err(Error::Link { .. })));
    assert!(matches!(list("../outside"), Err(Error::Outside { .. })));
    list("inside/file").unwrap_err();
}

#[test]
fn a_link_anywhere_on_a_path_is_refused() {
    let (_folder, root) = scene();
    symlink("inside", root.join("folder")).unwrap();
    symlink("not-there", root.join("inside/nowhere")).unwrap();
    for path in ["inside/file", "new/file", "inside", ""] {
        refuse_links(&root, path.into()).unwrap();
    }
    for path in ["folder", "folder/file", "inside/nowhere"] {
        let refused = refuse_links(&root, path.into());
        assert!(matches!(refused, Err(Error::Link { .. })), "{path}");
    }
}

#[test]
fn lines_are_passed_one_by_one_and_long_ones_are_cut() {
    let (_folder, root) = scene();
    let path = root.join("lines");
    crate::create(&path, b"one\n\nlonger than that\nlast").unwrap();
    let open = || GuardedFile::open_within(&root, &path).unwrap().unwrap();
    let mut seen = Vec::new();
    let see = |line: Line<'_>| {
        seen.push(match line {
            Line::Whole(line) => String::from_utf8_lossy(line).into_owned(),
            Line::Long { beginning, length } => {
                format!("{}… {length}", String::from_utf8_lossy(beginning))
            }
        });
    };
    open().lines(LIMIT, 5, see).unwrap();
    assert_eq!(seen, ["one\n", "\n", "longe… 17", "last"]);
    let refused = open().lines(10, 5, |_| ());
    assert!(matches!(refused, Err(Error::TooLarge { len: 26, .. })));
    assert_eq!(open().tail(4).unwrap(), b"last");
    assert_eq!(open().tail(400).unwrap().len(), 26);
    assert_eq!(open().bytes_from(22, LIMIT).unwrap(), b"last");
    assert_eq!(open().bytes_from(400, LIMIT).unwrap(), b"");
    let refused = open().bytes_from(2, 3);
    assert!(matches!(refused, Err(Error::TooLarge { len: 24, .. })));
}
