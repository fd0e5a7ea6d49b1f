//! An independent implementation of the rules, compared with the real one on random projects.
//!
//! It shares only the words of the protocol with the code that it checks.

use std::collections::BTreeSet;

use proptest::prelude::*;
use rekindle_model::{Action, Intent};

use super::scene_tests::{DIR, PLAN, Scene, fact};

const STAGES: [&str; 5] = [
    "brainstorm",
    "planning",
    "execution",
    "validation",
    "complete",
];
const STATUSES: [&str; 4] = ["in_progress", "paused", "blocked", "complete"];
const PHASES: [&str; 4] = ["pending", "in_progress", "failed", "completed"];

/// Events, and the step with which a phase continues after each.
const EVENTS: [(&str, &str); 21] = [
    ("setup", "plan"),
    ("branch", "plan"),
    ("plan_start", "plan"),
    ("debate_complete", "plan"),
    ("synthesis_complete", "sharpen"),
    ("plan_complete", "sharpen"),
    ("sharpen_start", "sharpen"),
    ("sharpen_complete", "implement"),
    ("task_start", "implement"),
    ("task_success", "implement"),
    ("task_retry", "implement"),
    ("task_fail", "implement"),
    ("review_start", "review"),
    ("review_rejected", "review"),
    ("fix_start", "review"),
    ("fix_complete", "review"),
    ("review_approved", "complete"),
    ("merge", "reconcile"),
    ("reconcile_complete", "archive"),
    ("error", ""),
    ("halt", ""),
];

#[derive(Debug, Clone)]
struct Story {
    stage: &'static str,
    status: &'static str,
    cycle: u32,
    /// The memory's status of each of the plan's three phases, if any.
    said: Vec<Option<&'static str>>,
    archived: BTreeSet<u32>,
    /// The phase that the note names as interrupted.
    noted: Option<u32>,
    /// Events by their place in the list, the same for each phase.
    events: Vec<usize>,
    /// How many of the three phases the plan has, counted from the first; without any there is no plan.
    n_planned: u32,
    /// Whether the memory says that there are three.
    has_total: bool,
}

fn story() -> impl Strategy<Value = Story> {
    let stage = prop_oneof![
        2 => Just("execution"),
        1 => prop::sample::select(&STAGES[..]),
    ];
    let said = prop::option::weighted(0.9, prop::sample::select(&PHASES[..]));
    let marks = (
        prop::collection::btree_set(1_u32..=3, 0..3),
        prop::option::weighted(0.3, 1_u32..=3),
    );
    (
        stage,
        prop::sample::select(&STATUSES[..]),
        0_u32..3,
        prop::collection::vec(said, 3),
        marks,
        prop::collection::vec(0..EVENTS.len(), 0..6),
        (
            prop_oneof![6 => Just(3_u32), 2 => 1_u32..3, 1 => Just(0)],
            prop::bool::weighted(0.7),
        ),
    )
        .prop_map(
            |(stage, status, cycle, said, (archived, noted), events, (n_planned, has_total))| {
                Story {
                    stage,
                    status,
                    cycle,
                    said,
                    archived,
                    noted,
                    events,
                    n_planned,
                    has_total,
                }
            },
        )
}

// The oracle.

impl Story {
    /// The known phases, each with its status.
    fn inventory(&self) -> Vec<(u32, &'static str)> {
        let all = (1..=3).zip(&self.said);
        let known = all.filter(|(number, said)| match self.n_planned {
            0 => said.is_some(),
            n_planned => *number <= n_planned,
        });
        known
            .map(|(number, said)| {
                let is_archived = self.archived.contains(&number);
                (
                    number,
                    if is_archived {
                        "completed"
                    } else {
                        said.unwrap_or("pending")
                    },
                )
            })
            .collect()
    }

    fn next(&self) -> Option<(u32, &'static str)> {
        let inventory = self.inventory();
        let lowest = |status: &str| {
            let mut of_status = inventory.iter().filter(|(_, of)| *of == status);
            of_status.next().map(|(number, _)| *number)
        };
        let noted = self
            .noted
            .filter(|number| inventory.contains(&(*number, "pending")));
        let picks = [
            (lowest("in_progress"), "in_progress"),
            (noted, "handoff_note"),
            (lowest("failed"), "failed"),
            (lowest("pending"), "lowest_pending"),
        ];
        let mut picks = picks
            .into_iter()
            .filter_map(|(phase, why)| Some((phase?, why)));
        picks.next()
    }

    /// Whether the memory has an unfinished phase that the plan lacks.
    fn is_plan_cut_short(&self) -> bool {
        let mut beyond = (1..=3)
            .zip(&self.said)
            .filter(|(number, _)| *number > self.n_planned);
        self.cycle == 0
            && beyond.any(|(number, said)| match said {
                Some("completed") => false,
                Some(_) if self.archived.contains(&number) => false,
                Some("in_progress" | "failed") => true,
                Some(_) | None => self.has_total,
            })
    }

