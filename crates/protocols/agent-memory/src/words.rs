//! The texts of the protocol: its report, its questions, and what agents are told.

use rekindle_model::{Question, QuestionKind};

use super::assess::RunVerdict;
use super::event::Kind;
use super::layout;
use super::next::Work;
use super::task_graph::Task;
use rekindle_protocol::prompt::{Prompt, plain_or};

/// The report's rule: 59 times U+2550.
const RULE: &str = "═══════════════════════════════════════════════════════════";

/// Returns the seed's report of a run, to the letter.
pub(super) fn report(run: &RunVerdict) -> String {
    let activity = run
        .last_activity
        .map_or_else(|| "None".to_owned(), rekindle_text::format_seconds);
    let completed = match &run.last_completed {
        // Without a title there is nothing to put behind the dash.
        Some((task, title)) if title.trim().is_empty() => line(task),
        Some((task, title)) => format!("{} - {}", line(task), line(title)),
        None => "None".to_owned(),
    };
    let total = run
        .total
        .map_or_else(|| "?".to_owned(), |total| total.to_string());
    format!(
        "{RULE}\n\
         RESUMING RUN: {id}\n\
         \n\
         Current State:\n\
         - Phase: {phase}\n\
         - Tasks: {done}/{total} complete\n\
         - Last activity: {activity}\n\
         - Last completed: {completed}\n\
         \n\
         Next Action:\n\
         - {next}\n\
         \n\
         Continuing...\n\
         {RULE}\n",
        id = line(&run.evidence.id),
        phase = run.phase.number,
        done = run.done,
        next = run.next.summary(),
    )
}

/// Returns what whoever tells an event should know if no rule acts upon its type.
///
/// The protocol's catalogue is open, so such an event is kept all the same.
pub(super) fn unheard(event: &str) -> Option<String> {
    let is_heard = Kind::parse(event) != Kind::Other || event.eq_ignore_ascii_case("heartbeat");
    (!is_heard).then(|| {
        let event = rekindle_text::excerpt(event, 60);
        format!("`{event}` is kept as a sign of activity: an event of this type changes the state of no task")
    })
}

fn line(text: &str) -> String {
    rekindle_text::excerpt(text, 200)
}

/// Returns the question at the hard gate before execution.
pub(super) fn approval(run: &RunVerdict) -> Question {
    let folder = layout::run_folder(&run.evidence.id);
    Question {
        kind: QuestionKind::Approval,
        text: format!(
            "The plan of this run waits for approval: read `{folder}/plan.md`. May it be executed?"
        ),
        answers: vec![
            ("approve", "execute the plan"),
            (
                "approve with: NOTES",
                "execute it, and keep the notes with the approval",
            ),
            ("revise: FEEDBACK", "have the planner change it"),
            ("cancel", "end the run"),
        ],
        unanswered:
            "the plan still waits for approval; answer at the question of `rekindle resume`"
                .to_owned(),
        may_stay_open: false,
    }
}

/// Returns the question about a task that failed too often.
pub(super) fn escalation(work: &Work) -> Question {
    Question {
        kind: QuestionKind::Escalation,
        text: format!(
            "{} failed {} times. What is to happen?",
            work.named(),
            work.attempt.saturating_sub(1)
        ),
        answers: vec![
            ("retry", "try it once more"),
            (
                "retry with: GUIDANCE",
                "try it once more, and tell the agent this",
            ),
            ("skip", "leave it out; what depends on it becomes blocked"),
            ("abort", "stop here and change nothing"),
        ],
        unanswered: format!(
            "{} still waits for a decision; answer at the question of `rekindle resume`",
            work.named()
        ),
        may_stay_open: false,
    }
}

/// Returns the question before the last phase.
pub(super) fn pull_request(run: &RunVerdict) -> Question {
    let folder = layout::run_folder(&run.evidence.id);
    Question {
        kind: QuestionKind::PullRequest,
        text: format!(
            "The pull request is prepared: see `{folder}/pr-checklist.md`. Has it been merged?"
        ),
        answers: vec![
            ("merged", "go on with memory consolidation"),
            ("skip consolidation", "end the run without it"),
        ],
        unanswered:
            "the pull request still waits; say `merged` at the question of `rekindle resume`"
                .to_owned(),
        may_stay_open: false,
    }
}

/// Begins the briefing of an agent with its role in a run.
pub(super) fn step_prompt(run: &RunVerdict, role: &str, work: &str) -> Prompt {
    let id = shown_id(run);
    let folder = layout::run_folder(id);
    let text = format!(
        "You are the {role} of run `{id}`. {work}\n\
         \n\
         The project is your working folder. The run's documents are in `{folder}/`: \
         `constitution.md` has the rules that stand above all others, then the task's contract, then `plan.md`, then `prd.md`.\n\
         Do only this step; rekindle keeps the run's state and its event log, so do not write under `{folder}/events/`.\n\
         If you were started as a program for this, end with exit code 0 when it is done, and with any other when it is not.\n"
    );
    Prompt::new(text).meaning("RUN", "the name of the run's folder", &run.evidence.id)
}

/// Returns a run's id as it stands in what agents are told.
pub(super) fn shown_id(run: &RunVerdict) -> &str {
    plain_or(&run.evidence.id, "RUN")
}

/// Returns a task's id as it stands in what agents are told.
pub(super) fn shown_task(task: &str) -> &str {
    plain_or(task, "TASK")
}

/// Adds what a task is called.
pub(super) fn entitled(prompt: Prompt, task: &str, title: &str) -> Prompt {
    let prompt = prompt.meaning("TASK", "the run's files", task);
    if title.is_empty() {
        return prompt;
    }
    prompt.quote("the run's files, the task's title", title)
}

/// Begins the briefing of an executor that works in a worktree of its own.
pub(super) fn worktree_prompt(run: &RunVerdict, task: &str) -> Prompt {
    let id = shown_id(run);
    let task = shown_task(task);
    let text = format!(
        "You are the executor of run `{id}`. Do task {task}.\n\
         \n\
         Your working folder is in a git worktree made for this task alone; it holds what the tasks it depends on have landed.\n\
         Leave your work in it as files; it is committed and landed for you, so do not commit, switch branches or work elsewhere.\n\
         End with exit code 0 when the task is done, and with any other when it is not.\n"
    );
    Prompt::new(text).meaning("RUN", "the name of the run's folder", &run.evidence.id)
}

/// Adds what the graph says of a task.
pub(super) fn describe(prompt: Prompt, task: &Task) -> Prompt {
    let mut prompt = prompt;
    if !task.description.is_empty() {
        prompt = prompt.quote(
            "`task-graph.json`, the task's description",
            &task.description,
        );
    }
    let lists = [
        ("the task's acceptance criteria", &task.acceptance),
        ("the files that the task is about", &task.files),
        ("the files that must not be changed", &task.forbidden),
    ];
    for (what, items) in lists {
        prompt = prompt.quoted_list(&format!("`task-graph.json`, {what}"), items);
    }
    prompt
}
