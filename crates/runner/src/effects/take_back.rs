//! Undoes effects, because a later one of the same command failed.

use rekindle_fs::Content;
use rekindle_model::Action;

use crate::Error;
use crate::reach::Site;

/// Restores the files of an action.
///
/// Changes of others stay, and are an error. A line in a log stays too: it
/// records the attempt. Actions that are not about files have nothing to undo here.
pub(crate) fn take_back(site: &Site, action: &Action) -> Result<(), Error> {
    match action {
        Action::Create { path, contents } => {
            rekindle_fs::remove(&site.place(path)?, &Content::of(contents))?;
        }
        Action::Edit {
            path,
            before,
            after,
        } => {
            let place = site.place(path)?;
            if !Content::of(before).is_at(&place)? {
                rekindle_fs::replace(&place, &Content::of(after), before)?;
            }
        }
        Action::MoveFile { from, to, .. } | Action::MoveFolder { from, to } => {
            let (from, to) = (site.place(from)?, site.place(to)?);
            if from.symlink_metadata().is_err() {
                rekindle_fs::rename(&to, &from)?;
            }
        }
        Action::Append { .. }
        | Action::Land(_)
        | Action::EndWorker { .. }
        | Action::AskHost { .. }
        | Action::Print(_) => {}
    }
    Ok(())
}

/// Checks that all paths of an action are within reach; changes nothing.
pub(crate) fn check(site: &Site, action: &Action) -> Result<(), Error> {
    match action {
        Action::Create { path, .. } | Action::Edit { path, .. } => drop(site.place(path)?),
        Action::Append { log, .. } => drop(site.place(log)?),
        Action::MoveFile { from, to, .. } | Action::MoveFolder { from, to } => {
            site.place(from)?;
            site.place(to)?;
        }
        Action::Land(_) | Action::EndWorker { .. } | Action::AskHost { .. } | Action::Print(_) => {}
    }
    Ok(())
}
