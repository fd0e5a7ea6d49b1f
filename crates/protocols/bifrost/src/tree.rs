//! The files of a project, for searches by name and time.

use camino::{Utf8Path, Utf8PathBuf};
use jiff::Timestamp;
use rekindle_world::{Kind, World};

use super::layout;

/// Git's own; a file in a linked worktree and in a submodule.
const GIT: &str = ".git";
/// Folders that hold nobody's work.
const PASSED_OVER: [&str; 4] = [GIT, ".rekindle", "node_modules", "target"];
/// A project with more files than this is not searched to its end.
const MOST_ENTRIES: usize = 200_000;

/// All files and folders of a project, relative to it.
#[derive(Debug, Default)]
pub(super) struct Tree {
    pub(super) files: Vec<Utf8PathBuf>,
    folders: Vec<Utf8PathBuf>,
    /// The indexes of both, sorted by file name.
    files_by_name: Vec<usize>,
    folders_by_name: Vec<usize>,
}

impl Tree {
    /// Lists a project; links are not followed.
    pub(super) fn of(world: &dyn World) -> Self {
        let mut tree = Self::below(world, Utf8Path::new(""), MOST_ENTRIES);
        tree.files_by_name = by_name(&tree.files);
        tree.folders_by_name = by_name(&tree.folders);
        tree
    }

    /// Lists a folder of the project.
    fn below(world: &dyn World, top: &Utf8Path, mut most: usize) -> Self {
        let mut tree = Self::default();
        let mut open = vec![top.to_owned()];
        while let Some(folder) = open.pop() {
            let entries = world
                .list(&world.project().join(&folder))
                .unwrap_or_default();
            for entry in entries {
                most = most.saturating_sub(1);
                if most == 0 {
                    open.clear();
                    break;
                }
                let path = folder.join(&entry.name);
                match entry.kind {
                    Kind::File if entry.name == GIT => {}
                    Kind::File => tree.files.push(path),
                    Kind::Folder if !PASSED_OVER.contains(&entry.name.as_str()) => {
                        tree.folders.push(path.clone());
                        open.push(path);
                    }
                    Kind::Folder | Kind::Link | Kind::Other => {}
                }
            }
        }
        // By their text, as every list of paths is; by their parts `src/a` would come before `src-x/a`.
        tree.files.sort_by(|a, b| a.as_str().cmp(b.as_str()));
        tree.folders.sort_by(|a, b| a.as_str().cmp(b.as_str()));
        tree
    }

    /// Returns the one path with this name, if there is exactly one.
    pub(super) fn only_named(&self, name: &str) -> Option<&Utf8PathBuf> {
        let wanted = name.trim_end_matches('/').rsplit('/').next()?;
        let (among, by_name) = if name.ends_with('/') {
            (&self.folders, &self.folders_by_name)
        } else {
            (&self.files, &self.files_by_name)
        };
        let start = by_name.partition_point(|at| name_at(among, *at) < Some(wanted));
        let mut named = by_name
            .iter()
            .skip(start)
            .take_while(|at| name_at(among, **at) == Some(wanted))
            .filter_map(|at| among.get(*at));
        let only = named.next()?;
        named.next().is_none().then_some(only)
    }
}

/// Returns the indexes of paths, sorted by file name.
fn by_name(paths: &[Utf8PathBuf]) -> Vec<usize> {
    let mut places: Vec<usize> = (0..paths.len()).collect();
    places.sort_by_key(|at| name_at(paths, *at));
    places
}

fn name_at(paths: &[Utf8PathBuf], at: usize) -> Option<&str> {
    paths.get(at)?.file_name()
}

/// Returns the kind of a path after following links; `None` for a broken link.
pub(super) fn kind_at(world: &dyn World, path: &Utf8Path) -> Option<Kind> {
    let target = world.resolve(&world.project().join(path)).ok()?;
    Some(world.stat(&target).ok()?.kind)
}

/// Returns when a file, or the newest file of a folder, was last written.
///
/// Every resume writes the marker and sessions, so their times do not count.
pub(super) fn written_at(world: &dyn World, path: &Utf8Path) -> Option<Timestamp> {
    let full = world.project().join(path);
    match kind_at(world, path)? {
        Kind::Folder if !layout::is_inside(world, path) => None,
        Kind::Folder => {
            let tree = Tree::below(world, path, MOST_ENTRIES);
            let works = tree.files.iter().filter(|file| !layout::is_account(file));
            works
                .filter_map(|file| world.modified(&world.project().join(file)))
                .max()
        }
        Kind::File | Kind::Link | Kind::Other if layout::is_account(path) => None,
        Kind::File | Kind::Link | Kind::Other => world.modified(&full),
    }
}

/// Returns the size of the Markdown files of a folder, without archives.
pub(super) fn markdown_bytes(world: &dyn World, folder: &Utf8Path) -> u64 {
    let tree = Tree::below(world, folder, MOST_ENTRIES);
    let pages = tree
        .files
        .iter()
        .filter(|file| file.extension() == Some("md") && !layout::is_archive(file));
    pages
        .filter_map(|file| world.stat(&world.project().join(file)).ok())
        .map(|meta| meta.len)
        .fold(0, u64::saturating_add)
}
