//! The landing of finished work, and its records.

use rekindle_model::{Action, LandedFile, Landing, Step};

use super::Planner;
use crate::layout;
use crate::messages;
use crate::table::task::Class;
use crate::task_list::TaskId;

impl Planner<'_> {
    /// Returns the landings of everything that is ready in waves without a live worker.
    pub(super) fn landings(&self) -> Vec<Step> {
        let judged = self.judged;
        let mut steps = Vec::new();
        let mut last = None;
        let mut landing_now = Vec::new();
        for id in judged.of(Class::ReadyForIntegration) {
            if judged.is_wave_live(id.wave) {
                continue;
            }
            let Some(landing) = self.landing(id) else {
                continue;
            };
            last = Some(landing.subject.clone());
            landing_now.push(id);
            let why = messages::why_landing(&judged.name(id));
            steps.push(Step::new(Action::Land(landing), why));
            steps.extend(self.archive(id));
        }
        // Landed before a crash that kept their artifacts from being archived.
        for id in judged.of(Class::Done) {
            let task = &judged.phase.tasks[id];
            if task.has_artifacts_left && !task.is_archived {
                steps.extend(self.archive(id));
            }
        }
        if let Some(subject) = last {
            let now = rekindle_text::format_seconds(judged.now);
            let done = format!("{subject} — committed");
            steps.extend(self.state_step("the last action is recorded", |state| {
                let state = state.with_known_field("Last Activity", &now);
                let state = state.with_known_field("Last Completed Action", &done);
                Some(self.with_next_action(state, &landing_now, "none"))
            }));
        }
        steps
    }

    fn landing(&self, id: &TaskId) -> Option<Landing> {
        let judged = self.judged;
        let task = &judged.phase.tasks[id];
        let touched = task.touched.as_ref()?.as_ref().ok()?;
        let entry = |entry: &rekindle_world::GitEntry| (entry.mode.clone(), entry.id.clone());
        Some(Landing {
            task: id.to_string(),
            worktree: task.worktree.clone(),
            base: task.tree.as_ref()?.head.clone(),
            subject: judged.subject(id)?,
            leave_out: layout::LEAVE_OUT.map(str::to_owned).to_vec(),
            files: touched
                .0
                .iter()
                .map(|(path, sides)| LandedFile {
                    path: path.as_bytes().to_vec(),
                    before: sides.before.as_ref().map(entry),
                    after: sides.after.as_ref().map(entry),
                })
                .collect(),
        })
    }

    fn archive(&self, id: &TaskId) -> Option<Step> {
        let task = &self.judged.phase.tasks[id];
        let plan_task = task.plan_task.as_ref()?;
        let action = Action::MoveFolder {
            from: layout::artifacts(&task.worktree, plan_task),
            to: self.judged.archived(plan_task),
        };
        let why = format!("the evidence of {plan_task} is archived with the phase");
        Some(Step::new(action, why))
    }
}
