//! Findings: what prevents a resume, and what is unusual.

use camino::Utf8Path;
use jiff::civil::{Date, DateTime};
use rekindle_model::{Code, Finding, Place, Severity};
use rekindle_text::excerpt;

use super::assess::{DAY, HIGH_CONTEXT, Judged};
use super::messages::{hidden_checkpoint, typed};
use super::next::Stale;
use super::phase::Phase;
use super::read::{Halt, MarkerFile, Presence, Why};
use super::record::MOST;
use super::tasks::told_complete;
use super::{layout, line_of};

/// The most findings of one code.
const MOST_LISTED: usize = 20;

/// Returns the findings of a feature, the most severe first.
pub(super) fn findings(judged: &Judged) -> Vec<Finding> {
    let mut findings = Vec::new();
    files(judged, &mut findings);
    findings.extend(error(judged));
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
    let name = typed(&feature.name);
    let phase = judged.phase.as_str();
    for file in &feature.files {
        let path = excerpt(&file.path, 200);
        let place = Place::path(file.path.as_str());
        findings.push(match (file.state, file.is_required) {
            (Presence::Present, _) => continue,
            (Presence::Absent, true) => {
                let message = format!("the {phase} phase requires `{path}`, which does not exist");
                let hint = if feature.saved.contains(&file.path) {
                    let path = typed(&file.path);
                    format!("restore it with `git checkout HEAD -- {path}`")
                } else {
                    "restore it, or go back to an earlier checkpoint".to_owned()
                };
                let finding = Finding::new(Code::MissingCritical, message);
                finding.hint(hint).at(place)
            }
            (Presence::Unreadable(reason), _) => {
                let message =
                    format!("the {phase} phase requires `{path}`, which cannot be read: {reason}");
                let finding = Finding::new(Code::UnreadableFile, message);
                finding.hint("replace it with a readable file").at(place)
            }
            (Presence::Placeholder, true) => {
                let message = format!("`{path}` is still the placeholder that `/spec` left");
                let hint = format!("fill it with `/{} {name}`", file.made_by());
                let finding = Finding::new(Code::PlaceholderArtifact, message);
                finding.hint(hint).at(place)
            }
            (Presence::Absent | Presence::Placeholder, false) => {
                let message = format!("the checkpoint names `{path}`, which does not exist");
                let finding = Finding::new(Code::MissingArtifact, message);
                finding.at(Place::path(&feature.session_path))
            }
        });
    }
    let faults = judged.validations.iter().filter(|found| !found.is_valid);
    let faults: Vec<String> = faults
        .map(|found| format!("`{}`: {}", found.path, found.faults.join("; ")))
        .collect();
    if !faults.is_empty() {
        let message = format!("a validator failed: {}", excerpt(&faults.join("; "), 400));
        let hint = format!("fix it, then run `rekindle validate {name}`");
        findings.push(Finding::new(Code::ValidationFailed, message).hint(hint));
    }
    if let Some((path, reason)) = feature.in_the_way() {
        let message = match feature.marker {
            MarkerFile::Odd(..) => format!("the marker is unusable: {reason}"),
            MarkerFile::Absent | MarkerFile::Present(_) => {
                format!("the backup of a rollback cannot be written to `{path}`: {reason}")
            }
        };
        findings.push(Finding::new(Code::UnreadableFile, message).at(Place::path(path)));
    }
}

/// Returns the finding about an unresolved error, unless the user goes back before it.
fn error(judged: &Judged) -> Option<Finding> {
    if !judged.has_active_error() || judged.is_rollback() {
        return None;
    }
    let path = &judged.feature.session_path;
    let blockers = judged.feature.session.blockers();
    let open = blockers.iter().find(|blocker| !blocker.is_resolved());
    let finding = if let Some(blocker) = open {
        let status = excerpt(blocker.status.as_deref().unwrap_or("no status"), 80);
        let title = excerpt(&blocker.title, 200);
        let message = format!("an error is not resolved ({status}): {title}");
        Finding::new(Code::ActiveError, message).at(line_of(path, blocker.at))
    } else {
        let message = "the session is in error recovery, and no error is resolved";
        Finding::new(Code::ActiveError, message).at(Place::path(path))
    };
    Some(finding.hint(
        "continue the recovery until its status is `Resolved`, or go back to an earlier checkpoint",
    ))
}

