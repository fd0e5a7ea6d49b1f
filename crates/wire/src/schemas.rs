//! The JSON schemas of all outputs, for the reference and for tests.

use schemars::{JsonSchema, Schema, schema_for};

use crate::install::InstallOut;
use crate::mcp::{Brief, Page, Proposal, Turn};
use crate::mute::MuteOut;
use crate::notice::Notice;
use crate::output::{
    Checkpoints, CleanOut, ConfigOut, DecidedOut, Doctor, ErrorOut, EventOut, Explained,
    FindingPage, InitOut, Inspect, LogsOut, MigrateOut, OutlineOut, Picture, ProgressOut, PruneOut,
    ReportPage, ResumeOut, RunOut, Status, TextOut, ValidateOut,
};
use crate::plan::PlanOut;
use crate::rescue::{RescueShown, Rescues, RestoredOut};
use crate::sessions::{SessionsContinuedOut, SessionsOut};
use crate::torture::Score;

/// Returns every output's name and schema, sorted by name.
pub fn schemas() -> Vec<(&'static str, Schema)> {
    fn of<T: JsonSchema>(name: &'static str) -> (&'static str, Schema) {
        (name, schema_for!(T))
    }
    vec![
        of::<Brief>("rekindle.brief/1"),
        of::<Checkpoints>("rekindle.checkpoints/1"),
        of::<CleanOut>("rekindle.clean/1"),
        of::<ConfigOut>("rekindle.config/1"),
        of::<DecidedOut>("rekindle.decided/1"),
        of::<Doctor>("rekindle.doctor/1"),
        of::<ErrorOut>("rekindle.error/1"),
        of::<EventOut>("rekindle.event/1"),
        of::<Explained>("rekindle.explain/1"),
        of::<FindingPage>("rekindle.finding/1"),
        of::<InitOut>("rekindle.init/1"),
        of::<Inspect>("rekindle.inspect/1"),
        of::<MigrateOut>("rekindle.migrate/1"),
        of::<InstallOut>("rekindle.install/1"),
        of::<LogsOut>("rekindle.logs/1"),
        of::<OutlineOut>("rekindle.outline/1"),
        of::<MuteOut>("rekindle.mute/1"),
        of::<Notice>("rekindle.notice/1"),
        of::<Page>("rekindle.page/1"),
        of::<Picture>("rekindle.picture/1"),
        of::<PlanOut>("rekindle.plan/1"),
        of::<ProgressOut>("rekindle.progress/1"),
        of::<Proposal>("rekindle.proposal/1"),
        of::<PruneOut>("rekindle.prune/1"),
        of::<ReportPage>("rekindle.report/1"),
        of::<RescueShown>("rekindle.rescue/1"),
        of::<Rescues>("rekindle.rescues/1"),
        of::<RestoredOut>("rekindle.restored/1"),
        of::<ResumeOut>("rekindle.resume/1"),
        of::<RunOut>("rekindle.run/1"),
        of::<SessionsOut>("rekindle.sessions/1"),
        of::<SessionsContinuedOut>("rekindle.sessions-continued/1"),
        of::<Status>("rekindle.status/1"),
        of::<TextOut>("rekindle.text/1"),
        of::<Score>("rekindle.torture/1"),
        of::<Turn>("rekindle.turn/1"),
        of::<ValidateOut>("rekindle.validate/1"),
    ]
}
