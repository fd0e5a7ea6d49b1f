//! Records of the engine: our own log of an attempt, and the task list that the host reads.

use camino::{Utf8Path, Utf8PathBuf};
use jiff::Timestamp;
use rekindle_model::{Happened, Stage};
use serde_json::{Value, json};

use super::task_list::{TaskFile, TaskUpdate};
use super::work::OWNER;
use rekindle_protocol::happened;

/// Returns the line that records what happened to an attempt.
pub(super) fn record(task: &str, attempt: u32, happened: &Happened, at: Timestamp) -> String {
    let (event, details) = happened::spell(happened, attempt);
    let at = rekindle_text::format_seconds(at);
    json!({"timestamp": at, "event_type": event, "task_id": task, "details": details}).to_string()
}

/// Returns what a line of an attempt's log says, of which task and which attempt.
pub(super) fn heard(line: &str) -> Option<(String, u32, Happened)> {
    let event: Value = serde_json::from_str(line).ok()?;
    let task = event.get("task_id")?.as_str()?.to_owned();
    let details = event.get("details")?;
    let attempt = u32::try_from(details.get("attempt")?.as_u64()?).ok()?;
    let happened = happened::understand(event.get("event_type")?.as_str()?, details)?;
    Some((task, attempt, happened))
}

/// Returns our own log of an attempt, relative to the project; kiln has none.
///
/// The last folder is the worker's name, from which the engine knows its used slots.
pub(super) fn attempt_log(workflow: &str, actor: &str, task: &str, attempt: u32) -> Utf8PathBuf {
    let name = format!("{}-{attempt}.jsonl", task.replace(':', "-"));
    logs(workflow).join(actor).join(name)
}

/// Returns the folder of all those logs, relative to the project.
pub(super) fn logs(workflow: &str) -> Utf8PathBuf {
    Utf8Path::new(".rekindle/logs").join(format!("kiln-teams-{workflow}"))
}

/// Returns a task's file with what happened, as a worker of kiln would write it.
pub(super) fn mirrored(file: &[u8], happened: &Happened, at: Timestamp) -> Option<Vec<u8>> {
    let file = TaskFile::parse(Utf8PathBuf::new(), file.to_vec()).ok()?;
    let owner = Some(OWNER.to_owned());
    let (status, owner, stage) = match happened {
        Happened::Claimed => ("in_progress", owner, Some("claimed")),
        Happened::Started { .. }
        | Happened::Beat {
            stage: Stage::Implementing,
        } => ("in_progress", owner, Some("implementing")),
        Happened::Beat {
            stage: Stage::Verifying,
        } => ("in_progress", owner, Some("verifying")),
        Happened::Implemented(_) => ("completed", owner, Some("verified")),
        Happened::Failed { .. } => ("completed", owner, Some("failed")),
        Happened::Stopped { .. } => ("completed", owner, Some("shutdown_ack")),
        // A limit is not a failure: the task counts as not started.
        Happened::Limited { .. } => ("pending", None, None),
        Happened::Session { .. }
        | Happened::Cost { .. }
        | Happened::Interrupted(_)
        | Happened::Completed { .. }
        | Happened::Blocked { .. }
        | Happened::Reopened { .. } => return None,
    };
    let update = TaskUpdate {
        status: Some(status),
        owner: Some(owner),
        stage: Some(stage),
        heartbeat: Some(rekindle_text::format_seconds(at)),
    };
    file.updated(&update).ok()
}
