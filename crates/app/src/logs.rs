//! What agents and checks printed, in a form that a person can read.

use std::collections::BTreeMap;
use std::time::Duration;

use rekindle_agents::{Stream, StreamReader};
use rekindle_model::WorkflowId;
use rekindle_runner::AttemptLog;

use crate::choose::{chosen, inspect_world};
use crate::lists::RunsOfLists;
use crate::{AtWork, Error, Listing, Project, Query, status};

/// How long a look at growing outputs waits for the next one.
const PAUSE: Duration = Duration::from_millis(200);

/// Which output is meant.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Wanted {
    /// The workflow; the newest with an output if it has no name.
    pub query: Query,
    /// Only this task's.
    pub task: Option<String>,
    /// Only this attempt's, instead of the last one's.
    pub attempt: Option<u32>,
    /// As it was printed, instead of what a person reads of it.
    pub raw: bool,
}

/// The outputs of a workflow's tasks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Logs {
    /// The workflow.
    pub id: WorkflowId,
    /// One for each task that is meant.
    pub attempts: Vec<AttemptLog>,
    wanted: Wanted,
}

/// Finds the outputs that are meant.
pub fn logs(project: &Project, wanted: &Wanted) -> Result<Logs, Error> {
    let (found, wanted) = find(project, wanted)?;
    let runs = RunsOfLists::of(&project.world(), [&found]);
    let id = runs.worked_on(&found).clone();
    let attempts = meant(project, &id, &wanted);
    if attempts.is_empty() {
        let task = wanted.task;
        return Err(Error::NoOutput { id, task });
    }
    Ok(Logs {
        id,
        attempts,
        wanted,
    })
}

/// Returns the last lines of the output of a task's last attempt, for a person.
pub fn last_lines(project: &Project, id: &WorkflowId, task: &str, most: usize) -> Vec<String> {
    let wanted = Wanted {
        task: Some(task.to_owned()),
        ..Wanted::default()
    };
    let attempt = meant(project, id, &wanted).pop();
    let mut lines = attempt.as_ref().map(all_lines).unwrap_or_default();
    lines.split_off(lines.len().saturating_sub(most))
}

/// Returns the lines of an output so far, for a person.
pub(crate) fn all_lines(log: &AttemptLog) -> Vec<String> {
    Reader::new(log, false).lines(log)
}

impl Logs {
    /// Returns the lines of an output so far.
    pub fn lines(&self, log: &AttemptLog) -> Vec<String> {
        Reader::new(log, self.wanted.raw).lines(log)
    }

    /// Passes on every line that is printed, with its task and attempt, until nobody is at work any more.
    pub fn follow(&self, project: &Project, sink: &mut dyn FnMut(&AttemptLog, &str)) {
        let mut readers: BTreeMap<(String, u32), Reader> = BTreeMap::new();
        loop {
            // Whether somebody is at work is asked first: what is printed until then is still passed on.
            let is_over = AtWork::on(project, &self.id).ok().flatten().is_none();
            for log in meant(project, &self.id, &self.wanted) {
                let key = (log.task.clone(), log.attempt);
                let reader = readers
                    .entry(key)
                    .or_insert_with(|| Reader::new(&log, self.wanted.raw));
                for line in reader.lines(&log) {
                    sink(&log, &line);
                }
            }
            if is_over {
                return;
            }
            std::thread::sleep(PAUSE);
        }
    }
}

/// Returns the workflow that is meant; one name alone may be a task of the newest.
fn find(project: &Project, wanted: &Wanted) -> Result<(WorkflowId, Wanted), Error> {
    let Some(name) = &wanted.query.name else {
        let newest = newest(project, &wanted.query).ok_or(Error::Nothing)?;
        return Ok((newest, wanted.clone()));
    };
    let found = inspect_world(&project.world(), &wanted.query)
        .and_then(|inspected| chosen(&inspected, &wanted.query));
    let newest = || newest(project, &Query::default());
    match (found, &wanted.task) {
        (Ok(id), _) => Ok((id, wanted.clone())),
        (Err(error), Some(_)) => Err(error),
        (Err(error), None) => {
            let of_task = Wanted {
                task: Some(name.clone()),
                ..wanted.clone()
            };
            let has_it = |id: &WorkflowId| !meant(project, id, &of_task).is_empty();
            let id = newest().filter(has_it).ok_or(error)?;
            Ok((id, of_task))
        }
    }
}

/// Returns the workflow with an output that a person most likely means: one at work, or the newest.
fn newest(project: &Project, query: &Query) -> Option<WorkflowId> {
    let overview = status(
        project,
        Listing {
            protocol: query.protocol,
            all: true,
        },
    );
    let state = project.state();
    let (mut lines, _) = overview.lines();
    let all = lines.iter().map(|line| &line.summary.id);
    let runs = RunsOfLists::of(&project.world(), all);
    lines.sort_by_key(|line| {
        let is_free = line.at_work.is_none();
        (is_free, std::cmp::Reverse(line.summary.last_activity))
    });
    let mut ids = lines.iter().map(|line| runs.worked_on(&line.summary.id));
    ids.find(|id| !state.attempt_logs(id).is_empty()).cloned()
}

/// Returns the attempt of each task that is meant.
fn meant(project: &Project, id: &WorkflowId, wanted: &Wanted) -> Vec<AttemptLog> {
    let mut last: BTreeMap<String, AttemptLog> = BTreeMap::new();
    for log in project.state().attempt_logs(id) {
        let is_task = wanted.task.as_ref().is_none_or(|task| *task == log.task);
        let is_attempt = wanted.attempt.is_none_or(|number| number == log.attempt);
        if is_task && is_attempt {
            // They are sorted by their numbers.
            last.insert(log.task.clone(), log);
        }
    }
    last.into_values().collect()
}

/// Reads an output from where it was left.
#[derive(Debug)]
struct Reader {
    position: u64,
    /// None where the lines are wanted as they were printed.
    stream: Option<StreamReader>,
}

impl Reader {
    fn new(log: &AttemptLog, raw: bool) -> Self {
        let stream = Stream::of(&log.stream).unwrap_or_default();
        Self {
            position: 0,
            stream: (!raw).then(|| StreamReader::new(stream)),
        }
    }

    fn lines(&mut self, log: &AttemptLog) -> Vec<String> {
        let (lines, position) = log.lines_from(self.position);
        self.position = position;
        let readable = lines.into_iter().filter_map(|line| match &mut self.stream {
            Some(stream) => stream.readable(&line),
            None => Some(line),
        });
        readable.collect()
    }
}
