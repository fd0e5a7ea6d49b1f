//! Whether a built-in agent may edit files without a person, by its arguments and its own settings.

use camino::{Utf8Path, Utf8PathBuf};
use serde_json::Value;

use crate::Preset;

impl Preset {
    /// Returns the arguments that let the agent edit files in its folder, if it needs any.
    pub fn editing(self) -> Option<Vec<String>> {
        let words: &[&str] = match self {
            Self::Claude => &["--permission-mode", "acceptEdits"],
            Self::Codex => &["--sandbox", "workspace-write"],
            Self::Gemini => &["--approval-mode", "auto_edit"],
            Self::Opencode => return None,
        };
        Some(words.iter().map(|&word| word.to_owned()).collect())
    }

    /// Returns the agent's own settings in a project and a home folder.
    pub fn settings(self, project: &Utf8Path, home: &Utf8Path) -> Vec<Utf8PathBuf> {
        match self {
            Self::Claude => vec![
                project.join(".claude/settings.json"),
                project.join(".claude/settings.local.json"),
                home.join(".claude/settings.json"),
            ],
            Self::Codex => vec![home.join(".codex/config.toml")],
            Self::Gemini => vec![
                project.join(".gemini/settings.json"),
                home.join(".gemini/settings.json"),
            ],
            Self::Opencode => Vec::new(),
        }
    }

    /// Returns whether arguments or the texts of settings let the agent edit files.
    ///
    /// Any argument about permissions counts: its author has decided about them.
    pub fn may_edit(self, arguments: &[String], settings: &[String]) -> bool {
        let options: &[&str] = match self {
            Self::Claude => &[
                "--permission-mode",
                "--dangerously-skip-permissions",
                "--allow-dangerously-skip-permissions",
                "--allowedTools",
                "--allowed-tools",
                "--permission-prompt-tool",
                "--settings",
            ],
            Self::Codex => &[
                "--sandbox",
                "-s",
                "--full-auto",
                "--dangerously-bypass-approvals-and-sandbox",
                "--yolo",
                "--profile",
                "-p",
                "-c",
                "--config",
            ],
            Self::Gemini => &["--approval-mode", "--yolo", "-y", "--allowed-tools"],
            Self::Opencode => return true,
        };
        let is_option = |word: &String| {
            let name = word.split_once('=').map_or(word.as_str(), |(name, _)| name);
            options.contains(&name)
        };
        arguments.iter().any(is_option) || settings.iter().any(|text| self.allows(text))
    }

    fn allows(self, settings: &str) -> bool {
        let json = || serde_json::from_str::<Value>(settings).unwrap_or_default();
        match self {
            Self::Claude => {
                let permissions = &json()["permissions"];
                let mode = permissions["defaultMode"].as_str();
                let allowed = permissions["allow"].as_array();
                let edits = |rule: &Value| {
                    let name = rule.as_str().unwrap_or_default();
                    name.starts_with("Edit") || name.starts_with("Write")
                };
                matches!(mode, Some("acceptEdits" | "bypassPermissions" | "auto"))
                    || allowed.is_some_and(|rules| rules.iter().any(edits))
            }
            Self::Codex => settings.lines().map(str::trim_start).any(|line| {
                line.strip_prefix("sandbox_mode")
                    .is_some_and(|value| !value.contains("read-only"))
            }),
            Self::Gemini => {
                let json = json();
                let mode = json["general"]["defaultApprovalMode"].as_str();
                matches!(mode, Some("auto_edit" | "yolo"))
            }
            Self::Opencode => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn may_edit(preset: Preset, arguments: &[&str], settings: &str) -> bool {
        let arguments: Vec<String> = arguments.iter().map(|&word| word.to_owned()).collect();
        preset.may_edit(&arguments, &[settings.to_owned()])
    }

    #[test]
    fn an_agent_may_edit_by_its_arguments_or_by_its_own_settings() {
        use Preset::{Claude, Codex, Gemini, Opencode};
        for (preset, arguments, settings, expected) in [
            (Claude, &[][..], "", false),
            (Claude, &["--model", "opus"], "{}", false),
            (Claude, &["--permission-mode", "acceptEdits"], "", true),
            (Claude, &["--permission-mode=plan"], "", true),
            (
                Claude,
                &[],
                r#"{"permissions":{"defaultMode":"acceptEdits"}}"#,
                true,
            ),
            (
                Claude,
                &[],
                r#"{"permissions":{"defaultMode":"plan"}}"#,
                false,
            ),
            (
                Claude,
                &[],
                r#"{"permissions":{"allow":["Edit(src/**)"]}}"#,
                true,
            ),
            (
                Claude,
                &[],
                r#"{"permissions":{"allow":["Bash(ls)"]}}"#,
                false,
            ),
            (Claude, &[], "{", false),
            (Codex, &[], "", false),
            (Codex, &["--sandbox", "workspace-write"], "", true),
            (Codex, &[], "sandbox_mode = \"workspace-write\"", true),
            (Codex, &[], "sandbox_mode = \"read-only\"", false),
            (Gemini, &[], "", false),
            (Gemini, &["-y"], "", true),
            (
                Gemini,
                &[],
                r#"{"general":{"defaultApprovalMode":"auto_edit"}}"#,
                true,
            ),
            (Opencode, &[], "", true),
        ] {
            let found = may_edit(preset, arguments, settings);
            assert_eq!(found, expected, "{arguments:?} {settings}");
        }
    }

    #[test]
    fn the_suggested_arguments_are_enough() {
        for preset in Preset::ALL {
            let suggested = preset.editing().unwrap_or_default();
            assert!(preset.may_edit(&suggested, &[]));
        }
    }
}
