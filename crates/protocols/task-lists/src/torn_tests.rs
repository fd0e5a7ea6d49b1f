//! Lists cut at every byte and with every byte flipped: a torn file is never further than the whole one.

use std::collections::BTreeSet;

use crate::checklist::Checklist;
use crate::kiro::Kiro;
use crate::openspec::OpenSpec;
use crate::scene_tests::tasks;
use crate::spec_kit::SpecKit;
use rekindle_protocol::lists::Claim;
use rekindle_protocol::lists::format::Format;

const SPEC_KIT: &str = "# Tasks: A\n\n## Phase 1: Setup\n\n- [X] T001 Model in src/a.py\n- [ ] T002 [P] Service (depends on T001)\n  - [ ] a check\n\n```\n- [x] T009 no\n```\n\n## Phase 2\n\n- [ ] ~~T003~~ gone\n- [~] **T004**: [US1] odd\n";
const OPENSPEC: &str = "\u{feff}## 1. Work\r\n\r\n- [x] 1.1 First\r\n- [ ] Task 1.2: Second\r\n\t- [X] 1.2.1 Deeper\r\n\t- [ ] 1.2.2 Open\r\n<!--\r\n- [x] 9.1 no\r\n-->\r\n- [ ] no id\r\n";
const KIRO: &str = "# Implementation Plan: A\n\n- [x] 1. One\n  - [x] 1.1 Part\n  - [ ]* 1.2 Optional\n- [-] 2. Two (P)\n  - _Depends: 1.1_\n\n## Task Dependency Graph\n\n```json\n{\"waves\": [{\"tasks\": [\"1.1\"]}, [\"2\"]]}\n```\n";

const PLAIN: &str = "# Plan\n\n- [x] Choose a framework\n- [ ] Add login\n  - [x] with a form\n  - Verify: `make test`\n\n```\n- [x] no\n```\n\n## Later\n\n* [X] Write the docs (depends: 2)\n";

fn done(format: &dyn Format, bytes: &[u8]) -> BTreeSet<String> {
    let file = tasks(format, bytes);
    let done = file
        .tasks
        .into_iter()
        .filter(|task| task.claim == Claim::Done);
    done.map(|task| task.title).collect()
}

const LISTS: [(&dyn Format, &str); 4] = [
    (&SpecKit, SPEC_KIT),
    (&OpenSpec, OPENSPEC),
    (&Kiro, KIRO),
    (&Checklist, PLAIN),
];

#[test]
fn a_cut_file_has_no_task_done_that_was_open() {
    for (format, text) in LISTS {
        assert!(!done(format, text.as_bytes()).is_empty());
        for end in 0..text.len() {
            // What is torn off may end a fence, and an id that is torn is read as words.
            let is_marked = |line: &str| line.contains("[x]") || line.contains("[X]");
            let is_part = |title: &String| {
                let mut lines = text.lines().filter(|line| is_marked(line));
                lines.any(|line| line.contains(title.as_str()))
            };
            let cut = done(format, &text.as_bytes()[..end]);
            assert!(
                cut.iter().all(is_part),
                "{} cut at {end}: {cut:?}",
                format.name()
            );
        }
    }
}

#[test]
fn a_flipped_byte_marks_no_other_task() {
    for (format, text) in LISTS {
        let n_marked = text.matches("[x]").count() + text.matches("[X]").count();
        for at in 0..text.len() {
            for mask in [0x01, 0x80] {
                let mut bytes = text.as_bytes().to_vec();
                bytes[at] ^= mask;
                let n_done = done(format, &bytes).len();
                assert!(n_done <= n_marked, "{} flipped at {at}", format.name());
            }
        }
    }
}
