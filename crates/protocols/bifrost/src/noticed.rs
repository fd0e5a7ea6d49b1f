//! What stands against a resume, and what is odd, each by itself.

use camino::Utf8Path;
use jiff::civil::{Date, DateTime};
use rekindle_model::{Code, Finding, Place, Severity};
use rekindle_text::excerpt;

use super::assess::{HIGH_CONTEXT, Judged};
use super::layout;
use super::next::Stale;
use super::phase::Phase;
use super::read::{Halt, MarkerFile, Presence, Why};
use super::tasks::told_complete;
use super::words::{hidden_checkpoint, typed};

/// How many checkpoints a session keeps, and how many entries its history.
const MOST: usize = 5;
const DAY: i64 = 24 * 60;
/// How many findings of one kind are told; real sessions have a handful.
const MOST_TOLD: usize = 20;

/// Returns the findings of a feature, the gravest first.
pub(super) fn noticed(judged: &Judged) -> Vec<Finding> {
    let mut findings = Vec::new();
    files(judged, &mut findings);
    errors(judged, &mut findings);
    session(judged, &mut findings);
    checkpoint(judged, &mut findings);
    age(judged, &mut findings);
    marker(judged, &mut findings);
    tasks(judged, &mut findings);
    notes(judged, &mut findings);
    findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity()));
    findings
}

fn files(judged: &Judged, findings: &mut Vec<Finding>) {
    let feature = &judged.feature;
    for file in &feature.files {
        let path = excerpt(&file.path, 200);
        let place = Place::path(file.path.as_str());
        let finding = match (file.state, file.is_required) {
            (Presence::Present, _) => continue,
            (Presence::Absent, true) => Finding::new(
                Code::MissingCritical,
                format!(
                    "the {} phase requires `{path}`, which is not there",
                    judged.phase.as_str()
                ),
            )
            .hint(if feature.saved.contains(&file.path) {
                format!(
                    "bring it back with `git checkout HEAD -- {}`",
                    typed(&file.path)
                )
            } else {
                "bring it back, or go back to an earlier checkpoint".to_owned()
            })
            .at(place),
            (Presence::Unreadable(reason), _) => Finding::new(
                Code::UnreadableFile,
                format!(
                    "the {} phase requires `{path}`, which is there and can not be read: {reason}",
                    judged.phase.as_str()
                ),
            )
            .hint("make it a file that can be read")
            .at(place),
            (Presence::Placeholder, true) => {
                let name = &feature.name;
                let made_by = if file.path.ends_with("plan.md") {
                    "plan"
                } else {
                    "tasks"
                };
                Finding::new(
                    Code::PlaceholderArtifact,
                    format!("`{path}` is still the placeholder that `/spec` left"),
                )
                .hint(format!("fill it with `/{made_by} {}`", typed(name)))
                .at(place)
            }
            (Presence::Absent | Presence::Placeholder, false) => Finding::new(
                Code::MissingArtifact,
                format!("the checkpoint names `{path}`, which is not there"),
            )
            .at(Place::path(&feature.session_path)),
        };
        findings.push(finding);
    }
    let faults = judged.validations.iter().filter(|found| !found.is_valid);
    let faults: Vec<String> = faults
        .map(|found| format!("`{}`: {}", found.path, found.faults.join("; ")))
        .collect();
    if !faults.is_empty() {
        let message = format!("a validator failed: {}", excerpt(&faults.join("; "), 400));
        let name = typed(&feature.name);
        let hint = format!("mend it, then run `rekindle validate {name}`");
        findings.push(Finding::new(Code::ValidationFailed, message).hint(hint));
    }
    if let Some((path, reason)) = feature.in_the_way() {
        let message = match feature.marker {
            MarkerFile::Odd(..) => format!("the marker can not be used: {reason}"),
            MarkerFile::Absent | MarkerFile::Present(_) => {
                format!("what a rollback replaces can not be kept in `{path}`: {reason}")
            }
        };
        findings.push(Finding::new(Code::UnreadableFile, message).at(Place::path(path)));
    }
}

