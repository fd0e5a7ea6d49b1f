//! Checkpoints as real sessions have them: gaps, doubles, wrong order, prose.

use super::super::scene_tests::session;
use super::lines::parse;
use super::*;

fn read(latest: &str, history: &str) -> Checkpoints {
    let session = Session::parse(session(latest, history).into_bytes()).unwrap();
    Checkpoints::read(&session)
}

fn ids(entries: &[&Entry]) -> String {
    let ids: Vec<&str> = entries.iter().map(|entry| entry.name()).collect();
    ids.join(" ")
}

#[test]
fn reads_checkpoint_lines_with_and_without_marks() {
    let table = [
        (
            "**CP-007** (2026-03-13 15:20): Task T003 complete",
            "CP-007",
            "2026-03-13T15:20:00",
            "Task T003 complete",
        ),
        (
            "1. **CP-062** (2026-03-13 15:20): x: y (z)",
            "CP-062",
            "2026-03-13T15:20:00",
            "x: y (z)",
        ),
        (
            "- **CP-001** (2025-10-10 14:30): text",
            "CP-001",
            "2025-10-10T14:30:00",
            "text",
        ),
        (
            "  2. CP-1000 (2025-10-10 09:05): text",
            "CP-1000",
            "2025-10-10T09:05:00",
            "text",
        ),
        (
            "**CP-003** (2025-10-10T14:30): text",
            "CP-003",
            "2025-10-10T14:30:00",
            "text",
        ),
        ("**CP-003** (2025-10-10): text", "CP-003", "-", "text"),
        ("**CP-003** (2025-10-10 9:05): text", "CP-003", "-", "text"),
        (
            "**CP-003** (2025-10-10 02:30 PM): text",
            "CP-003",
            "-",
            "text",
        ),
        (
            "**CP-003** (2025-10-10 14:30:59): text",
            "CP-003",
            "-",
            "text",
        ),
        (
            "**CP-003 (2025-10-10 14:30)**: text",
            "CP-003",
            "2025-10-10T14:30:00",
            "text",
        ),
        ("**CP-003** (2025-10-10 25:30): text", "CP-003", "-", "text"),
        ("**CP-003** ({DATE} {TIME}): text", "CP-003", "-", "text"),
        ("**CP-003** (2025-10-", "CP-003", "-", "(2025-10-"),
        ("**CP-00", "CP-???", "-", ""),
        (
            "**CP-XXX** (2025-10-10 14:30): text",
            "CP-???",
            "-",
            "XXX** (2025-10-10 14:30): text",
        ),
    ];
    for (line, id, at, description) in table {
        assert!(starts_like_one(line), "{line}");
        let entry = parse(line, 0);
        let found = entry.at.map_or_else(|| "-".to_owned(), |at| at.to_string());
        assert_eq!(
            (entry.name(), found.as_str(), entry.description.as_str()),
            (id, at, description),
            "{line}"
        );
    }
    for line in ["", "None", "(none yet)", "  - **Phase**: x", "see CP-001"] {
        assert!(!starts_like_one(line), "{line}");
    }
}

#[test]
fn reads_fields_in_any_order_with_lists() {
    let found = read(
        "**CP-019** (2026-01-02 10:00): Phase 2 complete\n  - **Status**: Phase 2 Complete (TDD Red Phase)\n  - **Artifacts**:\n    - backend/tests/a.py (12 tests)\n    - b.py\n  - **Phase**: implement\n  - **Next**: Phase 3\n  - **Dependencies**: None",
        "",
    );
    let latest = found.latest.unwrap();
    assert_eq!(
        latest.fields.artifacts,
        ["backend/tests/a.py (12 tests)", "b.py"]
    );
    assert!(latest.fields.missing().is_empty());
    assert!(latest.is_complete() && !latest.fields.is_empty());
}

#[test]
fn reads_next_below_its_field() {
    for (below, next, dependencies) in [
        (
            "  - **Next**:\n    - `/implement f T006`\n  - **Dependencies**:\n    - T004\n    - T005",
            "`/implement f T006`",
            "T004 T005",
        ),
        (
            "  - **Next**: go on with\n    `/implement f T006`\n  - **Dependencies**: None",
            "go on with `/implement f T006`",
            "None",
        ),
    ] {
        let block = format!("**CP-001** (2026-01-02 10:00): Plan\n{below}");
        let latest = read(&block, "").latest.unwrap();
        assert_eq!(latest.fields.next.as_deref(), Some(next));
        assert_eq!(latest.fields.dependencies.as_deref(), Some(dependencies));
    }
}

