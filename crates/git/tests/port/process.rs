//! Children that hang, flood, ignore signals or leave others behind. Here a script plays git.

use std::fs::{File, OpenOptions};
use std::io::Read;
use std::os::unix::process::ExitStatusExt;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use camino::Utf8Path;
use rekindle_git::{Error, Message, Repo};
use rustix::fs::{CWD, FileType, Mode, mknodat};

use crate::fixture::Fixture;

/// Longer than anything here takes on a busy machine; only a failure waits for it.
const PATIENCE: Duration = Duration::from_secs(10);
const SHORT: Duration = Duration::from_millis(200);

fn make_fifo(path: &Utf8Path) {
    mknodat(
        CWD,
        path.as_std_path(),
        FileType::Fifo,
        Mode::RUSR | Mode::WUSR,
        0,
    )
    .unwrap();
}

/// Sends when nobody has the fifo open for writing any more.
fn when_released(fifo: &Utf8Path) -> mpsc::Receiver<()> {
    let (sender, receiver) = mpsc::channel();
    let fifo = fifo.to_owned();
    thread::spawn(move || {
        File::open(fifo)
            .unwrap()
            .read_to_end(&mut Vec::new())
            .unwrap();
        sender.send(()).ok();
    });
    receiver
}

#[test]
fn a_hanging_git_is_stopped_with_all_it_has_started() {
    let fixture = Fixture::empty();
    make_fifo(&fixture.root.join("block"));
    make_fifo(&fixture.root.join("alive"));
    let released = when_released(&fixture.root.join("alive"));
    let program = fixture
        .fake_program("exec 3>$root/alive; (read x <$root/block) & read x <$root/block")
        .with_limit(SHORT);
    let error = Repo::at(&program, &fixture.dir).status().unwrap_err();
    assert!(
        matches!(&error, Error::TimedOut { limit, .. } if *limit == SHORT),
        "{error}"
    );
    assert!(
        error.to_string().contains("`git status --porcelain=v2"),
        "{error}"
    );
    released
        .recv_timeout(PATIENCE)
        .expect("a process of the group is still there");
}

#[test]
fn a_git_that_ignores_the_request_to_end_is_killed() {
    let fixture = Fixture::empty();
    make_fifo(&fixture.root.join("block"));
    make_fifo(&fixture.root.join("alive"));
    let released = when_released(&fixture.root.join("alive"));
    let script = "trap '' TERM; exec 3>$root/alive; while :; do read x <$root/block; done";
    let program = fixture.fake_program(script).with_limit(SHORT);
    let error = Repo::at(&program, &fixture.dir).status().unwrap_err();
    assert!(matches!(error, Error::TimedOut { .. }), "{error}");
    released
        .recv_timeout(PATIENCE)
        .expect("the process is still there");
}

#[test]
fn a_git_that_closes_its_outputs_and_hangs_is_stopped() {
    let fixture = Fixture::empty();
    make_fifo(&fixture.root.join("block"));
    let script = "exec >/dev/null 2>&1; read x <$root/block";
    let program = fixture.fake_program(script).with_limit(SHORT);
    let error = Repo::at(&program, &fixture.dir).status().unwrap_err();
    assert!(matches!(error, Error::TimedOut { .. }), "{error}");
}

#[test]
fn a_process_left_behind_with_our_pipes_does_not_hold_us() {
    let fixture = Fixture::empty();
    let block = fixture.root.join("block");
    make_fifo(&block);
    let program = fixture
        .fake_program("(read x <$root/block) & printf '/some/where\\n'")
        .with_limit(PATIENCE);
    let start = Instant::now();
    let common = Repo::at(&program, &fixture.dir).common_dir().unwrap();
    assert_eq!(common, "/some/where");
    assert!(start.elapsed() < PATIENCE, "the limit was waited for");
    // Lets the process go.
    drop(OpenOptions::new().write(true).open(block).unwrap());
}

#[test]
fn a_megabyte_on_both_outputs_is_read() {
    let fixture = Fixture::empty();
    let flood = "flood() { head -c 1048576 /dev/zero | tr '\\0' $1; }";
    let script = format!("{flood}; flood e >&2; flood o; flood e >&2; flood o");
    let repo = Repo::at(&fixture.fake_program(&script), &fixture.dir);
    let common = repo.common_dir().unwrap();
    assert_eq!(common.as_str().len(), 2 * 1_048_576);

    let script = format!("{flood}; flood o; flood e >&2; echo the end >&2; exit 7");
    let repo = Repo::at(&fixture.fake_program(&script), &fixture.dir);
    let error = repo.top_level().unwrap_err();
    let Error::Failed {
        status,
        stderr,
        args,
        dir,
    } = &error
    else {
        panic!("{error}")
    };
    assert_eq!(status.code(), Some(7));
    assert!(stderr.len() <= 8192 && stderr.ends_with("the end\n"));
    assert_eq!(
        args,
        &["rev-parse", "--path-format=absolute", "--show-toplevel"]
    );
    assert_eq!(*dir, fixture.dir);
}

#[test]
fn input_that_is_not_read_does_no_harm() {
    let fixture = Fixture::empty();
    let body = "a line of the message\n".repeat(100_000);
    let message = Message {
        subject: "big".to_owned(),
        body,
        trailers: Vec::new(),
    };
    let tree = fixture.repo().empty_tree().unwrap();

    let careless = Repo::at(&fixture.fake_program(&format!("echo {tree}")), &fixture.dir);
    assert_eq!(
        careless.commit_tree(&tree, &[], &message, None).unwrap(),
        tree
    );

    let commit = fixture
        .repo()
        .commit_tree(&tree, &[], &message, None)
        .unwrap();
    let read = fixture.git(["cat-file", "commit", commit.as_str()]);
    assert!(read.ends_with(message.body.trim()));
}

#[test]
fn death_by_a_signal_is_reported() {
    let fixture = Fixture::empty();
    let repo = Repo::at(&fixture.fake_program("kill -9 $$"), &fixture.dir);
    let error = repo.status().unwrap_err();
    assert!(
        matches!(&error, Error::Failed { status, .. } if status.signal() == Some(9)),
        "{error}"
    );
}

#[test]
fn questions_are_bounded_in_processes() {
    let fixture = Fixture::new();
    fixture.write("new", "x");
    let base = fixture.git_id(["rev-parse", "HEAD"]);
    let repo = fixture.repo();
    let cost = |question: &dyn Fn()| {
        let before = fixture.program.processes_started();
        question();
        fixture.program.processes_started() - before
    };
    assert_eq!(cost(&|| drop(repo.status().unwrap())), 1);
    assert_eq!(cost(&|| drop(repo.worktrees().unwrap())), 1);
    assert_eq!(cost(&|| drop(repo.log("HEAD").unwrap())), 1);
    assert_eq!(cost(&|| drop(repo.head().unwrap())), 2);
    assert_eq!(cost(&|| drop(repo.changes(&base).unwrap())), 4);
    assert!(cost(&|| drop(repo.rescue("w", "t").unwrap())) <= 18);

    // One more to learn which filters must not run, and one to learn which submodules there are.
    let looking = Repo::at(&fixture.program.for_looking(), &fixture.dir);
    assert_eq!(cost(&|| drop(looking.status().unwrap())), 2);
    assert_eq!(cost(&|| drop(looking.worktrees().unwrap())), 1);
    assert_eq!(cost(&|| drop(looking.staged().unwrap())), 2);
    assert_eq!(cost(&|| drop(looking.changes(&base).unwrap())), 6);
}
