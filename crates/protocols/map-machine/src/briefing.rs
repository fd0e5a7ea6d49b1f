//! The briefing of a resume: the plan's progress, verdict, review and next action.

use rekindle_text::python_json::{Json, Object};
use rekindle_text::python_text::{digit, is_odd_digit, is_space, rstrip, split_lines, strip};
use rekindle_world::Kind;

use crate::desk::Desk;
use crate::reply::Fault;
use crate::state::{CONTRACT_READY, State, StateFile, key};
use crate::steps::CLEAN_RETRY;
use crate::task_plan::{self, Planned, Progress};
use crate::{blueprint, layout};

/// The number of lines of a review or summary.
const EXCERPT: usize = 12;
/// The number of requested fixes.
const FIXES: usize = 5;

/// The contents of the human-readable files of a branch.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Artifacts {
    /// The branch.
    pub branch: String,
    /// The path of the verification summary.
    pub verification_path: Option<String>,
    /// The path of the latest review.
    pub review_path: Option<String>,
    /// The path of the latest QA notes.
    pub qa_path: Option<String>,
    /// The verdict of the last verification.
    pub verdict: Option<String>,
    /// The end of the latest review.
    pub review: String,
    /// The end of the verification summary.
    pub verification: String,
    /// The requested fixes.
    pub fixes: Vec<String>,
}

