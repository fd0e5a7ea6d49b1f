//! Bifrost's validators, for the files of a feature or for single files.

use camino::{Utf8Path, Utf8PathBuf};
use rekindle_protocol::capability::Validation;
use rekindle_world::World;

use crate::{Error, Project};

/// The largest page that is read.
const LARGEST: u64 = 2 * 1024 * 1024;

/// What to validate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Validated {
    /// The spec of a feature, and its plan if it has one.
    Feature(String),
    /// A spec.
    Spec(Utf8PathBuf),
    /// A plan, and the rules to compare it with.
    Plan {
        /// The plan.
        path: Utf8PathBuf,
        /// The rules.
        rules: Option<Utf8PathBuf>,
    },
}

/// Runs the validators; each report is that of a script.
pub fn validate(project: &Project, what: &Validated) -> Result<Vec<Validation>, Error> {
    let Some((_, validator)) = rekindle_registry::validator() else {
        return Ok(Vec::new());
    };
    let world = project.world();
    let read = |path: &Utf8Path| text(&world, project.typed_path(path));
    let has = |path: &Utf8Path| world.is_file(&project.typed_path(path));
    match what {
        Validated::Spec(path) => Ok(vec![validator.spec(path.as_str(), read(path)?.as_deref())]),
        Validated::Plan { path, rules } => {
            let has_rules = rules.as_deref().is_some_and(has);
            let text = read(path)?;
            Ok(vec![validator.plan(
                path.as_str(),
                text.as_deref(),
                has_rules,
            )])
        }
        Validated::Feature(name) => {
            let not_chosen = |finding| Error::NotChosen {
                finding: Box::new(finding),
            };
            validator.workflow(&world, name).map_err(not_chosen)
        }
    }
}

/// Returns the contents of a named file, or `None` if it does not exist.
fn text(world: &dyn World, path: Utf8PathBuf) -> Result<Option<String>, Error> {
    match world.read(&path, LARGEST) {
        Ok(bytes) => Ok(Some(String::from_utf8_lossy(&bytes).into_owned())),
        Err(reason) if reason.is_not_found() => Ok(None),
        Err(reason) => Err(Error::Unreadable { path, reason }),
    }
}
