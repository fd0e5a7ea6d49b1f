//! `step_state.json`: the checkpoint of a workflow.
//!
//! Values are kept as they are: a `null` in place of a list is written back, and only a command that
//! needs the list stops. All 34 keys of the reference version are always written, in its order; unknown
//! keys (of the hook, of newer versions) follow. MAP itself drops unknown keys at its next save.

use std::collections::BTreeSet;
use std::fmt;

use rekindle_model::Action;
use rekindle_text::python_json::{self, Json, Object};

use super::desk::{Desk, decoded, replacing};
use super::layout;
use super::reply::Fault;
use super::steps;

/// A key of the reference version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Key(&'static str);

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

/// The keys that commands use; other keys are only kept.
pub mod key {
    use super::Key;

    macro_rules! keys {
        ($($name:ident $key:literal,)*) => {
            $(#[doc = concat!("`", $key, "`")] pub const $name: Key = Key($key);)*
        };
    }

    keys! {
        STARTED "started_at",
        CURRENT_SUBTASK "current_subtask_id",
        SUBTASK_INDEX "subtask_index",
        SEQUENCE "subtask_sequence",
        STEP "current_step_id",
        PHASE "current_step_phase",
        COMPLETED_STEPS "completed_steps",
        PENDING_STEPS "pending_steps",
        RETRY_COUNT "retry_count",
        MAX_RETRIES "max_retries",
        PLAN_APPROVED "plan_approved",
        EXECUTION_MODE "execution_mode",
        TDD_MODE "tdd_mode",
        SKIPPED_STEPS "skipped_steps",
        WAVES "execution_waves",
        WAVE_INDEX "current_wave_index",
        SUBTASK_PHASES "subtask_phases",
        SUBTASK_RETRIES "subtask_retry_counts",
        STATUS "workflow_status",
        CONSTRAINTS "constraints",
        RESULTS "subtask_results",
        LAST_COMMIT "last_subtask_commit_sha",
        CONTRACTS "contract_ready_subtasks",
        CLEAN_RETRIES "clean_retry_count",
        CONTAMINATED_RETRIES "contaminated_retry_count",
        SCOPE_FEEDBACK "scope_feedback_subtasks",
        PROGRESS_FEEDBACK "progress_feedback_subtasks",
        ISOLATION "retry_isolation_status",
        QUARANTINES "retry_quarantine_paths",
        COMPLETED_AT "completed_at",
        COMPLETION_REASONS "subtask_completion_reasons",
        INTERRUPTION "active_interruption",
    }
}

/// The phase of a subtask that waits for others.
pub const DEFERRED: &str = "deferred_for_deps";
/// The status of a complete workflow.
pub const WORKFLOW_COMPLETE: &str = "WORKFLOW_COMPLETE";
/// The status of a workflow that pauses at a test contract.
pub const CONTRACT_READY: &str = "CONTRACT_READY";
/// The status of a workflow that was started from a plan.
pub(crate) const IN_PROGRESS: &str = "IN_PROGRESS";
/// The step and phase of a complete workflow.
pub const COMPLETE: &str = "COMPLETE";
/// The status of a subtask with a flaky check.
pub(crate) const NONDETERMINISTIC: &str = "deferred_nondeterministic";

/// The statuses of results that count as done.
const DONE_RESULTS: &[&str] = &[
    "valid",
    "completed",
    "done",
    "skipped",
    "no-op",
    NONDETERMINISTIC,
];
/// The phases of subtasks that count as done.
const DONE_PHASES: &[&str] = &["completed", "skipped", "no-op", "complete"];

/// The contents of the checkpoint.
#[derive(Debug, Clone, PartialEq)]
pub struct State(Object);

impl State {
    /// Returns the state of a new workflow.
    pub(crate) fn fresh(started_at: String) -> Self {
        let none = || Json::List(Vec::new());
        let nothing = Object::new;
        let keys = Object::new()
            .with("workflow", "map-efficient")
            .with("started_at", started_at)
            .with("current_subtask_id", Json::Null)
            .with("subtask_index", 0_i64)
            .with("subtask_sequence", none())
            .with("current_step_id", "1.0")
            .with("current_step_phase", "DECOMPOSE")
            .with("completed_steps", none())
            .with("pending_steps", steps::STANDARD)
            .with("retry_count", 0_i64)
            .with("max_retries", 5_i64)
            .with("plan_approved", false)
            .with("execution_mode", "batch")
            .with("tdd_mode", false)
            .with("skipped_steps", none())
            .with("execution_waves", none())
            .with("current_wave_index", 0_i64)
            .with("subtask_phases", nothing())
            .with("subtask_retry_counts", nothing())
            .with("workflow_status", "INITIALIZED")
            .with("subtask_files_changed", nothing())
            .with("guard_rework_counts", nothing())
            .with("constraints", Json::Null)
            .with("subtask_results", nothing())
            .with("last_subtask_commit_sha", Json::Null)
            .with("contract_ready_subtasks", nothing())
            .with("clean_retry_count", 0_i64)
            .with("contaminated_retry_count", 0_i64)
            .with("scope_feedback_subtasks", none())
            .with("progress_feedback_subtasks", none())
            .with("retry_isolation_status", nothing())
            .with("retry_quarantine_paths", nothing())
            .with("completed_at", Json::Null)
            .with("subtask_completion_reasons", nothing());
        Self(keys)
    }

