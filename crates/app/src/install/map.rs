//! Replaces MAP's orchestrator script by one that passes its commands to `rekindle map`.
//!
//! The original stays next to it under another name. The new script runs it for commands that rekindle
//! does not know, if rekindle is not found, and for programs that import from it; so everything keeps
//! working. Two files are written, the copy first: a crash in between leaves the original in its place
//! and a copy of it, which the next call recognizes.

use camino::Utf8PathBuf;
use rekindle_fs::{Content, Node, Tree};
use rekindle_map_machine::orchestrator_commands;

use super::{FileChange, Installation, Prepared, Program, Wish, read};
use crate::{Error, Project};

const SCRIPT: &str = ".map/scripts/map_orchestrator.py";
const ORIGINAL: &str = ".map/scripts/map_orchestrator.py.rekindle-original";
/// The mark of our script, in every version.
const MARK: &str = "Written by `rekindle install map`";

/// Returns the script that replaces the peer's.
fn script() -> String {
    let commands: Vec<String> = orchestrator_commands()
        .map(|name| format!("    \"{name}\",\n"))
        .collect();
    format!(
        r#"#!/usr/bin/env python3
"""Hands MAP's commands to `rekindle map`. {MARK}.

The original script is next to this file; `rekindle uninstall map` restores it. It still
runs for commands that are not listed below, if rekindle is not found, and for programs that import
from this file.
"""
import os
import sys

ORIGINAL = os.path.abspath(__file__) + ".rekindle-original"
COMMANDS = {{
{}}}


def run_original():
    with open(ORIGINAL, "rb") as file:
        code = compile(file.read(), ORIGINAL, "exec")
    exec(code, globals())


if __name__ == "__main__" and any(word in COMMANDS for word in sys.argv[1:]):
    try:
        os.execvp("rekindle", ["rekindle", "map"] + sys.argv[1:])
    except OSError:
        run_original()
else:
    run_original()
"#,
        commands.concat()
    )
}

pub(super) fn prepare(project: &Project, wish: Wish) -> Result<Prepared, Error> {
    match wish {
        Wish::Install => installing(project),
        Wish::Uninstall => uninstalling(project),
    }
}

fn installing(project: &Project) -> Result<Prepared, Error> {
    let place = Place::find(project)?;
    let script = script();
    let new = Content::of(script.as_bytes());
    if place.found == new {
        return Ok(nothing_to_do());
    }
    let is_ours = place.is_ours();
    let mut changes = vec![(SCRIPT, "will pass its commands to `rekindle map`")];
    if !is_ours {
        changes.push((ORIGINAL, "will keep a copy of the current script"));
    }
    // All old lines are removed and kept in the copy; the new lines matter.
    let n_lines = String::from_utf8_lossy(&place.bytes).lines().count();
    let added: Vec<String> = script.lines().map(|line| format!("+{line}\n")).collect();
    let shown = format!(
        "-[all {n_lines} lines; MAP's own are kept in {ORIGINAL}]\n{}",
        added.concat()
    );
    let deed = move || {
        if !is_ours {
            place.keep_original()?;
        }
        Ok(rekindle_fs::replace(
            &place.script,
            &place.found,
            script.as_bytes(),
        )?)
    };
    let mut prepared = prepared(&changes, &shown, deed);
    // The script belongs to the project, so it must not contain paths of this machine.
    if !Program::is_on_path(project) {
        let to_do = "add rekindle to your PATH: the script calls it by name, and runs MAP's own script until then";
        prepared.installation.to_do.push(to_do.to_owned());
    }
    Ok(prepared)
}

fn uninstalling(project: &Project) -> Result<Prepared, Error> {
    let place = Place::find(project)?;
    let is_ours = place.is_ours();
    let Some(kept) = place.kept.clone() else {
        if is_ours {
            let path = place.original;
            return Err(Error::OriginalMissing { path });
        }
        return Ok(nothing_to_do());
    };
    let mut changes = Vec::new();
    if is_ours {
        changes.push((
            SCRIPT,
            "will be restored to the script before `rekindle install map`",
        ));
    } else if kept != place.bytes {
        // Somebody has put a newer script there; the copy of the older one must not be lost.
        let path = place.original;
        return Err(Error::OriginalDiffers { path });
    }
    changes.push((ORIGINAL, "will be removed"));
    let deed = move || {
        if is_ours {
            rekindle_fs::replace(&place.script, &place.found, &kept)?;
        }
        place.drop_copy(&kept)
    };
    Ok(prepared(&changes, "", deed))
}

fn nothing_to_do() -> Prepared {
    Prepared {
        installation: installation(String::new()),
        question: String::new(),
        deed: None,
    }
}

fn prepared(
    changes: &[(&str, &str)],
    shown: &str,
    deed: impl FnOnce() -> Result<(), Error> + 'static,
) -> Prepared {
    let lines: Vec<String> = changes
        .iter()
        .map(|(path, change)| format!("{path}: {change}\n"))
        .collect();
    let diff = format!("{}{shown}", lines.concat());
    Prepared {
        question: diff.clone(),
        installation: installation(diff),
        deed: Some(Box::new(deed)),
    }
}

fn installation(diff: String) -> Installation {
    let path = SCRIPT.into();
    Installation {
        files: vec![FileChange { path, diff }],
        written: false,
        to_do: Vec::new(),
    }
}

/// The two files, and the contents of the script.
struct Place {
    folder: Utf8PathBuf,
    script: Utf8PathBuf,
    original: Utf8PathBuf,
    found: Content,
    bytes: Vec<u8>,
    /// The bytes of the copy, if there is one.
    kept: Option<Vec<u8>>,
}

impl Place {
    fn find(project: &Project) -> Result<Self, Error> {
        let folder = rekindle_map_machine::root(&project.world()).folder;
        let script = rekindle_fs::confine_unlinked(&folder, SCRIPT.into())?;
        let original = rekindle_fs::confine_unlinked(&folder, ORIGINAL.into())?;
        let Some(bytes) = read(project, &script)? else {
            return Err(Error::NoMapScripts { path: script });
        };
        let kept = read(project, &original)?;
        Ok(Self {
            folder,
            script,
            original,
            found: Content::of(&bytes),
            bytes,
            kept,
        })
    }

    fn is_ours(&self) -> bool {
        let start = &self.bytes[..self.bytes.len().min(512)];
        String::from_utf8_lossy(start).contains(MARK)
    }

    /// Creates the copy; an existing file of that name, such as the copy of an older script, is renamed.
    fn keep_original(&self) -> Result<(), Error> {
        if self.found.is_at(&self.original)? {
            return Ok(());
        }
        let mut number = 1;
        while !Content::Absent.is_at(&self.original)? {
            let aside = Utf8PathBuf::from(format!("{}.{number}", self.original));
            match rekindle_fs::rename(&self.original, &aside) {
                Ok(()) | Err(rekindle_fs::Error::Exists { .. }) => number += 1,
                Err(error) => return Err(error.into()),
            }
        }
        Ok(rekindle_fs::create(&self.original, &self.bytes)?)
    }

    fn drop_copy(&self, kept: &[u8]) -> Result<(), Error> {
        let tree = Tree::open(self.folder.as_std_path())?;
        let path = std::path::Path::new(ORIGINAL);
        let node = tree.look(path)?;
        // Somebody could have changed it since it was read.
        if node == Node::Absent || !Content::of(kept).is_at(&self.original)? {
            return Ok(());
        }
        Ok(tree.remove(path, &node)?)
    }
}
