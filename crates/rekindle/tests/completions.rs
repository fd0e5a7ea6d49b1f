//! What a shell offers after Tab: pressed on a terminal, in bash, zsh and fish.

#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "tests make the files they look at, and fail by panicking"
)]

use std::fs;
use std::path::Path;
use std::process::Command;

use rekindle_testkit::repository::{Project, WRITE, run_words, text};
use rekindle_testkit::screen::Screen;

const BINARY: &str = env!("CARGO_BIN_EXE_rekindle");

/// A project with a run of which a task failed, and a shell that has loaded the script.
struct Scene {
    project: Project,
    /// The name of the run.
    run: String,
}

impl Scene {
    fn new() -> Self {
        let project = Project::new(BINARY);
        project.plan("Totals Import<Totals");
        let agent = format!("[ $REKINDLE_TASK = Totals ] || exit 1; {WRITE}");
        let mut words = run_words(&agent).to_vec();
        words.extend(["--retries", "0"]);
        let ran = project.rekindle(&words);
        assert_eq!(ran.status.code(), Some(1), "{}", text(&ran.stderr));
        let runs = fs::read_dir(project.path().join(".agent-memory/runs")).unwrap();
        let run = runs.map(|run| run.unwrap().file_name().into_string().unwrap());
        let run = run.last().unwrap();
        fs::write(
            project.path().join("rekindle.toml"),
            "[agents.careful]\npreset = 'codex'\n",
        )
        .unwrap();
        Self { project, run }
    }

    /// Writes the script of a shell into a file.
    fn script(&self, shell: &str) -> String {
        let script = self.project.rekindle(&["completions", shell]);
        assert!(script.status.success(), "{}", text(&script.stderr));
        // Not in the project, whose files are offered too.
        let path = self.home().join(format!("script.{shell}"));
        fs::write(&path, script.stdout).unwrap();
        path.display().to_string()
    }

    /// Returns a folder outside of the project.
    fn home(&self) -> std::path::PathBuf {
        let command = self.project.command(&[]);
        let mut variables = command.get_envs();
        let home = variables.find(|(name, _)| *name == "HOME").unwrap().1;
        home.unwrap().into()
    }

    /// Returns a call of a shell in the project, in which `rekindle` is this program.
    fn shell(&self, shell: &str, arguments: &[&str]) -> Command {
        let rekindle = self.project.command(&[]);
        let folder = Path::new(BINARY).parent().unwrap();
        let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap());
        let mut command = Command::new(shell);
        command
            .args(arguments)
            .current_dir(self.project.path())
            .env("PS1", "> ");
        for (name, value) in rekindle.get_envs() {
            command.env(name, value.unwrap());
        }
        command.env("PATH", path);
        command
    }

    /// Starts a shell on a terminal and loads the script.
    fn start(&self, shell: &str) -> Screen {
        let script = self.script(shell);
        let (arguments, load): (&[&str], String) = match shell {
            "bash" => (
                &["--norc", "--noprofile", "-i"],
                format!(". {script}; echo is-\"\"ready\n"),
            ),
            "zsh" => (
                &["-f", "-i"],
                format!("autoload -Uz compinit; compinit -u -D; . {script}; echo is-\"\"ready\n"),
            ),
            _ => (
                &["--no-config", "-i"],
                format!("source {script}; echo is-\"\"ready\n"),
            ),
        };
        let mut screen = Screen::start(&self.shell(shell, arguments), (24, 120));
        screen.press(&load);
        screen.wait_for("is-ready");
        screen
    }
}

/// Presses Tab behind a beginning that only one word has, and waits until all of it is there.
fn completes(screen: &mut Screen, typed: &str, whole: &str) {
    screen.press(typed);
    screen.press("\t");
    screen.wait_for(whole);
    // The line is taken back, and the next begins on a screen without it.
    screen.press("\u{15}clear; echo is-\"\"next\n");
    screen.wait_until(|shown| shown.contains("is-next") && !shown.contains(whole));
}

