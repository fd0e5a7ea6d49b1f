//! The one place that reads the process's environment.

use std::collections::BTreeMap;
use std::ffi::OsString;

use camino::{Utf8Path, Utf8PathBuf};
use rekindle_app::hook::Attempt;
use rekindle_app::{Clock, Project, Zone};

use crate::failure::Failure;

/// Variables that protocols and readers of agents' traces may ask for; nothing else of the environment is looked at or kept.
const VARIABLES: &[&str] = &[
    "CLAUDE_CODE_SESSION_ID",
    "CLAUDE_CONFIG_DIR",
    "CLAUDE_PID",
    "CLAUDE_PROJECT_DIR",
    "CODEX_HOME",
    "CODEX_THREAD_ID",
    "HOME",
    "KILN_WORKTREE_ROOT",
    "MAP_EFFICIENT_SEQUENTIAL_ONLY",
    "MAP_STRICT_SCOPE",
    "OPENCODE_DB",
    "PWD",
    "REKINDLE_RUN",
    "REKINDLE_WORKFLOW",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
];

/// Variables that coding agents set for all that they start: Claude Code, Codex (of which the sandbox
/// may be off), Cursor, Gemini CLI, opencode.
const HOSTS: &[&str] = &[
    "CLAUDECODE",
    "CODEX_SANDBOX",
    "CODEX_THREAD_ID",
    "CURSOR_AGENT",
    "GEMINI_CLI",
    "OPENCODE",
];

/// Returns the project that a command is about: the folder that was named, else the one that the current folder belongs to.
pub(crate) fn project(folder: Option<&Utf8Path>) -> Result<Project, Failure> {
    let here = here(folder)?;
    Ok(match folder {
        Some(_) => here,
        None => here.enclosing(),
    })
}

/// Returns the folder that was named, else the current one, as a project.
#[expect(
    clippy::disallowed_methods,
    reason = "the one place that reads the environment"
)]
pub(crate) fn here(folder: Option<&Utf8Path>) -> Result<Project, Failure> {
    let here = std::env::current_dir().map_err(|error| {
        Failure::usage(format!("cannot determine the current folder: {error}"))
            .hint("go to the project's folder, or name it with `-C DIR`")
    })?;
    let here = Utf8PathBuf::from_path_buf(here).map_err(|path| {
        Failure::usage(format!(
            "the current folder's name is not UTF-8: `{}`",
            path.display()
        ))
    })?;
    let folder = match folder {
        None => here,
        Some(folder) => {
            let folder = here.join(folder);
            let absolute = folder.canonicalize_utf8().map_err(|error| {
                Failure::usage(format!("cannot open folder `{folder}`: {error}"))
                    .hint("check the path given with `-C`")
            })?;
            if !absolute.is_dir() {
                return Err(Failure::usage(format!("`{folder}` is not a folder"))
                    .hint("check the path given with `-C`"));
            }
            absolute
        }
    };
    let variables: BTreeMap<String, String> = VARIABLES
        .iter()
        .filter_map(|name| Some(((*name).to_owned(), std::env::var(name).ok()?)))
        .collect();
    Ok(Project {
        typed_in: folder.clone(),
        folder,
        program: program()?,
        clock: clock(std::env::var_os("REKINDLE_NOW"))?,
        zone: zone(std::env::var("TZ").ok().as_deref())?,
        variables,
        search_path: std::env::var_os("PATH").unwrap_or_default(),
        key: key(),
    })
}

/// Returns where the user's key is: outside of every project, and not with what is shared or synced.
#[expect(
    clippy::disallowed_methods,
    reason = "the one place that reads the environment"
)]
pub(crate) fn key() -> Option<Utf8PathBuf> {
    let folder = |name: &str| {
        let folder = Utf8PathBuf::from(std::env::var(name).ok()?);
        folder.is_absolute().then_some(folder)
    };
    let state = folder("XDG_STATE_HOME");
    let state = state.or_else(|| Some(folder("HOME")?.join(".local/state")))?;
    Some(state.join("rekindle/key"))
}

/// Returns the current folder, if there is one.
#[expect(
    clippy::disallowed_methods,
    reason = "the one place that reads the environment"
)]
pub(crate) fn current_folder() -> Option<std::path::PathBuf> {
    std::env::current_dir().ok()
}

/// Returns whether a coding agent has started us.
#[expect(
    clippy::disallowed_methods,
    reason = "the one place that reads the environment"
)]
pub(crate) fn is_inside_agent() -> bool {
    let says_so =
        |name: &&str| std::env::var_os(name).is_some_and(|value| !value.is_empty() && value != "0");
    HOSTS.iter().any(says_so)
}

