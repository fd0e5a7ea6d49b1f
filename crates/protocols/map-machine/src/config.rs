//! `.map/config.yaml`: flat `key: value` lines.

use rekindle_text::python_text::{split_lines, strip};

use crate::desk::Desk;
use crate::layout;
use crate::reply::Fault;

/// The project's settings; the last line of a key counts.
#[derive(Debug, Clone, Default)]
pub(crate) struct Config(Vec<(String, String)>);

impl Config {
    /// Reads the settings.
    pub(crate) fn read(desk: Desk<'_>) -> Result<Self, Fault> {
        let text = desk.text(layout::CONFIG)?;
        Ok(Self::parse(&text.unwrap_or_default()))
    }

    fn parse(text: &str) -> Self {
        let settings = split_lines(text).filter_map(|line| {
            let line = strip(line);
            let (key, value) = line.split_once(':').filter(|_| !line.starts_with('#'))?;
            let key = strip(key);
            let plain = |c: char| c.is_ascii_alphanumeric() || "_.-".contains(c);
            if key.is_empty() || !key.chars().all(plain) {
                return None;
            }
            let value = strip(value.split('#').next().unwrap_or_default());
            Some((key.to_owned(), unquoted(value).to_owned()))
        });
        Self(settings.collect())
    }

    /// Returns a setting.
    pub(crate) fn get(&self, key: &str) -> Option<&str> {
        let found = self.0.iter().rev().find(|(known, _)| known == key);
        found.map(|(_, value)| value.as_str())
    }

    /// Returns the use of waves: `off`, `auto` or `on`.
    pub(crate) fn wave_mode(&self) -> &str {
        let mode = self.get("execution.wave_mode");
        mode.filter(|mode| ["off", "on"].contains(mode))
            .unwrap_or("auto")
    }

    /// Returns whether workers get their own worktrees: `off`, `auto` or `required`.
    pub(crate) fn isolation(&self) -> &'static str {
        let mode = strip(self.get("worktree.isolation").unwrap_or_default()).to_lowercase();
        match mode.as_str() {
            "off" | "false" | "0" | "no" | "n" => "off",
            "required" | "1" | "true" | "yes" | "y" => "required",
            _ => "auto",
        }
    }

    /// Returns whether the subtasks of a wave may be processed in parallel.
    pub(crate) fn is_concurrent(&self) -> bool {
        is_yes(self.get("execution.concurrent_dispatch").unwrap_or("true"))
    }
}

/// Returns whether a word means yes.
pub(crate) fn is_yes(word: &str) -> bool {
    let word = strip(word).to_lowercase();
    ["1", "true", "yes", "y", "on"].contains(&word.as_str())
}

fn unquoted(value: &str) -> &str {
    let within = |mark| value.strip_prefix(mark)?.strip_suffix(mark);
    within('"').or_else(|| within('\'')).unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_line_of_a_setting_counts() {
        let config = Config::parse(
            "# a comment\nexecution.wave_mode: \"on\"  # so\nworktree.isolation: FALSE\n  x y: 1\nno colon\nexecution.concurrent_dispatch: no\nexecution.wave_mode: 'off'\n",
        );
        assert_eq!(config.wave_mode(), "off");
        assert_eq!(config.isolation(), "off");
        assert!(!config.is_concurrent());
        assert_eq!(config.get("x y"), None);
        let default = Config::default();
        assert_eq!(default.wave_mode(), "auto");
        assert_eq!(default.isolation(), "auto");
        assert!(default.is_concurrent());
        assert_eq!(Config::parse("execution.wave_mode: ON").wave_mode(), "auto");
        assert_eq!(
            Config::parse("worktree.isolation: true").isolation(),
            "required"
        );
    }
}
