//! Held against databases as SQLite itself leaves them: open, killed over, closed, damaged.

use std::collections::BTreeMap;

use camino::{Utf8Path, Utf8PathBuf};
use rusqlite::Connection;

use super::{answer_to, ask};
use crate::{
    Clock, DatabaseQuestion, MemoryWorld, ReadError, RealWorld, Recorder, Recording, World,
};

/// A folder with a database that a program is writing.
struct Scene {
    folder: tempfile::TempDir,
    writer: Connection,
}

impl Scene {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let writer = Connection::open(folder.path().join("a%20?#.db")).unwrap();
        writer
            .execute_batch(
                "PRAGMA journal_mode = WAL;
                 PRAGMA wal_autocheckpoint = 0;
                 CREATE TABLE word (id INTEGER, text, size REAL);
                 INSERT INTO word VALUES (1, 'one', 0.5), (2, NULL, 2);",
            )
            .unwrap();
        Self { folder, writer }
    }

    fn folder(&self) -> &Utf8Path {
        self.folder.path().try_into().unwrap()
    }

    fn database(&self) -> Utf8PathBuf {
        self.folder().join("a%20?#.db")
    }

    /// Returns what is left when the writer is killed: the files as they are now.
    fn killed(&self) -> (tempfile::TempDir, Utf8PathBuf) {
        let copy = tempfile::tempdir().unwrap();
        for (name, bytes) in files(self.folder()) {
            fs_err::write(copy.path().join(name), bytes).unwrap();
        }
        let database = Utf8PathBuf::try_from(copy.path().join("a%20?#.db")).unwrap();
        (copy, database)
    }
}

fn files(folder: &Utf8Path) -> BTreeMap<String, Vec<u8>> {
    let entries = folder.read_dir_utf8().unwrap().map(Result::unwrap);
    let read = |path: &Utf8Path| fs_err::read(path).unwrap();
    entries
        .map(|entry| (entry.file_name().to_owned(), read(entry.path())))
        .collect()
}

fn words() -> DatabaseQuestion {
    DatabaseQuestion::new("SELECT * FROM word WHERE id < ?1 ORDER BY id", &["9"])
}

fn said(database: &Utf8Path) -> String {
    let rows = ask(database, &words()).map_err(|error| error.to_string());
    format!("{rows:?}")
}

const BOTH: &str = r#"Ok([[Some("1"), Some("one"), Some("0.5")], [Some("2"), None, Some("2")]])"#;

#[test]
fn the_log_is_read_and_nothing_is_written() {
    let scene = Scene::new();
    assert_eq!(said(&scene.database()), BOTH);
    let (copy, database) = scene.killed();
    let folder = Utf8Path::from_path(copy.path()).unwrap();
    let before = files(folder);
    assert_eq!(before.len(), 3);
    assert_eq!(said(&database), BOTH);
    assert_eq!(files(folder), before);
}

#[test]
fn a_database_that_was_closed_is_read_without_a_log() {
    let scene = Scene::new();
    let database = scene.database();
    scene.writer.close().unwrap();
    let folder = Utf8Path::from_path(scene.folder.path()).unwrap();
    let before = files(folder);
    assert_eq!(before.len(), 1);
    assert_eq!(said(&database), BOTH);
    assert_eq!(files(folder), before);
}

#[test]
fn a_log_that_says_nothing_is_none() {
    let scene = Scene::new();
    scene
        .writer
        .execute_batch("PRAGMA wal_checkpoint(PASSIVE)")
        .unwrap();
    let (_copy, database) = scene.killed();
    let log = format!("{database}-wal");
    // Killed between the header and the first page; and a header that is none, which SQLite passes over.
    fs_err::OpenOptions::new()
        .write(true)
        .open(&log)
        .and_then(|log| log.set_len(32))
        .unwrap();
    assert_eq!(said(&database), BOTH);
    fs_err::write(&log, [b'x'; 9000]).unwrap();
    assert_eq!(said(&database), BOTH);
}

#[test]
fn the_writer_can_write_while_we_read() {
    let scene = Scene::new();
    assert_eq!(said(&scene.database()), BOTH);
    scene
        .writer
        .execute_batch("BEGIN IMMEDIATE; DELETE FROM word;")
        .unwrap();
    assert_eq!(said(&scene.database()), BOTH);
    scene.writer.execute_batch("COMMIT").unwrap();
    assert_eq!(said(&scene.database()), "Ok([])");
}

#[test]
fn a_database_that_cannot_be_read_completely_is_not_read() {
    let (copy, database) = Scene::new().killed();
    fs_err::remove_file(format!("{database}-shm")).unwrap();
    assert_eq!(said(&database), r#"Err("its log has no index")"#);
    let folder = Utf8Path::from_path(copy.path()).unwrap();
    assert_eq!(files(folder).len(), 2);
    let missing = ask(&folder.join("missing"), &words());
    assert_eq!(missing, Err(ReadError::NotFound));
    assert_eq!(ask(folder, &words()), Err(ReadError::NotFound));
    let damaged = folder.join("damaged");
    fs_err::write(&damaged, [b'x'; 8192]).unwrap();
    assert_eq!(said(&damaged), r#"Err("file is not a database")"#);
    fs_err::write(folder.join("damaged-journal"), "half a change").unwrap();
    assert_eq!(said(&damaged), r#"Err("a change of it is under way")"#);
}

#[test]
fn nothing_is_changed_and_nothing_runs_for_ever() {
    let scene = Scene::new();
    let refused = |sql: &str| {
        let answer = answer_to(&scene.database(), &DatabaseQuestion::new(sql, &[]));
        answer.unwrap_err().to_string()
    };
    let written = refused("DELETE FROM word");
    assert!(written.contains("readonly"), "{written}");
    let endless = refused(
        "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT max(x) FROM n",
    );
    assert!(endless.contains("interrupted"), "{endless}");
    let large = refused("SELECT hex(zeroblob(400000000))");
    assert!(large.contains("too big"), "{large}");
    scene
        .writer
        .execute_batch("ALTER TABLE word RENAME TO w; CREATE VIEW word AS SELECT * FROM w;")
        .unwrap();
    let view = refused(&words().sql);
    assert!(view.contains("view"), "{view}");
}

#[test]
fn a_recording_answers_as_the_database_did() {
    let scene = Scene::new();
    let now = "2026-01-20T12:00:00Z".parse().unwrap();
    let real = RealWorld::new(
        scene.folder().to_owned(),
        Clock::Fixed(now),
        [].into(),
        "".into(),
    );
    let recorder = Recorder::new(&real);
    let other = DatabaseQuestion::new("SELECT nothing FROM nowhere", &[]);
    let answers = |world: &dyn World| {
        [words(), other.clone()].map(|question| world.database(&scene.database(), &question))
    };
    let asked = answers(&recorder);
    let [Ok(rows), Err(_)] = &asked else {
        panic!("{asked:?}");
    };
    let memory = MemoryWorld::new(scene.folder(), now).database_says(
        scene.database(),
        words(),
        rows.clone(),
    );
    assert_eq!(answers(&memory)[0], asked[0]);
    assert_eq!(answers(&memory)[1], Err(ReadError::NotFound));
    let recording = Recording::parse(&recorder.finish()).unwrap();
    assert_eq!(answers(&recording), asked);
}
