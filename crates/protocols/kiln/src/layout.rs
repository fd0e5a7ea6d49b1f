//! Paths: the project as the user's shell names it, kiln's folder in it, and the memory.
//!
//! The memory is in the user's home, in a folder that is named after the project's path. Kiln has had
//! several rules for that name; the documented one comes first, then the others.

use std::collections::BTreeSet;

use camino::{Utf8Path, Utf8PathBuf};
use rekindle_text::claude_folder_name;
use rekindle_world::{Kind, World};

/// Kiln's own folder in a project.
pub(super) const FOLDER: &str = ".kiln";
/// The record of kiln-teams, which has the same folder.
const STATE_OF_TEAMS: &str = "STATE.md";
/// The memory's main file.
pub(super) const MEMORY: &str = "MEMORY.md";
/// The other files of the memory that a resume reads.
pub(super) const SUPPORTING: [&str; 5] = ["PATTERNS.md", DECISIONS, MASTER_PLAN, PITFALLS, VISION];
pub(super) const VISION: &str = "vision.md";
pub(super) const MASTER_PLAN: &str = "master-plan.md";
pub(super) const DECISIONS: &str = "decisions.md";
pub(super) const PITFALLS: &str = "pitfalls.md";
/// Our own log of started agents with their quotes and of work handed back, relative to the project.
pub(super) const SPAWNS: &str = ".rekindle/logs/kiln/spawns.jsonl";
/// The largest file that is read; kiln's are a thousand times smaller.
pub(super) const LARGEST: u64 = 8 * 1024 * 1024;
/// The folder of archived memories, next to the memory.
const ARCHIVE: &str = "memory-archive";
/// The first line of a memory.
const TITLE: &str = "# Kiln Project Memory";

/// The paths of one project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Layout {
    /// The project as the user's shell names it.
    pub(super) project: Utf8PathBuf,
    /// The folder `.claude` in the user's home, if a home is known.
    pub(super) claude_home: Option<Utf8PathBuf>,
    /// The name of the memory's folder.
    pub(super) encoded: String,
    /// Whether that name does not follow the documented rule.
    pub(super) is_elsewhere: bool,
    /// Every name that the folder can have, the documented one first.
    names: [String; 3],
}

impl Layout {
    /// Finds the paths of the world's project.
    pub(super) fn find(world: &dyn World) -> Self {
        let project = project_path(world);
        let home = world.variable("HOME").filter(|home| home.starts_with('/'));
        let claude_home = home.map(|home| Utf8PathBuf::from(home).join(".claude"));
        // Claude Code uses the path that links resolve to.
        let real = world.resolve(&project).unwrap_or_else(|_| project.clone());
        let documented = encode(&project);
        let names = [
            documented.clone(),
            claude_folder_name(real.as_str()),
            encode_collapsed(&project),
        ];
        let layout = Self {
            project,
            claude_home,
            encoded: documented,
            is_elsewhere: false,
            names,
        };
        if layout.memory().is_some_and(|at| is_folder(world, &at)) {
            return layout;
        }
        let others = layout.names.iter().filter(|name| **name != layout.encoded);
        let mut found = others.map(|name| Self {
            encoded: name.clone(),
            is_elsewhere: true,
            ..layout.clone()
        });
        // Claude Code keeps notes under the same names, so the file must be kiln's.
        found
            .find(|other| other.is_kilns(world))
            .unwrap_or_else(|| layout.clone())
    }

    /// Returns the folder of the memory, absolute.
    pub(super) fn memory(&self) -> Option<Utf8PathBuf> {
        Some(self.home_of_memory()?.join("memory"))
    }

    /// Returns the folder around the memory.
    fn home_of_memory(&self) -> Option<Utf8PathBuf> {
        self.home_named(&self.encoded)
    }

    fn home_named(&self, name: &str) -> Option<Utf8PathBuf> {
        Some(self.claude_home.as_ref()?.join("projects").join(name))
    }

    /// Returns the writable folders of the home: the one around the memory, and the targets of the
    /// memory and its main file, which a user may keep elsewhere behind a link.
    pub(super) fn roots(&self) -> Vec<Utf8PathBuf> {
        let places = [self.home_of_memory(), self.memory(), self.in_memory(MEMORY)];
        places.into_iter().flatten().collect()
    }

