//! Verdict and intent to plan: the summary and the question, then the marker and the session.
//!
//! Both edits are in one plan, so after a crash both files are old or, after the next start, both
//! new. An edit that would not be read back correctly is not made.

use std::collections::BTreeSet;

use camino::Utf8PathBuf;
use rekindle_model::{
    Action, AgentTask, Confirmation, Ended, Intent, Offer, OfferKind, Permission, Plan, Step, Stop,
    StopKind, Then,
};
use rekindle_text::excerpt;

use super::assess::Judged;
use super::checkpoint::{Checkpoints, Entry};
use super::read::MarkerFile;
use super::session::{HistoryEntry, Session};
use super::{findings, id, layout, messages, record, rollback};

/// Returns the plan for an intent, or `None` if this protocol has none for it.
pub(super) fn plan(judged: &Judged, intent: &Intent) -> Option<Plan> {
    let name = &judged.feature.name;
    match intent {
        Intent::Open if findings::is_blocked(&judged.findings) => {
            let mut gravest_first = judged.findings.iter();
            let reason = gravest_first.next().map_or("", |finding| &finding.message);
            Some(only_says(name, reason, &messages::failed(judged)))
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

/// Returns a plan that prints a message and stops.
pub(super) fn only_says(name: &str, reason: &str, text: &str) -> Plan {
    Plan {
        before_asking: text.to_owned(),
        ..Plan::only(id(name), Stop::new(StopKind::Blocked, reason))
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
    steps.push(write_session(judged, &session, "the feature is resumed"));
    steps.extend(write_marker(judged));
    steps.push(Step::print(
        messages::closing(judged),
        "the workflow is resumed",
    ));
    Plan {
        before_asking: messages::opening(judged),
        ahead: vec![format!(
            "an agent, if one is configured, is started with `{}`",
            judged.next.command
        )],
        permission: Permission::AskWith(Confirmation {
            question: messages::QUESTION.to_owned(),
            details: messages::details(judged),
            offers: offers(judged),
        }),
        ..Plan::new(id(&feature.name), steps, Then::Again)
    }
}

/// Returns the resumed session and the entries for the archive; `None` if the session would not be
/// read back correctly.
fn resumed(judged: &Judged) -> Option<(Session, Vec<String>)> {
    let feature = &judged.feature;
    let mut session = feature.session.in_phase(judged.phase);
    if judged.is_restored() {
        session = rollback::restored(judged);
    }
    let mut said = vec![messages::history_line(judged)];
    let mut moved = Vec::new();
    if judged.is_compacted() {
        let (shorter, compacted) = record::compacted(&session, n_history(judged));
        session = shorter;
        said.push(messages::compaction_line(judged, &compacted));
        moved = compacted.moved();
    }
    if judged.is_refreshed() {
        session = session.with_time_of_latest(&messages::minute(feature.now));
        said.push(messages::refresh_line(judged));
    }
    let day = feature.now.date().to_string();
    let (session, cut) = session.resumed(&day, &said);
    moved.extend(cut.iter().map(|text| record::archived(text)));
    is_consistent(judged, &session).then_some((session, moved))
}

/// Returns how many history entries a compaction keeps, next to the new ones.
fn n_history(judged: &Judged) -> usize {
    let n_own = if judged.is_refreshed() { 3 } else { 2 };
    record::MOST - n_own
}

/// Returns the offers: to compact the session, to update the timestamp.
fn offers(judged: &Judged) -> Vec<Offer> {
    let mut offers = Vec::new();
    if judged.is_context_high() && !judged.is_compacted() {
        let (_, compacted) = record::compacted(&judged.feature.session, n_history(judged));
        if !compacted.is_empty() {
            offers.push(Offer {
                kind: OfferKind::CompactSession,
                question: messages::compaction_offer(judged, &compacted),
            });
        }
    }
    if judged.is_valid_though_stale() && !judged.is_refreshed() {
        offers.push(Offer {
            kind: OfferKind::UpdateTimestamp,
            question: messages::refresh_offer(judged),
        });
    }
    offers
}

/// Returns whether the edited session is read back correctly.
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

/// Saves the files that a rollback replaces.
fn backup(judged: &Judged) -> Vec<Step> {
    if !judged.is_restored() {
        return Vec::new();
    }
    let feature = &judged.feature;
    let keep = |name: &str, contents: &[u8]| {
        let (path, contents) = (feature.backup.join(name), contents.to_vec());
        let create = Action::Create { path, contents };
        Step::new(create, "the rollback saves what it replaces")
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
    let edit = Action::Edit {
        path: feature.session_path.clone(),
        before: feature.session.bytes().to_vec(),
        after: session.bytes().to_vec(),
    };
    Step::new(edit, why)
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
        // A blocker, so there is no such plan.
        MarkerFile::Odd(..) => return None,
    };
    let why = "the checkpoint says which feature and phase are active";
    Some(Step::new(action, why))
}

/// Hands the command to an agent; without one the printed block is the end.
fn go_on(judged: &Judged) -> Plan {
    let command = &judged.next.command;
    let summary = format!("run {}", excerpt(command, 200));
    let task = AgentTask {
        seen: Some(known(judged).join("\n")),
        ..AgentTask::new("executor", summary, command)
    };
    Plan {
        without_agent: Some(Stop::new(StopKind::Said, format!("next: {command}"))),
        ..Plan::only(id(&judged.feature.name), task)
    }
}

/// Returns the checkpoints of a session, each with its time.
fn known(judged: &Judged) -> Vec<String> {
    let all = judged.feature.checkpoints.all();
    let shown = |entry: &&Entry| format!("{} {}", entry.name(), entry.when);
    all.iter().map(shown).collect()
}

/// Ends the resume after its one command; only a new checkpoint shows that the command did its
/// work.
fn settle(judged: &Judged, task: &AgentTask, ended: &Ended) -> Plan {
    let name = &judged.feature.name;
    let command = excerpt(&task.prompt, 200);
    let again = format!(
        "`rekindle resume {}` continues from there",
        messages::typed(name)
    );
    let before = task.seen.as_deref().unwrap_or_default();
    let after = known(judged);
    let is_new = |shown: &String| !before.lines().any(|known| known == shown);
    let made = after.iter().position(is_new);
    let made = made.and_then(|at| judged.feature.checkpoints.all().get(at).copied().cloned());
    let stop = match (ended, made) {
        (Ended::Succeeded, Some(made)) => {
            let made = excerpt(&made.shown(), 200);
            Stop::new(
                StopKind::Done,
                format!("{command} is done: {made}; {again}"),
            )
        }
        (Ended::Succeeded, None) => {
            let state = messages::task_state(judged, task);
            Stop::new(
                StopKind::Waiting,
                format!(
                    "{command} ended without an error but made no checkpoint{state}; check its work, then {again}"
                ),
            )
        }
        (Ended::Failed { reason } | Ended::CheckFailed { reason, .. }, _) => {
            let reason = excerpt(reason, 200);
            Stop::new(
                StopKind::Blocked,
                format!("{command} failed: {reason}; {again}"),
            )
        }
    };
    Plan::only(id(name), stop)
}

#[cfg(test)]
#[path = "record_tests.rs"]
mod record_tests;
#[cfg(test)]
#[path = "plan_tests.rs"]
mod tests;
