//! Transcripts in memory, and what becomes of them.

#![expect(
    clippy::needless_pass_by_value,
    reason = "a row is read more easily with its JSON in place"
)]

use camino::Utf8PathBuf;
use rekindle_model::Session;
use rekindle_protocol::sessions::{Reach, Scope, SessionKeeper};
use rekindle_world::{MemoryWorld, ProcessAnswer, ProcessQuestion};
use serde_json::{Value, json};

use crate::Sessions;

pub(crate) const ID: &str = "3f2a9c10-5b1e-4c77-9a10-2d6c1b7e0001";
pub(crate) const CLAUDE: &str =
    "/home/u/.claude/projects/-w/3f2a9c10-5b1e-4c77-9a10-2d6c1b7e0001.jsonl";
pub(crate) const CODEX: &str = "/home/u/.codex/sessions/2026/01/20/rollout-2026-01-20T11-20-00-019bdb10-aaaa-7bbb-8ccc-0123456789a6.jsonl";
pub(crate) const GEMINI: &str =
    "/home/u/.gemini/tmp/w/chats/session-2026-01-20T11-40-5d5d5d5d.jsonl";

pub(crate) fn world() -> MemoryWorld {
    MemoryWorld::new("/w", "2026-01-20T12:00:00Z".parse().unwrap())
        .with_variable("HOME", "/home/u")
        .file("/home/u/.gemini/tmp/w/.project_root", "/w")
}

pub(crate) fn lines(rows: &[Value]) -> String {
    let lines: Vec<String> = rows.iter().map(Value::to_string).collect();
    lines.join("\n") + "\n"
}

/// Returns a row of Claude Code in `/w`; `minute` is its number and its time.
fn row(minute: u32, kind: &str, more: Value) -> Value {
    let mut row = json!({
        "type": kind, "uuid": format!("uuid-{minute}"), "cwd": "/w", "gitBranch": "main",
        "timestamp": format!("2026-01-20T11:{minute:02}:00.000Z"), "entrypoint": "cli",
    });
    for (key, value) in more.as_object().unwrap() {
        row[key] = value.clone();
    }
    row
}

pub(crate) fn prompt(minute: u32, text: &str) -> Value {
    let message = json!({"role": "user", "content": text});
    row(
        minute,
        "user",
        json!({"message": message, "promptSource": "typed"}),
    )
}

fn model(minute: u32, block: &Value, reason: Option<&str>) -> Value {
    let message = json!({"id": format!("msg-{minute}"), "content": [block], "stop_reason": reason});
    row(minute, "assistant", json!({ "message": message }))
}

pub(crate) fn tool(minute: u32, name: &str, input: Value) -> Value {
    let block =
        json!({"type": "tool_use", "id": format!("t{minute}"), "name": name, "input": input});
    model(minute, &block, Some("tool_use"))
}

pub(crate) fn bash(minute: u32, command: &str) -> Value {
    tool(minute, "Bash", json!({ "command": command }))
}

pub(crate) fn result(minute: u32, of: u32, text: &str, is_error: bool) -> Value {
    let block = json!({"type": "tool_result", "tool_use_id": format!("t{of}"), "content": text, "is_error": is_error});
    row(minute, "user", json!({"message": {"content": [block]}}))
}

pub(crate) fn says(minute: u32, text: &str, reason: Option<&str>) -> Value {
    model(minute, &json!({"type": "text", "text": text}), reason)
}

pub(crate) fn over(minute: u32) -> Value {
    row(minute, "system", json!({"subtype": "turn_duration"}))
}

fn error(minute: u32, kind: &str, text: &str) -> Value {
    let mut row = says(minute, text, Some("stop_sequence"));
    row["isApiErrorMessage"] = true.into();
    row["error"] = kind.into();
    row
}

pub(crate) fn one(world: &MemoryWorld) -> Session {
    let mut found = all(world);
    assert_eq!(found.len(), 1, "{found:?}");
    found.remove(0)
}

pub(crate) fn all(world: &MemoryWorld) -> Vec<Session> {
    Sessions.survey_of(world, Scope::Everywhere)
}

impl Sessions {
    pub(crate) fn survey_of(&self, world: &MemoryWorld, scope: Scope) -> Vec<Session> {
        SessionKeeper::survey(self, world, scope, Reach::Recent).sessions
    }
}

