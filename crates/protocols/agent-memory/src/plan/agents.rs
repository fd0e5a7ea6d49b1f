//! The tasks of agents, one for each kind of work.

use rekindle_model::AgentTask;
use rekindle_text::{option_words, shell_word};

use super::super::layout;
use super::super::messages;
use super::super::next::{NextAction, Work};
use super::{Planner, report_path};
use rekindle_protocol::prompt::Prompt;

impl Planner<'_> {
    pub(super) fn executor(&self, work: &Work, guidance: Option<&str>) -> AgentTask {
        let order = format!("Do task {}.", messages::shown_task(&work.task));
        let mut prompt = messages::step_prompt(self.run, "executor", &order);
        if work.interrupted {
            prompt = prompt.line(
                "An earlier attempt was interrupted. Look at its results before you change anything: continue from them and do not repeat them.",
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
        let of_task = format!(" {}", option_words("--task", &work.task));
        // Not the next action's summary: a person may have decided about the task since.
        let summary = NextAction::ExecuteTask(work.clone()).summary();
        AgentTask {
            task: Some(work.task.clone()),
            attempt: work.attempt,
            by_hand: vec![
                self.tells("task_started", &of_task, "when it is started"),
                self.tells("task_implemented", &of_task, "when it is implemented"),
                self.tells(
                    "task_failed",
                    &format!("{of_task} --details '{{\"error\":\"WHY\"}}'"),
                    "when it cannot be done",
                ),
            ],
            ..AgentTask::new("executor", summary, prompt.finish())
        }
    }

    /// Returns how a caller who does the work itself records an event.
    fn tells(&self, event: &str, more: &str, when: &str) -> String {
        let id = format!("agent-memory:{}", self.id());
        format!("{when}: `rekindle event {} {event}{more}`", shell_word(&id))
    }

    fn describe(&self, prompt: Prompt, work: &Work) -> Prompt {
        let mut prompt = messages::entitled(prompt, &work.task, &work.title);
        let graph = self.run.evidence.graph.get();
        if let Some(task) = graph.and_then(|graph| graph.tasks.get(graph.graph.find(&work.task)?)) {
            prompt = messages::describe(prompt, task);
        }
        if let Some((path, contract)) = &self.documents.contract {
            prompt = prompt.contract(&format!("`{path}`, the task's contract"), contract);
        }
        prompt
    }

    pub(super) fn verifier(&self, work: &Work) -> AgentTask {
        let mut prompt = messages::step_prompt(
            self.run,
            "verifier",
            &format!(
                "The work of task {} is implemented. Check it; do not change it.",
                messages::shown_task(&work.task)
            ),
        );
        prompt = self.describe(prompt, work);
        let shown = Work {
            task: messages::shown_task(&work.task).to_owned(),
            ..work.clone()
        };
        if report_path(self.id(), work).is_some()
            && let Some(path) = report_path(messages::shown_id(self.run), &shown)
        {
            prompt = prompt.line(format!(
                "Write your report to `{path}`, with `result: passed`, `result: failed` or `result: blocked` in its front matter."
            ));
        }
        let graph = self.run.evidence.graph.get();
        let task = graph.and_then(|graph| graph.tasks.get(graph.graph.find(&work.task)?));
        let of_task = format!(" {}", option_words("--task", &work.task));
        AgentTask {
            task: Some(work.task.clone()),
            attempt: work.attempt,
            checks: task.map(|task| task.checks.clone()).unwrap_or_default(),
            by_hand: vec![
                self.tells("task_verified", &of_task, "when it passes"),
                self.tells("task_completed", &of_task, "after that"),
                self.tells(
                    "task_verification_failed",
                    &format!("{of_task} --details '{{\"reason\":\"WHY\"}}'"),
                    "when it does not pass",
                ),
            ],
            ..AgentTask::new(
                "verifier",
                format!("Verify {}", work.named()),
                prompt.finish(),
            )
        }
    }

    /// Returns the agent's work for a next action that is not one task's.
    pub(super) fn step(&self, feedback: Option<&str>) -> AgentTask {
        let folder = layout::run_folder(messages::shown_id(self.run));
        let (role, work) = match &self.run.next {
            NextAction::CreatePrd => ("spec-writer", format!("Write `{folder}/prd.md`.")),
            NextAction::CreatePlan => ("planner", format!("Write `{folder}/plan.md` from `prd.md`.")),
            NextAction::AwaitApproval { .. } => {
                ("planner", format!("Change `{folder}/plan.md` as the user asks, and `task-graph.json` and `tasks/` with it."))
            }
            NextAction::BreakTasks => {
                ("task-breaker", format!("Break `plan.md` into tasks: write `{folder}/task-graph.json` and a contract for each task in `{folder}/tasks/`."))
            }
            NextAction::FixTaskGraph { .. } => {
                ("task-breaker", format!("Tasks of `{folder}/task-graph.json`, which are listed below, can never run, because they depend on each other or on unknown ids. Fix their dependencies and change nothing else."))
            }
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
            | NextAction::PresentPr => ("orchestrator", "Continue the run.".to_owned()),
        };
        let mut prompt = messages::step_prompt(self.run, role, &work);
        if let NextAction::FixTaskGraph { stuck } = &self.run.next {
            prompt = prompt.quoted_list("`task-graph.json`, the tasks that can never run", stuck);
        }
        if let Some(feature) = &self.documents.feature {
            prompt = prompt.quote("the run's events, the name of the feature", feature);
        }
        if let Some(feedback) = feedback {
            prompt = prompt.line(format!(
                "The user asks: {}",
                rekindle_text::excerpt(feedback, 4000)
            ));
        }
        let summary = match (&self.run.next, feedback) {
            (NextAction::AwaitApproval { .. }, Some(feedback)) => format!(
                "Revise the plan as the user asks ({role}): {}",
                rekindle_text::excerpt(feedback, 200)
            ),
            (next, _) => next.summary(),
        };
        let by_hand = self.follows(role).map(|follows| {
            let more = follows.details.map(|details| details.to_string());
            let more = more.map(|details| format!(" --details {}", shell_word(&details)));
            self.tells(follows.event, &more.unwrap_or_default(), "when it is done")
        });
        AgentTask {
            by_hand: by_hand.into_iter().collect(),
            ..AgentTask::new(role, summary, prompt.finish())
        }
    }

    pub(super) fn work(&self, id: &str, attempt: u32) -> Work {
        let graph = self.run.evidence.graph.get();
        let task = graph.and_then(|graph| graph.tasks.get(graph.graph.find(id)?));
        Work {
            task: id.to_owned(),
            title: task.map(|task| task.title.clone()).unwrap_or_default(),
            attempt,
            interrupted: false,
        }
    }
}
