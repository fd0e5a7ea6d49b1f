//! Effects, one file for each kind: each can be performed, and repeated after a crash without harm.
//!
//! Performing an impossible effect is an error. Repeating it is not: the plan's evidence is outdated,
//! so the rest is skipped and the next plan is made from fresh evidence.

mod edit;
mod end_worker;
mod files;
mod land;
mod move_file;
mod move_folder;
mod take_back;

use camino::Utf8Path;
use rekindle_fs::Fingerprint;
use rekindle_model::{Action, LandedFile, Landing, WorkflowId};
use rekindle_text::excerpt;
use rekindle_wire::journal::{Bytes, Effect, LandedFile as WrittenFile};

use crate::crash::{Kind, around};
use crate::reach::Site;
use crate::{Error, Output};

pub(crate) use files::append;
pub(crate) use take_back::{check, take_back};

/// The most characters of a name that are shown.
const LONGEST_NAME: usize = 300;

/// The result of repeating an effect after a crash.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Repeated {
    /// It was performed before the crash.
    Already,
    /// It was performed now.
    Done,
    /// The files it depends on have changed; nothing was written.
    Superseded,
}

impl Repeated {
    /// Returns the result, with a refusal as changed files.
    fn of(result: Result<Self, Error>) -> Result<Self, Error> {
        match result {
            Err(error) if error.is_refusal() => Ok(Self::Superseded),
            other => other,
        }
    }
}

/// Converts an error of a writer; a file that has changed since it was read is a refusal.
fn changed(error: rekindle_fs::Error) -> Error {
    if let rekindle_fs::Error::Changed(path) = error {
        return Error::Changed { path };
    }
    error.into()
}

/// Returns an action as a journal record, with everything that is needed to finish it.
pub(crate) fn written(action: &Action) -> Effect {
    match action {
        Action::Append { log, record } => Effect::Append {
            log: log.clone(),
            record: record.clone(),
        },
        Action::Create { path, contents } => Effect::Create {
            path: path.clone(),
            contents: Bytes::new(contents),
        },
        Action::Edit {
            path,
            before,
            after,
        } => Effect::Edit {
            path: path.clone(),
            before: Fingerprint::of(before).to_hex(),
            after: Bytes::new(after),
        },
        Action::MoveFolder { from, to } => Effect::MoveFolder {
            from: from.clone(),
            to: to.clone(),
        },
        Action::MoveFile { from, to, contents } => Effect::MoveFile {
            from: from.clone(),
            to: to.clone(),
            contents: Fingerprint::of(contents).to_hex(),
        },
        Action::Land(landing) => written_landing(landing),
        Action::EndWorker { task } => Effect::EndWorker { task: task.clone() },
        Action::AskHost { .. } | Action::Print(_) => Effect::Print,
    }
}

fn written_landing(landing: &Landing) -> Effect {
    let files = landing.files.iter().map(|file| WrittenFile {
        path: Bytes::new(&file.path),
        before: file.before.clone(),
        after: file.after.clone(),
    });
    Effect::Land {
        task: landing.task.clone(),
        worktree: landing.worktree.clone(),
        base: landing.base.clone(),
        subject: landing.subject.clone(),
        leave_out: landing.leave_out.clone(),
        files: files.collect(),
    }
}

/// Describes an effect, one line for each path; nothing for text that is only shown.
pub(crate) fn lines(effect: &Effect) -> Vec<String> {
    let name = |path: &Utf8Path| format!("`{}`", excerpt(path.as_str(), LONGEST_NAME));
    let line = match effect {
        Effect::Append { log, .. } => format!("append a line to {}", name(log)),
        Effect::Create { path, .. } => format!("create {}", name(path)),
        Effect::Edit { path, .. } => format!("change {}", name(path)),
        Effect::MoveFolder { from, to } | Effect::MoveFile { from, to, .. } => {
            format!("move {} to {}", name(from), name(to))
        }
        Effect::Land { task, files, .. } => {
            let path = |file: &WrittenFile| {
                let path = file.path.to_vec().unwrap_or_default();
                let path = String::from_utf8_lossy(&path).into_owned();
                let task = excerpt(task, LONGEST_NAME);
                format!("commit {} of task `{task}`", name(Utf8Path::new(&path)))
            };
            return files.iter().map(path).collect();
        }
        Effect::EndWorker { task } => {
            format!("end the worker of task `{}`", excerpt(task, LONGEST_NAME))
        }
        Effect::Print => return Vec::new(),
    };
    vec![line]
}

