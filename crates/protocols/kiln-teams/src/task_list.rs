//! The Teams task list: one JSON file a task, written by the workers and by another program.
//!
//! Unknown content is ignored and kept. [`TaskFile::updated`] changes the keys it names and no other
//! byte of a file. [`merge`] decides which file counts if several are about the same task.

mod id;
mod merge;
mod stage;

use camino::{Utf8Component, Utf8Path, Utf8PathBuf};
use rekindle_text::{JsonChange, JsonEditError, JsonValue, edit_json};
use serde_json::{Map, Value};

pub(super) use self::id::TaskId;
use self::id::{GateId, number_after};
pub(super) use self::merge::merge;
pub(super) use self::stage::{Heartbeat, Stage};

/// A task of the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TaskFile {
    /// Its file.
    pub(super) path: Utf8PathBuf,
    /// The text of the file, if it has only this task.
    source: Option<String>,
    /// Its id in the list, which is not the task's id.
    pub(super) id: String,
    pub(super) subject: String,
    pub(super) status: Status,
    pub(super) owner: Option<String>,
    /// Ids in the list.
    pub(super) blocked_by: Vec<String>,
    /// Phase and wave by the metadata, else by the subject.
    pub(super) phase: Option<u32>,
    pub(super) wave: Option<u32>,
    pub(super) plan_task: Option<String>,
    /// Absolute, without `..` and without a `/` at its end.
    pub(super) worktree: Option<Utf8PathBuf>,
    pub(super) stage: Option<Stage>,
    pub(super) heartbeat: Heartbeat,
    /// The number of the update, which only older workers write.
    pub(super) sequence: Option<i64>,
    pub(super) is_gate: bool,
}

/// The status of a task in the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Status {
    Pending,
    InProgress,
    Completed,
    Other(String),
}

impl Status {
    fn parse(text: &str) -> Self {
        match text.trim() {
            "pending" => Self::Pending,
            "in_progress" => Self::InProgress,
            "completed" => Self::Completed,
            other => Self::Other(other.to_owned()),
        }
    }

    /// Returns it as it is written.
    pub(super) fn as_str(&self) -> &str {
        match self {
            Self::Pending => "pending",
            Self::InProgress => "in_progress",
            Self::Completed => "completed",
            Self::Other(name) => name,
        }
    }
}

/// The changes of a task; a value that is `None` is kept.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[expect(
    clippy::option_option,
    reason = "keeping, setting and removing are all needed"
)]
pub(super) struct TaskUpdate<'a> {
    pub(super) status: Option<&'a str>,
    /// `Some(None)` removes the owner.
    pub(super) owner: Option<Option<String>>,
    /// `Some(None)` removes the stage.
    pub(super) stage: Option<Option<&'a str>>,
    pub(super) heartbeat: Option<String>,
}

/// Why a task could not be updated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum UpdateError {
    /// It was read from a list of several tasks, which is never changed.
    Listed,
    Edit(JsonEditError),
}

impl TaskFile {
    /// Reads a file with one task, or returns why it has none.
    pub(super) fn parse(path: Utf8PathBuf, bytes: Vec<u8>) -> Result<Self, String> {
        let source = String::from_utf8(bytes).map_err(|_| "it is not UTF-8 text".to_owned())?;
        let root = read(&source)?;
        let mut task = Self::from_value(path, &root)?;
        task.source = Some(source);
        Ok(task)
    }

    /// Returns the file's bytes as they were read; none for a task of a list.
    pub(super) fn bytes(&self) -> &[u8] {
        self.source.as_deref().unwrap_or_default().as_bytes()
    }

    /// Returns which task of the plan's execution it is; the subject says it, else the worktree.
    pub(super) fn task_id(&self) -> Option<TaskId> {
        if self.is_gate {
            return None;
        }
        let name = self.worktree.as_deref().and_then(Utf8Path::file_name);
        TaskId::parse(&self.subject).or_else(|| TaskId::parse_slug(name?))
    }

    /// Returns which gate it is; the subject says it, else the metadata.
    pub(super) fn gate_id(&self) -> Option<GateId> {
        let by_metadata = || {
            Some(GateId {
                phase: self.phase?,
                wave: self.wave?,
            })
        };
        let id = GateId::parse(&self.subject).or_else(by_metadata);
        id.filter(|_| self.is_gate)
    }

