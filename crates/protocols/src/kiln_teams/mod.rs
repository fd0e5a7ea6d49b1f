//! kiln-teams: crash recovery of a wave of workers in worktrees.
//!
//! After a crash four sources can disagree: git's worktrees, the folder they are in, `.kiln/STATE.md`
//! and the Teams task list. [`read`] takes them all in, [`table`] has the decisions as data, [`assess`]
//! applies them to each task and looks at waves as a whole, [`plan`] says what is due in the seed's
//! order. Work lands on the branch that is checked out in the project, one commit a task.

mod assess;
mod changes;
mod config;
mod explain;
mod facts;
mod heartbeat;
mod layout;
mod plan;
mod plan_file;
mod read;
mod scribe;
mod state;
pub(crate) mod table;
mod task_list;
mod words;
mod work;

use camino::Utf8PathBuf;
use jiff::Timestamp;
use rekindle_model::{
    AgentTask, Assessment, Explanation, Happened, Intent, Next, Plan, Progress, ProtocolName,
    State, Summary, Work, WorkflowDocument, WorkflowId,
};
use rekindle_world::World;

use self::assess::Judged;
use self::read::Evidence;
use self::table::round::{NEXT, NextStep, Standing};
use self::table::task::Class;
use crate::{Ask, Case, Protocol};

/// The protocol itself; it has no state.
pub(crate) struct KilnTeams;

impl Protocol for KilnTeams {
    fn name(&self) -> ProtocolName {
        ProtocolName::KilnTeams
    }

    fn is_here(&self, world: &dyn World) -> bool {
        world.stat(&world.project().join(layout::STATE)).is_ok()
    }

