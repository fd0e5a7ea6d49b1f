//! `step_state.json`: the checkpoint of a workflow.
//!
//! It is kept as the values that the file has, not as what they ought to be: a peer's state with a
//! `null` where a list belongs must come back as it was, and only the command that needs the list
//! stops. All 34 keys of the reference version are always written, in its order; keys that it does
//! not know (the hook's, those of newer versions) follow in theirs. A newer peer's keys survive us;
//! an older or newer *writer* of the peer drops what it does not know at its next save.

use std::collections::BTreeSet;

use rekindle_model::Action;
use rekindle_text::python_json::{self, Json, Object};

use super::desk::{Desk, decoded, replacing};
use super::fault::Fault;
use super::layout;
use super::steps;

/// A key of the reference version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Key(&'static str);

/// The keys that commands name; the others are only carried along.
pub(crate) mod key {
    use super::Key;

    pub(crate) const STARTED: Key = Key("started_at");
    pub(crate) const CURRENT_SUBTASK: Key = Key("current_subtask_id");
    pub(crate) const SUBTASK_INDEX: Key = Key("subtask_index");
    pub(crate) const SEQUENCE: Key = Key("subtask_sequence");
    pub(crate) const STEP: Key = Key("current_step_id");
    pub(crate) const PHASE: Key = Key("current_step_phase");
    pub(crate) const COMPLETED_STEPS: Key = Key("completed_steps");
    pub(crate) const PENDING_STEPS: Key = Key("pending_steps");
    pub(crate) const RETRY_COUNT: Key = Key("retry_count");
    pub(crate) const MAX_RETRIES: Key = Key("max_retries");
    pub(crate) const PLAN_APPROVED: Key = Key("plan_approved");
    pub(crate) const EXECUTION_MODE: Key = Key("execution_mode");
    pub(crate) const TDD_MODE: Key = Key("tdd_mode");
    pub(crate) const SKIPPED_STEPS: Key = Key("skipped_steps");
    pub(crate) const WAVES: Key = Key("execution_waves");
    pub(crate) const WAVE_INDEX: Key = Key("current_wave_index");
    pub(crate) const SUBTASK_PHASES: Key = Key("subtask_phases");
    pub(crate) const SUBTASK_RETRIES: Key = Key("subtask_retry_counts");
    pub(crate) const STATUS: Key = Key("workflow_status");
    pub(crate) const CONSTRAINTS: Key = Key("constraints");
    pub(crate) const RESULTS: Key = Key("subtask_results");
    pub(crate) const LAST_COMMIT: Key = Key("last_subtask_commit_sha");
    pub(crate) const CONTRACTS: Key = Key("contract_ready_subtasks");
    pub(crate) const CLEAN_RETRIES: Key = Key("clean_retry_count");
    pub(crate) const CONTAMINATED_RETRIES: Key = Key("contaminated_retry_count");
    pub(crate) const SCOPE_FEEDBACK: Key = Key("scope_feedback_subtasks");
    pub(crate) const PROGRESS_FEEDBACK: Key = Key("progress_feedback_subtasks");
    pub(crate) const ISOLATION: Key = Key("retry_isolation_status");
    pub(crate) const QUARANTINES: Key = Key("retry_quarantine_paths");
    pub(crate) const COMPLETED_AT: Key = Key("completed_at");
    pub(crate) const COMPLETION_REASONS: Key = Key("subtask_completion_reasons");
    /// Of newer releases, which suspend a run for a repair; a fresh state does not have it.
    pub(crate) const INTERRUPTION: Key = Key("active_interruption");
}

/// The word for a subtask that waits for others.
pub(crate) const DEFERRED: &str = "deferred_for_deps";
/// The status of a workflow that is over.
pub(crate) const WORKFLOW_COMPLETE: &str = "WORKFLOW_COMPLETE";
/// The status of a workflow that stands at a persisted test contract.
pub(crate) const CONTRACT_READY: &str = "CONTRACT_READY";
/// The status of a workflow that was taken up from a plan.
pub(crate) const IN_PROGRESS: &str = "IN_PROGRESS";
/// The step and phase of a workflow that is over.
pub(crate) const COMPLETE: &str = "COMPLETE";
/// The status of a subtask whose check fails now and then.
pub(crate) const NONDETERMINISTIC: &str = "deferred_nondeterministic";

/// Results with one of these let others go on.
const DONE_RESULTS: &[&str] = &[
    "valid",
    "completed",
    "done",
    "skipped",
    "no-op",
    NONDETERMINISTIC,
];
/// Phases of subtasks that let others go on.
const DONE_PHASES: &[&str] = &["completed", "skipped", "no-op", "complete"];

/// The checkpoint's contents.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct State(Object);

impl State {
    /// Returns the state of a workflow that begins now.
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

    /// Returns the state that a file holds: what it lacks is as in a fresh one, what is more follows.
    pub(crate) fn of(object: Object, started_at: String) -> Self {
        let mut state = Self::fresh(started_at);
        for (key, value) in object {
            state.0.set(key, value);
        }
        state
    }

