//! The next command: the checkpoint's own if it is still open, otherwise what the phase requires.

use rekindle_text::is_printable;

use super::phase::{Phase, task_ids};
use super::table::{COMMANDS, Command, Named, Standing};
use super::tasks::{Tasks, task_number};

/// The longest text that counts as a command, in characters.
const LONGEST: usize = 300;

/// The next command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct NextCommand {
    pub(super) command: String,
    /// The task that the command names; of several the first that is left to do.
    pub(super) task: Option<String>,
    /// The task that the checkpoint names, if it is not the one to do.
    pub(super) stale: Option<Stale>,
}

/// A task that should come next and does not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Stale {
    Done(String),
    Absent(String),
}

/// What decides the next command.
#[derive(Debug, Clone, Copy)]
pub(super) struct Situation<'s> {
    pub(super) feature: &'s str,
    pub(super) phase: Phase,
    pub(super) is_complete: bool,
    /// The checkpoint's `Next`.
    pub(super) said: Option<&'s str>,
    pub(super) tasks: Option<&'s Tasks>,
}

impl Situation<'_> {
    /// Returns the next command.
    pub(super) fn next(self) -> NextCommand {
        let said = self.said.unwrap_or_default();
        let quoted = quoted_command(said);
        let words = without_name(quoted.as_deref().unwrap_or(said), self.feature);
        let stale = match &quoted {
            Some(_) => self.stale_command(&words),
            None => self.stale(&words),
        };
        let command = COMMANDS.decide(Standing {
            has_command: quoted.is_some(),
            named: match &stale {
                None => Named::Due,
                Some(Stale::Done(_)) => Named::Done,
                Some(Stale::Absent(_)) => Named::Absent,
            },
            phase: self.phase,
            is_complete: self.is_complete,
        });
        let feature = self.feature;
        let command = match (command, quoted) {
            (Command::Quoted, Some(command)) => self.completed(command),
            (Command::Spec, _) => format!("/spec {feature}"),
            (Command::Plan, _) => format!("/plan {feature}"),
            (Command::Tasks, _) => format!("/tasks {feature}"),
            (Command::FirstTask, _) => format!("/implement {feature} T001"),
            (Command::OpenTask, _) | (Command::Quoted, None) => self.due_task(),
        };
        NextCommand {
            task: self.task_of(&without_name(&command, feature)),
            command,
            stale,
        }
    }

    fn due_task(self) -> String {
        let feature = self.feature;
        let Some(tasks) = self.tasks.filter(|tasks| !tasks.all.is_empty()) else {
            return format!("/implement {feature} T001");
        };
        match tasks.next() {
            Some(task) => format!("/implement {feature} {}", task.id),
            None => format!("/polish-docs {feature}"),
        }
    }

    /// A command without any argument is about this feature.
    fn completed(self, command: String) -> String {
        if command.contains(char::is_whitespace) {
            command
        } else {
            format!("{command} {}", self.feature)
        }
    }

    /// Returns the first task in a text, if it is done or missing.
    fn stale(self, text: &str) -> Option<Stale> {
        let id = task_ids(text).next()?;
        // Without a list nothing can be missing from it.
        let found = self.tasks?.find(id);
        match found.map(|task| task.state) {
            Some(state) if state.is_settled() => Some(Stale::Done(id.to_owned())),
            Some(_) => None,
            None => Some(Stale::Absent(id.to_owned())),
        }
    }

    /// Returns the task or range of a command, if it is done or missing.
    fn stale_command(self, command: &str) -> Option<Stale> {
        let Some((first, last)) = range(command) else {
            return self.stale(command);
        };
        let mut inside = self.tasks?.between(first, last).peekable();
        let id = task_ids(command).next()?.to_owned();
        if inside.peek().is_none() {
            return Some(Stale::Absent(id));
        }
        let is_done = inside.all(|task| task.state.is_settled());
        is_done.then_some(Stale::Done(id))
    }

    fn task_of(self, command: &str) -> Option<String> {
        let left = range(command).and_then(|(first, last)| {
            let mut inside = self.tasks?.between(first, last);
            inside.find(|task| !task.state.is_settled())
        });
        let named = task_ids(command).next();
        left.map_or(named, |task| Some(&task.id)).map(str::to_owned)
    }
}

