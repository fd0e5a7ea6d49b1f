//! Documents that a plan needs beyond the evidence.

use camino::Utf8PathBuf;

use super::super::layout;
use super::super::next::Work;

/// Documents that belong to a run's next action, read when it is known.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in super::super) struct Documents {
    /// The contract of the task that comes next, with its path.
    pub(in super::super) contract: Option<(Utf8PathBuf, String)>,
    /// The verifier's report on this attempt.
    pub(in super::super) report: Option<Report>,
    /// The feature in the run's events, if no document describes it yet.
    pub(in super::super) feature: Option<String>,
}

/// The result of a verifier's report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Report {
    Passed,
    Failed,
    Blocked,
}

impl Report {
    /// Reads `result: passed` of the front matter, or the heading `### Result: PASSED`.
    pub(in super::super) fn parse(text: &str) -> Option<Self> {
        text.lines().find_map(|line| {
            let line = line.trim_start_matches('#').trim();
            let (key, value) = line.split_once(':')?;
            if !key.trim().eq_ignore_ascii_case("result") {
                return None;
            }
            let value = value
                .trim()
                .trim_matches(['"', '\'', '*'])
                .to_ascii_lowercase();
            match value.as_str() {
                "passed" | "passed_with_warnings" => Some(Self::Passed),
                "failed" => Some(Self::Failed),
                "blocked" => Some(Self::Blocked),
                _ => None,
            }
        })
    }
}

/// Returns the path of the verifier's report, one for each attempt.
pub(in super::super) fn report_path(run: &str, work: &Work) -> Option<Utf8PathBuf> {
    if !layout::is_safe_name(&work.task) {
        return None;
    }
    let name = match work.attempt {
        1 => format!("{}.md", work.task),
        n => format!("{}-v{n}.md", work.task),
    };
    Some(layout::run_folder(run).join("verifications").join(name))
}
