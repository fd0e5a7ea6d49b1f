//! Where a path really leads, and whether that is inside the folder it must stay in.
//!
//! A name in a state file is not trusted: `../..`, an absolute path or a symbolic link would make
//! us write elsewhere. [`confine`] checks this once, where a name becomes a path. Anyone who can
//! rename folders inside the root can still redirect a write after the check; they own the project
//! already.

use std::collections::VecDeque;
use std::io;

use camino::{Utf8Component, Utf8Path, Utf8PathBuf};

use crate::Error;
use crate::error::At as _;

/// The number of links that Linux follows before it fails with `ELOOP`.
const MAX_LINKS: usize = 40;

/// Returns the path with every `..` and symbolic link resolved, or [`Error::Outside`] if that is
/// not `root` or below it.
///
/// A relative `path` starts at `root`. The last parts need not exist. A dangling link counts as its
/// target, since a write through it would create that file.
pub fn confine(root: &Utf8Path, path: &Utf8Path) -> Result<Utf8PathBuf, Error> {
    let root = root.canonicalize_utf8().at("resolve", root)?;
    let resolved = resolve_from(&root, path)?;
    if resolved.starts_with(&root) {
        Ok(resolved)
    } else {
        Err(Error::Outside {
            root,
            path: path.to_owned(),
        })
    }
}

/// Returns the path as [`confine`] does, or [`Error::Link`] if the last part is a link.
///
/// For writes: a link leads to another file than the one meant, even inside `root`.
pub fn confine_unlinked(root: &Utf8Path, path: &Utf8Path) -> Result<Utf8PathBuf, Error> {
    let resolved = confine(root, path)?;
    let path = match (path.parent(), path.file_name()) {
        (Some(above), Some(name)) if path != root => confine(root, above)?.join(name),
        _ => path.to_owned(),
    };
    match path.symlink_metadata() {
        Ok(found) if found.is_symlink() => Err(Error::Link(path)),
        _ => Ok(resolved),
    }
}

/// Returns the absolute path without links and dots; its last parts need not exist.
pub(crate) fn resolve(path: &Utf8Path) -> Result<Utf8PathBuf, Error> {
    if path.is_absolute() {
        return resolve_from("/".into(), path);
    }
    let here = Utf8Path::new(".").canonicalize_utf8().at("resolve", path)?;
    resolve_from(&here, path)
}

/// Walks the parts of `path` one by one, as the kernel does, from a canonical folder.
///
/// `std::fs::canonicalize` fails on missing parts, so it cannot say where a dangling link leads.
fn resolve_from(start: &Utf8Path, path: &Utf8Path) -> Result<Utf8PathBuf, Error> {
    let mut resolved = start.to_owned();
    let mut rest = parts(path);
    let mut n_links = 0;
    let mut is_missing = false;
    while let Some(part) = rest.pop_front() {
        match part.as_str() {
            "/" => {
                resolved = "/".into();
                is_missing = false;
            }
            // The kernel does not know the parent of a missing folder either; guessing it by text
            // is how such checks are fooled.
            ".." if is_missing => {
                return Err(io::Error::from(io::ErrorKind::NotFound)).at("resolve", path);
            }
            ".." => {
                resolved.pop();
            }
            name if is_missing => resolved.push(name),
            name => {
                let next = resolved.join(name);
                match next.symlink_metadata() {
                    Ok(metadata) if metadata.is_symlink() => {
                        n_links += 1;
                        if n_links > MAX_LINKS {
                            return Err(rustix::io::Errno::LOOP).at("resolve", path);
                        }
                        let target = next.read_link_utf8().at("read the link", &next)?;
                        let mut parts = parts(&target);
                        parts.append(&mut rest);
                        rest = parts;
                    }
                    Ok(_) => resolved = next,
                    Err(error) if error.kind() == io::ErrorKind::NotFound => {
                        resolved = next;
                        is_missing = true;
                    }
                    Err(error) => return Err(error).at("resolve", path),
                }
            }
        }
    }
    Ok(resolved)
}

