//! Answers of the git program.

use std::ffi::OsString;
use std::sync::OnceLock;

use camino::{Utf8Path, Utf8PathBuf};
use rekindle_git::{
    Change, ChangeKind, Entry, Error, HeadName, ObjectId, Program, Repo, RepoPath, Touch,
    Untracked, head_name_on_disk,
};

use crate::side_by_side::side_by_side;
use crate::{
    GitAnswer, GitChange, GitCommit, GitEntry, GitHeadName, GitPath, GitQuestion, GitRepository,
    GitTouch, GitTouched, GitWorktree, ReadError,
};

/// The git program, searched on first use.
pub(crate) struct RealGit {
    search_path: OsString,
    program: OnceLock<Result<Program, ReadError>>,
}

impl RealGit {
    pub(crate) fn new(search_path: OsString) -> Self {
        Self {
            search_path,
            program: OnceLock::new(),
        }
    }

    pub(crate) fn ask(
        &self,
        folder: &Utf8Path,
        question: &GitQuestion,
    ) -> Result<GitAnswer, ReadError> {
        // Only where git is installed, so that the answer does not depend on this shortcut.
        if *question == GitQuestion::HeadName
            && Program::locate(&self.search_path).is_some()
            && let Some(head) = head_name_on_disk(folder)
        {
            return Ok(head_name(head));
        }
        let program = self
            .program
            .get_or_init(|| Program::find(&self.search_path).map_err(|e| failure(&e)));
        let repo = Repo::at(program.as_ref().map_err(Clone::clone)?, folder);
        answer(&repo, question).map_err(|error| failure(&error))
    }

    /// Asks with one process per core.
    pub(crate) fn ask_each(
        &self,
        questions: &[(Utf8PathBuf, GitQuestion)],
    ) -> Vec<Result<GitAnswer, ReadError>> {
        let lost = || ReadError::Failed("git was not asked".to_owned());
        side_by_side(questions, 1, |(folder, question)| {
            self.ask(folder, question)
        })
        .into_iter()
        .map(|answer| answer.unwrap_or_else(|| Err(lost())))
        .collect()
    }
}

fn answer(repo: &Repo, question: &GitQuestion) -> Result<GitAnswer, Error> {
    Ok(match question {
        GitQuestion::Repository => {
            let head = repo.head()?;
            GitAnswer::Repository(GitRepository {
                top_level: repo.top_level()?,
                common_dir: repo.common_dir()?,
                head: head.commit().map(|commit| commit.as_str().to_owned()),
                branch: head.branch().map(str::to_owned),
            })
        }
        GitQuestion::Worktrees => {
            GitAnswer::Worktrees(repo.worktrees()?.into_iter().map(worktree).collect())
        }
        GitQuestion::Commits { after } => {
            let range = after
                .as_ref()
                .map_or_else(|| "HEAD".to_owned(), |after| format!("{after}..HEAD"));
            let commits = repo.log(&range)?.into_iter().map(|commit| GitCommit {
                id: commit.id.as_str().to_owned(),
                parent: commit.parents.first().map(|id| id.as_str().to_owned()),
                subject: commit.subject,
            });
            GitAnswer::Commits(commits.collect())
        }
        GitQuestion::Has { commit } => {
            let commit = ObjectId::parse(commit)?;
            let Some(head) = repo.resolve("HEAD")? else {
                return Ok(GitAnswer::Has(false));
            };
            GitAnswer::Has(repo.is_ancestor(&commit, &head)?)
        }
        GitQuestion::Changes { base } => changes(repo.changes(&ObjectId::parse(base)?)?),
        GitQuestion::Between { from, to } => {
            changes(repo.between(&ObjectId::parse(from)?, &ObjectId::parse(to)?)?)
        }
        GitQuestion::Staged => changes(repo.staged()?),
        GitQuestion::HeadName => head_name(repo.head_name()?),
        GitQuestion::Commit { name } => {
            let commit = repo.resolve(name)?;
            GitAnswer::Commit(commit.map(|commit| commit.as_str().to_owned()))
        }
        GitQuestion::PrintedStatus { every_file: true } => {
            printed(repo, repo.printed_status(Untracked::Files)?)?
        }
        GitQuestion::PrintedStatus { every_file: false } => {
            printed(repo, repo.printed_status(Untracked::Folders)?)?
        }
        GitQuestion::PrintedNamesSince { base } => printed(repo, repo.printed_names_since(base)?)?,
        GitQuestion::PrintedNamesIn { commit } => printed(repo, repo.printed_names_in(commit)?)?,
        GitQuestion::PrintedIgnored { paths } => printed(repo, repo.printed_ignored(paths)?)?,
        GitQuestion::Touched { paths } => GitAnswer::Touched(GitTouched {
            commits: repo.touching(paths)?.into_iter().map(touch).collect(),
            uncommitted: own_paths(repo.uncommitted(paths)?),
        }),
        GitQuestion::Trailed {
            trailer,
            since,
            of_head,
        } => {
            let found = repo.trailed(trailer, *since, *of_head)?.into_iter();
            GitAnswer::Touched(GitTouched {
                commits: found.map(touch).collect(),
                uncommitted: Vec::new(),
            })
        }
    })
}

