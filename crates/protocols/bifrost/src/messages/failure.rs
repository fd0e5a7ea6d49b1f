//! The messages of resumes that fail.

use std::collections::BTreeSet;

use rekindle_model::{Code, Finding};
use rekindle_text::{excerpt, printable};

use super::super::assess::Judged;
use super::super::checkpoint::{Checkpoints, Entry};
use super::super::layout;
use super::super::read::{Halt, Presence, Why};
use super::timeline::shown;
use super::{hidden_checkpoint, legacy_warning, typed, when};

/// The content of the failure block.
struct Failure {
    reason: String,
    issue: String,
    options: Vec<String>,
    /// Lines about the checkpoint.
    details: Vec<String>,
    /// The session to look at.
    session: Option<String>,
}

impl Failure {
    /// Returns the prescribed block.
    fn text(&self) -> String {
        let mut text = format!(
            "❌ **RESUME FAILED**: {}\n\nIssue: {}\nImpact: Cannot resume workflow from this checkpoint\n\nRecovery Options:\n",
            self.reason, self.issue
        );
        for (number, option) in (1..).zip(&self.options) {
            text.push_str(&format!("{number}. {option}\n"));
        }
        if !self.details.is_empty() {
            text.push_str("\nCheckpoint Details:\n");
            for line in &self.details {
                text.push_str(&format!("- {line}\n"));
            }
        }
        if let Some(session) = &self.session {
            text.push_str(&format!(
                "\nGet help: Review `{session}` for checkpoint history\n"
            ));
        }
        text
    }
}

/// Returns the failure block of a feature.
pub(crate) fn failed(judged: &Judged) -> String {
    let feature = &judged.feature;
    let name = typed(&feature.name);
    let blockers: Vec<&Finding> = judged
        .findings
        .iter()
        .filter(|finding| finding.severity() == rekindle_model::Severity::Blocker)
        .collect();
    let codes: Vec<Code> = blockers.iter().map(|finding| finding.code).collect();
    let has = |code: Code| codes.contains(&code);
    let issues: Vec<String> = blockers
        .iter()
        .map(|finding| printable(&finding.message).into_owned())
        .collect();
    let mut options = Vec::new();
    if has(Code::ActiveError) {
        let blockers = feature.session.blockers();
        let open = blockers.iter().find(|blocker| !blocker.is_resolved());
        let next = open.and_then(|blocker| blocker.next.as_deref());
        let next = next.map_or_else(String::new, |next| format!(" ({})", excerpt(next, 200)));
        options.push(format!(
            "Continue the recovery{next}, set its Status to Resolved, then `rekindle resume {name}`"
        ));
    }
    for file in &feature.files {
        let path = excerpt(&file.path, 200);
        match (file.state, file.is_required) {
            (Presence::Absent, true) if feature.saved.contains(&file.path) => {
                let typed = typed(&file.path);
                options.push(format!("Restore {path}: `git checkout HEAD -- {typed}`"));
            }
            (Presence::Unreadable(reason), _) => {
                let again = format!("then `rekindle resume {name}`");
                options.push(format!("Make {path} readable ({reason}), {again}"));
            }
            (Presence::Placeholder, true) => {
                options.push(format!("Fill {path}: `/{} {name}`", file.made_by()));
            }
            (Presence::Absent, true) => options.push(format!(
                "Put {path} back where it was, then `rekindle resume {name}`"
            )),
            (Presence::Present | Presence::Absent | Presence::Placeholder, _) => {}
        }
    }
    if has(Code::ValidationFailed) {
        options.push(format!(
            "Fix the faults that the validators found, then `rekindle validate {name}`"
        ));
        options.push(format!("Resume without them: `rekindle resume {name}`"));
    }
    if let Some((path, _)) = feature.in_the_way() {
        options.push(format!("Put {path} out of the way: `mv {path} {path}.old`"));
    }
    // A rollback does not help if nothing can be written.
    let back = ways_back(judged);
    let back = back.first().filter(|_| !has(Code::UnreadableFile));
    options.extend(back.map(|entry| {
        format!(
            "Roll back: `rekindle resume {name} --checkpoint {}`",
            entry.name()
        )
    }));
    options.push(format!(
        "Look at all checkpoints: `rekindle checkpoints {name}`"
    ));
    let missing = judged.missing();
    let missing = if missing.is_empty() {
        "none".to_owned()
    } else {
        let shown: Vec<String> = missing.iter().map(|path| excerpt(path, 120)).collect();
        shown.join(", ")
    };
    let failure = Failure {
        reason: reason(judged, &codes).to_owned(),
        issue: issues.join("; "),
        options,
        details: vec![
            format!("ID: {}", feature.chosen.name()),
            format!("Timestamp: {}", when(judged)),
            format!("Phase: {}", judged.phase.as_str()),
            format!("Missing artifacts: {missing}"),
        ],
        session: Some(printable(feature.session_path.as_str()).into_owned()),
    };
    let mut text = super::preface(judged);
    text.push_str(&failure.text());
    text.push_str(&history(&feature.checkpoints));
    text
}

/// Returns the most severe reason in a few words.
fn reason(judged: &Judged, codes: &[Code]) -> &'static str {
    if codes.contains(&Code::ActiveError) {
        "An error is still active"
    } else if codes.contains(&Code::MissingCritical) {
        "Critical artifacts are missing"
    } else if codes.contains(&Code::PlaceholderArtifact) {
        "A required artifact was never filled in"
    } else if codes.contains(&Code::ValidationFailed) {
        "Validation failed"
    } else if judged.feature.in_the_way().is_some() {
        "The state cannot be written"
    } else {
        "A required artifact cannot be read"
    }
}

