//! `.rekindle/`: rekindle's own files in a project.

use std::ffi::OsStr;

use camino::{Utf8Path, Utf8PathBuf};
use rekindle_fs::{Company, Error, Journal, Lock, Occupancy, Seal};
use rekindle_git::{Program, Repo};
use rekindle_model::{ProtocolName, WorkflowId};
use rekindle_wire::journal::Intent;

use crate::StillAtWork;
use crate::binding::{Binding, Foreign};

/// The folders in it; each file is looked at when its path is asked for.
const OWN: [&str; 8] = [
    "agreed",
    "journal",
    "locks",
    "logs",
    "redo",
    "restored",
    "runs",
    "worktrees",
];

/// The only file that a team may keep in its repository.
const TRACKED_CONFIG: &[u8] = b".rekindle/config.toml";
/// The most tracked files that are listed.
const MOST_TRACKED: usize = 3;

/// The folder of rekindle's own files in a project.
#[derive(Debug, Clone)]
pub struct StateFolder {
    project: Utf8PathBuf,
    root: Utf8PathBuf,
    binding: Binding,
    protocols: &'static [ProtocolName],
}

impl StateFolder {
    /// Returns the folder of a project, which may not exist yet.
    ///
    /// `key` is the path of the user's key, which may not exist yet; without a path no record can be
    /// written, and none counts. `protocols` are all protocols, to distinguish names of files.
    pub fn of(
        project: &Utf8Path,
        key: Option<&Utf8Path>,
        protocols: &'static [ProtocolName],
    ) -> Self {
        Self {
            project: project.to_owned(),
            root: project.join(".rekindle"),
            binding: Binding::new(project, key),
            protocols,
        }
    }

    /// Returns the project.
    pub fn project(&self) -> &Utf8Path {
        &self.project
    }

    pub(crate) fn binding(&self) -> &Binding {
        &self.binding
    }

    /// Returns the seal of a file of ours, to write it.
    pub(crate) fn sealing(&self, file: &Utf8Path) -> Result<Seal, Error> {
        self.binding.sealing(file)
    }

    /// Returns some of its files that are in git's index or in the last commit, other than the
    /// configuration; each is one line.
    pub fn tracked(&self, search_path: &OsStr) -> Result<Vec<String>, rekindle_git::Error> {
        let is_nothing = self.root.symlink_metadata().is_err();
        if is_nothing || rekindle_git::common_dir_on_disk(&self.project).is_none() {
            return Ok(Vec::new());
        }
        let Ok(program) = Program::find(search_path) else {
            return Ok(Vec::new());
        };
        let found = Repo::at(&program, &self.project).tracked(".rekindle")?;
        let others = found
            .iter()
            .filter(|path| path.as_bytes() != TRACKED_CONFIG);
        Ok(others.take(MOST_TRACKED).map(ToString::to_string).collect())
    }

