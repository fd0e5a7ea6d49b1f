//! What is printed: kiln's own texts, and the report of a recovery.

use rekindle_model::Finding;
use rekindle_text::{excerpt, printable};
use rekindle_world::GitPath;

use super::assess::{Judged, minutes};
use super::changes::Collision;
use super::heartbeat::Tier;
use super::read::shown;
use super::table::task::{Class, Rule};
use super::task_list::TaskId;

/// Kiln's text for `.kiln/` without a STATE.md.
pub(super) const NO_STATE: &str = "Found .kiln/ but missing .kiln/STATE.md. Initialization appears incomplete. Run /kiln:init to reinitialize.";
/// Kiln's text for a STATE.md that cannot be understood.
pub(super) const CORRUPT: &str = "STATE.md appears corrupted or unparseable. Do not continue automatically. Run /kiln:init to reinitialize state, then verify with /kiln:status.";

/// The text for a STATE.md of a newer Kiln.
pub(super) const NEWER: &str = ".kiln/STATE.md was written by a newer Kiln, which this version of rekindle does not read. Nothing was changed. Run /kiln-fire in your coding agent to resume it.";

/// The message by which a worker is asked to end.
pub(super) const SHUTDOWN_REQUEST: &str = "shutdown_request";

pub(super) fn phase_name(phase: u32) -> String {
    format!("phase-{phase}")
}

pub(super) fn wave_name(wave: u32) -> String {
    format!("wave {wave}")
}

/// The state before the resume, one line for each task.
pub(super) fn report(judged: &Judged) -> String {
    let phase = &judged.phase;
    let title = phase
        .state
        .phase_title()
        .map(|title| format!(" — {}", shown(title)))
        .unwrap_or_default();
    let step = phase.state.step().unwrap_or_default();
    let status = phase.state.step_status().unwrap_or_default();
    let mut text = format!(
        "Phase {}{title}: {} ({})\n",
        phase.number,
        shown(&step),
        shown(&status)
    );
    if judged.is_paused {
        let reason = phase
            .state
            .pause_reason()
            .map_or_else(String::new, |reason| format!(": {}", excerpt(reason, 200)));
        text.push_str(&format!("Paused{reason}\n"));
    }
    let mut wave = None;
    for class in [
        Class::ReadyForIntegration,
        Class::Done,
        Class::InProgress,
        Class::RerunRequired,
        Class::Pending,
        Class::Gated,
    ] {
        if class == Class::RerunRequired {
            text.push_str(&shutdown_requests(judged));
        }
        for id in judged.of(class) {
            if wave != Some(class) {
                wave = Some(class);
                text.push_str(&format!("{}\n", class.as_str()));
            }
            text.push_str(&format!(
                "  {}  {id}{}\n",
                judged.name(id),
                remark(judged, id)
            ));
        }
    }
    if !phase.orphans.is_empty() {
        text.push_str("orphaned (left as they are)\n");
        for orphan in &phase.orphans {
            text.push_str(&format!("  {}\n", shown(&orphan.name)));
        }
    }
    for collision in &judged.collisions {
        text.push_str(&format!("collision  {}\n", collision_line(collision)));
    }
    text
}

/// The requests that the host is to send to dead workers, before their tasks run again.
fn shutdown_requests(judged: &Judged) -> String {
    let silent = judged.silent_hosts_workers();
    if silent.is_empty() {
        return String::new();
    }
    let mut text = format!("{SHUTDOWN_REQUEST} (for the host to send with SendMessage)\n");
    for (id, owner) in silent {
        text.push_str(&format!(
            "  to {}, the worker of {}{}\n",
            shown(owner),
            judged.name(id),
            remark(judged, id)
        ));
    }
    text
}

