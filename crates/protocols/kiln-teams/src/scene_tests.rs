//! Random phases after a crash, on disk and in git, on which rounds can be applied in memory.

use std::collections::{BTreeMap, BTreeSet};

use camino::{Utf8Path, Utf8PathBuf};
use proptest::prelude::*;
use rekindle_model::{Action, Assessment, Fact, Intent, Plan};
use rekindle_world::{
    GitAnswer, GitChange, GitCommit, GitEntry, GitPath, GitQuestion, GitRepository, GitWorktree,
    MemoryWorld,
};
use serde_json::json;

use super::KilnTeams;
use rekindle_protocol::{Ask, Protocol};

const NOW: &str = "2026-02-16T15:00:00Z";
pub(super) const LIST: &str = "/h/.claude/tasks/kiln-exec-phase-1";
const STATUSES: [&str; 4] = ["pending", "in_progress", "completed", "paused"];
const STAGES: [&str; 10] = [
    "claimed",
    "sharpening",
    "sharpened",
    "implementing",
    "implemented",
    "verifying",
    "verified",
    "failed",
    "shutdown_ack",
    "implmenting",
];
pub(super) const PATHS: [&str; 3] = ["a.txt", "b.txt", "c.txt"];

/// One task after the crash.
#[derive(Debug, Clone)]
pub(super) struct Life {
    pub(super) wave: u32,
    pub(super) status: &'static str,
    pub(super) stage: Option<&'static str>,
    /// Minutes since its last heartbeat, if it has one.
    pub(super) silence: Option<i64>,
    pub(super) is_ours: bool,
    /// Its worktree's commit: the base, or one of its own.
    pub(super) tree: Option<bool>,
    pub(super) files: BTreeSet<&'static str>,
    /// The content of `changed_ops.json`: nothing, the truth, or something else.
    pub(super) told: Option<bool>,
    /// The content of `verify_summary.json`.
    pub(super) passed: Option<bool>,
    pub(super) has_landed: bool,
    /// Retries, minutes since the last attempt, next action.
    pub(super) ledger: Option<(u32, i64, &'static str)>,
}

#[derive(Debug, Clone)]
pub(super) struct Story {
    pub(super) tasks: Vec<Life>,
    /// For each wave its gate, if it has one, and whether that is open.
    pub(super) gates: [Option<bool>; 2],
    /// Uncommitted changes in the project: a stranger's, or what a worker made there.
    pub(super) dirt: BTreeMap<&'static str, Option<usize>>,
    pub(super) is_paused: bool,
    pub(super) is_failed: bool,
    pub(super) max_retries: Option<u32>,
    pub(super) timeout: Option<i64>,
}

fn life() -> impl Strategy<Value = Life> {
    let likely = prop::sample::select(&["in_progress", "completed"][..]);
    let status = prop_oneof![2 => likely, 1 => prop::sample::select(&STATUSES[..])];
    let stage = prop_oneof![
        3 => Just(Some("verified")),
        3 => prop::option::of(prop::sample::select(&STAGES[..])),
    ];
    let action = prop::sample::select(&["retry", "halt", "-"][..]);
    let ledger = prop::option::weighted(0.3, (0_u32..4, 0_i64..40, action));
    let proof = (
        prop::option::weighted(0.9, prop::bool::weighted(0.1)),
        prop::sample::subsequence(&PATHS[..], 0..=2),
        prop::option::weighted(0.9, prop::bool::weighted(0.9)),
        prop::option::weighted(0.9, prop::bool::weighted(0.9)),
    );
    let silence = prop::option::weighted(0.9, -5_i64..45);
    let flags = (1_u32..=2, any::<bool>(), prop::bool::weighted(0.2));
    (status, stage, silence, proof, ledger, flags).prop_map(
        |(status, stage, silence, (tree, files, told, passed), ledger, (wave, is_ours, landed))| {
            // Landed work was verified before.
            let is_over = landed && ["in_progress", "completed"].contains(&status);
            Life {
                wave,
                status,
                stage: if is_over { Some("verified") } else { stage },
                silence,
                is_ours,
                tree,
                files: files.into_iter().collect(),
                told,
                passed,
                has_landed: is_over,
                ledger,
            }
        },
    )
}

pub(super) fn story() -> impl Strategy<Value = Story> {
    let tasks = prop::collection::vec(life(), 1..5);
    let gate = || prop::option::weighted(0.7, any::<bool>());
    let dirt = prop::collection::btree_map(
        prop::sample::select(&PATHS[..]),
        prop::option::of(0_usize..4),
        0..2,
    );
    let dirt = prop_oneof![3 => Just(BTreeMap::new()), 1 => dirt];
    let flags = (prop::bool::weighted(0.1), prop::bool::weighted(0.1));
    let limits = (
        prop::option::weighted(0.2, 0_u32..4),
        prop::option::weighted(0.2, 1_i64..40),
    );
    (tasks, gate(), gate(), dirt, flags, limits).prop_map(
        |(tasks, first, second, mut dirt, (is_paused, is_failed), (max_retries, timeout))| {
            // Committed and later changes are treated alike here.
            let landed = |path: &str| tasks.iter().any(|t| t.has_landed && t.files.contains(path));
            dirt.retain(|path, _| !landed(path));
            Story {
                tasks,
                gates: [first, second],
                dirt,
                is_paused,
                is_failed,
                max_retries,
                timeout,
            }
        },
    )
}

pub(super) fn plan_task(at: usize) -> String {
    format!("P1-T0{}", at + 1)
}

fn ago(minutes: i64) -> String {
    let now: jiff::Timestamp = NOW.parse().unwrap();
    (now - jiff::SignedDuration::from_mins(minutes)).to_string()
}

impl Story {
    pub(super) fn id(&self, at: usize) -> String {
        format!("phase-1:exec:wave-{}:task-{}", self.tasks[at].wave, at + 1)
    }

