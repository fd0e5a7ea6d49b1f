//! The messages of the protocol: its report, its questions and the prompts of agents.

use rekindle_model::Question;
use rekindle_text::times;

use super::assess::RunVerdict;
use super::event::Kind;
use super::layout;
use super::next::Work;
use super::task_graph::Task;
use rekindle_protocol::prompt::{Prompt, plain_or};

/// The report's rule: 59 times U+2550.
const RULE: &str = "═══════════════════════════════════════════════════════════";

/// Returns the prescribed report of a run.
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

/// Returns a hint if no rule uses events of this type; they are recorded all the same.
pub(super) fn unheard(event: &str) -> Option<String> {
    let is_heard = Kind::parse(event) != Kind::Other || event.eq_ignore_ascii_case("heartbeat");
    (!is_heard).then(|| {
        let event = rekindle_text::excerpt(event, 60);
        format!("`{event}` is recorded as activity: events of this type change no task")
    })
}

fn line(text: &str) -> String {
    rekindle_text::excerpt(text, 200)
}

/// The id of [`approval`].
pub(super) const APPROVAL: &str = "approval";
/// The id of [`escalation`].
pub(super) const ESCALATION: &str = "escalation";
/// The id of [`pull_request`].
pub(super) const PULL_REQUEST: &str = "pull_request";

/// Returns the question at the hard gate before execution.
pub(super) fn approval(run: &RunVerdict) -> Question {
    let folder = layout::run_folder(&run.evidence.id);
    let text = format!(
        "The plan of this run waits for approval: read `{folder}/plan.md`. May it be executed?"
    );
    let with_notes = "execute it, and save the notes with the approval";
    let answers = vec![
        ("approve", "execute the plan"),
        ("approve with: NOTES", with_notes),
        ("revise: FEEDBACK", "have the planner change it"),
        ("cancel", "end the run"),
    ];
    Question::words(APPROVAL, text, answers).unanswered(
        "the plan still waits for approval; answer at the question of `rekindle resume`",
    )
}

/// Returns the question about a task that failed too often.
pub(super) fn escalation(work: &Work) -> Question {
    let (named, failed) = (work.named(), work.attempt.saturating_sub(1));
    let text = format!("{named} failed {}. What is to happen?", times(failed));
    let answers = vec![
        ("retry", "try it once more"),
        (
            "retry with: GUIDANCE",
            "try it once more with this guidance",
        ),
        ("skip", "skip it; its dependents become blocked"),
        ("abort", "stop here and change nothing"),
    ];
    Question::words(ESCALATION, text, answers)
        .fails_unanswered()
        .unanswered(format!(
            "{named} still waits for a decision; answer at the question of `rekindle resume`"
        ))
}

/// Returns the question before the last phase.
pub(super) fn pull_request(run: &RunVerdict) -> Question {
    let folder = layout::run_folder(&run.evidence.id);
    let text = format!(
        "The pull request is prepared: see `{folder}/pr-checklist.md`. Has it been merged?"
    );
    let answers = vec![
        ("merged", "continue with memory consolidation"),
        ("skip consolidation", "end the run without it"),
    ];
    Question::words(PULL_REQUEST, text, answers).unanswered(
        "the pull request still waits; say `merged` at the question of `rekindle resume`",
    )
}

/// Starts the prompt of an agent with its role in a run.
pub(super) fn step_prompt(run: &RunVerdict, role: &str, work: &str) -> Prompt {
    let id = shown_id(run);
    let folder = layout::run_folder(id);
    let text = format!(
        "You are the {role} of run `{id}`. {work}\n\
         \n\
         The project is your working folder, and the run's documents are in `{folder}/`: \
         the rules of `constitution.md` come first, then the task's contract, `plan.md` and `prd.md`.\n\
         Do only this step. rekindle writes the events: write nothing under `{folder}/events/`.\n\
         If you were started as a program for this, exit with code 0 when it is done, and with another when it is not.\n"
    );
    Prompt::new(text).meaning("RUN", "the name of the run's folder", &run.evidence.id)
}

/// Returns the id of a run for prompts.
pub(super) fn shown_id(run: &RunVerdict) -> &str {
    plain_or(&run.evidence.id, "RUN")
}

/// Returns the id of a task for prompts.
pub(super) fn shown_task(task: &str) -> &str {
    plain_or(task, "TASK")
}

/// Adds the title of a task.
pub(super) fn entitled(prompt: Prompt, task: &str, title: &str) -> Prompt {
    let prompt = prompt.meaning("TASK", "the run's files", task);
    if title.is_empty() {
        return prompt;
    }
    prompt.quote("the run's files, the task's title", title)
}

/// Starts the prompt of an executor in its own worktree.
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

/// Adds the description of a task in the graph.
pub(super) fn describe(prompt: Prompt, task: &Task) -> Prompt {
    let mut prompt = prompt;
    if !task.description.is_empty() {
        prompt = prompt.contract(
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
