//! The words of rekindle: ids, findings, assessments, plans, task graphs; pure, no I/O.
//!
//! Nothing here can be serialized and nothing here reads or writes: what leaves
//! the process is a type of `rekindle-wire`, what comes in is read through
//! `rekindle-world`. Start with [`Assessment`] (what the evidence means) and
//! [`Plan`] (what resuming would do).

mod action;
mod assessment;
mod background;
mod code;
mod command;
mod facts;
mod finding;
pub mod graph;
mod history;
mod id;
mod intent;
mod left_folder;
mod moment;
mod plan;
mod question;
mod report;
mod session;
mod view;
mod work;

pub use action::{Action, LandedFile, Landing};
pub use assessment::{
    Assessment, Checkpoint, Explanation, Next, Progress, Said, State, Summary, WorkflowDocument,
};
pub use background::Background;
pub use code::Code;
pub use command::{Command, CommandRole, CommandSource};
pub use facts::Fact;
pub use finding::{Finding, Place, Severity};
pub use history::{
    AttemptEnd, History, LastLife, Life, LifeEnd, MOST_BEATS, Milestone, PastAttempt, PastTask,
    TaskState, Wait,
};
pub use id::{ProtocolName, WorkflowId};
pub use intent::{Ended, Intent, Report};
pub use left_folder::{LeftFolder, LeftKind};
pub use moment::Moment;
pub use plan::{
    AgentTask, Checks, Confirmation, Offer, OfferKind, Permission, Plan, Request, Step, Stop,
    StopKind, Then,
};
pub use question::{Question, WithYes};
pub use report::ParseReportError;
pub use session::{
    Holder, LeftProcess, OpenKind, OpenStep, Session, SessionState, SubAgent, TodoList, Unsafe,
};
pub use view::{Attention, Condition, Room, View};
pub use work::{
    AgentChoice, AgentEnd, Attempted, Before, Delivery, Destination, FailureKind, FileChange,
    FileChangeKind, Happened, Kill, ListSource, MOST_ATTEMPTS, Settings, Stage, Standing, Victim,
    Work, WorkPlace, WorkTask,
};
