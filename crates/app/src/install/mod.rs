//! Sets up other programs to call rekindle, and removes that again.
//!
//! Each agent is one file with its [`Settings`]: their path, and their contents with and without our
//! part, which is the hooks and the MCP server. The rest is the same for all: the change is shown, a
//! person agrees, and each file is written if it has not changed since. What the user must still approve
//! in their agent is reported, never forged.

mod codex;
mod hooks;
mod json;
mod map;
mod opencode;
mod server;

use camino::{Utf8Path, Utf8PathBuf};
use rekindle_fs::Content;
use rekindle_world::{ReadError, World as _};

use crate::{Error, Face, Preset, Project};

/// The mark in every installed command, by which it is recognized. Commands accept and ignore it.
const MARK: &str = "--installed";

/// The largest settings file that is read.
const LARGEST: u64 = 4 * 1024 * 1024;

/// The scope of the settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// The user's, for all projects.
    User,
    /// The project's, for everyone who works on it.
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

/// The requested change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wish {
    /// Add rekindle's part in its newest form.
    Install,
    /// Remove rekindle's part.
    Uninstall,
}

/// Whether a change may be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Consent {
    /// Only show it.
    Show,
    /// Ask a person.
    Ask,
    /// A person has agreed with `--yes`.
    Given,
}

/// The result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Installation {
    /// Every file that is checked, in the order in which they are written.
    pub files: Vec<FileChange>,
    /// Whether changed files were written.
    pub written: bool,
    /// What the user must still do, one sentence each.
    pub to_do: Vec<String>,
}

/// A file and its changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileChange {
    /// The file.
    pub path: Utf8PathBuf,
    /// The changes as a diff; empty if there are none.
    pub diff: String,
}

/// Why settings were not changed.
#[derive(Debug, thiserror::Error)]
pub enum InstallError {
    /// The user's home folder is unknown.
    #[error("your home folder is unknown: `HOME` is not set")]
    NoHome,
    /// The settings cannot be edited.
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
    /// They are not valid JSON, or have an unexpected form.
    #[error(transparent)]
    Json(#[from] rekindle_text::JsonEditError),
    /// They are not UTF-8.
    #[error("it is not UTF-8")]
    NotText,
    /// They are not valid TOML, or have an unexpected form.
    #[error(transparent)]
    Toml(#[from] rekindle_text::TomlEditError),
    /// Another program created the file.
    #[error("it was not created by rekindle")]
    Foreign,
    /// Another server has our name.
    #[error("it has a server `rekindle` that is not `rekindle mcp`")]
    ForeignServer,
}

/// A settings file of an agent that can be made to call rekindle.
trait Settings {
    /// Returns the path of the file; `None` if it is unknown.
    fn path(&self, project: &Project, scope: Scope) -> Option<Utf8PathBuf>;

    /// Returns the settings with rekindle's part in its newest form.
    fn with(&self, settings: Option<&str>, program: &Program) -> Result<String, Unfit>;

    /// Returns the settings without rekindle's part; `None` if nothing else is in them.
    fn without(&self, settings: &str) -> Result<Option<String>, Unfit>;

    /// Returns what the user must still do after an installation, one sentence each.
    fn to_do(&self, scope: Scope) -> Vec<String>;
}

fn settings(agent: Preset) -> &'static [&'static dyn Settings] {
    match agent {
        Preset::Claude => &[&json::CLAUDE_HOOKS, &json::CLAUDE_SERVERS],
        Preset::Codex => &[&json::CODEX_HOOKS, &codex::Servers],
        Preset::Gemini => &[&json::GEMINI],
        Preset::Opencode => &[&opencode::Opencode],
    }
}

/// How much of rekindle's part is in an agent's settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    /// Nothing.
    Absent,
    /// Some of it, or all of it in an older form.
    Old,
    /// All of it.
    Whole,
}

/// Returns how much of rekindle's part is in an agent's settings; unreadable settings have none.
pub(crate) fn part(project: &Project, agent: Preset, scope: Scope) -> Part {
    let program = Program::of(project);
    let (mut is_any, mut is_whole) = (false, true);
    for target in settings(agent) {
        let bytes = target
            .path(project, scope)
            .and_then(|path| read(project, &path).ok()?);
        let text = bytes.and_then(|bytes| String::from_utf8(bytes).ok());
        let Some(text) = text else {
            is_whole = false;
            continue;
        };
        let bare = target.without(&text).ok();
        is_any |= bare.is_some_and(|bare| bare.as_deref() != Some(text.as_str()));
        is_whole &= target
            .with(Some(&text), &program)
            .is_ok_and(|new| new == text);
    }
    match (is_any, is_whole) {
        (false, _) => Part::Absent,
        (true, false) => Part::Old,
        (true, true) => Part::Whole,
    }
}

/// Returns whether `rekindle` is found by its name.
pub(crate) fn is_on_path(project: &Project) -> bool {
    Program::is_on_path(project)
}

/// A target that can be set up to call rekindle.
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

/// Adds or removes rekindle's part; shows the change and asks as requested.
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
        Consent::Ask => face.agree(&prepared.question).given()?,
    };
    if agreed {
        deed()?;
        installation.written = true;
    }
    Ok(installation)
}

/// A prepared change, in words and as a function.
struct Prepared {
    installation: Installation,
    question: String,
    /// `None` if nothing changes.
    deed: Option<Box<dyn FnOnce() -> Result<(), Error>>>,
}

/// A file to write.
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
            // A link in a cloned project must not lead to other settings.
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
                    // A home folder is often a set of links into a folder under version control.
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
    // Nothing is written before all files have been checked.
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

/// How rekindle is started: by name if it is on the path, else by its full path.
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

    /// Parses a shell word that [`in_shell`](Self::in_shell) wrote.
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

    /// Returns the unquoted command.
    fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns it as a JSON string.
    fn quoted(&self) -> String {
        quoted(&self.0)
    }

    /// Returns it as a shell word.
    fn in_shell(&self) -> String {
        rekindle_text::shell_word(&self.0).into_owned()
    }
}

/// Returns a text as a JSON string; paths and our own lines need no other escapes.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', r"\\").replace('"', r#"\""#))
}

/// Returns the folder that a variable names if it is set, or one in the home folder.
pub(crate) fn home(project: &Project, variable: Option<&str>, name: &str) -> Option<Utf8PathBuf> {
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
