//! Evidence to verdicts: the state of every task and of every wave.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use rekindle_model::{Code, Finding, LeftFolder, LeftKind, Place};
use rekindle_world::GitPath;

use super::changes::{Collision, collisions};
use super::heartbeat::{Pulse, Tier, judge};
use super::layout;
use super::read::{Phase, TaskEvidence, shown};
use super::table::claim::{CLAIMS, Claim, Proof};
use super::table::task::{Class, Override, Rule, Signals, TASKS, Verdict, Word};
use super::task_list::{Heartbeat, Stage, Status, TaskId};
use super::work::OWNER;

/// A phase and its verdicts.
#[derive(Debug)]
pub(super) struct Judged {
    pub(super) phase: Phase,
    pub(super) now: Timestamp,
    pub(super) tasks: BTreeMap<TaskId, JudgedTask>,
    pub(super) collisions: Vec<Collision>,
    pub(super) is_paused: bool,
}

/// One task with its verdict.
#[derive(Debug)]
pub(super) struct JudgedTask {
    pub(super) verdict: &'static Verdict,
    /// The heartbeat of a running task.
    pub(super) pulse: Option<Pulse>,
    /// Retries that were launched already.
    pub(super) retries: u32,
    /// The path that blocks its landing, if there is one.
    pub(super) stranger: Option<GitPath>,
}

/// Judges a phase.
pub(super) fn assess(mut phase: Phase, now: Timestamp) -> Judged {
    let is_paused = phase.state.is_paused();
    let closed = closed_gates(&phase);
    let mut tasks = BTreeMap::new();
    let mut findings = Vec::new();
    for (id, task) in &phase.tasks {
        let judged = judge_task(&phase, id, task, &closed, is_paused, now);
        findings.extend(notices(id, task, &judged));
        tasks.insert(*id, judged);
    }
    findings.extend(unreadable_rows(&phase, &tasks));
    phase.findings.extend(findings);
    let mut judged = Judged {
        collisions: Vec::new(),
        phase,
        now,
        tasks,
        is_paused,
    };
    judged.collisions = judged.find_collisions();
    for collision in &judged.collisions {
        let tasks: Vec<String> = collision.tasks.iter().map(ToString::to_string).collect();
        let message = format!("`{}` is touched by {}", collision.path, tasks.join(" and "));
        judged.phase.findings.push(
            Finding::new(Code::Collision, message)
                .hint("replan the wave so that one task owns the path, or take it out of one worktree by hand"),
        );
    }
    judged
}

/// Returns the waves whose gate is closed. Without a gate a wave is closed until its tasks are on main.
fn closed_gates(phase: &Phase) -> BTreeSet<u32> {
    phase
        .waves
        .keys()
        .copied()
        .filter(|wave| !is_gate_open(phase, *wave))
        .collect()
}

fn is_gate_open(phase: &Phase, wave: u32) -> bool {
    match phase.gates.iter().find(|gate| gate.wave == Some(wave)) {
        Some(gate) => gate.status == Status::Completed,
        // The unreadable file may be the gate.
        None if phase.unread().is_some() => false,
        None => phase
            .tasks
            .iter()
            .filter(|(id, _)| id.wave == wave)
            .all(|(_, task)| task.landed.is_some()),
    }
}

fn judge_task(
    phase: &Phase,
    id: &TaskId,
    task: &TaskEvidence,
    closed: &BTreeSet<u32>,
    is_paused: bool,
    now: Timestamp,
) -> JudgedTask {
    let pulse = is_running(task).then(|| {
        let file = &task.file;
        judge(
            file.stage.as_ref(),
            &file.heartbeat,
            phase.config.dead_worker_timeout,
            now,
        )
    });
    let row = phase.ledger_row(task);
    let stranger = stranger(phase, id, task);
    let blocked_by_gate = || {
        let gates = phase
            .gates
            .iter()
            .filter(|gate| gate.status != Status::Completed);
        gates
            .filter(|gate| gate.wave != Some(id.wave))
            .any(|gate| task.file.blocked_by.contains(&gate.id))
    };
    let signals = Signals {
        has_landed: task.landed.is_some(),
        ordered: row.map_or(Override::None, |row| {
            let is_newer = match (row.last_attempt, &task.file.heartbeat) {
                (Some(ordered), Heartbeat::At(beat)) => ordered > *beat,
                (Some(_), Heartbeat::Absent | Heartbeat::Unreadable(_)) => true,
                (None, _) => false,
            };
            match row.next_action.as_str() {
                "halt" if is_newer => Override::Halt,
                "retry" if is_newer => Override::Retry,
                _ => Override::None,
            }
        }),
        word: word(task, pulse.as_ref()),
        proof: proof(task, stranger.is_some()),
        is_behind_gate: closed.range(..id.wave).next().is_some() || blocked_by_gate(),
        is_paused,
    };
    JudgedTask {
        verdict: TASKS.decide(signals),
        pulse,
        retries: row.map_or(0, |row| row.retries),
        stranger,
    }
}