/// The details of a task after its class.
fn remark(judged: &Judged, id: &TaskId) -> String {
    let task = &judged.tasks[id];
    let pulse = task.pulse.as_ref().map(|pulse| {
        let stage = judged.phase.tasks[id].file.stage.as_ref();
        let stage = stage.map_or_else(String::new, |stage| {
            format!(" in {}", shown(stage.as_str()))
        });
        let age = pulse.age.map_or_else(
            || "no heartbeat".to_owned(),
            |age| format!("heartbeat {} old", minutes(age.as_secs().max(0))),
        );
        format!(
            "{age}{stage}, dead after {}",
            minutes(pulse.dead_after.as_secs())
        )
    });
    let text = match (task.verdict.rule, pulse) {
        (Rule::Alive | Rule::Dead | Rule::Paused, Some(pulse)) => pulse,
        (Rule::Landed, _) => judged.phase.tasks[id]
            .landed
            .as_ref()
            .map(|commit| format!("commit {}", short(&commit.id)))
            .unwrap_or_default(),
        (Rule::NeverStarted | Rule::BehindGate | Rule::Proven, _) => String::new(),
        _ => task.verdict.sentence.to_owned(),
    };
    let retries = match task.verdict.class {
        Class::RerunRequired => format!(
            ", {} of {} retries used",
            task.retries, judged.phase.config.max_retries
        ),
        Class::Done
        | Class::ReadyForIntegration
        | Class::InProgress
        | Class::Pending
        | Class::Gated => String::new(),
    };
    if text.is_empty() && retries.is_empty() {
        return String::new();
    }
    format!("  ({text}{retries})")
}

fn collision_line(collision: &Collision) -> String {
    let tasks: Vec<String> = collision.tasks.iter().map(ToString::to_string).collect();
    format!("{}: {}", collision.path, tasks.join(", "))
}

pub(super) fn collisions(collisions: &[Collision]) -> String {
    let shown: Vec<String> = collisions.iter().take(5).map(collision_line).collect();
    let more = collisions.len().saturating_sub(shown.len());
    let more = if more == 0 {
        String::new()
    } else {
        format!(" and {more} more")
    };
    format!(
        "finished tasks touch the same paths, so nothing is integrated: {}{more}",
        shown.join("; ")
    )
}

pub(super) fn stranger(name: &str, path: &GitPath) -> String {
    format!(
        "`{path}` on main has content that is neither the base of {name} nor the work of its worker, so it is not overwritten"
    )
}

pub(super) fn unread(finding: &Finding) -> String {
    let place = finding.place.as_ref();
    let place = place.map_or_else(String::new, |place| format!("`{place}`: "));
    format!(
        "a file could not be read, so some tasks may not be on main: {place}{}",
        finding.message
    )
}

pub(super) fn others_at_work(judged: &Judged, ids: &[&TaskId]) -> String {
    let is_late = |id: &&&TaskId| {
        let pulse = judged.tasks[**id].pulse;
        pulse.is_some_and(|pulse| pulse.tier != Tier::Healthy)
    };
    let names =
        |ids: Vec<&&TaskId>| -> Vec<String> { ids.into_iter().map(|id| judged.name(id)).collect() };
    let (late, fresh) = ids.iter().partition(is_late);
    let (late, fresh) = (names(late), names(fresh));
    let mut parts = Vec::new();
    if !fresh.is_empty() {
        parts.push(format!(
            "{} still at work with a fresh heartbeat",
            list(&fresh)
        ));
    }
    if !late.is_empty() {
        parts.push(format!(
            "{} still at work with a late heartbeat (past the warning threshold, not yet dead)",
            list(&late)
        ));
    }
    format!(
        "{}; until they end, nothing of the wave is integrated or requeued",
        parts.join("; ")
    )
}

pub(super) fn why_landing(name: &str) -> String {
    format!("{name} is finished and not on main yet")
}

/// Returns what would be done for a task with an agent.
fn would_launch(judged: &Judged, id: &TaskId) -> String {
    let task = &judged.tasks[id];
    let name = judged.name(id);
    match task.verdict.class {
        Class::RerunRequired if task.verdict.retry.is_some() => format!(
            "{name} would be launched again (retry {} of {})",
            task.retries + 1,
            judged.phase.config.max_retries
        ),
        Class::RerunRequired => format!("{name} would be launched again (no retry is spent)"),
        Class::Done
        | Class::ReadyForIntegration
        | Class::InProgress
        | Class::Pending
        | Class::Gated => format!("{name} would be launched"),
    }
}

