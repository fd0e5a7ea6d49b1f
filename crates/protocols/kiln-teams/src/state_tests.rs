//! Files of kiln's template, files edited by people, and properties of edits.

use proptest::prelude::*;

use super::*;

const HEAD: &str = "# Project State\n\n- **Project:** ledger-api\n\n## Phase Progress\n\n<!-- Example row:\n| 1 | Auth | complete |\n- **Phase:** 9 — Hidden\n-->\n\n| Phase | Title | Status |\n| --- | --- | --- |\n| 1 | Ledger core | in-progress |\n\n## Current Track\n\n- **Phase:** 1 — Ledger core\n- **Current Step:** execute\n  <!-- one of: plan | validate | execute -->\n- **Step Status:** in-progress\n\n## Correction Cycles\n\n- **E2E correction cycles (current track):** 0 / 3\n  <!-- Resets to 0 -->\n";
const LEDGER: &str = "\n### Task Retry Ledger\n\n| Plan Task ID | Wave | Retries | Last Attempt | Last Status | Next Action |\n| ------------ | ---- | ------- | ------------ | ----------- | ----------- |\n| P1-T01 | 1 | 1 | 2026-02-16T14:00:00Z | failed | Retry |\n";
const TAIL: &str = "\n## Orchestration Session\n\n- **Team Name:** `kiln-exec-phase-1`\n- **Active Task IDs:**\n  <!-- list -->\n  - phase-1:exec:wave-1:task-1\n  - `phase-1:exec:wave-1:task-2`\n- **Paused:** false\n- **Pause Reason:** \n- **Last Activity:** 2026-02-16T14:05:00Z\n";

fn real() -> String {
    [HEAD, LEDGER, TAIL].concat()
}

fn state(text: impl AsRef<[u8]>) -> StateFile {
    StateFile::parse(text.as_ref().to_vec())
}

fn text(state: &StateFile) -> &str {
    std::str::from_utf8(state.bytes()).unwrap()
}

fn new_row(plan_task: &str, retries: u32) -> NewRow<'static> {
    NewRow {
        plan_task: plan_task.to_owned(),
        wave: 1,
        retries,
        last_attempt: "2026-02-16T15:00:00Z".to_owned(),
        last_status: "dead",
        next_action: "retry",
    }
}

#[test]
fn a_real_file_is_read() {
    let state = state(real());
    assert_eq!(
        (state.phase(), state.phase_title()),
        (Some(1), Some("Ledger core"))
    );
    assert_eq!(state.step().as_deref(), Some("execute"));
    assert_eq!(state.step_status().as_deref(), Some("in-progress"));
    assert!(!state.is_corrupt() && !state.is_paused());
    assert_eq!(
        (state.team(), state.pause_reason()),
        (Some("kiln-exec-phase-1"), None)
    );
    assert_eq!(
        state.active_tasks(),
        ["phase-1:exec:wave-1:task-1", "phase-1:exec:wave-1:task-2"]
    );
    assert_eq!(state.last_activity(), parse_instant("2026-02-16T14:05:00Z"));
    assert_eq!(
        state.ledger(),
        [LedgerRow {
            plan_task: "P1-T01".to_owned(),
            wave: "1".to_owned(),
            retries: 1,
            is_readable: true,
            last_attempt: parse_instant("2026-02-16T14:00:00Z"),
            last_status: "failed".to_owned(),
            next_action: "retry".to_owned(),
            line: 32,
        }]
    );
}

#[test]
fn fields_are_read_in_many_spellings() {
    for (page, expected) in [
        ("- **Paused:** true", Some("true")),
        ("  -   ** Paused : **   true  \r\n", Some("true")),
        ("* **Paused**: true", Some("true")),
        ("\u{feff}- **Paused:**true", Some("true")),
        ("- **Paused:** true <!-- by hand -->", Some("true")),
        ("- **Paused:** a <!-- b", Some("a <!-- b")),
        ("- **Paused:**\n- **Paused:** true", None),
        ("- **Paused:** one\n- **Paused:** two", Some("one")),
        (
            "<!--\n- **Paused:** no\n-->\n- **Paused:** true",
            Some("true"),
        ),
        ("<!-- x --> \n- **Paused:** true", Some("true")),
        ("<!-- never closed\n- **Paused:** true", Some("true")),
        ("**Paused:** true", None),
        ("- Paused: true", None),
        ("-**Paused:** true", None),
        ("- **paused:** true", None),
    ] {
        assert_eq!(state(page).field("Paused"), expected, "{page}");
    }
}

