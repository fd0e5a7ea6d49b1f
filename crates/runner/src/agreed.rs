//! Commands that the user agreed to for a workflow, so that a resume need not ask for them again.
//!
//! Commands of a run are in files of the project, which can come from anywhere. What was agreed to is
//! kept under our seal; without it, or where a command differs in one byte, the command is shown as
//! one of the project's.

use std::collections::BTreeSet;

use rekindle_fs::Error;
use rekindle_model::WorkflowId;
use rekindle_wire::agreed::{AGREED_SCHEMA, Agreed};

use crate::StateFolder;

impl StateFolder {
    /// Returns the commands that this user agreed to here; none if the record is missing or not ours.
    pub fn agreed(&self, id: &WorkflowId) -> BTreeSet<String> {
        self.read_agreed(id).unwrap_or_default()
    }

    fn read_agreed(&self, id: &WorkflowId) -> Option<BTreeSet<String>> {
        let bytes = self.read_sealed(&self.agreed_file(id).ok()?)?;
        let agreed: Agreed = serde_json::from_slice(&bytes).ok()?;
        (agreed.schema == AGREED_SCHEMA).then_some(agreed.commands)
    }

    /// Notes that the user agreed to commands; earlier ones stay. The folder must be there.
    pub fn agree<'c>(
        &self,
        id: &WorkflowId,
        commands: impl IntoIterator<Item = &'c str>,
    ) -> Result<(), Error> {
        let before = self.agreed(id);
        let mut after = before.clone();
        after.extend(commands.into_iter().map(ToOwned::to_owned));
        if after == before {
            return Ok(());
        }
        let path = self.agreed_file(id)?;
        let agreed = Agreed {
            seal: String::new(),
            schema: AGREED_SCHEMA.to_owned(),
            commands: after,
        };
        // Texts only: there is nothing in it that cannot be written as JSON.
        let text = serde_json::to_string(&agreed).unwrap_or_default();
        self.write_sealed(&path, &text)
    }
}

#[cfg(test)]
mod tests {
    use camino::{Utf8Path, Utf8PathBuf};
    use rekindle_fs::Content;
    use rekindle_model::ProtocolName;

    use super::*;

    const PROTOCOLS: &[ProtocolName] = &[ProtocolName::new("agent-memory")];

    fn scene() -> (tempfile::TempDir, Utf8PathBuf, WorkflowId) {
        let folder = tempfile::tempdir().unwrap();
        let path = Utf8Path::from_path(folder.path()).unwrap();
        let path = path.canonicalize_utf8().unwrap();
        (folder, path, WorkflowId::new(PROTOCOLS[0], "x"))
    }

    fn state(root: &Utf8Path, key: &str) -> StateFolder {
        let project = root.join("project");
        rekindle_fs::ensure_dir(&project).unwrap();
        StateFolder::of(&project, Some(&root.join(key).join("key")), PROTOCOLS)
    }

    #[test]
    fn commands_that_were_agreed_to_are_remembered_and_add_up() {
        let (_folder, root, id) = scene();
        let state = state(&root, "mine");
        state.ensure().unwrap();
        assert!(state.agreed(&id).is_empty());
        state.agree(&id, ["agent", "check"]).unwrap();
        state.agree(&id, ["agent", "more"]).unwrap();
        let agreed: Vec<String> = state.agreed(&id).into_iter().collect();
        assert_eq!(agreed, ["agent", "check", "more"]);
        let other = WorkflowId::new(PROTOCOLS[0], "y");
        assert!(state.agreed(&other).is_empty());
    }

    #[test]
    fn a_record_that_was_changed_or_is_another_users_agrees_to_nothing() {
        let (_folder, root, id) = scene();
        let mine = state(&root, "mine");
        mine.ensure().unwrap();
        mine.agree(&id, ["agent"]).unwrap();
        let theirs = state(&root, "theirs");
        theirs
            .agree(&WorkflowId::new(PROTOCOLS[0], "z"), ["z"])
            .unwrap();
        assert!(theirs.agreed(&id).is_empty());
        let path = mine.agreed_file(&id).unwrap();
        let text = rekindle_fs::read_within(mine.project(), &path, u64::MAX);
        let text = text.unwrap().unwrap();
        let forged = String::from_utf8(text.clone()).unwrap();
        let forged = forged.replace("agent\"", "agent --all\"");
        for bytes in [forged.as_bytes(), &text[..text.len() - 3], b"", b"{}"] {
            let now = rekindle_fs::read_within(mine.project(), &path, u64::MAX);
            let now = Content::of(&now.unwrap().unwrap());
            rekindle_fs::replace(&path, &now, bytes).unwrap();
            assert!(mine.agreed(&id).is_empty());
        }
    }
}
