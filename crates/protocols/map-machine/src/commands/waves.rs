//! Waves: subtasks that can be processed in parallel.

use indexmap::IndexMap;
use rekindle_text::python_json::{Json, Object};

use crate::blueprint::{self, Node};
use crate::config::{Config, is_yes};
use crate::desk::{Desk, Document};
use crate::reply::{Fault, Reply};
use crate::state::{COMPLETE, State, StateFile, key};
use crate::{layout, steps};

/// `set_waves`: computes the waves of a blueprint and starts the first.
pub(crate) fn set(desk: Desk<'_>, blueprint: Option<&str>) -> Result<Reply, Fault> {
    let waves = match computed(desk, blueprint)? {
        Ok(waves) => waves,
        Err(message) => return Ok(Reply::error(message)),
    };
    let mut file = StateFile::read(desk)?;
    put(&mut file.state, &waves);
    let answer = Reply::success()
        .with("execution_waves", waves.clone())
        .with("wave_count", waves.len());
    Ok(Reply::of(answer).doing(file.saved()))
}

/// Returns the waves of a blueprint, or why it has none.
pub(super) fn computed(
    desk: Desk<'_>,
    blueprint: Option<&str>,
) -> Result<Result<Vec<Vec<String>>, String>, Fault> {
    let usual = desk.branch.file(layout::BLUEPRINT);
    let path = blueprint.unwrap_or(&usual);
    let value = match desk.json(path)? {
        Document::Absent => return Ok(Err(format!("There is no blueprint at {path}."))),
        Document::Broken(reason) => return Ok(Err(format!("{path} is not a blueprint: {reason}"))),
        Document::Value(value) => value,
    };
    let subtasks = blueprint::body(&value)?.get("subtasks");
    let Some(subtasks) = subtasks.filter(|subtasks| subtasks.is_truthy()) else {
        return Ok(Err(format!("{path} has no subtasks.")));
    };
    let mut nodes: IndexMap<String, Node> = IndexMap::new();
    for subtask in subtasks.as_list().unwrap_or_default() {
        let (id, node) = node(subtask)?;
        nodes.insert(id, node);
    }
    let waves = blueprint::waves(&nodes);
    Ok(waves.ok_or_else(|| {
        "Some subtasks wait for each other; fix the dependencies in the blueprint.".to_owned()
    }))
}

fn node(subtask: &Json) -> Result<(String, Node), Fault> {
    let odd = |what: &str| Fault::new(format!("a subtask of the blueprint {what}"));
    let subtask = subtask.as_object().ok_or_else(|| odd("is not an object"))?;
    let id = match subtask.get("id") {
        None => "",
        Some(id) => id
            .as_text()
            .ok_or_else(|| odd("has an id that is not a string"))?,
    };
    let texts = |key: &str| match subtask.get(key) {
        None => Ok(Vec::new()),
        Some(Json::List(items)) => {
            let texts = items.iter().filter_map(Json::as_text);
            Ok(texts.map(str::to_owned).collect())
        }
        Some(other) if !other.is_truthy() && key == "affected_files" => Ok(Vec::new()),
        Some(_) => Err(odd(&format!("has `{key}` that is not an array"))),
    };
    let node = Node {
        needs: texts("dependencies")?,
        files: texts("affected_files")?.into_iter().collect(),
    };
    Ok((id.to_owned(), node))
}

/// Sets the waves of a state, and its sequence if it has none.
pub(super) fn put(state: &mut State, waves: &[Vec<String>]) {
    state.set(key::WAVES, waves);
    state.set(key::WAVE_INDEX, 0_i64);
    state.set(key::SUBTASK_PHASES, Object::new());
    state.set(key::SUBTASK_RETRIES, Object::new());
    let all: Vec<&str> = waves.iter().flatten().map(String::as_str).collect();
    if let Some(first) = all.first().copied()
        && !state.get(key::SEQUENCE).is_truthy()
    {
        state.set(key::SEQUENCE, all);
        state.set(key::CURRENT_SUBTASK, first);
        state.set(key::SUBTASK_INDEX, 0_i64);
    }
}

/// Returns whether the environment forbids parallel work.
fn is_sequential_only(desk: Desk<'_>) -> bool {
    let variable = desk.world.variable("MAP_EFFICIENT_SEQUENTIAL_ONLY");
    variable.is_some_and(|value| is_yes(&value))
}

/// Returns whether the subtasks of the current wave are processed in parallel, and why.
fn dispatch(desk: Desk<'_>, config: &Config, state: &State) -> Result<(bool, &'static str), Fault> {
    if is_sequential_only(desk) {
        return Ok((false, "sequential_only_env"));
    }
    if !config.is_concurrent() {
        return Ok((false, "dispatch_sequential_5a"));
    }
    if config.isolation() == "off" {
        return Err(Fault::new(
            "execution.concurrent_dispatch needs worktree.isolation: change one of them in .map/config.yaml",
        ));
    }
    if !uses_waves(config) || !has_wide_waves(state)? {
        return Ok((false, "gate_not_parallelizable"));
    }
    let width = current(state)?.map(|wave| width(&wave)).transpose()?;
    if width.unwrap_or_default() < 2 {
        return Ok((false, "current_wave_sequential"));
    }
    Ok((true, "concurrent_gated"))
}

