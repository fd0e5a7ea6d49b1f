//! Submodules of a worktree, from the objects that the main checkout has: nothing is fetched, and
//! nothing is copied.
//!
//! Each gets a git folder of its own in that of the worktree, where `git submodule` has it too, which
//! borrows the objects of the main checkout's. A submodule that the main checkout does not have, or
//! whose commit it lacks, stays empty, as git leaves it.

use std::collections::BTreeMap;

use camino::{Utf8Component, Utf8Path, Utf8PathBuf};

use crate::abandoned;
use crate::bring::{read, remove};
use crate::changes::Mode;
use crate::error::Error;
use crate::head_name;
use crate::id::ObjectId;
use crate::own::OwnWorktree;
use crate::path::records;
use crate::repo::Repo;
use crate::sparse::{prepare, write};

/// Submodules of submodules, up to this depth.
const DEEPEST: u32 = 8;
/// The largest list of commits at which a shallow clone ends.
const LARGEST_LIST: u64 = 16 << 20;

/// Where submodules are, and where their objects come from.
struct Place<'a> {
    /// The repository around them.
    around: Repo,
    /// Its files.
    top: &'a Utf8Path,
    /// The git folders of the main checkout's submodules.
    stores: Utf8PathBuf,
    /// The main checkout's files.
    main: &'a Utf8Path,
    /// The git folders of the submodules here.
    own: Utf8PathBuf,
}

impl OwnWorktree {
    /// Brings the submodules to the commits in the index, as far as the main checkout has them;
    /// `main` is its top. One with changes stays as it is.
    pub fn bring_submodules(&self, main: &Utf8Path) -> Result<(), Error> {
        self.verify()?;
        bring(
            &Place {
                around: self.repo().clone(),
                top: self.path(),
                stores: self.common_dir().join("modules"),
                main,
                own: self.git_dir().join("modules"),
            },
            DEEPEST,
        )
    }
}

fn bring(place: &Place<'_>, depth: u32) -> Result<(), Error> {
    let list = place.top.join(".gitmodules");
    let is_file = list.symlink_metadata().is_ok_and(|found| found.is_file());
    if !is_file || depth == 0 {
        return Ok(());
    }
    let names = names(&place.around)?;
    for (path, commit) in linked(&place.around)? {
        let Some(name) = names.get(&path) else {
            continue;
        };
        let of_main = place.main.join(&path);
        let stores = [place.stores.join(name), of_main.join(".git")];
        let store = stores.iter().find(|store| store.join("objects").is_dir());
        let Some(store) = store else {
            continue;
        };
        let source = Repo::pinned(place.around.program(), store, store);
        if source.resolve(&format!("{commit}^{{commit}}"))?.is_none() {
            continue;
        }
        let files = rekindle_fs::confine(place.top, &path).map_err(prepare(&path))?;
        let git_dir = place.own.join(name);
        let here = Repo::pinned(place.around.program(), &files, &git_dir);
        if !bring_one(&here, &source, (&files, &git_dir), &commit)? {
            continue;
        }
        let below = Place {
            around: here,
            top: &files,
            stores: store.join("modules"),
            main: &of_main,
            own: git_dir.join("modules"),
        };
        bring(&below, depth - 1)?;
    }
    Ok(())
}

/// Brings one submodule to a commit; returns whether it is there.
fn bring_one(
    here: &Repo,
    source: &Repo,
    (files, git_dir): (&Utf8Path, &Utf8Path),
    commit: &ObjectId,
) -> Result<bool, Error> {
    let head = git_dir.join("HEAD");
    let link = files.join(".git");
    if let Some(now) = head_name::text(&head) {
        if now.trim_ascii_end() == commit.as_str() && link.is_file() {
            return Ok(true);
        }
        // What is only here must not be lost, and another branch is somebody's own.
        let is_known = ObjectId::parse(now.trim_ascii_end())
            .is_ok_and(|now| matches!(source.resolve(now.as_str()), Ok(Some(_))));
        if link.is_file() && !(is_known && here.status()?.is_empty()) {
            return Ok(false);
        }
    } else if link.symlink_metadata().is_ok() {
        // Somebody made a repository of their own.
        return Ok(false);
    } else {
        make(git_dir, source, commit)?;
    }
    // The link comes last: where it is missing, a death has left the files half way.
    remove(&link)?;
    abandoned::break_locks_in(git_dir)?;
    write(&head, &format!("{commit}\n"))?;
    let args = ["reset", "--quiet", "--hard", commit.as_str(), "--"];
    here.write().args(args).done()?;
    write(&link, &format!("gitdir: {git_dir}\n"))?;
    Ok(true)
}