    /// The stages that are entered.
    fn route(&self) -> String {
        let is_over = self.stage == "execution" && self.next().is_none() && self.n_planned > 0;
        if is_over && !self.is_plan_cut_short() {
            "execution validation".to_owned()
        } else {
            self.stage.to_owned()
        }
    }

    fn branch(&self) -> &'static str {
        if !self.route().ends_with("validation") {
            "-"
        } else if self.cycle > 0 && self.status == "blocked" {
            "blocked"
        } else if self.cycle > 0 && self.status == "in_progress" {
            "correction"
        } else {
            "fresh"
        }
    }

    /// The step of the last event with one, since the last setup.
    fn step(&self) -> &'static str {
        let begun = self.events.iter().rposition(|at| EVENTS[*at].0 == "setup");
        let of_run = &self.events[begun.unwrap_or(0)..];
        let mut steps = of_run.iter().rev().map(|at| EVENTS[*at].1);
        steps.find(|step| !step.is_empty()).unwrap_or("setup")
    }
}

// The world.

impl Story {
    fn scene(&self) -> Scene {
        let mut scene = Scene::new(self.stage, self.status)
            .set("phase_total", if self.has_total { "3" } else { "null" })
            .set("correction_cycle", &self.cycle.to_string());
        if self.n_planned == 0 {
            scene = scene.without_plan();
        } else if let Some(cut) = PLAN.find(&format!("### Phase {}", self.n_planned + 1)) {
            scene = scene.memory_file("master-plan.md", &PLAN[..cut]);
        }
        for (number, said) in (1..=3).zip(&self.said) {
            if let Some(status) = said {
                scene = scene.phase(number, "X", status);
            }
            let events: Vec<String> = self
                .events
                .iter()
                .map(|at| format!("{}] — x", EVENTS[*at].0))
                .collect();
            let events: Vec<&str> = events.iter().map(String::as_str).collect();
            scene = scene.state(number, &events);
        }
        for number in &self.archived {
            let path = format!("archive/phase_{number:02}/phase_summary.md");
            scene = scene.kiln_file(&path, "# Summary\n");
        }
        match self.noted {
            Some(number) => scene.note(&format!("Executing phase {number}: X.")),
            None => scene,
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn route_phase_and_restart_point_are_what_the_seeds_sentences_say(story in story()) {
        let facts = story.scene().facts();
        let told = |key: &str| fact(&facts, key);
        prop_assert_eq!(told("route"), story.route());
        prop_assert_eq!(told("validation_branch"), story.branch());
        let phases = story.inventory().into_iter().map(|(number, status)| {
            let name = match (story.n_planned, number) {
                (0, _) => "X",
                (_, 1) => "Storage",
                (_, 2) => "Engine",
                (_, _) => "Reports",
            };
            format!("{number}/{name}/{status}")
        });
        prop_assert_eq!(told("inventory"), phases.collect::<Vec<_>>().join(" "));
        if story.stage != "execution" {
            prop_assert_eq!(told("phase"), "-");
            return Ok(());
        }
        let Some((number, why)) = story.next() else {
            prop_assert_eq!(told("phase"), "-");
            return Ok(());
        };
        prop_assert_eq!(told("phase"), number.to_string());
        prop_assert_eq!(told("reason"), why);
        let restart = told("restart");
        prop_assert_eq!(restart.split('/').next(), Some(story.step()));
    }

    #[test]
    fn a_project_that_was_taken_up_goes_on_where_it_would_have(story in story()) {
        let scene = story.scene();
        let plan = scene.plan(&Intent::Open);
        let memory = format!("{DIR}/MEMORY.md");
        let changed = plan.steps.iter().filter_map(|step| {
            let Action::Edit { path, after, .. } = &step.action else {
                return None;
            };
            Some((path.as_str(), after))
        });
        let changed: Vec<(&str, &Vec<u8>)> = changed.collect();
        // A complete project is not resumed, and only the memory is ever written.
        prop_assert_eq!(changed.len(), usize::from(story.stage != "complete"));
        let Some((path, after)) = changed.first() else { return Ok(()) };
        prop_assert_eq!(*path, memory.as_str());
        let (before, after) = (scene.facts(), scene.with_memory(after));
        for key in ["phase", "inventory", "restart", "handoff_note"] {
            prop_assert_eq!(fact(&before, key), fact(&after, key), "{}", key);
        }
        let last = story.route();
        prop_assert_eq!(fact(&after, "route"), last.split(' ').next_back().unwrap_or_default());
    }
}