/// Returns the current wave; after the last there is none.
fn current(state: &State) -> Result<Option<Json>, Fault> {
    let waves = state.list(key::WAVES)?;
    let index = state.int(key::WAVE_INDEX)?;
    let length = i64::try_from(waves.len()).unwrap_or(i64::MAX);
    // As in Python, a negative index counts from the end.
    let index = if index < 0 { index + length } else { index };
    let wave = usize::try_from(index).ok();
    let wave = wave.and_then(|index| waves.get(index));
    if wave.is_none() && index < 0 {
        return Err(Fault::new("current_wave_index is before the first wave"));
    }
    Ok(wave.cloned())
}

fn width(wave: &Json) -> Result<usize, Fault> {
    let ids = wave.as_list();
    ids.map(<[Json]>::len)
        .ok_or_else(|| Fault::new(format!("a wave is {}, not an array", wave.kind())))
}

fn has_wide_waves(state: &State) -> Result<bool, Fault> {
    for wave in state.list(key::WAVES)? {
        if width(wave)? >= 2 {
            return Ok(true);
        }
    }
    Ok(false)
}

fn uses_waves(config: &Config) -> bool {
    config.wave_mode() != "off" && config.isolation() != "off"
}

/// `select_execution_strategy`: waves, or one subtask after the other.
pub(crate) fn select(desk: Desk<'_>) -> Result<Reply, Fault> {
    let answer = |is_wave_loop: bool, mode: &str, isolation: &str, has_wide: bool, reason: &str| {
        let answer = Object::new()
            .with(
                "strategy",
                if is_wave_loop {
                    "wave_loop"
                } else {
                    "sequential"
                },
            )
            .with("wave_mode", mode)
            .with("worktree_isolation", isolation)
            .with("has_parallel_groups", has_wide)
            .with("reason", reason)
            .with("concurrency_allowed", is_wave_loop);
        Ok(Reply::of(answer))
    };
    if is_sequential_only(desk) {
        return answer(false, "off", "off", false, "sequential_only_env");
    }
    let config = Config::read(desk)?;
    let state = StateFile::read(desk)?.state;
    let has_wide = has_wide_waves(&state)?;
    let is_wave_loop = uses_waves(&config) && has_wide;
    let (mode, isolation) = (config.wave_mode(), config.isolation());
    let wave_loop = format!(
        "wave_mode is `{mode}`, isolation is `{isolation}`, and a wave has more than one subtask"
    );
    let reason = if is_wave_loop {
        wave_loop.as_str()
    } else if mode == "off" {
        "wave_mode is `off`"
    } else if isolation == "off" {
        "worktree.isolation is `off`, so nothing runs in parallel"
    } else {
        "no wave has more than one subtask"
    };
    answer(is_wave_loop, mode, isolation, has_wide, reason)
}

/// `get_wave_step`: the subtasks of the current wave with their steps.
pub(crate) fn step(desk: Desk<'_>) -> Result<Reply, Fault> {
    let state = StateFile::read(desk)?.state;
    let config = Config::read(desk)?;
    let (is_concurrent, reason) = dispatch(desk, &config, &state)?;
    let is_isolated = config.isolation() != "off";
    let over = |index: Json, reason: &str| {
        Object::new()
            .with("mode", "sequential")
            .with("wave_index", index)
            .with("subtasks", Vec::<Json>::new())
            .with("is_complete", true)
            .with("concurrency_enabled", is_concurrent)
            .with("dispatch_mode", "sequential")
            .with("isolation_active", is_isolated)
            .with("reason", reason)
    };
    let index = state.get(key::WAVE_INDEX);
    if !state.get(key::WAVES).is_truthy() {
        let message = "There are no waves; continue one subtask after the other.";
        let answer = over(0_i64.into(), "no_waves").with("message", message);
        return Ok(Reply::of(answer));
    }
    let Some(wave) = current(&state)? else {
        return Ok(Reply::of(over(index.clone(), "wave_complete")));
    };
    let ids = wave.as_list().unwrap_or_default().iter();
    let subtasks = ids.map(|id| member(&state, id));
    let subtasks = subtasks.collect::<Result<Vec<_>, Fault>>()?;
    let is_single = width(&wave)? == 1;
    let mode = if is_single { "sequential" } else { "parallel" };
    let mode_of = |is: bool| if is { "concurrent" } else { "sequential" };
    let answer = Object::new()
        .with("mode", mode)
        .with("wave_index", index)
        .with("wave_total", state.list(key::WAVES)?.len())
        .with("subtasks", subtasks)
        .with("is_complete", false)
        .with("concurrency_enabled", is_concurrent)
        .with("dispatch_mode", mode_of(is_concurrent))
        .with("isolation_active", is_isolated)
        .with("reason", reason);
    Ok(Reply::of(answer))
}

