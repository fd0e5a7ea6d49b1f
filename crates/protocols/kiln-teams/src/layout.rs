//! The paths of a Teams wave.

use camino::{Utf8Path, Utf8PathBuf};
use rekindle_world::{GitPath, Owner, ReadError, World};

/// The orchestrator's state, relative to the project.
pub(super) const STATE: &str = ".kiln/STATE.md";
/// The project's settings, relative to the project.
pub(super) const CONFIG: &str = ".kiln/config.json";
/// A read-only copy of the project's documents, in a worktree.
pub(super) const SNAPSHOT: &str = ".kiln-snapshot";
/// The evidence of a worker, in a worktree.
pub(super) const ARTIFACTS: &str = ".kiln-artifacts";
/// Folders that are not work: kiln's own in the project and in worktrees, and rekindle's.
pub(super) const LEAVE_OUT: [&str; 4] = [".kiln", SNAPSHOT, ARTIFACTS, ".rekindle"];
/// The default folder of worktrees.
const DEFAULT_ROOT: &str = "/tmp";

/// Returns the plan of a phase, relative to the project.
pub(super) fn plan(phase: u32) -> Utf8PathBuf {
    track(phase).join("PLAN.md")
}

/// Returns the folder of a phase's documents, relative to the project.
pub(super) fn track(phase: u32) -> Utf8PathBuf {
    Utf8PathBuf::from(format!(".kiln/tracks/phase-{phase}"))
}

/// Returns the archive of a landed task's artifacts, relative to the project.
pub(super) fn archived(phase: u32, plan_task: &str) -> Utf8PathBuf {
    track(phase).join("artifacts").join(plan_task)
}

/// Returns the folder of a worker's artifacts in its worktree.
pub(super) fn artifacts(worktree: &Utf8Path, plan_task: &str) -> Utf8PathBuf {
    worktree.join(ARTIFACTS).join(plan_task)
}

/// Returns our own log of orphans in the folder of worktrees.
pub(super) fn orphan_log(phase: u32) -> Utf8PathBuf {
    Utf8PathBuf::from(format!(
        ".rekindle/logs/kiln-teams-phase-{phase}/orphans.jsonl"
    ))
}

/// Returns the name of a phase's team.
pub(super) fn team(phase: u32) -> String {
    format!("kiln-exec-phase-{phase}")
}

/// Returns the folder of a team's task list.
pub(super) fn task_list(world: &dyn World, team: &str) -> Option<Utf8PathBuf> {
    let home = world.variable("HOME").filter(|home| !home.is_empty())?;
    Some(Utf8PathBuf::from(home).join(".claude/tasks").join(team))
}

/// Returns the folder that all worktrees of the project are in.
pub(super) fn worktree_root(world: &dyn World) -> Utf8PathBuf {
    let top = world
        .variable("KILN_WORKTREE_ROOT")
        .filter(|root| root.starts_with('/'))
        .map_or_else(|| Utf8PathBuf::from(DEFAULT_ROOT), Utf8PathBuf::from);
    top.join(format!("kiln-{}", project_hash(world.project())))
}

/// Returns whether a folder's name has the hash of a project.
pub(super) fn is_hashed(root: &Utf8Path) -> bool {
    let hash = root.file_name().and_then(|name| name.strip_prefix("kiln-"));
    hash.is_some_and(|hash| {
        hash.len() == 12
            && hash
                .bytes()
                .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
    })
}

/// Returns the first twelve hex digits of the SHA-256 of the project's absolute path.
fn project_hash(project: &Utf8Path) -> String {
    rekindle_text::sha256_hex(project.as_str().as_bytes(), 6)
}

/// Returns whether a name from a file is safe as one part of a path.
pub(super) fn is_plain_name(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    !name.is_empty()
        && name.len() <= 100
        && name.chars().all(plain)
        && !name.starts_with(['.', '-'])
}

/// Returns whether a path in a repository is not work.
pub(super) fn is_left_out(path: &GitPath) -> bool {
    LEAVE_OUT
        .iter()
        .any(|folder| path.is_within(&GitPath::from(*folder)))
}

