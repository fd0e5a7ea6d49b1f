//! Verdict and intent to plan: the summary and the question, then marker and session in one go.
//!
//! The edits of a resume stand in one plan, so that a killed resume leaves both files old or, after
//! the next start, both new. What would not be read back as it is meant is not written.

use camino::Utf8PathBuf;
use rekindle_model::{
    Action, AgentTask, Confirmation, Ended, Intent, Plan, ProtocolName, Step, Stop, StopKind, Then,
    WorkflowId,
};
use rekindle_text::excerpt;

use super::assess::Judged;
use super::checkpoint::Checkpoints;
use super::read::MarkerFile;
use super::session::{HistoryEntry, Session};
use super::{layout, noticed, record, words};

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
        Intent::Settle { task, ended, .. } => Some(settle(name, task, ended)),
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
        id: WorkflowId::new(ProtocolName::Bifrost, name),
        steps,
        log: Utf8PathBuf::new(),
        then,
        ahead: Vec::new(),
        before_asking: String::new(),
        confirmation: None,
        without_agent: None,
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
    let day = feature.now.date().to_string();
    let mut session = feature.session.resumed(&day, &words::history_line(judged));
    if judged.is_rollback() {
        session = session.in_phase(judged.phase);
    }
    if !is_consistent(judged, &session) {
        let reason = "the session has no place for a resume that could be read back";
        let text = format!("❌ **RESUME FAILED**: {reason}\n");
        return only_says(&feature.name, reason, &text);
    }
    let mut steps = backup(judged);
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
    plan.confirmation = Some(Confirmation {
        question: words::QUESTION.to_owned(),
        details: words::details(judged),
    });
    plan
}

/// Returns whether the session says after the edit what it must say.
fn is_consistent(judged: &Judged, session: &Session) -> bool {
    let before = &judged.feature.checkpoints;
    let after = Checkpoints::read(session);
    let same_ids = || {
        let ids = |all: &Checkpoints| -> Vec<Option<String>> {
            all.all().iter().map(|entry| entry.id.clone()).collect()
        };
        ids(before) == ids(&after)
    };
    session.focus("Status") == Some("Resuming")
        && session
            .history()
            .first()
            .is_some_and(HistoryEntry::is_resume)
        && same_ids()
}

/// Keeps what a rollback replaces.
fn backup(judged: &Judged) -> Vec<Step> {
    if !judged.is_rollback() {
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
        seen: None,
    };
    let mut plan = plan_of(&judged.feature.name, Vec::new(), Then::Agent(task));
    plan.without_agent = Some(ending(StopKind::Said, &format!("next: {command}")));
    plan
}

/// The seed stops after its one command; going on is another resume.
fn settle(name: &str, task: &AgentTask, ended: &Ended) -> Plan {
    let command = excerpt(&task.prompt, 200);
    let again = format!("`rekindle resume {}` goes on from there", excerpt(name, 80));
    let (kind, reason) = match ended {
        Ended::Succeeded => (StopKind::Done, format!("{command} is done; {again}")),
        Ended::Failed { reason } | Ended::CheckFailed { reason, .. } => (
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
