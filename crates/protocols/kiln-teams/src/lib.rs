//! kiln-teams: crash recovery of a wave of workers in worktrees.
//!
//! After a crash four sources can disagree: git's worktrees, the folder they are in, `.kiln/STATE.md`
//! and the Teams task list. `read` reads them all, `table` has the decisions as data, `assess` applies
//! them to each task and each wave, and `plan` returns what is due, in the prescribed order. Work lands
//! on the branch that is checked out in the project, one commit for each task.

mod assess;
mod changes;
mod config;
mod evidence;
mod explain;
mod facts;
mod heartbeat;
mod history;
mod layout;
mod messages;
mod plan;
mod plan_file;
mod read;
mod scribe;
mod state;
mod table;
mod task_list;
mod work;

use camino::Utf8Path;
use rekindle_model::{
    AgentTask, Assessment, Before, Code, Command, Explanation, Finding, History, Intent, Next,
    Place, Plan, Progress, ProtocolName, State, Summary, Work, WorkflowDocument, WorkflowId,
};
use rekindle_world::World;

use self::assess::Judged;
use self::read::Evidence;
use self::table::round::{NEXT, NextStep, Standing};
use self::table::task::Class;
use rekindle_protocol::capability::{Engine, TaskSource};
use rekindle_protocol::{Ask, Belongings, Case, Decision, Protocol, ResumeOption, Unreadable};

/// The name of the protocol.
const NAME: ProtocolName = ProtocolName::new("kiln-teams");

/// The protocol itself; it has no state.
pub struct KilnTeams;

impl Protocol for KilnTeams {
    fn name(&self) -> ProtocolName {
        NAME
    }

    fn about(&self) -> &'static str {
        "Waves of workers in worktrees, kept in `.kiln/STATE.md` and a Teams task list"
    }

    fn folders(&self) -> &'static [&'static str] {
        &[".kiln/"]
    }

    fn commands(&self) -> &'static [&'static str] {
        &["/kiln:"]
    }

    fn is_here(&self, world: &dyn World) -> bool {
        world.stat(&world.project().join(layout::STATE)).is_ok()
    }

    fn inspect(&self, world: &dyn World, ask: &Ask) -> Box<dyn Case> {
        match read::evidence(world, task_list_file(ask)) {
            Evidence::Nothing => {
                let assessment = Assessment::of(None, facts::unreadable(false));
                Box::new(Unreadable::new(assessment))
            }
            Evidence::NoState => Box::new(corrupt(messages::NO_STATE)),
            Evidence::Corrupt => Box::new(corrupt(messages::CORRUPT)),
            Evidence::Newer => Box::new(newer()),
            Evidence::Phase(phase) => {
                let judged = assess::assess(*phase, world.now());
                let assessment = assessment(&judged, ask);
                let work = work::work(world, &judged);
                Box::new(Recovery {
                    judged,
                    assessment,
                    work,
                })
            }
        }
    }

    fn explain(&self, world: &dyn World, ask: &Ask, task: &str) -> Option<Explanation> {
        match read::evidence(world, task_list_file(ask)) {
            Evidence::Phase(phase) => explain::explain(&assess::assess(*phase, world.now()), task),
            Evidence::Nothing | Evidence::NoState | Evidence::Newer | Evidence::Corrupt => None,
        }
    }

    fn decisions(&self) -> Vec<Decision> {
        table::decisions()
    }

    fn options(&self) -> &'static [ResumeOption] {
        &[ResumeOption::TASKS]
    }

    fn engine(&self) -> Option<&dyn Engine> {
        Some(self)
    }
}

fn task_list_file(ask: &Ask) -> Option<&Utf8Path> {
    ask.option(ResumeOption::TASKS).map(Utf8Path::new)
}

/// A phase that can be judged.
struct Recovery {
    judged: Judged,
    assessment: Assessment,
    work: Option<Work>,
}

impl Case for Recovery {
    fn assessment(&self) -> &Assessment {
        &self.assessment
    }

    fn plan(&self, _: &dyn World, intent: &Intent) -> Option<Plan> {
        plan::plan(&self.judged, intent)
    }

    fn belongings(&self) -> Belongings {
        let phase = &self.judged.phase;
        let n_tasks = self.work.as_ref().map_or(0, |work| work.tasks.len());
        let checks = phase.config.checks.iter();
        let documents = [
            ("STATE.md", layout::STATE.into()),
            ("PLAN.md", layout::plan(phase.number)),
            ("config.json", layout::CONFIG.into()),
        ];
        Belongings {
            commands: Command::checks_of(
                layout::CONFIG,
                checks.map(|check| (check.as_str(), n_tasks)),
            ),
            roots: phase
                .task_list
                .iter()
                .chain([&phase.root])
                .cloned()
                .collect(),
            left_folders: self.judged.left_folders(),
            documents: documents
                .map(|(name, path)| WorkflowDocument {
                    name: name.to_owned(),
                    path,
                })
                .into(),
        }
    }

