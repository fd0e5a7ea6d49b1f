//! Writes a commented `rekindle.toml` for the agents that are installed.

use camino::Utf8PathBuf;
use rekindle_agents::Preset;
use rekindle_agents::config::Worktree;
use rekindle_world::World as _;

use crate::config::{PROJECT_FILE, TEAM_FILE};
use crate::proposal::{Proposal, propose};
use crate::{Error, Project, preflight};

/// What was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Initiated {
    /// The file.
    pub path: Utf8PathBuf,
    /// The built-in agents that are installed.
    pub agents: Vec<Preset>,
}

/// Writes the configuration that a team shares; an existing file is never changed.
///
/// A file with exactly this text was written by an earlier call, which may have died after that.
pub fn init(project: &Project) -> Result<Initiated, Error> {
    let path = project.folder().join(TEAM_FILE);
    let agents = preflight::installed_agents(project);
    let text = text(&agents, &propose(project, &Worktree::default()));
    match rekindle_fs::create(&path, text.as_bytes()) {
        Ok(()) => Ok(Initiated { path, agents }),
        Err(rekindle_fs::Error::Exists(path)) => {
            let found = project.world().read(&path, text.len() as u64);
            if found.is_ok_and(|found| found == text.as_bytes()) {
                Ok(Initiated { path, agents })
            } else {
                Err(Error::AlreadyConfigured { path })
            }
        }
        Err(error) => Err(Error::Files(error)),
    }
}

fn text(agents: &[Preset], proposal: &Proposal) -> String {
    let mut text = format!(
        "\
# Settings of rekindle for everybody who works on this project; add this file to git.
# `rekindle config` shows what holds and where it is from.
# Your own go before these, without being shared: `{PROJECT_FILE}`.
# Commands in this file are shown to everybody before they run for the first time.

[agent]
"
    );
    match agents {
        [] => text.push_str(
            "# No agent was found in `PATH`: install one of `claude`, `codex`, `gemini` and `opencode`.\n\
             # default = \"claude\"          # the agent of `rekindle run` without `--agent`\n",
        ),
        [first, others @ ..] => {
            let name = first.name();
            text.push_str(&format!(
                "default = \"{name}\"            # the agent of `rekindle run` without `--agent`\n"
            ));
            for other in others {
                text.push_str(&format!("# default = \"{}\"\n", other.name()));
            }
        }
    }
    for preset in agents {
        text.push_str(&of_agent(*preset));
    }
    text.push_str(
        "
# Any other program is an agent too; it gets the prompt on standard input.
# [agents.mine]
# command = \"my-agent --fast\"

[run]
# jobs = 4                      # how many tasks at once
# retries = 2                   # how often a failed task is tried again
# timeout = \"45m\"               # how long the agent, and each check after it, may take
# verify = [\"make test\"]        # what must succeed before a task lands
# max_cost = 5.0                # dollars of a whole run, with agents that report their cost

[worktree]
",
    );
    let lines = proposal.lines();
    if lines.is_empty() {
        text.push_str(
            "\
# setup = [\"make deps\"]         # prepares a new worktree
# copy = [\".env*\"]              # ignored files that it needs
",
        );
    } else {
        text.push_str("# What was found here: what the tasks' worktrees need besides a commit.\n");
    }
    for first in &proposal.first {
        text.push_str(&format!("# Before that: {first}.\n"));
    }
    for line in lines {
        text.push_str(&format!("{line}\n"));
    }
    text.push_str("# fresh = true                  # a new worktree for every task\n");
    text
}

/// Returns the table of an agent; permissions are not given by default.
fn of_agent(preset: Preset) -> String {
    let name = preset.name();
    let mut text = format!("\n# [agents.{name}]\n");
    if let Some(arguments) = preset.editing() {
        let line = preflight::line(&arguments);
        text.push_str(&format!(
            "# {line}   # lets it edit files without a person\n"
        ));
    }
    text.push_str("# timeout = \"30m\"\n");
    text
}

#[cfg(test)]
mod tests {
    use rekindle_agents::config::File;

    use super::*;

    #[test]
    fn the_file_is_valid_with_and_without_its_comments() {
        for n in 0..=Preset::ALL.len() {
            let proposal = Proposal {
                setup: vec!["npm ci".to_owned(); n.min(1)],
                first: vec!["add `node_modules/` to `.gitignore`".to_owned(); n.min(1)],
                ..Proposal::default()
            };
            let text = text(&Preset::ALL[..n], &proposal);
            let plain = File::parse("rekindle.toml".into(), &text).unwrap();
            assert_eq!(plain.warnings, []);
            // A person removes the marks of the lines that they want.
            let is_setting = |line: &str| line.contains(" = ") || line.starts_with('[');
            let lines = text.lines().map(|line| match line.strip_prefix("# ") {
                Some(rest) if is_setting(rest) && !rest.starts_with("default") => rest,
                Some(_) | None => line,
            });
            let lines: Vec<&str> = lines.collect();
            let all = File::parse("rekindle.toml".into(), &lines.join("\n")).unwrap();
            assert_eq!(all.warnings, []);
        }
    }
}
