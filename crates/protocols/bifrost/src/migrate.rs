//! The migration of a legacy session to its feature.
//!
//! Nothing is overwritten, and all changes are one plan, which the next start finishes after a
//! crash.

use camino::Utf8Path;
use rekindle_model::{Action, Plan, Step, Stop, StopKind};
use rekindle_protocol::capability::Migration;
use rekindle_text::excerpt;
use rekindle_world::World;

use super::read::{bytes, feature_of, marker_file};
use super::session::Session;
use super::{id, layout};

/// Plans the migration of the feature that is named, or that the marker names.
pub(super) fn migration(world: &dyn World, name: Option<&str>) -> Migration {
    let nothing = |reason: String| Migration::Nothing {
        workflow: None,
        reason,
    };
    let typed = match name {
        Some(typed) => typed.to_owned(),
        None => match marker_file(world).marker().map(|marker| marker.feature) {
            None => {
                return nothing(format!(
                    "no feature was named, and there is no `{}`",
                    layout::MARKER
                ));
            }
            Some(None) => return nothing(format!("`{}` names no feature", layout::MARKER)),
            Some(Some(feature)) => feature,
        },
    };
    let feature = match layout::feature_name(&typed) {
        Ok(feature) => feature,
        Err(reason) => {
            return nothing(format!(
                "`{}` is not a valid feature name: {reason}",
                excerpt(&typed, 120)
            ));
        }
    };
    let shown = excerpt(&feature, 80);
    let nothing = |reason: String| Migration::Nothing {
        workflow: Some(feature.clone()),
        reason,
    };
    let legacy = Utf8Path::new(layout::LEGACY_SESSION);
    let before = match bytes(world, legacy) {
        Ok(Some(before)) => before,
        Ok(None) => return nothing(format!("there is no legacy session at `{legacy}`")),
        Err(reason) => return nothing(format!("`{legacy}` is unusable: {reason}")),
    };
    let Some(session) = Session::parse(before.clone()) else {
        return nothing(format!("`{legacy}` is not UTF-8 text"));
    };
    let mut notes = Vec::new();
    match feature_of(&session) {
        Some(named) if named == feature => {}
        Some(named) => {
            let reason = format!(
                "the legacy session is about `{}`, not `{shown}`",
                excerpt(&named, 80)
            );
            return Migration::Mismatch { reason };
        }
        None => {
            notes.push("the legacy session names no feature; it is taken as this one's".to_owned());
        }
    }
    let target = layout::session(&feature);
    if !layout::is_inside(world, &layout::folder(&feature)) {
        return nothing(format!(
            "the folder of `{shown}` is a link that leads out of the project"
        ));
    }
    if world.stat(&world.project().join(&target)).is_ok() {
        return nothing(format!(
            "`{}` already exists and is not overwritten",
            excerpt(target.as_str(), 200)
        ));
    }
    let (plan, note) = planned(world, &feature, before);
    notes.extend(note);
    let plan = Box::new(plan);
    Migration::Plan { plan, notes }
}

/// Returns the plan, and a note for the user.
fn planned(world: &dyn World, feature: &str, before: Vec<u8>) -> (Plan, Option<String>) {
    let shown = excerpt(feature, 80);
    let (legacy, target) = (
        Utf8Path::new(layout::LEGACY_SESSION),
        layout::session(feature),
    );
    let now = world.zone().to_datetime(world.now());
    let stamp = now.strftime("%Y%m%d-%H%M%S").to_string();
    let backup = layout::free(world, layout::migrated(&stamp));
    let made = Action::Create {
        path: target.clone(),
        contents: before.clone(),
    };
    let moved = Action::MoveFile {
        from: legacy.to_owned(),
        to: backup.clone(),
        contents: before,
    };
    let mut steps = vec![
        Step::new(made, format!("the session of {shown}")),
        Step::new(moved, "the legacy session is saved under another name"),
    ];
    let template = bytes(world, Utf8Path::new(layout::PROJECT_SESSION));
    let note = if let Ok(Some(contents)) = template {
        let path = legacy.to_owned();
        let begun = Action::Create { path, contents };
        steps.push(Step::new(begun, "the shared session is started"));
        None
    } else {
        Some(format!(
            "there is no `{}`, so no shared session is started",
            layout::PROJECT_SESSION
        ))
    };
    let done = format!(
        "`{}` is the session of {shown} now; the legacy one is saved as `{backup}`",
        excerpt(target.as_str(), 200)
    );
    let stop = Stop::new(StopKind::Done, done);
    (Plan::new(id(feature), steps, stop), note)
}

#[cfg(test)]
#[path = "migrate_tests.rs"]
mod tests;
