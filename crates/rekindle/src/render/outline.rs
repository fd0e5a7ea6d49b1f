//! What is shown before tasks run: what is left, who does it, where it lands, what it costs.

use std::fmt::Write as _;

use rekindle_app::{Outline, OutlineState, OutlineTask};
use rekindle_model::{Command, CommandRole, CommandSource, WorkflowId};
use rekindle_text::{excerpt, printable, shell_word, visible_command};

use super::run::{dollars, listed};
use super::{NOTE, STRONG, WARNING, count, hint, styled};

/// Checks that the user agreed to before are listed up to this number.
const MOST_CHECKS: usize = 8;
/// So many tasks of a wave are named on its line.
const MOST_TITLE: usize = 60;

/// Returns what a person decides on.
pub(crate) fn outline(outline: &Outline, verbose: bool) -> String {
    let total = outline.tasks.len();
    let left = match outline.left() {
        left if left == total => count(total, "task"),
        left => format!("{left} of {} left", count(total, "task")),
    };
    let mut text = match outline.title.as_str() {
        "" => format!("{}\n", styled(STRONG, &left)),
        title => format!("{}: {left}\n", styled(STRONG, &excerpt(title, 100))),
    };
    let mut line = |name: &str, value: String| {
        if !value.is_empty() {
            put!(text, "  {name:<11} {value}\n");
        }
    };
    let named = |state: OutlineState| -> Vec<String> {
        let tasks = outline.tasks.iter().filter(|task| task.state == state);
        tasks.map(|task| task.id.clone()).collect()
    };
    line("still at work", listed(&named(OutlineState::AtWork), 80));
    line("to land", listed(&named(OutlineState::Finished), 80));
    line("done again", again(&outline.tasks));
    line("blocked", listed(&named(OutlineState::Blocked), 80));
    line("agent", agent(outline.agent.as_ref()));
    line("jobs", outline.jobs.to_string());
    line("branch", format!("`{}`", excerpt(&outline.branch, 200)));
    let of_worktrees = |role: CommandRole| -> Vec<Command> {
        let commands = outline.outfit.iter();
        let commands = commands.filter(|command| command.role == role);
        commands.cloned().collect()
    };
    for role in [CommandRole::Setup, CommandRole::Teardown] {
        line(role.as_str(), checks(&of_worktrees(role), verbose));
    }
    line("checks", checks(&outline.checks, verbose));
    line("cost", cost(outline));
    line("backups", backups(outline.rescued));
    text
}

/// Returns the tasks that are done again, each with the number of its next attempt.
fn again(tasks: &[OutlineTask]) -> String {
    let again = tasks
        .iter()
        .filter(|task| task.state == OutlineState::Again);
    let named: Vec<String> = again
        .map(|task| format!("{} (attempt {})", task.id, task.attempts.saturating_add(1)))
        .collect();
    listed(&named, 100)
}

fn agent(agent: Option<&Command>) -> String {
    agent.map_or_else(
        || "none: `--agent NAME` names one".to_owned(),
        |agent| format!("`{}`{}", visible_command(&agent.text), origin(agent)),
    )
}

/// Returns where a command comes from, if it is not the user's own.
fn origin(command: &Command) -> String {
    match &command.source {
        CommandSource::Project(file) => format!(
            " ({} `{}`, a file of the project)",
            styled(WARNING, "from"),
            excerpt(file, 300)
        ),
        CommandSource::Typed | CommandSource::User | CommandSource::Agreed => String::new(),
    }
}

/// Returns commands of one kind. Every one that the user has not chosen or seen before is shown whole.
fn checks(checks: &[Command], verbose: bool) -> String {
    let (known, new): (Vec<&Command>, Vec<&Command>) = checks
        .iter()
        .partition(|check| check.source == CommandSource::Agreed);
    let most = if verbose { known.len() } else { MOST_CHECKS };
    let mut lines: Vec<String> = new
        .into_iter()
        .chain(known.iter().copied().take(most))
        .map(|check| {
            let tasks = match check.tasks {
                0 => String::new(),
                n => format!(" for {}", count(n, "task")),
            };
            format!("`{}`{tasks}{}", visible_command(&check.text), origin(check))
        })
        .collect();
    match known.len().saturating_sub(most) {
        0 => {}
        more => lines.push(format!("and {more} more (`-v` lists them)")),
    }
    lines.join(&format!("\n  {:<11} ", ""))
}

fn cost(outline: &Outline) -> String {
    let limit = outline
        .max_cost
        .map(|limit| format!("at most {}", dollars(limit)));
    match (outline.cost.told, limit) {
        (None, None) => String::new(),
        (None, Some(limit)) => limit,
        (Some(told), None) => format!("{} so far, without a limit", dollars(told)),
        (Some(told), Some(limit)) => format!("{} so far, {limit}", dollars(told)),
    }
}

fn backups(n: usize) -> String {
    match n {
        0 => String::new(),
        n => format!("{n} (`rekindle rescue list`)"),
    }
}

/// Returns the warning that an agent may not edit files.
pub(crate) fn may_not_edit(problem: &str, remedy: &str) -> String {
    format!(
        "{}: {}\n{}",
        styled(WARNING, "warning"),
        printable(problem),
        hint(&printable(remedy))
    )
}

