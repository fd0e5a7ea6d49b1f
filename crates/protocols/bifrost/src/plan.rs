//! Verdict and intent to plan: the summary and the question, then marker and session in one go.
//!
//! The edits of a resume stand in one plan, so that a killed resume leaves both files old or, after
//! the next start, both new. What would not be read back as it is meant is not written.

use std::collections::BTreeSet;

use camino::Utf8PathBuf;
use rekindle_model::{
    Action, AgentTask, Confirmation, Ended, Intent, Offer, OfferKind, Permission, Plan, Step, Stop,
    StopKind, Then, WorkflowId,
};
use rekindle_text::excerpt;

use super::assess::Judged;
use super::checkpoint::{Checkpoints, Entry};
use super::read::MarkerFile;
use super::session::{HistoryEntry, Session};
use super::{layout, noticed, record, rollback, words};

/// Returns what is due, or `None` where the intent is none of this protocol's.
pub(super) fn plan(judged: &Judged, intent: &Intent) -> Option<Plan> {
    let name = &judged.feature.name;
    match intent {
        Intent::Open if noticed::is_blocked(&judged.findings) => {
            let mut gravest_first = judged.findings.iter();
            let reason = gravest_first.next().map_or("", |finding| &finding.message);
            Some(only_says(name, reason, &words::failed(judged)))
        }
        Intent::Open => Some(open(judged)),
        Intent::GoOn { .. } => Some(go_on(judged)),
        Intent::Settle { task, ended, .. } => Some(settle(judged, task, ended)),
        Intent::Checkpoint { note } => Some(record::checkpoint(judged, note)),
        Intent::Answer { .. }
        | Intent::Checked { .. }
        | Intent::Finish { .. }
        | Intent::Report(_) => None,
    }
}

/// Returns the plan of a feature that says only one thing and stops.
pub(super) fn only_says(name: &str, reason: &str, text: &str) -> Plan {
    let mut plan = plan_of(name, Vec::new(), stop(StopKind::Blocked, reason));
    text.clone_into(&mut plan.before_asking);
    plan
}

pub(super) fn plan_of(name: &str, steps: Vec<Step>, then: Then) -> Plan {
    Plan {
        id: WorkflowId::new(crate::NAME, name),
        steps,
        log: Utf8PathBuf::new(),
        then,
        ahead: Vec::new(),
        before_asking: String::new(),
        permission: Permission::Ask,
        without_agent: None,
        notes: Vec::new(),
    }
}

pub(super) fn stop(kind: StopKind, reason: &str) -> Then {
    Then::Stop(ending(kind, reason))
}

fn ending(kind: StopKind, reason: &str) -> Stop {
    Stop {
        kind,
        reason: reason.to_owned(),
        hints: Vec::new(),
    }
}

fn open(judged: &Judged) -> Plan {
    let feature = &judged.feature;
    let Some((session, moved)) = resumed(judged) else {
        let reason = "the session has no place for a resume that could be read back";
        let text = format!("❌ **RESUME FAILED**: {reason}\n");
        return only_says(&feature.name, reason, &text);
    };
    let mut steps = backup(judged);
    steps.extend(record::kept(feature, &moved));
    steps.push(write_session(
        judged,
        &session,
        "the feature is taken up again",
    ));
    steps.extend(write_marker(judged));
    steps.push(Step {
        action: Action::Print(words::closing(judged)),
        why: "that the workflow is resumed".to_owned(),
    });
    let mut plan = plan_of(&feature.name, steps, Then::Again);
    plan.before_asking = words::opening(judged);
    plan.ahead = vec![format!(
        "an agent, where one is configured, is started with `{}`",
        judged.next.command
    )];
    plan.permission = Permission::AskWith(Confirmation {
        question: words::QUESTION.to_owned(),
        details: words::details(judged),
        offers: offers(judged),
    });
    plan
}

/// Returns the session as a yes leaves it, and what leaves it for the archive; nothing if it could not
/// be read back.
fn resumed(judged: &Judged) -> Option<(Session, Vec<String>)> {
    let feature = &judged.feature;
    let mut session = feature.session.in_phase(judged.phase);
    if judged.is_restored() {
        session = rollback::restored(judged);
    }
    let mut said = vec![words::history_line(judged)];
    let mut moved = Vec::new();
    if judged.is_compacted() {
        let (shorter, compacted) = record::compacted(&session, n_history(judged));
        session = shorter;
        said.push(words::compaction_line(judged, &compacted));
        moved = compacted.moved();
    }
    if judged.is_refreshed() {
        session = session.with_time_of_latest(&words::minute(feature.now));
        said.push(words::refresh_line(judged));
    }
    let day = feature.now.date().to_string();
    let (session, cut) = session.resumed(&day, &said);
    moved.extend(cut.iter().map(|text| record::archived(text)));
    is_consistent(judged, &session).then_some((session, moved))
}

/// Returns how many entries of the history a compaction leaves room for, next to its own line, that of
/// the resume and that of a new timestamp.
fn n_history(judged: &Judged) -> usize {
    let n_own = if judged.is_refreshed() { 3 } else { 2 };
    record::MOST - n_own
}

/// Returns what a person is offered besides: to compact the session, to update the timestamp.
fn offers(judged: &Judged) -> Vec<Offer> {
    let mut offers = Vec::new();
    if judged.is_context_high() && !judged.is_compacted() {
        let (_, compacted) = record::compacted(&judged.feature.session, n_history(judged));
        if !compacted.is_empty() {
            offers.push(Offer {
                kind: OfferKind::CompactSession,
                question: words::compaction_offer(judged, &compacted),
            });
        }
    }
    if judged.is_valid_though_stale() && !judged.is_refreshed() {
        offers.push(Offer {
            kind: OfferKind::UpdateTimestamp,
            question: words::refresh_offer(judged),
        });
    }
    offers
}

