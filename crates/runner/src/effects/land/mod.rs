//! Lands a worktree: its files into the project's checkout, the index, and one commit on the branch.
//!
//! The commit is the proof, so it comes last, and all earlier steps can be repeated: the project must
//! have the contents of the worktree's base or of its result, and gets the
//! latter. Anything else is somebody's work; then nothing is changed. `check` compares, `hidden`
//! finds edits that git does not show, `write` copies.

mod check;
mod hidden;
mod write;

use std::collections::BTreeSet;

use camino::Utf8Path;
use rekindle_fs::{Node, Tree};
use rekindle_git::{
    Change, Entry, Expected, Head, Message, Mode, ObjectId, OwnWorktree, Repo, RepoPath,
};
use rekindle_model::{LandedFile, Landing};

use super::Repeated;
use crate::reach::Site;
use crate::{Error, crash};

/// How often a moving branch is followed before the landing fails.
const MOST_MOVES: u32 = 20;

/// Lands a worktree, unless it has landed.
pub(super) fn perform(site: &Site, landing: &Landing) -> Result<Repeated, Error> {
    let program = site.git()?;
    let top = Repo::at(&program, &site.project).top_level()?;
    let repo = Repo::at(&program, top);
    // A full id and nothing else: a name could lead anywhere.
    let base = ObjectId::parse(&landing.base)?;
    if repo.resolve(base.as_str())?.is_none() {
        return Err(landing_moved(landing, "its base commit is missing"));
    }
    let mut work = None;
    for _ in 0..MOST_MOVES {
        let head = repo.head()?;
        let Some(tip) = head.commit() else {
            return Err(Error::NoCommit);
        };
        if has_landed(&repo, &base, tip, &landing.subject)? {
            return Ok(match work {
                Some(_) => Repeated::Done,
                None => Repeated::Already,
            });
        }
        let Head::Branch { name, .. } = &head else {
            return Err(Error::NoBranch);
        };
        let work = match &mut work {
            Some(work) => work,
            none => none.insert(Work::read(&repo, &base, landing)?),
        };
        if land_on(&repo, &base, (name, tip), landing, work)? {
            return Ok(Repeated::Done);
        }
    }
    Err(Error::BranchMoves {
        branch: repo.head()?.branch().unwrap_or("HEAD").to_owned(),
    })
}

/// Lands on a branch at a commit. Returns false if the branch has moved.
fn land_on(
    repo: &Repo,
    base: &ObjectId,
    (branch, tip): (&str, &ObjectId),
    landing: &Landing,
    work: &Work,
) -> Result<bool, Error> {
    let tree = Tree::open(repo.dir().as_std_path())?;
    let found = check::check(repo, base, tip, &tree, work)?;
    write::write(&tree, work, &found)?;
    crash::point("land-before-stage");
    if !found.is_staged {
        repo.stage(&work.changes)?;
    }
    crash::point("land-after-stage");
    let files = repo.overlay(tip, &work.changes)?;
    let message = Message {
        subject: landing.subject.clone(),
        ..Message::default()
    };
    let commit = repo.commit_tree(&files, std::slice::from_ref(tip), &message, None)?;
    crash::point("land-before-ref");
    let expected = Expected::At(tip.clone());
    match repo.update_ref(&format!("refs/heads/{branch}"), &commit, &expected) {
        Ok(()) => {}
        Err(rekindle_git::Error::RefMoved { .. }) => return Ok(false),
        Err(error) => return Err(error.into()),
    }
    crash::point("land-after-ref");
    Ok(true)
}

/// Returns whether a commit with this subject has come after `base`.
fn has_landed(repo: &Repo, base: &ObjectId, tip: &ObjectId, subject: &str) -> Result<bool, Error> {
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let wanted = words(subject);
    let commits = repo.log(&format!("{base}..{tip}"))?;
    Ok(commits
        .iter()
        .any(|commit| words(&commit.subject) == wanted))
}

/// The changes of a worktree since its base.
struct Work {
    task: String,
    tree: Tree,
    changes: Vec<Change>,
    /// The contents of each path of `changes` in the worktree.
    sources: Vec<Node>,
}