    /// Returns the state of a file; missing keys are as in a fresh state.
    pub(crate) fn of(object: Object, started_at: String) -> Self {
        let mut state = Self::fresh(started_at);
        for (key, value) in object {
            state.0.set(key, value);
        }
        state
    }

    /// Returns a value.
    pub fn get(&self, key: Key) -> &Json {
        self.0.get(key.0).unwrap_or(&Json::Null)
    }

    /// Sets a value.
    pub(crate) fn set(&mut self, key: Key, value: impl Into<Json>) {
        self.0.set(key.0, value);
    }

    /// Returns whether a value is this text.
    pub fn is(&self, key: Key, text: &str) -> bool {
        self.get(key).is_text(text)
    }

    /// Returns an integer.
    pub fn int(&self, key: Key) -> Result<i64, Fault> {
        let value = self.get(key);
        if let Json::Bool(value) = value {
            return Ok(i64::from(*value));
        }
        let Json::Int(number) = value else {
            return Err(mistyped(key, value, "an integer"));
        };
        Ok(*number)
    }

    /// Returns an integer plus one.
    pub(crate) fn int_after(&self, key: Key) -> Result<i64, Fault> {
        let too_large = || Fault::new(format!("`{}` of the state is too large", key.0));
        self.int(key)?.checked_add(1).ok_or_else(too_large)
    }

    /// Returns a list; as in Python, an empty object is an empty list.
    pub fn list(&self, key: Key) -> Result<&[Json], Fault> {
        let value = self.get(key);
        if value.as_object().is_some_and(Object::is_empty) {
            return Ok(&[]);
        }
        let list = value.as_list();
        list.ok_or_else(|| mistyped(key, value, "an array"))
    }

    /// Returns a list; a false value is an empty list.
    pub(crate) fn list_or_nothing(&self, key: Key) -> Result<&[Json], Fault> {
        if self.get(key).is_truthy() {
            return self.list(key);
        }
        Ok(&[])
    }

    /// Returns closed or skipped steps, `None` for one that is not a string.
    ///
    /// MAP's other script writes an object, whose keys count, as in Python.
    pub fn entries(&self, key: Key) -> Result<Vec<Option<&str>>, Fault> {
        if let Some(object) = self.get(key).as_object() {
            return Ok(object.iter().map(|(name, _)| Some(name)).collect());
        }
        Ok(self.list(key)?.iter().map(Json::as_text).collect())
    }

    /// Returns whether a step is closed or skipped.
    pub fn has_entry(&self, key: Key, step: &str) -> Result<bool, Fault> {
        Ok(self.entries(key)?.contains(&Some(step)))
    }

    /// Returns a mutable list.
    pub(crate) fn list_mut(&mut self, key: Key) -> Result<&mut Vec<Json>, Fault> {
        match self.0.get_mut(key.0) {
            Some(Json::List(items)) => Ok(items),
            other => Err(mistyped(
                key,
                other.map_or(&Json::Null, |value| value),
                "an array",
            )),
        }
    }

