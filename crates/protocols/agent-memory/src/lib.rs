//! agent-memory: event-sourced runs under `.agent-memory/runs/`.
//!
//! `read` streams every log into a `fold`, `assess` concludes the phase, the task states and the
//! next action, and `plan` turns an intent into effects. Events are append-only and every writer
//! has its own log.

mod assess;
mod background;
mod entry;
mod event;
mod explain;
mod facts;
mod findings;
mod fold;
mod history;
mod layout;
mod log;
mod messages;
mod next;
mod origin;
mod phase;
mod plan;
mod read;
mod recent;
mod record;
mod revise;
mod scan;
mod scribe;
mod settings;
mod start;
mod surrogate;
mod table;
mod task_graph;
mod tasks;
mod track;
mod work;

use camino::Utf8Path;
use rekindle_model::{
    AgentTask, Assessment, Background, Before, Checkpoint, Code, Condition, Explanation, History,
    Intent, LastLife, Plan, Progress, ProtocolName, Room, State, Summary, View, Work,
    WorkflowDocument, WorkflowId,
};
use rekindle_world::World;

use self::assess::{RunVerdict, Verdict};
use self::entry::Entry;
use self::next::NextAction;
use self::plan::{Documents, Report};
use self::read::SettingsFile;
use self::track::Limit;
use rekindle_protocol::capability::{
    CheckpointList, Draft, Engine, Known, ListedTask, Open, Revision, RunOfList, Starter, Survey,
    TaskSource,
};
use rekindle_protocol::{Ask, Belongings, Case, Decision, Protocol};

/// The name of the protocol.
const NAME: ProtocolName = ProtocolName::new("agent-memory");

/// The protocol itself; it has no state.
pub struct AgentMemory;

impl Protocol for AgentMemory {
    fn name(&self) -> ProtocolName {
        NAME
    }

    fn about(&self) -> &'static str {
        "Event-sourced runs under `.agent-memory/runs/`"
    }

    fn folders(&self) -> &'static [&'static str] {
        &[".agent-memory/"]
    }

    fn is_here(&self, world: &dyn World) -> bool {
        world.stat(&world.project().join(layout::RUNS)).is_ok()
    }

    fn inspect(&self, world: &dyn World, ask: &Ask) -> Box<dyn Case> {
        let evidence = read::evidence_of(world, |names| match &ask.name {
            Some(only) if ask.alone && names.contains(only) => vec![only.clone()],
            Some(_) | None => names,
        });
        let verdict = assess::assess(evidence);
        let entry = Entry::find(&verdict, ask.name.as_deref());
        let chosen = entry.selected().and_then(|id| verdict.run(id));
        let documents = chosen.map(|run| documents(world, run)).unwrap_or_default();
        let assessment = assessment(&verdict, &entry);
        Box::new(Judged {
            verdict,
            entry,
            documents,
            assessment,
            last_life: ask.last_life,
        })
    }

    fn explain(&self, world: &dyn World, ask: &Ask, task: &str) -> Option<Explanation> {
        let verdict = assess::assess(read::evidence(world));
        let entry = Entry::find(&verdict, ask.name.as_deref());
        let run = verdict.run(entry.selected()?)?;
        explain::explain(world, run, task)
    }

    fn decisions(&self) -> Vec<Decision> {
        table::decisions()
    }

    fn survey(&self) -> Option<&dyn Survey> {
        Some(self)
    }

    fn engine(&self) -> Option<&dyn Engine> {
        Some(self)
    }

    fn starter(&self) -> Option<&dyn Starter> {
        Some(self)
    }
}

