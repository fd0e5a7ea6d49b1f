//! Rescues: the contents of a worktree, saved as a commit before a destructive step.
//!
//! A rescue is a commit under `refs/rekindle/rescue/<workflow>/<task>/<n>`. Its tree has every
//! tracked and untracked file byte by byte; its first parent is HEAD; a second parent has the
//! index, as in a stash, if that has content found in neither. The user's index, branch and files
//! stay as they are. `name.rs` has the names, `look.rs` the contents, `restore.rs` the restoring.
//!
//! Not saved: ignored files, empty folders, and repositories inside the worktree. A worktree
//! without changes in `git status` is not compared byte by byte, so line ends that git converts are
//! only saved along with other changes.
//!
//! The refs and trailers stay on disk until the user removes them. A reader treats a rescue with
//! unknown trailers as one without HEAD and index.

mod look;
mod name;
mod restore;

pub use look::Rescued;

use crate::brought::Brought;
use crate::commit::Message;
use crate::error::Error;
use crate::head::Head;
use crate::id::ObjectId;
use crate::log::parse_trailers;
use crate::path::one_line;
use crate::refs::Expected;
use crate::repo::{Layout, Repo};
use crate::status::StatusEntry;

const WORKTREE: &str = "Rekindle-Rescue-Worktree";
const BRANCH: &str = "Rekindle-Rescue-Branch";
const HEAD: &str = "Rekindle-Rescue-Head";
const INDEX: &str = "Rekindle-Rescue-Index";
const STAGED: &str = "Rekindle-Rescue-Staged";

/// How often the next free number is tried while others create rescues of the same task.
const MAX_RACES: u32 = 100;

/// One rescue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rescue {
    /// The full name of its ref.
    pub name: String,
    /// The workflow it was made for.
    pub workflow: String,
    /// The task it was made for.
    pub task: String,
    /// Counts up from 1 for each task.
    pub number: u32,
    /// The commit the ref is at.
    pub commit: ObjectId,
    /// The files, byte by byte.
    pub tree: ObjectId,
    /// The commit that was checked out; `None` if there was none yet.
    pub head: Option<ObjectId>,
    /// A commit of the index, if it had content that was neither in HEAD nor on the disk.
    pub index: Option<ObjectId>,
    /// The tree of that commit.
    pub index_tree: Option<ObjectId>,
    /// What of the files was staged.
    pub staged: Staged,
    /// The rescued worktree, with control characters escaped, if recorded.
    pub worktree: Option<String>,
    /// The branch that was checked out; `None` if there was none.
    pub branch: Option<String>,
    /// When it was made, in seconds since 1970.
    pub made_at: i64,
}

/// What of a rescue's files was staged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Staged {
    /// The index was as HEAD.
    Nothing,
    /// The index was as the files.
    Everything,
    /// The index had content of its own, in [`Rescue::index`].
    Apart,
    /// The rescue does not record it.
    Untold,
}

impl Repo {
    /// Saves everything in this worktree, and returns the rescue. Call it at the top of the
    /// worktree.
    ///
    /// `None` means that nothing can be lost: worktree and index are as HEAD, and another ref than
    /// the checked-out branch reaches HEAD. A second call in the same state returns the same
    /// rescue, so it may be repeated after a crash.
    pub fn rescue(&self, workflow: &str, task: &str) -> Result<Option<Rescue>, Error> {
        let layout = self.layout_at_top()?;
        let brought = Brought::of(&layout.git_dir)?;
        let real = self.head()?;
        let head = self.head_without(&real, &brought)?;
        let contents = self.contents(&layout, (&real, &head), &brought)?;
        if !contents.has_new_files() && self.is_held_elsewhere(&head)? {
            return Ok(None);
        }
        let earlier: Vec<Rescue> = self
            .rescues()?
            .into_iter()
            .filter(|rescue| rescue.workflow == workflow && rescue.task == task)
            .collect();
        let mut same = earlier
            .iter()
            .filter(|rescue| contents.are_in(rescue, &head));
        if let Some(same) = same.next_back()
            && self.is_complete(&same.commit, head.commit())?
        {
            return Ok(Some(same.clone()));
        }
        let commit = self.commit_contents(&contents, workflow, task, &layout, &head)?;
        let first = earlier
            .iter()
            .map(|rescue| rescue.number)
            .max()
            .unwrap_or(0)
            + 1;
        let name = self.take_number(workflow, task, first, &commit)?;
        if !self.is_complete(&commit, head.commit())? {
            return Err(Error::Lost { what: name });
        }
        // Read back, as `rescue list` does.
        let made = self.rescues()?;
        let made = made.into_iter().find(|rescue| rescue.name == name);
        made.map(Some).ok_or_else(|| {
            let what = "the backup that was just made is missing";
            Error::unexpected(&["for-each-ref", &name], self.dir(), what)
        })
    }

