//! Where MAP keeps its files: one folder a branch below `.map/`.

use std::fmt;

/// The longest name that a file can have.
const LONGEST_NAME: usize = 255;

/// The checkpoint.
pub(crate) const STATE: &str = "step_state.json";
/// The machine-readable plan.
pub(crate) const BLUEPRINT: &str = "blueprint.json";
/// What a clean retry may know of failed attempts.
pub(crate) const QUARANTINE: &str = "retry_quarantine.json";
/// Which stages of a workflow have left which files.
pub(crate) const MANIFEST: &str = "artifact_manifest.json";
/// The evidence for a check that fails now and then.
pub(crate) const TRIAGE: &str = "flaky_test_triage.json";
/// What a person wants who opened a finished workflow again.
pub(crate) const REVIEW_FEEDBACK: &str = "review_feedback.md";
/// The last verdict on the whole.
pub(crate) const VERIFICATION: &str = "verification-summary.md";
/// The project's settings.
pub(crate) const CONFIG: &str = ".map/config.yaml";

/// The folder of a branch, by its name.
///
/// It is what is left of the branch's name when everything is taken out that could lead elsewhere;
/// several branches can share one, as they do for the peer. It is also that of its lock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Branch(String);

impl Branch {
    /// Returns the folder of the branch that git names; without a name it is `default`.
    pub(crate) fn of(name: Option<&str>) -> Self {
        Self(name.map_or_else(|| "default".to_owned(), folder_name))
    }

    /// Returns the folder's name.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the path of a file in the folder, relative to the project.
    pub(crate) fn file(&self, name: &str) -> String {
        format!(".map/{self}/{name}")
    }

    /// Returns the path of the plan.
    pub(crate) fn plan(&self) -> String {
        self.file(&format!("task_plan_{self}.md"))
    }

    /// Returns whether the plan's name is one that a file can have.
    pub(crate) fn can_have_plan(&self) -> bool {
        "task_plan_.md".len() + self.0.len() <= LONGEST_NAME
    }
}

impl fmt::Display for Branch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Returns a branch's name with everything replaced that is no letter, digit, `_`, `.` or `-`.
///
/// What is left may still lead elsewhere; the folder of a branch is a [`Branch`].
pub(crate) fn plain_name(name: &str) -> String {
    let mut folder = String::new();
    for c in name.chars() {
        if c.is_ascii_alphanumeric() || matches!(c, '_' | '.') {
            folder.push(c);
        } else if !folder.ends_with('-') {
            folder.push('-');
        }
    }
    folder.trim_matches('-').to_owned()
}

fn folder_name(name: &str) -> String {
    let folder = plain_name(name);
    if folder.is_empty() || folder.contains("..") || folder.starts_with('.') {
        return "default".to_owned();
    }
    folder
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_branch_becomes_one_name_that_leads_nowhere_else() {
        for (branch, folder) in [
            ("main", "main"),
            ("feature/user/auth-v2", "feature-user-auth-v2"),
            ("fix/naïve-größe/№7", "fix-na-ve-gr-e-7"),
            ("日本語", "default"),
            ("@", "default"),
            ("@.env", "default"),
            ("+.x", "default"),
            ("HEAD", "HEAD"),
            ("heads/topic", "heads-topic"),
            ("../../etc", "default"),
            ("a..b", "default"),
            ("wip/@user#12+x=y", "wip-user-12-x-y"),
            ("--a--b--", "a-b"),
            ("v1.2_3", "v1.2_3"),
            ("", "default"),
        ] {
            assert_eq!(Branch::of(Some(branch)).as_str(), folder, "{branch}");
        }
        assert_eq!(Branch::of(None).as_str(), "default");
        assert_eq!(Branch::of(Some("a/b")).plan(), ".map/a-b/task_plan_a-b.md");
    }
}