fn errors(judged: &Judged, findings: &mut Vec<Finding>) {
    // Going back to an earlier checkpoint is one of the two ways out.
    if !judged.has_active_error() || judged.is_rollback() {
        return;
    }
    let feature = &judged.feature;
    let blockers = feature.session.blockers();
    let open = blockers.iter().find(|blocker| !blocker.is_resolved());
    let (message, place) = match open {
        Some(blocker) => (
            format!(
                "an error is not resolved ({}): {}",
                excerpt(blocker.status.as_deref().unwrap_or("no status"), 80),
                excerpt(&blocker.title, 200)
            ),
            line_of(&feature.session_path, blocker.at),
        ),
        None => (
            "the session is in error recovery, and nothing says that it is over".to_owned(),
            Place::path(&feature.session_path),
        ),
    };
    let finding = Finding::new(Code::ActiveError, message).at(place);
    findings.push(finding.hint("go on with the recovery until its status is `Resolved`, or go back to an earlier checkpoint"));
}

fn session(judged: &Judged, findings: &mut Vec<Finding>) {
    let feature = &judged.feature;
    let path = &feature.session_path;
    findings.extend(legacy(&feature.name, path));
    let said = |text: Option<&str>| {
        text.filter(|text| Phase::is_misspelled(text))
            .map(str::to_owned)
    };
    let of_checkpoint = said(feature.chosen.fields.phase.as_deref());
    let of_focus = said(feature.session.focus("Phase"));
    if let Some(text) = of_checkpoint.or(of_focus) {
        let message = format!(
            "`{}` is no name of a phase; it is read as another word for one",
            excerpt(&text, 80)
        );
        findings.push(Finding::new(Code::PhaseNoncanonical, message).at(Place::path(path)));
    }
    if judged.is_context_high() && !feature.asked.fresh {
        let recorded = feature
            .chosen
            .context()
            .filter(|found| *found > HIGH_CONTEXT);
        let (context, how) = match recorded {
            Some(context) => (context, "at the checkpoint"),
            None => (
                feature.estimated_context,
                "by what the feature's pages hold",
            ),
        };
        let message = format!("the context is {context}% full {how}");
        let hint = format!(
            "`rekindle resume {} --fresh` shows only what is needed",
            typed(&feature.name)
        );
        findings.push(Finding::new(Code::HighContext, message).hint(hint));
    }
}

fn checkpoint(judged: &Judged, findings: &mut Vec<Finding>) {
    let feature = &judged.feature;
    let (chosen, checkpoints) = (&feature.chosen, &feature.checkpoints);
    let place = line_of(&feature.session_path, chosen.line);
    let missing = chosen.fields.missing();
    if !chosen.fields.is_empty() && !missing.is_empty() {
        let message = format!("{} lacks {}", chosen.name(), missing.join(", "));
        findings.push(Finding::new(Code::IncompleteMetadata, message).at(place.clone()));
    }
    if judged.is_rollback() {
        let message = format!("{} is not the latest checkpoint", chosen.name());
        findings.push(Finding::new(Code::Rollback, message).at(place));
    }
    if checkpoints.is_plain {
        return;
    }
    if checkpoints.history.len() > MOST {
        let message = format!(
            "the history keeps {} checkpoints",
            checkpoints.history.len()
        );
        let name = typed(&feature.name);
        let hint = format!(
            "`rekindle checkpoints {name} --archive` moves all but the newest {MOST} to a file of their own"
        );
        findings.push(Finding::new(Code::HistoryOverflow, message).hint(hint));
    }
    let mut history = checkpoints.history.iter();
    if let Some(latest) = &checkpoints.latest
        && latest.id.is_some()
        && !checkpoints.history.is_empty()
        && !history.any(|entry| entry.id == latest.id)
    {
        let message = format!(
            "{} is the latest checkpoint and not in the history",
            latest.name()
        );
        findings.push(
            Finding::new(Code::LatestNotInHistory, message)
                .at(line_of(&feature.session_path, latest.line)),
        );
    }
}

fn age(judged: &Judged, findings: &mut Vec<Finding>) {
    let feature = &judged.feature;
    let name = feature.chosen.name();
    let minutes = judged.age_minutes;
    if minutes < 0 {
        let message =
            format!("{name} lies in the future, so nothing can be told from the times of files");
        findings.push(Finding::new(Code::FutureTimestamp, message));
    } else if judged.is_stale() {
        let (code, words) = if minutes > 30 * DAY {
            (Code::Stale30d, "suspiciously old")
        } else {
            (Code::Stale7d, "old")
        };
        let message = format!("{name} is {words}: {} days", judged.age_days());
        findings.push(Finding::new(code, message).hint(judged.phase.needs().when_stale));
    }
    if judged.modified.is_empty() {
        return;
    }
    let (all, n) = (feature.files.len(), judged.modified.len());
    let mut message = if n > 3 {
        format!("{n} of {all} files were written after {name}")
    } else {
        let paths = judged
            .modified
            .iter()
            .map(|path| format!("`{}`", excerpt(path, 120)));
        let paths: Vec<String> = paths.collect();
        format!("written after {name}: {}", paths.join(", "))
    };
    let tasks_file = layout::file(&feature.name, "tasks.md");
    let is_tasks = |path: &String| path.as_str() == tasks_file.as_str();
    let interrupted = feature.tasks.as_ref().and_then(|tasks| tasks.in_progress());
    if let Some(task) = interrupted
        && judged.phase == Phase::Implement
        && judged.modified.iter().any(is_tasks)
    {
        message.push_str(&format!("; it was interrupted in task {}", task.id));
    }
    findings.push(Finding::new(Code::ModifiedAfter, message));
}

