//! kiln: a project that is resumed from its memory.
//!
//! `MEMORY.md` decides; it is in a folder of the user's home that is named after the project's path.
//! `read` reads it with the files next to it, `assess` follows its stage, and `plan` returns what is
//! due: the banner, one edit of the memory, and then the stage, with Maestro and Argus as the agents
//! that do the work.

mod assess;
mod explain;
mod facts;
mod findings;
mod handed_back;
mod handoff;
mod inventory;
mod layout;
mod marks;
mod master_plan;
mod memory;
mod messages;
mod names;
mod phase_state;
mod plan;
mod prompts;
mod read;
mod report;
mod restart;
mod table;
mod unreadable;
mod values;

use camino::Utf8PathBuf;
use jiff::Timestamp;
use rekindle_model::{
    Assessment, Background, Explanation, Fact, Intent, Next, Plan, Progress, ProtocolName, State,
    Summary, WorkflowDocument, WorkflowId,
};
use rekindle_text::opening;
use rekindle_world::World;

use self::assess::{Judged, Routing};
use self::layout::Layout;
use self::read::Evidence;
use self::table::Branch;
use self::values::Event;
use rekindle_protocol::{Ask, Belongings, Case, Decision, Protocol};

/// The name of the protocol.
const NAME: ProtocolName = ProtocolName::new("kiln");

/// The protocol itself; it has no state.
pub struct Kiln;

impl Protocol for Kiln {
    fn name(&self) -> ProtocolName {
        NAME
    }

    fn folders(&self) -> &'static [&'static str] {
        &[".kiln/", "/memory/MEMORY.md"]
    }

    fn about(&self) -> &'static str {
        "A project whose memory is in `~/.claude/projects/<encoded>/memory/`"
    }

    fn commands(&self) -> &'static [&'static str] {
        &["/kiln:"]
    }

    fn is_here(&self, world: &dyn World) -> bool {
        let layout = Layout::find(world);
        layout.is_kilns(world) || layout.has_lost_memory(world)
    }

    fn inspect(&self, world: &dyn World, ask: &Ask) -> Box<dyn Case> {
        match read::evidence(world) {
            Evidence::NoMemory(layout) => Box::new(unreadable::without_memory(world, &layout, ask)),
            Evidence::Corrupt {
                layout,
                fields,
                unreadable: why,
            } => Box::new(unreadable::corrupt(world, &layout, &fields, why, ask)),
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

    fn background(&self, _: &dyn World) -> Background {
        let project = &self.judged.project;
        let decisions = project.document(layout::DECISIONS);
        let decisions = decisions.map(messages::entries).unwrap_or_default();
        let failed = project.states.iter().rev().flat_map(|(phase, state)| {
            let events = state.events.iter().rev();
            let failures = [Event::TaskFail, Event::ReviewRejected, Event::Error];
            let failed = events.filter(move |event| failures.contains(&event.kind));
            failed.map(move |event| format!("phase {phase}: {}", event.description))
        });
        Background {
            intent: project
                .document(layout::VISION)
                .and_then(opening)
                .map(str::to_owned),
            // The log is append-only.
            decisions: decisions.into_iter().rev().collect(),
            failures: failed.collect(),
        }
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

/// Returns the assessment of the project's one workflow.
fn assessment_of(
    layout: &Layout,
    ask: &Ask,
    facts: Fact,
    summary: impl FnOnce(WorkflowId) -> Summary,
) -> Assessment {
    let summary = summary(WorkflowId::new(NAME, layout.name()));
    Assessment::of(Some(summary), facts).named(ask.name.as_deref())
}

fn assessment(judged: &Judged, ask: &Ask) -> Assessment {
    let progress = Progress {
        done: judged.n_completed(),
        total: (!judged.inventory.is_empty()).then_some(judged.inventory.len()),
    };
    let layout = &judged.project.layout;
    let summary = |id| {
        Summary::new(id, state(judged), stage(judged), progress, next(judged))
            .last_active(judged.project.fields.last_updated)
    };
    assessment_of(layout, ask, facts::facts(judged), summary).with(judged.findings.clone())
}

fn state(judged: &Judged) -> State {
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
    match &judged.routing {
        Routing::Brainstorm => Next::new("brainstorm", "continue the brainstorm"),
        Routing::Planning(_) => Next::new("planning", "continue planning"),
        Routing::Execution(execution) => {
            let named = messages::named(execution.phase.number, &execution.phase.name);
            if let Some(reason) = &execution.operator {
                return Next::new(
                    "operator",
                    format!("{named} waits for the operator: {reason}"),
                );
            }
            let step = execution.restart.step.as_str();
            let trouble = judged.trouble(execution.phase.number);
            Next::new("phase", format!("resume {named} with step {step}{trouble}"))
        }
        Routing::NoPhases => Next::new("no_phases", "add the phases to master-plan.md again"),
        Routing::PhasesMissing(lacking) => {
            let summary = format!("add what is missing from master-plan.md: {lacking}");
            Next::new("phases_missing", summary)
        }
        Routing::Validation(Branch::Blocked) => {
            Next::new("decide", "decide how to proceed after validation failed")
        }
        Routing::Validation(Branch::Correction | Branch::Fresh) if judged.is_answered() => {
            Next::new("conclude", "apply the verdict of the validation report")
        }
        Routing::Validation(Branch::Correction | Branch::Fresh) => {
            Next::new("validate", "validate what was built")
        }
        Routing::Complete => Next::new("complete", "nothing is left to do"),
    }
}

#[cfg(test)]
mod oracle_tests;
#[cfg(test)]
mod scene_tests;
