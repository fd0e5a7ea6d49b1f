//! Setting other programs up to call rekindle, and taking that away again.
//!
//! An agent is one file with its [`Settings`]: where they are, and how they look with and
//! without what is ours. What happens around that is the same for all: the change is shown, a person
//! agrees, and the file is written if it still is what was shown. A target decides nothing for the
//! user: what they must still approve in their agent is told and never forged.

mod claude;
mod codex;
mod gemini;
mod hooks;
mod map;
mod opencode;

use camino::{Utf8Path, Utf8PathBuf};
use rekindle_fs::Content;
use rekindle_world::{ReadError, World as _};

use crate::{Error, Face, Preset, Project};

/// Settings are a page, not a book.
const LARGEST: u64 = 4 * 1024 * 1024;

/// Whose settings are changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// The user's, for all projects.
    User,
    /// The project's, for all who work on it.
    Project,
}

impl Scope {
    /// Returns the word used in text and JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Project => "project",
        }
    }
}

/// What is to be done with a target's settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wish {
    /// rekindle's part is to be there, in its newest form.
    Install,
    /// rekindle's part is to be gone.
    Uninstall,
}

/// How far a change of settings may go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Consent {
    /// It is only shown.
    Show,
    /// A person is asked.
    Ask,
    /// A person has agreed beforehand.
    Given,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Installation {
    /// The file.
    pub path: Utf8PathBuf,
    /// The lines that change, as a diff; nothing where all is as it should be.
    pub diff: String,
    /// Whether the file was written.
    pub written: bool,
    /// What the user must still do, each a sentence.
    pub to_do: Vec<String>,
}

/// Why settings were not changed.
#[derive(Debug, thiserror::Error)]
pub enum InstallError {
    /// Nothing says where the user's settings are.
    #[error("nothing says where your home is")]
    NoHome,
    /// The settings can not be edited.
    #[error("`{path}` can not be changed as it is")]
    Unfit {
        /// The file.
        path: Utf8PathBuf,
        /// Why.
        source: Unfit,
    },
}

/// What is wrong with settings.
#[derive(Debug, thiserror::Error)]
pub enum Unfit {
    /// They can not be edited.
    #[error(transparent)]
    Json(#[from] rekindle_text::JsonEditError),
    /// They are not UTF-8.
    #[error("it is not UTF-8")]
    NotText,
    /// Somebody else made the file.
    #[error("somebody else made it")]
    Foreign,
}

/// An agent whose settings can be made to call rekindle.
trait Settings {
    /// Returns the file that is changed; `None` where nothing says where it is.
    fn path(&self, project: &Project, scope: Scope) -> Option<Utf8PathBuf>;

    /// Returns the settings with rekindle's part in its newest form; `command` starts rekindle.
    fn with(&self, settings: Option<&str>, command: &str) -> Result<String, Unfit>;

    /// Returns the settings without rekindle's part; `None` where nothing else is in them.
    fn without(&self, settings: &str) -> Result<Option<String>, Unfit>;

    /// Returns what the user must still do after an installation, each a sentence.
    fn to_do(&self, scope: Scope) -> Vec<String>;
}

fn settings(agent: Preset) -> &'static dyn Settings {
    match agent {
        Preset::Claude => &claude::Claude,
        Preset::Codex => &codex::Codex,
        Preset::Gemini => &gemini::Gemini,
        Preset::Opencode => &opencode::Opencode,
    }
}

/// What can be set up to call rekindle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// A coding agent.
    Agent(Preset),
    /// The scripts of a MAP project.
    Map,
}

impl Target {
    /// Returns the word used in text and JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Agent(agent) => agent.name(),
            Self::Map => "map",
        }
    }
}

/// Sets something up to call rekindle, or takes that away; shows the change and asks as it is told.
pub fn install(
    project: &Project,
    target: Target,
    wish: Wish,
    scope: Scope,
    consent: Consent,
    face: &mut dyn Face,
) -> Result<Installation, Error> {
    let prepared = match target {
        Target::Agent(agent) => prepare(project, agent, wish, scope)?,
        Target::Map => map::prepare(project, wish)?,
    };
    let mut installation = prepared.installation;
    let Some(deed) = prepared.deed else {
        return Ok(installation);
    };
    let agreed = match consent {
        Consent::Show => false,
        Consent::Given => true,
        Consent::Ask => face.agree(&prepared.question),
    };
    if agreed {
        deed()?;
        installation.written = true;
    }
    Ok(installation)
}

