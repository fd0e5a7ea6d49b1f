//! Evidence to verdict: the state of a feature, its findings and its next command.

use rekindle_model::{Finding, OfferKind};

use super::findings;
use super::next::{NextCommand, Situation};
use super::phase::Phase;
use super::read::{Artifact, Feature, Presence, minute_of};
use super::tasks::Tasks;
use super::validate::{validate_plan, validate_spec};
use super::{layout, marker};
use rekindle_protocol::capability::Validation;

const COMPLETE: &str = "Complete";
const IN_PROGRESS: &str = "In Progress";
/// Over this the context counts as high.
pub(super) const HIGH_CONTEXT: u32 = 60;

/// An older checkpoint is stale, in minutes.
const STALE: i64 = 7 * DAY;
/// A day in minutes.
pub(super) const DAY: i64 = 24 * 60;

/// A feature and the conclusions about it.
#[derive(Debug, Clone)]
pub(super) struct Judged {
    pub(super) feature: Feature,
    pub(super) phase: Phase,
    /// Whether the work of the checkpoint is complete; in the implement phase that is a task.
    pub(super) is_complete: bool,
    /// The completed phases.
    pub(super) completed: Vec<Phase>,
    pub(super) next: NextCommand,
    /// How old the checkpoint is, in minutes by the user's clock; less than nothing in the future.
    pub(super) age_minutes: i64,
    /// Files written after the checkpoint.
    pub(super) modified: Vec<String>,
    /// The results of the validators, if requested.
    pub(super) validations: Vec<Validation>,
    pub(super) findings: Vec<Finding>,
}

/// Judges a feature.
pub(super) fn assess(feature: Feature) -> Judged {
    let chosen = &feature.chosen;
    let phase = chosen.phase.unwrap_or(Phase::Spec);
    let is_complete = chosen.is_complete();
    let is_over = match phase {
        // A checkpoint of this phase is about a task; only the task list shows whether the phase is
        // complete.
        Phase::Implement => feature.tasks.as_ref().is_some_and(Tasks::is_complete),
        Phase::Spec | Phase::Plan | Phase::Tasks => is_complete,
    };
    let next = Situation {
        feature: &feature.name,
        phase,
        is_complete,
        said: chosen.fields.next.as_deref(),
        tasks: feature.tasks.as_ref(),
    }
    .next();
    let now = minute_of(feature.now);
    let age_minutes = chosen.at.map_or(0, |at| now.duration_since(at).as_mins());
    let is_later = |file: &&Artifact| {
        let written = file.written.map(minute_of);
        file.state != Presence::Absent && written > chosen.at
    };
    // A time in the future says nothing about the files.
    let modified = if age_minutes < 0 {
        Vec::new()
    } else {
        let later = feature.files.iter().filter(is_later);
        later.map(|file| file.path.clone()).collect()
    };
    let validations = if feature.asked.validate {
        validations(&feature, phase, is_complete)
    } else {
        Vec::new()
    };
    let completed = phase.before().chain(is_over.then_some(phase)).collect();
    let mut judged = Judged {
        phase,
        is_complete,
        completed,
        next,
        age_minutes,
        modified,
        validations,
        findings: Vec::new(),
        feature,
    };
    judged.findings = findings::findings(&judged);
    judged
}

/// Runs the validators: the spec's always, the plan's once the plan is complete.
fn validations(feature: &Feature, phase: Phase, is_complete: bool) -> Vec<Validation> {
    let path = |name: &str| layout::file(&feature.name, name).into_string();
    let spec = feature.spec.as_deref();
    let plan = feature.plan.as_deref();
    let has_plan = phase > Phase::Plan || phase == Phase::Plan && is_complete;
    let spec = spec.map(|text| validate_spec(&path("spec.md"), Some(text)));
    let plan = plan
        .filter(|_| has_plan)
        .map(|text| validate_plan(&path("plan.md"), Some(text), feature.has_rules));
    spec.into_iter().chain(plan).collect()
}

