//! The folder that every package holds: the program, its manual pages, its completions and its papers.

use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use xtask::{files, run};

use super::{Release, licenses};

/// The completion scripts, each where its shell looks below a prefix.
const COMPLETIONS: [(&str, &str); 3] = [
    ("bash", "share/bash-completion/completions/rekindle"),
    ("zsh", "share/zsh/site-functions/_rekindle"),
    ("fish", "share/fish/vendor_completions.d/rekindle.fish"),
];
/// The folder of the manual pages.
pub(super) const PAGES: &str = "share/man/man1";
pub(super) const PAPERS: [&str; 4] = ["README.md", "CHANGELOG.md", "LICENSE-APACHE", "LICENSE-MIT"];

/// Lays the folder out; returns its path.
pub(super) fn laid_out(release: &Release, binary: &Path) -> Result<PathBuf, String> {
    let folder = release.scratch("contents")?;
    let program = folder.join("bin/rekindle");
    copy(binary, &program)?;
    for (shell, path) in COMPLETIONS {
        let script = said(binary, &["completions", shell])?;
        files::write(folder.join(path), script)?;
    }
    for (name, page) in pages(binary)? {
        files::write(folder.join(PAGES).join(name), page)?;
    }
    for paper in PAPERS {
        files::write(folder.join(paper), files::read(run::root().join(paper))?)?;
    }
    files::write(folder.join(licenses::FILE), licenses::collected()?)?;
    for path in files::list_all(&folder)? {
        set_mode(&path, if path == program { 0o755 } else { 0o644 })?;
    }
    Ok(folder)
}

/// Copies a file, and makes the folders above the copy.
pub(super) fn copy(from: &Path, to: &Path) -> Result<(), String> {
    let bytes =
        std::fs::read(from).map_err(|e| format!("cannot read `{}`: {e}", from.display()))?;
    files::write(to, bytes)
}

pub(super) fn set_mode(path: &Path, mode: u32) -> Result<(), String> {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode))
        .map_err(|e| format!("cannot set the mode of `{}`: {e}", path.display()))
}

/// Returns every manual page with its name: the one with all commands, and one for each command in it.
fn pages(binary: &Path) -> Result<Vec<(String, String)>, String> {
    let all = said(binary, &["man"])?;
    let mut pages = Vec::new();
    for words in commands(&all) {
        let mut args = vec!["man"];
        args.extend(words.iter().map(String::as_str));
        let name = format!("rekindle-{}.1", words.join("-"));
        pages.push((name, said(binary, &args)?));
    }
    pages.push(("rekindle.1".to_owned(), all));
    let missing = missing(&pages);
    if missing.is_empty() {
        return Ok(pages);
    }
    Err(format!(
        "manual pages are referred to and missing: {missing:?}"
    ))
}

/// Finds the commands in the headings of the page that has all of them.
fn commands(page: &str) -> Vec<Vec<String>> {
    let headings = page.lines().filter_map(|line| {
        let words = line.strip_prefix(".SH \"REKINDLE ")?.strip_suffix('"')?;
        Some(words.split(' ').map(str::to_lowercase).collect())
    });
    headings.collect()
}

/// Returns the pages that a page refers to, as `rekindle-rescue(1)`, and that are not there.
fn missing(pages: &[(String, String)]) -> BTreeSet<String> {
    let mut missing = BTreeSet::new();
    for (_, page) in pages {
        let page = page.replace('\\', "");
        for (at, _) in page.match_indices("(1)") {
            let before = &page[..at];
            let is_part = |c: char| c.is_ascii_lowercase() || c == '-';
            let name = &before[before.trim_end_matches(is_part).len()..];
            let file = format!("{name}.1");
            if name.starts_with("rekindle") && pages.iter().all(|(page, _)| *page != file) {
                missing.insert(file);
            }
        }
    }
    missing
}

/// Returns what the program prints.
fn said(binary: &Path, args: &[&str]) -> Result<String, String> {
    run::output(Command::new(binary).args(args))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_is_found_in_the_page_of_all() {
        let page = ".SH NAME\n.SH \"REKINDLE RUN\"\n.SH \"REKINDLE RESCUE LIST\"\n";
        assert_eq!(commands(page), [vec!["run"], vec!["rescue", "list"]]);
    }

    #[test]
    fn a_page_that_is_referred_to_and_missing_is_named() {
        let page = |name: &str, text: &str| (name.to_owned(), text.to_owned());
        let pages = [
            page("rekindle-rescue.1", "rekindle\\-rescue\\-list(1) git(1)"),
            page(
                "rekindle-rescue-list.1",
                "see rekindle\\-rescue(1), rekindle\\-gone(1)",
            ),
        ];
        assert_eq!(
            missing(&pages),
            BTreeSet::from(["rekindle-gone.1".to_owned()])
        );
    }
}
