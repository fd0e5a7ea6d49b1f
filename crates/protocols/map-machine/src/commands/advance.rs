//! From a completed subtask to the next one that is ready.

use std::collections::BTreeSet;

use rekindle_text::python_json::{Json, Object};

use crate::blueprint;
use crate::desk::Desk;
use crate::reply::Fault;
use crate::state::{COMPLETE, DEFERRED, State, key};

/// The step and phase of a workflow whose remaining subtasks all wait for another one.
pub const BLOCKED: &str = "BLOCKED_ON_DEPS";

/// The result of the search for the next subtask.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Found {
    /// The state is now at this subtask.
    Subtask(String),
    /// These are left, and each waits for another one.
    Blocked(Vec<String>),
    /// Nothing is left.
    Nothing,
}

/// A search for the next subtask, and the waiting subtasks that it skipped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Advance {
    pub(crate) found: Found,
    pub(crate) skipped: Vec<String>,
}

/// Returns whether a subtask is left after the current one, or was deferred.
pub(crate) fn is_anything_left(state: &State) -> Result<bool, Fault> {
    let sequence = state.list(key::SEQUENCE)?;
    let length = i64::try_from(sequence.len()).unwrap_or(i64::MAX);
    if state.int_after(key::SUBTASK_INDEX)? < length {
        return Ok(true);
    }
    if sequence.is_empty() {
        return Ok(false);
    }
    let phases = state.map(key::SUBTASK_PHASES)?;
    let is_deferred = |id: &Json| id.as_text().and_then(|id| phases.text(id)) == Some(DEFERRED);
    Ok(sequence.iter().any(is_deferred))
}

/// Moves to the next subtask whose dependencies are done, the current one included.
///
/// Searches forward first and then from the start; skipped subtasks are marked as deferred.
pub(crate) fn advance(desk: Desk<'_>, state: &mut State) -> Result<Advance, Fault> {
    let (ready, skipped) = next_ready(desk, state)?;
    if !skipped.is_empty() {
        let phases = state.map_mut(key::SUBTASK_PHASES)?;
        for id in &skipped {
            phases.set(id, DEFERRED);
        }
    }
    if let Some((index, id)) = ready {
        let phases = state.map_mut(key::SUBTASK_PHASES)?;
        if phases.text(&id) == Some(DEFERRED) {
            phases.remove(&id);
        }
        state.set(key::SUBTASK_INDEX, index);
        state.set(key::CURRENT_SUBTASK, &id);
        state.begin_subtask();
        let found = Found::Subtask(id);
        return Ok(Advance { found, skipped });
    }
    let done = done_with_current(state)?;
    let mut left = state.texts(key::SEQUENCE)?;
    left.retain(|id| !done.contains(id));
    let found = if left.is_empty() {
        Found::Nothing
    } else {
        state.enter(BLOCKED, BLOCKED);
        Found::Blocked(left)
    };
    Ok(Advance { found, skipped })
}

fn done_with_current(state: &State) -> Result<BTreeSet<String>, Fault> {
    let mut done = state.done()?;
    done.extend(state.subtask().map(str::to_owned));
    Ok(done)
}

type Ready = Option<(usize, String)>;

fn next_ready(desk: Desk<'_>, state: &State) -> Result<(Ready, Vec<String>), Fault> {
    let dependencies = blueprint::dependencies(desk)?;
    let done = done_with_current(state)?;
    let sequence = state.texts(key::SEQUENCE)?;
    let after = state.int_after(key::SUBTASK_INDEX)?;
    let after = usize::try_from(after).unwrap_or_default();
    let after = after.min(sequence.len());
    let mut skipped = Vec::new();
    for index in (after..sequence.len()).chain(0..after) {
        let id = &sequence[index];
        if done.contains(id) {
            continue;
        }
        let mut needed = dependencies.get(id).into_iter().flatten();
        if needed.all(|needed| done.contains(needed)) {
            return Ok((Some((index, id.clone())), skipped));
        }
        skipped.push(id.clone());
    }
    Ok((None, skipped))
}

/// The keys that an advance adds to the answer of a command.
#[derive(Debug, Clone)]
pub(crate) struct Closing {
    pub(crate) next_step: Json,
    from_to: Option<(Json, String)>,
    skipped: Vec<String>,
    blocked: Option<Vec<String>>,
}

impl Closing {
    /// Returns the closing of a step that another step follows.
    pub(crate) fn step(next_step: Json) -> Self {
        Self {
            next_step,
            from_to: None,
            skipped: Vec::new(),
            blocked: None,
        }
    }

    /// Adds the keys to an answer.
    pub(crate) fn add_to(&self, mut answer: Object) -> Object {
        answer.set("next_step", &self.next_step);
        if let Some((from, to)) = &self.from_to {
            answer.set("subtask_advanced_from", from);
            answer.set("subtask_advanced_to", to);
        }
        if !self.skipped.is_empty() {
            answer.set("skipped_for_deps", self.skipped.clone());
        }
        if let Some(blocked) = &self.blocked {
            answer.set("blocked_subtasks", blocked.clone());
        }
        answer
    }
}

/// Closes the current subtask: the next one starts, or the workflow ends.
pub(crate) fn close_subtask(desk: Desk<'_>, state: &mut State) -> Result<Closing, Fault> {
    let from = state.get(key::CURRENT_SUBTASK).clone();
    let advance = if is_anything_left(state)? {
        advance(desk, state)?
    } else {
        Advance {
            found: Found::Nothing,
            skipped: Vec::new(),
        }
    };
    let skipped = advance.skipped;
    Ok(match advance.found {
        Found::Subtask(to) => Closing {
            skipped,
            from_to: Some((from, to)),
            ..Closing::step("2.2".into())
        },
        Found::Blocked(left) => Closing {
            skipped,
            blocked: Some(left),
            ..Closing::step(BLOCKED.into())
        },
        Found::Nothing => {
            state.complete(desk.stamp());
            Closing {
                skipped,
                ..Closing::step(COMPLETE.into())
            }
        }
    })
}
