//! Errors in a session: every blocker with a `Status`, and current blockers in the form of an
//! error.

use std::collections::{BTreeMap, BTreeSet};

use super::lines::{field, is_placeholder, list_mark};
use super::{Session, without_bullet};

/// The section in which the workflow records errors, with or without a status.
const CURRENT: &str = "current blockers";

/// The sections with errors.
const SECTIONS: [&str; 6] = [
    CURRENT,
    "known issues",
    "blockers & issues",
    "blockers and issues",
    "known issues & blockers",
    "known issues and blockers",
];

/// The fields of an error besides its title.
const ABOUT: [&str; 6] = [
    "status",
    "next",
    "recovery",
    "task",
    "recovery strategy",
    "recovery action",
];

/// An error in the session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Blocker {
    /// The kind of error with its day, and the description.
    pub(crate) title: String,
    /// The status, if it has one.
    pub(crate) status: Option<String>,
    /// What to do about it.
    pub(crate) next: Option<String>,
    /// The index of its line.
    pub(crate) at: usize,
    /// The index of its status line.
    pub(crate) status_at: Option<usize>,
}

impl Blocker {
    /// Returns whether the error is resolved.
    pub(crate) fn is_resolved(&self) -> bool {
        match &self.status {
            Some(status) => says_resolved(status),
            None => is_remarked_as_resolved(&self.title),
        }
    }
}

/// Returns whether a status is the word "resolved" with at most a remark.
fn says_resolved(said: &str) -> bool {
    let said = said.trim_start_matches(|c: char| !c.is_alphanumeric());
    let end = said.find(|c: char| !c.is_alphanumeric());
    let (word, rest) = said.split_at(end.unwrap_or(said.len()));
    // A remark is separated or says how or when; "resolved in part" is not resolved.
    let rest = rest.trim_start_matches(['*', '_', ' ']);
    let next = rest.split(|c: char| !c.is_alphabetic()).next();
    let is_remark = ["", "by", "on", "via", "with", "after"].contains(&next.unwrap_or_default());
    word.eq_ignore_ascii_case("resolved") && is_remark && !rest.starts_with('?')
}

/// Returns whether a line without a status says "resolved": at its start, in brackets at its end,
/// or after a dash.
fn is_remarked_as_resolved(line: &str) -> bool {
    let text = line.trim().replace("**", "");
    let text = text.get(list_mark(&text)..).unwrap_or_default().trim();
    let (front, _) = text
        .split_once([':', '-', '–', '—', ']', ')'])
        .unwrap_or((text, ""));
    let bracket = text.strip_suffix([')', ']']);
    let in_brackets = bracket.and_then(|text| text.rsplit(['(', '[']).next());
    let behind_dash = [" - ", " – ", " — "]
        .iter()
        .find_map(|dash| text.rsplit_once(dash));
    let behind_dash = behind_dash.map(|(_, behind)| behind);
    let is_struck = text.starts_with("~~") && text.ends_with("~~");
    let remarks = [Some(front), in_brackets, behind_dash];
    is_struck || remarks.into_iter().flatten().any(says_resolved)
}

impl Session {
    /// Returns the errors, be they resolved or not.
    pub(crate) fn blockers(&self) -> Vec<Blocker> {
        self.blockers_and_owners().0
    }

