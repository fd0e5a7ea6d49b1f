//! The grammars of the formats, rule by rule.

use crate::kiro::Kiro;
use crate::openspec::OpenSpec;
use crate::scene_tests::{FORMATS, shown, tasks};
use crate::spec_kit::SpecKit;

/// Returns the ids of the tasks of a text.
fn ids(format: &dyn rekindle_protocol::lists::format::Format, text: &str) -> Vec<String> {
    tasks(format, text)
        .tasks
        .into_iter()
        .map(|task| task.id)
        .collect()
}

#[test]
fn what_hides_a_box_hides_it_in_every_format() {
    for (text, expected) in [
        ("```\n- [ ] 1.1 no\n```\n- [ ] 1.2 yes\n", &["1.2"][..]),
        ("  ~~~\n- [ ] 1.1 no\n  ~~~~\n- [ ] 1.2 yes\n", &["1.2"]),
        ("```\n- [ ] 1.1 open fence\n", &["1.1"]),
        (
            "```\n- [ ] 1.1 a\n```sh\n- [ ] 1.2 no\n```\ntext\n",
            &["1.1"],
        ),
        ("```\n- [ ] 1.1 no\n~~~x\n```\ntext\n", &[]),
        (
            "```markdown\n- [ ] 1.1 a\n```sh\n- [ ] 1.2 no\n```\n- [ ] 1.3 b\n```\n\n",
            &["1.1", "1.3"],
        ),
        ("<!--\n- [ ] 1.1 no\n-->\n- [ ] 1.2 yes\n", &["1.2"]),
        ("<!-- open\n- [ ] 1.1 yes\n", &["1.1"]),
        (
            "<!-- - [ ] 1.1 no -->\n- [ ] 1.2 see `<!--` there\n- [ ] 1.3 b\n",
            &["1.2", "1.3"],
        ),
        ("<!-- x --> - [ ] 1.1 yes\n", &["1.1"]),
        ("> - [ ] 1.1 no\n    - [ ] 1.2 yes\n", &["1.2"]),
        ("- [x](link) 1.1\n- [ab] 1.2 no\n- [ ] 1.3 yes\n", &["1.3"]),
        (
            "* [ ] 1.1 a\n+ [ ] 1.2 b\n3. [ ] 1.3 c\n4) [ ] 1.4 d\n[ ] 1.5 no\n",
            &["1.1", "1.2", "1.3", "1.4"],
        ),
        ("-\u{3000}[\u{a0}] 1.1 a\n", &["1.1"]),
    ] {
        assert_eq!(ids(&OpenSpec, text), expected, "{text}");
        assert_eq!(ids(&Kiro, text), expected, "{text}");
        let spec_kit: Vec<String> = expected.iter().map(|id| id.replace("1.", "T00")).collect();
        assert_eq!(
            ids(&SpecKit, &text.replace("1.", "T00").replace("T00 ", "1. ")),
            spec_kit,
            "{text}"
        );
    }
}

#[test]
fn the_end_of_a_torn_file_is_never_a_task() {
    for format in FORMATS {
        for end in ["- [", "- [x", "- [ ]", "- [ ] "] {
            let text = format!("- [ ] T001 a\n- [ ] 1.1 b\n{end}");
            let file = tasks(format, &text);
            let codes: Vec<&str> = file
                .noticed
                .iter()
                .map(|noticed| noticed.code.code().as_str())
                .collect();
            assert!(
                codes.contains(&"TORN_LINE"),
                "{}: {end}: {codes:?}",
                format.name()
            );
        }
    }
    assert_eq!(ids(&SpecKit, "- [ ] T001 a\n- [ ] T0"), ["T001"]);
    assert_eq!(
        ids(&SpecKit, "- [ ] T001 a\n- [ ] T002 b"),
        ["T001", "T002"]
    );
}

