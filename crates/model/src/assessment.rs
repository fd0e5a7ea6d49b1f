//! What the evidence means, in the words that all protocols share.

use camino::Utf8PathBuf;
use jiff::Timestamp;

use crate::{Fact, Finding, Place, Severity, View, WorkflowId};

/// The state of a workflow, or of the choice of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum State {
    /// There is nothing to resume.
    Nothing,
    /// Several can be resumed and none was named.
    Choice,
    /// The named one is not there.
    Unknown,
    /// It stopped and can continue.
    Interrupted,
    /// A person must decide before it can continue.
    Waiting,
    /// It cannot continue by itself: tasks are blocked or failed for good.
    Blocked,
    /// Its state cannot be read.
    Corrupt,
    /// It is finished.
    Complete,
}

impl State {
    /// Returns the word used in text and JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Nothing => "nothing",
            Self::Choice => "choice",
            Self::Unknown => "unknown",
            Self::Interrupted => "interrupted",
            Self::Waiting => "waiting",
            Self::Blocked => "blocked",
            Self::Corrupt => "corrupt",
            Self::Complete => "complete",
        }
    }

    /// Returns whether a resume has something to do here.
    pub const fn is_open(self) -> bool {
        match self {
            Self::Interrupted | Self::Waiting | Self::Blocked | Self::Corrupt => true,
            Self::Nothing | Self::Choice | Self::Unknown | Self::Complete => false,
        }
    }
}

/// How much of a workflow is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Finished tasks.
    pub done: usize,
    /// All tasks, where that is known.
    pub total: Option<usize>,
}

impl std::fmt::Display for Progress {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.total {
            Some(total) => write!(f, "{}/{total}", self.done),
            None => write!(f, "{}/?", self.done),
        }
    }
}

/// What comes next, as the protocol names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Next {
    /// The protocol's word for it.
    pub kind: &'static str,
    /// One sentence for a person.
    pub summary: String,
}

impl Next {
    /// Returns what comes next.
    pub fn new(kind: &'static str, summary: impl Into<String>) -> Self {
        let summary = summary.into();
        Self { kind, summary }
    }
}

/// One workflow in one line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary {
    /// Which one.
    pub id: WorkflowId,
    /// Its state.
    pub state: State,
    /// The stage or phase it is in, as a person reads it.
    pub stage: String,
    /// How much is done.
    pub progress: Progress,
    /// When something last happened in it.
    pub last_activity: Option<Timestamp>,
    /// What comes next.
    pub next: Next,
    /// How it appears among others.
    pub view: View,
}

impl Summary {
    /// Returns the summary of a workflow without a known last activity.
    pub fn new(
        id: WorkflowId,
        state: State,
        stage: impl Into<String>,
        progress: Progress,
        next: Next,
    ) -> Self {
        Self {
            id,
            state,
            stage: stage.into(),
            progress,
            last_activity: None,
            next,
            view: View::of(state),
        }
    }
}

impl Summary {
    /// Returns the word for its state that programs read.
    pub fn word(&self) -> &'static str {
        self.view.word.unwrap_or(self.state.as_str())
    }
}

/// What one protocol makes of a project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assessment {
    /// The workflow that was named, or is the only one.
    pub id: Option<WorkflowId>,
    /// Its state.
    pub state: State,
    /// Everything that the protocol keeps here, open ones first as the protocol orders them.
    pub workflows: Vec<Summary>,
    /// What was noticed.
    pub findings: Vec<Finding>,
    /// The protocol's own facts.
    pub facts: Fact,
}

impl Assessment {
    /// Returns the assessment of a project with at most one workflow, and without findings.
    pub fn of(workflow: Option<Summary>, facts: Fact) -> Self {
        Self {
            id: workflow.as_ref().map(|summary| summary.id.clone()),
            state: workflow
                .as_ref()
                .map_or(State::Nothing, |summary| summary.state),
            workflows: workflow.into_iter().collect(),
            findings: Vec::new(),
            facts,
        }
    }

    /// Returns the summary of the chosen workflow.
    pub fn chosen(&self) -> Option<&Summary> {
        let id = self.id.as_ref()?;
        self.workflows.iter().find(|summary| summary.id == *id)
    }

    /// Returns the findings that keep it from being resumed.
    pub fn blockers(&self) -> impl Iterator<Item = &Finding> {
        self.findings
            .iter()
            .filter(|finding| finding.severity() == Severity::Blocker)
    }
}

/// A checkpoint that a workflow keeps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkpoint {
    /// Its name, where the protocol gives one, or a number.
    pub name: String,
    /// When it was made.
    pub at: Option<Timestamp>,
    /// What was said when it was made.
    pub note: String,
    /// Its state.
    pub place: Place,
    /// Whether one can go back to it; `None` where the protocol knows no way back.
    pub is_valid: Option<bool>,
}

/// A document that a workflow keeps in the project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkflowDocument {
    /// What the workflow calls it, such as `plan.md` or `tasks/T001.md`.
    pub name: String,
    /// Its file or line, relative to the project.
    pub path: Utf8PathBuf,
}

/// Why a task is in its state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explanation {
    /// The workflow.
    pub id: WorkflowId,
    /// The task.
    pub task: String,
    /// Its state.
    pub verdict: String,
    /// The rule that decided, in one sentence.
    pub rule: String,
    /// What each source said, in the order in which it counts.
    pub said: Vec<Said>,
    /// How many more things were said that are not listed.
    pub left_out: usize,
}

impl Explanation {
    /// Returns an explanation with the sources that are listed.
    pub fn new(
        id: WorkflowId,
        task: impl Into<String>,
        verdict: impl Into<String>,
        rule: impl Into<String>,
        said: Vec<Said>,
    ) -> Self {
        Self {
            id,
            task: task.into(),
            verdict: verdict.into(),
            rule: rule.into(),
            said,
            left_out: 0,
        }
    }
}

/// What one source said of a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    /// Where it said it.
    pub place: Place,
    /// When it said it.
    pub at: Option<Timestamp>,
    /// What it said.
    pub what: String,
    /// Whether this decided.
    pub decided: bool,
}

impl Said {
    /// Returns what a source said at no known time.
    pub fn new(place: Place, what: impl Into<String>, decided: bool) -> Self {
        Self {
            place,
            at: None,
            what: what.into(),
            decided,
        }
    }
}
