//! What agents and checks of a workflow printed, for people who look.

use camino::Utf8PathBuf;
use rekindle_fs::GuardedFile;
use rekindle_model::WorkflowId;

use crate::StateFolder;

/// An output is cut at a fraction of this when it is written.
const LARGEST: u64 = 64 * 1024 * 1024;

/// One attempt at a task, as its output shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttemptLog {
    /// The task.
    pub task: String,
    /// The attempt.
    pub attempt: u32,
    /// The name of the form that the agent prints in.
    pub stream: String,
    /// The output, with its secrets masked.
    pub path: Utf8PathBuf,
    /// Whether its worker is alive.
    pub is_at_work: bool,
}

impl AttemptLog {
    /// Returns the whole lines that were printed after this many bytes, and how many bytes are read then.
    ///
    /// A last line without an end is whole once nobody writes any more.
    pub fn lines_from(&self, start: u64) -> (Vec<String>, u64) {
        let file = GuardedFile::open(&self.path).ok().flatten();
        let fresh = file.and_then(|file| file.bytes_from(start, LARGEST).ok());
        let mut fresh = fresh.unwrap_or_default();
        if self.is_at_work {
            let end = fresh.iter().rposition(|byte| *byte == b'\n');
            fresh.truncate(end.map_or(0, |end| end + 1));
        }
        let text = String::from_utf8_lossy(&fresh);
        let lines = text.lines().map(str::to_owned).collect();
        (lines, start + fresh.len() as u64)
    }
}

impl StateFolder {
    /// Returns the attempts of a workflow that were started here, sorted by task and number.
    pub fn attempt_logs(&self, id: &WorkflowId) -> Vec<AttemptLog> {
        let port = self.port(id);
        let mut found: Vec<AttemptLog> = port
            .orders()
            .into_iter()
            .map(|(order, is_at_work)| AttemptLog {
                path: port
                    .attempt_folder(&order.task, order.attempt)
                    .join("output.log"),
                task: order.task,
                attempt: order.attempt,
                stream: order.stream,
                is_at_work,
            })
            .collect();
        found.sort_by(|one, other| (&one.task, one.attempt).cmp(&(&other.task, other.attempt)));
        found
    }
}

#[cfg(test)]
mod tests {
    use camino::Utf8Path;

    use super::*;

    #[test]
    fn half_a_line_is_left_to_the_next_look_while_somebody_writes() {
        let folder = tempfile::tempdir().unwrap();
        let path = Utf8Path::from_path(folder.path())
            .unwrap()
            .join("output.log");
        let mut log = AttemptLog {
            task: "T1".to_owned(),
            attempt: 1,
            stream: "plain".to_owned(),
            path: path.clone(),
            is_at_work: true,
        };
        assert_eq!(log.lines_from(0), (Vec::new(), 0));
        rekindle_fs::create(&path, b"one\ntw").unwrap();
        assert_eq!(log.lines_from(0), (vec!["one".to_owned()], 4));
        assert_eq!(log.lines_from(4), (Vec::new(), 4));
        log.is_at_work = false;
        assert_eq!(log.lines_from(4), (vec!["tw".to_owned()], 6));
    }
}
