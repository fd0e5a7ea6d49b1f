//! Being told: the user's own command gets a notice when a run ends, needs them, or is found interrupted.

#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "tests make the files they look at, and fail by panicking"
)]

use std::fs;
use std::path::PathBuf;

use rekindle_testkit::repository::{Project, WRITE, kill, run_words, text};
use serde_json::Value;

/// A project whose user is told by a command that keeps what it gets.
struct Scene {
    project: Project,
    config: tempfile::TempDir,
}

impl Scene {
    fn new(notify: &str) -> Self {
        let config = tempfile::tempdir().unwrap();
        fs::create_dir(config.path().join("rekindle")).unwrap();
        let notify = notify.replace("HEARD", &config.path().join("heard").to_string_lossy());
        fs::write(config.path().join("rekindle/config.toml"), notify).unwrap();
        let project = Project::new(env!("CARGO_BIN_EXE_rekindle"));
        Self { project, config }
    }

    fn rekindle(&self, arguments: &[&str]) -> (Option<i32>, String) {
        let mut command = self.project.command(arguments);
        let output = command.env("XDG_CONFIG_HOME", self.config.path()).output();
        let output = output.unwrap();
        let said = format!("{}{}", text(&output.stdout), text(&output.stderr));
        (output.status.code(), said)
    }

    fn heard(&self) -> Vec<Value> {
        let heard = fs::read_to_string(self.config.path().join("heard")).unwrap_or_default();
        let lines = heard.lines();
        lines
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }

    fn gate(&self) -> PathBuf {
        self.config.path().join("gate")
    }
}

const KEEP: &str = "[notify]\ncommand = \"cat >> HEARD\"\n";

#[test]
fn a_run_that_ends_or_needs_a_person_says_so_once() {
    let scene = Scene::new(KEEP);
    scene.project.plan("A B");
    let agent = "cat > /dev/null; [ $REKINDLE_TASK = A ] || exit 1; echo x > A.txt";
    let mut arguments = run_words(agent).to_vec();
    arguments.extend(["--retries", "0"]);
    assert_eq!(scene.rekindle(&arguments).0, Some(1));
    let heard = scene.heard();
    assert_eq!(heard.len(), 1, "{heard:?}");
    assert_eq!(heard[0]["schema"], "rekindle.notice/1");
    assert_eq!(heard[0]["reason"], "needs_person");
    assert_eq!(heard[0]["title"], "Test");
    assert_eq!(
        (&heard[0]["done"], &heard[0]["total"]),
        (&1.into(), &2.into())
    );
    let reason = heard[0]["text"].as_str().unwrap();
    assert!(
        reason.starts_with("1 of 2 tasks landed; B is blocked: it failed once"),
        "{reason}"
    );
    let run = heard[0]["run"].as_str().unwrap();
    assert_eq!(heard[0]["command"], format!("rekindle inspect {run}"));
    assert_eq!(scene.rekindle(&["retry", "--all"]).0, Some(0));
    let resumed = scene.rekindle(&["resume", "--yes", "--agent-cmd", WRITE]);
    assert_eq!(resumed.0, Some(0), "{}", resumed.1);
    let heard = scene.heard();
    assert_eq!(heard.len(), 2, "{heard:?}");
    assert_eq!(heard[1]["reason"], "ended");
    assert_eq!(heard[1]["text"], "2 of 2 tasks landed on `result`");
    assert_eq!(heard[1]["command"], "git merge result");
}

#[test]
fn an_interrupted_run_is_reported_by_the_first_look_only() {
    let scene = Scene::new(KEEP);
    scene.project.plan("A");
    let agent = format!(
        "cat > /dev/null; echo in > {0}.in; while [ ! -e {0} ]; do sleep 0.05; done; echo x > A.txt",
        scene.gate().display()
    );
    let mut command = scene.project.command(&run_words(&agent));
    let mut run = command
        .env("XDG_CONFIG_HOME", scene.config.path())
        .spawn()
        .unwrap();
    while !scene.gate().with_extension("in").exists() {
        std::thread::yield_now();
    }
    // Somebody is at work, so nothing is interrupted.
    assert_eq!(scene.rekindle(&[]).0, Some(0));
    assert_eq!(scene.heard(), Vec::<Value>::new());
    kill(run.id(), "KILL");
    run.wait().unwrap();
    while !scene.project.processes().is_empty() {
        for pid in scene.project.processes().keys() {
            kill(*pid, "KILL");
        }
        std::thread::yield_now();
    }
    for _ in 0..2 {
        assert_eq!(scene.rekindle(&["status", "--json"]).0, Some(0));
    }
    let heard = scene.heard();
    assert_eq!(heard.len(), 1, "{heard:?}");
    assert_eq!(heard[0]["reason"], "interrupted");
    assert_eq!(heard[0]["text"], "interrupted; 0/1 tasks are done");
    let run = heard[0]["run"].as_str().unwrap();
    assert_eq!(heard[0]["command"], format!("rekindle resume {run}"));
}

#[test]
fn a_command_that_fails_is_a_note_and_a_project_cannot_bring_one() {
    let scene = Scene::new("[notify]\ncommand = \"exit 3\"\n");
    scene.project.plan("A");
    fs::create_dir(scene.project.path().join(".rekindle")).unwrap();
    let theirs = format!("[notify]\ncommand = \"touch {}\"\n", scene.gate().display());
    fs::write(scene.project.path().join(".rekindle/config.toml"), theirs).unwrap();
    let (code, said) = scene.rekindle(&run_words(WRITE));
    assert_eq!(code, Some(0), "{said}");
    for wanted in [
        "`[notify]` in `.rekindle/config.toml` is ignored",
        "note: no notice was sent: `exit 3`: it ended with exit status: 3",
        "done: 1 of 1 task landed in 1 attempt",
    ] {
        assert!(said.contains(wanted), "no `{wanted}` in: {said}");
    }
    assert!(!scene.gate().exists());
}