impl Starter for AgentMemory {
    fn home(&self) -> &'static str {
        layout::RUNS
    }

    fn draft(&self, path: &Utf8Path, bytes: &[u8]) -> Box<dyn Draft> {
        Box::new(start::draft(path, bytes))
    }

    fn listed(&self, path: &Utf8Path, title: &str, tasks: Vec<ListedTask>) -> Box<dyn Draft> {
        Box::new(start::listed(path, title, tasks))
    }

    fn runs_of_lists(&self, world: &dyn World) -> Vec<RunOfList> {
        read::runs_of_lists(world)
    }

    fn revise(
        &self,
        world: &dyn World,
        run: &str,
        plan: (&Utf8Path, &[u8]),
        at_work: &[String],
    ) -> Option<Revision> {
        revise::revise(world, assessed(world, run).run(run)?, plan, at_work)
    }

    fn leave_out(
        &self,
        world: &dyn World,
        run: &str,
        list: (&Utf8Path, &[u8]),
        tasks: &[String],
        at_work: &[String],
    ) -> Option<Revision> {
        revise::leave_out(
            world,
            assessed(world, run).run(run)?,
            list,
            (tasks, at_work),
        )
    }
}

impl Survey for AgentMemory {
    fn open(&self, world: &dyn World, known: &Known<'_>) -> Open {
        let mut open = Open::default();
        let evidence = read::evidence_of(world, |names| {
            let selection = recent::select(world, names, known);
            open.unread = selection.unread;
            open.finished = selection.finished;
            selection.read
        });
        let verdict = assess::assess(evidence);
        open.workflows = verdict.incomplete().map(summary).collect();
        open
    }
}

struct Judged {
    verdict: Verdict,
    entry: Entry,
    documents: Documents,
    assessment: Assessment,
    last_life: Option<LastLife>,
}

impl Judged {
    fn run(&self) -> Option<&RunVerdict> {
        self.verdict.run(self.entry.selected()?)
    }
}

impl Case for Judged {
    fn assessment(&self) -> &Assessment {
        &self.assessment
    }

    fn plan(&self, _: &dyn World, intent: &Intent) -> Option<Plan> {
        Some(plan::plan(
            &self.verdict,
            self.run()?,
            &self.documents,
            intent,
            self.last_life,
        ))
    }

    fn belongings(&self) -> Belongings {
        let run = self.run();
        Belongings {
            commands: run.map(work::commands).unwrap_or_default(),
            documents: run.map(workflow_documents).unwrap_or_default(),
            ..Belongings::default()
        }
    }

    fn background(&self, world: &dyn World) -> Background {
        let run = self.run().map(|run| background::background(world, run));
        run.unwrap_or_default()
    }

    fn tasks(&self) -> Option<&dyn TaskSource> {
        Some(self)
    }

    fn checkpoints(&self) -> Option<&dyn CheckpointList> {
        Some(self)
    }

    fn history(&self, world: &dyn World) -> Option<History> {
        Some(history::history(world, self.run()?))
    }
}

impl TaskSource for Judged {
    fn work(&self) -> Option<Work> {
        work::work(self.run()?)
    }

    fn brief(
        &self,
        world: &dyn World,
        task: usize,
        attempt: u32,
        before: Option<Before<'_>>,
    ) -> AgentTask {
        work::brief(world, self.run(), task, attempt, before)
    }
}

impl CheckpointList for Judged {
    fn list(&self) -> Vec<Checkpoint> {
        let Some(run) = self.run() else {
            return Vec::new();
        };
        let checkpoints = run.evidence.folded.checkpoints.iter().zip(1..);
        checkpoints
            .map(|(checkpoint, number)| Checkpoint {
                name: format!("{number}"),
                at: checkpoint.mark.at,
                note: checkpoint.note.clone(),
                place: run.evidence.place(checkpoint.mark),
                is_valid: None,
            })
            .collect()
    }

    fn timeline(&self) -> Option<String> {
        None
    }

    fn archive(&self) -> Option<Plan> {
        None
    }
}

/// Reads and judges one run.
fn assessed(world: &dyn World, run: &str) -> Verdict {
    assess::assess(read::evidence_of(world, |names| {
        names.into_iter().filter(|name| name == run).collect()
    }))
}

fn workflow_documents(run: &RunVerdict) -> Vec<WorkflowDocument> {
    let folder = layout::run_folder(&run.evidence.id);
    let artifacts = run.evidence.artifacts.iter();
    let contracts = run.evidence.contracts.iter();
    artifacts
        .map(|artifact| artifact.file_name().to_owned())
        .chain(contracts.map(|name| format!("tasks/{name}")))
        .map(|name| WorkflowDocument {
            path: folder.join(&name),
            name,
        })
        .collect()
}

