//! Making commits without a worktree, an index or a branch.

use crate::call::Call;
use crate::error::Error;
use crate::id::ObjectId;
use crate::repo::Repo;

/// Who signs a commit when git has no identity configured.
const FALLBACK: (&str, &str) = ("rekindle", "rekindle@localhost");

/// A person or program that makes commits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// The name.
    pub name: String,
    /// The address.
    pub email: String,
}

/// A commit message whose trailers can be read back exactly.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Message {
    /// The first line; line breaks in it become spaces.
    pub subject: String,
    /// What follows after an empty line; may be empty.
    pub body: String,
    /// `Key: value` lines at the end.
    pub trailers: Vec<(String, String)>,
}

impl Message {
    /// Returns the text of the message. A value with a line break is refused: it could forge a
    /// trailer.
    fn render(&self) -> Result<String, Error> {
        let words: Vec<&str> = self.subject.split_whitespace().collect();
        let mut text = words.join(" ");
        if text.is_empty() {
            // git would take the trailers for the subject.
            return Err(bad(&self.subject, "a commit message has no subject"));
        }
        text.push('\n');
        let body = self.body.trim();
        if !body.is_empty() {
            text.push('\n');
            text.push_str(body);
            text.push('\n');
        }
        if !self.trailers.is_empty() {
            text.push('\n');
        }
        for (key, value) in &self.trailers {
            let is_key = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
            if key.is_empty() || !key.bytes().all(is_key) {
                return Err(bad(
                    key,
                    "the name of a trailer is not made of letters and dashes",
                ));
            }
            if value.contains(char::is_control) {
                return Err(bad(value, "the value of a trailer has a control character"));
            }
            text.push_str(key);
            text.push_str(": ");
            text.push_str(value.trim());
            text.push('\n');
        }
        if text.contains('\0') {
            return Err(bad(&text, "a commit message has a NUL"));
        }
        Ok(text)
    }
}

fn bad(text: &str, reason: &'static str) -> Error {
    Error::BadMessage {
        text: text.to_owned(),
        reason,
    }
}

impl Repo {
    /// Makes a commit and returns its id; no ref points at it yet.
    ///
    /// Author and committer are `identity`, else what git is configured with, else
    /// `rekindle <rekindle@localhost>`.
    pub fn commit_tree(
        &self,
        tree: &ObjectId,
        parents: &[ObjectId],
        message: &Message,
        identity: Option<&Identity>,
    ) -> Result<ObjectId, Error> {
        let commit = |identity: Option<(&str, &str)>| {
            let call = self.commit_call(tree, parents, message, None)?;
            let Some((name, email)) = identity else {
                return call.object_id();
            };
            call.variable("GIT_AUTHOR_NAME", name)
                .variable("GIT_AUTHOR_EMAIL", email)
                .variable("GIT_COMMITTER_NAME", name)
                .variable("GIT_COMMITTER_EMAIL", email)
                .object_id()
        };
        match identity {
            Some(identity) => commit(Some((&identity.name, &identity.email))),
            // git has no status for "no identity". Any other failure happens again and is reported.
            None => match commit(None) {
                Err(Error::Failed { .. }) => commit(Some(FALLBACK)),
                result => result,
            },
        }
    }

    /// Returns whether git knows who makes commits here; otherwise they are rekindle's own.
    pub fn has_identity(&self) -> Result<bool, Error> {
        let call = self.read().setting("user.useConfigOnly=true");
        match call.args(["var", "GIT_COMMITTER_IDENT"]).output() {
            Ok(_) => Ok(true),
            // git has no status of its own for that.
            Err(Error::Failed { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Returns the call that makes a commit, with one more option if there is one.
    pub(crate) fn commit_call(
        &self,
        tree: &ObjectId,
        parents: &[ObjectId],
        message: &Message,
        option: Option<&str>,
    ) -> Result<Call<'_>, Error> {
        let message = message.render()?;
        let call = self.write().args(["commit-tree", tree.as_str()]);
        let call = call.args(parents.iter().flat_map(|parent| ["-p", parent.as_str()]));
        Ok(call
            .args(option)
            .args(["-F", "-"])
            .input(message.into_bytes())
            .setting("i18n.commitEncoding=UTF-8")
            // Without this git makes an address up from the account and the host.
            .setting("user.useConfigOnly=true"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(subject: &str, body: &str, trailers: &[(&str, &str)]) -> Message {
        let own = |(key, value): &(&str, &str)| ((*key).to_owned(), (*value).to_owned());
        Message {
            subject: subject.to_owned(),
            body: body.to_owned(),
            trailers: trailers.iter().map(own).collect(),
        }
    }

    #[test]
    fn the_parts_are_paragraphs() {
        let full = message(
            "one\ntwo",
            "body\n\nmore\n",
            &[("Task", " 7 "), ("Run", "r")],
        );
        assert_eq!(
            full.render().unwrap(),
            "one two\n\nbody\n\nmore\n\nTask: 7\nRun: r\n"
        );
        assert_eq!(message("s", "", &[]).render().unwrap(), "s\n");
    }

    #[test]
    fn a_trailer_cannot_forge_another() {
        assert!(
            message("s", "", &[("Task", "7\nTask: 8")])
                .render()
                .is_err()
        );
        assert!(message("s", "", &[("Task: 8\nX", "7")]).render().is_err());
        assert!(message(" \n", "", &[("Task", "7")]).render().is_err());
    }
}