fn parts(path: &Utf8Path) -> VecDeque<Utf8PathBuf> {
    path.components()
        .filter(|part| *part != Utf8Component::CurDir)
        .map(|part| Utf8PathBuf::from(part.as_str()))
        .collect()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use proptest::prelude::*;

    use super::*;

    /// A folder with `root/inside/file`, and `outside/secret` next to `root`.
    fn project() -> (tempfile::TempDir, Utf8PathBuf) {
        let (folder, base) = crate::log::tests::folder();
        fs::create_dir_all(base.join("root/inside")).unwrap();
        fs::create_dir_all(base.join("outside")).unwrap();
        crate::create(&base.join("root/inside/file"), b"x").unwrap();
        crate::create(&base.join("outside/secret"), b"x").unwrap();
        (folder, base)
    }

    fn is_outside(base: &Utf8Path, path: &str) -> bool {
        matches!(
            confine(&base.join("root"), path.into()),
            Err(Error::Outside { .. })
        )
    }

    #[test]
    fn existing_and_new_paths_inside_are_allowed() {
        let (_folder, base) = project();
        let root = base.join("root");
        let check = |path: &str, expected: &str| {
            assert_eq!(
                confine(&root, path.into()).unwrap(),
                base.join(expected),
                "{path}"
            );
        };
        check("inside/file", "root/inside/file");
        check("inside/../inside/./file", "root/inside/file");
        check("new/folder/file", "root/new/folder/file");
        check(base.join("root/inside").as_str(), "root/inside");
        check("", "root");
        check("-rf", "root/-rf");
        check("a\nb", "root/a\nb");
    }

    #[test]
    fn dots_and_absolute_paths_cannot_leave() {
        let (_folder, base) = project();
        assert!(is_outside(&base, "../outside/secret"));
        assert!(is_outside(&base, "inside/../../outside"));
        assert!(is_outside(&base, ".."));
        assert!(is_outside(&base, "/etc/passwd"));
        assert!(is_outside(&base, &"../".repeat(50)));
        // A sibling whose name begins like the root's.
        assert!(is_outside(&base, base.join("root-2/file").as_str()));
    }

    #[test]
    fn links_cannot_leave_even_when_they_lead_nowhere() {
        let (_folder, base) = project();
        symlink("../outside", base.join("root/folder")).unwrap();
        symlink(base.join("outside/secret"), base.join("root/file")).unwrap();
        symlink(base.join("outside/not-there"), base.join("root/dangling")).unwrap();
        symlink("dangling", base.join("root/twice")).unwrap();
        for path in [
            "folder",
            "folder/secret",
            "folder/new",
            "file",
            "dangling",
            "twice",
        ] {
            assert!(is_outside(&base, path), "{path}");
        }
    }

    #[test]
    fn links_that_stay_inside_are_followed() {
        let (_folder, base) = project();
        symlink("inside", base.join("root/link")).unwrap();
        symlink(&base, base.join("root/inside/up")).unwrap();
        symlink("inside/later", base.join("root/dangling")).unwrap();
        let root = base.join("root");
        assert_eq!(
            confine(&root, "link/file".into()).unwrap(),
            base.join("root/inside/file")
        );
        assert_eq!(
            confine(&root, "link/up/root/new".into()).unwrap(),
            base.join("root/new")
        );
        assert_eq!(
            confine(&root, "dangling".into()).unwrap(),
            base.join("root/inside/later")
        );
    }

    #[test]
    fn a_root_that_is_itself_a_link_is_resolved_first() {
        let (_folder, base) = project();
        symlink("root", base.join("alias")).unwrap();
        let confined = confine(&base.join("alias"), &base.join("alias/inside/file")).unwrap();
        assert_eq!(confined, base.join("root/inside/file"));
    }

    #[test]
    fn a_loop_of_links_is_an_error_and_not_a_hang() {
        let (_folder, base) = project();
        symlink("b", base.join("root/a")).unwrap();
        symlink("a", base.join("root/b")).unwrap();
        assert!(matches!(
            confine(&base.join("root"), "a".into()),
            Err(Error::Io { .. })
        ));
    }

    #[test]
    fn the_parent_of_a_missing_folder_is_not_guessed() {
        let (_folder, base) = project();
        assert!(matches!(
            confine(&base.join("root"), "missing/../inside".into()),
            Err(Error::Io { .. })
        ));
    }

    proptest! {
        #[test]
        fn existing_paths_resolve_as_the_system_resolves_them(
            parts in prop::collection::vec(prop::sample::select(vec!["inside", "file", "up", "..", "."]), 0..8)
        ) {
            let (_folder, base) = project();
            symlink(&base, base.join("root/inside/up")).unwrap();
            symlink("root/inside", base.join("inside")).unwrap();
            let path = base.join("root").join(parts.join("/"));
            if let Ok(expected) = path.canonicalize_utf8() {
                prop_assert_eq!(resolve(&path).unwrap(), expected);
            }
        }
    }
}
