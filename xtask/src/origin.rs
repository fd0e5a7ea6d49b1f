//! What the figures of a page were measured with: date, commit and number of cores.

use crate::run;

/// Taken before the work starts: a soak takes hours, and the source may change meanwhile.
#[derive(Debug, Clone)]
pub struct Origin {
    /// The day, as `2026-01-19`.
    pub date: String,
    /// The version and the commit of the binary.
    pub binary: String,
    /// How many cores the machine has.
    pub cores: String,
}

impl Origin {
    /// Describes a build of the current source.
    pub fn now() -> Self {
        let cores = std::thread::available_parallelism();
        Self {
            date: run::output_of("date", &["-u", "+%Y-%m-%d"]).unwrap_or_else(unknown),
            binary: binary(
                git(&["rev-parse", "--short", "HEAD"]).as_deref(),
                // What chores write does not change the program.
                git(&["status", "--porcelain", "--", ":/", ":(top,exclude)docs"]).as_deref(),
            ),
            cores: cores.map_or_else(|_| unknown(), |n| n.to_string()),
        }
    }

    /// Returns it as a list for the head of a page.
    pub fn list(&self) -> String {
        let Self {
            date,
            binary,
            cores,
        } = self.clone();
        list(&[("date", date), ("binary", binary), ("cores", cores)])
    }
}

/// Returns facts as the items of a list.
pub fn list(facts: &[(&'static str, String)]) -> String {
    let items = facts.iter();
    items
        .map(|(name, value)| format!("* {name}: {value}\n"))
        .collect()
}

/// Returns the text for a fact that could not be found out.
pub fn unknown() -> String {
    "unknown".to_owned()
}

/// Every crate of the workspace has the version of the binary.
fn binary(commit: Option<&str>, changed: Option<&str>) -> String {
    let version = env!("CARGO_PKG_VERSION");
    match (commit, changed) {
        (Some(commit), Some("")) => format!("rekindle {version} at {commit}"),
        (Some(commit), _) => format!("rekindle {version} at {commit} with changes"),
        (None, _) => format!("rekindle {version}, no commit"),
    }
}

fn git(args: &[&str]) -> Option<String> {
    let root = run::root();
    run::output_of("git", &[&["-C", root.to_str()?], args].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_names_its_date_its_binary_and_the_cores() {
        let origin = Origin {
            date: "2026-01-19".to_owned(),
            binary: "rekindle 1.2.3 at abc1234".to_owned(),
            cores: "2".to_owned(),
        };
        assert_eq!(
            origin.list(),
            "* date: 2026-01-19\n* binary: rekindle 1.2.3 at abc1234\n* cores: 2\n"
        );
    }

    #[test]
    fn a_binary_is_named_by_its_commit_and_uncommitted_changes() {
        let version = env!("CARGO_PKG_VERSION");
        for (commit, changed, expect) in [
            (Some("abc1234"), Some(""), " at abc1234"),
            (Some("abc1234"), Some(" M a"), " at abc1234 with changes"),
            (None, None, ", no commit"),
        ] {
            let expect = format!("rekindle {version}{expect}");
            assert_eq!(binary(commit, changed), expect);
        }
    }
}
