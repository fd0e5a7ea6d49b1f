//! How a workflow appears in a list of all: its title, its state in a person's words, whether it is shown at all.

use camino::Utf8PathBuf;
use jiff::Timestamp;

use crate::State;

/// How a workflow appears among others.
///
/// Programs read [`Summary::state`](crate::Summary::state) or `word`; people read `title` and `condition`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct View {
    /// What a person calls it, where it has a title.
    pub title: Option<String>,
    /// Its state in a person's words, as far as its files say; a view adds who is at work.
    pub condition: Condition,
    /// The protocol's own word for its state in JSON, where it has a more exact one than [`State`], such as `drafting`.
    pub word: Option<&'static str>,
    /// Whether it is a list of tasks that people keep; those of all formats are ordered and counted together.
    pub is_list: bool,
    /// Whether the project points at it, such as by the branch that is checked out; shown first.
    pub is_current: bool,
    /// Whether rekindle itself started it, so that a stage of the protocol means nothing to a person.
    pub is_ours: bool,
    /// How much room it takes.
    pub room: Room,
    /// The files that it edited, where it is a session of a coding agent.
    pub touched: Vec<Utf8PathBuf>,
}

impl View {
    /// Returns the view of a workflow that has no title and no special place.
    pub const fn of(state: State) -> Self {
        Self {
            title: None,
            condition: Condition::of(state),
            word: None,
            is_list: false,
            is_current: false,
            is_ours: false,
            room: Room::of(state),
            touched: Vec::new(),
        }
    }

    /// Returns the view with a title; one without visible characters is none.
    #[must_use]
    pub fn titled(mut self, title: impl Into<String>) -> Self {
        let title = title.into();
        self.title = (!title.trim().is_empty()).then_some(title);
        self
    }
}

/// The state of a workflow in the words of the person who looks at it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Condition {
    /// Somebody is at work on it.
    Running,
    /// It was cut off and can continue.
    Interrupted,
    /// It waits for a person's answer.
    NeedsPerson,
    /// It waits until an agent may be used again, where that is known.
    Limited {
        /// The end of the limit.
        until: Option<Timestamp>,
    },
    /// Nothing of it was started.
    Ready,
    /// It is still being written.
    Drafting,
    /// It cannot continue by itself.
    Blocked,
    /// Its files cannot be read.
    Unreadable,
    /// It is finished.
    Complete,
}

impl Condition {
    /// Returns what a state means to a person.
    pub const fn of(state: State) -> Self {
        match state {
            State::Interrupted => Self::Interrupted,
            State::Waiting | State::Choice => Self::NeedsPerson,
            State::Blocked | State::Unknown => Self::Blocked,
            State::Corrupt => Self::Unreadable,
            State::Complete | State::Nothing => Self::Complete,
        }
    }

    /// Returns the words used in text and JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Interrupted => "interrupted",
            Self::NeedsPerson => "needs you",
            Self::Limited { .. } => "waiting",
            Self::Ready => "ready",
            Self::Drafting => "drafting",
            Self::Blocked => "blocked",
            Self::Unreadable => "unreadable",
            Self::Complete => "complete",
        }
    }

    /// Returns the end of the limit that it waits for, where that is known.
    pub const fn until(self) -> Option<Timestamp> {
        match self {
            Self::Limited { until } => until,
            Self::Running
            | Self::Interrupted
            | Self::NeedsPerson
            | Self::Ready
            | Self::Drafting
            | Self::Blocked
            | Self::Unreadable
            | Self::Complete => None,
        }
    }

    /// Returns how much a person is needed.
    pub const fn attention(self) -> Attention {
        match self {
            Self::Interrupted | Self::NeedsPerson | Self::Blocked | Self::Unreadable => {
                Attention::Needed
            }
            Self::Running | Self::Limited { .. } => Attention::UnderWay,
            Self::Ready => Attention::Prepared,
            Self::Drafting => Attention::BeingWritten,
            Self::Complete => Attention::Over,
        }
    }
}

/// How much a workflow needs a person; lists are ordered by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Attention {
    /// Nothing happens until a person does something.
    Needed,
    /// It continues by itself.
    UnderWay,
    /// It was never started.
    Prepared,
    /// It is still being written.
    BeingWritten,
    /// It is finished.
    Over,
}

/// How much room a workflow takes in a list of all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Room {
    /// A line of its own.
    Line,
    /// A line if all are asked for; otherwise it is counted. JSON has it always.
    Folded,
    /// As [`Room::Folded`], and JSON has it only if all are asked for.
    Counted,
}

impl Room {
    const fn of(state: State) -> Self {
        if state.is_open() {
            Self::Line
        } else {
            Self::Folded
        }
    }
}
