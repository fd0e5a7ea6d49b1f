//! What came of an agent's work, by its stream and the end of its process.

use crate::{Stream, StreamEnd, Summary};

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// By itself, with this code.
    Code(i32),
    /// By this signal.
    Signal(i32),
}

/// What came of an agent's work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// The agent says that it is done; whether it is so, checks must tell.
    Succeeded,
    /// It failed, for this reason: a clause for a person ("it ended with exit code 3").
    Failed(String),
    /// A usage limit stopped it. That is a wait and not a failure.
    Limited {
        /// Until when, in RFC 3339 or in the program's words; [`crate::limit::reset_time`] reads both.
        until: Option<String>,
    },
    /// It was ended from outside by this signal, in the middle of its work.
    Killed(i32),
}

/// The signal of Ctrl-C.
const SIGINT: i32 = 2;

/// The signals by which a program falls over its own fault, the same on Linux and macOS: an
/// illegal instruction, a trap, an abort, a bus error, an arithmetic error, a bad address. Nobody
/// sends them from outside, so to start again at no cost would only crash again.
const CRASHES: [i32; 6] = [4, 5, 6, 7, 8, 11];

/// Returns what came of an agent's work.
///
/// What the stream says counts for more than the exit code: Claude Code ends with 0 after an
/// interrupt, and a denied tool is 0 as well.
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

/// Claude's exit code says nothing, and it may hang after its last word until it is killed. Of
/// the others a bad end after a good word is not known, so it is doubted.
fn success(stream: Stream, exit: Exit) -> Verdict {
    match (stream, exit) {
        (_, Exit::Code(0)) | (Stream::ClaudeJson, _) => Verdict::Succeeded,
        (_, Exit::Code(code)) => {
            Verdict::Failed(format!("it said success but ended with exit code {code}"))
        }
        (_, Exit::Signal(signal)) => ended_by(signal),
    }
}

/// Tells a crash, which is a failure, from an end that somebody else brought about.
fn ended_by(signal: i32) -> Verdict {
    if CRASHES.contains(&signal) {
        return Verdict::Failed(format!("it crashed with signal {signal}"));
    }
    Verdict::Killed(signal)
}

/// Returns the rest of a reason: the tool that was refused last is likely behind the failure.
fn refusal(summary: &Summary) -> String {
    let tool = summary.denied.last();
    tool.map_or_else(String::new, |tool| format!("; `{tool}` was not allowed"))
}

fn unfinished(summary: &Summary, exit: Exit) -> Verdict {
    let code = match exit {
        Exit::Signal(signal) => return ended_by(signal),
        // The programs that catch a signal end like a shell would: 143 is SIGTERM.
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
    fn a_plain_program_is_judged_by_how_its_process_ended() {
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
    fn a_crash_is_the_programs_own_fault_and_so_a_failure() {
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
    fn success_is_taken_from_claude_alone_whatever_its_exit_code() {
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
    fn a_stream_without_an_end_is_killed_by_the_signal_that_the_code_stands_for() {
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
