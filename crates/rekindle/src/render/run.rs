//! What the engine's commands show: how a run goes, how it ended, what was cleaned up after it.

use std::fmt::Write as _;

use rekindle_app::GivenUp;
use rekindle_model::LeftKind;
use rekindle_text::{excerpt, option_words, shell_word};

use super::{ERROR, GOOD, NOTE, STRONG, WARNING, count, hint, styled, verb_of};

/// A list of names longer than this is cut.
const MOST_NAMES: usize = 10;

/// Returns the word for something that happened, for programs.
pub(crate) fn progress_word(progress: &rekindle_app::Progress<'_>) -> &'static str {
    use rekindle_app::Progress;
    match progress {
        Progress::Adopted(..) => "adopted",
        Progress::Foreign(..) => "foreign",
        Progress::Started(..) => "started",
        Progress::Finished(..) => "finished",
        Progress::Landed(..) => "landed",
        Progress::Failed(..) => "failed",
        Progress::Interrupted(..) => "interrupted",
        Progress::Reopened(..) => "reopened",
        Progress::DeliveryLost(..) => "delivery_lost",
        Progress::Limited(..) => "limited",
        Progress::Unsigned(..) => "unsigned",
        Progress::Stopping(..) => "stopping",
        Progress::StillAtWork(..) => "still_at_work",
    }
}

#[expect(clippy::too_many_lines, reason = "one arm for each step")]
pub(crate) fn progress(progress: &rekindle_app::Progress<'_>) -> String {
    use rekindle_app::Progress;
    let name = |task: &str| excerpt(task, 80);
    match progress {
        Progress::Adopted(task, attempt) => format!(
            "{} {} (attempt {attempt}) is still running\n",
            styled(NOTE, "found"),
            name(task)
        ),
        Progress::Foreign(task, attempt) => format!(
            "{} attempt {attempt} of {} was not started in this folder; it is ignored, and its processes are not stopped\n",
            styled(WARNING, "passed over"),
            name(task)
        ),
        Progress::Started(task, attempt, begin) => {
            let (word, how) = match begin {
                rekindle_app::Begin::Start => ("start", ""),
                rekindle_app::Begin::Session => ("continue", ": its agent goes on in its session"),
                rekindle_app::Begin::Checks => (
                    "continue",
                    ": its agent has done the work; now it is checked",
                ),
            };
            format!(
                "{} {} (attempt {attempt}){how}\n",
                styled(STRONG, word),
                name(task)
            )
        }
        Progress::Finished(task, attempt) => format!(
            "{} {} (attempt {attempt}) and waits to land\n",
            styled(GOOD, "finished"),
            name(task)
        ),
        Progress::Landed(task, _, commit, change) => {
            let nothing = match change {
                rekindle_app::Change::Something => "",
                rekindle_app::Change::Nothing => "; nothing changed",
            };
            format!(
                "{} {} as {commit:.12}{nothing}\n",
                styled(GOOD, "landed"),
                name(task)
            )
        }
        Progress::Failed(task, attempt, reason, after) => {
            let then = then(*after);
            format!(
                "{} {} (attempt {attempt}): {}; {then}\n",
                styled(ERROR, "failed"),
                name(task),
                excerpt(reason, 300)
            )
        }
        Progress::Interrupted(task, attempt, kill, after) => {
            let then = then(*after);
            format!(
                "{} {} (attempt {attempt}): {kill}; {then}\n",
                styled(WARNING, "lost"),
                name(task)
            )
        }
        Progress::Reopened(task) => {
            format!(
                "{} {} is recorded as done, but its commit is not on the branch\n",
                styled(WARNING, "again"),
                name(task)
            )
        }
        Progress::DeliveryLost(task, attempt, commit) => format!(
            "{} {}: the commit {commit:.12} of attempt {attempt} is no longer in the repository (was `git gc --prune=now` run?); the task is done again\n",
            styled(WARNING, "lost"),
            name(task)
        ),
        Progress::Limited(task, _, wait) => format!(
            "{} {}: the agent's usage limit is reached; continuing in {} s (Ctrl-C stops the wait)\n",
            styled(NOTE, "wait"),
            name(task),
            wait.as_secs()
        ),
        Progress::Unsigned(reason) => format!(
            "{}: commits are not signed, although `commit.gpgSign` is set: signing needs a person ({}); a merge of the branch can be signed\n",
            styled(WARNING, "warning"),
            excerpt(reason, 300)
        ),
        Progress::Stopping(false) => {
            "stopping: no new tasks are started; press Ctrl-C again to stop the workers too\n"
                .to_owned()
        }
        Progress::Stopping(true) => "stopping now\n".to_owned(),
        Progress::StillAtWork(left) => {
            let then = if left.is_asked_to_end {
                "asked to end".to_owned()
            } else {
                format!(
                    "`rekindle resume` continues it, `kill {}` stops it",
                    left.pid
                )
            };
            format!(
                "{} {} (attempt {}), process {}: {then}\n",
                styled(WARNING, "still at work:"),
                name(&left.task),
                left.attempt,
                left.pid
            )
        }
    }
}

/// Returns the note that nobody was told about a run.
pub(crate) fn not_notified(why: &str) -> String {
    format!(
        "{}: no notice was sent: {}\n",
        styled(NOTE, "note"),
        excerpt(why, 300)
    )
}

/// Returns what is said to a person who no longer follows a run.
pub(crate) fn left(id: &rekindle_model::WorkflowId) -> String {
    let id = id.to_string();
    format!(
        "{} goes on; `rekindle stop {}` stops it\n",
        excerpt(&id, 120),
        shell_word(&id)
    )
}

/// Returns what follows for a task whose attempt came to nothing.
fn then(after: rekindle_app::After) -> &'static str {
    match after {
        rekindle_app::After::Again => "the task is tried again",
        rekindle_app::After::GoesOn => "the work is checked and delivered",
        rekindle_app::After::Resume => "`rekindle resume` tries the task again",
        rekindle_app::After::Person => "the task waits for you",
        rekindle_app::After::Protocol => "the retry ledger decides",
    }
}