    /// Returns all rescues in this repository, by workflow, task and number.
    pub fn rescues(&self) -> Result<Vec<Rescue>, Error> {
        let fields = [
            "%(refname)",
            "%(objectname)",
            "%(tree)",
            "%(parent)",
            "%(committerdate:unix)",
            "%(contents:trailers:only,unfold)",
        ];
        // `for-each-ref` has no `-z`; each record ends with `%00` and a newline.
        let format = format!("--format={}%00", fields.join("%00"));
        let call = self.read().setting("trailer.separators=:");
        let output = call
            .args(["for-each-ref", &format, name::PREFIX])
            .output()?;
        let fields: Vec<&[u8]> = output.split(|byte| *byte == 0).collect();
        let mut rescues: Vec<Rescue> = fields.chunks_exact(6).filter_map(parse).collect();
        rescues.sort_by(|a, b| {
            (&a.workflow, &a.task, a.number).cmp(&(&b.workflow, &b.task, b.number))
        });
        Ok(rescues)
    }

    fn contents(
        &self,
        layout: &Layout,
        (real, head): (&Head, &Head),
        brought: &Brought,
    ) -> Result<Contents, Error> {
        let head_tree = match head.commit() {
            Some(commit) => self.tree_of(commit.as_str())?,
            None => None,
        };
        let head_tree = match head_tree {
            Some(tree) => tree,
            None => self.empty_tree()?,
        };
        let entries = self.index_entries(layout)?;
        let has_changed = |entry: &StatusEntry| brought.is_not_all_of(entry);
        let is_as_head = real == head && !self.status()?.iter().any(has_changed);
        // `git status` omits hidden files, so their bytes are compared.
        if is_as_head && !entries.iter().any(|entry| entry.is_hidden(layout)) {
            return Ok(Contents {
                files: head_tree.clone(),
                index: head_tree.clone(),
                head_tree,
            });
        }
        Ok(Contents {
            files: self.byte_tree(layout, &entries, brought)?,
            index: self.index_tree(layout, &entries, brought)?,
            head_tree,
        })
    }

    /// Returns whether another ref reaches the commit of HEAD.
    fn is_held_elsewhere(&self, head: &Head) -> Result<bool, Error> {
        let Some(commit) = head.commit() else {
            return Ok(true);
        };
        let own = match head {
            Head::Branch { name, .. } => format!("refs/heads/{name}"),
            Head::Detached { .. } => String::new(),
        };
        // Two are enough: one of them may be the current branch.
        let args = [
            "for-each-ref",
            "--count=2",
            "--format=%(refname)",
            "--contains",
        ];
        let output = self.read().args(args).args([commit.as_str()]).output()?;
        let refs = String::from_utf8_lossy(&output).into_owned();
        Ok(refs.lines().any(|name| name != own))
    }

