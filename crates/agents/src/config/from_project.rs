//! The commands in files of the project, which may have come with a clone.

use rekindle_text::printable;

use super::read::joined;
use super::{Base, File};

/// The file that a team shares, at the project's root.
pub(super) const TEAM: &str = "rekindle.toml";
/// The file of one user in a project.
const PROJECT: &str = ".rekindle/config.toml";

/// A command in a file of the project, which users of a clone should see before it runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectCommand {
    /// The file, as it is named in messages.
    pub file: &'static str,
    /// The key (`agents.claude.args`).
    pub key: String,
    /// The command in one printable line.
    pub text: String,
}

/// Returns the commands of both files that hold; those of the second one first.
pub(super) fn commands(team: &File, project: &File) -> Vec<ProjectCommand> {
    let of_team = of_file(TEAM, team).into_iter();
    let of_team = of_team.filter(|(key, _)| !project.puts_aside(key));
    let of_project = of_file(PROJECT, project).into_iter();
    of_project
        .chain(of_team)
        .map(|(_, command)| command)
        .collect()
}

/// Returns the commands of a file, each with its key as settings have it.
fn of_file(file: &'static str, of: &File) -> Vec<(String, ProjectCommand)> {
    let mut commands = Vec::new();
    let mut add = |(table, name): (&str, &str), key: &str, text: &str| {
        let (key, quoted) = if name.is_empty() {
            (joined(table, key), joined(table, key))
        } else {
            let key_of = |agent: String| format!("{agent}.{key}");
            (
                key_of(format!("{table}.{name}")),
                key_of(joined(table, name)),
            )
        };
        let text = printable(text).into_owned();
        commands.push((quoted, ProjectCommand { file, key, text }));
    };
    for (name, entry) in &of.agents {
        if let Some(Base::Command(command)) = &entry.base {
            add(("agents", name), "command", command);
        }
        for (key, words) in [("args", &entry.args), ("resume", &entry.resume)] {
            if let Some(words) = words {
                add(("agents", name), key, &words.join(" "));
            }
        }
    }
    let lists = [
        ("run", "verify", &of.run.verify),
        ("worktree", "setup", &of.worktree.setup),
        ("worktree", "teardown", &of.worktree.teardown),
    ];
    for (table, key, commands) in lists {
        for command in commands.iter().flatten() {
            add((table, ""), key, command);
        }
    }
    commands
}