pub(crate) fn ending(id: &str, ending: &rekindle_app::Ending) -> String {
    let budget = if ending.over_budget {
        "the budget is used up\n"
    } else {
        ""
    };
    let tally = ending.tally;
    let complete = tally.landed + tally.skipped == tally.total;
    let word = if complete {
        styled(GOOD, "done")
    } else {
        styled(ERROR, "stopped")
    };
    let mut text = format!(
        "{word}: {} of {} landed in {}\n",
        tally.landed,
        count(tally.total, "task"),
        count(ending.all_attempts, "attempt")
    );
    text.push_str(&unchanged(&ending.unchanged));
    text.push_str(budget);
    text.push_str(&cost(ending.cost));
    if tally.landed > 0 {
        put!(
            text,
            "the work is on branch `{}`\n",
            excerpt(&ending.branch, 200)
        );
    }
    for given_up in &ending.given_up {
        put!(
            text,
            "{} {}: {}\n",
            styled(ERROR, "blocked"),
            excerpt(&given_up.task, 80),
            excerpt(&given_up.reason, 300)
        );
    }
    let hint = styled(NOTE, "hint");
    let word = shell_word(id);
    if let Some(reason) = &ending.cannot_start {
        put!(
            text,
            "{}: the agent cannot start: {}\n",
            styled(ERROR, "error"),
            excerpt(reason, 300)
        );
    }
    let (behind, mendable): (Vec<&GivenUp>, Vec<&GivenUp>) = ending
        .given_up
        .iter()
        .partition(|task| task.behind.is_some());
    if let Some(command) = retry(id, &mendable) {
        put!(
            text,
            "{hint}: when the cause is fixed: `{command}`, then `rekindle resume {word}`\n"
        );
    }
    text.push_str(&behind_skipped(id, &behind));
    if ending.given_up.is_empty() && !complete {
        put!(text, "{hint}: continue with `rekindle resume {word}`\n");
    }
    if complete && tally.landed > 0 {
        text.push_str(&merge(ending));
    }
    text
}

