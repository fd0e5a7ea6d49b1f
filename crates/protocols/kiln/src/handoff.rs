//! The handoff note as a routing hint: whether it says that work was in the middle of a phase.
//!
//! The note is free text, so it is read clause by clause and believed only where one names a phase
//! together with a word for unfinished work: right before the phase, or anywhere behind it unless the
//! clause goes on with a word for a phase that is over or has not begun. It never says that a phase is
//! done.

/// Words before `phase N` that tell of work in it.
const BEFORE: &[&str] = &[
    "began",
    "continue",
    "continuing",
    "crashed",
    "during",
    "executing",
    "halfway",
    "halted",
    "implementing",
    "inside",
    "interrupted",
    "mid",
    "middle",
    "midway",
    "partway",
    "paused",
    "planning",
    "resume",
    "resuming",
    "reviewing",
    "round",
    "running",
    "started",
    "starting",
    "step",
    "stopped",
    "task",
    "within",
    "working",
];
/// Words behind `phase N` that tell of work in it.
const BEHIND: &[&str] = &[
    "began",
    "crashed",
    "debate",
    "debating",
    "executing",
    "fix",
    "fixing",
    "half",
    "halfway",
    "halted",
    "implementation",
    "implementing",
    "incomplete",
    "interrupted",
    "mid",
    "midway",
    "ongoing",
    "partially",
    "partly",
    "paused",
    "planning",
    "progress",
    "rejected",
    "review",
    "reviewing",
    "running",
    "sharpening",
    "started",
    "step",
    "stopped",
    "synthesis",
    "task",
    "tasks",
    "under",
    "underway",
    "unfinished",
];
/// Words next to `phase N` that tell that it is over.
const OVER: &[&str] = &[
    "archived",
    "complete",
    "completed",
    "done",
    "finished",
    "merged",
    "passed",
];
/// Words next to `phase N` that tell that it has not begun.
const NOT_YET: &[&str] = &[
    "after", "awaiting", "before", "begin", "next", "not", "pending", "queued", "ready", "start",
    "until", "waiting",
];
/// Words that tell of work to come, unless it is named right behind the phase.
const LATER: &[&str] = &[
    "begins",
    "later",
    "must",
    "needs",
    "planned",
    "scheduled",
    "should",
    "starts",
    "will",
];
/// Words that say nothing by themselves.
const FILLING: &[&str] = &[
    "all",
    "at",
    "been",
    "currently",
    "for",
    "from",
    "has",
    "in",
    "is",
    "now",
    "of",
    "on",
    "still",
    "the",
    "through",
    "to",
    "was",
    "with",
    "work",
];

/// Returns the phase that a note says was being worked on.
pub(super) fn phase_under_way(note: &str) -> Option<u32> {
    let lower = note.to_lowercase();
    let clauses = lower.split(';').flat_map(|part| part.split(". "));
    clauses.into_iter().find_map(in_clause)
}

fn in_clause(clause: &str) -> Option<u32> {
    let words: Vec<&str> = clause
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .collect();
    let number = |at: usize| -> Option<u32> {
        let is_phase = words.get(at) == Some(&"phase");
        words.get(at + 1).filter(|_| is_phase)?.parse().ok()
    };
    let named: Vec<usize> = (0..words.len())
        .filter(|at| number(*at).is_some())
        .collect();
    // What stands between two phases is behind the first and before the second.
    let mut from = 0;
    for (place, at) in named.iter().enumerate() {
        let until = named.get(place + 1).copied().unwrap_or(words.len());
        let mut before = words.get(from..*at).unwrap_or_default();
        // That a phase is over is said of the one before it: `Phase 1 completed, phase 2 running`.
        if place > 0
            && let Some((last, rest)) = before.split_last()
            && OVER.contains(last)
        {
            before = rest;
        }
        let behind = words.get(at + 2..until).unwrap_or_default();
        if is_under_way(before, behind) {
            return number(*at);
        }
        from = at + 2;
    }
    None
}

