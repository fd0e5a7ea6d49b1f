//! What is configured: by the user, by a team in `rekindle.toml`, by the user for the project.

#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "tests make the files they look at, and fail by panicking"
)]

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Stdio;

use rekindle_testkit::repository::{Project, text};
use serde_json::Value;

/// A project whose user has a folder of programs and one of settings.
struct Scene {
    project: Project,
    own: tempfile::TempDir,
}

impl Scene {
    fn new() -> Self {
        let own = tempfile::tempdir().unwrap();
        for folder in ["bin", "config/rekindle"] {
            fs::create_dir_all(own.path().join(folder)).unwrap();
        }
        let project = Project::new(env!("CARGO_BIN_EXE_rekindle"));
        Self { project, own }
    }

    /// Installs an agent, which writes a file.
    fn install(&self, name: &str) {
        let path = self.own.path().join("bin").join(name);
        let script = "#!/bin/sh\ncat > /dev/null\necho \"$0\" > \"$REKINDLE_TASK.txt\"\necho '{\"type\":\"result\",\"status\":\"success\"}'\n";
        fs::write(&path, script).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn user(&self, text: &str) {
        fs::write(self.own.path().join("config/rekindle/config.toml"), text).unwrap();
    }

    fn file(&self, name: &str, text: &str) {
        let path = self.project.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Returns the exit code and both outputs. The `PATH` has what is installed here, and git and a shell.
    fn rekindle(&self, arguments: &[&str]) -> (i32, String, String) {
        self.in_folder(".", arguments)
    }

    fn in_folder(&self, folder: &str, arguments: &[&str]) -> (i32, String, String) {
        self.call(folder, arguments, "")
    }

    fn typed(&self, arguments: &[&str], input: &str) -> (i32, String, String) {
        self.call(".", arguments, input)
    }

    fn call(&self, folder: &str, arguments: &[&str], input: &str) -> (i32, String, String) {
        let path = format!("{}:/usr/bin:/bin", self.own.path().join("bin").display());
        let mut command = self.project.command(arguments);
        command
            .env("PATH", path)
            .env("XDG_CONFIG_HOME", self.own.path().join("config"))
            .current_dir(self.project.path().join(folder))
            .stdin(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        // A command that asks nothing may have ended before.
        stdin.write_all(input.as_bytes()).ok();
        drop(stdin);
        let output = child.wait_with_output().unwrap();
        let code = output.status.code().unwrap();
        (code, text(&output.stdout), text(&output.stderr))
    }
}

#[test]
fn init_writes_for_the_agents_that_are_installed_and_run_takes_the_first() {
    let scene = Scene::new();
    scene.project.plan("A");
    let (_, _, said) = scene.rekindle(&["run", "plan.json"]);
    assert!(said.contains("`rekindle init` writes"), "{said}");
    for name in ["gemini", "opencode"] {
        scene.install(name);
    }
    let (code, said, hint) = scene.rekindle(&["init"]);
    assert_eq!(code, 0, "{hint}");
    assert!(said.contains("the default agent is `gemini`"), "{said}");
    let written = fs::read_to_string(scene.project.path().join("rekindle.toml")).unwrap();
    assert!(written.contains("\ndefault = \"gemini\" "), "{written}");
    assert!(written.contains("# default = \"opencode\"\n"), "{written}");
    assert!(!written.contains("claude"), "{written}");
    // No permission is given by a file that nobody has read yet.
    assert!(
        !written.lines().any(|line| line.starts_with("args")),
        "{written}"
    );
    let (code, _, said) = scene.rekindle(&["run", "plan.json"]);
    assert_eq!(code, 3, "{said}");
    assert!(
        said.contains("(from `rekindle.toml`, a file of the project)"),
        "{said}"
    );
    let (code, _, said) = scene.rekindle(&["run", "plan.json", "--branch", "result", "--yes"]);
    assert_eq!(code, 0, "{said}");
    let ran = scene.project.git(&["show", "result:A.txt"]);
    assert!(ran.trim_end().ends_with("/bin/gemini"), "{ran}");
}

#[test]
fn init_does_not_change_a_file_that_is_there() {
    let scene = Scene::new();
    scene.install("codex");
    assert_eq!(scene.rekindle(&["init"]).0, 0);
    // A call that died after the file was there left nothing else to do.
    assert_eq!(scene.rekindle(&["init"]).0, 0);
    scene.file("rekindle.toml", "# mine\n");
    let (code, _, said) = scene.rekindle(&["init"]);
    assert_eq!(code, 1, "{said}");
    assert!(said.contains("rekindle.toml` exists already"), "{said}");
    assert!(said.contains("`rekindle config` shows"), "{said}");
    let kept = fs::read_to_string(scene.project.path().join("rekindle.toml")).unwrap();
    assert_eq!(kept, "# mine\n");
}

#[test]
fn init_without_any_agent_says_so_and_leaves_the_default_open() {
    let scene = Scene::new();
    let (code, said, hint) = scene.rekindle(&["init"]);
    assert_eq!(code, 0, "{hint}");
    assert!(said.contains("no agent was found in `PATH`"), "{said}");
    let (_, settings, _) = scene.rekindle(&["config"]);
    assert!(!settings.contains("agent.default"), "{settings}");
}

#[test]
fn what_a_team_shares_is_shown_and_marked_before_the_question_and_notifies_nobody() {
    let scene = Scene::new();
    scene.project.plan("A");
    let team = "[agent]\ndefault = \"mine\"\n[agents.mine]\ncommand = \"cat > /dev/null; echo x > A.txt\"\n[run]\nverify = [\"test -e A.txt\"]\n[notify]\ncommand = \"touch told\"\n";
    scene.file("rekindle.toml", team);
    let (code, _, said) = scene.rekindle(&["run", "plan.json"]);
    assert_eq!(code, 3, "{said}");
    for wanted in [
        "agent       `cat > /dev/null; echo x > A.txt` (from `rekindle.toml`, a file of the project)",
        "`test -e A.txt` for 1 task (from `rekindle.toml`, a file of the project)",
        "`[notify]` in `rekindle.toml` is ignored",
    ] {
        assert!(said.contains(wanted), "{wanted}: {said}");
    }
    assert!(!scene.project.path().join(".agent-memory").exists());
    let (code, _, said) = scene.rekindle(&["run", "plan.json", "--yes"]);
    assert_eq!(code, 0, "{said}");
    let shown =
        "agent: `cat > /dev/null; echo x > A.txt` (from `rekindle.toml`, a file of the project)";
    assert!(said.contains(shown), "{said}");
    assert!(!scene.project.path().join("told").exists());
}

#[test]
fn enter_goes_on_with_the_agent_of_the_team_until_somebody_changes_it() {
    let scene = Scene::new();
    scene.project.plan("A");
    let team = |command: &str| {
        format!("agent.default = \"mine\"\n[agents.mine]\ncommand = \"{command}\"\n")
    };
    let agent = "cat > /dev/null; test -e ../../../../ready && echo x > A.txt";
    scene.file("rekindle.toml", &team(agent));
    let (code, _, said) = scene.rekindle(&["run", "plan.json", "--yes", "--retries", "0"]);
    assert_eq!(code, 1, "{said}");
    assert_eq!(scene.rekindle(&["retry", "--all"]).0, 0);
    scene.file("ready", "");
    scene.file(
        "rekindle.toml",
        &team(&format!("{agent}; touch ../../../../stolen")),
    );
    let (_, _, said) = scene.typed(&["resume"], "\n");
    assert!(said.contains("[y/N]"), "{said}");
    assert!(
        said.contains("(from `rekindle.toml`, a file of the project)"),
        "{said}"
    );
    scene.file("rekindle.toml", &team(agent));
    let (code, _, said) = scene.typed(&["resume"], "\n");
    assert!(said.contains("[Y/n]"), "{said}");
    assert_eq!(code, 0, "{said}");
    assert!(!scene.project.path().join("stolen").exists());
}

#[test]
fn the_last_file_that_says_something_holds_and_config_names_it() {
    let scene = Scene::new();
    scene.user("[run]\njobs = 8\nretries = 5\n[agent]\ndefault = \"codex\"\n");
    scene.file("rekindle.toml", "[run]\njobs = 3\nverify = ['make']\n");
    scene.file(".rekindle/config.toml", "\n[run]\nverify = []\n");
    let (code, settings, said) = scene.rekindle(&["config"]);
    assert_eq!(code, 0, "{said}");
    let lines: Vec<String> = settings
        .lines()
        .map(|line| {
            let words: Vec<&str> = line.split_whitespace().collect();
            let folder = format!("{}/", scene.own.path().display());
            words.join(" ").replace(&folder, "")
        })
        .collect();
    let expected = [
        "agent.default config/rekindle/config.toml:5 \"codex\"",
        "run.jobs rekindle.toml:2 3",
        "run.retries config/rekindle/config.toml:3 5",
        "run.timeout built in \"45m\"",
        "run.verify .rekindle/config.toml:3 []",
    ];
    assert_eq!(lines[..expected.len()], expected, "{settings}");
    let (_, object, _) = scene.rekindle(&["config", "--json"]);
    let object: Value = serde_json::from_str(&object).unwrap();
    let owners = object["files"].as_array().unwrap().iter();
    let owners: Vec<&Value> = owners.map(|file| &file["owner"]).collect();
    assert_eq!(owners, ["user", "team", "project"]);
    assert_eq!(object["settings"][1]["key"], "run.jobs");
    assert_eq!(object["settings"][1]["line"], 2);
    assert_eq!(object["settings"][3]["path"], Value::Null);
}

#[test]
fn doctor_and_config_name_a_misspelt_key_and_the_one_that_was_meant() {
    let scene = Scene::new();
    scene.install("claude");
    let (code, checks, _) = scene.rekindle(&["doctor"]);
    assert_eq!(code, 0, "{checks}");
    let none = "agent: none is configured; installed: `claude`";
    assert!(checks.contains(none), "{checks}");
    scene.file("rekindle.toml", "[agent]\ndefualt = 'claude'\n");
    let unknown = "rekindle.toml` line 2: unknown key `agent.defualt`; did you mean `default`?";
    let (code, checks, _) = scene.rekindle(&["doctor"]);
    assert_eq!(code, 1, "{checks}");
    assert!(checks.contains("problem  configuration: "), "{checks}");
    assert!(checks.contains(unknown), "{checks}");
    let (code, _, warned) = scene.rekindle(&["config"]);
    assert_eq!(code, 0, "{warned}");
    assert!(warned.contains(unknown), "{warned}");
    scene.file("rekindle.toml", "[run]\njobs = 'many'\n");
    let (code, checks, _) = scene.rekindle(&["doctor"]);
    assert_eq!(code, 1, "{checks}");
    assert_eq!(
        checks.matches("must be a whole number").count(),
        1,
        "{checks}"
    );
}

#[test]
fn the_file_of_a_team_makes_its_folder_the_project() {
    let scene = Scene::new();
    scene.file("part/rekindle.toml", "[run]\njobs = 7\n");
    scene.file("part/deep/file", "");
    let (code, settings, said) = scene.in_folder("part/deep", &["config"]);
    assert_eq!(code, 0, "{said}");
    assert!(settings.contains("rekindle.toml:2"), "{settings}");
    assert!(said.contains("the project is"), "{said}");
}

#[test]
fn a_permission_is_not_offered_where_the_team_has_settings_of_the_agent() {
    let scene = Scene::new();
    scene.project.plan("A");
    scene.install("claude");
    scene.file(
        "rekindle.toml",
        "[agents.claude]\nargs = ['--model', 'x']\n",
    );
    let (_, _, said) = scene.rekindle(&["run", "plan.json", "--agent", "claude"]);
    // A line in the user's own file would put the team's arguments aside.
    assert!(!said.contains("Write `args"), "{said}");
    assert!(said.contains("may not edit files"), "{said}");
}
