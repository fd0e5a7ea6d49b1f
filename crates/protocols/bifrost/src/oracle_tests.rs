//! Compares random sessions with a naive implementation of the specification, and resumes them in
//! memory.
//!
//! Only the names of files and headings are shared with the tested code.

use proptest::prelude::*;
use rekindle_model::{Action, Intent, Plan};
use rekindle_world::MemoryWorld;

use super::Bifrost;
use super::scene_tests::{NOW, PLAN, SPEC, codes, fact, named, session};
use rekindle_protocol::{Ask, Protocol, ResumeOption};

const MARKER: &str = ".bifrost/active-workflow";
const PHASES: [&str; 4] = ["spec", "plan", "tasks", "implement"];

/// The description of a checkpoint, its phase, and whether it is complete.
const ABOUT: [(&str, Option<&str>, bool); 7] = [
    ("Session initialized for f", Some("spec"), false),
    ("Spec phase complete", Some("spec"), true),
    (
        "Planning research complete, design starting",
        Some("plan"),
        false,
    ),
    ("Plan validated, ready for tasks", Some("plan"), true),
    ("Tasks breakdown complete", Some("tasks"), true),
    ("Task T002 complete", Some("implement"), true),
    ("Work", None, false),
];

/// The text of `Next`, its command, and its task.
const NEXT: [(&str, Option<&str>, Option<usize>); 6] = [
    ("go on", None, None),
    ("`/plan f` to finish the design", Some("/plan f"), None),
    ("`/implement f T001`", Some("/implement f T001"), Some(1)),
    ("`/implement f T002`", Some("/implement f T002"), Some(2)),
    ("`/implement f T009`", Some("/implement f T009"), Some(9)),
    ("T001 is next", None, Some(1)),
];

#[derive(Debug, Clone)]
struct Entry {
    number: u8,
    /// Whether its id is cut off.
    is_torn: bool,
    has_time: bool,
    about: usize,
}

#[derive(Debug, Clone)]
struct Block {
    entry: Entry,
    phase: Option<usize>,
    is_complete: Option<bool>,
    next: Option<usize>,
}

/// How far a task is.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Task {
    Open,
    Started,
    Done,
}

#[derive(Debug, Clone)]
struct Story {
    latest: Option<Block>,
    history: Vec<Entry>,
    tasks: Option<Vec<Task>>,
    wanted: Option<u8>,
}

fn entry() -> impl Strategy<Value = Entry> {
    let flags = (prop::bool::weighted(0.1), prop::bool::weighted(0.9));
    (1_u8..5, flags, 0..ABOUT.len()).prop_map(|(number, (is_torn, has_time), about)| Entry {
        number,
        is_torn,
        has_time,
        about,
    })
}

fn story() -> impl Strategy<Value = Story> {
    let phase = prop::option::of(0..PHASES.len());
    let block = (
        entry(),
        phase,
        prop::option::of(any::<bool>()),
        prop::option::of(0..NEXT.len()),
    );
    let block = block.prop_map(|(entry, phase, is_complete, next)| Block {
        entry,
        phase,
        is_complete,
        next,
    });
    let task = prop::sample::select(&[Task::Open, Task::Started, Task::Done, Task::Done][..]);
    (
        prop::option::weighted(0.9, block),
        prop::collection::vec(entry(), 0..4),
        prop::option::weighted(0.8, prop::collection::vec(task, 0..4)),
        prop::option::weighted(0.4, 1_u8..6),
    )
        .prop_map(|(latest, history, tasks, wanted)| Story {
            latest,
            history,
            tasks,
            wanted,
        })
}

// The oracle.

/// A checkpoint with all that can be known of it.
#[derive(Debug, Clone, PartialEq)]
struct Known {
    id: Option<String>,
    has_time: bool,
    phase: Option<&'static str>,
    is_complete: bool,
    next: Option<usize>,
}

impl Known {
    fn is_fit(&self) -> bool {
        self.id.is_some() && self.has_time && self.phase.is_some()
    }
}

fn id(entry: &Entry) -> Option<String> {
    (!entry.is_torn).then(|| format!("CP-00{}", entry.number))
}

impl Story {
    /// The history, newest first; a checkpoint without a phase inherits the one before it.
    fn history(&self) -> Vec<Known> {
        let mut known: Vec<Known> = Vec::new();
        for entry in self.history.iter().rev() {
            let (_, phase, is_complete) = ABOUT[entry.about];
            let before = known.last().and_then(|older| older.phase);
            known.push(Known {
                id: id(entry),
                has_time: entry.has_time,
                phase: phase.or(before),
                is_complete,
                next: None,
            });
        }
        known.reverse();
        known
    }

