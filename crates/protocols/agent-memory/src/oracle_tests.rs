//! Compares random histories with a naive implementation of the rules.
//!
//! Only the scene is shared with the tested code: all events are stored, sorted and searched for
//! every question.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use rekindle_model::{Action, Fact, Intent, Then};

use super::scene_tests::{Scene, part, render};

/// Few of everything, so that all that can coincide does.
const TASKS: [&str; 6] = ["T1", "T2", "Q3", "B4", "D5", "X9"];
const KINDS: [&str; 17] = [
    "task_created",
    "task_ready",
    "task_claimed",
    "task_started",
    "task_implemented",
    "task_completed",
    "task_verified",
    "task_failed",
    "task_failure",
    "task_verification_failed",
    "task_blocked",
    "task_skipped",
    "task_skipped",
    "task_noticed",
    "note",
    "run_completed",
    "session_resumed",
];

#[derive(Debug, Clone)]
struct Said {
    kind: &'static str,
    task: &'static str,
    /// Minutes after ten, or nothing.
    minute: Option<u8>,
    informational: bool,
}

#[derive(Debug, Clone)]
struct History {
    logs: Vec<Vec<Said>>,
    /// The minute in each log's name, if it has one.
    names: Vec<Option<u8>>,
    /// For each task of the graph: dependencies, phase, skipped.
    graph: Vec<(&'static str, BTreeSet<&'static str>, i64, bool)>,
}

fn said() -> impl Strategy<Value = Said> {
    let kind = prop::sample::select(&KINDS[..]);
    let minute = prop::option::weighted(0.85, 0_u8..3);
    (
        kind,
        prop::sample::select(&TASKS[..]),
        minute,
        prop::bool::weighted(0.2),
    )
        .prop_map(|(kind, task, minute, informational)| Said {
            kind,
            task,
            minute,
            informational,
        })
}

fn history() -> impl Strategy<Value = History> {
    let logs = prop::collection::vec(prop::collection::vec(said(), 0..8), 1..4);
    let names = prop::collection::vec(prop::option::of(0_u8..3), 4);
    let dependencies = prop::collection::vec(prop::sample::subsequence(&TASKS[..], 0..=1), 5);
    let tasks = prop::collection::vec((0_i64..2, prop::bool::weighted(0.1)), 5);
    (logs, names, dependencies, tasks).prop_map(|(logs, names, dependencies, tasks)| History {
        logs,
        names,
        graph: TASKS
            .into_iter()
            .zip(dependencies)
            .zip(tasks)
            .map(|((id, needs), (phase, skipped))| {
                (id, needs.into_iter().collect(), phase, skipped)
            })
            .collect(),
    })
}

impl History {
    fn scene(&self, actors: &[&str]) -> Scene {
        let mut text = "docs prd plan constitution\n graph".to_owned();
        for (id, needs, phase, skipped) in &self.graph {
            let needs: Vec<&str> = needs.iter().copied().collect();
            let skipped = if *skipped { "!" } else { "" };
            text.push_str(&format!(" {id}<{}@{phase}{skipped}", needs.join(",")));
        }
        // The phase is known and earlier than all else.
        text.push_str("\n log zz/zz.jsonl\n 09:00 phase_transition 3>4\n");
        for ((log, name), actor) in self.logs.iter().zip(&self.names).zip(actors) {
            let name = name.map_or("log".to_owned(), |minute| format!("20260119-10{minute:02}"));
            text.push_str(&format!("log {actor}/{name}.jsonl\n"));
            for Said {
                kind,
                task,
                minute,
                informational,
            } in log
            {
                let time = minute.map_or("-".to_owned(), |minute| format!("10:{minute:02}"));
                let blocking = if *informational {
                    " blocking=false"
                } else {
                    ""
                };
                text.push_str(&format!("{time} {kind} {task}{blocking}\n"));
            }
        }
        Scene::new(&text)
    }
}

