//! Checks everything that rekindle needs.

use rekindle_git::{Program, Repo};

use crate::installed::installed;
use crate::proposal::propose;
use crate::{AtWork, Project, integrations, preflight, status, survey};

/// One check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Check {
    /// Its subject.
    pub name: String,
    /// Whether it is in order.
    pub verdict: Verdict,
    /// The result.
    pub seen: String,
    /// What to do about it.
    pub hint: Option<String>,
}

/// The outcome of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It is.
    Ok,
    /// Worth knowing.
    Note,
    /// It is not.
    Problem,
}

impl Verdict {
    /// Returns the word used in text and JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Note => "note",
            Self::Problem => "problem",
        }
    }
}

/// Checks the programs and files that rekindle depends on; changes nothing.
///
/// `version` is that of this program, as `--version` prints it.
pub fn doctor(project: &Project, version: &str) -> Vec<Check> {
    let mut checks = vec![this_program(project, version), git(project)];
    checks.extend(configuration(project));
    checks.extend(agents(project));
    checks.extend(worktrees(project));
    checks.extend(integrations::checks(project));
    let world = project.world();
    let open = survey::open(&world);
    let going = open.iter().filter(|one| status::goes_on(&world, one));
    let count = match (going.count(), open.len()) {
        (going, open) if going == open => open.to_string(),
        (going, open) => format!("{going} of {open}"),
    };
    checks.push(Check {
        name: "workflows".to_owned(),
        verdict: Verdict::Ok,
        seen: format!("{count} can be resumed in `{}`", project.folder()),
        hint: None,
    });
    for summary in &open {
        let check = match AtWork::on(project, &summary.id) {
            Ok(None) => continue,
            Ok(Some(at_work)) => Check {
                name: summary.id.to_string(),
                verdict: Verdict::Note,
                hint: Some(match &at_work {
                    AtWork::Rekindle(_) => "the lock is released when that process ends".to_owned(),
                    AtWork::Workers(_) => {
                        let id = summary.id.to_string();
                        let id = rekindle_text::shell_word(&id);
                        format!("continue with `rekindle resume {id}`")
                    }
                }),
                seen: format!("held by {at_work}"),
            },
            Err(error) => Check {
                name: summary.id.to_string(),
                verdict: Verdict::Problem,
                seen: error.to_string(),
                hint: Some("fix the permissions of `.rekindle/` in the project".to_owned()),
            },
        };
        checks.push(check);
    }
    checks
}

fn this_program(project: &Project, version: &str) -> Check {
    let number = version.split(' ').next().unwrap_or_default();
    let (way, newest) = installed(&project.program, number);
    Check {
        name: "rekindle".to_owned(),
        verdict: Verdict::Ok,
        seen: format!("{version}, {way}"),
        hint: newest.map(|command| format!("`{command}` asks for the newest version")),
    }
}

/// Checks the files of the configuration: each one that is there, and every key that is not understood.
fn configuration(project: &Project) -> Vec<Check> {
    let check = |verdict: Verdict, seen: String, hint: Option<&str>| Check {
        name: "configuration".to_owned(),
        verdict,
        seen,
        hint: hint.map(ToOwned::to_owned),
    };
    let configured = match crate::configured(project) {
        Ok(configured) => configured,
        Err(error) => {
            return vec![check(
                Verdict::Problem,
                error.to_string(),
                Some("fix that line"),
            )];
        }
    };
    let files = configured.files.iter().filter(|file| file.exists);
    let files: Vec<String> = files.map(|file| format!("`{}`", file.path)).collect();
    let mut checks = Vec::new();
    if !files.is_empty() && configured.warnings.is_empty() {
        checks.push(check(Verdict::Ok, files.join(", "), None));
    }
    let unknown = configured.warnings.into_iter();
    checks.extend(unknown.map(|warning| {
        let hint = "correct it, or remove it; `rekindle config` shows what holds";
        check(Verdict::Problem, warning, Some(hint))
    }));
    checks
}

