//! Which agent does the work: the one that was typed, else the run's own, else the configured one.

use std::collections::BTreeSet;
use std::time::Duration;

use rekindle_agents::{Agent, Config};
use rekindle_model::{AgentChoice, Command, CommandRole, CommandSource};

use crate::engine::EngineOptions;
use crate::{Error, Project};

/// What a person typed about agents and workers.
#[derive(Debug, Clone)]
pub struct EngineWish {
    /// The agent.
    pub agent: Option<AgentChoice>,
    /// How many workers at once.
    pub jobs: Option<usize>,
    /// Whether every task gets a new worktree.
    pub fresh: bool,
    /// Whether tasks that were cut short start over instead of going on from where they were.
    pub restart: bool,
    /// The limit of costs, in millionths of a dollar.
    pub max_cost: Option<u64>,
    /// A worker that is silent for this long is given up.
    pub silent_after: Duration,
}

/// The agent that a run was started with.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OfRun<'a> {
    /// The agent.
    pub(crate) agent: &'a AgentChoice,
    /// The commands that this user agreed to for the run.
    pub(crate) agreed: &'a BTreeSet<String>,
}

/// The file of a run that names its agent.
const RECORD: &str = "rekindle-run.json";

/// Returns how a new run is to be done; `None` where no agent is named anywhere.
pub fn engine_options(
    project: &Project,
    wish: &EngineWish,
) -> Result<Option<EngineOptions>, Error> {
    options(&crate::configured(project)?.config, wish, None)
}

/// Returns how the tasks of a run, or those of another workflow, are to be done.
pub(crate) fn options(
    config: &Config,
    wish: &EngineWish,
    of_run: Option<OfRun<'_>>,
) -> Result<Option<EngineOptions>, Error> {
    let configured = || config.default_agent().map(ToOwned::to_owned);
    let configured = || configured().map(AgentChoice::Named);
    let (choice, command_from) = match (&wish.agent, of_run) {
        (Some(typed), _) => (typed.clone(), CommandSource::Typed),
        (None, Some(of_run)) => (of_run.agent.clone(), of_run.source()),
        (None, None) => match configured() {
            Some(choice) => (choice, config.default_from()),
            None => return Ok(None),
        },
    };
    let (agent, agent_from) = match &choice {
        AgentChoice::Command(command) => (Agent::shell(command), command_from),
        AgentChoice::Named(name) => {
            let agent = config.agent(name).map_err(Error::Config)?;
            let from = match (&wish.agent, of_run) {
                (None, None) => command_from,
                (Some(_), _) | (None, Some(_)) => config.source_of(&format!("agents.{name}.")),
            };
            (agent, from)
        }
    };
    let mut options = EngineOptions {
        agent_from,
        agent,
        choice,
        jobs: wish.jobs,
        default_jobs: config.run.jobs.get(),
        fresh: wish.fresh || config.worktree.fresh,
        outfit: outfit(config, &[CommandRole::Setup, CommandRole::Teardown]),
        worktree: config.worktree.clone(),
        restart: wish.restart,
        max_cost: wish.max_cost,
        default_max_cost: config.run.max_cost.map(millionths),
        silent_after: wish.silent_after,
    };
    // What a file of the project says now may be what the user agreed to when the run was started.
    if let (CommandSource::Project(_), Some(of_run)) = (&options.agent_from, of_run)
        && of_run.agreed.contains(&options.command().text)
    {
        options.agent_from = CommandSource::Agreed;
    }
    Ok(Some(options))
}

/// Returns the commands about worktrees, with who chose them.
pub(crate) fn outfit(config: &Config, roles: &[CommandRole]) -> Vec<Command> {
    let worktree = &config.worktree;
    let lists = [
        (CommandRole::Setup, "worktree.setup", &worktree.setup),
        (
            CommandRole::Teardown,
            "worktree.teardown",
            &worktree.teardown,
        ),
    ];
    let wanted = lists.into_iter().filter(|(role, ..)| roles.contains(role));
    let commands = wanted.flat_map(|(role, key, texts)| {
        let command = move |text: &String| Command {
            text: text.clone(),
            role,
            source: config.source_of(key),
            tasks: 0,
        };
        texts.iter().map(command)
    });
    commands.collect()
}

