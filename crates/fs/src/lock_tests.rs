use std::fs;
use std::io::Write as _;
use std::os::unix::fs::symlink;

use super::*;
use crate::Departure;

const NOW: &str = "2026-11-15T21:00:00Z";

fn folder() -> (tempfile::TempDir, Utf8PathBuf) {
    let (folder, path) = crate::log::tests::folder();
    (folder, path.join("lock"))
}

fn acquire(path: &Utf8Path) -> Result<Lock, LockError> {
    Lock::acquire(path, "resume agent-memory:x", NOW.into())
}

fn put(path: &Utf8Path, bytes: &[u8]) {
    fs::File::create(path).unwrap().write_all(bytes).unwrap();
}

#[test]
fn a_second_acquire_names_the_holder() {
    let (_folder, path) = folder();
    let lock = acquire(&path).unwrap();
    let error = acquire(&path).unwrap_err();
    let LockError::Held {
        path: named,
        holder: Some(holder),
    } = &error
    else {
        panic!("{error:?}")
    };
    assert_eq!(named, &path);
    assert_eq!(holder.process, ProcessIdentity::current());
    let (pid, host) = (holder.process.pid, &holder.process.host);
    assert_eq!(
        error.to_string(),
        format!(
            "the run is held by process {pid} (`resume agent-memory:x`) on `{host}` since {NOW}; lock file `{path}`"
        )
    );
    assert_eq!(lock.path(), path);
}

#[test]
fn dropping_the_lock_frees_it_and_empties_the_file() {
    let (_folder, path) = folder();
    drop(acquire(&path).unwrap());
    assert_eq!(fs::read(&path).unwrap(), b"");
    drop(acquire(&path).unwrap());
}

#[test]
fn the_text_is_one_json_object_with_a_version() {
    let (_folder, path) = folder();
    let _lock = acquire(&path).unwrap();
    let text = fs::read_to_string(&path).unwrap();
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(value["v"], 1);
    assert_eq!(value["process"]["pid"], std::process::id());
    assert_eq!(value["purpose"], "resume agent-memory:x");
    assert_eq!(value["since"], NOW);
    assert!(text.ends_with("}\n"));
}

#[test]
fn a_shorter_holder_text_replaces_a_longer_one_completely() {
    let (_folder, path) = folder();
    put(&path, "x".repeat(10_000).as_bytes());
    let _lock = acquire(&path).unwrap();
    assert!(matches!(
        Lock::probe(&path).unwrap(),
        Occupancy::Held(Some(_))
    ));
}

#[test]
fn an_unreadable_holder_text_still_gives_a_useful_message() {
    let (_folder, path) = folder();
    let gone = Holder {
        process: ProcessIdentity {
            boot_id: Some("an earlier boot".into()),
            ..ProcessIdentity::current()
        },
        purpose: "p".into(),
        since: NOW.into(),
    };
    let mut texts = vec![
        b"".to_vec(),
        b"{\"v\":1,\"proc".to_vec(),
        b"\xff\0".to_vec(),
        b"[]".to_vec(),
    ];
    if gone.process.is_alive() == Liveness::Gone {
        texts.push(serde_json::to_vec(&gone).unwrap());
    }
    let _lock = acquire(&path).unwrap();
    for text in texts {
        put(&path, &text);
        let error = acquire(&path).unwrap_err();
        assert!(
            matches!(error, LockError::Held { holder: None, .. }),
            "{error:?}"
        );
        assert!(error.to_string().contains(path.as_str()));
        assert_eq!(Lock::probe(&path).unwrap(), Occupancy::Held(None));
    }
}

#[test]
fn control_characters_of_a_foreign_text_are_not_printed() {
    let (_folder, path) = folder();
    let holder = Holder {
        process: ProcessIdentity::current(),
        purpose: "\u{1b}[31mred\nline".into(),
        since: NOW.into(),
    };
    let text = describe(&path, Some(&holder));
    assert!(!text.contains(char::is_control), "{text:?}");
}

#[test]
fn probing_returns_the_holder_and_creates_nothing() {
    let (_folder, path) = folder();
    assert_eq!(Lock::probe(&path).unwrap(), Occupancy::Free);
    assert!(!path.exists());

    let lock = acquire(&path).unwrap();
    let Occupancy::Held(Some(holder)) = Lock::probe(&path).unwrap() else {
        panic!()
    };
    assert_eq!(holder.process.pid, std::process::id());
    drop(lock);
    assert_eq!(Lock::probe(&path).unwrap(), Occupancy::Free);
}

#[test]
fn an_acquire_that_meets_a_probe_tries_again() {
    let (_folder, path) = folder();
    drop(acquire(&path).unwrap());
    let probe = fs::File::open(&path).unwrap();
    probe.try_lock_shared().unwrap();
    let mut n_pauses = 0;
    let lock = Lock::acquire_with(&path, "resume", NOW.into(), N_ATTEMPTS, || {
        n_pauses += 1;
        probe.unlock().unwrap();
    });
    drop(lock.unwrap());
    assert_eq!(n_pauses, 1);
}

