//! What the tools of a session were used for, as far back as the end of its transcript goes.

use camino::Utf8Path;
use rekindle_world::{End, World};

/// How much of a transcript is read.
const TAIL: usize = 4 * 1024 * 1024;
/// How rows with a use of a tool are marked: Claude Code, Codex, Gemini CLI.
const MARKS: [&str; 7] = [
    r#""type":"tool_use""#,
    r#""type":"function_call""#,
    r#""type":"custom_tool_call""#,
    r#""type":"local_shell_call""#,
    r#""type":"mcp_tool_call_begin""#,
    r#""toolCalls":"#,
    r#""functionCall":"#,
];

/// The uses of tools in a session, as text.
///
/// What a session was told or read is not among them: only what it did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsedTools(String);

impl UsedTools {
    /// Returns what a program says of its session itself.
    pub fn of(text: &str) -> Self {
        Self(text.to_owned())
    }

    /// Reads the end of a transcript; `None` if there is none that can be read.
    pub fn read(world: &dyn World, transcript: &Utf8Path) -> Option<Self> {
        let bytes = world.read_end(transcript, End::Tail, TAIL).ok()?;
        let text = String::from_utf8_lossy(&bytes);
        let uses = text.lines().filter(|line| {
            // Some programs write a blank behind the colon.
            let bare = || line.replace("\": ", "\":");
            MARKS.iter().any(|mark| line.contains(mark))
                || (line.contains("\": ") && MARKS.iter().any(|mark| bare().contains(mark)))
        });
        let uses: Vec<&str> = uses.collect();
        Some(Self(uses.join("\n")))
    }

    /// Returns whether a word occurs in what a tool was used for.
    pub fn names(&self, word: &str) -> bool {
        self.0.contains(word)
    }
}

#[cfg(test)]
mod tests {
    use rekindle_world::MemoryWorld;

    use super::*;

    #[test]
    fn only_uses_of_tools_count() {
        let rows = [
            r#"{"type":"user","message":{"content":"the briefing names orders-api"}}"#,
            r#"{"type":"assistant","message":{"content":[{"type":"tool_use","input":{"command":"rekindle resume billing"}}]}}"#,
            r#"{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"a","content":"search-index"}]}}"#,
            r#"{"type": "response_item", "payload": {"type": "function_call", "arguments": "cat .agent-memory/x"}}"#,
        ];
        let world = MemoryWorld::new("/w", "2026-01-20T12:00:00Z".parse().unwrap());
        let world = world.file("/h/t.jsonl", rows.join("\n"));
        let used = UsedTools::read(&world, "/h/t.jsonl".into()).unwrap();
        for (word, expected) in [
            ("billing", true),
            (".agent-memory/", true),
            ("orders-api", false),
            ("search-index", false),
        ] {
            assert_eq!(used.names(word), expected, "{word}");
        }
        assert_eq!(UsedTools::read(&world, "/h/none".into()), None);
    }
}
