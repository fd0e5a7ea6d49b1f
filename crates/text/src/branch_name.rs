//! Valid branch names, by the rules of `git check-ref-format`.

/// Returns whether a name is a valid branch name that people can type.
///
/// Stricter than git: refuses `HEAD` and names that begin with `-`, `@` or `refs/`, since commands
/// give these another meaning.
pub fn is_branch_name(name: &str) -> bool {
    let is_taken = name.starts_with(['-', '@']) || name.starts_with("refs/") || name == "HEAD";
    let is_refused = |c: char| c.is_ascii_control() || " ~^:?*[\\".contains(c);
    let is_part = |part: &str| {
        !part.is_empty() && !part.starts_with('.') && part.strip_suffix(".lock").is_none()
    };
    !is_taken
        && !name.contains(is_refused)
        && !name.contains("..")
        && !name.contains("@{")
        && !name.ends_with('.')
        && name.split('/').all(is_part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_with_another_meaning_to_git_or_a_shell_are_refused() {
        for good in ["main", "a/b", "a.b", "ä", "a-", "a@b", "r/20260120"] {
            assert!(is_branch_name(good), "{good}");
        }
        for bad in [
            "", "-", "--all", "-x", "@", "@{-1}", "HEAD", "refs/a", "a..b", ".a", "a/.b", "a.",
            "a/", "/a", "a//b", "a.lock", "a.lock/b", "a b", "a~b", "a^b", "a:b", "a?b", "a*b",
            "a[b", "a\\b", "a@{b", "a\nb", "a\u{7f}b", "a\0b",
        ] {
            assert!(!is_branch_name(bad), "{bad:?}");
        }
        assert!(is_branch_name("rekindle/20260120-1200-x-a1b2"));
        assert!(!is_branch_name("refs/heads/a"));
    }
}
