//! What a person sees on a terminal: the overview, the live view of a run, and the same from another terminal.

#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "tests make the files they look at, and fail by panicking"
)]

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use rekindle_testkit::repository::{Project, kill, text};
use rekindle_testkit::screen::Screen;

const SMALL: (u16, u16) = (24, 80);
const LARGE: (u16, u16) = (50, 200);
/// With a clock that stands still, times do not change what is shown.
const NOW: (&str, &str) = ("REKINDLE_NOW", "2026-11-15T12:00:00Z");

/// A project whose agents wait, each for a file with its task's name.
struct Scene {
    project: Project,
}

const PLAN: &str = "# Orders\n
## T1: Round the totals of all orders to whole cents
## T2: Port the importer
## T3: Document both
Depends on: T1, T2
";

impl Scene {
    fn new() -> Self {
        let project = Project::new(env!("CARGO_BIN_EXE_rekindle"));
        fs::write(project.path().join("plan.md"), PLAN).unwrap();
        Self { project }
    }

    fn gate(&self, task: &str) -> PathBuf {
        self.project.path().join(format!("{task}.gate"))
    }

    fn open(&self, task: &str) {
        fs::write(self.gate(task), "").unwrap();
    }

    fn agent(&self) -> String {
        let gates = self.project.path();
        format!(
            "cat > /dev/null; echo looking at $REKINDLE_TASK; while [ ! -e {}/$REKINDLE_TASK.gate ]; do sleep 0.05; done; echo x > $REKINDLE_TASK.txt",
            gates.display()
        )
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.project.command(arguments);
        command.env(NOW.0, NOW.1).env("TZ", "UTC");
        command
    }

    /// Starts the run on a terminal, and waits until both agents are at work.
    fn run(&self, size: (u16, u16)) -> Screen {
        let agent = self.agent();
        let arguments = [
            "run",
            "plan.md",
            "--branch",
            "result",
            "--jobs",
            "2",
            "--yes",
            "--agent-cmd",
            &agent,
        ];
        let screen = Screen::start(&self.command(&arguments), size);
        screen.wait_until(is_busy);
        screen
    }

    fn attach(&self, size: (u16, u16)) -> Screen {
        Screen::start(&self.command(&["attach"]), size)
    }
}

/// Returns whether both agents have said something.
fn is_busy(screen: &str) -> bool {
    let says = |task| screen.contains(&format!("looking at {task}"));
    says("T1") && says("T2")
}

/// Returns the part of a screen that the live view is, with its times masked.
fn block(screen: &str) -> String {
    let lines: Vec<&str> = screen.lines().collect();
    let bar = |line: &&str| line.starts_with(['█', '░']);
    let at = lines.iter().rposition(bar);
    let at = at.unwrap_or_else(|| panic!("no bar:\n{screen}"));
    let seconds = regex::Regex::new(r"\(\d+s").unwrap();
    seconds
        .replace_all(&lines[at..].join("\n"), "(0s")
        .into_owned()
}

