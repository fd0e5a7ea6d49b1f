//! Edits of the task list: tasks are put back and gates opened.

use rekindle_model::{Action, Step};

use super::{Planner, edit};
use crate::state::NewRow;
use crate::table::task::Rule;
use crate::task_list::{TaskId, TaskUpdate};
use crate::work::OWNER;

impl Planner<'_> {
    /// Puts tasks back into the queue: first in the task list, then in STATE.md.
    pub(super) fn requeue(&self, ids: &[&TaskId]) -> Vec<Step> {
        let judged = self.judged;
        let mut steps = Vec::new();
        let mut rows = Vec::new();
        let now = rekindle_text::format_seconds(judged.now);
        for id in ids {
            let (task, verdict) = (&judged.phase.tasks[*id], &judged.tasks[*id]);
            let decided = verdict.verdict;
            let owner = task.file.owner.as_deref();
            if decided.rule == Rule::Dead {
                steps.push(match owner.filter(|owner| *owner != OWNER) {
                    Some(owner) => self.shutdown_request(id, owner),
                    None => Step::new(
                        Action::EndWorker {
                            task: id.to_string(),
                        },
                        format!("the worker of {} is silent", judged.name(id)),
                    ),
                });
            }
            let update = TaskUpdate {
                status: Some("pending"),
                owner: Some(None),
                stage: Some(None),
                heartbeat: None,
            };
            // A task that cannot be put back must not spend a retry.
            let Ok(after) = task.file.updated(&update) else {
                continue;
            };
            let why = format!("{} is put back into the queue", judged.name(id));
            steps.push(edit(task.file.path.clone(), task.file.bytes(), after, why));
            if let (Some(plan_task), Some(last_status)) = (&task.plan_task, decided.retry) {
                rows.push(NewRow {
                    plan_task: plan_task.clone(),
                    wave: id.wave,
                    retries: verdict.retries + 1,
                    last_attempt: now.clone(),
                    last_status,
                    next_action: "retry",
                });
            }
        }
        steps.extend(
            self.state_step("the retries are recorded in the ledger", |state| {
                let with_rows = rows
                    .iter()
                    .fold(state.clone(), |state, row| state.with_retry(row));
                Some(with_rows)
            }),
        );
        steps
    }

    pub(super) fn open_gate(&self, wave: u32) -> Vec<Step> {
        let mut gates = self.judged.phase.gates.iter();
        let gate = gates.find(|gate| gate.wave == Some(wave));
        let update = TaskUpdate {
            status: Some("completed"),
            ..TaskUpdate::default()
        };
        let opened = gate.and_then(|gate| {
            let why = format!("all tasks of wave {wave} are on main");
            let after = gate.updated(&update).ok()?;
            Some(edit(gate.path.clone(), gate.bytes(), after, why))
        });
        opened.into_iter().collect()
    }
}
