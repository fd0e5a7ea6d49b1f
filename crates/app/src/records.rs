//! rekindle's own records of a workflow: its interrupted steps, and records from elsewhere.
//!
//! A record is in the project, so it can come from anywhere. What has our seal was agreed to when it was
//! started: a plan lists it, and a resume finishes it first, path by path. What has none is a finding, and
//! nothing more.

use rekindle_model::{
    Code, CommandSource, Destination, Finding, Place, Standing, Summary, Work, WorkflowId,
};
use rekindle_runner::{Recovered, StateFolder};

use crate::inspect::Planned;
use crate::{Error, Project, Query};

/// More records than this are counted.
const MOST_FOREIGN: usize = 10;

impl Planned {
    /// Adds the interrupted steps and findings from rekindle's own records. The digest includes the
    /// journal's position, so any use of the plan makes it invalid.
    pub(crate) fn with_records(mut self, project: &Project) -> Self {
        let state = project.state();
        let id = &self.plan.id;
        self.position = state.position(id).unwrap_or_default();
        self.digest = spendable(&self.digest, self.position);
        self.is_unfinished = state.is_unfinished(id).unwrap_or_default();
        self.unfinished = state.unfinished(id).unwrap_or_default();
        let agreed = state.agreed(id);
        for command in &mut self.commands {
            if agreed.contains(&command.text) {
                command.source = CommandSource::Agreed;
            }
        }
        let found = findings(project, Some(id), self.work.as_ref());
        self.assessment.findings.extend(found);
        self
    }

    /// Returns the digest that it would have at a position of its journal.
    pub(crate) fn with_position(&self, position: u64) -> String {
        spendable(&self.digest, position)
    }
}

/// Returns what is to be known of rekindle's own records, of a workflow where one is chosen.
pub(crate) fn findings(
    project: &Project,
    id: Option<&WorkflowId>,
    work: Option<&Work>,
) -> Vec<Finding> {
    let of_workflow = id.map(|id| foreign(&project.state(), id, work.into_iter().flat_map(due)));
    let mut found = of_workflow.unwrap_or_default();
    found.extend(tracked(project));
    found
}

/// Returns the tasks whose last attempt a resume would continue; if the host counts attempts, any
/// that is open may have one.
fn due(work: &Work) -> impl Iterator<Item = &str> {
    let is_due = |standing: Standing| match standing {
        Standing::Open | Standing::AtWork | Standing::Blocked => true,
        Standing::Done | Standing::Skipped => false,
    };
    let is_counted = work.destination == Destination::Branch;
    let due = work.tasks.iter();
    due.filter(move |task| is_due(task.standing) && (task.attempts > 0 || !is_counted))
        .map(|task| task.id.as_str())
}

/// Returns the digest of a plan at a position of its journal: any use of the plan moves that.
fn spendable(digest: &str, position: u64) -> String {
    let text = format!("{digest} {position}");
    let spendable = rekindle_fs::Fingerprint::of(text.as_bytes()).to_hex();
    spendable.chars().take(digest.len()).collect()
}

/// Returns what was found of a workflow that was not written here.
fn foreign<'a>(
    state: &StateFolder,
    id: &WorkflowId,
    tasks: impl IntoIterator<Item = &'a str>,
) -> Vec<Finding> {
    let found = match state.foreign(id, tasks) {
        Ok(found) => found,
        Err(error) => {
            return vec![Finding::new(Code::ForeignRecord, error.to_string())];
        }
    };
    let n_more = found.len().saturating_sub(MOST_FOREIGN);
    let named = found.into_iter().take(MOST_FOREIGN).map(|record| {
        let path = record.path.strip_prefix(state.project());
        let path = path.unwrap_or(&record.path).to_owned();
        let message = format!("a rekindle record was ignored: {}", record.why);
        Finding::new(Code::ForeignRecord, message)
            .at(Place::path(path))
            .hint("it is not applied; a resume continues from the landed work")
    });
    let more = (n_more > 0).then(|| {
        let message = format!("{n_more} more rekindle records were ignored");
        Finding::new(Code::ForeignRecord, message)
    });
    named.chain(more).collect()
}

/// Returns that git has files of ours, if it does.
fn tracked(project: &Project) -> Option<Finding> {
    // Where git cannot be asked, other things are said that matter more.
    let paths = project.state().tracked(&project.search_path).ok()?;
    if paths.is_empty() {
        return None;
    }
    let error = rekindle_runner::Error::Tracked { paths };
    let hint = error.hint().unwrap_or_default();
    let finding = Finding::new(Code::TrackedState, error.to_string());
    Some(finding.at(Place::path(".rekindle")).hint(hint))
}

/// Returns what a runner finished or moved aside at its start, one line each.
pub fn finished(recovered: &Recovered) -> Vec<String> {
    let done = recovered.named.iter();
    let done = done.map(|line| format!("finished an interrupted command: {line}"));
    let aside = recovered.put_aside.iter();
    let aside = aside.map(|aside| {
        format!(
            "the journal has lines from another machine, user or folder; they were not applied, and the journal was moved to `{aside}`"
        )
    });
    done.chain(aside).collect()
}

/// Finds a workflow that is over, but was killed in the middle of its last step.
pub(crate) fn unfinished(project: &Project, over: &[Summary]) -> Result<Option<Query>, Error> {
    let folder = project.state();
    for summary in over {
        if folder.is_unfinished(&summary.id)? {
            return Ok(Some(Query {
                protocol: Some(summary.id.protocol),
                name: Some(summary.id.name.clone()),
                ..Query::default()
            }));
        }
    }
    Ok(None)
}
