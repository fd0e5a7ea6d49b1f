use proptest::prelude::*;
use rekindle_world::MemoryWorld;
use serde_json::json;

use super::*;

const SESSION: &str = "9134cf00-e3ef-419a-a946-a1369cd9cee5";
const CLAUDE: &str = "/h/.claude/projects/-w-my-app/9134cf00-e3ef-419a-a946-a1369cd9cee5.jsonl";
const ROLLOUT: &str = "/h/.codex/sessions/2026/11/16/rollout-2026-11-16T04-00-00-9134cf00-e3ef-419a-a946-a1369cd9cee5.jsonl";

fn world() -> MemoryWorld {
    MemoryWorld::new("/w/my.app", "2026-11-16T05:00:00Z".parse().unwrap())
        .with_variable("HOME", "/h")
        .folder("/w/my.app")
}

fn lines(rows: &[Value]) -> String {
    let lines: Vec<String> = rows.iter().map(|row| format!("{row}\n")).collect();
    lines.concat()
}

fn row(kind: &str, content: &Value) -> Value {
    json!({"type": kind, "cwd": "/w/my.app", "sessionId": SESSION, "isSidechain": false,
        "timestamp": "2026-11-16T04:10:00.000Z", "message": {"role": kind, "content": content}})
}

fn called(id: &str, command: &str) -> Value {
    row(
        "assistant",
        &json!([{"type": "tool_use", "id": id, "name": "Bash", "input": {"command": command}}]),
    )
}

fn result(id: &str) -> Value {
    row(
        "user",
        &json!([{"type": "tool_result", "tool_use_id": id, "content": "ok"}]),
    )
}

fn said(text: &str) -> Value {
    row("assistant", &json!([{"type": "text", "text": text}]))
}

fn last(world: &MemoryWorld) -> Option<LastSession> {
    last_session(world, "/w/my.app".into(), &|_, _| false)
}

fn reached(rows: &[Value]) -> Reached {
    last(&world().file(CLAUDE, lines(rows))).unwrap().reached
}

#[test]
fn claude_code_died_in_a_tool_call_without_a_result() {
    let prompt = row("user", &json!("do it"));
    assert_eq!(
        reached(&[prompt.clone(), called("a", "cargo test")]),
        Reached::InTool("Bash: cargo test".to_owned())
    );
    assert_eq!(
        reached(&[called("a", "ls"), called("b", "make"), result("b")]),
        Reached::InTool("Bash: ls".to_owned())
    );
    assert_eq!(reached(&[called("a", "ls"), result("a")]), Reached::InTurn);
    let whole = [called("a", "ls"), result("a"), said("done")];
    assert_eq!(reached(&whole), Reached::EndOfTurn);
    assert_eq!(reached(&[said("done"), prompt]), Reached::InTurn);
    let exit = row("user", &json!("<command-name>/exit</command-name>"));
    assert_eq!(reached(&[said("done"), exit]), Reached::EndOfTurn);
}

#[test]
fn an_interrupted_session_has_not_died() {
    let mark = "[Request interrupted by user for tool use]";
    let block = row("user", &json!([{"type": "text", "text": mark}]));
    let plain = row("user", &json!("[Request interrupted by user]"));
    for mark in [block, plain] {
        let rows = [called("a", "ls"), result("a"), mark.clone()];
        assert_eq!(reached(&rows), Reached::Interrupted);
        let went_on = [
            called("a", "ls"),
            mark,
            said("and so on"),
            called("b", "pwd"),
        ];
        assert_eq!(reached(&went_on), Reached::InTool("Bash: pwd".to_owned()));
    }
}

