//! Verdicts to effects, in the prescribed order: orphans are logged, finished work lands, then the rest.
//!
//! One round does one kind of thing: land, halt, requeue and launch, or open a gate. Then the
//! evidence is read again, so that every decision follows from the disk and not from an intention.

mod land;
mod task_list;

use camino::Utf8PathBuf;
use rekindle_model::{Action, Checks, Ended, Intent, Plan, Step, Stop, StopKind, Then, WorkflowId};

use super::assess::Judged;
use super::layout;
use super::messages;
use super::read::shown;
use super::state::StateFile;
use super::table::round::{Circumstances, Due, Gate, ROUNDS};
use super::table::task::Class;
use super::task_list::TaskId;
use super::work::OWNER;

/// Returns what is due; `None` for an intent that kiln-teams does not know.
pub(super) fn plan(judged: &Judged, intent: &Intent) -> Option<Plan> {
    let planner = Planner { judged };
    match intent {
        Intent::Open => {
            let mut plan = planner.noted_round();
            if judged.phase.unanswered.is_none() {
                plan.before_asking = messages::report(judged);
            }
            Some(plan)
        }
        Intent::GoOn { .. } => Some(planner.noted_round()),
        Intent::Checked { checks, ended, .. } => Some(planner.checked(checks, ended)),
        Intent::Settle { .. }
        | Intent::Answer { .. }
        | Intent::Finish { .. }
        | Intent::Checkpoint { .. }
        | Intent::Report(_) => None,
    }
}

struct Planner<'j> {
    judged: &'j Judged,
}

