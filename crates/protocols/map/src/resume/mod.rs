//! map as a protocol: a workflow is taken up from its checkpoint and goes on step by step.
//!
//! [`read`] takes in the checkpoint of a branch with its plan and what stands beside them, [`words`]
//! has the seed's texts. [`plan`] opens with the briefing and takes the answer; from there on
//! [`go_on`] asks the state machine for the step that is due and sends somebody off with what
//! [`prompts`] says, and [`settle`] closes the step with what came of it. Every change of the state is
//! one of the state machine's own, as an effect of the plan.

mod explain;
mod facts;
mod go_on;
mod noticed;
mod order;
mod plan;
mod prompts;
mod questions;
mod read;
mod rebuilt;
mod session;
mod settle;
mod words;

use rekindle_model::{
    Assessment, Explanation, Intent, Next, Plan, Progress, ProtocolName, State, Summary,
    WorkflowDocument, WorkflowId,
};
use rekindle_world::{Kind, World};

use self::read::{Found, Suspended, Workflow};
use super::desk::Desk;
use super::interruption::Interruption;
use super::layout::{self, Branch};
use super::machine::advance::BLOCKED;
use super::root;
use super::state::key;
use rekindle_protocol::{Ask, Belongings, Case, Decision, Protocol};

/// The protocol itself; it has no state.
pub struct Map;

impl Protocol for Map {
    fn name(&self) -> ProtocolName {
        crate::NAME
    }

    fn about(&self) -> &'static str {
        "MAP workflows, one for each branch, kept in `.map/<branch>/step_state.json`"
    }

    fn is_here(&self, world: &dyn World) -> bool {
        let folder = world.project().join(".map");
        world
            .stat(&folder)
            .is_ok_and(|meta| matches!(meta.kind, Kind::Folder | Kind::Link))
    }

    fn inspect(&self, world: &dyn World, ask: &Ask) -> Box<dyn Case> {
        let branches = read::branches(world);
        let meant = meant(world, ask, &branches);
        let branch = meant.clone().unwrap_or_else(|| root::branch(world, None));
        let desk = Desk {
            world,
            branch: &branch,
        };
        let found = read::found(desk);
        let mut workflows: Vec<Summary> = branches
            .iter()
            .map(|branch| summary(branch, &read::found(Desk { world, branch })))
            .collect();
        if is_suspended_without_state(&found) {
            workflows.push(summary(&branch, &found));
        }
        // The branch that is checked out comes first, then those that are open.
        workflows.sort_by_key(|known| (known.id.name != branch.as_str(), !known.state.is_open()));
        let state = match &meant {
            Some(branch) => standing(&found, branch),
            None => State::Unknown,
        };
        let assessment = Assessment {
            id: meant.map(|branch| id(&branch)),
            state,
            workflows,
            findings: noticed::noticed(desk, &found),
            facts: facts::facts(&branch, &found),
        };
        Box::new(Resume {
            branch,
            found,
            assessment,
        })
    }

    fn explain(&self, world: &dyn World, ask: &Ask, task: &str) -> Option<Explanation> {
        let branch = meant(world, ask, &read::branches(world))?;
        let desk = Desk {
            world,
            branch: &branch,
        };
        match read::found(desk) {
            Found::Workflow(workflow) => explain::explain(&branch, &workflow, task),
            Found::Suspended(suspended) => {
                explain::explain(&branch, suspended.workflow.as_ref()?, task)
            }
            Found::Nothing | Found::Unusable(_) => None,
        }
    }

    fn decisions(&self) -> Vec<Decision> {
        crate::table::decisions()
    }
}

/// What is kept of a branch beside its plan.
const DOCUMENTS: [&str; 6] = [
    layout::BLUEPRINT,
    layout::STATE,
    layout::QUARANTINE,
    layout::TRIAGE,
    layout::MANIFEST,
    layout::VERIFICATION,
];

/// One branch, looked at.
struct Resume {
    branch: Branch,
    found: Found,
    assessment: Assessment,
}

impl Case for Resume {
    fn assessment(&self) -> &Assessment {
        &self.assessment
    }

    fn plan(&self, world: &dyn World, intent: &Intent) -> Option<Plan> {
        let desk = Desk {
            world,
            branch: &self.branch,
        };
        plan::plan(desk, &self.found, intent)
    }

    fn belongings(&self) -> Belongings {
        let plan = format!("task_plan_{}.md", self.branch);
        let names = DOCUMENTS.iter().map(|&name| name.to_owned());
        let document = |name: String| WorkflowDocument {
            path: self.branch.file(&name).into(),
            name,
        };
        Belongings {
            documents: std::iter::once(plan).chain(names).map(document).collect(),
            ..Belongings::default()
        }
    }
}

fn id(branch: &Branch) -> WorkflowId {
    WorkflowId::new(crate::NAME, branch.as_str())
}

