//! What leaves the process: versioned JSON types, exit codes, journal records.
//!
//! Every object that a command prints with `--json` has a `schema` that names
//! its version. Within a version keys are added, never changed or
//! removed: an older reader ignores unknown keys, a newer reader finds
//! all keys it needs. Human text may change in any release, this may not.

pub mod agreed;
mod claimed;
pub mod exit;
mod facts;
pub mod finished;
mod install;
pub mod journal;
mod mcp;
mod mute;
mod notice;
pub mod order;
mod output;
mod plan;
mod rescue;
mod schemas;
mod sessions;
pub mod slot;
pub mod stopped;
pub mod told;
pub mod torture;

pub use claimed::Claimed;
pub use facts::Facts;
pub use install::{InstallFileOut, InstallOut};
pub use mcp::{Brief, CallOut, Page, Piece, Proposal, Turn, WorkOut};
pub use mute::MuteOut;
pub use notice::Notice;
pub use output::{
    AtWorkOut, CheckOut, CheckpointOut, Checkpoints, CleanOut, ConfigFileOut, ConfigOut,
    DecidedOut, DiffOut, Doctor, ErrorBody, ErrorOut, EventOut, Explained, FindingOut, FindingPage,
    InitOut, Inspect, LastSessionOut, LifeOut, LogOut, LogsOut, MarkOut, MigrateOut, NeedOut,
    NextOut, NotPrunedOut, NotRemovedOut, OrphanOut, OutlineOut, OutlineTaskOut, OutputOut,
    Picture, PictureAttempt, PictureCounts, PictureTask, ProgressOut, PruneOut, PrunedOut,
    RemovedOut, ReportOut, ReportPage, RequestOut, ResumeOut, RunOut, SaidOut, SettingOut, Status,
    TaskDetail, TextOut, ValidateOut, WaitOut, WhyOut, WorkflowOut, finding, workflow,
};
pub use plan::{
    AgentOut, CommandOut, PlanOut, QuestionOut, StepOut, ThenOut, agent, command, plan, question,
};
pub use rescue::{RescueOut, RescueShown, RescuedCommitOut, RescuedFileOut, Rescues, RestoredOut};
pub use schemas::schemas;
pub use sessions::{
    SessionContinuedOut, SessionCountsOut, SessionLeftOut, SessionsContinuedOut, SessionsOut,
};
