//! What can be written down for a scripted agent, read line by line.

use super::Error;

/// A script, read.
#[derive(Debug, Clone, PartialEq)]
pub struct Script {
    /// What is done, in order.
    pub acts: Vec<Act>,
}

/// One instruction; the module's table says what each does.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "each is the instruction of its name")]
pub enum Act {
    Say(String),
    Warn(String),
    Half(String),
    Flood(u64),
    ReadPrompt(String),
    Write { path: String, text: String },
    Append { path: String, text: String },
    WriteOutside { path: String, text: String },
    Delete(String),
    Chmod { path: String, mode: u32 },
    Symlink { path: String, target: String },
    Run(String),
    StreamClaude,
    Session(String),
    Cost(f64),
    PermissionDenied(String),
    Result(Outcome),
    Touch(String),
    WaitFor(String),
    Hang,
    IgnoreTerm,
    ForkGrandchild(String),
    Exit(u8),
    Die(Signal),
}

/// How an agent says that it ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// With success.
    Success,
    /// With an error, for this reason.
    Error(String),
    /// By a usage limit, over at this many seconds since 1970 if that is told.
    Limit(Option<i64>),
}

/// The signals by which it can die.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are the signals'")]
pub enum Signal {
    Hup,
    Int,
    Quit,
    Abrt,
    Kill,
    Term,
}

impl Script {
    /// Reads a script; `fill` replaces the variables in each word.
    pub fn parse(text: &str, fill: &dyn Fn(&str) -> String) -> Result<Self, Error> {
        let mut acts = Vec::new();
        for (number, line) in (1..).zip(text.lines()) {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let act = act(line, fill).map_err(|problem| Error::Script {
                line: number,
                problem,
            })?;
            acts.push(act);
        }
        Ok(Self { acts })
    }
}

fn act(line: &str, fill: &dyn Fn(&str) -> String) -> Result<Act, String> {
    let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
    let rest = rest.trim_start();
    let text = || fill(&unescaped(rest));
    // One word that must be there.
    let one = |what: &str| match rest {
        "" => Err(format!("`{word}` needs {what}")),
        rest => Ok(fill(rest)),
    };
    let path_and = || {
        let (path, rest) = first_word(rest).ok_or_else(|| format!("`{word}` needs a path"))?;
        Ok::<_, String>((fill(path), fill(&unescaped(rest))))
    };
    let done = |act: Act| match rest {
        "" => Ok(act),
        rest => Err(format!("`{word}` takes nothing, and not `{rest}`")),
    };
    match word {
        "say" => Ok(Act::Say(text())),
        "warn" => Ok(Act::Warn(text())),
        "half" => Ok(Act::Half(text())),
        "flood" => Ok(Act::Flood(bytes(&one("a number of bytes")?)?)),
        "read-prompt" => Ok(Act::ReadPrompt(one("a file")?)),
        "write" => path_and().map(|(path, text)| Act::Write { path, text }),
        "append" => path_and().map(|(path, text)| Act::Append { path, text }),
        "write-outside" => path_and().map(|(path, text)| Act::WriteOutside { path, text }),
        "delete" => path_and().map(|(path, _)| Act::Delete(path)),
        "chmod" => {
            let (path, mode) = path_and()?;
            let mode = u32::from_str_radix(&mode, 8);
            let mode = mode.map_err(|_| "the mode must be octal, like `755`".to_owned())?;
            Ok(Act::Chmod { path, mode })
        }
        "symlink" => path_and().map(|(path, target)| Act::Symlink { path, target }),
        "run" => Ok(Act::Run(one("a command")?)),
        "stream" if rest == "claude" => Ok(Act::StreamClaude),
        "stream" => Err("only `stream claude` is spoken".to_owned()),
        "session" => Ok(Act::Session(one("an id")?)),
        "cost" => Ok(Act::Cost(number(&one("a number")?)?)),
        "permission-denied" => Ok(Act::PermissionDenied(one("a tool")?)),
        "result" => result(&text()).map(Act::Result),
        "touch" => Ok(Act::Touch(one("a file")?)),
        "wait-for" => Ok(Act::WaitFor(one("a file")?)),
        "hang" => done(Act::Hang),
        "ignore-term" => done(Act::IgnoreTerm),
        "fork-grandchild" => Ok(Act::ForkGrandchild(one("a file")?)),
        "exit" => Ok(Act::Exit(number(&one("a code")?)?)),
        "die" => Ok(Act::Die(signal(&one("a signal")?)?)),
        _ => Err(format!("there is no instruction `{word}`")),
    }
}

