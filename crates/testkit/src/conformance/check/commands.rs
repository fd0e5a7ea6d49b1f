//! Drop-in commands: the JSON must be equal, and so must the state files afterwards.

use camino::Utf8Path;
use serde_json::Value;

use super::super::case::Step;
use super::super::difference::difference;
use super::super::error::{Error, mismatch};
use super::super::scene::Scene;
use super::{ending, head};

pub(super) fn check(scene: &Scene, binary: &Utf8Path, steps: &[Step]) -> Result<(), Error> {
    for (i, step) in steps.iter().enumerate() {
        if let Some(fault) = fault(scene, binary, step)? {
            return mismatch(format!(
                "step {}, `{}`: {fault}",
                i + 1,
                step.args.join(" ")
            ));
        }
    }
    Ok(())
}

fn fault(scene: &Scene, binary: &Utf8Path, step: &Step) -> Result<Option<String>, Error> {
    let done = scene.call(binary.as_str(), &step.args, &step.stdin)?;
    if let Some(exit) = step.exit
        && done.status.code() != Some(exit)
    {
        let said = head(&done.stderr, 300);
        return Ok(Some(format!(
            "exit {}, wanted {exit}: {said:?}",
            ending(done.status)
        )));
    }
    if step.json.is_some() || step.has.is_some() {
        let Ok(got) = serde_json::from_slice::<Value>(&done.stdout) else {
            let (out, err) = (head(&done.stdout, 200), head(&done.stderr, 200));
            return Ok(Some(format!("no JSON: {out:?} {err:?}")));
        };
        let whole = step.json.iter().find_map(|want| {
            difference(&scene.expand_value(want), &got).or_else(|| extra_keys(want, &got))
        });
        let part = || {
            step.has
                .iter()
                .find_map(|want| difference(&scene.expand_value(want), &got))
        };
        if let Some(wrong) = whole.or_else(part) {
            return Ok(Some(wrong));
        }
    }
    for (path, want) in &step.state_after {
        let Some(data) = scene.bytes_of(path)? else {
            return Ok(Some(format!("{path} is missing afterwards")));
        };
        let got = serde_json::from_slice(&data)?;
        if let Some(wrong) = difference(&scene.expand_value(want), &got) {
            return Ok(Some(format!("{path}{wrong}")));
        }
    }
    Ok(None)
}

/// Returns the keys of the answer that nobody asked for, on the outermost level.
fn extra_keys(want: &Value, got: &Value) -> Option<String> {
    let named = |key: &str| {
        want.as_object()
            .is_some_and(|fields| fields.contains_key(key))
    };
    let extra: Vec<&String> = got.as_object()?.keys().filter(|key| !named(key)).collect();
    if extra.is_empty() {
        None
    } else {
        Some(format!("extra keys {extra:?}"))
    }
}
