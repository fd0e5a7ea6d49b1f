//! The files that a subtask should change, and those that it changed.
//!
//! Files are named as git prints them, quoted names included, because MAP writes its baselines so.

use std::collections::BTreeSet;

use rekindle_model::Action;
use rekindle_text::python_json::{Json, Object};
use rekindle_text::python_text::{split_lines, strip};
use rekindle_world::{GitAnswer, GitQuestion};

use crate::desk::{Desk, Document};
use crate::reply::Fault;
use crate::state::{StateFile, key};
use crate::{blueprint, layout};

/// The framework's own folders, which belong to no subtask.
const OWN: &[&str] = &[".map/", ".codex/", ".agents/"];
/// Folders of tests.
const TEST_FOLDERS: &[&str] = &["tests", "test", "testing", "__tests__", "spec", "specs"];

/// The expected and actual changes of a subtask.
#[derive(Debug, Clone)]
pub struct Boundary {
    subtask: String,
    base: Option<String>,
    pub(crate) expected: Vec<String>,
    /// The changed files.
    pub actual: Vec<String>,
    /// Changed files that are neither expected nor tests.
    pub(crate) unexpected: Vec<String>,
    tests: Vec<String>,
    is_strict: bool,
}

impl Boundary {
    /// Compares the blueprint with git; `None` if one of them is not available.
    pub fn read(desk: Desk<'_>, subtask: &str) -> Result<Option<Self>, Fault> {
        let Some(expected) = declared(desk, subtask)? else {
            return Ok(None);
        };
        let base = base(desk, subtask)?;
        let names = base.clone().and_then(|base| {
            let printed = desk.git(&GitQuestion::PrintedNamesSince { base });
            printed.and_then(GitAnswer::printed).ok()
        });
        let Some(status) = status(desk) else {
            return Ok(None);
        };
        let mut actual: BTreeSet<String> = BTreeSet::new();
        let names = names.as_deref().map(split_lines).into_iter().flatten();
        actual.extend(names.map(strip).map(str::to_owned));
        actual.extend(status.iter().map(|path| unquoted(path).to_owned()));
        let before = baselines(desk, subtask)?;
        actual.retain(|path| !path.is_empty() && !is_own(path) && !before.contains(path));
        let outside = actual.difference(&expected).cloned();
        let (tests, unexpected) = outside.partition(|path| is_test(path));
        Ok(Some(Self {
            subtask: subtask.to_owned(),
            base,
            expected: expected.into_iter().collect(),
            actual: actual.into_iter().collect(),
            unexpected,
            tests,
            is_strict: desk.world.variable("MAP_STRICT_SCOPE").as_deref() == Some("1"),
        }))
    }

    /// Returns whether the step must stay open.
    pub(crate) fn is_violation(&self) -> bool {
        self.is_strict && !self.unexpected.is_empty()
    }

    /// Returns the warning about files outside the subtask.
    pub(crate) fn warning(&self) -> Object {
        Object::new()
            .with("unexpected", self.unexpected.clone())
            .with("subtask_id", &self.subtask)
            .with("hint", HINT)
    }

    /// Returns the log record about files outside the subtask.
    pub(crate) fn log(&self, desk: Desk<'_>) -> Option<Action> {
        if self.unexpected.is_empty() {
            return None;
        }
        let strict = self.is_strict;
        let status = if strict { "violation" } else { "warning" };
        let record = Object::new()
            .with("at", desk.stamp())
            .with("status", status)
            .with("subtask_id", &self.subtask)
            .with("base_ref", self.base.clone())
            .with("expected", self.expected.clone())
            .with("actual", self.actual.clone())
            .with("unexpected", self.unexpected.clone())
            .with("allowed_test_files", self.tests.clone())
            .with("strict", self.is_strict)
            .with("diagnostic_hint", HINT);
        Some(Action::Append {
            log: desk.branch.file("scope-violations.log").into(),
            record: record.to_line(),
        })
    }
}

const HINT: &str = "If these are the work of earlier subtasks, commit them and record the commit with record_subtask_result --commit-sha, or record the present files as the baseline of the branch with `map_step_runner.py record_scope_baseline <branch>`.";

/// Returns the files of a subtask in the blueprint; `None` if it does not have the subtask.
fn declared(desk: Desk<'_>, subtask: &str) -> Result<Option<BTreeSet<String>>, Fault> {
    let Document::Value(value) = desk.json(&desk.branch.file(layout::BLUEPRINT))? else {
        return Ok(None);
    };
    let subtasks = match blueprint::body(&value)?.get("subtasks") {
        None => &[][..],
        Some(Json::List(subtasks)) => subtasks,
        Some(other) => {
            let kind = other.kind();
            return Err(Fault::new(format!("the blueprint's subtasks are {kind}")));
        }
    };
    for entry in subtasks {
        let Some(entry) = entry.as_object() else {
            let kind = entry.kind();
            return Err(Fault::new(format!("a subtask of the blueprint is {kind}")));
        };
        if entry.text("id") == Some(subtask) {
            let files = entry.texts("affected_files");
            return Ok(Some(files.map(str::to_owned).collect()));
        }
    }
    Ok(None)
}

