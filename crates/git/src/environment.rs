//! The environment of every git that rekindle starts, as data.
//!
//! A repository can come from anywhere, with a `.git` whose settings name programs that git starts.
//! This module lists what prevents that; `call.rs` applies it to each run. A git that **looks**
//! starts no program at all. A git that **works** runs after a person agreed: filters (such as
//! git-lfs) and merge drivers convert files there, because otherwise wrong content would be
//! committed. Hooks, file monitors and the network are off for both. `docs/threat-model.md` has the
//! same lists for readers.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStringExt as _;

use crate::program::Version;

/// What a git is started for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// To answer a question, before anybody agreed to anything.
    Look,
    /// To do work that a person agreed to.
    Work,
}

/// Variables that point git at another repository, index or object store, or change what our
/// arguments mean. Hooks and aliases run with many of them set.
///
/// Kept on purpose: `GIT_CEILING_DIRECTORIES` and `GIT_DISCOVERY_ACROSS_FILESYSTEM` can only stop
/// the search for a repository; `GIT_CONFIG_GLOBAL`, `GIT_CONFIG_SYSTEM` and `GIT_CONFIG_COUNT`
/// carry the user's settings in containers and tests; `GIT_AUTHOR_*` and `GIT_COMMITTER_*` are the
/// user's identity.
pub const SCRUBBED: &[&str] = &[
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_QUARANTINE_PATH",
    "GIT_COMMON_DIR",
    "GIT_NAMESPACE",
    "GIT_PREFIX",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_INTERNAL_SUPER_PREFIX",
    "GIT_CONFIG",
    // What `git -c …` hands to the alias or hook we may be running in.
    "GIT_CONFIG_PARAMETERS",
    "GIT_SHALLOW_FILE",
    "GIT_GRAFT_FILE",
    "GIT_REPLACE_REF_BASE",
    "GIT_NO_REPLACE_OBJECTS",
    "GIT_ATTR_SOURCE",
    "GIT_LITERAL_PATHSPECS",
    "GIT_GLOB_PATHSPECS",
    "GIT_NOGLOB_PATHSPECS",
    "GIT_ICASE_PATHSPECS",
    "GIT_EXTERNAL_DIFF",
    "GIT_DIFF_OPTS",
    // These two would override `LC_MESSAGES`.
    "LC_ALL",
    "LANGUAGE",
];

/// The variables of every git.
pub const VARIABLES: &[(&str, &str)] = &[
    ("LC_MESSAGES", "C"),
    ("GIT_TERMINAL_PROMPT", "0"),
    // A partial clone fetches missing objects by itself. Known since 2.45 and the security releases
    // of 2.39 to 2.44.
    ("GIT_NO_LAZY_FETCH", "1"),
    // No transport, also for older versions. It overrides `protocol.*.allow` of a repository.
    ("GIT_ALLOW_PROTOCOL", ""),
    ("GIT_PROTOCOL_FROM_USER", "0"),
    // git-lfs checks out what its local store has, and downloads nothing: other files stay pointers.
    ("GIT_LFS_SKIP_SMUDGE", "1"),
    ("GIT_PAGER", "cat"),
    ("GIT_EDITOR", ":"),
    ("GIT_SEQUENCE_EDITOR", ":"),
];

/// More variables of a git that looks. A git that works leaves them to the user: git-lfs may ask
/// for a password.
pub const VARIABLES_TO_LOOK: &[(&str, &str)] = &[("GIT_ASKPASS", ""), ("SSH_ASKPASS", "")];

/// More variables of a git that reads: refreshing the user's index would be a write.
pub const VARIABLES_TO_READ: &[(&str, &str)] = &[("GIT_OPTIONAL_LOCKS", "0")];

/// The form of the output, before the settings of a single call.
pub(crate) const FORM: &[&str] = &["core.quotepath=false"];

/// The settings of every git. They come last and override a repository, an included file or a
/// single call.
pub const SETTINGS: &[&str] = &[
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "submodule.recurse=false",
    // A folder of a clone can be a bare repository with its own settings.
    "safe.bareRepository=explicit",
    "log.showSignature=false",
];

/// By default git does not flush loose objects to the disk, only refs. After a power cut a rescue
/// would be a name without content. `batch` flushes once for all files of a `git add`.
pub(crate) const DURABLE: [&str; 2] = [
    "core.fsync=committed,loose-object",
    "core.fsyncMethod=batch",
];

/// Subcommands that never convert the content of a file, except with [`CONVERTS`]. Before any other,
/// a git that looks switches off every configured filter.
const NEVER_FILTER: &[&str] = &[
    "cat-file",
    "check-ignore",
    "check-ref-format",
    "commit-tree",
    "config",
    "diff-tree",
    "for-each-ref",
    "hash-object",
    "log",
    "ls-files",
    "merge-base",
    "mktree",
    "read-tree",
    "rev-parse",
    "symbolic-ref",
    "update-ref",
    "version",
    "write-tree",
];

/// Options with which each subcommand converts files: git compares a file whose time has changed by
/// what its filter makes of it.
const CONVERTS: &[&str] = &["--filters", "--modified", "-m"];

/// The first version with hooks in settings (`hook.<name>.command`), which `core.hooksPath` does
/// not switch off.
const HOOKS_BY_SETTING: Version = Version {
    major: 2,
    minor: 54,
    patch: 0,
};

/// The sections of the configuration whose programs one run of git could start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sections {
    pub(crate) filters: bool,
    pub(crate) hooks: bool,
}

