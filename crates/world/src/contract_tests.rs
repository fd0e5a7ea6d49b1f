//! One suite for every implementation of the world.

use camino::{Utf8Path, Utf8PathBuf};
use jiff::Timestamp;

use crate::{
    Clock, End, Entry, GitAnswer, GitQuestion, Kind, MemoryWorld, ProcessAnswer, ProcessQuestion,
    ReadError, RealWorld, Recorder, Recording, Witness, World, Zone,
};

/// More than the largest process number that Linux gives.
const NOBODY: u32 = 1 << 30;
const NOW: &str = "2026-01-20T12:00:00Z";

fn now() -> Timestamp {
    NOW.parse().unwrap()
}

fn oslo() -> jiff::tz::TimeZone {
    jiff::tz::TimeZone::get("Europe/Oslo").unwrap()
}

/// Everything a protocol can see of the scene, as one text.
fn seen(world: &dyn World) -> String {
    let project = world.project().to_owned();
    let at = |name: &str| project.join(name);
    let relative = |answer: Result<Utf8PathBuf, ReadError>| {
        answer.map(|path| {
            path.strip_prefix(&project)
                .map(Utf8Path::to_owned)
                .unwrap_or(path)
        })
    };
    let mut pieces = Vec::new();
    let streamed = world.stream(&at("dir/a.txt"), &mut |piece| {
        pieces.extend_from_slice(piece);
    });
    [
        format!("now {}, zone {:?}", world.now(), world.zone().iana_name()),
        format!(
            "written {:?} {:?}",
            world.modified(&at("dir/a.txt")),
            world.modified(&at("nope"))
        ),
        format!(
            "home {:?} {:?}",
            world.variable("HOME"),
            world.variable("UNSET")
        ),
        format!("list {:?}", world.list(&project)),
        format!("list dir {:?}", world.list(&at("dir"))),
        format!("list missing {:?}", world.list(&at("missing"))),
        format!("list a file {:?}", world.list(&at("dir/a.txt"))),
        format!(
            "stat {:?} {:?}",
            world.stat(&at("dir/a.txt")),
            world.stat(&at("dir"))
        ),
        format!(
            "stat link {:?} {:?}",
            world.stat(&at("link")),
            world.stat(&at("nope/x"))
        ),
        format!(
            "is_file {:?}",
            ["dir/a.txt", "dir", "link", "into", "nope"].map(|n| world.is_file(&at(n)))
        ),
        format!(
            "resolve {:?} {:?}",
            relative(world.resolve(&at("link"))),
            world.resolve(&at("nope"))
        ),
        format!("read {:?}", world.read(&at("dir/a.txt"), 100)),
        format!(
            "read linked {:?} {:?}",
            world.read(&at("link"), 100),
            world.read(&at("into/a.txt"), 100)
        ),
        format!("read small {:?}", world.read(&at("dir/a.txt"), 2)),
        format!("read a folder {:?}", world.read(&at("dir"), 100)),
        format!("read binary {:?}", world.read(&at("binary"), 100)),
        format!("stream {streamed:?} {pieces:?}"),
        format!(
            "ends {:?}",
            [
                (End::Head, 2),
                (End::Tail, 3),
                (End::Tail, 0),
                (End::Head, 9)
            ]
            .map(|(end, most)| world.read_end(&at("dir/a.txt"), end, most))
        ),
        format!(
            "end of nothing {:?}",
            world.read_end(&at("nope"), End::Tail, 3)
        ),
        format!(
            "nobody {:?} {:?}",
            world.processes(&ProcessQuestion::Start { pid: NOBODY }),
            world.processes(&ProcessQuestion::Openers { file: at("nope") })
        ),
        format!(
            "locked {:?}",
            world.processes(&ProcessQuestion::Locked {
                file: at("dir/a.txt")
            })
        ),
    ]
    .join("\n")
}

fn memory() -> MemoryWorld {
    with_processes(
        MemoryWorld::new("/scene", now())
            .in_zone(oslo())
            .with_variable("HOME", "/home/me")
            .file("dir/a.txt", "hello\r\n")
            .written_at("dir/a.txt", now())
            .file("binary", [0xff, 0x00, b'x'])
            .link("link", "/scene/dir/a.txt")
            .link("into", "/scene/dir"),
    )
}

/// Adds what is known of processes on any machine.
fn with_processes(world: MemoryWorld) -> MemoryWorld {
    world
        .processes_say(
            ProcessQuestion::Start { pid: NOBODY },
            ProcessAnswer::Start(None),
        )
        .processes_say(
            ProcessQuestion::Openers {
                file: "/scene/nope".into(),
            },
            ProcessAnswer::Openers(Vec::new()),
        )
        .processes_say(
            ProcessQuestion::Locked {
                file: "/scene/dir/a.txt".into(),
            },
            ProcessAnswer::Locked(false),
        )
}

fn on_disk(folder: &Utf8Path) -> RealWorld {
    fs_err::create_dir(folder.join("dir")).unwrap();
    fs_err::write(folder.join("dir/a.txt"), "hello\r\n").unwrap();
    let written = std::time::SystemTime::from(now());
    let file = fs_err::File::open(folder.join("dir/a.txt")).unwrap();
    file.file().set_modified(written).unwrap();
    fs_err::write(folder.join("binary"), [0xff, 0x00, b'x']).unwrap();
    fs_err::os::unix::fs::symlink(folder.join("dir/a.txt"), folder.join("link")).unwrap();
    fs_err::os::unix::fs::symlink(folder.join("dir"), folder.join("into")).unwrap();
    RealWorld::new(
        folder.to_owned(),
        Clock::Fixed(now()),
        [("HOME".to_owned(), "/home/me".to_owned())].into(),
        "".into(),
    )
    .in_zone(Zone::Fixed(oslo()))
}

