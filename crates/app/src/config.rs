//! What the user and the project have configured.

use camino::Utf8PathBuf;
use rekindle_agents::Config;
use rekindle_agents::config::File;
use rekindle_world::{ReadError, World as _};

use crate::{Error, Project};

/// A configuration is a page, not a book.
const LARGEST: u64 = 1024 * 1024;

/// What is configured, and what a person should know of it.
#[derive(Debug)]
pub struct Configured {
    /// Both files together, the project's over the user's.
    pub config: Config,
    /// Keys that mean nothing, each a line.
    pub warnings: Vec<String>,
}

/// Reads the user's configuration and the project's; a file that is not there says nothing.
pub fn configured(project: &Project) -> Result<Configured, Error> {
    let user =
        user_file(project).map_or_else(|| Ok(File::default()), |path| read(project, path))?;
    let project_file = read(project, project.folder().join(".rekindle/config.toml"))?;
    let warnings = user
        .warnings
        .iter()
        .chain(&project_file.warnings)
        .map(ToString::to_string)
        .collect();
    Ok(Configured {
        config: Config::new(user, project_file),
        warnings,
    })
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
