//! Which workflow of another protocol a session of a coding agent worked on.
//!
//! It did if it edited files of the workflow, or if its last prompt is a command of the workflow's
//! tool. Resuming the workflow goes on with the work itself, so it comes before resuming the session.

use std::collections::BTreeMap;

use camino::{Utf8Path, Utf8PathBuf};
use rekindle_model::{Session, Summary, WorkflowId};
use rekindle_world::World as _;

use crate::status::gives_way;
use crate::{Project, survey};

/// What a session did that may be about a workflow.
pub(crate) struct Work<'a> {
    /// The first line of its last prompt.
    pub(crate) prompt: Option<&'a str>,
    /// The files that it edited.
    pub(crate) touched: &'a [Utf8PathBuf],
}

/// How surely a session worked on a workflow, the surest last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Sign {
    /// It worked on a workflow of this protocol.
    Protocol,
    /// It worked on this workflow.
    Name,
}

/// Returns the open workflow that a session worked on; none if it cannot be told which of several.
pub(crate) fn workflow_of(
    project: &Utf8Path,
    open: &[Summary],
    work: &Work<'_>,
) -> Option<WorkflowId> {
    let others = open
        .iter()
        .filter(|other| other.state.is_open() && !gives_way(other));
    let signs: Vec<(Sign, &WorkflowId)> = others
        .filter_map(|other| Some((sign(project, &other.id, work)?, &other.id)))
        .collect();
    let mut named = signs.iter().filter(|(sign, _)| *sign == Sign::Name);
    match (named.next(), signs.as_slice()) {
        (Some((_, id)), _) => named.next().is_none().then(|| (*id).clone()),
        (None, [(Sign::Protocol, only)]) => Some((*only).clone()),
        (None, _) => None,
    }
}

/// Returns how surely a session worked on a workflow, if there is any sign of it.
fn sign(project: &Utf8Path, id: &WorkflowId, work: &Work<'_>) -> Option<Sign> {
    let protocol = rekindle_registry::find(id.protocol);
    let by_file = work.touched.iter().filter_map(|path| {
        let inside = path.strip_prefix(project).ok();
        let is_its = |folder: &&str| match inside {
            _ if folder.starts_with('/') => path.as_str().contains(folder),
            Some(inside) => inside.as_str().starts_with(folder),
            None => false,
        };
        protocol.folders().iter().find(|folder| is_its(folder))?;
        let is_named = path.components().any(|part| part.as_str() == id.name);
        Some(if is_named { Sign::Name } else { Sign::Protocol })
    });
    let by_command = work.prompt.and_then(|prompt| {
        let mut commands = protocol.commands().iter();
        commands.find(|command| prompt.starts_with(*command))?;
        let is_named = prompt.split_whitespace().any(|word| word == id.name);
        Some(if is_named { Sign::Name } else { Sign::Protocol })
    });
    by_file.chain(by_command).max()
}

/// The workflows that sessions of any folder worked on; each project is looked at once.
pub(crate) struct Beside<'p> {
    project: &'p Project,
    known: BTreeMap<Utf8PathBuf, Vec<Summary>>,
}

impl<'p> Beside<'p> {
    pub(crate) fn new(project: &'p Project) -> Self {
        Self {
            project,
            known: BTreeMap::new(),
        }
    }

    /// Returns the open workflow that a session worked on.
    pub(crate) fn of(&mut self, session: &Session) -> Option<WorkflowId> {
        let touched: Vec<Utf8PathBuf> = session.touched_paths().collect();
        let prompt = session.prompt.as_deref();
        let is_command = prompt.is_some_and(|prompt| prompt.starts_with('/'));
        if touched.is_empty() && !is_command {
            return None;
        }
        let folder = session.project.as_ref().filter(|_| session.folder_exists)?;
        let there = Project {
            folder: folder.clone(),
            ..self.project.clone()
        };
        let open = self
            .known
            .entry(folder.clone())
            .or_insert_with(|| survey::quick_open_of_others(&there));
        let touched = &touched;
        workflow_of(folder, open, &Work { prompt, touched })
    }
}

/// Returns the sessions of a project that worked on one of its workflows, each with the workflow.
pub(crate) fn links(project: &Project, all: &[Summary]) -> Vec<(WorkflowId, WorkflowId)> {
    let world = project.world();
    let folder = world.resolve(world.project());
    let folder = folder.unwrap_or_else(|_| project.folder().to_owned());
    let sessions = all.iter().filter(|summary| gives_way(summary));
    let found = sessions.filter_map(|session| {
        let work = Work {
            prompt: session.view.title.as_deref(),
            touched: &session.view.touched,
        };
        Some((session.id.clone(), workflow_of(&folder, all, &work)?))
    });
    found.collect()
}

#[cfg(test)]
mod tests {
    use rekindle_model::{Next, Progress, State, View};

    use super::*;

    fn workflow(text: &str, state: State) -> Summary {
        let (protocol, name) = rekindle_registry::split(text);
        Summary {
            id: WorkflowId::new(protocol.unwrap(), name),
            state,
            stage: String::new(),
            progress: Progress {
                done: 0,
                total: None,
            },
            last_activity: None,
            next: Next {
                kind: "x",
                summary: String::new(),
            },
            view: View::of(state),
        }
    }

    #[test]
    fn a_session_belongs_to_the_workflow_whose_files_or_command_it_had() {
        let two = ["spec-kit:001-albums", "spec-kit:002-share", "map:main"];
        let one = ["spec-kit:001-albums", "openspec:add-login"];
        for (open, prompt, touched, expected) in [
            (&two[..], "", "/w/specs/002-share/tasks.md", Some(two[1])),
            (&two, "", "/w/specs/README.md", None),
            (&two, "", "/w/.map/main/task_plan.md", Some(two[2])),
            (&two, "", "/w/src/lib.rs", None),
            (&two, "/speckit.implement", "", None),
            (&two, "/speckit.implement 001-albums", "", Some(two[0])),
            (&two, "Tell me of /speckit.implement 001-albums", "", None),
            (&one, "/speckit.implement", "", Some(one[0])),
            (&one, "", "/w/specs/README.md", Some(one[0])),
            (&one, "", "/elsewhere/specs/001-albums/tasks.md", None),
            (
                &one,
                "/opsx:apply",
                "/w/specs/001-albums/tasks.md",
                Some(one[0]),
            ),
            (&one, "/opsx:apply", "", Some(one[1])),
            (&[], "/opsx:apply", "", None),
        ] {
            let open: Vec<Summary> = open
                .iter()
                .map(|text| workflow(text, State::Interrupted))
                .collect();
            let touched: Vec<Utf8PathBuf> = touched.split_whitespace().map(Into::into).collect();
            let work = Work {
                prompt: Some(prompt),
                touched: &touched,
            };
            let found = workflow_of("/w".into(), &open, &work).map(|id| id.to_string());
            assert_eq!(found.as_deref(), expected, "{prompt} {touched:?}");
        }
    }

    #[test]
    fn a_workflow_that_is_over_has_no_sessions() {
        let open = [workflow("spec-kit:001-albums", State::Complete)];
        let work = Work {
            prompt: Some("/speckit.implement"),
            touched: &[],
        };
        assert_eq!(workflow_of("/w".into(), &open, &work), None);
    }
}
