//! Paths: features below `specs/`, the marker and the legacy session below `.bifrost/`.
//!
//! The name of a feature becomes part of paths and of the marker, so it is checked here.

use camino::{Utf8Path, Utf8PathBuf};
use rekindle_world::{Kind, World};

use super::tree::kind_at;

/// The folder with a folder for each feature.
pub(super) const SPECS: &str = "specs";
/// The workflow's own folder.
pub(super) const BIFROST: &str = ".bifrost";
/// Which feature is being worked on, in one line.
pub(super) const MARKER: &str = ".bifrost/active-workflow";
/// The session of all features, from before each had its own.
pub(super) const LEGACY_SESSION: &str = ".bifrost/memory/session.md";
/// The template of the session that a project shares.
pub(super) const PROJECT_SESSION: &str = ".bifrost/memory/project-session.md";
/// A folder for each rollback.
pub(super) const BACKUPS: &str = ".bifrost/rollback-backup";
/// The state of the current test.
pub(super) const TEST_STATE: &str = ".bifrost/tdd-state.json";
/// The project's constitution, which plans refer to.
pub(super) const RULES: &str = "RULES.md";
/// The largest file that is read whole; real ones are a hundred times smaller.
pub(super) const LARGEST: u64 = 2 * 1024 * 1024;

/// Returns the folder of a feature.
pub(super) fn folder(feature: &str) -> Utf8PathBuf {
    Utf8Path::new(SPECS).join(feature)
}

/// Returns a file of a feature.
pub(super) fn file(feature: &str, name: &str) -> Utf8PathBuf {
    folder(feature).join(name)
}

/// Returns the session of a feature.
pub(super) fn session(feature: &str) -> Utf8PathBuf {
    file(feature, "session.md")
}

/// Returns whether a file is the workflow's own account: the marker, a session or its archive.
pub(super) fn is_account(path: &Utf8Path) -> bool {
    let is_page = path.file_name() == Some("session.md") || is_archive(path);
    let is_session = path.starts_with(SPECS) && is_page;
    is_session || path == MARKER || path == LEGACY_SESSION
}

/// Returns the path of an archive next to its session, by its number from 1.
pub(super) fn archive(session: &Utf8Path, number: u32) -> Utf8PathBuf {
    match number {
        1 => session.with_file_name("session-archive.md"),
        _ => session.with_file_name(format!("session-archive-{number}.md")),
    }
}

/// Returns whether a file is an archive of a session.
pub(super) fn is_archive(path: &Utf8Path) -> bool {
    let is_named = |stem: &str| stem.starts_with("session-archive");
    path.file_stem().is_some_and(is_named) && path.extension() == Some("md")
}

/// Returns the backup folder of a rollback.
pub(super) fn backup(stamp: &str) -> Utf8PathBuf {
    Utf8Path::new(BACKUPS).join(stamp)
}

/// Returns the new path of a migrated legacy session.
pub(super) fn migrated(stamp: &str) -> Utf8PathBuf {
    Utf8PathBuf::from(format!("{LEGACY_SESSION}.backup-{stamp}"))
}

/// Returns the first of `path`, `path-2`, `path-3` … that is free.
pub(super) fn free(world: &dyn World, path: Utf8PathBuf) -> Utf8PathBuf {
    let is_taken = |path: &Utf8PathBuf| world.stat(&world.project().join(path)).is_ok();
    let numbered = (2..1000_u32).map(|n| Utf8PathBuf::from(format!("{path}-{n}")));
    std::iter::once(path.clone())
        .chain(numbered)
        .find(|path| !is_taken(path))
        .unwrap_or(path)
}

/// Reads the name of a feature: `name`, `specs/name` or `specs/name/`.
///
/// # Errors
/// Why it is not a valid name.
pub(super) fn feature_name(typed: &str) -> Result<String, &'static str> {
    if typed.contains(':') {
        return Err("it holds a `:`, which the marker puts behind a name");
    }
    if typed.chars().any(char::is_control) {
        return Err("it holds a control character");
    }
    if typed.starts_with('/') {
        return Err("it is an absolute path");
    }
    let path = typed.trim().trim_start_matches("./").trim_end_matches('/');
    let name = match path.strip_prefix(SPECS) {
        Some("") => "",
        Some(rest) if rest.starts_with('/') => rest.trim_start_matches('/'),
        Some(_) | None => path,
    };
    if name.is_empty() {
        return Err("it names no folder below `specs/`");
    }
    let leaves = |part: &str| matches!(part, "" | "." | "..");
    if name.split('/').any(leaves) {
        return Err("it leaves `specs/`");
    }
    Ok(name.to_owned())
}

/// Returns whether a path is in the project after following links; a missing file is.
pub(super) fn is_inside(world: &dyn World, path: &Utf8Path) -> bool {
    let project = world.project();
    match (world.resolve(&project.join(path)), world.resolve(project)) {
        (Ok(path), Ok(project)) => path.starts_with(project),
        (Err(_), _) => true,
        (Ok(_), Err(_)) => false,
    }
}

/// Returns why nothing can be written below a folder, if something else is in its way.
pub(super) fn odd_folder(world: &dyn World, path: &Utf8Path) -> Option<&'static str> {
    world.stat(&world.project().join(path)).ok()?;
    if !is_inside(world, path) {
        return Some("it is a link that leads out of the project");
    }
    (kind_at(world, path) != Some(Kind::Folder)).then_some("it is not a folder")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn feature_names_stay_below_specs() {
        for typed in [
            "x",
            "specs/x",
            "specs/x/",
            "specs//x/",
            "./specs/x//",
            " x ",
        ] {
            assert_eq!(feature_name(typed).as_deref(), Ok("x"), "{typed:?}");
        }
        assert_eq!(feature_name("specs-2").as_deref(), Ok("specs-2"));
        assert_eq!(feature_name("001-a b").as_deref(), Ok("001-a b"));
        let bad = [
            "",
            "/",
            "specs",
            "specs/",
            "..",
            "../x",
            "x/..",
            "x/../../y",
            "specs/../x",
            "/etc",
            "a:b",
            "a\nb",
            "a\0b",
            ".",
            "x/./y",
            "x//y",
        ];
        for typed in bad {
            assert!(feature_name(typed).is_err(), "{typed:?}");
        }
    }
}