#[test]
fn the_live_view_fits_a_small_and_a_large_terminal() {
    let scene = Scene::new();
    let screen = scene.run(SMALL);
    insta::assert_snapshot!(block(&screen.wait_until(is_busy)), @"
    ░░░░░░░░░░░░░░░░░░░░░░░░ 0/3 landed, 2 running, 1 to go
      T1 Round the totals of all orders … (0s)  looking at T1
      T2 Port the importer (0s)  looking at T2
      T3 waits for T1, T2
      Ctrl-C stops: what is at work is finished, nothing new starts
    ");
    drop(screen);
    let scene = Scene::new();
    let screen = scene.run(LARGE);
    insta::assert_snapshot!(block(&screen.wait_until(is_busy)), @"
    ░░░░░░░░░░░░░░░░░░░░░░░░ 0/3 landed, 2 running, 1 to go
      T1 Round the totals of all orders to whole cents (0s)  looking at T1
      T2 Port the importer (0s)  looking at T2
      T3 waits for T1, T2
      Ctrl-C stops: what is at work is finished, nothing new starts
    ");
}

#[test]
fn the_overview_fits_a_small_and_a_large_terminal() {
    let scene = Scene::new();
    for (plan, agent) in [
        (
            "# Round the totals of all orders of all customers to whole cents, and tell them why\n- [ ] A\n",
            "exit 1",
        ),
        ("# Port the importer\n- [ ] A\n", "echo x > a.txt"),
    ] {
        fs::write(scene.project.path().join("plan.md"), plan).unwrap();
        let words = [
            "run",
            "plan.md",
            "--yes",
            "--retries",
            "0",
            "--agent-cmd",
            agent,
        ];
        scene.command(&words).output().unwrap();
    }
    let ids = regex::Regex::new(r"20261115-1200[a-z0-9-]*").unwrap();
    let overview = |size| {
        let (code, screen) = Screen::start(&scene.command(&["status", "--all"]), size).finish();
        assert_eq!(code, Some(0), "{screen}");
        ids.replace_all(screen.trim_end(), "[ID]").into_owned()
    };
    insta::assert_snapshot!(overview(SMALL), @"
    ID               STATE     TASKS  AGE       TITLE
    [ID]  blocked   0/1    just now  Round the totals of all orders of a…
    [ID]  complete  1/1    just now  Port the importer
    hint: when the cause is fixed, try again with `rekindle retry --all`
    ");
    insta::assert_snapshot!(overview(LARGE), @"
    ID               STATE     TASKS  AGE       TITLE
    [ID]  blocked   0/1    just now  Round the totals of all orders of all customers to whole cents, and tell them why
    [ID]  complete  1/1    just now  Port the importer
    hint: when the cause is fixed, try again with `rekindle retry --all`
    ");
}

#[test]
fn a_second_terminal_shows_the_same_and_leaves_the_run_alone() {
    let scene = Scene::new();
    let run = scene.run(SMALL);
    let mut attached = scene.attach(SMALL);
    let view = attached.wait_until(is_busy);
    insta::assert_snapshot!(block(&view), @"
    ░░░░░░░░░░░░░░░░░░░░░░░░ 0/3 landed, 2 running, 1 to go
      T1 Round the totals of all orders … (0s)  looking at T1
      T2 Port the importer (0s)  looking at T2
      T3 waits for T1, T2
      q leaves; the run goes on in its own terminal
    ");
    assert!(
        view.contains("found T1 (attempt 1) is still running"),
        "{view}"
    );
    attached.press("q");
    let (code, left) = attached.finish();
    assert_eq!(code, Some(0), "{left}");
    // Nothing of the view stays behind, and the run goes on.
    assert!(!left.contains('░'), "{left}");
    assert!(
        left.contains("goes on; `rekindle stop agent-memory:"),
        "{left}"
    );
    let mut attached = scene.attach(LARGE);
    attached.wait_until(is_busy);
    attached.press("\u{3}");
    assert_eq!(attached.finish().0, Some(0));
    let attached = scene.attach(LARGE);
    attached.wait_until(is_busy);
    for task in ["T1", "T2", "T3"] {
        scene.open(task);
    }
    let (code, seen) = attached.finish();
    assert_eq!(code, Some(0), "{seen}");
    for wanted in [
        "landed T1 as ",
        "start T3 (attempt 1)",
        "landed T3 as ",
        "done: 3 of 3 tasks landed in 3 attempts",
    ] {
        assert!(seen.contains(wanted), "no `{wanted}` in:\n{seen}");
    }
    let (code, run) = run.finish();
    assert_eq!(code, Some(0), "{run}");
    // The first two are finished in any order.
    let tasks = scene.project.tasks();
    assert!(
        ["T1 T2 T3", "T2 T1 T3"].contains(&tasks.as_str()),
        "{tasks}"
    );
}

#[test]
fn programs_that_follow_get_the_objects_of_the_run() {
    let scene = Scene::new();
    let run = scene.run(SMALL);
    let attached = scene.project.start(&["attach", "--json"], &[NOW]);
    for task in ["T1", "T2", "T3"] {
        scene.open(task);
    }
    let output = attached.finish().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    run.finish();
    let lines = text(&output.stdout);
    let objects: Vec<serde_json::Value> = lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let landed = objects
        .iter()
        .find(|object| object["event"] == "landed" && object["task"] == "T3")
        .unwrap_or_else(|| panic!("{lines}"));
    assert_eq!(landed["schema"], "rekindle.progress/1");
    assert_eq!(landed["attempt"], 1);
    assert_eq!(landed["at"], "2026-11-15T12:00:00Z");
    let tip = scene.project.git(&["rev-parse", "result"]);
    assert_eq!(landed["commit"], tip.trim());
    let last = objects.last().unwrap();
    assert_eq!(last["schema"], "rekindle.run/1");
    assert_eq!(last["id"], landed["run"]);
    assert_eq!(last["landed"], 3);
}

#[test]
fn what_nobody_works_on_cannot_be_followed() {
    let scene = Scene::new();
    let run = scene.run(SMALL);
    let orchestrator = scene.project.processes();
    let orchestrator = orchestrator
        .iter()
        .find(|(_, line)| line.contains("plan.md") && !line.contains("setsid"));
    kill(*orchestrator.unwrap().0, "KILL");
    run.finish();
    let refused = scene.project.rekindle(&["attach"]);
    let said = text(&refused.stderr);
    assert_eq!(refused.status.code(), Some(1), "{said}");
    assert!(
        said.contains("the rekindle that started its workers has ended"),
        "{said}"
    );
    for task in ["T1", "T2", "T3"] {
        scene.open(task);
    }
    let resumed = scene.project.rekindle(&["resume", "--yes"]);
    assert!(resumed.status.success(), "{}", text(&resumed.stderr));
    let refused = scene.project.rekindle(&["attach", "agent-memory:20"]);
    let said = text(&refused.stderr);
    assert_eq!(refused.status.code(), Some(1), "{said}");
    assert!(said.contains("nobody is working on it"), "{said}");
}

#[test]
fn after_ctrl_c_neither_the_live_view_nor_the_title_stays_behind() {
    let scene = Scene::new();
    let mut screen = scene.run(SMALL);
    screen.press("\u{3}");
    screen.wait_for("stopping: Ctrl-C again stops the workers too");
    screen.press("\u{3}");
    screen.wait_for("stopped: 0 of 3 tasks landed in 2 attempts");
    let written = screen.written();
    let title = "\u{1b}[22;2t\u{1b}]2;rekindle 0/3\u{7}";
    assert!(written.contains(title), "{written:?}");
    assert!(written.contains("\u{1b}[23;2t"), "{written:?}");
    let (code, left) = screen.finish();
    assert_eq!(code, Some(1), "{left}");
    assert!(!left.contains('░') && !left.contains("^C"), "{left}");
}