    /// Returns the writable folders if the memory cannot be followed.
    ///
    /// A crash can leave an edit or a move half done, which is then finished. But only folders that are
    /// certainly kiln's are written to: the journal of a cloned project may be forged.
    pub(super) fn roots_without_memory(&self, world: &dyn World) -> Vec<Utf8PathBuf> {
        let names: BTreeSet<&String> = self.names.iter().collect();
        let homes = names.into_iter().filter_map(|name| self.home_named(name));
        let archived = homes.filter(|home| is_folder(world, &home.join(ARCHIVE)));
        let followed = if self.is_kilns(world) {
            self.roots()
        } else {
            Vec::new()
        };
        archived.chain(followed).collect()
    }

    /// Returns a file of the memory.
    pub(super) fn in_memory(&self, name: &str) -> Option<Utf8PathBuf> {
        Some(self.memory()?.join(name))
    }

    /// Returns the folder of the memory for display, even if no home is known.
    pub(super) fn shown_memory(&self) -> String {
        match self.memory() {
            Some(folder) => folder.into_string(),
            None => format!("$HOME/.claude/projects/{}/memory", self.encoded),
        }
    }

    /// Returns the folder that the memory is archived to.
    pub(super) fn archived_memory(&self, stamp: &str) -> Option<Utf8PathBuf> {
        Some(self.home_of_memory()?.join(ARCHIVE).join(stamp))
    }

    /// Returns the file with the names of kiln's agents.
    pub(super) fn names(&self) -> Option<Utf8PathBuf> {
        Some(self.claude_home.as_ref()?.join("kilntwo/names.json"))
    }

    /// Returns a path in kiln's folder of the project.
    pub(super) fn in_kiln(&self, path: &str) -> Utf8PathBuf {
        self.project.join(FOLDER).join(path)
    }

    /// Returns the project's name.
    pub(super) fn name(&self) -> &str {
        self.project.file_name().unwrap_or("root")
    }

    /// Returns whether the memory exists and is kiln's.
    pub(super) fn is_kilns(&self, world: &dyn World) -> bool {
        let file = self.in_memory(MEMORY);
        let bytes = file.and_then(|file| world.read(&file, LARGEST).ok());
        bytes.is_some_and(|bytes| is_kilns_memory(&bytes))
    }

    /// Returns whether this is a kiln project whose memory was lost or truncated.
    ///
    /// A phase in progress has a log in the project, and a truncated memory still has its plan next to
    /// it. The folder `.kiln` alone proves nothing, because kiln-teams has it too, and neither do the
    /// remains of a project whose memory was archived.
    pub(super) fn has_lost_memory(&self, world: &dyn World) -> bool {
        if world.is_file(&self.in_kiln(STATE_OF_TEAMS)) {
            return false;
        }
        let is_there = |folder: Option<Utf8PathBuf>| folder.is_some_and(|f| is_folder(world, &f));
        let archive = self.home_of_memory().map(|home| home.join(ARCHIVE));
        let is_archived = is_there(archive) && !is_there(self.memory());
        let folder = world.list(&self.project.join(FOLDER)).unwrap_or_default();
        let is_under_way = folder.iter().any(|entry| is_phase_state(&entry.name));
        is_under_way && !is_archived || self.is_memory_truncated(world)
    }

    fn is_memory_truncated(&self, world: &dyn World) -> bool {
        let (Some(memory), Some(plan)) = (self.in_memory(MEMORY), self.in_memory(MASTER_PLAN))
        else {
            return false;
        };
        let rest = world.read(&memory, LARGEST).ok();
        let is_cut = rest.is_some_and(|bytes| {
            let text = String::from_utf8_lossy(&bytes);
            TITLE.starts_with(text.trim_matches(|c: char| c.is_whitespace() || c == '\u{feff}'))
        });
        is_cut && world.is_file(&plan)
    }
}

/// Returns the state file of a phase, relative to kiln's folder.
pub(super) fn phase_state(phase: u32) -> String {
    format!("phase_{phase}_state.md")
}

/// Returns the summary that proves that a phase is complete, relative to kiln's folder.
pub(super) fn phase_summary(phase: u32) -> String {
    format!("archive/phase_{phase:02}/phase_summary.md")
}

/// Returns a path in kiln's folder, relative to the project.
pub(super) fn shown_in_kiln(path: &str) -> Utf8PathBuf {
    Utf8Path::new(FOLDER).join(path)
}

