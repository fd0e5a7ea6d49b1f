//! opencode: a SQLite database, `opencode.db`, with the tables `session`, `message`, `part`, `todo`.
//!
//! Observed with 1.18.33: a part of a running tool has the status `running`, an answer that is over has
//! a finish reason other than `tool-calls`, and `opencode run` wraps a prompt in quotes. Many sessions
//! are read with a few queries, since each opens the database anew.

use camino::Utf8PathBuf;
use jiff::Timestamp;
use rekindle_agents::traces::{Owner, is_session_id};
use rekindle_world::{DatabaseQuestion, DatabaseRow, World};
use serde_json::{Map, Value};

use crate::layout;
use crate::story::{Call, Failure, Story, todo_list};
use crate::table::Turn;

/// The sessions of persons, those with the newest messages first. `?1` is the number of sessions, `?2`
/// the beginning or the end of an id.
const SESSIONS: &str = "\
    SELECT id, directory, title,
           (SELECT max(time_created) FROM message WHERE session_id = session.id) AS spoken
    FROM session
    WHERE parent_id IS NULL AND time_archived IS NULL AND spoken IS NOT NULL
      AND (?2 = '' OR id LIKE ?2 || '%' OR id LIKE '%' || ?2)
    ORDER BY spoken DESC, id DESC LIMIT ?1";
/// The part of [`SESSIONS`] that older databases cannot answer.
const NOT_ARCHIVED: &str = "AND time_archived IS NULL ";
/// The last message of each session, and the last one of a person.
const MESSAGES: &str = "\
    SELECT s.value, m.id, m.time_updated, json_valid(m.data),
           CASE WHEN json_valid(m.data) THEN m.data ->> '$.role' END,
           CASE WHEN json_valid(m.data) THEN m.data ->> '$.finish' END,
           CASE WHEN json_valid(m.data) THEN m.data ->> '$.error.name' END,
           CASE WHEN json_valid(m.data) THEN substr(m.data ->> '$.error.data.message', 1, 2000) END
    FROM json_each(?1) AS s JOIN message AS m ON m.id IN (
      (SELECT id FROM message WHERE session_id = s.value
       ORDER BY time_created DESC, id DESC LIMIT 1),
      (SELECT id FROM message WHERE session_id = s.value
         AND CASE WHEN json_valid(data) THEN data ->> '$.role' END = 'user'
       ORDER BY time_created DESC, id DESC LIMIT 1),
      (SELECT id FROM message WHERE session_id = s.value
         AND CASE WHEN json_valid(data) THEN data ->> '$.role' END = 'user'
       ORDER BY time_created, id LIMIT 1))
    ORDER BY s.key, m.time_created, m.id";
/// The parts of messages: texts, and tools with their inputs, whose long values are cut.
const PARTS: &str = "\
    SELECT message_id, time_updated, data ->> '$.type', substr(data ->> '$.text', 1, 8000),
           substr(data ->> '$.tool', 1, 200), data ->> '$.state.status',
           (SELECT json_group_object(key, CASE WHEN type IN ('array', 'object')
                                               THEN json(value) ELSE substr(value, 1, 4000) END)
            FROM json_each(data, '$.state.input')),
           data ->> '$.synthetic', id
    FROM part
    WHERE message_id IN (SELECT value FROM json_each(?1)) AND json_valid(data)
      AND data ->> '$.type' IN ('text', 'tool')
    ORDER BY id LIMIT 20000";
/// The tools of sessions that have ended, of each the newest.
const ENDED: &str = "\
    SELECT s.value, p.time_updated, substr(p.data ->> '$.tool', 1, 200),
           p.data ->> '$.state.status',
           (SELECT json_group_object(key, substr(value, 1, 4000))
            FROM json_each(p.data, '$.state.input')),
           substr(coalesce(p.data ->> '$.state.error', p.data ->> '$.state.output'), 1, 400)
    FROM json_each(?1) AS s JOIN part AS p ON p.id IN (
      SELECT id FROM part WHERE session_id = s.value AND json_valid(data)
        AND data ->> '$.type' = 'tool' AND data ->> '$.state.status' IN ('completed', 'error')
      ORDER BY id DESC LIMIT 100)
    ORDER BY s.key, p.id";
/// The todo lists of sessions.
const TODOS: &str = "\
    SELECT session_id, content, status FROM todo
    WHERE session_id IN (SELECT value FROM json_each(?1)) ORDER BY session_id, position";

/// The database of opencode.
pub(crate) struct Opencode<'w> {
    world: &'w dyn World,
    file: Utf8PathBuf,
}