impl OfRun<'_> {
    /// Returns who chose the command: the record of a run is a file of the project, which counts as
    /// the user's own only if the user agreed to this very command here.
    fn source(self) -> CommandSource {
        match self.agent {
            AgentChoice::Command(command) if self.agreed.contains(command) => CommandSource::Agreed,
            AgentChoice::Command(_) | AgentChoice::Named(_) => {
                CommandSource::Project(RECORD.to_owned())
            }
        }
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a limit of money is positive and far below the range"
)]
fn millionths(dollars: f64) -> u64 {
    (dollars * 1e6).round() as u64
}

#[cfg(test)]
mod tests {
    use rekindle_agents::config::File;

    use super::*;

    fn named(name: &str) -> AgentChoice {
        AgentChoice::Named(name.to_owned())
    }

    fn wish(agent: Option<AgentChoice>) -> EngineWish {
        EngineWish {
            agent,
            fresh: false,
            restart: false,
            jobs: None,
            max_cost: None,
            silent_after: Duration::from_secs(1),
        }
    }

    #[test]
    fn the_typed_agent_comes_first_then_that_of_the_run_then_the_default() {
        let text = "[agent]\ndefault = \"codex\"\n";
        let config = Config::new(
            File::parse("config.toml".into(), text).unwrap(),
            File::default(),
            File::default(),
        );
        let none = BTreeSet::new();
        let (typed, recorded) = (named("gemini"), named("claude"));
        let of_run = Some(OfRun {
            agent: &recorded,
            agreed: &none,
        });
        for (config, typed, of_run, expected) in [
            (&config, Some(typed), of_run, Some("gemini")),
            (&config, None, of_run, Some("claude")),
            (&config, None, None, Some("codex")),
            (&Config::default(), None, of_run, Some("claude")),
            (&Config::default(), None, None, None),
        ] {
            let found = options(config, &wish(typed), of_run).unwrap();
            let name = found.map(|found| found.agent.name);
            assert_eq!(name.as_deref(), expected);
        }
    }

    #[test]
    fn a_configured_command_is_the_users_own_only_if_it_was_agreed_to_for_the_run() {
        let text = "[agents.mine]\ncommand = \"./agent\"\n";
        let team = File::parse("rekindle.toml".into(), text).unwrap();
        let config = Config::new(File::default(), team, File::default());
        let mine = named("mine");
        let source = |agreed: &[&str]| {
            let agreed = agreed.iter().map(|text| (*text).to_owned()).collect();
            let of_run = OfRun {
                agent: &mine,
                agreed: &agreed,
            };
            let found = options(&config, &wish(None), Some(of_run));
            found.unwrap().unwrap().agent_from
        };
        assert_eq!(source(&["./agent"]), CommandSource::Agreed);
        let team = CommandSource::Project("rekindle.toml".to_owned());
        assert_eq!(source(&["./agent --fast"]), team);
        assert_eq!(source(&[]), team);
    }

    #[test]
    fn a_recorded_command_is_the_users_own_only_if_it_was_agreed_to_here() {
        let command = AgentChoice::Command("./agent".to_owned());
        let source = |agreed: &[&str]| {
            let agreed = agreed.iter().map(|text| (*text).to_owned()).collect();
            let of_run = OfRun {
                agent: &command,
                agreed: &agreed,
            };
            let found = options(&Config::default(), &wish(None), Some(of_run));
            found.unwrap().unwrap().agent_from
        };
        assert_eq!(source(&["./agent"]), CommandSource::Agreed);
        let foreign = CommandSource::Project(RECORD.to_owned());
        assert_eq!(source(&["./agent "]), foreign);
        assert_eq!(source(&[]), foreign);
    }
}
