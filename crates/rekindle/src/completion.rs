//! What a shell offers while a person types: besides commands and options, what the project has.
//!
//! `rekindle completions SHELL` prints a script that asks this program for the words; it does so with
//! the variable [`ASKED`].

use std::ffi::OsString;
use std::sync::Arc;

use clap::{Command, CommandFactory as _};
use clap_complete::CompleteEnv;
use clap_complete::engine::{ArgValueCandidates, CompletionCandidate};
use clap_complete::env::Shells;
use rekindle_app::{Candidate, Project};
use rekindle_model::Code;
use rekindle_wire::exit;

use crate::arguments::Arguments;
use crate::environment;

/// The variable with the shell that asks.
const ASKED: &str = "REKINDLE_COMPLETE";
/// The name of the program, and of everything in the scripts.
const NAME: &str = "rekindle";

/// What a word on the command line stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stands {
    Workflow,
    /// A task of the workflow in this argument, else of the one that is meant without a name.
    Task(&'static str),
    WorkflowOrCode,
    Agent,
    Rescue,
    /// A branch, a rescue, or a run.
    Prunable,
}

/// Each argument that the project has words for: command, argument, what it stands for.
const WORDS: &[(&str, &str, Stands)] = &[
    ("attach", "id", Stands::Workflow),
    ("cancel", "id", Stands::Workflow),
    ("checkpoint", "id", Stands::Workflow),
    ("checkpoints", "id", Stands::Workflow),
    ("event", "id", Stands::Workflow),
    ("event", "task", Stands::Task("id")),
    ("explain", "subject", Stands::WorkflowOrCode),
    ("explain", "task", Stands::Task("subject")),
    ("heartbeat", "id", Stands::Workflow),
    ("heartbeat", "task", Stands::Task("id")),
    ("inspect", "id", Stands::Workflow),
    ("logs", "id", Stands::Workflow),
    ("logs", "task", Stands::Task("id")),
    ("mute", "id", Stands::Workflow),
    ("plan", "id", Stands::Workflow),
    ("prune", "names", Stands::Prunable),
    ("report", "id", Stands::Workflow),
    ("rescue list", "workflow", Stands::Workflow),
    ("rescue restore", "name", Stands::Rescue),
    ("rescue show", "name", Stands::Rescue),
    ("resume", "agent", Stands::Agent),
    ("resume", "id", Stands::Workflow),
    ("resume", "with", Stands::Agent),
    ("retry", "run", Stands::Workflow),
    ("retry", "tasks", Stands::Task("run")),
    ("rollback", "id", Stands::Workflow),
    ("run", "agent", Stands::Agent),
    ("skip", "run", Stands::Workflow),
    ("skip", "tasks", Stands::Task("run")),
    ("stop", "id", Stands::Workflow),
];

/// Answers a shell that asks for words; `None` where nobody asks, and the program is to do its work.
pub(crate) fn complete() -> Option<u8> {
    let typed: Vec<OsString> = std::env::args_os().collect();
    let asked = CompleteEnv::with_factory(|| command(&typed))
        .var(ASKED)
        .bin(NAME)
        .completer(NAME)
        .try_complete(typed.clone(), environment::current_folder().as_deref());
    match asked {
        Ok(false) => None,
        Ok(true) => Some(exit::DONE),
        // Whatever is written here would stand in the middle of what is being typed.
        Err(_) => Some(exit::CANNOT),
    }
}

/// Returns the script that makes a shell ask.
pub(crate) fn script(shell: clap_complete::Shell) -> Vec<u8> {
    let mut script = Vec::new();
    let shells = Shells::builtins();
    let name = shell.to_string();
    if let Some(completer) = shells.completer(&name) {
        // Writing into memory has no way to fail.
        completer
            .write_registration(ASKED, NAME, NAME, NAME, &mut script)
            .ok();
    }
    if shell == clap_complete::Shell::Zsh {
        // Loaded from a folder of functions, the script is run as the function for its first words.
        let first = "\nif [ \"$funcstack[1]\" = _rekindle ]; then\n    _clap_dynamic_completer_rekindle \"$@\"\nfi\n";
        script.extend_from_slice(first.as_bytes());
    }
    script
}

