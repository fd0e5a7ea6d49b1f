//! The commands that run before a worktree is removed, where no worker is there to run them.

use std::process::Stdio;
use std::time::Duration;

use camino::Utf8Path;
use rekindle_agents::Redactor;
use rekindle_git::OwnWorktree;
use tokio::process::Command;

use crate::{Error, process_tree};

/// The time for what a command started to end.
const GRACE: Duration = Duration::from_secs(5);
/// So many last lines of a command that did not go well are reported.
const MOST_LINES: usize = 5;

/// The commands, in order.
#[derive(Debug, Clone, Copy)]
pub struct Teardown<'a> {
    /// Lines of shell.
    pub commands: &'a [String],
    /// How long each may take.
    pub limit: Duration,
}

impl Teardown<'_> {
    /// Runs the commands in the project's folder of a worktree; the first that does not go well is an
    /// error, and the worktree stays.
    pub(crate) fn run(
        &self,
        project: &Utf8Path,
        own: &OwnWorktree,
        folder: &Utf8Path,
        slot: u32,
    ) -> Result<(), Error> {
        if self.commands.is_empty() {
            return Ok(());
        }
        let worktree = own.path();
        let mut redactor = crate::outfit::redactor(own);
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(Error::Runtime)?;
        let working = crate::worker::working_folder(worktree, folder)
            .map_err(|source| Error::Worker { source })?;
        for line in self.commands {
            let token = crate::engine::fresh();
            let mut command = Command::new("/bin/sh");
            for name in rekindle_git::SCRUBBED {
                command.env_remove(name);
            }
            command
                .args(["-c", line])
                .env("PWD", &working)
                .env("REKINDLE_PROJECT", project)
                .env("REKINDLE_WORKTREE", worktree)
                .env("REKINDLE_TOKEN", &token)
                .envs(crate::ports::variables(project, slot))
                .current_dir(&working)
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::piped())
                .process_group(0);
            let ended = runtime.block_on(async {
                let child = command.spawn()?;
                tokio::time::timeout(self.limit, child.wait_with_output())
                    .await
                    .ok()
                    .transpose()
            });
            // What it left running must not hold the worktree, and what took too long neither.
            process_tree::end(&token, None, GRACE);
            let how = match ended.map_err(|source| Error::Worker { source })? {
                Some(output) if output.status.success() => continue,
                Some(output) => format!(
                    "{}{}",
                    output.status,
                    last_lines(&output.stderr, &mut redactor)
                ),
                None => format!("it took longer than {} s", self.limit.as_secs()),
            };
            return Err(Error::Teardown {
                command: line.clone(),
                how,
            });
        }
        Ok(())
    }
}

fn last_lines(said: &[u8], redactor: &mut Redactor) -> String {
    let said = String::from_utf8_lossy(said);
    let lines: Vec<&str> = said
        .lines()
        .filter(|line| !line.trim().is_empty())
        .collect();
    let from = lines.len().saturating_sub(MOST_LINES);
    let last: Vec<_> = lines[from..]
        .iter()
        .map(|line| redactor.line(line))
        .collect();
    match last.join(" / ").as_str() {
        "" => String::new(),
        said => format!(": {}", rekindle_text::excerpt(said, 300)),
    }
}
