//! One line of `## Phase Statuses`.
//!
//! `- phase_number: 2 | phase_name: Engine | phase_status: in_progress`. A name may have pipes and
//! colons of its own, so the number is read from the front and the status from the back.

use crate::values::PhaseStatus;

const NUMBER: &str = "phase_number:";
const NAME: &str = "phase_name:";
const STATUS: &str = "phase_status:";

/// A line about a phase, without the parts that are malformed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PhaseLine {
    pub(crate) number: Option<u32>,
    pub(crate) name: String,
    pub(crate) status: Option<PhaseStatus>,
    /// The position of the status in the bytes of the line, known or not.
    pub(crate) status_at: Option<(usize, usize)>,
}

impl PhaseLine {
    /// Reads a list item; other lines are not about a phase.
    ///
    /// It takes bytes, because a position in lossy text is not one in the file.
    pub(crate) fn parse(bytes: &[u8]) -> Option<Self> {
        let line = String::from_utf8_lossy(bytes);
        let item = line
            .strip_prefix("- ")
            .or_else(|| line.strip_prefix("* "))?
            .trim();
        let (rest, status) = match item.rfind(STATUS) {
            Some(at) if at > 0 => {
                let (rest, status) = item.split_at(at);
                (
                    rest,
                    Some(status.strip_prefix(STATUS).unwrap_or_default().trim()),
                )
            }
            Some(_) | None => (item, None),
        };
        let rest = rest.trim().trim_end_matches('|').trim_end();
        let numbered = rest.strip_prefix(NUMBER).map(str::trim_start);
        let (number, name) = match numbered {
            Some(numbered) => {
                let (number, name) = numbered.split_once('|').unwrap_or((numbered, ""));
                let name = name.trim_start();
                (
                    number.trim().parse().ok(),
                    name.strip_prefix(NAME).unwrap_or(name).trim(),
                )
            }
            None => (None, rest),
        };
        Some(Self {
            number,
            name: name.to_owned(),
            status: status.and_then(PhaseStatus::parse),
            status_at: status
                .filter(|status| !status.is_empty())
                .and_then(|_| status_at(bytes)),
        })
    }

    /// Returns whether a line has a key of such lines anywhere.
    pub(crate) fn names_phase(bytes: &[u8]) -> bool {
        let line = String::from_utf8_lossy(bytes);
        line.contains(NUMBER) || line.contains(STATUS)
    }

    /// Writes the line of a phase.
    pub(crate) fn written(number: u32, name: &str, status: PhaseStatus) -> String {
        let name = name.replace(['\n', '\r'], " ");
        format!(
            "- {NUMBER} {number} | {NAME} {} | {STATUS} {}",
            name.trim(),
            status.as_str()
        )
    }
}

/// Returns the start and the end of the value after the last status key.
fn status_at(bytes: &[u8]) -> Option<(usize, usize)> {
    let places = bytes.windows(STATUS.len());
    let word = places.rev().position(|word| word == STATUS.as_bytes())?;
    // The search went backwards: so many bytes follow the word.
    let rest = bytes.get(bytes.len() - word..)?;
    let end = bytes.len() - (rest.len() - rest.trim_ascii_end().len());
    Some((end - rest.trim_ascii().len(), end))
}

#[cfg(test)]
mod tests {
    use PhaseStatus::{Completed, InProgress};

    use super::*;

    #[test]
    fn the_number_is_read_from_the_front_and_the_status_from_the_back() {
        let check = |line: &str, number, name: &str, status| {
            let read = PhaseLine::parse(line.as_bytes()).unwrap();
            assert_eq!(
                (read.number, read.name.as_str(), read.status),
                (number, name, status),
                "{line}"
            );
            if let Some((start, end)) = read.status_at {
                assert_eq!(
                    &line[start..end],
                    line.rsplit("phase_status:").next().unwrap().trim(),
                    "{line}"
                );
            }
        };
        let line = "- phase_number: 2 | phase_name: Engine | phase_status: in_progress";
        check(line, Some(2), "Engine", Some(InProgress));
        check(
            "* phase_number: 02|phase_name:A|phase_status:completed  ",
            Some(2),
            "A",
            Some(Completed),
        );
        let odd =
            "- phase_number: 3 | phase_name: a | b: c | phase_status: x | phase_status: completed";
        check(odd, Some(3), "a | b: c | phase_status: x", Some(Completed));
        check(
            "- phase_number: 3 | phase_name: Ünï → | phase_status: done",
            Some(3),
            "Ünï →",
            None,
        );
        check(
            "- phase_number: three | phase_name: X | phase_status: completed",
            None,
            "X",
            Some(Completed),
        );
        check("- phase_number: 4 | phase_name: X", Some(4), "X", None);
        check("- anything", None, "anything", None);
        check(
            "- phase_status: completed",
            None,
            "phase_status: completed",
            None,
        );
        assert_eq!(PhaseLine::parse(b"# - phase_number: 1"), None);
        assert_eq!(PhaseLine::parse(b"  - phase_number: 1"), None);
    }

    #[test]
    fn a_written_line_reads_back() {
        for (name, status) in [
            ("Engine", PhaseStatus::Pending),
            ("a | b", PhaseStatus::Failed),
            ("", PhaseStatus::Completed),
        ] {
            let read = PhaseLine::parse(PhaseLine::written(7, name, status).as_bytes()).unwrap();
            assert_eq!(
                (read.number, read.name.as_str(), read.status),
                (Some(7), name, Some(status))
            );
        }
    }
}
