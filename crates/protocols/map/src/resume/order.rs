//! What somebody was sent off for, as it is carried with the order.

use camino::Utf8PathBuf;
use rekindle_text::shell_word;
use rekindle_world::World;

use crate::desk::Desk;

/// How a subtask is gone through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    /// By the cursor, one subtask after the other.
    Serial,
    /// As a member of a wave.
    Wave,
}

/// What somebody was sent off for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Order {
    /// The step.
    pub(super) step: String,
    pub(super) mode: Mode,
    /// Where a verdict is left, for those who give one.
    pub(super) verdict: Option<String>,
}

impl Order {
    pub(super) fn new(step: &str, mode: Mode) -> Self {
        Self {
            step: step.to_owned(),
            mode,
            verdict: None,
        }
    }

    /// Returns the order with a place for the verdict that nobody has used yet.
    ///
    /// A verdict that is already there is somebody else's: of an attempt before, or of a rekindle
    /// that died before it could read it.
    pub(super) fn with_verdict(mut self, desk: Desk<'_>, subtask: &str) -> Self {
        let folder = folder(desk);
        let known = desk.names(&folder);
        let role = if self.step == "2.26" {
            "gate"
        } else {
            "monitor"
        };
        let name = |n: usize| format!("{subtask}-{role}-{n}.json");
        // Among one more names than there are, one is free.
        let mut names = (1..=known.len() + 1).map(name);
        let free = names.find(|name| !known.contains(name));
        self.verdict = free.map(|name| format!("{folder}/{name}"));
        self
    }

    /// Says how a caller who does the step itself tells the state machine what came of it.
    pub(super) fn by_hand(&self, world: &dyn World, subtask: Option<&str>) -> Vec<String> {
        let step = &self.step;
        let id = subtask.unwrap_or_default();
        let close = match self.mode {
            Mode::Serial => format!("rekindle map validate_step {step}"),
            Mode::Wave => format!("rekindle map validate_wave_step {id} {step}"),
        };
        match (step.as_str(), &self.verdict) {
            // A plan that is changed as a person wants is put to them again.
            ("1.55", _) => Vec::new(),
            ("2.4", Some(verdict)) => {
                let verdict = absolute(world, verdict);
                let (envelope, reject) = match self.mode {
                    Mode::Serial => (
                        format!(
                            " --recommendation proceed --monitor-envelope - < {}",
                            shell_word(verdict.as_str())
                        ),
                        "rekindle map monitor_failed".to_owned(),
                    ),
                    Mode::Wave => (
                        String::new(),
                        format!("rekindle map wave_monitor_failed {id}"),
                    ),
                };
                vec![
                    format!(
                        "when the verdict is yes: `rekindle map record_subtask_result {id} valid --summary TEXT`, then `{close}{envelope}`"
                    ),
                    format!("when it is no: `{reject} --feedback TEXT`"),
                ]
            }
            ("2.26", _) => vec![
                format!("when the new tests fail as they should: `{close}`"),
                "when they do not: write them anew, and look again".to_owned(),
            ],
            _ => vec![format!("when it is done: `{close}`")],
        }
    }

    /// Writes it as one line.
    pub(super) fn to_line(&self) -> String {
        let mode = match self.mode {
            Mode::Serial => "serial",
            Mode::Wave => "wave",
        };
        let verdict = self.verdict.as_deref().unwrap_or_default();
        format!("{} {mode} {verdict}", self.step)
    }

    /// Reads it back.
    pub(super) fn parse(line: &str) -> Option<Self> {
        let mut parts = line.splitn(3, ' ');
        let (step, mode) = (parts.next()?, parts.next()?);
        let verdict = parts.next().filter(|path| !path.is_empty());
        Some(Self {
            step: step.to_owned(),
            mode: match mode {
                "serial" => Mode::Serial,
                "wave" => Mode::Wave,
                _ => return None,
            },
            verdict: verdict.map(str::to_owned),
        })
    }
}

/// Returns whether an id can be part of a file's name and leads nowhere else.
pub(super) fn is_plain(id: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_.-".contains(c);
    !id.is_empty() && !id.starts_with('.') && id.len() <= 64 && id.chars().all(plain)
}

/// Returns the folder of our own notes on a branch, relative to the project.
pub(super) fn folder(desk: Desk<'_>) -> String {
    format!(".rekindle/logs/map/{}", desk.branch)
}

/// Returns the absolute form of a path, for whoever works in another folder.
pub(super) fn absolute(world: &dyn World, path: &str) -> Utf8PathBuf {
    world.project().join(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_reads_back() {
        let plain = Order::new("2.3", Mode::Wave);
        let verdict = Order {
            verdict: Some(".rekindle/logs/map/a b/x.json".to_owned()),
            ..Order::new("2.4", Mode::Serial)
        };
        for order in [plain, verdict] {
            assert_eq!(Order::parse(&order.to_line()), Some(order));
        }
        assert_eq!(Order::parse("2.4"), None);
    }

    #[test]
    fn an_id_that_leads_elsewhere_names_no_file() {
        for good in ["ST-001", "ST_1.a"] {
            assert!(is_plain(good), "{good}");
        }
        for bad in ["", "..", "../x", "a/b", ".x", "a b", "a\n"] {
            assert!(!is_plain(bad), "{bad:?}");
        }
    }
}
