//! Commits, with the trailers that prove what has landed.

use crate::commit::Identity;
use crate::error::Error;
use crate::id::ObjectId;
use crate::repo::Repo;

/// One commit. Texts are UTF-8; bytes that are not are replaced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Commit {
    /// Its id.
    pub id: ObjectId,
    /// Its files.
    pub tree: ObjectId,
    /// Its parents, the first one first.
    pub parents: Vec<ObjectId>,
    /// Who wrote it.
    pub author: Identity,
    /// When it was written, in seconds since 1970.
    pub authored_at: i64,
    /// When it was committed, in seconds since 1970.
    pub committed_at: i64,
    /// The first paragraph, on one line.
    pub subject: String,
    /// Everything after it, trailers included.
    pub body: String,
    /// The trailers as git reads them, in order.
    pub trailers: Vec<(String, String)>,
}

impl Commit {
    /// Returns the value of the last trailer of this name, in any case.
    pub fn trailer(&self, name: &str) -> Option<&str> {
        let mut found = self
            .trailers
            .iter()
            .rev()
            .filter(|(key, _)| key.eq_ignore_ascii_case(name));
        found.next().map(|(_, value)| value.as_str())
    }
}

const FIELDS: &[&str] = &[
    "%H",
    "%T",
    "%P",
    "%an",
    "%ae",
    "%at",
    "%ct",
    "%s",
    "%b",
    "%(trailers:only=true,unfold=true)",
];

impl Repo {
    /// Returns the commits of a range (`base..HEAD`) or all ancestors of one, children first.
    pub fn log(&self, range: &str) -> Result<Vec<Commit>, Error> {
        self.commits(&["--end-of-options", range])
    }

    /// Returns at most `most` of the newest ancestors of a commit that no branch or tag has.
    pub fn log_of_own(&self, commit: &ObjectId, most: usize) -> Result<Vec<Commit>, Error> {
        let most = format!("--max-count={most}");
        let refs = ["--not", "--branches", "--tags", "--remotes"];
        self.commits(&[&[most.as_str(), commit.as_str()][..], &refs].concat())
    }

    /// Returns a commit on any branch whose message has this text in one line; `since` is in
    /// seconds since 1970.
    pub fn find_message(&self, text: &str, since: Option<i64>) -> Result<Option<Commit>, Error> {
        let text = format!("--grep={text}");
        let since = since.map(|seconds| format!("--since=@{seconds}"));
        let mut which = vec![
            "--branches",
            "--max-count=1",
            "--fixed-strings",
            text.as_str(),
        ];
        which.extend(since.as_deref());
        Ok(self.commits(&which)?.pop())
    }

    fn commits(&self, which: &[&str]) -> Result<Vec<Commit>, Error> {
        // A commit cannot contain a NUL, so with `-z` every field ends with one.
        let format = format!("--format=tformat:{}", FIELDS.join("%x00"));
        let fixed = [
            "log",
            "-z",
            "--topo-order",
            "--no-show-signature",
            "--encoding=UTF-8",
        ];
        self.read()
            // Users can set other separators.
            .setting("trailer.separators=:")
            .args(fixed)
            .args([format.as_str(), "--no-patch", "--no-ext-diff"])
            .args(which)
            .args(["--"])
            .parsed(parse)
    }
}

pub(crate) fn parse(output: &[u8]) -> Result<Vec<Commit>, String> {
    let Some(output) = output.strip_suffix(b"\0") else {
        return if output.is_empty() {
            Ok(Vec::new())
        } else {
            Err("no end".to_owned())
        };
    };
    let fields: Vec<&[u8]> = output.split(|byte| *byte == 0).collect();
    let records = fields.chunks(FIELDS.len());
    records
        .map(|record| commit(record).ok_or_else(|| show(record)))
        .collect()
}

fn commit(record: &[&[u8]]) -> Option<Commit> {
    let [
        id,
        tree,
        parents,
        name,
        email,
        authored_at,
        committed_at,
        subject,
        body,
        trailers,
    ] = record
    else {
        return None;
    };
    let parents = parents
        .split(|byte| *byte == b' ')
        .filter(|parent| !parent.is_empty());
    Some(Commit {
        id: ObjectId::from_output(id)?,
        tree: ObjectId::from_output(tree)?,
        parents: parents.map(ObjectId::from_output).collect::<Option<_>>()?,
        author: Identity {
            name: text(name),
            email: text(email),
        },
        authored_at: seconds(authored_at),
        committed_at: seconds(committed_at),
        subject: text(subject),
        body: text(body).trim_end().to_owned(),
        trailers: parse_trailers(trailers),
    })
}

/// Reads unfolded `Key: value` lines.
pub(crate) fn parse_trailers(block: &[u8]) -> Vec<(String, String)> {
    let block = text(block);
    let pairs = block.lines().filter_map(|line| line.split_once(':'));
    pairs
        .map(|(key, value)| (key.trim().to_owned(), value.trim().to_owned()))
        .collect()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A commit without a readable date shows as 1970, as in git.
fn seconds(bytes: &[u8]) -> i64 {
    str::from_utf8(bytes)
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(0)
}

fn show(record: &[&[u8]]) -> String {
    let fields: Vec<String> = record.iter().map(|field| text(field)).collect();
    format!("bad commit {fields:?}")
}