fn is_under_way(before: &[&str], behind: &[&str]) -> bool {
    let lead = before.iter().copied().rfind(|word| tells(word));
    let next = behind.iter().copied().find(|word| tells(word));
    let is_of = |word: Option<&str>, list: &[&str]| word.is_some_and(|word| list.contains(&word));
    // Kiln itself writes `Executing phase N: name`, and a name may be of any words.
    if is_of(lead, BEFORE) {
        return true;
    }
    let is_another = |word| is_of(word, OVER) || is_of(word, NOT_YET);
    if is_another(lead) || is_another(next) {
        return false;
    }
    let has = |list: &[&str]| behind.iter().any(|word| list.contains(word));
    is_of(next, BEHIND) || (has(BEHIND) && !has(LATER))
}

/// Returns whether a word says something; numbers and filling do not.
fn tells(word: &str) -> bool {
    !FILLING.contains(&word) && !word.bytes().all(|c| c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_words_for_unfinished_work_in_a_named_phase_count() {
        for (note, wanted) in [
            ("Executing phase 2: Transaction engine.", Some(2)),
            ("Executing phase 2: Complete the merge.", Some(2)),
            (
                "Phase 2 task 3/5 running; next: finish balance projection.",
                Some(2),
            ),
            ("Phase 12 rejected in review round 1", Some(12)),
            ("phase 3 in progress", Some(3)),
            ("Stopped in the middle of Phase 4.", Some(4)),
            ("Phase 1 complete; executing phase 2: B", Some(2)),
            ("Phase 1 complete, executing phase 2", Some(2)),
            ("Phase 1 completed, phase 2 running", Some(2)),
            ("Phase 1 running before phase 2 tasks", Some(1)),
            ("Phase 2 complete; ready for next phase.", None),
            ("Phase 2 complete; merged to main.", None),
            ("Plan approved; execution starting.", None),
            ("Plan for phase 2 looks good", None),
            ("Bug found in phase 2", None),
            ("phase two task 1", None),
            ("phase 99999999999999 task 1", None),
            ("multiphase 2 task", None),
            ("", None),
        ] {
            assert_eq!(phase_under_way(note), wanted, "{note}");
        }
    }

    #[test]
    fn a_person_may_say_it_in_other_words() {
        for note in [
            "Working on phase 2",
            "Was mid-phase 2.",
            "PHASE 2: implementing the balance checker",
            "Phase 2 (Transaction engine) is mid-execution on kiln/phase-2",
            "Phase 2, task 3: writing tests",
            "Phase 2 — Transaction engine — task 3 of 5 started",
            "Phase 2/3 halfway done",
            "Halfway through phase 2",
            "Session crashed in phase 2",
            "Task 3 of phase 2 was running",
            "Context was full. Continue phase 2 at task 03.",
            "Start review round 2 of phase 2",
            "Phase 1 is merged. Phase 2 is under way",
            "Phase 2 is still unfinished",
            "Phase 2 has been started",
            "Phase 2 task 3 will be retried",
        ] {
            assert_eq!(phase_under_way(note), Some(2), "{note}");
        }
    }

    #[test]
    fn a_phase_that_is_over_or_has_not_begun_is_not_under_way() {
        for note in [
            "Ready for phase 2",
            "Ready to start phase 2: Review of tasks",
            "Run /kiln:resume to start phase 2",
            "Phase 2 is next; its tasks are planned",
            "Phase 2 not started",
            "Phase 2 of the plan will need a review",
            "Phase 2 pending review of the plan",
            "Awaiting approval before phase 2 tasks",
            "Finished phase 2 review",
            "Phase 2 was completed; review round 2 passed",
            "Stopped after phase 2",
        ] {
            assert_eq!(phase_under_way(note), None, "{note}");
        }
    }
}
