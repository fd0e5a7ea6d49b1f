//! Verdict and intent to plan.
//!
//! The orchestrator's own events are effects; results of agents and people are read from disk in
//! the next round. Start at [`plan`].

mod agents;
mod answer;
mod documents;
mod settle;

use camino::Utf8PathBuf;
use rekindle_model::{
    Action, Intent, LastLife, LifeEnd, Moment, Plan, Step, Stop, StopKind, Then, WorkflowId,
};
use serde_json::{Value, json};

use super::assess::{RunVerdict, Verdict};
use super::layout::{self, Artifact};
use super::messages;
use super::next::{NextAction, Work};
use super::phase::BasePhase;
use super::read::SettingsFile;
use super::record::Record;
use super::track::State;

pub(super) use documents::{Documents, Report, report_path};

/// Plans the next round of a run.
pub(super) fn plan(
    verdict: &Verdict,
    run: &RunVerdict,
    documents: &Documents,
    intent: &Intent,
    last_life: Option<LastLife>,
) -> Plan {
    let log = match intent {
        Intent::Open | Intent::Checkpoint { .. } => {
            let stamp = verdict.now.strftime("%Y%m%d-%H%M%S").to_string();
            layout::session_log(&run.evidence.id, &stamp, &run.evidence.orchestrator_logs)
        }
        Intent::Report(report) => {
            let day = verdict.now.strftime("%Y%m%d").to_string();
            layout::actor_log(&run.evidence.id, &report.actor, &day)
        }
        Intent::Finish { log, .. }
        | Intent::GoOn { log }
        | Intent::Settle { log, .. }
        | Intent::Checked { log, .. }
        | Intent::Answer { log, .. } => log.clone(),
    };
    let planner = Planner {
        // A new event comes after all others, whatever the clock says.
        at: Moment::next(verdict.now, run.evidence.folded.latest),
        run,
        documents,
        log,
    };
    match intent {
        Intent::Open => planner.open(last_life),
        // This protocol has no separate checks.
        Intent::GoOn { .. } | Intent::Checked { .. } => planner.go_on(),
        Intent::Settle { task, ended, .. } => planner.settle(task, ended),
        Intent::Answer {
            question, answer, ..
        } => planner.answer(question, answer.trim()),
        Intent::Checkpoint { note } => planner.checkpoint(note),
        Intent::Report(report) => planner.report(report),
        Intent::Finish { tip, .. } => planner.finish(tip),
    }
}

struct Planner<'a> {
    at: Moment,
    run: &'a RunVerdict,
    documents: &'a Documents,
    log: Utf8PathBuf,
}