/// Returns how to take the work over; what is in the way of a merge is put aside first.
fn merge(ending: &rekindle_app::Ending) -> String {
    let hint = styled(NOTE, "hint");
    let branch = shell_word(&ending.branch);
    if ending.in_the_way.is_empty() {
        return format!("{hint}: merge it into your branch with `git merge {branch}`\n");
    }
    let files = ending.in_the_way.iter().map(|path| shell_word(path));
    let files = files.collect::<Vec<_>>().join(" ");
    format!(
        "{hint}: the branch has your documents of the list with its marks; put yours aside and merge: \
         `git stash push --include-untracked -- {files} && git merge {branch}`\n"
    )
}

/// Returns the command that records an event about a task, as it can be pasted into a shell.
pub(crate) fn event_of(id: &str, event: &str, task: &str) -> String {
    let (id, task) = (shell_word(id), option_words("--task", task));
    format!("rekindle event {id} {event} {task}")
}

/// Returns which tasks landed without a change; that is right for some, and for some it is not.
fn unchanged(tasks: &[String]) -> String {
    if tasks.is_empty() {
        return String::new();
    }
    format!("nothing changed in {}\n", listed(tasks, 80))
}

/// Returns the first of many names, and how many more there are.
pub(super) fn listed(names: &[String], longest: usize) -> String {
    let shown: Vec<String> = names
        .iter()
        .take(MOST_NAMES)
        .map(|name| excerpt(name, longest))
        .collect();
    let shown = shown.join(", ");
    match names.len().saturating_sub(MOST_NAMES) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// Returns the command that retries tasks; none if there are none.
fn retry(id: &str, tasks: &[&GivenUp]) -> Option<String> {
    match tasks {
        [] => None,
        [only] => Some(verb_of("retry", id, &[&only.task])),
        [_, ..] => Some(verb_of("retry --all", id, &[])),
    }
}

/// Returns what helps tasks that need some that were left out.
fn behind_skipped(id: &str, tasks: &[&GivenUp]) -> String {
    if tasks.is_empty() {
        return String::new();
    }
    let hint = styled(NOTE, "hint");
    let word = shell_word(id);
    let names: Vec<&str> = tasks.iter().map(|task| task.task.as_str()).collect();
    let (too, need) = match names.as_slice() {
        [_] => ("it", "it needs"),
        _ => ("them", "they need"),
    };
    let mut text = format!(
        "{hint}: skip {too} too: `{}`, then `rekindle resume {word}`\n",
        verb_of("skip", id, &names)
    );
    // What the plan leaves out stays out, whatever an event says.
    let mut needs: Vec<&str> = tasks
        .iter()
        .filter_map(|task| task.behind.as_ref())
        .filter(|need| !need.by_plan)
        .map(|need| need.task.as_str())
        .collect();
    needs.sort_unstable();
    needs.dedup();
    if !needs.is_empty() {
        put!(
            text,
            "{hint}: or run what {need} after all: `{}`, then `rekindle resume {word}`\n",
            verb_of("retry", id, &needs)
        );
    }
    text
}

fn cost(cost: rekindle_app::Cost) -> String {
    let Some(told) = cost.told else {
        return match cost.untold {
            0 => String::new(),
            _ => "cost: not reported by the agent\n".to_owned(),
        };
    };
    let rest = match cost.untold {
        0 => String::new(),
        1 => ", not counting one attempt that reported none".to_owned(),
        n => format!(", not counting {n} attempts that reported none"),
    };
    format!("cost: {}{rest}\n", dollars(told))
}

/// Returns millionths of a dollar as dollars and cents.
pub(super) fn dollars(microdollars: u64) -> String {
    let cents = microdollars / 10_000;
    format!("${}.{:02}", cents / 100, cents % 100)
}

/// Returns the warning that a limit of money can not hold.
pub(crate) fn cost_untold(agent: &rekindle_app::Agent) -> String {
    format!(
        "{}: `--max-cost` has no effect: the agent `{}` does not report its cost\n\
         {}: use an agent that reports its cost, such as `--agent claude`, or set `stream` for yours in `.rekindle/config.toml`\n",
        styled(WARNING, "warning"),
        excerpt(&agent.name, 80),
        styled(NOTE, "hint"),
    )
}

/// Returns the warning that the user's own checkout is not as it was.
pub(crate) fn checkout_changed(paths: &[String]) -> String {
    let quoted: Vec<String> = paths.iter().map(|path| format!("`{path}`")).collect();
    format!(
        "{}: files of your checkout changed during the run: {}\n\
         {}: if you did not change them, an agent wrote outside its worktree; nothing was reverted, see `git status`\n",
        styled(WARNING, "warning"),
        listed(&quoted, 200),
        styled(NOTE, "hint"),
    )
}

/// Returns the warning that a task landed without what its agent keeps in repositories of its own.
pub(crate) fn left_out(left_out: &rekindle_app::LeftOut<'_>) -> String {
    let names = left_out.repositories.iter();
    let quoted: Vec<String> = names.map(|name| format!("`{name}`")).collect();
    format!(
        "{}: {} landed without the nested repositories that its agent created: {}\n\
         {}: they are in `{}`: move them if you need them, then `rekindle clean` removes the rest\n",
        styled(WARNING, "warning"),
        excerpt(left_out.task, 80),
        listed(&quoted, 200),
        styled(NOTE, "hint"),
        excerpt(left_out.worktree.as_str(), 300),
    )
}

pub(crate) fn cleaning(cleaning: &rekindle_app::Cleaning) -> String {
    let mut text = String::new();
    for cleaned in &cleaning.removed {
        let path = excerpt(cleaned.leftover.path.as_str(), 300);
        match &cleaned.saved_as {
            Some(name) => {
                put!(text, "removed {path}, saved as {}\n", excerpt(name, 300));
            }
            None => {
                put!(text, "removed {path}\n");
            }
        }
    }
    for leftover in &cleaning.kept {
        let why = if leftover.in_use {
            "another rekindle is working on it"
        } else {
            "nothing was changed"
        };
        put!(
            text,
            "kept {}: {why}\n",
            excerpt(leftover.path.as_str(), 300)
        );
    }
    for orphan in &cleaning.orphans {
        let since = match orphan.kind {
            LeftKind::Orphaned { since: Some(since) } => {
                format!(" (first seen {})", rekindle_text::format_seconds(since))
            }
            LeftKind::Orphaned { since: None } | LeftKind::Landed => String::new(),
        };
        let path = orphan.path.as_str();
        put!(
            text,
            "orphaned {}{since}: it does not belong to a task; `rekindle clean {}` removes it\n",
            excerpt(path, 300),
            excerpt(&rekindle_text::shell_word(path), 300)
        );
    }
    if text.is_empty() && cleaning.stuck.is_empty() {
        text.push_str("No worktrees to remove.\n");
    }
    text
}

/// Returns what was lost with the worktrees that were removed.
pub(crate) fn not_kept(cleaning: &rekindle_app::Cleaning) -> String {
    let mut text = String::new();
    for cleaned in &cleaning.removed {
        if let Some(lost) = cleaned.not_kept() {
            let path = excerpt(cleaned.leftover.path.as_str(), 300);
            put!(text, "{}: {path}: {lost}\n", styled(NOTE, "note"));
        }
    }
    text
}

/// Returns which worktrees could not be removed, why, and what to do.
pub(crate) fn stuck(cleaning: &rekindle_app::Cleaning) -> String {
    let mut text = String::new();
    for stuck in &cleaning.stuck {
        put!(
            text,
            "{}: {} could not be removed: {}\n{}",
            styled(ERROR, "error"),
            excerpt(stuck.leftover.path.as_str(), 300),
            excerpt(&stuck.error.to_string(), 600),
            hint(&excerpt(&stuck.hint(), 600)),
        );
    }
    text
}
