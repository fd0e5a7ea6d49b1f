//! The paths of MAP's files: one folder for each branch in `.map/`.

use std::fmt;

/// The longest file name.
const LONGEST_NAME: usize = 255;

/// The checkpoint.
pub const STATE: &str = "step_state.json";
/// The machine-readable plan.
pub const BLUEPRINT: &str = "blueprint.json";
/// What a clean retry may know about failed attempts.
pub const QUARANTINE: &str = "retry_quarantine.json";
/// The files of each stage.
pub const MANIFEST: &str = "artifact_manifest.json";
/// The evidence about flaky checks.
pub const TRIAGE: &str = "flaky_test_triage.json";
/// Why a person has reopened a complete workflow.
pub const REVIEW_FEEDBACK: &str = "review_feedback.md";
/// The last verdict on the workflow.
pub const VERIFICATION: &str = "verification-summary.md";
/// The project's settings.
pub(crate) const CONFIG: &str = ".map/config.yaml";

/// The folder name of a branch, which is also that of its lock.
///
/// It is the branch's name without unsafe characters; as in MAP, several branches can share one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Branch(String);

impl Branch {
    /// Returns the folder of a branch; without a name it is `default`.
    pub fn of(name: Option<&str>) -> Self {
        Self(name.map_or_else(|| "default".to_owned(), folder_name))
    }

    /// Returns the folder's name.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the path of a file in the folder, relative to the project.
    pub fn file(&self, name: &str) -> String {
        format!(".map/{self}/{name}")
    }

    /// Returns the path of the plan.
    pub fn plan(&self) -> String {
        self.file(&format!("task_plan_{self}.md"))
    }

    /// Returns whether the plan's name is short enough for a file.
    pub fn can_have_plan(&self) -> bool {
        "task_plan_.md".len() + self.0.len() <= LONGEST_NAME
    }
}

impl fmt::Display for Branch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Returns a branch's name with everything replaced that is not a letter, digit, `_`, `.` or `-`.
///
/// The result may still be unsafe in a path; the folder of a branch is a [`Branch`].
pub fn plain_name(name: &str) -> String {
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
    match plain_name(name) {
        name if name.is_empty() || name.contains("..") || name.starts_with('.') => {
            "default".to_owned()
        }
        name => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_branch_becomes_a_safe_folder_name() {
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
