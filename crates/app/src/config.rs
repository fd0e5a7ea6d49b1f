//! The configuration of the user and the project.

use camino::Utf8PathBuf;
use rekindle_agents::Config;
use rekindle_agents::config::File;
use rekindle_fs::Content;
use rekindle_text::{TomlTable, add_toml_table, toml_table};
use rekindle_world::{ReadError, World as _};

use crate::{Error, Project};

/// The largest configuration file that is read.
const LARGEST: u64 = 1024 * 1024;
/// The project's configuration.
const PROJECT_FILE: &str = ".rekindle/config.toml";

/// The configuration, and warnings about it.
#[derive(Debug)]
pub struct Configured {
    /// Both files merged; the project's values override the user's.
    pub config: Config,
    /// Unknown keys, one line each.
    pub warnings: Vec<String>,
}

/// Reads the user's and the project's configuration; a missing file is not an error.
pub fn configured(project: &Project) -> Result<Configured, Error> {
    let user =
        user_file(project).map_or_else(|| Ok(File::default()), |path| read(project, path))?;
    let project_file = read(project, project.folder().join(PROJECT_FILE))?;
    let unknown = user.warnings.iter().chain(&project_file.warnings);
    let unknown = unknown.map(ToString::to_string);
    let ignored = project_file.has_notify().then(|| {
        format!("`[notify]` in `{PROJECT_FILE}` is ignored: only your own configuration has it")
    });
    let warnings = unknown.chain(ignored).collect();
    Ok(Configured {
        config: Config::new(user, project_file),
        warnings,
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

/// Returns whether the project's configuration says something about an agent.
pub(crate) fn mentions(project: &Project, agent: &str) -> bool {
    let path = project.folder().join(PROJECT_FILE);
    let text = project.world().read(&path, LARGEST).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    !matches!(toml_table(&text, &["agents", agent]), Ok(None))
}

fn user_file(project: &Project) -> Option<Utf8PathBuf> {
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

fn read(project: &Project, path: Utf8PathBuf) -> Result<File, Error> {
    match project.world().read(&path, LARGEST) {
        Ok(bytes) => File::parse(&path, &String::from_utf8_lossy(&bytes)).map_err(Error::Config),
        Err(ReadError::NotFound) => Ok(File::default()),
        Err(reason @ (ReadError::Denied | ReadError::TooLarge { .. } | ReadError::Failed(_))) => {
            Err(Error::Unreadable { path, reason })
        }
    }
}
