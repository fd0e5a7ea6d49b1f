//! From a verdict and an intent to a plan: a pure function.
//!
//! The orchestrator's own events are effects; what an agent or a person has to
//! bring about is asked for and then read from disk at the next round.

use camino::Utf8PathBuf;
use jiff::{SignedDuration, Timestamp};
use rekindle_model::{
    Action, AgentTask, Ended, Intent, Plan, ProtocolName, QuestionKind, Step, Stop, StopKind, Then,
    WorkflowId,
};
use serde_json::{Value, json};

use super::assess::{RunVerdict, Verdict};
use super::layout::{self, Artifact};
use super::next::{NextAction, Work};
use super::phase::SeedPhase;
use super::record::Record;
use super::tasks::MOST_FAILURES;
use super::words::{self, Prompt};

/// Documents that belong to a run's next action, read when it is known.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Documents {
    /// The contract of the task that comes next, with its path.
    pub(super) contract: Option<(Utf8PathBuf, String)>,
    /// The verifier's report on this attempt.
    pub(super) report: Option<Report>,
}

/// What a verifier's report says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Report {
    Passed,
    Failed,
    Blocked,
}

impl Report {
    /// Reads `result: passed` of the front matter, or the heading `### Result: PASSED`.
    pub(super) fn parse(text: &str) -> Option<Self> {
        text.lines().find_map(|line| {
            let line = line.trim_start_matches('#').trim();
            let (key, value) = line.split_once(':')?;
            if !key.trim().eq_ignore_ascii_case("result") {
                return None;
            }
            let value = value
                .trim()
                .trim_matches(['"', '\'', '*'])
                .to_ascii_lowercase();
            match value.as_str() {
                "passed" | "passed_with_warnings" => Some(Self::Passed),
                "failed" => Some(Self::Failed),
                "blocked" => Some(Self::Blocked),
                _ => None,
            }
        })
    }
}

/// Returns where the verifier writes its report; a report is never changed, so an attempt has its own.
pub(super) fn report_path(run: &str, work: &Work) -> Option<Utf8PathBuf> {
    if !layout::is_safe_name(&work.task) {
        return None;
    }
    let name = match work.attempt {
        1 => format!("{}.md", work.task),
        n => format!("{}-v{n}.md", work.task),
    };
    Some(layout::run_folder(run).join("verifications").join(name))
}

/// Plans what is due in a run.
pub(super) fn plan(
    verdict: &Verdict,
    run: &RunVerdict,
    documents: &Documents,
    intent: &Intent,
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
        | Intent::Answer { log, .. } => log.clone(),
    };
    let planner = Planner {
        at: time_of_writing(verdict, run, intent),
        run,
        documents,
        log,
    };
    match intent {
        Intent::Open => planner.open(),
        Intent::GoOn { .. } => planner.go_on(),
        Intent::Settle { task, ended, .. } => planner.settle(task, ended),
        Intent::Answer {
            question, answer, ..
        } => planner.answer(*question, answer.trim()),
        Intent::Checkpoint { note } => planner.checkpoint(note),
        Intent::Report(report) => planner.report(report),
        Intent::Finish { tip, .. } => planner.finish(tip),
    }
}

/// Returns the time that new events carry: now, and never before what is already there.
///
/// A log that is begun anew must come after all others of its instant, or what it says could not
/// count: at the same instant in different logs the most careful word wins.
fn time_of_writing(verdict: &Verdict, run: &RunVerdict, intent: &Intent) -> Timestamp {
    let Some(latest) = run.evidence.folded.last_activity else {
        return verdict.now;
    };
    let least = match intent {
        Intent::Open | Intent::Checkpoint { .. } | Intent::Report(_) => latest
            .checked_add(SignedDuration::from_micros(1))
            .unwrap_or(latest),
        Intent::GoOn { .. }
        | Intent::Settle { .. }
        | Intent::Answer { .. }
        | Intent::Finish { .. } => latest,
    };
    // A clock that was wrong by more than a day is not followed.
    let is_near = least.duration_since(verdict.now) < SignedDuration::from_hours(24);
    if is_near {
        verdict.now.max(least)
    } else {
        verdict.now
    }
}

