use proptest::prelude::*;

use super::*;

fn statuses_of(plan: &str) -> Vec<(String, String)> {
    let subtasks = progress(plan).subtasks.into_iter();
    subtasks
        .map(|planned| (planned.id, planned.status))
        .collect()
}

fn check(plan: &str, expected: &[(&str, &str)]) {
    let expected: Vec<(String, String)> = expected
        .iter()
        .map(|(id, status)| ((*id).to_owned(), (*status).to_owned()))
        .collect();
    assert_eq!(statuses_of(plan), expected, "{plan:?}");
}

#[test]
fn a_heading_takes_the_next_status_line() {
    check(
        "### ST-001: a\n- **Status:** complete\n\n### ST-002\ntext\n- **Status:** in_progress\n",
        &[("ST-001", "complete"), ("ST-002", "in_progress")],
    );
}

#[test]
fn a_heading_without_a_status_takes_the_next_one_and_hides_headings_between() {
    let plan = "### ST-001\n### ST-002\n### ST-003\n- **Status:** complete\n### ST-004\n";
    check(plan, &[("ST-001", "complete")]);
    assert_eq!(progress(plan).strays, ["ST-002", "ST-003", "ST-004"]);
}

#[test]
fn unusual_positions_and_words_are_read_as_map_reads_them() {
    check("#### ST-010 x\n- **Status:** a\n", &[("ST-010", "a")]);
    check("text ### ST-001\n- **Status:** a", &[("ST-001", "a")]);
    check(
        "###\n\nST-001\n- **Status:**\n\n  won't_do\n",
        &[("ST-001", "won")],
    );
    check(
        "### ST-001\n- **Status:** in-progress\n",
        &[("ST-001", "in")],
    );
    check("### ST-001\n- **Status:** `complete`\n", &[]);
    check(
        "### ST-001\n**Status:** a\n* **Status:** a\n - **Status:** a\n",
        &[],
    );
    check("### ST-001\n- **Status:**x\n", &[]);
    check("### ST-001", &[]);
    check("###ST-001\n- **Status:** a\n", &[]);
    check("### ST-\n- **Status:** a\n", &[]);
    check("- **Status:** a\n### ST-001\n", &[]);
    check("### ST-٤٢ x\n- **Status:** été\n", &[("ST-٤٢", "été")]);
}

#[test]
fn ids_are_listed_from_headings_tables_and_bullets() {
    let plan = "# ST-001\n   ###### ST-002: x\n    # ST-003\n####### ST-004\n| ST-005 | x |\n|ST-006|\n| x | ST-007 |\n- ST-008\n* [ ] ST-009\n- [x]ST-010\n- [y] ST-011\n1. ST-012\n- **ST-013**\n## ST-014a\n-ST-015\n- ST-001\n";
    let expected = [
        "ST-001", "ST-002", "ST-005", "ST-006", "ST-008", "ST-009", "ST-010",
    ];
    assert_eq!(listed_ids(plan), expected);
}

#[test]
fn a_status_is_changed_only_on_the_line_below_its_heading() {
    let plan = "### ST-001: a\r\n- **Status:** pending\r\n### ST-0011: b\n- **Status:** pending\n";
    let changed = with_status(plan, "ST-001", "complete").unwrap();
    assert_eq!(
        changed,
        "### ST-001: a\r\n- **Status:** complete\r\n### ST-0011: b\n- **Status:** pending\n"
    );
    assert_eq!(with_status(plan, "ST-001", "pending"), None);
    let lone =
        "### ST-001: a\r- **Owner:** x\r### ST-002: b\r- **Status:** x\n- **Status:** pending\r";
    assert_eq!(with_status(lone, "ST-001", "complete"), None);
    assert_eq!(
        with_status(lone, "ST-002", "y").unwrap(),
        lone.replace("** x\n", "** y\n")
    );
    assert_eq!(
        with_status("### ST-001: a\n\n- **Status:** x\n", "ST-001", "y"),
        None
    );
    assert_eq!(
        with_status("### ST-001\n- **Status:** x\n", "ST-001", "y"),
        None
    );
}

#[test]
fn goal_and_phase_are_taken_from_their_headings() {
    let plan =
        "# T\n## Overview\n- Goal: x\n\n### ST-001\n## Goal\nlater\n## Current Phase\nST-002 now\n";
    assert_eq!(goal(plan), Some("- Goal: x"));
    assert_eq!(goal("## Goal\n\n## Next\n"), Some(""));
    assert_eq!(goal("## Goals\nx"), None);
    assert_eq!(current_phase(plan), Some("ST-002"));
    assert_eq!(current_phase("## Current Phase\n\nST-002"), None);
}

/// MAP's pattern, tried at every position with backtracking.
fn naive(plan: &str) -> Vec<(String, String)> {
    let chars: Vec<char> = plan.chars().collect();
    let mut found = Vec::new();
    let mut at = 0;
    while at < chars.len() {
        match naive_match(&chars, at) {
            Some((id, status, end)) => {
                found.push((id, status));
                at = end;
            }
            None => at += 1,
        }
    }
    found
}

fn naive_match(chars: &[char], at: usize) -> Option<(String, String, usize)> {
    let begins = |at: usize, text: &str| {
        text.chars()
            .enumerate()
            .all(|(i, c)| chars.get(at + i) == Some(&c))
    };
    let run = |from: usize, is: &dyn Fn(char) -> bool| {
        (from..chars.len()).take_while(|i| is(chars[*i])).count()
    };
    if !begins(at, "###") {
        return None;
    }
    let space = run(at + 3, &is_space);
    let id = at + 3 + space;
    let digits = run(id + 3, &|c| digit(c).is_some());
    if space == 0 || digits == 0 || !begins(id, "ST-") {
        return None;
    }
    let line = id + 3 + run(id + 3, &|c| c != '\n');
    let mut line = (chars.get(line) == Some(&'\n')).then_some(line + 1)?;
    loop {
        if begins(line, STATUS) {
            let after = line + STATUS.len();
            let space = run(after, &is_space);
            let word = run(after + space, &is_word);
            if space > 0 && word > 0 {
                let start = after + space;
                let text = |from: usize, to: usize| chars[from..to].iter().collect();
                return Some((
                    text(id, id + 3 + digits),
                    text(start, start + word),
                    start + word,
                ));
            }
        }
        let end = line + run(line, &|c| c != '\n');
        line = (chars.get(end) == Some(&'\n')).then_some(end + 1)?;
    }
}

proptest! {
    #[test]
    fn one_scan_finds_what_backtracking_finds(
        pieces in prop::collection::vec(
            prop::sample::select(vec![
                "### ", "###", "#", "ST-", "ST-001", "1", "\n", "\n\n", " ", "- **Status:**",
                "- **Status:** ", "complete", "x", "'", "é", "\u{1c}", ": t",
            ]),
            0..40,
        )
    ) {
        let plan = pieces.concat();
        prop_assert_eq!(statuses_of(&plan), naive(&plan));
    }
}