    fn worktree(&self, at: usize) -> String {
        format!("/t/kiln-x/{}", self.id(at).replace(':', "-"))
    }
}

/// A phase on disk and in git, on which rounds can be applied.
#[derive(Clone)]
pub(super) struct Bench {
    files: BTreeMap<Utf8PathBuf, Vec<u8>>,
    trees: Vec<(String, String, Vec<GitChange>)>,
    commits: Vec<(String, Vec<GitChange>)>,
    dirt: Vec<GitChange>,
}

fn change(path: &str, by: &str) -> GitChange {
    let entry = GitEntry {
        mode: "100644".to_owned(),
        id: by.to_owned(),
    };
    GitChange {
        path: GitPath::from(path),
        from: None,
        before: None,
        after: Some(entry),
    }
}

impl Bench {
    pub(super) fn new(story: &Story) -> Self {
        let mut bench = Self {
            files: BTreeMap::new(),
            trees: Vec::new(),
            commits: Vec::new(),
            dirt: Vec::new(),
        };
        let mut state = format!(
            "# Project State\n\n## Current Track\n\n- **Phase:** 1 — Core\n- **Current Step:** execute\n- **Step Status:** {}\n\n### Task Retry Ledger\n\n| Plan Task ID | Wave | Retries | Last Attempt | Last Status | Next Action |\n| --- | --- | --- | --- | --- | --- |\n",
            if story.is_failed {
                "failed"
            } else {
                "in-progress"
            }
        );
        let mut plan = "# Plan: Phase 1 — Core\n\n## Task Packets\n".to_owned();
        for (at, task) in story.tasks.iter().enumerate() {
            let name = plan_task(at);
            plan.push_str(&format!(
                "\n### Task {name}: Title\n- Wave: {}\n",
                task.wave
            ));
            if let Some((retries, minutes, action)) = task.ledger {
                let last = ago(minutes);
                let wave = task.wave;
                state.push_str(&format!(
                    "| {name} | {wave} | {retries} | {last} | x | {action} |\n"
                ));
            }
            bench.put_task(story, at);
        }
        state.push_str(&format!(
            "\n## Orchestration Session\n\n- **Paused:** {}\n",
            story.is_paused
        ));
        for (at, gate) in story.gates.iter().enumerate() {
            let wave = at + 1;
            if let Some(is_open) = gate {
                let status = if *is_open { "completed" } else { "pending" };
                let gate = json!({
                    "id": format!("g{wave}"),
                    "subject": format!("phase-1:exec:wave-{wave}:gate"),
                    "status": status,
                    "metadata": {
                        "kiln_type": "wave-gate",
                        "kiln_phase": "phase-1",
                        "kiln_wave": format!("wave-{wave}"),
                    },
                });
                bench.put(&format!("{LIST}/g{wave}.json"), &gate.to_string());
            }
        }
        let mut preferences = json!({});
        if let Some(most) = story.max_retries {
            preferences["maxRetries"] = json!(most);
        }
        if let Some(minutes) = story.timeout {
            preferences["deadWorkerTimeoutMinutes"] = json!(minutes);
        }
        let config = json!({ "preferences": preferences });
        bench.put("/w/p/.kiln/config.json", &config.to_string());
        bench.put("/w/p/.kiln/STATE.md", &state);
        bench.put("/w/p/.kiln/tracks/phase-1/PLAN.md", &plan);
        for (path, by) in &story.dirt {
            let by = by.map_or_else(|| "stranger".to_owned(), |at| format!("w{at}"));
            bench.dirt.push(change(path, &by));
        }
        bench
    }

