//! Taking up what was handed back: the caller has done the work, and nobody has settled it yet.
//!
//! Where rekindle starts its agents itself, it settles what they leave in the same run. A caller that
//! lets a helper of its own do the work comes back with another resume, and then the report of a
//! validation is what the disk shows. A phase needs nothing of this: its archive speaks for it.

use camino::Utf8PathBuf;
use rekindle_model::{Action, Plan, Step, Then};

use super::super::assess::Routing;
use super::super::handed::Handed;
use super::super::layout;
use super::super::memory::Memory;
use super::super::seen;
use super::super::table::Branch;
use super::super::words;
use super::{Planner, says};

impl Planner<'_> {
    /// Returns the plan that settles what was handed back, if something came of it.
    pub(super) fn taken_up(&self) -> Option<Plan> {
        let Routing::Validation(branch @ (Branch::Correction | Branch::Fresh)) =
            self.judged.routing
        else {
            return None;
        };
        let project = &self.judged.project;
        let plan = match project.handed.as_ref()? {
            Handed::Validation { seen } => {
                let mut plan = self.concluded(seen::left(project, Some(seen)))?;
                let text = words::validation(self.judged, branch);
                let behind_write = plan.steps.len().min(1);
                let says = says(text, "where the stage goes on");
                plan.steps.insert(behind_write, says);
                self.asked_for_correction(plan)
            }
            Handed::Correction { cycle } if self.is_to_correct() => {
                let mut plan = self.corrected(*cycle);
                plan.steps.push(self.asking());
                plan
            }
            Handed::Correction { .. } => return None,
        };
        Some(self.noted(plan))
    }

    /// Returns whether the correction that is due was asked for and nobody was sent off for it.
    pub(super) fn is_to_correct(&self) -> bool {
        let fields = &self.judged.project.fields;
        let cycle = fields.correction_cycle;
        fields.has_open_correction
            && self.judged.project.handed == Some(Handed::Correction { cycle })
    }

    /// Notes that a validation is asked for, with the mark of what is there before it.
    pub(super) fn asking(&self) -> Step {
        let seen = seen::before_validation(&self.judged.project);
        self.noting(&Handed::Validation { seen }, "a validation is asked for")
    }

    /// Makes a plan that sends Maestro off into one that asks for it: without an agent nothing of the
    /// first would be written, and the next resume would begin with the same report.
    fn asked_for_correction(&self, mut plan: Plan) -> Plan {
        if !matches!(plan.then, Then::Agent(_)) {
            return plan;
        }
        let cycle = self.next_cycle();
        plan.steps
            .retain(|step| !matches!(step.action, Action::Append { .. }));
        plan.steps
            .push(self.noting(&Handed::Correction { cycle }, "a correction is asked for"));
        plan.then = Then::Again;
        plan
    }

    fn noting(&self, handed: &Handed, why: &str) -> Step {
        Step {
            action: Action::Append {
                log: Utf8PathBuf::from(layout::SPAWNS),
                record: handed.line(&self.stamp()),
            },
            why: why.to_owned(),
        }
    }

    /// Notes the resume in what a plan writes.
    fn noted(&self, mut plan: Plan) -> Plan {
        for step in &mut plan.steps {
            if let Action::Edit { after, .. } = &mut step.action {
                let memory = Memory::parse(std::mem::take(after));
                *after = self.resumed(&memory).bytes().to_vec();
            }
        }
        plan
    }
}
