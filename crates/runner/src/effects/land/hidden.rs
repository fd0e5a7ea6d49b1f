//! Edits that git does not show, because the conversion for a commit removes them.
//!
//! Keywords (`ident`), line endings, encodings and filters give different files the same content. Such an
//! edit is in no commit, so a landing must not replace it. A file hides nothing if its
//! bytes are those that git stores, or those that a checkout writes.

use rekindle_fs::{Node, Tree};
use rekindle_git::{Change, ObjectId, Repo, RepoPath};

use crate::Error;

/// Returns the first file whose bytes are neither what git stores nor what a checkout writes, of files
/// whose content is that of the old side of their change.
pub(super) fn find<'a>(
    repo: &Repo,
    tree: &Tree,
    files: impl Iterator<Item = (&'a Change, &'a Node)>,
) -> Result<Option<&'a RepoPath>, Error> {
    let files: Vec<_> = files
        .filter_map(|(change, node)| match (&change.old, node) {
            (Some(old), Node::File { content, .. }) => Some((&change.path, &old.id, content)),
            _ => None,
        })
        .collect();
    let paths: Vec<&RepoPath> = files.iter().map(|(path, _, _)| *path).collect();
    // One process for all of them. Only files that are really converted cost another one.
    let ids = repo.unconverted_ids(&paths)?;
    for (path, stored, content) in files {
        if ids.get(path) == Some(stored) {
            continue;
        }
        let checked_out = repo.as_checked_out(stored, path)?;
        let Some(bytes) = tree.bytes(path.as_path(), content)? else {
            return Ok(Some(path));
        };
        // The id in a keyword is that of the last checkout and not of the last commit: git writes it.
        if without_ids(&bytes, stored) != without_ids(&checked_out, stored) {
            return Ok(Some(path));
        }
    }
    Ok(None)
}

/// Returns the bytes with `$Id$` for each `$Id: <object id> $`.
fn without_ids(bytes: &[u8], like: &ObjectId) -> Vec<u8> {
    const START: &[u8] = b"$Id: ";
    const END: &[u8] = b" $";
    let n_digits = like.as_str().len();
    let written = |rest: &[u8]| -> Option<usize> {
        let (digits, end) = rest.strip_prefix(START)?.split_at_checked(n_digits)?;
        let is_id = digits.iter().all(u8::is_ascii_hexdigit) && end.starts_with(END);
        is_id.then_some(START.len() + n_digits + END.len())
    };
    let mut kept = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some((first, after)) = rest.split_first() {
        if let Some(length) = written(rest) {
            kept.extend_from_slice(b"$Id$");
            rest = rest.get(length..).unwrap_or_default();
        } else {
            kept.push(*first);
            rest = after;
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_ids_that_git_wrote_are_taken_out_of_keywords() {
        let id = ObjectId::parse(&"1a".repeat(20)).unwrap();
        let written = format!("$Id: {id} $");
        for (text, expected) in [
            (format!("a {written} b {written}"), "a $Id$ b $Id$"),
            (format!("${written}"), "$$Id$"),
            ("$Id: mine $".to_owned(), "$Id: mine $"),
            ("$Id$".to_owned(), "$Id$"),
            ("$Id: ".to_owned(), "$Id: "),
        ] {
            let found = without_ids(text.as_bytes(), &id);
            assert_eq!(String::from_utf8(found).unwrap(), expected);
        }
        for kept in [format!("$Id: {id}$"), format!("$Id: {id} by me $")] {
            assert_eq!(without_ids(kept.as_bytes(), &id), kept.as_bytes());
        }
    }
}