fn result(text: &str) -> Result<Outcome, String> {
    let (word, rest) = text.split_once(' ').unwrap_or((text, ""));
    match (word, rest) {
        ("success", "") => Ok(Outcome::Success),
        ("error", "") => Err("`result error` needs a reason".to_owned()),
        ("error", reason) => Ok(Outcome::Error(reason.to_owned())),
        ("limit", "") => Ok(Outcome::Limit(None)),
        ("limit", seconds) => Ok(Outcome::Limit(Some(number(seconds)?))),
        _ => Err("a result is `success`, `error REASON` or `limit [SECONDS]`".to_owned()),
    }
}

fn number<T: std::str::FromStr>(text: &str) -> Result<T, String> {
    text.parse()
        .map_err(|_| format!("`{text}` is no number that fits"))
}

fn bytes(text: &str) -> Result<u64, String> {
    let (digits, unit) = match text.strip_suffix('k') {
        Some(digits) => (digits, 1 << 10),
        None => match text.strip_suffix('M') {
            Some(digits) => (digits, 1 << 20),
            None => (text, 1),
        },
    };
    let count: u64 = number(digits)?;
    count
        .checked_mul(unit)
        .ok_or_else(|| format!("`{text}` is too much"))
}

fn signal(name: &str) -> Result<Signal, String> {
    Ok(match name.strip_prefix("SIG").unwrap_or(name) {
        "HUP" => Signal::Hup,
        "INT" => Signal::Int,
        "QUIT" => Signal::Quit,
        "ABRT" => Signal::Abrt,
        "KILL" => Signal::Kill,
        "TERM" => Signal::Term,
        _ => {
            return Err(format!(
                "`{name}` is none of HUP, INT, QUIT, ABRT, KILL, TERM"
            ));
        }
    })
}

/// Splits off the first word, which may stand in double quotes.
fn first_word(text: &str) -> Option<(&str, &str)> {
    let (word, rest) = match text.strip_prefix('"') {
        Some(quoted) => quoted.split_once('"')?,
        None => text.split_once(' ').unwrap_or((text, "")),
    };
    (!word.is_empty()).then(|| (word, rest.strip_prefix(' ').unwrap_or(rest)))
}

