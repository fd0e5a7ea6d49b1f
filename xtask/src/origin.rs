//! What the figures of a page were made from: when, which rekindle, and on how many cores.

use crate::run;

/// Taken before the work begins: a soak takes hours, and the source may have moved on at its end.
#[derive(Debug, Clone)]
pub(crate) struct Origin {
    pub(crate) date: String,
    /// The version, and the commit that it was built from.
    pub(crate) binary: String,
    pub(crate) cores: String,
}

impl Origin {
    /// Returns what is built from the source as it lies there now.
    pub(crate) fn now() -> Self {
        let cores = std::thread::available_parallelism();
        Self {
            date: run::output_of("date", &["-u", "+%Y-%m-%d"]).unwrap_or_else(unknown),
            binary: binary(
                git(&["rev-parse", "--short", "HEAD"]).as_deref(),
                // What chores write says nothing about the program.
                git(&["status", "--porcelain", "--", ":/", ":(top,exclude)docs"]).as_deref(),
            ),
            cores: cores.map_or_else(|_| unknown(), |n| n.to_string()),
        }
    }

    /// Returns it as a list for the head of a page.
    pub(crate) fn list(&self) -> String {
        list(&self.facts())
    }

    fn facts(&self) -> [(&'static str, String); 3] {
        let Self {
            date,
            binary,
            cores,
        } = self.clone();
        [("date", date), ("binary", binary), ("cores", cores)]
    }
}

/// Returns facts as the items of a list.
pub(crate) fn list(facts: &[(&'static str, String)]) -> String {
    let items = facts
        .iter()
        .map(|(name, value)| format!("* {name}: {value}\n"));
    items.collect()
}

pub(crate) fn unknown() -> String {
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
    let args: Vec<&str> = ["-C", root.to_str()?]
        .into_iter()
        .chain(args.iter().copied())
        .collect();
    run::output_of("git", &args)
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
    fn a_binary_is_named_by_its_commit_and_what_was_changed_since() {
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
