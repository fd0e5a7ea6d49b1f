//! Finds what a tortured run has lost, doubled or left behind.

use std::collections::{BTreeMap, HashSet};

use rekindle_wire::torture::Score;
use serde_json::Value;

use crate::git::{git, search};
use crate::interruption::Interruption;
use crate::orchestrator::End;
use crate::round::Tally;
use crate::scene::{LANDED, Scene};
use crate::{Error, agent, name, processes};

/// Findings of rekindle about a damaged line in a log.
const DAMAGES: [&str; 5] = [
    "CONCATENATED_JSON_RECOVERED",
    "CORRUPT_LINE",
    "INVALID_UTF8",
    "MULTILINE_JSON_RECOVERED",
    "TRUNCATED_LINE",
];

/// Adds the damage of a round to the score; returns the faults for a person.
pub(crate) fn check(
    scene: &Scene,
    interruption: &Interruption,
    undisturbed: &str,
    tally: &Tally,
    score: &mut Score,
) -> Result<Vec<String>, Error> {
    let mut wrong = Vec::new();
    if let Some(said) = &tally.stuck {
        score.never_ended += 1;
        wrong.push(format!("the run did not finish: {}", said.trim()));
    }
    wrong.extend(landings(scene, score)?);
    if scene.results()? != undisturbed {
        wrong.push("the branch differs from that of an undisturbed run".to_owned());
    }
    for mark in lost_marks(scene)? {
        // With the line break, which was written too.
        score.bytes_lost += mark.len() + 1;
        wrong.push(format!("the work of `{mark}` is lost"));
    }
    let left = processes::living(scene.mark()).len();
    score.processes_left += left;
    if left > 0 {
        let described = processes::described(scene.mark());
        wrong.push(format!("processes are still running ({left}): {described}"));
    }
    for leak in leaks(scene)? {
        score.worktrees_leaked += 1;
        wrong.push(leak);
    }
    wrong.extend(books(scene, interruption)?);
    Ok(wrong)
}

/// Returns every task that has not landed exactly once.
fn landings(scene: &Scene, score: &mut Score) -> Result<Vec<String>, Error> {
    let mut landed: BTreeMap<String, usize> = BTreeMap::new();
    for (task, _) in scene.landed()? {
        *landed.entry(task).or_default() += 1;
    }
    let mut wrong = Vec::new();
    for task in (0..scene.needs.len()).map(name) {
        match landed.get(&task).copied().unwrap_or(0) {
            0 => {
                score.lost += 1;
                wrong.push(format!("{task} has not landed"));
            }
            1 => {}
            times => {
                score.landed_twice += 1;
                wrong.push(format!("{task} has landed {times} times"));
            }
        }
    }
    Ok(wrong)
}

/// Returns every line of an agent that is neither on the branch, nor in a rescue, nor delivered.
fn lost_marks(scene: &Scene) -> Result<Vec<String>, Error> {
    let project = scene.project();
    let refs = git(
        &project,
        &["for-each-ref", "--format=%(refname)", "refs/rekindle"],
    )?;
    let marks = format!("{}/*.log", agent::FOLDER);
    let mut arguments = vec!["grep", "--no-color", "--text", "-h", "-e", "^", LANDED];
    arguments.extend(refs.lines());
    arguments.extend(["--", &marks]);
    let kept = search(&project, &arguments)?;
    let kept: HashSet<&str> = kept.lines().collect();
    let ledger = scene.ledger()?;
    let lost = ledger.lines().filter(|mark| !kept.contains(mark));
    Ok(lost.map(str::to_owned).collect())
}

/// Returns every worktree, former worktree folder and delivery that a run has not removed.
fn leaks(scene: &Scene) -> Result<Vec<String>, Error> {
    let project = scene.project();
    let listed = git(&project, &["worktree", "list", "--porcelain", "-z"])?;
    let paths = listed
        .split('\0')
        .filter_map(|line| line.strip_prefix("worktree "));
    // The first is the project itself.
    let known: Vec<&str> = paths.skip(1).collect();
    // Those of the pool stay for the next run.
    let pool = scene.pool();
    let mut leaks: Vec<String> = known
        .iter()
        .filter(|path| !camino::Utf8Path::new(path).starts_with(&pool))
        .map(|path| format!("the worktree `{path}` was not removed"))
        .collect();
    for folder in scene.worktree_folders()? {
        if !known.contains(&folder.as_str()) {
            leaks.push(format!(
                "the folder `{folder}` was not removed, and git does not know it as a worktree"
            ));
        }
    }
    let delivered = ["for-each-ref", "--format=%(refname)", "refs/rekindle/work"];
    let delivered = git(&project, &delivered)?;
    // A delivery of another attempt is fine: a git that outlives its killed worker may create one
    // after the task was given to the next.
    let landed = scene.landed()?.into_iter();
    let landed: Vec<String> = landed
        .map(|(task, attempt)| format!("/{task}/{attempt}"))
        .collect();
    let is_landed = |name: &&str| landed.iter().any(|end| name.ends_with(end));
    leaks.extend(
        delivered
            .lines()
            .filter(is_landed)
            .map(|name| format!("`{name}` was not removed, although its work has landed")),
    );
    Ok(leaks)
}

/// Returns the faults of the run as `rekindle inspect` sees it.
fn books(scene: &Scene, interruption: &Interruption) -> Result<Vec<String>, Error> {
    let ended = scene.inspect(interruption)?;
    let answer: Value = serde_json::from_str(&ended.last_line).unwrap_or_default();
    let runs = answer.pointer("/facts/runs").and_then(Value::as_object);
    let incomplete = answer
        .pointer("/facts/incomplete")
        .and_then(Value::as_array);
    let (End::Succeeded, Some(runs), Some(incomplete)) = (ended.end, runs, incomplete) else {
        let said = ended.said;
        return Ok(vec![format!(
            "`rekindle inspect --json` gave no answer: {said}"
        )]);
    };
    let mut wrong = Vec::new();
    if runs.is_empty() || !incomplete.is_empty() {
        wrong.push("rekindle does not report the run as complete".to_owned());
    }
    for (id, run) in runs {
        let findings = run.get("findings").and_then(Value::as_array);
        let codes = findings.into_iter().flatten().filter_map(Value::as_str);
        let damages = codes.filter(|code| DAMAGES.contains(code));
        wrong.extend(damages.map(|code| format!("a log of the run `{id}` is damaged: {code}")));
    }
    Ok(wrong)
}

#[cfg(test)]
#[path = "check_tests.rs"]
mod tests;