/// Returns the subtasks of the current wave with their steps; after the last wave there is none.
pub fn members(state: &State) -> Result<Option<Vec<(String, Json)>>, Fault> {
    let Some(wave) = current(state)? else {
        return Ok(None);
    };
    let ids = wave.as_list().unwrap_or_default().iter();
    let ids = ids.filter_map(Json::as_text);
    let members = ids.map(|id| Ok((id.to_owned(), member_step(state, id)?)));
    members.collect::<Result<_, _>>().map(Some)
}

fn member_step(state: &State, id: &str) -> Result<Json, Fault> {
    let first = if state.is_tdd() { "2.25" } else { "2.3" };
    let found = state.map(key::SUBTASK_PHASES)?.get(id);
    Ok(found.cloned().unwrap_or_else(|| first.into()))
}

fn member(state: &State, id: &Json) -> Result<Object, Fault> {
    let name = id.as_text().unwrap_or_default();
    let step = member_step(state, name)?;
    let phase = steps::phase(step.as_text().unwrap_or_default()).unwrap_or("ACTOR");
    let mut member = Object::new()
        .with("subtask_id", id)
        .with("phase", phase)
        .with("step_id", step);
    if phase == "ACTOR"
        && let Some(path) = steps::clean_retry(state, name)?
    {
        member.set("retry_isolation", steps::CLEAN_RETRY);
        member.set("retry_quarantine_path", path);
        member.set(
            "instruction",
            format!("CLEAN_RETRY of {name}: read {path}, take context only from it, the blueprint and the plan, and not from the feedback files of failed attempts; do not repeat what was rejected."),
        );
    }
    Ok(member)
}

/// `validate_wave_step`: moves a subtask of the wave to its next step.
pub fn validate(desk: Desk<'_>, subtask: &str, step: &str) -> Result<Reply, Fault> {
    validate_with(desk, subtask, step, |_| Ok(()))
}

/// `validate_wave_step`, with a further change of the state.
pub fn validate_with(
    desk: Desk<'_>,
    subtask: &str,
    step: &str,
    more: impl FnOnce(&mut State) -> Result<(), Fault>,
) -> Result<Reply, Fault> {
    let mut file = StateFile::read(desk)?;
    let order = steps::of_subtask(file.state.is_tdd());
    let position = order.iter().position(|known| *known == step);
    let next = position.and_then(|position| order.get(position + 1).copied());
    let next = next.unwrap_or(COMPLETE);
    file.state.map_mut(key::SUBTASK_PHASES)?.set(subtask, next);
    more(&mut file.state)?;
    let answer = Object::new()
        .with("valid", true)
        .with("message", format!("Step {step} of {subtask} is closed."))
        .with("next_phase", next)
        .with("subtask_id", subtask);
    Ok(Reply::of(answer).doing(file.saved()))
}

/// `advance_wave`: starts the next wave.
pub fn advance(desk: Desk<'_>) -> Result<Reply, Fault> {
    let mut file = StateFile::read(desk)?;
    let state = &mut file.state;
    if !state.get(key::WAVES).is_truthy() {
        return Ok(Reply::error("There are no waves."));
    }
    let index = state.int_after(key::WAVE_INDEX)?;
    state.set(key::WAVE_INDEX, index);
    state.set(key::SUBTASK_PHASES, Object::new());
    state.set(key::SUBTASK_RETRIES, Object::new());
    let total = state.list(key::WAVES)?.len();
    let wave = current(state)?;
    if let Some(first) = wave.as_ref().and_then(|wave| wave.as_list()?.first()) {
        state.set(key::CURRENT_SUBTASK, first);
        let sequence = state.list(key::SEQUENCE)?;
        if let Some(index) = sequence.iter().position(|id| id == first) {
            state.set(key::SUBTASK_INDEX, index);
        }
        state.begin_subtask();
    }
    let answer = Reply::success()
        .with("current_wave_index", index)
        .with("is_complete", wave.is_none())
        .with("wave_total", total);
    Ok(Reply::of(answer).doing(file.saved()))
}

/// Ends a workflow whose waves are complete; MAP itself leaves it open forever.
pub fn finish(desk: Desk<'_>) -> Result<Vec<rekindle_model::Action>, Fault> {
    let mut file = StateFile::read(desk)?;
    file.state.set(key::PENDING_STEPS, Vec::<Json>::new());
    file.state.complete(desk.stamp());
    Ok(file.saved().into_iter().collect())
}