/// Returns the attempt that started the agent that started us; `None` where rekindle did not start it.
#[expect(
    clippy::disallowed_methods,
    reason = "the one place that reads the environment"
)]
pub(crate) fn attempt() -> Option<Attempt> {
    let variable = |name: &str| std::env::var(name).ok();
    let workflow = variable("REKINDLE_WORKFLOW").or_else(|| variable("REKINDLE_RUN"))?;
    // Whatever rekindle starts is told one of these; a workflow alone may be a person's own variable.
    let is_told = |name: &str| variable(name).is_some_and(|value| !value.is_empty());
    if !["REKINDLE_PROJECT", "REKINDLE_TOKEN"]
        .into_iter()
        .any(is_told)
    {
        return None;
    }
    Some(Attempt {
        project: variable("REKINDLE_PROJECT").unwrap_or_default().into(),
        id: rekindle_app::workflow_id(&workflow),
        task: variable("REKINDLE_TASK").unwrap_or_default(),
        number: variable("REKINDLE_ATTEMPT")
            .and_then(|number| number.parse().ok())
            .unwrap_or_default(),
        token: variable("REKINDLE_TOKEN").unwrap_or_default(),
    })
}

/// What a terminal understands besides text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TerminalKind {
    /// The title of its window can be set.
    pub(crate) has_title: bool,
    /// It shows progress in its tab or in the taskbar (`OSC 9;4`); others take that for a notification.
    pub(crate) has_progress: bool,
    /// How it is asked to show a notice, if it can.
    pub(crate) notices: Option<Notices>,
}

/// Control sequences that show a notice on the desktop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Notices {
    /// `OSC 9`, of iTerm2 and others.
    Osc9,
    /// `OSC 777`, of rxvt and foot.
    Osc777,
}

/// Returns what the terminal says that it is.
#[expect(
    clippy::disallowed_methods,
    reason = "the one place that reads the environment"
)]
pub(crate) fn terminal_kind() -> TerminalKind {
    const WITH_TITLE: [&str; 9] = [
        "xterm",
        "tmux",
        "screen",
        "rxvt",
        "alacritty",
        "foot",
        "kitty",
        "wezterm",
        "ghostty",
    ];
    let variable = |name: &str| std::env::var(name).unwrap_or_default();
    let term = variable("TERM");
    let program = variable("TERM_PROGRAM");
    TerminalKind {
        has_title: WITH_TITLE.iter().any(|name| term.contains(name)),
        has_progress: ["ghostty", "WezTerm"].contains(&program.as_str())
            || (!variable("WT_SESSION").is_empty() && program != "tmux")
            || variable("ConEmuANSI") == "ON",
        notices: match (program.as_str(), term.as_str()) {
            ("iTerm.app" | "WezTerm" | "ghostty", _) | (_, "xterm-kitty") => Some(Notices::Osc9),
            (_, term) if term.starts_with("foot") || term.starts_with("rxvt") => {
                Some(Notices::Osc777)
            }
            (_, _) => None,
        },
    }
}

/// Returns the path of this program, which also is the worker that a run starts.
fn program() -> Result<Utf8PathBuf, Failure> {
    let path = std::env::current_exe().map_err(|error| {
        Failure::cannot(format!("cannot find the path of this program: {error}"))
    })?;
    Utf8PathBuf::from_path_buf(path).map_err(|path| {
        Failure::cannot(format!(
            "the path of this program is not UTF-8: `{}`",
            path.display()
        ))
    })
}

/// Returns the clock of a worker.
#[expect(
    clippy::disallowed_methods,
    reason = "the one place that reads the environment"
)]
pub(crate) fn worker_clock() -> Result<Clock, Failure> {
    clock(std::env::var_os("REKINDLE_NOW"))
}

/// Returns after how much silence a worker is given up, where the environment says so; for tests.
#[expect(
    clippy::disallowed_methods,
    reason = "the one place that reads the environment"
)]
pub(crate) fn silent_after() -> Option<std::time::Duration> {
    let seconds = std::env::var("REKINDLE_SILENT_AFTER").ok()?.parse().ok()?;
    Some(std::time::Duration::from_secs(seconds))
}

/// Returns the user's time zone: that of `TZ`, else the system's.
fn zone(named: Option<&str>) -> Result<Zone, Failure> {
    let Some(named) = named else {
        return Ok(Zone::System);
    };
    // Times that are an hour off in silence are worse than none.
    Zone::parse(named).ok_or_else(|| {
        Failure::usage(format!(
            "TZ is not a time zone: `{}`",
            rekindle_text::printable(named)
        ))
        .hint("write it as `Europe/Oslo`, or unset it")
    })
}

fn clock(fixed: Option<OsString>) -> Result<Clock, Failure> {
    let Some(fixed) = fixed.filter(|fixed| !fixed.is_empty()) else {
        return Ok(Clock::System);
    };
    // A time that is set and wrong must not become the real one in silence.
    let text = fixed.to_string_lossy();
    text.parse().map(Clock::Fixed).map_err(|_| {
        Failure::usage(format!("REKINDLE_NOW is not a time: `{text}`"))
            .hint("write it as `2026-01-20T12:00:00Z`, or unset it")
    })
}