/// A session with messages.
#[derive(Debug)]
pub(crate) struct Conversation {
    pub(crate) id: String,
    pub(crate) folder: Utf8PathBuf,
    pub(crate) title: Option<String>,
    /// The time of its last message.
    pub(crate) spoken: Option<Timestamp>,
}

impl<'w> Opencode<'w> {
    /// Finds the database, if it belongs to the user.
    pub(crate) fn of(world: &'w dyn World) -> Option<Self> {
        let file = layout::opencode(world)?;
        if world.ownership(&file).ok()?.owner != rekindle_world::Owner::Me {
            return None;
        }
        // Processes that have it open show the resolved path.
        let file = world.resolve(&file).ok()?;
        Some(Self { world, file })
    }

    /// Returns the database file.
    pub(crate) fn file(&self) -> &Utf8PathBuf {
        &self.file
    }

    fn ask(&self, sql: &str, parameters: &[&str]) -> Vec<DatabaseRow> {
        self.try_to_ask(sql, parameters).unwrap_or_default()
    }

    fn try_to_ask(&self, sql: &str, parameters: &[&str]) -> Option<Vec<DatabaseRow>> {
        let question = DatabaseQuestion::new(sql, parameters);
        self.world.database(&self.file, &question).ok()
    }

    /// Returns the sessions with the newest messages; with a text, those whose ids begin or end so.
    pub(crate) fn conversations(&self, most: usize, named: &str) -> Vec<Conversation> {
        if !named.is_empty() && !is_session_id(named) {
            return Vec::new();
        }
        // `_` and `%` would be wildcards.
        let pattern = named.replace('%', "");
        let parameters = [&*most.to_string(), &pattern];
        // Older releases cannot archive a session.
        let rows = self
            .try_to_ask(SESSIONS, &parameters)
            .unwrap_or_else(|| self.ask(&SESSIONS.replace(NOT_ARCHIVED, ""), &parameters));
        let read = |row| {
            let [id, folder, title, spoken] = columns(row);
            Some(Conversation {
                id: id.filter(|id| is_session_id(id))?,
                folder: folder?.into(),
                title: title.filter(|title| !title.is_empty()),
                spoken: time(spoken),
            })
        };
        rows.into_iter().filter_map(read).collect()
    }

    /// Returns who may have a session open: another session of the folder may be meant.
    pub(crate) fn owner(&self, of: &Conversation, all: &[Conversation]) -> Owner {
        let is_other = |other: &&Conversation| other.id != of.id && other.folder == of.folder;
        Owner::Opener {
            file: self.file.clone(),
            folder: of.folder.clone(),
            at: of.spoken,
            other: all.iter().find(is_other).and_then(|other| other.spoken),
        }
    }

    /// Reads sessions, in their order.
    pub(crate) fn read(&self, conversations: &[&Conversation]) -> Vec<Story> {
        let ids: Vec<&str> = conversations.iter().map(|one| one.id.as_str()).collect();
        let ids = Value::from(ids).to_string();
        let messages: Vec<Message> = self
            .ask(MESSAGES, &[&ids])
            .into_iter()
            .filter_map(Message::read)
            .collect();
        let message_ids: Vec<&str> = messages.iter().map(|one| one.id.as_str()).collect();
        let parts = self.ask(PARTS, &[&Value::from(message_ids).to_string()]);
        let parts: Vec<Part> = parts.into_iter().filter_map(Part::read).collect();
        let ended = self.ask(ENDED, &[&ids]);
        let todos = self.ask(TODOS, &[&ids]);
        let stories = conversations.iter().map(|of| {
            let own = messages.iter().filter(|message| message.session == of.id);
            let mut story = tell(own, &parts);
            story.title.clone_from(&of.title);
            story.folder = Some(of.folder.clone());
            story.at(of.spoken);
            let is_own = |row: &&DatabaseRow| first(row) == Some(of.id.as_str());
            for row in ended.iter().filter(is_own) {
                read_ended(&mut story, row.clone());
            }
            let texts = |row: &DatabaseRow| {
                let [_, text, state] = columns(row.clone());
                Some((text?, state.unwrap_or_default()))
            };
            let list: Vec<(String, String)> =
                todos.iter().filter(is_own).filter_map(texts).collect();
            story.todo = todo_list(
                list.iter()
                    .map(|(text, state)| (text.as_str(), state.as_str())),
            );
            story
        });
        stories.collect()
    }
}

