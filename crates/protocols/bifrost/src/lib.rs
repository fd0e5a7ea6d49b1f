//! bifrost: features that are resumed from the checkpoints in their session.
//!
//! A feature is a folder below `specs/`; its `session.md` has the checkpoints, and a marker names
//! the active feature. `read` finds the feature and its files, `assess` compares them with the
//! checkpoint, and `plan` changes the marker and the session together.

mod artifacts;
mod assess;
mod checkpoint;
mod explain;
mod facts;
mod findings;
mod halted;
mod history;
mod layout;
mod marker;
mod messages;
mod migrate;
mod next;
mod phase;
mod plan;
mod read;
mod record;
mod rollback;
mod session;
mod table;
mod tasks;
mod tree;
mod validate;

use camino::Utf8Path;
use jiff::Timestamp;
use rekindle_model::{
    Assessment, Background, Checkpoint, Explanation, Finding, History, Intent, Next, Place, Plan,
    Progress, ProtocolName, State, Summary, WorkflowDocument, WorkflowId,
};
use rekindle_text::{excerpt, opening};
use rekindle_world::{Kind, World};

use self::assess::Judged;
use self::checkpoint::{Checkpoints, Choice, Entry};
use self::halted::{Halted, unchosen};
use self::next::Situation;
use self::phase::Phase;
use self::read::Evidence;
use self::tasks::Tasks;
use rekindle_protocol::capability::{CheckpointList, Migration, Migrator, Validation, Validator};
use rekindle_protocol::{Ask, Belongings, Case, Decision, Protocol, ResumeOption};

/// The name of the protocol.
const NAME: ProtocolName = ProtocolName::new("bifrost");

/// The protocol itself; it has no state.
pub struct Bifrost;

impl Protocol for Bifrost {
    fn name(&self) -> ProtocolName {
        NAME
    }

    fn about(&self) -> &'static str {
        "Features under `specs/`, each with checkpoints in its `session.md`"
    }

    fn commands(&self) -> &'static [&'static str] {
        &["/bifrost:"]
    }

    fn folders(&self) -> &'static [&'static str] {
        &["specs/", ".bifrost/"]
    }

    fn is_here(&self, world: &dyn World) -> bool {
        let own = world.project().join(layout::BIFROST);
        let has_own = world.stat(&own).is_ok_and(|meta| meta.kind == Kind::Folder);
        // Other tools have specs too, but no sessions next to them.
        has_own
            || read::features(world)
                .iter()
                .any(|feature| world.is_file(&world.project().join(layout::session(feature))))
    }

    fn inspect(&self, world: &dyn World, ask: &Ask) -> Box<dyn Case> {
        let workflows = || summaries(world);
        match read::evidence(world, ask) {
            Evidence::Choice => Box::new(unchosen(&read::features(world), workflows())),
            Evidence::Halted(halt) => Box::new(Halted::new(*halt, workflows())),
            Evidence::Feature(feature) => {
                Box::new(Resume::new(assess::assess(*feature), workflows()))
            }
        }
    }

    fn explain(&self, world: &dyn World, ask: &Ask, task: &str) -> Option<Explanation> {
        match read::evidence(world, ask) {
            Evidence::Feature(feature) => explain::explain(&assess::assess(*feature), task),
            Evidence::Choice | Evidence::Halted(_) => None,
        }
    }

    fn decisions(&self) -> Vec<Decision> {
        table::decisions()
    }

    fn options(&self) -> &'static [ResumeOption] {
        &[
            ResumeOption::CHECKPOINT,
            ResumeOption::FRESH,
            ResumeOption::VALIDATE,
        ]
    }

    fn validator(&self) -> Option<&dyn Validator> {
        Some(self)
    }

    fn migrator(&self) -> Option<&dyn Migrator> {
        Some(self)
    }
}

impl Validator for Bifrost {
    fn workflow(&self, world: &dyn World, name: &str) -> Result<Vec<Validation>, Finding> {
        validate::validate_feature(world, name)
    }

    fn spec(&self, path: &str, text: Option<&str>) -> Validation {
        validate::validate_spec(path, text)
    }

    fn plan(&self, path: &str, text: Option<&str>, has_rules: bool) -> Validation {
        validate::validate_plan(path, text, has_rules)
    }
}

impl Migrator for Bifrost {
    fn migration(&self, world: &dyn World, name: Option<&str>) -> Migration {
        migrate::migration(world, name)
    }
}

/// The pages of a feature, in the order in which phases write them.
const PAGES: [&str; 6] = [
    "spec.md",
    "plan.md",
    "research.md",
    "data-model.md",
    "quickstart.md",
    "tasks.md",
];

/// A feature whose checkpoint can be read.
struct Resume {
    judged: Judged,
    assessment: Assessment,
}

impl Resume {
    fn new(judged: Judged, mut workflows: Vec<Summary>) -> Self {
        let own = summary(&judged);
        // The detailed assessment replaces the glance.
        match workflows.iter_mut().find(|found| found.id == own.id) {
            Some(known) => *known = own.clone(),
            None => workflows.insert(0, own.clone()),
        }
        let assessment = Assessment {
            id: Some(own.id),
            state: own.state,
            workflows,
            findings: judged.findings.clone(),
            facts: facts::facts(&judged),
        };
        Self { judged, assessment }
    }
}

impl Case for Resume {
    fn assessment(&self) -> &Assessment {
        &self.assessment
    }

    fn plan(&self, _: &dyn World, intent: &Intent) -> Option<Plan> {
        plan::plan(&self.judged, intent)
    }