#[test]
fn reads_an_unsorted_history_in_file_order() {
    let history = "1. **CP-029** (2026-01-02 10:00): Phase 2 complete\n2. **CP-026** (2026-01-02 11:00): Task status audit complete\n2. **CP-020** (2026-01-01 21:15): Tasks T001-T004 complete\n2. **CP-021** (2026-01-01 20:32): Tasks breakdown complete\n3. **CP-002** (2026-01-01 20:00): Plan validated\n4. **CP-001** (2026-01-01 19:00): Something odd\n";
    let found = read(
        "**CP-047** (2026-01-03 10:00): Implementation complete",
        history,
    );
    assert_eq!(
        ids(&found.in_file_order()),
        "CP-029 CP-026 CP-020 CP-021 CP-002 CP-001"
    );
    assert_eq!(
        ids(&found.all()),
        "CP-047 CP-029 CP-026 CP-020 CP-021 CP-002 CP-001"
    );
    let phases: Vec<&str> = found
        .history
        .iter()
        .map(|entry| entry.phase.map_or("-", Phase::as_str))
        .collect();
    // The audit inherits the phase of the next older one; the oldest has nothing to inherit.
    assert_eq!(
        phases,
        ["implement", "implement", "implement", "tasks", "plan", "-"]
    );
    assert!(!found.history[5].is_valid());
    assert_eq!(found.next_number("- **CP-099** (x): y"), 100);
    assert_eq!(found.next_number(""), 48);
}

#[test]
fn the_latest_of_a_plain_list_is_its_newest() {
    let text = "# Session Memory\n\n### Recovery Checkpoints\n- **CP-001** (2026-01-01 10:00): Spec phase complete\n- **CP-002** (2026-01-02 10:00): Plan validated\n- **CP-003** (2026-01-02 10:00): Odd one\n\n## Next\n";
    let session = Session::parse(text.as_bytes().to_vec()).unwrap();
    let found = Checkpoints::read(&session);
    assert!(found.is_plain);
    let latest = found.latest.as_ref().unwrap();
    assert_eq!((latest.name(), latest.phase), ("CP-003", Some(Phase::Plan)));
    assert_eq!(ids(&found.in_file_order()), "CP-001 CP-002 CP-003");
    assert_eq!(ids(&found.all()), "CP-003 CP-002 CP-001");
}

#[test]
fn uses_the_newest_of_several_latest_checkpoints() {
    let latest = |blocks: &[&str]| {
        let texts = blocks
            .iter()
            .map(|block| format!("#### **Latest Checkpoint**\n\n{block}\n\n"));
        let text = texts.collect::<Vec<_>>().concat();
        let session = Session::parse(text.into_bytes()).unwrap();
        let latest = Checkpoints::read(&session).latest;
        latest.map_or_else(|| "-".to_owned(), |latest| latest.name().to_owned())
    };
    let template = "**CP-001** ({DATE} {TIME}): Session initialized";
    let old = "**CP-002** (2026-01-02 10:00): Plan validated";
    let new = "**CP-003** (2026-01-03 10:00): Plan validated";
    let same = "**CP-004** (2026-01-03 10:00): Plan validated";
    assert_eq!(latest(&[template, old]), "CP-002");
    assert_eq!(latest(&["None", old, template]), "CP-002");
    assert_eq!(latest(&[old, new]), "CP-003");
    assert_eq!(latest(&[new, old]), "CP-003");
    assert_eq!(latest(&[old, new, same]), "CP-003");
    assert_eq!(latest(&[template]), "CP-001");
    assert_eq!(latest(&["None"]), "-");
}

#[test]
fn a_torn_first_entry_is_the_latest_and_the_others_stay_available() {
    let whole = "**CP-007** (2026-01-03 10:00): Plan validated\n  - **Next**: x";
    let template = "**CP-001** ({DATE} {TIME}): Session initialized";
    let heading = "\n\n#### Latest Checkpoint\n\n";
    for (torn, id) in [
        ("**CP-008** (2026-01-0", "CP-008"),
        ("**CP-008**", "CP-008"),
        ("**CP-00", "CP-???"),
        ("**CP-008** (2026-13-40 10:00): Plan", "CP-008"),
    ] {
        let blocks = [
            format!("{torn}\n\n{whole}"),
            format!("{template}\n{torn}\n\n{whole}"),
            format!("{torn}{heading}{whole}"),
            format!("{whole}{heading}{torn}"),
        ];
        for block in blocks {
            let found = read(&block, "1. **CP-006** (2026-01-02 10:00): Plan");
            assert!(matches!(found.choose(None), Choice::Corrupt(_)), "{block}");
            assert_eq!(ids(&found.all()), format!("{id} CP-007 CP-006"), "{block}");
            let Choice::Found(entry) = found.choose(Some("CP-007")) else {
                panic!("{block}");
            };
            assert_eq!(entry.fields.next.as_deref(), Some("x"), "{block}");
        }
    }
    // It does not count below the latest, and a placeholder never does.
    for block in [
        format!("{whole}\n\n**CP-006** (2026-01-0"),
        format!("{template}\n\n{whole}"),
    ] {
        let found = read(&block, "");
        assert_eq!(ids(&found.all()), "CP-007", "{block}");
    }
}

