//! Words of the engine in this protocol's events, and back.

use camino::Utf8PathBuf;
use jiff::Timestamp;
use rekindle_model::{Delivery, FailureKind, Happened, Kill, Victim};
use serde_json::{Value, json};

use super::layout;
use super::record::Record;

/// Returns the line that records what happened to an attempt.
pub(crate) fn record(
    run: &str,
    actor: &str,
    task: &str,
    attempt: u32,
    happened: &Happened,
    at: Timestamp,
) -> String {
    let (event, details) = match happened {
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
    };
    Record::new(event, run, at)
        .actor(actor)
        .task(task)
        .details(details)
        .line()
}

fn killed(attempt: u32, kill: &Kill) -> Value {
    let victim = kill.victim.as_str();
    json!({"attempt": attempt, "killed": victim, "signal": kill.signal})
}

/// Returns what a line of an attempt's log says, of which task and which attempt.
pub(crate) fn heard(line: &str) -> Option<(String, u32, Happened)> {
    let event: Value = serde_json::from_str(line).ok()?;
    let task = event.get("task_id")?.as_str()?.to_owned();
    let details = event.get("details")?;
    let attempt = u32::try_from(details.get("attempt")?.as_u64()?).ok()?;
    let text = |key: &str| details.get(key).and_then(Value::as_str).map(str::to_owned);
    let kill = || {
        let victim = Victim::parse(details.get("killed")?.as_str()?)?;
        let signal = details.get("signal").and_then(Value::as_i64);
        let signal = signal.and_then(|signal| i32::try_from(signal).ok());
        Some(Kill { victim, signal })
    };
    let happened = match event.get("event_type")?.as_str()? {
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
        // A sign of life is not a word about how it went.
        _ => return None,
    };
    Some((task, attempt, happened))
}

/// Returns the log of an attempt, relative to the project: a writer has a log of its own.
pub(crate) fn attempt_log(run: &str, actor: &str, task: &str, attempt: u32) -> Utf8PathBuf {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    let mut name: String = task.chars().filter(|c| plain(*c)).take(80).collect();
    // A name that lost something is told from others that lost the same by a digest.
    if name != task || name.starts_with('.') {
        name = format!("{}~{:016x}", name.trim_start_matches('.'), digest(task));
    }
    let name = format!("{name}-{attempt}.jsonl");
    layout::run_folder(run)
        .join("events")
        .join(actor)
        .join(name)
}

/// FNV-1a: short, and the same everywhere and always.
fn digest(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use rekindle_model::Stage;

    use super::*;

    #[test]
    fn what_is_written_is_understood_again() {
        let at: Timestamp = "2026-01-20T12:00:00Z".parse().unwrap();
        let delivery = Delivery {
            commit: "c".to_owned(),
            tree: "t".to_owned(),
            base: "b".to_owned(),
            session: Some("s".to_owned()),
            cost: Some(12),
        };
        let all = [
            Happened::Claimed,
            Happened::Session { id: "s".to_owned() },
            Happened::Cost { microdollars: 7 },
            Happened::Started {
                base: "b".to_owned(),
            },
            Happened::Implemented(delivery),
            Happened::Failed {
                reason: "no\nway".to_owned(),
                kind: FailureKind::Conflict,
            },
            Happened::Limited { until: None },
            Happened::Stopped { killed: None },
            Happened::Stopped {
                killed: Some(Kill {
                    victim: Victim::Agent,
                    signal: Some(9),
                }),
            },
            Happened::Interrupted(Kill {
                victim: Victim::Worker,
                signal: None,
            }),
            Happened::Completed {
                commit: "c".to_owned(),
            },
            Happened::Blocked {
                reason: "r".to_owned(),
            },
        ];
        for happened in all {
            let line = record("run", "executor-1", "T1", 3, &happened, at);
            assert!(!line.contains('\n'));
            assert_eq!(heard(&line), Some(("T1".to_owned(), 3, happened)));
        }
        let beat = Happened::Beat {
            stage: Stage::Verifying,
        };
        assert_eq!(
            heard(&record("run", "executor-1", "T1", 3, &beat, at)),
            None
        );
        assert_eq!(heard("torn {"), None);
    }

    #[test]
    fn a_task_can_not_choose_where_its_log_is_nor_share_it() {
        let name = |task: &str| {
            attempt_log("r", "executor-1", task, 2)
                .file_name()
                .unwrap()
                .to_owned()
        };
        assert_eq!(name("T001"), "T001-2.jsonl");
        assert!(name("../../x").starts_with("x~"));
        let odd = ["a b", "a_b", "ab", "任务一", "任务二", ".a"].map(name);
        let distinct: std::collections::BTreeSet<_> = odd.iter().collect();
        assert_eq!(distinct.len(), odd.len(), "{odd:?}");
    }
}
