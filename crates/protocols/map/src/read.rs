//! World to evidence: the checkpoint of a branch, its plan and the files next to them.

use std::collections::BTreeMap;

use jiff::Timestamp;
use rekindle_map_machine::briefing::{self, Artifacts, Briefing};
use rekindle_map_machine::desk::Document;
use rekindle_map_machine::interruption::Interruption;
use rekindle_map_machine::state::{State, StateFile, key};
use rekindle_map_machine::task_plan::{self, Planned, Progress};
use rekindle_map_machine::{Branch, Desk, Fault, blueprint, layout, root};
use rekindle_model::{Code, Finding, Place};
use rekindle_text::python_json::Json;
use rekindle_text::python_text::strip;
use rekindle_world::{GitAnswer, GitQuestion, Kind, World};

use crate::{messages, steps};

/// Every state of MAP 3.x has at least one of these keys; other documents have none.
const OWN_KEYS: &[&str] = &[
    "current_step_id",
    "current_step_phase",
    "current_subtask_id",
];

/// The content of a branch's folder.
#[derive(Debug, Clone)]
pub(crate) enum Found {
    /// There is no checkpoint.
    Nothing,
    /// The checkpoint cannot be used.
    Unusable(Unusable),
    /// The checkpoint can be resumed.
    Workflow(Box<Workflow>),
    /// A repair has suspended the run, or may have; nothing may be changed.
    Suspended(Box<Suspended>),
}

impl Found {
    /// Returns the workflow, if the checkpoint can be read.
    pub(crate) fn workflow(&self) -> Option<&Workflow> {
        match self {
            Self::Workflow(workflow) => Some(workflow),
            Self::Suspended(suspended) => suspended.workflow.as_ref(),
            Self::Nothing | Self::Unusable(_) => None,
        }
    }
}

/// A run that a repair has suspended, or may have.
#[derive(Debug, Clone)]
pub(crate) struct Suspended {
    pub(crate) interruption: Interruption,
    /// Whether there is a state file, readable or not.
    pub(crate) has_state: bool,
    /// The workflow, if its checkpoint can be read.
    pub(crate) workflow: Option<Workflow>,
}

/// A checkpoint from which no state can be read.
#[derive(Debug, Clone)]
pub(crate) struct Unusable {
    pub(crate) damage: Damage,
    pub(crate) reason: String,
    /// The bytes of the file, if it could be read at all.
    pub(crate) bytes: Vec<u8>,
}

/// What is wrong with a checkpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Damage {
    /// It cannot be parsed as a state.
    Corrupt,
    /// It is an object of another kind.
    Foreign,
}

/// A checkpoint that can be resumed.
#[derive(Debug, Clone)]
pub(crate) struct Workflow {
    pub(crate) state: State,
    pub(crate) briefing: Briefing,
    /// The newest time in the files.
    pub(crate) last_activity: Option<Timestamp>,
    /// Whether there is a plan, readable or not.
    pub(crate) has_plan: bool,
    pub(crate) goal: Option<String>,
    /// The titles of subtasks, from plan and blueprint.
    pub(crate) titles: BTreeMap<String, String>,
    /// Whether there is a blueprint that cannot be read.
    pub(crate) has_blueprint_damage: bool,
    pub(crate) findings: Vec<Finding>,
}

