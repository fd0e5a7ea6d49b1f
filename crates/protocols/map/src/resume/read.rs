//! World to evidence: the checkpoint of one branch, its plan, and what stands beside them.

use std::collections::BTreeMap;

use jiff::Timestamp;
use rekindle_model::{Code, Finding, Place};
use rekindle_text::python_json::Json;
use rekindle_text::python_text::strip;
use rekindle_world::{GitAnswer, GitQuestion, Kind, World};

use super::{go_on, words};
use crate::blueprint;
use crate::briefing::{self, Artifacts, Briefing};
use crate::desk::{Desk, Document};
use crate::fault::Fault;
use crate::interruption::Interruption;
use crate::layout::{self, Branch};
use crate::plan::{self, Progress};
use crate::root;
use crate::state::{COMPLETE, State, StateFile, WORKFLOW_COMPLETE, key};

/// Keys of which every state of MAP 3.x has at least one, and the shapes in its documents none.
const OWN_KEYS: &[&str] = &[
    "current_step_id",
    "current_step_phase",
    "current_subtask_id",
];

/// What stands in the folder of a branch.
#[derive(Debug, Clone)]
pub(super) enum Found {
    /// There is no checkpoint.
    Nothing,
    /// The checkpoint can not be used.
    Unusable(Unusable),
    /// It can be followed.
    Workflow(Box<Workflow>),
    /// A repair has suspended the run, or may have; nothing may be changed.
    Suspended(Box<Suspended>),
}

/// A run that a repair has suspended, or may have.
#[derive(Debug, Clone)]
pub(super) struct Suspended {
    pub(super) interruption: Interruption,
    /// Whether there is a state file, readable or not.
    pub(super) has_state: bool,
    /// Where the run is, if its checkpoint can be followed.
    pub(super) workflow: Option<Workflow>,
}

/// A checkpoint from which no state can be read.
#[derive(Debug, Clone)]
pub(super) struct Unusable {
    pub(super) damage: Damage,
    pub(super) reason: String,
    /// What the file holds, as far as it could be read at all.
    pub(super) bytes: Vec<u8>,
}

/// What is wrong with a checkpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Damage {
    /// It can not be parsed, or not into a state.
    Corrupt,
    /// It is an object of another shape.
    Foreign,
}

/// A checkpoint that can be followed.
#[derive(Debug, Clone)]
pub(super) struct Workflow {
    pub(super) state: State,
    pub(super) briefing: Briefing,
    /// When something last happened, by what the files say.
    pub(super) last_activity: Option<Timestamp>,
    /// Whether the plan is there, readable or not.
    pub(super) has_plan: bool,
    pub(super) goal: Option<String>,
    /// What subtasks are called, by plan or blueprint.
    pub(super) titles: BTreeMap<String, String>,
    /// Whether the blueprint is there and can not be read.
    pub(super) has_blueprint_damage: bool,
    pub(super) findings: Vec<Finding>,
}

/// Reads the folder of a branch, and whether a repair has suspended its run.
pub(super) fn found(desk: Desk<'_>) -> Found {
    let file = StateFile::read(desk);
    let interruption = Interruption::read(desk, file.as_ref().ok());
    let found = checkpoint(desk, file);
    if interruption == Interruption::Idle {
        return found;
    }
    Found::Suspended(Box::new(Suspended {
        has_state: !matches!(found, Found::Nothing),
        workflow: match found {
            Found::Workflow(mut workflow) => {
                workflow.briefing.next_action = vec![words::repair_next(&interruption)];
                Some(*workflow)
            }
            Found::Nothing | Found::Unusable(_) | Found::Suspended(_) => None,
        },
        interruption,
    }))
}

fn checkpoint(desk: Desk<'_>, file: Result<StateFile, Fault>) -> Found {
    let path = desk.branch.file(layout::STATE);
    if !desk.exists(&path) {
        return Found::Nothing;
    }
    let unusable = |damage, reason: String| {
        let bytes = desk.bytes(&path).ok().flatten().unwrap_or_default();
        Found::Unusable(Unusable {
            damage,
            reason,
            bytes,
        })
    };
    let file = match file {
        Ok(file) => file,
        Err(Fault(reason)) => return unusable(Damage::Corrupt, reason),
    };
    if let Some(reason) = file.damage() {
        return unusable(Damage::Corrupt, format!("`{path}` is no JSON: {reason}"));
    }
    if let Ok(Document::Value(Json::Object(object))) = desk.json(&path)
        && !OWN_KEYS.iter().any(|key| object.has(key))
    {
        let reason = format!("`{path}` has none of {}", OWN_KEYS.join(", "));
        return unusable(Damage::Foreign, reason);
    }
    match workflow(desk, file.state) {
        Ok(workflow) => Found::Workflow(Box::new(workflow)),
        Err(Fault(reason)) => unusable(Damage::Corrupt, reason),
    }
}