/// Returns whether the session says after the edit what it must say.
fn is_consistent(judged: &Judged, session: &Session) -> bool {
    let before = &judged.feature.checkpoints;
    let after = Checkpoints::read(session);
    let chosen = &judged.feature.chosen;
    let is_chosen = |latest: &Entry| {
        latest.id == chosen.id
            && latest.phase == chosen.phase
            && latest.is_complete() == chosen.is_complete()
            && latest.fields == chosen.fields
    };
    let keeps_all = || {
        let ids = |all: &Checkpoints| -> BTreeSet<String> {
            let all = all.all();
            all.iter().filter_map(|entry| entry.id.clone()).collect()
        };
        // A compaction archives old ones.
        judged.is_compacted() || ids(before).is_subset(&ids(&after))
    };
    session.focus("Status") == Some("Resuming")
        && session
            .history()
            .first()
            .is_some_and(HistoryEntry::is_resume)
        && after.latest.as_ref().is_some_and(is_chosen)
        && keeps_all()
}

/// Keeps what a rollback replaces.
fn backup(judged: &Judged) -> Vec<Step> {
    if !judged.is_restored() {
        return Vec::new();
    }
    let feature = &judged.feature;
    let keep = |name: &str, contents: &[u8]| Step {
        action: Action::Create {
            path: feature.backup.join(name),
            contents: contents.to_vec(),
        },
        why: "what the rollback replaces is kept".to_owned(),
    };
    let session = keep("session.md", feature.session.bytes());
    let marker = match &feature.marker {
        MarkerFile::Present(bytes) => Some(keep("active-workflow", bytes)),
        MarkerFile::Absent | MarkerFile::Odd(..) => None,
    };
    [session].into_iter().chain(marker).collect()
}

pub(super) fn write_session(judged: &Judged, session: &Session, why: &str) -> Step {
    let feature = &judged.feature;
    Step {
        action: Action::Edit {
            path: feature.session_path.clone(),
            before: feature.session.bytes().to_vec(),
            after: session.bytes().to_vec(),
        },
        why: why.to_owned(),
    }
}

fn write_marker(judged: &Judged) -> Option<Step> {
    let marker = judged.marker().into_bytes();
    let path = Utf8PathBuf::from(layout::MARKER);
    let action = match &judged.feature.marker {
        MarkerFile::Present(bytes) if *bytes == marker => return None,
        MarkerFile::Present(bytes) => Action::Edit {
            path,
            before: bytes.clone(),
            after: marker,
        },
        MarkerFile::Absent => Action::Create {
            path,
            contents: marker,
        },
        // It is a blocker, so there is no plan that gets here.
        MarkerFile::Odd(..) => return None,
    };
    Some(Step {
        action,
        why: "the checkpoint says which feature and phase are active".to_owned(),
    })
}

/// Hands the command to an agent; without one the mandated block was the last word.
fn go_on(judged: &Judged) -> Plan {
    let command = &judged.next.command;
    let task = AgentTask {
        role: "executor",
        task: None,
        attempt: 1,
        summary: format!("run {}", excerpt(command, 200)),
        prompt: command.clone(),
        checks: Vec::new(),
        by_hand: Vec::new(),
        seen: Some(known(judged).join("\n")),
    };
    let mut plan = plan_of(&judged.feature.name, Vec::new(), Then::Agent(task));
    plan.without_agent = Some(ending(StopKind::Said, &format!("next: {command}")));
    plan
}

/// Returns the checkpoints of a session, each with its time.
fn known(judged: &Judged) -> Vec<String> {
    let all = judged.feature.checkpoints.all();
    let shown = |entry: &&Entry| format!("{} {}", entry.name(), entry.when);
    all.iter().map(shown).collect()
}

/// The seed stops after its one command; going on is another resume.
///
/// That an agent ended without an error proves nothing: the workflow's commands end with a checkpoint.
fn settle(judged: &Judged, task: &AgentTask, ended: &Ended) -> Plan {
    let name = &judged.feature.name;
    let command = excerpt(&task.prompt, 200);
    let again = format!(
        "`rekindle resume {}` goes on from there",
        words::typed(name)
    );
    let before = task.seen.as_deref().unwrap_or_default();
    let after = known(judged);
    let is_new = |shown: &String| !before.lines().any(|known| known == shown);
    let made = after.iter().position(is_new);
    let made = made.and_then(|at| judged.feature.checkpoints.all().get(at).copied().cloned());
    let (kind, reason) = match (ended, made) {
        (Ended::Succeeded, Some(made)) => (
            StopKind::Done,
            format!(
                "{command} is done: {}; {again}",
                excerpt(&made.shown(), 200)
            ),
        ),
        (Ended::Succeeded, None) => (
            StopKind::Waiting,
            format!(
                "{command} ended without an error, and the session has no new checkpoint{}; look at what it did, then {again}",
                words::task_state(judged, task)
            ),
        ),
        (Ended::Failed { reason } | Ended::CheckFailed { reason, .. }, _) => (
            StopKind::Blocked,
            format!(
                "{command} did not succeed: {}; {again}",
                excerpt(reason, 200)
            ),
        ),
    };
    plan_of(name, Vec::new(), stop(kind, &reason))
}

#[cfg(test)]
#[path = "plan_tests.rs"]
mod tests;
