//! `.map/config.yaml`: flat `key: value` lines.

use rekindle_text::python_text::{split_lines, strip};

use super::desk::Desk;
use super::fault::Fault;
use super::layout;

/// The project's settings, later lines winning.
#[derive(Debug, Clone, Default)]
pub(crate) struct Config(Vec<(String, String)>);

impl Config {
    /// Reads the settings; a project without the file has none.
    pub(crate) fn read(desk: Desk<'_>) -> Result<Self, Fault> {
        Ok(desk
            .text(layout::CONFIG)?
            .map_or_else(Self::default, |text| Self::parse(&text)))
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

    /// Returns a setting, if the file has it.
    pub(crate) fn get(&self, key: &str) -> Option<&str> {
        let found = self.0.iter().rev().find(|(known, _)| known == key);
        found.map(|(_, value)| value.as_str())
    }

    /// Returns whether waves are used: `off`, `auto` or `on`.
    pub(crate) fn wave_mode(&self) -> &str {
        let mode = self.get("execution.wave_mode").unwrap_or("auto");
        if ["off", "auto", "on"].contains(&mode) {
            mode
        } else {
            "auto"
        }
    }

    /// Returns whether workers get worktrees of their own: `off`, `auto` or `required`.
    pub(crate) fn isolation(&self) -> &'static str {
        let mode = strip(self.get("worktree.isolation").unwrap_or_default()).to_lowercase();
        match mode.as_str() {
            "off" | "false" | "0" | "no" | "n" => "off",
            "required" | "1" | "true" | "yes" | "y" => "required",
            _ => "auto",
        }
    }

    /// Returns whether the subtasks of a wave may be worked on at once.
    pub(crate) fn is_concurrent(&self) -> bool {
        let value = self.get("execution.concurrent_dispatch").unwrap_or("true");
        is_yes(value)
    }
}

/// Returns whether a word is one of those for yes.
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
    fn settings_are_flat_lines_and_the_last_one_wins() {
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