fn session(judged: &Judged, findings: &mut Vec<Finding>) {
    let feature = &judged.feature;
    let path = &feature.session_path;
    findings.extend(legacy(&feature.name, path));
    let phases = [
        feature.chosen.fields.phase.as_deref(),
        feature.session.focus("Phase"),
    ];
    let mut phases = phases.into_iter().flatten();
    if let Some(text) = phases.find(|text| Phase::is_misspelled(text)) {
        let text = excerpt(text, 80);
        let message = format!("`{text}` is not the canonical name of its phase");
        findings.push(Finding::new(Code::PhaseNoncanonical, message).at(Place::path(path)));
    }
    if judged.is_context_high() && !feature.asked.fresh {
        let recorded = feature.chosen.context();
        let (context, how) = match recorded.filter(|found| *found > HIGH_CONTEXT) {
            Some(context) => (context, "at the checkpoint"),
            None => (
                feature.estimated_context,
                "by the size of the feature's documents",
            ),
        };
        let message = format!("the context is {context}% full {how}");
        let name = typed(&feature.name);
        let hint = format!("`rekindle resume {name} --fresh` loads only the necessary context");
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
    let history = &checkpoints.history;
    if history.len() > MOST {
        let message = format!("the history has {} checkpoints", history.len());
        let name = typed(&feature.name);
        let hint = format!(
            "`rekindle checkpoints {name} --archive` moves all but the newest {MOST} to a file of their own"
        );
        findings.push(Finding::new(Code::HistoryOverflow, message).hint(hint));
    }
    if let Some(latest) = &checkpoints.latest
        && latest.id.is_some()
        && !history.is_empty()
        && history.iter().all(|entry| entry.id != latest.id)
    {
        let message = format!(
            "{} is the latest checkpoint and not in the history",
            latest.name()
        );
        let place = line_of(&feature.session_path, latest.line);
        findings.push(Finding::new(Code::LatestNotInHistory, message).at(place));
    }
}

fn age(judged: &Judged, findings: &mut Vec<Finding>) {
    let feature = &judged.feature;
    let name = feature.chosen.name();
    if judged.age_minutes < 0 {
        let message = format!("{name} is in the future, so file times cannot be compared");
        findings.push(Finding::new(Code::FutureTimestamp, message));
    } else if judged.is_stale() {
        let (code, words) = if judged.age_minutes > 30 * DAY {
            (Code::Stale30d, "suspiciously old")
        } else {
            (Code::Stale7d, "old")
        };
        let message = format!("{name} is {words}: {} days", judged.age_days());
        findings.push(Finding::new(code, message).hint(judged.phase.needs().when_stale));
    }
    let modified = &judged.modified;
    if modified.is_empty() {
        return;
    }
    let mut message = if modified.len() > 3 {
        let (all, n) = (feature.files.len(), modified.len());
        format!("{n} of {all} files were written after {name}")
    } else {
        let paths = modified
            .iter()
            .map(|path| format!("`{}`", excerpt(path, 120)));
        let paths: Vec<String> = paths.collect();
        format!("written after {name}: {}", paths.join(", "))
    };
    let tasks_file = layout::file(&feature.name, "tasks.md");
    if let Some(task) = feature.tasks.as_ref().and_then(|tasks| tasks.in_progress())
        && judged.phase == Phase::Implement
        && modified.iter().any(|path| *path == tasks_file.as_str())
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
        let message = "the marker is malformed; a resume rewrites it";
        findings.push(Finding::new(Code::MarkerMalformed, message).at(place()));
    }
    // The marker should match the latest checkpoint, even during a rollback.
    let latest = feature.checkpoints.latest.as_ref();
    let phase = latest.and_then(|latest| latest.phase);
    let other_feature = marker.feature.filter(|name| *name != feature.name);
    let other_phase = marker.phase.filter(|_| marker.phase != phase).zip(phase);
    let message = match (other_feature, other_phase) {
        (Some(other), _) => {
            let (other, name) = (excerpt(&other, 80), typed(&feature.name));
            format!("the marker is at `{other}`, not at `{name}`")
        }
        (None, Some((other, phase))) => format!(
            "the marker is in the {} phase, and the checkpoint, which counts, in {}",
            other.as_str(),
            phase.as_str()
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
            Stale::Done(id) => format!("{id} is next by the checkpoint but already done"),
            Stale::Absent(id) => format!("{id} is next by the checkpoint but not in tasks.md"),
        };
        findings.push(Finding::new(Code::NextStale, message).at(place()));
    }
    if let Some(tasks) = &feature.tasks
        && tasks.has_lost_some()
    {
        let (found, declared) = (tasks.all.len(), tasks.declared.unwrap_or_default());
        let found = rekindle_text::count(found, "task");
        let message = format!("tasks.md has {found} but declares {declared}");
        findings.push(Finding::new(Code::TaskCountMismatch, message).at(place()));
    }
}