/// Reads the folder of a branch, and whether a repair has suspended its run.
pub(crate) fn found(desk: Desk<'_>) -> Found {
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
                workflow.briefing.next_action = vec![messages::repair_next(&interruption)];
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
        return unusable(Damage::Corrupt, format!("`{path}` is not JSON: {reason}"));
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
    let mut tolerate = |path: &str, Fault(reason): Fault| {
        findings.push(Finding::new(Code::UnreadableDocument, reason).at(Place::path(path)));
    };
    let text = desk.plan();
    let has_plan = !matches!(text, Ok(None));
    let text = text.unwrap_or_else(|fault| {
        tolerate(&desk.branch.plan(), fault);
        None
    });
    let blueprint = desk.branch.file(layout::BLUEPRINT);
    // The state machine ignores an unreadable blueprint, and with it constraints and dependencies.
    let damage = match desk.json(&blueprint) {
        Ok(Document::Absent | Document::Value(_)) => None,
        Ok(Document::Broken(reason)) => {
            Some(Fault::new(format!("`{blueprint}` is not JSON: {reason}")))
        }
        Err(fault) => Some(fault),
    };
    let has_blueprint_damage = damage.is_some();
    if let Some(fault) = damage {
        tolerate(&blueprint, fault);
    }
    let progress = text.as_deref();
    let progress = progress.map(|text| briefing::progress_of(desk, text));
    let progress = progress.transpose().unwrap_or_else(|fault| {
        if !has_blueprint_damage {
            tolerate(&blueprint, fault);
        }
        None
    });
    let artifacts = Artifacts::read(desk).unwrap_or_else(|fault| {
        tolerate(&desk.branch.file(""), fault);
        Artifacts {
            branch: desk.branch.to_string(),
            ..Artifacts::default()
        }
    });
    let mut titles = blueprint::titles(desk).unwrap_or_default();
    titles.extend(text.as_deref().map(task_plan::titles).unwrap_or_default());
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
    // An unusual state is reported when its step is carried out.
    Ok(match steps::in_wave(state) {
        Ok(Some((subtask, phase))) => briefing.at(&subtask, phase),
        Ok(None) | Err(_) => briefing,
    })
}

/// Returns the newest time in the checkpoint and the manifest.
///
/// Modification times of files are ignored: often they are those of a clone or a backup.
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
    if let Some(items) = value.as_list() {
        return items.iter().filter_map(newest).max();
    }
    let inner = |(name, value): (&str, &Json)| {
        let stamp = value.as_text().filter(|_| name.ends_with("_at"));
        stamp.map_or_else(|| newest(value), rekindle_text::parse_instant)
    };
    value.as_object()?.iter().filter_map(inner).max()
}

