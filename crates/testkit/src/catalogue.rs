//! The names of all tests, for documents that name some of them.

use std::collections::BTreeSet;
use std::io;

use camino::Utf8Path;
use regex::Regex;

/// A function that is a test, and what a test without the usual harness names: a trial, or a story
/// that is told with a death at each place.
const NAMES: &str = r#"#\[test\]\s+(?:#\[[^\]]*\]\s+)*(?:async )?fn (\w+)|\b(?:Trial::test|trial)\(\s*"(\w+)"|\bstory\(\s*"(\w+)""#;

/// What each story is tried with.
const OF_A_STORY: [&str; 3] = ["_dies", "_finds_the_disk_broken", "_finds_broken_files"];

/// Returns the names of all tests in the Rust files below a folder.
pub fn tests_below(folder: &Utf8Path) -> io::Result<BTreeSet<String>> {
    let pattern = Regex::new(NAMES).map_err(io::Error::other)?;
    let mut names = BTreeSet::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in folder.read_dir_utf8()? {
            let path = entry?.into_path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension() == Some("rs") {
                let text = fs_err::read_to_string(&path)?;
                let found = pattern.captures_iter(&text);
                names.extend(found.flat_map(|found| {
                    if let Some(story) = found.get(3) {
                        return OF_A_STORY
                            .map(|what| format!("{}{what}", story.as_str()))
                            .to_vec();
                    }
                    let name = found.get(1).or_else(|| found.get(2));
                    name.map(|name| name.as_str().to_owned())
                        .into_iter()
                        .collect()
                }));
            }
        }
    }
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_of_a_test_is_found_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let top = Utf8Path::from_path(folder.path()).unwrap();
        let text = "fn no() {}\n#[test]\nfn plain() {}\n    #[test]\n    #[cfg(unix)]\n    async fn other() {}\n";
        fs_err::create_dir(top.join("below")).unwrap();
        fs_err::write(top.join("below/a.rs"), text).unwrap();
        let trials = "Trial::test(\n    \"trial\", || {})\nstory(\"story\", FEW)";
        fs_err::write(top.join("b.rs"), trials).unwrap();
        fs_err::write(top.join("c.md"), "#[test]\nfn none() {}").unwrap();
        let names: Vec<String> = tests_below(top).unwrap().into_iter().collect();
        assert_eq!(
            names,
            [
                "other",
                "plain",
                "story_dies",
                "story_finds_broken_files",
                "story_finds_the_disk_broken",
                "trial"
            ]
        );
    }
}