/// Returns the command line with the words of the project that was typed.
fn command(typed: &[OsString]) -> Command {
    let command = Arguments::command();
    let line = typed.iter().skip_while(|word| *word != "--").skip(1);
    let line: Arc<[OsString]> = line.cloned().collect();
    WORDS
        .iter()
        .fold(command, |command, (path, argument, stands)| {
            let line = Arc::clone(&line);
            let words =
                ArgValueCandidates::new(move || candidates(&line, *stands).unwrap_or_default());
            within(command, path, |command| {
                command.mut_arg(argument, |argument| argument.add(words))
            })
        })
}

/// Changes the command with this path.
fn within(command: Command, path: &str, change: impl FnOnce(Command) -> Command) -> Command {
    let (first, rest) = path.split_once(' ').unwrap_or((path, ""));
    command.mut_subcommand(first, |below| {
        if rest.is_empty() {
            change(below)
        } else {
            within(below, rest, change)
        }
    })
}

fn candidates(line: &[OsString], stands: Stands) -> Option<Vec<CompletionCandidate>> {
    // What is still being typed need not be complete.
    let matches = Arguments::command()
        .ignore_errors(true)
        .try_get_matches_from(line)
        .ok()?;
    let folder = matches.get_one::<camino::Utf8PathBuf>("folder");
    let project = environment::project(folder.map(camino::Utf8PathBuf::as_path)).ok()?;
    let named = |argument: &str| {
        let (_, below) = matches.subcommand()?;
        let named = below.try_get_one::<String>(argument).ok()??;
        Some(named.clone())
    };
    let found = match stands {
        Stands::Workflow => rekindle_app::candidate_workflows(&project),
        Stands::Task(argument) => of_task(&project, named(argument).as_deref()),
        Stands::WorkflowOrCode => {
            let mut found = rekindle_app::candidate_workflows(&project);
            found.extend(Code::ALL.iter().map(|code| Candidate {
                word: code.to_string(),
                about: "a finding".to_owned(),
            }));
            found
        }
        Stands::Agent => rekindle_app::candidate_agents(&project).ok()?,
        Stands::Rescue => rekindle_app::candidate_rescues(&project).ok()?,
        Stands::Prunable => rekindle_app::candidate_prunables(&project).ok()?,
    };
    let candidate = |one: Candidate| {
        CompletionCandidate::new(one.word).help((!one.about.is_empty()).then(|| one.about.into()))
    };
    Some(found.into_iter().map(candidate).collect())
}

/// Returns the tasks of the named workflow; a word that is being typed may name none.
fn of_task(project: &Project, named: Option<&str>) -> Vec<Candidate> {
    rekindle_app::candidate_tasks(project, named)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Names of values that the project has words for.
    const VALUES: [&str; 6] = ["ID", "TASK", "AGENT", "ID|CODE", "WORKFLOW", "TASKS"];

    fn every_argument(path: &str, command: &Command, found: &mut Vec<(String, String)>) {
        for argument in command.get_arguments() {
            let names = argument.get_value_names().unwrap_or_default();
            let is_word = names.iter().any(|name| VALUES.contains(&name.as_str()));
            let is_agent = argument.get_id() == "agent";
            if (is_word || is_agent) && !argument.is_hide_set() {
                found.push((path.to_owned(), argument.get_id().to_string()));
            }
        }
        // Agents call hooks; nobody types that.
        let typed = |below: &&Command| below.get_name() != "hook";
        for below in command.get_subcommands().filter(typed) {
            let path = format!("{path} {}", below.get_name());
            every_argument(path.trim(), below, found);
        }
    }

    #[test]
    fn every_argument_that_names_something_of_the_project_has_words() {
        let mut found = Vec::new();
        let mut command = Arguments::command();
        command.build();
        every_argument("", &command, &mut found);
        let listed: Vec<(String, String)> = WORDS
            .iter()
            .map(|(path, argument, _)| ((*path).to_owned(), (*argument).to_owned()))
            .collect();
        let missing: Vec<_> = found.iter().filter(|one| !listed.contains(one)).collect();
        assert!(missing.is_empty(), "{missing:?}");
        // `mut_arg` would add an argument that does not exist.
        for (path, argument, _) in WORDS {
            let mut command = &command;
            for word in path.split(' ') {
                command = command.find_subcommand(word).unwrap();
            }
            let mut arguments = command.get_arguments();
            assert!(
                arguments.any(|one| one.get_id() == argument),
                "{path} {argument}"
            );
        }
    }
}
