//! kiln: a project that is resumed from its memory.
//!
//! All that counts stands in `MEMORY.md`, in a folder of the user's home that is named after the
//! project's path. `read` takes it in with what stands beside it, `assess` follows its stage,
//! `plan` says what is due: the banner, one surgical write, and then the stage itself, with Maestro
//! and Argus as the agents that do the work.

mod assess;
mod explain;
mod facts;
mod handed;
mod handoff;
mod inventory;
mod layout;
mod master_plan;
mod memory;
mod names;
mod noticed;
mod phase_state;
mod plan;
mod prompts;
mod read;
mod report;
mod restart;
mod seen;
mod table;
mod unreadable;
mod values;
mod words;

use camino::Utf8PathBuf;
use jiff::Timestamp;
use rekindle_model::{
    Assessment, Explanation, Fact, Finding, Intent, Next, Plan, Progress, ProtocolName, State,
    Summary, View, WorkflowDocument, WorkflowId,
};
use rekindle_world::World;

use self::assess::{Judged, Routing};
use self::layout::Layout;
use self::read::Evidence;
use self::table::Branch;
use self::unreadable::Unreadable;
use rekindle_protocol::{Ask, Belongings, Case, Decision, Protocol};

/// The name of the protocol.
const NAME: ProtocolName = ProtocolName::new("kiln");

/// The protocol itself; it has no state.
pub struct Kiln;

impl Protocol for Kiln {
    fn name(&self) -> ProtocolName {
        NAME
    }

    fn about(&self) -> &'static str {
        "A project whose memory is in `~/.claude/projects/<encoded>/memory/`"
    }

    fn is_here(&self, world: &dyn World) -> bool {
        let layout = Layout::find(world);
        layout.is_kilns(world) || layout.has_lost_memory(world)
    }

    fn inspect(&self, world: &dyn World, ask: &Ask) -> Box<dyn Case> {
        match read::evidence(world) {
            Evidence::NoMemory(layout) => Box::new(Unreadable::without_memory(world, &layout, ask)),
            Evidence::Corrupt {
                layout,
                fields,
                unreadable,
            } => Box::new(Unreadable::corrupt(
                world, &layout, &fields, unreadable, ask,
            )),
            Evidence::Project(project) => {
                let judged = assess::assess(*project);
                let assessment = assessment(&judged, ask);
                Box::new(Resume {
                    judged,
                    assessment,
                    now: world.now(),
                })
            }
        }
    }

    fn explain(&self, world: &dyn World, _: &Ask, task: &str) -> Option<Explanation> {
        match read::evidence(world) {
            Evidence::Project(project) => explain::explain(&assess::assess(*project), task),
            Evidence::NoMemory(_) | Evidence::Corrupt { .. } => None,
        }
    }

    fn decisions(&self) -> Vec<Decision> {
        table::decisions()
    }
}

/// A project whose memory can be followed.
struct Resume {
    judged: Judged,
    assessment: Assessment,
    now: Timestamp,
}

impl Case for Resume {
    fn assessment(&self) -> &Assessment {
        &self.assessment
    }

    fn plan(&self, _: &dyn World, intent: &Intent) -> Option<Plan> {
        plan::plan(&self.judged, self.now, intent)
    }

    fn belongings(&self) -> Belongings {
        let project = &self.judged.project;
        let states = project.states.keys().copied().map(layout::phase_state);
        let summaries = project.archived.iter().copied().map(layout::phase_summary);
        // The memory itself is in the user's home, not in the project.
        let names = std::iter::once(layout::REPORT.to_owned());
        let documents = names.chain(states).chain(summaries);
        let document = |name: String| WorkflowDocument {
            path: Utf8PathBuf::from(layout::FOLDER).join(&name),
            name,
        };
        Belongings {
            roots: project.layout.roots(),
            documents: documents.map(document).collect(),
            ..Belongings::default()
        }
    }
}

