//! The command line, parsed as MAP's scripts parse it.
//!
//! The orchestrator takes a command, at most one subject, more arguments, and options whose names may be
//! shortened to a unique prefix, in any order. The step runner takes positional arguments.

use crate::command::Command;

/// A parsed command line.
#[derive(Debug, Clone)]
pub(crate) struct Arguments {
    pub(crate) command: Command,
    /// The arguments after the command.
    pub(crate) rest: Vec<String>,
    pub(crate) options: Options,
}

/// The orchestrator's options.
#[derive(Debug, Clone, Default)]
pub(crate) struct Options {
    values: Vec<(&'static str, String)>,
    flags: Vec<&'static str>,
}

/// Why a command line is not carried out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// Help was asked for.
    Help,
    /// It cannot be parsed; exit code 2.
    Usage(String),
    /// A step runner's command lacks arguments; exit code 1.
    Unknown(String),
}

const VALUED: &[&str] = &[
    "--branch",
    "--blueprint",
    "--feedback",
    "--reason",
    "--files",
    "--summary",
    "--commit-sha",
    "--check-id",
    "--flaky-triage-path",
    "--recommendation",
    "--monitor-envelope",
    "--disposition",
    "--kind",
    "--subtask-id",
    "--transcript-path",
];
const FLAGS: &[&str] = &["--tdd", "--mechanical", "--help"];

impl Options {
    /// Returns the last value of an option.
    pub(crate) fn value(&self, name: &str) -> Option<&str> {
        let found = self.values.iter().rev().find(|(known, _)| *known == name);
        found.map(|(_, value)| value.as_str())
    }

    /// Returns the last value of an option, or an empty text.
    pub(crate) fn or_empty(&self, name: &str) -> &str {
        self.value(name).unwrap_or_default()
    }

    /// Returns the value of an option that is not empty.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.value(name).filter(|value| !value.is_empty())
    }

    /// Returns whether a flag was given.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.flags.contains(&name)
    }
}

impl Arguments {
    /// Parses the arguments after `rekindle map`.
    pub(crate) fn parse(typed: &[String]) -> Result<Self, Refusal> {
        let first = typed.first().and_then(|name| Command::of(name));
        if let Some(command) = first
            && let Some(least) = command.step_runner_arguments()
        {
            let (name, rest) = (&typed[0], typed[1..].to_vec());
            if rest.len() < least {
                let message = format!("{name} needs {least} arguments");
                return Err(Refusal::Unknown(message));
            }
            return Ok(Self {
                command,
                rest,
                options: Options::default(),
            });
        }
        let mut options = Options::default();
        let mut plain: Vec<String> = Vec::new();
        let mut typed = typed.iter();
        while let Some(word) = typed.next() {
            if word == "--" {
                plain.extend(typed.by_ref().cloned());
                break;
            }
            match option(word)? {
                None => plain.push(word.clone()),
                Some(Typed::Flag("--help")) => return Err(Refusal::Help),
                Some(Typed::Flag(flag)) => options.flags.push(flag),
                Some(Typed::Value(name, Some(value))) => options.values.push((name, value)),
                Some(Typed::Value(name, None)) => {
                    let is_value =
                        |value: &&String| *value != "--" && matches!(option(value), Ok(None));
                    let Some(value) = typed.next().filter(is_value) else {
                        return usage(format!("argument {name}: expected one argument"));
                    };
                    options.values.push((name, value.clone()));
                }
            }
        }
        let mut plain = plain.into_iter();
        let Some(name) = plain.next() else {
            return usage("the following arguments are required: command");
        };
        let command = Command::of(&name);
        let command = command.filter(|command| command.step_runner_arguments().is_none());
        let Some(command) = command else {
            return usage(format!("argument command: there is no `{name}`"));
        };
        Ok(Self {
            command,
            rest: plain.collect(),
            options,
        })
    }

    /// Returns the first argument after the command, if it is not empty.
    pub(crate) fn subject(&self) -> Option<&str> {
        self.word(0).filter(|word| !word.is_empty())
    }

    /// Returns an argument by its position after the command.
    pub(crate) fn word(&self, position: usize) -> Option<&str> {
        self.rest.get(position).map(String::as_str)
    }
}

