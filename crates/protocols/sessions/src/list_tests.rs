//! Which sessions are listed, and how they are found.

use rekindle_model::Severity;
use rekindle_protocol::sessions::{Reach, Scope, SessionKeeper};
use rekindle_world::Owner;
use serde_json::{Value, json};

use crate::Sessions;
use crate::scene_tests::{
    CLAUDE, CODEX, ID, all, bash, codex, event, lines, one, prompt, result, says, shown, world,
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