/// Returns the branch that is meant: the one that is named, by its own name, that of its folder or a
/// unique beginning of it; else the one that is checked out.
fn meant(world: &dyn World, ask: &Ask, branches: &[Branch]) -> Option<Branch> {
    let current = root::branch(world, None);
    let Some(name) = &ask.name else {
        return Some(current);
    };
    if name.is_empty() {
        return None;
    }
    let exact = Branch::of(Some(name));
    if branches.contains(&exact) || exact == current {
        return Some(exact);
    }
    let mut begun = branches
        .iter()
        .filter(|branch| branch.as_str().starts_with(name.as_str()));
    match (begun.next(), begun.next()) {
        (Some(only), None) => Some(only.clone()),
        (None, _) | (Some(_), Some(_)) => None,
    }
}

fn standing(found: &Found, branch: &Branch) -> State {
    match found {
        Found::Nothing => State::Nothing,
        Found::Unusable(_) => State::Corrupt,
        Found::Workflow(_) | Found::Suspended(_) => summary(branch, found).state,
    }
}

fn summary(branch: &Branch, found: &Found) -> Summary {
    let (state, stage, progress, next) = match found {
        Found::Workflow(workflow) => of_workflow(workflow),
        Found::Suspended(suspended) => of_suspended(suspended),
        Found::Nothing | Found::Unusable(_) => {
            let path = branch.file(layout::STATE);
            let next = Next {
                kind: "mend",
                summary: format!("`{path}` can not be read; look at it, or put it away"),
            };
            let progress = Progress {
                done: 0,
                total: None,
            };
            (State::Corrupt, "unknown".to_owned(), progress, next)
        }
    };
    Summary {
        id: id(branch),
        state,
        stage,
        progress,
        last_activity: match found {
            Found::Workflow(workflow) => workflow.last_activity,
            Found::Suspended(suspended) => {
                let workflow = suspended.workflow.as_ref();
                workflow.and_then(|workflow| workflow.last_activity)
            }
            Found::Nothing | Found::Unusable(_) => None,
        },
        next,
    }
}

/// Returns whether a journal says that a repair of this branch is open, and there is no state file
/// by which the branch would be listed.
fn is_suspended_without_state(found: &Found) -> bool {
    let Found::Suspended(suspended) = found else {
        return false;
    };
    let Interruption::Unclear(contradiction) = &suspended.interruption else {
        return false;
    };
    contradiction.is_claimed && !suspended.has_state
}

fn of_suspended(suspended: &Suspended) -> (State, String, Progress, Next) {
    let nowhere = || {
        let progress = Progress {
            done: 0,
            total: None,
        };
        ("unknown".to_owned(), progress)
    };
    let of = |workflow| {
        let (_, stage, progress, _) = of_workflow(workflow);
        (stage, progress)
    };
    let (stage, progress) = suspended.workflow.as_ref().map_or_else(nowhere, of);
    let state = match &suspended.interruption {
        Interruption::Unclear(unclear) if !unclear.is_claimed => State::Blocked,
        Interruption::Idle | Interruption::Open(_) | Interruption::Unclear(_) => State::Waiting,
    };
    let next = Next {
        kind: "repair",
        summary: words::repair_next(&suspended.interruption),
    };
    (state, stage, progress, next)
}

fn of_workflow(workflow: &Workflow) -> (State, String, Progress, Next) {
    let state = &workflow.state;
    let word = |key| state.get(key).as_text().unwrap_or_default();
    let (step, phase) = (word(key::STEP), word(key::PHASE));
    let stage = match (go_on::in_wave(state), state.subtask()) {
        (Ok(Some((subtask, phase))), _) => format!("{phase} of {subtask}"),
        (_, Some(subtask)) => format!("{phase} of {subtask}"),
        (_, None) => phase.to_owned(),
    };
    let progress = Progress {
        done: workflow.done().len(),
        total: (workflow.total() > 0).then(|| workflow.total()),
    };
    let next = |kind, summary: &str| Next {
        kind,
        summary: summary.to_owned(),
    };
    let (state, next) = if workflow.is_complete() {
        (State::Complete, next("complete", "nothing is left to do"))
    } else if !workflow.has_plan && !workflow.is_before_plan() {
        let summary = "the task plan is missing: write a new one, or start fresh";
        (State::Blocked, next("plan", summary))
    } else if let Some(count) = workflow.rejections() {
        let summary = format!("it was rejected {count} times: a person has to decide");
        (State::Blocked, next("decide", &summary))
    } else if phase == BLOCKED {
        let summary = "every subtask that is left waits for another one";
        (State::Blocked, next("dependencies", summary))
    } else if step == "1.55" && !state.get(key::PLAN_APPROVED).is_truthy() {
        (State::Waiting, next("approve", "approve the plan"))
    } else {
        let due = workflow.briefing.next_action.last();
        let summary = due.map_or("resume current step", String::as_str);
        (State::Interrupted, next("step", summary))
    };
    (state, stage, progress, next)
}

#[cfg(test)]
mod scene_tests;
