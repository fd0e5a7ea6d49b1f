//! `rekindle demo sessions`: six sessions of coding agents, a real `kill -9` of all of them, and a
//! resume of those that are safe.
//!
//! Scripts stand in for the programs: they talk to no model and write their transcripts as the programs
//! do. The home folder is a scratch folder too, so nobody's own sessions are looked at.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::process::{Child, Command, Stdio};

use camino::{Utf8Path, Utf8PathBuf};
use rekindle_text::claude_folder_name;
use rekindle_wire::exit;

use super::{Demo, broken, scrub, write};
use crate::failure::Failure;
use crate::terminal::Terminal;

/// Stands in for a program: begins a session and waits to be killed, or goes on with one and ends its
/// turn. It writes down where it was asked to go on.
const PROGRAM: &str = r#"#!/bin/sh
now=$(date -u +%Y-%m-%dT%H:%M:%SZ)
if [ -n "$ROWS" ]; then
    mkdir -p "${TRANSCRIPT%/*}"
    sed "s/@NOW@/$now/g" "$ROWS" > "$TRANSCRIPT"
    echo there > "$DEMO/moment"
    exec sleep 1000
fi
cat > /dev/null                      # the briefing
for word in "$@"; do case $word in *-*-*-*-*) id=$word;; esac; done
echo "${0##*/} $id in $(pwd -P)" >> "$DEMO/went-on"
case "${0##*/}" in
claude) transcript=$(echo "$HOME"/.claude/projects/*/"$id".jsonl)
        row='{"type":"assistant","uuid":"end","timestamp":"@NOW@","message":{"id":"end","content":[{"type":"text","text":"It is done."}],"stop_reason":"end_turn"}}'
        said='{"type":"result","subtype":"success","is_error":false,"terminal_reason":"completed","result":"It is done.","num_turns":1}' ;;
codex)  transcript=$(echo "$HOME"/.codex/sessions/*/*/*/*"$id".jsonl)
        row='{"timestamp":"@NOW@","type":"event_msg","payload":{"type":"task_complete","last_agent_message":"It is done."}}'
        said='{"type":"turn.completed","usage":{"input_tokens":1,"cached_input_tokens":0,"output_tokens":1}}' ;;
gemini) transcript=$(echo "$HOME"/.gemini/tmp/*/chats/*"${id%%-*}".jsonl)
        row='{"id":"end","timestamp":"@NOW@","type":"gemini","content":"It is done."}'
        said='{"type":"result","status":"success"}' ;;
esac
echo "$row" | sed "s/@NOW@/$now/g" >> "$transcript"
echo "$said"
"#;

/// The variables that would lead to somebody's own sessions.
const VARIABLES: [&str; 13] = [
    "CLAUDE_CONFIG_DIR",
    "CLAUDE_CODE_SESSION_ID",
    "CLAUDE_PID",
    "CODEX_HOME",
    "CODEX_THREAD_ID",
    "GEMINI_CLI_HOME",
    "OPENCODE_DB",
    "REKINDLE_NOW",
    "ROWS",
    "TRANSCRIPT",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_STATE_HOME",
];

/// A session: its program, its folder below `work`, the last words of its id, and how far it comes.
struct Scripted {
    program: &'static str,
    folder: &'static str,
    short: &'static str,
    prompt: &'static str,
    cut: Cut,
    /// Whether it is safe to continue.
    goes_on: bool,
}

/// What a session is in the middle of.
#[derive(Clone, Copy)]
enum Cut {
    Tool,
    Question,
    Limit,
}

const SESSIONS: [Scripted; 6] = [
    Scripted {
        program: "claude",
        folder: "ledger-api",
        short: "aaaa1111",
        prompt: "Fix the rounding of ledger totals",
        cut: Cut::Tool,
        goes_on: true,
    },
    Scripted {
        program: "codex",
        folder: "ledger-api",
        short: "bbbb2222",
        prompt: "Port the importer",
        cut: Cut::Tool,
        goes_on: true,
    },
    Scripted {
        program: "claude",
        folder: "web",
        short: "cccc3333",
        prompt: "Choose a database",
        cut: Cut::Question,
        goes_on: false,
    },
    Scripted {
        program: "claude",
        folder: "web",
        short: "dddd4444",
        prompt: "Build the front page",
        cut: Cut::Limit,
        goes_on: false,
    },
    Scripted {
        program: "gemini",
        folder: "notes",
        short: "eeee5555",
        prompt: "Look for dead links",
        cut: Cut::Tool,
        goes_on: true,
    },
    Scripted {
        program: "claude",
        folder: WORKTREE,
        short: "ffff6666",
        prompt: "Audit the log",
        cut: Cut::Tool,
        goes_on: false,
    },
];

/// A worktree that is removed while nobody looks.
const WORKTREE: &str = "ledger-wt";

/// Plays the whole story.
pub(super) fn play(demo: &Demo, terminal: &mut Terminal) -> Result<u8, Failure> {
    let scene = Scene::build(demo)?;
    demo.say(
        terminal,
        "Six sessions in three folders and a worktree. All are killed with `kill -9`, and the worktree is removed:",
    );
    scene.interrupt(terminal)?;
    demo.say(
        terminal,
        "What each was doing, and whether it is safe to continue:",
    );
    scene.rekindle(terminal, &["--everywhere"])?;
    let before = scene.transcripts()?;
    demo.say(
        terminal,
        "Those that are safe go on, each in its own folder, and never two in one folder at once:",
    );
    scene.rekindle(terminal, &["resume", "--all", "--everywhere", "--yes"])?;
    scene.check(&before)?;
    demo.say(terminal, "What is left needs you:");
    scene.rekindle(terminal, &["--everywhere"])?;
    terminal.result("\nThree sessions went on, once each; the transcripts of the others are as they were, byte by byte.\n");
    terminal.hint(&format!(
        "hint: look around in `{}`; delete it when you are done\n",
        demo.folder
    ));
    Ok(exit::DONE)
}

struct Scene<'d> {
    demo: &'d Demo,
    home: Utf8PathBuf,
    work: Utf8PathBuf,
}

/// A program that is killed in any case.
struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        // One that has ended already needs no kill.
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

impl<'d> Scene<'d> {
    fn build(demo: &'d Demo) -> Result<Self, Failure> {
        let scene = Self {
            demo,
            home: demo.folder.join("home"),
            work: demo.folder.join("work"),
        };
        for program in ["claude", "codex", "gemini"] {
            let path = demo.folder.join("bin").join(program);
            write(&path, PROGRAM)?;
            scene.other("chmod", &demo.folder, &["+x", path.as_str()])?;
        }
        scene.other("mkfifo", &demo.folder, &["-m600", "moment"])?;
        for folder in ["ledger-api", "web", "notes"] {
            let path = scene.work.join(folder);
            std::fs::create_dir_all(&path)
                .map_err(|error| broken(&format!("make `{path}`"), &error))?;
            if folder != "notes" {
                scene.git(&path, &["init", "-q", "-b", "main"])?;
                scene.git(&path, &["commit", "--allow-empty", "-qm", "start"])?;
            }
        }
        let worktree = scene.work.join(WORKTREE);
        let ledger = scene.work.join("ledger-api");
        scene.git(
            &ledger,
            &["worktree", "add", "-q", "-b", "audit", worktree.as_str()],
        )?;
        Ok(scene)
    }

    /// Starts all sessions, and kills them when each is in the middle of something.
    fn interrupt(&self, terminal: &mut Terminal) -> Result<(), Failure> {
        let mut running = Vec::new();
        for session in &SESSIONS {
            let rows = self.demo.folder.join("rows").join(session.short);
            write(&rows, &session.rows(&self.folder(session)))?;
            if session.program == "gemini" {
                let kept = self.home.join(".gemini/tmp").join(session.folder);
                let folder = self.folder(session);
                write(&kept.join(".project_root"), folder.as_str())?;
            }
            let program = self.demo.folder.join("bin").join(session.program);
            let mut command = Command::new(program);
            self.surround(&mut command);
            command
                .current_dir(self.folder(session))
                .env("ROWS", rows)
                .env("TRANSCRIPT", self.transcript(session))
                .stdin(Stdio::null());
            let child = command.spawn();
            running.push(Killed(child.map_err(|error| broken("start `sh`", &error))?));
            // Opening the pipe waits for the program to open its end: that is the moment.
            let mut said = String::new();
            std::fs::File::open(self.demo.folder.join("moment"))
                .and_then(|mut moment| moment.read_to_string(&mut said))
                .map_err(|error| broken("wait", &error))?;
        }
        drop(running);
        let worktree = self.work.join(WORKTREE);
        std::fs::remove_dir_all(&worktree)
            .map_err(|error| broken(&format!("remove `{worktree}`"), &error))?;
        terminal.result("\n*** killed: six agents ***\n");
        Ok(())
    }

    /// Checks that exactly the safe sessions went on, and that nothing was written to the others.
    fn check(&self, before: &BTreeMap<&str, Vec<u8>>) -> Result<(), Failure> {
        let went_on = std::fs::read_to_string(self.demo.folder.join("went-on"));
        let went_on = went_on.map_err(|error| broken("see what went on", &error))?;
        let mut went_on: Vec<&str> = went_on.lines().collect();
        went_on.sort_unstable();
        let safe = SESSIONS.iter().filter(|session| session.goes_on);
        let mut expected: Vec<String> = safe
            .map(|session| {
                let (program, id) = (session.program, session.id());
                format!("{program} {id} in {}", self.folder(session))
            })
            .collect();
        expected.sort_unstable();
        if went_on != expected {
            return Err(Failure::cannot(format!(
                "each safe session should have gone on once: {went_on:?}"
            )));
        }
        let after = self.transcripts()?;
        for session in &SESSIONS {
            let is_same = before.get(session.short) == after.get(session.short);
            if is_same == session.goes_on {
                return Err(Failure::cannot(format!(
                    "the transcript of {} should have changed only if it went on",
                    session.short
                )));
            }
        }
        Ok(())
    }

    fn transcripts(&self) -> Result<BTreeMap<&'static str, Vec<u8>>, Failure> {
        let read = |session: &Scripted| {
            let path = self.transcript(session);
            let bytes = std::fs::read(&path);
            let bytes = bytes.map_err(|error| broken(&format!("read `{path}`"), &error))?;
            Ok((session.short, bytes))
        };
        SESSIONS.iter().map(read).collect()
    }

    fn folder(&self, session: &Scripted) -> Utf8PathBuf {
        self.work.join(session.folder)
    }

    fn transcript(&self, session: &Scripted) -> Utf8PathBuf {
        let id = session.id();
        match session.program {
            "codex" => self.home.join(format!(
                ".codex/sessions/2026/01/20/rollout-2026-01-20T11-00-00-{id}.jsonl"
            )),
            "gemini" => self.home.join(format!(
                ".gemini/tmp/{}/chats/session-2026-01-20T11-00-{}.jsonl",
                session.folder, session.short
            )),
            _ => {
                let name = claude_folder_name(self.folder(session).as_str());
                self.home
                    .join(format!(".claude/projects/{name}/{id}.jsonl"))
            }
        }
    }

    /// Runs rekindle in the scratch home and shows all it says.
    fn rekindle(&self, terminal: &mut Terminal, arguments: &[&str]) -> Result<(), Failure> {
        let mut command = self.demo.call(terminal, arguments);
        self.surround(&mut command);
        super::shown(&mut command, arguments)
    }

    fn surround(&self, command: &mut Command) {
        scrub(command);
        for name in VARIABLES {
            command.env_remove(name);
        }
        let path = std::env::var_os("PATH").unwrap_or_default();
        let path = rekindle_app::absolute_folders(&path);
        let mut with_ours = std::ffi::OsString::from(self.demo.folder.join("bin"));
        with_ours.push(":");
        with_ours.push(path);
        command
            .env("PATH", with_ours)
            .env("HOME", &self.home)
            .env("DEMO", &self.demo.folder);
    }

    fn git(&self, folder: &Utf8Path, arguments: &[&str]) -> Result<(), Failure> {
        let ours = [
            "-c",
            "user.name=demo",
            "-c",
            "user.email=demo@localhost",
            "-c",
            "core.hooksPath=/dev/null",
            "-c",
            "commit.gpgSign=false",
        ];
        self.other("git", folder, &[&ours[..], arguments].concat())
    }

    fn other(&self, program: &str, folder: &Utf8Path, arguments: &[&str]) -> Result<(), Failure> {
        let mut command = Command::new(program);
        scrub(&mut command);
        let status = command.args(arguments).current_dir(folder).status();
        let status = status.map_err(|error| broken(program, &error))?;
        if status.success() {
            return Ok(());
        }
        let arguments = arguments.join(" ");
        Err(Failure::cannot(format!(
            "`{program} {arguments}` ended with {status}"
        )))
    }
}

impl Scripted {
    fn id(&self) -> String {
        match self.program {
            "codex" => format!("019bdb10-aaaa-7bbb-8ccc-0123{}", self.short),
            _ => format!("{}-5b1e-4c77-9a10-2d6c1b7e0001", self.short),
        }
    }

    /// Returns what the program has written when it is killed.
    fn rows(&self, folder: &Utf8Path) -> String {
        let (id, prompt) = (self.id(), self.prompt);
        match self.program {
            "codex" => format!(
                r#"{{"timestamp":"@NOW@","type":"session_meta","payload":{{"id":"{id}","cwd":"{folder}","originator":"codex-tui","source":"cli","thread_source":"user"}}}}
{{"timestamp":"@NOW@","type":"event_msg","payload":{{"type":"task_started"}}}}
{{"timestamp":"@NOW@","type":"turn_context","payload":{{"cwd":"{folder}"}}}}
{{"timestamp":"@NOW@","type":"event_msg","payload":{{"type":"item_completed","item":{{"type":"UserMessage","content":[{{"type":"text","text":"{prompt}"}}]}}}}}}
{{"timestamp":"@NOW@","type":"response_item","payload":{{"type":"function_call","name":"exec_command","call_id":"c1","arguments":"{{\"cmd\": \"make import\"}}"}}}}
"#
            ),
            "gemini" => format!(
                r#"{{"sessionId":"{id}","startTime":"@NOW@","kind":"main"}}
{{"id":"g1","timestamp":"@NOW@","type":"user","content":[{{"text":"{prompt}"}}]}}
{{"id":"g2","timestamp":"@NOW@","type":"gemini","content":"","thoughts":[]}}
"#
            ),
            _ => {
                let last = match self.cut {
                    Cut::Tool => {
                        r#""message":{"id":"m1","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"pytest -q"}}],"stop_reason":"tool_use"}"#
                    }
                    Cut::Question => {
                        r#""message":{"id":"m1","content":[{"type":"tool_use","id":"t1","name":"AskUserQuestion","input":{"questions":[{"question":"Postgres or SQLite?"}]}}],"stop_reason":"tool_use"}"#
                    }
                    Cut::Limit => {
                        r#""isApiErrorMessage":true,"error":"rate_limit","message":{"id":"m1","content":[{"type":"text","text":"You've hit your limit · resets 11:59pm (UTC)"}]}"#
                    }
                };
                let row = |kind: &str, number: u8, more: &str| {
                    format!(
                        r#"{{"type":"{kind}","uuid":"{}-{number}","timestamp":"@NOW@","cwd":"{folder}","gitBranch":"main","entrypoint":"cli",{more}}}"#,
                        self.short
                    )
                };
                let typed = format!(r#""promptSource":"typed","message":{{"content":"{prompt}"}}"#);
                format!(
                    "{}\n{}\n{{\"type\":\"last-prompt\",\"lastPrompt\":\"{prompt}\"}}\n",
                    row("user", 0, &typed),
                    row("assistant", 1, last)
                )
            }
        }
    }
}
