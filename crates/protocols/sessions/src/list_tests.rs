//! Which sessions are listed, and how they are found.

use rekindle_model::Severity;
use rekindle_protocol::sessions::{Reach, Scope, SessionKeeper};
use rekindle_world::Owner;
use serde_json::{Value, json};

use crate::Sessions;
use crate::scene_tests::{
    CLAUDE, CODEX, ID, all, bash, codex, event, lines, one, over, prompt, result, says, shown,
    world,
};

#[test]
fn a_fork_supersedes_the_session_that_it_begins_with() {
    let old = [prompt(1, "x"), bash(2, "ls")];
    let mut new = old.to_vec();
    new.extend([result(3, 2, "", false), says(4, "done", Some("end_turn"))]);
    let other = CLAUDE.replace("3f2a9c10", "4444aaaa");
    let world = world().file(CLAUDE, lines(&old)).file(&other, lines(&new));
    let found = all(&world);
    let states: Vec<&str> = found.iter().map(|one| one.state.as_str()).collect();
    assert_eq!(states, ["finished", "finished"]);
    let named = |name: &str| SessionKeeper::named(&Sessions, &world, name).remove(0);
    let superseded = named("claude:3f2a9c10");
    assert_eq!(
        superseded.superseded_by.as_deref(),
        Some("session:claude:4444aaaa")
    );
    assert!(!superseded.is_safe());
    assert_eq!(named("claude:4444aaaa").superseded_by, None);
    // A short file is searched, however it begins, and a row that is only named does not count.
    let world = |rows: &[Value]| world.clone().file(&other, lines(rows));
    let superseded = |rows: &[Value]| {
        let found = SessionKeeper::named(&Sessions, &world(rows), "claude:3f2a9c10").remove(0);
        found.superseded_by.is_some()
    };
    assert!(superseded(&[prompt(0, "y"), bash(2, "ls"), prompt(5, "z")]));
    let mut child = prompt(5, "z");
    child["parentUuid"] = "uuid-2".into();
    assert!(!superseded(&[child]));
}

#[test]
fn a_session_is_found_by_its_short_id_its_full_id_and_a_unique_beginning() {
    let rows = lines(&[prompt(1, "x")]);
    let other = CLAUDE.replace("3f2a9c10-5b1e", "3f2a9c10-9999");
    let world = world().file(CLAUDE, &rows).file(&other, &rows);
    let found = |name: &str| SessionKeeper::named(&Sessions, &world, name).len();
    assert_eq!(found(&format!("claude:{ID}")), 1);
    assert_eq!(found("claude:3f2a9c10"), 2);
    assert_eq!(found("3f2a9c10-5b1e"), 1);
    assert_eq!(found("claude:3f2"), 0);
    assert_eq!(found("codex:3f2a9c10"), 0);
    assert_eq!(found("claude:../x"), 0);
    // Two with the same short id are shown in full.
    let ids: Vec<String> = all(&world).iter().map(|one| one.id.to_string()).collect();
    assert!(ids.contains(&format!("session:claude:{ID}")), "{ids:?}");
}

#[test]
fn links_files_of_others_and_the_session_that_asks_are_not_listed() {
    let rows = lines(&[prompt(1, "x")]);
    let link = world()
        .file("/elsewhere.jsonl", &rows)
        .link(CLAUDE, "/elsewhere.jsonl");
    assert_eq!(all(&link), []);
    let others = world()
        .file(CLAUDE, &rows)
        .owned(CLAUDE, Owner::Other, 0o644);
    assert_eq!(all(&others), []);
    let own = world()
        .file(CLAUDE, &rows)
        .with_variable("CLAUDE_CODE_SESSION_ID", ID);
    assert_eq!(all(&own), []);
    let of_a_run = rows.replace("\"/w\"", "\"/w/.rekindle/worktrees/x\"");
    assert_eq!(all(&world().file(CLAUDE, of_a_run)), []);
}