impl Sections {
    /// Returns what must be switched off by name before `git <args>` runs.
    pub(crate) fn of(args: &[OsString], purpose: Purpose, writes: bool, version: Version) -> Self {
        let verb = args.first().map(OsString::as_os_str).unwrap_or_default();
        let word = |at: usize, wanted: &str| args.get(at).is_some_and(|arg| arg == wanted);
        let never_filters = (NEVER_FILTER.iter().any(|name| verb == OsStr::new(name))
            && !args
                .iter()
                .any(|arg| CONVERTS.iter().any(|name| arg == name)))
            || (word(0, "worktree") && word(1, "list"))
            || (word(0, "diff-index") && word(1, "--cached"));
        Self {
            filters: purpose == Purpose::Look && !never_filters,
            hooks: writes && version >= HOOKS_BY_SETTING,
        }
    }

    /// Returns the pattern for `git config --get-regexp`, if anything must be asked.
    pub(crate) fn pattern(self) -> Option<&'static str> {
        match (self.filters, self.hooks) {
            (true, true) => Some(r"^(filter|hook)\..*\."),
            (true, false) => Some(r"^filter\..*\."),
            (false, true) => Some(r"^hook\..*\."),
            (false, false) => None,
        }
    }
}

/// A setting that switches off a configured program: its name, and whether its value is `false` or
/// empty.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Off {
    key: Vec<u8>,
    is_false: bool,
}

/// The variables from which the values of [`Off`] are taken.
pub(crate) const OFF_VALUES: [(&str, &str); 2] =
    [("REKINDLE_GIT_EMPTY", ""), ("REKINDLE_GIT_FALSE", "false")];

impl Off {
    /// Returns the argument for git. Not `-c`, which ends the name at the first `=`: a filter's
    /// name may contain one.
    pub(crate) fn argument(&self) -> OsString {
        let (variable, _) = OFF_VALUES[usize::from(self.is_false)];
        let argument = [b"--config-env=", &*self.key, b"=", variable.as_bytes()];
        OsString::from_vec(argument.concat())
    }
}

/// Returns the settings that switch off every filter and hook among the names of `git config -z
/// --name-only`.
pub(crate) fn switched_off(names: &[u8]) -> BTreeSet<Off> {
    let mut off = BTreeSet::new();
    for name in names.split(|byte| *byte == 0) {
        let Some(end) = name.iter().rposition(|byte| *byte == b'.') else {
            continue;
        };
        let driver = &name[..end];
        let keys: &[(&str, bool)] = if driver.starts_with(b"filter.") {
            &[
                ("clean", false),
                ("smudge", false),
                ("process", false),
                // Otherwise git gives up where a filter does nothing.
                ("required", true),
            ]
        } else if driver.starts_with(b"hook.") {
            // An empty event takes the hook off all events.
            &[("event", false), ("enabled", true)]
        } else {
            continue;
        };
        off.extend(keys.iter().map(|(key, is_false)| Off {
            key: [driver, b".", key.as_bytes()].concat(),
            is_false: *is_false,
        }));
    }
    off
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLD: Version = Version::MINIMUM;

    fn sections(line: &str, purpose: Purpose, writes: bool, version: Version) -> Sections {
        let args: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        Sections::of(&args, purpose, writes, version)
    }

    #[test]
    fn filters_are_asked_for_before_everything_that_could_convert_a_file() {
        for (line, filters) in [
            ("rev-parse HEAD", false),
            ("cat-file --batch -z", false),
            ("cat-file --filters --path=a 1234", true),
            ("worktree list --porcelain", false),
            ("ls-files -z --stage -v", false),
            ("ls-files -z --modified --others", true),
            ("ls-files -m", true),
            ("diff-index --cached -z", false),
            ("status --porcelain", true),
            ("diff --name-only", true),
            ("diff-index HEAD", true),
            ("diff-files --quiet", true),
            ("add --all", true),
            ("worktree add x", true),
            ("checkout-index --all", true),
            ("merge-tree --write-tree", true),
            ("a-command-of-tomorrow", true),
            ("", true),
        ] {
            let look = sections(line, Purpose::Look, false, OLD);
            let work = sections(line, Purpose::Work, true, OLD);
            assert_eq!(look.filters, filters, "{line}");
            assert_eq!(work.pattern(), None, "{line}");
        }
    }

    #[test]
    fn hooks_that_settings_name_are_asked_for_where_git_knows_them() {
        for purpose in [Purpose::Look, Purpose::Work] {
            let new = HOOKS_BY_SETTING;
            assert!(sections("update-ref x", purpose, true, new).hooks);
            assert!(!sections("update-ref x", purpose, true, OLD).hooks);
            assert!(!sections("rev-parse x", purpose, false, new).hooks);
        }
    }

    #[test]
    fn every_driver_is_switched_off_by_its_name() {
        let names = b"filter.lfs.clean\0filter.lfs.process\0filter.a=b c.d.smudge\0hook.x.command\0filter.odd\0core.bare\0";
        let off: Vec<String> = switched_off(names)
            .iter()
            .map(|off| off.argument().into_string().unwrap())
            .collect();
        let empty = |key: &str| format!("--config-env={key}=REKINDLE_GIT_EMPTY");
        let no = |key: &str| format!("--config-env={key}=REKINDLE_GIT_FALSE");
        assert_eq!(
            off,
            [
                empty("filter.a=b c.d.clean"),
                empty("filter.a=b c.d.process"),
                no("filter.a=b c.d.required"),
                empty("filter.a=b c.d.smudge"),
                empty("filter.lfs.clean"),
                empty("filter.lfs.process"),
                no("filter.lfs.required"),
                empty("filter.lfs.smudge"),
                no("hook.x.enabled"),
                empty("hook.x.event"),
            ]
        );
        assert!(switched_off(b"").is_empty());
    }
}
