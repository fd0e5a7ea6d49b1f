//! Plans as kiln writes them, and other spellings.

use proptest::prelude::*;

use super::*;

/// Writes tasks as `line id 'title' wave needs files`, and duplicates after them.
fn shown(source: &str) -> String {
    let plan = PlanFile::parse(source.as_bytes());
    let mut lines: Vec<String> = plan
        .tasks
        .iter()
        .map(|task| {
            let wave = task.wave.map_or("-".to_owned(), |wave| wave.to_string());
            format!(
                "{} {} '{}' wave {wave} needs [{}] files [{}]",
                task.line,
                task.id,
                task.title,
                task.dependencies.join(" "),
                task.files.join(" ")
            )
        })
        .collect();
    lines.extend(
        plan.duplicates
            .iter()
            .map(|(id, line)| format!("{line} {id} again")),
    );
    lines.join("\n")
}

const REAL: &str = "# Plan: Phase 1 — Ledger core

## Context
- Vision: P1-T09 is not a task

## Task Packets

### Task P1-T01: Postings

**Goal:** Postings

**Acceptance Criteria:**
- AC-01: works (DET)

**Files:**
- `src/post.js` (add) — why, and `why` not
- src/index.js (modify) — export it
- `src/old.js` → `src/new.js` (rename) — moved

**Dependencies:** none

**Wave:** 1

**Implementation Notes:**
```sh
### Task P1-T08: in code
```

---

### Task P1-T02: Balances — all

**Files:** src/balance.js (add) — sums, totals, src/index.js (modify)
**Dependencies:** [P1-T01] (needs utf8 text)
**Wave:** 2

#### Notes
**Wave:** 7

---

## Wave Summary

| Wave | Tasks |
|---|---|
| 1 | P1-T01 |
";

#[test]
fn a_real_plan_is_read() {
    insta::assert_snapshot!(shown(REAL), @r"
    8 P1-T01 'Postings' wave 1 needs [] files [src/post.js src/index.js src/old.js src/new.js]
    31 P1-T02 'Balances — all' wave 2 needs [P1-T01] files [src/balance.js src/index.js]
    ");
    assert_eq!(shown(&REAL.replace('\n', "\r\n")), shown(REAL));
    assert_eq!(shown(&format!("\u{feff}{REAL}")), shown(REAL));
    let plan = PlanFile::parse(REAL.as_bytes());
    assert!(
        plan.tasks[0]
            .text
            .starts_with("### Task P1-T01: Postings\n\n**Goal:**")
    );
    assert!(plan.tasks[0].text.ends_with("in code\n```"));
    assert!(plan.tasks[1].text.ends_with("#### Notes\n**Wave:** 7"));
}

#[test]
fn other_spellings_of_plans_are_read() {
    for (source, expected) in [
        (
            "## P1-T01 — Title ##\n- **Wave:** wave-3\n",
            "1 P1-T01 'Title' wave 3 needs [] files []",
        ),
        (
            "#### task **P2-T10**: x\n**Wave**: 1 (first)",
            "1 P2-T10 'x' wave 1 needs [] files []",
        ),
        (
            "### Task 4.2: x\n### Task A: y\n### Notes\n",
            "1 4.2 'x' wave - needs [] files []",
        ),
        (
            "### Task a1\n**Dependencies:**\n- `P1-T02`\n- a2\n\nx\n- P1-T03\n### Task a2\n**Dependencies:** a1, b1",
            "1 a1 '' wave - needs [P1-T02 a2] files []\n8 a2 '' wave - needs [a1] files []",
        ),
        (
            "### Task P1-T01: x\n**Files:** `a b.js`, ./c.js\n",
            "1 P1-T01 'x' wave - needs [] files [a b.js]",
        ),
        (
            "### Task P1-T01: x\n**Files:** a.js, ./c.js, Makefile\n",
            "1 P1-T01 'x' wave - needs [] files [a.js c.js Makefile]",
        ),
        (
            "### Task P1-T01: x\n**Files:** none\n**Wave:** none",
            "1 P1-T01 'x' wave - needs [] files []",
        ),
        (
            "### Task P1-T01: x\n**Files:**\n\n* a.js\n\n- **Wave:** 2\n- b.js\n",
            "1 P1-T01 'x' wave 2 needs [] files [a.js]",
        ),
        (
            "### Task P1-T01: x\n### Task P1-T02: y\n### Task P1-T01: z\n**Wave:** 1\n",
            "1 P1-T01 'x' wave - needs [] files []\n2 P1-T02 'y' wave - needs [] files []\n3 P1-T01 again",
        ),
        (
            "# Task P1-T01: x\n##### Task P1-T02: y\n<!--\n### Task P1-T03: z\n-->\n",
            "",
        ),
        ("", ""),
    ] {
        assert_eq!(shown(source), expected, "{source}");
    }
}

#[test]
fn bytes_that_are_not_text_hide_no_task() {
    let plan = PlanFile::parse(b"\xff\n### Task P1-T01: caf\xe9\n**Wave:** 1\n");
    assert_eq!((plan.tasks[0].line, plan.tasks[0].wave), (2, Some(1)));
}

proptest! {
    #[test]
    fn no_bytes_make_a_panic(bytes: Vec<u8>, like in "(#{1,5} |Task |P1-T0[1-3]|: |\\*\\*(Files|Wave|Dependencies):\\*\\*|- |`|→|\\(|,|---|\r?\n|é){0,30}") {
        for bytes in [bytes, like.into_bytes()] {
            let plan = PlanFile::parse(&bytes);
            let mut ids: Vec<&str> = plan.tasks.iter().map(|task| task.id.as_str()).collect();
            prop_assert!(plan.tasks.is_sorted_by_key(|task| task.line));
            ids.sort_unstable();
            prop_assert!(ids.windows(2).all(|pair| pair[0] != pair[1]));
        }
    }
}
