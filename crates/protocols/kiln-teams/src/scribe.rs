//! Records of the engine: our own log of an attempt, and the task list that the host reads.

use camino::{Utf8Path, Utf8PathBuf};
use jiff::Timestamp;
use rekindle_model::{Attempted, Happened, Moment, Stage};
use serde_json::json;

use super::task_list::{TaskFile, TaskUpdate};
use super::work::OWNER;
use super::{KilnTeams, evidence};
use rekindle_protocol::capability::Engine;
use rekindle_protocol::happened;

impl Engine for KilnTeams {
    fn record(
        &self,
        _workflow: &str,
        _actor: &str,
        task: &str,
        attempt: u32,
        happened: &Happened,
        at: Moment,
    ) -> String {
        let (event, details) = happened::spell(happened, attempt);
        let at = rekindle_text::format_seconds(at.stamp);
        json!({"timestamp": at, "event_type": event, "task_id": task, "details": details})
            .to_string()
    }

    fn heard(&self, line: &str) -> Option<(String, u32, Happened)> {
        happened::heard(line)
    }

    fn heard_at(&self, _: &str) -> Option<Timestamp> {
        None
    }

    /// kiln has none. The last folder is the worker's name, from which the engine knows its used slots.
    fn attempt_log(&self, workflow: &str, actor: &str, task: &str, attempt: u32) -> Utf8PathBuf {
        let name = format!("{}-{attempt}.jsonl", task.replace(':', "-"));
        logs(workflow).join(actor).join(name)
    }

    fn orchestrator_logs(&self, _: &str) -> Option<Utf8PathBuf> {
        None
    }

    fn own_folders(&self) -> &'static [&'static str] {
        &[".kiln"]
    }

    fn evidence(&self, attempted: &Attempted) -> Vec<(&'static str, String)> {
        evidence::files(attempted)
    }

    fn mirrored(&self, file: &[u8], happened: &Happened, at: Timestamp) -> Option<Vec<u8>> {
        mirrored(file, happened, at)
    }
}

/// Returns the folder of all our logs of attempts, relative to the project.
pub(super) fn logs(workflow: &str) -> Utf8PathBuf {
    Utf8Path::new(".rekindle/logs").join(format!("kiln-teams-{workflow}"))
}

/// Returns a task's file with what happened, as a worker of kiln would write it.
fn mirrored(file: &[u8], happened: &Happened, at: Timestamp) -> Option<Vec<u8>> {
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
        | Happened::Ended(_)
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
