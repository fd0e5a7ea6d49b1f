//! What the handoff says of an attempt that did not complete.
//!
//! The handoff belongs to those who wrote it: an attempt that fails adds to it and replaces nothing. Only
//! an executor that left a note of its own, or work that completes, puts another text in its place.

use rekindle_model::AgentTask;
use rekindle_text::excerpt;

use super::super::memory::Memory;
use super::super::seen;
use super::Planner;

/// Kiln takes a longer note for prose; the clause is cut first.
const LONGEST_NOTE: usize = 119;
/// What a clause gets when the note before it is long already.
const SHORTEST_CLAUSE: usize = 80;

/// Why an attempt did not bring its work to the end.
pub(super) struct Trouble<'a> {
    /// The work, in lower case: `phase 2`.
    pub(super) work: String,
    /// What the attempt did instead of succeeding: `did not complete`.
    pub(super) verb: &'static str,
    pub(super) reason: &'a str,
    /// The first line of what is added to the context.
    pub(super) sentence: String,
}

impl Planner<'_> {
    /// Adds to the handoff why an attempt failed: a clause to the note, a dated paragraph to the context.
    pub(super) fn with_trouble(
        &self,
        memory: &Memory,
        task: &AgentTask,
        trouble: &Trouble<'_>,
    ) -> Memory {
        let fields = &self.judged.project.fields;
        let note = fields.handoff_note.as_str();
        // A note that an earlier attempt of this resume wrote is still its own.
        let is_executors = seen::has_own_note(fields, task.seen.as_deref())
            || (task.attempt > 1 && !note.is_empty() && !trouble.is_told_in(note));
        let memory = if is_executors {
            memory.clone()
        } else {
            memory.with_field("handoff_note", &trouble.behind(note, task.attempt))
        };
        let paragraph = format!(
            "[{}] {}\n{}",
            self.stamp(),
            trouble.sentence,
            trouble.reason
        );
        let context = match fields.handoff_context.trim_end() {
            "" => paragraph,
            before => format!("{before}\n\n{paragraph}"),
        };
        memory.with_block("handoff_context", &context)
    }
}

impl Trouble<'_> {
    /// Returns a note with a clause about this attempt behind it.
    fn behind(&self, note: &str, attempt: u32) -> String {
        let said = format!(
            "{} attempt {attempt} {}: {}",
            self.work, self.verb, self.reason
        );
        let room = LONGEST_NOTE.saturating_sub(note.chars().count());
        let room = room.max(SHORTEST_CLAUSE);
        if note.is_empty() {
            excerpt(&capitalized(&said), room)
        } else if note.ends_with(['.', '!', '?']) {
            format!("{note} {}", excerpt(&capitalized(&said), room))
        } else {
            format!("{note}; {}", excerpt(&said, room))
        }
    }

    /// Returns whether a note has a clause about an attempt at the same work.
    fn is_told_in(&self, note: &str) -> bool {
        let start = format!("{} attempt ", self.work);
        let verb = format!(" {}: ", self.verb);
        [capitalized(&start), start].iter().any(|start| {
            note.split(start.as_str()).skip(1).any(|rest| {
                rest.trim_start_matches(|c: char| c.is_ascii_digit())
                    .starts_with(&verb)
            })
        })
    }
}

/// Returns whether a note is one that kiln writes by itself as it goes on, so that nothing is lost with it.
pub(super) fn is_routine(note: &str) -> bool {
    let is_of_a_phase = |start: &str, ends: &[&str]| {
        let rest = note.strip_prefix(start);
        let rest = rest.map(|rest| rest.trim_start_matches(|c: char| c.is_ascii_digit()));
        rest.is_some_and(|rest| ends.iter().any(|end| rest.starts_with(end)))
    };
    matches!(
        note,
        "" | "Plan approved; execution starting."
            | "Planning complete; awaiting execution."
            | "Master plan synthesized; awaiting user approval."
    ) || is_of_a_phase("Executing phase ", &[":"])
        || is_of_a_phase(
            "Phase ",
            &[" complete; ready for next phase.", " complete; merged to "],
        )
}

pub(super) fn capitalized(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| {
        first.to_uppercase().chain(chars).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trouble(reason: &str) -> Trouble<'_> {
        Trouble {
            work: "phase 2".to_owned(),
            verb: "did not complete",
            reason,
            sentence: String::new(),
        }
    }

    #[test]
    fn a_failed_attempt_adds_a_clause_and_keeps_the_note() {
        let clause = "phase 2 attempt 1 did not complete: exit code 1";
        for (note, wanted) in [
            (
                "",
                "Phase 2 attempt 1 did not complete: exit code 1".to_owned(),
            ),
            ("Use the v2 schema", format!("Use the v2 schema; {clause}")),
            (
                "Use the v2 schema.",
                "Use the v2 schema. Phase 2 attempt 1 did not complete: exit code 1".to_owned(),
            ),
            // Another phase's clause is part of what was handed over.
            (
                "A; phase 1 attempt 2 did not complete: x",
                format!("A; phase 1 attempt 2 did not complete: x; {clause}"),
            ),
        ] {
            let trouble = trouble("exit code 1");
            let said = trouble.behind(note, 1);
            assert_eq!(said, wanted);
            assert!(trouble.is_told_in(&said));
            assert!(!trouble.is_told_in(note));
        }
    }

    #[test]
    fn what_somebody_wrote_behind_a_clause_stays() {
        let note = "Phase 2 attempt 1 did not complete: no space. Freed 3 GB, use /data";
        let said = trouble("exit code 1").behind(note, 2);
        assert_eq!(
            said,
            format!("{note}; phase 2 attempt 2 did not complete: exit code 1")
        );
    }

    #[test]
    fn a_long_note_stays_whole_and_the_clause_is_cut() {
        let note = "n".repeat(300);
        let trouble_text = "r".repeat(300);
        let said = trouble(&trouble_text).behind(&note, 1);
        assert!(said.starts_with(&format!("{note}; phase 2 attempt 1 did not complete: r")));
        assert!(said.chars().count() <= 300 + 2 + SHORTEST_CLAUSE);
    }

    #[test]
    fn only_the_notes_that_kiln_writes_by_itself_are_routine() {
        for note in [
            "",
            "Plan approved; execution starting.",
            "Executing phase 12: Engine.",
            "Phase 1 complete; ready for next phase.",
            "Phase 1 complete; merged to main.",
        ] {
            assert!(is_routine(note), "{note}");
        }
        for note in [
            "Phase 1 complete; but rotate the key first",
            "Executing phase two",
            "Use the v2 schema",
            "Plan approved; execution starting. Mind the budget.",
        ] {
            assert!(!is_routine(note), "{note}");
        }
    }
}