fn unescaped(text: &str) -> String {
    let mut plain = String::new();
    let mut chars = text.chars();
    while let Some(char) = chars.next() {
        match char {
            '\\' => match chars.next() {
                Some('n') => plain.push('\n'),
                Some('t') => plain.push('\t'),
                Some('\\') | None => plain.push('\\'),
                Some(other) => plain.extend(['\\', other]),
            },
            char => plain.push(char),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Script, Error> {
        Script::parse(text, &|word| word.replace("$TASK", "T 1"))
    }

    fn one(line: &str) -> Act {
        parse(line).unwrap().acts.remove(0)
    }

    #[test]
    fn every_instruction_is_understood() {
        let text = |text: &str| text.to_owned();
        let cases = [
            ("say hello  there ", Act::Say(text("hello  there"))),
            ("say", Act::Say(text(""))),
            ("warn careful", Act::Warn(text("careful"))),
            ("half {\"type\":", Act::Half(text("{\"type\":"))),
            ("flood 64k", Act::Flood(65536)),
            ("flood 2M", Act::Flood(2 << 20)),
            ("flood 7", Act::Flood(7)),
            ("read-prompt p.txt", Act::ReadPrompt(text("p.txt"))),
            (
                r"write a/b.txt one\ntwo\\n\t.",
                Act::Write {
                    path: text("a/b.txt"),
                    text: text("one\ntwo\\n\t."),
                },
            ),
            (
                "append \"with space\" x y",
                Act::Append {
                    path: text("with space"),
                    text: text("x y"),
                },
            ),
            (
                "write-outside /tmp/x y",
                Act::WriteOutside {
                    path: text("/tmp/x"),
                    text: text("y"),
                },
            ),
            ("delete a", Act::Delete(text("a"))),
            (
                "chmod a 755",
                Act::Chmod {
                    path: text("a"),
                    mode: 0o755,
                },
            ),
            (
                "symlink a ../b",
                Act::Symlink {
                    path: text("a"),
                    target: text("../b"),
                },
            ),
            ("run git add -A && x", Act::Run(text("git add -A && x"))),
            ("stream claude", Act::StreamClaude),
            ("session abc", Act::Session(text("abc"))),
            ("cost 0.25", Act::Cost(0.25)),
            (
                "permission-denied Bash",
                Act::PermissionDenied(text("Bash")),
            ),
            ("result success", Act::Result(Outcome::Success)),
            (
                "result error no way",
                Act::Result(Outcome::Error(text("no way"))),
            ),
            ("result limit", Act::Result(Outcome::Limit(None))),
            (
                "result limit 1794782400",
                Act::Result(Outcome::Limit(Some(1_794_782_400))),
            ),
            ("touch here", Act::Touch(text("here"))),
            ("wait-for go", Act::WaitFor(text("go"))),
            ("hang", Act::Hang),
            ("ignore-term", Act::IgnoreTerm),
            ("fork-grandchild pid", Act::ForkGrandchild(text("pid"))),
            ("exit 3", Act::Exit(3)),
            ("die KILL", Act::Die(Signal::Kill)),
            ("die SIGTERM", Act::Die(Signal::Term)),
        ];
        for (line, expected) in cases {
            assert_eq!(one(line), expected, "{line}");
        }
    }

    #[test]
    fn a_variable_is_one_word_whatever_is_in_it() {
        let expected = Act::Write {
            path: "T 1.txt".to_owned(),
            text: "by T 1".to_owned(),
        };
        assert_eq!(one("write $TASK.txt by $TASK"), expected);
    }

    #[test]
    fn comments_and_empty_lines_are_passed_over() {
        assert_eq!(parse("# one\n\n  hang  \n#two").unwrap().acts, [Act::Hang]);
    }

    #[test]
    fn what_is_not_understood_is_reported_with_its_line() {
        let cases = [
            ("dance", "there is no instruction `dance`"),
            ("write", "`write` needs a path"),
            ("write \"open x", "`write` needs a path"),
            ("chmod a rwx", "the mode must be octal, like `755`"),
            ("flood lots", "`lots` is no number that fits"),
            (
                "flood 99999999999999999999",
                "`99999999999999999999` is no number that fits",
            ),
            ("exit 256", "`256` is no number that fits"),
            ("exit", "`exit` needs a code"),
            (
                "die SEGV",
                "`SEGV` is none of HUP, INT, QUIT, ABRT, KILL, TERM",
            ),
            ("stream codex", "only `stream claude` is spoken"),
            (
                "result",
                "a result is `success`, `error REASON` or `limit [SECONDS]`",
            ),
            ("result error", "`result error` needs a reason"),
            ("hang on", "`hang` takes nothing, and not `on`"),
        ];
        for (line, expected) in cases {
            let told = parse(&format!("hang\n{line}\n")).unwrap_err().to_string();
            assert_eq!(told, format!("line 2 of the script: {expected}"));
        }
    }
}