    /// Returns the file's bytes after an update, which keeps all other bytes.
    ///
    /// An owner is removed together with its key, because the list's program accepts only a text or no
    /// key; without an owner nothing changes.
    pub(super) fn updated(&self, update: &TaskUpdate<'_>) -> Result<Vec<u8>, UpdateError> {
        let text = |text: &str| Some(JsonValue::Text(text.to_owned()));
        let mut changes: Vec<(&[&str], Option<JsonValue>)> = Vec::new();
        if let Some(status) = update.status {
            changes.push((&["status"], text(status)));
        }
        match &update.owner {
            Some(Some(owner)) => changes.push((&["owner"], text(owner))),
            Some(None) if self.owner.is_some() => changes.push((&["owner"], None)),
            Some(None) | None => {}
        }
        if let Some(stage) = update.stage {
            changes.push((&["metadata", "kiln_stage"], stage.and_then(text)));
        }
        if let Some(heartbeat) = &update.heartbeat {
            changes.push((&["metadata", "kiln_last_heartbeat"], text(heartbeat)));
        }
        let changes: Vec<JsonChange<'_>> = changes
            .into_iter()
            .map(|(path, value)| JsonChange { path, value })
            .collect();
        let source = self.source.as_deref().ok_or(UpdateError::Listed)?;
        let edited = edit_json(source, &changes).map_err(UpdateError::Edit)?;
        Ok(edited.into_bytes())
    }

    fn from_value(path: Utf8PathBuf, value: &Value) -> Result<Self, String> {
        let fields = value.as_object().ok_or("it is not a JSON object")?;
        let id = scalar(fields.get("id")).filter(|id| !id.is_empty());
        let no_metadata = Map::new();
        let metadata = fields.get("metadata").and_then(Value::as_object);
        let metadata = metadata.unwrap_or(&no_metadata);
        let text = |key: &str| scalar(metadata.get(key)).filter(|text| !text.is_empty());
        let subject = scalar(fields.get("subject")).unwrap_or_default();
        let is_gate =
            text("kiln_type").as_deref() == Some("wave-gate") || subject.trim().ends_with(":gate");
        let task = TaskId::parse(&subject).map(TaskId::gate);
        let named = task.or_else(|| GateId::parse(&subject));
        let sequence = scalar(metadata.get("sequence")).or_else(|| scalar(fields.get("sequence")));
        Ok(Self {
            path,
            source: None,
            id: id.ok_or("it has no `id`")?,
            status: Status::parse(&scalar(fields.get("status")).unwrap_or_default()),
            owner: scalar(fields.get("owner")).filter(|owner| !owner.is_empty()),
            blocked_by: scalars(fields.get("blockedBy")),
            phase: text("kiln_phase")
                .and_then(|text| number_after(&text, "phase-"))
                .or(named.map(|id| id.phase)),
            wave: text("kiln_wave")
                .and_then(|text| number_after(&text, "wave-"))
                .or(named.map(|id| id.wave)),
            plan_task: text("kiln_plan_task_id"),
            worktree: text("kiln_worktree").and_then(|text| worktree(&text)),
            stage: text("kiln_stage").map(|text| Stage::parse(&text)),
            heartbeat: Heartbeat::parse(metadata.get("kiln_last_heartbeat")),
            sequence: sequence.and_then(|text| text.parse().ok()),
            is_gate,
            subject,
        })
    }
}

/// Reads a file with any number of tasks: a JSON array, an object with `tasks`, or JSON lines.
///
/// Each entry is a task or the reason why it is not one, with its position in the list.
pub(super) fn parse_list(path: &Utf8Path, bytes: &[u8]) -> Vec<Result<TaskFile, String>> {
    let text = String::from_utf8_lossy(bytes);
    let whole = read(&text);
    let entries: Vec<Result<Value, String>> = match whole {
        Ok(Value::Array(entries)) => entries.into_iter().map(Ok).collect(),
        Ok(Value::Object(mut fields)) => match fields.remove("tasks") {
            Some(Value::Array(entries)) => entries.into_iter().map(Ok).collect(),
            Some(_) => return vec![Err("`tasks` is not a list".to_owned())],
            // JSON lines, of which there is one.
            None => vec![Ok(Value::Object(fields))],
        },
        Ok(_) => return vec![Err("it has no list of tasks".to_owned())],
        Err(_) => text
            .lines()
            .filter(|line| !line.trim().is_empty())
            .map(read)
            .collect(),
    };
    (1..)
        .zip(entries)
        .map(|(number, entry)| {
            entry
                .and_then(|entry| TaskFile::from_value(path.to_owned(), &entry))
                .map_err(|reason| format!("entry {number}: {reason}"))
        })
        .collect()
}

fn read(text: &str) -> Result<Value, String> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    serde_json::from_str(text).map_err(|error| error.to_string())
}

/// Returns a text, or a number as text.
fn scalar(value: Option<&Value>) -> Option<String> {
    match value? {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

fn scalars(value: Option<&Value>) -> Vec<String> {
    let items = value.and_then(Value::as_array);
    let texts = items.map(|items| items.iter().filter_map(|item| scalar(Some(item))));
    texts.into_iter().flatten().collect()
}

/// Reads the path of a worktree; `None` if it is relative or leaves its folder.
fn worktree(text: &str) -> Option<Utf8PathBuf> {
    let path = Utf8Path::new(text.trim().trim_end_matches('/'));
    let leads_up = path
        .components()
        .any(|component| component == Utf8Component::ParentDir);
    (path.is_absolute() && !leads_up).then(|| path.to_owned())
}

#[cfg(test)]
#[path = "task_list_tests.rs"]
mod tests;