#[test]
fn links_and_folders_are_not_used_as_lock_files() {
    let (_folder, path) = folder();
    let target = path.with_file_name("precious");
    put(&target, b"precious");
    symlink(&target, &path).unwrap();
    assert!(matches!(
        acquire(&path),
        Err(LockError::Unusable(Error::Link { .. }))
    ));
    let second = path.with_file_name("second");
    fs::hard_link(&target, &second).unwrap();
    assert!(matches!(
        acquire(&second),
        Err(LockError::Unusable(Error::SeveralNames { .. }))
    ));
    assert_eq!(fs::read(&target).unwrap(), b"precious");
    assert!(acquire(path.parent().unwrap()).is_err());
}

#[cfg(target_os = "linux")]
#[test]
fn a_pipe_is_not_waited_for() {
    let (_folder, path) = folder();
    let pipe = path.with_file_name("pipe");
    let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
    rustix::fs::mknodat(
        rustix::fs::CWD,
        pipe.as_std_path(),
        rustix::fs::FileType::Fifo,
        mode,
        0,
    )
    .unwrap();
    assert!(matches!(
        acquire(&pipe),
        Err(LockError::Unusable(Error::NotAFile { .. }))
    ));
    assert!(matches!(Lock::probe(&pipe), Err(Error::NotAFile { .. })));
}

#[test]
fn a_deleted_lock_file_is_noticed_by_its_holder() {
    let (_folder, path) = folder();
    let lock = acquire(&path).unwrap();
    lock.verify().unwrap();
    fs::remove_file(&path).unwrap();
    assert!(matches!(lock.verify(), Err(Error::Replaced(named)) if named == path));
    let _other = acquire(&path).unwrap();
    assert!(lock.verify().is_err());
}

#[test]
fn a_local_disk_is_not_a_network_share() {
    let (_folder, path) = folder();
    assert!(!acquire(&path).unwrap().is_on_network_share());
}

#[test]
fn patient_acquire_gets_the_lock_when_its_holder_releases_it() {
    let (_folder, path) = folder();
    let lock = acquire(&path).unwrap();
    let mut held = Some(lock);
    let mut n_pauses = 0;
    let taken = Lock::acquire_with(&path, "map", NOW.into(), 100, || {
        n_pauses += 1;
        if n_pauses == 50 {
            held = None;
        }
    });
    assert!(taken.is_ok() && n_pauses == 50);
}

#[test]
fn a_foreign_lock_file_is_neither_created_nor_written() {
    let (_folder, path) = folder();
    assert!(ForeignLock::acquire(&path).unwrap().is_none());
    assert!(!path.exists());
    put(&path, b"theirs");
    let held = ForeignLock::acquire(&path).unwrap().unwrap();
    assert!(matches!(acquire(&path), Err(LockError::Held { .. })));
    drop(held);
    assert_eq!(fs::read(&path).unwrap(), b"theirs");
}

#[test]
fn a_life_that_was_stamped_is_known_to_those_who_come_later() {
    let (_folder, path) = folder();
    let left = || Lock::last_life_at(&path).unwrap();
    let life = |seen: &str, departure| LastLife {
        seen: seen.to_owned(),
        departure,
    };
    let lock = acquire(&path).unwrap();
    assert_eq!(lock.last_life(), None);
    lock.stamp("2026-11-15T21:00:00Z").unwrap();
    lock.stamp("2026-11-15T21:00:30Z").unwrap();
    // A refused process still learns who the holder is, and nothing of a life that goes on.
    assert!(matches!(
        Lock::probe(&path).unwrap(),
        Occupancy::Held(Some(_))
    ));
    assert_eq!(left(), None);
    // What a kill leaves.
    let killed = fs::read(&path).unwrap();
    drop(lock);
    let released = life("2026-11-15T21:00:30Z", Departure::Released);
    assert_eq!(left(), Some(released.clone()));
    assert_eq!(Lock::probe(&path).unwrap(), Occupancy::Free);
    let died = life("2026-11-15T21:00:30Z", Departure::Died);
    for (text, expect) in [(fs::read(&path).unwrap(), released), (killed, died)] {
        put(&path, &text);
        // A command that never stamps hands it on, even if it is killed as well.
        let brief = acquire(&path).unwrap();
        assert_eq!(brief.last_life(), Some(expect.clone()));
        let of_brief = fs::read(&path).unwrap();
        drop(brief);
        assert_eq!(left(), Some(expect.clone()));
        put(&path, &of_brief);
        assert_eq!(left(), Some(expect));
    }
}
