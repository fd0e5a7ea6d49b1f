//! What only real processes can show: locks that die with their holder, and a disk that is full.
//!
//! The test binary starts itself again with a role in the environment. A role says when it is ready
//! by a line on its standard output and then waits for its standard input to close, so that no test
//! has to sleep.

#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests; the allowance of clippy.toml covers only the tests themselves"
)]

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Child, ChildStdout, Command, Stdio};

use camino::{Utf8Path, Utf8PathBuf};
use rekindle_fs::{
    Error, Journal, Key, Liveness, Lock, LockError, Log, Occupancy, ProcessIdentity, Tail,
};

const ROLE: &str = "REKINDLE_FS_TEST_ROLE";
const FILE: &str = "REKINDLE_FS_TEST_FILE";
const READY: &str = "ready ";
const NOW: &str = "2026-11-15T21:00:00Z";

fn folder() -> (tempfile::TempDir, Utf8PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = Utf8PathBuf::try_from(folder.path().to_owned()).unwrap();
    (folder, path)
}

#[expect(clippy::disallowed_methods, reason = "these tests are about processes")]
fn command(program: &str) -> Command {
    Command::new(program)
}

/// This binary again, as a command that will run only the test `roles` in the given role.
fn this_binary_as(role: &str, file: &Utf8Path) -> Command {
    let binary = std::env::current_exe().unwrap();
    let mut command = command(binary.to_str().unwrap());
    command.args(["--exact", "roles", "--nocapture", "--test-threads=1"]);
    command
        .env(ROLE, role)
        .env(FILE, file)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    command
}

/// A process in its role, and what it said when it was ready.
struct Started {
    process: Child,
    said: String,
    /// Kept open, because the test harness in there must be able to say how it went.
    _output: BufReader<ChildStdout>,
}

/// Starts the command and waits until it is ready.
fn start(mut command: Command) -> Started {
    let mut process = command.spawn().unwrap();
    let mut output = BufReader::new(process.stdout.take().unwrap());
    let mut line = String::new();
    while !line.starts_with(READY) {
        line.clear();
        let n_read = output.read_line(&mut line).unwrap();
        assert_ne!(n_read, 0, "the role never became ready");
    }
    Started {
        process,
        said: line[READY.len()..].trim_end().to_owned(),
        _output: output,
    }
}

/// Opens a journal with a key that is next to it.
fn open(path: &Utf8Path) -> Journal<String> {
    let key = Key::read_or_make(&path.with_file_name("keys").join("key")).unwrap();
    Journal::open(path, Some(key.seal(&[]))).unwrap()
}

/// Not a test of its own: what the re-executed binary does. Without a role it has nothing to do.
#[test]
fn roles() {
    #[expect(
        clippy::disallowed_methods,
        reason = "the re-executed binary is configured this way"
    )]
    let (Ok(role), Ok(file)) = (std::env::var(ROLE), std::env::var(FILE)) else {
        return;
    };
    let file = Utf8PathBuf::from(file);
    match role.as_str() {
        "hold" => {
            let _lock = Lock::acquire(&file, "resume agent-memory:x", NOW.into()).unwrap();
            println!("\n{READY}{}", std::process::id());
            std::io::stdin().read_to_end(&mut Vec::new()).unwrap();
        }
        "hold-and-start-a-child" => {
            let _lock = Lock::acquire(&file, "resume", NOW.into()).unwrap();
            // Its standard input is ours, whose other end is in the test: it outlives us.
            let mut child = command("cat").stdout(Stdio::null()).spawn().unwrap();
            println!("\n{READY}{}", child.id());
            child.wait().unwrap();
        }
        "append-to-a-full-disk" => {
            let error = Log::open(&file).unwrap().append(&[b'x'; 4096]).unwrap_err();
            assert!(
                matches!(&error, Error::Io { path, .. } if *path == file),
                "{error:?}"
            );
            println!("\n{READY}{error}");
        }
        "journal-on-a-full-disk" => {
            let mut journal = open(&file);
            let first = journal.begin(NOW, &"fits".to_owned()).unwrap();
            journal.begin(NOW, &"x".repeat(4096)).unwrap_err();
            assert_eq!(journal.open_intents().len(), 1);
            println!("\n{READY}{first}");
        }
        other => panic!("no such role: {other}"),
    }
}

