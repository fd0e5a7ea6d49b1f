//! What the handoff says about an attempt that did not complete.
//!
//! The handoff belongs to its authors: a failed attempt adds to it and replaces nothing. Only an
//! executor that left a note of its own, or completed work, replaces it.

use rekindle_model::AgentTask;
use rekindle_text::excerpt;

use super::super::marks;
use super::super::memory::Memory;
use super::Planner;

/// Kiln reads a longer note as prose; the clause is shortened first.
const LONGEST_NOTE: usize = 119;
/// The length of a clause after a long note.
const SHORTEST_CLAUSE: usize = 80;

/// Why an attempt did not complete its work.
pub(super) struct Trouble<'a> {
    /// The work, in lower case: `phase 2`.
    pub(super) work: String,
    /// The result of the attempt: `did not complete`.
    pub(super) verb: &'static str,
    pub(super) reason: &'a str,
    /// The first line of the addition to the context.
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
        // A note of an earlier attempt of this resume is an executor's as well.
        let is_executors = marks::has_own_note(fields, task.seen.as_deref())
            || (task.attempt > 1 && !note.is_empty() && !trouble.is_in(note));
        let memory = if is_executors {
            memory.clone()
        } else {
            memory.with_field("handoff_note", &trouble.after(note, task.attempt))
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
    /// Returns a note with a clause about this attempt at its end.
    fn after(&self, note: &str, attempt: u32) -> String {
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
    fn is_in(&self, note: &str) -> bool {
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

/// Returns whether kiln writes a note itself as it proceeds, so that replacing it loses nothing.
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
            // Another phase's clause is part of the handoff.
            (
                "A; phase 1 attempt 2 did not complete: x",
                format!("A; phase 1 attempt 2 did not complete: x; {clause}"),
            ),
        ] {
            let trouble = trouble("exit code 1");
            let said = trouble.after(note, 1);
            assert_eq!(said, wanted);
            assert!(trouble.is_in(&said));
            assert!(!trouble.is_in(note));
        }
    }

    #[test]
    fn text_after_a_clause_is_kept() {
        let note = "Phase 2 attempt 1 did not complete: no space. Freed 3 GB, use /data";
        let said = trouble("exit code 1").after(note, 2);
        assert_eq!(
            said,
            format!("{note}; phase 2 attempt 2 did not complete: exit code 1")
        );
    }

    #[test]
    fn a_long_note_is_kept_and_the_clause_is_shortened() {
        let note = "n".repeat(300);
        let trouble_text = "r".repeat(300);
        let said = trouble(&trouble_text).after(&note, 1);
        assert!(said.starts_with(&format!("{note}; phase 2 attempt 1 did not complete: r")));
        assert!(said.chars().count() <= 300 + 2 + SHORTEST_CLAUSE);
    }

    #[test]
    fn only_notes_that_kiln_writes_itself_are_routine() {
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
