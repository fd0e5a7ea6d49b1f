//! `rekindle demo`: a small project, a run of a dozen tasks, a real `kill -9`, and a real resume;
//! `rekindle demo sessions`: the same with sessions of coding agents.
//!
//! Everything is done by this same binary as a user would call it, in a scratch
//! folder that is left behind to look at. The agent is a shell script that
//! writes one file per task, so that work lost or done twice would show.

#![expect(
    clippy::disallowed_methods,
    reason = "the demo builds a project and calls rekindle as a user would"
)]

mod sessions;

use std::io::Read as _;
use std::os::unix::fs::DirBuilderExt as _;
use std::process::{Command, Stdio};

use camino::{Utf8Path, Utf8PathBuf};
use rekindle_wire::exit;

use crate::arguments::DemoStory;
use crate::failure::Failure;
use crate::terminal::Terminal;

/// In the middle of T006 it tells the demo who is at work, and waits to be killed.
const AGENT: &str = r#"#!/bin/sh
cat > /dev/null                      # the prompt
if [ "$REKINDLE_TASK" = T006 ] && [ "$REKINDLE_ATTEMPT" = 1 ]; then
    echo half > "$REKINDLE_TASK.txt"
    echo "$$ $PPID" > "$DEMO/moment"
    exec sleep 1000
fi
echo "$REKINDLE_TASK, attempt $REKINDLE_ATTEMPT" >> "$REKINDLE_TASK.txt"
"#;

/// What the folder's name begins with.
const FOLDER: &str = "rekindle-demo-";

/// How many names are tried for the folder.
const MOST_NAMES: u32 = 100;

/// What each task needs: three at the start, three that join them, and so on.
const NEEDS: [&[usize]; 12] = [
    &[],
    &[],
    &[],
    &[1, 2],
    &[2, 3],
    &[1, 3],
    &[4],
    &[5],
    &[4, 5],
    &[6, 7],
    &[8, 9],
    &[10, 11],
];

pub(super) fn demo(
    story: DemoStory,
    with_report: bool,
    terminal: &mut Terminal,
) -> Result<u8, Failure> {
    if with_report && story != DemoStory::Run {
        let problem = "`--report` is for the demo of a run";
        return Err(Failure::usage(problem.to_owned()).hint("type `rekindle demo --report`"));
    }
    let demo = Demo::new()?;
    match story {
        DemoStory::Run => run(&demo, with_report, terminal),
        DemoStory::Sessions => sessions::play(&demo, terminal),
    }
}

/// Plays the story of a run.
fn run(demo: &Demo, with_report: bool, terminal: &mut Terminal) -> Result<u8, Failure> {
    demo.build(terminal)?;
    demo.say(terminal, "A plan of twelve tasks, one agent, three workers. During T006 everything is killed with `kill -9`:");
    demo.interrupt(terminal)?;
    demo.say(terminal, "What is done, and what comes next:");
    demo.rekindle(terminal, &["status"])?;
    demo.rekindle(terminal, &["explain", &demo.run()?, "T006"])?;
    demo.say(
        terminal,
        "Resume. Landed tasks are not repeated; T006 starts again in a clean worktree:",
    );
    demo.rekindle(
        terminal,
        &[
            "resume",
            "--yes",
            "--jobs",
            "3",
            "--agent-cmd",
            "$DEMO/agent.sh",
        ],
    )?;
    demo.say(
        terminal,
        "The history, one commit for each task, on a branch of its own:",
    );
    demo.show_history(terminal)?;
    if with_report {
        demo.say(terminal, "What happened, as a page to open in a browser:");
        demo.rekindle(terminal, &["report", "--output", "report.html"])?;
    }
    terminal.hint(&format!(
        "hint: look around in `{}`; delete it when you are done\n",
        demo.folder
    ));
    Ok(exit::DONE)
}

struct Demo {
    folder: Utf8PathBuf,
    program: std::path::PathBuf,
    /// A demo that is killed leaves its folder to the next one; one that ends leaves it to the user.
    _unfinished: rekindle_app::Unfinished,
}