/// An event with its inherited time.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Event {
    at: Option<u8>,
    log: usize,
    line: usize,
    kind: &'static str,
    task: &'static str,
}

impl Event {
    fn state(&self) -> Option<&'static str> {
        Some(match self.kind {
            "task_created" | "task_ready" => "pending",
            "task_claimed" | "task_started" | "task_implemented" => "in_progress",
            "task_completed" | "task_verified" => "done",
            "task_failed" | "task_failure" | "task_verification_failed" => "failed",
            "task_blocked" => "blocked",
            "task_skipped" => "skipped",
            _ => return None,
        })
    }

    fn surely_after(&self, other: &Self) -> bool {
        self.at > other.at
            || (self.at == other.at && self.log == other.log && self.line > other.line)
    }
}

struct Oracle {
    events: Vec<Event>,
    history: History,
}

impl Oracle {
    fn new(history: &History) -> Self {
        let mut events = Vec::new();
        for (log, lines) in history.logs.iter().enumerate() {
            let mut previous = history.names[log];
            for (line, said) in lines.iter().enumerate() {
                let at = said.minute.or(previous);
                previous = at;
                let kind = match said.kind {
                    "task_blocked" if said.informational => "informational",
                    kind => kind,
                };
                let task = said.task;
                events.push(Event {
                    at,
                    log,
                    line,
                    kind,
                    task,
                });
            }
        }
        Self {
            events,
            history: history.clone(),
        }
    }

    fn of<'a>(&'a self, task: &'a str) -> impl Iterator<Item = &'a Event> {
        self.events.iter().filter(move |event| event.task == task)
    }

    /// The last of these events.
    fn last_word(&self, events: &[Event]) -> Option<Event> {
        let careful = [
            "pending",
            "in_progress",
            "done",
            "skipped",
            "failed",
            "blocked",
        ];
        let rank = |event: &Event| {
            let state = careful.iter().position(|s| Some(*s) == event.state());
            (state, event.kind == "task_implemented")
        };
        let latest = events.iter().map(|event| event.at).max()?;
        let mut last_words = Vec::new();
        for log in 0..self.history.logs.len() {
            let mut word: Option<Event> = None;
            for event in events.iter().filter(|e| e.at == latest && e.log == log) {
                let is_done = word.and_then(|word| word.state()) == Some("done");
                if !(is_done && event.state() == Some("skipped")) {
                    word = Some(*event);
                }
            }
            last_words.extend(word);
        }
        last_words.into_iter().max_by_key(rank)
    }

    /// The state of a task by its events; a skip counts only if the task is not done.
    fn decided(&self, task: &str) -> Option<Event> {
        let all: Vec<Event> = self
            .of(task)
            .filter(|e| e.state().is_some())
            .copied()
            .collect();
        let others: Vec<Event> = all
            .iter()
            .filter(|e| e.state() != Some("skipped"))
            .copied()
            .collect();
        let last = self.last_word(&all)?;
        match self.last_word(&others) {
            Some(before)
                if last.state() == Some("skipped")
                    && before.at < last.at
                    && before.state() == Some("done") =>
            {
                Some(before)
            }
            _ => Some(last),
        }
    }

    fn states(&self) -> BTreeMap<&'static str, &'static str> {
        let mut states: BTreeMap<_, _> = self
            .history
            .graph
            .iter()
            .map(|(id, _, _, skipped)| {
                let said = self.decided(id).and_then(|event| event.state());
                let said = said.unwrap_or("pending");
                let skip = *skipped && said != "done";
                (*id, if skip { "skipped" } else { said })
            })
            .collect();
        let before = states.clone();
        for (id, needs, ..) in &self.history.graph {
            let needs_skipped = needs.iter().any(|n| before.get(n) == Some(&"skipped"));
            if needs_skipped && !["done", "skipped"].contains(&before[id]) {
                states.insert(id, "blocked");
            }
        }
        states
    }