#[test]
fn a_conversation_that_was_compacted_has_not_died() {
    let boundary = |trigger: &str| {
        json!({"type": "system", "subtype": "compact_boundary", "cwd": "/w/my.app",
            "timestamp": "2026-11-16T04:11:00.000Z", "content": "Conversation compacted",
            "compactMetadata": {"trigger": trigger, "preTokens": 1000}})
    };
    let mut summary = row(
        "user",
        &json!("This session is being continued from a previous one."),
    );
    summary["isCompactSummary"] = json!(true);
    let command = row("user", &json!("<command-name>/compact</command-name>"));
    let by_hand = [said("done"), boundary("manual"), summary.clone(), command];
    assert_eq!(reached(&by_hand), Reached::EndOfTurn);
    // Where only the end of a long transcript is read.
    assert_eq!(reached(&by_hand[1..]), Reached::EndOfTurn);
    // By itself it happens in the middle of a turn, which goes on.
    let by_itself = [called("a", "ls"), result("a"), boundary("auto"), summary];
    assert_eq!(reached(&by_itself), Reached::InTurn);
    let went_on = [&by_itself[..], &[said("done")]].concat();
    assert_eq!(reached(&went_on), Reached::EndOfTurn);
}

#[test]
fn rows_of_sub_agents_and_unknown_rows_are_ignored() {
    let mut aside = called("s", "rm x");
    aside["isSidechain"] = json!(true);
    let odd = [
        json!({"type": "cost-state", "message": {"content": [{"type": "tool_use"}]}}),
        json!([1]),
        json!({"type": "assistant"}),
        json!({"type": "user", "message": 7}),
    ];
    let rows = [
        &[called("a", "ls"), result("a"), said("done"), aside],
        &odd[..],
    ]
    .concat();
    assert_eq!(reached(&rows), Reached::EndOfTurn);
}

#[test]
fn processes_are_found_by_session_without_opening_keys() {
    let world = world()
        .file(CLAUDE, lines(&[called("a", "ls")]))
        .file("/h/.claude/sessions/40.json", "{}")
        .file(
            "/h/.claude/sessions/41.json",
            json!({"pid": 41, "sessionId": SESSION, "procStart": "123456"}).to_string(),
        )
        .file(
            "/h/.claude/sessions/41.0a1b.key",
            json!({"sessionId": SESSION, "procStart": "1"}).to_string(),
        );
    let owner = Owner::Process {
        pid: 41,
        start_time: 123_456,
        started: None,
    };
    let owners = last(&world).unwrap().owners;
    assert_eq!(owners.as_slice(), std::slice::from_ref(&owner));
    // A killed process stays on the list when another resumes its session.
    let stale = json!({"pid": 7, "sessionId": SESSION, "procStart": 99}).to_string();
    let world = world.file("/h/.claude/sessions/7.json", stale);
    let killed = Owner::Process {
        pid: 7,
        start_time: 99,
        started: None,
    };
    let mut owners = last(&world).unwrap().owners;
    owners.sort_by_key(|owner| *owner != killed);
    assert_eq!(owners, [killed, owner]);
    let fit = fitness(&world, Preset::Claude, SESSION, "/w/my.app".into());
    assert!(matches!(fit, Fitness::Whole(owners) if owners.len() == 2));
}

#[test]
fn a_long_row_does_not_hide_the_rows_before_it() {
    let long = |len: usize| "x".repeat(len);
    let with = |mut row: Value, content: Value| {
        row["message"]["content"][0]["content"] = content;
        row
    };
    let request = json!({"type": "api-request", "body": long(600_000)});
    let call = called("a", "make");
    let in_make = Reached::InTool("Bash: make".to_owned());
    assert_eq!(reached(&[call.clone(), request.clone()]), in_make);
    let read = with(result("a"), json!(long(600_000)));
    assert_eq!(reached(&[call.clone(), read]), Reached::InTurn);
    // Rows that come by themselves do not end the search.
    let mut caveat = row("user", &json!("Caveat: the messages below"));
    caveat["isMeta"] = json!(true);
    let exit = row("user", &json!("<command-name>/exit</command-name>"));
    let rows = [call.clone(), request, caveat, exit];
    assert_eq!(reached(&rows), in_make);
    let mut written = called("a", "");
    written["message"]["content"][0]["input"] =
        json!({"file_path": "/w/x", "content": long(700_000)});
    let Reached::InTool(line) = reached(&[written]) else {
        panic!("it died in a tool");
    };
    assert!(!line.contains("xxxxxxxx"), "{line}");
    // A row that is too long to be read is not a finished turn.
    let endless = json!({"type": "api-request", "body": long(super::tail::LONGEST)});
    assert_eq!(reached(&[call, endless]), Reached::Unknown);
}

