//! No source file is too long to read, whether code or tests.

use xtask::files;

use crate::{check, files_below, short};

const MOST_LINES: usize = 500;
/// The folders of all crates.
const FOLDERS: [&str; 6] = [
    "benches/src",
    "crates",
    "fuzz/fuzz_targets",
    "fuzz/src",
    "xtask/src",
    "xtask/tests",
];

#[test]
fn no_source_file_is_longer_than_500_lines() -> Result<(), String> {
    let mut violations = Vec::new();
    let mut n_files = 0;
    for folder in FOLDERS {
        for path in files_below(folder, ".rs")? {
            n_files += 1;
            let (name, text) = (short(&path), files::read(&path)?);
            violations.extend(too_long(&name, &text));
        }
    }
    assert!(n_files > 500, "only {n_files} files were found");
    check(&violations);
    Ok(())
}

fn too_long(name: &str, text: &str) -> Option<String> {
    let n_lines = text.lines().count();
    (n_lines > MOST_LINES).then(|| format!("{name}: {n_lines} lines; split it by topic"))
}

#[test]
fn a_file_of_501_lines_is_too_long() {
    assert_eq!(too_long("a.rs", &"\n".repeat(500)), None);
    let expect = "a.rs: 501 lines; split it by topic";
    assert_eq!(too_long("a.rs", &"\n".repeat(501)).as_deref(), Some(expect));
}