    fn latest(&self) -> Option<Known> {
        let block = self.latest.as_ref()?;
        let (_, told, is_complete) = ABOUT[block.entry.about];
        let id = id(&block.entry);
        let history = self.history();
        let own = history.iter().find(|older| id.is_some() && older.id == id);
        let before = own.or_else(|| history.iter().find(|older| older.id != id));
        let own = block.phase.map(|phase| PHASES[phase]).or(told);
        Some(Known {
            has_time: block.entry.has_time,
            phase: own.or_else(|| before?.phase),
            is_complete: block.is_complete.unwrap_or(is_complete),
            next: block.next,
            id,
        })
    }

    /// The selected checkpoint, or the code of what prevents it.
    fn chosen(&self) -> Result<Known, &'static str> {
        let all: Vec<Known> = self.latest().into_iter().chain(self.history()).collect();
        if all.is_empty() {
            return Err("NO_CHECKPOINT");
        }
        let meant = match self.wanted {
            None => self.latest(),
            Some(number) => {
                let wanted = Some(format!("CP-00{number}"));
                let named: Vec<Known> = all.into_iter().filter(|one| one.id == wanted).collect();
                if named.is_empty() {
                    return Err("UNKNOWN_CHECKPOINT");
                }
                let fit = named.iter().find(|one| one.is_fit()).cloned();
                fit.or_else(|| named.first().cloned())
            }
        };
        meant.filter(Known::is_fit).ok_or("CORRUPT_CHECKPOINT")
    }

    /// The task in progress, else the first open one, else the end of the work.
    fn open_task(&self) -> String {
        let tasks = self.tasks.as_deref().unwrap_or_default();
        if tasks.is_empty() {
            return "/implement f T001".to_owned();
        }
        let started = tasks.iter().position(|task| *task == Task::Started);
        let open = tasks.iter().position(|task| *task == Task::Open);
        match started.or(open) {
            Some(at) => format!("/implement f T00{}", at + 1),
            None => "/polish-docs f".to_owned(),
        }
    }

    fn next_command(&self, chosen: &Known) -> String {
        let (_, command, task) = chosen.next.map_or(("", None, None), |next| NEXT[next]);
        let tasks = self.tasks.as_deref().unwrap_or_default();
        let is_done = task.is_some_and(|task| tasks.get(task - 1) == Some(&Task::Done));
        match (command, chosen.phase, chosen.is_complete) {
            (Some(_), ..) if is_done => self.open_task(),
            (Some(command), ..) => command.to_owned(),
            (None, Some("spec"), false) => "/spec f".to_owned(),
            (None, Some("spec"), true) | (None, Some("plan"), false) => "/plan f".to_owned(),
            (None, Some("plan"), true) | (None, Some("tasks"), false) => "/tasks f".to_owned(),
            (None, Some("tasks"), true) if !is_done => "/implement f T001".to_owned(),
            (None, ..) => self.open_task(),
        }
    }
}

// The world.

fn line(entry: &Entry) -> String {
    let id = if entry.is_torn {
        "CP-0".to_owned()
    } else {
        format!("CP-00{}", entry.number)
    };
    let time = if entry.has_time {
        "2026-03-13 10:00"
    } else {
        "soon"
    };
    format!("**{id}** ({time}): {}", ABOUT[entry.about].0)
}

impl Story {
    fn ask(&self) -> Ask {
        Ask {
            options: self
                .wanted
                .iter()
                .map(|number| (ResumeOption::CHECKPOINT, format!("CP-00{number}")))
                .collect(),
            ..named("f")
        }
    }

    fn session(&self) -> String {
        let latest = self.latest.as_ref().map_or_else(String::new, |block| {
            let mut text = line(&block.entry);
            if let Some(phase) = block.phase {
                text.push_str(&format!("\n  - **Phase**: {}", PHASES[phase]));
            }
            if let Some(is_complete) = block.is_complete {
                let status = if is_complete {
                    "Complete"
                } else {
                    "In Progress"
                };
                text.push_str(&format!("\n  - **Status**: {status}"));
            }
            if let Some(next) = block.next {
                text.push_str(&format!("\n  - **Next**: {}", NEXT[next].0));
            }
            text
        });
        let history: Vec<String> = (self.history.iter().zip(1..))
            .map(|(entry, number)| format!("{number}. {}", line(entry)))
            .collect();
        session(&latest, &history.join("\n"))
    }