impl Demo {
    fn new() -> Result<Self, Failure> {
        let folder = new_folder()?;
        let program =
            std::env::current_exe().map_err(|error| broken("find this program", &error))?;
        let unfinished = rekindle_app::Unfinished::mark(&folder)
            .map_err(|error| broken(&format!("write into `{folder}`"), &error))?;
        Ok(Self {
            folder,
            program,
            _unfinished: unfinished,
        })
    }

    /// Makes the project with its plan and its agent.
    fn build(&self, terminal: &mut Terminal) -> Result<(), Failure> {
        let tasks: Vec<String> = NEEDS
            .iter()
            .zip(1..)
            .map(|(needs, n)| {
                let needs: Vec<String> =
                    needs.iter().map(|need| format!("\"T{need:03}\"")).collect();
                format!(
                    r#"  {{"id":"T{n:03}","title":"Step {n}","dependencies":[{}]}}"#,
                    needs.join(",")
                )
            })
            .collect();
        let plan = format!(
            "{{\"title\":\"Greeting page\",\"tasks\":[\n{}\n]}}\n",
            tasks.join(",\n")
        );
        write(&self.folder.join("plan.json"), &plan)?;
        write(&self.folder.join("agent.sh"), AGENT)?;
        for (program, arguments) in [
            ("chmod", &["+x", "agent.sh"][..]),
            ("mkfifo", &["-m600", "moment"]),
            ("git", &["init", "-q", "-b", "main"]),
            ("git", &["add", "plan.json"]),
            (
                "git",
                &[
                    "-c",
                    "user.name=demo",
                    "-c",
                    "user.email=demo@localhost",
                    "-c",
                    "core.hooksPath=/dev/null",
                    "commit",
                    "--no-gpg-sign",
                    "-qm",
                    "The plan",
                ],
            ),
        ] {
            let made = self.other(program, arguments).status();
            made.map_err(|error| broken(program, &error))?;
        }
        terminal.result(&format!("A small project in `{}`.\n", self.folder));
        Ok(())
    }

    fn say(&self, terminal: &mut Terminal, text: &str) {
        let rule = "─".repeat(72);
        terminal.result(&format!("\n{rule}\n{text}\n"));
    }

    fn other(&self, program: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.args(arguments).current_dir(&self.folder);
        scrub(&mut command);
        command
    }

    fn call(&self, terminal: &mut Terminal, arguments: &[&str]) -> Command {
        terminal.result(&format!("\n$ rekindle {}\n", arguments.join(" ")));
        let mut command = Command::new(&self.program);
        command
            .args(arguments)
            .current_dir(&self.folder)
            .env_remove("REKINDLE_NOW")
            .env("DEMO", &self.folder)
            .stdin(Stdio::null());
        scrub(&mut command);
        command
    }

    /// Runs rekindle and shows all it says.
    fn rekindle(&self, terminal: &mut Terminal, arguments: &[&str]) -> Result<(), Failure> {
        shown(&mut self.call(terminal, arguments), arguments)
    }

    /// Starts the run, and kills it, its worker and its agent when the agent is in the middle of T006.
    fn interrupt(&self, terminal: &mut Terminal) -> Result<(), Failure> {
        let arguments = [
            "run",
            "plan.json",
            "--branch",
            "result",
            "--jobs",
            "3",
            "--yes",
            "--agent-cmd",
            // Without a shell in between, the agent's parent is the worker.
            "exec $DEMO/agent.sh",
        ];
        let child = self.call(terminal, &arguments).spawn();
        let mut child = child.map_err(|error| broken("start rekindle", &error))?;
        // Opening the pipe waits for the agent to open its end: that is the moment.
        let mut pids = String::new();
        std::fs::File::open(self.folder.join("moment"))
            .and_then(|mut moment| moment.read_to_string(&mut pids))
            .map_err(|error| broken("wait", &error))?;
        let orchestrator = child.id().to_string();
        let victims = pids.split_whitespace().chain([orchestrator.as_str()]);
        let killed = self.other("kill", &["-9"]).args(victims).status();
        killed.map_err(|error| broken("kill", &error))?;
        child.wait().map_err(|error| broken("wait", &error))?;
        terminal.result("\n*** killed: the orchestrator, the worker of T006 and its agent ***\n");
        Ok(())
    }