/// Returns a text without the feature's name, which may look like a task.
fn without_name(text: &str, feature: &str) -> String {
    let is_of_word = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_');
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once(feature).filter(|_| !feature.is_empty()) {
        let is_word = !before.ends_with(is_of_word) && !behind.starts_with(is_of_word);
        out.push_str(before);
        out.push_str(if is_word { " " } else { feature });
        rest = behind;
    }
    out.push_str(rest);
    out
}

/// Returns the first two task numbers of a text, if only a dash is between them.
pub(super) fn range(text: &str) -> Option<(u32, u32)> {
    let mut named = task_ids(text);
    let (first, last) = (named.next()?, named.next()?);
    let (_, behind) = text.split_once(first)?;
    let (between, _) = behind.split_once(last)?;
    let is_dash = matches!(between.trim(), "-" | "–" | "—" | "..");
    is_dash.then_some((task_number(first)?, task_number(last)?))
}

/// Returns whether a text ends inside the backticks of its command.
pub(super) fn is_cut_off(text: &str) -> bool {
    let (spans, open) = spans(text);
    let is_begun = open.is_some_and(|open| open.is_empty() || open.starts_with('/'));
    is_begun && !spans.iter().any(|span| span.starts_with('/'))
}

/// Returns the texts in backticks, and the last one if it is not closed.
fn spans(text: &str) -> (Vec<&str>, Option<&str>) {
    let mut parts: Vec<&str> = text.split('`').map(str::trim).collect();
    // Every second part is a span; the last one is closed only if a part follows it.
    let open = parts.len().is_multiple_of(2).then(|| parts.pop()).flatten();
    (parts.into_iter().skip(1).step_by(2).collect(), open)
}

