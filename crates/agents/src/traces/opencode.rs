//! opencode: a SQLite database, `opencode.db`, with the tables `session`, `message` and `part`.
//!
//! Observed with 1.18.33: every answer of the model is a message with parts, and a tool is a part with
//! the status `running` until it has a result. A complete message has a finish reason; after
//! `tool-calls` another must follow. A kill changes nothing; an interrupt of the user adds an error.
//! Sub-agents have sessions with a parent. Sessions do not record their process, but every opencode
//! has the database open while it runs.

use camino::{Utf8Path, Utf8PathBuf};
use jiff::Timestamp;
use rekindle_world::{DatabaseQuestion, DatabaseRow, ReadError, World};
use serde_json::Value;

use super::{Fitness, LastSession, Owner, Reached, home, is_part_of, tool_line};
use crate::Preset;

/// The newest sessions of a folder and those below it, by their last message; the time of a session
/// changes only with its title and summary.
const SESSIONS: &str = "\
    SELECT id, directory,
           (SELECT max(time_created) FROM message WHERE session_id = session.id) AS spoken
    FROM session
    WHERE parent_id IS NULL AND spoken IS NOT NULL
      AND (directory = ?1 OR substr(directory, 1, length(?1) + 1) = ?1 || '/')
    ORDER BY spoken DESC, id DESC LIMIT 2000";
/// The last message of a session.
const LAST_MESSAGE: &str = "\
    SELECT id, time_updated, json_valid(data),
           CASE WHEN json_valid(data) THEN data ->> '$.finish' END,
           CASE WHEN json_valid(data) THEN data ->> '$.error.name' END
    FROM message WHERE session_id = ?1
    ORDER BY time_created DESC, id DESC LIMIT 1";
/// The parts of a message, the last one first, with the inputs of open tool calls. Long outputs are
/// not read, and inputs are truncated.
const PARTS: &str = "\
    SELECT time_updated, CASE WHEN is_open THEN substr(data ->> '$.tool', 1, 200) END,
           CASE WHEN is_open THEN (SELECT json_group_object(key, substr(value, 1, 1000))
                                   FROM json_each(data, '$.state.input')) END
    FROM (SELECT id, time_updated, data,
                 CASE WHEN json_valid(data)
                      THEN data ->> '$.state.status' IN ('pending', 'running') END AS is_open
          FROM part WHERE message_id = ?1 ORDER BY id DESC LIMIT 400)
    ORDER BY id DESC";
/// The folder in which a session was started.
const FOLDER: &str = "SELECT directory FROM session WHERE id = ?1";
/// Any session at all.
const ANY: &str = "SELECT id FROM session LIMIT 1";

pub(super) fn last_session(
    world: &dyn World,
    folder: &Utf8Path,
    is_ours: &dyn Fn(&str, &[Owner]) -> bool,
) -> Option<LastSession> {
    let real = world.resolve(folder).ok()?;
    let database = Database::of(world)?;
    let rows = database.ask(SESSIONS, &[real.as_str()]).ok()?;
    let sessions: Vec<Session> = rows.into_iter().filter_map(Session::read).collect();
    sessions
        .iter()
        .filter(|session| is_part_of(world, &real, &session.folder))
        .find_map(|session| {
            let (reached, at) = database.reached(&session.id);
            let is_other =
                |other: &&Session| other.id != session.id && other.folder == session.folder;
            let other = sessions
                .iter()
                .find(is_other)
                .and_then(|other| other.spoken);
            let owners = vec![database.owner(session.folder.clone(), at, other)];
            if is_ours(&session.id, &owners) {
                return None;
            }
            Some(LastSession {
                agent: Preset::Opencode,
                id: session.id.clone(),
                at,
                reached,
                owners,
            })
        })
}

/// A session with messages.
struct Session {
    id: String,
    folder: Utf8PathBuf,
    spoken: Option<Timestamp>,
}

impl Session {
    fn read(row: DatabaseRow) -> Option<Self> {
        let [id, folder, spoken] = columns(row);
        Some(Self {
            id: id.filter(|id| crate::agent::is_session_id(id))?,
            folder: folder?.into(),
            spoken: time(spoken),
        })
    }
}