/// A message of a session.
struct Message {
    session: String,
    id: String,
    updated: Option<Timestamp>,
    is_valid: bool,
    role: Option<String>,
    finish: Option<String>,
    error: Option<String>,
    reason: Option<String>,
}

impl Message {
    fn read(row: DatabaseRow) -> Option<Self> {
        let [session, id, updated, valid, role, finish, error, reason] = columns(row);
        Some(Self {
            session: session?,
            id: id?,
            updated: time(updated),
            is_valid: valid.as_deref() == Some("1"),
            role,
            finish,
            error,
            reason,
        })
    }
}

/// A part of a message: a text or a tool.
struct Part {
    message: String,
    updated: Option<Timestamp>,
    is_tool: bool,
    text: Option<String>,
    tool: Option<String>,
    status: Option<String>,
    input: Option<String>,
    is_synthetic: bool,
    id: String,
}

impl Part {
    fn read(row: DatabaseRow) -> Option<Self> {
        let [
            message,
            updated,
            kind,
            text,
            tool,
            status,
            input,
            synthetic,
            id,
        ] = columns(row);
        Some(Self {
            message: message?,
            updated: time(updated),
            is_tool: kind.as_deref() == Some("tool"),
            text,
            tool,
            status,
            input,
            is_synthetic: synthetic.as_deref() == Some("1"),
            id: id?,
        })
    }

    fn call(&self) -> Call {
        let input = self.input.as_deref().and_then(object);
        Call::new(&self.id, self.tool.as_deref().unwrap_or("a tool"), input)
    }
}

/// Returns the input of a tool; its values that were lists are texts of JSON no more.
fn object(text: &str) -> Option<Value> {
    let members: Map<String, Value> = serde_json::from_str(text).ok()?;
    Some(Value::Object(members))
}

/// Returns what the first and the last messages of a session say, oldest first.
fn tell<'m>(messages: impl Iterator<Item = &'m Message>, parts: &[Part]) -> Story {
    let mut story = Story::default();
    for message in messages {
        story.at(message.updated);
        let own = parts.iter().filter(|part| part.message == message.id);
        if !message.is_valid {
            continue;
        }
        match message.role.as_deref() {
            Some("user") => {
                let mut texts = own.filter(|part| !part.is_synthetic);
                let text = texts.find_map(|part| part.text.as_deref());
                story.typed(unquoted(text.unwrap_or_default()));
            }
            Some(_) | None => answer(&mut story, message, own),
        }
    }
    story
}

/// Reads an answer of the model, which is the last message.
fn answer<'p>(story: &mut Story, message: &Message, parts: impl Iterator<Item = &'p Part>) {
    story.failure = None;
    story.turn = Some(Turn::Open);
    for part in parts {
        story.at(part.updated);
        if let Some(text) = &part.text {
            story.says(text);
        }
        let is_open = matches!(part.status.as_deref(), Some("pending" | "running"));
        if part.is_tool && is_open {
            story.calls(part.call());
        }
    }
    match (message.error.as_deref(), message.finish.as_deref()) {
        (Some("MessageAbortedError"), _) => story.turn = Some(Turn::Stopped),
        (Some(error), _) => {
            let reason = message.reason.as_deref().unwrap_or(error);
            story.fails(Failure::new(reason, None, message.updated));
        }
        (None, Some("tool-calls") | None) => {}
        (None, Some(_)) => story.finishes(),
    }
}

fn read_ended(story: &mut Story, row: DatabaseRow) {
    let [_, updated, tool, status, input, output] = columns(row);
    story.at(time(updated));
    let input = input.as_deref().and_then(object);
    let call = Call::new("", tool.as_deref().unwrap_or("a tool"), input);
    let output = output.unwrap_or_default();
    let is_error = status.as_deref() == Some("error");
    story.ends(&call, is_error.then_some(output.as_str()), &output);
}

/// Returns a prompt without the quotes that `opencode run` puts around it.
fn unquoted(text: &str) -> &str {
    let text = text.trim();
    let inside = text
        .strip_prefix('"')
        .and_then(|text| text.strip_suffix('"'));
    inside.unwrap_or(text)
}

/// Returns the columns of a row; missing ones are null.
fn columns<const N: usize>(row: DatabaseRow) -> [Option<String>; N] {
    let mut row = row.into_iter();
    std::array::from_fn(|_| row.next().flatten())
}

fn first(row: &DatabaseRow) -> Option<&str> {
    row.first()?.as_deref()
}

/// Reads milliseconds since 1970.
fn time(column: Option<String>) -> Option<Timestamp> {
    Timestamp::from_millisecond(column?.parse().ok()?).ok()
}
