//! An independent implementation of the rules, compared with the real one on random phases; and rounds
//! applied until nothing is left to do.
//!
//! It shares only file names with the code that it checks.

use std::collections::BTreeSet;

use proptest::prelude::*;
use rekindle_model::{Action, Fact, Intent, Plan, Then};

use super::scene_tests::{Bench, LIST, Life, PATHS, Story, plan_task, story};

impl Story {
    /// The prescribed limits, in minutes.
    fn dead_after(&self, stage: Option<&str>) -> (i64, i64) {
        if let Some(timeout) = self.timeout {
            return (timeout + 1, timeout);
        }
        match stage {
            Some("claimed") => (5, 10),
            Some("sharpening" | "sharpened") => (10, 15),
            Some("verifying" | "verified") => (15, 20),
            _ => (20, 30),
        }
    }

    fn tier(&self, task: &Life) -> &'static str {
        let (low, high) = self.dead_after(task.stage);
        match task.silence {
            None => "dead",
            Some(age) if age > high => "dead",
            Some(age) if age >= low => "warning",
            Some(_) => "healthy",
        }
    }

    fn has_ended(task: &Life) -> bool {
        match task.stage {
            // A worker that reports verified has ended once its evidence exists.
            Some("verified") => {
                task.has_landed || (task.told.is_some() && task.passed == Some(true))
            }
            Some("failed" | "shutdown_ack") => true,
            _ => false,
        }
    }

    fn is_running(task: &Life) -> bool {
        task.status == "in_progress" && !Self::has_ended(task)
    }

    fn is_gate_open(&self, wave: u32) -> bool {
        match self.gates[usize::from(wave == 2)] {
            Some(is_open) => is_open,
            None => self.tasks.iter().all(|t| t.wave != wave || t.has_landed),
        }
    }

    /// The orchestrator's order for a started task, if it is newer than its heartbeat.
    fn ordered(task: &Life) -> Option<&'static str> {
        let (_, minutes, action) = task.ledger?;
        let is_newer = task.silence.is_none_or(|silence| minutes < silence);
        (task.status != "pending" && is_newer && action != "-").then_some(action)
    }

    /// Whether main has content at a path that is neither the base's, this worker's nor a peer's.
    fn has_stranger(&self, at: usize) -> bool {
        let peer = |path: &str| {
            let mut tasks = self.tasks.iter();
            tasks.any(|t| t.has_landed && t.wave == self.tasks[at].wave && t.files.contains(path))
        };
        let other_wave = |path: &str| {
            let mut tasks = self.tasks.iter();
            tasks.any(|t| t.has_landed && t.wave != self.tasks[at].wave && t.files.contains(path))
        };
        self.tasks[at].files.iter().any(|path| {
            let dirt = self.dirt.get(path).is_some_and(|by| *by != Some(at));
            !peer(path) && (dirt || other_wave(path))
        })
    }

    fn is_proven(&self, at: usize) -> bool {
        let task = &self.tasks[at];
        let has_artifacts = task.told.is_some() && task.passed == Some(true);
        let agrees = task.told == Some(true);
        task.tree == Some(false) && has_artifacts && agrees && !self.has_stranger(at)
    }

    fn class(&self, at: usize) -> &'static str {
        let task = &self.tasks[at];
        let says_success =
            task.stage == Some("verified") && ["in_progress", "completed"].contains(&task.status);
        let fresh = self.is_paused || self.tier(task) != "dead";
        let is_gated =
            task.wave == 2 && self.tasks.iter().any(|t| t.wave == 1) && !self.is_gate_open(1);
        if task.has_landed {
            "done"
        } else if task.status == "pending" {
            if is_gated { "gated" } else { "pending" }
        } else if Self::ordered(task).is_some() {
            "rerun_required"
        } else if says_success && self.is_proven(at) {
            "ready_for_integration"
        } else if Self::is_running(task) && fresh {
            "in_progress"
        } else {
            "rerun_required"
        }
    }

    fn retries(task: &Life) -> u32 {
        task.ledger.map_or(0, |(retries, ..)| retries)
    }

    /// No retry is left, or the orchestrator says halt.
    fn is_exhausted(&self, at: usize) -> bool {
        let task = &self.tasks[at];
        if self.class(at) != "rerun_required" {
            return false;
        }
        let is_cancelled = task.stage == Some("shutdown_ack")
            && ["in_progress", "completed"].contains(&task.status);
        let ordered = Self::ordered(task);
        let is_free = ordered.is_none() && is_cancelled;
        let is_for_a_person = ordered.is_none() && self.only_a_stranger(at);
        let most = self.max_retries.unwrap_or(2);
        ordered == Some("halt") || (Self::retries(task) >= most && !is_free && !is_for_a_person)
    }

    /// Everything is proven except the content on main.
    fn only_a_stranger(&self, at: usize) -> bool {
        let task = &self.tasks[at];
        let says_success =
            task.stage == Some("verified") && ["in_progress", "completed"].contains(&task.status);
        let rest = task.tree == Some(false) && task.told == Some(true) && task.passed == Some(true);
        says_success && rest && self.has_stranger(at)
    }

    fn ready(&self) -> Vec<usize> {
        let mut ready: Vec<usize> = (0..self.tasks.len())
            .filter(|&at| self.class(at) == "ready_for_integration")
            .collect();
        ready.sort_by_key(|&at| (self.tasks[at].wave, at));
        ready
    }

    fn collisions(&self) -> Vec<(&'static str, Vec<String>)> {
        let ready = self.ready();
        let mut found = Vec::new();
        for path in PATHS {
            for wave in 1..=2 {
                let touch: Vec<usize> = (0..self.tasks.len())
                    .filter(|at| self.tasks[*at].wave == wave)
                    .filter(|at| self.tasks[*at].files.contains(path))
                    .filter(|at| ready.contains(at) || self.tasks[*at].has_landed)
                    .collect();
                if touch.len() > 1 && touch.iter().any(|at| ready.contains(at)) {
                    found.push((path, touch.iter().map(|&at| self.id(at)).collect()));
                }
            }
        }
        found
    }
}

