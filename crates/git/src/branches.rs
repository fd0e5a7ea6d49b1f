//! Local branches: which there are, and which of them have a commit.

use crate::error::Error;
use crate::id::ObjectId;
use crate::repo::Repo;

/// Where git keeps local branches.
const HEADS: &str = "refs/heads/";

/// A local branch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Branch {
    /// Its name without `refs/heads/`.
    pub name: String,
    /// Its newest commit.
    pub tip: ObjectId,
}

impl Branch {
    /// Returns its full name.
    pub fn ref_name(&self) -> String {
        format!("{HEADS}{}", self.name)
    }
}

impl Repo {
    /// Returns the branches whose names begin with `folder`, such as `rekindle/`, sorted by name.
    pub fn branches_below(&self, folder: &str) -> Result<Vec<Branch>, Error> {
        let pattern = format!("{HEADS}{folder}");
        let format = "--format=%(objectname) %(refname)";
        let call = self.read().args(["for-each-ref", format, &pattern]);
        let output = call.output()?;
        let text = String::from_utf8_lossy(&output);
        let branch = |line: &str| {
            let (id, name) = line.split_once(' ')?;
            Some(Branch {
                name: name.strip_prefix(HEADS)?.to_owned(),
                tip: ObjectId::parse(id).ok()?,
            })
        };
        Ok(text.lines().filter_map(branch).collect())
    }

    /// Returns the names of the local branches that have a commit, sorted.
    pub fn branches_with(&self, commit: &ObjectId) -> Result<Vec<String>, Error> {
        let args = ["for-each-ref", "--format=%(refname)", "--contains"];
        let call = self.read().args(args).args([commit.as_str(), HEADS]);
        let output = call.output()?;
        let text = String::from_utf8_lossy(&output);
        let names = text.lines().filter_map(|name| name.strip_prefix(HEADS));
        Ok(names.map(str::to_owned).collect())
    }
}