    fn commit_contents(
        &self,
        contents: &Contents,
        workflow: &str,
        task: &str,
        layout: &Layout,
        head: &Head,
    ) -> Result<ObjectId, Error> {
        let mut trailers = vec![
            trailer("Rekindle-Rescue-Workflow", workflow),
            trailer("Rekindle-Rescue-Task", task),
            trailer(WORKTREE, layout.top_level.as_str()),
        ];
        if let Head::Branch { name, .. } = head {
            trailers.push(trailer(BRANCH, name));
        }
        let mut parents: Vec<ObjectId> = head.commit().into_iter().cloned().collect();
        if let Some(commit) = head.commit() {
            trailers.push(trailer(HEAD, commit.as_str()));
        }
        if let Some(index) = contents.index_to_keep() {
            let message = Message {
                subject: format!("rekindle rescue: index of {}", one_line(task)),
                ..Message::default()
            };
            parents.push(self.commit_tree(index, &parents, &message, None)?);
            trailers.push(trailer(INDEX, index.as_str()));
        } else {
            trailers.push(trailer(STAGED, contents.staged()));
        }
        let message = Message {
            subject: format!("rekindle rescue: {} {}", one_line(workflow), one_line(task)),
            body: "All files of the worktree, as they were on the disk before a step that could \
                   have destroyed them.\nSee `rekindle rescue list`."
                .to_owned(),
            trailers,
        };
        self.commit_tree(&contents.files, &parents, &message, None)
    }

    /// Creates the ref at the first free number from `first` on, and returns its name.
    fn take_number(
        &self,
        workflow: &str,
        task: &str,
        first: u32,
        commit: &ObjectId,
    ) -> Result<String, Error> {
        let mut number = first;
        loop {
            let name = name::encode(workflow, task, number);
            match self.update_ref(&name, commit, &Expected::Missing) {
                Ok(()) => return Ok(name),
                Err(Error::RefMoved { .. }) if number - first < MAX_RACES => number += 1,
                Err(error) => return Err(error),
            }
        }
    }
}

/// The contents of a worktree, as trees.
struct Contents {
    files: ObjectId,
    index: ObjectId,
    /// The empty tree while there is no commit.
    head_tree: ObjectId,
}

impl Contents {
    fn has_new_files(&self) -> bool {
        self.files != self.head_tree || self.index != self.head_tree
    }

    /// Returns the index if nothing else has its content.
    fn index_to_keep(&self) -> Option<&ObjectId> {
        let is_kept = self.index == self.files || self.index == self.head_tree;
        (!is_kept).then_some(&self.index)
    }

    /// Returns the trailer value for an index that is not saved.
    fn staged(&self) -> &'static str {
        if self.index == self.head_tree {
            "nothing"
        } else {
            "everything"
        }
    }

    fn are_in(&self, rescue: &Rescue, head: &Head) -> bool {
        rescue.tree == self.files
            && rescue.head.as_ref() == head.commit()
            && rescue.index_tree.as_ref() == self.index_to_keep()
    }
}

/// Parses one record of [`Repo::rescues`]; `None` if we did not write it.
pub(crate) fn parse(record: &[&[u8]]) -> Option<Rescue> {
    let [name, commit, tree, parents, made_at, trailers] = record else {
        return None;
    };
    let name = str::from_utf8(name).ok()?.trim_start_matches('\n');
    let (workflow, task, number) = name::decode(name)?;
    let trailers = parse_trailers(trailers);
    let value_of = |key: &str| {
        let mut found = trailers.iter().filter(|(name, _)| name == key);
        found.next().map(|(_, value)| value.as_str())
    };
    let trailer_id = |key: &str| ObjectId::parse(value_of(key)?).ok();
    let mut parents = parents
        .split(|byte| *byte == b' ')
        .filter_map(ObjectId::from_output);
    let index_tree = trailer_id(INDEX);
    Some(Rescue {
        name: name.to_owned(),
        workflow,
        task,
        number,
        commit: ObjectId::from_output(commit)?,
        tree: ObjectId::from_output(tree)?,
        head: trailer_id(HEAD),
        index: index_tree.is_some().then(|| parents.next_back()).flatten(),
        staged: match (&index_tree, value_of(STAGED)) {
            (Some(_), _) => Staged::Apart,
            (None, Some("nothing")) => Staged::Nothing,
            (None, Some("everything")) => Staged::Everything,
            (None, Some(_) | None) => Staged::Untold,
        },
        index_tree,
        worktree: value_of(WORKTREE).map(str::to_owned),
        branch: value_of(BRANCH).map(str::to_owned),
        made_at: str::from_utf8(made_at).ok()?.parse().ok()?,
    })
}

fn trailer(key: &str, value: &str) -> (String, String) {
    (key.to_owned(), one_line(value))
}