impl Judged {
    /// Returns whether the checkpoint is another than the latest.
    pub(super) fn is_rollback(&self) -> bool {
        let latest = self.feature.checkpoints.latest.as_ref();
        latest.is_none_or(|latest| latest.id != self.feature.chosen.id)
    }

    /// Returns whether the checkpoint has to become the latest one.
    pub(super) fn is_restored(&self) -> bool {
        !self.feature.checkpoints.is_latest(&self.feature.chosen)
    }

    /// Returns the status of the checkpoint.
    pub(super) fn status(&self) -> &'static str {
        if self.is_complete {
            COMPLETE
        } else {
            IN_PROGRESS
        }
    }

    /// Returns the status of the phase; the implement phase lasts as long as tasks are open.
    pub(super) fn status_of_phase(&self) -> &'static str {
        let is_over = match self.phase {
            Phase::Spec | Phase::Plan | Phase::Tasks => self.is_complete,
            Phase::Implement => self.completed.contains(&Phase::Implement),
        };
        if is_over { COMPLETE } else { IN_PROGRESS }
    }

    /// Returns the marker as it is to be.
    pub(super) fn marker(&self) -> String {
        marker::written(
            &self.feature.name,
            self.phase,
            self.completed.iter().copied(),
        )
    }

    /// Returns whole days of age.
    pub(super) fn age_days(&self) -> i64 {
        self.age_minutes.max(0) / DAY
    }

    /// Returns whether the context is high: it was at the checkpoint, or it has grown since.
    pub(super) fn is_context_high(&self) -> bool {
        let estimated = self.feature.estimated_context;
        let recorded = self.feature.chosen.context();
        recorded.is_some_and(|recorded| recorded > HIGH_CONTEXT)
            || estimated > HIGH_CONTEXT && recorded.is_none_or(|recorded| estimated > recorded)
    }

    /// Returns whether the session is compacted.
    pub(super) fn is_compacted(&self) -> bool {
        let is_wanted = self.feature.asked.fresh || self.accepts(OfferKind::CompactSession);
        self.is_context_high() && is_wanted
    }

    /// Returns whether the checkpoint is older than seven days.
    pub(super) fn is_stale(&self) -> bool {
        self.age_minutes > STALE
    }

    /// Returns whether the checkpoint is old but its files are valid.
    pub(super) fn is_valid_though_stale(&self) -> bool {
        let is_valid = self.validations.iter().all(|found| found.is_valid);
        self.is_stale() && !self.validations.is_empty() && is_valid
    }

    /// Returns whether the checkpoint gets a new timestamp.
    pub(super) fn is_refreshed(&self) -> bool {
        self.accepts(OfferKind::UpdateTimestamp) && self.is_valid_though_stale()
    }

    fn accepts(&self, offer: OfferKind) -> bool {
        self.feature.asked.accepted.contains(&offer)
    }

    /// Returns how many of the matching files exist, and how many there are.
    pub(super) fn counted(&self, counts: impl Fn(&Artifact) -> bool) -> (usize, usize) {
        let files = || self.feature.files.iter().filter(|file| counts(file));
        let present = files().filter(|file| file.state == Presence::Present);
        (present.count(), files().count())
    }

    /// Returns the files that are missing or not filled in.
    pub(super) fn missing(&self) -> Vec<&str> {
        let missing = self.feature.files.iter();
        let missing = missing.filter(|file| match file.state {
            Presence::Absent | Presence::Placeholder => true,
            Presence::Present | Presence::Unreadable(_) => false,
        });
        missing.map(|file| file.path.as_str()).collect()
    }

    /// Returns whether an error of the workflow is still being dealt with.
    pub(super) fn has_active_error(&self) -> bool {
        let session = &self.feature.session;
        let blockers = session.blockers();
        let is_recovering = session.focus("Status").is_some_and(|status| {
            let status = status.to_lowercase();
            status.starts_with("error recovery")
        });
        if blockers.is_empty() {
            is_recovering
        } else {
            blockers.iter().any(|blocker| !blocker.is_resolved())
        }
    }
}

#[cfg(test)]
#[path = "file_tests.rs"]
mod file_tests;
#[cfg(test)]
#[path = "assess_tests.rs"]
mod tests;