    fn inspect(&self, world: &dyn World, ask: &Ask) -> Box<dyn Case> {
        match read::evidence(world, ask.tasks.as_deref()) {
            Evidence::Nothing => Box::new(Unreadable::nothing()),
            Evidence::NoState => Box::new(Unreadable::because(words::NO_STATE)),
            Evidence::Corrupt => Box::new(Unreadable::because(words::CORRUPT)),
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

    fn record(
        &self,
        _workflow: &str,
        _actor: &str,
        task: &str,
        attempt: u32,
        happened: &Happened,
        at: Timestamp,
    ) -> String {
        scribe::record(task, attempt, happened, at)
    }

    fn heard(&self, line: &str) -> Option<(String, u32, Happened)> {
        scribe::heard(line)
    }

    fn attempt_log(&self, workflow: &str, actor: &str, task: &str, attempt: u32) -> Utf8PathBuf {
        scribe::attempt_log(workflow, actor, task, attempt)
    }

    fn mirrored(&self, file: &[u8], happened: &Happened, at: Timestamp) -> Option<Vec<u8>> {
        scribe::mirrored(file, happened, at)
    }

    fn explain(&self, world: &dyn World, ask: &Ask, task: &str) -> Option<Explanation> {
        match read::evidence(world, ask.tasks.as_deref()) {
            Evidence::Phase(phase) => explain::explain(&assess::assess(*phase, world.now()), task),
            Evidence::Nothing | Evidence::NoState | Evidence::Corrupt => None,
        }
    }
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

    fn work(&self) -> Option<Work> {
        self.work.clone()
    }

    fn brief(
        &self,
        world: &dyn World,
        task: usize,
        attempt: u32,
        trouble: Option<&str>,
    ) -> AgentTask {
        work::brief(world, &self.judged, task, attempt, trouble)
    }

    fn roots(&self) -> Vec<Utf8PathBuf> {
        let lists = self.judged.phase.task_list.clone();
        lists
            .into_iter()
            .chain([self.judged.phase.root.clone()])
            .collect()
    }

    fn documents(&self) -> Vec<WorkflowDocument> {
        let plan = layout::plan(self.judged.phase.number);
        let named = [
            ("STATE.md", layout::STATE.into()),
            ("PLAN.md", plan),
            ("config.json", layout::CONFIG.into()),
        ];
        named
            .map(|(name, path)| WorkflowDocument {
                name: name.to_owned(),
                path,
            })
            .into()
    }
}

/// A project whose STATE.md is not there or can not be made out: there is one thing to say.
struct Unreadable {
    assessment: Assessment,
    text: Option<&'static str>,
}

impl Unreadable {
    const NAME: &'static str = "state";

    fn nothing() -> Self {
        Self {
            assessment: Assessment {
                id: None,
                state: State::Nothing,
                workflows: Vec::new(),
                findings: Vec::new(),
                facts: facts::unreadable(false),
            },
            text: None,
        }
    }

    fn because(text: &'static str) -> Self {
        let id = WorkflowId::new(ProtocolName::KilnTeams, Self::NAME);
        let summary = Summary {
            id: id.clone(),
            state: State::Corrupt,
            stage: "unknown".to_owned(),
            progress: Progress {
                done: 0,
                total: None,
            },
            last_activity: None,
            next: Next {
                kind: "reinitialize",
                summary: text.to_owned(),
            },
        };
        Self {
            assessment: Assessment {
                id: Some(id),
                state: State::Corrupt,
                workflows: vec![summary],
                findings: Vec::new(),
                facts: facts::unreadable(true),
            },
            text: Some(text),
        }
    }
}

impl Case for Unreadable {
    fn assessment(&self) -> &Assessment {
        &self.assessment
    }

    fn plan(&self, _: &dyn World, _: &Intent) -> Option<Plan> {
        Some(plan::only_says(Self::NAME, self.text?))
    }
}

fn assessment(judged: &Judged, ask: &Ask) -> Assessment {
    let name = words::phase_name(judged.phase.number);
    let id = WorkflowId::new(ProtocolName::KilnTeams, &name);
    let is_meant = ask
        .name
        .as_ref()
        .is_none_or(|wanted| !wanted.is_empty() && name.starts_with(wanted.as_str()));
    let state = standing(judged);
    let summary = Summary {
        id: id.clone(),
        state,
        stage: stage(judged),
        progress: Progress {
            done: judged.of(Class::Done).len(),
            total: Some(judged.tasks.len()),
        },
        last_activity: judged.phase.state.last_activity(),
        next: next(judged),
    };
    Assessment {
        id: is_meant.then_some(id),
        state: if is_meant { state } else { State::Unknown },
        workflows: vec![summary],
        findings: judged.phase.findings.clone(),
        facts: facts::facts(judged),
    }
}

fn standing(judged: &Judged) -> State {
    let is_over = judged
        .phase
        .waves
        .keys()
        .all(|wave| judged.is_wave_landed(*wave) && judged.is_gate_open(*wave));
    if judged.is_paused {
        State::Waiting
    } else if judged.is_halted() || !judged.collisions.is_empty() || !judged.strangers().is_empty()
    {
        State::Blocked
    } else if is_over {
        State::Complete
    } else {
        State::Interrupted
    }
}

fn stage(judged: &Judged) -> String {
    let wave = judged
        .phase
        .waves
        .keys()
        .find(|wave| !(judged.is_wave_landed(**wave) && judged.is_gate_open(**wave)));
    match wave {
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
        NextStep::Paused => "a person paused it; a yes lets it go on".to_owned(),
        NextStep::Collision => words::collisions(&judged.collisions),
        NextStep::Integrate => format!("put {ready} finished tasks on main"),
        NextStep::Halt => words::halt_reason(judged),
        NextStep::Requeue => format!("run {again} tasks again"),
        NextStep::Wait => format!("wait for {running} workers"),
        NextStep::Launch => format!("launch {pending} tasks"),
        NextStep::OpenGate => words::gate_to_open(judged),
        NextStep::Finish => words::finished(judged),
    };
    Next {
        kind: next.as_str(),
        summary,
    }
}

#[cfg(test)]
mod oracle_tests;
#[cfg(test)]
mod scene_tests;
#[cfg(test)]
mod torn_tests;
