//! Comparison with the released `OpenSpec`: `openspec list --json` counts the tasks of every conformance case.
//!
//! `REKINDLE_TEST_OPENSPEC` is the program; `cargo xtask test` installs it.

use std::process::Command;

use camino::{Utf8Path, Utf8PathBuf};
use rekindle_testkit::sandbox::Sandbox;
use serde_json::Value;

/// Where the tool counts otherwise: the case, its done and all tasks, and the row of
/// `docs/reference/protocols/openspec.md` that says why.
const OTHERWISE: [(&str, u64, u64, &str); 6] = [
    ("06-templates-only", 0, 2, "boxes without text"),
    ("07-parents", 7, 10, "parents"),
    ("08-no-ids", 3, 7, "parents"),
    ("09-not-tasks", 1, 4, "boxes in fences"),
    ("13-run-marks-the-parent", 2, 5, "parents"),
    ("14-crlf-bom-run", 1, 3, "parents"),
];

#[test]
fn openspec_counts_as_rekindle_does_where_the_reference_does_not_say_otherwise() {
    let root = Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/conformance/openspec");
    let mut cases: Vec<Utf8PathBuf> = root
        .read_dir_utf8()
        .unwrap()
        .map(|entry| entry.unwrap().into_path())
        .collect();
    cases.sort();
    let mut n_compared = 0;
    for case in cases {
        let name = case.file_name().unwrap();
        let sandbox = Sandbox::new(env!("CARGO_BIN_EXE_rekindle")).unwrap();
        let project = sandbox.project();
        let copied = Command::new("cp")
            .args(["-r", &format!("{case}/project/."), project.as_str()])
            .status();
        assert!(copied.unwrap().success());
        let ours = ours(&sandbox);
        let theirs = theirs(&sandbox);
        assert_eq!(ours.len(), theirs.len(), "{name}: the same changes");
        for (change, done, total) in theirs {
            n_compared += 1;
            let found = ours.iter().find(|(name, ..)| *name == change);
            let (_, ours_done, ours_total) = found.unwrap_or_else(|| panic!("no {change}"));
            let otherwise = OTHERWISE.iter().find(|(case, ..)| *case == name);
            match otherwise {
                Some((_, known_done, known_total, why)) => {
                    assert_eq!((done, total), (*known_done, *known_total), "{name}: {why}");
                    assert!(total > *ours_total, "{name}: {why}");
                }
                None => assert_eq!((done, total), (*ours_done, *ours_total), "{name}: {change}"),
            }
        }
    }
    assert!(n_compared > 12, "only {n_compared} changes were compared");
}

/// Returns the active changes as rekindle counts them; what is left out counts as open for the tool.
fn ours(sandbox: &Sandbox) -> Vec<(String, u64, u64)> {
    let status = sandbox.run(&["status", "--all", "--json"]).unwrap();
    let status = status.json().unwrap();
    let all = status["workflows"].as_array().unwrap().iter();
    let active = all.filter(|one| one["stage"] != "archived");
    let names = active.map(|one| one["id"].as_str().unwrap().to_owned());
    let counts = names.map(|id| {
        let inspected = sandbox.run(&["inspect", &id, "--json"]).unwrap();
        let facts = &inspected.json().unwrap()["facts"];
        let number = |key: &str| facts[key].as_u64().unwrap();
        let name = id.trim_start_matches("openspec:").to_owned();
        (name, number("done"), number("total"))
    });
    counts.collect()
}

/// Returns the changes as `OpenSpec` counts them.
fn theirs(sandbox: &Sandbox) -> Vec<(String, u64, u64)> {
    let program = std::env::var("REKINDLE_TEST_OPENSPEC").expect("the path of openspec");
    let output = Command::new(program)
        .args(["list", "--json"])
        .current_dir(sandbox.project())
        .env("HOME", sandbox.root())
        .env("OPENSPEC_TELEMETRY", "0")
        .env("DO_NOT_TRACK", "1")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let listed: Value = serde_json::from_str(&text).unwrap_or_else(|error| {
        let said = String::from_utf8_lossy(&output.stderr);
        panic!("{error}: {text}{said}")
    });
    let changes = listed["changes"].as_array().unwrap().iter();
    let counts = changes.map(|change| {
        let number = |key: &str| change[key].as_u64().unwrap();
        let name = change["name"].as_str().unwrap().to_owned();
        (name, number("completedTasks"), number("totalTasks"))
    });
    counts.collect()
}