#[test]
fn a_project_has_the_sessions_below_it_but_not_those_of_checkouts_inside() {
    let at = |folder: &str, file: &str| {
        let rows = lines(&[prompt(1, "x")]).replace("\"/w\"", &format!("\"{folder}\""));
        let file = CLAUDE.replace("/-w/", file);
        let world = world()
            .file(file, rows)
            .folder(folder)
            .file("/w/lib/.git/HEAD", "");
        Sessions.survey_of(&world, Scope::Project).len()
    };
    assert_eq!(at("/w", "/-w/"), 1);
    assert_eq!(at("/w/web", "/-w-web/"), 1);
    assert_eq!(at("/w/lib/src", "/-w-lib-src/"), 0);
    assert_eq!(at("/w-web", "/-w-web/"), 0);
}

#[test]
fn the_folder_is_the_newest_one_with_the_name_of_the_transcripts_folder() {
    let moved = prompt(2, "y").to_string().replace("\"/w\"", "\"/other\"");
    let rows = lines(&[prompt(1, "x")]) + &moved + "\n";
    let session = one(&world().file(CLAUDE, &rows).folder("/other"));
    assert_eq!(session.folder.as_deref(), Some("/w".into()));
    let file = CLAUDE.replace("/-w/", "/-nowhere/");
    let session = one(&world().file(file, &rows).folder("/other"));
    assert_eq!(session.folder.as_deref(), Some("/other".into()));
}

/// The end of a long transcript says nothing of its folder, and only of the script that went on with it.
#[test]
fn the_beginning_of_a_long_transcript_decides_what_its_end_leaves_open() {
    let away = |minute: u32| {
        let mut row = prompt(minute, &"more ".repeat(2000));
        row["cwd"] = "/other".into();
        row["promptSource"] = "sdk".into();
        row["entrypoint"] = "sdk-cli".into();
        row
    };
    let rows = [prompt(1, "x"), away(2), away(3), away(4), away(5)];
    let session = one(&world().file(CLAUDE, lines(&rows)).folder("/other"));
    assert_eq!(session.folder.as_deref(), Some("/w".into()));
    assert!(!session.is_headless);
    let scripted = one(&world().file(CLAUDE, lines(&rows[1..])).folder("/other"));
    assert_eq!(scripted.folder.as_deref(), Some("/other".into()));
    assert!(scripted.is_headless);
}

/// Claude Code keeps its whole system prompt behind the model's last row.
#[test]
fn a_long_row_of_the_program_does_not_hide_how_a_turn_ended() {
    let long = json!({"type": "attachment", "attachment": {"systemPrompt": "x".repeat(60_000)}});
    let last = |row: Value| {
        let rows = [prompt(1, "x"), row, long.clone(), over(3)];
        shown(&one(&world().file(CLAUDE, lines(&rows))))
    };
    assert_eq!(last(says(2, "done", Some("end_turn"))), "finished none -");
    let mut stopped = prompt(2, "[Request interrupted by user]");
    stopped["promptSource"] = Value::Null;
    assert_eq!(last(stopped), "waiting_for_person stopped -");
}

#[test]
fn a_conversation_that_was_compacted_is_as_open_as_it_was_before() {
    let typed = |minute: u32, text: &str, mark: &str| {
        let mut row = prompt(minute, text);
        row[mark] = true.into();
        row
    };
    let mut boundary = over(4);
    boundary["subtype"] = "compact_boundary".into();
    let compacted = |before: Value| {
        let rows = [
            prompt(1, "x"),
            before,
            boundary.clone(),
            typed(5, "This session is being continued.", "isCompactSummary"),
            prompt(6, "<command-name>/compact</command-name>"),
            prompt(7, "<local-command-stdout>Compacted</local-command-stdout>"),
        ];
        shown(&one(&world().file(CLAUDE, lines(&rows))))
    };
    assert_eq!(
        compacted(says(2, "done", Some("end_turn"))),
        "finished none -"
    );
    assert_eq!(compacted(bash(2, "ls")), "interrupted tool Bash: ls");
}

#[test]
fn the_last_turn_of_codex_says_the_folder_even_if_it_is_long() {
    let context = |folder: &str| json!({"type": "turn_context", "payload": {"cwd": folder}});
    let long = json!({"type": "response_item", "payload": {"type": "message", "text": "x".repeat(40_000)}});
    let rows = [
        event("task_started"),
        context("/w/web"),
        long,
        event("task_complete"),
    ];
    let session = one(&world().file(CODEX, codex(&rows)).folder("/w/web"));
    assert_eq!(session.folder.as_deref(), Some("/w/web".into()));
}