fn is_running(task: &TaskEvidence) -> bool {
    let is_terminal = match &task.file.stage {
        // The last stage before the terminal update: without its evidence the worker is still finishing.
        Some(Stage::Verified) => task.landed.is_some() || has_artifacts(task),
        Some(stage) => stage.is_terminal(),
        None => false,
    };
    task.file.status == Status::InProgress && !is_terminal
}

/// Returns whether a worker left both artifacts that a success needs.
fn has_artifacts(task: &TaskEvidence) -> bool {
    let artifacts = task.artifacts.as_ref();
    artifacts.is_some_and(|artifacts| artifacts.changed.is_some() && artifacts.passed == Some(true))
}

/// Returns the report of the task list about a task.
fn word(task: &TaskEvidence, pulse: Option<&Pulse>) -> Word {
    if let Some(pulse) = pulse {
        return Word::Running(pulse.tier);
    }
    match (&task.file.status, &task.file.stage) {
        (Status::Pending, _) => Word::NotStarted,
        (Status::InProgress | Status::Completed, Some(Stage::Verified)) => Word::Succeeded,
        (Status::InProgress | Status::Completed, Some(Stage::Failed)) => Word::Failed,
        (Status::InProgress | Status::Completed, Some(Stage::ShutdownAck)) => Word::Cancelled,
        (Status::InProgress | Status::Completed | Status::Other(_), _) => Word::Contradictory,
    }
}

/// Returns what a worker's claim of success is worth.
fn proof(task: &TaskEvidence, has_stranger: bool) -> Proof {
    let artifacts = task.artifacts.as_ref();
    let reported = artifacts.and_then(|artifacts| artifacts.changed.as_ref());
    let agrees = match (reported, &task.touched) {
        (Some(Ok(reported)), Some(Ok(touched))) => {
            // A worker reports paths in JSON, which has no bytes.
            let found: BTreeSet<GitPath> = touched
                .0
                .keys()
                .map(|path| GitPath::new(String::from_utf8_lossy(path.as_bytes()).into_owned()))
                .collect();
            found == *reported
        }
        _ => false,
    };
    *CLAIMS.decide(Claim {
        has_worktree: task.tree.is_some(),
        has_own_commits: task.tree.as_ref().is_some_and(|tree| tree.has_own_commits),
        has_artifacts: has_artifacts(task),
        agrees,
        has_stranger,
    })
}

/// Returns a path of a task whose content on main is neither the base's nor the worker's.
fn stranger(phase: &Phase, id: &TaskId, task: &TaskEvidence) -> Option<GitPath> {
    let touched = task.touched.as_ref()?.as_ref().ok()?;
    // An unreadable path counts as blocked.
    let Some(main) = phase
        .waves
        .get(&id.wave)
        .and_then(|wave| wave.main.as_ref())
    else {
        return touched.0.keys().next().cloned();
    };
    let peers = phase
        .tasks
        .iter()
        .filter(|(other, _)| other.wave == id.wave);
    let explained: BTreeSet<GitPath> = peers
        .flat_map(|(_, peer)| peer.landed_paths.iter().cloned())
        .collect();
    main.stranger(touched, &explained).cloned()
}

/// Returns findings of tasks that are to run again and whose number of retries cannot be read.
fn unreadable_rows(phase: &Phase, tasks: &BTreeMap<TaskId, JudgedTask>) -> Vec<Finding> {
    let is_counted = |task: &JudgedTask| task.verdict.retry.is_some();
    let counted = tasks.iter().filter(|(_, task)| is_counted(task));
    let rows = counted.filter_map(|(id, _)| phase.ledger_row(&phase.tasks[id]));
    rows.filter(|row| !row.is_readable)
        .map(|row| {
            let message = format!(
                "the Task Retry Ledger has no number of retries for {}",
                shown(&row.plan_task)
            );
            Finding::new(Code::UnreadableLedger, message)
                .at(Place::line(layout::STATE, row.line))
                .hint("write the number of its retries into its row")
        })
        .collect()
}

