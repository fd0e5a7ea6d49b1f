//! Everything in a worktree, kept as a commit before a destructive step.
//!
//! A rescue is a commit under `refs/rekindle/rescue/<workflow>/<task>/<n>`. Its tree has every
//! tracked and untracked file byte by byte; its first parent is HEAD; if the index has content that
//! is in neither, a second parent has the index, as in a stash. The user's index, branch and files
//! stay as they are. `name.rs` has the names, `look.rs` says what is in one, `restore.rs` is the way
//! back.
//!
//! Not kept: ignored files, empty folders, and repositories inside the worktree. A worktree in which
//! git sees no change at all is not looked at byte by byte, so line ends that git would convert
//! anyway are only kept along with other changes.
//!
//! The refs and trailers are on disk for as long as the user wants them. A reader takes a rescue
//! whose trailers it does not know as one without HEAD and index; nothing else depends on them.

mod look;
mod name;
mod restore;

pub use look::Rescued;

use crate::commit::Message;
use crate::error::Error;
use crate::head::Head;
use crate::id::ObjectId;
use crate::log::parse_trailers;
use crate::refs::Expected;
use crate::repo::{Layout, Repo};

const WORKTREE: &str = "Rekindle-Rescue-Worktree";
const BRANCH: &str = "Rekindle-Rescue-Branch";
const HEAD: &str = "Rekindle-Rescue-Head";
const INDEX: &str = "Rekindle-Rescue-Index";
const STAGED: &str = "Rekindle-Rescue-Staged";

/// How often the next free number is tried while others make rescues of the same task.
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
    /// A commit of the index, if that had content which was neither in HEAD nor on the disk.
    pub index: Option<ObjectId>,
    /// The tree of that commit.
    pub index_tree: Option<ObjectId>,
    /// What of the files was staged.
    pub staged: Staged,
    /// The worktree it was made from, with control characters escaped; `None` if that is not told.
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
    /// The index had content of its own, which is in [`Rescue::index`].
    Apart,
    /// The rescue does not tell.
    Untold,
}

impl Repo {
    /// Keeps everything in this worktree, and returns where.
    ///
    /// `None` means that there is nothing to lose: the worktree and the index are as HEAD, and HEAD
    /// can be reached from a ref other than the branch that is checked out (which a reset would
    /// move). A second call in the same state returns the same rescue, so it may be repeated after
    /// a crash. Must be called at the top of the worktree.
    pub fn rescue(&self, workflow: &str, task: &str) -> Result<Option<Rescue>, Error> {
        let layout = self.layout_at_top()?;
        let head = self.head()?;
        let contents = self.contents(&layout)?;
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
        // Read back, as `rescue list` will. `None` would mean that nothing has to be kept.
        let made = self.rescues()?;
        let made = made.into_iter().find(|rescue| rescue.name == name);
        made.map(Some).ok_or_else(|| Error::Unexpected {
            args: vec!["for-each-ref".to_owned(), name],
            dir: self.dir().to_owned(),
            what: "the rescue that was just made is not there".to_owned(),
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
        // There is no `-z`; each record ends with `%00` and the newline that git adds.
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

    fn contents(&self, layout: &Layout) -> Result<Contents, Error> {
        let head_tree = match self.tree_of("HEAD")? {
            Some(tree) => tree,
            None => self.empty_tree()?,
        };
        let entries = self.index_entries(layout)?;
        // `git status` is silent about hidden files, so only their bytes can tell.
        if self.status()?.is_empty() && !entries.iter().any(|entry| entry.is_hidden(layout)) {
            return Ok(Contents {
                files: head_tree.clone(),
                index: head_tree.clone(),
                head_tree,
            });
        }
        Ok(Contents {
            files: self.byte_tree(layout, &entries)?,
            index: self.index_tree(layout, &entries)?,
            head_tree,
        })
    }

    /// Whether the commit of HEAD stays reachable whatever happens to this worktree.
    fn is_held_elsewhere(&self, head: &Head) -> Result<bool, Error> {
        let Some(commit) = head.commit() else {
            return Ok(true);
        };
        let own = match head {
            Head::Branch { name, .. } => format!("refs/heads/{name}"),
            Head::Detached { .. } => String::new(),
        };
        // Two are enough: one of them may be our own.
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

    /// Makes the ref at the first free number from `first` on, and returns its name.
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

/// What a worktree holds, as trees.
struct Contents {
    files: ObjectId,
    index: ObjectId,
    /// The tree without files while there is no commit.
    head_tree: ObjectId,
}

impl Contents {
    fn has_new_files(&self) -> bool {
        self.files != self.head_tree || self.index != self.head_tree
    }

    /// Returns the index if its content is kept by nothing else.
    fn index_to_keep(&self) -> Option<&ObjectId> {
        let is_kept = self.index == self.files || self.index == self.head_tree;
        (!is_kept).then_some(&self.index)
    }

    /// Returns the word for an index that is not kept.
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

/// Reads one record of [`Repo::rescues`]; what was not made by us is passed over.
pub(crate) fn parse(record: &[&[u8]]) -> Option<Rescue> {
    let [name, commit, tree, parents, made_at, trailers] = record else {
        return None;
    };
    let name = str::from_utf8(name).ok()?.trim_start_matches('\n');
    let (workflow, task, number) = name::decode(name)?;
    let trailers = parse_trailers(trailers);
    let told = |key: &str| {
        let mut found = trailers.iter().filter(|(name, _)| name == key);
        found.next().map(|(_, value)| value.as_str())
    };
    let trailer_id = |key: &str| ObjectId::parse(told(key)?).ok();
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
        staged: match (&index_tree, told(STAGED)) {
            (Some(_), _) => Staged::Apart,
            (None, Some("nothing")) => Staged::Nothing,
            (None, Some("everything")) => Staged::Everything,
            (None, Some(_) | None) => Staged::Untold,
        },
        index_tree,
        worktree: told(WORKTREE).map(str::to_owned),
        branch: told(BRANCH).map(str::to_owned),
        made_at: str::from_utf8(made_at).ok()?.parse().ok()?,
    })
}

fn trailer(key: &str, value: &str) -> (String, String) {
    (key.to_owned(), one_line(value))
}

/// Escapes control characters; a name from a state file may hold any.
fn one_line(text: &str) -> String {
    let mut line = String::new();
    for character in text.chars() {
        if character.is_control() {
            line.extend(character.escape_default());
        } else {
            line.push(character);
        }
    }
    line
}