/// Returns what to do where no agent is configured.
fn no_agent(project: &Project) -> Check {
    let installed = preflight::installed_agents(project);
    let names: Vec<String> = installed
        .iter()
        .map(|preset| format!("`{}`", preset.name()))
        .collect();
    let (seen, hint) = if names.is_empty() {
        (
            "none is configured, and none of `claude`, `codex`, `gemini` and `opencode` is installed".to_owned(),
            "install one, or give a command with `--agent-cmd`",
        )
    } else {
        (
            format!("none is configured; installed: {}", names.join(", ")),
            "`rekindle init` writes a configuration, or name one with `--agent`",
        )
    };
    Check {
        name: "agent".to_owned(),
        verdict: Verdict::Note,
        seen,
        hint: Some(hint.to_owned()),
    }
}

/// Checks the default agent.
fn agents(project: &Project) -> Option<Check> {
    let problem = |seen: String, hint: &str| {
        Some(Check {
            name: "agent".to_owned(),
            verdict: Verdict::Problem,
            seen,
            hint: Some(hint.to_owned()),
        })
    };
    let config = match crate::configured(project) {
        Ok(configured) => configured.config,
        // Its files are checked on their own.
        Err(_) => return None,
    };
    let Some(name) = config.default_agent() else {
        return Some(no_agent(project));
    };
    let agent = match config.agent(name) {
        Ok(agent) => agent,
        Err(error) => return problem(error.to_string(), "correct `[agent] default`"),
    };
    let mut folders = std::env::split_paths(&project.search_path);
    if !folders.any(|folder| folder.join(&agent.program).is_file()) {
        let seen = format!(
            "`{}`, the program of agent `{name}`, was not found",
            agent.program
        );
        return problem(seen, "install it, or name another in `[agent] default`");
    }
    if let Some((problem, remedy)) = preflight::may_not_edit(project, &agent) {
        return Some(Check {
            name: "agent".to_owned(),
            verdict: Verdict::Note,
            seen: problem,
            hint: Some(remedy),
        });
    }
    Some(Check {
        name: "agent".to_owned(),
        verdict: Verdict::Ok,
        seen: format!("`{name}` is `{}`", agent.program),
        hint: None,
    })
}

/// Checks whether a worktree of a task has what the project needs.
fn worktrees(project: &Project) -> Option<Check> {
    let config = crate::configured(project).ok()?.config;
    let proposal = propose(project, &config.worktree);
    if proposal.seen.is_empty() {
        return None;
    }
    let seen = proposal.seen.join("; ");
    if proposal.is_nothing() {
        return Some(Check {
            name: "worktrees".to_owned(),
            verdict: Verdict::Ok,
            seen,
            hint: None,
        });
    }
    let first = proposal.first.iter().map(|first| format!("{first}, then "));
    Some(Check {
        name: "worktrees".to_owned(),
        verdict: Verdict::Note,
        seen: format!("{seen}; a new worktree of a task has none of it"),
        hint: Some(format!(
            "{}put this below `[worktree]` in `.rekindle/config.toml`:\n{}",
            first.collect::<String>(),
            proposal.lines().join("\n")
        )),
    })
}

/// Returns why git refuses to work here, and how to fix it.
fn refused(program: &Program, project: &Project) -> Option<(String, String)> {
    let asked = Repo::at(program, project.folder()).head();
    let error = asked.err()?;
    Some((error.to_string(), error.trust_command()?))
}

fn git(project: &Project) -> Check {
    let found = Program::find(&project.search_path);
    let (verdict, seen, hint) = match found {
        Ok(program) => match refused(&program, project) {
            Some((seen, command)) => (
                Verdict::Problem,
                seen,
                Some(format!("if you trust it: `{command}`")),
            ),
            None => (Verdict::Ok, format!("git {}", program.version()), None),
        },
        Err(error) => (
            Verdict::Problem,
            error.to_string(),
            Some("install git 2.38 or newer, then run `rekindle doctor` again".to_owned()),
        ),
    };
    Check {
        name: "git".to_owned(),
        verdict,
        seen,
        hint,
    }
}
