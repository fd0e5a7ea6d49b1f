//! What somebody who takes up a workflow is told: the plan's progress, verdict, review, next action.

use rekindle_text::python_json::{Json, Object};
use rekindle_text::python_text::{digit, is_odd_digit, is_space, rstrip, split_lines, strip};
use rekindle_world::Kind;

use super::blueprint;
use super::desk::Desk;
use super::fault::Fault;
use super::layout;
use super::plan::{self, Planned, Progress};
use super::state::{CONTRACT_READY, State, StateFile, key};
use super::steps::CLEAN_RETRY;

/// How many lines of a review or summary are shown.
const EXCERPT: usize = 12;
/// How many requested fixes are shown.
const FIXES: usize = 5;

/// What the human-readable files of a branch say.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Artifacts {
    pub(crate) branch: String,
    pub(crate) verification_path: Option<String>,
    pub(crate) review_path: Option<String>,
    pub(crate) qa_path: Option<String>,
    pub(crate) verdict: Option<String>,
    pub(crate) review: String,
    pub(crate) verification: String,
    pub(crate) fixes: Vec<String>,
}

impl Artifacts {
    /// Reads the latest review, the latest QA notes and the verification summary.
    pub(crate) fn read(desk: Desk<'_>) -> Result<Self, Fault> {
        let names = desk.names(&desk.branch.file(""));
        let path = |name: &str| desk.branch.file(name);
        let review_path = latest(&names, "code-review")?.map(path);
        let qa_path = latest(&names, "qa")?.map(path);
        let verification_path = desk.branch.file(layout::VERIFICATION);
        let review = match &review_path {
            Some(path) => text_of_file(desk, path)?,
            None => String::new(),
        };
        let verification = text_of_file(desk, &verification_path)?;
        let fixes = split_lines(&review).map(strip);
        let fixes = fixes.filter(|line| line.starts_with("- ")).take(FIXES);
        Ok(Self {
            branch: desk.branch.to_string(),
            fixes: fixes.map(str::to_owned).collect(),
            verdict: verdict(&verification).map(str::to_owned),
            verification_path: Some(verification_path).filter(|path| desk.exists(path)),
            review_path,
            qa_path,
            review: last_lines(&review),
            verification: last_lines(&verification),
        })
    }

    /// Returns the object `resume_briefing`.
    pub(crate) fn to_json(&self) -> Object {
        Object::new()
            .with("branch", &self.branch)
            .with("verification_summary_path", self.verification_path.clone())
            .with("latest_review_path", self.review_path.clone())
            .with("latest_qa_path", self.qa_path.clone())
            .with("latest_verification_verdict", self.verdict.clone())
            .with("latest_review_summary", &self.review)
            .with("latest_verification_summary", &self.verification)
            .with("suggested_fixes", self.fixes.clone())
    }
}

/// Returns the name with the largest number after a prefix; of equal ones the first.
fn latest<'a>(names: &'a [String], prefix: &str) -> Result<Option<&'a str>, Fault> {
    let mut latest: Option<(Vec<u32>, &str)> = None;
    for name in names {
        let number = name
            .strip_prefix(prefix)
            .and_then(|rest| rest.strip_prefix('-'))
            .and_then(|rest| rest.strip_suffix(".md"));
        let Some(number) = number.filter(|number| !number.is_empty()) else {
            continue;
        };
        if !number
            .chars()
            .all(|c| digit(c).is_some() || is_odd_digit(c))
        {
            continue;
        }
        let value: Option<Vec<u32>> = number.chars().map(digit).collect();
        let value = value
            .ok_or_else(|| Fault::new(format!("`{name}` has a number that can not be read")))?;
        let value: Vec<u32> = value.into_iter().skip_while(|digit| *digit == 0).collect();
        let is_larger = latest
            .as_ref()
            .is_none_or(|(largest, _)| (value.len(), &value) > (largest.len(), largest));
        if is_larger {
            latest = Some((value, name));
        }
    }
    Ok(latest.map(|(_, name)| name))
}

fn text_of_file(desk: Desk<'_>, path: &str) -> Result<String, Fault> {
    if desk.kind(path) == Some(Kind::File) {
        return Ok(desk.text(path)?.unwrap_or_default());
    }
    Ok(String::new())
}

/// Returns the rest of the line after `- Verdict:`, or the next line that is not blank.
fn verdict(summary: &str) -> Option<&str> {
    let (_, after) = summary.split_once("- Verdict:")?;
    let rest = after.trim_start_matches(is_space);
    if rest.is_empty() {
        // The peer's pattern gives back blanks until one is left to take, if it is on a line.
        return after.contains(|c| c != '\n').then_some("");
    }
    rest.split('\n').next().map(strip)
}

/// Returns the last lines that are not blank.
fn last_lines(text: &str) -> String {
    let lines: Vec<&str> = split_lines(text)
        .filter(|line| !strip(line).is_empty())
        .map(rstrip)
        .collect();
    lines[lines.len().saturating_sub(EXCERPT)..].join("\n")
}

/// Returns what the plan says of its subtasks, or `None` if there is no plan.
pub(crate) fn plan_progress(desk: Desk<'_>) -> Result<Option<Progress>, Fault> {
    let Some(text) = desk.plan()? else {
        return Ok(None);
    };
    progress_of(desk, &text).map(Some)
}

