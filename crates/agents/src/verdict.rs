//! The result of an agent's work, by its stream and its exit status.

use crate::{Stream, StreamEnd, Summary};

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// With this exit code.
    Code(i32),
    /// By this signal.
    Signal(i32),
}

/// The result of an agent's work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// The agent reports success, which checks must confirm.
    Succeeded,
    /// It failed for this reason, a clause ("it ended with exit code 3").
    Failed(String),
    /// A usage limit stopped it, which is not a failure.
    Limited {
        /// The end of the limit, for [`crate::limit::reset_time`].
        until: Option<String>,
    },
    /// This signal from outside ended it in the middle of its work.
    Killed(i32),
}

/// The signal of Ctrl-C.
const SIGINT: i32 = 2;

/// The signals of a crash on Linux and macOS: SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV.
/// Restarting for free would only crash again.
const CRASHES: [i32; 6] = [4, 5, 6, 7, 8, 11];

/// Returns the result of an agent's work.
///
/// The stream takes precedence: Claude Code exits with 0 after an interrupt or a denied tool.
pub fn judge(summary: &Summary, exit: Exit) -> Verdict {
    if summary.stream == Stream::Plain {
        return match exit {
            Exit::Code(0) => Verdict::Succeeded,
            Exit::Code(code) => Verdict::Failed(format!("it ended with exit code {code}")),
            Exit::Signal(signal) => ended_by(signal),
        };
    }
    match &summary.ended {
        Some(StreamEnd::Success) => success(summary.stream, exit),
        Some(StreamEnd::Interrupted) => Verdict::Killed(SIGINT),
        Some(StreamEnd::Error(reason)) => match &summary.limit {
            Some(limit) => Verdict::Limited {
                until: limit.resets_at.clone(),
            },
            None => Verdict::Failed(format!("{reason}{}", refusal(summary))),
        },
        None => unfinished(summary, exit),
    }
}

/// Claude Code may hang after its result until it is killed, so its exit status is ignored.
fn success(stream: Stream, exit: Exit) -> Verdict {
    match (stream, exit) {
        (_, Exit::Code(0)) | (Stream::ClaudeJson, _) => Verdict::Succeeded,
        (_, Exit::Code(code)) => Verdict::Failed(format!(
            "it reported success but ended with exit code {code}"
        )),
        (_, Exit::Signal(signal)) => ended_by(signal),
    }
}

/// Distinguishes a crash, which is a failure, from a kill.
fn ended_by(signal: i32) -> Verdict {
    if CRASHES.contains(&signal) {
        return Verdict::Failed(format!("it crashed with signal {signal}"));
    }
    Verdict::Killed(signal)
}

/// Returns the last denied tool as part of a reason.
fn refusal(summary: &Summary) -> String {
    let tool = summary.denied.last();
    tool.map_or_else(String::new, |tool| format!("; `{tool}` was not allowed"))
}

fn unfinished(summary: &Summary, exit: Exit) -> Verdict {
    let code = match exit {
        Exit::Signal(signal) => return ended_by(signal),
        // Programs that catch a signal exit like a shell: 143 is SIGTERM.
        Exit::Code(code @ 129..=159) => return ended_by(code - 128),
        Exit::Code(code) => code,
    };
    if let Some(limit) = &summary.limit {
        return Verdict::Limited {
            until: limit.resets_at.clone(),
        };
    }
    let mut reason = match code {
        0 => "it ended without finishing its work".to_owned(),
        code => format!("it ended with exit code {code} without finishing its work"),
    };
    if !summary.denied.is_empty() {
        reason.push_str(&refusal(summary));
    } else if let Some(error) = summary.error.as_ref().or(summary.stray.as_ref()) {
        reason.push_str(&format!(": {error}"));
    } else if summary.stream == Stream::GeminiJson && code == 55 {
        reason.push_str(": it does not trust the folder");
    }
    Verdict::Failed(reason)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::StreamReader;

    #[test]
    fn a_plain_program_is_judged_by_its_exit_status() {
        let mut reader = StreamReader::new(Stream::Plain);
        reader.push_line("error: rate limit, try again at 10:40 PM");
        let of = |exit| judge(reader.summary(), exit);
        assert_eq!(of(Exit::Code(0)), Verdict::Succeeded);
        assert_eq!(
            of(Exit::Code(143)),
            Verdict::Failed("it ended with exit code 143".to_owned())
        );
        assert_eq!(of(Exit::Signal(9)), Verdict::Killed(9));
    }

    #[test]
    fn a_crash_is_a_failure() {
        for stream in Stream::ALL {
            let reader = StreamReader::new(stream);
            for signal in CRASHES {
                let expected = Verdict::Failed(format!("it crashed with signal {signal}"));
                assert_eq!(judge(reader.summary(), Exit::Signal(signal)), expected);
                if stream != Stream::Plain {
                    let caught = judge(reader.summary(), Exit::Code(128 + signal));
                    assert_eq!(caught, expected, "{stream:?}");
                }
            }
        }
    }

    #[test]
    fn an_error_after_a_refused_tool_names_the_tool() {
        let mut reader = StreamReader::new(Stream::ClaudeJson);
        reader.push_line(
            r#"{"type":"result","subtype":"error_max_turns","is_error":true,"errors":["out of turns"],"permission_denials":[{"tool_name":"Write"}]}"#,
        );
        assert_eq!(
            judge(reader.summary(), Exit::Code(1)),
            Verdict::Failed("out of turns; `Write` was not allowed".to_owned())
        );
    }

    #[test]
    fn only_claude_succeeds_regardless_of_its_exit_status() {
        let lines = [
            (
                Stream::ClaudeJson,
                r#"{"type":"result","subtype":"success","is_error":false,"terminal_reason":"completed"}"#,
            ),
            (Stream::CodexJson, r#"{"type":"turn.completed","usage":{}}"#),
            (
                Stream::OpencodeJson,
                r#"{"type":"step_finish","part":{"reason":"stop"}}"#,
            ),
            (
                Stream::GeminiJson,
                r#"{"type":"result","status":"success"}"#,
            ),
        ];
        for (stream, line) in lines {
            let mut reader = StreamReader::new(stream);
            reader.push_line(line);
            let of = |exit| judge(reader.summary(), exit);
            assert_eq!(of(Exit::Code(0)), Verdict::Succeeded, "{stream:?}");
            let trusted = of(Exit::Code(1)) == Verdict::Succeeded;
            assert_eq!(trusted, stream == Stream::ClaudeJson, "{stream:?}");
            let survives = of(Exit::Signal(9)) == Verdict::Succeeded;
            assert_eq!(survives, stream == Stream::ClaudeJson, "{stream:?}");
        }
    }

    #[test]
    fn an_unfinished_stream_with_a_signal_exit_code_was_killed() {
        for stream in Stream::ALL.into_iter().filter(|s| *s != Stream::Plain) {
            let reader = StreamReader::new(stream);
            let of = |exit| judge(reader.summary(), exit);
            assert_eq!(of(Exit::Code(143)), Verdict::Killed(15));
            assert_eq!(of(Exit::Code(137)), Verdict::Killed(9));
            assert_eq!(of(Exit::Signal(15)), Verdict::Killed(15));
            assert!(
                matches!(of(Exit::Code(0)), Verdict::Failed(_)),
                "{stream:?}"
            );
        }
    }
}