    /// Returns the name of the run.
    fn run(&self) -> Result<String, Failure> {
        let runs = std::fs::read_dir(self.folder.join(".agent-memory/runs"));
        let names = runs.map_err(|error| broken("find the run", &error))?;
        let mut names = names.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        let found = names.find(|name| !name.starts_with('.'));
        found.ok_or_else(|| Failure::cannot("the demo's run is not there".to_owned()))
    }

    fn show_history(&self, terminal: &mut Terminal) -> Result<(), Failure> {
        let printed = |arguments: &[&str]| -> Result<String, Failure> {
            let output = self.other("git", arguments).output();
            let output = output.map_err(|error| broken("read the history", &error))?;
            Ok(String::from_utf8_lossy(&output.stdout).into_owned())
        };
        let log = printed(&[
            "log",
            "--reverse",
            "--format=%h %s (attempt %(trailers:key=Rekindle-Attempt,valueonly,separator=))",
            "main..result",
        ])?;
        terminal.result(&format!("\n$ git log --reverse main..result\n{log}"));
        let tasks = printed(&[
            "log",
            "--format=%(trailers:key=Rekindle-Task,valueonly,separator=)",
            "main..result",
        ])?;
        let mut landed: Vec<&str> = tasks.split_whitespace().collect();
        landed.sort_unstable();
        let expected: Vec<String> = (1..=NEEDS.len()).map(|n| format!("T{n:03}")).collect();
        if landed != expected {
            return Err(Failure::cannot(format!(
                "each task should have landed once; landed: {landed:?}"
            )));
        }
        let work = printed(&["show", "result:T006.txt"])?;
        if work != "T006, attempt 2\n" {
            return Err(Failure::cannot(format!(
                "T006 should have been done again; it contains {work:?}"
            )));
        }
        terminal
            .result("\nEvery task landed exactly once, and your own checkout was never touched.\n");
        Ok(())
    }
}

/// Runs rekindle, which shows all it says and must end well.
fn shown(rekindle: &mut Command, arguments: &[&str]) -> Result<(), Failure> {
    let status = rekindle.status();
    let status = status.map_err(|error| broken("start rekindle", &error))?;
    if status.success() {
        return Ok(());
    }
    let arguments = arguments.join(" ");
    Err(Failure::cannot(format!(
        "`rekindle {arguments}` ended with {status}"
    )))
}

fn write(path: &Utf8Path, contents: &str) -> Result<(), Failure> {
    let folder = path.parent().map_or(Ok(()), std::fs::create_dir_all);
    folder
        .and_then(|()| std::fs::write(path, contents))
        .map_err(|error| broken(&format!("write `{path}`"), &error))
}

fn broken(what: &str, error: &std::io::Error) -> Failure {
    Failure::cannot(format!("the demo cannot {what}: {error}"))
        .hint("it needs a writable temporary folder and `sh`, `chmod`, `mkfifo`, `kill` and `git`")
}

/// Makes a folder that was not there before and that nobody else can put anything into: what stands in
/// it is run.
fn new_folder() -> Result<Utf8PathBuf, Failure> {
    let shared = Utf8PathBuf::from_path_buf(std::env::temp_dir())
        .map_err(|path| Failure::usage(format!("`{}` is not UTF-8", path.display())))?;
    rekindle_app::sweep_unfinished(shared.as_std_path(), FOLDER);
    let name = format!("{FOLDER}{}", std::process::id());
    let mut folder = shared.join(&name);
    for number in 2..=MOST_NAMES {
        match std::fs::DirBuilder::new().mode(0o700).create(&folder) {
            Ok(()) => return Ok(folder),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
                folder = shared.join(format!("{name}-{number}"));
            }
            Err(error) => return Err(broken(&format!("make `{folder}`"), &error)),
        }
    }
    Err(Failure::cannot(format!(
        "the demo found no unused name next to `{folder}`"
    )))
}

/// In a hook, or in an alias of a linked worktree, git would work in the user's own repository. In
/// relative folders of PATH, a repository could bring its own programs.
fn scrub(command: &mut Command) {
    if let Some(path) = std::env::var_os("PATH") {
        command.env("PATH", rekindle_app::absolute_folders(&path));
    }
    for name in rekindle_app::GIT_VARIABLES {
        command.env_remove(name);
    }
}
