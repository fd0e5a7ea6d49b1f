//! Running inside a hook, an alias, or a shell with odd settings.

use std::process::Command;

use rekindle_git::{Error, Expected, Program};

use crate::fixture::{Fixture, hermetic, path_variable};

const LEAKS: &[(&str, &str)] = &[
    ("GIT_DIR", "/nowhere/.git"),
    ("GIT_WORK_TREE", "/nowhere"),
    ("GIT_INDEX_FILE", "/nowhere/index"),
    ("GIT_OBJECT_DIRECTORY", "/nowhere/objects"),
    ("GIT_ALTERNATE_OBJECT_DIRECTORIES", "/nowhere/objects"),
    ("GIT_COMMON_DIR", "/nowhere/.git"),
    ("GIT_NAMESPACE", "other"),
    ("GIT_PREFIX", "sub/"),
    ("GIT_LITERAL_PATHSPECS", "1"),
    ("GIT_CONFIG_PARAMETERS", "'core.worktree=/nowhere'"),
    ("LC_ALL", "de_DE.UTF-8"),
    ("LANGUAGE", "de"),
];

#[test]
fn variables_of_a_hook_do_not_redirect_us() {
    let fixture = Fixture::new();
    let program = LEAKS
        .iter()
        .fold(fixture.program.clone(), |program, (name, value)| {
            program.with_variable(name, value)
        });
    let repo = rekindle_git::Repo::at(&program, &fixture.dir);
    fixture.write("new", "x");
    let base = fixture.git_id(["rev-parse", "HEAD"]);
    assert_eq!(repo.top_level().unwrap(), fixture.dir);
    assert_eq!(repo.status().unwrap().len(), 1);
    assert_eq!(repo.changes(&base).unwrap().len(), 1);
    let rescue = repo.rescue("w", "t").unwrap().unwrap();
    assert_eq!(fixture.git(["show", &format!("{}:new", rescue.name)]), "x");
    let outside = rekindle_git::Repo::at(&program, &fixture.root);
    assert!(matches!(
        outside.status(),
        Err(Error::NotARepository { .. })
    ));
}

/// The same for variables that the process itself was started with: this binary runs one of its
/// own tests again. Setting them here would reach the other tests.
#[test]
fn an_inherited_hook_environment_does_not_redirect_us() {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "hook::inherited_variables_are_scrubbed"])
        .envs(LEAKS.iter().copied())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && text.contains("1 passed"),
        "{text}"
    );
}

#[test]
fn inherited_variables_are_scrubbed() {
    let fixture = Fixture::new();
    fixture.write("new", "x");
    let program = hermetic(Program::find(&path_variable()).unwrap(), &fixture.root);
    let repo = rekindle_git::Repo::at(&program, &fixture.dir);
    assert_eq!(repo.top_level().unwrap(), fixture.dir);
    assert_eq!(repo.status().unwrap().len(), 1);
}

#[test]
fn hooks_are_not_run() {
    let fixture = Fixture::new();
    for hook in [
        "post-checkout",
        "reference-transaction",
        "post-index-change",
        "pre-commit",
    ] {
        let name = format!(".git/hooks/{hook}");
        fixture.write(
            &name,
            format!("#!/bin/sh\ntouch {}/ran\nexit 1\n", fixture.root),
        );
        fixture.make_executable(&name);
    }
    let repo = fixture.repo();
    let base = repo.resolve("HEAD").unwrap().unwrap();
    fixture.write("new", "x");
    repo.rescue("w", "t").unwrap().unwrap();
    repo.update_ref("refs/heads/side", &base, &Expected::Missing)
        .unwrap();
    let path = fixture.root.join("wt");
    repo.add_worktree(&path, &base, rekindle_git::Checkout::Detached)
        .unwrap();
    fixture.own(&path).reset_hard(&base).unwrap();
    assert!(!fixture.root.join("ran").exists());
}
