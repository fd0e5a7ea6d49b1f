//! Which names a branch can have, by the rules of `git check-ref-format`.

/// Returns whether a name can be that of a branch that people can type.
///
/// Stricter than git in three places: no name that begins with `-` (it would be an option), with `@`
/// or with `refs/`, and not `HEAD`, since commands take these for something else.
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
    fn names_that_git_or_a_shell_takes_for_something_else_are_refused() {
        for good in [
            "main",
            "a/b",
            "a.b",
            "ä",
            "a-",
            "a@b",
            "rekindle/20260120-1200-x-a1b2",
        ] {
            assert!(is_branch_name(good), "{good}");
        }
        for bad in [
            "",
            "-",
            "--all",
            "-x",
            "@",
            "@{-1}",
            "HEAD",
            "refs/heads/a",
            "a..b",
            ".a",
            "a/.b",
            "a.",
            "a/",
            "/a",
            "a//b",
            "a.lock",
            "a.lock/b",
            "a b",
            "a~b",
            "a^b",
            "a:b",
            "a?b",
            "a*b",
            "a[b",
            "a\\b",
            "a@{b",
            "a\nb",
            "a\u{7f}b",
            "a\0b",
        ] {
            assert!(!is_branch_name(bad), "{bad:?}");
        }
    }
}