#[test]
fn a_lock_held_by_another_process_names_it_and_is_free_when_it_is_killed() {
    let (_folder, base) = folder();
    let path = base.join("lock");
    let mut holder = start(this_binary_as("hold", &path));
    assert_eq!(holder.said, holder.process.id().to_string());

    let error = Lock::acquire(&path, "resume", NOW.into()).unwrap_err();
    let LockError::Held {
        holder: Some(named),
        ..
    } = &error
    else {
        panic!("{error:?}")
    };
    assert_eq!(named.process.pid, holder.process.id());
    assert!(
        error
            .to_string()
            .contains(&format!("process {}", holder.process.id())),
        "{error}"
    );
    assert!(matches!(
        Lock::probe(&path).unwrap(),
        Occupancy::Held(Some(_))
    ));

    holder.process.kill().unwrap();
    holder.process.wait().unwrap();
    assert_eq!(Lock::probe(&path).unwrap(), Occupancy::Free);
    let lock = Lock::acquire(&path, "resume", NOW.into()).unwrap();
    lock.verify().unwrap();
}

#[cfg(target_os = "linux")]
#[test]
fn a_child_that_outlives_the_holder_does_not_keep_the_lock() {
    let (_folder, base) = folder();
    let path = base.join("lock");
    let mut holder = start(this_binary_as("hold-and-start-a-child", &path));
    let child = ProcessIdentity::of(holder.said.parse().unwrap()).unwrap();

    // `Child::wait` closes the pipe, which would end the grandchild as well.
    let pipe = holder.process.stdin.take();
    holder.process.kill().unwrap();
    holder.process.wait().unwrap();
    let lock = Lock::acquire(&path, "resume", NOW.into()).unwrap();
    assert_eq!(
        child.is_alive(),
        Liveness::Alive,
        "otherwise this test shows nothing"
    );
    drop((lock, pipe));
}

/// The command under a limit of the size of files, as a shell sets it; beyond it writes are short.
#[cfg(target_os = "linux")]
fn with_little_disk(role: &str, file: &Utf8Path) -> Command {
    let inner = this_binary_as(role, file);
    let mut outer = command("sh");
    outer.args(["-c", "trap '' XFSZ; ulimit -f 1; exec \"$@\"", "sh"]);
    outer.arg(inner.get_program()).args(inner.get_args());
    outer
        .env(ROLE, role)
        .env(FILE, file)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    outer
}

#[cfg(target_os = "linux")]
#[test]
fn a_short_write_is_an_error_and_the_next_append_is_safe() {
    let (_folder, base) = folder();
    let path = base.join("log");
    assert_eq!(
        Log::open(&path).unwrap().append(b"before").unwrap(),
        Tail::Whole
    );
    let mut child = start(with_little_disk("append-to-a-full-disk", &path));
    assert!(child.process.wait().unwrap().success());
    assert!(child.said.contains(path.as_str()), "{}", child.said);

    assert_eq!(
        Log::open(&path).unwrap().append(b"after").unwrap(),
        Tail::Torn
    );
    let text = std::fs::read_to_string(&path).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!((lines[0], lines[2], lines.len()), ("before", "after", 3));
    assert!(lines[1].len() < 4096 && lines[1].bytes().all(|byte| byte == b'x'));
}

#[cfg(target_os = "linux")]
#[test]
fn an_intent_that_did_not_fit_on_the_disk_never_started() {
    let (_folder, base) = folder();
    let path = base.join("journal");
    let mut child = start(with_little_disk("journal-on-a-full-disk", &path));
    assert!(child.process.wait().unwrap().success());

    let mut journal = open(&path);
    let bodies: Vec<&str> = journal
        .open_intents()
        .iter()
        .map(|open| open.body.as_str())
        .collect();
    assert_eq!(bodies, ["fits"]);
    assert_eq!(journal.damage().len(), 1);
    journal.begin(NOW, &"later".to_owned()).unwrap();
    assert_eq!(open(&path).open_intents().len(), 2);
}
