//! Signed commits, where the user wants them and no person is needed to make them.

use std::time::Duration;

use crate::commit::Message;
use crate::error::Error;
use crate::id::ObjectId;
use crate::repo::Repo;
use crate::scratch::Scratch;

/// Whoever takes longer waits for a person.
const LIMIT: Duration = Duration::from_secs(10);

/// No program may ask a person: nobody sees its question.
const UNATTENDED: [(&str, &str); 3] = [
    ("GPG_TTY", ""),
    ("SSH_ASKPASS", "false"),
    ("SSH_ASKPASS_REQUIRE", "force"),
];

/// Whether commits are signed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Signing {
    /// The user does not want it.
    Off,
    /// They are.
    On,
    /// The user wants it, and it does not work without a person; a clause says why.
    Impossible(String),
}

/// What the configuration says about signatures.
#[derive(Debug, Default, PartialEq, Eq)]
struct Settings {
    is_wanted: bool,
    /// A program that the repository itself names.
    of_repository: Option<String>,
}

impl Repo {
    /// Returns whether commits are signed, as `commit.gpgSign` says, after one trial that leaves nothing behind.
    ///
    /// The user's own programs are started, so a person must have agreed to work here. A program that
    /// the repository names is not started: an agent could have written that.
    pub fn signing(&self, tree: &ObjectId) -> Result<Signing, Error> {
        let pattern = r"^(commit\.gpgsign|gpg\.(.*\.)?program|gpg\.ssh\.defaultkeycommand)$";
        let asked = ["config", "--null", "--show-scope", "--get-regexp", pattern];
        let found = self.read().args(asked).answer()?;
        let settings = Settings::parse(&found.unwrap_or_default());
        if !settings.is_wanted {
            return Ok(Signing::Off);
        }
        if let Some(key) = settings.of_repository {
            let reason = format!("`{key}` is set in the repository's own configuration");
            return Ok(Signing::Impossible(reason));
        }
        let message = Message {
            subject: "Can this be signed?".to_owned(),
            ..Message::default()
        };
        let apart = Scratch::empty_apart(&self.layout()?)?;
        match self.sign(tree, &[], &message, Some(&apart)) {
            Ok(_) => Ok(Signing::On),
            Err(error) => Ok(Signing::Impossible(error.said())),
        }
    }

    /// Makes a signed commit of the user's and returns its id; no ref points at it yet.
    pub fn commit_tree_signed(
        &self,
        tree: &ObjectId,
        parents: &[ObjectId],
        message: &Message,
    ) -> Result<ObjectId, Error> {
        self.sign(tree, parents, message, None)
    }

    fn sign(
        &self,
        tree: &ObjectId,
        parents: &[ObjectId],
        message: &Message,
        apart: Option<&Scratch>,
    ) -> Result<ObjectId, Error> {
        let patient = self.with_limit(LIMIT);
        let call = patient.commit_call(tree, parents, message, Some("-S"))?;
        let call = UNATTENDED
            .iter()
            .fold(call, |call, (name, value)| call.variable(name, value));
        match apart {
            Some(apart) => apart.apply(call).object_id(),
            None => call.object_id(),
        }
    }
}

impl Settings {
    /// Reads what `git config --null --show-scope` prints: scope and entry in turns.
    fn parse(printed: &[u8]) -> Self {
        let mut settings = Self::default();
        let text = String::from_utf8_lossy(printed);
        let mut parts = text.split('\0');
        while let (Some(scope), Some(entry)) = (parts.next(), parts.next()) {
            // A key without a value is true.
            let (key, value) = entry.split_once('\n').unwrap_or((entry, "true"));
            if key == "commit.gpgsign" {
                let value = value.to_ascii_lowercase();
                settings.is_wanted = ["true", "yes", "on", "1"].contains(&value.as_str());
            } else if ["local", "worktree"].contains(&scope) {
                settings.of_repository = Some(key.to_owned());
            }
        }
        settings
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_setting_counts_and_programs_of_the_repository_are_named() {
        let parse = |text: &str| Settings::parse(text.as_bytes());
        assert_eq!(parse(""), Settings::default());
        let wanted = parse("global\0commit.gpgsign\ntrue\0global\0gpg.program\nmine\0");
        assert!(wanted.is_wanted && wanted.of_repository.is_none());
        assert!(!parse("global\0commit.gpgsign\ntrue\0local\0commit.gpgsign\nfalse\0").is_wanted);
        assert!(parse("system\0commit.gpgsign\0").is_wanted);
        let theirs = parse("global\0commit.gpgsign\non\0local\0gpg.ssh.program\n./evil\0");
        assert_eq!(theirs.of_repository.as_deref(), Some("gpg.ssh.program"));
    }
}