fn marker(judged: &Judged, findings: &mut Vec<Finding>) {
    let feature = &judged.feature;
    let Some(marker) = feature.marker.marker() else {
        return;
    };
    let place = || Place::path(layout::MARKER);
    if !marker.is_well_formed {
        let message = "the marker is not spelled as it must be; it is written anew";
        findings.push(Finding::new(Code::MarkerMalformed, message).at(place()));
    }
    // What the marker should say is what the latest checkpoint says, wherever one goes back to.
    let latest = feature.checkpoints.latest.as_ref();
    let phase = latest.and_then(|latest| latest.phase);
    let other_feature = marker.feature.filter(|name| *name != feature.name);
    let other_phase = marker
        .phase
        .filter(|found| phase.is_some_and(|phase| phase != *found));
    let message = match (other_feature, other_phase) {
        (Some(other), _) => format!(
            "the marker is at `{}`, not at `{}`",
            excerpt(&other, 80),
            typed(&feature.name)
        ),
        (None, Some(other)) => format!(
            "the marker is in the {} phase, and the checkpoint, which counts, in {}",
            other.as_str(),
            phase.map_or("", Phase::as_str)
        ),
        (None, None) => return,
    };
    findings.push(Finding::new(Code::MarkerMismatch, message).at(place()));
}

fn tasks(judged: &Judged, findings: &mut Vec<Finding>) {
    let feature = &judged.feature;
    let place = || Place::path(layout::file(&feature.name, "tasks.md"));
    if let Some(stale) = &judged.next.stale {
        let message = match stale {
            Stale::Done(id) => format!("{id} comes next by the checkpoint, and it is done"),
            Stale::Absent(id) => {
                format!("{id} comes next by the checkpoint, and tasks.md has no such task")
            }
        };
        findings.push(Finding::new(Code::NextStale, message).at(place()));
    }
    if let Some(tasks) = &feature.tasks
        && tasks.has_lost_some()
    {
        let message = format!(
            "tasks.md has {} tasks and says that there are {}",
            tasks.all.len(),
            tasks.declared.unwrap_or_default()
        );
        findings.push(Finding::new(Code::TaskCountMismatch, message).at(place()));
    }
}

fn notes(judged: &Judged, findings: &mut Vec<Finding>) {
    let feature = &judged.feature;
    let session = &feature.session;
    let n_history = session.history().len();
    if n_history > MOST {
        let message = format!(
            "the session history has {n_history} entries; a resume keeps {MOST} and archives the others"
        );
        findings.push(
            Finding::new(Code::SessionHistoryLong, message).at(Place::path(&feature.session_path)),
        );
    }
    for (from, to) in gaps(judged).into_iter().take(MOST_TOLD) {
        let message = format!("nothing is recorded between {from} and {to}");
        findings.push(Finding::new(Code::SessionGap, message));
    }
    if let Some(state) = &feature.test_state
        && !matches!(state.as_str(), "IDLE" | "COMMITTED")
    {
        let message = format!("a test is being worked on: {}", excerpt(state, 80));
        findings.push(Finding::new(Code::TestState, message).at(Place::path(layout::TEST_STATE)));
    }
    let said = feature
        .chosen
        .fields
        .dependencies
        .as_deref()
        .unwrap_or_default();
    let Some(tasks) = &feature.tasks else {
        return;
    };
    let open = told_complete(said)
        .into_iter()
        .take(MOST_TOLD)
        .filter(|id| !tasks.find(id).is_some_and(|task| task.state.is_settled()));
    for id in open {
        let message = format!("the checkpoint says that {id} is complete, and tasks.md does not");
        findings.push(Finding::new(Code::DependencyOpen, message));
    }
}

