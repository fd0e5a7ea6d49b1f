//! `status --json`: which workflows are shown, in which order and state.

use camino::Utf8Path;
use serde_json::Value;

use super::super::case::Status;
use super::super::difference::difference;
use super::super::error::{Error, mismatch};
use super::super::scene::Scene;
use super::{ending, head};

pub(super) fn check(scene: &Scene, binary: &Utf8Path, want: &Status) -> Result<(), Error> {
    let before = scene.snapshot()?;
    let mut args = ["status", "--json"].map(str::to_owned).to_vec();
    args.extend_from_slice(&want.args);
    let done = scene.call(binary.as_str(), &args, "")?;
    if let Some(path) = before.first_change(&scene.snapshot()?) {
        return mismatch(format!("status changed a file: {path}"));
    }
    let Ok(out) = serde_json::from_slice::<Value>(&done.stdout) else {
        return mismatch(format!(
            "status --json (exit {}) printed no JSON: {:?}",
            ending(done.status),
            head(&done.stderr, 300)
        ));
    };
    if let Some(wanted) = &want.workflows {
        let text =
            |workflow: &Value, key: &str| workflow[key].as_str().unwrap_or_default().to_owned();
        let found = out["workflows"].as_array().into_iter().flatten();
        let found: Vec<(String, String)> = found
            .map(|workflow| (text(workflow, "id"), text(workflow, "state")))
            .collect();
        if found != *wanted {
            return mismatch(format!("status: wanted {wanted:?}, got {found:?}"));
        }
    }
    match difference(&scene.expand_value(&want.has), &out) {
        Some(wrong) => mismatch(format!("status{wrong}")),
        None => Ok(()),
    }
}
