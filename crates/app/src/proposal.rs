//! What the worktrees of a project seem to need, found out by looking at it: lock files, ignored
//! files of variables, submodules, git-lfs, size. `doctor` shows it, and `init` writes it into a
//! configuration.

use rekindle_agents::config::Worktree;
use rekindle_git::{Program, Repo, RepoPath};
use rekindle_world::World as _;

use crate::Project;

/// A way to install what a project depends on.
struct Manager {
    /// Which of several for one language comes first, by order in the table.
    language: &'static str,
    /// The file that pins the versions.
    lock: &'static str,
    /// A file that has to be there too; empty for none.
    with: &'static str,
    /// The command that changes no file that git knows.
    setup: &'static str,
    /// What it makes in the project's folder, which git has to ignore; empty for nothing.
    makes: &'static str,
}

const fn manager(
    language: &'static str,
    lock: &'static str,
    with: &'static str,
    setup: &'static str,
    makes: &'static str,
) -> Manager {
    Manager {
        language,
        lock,
        with,
        setup,
        makes,
    }
}

/// Cargo and Go are missing on purpose: they fetch and build what a check needs by themselves.
const MANAGERS: &[Manager] = &[
    manager(
        "node",
        "pnpm-lock.yaml",
        "",
        "pnpm install --frozen-lockfile --prefer-offline",
        "node_modules",
    ),
    manager(
        "node",
        "yarn.lock",
        ".yarnrc.yml",
        "yarn install --immutable",
        "node_modules",
    ),
    manager(
        "node",
        "yarn.lock",
        "",
        "yarn install --frozen-lockfile --prefer-offline",
        "node_modules",
    ),
    manager(
        "node",
        "bun.lock",
        "",
        "bun install --frozen-lockfile",
        "node_modules",
    ),
    manager(
        "node",
        "bun.lockb",
        "",
        "bun install --frozen-lockfile",
        "node_modules",
    ),
    manager(
        "node",
        "package-lock.json",
        "",
        "npm ci --prefer-offline --no-audit --no-fund",
        "node_modules",
    ),
    manager(
        "node",
        "npm-shrinkwrap.json",
        "",
        "npm ci --prefer-offline --no-audit --no-fund",
        "node_modules",
    ),
    manager("python", "uv.lock", "", "uv sync --frozen", ".venv"),
    manager(
        "python",
        "poetry.lock",
        "",
        "poetry install --no-interaction",
        "",
    ),
    manager("python", "Pipfile.lock", "", "pipenv sync", ""),
    manager(
        "python",
        "requirements.txt",
        "",
        "python3 -m venv .venv && .venv/bin/pip install --quiet -r requirements.txt",
        ".venv",
    ),
    manager("ruby", "Gemfile.lock", "", "bundle install", ""),
    manager(
        "php",
        "composer.lock",
        "",
        "composer install --no-interaction",
        "vendor",
    ),
    manager("elixir", "mix.lock", "", "mix deps.get", "deps"),
];

/// The pattern of files of variables.
const VARIABLES: &str = ".env*";
/// From so many files on, the size of a repository is worth a word.
const MANY_FILES: usize = 50_000;
/// So many names are shown.
const MOST_NAMES: usize = 3;
/// The largest `.gitattributes` and `.gitmodules`.
const LARGEST: u64 = 1024 * 1024;

/// What was seen, and what of `[worktree]` would help.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Proposal {
    /// What was seen, in a few words each.
    pub(crate) seen: Vec<String>,
    /// Commands that install what the project depends on, and the files on which they depend.
    pub(crate) setup: Vec<String>,
    /// Files on which the setup depends.
    pub(crate) setup_when: Vec<String>,
    /// Ignored files that a worktree lacks.
    pub(crate) copy: Vec<String>,
    /// What to do first, in a sentence each.
    pub(crate) first: Vec<String>,
}

