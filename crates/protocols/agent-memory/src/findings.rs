//! The findings of one run: each code once, with its first location and its count.

use std::collections::BTreeMap;

use rekindle_model::{Code, Finding, Place, Severity};

/// Findings of a run while it is read and judged.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Findings {
    by_code: BTreeMap<Code, Occurrence>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Occurrence {
    count: u64,
    place: Place,
    /// Names that belong to it: tasks, files, a reason.
    about: Vec<String>,
}

/// As many names as fit in a line; the rest are counted.
const SHOWN: usize = 5;

impl Findings {
    /// Adds an occurrence; only the first one has a location.
    pub(super) fn add(&mut self, code: Code, place: impl FnOnce() -> Place) {
        self.by_code
            .entry(code)
            .and_modify(|seen| seen.count += 1)
            .or_insert_with(|| Occurrence {
                count: 1,
                place: place(),
                about: Vec::new(),
            });
    }

    /// Notes an occurrence that is about something with a name.
    pub(super) fn add_about(
        &mut self,
        code: Code,
        about: impl Into<String>,
        place: impl FnOnce() -> Place,
    ) {
        self.add(code, place);
        if let Some(seen) = self.by_code.get_mut(&code)
            && seen.about.len() <= SHOWN
        {
            let about = about.into();
            if !seen.about.contains(&about) {
                seen.about.push(about);
            }
        }
    }

    /// Returns the codes of the warnings, sorted.
    pub(super) fn codes(&self) -> Vec<&'static str> {
        let mut codes: Vec<_> = self
            .by_code
            .keys()
            .filter(|code| code.severity() == Severity::Warning)
            .map(|code| code.as_str())
            .collect();
        codes.sort_unstable();
        codes
    }

    /// Returns the findings, sorted by code.
    pub(super) fn list(&self) -> Vec<Finding> {
        let mut findings: Vec<Finding> = self
            .by_code
            .iter()
            .map(|(&code, seen)| {
                Finding::new(code, message(code, seen))
                    .at(seen.place.clone())
                    .hint(format!("`rekindle explain {code}` says what to do"))
            })
            .collect();
        findings.sort_by_key(|finding| finding.code.as_str());
        findings
    }
}

#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "the codes of all protocols are in one list"
)]
fn message(code: Code, seen: &Occurrence) -> String {
    let lines = match seen.count {
        1 => "a line".to_owned(),
        n => format!("{n} lines"),
    };
    let events = match seen.count {
        1 => "an event has".to_owned(),
        n => format!("{n} events have"),
    };
    let about = names(&seen.about);
    match code {
        Code::BadTimestamp => format!("{events} an unreadable time"),
        Code::BlockedBySkipped => {
            format!("blocked because a dependency was skipped: {about}")
        }
        Code::ConcatenatedJsonRecovered => format!("{lines} held several events, all were taken"),
        Code::BrokenRunRecord => {
            // Whole sentences of ours, in which names are quoted already.
            format!(
                "`rekindle run` started this run, and its record is damaged: {}",
                seen.about.join("; ")
            )
        }
        Code::CorruptLine => format!("{lines} cannot be read and did not count"),
        Code::CorruptTaskGraph => format!("the task graph cannot be read: {about}"),
        Code::DependencyCycle => format!("tasks that depend on each other can never run: {about}"),
        Code::DuplicateTask => format!("the graph has duplicate ids, the first counts: {about}"),
        Code::EmptyDocument => {
            format!("empty documents do not count: {about}")
        }
        Code::InvalidUtf8 => format!("{lines} with bytes that are not UTF-8"),
        Code::MissingArtifact => format!("documents of earlier phases are missing: {about}"),
        Code::MissingContract => format!("unfinished tasks without a contract: {about}"),
        Code::MissingTimestamp => format!("{events} no time"),
        Code::MultilineJsonRecovered => "an event over several lines was put together".to_owned(),
        Code::NonObjectLine => format!("{lines} with JSON that is not an event"),
        Code::NonmonotonicFile => {
            "times go backwards in a log; the time decides, not the line".to_owned()
        }
        Code::PhaseOutOfRange => format!("the protocol does not have this phase: {about}"),
        Code::RunIdMismatch => format!("events name another run: {about}"),
        Code::RunIdNonconforming => "the run's name is not in the usual form".to_owned(),
        Code::StaleRun => {
            let days = seen.about.first().map_or("", String::as_str);
            format!("nothing has happened for {days}: review the plan before you continue")
        }
        Code::TruncatedLine => "a log ends in the middle of a line, which did not count".to_owned(),
        Code::UnknownDependency => {
            format!("tasks depend on ids that the graph does not have: {about}")
        }
        Code::UnknownTask => format!("events name tasks that the graph does not have: {about}"),
        Code::OpenTasks => {
            format!("the run has a `summary.md`, so it is complete, but tasks are open: {about}")
        }
        Code::OverlappingFiles => format!("tasks name the same file: {about}"),
        Code::OversizedLine => format!("{lines} too long to be read"),
        Code::OutsideProject => {
            format!("links that lead out of the project were not followed: {about}")
        }
        Code::VanishedFile => format!("files vanished before they were read: {about}"),
        Code::UnsafeName => format!("task ids that are not safe file names: {about}"),
        Code::UnreadableFile => format!("files that the state depends on cannot be read: {about}"),
        // Errors of ours and other protocols' findings, which never occur here.
        _ => about,
    }
}

fn names(about: &[String]) -> String {
    let shown: Vec<String> = about
        .iter()
        .take(SHOWN)
        .map(|name| format!("`{}`", rekindle_text::excerpt(name, 200)))
        .collect();
    let more = if about.len() > SHOWN { " and more" } else { "" };
    format!("{}{more}", shown.join(", "))
}
