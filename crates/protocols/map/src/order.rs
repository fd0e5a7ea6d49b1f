//! The assignment of an agent, as it is kept with the agent's task.

use camino::Utf8PathBuf;
use rekindle_map_machine::Desk;
use rekindle_text::shell_word;
use rekindle_world::World;

/// How subtasks are processed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// One subtask after the other.
    Serial,
    /// As a member of a wave.
    Wave,
}

/// The assignment of an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Order {
    /// The step.
    pub(crate) step: String,
    pub(crate) mode: Mode,
    /// The file for the verdict of a judging agent.
    pub(crate) verdict: Option<String>,
}

impl Order {
    pub(crate) fn new(step: &str, mode: Mode) -> Self {
        Self {
            step: step.to_owned(),
            mode,
            verdict: None,
        }
    }

    /// Adds an unused file for the verdict: an existing one is of another attempt or of a killed rekindle.
    pub(crate) fn with_verdict(mut self, desk: Desk<'_>, subtask: &str) -> Self {
        let folder = folder(desk);
        let known = desk.names(&folder);
        let is_gate = self.step == "2.26";
        let role = if is_gate { "gate" } else { "monitor" };
        let mut names =
            (1..=known.len() + 1).map(|number| format!("{subtask}-{role}-{number}.json"));
        let free = names.find(|name| !known.contains(name));
        self.verdict = free.map(|name| format!("{folder}/{name}"));
        self
    }

    /// Returns how a caller who does the step itself reports the result to the state machine.
    pub(crate) fn by_hand(&self, world: &dyn World, subtask: Option<&str>) -> Vec<String> {
        let step = &self.step;
        let id = subtask.unwrap_or_default();
        let close = match self.mode {
            Mode::Serial => format!("rekindle map validate_step {step}"),
            Mode::Wave => format!("rekindle map validate_wave_step {id} {step}"),
        };
        match (step.as_str(), &self.verdict) {
            // The person is asked about the revised plan again.
            ("1.55", _) => Vec::new(),
            ("2.4", Some(verdict)) => {
                let (envelope, reject) = match self.mode {
                    Mode::Serial => {
                        let verdict = absolute(world, verdict);
                        let verdict = shell_word(verdict.as_str());
                        (
                            format!(" --recommendation proceed --monitor-envelope - < {verdict}"),
                            "rekindle map monitor_failed".to_owned(),
                        )
                    }
                    Mode::Wave => (
                        String::new(),
                        format!("rekindle map wave_monitor_failed {id}"),
                    ),
                };
                vec![
                    format!(
                        "if the verdict is positive: `rekindle map record_subtask_result {id} valid --summary TEXT`, then `{close}{envelope}`"
                    ),
                    format!("if it is negative: `{reject} --feedback TEXT`"),
                ]
            }
            ("2.26", _) => vec![
                format!("if the new tests fail as they should: `{close}`"),
                "if they do not: rewrite them and run them again".to_owned(),
            ],
            _ => vec![format!("when it is done: `{close}`")],
        }
    }

    /// Returns the order as one line.
    pub(crate) fn to_line(&self) -> String {
        let mode = match self.mode {
            Mode::Serial => "serial",
            Mode::Wave => "wave",
        };
        let verdict = self.verdict.as_deref().unwrap_or_default();
        format!("{} {mode} {verdict}", self.step)
    }

    /// Parses the line of [`Self::to_line`].
    pub(crate) fn parse(line: &str) -> Option<Self> {
        let mut parts = line.splitn(3, ' ');
        let (step, mode) = (parts.next()?, parts.next()?);
        let mode = match mode {
            "serial" => Mode::Serial,
            "wave" => Mode::Wave,
            _ => return None,
        };
        let verdict = parts.next().filter(|path| !path.is_empty());
        Some(Self {
            verdict: verdict.map(str::to_owned),
            ..Self::new(step, mode)
        })
    }
}

/// Returns whether an id can safely be part of a file name.
pub(crate) fn is_plain(id: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_.-".contains(c);
    !id.is_empty() && !id.starts_with('.') && id.len() <= 64 && id.chars().all(plain)
}

/// Returns rekindle's log folder of a branch, relative to the project.
pub(crate) fn folder(desk: Desk<'_>) -> String {
    format!(".rekindle/logs/map/{}", desk.branch)
}

/// Returns the absolute form of a path.
pub(crate) fn absolute(world: &dyn World, path: &str) -> Utf8PathBuf {
    world.project().join(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_survives_the_round_trip_through_its_line() {
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
    fn an_id_that_is_unsafe_in_a_path_is_refused() {
        for good in ["ST-001", "ST_1.a"] {
            assert!(is_plain(good), "{good}");
        }
        for bad in ["", "..", "../x", "a/b", ".x", "a b", "a\n"] {
            assert!(!is_plain(bad), "{bad:?}");
        }
    }
}