#[test]
fn the_phase_is_a_number_and_perhaps_a_title() {
    for (value, number, title) in [
        ("1 — Ledger core", Some(1), Some("Ledger core")),
        ("12 - A", Some(12), Some("A")),
        ("3: B — C", Some(3), Some("B — C")),
        ("**2** – D", Some(2), Some("D")),
        ("4", Some(4), None),
        ("none", None, Some("none")),
        ("99999999999 — x", None, Some("x")),
        ("", None, None),
    ] {
        let state = state(format!("- **Phase:** {value}\n"));
        assert_eq!(
            (state.phase(), state.phase_title()),
            (number, title),
            "{value}"
        );
    }
}

#[test]
fn a_file_without_phase_step_or_status_is_corrupt() {
    for (page, is_corrupt) in [
        (real(), false),
        (real().replace("- **Current Step:** execute\n", ""), true),
        (real().replace("** in-progress", "** "), true),
        (real().replace("** in-progress", "** **"), true),
        (real().replace("**Phase:** 1", "**Phase:** one"), true),
        (real() + "\0", true),
        (String::new(), true),
    ] {
        assert_eq!(state(&page).is_corrupt(), is_corrupt, "{page}");
    }
    assert!(!state([real().as_bytes(), b"\xff\xfe notes"].concat()).is_corrupt());
}

#[test]
fn a_pause_has_a_reason_and_words_may_be_emphasized() {
    let paused = state(
        "- **Paused:** **True**\n- **Pause Reason:** lunch — back at 2\n- **Step Status:** **FAILED**\n",
    );
    assert!(paused.is_paused());
    assert_eq!(paused.pause_reason(), Some("lunch — back at 2"));
    assert_eq!(paused.step_status().as_deref(), Some("failed"));
    for none in ["none", "—", "`null`", ""] {
        assert_eq!(state(format!("- **Team Name:** {none}\n")).team(), None);
    }
}

#[test]
fn active_tasks_are_on_the_line_or_below_it() {
    for (page, expected) in [
        ("- **Active Task IDs:** a:1, `b:2`\n- **X:** y", "a:1 b:2"),
        ("- **Active Task IDs:** [\"a:1\", \"b:2\"]", "a:1 b:2"),
        ("- **Active Task IDs:** none\n  - **X:** y", ""),
        ("- **Active Task IDs:**\n\n\t* a\n  - b\n- c", "a b"),
        ("- **Active Task IDs:**\n## H\n  - a", ""),
        ("", ""),
    ] {
        assert_eq!(state(page).active_tasks().join(" "), expected, "{page}");
    }
}

/// Writes rows as `task/wave/retries/status/action/line`.
fn ledger(table: &str) -> String {
    let rows = state(table)
        .ledger()
        .iter()
        .map(|row| {
            let unreadable = if row.is_readable { "" } else { "?" };
            let LedgerRow {
                plan_task,
                wave,
                retries,
                last_status,
                next_action,
                line,
                ..
            } = row;
            format!("{plan_task}/{wave}/{retries}{unreadable}/{last_status}/{next_action}/{line}")
        })
        .collect::<Vec<_>>();
    rows.join(" ")
}

#[test]
fn the_ledger_is_read_by_the_names_of_its_columns() {
    for (table, expected) in [
        (
            "| Retries | Note | **Plan Task ID** |\n|---|---|---|\n| 2 | x | `P1-T01` |",
            "P1-T01//2///3",
        ),
        (
            "  |Plan  task id|retries|wave|next action|last status|\n|:--|--:|-|-|-|\n|**P1-T01**|1 / 2|wave-1|HALT|a \\| b|\n",
            "P1-T01/wave-1/1/a | b/halt/3",
        ),
        (
            "| Plan Task ID | Retries |\n|---|---|\n| P1 | 1 |\n<!-- c\n| P2 | 2 |\n-->\n\n| P3 | x\n| P4 |\n",
            "P1//1///3 P3//0?///8 P4//0///9",
        ),
        (
            "| Plan Task ID | Retries |\n|---|---|\n| P1 | 1 |\n| P2 | 1 |\n| P1 | 2 |\n",
            "P2//1///4 P1//2///5",
        ),
        (
            "| Plan Task ID | Retries |\n|---|---|\n| — | |\n| | 4 |\n| P1 | two |\n| P2 | - |\n",
            "P1//0?///5 P2//0///6",
        ),
        (
            "| Plan Task ID | Retries |\n|---|---|\n| P1 | 1 |\n\n| Other | Table |\n|---|---|\n| P2 | 2 |\n",
            "P1//1///3",
        ),
        (
            "| Plan Task ID | Retries |\n|---|---|\ntext\n| P1 | 1 |\n",
            "",
        ),
        ("| Plan Task ID | Wave |\n|---|---|\n| P1 | 1 |\n", ""),
        (
            "<!--\n| Plan Task ID | Retries |\n|---|---|\n| P1 | 1 |\n-->\n",
            "",
        ),
    ] {
        assert_eq!(ledger(table), expected, "{table}");
    }
    let latin = state(b"| Plan Task ID | Note | Retries |\n|---|---|---|\n| P1 | caf\xe9 | 2 |\n");
    assert_eq!(latin.ledger()[0].retries, 2);
}

