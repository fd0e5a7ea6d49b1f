//! What a person may mean next while they type: workflows, tasks, agents and backups with a word about each.

use rekindle_git::{Program, Repo};
use rekindle_text::{excerpt, is_plain_word};

use crate::choose::inspect_world;
use crate::{Error, Listing, Project, Query, configured, gives_way, picture, rescues, status};

/// The longest word, in bytes.
const LONGEST_WORD: usize = 200;
/// The longest description.
const LONGEST: usize = 60;

/// A word that may be typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// The word, which means the same in every shell without quotes.
    pub word: String,
    /// What it is, in one printable line.
    pub about: String,
}

impl Candidate {
    /// Returns a candidate; `None` for a word that a shell could take for something else, since shells
    /// put it on the command line as it is.
    fn new(word: &str, about: &str) -> Option<Self> {
        let is_safe = is_plain_word(word, LONGEST_WORD) && !word.starts_with('-');
        is_safe.then(|| Self {
            word: word.to_owned(),
            about: excerpt(about, LONGEST),
        })
    }
}

/// Returns the workflows in the order of the overview: what needs the person comes first.
///
/// The name alone is offered where it is enough, since bash takes a colon for the end of a word.
pub fn candidate_workflows(project: &Project) -> Vec<Candidate> {
    let overview = status(
        project,
        Listing {
            all: true,
            ..Listing::default()
        },
    );
    let (mut lines, _) = overview.lines();
    // Sessions are many, and they come after what a person started here.
    lines.sort_by_key(|line| gives_way(line.summary));
    let is_unique = |name: &str| {
        let same = lines.iter().filter(|line| line.summary.id.name == name);
        same.count() == 1
    };
    let candidates = lines.iter().filter_map(|line| {
        let id = &line.summary.id;
        let word = if is_unique(&id.name) && !id.name.contains(':') {
            id.name.clone()
        } else {
            id.to_string()
        };
        let title = line.summary.view.title.as_deref().unwrap_or_default();
        let about = format!("{} {title}", line.condition.as_str());
        Candidate::new(&word, about.trim())
    });
    candidates.collect()
}

/// Returns the tasks of the named workflow, else of the one at work or the newest.
pub fn candidate_tasks(project: &Project, workflow: Option<&str>) -> Vec<Candidate> {
    let query = match workflow {
        Some(name) => Query {
            protocol: rekindle_registry::split(name).0,
            name: Some(name.to_owned()),
            ..Query::default()
        },
        None => match picture::newest(project) {
            Some(id) => Query::only(&id),
            None => return Vec::new(),
        },
    };
    let world = project.world();
    let found = inspect_world(&world, &query).ok();
    let history = found.and_then(|inspected| inspected.case.history(&world));
    let tasks = history.into_iter().flat_map(|history| history.tasks);
    tasks
        .filter_map(|task| Candidate::new(&task.id, &task.title))
        .collect()
}

/// Returns the agents that are built in or configured.
pub fn candidate_agents(project: &Project) -> Result<Vec<Candidate>, Error> {
    let config = configured(project)?.config;
    let default = config.default_agent();
    let about = |name: &str| match config.agent(name) {
        Ok(_) if default == Some(name) => "the default",
        Ok(agent) if agent.is_shell() => "a command of the configuration",
        Ok(_) => "a coding agent",
        Err(_) => "not complete in the configuration",
    };
    let names = config.agents().into_iter();
    Ok(names
        .filter_map(|name| Candidate::new(&name, about(&name)))
        .collect())
}

/// Returns the branches of runs, and the backups and workflows.
pub fn candidate_prunables(project: &Project) -> Result<Vec<Candidate>, Error> {
    let program = Program::find(&project.search_path).map_err(Error::Git)?;
    let branches = Repo::at(&program, project.folder()).branches_below(crate::prune::OURS);
    let branches = branches.map_err(Error::Git)?.into_iter();
    let mut found: Vec<Candidate> = branches
        .filter_map(|branch| Candidate::new(&branch.name, "a branch"))
        .collect();
    found.extend(candidate_rescues(project)?);
    found.extend(candidate_workflows(project));
    Ok(found)
}

/// Returns the backups.
pub fn candidate_rescues(project: &Project) -> Result<Vec<Candidate>, Error> {
    let found = rescues(project, None)?.into_iter();
    Ok(found
        .filter_map(|rescue| Candidate::new(rescue.short_name(), &rescue.task))
        .collect())
}
