//! What happened to an attempt, as the name of an event and its details, and back.
//!
//! Every log that the engine writes has these words, whatever the protocol wraps around them.

use rekindle_model::{AgentEnd, Delivery, FailureKind, Happened, Kill, Victim};
use serde_json::{Value, json};

/// The verdict about an agent that reported no failure; others are reported as failures.
const SUCCEEDED: &str = "succeeded";

/// Returns what a line of an attempt's log says, of which task and which attempt.
pub fn heard(line: &str) -> Option<(String, u32, Happened)> {
    let event: Value = serde_json::from_str(line).ok()?;
    let task = event.get("task_id")?.as_str()?.to_owned();
    let details = event.get("details")?;
    let attempt = u32::try_from(details.get("attempt")?.as_u64()?).ok()?;
    let happened = understand(event.get("event_type")?.as_str()?, details)?;
    Some((task, attempt, happened))
}

/// Returns the event that tells it, and its details.
pub fn spell(happened: &Happened, attempt: u32) -> (&'static str, Value) {
    match happened {
        Happened::Claimed => ("task_claimed", json!({"attempt": attempt})),
        Happened::Started { base } => ("task_started", json!({"attempt": attempt, "base": base})),
        Happened::Beat { stage } => (
            "heartbeat",
            json!({"attempt": attempt, "stage": stage.as_str()}),
        ),
        Happened::Session { id } => (
            "agent_session",
            json!({"attempt": attempt, "session_id": id}),
        ),
        Happened::Cost { microdollars } => (
            "agent_cost",
            json!({"attempt": attempt, "cost_microdollars": microdollars}),
        ),
        Happened::Ended(end) => (
            "agent_ended",
            json!({
                "attempt": attempt,
                "verdict": SUCCEEDED,
                "exit": end.exit,
                "denied": end.denied,
                "boot_id": end.boot,
            }),
        ),
        Happened::Implemented(delivery) => (
            "task_implemented",
            json!({
                "attempt": attempt,
                "commit": delivery.commit,
                "tree": delivery.tree,
                "base": delivery.base,
                "session_id": delivery.session,
                "cost_microdollars": delivery.cost,
            }),
        ),
        Happened::Failed { reason, kind } => (
            "task_failed",
            json!({"attempt": attempt, "error": reason, "category": kind.as_str()}),
        ),
        Happened::Limited { until } => {
            ("usage_limited", json!({"attempt": attempt, "until": until}))
        }
        Happened::Stopped { killed: None } => ("attempt_stopped", json!({"attempt": attempt})),
        Happened::Stopped { killed: Some(kill) } => ("attempt_stopped", killed(attempt, kill)),
        Happened::Interrupted(kill) => ("attempt_interrupted", killed(attempt, kill)),
        Happened::Completed { commit } => (
            "task_completed",
            json!({"attempt": attempt, "commit": commit}),
        ),
        Happened::Blocked { reason } => (
            "task_blocked",
            json!({"attempt": attempt, "reason": reason, "blocking": true}),
        ),
        Happened::Reopened { reason } => ("task_ready", json!({"reason": reason})),
    }
}

fn killed(attempt: u32, kill: &Kill) -> Value {
    let victim = kill.victim.as_str();
    json!({"attempt": attempt, "killed": victim, "signal": kill.signal})
}

/// Returns what an event tells; a sign of life is not a word about how it went.
pub fn understand(event: &str, details: &Value) -> Option<Happened> {
    let text = |key: &str| details.get(key).and_then(Value::as_str).map(str::to_owned);
    let number = |key: &str| i32::try_from(details.get(key)?.as_i64()?).ok();
    let kill = || {
        let victim = Victim::parse(details.get("killed")?.as_str()?)?;
        let signal = number("signal");
        Some(Kill { victim, signal })
    };
    Some(match event {
        "task_claimed" => Happened::Claimed,
        "task_started" => Happened::Started {
            base: text("base")?,
        },
        "agent_session" => Happened::Session {
            id: text("session_id")?,
        },
        "agent_cost" => Happened::Cost {
            microdollars: details.get("cost_microdollars")?.as_u64()?,
        },
        "agent_ended" if text("verdict").as_deref() == Some(SUCCEEDED) => {
            Happened::Ended(AgentEnd {
                exit: number("exit"),
                denied: text("denied"),
                boot: text("boot_id"),
            })
        }
        "task_implemented" => Happened::Implemented(Delivery {
            commit: text("commit")?,
            tree: text("tree")?,
            base: text("base")?,
            session: text("session_id"),
            cost: details.get("cost_microdollars").and_then(Value::as_u64),
        }),
        "task_failed" => Happened::Failed {
            reason: text("error").unwrap_or_default(),
            kind: FailureKind::parse(&text("category").unwrap_or_default()),
        },
        "usage_limited" => Happened::Limited {
            until: text("until"),
        },
        "attempt_stopped" => Happened::Stopped { killed: kill() },
        // Those of older versions do not say who it was.
        "attempt_interrupted" => Happened::Interrupted(kill().unwrap_or(Kill {
            victim: Victim::Worker,
            signal: None,
        })),
        "task_completed" => Happened::Completed {
            commit: text("commit")?,
        },
        "task_blocked" => Happened::Blocked {
            reason: text("reason").unwrap_or_default(),
        },
        _ => return None,
    })
}