fn id(layout: &Layout) -> WorkflowId {
    WorkflowId::new(crate::NAME, layout.name())
}

fn assessment(judged: &Judged, ask: &Ask) -> Assessment {
    let fields = &judged.project.fields;
    let state = standing(judged);
    let summary = Summary {
        id: id(&judged.project.layout),
        state,
        stage: stage(judged),
        progress: Progress {
            done: judged.n_completed(),
            total: (!judged.inventory.is_empty()).then_some(judged.inventory.len()),
        },
        last_activity: fields.last_updated,
        next: next(judged),
        view: View::of(state),
    };
    chosen(summary, ask, judged.findings.clone(), facts::facts(judged))
}

fn chosen(summary: Summary, ask: &Ask, findings: Vec<Finding>, facts: Fact) -> Assessment {
    let name = &summary.id.name;
    let is_meant = ask
        .name
        .as_ref()
        .is_none_or(|wanted| !wanted.is_empty() && name.starts_with(wanted.as_str()));
    Assessment {
        id: is_meant.then(|| summary.id.clone()),
        state: if is_meant {
            summary.state
        } else {
            State::Unknown
        },
        workflows: vec![summary],
        findings,
        facts,
    }
}

fn standing(judged: &Judged) -> State {
    match &judged.routing {
        Routing::Brainstorm | Routing::Planning(_) | Routing::Validation(Branch::Blocked) => {
            State::Waiting
        }
        Routing::Execution(execution) if execution.operator.is_some() => State::Waiting,
        Routing::Execution(_) | Routing::Validation(Branch::Correction | Branch::Fresh) => {
            State::Interrupted
        }
        Routing::NoPhases | Routing::PhasesMissing(_) => State::Blocked,
        Routing::Complete => State::Complete,
    }
}

fn stage(judged: &Judged) -> String {
    let stage = judged.route().last().copied().unwrap_or_default();
    match &judged.routing {
        Routing::Planning(sub_stage) => format!("{stage} ({})", sub_stage.as_str()),
        Routing::Execution(execution) => format!("{stage}, phase {}", execution.phase.number),
        Routing::Brainstorm
        | Routing::NoPhases
        | Routing::PhasesMissing(_)
        | Routing::Validation(_)
        | Routing::Complete => stage.to_owned(),
    }
}

fn next(judged: &Judged) -> Next {
    let (kind, summary) = match &judged.routing {
        Routing::Brainstorm => ("brainstorm", "go on with the brainstorm".to_owned()),
        Routing::Planning(_) => ("planning", "go on with the plan".to_owned()),
        Routing::Execution(execution) => {
            let named = words::named(execution.phase.number, &execution.phase.name);
            if let Some(reason) = &execution.operator {
                let summary = format!("{named} waits for the operator: {reason}");
                ("operator", summary)
            } else {
                let step = execution.restart.step.as_str();
                let trouble = judged.trouble(execution.phase.number);
                let trouble = trouble.map_or_else(String::new, |said| format!("; {said}"));
                ("phase", format!("resume {named} with step {step}{trouble}"))
            }
        }
        Routing::NoPhases => (
            "no_phases",
            "put the phases back into master-plan.md".to_owned(),
        ),
        Routing::PhasesMissing(lacking) => (
            "phases_missing",
            format!("put back what master-plan.md lacks: {lacking}"),
        ),
        Routing::Validation(Branch::Blocked) => (
            "decide",
            "decide how to proceed after validation failed".to_owned(),
        ),
        Routing::Validation(Branch::Correction | Branch::Fresh) if judged.is_answered() => (
            "conclude",
            "draw the conclusion from the validation report".to_owned(),
        ),
        Routing::Validation(Branch::Correction | Branch::Fresh) => {
            ("validate", "validate what was built".to_owned())
        }
        Routing::Complete => ("complete", "nothing is left to do".to_owned()),
    };
    Next { kind, summary }
}

#[cfg(test)]
mod oracle_tests;
#[cfg(test)]
mod scene_tests;