impl Work {
    /// Reads the worktree, which must be unchanged since the plan.
    fn read(repo: &Repo, base: &ObjectId, landing: &Landing) -> Result<Self, Error> {
        let moved = |what: &str| landing_moved(landing, what);
        refuse_submodules(landing)?;
        let there = verify_registered(repo, base, &landing.worktree, &moved)?;
        let tree = Tree::open(landing.worktree.as_std_path())?;
        // Read before git reads it, and again while copying: what is the same at both times
        // is what git has seen in between.
        let look = |file: &LandedFile| tree.look(RepoPath::new(file.path.clone()).as_path());
        let files = sorted(&landing.files);
        let sources = files.iter().map(look).collect::<Result<Vec<_>, _>>()?;
        let leave_out: Vec<RepoPath> = landing
            .leave_out
            .iter()
            .map(|name| RepoPath::from(name.as_str()))
            .collect();
        let snapshot = there.repo().snapshot_tree(&leave_out)?;
        let mut changes = repo.between(base, &snapshot)?;
        changes.sort_by(|one, other| one.path.cmp(&other.path));
        let found: Vec<LandedFile> = changes.iter().map(landed).collect();
        let mut sources = sources;
        if found != files {
            // The plan was made without filters, which change the ids of some files.
            let looking = there.repo().for_looking();
            let seen = looking.changes_except(base, &leave_out)?;
            let seen: Vec<LandedFile> = seen.iter().map(landed).collect();
            let paths = |list: &[LandedFile]| -> BTreeSet<Vec<u8>> {
                list.iter().map(|file| file.path.clone()).collect()
            };
            let found = paths(&found);
            if sorted(&seen) != files || !found.is_subset(&paths(&files)) {
                return Err(moved("its files changed since they were read"));
            }
            let looked = files.iter().zip(sources);
            let landing = looked.filter(|(file, _)| found.contains(&file.path));
            sources = landing.map(|(_, source)| source).collect();
        }
        Ok(Self {
            task: landing.task.clone(),
            tree,
            changes,
            sources,
        })
    }
}

fn landing_moved(landing: &Landing, what: &str) -> Error {
    Error::WorktreeMoved {
        task: landing.task.clone(),
        worktree: landing.worktree.clone(),
        what: what.to_owned(),
    }
}

fn sorted(files: &[LandedFile]) -> Vec<LandedFile> {
    let mut files = files.to_vec();
    files.sort_by(|one, other| one.path.cmp(&other.path));
    files
}

fn landed(change: &Change) -> LandedFile {
    let entry = |entry: &Entry| (entry.mode.as_octal().to_owned(), entry.id.to_string());
    LandedFile {
        path: change.path.as_bytes().to_vec(),
        before: change.old.as_ref().map(entry),
        after: change.new.as_ref().map(entry),
    }
}

/// A submodule is a commit of another repository; its files cannot be copied.
fn refuse_submodules(landing: &Landing) -> Result<(), Error> {
    let is_submodule = |side: &Option<(String, String)>| {
        side.as_ref()
            .is_some_and(|(mode, _)| mode == Mode::Submodule.as_octal())
    };
    let mut files = landing.files.iter();
    match files.find(|file| is_submodule(&file.before) || is_submodule(&file.after)) {
        None => Ok(()),
        Some(file) => Err(Error::Submodule {
            task: landing.task.clone(),
            path: RepoPath::new(file.path.clone()).to_string(),
        }),
    }
}

/// Checks that the worktree belongs to this repository, is not the project, and is still at its base.
fn verify_registered(
    repo: &Repo,
    base: &ObjectId,
    worktree: &Utf8Path,
    moved: &dyn Fn(&str) -> Error,
) -> Result<OwnWorktree, Error> {
    let Ok(place) = worktree.canonicalize_utf8() else {
        return Err(moved("it does not exist"));
    };
    let is_there = |path: &Utf8Path| path.canonicalize_utf8().is_ok_and(|path| path == place);
    if is_there(repo.dir()) {
        return Err(moved("it is the project itself"));
    }
    // The first is the main one, which has the repository in it.
    let registered = repo.worktrees()?.into_iter().skip(1);
    let mut ours = registered.filter(|one| Utf8Path::from_path(&one.path).is_some_and(is_there));
    let Some(found) = ours.next() else {
        return Err(moved("it is not a worktree of this repository"));
    };
    // Without its `.git`, git would treat a folder in the project as part of the project.
    let Ok(there) = OwnWorktree::open(repo.program(), &repo.common_dir()?, worktree) else {
        return Err(moved("it is no longer a worktree of this repository"));
    };
    if found.head.as_ref() == Some(base) {
        Ok(there)
    } else {
        Err(moved("it is no longer at its base commit"))
    }
}