#[test]
fn reads_list_items_of_any_form() {
    for item in [
        "    - a.md",
        "      * a.md (new)",
        "    + a.md",
        "    1. a.md",
        "    2) a.md",
        "    • a.md",
        "    - [x] a.md",
        "    - **a.md**: new",
        "    - **a.md** (new)",
        "    - **Docs**: a.md",
        "    - **Docs:** a.md",
        "    - ✅ a.md",
        "    a.md",
        "\n    - `a.md`",
        "  - a.md",
    ] {
        let block = format!(
            "**CP-001** (2026-01-02 10:00): Plan\n  - **Artifacts**:\n{item}\n  - **Dependencies**: None\n  - **Next**: x"
        );
        let latest = read(&block, "").latest.unwrap();
        let named = super::super::artifacts::named(&latest.fields.artifacts);
        let named: Vec<&str> = named.iter().map(|named| named.text.as_str()).collect();
        assert_eq!(named, ["a.md"], "{block}");
        assert_eq!(latest.fields.dependencies.as_deref(), Some("None"));
        assert_eq!(latest.fields.next.as_deref(), Some("x"));
    }
}

#[test]
fn sections_are_found_under_any_heading_and_never_in_code() {
    let text = "# S\n```md\n#### Latest Checkpoint\n**CP-009** (2026-01-02 10:00): Plan\n```\n## 📌 LATEST CHECKPOINT\n<!--\n**CP-008** (2026-01-02 10:00): Plan\n-->\n**CP-007** (2026-01-02 10:00): Plan validated\n";
    let session = Session::parse(text.as_bytes().to_vec()).unwrap();
    assert_eq!(Checkpoints::read(&session).latest.unwrap().name(), "CP-007");
}

#[test]
fn reads_the_status_from_field_or_description() {
    let of_status = |status: &str| {
        let found = read(
            &format!("**CP-001** (2026-01-02 10:00): Spec\n  - **Status**: {status}"),
            "",
        );
        found.latest.unwrap().is_complete()
    };
    for complete in [
        "Complete",
        "Complete - All 7 Phase 5 tasks finished",
        "Phase 3 Complete",
        "✅ complete",
    ] {
        assert!(of_status(complete), "{complete}");
    }
    for open in ["Started", "In Progress", "Incomplete", "Awaiting"] {
        assert!(!of_status(open), "{open}");
    }
    let of_description = |text: &str| {
        read(&format!("**CP-001** (2026-01-02 10:00): {text}"), "")
            .latest
            .unwrap()
            .is_complete()
    };
    assert!(of_description("Spec phase complete, validated"));
    assert!(of_description("Plan validated, ready for tasks"));
    assert!(!of_description(
        "Planning research complete, design starting"
    ));
    assert!(!of_description("Session initialized"));
    assert!(!of_description("Spec draft"));
}

#[test]
fn selects_a_checkpoint_by_any_spelling_of_its_id() {
    let found = read(
        "**CP-003** (2026-01-02 10:00): Plan",
        "1. **CP-003** (2026-01-02 10:00): Plan\n2. **CP-001** (2026-01-01 10:00): Spec",
    );
    for typed in ["CP-001", "cp-1", "1", " cp-001 "] {
        let Choice::Found(entry) = found.choose(Some(typed)) else {
            panic!("{typed}");
        };
        assert_eq!(entry.name(), "CP-001");
    }
    for typed in ["", "CP-", "CP-002", "x", "CP-0010"] {
        assert_eq!(found.choose(Some(typed)), Choice::Unknown, "{typed}");
    }
}

#[test]
fn reads_the_context_before_the_percent_sign() {
    let context = |text: &str| {
        let block = format!("**CP-001** (2026-01-02 10:00): Spec\n  - **Context**: {text}");
        read(&block, "").latest.unwrap().context()
    };
    assert_eq!(context("~53% utilization"), Some(53));
    assert_eq!(context("22% utilization"), Some(22));
    assert_eq!(context("~60.9% utilization"), Some(60));
    assert_eq!(context("72,5 % utilization"), Some(72));
    assert_eq!(context(".5% utilization"), None);
    assert_eq!(context("unknown"), None);
    assert_eq!(context("% utilization"), None);
    assert_eq!(context("99999999999% utilization"), None);
}