#[test]
fn an_empty_session_does_not_hide_another() {
    let empty = CLAUDE.replace(SESSION, "z-newer");
    let world = world()
        .file(&empty, lines(&[json!({"type": "mode", "mode": "plan"})]))
        .file(CLAUDE, lines(&[called("a", "ls")]));
    assert_eq!(last(&world).unwrap().id, SESSION);
}

#[test]
fn prompts_in_blocks_or_with_a_tag_are_unanswered() {
    let blocks = row("user", &json!([{"type": "text", "text": "do it"}]));
    let typed = row("user", &json!("<b> is what I want here"));
    for prompt in [blocks, typed] {
        assert_eq!(reached(&[said("done"), prompt.clone()]), Reached::InTurn);
        let answered = [prompt, said("done")];
        assert_eq!(reached(&answered), Reached::EndOfTurn);
    }
    let mut meta = row("user", &json!([{"type": "text", "text": "a note"}]));
    meta["isMeta"] = json!(true);
    assert_eq!(reached(&[said("done"), meta]), Reached::EndOfTurn);
}

#[test]
fn sessions_below_the_project_count_but_not_those_of_other_checkouts() {
    let in_folder = |folder: &str| {
        let mut row = called("a", "ls");
        row["cwd"] = json!(folder);
        let name = rekindle_text::claude_folder_name(folder);
        let file = format!("/h/.claude/projects/{name}/{SESSION}.jsonl");
        let meta = json!({"timestamp": "2026-11-16T04:00:00.000Z", "type": "session_meta",
            "payload": {"id": SESSION, "cwd": folder}});
        let claude = world().file(file, lines(&[row]));
        let codex = world().file(ROLLOUT, lines(&[meta, event("task_started")]));
        (claude, codex)
    };
    let (claude, codex) = in_folder("/w/my.app/src/deep");
    assert!(last(&claude).is_some() && last(&codex).is_some());
    for folder in ["/w/my.app-2", "/w/my", "/w"] {
        let (claude, codex) = in_folder(folder);
        assert_eq!((last(&claude), last(&codex)), (None, None), "{folder}");
    }
    let (claude, codex) = in_folder("/w/my.app/.worktrees/x/src");
    for world in [claude, codex] {
        let world = world.file("/w/my.app/.worktrees/x/.git", "gitdir: elsewhere");
        assert_eq!(last(&world), None);
    }
}

#[test]
fn folders_of_the_same_name_and_the_running_session_are_ignored() {
    let mut foreign = called("a", "ls");
    foreign["cwd"] = json!("/w/my-app");
    assert_eq!(last(&world().file(CLAUDE, lines(&[foreign]))), None);
    let mut below = called("a", "ls");
    below["cwd"] = json!("/w/my.app/src");
    assert!(last(&world().file(CLAUDE, lines(&[below.clone()]))).is_some());
    let beginning = world().file(CLAUDE, lines(&[below]));
    assert_eq!(
        last_session(&beginning, "/w/my.app".into(), &|id, _| id == SESSION),
        None
    );
}

#[test]
fn the_data_folder_of_claude_code_is_configurable() {
    let world = world().with_variable("CLAUDE_CONFIG_DIR", "/c").file(
        CLAUDE.replace("/h/.claude", "/c"),
        lines(&[called("a", "ls")]),
    );
    assert!(last(&world).is_some());
}