/// Returns the first text in backticks that starts with a slash.
fn quoted_command(text: &str) -> Option<String> {
    let (spans, _) = spans(text);
    let command = spans.into_iter().find(|span| span.starts_with('/'))?;
    let safe: String = command.chars().filter(|c| is_printable(*c)).collect();
    let is_command = safe.len() > 1 && safe.chars().count() <= LONGEST;
    is_command.then_some(safe)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TASKS: &str = "### T001: A\n**Status**: ✅ Complete\n### T002: B\n### T003: C\n";

    fn next(phase: Phase, is_complete: bool, said: &str, tasks: Option<&str>) -> String {
        let tasks = tasks.map(Tasks::parse);
        let next = Situation {
            feature: "f",
            phase,
            is_complete,
            said: Some(said).filter(|said| !said.is_empty()),
            tasks: tasks.as_ref(),
        }
        .next();
        match next.stale {
            None => next.command,
            Some(Stale::Done(id)) => format!("{} ({id} is done)", next.command),
            Some(Stale::Absent(id)) => format!("{} ({id} is absent)", next.command),
        }
    }

    /// Checks rows of `NEXT => COMMAND` after a complete checkpoint.
    fn check(phase: Phase, tasks: &str, rows: &str) {
        for row in rows.lines() {
            let (said, wanted) = row.trim().split_once("=> ").unwrap();
            assert_eq!(next(phase, true, said.trim(), Some(tasks)), wanted, "{row}");
        }
    }

    #[test]
    fn without_a_command_the_phase_decides() {
        let table = [
            (Phase::Spec, false, "/spec f"),
            (Phase::Spec, true, "/plan f"),
            (Phase::Plan, false, "/plan f"),
            (Phase::Plan, true, "/tasks f"),
            (Phase::Tasks, false, "/tasks f"),
            (Phase::Tasks, true, "/implement f T001"),
            (Phase::Implement, false, "/implement f T002"),
            (Phase::Implement, true, "/implement f T002"),
        ];
        for (phase, is_complete, wanted) in table {
            for said in ["", "continue with `it`"] {
                assert_eq!(next(phase, is_complete, said, Some(TASKS)), wanted);
            }
        }
        let first = "/implement f T001";
        assert_eq!(next(Phase::Tasks, true, "", None), first);
        assert_eq!(next(Phase::Implement, false, "", Some("")), first);
    }

    #[test]
    fn a_task_in_progress_comes_before_the_first_open_one() {
        let tasks = format!("{TASKS}### T004: D\n**Status**: In Progress\n");
        check(Phase::Implement, &tasks, "=> /implement f T004");
    }

    #[test]
    fn uses_quoted_commands_verbatim() {
        let rows = "`/plan f` to finish design => /plan f
            see `plan.md`, then `/implement f phase 2` => /implement f phase 2
            `/implement specs/f/tasks.md T002` => /implement specs/f/tasks.md T002
            Polish - `/polish-docs`, `/polish-test-plus` => /polish-docs f
            `/implement f T002` to continue => /implement f T002
            `/implement f T001` to continue => /implement f T002 (T001 is done)
            `/implement f T042` => /implement f T042 (T042 is absent)
            T001 - Cloud => /implement f T002 (T001 is done)
            Phase 5 (T001-T003) => /implement f T002 (T001 is done)
            T002, as T001 is done => /implement f T002
            `/implement f T001-T003` => /implement f T001-T003
            `/implement f T001 - T001` => /implement f T002 (T001 is done)
            `/implement f T041-T047` => /implement f T041-T047 (T041 is absent)
            `/implement f T001, T002` => /implement f T002 (T001 is done)
            `/` => /implement f T002
            `/a\u{1b}[2Jb` => /a[2Jb f
            `/plan\u{202e} f\u{2066}` => /plan f";
        check(Phase::Implement, TASKS, rows);
        let row = "T001 - Cloud => /implement f T002 (T001 is done)";
        check(Phase::Tasks, TASKS, row);
        let unlisted = next(Phase::Tasks, true, "`/implement f T042`", None);
        assert_eq!(unlisted, "/implement f T042");
        let long = format!("`/{}`", "x".repeat(LONGEST));
        assert_eq!(next(Phase::Spec, true, &long, None), "/plan f");
    }

    #[test]
    fn ignores_commands_without_closing_backticks() {
        let table = [
            ("`/implement f T002", "/implement f T002", true),
            ("`/implement user-aut", "/implement f T002", true),
            ("`/implement f T0", "/implement f T002", true),
            ("`/", "/implement f T002", true),
            ("see `plan.md`, then `", "/implement f T002", true),
            ("`/plan f`", "/plan f", false),
            ("`/plan f`, then `/tasks", "/plan f", false),
            ("it`s T002", "/implement f T002", false),
            ("", "/implement f T002", false),
        ];
        for (said, wanted, is_cut) in table {
            let command = next(Phase::Implement, true, said, Some(TASKS));
            assert_eq!((&*command, is_cut_off(said)), (wanted, is_cut), "{said}");
        }
    }

    #[test]
    fn ignores_task_ids_in_feature_names() {
        let tasks = Tasks::parse(TASKS);
        let rows = "move-T100: `/implement move-T100 T003` => /implement move-T100 T003 | T003 | false
            fix-T001: `/implement fix-T001 T003` => /implement fix-T001 T003 | T003 | false
            fix-T001: `/implement fix-T001 T001` => /implement fix-T001 T002 | T002 | true
            fix-T001: `/implement specs/fix-T001/tasks.md T001-T003` => /implement specs/fix-T001/tasks.md T001-T003 | T002 | false
            fix-T001: T002 of fix-T001 => /implement fix-T001 T002 | T002 | false
            fix: `/implement fix-T001 T003` => /implement fix T002 | T002 | true
            f: `/implement f phase 2` => /implement f phase 2 |  | false
            f: `/implement f T042` => /implement f T042 | T042 | true";
        for row in rows.lines() {
            let (asked, wanted) = row.trim().split_once(" => ").unwrap();
            let (feature, said) = asked.split_once(": ").unwrap();
            let situation = Situation {
                feature,
                phase: Phase::Implement,
                is_complete: true,
                said: Some(said),
                tasks: Some(&tasks),
            };
            let next = situation.next();
            let task = next.task.unwrap_or_default();
            let found = format!("{} | {task} | {}", next.command, next.stale.is_some());
            assert_eq!(found, wanted);
        }
    }

    #[test]
    fn polishing_follows_the_last_task() {
        let tasks =
            "### T001: A\n**Status**: ✅ Complete\n### T002: B\n**Status**: ❌ Not Needed\n";
        let rows = "=> /polish-docs f
            `/implement f T001` => /polish-docs f (T001 is done)";
        check(Phase::Implement, tasks, rows);
    }
}
