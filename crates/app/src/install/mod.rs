//! Setting other programs up to call rekindle, and taking that away again.
//!
//! An agent is one file of code with its [`Settings`]: where they are, and how they look with and
//! without what is ours, which is the hooks and the MCP server. What happens around that is the same
//! for all: the change is shown, a person agrees, and each file is written if it still is what was
//! shown. A target decides nothing for the user: what they must still approve in their agent is told
//! and never forged.

mod claude;
mod codex;
mod gemini;
mod hooks;
mod map;
mod opencode;
mod server;

use camino::{Utf8Path, Utf8PathBuf};
use rekindle_fs::Content;
use rekindle_world::{ReadError, World as _};

use crate::{Error, Face, Preset, Project};

/// An argument of ours in every command that is installed, by which it is known again. Commands take
/// it and ignore it; agents only see a word of a command.
const MARK: &str = "--installed";

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
    /// Every file that is looked at, in the order in which they are written.
    pub files: Vec<FileChange>,
    /// Whether the files that change were written.
    pub written: bool,
    /// What the user must still do, each a sentence.
    pub to_do: Vec<String>,
}

/// A file, and what changes in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileChange {
    /// The file.
    pub path: Utf8PathBuf,
    /// The lines that change, as a diff; nothing where all is as it should be.
    pub diff: String,
}

/// Why settings were not changed.
#[derive(Debug, thiserror::Error)]
pub enum InstallError {
    /// Nothing says where the user's settings are.
    #[error("your home folder is unknown: `HOME` is not set")]
    NoHome,
    /// The settings can not be edited.
    #[error("cannot edit `{path}`")]
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
    /// They can not be edited.
    #[error(transparent)]
    Toml(#[from] rekindle_text::TomlEditError),
    /// Somebody else made the file.
    #[error("it was not created by rekindle")]
    Foreign,
    /// Somebody else has given a server our name.
    #[error("it has a server `rekindle` that is not `rekindle mcp`")]
    ForeignServer,
}

/// A file of an agent's settings, which can be made to call rekindle.
trait Settings {
    /// Returns the file that is changed; `None` where nothing says where it is.
    fn path(&self, project: &Project, scope: Scope) -> Option<Utf8PathBuf>;

    /// Returns the settings with rekindle's part in its newest form.
    fn with(&self, settings: Option<&str>, program: &Program) -> Result<String, Unfit>;

    /// Returns the settings without rekindle's part; `None` where nothing else is in them.
    fn without(&self, settings: &str) -> Result<Option<String>, Unfit>;