fn workflow(desk: Desk<'_>, state: State) -> Result<Workflow, Fault> {
    checked(&state)?;
    let mut findings = Vec::new();
    let mut tolerated = |path: &str, fault: Fault| {
        let finding = Finding::new(Code::UnreadableDocument, fault.0);
        findings.push(finding.at(Place::path(path)));
    };
    let path = desk.branch.plan();
    let text = if desk.branch.can_have_plan() {
        desk.text(&path)
    } else {
        Err(Fault::new(format!("the name of `{path}` is too long")))
    };
    let has_plan = !matches!(text, Ok(None));
    let text = text.unwrap_or_else(|fault| {
        tolerated(&path, fault);
        None
    });
    let blueprint = desk.branch.file(layout::BLUEPRINT);
    // The state machine takes one that can not be read for none, and with it constraints and
    // dependencies are gone.
    let damage = match desk.json(&blueprint) {
        Ok(Document::Absent | Document::Value(_)) => None,
        Ok(Document::Broken(reason)) => {
            Some(Fault::new(format!("`{blueprint}` is no JSON: {reason}")))
        }
        Err(fault) => Some(fault),
    };
    let has_blueprint_damage = damage.is_some();
    if let Some(fault) = damage {
        tolerated(&blueprint, fault);
    }
    let progress = text
        .as_deref()
        .map(|text| briefing::progress_of(desk, text));
    let progress = progress.transpose().unwrap_or_else(|fault| {
        if !has_blueprint_damage {
            tolerated(&blueprint, fault);
        }
        None
    });
    let artifacts = Artifacts::read(desk).unwrap_or_else(|fault| {
        tolerated(&desk.branch.file(""), fault);
        Artifacts {
            branch: desk.branch.to_string(),
            ..Artifacts::default()
        }
    });
    let mut titles = blueprint::titles(desk).unwrap_or_default();
    titles.extend(text.as_deref().map(plan::titles).unwrap_or_default());
    Ok(Workflow {
        briefing: brief(&state, progress, artifacts)?,
        last_activity: last_activity(desk),
        goal: text.as_deref().and_then(goal),
        state,
        has_plan,
        titles,
        has_blueprint_damage,
        findings,
    })
}

fn brief(
    state: &State,
    progress: Option<Progress>,
    artifacts: Artifacts,
) -> Result<Briefing, Fault> {
    let briefing = Briefing::of(Some(state), progress, artifacts)?;
    // A state that is odd is told of where a step is due.
    Ok(match go_on::in_wave(state) {
        Ok(Some((subtask, phase))) => briefing.at(&subtask, phase),
        Ok(None) | Err(_) => briefing,
    })
}

/// Returns the newest time that stands in the checkpoint or in the manifest beside it.
///
/// Times of files are not asked for: they are those of a clone or a backup as often as not.
fn last_activity(desk: Desk<'_>) -> Option<Timestamp> {
    let documents = [layout::STATE, layout::MANIFEST].map(|name| desk.branch.file(name));
    let times = documents.iter().filter_map(|path| match desk.json(path) {
        Ok(Document::Value(value)) => newest(&value),
        Ok(Document::Absent | Document::Broken(_)) | Err(_) => None,
    });
    times.max()
}

/// Returns the newest of the values whose keys end in `_at`, at any depth.
fn newest(value: &Json) -> Option<Timestamp> {
    let inner = |(name, value): (&str, &Json)| {
        let stamp = value.as_text().filter(|_| name.ends_with("_at"));
        stamp.map_or_else(|| newest(value), rekindle_text::parse_instant)
    };
    match value {
        Json::Object(object) => object.iter().filter_map(inner).max(),
        Json::List(items) => items.iter().filter_map(newest).max(),
        Json::Null
        | Json::Bool(_)
        | Json::Int(_)
        | Json::LargeInt(_)
        | Json::Float(_)
        | Json::Text(_) => None,
    }
}