    /// Returns a list of texts.
    pub fn texts(&self, key: Key) -> Result<Vec<String>, Fault> {
        let items = self.list_or_nothing(key)?.iter();
        let texts = items.map(|item| {
            let text = item.as_text().map(str::to_owned);
            text.ok_or_else(|| mistyped(key, item, "strings"))
        });
        texts.collect()
    }

    /// Returns an object.
    pub fn map(&self, key: Key) -> Result<&Object, Fault> {
        let value = self.get(key);
        let object = value.as_object();
        object.ok_or_else(|| mistyped(key, value, "an object"))
    }

    /// Returns a mutable object.
    pub(crate) fn map_mut(&mut self, key: Key) -> Result<&mut Object, Fault> {
        match self.0.get_mut(key.0) {
            Some(Json::Object(object)) => Ok(object),
            other => Err(mistyped(
                key,
                other.map_or(&Json::Null, |value| value),
                "an object",
            )),
        }
    }

    /// Returns whether test-first steps are on.
    pub fn is_tdd(&self) -> bool {
        self.get(key::TDD_MODE).is_truthy()
    }

    /// Returns the steps of a workflow in this mode.
    pub(crate) fn step_order(&self) -> &'static [&'static str] {
        steps::order(self.is_tdd())
    }

    /// Returns the current subtask, if there is one.
    pub fn subtask(&self) -> Option<&str> {
        let id = self.get(key::CURRENT_SUBTASK).as_text();
        id.filter(|id| !id.is_empty())
    }

    /// Returns the current subtask for use in a path, where it must be a string.
    pub(crate) fn subtask_by_name(&self) -> Result<Option<&str>, Fault> {
        let id = self.get(key::CURRENT_SUBTASK);
        if id.is_truthy() && id.as_text().is_none() {
            return Err(mistyped(key::CURRENT_SUBTASK, id, "a string"));
        }
        Ok(self.subtask())
    }

    /// Returns the key of the current subtask in maps.
    pub(crate) fn subtask_key(&self) -> &str {
        self.subtask().unwrap_or_default()
    }

    /// Returns the subtasks that count as done for dependencies.
    pub fn done(&self) -> Result<BTreeSet<String>, Fault> {
        let mut done = BTreeSet::new();
        if self.get(key::RESULTS).is_truthy() {
            for (id, entry) in self.map(key::RESULTS)?.iter() {
                let Some(entry) = entry.as_object() else {
                    continue;
                };
                let status = entry.text("status").map(str::to_lowercase);
                if status.is_none_or(|status| DONE_RESULTS.contains(&status.as_str())) {
                    done.insert(id.to_owned());
                }
            }
        }
        let no_phases = Object::new();
        let phases = if self.get(key::SUBTASK_PHASES).is_truthy() {
            self.map(key::SUBTASK_PHASES)?
        } else {
            &no_phases
        };
        for (id, phase) in phases.iter() {
            let phase = phase.as_text().map(str::to_lowercase);
            if phase.is_some_and(|phase| DONE_PHASES.contains(&phase.as_str())) {
                done.insert(id.to_owned());
            }
        }
        for (index, id) in (0..).zip(self.texts(key::SEQUENCE)?) {
            if index >= self.int(key::SUBTASK_INDEX)? {
                break;
            }
            if phases.text(&id) != Some(DEFERRED) {
                done.insert(id);
            }
        }
        Ok(done)
    }

    /// Returns whether status, step or phase says that the workflow is complete.
    pub fn is_marked_complete(&self) -> bool {
        self.is(key::STATUS, WORKFLOW_COMPLETE)
            || self.is(key::STEP, COMPLETE)
            || self.is(key::PHASE, COMPLETE)
    }

    /// Returns whether the state is marked complete or every subtask is done.
    pub(crate) fn is_complete(&self) -> Result<bool, Fault> {
        if self.is_marked_complete() {
            return Ok(true);
        }
        let sequence = self.texts(key::SEQUENCE)?;
        if sequence.is_empty() {
            return Ok(false);
        }
        let done = self.done()?;
        Ok(sequence.iter().all(|id| done.contains(id)))
    }