/// Looks at a project. What its configuration says already is not proposed.
pub(crate) fn propose(project: &Project, configured: &Worktree) -> Proposal {
    let world = project.world();
    let is_file = |name: &str| world.is_file(&project.folder().join(name));
    let mut proposal = Proposal::default();
    let git = Program::find(&project.search_path).ok();
    let repo = git.map(|program| Repo::at(&program, project.folder()));
    let repo = repo.filter(|repo| repo.top_level().is_ok());
    let mut languages: Vec<&str> = Vec::new();
    for manager in MANAGERS {
        let is_here = is_file(manager.lock) && (manager.with.is_empty() || is_file(manager.with));
        if !is_here || languages.contains(&manager.language) {
            continue;
        }
        languages.push(manager.language);
        proposal.seen.push(format!("`{}`", manager.lock));
        if !configured.setup.is_empty() {
            continue;
        }
        proposal.setup.push(manager.setup.to_owned());
        proposal.setup_when.push(manager.lock.to_owned());
        // As a folder, which need not be there yet.
        let made = [RepoPath::from(&*format!("{}/", manager.makes))];
        let ignored = |repo: &Repo| repo.ignored_like(&[], None, &made).unwrap_or_default();
        let is_ignored = repo.as_ref().is_none_or(|repo| !ignored(repo).is_empty());
        if !manager.makes.is_empty() && !is_ignored {
            let first = format!("add `{}/` to `.gitignore`", manager.makes);
            proposal.first.push(first);
        }
    }
    let Some(repo) = repo else {
        return proposal;
    };
    let variables = repo.ignored_like(&[VARIABLES.to_owned()], None, &[]);
    let is_own = |path: &&RepoPath| !path.is_within(&".rekindle".into());
    let variables = variables.unwrap_or_default();
    let names: Vec<String> = variables
        .iter()
        .filter(is_own)
        .map(RepoPath::to_string)
        .collect();
    if !names.is_empty() {
        let shown = names
            .iter()
            .take(MOST_NAMES)
            .map(|name| format!("`{name}`"));
        let shown: Vec<String> = shown.collect();
        let more = match names.len().saturating_sub(MOST_NAMES) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        proposal
            .seen
            .push(format!("{}{more}, which git ignores", shown.join(", ")));
        if configured.copy.is_empty() && !is_file(".worktreeinclude") {
            proposal.copy.push(VARIABLES.to_owned());
        }
    }
    let text = |name: &str| {
        let bytes = world.read(&project.folder().join(name), LARGEST);
        String::from_utf8_lossy(&bytes.unwrap_or_default()).into_owned()
    };
    let submodules = text(".gitmodules").matches("[submodule ").count();
    if submodules > 0 {
        let seen = format!("{submodules} submodules, which come from the objects of this checkout");
        proposal.seen.push(seen);
    }
    if text(".gitattributes").contains("filter=lfs") {
        proposal
            .seen
            .push("git-lfs, whose files come from its local store".to_owned());
    }
    let files = repo.n_tracked().unwrap_or_default();
    if files >= MANY_FILES {
        proposal.seen.push(format!("{files} files"));
    }
    proposal
}

impl Proposal {
    /// Returns whether nothing is missing.
    pub(crate) fn is_nothing(&self) -> bool {
        self.setup.is_empty() && self.copy.is_empty()
    }

    /// Returns the lines of `[worktree]` that would help, without the name of the table.
    pub(crate) fn lines(&self) -> Vec<String> {
        let lists = [
            ("setup", &self.setup),
            ("setup_when", &self.setup_when),
            ("copy", &self.copy),
        ];
        let wanted = lists.into_iter().filter(|(_, list)| !list.is_empty());
        let line = |(key, list): (&str, &Vec<String>)| {
            // None of these texts has a character that has to be escaped.
            let list: Vec<String> = list.iter().map(|text| format!("\"{text}\"")).collect();
            format!("{key} = [{}]", list.join(", "))
        };
        wanted.map(line).collect()
    }
}

#[cfg(test)]
mod tests {
    use rekindle_agents::Config;
    use rekindle_agents::config::File;

    use super::*;

    #[test]
    fn what_is_proposed_is_a_valid_section() {
        let proposal = Proposal {
            setup: MANAGERS.iter().map(|one| one.setup.to_owned()).collect(),
            setup_when: MANAGERS.iter().map(|one| one.lock.to_owned()).collect(),
            copy: vec![VARIABLES.to_owned()],
            ..Proposal::default()
        };
        let text = format!("[worktree]\n{}\n", proposal.lines().join("\n"));
        let file = File::parse("config.toml".into(), &text).unwrap();
        assert_eq!(file.warnings, []);
        let config = Config::new(File::default(), File::default(), file);
        assert_eq!(config.worktree.setup, proposal.setup);
        assert_eq!(config.worktree.setup_when, proposal.setup_when);
        assert_eq!(config.worktree.copy, proposal.copy);
        assert!(Proposal::default().lines().is_empty());
    }
}
