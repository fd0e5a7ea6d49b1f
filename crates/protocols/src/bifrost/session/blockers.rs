//! Errors that the workflow met: whatever has a `Status` among the blockers of a session.

use std::collections::BTreeSet;

use super::Session;
use super::lines::{field, list_mark};

/// The sections in which errors stand.
const SECTIONS: [&str; 6] = [
    "current blockers",
    "known issues",
    "blockers & issues",
    "blockers and issues",
    "known issues & blockers",
    "known issues and blockers",
];

/// What is said about an error, beside what it is.
const ABOUT: [&str; 6] = [
    "status",
    "next",
    "recovery",
    "task",
    "recovery strategy",
    "recovery action",
];

/// An error that the workflow met, as the session tells it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::bifrost) struct Blocker {
    /// The kind of error with its day, and what happened.
    pub(in crate::bifrost) title: String,
    pub(in crate::bifrost) status: String,
    /// What is to be done about it.
    pub(in crate::bifrost) next: Option<String>,
    /// The place of its line.
    pub(in crate::bifrost) at: usize,
}

impl Blocker {
    /// Returns whether the error was dealt with: its status is that word and a remark at most.
    pub(in crate::bifrost) fn is_resolved(&self) -> bool {
        let said = self.status.split(['(', '[']).next().unwrap_or_default();
        let word = said.trim_matches(|c: char| !c.is_alphanumeric());
        word.eq_ignore_ascii_case("resolved")
    }
}

impl Session {
    /// Returns the errors that have a status.
    pub(in crate::bifrost) fn blockers(&self) -> Vec<Blocker> {
        let mut blockers: Vec<Blocker> = Vec::new();
        // The lines that may be what a status is of, each indented further than the one before it.
        let mut above: Vec<(usize, usize)> = Vec::new();
        let mut next: Option<(usize, String)> = None;
        for at in self.places_of_blockers() {
            let line = self.line(at);
            let rest = line.trim_start();
            let indent = line.len() - rest.len();
            if rest.is_empty() {
                continue;
            }
            while above.pop_if(|(_, other)| *other > indent).is_some() {}
            let Some((key, value)) = said_about(line) else {
                while above.pop_if(|(_, other)| *other == indent).is_some() {}
                above.push((at, indent));
                continue;
            };
            // What it belongs to is indented less; where all stand in one column, it is above.
            let owner = above.iter().rfind(|(_, other)| *other < indent);
            let (of, _) = owner.or(above.last()).copied().unwrap_or((at, indent));
            let known = blockers.last_mut().filter(|known| known.at == of);
            match (key.as_str(), known) {
                ("status", Some(known)) => value.clone_into(&mut known.status),
                ("status", None) => blockers.push(Blocker {
                    title: self.title(of),
                    status: value.to_owned(),
                    next: next.take_if(|(at, _)| *at == of).map(|(_, text)| text),
                    at: of,
                }),
                ("next", Some(known)) => known.next = Some(value.to_owned()),
                ("next", None) => next = Some((of, value.to_owned())),
                (_, _) => {}
            }
        }
        blockers
    }

    /// Returns what is said of issues without a status: it is shown, and no more.
    pub(in crate::bifrost) fn issues(&self) -> Vec<String> {
        let names = SECTIONS.into_iter();
        let all = names.flat_map(|name| self.points(name));
        all.filter(|text| !text.ends_with(":**")).collect()
    }

    /// Returns the places of all text below the headings of blockers, in order, each once.
    ///
    /// An error may have a heading of its own, further down. What is owed has one, too, and is none.
    fn places_of_blockers(&self) -> BTreeSet<usize> {
        let places_of = |name: &&str| self.named.get(*name).into_iter().flatten().copied();
        let named: BTreeSet<usize> = SECTIONS.iter().flat_map(places_of).collect();
        let others: BTreeSet<usize> = places_of(&"technical debt").collect();
        let mut places = BTreeSet::new();
        let mut inside: Option<u8> = None;
        for (place, section) in self.sections.iter().enumerate() {
            let is_deeper = inside.is_some_and(|level| section.level > level);
            let (is_named, is_other) = (named.contains(&place), others.contains(&place));
            if !is_deeper {
                inside = is_named.then_some(section.level);
            }
            let is_error = is_deeper && !is_named && !is_other;
            if is_named || is_error {
                let title = is_error.then_some(section.heading);
                let prose = (section.heading + 1..section.end)
                    .filter(|at| self.is_prose.get(*at).is_some_and(|is_prose| *is_prose));
                places.extend(title.into_iter().chain(prose));
            }
        }
        places
    }