/// What is about to be done: in words, and as the deed itself.
struct Prepared {
    installation: Installation,
    question: String,
    /// `None` where all is as it should be.
    deed: Option<Box<dyn FnOnce() -> Result<(), Error>>>,
}

fn prepare(project: &Project, agent: Preset, wish: Wish, scope: Scope) -> Result<Prepared, Error> {
    let target = settings(agent);
    let path = target.path(project, scope).ok_or(InstallError::NoHome)?;
    let path = match scope {
        Scope::User => path,
        // A link in a cloned project must not lead to settings elsewhere.
        Scope::Project => rekindle_fs::confine(project.folder(), &path)?,
    };
    let unfit = |source: Unfit| InstallError::Unfit {
        path: path.clone(),
        source,
    };
    let before = read(project, &path)?;
    let text = before.as_deref().map(std::str::from_utf8).transpose();
    let text = text.map_err(|_| unfit(Unfit::NotText))?;
    let after = match (wish, text) {
        (Wish::Install, text) => Some(target.with(text, &command(project)).map_err(unfit)?),
        (Wish::Uninstall, Some(text)) => target.without(text).map_err(unfit)?,
        (Wish::Uninstall, None) => None,
    };
    let (old, new) = (
        before.as_deref().unwrap_or_default(),
        after.as_deref().unwrap_or_default().as_bytes(),
    );
    let diff = rekindle_text::diff(old, new);
    let is_as_wished = text == after.as_deref();
    let installation = Installation {
        diff,
        written: false,
        to_do: match wish {
            Wish::Install if !is_as_wished => target.to_do(scope),
            Wish::Install | Wish::Uninstall => Vec::new(),
        },
        path: path.clone(),
    };
    let question = question(&installation, after.is_none());
    let deed = move || write(&path, before.as_deref(), after.as_deref());
    Ok(Prepared {
        installation,
        question,
        deed: (!is_as_wished).then(|| Box::new(deed) as _),
    })
}

fn question(installation: &Installation, is_removed: bool) -> String {
    let Installation { path, diff, .. } = installation;
    let what = if is_removed { "removes" } else { "changes" };
    format!("This {what} `{path}`:\n{diff}")
}

fn read(project: &Project, path: &Utf8Path) -> Result<Option<Vec<u8>>, Error> {
    match project.world().read(path, LARGEST) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(ReadError::NotFound) => Ok(None),
        Err(reason @ (ReadError::Denied | ReadError::TooLarge { .. } | ReadError::Failed(_))) => {
            Err(Error::Unreadable {
                path: path.to_owned(),
                reason,
            })
        }
    }
}

fn write(path: &Utf8Path, before: Option<&[u8]>, after: Option<&str>) -> Result<(), Error> {
    match (before, after) {
        (None, Some(after)) => rekindle_fs::create(path, after.as_bytes())?,
        (Some(before), Some(after)) => {
            rekindle_fs::replace(path, &Content::of(before), after.as_bytes())?;
        }
        (Some(before), None) => rekindle_fs::remove(path, &Content::of(before))?,
        (None, None) => {}
    }
    Ok(())
}

/// Returns what starts rekindle in a shell: its name if it is on the path, else where it is.
fn command(project: &Project) -> String {
    let mut folders = std::env::split_paths(&project.search_path);
    if folders.any(|folder| folder.join("rekindle").is_file()) {
        return "rekindle".to_owned();
    }
    let path = project.program.as_str();
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./".contains(c);
    if path.chars().all(is_plain) {
        path.to_owned()
    } else {
        format!("'{}'", path.replace('\'', r"'\''"))
    }
}

/// Returns the folder that a variable names, where there is one for it, or one in the home.
fn home(project: &Project, variable: Option<&str>, name: &str) -> Option<Utf8PathBuf> {
    let folder = |name: &str| {
        let value = project.variables.get(name);
        value
            .filter(|value| value.starts_with('/'))
            .map(Utf8PathBuf::from)
    };
    variable
        .and_then(folder)
        .or_else(|| Some(folder("HOME")?.join(name)))
}
