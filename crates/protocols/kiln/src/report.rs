//! `.kiln/validation/report.md`: the verdict of Argus and its correction tasks.

use jiff::Timestamp;
use rekindle_text::markdown::{Page, Section};

use super::values::Verdict;

/// A report and its parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Report {
    pub(super) text: String,
    /// When it was written, if that is known.
    pub(super) modified: Option<Timestamp>,
    pub(super) verdict: Option<Verdict>,
    /// The section with the tasks, or an empty text.
    pub(super) corrections: String,
    pub(super) n_corrections: usize,
}

impl Report {
    /// Reads any text.
    pub(super) fn parse(text: String) -> Self {
        let verdict = section(&text, "Verdict").and_then(|said| verdict(&said));
        let corrections = section(&text, "Correction Tasks").unwrap_or_default();
        let n_corrections = corrections
            .lines()
            .filter(|line| line.starts_with("### Correction Task"))
            .count();
        Self {
            text,
            verdict,
            corrections,
            n_corrections,
            modified: None,
        }
    }
}

/// Returns the verdict of a text: the word in the first line that has one.
///
/// A line with several verdicts does not count, as in a template that was not filled in.
pub(super) fn verdict(text: &str) -> Option<Verdict> {
    let verdicts = |line: &str| -> Vec<Verdict> {
        let words = line.split(|c: char| !c.is_ascii_alphanumeric());
        words.filter_map(Verdict::parse).collect()
    };
    let said = text.lines().map(verdicts).find(|said| !said.is_empty())?;
    let first = *said.first()?;
    said.iter()
        .all(|verdict| *verdict == first)
        .then_some(first)
}

/// Returns the text after a heading's name and below it, without blank lines around it; the last
/// heading of the second level with the name counts.
fn section(text: &str, name: &str) -> Option<String> {
    let behind_name = |section: Section<'_>| {
        let rest = section.title.strip_prefix(name)?;
        let is_whole = !rest.starts_with(|c: char| c.is_alphanumeric());
        let rest = rest.trim_start_matches([':', '—', '–', '-', ' ']);
        let lines: Vec<&str> = [rest].into_iter().chain(section.body.lines()).collect();
        is_whole.then(|| lines.join("\n").trim().to_owned())
    };
    let page = Page::new(text);
    let of_level = page.sections().filter(|section| section.heading.level == 2);
    of_level.rev().find_map(behind_name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_verdict_is_the_word_below_its_heading() {
        for (text, wanted) in [
            (
                "# R\n## Verdict\n\n**FAIL**\n\nCriteria unmet, not a PASS.\n",
                Some(Verdict::Fail),
            ),
            ("## Verdict\nPASS", Some(Verdict::Pass)),
            ("## Verdict\r\nVerdict: PARTIAL\r\n", Some(Verdict::Partial)),
            ("## Test Results\nPASS\n## Verdict\n", None),
            ("PASS", None),
            ("## Verdict\npassed\n", None),
            ("## Verdict: PASS\n", Some(Verdict::Pass)),
            ("## Verdict — **FAIL**\nNot a PASS.\n", Some(Verdict::Fail)),
            ("## Verdict: PASS\n## Verdict\nFAIL\n", Some(Verdict::Fail)),
            ("## Verdicts\nPASS\n", None),
            ("## Verdict\nPASS | PARTIAL | FAIL\n", None),
            ("## Verdict\nPASS (all), PASS\n", Some(Verdict::Pass)),
            ("```\n## Verdict\nPASS\n```\n", None),
            ("", None),
        ] {
            assert_eq!(Report::parse(text.to_owned()).verdict, wanted, "{text}");
        }
    }

    #[test]
    fn corrections_are_read_whole_and_counted() {
        let text = "## Correction Tasks\n### Correction Task 1: A\nFailure: x\n\n### Correction Task 2: B\n## Verdict\nFAIL\n";
        let report = Report::parse(text.to_owned());
        assert_eq!(report.n_corrections, 2);
        assert_eq!(
            report.corrections,
            "### Correction Task 1: A\nFailure: x\n\n### Correction Task 2: B"
        );
    }
}