#[test]
fn a_field_changes_only_in_its_value() {
    for (page, expected) in [
        (
            "a\r\n  -  **X:**   old  \r\nb",
            "a\r\n  -  **X:**   new  \r\nb",
        ),
        ("- **X:**\n", "- **X:** new\n"),
        ("- **X:** \n", "- **X:** new\n"),
        ("- **X:**", "- **X:** new"),
        ("- **X:** <!-- c -->\n", "- **X:** new <!-- c -->\n"),
        ("- **X:** old <!-- c -->\n", "- **X:** new <!-- c -->\n"),
        ("- **X**:old\n", "- **X**:new\n"),
        (
            "\u{feff}- **X:** old\n- **X:** old\n",
            "\u{feff}- **X:** new\n- **X:** old\n",
        ),
    ] {
        assert_eq!(
            text(&state(page).with_field("X", "new").unwrap()),
            expected,
            "{page}"
        );
    }
    assert_eq!(state("- **Y:** 1").with_field("X", "new"), None);
    assert_eq!(
        text(&state("- **X:** old\n").with_field("X", " a\r\nb ").unwrap()),
        "- **X:** a  b\n"
    );
}

#[test]
fn a_task_without_a_row_gets_one_below_the_last() {
    let new = "| P1-T02 | 1 | 1 | 2026-02-16T15:00:00Z | dead | retry |\n";
    let added = state(real()).with_retry(&new_row("P1-T02", 1));
    assert_eq!(text(&added), [HEAD, LEDGER, new, TAIL].concat());
    assert_eq!(added.ledger().len(), 2);
    for (table, expected) in [
        (
            "| Note | Retries | Plan Task ID |\r\n|---|---|---|",
            "| Note | Retries | Plan Task ID |\r\n|---|---|---|\r\n|  | 1 | P1-T02 |",
        ),
        (
            "  | Plan Task ID | Retries |\n  |---|---|\n<!-- rows -->\n\nx",
            "  | Plan Task ID | Retries |\n  |---|---|\n  | P1-T02 | 1 |\n<!-- rows -->\n\nx",
        ),
    ] {
        assert_eq!(
            text(&state(table).with_retry(&new_row("P1-T02", 1))),
            expected
        );
    }
}

#[test]
fn an_existing_row_changes_only_in_its_known_cells() {
    for (row, expected) in [
        (
            "| P1 | 1 | mine | 1 | failed |",
            "| P1 | 1 | mine | 2 | dead |",
        ),
        (
            "| **P1**  |  wave-1|x|  |`dead`|  ",
            "| **P1**  |  wave-1|x| 2 |`dead`|  ",
        ),
        (
            "| P1 | 3 | a \\| b | x | failed",
            "| P1 | 1 | a \\| b | 2 | dead",
        ),
        ("| P1 | 1 |", "| P1 | 1 |  | 2 | dead |"),
        ("| P1 | 1", "| P1 | 1 |  | 2 | dead |"),
    ] {
        let head = "| Plan Task ID | Wave | Mine | Retries | Last Status |\n|---|---|---|---|---|\n| P1 | 9 | first | 0 | x |\n";
        let page = state(format!("{head}{row}\n| P2 | 1 | y | 1 | z |\n"));
        let expected = format!("{head}{expected}\n| P2 | 1 | y | 1 | z |\n");
        let new = page.with_retry(&new_row("P1", 2));
        assert_eq!(text(&new), expected);
        assert_eq!(new.ledger()[0].retries, 2);
        assert_eq!(new.with_retry(&new_row("P1", 2)), new);
    }
}

#[test]
fn a_missing_ledger_is_created_in_its_section() {
    let row = "| P1-T02 | 1 | 1 | 2026-02-16T15:00:00Z | dead | retry |\n";
    let (without_row, _) = LEDGER.split_at(LEDGER.find("| P1-T01").unwrap());
    let made = state([HEAD, TAIL].concat()).with_retry(&new_row("P1-T02", 1));
    assert_eq!(text(&made), [HEAD, without_row, row, TAIL].concat());
    let made = state(real().replace(LEDGER, "\n### Task retry ledger\n"))
        .with_retry(&new_row("P1-T02", 1));
    assert_eq!(
        text(&made),
        [
            HEAD,
            &without_row.replace("Retry Ledger", "retry ledger"),
            row,
            TAIL
        ]
        .concat()
    );
    let made = state("# A\n## Correction Cycles\n## B\n").with_retry(&new_row("P1-T02", 1));
    assert_eq!(
        text(&made),
        ["# A\n## Correction Cycles\n", without_row, row, "\n## B\n"].concat()
    );
    let made = state("# A").with_retry(&new_row("P1-T02", 1));
    assert_eq!(text(&made), ["# A\n", without_row, row.trim_end()].concat());
    let made = state("").with_retry(&new_row("P1-T02", 1));
    assert_eq!(text(&made), [without_row.trim_start(), row].concat());
    let made = state("# A\r\n\r\n").with_retry(&new_row("P1-T02", 1));
    assert_eq!(
        text(&made),
        ["# A\n", without_row, row, "\n"]
            .concat()
            .replace('\n', "\r\n")
    );
}