/// Returns whether a name in kiln's folder is that of a phase's state file.
fn is_phase_state(name: &str) -> bool {
    let number = name
        .strip_prefix("phase_")
        .and_then(|name| name.strip_suffix("_state.md"));
    number.is_some_and(|number| number.parse::<u32>().is_ok())
}

/// The report of the validation, relative to kiln's folder.
pub(super) const REPORT: &str = "validation/report.md";

/// Returns the number of a file `phase-<N>-results.md`.
pub(super) fn results_of(name: &str) -> Option<u32> {
    name.strip_prefix("phase-")?
        .strip_suffix("-results.md")?
        .parse()
        .ok()
}

/// Returns the project's path: the shell's if that is the same folder, else the system's.
fn project_path(world: &dyn World) -> Utf8PathBuf {
    let project = world.project();
    let by_shell = world
        .variable("PWD")
        .filter(|path| path.starts_with('/'))
        .map(Utf8PathBuf::from);
    let is_plain = |path: &Utf8PathBuf| {
        !path
            .as_str()
            .split('/')
            .any(|part| part == "." || part == "..")
    };
    let is_same = |path: &Utf8PathBuf| match (world.resolve(path), world.resolve(project)) {
        (Ok(shell), Ok(system)) => shell == system,
        (Err(_), _) | (_, Err(_)) => false,
    };
    let path = by_shell
        .filter(is_plain)
        .filter(is_same)
        .unwrap_or_else(|| project.to_owned());
    match path.as_str().trim_end_matches('/') {
        "" => Utf8PathBuf::from("/"),
        trimmed => Utf8PathBuf::from(trimmed),
    }
}

/// The documented rule: every slash becomes a dash, and all else is kept.
fn encode(path: &Utf8Path) -> String {
    path.as_str().replace('/', "-")
}

/// The rule of kiln's installer: slashes and characters that some systems refuse become dashes, never two in a row.
fn encode_collapsed(path: &Utf8Path) -> String {
    let mut encoded = String::new();
    for c in path.as_str().chars() {
        let c = if r#"/\:*?"<>|"#.contains(c) { '-' } else { c };
        if !(c == '-' && encoded.ends_with('-')) {
            encoded.push(c);
        }
    }
    encoded
}

/// Returns whether a path is a folder, or a link to one.
fn is_folder(world: &dyn World, path: &Utf8Path) -> bool {
    let is_plain = |path: &Utf8Path| world.stat(path).is_ok_and(|meta| meta.kind == Kind::Folder);
    is_plain(path) || world.resolve(path).is_ok_and(|path| is_plain(&path))
}

/// Distinguishes kiln's memory from the notes that Claude Code keeps in the same place.
fn is_kilns_memory(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    let mut lines = text
        .trim_start_matches('\u{feff}')
        .lines()
        .filter(|line| !line.trim().is_empty());
    let is_titled = lines
        .clone()
        .next()
        .is_some_and(|line| line.trim_end() == TITLE);
    is_titled || lines.any(|line| line.starts_with("stage:"))
}

#[cfg(test)]
mod tests {
    use rekindle_world::MemoryWorld;

    use super::*;

    const KILNS: &str = "# Kiln Project Memory\n";

    fn world(project: &str) -> MemoryWorld {
        MemoryWorld::new(project, "2026-02-20T12:00:00Z".parse().unwrap())
            .with_variable("HOME", "/h")
    }

    #[test]
    fn a_path_is_encoded_by_three_rules() {
        for (path, documented, claude, collapsed) in [
            (
                "/DEV/myproject",
                "-DEV-myproject",
                "-DEV-myproject",
                "-DEV-myproject",
            ),
            (
                "/DEV/my.app v2",
                "-DEV-my.app v2",
                "-DEV-my-app-v2",
                "-DEV-my.app v2",
            ),
            ("/a--b/c:d", "-a--b-c:d", "-a--b-c-d", "-a-b-c-d"),
            ("/", "-", "-", "-"),
        ] {
            let path = Utf8Path::new(path);
            assert_eq!(encode(path), documented);
            assert_eq!(claude_folder_name(path.as_str()), claude);
            assert_eq!(encode_collapsed(path), collapsed);
        }
    }