/// Returns the tasks that would be launched, each as a sentence.
pub(super) fn launches(judged: &Judged) -> Vec<String> {
    let classes = [Class::RerunRequired, Class::Pending].into_iter();
    let ids = classes.flat_map(|class| judged.of(class));
    ids.map(|id| would_launch(judged, id)).collect()
}

/// Returns what would follow with an agent.
pub(super) fn without_agent(judged: &Judged) -> String {
    let launches = launches(judged);
    if launches.is_empty() {
        return "the gate of the wave would be opened".to_owned();
    }
    launches.join("; ")
}

/// Why a phase is halted, in one line.
pub(super) fn halt_reason(judged: &Judged) -> String {
    let phase = judged.phase.number;
    let (ordered, used_up): (Vec<&TaskId>, Vec<&TaskId>) = judged
        .exhausted()
        .into_iter()
        .partition(|id| judged.is_halted_by_operator(id));
    let names = |ids: &[&TaskId]| -> String {
        let names: Vec<String> = ids.iter().map(|id| judged.name(id)).collect();
        names.join(", ")
    };
    let mut reasons = Vec::new();
    if !used_up.is_empty() {
        reasons.push(format!("no retry is left for {}", names(&used_up)));
    }
    if !ordered.is_empty() {
        reasons.push(format!(
            "the operator ordered a halt of {} in the Task Retry Ledger",
            names(&ordered)
        ));
    }
    if reasons.is_empty() {
        reasons.push("its Step Status is `failed`".to_owned());
    }
    format!("phase {phase} is halted: {}", reasons.join("; "))
}

/// Returns a commit's id in short form.
pub(super) fn short(commit: &str) -> &str {
    commit.get(..10).unwrap_or(commit)
}

/// The failure message of a halted phase.
pub(super) fn halt(judged: &Judged) -> String {
    let phase = judged.phase.number;
    let step = judged.phase.state.step().unwrap_or_default();
    let step = shown(&step);
    let exhausted = judged.exhausted();
    if exhausted.is_empty() {
        return format!("Phase {phase} halted at {step}: STATE.md says that the step has failed.");
    }
    let tasks: Vec<String> = exhausted
        .iter()
        .map(|id| {
            let task = &judged.tasks[*id];
            let worktree = &judged.phase.tasks[*id].worktree;
            let when = if judged.is_halted_by_operator(id) {
                "by the operator's order".to_owned()
            } else {
                format!("after {} retries", task.retries)
            };
            format!(
                "{} ({id}) {when}: {}. Its worktree is kept at {}.",
                judged.name(id),
                task.verdict.sentence,
                printable(worktree.as_str())
            )
        })
        .collect();
    format!(
        "HALT: phase {phase} halted at {step}.\n{}",
        tasks.join("\n")
    )
}

pub(super) fn halt_hints(judged: &Judged) -> Vec<String> {
    let phase = judged.phase.number;
    vec![
        format!(
            "(a) fix it by hand, commit it as `phase-{phase}/<task>: …`, and set Step Status in .kiln/STATE.md back to in-progress"
        ),
        "(b) adjust the acceptance criteria; then lower the task's Retries in the Task Retry Ledger and set its Next Action to retry"
            .to_owned(),
        "(c) replan the phase".to_owned(),
    ]
}

/// Describes the gate that opens next and the tasks that wait for it.
pub(super) fn gate_to_open(judged: &Judged) -> String {
    let wave = judged.gate_to_open().map_or_else(String::new, wave_name);
    let waiting = match judged.of(Class::Gated).len() {
        0 => String::new(),
        1 => "; 1 task waits for it".to_owned(),
        n => format!("; {n} tasks wait for it"),
    };
    format!("open the gate of {wave}, whose tasks are all on main{waiting}")
}

pub(super) fn finished(judged: &Judged) -> String {
    let phase = judged.phase.number;
    if judged.tasks.is_empty() {
        return format!(
            "phase {phase} has no tasks in the task list, so there is no wave to recover"
        );
    }
    format!(
        "all {} tasks of phase {phase} are on main",
        judged.tasks.len()
    )
}

fn list(names: &[String]) -> String {
    match names {
        [] => "nobody is".to_owned(),
        [one] => format!("{one} is"),
        [all @ .., last] => format!("{} and {last} are", all.join(", ")),
    }
}