/// Performs an action.
pub(crate) fn perform(
    site: &Site,
    id: &WorkflowId,
    action: &Action,
    output: &mut dyn Output,
) -> Result<(), Error> {
    around(Kind::from(action), || match action {
        Action::Append { .. }
        | Action::Create { .. }
        | Action::Edit { .. }
        | Action::MoveFolder { .. }
        | Action::MoveFile { .. } => perform_file(site, action).map(drop),
        Action::Land(landing) => land::perform(site, landing).map(drop),
        Action::EndWorker { task } => end_worker::perform(site, id, task).map(drop),
        // Only the host can do it; the plan has shown it to the person.
        Action::AskHost { .. } => Ok(()),
        Action::Print(text) => {
            output.print(text);
            Ok(())
        }
    })
}

/// Performs an action on files; returns whether it is one.
pub(crate) fn perform_on_files(site: &Site, action: &Action) -> Result<bool, Error> {
    around(Kind::from(action), || perform_file(site, action))
}

/// Creates a file; [`Error::Changed`] if the path exists.
pub(crate) fn perform_creation(site: &Site, path: &Utf8Path, contents: &[u8]) -> Result<(), Error> {
    around(Kind::Create, || {
        match rekindle_fs::create(&site.place(path)?, contents) {
            Err(rekindle_fs::Error::Exists(path)) => Err(Error::Changed { path }),
            other => Ok(other?),
        }
    })
}

fn perform_file(site: &Site, action: &Action) -> Result<bool, Error> {
    match action {
        Action::Append { log, record } => files::append_at(&site.place(log)?, record)?,
        Action::Create { path, contents } => drop(files::create(site, path, contents)?),
        Action::Edit {
            path,
            before,
            after,
        } => drop(edit::perform(site, path, Fingerprint::of(before), after)?),
        Action::MoveFolder { from, to } => drop(move_folder::perform(site, from, to)?),
        Action::MoveFile { from, to, contents } => {
            move_file::perform(site, from, to, Fingerprint::of(contents))?;
        }
        Action::Land(_) | Action::EndWorker { .. } | Action::AskHost { .. } | Action::Print(_) => {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Repeats an effect unless it was performed.
pub(crate) fn repeat(site: &Site, id: &WorkflowId, effect: &Effect) -> Result<Repeated, Error> {
    around(Kind::from(effect), || {
        if let Some(repeated) = repeat_file(site, effect)? {
            return Ok(repeated);
        }
        repeat_other(site, id, effect)
    })
}

fn repeat_other(site: &Site, id: &WorkflowId, effect: &Effect) -> Result<Repeated, Error> {
    match effect {
        Effect::Print
        | Effect::Create { .. }
        | Effect::Append { .. }
        | Effect::Edit { .. }
        | Effect::MoveFolder { .. }
        | Effect::MoveFile { .. } => Ok(Repeated::Already),
        Effect::Land {
            task,
            worktree,
            base,
            subject,
            leave_out,
            files,
        } => {
            let Some(files) = files.iter().map(read).collect() else {
                return Ok(Repeated::Superseded);
            };
            let landing = Landing {
                task: task.clone(),
                worktree: worktree.clone(),
                base: base.clone(),
                subject: subject.clone(),
                leave_out: leave_out.clone(),
                files,
            };
            Repeated::of(land::perform(site, &landing))
        }
        Effect::EndWorker { task } => end_worker::perform(site, id, task),
    }
}

/// Repeats an effect on files unless it was performed; `None` for other effects.
pub(crate) fn repeat_on_files(site: &Site, effect: &Effect) -> Result<Option<Repeated>, Error> {
    around(Kind::from(effect), || repeat_file(site, effect))
}

fn repeat_file(site: &Site, effect: &Effect) -> Result<Option<Repeated>, Error> {
    let repeated = match effect {
        Effect::Create { path, contents } => match contents.to_vec() {
            Some(contents) => files::create(site, path, &contents)?,
            None => Repeated::Superseded,
        },
        Effect::Append { log, record } => files::repeat_append(site, log, record)?,
        Effect::Edit {
            path,
            before,
            after,
        } => {
            let (Ok(before), Some(after)) = (before.parse(), after.to_vec()) else {
                return Ok(Some(Repeated::Superseded));
            };
            Repeated::of(edit::perform(site, path, before, &after))?
        }
        Effect::MoveFolder { from, to } => Repeated::of(move_folder::perform(site, from, to))?,
        Effect::MoveFile { from, to, contents } => match contents.parse() {
            Ok(contents) => Repeated::of(move_file::perform(site, from, to, contents))?,
            Err(_) => Repeated::Superseded,
        },
        Effect::Land { .. } | Effect::EndWorker { .. } | Effect::Print => return Ok(None),
    };
    Ok(Some(repeated))
}

fn read(file: &WrittenFile) -> Option<LandedFile> {
    Some(LandedFile {
        path: file.path.to_vec()?,
        before: file.before.clone(),
        after: file.after.clone(),
    })
}