#[test]
fn spec_kit_ids_tags_and_marks() {
    insta::assert_snapshot!(shown(&SpecKit, "\
# Tasks: x
- [P] tasks = different files
- [ ] **T001** [P] [US1] bold
- [X] `T002`: code
- [ ] T-012 hyphen
- [ ] T-HF01. capitals
- [ ] T030b [US1.2] letter
- [ ] T025.2 part
- [ ] G001 other capital
- [ ] G01 no id
- [x][P] T040 tag at once
- [ ] [T031] tag
- [ ] [P] [US2] T032 tags before
- [ ] [P] tagged without id
- [ ] [US3] story without id
- [!] T050 odd
- [] T051 nothing
- [?] odd without id
- [ x ] T052 blanks
- [ ] t060 small letter
-[ ] T061 no blank
- [ ] T001 again
- [ ] T070
- [ ]
- [ ] [P]
"), @r#"
    T001 pending <- "bold"
    T002 done <- T001 "code"
    T-012 pending <- T002 "hyphen"
    T-HF01 pending <- T-012 "capitals"
    T030b pending <- T-HF01 "letter"
    T025.2 pending <- T030b "part"
    G001 pending <- T025.2 "other capital"
    T040 done <- G001 "tag at once"
    T031 pending <- T040 "tag"
    T032 pending <- T031 "tags before"
    11 pending <- T031 "tagged without id"
    12 pending <- T032 11 "story without id"
    T050 pending <- 12 "odd"
    T051 pending <- T050 "nothing"
    T052 done <- T051 "blanks"
    T001~2 pending <- T052 "again"
    can start: T001 T-012
    10 NO_ID 2
    16 UNKNOWN_MARK !
    17 UNKNOWN_MARK 
    22 DUPLICATE_ID T001
    23 NO_TEXT 
    24 NO_TEXT 
    25 NO_TEXT 
    "#);
}

#[test]
fn spec_kit_leaves_out_what_is_struck_or_deferred() {
    insta::assert_snapshot!(shown(&SpecKit, "\
- [ ] ~~T001~~ gone
- [ ] T002 ~~all of it~~
- [ ] ~~T003 all of it~~
- [ ] T004 ~~a part~~ of it
- [ ] T005 [deferred] later
- [ ] T006 [P] [SKIP] later
- [x] ~~T007~~ done
- [!] ~~T009~~ odd
- [ ] T008 ~~a~~ and ~~b~~
"), @r#"
    T001 skipped <- "gone"
    T002 skipped <- T001 "all of it"
    T003 skipped <- T002 "all of it"
    T004 pending <- T003 "~~a part~~ of it"
    T005 skipped <- T004 "later"
    T006 skipped <- T005 "later"
    T007 done <- T006 "done"
    T009 pending <- T007 "odd"
    T008 pending <- T009 "~~a~~ and ~~b~~"
    can start: T004
    8 UNKNOWN_MARK !
    "#);
}

#[test]
fn spec_kit_groups_parallel_tasks_and_notes() {
    insta::assert_snapshot!(shown(&SpecKit, "\
- [x] T001 before any heading
## Setup
### Part
- [ ] T002 [P] a
- [ ] T003 [P] b
- [ ] T004 c
  depends on T006
- [ ] T005 [P] d (depends on T099)
## Empty
## Story
- [ ] T006 e
- [ ] T007 Manually look (depends on T008)
- [ ] T008 f (depends on T007)
"), @r#"
    T001 done <- "before any heading"
    T002 pending <- T001 "a"
    T003 pending <- T001 "b"
    T004 pending <- T001 T002 T003 T006 "c"
    T005 pending <- T001 T004 "d (depends on T099)"
    T006 pending <- T002 T003 "e"
    T007 blocked by hand <- T002 T003 T004 T005 T006 T008 "Manually look (depends on T008)"
    T008 blocked <- T002 T003 T004 T005 T007 "f (depends on T007)"
    can start: T002 T003
    8 UNKNOWN_NEED `T005` needs `T099`
    CYCLE T007 T008
    "#);
}

#[test]
fn spec_kit_without_ids_numbers_by_place() {
    insta::assert_snapshot!(shown(&SpecKit, "- [ ] a\n## One\n## Two\n- [x] b\n- [ ] c\n  - [ ] d\n"), @r#"
    1 pending <- "a"
    2.1 done <- 1 "b"
    2.2 pending <- 1 2.3 "c"
    2.3 pending <- 1 2.1 "d"
    can start: 1
    "#);
}

#[test]
fn spec_kit_parents_are_work_after_their_parts() {
    insta::assert_snapshot!(shown(&SpecKit, "\
- [X] T001 a
  - [X] T002 b
    - [ ] T003 c
- [ ] T004 d
\t- [x] T005 e
"), @r#"
    T001 pending <- T002 "a"
    T002 pending <- T003 "b"
    T003 pending <- "c"
    T004 pending <- T005 "d"
    T005 done <- T001 "e"
    can start: T003
    MARKED_EARLY T001 T002
    "#);
}

#[test]
fn openspec_takes_every_box_and_makes_ids_by_place() {
    insta::assert_snapshot!(shown(&OpenSpec, "\
- [ ] first
## Phase
- [x] 1.1 a
- [ ] b
  - [ ] c
  - [ ] d
## 7. Docs
-[ ]7.1 no blanks
- [ ] ~~7.2 struck~~
- [ ] 7.3 ~~struck~~
- [ ] ~~7.4~~ only the id
- [!] odd
- [ ] T-04 letters
- [ ] 3 retries
- [ ] 1.1 again
- [ ] 9.9
- [WIP] no box
"), @r#"
    1 pending <- "first"
    1.1 done <- 1 "a"
    2.2 pending a heading "b"
    2.2.1 pending <- 1 1.1 "c"
    2.2.2 pending <- 1 2.2.1 "d"
    7.1 pending <- 1.1 2.2.1 2.2.2 "no blanks"
    7.2 skipped <- 1.1 2.2.1 2.2.2 7.1 "struck"
    7.3 skipped <- 1.1 2.2.1 2.2.2 7.2 "struck"
    7.4 pending <- 1.1 2.2.1 2.2.2 7.3 "only the id"
    7.5 pending <- 1.1 2.2.1 2.2.2 7.4 "odd"
    T-04 pending <- 1.1 2.2.1 2.2.2 7.5 "letters"
    7.7 pending <- 1.1 2.2.1 2.2.2 T-04 "3 retries"
    1.1~2 pending <- 1.1 2.2.1 2.2.2 7.7 "again"
    can start: 1
    12 UNKNOWN_MARK !
    15 DUPLICATE_ID 1.1
    16 NO_TEXT 
    "#);
}

#[test]
fn openspec_parents_are_found_by_id_then_by_indentation() {
    insta::assert_snapshot!(shown(&OpenSpec, "\
- [x] 1.1 a
- [x] 1.1.1 at the same indentation
- [ ] 1.1.2 open
- [ ] 1.2 b
  - [x] 1.2.1 c
  - [ ] ~~1.2.2 d~~
- [ ] 1.3 e
  - [ ] ~~f~~
"), @r#"
    1.1 pending a heading "a"
    1.1.1 done <- "at the same indentation"
    1.1.2 pending <- 1.1.1 "open"
    1.2 done a heading "b"
    1.2.1 done <- 1.1.2 "c"
    1.2.2 skipped <- 1.2.1 "d"
    1.3 skipped a heading "e"
    1.3.1 skipped <- 1.2.2 "f"
    can start: 1.1.2
    MARKED_EARLY 1.1
    MARK_MISSING 1.2
    "#);
}

#[test]
fn kiro_marks_options_and_parents() {
    insta::assert_snapshot!(shown(&Kiro, "\
# Implementation Plan
- [x] 1. Parser
- [x] 1.1 Read
- [ ]* 1.2 Test
- [-] 2. Writer
  - [-]* 2.1 Test
  - [~] 2.2 Queued
- [ ]\\* 3. Extra
  - [ ] 3.1 Inherits
  - [x] 3.2* Done
- [ ] 4.1 Orphan
- [x] 5. Early
  - [ ] 5.1 Open
- [/] 6. Odd
- [ ] 3 retries is a step
- [ ] **7** bold
- [ ] 8 ~~no id without a sign~~
- [ ] 8) ~~struck~~
- [ ]
"), @r#"
    1 done a heading "Parser"
    1.1 done <- "Read"
    1.2 skipped <- 1.1 "Test"
    2 in_progress a heading "Writer"
    2.1 in_progress <- 1.1 1.2 "Test"
    2.2 pending <- 1.1 1.2 2.1 "Queued"
    3 done a heading "Extra"
    3.1 skipped <- 2.1 2.2 "Inherits"
    3.2 done <- 2.1 2.2 3.1 "Done"
    4.1 pending <- 3.1 3.2 "Orphan"
    5 pending a heading "Early"
    5.1 pending <- 4.1 "Open"
    6 pending <- 5.1 "Odd"
    7 pending <- 5.1 6 "bold"
    8 skipped <- 5.1 7 "struck"
    can start: 2.1 4.1
    14 UNKNOWN_MARK /
    15 NO_ID 2
    19 NO_TEXT 
    MARKED_EARLY 5
    MARK_MISSING 3
    "#);
}

#[test]
fn kiro_waves_replace_the_order_of_the_file() {
    insta::assert_snapshot!(shown(&Kiro, "\
- [x] 1. A
- [ ] 2. B
  - [ ] 2.1 b
  - [ ] 2.2 c
- [ ] 3. Checkpoint
- [ ] 4. D
  - _Depends: 2.1, none_
## task dependency GRAPH
```mermaid
graph
```
```json
{\"waves\": [{\"id\": 0, \"tasks\": [1]}, [\"2\", \"4\"], {\"tasks\": [\"9\", 2.1]}, []]}
```
"), @r#"
    1 done <- "A"
    2 pending a heading "B"
    2.1 pending <- 1 "b"
    2.2 pending <- 1 "c"
    3 pending <- 1 2.1 2.2 "Checkpoint"
    4 pending <- 1 2.1 "D"
    can start: 2.1 2.2
    12 UNKNOWN_NEED the graph names `9`
    "#);
}

#[test]
fn a_graph_that_cannot_be_read_is_noticed() {
    let graph = |text: &str| format!("- [ ] 1. A\n## Task Dependency Graph\n{text}");
    for (text, is_bad) in [
        ("```json\n{\"waves\": 1}\n```\n", true),
        ("```json\nnot json\n```\n", true),
        ("```json\n{\"waves\": [{\"task\": []}]}\n```\n", true),
        ("```json\n{\"waves\": []}\n```\n", false),
        ("```\n{\"waves\": [[\"1\"]]}\n```\n", false),
        ("```\n1 -> 2\n```\n", false),
        ("```json\n{\"waves\": [", true),
        ("## Other\n```json\nnot json\n```\n", false),
        ("### Below it\n```json\nnot json\n```\n", true),
    ] {
        let file = tasks(&Kiro, graph(text));
        let found = file
            .noticed
            .iter()
            .any(|noticed| noticed.code == rekindle_protocol::lists::task::Notice::BadGraph);
        assert_eq!(found, is_bad, "{text}");
    }
}

#[test]
fn kiro_without_ids_numbers_by_indentation() {
    insta::assert_snapshot!(shown(&Kiro, "- [ ] a\n  - [x] b (P)\n  - [ ] c (P)\n- [ ] d\n"), @r#"
    1 pending a heading "a"
    1.1 done <- "b"
    1.2 pending <- "c"
    2 pending <- 1.1 1.2 "d"
    can start: 1.2
    "#);
}
