use std::fs;
use std::io::Write as _;

use proptest::prelude::*;

use super::*;

/// Returns a new temporary folder and its path without links.
pub(crate) fn folder() -> (tempfile::TempDir, Utf8PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = Utf8PathBuf::try_from(folder.path().canonicalize().unwrap()).unwrap();
    (folder, path)
}

fn put(path: &Utf8Path, bytes: &[u8]) {
    fs::File::create(path).unwrap().write_all(bytes).unwrap();
}

#[test]
fn records_become_lines_in_order() {
    let (_folder, base) = folder();
    let path = base.join("runs/one/events.jsonl");
    let mut log = Log::create(&path).unwrap();
    assert_eq!(log.append(b"{\"a\":1}").unwrap(), Tail::Whole);
    assert_eq!(
        Log::open(&path).unwrap().append(b"{\"b\":\"\r\"}").unwrap(),
        Tail::Whole
    );
    assert_eq!(log.append(b"").unwrap(), Tail::Whole);
    assert_eq!(fs::read(&path).unwrap(), b"{\"a\":1}\n{\"b\":\"\r\"}\n\n");
    assert_eq!(log.path(), path);
}

#[test]
fn create_refuses_an_existing_log_and_leaves_it_alone() {
    let (_folder, base) = folder();
    let path = base.join("log");
    put(&path, b"line\n");
    assert!(matches!(Log::create(&path), Err(Error::Exists(named)) if named == path));
    assert_eq!(fs::read(&path).unwrap(), b"line\n");
}

#[test]
fn a_record_with_a_line_break_is_refused() {
    let (_folder, base) = folder();
    let mut log = Log::open(&base.join("log")).unwrap();
    assert!(matches!(log.append(b"a\nb"), Err(Error::LineBreak { .. })));
    assert_eq!(fs::read(base.join("log")).unwrap(), b"");
}

#[test]
fn a_torn_tail_is_closed_and_reported_once() {
    let (_folder, base) = folder();
    let path = base.join("log");
    put(&path, b"{\"a\":1}\n{\"b\":");
    let mut log = Log::open(&path).unwrap();
    assert_eq!(log.append(b"{}").unwrap(), Tail::Torn);
    assert_eq!(log.append(b"{}").unwrap(), Tail::Whole);
    assert_eq!(fs::read(&path).unwrap(), b"{\"a\":1}\n{\"b\":\n{}\n{}\n");
}

#[test]
fn appending_to_a_moved_or_deleted_log_is_refused() {
    let (_folder, base) = folder();
    let path = base.join("log");
    let mut log = Log::open(&path).unwrap();
    fs::rename(&path, base.join("moved")).unwrap();
    assert!(matches!(log.append(b"1"), Err(Error::Replaced(named)) if named == path));
    put(&path, b"another file\n");
    assert!(matches!(log.append(b"1"), Err(Error::Replaced { .. })));
    assert_eq!(fs::read(base.join("moved")).unwrap(), b"");
    assert_eq!(Log::open(&path).unwrap().append(b"1").unwrap(), Tail::Whole);
}

#[test]
fn folders_are_refused_as_logs() {
    let (_folder, base) = folder();
    assert!(matches!(Log::open(&base), Err(Error::NotAFile { .. })));
}

#[cfg(target_os = "linux")]
#[test]
fn pipes_are_refused_as_logs() {
    let (_folder, base) = folder();
    let pipe = base.join("pipe");
    rustix::fs::mknodat(
        rustix::fs::CWD,
        pipe.as_std_path(),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR,
        0,
    )
    .unwrap();
    assert!(matches!(Log::open(&pipe), Err(Error::NotAFile { .. })));
}

#[test]
fn an_append_waits_for_another_writer() {
    let (_folder, base) = folder();
    let path = base.join("log");
    let mut ours = Log::open(&path).unwrap();
    let theirs = Log::open(&path).unwrap();
    theirs.lock().unwrap();
    std::thread::scope(|scope| {
        let waiting = scope.spawn(move || ours.append(b"second").unwrap());
        (&theirs.file).write_all(b"first\n").unwrap();
        theirs.file.unlock().unwrap();
        assert_eq!(waiting.join().unwrap(), Tail::Whole);
    });
    assert_eq!(fs::read(&path).unwrap(), b"first\nsecond\n");
}

#[test]
fn lines_of_many_writers_are_never_mixed() {
    let (_folder, base) = folder();
    let path = base.join("log");
    std::thread::scope(|scope| {
        for writer in [b'a', b'b', b'c', b'd'] {
            let path = &path;
            scope.spawn(move || {
                let mut log = Log::open(path).unwrap();
                for length in 0..10 {
                    assert_eq!(
                        log.append(&vec![writer; 1 + length * 700]).unwrap(),
                        Tail::Whole
                    );
                }
            });
        }
    });
    let bytes = fs::read(&path).unwrap();
    let lines: Vec<&[u8]> = bytes
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty())
        .collect();
    assert_eq!(lines.len(), 40);
    assert!(
        lines
            .iter()
            .all(|line| line.len() % 700 == 1 && line.iter().all(|byte| *byte == line[0]))
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn existing_bytes_stay_and_the_record_is_on_its_own_line(before: Vec<u8>, record: Vec<u8>) {
        let record: Vec<u8> = record.into_iter().filter(|byte| *byte != b'\n').collect();
        let (_folder, base) = folder();
        let path = base.join("log");
        put(&path, &before);
        let tail = Log::open(&path).unwrap().append(&record).unwrap();
        let after = fs::read(&path).unwrap();
        prop_assert!(after.starts_with(&before));
        let glue: &[u8] = if tail == Tail::Torn { b"\n" } else { b"" };
        prop_assert_eq!(&after[before.len()..], [glue, &record, b"\n"].concat());
        prop_assert_eq!(tail == Tail::Torn, !before.is_empty() && !before.ends_with(b"\n"));
    }
}

#[test]
fn a_log_that_is_a_link_or_has_a_second_name_is_not_appended_to() {
    let (_folder, base) = folder();
    let (precious, log, link) = (base.join("precious"), base.join("log"), base.join("link"));
    put(&precious, b"precious\n");
    std::os::unix::fs::symlink(&precious, &link).unwrap();
    assert!(matches!(Log::open(&link), Err(Error::Link(path)) if path == link));
    let mut early = Log::open(&log).unwrap();
    let _tail = early.append(b"1").unwrap();
    fs::hard_link(&log, base.join("second")).unwrap();
    assert!(matches!(
        early.append(b"2"),
        Err(Error::SeveralNames { .. })
    ));
    fs::hard_link(&precious, base.join("linked")).unwrap();
    let opened = Log::open(&base.join("linked"));
    assert!(matches!(opened, Err(Error::SeveralNames { .. })));
    let opened = crate::create_output(&base.join("linked"));
    assert!(matches!(opened, Err(Error::SeveralNames { .. })));
    assert_eq!(fs::read(&log).unwrap(), b"1\n");
    assert_eq!(fs::read(&precious).unwrap(), b"precious\n");
}

#[test]
fn a_record_is_found_among_lines_of_any_length() {
    let (_folder, base) = folder();
    let path = base.join("log");
    let record = b"the record";
    for (bytes, expected) in [
        (&b"one\nthe record\nlast"[..], true),
        (b"the record", true),
        (b"the record and more\n", false),
        (b"before the record\nthe recor\n", false),
        (b"", false),
    ] {
        put(&path, bytes);
        assert_eq!(Log::holds(&path, record).unwrap(), expected);
    }
    assert!(!Log::holds(&base.join("not-there"), record).unwrap());
}
