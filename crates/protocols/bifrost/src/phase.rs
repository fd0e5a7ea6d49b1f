//! The four phases, what each needs, and how one is told from words.
//!
//! The seed's compatibility matrix is [`Phase::needs`]: which files a phase can not do without, what
//! it depends on, what is checked when its checkpoint is old, and what a person is reminded of.

use rekindle_protocol::table::Value;

/// A phase of the workflow, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Phase {
    Spec,
    Plan,
    Tasks,
    Implement,
}

/// What a phase needs to be resumed, one row of the matrix.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Needs {
    /// Files of the feature that must be there.
    pub(super) required: &'static [&'static str],
    /// What must be in order before it.
    pub(super) dependencies: &'static str,
    /// How much of the context it takes.
    pub(super) context: &'static str,
    /// What to check when its checkpoint is old.
    pub(super) when_stale: &'static str,
}

impl Phase {
    pub(super) const ALL: [Self; 4] = [Self::Spec, Self::Plan, Self::Tasks, Self::Implement];

    /// Returns the one right spelling.
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Spec => "spec",
            Self::Plan => "plan",
            Self::Tasks => "tasks",
            Self::Implement => "implement",
        }
    }

    /// Reads the one right spelling.
    pub(super) fn canonical(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|phase| phase.as_str() == text)
    }

    /// Reads the first word of a field, in the right spelling or another that people use.
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
        Self::read(text).is_some() && Self::canonical(first_word(text)).is_none()
    }

    /// Infers the phase from what a checkpoint says it is about.
    ///
    /// Checkpoints are described by how they begin; words further on are of the work itself, and
    /// count only where the beginning says nothing.
    pub(super) fn infer(description: &str) -> Option<Self> {
        let begins = |start: &str| {
            let head = description.get(..start.len());
            head.is_some_and(|head| head.eq_ignore_ascii_case(start))
        };
        if begins("session initialized") || begins("spec") {
            return Some(Self::Spec);
        }
        if begins("plan") {
            return Some(Self::Plan);
        }
        if begins("task breakdown") || begins("tasks breakdown") {
            return Some(Self::Tasks);
        }
        let places = description.char_indices().filter(|(at, _)| {
            let before = description.get(..*at).unwrap_or_default();
            !before.ends_with(char::is_alphanumeric)
        });
        for (at, _) in places {
            let rest = description.get(at..).unwrap_or_default();
            let is_implement = is_about_tasks(rest)
                || is_numbered_phase(rest)
                || rest.starts_with("Implementation")
                || rest.starts_with("YOLO");
            if is_implement {
                return Some(Self::Implement);
            }
            if rest.starts_with("Spec") {
                return Some(Self::Spec);
            }
            if rest.starts_with("Plan") {
                return Some(Self::Plan);
            }
            if rest.starts_with("Task breakdown") || rest.starts_with("Tasks breakdown") {
                return Some(Self::Tasks);
            }
        }
        None
    }

    /// Returns the phases before this one, in order.
    pub(super) fn before(self) -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().filter(move |phase| *phase < self)
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

impl Value for Phase {
    const ALL: &'static [Self] = &Self::ALL;

    fn word(self) -> &'static str {
        self.as_str()
    }
}

/// Returns whether a text begins with `Task T001` or `Tasks T001`.
fn is_about_tasks(text: &str) -> bool {
    let rest = text.strip_prefix("Tasks ").or(text.strip_prefix("Task "));
    rest.is_some_and(|rest| task_id(rest).is_some())
}

/// Returns whether a text begins with `Phase 2`.
fn is_numbered_phase(text: &str) -> bool {
    let rest = text.strip_prefix("Phase ");
    rest.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
}

/// Returns the id of a task that a text begins with: `T` and three digits or more.
pub(super) fn task_id(text: &str) -> Option<&str> {
    let digits = text.strip_prefix('T')?;
    let n_digits = digits.bytes().take_while(u8::is_ascii_digit).count();
    let rest = digits.get(n_digits..)?;
    let is_whole = !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_');
    (n_digits >= 3 && is_whole).then(|| text.get(..=n_digits))?
}

/// Returns the ids of tasks in a text, in order.
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
    // In bold, in backticks or behind a sign it is the same word.
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
    fn a_phase_is_inferred_from_how_a_description_begins() {
        let table = [
            ("Session initialized for x", Some(Phase::Spec)),
            ("Spec phase complete, validated", Some(Phase::Spec)),
            ("Plan validated, ready for tasks", Some(Phase::Plan)),
            (
                "Planning research complete, design starting",
                Some(Phase::Plan),
            ),
            (
                "Tasks breakdown complete, T001-T008 ready",
                Some(Phase::Tasks),
            ),
            ("Task breakdown complete", Some(Phase::Tasks)),
            (
                "Task T003 complete - Plan page added",
                Some(Phase::Implement),
            ),
            ("Tasks T024-T029 complete", Some(Phase::Implement)),
            (
                "Phase 1 complete - All setup tasks finished",
                Some(Phase::Implement),
            ),
            ("All Phase 5 tasks complete", Some(Phase::Implement)),
            (
                "Implementation complete, all 8 tasks done",
                Some(Phase::Implement),
            ),
            (
                "YOLO Mode complete - all 8 tasks done",
                Some(Phase::Implement),
            ),
            ("Completed Spec phase", Some(Phase::Spec)),
            ("Updated Plan after review of Phase 2", Some(Phase::Plan)),
            ("Task status audit complete", None),
            ("", None),
            ("żółć", None),
        ];
        for (description, phase) in table {
            assert_eq!(Phase::infer(description), phase, "{description}");
        }
    }

    #[test]
    fn ids_of_tasks_are_whole_words() {
        let found = |text| task_ids(text).collect::<Vec<_>>().join(" ");
        assert_eq!(
            found("T001, T002 (T003) and xT004 T05 T006x"),
            "T001 T002 T003"
        );
        assert_eq!(found("Phase 5 (T041-T047)"), "T041 T047");
        assert_eq!(found("T1000"), "T1000");
    }

    #[test]
    fn every_phase_needs_what_the_one_before_it_needs() {
        for pair in Phase::ALL.windows(2) {
            let [before, after] = pair else { continue };
            let needed = before.needs().required;
            assert!(after.needs().required.starts_with(needed), "{after:?}");
        }
    }
}
