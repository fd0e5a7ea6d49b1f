//! The handoff note as a routing hint: whether it says that work was in the middle of a phase.
//!
//! The note is free text, so it is read clause by clause and counts only if a clause names a phase
//! together with a word for unfinished work: right before the phase, or anywhere after it unless the
//! clause continues with a word for a phase that is over or has not started. A note never proves that
//! a phase is done.

/// Words before `phase N` for work in it.
const BEFORE: &str = "began continue continuing crashed during executing halfway halted implementing inside \
    interrupted mid middle midway partway paused planning resume resuming reviewing round \
    running started starting step stopped task within working";
/// Words after `phase N` for work in it.
const AFTER: &str = "began crashed debate debating executing fix fixing half halfway halted implementation \
    implementing incomplete interrupted mid midway ongoing partially partly paused planning \
    progress rejected review reviewing running sharpening started step stopped synthesis task \
    tasks under underway unfinished";
/// Words next to `phase N` for one that is over.
const OVER: &str = "archived complete completed done finished merged passed";
/// Words next to `phase N` for one that has not started.
const NOT_YET: &str =
    "after awaiting before begin next not pending queued ready start until waiting";
/// Words for future work, unless it is named right after the phase.
const LATER: &str = "begins later must needs planned scheduled should starts will";
/// Words without a meaning of their own.
const FILLING: &str =
    "all at been currently for from has in is now of on still the through to was with work";

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
    // The words between two phases are after the first and before the second.
    let mut from = 0;
    for (place, at) in named.iter().enumerate() {
        let until = named.get(place + 1).copied().unwrap_or(words.len());
        let mut before = words.get(from..*at).unwrap_or_default();
        // A word that a phase is over belongs to the phase before it: `Phase 1 completed, phase 2 running`.
        if place > 0
            && let Some((last, rest)) = before.split_last()
            && is_in(last, OVER)
        {
            before = rest;
        }
        let after = words.get(at + 2..until).unwrap_or_default();
        if is_in_progress(before, after) {
            return number(*at);
        }
        from = at + 2;
    }
    None
}

fn is_in_progress(before: &[&str], after: &[&str]) -> bool {
    let lead = before.iter().copied().rfind(|word| is_meaningful(word));
    let next = after.iter().copied().find(|word| is_meaningful(word));
    let is_of = |word: Option<&str>, list| word.is_some_and(|word| is_in(word, list));
    // Kiln itself writes `Executing phase N: name`, and a name may be of any words.
    if is_of(lead, BEFORE) {
        return true;
    }
    let is_another = |word| is_of(word, OVER) || is_of(word, NOT_YET);
    if is_another(lead) || is_another(next) {
        return false;
    }
    let has = |list| after.iter().any(|word| is_in(word, list));
    is_of(next, AFTER) || (has(AFTER) && !has(LATER))
}

/// Returns whether a word is in a list of words.
fn is_in(word: &str, list: &str) -> bool {
    list.split(' ').any(|listed| listed == word)
}

/// Returns whether a word has a meaning; numbers and filling words have none.
fn is_meaningful(word: &str) -> bool {
    !is_in(word, FILLING) && !word.bytes().all(|c| c.is_ascii_digit())
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
    fn other_words_for_unfinished_work_count() {
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
    fn a_phase_that_is_over_or_has_not_started_is_not_in_progress() {
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
