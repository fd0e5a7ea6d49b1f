//! What was typed: read as the peer's scripts read it.
//!
//! The orchestrator takes a command, at most one subject, more words, and options whose names may be
//! shortened as long as they stay unique. Words may stand anywhere between options, which some
//! versions of Python's reader refuse. The step runner takes words by their places.

use super::command::Command;

/// What was typed.
#[derive(Debug, Clone)]
pub(crate) struct Words {
    pub(crate) command: Command,
    /// The words after the command.
    pub(crate) rest: Vec<String>,
    pub(crate) options: Options,
}

/// The orchestrator's options.
#[derive(Debug, Clone, Default)]
pub(crate) struct Options {
    values: Vec<(&'static str, String)>,
    flags: Vec<&'static str>,
}

/// Why nothing is done with what was typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// Help was asked for.
    Help,
    /// It can not be read; exit code 2.
    Usage(String),
    /// A step runner's command lacks words; exit code 1.
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
    /// Returns the value of an option, the last one if it was given twice.
    pub(crate) fn value(&self, name: &str) -> Option<&str> {
        let found = self.values.iter().rev().find(|(known, _)| *known == name);
        found.map(|(_, value)| value.as_str())
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

impl Words {
    /// Reads what was typed after `rekindle map`.
    pub(crate) fn parse(typed: &[String]) -> Result<Self, Refusal> {
        if let Some(name) = typed.first()
            && let Some(command @ Command::StepRunner(runner)) = Command::of(name)
        {
            let (rest, least) = (typed[1..].to_vec(), runner.least_words());
            if rest.len() < least {
                return Err(Refusal::Unknown(format!("{name} needs {least} words")));
            }
            let options = Options::default();
            return Ok(Self {
                command,
                rest,
                options,
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
                    let value = typed
                        .next()
                        .filter(|value| *value != "--" && matches!(option(value), Ok(None)));
                    let value = value.ok_or_else(|| {
                        Refusal::Usage(format!("argument {name}: expected one argument"))
                    })?;
                    options.values.push((name, value.clone()));
                }
            }
        }
        let mut plain = plain.into_iter();
        let Some(name) = plain.next() else {
            let message = "the following arguments are required: command";
            return Err(Refusal::Usage(message.to_owned()));
        };
        let command =
            Command::of(&name).filter(|command| !matches!(command, Command::StepRunner(_)));
        let Some(command) = command else {
            return Err(Refusal::Usage(format!(
                "argument command: there is no `{name}`"
            )));
        };
        Ok(Self {
            command,
            rest: plain.collect(),
            options,
        })
    }

    /// Returns the first word after the command, if it is not empty.
    pub(crate) fn subject(&self) -> Option<&str> {
        self.word(0).filter(|word| !word.is_empty())
    }

    /// Returns a word by its place after the command.
    pub(crate) fn word(&self, place: usize) -> Option<&str> {
        self.rest.get(place).map(String::as_str)
    }
}

enum Typed {
    Flag(&'static str),
    Value(&'static str, Option<String>),
}

/// Returns the option that a word is, or `None` if it is a plain word.
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
        ([name], Some(_)) => Err(Refusal::Usage(format!("argument {name}: takes no value"))),
        ([], _) if word.contains(' ') || is_negative_number(word) => Ok(None),
        ([], _) => Err(Refusal::Usage(format!("unrecognized arguments: {word}"))),
        (several, _) => Err(Refusal::Usage(format!(
            "ambiguous option: {name} could be {}",
            several.join(", ")
        ))),
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

    fn parse(line: &str) -> Result<Words, Refusal> {
        let typed: Vec<String> = line.split('|').map(str::to_owned).collect();
        Words::parse(&typed)
    }

    #[test]
    fn options_may_be_shortened_and_stand_anywhere() {
        let words = parse("validate_step|2.4|--rec=proceed|--bran|a/b|--mech").unwrap();
        assert_eq!(words.command, Command::ValidateStep);
        assert_eq!(words.subject(), Some("2.4"));
        assert_eq!(words.options.value("--recommendation"), Some("proceed"));
        assert_eq!(words.options.value("--branch"), Some("a/b"));
        assert!(words.options.has("--mechanical") && !words.options.has("--tdd"));
        let words = parse("--branch|x|set_subtasks|ST-1|ST-2").unwrap();
        assert_eq!(words.rest, ["ST-1", "ST-2"]);
        let words = parse("monitor_failed|--feedback|- fix the --files case").unwrap();
        assert_eq!(
            words.options.value("--feedback"),
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
    fn what_can_not_be_read_is_refused() {
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
    fn every_name_leads_to_its_command() {
        let mut names: Vec<&str> = Command::names().collect();
        for name in &names {
            assert!(Command::of(name).is_some(), "{name}");
        }
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
        assert_eq!(count, 35 + 11);
    }
}
