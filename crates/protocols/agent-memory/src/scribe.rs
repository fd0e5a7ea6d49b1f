//! Converts the engine's reports to events of this protocol and back.

use camino::Utf8PathBuf;
use jiff::Timestamp;
use rekindle_model::{Happened, Moment};
use serde_json::Value;

use super::layout;
use super::record::{AFTER, Record};
use rekindle_protocol::happened;

/// Returns the event line for a report about an attempt.
pub(crate) fn record(
    run: &str,
    actor: &str,
    task: &str,
    attempt: u32,
    happened: &Happened,
    at: Moment,
) -> String {
    let (event, details) = happened::spell(happened, attempt);
    Record::new(event, run, at)
        .actor(actor)
        .task(task)
        .details(details)
        .line()
}

/// Returns the task, the attempt and the report in a line of an attempt's log.
pub(crate) fn heard(line: &str) -> Option<(String, u32, Happened)> {
    let event: Value = serde_json::from_str(line).ok()?;
    let task = event.get("task_id")?.as_str()?.to_owned();
    let details = event.get("details")?;
    let attempt = u32::try_from(details.get("attempt")?.as_u64()?).ok()?;
    let happened = happened::understand(event.get("event_type")?.as_str()?, details)?;
    Some((task, attempt, happened))
}

/// Returns the time that a line of a log has in the order of events.
pub(crate) fn heard_at(line: &str) -> Option<Timestamp> {
    let event: Value = serde_json::from_str(line).ok()?;
    let time = |key: &str| rekindle_text::parse_instant(event.get(key)?.as_str()?);
    time("timestamp").max(time(AFTER))
}

/// Returns the log of an attempt, relative to the project: a writer has a log of its own.
pub(crate) fn attempt_log(run: &str, actor: &str, task: &str, attempt: u32) -> Utf8PathBuf {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    let mut name: String = task.chars().filter(|c| plain(*c)).take(80).collect();
    // A digest keeps shortened names apart.
    if name != task || name.starts_with('.') {
        name = format!("{}~{:016x}", name.trim_start_matches('.'), digest(task));
    }
    let name = format!("{name}-{attempt}.jsonl");
    layout::run_folder(run)
        .join("events")
        .join(actor)
        .join(name)
}

/// The FNV-1a hash.
fn digest(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use rekindle_model::{Delivery, FailureKind, Kill, Stage, Victim};

    use super::*;

    #[test]
    fn reads_written_reports_back() {
        let at = Moment::from("2026-01-20T12:00:00Z".parse::<Timestamp>().unwrap());
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
    fn every_task_has_its_own_log_in_the_run() {
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