/// Returns why a folder of worktrees is not trusted; `None` if it is.
///
/// It is in a shared temporary folder, so another user could have created it, or could replace it,
/// and would then choose what is reset, cleaned or landed.
pub(super) fn distrust(world: &dyn World, root: &Utf8Path) -> Option<String> {
    let found = match world.ownership(root) {
        Ok(found) => found,
        // We create it ourselves, and only we can.
        Err(ReadError::NotFound) => return distrust_parent(world, root),
        Err(error) => return Some(format!("`{root}` cannot be read: {error}")),
    };
    if world
        .stat(root)
        .is_ok_and(|meta| meta.kind == rekindle_world::Kind::Link)
    {
        return Some(format!(
            "`{root}` is a link, which its owner can point elsewhere"
        ));
    }
    if found.owner != Owner::Me {
        return Some(format!("`{root}` belongs to another user"));
    }
    if found.mode & 0o022 != 0 {
        return Some(format!("other users may write to `{root}`"));
    }
    distrust_parent(world, root)
}

/// Returns why other users could rename or replace the folder of worktrees from the folder above.
fn distrust_parent(world: &dyn World, root: &Utf8Path) -> Option<String> {
    const STICKY: u32 = 0o1000;
    let parent = root.parent()?;
    // The owner of a link does not matter; its target does.
    let parent = world.resolve(parent).ok()?;
    let found = world.ownership(&parent).ok()?;
    match found.owner {
        Owner::Other => Some(format!(
            "`{parent}` belongs to another user, who could replace its contents"
        )),
        Owner::Me | Owner::Root if found.mode & 0o022 != 0 && found.mode & STICKY == 0 => {
            Some(format!(
                "other users may replace the contents of `{parent}`: it is writable for them and has no sticky bit"
            ))
        }
        Owner::Me | Owner::Root => None,
    }
}

#[cfg(test)]
mod tests {
    use rekindle_world::MemoryWorld;

    use super::*;

    fn world() -> MemoryWorld {
        MemoryWorld::new("/work/ledger-api", "2026-02-16T15:00:00Z".parse().unwrap())
            .with_variable("KILN_WORKTREE_ROOT", "/w")
    }

    #[test]
    fn the_root_is_named_after_the_path_of_the_project() {
        // `printf %s /work/ledger-api | sha256sum`
        assert_eq!(worktree_root(&world()), "/w/kiln-98321f6d84ac");
        let elsewhere = world().with_variable("KILN_WORKTREE_ROOT", "relative");
        assert_eq!(worktree_root(&elsewhere), "/tmp/kiln-98321f6d84ac");
    }

    #[test]
    fn a_root_that_others_could_create_or_replace_is_not_trusted() {
        let root = Utf8Path::new("/w/kiln-x");
        let made = |world: MemoryWorld| world.folder("/w/kiln-x");
        let cases = [
            ("own", made(world()), None),
            ("not there, own parent", world().folder("/w"), None),
            (
                "sticky parent",
                made(world()).owned("/w", Owner::Root, 0o1777),
                None,
            ),
            (
                "open parent",
                made(world()).owned("/w", Owner::Root, 0o777),
                Some("sticky"),
            ),
            (
                "other's parent",
                made(world()).owned("/w", Owner::Other, 0o755),
                Some("another user"),
            ),
            (
                "other's",
                made(world()).owned(root, Owner::Other, 0o755),
                Some("another user"),
            ),
            (
                "root's",
                made(world()).owned(root, Owner::Root, 0o755),
                Some("another user"),
            ),
            (
                "open",
                made(world()).owned(root, Owner::Me, 0o775),
                Some("may write"),
            ),
            (
                "link",
                world().folder("/else").link(root, "/else"),
                Some("a link"),
            ),
        ];
        for (name, world, wanted) in cases {
            let got = distrust(&world, root);
            match wanted {
                None => assert_eq!(got, None, "{name}"),
                Some(part) => assert!(got.is_some_and(|text| text.contains(part)), "{name}"),
            }
        }
    }

    #[test]
    fn only_plain_names_become_parts_of_paths() {
        for good in ["P1-T02", "task_3", "a.b"] {
            assert!(is_plain_name(good), "{good}");
        }
        for bad in ["", "..", ".x", "-x", "a/b", "a\nb", "ä", " P1"] {
            assert!(!is_plain_name(bad), "{bad:?}");
        }
    }
}
