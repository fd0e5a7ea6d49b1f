//! Who makes the commits of a run, and whether they are signed.

#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "tests make the files they look at, and fail by panicking"
)]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::Command;

use rekindle_testkit::repository::{Project, WRITE, run_words, text};

/// A project whose user signs commits with a new ssh key.
struct Scene {
    project: Project,
    keys: tempfile::TempDir,
}

impl Scene {
    fn new(passphrase: &str) -> Self {
        let project = Project::new(env!("CARGO_BIN_EXE_rekindle"));
        project.plan("A B<A");
        let keys = tempfile::tempdir().unwrap();
        let scene = Self { project, keys };
        let key = scene.path("key");
        let made = Command::new("ssh-keygen")
            .args(["-q", "-t", "ed25519", "-C", "test", "-N", passphrase, "-f"])
            .arg(&key)
            .output()
            .unwrap();
        assert!(made.status.success(), "{}", text(&made.stderr));
        let public = fs::read_to_string(scene.path("key.pub")).unwrap();
        fs::write(scene.path("signers"), format!("t@example.invalid {public}")).unwrap();
        for (name, value) in [
            ("commit.gpgSign", "true"),
            ("gpg.format", "ssh"),
            ("user.signingKey", &key.to_string_lossy()),
            (
                "gpg.ssh.allowedSignersFile",
                &scene.path("signers").to_string_lossy(),
            ),
        ] {
            scene.project.git(&["config", name, value]);
        }
        scene
    }

    fn path(&self, name: &str) -> PathBuf {
        self.keys.path().join(name)
    }

    fn run(&self) -> String {
        let output = self.project.rekindle(&run_words(WRITE));
        let said = text(&output.stderr);
        assert!(output.status.success(), "{said}");
        said
    }

    /// Returns for each landed commit whether its signature is good.
    fn signatures(&self) -> String {
        self.project.git(&["log", "--format=%G?", "main..result"])
    }
}

#[test]
fn commits_are_signed_as_the_user_wants_it() {
    let scene = Scene::new("");
    let said = scene.run();
    assert!(!said.contains("not signed"), "{said}");
    assert_eq!(scene.signatures(), "G\nG\n");
    // The trial is gone.
    let every = "git cat-file --batch-all-objects --batch-check='%(objectname) %(objecttype)'";
    let subjects =
        format!("{every} | sed -n 's/ commit$//p' | git log --no-walk --format=%s --stdin");
    let subjects = text(&scene.project.shell(&subjects).stdout);
    assert!(
        subjects.contains("[A]") || subjects.contains("Do A"),
        "{subjects}"
    );
    assert!(!subjects.contains("Can this be signed?"), "{subjects}");
}

#[test]
fn a_key_that_needs_a_person_costs_the_signature_and_not_the_work() {
    let scene = Scene::new("secret");
    let said = scene.run();
    assert!(
        said.contains("commits are not signed, although `commit.gpgSign` is set"),
        "{said}"
    );
    assert_eq!(said.matches("not signed").count(), 1, "{said}");
    assert_eq!(scene.signatures(), "N\nN\n");
}

#[test]
fn a_signing_program_of_the_repository_is_not_started() {
    let scene = Scene::new("");
    let program = scene.path("program");
    let started = scene.path("started");
    fs::write(
        &program,
        format!("#!/bin/sh\ntouch {}\nexit 1\n", started.display()),
    )
    .unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    scene
        .project
        .git(&["config", "gpg.ssh.program", &program.to_string_lossy()]);
    let said = scene.run();
    assert!(
        said.contains("`gpg.ssh.program` is set in the repository's own configuration"),
        "{said}"
    );
    assert!(!started.exists());
    assert_eq!(scene.project.tasks(), "A B");
}

#[test]
fn commits_without_a_configured_name_are_announced_before_the_question() {
    let project = Project::new(env!("CARGO_BIN_EXE_rekindle"));
    project.plan("A");
    let note = "commits are made by `rekindle <rekindle@localhost>`";
    let mut command = project.command(&["run", "plan.json", "--agent-cmd", "true"]);
    for name in ["AUTHOR", "COMMITTER"] {
        command.env_remove(format!("GIT_{name}_NAME"));
        command.env_remove(format!("GIT_{name}_EMAIL"));
    }
    let unnamed = text(&command.output().unwrap().stderr);
    let (before, _) = unnamed
        .split_once("Start?")
        .unwrap_or_else(|| panic!("{unnamed}"));
    assert!(before.contains(note), "{unnamed}");
    let named = project.rekindle(&["run", "plan.json", "--agent-cmd", "true"]);
    assert!(
        !text(&named.stderr).contains(note),
        "{}",
        text(&named.stderr)
    );
}