/// Makes a git folder that borrows all objects.
fn make(git_dir: &Utf8Path, source: &Repo, commit: &ObjectId) -> Result<(), Error> {
    let store = source.dir();
    let args = ["config", "--get", "remote.origin.url"];
    let url = source.read().args(args).answer()?.unwrap_or_default();
    let url = String::from_utf8_lossy(&url).trim_end().to_owned();
    let mut config = match commit.as_str().len() {
        40 => "[core]\n\trepositoryformatversion = 0\n\tbare = false\n".to_owned(),
        _ => "[core]\n\trepositoryformatversion = 1\n\tbare = false\n[extensions]\n\tobjectFormat = sha256\n".to_owned(),
    };
    if !url.is_empty() {
        let fetch = "+refs/heads/*:refs/remotes/origin/*";
        let url = quoted(&url);
        config.push_str(&format!(
            "[remote \"origin\"]\n\turl = {url}\n\tfetch = {fetch}\n"
        ));
    }
    // Submodules of it are in use where the main checkout uses them.
    let args = ["config", "--null", "--get-regexp", r"^submodule\..*\.url$"];
    let used = source.read().args(args).answer()?.unwrap_or_default();
    for used in records(&used).filter_map(|record| str::from_utf8(record).ok()) {
        let (key, url) = used.split_once('\n').unwrap_or((used, ""));
        let name = key
            .strip_prefix("submodule.")
            .and_then(|key| key.strip_suffix(".url"));
        if let Some(name) = name.filter(|name| !name.contains('\n')) {
            let (name, url) = (quoted(name), quoted(url));
            config.push_str(&format!(
                "[submodule {name}]\n\turl = {url}\n\tactive = true\n"
            ));
        }
    }
    let refs = git_dir.join("refs");
    rekindle_fs::ensure_dir(&refs).map_err(prepare(&refs))?;
    let objects = store.join("objects");
    write(
        &git_dir.join("objects/info/alternates"),
        &format!("{objects}\n"),
    )?;
    if let Some(shallow) = read(&store.join("shallow"), LARGEST_LIST)? {
        let shallow = String::from_utf8_lossy(&shallow).into_owned();
        write(&git_dir.join("shallow"), &shallow)?;
    }
    write(&git_dir.join("config"), &config)
}

/// Returns a value as git's settings have it.
fn quoted(value: &str) -> String {
    let value = value.replace('\\', "\\\\").replace('"', "\\\"");
    format!("\"{}\"", value.replace('\n', "\\n"))
}

/// Returns the names of the submodules by path.
fn names(around: &Repo) -> Result<BTreeMap<Utf8PathBuf, String>, Error> {
    let args = ["config", "--null", "--file", ".gitmodules", "--get-regexp"];
    let call = around.read().args(args).args([r"^submodule\..*\.path$"]);
    Ok(parse_names(&call.answer()?.unwrap_or_default()))
}

/// Reads `submodule.<name>.path\n<path>\0`. A name or path that leads elsewhere is left out.
fn parse_names(output: &[u8]) -> BTreeMap<Utf8PathBuf, String> {
    let read = |record: &[u8]| {
        let (key, path) = str::from_utf8(record).ok()?.split_once('\n')?;
        let name = key.strip_prefix("submodule.")?.strip_suffix(".path")?;
        let is_plain = |text: &str| {
            let mut parts = Utf8Path::new(text).components();
            !text.is_empty() && parts.all(|part| matches!(part, Utf8Component::Normal(_)))
        };
        (is_plain(name) && is_plain(path)).then(|| (path.into(), name.to_owned()))
    };
    records(output).filter_map(read).collect()
}

/// Returns the commits of submodules in the index.
fn linked(around: &Repo) -> Result<Vec<(Utf8PathBuf, ObjectId)>, Error> {
    let args = ["ls-files", "-z", "--stage", "-v"];
    let entries = around
        .read()
        .args(args)
        .parsed(crate::snapshot::parse_entries)?;
    let is_linked = |entry: &crate::snapshot::IndexEntry| {
        entry.mode == Mode::Submodule && entry.stage == 0 && !entry.is_sparse()
    };
    let linked = entries.into_iter().filter(is_linked);
    Ok(linked
        .filter_map(|entry| Some((entry.path.as_str()?.into(), entry.id)))
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_paths_that_lead_elsewhere_are_left_out() {
        let output = b"submodule.lib.path\nthird/lib\0submodule.a.b.path\nx\0submodule.../../x.path\ny\0submodule.z.path\n../z\0submodule./abs.path\nq\0torn\0submodule.c.path\n/c\0";
        let names = parse_names(output);
        let names: Vec<(&str, &str)> = names
            .iter()
            .map(|(path, name)| (path.as_str(), name.as_str()))
            .collect();
        assert_eq!(names, [("third/lib", "lib"), ("x", "a.b")]);
        assert!(parse_names(b"").is_empty());
    }
}