#[test]
fn the_text_of_a_cell_cannot_break_the_table() {
    let odd = NewRow {
        last_status: "a | b\nc",
        ..new_row("P1-T02", 1)
    };
    let row = state(real()).with_retry(&odd).ledger()[1].clone();
    assert_eq!(
        (row.last_status.as_str(), row.next_action.as_str()),
        ("a | b c", "retry")
    );
}

/// Pages of lines that matter and lines that do not, some of them not even text.
fn pages() -> impl Strategy<Value = Vec<u8>> {
    let line = prop_oneof![
        proptest::collection::vec(any::<u8>(), 0..12),
        proptest::sample::select(vec![
            "- **Phase:** 1 — T",
            "- **Paused:**",
            "- **Paused:** x",
            "## Correction Cycles",
            "## Other",
            "### Task Retry Ledger",
            "| Plan Task ID | Mine | Retries | Wave |",
            "|---|---|---|---|",
            "| P1 | m | 1 | 1 |",
            "| P2 |",
            "<!--",
            "-->",
            "  - item",
            "",
        ])
        .prop_map(|line| line.as_bytes().to_vec()),
    ];
    (
        proptest::collection::vec(line, 0..14),
        any::<bool>(),
        any::<bool>(),
        any::<bool>(),
    )
        .prop_map(|(lines, is_crlf, has_bom, is_ended)| {
            let eol: &[u8] = if is_crlf { b"\r\n" } else { b"\n" };
            let mut page = if has_bom {
                b"\xEF\xBB\xBF".to_vec()
            } else {
                Vec::new()
            };
            page.extend(lines.join(eol));
            page.extend(if is_ended { eol } else { b"" });
            page
        })
}

/// Returns whether one text results from the other by only adding bytes.
fn is_within(small: &[u8], large: &[u8]) -> bool {
    let mut rest = large.iter();
    small.iter().all(|byte| rest.any(|other| other == byte))
}

proptest! {
    #[test]
    fn no_bytes_make_a_panic(page in pages(), bytes: Vec<u8>) {
        for bytes in [page, bytes] {
            let state = state(&bytes);
            prop_assert_eq!(state.bytes(), bytes);
            drop((state.is_corrupt(), state.phase_title(), state.active_tasks(), state.team(), state.last_activity()));
        }
    }

    #[test]
    fn a_field_that_was_set_is_read_and_nothing_else_changed(page in pages(), value in "[a-z|`é—]{1,3}( [a-z]{1,3})?") {
        let old = state(&page);
        if let Some(new) = old.with_field("Paused", &value) {
            prop_assert_eq!(new.field("Paused"), Some(value.as_str()));
            prop_assert_eq!(new.ledger(), old.ledger());
            if let Some(before) = old.field("Paused") {
                prop_assert_eq!(new.with_field("Paused", before).unwrap(), old);
            } else {
                prop_assert!(new.bytes().len() <= page.len() + value.len() + 2);
            }
        }
    }

    #[test]
    fn a_row_that_was_set_is_read_and_the_others_stay(page in pages(), task in "P[1-4]", retries in 0_u32..4) {
        let old = state(&page);
        let new = old.with_retry(&new_row(&task, retries));
        let row = new.ledger().iter().find(|row| row.plan_task == task);
        prop_assert_eq!(row.map(|row| row.retries), Some(retries));
        let others = |state: &StateFile| -> Vec<(String, u32)> {
            state.ledger().iter().filter(|row| row.plan_task != task).map(|row| (row.plan_task.clone(), row.retries)).collect()
        };
        prop_assert_eq!(others(&new), others(&old));
        prop_assert_eq!(&new.with_retry(&new_row(&task, retries)), &new);
        if !old.ledger().iter().any(|row| row.plan_task == task) {
            prop_assert!(is_within(&page, new.bytes()));
        }
        let text = page.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&page);
        let is_bare = text.trim_ascii().is_empty();
        prop_assert!(is_bare || new.bytes().ends_with(b"\n") == page.ends_with(b"\n"));
    }
}
