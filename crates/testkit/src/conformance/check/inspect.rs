//! `inspect --json`: the facts, the findings, and that nothing was written.

use std::collections::BTreeSet;

use camino::Utf8Path;
use serde_json::Value;

use super::super::case::Inspect;
use super::super::difference::difference;
use super::super::error::{Error, mismatch};
use super::super::scene::Scene;
use super::{ending, head};

pub(super) fn check(scene: &Scene, binary: &Utf8Path, want: &Inspect) -> Result<(), Error> {
    let case = scene.case();
    let before = scene.snapshot()?;
    let mut args = ["inspect", "--json", "--protocol", &case.protocol]
        .map(str::to_owned)
        .to_vec();
    args.extend_from_slice(want.args.as_ref().unwrap_or(&case.args));
    let done = scene.call(binary.as_str(), &args, "")?;
    if let Some(path) = before.first_change(&scene.snapshot()?) {
        return mismatch(format!("inspect changed a file: {path}"));
    }
    let Ok(out) = serde_json::from_slice::<Value>(&done.stdout) else {
        return mismatch(format!(
            "inspect --json (exit {}) printed no JSON: {:?} {:?}",
            ending(done.status),
            head(&done.stdout, 200),
            head(&done.stderr, 300)
        ));
    };
    if want.exit.is_some() && done.status.code() != want.exit {
        return mismatch(format!(
            "inspect exit {}, wanted {}",
            ending(done.status),
            want.exit.unwrap_or_default()
        ));
    }
    let none = Value::Object(serde_json::Map::new());
    let facts = out.get("facts").unwrap_or(&none);
    if let Some(wrong) = difference(&scene.expand_value(&want.facts), facts) {
        return mismatch(format!("inspect facts{wrong}"));
    }
    for (severity, wanted) in [("blocker", &want.blockers), ("warning", &want.warnings)] {
        let Some(wanted) = wanted else { continue };
        let wanted: Vec<&str> = sorted(wanted.iter().map(String::as_str));
        let found: BTreeSet<&str> = codes(&out, severity);
        if !found.iter().eq(&wanted) {
            return mismatch(format!(
                "inspect {severity}s: wanted {wanted:?}, got {found:?}"
            ));
        }
    }
    Ok(())
}

fn codes<'a>(out: &'a Value, severity: &str) -> BTreeSet<&'a str> {
    let findings = out
        .get("findings")
        .and_then(Value::as_array)
        .map_or(&[][..], Vec::as_slice);
    findings
        .iter()
        .filter(|finding| finding.get("severity").and_then(Value::as_str) == Some(severity))
        .filter_map(|finding| finding.get("code").and_then(Value::as_str))
        .collect()
}

fn sorted<'a>(items: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut items: Vec<&str> = items.collect();
    items.sort_unstable();
    items
}
