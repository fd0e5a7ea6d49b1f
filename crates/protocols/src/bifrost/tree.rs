//! The files of a project, for what can only be found by looking everywhere.

use camino::{Utf8Path, Utf8PathBuf};
use jiff::Timestamp;
use rekindle_world::{Kind, World};

use super::layout;

/// Folders that hold nobody's work.
const PASSED_OVER: [&str; 4] = [".git", ".rekindle", "node_modules", "target"];
/// A project with more files than this is not searched to its end.
const MOST_ENTRIES: usize = 200_000;

/// All files and folders of a project, relative to it, each folder before what is in it.
#[derive(Debug, Default)]
pub(super) struct Tree {
    pub(super) files: Vec<Utf8PathBuf>,
    folders: Vec<Utf8PathBuf>,
}

impl Tree {
    /// Lists a project; links are not followed.
    pub(super) fn of(world: &dyn World) -> Self {
        Self::below(world, Utf8Path::new(""), MOST_ENTRIES)
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
                    return tree;
                }
                let path = folder.join(&entry.name);
                match entry.kind {
                    Kind::File => tree.files.push(path),
                    Kind::Folder if !PASSED_OVER.contains(&entry.name.as_str()) => {
                        tree.folders.push(path.clone());
                        open.push(path);
                    }
                    Kind::Folder | Kind::Link | Kind::Other => {}
                }
            }
        }
        tree.files.sort();
        tree.folders.sort();
        tree
    }

    /// Returns the one path with this name, if there is exactly one.
    ///
    /// The files of other features are theirs.
    pub(super) fn only_named(&self, name: &str, feature: &Utf8Path) -> Option<&Utf8PathBuf> {
        let wanted = name.trim_end_matches('/').rsplit('/').next()?;
        let is_ours = |path: &&Utf8PathBuf| {
            let is_others = path.starts_with(layout::SPECS) && !path.starts_with(feature);
            !is_others && !path.starts_with(layout::BIFROST)
        };
        let among = if name.ends_with('/') {
            &self.folders
        } else {
            &self.files
        };
        let mut named = among
            .iter()
            .filter(|path| path.file_name() == Some(wanted))
            .filter(is_ours);
        let only = named.next()?;
        named.next().is_none().then_some(only)
    }
}

/// Returns when a file was last written, or for a folder when the newest file in it was.
///
/// Marker and sessions are written by every resume, so their times tell nothing of the work.
pub(super) fn written_at(world: &dyn World, path: &Utf8Path) -> Option<Timestamp> {
    let full = world.project().join(path);
    match world.stat(&full).ok()?.kind {
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

/// Returns how many bytes the Markdown files of a folder have.
pub(super) fn markdown_bytes(world: &dyn World, folder: &Utf8Path) -> u64 {
    let tree = Tree::below(world, folder, MOST_ENTRIES);
    let pages = tree
        .files
        .iter()
        .filter(|file| file.extension() == Some("md"));
    pages
        .filter_map(|file| world.stat(&world.project().join(file)).ok())
        .map(|meta| meta.len)
        .fold(0, u64::saturating_add)
}