/// Returns the days between which more than one passed without a trace, oldest first.
fn gaps(judged: &Judged) -> Vec<(Date, Date)> {
    let history = judged.feature.session.history();
    let days = history
        .iter()
        .filter_map(|entry| entry.day()?.parse::<Date>().ok());
    let all = judged.feature.checkpoints.all();
    let checkpoints = all.iter().filter_map(|entry| entry.at).map(DateTime::date);
    let mut days: Vec<Date> = days.chain(checkpoints).collect();
    days.sort_unstable();
    days.dedup();
    let pairs = days.iter().copied().zip(days.iter().copied().skip(1));
    pairs
        .filter(|(from, to)| to.duration_since(*from).as_hours() > 24)
        .collect()
}

/// Returns the finding that a legacy session is used, where it is.
fn legacy(name: &str, session: &Utf8Path) -> Option<Finding> {
    let message = "the legacy session is used, which all features share";
    let finding = Finding::new(Code::LegacySession, message)
        .at(Place::path(session))
        .hint(format!("`rekindle migrate {}`", typed(name)));
    (session == layout::LEGACY_SESSION).then_some(finding)
}

/// Returns the findings of a reading that ended early; the first is why.
pub(super) fn halted(halt: &Halt) -> Vec<Finding> {
    let name = halt.feature.as_deref().unwrap_or_default();
    let session = halt.session_path.as_ref();
    let legacy = session.and_then(|path| legacy(name, path));
    [why_halted(halt)].into_iter().chain(legacy).collect()
}

fn why_halted(halt: &Halt) -> Finding {
    let name = typed(halt.feature.as_deref().unwrap_or_default());
    let finding = match &halt.why {
        Why::BadName { typed, reason } => {
            let message = format!("`{}` can not be a feature: {reason}", excerpt(typed, 120));
            Finding::new(Code::BadFeatureName, message)
                .hint("name a folder below `specs/`, such as `user-authentication`")
        }
        Why::NoFeatures => Finding::new(
            Code::NoFeatures,
            "there is no feature below `specs/`, and no marker names one",
        )
        .hint("start a feature with `/spec`"),
        Why::NoSession => Finding::new(Code::NoSession, format!("`{name}` has no session")).hint(
            match halt.near.first() {
                Some(near) => format!(
                    "`rekindle resume {}`, or start it with `/spec`",
                    typed(near)
                ),
                None => "start it with `/spec`".to_owned(),
            },
        ),
        Why::Corrupt { reason } => Finding::new(
            Code::CorruptSession,
            format!("the session can not be used: {reason}"),
        )
        .hint(if halt.is_session_saved {
            "bring an earlier version back from version control"
        } else {
            "mend it, or bring an earlier version back from where you keep copies"
        }),
        Why::OtherFeature { named } => Finding::new(
            Code::FeatureMismatch,
            format!(
                "the legacy session is about `{}`, not `{name}`",
                excerpt(named, 80)
            ),
        )
        .hint(format!(
            "`rekindle resume {}`, or start this one with `/spec`",
            excerpt(named, 80)
        )),
        Why::NoCheckpoint { hidden: None } => {
            Finding::new(Code::NoCheckpoint, "the session has no checkpoint")
                .hint(format!("`rekindle checkpoint {name} -m TEXT` makes one"))
        }
        Why::NoCheckpoint { hidden: Some(at) } => {
            Finding::new(Code::NoCheckpoint, hidden_checkpoint(*at))
                .hint("end what begins above it, then run it again")
        }
        Why::CorruptCheckpoint { reason } => Finding::new(
            Code::CorruptCheckpoint,
            format!("the checkpoint can not be used: {reason}"),
        )
        .hint(format!("`rekindle checkpoints {name}` shows which can")),
        Why::UnknownCheckpoint { wanted } => Finding::new(
            Code::UnknownCheckpoint,
            format!("no checkpoint has the id `{}`", excerpt(wanted, 40)),
        )
        .hint(format!("`rekindle checkpoints {name}` lists them")),
    };
    match &halt.session_path {
        Some(path) => finding.at(Place::path(path)),
        None => finding,
    }
}

/// Returns whether some finding keeps the feature from being resumed.
pub(super) fn is_blocked(findings: &[Finding]) -> bool {
    let mut all = findings.iter();
    all.any(|finding| finding.severity() == Severity::Blocker)
}

fn line_of(path: &Utf8Path, at: usize) -> Place {
    Place::line(
        path,
        u64::try_from(at).map_or(u64::MAX, |at| at.saturating_add(1)),
    )
}

#[cfg(test)]
#[path = "noticed_tests.rs"]
mod tests;
