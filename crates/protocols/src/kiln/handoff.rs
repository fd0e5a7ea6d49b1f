//! The handoff note as a routing hint: whether it says that work was in the middle of a phase.
//!
//! The note is free text, so it is believed only where it names a phase and uses words that kiln
//! itself uses for unfinished work. It never says that a phase is done.

/// Words right before `phase N` that tell of work in it.
const BEFORE: [&str; 6] = [
    "executing",
    "resuming",
    "implementing",
    "running",
    "during",
    "mid",
];
/// Words right behind `phase N` that tell of work in it.
const BEHIND: [&str; 15] = [
    "task",
    "tasks",
    "step",
    "review",
    "rejected",
    "fix",
    "implementation",
    "planning",
    "sharpening",
    "interrupted",
    "paused",
    "running",
    "mid",
    "stopped",
    "halted",
];
/// Words right behind `phase N` that tell that it is over.
const OVER: [&str; 6] = [
    "complete",
    "completed",
    "done",
    "merged",
    "finished",
    "archived",
];

/// Returns the phase that a note says was being worked on.
pub(super) fn phase_under_way(note: &str) -> Option<u32> {
    let lower = note.to_lowercase();
    let words: Vec<&str> = lower
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .collect();
    (0..words.len()).find_map(|at| {
        if *words.get(at)? != "phase" {
            return None;
        }
        let number = words.get(at + 1)?.parse().ok()?;
        let before = at.checked_sub(1).and_then(|before| words.get(before));
        let mut behind = words.iter().skip(at + 2);
        let next = behind.next();
        if next.is_some_and(|word| OVER.contains(word)) {
            return None;
        }
        let in_progress = next == Some(&"in") && behind.next() == Some(&"progress");
        let in_middle = words
            .get(..at)
            .is_some_and(|words| words.ends_with(&["middle", "of"]));
        let is_under_way = in_progress
            || in_middle
            || before.is_some_and(|word| BEFORE.contains(word))
            || next.is_some_and(|word| BEHIND.contains(word));
        is_under_way.then_some(number)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_words_for_unfinished_work_in_a_named_phase_count() {
        for (note, wanted) in [
            ("Executing phase 2: Transaction engine.", Some(2)),
            (
                "Phase 2 task 3/5 running; next: finish balance projection.",
                Some(2),
            ),
            ("Phase 12 rejected in review round 1", Some(12)),
            ("phase 3 in progress", Some(3)),
            ("Stopped in the middle of Phase 4.", Some(4)),
            ("Phase 1 complete; executing phase 2: B", Some(2)),
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
}
