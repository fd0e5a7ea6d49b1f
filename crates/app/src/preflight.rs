//! What cannot work, found before it costs anything: an agent that cannot start, or may not edit.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use camino::Utf8Path;
use rekindle_agents::{Agent, Preset};
use rekindle_git::{Program, Repo};
use rekindle_world::{End, World as _};

use crate::face::{Enter, Face, News};
use crate::{Agreement, Error, Project};

/// Words that a shell knows by itself.
const BUILT_IN: &[&str] = &[
    ".", ":", "[", "alias", "break", "cd", "command", "continue", "echo", "eval", "exec", "exit",
    "export", "false", "for", "if", "kill", "printf", "pwd", "read", "readonly", "return", "set",
    "shift", "test", "trap", "true", "type", "ulimit", "umask", "unset", "until", "wait", "while",
    "case", "getopts", "hash", "times",
];
/// The line that names an interpreter is not longer.
const LONGEST_FIRST_LINE: usize = 512;
/// Settings of an agent are a page.
const LARGEST_SETTINGS: u64 = 4 * 1024 * 1024;

/// Refuses an agent whose program is missing or cannot be executed.
pub(crate) fn refuse_unstartable(project: &Project, agent: &Agent) -> Result<(), Error> {
    let Some(program) = agent.shell_program() else {
        // Only a shell knows what it runs.
        return Ok(());
    };
    if agent.is_shell() && BUILT_IN.contains(&program) {
        return Ok(());
    }
    refuse_relative(project, agent, program)?;
    let refusal = |problem: String| Error::AgentCannotStart {
        agent: agent.name.clone(),
        problem,
    };
    let path = find(project, program)
        .ok_or_else(|| refusal(format!("there is no program `{program}`")))?;
    let mode = path.metadata().map_or(0, |found| found.mode());
    if mode & 0o111 == 0 {
        return Err(refusal(format!("`{program}` is not executable")));
    }
    match interpreter(project, &path) {
        Some(missing) if find(project, &missing).is_none() => Err(refusal(format!(
            "`{program}` needs `{missing}`, which does not exist"
        ))),
        Some(_) | None => Ok(()),
    }
}

/// Refuses a program that `PATH` finds in a relative folder: that is wherever the agent works, and a
/// clone could bring a program of this name.
pub(crate) fn refuse_relative(
    project: &Project,
    agent: &Agent,
    program: &str,
) -> Result<(), Error> {
    if program.contains('/') {
        return Ok(());
    }
    let mut folders = std::env::split_paths(&project.search_path);
    let has_it = |folder: &PathBuf| {
        project
            .folder()
            .as_std_path()
            .join(folder)
            .join(program)
            .is_file()
    };
    match folders.find(has_it) {
        Some(folder) if folder.is_relative() => {
            let shown = folder.join(program);
            Err(Error::AgentCannotStart {
                agent: agent.name.clone(),
                problem: format!(
                    "`PATH` finds `{program}` as `{}`, in whatever folder it is started",
                    shown.display()
                ),
            })
        }
        Some(_) | None => Ok(()),
    }
}

/// Returns the built-in agents whose programs are installed.
pub(crate) fn installed_agents(project: &Project) -> Vec<Preset> {
    let presets = Preset::ALL.into_iter();
    presets
        .filter(|preset| find(project, preset.name()).is_some())
        .collect()
}

/// Returns the file of a program: a path as it is, a name in the folders of `PATH`.
fn find(project: &Project, program: &str) -> Option<PathBuf> {
    if program.contains('/') {
        let path = project.folder().join(program).into_std_path_buf();
        return path.is_file().then_some(path);
    }
    std::env::split_paths(&project.search_path)
        .map(|folder| folder.join(program))
        .find(|path| path.is_file())
}

/// Returns the interpreter that a script names on its first line.
fn interpreter(project: &Project, path: &Path) -> Option<String> {
    let path = Utf8Path::from_path(path)?;
    let world = project.world();
    let head = world.read_end(path, End::Head, LONGEST_FIRST_LINE).ok()?;
    let line = head
        .strip_prefix(b"#!")?
        .split(|byte| *byte == b'\n')
        .next()?;
    let line = String::from_utf8_lossy(line).into_owned();
    line.split_whitespace().next().map(ToOwned::to_owned)
}

/// Offers to let an agent edit files, where its settings do not; nothing is written without a yes.
///
/// Returns whether its arguments have changed.
pub(crate) fn offer_editing(
    project: &Project,
    agent: &Agent,
    yes: bool,
    face: &mut dyn Face,
) -> Result<bool, Error> {
    let Some(arguments) = lacking(project, agent) else {
        return Ok(false);
    };
    let line = line(&arguments);
    let text = problem(agent);
    // Permissions are given by a person, never by `--yes`.
    if yes || crate::config::mentions(project, &agent.name) {
        face.tell(&News::MayNotEdit {
            problem: &text,
            remedy: &remedy(agent, &line),
        });
        return Ok(false);
    }
    let question = format!(
        "Write `{line}` below `[agents.{}]` to `.rekindle/config.toml`?",
        agent.name
    );
    if face.propose(&text, &question, Enter::No) != Agreement::Yes {
        return Ok(false);
    }
    crate::config::set_arguments(project, &agent.name, &arguments)?;
    Ok(true)
}

/// Returns what an agent may not do and the line that allows it, if it may not edit files.
pub(crate) fn may_not_edit(project: &Project, agent: &Agent) -> Option<(String, String)> {
    let arguments = lacking(project, agent)?;
    Some((problem(agent), remedy(agent, &line(&arguments))))
}

/// Returns arguments as a line of TOML.
pub(crate) fn line(arguments: &[String]) -> String {
    let words: Vec<String> = arguments.iter().map(|word| format!("\"{word}\"")).collect();
    format!("args = [{}]", words.join(", "))
}

fn problem(agent: &Agent) -> String {
    format!(
        "`{}` may not edit files without a person at its terminal: neither `[agents.{}] args` nor its own settings allow it",
        agent.name, agent.name
    )
}

fn remedy(agent: &Agent, line: &str) -> String {
    format!(
        "`[agents.{}] {line}` in `.rekindle/config.toml` allows it",
        agent.name
    )
}

/// Returns the arguments that would let an agent edit, if it may not.
fn lacking(project: &Project, agent: &Agent) -> Option<Vec<String>> {
    let preset = Preset::of(&agent.program)?;
    let wanted = preset.editing()?;
    let world = project.world();
    let home = world.variable("HOME").unwrap_or_default();
    let reads = |path: &Utf8Path| {
        let bytes = world.read(path, LARGEST_SETTINGS).ok()?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    };
    let settings: Vec<String> = preset
        .settings(project.folder(), Utf8Path::new(&home))
        .iter()
        .filter_map(|path| reads(path))
        .collect();
    (!preset.may_edit(&agent.extra, &settings)).then_some(wanted)
}

/// Returns whether commits are made in the user's name; git may not know one.
pub(crate) fn has_identity(project: &Project) -> bool {
    let program = Program::find(&project.search_path);
    program.map_or(true, |program| {
        let found = Repo::at(&program, project.folder()).has_identity();
        found.unwrap_or(true)
    })
}

/// Returns how many files of the project have changes that no commit has; tasks start without them.
pub(crate) fn uncommitted(project: &Project) -> usize {
    let Ok(program) = Program::find(&project.search_path) else {
        return 0;
    };
    let status = Repo::at(&program, project.folder()).status();
    status.map_or(0, |entries| entries.len())
}