/// Returns the note that tasks start without what is not committed; nothing if all is.
pub(crate) fn uncommitted(n: usize) -> String {
    let (files, have) = (count(n, "file"), if n == 1 { "has" } else { "have" });
    match n {
        0 => String::new(),
        _ => format!(
            "{}: {files} {have} uncommitted changes; tasks start from the last commit, without them\n",
            styled(NOTE, "note")
        ),
    }
}

/// Returns the note that commits are not made in the user's name.
pub(crate) fn no_identity() -> String {
    format!(
        "{}: git has no name and address of yours here, so commits are made by `rekindle <rekindle@localhost>`\n{}",
        styled(NOTE, "note"),
        hint("`git config user.name NAME` and `git config user.email ADDRESS` set them")
    )
}

/// So many files take long enough to say so.
const MANY_FILES: usize = 1000;

/// Returns what is said while the record of a large run is written.
pub(crate) fn preparing(n: usize) -> String {
    match n {
        0..MANY_FILES => String::new(),
        n => format!("preparing the run: {}\n", count(n, "file")),
    }
}

/// Returns the note that a plan has an open run already.
pub(crate) fn also_open(id: &WorkflowId) -> String {
    let name = id.to_string();
    format!(
        "{}: this plan has an open run; `rekindle resume {}` continues that one\n",
        styled(NOTE, "note"),
        shell_word(&name)
    )
}

/// Returns the order in which tasks run: those of a wave start once what they need has landed.
pub(crate) fn waves(outline: &Outline) -> String {
    let mut text = String::new();
    for (number, wave) in (1..).zip(outline.waves()) {
        put!(text, "{}\n", styled(STRONG, &format!("wave {number}")));
        for task in wave {
            let needs: Vec<String> = task
                .needs
                .iter()
                .filter_map(|need| outline.tasks.get(*need))
                .map(|need| need.id.clone())
                .collect();
            let after = match needs.as_slice() {
                [] => String::new(),
                needs => format!(" (after {})", listed(needs, 80)),
            };
            let title = excerpt(&task.title, MOST_TITLE);
            put!(text, "  {} {title}{after}\n", printable(&task.id));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use rekindle_app::Cost;

    fn check(text: &str, source: CommandSource) -> Command {
        Command {
            text: text.to_owned(),
            role: CommandRole::Check,
            source,
            tasks: 2,
        }
    }

    fn task(id: &str, needs: &[usize], state: OutlineState) -> OutlineTask {
        OutlineTask {
            id: id.to_owned(),
            title: format!("Title of {id}"),
            needs: needs.to_vec(),
            state,
            attempts: 1,
        }
    }

    fn orders() -> Outline {
        Outline {
            title: "Orders".to_owned(),
            tasks: vec![
                task("T1", &[], OutlineState::Done),
                task("T2", &[0], OutlineState::Again),
                task("T3", &[1], OutlineState::Left),
                task("T4", &[1, 2], OutlineState::Finished),
            ],
            agent: Some(Command {
                text: "claude -p".to_owned(),
                role: CommandRole::Agent,
                source: CommandSource::User,
                tasks: 0,
            }),
            jobs: 4,
            branch: "result".to_owned(),
            outfit: vec![
                Command {
                    text: "npm ci".to_owned(),
                    role: CommandRole::Setup,
                    source: CommandSource::Project("c.toml".to_owned()),
                    tasks: 0,
                },
                Command {
                    text: "docker compose down".to_owned(),
                    role: CommandRole::Teardown,
                    source: CommandSource::Agreed,
                    tasks: 0,
                },
            ],
            checks: vec![
                check("cargo test", CommandSource::Agreed),
                check("make", CommandSource::Project("x.json".to_owned())),
            ],
            cost: Cost {
                told: Some(1_230_000),
                untold: 0,
            },
            max_cost: Some(5_000_000),
            rescued: 1,
        }
    }

    fn plain(text: &str) -> String {
        anstream::adapter::strip_str(text).to_string()
    }

    #[test]
    fn an_outline_says_what_a_person_decides_on() {
        insta::assert_snapshot!(plain(&outline(&orders(), false)), @r"
        Orders: 3 of 4 tasks left
          to land     T4
          done again  T2 (attempt 2)
          agent       `claude -p`
          jobs        4
          branch      `result`
          setup       `npm ci` (from `c.toml`, a file of the project)
          teardown    `docker compose down`
          checks      `make` for 2 tasks (from `x.json`, a file of the project)
                      `cargo test` for 2 tasks
          cost        $1.23 so far, at most $5.00
          backups     1 (`rekindle rescue list`)
        ");
    }

    #[test]
    fn checks_that_were_never_agreed_to_are_all_shown() {
        let new = |n: usize| check(&format!("new {n}"), CommandSource::Project("f".to_owned()));
        let known = |n: usize| check(&format!("old {n}"), CommandSource::Agreed);
        let all: Vec<Command> = (0..20).map(new).chain((0..20).map(known)).collect();
        let shown = checks(&all, false);
        assert_eq!(shown.matches("`new ").count(), 20);
        assert_eq!(shown.matches("`old ").count(), MOST_CHECKS);
        assert!(shown.ends_with("and 12 more (`-v` lists them)"), "{shown}");
        assert_eq!(checks(&all, true).matches("`old ").count(), 20);
    }

    #[test]
    fn waves_name_what_each_task_waits_for() {
        insta::assert_snapshot!(plain(&waves(&orders())), @r"
        wave 1
          T2 Title of T2 (after T1)
        wave 2
          T3 Title of T3 (after T2)
        wave 3
          T4 Title of T4 (after T2, T3)
        ");
    }
}
