//! The same evidence gives the same plan, in any order of files.

use anyhow::{Result, ensure};
use rekindle_testkit::conformance::Stage;
use serde_json::{Value, json};

use crate::scenes::{Chance, generated, stage};

const N_SCENES: u64 = 5;

/// Returns the facts, the findings' codes and the plan, with the numbers of the list's files taken out.
fn told(stage: &Stage) -> Result<(Vec<u8>, Vec<u8>)> {
    let plan = stage.typed("plan", &["--json"]).run()?;
    let inspected = stage.typed("inspect", &["--json"]).run()?;
    ensure!(inspected.code() == Some(0), "{inspected}");
    Ok((
        plan.stdout_bytes().to_vec(),
        inspected.stdout_bytes().to_vec(),
    ))
}

/// Returns the effects of a plan, without the names of the task files.
fn steps(plan: &[u8]) -> Result<String> {
    let mut plan: Value = serde_json::from_slice(plan)?;
    without_places(&mut plan);
    Ok(plan.to_string())
}

/// Takes the number of a task's file out, and what is made from the bytes of all that was read.
fn without_places(value: &mut Value) {
    match value {
        Value::String(text) if text.contains("/.claude/tasks/") => {
            "a task's file".clone_into(text);
        }
        Value::Array(items) => items.iter_mut().for_each(without_places),
        Value::Object(fields) => {
            fields.remove("digest");
            fields.values_mut().for_each(without_places);
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Numbers the files of the list anew and makes them again in another order.
fn shuffle(stage: &Stage, chance: &mut Chance) -> Result<()> {
    let mut entries = Vec::new();
    for file in fs_err::read_dir(stage.task_list())? {
        let path = file?.path();
        entries.push(serde_json::from_slice::<Value>(&fs_err::read(&path)?)?);
        fs_err::remove_file(path)?;
    }
    for last in (1..entries.len()).rev() {
        let other = chance.below(u64::try_from(last + 1)?);
        entries.swap(last, usize::try_from(other)?);
    }
    let number = |id: &Value| {
        let place = entries.iter().position(|entry| entry["id"] == *id);
        json!((place.unwrap_or_default() * 3 + 1).to_string())
    };
    for entry in &entries {
        let mut moved = entry.clone();
        moved["id"] = number(&entry["id"]);
        let blocked = entry["blockedBy"].as_array().into_iter().flatten();
        moved["blockedBy"] = blocked.map(number).collect();
        let name = moved["id"].as_str().unwrap_or_default().to_owned();
        stage.write_task(&name, &moved)?;
    }
    Ok(())
}

/// Makes the folders of worktrees again, so that a listing has them in another order.
fn relist(stage: &Stage) -> Result<()> {
    let aside = stage.root().with_extension("aside");
    fs_err::rename(stage.root(), &aside)?;
    fs_err::create_dir(stage.root())?;
    let mut names: Vec<_> = fs_err::read_dir(&aside)?.collect::<std::io::Result<_>>()?;
    names.sort_by_key(|entry| std::cmp::Reverse(entry.file_name()));
    for entry in names {
        fs_err::rename(
            entry.path(),
            stage
                .root()
                .join(entry.file_name().to_string_lossy().as_ref()),
        )?;
    }
    Ok(fs_err::remove_dir(aside)?)
}

#[test]
fn the_same_evidence_gives_the_same_plan() -> Result<()> {
    for seed in 0..N_SCENES {
        let stage = stage(&generated(seed))?;
        let first = told(&stage)?;
        ensure!(
            told(&stage)? == first,
            "scene {seed} is told otherwise a second time"
        );
        relist(&stage)?;
        ensure!(
            told(&stage)? == first,
            "scene {seed}: the order of worktrees matters"
        );
        let mut chance = Chance(seed);
        for _ in 0..2 {
            shuffle(&stage, &mut chance)?;
            let again = told(&stage)?;
            ensure!(again == told(&stage)?, "scene {seed}");
            assert_eq!(steps(&again.0)?, steps(&first.0)?, "scene {seed}");
            let facts = |answer: &[u8]| -> Result<Value> {
                Ok(serde_json::from_slice::<Value>(answer)?["facts"].take())
            };
            assert_eq!(facts(&again.1)?, facts(&first.1)?, "scene {seed}");
        }
    }
    Ok(())
}