/// Returns a state in short: `interrupted tool Bash: ls`.
pub(crate) fn shown(session: &Session) -> String {
    let open = &session.open;
    let step = open.step.as_deref().unwrap_or("-");
    format!("{} {} {step}", session.state.as_str(), open.kind.as_str())
}

fn claude(rows: &[Value]) -> String {
    shown(&one(&world().file(CLAUDE, lines(rows))))
}

#[test]
#[expect(clippy::too_many_lines, reason = "it is one table")]
fn the_last_rows_of_claude_code_decide() {
    let ask = json!({"questions": [{"question": "Which?"}]});
    let stopped = prompt(3, "[Request interrupted by user]");
    for (rows, expected) in [
        (vec![prompt(1, "x")], "interrupted turn -"),
        (
            vec![prompt(1, "x"), bash(2, "ls")],
            "interrupted tool Bash: ls",
        ),
        (
            vec![prompt(1, "x"), bash(2, "ls"), result(3, 2, "", false)],
            "interrupted turn -",
        ),
        (
            vec![
                prompt(1, "x"),
                bash(2, "ls"),
                result(3, 2, "Exit code 137", true),
            ],
            "interrupted turn -",
        ),
        (
            vec![prompt(1, "x"), says(2, "hm", Some("tool_use"))],
            "interrupted turn -",
        ),
        (
            vec![prompt(1, "x"), says(2, "done", Some("end_turn"))],
            "finished none -",
        ),
        (
            vec![prompt(1, "x"), says(2, "done", None), over(3)],
            "finished none -",
        ),
        (
            vec![prompt(1, "x"), bash(2, "ls"), stopped.clone()],
            "waiting_for_person stopped -",
        ),
        (
            vec![prompt(1, "x"), bash(2, "ls"), stopped, over(4)],
            "waiting_for_person stopped -",
        ),
        (
            vec![prompt(1, "x"), tool(2, "AskUserQuestion", ask)],
            "waiting_for_person question AskUserQuestion: Which?",
        ),
        (
            vec![prompt(1, "x"), tool(2, "ExitPlanMode", json!({}))],
            "waiting_for_person question ExitPlanMode",
        ),
        (
            vec![prompt(1, "x"), bash(2, "ls"), bash(3, "pwd")],
            "interrupted tool Bash: pwd",
        ),
        (
            vec![
                prompt(1, "x"),
                says(2, "ok", Some("end_turn")),
                prompt(3, "<command-name>/clear</command-name>"),
            ],
            "finished none -",
        ),
        (
            vec![
                prompt(1, "x"),
                error(2, "server_error", "API Error: 500"),
                over(3),
            ],
            "interrupted error API Error: 500",
        ),
        (
            vec![prompt(1, "x"), error(2, "overloaded", "Overloaded")],
            "interrupted error Overloaded",
        ),
        (
            vec![
                prompt(1, "x"),
                error(2, "rate_limit", "You've hit your limit"),
            ],
            "limited limit -",
        ),
        (
            vec![
                prompt(1, "x"),
                error(2, "rate_limit", "You've hit your limit · resets 11:30am"),
            ],
            "interrupted limit -",
        ),
        (
            vec![
                prompt(1, "x"),
                error(2, "rate_limit", "limit · resets 1pm"),
                over(3),
                prompt(4, "again"),
            ],
            "interrupted turn -",
        ),
        (
            vec![
                prompt(1, "x"),
                says(2, "You've hit your usage limit", Some("end_turn")),
            ],
            "finished none -",
        ),
    ] {
        assert_eq!(claude(&rows), expected, "{rows:?}");
    }
}

#[test]
fn calls_that_run_at_the_same_time_are_counted_and_the_last_is_named() {
    let session = one(&world().file(CLAUDE, lines(&[prompt(1, "x"), bash(2, "a"), bash(3, "b")])));
    assert_eq!(session.open.calls, 2);
    assert_eq!(session.open.step.as_deref(), Some("Bash: b"));
}

