//! Reports in a real Chromium: what they look like, and what can be done with them.

use anyhow::{Context as _, Result, ensure};
use camino::Utf8Path;
use rekindle_testkit::process::{Call, Environment};
use rekindle_testkit::sandbox::{LIMIT, Sandbox};
use serde_json::{Value, json};

use crate::histories::many;
use crate::orders::{Orders, report};
use crate::pages::{HOSTILE, hostile, report_now};

/// What the browser needs to be told of this machine.
const VARIABLES: [&str; 6] = [
    "PATH",
    "HOME",
    "REKINDLE_TEST_PLAYWRIGHT",
    "REKINDLE_TEST_AXE",
    "REKINDLE_TEST_CHROMIUM",
    "TMPDIR",
];

/// Walks through a report in the browser and returns what was seen; nothing may go wrong on the way, and
/// nothing but the file may be asked for.
#[expect(
    clippy::disallowed_methods,
    reason = "the test is told where the browser and its driver are"
)]
fn walk(journey: &str, sandbox: &Sandbox, file: &str, folder: Option<&str>) -> Result<Value> {
    let script = Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/report/browser.mjs");
    let path = sandbox.path(file);
    let mut args = [script.as_str(), journey, path.as_str()]
        .map(str::to_owned)
        .to_vec();
    args.extend(folder.map(str::to_owned));
    let variable = |name: &&str| Some(((*name).into(), std::env::var_os(name)?));
    let environment: Environment = VARIABLES.iter().filter_map(variable).collect();
    ensure!(
        environment.contains_key(std::ffi::OsStr::new("REKINDLE_TEST_PLAYWRIGHT")),
        "REKINDLE_TEST_PLAYWRIGHT names no driver"
    );
    let call = Call {
        program: "node",
        args: &args,
        folder: sandbox.project(),
        environment: &environment,
        stdin: "",
        limit: LIMIT * 3,
    };
    let output = call.run()?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{}: {said}", output.status);
    let seen: Value = serde_json::from_slice(&output.stdout).context("what was seen")?;
    assert_eq!(seen["trouble"], json!([]), "{journey}");
    Ok(seen["seen"].clone())
}

fn texts(value: &Value) -> Vec<&str> {
    let all = value.as_array().into_iter().flatten();
    all.filter_map(Value::as_str).collect()
}

#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "pictures are only wanted sometimes"
)]
fn axe_finds_nothing_in_both_themes_on_screens_and_phones() -> Result<()> {
    let orders = Orders::new()?;
    orders.report(&["-o", "report.html"])?;
    let folder = std::env::var("REKINDLE_SCREENSHOTS").ok();
    let seen = walk("looks", &orders.sandbox, "report.html", folder.as_deref())?;
    let looks = seen.as_array().context("looks")?;
    assert_eq!(looks.len(), 4);
    for look in looks {
        assert_eq!(look["violations"], json!([]), "{look}");
        assert_eq!(look["excess"], 0, "{look}");
        // It looked at a page and not at nothing.
        ensure!(look["passes"].as_u64() > Some(20), "{look}");
    }
    Ok(())
}

#[test]
fn hostile_texts_stay_texts_on_the_page() -> Result<()> {
    let sandbox = hostile()?;
    report_now(&sandbox, &["-o", "report.html", "--with-output"])?;
    let seen = walk("hostile", &sandbox, "report.html", None)?;
    assert_eq!(seen["elements"], 0, "{seen}");
    assert_eq!(seen["scripts"], 2, "{seen}");
    let shown = HOSTILE.split('\u{1b}').next().unwrap_or_default();
    ensure!(
        texts(&seen["listed"]).iter().all(|one| one.contains(shown)),
        "{seen}"
    );
    for tab in ["Output", "Diff"] {
        let text = seen["texts"][tab].as_str().unwrap_or_default();
        ensure!(
            text.contains("<img src=x onerror=alert(1)>"),
            "{tab}: {seen}"
        );
    }
    ensure!(
        seen["heading"]
            .as_str()
            .is_some_and(|heading| heading.contains(shown)),
        "{seen}"
    );
    Ok(())
}

#[test]
fn everything_can_be_reached_with_the_keyboard() -> Result<()> {
    let orders = Orders::new()?;
    orders.report(&["-o", "report.html"])?;
    let seen = walk("keys", &orders.sandbox, "report.html", None)?;
    assert_eq!(seen["begin"], "T011", "it opens at what needs a person");
    assert_eq!(seen["first"], "Skip to the content");
    for (key, task) in [
        ("needing", "T011"),
        ("up", "T010"),
        ("down", "T011"),
        ("focused", "T011"),
    ] {
        assert_eq!(seen[key], task, "{key}: {seen}");
    }
    assert_eq!(seen["tab"], "Attempts 5");
    ensure!(
        seen["panel"]
            .as_str()
            .is_some_and(|panel| panel.contains("rounding::half_even")),
        "{seen}"
    );
    assert_eq!(seen["open"], 4, "{seen}");
    assert_eq!(seen["found"], json!(["T013 Load test"]));
    assert_eq!(seen["told"], "1 of 14");
    assert_eq!(seen["unseen"], json!([]));
    Ok(())
}

#[test]
fn it_can_be_read_without_scripts() -> Result<()> {
    let orders = Orders::new()?;
    orders.report(&["-o", "report.html"])?;
    let seen = walk("still", &orders.sandbox, "report.html", None)?;
    ensure!(
        seen["story"]
            .as_str()
            .is_some_and(|story| story.contains("No delivered work was lost")),
        "{seen}"
    );
    for drawing in ["timeline", "graph"] {
        ensure!(seen[drawing].as_f64() > Some(200.0), "{drawing}: {seen}");
    }
    let rows = texts(&seen["rows"]);
    assert_eq!(rows.len(), 14);
    ensure!(
        rows[10].contains("T011 Invoices") && rows[10].contains("needs you"),
        "{}",
        rows[10]
    );
    ensure!(
        rows[10].contains("#3 11:10:00–11:20:00 killed, saved"),
        "{}",
        rows[10]
    );
    Ok(())
}

#[test]
fn ten_thousand_tasks_scroll_without_freezing() -> Result<()> {
    let sandbox = many(10_000)?;
    report(&sandbox, &["-o", "report.html"])?;
    let seen = walk("scroll", &sandbox, "report.html", None)?;
    assert_eq!(seen["all"], "10001");
    ensure!(seen["rows"].as_u64() < Some(80), "{seen}");
    ensure!(
        seen["tasks"].as_u64() > Some(50) && seen["top"].as_f64() > Some(1000.0),
        "{seen}"
    );
    ensure!(seen["longest"].as_f64() < Some(100.0), "{seen}");
    Ok(())
}
