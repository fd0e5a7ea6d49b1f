//! Reads databases with the tables of opencode.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

use camino::{Utf8Path, Utf8PathBuf};
use rekindle_agents::Preset;
use rekindle_agents::traces::{self, Fitness, LastSession, Owner, Reached};
use rekindle_world::{Clock, RealWorld};
use rusqlite::Connection;
use serde_json::{Value, json};

const TABLES: &str = "
    PRAGMA journal_mode = WAL;
    CREATE TABLE session (id text PRIMARY KEY, parent_id text, directory text NOT NULL, time_updated integer NOT NULL);
    CREATE TABLE message (id text PRIMARY KEY, session_id text NOT NULL, time_created integer NOT NULL, time_updated integer NOT NULL, data text NOT NULL);
    CREATE TABLE part (id text PRIMARY KEY, message_id text NOT NULL, session_id text NOT NULL, time_created integer NOT NULL, time_updated integer NOT NULL, data text NOT NULL);
";

/// A project and a home with a database, which stays open as in a running program.
struct Scene {
    _root: tempfile::TempDir,
    project: Utf8PathBuf,
    database: Utf8PathBuf,
    writer: Connection,
}

impl Scene {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let path = Utf8PathBuf::try_from(root.path().canonicalize().unwrap()).unwrap();
        let project = path.join("my_app");
        let data = path.join("home/.local/share/opencode");
        for folder in [&project, &data] {
            fs_err::create_dir_all(folder).unwrap();
        }
        let database = data.join("opencode.db");
        let writer = Connection::open(&database).unwrap();
        writer.execute_batch(TABLES).unwrap();
        Self {
            _root: root,
            project,
            database,
            writer,
        }
    }

    fn session(&self, id: &str, folder: &Utf8Path, parent: Option<&str>) {
        let row = (id, parent, folder.as_str());
        self.writer
            .execute("INSERT INTO session VALUES (?1, ?2, ?3, 1)", row)
            .unwrap();
    }

    /// Adds a message of a session with its parts, all said in one minute of the hour.
    fn message(&self, session: &str, minute: i64, data: &Value, parts: &[Value]) {
        let at = 1_794_825_000_000 + minute * 60_000;
        let message = format!("msg_{session}_{minute:02}");
        self.writer
            .execute(
                "INSERT INTO message VALUES (?1, ?2, ?3, ?3, ?4)",
                (&message, session, at, data.to_string()),
            )
            .unwrap();
        for (number, part) in parts.iter().enumerate() {
            let row = (
                format!("prt_{message}_{number}"),
                &message,
                session,
                at + 1000,
                part.to_string(),
            );
            self.writer
                .execute("INSERT INTO part VALUES (?1, ?2, ?3, ?4, ?4, ?5)", row)
                .unwrap();
        }
    }

    fn world(&self) -> RealWorld {
        let home = self.project.with_file_name("home").into_string();
        RealWorld::new(
            self.project.clone(),
            Clock::System,
            [("HOME".to_owned(), home)].into(),
            "".into(),
        )
    }

    fn last(&self) -> Option<LastSession> {
        traces::last_session(&self.world(), &self.project, &|id, _| id == "ses_own")
    }

    fn fitness(&self, session: &str) -> Fitness {
        traces::fitness(&self.world(), Preset::Opencode, session, &self.project)
    }
}

fn answer(finish: Option<&str>) -> Value {
    json!({"role": "assistant", "finish": finish})
}

fn tool(status: &str, command: &str) -> Value {
    json!({"type": "tool", "tool": "bash", "state": {"status": status, "input": {"command": command}}})
}

#[test]
fn the_last_message_gives_the_state() {
    let aborted =
        json!({"role": "assistant", "error": {"name": "MessageAbortedError", "data": {}}});
    let failed = json!({"role": "assistant", "error": {"name": "APIError"}, "finish": null});
    let in_tool = |line: &str| Reached::InTool(line.to_owned());
    for (message, parts, expected) in [
        (json!({"role": "user"}), vec![], Reached::InTurn),
        (
            answer(None),
            vec![json!({"type": "step-start"})],
            Reached::InTurn,
        ),
        (
            answer(None),
            vec![tool("running", "cargo test"), json!({"type": "text"})],
            in_tool("bash: cargo test"),
        ),
        (
            answer(None),
            vec![
                tool("running", "ls"),
                tool("pending", "make"),
                tool("completed", "true"),
            ],
            in_tool("bash: make"),
        ),
        (
            answer(None),
            vec![
                json!({"type": "tool", "tool": "write", "state": {"status": "running",
                "input": {"filePath": "a.txt", "content": "x".repeat(200_000)}}}),
            ],
            in_tool("write: a.txt"),
        ),
        (
            answer(None),
            vec![tool("running", "curl -u me:hunter22 x")],
            in_tool("bash: curl -u me:*** x"),
        ),
        (answer(None), vec![tool("error", "ls")], Reached::InTurn),
        (
            answer(Some("tool-calls")),
            vec![tool("completed", "ls")],
            Reached::InTurn,
        ),
        (
            answer(Some("stop")),
            vec![tool("completed", "ls")],
            Reached::EndOfTurn,
        ),
        (answer(Some("length")), vec![], Reached::EndOfTurn),
        (aborted, vec![tool("running", "ls")], Reached::Interrupted),
        (failed, vec![], Reached::EndOfTurn),
    ] {
        let scene = Scene::new();
        scene.session("ses_a", &scene.project, None);
        scene.message("ses_a", 1, &answer(Some("stop")), &[]);
        scene.message("ses_a", 2, &message, &parts);
        let last = scene.last().unwrap();
        assert_eq!(last.reached, expected, "{message} {parts:?}");
        assert_eq!((last.agent, last.id.as_str()), (Preset::Opencode, "ses_a"));
    }
}

