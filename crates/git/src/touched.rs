//! Which commits touched some paths, and which files below them are not committed.

use crate::error::Error;
use crate::log::parse_trailers;
use crate::path::{RepoPath, records};
use crate::repo::Repo;

/// A commit that touched one of the paths. All paths are relative to the folder that was asked about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Touch {
    /// When it was committed, in seconds since 1970.
    pub committed_at: i64,
    /// The first line of its message.
    pub subject: String,
    /// Its trailers.
    pub trailers: Vec<(String, String)>,
    /// The files that it changed there.
    pub paths: Vec<RepoPath>,
}

/// Begins a commit in the output; no message and hardly a path begins so.
const BEGINNING: u8 = 1;
/// Takes `*` and `:` in a path as they are.
const LITERAL: &str = "GIT_LITERAL_PATHSPECS";
const FORM: &str = "--format=tformat:%x01%ct%x00%s%x00%(trailers:only=true,unfold=true)";

impl Repo {
    /// Returns the commits of HEAD and of all branches that touched a path or what is below it, newest first.
    pub fn touching(&self, paths: &[String]) -> Result<Vec<Touch>, Error> {
        if self.resolve("HEAD")?.is_none() || paths.is_empty() {
            return Ok(Vec::new());
        }
        self.read()
            .setting("trailer.separators=:")
            .variable(LITERAL, "1")
            .args(["log", "-z", "--name-only", "--relative", "--no-renames"])
            .args([
                "--no-show-signature",
                "--encoding=UTF-8",
                "--no-ext-diff",
                FORM,
                "HEAD",
                "--branches",
                "--",
            ])
            .args(paths)
            .parsed(parse)
    }

    /// Returns the commits since a time whose messages have a trailer, newest first, without their files:
    /// those of HEAD, or of all branches too.
    pub fn trailed(&self, trailer: &str, since: i64, of_head: bool) -> Result<Vec<Touch>, Error> {
        if self.resolve("HEAD")?.is_none() {
            return Ok(Vec::new());
        }
        let tips: &[&str] = if of_head {
            &["HEAD"]
        } else {
            &["HEAD", "--branches"]
        };
        self.read()
            .setting("trailer.separators=:")
            .args(["log", "-z", "--no-show-signature", "--encoding=UTF-8"])
            .args(["--fixed-strings", "--regexp-ignore-case", FORM])
            .args([format!("--grep={trailer}:"), format!("--since={since}")])
            .args(tips)
            .args(["--"])
            .parsed(parse)
    }

    /// Returns the files at or below some paths that differ from what is committed, new ones included.
    pub fn uncommitted(&self, paths: &[String]) -> Result<Vec<RepoPath>, Error> {
        if paths.is_empty() {
            return Ok(Vec::new());
        }
        let of_files = [
            "ls-files",
            "-z",
            "--modified",
            "--others",
            "--exclude-standard",
            "--",
        ];
        let of_index = [
            "diff",
            "-z",
            "--cached",
            "--name-only",
            "--relative",
            "--no-ext-diff",
            "--no-textconv",
            "--no-renames",
            "--",
        ];
        let mut found = Vec::new();
        for question in [&of_files[..], &of_index] {
            let call = self.read().variable(LITERAL, "1");
            let output = call.args(question).args(paths).output()?;
            found.extend(records(&output).map(RepoPath::new));
        }
        found.sort_unstable();
        found.dedup();
        Ok(found)
    }
}

pub(crate) fn parse(output: &[u8]) -> Result<Vec<Touch>, String> {
    let mut touches: Vec<Touch> = Vec::new();
    // Which of subject and trailers comes next.
    let mut head = 2;
    for token in output.split(|byte| *byte == 0) {
        if let Some(time) = token.strip_prefix(&[BEGINNING]) {
            let time = str::from_utf8(time).ok().and_then(|time| time.parse().ok());
            touches.push(Touch {
                committed_at: time.ok_or("no time of a commit")?,
                subject: String::new(),
                trailers: Vec::new(),
                paths: Vec::new(),
            });
            head = 0;
            continue;
        }
        let Some(touch) = touches.last_mut() else {
            return if token.is_empty() {
                Ok(touches)
            } else {
                Err("no commit".to_owned())
            };
        };
        head += 1;
        match head {
            1 => touch.subject = String::from_utf8_lossy(token).into_owned(),
            2 => touch.trailers = parse_trailers(token),
            _ => {
                let name = token.strip_prefix(b"\n").unwrap_or(token);
                if !name.is_empty() {
                    touch.paths.push(RepoPath::new(name));
                }
            }
        }
    }
    Ok(touches)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commits_are_read_with_their_trailers_and_files() {
        let output = b"\x01170\0[T1] a\0Rekindle-Task: T1\n\0\na/x\0b y\0\0\x0120\0\0\0\nc\0";
        let touches = parse(output).unwrap();
        let shown: Vec<String> = touches
            .iter()
            .map(|touch| {
                format!(
                    "{} {:?} {:?} {:?}",
                    touch.committed_at,
                    touch.subject,
                    touch.trailers,
                    touch.paths.len()
                )
            })
            .collect();
        assert_eq!(
            shown,
            [
                r#"170 "[T1] a" [("Rekindle-Task", "T1")] 2"#,
                r#"20 "" [] 1"#
            ]
        );
        assert_eq!(parse(b"").unwrap(), []);
        assert!(parse(b"x\0").is_err());
        assert!(parse(b"\x01x\0").is_err());
    }
}
