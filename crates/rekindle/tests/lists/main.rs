//! Task lists end to end: check boxes of any file, marks that are missing, lists of several formats, lists that
//! are edited, hostile files.

#![expect(
    clippy::unwrap_used,
    reason = "a test whose project cannot be laid out fails by panicking"
)]

mod at_work;
mod checklist;
mod doing;
#[expect(
    clippy::disallowed_methods,
    reason = "a command that was printed is typed as its users type it"
)]
mod edited;
mod hostile;
mod marks;
#[cfg(feature = "openspec-peer")]
#[expect(
    clippy::disallowed_methods,
    clippy::expect_used,
    reason = "the other tool is started as its users start it"
)]
mod peer;
mod several;
#[path = "../verbs/stage.rs"]
mod stage;

use rekindle_testkit::repository::Project;

/// Writes a file and commits everything.
fn committed(project: &Project, name: &str, contents: &str) {
    let path = project.path().join(name);
    fs_err::create_dir_all(path.parent().unwrap()).unwrap();
    stage::write(project, name, contents);
    project.git(&["add", "-A"]);
    project.git(&["commit", "-qm", "more"]);
}

/// Runs rekindle, which must succeed, and returns the object that it printed.
fn json(project: &Project, arguments: &[&str]) -> serde_json::Value {
    let output = project.rekindle(arguments);
    assert!(output.status.success(), "{}", stage::said(&output, 0));
    serde_json::from_slice(&output.stdout).unwrap()
}