    /// The failures since the last completion.
    fn failures(&self) -> BTreeMap<&'static str, usize> {
        let mut failures = BTreeMap::new();
        for task in TASKS {
            let done: Vec<&Event> = self
                .of(task)
                .filter(|e| e.state() == Some("done"))
                .collect();
            let failed = self.of(task).filter(|e| e.state() == Some("failed"));
            let since = failed.filter(|f| !done.iter().any(|d| d.surely_after(f)));
            failures.insert(task, since.count());
        }
        failures.retain(|_, n| *n > 0);
        failures
    }

    /// The runnable tasks in their order.
    fn runnable(&self) -> Vec<&'static str> {
        let states = self.states();
        let finished = |id: &str| ["done", "skipped"].contains(&states[id]);
        let mut runnable = Vec::new();
        for (at, (id, needs, phase, _)) in self.history.graph.iter().enumerate() {
            let ready = needs.iter().all(|n| states.get(n) == Some(&"done"));
            let open = ["pending", "in_progress", "failed"].contains(&states[id]);
            let waits = *id == "D5" && !finished("B4");
            if ready && open && !waits {
                let begun = states[id] == "in_progress";
                runnable.push((!begun, *id != "Q3", *id != "B4", *phase, at, *id));
            }
        }
        runnable.sort_unstable();
        runnable.into_iter().map(|(.., id)| id).collect()
    }

    /// The rows of section 15 for phase 2.
    fn next_action(&self) -> String {
        if self.is_complete() {
            return "{kind:none_run_complete}".to_owned();
        }
        let states = self.states();
        if states.values().all(|s| ["done", "skipped"].contains(s)) {
            return "{kind:verify_phase_and_transition}".to_owned();
        }
        let failures = self.failures();
        let n_failures = |id: &str| failures.get(id).copied().unwrap_or(0);
        let runnable = self.runnable();
        if let Some(id) = runnable.iter().find(|id| n_failures(id) < 3) {
            let kind = match self.decided(id) {
                Some(event) if event.kind == "task_implemented" => "verify_task",
                _ => "execute_task",
            };
            let attempt = n_failures(id) + 1;
            return format!("{{kind:{kind},task:{id},attempt:{attempt}}}");
        }
        if let Some(id) = runnable.first() {
            return format!("{{kind:escalate_user,task:{id}}}");
        }
        let graph = self.history.graph.iter().map(|(id, ..)| *id);
        let blocked: Vec<&str> = graph.filter(|id| states[id] == "blocked").collect();
        if blocked.is_empty() {
            return "{kind:fix_task_graph}".to_owned();
        }
        format!("{{kind:resolve_blockers,tasks:[{}]}}", blocked.join(","))
    }

    /// An end that no later event reopens.
    fn is_complete(&self) -> bool {
        let opens = |e: &&Event| {
            e.state().is_some() || ["session_resumed", "informational"].contains(&e.kind)
        };
        let opening: Vec<&Event> = self.events.iter().filter(opens).collect();
        let mut ends = self.events.iter().filter(|e| e.kind == "run_completed");
        // The transition of every scene reopens an end without a time.
        ends.any(|end| end.at.is_some() && !opening.iter().any(|event| event.surely_after(end)))
    }

    /// The tasks that may be the last completed one; simultaneous ones have no order.
    fn last_completed(&self) -> Vec<&'static str> {
        let done: Vec<Event> = TASKS
            .iter()
            .filter_map(|task| self.decided(task))
            .filter(|event| event.state() == Some("done"))
            .collect();
        let latest = done.iter().map(|event| event.at).max();
        let latest = done.iter().filter(|event| Some(event.at) == latest);
        latest.map(|event| event.task).collect()
    }

    fn last_activity(&self) -> String {
        let latest = self.events.iter().filter_map(|event| event.at).max();
        latest.map_or("2026-01-19T09:00:00Z".to_owned(), |minute| {
            format!("2026-01-19T10:{minute:02}:00Z")
        })
    }
}

