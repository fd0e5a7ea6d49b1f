//! What a report tells, and that it is the same each time.

use anyhow::{Context as _, Result, ensure};
use rekindle_testkit::sandbox::{Ran, Sandbox};
use serde_json::{Value, json};

use crate::BINARY;
use crate::orders::{ID, Orders, shell};

pub(crate) const HOSTILE: &str = "</script></title></textarea><img src=x onerror=alert(1)><svg onload=alert(2)>&\"'`\u{1b}]0;x\u{7}\u{202e}";
const SECRET: &str = "ghp_AbCdEfGhIjKlMnOpQrStUvWxYz0123456789";

#[test]
fn it_tells_how_often_a_run_died_and_that_nothing_was_lost() -> Result<()> {
    let orders = Orders::new()?;
    let picture = orders.report(&["--json"])?.json()?;
    assert_eq!(
        picture["story"],
        json!([
            "10 of 14 tasks have landed.",
            "The run was interrupted twice (once by a restart of the machine) and reached a usage limit once; for 39 min no orchestrator was at work.",
            "No delivered work was lost: one worker finished alone, and 5 killed attempts were done again.",
        ])
    );
    let counts = &picture["counts"];
    let of = |key: &str| counts[key].as_u64();
    assert_eq!(
        [
            "done",
            "running",
            "needs_person",
            "open",
            "killed",
            "failed",
            "limited",
            "limits"
        ]
        .map(of),
        [10, 2, 1, 1, 5, 4, 3, 1].map(Some)
    );
    assert_eq!(of("cost_microdollars"), Some(8_340_000));
    let lives: Vec<_> = picture["lives"]
        .as_array()
        .context("lives")?
        .iter()
        .collect();
    let ends: Vec<_> = lives
        .iter()
        .map(|life| (&life["to"], &life["end"]))
        .collect();
    assert_eq!(
        ends,
        [
            (&json!("2026-01-19T09:41:00Z"), &json!("interrupted")),
            (&json!("2026-01-19T11:20:00Z"), &json!("restarted")),
            (&Value::Null, &json!("alive")),
        ]
    );
    // Every attempt that was killed is saved and was done again.
    let tasks = picture["tasks"].as_array().context("tasks")?;
    for task in tasks {
        let attempts = task["attempts"].as_array().context("attempts")?;
        for (n, attempt) in attempts.iter().enumerate() {
            if attempt["end"] == "killed" {
                ensure!(attempt["saved"].is_string(), "{task}");
                ensure!(n + 1 < attempts.len(), "{task}");
            }
        }
    }
    assert_eq!(tasks[13]["word"], "waits for T011");
    assert_eq!(picture["needs_person"][0]["task"], "T011");
    let command = format!("rekindle retry agent-memory:{ID} T011");
    assert_eq!(picture["needs_person"][0]["command"], json!(command));

    let svg = orders.report(&["--svg", "timeline", "-o", "-"])?;
    let svg = svg.stdout();
    for word in [
        "09:41 interrupted",
        "10:13 resumed",
        "10:44 limit",
        "11:20 restart",
        "delivered alone",
        "silent 4 min",
    ] {
        ensure!(svg.contains(word), "`{word}` is not in the timeline");
    }
    assert_eq!(svg.matches("class=\"bar killed\"").count(), 5);
    assert_eq!(svg.matches("class=\"bar ").count(), 24);
    Ok(())
}

#[test]
fn the_same_world_gives_the_same_bytes() -> Result<()> {
    let orders = Orders::new()?;
    for args in [
        &["-o", "-"][..],
        &["-o", "-", "--with-output"],
        &["-o", "-", "--svg", "timeline"],
        &["-o", "-", "--svg", "graph"],
        &["-o", "-", "--trace"],
        &["--json"],
    ] {
        let [one, two] = [orders.report(args)?, orders.report(args)?];
        assert_eq!(one.stdout(), two.stdout(), "{args:?}");
    }
    // Without a name it is written beside, under the name of the run.
    let said = orders.report(&[])?;
    let stdout = said.stdout();
    ensure!(
        stdout.starts_with(&format!("wrote {ID}.html (")),
        "{stdout}"
    );
    ensure!(
        stdout.contains("14 tasks, 10 diffs, no output of agents"),
        "{stdout}"
    );
    let written = orders.sandbox.read(format!("{ID}.html"))?;
    assert_eq!(written, orders.report(&["-o", "-"])?.stdout());
    Ok(())
}

/// An agent that does the first task and fails the second; it says hostile things and writes them.
const AGENT: &str = r#"cat > /dev/null
cat "$HOSTILE"
[ "$REKINDLE_TASK" = T1 ] || { cat "$HOSTILE" >&2; exit 1; }
cat "$HOSTILE" > page.html
"#;