/// Returns the base of the comparison: the last subtask's commit, or its parent if the commit is this
/// subtask's, or HEAD.
fn base(desk: Desk<'_>, subtask: &str) -> Result<Option<String>, Fault> {
    let state = StateFile::read(desk)?.state;
    let commit = |name: String| {
        let answer = desk.git(&GitQuestion::Commit { name });
        answer.and_then(GitAnswer::commit).ok().flatten()
    };
    let text = |value: &Json| {
        let commit = value.as_text().filter(|commit| !commit.is_empty());
        commit.map(str::to_owned)
    };
    let Some(last) = text(state.get(key::LAST_COMMIT)) else {
        return Ok(commit("HEAD".to_owned()).map(|_| "HEAD".to_owned()));
    };
    let results = state.get(key::RESULTS).as_object();
    let result = results.and_then(|results| results.object(subtask));
    let recorded = result.and_then(|result| text(result.get("commit_sha")?));
    let parent = format!("{last}^");
    if recorded.as_ref() == Some(&last) && commit(parent.clone()).is_some() {
        return Ok(Some(parent));
    }
    Ok(Some(last))
}

/// Returns the paths of `git status` as they are printed.
pub fn status(desk: Desk<'_>) -> Option<Vec<String>> {
    let printed = desk.git(&GitQuestion::PrintedStatus { every_file: true });
    let printed = printed.and_then(GitAnswer::printed).ok();
    printed.map(|text| status_paths(&text))
}

/// Returns the paths in the output of `git status --porcelain`.
pub(crate) fn status_paths(printed: &str) -> Vec<String> {
    let paths = split_lines(printed).filter_map(|line| {
        let mut rest = line.chars();
        rest.by_ref().take(3).for_each(drop);
        let path = strip(rest.as_str());
        let path = path.split_once(" -> ").map_or(path, |(_, now)| now);
        (!path.is_empty()).then(|| path.to_owned())
    });
    paths.collect()
}

fn unquoted(path: &str) -> &str {
    let inner = path.strip_prefix('"');
    let inner = inner.and_then(|path| path.strip_suffix('"'));
    inner.unwrap_or(path)
}

/// Returns whether a path belongs to the framework.
pub fn is_own(path: &str) -> bool {
    OWN.iter().any(|folder| path.starts_with(folder))
}

/// Returns the files that were changed before the subtask or the workflow started.
fn baselines(desk: Desk<'_>, subtask: &str) -> Result<BTreeSet<String>, Fault> {
    let mut files = BTreeSet::new();
    for path in [
        baseline_path(desk, subtask),
        desk.branch.file("scope-baseline.json"),
    ] {
        let Document::Value(value) = desk.json(&path)? else {
            continue;
        };
        let Some(baseline) = value.as_object() else {
            let kind = value.kind();
            return Err(Fault::new(format!("`{path}` is {kind}, not an object")));
        };
        files.extend(baseline.texts("files").map(str::to_owned));
    }
    Ok(files)
}

fn baseline_path(desk: Desk<'_>, subtask: &str) -> String {
    let name = format!("subtask-baselines/{subtask}.json");
    desk.branch.file(&name)
}

/// Returns the effect that records the files changed before the actor starts.
pub(crate) fn baseline(desk: Desk<'_>, subtask: &str) -> Result<Option<Action>, Fault> {
    let Some(status) = status(desk) else {
        return Ok(None);
    };
    let files: BTreeSet<String> = status.into_iter().filter(|path| !is_own(path)).collect();
    let baseline = Object::new()
        .with("branch", desk.branch.as_str())
        .with("subtask_id", subtask)
        .with("recorded_at", desk.stamp())
        .with("files", files.into_iter().collect::<Vec<_>>())
        .with("head_sha", desk.head());
    desk.written(&baseline_path(desk, subtask), baseline.to_lines())
}

/// Returns whether a path is a test by its name; any subtask may change tests.
fn is_test(path: &str) -> bool {
    let path = path.replace('\\', "/");
    let mut parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    let Some(name) = parts.pop() else {
        return false;
    };
    if name == "conftest.py" || parts.iter().any(|part| TEST_FOLDERS.contains(part)) {
        return true;
    }
    let Some((stem, extension)) = name.rsplit_once('.') else {
        return false;
    };
    let is_plain = !extension.is_empty() && extension.bytes().all(|b| b.is_ascii_alphanumeric());
    let is_named =
        (stem.starts_with("test_") || stem.ends_with("_test")) && stem.len() > "test_".len();
    let is_marked = matches!(stem.rsplit_once('.'), Some((_, "test" | "spec")));
    is_plain && (is_named || is_marked)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_are_recognized_by_their_names() {
        for path in [
            "tests/a.py",
            "src/__tests__/a.ts",
            "test_a.py",
            "a_test.go",
            "a.test.tsx",
            "a.spec.js",
            "pkg/conftest.py",
        ] {
            assert!(is_test(path), "{path}");
        }
        for path in [
            "a.py",
            "tests",
            "test_.py",
            "_test.go",
            "contest.py",
            "testa.py",
            "a.test",
            "",
        ] {
            assert!(!is_test(path), "{path}");
        }
    }

    #[test]
    fn paths_are_parsed_from_git_status() {
        let printed = " M src/a.py\nR  old.py -> new.py\n?? \"a b.txt\"\n?? x\n\n??";
        assert_eq!(
            status_paths(printed),
            ["src/a.py", "new.py", "\"a b.txt\"", "x"]
        );
        assert_eq!(unquoted("\"a b.txt\""), "a b.txt");
        assert_eq!(unquoted("\""), "\"");
    }
}
