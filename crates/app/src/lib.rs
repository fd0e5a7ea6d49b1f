//! The use cases behind every front end: status, inspect, plan, resume, explain.
//!
//! A front end (the command line, MCP) turns its input into a call here
//! and shows the result; it has no rules of its own. Start reading at
//! [`resume()`], the main use case.

mod agent;
mod at_work;
mod attach;
mod beside;
mod candidates;
mod choose;
mod clean;
mod config;
mod continue_session;
mod decide;
mod doctor;
mod documents;
mod doing;
mod engine;
mod error;
mod face;
pub mod hook;
mod init;
mod inspect;
mod install;
mod installed;
mod integrations;
mod last_session;
mod lists;
mod logs;
mod map;
mod meaning;
mod migrate;
mod mute;
mod notify;
mod objects;
mod offers;
mod outline;
mod overview;
mod picture;
mod preflight;
mod project;
mod proposal;
mod prune;
mod query;
mod records;
mod report;
mod rescue;
mod resume;
mod revise;
mod run;
mod sessions;
mod status;
mod survey;
mod validate;

pub use agent::{EngineWish, engine_options};
pub use at_work::{AtWork, at_work, refuse_beside};
pub use attach::{Attached, Attention, Unattached, attach};
pub use candidates::{
    Candidate, candidate_agents, candidate_prunables, candidate_rescues, candidate_tasks,
    candidate_workflows,
};
pub use choose::protocols_with;
pub use clean::{Cleaned, Cleaning, Stuck, clean};
pub use config::{ConfigFile, ConfigOwner, Configured, configured};
pub use continue_session::{
    AllOptions, Continued, LeftAlone, SessionError, SessionMode, SessionOptions, handover_page,
    resume_sessions,
};
pub use decide::{Decided, Decision, Tasks, cancel, decide, stop};
pub use doctor::{Check, Verdict, doctor};
pub use documents::{Documents, document, documents};
pub use engine::{EngineOptions, worker};
pub use error::Error;
pub use face::{Agreement, Briefing, Choice, Enter, Face, News};
pub use init::{Initiated, init};
pub use inspect::{
    Explained, Inspected, Planned, explain, inspect, inspect_recording, next_step, plan,
};
pub use install::{
    Consent, FileChange, InstallError, Installation, Scope, Target, Unfit, Wish, install,
};
pub use last_session::{Fate, LastSession};
pub use logs::{Logs, Wanted, last_lines, logs};
pub use map::{MapAnswer, map};
pub use migrate::{Migrated, migrate};
pub use mute::{Hearing, mute};
pub use notify::interrupted as notify_interrupted;
pub use objects::ExplainedObject;
pub use offers::{Offer, offers};
pub use outline::{Outline, OutlineState, OutlineTask, outline};
pub use overview::{Folded, Line, Listing};
pub use picture::{ReportWish, picture, report_page, write_new_report, write_report};
pub use project::Project;
pub use prune::{Prunable, PruneKind, PruneWish, Pruning, prune};
pub use query::Query;
pub use records::finished;
pub use report::{Recorded, Timeline, archive, checkpoint, checkpoints, event, event_of_agent};
pub use rescue::{Restored, Shown, rescue, rescues, restore};
pub use resume::{Asks, Handed, Options, Outcome, Resumed, advance, resume};
pub use revise::UpdatePlan;
pub use run::{PlanText, Ran, RunOptions, STANDARD_INPUT, read_plan, run};
pub use sessions::{FIRST_SESSIONS, SessionList, sessions};
pub use status::{NextStep, Overview, Verb, gives_way, short_id, status};
pub use validate::{Validated, validate};

pub use rekindle_agents::config::{Run as RunDefaults, Setting, parse_duration};
pub use rekindle_agents::shell::anchored;
pub use rekindle_agents::{Agent, ConfigError, Preset};
pub use rekindle_fs::{Error as FilesError, Unfinished, sweep_unfinished};
pub use rekindle_git::{
    ChangeKind, Mode, RepoPath, Rescue, Rescued, SCRUBBED as GIT_VARIABLES, absolute_folders,
};
pub use rekindle_protocol::ResumeOption;
pub use rekindle_protocol::capability::{Revision, Validation};
pub use rekindle_protocol::sessions::{Reach, Scope as SessionScope};
pub use rekindle_registry::{
    names as protocol_names, parse as parse_protocol, split as split_id, workflow as workflow_id,
};
pub use rekindle_runner::{
    After, Asked, AttemptLog, Begin, Change, Cost, Ending, Event, GivenUp, HeldBack, LeftOut,
    Missing, Output, Progress, Recovered, RunView, Skipped, Steering, Tally, Urgency, Watcher,
    WorkerView, crash_places,
};
pub use rekindle_world::{Clock, Readings, Zone};