    /// Returns the errors, and for each line that belongs to another the index of that one.
    fn blockers_and_owners(&self) -> (Vec<Blocker>, BTreeMap<usize, usize>) {
        let mut owners = BTreeMap::new();
        let mut blockers: Vec<Blocker> = Vec::new();
        // The lines that a status may belong to, each indented further than the one before it.
        let mut above: Vec<(usize, usize)> = Vec::new();
        let mut next: Option<(usize, String)> = None;
        let current: BTreeSet<usize> = self.places(CURRENT).collect();
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
                // Lines below an error belong to it.
                let is_below = above
                    .iter()
                    .any(|(of, _)| blockers.iter().any(|known| known.at == *of));
                owners.extend(above.last().map(|(of, _)| (at, *of)));
                above.push((at, indent));
                if current.contains(&at) && !is_below && is_dated_kind(line) {
                    blockers.push(Blocker {
                        title: self.title(at),
                        status: None,
                        next: None,
                        at,
                        status_at: None,
                    });
                }
                continue;
            };
            // The owner is indented less; in a flat list it is the line above.
            let owner = above.iter().rfind(|(_, other)| *other < indent);
            let (of, _) = owner.or(above.last()).copied().unwrap_or((at, indent));
            owners.extend((of != at).then_some((at, of)));
            // A status without an owner may say that there are no errors.
            if of == at && (is_placeholder(value) || value.to_lowercase().starts_with("no ")) {
                continue;
            }
            let known = blockers.iter_mut().rfind(|known| known.at == of);
            match (key.as_str(), known) {
                ("status", Some(known)) => {
                    known.status = Some(value.to_owned());
                    known.status_at = Some(at);
                }
                ("status", None) => blockers.push(Blocker {
                    title: self.title(of),
                    status: Some(value.to_owned()),
                    next: next.take_if(|(at, _)| *at == of).map(|(_, text)| text),
                    at: of,
                    status_at: Some(at),
                }),
                ("next", Some(known)) => known.next = Some(value.to_owned()),
                ("next", None) => next = Some((of, value.to_owned())),
                (_, _) => {}
            }
        }
        (blockers, owners)
    }

    /// Returns the lines about unresolved errors and issues.
    pub(crate) fn issues(&self) -> Vec<String> {
        let (blockers, owners) = self.blockers_and_owners();
        let is_resolved = |at: usize| match blockers.iter().find(|blocker| blocker.at == at) {
            Some(blocker) => blocker.is_resolved(),
            None => is_remarked_as_resolved(self.line(at)),
        };
        let is_open = |at: &usize| {
            let mut above = std::iter::successors(Some(*at), |at| owners.get(at).copied());
            !above.any(is_resolved)
        };
        let open = self.places_of_blockers().into_iter().filter(is_open);
        let texts = open.map(|at| without_bullet(self.line(at)).trim_start_matches(['#', ' ']));
        let told = texts.filter(|text| !text.is_empty() && !is_placeholder(text));
        let told = told.filter(|text| !text.ends_with(":**"));
        told.map(str::to_owned).collect()
    }

    /// Returns the indexes of the text lines below the headings of blockers.
    ///
    /// An error may have a deeper heading of its own; technical debt is not an error.
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
                places.extend(title.into_iter().chain(self.text_of(section)));
            }
        }
        places
    }

    /// Returns a line without heading, list and bold marks.
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

/// Returns whether a line has the form in which the workflow writes an error: `**Kind (2026-03-13)**: text`.
fn is_dated_kind(line: &str) -> bool {
    let inside = field(line).and_then(|field| field.key.strip_suffix(')'));
    let day = inside.and_then(|key| key.rsplit_once('('));
    day.is_some_and(|(_, day)| day.trim().parse::<jiff::civil::Date>().is_ok())
}

/// Reads a field of an error; in an indented line the key need not be in bold.
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
    fn only_the_word_resolved_resolves_an_error() {
        let table = [
            ("Resolved", true),
            ("resolved.", true),
            ("**RESOLVED** (by a retry, 2026-03-13)", true),
            ("✅ Resolved [see T003]", true),
            ("Resolved - by hand", true),
            ("Resolved – tests pass", true),
            ("Resolved 2026-03-13", true),
            ("Resolved: the token was renewed", true),
            ("Resolved by a retry", true),
            ("**Resolved** on 2026-03-13", true),
            ("Resolved?", false),
            ("Resolved but not tested", false),
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
    fn finds_errors_by_status_with_any_title() {
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
    fn without_a_status_only_current_blockers_are_errors() {
        let error = "- **Validation Failure (2026-03-13)**: plan lacks a section\n  - **Recovery**: retry\n  - **Next**: again\n";
        let title = "Validation Failure (2026-03-13): plan lacks a section | false | again";
        assert_eq!(found(&format!("### Current Blockers\n\n{error}")), title);
        let two = format!("### Current Blockers\n{error}{error}  - **Status**: Resolved\n");
        let resolved = title.replace("false", "true");
        assert_eq!(found(&two), format!("{title}\n{resolved}"));
        for text in [
            format!("### Known Issues\n\n{error}"),
            format!("### Blockers & Issues\n\n{error}"),
            "### Current Blockers\n\nNone\n".to_owned(),
            "### Blockers & Issues\n- **Status**: None\n".to_owned(),
            "### Current Blockers\n- **Status**: No blockers\n".to_owned(),
            "### Current Blockers\n- slow tests\n- **Slow (really)**: x\n- **Note**: y\n"
                .to_owned(),
        ] {
            assert_eq!(found(&text), "", "{text}");
        }
    }

    #[test]
    fn separates_errors_in_one_section() {
        let text = "### Current Blockers\n**Known:**\n  - **A**: x\n    - **Status**: Stopped\n  - **B**: y\n    - **Status**: Resolved\n    - **Next**: n\n- C\n- **Status**: Continuing\n\n#### Technical Debt\n- **D**: z\n  - **Status**: Open\n";
        assert_eq!(
            found(text),
            "A: x | false | -\nB: y | true | n\nC | false | -"
        );
        let nested = "### Current Blockers\n- **A (2026-03-13)**: x\n  - **Try (2026-03-13)**: y\n    - **Status**: Resolved\n  - **Status**: Resolved\n";
        assert_eq!(
            found(nested),
            "A (2026-03-13): x | true | -\nTry (2026-03-13): y | true | -"
        );
        assert_eq!(
            found("### Known Issues\n- Status: of the page is slow\n- slow\n"),
            ""
        );
    }
}
