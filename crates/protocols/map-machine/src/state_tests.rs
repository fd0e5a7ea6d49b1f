use rekindle_world::MemoryWorld;

use super::*;
use crate::layout::Branch;

const NOW: &str = "2026-11-15T20:00:00.000120Z";

fn with_file<T>(text: &[u8], look: impl FnOnce(Desk<'_>) -> T) -> T {
    let world =
        MemoryWorld::new("/p", NOW.parse().unwrap()).file(".map/main/step_state.json", text);
    let branch = Branch::of(Some("main"));
    look(Desk {
        world: &world,
        branch: &branch,
    })
}

fn read(text: &str) -> StateFile {
    with_file(text.as_bytes(), |desk| StateFile::read(desk).unwrap())
}

#[test]
fn a_fresh_state_has_all_keys_in_the_order_of_map() {
    let state = State::fresh("2026-11-15T20:00:00+00:00".to_owned());
    insta::assert_snapshot!(state.to_text());
}

#[test]
fn unknown_keys_are_kept_after_known_ones() {
    let file = read(
        r#"{"hook_injection": {"b": 1, "a": NaN}, "retry_count": 3, "zzz": 1e2, "workflow": null}"#,
    );
    let text = file.state.to_text();
    assert!(text.starts_with(
        "{\n  \"workflow\": null,\n  \"started_at\": \"2026-11-15T20:00:00.000120+00:00\""
    ));
    assert!(text.ends_with(
        "\"subtask_completion_reasons\": {},\n  \"hook_injection\": {\n    \"b\": 1,\n    \"a\": NaN\n  },\n  \"zzz\": 1e2\n}"
    ));
    let again = read(&text);
    assert_eq!(again.state.to_text(), text);
    assert_eq!(again.saved(), None);
}

#[test]
fn an_unparsable_file_is_never_overwritten() {
    for text in ["", "{\"a\": ", "\u{feff}{}", "{} x", "nonsense"] {
        let mut file = read(text);
        assert!(file.damage().is_some(), "{text:?}");
        file.state.set(key::RETRY_COUNT, 9_i64);
        assert_eq!(file.saved(), None, "{text:?}");
        assert_eq!(file.bytes(), Some(text.as_bytes()));
    }
    for bytes in [&b"[]"[..], b"\"x\"", b"{\"a\": \"\xff\"}"] {
        with_file(bytes, |desk| assert!(StateFile::read(desk).is_err()));
    }
}

#[test]
fn a_value_of_another_type_fails_only_where_it_is_needed() {
    let state =
        read(r#"{"subtask_index": "2", "pending_steps": null, "subtask_phases": null}"#).state;
    assert!(state.int(key::SUBTASK_INDEX).is_err());
    assert!(state.list(key::PENDING_STEPS).is_err());
    assert_eq!(state.list_or_nothing(key::PENDING_STEPS), Ok(&[][..]));
    assert!(state.map(key::SUBTASK_PHASES).is_err());
    assert_eq!(state.int(key::RETRY_COUNT), Ok(0));
    let state =
        read(r#"{"current_subtask_id": 3, "subtask_sequence": {}, "completed_steps": {"a": 1}}"#)
            .state;
    assert!(state.subtask_by_name().is_err());
    assert_eq!(state.list(key::SEQUENCE), Ok(&[][..]));
    assert!(state.list(key::COMPLETED_STEPS).is_err());
    assert_eq!(state.entries(key::COMPLETED_STEPS), Ok(vec![Some("a")]));
    assert!(state.has_entry(key::COMPLETED_STEPS, "a").unwrap());
}

#[test]
fn a_subtask_is_done_by_its_result_its_phase_or_the_cursor() {
    let state = read(
        r#"{"subtask_sequence": ["ST-1", "ST-2", "ST-3", "ST-4", "ST-5", "ST-6"], "subtask_index": 2,
            "subtask_phases": {"ST-2": "deferred_for_deps", "ST-4": "Complete", "ST-5": "2.3"},
            "subtask_results": {"ST-5": {"status": "invalid"}, "ST-6": {"status": "VALID"}, "ST-3": {}, "x": 1}}"#,
    )
    .state;
    let done: Vec<String> = state.done().unwrap().into_iter().collect();
    assert_eq!(done, ["ST-1", "ST-3", "ST-4", "ST-6"]);
    assert_eq!(state.is_complete(), Ok(false));
    assert_eq!(
        read(r#"{"current_step_phase": "COMPLETE"}"#)
            .state
            .is_complete(),
        Ok(true)
    );
    assert_eq!(read("{}").state.is_complete(), Ok(false));
}