/// Returns the checkpoints whose files exist, newest first.
fn ways_back(judged: &Judged) -> Vec<&Entry> {
    let feature = &judged.feature;
    let unusable: BTreeSet<&str> = feature
        .files
        .iter()
        .filter(|file| file.state != Presence::Present)
        .map(|file| file.path.as_str())
        .collect();
    let is_way = |entry: &&Entry| {
        let needs = entry.phase.map(|phase| phase.needs().required);
        let has_all = needs.is_some_and(|needs| {
            let mut paths = needs.iter().map(|file| layout::file(&feature.name, file));
            paths.all(|path| !unusable.contains(path.as_str()))
        });
        entry.is_valid() && entry.id != feature.chosen.id && has_all
    };
    let latest_first = feature.checkpoints.all().into_iter();
    latest_first.filter(is_way).collect()
}

/// Returns the message about a feature that cannot be read.
pub(crate) fn halted(halt: &Halt, findings: &[Finding]) -> String {
    let feature = halt.feature.as_deref().unwrap_or_default();
    let name = typed(feature);
    let session = halt.session_path.as_ref();
    let warning = session
        .map(|path| legacy_warning(feature, path))
        .unwrap_or_default();
    let session = session.map(|path| printable(path.as_str()).into_owned());
    let list = |command: &str| format!("Look at all checkpoints: `{command}`");
    let latest = halt.checkpoints.latest.as_ref();
    let is_way = |entry: &&Entry| entry.is_valid() && Some(*entry) != latest;
    let newest = halt.checkpoints.all().into_iter().find(is_way);
    let back = newest.map(|entry| {
        format!(
            "Go back to one that can be read: `rekindle resume {name} --checkpoint {}`",
            entry.name()
        )
    });
    let spec = format!("Start over: `/spec {name}`");
    let (reason, options) = match &halt.why {
        Why::NoSession => {
            return format!(
                "❌ ERROR: No session memory found (tried {} and {}). Cannot resume without previous session context. Start new feature with `/spec`.\n",
                printable(layout::session(feature).as_str()),
                layout::LEGACY_SESSION
            );
        }
        Why::NoCheckpoint { hidden } => {
            let hidden = hidden.map_or_else(String::new, |at| {
                format!("Look there first: {}.\n", hidden_checkpoint(at))
            });
            return format!(
                "{warning}❌ ERROR: No valid checkpoint found in session memory. Start workflow with `/spec {name}`.\n{hidden}"
            );
        }
        Why::BadName { .. } => (
            "The feature's name is not valid",
            vec!["Choose from a list: `rekindle resume`".to_owned()],
        ),
        Why::NoFeatures => ("There is no feature", vec!["Start one: `/spec`".to_owned()]),
        Why::Corrupt { .. } => {
            let path = session.clone().unwrap_or_default();
            let as_typed = typed(&path);
            let saved = [
                format!("Bring an earlier version back: `git checkout HEAD -- {as_typed}`"),
                format!("See what was saved: `git log --oneline -- {as_typed}`"),
            ];
            let saved = saved.into_iter().filter(|_| halt.is_session_saved);
            let again = format!("Fix {path}, then `rekindle resume {name}`");
            let options = saved.chain([again, spec]).collect();
            ("The session memory is corrupted", options)
        }
        Why::OtherFeature { named } => {
            let named = typed(named);
            let options = vec![
                format!("Resume that one: `rekindle resume {named}`"),
                format!("Give it a session of its own: `rekindle migrate {named}`"),
                spec,
            ];
            ("The legacy session is another feature's", options)
        }
        Why::CorruptCheckpoint { .. } => {
            let new = format!(
                "Make a new one of the current state: `rekindle checkpoint {name} -m TEXT`"
            );
            let options = back
                .into_iter()
                .chain([list(&format!("rekindle checkpoints {name}")), new]);
            ("The latest checkpoint is corrupted", options.collect())
        }
        Why::UnknownCheckpoint { .. } => {
            let is_readable = latest.is_some_and(Entry::is_valid);
            let latest = format!("Resume from the latest: `rekindle resume {name}`");
            let latest = is_readable.then_some(latest);
            let options = latest.into_iter().chain(back);
            let options = options.chain([list(&format!("rekindle checkpoints {name}"))]);
            ("There is no such checkpoint", options.collect())
        }
    };
    let details = latest.map_or_else(Vec::new, |latest| {
        let phase = latest
            .phase
            .map_or("unknown", super::super::phase::Phase::as_str);
        vec![
            format!("ID: {}", latest.name()),
            format!("Timestamp: {}", excerpt(&latest.when, 40)),
            format!("Phase: {phase}"),
        ]
    });
    let failure = Failure {
        reason: reason.to_owned(),
        issue: findings
            .first()
            .map_or_else(String::new, |why| printable(&why.message).into_owned()),
        options,
        details,
        session,
    };
    format!("{warning}{}{}", failure.text(), history(&halt.checkpoints))
}

/// Returns the checkpoints in the prescribed form, newest first.
fn history(checkpoints: &Checkpoints) -> String {
    let all = checkpoints.all();
    if all.is_empty() {
        return String::new();
    }
    let lines = all.into_iter().map(shown);
    format!("\nCheckpoint history:\n{}", lines.collect::<String>())
}