fn notes(judged: &Judged, findings: &mut Vec<Finding>) {
    let feature = &judged.feature;
    let n_history = feature.session.history().len();
    if n_history > MOST {
        let message = format!(
            "the session history has {n_history} entries; a resume keeps {MOST} and archives the others"
        );
        let place = Place::path(&feature.session_path);
        findings.push(Finding::new(Code::SessionHistoryLong, message).at(place));
    }
    for (from, to) in gaps(judged).into_iter().take(MOST_LISTED) {
        let message = format!("there is no entry between {from} and {to}");
        findings.push(Finding::new(Code::SessionGap, message));
    }
    if let Some(state) = &feature.test_state
        && !matches!(state.as_str(), "IDLE" | "COMMITTED")
    {
        let message = format!("a test is being worked on: {}", excerpt(state, 80));
        findings.push(Finding::new(Code::TestState, message).at(Place::path(layout::TEST_STATE)));
    }
    let Some(tasks) = &feature.tasks else {
        return;
    };
    let said = feature.chosen.fields.dependencies.as_deref();
    let complete = told_complete(said.unwrap_or_default()).into_iter();
    let is_open = |id: &&str| !tasks.find(id).is_some_and(|task| task.state.is_settled());
    for id in complete.take(MOST_LISTED).filter(is_open) {
        let message = format!("the checkpoint says that {id} is complete, but tasks.md does not");
        findings.push(Finding::new(Code::DependencyOpen, message));
    }
}

/// Returns the gaps of more than one day in history and checkpoints, oldest first.
fn gaps(judged: &Judged) -> Vec<(Date, Date)> {
    let history = judged.feature.session.history();
    let days = history.iter();
    let days = days.filter_map(|entry| entry.day()?.parse::<Date>().ok());
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

/// Returns the finding about a legacy session, if one is used.
fn legacy(name: &str, session: &Utf8Path) -> Option<Finding> {
    let message = "the legacy session is used, which all features share";
    let finding = Finding::new(Code::LegacySession, message).at(Place::path(session));
    let finding = finding.hint(format!("`rekindle migrate {}`", typed(name)));
    (session == layout::LEGACY_SESSION).then_some(finding)
}

/// Returns the findings of an early stop; the first is the reason.
pub(super) fn halted(halt: &Halt) -> Vec<Finding> {
    let name = halt.feature.as_deref().unwrap_or_default();
    let session = halt.session_path.as_ref();
    let legacy = session.and_then(|path| legacy(name, path));
    let mut why = why_halted(halt);
    why.place = session.map(Place::path);
    [why].into_iter().chain(legacy).collect()
}

fn why_halted(halt: &Halt) -> Finding {
    let name = typed(halt.feature.as_deref().unwrap_or_default());
    match &halt.why {
        Why::BadName { typed, reason } => bad_name(typed, reason)
            .hint("name a folder below `specs/`, such as `user-authentication`"),
        Why::NoFeatures => {
            let message = "there is no feature below `specs/`, and no marker names one";
            Finding::new(Code::NoFeatures, message).hint("start a feature with `/spec`")
        }
        Why::NoSession => {
            let start = "start it with `/spec`".to_owned();
            let hint = halt.near.first().map_or(start.clone(), |near| {
                format!("`rekindle resume {}`, or {start}", typed(near))
            });
            Finding::new(Code::NoSession, format!("`{name}` has no session")).hint(hint)
        }
        Why::Corrupt { reason } => {
            let message = format!("the session is unusable: {reason}");
            Finding::new(Code::CorruptSession, message).hint(if halt.is_session_saved {
                "restore an earlier version from version control"
            } else {
                "fix it, or restore an earlier version from a backup"
            })
        }
        Why::OtherFeature { named } => {
            let named = excerpt(named, 80);
            let message = format!("the legacy session is about `{named}`, not `{name}`");
            let hint = format!("`rekindle resume {named}`, or start this one with `/spec`");
            Finding::new(Code::FeatureMismatch, message).hint(hint)
        }
        Why::NoCheckpoint { hidden: None } => {
            let hint = format!("`rekindle checkpoint {name} -m TEXT` makes one");
            Finding::new(Code::NoCheckpoint, "the session has no checkpoint").hint(hint)
        }
        Why::NoCheckpoint { hidden: Some(at) } => {
            Finding::new(Code::NoCheckpoint, hidden_checkpoint(*at))
                .hint("close the block above it, then try again")
        }
        Why::CorruptCheckpoint { reason } => {
            let message = format!("the checkpoint is unusable: {reason}");
            let hint = format!("`rekindle checkpoints {name}` shows which are usable");
            Finding::new(Code::CorruptCheckpoint, message).hint(hint)
        }
        Why::UnknownCheckpoint { wanted } => {
            let message = format!("no checkpoint has the id `{}`", excerpt(wanted, 40));
            let hint = format!("`rekindle checkpoints {name}` lists them");
            Finding::new(Code::UnknownCheckpoint, message).hint(hint)
        }
    }
}

/// Returns the finding about a name that is not a feature's.
pub(super) fn bad_name(typed: &str, reason: &str) -> Finding {
    let typed = excerpt(typed, 120);
    let message = format!("`{typed}` is not a valid feature name: {reason}");
    Finding::new(Code::BadFeatureName, message)
}

/// Returns whether a finding prevents the resume.
pub(super) fn is_blocked(findings: &[Finding]) -> bool {
    let mut all = findings.iter();
    all.any(|finding| finding.severity() == Severity::Blocker)
}

#[cfg(test)]
#[path = "findings_tests.rs"]
mod tests;