impl Planner<'_> {
    fn plan(&self, steps: Vec<Step>, then: impl Into<Then>) -> Plan {
        let name = messages::phase_name(self.judged.phase.number);
        Plan::new(WorkflowId::new(crate::NAME, name), steps, then)
    }

    fn stop(&self, kind: StopKind, reason: impl Into<String>, hint: &str) -> Plan {
        self.plan(Vec::new(), Stop::new(kind, reason).hint(hint))
    }

    /// Returns what is due now, with records of new orphans and requests to the host.
    fn noted_round(&self) -> Plan {
        let mut plan = self.round();
        let judged = self.judged;
        let at = judged.now;
        let log = layout::orphan_log(judged.phase.number);
        let new = judged
            .phase
            .orphans
            .iter()
            .filter(|orphan| orphan.since.is_none());
        plan.notes = new
            .map(|orphan| {
                let action = Action::Append {
                    log: log.clone(),
                    record: orphan.record(at),
                };
                Step::new(action, format!("`{}` is orphaned", shown(&orphan.name)))
            })
            .collect();
        let is_asked = plan.requests().next().is_some();
        if !is_asked {
            let silent = judged.silent_hosts_workers().into_iter();
            plan.notes
                .extend(silent.map(|(id, owner)| self.shutdown_request(id, owner)));
        }
        plan
    }

    fn shutdown_request(&self, id: &TaskId, owner: &str) -> Step {
        let request = Action::AskHost {
            who: shown(owner),
            what: messages::SHUTDOWN_REQUEST.to_owned(),
        };
        let why = format!("its worker on {} is silent", self.judged.name(id));
        Step::new(request, why)
    }

    /// Returns what is due now, by the table.
    fn round(&self) -> Plan {
        let judged = self.judged;
        // Without git's answers there are no verdicts for the table.
        if let Some(finding) = &judged.phase.unanswered {
            let hint = finding.hint.as_deref().unwrap_or_default();
            return self.stop(StopKind::Blocked, &finding.message, hint);
        }
        let landings = self.landings();
        let strangers = judged.strangers();
        let foreign = self.foreign_workers();
        let wanted = judged.of(Class::RerunRequired);
        let unread = judged.phase.unread();
        let gate = judged.gate_to_open();
        let due = ROUNDS.decide(Circumstances {
            is_paused: judged.is_paused,
            has_collision: !judged.collisions.is_empty(),
            can_land: !landings.is_empty(),
            is_halted: judged.is_halted(),
            has_stranger: !strangers.is_empty(),
            has_foreign_worker: !foreign.is_empty(),
            has_rerun: !wanted.is_empty(),
            is_at_work: !judged.of(Class::InProgress).is_empty(),
            has_pending: !judged.of(Class::Pending).is_empty(),
            has_unread: unread.is_some(),
            gate: match gate {
                None => Gate::Nothing,
                Some(_) if judged.phase.config.checks.is_empty() => Gate::Unchecked,
                Some(_) => Gate::Checked,
            },
        });
        match due {
            Due::Unpause => self.unpause(),
            Due::Collision => self.stop(
                StopKind::Blocked,
                messages::collisions(&judged.collisions),
                "replan the wave so that one task owns each path; all worktrees are kept",
            ),
            Due::Land => {
                let mut plan = self.plan(landings, Then::Again);
                plan.ahead = self.ahead();
                plan
            }
            Due::Halt => self.halt(),
            Due::Stranger => self.stop(
                StopKind::Blocked,
                strangers.first().map_or_else(String::new, |(id, path)| {
                    messages::stranger(&judged.name(id), path)
                }),
                "commit it, move it away or restore it, then run `rekindle resume` again",
            ),
            Due::Others => self.stop(
                StopKind::OthersAtWork,
                messages::others_at_work(judged, &foreign),
                "`rekindle resume --watch` waits and continues when they have ended",
            ),
            Due::Requeue => self.with_agent(self.requeue(&wanted), Then::Workers),
            Due::Work => self.with_agent(Vec::new(), Then::Workers),
            Due::Unread => self.stop(
                StopKind::Blocked,
                unread.map_or_else(String::new, messages::unread),
                "repair or remove the file, then run `rekindle resume` again",
            ),
            Due::OpenGate => self.with_agent(
                gate.map_or_else(Vec::new, |wave| self.open_gate(wave)),
                Then::Again,
            ),
            Due::CheckGate => {
                let checks = Checks {
                    of: gate.map_or_else(String::new, messages::wave_name),
                    commands: judged.phase.config.checks.clone(),
                };
                self.with_agent(Vec::new(), Then::Check(checks))
            }
            Due::Finish => self.finish(),
        }
    }

    /// Returns a plan that is applied only if there is an agent.
    fn with_agent(&self, steps: Vec<Step>, then: Then) -> Plan {
        let judged = self.judged;
        if judged.phase.is_list_foreign {
            return self.stop(
                StopKind::Waiting,
                "the task list was given with --tasks, so nothing can be recorded in it",
                "omit --tasks to let rekindle launch workers",
            );
        }
        let stop = Stop::new(StopKind::Waiting, messages::without_agent(judged)).hint(
            "name an agent with `--agent NAME` or `--agent-cmd CMD`, and rekindle completes the phase",
        );
        let mut plan = self.plan(steps, then);
        plan.without_agent = Some(stop);
        plan
    }

    fn unpause(&self) -> Plan {
        let steps = self.state_step("a person ended the pause", |state| {
            state.with_field("Paused", "false")
        });
        if steps.is_empty() {
            let reason = "the phase is paused, and STATE.md has no Paused line to change";
            return self.plan(Vec::new(), Stop::new(StopKind::Blocked, reason));
        }
        self.plan(steps, Then::Again)
    }

    fn halt(&self) -> Plan {
        let judged = self.judged;
        let steps = self.state_step("the phase cannot continue without a person", |state| {
            let state = match state.step_status().as_deref() {
                Some("failed" | "halted") => state.clone(),
                Some(_) | None => state.with_known_field("Step Status", "failed"),
            };
            Some(self.with_next_action(state, &judged.exhausted(), "halt"))
        });
        let text = format!("{}\n", messages::halt(judged));
        let mut all = vec![Step::print(text, "why the phase is halted")];
        all.extend(steps);
        let stop = Stop::new(StopKind::Blocked, messages::halt_reason(judged));
        let stop = messages::halt_hints(judged)
            .into_iter()
            .fold(stop, Stop::hint);
        self.plan(all, stop)
    }

    /// Returns the state with the next action of tasks that have a row in the ledger.
    fn with_next_action(&self, state: StateFile, ids: &[&TaskId], action: &str) -> StateFile {
        let tasks = ids.iter().filter_map(|id| self.judged.phase.tasks.get(*id));
        let names = tasks.filter_map(|task| task.plan_task.as_deref());
        names.fold(state, |state, name| state.with_next_action(name, action))
    }

    /// Returns the running tasks whose worker belongs to another orchestrator or the host.
    fn foreign_workers(&self) -> Vec<&TaskId> {
        let tasks = &self.judged.phase.tasks;
        let mut ids = self.judged.of(Class::InProgress);
        ids.retain(|id| tasks[*id].file.owner.as_deref() != Some(OWNER));
        ids
    }

    fn checked(&self, checks: &Checks, ended: &Ended) -> Plan {
        let wave = self.judged.gate_to_open();
        match (ended, wave) {
            (Ended::Succeeded, Some(wave)) => self.with_agent(self.open_gate(wave), Then::Again),
            // The gate was opened in the meantime.
            (Ended::Succeeded, None) => self.plan(Vec::new(), Then::Again),
            (Ended::Failed { reason } | Ended::CheckFailed { reason, .. }, _) => {
                let check = match ended {
                    Ended::CheckFailed { check, .. } => format!(" `{}`", shown(check)),
                    Ended::Failed { .. } | Ended::Succeeded => String::new(),
                };
                let reason = format!(
                    "{} does not pass its check{check} on main, so its gate stays closed: {reason}",
                    checks.of
                );
                self.stop(
                    StopKind::Blocked,
                    reason,
                    "fix it forward with a commit on main, then run `rekindle resume` again",
                )
            }
        }
    }

    /// Completes a phase whose tasks are on main and whose gates are open.
    fn finish(&self) -> Plan {
        let judged = self.judged;
        let done = Stop::new(StopKind::Done, messages::finished(judged));
        let state = &judged.phase.state;
        let is_executing = state.step().as_deref() == Some("execute")
            && state.step_status().as_deref() == Some("in-progress");
        if !is_executing || judged.tasks.is_empty() {
            return self.plan(Vec::new(), done);
        }
        let mut plan = self.plan(
            self.state_step("all waves of the phase are on main", |state| {
                state.with_field("Step Status", "complete")
            }),
            done.clone(),
        );
        plan.without_agent = Some(done);
        plan
    }

    /// Returns the one edit of STATE.md that a round makes.
    fn state_step(
        &self,
        why: &str,
        change: impl FnOnce(&StateFile) -> Option<StateFile>,
    ) -> Vec<Step> {
        let state = &self.judged.phase.state;
        let changed = change(state).filter(|changed| changed.bytes() != state.bytes());
        let step = changed.map(|changed| {
            let after = changed.bytes().to_vec();
            edit(layout::STATE.into(), state.bytes(), after, why)
        });
        step.into_iter().collect()
    }

    /// Returns what follows a landing, as far as it is known.
    fn ahead(&self) -> Vec<String> {
        let judged = self.judged;
        let halts = |id| format!("{} has no retry left: the phase is halted", judged.name(id));
        let halted: Vec<String> = judged.exhausted().into_iter().map(halts).collect();
        if halted.is_empty() {
            messages::launches(judged)
        } else {
            halted
        }
    }
}

fn edit(path: Utf8PathBuf, before: &[u8], after: Vec<u8>, why: impl Into<String>) -> Step {
    let action = Action::Edit {
        path,
        before: before.to_vec(),
        after,
    };
    Step::new(action, why)
}