/// Reads the documents that the chosen run's next action needs.
fn documents(world: &dyn World, run: &RunVerdict) -> Documents {
    if let NextAction::CreatePrd = run.next {
        return Documents {
            feature: run.evidence.folded.feature.clone(),
            ..Documents::default()
        };
    }
    let (NextAction::ExecuteTask(work)
    | NextAction::VerifyTask(work)
    | NextAction::EscalateUser(work)) = &run.next
    else {
        return Documents::default();
    };
    let report = plan::report_path(&run.evidence.id, work)
        .and_then(|path| read::document(world, &world.project().join(path)))
        .and_then(|text| Report::parse(&text));
    Documents {
        contract: read::contract_text(world, &run.evidence, &work.task),
        report,
        feature: None,
    }
}

fn assessment(verdict: &Verdict, entry: &Entry) -> Assessment {
    let id = |run: &str| WorkflowId::new(crate::NAME, run);
    let chosen = entry.selected().and_then(|run| verdict.run(run));
    let state = match (entry, chosen) {
        (Entry::Continue(_) | Entry::Specified(_), Some(run)) => run.next.standing(),
        (Entry::FreshStart, _) => State::Nothing,
        (Entry::AskWhichRun, _) => State::Choice,
        (Entry::UnknownRun | Entry::Continue(_) | Entry::Specified(_), _) => State::Unknown,
    };
    let mut findings = verdict.findings.list();
    let shown = verdict.runs.iter().filter(|run| match chosen {
        Some(chosen) => chosen.evidence.id == run.evidence.id,
        None => !run.complete,
    });
    findings.extend(shown.flat_map(|run| run.findings.list()));
    // A run that only seems to be over would be passed over in silence.
    let over = verdict.runs.iter().filter(|run| run.complete);
    let told = over.flat_map(|run| run.findings.list());
    findings.extend(told.filter(|finding| chosen.is_none() && finding.code == Code::OpenTasks));
    let mut workflows: Vec<Summary> = verdict.runs.iter().map(summary).collect();
    workflows.sort_by_key(|summary| summary.state == State::Complete);
    Assessment {
        id: entry.selected().map(id),
        state,
        workflows,
        findings,
        facts: facts::facts(verdict, entry),
    }
}

fn summary(run: &RunVerdict) -> Summary {
    let state = run.next.standing();
    Summary {
        id: WorkflowId::new(crate::NAME, &run.evidence.id),
        state,
        stage: format!("phase {} ({})", run.phase.number, run.phase.base.as_str()),
        progress: Progress {
            done: run.done,
            total: run.total,
        },
        last_activity: run.last_activity,
        next: run.next.next(),
        view: view(run, state),
    }
}

fn view(run: &RunVerdict, state: State) -> View {
    let evidence = &run.evidence;
    let folded = &evidence.folded;
    let view = View::of(state).titled(folded.feature.as_deref().unwrap_or_default());
    let limit = run.limit.filter(|_| state == State::Interrupted);
    let limited = |limit: Limit| Condition::Limited { until: limit.until };
    View {
        condition: limit.map_or(view.condition, limited),
        is_ours: folded.is_of_the_engine || matches!(evidence.settings, SettingsFile::Read(_)),
        room: if run.stale { Room::Folded } else { view.room },
        ..view
    }
}

#[cfg(test)]
mod answer_tests;
#[cfg(test)]
mod clock_tests;
#[cfg(test)]
mod drive_tests;
#[cfg(test)]
mod explain_tests;
#[cfg(test)]
mod graph_tests;
#[cfg(test)]
mod log_tests;
#[cfg(test)]
mod oracle_tests;
#[cfg(test)]
mod phase_tests;
#[cfg(test)]
mod plan_tests;
#[cfg(test)]
mod property_tests;
#[cfg(test)]
mod read_tests;
#[cfg(test)]
mod recent_tests;
#[cfg(test)]
mod run_tests;
#[cfg(test)]
mod scene_tests;
#[cfg(test)]
mod settle_tests;
#[cfg(test)]
mod states_tests;