fn text(fact: Option<&Fact>) -> String {
    match fact {
        Some(Fact::Text(text)) => text.clone(),
        Some(Fact::Int(number)) => number.to_string(),
        Some(Fact::Bool(is)) => is.to_string(),
        Some(Fact::List(all)) => {
            let all: Vec<String> = all.iter().map(|fact| text(Some(fact))).collect();
            format!("[{}]", all.join(","))
        }
        Some(Fact::Object(entries)) => {
            let all: BTreeSet<String> = entries
                .iter()
                .map(|(key, fact)| format!("{key}={}", text(Some(fact))))
                .collect();
            all.into_iter().collect::<Vec<_>>().join(";")
        }
        other => format!("{other:?}"),
    }
}

fn part(facts: &Fact, name: &str) -> String {
    let Fact::Object(entries) = facts else {
        return String::new();
    };
    text(
        entries
            .iter()
            .find(|(key, _)| key.as_str() == name)
            .map(|(_, fact)| fact),
    )
}

fn pairs(all: impl Iterator<Item = (String, String)>) -> String {
    let all: BTreeSet<String> = all.map(|(key, value)| format!("{key}={value}")).collect();
    all.into_iter().collect::<Vec<_>>().join(";")
}

/// Whether a step puts a task back into the queue.
fn puts_back(action: &Action) -> bool {
    let Action::Edit { path, after, .. } = action else {
        return false;
    };
    let after: Option<serde_json::Value> = serde_json::from_slice(after).ok();
    path.starts_with(LIST) && after.is_some_and(|after| after["status"] == "pending")
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_task_has_the_prescribed_state(story in story()) {
        let facts = Bench::new(&story).facts();
        let all = 0..story.tasks.len();
        let classes = all.clone().map(|at| (story.id(at), story.class(at).to_owned()));
        prop_assert_eq!(part(&facts, "classification"), pairs(classes));
        let running = all.clone().filter(|&at| Story::is_running(&story.tasks[at]));
        let tiers = running.map(|at| (story.id(at), story.tier(&story.tasks[at]).to_owned()));
        prop_assert_eq!(part(&facts, "heartbeat"), pairs(tiers));
        let order: Vec<String> = story.ready().into_iter().map(|at| story.id(at)).collect();
        prop_assert_eq!(part(&facts, "integration_order"), format!("[{}]", order.join(",")));
        let collisions = story.collisions().into_iter().map(|(path, mut tasks)| {
            tasks.sort_unstable();
            format!("path={path};tasks=[{}]", tasks.join(","))
        });
        let collisions: Vec<String> = collisions.collect();
        prop_assert_eq!(part(&facts, "collisions"), format!("[{}]", collisions.join(",")));
        let retries = all.clone().map(|at| (plan_task(at), Story::retries(&story.tasks[at]).to_string()));
        prop_assert_eq!(part(&facts, "retries"), pairs(retries));
        let is_halted = story.is_failed || all.clone().any(|at| story.is_exhausted(at));
        prop_assert_eq!(part(&facts, "halted"), is_halted.to_string());
    }

    #[test]
    fn a_round_touches_nothing_that_is_done_and_lands_before_it_puts_back(story in story()) {
        let plan = Bench::new(&story).plan(&Intent::GoOn { log: "".into() });
        let of_class = |class: &str| -> BTreeSet<String> {
            let all = 0..story.tasks.len();
            all.filter(|&at| story.class(at) == class).map(|at| story.id(at)).collect()
        };
        let (ready, again) = (of_class("ready_for_integration"), of_class("rerun_required"));
        let mut n_landed = 0;
        for step in &plan.steps {
            if let Action::Land(landing) = &step.action {
                // Nothing without proof.
                prop_assert!(ready.contains(&landing.task), "{}", landing.task);
                n_landed += 1;
            }
            if let Action::Edit { before, .. } = &step.action
                && puts_back(&step.action)
            {
                let before: serde_json::Value = serde_json::from_slice(before).unwrap();
                prop_assert!(again.contains(before["subject"].as_str().unwrap()));
            }
        }
        let n_back = plan.steps.iter().filter(|step| puts_back(&step.action)).count();
        prop_assert!(n_landed == 0 || n_back == 0);
        // A wave with a live worker lands nothing and requeues nothing.
        prop_assert!(n_back == 0 || ready.is_empty());
        let mut collides = story.collisions().into_iter().flat_map(|(_, tasks)| tasks);
        prop_assert!(n_landed == 0 || collides.next().is_none());
    }

    #[test]
    fn plans_that_are_carried_out_leave_nothing_to_plan_and_nothing_is_done_twice(story in story()) {
        let mut bench = Bench::new(&story);
        let go_on = Intent::GoOn { log: "".into() };
        let changes = |plan: &Plan| -> Vec<Action> {
            let actions = plan.steps.iter().map(|step| step.action.clone());
            actions.filter(|action| !matches!(action, Action::Print(_))).collect()
        };
        let mut put_back = BTreeSet::new();
        let mut plan = bench.plan(&go_on);
        let mut n_rounds = 0;
        while matches!(plan.then, Then::Again) || !changes(&plan).is_empty() {
            for action in changes(&plan).into_iter().filter(puts_back) {
                let Action::Edit { path, .. } = action else { continue };
                prop_assert!(put_back.insert(path.clone()), "{} is put back twice", path);
            }
            bench.apply(&plan);
            plan = bench.plan(&go_on);
            n_rounds += 1;
            prop_assert!(n_rounds <= story.tasks.len() + 6, "the rounds do not end");
        }
        prop_assert_eq!(bench.plan(&go_on), plan);
    }
}