fn notices(id: &TaskId, task: &TaskEvidence, judged: &JudgedTask) -> Vec<Finding> {
    let at = || Place::path(task.file.path.clone());
    let mut findings = Vec::new();
    if let Some(pulse) = &judged.pulse {
        if pulse.is_from_the_future {
            let message = format!("the heartbeat of {id} is ahead of this machine's clock");
            findings.push(Finding::new(Code::ClockAhead, message).at(at()));
        }
        if pulse.tier != Tier::Healthy {
            let age = pulse.age.map_or_else(
                || "has no readable heartbeat".to_owned(),
                |age| format!("was last heard {} ago", minutes(age.as_secs())),
            );
            let message = format!("the worker of {id} {age}");
            findings.push(Finding::new(Code::StaleHeartbeat, message).at(at()));
        }
    }
    let rule = judged.verdict.rule;
    if judged.verdict.is_inconsistent {
        let message = format!("{id}: {}", judged.verdict.sentence);
        findings.push(Finding::new(Code::InconsistentTask, message).at(at()));
    }
    if let (Rule::StrangerOnMain, Some(path)) = (rule, &judged.stranger) {
        let message = format!(
            "`{path}` on main has content that is neither the wave's base nor the work of {id}"
        );
        findings.push(
            Finding::new(Code::StrangerOnMain, message)
                .hint("commit it, move it away or restore it, then resume again"),
        );
    }
    if rule == Rule::Landed && task.file.status == Status::InProgress {
        let message = format!("{id} is on main, though the task list reports it as running");
        findings.push(Finding::new(Code::InconsistentTask, message).at(at()));
    }
    findings
}

/// Returns a number of seconds in the unit that a person uses.
pub(super) fn minutes(seconds: i64) -> String {
    match seconds {
        ..120 => format!("{seconds} s"),
        120..7200 => format!("{} min", seconds / 60),
        _ => format!("{} h", seconds / 3600),
    }
}

impl Judged {
    /// Returns the tasks of a class, by wave and then as the plan orders them.
    pub(super) fn of(&self, class: Class) -> Vec<&TaskId> {
        let mut ids: Vec<&TaskId> = self
            .tasks
            .iter()
            .filter(|(_, task)| task.verdict.class == class)
            .map(|(id, _)| id)
            .collect();
        ids.sort_by_key(|id| (id.wave, self.phase.tasks[*id].place, **id));
        ids
    }

    pub(super) fn is_wave_live(&self, wave: u32) -> bool {
        let mut members = self.tasks.iter().filter(|(id, _)| id.wave == wave);
        members.any(|(_, task)| task.verdict.class == Class::InProgress)
    }

    /// Returns whether a wave's tasks are all on main.
    pub(super) fn is_wave_landed(&self, wave: u32) -> bool {
        let mut members = self.tasks.iter().filter(|(id, _)| id.wave == wave);
        members.all(|(_, task)| task.verdict.class == Class::Done)
    }

    pub(super) fn is_gate_open(&self, wave: u32) -> bool {
        is_gate_open(&self.phase, wave)
    }

    /// Returns the first wave that has not landed or whose gate is closed.
    pub(super) fn open_wave(&self) -> Option<u32> {
        let mut waves = self.phase.waves.keys().copied();
        waves.find(|wave| !(self.is_wave_landed(*wave) && self.is_gate_open(*wave)))
    }

    /// Returns the first wave whose tasks are all on main while its gate is closed.
    pub(super) fn gate_to_open(&self) -> Option<u32> {
        let mut waves = self.phase.waves.keys().copied();
        waves.find(|wave| self.is_wave_landed(*wave) && !self.is_gate_open(*wave))
    }

    /// Returns the tasks that need another run and have no retry left, or that STATE.md halts.
    pub(super) fn exhausted(&self) -> Vec<&TaskId> {
        let at_limit = |task: &JudgedTask| {
            let rule = task.verdict.rule;
            let is_used_up = task.retries >= self.phase.config.max_retries;
            rule == Rule::OrderedToHalt
                || (rule != Rule::StrangerOnMain && task.verdict.retry.is_some() && is_used_up)
        };
        self.of(Class::RerunRequired)
            .into_iter()
            .filter(|id| at_limit(&self.tasks[*id]))
            .collect()
    }

    /// Returns whether a halted task has retries left, so that the operator ordered the halt.
    pub(super) fn is_halted_by_operator(&self, id: &TaskId) -> bool {
        let task = &self.tasks[id];
        task.verdict.rule == Rule::OrderedToHalt && task.retries < self.phase.config.max_retries
    }

