//! The environment every test runs in: no real home, no configuration of git, a fixed identity.

use std::ffi::{OsStr, OsString};

use camino::Utf8Path;

use crate::process::Environment;

/// Variables of the machine that would change what a program under test does.
const DROPPED: [&str; 7] = [
    "REKINDLE_",
    "CLAUDE",
    "CODEX_",
    "OPENCODE",
    "GEMINI_",
    "KILN_",
    "GIT_",
];

/// Returns the machine's environment without what could leak into a test, and with the rest fixed.
///
/// The clock and the zone stay open: the caller adds `REKINDLE_NOW` and `TZ` where they matter.
pub fn environment(home: &Utf8Path, project: &Utf8Path) -> Environment {
    let mut kept: Environment = std::env::vars_os()
        .filter(|(name, _)| !is_dropped(name))
        .collect();
    let fixed = [
        ("HOME", home.to_string()),
        ("PWD", project.to_string()),
        ("TZ", "UTC".to_owned()),
        ("NO_COLOR", "1".to_owned()),
        ("LC_ALL", "C.UTF-8".to_owned()),
        ("XDG_CONFIG_HOME", format!("{home}/.config")),
        ("XDG_STATE_HOME", format!("{home}/.local/state")),
        ("XDG_DATA_HOME", format!("{home}/.local/share")),
        ("XDG_CACHE_HOME", format!("{home}/.cache")),
        ("GIT_CONFIG_GLOBAL", "/dev/null".to_owned()),
        ("GIT_CONFIG_SYSTEM", "/dev/null".to_owned()),
        ("GIT_AUTHOR_NAME", "t".to_owned()),
        ("GIT_AUTHOR_EMAIL", "t@example.invalid".to_owned()),
        ("GIT_COMMITTER_NAME", "t".to_owned()),
        ("GIT_COMMITTER_EMAIL", "t@example.invalid".to_owned()),
    ];
    kept.extend(fixed.map(|(name, value)| (OsString::from(name), OsString::from(value))));
    kept
}

fn is_dropped(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    DROPPED.iter().any(|prefix| name.starts_with(prefix))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_of_agents_and_git_are_dropped_and_the_path_is_kept() {
        assert!(is_dropped(OsStr::new("CLAUDECODE")));
        assert!(is_dropped(OsStr::new("GIT_DIR")));
        assert!(is_dropped(OsStr::new("KILN_WORKTREE_ROOT")));
        assert!(is_dropped(OsStr::new("REKINDLE_NOW")));
        assert!(!is_dropped(OsStr::new("PATH")));
    }

    #[test]
    fn home_and_every_folder_below_it_point_into_the_scene() {
        let made = environment(Utf8Path::new("/scene/home"), Utf8Path::new("/scene/work"));
        let of = |name: &str| made.get(OsStr::new(name)).and_then(|value| value.to_str());
        assert_eq!(of("HOME"), Some("/scene/home"));
        assert_eq!(of("XDG_STATE_HOME"), Some("/scene/home/.local/state"));
        assert_eq!(of("GIT_CONFIG_GLOBAL"), Some("/dev/null"));
    }
}