fn rollout(rows: &[Value]) -> String {
    let meta = json!({"timestamp": "2026-11-16T04:00:00.000Z", "type": "session_meta",
        "payload": {"id": SESSION, "cwd": "/w/my.app"}});
    lines(&[&[meta], rows].concat())
}

fn event(kind: &str) -> Value {
    json!({"timestamp": "2026-11-16T04:20:00.000Z", "type": "event_msg", "payload": {"type": kind}})
}

fn item(payload: &Value) -> Value {
    json!({"timestamp": "2026-11-16T04:20:00.000Z", "type": "response_item", "payload": payload})
}

#[test]
fn codex_died_in_a_turn_without_an_end() {
    let reached = |rows: &[Value]| {
        let session = last(&world().file(ROLLOUT, rollout(rows))).unwrap();
        assert_eq!(
            (session.agent, session.id.as_str()),
            (Preset::Codex, SESSION)
        );
        session.reached
    };
    let call = item(
        &json!({"type": "function_call", "name": "shell", "call_id": "c1",
        "arguments": "{\"command\":[\"bash\",\"-lc\",\"cargo test\"]}"}),
    );
    let output = item(&json!({"type": "function_call_output", "call_id": "c1", "output": "x"}));
    let started = event("task_started");
    assert_eq!(
        reached(&[started.clone(), call.clone()]),
        Reached::InTool("shell: cargo test".to_owned())
    );
    assert_eq!(
        reached(&[started.clone(), call.clone(), output.clone()]),
        Reached::InTurn
    );
    let whole = [
        started.clone(),
        call.clone(),
        output,
        event("task_complete"),
    ];
    assert_eq!(reached(&whole), Reached::EndOfTurn);
    assert_eq!(
        reached(&[started.clone(), call.clone(), event("turn_aborted")]),
        Reached::Interrupted
    );
    // A turn can be longer than what is read at first, and than what is read at all.
    for len in [TAIL, super::tail::LONGEST] {
        let long = item(&json!({"type": "message", "text": "x".repeat(len)}));
        assert_eq!(
            reached(&[started.clone(), long, call.clone()]),
            Reached::InTool("shell: cargo test".to_owned())
        );
    }
}

#[test]
fn a_codex_session_is_found_after_many_of_other_projects() {
    let others = |world: MemoryWorld, n: usize| {
        (0..n).fold(world, |world, n| {
            let id = format!("{n:04}cf00-e3ef-419a-a946-a1369cd9cee5");
            let file = ROLLOUT
                .replace("04-00-00", "09-00-00")
                .replace(SESSION, &id);
            let text = rollout(&[event("task_started")]).replace("/w/my.app", "/w/other");
            world.file(file, text)
        })
    };
    let ours = || world().file(ROLLOUT, rollout(&[event("task_started")]));
    assert!(last(&others(ours(), 399)).is_some());
    // What is further back is not looked for, and so nothing is said of it.
    assert_eq!(last(&others(ours(), 400)), None);
    let of = |world: &MemoryWorld| fitness(world, Preset::Codex, SESSION, "/w/my.app".into());
    assert_eq!(of(&others(ours(), 400)), Fitness::Unknown);
}