    /// Creates the folder, with a rule that keeps it out of version control.
    ///
    /// It contains prompts and output of agents, so only the user may read it, unless a whole group
    /// works in the project.
    ///
    /// Gives [`Error::Link`] if it is a link, or contains one: a clone must not make us write
    /// elsewhere, in the project or outside of it.
    pub fn ensure(&self) -> Result<(), Error> {
        for name in OWN {
            rekindle_fs::refuse_links(&self.project, &self.root.join(name))?;
        }
        rekindle_fs::ensure_private_dir(&self.root, Company::GroupAbove)?;
        match rekindle_fs::create(&self.root.join(".gitignore"), b"*\n") {
            Ok(()) | Err(Error::Exists { .. }) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Returns the lock file of a workflow.
    pub fn lock(&self, id: &WorkflowId) -> Utf8PathBuf {
        self.root.join("locks").join(self.file_name(id, "lock"))
    }

    pub(crate) fn journal(&self, id: &WorkflowId) -> Result<Utf8PathBuf, Error> {
        self.own_file(&self.root.join("journal"), &self.file_name(id, "jsonl"))
    }

    /// Returns the file of the commands that the user agreed to; a link is refused.
    pub(crate) fn agreed_file(&self, id: &WorkflowId) -> Result<Utf8PathBuf, Error> {
        self.own_file(&self.root.join("agreed"), &self.file_name(id, "json"))
    }

    /// Returns the folder of a workflow's attempts; a link is refused.
    pub(crate) fn attempts(&self, id: &WorkflowId) -> Result<Utf8PathBuf, Error> {
        self.own_file(&self.root.join("runs"), &self.file_stem(id))
    }

    /// Returns the lock file of commands on the files of one name.
    pub(crate) fn transaction_lock(&self, name: &str) -> Utf8PathBuf {
        let name = format!("{}.transaction.lock", encoded(name));
        self.root.join("locks").join(name)
    }

    /// Returns the file with the unfinished steps of a command on the files of one name.
    pub(crate) fn redo(&self, name: &str) -> Utf8PathBuf {
        self.root
            .join("redo")
            .join(format!("{}.json", encoded(name)))
    }

    /// Returns the claims and logs of a workflow's attempts.
    pub(crate) fn port(&self, id: &WorkflowId) -> crate::port::FilePort {
        let root = self.root.join("runs").join(self.file_stem(id));
        crate::port::FilePort::new(&self.project, root, self.binding.clone())
    }

    /// Returns the lock of a workflow by the name that its files have.
    pub(crate) fn lock_of(&self, stem: &str) -> Utf8PathBuf {
        self.root.join("locks").join(format!("{stem}.lock"))
    }

    /// Returns the folder of all worktrees.
    pub(crate) fn worktree_root(&self) -> Utf8PathBuf {
        self.root.join("worktrees")
    }

    /// Returns the default folder for restoring a task's rescue.
    ///
    /// Gives [`Error::Link`] if a link is on the way to it.
    pub fn restored(&self, workflow: &str, task: &str, number: u32) -> Result<Utf8PathBuf, Error> {
        let name = format!("{}-{number}", encoded(task));
        let folder = self.root.join("restored").join(encoded(workflow));
        self.own_file(&folder, &name)
    }

    /// Returns the log of failed hooks; a link is refused.
    pub fn hook_log(&self) -> Result<Utf8PathBuf, Error> {
        self.own_file(&self.root, "hook.log")
    }

    /// Returns the note of why an agent's last turn here ended; a link is refused.
    pub fn stopped(&self) -> Result<Utf8PathBuf, Error> {
        self.own_file(&self.root, "stopped.json")
    }

    /// Returns the path of the record of what sessions were told; a link is refused.
    pub fn told(&self) -> Result<Utf8PathBuf, Error> {
        self.own_file(&self.root, "told.json")
    }

    /// Returns the path of the record of what the user was notified of; a link is refused.
    pub fn notified(&self) -> Result<Utf8PathBuf, Error> {
        self.own_file(&self.root, "notified.json")
    }

    /// Returns the path of the record of finished workflows; a link is refused.
    pub(crate) fn finished_file(&self) -> Result<Utf8PathBuf, Error> {
        self.own_file(&self.root, "finished.json")
    }

    /// Returns the path of the list of muted workflows; a link is refused.
    pub fn muted(&self) -> Result<Utf8PathBuf, Error> {
        self.own_file(&self.root, "muted")
    }

    /// Returns the path of a file of ours, without links on the way to it: [`Error::Link`].
    ///
    /// A link can come with a clone. Wherever it leads, in the project or outside of it, a write
    /// would replace somebody else's file.
    fn own_file(&self, folder: &Utf8Path, name: &str) -> Result<Utf8PathBuf, Error> {
        let path = folder.join(name);
        rekindle_fs::refuse_links(&self.project, &path)?;
        Ok(path)
    }

    /// Returns the pool of worktrees.
    pub(crate) fn pool(&self) -> crate::pool::Pool {
        let root = self.worktree_root().join(crate::pool::FOLDER);
        crate::pool::Pool::new(&self.project, root, self.binding.clone())
    }

    /// Returns the place of a worktree that belongs to one task.
    pub(crate) fn place(&self, protocol: &str, workflow: &str, task: &str) -> Utf8PathBuf {
        let mut known = self.protocols.iter();
        let folder = match known.find(|known| known.as_str() == protocol) {
            Some(protocol) => self.worktrees(&WorkflowId::new(*protocol, workflow)),
            None => self.worktree_root().join(encoded(workflow)),
        };
        folder.join(encoded(task))
    }

    /// Returns the folder of a workflow's worktrees.
    pub(crate) fn worktrees(&self, id: &WorkflowId) -> Utf8PathBuf {
        self.root.join("worktrees").join(self.file_stem(id))
    }

    /// Returns whether an earlier runner has started something that it did not finish.
    ///
    /// Lines of others in the journal do not count.
    pub fn is_unfinished(&self, id: &WorkflowId) -> Result<bool, Error> {
        Ok(!self.read_journal(id)?.open_intents().is_empty())
    }

    /// Returns the unfinished steps of an earlier runner, one line each.
    pub fn unfinished(&self, id: &WorkflowId) -> Result<Vec<String>, Error> {
        let journal = self.read_journal(id)?;
        let open = journal.open_intents().iter();
        let lines = open.flat_map(|open| match &open.body {
            Intent::Effects(effects) => (0..)
                .zip(effects)
                .filter(|(step, _)| !open.steps_done.contains(step))
                .flat_map(|(_, effect)| crate::effects::lines(effect))
                .collect(),
            Intent::Agent { .. } | Intent::Agreed { .. } => Vec::new(),
        });
        Ok(lines.collect())
    }

    /// Returns the records of a workflow that would be used if they were ours, but are not.
    ///
    /// `tasks` are those whose last attempt a resume would continue.
    pub fn foreign<'a>(
        &self,
        id: &WorkflowId,
        tasks: impl IntoIterator<Item = &'a str>,
    ) -> Result<Vec<Foreign>, Error> {
        let mut found = Vec::new();
        if self.read_journal(id)?.n_foreign_intents() > 0 {
            found.push(self.binding.foreign(&self.journal(id)?));
        }
        let redo = self.redo(&format!("{}-{}", id.protocol, id.name));
        if crate::transaction::is_foreign(self, &redo) {
            found.push(self.binding.foreign(&redo));
        }
        let port = self.port(id);
        let orders = tasks.into_iter().filter_map(|task| port.foreign(task));
        found.extend(orders.map(|(_, order)| self.binding.foreign(&order)));
        Ok(found)
    }

    /// Returns the length of a workflow's journal: written lines are never removed.
    pub fn position(&self, id: &WorkflowId) -> Result<u64, Error> {
        let path = self.journal(id)?;
        Ok(path.symlink_metadata().map_or(0, |found| found.len()))
    }

    fn read_journal(&self, id: &WorkflowId) -> Result<Journal<Intent>, Error> {
        let path = self.journal(id)?;
        Journal::open(&path, self.binding.seal(&path))
    }

    /// Returns the tasks whose newest attempt has a worker that is alive.
    pub fn tasks_at_work(&self, id: &WorkflowId) -> Vec<String> {
        let at_work = self.port(id).at_work().into_iter();
        at_work.map(|(task, _, _)| task).collect()
    }

    /// Reports every living worker of a workflow, whichever orchestrator started it: a command
    /// ends with an error and leaves them running.
    pub fn report_workers(&self, id: &WorkflowId, report: &mut dyn FnMut(&StillAtWork)) {
        self.port(id).workers().iter().for_each(report);
    }

    /// Returns who holds a workflow that a record names; nobody holds one of an unknown protocol.
    pub(crate) fn holder_of(&self, protocol: &str, workflow: &str) -> Result<Occupancy, Error> {
        let mut known = self.protocols.iter();
        match known.find(|known| known.as_str() == protocol) {
            Some(protocol) => self.holder(&WorkflowId::new(*protocol, workflow)),
            None => Ok(Occupancy::Free),
        }
    }

    /// Returns who holds a workflow, without creating or disturbing anything.
    pub fn holder(&self, id: &WorkflowId) -> Result<Occupancy, Error> {
        let lock = self.lock(id);
        rekindle_fs::refuse_links(&self.project, &lock)?;
        Lock::probe(&lock)
    }
}

/// Renames a record that cannot be used, so that it is kept. Returns the new name.
pub(crate) fn put_aside(record: &Utf8Path) -> Result<Utf8PathBuf, Error> {
    let mut n = 1;
    loop {
        let aside = Utf8PathBuf::from(format!("{record}.aside-{n}"));
        match rekindle_fs::rename(record, &aside) {
            Err(Error::Exists { .. }) => n += 1,
            other => return other.map(|()| aside),
        }
    }
}

impl StateFolder {
    fn file_name(&self, id: &WorkflowId, extension: &str) -> String {
        format!("{}.{extension}", self.file_stem(id))
    }