    /// Returns whether the sequence has a subtask.
    pub(crate) fn has_subtask(&self, subtask: &str) -> Result<bool, Fault> {
        let mut sequence = self.list(key::SEQUENCE)?.iter();
        Ok(sequence.any(|id| id.is_text(subtask)))
    }

    /// Enters the first pending step and returns it.
    pub(crate) fn enter_pending(&mut self) -> Result<Option<Json>, Fault> {
        let first = self.list(key::PENDING_STEPS)?.first().cloned();
        if let Some(step) = &first {
            let phase = steps::phase(step.as_text().unwrap_or_default());
            self.enter(step, phase.unwrap_or("UNKNOWN"));
        }
        Ok(first)
    }

    /// Sets the current step and its phase.
    pub(crate) fn enter(&mut self, step: impl Into<Json>, phase: &str) {
        self.set(key::STEP, step);
        self.set(key::PHASE, phase);
    }

    /// Starts the steps of a subtask.
    pub(crate) fn begin_subtask(&mut self) {
        self.set(key::PENDING_STEPS, steps::of_subtask(self.is_tdd()));
        self.set(key::COMPLETED_STEPS, Vec::<Json>::new());
        self.set(key::SKIPPED_STEPS, Vec::<Json>::new());
        self.set(key::RETRY_COUNT, 0_i64);
        self.enter("2.2", "RESEARCH");
    }

    /// Ends the workflow.
    pub(crate) fn complete(&mut self, now: String) {
        self.set(key::STATUS, WORKFLOW_COMPLETE);
        self.enter(COMPLETE, COMPLETE);
        self.set(key::COMPLETED_AT, now);
    }

    /// Returns the file's text.
    pub(crate) fn to_text(&self) -> String {
        self.0.to_lines()
    }
}

fn mistyped(key: Key, found: &Json, wanted: &str) -> Fault {
    let (name, found) = (key.0, found.kind());
    Fault::new(format!(
        "`{name}` of step_state.json has {found} instead of {wanted}"
    ))
}

/// The checkpoint as it was read, and its present state.
#[derive(Debug, Clone)]
pub struct StateFile {
    path: String,
    bytes: Option<Vec<u8>>,
    /// Why the file is not JSON; such a file is never overwritten.
    damage: Option<String>,
    /// The present state.
    pub state: State,
}

impl StateFile {
    /// Reads the checkpoint; an absent or unparsable one has a fresh state.
    pub fn read(desk: Desk<'_>) -> Result<Self, Fault> {
        let path = desk.branch.file(layout::STATE);
        let mut file = Self {
            bytes: desk.bytes(&path)?,
            path,
            damage: None,
            state: State::fresh(desk.started_at()),
        };
        let Some(bytes) = &file.bytes else {
            return Ok(file);
        };
        match python_json::parse(&decoded(&file.path, bytes)?) {
            Ok(Json::Object(object)) => file.state = State::of(object, desk.started_at()),
            Ok(other) => {
                let (path, kind) = (&file.path, other.kind());
                return Err(Fault::new(format!("`{path}` is {kind}, not an object")));
            }
            Err(error) => file.damage = Some(error.to_string()),
        }
        Ok(file)
    }

    /// Returns the file of a new workflow after this one was renamed.
    pub(crate) fn moved_away(self, desk: Desk<'_>) -> Self {
        Self {
            path: self.path,
            bytes: None,
            damage: None,
            state: State::fresh(desk.started_at()),
        }
    }

    /// Returns the path, relative to the project.
    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    /// Returns whether the file exists, readable or not.
    pub(crate) fn is_there(&self) -> bool {
        self.bytes.is_some()
    }

    /// Returns why the file cannot be parsed.
    pub fn damage(&self) -> Option<&str> {
        self.damage.as_deref()
    }

    /// Returns the bytes of the file.
    pub(crate) fn bytes(&self) -> Option<&[u8]> {
        self.bytes.as_deref()
    }

    /// Returns the effect that writes a changed state; an unparsable file is never overwritten.
    pub(crate) fn saved(&self) -> Option<Action> {
        if self.damage.is_some() {
            return None;
        }
        replacing(&self.path, self.bytes.clone(), self.state.to_text())
    }
}

#[cfg(test)]
#[path = "state_tests.rs"]
mod tests;