impl Artifacts {
    /// Reads the latest review, the latest QA notes and the verification summary.
    pub fn read(desk: Desk<'_>) -> Result<Self, Fault> {
        let names = desk.names(&desk.branch.file(""));
        let path = |name: &str| desk.branch.file(name);
        let review_path = latest(&names, "code-review")?.map(path);
        let qa_path = latest(&names, "qa")?.map(path);
        let verification_path = desk.branch.file(layout::VERIFICATION);
        let review = review_path.as_ref();
        let review = review.map(|path| text_of_file(desk, path)).transpose()?;
        let review = review.unwrap_or_default();
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
    pub fn to_json(&self) -> Object {
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

/// Returns the first name with the largest number after a prefix.
fn latest<'a>(names: &'a [String], prefix: &str) -> Result<Option<&'a str>, Fault> {
    let mut latest: Option<(Vec<u32>, &str)> = None;
    for name in names {
        let number = name.strip_prefix(prefix);
        let number = number.and_then(|rest| rest.strip_prefix('-')?.strip_suffix(".md"));
        let is_digit = |c| digit(c).is_some() || is_odd_digit(c);
        let is_number = |number: &&str| !number.is_empty() && number.chars().all(is_digit);
        let Some(number) = number.filter(is_number) else {
            continue;
        };
        let value: Option<Vec<u32>> = number.chars().map(digit).collect();
        let Some(value) = value else {
            return Err(Fault::new(format!("the number of `{name}` is unreadable")));
        };
        let value: Vec<u32> = value.into_iter().skip_while(|digit| *digit == 0).collect();
        let known = latest.as_ref();
        if known.is_none_or(|(largest, _)| (value.len(), &value) > (largest.len(), largest)) {
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
        // MAP's pattern matches a blank that is not a line end.
        return after.contains(|c| c != '\n').then_some("");
    }
    rest.split('\n').next().map(strip)
}

/// Returns the last non-blank lines.
fn last_lines(text: &str) -> String {
    let lines = split_lines(text).filter(|line| !strip(line).is_empty());
    let lines: Vec<&str> = lines.map(rstrip).collect();
    lines[lines.len().saturating_sub(EXCERPT)..].join("\n")
}

/// Returns the progress of the plan, or `None` if there is no plan.
pub(crate) fn plan_progress(desk: Desk<'_>) -> Result<Option<Progress>, Fault> {
    let text = desk.plan()?;
    text.map(|text| progress_of(desk, &text)).transpose()
}

/// Returns the progress of a plan with this text.
pub fn progress_of(desk: Desk<'_>, text: &str) -> Result<Progress, Fault> {
    let mut progress = task_plan::progress(text);
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

/// The briefing of a resume.
#[derive(Debug, Clone)]
pub struct Briefing {
    /// The current subtask.
    pub current_subtask: Json,
    /// The current phase.
    pub current_phase: Json,
    /// The status of the workflow.
    pub workflow_status: Json,
    /// The isolation of the next attempt.
    pub retry_isolation: Json,
    /// The path of the quarantine.
    pub quarantine_path: Json,
    /// The plan's progress.
    pub progress: Option<Progress>,
    /// The human-readable files.
    pub artifacts: Artifacts,
    /// The next actions, in order.
    pub next_action: Vec<String>,
}

impl Briefing {
    /// Reads the plan, state and artifacts of a branch.
    pub fn read(desk: Desk<'_>) -> Result<Self, Fault> {
        let progress = plan_progress(desk)?;
        let artifacts = Artifacts::read(desk)?;
        let file = StateFile::read(desk)?;
        let state = file.is_there().then_some(&file.state);
        Self::of(state, progress, artifacts)
    }

    /// Returns the briefing about a state, a plan and artifacts.
    pub fn of(
        state: Option<&State>,
        progress: Option<Progress>,
        artifacts: Artifacts,
    ) -> Result<Self, Fault> {
        let value = |key| {
            state
                .map(|state| state.get(key).clone())
                .unwrap_or_default()
        };
        let of_subtask = |key| {
            let Some(state) = state else {
                return Ok(Json::Null);
            };
            let found = state.map(key)?.get(state.subtask_key());
            Ok(found.cloned().unwrap_or_default())
        };
        let mut briefing = Self {
            current_subtask: value(key::CURRENT_SUBTASK),
            current_phase: value(key::PHASE),
            workflow_status: value(key::STATUS),
            quarantine_path: of_subtask(key::QUARANTINES)?,
            retry_isolation: of_subtask(key::ISOLATION)?,
            progress,
            artifacts,
            next_action: Vec::new(),
        };
        briefing.next_action = briefing.next_actions(None);
        Ok(briefing)
    }

    /// Returns the briefing with another current subtask and phase: in waves the state has none.
    #[must_use]
    pub fn at(mut self, subtask: &str, phase: &str) -> Self {
        self.next_action = self.next_actions(Some((subtask, phase)));
        self
    }

    /// Returns the numbers of complete and other subtasks in the plan, and the first of the others.
    pub fn counts(&self) -> (usize, usize, Option<&str>) {
        let Some(progress) = &self.progress else {
            return (0, 0, None);
        };
        let pending = progress.pending();
        let next = pending.first().copied();
        (progress.completed().len(), pending.len(), next)
    }

    fn next_actions(&self, at: Option<(&str, &str)>) -> Vec<String> {
        let (completed, pending, suggested) = self.counts();
        let (subtask, phase) = (filled(&self.current_subtask), filled(&self.current_phase));
        let mut actions = Vec::new();
        if let Some(subtask) = subtask
            && self.workflow_status.is_text(CONTRACT_READY)
        {
            actions.push(format!(
                "Resume {subtask} implementation from the persisted test contract"
            ));
        }
        if self.artifacts.verdict.as_deref() == Some("NEEDS WORK") {
            actions
                .push("Address issues from the latest verification before continuing".to_owned());
        }
        if !self.artifacts.fixes.is_empty() {
            actions.push("Review requested fixes from latest review artifact".to_owned());
        }
        if let Some(path) = filled(&self.quarantine_path)
            && self.retry_isolation.is_text(CLEAN_RETRY)
        {
            actions.push(format!(
                "Resume clean retry from {path}; do not rehydrate raw failed context"
            ));
        }
        match (at.or(subtask.zip(phase)), suggested) {
            (Some((subtask, phase)), _) => {
                actions.push(format!("Resume {subtask} at phase {phase}"));
            }
            (None, Some(next)) => actions.push(format!("Start next pending subtask {next}")),
            (None, None) if pending == 0 && completed > 0 => actions
                .push("Workflow appears complete; review PR and verification artifacts".to_owned()),
            (None, None) => {}
        }
        actions
    }

    /// Returns the object of `build_resume_briefing`.
    pub fn to_json(&self) -> Object {
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

fn filled(value: &Json) -> Option<&str> {
    value.as_text().filter(|text| !text.is_empty())
}

#[cfg(test)]
#[path = "briefing_tests.rs"]
mod tests;
