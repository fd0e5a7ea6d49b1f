//! The configuration of the user, the team and the project.

use camino::{Utf8Path, Utf8PathBuf};
use rekindle_agents::Config;
use rekindle_agents::config::File;
use rekindle_fs::Content;
use rekindle_text::{TomlTable, add_toml_table, toml_table};
use rekindle_world::{ReadError, World as _};

use crate::{Error, Project};

/// The largest configuration file that is read.
const LARGEST: u64 = 1024 * 1024;
/// The configuration that a team shares.
pub(crate) const TEAM_FILE: &str = "rekindle.toml";
/// The user's configuration for the project.
pub(crate) const PROJECT_FILE: &str = ".rekindle/config.toml";

/// The configuration, and warnings about it.
#[derive(Debug)]
pub struct Configured {
    /// All files merged; the project's values override the team's, and those the user's.
    pub config: Config,
    /// Unknown keys, one line each.
    pub warnings: Vec<String>,
    /// The files in the order in which they count, the last one most.
    pub files: Vec<ConfigFile>,
}

/// A file of the configuration, which need not be there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigFile {
    /// Its path.
    pub path: Utf8PathBuf,
    /// Whose it is.
    pub owner: ConfigOwner,
    /// Whether it is there.
    pub exists: bool,
}

/// Whose settings a file has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConfigOwner {
    /// The user's, for every project.
    User,
    /// Those of everybody who works on the project.
    Team,
    /// The user's, for this project.
    Project,
}

impl ConfigOwner {
    /// Returns the word used in JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Team => "team",
            Self::Project => "project",
        }
    }
}

/// Reads the configuration; a missing file is not an error.
pub fn configured(project: &Project) -> Result<Configured, Error> {
    let mut files = Vec::new();
    let mut read = |path: Utf8PathBuf, owner: ConfigOwner| {
        let found = read(project, &path)?;
        let exists = found.is_some();
        files.push(ConfigFile {
            path,
            owner,
            exists,
        });
        Ok::<File, Error>(found.unwrap_or_default())
    };
    let user = match user_file(project) {
        Some(path) => read(path, ConfigOwner::User)?,
        None => File::default(),
    };
    let team = read(project.folder().join(TEAM_FILE), ConfigOwner::Team)?;
    let of_project = read(project.folder().join(PROJECT_FILE), ConfigOwner::Project)?;
    let unknown = [&user, &team, &of_project].map(|file| &file.warnings);
    let unknown = unknown.into_iter().flatten().map(ToString::to_string);
    let ignored = [(TEAM_FILE, &team), (PROJECT_FILE, &of_project)]
        .into_iter()
        .filter(|(_, file)| file.has_notify())
        .map(|(name, _)| {
            format!("`[notify]` in `{name}` is ignored: only your own configuration has it")
        });
    let warnings = unknown.chain(ignored).collect();
    Ok(Configured {
        config: Config::new(user, team, of_project),
        warnings,
        files,
    })
}

/// Adds arguments of an agent to the project's configuration, which has no table for it yet.
pub(crate) fn set_arguments(
    project: &Project,
    agent: &str,
    arguments: &[String],
) -> Result<(), Error> {
    project.state().ensure()?;
    let path = project.folder().join(PROJECT_FILE);
    let found = rekindle_fs::read_within(project.folder(), &path, LARGEST)?;
    let before = found.as_deref().map_or(Content::Absent, Content::of);
    let text = String::from_utf8_lossy(&found.unwrap_or_default()).into_owned();
    let table = TomlTable {
        lists: vec![("args".to_owned(), arguments.to_vec())],
        ..TomlTable::default()
    };
    let edited = add_toml_table(Some(&text), &["agents", agent], &table);
    let after = edited.map_err(|error| Error::NotConfigured {
        path: path.clone(),
        source: error,
    })?;
    rekindle_fs::replace(&path, &before, after.as_bytes())?;
    Ok(())
}

/// Returns whether a file of the project says something about an agent.
pub(crate) fn mentions(project: &Project, agent: &str) -> bool {
    [TEAM_FILE, PROJECT_FILE].iter().any(|name| {
        let path = project.folder().join(name);
        let text = project.world().read(&path, LARGEST).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        !matches!(toml_table(&text, &["agents", agent]), Ok(None))
    })
}

pub(crate) fn user_file(project: &Project) -> Option<Utf8PathBuf> {
    let variable = |name: &str| {
        project
            .variables
            .get(name)
            .filter(|value| value.starts_with('/'))
    };
    let folder = variable("XDG_CONFIG_HOME")
        .map(Utf8PathBuf::from)
        .or_else(|| variable("HOME").map(|home| Utf8PathBuf::from(home).join(".config")))?;
    Some(folder.join("rekindle/config.toml"))
}

fn read(project: &Project, path: &Utf8Path) -> Result<Option<File>, Error> {
    match project.world().read(path, LARGEST) {
        Ok(bytes) => {
            let file = File::parse(path, &String::from_utf8_lossy(&bytes));
            file.map(Some).map_err(Error::Config)
        }
        Err(ReadError::NotFound) => Ok(None),
        Err(reason @ (ReadError::Denied | ReadError::TooLarge { .. } | ReadError::Failed(_))) => {
            let path = path.to_owned();
            Err(Error::Unreadable { path, reason })
        }
    }
}