fn scratch() -> (tempfile::TempDir, Utf8PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = Utf8PathBuf::from_path_buf(folder.path().canonicalize().unwrap()).unwrap();
    (folder, path)
}

#[test]
fn all_forms_show_the_same_world() {
    let (_folder, path) = scratch();
    let real = on_disk(&path);
    let memory = memory();
    assert_eq!(seen(&real), seen(&memory));

    let recorder = Recorder::new(&real);
    let recorded = seen(&recorder);
    let recording = Recording::parse(&recorder.finish()).unwrap();
    assert_eq!(seen(&recording), recorded);
    assert_eq!(seen(&Witness::new(&recording)), recorded);
}

#[test]
fn git_asked_side_by_side_answers_as_one_at_a_time() {
    let (_folder, path) = scratch();
    // Stands in for git: the answer has the folder in it, and for one there is none.
    let script = "#!/bin/sh\ncase \"$*\" in *version*) echo git version 2.45.0;; */7\\ *) exit 128;; *) echo \"$*\";; esac\n";
    rekindle_testkit::process::write_script(path.join("git").as_std_path(), script).unwrap();
    let questions: Vec<(Utf8PathBuf, GitQuestion)> = (1..=40)
        .map(|number: u32| {
            let folder = path.join(number.to_string());
            fs_err::create_dir(&folder).unwrap();
            let commit = "HEAD".to_owned();
            (folder, GitQuestion::PrintedNamesIn { commit })
        })
        .collect();
    let real = RealWorld::new(
        path.clone(),
        Clock::Fixed(now()),
        [].into(),
        format!("{path}:/usr/bin:/bin").into(),
    );
    let one_at_a_time = |world: &dyn World| -> Vec<Result<GitAnswer, ReadError>> {
        let each = questions.iter();
        each.map(|(folder, question)| world.git(folder, question))
            .collect()
    };
    let known = one_at_a_time(&real);
    let is_of = |answer: &Result<GitAnswer, ReadError>, folder: &str| matches!(answer, Ok(GitAnswer::Printed(text)) if text.contains(&format!("/{folder} ")));
    assert!(known[6].is_err());
    assert!(is_of(&known[0], "1") && is_of(&known[39], "40"));
    assert_eq!(real.git_of_each(&questions), known);
    let (before, after) = (Witness::new(&real), Witness::new(&real));
    one_at_a_time(&before);
    assert_eq!(after.git_of_each(&questions), known);
    assert_eq!(before.digest(), after.digest());
    let recorder = Recorder::new(&real);
    assert_eq!(recorder.git_of_each(&questions), known);
    let recording = Recording::parse(&recorder.finish()).unwrap();
    assert_eq!(recording.git_of_each(&questions), known);
}

#[test]
fn a_witness_notices_every_byte_but_not_the_time() {
    let digest = |world: &MemoryWorld| {
        let witness = Witness::new(world);
        seen(&witness);
        witness.digest()
    };
    let before = digest(&memory());
    assert_eq!(digest(&memory()), before);
    assert_ne!(digest(&memory().file("dir/a.txt", "hallo\r\n")), before);
    assert_ne!(digest(&memory().file("new", "")), before);
    assert_ne!(digest(&memory().with_variable("HOME", "/home/you")), before);
    let mut later = memory();
    later = MemoryWorld::new("/scene", now() + jiff::SignedDuration::from_secs(1))
        .in_zone(oslo())
        .written_at("dir/a.txt", now())
        .with_variable("HOME", "/home/me")
        .file(
            "dir/a.txt",
            later.read(Utf8Path::new("/scene/dir/a.txt"), 100).unwrap(),
        )
        .file("binary", [0xff, 0x00, b'x'])
        .link("link", "/scene/dir/a.txt")
        .link("into", "/scene/dir");
    later = with_processes(later);
    assert_eq!(digest(&later), before);
}

#[test]
fn a_pipe_is_never_waited_for() {
    let (_folder, path) = scratch();
    let pipe = path.join("pipe");
    make_pipe(&pipe);
    let world = RealWorld::new(path.clone(), Clock::Fixed(now()), [].into(), "".into());
    assert_eq!(world.read(&pipe, 10), Err(ReadError::NotFound));
    let kinds: Vec<Entry> = world.list(&path).unwrap();
    assert_eq!(kinds[0].kind, Kind::Other);
}

#[expect(
    clippy::disallowed_methods,
    reason = "std has no call that makes a pipe with a name"
)]
fn make_pipe(path: &Utf8Path) {
    let status = std::process::Command::new("mkfifo")
        .arg(path)
        .status()
        .unwrap();
    assert!(status.success());
}

#[test]
fn a_damaged_recording_is_refused_with_its_line() {
    let recorder_file = {
        let memory = memory();
        let recorder = Recorder::new(&memory);
        seen(&recorder);
        recorder.finish()
    };
    assert!(matches!(
        Recording::parse(b""),
        Err(super::RecordingError::NoHeader)
    ));
    let text = String::from_utf8(recorder_file).unwrap();
    let other = text.replacen("capture/1", "capture/9", 1);
    assert!(matches!(
        Recording::parse(other.as_bytes()),
        Err(super::RecordingError::Schema(schema)) if schema == "rekindle.capture/9"
    ));
    let torn = &text[..text.len() - 5];
    let lines = torn.lines().count();
    assert!(matches!(
        Recording::parse(torn.as_bytes()),
        Err(super::RecordingError::Damaged { line, .. }) if line == lines
    ));
}
