//! Plans with and without ids, and the lines below a task.

use super::super::task::Fields;
use super::*;

/// Shows title and tasks of a text.
fn shown(text: &str) -> String {
    let file = read_text(text);
    let tasks = file.tasks.iter().map(|task| {
        let Fields { files, checks, .. } = &task.fields;
        let done = if task.claim == Claim::Done {
            " done"
        } else {
            ""
        };
        format!(
            "{}: {} '{}' needs {:?} files {files:?} checks {checks:?} {:?}{done}",
            task.line, task.id, task.title, task.names, task.details
        )
    });
    let tasks: Vec<String> = tasks.collect();
    format!("{}\n{}", file.heading.unwrap_or_default(), tasks.join("\n"))
}

/// Returns the lines on which something was noticed.
fn noticed(text: &str, code: Notice) -> Vec<(u64, String)> {
    let noticed = read_text(text).noticed.into_iter();
    let found = noticed.filter(|noticed| noticed.code == code);
    found.map(|noticed| (noticed.line, noticed.about)).collect()
}

#[test]
fn checkboxes_are_numbered_and_nested_ones_belong_to_them() {
    insta::assert_snapshot!(shown("# Shop\n\nWhy.\n\n- [ ] Add login page\n  - [ ] with a form\n  - Verify: `make test`\n- [x] Choose a framework\n## Later\nprose\n* [ ] Add logout (depends: 1)\n```\n- [ ] code\n```\n<!--\n- [ ] comment\n-->\n"), @r#"
    Shop
    5: 1 'Add login page' needs [] files [] checks ["make test"] "- [ ] with a form"
    8: 2 'Choose a framework' needs [] files [] checks [] "" done
    11: 3 'Add logout' needs ["1"] files [] checks [] "```\n- [ ] code\n```\n<!--\n- [ ] comment\n-->"
    "#);
}

#[test]
fn numbered_items_are_tasks_where_there_are_no_checkboxes() {
    insta::assert_snapshot!(shown("1. Do one thing\n   - a part of it\n1. Do another\n   Depends on: 1\n"), @r#"

    1: 1 'Do one thing' needs [] files [] checks [] "- a part of it"
    3: 2 'Do another' needs ["1"] files [] checks [] ""
    "#);
}

#[test]
fn named_headings_keep_their_numbers_and_come_before_lists() {
    insta::assert_snapshot!(shown("# Plan\n## Task 1: Add login\n- [ ] a step\n### Notes\nmore\n## Step 3 - Add logout\nDepends on: Task 1\n## Done when\n- [ ] it works\n"), @r#"
    Plan
    2: 1 'Add login' needs [] files [] checks [] "- [ ] a step\n### Notes\nmore"
    6: 3 'Add logout' needs ["1"] files [] checks [] ""
    "#);
    insta::assert_snapshot!(shown("## 1. Setup\n- [ ] 1.1 Make it\n- [ ] 1.2 Use it (needs: 1.1)\n"), @r#"

    2: 1.1 'Make it' needs [] files [] checks [] ""
    3: 1.2 'Use it' needs ["1.1"] files [] checks [] ""
    "#);
}

#[test]
fn prose_and_plain_bullets_are_not_tasks() {
    for text in [
        "",
        "# Title\n\nprose\n",
        "- a\n- b\n",
        "- [P] legend\n- [ ]\n",
        "## Task\n",
    ] {
        assert!(read_text(text).tasks.is_empty(), "{text}");
    }
}

#[test]
fn headings_and_checkboxes_become_tasks_with_their_fields() {
    insta::assert_snapshot!(shown("# Orders\n\nprose\n\n## T001: Add it\nDepends on: none\n**Files:** `a.rs`, b.rs\nVerify: `cargo test`\n\nDo it well.\n\n### Task T002 - Second\n- depends on: T001\n\n- [ ] **T003** Third\n  - needs: T001, T002\n- [x] T004 Old\n- [P] legend\n## Notes\nnot a task\n"), @r#"
    Orders
    5: T001 'Add it' needs [] files ["a.rs", "b.rs"] checks ["cargo test"] "Do it well."
    12: T002 'Second' needs ["T001"] files [] checks [] ""
    15: T003 'Third' needs ["T001", "T002"] files [] checks [] ""
    17: T004 'Old' needs [] files [] checks [] "- [P] legend" done
    "#);
}

#[test]
fn reads_numbered_checkboxes_and_dependencies_in_titles() {
    insta::assert_snapshot!(shown("1. [ ] T001 First (quick)\n2) [x] T002 Second\n+ [ ] T003 Third (Depends on: T001, `T002`) now\n10. [ ] T004 Last (needs: none)\n1. T005 no checkbox\n"), @r#"

    1: T001 'First (quick)' needs [] files [] checks [] ""
    2: T002 'Second' needs [] files [] checks [] "" done
    3: T003 'Third now' needs ["T001", "T002"] files [] checks [] ""
    4: T004 'Last' needs [] files [] checks [] "1. T005 no checkbox"
    "#);
}

#[test]
fn reports_open_checkboxes_without_an_id() {
    for (text, lines) in [
        (
            "- [ ] T1 a\n- [ ] b\n  - [ ] part of b\n1. [ ] c\n",
            &[2, 4][..],
        ),
        ("## Done when\n- [ ] it works\n## T1: a\n", &[2]),
        ("## T1: a\n- [ ] its own list\n# Next\n- [ ] other\n", &[4]),
        (
            "- [x] old\n- [ ]\n- [P] legend\n- [link](x)\n- [ ] T1 a\n",
            &[],
        ),
        ("```\n- [ ] code\n```\n- [ ] T1 a\n", &[]),
    ] {
        let found = noticed(text, Notice::NoId);
        let found: Vec<u64> = found.into_iter().map(|(line, _)| line).collect();
        assert_eq!(found, lines, "{text}");
    }
}

#[test]
fn a_misspelt_key_is_reported_with_the_one_that_was_meant() {
    for (line, meant) in [
        ("Verfy: `make`", Some("verify")),
        ("- verifiy: `make`", Some("verify")),
        ("**Dependson:** T0", Some("depends on")),
        ("Depnds: T0", Some("depends")),
        ("Flies: a.rs", Some("files")),
        ("Verify: `make`", None),
        ("Acceptance:", None),
        ("Note: it is small", None),
        ("Example: a", None),
        ("Vary: Accept", None),
        ("see https://example.org", None),
    ] {
        let of = |text: &str| noticed(text, Notice::MisspeltKey);
        let found = of(&format!("## T1: a\n{line}\n"));
        assert_eq!(found.len(), usize::from(meant.is_some()), "{line}");
        let is_meant = |(at, about): &(u64, String)| {
            *at == 2 && about.ends_with(&format!("did you mean `{}`?", meant.unwrap_or_default()))
        };
        assert!(found.iter().all(is_meant), "{line}: {found:?}");
        let plain = of(&format!("- [ ] a\n  {line}\n"));
        assert_eq!(plain, found, "{line}");
    }
    assert_eq!(
        noticed("## T1: a\n```\nVerfy: x\n```\n", Notice::MisspeltKey),
        []
    );
}

#[test]
fn a_task_may_be_allowed_to_change_nothing() {
    for (line, expected) in [
        ("Allow-Empty: yes", true),
        ("- **allow empty**: `true`", true),
        ("Allow-Empty: no", false),
        ("Verify: `make`", false),
    ] {
        let of = |text: &str| read_text(text).tasks[0].fields.may_be_empty;
        assert_eq!(of(&format!("## T1: a\n{line}\n")), expected, "{line}");
        assert_eq!(of(&format!("- [ ] a\n  {line}\n")), expected, "{line}");
    }
    let misspelt = noticed("## T1: a\nAllow-Emtpy: yes\n", Notice::MisspeltKey);
    assert!(misspelt[0].1.contains("`allow-empty`"), "{misspelt:?}");
}

#[test]
fn ignores_tasks_in_code_blocks() {
    assert!(
        read_text("```\n## T001: no\n```\n- text\n")
            .tasks
            .is_empty()
    );
}

#[test]
fn a_box_is_a_step_only_below_another_box() {
    insta::assert_snapshot!(shown("---\ntitle: x\n- [ ] no\n---\n- Auth\n  - [ ] login\n    - [ ] its form\n- [ ] docs\n\n- more\n  - [ ] tests\n"), @r#"

    6: 1 'login' needs [] files [] checks [] "- [ ] its form"
    8: 2 'docs' needs [] files [] checks [] "- more"
    11: 3 'tests' needs [] files [] checks [] ""
    "#);
}

#[test]
fn marks_ids_and_ends_that_are_odd_are_noticed() {
    for (text, code, expected) in [
        ("- [!] T1 a\n", Notice::UnknownMark, (1, "!")),
        ("- [ ] a\n- [ \\ b\n", Notice::NearlyABox, (2, "")),
        ("- [ ] T1 a\n- [ ] T1 b\n", Notice::DuplicateId, (2, "T1")),
        ("- [ ] a\n- [ ]\n", Notice::NoText, (2, "")),
        ("- [ ] a\n- [", Notice::TornLine, (2, "")),
        ("- [ ] a\n```\n- [ ] b\n", Notice::UnclosedBlock, (2, "")),
    ] {
        let (line, about) = expected;
        assert_eq!(noticed(text, code), [(line, about.to_owned())], "{text}");
    }
    assert_eq!(read_text("- [ ] a\n```\n- [ ] b\n").tasks.len(), 2);
}

#[test]
fn words_with_a_digit_are_ids_only_where_enough_tasks_have_one() {
    let ids = |text: &str| {
        let tasks = read_text(text).tasks.into_iter();
        tasks.map(|task| task.id).collect::<Vec<_>>().join(" ")
    };
    for (text, expected) in [
        ("- [ ] T001 a\n- [ ] b\n- [ ] c\n- [ ] d\n", "T001"),
        (
            "- [ ] K8s manifests\n- [ ] b\n- [ ] c\n- [x] d\n- [ ] e\n",
            "1 2 3 4 5",
        ),
        (
            "## E2E tests\n\n- [ ] a\n- [ ] b\n- [ ] c\n- [ ] d\n",
            "1 2 3 4",
        ),
        ("## v1 Needs\n\n- [ ] R-1 a\n- [ ] R-2 b\n", "R-1 R-2"),
        ("## T1 Add\n\n- [ ] a\n- [ ] b\n- [ ] c\n- [ ] d\n", "T1"),
        (
            "## step-1: Add\n\n- [ ] a\n- [ ] b\n- [ ] c\n- [ ] d\n",
            "step-1",
        ),
        (
            "## Task T1b — Add\n\n- [ ] a\n- [ ] b\n- [ ] c\n- [ ] d\n",
            "T1b",
        ),
    ] {
        assert_eq!(ids(text), expected, "{text}");
    }
}

#[test]
fn other_signs_than_an_x_are_understood_or_reported() {
    let text = "- [✓] a\n- [✔️] b\n- [~] c\n- [1] Knuth\n- [P] parallel\n- [ ] d\n";
    let file = read_text(text);
    let claims: Vec<(&str, Claim)> = file
        .tasks
        .iter()
        .map(|task| (task.title.as_str(), task.claim))
        .collect();
    let expected = [
        ("a", Claim::Done),
        ("b", Claim::Done),
        ("c", Claim::Open),
        ("d", Claim::Open),
    ];
    assert_eq!(claims, expected);
    assert_eq!(noticed(text, Notice::UnknownMark), [(3, "~".to_owned())]);
}