/// Looks at every value that a resume goes by, so that what is odd is told before anything is done.
fn checked(state: &State) -> Result<(), Fault> {
    state.texts(key::PENDING_STEPS)?;
    state.list(key::PENDING_STEPS)?;
    for (key, name) in [
        (key::COMPLETED_STEPS, "completed_steps"),
        (key::SKIPPED_STEPS, "skipped_steps"),
    ] {
        if state.entries(key)?.contains(&None) {
            return Err(Fault::new(format!(
                "`{name}` of step_state.json has more than strings in it"
            )));
        }
    }
    for key in [
        key::SUBTASK_INDEX,
        key::RETRY_COUNT,
        key::MAX_RETRIES,
        key::WAVE_INDEX,
    ] {
        state.int(key)?;
    }
    for key in [
        key::ISOLATION,
        key::QUARANTINES,
        key::RESULTS,
        key::SUBTASK_PHASES,
        key::SUBTASK_RETRIES,
    ] {
        state.map(key)?;
    }
    state.list(key::WAVES)?;
    state.list(key::SEQUENCE)?;
    state.done()?;
    let step = state.get(key::STEP);
    if step.as_text().is_none_or(str::is_empty) {
        let kind = step.kind();
        return Err(Fault::new(format!(
            "`current_step_id` of step_state.json is {kind}"
        )));
    }
    Ok(())
}

/// Returns what a plan is for: the words after `Goal:`, else the section, else the title.
fn goal(text: &str) -> Option<String> {
    let section = plan::goal(text).filter(|section| !section.is_empty());
    if let Some(section) = section {
        let said = section.lines().find_map(|line| {
            let (_, goal) = line.split_once("Goal:")?;
            Some(strip(goal.trim_start_matches('*'))).filter(|goal| !goal.is_empty())
        });
        let whole = || section.split_whitespace().collect::<Vec<_>>().join(" ");
        return Some(said.map_or_else(whole, str::to_owned));
    }
    let title = text
        .lines()
        .find_map(|line| line.strip_prefix("# Task Plan:"));
    title
        .map(strip)
        .filter(|title| !title.is_empty())
        .map(str::to_owned)
}

impl Workflow {
    /// Returns the workflow as it is when its plan holds this text.
    pub(super) fn with_plan(&self, desk: Desk<'_>, text: &str) -> Self {
        let progress = briefing::progress_of(desk, text).ok();
        let artifacts = self.briefing.artifacts.clone();
        let briefing = brief(&self.state, progress, artifacts);
        let mut titles = self.titles.clone();
        titles.extend(plan::titles(text));
        Self {
            briefing: briefing.unwrap_or_else(|_| self.briefing.clone()),
            has_plan: true,
            goal: goal(text),
            titles,
            ..self.clone()
        }
    }

    /// Returns whether the workflow says of itself that it is over.
    pub(super) fn is_complete(&self) -> bool {
        let state = &self.state;
        state.is(key::STATUS, WORKFLOW_COMPLETE)
            || state.is(key::STEP, COMPLETE)
            || state.is(key::PHASE, COMPLETE)
    }

    /// Returns how often the current subtask was rejected, if a person has to decide about it.
    pub(super) fn rejections(&self) -> Option<i64> {
        let count = self.state.int(key::RETRY_COUNT).ok()?;
        let most = self.state.int(key::MAX_RETRIES).ok()?;
        (self.state.is(key::STEP, "2.4") && count > most).then_some(count)
    }

    /// Returns whether the plan is yet to be written by one of the first steps.
    pub(super) fn is_before_plan(&self) -> bool {
        self.state.is(key::STEP, "1.0") || self.state.is(key::STEP, "1.5")
    }

    /// Returns the subtasks in order; before the state has them, those of the plan.
    pub(super) fn subtasks(&self) -> Vec<String> {
        let sequence = self.state.texts(key::SEQUENCE).unwrap_or_default();
        if !sequence.is_empty() {
            return sequence;
        }
        let planned = self.briefing.progress.iter();
        let planned = planned.flat_map(|progress| &progress.subtasks);
        planned.map(|planned| planned.id.clone()).collect()
    }