/// Checks every value that a resume depends on, so that problems are reported before anything is done.
fn checked(state: &State) -> Result<(), Fault> {
    state.texts(key::PENDING_STEPS)?;
    for key in [key::PENDING_STEPS, key::WAVES, key::SEQUENCE] {
        state.list(key)?;
    }
    for key in [key::COMPLETED_STEPS, key::SKIPPED_STEPS] {
        if state.entries(key)?.contains(&None) {
            return Err(Fault::new(format!(
                "`{key}` of step_state.json has values that are not strings"
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

/// Returns the goal of a plan: the text after `Goal:`, else the section, else the title.
fn goal(text: &str) -> Option<String> {
    let filled = |text: &&str| !text.is_empty();
    if let Some(section) = task_plan::goal(text).filter(filled) {
        let line = section.lines().find_map(|line| {
            let (_, goal) = line.split_once("Goal:")?;
            Some(strip(goal.trim_start_matches('*'))).filter(filled)
        });
        return Some(line.map_or_else(|| messages::one_line(section), str::to_owned));
    }
    let mut lines = text.lines();
    let title = lines.find_map(|line| line.strip_prefix("# Task Plan:"));
    title.map(strip).filter(filled).map(str::to_owned)
}

impl Workflow {
    /// Returns the workflow with a plan of this text.
    pub(crate) fn with_plan(&self, desk: Desk<'_>, text: &str) -> Self {
        let progress = briefing::progress_of(desk, text).ok();
        let artifacts = self.briefing.artifacts.clone();
        let briefing = brief(&self.state, progress, artifacts);
        let mut titles = self.titles.clone();
        titles.extend(task_plan::titles(text));
        Self {
            briefing: briefing.unwrap_or_else(|_| self.briefing.clone()),
            has_plan: true,
            goal: goal(text),
            titles,
            ..self.clone()
        }
    }

    /// Returns whether the state says that the workflow is complete.
    pub(crate) fn is_complete(&self) -> bool {
        self.state.is_marked_complete()
    }

    /// Returns how often the current subtask was rejected, if a person has to decide.
    pub(crate) fn rejections(&self) -> Option<i64> {
        let count = self.state.int(key::RETRY_COUNT).ok()?;
        let most = self.state.int(key::MAX_RETRIES).ok()?;
        (self.state.is(key::STEP, "2.4") && count > most).then_some(count)
    }

    /// Returns whether a coming step writes the plan.
    pub(crate) fn is_before_plan(&self) -> bool {
        self.state.is(key::STEP, "1.0") || self.state.is(key::STEP, "1.5")
    }

    /// Returns the subtasks of the state, in order.
    pub(crate) fn sequence(&self) -> Vec<String> {
        self.state.texts(key::SEQUENCE).unwrap_or_default()
    }

    /// Returns the subtasks as the plan has them.
    pub(crate) fn planned(&self) -> &[Planned] {
        let progress = self.briefing.progress.as_ref();
        progress.map_or(&[], |progress| &progress.subtasks)
    }

    /// Returns the subtasks in order: of the state, else of the plan.
    pub(crate) fn subtasks(&self) -> Vec<String> {
        let sequence = self.sequence();
        if !sequence.is_empty() {
            return sequence;
        }
        let planned = self.planned().iter();
        planned.map(|planned| planned.id.clone()).collect()
    }

    /// Returns the completed subtasks; the current one has open steps and is not among them.
    pub(crate) fn done(&self) -> Vec<String> {
        let done = self.state.done().unwrap_or_default();
        let is_complete = self.is_complete();
        let mut sequence = self.sequence();
        sequence.retain(|id| {
            is_complete || (done.contains(id) && self.state.subtask() != Some(id.as_str()))
        });
        sequence
    }

    /// Returns the number of subtasks in the state.
    pub(crate) fn total(&self) -> usize {
        self.state.list(key::SEQUENCE).map_or(0, <[Json]>::len)
    }

    /// Returns the title of a subtask.
    pub(crate) fn title(&self, id: &str) -> Option<&str> {
        self.titles.get(id).map(String::as_str)
    }

    /// Returns the subtasks about whose completion plan and state disagree.
    pub(crate) fn drift(&self) -> Vec<&Planned> {
        let (done, sequence) = (self.done(), self.sequence());
        let differs = |planned: &&Planned| {
            let is_done = done.contains(&planned.id);
            sequence.contains(&planned.id) && is_done != (planned.status == "complete")
        };
        self.planned().iter().filter(differs).collect()
    }

    /// Returns the subtasks that only the plan has, and those that only the state has.
    pub(crate) fn unmatched(&self) -> (Vec<String>, Vec<String>) {
        let sequence = self.sequence();
        let planned = self.planned().iter();
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
}

/// Returns the branches that have a checkpoint, in order.
pub(crate) fn branches(world: &dyn World) -> Vec<Branch> {
    let entries = world.list(&world.project().join(".map"));
    let folders = entries.unwrap_or_default().into_iter();
    let folders = folders.filter(|entry| matches!(entry.kind, Kind::Folder | Kind::Link));
    // Other folders do not belong to a branch.
    let branches = folders.filter_map(|entry| {
        let branch = Branch::of(Some(&entry.name));
        (branch.as_str() == entry.name).then_some(branch)
    });
    let has_state = |branch: &Branch| Desk::new(world, branch).exists(&branch.file(layout::STATE));
    branches.filter(has_state).collect()
}

/// Returns the checkpoint that the shell commands of `/map-resume` read, if it is a different one.
///
/// They replace fewer characters of the branch's name, and use `HEAD` where there is no commit.
pub(crate) fn other_checkpoint(world: &dyn World, branch: &Branch) -> Option<String> {
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
    (Desk::new(world, branch).kind(&path) == Some(Kind::File)).then_some(path)
}
