//! The configuration of the user and the project.

use camino::Utf8PathBuf;
use rekindle_agents::Config;
use rekindle_agents::config::File;
use rekindle_world::{ReadError, World as _};

use crate::{Error, Project};

/// The largest configuration file that is read.
const LARGEST: u64 = 1024 * 1024;

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