fn touch(touch: Touch) -> GitTouch {
    GitTouch {
        at: touch.committed_at,
        subject: touch.subject,
        trailers: touch.trailers,
        paths: own_paths(touch.paths),
    }
}

fn own_paths(paths: Vec<RepoPath>) -> Vec<GitPath> {
    let paths = paths.into_iter();
    paths.map(|path| GitPath::new(path.as_bytes())).collect()
}

fn head_name(head: HeadName) -> GitAnswer {
    GitAnswer::HeadName(GitHeadName {
        top_level: head.top_level,
        git_dir: Some(head.git_dir),
        name: head.name,
    })
}

fn printed(repo: &Repo, bytes: Vec<u8>) -> Result<GitAnswer, Error> {
    let text = String::from_utf8(bytes).map_err(|_| Error::Unexpected {
        args: Vec::new(),
        dir: repo.dir().to_owned(),
        what: "what git printed is not UTF-8".to_owned(),
    })?;
    Ok(GitAnswer::Printed(text))
}

fn changes(changes: Vec<Change>) -> GitAnswer {
    let changes = changes.into_iter().map(|change| GitChange {
        path: GitPath::new(change.path.as_bytes()),
        from: match change.kind {
            ChangeKind::Renamed { from } => Some(GitPath::new(from.as_bytes())),
            ChangeKind::Added
            | ChangeKind::Modified
            | ChangeKind::Deleted
            | ChangeKind::TypeChanged => None,
        },
        before: change.old.as_ref().map(entry),
        after: change.new.as_ref().map(entry),
    });
    GitAnswer::Changes(changes.collect())
}

fn entry(entry: &Entry) -> GitEntry {
    GitEntry {
        mode: entry.mode.as_octal().to_owned(),
        id: entry.id.as_str().to_owned(),
    }
}

fn worktree(worktree: rekindle_git::Worktree) -> GitWorktree {
    GitWorktree {
        // A path that is not UTF-8 is not ours; it is shown and never opened.
        path: Utf8PathBuf::from(worktree.path.to_string_lossy().into_owned()),
        head: worktree.head.map(|id| id.as_str().to_owned()),
        branch: worktree.branch,
        locked: worktree.locked,
        prunable: worktree.prunable,
    }
}

fn failure(error: &Error) -> ReadError {
    if error.is_no_repository() {
        return ReadError::NotFound;
    }
    let first: &dyn std::error::Error = error;
    let causes = std::iter::successors(Some(first), |error| error.source());
    let causes: Vec<String> = causes.map(ToString::to_string).collect();
    ReadError::Failed(causes.join(": "))
}
