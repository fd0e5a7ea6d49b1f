//! What the project points at: the checked-out branch, and numbers in front of names.

use rekindle_world::{GitAnswer, GitQuestion, ReadError, World};

/// What is checked out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Branch {
    /// A branch.
    Named(String),
    /// None: HEAD is detached, or git cannot be asked.
    None,
    /// There is no repository.
    NoRepository,
}

impl Branch {
    /// Asks git.
    pub fn of(world: &dyn World) -> Self {
        let ask = |question| world.git(world.project(), &question);
        match ask(GitQuestion::HeadName).and_then(GitAnswer::head_name) {
            Ok(head) => match head.name.as_deref() {
                Some("HEAD") => Self::None,
                Some(branch) => Self::Named(branch.to_owned()),
                // Without a commit a branch has no name in this answer.
                None => {
                    let answer = ask(GitQuestion::Repository).and_then(GitAnswer::repository);
                    let branch = answer.ok().and_then(|repository| repository.branch);
                    branch.map_or(Self::None, Self::Named)
                }
            },
            Err(ReadError::NotFound) => Self::NoRepository,
            Err(_) => Self::None,
        }
    }

    /// Returns the list that has the name of the branch, whole or after its last `/`.
    pub fn among(&self, names: &[String]) -> Option<usize> {
        let Self::Named(branch) = self else {
            return None;
        };
        let last = branch.rsplit('/').next().unwrap_or(branch);
        let is = |wanted: &str| names.iter().position(|name| name == wanted);
        is(branch).or_else(|| is(last))
    }
}

/// Returns the digits in front of a name, if a `-` follows them.
pub fn leading_number(name: &str) -> Option<&str> {
    let rest = name.trim_start_matches(|c: char| c.is_ascii_digit());
    let digits = &name[..name.len() - rest.len()];
    (!digits.is_empty() && rest.starts_with('-')).then_some(digits)
}

/// Returns the number in front of a name, in which a date and a time are one: `004`, `20260319-143022`.
fn number(name: &str) -> Option<&str> {
    let digits = leading_number(name)?;
    let time = leading_number(name.get(digits.len() + 1..).unwrap_or_default());
    match time.filter(|time| is_time_stamp(digits, time)) {
        Some(time) => name.get(..digits.len() + 1 + time.len()),
        None => Some(digits),
    }
}

const fn is_time_stamp(date: &str, time: &str) -> bool {
    date.len() == 8 && time.len() == 6
}

/// Returns the name that a branch belongs to: its own, or the only one with the same number in front.
pub fn by_number(names: &[String], branch: &str) -> Option<usize> {
    let branch = branch.rsplit('/').next().unwrap_or(branch);
    if let Some(at) = names.iter().position(|name| name == branch) {
        return Some(at);
    }
    let wanted = number(branch)?;
    let places = names.iter().enumerate();
    let mut found = places.filter(|(_, name)| number(name) == Some(wanted));
    match (found.next(), found.next()) {
        (Some((only, _)), None) => Some(only),
        (Some(_) | None, _) => None,
    }
}

/// Returns the first name with the highest number in front; time stamps are none.
pub fn highest(names: &[String]) -> Option<usize> {
    let places = names.iter().enumerate();
    // A time stamp has a hyphen, so it is not read as a number.
    let numbered = places.filter_map(|(at, name)| Some((number(name)?.parse::<u64>().ok()?, at)));
    let highest = numbered.max_by_key(|(number, at)| (*number, std::cmp::Reverse(*at)));
    highest.map(|(_, at)| at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_branch_belongs_to_the_only_name_with_its_number() {
        let names =
            ["003-a", "004-albums", "005-b", "005-c", "20260319-143022-d"].map(str::to_owned);
        for (branch, expected) in [
            ("004-albums", Some(1)),
            ("feature/004-fix", Some(1)),
            ("004", None),
            ("005-x", None),
            ("005-c", Some(3)),
            ("main", None),
            ("20260319-143022-fix", Some(4)),
            ("20260319-150000-fix", None),
            ("20260319-fix", None),
        ] {
            assert_eq!(by_number(&names, branch), expected, "{branch}");
        }
        assert_eq!(highest(&names), Some(2), "the first of two");
        assert_eq!(highest(&names[4..]), None);
        let branch = Branch::Named("feat/005-b".to_owned());
        assert_eq!(branch.among(&names), Some(2));
    }
}
