use proptest::prelude::*;
use rekindle_world::{GitHeadName, MemoryWorld};

use super::*;

const STATE: &str = "/p/.map/main/step_state.json";
const STORAGE: &str = "/p/.git/map-repairs";
const OPERATION: &str = "repair-0123456789abcdef01234567";
const MARKED: &str = r#"{"current_step_id": "2.3", "active_interruption": {"operation_id": "repair-0123456789abcdef01234567", "contract_digest": "d"}}"#;
const UNMARKED: &str = r#"{"current_step_id": "2.3", "active_interruption": null}"#;
const OPEN: &str = r#"{"operation_id": "repair-0123456789abcdef01234567", "contract_digest": "d", "branch": "main", "root": "/p",
    "stage": "active", "private_checkout": "/p/.git/map-repairs/repair-0123456789abcdef01234567/checkout", "frame": {"x": [1]}}"#;

fn world() -> MemoryWorld {
    let head = GitHeadName {
        top_level: "/p".into(),
        git_dir: Some("/p/.git".into()),
        name: Some("main".to_owned()),
    };
    let now = "2026-01-20T12:00:00Z".parse().unwrap();
    MemoryWorld::new("/p", now).folder("/p/.git").git_says(
        "/p",
        GitQuestion::HeadName,
        GitAnswer::HeadName(head),
    )
}

fn journal(text: &str) -> (String, Vec<u8>) {
    (
        format!("{STORAGE}/{OPERATION}/journal.json"),
        text.as_bytes().to_vec(),
    )
}

fn read(world: &MemoryWorld) -> Interruption {
    let branch = Branch::of(Some("main"));
    let desk = Desk {
        world,
        branch: &branch,
    };
    Interruption::read(desk, StateFile::read(desk).as_ref().ok())
}

#[test]
fn marker_and_journal_that_agree_suspend_the_run() {
    let (path, bytes) = journal(OPEN);
    let world = world().file(STATE, MARKED).file(path, bytes);
    let interruption = read(&world);
    assert_eq!(
        interruption.status().to_line(),
        format!(
            r#"{{"status": "interrupted", "operation_id": "{OPERATION}", "stage": "active", "private_checkout": "{STORAGE}/{OPERATION}/checkout"}}"#
        )
    );
    let refusal = interruption.refusal().map(|refusal| refusal.to_line());
    assert_eq!(
        refusal.as_deref(),
        Some(format!(
            r#"{{"status": "error", "operation_id": "{OPERATION}", "stage": "active", "private_checkout": "{STORAGE}/{OPERATION}/checkout", "valid": false}}"#
        ).as_str())
    );
}

