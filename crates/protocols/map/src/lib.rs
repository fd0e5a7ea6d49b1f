//! map: MAP workflows, resumed step by step from their checkpoints.
//!
//! `read` reads the checkpoint of a branch with its plan and other files, `assess` concludes the state
//! of the workflow, `messages` has the texts that are printed. `plan` opens with the briefing and
//! handles the answers; `steps` asks the state machine for the next step and starts an agent with a
//! prompt of `prompts`, and `settle` closes the step with its result. Every change of the state is made
//! by the state machine of `rekindle-map-machine`, as an effect of the plan.

mod assess;
mod explain;
mod facts;
mod findings;
mod history;
mod messages;
mod new_plan;
mod order;
mod plan;
mod prompts;
mod questions;
mod read;
mod session;
mod settle;
mod steps;
mod table;
mod verdict;

use rekindle_map_machine::{Branch, Desk, layout, root};
use rekindle_model::{
    Assessment, Background, Explanation, History, Intent, Plan, ProtocolName, State, Summary,
    WorkflowDocument, WorkflowId,
};
use rekindle_protocol::{Ask, Belongings, Case, Decision, Protocol};
use rekindle_world::{Kind, World};

use self::read::Found;

/// The name of the protocol.
const NAME: ProtocolName = ProtocolName::new("map");

/// The protocol itself; it has no state.
pub struct Map;

impl Protocol for Map {
    fn name(&self) -> ProtocolName {
        NAME
    }

    fn about(&self) -> &'static str {
        "MAP workflows, one for each branch, kept in `.map/<branch>/step_state.json`"
    }

    fn folders(&self) -> &'static [&'static str] {
        &[".map/"]
    }

    fn commands(&self) -> &'static [&'static str] {
        &["/map-"]
    }

    fn is_here(&self, world: &dyn World) -> bool {
        let folder = world.project().join(".map");
        let meta = world.stat(&folder);
        meta.is_ok_and(|meta| matches!(meta.kind, Kind::Folder | Kind::Link))
    }

    fn inspect(&self, world: &dyn World, ask: &Ask) -> Box<dyn Case> {
        let branches = read::branches(world);
        let selected = selected(world, ask, &branches);
        let branch = selected.clone();
        let branch = branch.unwrap_or_else(|| root::branch(world, None));
        let desk = Desk::new(world, &branch);
        let found = read::found(desk);
        let summary =
            |branch: &Branch| assess::summary(branch, &read::found(Desk::new(world, branch)));
        let mut workflows: Vec<Summary> = branches.iter().map(summary).collect();
        if assess::is_suspended_without_state(&found) {
            workflows.push(assess::summary(&branch, &found));
        }
        // The branch that is checked out comes first, then the branches with open workflows.
        workflows.sort_by_key(|known| (known.id.name != branch.as_str(), !known.state.is_open()));
        let state = match (&selected, &found) {
            (None, _) => State::Unknown,
            (Some(_), Found::Nothing) => State::Nothing,
            (Some(_), found) => assess::summary(&branch, found).state,
        };
        let assessment = Assessment {
            id: selected.map(|branch| id(&branch)),
            state,
            workflows,
            findings: findings::findings(desk, &found),
            facts: facts::facts(&branch, &found),
        };
        Box::new(Resume {
            branch,
            found,
            assessment,
        })
    }

    fn explain(&self, world: &dyn World, ask: &Ask, task: &str) -> Option<Explanation> {
        let branch = selected(world, ask, &read::branches(world))?;
        let found = read::found(Desk::new(world, &branch));
        explain::explain(&branch, found.workflow()?, task)
    }

    fn decisions(&self) -> Vec<Decision> {
        table::decisions()
    }
}

/// The files of a branch besides its plan.
const DOCUMENTS: [&str; 6] = [
    layout::BLUEPRINT,
    layout::STATE,
    layout::QUARANTINE,
    layout::TRIAGE,
    layout::MANIFEST,
    layout::VERIFICATION,
];

/// An inspected branch.
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
        plan::plan(Desk::new(world, &self.branch), &self.found, intent)
    }

    fn history(&self, world: &dyn World) -> Option<History> {
        let desk = Desk::new(world, &self.branch);
        Some(history::history(desk, self.found.workflow()?))
    }

    fn background(&self, world: &dyn World) -> Background {
        let Some(workflow) = self.found.workflow() else {
            return Background::default();
        };
        let work = prompts::Work {
            desk: Desk::new(world, &self.branch),
            workflow,
            subtask: workflow
                .briefing
                .current_subtask
                .as_text()
                .unwrap_or_default(),
        };
        Background {
            intent: workflow.goal.clone(),
            decisions: Vec::new(),
            failures: work.rejection().into_iter().collect(),
        }
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
    WorkflowId::new(NAME, branch.as_str())
}

/// Returns the branch that the caller named by its name, its folder or a unique prefix of that; else the
/// branch that is checked out.
fn selected(world: &dyn World, ask: &Ask, branches: &[Branch]) -> Option<Branch> {
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
    let has_prefix = |branch: &&Branch| branch.as_str().starts_with(name);
    let mut prefixed = branches.iter().filter(has_prefix);
    let only = prefixed.next().cloned();
    only.filter(|_| prefixed.next().is_none())
}

#[cfg(test)]
mod scene_tests;
