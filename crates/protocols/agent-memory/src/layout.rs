//! The paths of a run.

use std::collections::BTreeSet;

use camino::{Utf8Path, Utf8PathBuf};

/// The folder of all runs, relative to the project.
pub(super) const RUNS: &str = ".agent-memory/runs";
/// The folder of the orders of all workers, relative to the project; the runner writes them.
pub(super) const ORDERS: &str = ".rekindle/runs";

/// The documents that decide the next action.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Artifact {
    Prd,
    Plan,
    TaskGraph,
    Constitution,
    CleanupReport,
    PrChecklist,
    Summary,
    /// Only later protocols have it; a cache that never decides.
    WorkflowState,
    /// Only later protocols have it.
    BootstrapPlan,
}

impl Artifact {
    pub(super) const ALL: [Self; 9] = [
        Self::Prd,
        Self::Plan,
        Self::TaskGraph,
        Self::Constitution,
        Self::CleanupReport,
        Self::PrChecklist,
        Self::Summary,
        Self::WorkflowState,
        Self::BootstrapPlan,
    ];

    pub(super) fn file_name(self) -> &'static str {
        match self {
            Self::Prd => "prd.md",
            Self::Plan => "plan.md",
            Self::TaskGraph => "task-graph.json",
            Self::Constitution => "constitution.md",
            Self::CleanupReport => "cleanup-report.md",
            Self::PrChecklist => "pr-checklist.md",
            Self::Summary => "summary.md",
            Self::WorkflowState => "workflow-state.json",
            Self::BootstrapPlan => "bootstrap-plan.md",
        }
    }
}

impl Artifact {
    /// Returns whether an empty file counts as missing; the task graph has its own reader.
    pub(super) fn is_written(self) -> bool {
        match self {
            Self::Prd
            | Self::Plan
            | Self::Constitution
            | Self::CleanupReport
            | Self::PrChecklist
            | Self::Summary => true,
            Self::TaskGraph | Self::WorkflowState | Self::BootstrapPlan => false,
        }
    }
}

/// Returns whether a run skipped the documents, as small ones may: a constitution and none of the others.
pub(super) fn is_small(artifacts: &BTreeSet<Artifact>) -> bool {
    let others = [Artifact::Prd, Artifact::Plan, Artifact::TaskGraph];
    artifacts.contains(&Artifact::Constitution)
        && !others.iter().any(|other| artifacts.contains(other))
}

/// Returns the folder of a run, relative to the project.
pub(super) fn run_folder(run: &str) -> Utf8PathBuf {
    Utf8Path::new(RUNS).join(run)
}

/// Returns the log of a resume at `stamp`, relative to the project; every writer has its own.
pub(super) fn session_log(run: &str, stamp: &str, taken: &[String]) -> Utf8PathBuf {
    let folder = run_folder(run).join("events/orchestrator");
    let mut name = format!("{stamp}.jsonl");
    let mut number = 2;
    while taken.contains(&name) {
        name = format!("{stamp}-{number}.jsonl");
        number += 1;
    }
    folder.join(name)
}

/// Returns the log for an actor's reports of one day, relative to the project.
///
/// One log for each short-lived process would be too many; no other tool uses this name.
pub(super) fn actor_log(run: &str, actor: &str, day: &str) -> Utf8PathBuf {
    run_folder(run)
        .join("events")
        .join(actor)
        .join(format!("{day}-rekindle.jsonl"))
}

/// Returns whether a run's name is `YYYYMMDD-HHMM-<name>-<4 characters>`.
pub(super) fn is_conforming(run: &str) -> bool {
    let parts: Vec<&str> = run.split('-').collect();
    let [date, time, slug @ .., short] = parts.as_slice() else {
        return false;
    };
    let digits =
        |text: &str, len: usize| text.len() == len && text.bytes().all(|b| b.is_ascii_digit());
    let plain = |text: &str| {
        text.bytes()
            .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
    };
    // The name may hold any number of hyphens, but it must not be empty.
    let slug_len = slug.iter().map(|part| part.len() + 1).sum::<usize>();
    digits(date, 8)
        && digits(time, 4)
        && slug_len > 1
        && slug.iter().all(|part| plain(part))
        && short.len() == 4
        && plain(short)
}

/// Returns whether a name with an extension is a safe file name.
pub(super) fn is_safe_name(name: &str) -> bool {
    !name.is_empty()
        && name.trim() == name
        && name.len() <= 200
        && !name
            .chars()
            .any(|c| c == '/' || c == '\\' || c.is_control())
}

/// Finds the contract of a task among the sorted names in `tasks/`.
///
/// It is `<id>.md`, or `<id>-<title>.md` unless its stem is the id of another task or a work log.
pub(super) fn contract<'n>(
    task: &str,
    names: &'n [String],
    is_task: impl Fn(&str) -> bool,
) -> Option<&'n str> {
    // The names are sorted, and a graph of many tasks asks for each of them.
    let exact = names.binary_search(&format!("{task}.md")).ok();
    let titled = || {
        let prefix = format!("{task}-");
        let first = names.partition_point(|name| *name < prefix);
        let mut begun = names[first..]
            .iter()
            .take_while(|name| name.starts_with(&prefix));
        let is_titled = |name: &&String| {
            let stem = name.strip_suffix(".md");
            stem.is_some_and(|stem| !stem.ends_with("-work") && !is_task(stem))
        };
        begun.position(|name| is_titled(&name)).map(|at| first + at)
    };
    exact.or_else(titled).map(|at| names[at].as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recognizes_conforming_run_names() {
        for good in [
            "20260115-1030-add-validation-a1b2",
            "20260115-1430-x-0000",
            "20260115-1430-a--b-0000",
        ] {
            assert!(is_conforming(good), "{good}");
        }
        for odd in [
            "20240115-1030-feature-abc123",
            "20260124-1234-feature-x",
            "2026-01-24-abcdefgh",
            "20260115-1030-a1b2",
            "20260115-1030--a1b2",
            "20260115-1030-Add-a1b2",
            "run",
            "",
        ] {
            assert!(!is_conforming(odd), "{odd}");
        }
    }

    #[test]
    fn does_not_confuse_contracts_of_similar_ids() {
        let names: Vec<String> = [
            "T003-TEST.md",
            "T003-work.md",
            "T004-add-thing.md",
            "T004-work.md",
            "T0041.md",
        ]
        .map(str::to_owned)
        .to_vec();
        let is_task = |id: &str| ["T003", "T003-TEST", "T004"].contains(&id);
        assert_eq!(contract("T003", &names, is_task), None);
        assert_eq!(contract("T003-TEST", &names, is_task), Some("T003-TEST.md"));
        assert_eq!(contract("T004", &names, is_task), Some("T004-add-thing.md"));
    }

    #[test]
    fn new_logs_get_unused_names() {
        let taken = [
            "20260120-120000.jsonl".to_owned(),
            "20260120-120000-2.jsonl".to_owned(),
        ];
        assert_eq!(
            session_log("r", "20260120-120000", &taken),
            ".agent-memory/runs/r/events/orchestrator/20260120-120000-3.jsonl"
        );
    }

    #[test]
    fn recognizes_unsafe_names() {
        for bad in ["", "../../x", "a/b", "a\nb", " a", "a ", "a\\b"] {
            assert!(!is_safe_name(bad), "{bad}");
        }
        // With `.md` behind it, each of these is an ordinary file name.
        for good in [
            "T003-TEST",
            "a b",
            "..",
            ".a",
            "-x",
            "a.",
            "T1.lock",
            "a..b",
        ] {
            assert!(is_safe_name(good), "{good}");
        }
    }
}