#[test]
fn the_folder_of_a_codex_session_is_found_in_a_long_first_row() {
    for len in [0, 10_000, 1_000_000] {
        let long = json!({"text": format!("\"cwd\":\"/w/x\" {}", "x".repeat(len))});
        // In this order: `serde_json` would sort the keys.
        for (first, is_found) in [
            (
                format!(r#""cwd": "/w/my.app", "base_instructions": {long}"#),
                true,
            ),
            (format!(r#""cwd":"/w/x","base_instructions":{long}"#), false),
            // Behind what is long it is read for as long as the whole row can be.
            (
                format!(r#""base_instructions":{long},"cwd":"/w/my.app""#),
                len < 100_000,
            ),
            (
                format!(r#""git":{{"cwd":"/w/x"}},"cwd":"/w/my.app","base":{long}"#),
                true,
            ),
        ] {
            let first = format!(r#"{{"type":"session_meta","payload":{{{first}}}}}"#);
            let text = format!("{first}\n{}", lines(&[event("task_started")]));
            let found = last(&world().file(ROLLOUT, text)).is_some();
            assert_eq!(found, is_found, "{len}: {}", &first[..100]);
        }
    }
}

#[test]
fn the_newer_program_is_reported() {
    let both = world()
        .file(CLAUDE, lines(&[called("a", "ls")]))
        .file(ROLLOUT, rollout(&[event("task_started")]));
    assert_eq!(last(&both).unwrap().agent, Preset::Codex);
}

#[test]
fn a_complete_session_of_this_folder_can_be_resumed() {
    let of = |world: &MemoryWorld, agent: Preset, session: &str| {
        fitness(world, agent, session, "/w/my.app".into())
    };
    let claude = world().file(CLAUDE, lines(&[said("done")]));
    assert_eq!(of(&claude, Preset::Claude, SESSION), Fitness::Whole(vec![]));
    assert_eq!(of(&claude, Preset::Claude, "other"), Fitness::Missing);
    assert_eq!(of(&claude, Preset::Claude, "../x"), Fitness::Missing);
    assert_eq!(of(&world(), Preset::Claude, SESSION), Fitness::Unknown);
    assert_eq!(of(&claude, Preset::Gemini, SESSION), Fitness::Unknown);
    let torn = world().file(CLAUDE, lines(&[said("done")]) + "{\"type\":\"ass");
    assert_eq!(of(&torn, Preset::Claude, SESSION), Fitness::Torn);
    let elsewhere = world().file(CLAUDE.replace("-w-my-app", "-w-other"), "{}\n");
    assert_eq!(
        of(&elsewhere, Preset::Claude, SESSION),
        Fitness::Elsewhere("/h/.claude/projects/-w-other".into())
    );
    let codex = world().file(ROLLOUT, rollout(&[]));
    assert_eq!(of(&codex, Preset::Codex, SESSION), Fitness::Whole(vec![]));
    let lock = format!("/h/.codex/thread-writer-locks/{SESSION}.lock");
    let locked = world().file(ROLLOUT, rollout(&[])).file(&lock, "");
    let owners = vec![Owner::Lock(lock.into())];
    assert_eq!(of(&locked, Preset::Codex, SESSION), Fitness::Whole(owners));
    assert_eq!(of(&codex, Preset::Codex, "other"), Fitness::Missing);
    assert_eq!(of(&world(), Preset::Codex, SESSION), Fitness::Unknown);
    let moved = world().file(ROLLOUT, rollout(&[]).replace("/w/my.app", "/w/x"));
    assert_eq!(
        of(&moved, Preset::Codex, SESSION),
        Fitness::Elsewhere("/w/x".into())
    );
}

#[test]
fn secrets_of_a_command_are_masked() {
    let token = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
    let rows = [called(
        "a",
        &format!("curl -H 'Authorization: Bearer {token}' -u me:hunter22 x"),
    )];
    let Reached::InTool(line) = reached(&rows) else {
        panic!("it died in a tool");
    };
    assert!(!line.contains(token), "{line}");
    assert!(line.contains("-u me:***"), "{line}");
}

proptest! {
    #[test]
    fn no_transcript_causes_a_panic(bytes in any::<Vec<u8>>(), cut in 0_usize..400) {
        let whole = lines(&[called("a", "ls"), result("a"), said("done")]);
        let cut = &whole.as_bytes()[..cut.min(whole.len())];
        for text in [bytes.as_slice(), cut] {
            let world = world().file(CLAUDE, text).file(ROLLOUT, text);
            last(&world);
            fitness(&world, Preset::Claude, SESSION, "/w/my.app".into());
            fitness(&world, Preset::Codex, SESSION, "/w/my.app".into());
        }
    }
}
