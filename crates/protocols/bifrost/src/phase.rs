//! The four phases, their requirements, and how a text names one.

use rekindle_protocol::table::{Value as _, values};

values! {
    /// A phase of the workflow.
    Phase {
        Spec "spec",
        Plan "plan",
        Tasks "tasks",
        Implement "implement",
    }
}

/// What a phase needs to be resumed: a row of the compatibility matrix.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Needs {
    /// Files of the feature that must be there.
    pub(super) required: &'static [&'static str],
    /// What must be complete first.
    pub(super) dependencies: &'static str,
    /// How much of the context it takes.
    pub(super) context: &'static str,
    pub(super) when_stale: &'static str,
}

impl Phase {
    /// Reads the first word of a field, in the canonical or another common spelling.
    pub(super) fn read(text: &str) -> Option<Self> {
        match first_word(text).to_lowercase().as_str() {
            "spec" | "specs" | "specify" | "specification" => Some(Self::Spec),
            "plan" | "planning" => Some(Self::Plan),
            "tasks" | "task" => Some(Self::Tasks),
            "implement" | "implementation" | "implementing" => Some(Self::Implement),
            _ => None,
        }
    }

    /// Returns whether a field names a phase, but not in the right spelling.
    pub(super) fn is_misspelled(text: &str) -> bool {
        Self::read(text).is_some()
            && Self::ALL
                .iter()
                .all(|phase| phase.as_str() != first_word(text))
    }

    /// Infers the phase from the description of a checkpoint.
    ///
    /// The start of a description names the phase; other words count only if it does not.
    pub(super) fn infer(description: &str) -> Option<Self> {
        let begins = |start: &str| {
            let head = description.get(..start.len());
            head.is_some_and(|head| head.eq_ignore_ascii_case(start))
        };
        let heads = [
            ("session initialized", Self::Spec),
            ("spec", Self::Spec),
            ("plan", Self::Plan),
            ("task breakdown", Self::Tasks),
            ("tasks breakdown", Self::Tasks),
        ];
        let head = heads.iter().find(|(head, _)| begins(head));
        let words = description.char_indices().filter(|(at, _)| {
            let before = description.get(..*at).unwrap_or_default();
            !before.ends_with(char::is_alphanumeric)
        });
        let mut words = words.filter_map(|(at, _)| description.get(at..));
        let named = |text: &str| {
            let starts = |words: &[&str]| words.iter().any(|word| text.starts_with(word));
            if is_about_tasks(text)
                || is_numbered_phase(text)
                || starts(&["Implementation", "YOLO"])
            {
                Some(Self::Implement)
            } else if starts(&["Spec"]) {
                Some(Self::Spec)
            } else if starts(&["Plan"]) {
                Some(Self::Plan)
            } else {
                starts(&["Task breakdown", "Tasks breakdown"]).then_some(Self::Tasks)
            }
        };
        head.map(|(_, phase)| *phase)
            .or_else(|| words.find_map(named))
    }

    /// Returns the phases before this one.
    pub(super) fn before(self) -> impl Iterator<Item = Self> {
        Self::ALL.iter().copied().filter(move |phase| *phase < self)
    }

    /// Returns its row of the matrix.
    pub(super) const fn needs(self) -> Needs {
        match self {
            Self::Spec => Needs {
                required: &["spec.md"],
                dependencies: "none, a spec can always be resumed",
                context: "lightweight",
                when_stale: "run `validate-spec.sh`",
            },
            Self::Plan => Needs {
                required: &["spec.md", "plan.md"],
                dependencies: "a valid spec.md",
                context: "medium, may need the research",
                when_stale: "run `validate-plan.sh`",
            },
            Self::Tasks => Needs {
                required: &["spec.md", "plan.md", "tasks.md"],
                dependencies: "a valid spec and plan, and the design artifacts",
                context: "medium to high, the design counts",
                when_stale: "verify that the task list is still valid",
            },
            Self::Implement => Needs {
                required: &["spec.md", "plan.md", "tasks.md"],
                dependencies: "a valid spec, plan and tasks",
                context: "high, code and patterns count",
                when_stale: "check the status of the tests",
            },
        }
    }
}

