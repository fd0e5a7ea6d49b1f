//! Finding git.

use std::ffi::{OsStr, OsString};

use rekindle_git::{Error, Program, Version};

use crate::fixture::{Fixture, path_variable};

#[test]
fn git_is_found_and_says_its_version() {
    let program = Program::find(&path_variable()).unwrap();
    assert!(program.path().is_absolute());
    assert!(program.version() >= Version::MINIMUM);
    assert_eq!(program.processes_started(), 1);
    let fixture = Fixture::empty();
    let said = fixture.git(["version"]);
    assert!(
        said.starts_with(&format!("git version {}", program.version())),
        "{said}"
    );
}

#[test]
fn a_missing_git_is_an_error_that_says_what_to_do() {
    let error = Program::find(OsStr::new("/nowhere:/nowhere/else")).unwrap_err();
    assert!(matches!(&error, Error::Missing(searched) if searched == "/nowhere:/nowhere/else"));
    assert_eq!(
        error.to_string(),
        "`git` was not found on PATH (`/nowhere:/nowhere/else`); install git 2.38 or newer"
    );
}

#[test]
fn a_relative_folder_of_path_is_passed_over() {
    // Tests run in the folder of the crate, so these would find something if they were tried.
    for path in [
        "",
        ":",
        ".",
        "tests/port",
        "../../../../usr/bin:../../../../bin",
    ] {
        assert!(
            matches!(Program::find(OsStr::new(path)), Err(Error::Missing { .. })),
            "{path}"
        );
    }
}

#[test]
fn a_file_that_is_not_executable_is_passed_over() {
    let fixture = Fixture::empty();
    let empty = fixture.root.join("not-executable");
    std::fs::create_dir(&empty).unwrap();
    std::fs::write(empty.join("git"), "x").unwrap();
    let mut path = OsString::from(format!("{empty}:"));
    path.push(path_variable());
    assert!(Program::find(&path).is_ok());
}

#[test]
fn an_old_git_is_refused_with_what_was_found() {
    let fixture = Fixture::empty();
    let path = fixture.fake_git("echo git version 2.37.9");
    let error = Program::find(&path).unwrap_err();
    assert!(matches!(
        error,
        Error::TooOld {
            found: Version { minor: 37, .. },
            ..
        }
    ));
    let text = error.to_string();
    assert!(
        text.contains("fake-bin/git` is git 2.37.9, but 2.38 or newer is needed"),
        "{text}"
    );
    assert!(
        text.contains("install a newer git or put it first on PATH"),
        "{text}"
    );
}

#[test]
fn something_else_called_git_is_refused() {
    let fixture = Fixture::empty();
    let path = fixture.fake_git("echo hello");
    let error = Program::find(&path).unwrap_err();
    assert!(
        matches!(&error, Error::NotGit { answer, .. } if answer == "hello"),
        "{error}"
    );
}