    fn belongings(&self) -> Belongings {
        let feature = &self.judged.feature;
        Belongings {
            documents: documents(&feature.name, &feature.session_path),
            ..Belongings::default()
        }
    }

    fn background(&self, world: &dyn World) -> Background {
        let feature = &self.judged.feature;
        let spec = read::text(world, &layout::file(&feature.name, "spec.md"));
        let spec = spec.ok().flatten();
        let decisions = feature.session.decisions();
        let failures = feature.session.blockers().into_iter().map(|blocker| {
            let status = blocker.status.as_deref().unwrap_or("no status");
            format!("{} ({status})", blocker.title)
        });
        Background {
            intent: spec.as_deref().and_then(opening).map(str::to_owned),
            decisions: decisions.into_iter().rev().collect(),
            failures: failures.collect(),
        }
    }

    fn checkpoints(&self) -> Option<&dyn CheckpointList> {
        Some(self)
    }

    fn history(&self, _: &dyn World) -> Option<History> {
        let checkpoints = CheckpointList::list(self);
        Some(history::history(&self.judged.feature, checkpoints))
    }
}

impl CheckpointList for Resume {
    fn list(&self) -> Vec<Checkpoint> {
        let feature = &self.judged.feature;
        listed(&feature.checkpoints, &feature.session_path, &feature.zone)
    }

    fn timeline(&self) -> Option<String> {
        Some(messages::timeline(&self.judged.feature.checkpoints))
    }

    fn archive(&self) -> Option<Plan> {
        Some(record::archive(&self.judged))
    }
}

/// Returns the documents of a feature in the order of the phases.
fn documents(feature: &str, session: &Utf8Path) -> Vec<WorkflowDocument> {
    let pages = PAGES.iter().map(|&name| WorkflowDocument {
        name: name.to_owned(),
        path: layout::file(feature, name),
    });
    // The session may be the one that all features shared before.
    let session = WorkflowDocument {
        name: "session.md".to_owned(),
        path: session.to_owned(),
    };
    pages.chain([session]).collect()
}

/// Returns the checkpoints, oldest first.
fn listed(
    checkpoints: &Checkpoints,
    session: &Utf8Path,
    zone: &jiff::tz::TimeZone,
) -> Vec<Checkpoint> {
    let all = checkpoints.all().into_iter().rev();
    all.map(|entry| Checkpoint {
        name: entry.name().to_owned(),
        at: instant(entry, zone),
        note: entry.description.clone(),
        place: line_of(session, entry.line),
        is_valid: Some(entry.is_valid()),
    })
    .collect()
}

/// Returns the location of a line by its index.
fn line_of(path: &Utf8Path, at: usize) -> Place {
    let number = u64::try_from(at).map_or(u64::MAX, |at| at.saturating_add(1));
    Place::line(path, number)
}

/// Returns when a checkpoint was made.
fn instant(entry: &Entry, zone: &jiff::tz::TimeZone) -> Option<Timestamp> {
    let zoned = entry.at?.to_zoned(zone.clone()).ok()?;
    Some(zoned.timestamp())
}

fn id(name: &str) -> WorkflowId {
    WorkflowId::new(crate::NAME, name)
}

fn summary(judged: &Judged) -> Summary {
    let feature = &judged.feature;
    let state = if findings::is_blocked(&judged.findings) {
        State::Blocked
    } else {
        State::Interrupted
    };
    let progress = progress(feature.tasks.as_ref());
    let next = next(&judged.next.command);
    Summary::new(
        id(&feature.name),
        state,
        judged.phase.as_str(),
        progress,
        next,
    )
    .last_active(instant(&feature.chosen, &feature.zone))
}

fn next(command: &str) -> Next {
    Next::new("command", excerpt(command, 200))
}

fn progress(tasks: Option<&Tasks>) -> Progress {
    let (done, total) = tasks.map_or((0, 0), Tasks::progress);
    Progress {
        done,
        total: (total > 0).then_some(total),
    }
}

/// Returns a summary of every feature.
fn summaries(world: &dyn World) -> Vec<Summary> {
    let features = read::features(world).into_iter();
    features.map(|name| glance(world, &name)).collect()
}

fn glance(world: &dyn World, name: &str) -> Summary {
    let stopped =
        |state, stage: &str, next| Summary::new(id(name), state, stage, progress(None), next);
    let start = || {
        Next::new(
            "start",
            format!("start it with `/spec {}`", excerpt(name, 80)),
        )
    };
    let session = match read::session(world, name) {
        Ok((_, session)) => session,
        Err((_, read::Why::Corrupt { reason })) => {
            let summary = format!("fix its session: {reason}");
            return stopped(State::Corrupt, "no session", Next::new("mend", summary));
        }
        Err(_) => return stopped(State::Blocked, "no session", start()),
    };
    let Choice::Found(latest) = Checkpoints::read(&session).choose(None) else {
        return stopped(State::Blocked, "no checkpoint", start());
    };
    let tasks = read::text(world, &layout::file(name, "tasks.md"))
        .ok()
        .flatten();
    let tasks = tasks.map(|text| Tasks::parse(&text));
    let phase = latest.phase.unwrap_or(Phase::Spec);
    let command = Situation {
        feature: name,
        phase,
        is_complete: latest.is_complete(),
        said: latest.fields.next.as_deref(),
        tasks: tasks.as_ref(),
    }
    .next()
    .command;
    let progress = progress(tasks.as_ref());
    let next = next(&command);
    Summary::new(id(name), State::Interrupted, phase.as_str(), progress, next)
        .last_active(instant(&latest, &world.zone()))
}

#[cfg(test)]
mod oracle_tests;
#[cfg(test)]
mod property_tests;
#[cfg(test)]
mod scene_tests;
