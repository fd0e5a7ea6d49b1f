//! A server that dies in the middle of a resume, and the next one that takes it up.

use anyhow::{Context as _, Result, ensure};
use serde_json::json;

use crate::client::{Client, interrupted};

/// The points that a resume passes in which no agent is started.
const POINTS: [&str; 5] = [
    "after-lock",
    "after-intent",
    "after-effect",
    "after-done",
    "after-end",
];

#[test]
fn a_death_at_any_point_costs_nothing_but_the_answer() -> Result<()> {
    for point in POINTS {
        let (sandbox, run) = interrupted()?;
        let mut client = Client::open_in(&sandbox, &[("REKINDLE_CRASH_AT", point)])?;
        let plan = client.object("plan", &json!({}))?;
        let call = json!({"name": "resume", "arguments": {"digest": plan["digest"]}});
        client.ask("tools/call", &call)?;
        ensure!(client.hear().is_err(), "it did not die at {point}");
        drop(client);

        let mut client = Client::open(&sandbox)?;
        let plan = client.object("plan", &json!({}))?;
        let object = client.object("resume", &json!({"digest": plan["digest"]}))?;
        assert_eq!(object["step"]["task"], "T002", "{point}: {object}");
        client.end()?;
        let told = run.told(&sandbox).context(point)?;
        let n_resumed = told.matches("session_resumed\n").count();
        ensure!((1..=2).contains(&n_resumed), "{point}: {told}");
        ensure!(
            told.matches("task_started T002").count() == 1,
            "{point}: {told}"
        );
    }
    Ok(())
}
