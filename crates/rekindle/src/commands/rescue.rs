//! `rekindle rescue`: what was kept, what is in it, and the way back.

use camino::Utf8Path;
use rekindle_app::{ChangeKind, Mode, Project, RepoPath, Rescue, Rescued, Shown};
use rekindle_wire::{
    RescueOut, RescueShown, RescuedCommitOut, RescuedFileOut, Rescues, RestoredOut, exit,
};

use crate::arguments::RescueCommand;
use crate::failure::Failure;
use crate::render;
use crate::terminal::Terminal;

pub(super) fn rescue(
    project: &Project,
    command: &RescueCommand,
    terminal: &mut Terminal,
) -> Result<u8, Failure> {
    match command {
        RescueCommand::List { workflow } => list(project, workflow.as_deref(), terminal),
        RescueCommand::Show { name } => show(project, name, terminal),
        RescueCommand::Restore { name, into, yes } => {
            restore(project, name, into.as_deref(), *yes, terminal)
        }
    }
}

fn list(project: &Project, workflow: Option<&str>, terminal: &mut Terminal) -> Result<u8, Failure> {
    let rescues = rekindle_app::rescues(project, workflow)?;
    if terminal.is_json() {
        terminal.json(&Rescues {
            schema: "rekindle.rescues/1",
            rescues: rescues.iter().map(out).collect(),
        });
        return Ok(exit::DONE);
    }
    terminal.result(&render::rescues(&rescues, project.clock.now()));
    if let Some(newest) = rescues.iter().max_by_key(|rescue| rescue.made_at) {
        let name = newest.short_name();
        let hint = format!("show the newest with `rekindle rescue show {name}`");
        terminal.hint(&render::hint(&hint));
    }
    Ok(exit::DONE)
}

fn show(project: &Project, name: &str, terminal: &mut Terminal) -> Result<u8, Failure> {
    let shown = rekindle_app::rescue(project, name)?;
    if terminal.is_json() {
        terminal.json(&shown_out(&shown));
        return Ok(exit::DONE);
    }
    let all = terminal.is_verbose();
    terminal.result(&render::rescue(&shown, project.clock.now(), all));
    for hint in render::rescue_hints(&shown.rescue) {
        terminal.hint(&render::hint(&hint));
    }
    Ok(exit::DONE)
}

fn restore(
    project: &Project,
    name: &str,
    into: Option<&Utf8Path>,
    yes: bool,
    terminal: &mut Terminal,
) -> Result<u8, Failure> {
    let restored = rekindle_app::restore(project, name, into, yes, terminal)?;
    if terminal.is_json() {
        terminal.json(&RestoredOut {
            schema: "rekindle.restored/1",
            name: restored.rescue.name,
            into: restored.into.to_string(),
            written: restored.written,
            compare_with: restored.top.to_string(),
        });
    } else if restored.written {
        terminal.result(&render::restored(&restored));
        for hint in render::restored_hints(&restored) {
            terminal.hint(&render::hint(&hint));
        }
    } else {
        terminal.hint("nothing was changed\n");
    }
    Ok(exit::DONE)
}

fn shown_out(shown: &Shown) -> RescueShown {
    RescueShown {
        schema: "rekindle.rescue/1",
        rescue: out(&shown.rescue),
        files: shown.files.iter().map(file).collect(),
        left_out: shown.left_out,
        commits: shown
            .commits
            .iter()
            .map(|commit| RescuedCommitOut {
                commit: commit.id.to_string(),
                subject: commit.subject.clone(),
            })
            .collect(),
        more_commits: shown.more_commits,
    }
}

fn out(rescue: &Rescue) -> RescueOut {
    RescueOut {
        name: rescue.name.clone(),
        workflow: rescue.workflow.clone(),
        task: rescue.task.clone(),
        number: rescue.number,
        commit: rescue.commit.to_string(),
        made_at: render::made_at(rescue).map(rekindle_text::format_seconds),
        worktree: rescue.worktree.clone(),
        branch: rescue.branch.clone(),
        base: rescue.head.as_ref().map(ToString::to_string),
        index: rescue.index.as_ref().map(ToString::to_string),
    }
}

fn file(rescued: &Rescued) -> RescuedFileOut {
    let change = &rescued.change;
    let mode = |mode: Mode| mode.as_octal().to_owned();
    // JSON has no bytes: a name that is not UTF-8 is told with replacement characters.
    let text = |path: &RepoPath| String::from_utf8_lossy(path.as_bytes()).into_owned();
    RescuedFileOut {
        path: text(&change.path),
        change: match &change.kind {
            ChangeKind::Added => "added",
            ChangeKind::Modified | ChangeKind::Renamed { .. } => "modified",
            ChangeKind::Deleted => "deleted",
            ChangeKind::TypeChanged => "type_changed",
        }
        .to_owned(),
        untracked: rescued.untracked,
        old_mode: change.old.as_ref().map(|entry| mode(entry.mode)),
        mode: change.new.as_ref().map(|entry| mode(entry.mode)),
    }
}