struct Planner<'a> {
    at: Timestamp,
    run: &'a RunVerdict,
    documents: &'a Documents,
    log: Utf8PathBuf,
}

impl Planner<'_> {
    fn id(&self) -> &str {
        &self.run.evidence.id
    }

    fn plan(&self, steps: Vec<Step>, then: Then) -> Plan {
        Plan {
            id: WorkflowId::new(ProtocolName::AgentMemory, self.id()),
            steps,
            log: self.log.clone(),
            then,
        }
    }

    fn record<'r>(&'r self, event_type: &'r str) -> Record<'r> {
        // In a renamed folder its new name would make strangers of all events before.
        Record::new(event_type, self.run.evidence.name_in_events(), self.at)
    }

    fn append(&self, record: &Record<'_>, why: impl Into<String>) -> Step {
        Step {
            action: Action::Append {
                log: self.log.clone(),
                record: record.line(),
            },
            why: why.into(),
        }
    }

    fn open(&self) -> Plan {
        if self.run.complete {
            return self.plan(Vec::new(), self.done());
        }
        let details = json!({
            "phase": self.run.phase.number,
            "tasks_done": self.run.done,
            "tasks_total": self.run.total,
            "next_action": self.run.next.kind(),
        });
        let resumed = self.record("session_resumed").details(details);
        let steps = vec![
            self.append(&resumed, "the run is taken up again"),
            Step {
                action: Action::Print(words::report(self.run)),
                why: "the protocol's report".to_owned(),
            },
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
            stop(StopKind::Done, "the checkpoint is recorded", []),
        )
    }

    fn report(&self, report: &rekindle_model::Report) -> Plan {
        let mut record = self.record(&report.event).actor(&report.actor);
        if let Some(task) = &report.task {
            record = record.task(task);
        }
        if let Some(details) = &report.details {
            // The face has checked that it is an object; anything else is kept as the text it is.
            let text = || Value::from(details.as_str());
            record = record.details(serde_json::from_str(details).unwrap_or_else(|_| text()));
        }
        let steps = vec![self.append(&record, format!("{} reports it", report.actor))];
        self.plan(steps, stop(StopKind::Done, "the event is recorded", []))
    }

    /// All tasks are on the branch: a run that rekindle began is complete with that.
    fn finish(&self, tip: &str) -> Plan {
        let summary = format!(
            "# Run Summary: {}\n\n## Outcome\n\nsuccess\n\n## Statistics\n\n- Tasks: {}/{}\n- Last commit: {tip}\n",
            self.id(),
            self.run.done,
            self.run.total.unwrap_or_default(),
        );
        let made = Step {
            action: Action::Create {
                path: layout::run_folder(self.id()).join(Artifact::Summary.file_name()),
                contents: summary,
            },
            why: "the run's summary".to_owned(),
        };
        let steps = vec![made, self.completed("every task has landed")];
        self.plan(steps, self.done())
    }

    fn done(&self) -> Then {
        let outcome = self.run.outcome.unwrap_or("complete");
        stop(
            StopKind::Done,
            format!("run `{}` is complete ({outcome})", self.id()),
            [],
        )
    }

    fn go_on(&self) -> Plan {
        match &self.run.next {
            NextAction::RunComplete => self.plan(Vec::new(), self.done()),
            NextAction::AwaitApproval { .. } => {
                self.plan(Vec::new(), Then::Ask(words::approval(self.run)))
            }
            NextAction::EscalateUser(work) => {
                self.plan(Vec::new(), Then::Ask(words::escalation(work)))
            }
            NextAction::PresentPr => {
                self.plan(Vec::new(), Then::Ask(words::pull_request(self.run)))
            }
            NextAction::TransitionToExecution => {
                let moved = self.transition(
                    SeedPhase::Execution,
                    "user_approval",
                    Some("constitution.md is there"),
                );
                self.plan(vec![moved], Then::Again)
            }
            NextAction::ResolveBlockers(tasks) => self.plan(Vec::new(), self.blocked(tasks)),
            NextAction::ExecuteTask(work) => self.execute(work, None),
            NextAction::VerifyTask(work) => self.plan(Vec::new(), Then::Agent(self.verifier(work))),
            NextAction::ExecuteSmallTask
            | NextAction::CreatePrd
            | NextAction::CreatePlan
            | NextAction::BreakTasks
            | NextAction::CreateConstitution
            | NextAction::VerifyPhaseAndTransition
            | NextAction::FixTaskGraph { .. }
            | NextAction::RunCleanup
            | NextAction::RunPrPrep
            | NextAction::RunConsolidation => self.plan(Vec::new(), Then::Agent(self.step(None))),
        }
    }

    fn blocked(&self, tasks: &[String]) -> Then {
        let id = self.id();
        let reason = |task: &String| {
            let said = self
                .run
                .evidence
                .folded
                .tasks
                .get(task)
                .and_then(|record| record.reason.as_deref());
            let said = said.map_or_else(String::new, |said| {
                format!(": {}", rekindle_text::excerpt(said, 200))
            });
            format!("`{}` is blocked{said}", rekindle_text::excerpt(task, 80))
        };
        let lift =
            format!("when a block is gone, say so: `rekindle event {id} task_ready --task TASK`");
        let hints: Vec<String> = tasks.iter().take(10).map(reason).chain([lift]).collect();
        stop(
            StopKind::Blocked,
            "every task that is left is blocked",
            hints,
        )
    }

    /// Returns the move to a phase, in the numbers that this run uses.
    fn transition(&self, to: SeedPhase, trigger: &str, notes: Option<&str>) -> Step {
        let from = self.run.phase.logged();
        let to_phase = self.run.phase.numbering.number(to);
        let mut details = json!({"from_phase": from, "to_phase": to_phase, "trigger": trigger});
        if let Some(notes) = notes {
            details["notes"] = Value::from(notes);
        }
        let record = self.record("phase_transition").details(details);
        self.append(&record, format!("the run moves to phase {to_phase}"))
    }

    fn execute(&self, work: &Work, guidance: Option<&str>) -> Plan {
        let record = self
            .record("task_started")
            .task(&work.task)
            .details(json!({"attempt": work.attempt}));
        let started = self.append(&record, format!("{} begins", work.named()));
        self.plan(vec![started], Then::Agent(self.executor(work, guidance)))
    }

    fn executor(&self, work: &Work, guidance: Option<&str>) -> AgentTask {
        let mut prompt = Prompt::new(self.run, "executor", &format!("Do task {}.", work.named()));
        if work.interrupted {
            prompt = prompt.line(
                "An earlier attempt was interrupted in the middle. Look at what is already there before you change anything: go on from it, and do not do it twice.",
            );
        }
        prompt = self.describe(prompt, work);
        let record = self.run.evidence.folded.tasks.get(&work.task);
        if work.attempt > 1
            && let Some(reason) = record.and_then(|record| record.reason.as_deref())
        {
            prompt = prompt.quote("the last attempt, which failed", reason);
        }
        if let Some(guidance) = guidance {
            prompt = prompt.line(format!(
                "The user says of this attempt: {}",
                rekindle_text::excerpt(guidance, 2000)
            ));
        }
        AgentTask {
            role: "executor",
            task: Some(work.task.clone()),
            attempt: work.attempt,
            // Not the next action's words: a person may have decided about it since.
            summary: NextAction::ExecuteTask(work.clone()).summary(),
            prompt: prompt.finish(),
            checks: Vec::new(),
        }
    }

    fn describe(&self, prompt: Prompt, work: &Work) -> Prompt {
        let mut prompt = prompt;
        let graph = self.run.evidence.graph.get();
        if let Some(task) = graph.and_then(|graph| graph.tasks.get(graph.graph.find(&work.task)?)) {
            prompt = words::describe(prompt, task);
        }
        if let Some((path, contract)) = &self.documents.contract {
            prompt = prompt.quote(&format!("`{path}`, the task's contract"), contract);
        }
        prompt
    }

    fn verifier(&self, work: &Work) -> AgentTask {
        let mut prompt = Prompt::new(
            self.run,
            "verifier",
            &format!(
                "The work of task {} is there. Check it; do not change it.",
                work.named()
            ),
        );
        prompt = self.describe(prompt, work);
        if let Some(path) = report_path(self.id(), work) {
            prompt = prompt.line(format!(
                "Write your report to `{path}`, with `result: passed`, `result: failed` or `result: blocked` in its front matter."
            ));
        }
        let graph = self.run.evidence.graph.get();
        let task = graph.and_then(|graph| graph.tasks.get(graph.graph.find(&work.task)?));
        AgentTask {
            role: "verifier",
            task: Some(work.task.clone()),
            attempt: work.attempt,
            summary: format!("Verify {}", work.named()),
            prompt: prompt.finish(),
            checks: task.map(|task| task.checks.clone()).unwrap_or_default(),
        }
    }

    /// Returns the agent's work for a next action that is not one task's.
    fn step(&self, feedback: Option<&str>) -> AgentTask {
        let folder = layout::run_folder(self.id());
        let (role, work) = match &self.run.next {
            NextAction::CreatePrd => ("spec-writer", format!("Write `{folder}/prd.md`.")),
            NextAction::CreatePlan => ("planner", format!("Write `{folder}/plan.md` from `prd.md`.")),
            NextAction::AwaitApproval { .. } => {
                ("planner", format!("Change `{folder}/plan.md` as the user asks, and `task-graph.json` and `tasks/` with it."))
            }
            NextAction::BreakTasks => {
                ("task-breaker", format!("Break `plan.md` into tasks: write `{folder}/task-graph.json` and a contract for each task in `{folder}/tasks/`."))
            }
            NextAction::FixTaskGraph { stuck } => (
                "task-breaker",
                format!(
                    "These tasks of `{folder}/task-graph.json` can never run, because they depend on each other or on ids that are not there: {}. Mend their dependencies and change nothing else.",
                    stuck.iter().map(|task| rekindle_text::excerpt(task, 80)).collect::<Vec<_>>().join(", ")
                ),
            ),
            NextAction::CreateConstitution => {
                ("orchestrator", format!("The plan is approved. Write `{folder}/constitution.md` from `plan.md` and `prd.md`."))
            }
            NextAction::ExecuteSmallTask => ("executor", format!("Do what `{folder}/constitution.md` describes.")),
            NextAction::VerifyPhaseAndTransition => {
                ("verifier", "All tasks are finished. Check the acceptance criteria of the whole plan; change nothing.".to_owned())
            }
            NextAction::RunCleanup => ("cleanup", format!("Clean up after the tasks and write `{folder}/cleanup-report.md`.")),
            NextAction::RunPrPrep => {
                ("pr-prep", format!("Prepare the pull request: write `{folder}/pr-description.md` and `{folder}/pr-checklist.md`."))
            }
            NextAction::RunConsolidation => {
                ("memory-consolidator", format!("Consolidate what was learned and write `{folder}/summary.md`."))
            }
            NextAction::RunComplete
            | NextAction::TransitionToExecution
            | NextAction::VerifyTask(_)
            | NextAction::ExecuteTask(_)
            | NextAction::EscalateUser(_)
            | NextAction::ResolveBlockers(_)
            | NextAction::PresentPr => ("orchestrator", self.run.next.summary()),
        };
        let mut prompt = Prompt::new(self.run, role, &work);
        if let Some(feedback) = feedback {
            prompt = prompt.line(format!(
                "The user asks: {}",
                rekindle_text::excerpt(feedback, 4000)
            ));
        }
        AgentTask {
            role,
            task: None,
            attempt: 1,
            summary: self.run.next.summary(),
            prompt: prompt.finish(),
            checks: Vec::new(),
        }
    }

    fn settle(&self, task: &AgentTask, ended: &Ended) -> Plan {
        match (task.role, &task.task) {
            ("executor", Some(id)) => self.settle_executor(id, task.attempt, ended),
            ("verifier", Some(id)) => self.settle_verifier(id, task.attempt, ended),
            _ => self.settle_step(task, ended),
        }
    }

    fn settle_executor(&self, id: &str, attempt: u32, ended: &Ended) -> Plan {
        let details = |reason: &str| json!({"attempt": attempt, "error": reason});
        match ended {
            Ended::Succeeded => {
                let record = self
                    .record("task_implemented")
                    .task(id)
                    .details(json!({"attempt": attempt}));
                let step = self.append(&record, format!("the agent says that {id} is implemented"));
                // A task that failed too often is not chosen by itself any more, so what a person
                // asked to have tried again is verified at once.
                let then = if attempt > MOST_FAILURES {
                    Then::Agent(self.verifier(&self.work(id, attempt)))
                } else {
                    Then::Again
                };
                self.plan(vec![step], then)
            }
            Ended::Failed { reason } | Ended::CheckFailed { reason, .. } => {
                let record = self.record("task_failed").task(id).details(details(reason));
                let step = self.append(&record, format!("attempt {attempt} of {id} failed"));
                self.plan(vec![step], Then::Again)
            }
        }
    }

    fn work(&self, id: &str, attempt: u32) -> Work {
        let graph = self.run.evidence.graph.get();
        let task = graph.and_then(|graph| graph.tasks.get(graph.graph.find(id)?));
        Work {
            task: id.to_owned(),
            title: task.map(|task| task.title.clone()).unwrap_or_default(),
            attempt,
            interrupted: false,
        }
    }

    fn settle_verifier(&self, id: &str, attempt: u32, ended: &Ended) -> Plan {
        let refused = |reason: &str| {
            let record = self
                .record("task_verification_failed")
                .task(id)
                .details(json!({"attempt": attempt, "reason": reason}));
            vec![self.append(&record, format!("{id} did not pass verification"))]
        };
        let steps = match (ended, self.documents.report) {
            (Ended::CheckFailed { check, reason }, _) => refused(&format!("`{check}`: {reason}")),
            (Ended::Failed { reason }, _) => refused(reason),
            (Ended::Succeeded, Some(Report::Failed)) => {
                refused("the verifier's report says failed")
            }
            (Ended::Succeeded, Some(Report::Blocked)) => {
                let record = self.record("task_blocked").task(id).details(
                    json!({"reason": "the verifier's report says blocked", "blocking": true}),
                );
                vec![self.append(&record, format!("{id} is blocked"))]
            }
            (Ended::Succeeded, Some(Report::Passed) | None) => {
                let verified = self
                    .record("task_verified")
                    .task(id)
                    .details(json!({"attempt": attempt}));
                let completed = self
                    .record("task_completed")
                    .task(id)
                    .details(json!({"attempt": attempt}));
                vec![
                    self.append(&verified, format!("{id} passed verification")),
                    self.append(&completed, format!("{id} is done")),
                ]
            }
        };
        self.plan(steps, Then::Again)
    }

    fn settle_step(&self, task: &AgentTask, ended: &Ended) -> Plan {
        let (Ended::Failed { reason } | Ended::CheckFailed { reason, .. }) = ended else {
            return self.plan(self.after_step(task), Then::Again);
        };
        let hints = [
            "look at the agent's output above, then try again: `rekindle resume`".to_owned(),
            "`rekindle explain AGENT_FAILED` tells more".to_owned(),
        ];
        let reason = format!("the {} did not succeed: {reason}", task.role);
        self.plan(Vec::new(), stop(StopKind::Blocked, reason, hints))
    }

    /// Returns the events that follow a step which an agent said it did, as far as its document is there.
    fn after_step(&self, task: &AgentTask) -> Vec<Step> {
        let has = |artifact| self.run.evidence.artifacts.contains(&artifact);
        let phase = self.run.phase.seed;
        match task.role {
            "spec-writer" if has(Artifact::Prd) && phase == SeedPhase::Intake => {
                vec![self.transition(SeedPhase::Planning, "prd_ready", None)]
            }
            "executor" => vec![self.transition(SeedPhase::Cleanup, "small_task_done", None)],
            "verifier" => vec![self.transition(SeedPhase::Cleanup, "all_tasks_finished", None)],
            "cleanup" => {
                let record = self.record("cleanup_completed");
                vec![self.append(&record, "cleanup is done")]
            }
            "memory-consolidator" if has(Artifact::Summary) => {
                vec![self.completed("memory is consolidated")]
            }
            _ => Vec::new(),
        }
    }

    fn completed(&self, why: &str) -> Step {
        let details = json!({"total_tasks": self.run.total, "tasks_completed": self.run.done});
        self.append(&self.record("run_completed").details(details), why)
    }

    fn answer(&self, question: QuestionKind, answer: &str) -> Plan {
        let (word, rest) = split(answer);
        match (question, word.as_str(), &self.run.next) {
            (
                QuestionKind::Approval,
                "approve" | "approve with",
                NextAction::AwaitApproval { .. },
            ) => {
                let notes = if rest.is_empty() { "approve" } else { rest };
                let moved = self.transition(SeedPhase::Execution, "user_approval", Some(notes));
                self.plan(vec![moved], Then::Again)
            }
            (QuestionKind::Approval, "revise", NextAction::AwaitApproval { .. }) => {
                let notes = format!("revise: {rest}");
                let moved = self.transition(SeedPhase::Planning, "user_revision", Some(&notes));
                self.plan(vec![moved], Then::Agent(self.step(Some(rest))))
            }
            (QuestionKind::Approval, "cancel", _) => {
                let record = self
                    .record("run_cancelled")
                    .details(json!({"reason": "cancelled at the approval gate"}));
                let step = self.append(&record, "the user ends the run");
                self.plan(vec![step], stop(StopKind::Done, "the run is cancelled", []))
            }
            (QuestionKind::Escalation, "retry" | "retry with", NextAction::EscalateUser(work)) => {
                self.execute(work, Some(rest).filter(|rest| !rest.is_empty()))
            }
            (QuestionKind::Escalation, "skip", NextAction::EscalateUser(work)) => {
                let record = self
                    .record("task_skipped")
                    .task(&work.task)
                    .details(json!({"reason": "skipped by the user"}));
                let step = self.append(&record, format!("the user skips {}", work.task));
                self.plan(vec![step], Then::Again)
            }
            (QuestionKind::Escalation, "abort", _) => self.plan(
                Vec::new(),
                stop(StopKind::Blocked, "the user ends it here", []),
            ),
            (QuestionKind::PullRequest, "merged", NextAction::PresentPr) => {
                let moved = self.transition(SeedPhase::Consolidation, "merged", None);
                self.plan(vec![moved], Then::Again)
            }
            (QuestionKind::PullRequest, "skip consolidation", NextAction::PresentPr) => self.plan(
                vec![self.completed("the user skips consolidation")],
                Then::Again,
            ),
            // Anything else, or an answer to a question that the run no longer has: ask anew.
            (
                QuestionKind::Approval | QuestionKind::Escalation | QuestionKind::PullRequest,
                _,
                _,
            ) => self.plan(Vec::new(), Then::Again),
        }
    }
}

/// Splits `revise: more tests` into the lowercase word and the rest.
fn split(answer: &str) -> (String, &str) {
    let (word, rest) = answer.split_once(':').unwrap_or((answer, ""));
    (word.trim().to_ascii_lowercase(), rest.trim())
}

fn stop(
    kind: StopKind,
    reason: impl Into<String>,
    hints: impl IntoIterator<Item = String>,
) -> Then {
    Then::Stop(Stop {
        kind,
        reason: reason.into(),
        hints: hints.into_iter().collect(),
    })
}