    pub(super) fn is_halted(&self) -> bool {
        let has_failed = matches!(
            self.phase.state.step_status().as_deref(),
            Some("failed" | "halted")
        );
        has_failed || !self.exhausted().is_empty()
    }

    /// Returns the dead workers that the host started, each with its name and its task.
    pub(super) fn silent_hosts_workers(&self) -> Vec<(&TaskId, &str)> {
        let is_dead = |id: &&TaskId| self.tasks[*id].verdict.rule == Rule::Dead;
        let owner = |id| {
            let owner = self.phase.tasks.get(id)?.file.owner.as_deref();
            Some((id, owner.filter(|owner| *owner != OWNER)?))
        };
        let dead = self.of(Class::RerunRequired).into_iter().filter(is_dead);
        dead.filter_map(owner).collect()
    }

    /// Returns the tasks that need a person, with the path that blocks them.
    pub(super) fn strangers(&self) -> Vec<(&TaskId, &GitPath)> {
        self.of(Class::RerunRequired)
            .into_iter()
            .filter(|id| self.tasks[*id].verdict.rule == Rule::StrangerOnMain)
            .filter_map(|id| Some((id, self.tasks[id].stranger.as_ref()?)))
            .collect()
    }

    fn find_collisions(&self) -> Vec<Collision> {
        let mut found = Vec::new();
        for wave in self.phase.waves.keys() {
            let ready = |id: &TaskId| self.tasks[id].verdict.class == Class::ReadyForIntegration;
            let members: Vec<(TaskId, BTreeSet<GitPath>)> = self
                .phase
                .tasks
                .iter()
                .filter(|(id, _)| id.wave == *wave)
                .map(|(id, task)| {
                    let touched = task.touched.iter().flatten();
                    let paths = touched
                        .filter(|_| ready(id))
                        .flat_map(|touched| touched.0.keys().cloned());
                    let paths = paths.chain(task.landed_paths.iter().cloned()).collect();
                    (*id, paths)
                })
                .collect();
            // Only work that waits can collide.
            found.extend(
                collisions(&members)
                    .into_iter()
                    .filter(|collision| collision.tasks.iter().any(ready)),
            );
        }
        found.sort_by(|one, other| one.path.cmp(&other.path));
        found
    }

    /// Returns the worktrees of waves that have landed as a whole, and the orphans.
    ///
    /// A worktree whose evidence is not archived yet stays: the next resume archives it.
    pub(super) fn left_folders(&self) -> Vec<LeftFolder> {
        if self.phase.unanswered.is_some() {
            return Vec::new();
        }
        let is_over = |id: &TaskId, task: &TaskEvidence| {
            let is_done = self.tasks[id].verdict.class == Class::Done;
            is_done && self.is_wave_landed(id.wave) && !task.has_artifacts_left
        };
        let tasks = self.phase.tasks.iter();
        let over = tasks.filter(|(id, task)| task.tree.is_some() && is_over(id, task));
        let landed = over.map(|(id, task)| LeftFolder {
            path: task.worktree.clone(),
            task: Some(id.to_string()),
            kind: LeftKind::Landed,
        });
        let orphaned = self.phase.orphans.iter().map(|orphan| LeftFolder {
            path: orphan.path.clone(),
            task: orphan.task.map(|task| task.to_string()),
            kind: LeftKind::Orphaned {
                since: orphan.since,
            },
        });
        landed.chain(orphaned).collect()
    }

    /// Returns a task's name in the plan, or its id.
    pub(super) fn name(&self, id: &TaskId) -> String {
        let plan_task = self
            .phase
            .tasks
            .get(id)
            .and_then(|task| task.plan_task.clone());
        plan_task.unwrap_or_else(|| shown(&id.to_string()))
    }

    /// Returns the subject of a task's commit.
    pub(super) fn subject(&self, id: &TaskId) -> Option<String> {
        let task = self.phase.tasks.get(id)?;
        let plan_task = task.plan_task.as_ref()?;
        let title: String = task.title.split_whitespace().collect::<Vec<_>>().join(" ");
        let title = rekindle_text::printable(&title).into_owned();
        Some(format!("phase-{}/{plan_task}: {title}", self.phase.number))
    }

    pub(super) fn archived(&self, plan_task: &str) -> camino::Utf8PathBuf {
        layout::archived(self.phase.number, plan_task)
    }
}