#[test]
fn a_journal_with_missing_values_is_not_a_contradiction() {
    let less = [
        format!(r#""operation_id": "{OPERATION}", "#),
        r#""contract_digest": "d", "#.to_owned(),
    ];
    for missing in less {
        let text = OPEN.replace(&missing, "");
        assert_ne!(text, OPEN);
        let (path, bytes) = journal(&text);
        let found = read(&world().file(STATE, MARKED).file(path, bytes));
        let Interruption::Open(repair) = found else {
            panic!("{found:?}");
        };
        assert_eq!(repair.operation, OPERATION);
    }
}

#[test]
fn every_contradiction_is_unclear_and_names_both_files() {
    let change = |from: &str, to: &str| OPEN.replace(from, to);
    let done = change("active\"", "done\"");
    let of_another = change("\"main\"", "\"other\"");
    let long = change("{\"x\": [1]}", &format!("\"{}\"", "A".repeat(5 << 20)));
    // The state, the journal, whether it is idle, and whether a repair is claimed to be open.
    for (state, text, is_idle, is_claimed) in [
        (Some(UNMARKED), None, true, false),
        (Some("{}"), Some(done.as_str()), true, false),
        (Some(UNMARKED), Some(of_another.as_str()), true, false),
        (None, None, true, false),
        // An unfinished repair.
        (Some(UNMARKED), Some(OPEN), false, true),
        (Some("{}"), Some(OPEN), false, true),
        (Some("{"), Some(OPEN), false, true),
        (Some("[]"), Some(OPEN), false, true),
        (None, Some(OPEN), false, true),
        (None, Some(done.as_str()), false, false),
        // The journal does not fit the marker.
        (Some(MARKED), None, false, true),
        (Some(MARKED), Some(of_another.as_str()), false, true),
        (Some(MARKED), Some(&change("\"d\"", "\"e\"")), false, true),
        (Some(MARKED), Some(&change("\"d\"", "1")), false, true),
        (Some(MARKED), Some(&change("\"/p\"", "\"/q\"")), false, true),
        (
            Some(MARKED),
            Some(&change("\"stage\"", "\"s\"")),
            false,
            true,
        ),
        (
            Some(MARKED),
            Some(&change("\"active\"", "[1]")),
            false,
            true,
        ),
        (
            Some(MARKED),
            Some(&change("\"private_checkout\"", "\"s\"")),
            false,
            true,
        ),
        // The journal cannot be read.
        (Some(MARKED), Some(""), false, true),
        (Some(MARKED), Some("[1]"), false, true),
        (Some(MARKED), Some(&OPEN[..60]), false, true),
        (Some(UNMARKED), Some("{\"branch\": "), false, false),
        (Some(UNMARKED), Some("\u{feff}{}"), false, false),
        // The marker is invalid.
        (
            Some(r#"{"active_interruption": true}"#),
            Some(OPEN),
            false,
            true,
        ),
        (
            Some(r#"{"active_interruption": {}}"#),
            Some(OPEN),
            false,
            true,
        ),
        (
            Some(r#"{"active_interruption": {"operation_id": 1}}"#),
            Some(OPEN),
            false,
            true,
        ),
        (
            Some(r#"{"active_interruption": {"operation_id": "../../x"}}"#),
            Some(OPEN),
            false,
            true,
        ),
        (Some(r#"{"active_interruption": {}}"#), None, false, true),
        (
            Some(UNMARKED),
            Some(long.replace("active\"", "done\"").as_str()),
            true,
            false,
        ),
        (Some(UNMARKED), Some(long.as_str()), false, true),
    ] {
        check(state, text, is_idle, is_claimed);
    }
}

fn check(state: Option<&str>, text: Option<&str>, is_idle: bool, is_claimed: bool) {
    let mut world = world();
    if let Some(state) = state {
        world = world.file(STATE, state);
    }
    if let Some(text) = text {
        let (path, bytes) = journal(text);
        world = world.file(path, bytes);
    }
    let text = text.map(|text| &text[..text.len().min(300)]);
    match read(&world) {
        Interruption::Idle => assert!(is_idle, "{state:?} {text:?}"),
        Interruption::Open(repair) => panic!("{state:?} {text:?}: {repair:?}"),
        Interruption::Unclear(found) => {
            assert!(!is_idle, "{state:?} {text:?}: {found:?}");
            assert_eq!(
                found.is_claimed, is_claimed,
                "{state:?} {text:?}: {found:?}"
            );
            for named in [".map/main/step_state.json", "map-repairs"] {
                assert!(
                    found.reason.contains(named),
                    "{state:?} {text:?}: {found:?}"
                );
            }
        }
    }
}

#[test]
fn a_folder_of_repairs_with_other_files_is_unclear() {
    let marked = || world().file(STATE, UNMARKED);
    for world in [
        marked().file(format!("{STORAGE}/notes.txt"), ""),
        marked().folder(format!("{STORAGE}/{OPERATION}")),
        marked().folder(format!("{STORAGE}/{OPERATION}/journal.json")),
        marked().link(STORAGE, "/elsewhere"),
        marked().link(format!("{STORAGE}/{OPERATION}"), "/elsewhere"),
        marked().link(format!("{STORAGE}/{OPERATION}/journal.json"), "/elsewhere"),
        marked().file(STORAGE, ""),
        world().folder(STORAGE),
    ] {
        assert!(matches!(read(&world), Interruption::Unclear(_)));
    }
    assert_eq!(read(&marked().folder(STORAGE)), Interruption::Idle);
}

#[test]
fn without_a_repository_only_a_marker_is_unclear() {
    let now = "2026-01-20T12:00:00Z".parse().unwrap();
    let world =
        |state: &str| MemoryWorld::new("/p", now).file("/p/.map/main/step_state.json", state);
    assert_eq!(read(&world(UNMARKED)), Interruption::Idle);
    assert!(matches!(read(&world(MARKED)), Interruption::Unclear(_)));
}

proptest! {
    #[test]
    fn a_damaged_journal_never_lets_a_marked_run_continue(at in 0..OPEN.len(), byte: u8, is_cut: bool) {
        let mut bytes = OPEN.as_bytes().to_vec();
        bytes[at] = byte;
        bytes.truncate(if is_cut { at } else { bytes.len() });
        let path = format!("{STORAGE}/{OPERATION}/journal.json");
        let world = world().file(STATE, MARKED).file(path, bytes);
        prop_assert!(read(&world).refusal().is_some());
    }
}
