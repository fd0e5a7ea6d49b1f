//! master-plan.md: the phases, in the order of the page, each with its whole section.
//!
//! A phase is a heading of the third level that starts with `Phase` and a number. Its section ends at
//! the next heading of that level or above. Headings in code and comments do not count.

use rekindle_text::markdown::Page;

/// One phase of the plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PlannedPhase {
    pub(super) number: u32,
    pub(super) name: String,
    /// The heading and all below it.
    pub(super) section: String,
    /// The 1-based line of the heading.
    pub(super) line: usize,
}

/// What was read of the plan.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct MasterPlan {
    pub(super) phases: Vec<PlannedPhase>,
    /// Headings that start like a phase without a unique number, with their lines.
    pub(super) odd: Vec<(String, usize)>,
}

impl MasterPlan {
    /// Reads any text.
    pub(super) fn parse(text: &str) -> Self {
        let mut plan = Self::default();
        for section in Page::new(text).sections() {
            let (heading, words) = (section.heading, section.title);
            if heading.level != 3 || !words.starts_with("Phase") {
                continue;
            }
            let is_new = |number| plan.phases.iter().all(|phase| phase.number != number);
            match numbered(words).filter(|(number, _)| is_new(*number)) {
                Some((number, name)) => plan.phases.push(PlannedPhase {
                    number,
                    name: name.to_owned(),
                    section: lines(section.text),
                    line: heading.line,
                }),
                None => plan.odd.push((words.to_owned(), heading.line)),
            }
        }
        plan
    }

    /// Returns the phase of a number.
    pub(super) fn phase(&self, number: u32) -> Option<&PlannedPhase> {
        self.phases.iter().find(|phase| phase.number == number)
    }
}

/// Splits `Phase 2: Engine` into its number and its name.
fn numbered(words: &str) -> Option<(u32, &str)> {
    let rest = words.strip_prefix("Phase")?;
    let digits = rest.trim_start_matches([' ', '\t']);
    let n_digits = digits.bytes().take_while(u8::is_ascii_digit).count();
    let (number, name) = digits.split_at_checked(n_digits)?;
    let is_apart = digits.len() < rest.len() && !name.starts_with(|c: char| c.is_alphanumeric());
    let name = name.trim_start_matches([' ', '\t', ':', '—', '–', '-', '.', ')']);
    Some((number.parse().ok()?, name)).filter(|_| is_apart)
}

/// Returns a text with `\n` as line ends, without blank lines at the end.
fn lines(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    lines.join("\n").trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_phase_is_the_section_of_its_heading() {
        let text = "# Master Plan\n## Phases\n### Phase 1: Storage: a | b\nGoal\n#### Detail\nmore\n\n\
                    ### Phase 2 — Engine\nx\n```\n### Phase 9: in code\n```\n### Notes\nno\n\
                    ### Phase 10\n## Risks\n- none\n";
        let plan = MasterPlan::parse(text);
        let shown: Vec<_> = plan
            .phases
            .iter()
            .map(|p| (p.number, p.name.as_str(), p.section.as_str()))
            .collect();
        assert_eq!(
            shown,
            [
                (
                    1,
                    "Storage: a | b",
                    "### Phase 1: Storage: a | b\nGoal\n#### Detail\nmore"
                ),
                (
                    2,
                    "Engine",
                    "### Phase 2 — Engine\nx\n```\n### Phase 9: in code\n```"
                ),
                (10, "", "### Phase 10"),
            ]
        );
        assert_eq!(plan.odd, []);
    }

    #[test]
    fn headings_without_a_unique_phase_number_are_reported_and_ignored() {
        for none in [
            "",
            "## Phase 1: two",
            "### phase 1: lower",
            "#### Phase 1: four",
            "<!--\n### Phase 1: x\n-->",
        ] {
            assert_eq!(MasterPlan::parse(none), MasterPlan::default(), "{none}");
        }
        let plan = MasterPlan::parse(
            "### Phase Summary\n### Phase 1: A\r\n### Phase 1: B\n### Phases 2\n### Phase 3rd\n",
        );
        assert_eq!(
            plan.phases
                .iter()
                .map(|p| p.name.as_str())
                .collect::<Vec<_>>(),
            ["A"]
        );
        let odd: Vec<_> = plan.odd.iter().map(|(words, _)| words.as_str()).collect();
        assert_eq!(
            odd,
            ["Phase Summary", "Phase 1: B", "Phases 2", "Phase 3rd"]
        );
    }

    proptest! {
        #[test]
        fn no_text_panics_and_sections_are_parts_of_it(
            text in "(### Phase [0-9]{1,2}: [a-c]\r?\n|## x\n|```\n|\\PC{0,8}\n|<!--|-->){0,12}"
        ) {
            let plain = text.replace('\r', "");
            for phase in MasterPlan::parse(&text).phases {
                prop_assert!(plain.contains(&phase.section), "{:?} in {:?}", phase.section, plain);
                prop_assert!(phase.section.starts_with("### Phase"));
            }
        }
    }
}