    fn world(&self, session: &[u8], marker: Option<&[u8]>) -> MemoryWorld {
        let mut world = MemoryWorld::new("/w/p", NOW.parse().unwrap())
            .file("specs/f/session.md", session)
            .file("specs/f/spec.md", SPEC)
            .file("specs/f/plan.md", PLAN);
        if let Some(tasks) = &self.tasks {
            let lines = tasks.iter().zip(1..).map(|(task, number)| {
                let status = match task {
                    Task::Open => "Pending",
                    Task::Started => "In Progress",
                    Task::Done => "✅ Complete",
                };
                format!("### T00{number}: X\n**Status**: {status}\n")
            });
            world = world.file("specs/f/tasks.md", lines.collect::<String>());
        }
        if let Some(marker) = marker {
            world = world.file(MARKER, marker);
        }
        world
    }
}

fn edit<'p>(plan: &'p Plan, wanted: &str) -> Option<(&'p [u8], &'p [u8])> {
    plan.steps.iter().find_map(|step| {
        let Action::Edit {
            path,
            before,
            after,
        } = &step.action
        else {
            return None;
        };
        (path == wanted).then_some((&before[..], &after[..]))
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_checkpoint_and_what_follows_are_what_the_seeds_sentences_say(story in story()) {
        let world = story.world(story.session().as_bytes(), None);
        let case = Bifrost.inspect(&world, &story.ask());
        let assessment = case.assessment();
        let chosen = match story.chosen() {
            Ok(chosen) => chosen,
            Err(code) => {
                prop_assert!(codes(assessment).contains(code), "{} {}", code, codes(assessment));
                return Ok(());
            }
        };
        let told = |key: &str| fact(assessment, key);
        let status = if chosen.is_complete { "Complete" } else { "In Progress" };
        prop_assert_eq!(told("checkpoint"), chosen.id.clone().unwrap());
        prop_assert_eq!(told("phase"), chosen.phase.unwrap());
        prop_assert_eq!(told("status"), status);
        prop_assert_eq!(told("next_command"), story.next_command(&chosen));
    }

    #[test]
    fn a_resume_that_was_carried_out_leaves_the_same_to_do_and_no_marker_to_write(story in story()) {
        let before = story.session().into_bytes();
        let world = story.world(&before, None);
        let case = Bifrost.inspect(&world, &story.ask());
        let plan = case.plan(&world, &Intent::Open).unwrap();
        let Some((read, after)) = edit(&plan, "specs/f/session.md") else {
            // A refused resume changes nothing.
            prop_assert!(plan.steps.is_empty());
            return Ok(());
        };
        prop_assert_eq!(read, &before[..]);
        let is_copy = |action: &Action| matches!(action, Action::Create { contents, .. } if *contents == before);
        let is_kept = plan.steps.iter().any(|step| is_copy(&step.action));
        let latest = story.latest().filter(Known::is_fit);
        let is_rollback = latest.is_none_or(|latest| story.chosen().unwrap().id != latest.id);
        // A rollback replaces newer files, so it saves them first.
        prop_assert_eq!(is_kept, is_rollback);
        let marker = plan.steps.iter().find_map(|step| {
            let Action::Create { path, contents } = &step.action else {
                return None;
            };
            (path == MARKER).then_some(contents)
        });
        let world = story.world(after, marker.map(Vec::as_slice));
        let again = Bifrost.inspect(&world, &story.ask());
        // Without a name too: the restored checkpoint is the latest now.
        let plain = Bifrost.inspect(&world, &named("f"));
        for key in ["checkpoint", "phase", "status", "next_command", "tasks", "inferred"] {
            for other in [again.assessment(), plain.assessment()] {
                prop_assert_eq!(fact(case.assessment(), key), fact(other, key), "{}", key);
            }
        }
        prop_assert!(!codes(plain.assessment()).contains("ROLLBACK"));
        let ids = |of: &dyn rekindle_protocol::Case| -> std::collections::BTreeSet<String> {
            let all = of.checkpoints().unwrap().list().into_iter().filter(|found| found.name != "CP-???");
            all.map(|found| found.name).collect()
        };
        prop_assert_eq!(ids(&*case), ids(&*plain));
        let second = again.plan(&world, &Intent::Open).unwrap();
        let writes_marker = second.steps.iter().any(|step| {
            let (Action::Create { path, .. } | Action::Edit { path, .. }) = &step.action else {
                return false;
            };
            path == MARKER
        });
        prop_assert!(!writes_marker);
    }
}