    fn put(&mut self, path: &str, text: &str) {
        self.files.insert(path.into(), text.as_bytes().to_vec());
    }

    fn put_task(&mut self, story: &Story, at: usize) {
        let task = &story.tasks[at];
        let name = plan_task(at);
        let worktree = story.worktree(at);
        let mut metadata = json!({
            "kiln_phase": "phase-1",
            "kiln_wave": format!("wave-{}", task.wave),
            "kiln_plan_task_id": name,
            "kiln_worktree": worktree,
        });
        if let Some(stage) = task.stage {
            metadata["kiln_stage"] = json!(stage);
        }
        if let Some(minutes) = task.silence {
            metadata["kiln_last_heartbeat"] = json!(ago(minutes));
        }
        let file = json!({
            "id": format!("{at}"),
            "subject": story.id(at),
            "status": task.status,
            "owner": if task.is_ours { "rekindle" } else { "worker" },
            "metadata": metadata,
        });
        self.put(&format!("{LIST}/{at}.json"), &file.to_string());
        let by = format!("w{at}");
        let changes: Vec<GitChange> = task.files.iter().map(|path| change(path, &by)).collect();
        if task.has_landed {
            let subject = format!("phase-1/{name}: Title");
            self.commits.push((subject, changes.clone()));
        }
        if let Some(has_own) = task.tree {
            let head = if has_own {
                format!("own{at}")
            } else {
                "base".to_owned()
            };
            self.put(&format!("{worktree}/.git"), "gitdir: x");
            self.trees.push((worktree.clone(), head, changes));
        }
        let artifacts = format!("{worktree}/.kiln-artifacts/{name}");
        if let Some(is_true) = task.told {
            let mut told: Vec<&str> = task.files.iter().copied().collect();
            if !is_true {
                told.push("elsewhere.txt");
            }
            let told: Vec<_> = told
                .iter()
                .map(|path| json!({"op": "add", "path": path}))
                .collect();
            self.put(
                &format!("{artifacts}/changed_ops.json"),
                &json!(told).to_string(),
            );
        }
        if let Some(passed) = task.passed {
            let result = if passed { "pass" } else { "fail" };
            let summary = json!({"result": result, "checks": []});
            self.put(
                &format!("{artifacts}/verify_summary.json"),
                &summary.to_string(),
            );
        }
    }

