//! Migrates the legacy shared session to one feature.

use rekindle_model::WorkflowId;
use rekindle_protocol::capability::Migration;

use crate::report::{carry_out, deeds};
use crate::{Error, Face, Outcome, Project};

/// The result of a migration.
#[derive(Debug)]
pub enum Migrated {
    /// It was done, or finished.
    Done {
        /// The feature.
        id: WorkflowId,
        /// The new state, one sentence.
        summary: String,
        /// Remarks, one sentence each.
        notes: Vec<String>,
    },
    /// The person declined.
    Declined,
    /// There was nothing to migrate.
    Nothing {
        /// The reason.
        reason: String,
    },
    /// The legacy session belongs to another feature.
    Mismatch {
        /// The reason.
        reason: String,
    },
    /// A file could not be written.
    Failed {
        /// The reason.
        source: Error,
    },
}

/// Migrates the named feature, or that of the marker, if the person agrees.
///
/// The unfinished steps of an earlier migration are part of the question.
pub fn migrate(
    project: &Project,
    name: Option<&str>,
    yes: bool,
    face: &mut dyn Face,
) -> Result<Migrated, Error> {
    let Some((protocol, migrator)) = rekindle_registry::migrator() else {
        let reason = "no protocol has an older layout".to_owned();
        return Ok(Migrated::Nothing { reason });
    };
    let id = |name: &str| WorkflowId::new(protocol, name);
    let folder = project.state();
    let look = || migrator.migration(&project.world(), name);
    let (id, notes, steps) = match look() {
        Migration::Plan { plan, notes } => (plan.id.clone(), notes, plan.steps),
        Migration::Mismatch { reason } => return Ok(Migrated::Mismatch { reason }),
        Migration::Nothing {
            workflow: Some(feature),
            ..
        } if folder.is_unfinished(&id(&feature))? => (id(&feature), Vec::new(), Vec::new()),
        Migration::Nothing { reason, .. } => return Ok(Migrated::Nothing { reason }),
    };
    if !yes
        && !face
            .agree(&deeds(&folder.unfinished(&id)?, &steps))
            .given()?
    {
        return Ok(Migrated::Declined);
    }
    let plan = || match look() {
        Migration::Plan { plan, .. } => Ok(Some(*plan)),
        // The unfinished steps of an earlier migration are finished.
        Migration::Nothing { .. } | Migration::Mismatch { .. } => Ok(None),
    };
    match carry_out(project, &id, "migrate", plan, face) {
        Ok((outcome, _)) => Ok(Migrated::Done {
            id,
            summary: match outcome {
                Outcome::Stopped(stop) => stop.reason,
                Outcome::Nothing
                | Outcome::Declined
                | Outcome::Ran(_)
                | Outcome::AgentNeeded(_)
                | Outcome::Unanswered(_) => "an interrupted migration was finished".to_owned(),
            },
            notes,
        }),
        Err(source @ (Error::Run(_) | Error::Files(_))) => Ok(Migrated::Failed { source }),
        Err(error) => Err(error),
    }
}