/// A run whose every text is hostile and has a secret in it, in a repository that would have git run
/// programs.
pub(crate) fn hostile() -> Result<Sandbox> {
    let sandbox = Sandbox::new(BINARY)?;
    let text = format!("{HOSTILE} token={SECRET}");
    let said = sandbox.root().join("hostile.txt");
    fs_err::write(&said, format!("{text}\n"))?;
    let task = |id: &str| json!({"id": id, "title": text, "description": text});
    let plan = json!({"title": text, "tasks": [task("T1"), task("T2")]});
    sandbox.write("plan.json", plan.to_string())?;
    sandbox.write(".gitattributes", "*.html diff=trap\n")?;
    shell(
        &sandbox,
        "git init -q -b main; git config user.name a; git config user.email a@b; git config diff.trap.textconv 'touch trapped; cat'; git config diff.external 'touch trapped; true'; git add .; git commit -qm start",
    )?;
    let agent = sandbox.script("agent.sh", AGENT)?;
    let run = [
        "run",
        "plan.json",
        "--branch",
        "result",
        "--yes",
        "--retries",
        "0",
    ];
    let run = [&run[..], &["--agent-cmd", &agent]].concat();
    let typed = sandbox.typed(&run).without("REKINDLE_NOW");
    let ran = typed.with("HOSTILE", said.as_str()).run()?;
    ensure!(ran.code() == Some(5) || ran.code() == Some(1), "{ran}");
    Ok(sandbox)
}

/// Runs `rekindle report` now.
pub(crate) fn report_now(sandbox: &Sandbox, args: &[&str]) -> Result<Ran> {
    let typed = sandbox.typed(&[&["report"][..], args].concat());
    let ran = typed.without("REKINDLE_NOW").run()?;
    ensure!(ran.code() == Some(0), "{ran}");
    Ok(ran)
}

#[test]
fn hostile_texts_stay_texts_and_secrets_are_masked() -> Result<()> {
    let sandbox = hostile()?;
    for args in [
        &["-o", "-", "--with-output"][..],
        &["-o", "-", "--svg", "timeline"],
        &["-o", "-", "--svg", "graph"],
        &["-o", "-", "--trace"],
        &["--json"],
    ] {
        let ran = report_now(&sandbox, args)?;
        let text = ran.stdout();
        ensure!(!text.contains(SECRET), "{args:?} shows a secret: {text}");
        for control in ['\u{1b}', '\u{7}', '\u{202e}'] {
            ensure!(!text.contains(control), "{args:?} has {control:?}");
        }
        if args.contains(&"--with-output") || args.contains(&"--svg") {
            let found = ["<img", "<svg onload"].map(|one| text.matches(one).count());
            assert_eq!(found, [0, 0], "{args:?}");
        }
    }
    let page = report_now(&sandbox, &["-o", "-", "--with-output"])?;
    let page = page.stdout();
    ensure!(page.contains("token=***"), "{page}");
    assert_eq!(page.matches("</script>").count(), 2);
    // What the repository would have git run was not run.
    ensure!(
        !sandbox.path("trapped").exists(),
        "a program of the repository was run"
    );
    Ok(())
}

#[test]
fn output_is_in_it_only_if_it_is_asked_for() -> Result<()> {
    let sandbox = hostile()?;
    let outputs = |args: &[&str]| -> Result<Vec<Value>> {
        let page = report_now(&sandbox, args)?;
        let page = page.stdout().into_owned();
        let (_, rest) = page.split_once("id=\"data\">").context("data")?;
        let (data, _) = rest.split_once("</script>").context("an end")?;
        let data: Value = serde_json::from_str(data)?;
        let details = data["details"].as_array().context("details")?.clone();
        Ok(details
            .into_iter()
            .map(|detail| detail["output"].clone())
            .collect())
    };
    let with = outputs(&["-o", "-", "--with-output"])?;
    assert_eq!(with.len(), 2);
    for output in &with {
        let line = output["lines"][0].as_str().unwrap_or_default();
        ensure!(line.contains("token=***"), "{output}");
    }
    assert_eq!(outputs(&["-o", "-"])?, [Value::Null, Value::Null]);
    Ok(())
}

#[test]
fn a_link_in_the_place_of_the_report_leads_nowhere() -> Result<()> {
    let orders = Orders::new()?;
    let outside = orders.sandbox.root().join("outside.html");
    fs_err::write(&outside, "mine\n")?;
    let link = orders.sandbox.path(format!("{ID}.html"));
    fs_err::os::unix::fs::symlink(&outside, &link)?;
    let ran = orders.sandbox.run(&["report"])?;
    assert_eq!(fs_err::read_to_string(&outside)?, "mine\n", "{ran}");
    Ok(())
}