    /// Returns a value as it is.
    pub(crate) fn get(&self, key: Key) -> &Json {
        self.0.get(key.0).unwrap_or(&Json::Null)
    }

    /// Sets a value.
    pub(crate) fn set(&mut self, key: Key, value: impl Into<Json>) {
        self.0.set(key.0, value);
    }

    /// Returns whether a value is this text.
    pub(crate) fn is(&self, key: Key, text: &str) -> bool {
        self.get(key).is_text(text)
    }

    /// Returns a whole number.
    pub(crate) fn int(&self, key: Key) -> Result<i64, Fault> {
        let value = self.get(key);
        if let Json::Int(number) = value {
            return Ok(*number);
        }
        if let Json::Bool(value) = value {
            return Ok(i64::from(*value));
        }
        Err(mistyped(key, value, "a whole number"))
    }

    /// Returns a whole number and one.
    pub(crate) fn int_after(&self, key: Key) -> Result<i64, Fault> {
        let too_large = || Fault::new(format!("`{}` of the state is too large", key.0));
        self.int(key)?.checked_add(1).ok_or_else(too_large)
    }

    /// Returns a list; an object without keys has no items either, and Python sees no difference.
    pub(crate) fn list(&self, key: Key) -> Result<&[Json], Fault> {
        let value = self.get(key);
        if value.as_object().is_some_and(Object::is_empty) {
            return Ok(&[]);
        }
        value
            .as_list()
            .ok_or_else(|| mistyped(key, value, "an array"))
    }

    /// Returns a list, or an empty one for whatever counts as nothing.
    pub(crate) fn list_or_nothing(&self, key: Key) -> Result<&[Json], Fault> {
        if self.get(key).is_truthy() {
            return self.list(key);
        }
        Ok(&[])
    }

    /// Returns the closed or skipped steps, each as its text, or `None` for what is not a text.
    ///
    /// MAP's other script keeps an object in their place; its keys count, as they do in Python.
    pub(crate) fn entries(&self, key: Key) -> Result<Vec<Option<&str>>, Fault> {
        if let Some(object) = self.get(key).as_object() {
            return Ok(object.iter().map(|(name, _)| Some(name)).collect());
        }
        Ok(self.list(key)?.iter().map(Json::as_text).collect())
    }

    /// Returns whether a step is among the closed or skipped ones.
    pub(crate) fn has_entry(&self, key: Key, step: &str) -> Result<bool, Fault> {
        Ok(self.entries(key)?.contains(&Some(step)))
    }

    /// Returns a list to be changed.
    pub(crate) fn list_mut(&mut self, key: Key) -> Result<&mut Vec<Json>, Fault> {
        match self.0.get_mut(key.0) {
            Some(Json::List(items)) => Ok(items),
            other => {
                let found = other.map_or(Json::Null, |value| value.clone());
                Err(mistyped(key, &found, "an array"))
            }
        }
    }

    /// Returns a list of texts.
    pub(crate) fn texts(&self, key: Key) -> Result<Vec<String>, Fault> {
        let items = self.list_or_nothing(key)?.iter();
        let texts = items.map(|item| {
            let text = item.as_text().map(str::to_owned);
            text.ok_or_else(|| mistyped(key, item, "strings alone"))
        });
        texts.collect()
    }

    /// Returns an object.
    pub(crate) fn map(&self, key: Key) -> Result<&Object, Fault> {
        let value = self.get(key);
        value
            .as_object()
            .ok_or_else(|| mistyped(key, value, "an object"))
    }

    /// Returns an object to be changed.
    pub(crate) fn map_mut(&mut self, key: Key) -> Result<&mut Object, Fault> {
        match self.0.get_mut(key.0) {
            Some(Json::Object(object)) => Ok(object),
            other => {
                let found = other.map_or(Json::Null, |value| value.clone());
                Err(mistyped(key, &found, "an object"))
            }
        }
    }

    /// Returns whether test-first steps are on.
    pub(crate) fn is_tdd(&self) -> bool {
        self.get(key::TDD_MODE).is_truthy()
    }