    /// Returns a line without what makes it a heading, an item or bold.
    fn title(&self, at: usize) -> String {
        let line = self.line(at).trim();
        if let Some(field) = field(line) {
            return format!("{}: {}", field.key, field.value);
        }
        let text = line.trim_start_matches('#').trim_start();
        let text = text.get(list_mark(text)..).unwrap_or(text);
        text.replace("**", "")
    }
}

/// Reads what is said about an error: a field, or in a line that is indented one without bold.
fn said_about(line: &str) -> Option<(String, &str)> {
    let (key, value) = if let Some(field) = field(line) {
        (field.key, field.value)
    } else {
        let text = line.strip_prefix([' ', '\t'])?.trim_start();
        let text = text.get(list_mark(text)..)?;
        let (key, value) = text.split_once(':')?;
        (key.trim(), value.trim())
    };
    let key = key.to_lowercase();
    ABOUT.contains(&key.as_str()).then_some((key, value))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> String {
        let session = Session::parse(text.as_bytes().to_vec()).unwrap();
        let blockers = session.blockers();
        let shown = blockers.iter().map(|blocker| {
            let next = blocker.next.as_deref().unwrap_or("-");
            let is_resolved = blocker.is_resolved();
            format!("{} | {is_resolved} | {next}", blocker.title)
        });
        shown.collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn only_the_word_itself_says_that_an_error_is_resolved() {
        let table = [
            ("Resolved", true),
            ("resolved.", true),
            ("**RESOLVED** (by a retry, 2026-03-13)", true),
            ("✅ Resolved [see T003]", true),
            ("Not resolved", false),
            ("Partially Resolved", false),
            ("Resolved in part", false),
            ("Unresolved", false),
            ("In Progress", false),
            ("", false),
        ];
        for (status, wanted) in table {
            let text = format!("### Current Blockers\n- **Tool**: x\n  - **Status**: {status}\n");
            assert_eq!(found(&text), format!("Tool: x | {wanted} | -"), "{status}");
        }
    }

    #[test]
    fn an_error_is_seen_by_its_status_whatever_its_title_is() {
        let titles = [
            ("- **Tool (2026-03-13)**: x", "Tool (2026-03-13): x"),
            ("- Tool: x", "Tool: x"),
            ("1. Tool broke", "Tool broke"),
            ("2) **Tool** broke", "Tool broke"),
            ("Tool broke", "Tool broke"),
            ("#### Tool broke", "Tool broke"),
        ];
        let sections = [
            "### Current Blockers",
            "### Blockers & Issues",
            "### Blockers and Issues",
            "## ⚠\u{fe0f} Known Issues & Blockers",
        ];
        for (line, title) in titles {
            for section in sections {
                for (before, after) in [("  - ", "\n"), ("- ", "\n"), ("   ", "\n\n")] {
                    let text = format!(
                        "{section}\n\n{line}\n{before}**Recovery**: retry\n{before}**Next**: again\n{before}**Status**: Stopped{after}## Next\n- **Status**: y\n"
                    );
                    assert_eq!(found(&text), format!("{title} | false | again"), "{text}");
                }
            }
        }
        assert_eq!(
            found("### Current Blockers\n- Tool\n  - Status: Stopped\n"),
            "Tool | false | -"
        );
    }

    #[test]
    fn errors_in_one_section_are_told_apart() {
        let text = "### Current Blockers\n**Known:**\n  - **A**: x\n    - **Status**: Stopped\n  - **B**: y\n    - **Status**: Resolved\n    - **Next**: n\n- C\n- **Status**: Continuing\n\n#### Technical Debt\n- **D**: z\n  - **Status**: Open\n";
        assert_eq!(
            found(text),
            "A: x | false | -\nB: y | true | n\nC | false | -"
        );
        assert_eq!(
            found("### Known Issues\n- Status: of the page is slow\n- slow\n"),
            ""
        );
    }
}