#[test]
fn the_session_with_the_last_message_counts() {
    let scene = Scene::new();
    let open = answer(None);
    let below = scene.project.join("crates");
    let other = scene.project.join("other");
    fs_err::create_dir_all(other.join(".git")).unwrap();
    scene.session("ses_first", &scene.project, None);
    scene.message("ses_first", 1, &answer(Some("stop")), &[]);
    scene.session("ses_below", &below, None);
    scene.message("ses_below", 3, &open, &[tool("running", "make")]);
    // A subagent of its, another checkout, another project of a like name, and the one that asks.
    scene.session("ses_sub", &below, Some("ses_below"));
    scene.session("ses_other", &other, None);
    let neighbour = Utf8PathBuf::from(format!("{}_2", scene.project));
    scene.session("ses_neighbour", &neighbour, None);
    scene.session("ses_own", &scene.project, None);
    for (minute, later) in [
        (4, "ses_sub"),
        (5, "ses_other"),
        (6, "ses_neighbour"),
        (7, "ses_own"),
    ] {
        scene.message(later, minute, &open, &[]);
    }
    let last = scene.last().unwrap();
    assert_eq!(last.id, "ses_below");
    let at = "2026-11-16T10:33:01Z".parse().ok();
    assert_eq!(last.at, at);
    let file = scene.database.clone();
    let (folder, other) = (below, None);
    assert_eq!(
        last.owners,
        [Owner::Opener {
            file,
            folder,
            at,
            other
        }]
    );
}

#[test]
fn the_owner_names_another_session_of_the_folder() {
    let scene = Scene::new();
    for (id, minute) in [("ses_idle", 2), ("ses_died", 5)] {
        scene.session(id, &scene.project, None);
        scene.message(id, minute, &answer(None), &[]);
    }
    let last = scene.last().unwrap();
    assert_eq!(last.id, "ses_died");
    let [Owner::Opener { other, .. }] = last.owners.as_slice() else {
        panic!("{last:?}");
    };
    assert_eq!(*other, "2026-11-16T10:32:00Z".parse().ok());
}

#[test]
fn many_sessions_of_other_checkouts_do_not_hide_ours() {
    let scene = Scene::new();
    scene.session("ses_own_project", &scene.project, None);
    scene.message("ses_own_project", 1, &answer(None), &[]);
    for number in 0..60 {
        let checkout = scene.project.join(format!("wt/{number}"));
        fs_err::create_dir_all(checkout.join(".git")).unwrap();
        let id = format!("ses_{number}");
        scene.session(&id, &checkout, None);
        scene.message(&id, 2, &answer(None), &[]);
    }
    assert_eq!(scene.last().unwrap().id, "ses_own_project");
}

#[test]
fn a_session_is_resumed_in_its_own_folder() {
    let scene = Scene::new();
    assert_eq!(scene.fitness("ses_a"), Fitness::Unknown);
    let elsewhere = scene.project.join("crates");
    scene.session("ses_here", &scene.project, None);
    scene.session("ses_there", &elsewhere, None);
    assert!(matches!(scene.fitness("ses_here"), Fitness::Whole(owners) if owners.len() == 1));
    assert_eq!(scene.fitness("ses_there"), Fitness::Elsewhere(elsewhere));
    assert_eq!(scene.fitness("ses_a"), Fitness::Missing);
    assert_eq!(scene.fitness("--yes"), Fitness::Missing);
}

#[test]
fn invalid_data_is_ignored() {
    let scene = Scene::new();
    assert_eq!(scene.last(), None);
    scene.session("ses_a", &scene.project, None);
    assert_eq!(scene.last(), None);
    scene.session("ses own\u{1b}", &scene.project, None);
    scene.message("ses own\u{1b}", 9, &answer(None), &[]);
    assert_eq!(scene.last(), None);
    scene.message("ses_a", 1, &answer(None), &[tool("running", "make")]);
    assert!(scene.last().is_some());
    // An invalid part hides no other; an invalid last message still makes its session the last.
    scene
        .writer
        .execute_batch(
            "INSERT INTO part SELECT 'prt_z', message_id, session_id, 1, 1, '{' FROM part",
        )
        .unwrap();
    let in_tool = Reached::InTool("bash: make".to_owned());
    assert_eq!(scene.last().unwrap().reached, in_tool);
    scene.session("ses_b", &scene.project, None);
    scene.message("ses_b", 2, &answer(None), &[]);
    scene
        .writer
        .execute_batch("UPDATE message SET data = '{' WHERE session_id = 'ses_b'")
        .unwrap();
    let last = scene.last().unwrap();
    assert_eq!(
        (last.id.as_str(), last.reached),
        ("ses_b", Reached::Unknown)
    );
    scene.writer.execute_batch("DROP TABLE message").unwrap();
    assert_eq!(scene.last(), None);
}