    /// Returns the steps of a workflow in this mode.
    pub(crate) fn step_order(&self) -> &'static [&'static str] {
        steps::order(self.is_tdd())
    }

    /// Returns the current subtask, if there is one.
    pub(crate) fn subtask(&self) -> Option<&str> {
        let id = self.get(key::CURRENT_SUBTASK).as_text();
        id.filter(|id| !id.is_empty())
    }

    /// Returns the current subtask where its name becomes part of a path, so that it must be a text.
    pub(crate) fn subtask_by_name(&self) -> Result<Option<&str>, Fault> {
        let id = self.get(key::CURRENT_SUBTASK);
        if id.is_truthy() && id.as_text().is_none() {
            return Err(mistyped(key::CURRENT_SUBTASK, id, "a string"));
        }
        Ok(self.subtask())
    }

    /// Returns the name under which something of the current subtask is kept.
    pub(crate) fn subtask_key(&self) -> &str {
        self.subtask().unwrap_or_default()
    }

    /// Returns the subtasks that count as done where others depend on them.
    pub(crate) fn done(&self) -> Result<BTreeSet<String>, Fault> {
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
        for (place, id) in (0..).zip(self.texts(key::SEQUENCE)?) {
            if place >= self.int(key::SUBTASK_INDEX)? {
                break;
            }
            if phases.text(&id) != Some(DEFERRED) {
                done.insert(id);
            }
        }
        Ok(done)
    }

    /// Returns whether nothing is left to do, by any of the signs that there are.
    pub(crate) fn is_complete(&self) -> Result<bool, Fault> {
        if self.is(key::STATUS, WORKFLOW_COMPLETE)
            || self.is(key::STEP, COMPLETE)
            || self.is(key::PHASE, COMPLETE)
        {
            return Ok(true);
        }
        let sequence = self.texts(key::SEQUENCE)?;
        if sequence.is_empty() {
            return Ok(false);
        }
        let done = self.done()?;
        Ok(sequence.iter().all(|id| done.contains(id)))
    }

    /// Begins with the steps of a subtask.
    pub(crate) fn begin_subtask(&mut self) {
        self.set(key::PENDING_STEPS, steps::of_subtask(self.is_tdd()));
        self.set(key::COMPLETED_STEPS, Vec::<Json>::new());
        self.set(key::SKIPPED_STEPS, Vec::<Json>::new());
        self.set(key::RETRY_COUNT, 0_i64);
        self.set(key::STEP, "2.2");
        self.set(key::PHASE, "RESEARCH");
    }

    /// Ends the workflow.
    pub(crate) fn complete(&mut self, now: String) {
        self.set(key::STATUS, WORKFLOW_COMPLETE);
        self.set(key::STEP, COMPLETE);
        self.set(key::PHASE, COMPLETE);
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
        "`{name}` of step_state.json has {found} where {wanted} must be"
    ))
}

/// The checkpoint as it was found, and what has become of it since.
#[derive(Debug, Clone)]
pub(crate) struct StateFile {
    path: String,
    found: Found,
    pub(crate) state: State,
}

/// What stood in the place of the checkpoint.
#[derive(Debug, Clone)]
enum Found {
    Nothing,
    Bytes(Vec<u8>),
    /// Something that no state can be read from, and that is never written over.
    Unparsable {
        bytes: Vec<u8>,
        reason: String,
    },
}

impl StateFile {
    /// Reads the checkpoint; an absent or unparsable one has the state of a new workflow.
    pub(crate) fn read(desk: Desk<'_>) -> Result<Self, Fault> {
        let path = desk.branch.file(layout::STATE);
        let fresh = || State::fresh(desk.started_at());
        let Some(bytes) = desk.bytes(&path)? else {
            let (found, state) = (Found::Nothing, fresh());
            return Ok(Self { path, found, state });
        };
        match python_json::parse(&decoded(&path, &bytes)?) {
            Ok(Json::Object(object)) => Ok(Self {
                path,
                found: Found::Bytes(bytes),
                state: State::of(object, desk.started_at()),
            }),
            Ok(other) => Err(Fault::new(format!(
                "`{path}` holds {}, not an object",
                other.kind()
            ))),
            Err(error) => {
                let reason = error.to_string();
                let (found, state) = (Found::Unparsable { bytes, reason }, fresh());
                Ok(Self { path, found, state })
            }
        }
    }

    /// Returns the file of a workflow that begins after this one was put away.
    pub(crate) fn moved_away(self, desk: Desk<'_>) -> Self {
        Self {
            path: self.path,
            found: Found::Nothing,
            state: State::fresh(desk.started_at()),
        }
    }

    /// Returns the path, relative to the project.
    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    /// Returns whether there is a file, readable or not.
    pub(crate) fn is_there(&self) -> bool {
        !matches!(self.found, Found::Nothing)
    }

    /// Returns why no state can be read from the file, if that is so.
    pub(crate) fn damage(&self) -> Option<&str> {
        match &self.found {
            Found::Unparsable { reason, .. } => Some(reason),
            Found::Nothing | Found::Bytes(_) => None,
        }
    }

    /// Returns the bytes of the file.
    pub(crate) fn bytes(&self) -> Option<&[u8]> {
        match &self.found {
            Found::Nothing => None,
            Found::Bytes(bytes) | Found::Unparsable { bytes, .. } => Some(bytes),
        }
    }

    /// Returns the effect that writes the state as it now is, if the file does not say so already.
    ///
    /// An unparsable file is left alone: commands that change the state are answered before.
    pub(crate) fn saved(&self) -> Option<Action> {
        match &self.found {
            Found::Unparsable { .. } => None,
            Found::Nothing => replacing(&self.path, None, self.state.to_text()),
            Found::Bytes(bytes) => replacing(&self.path, Some(bytes.clone()), self.state.to_text()),
        }
    }
}

#[cfg(test)]
#[path = "state_tests.rs"]
mod tests;
