//! `.kiln/validation/report.md`: what Argus concluded, and what is to be corrected.

use jiff::Timestamp;
use rekindle_text::headings;

use super::values::Verdict;

/// A report, as text and as what it says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Report {
    pub(super) text: String,
    /// When it was written, where that can be told.
    pub(super) modified: Option<Timestamp>,
    pub(super) verdict: Option<Verdict>,
    /// The section with the tasks, empty if there is none.
    pub(super) corrections: String,
    pub(super) n_corrections: usize,
}

impl Report {
    /// Reads any text.
    pub(super) fn parse(text: String) -> Self {
        let verdict = section(&text, "Verdict").and_then(|section| verdict(&section));
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

/// Returns the first word of a text that is a verdict.
pub(super) fn verdict(text: &str) -> Option<Verdict> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric());
    words.into_iter().find_map(Verdict::parse)
}

/// Returns what stands below a heading of the second level, without blank lines around it.
fn section(text: &str, name: &str) -> Option<String> {
    let found = headings(text);
    let is_meant = |at: &usize| {
        let words = found
            .get(*at)
            .and_then(|heading| text.get(heading.text.range()));
        found.get(*at).is_some_and(|heading| heading.level == 2) && words == Some(name)
    };
    let at = (0..found.len()).rfind(is_meant)?;
    let start = found.get(at)?.line;
    let next = found.iter().skip(at + 1).find(|heading| heading.level <= 2);
    let end = next.map_or(usize::MAX, |heading| heading.line - 1);
    let lines: Vec<&str> = text
        .lines()
        .skip(start)
        .take(end.saturating_sub(start))
        .collect();
    Some(lines.join("\n").trim().to_owned())
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
            ("```\n## Verdict\nPASS\n```\n", None),
            ("", None),
        ] {
            assert_eq!(Report::parse(text.to_owned()).verdict, wanted, "{text}");
        }
    }

    #[test]
    fn corrections_are_taken_whole_and_counted() {
        let text = "## Correction Tasks\n### Correction Task 1: A\nFailure: x\n\n### Correction Task 2: B\n## Verdict\nFAIL\n";
        let report = Report::parse(text.to_owned());
        assert_eq!(report.n_corrections, 2);
        assert_eq!(
            report.corrections,
            "### Correction Task 1: A\nFailure: x\n\n### Correction Task 2: B"
        );
    }
}
