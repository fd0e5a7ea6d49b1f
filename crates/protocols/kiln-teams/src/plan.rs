//! Verdicts to effects, in the seed's order: orphans logged, what is ready landed, then the rest.
//!
//! One round does one kind of thing: land, halt, requeue and launch, or open a gate. Then the
//! evidence is read again, so that every decision stands on what is there and not on what was meant.

use camino::Utf8PathBuf;
use rekindle_model::{
    Action, Checks, Ended, Intent, LandedFile, Landing, Permission, Plan, Step, Stop, StopKind,
    Then, WorkflowId,
};

use super::assess::Judged;
use super::layout;
use super::read::shown;
use super::state::{NewRow, StateFile};
use super::table::round::{Circumstances, Due, Gate, ROUNDS};
use super::table::task::{Class, Rule};
use super::task_list::{TaskId, TaskUpdate};
use super::words;
use super::work::OWNER;

/// Returns what is due, or `None` where the intent is none of this protocol's.
pub(super) fn plan(judged: &Judged, intent: &Intent) -> Option<Plan> {
    let planner = Planner { judged };
    match intent {
        Intent::Open => {
            let mut plan = planner.noted_round();
            if judged.phase.unanswered.is_none() {
                plan.before_asking = words::report(judged);
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

/// Returns the plan of a project that says only one thing and stops.
pub(super) fn only_says(name: &str, text: &str) -> Plan {
    Plan {
        id: WorkflowId::new(crate::NAME, name),
        steps: Vec::new(),
        log: Utf8PathBuf::new(),
        then: Then::Stop(stop(StopKind::BlockedAndSaid, text, &[])),
        ahead: Vec::new(),
        before_asking: format!("{text}\n"),
        permission: Permission::Ask,
        without_agent: None,
        notes: Vec::new(),
    }
}

struct Planner<'j> {
    judged: &'j Judged,
}

impl Planner<'_> {
    fn plan(&self, steps: Vec<Step>, then: Then) -> Plan {
        Plan {
            id: WorkflowId::new(crate::NAME, words::phase_name(self.judged.phase.number)),
            steps,
            log: Utf8PathBuf::new(),
            then,
            ahead: Vec::new(),
            before_asking: String::new(),
            permission: Permission::Ask,
            without_agent: None,
            notes: Vec::new(),
        }
    }

    /// Returns what is due now, with the orphans that are new and the workers that the host is to ask.
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
                step(action, format!("`{}` is orphaned", shown(&orphan.name)))
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
        step(
            Action::AskHost {
                who: shown(owner),
                what: words::SHUTDOWN_REQUEST.to_owned(),
            },
            format!(
                "its worker on {} gives no sign of life",
                self.judged.name(id)
            ),
        )
    }

    /// Returns what is due now, as the table has it.
    fn round(&self) -> Plan {
        let judged = self.judged;
        // The table decides from verdicts, and without git's answers there are none.
        if let Some(finding) = &judged.phase.unanswered {
            let hint = finding.hint.as_deref().unwrap_or_default();
            return self.blocked(&finding.message, hint);
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
            Due::Collision => self.blocked(
                &words::collisions(&judged.collisions),
                "replan the wave so that one task owns each path; all worktrees are kept",
            ),
            Due::Land => {
                let mut plan = self.plan(landings, Then::Again);
                plan.ahead = self.ahead();
                plan
            }
            Due::Halt => self.halt(),
            Due::Stranger => self.blocked(
                &strangers.first().map_or_else(String::new, |(id, path)| {
                    words::stranger(&judged.name(id), path)
                }),
                "commit it, move it away or put it back, then run `rekindle resume` again",
            ),
            Due::Others => {
                let reason = words::others_at_work(judged, &foreign);
                let hints = ["`rekindle resume --watch` stays and goes on when they have ended"];
                self.plan(
                    Vec::new(),
                    Then::Stop(stop(StopKind::OthersAtWork, &reason, &hints)),
                )
            }
            Due::Requeue => self.with_agent(self.requeue(&wanted), Then::Workers),
            Due::Work => self.with_agent(Vec::new(), Then::Workers),
            Due::Unread => self.blocked(
                &unread.map_or_else(String::new, words::unread),
                "repair the file or take it away, then run `rekindle resume` again",
            ),
            Due::OpenGate => self.with_agent(
                gate.map_or_else(Vec::new, |wave| self.open_gate(wave)),
                Then::Again,
            ),
            Due::CheckGate => {
                let checks = Checks {
                    of: gate.map_or_else(String::new, words::wave_name),
                    commands: judged.phase.config.checks.clone(),
                };
                self.with_agent(Vec::new(), Then::Check(checks))
            }
            Due::Finish => self.finish(),
        }
    }

    /// Returns the plan of a phase that only a person can help.
    fn blocked(&self, reason: &str, hint: &str) -> Plan {
        self.plan(
            Vec::new(),
            Then::Stop(stop(StopKind::Blocked, reason, &[hint])),
        )
    }

    /// Returns a plan that is carried out only where an agent is there to do the work.
    fn with_agent(&self, steps: Vec<Step>, then: Then) -> Plan {
        let judged = self.judged;
        let mut plan = self.plan(steps, then);
        if judged.phase.is_list_foreign {
            let reason = "the task list was given with --tasks, so nothing can be recorded in it";
            let hints = ["leave --tasks away to let rekindle launch workers"];
            plan = self.plan(
                Vec::new(),
                Then::Stop(stop(StopKind::Waiting, reason, &hints)),
            );
        } else {
            let reason = words::without_agent(judged);
            let hints = [
                "name an agent with `--agent NAME` or `--agent-cmd CMD`, and rekindle goes on to the end of the phase",
            ];
            plan.without_agent = Some(stop(StopKind::Waiting, &reason, &hints));
        }
        plan
    }

    fn unpause(&self) -> Plan {
        let steps = self.state_step("the person wants the paused phase to go on", |state| {
            state.with_field("Paused", "false")
        });
        if steps.is_empty() {
            let reason =
                "the phase is paused, and STATE.md has no Paused line that could be changed";
            return self.plan(Vec::new(), Then::Stop(stop(StopKind::Blocked, reason, &[])));
        }
        self.plan(steps, Then::Again)
    }

    /// Returns the landing of everything that is ready in waves where nobody is at work.
    fn landings(&self) -> Vec<Step> {
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
            steps.push(step(
                Action::Land(landing),
                words::why_landing(&judged.name(id)),
            ));
            steps.extend(self.archive(id));
        }
        // Landed before a crash, whose artifacts did not get to their place any more.
        for id in judged.of(Class::Done) {
            let task = &judged.phase.tasks[id];
            if task.has_artifacts_left && !task.is_archived {
                steps.extend(self.archive(id));
            }
        }
        if let Some(subject) = last {
            let now = rekindle_text::format_seconds(judged.now);
            let done = format!("{subject} — committed");
            steps.extend(self.state_step("what was done last is recorded", |state| {
                let state = or_same(state, state.with_field("Last Activity", &now));
                let state = or_same(&state, state.with_field("Last Completed Action", &done));
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
        Some(step(
            action,
            format!("the evidence of {plan_task} is kept with the phase"),
        ))
    }

    fn halt(&self) -> Plan {
        let judged = self.judged;
        let steps = self.state_step("the phase cannot go on by itself", |state| {
            let state = match state.step_status().as_deref() {
                Some("failed" | "halted") => state.clone(),
                Some(_) | None => or_same(state, state.with_field("Step Status", "failed")),
            };
            Some(self.with_next_action(state, &judged.exhausted(), "halt"))
        });
        let text = words::halt(judged);
        let mut all = vec![step(
            Action::Print(format!("{text}\n")),
            "why the phase is halted",
        )];
        all.extend(steps);
        let hints = words::halt_hints(judged);
        let hints: Vec<&str> = hints.iter().map(String::as_str).collect();
        let reason = words::halt_reason(judged);
        self.plan(all, Then::Stop(stop(StopKind::Blocked, &reason, &hints)))
    }

    /// Returns the ledger with the next action of tasks that have a row in it.
    fn with_next_action(&self, state: StateFile, ids: &[&TaskId], action: &str) -> StateFile {
        let tasks = ids.iter().filter_map(|id| self.judged.phase.tasks.get(*id));
        let names = tasks.filter_map(|task| task.plan_task.as_deref());
        names.fold(state, |state, name| state.with_next_action(name, action))
    }

    /// Returns the tasks at work whose worker is not ours: another orchestrator or the host leads them.
    fn foreign_workers(&self) -> Vec<&TaskId> {
        let tasks = &self.judged.phase.tasks;
        let mut ids = self.judged.of(Class::InProgress);
        ids.retain(|id| tasks[*id].file.owner.as_deref() != Some(OWNER));
        ids
    }

    /// Puts tasks back into the queue: the task list first, then the record of the orchestrator.
    fn requeue(&self, ids: &[&TaskId]) -> Vec<Step> {
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
                    None => step(
                        Action::EndWorker {
                            task: id.to_string(),
                        },
                        format!("the worker of {} gives no sign of life", judged.name(id)),
                    ),
                });
            }
            let update = TaskUpdate {
                status: Some("pending"),
                owner: Some(None),
                stage: Some(None),
                heartbeat: None,
            };
            // A task that can not be put back must not cost a retry either.
            let Ok(after) = task.file.updated(&update) else {
                continue;
            };
            let why = format!("{} is put back into the queue", judged.name(id));
            let before = task.file.bytes().to_vec();
            steps.push(edit(task.file.path.clone(), before, after, why));
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
        steps.extend(self.state_step("the retries are on the ledger", |state| {
            let first = rows.first()?;
            let begun = state.with_retry(first);
            Some(
                rows[1..]
                    .iter()
                    .fold(begun, |state, row| state.with_retry(row)),
            )
        }));
        steps
    }

    fn open_gate(&self, wave: u32) -> Vec<Step> {
        let gate = self
            .judged
            .phase
            .gates
            .iter()
            .find(|gate| gate.wave == Some(wave));
        let update = TaskUpdate {
            status: Some("completed"),
            owner: None,
            stage: None,
            heartbeat: None,
        };
        let after = gate.and_then(|gate| Some((gate, gate.updated(&update).ok()?)));
        after
            .map(|(gate, after)| {
                let why = format!("all tasks of wave {wave} are on main");
                edit(gate.path.clone(), gate.bytes().to_vec(), after, why)
            })
            .into_iter()
            .collect()
    }

    fn checked(&self, checks: &Checks, ended: &Ended) -> Plan {
        let wave = self.judged.gate_to_open();
        match (ended, wave) {
            (Ended::Succeeded, Some(wave)) => self.with_agent(self.open_gate(wave), Then::Again),
            // The world has moved on meanwhile; it is read again.
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
                let hints =
                    ["fix it forward with a commit on main, then run `rekindle resume` again"];
                self.plan(
                    Vec::new(),
                    Then::Stop(stop(StopKind::Blocked, &reason, &hints)),
                )
            }
        }
    }

    /// Everything is on main and every gate is open.
    fn finish(&self) -> Plan {
        let judged = self.judged;
        let done = stop(StopKind::Done, &words::finished(judged), &[]);
        let state = &judged.phase.state;
        let is_executing = state.step().as_deref() == Some("execute")
            && state.step_status().as_deref() == Some("in-progress");
        if !is_executing || judged.tasks.is_empty() {
            return self.plan(Vec::new(), Then::Stop(done));
        }
        let mut plan = self.plan(
            self.state_step("all waves of the phase are on main", |state| {
                state.with_field("Step Status", "complete")
            }),
            Then::Stop(done.clone()),
        );
        plan.without_agent = Some(done);
        plan
    }

    /// Returns the one change of STATE.md that a round makes.
    fn state_step(
        &self,
        why: &str,
        change: impl FnOnce(&StateFile) -> Option<StateFile>,
    ) -> Vec<Step> {
        let state = &self.judged.phase.state;
        change(state)
            .filter(|changed| changed.bytes() != state.bytes())
            .map(|changed| {
                let (before, after) = (state.bytes().to_vec(), changed.bytes().to_vec());
                edit(
                    Utf8PathBuf::from(layout::STATE),
                    before,
                    after,
                    why.to_owned(),
                )
            })
            .into_iter()
            .collect()
    }

    /// Tells what the rounds after a landing will bring, as far as it can be seen now.
    fn ahead(&self) -> Vec<String> {
        let judged = self.judged;
        let mut ahead = Vec::new();
        for id in judged.exhausted() {
            ahead.push(format!(
                "{} has no retry left: the phase is halted",
                judged.name(id)
            ));
        }
        if !ahead.is_empty() {
            return ahead;
        }
        for id in judged.of(Class::RerunRequired) {
            ahead.push(words::would_launch(judged, id));
        }
        for id in judged.of(Class::Pending) {
            ahead.push(words::would_launch(judged, id));
        }
        ahead
    }
}

fn or_same(same: &StateFile, changed: Option<StateFile>) -> StateFile {
    changed.unwrap_or_else(|| same.clone())
}

fn step(action: Action, why: impl Into<String>) -> Step {
    Step {
        action,
        why: why.into(),
    }
}

fn edit(path: Utf8PathBuf, before: Vec<u8>, after: Vec<u8>, why: String) -> Step {
    let action = Action::Edit {
        path,
        before,
        after,
    };
    step(action, why)
}

fn stop(kind: StopKind, reason: &str, hints: &[&str]) -> Stop {
    Stop {
        kind,
        reason: reason.to_owned(),
        hints: hints.iter().map(|hint| (*hint).to_owned()).collect(),
    }
}