#[test]
fn a_limit_ends_at_the_first_such_time_after_its_own_row() {
    let until = |text: &str| {
        let rows = [prompt(1, "x"), error(2, "rate_limit", text)];
        let session = one(&world().file(CLAUDE, lines(&rows)));
        (
            session.state.as_str(),
            session.until.map(|at| at.to_string()),
        )
    };
    let at = |text: &str| Some(text.to_owned());
    assert_eq!(
        until("limit · resets 11:30am"),
        ("interrupted", at("2026-01-20T11:30:00Z"))
    );
    assert_eq!(
        until("limit · resets 3:30pm (Europe/Berlin)"),
        ("limited", at("2026-01-20T14:30:00Z"))
    );
    assert_eq!(
        until("limit · resets 11am"),
        ("limited", at("2026-01-21T11:00:00Z"))
    );
    assert_eq!(until("limit"), ("limited", None));
}

#[test]
fn the_file_of_a_dead_process_says_that_it_waited_for_a_permission() {
    let rows = lines(&[prompt(1, "x"), bash(2, "ls")]);
    let process = |what: &str, updated: u64| {
        json!({"sessionId": ID, "procStart": "7", "status": "waiting", "waitingFor": what, "updatedAt": updated}).to_string()
    };
    let with = |files: &[(&str, String)]| {
        let mut world = world().file(CLAUDE, &rows);
        for (name, text) in files {
            world = world.file(format!("/home/u/.claude/sessions/{name}.json"), text);
        }
        shown(&one(&world))
    };
    for what in [
        "permission prompt",
        "sandbox request",
        "worker request",
        "dialog open",
    ] {
        let state = with(&[("8", process(what, 1))]);
        assert_eq!(state, "waiting_for_person permission Bash: ls", "{what}");
    }
    let interrupted = "interrupted tool Bash: ls";
    assert_eq!(with(&[("8", process("input needed", 1))]), interrupted);
    // The newest of several says how it was at the end.
    let both = [
        ("8", process("permission prompt", 1)),
        ("9", process("x", 2)),
    ];
    assert_eq!(with(&both), interrupted);
}

#[test]
fn a_process_holds_a_session_only_with_the_same_start_after_the_boot() {
    let started = |milliseconds: i64| {
        json!({"sessionId": ID, "procStart": "4242", "startedAt": milliseconds}).to_string()
    };
    let state = |file: String, start: Option<u64>, boot: &str| {
        let world = world()
            .file(CLAUDE, lines(&[prompt(1, "x"), bash(2, "ls")]))
            .file("/home/u/.claude/sessions/8.json", file)
            .processes_say(
                ProcessQuestion::Start { pid: 8 },
                ProcessAnswer::Start(start),
            )
            .processes_say(
                ProcessQuestion::Boot,
                ProcessAnswer::Boot(boot.parse().ok()),
            );
        let session = one(&world);
        (session.state.as_str(), session.alive, session.is_safe())
    };
    let (early, late) = ("2026-01-20T08:00:00Z", "2026-01-20T11:30:00Z");
    let at = 1_768_906_800_000; // 11:00
    assert_eq!(
        state(started(at), Some(4242), early),
        ("running", Some(true), false)
    );
    assert_eq!(
        state(started(at), Some(4243), early),
        ("interrupted", Some(false), true)
    );
    assert_eq!(
        state(started(at), None, early),
        ("interrupted", Some(false), true)
    );
    assert_eq!(
        state(started(at), Some(4242), late),
        ("interrupted", Some(false), true)
    );
}

#[test]
fn a_lock_of_codex_counts_only_while_it_is_held() {
    let lock = "/home/u/.codex/thread-writer-locks/019bdb10-aaaa-7bbb-8ccc-0123456789a6.lock";
    let held = |is_held| {
        let file = Utf8PathBuf::from(lock);
        let world = world()
            .file(CODEX, codex(&[event("task_started")]))
            .file(lock, "")
            .processes_say(
                ProcessQuestion::Locked { file },
                ProcessAnswer::Locked(is_held),
            );
        one(&world).state.as_str()
    };
    assert_eq!((held(true), held(false)), ("running", "interrupted"));
}

pub(crate) fn event(kind: &str) -> Value {
    json!({"type": "event_msg", "timestamp": "2026-01-20T11:21:00Z", "payload": {"type": kind}})
}

fn item(payload: Value) -> Value {
    json!({"type": "response_item", "timestamp": "2026-01-20T11:22:00Z", "payload": payload})
}

