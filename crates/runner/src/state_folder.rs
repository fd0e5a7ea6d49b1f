//! `.rekindle/`: where rekindle keeps its own things in a project.

use camino::{Utf8Path, Utf8PathBuf};
use rekindle_fs::{Company, Error, Journal, Lock, Occupancy};
use rekindle_model::{ProtocolName, WorkflowId};
use rekindle_wire::journal::Intent;

/// Everything that stands directly in the folder and is written to.
const OWN: [&str; 10] = [
    ".gitignore",
    "hook.log",
    "journal",
    "locks",
    "logs",
    "redo",
    "restored",
    "runs",
    "stopped.json",
    "worktrees",
];

/// The folder of rekindle's own files in a project.
#[derive(Debug, Clone)]
pub struct StateFolder {
    project: Utf8PathBuf,
    root: Utf8PathBuf,
}

impl StateFolder {
    /// Returns the folder of a project, which need not be there yet.
    pub fn of(project: &Utf8Path) -> Self {
        Self {
            project: project.to_owned(),
            root: project.join(".rekindle"),
        }
    }

    /// Makes the folder, with a rule that keeps it out of version control.
    ///
    /// It holds what agents were told and printed, so it is for nobody else, unless a whole group
    /// works in the project.
    ///
    /// Gives [`Error::Outside`] when a link in it leads out of the project.
    pub fn ensure(&self) -> Result<(), Error> {
        for name in OWN {
            rekindle_fs::confine(&self.project, &self.root.join(name))?;
        }
        rekindle_fs::ensure_private_dir(&self.root, Company::GroupAbove)?;
        match rekindle_fs::create(&self.root.join(".gitignore"), b"*\n") {
            Ok(()) | Err(Error::Exists { .. }) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Returns the lock file of a workflow.
    pub fn lock(&self, id: &WorkflowId) -> Utf8PathBuf {
        self.root.join("locks").join(file_name(id, "lock"))
    }

    pub(crate) fn journal(&self, id: &WorkflowId) -> Result<Utf8PathBuf, Error> {
        self.own_file(&self.root.join("journal"), &file_name(id, "jsonl"))
    }

    /// Returns the lock file of commands on the files of one name.
    pub(crate) fn transaction_lock(&self, name: &str) -> Utf8PathBuf {
        let name = format!("{}.transaction.lock", encoded(name));
        self.root.join("locks").join(name)
    }

    /// Returns the file of what a command on the files of one name has begun.
    pub(crate) fn redo(&self, name: &str) -> Utf8PathBuf {
        self.root
            .join("redo")
            .join(format!("{}.json", encoded(name)))
    }

    /// Returns the claims and logs of a workflow's attempts.
    pub(crate) fn port(&self, project: &Utf8Path, id: &WorkflowId) -> crate::port::FilePort {
        crate::port::FilePort::new(project, &self.root.join("runs"), &file_stem(id))
    }

    /// Returns the lock of a workflow by the name that its files have.
    pub(crate) fn lock_of(&self, stem: &str) -> Utf8PathBuf {
        self.root.join("locks").join(format!("{stem}.lock"))
    }

    /// Returns the folder of all worktrees.
    pub(crate) fn worktree_root(&self) -> Utf8PathBuf {
        self.root.join("worktrees")
    }

    /// Returns the folder that a rescue of a task is restored into when no other is named.
    ///
    /// Gives [`Error::Outside`] when a link leads out of the project.
    pub fn restored(&self, workflow: &str, task: &str, number: u32) -> Result<Utf8PathBuf, Error> {
        let name = format!("{}-{number}", encoded(task));
        let folder = self.root.join("restored").join(encoded(workflow));
        rekindle_fs::confine(&self.project, &folder).map(|folder| folder.join(name))
    }

    /// Returns where hooks of agents say what they could not do; a link is refused.
    pub fn hook_log(&self) -> Result<Utf8PathBuf, Error> {
        self.own_file(&self.root, "hook.log")
    }

    /// Returns where it stands why an agent's work here stopped last; a link is refused.
    pub fn stopped(&self) -> Result<Utf8PathBuf, Error> {
        self.own_file(&self.root, "stopped.json")
    }

    /// Returns the path of a file that is ours and so never a link.
    ///
    /// A link can come with a clone. Wherever it leads, in the project or out of it, what is written
    /// here would take the place of somebody else's file: [`Error::Outside`] or [`Error::NotAFile`].
    fn own_file(&self, folder: &Utf8Path, name: &str) -> Result<Utf8PathBuf, Error> {
        let path = rekindle_fs::confine(&self.project, folder)?.join(name);
        if rekindle_fs::confine(&self.project, &path)? == path {
            Ok(path)
        } else {
            Err(Error::NotAFile { path })
        }
    }

    /// Returns the folder of a workflow's worktrees.
    pub(crate) fn worktrees(&self, id: &WorkflowId) -> Utf8PathBuf {
        self.root.join("worktrees").join(file_stem(id))
    }

    /// Returns whether an earlier runner has begun something that it did not end.
    pub fn is_unfinished(&self, id: &WorkflowId) -> Result<bool, Error> {
        let journal = Journal::<Intent>::open(&self.journal(id)?)?;
        Ok(!journal.open_intents().is_empty())
    }

    /// Returns the tasks whose newest attempt has a worker that is alive.
    pub fn tasks_at_work(&self, id: &WorkflowId) -> Vec<String> {
        self.port(&self.project, id).tasks_at_work()
    }

    /// Tells who holds a workflow, without making or disturbing anything.
    pub fn holder(&self, id: &WorkflowId) -> Result<Occupancy, Error> {
        Lock::probe(&self.lock(id))
    }
}

fn file_name(id: &WorkflowId, extension: &str) -> String {
    format!("{}.{extension}", file_stem(id))
}

/// Returns the name that a workflow's files and folders have.
fn file_stem(id: &WorkflowId) -> String {
    let stem = encoded(&format!("{}-{}", id.protocol, id.name));
    if protocol_of(&stem) == Some(id.protocol) {
        return stem;
    }
    // `teams-x` of `kiln` must not share its files with `x` of `kiln-teams`.
    let (head, rest) = stem.split_at(id.protocol.as_str().len() + 1);
    let mut rest = rest.chars();
    match rest.next() {
        Some(first) => format!("{head}%{:02x}{}", u32::from(first), rest.as_str()),
        None => stem,
    }
}

/// Returns the protocol with the longest name that a stem begins with.
fn protocol_of(stem: &str) -> Option<ProtocolName> {
    let begins = |protocol: &&ProtocolName| {
        let rest = stem.strip_prefix(protocol.as_str());
        rest.is_some_and(|rest| rest.starts_with('-'))
    };
    let found = ProtocolName::ALL.iter().filter(begins);
    found
        .max_by_key(|protocol| protocol.as_str().len())
        .copied()
}

/// Returns the name of the workflow whose files have this stem, or the stem where that can not be told.
pub(crate) fn workflow_of(stem: &str) -> String {
    let name = protocol_of(stem).and_then(|protocol| {
        let name = unescaped(stem.get(protocol.as_str().len() + 1..)?)?;
        let is_it = file_stem(&WorkflowId::new(protocol, &name)) == stem;
        is_it.then_some(name)
    });
    name.unwrap_or_else(|| stem.to_owned())
}

/// Returns what [`encoded`] made this of; a name that was cut stays so.
pub(crate) fn decoded(part: &str) -> Option<String> {
    unescaped(part).filter(|name| encoded(name) == part)
}

fn unescaped(part: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(part.len());
    let mut rest = part.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let digits = [rest.next()?, rest.next()?];
        bytes.push(u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?);
    }
    String::from_utf8(bytes).ok()
}

/// Returns a name as one part of a path; whatever can not stand in one is written as `%XX`.
pub(crate) fn encoded(name: &str) -> String {
    let mut safe = String::with_capacity(name.len());
    for (at, byte) in name.bytes().enumerate() {
        let plain =
            byte.is_ascii_alphanumeric() || b"-_".contains(&byte) || (byte == b'.' && at > 0);
        if plain {
            safe.push(char::from(byte));
        } else {
            safe.push_str(&format!("%{byte:02X}"));
        }
    }
    // A file's name has at most 255 bytes; longer names are told apart by a digest.
    if safe.len() > 200 {
        let digest = rekindle_fs::Fingerprint::of(name.as_bytes()).to_hex();
        safe.truncate(160);
        safe.push('-');
        safe.push_str(&digest[..32]);
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_workflow_is_told_by_the_name_of_its_files() {
        for name in [
            "20260119-0900-x",
            "../a b",
            "żółw",
            "phase-1:exec",
            "teams-x",
            ".x",
            "",
        ] {
            for protocol in ProtocolName::ALL {
                let stem = file_stem(&WorkflowId::new(*protocol, name));
                assert_eq!(workflow_of(&stem), name, "{stem}");
            }
            assert_eq!(decoded(&encoded(name)).as_deref(), Some(name));
        }
        for stem in ["elsewhere", "agent-memory-%zz", "agent-memory-%2f"] {
            assert_eq!(workflow_of(stem), stem);
        }
    }

    #[test]
    fn what_is_restored_stays_in_the_project_under_a_name_of_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let project = Utf8Path::from_path(folder.path()).unwrap();
        let project = project.canonicalize_utf8().unwrap();
        let state = StateFolder::of(&project);
        let path = state.restored("../../w", "../t/-1", 2).unwrap();
        let expected = project.join(".rekindle/restored/%2E.%2F..%2Fw/%2E.%2Ft%2F-1-2");
        assert_eq!(path, expected);
        std::os::unix::fs::symlink("/", project.join(".rekindle")).unwrap();
        assert!(state.restored("w", "t", 1).is_err());
    }

    #[test]
    fn a_link_in_the_place_of_a_file_of_ours_is_refused_wherever_it_leads() {
        let folder = tempfile::tempdir().unwrap();
        let base = Utf8Path::from_path(folder.path()).unwrap();
        let project = base.canonicalize_utf8().unwrap().join("project");
        let state = StateFolder::of(&project);
        let id = WorkflowId::new(ProtocolName::AgentMemory, "x");
        rekindle_fs::ensure_dir(&project).unwrap();
        // Nothing is there yet, and that is no link.
        assert_eq!(
            state.journal(&id).unwrap(),
            project.join(".rekindle/journal/agent-memory-x.jsonl")
        );
        state.ensure().unwrap();
        for target in ["../README.md", "../../outside", "/etc/passwd", "hook.log"] {
            let links = ["stopped.json", "journal/agent-memory-x.jsonl"].map(|name| {
                let link = project.join(".rekindle").join(name);
                rekindle_fs::ensure_dir(link.parent().unwrap()).unwrap();
                std::os::unix::fs::symlink(target, &link).unwrap();
                link
            });
            assert!(state.stopped().is_err(), "{target}");
            assert!(state.journal(&id).is_err(), "{target}");
            for link in links {
                rustix::fs::unlink(link.as_str()).unwrap();
            }
        }
        assert_eq!(
            state.stopped().unwrap(),
            project.join(".rekindle/stopped.json")
        );
    }

    #[test]
    fn names_of_workflows_can_not_lead_elsewhere_or_meet() {
        let name =
            |text: &str| file_name(&WorkflowId::new(ProtocolName::AgentMemory, text), "lock");
        assert_eq!(name("20260119-0900-x"), "agent-memory-20260119-0900-x.lock");
        assert_eq!(name("../a b"), "agent-memory-..%2Fa%20b.lock");
        let (long, longer) = (name(&"x".repeat(400)), name(&"x".repeat(401)));
        assert!(long.len() < 255 && long != longer);
    }
}