impl Planner<'_> {
    fn id(&self) -> &str {
        &self.run.evidence.id
    }

    fn plan(&self, steps: Vec<Step>, then: impl Into<Then>) -> Plan {
        Plan {
            log: self.log.clone(),
            ..Plan::new(WorkflowId::new(crate::NAME, self.id()), steps, then)
        }
    }

    fn record<'r>(&'r self, event_type: &'r str) -> Record<'r> {
        // In a renamed folder its new name would make strangers of all events before.
        Record::new(event_type, self.run.evidence.name_in_events(), self.at)
    }

    fn append(&self, record: &Record<'_>, why: impl Into<String>) -> Step {
        let (log, record) = (self.log.clone(), record.line());
        Step::new(Action::Append { log, record }, why)
    }

    fn open(&self, last_life: Option<LastLife>) -> Plan {
        if self.run.complete {
            return self.plan(Vec::new(), self.done());
        }
        let mut details = json!({
            "phase": self.run.phase.number,
            "tasks_done": self.run.done,
            "tasks_total": self.run.total,
            "next_action": self.run.next.kind(),
        });
        if let Some(life) = last_life {
            details["last_seen"] = rekindle_text::format_instant(life.seen).into();
            match life.end {
                LifeEnd::Restarted => details["rebooted"] = true.into(),
                LifeEnd::Stopped | LifeEnd::Finished => details["stopped"] = true.into(),
                LifeEnd::Alive | LifeEnd::Interrupted => {}
            }
        }
        let resumed = self.record("session_resumed").details(details);
        let steps = vec![
            self.append(&resumed, "the run is resumed"),
            Step::print(messages::report(self.run), "the protocol's report"),
        ];
        self.plan(steps, Then::Again)
    }

    fn checkpoint(&self, note: &str) -> Plan {
        let details = json!({
            "message": note,
            "phase": self.run.phase.number,
            "tasks_done": self.run.done,
            "tasks_total": self.run.total,
            "next_action": self.run.next.kind(),
        });
        let made = self.record("checkpoint_created").details(details);
        let steps = vec![self.append(&made, "a checkpoint is wanted")];
        self.plan(
            steps,
            Stop::new(StopKind::Done, "the checkpoint is recorded"),
        )
    }

    fn report(&self, report: &rekindle_model::Report) -> Plan {
        let mut record = self.record(&report.event).actor(&report.actor);
        if let Some(task) = &report.task {
            record = record.task(task);
        }
        if let Some(details) = &report.details {
            // The front end accepts only objects; anything else is recorded as text.
            let text = || Value::from(details.as_str());
            record = record.details(serde_json::from_str(details).unwrap_or_else(|_| text()));
        }
        let steps = vec![self.append(&record, format!("{} reports it", report.actor))];
        let hints = messages::unheard(&report.event).into_iter().collect();
        let stop = Stop {
            hints,
            ..Stop::new(StopKind::Done, "the event is recorded")
        };
        self.plan(steps, stop)
    }

    /// Completes a run of `rekindle run` after its last task has landed.
    fn finish(&self, tip: &str) -> Plan {
        let summary = format!(
            "# Run Summary: {}\n\n## Outcome\n\nsuccess\n\n## Statistics\n\n- Tasks: {}/{}\n- Last commit: {tip}\n",
            self.id(),
            self.run.done,
            self.run.total.unwrap_or_default(),
        );
        let path = layout::run_folder(self.id()).join(Artifact::Summary.file_name());
        let summary = summary.into_bytes();
        let write = match self.run.evidence.blank.get(&Artifact::Summary).cloned() {
            Some(before) => Action::Edit {
                path,
                before,
                after: summary,
            },
            None => Action::Create {
                path,
                contents: summary,
            },
        };
        let made = Step::new(write, "the run's summary");
        let steps = vec![made, self.completed("every task has landed")];
        self.plan(steps, self.done())
    }

    fn done(&self) -> Stop {
        let outcome = self.run.outcome.unwrap_or("complete");
        let reason = format!("run `{}` is complete ({outcome})", self.id());
        Stop::new(StopKind::Done, reason)
    }

    /// Returns the end of a resume that has no agent for a run whose tasks are done in worktrees.
    fn needs_workers(&self) -> Plan {
        let id = format!("{}:{}", crate::NAME, self.id());
        let id = rekindle_text::shell_word(&id).into_owned();
        let hint = format!("name an agent: `rekindle resume {id} --agent NAME`");
        let reason = "this run needs an agent: each task is done by an agent in its own worktree";
        self.plan(Vec::new(), Stop::new(StopKind::Waiting, reason).hint(hint))
    }

    fn go_on(&self) -> Plan {
        // Never in the project's folder: the work would not become commits.
        if self.run.evidence.settings != SettingsFile::Absent && !self.run.complete {
            return self.needs_workers();
        }
        match &self.run.next {
            NextAction::RunComplete => self.plan(Vec::new(), self.done()),
            NextAction::AwaitApproval { .. } => self.plan(Vec::new(), messages::approval(self.run)),
            NextAction::EscalateUser(work) => self.plan(Vec::new(), messages::escalation(work)),
            NextAction::PresentPr => self.plan(Vec::new(), messages::pull_request(self.run)),
            NextAction::TransitionToExecution => {
                let moved = self.transition(
                    BasePhase::Execution,
                    "user_approval",
                    Some("constitution.md exists"),
                );
                self.plan(vec![moved], Then::Again)
            }
            NextAction::ResolveBlockers(tasks) => self.plan(Vec::new(), self.blocked(tasks)),
            NextAction::ExecuteTask(work) => self.execute(work, None),
            NextAction::VerifyTask(work) => self.plan(Vec::new(), self.verifier(work)),
            NextAction::ExecuteSmallTask
            | NextAction::CreatePrd
            | NextAction::CreatePlan
            | NextAction::BreakTasks
            | NextAction::CreateConstitution
            | NextAction::VerifyPhaseAndTransition
            | NextAction::FixTaskGraph { .. }
            | NextAction::RunCleanup
            | NextAction::RunPrPrep
            | NextAction::RunConsolidation => self.plan(Vec::new(), self.step(None)),
        }
    }

    fn blocked(&self, tasks: &[String]) -> Stop {
        let id = rekindle_text::shell_word(self.id());
        let behind: Vec<(&String, Option<&str>)> = tasks
            .iter()
            .map(|task| (task, self.skipped_need(task)))
            .collect();
        let reason = |(task, need): &(&String, Option<&str>)| {
            let task_record = self.run.evidence.folded.tasks.get(*task);
            let said = task_record.and_then(|record| record.reason.as_deref());
            let task = rekindle_text::excerpt(task, 80);
            match (need, said) {
                (Some(need), _) => {
                    let need = rekindle_text::excerpt(need, 80);
                    format!("`{task}` needs `{need}`, which was skipped")
                }
                (None, Some(said)) => {
                    let said = rekindle_text::excerpt(said, 200);
                    format!("`{task}` is blocked: {said}")
                }
                (None, None) => format!("`{task}` is blocked"),
            }
        };
        let has = |wanted: bool| behind.iter().any(|(_, need)| need.is_some() == wanted);
        // An event does not unblock a task behind a skipped one.
        let lift = has(false).then(|| {
            format!("when a block is gone, say so: `rekindle event {id} task_ready --task TASK`")
        });
        let leave_out = has(true).then(|| {
            format!("leave a task behind a skipped one out too: `rekindle event {id} task_skipped --task TASK`")
        });
        let reasons = behind.iter().take(10).map(reason);
        Stop {
            hints: reasons.chain(lift).chain(leave_out).collect(),
            ..Stop::new(StopKind::Blocked, "every remaining task is blocked")
        }
    }

    /// Returns a task that was skipped and that this one needs.
    fn skipped_need(&self, task: &str) -> Option<&str> {
        let graph = self.run.evidence.graph.get()?;
        let needs = graph.graph.dependencies(graph.graph.find(task)?);
        let is_skipped = |need: &&usize| self.run.states.get(**need) == Some(&State::Skipped);
        let need = needs.iter().find(is_skipped)?;
        Some(graph.tasks[*need].id.as_str())
    }

    /// Returns the move to a phase, in the numbers that this run uses.
    fn transition(&self, to: BasePhase, trigger: &str, notes: Option<&str>) -> Step {
        let mut details = self.moved(to, trigger);
        let to_phase = details["to_phase"].clone();
        if let Some(notes) = notes {
            details["notes"] = Value::from(notes);
        }
        let record = self.record("phase_transition").details(details);
        self.append(&record, format!("the run moves to phase {to_phase}"))
    }

    /// Returns the details of a transition to a phase.
    fn moved(&self, to: BasePhase, trigger: &str) -> Value {
        let from = self.run.phase.logged();
        let to = self.run.phase.numbering.number(to);
        json!({"from_phase": from, "to_phase": to, "trigger": trigger})
    }

    fn execute(&self, work: &Work, guidance: Option<&str>) -> Plan {
        let record = self
            .record("task_started")
            .task(&work.task)
            .details(json!({"attempt": work.attempt}));
        let started = self.append(&record, format!("{} starts", work.named()));
        self.plan(vec![started], self.executor(work, guidance))
    }

    fn completed(&self, why: &str) -> Step {
        self.append(&self.record("run_completed").details(self.totals()), why)
    }

    fn totals(&self) -> Value {
        json!({"total_tasks": self.run.total, "tasks_completed": self.run.done})
    }
}