pub(super) fn fitness(world: &dyn World, session: &str, folder: &Utf8Path) -> Fitness {
    let Some(database) = Database::of(world) else {
        return Fitness::Unknown;
    };
    let Ok(found) = database.ask(FOLDER, &[session]) else {
        return Fitness::Unknown;
    };
    let Some([Some(started_in)]) = found.into_iter().next().map(columns) else {
        // Another agent with the same stream may use another database.
        let has_any = database.ask(ANY, &[]).is_ok_and(|rows| !rows.is_empty());
        return if has_any {
            Fitness::Missing
        } else {
            Fitness::Unknown
        };
    };
    let started_in = Utf8PathBuf::from(started_in);
    if world.resolve(folder).is_ok_and(|real| real != started_in) {
        return Fitness::Elsewhere(started_in);
    }
    let (_, at) = database.reached(session);
    Fitness::Whole(vec![database.owner(started_in, at, None)])
}

struct Database<'w> {
    world: &'w dyn World,
    file: Utf8PathBuf,
}

impl<'w> Database<'w> {
    /// Finds the database of opencode.
    fn of(world: &'w dyn World) -> Option<Self> {
        let data = home(world, "XDG_DATA_HOME", ".local/share")?;
        let named = world.variable("OPENCODE_DB");
        let named = named.filter(|name| !name.is_empty());
        let name = named.as_deref().unwrap_or("opencode.db");
        let file = data.join("opencode").join(name);
        // Processes that have it open show the resolved path.
        let file = world.resolve(&file).ok()?;
        Some(Self { world, file })
    }

    fn ask(&self, sql: &str, parameters: &[&str]) -> Result<Vec<DatabaseRow>, ReadError> {
        let question = DatabaseQuestion::new(sql, parameters);
        self.world.database(&self.file, &question)
    }

    /// Returns the owner of a session with a last row `at`, next to another session.
    fn owner(&self, folder: Utf8PathBuf, at: Option<Timestamp>, other: Option<Timestamp>) -> Owner {
        Owner::Opener {
            file: self.file.clone(),
            folder,
            at,
            other,
        }
    }

    /// Returns the last state of a session, and its time.
    fn reached(&self, session: &str) -> (Reached, Option<Timestamp>) {
        let rows = self.ask(LAST_MESSAGE, &[session]).unwrap_or_default();
        let Some([Some(id), updated, Some(is_valid), finish, error]) =
            rows.into_iter().next().map(columns)
        else {
            return (Reached::Unknown, None);
        };
        if is_valid == "0" {
            return (Reached::Unknown, time(updated));
        }
        let mut at = time(updated);
        let mut open_tool = None;
        for part in self.ask(PARTS, &[&id]).unwrap_or_default() {
            let [updated, tool, input] = columns(part);
            at = at.max(time(updated));
            if let (None, Some(tool)) = (&open_tool, tool) {
                let input: Option<Value> =
                    input.and_then(|input| serde_json::from_str(&input).ok());
                open_tool = Some(tool_line(&tool, input.as_ref()));
            }
        }
        let reached = match (error.as_deref(), finish.as_deref(), open_tool) {
            (Some("MessageAbortedError"), ..) => Reached::Interrupted,
            (None, Some("tool-calls" | "unknown") | None, Some(tool)) => Reached::InTool(tool),
            (None, Some("tool-calls" | "unknown") | None, None) => Reached::InTurn,
            (Some(_), ..) | (None, Some(_), _) => Reached::EndOfTurn,
        };
        (reached, at)
    }
}

/// Returns the columns of a row; missing ones are null.
fn columns<const N: usize>(row: DatabaseRow) -> [Option<String>; N] {
    let mut row = row.into_iter();
    std::array::from_fn(|_| row.next().flatten())
}

/// Reads milliseconds since 1970.
fn time(column: Option<String>) -> Option<Timestamp> {
    Timestamp::from_millisecond(column?.parse().ok()?).ok()
}
