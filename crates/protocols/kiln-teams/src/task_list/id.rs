//! What tasks and gates are called: `phase-1:exec:wave-2:task-3` and `phase-1:exec:wave-2:gate`.
//!
//! Ids are ordered by their numbers, so that `task-10` comes after `task-2`. The name of a
//! worktree is the id with `-` for `:`, and is read back by the same fixed form.

use std::fmt;
use std::str::FromStr;

/// The id of a task in a wave.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct TaskId {
    pub(crate) phase: u32,
    pub(crate) wave: u32,
    /// The number of the task in its wave.
    pub(crate) number: u32,
}

impl TaskId {
    /// Reads an id, or returns nothing for gates and tasks of other steps.
    ///
    /// Words after it are ignored, because a subject can continue with a title.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (of, last) = wave_and_rest(first_word(text), ':')?;
        Some(Self {
            phase: of.phase,
            wave: of.wave,
            number: numbered(last, "task-")?,
        })
    }

    /// Reads the name of a worktree.
    pub(crate) fn parse_slug(name: &str) -> Option<Self> {
        let (of, last) = wave_and_rest(name, '-')?;
        Some(Self {
            phase: of.phase,
            wave: of.wave,
            number: numbered(last, "task-")?,
        })
    }

    /// Returns the name of its worktree.
    pub(crate) fn slug(self) -> String {
        self.to_string().replace(':', "-")
    }

    /// Returns the gate after its wave.
    pub(crate) fn gate(self) -> GateId {
        GateId {
            phase: self.phase,
            wave: self.wave,
        }
    }
}

impl fmt::Display for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            phase,
            wave,
            number,
        } = self;
        write!(f, "phase-{phase}:exec:wave-{wave}:task-{number}")
    }
}

impl FromStr for TaskId {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::parse(text).ok_or_else(|| format!("`{text}` is not an id of a task"))
    }
}

/// The id of the gate that the tasks of the next wave wait for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct GateId {
    pub(crate) phase: u32,
    pub(crate) wave: u32,
}

impl GateId {
    /// Reads an id, or returns nothing for tasks and for gates of other steps.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (gate, last) = wave_and_rest(first_word(text), ':')?;
        (last == "gate").then_some(gate)
    }
}

impl fmt::Display for GateId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "phase-{}:exec:wave-{}:gate", self.phase, self.wave)
    }
}

/// Reads `3`, or `wave-3` with its prefix, as the metadata of tasks has it.
pub(crate) fn number_after(text: &str, prefix: &str) -> Option<u32> {
    let text = text.trim();
    digits(text.strip_prefix(prefix).unwrap_or(text))
}

fn first_word(text: &str) -> &str {
    let word = text.split_whitespace().next().unwrap_or_default();
    word.trim_end_matches([':', ',', '.'])
}

/// Splits what is common to all ids from the rest.
fn wave_and_rest(text: &str, separator: char) -> Option<(GateId, &str)> {
    let (phase, rest) = text.strip_prefix("phase-")?.split_once(separator)?;
    let rest = rest.strip_prefix("exec")?.strip_prefix(separator)?;
    let (wave, last) = rest.strip_prefix("wave-")?.split_once(separator)?;
    let gate = GateId {
        phase: digits(phase)?,
        wave: digits(wave)?,
    };
    Some((gate, last))
}

fn numbered(text: &str, prefix: &str) -> Option<u32> {
    digits(text.strip_prefix(prefix)?)
}

/// Reads digits alone; `u32::from_str` would take a `+` as well.
fn digits(text: &str) -> Option<u32> {
    let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| is_number)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn ids_are_read_from_subjects_and_names_of_worktrees() {
        for (text, expected) in [
            ("phase-1:exec:wave-2:task-13", Some("1 2 13")),
            (" phase-1:exec:wave-2:task-3 ", Some("1 2 3")),
            ("phase-1:exec:wave-2:task-3: Add it", Some("1 2 3")),
            ("phase-1:exec:wave-2:task-03", Some("1 2 3")),
            ("phase-1:exec:wave-2:gate", None),
            ("phase-1:plan:wave-2:task-3", None),
            ("phase-+1:exec:wave-2:task-3", None),
            ("phase-1:exec:wave-2:task-", None),
            ("phase-1:exec:wave-2:task-99999999999", None),
            ("phase-1:exec:wave-2:task-3x", None),
            ("", None),
        ] {
            let read =
                TaskId::parse(text).map(|id| format!("{} {} {}", id.phase, id.wave, id.number));
            assert_eq!(read.as_deref(), expected, "{text}");
        }
        let id = TaskId::parse_slug("phase-1-exec-wave-2-task-3").unwrap();
        assert_eq!(id.to_string(), "phase-1:exec:wave-2:task-3");
        assert_eq!(TaskId::parse_slug("phase-1-exec-wave-2-task-3-old"), None);
        assert_eq!("phase-1:exec:wave-2:task-3".parse(), Ok(id));
        assert_eq!(
            "x".parse::<TaskId>(),
            Err("`x` is not an id of a task".to_owned())
        );
        assert_eq!(GateId::parse("phase-1:exec:wave-2:gate"), Some(id.gate()));
        assert_eq!(id.gate().to_string(), "phase-1:exec:wave-2:gate");
        assert_eq!(GateId::parse("phase-1:exec:wave-2:task-3"), None);
    }

    #[test]
    fn numbers_may_have_a_prefix() {
        for (text, expected) in [
            ("1", Some(1)),
            ("wave-1", Some(1)),
            (" 2 ", Some(2)),
            ("x", None),
            ("", None),
            ("-1", None),
        ] {
            assert_eq!(number_after(text, "wave-"), expected, "{text}");
        }
    }

    proptest! {
        #[test]
        fn an_id_is_read_back_in_both_forms_and_ordered_by_number(a: [u32; 3], b: [u32; 3]) {
            let id = |[phase, wave, number]: [u32; 3]| TaskId { phase, wave, number };
            prop_assert_eq!(TaskId::parse(&id(a).to_string()), Some(id(a)));
            prop_assert_eq!(TaskId::parse_slug(&id(a).slug()), Some(id(a)));
            prop_assert_eq!(GateId::parse(&id(a).gate().to_string()), Some(id(a).gate()));
            prop_assert_eq!(id(a).cmp(&id(b)), a.cmp(&b));
        }

        #[test]
        fn no_text_makes_a_panic(text in any::<String>(), like in "(phase-|exec|wave-|task-|gate|[:0-9-]){0,12}") {
            for text in [text, like] {
                let _ = (TaskId::parse(&text), TaskId::parse_slug(&text), GateId::parse(&text));
            }
        }
    }
}