fn completes_everything(shell: &str) {
    let scene = Scene::new();
    let mut screen = scene.start(shell);
    let run = &scene.run;
    for (typed, whole) in [
        ("rekindle doc", "rekindle doctor"),
        (
            &format!("rekindle logs {}", &run[..6]),
            &format!("rekindle logs {run}"),
        ),
        (
            &format!("rekindle logs {run} Im"),
            &format!("rekindle logs {run} Import"),
        ),
        ("rekindle retry To", "rekindle retry Totals"),
        ("rekindle explain STALE_R", "rekindle explain STALE_RUN"),
        (
            "rekindle run plan.json --agent car",
            "rekindle run plan.json --agent careful",
        ),
    ] {
        completes(&mut screen, typed, whole);
    }
}

#[test]
fn bash_completes_commands_ids_tasks_codes_and_agents() {
    completes_everything("bash");
}

#[test]
fn zsh_completes_commands_ids_tasks_codes_and_agents() {
    completes_everything("zsh");
}

#[test]
fn fish_completes_commands_ids_tasks_codes_and_agents() {
    completes_everything("fish");
}

/// Returns the words that are offered for the last of those that were typed.
fn offered(scene: &Scene, typed: &[&str]) -> Vec<String> {
    let mut command = scene.project.command(&[&["--"], typed].concat());
    let answer = command.env("REKINDLE_COMPLETE", "fish").output().unwrap();
    assert_eq!(text(&answer.stderr), "", "{typed:?}");
    let lines = text(&answer.stdout);
    lines.lines().map(str::to_owned).collect()
}

#[test]
fn zsh_completes_at_once_where_the_script_is_loaded_from_a_folder_of_functions() {
    let scene = Scene::new();
    let folder = scene.home().join("functions");
    fs::create_dir(&folder).unwrap();
    fs::copy(scene.script("zsh"), folder.join("_rekindle")).unwrap();
    let mut screen = Screen::start(&scene.shell("zsh", &["-f", "-i"]), (24, 120));
    screen.press(&format!(
        "fpath=({} $fpath); autoload -Uz compinit; compinit -u -D; echo is-\"\"ready\n",
        folder.display()
    ));
    screen.wait_for("is-ready");
    completes(&mut screen, "rekindle doc", "rekindle doctor");
}

#[test]
fn the_words_say_what_they_are() {
    let scene = Scene::new();
    let ids = offered(&scene, &["rekindle", "resume", ""]);
    let run = format!("{}\tblocked Test", scene.run);
    assert!(ids.contains(&run), "{ids:?}");
    let tasks = offered(&scene, &["rekindle", "skip", ""]);
    assert!(tasks[0].starts_with("Totals"), "{tasks:?}");
    assert!(tasks[1].starts_with("Import"), "{tasks:?}");
    let agents = offered(&scene, &["rekindle", "run", "--agent", ""]);
    assert!(
        agents.contains(&"careful\ta coding agent".to_owned()),
        "{agents:?}"
    );
    // No files where none are meant.
    assert!(
        !agents.iter().any(|word| word.contains("plan.json")),
        "{agents:?}"
    );
    let elsewhere = scene.home().display().to_string();
    let ids = offered(&scene, &["rekindle", "-C", &elsewhere, "logs", ""]);
    assert!(
        !ids.iter().any(|word| word.starts_with(&scene.run)),
        "{ids:?}"
    );
}

#[test]
fn a_name_that_a_shell_would_not_take_as_it_is_is_not_offered() {
    let scene = Scene::new();
    let plan = r#"{"title": "Second", "tasks": [{"id": "a;touch x", "title": "T"}, {"id": "--yes", "title": "T"}, {"id": "fine", "title": "T\u001b[2J"}]}"#;
    fs::write(scene.project.path().join("plan.json"), plan).unwrap();
    let words = [
        "run",
        "plan.json",
        "--yes",
        "--agent-cmd",
        "exit 1",
        "--retries",
        "0",
    ];
    scene.project.rekindle(&words);
    let tasks = offered(&scene, &["rekindle", "retry", ""]);
    assert!(
        tasks.iter().any(|word| word.starts_with("fine")),
        "{tasks:?}"
    );
    for hostile in ["touch", "\u{1b}"] {
        assert!(
            !tasks.iter().any(|word| word.contains(hostile)),
            "{tasks:?}"
        );
    }
}