fn usage<T>(message: impl Into<String>) -> Result<T, Refusal> {
    Err(Refusal::Usage(message.into()))
}

enum Typed {
    Flag(&'static str),
    Value(&'static str, Option<String>),
}

/// Parses an option, or returns `None` for any other argument.
fn option(word: &str) -> Result<Option<Typed>, Refusal> {
    if !word.starts_with('-') || word == "-" {
        return Ok(None);
    }
    if word == "-h" {
        return Ok(Some(Typed::Flag("--help")));
    }
    let (name, value) = match word.split_once('=') {
        Some((name, value)) => (name, Some(value.to_owned())),
        None => (word, None),
    };
    let all = || VALUED.iter().chain(FLAGS).copied();
    let found: Vec<&'static str> = match all().find(|known| *known == name) {
        Some(exact) => vec![exact],
        None if name.starts_with("--") && name.len() > 2 => {
            all().filter(|known| known.starts_with(name)).collect()
        }
        None => Vec::new(),
    };
    match (found.as_slice(), value) {
        ([name], value) if VALUED.contains(name) => Ok(Some(Typed::Value(name, value))),
        ([name], None) => Ok(Some(Typed::Flag(name))),
        ([name], Some(_)) => usage(format!("argument {name}: takes no value")),
        ([], _) if word.contains(' ') || is_negative_number(word) => Ok(None),
        ([], _) => usage(format!("unrecognized arguments: {word}")),
        (several, _) => {
            let several = several.join(", ");
            usage(format!("ambiguous option: {name} could be {several}"))
        }
    }
}

fn is_negative_number(word: &str) -> bool {
    let digits = word.strip_prefix('-').unwrap_or(word);
    let (whole, part) = digits.split_once('.').unwrap_or((digits, "0"));
    let all = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    all(whole) && all(part) && !part.is_empty() && (!whole.is_empty() || digits.contains('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Arguments, Refusal> {
        let typed: Vec<String> = line.split('|').map(str::to_owned).collect();
        Arguments::parse(&typed)
    }

    #[test]
    fn options_may_be_shortened_and_may_be_anywhere() {
        let parsed = parse("validate_step|2.4|--rec=proceed|--bran|a/b|--mech").unwrap();
        assert_eq!(parsed.command, Command::ValidateStep);
        assert_eq!(parsed.subject(), Some("2.4"));
        assert_eq!(parsed.options.value("--recommendation"), Some("proceed"));
        assert_eq!(parsed.options.value("--branch"), Some("a/b"));
        assert!(parsed.options.has("--mechanical") && !parsed.options.has("--tdd"));
        let parsed = parse("--branch|x|set_subtasks|ST-1|ST-2").unwrap();
        assert_eq!(parsed.rest, ["ST-1", "ST-2"]);
        let parsed = parse("monitor_failed|--feedback|- fix the --files case").unwrap();
        assert_eq!(
            parsed.options.value("--feedback"),
            Some("- fix the --files case")
        );
        assert_eq!(
            parse("monitor_failed|--fe=")
                .unwrap()
                .options
                .value("--feedback"),
            Some("")
        );
    }

    #[test]
    fn a_command_line_that_cannot_be_parsed_is_refused() {
        let usage = |line: &str| matches!(parse(line), Err(Refusal::Usage(_)));
        assert!(usage("nonsense"));
        assert!(usage("get_next_step|--nonsense"));
        assert!(usage("get_next_step|--re|x"));
        assert!(usage("get_next_step|--branch"));
        assert!(usage("monitor_failed|--feedback|--tdd"));
        assert!(usage("get_next_step|--tdd=1"));
        assert!(usage("--branch|x"));
        assert!(usage("get_next_step|-x"));
        assert_eq!(parse("--he").unwrap_err(), Refusal::Help);
        assert!(matches!(
            parse("save_research|main"),
            Err(Refusal::Unknown(_))
        ));
        assert_eq!(parse("initialize|-1").unwrap().subject(), Some("-1"));
    }

    #[test]
    fn every_name_is_unique_and_has_a_command() {
        let mut names: Vec<&str> = Command::names().collect();
        for name in &names {
            let is_found = Command::names().nth(Command::of(name).unwrap() as usize) == Some(*name);
            assert!(is_found, "{name}");
        }
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
        assert_eq!(count, 35 + 11);
    }
}
