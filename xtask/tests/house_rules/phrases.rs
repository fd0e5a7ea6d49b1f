//! Texts that people read are written in plain English.

use std::path::Path;

use xtask::files;

use crate::literals::literals;
use crate::{check, files_below, short};

/// Phrases of a private dialect, and what to write instead.
const BANNED: [(&str, &str); 27] = [
    ("a yes", "consent, agreement"),
    ("anew", "again"),
    ("are no", "are not"),
    ("be it that", "if, whether"),
    ("beside", "next to, besides"),
    ("can not", "cannot"),
    ("faces", "front ends"),
    ("had begun", "had started, an interrupted command"),
    ("held against", "compared with"),
    ("is no", "is not a"),
    ("leave away", "omit"),
    ("leaves away", "omits"),
    ("mend", "fix, repair"),
    ("mended", "fixed, repaired"),
    ("news", "changes, messages"),
    ("papers", "documents"),
    ("ruling", "the rule in words"),
    ("seed", "the protocol's specification"),
    ("stands", "is"),
    ("taken up", "resumed"),
    ("takes up", "resumes"),
    ("tells", "reports, returns"),
    ("was begun", "was started"),
    ("what was begun", "the unfinished work"),
    ("whoever", "anyone who, the caller"),
    ("without a word", "without reporting a result"),
    ("yes beforehand", "`--yes`"),
];

/// Where a banned phrase is right: the start of the paths, the exact text around it, and the reason.
const EXEMPT: &[(&str, &str, &str)] = &[
    ("", "--seed", "an option of `rekindle torture`"),
    (
        "",
        "random seed",
        "the start of a generator of random numbers",
    ),
    (
        "",
        "seed, workers",
        "a label in the output of `rekindle torture`",
    ),
    (
        "docs/reference/cli.md",
        "the same seed",
        "the option `--seed` in the help text",
    ),
    (
        "docs/reference/json/torture-1.schema.json",
        "\"seed\"",
        "a key of the output of `rekindle torture`",
    ),
    (
        "docs/reference/cli.md",
        "seed for plans",
        "the option `--seed` in the help text",
    ),
    (
        "crates/protocols/bifrost/src/lib.rs",
        "mend",
        "the kind of a next action, a value of the JSON output",
    ),
    (
        "crates/protocols/map/src/assess.rs",
        "mend",
        "the kind of a next action, a value of the JSON output",
    ),
    (
        "",
        "there is no",
        "says what is missing, not what something is",
    ),
    (
        "",
        "there are no",
        "says what is missing, not what something is",
    ),
    ("", "is no longer", "an ordinary phrase"),
    ("", "are no longer", "an ordinary phrase"),
    ("", "is no more", "an ordinary phrase"),
];

/// The folders whose string literals are user-visible.
const CODE: &str = "crates";

#[test]
fn user_visible_text_has_no_banned_phrase() -> Result<(), String> {
    let mut violations = Vec::new();
    let mut texts = Vec::new();
    for path in files_below(CODE, ".rs")?
        .iter()
        .filter(|path| is_shipped(path))
    {
        let code = files::read(path)?;
        let code = code
            .split("#[cfg(test)]\nmod tests {")
            .next()
            .unwrap_or_default();
        texts.extend(
            literals(code)
                .into_iter()
                .map(|(line, text)| (short(path), line, text)),
        );
    }
    assert!(
        texts.len() > 5000,
        "only {} literals were found",
        texts.len()
    );
    let mut documents = files_below("docs", ".md")?;
    documents.extend(files_below("docs", ".schema.json")?);
    let top = files::list(xtask::run::root())?.into_iter();
    documents.extend(top.filter(|path| path.extension().is_some_and(|found| found == "md")));
    assert!(
        documents.len() > 100,
        "only {} documents were found",
        documents.len()
    );
    for path in documents {
        texts.push((short(&path), 1, files::read(&path)?));
    }
    for (name, first_line, text) in texts {
        for (line, phrase, instead) in banned_in(&name, &text) {
            let at = first_line + line;
            violations.push(format!("{name}:{at}: `{phrase}`; write: {instead}"));
        }
    }
    check(&violations);
    Ok(())
}

/// Returns whether a file of a crate is part of a program that users run.
fn is_shipped(path: &Path) -> bool {
    let name = short(path);
    let is_test = name.ends_with("_tests.rs") || name.ends_with("/tests.rs");
    name.contains("/src/") && !is_test && !name.starts_with("crates/testkit/")
}

/// Returns the banned phrases of a text with the number of line breaks before each, and what to write instead.
///
/// Phrases are whole words in any case, and may be broken over two lines.
fn banned_in(name: &str, text: &str) -> Vec<(usize, &'static str, &'static str)> {
    // One space for any whitespace, and the number of line breaks before each byte.
    let (mut flat, mut lines, mut line) = (String::new(), Vec::new(), 0);
    for c in text.chars() {
        line += usize::from(c == '\n');
        if !c.is_whitespace() {
            flat.extend(c.to_lowercase());
        } else if !flat.ends_with(' ') {
            flat.push(' ');
        }
        lines.resize(flat.len(), line);
    }
    let exempt: Vec<std::ops::Range<usize>> = EXEMPT
        .iter()
        .filter(|(path, ..)| name.starts_with(path))
        .flat_map(|(_, phrase, _)| flat.match_indices(phrase))
        .map(|(at, phrase)| at..at + phrase.len())
        .collect();
    let mut found = Vec::new();
    for (phrase, instead) in BANNED {
        for (at, _) in flat.match_indices(phrase) {
            let end = at + phrase.len();
            let is_word = |c: char| c.is_alphanumeric() || c == '_';
            let is_part = flat[..at].ends_with(is_word) || flat[end..].starts_with(is_word);
            let is_exempt = exempt
                .iter()
                .any(|range| range.start <= at && end <= range.end);
            if !is_part && !is_exempt {
                found.push((lines[at], phrase, instead));
            }
        }
    }
    found
}

#[test]
fn every_planted_phrase_is_found() {
    for (phrase, instead) in BANNED {
        let found = banned_in("README.md", &format!("first line\nit says {phrase}."));
        assert!(found.contains(&(1, phrase, instead)), "{phrase}: {found:?}");
    }
    let found = |text| banned_in("README.md", text).len();
    assert_eq!(found("It Can\n   not be. Whoever"), 2);
    assert_eq!(found("recommended seeds, a yesterday, scan nothing"), 0);
    assert_eq!(found("there is no such task, which is no longer open"), 0);
    assert_eq!(found("this is no task"), 1);
    assert_eq!(found("use `--seed 7`, a random seed, or the seed"), 1);
    let code = "fn f() {} // can not\nconst A: &str = \"you can \\\n    not\";";
    let texts = literals(code);
    assert_eq!(texts.len(), 1);
    assert_eq!(found(&texts[0].1), 1);
}
