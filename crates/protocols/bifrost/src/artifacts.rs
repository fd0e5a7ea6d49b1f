//! Paths in the Artifacts field of a checkpoint.
//!
//! Real fields mix names, paths, remarks and sentences, so only the first word of an item counts.

use camino::{Utf8Path, Utf8PathBuf};

/// Something that an Artifacts field names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Named {
    /// As it is written.
    pub(super) text: String,
    pub(super) kind: Kind,
}

/// How certain it is that a word is a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// It has the form of one.
    Path,
    /// It contains a slash, so it is a path only if the file exists.
    Maybe,
}

/// Returns the paths in the values of a field.
pub(super) fn named(values: &[String]) -> Vec<Named> {
    let items = values.iter().flat_map(|value| items(value));
    items.filter_map(|item| path_of(&item)).collect()
}

/// Splits a value at commas and semicolons outside brackets and backticks.
fn items(value: &str) -> Vec<String> {
    let mut items = vec![String::new()];
    let mut depth = 0_u32;
    let mut is_code = false;
    for c in value.chars() {
        match c {
            '`' => is_code = !is_code,
            '(' | '[' | '{' if !is_code => depth += 1,
            ')' | ']' | '}' if !is_code => depth = depth.saturating_sub(1),
            ',' | ';' if !is_code && depth == 0 => {
                items.push(String::new());
                continue;
            }
            _ => {}
        }
        if let Some(item) = items.last_mut() {
            item.push(c);
        }
    }
    items
}

fn path_of(item: &str) -> Option<Named> {
    let item = item.trim();
    let whole = match item.strip_prefix('`').and_then(|rest| rest.split_once('`')) {
        Some((span, _)) => span.trim(),
        None => item.split_whitespace().next()?,
    };
    let word = whole.trim_start_matches("./");
    let is_never = word.is_empty()
        || word.contains('(')
        || word.contains("://")
        || word.starts_with('/')
        || word.split('/').any(|part| part == "..")
        || word.chars().any(char::is_control);
    if is_never {
        return None;
    }
    let kind = if word.ends_with('/') || has_name_of_a_file(word) {
        Kind::Path
    } else if whole.contains('/') {
        Kind::Maybe
    } else {
        return None;
    };
    Some(Named {
        text: word.to_owned(),
        kind,
    })
}

/// Returns a file or folder in the form that [`named`] reads; `short` is relative to the feature,
/// `path` to the project.
pub(super) fn written(short: &Utf8Path, path: &Utf8Path, is_folder: bool) -> String {
    let text = if is_folder {
        format!("{short}/")
    } else if has_name_of_a_file(short.as_str()) || short.as_str().contains('/') {
        short.to_string()
    } else if path.as_str().contains('/') {
        path.to_string()
    } else {
        format!("./{path}")
    };
    let is_plain = |c: char| !c.is_whitespace() && !",;()[]{}".contains(c);
    if text.chars().all(is_plain) {
        text
    } else {
        format!("`{text}`")
    }
}

/// Returns whether the last part has an extension, or is a dot-file.
fn has_name_of_a_file(word: &str) -> bool {
    let name = word.rsplit('/').next().unwrap_or_default();
    match name.rsplit_once('.') {
        Some(("", rest)) => !rest.is_empty(),
        Some((_, extension)) => {
            let is_dot_file = name.starts_with('.');
            let is_extension = (1..=10).contains(&extension.len())
                && extension.starts_with(|c: char| c.is_ascii_alphabetic())
                && extension.bytes().all(|byte| byte.is_ascii_alphanumeric());
            is_extension || (is_dot_file && !extension.is_empty())
        }
        None => false,
    }
}

/// Returns the paths to try for a name, nearest first.
pub(super) fn places(
    name: &str,
    feature: &Utf8Path,
    previous: Option<&Utf8Path>,
) -> Vec<Utf8PathBuf> {
    let name = Utf8Path::new(name.trim_end_matches('/'));
    let mut places = vec![name.to_owned(), feature.join(name)];
    places.extend(previous.map(|folder| folder.join(name)));
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn separates_paths_from_prose() {
        let rows = "plan.md, research.md, data-model.md, contracts/ => plan.md research.md data-model.md contracts/
            specs/f/spec.md (validated) => specs/f/spec.md
            tasks.md (8 tasks, in 4 phases); notes.txt => tasks.md notes.txt
            backend/tests/a.py, b.py, c.py => backend/tests/a.py b.py c.py
            x.tsx (255 lines) with stage filter, search, date grouping => x.tsx
            All implementation files for f =>
            Session file created =>
            fetch_rankings_page() and parse() =>
            Deleted migrate_to_firestore.py and legacy files =>
            CI/CD (4 GitHub Actions workflows) => CI/CD?
            loading/error UI (T039) => loading/error?
            backend/Dockerfile (39 lines, multi-stage) => backend/Dockerfile?
            .env.example, .gitignore => .env.example .gitignore
            `src/a b.ts` new, `src/c.ts` => src/a b.ts src/c.ts
            `a, b.md`; ./Makefile => a, b.md Makefile?
            src/*.ts, src/**/x.rs => src/*.ts src/**/x.rs
            /api/users, ../outside.md, https://x.org/a.html =>
            v1.0, e.g. x, 3.14 =>
            None =>
            =>";
        for row in rows.lines() {
            let (value, wanted) = row.trim_start().split_once("=>").unwrap();
            let found = named(&[value.to_owned()]).into_iter();
            let found: Vec<String> = found
                .map(|named| match named.kind {
                    Kind::Path => named.text,
                    Kind::Maybe => named.text + "?",
                })
                .collect();
            assert_eq!(found.join(" "), wanted.trim(), "{row}");
        }
    }

    #[test]
    fn reads_written_paths_back() {
        let table = [
            ("spec.md", "specs/f/spec.md", false, "spec.md"),
            ("contracts", "specs/f/contracts", true, "contracts/"),
            ("Makefile", "specs/f/Makefile", false, "specs/f/Makefile"),
            ("Makefile", "Makefile", false, "./Makefile"),
            (
                "backend/Dockerfile",
                "backend/Dockerfile",
                false,
                "backend/Dockerfile",
            ),
            ("a, b (c).md", "a, b (c).md", false, "`a, b (c).md`"),
            ("my dir", "my dir", true, "`my dir/`"),
        ];
        for (short, path, is_folder, wanted) in table {
            let text = written(short.into(), path.into(), is_folder);
            assert_eq!(text, wanted);
            let found = named(&[format!("{text}, other.md")]);
            let n_found = if path.contains('(') { 1 } else { 2 };
            assert_eq!(found.len(), n_found, "{text}");
        }
    }

    #[test]
    fn searches_the_project_the_feature_and_the_previous_folder() {
        let found = places("b.py", "specs/f".into(), Some("backend/tests".into()));
        assert_eq!(found, ["b.py", "specs/f/b.py", "backend/tests/b.py"]);
        assert_eq!(
            places("contracts/", "specs/f".into(), None),
            ["contracts", "specs/f/contracts"]
        );
    }
}
