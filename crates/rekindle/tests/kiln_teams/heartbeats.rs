//! When a worker counts as dead.

use anyhow::Result;
use serde_json::{Value, json};

use crate::scenes::{alive, of_tasks, scene, with};
use crate::verdicts::{STALE, check, is};

const NOTHING: [&str; 0] = [];

#[test]
fn a_heartbeat_is_judged_by_its_stage_and_an_unknown_stage_gets_the_longest_limit() -> Result<()> {
    let rows: [(&str, Value, &str, &[&str]); 12] = [
        (
            "claimed 5",
            json!({"stage": "claimed", "heartbeat_age": 5}),
            "warning",
            &STALE,
        ),
        (
            "started 11",
            json!({"stage": "started", "heartbeat_age": 11}),
            "dead",
            &STALE,
        ),
        (
            "sharpening 15",
            json!({"stage": "sharpening", "heartbeat_age": 15}),
            "warning",
            &STALE,
        ),
        (
            "sharpened 15 and a second",
            json!({"stage": "sharpened", "heartbeat": "2026-02-16T14:44:59Z"}),
            "dead",
            &STALE,
        ),
        (
            "implemented 30",
            json!({"stage": "implemented", "heartbeat_age": 30}),
            "warning",
            &STALE,
        ),
        (
            "implementing a second late",
            json!({"heartbeat": "2026-02-16T14:29:59Z"}),
            "dead",
            &STALE,
        ),
        (
            "verifying 20",
            json!({"stage": "verifying", "heartbeat_age": 20}),
            "warning",
            &STALE,
        ),
        (
            "with an offset",
            json!({"heartbeat": "2026-02-16T15:55:00+01:00"}),
            "healthy",
            &NOTHING,
        ),
        (
            "unknown stage",
            json!({"stage": "implmenting", "heartbeat_age": 29}),
            "warning",
            &["STALE_HEARTBEAT", "UNKNOWN_STAGE"],
        ),
        (
            "future",
            json!({"heartbeat": "2026-02-16T16:00:00Z"}),
            "healthy",
            &["CLOCK_AHEAD"],
        ),
        ("unreadable", json!({"heartbeat": "soon"}), "dead", &STALE),
        (
            "number",
            json!({"heartbeat": 1_771_250_400}),
            "dead",
            &STALE,
        ),
    ];
    for (about, more, tier, warnings) in rows {
        let class = if tier == "dead" {
            "rerun_required"
        } else {
            "in_progress"
        };
        let facts = json!({
            "classification": of_tasks(&[(1, 1, class)]),
            "heartbeat": of_tasks(&[(1, 1, tier)]),
        });
        let task = with(alive(1, 1), more);
        check(about, &scene(&[task]), &facts, Some(warnings))?;
    }
    let mut silent = alive(1, 1);
    silent
        .as_object_mut()
        .map(|task| task.remove("heartbeat_age"));
    is("none", silent, "rerun_required", &STALE)
}
