//! Work that was handed back to the caller, whose result has not been recorded yet.
//!
//! If rekindle starts the agents, it records their results in the same run. A caller that does the work
//! itself comes back with another resume, which finds the result on disk. This concerns validations
//! and corrections; a phase is proven by its archive.

use rekindle_model::{Action, Plan, Step, Then};

use super::super::assess::Routing;
use super::super::handed_back::HandedBack;
use super::super::marks;
use super::super::memory::Memory;
use super::super::messages;
use super::super::table::Branch;
use super::{Planner, enters};

impl Planner<'_> {
    /// Returns the plan that records the result of the work that was handed back, if there is one.
    pub(super) fn returned_work(&self) -> Option<Plan> {
        let Routing::Validation(branch @ (Branch::Correction | Branch::Fresh)) =
            self.judged.routing
        else {
            return None;
        };
        let project = &self.judged.project;
        let plan = match project.handed_back.as_ref()? {
            HandedBack::Validation { seen } => {
                let mut plan = self.concluded(marks::left(project, Some(seen)))?;
                let text = messages::validation(self.judged, branch);
                let after_write = plan.steps.len().min(1);
                plan.steps.insert(after_write, enters(text));
                self.handing_back_correction(plan)
            }
            HandedBack::Correction { cycle } if self.is_to_correct() => {
                let mut plan = self.corrected(*cycle);
                plan.steps.push(self.asking());
                plan
            }
            HandedBack::Correction { .. } => return None,
        };
        Some(self.with_resume_line(plan))
    }

    /// Returns whether the due correction was handed back, so that no agent was started for it.
    pub(super) fn is_to_correct(&self) -> bool {
        let fields = &self.judged.project.fields;
        let cycle = fields.correction_cycle;
        fields.has_open_correction
            && self.judged.project.handed_back == Some(HandedBack::Correction { cycle })
    }

    /// Logs that a validation is handed back, with the mark of the files before it.
    pub(super) fn asking(&self) -> Step {
        let seen = marks::before_validation(&self.judged.project);
        self.logged(
            &HandedBack::Validation { seen },
            "a validation is handed back",
        )
    }

    /// Turns a plan that starts Maestro into one that hands the correction back: without an agent
    /// nothing would be written, and the next resume would find the same report.
    fn handing_back_correction(&self, mut plan: Plan) -> Plan {
        if !matches!(plan.then, Then::Agent(_)) {
            return plan;
        }
        let cycle = self.next_cycle();
        plan.steps
            .retain(|step| !matches!(step.action, Action::Append { .. }));
        plan.steps.push(self.logged(
            &HandedBack::Correction { cycle },
            "a correction is handed back",
        ));
        plan.then = Then::Again;
        plan
    }

    fn logged(&self, handed: &HandedBack, why: &str) -> Step {
        self.log(handed.line(&self.stamp()), why)
    }

    /// Adds the line of this resume to the edit of a plan.
    fn with_resume_line(&self, mut plan: Plan) -> Plan {
        for step in &mut plan.steps {
            if let Action::Edit { after, .. } = &mut step.action {
                let memory = Memory::parse(std::mem::take(after));
                *after = self.resumed(&memory).bytes().to_vec();
            }
        }
        plan
    }
}
