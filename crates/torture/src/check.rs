//! Looks for what a tortured run has lost, doubled or left behind.

use std::collections::{BTreeMap, HashSet};

use rekindle_wire::torture::Score;

use crate::git::{git, search};
use crate::round::Told;
use crate::scene::{LANDED, Scene};
use crate::{Error, agent, name, processes};

/// Adds a round's damage to the score; returns what is wrong, for a person.
pub(crate) fn check(
    scene: &Scene,
    undisturbed: &str,
    told: &Told,
    score: &mut Score,
) -> Result<Vec<String>, Error> {
    let mut wrong = Vec::new();
    if let Some(said) = &told.stuck {
        wrong.push(format!("the run never came to an end: {}", said.trim()));
    }
    let mut landed: BTreeMap<String, usize> = BTreeMap::new();
    for task in scene.landed()? {
        *landed.entry(task).or_default() += 1;
    }
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
    if scene.results()? != undisturbed {
        wrong.push("the branch does not hold what an undisturbed run lands".to_owned());
    }
    for mark in lost_marks(scene)? {
        // With the end of the line, which was written too.
        score.bytes_lost += mark.len() + 1;
        wrong.push(format!("the work of `{mark}` is nowhere any more"));
    }
    let left = processes::living(scene.mark()).len();
    score.processes_left += left;
    if left > 0 {
        wrong.push(format!("{left} processes are left"));
    }
    let worktrees = git(&scene.project(), &["worktree", "list", "--porcelain"])?;
    let leaked = worktrees.matches("worktree ").count().saturating_sub(1);
    score.worktrees_leaked += leaked;
    if leaked > 0 {
        wrong.push(format!("{leaked} worktrees are left"));
    }
    let inspected = scene.inspect()?;
    if !inspected.contains("\"incomplete\":[]") || inspected.contains("CORRUPT_LINE") {
        wrong.push("the run's logs are damaged, or say that something is left".to_owned());
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