    fn tasks(&self) -> Option<&dyn TaskSource> {
        Some(self)
    }

    fn history(&self, world: &dyn World) -> Option<History> {
        let name = messages::phase_name(self.judged.phase.number);
        Some(history::history(world, &self.judged, &name))
    }
}

impl TaskSource for Recovery {
    fn work(&self) -> Option<Work> {
        self.work.clone()
    }

    fn brief(
        &self,
        world: &dyn World,
        task: usize,
        attempt: u32,
        before: Option<Before<'_>>,
    ) -> AgentTask {
        work::brief(world, &self.judged, task, attempt, before)
    }
}

/// The name of a workflow whose STATE.md cannot be read.
const UNREADABLE: &str = "state";

/// A state file that is missing or cannot be understood.
fn corrupt(text: &'static str) -> Unreadable {
    let next = Next::new("reinitialize", text);
    Unreadable::new(unreadable(State::Corrupt, next)).says(format!("{text}\n"))
}

/// A state file of a newer Kiln.
fn newer() -> Unreadable {
    let message = "a newer Kiln wrote STATE.md, which this version does not read";
    let finding = Finding::new(Code::NewerKiln, message)
        .at(Place::path(layout::STATE))
        .hint("run `/kiln-fire` in your coding agent");
    let next = Next::new(
        "newer_kiln",
        "resume it with /kiln-fire in your coding agent",
    );
    let assessment = unreadable(State::Blocked, next).with([finding]);
    Unreadable::new(assessment).says(format!("{}\n", messages::NEWER))
}

fn unreadable(state: State, next: Next) -> Assessment {
    let id = WorkflowId::new(NAME, UNREADABLE);
    let summary = Summary::new(id, state, "unknown", Progress::default(), next);
    Assessment::of(Some(summary), facts::unreadable(state == State::Corrupt))
}

fn assessment(judged: &Judged, ask: &Ask) -> Assessment {
    let id = WorkflowId::new(NAME, messages::phase_name(judged.phase.number));
    let progress = Progress {
        done: judged.of(Class::Done).len(),
        total: Some(judged.tasks.len()),
    };
    let summary = Summary::new(id, state(judged), stage(judged), progress, next(judged))
        .last_active(judged.phase.state.last_activity());
    Assessment::of(Some(summary), facts::facts(judged))
        .with(judged.phase.findings.clone())
        .named(ask.name.as_deref())
}

fn state(judged: &Judged) -> State {
    if judged.is_paused {
        State::Waiting
    } else if judged.is_halted()
        || !judged.collisions.is_empty()
        || !judged.strangers().is_empty()
        || judged.phase.is_list_shared()
    {
        State::Blocked
    } else if judged.open_wave().is_none() {
        State::Complete
    } else {
        State::Interrupted
    }
}

fn stage(judged: &Judged) -> String {
    match judged.open_wave() {
        Some(wave) => format!("wave {wave} of {}", judged.phase.waves.len()),
        None => "all waves".to_owned(),
    }
}

fn next(judged: &Judged) -> Next {
    let count = |class| judged.of(class).len();
    let ready = count(Class::ReadyForIntegration);
    let again = count(Class::RerunRequired);
    let running = count(Class::InProgress);
    let pending = count(Class::Pending);
    let next = NEXT.decide(Standing {
        is_paused: judged.is_paused,
        has_collision: !judged.collisions.is_empty(),
        has_ready: ready > 0,
        is_halted: judged.is_halted(),
        has_rerun: again > 0,
        is_at_work: running > 0,
        has_pending: pending > 0,
        has_gate: judged.gate_to_open().is_some(),
    });
    let summary = match next {
        NextStep::Paused => "a person paused it; confirm the resume to end the pause".to_owned(),
        NextStep::Collision => messages::collisions(&judged.collisions),
        NextStep::Integrate => format!(
            "put {} on main",
            rekindle_text::count(ready, "finished task")
        ),
        NextStep::Halt => messages::halt_reason(judged),
        NextStep::Requeue => format!("run {} again", rekindle_text::count(again, "task")),
        NextStep::Wait => format!("wait for {}", rekindle_text::count(running, "worker")),
        NextStep::Launch => format!("launch {}", rekindle_text::count(pending, "task")),
        NextStep::OpenGate => messages::gate_to_open(judged),
        NextStep::Finish => messages::finished(judged),
    };
    Next::new(next.as_str(), summary)
}

#[cfg(test)]
mod oracle_tests;
#[cfg(test)]
mod scene_tests;
#[cfg(test)]
mod torn_tests;