/// Returns whether a text starts with `Task T001` or `Tasks T001`.
fn is_about_tasks(text: &str) -> bool {
    let rest = text.strip_prefix("Tasks ").or(text.strip_prefix("Task "));
    rest.is_some_and(|rest| task_id(rest).is_some())
}

/// Returns whether a text starts with `Phase 2`.
fn is_numbered_phase(text: &str) -> bool {
    let rest = text.strip_prefix("Phase ");
    rest.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
}

/// Returns the task id at the start of a text: `T` and at least three digits.
pub(super) fn task_id(text: &str) -> Option<&str> {
    let digits = text.strip_prefix('T')?;
    let n_digits = digits.bytes().take_while(u8::is_ascii_digit).count();
    let rest = digits.get(n_digits..)?;
    let is_whole = !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_');
    (n_digits >= 3 && is_whole).then(|| text.get(..=n_digits))?
}

/// Returns the task ids in a text.
pub(super) fn task_ids(text: &str) -> impl Iterator<Item = &str> {
    let is_start = |at: usize| {
        let before = text.get(..at).unwrap_or_default();
        !before.ends_with(|c: char| c.is_alphanumeric() || c == '_')
    };
    text.match_indices('T')
        .filter(move |(at, _)| is_start(*at))
        .filter_map(|(at, _)| task_id(text.get(at..)?))
}

fn first_word(text: &str) -> &str {
    // The word may be in bold, in backticks or after a symbol.
    let text = text.trim_start_matches(|c: char| !c.is_alphanumeric());
    let end = text.find(|c: char| !c.is_alphanumeric());
    text.get(..end.unwrap_or(text.len())).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_phase_is_read_by_its_first_word() {
        let read = |text| Phase::read(text).map(Phase::as_str);
        assert_eq!(read("implement (Task 3 of 8)"), Some("implement"));
        assert_eq!(read(" Planning "), Some("plan"));
        assert_eq!(read("task breakdown"), Some("tasks"));
        assert_eq!(read("{PHASE}"), None);
        for text in ["`plan`", "**plan**", "📐 plan", "plan"] {
            assert_eq!(read(text), Some("plan"), "{text}");
            assert!(!Phase::is_misspelled(text), "{text}");
        }
        assert_eq!(read(""), None);
        for (text, is_misspelled) in [
            ("implement (Task 3 of 8)", false),
            ("implementation", true),
            ("Implement", true),
            ("review", false),
        ] {
            assert_eq!(Phase::is_misspelled(text), is_misspelled, "{text}");
        }
    }

    #[test]
    fn infers_the_phase_from_the_start_of_a_description() {
        let rows = "Session initialized for x => spec
            Spec phase complete, validated => spec
            Plan validated, ready for tasks => plan
            Planning research complete, design starting => plan
            Tasks breakdown complete, T001-T008 ready => tasks
            Task breakdown complete => tasks
            Task T003 complete - Plan page added => implement
            Tasks T024-T029 complete => implement
            Phase 1 complete - All setup tasks finished => implement
            All Phase 5 tasks complete => implement
            Implementation complete, all 8 tasks done => implement
            YOLO Mode complete - all 8 tasks done => implement
            Completed Spec phase => spec
            Updated Plan after review of Phase 2 => plan
            Task status audit complete => none
            => none
            żółć => none";
        for row in rows.lines() {
            let (description, phase) = row.trim().split_once("=> ").unwrap();
            let found = Phase::infer(description.trim()).map_or("none", Phase::as_str);
            assert_eq!(found, phase, "{row}");
        }
    }

    #[test]
    fn task_ids_are_whole_words() {
        let found = |text| task_ids(text).collect::<Vec<_>>().join(" ");
        assert_eq!(
            found("T001, T002 (T003) and xT004 T05 T006x"),
            "T001 T002 T003"
        );
        assert_eq!(found("Phase 5 (T041-T047)"), "T041 T047");
        assert_eq!(found("T1000"), "T1000");
    }

    #[test]
    fn every_phase_needs_the_files_of_earlier_phases() {
        for pair in Phase::ALL.windows(2) {
            let [before, after] = pair else { continue };
            let needed = before.needs().required;
            assert!(after.needs().required.starts_with(needed), "{after:?}");
        }
    }
}
