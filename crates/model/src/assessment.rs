//! The result of reading a project, in terms that all protocols share.

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
    /// The named workflow does not exist.
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

/// The progress of a workflow; by default nothing is done, of an unknown total.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Progress {
    /// Finished tasks.
    pub done: usize,
    /// All tasks, if known.
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

/// The next action, as the protocol names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Next {
    /// The protocol's word for it.
    pub kind: &'static str,
    /// One sentence for a person.
    pub summary: String,
}

impl Next {
    /// Returns the next action.
    pub fn new(kind: &'static str, summary: impl Into<String>) -> Self {
        let summary = summary.into();
        Self { kind, summary }
    }
}

/// One workflow in one line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary {
    /// Its id.
    pub id: WorkflowId,
    /// Its state.
    pub state: State,
    /// The stage or phase, as shown to a person.
    pub stage: String,
    /// The progress.
    pub progress: Progress,
    /// The last activity.
    pub last_activity: Option<Timestamp>,
    /// The next action.
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

    /// Sets when something last happened in it.
    #[must_use]
    pub fn last_active(mut self, at: Option<Timestamp>) -> Self {
        self.last_activity = at;
        self
    }

    /// Returns the word for its state that programs read.
    pub fn word(&self) -> &'static str {
        self.view.word.unwrap_or(self.state.as_str())
    }
}

/// A protocol's assessment of a project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assessment {
    /// The workflow that was named, or the only one.
    pub id: Option<WorkflowId>,
    /// Its state.
    pub state: State,
    /// All workflows of the protocol, open ones first, in the protocol's order.
    pub workflows: Vec<Summary>,
    /// The findings.
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

    /// Adds findings.
    #[must_use]
    pub fn with(mut self, findings: impl IntoIterator<Item = Finding>) -> Self {
        self.findings.extend(findings);
        self
    }

    /// Chooses no workflow if a person named another one, in full or by its beginning.
    #[must_use]
    pub fn named(mut self, wanted: Option<&str>) -> Self {
        let is_other = |id: &WorkflowId| {
            wanted.is_some_and(|wanted| wanted.is_empty() || !id.name.starts_with(wanted))
        };
        if self.id.as_ref().is_some_and(is_other) {
            self.id = None;
            self.state = State::Unknown;
        }
        self
    }

    /// Returns the summary of the chosen workflow.
    pub fn chosen(&self) -> Option<&Summary> {
        let id = self.id.as_ref()?;
        self.workflows.iter().find(|summary| summary.id == *id)
    }

    /// Returns the findings that block a resume.
    pub fn blockers(&self) -> impl Iterator<Item = &Finding> {
        self.findings
            .iter()
            .filter(|finding| finding.severity() == Severity::Blocker)
    }
}

/// A checkpoint of a workflow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkpoint {
    /// Its name, or a number if the protocol gives no name.
    pub name: String,
    /// When it was created.
    pub at: Option<Timestamp>,
    /// The message it was created with.
    pub note: String,
    /// Its file and line.
    pub place: Place,
    /// Whether a rollback to it is possible; `None` if the protocol has no rollback.
    pub is_valid: Option<bool>,
}

/// A document of a workflow in the project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkflowDocument {
    /// The workflow's name for it, such as `plan.md` or `tasks/T001.md`.
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
    /// The rule that decided its state, one sentence.
    pub rule: String,
    /// What each source says, in order of precedence.
    pub said: Vec<Said>,
    /// The number of statements that are not listed.
    pub left_out: usize,
}

impl Explanation {
    /// Returns an explanation with the listed sources.
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

/// A statement of one source about a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    /// Its file and line.
    pub place: Place,
    /// Its time.
    pub at: Option<Timestamp>,
    /// The statement.
    pub what: String,
    /// Whether it decided the state.
    pub decided: bool,
}

impl Said {
    /// Returns a statement without a known time.
    pub fn new(place: Place, what: impl Into<String>, decided: bool) -> Self {
        Self {
            place,
            at: None,
            what: what.into(),
            decided,
        }
    }

    /// Sets when the source said it.
    #[must_use]
    pub fn when(mut self, at: Option<Timestamp>) -> Self {
        self.at = at;
        self
    }
}