fn pairs<V: std::fmt::Display>(map: &BTreeMap<&str, V>) -> String {
    let pairs: Vec<String> = map.iter().map(|(k, v)| format!("{k}:{v}")).collect();
    format!("{{{}}}", pairs.join(","))
}

fn sorted_pairs(fact: &Fact) -> String {
    let Fact::Object(entries) = fact else {
        return render(fact);
    };
    let rendered = entries.iter().map(|(k, v)| (k.as_str(), render(v)));
    pairs(&rendered.collect())
}

const ACTORS: [&str; 3] = ["a", "b", "c"];

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_fold_agrees_with_the_rulings_applied_one_by_one(history in history()) {
        let facts = history.scene(&ACTORS).facts();
        let fact = |path: &str| part(&facts, path).clone();
        let oracle = Oracle::new(&history);
        let states = oracle.states();
        prop_assert_eq!(sorted_pairs(&fact("states")), pairs(&states));
        prop_assert_eq!(sorted_pairs(&fact("failures")), pairs(&oracle.failures()));
        for state in ["pending", "in_progress", "done", "failed", "blocked", "skipped"] {
            let n = states.values().filter(|s| **s == state).count();
            let counted = fact(&format!("counts.{state}"));
            prop_assert_eq!(counted, Fact::from(n));
        }
        let done = states.values().filter(|s| **s == "done").count();
        prop_assert_eq!(fact("done"), Fact::from(done));
        prop_assert_eq!(fact("runnable"), Fact::list(oracle.runnable()));
        prop_assert_eq!(fact("complete"), Fact::from(oracle.is_complete()));
        prop_assert_eq!(render(&fact("next_action")), oracle.next_action());
        prop_assert_eq!(render(&fact("last_activity")), oracle.last_activity());
        let unknown = oracle.of("X9").count() > 0;
        prop_assert_eq!(render(&fact("unknown_tasks")), if unknown { "[X9]" } else { "[]" });
        let last_completed = oracle.last_completed();
        if fact("last_completed") == Fact::Null {
            prop_assert!(last_completed.is_empty());
        } else {
            let task = render(&fact("last_completed.task"));
            prop_assert!(last_completed.contains(&task.as_str()), "{} {:?}", task, last_completed);
        }
    }

    #[test]
    fn a_run_that_was_taken_up_goes_on_where_it_would_have(history in history()) {
        let mut scene = history.scene(&ACTORS);
        let before = scene.facts();
        let Some(plan) = scene.case().plan(&scene.world, &Intent::Open) else {
            // A complete run is not selected by itself.
            prop_assert!(Oracle::new(&history).is_complete());
            return Ok(());
        };
        for step in &plan.steps {
            if let Action::Append { log, record } = &step.action {
                scene.world = scene.world.clone().file(log, format!("{record}\n"));
            } else {
                prop_assert!(matches!(step.action, Action::Print(_)), "{:?}", step.action);
            }
        }
        let after = scene.facts();
        for fact in ["states", "counts", "failures", "runnable", "next_action", "complete", "phase"] {
            prop_assert_eq!(part(&before, fact), part(&after, fact), "{}", fact);
        }
        // A done task is never started again.
        let log = plan.log;
        let next = scene.case().plan(&scene.world, &Intent::GoOn { log }).unwrap();
        let done = Oracle::new(&history).states();
        if let Then::Agent(task) = &next.then {
            let task = task.task.as_deref().unwrap_or_default();
            prop_assert_ne!(done.get(task), Some(&"done"));
        }
    }

    #[test]
    fn the_names_of_actors_change_nothing(history in history(), order in Just(ACTORS).prop_shuffle()) {
        let one = history.scene(&ACTORS).facts();
        let other = history.scene(&order).facts();
        let same = [
            "states", "counts", "failures", "runnable", "unknown_tasks", "next_action", "complete",
            "outcome", "last_activity", "phase", "findings",
        ];
        for fact in same {
            prop_assert_eq!(part(&one, fact), part(&other, fact), "{}", fact);
        }
    }
}