    #[test]
    fn links_are_resolved_for_the_name_of_claude_code() {
        let world = world("/real/my.app")
            .link("/link", "/real")
            .with_variable("PWD", "/link/my.app")
            .file("/h/.claude/projects/-real-my-app/memory/MEMORY.md", KILNS);
        let layout = Layout::find(&world);
        assert_eq!(
            layout.shown_memory(),
            "/h/.claude/projects/-real-my-app/memory"
        );
        assert!(layout.is_elsewhere);
        assert_eq!(layout.project, "/link/my.app");
    }

    #[test]
    fn the_documented_folder_counts_unless_the_memory_is_only_in_another() {
        let at = |world: MemoryWorld| {
            let layout = Layout::find(&world);
            (layout.shown_memory(), layout.is_elsewhere)
        };
        let documented = "/h/.claude/projects/-w-my.app/memory".to_owned();
        let claude = "/h/.claude/projects/-w-my-app/memory".to_owned();
        let app = || world("/w/my.app");
        assert_eq!(at(app()), (documented.clone(), false));
        assert_eq!(
            at(app().file("/h/.claude/projects/-w-my-app/memory/MEMORY.md", KILNS)),
            (claude, true)
        );
        let both = app()
            .folder("/h/.claude/projects/-w-my.app/memory")
            .file("/h/.claude/projects/-w-my-app/memory/MEMORY.md", KILNS);
        assert_eq!(at(both), (documented.clone(), false));
        let foreign = app().file(
            "/h/.claude/projects/-w-my-app/memory/MEMORY.md",
            "# Notes\n- x\n",
        );
        assert_eq!(at(foreign), (documented, false));
    }

    #[test]
    fn without_a_memory_only_folders_of_kiln_are_writable() {
        let reached = |world: MemoryWorld| Layout::find(&world).roots_without_memory(&world);
        let home = "/h/.claude/projects/-w-my.app";
        let app = || world("/w/my.app");
        assert_eq!(reached(app()), Vec::<Utf8PathBuf>::new());
        // The notes of Claude Code are not ours.
        let notes = app().file(format!("{home}/memory/MEMORY.md"), "# Notes\n- x\n");
        assert_eq!(reached(notes), Vec::<Utf8PathBuf>::new());
        let broken = app().file(format!("{home}/memory/MEMORY.md"), KILNS);
        assert!(reached(broken).contains(&Utf8PathBuf::from(home)));
        for name in ["-w-my.app", "-w-my-app"] {
            let archive = format!("/h/.claude/projects/{name}/memory-archive/2026/MEMORY.md");
            let home = Utf8PathBuf::from(format!("/h/.claude/projects/{name}"));
            assert_eq!(reached(app().file(archive, KILNS)), [home]);
        }
        let nowhere = app().with_variable("HOME", "");
        assert_eq!(reached(nowhere), Vec::<Utf8PathBuf>::new());
    }

    #[test]
    fn without_a_home_no_path_starts_at_the_root() {
        for home in ["", "relative"] {
            let layout = Layout::find(&world("/w/app").with_variable("HOME", home));
            assert_eq!(layout.memory(), None);
            assert_eq!(
                layout.shown_memory(),
                "$HOME/.claude/projects/-w-app/memory"
            );
        }
    }

    #[test]
    fn the_shells_path_counts_if_it_is_the_same_folder() {
        let real = || world("/real/app").link("/link", "/real");
        for (pwd, wanted) in [
            ("/link/app", "/link/app"),
            ("/link/app/", "/link/app"),
            ("/link/../link/app", "/real/app"),
            ("/real", "/real/app"),
            ("/gone/app", "/real/app"),
            ("link/app", "/real/app"),
        ] {
            assert_eq!(
                Layout::find(&real().with_variable("PWD", pwd)).project,
                wanted,
                "{pwd}"
            );
        }
        assert_eq!(Layout::find(&real()).project, "/real/app");
    }

    #[test]
    fn notes_of_claude_code_are_not_kilns_memory() {
        for (text, wanted) in [
            ("\u{feff}\n# Kiln Project Memory\r\n", true),
            ("## Runtime\nstage: planning\n", true),
            ("# Memory\n- the stage: dark\n", false),
            ("", false),
        ] {
            assert_eq!(is_kilns_memory(text.as_bytes()), wanted, "{text:?}");
        }
    }
}