    /// Returns the subtasks that are done; the current one is not, as long as its steps are open.
    pub(super) fn done(&self) -> Vec<String> {
        let done = self.state.done().unwrap_or_default();
        let current = self.state.subtask();
        let is_complete = self.is_complete();
        let is_done =
            |id: &String| is_complete || (done.contains(id) && current != Some(id.as_str()));
        let sequence = self.state.texts(key::SEQUENCE).unwrap_or_default();
        sequence.into_iter().filter(is_done).collect()
    }

    /// Returns how many subtasks there are, by the state.
    pub(super) fn total(&self) -> usize {
        self.state.list(key::SEQUENCE).map_or(0, <[Json]>::len)
    }

    /// Returns what a subtask is called, with its id.
    pub(super) fn title(&self, id: &str) -> Option<&str> {
        self.titles.get(id).map(String::as_str)
    }

    /// Returns the subtasks whose status in the plan says something else than the state, with it.
    pub(super) fn drift(&self) -> Vec<(String, String)> {
        let done = self.done();
        let Some(progress) = &self.briefing.progress else {
            return Vec::new();
        };
        let sequence = self.state.texts(key::SEQUENCE).unwrap_or_default();
        let differs = |progress: &&plan::Planned| {
            let is_done = done.contains(&progress.id);
            sequence.contains(&progress.id) && is_done != (progress.status == "complete")
        };
        let drift = progress.subtasks.iter().filter(differs);
        drift
            .map(|planned| (planned.id.clone(), planned.status.clone()))
            .collect()
    }

    /// Returns the subtasks that only the plan has, and those that only the state has.
    pub(super) fn unmatched(&self) -> (Vec<String>, Vec<String>) {
        let sequence = self.state.texts(key::SEQUENCE).unwrap_or_default();
        let planned = self.briefing.progress.iter();
        let planned = planned.flat_map(|progress| &progress.subtasks);
        let planned: Vec<String> = planned.map(|planned| planned.id.clone()).collect();
        if sequence.is_empty() || planned.is_empty() {
            return (Vec::new(), Vec::new());
        }
        let without = |ids: &[String], others: &[String]| {
            let missing = ids.iter().filter(|id| !others.contains(id));
            missing.cloned().collect()
        };
        (without(&planned, &sequence), without(&sequence, &planned))
    }

    /// Returns how many subtasks the plan calls complete, of how many.
    pub(super) fn planned(&self) -> Option<(usize, usize)> {
        let progress: &Progress = self.briefing.progress.as_ref()?;
        Some((progress.completed().len(), progress.subtasks.len()))
    }
}

/// Returns the folders of branches that have a checkpoint, in order.
pub(super) fn branches(world: &dyn World) -> Vec<Branch> {
    let entries = world
        .list(&world.project().join(".map"))
        .unwrap_or_default();
    let folders = entries
        .into_iter()
        .filter(|entry| matches!(entry.kind, Kind::Folder | Kind::Link))
        .map(|entry| (Branch::of(Some(&entry.name)), entry.name));
    // A folder that no branch leads to is nobody's.
    let named = folders.filter(|(branch, name)| branch.as_str() == name);
    let branches = named.map(|(branch, _)| branch);
    let has_state = |branch: &Branch| Desk { world, branch }.exists(&branch.file(layout::STATE));
    branches.filter(has_state).collect()
}

/// Returns the checkpoint that the seed's shell pipeline would look at, if it is another one and there.
///
/// The pipeline has neither of the guards against names that lead elsewhere, and takes git's word
/// where there is no commit.
pub(super) fn by_the_pipeline(world: &dyn World, branch: &Branch) -> Option<String> {
    if *branch != root::branch(world, None) {
        return None;
    }
    let head = world.git(world.project(), &GitQuestion::HeadName);
    let name = match head.and_then(GitAnswer::head_name) {
        Ok(head) => head.name.unwrap_or_else(|| "HEAD".to_owned()),
        Err(_) => String::new(),
    };
    let name = layout::plain_name(&name);
    if name == branch.as_str() || name == ".." || name == "." {
        return None;
    }
    let path = if name.is_empty() {
        format!(".map/{}", layout::STATE)
    } else {
        format!(".map/{name}/{}", layout::STATE)
    };
    let desk = Desk { world, branch };
    (desk.kind(&path) == Some(Kind::File)).then_some(path)
}
