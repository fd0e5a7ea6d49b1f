//! The built-in agents.
//!
//! Each command line was tested with Claude Code 2.1.325, Codex CLI 0.166.0, opencode 1.18.33 and
//! Gemini CLI 0.61.0. All four read the prompt on standard input. No argument relaxes permissions or
//! a sandbox; users do that in the configuration (`args`).

use crate::agent::{ARGS, RESUME};
use crate::{Agent, Prompt, Stream};

/// A built-in agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Preset {
    /// Claude Code.
    Claude,
    /// Codex CLI.
    Codex,
    /// opencode.
    Opencode,
    /// Gemini CLI.
    Gemini,
}

impl Preset {
    /// All of them, in the order of their names.
    pub const ALL: [Self; 4] = [Self::Claude, Self::Codex, Self::Gemini, Self::Opencode];

    /// Returns the preset of a name.
    pub fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|preset| preset.name() == name)
    }

    /// Returns its name, which is also that of the program.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
            Self::Opencode => "opencode",
        }
    }

    /// Returns whether the program continues a session in any folder that it is started in.
    pub const fn continues_anywhere(self) -> bool {
        match self {
            Self::Claude | Self::Codex => true,
            Self::Gemini | Self::Opencode => false,
        }
    }

    /// Returns the agent.
    pub fn agent(self) -> Agent {
        let words = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect();
        Agent {
            name: self.name().to_owned(),
            program: self.name().to_owned(),
            arguments: words(self.arguments()),
            extra: Vec::new(),
            resume: Some(words(self.resume())),
            stream: self.stream(),
            prompt: Prompt::Stdin,
            timeout: None,
        }
    }

    fn arguments(self) -> &'static [&'static str] {
        match self {
            // Streaming requires `--verbose`.
            Self::Claude => &[
                "-p",
                "--output-format",
                "stream-json",
                "--verbose",
                ARGS,
                RESUME,
            ],
            // `-` is standard input. `resume` does not know all options of `exec`, so those of the
            // user come before it.
            Self::Codex => &["exec", "--json", ARGS, RESUME, "-"],
            // An empty `-p` selects the headless mode; standard input is put before it.
            Self::Gemini => &["-p", "", "-o", "stream-json", ARGS, RESUME],
            Self::Opencode => &["run", "--format", "json", ARGS, RESUME],
        }
    }

    fn resume(self) -> &'static [&'static str] {
        match self {
            Self::Claude | Self::Gemini => &["--resume", "{session}"],
            Self::Codex => &["resume", "{session}"],
            Self::Opencode => &["-s", "{session}"],
        }
    }

    fn stream(self) -> Stream {
        match self {
            Self::Claude => Stream::ClaudeJson,
            Self::Codex => Stream::CodexJson,
            Self::Gemini => Stream::GeminiJson,
            Self::Opencode => Stream::OpencodeJson,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_preset_relaxes_permissions_or_sandbox() {
        let relaxing = [
            "bypass", "danger", "skip", "yolo", "auto", "approv", "allow", "sandbox", "trust",
            "full", "permiss",
        ];
        for preset in Preset::ALL {
            let agent = preset.agent();
            assert!(agent.extra.is_empty());
            for word in agent.arguments.iter().chain(agent.resume.iter().flatten()) {
                let found = relaxing.iter().find(|part| word.contains(**part));
                assert_eq!(found, None, "{}: {word}", agent.name);
            }
        }
    }

    #[test]
    fn a_preset_is_found_only_by_its_name() {
        for preset in Preset::ALL {
            assert_eq!(Preset::of(preset.name()), Some(preset));
        }
        assert_eq!(Preset::of("Claude"), None);
        assert_eq!(Preset::of(""), None);
    }
}