    fn world(&self) -> MemoryWorld {
        let mut world = MemoryWorld::new("/w/p", NOW.parse().unwrap())
            .with_variable("HOME", "/h")
            .with_variable("KILN_WORKTREE_ROOT", "/t");
        for (path, contents) in &self.files {
            world = world.file(path, contents);
        }
        let ids: Vec<String> = (0..=self.commits.len())
            .map(|at| {
                if at == 0 {
                    "base".to_owned()
                } else {
                    format!("c{at}")
                }
            })
            .collect();
        let head = ids.last().unwrap().clone();
        let says = |world: MemoryWorld, question, answer| world.git_says("/w/p", question, answer);
        world = says(
            world,
            GitQuestion::Repository,
            GitAnswer::Repository(GitRepository {
                top_level: "/w/p".into(),
                common_dir: "/w/p/.git".into(),
                head: Some(head.clone()),
                branch: Some("main".to_owned()),
            }),
        );
        let tree = |path: &str, head: &str| GitWorktree {
            path: path.into(),
            head: Some(head.to_owned()),
            branch: None,
            locked: None,
            prunable: None,
        };
        let trees = self.trees.iter().map(|(path, head, _)| tree(path, head));
        let trees = std::iter::once(tree("/w/p", &head)).chain(trees).collect();
        world = says(world, GitQuestion::Worktrees, GitAnswer::Worktrees(trees));
        for (path, commit, changes) in &self.trees {
            let question = GitQuestion::Has {
                commit: commit.clone(),
            };
            world = says(world, question, GitAnswer::Has(commit == "base"));
            let question = GitQuestion::Changes {
                base: commit.clone(),
            };
            world = world.git_says(path, question, GitAnswer::Changes(changes.clone()));
        }
        let commits: Vec<GitCommit> = (1..ids.len())
            .rev()
            .map(|at| GitCommit {
                id: ids[at].clone(),
                parent: Some(ids[at - 1].clone()),
                subject: self.commits[at - 1].0.clone(),
            })
            .collect();
        for after in [None, Some("base".to_owned())] {
            let question = GitQuestion::Commits { after };
            world = says(world, question, GitAnswer::Commits(commits.clone()));
        }
        for at in 1..ids.len() {
            let (from, to) = (ids[at - 1].clone(), ids[at].clone());
            let changes = self.commits[at - 1].1.clone();
            world = says(
                world,
                GitQuestion::Between { from, to },
                GitAnswer::Changes(changes),
            );
        }
        // Newest last, so that of several the newest stays.
        let all = self.commits.iter().flat_map(|(_, changes)| changes);
        let all: BTreeMap<GitPath, GitChange> = all
            .map(|change| (change.path.clone(), change.clone()))
            .collect();
        let question = GitQuestion::Between {
            from: "base".to_owned(),
            to: head.clone(),
        };
        world = says(
            world,
            question,
            GitAnswer::Changes(all.into_values().collect()),
        );
        let question = GitQuestion::Changes { base: head };
        world = says(world, question, GitAnswer::Changes(self.dirt.clone()));
        says(world, GitQuestion::Staged, GitAnswer::Changes(Vec::new()))
    }

    pub(super) fn files(&self) -> &BTreeMap<Utf8PathBuf, Vec<u8>> {
        &self.files
    }

    /// Returns the same phase with other contents of a file.
    pub(super) fn with(&self, path: &Utf8Path, contents: &[u8]) -> Self {
        let mut other = self.clone();
        other.files.insert(path.to_owned(), contents.to_vec());
        other
    }

    /// Returns the verdicts, and the first plan.
    pub(super) fn reading(&self) -> (Assessment, Option<Plan>) {
        let world = self.world();
        let case = KilnTeams.inspect(&world, &Ask::default());
        let plan = case.plan(&world, &Intent::GoOn { log: "".into() });
        (case.assessment().clone(), plan)
    }

    pub(super) fn facts(&self) -> Fact {
        let world = self.world();
        let case = KilnTeams.inspect(&world, &Ask::default());
        case.assessment().facts.clone()
    }

    pub(super) fn plan(&self, intent: &Intent) -> Plan {
        let world = self.world();
        let case = KilnTeams.inspect(&world, &Ask::default());
        case.plan(&world, intent).unwrap()
    }

    /// Applies a plan as the runner would.
    pub(super) fn apply(&mut self, plan: &Plan) {
        for step in &plan.steps {
            match &step.action {
                Action::Edit {
                    path,
                    before,
                    after,
                } => {
                    let path = Utf8Path::new("/w/p").join(path);
                    assert_eq!(self.files.get(&path), Some(before), "{path}");
                    self.files.insert(path, after.clone());
                }
                Action::Land(landing) => {
                    let is_there = self
                        .commits
                        .iter()
                        .any(|(known, _)| *known == landing.subject);
                    assert!(!is_there, "{} lands twice", landing.subject);
                    let tree = self
                        .trees
                        .iter()
                        .find(|(path, ..)| *path == landing.worktree);
                    let changes = tree.unwrap().2.clone();
                    let is_landed = |dirt: &GitChange| changes.iter().any(|c| c.path == dirt.path);
                    self.dirt.retain(|dirt| !is_landed(dirt));
                    self.commits.push((landing.subject.clone(), changes));
                }
                Action::MoveFolder { from, to } => {
                    let to = Utf8Path::new("/w/p").join(to);
                    let below: Vec<Utf8PathBuf> = self
                        .files
                        .keys()
                        .filter(|path| path.starts_with(from))
                        .cloned()
                        .collect();
                    for path in below {
                        let contents = self.files.remove(&path).unwrap();
                        self.files
                            .insert(to.join(path.strip_prefix(from).unwrap()), contents);
                    }
                }
                Action::AskHost { .. } | Action::EndWorker { .. } | Action::Print(_) => {}
                Action::Append { .. } | Action::Create { .. } | Action::MoveFile { .. } => {
                    panic!("a round does not do {:?}", step.action)
                }
            }
        }
    }
}
