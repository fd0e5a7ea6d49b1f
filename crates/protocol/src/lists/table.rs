//! The decisions that all formats share, as tables: the state of a task, of a task with parts, and of
//! a list.

use crate::Decision;
use crate::table::Cell::{In, Is};
use crate::table::{Verdict, inputs, table, values};

/// Returns the shared decisions for the documentation.
pub fn decisions() -> Vec<Decision> {
    vec![TASKS.printed(), PARENTS.printed(), LISTS.printed()]
}

values! {
    /// The state of a task.
    TaskState {
        /// Open.
        Pending "pending",
        /// Begun.
        InProgress "in_progress",
        /// Done.
        Done "done",
        /// It cannot start.
        Blocked "blocked",
        /// Left out.
        Skipped "skipped",
    }
}

impl TaskState {
    /// Returns whether nothing is left to do.
    pub const fn is_finished(self) -> bool {
        match self {
            Self::Done | Self::Skipped => true,
            Self::Pending | Self::InProgress | Self::Blocked => false,
        }
    }
}

impl Verdict for TaskState {
    const COLUMNS: &'static [&'static str] = &["task is"];

    fn shown(&self) -> Vec<String> {
        vec![format!("`{}`", self.as_str())]
    }
}

values! {
    /// What a mark says of a task.
    Claim {
        /// Nobody has begun it.
        Open "open",
        /// Somebody has.
        InProgress "in progress",
        /// It is done.
        Done "done",
        /// Struck out, deferred, or optional.
        Skipped "left out",
    }
}

inputs! {
    /// What decides the state of a task.
    Signs asked by SignsWhen {
        /// A commit with its trailers is there.
        has_landed: bool = "a commit landed",
        /// What its mark says.
        claim: Claim = "mark",
        /// It waits for itself.
        is_in_ring: bool = "in a ring of needs",
        /// Parts of it are open.
        has_open_part: bool = "has an open part",
        /// The last session of a coding agent was working on it.
        is_at_hand: bool = "the last session was at it",
    }
}

table! {
    /// The state of a task that is work.
    pub static TASKS: Signs, asked by SignsWhen => TaskState;
    "The state of a task", "A mark is a claim; a landed commit is proof.";
    [has_landed: Is(true)] => TaskState::Done, "States, 1";
    [claim: Is(Claim::Done), has_open_part: Is(false)] => TaskState::Done, "States, 2";
    [claim: Is(Claim::Skipped)] => TaskState::Skipped, "States, 2";
    [is_in_ring: Is(true)] => TaskState::Blocked, "States, 5";
    [claim: Is(Claim::InProgress)] => TaskState::InProgress, "States, 2";
    [claim: Is(Claim::Open), is_at_hand: Is(true)] => TaskState::InProgress, "States, 4";
    [] => TaskState::Pending, "States, 2 and 3";
}

values! {
    /// The parts of a task together.
    Parts {
        /// Each is done or left out, and one is done.
        Finished "finished",
        /// All are left out.
        LeftOut "all left out",
        /// One that the list needs is open.
        Open "one is open",
        /// Only such are open that the list can do without.
        OptionalOpen "only optional ones are open",
    }
}

inputs! {
    /// What decides the state of a task that only groups others.
    Whole asked by WholeWhen {
        /// How far its parts are.
        parts: Parts = "parts",
        /// What its mark says.
        claim: Claim = "mark",
    }
}

values! {
    /// The state of a task that only groups others, and what is to be noticed.
    ParentVerdict {
        /// Done.
        Done "`done`",
        /// Done, and its mark is missing.
        DoneUnmarked "`done`, `MARK_MISSING`",
        /// Left out.
        Skipped "`skipped`",
        /// Open, and marked as done.
        MarkedEarly "`pending`, `MARKED_EARLY`",
        /// Begun.
        InProgress "`in_progress`",
        /// Open.
        Pending "`pending`",
    }
}

impl ParentVerdict {
    /// Returns the state.
    pub const fn state(self) -> TaskState {
        match self {
            Self::Done | Self::DoneUnmarked => TaskState::Done,
            Self::Skipped => TaskState::Skipped,
            Self::MarkedEarly | Self::Pending => TaskState::Pending,
            Self::InProgress => TaskState::InProgress,
        }
    }
}

impl Verdict for ParentVerdict {
    const COLUMNS: &'static [&'static str] = &["task is"];

    fn shown(&self) -> Vec<String> {
        vec![self.as_str().to_owned()]
    }
}

table! {
    /// The state of a task that only groups others.
    #[expect(clippy::needless_update, reason = "some rows ask for both inputs")]
    pub static PARENTS: Whole, asked by WholeWhen => ParentVerdict;
    "The state of a task with parts", "Where a format says that such a task has no work of its own.";
    [parts: Is(Parts::Finished), claim: Is(Claim::Done)] => ParentVerdict::Done, "States, 3";
    [parts: Is(Parts::Finished)] => ParentVerdict::DoneUnmarked, "States, 3";
    [parts: Is(Parts::LeftOut)] => ParentVerdict::Skipped, "States, 3";
    [parts: Is(Parts::Open), claim: Is(Claim::Done)] => ParentVerdict::MarkedEarly, "States, 3";
    [claim: Is(Claim::Done)] => ParentVerdict::Done, "the format's page";
    [claim: Is(Claim::Skipped)] => ParentVerdict::Skipped, "States, 2";
    [claim: Is(Claim::InProgress)] => ParentVerdict::InProgress, "States, 2";
    [] => ParentVerdict::Pending, "States, 2";
}

values! {
    /// How far the tasks of a list are.
    Progress {
        /// There are none.
        NoTasks "no tasks",
        /// None is done or in progress.
        NotBegun "none begun",
        /// Some are.
        Begun "some begun, some open",
        /// Nothing is left to do.
        Finished "all done or left out",
    }
}

inputs! {
    /// What decides the state of a list.
    Far asked by FarWhen {
        /// The file with the tasks cannot be read.
        is_unreadable: bool = "file unreadable",
        /// It was put away as finished.
        is_archived: bool = "put away",
        /// How far its tasks are.
        progress: Progress = "tasks",
        /// The format has a step that is still to come, such as an archive.
        is_to_close: bool = "a closing step is left",
    }
}

values! {
    /// The state of a list.
    ListState {
        /// Nothing is left to do.
        Complete "complete",
        /// Something is done or in progress, and something is open.
        Interrupted "interrupted",
        /// Nothing is begun.
        Ready "ready",
        /// The list itself is still to be written.
        Drafting "drafting",
    }
}

impl Verdict for ListState {
    const COLUMNS: &'static [&'static str] = &["list is"];

    fn shown(&self) -> Vec<String> {
        vec![format!("`{}`", self.as_str())]
    }
}

table! {
    /// The state of a list.
    pub static LISTS: Far, asked by FarWhen => ListState;
    "The state of a list", "What `rekindle` shows of it.";
    [is_unreadable: Is(true)] => ListState::Interrupted, "The list as a whole";
    [is_archived: Is(true)] => ListState::Complete, "O17";
    [progress: Is(Progress::NoTasks)] => ListState::Drafting, "The list as a whole";
    [progress: Is(Progress::Finished), is_to_close: Is(false)] => ListState::Complete, "The list as a whole";
    [progress: In(&[Progress::Finished, Progress::Begun])] => ListState::Interrupted, "The list as a whole, O17";
    [] => ListState::Ready, "The list as a whole";
}