    /// Returns what the user must still do after an installation, each a sentence.
    fn to_do(&self, scope: Scope) -> Vec<String>;
}

fn settings(agent: Preset) -> &'static [&'static dyn Settings] {
    match agent {
        Preset::Claude => &[&claude::Hooks, &claude::Servers],
        Preset::Codex => &[&codex::Hooks, &codex::Servers],
        Preset::Gemini => &[&gemini::Gemini],
        Preset::Opencode => &[&opencode::Opencode],
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

/// A file that is about to be written.
struct Change {
    path: Utf8PathBuf,
    scope: Scope,
    before: Option<Vec<u8>>,
    after: Option<String>,
}

impl Change {
    fn of(
        project: &Project,
        target: &dyn Settings,
        wish: Wish,
        scope: Scope,
    ) -> Result<Self, Error> {
        let path = target.path(project, scope).ok_or(InstallError::NoHome)?;
        let path = match scope {
            Scope::User => path,
            // A link in a cloned project must not lead to settings elsewhere.
            Scope::Project => rekindle_fs::confine_unlinked(project.folder(), &path)?,
        };
        let unfit = |source: Unfit| InstallError::Unfit {
            path: path.clone(),
            source,
        };
        let before = read(project, &path)?;
        let text = before.as_deref().map(std::str::from_utf8).transpose();
        let text = text.map_err(|_| unfit(Unfit::NotText))?;
        let after = match (wish, text) {
            (Wish::Install, text) => {
                let program = Program::of(project);
                Some(target.with(text, &program).map_err(unfit)?)
            }
            (Wish::Uninstall, Some(text)) => target.without(text).map_err(unfit)?,
            (Wish::Uninstall, None) => None,
        };
        Ok(Self {
            path,
            scope,
            before,
            after,
        })
    }

    fn new_bytes(&self) -> Option<&[u8]> {
        self.after.as_deref().map(str::as_bytes)
    }

    fn is_none(&self) -> bool {
        self.before.as_deref() == self.new_bytes()
    }

    fn shown(&self) -> FileChange {
        let old = self.before.as_deref().unwrap_or_default();
        FileChange {
            path: self.path.clone(),
            diff: rekindle_text::diff(old, self.new_bytes().unwrap_or_default()),
        }
    }

    fn question(&self) -> String {
        let FileChange { path, diff } = self.shown();
        let removes = self.after.is_none();
        let what = if removes { "removes" } else { "changes" };
        format!("This {what} `{path}`:\n{diff}")
    }

    fn make(&self) -> Result<(), Error> {
        let path = &self.path;
        match (&self.before, self.new_bytes()) {
            (None, Some(after)) => rekindle_fs::create(path, after)?,
            (Some(before), Some(after)) => {
                let replace = match self.scope {
                    // A home is often kept as links into a folder under version control.
                    Scope::User => rekindle_fs::replace_followed,
                    Scope::Project => rekindle_fs::replace,
                };
                replace(path, &Content::of(before), after)?;
            }
            (Some(before), None) => rekindle_fs::remove(path, &Content::of(before))?,
            (None, None) => {}
        }
        Ok(())
    }
}

fn prepare(project: &Project, agent: Preset, wish: Wish, scope: Scope) -> Result<Prepared, Error> {
    let mut files = Vec::new();
    let mut to_do = Vec::new();
    let mut changes = Vec::new();
    // Nothing is written before everything was found to be fit.
    for target in settings(agent) {
        let change = Change::of(project, *target, wish, scope)?;
        files.push(change.shown());
        if change.is_none() {
            continue;
        }
        if wish == Wish::Install {
            to_do.extend(target.to_do(scope));
        }
        changes.push(change);
    }
    let questions: Vec<String> = changes.iter().map(Change::question).collect();
    let is_something = !changes.is_empty();
    let deed = move || changes.iter().try_for_each(Change::make);
    Ok(Prepared {
        installation: Installation {
            files,
            written: false,
            to_do,
        },
        question: questions.concat(),
        deed: is_something.then(|| Box::new(deed) as _),
    })
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

/// What starts rekindle: its name if it is on the path, else where it is.
struct Program(String);

impl Program {
    fn of(project: &Project) -> Self {
        if Self::is_on_path(project) {
            return Self("rekindle".to_owned());
        }
        Self(project.program.to_string())
    }

    fn is_on_path(project: &Project) -> bool {
        let mut folders = std::env::split_paths(&project.search_path);
        folders.any(|folder| folder.join("rekindle").is_file())
    }

    /// Reads it from a word of a shell, as [`in_shell`](Self::in_shell) writes it.
    fn read(word: &str) -> Option<Self> {
        let inner = word
            .strip_prefix('\'')
            .and_then(|rest| rest.strip_suffix('\''));
        let program = Self(inner.unwrap_or(word).replace(r"'\''", "'"));
        (program.in_shell() == word).then_some(program)
    }

    fn is_rekindle(&self) -> bool {
        self.0.rsplit('/').next() == Some("rekindle")
    }

    /// Returns it for where no shell reads it.
    fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the same as a text of JSON.
    fn quoted(&self) -> String {
        quoted(&self.0)
    }

    /// Returns it as a word of a shell.
    fn in_shell(&self) -> String {
        rekindle_text::shell_word(&self.0).into_owned()
    }
}

/// Returns a text as JSON has it; paths and our own lines hold nothing else to escape.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', r"\\").replace('"', r#"\""#))
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
