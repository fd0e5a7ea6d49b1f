//! Converts the engine's reports to events of this protocol and back.

use camino::Utf8PathBuf;
use jiff::Timestamp;
use rekindle_model::{Attempted, Happened, Moment};
use serde_json::Value;

use super::record::{AFTER, Record};
use super::{AgentMemory, layout};
use rekindle_protocol::capability::Engine;
use rekindle_protocol::happened;

impl Engine for AgentMemory {
    fn record(
        &self,
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

    fn heard(&self, line: &str) -> Option<(String, u32, Happened)> {
        happened::heard(line)
    }

    fn heard_at(&self, line: &str) -> Option<Timestamp> {
        let event: Value = serde_json::from_str(line).ok()?;
        let time = |key: &str| rekindle_text::parse_instant(event.get(key)?.as_str()?);
        time("timestamp").max(time(AFTER))
    }

    /// A writer has a log of its own.
    fn attempt_log(&self, run: &str, actor: &str, task: &str, attempt: u32) -> Utf8PathBuf {
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

    fn orchestrator_logs(&self, run: &str) -> Option<Utf8PathBuf> {
        Some(layout::run_folder(run).join("events/orchestrator"))
    }

    fn own_folders(&self) -> &'static [&'static str] {
        &[".agent-memory"]
    }

    fn evidence(&self, _: &Attempted) -> Vec<(&'static str, String)> {
        Vec::new()
    }

    fn mirrored(&self, _: &[u8], _: &Happened, _: Timestamp) -> Option<Vec<u8>> {
        None
    }
}

/// The FNV-1a hash.
fn digest(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use rekindle_model::{AgentEnd, Delivery, FailureKind, Kill, Stage, Victim};

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
            Happened::Ended(AgentEnd {
                exit: Some(0),
                denied: Some("Write".to_owned()),
                boot: None,
            }),
            Happened::Ended(AgentEnd {
                exit: None,
                denied: None,
                boot: Some("b".to_owned()),
            }),
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
            let line = AgentMemory.record("run", "executor-1", "T1", 3, &happened, at);
            assert!(!line.contains('\n'));
            assert_eq!(
                AgentMemory.heard(&line),
                Some(("T1".to_owned(), 3, happened))
            );
        }
        let beat = Happened::Beat {
            stage: Stage::Verifying,
        };
        assert_eq!(
            AgentMemory.heard(&AgentMemory.record("run", "executor-1", "T1", 3, &beat, at)),
            None
        );
        assert_eq!(AgentMemory.heard("torn {"), None);
    }

    #[test]
    fn every_task_has_its_own_log_in_the_run() {
        let name = |task: &str| {
            AgentMemory
                .attempt_log("r", "executor-1", task, 2)
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