pub(crate) fn call(id: &str, command: &str) -> Value {
    let arguments = json!({ "cmd": command }).to_string();
    item(
        json!({"type": "function_call", "name": "exec_command", "arguments": arguments, "call_id": id}),
    )
}

fn output(id: &str) -> Value {
    item(json!({"type": "function_call_output", "call_id": id, "output": ""}))
}

pub(crate) fn codex(rows: &[Value]) -> String {
    let meta = json!({"type": "session_meta", "payload": {"cwd": "/w", "source": "cli", "git": {"branch": "dev"}}});
    lines(&[meta]) + &lines(rows)
}

#[test]
fn the_last_turn_of_codex_decides() {
    let failed = |error: Value| json!({"type": "event_msg", "timestamp": "2026-01-20T11:25:00Z", "payload": {"type": "task_complete", "error": error}});
    let limit =
        |text: &str| failed(json!({"message": text, "codex_error_info": "usage_limit_exceeded"}));
    let start = event("task_started");
    for (rows, expected) in [
        (vec![start.clone()], "interrupted turn -"),
        (
            vec![start.clone(), call("a", "make")],
            "interrupted tool exec_command: make",
        ),
        (
            vec![start.clone(), call("a", "make"), output("a")],
            "interrupted turn -",
        ),
        (
            vec![start.clone(), call("a", "make"), event("task_complete")],
            "finished none -",
        ),
        (
            vec![start.clone(), call("a", "make"), event("turn_aborted")],
            "waiting_for_person stopped -",
        ),
        (
            vec![start.clone(), call("a", "make"), start.clone()],
            "interrupted turn -",
        ),
        (
            vec![
                start.clone(),
                limit("try again at Jan 21st, 2026 11:06 AM."),
            ],
            "limited limit -",
        ),
        (
            vec![start.clone(), limit("try again at 11:30 AM.")],
            "interrupted limit -",
        ),
        (
            vec![start.clone(), failed(json!({"message": "stream closed"}))],
            "interrupted error stream closed",
        ),
        (
            vec![
                start.clone(),
                limit("later"),
                start.clone(),
                event("task_complete"),
            ],
            "finished none -",
        ),
    ] {
        let session = one(&world().file(CODEX, codex(&rows)));
        assert_eq!(shown(&session), expected, "{rows:?}");
        assert_eq!(session.branch.as_deref(), Some("dev"));
    }
}

#[test]
fn a_thread_of_codex_that_is_not_a_persons_is_not_a_session() {
    for meta in [
        json!({"cwd": "/w", "thread_source": "subagent"}),
        json!({"cwd": "/w", "source": {"subagent": "review"}}),
    ] {
        let meta = json!({"type": "session_meta", "payload": meta});
        let text = lines(&[meta, event("task_started")]);
        assert_eq!(all(&world().file(CODEX, text)), []);
    }
}

fn gemini(rows: &[Value]) -> String {
    let first = json!({"sessionId": "5d5d5d5d-0000-4000-8000-00000000000a", "kind": "main"});
    lines(&[first]) + &lines(rows)
}

#[test]
fn the_last_message_of_gemini_decides_and_a_row_that_comes_again_replaces_the_earlier() {
    let user = json!({"id": "1", "type": "user", "content": [{"text": "Look"}]});
    let empty = json!({"id": "2", "type": "gemini", "content": ""});
    let answer = json!({"id": "2", "type": "gemini", "content": "Here"});
    for (rows, expected) in [
        (vec![user.clone()], "interrupted turn -"),
        (vec![user.clone(), empty.clone()], "interrupted turn -"),
        (vec![user.clone(), empty, answer.clone()], "finished none -"),
        (
            vec![user.clone(), json!({"$set": {"messages": [user, answer]}})],
            "finished none -",
        ),
    ] {
        let session = one(&world().file(GEMINI, gemini(&rows)));
        assert_eq!(shown(&session), expected, "{rows:?}");
        assert_eq!(session.folder.as_deref(), Some("/w".into()));
    }
    // A resume leaves a file in which no person said anything.
    assert_eq!(all(&world().file(GEMINI, gemini(&[]))), []);
    let aside = lines(&[
        json!({"sessionId": ID, "kind": "subagent"}),
        json!({"id": "1", "type": "user", "content": "x"}),
    ]);
    assert_eq!(all(&world().file(GEMINI, aside)), []);
}