#[test]
fn a_script_begins_a_session_until_a_person_types() {
    let scripted = |source: &str, entry: &str| {
        let mut row = prompt(1, "x");
        row["promptSource"] = source.into();
        row["entrypoint"] = entry.into();
        row
    };
    let is_headless = |rows: &[Value]| one(&world().file(CLAUDE, lines(rows))).is_headless;
    assert!(is_headless(&[scripted("sdk", "sdk-cli")]));
    assert!(!is_headless(&[scripted("typed", "cli")]));
    assert!(!is_headless(&[scripted("sdk", "sdk-cli"), prompt(2, "y")]));
    let exec = codex(&[event("task_started")]).replace("\"cli\"", "\"exec\"");
    assert!(one(&world().file(CODEX, exec)).is_headless);
}

#[test]
fn a_torn_end_is_a_warning_and_the_rows_before_it_decide() {
    let text = lines(&[prompt(1, "x"), bash(2, "ls")]) + "{\"type\":\"user\",\"mess";
    let session = one(&world().file(CLAUDE, text));
    assert_eq!(shown(&session), "interrupted tool Bash: ls");
    assert!(session.is_torn && session.is_safe());
    let found = Sessions.findings(&session);
    let codes: Vec<&str> = found.iter().map(|one| one.code.as_str()).collect();
    assert_eq!(codes, ["TRANSCRIPT_TORN"]);
    assert_eq!(found[0].severity(), Severity::Warning);
}

#[test]
fn what_cannot_be_read_is_said_and_what_is_empty_is_not_listed() {
    let unreadable = one(&world().file(CLAUDE, "\u{0}\u{1} nothing\n"));
    assert_eq!(shown(&unreadable), "unreadable none -");
    assert_eq!(unreadable.folder.as_deref(), Some("/w".into()));
    let reasons: Vec<&str> = unreadable.reasons.iter().map(|one| one.as_str()).collect();
    assert_eq!(reasons, ["unreadable"]);
    let silent = lines(&[json!({"type": "mode"})]);
    assert_eq!(all(&world().file(CLAUDE, silent)), []);
}

#[test]
fn a_session_that_was_silent_for_a_week_is_counted_and_not_listed() {
    let old = lines(&[prompt(1, "x")]).replace("2026-01-20", "2026-01-12");
    let found = SessionKeeper::survey(
        &Sessions,
        &world().file(CLAUDE, old),
        Scope::Everywhere,
        Reach::Recent,
    );
    assert!(found.sessions[0].is_stale && !found.sessions[0].is_listed());
    assert_eq!(found.counts.stale, 1);
    let world = world().file(CLAUDE, lines(&[prompt(1, "x")]));
    let world = world.written_at(CLAUDE, "2026-01-01T00:00:00Z".parse().unwrap());
    let found = SessionKeeper::survey(&Sessions, &world, Scope::Everywhere, Reach::Recent);
    assert_eq!((found.sessions.len(), found.counts.older), (0, 1));
}

#[test]
fn the_open_step_is_a_tool_or_a_question_and_nothing_else() {
    let step = |rows: &[Value]| {
        let world = world().file(CLAUDE, lines(rows));
        let session = one(&world);
        let rekindle_model::Fact::Object(facts) = crate::facts::facts(&session, &[]) else {
            panic!("facts are an object");
        };
        facts["open"].clone()
    };
    let open = |kind: &str, tool: Option<&str>, step: Option<&str>, calls: usize| {
        rekindle_model::Fact::object([
            ("kind", kind.into()),
            ("tool", tool.into()),
            ("step", step.into()),
            ("calls", calls.into()),
        ])
    };
    let mut failed = says(2, "API Error: 500", Some("stop_sequence"));
    failed["isApiErrorMessage"] = true.into();
    failed["error"] = "server_error".into();
    assert_eq!(
        step(&[prompt(1, "x"), failed]),
        open("error", None, None, 0)
    );
    let called = open("tool", Some("Bash"), Some("Bash: ls"), 1);
    assert_eq!(step(&[prompt(1, "x"), bash(2, "ls")]), called);
}