/// Returns what a plan of this text says of its subtasks.
pub(crate) fn progress_of(desk: Desk<'_>, text: &str) -> Result<Progress, Fault> {
    let mut progress = plan::progress(text);
    if progress.subtasks.is_empty() {
        let unknown = |id| Planned {
            id,
            status: "unknown".to_owned(),
        };
        let ids = blueprint::planned_ids(desk, text)?;
        progress.subtasks = ids.into_iter().map(unknown).collect();
    }
    Ok(progress)
}

/// Everything that a resume begins with.
#[derive(Debug, Clone)]
pub(crate) struct Briefing {
    pub(crate) current_subtask: Json,
    pub(crate) current_phase: Json,
    pub(crate) workflow_status: Json,
    pub(crate) retry_isolation: Json,
    pub(crate) quarantine_path: Json,
    pub(crate) progress: Option<Progress>,
    pub(crate) artifacts: Artifacts,
    pub(crate) next_action: Vec<String>,
}

impl Briefing {
    /// Reads plan, state and artifacts of a branch.
    pub(crate) fn read(desk: Desk<'_>) -> Result<Self, Fault> {
        let progress = plan_progress(desk)?;
        let artifacts = Artifacts::read(desk)?;
        let file = StateFile::read(desk)?;
        let state = file.is_there().then_some(&file.state);
        Self::of(state, progress, artifacts)
    }

    /// Returns the briefing that follows from what was read.
    pub(crate) fn of(
        state: Option<&State>,
        progress: Option<Progress>,
        artifacts: Artifacts,
    ) -> Result<Self, Fault> {
        let mut briefing = Self {
            current_subtask: Json::Null,
            current_phase: Json::Null,
            workflow_status: Json::Null,
            retry_isolation: Json::Null,
            quarantine_path: Json::Null,
            progress,
            artifacts,
            next_action: Vec::new(),
        };
        if let Some(state) = state {
            briefing.take(state)?;
        }
        briefing.next_action = briefing.due(None);
        Ok(briefing)
    }

    /// Returns the same for a workflow that goes on with this subtask at this phase, whatever its
    /// cursor says: in waves the cursor stands still.
    pub(crate) fn at(mut self, subtask: &str, phase: &str) -> Self {
        self.next_action = self.due(Some((subtask, phase)));
        self
    }

    fn take(&mut self, state: &State) -> Result<(), Fault> {
        self.current_subtask = state.get(key::CURRENT_SUBTASK).clone();
        self.current_phase = state.get(key::PHASE).clone();
        self.workflow_status = state.get(key::STATUS).clone();
        let of_subtask = |key| {
            let found = state.map(key)?.get(state.subtask_key());
            Ok(found.cloned().unwrap_or_default())
        };
        self.quarantine_path = of_subtask(key::QUARANTINES)?;
        self.retry_isolation = of_subtask(key::ISOLATION)?;
        Ok(())
    }

    /// Returns how many subtasks the plan calls complete, how many not, and the first of those.
    pub(crate) fn counts(&self) -> (usize, usize, Option<&str>) {
        let Some(progress) = &self.progress else {
            return (0, 0, None);
        };
        let pending = progress.pending();
        let next = pending.first().copied();
        (progress.completed().len(), pending.len(), next)
    }

    fn due(&self, at: Option<(&str, &str)>) -> Vec<String> {
        let (completed, pending, suggested) = self.counts();
        let subtask = self.current_subtask.as_text().filter(|id| !id.is_empty());
        let phase = self
            .current_phase
            .as_text()
            .filter(|phase| !phase.is_empty());
        let mut due = Vec::new();
        if let Some(subtask) = subtask
            && self.workflow_status.is_text(CONTRACT_READY)
        {
            due.push(format!(
                "Resume {subtask} implementation from the persisted test contract"
            ));
        }
        if self.artifacts.verdict.as_deref() == Some("NEEDS WORK") {
            due.push("Address issues from the latest verification before continuing".to_owned());
        }
        if !self.artifacts.fixes.is_empty() {
            due.push("Review requested fixes from latest review artifact".to_owned());
        }
        if let Some(path) = self
            .quarantine_path
            .as_text()
            .filter(|path| !path.is_empty())
            && self.retry_isolation.is_text(CLEAN_RETRY)
        {
            due.push(format!(
                "Resume clean retry from {path}; do not rehydrate raw failed context"
            ));
        }
        match (at.or(subtask.zip(phase)), suggested) {
            (Some((subtask, phase)), _) => {
                due.push(format!("Resume {subtask} at phase {phase}"));
            }
            (None, Some(next)) => due.push(format!("Start next pending subtask {next}")),
            (None, None) if pending == 0 && completed > 0 => due
                .push("Workflow appears complete; review PR and verification artifacts".to_owned()),
            (None, None) => {}
        }
        due
    }

    /// Returns the object of `build_resume_briefing`.
    pub(crate) fn to_json(&self) -> Object {
        let (completed, pending, suggested) = self.counts();
        Object::new()
            .with("branch", &self.artifacts.branch)
            .with("current_subtask", &self.current_subtask)
            .with("current_phase", &self.current_phase)
            .with("workflow_status", &self.workflow_status)
            .with("retry_isolation", &self.retry_isolation)
            .with("retry_quarantine_path", &self.quarantine_path)
            .with("completed_count", completed)
            .with("pending_count", pending)
            .with("suggested_next", suggested)
            .with("resume_briefing", self.artifacts.to_json())
            .with("next_action", self.next_action.clone())
    }
}

#[cfg(test)]
#[path = "briefing_tests.rs"]
mod tests;