    /// Returns the name of a workflow's files and folders.
    pub(crate) fn file_stem(&self, id: &WorkflowId) -> String {
        let stem = encoded(&format!("{}-{}", id.protocol, id.name));
        let is_another = |protocol: ProtocolName| protocol != id.protocol;
        if !self.protocol_of(&stem).is_some_and(is_another) {
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

    /// Returns the protocol with the longest name that a stem starts with.
    fn protocol_of(&self, stem: &str) -> Option<ProtocolName> {
        let begins = |protocol: &&ProtocolName| {
            let rest = stem.strip_prefix(protocol.as_str());
            rest.is_some_and(|rest| rest.starts_with('-'))
        };
        let found = self.protocols.iter().filter(begins);
        found
            .max_by_key(|protocol| protocol.as_str().len())
            .copied()
    }

    /// Returns the name of the workflow whose files have this stem, or the stem if there is none.
    pub(crate) fn workflow_of(&self, stem: &str) -> String {
        let name = self.protocol_of(stem).and_then(|protocol| {
            let name = rekindle_text::percent_decoded(stem.get(protocol.as_str().len() + 1..)?)?;
            let is_it = self.file_stem(&WorkflowId::new(protocol, &name)) == stem;
            is_it.then_some(name)
        });
        name.unwrap_or_else(|| stem.to_owned())
    }
}

/// Decodes an encoded name; a truncated name stays as it is.
pub(crate) fn decoded(part: &str) -> Option<String> {
    rekindle_text::percent_decoded(part).filter(|name| encoded(name) == part)
}

/// Returns a name as one part of a path; other characters are written as `%XX`.
pub(crate) fn encoded(name: &str) -> String {
    let is_plain = |bytes: &[u8], at: usize| match bytes[at] {
        b'.' => at > 0,
        byte => byte.is_ascii_alphanumeric() || b"-_".contains(&byte),
    };
    let mut safe = rekindle_text::percent_encoded(name, is_plain);
    // A file's name has at most 255 bytes; longer names are distinguished by a digest.
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

    const PROTOCOLS: &[ProtocolName] = &[
        ProtocolName::new("agent-memory"),
        ProtocolName::new("kiln"),
        ProtocolName::new("kiln-teams"),
    ];

    fn state(project: &Utf8Path) -> StateFolder {
        StateFolder::of(project, None, PROTOCOLS)
    }

    #[test]
    fn a_workflow_is_identified_by_the_name_of_its_files() {
        for name in [
            "20260119-0900-x",
            "../a b",
            "żółw",
            "phase-1:exec",
            "teams-x",
            ".x",
            "",
        ] {
            for protocol in PROTOCOLS {
                let stem = state("/w".into()).file_stem(&WorkflowId::new(*protocol, name));
                assert_eq!(state("/w".into()).workflow_of(&stem), name, "{stem}");
            }
            assert_eq!(decoded(&encoded(name)).as_deref(), Some(name));
        }
        for stem in ["elsewhere", "agent-memory-%zz", "agent-memory-%2f"] {
            assert_eq!(state("/w".into()).workflow_of(stem), stem);
        }
    }

    #[test]
    fn what_is_restored_stays_in_the_project_under_a_name_of_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let project = Utf8Path::from_path(folder.path()).unwrap();
        let project = project.canonicalize_utf8().unwrap();
        let state = state(&project);
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
        let state = state(&project);
        let id = WorkflowId::new(ProtocolName::new("agent-memory"), "x");
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
    fn names_of_workflows_cannot_lead_elsewhere_or_meet() {
        let name = |text: &str| {
            state("/w".into()).file_name(
                &WorkflowId::new(ProtocolName::new("agent-memory"), text),
                "lock",
            )
        };
        assert_eq!(name("20260119-0900-x"), "agent-memory-20260119-0900-x.lock");
        assert_eq!(name("../a b"), "agent-memory-..%2Fa%20b.lock");
        let (long, longer) = (name(&"x".repeat(400)), name(&"x".repeat(401)));
        assert!(long.len() < 255 && long != longer);
    }
}
