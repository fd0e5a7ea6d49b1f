//! The port against real git, in temporary folders that know nothing of the user's settings.

#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "tests make the files they look at, and fail by panicking"
)]

mod abandoned;
mod branches;
mod changes;
mod conflict;
mod destroy;
mod fixture;
mod fuzz;
mod head_name;
mod history;
mod hook;
mod looking;
mod process;
mod program;
mod refs;
mod reftable;
mod rescue;
mod rescue_hidden;
mod standing;
mod status;
mod worktree;

/// A file that is not a module of this binary would never be run.
#[test]
fn every_test_file_is_run() {
    let main = include_str!("main.rs");
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/port");
    for entry in std::fs::read_dir(folder).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let module = name.strip_suffix(".rs").unwrap();
        assert!(
            module == "main" || main.contains(&format!("mod {module};")),
            "{name}"
        );
    }
}
