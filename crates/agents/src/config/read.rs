//! Reads a configuration file and reports problems with their lines.

use std::num::NonZeroUsize;
use std::ops::Range;
use std::time::Duration;

use camino::Utf8Path;
use toml::Spanned;
use toml::de::{DeFloat, DeInteger, DeTable, DeValue};

use super::{
    Base, Entry, Error, File, Notify, RunEntry, Warning, listed, parse_duration, settings,
};
use crate::{Preset, Prompt, Stream};

/// Protects against a typo that starts a thousand agents.
const MOST_JOBS: u64 = 64;
const MOST_RETRIES: u64 = 20;
/// The keys of each table, to say which one was meant by an unknown one.
const KNOWN: &[(&str, &[&str])] = &[
    ("", &["agent", "agents", "run", "worktree", "notify"]),
    ("agent", &["default"]),
    (
        "agents.NAME",
        &[
            "preset", "command", "args", "stream", "resume", "prompt", "timeout",
        ],
    ),
    ("run", &["jobs", "retries", "timeout", "verify", "max_cost"]),
    (
        "worktree",
        &[
            "fresh",
            "setup",
            "setup_when",
            "teardown",
            "timeout",
            "copy",
            "link",
            "sparse",
        ],
    ),
    ("notify", &["command", "bell", "desktop"]),
];

impl File {
    /// Reads the text of a file or returns its first error; `path` is only for messages.
    pub fn parse(path: &Utf8Path, text: &str) -> Result<Self, Error> {
        let mut reader = Reader {
            path,
            text,
            warnings: Vec::new(),
        };
        let table = DeTable::parse(text).map_err(|error| {
            let message = error.message().replace('\n', " ");
            reader.invalid(&error.span().unwrap_or_default(), message)
        })?;
        let mut file = reader.file(table.get_ref())?;
        let unknown = |key: &str| {
            let mut warnings = reader.warnings.iter();
            warnings.any(|warning| {
                let rest = key.strip_prefix(warning.key.as_str());
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
            })
        };
        file.settings = settings::of_file(path, text, table.get_ref());
        file.settings.retain(|setting| !unknown(&setting.key));
        file.warnings = reader.warnings;
        Ok(file)
    }
}

pub(super) struct Reader<'a> {
    path: &'a Utf8Path,
    text: &'a str,
    warnings: Vec<Warning>,
}

/// A value and its key.
pub(super) struct Found<'v, 'i> {
    pub(super) key: String,
    pub(super) value: &'v Spanned<DeValue<'i>>,
}

impl Reader<'_> {
    fn file(&mut self, table: &DeTable<'_>) -> Result<File, Error> {
        let mut file = File::default();
        for (name, at, found) in members("", table) {
            match name {
                "agent" => {
                    for (name, at, found) in members(&found.key, self.table(&found)?) {
                        match name {
                            "default" => file.default_agent = Some(self.text(&found)?),
                            _ => self.unknown(found.key, &at),
                        }
                    }
                }
                "agents" => {
                    for (name, at, found) in members("agents", self.table(&found)?) {
                        self.check_name(name, &found.key, &at)?;
                        let entry = self.entry(&found)?;
                        file.agents.insert(name.to_owned(), entry);
                    }
                }
                "run" => file.run = self.run(&found)?,
                "worktree" => file.worktree = self.worktree(&found.key, self.table(&found)?)?,
                "notify" => file.notify = Some(self.notify(&found)?),
                _ => self.unknown(found.key, &at),
            }
        }
        Ok(file)
    }

    fn entry(&mut self, found: &Found<'_, '_>) -> Result<Entry, Error> {
        let mut entry = Entry::default();
        for (name, at, found) in members(&found.key, self.table(found)?) {
            match name {
                "preset" | "command" if entry.base.is_some() => {
                    let problem =
                        "conflicts with another key: an agent has either `preset` or `command`";
                    return Err(self.wrong(&found, problem));
                }
                "preset" => {
                    let presets = Preset::ALL.map(|preset| (preset.name(), preset));
                    entry.base = Some(Base::Preset(self.one_of(&found, &presets)?));
                }
                "command" => entry.base = Some(Base::Command(self.text(&found)?)),
                "args" => entry.args = Some(self.texts(&found)?),
                "stream" => {
                    let streams = Stream::ALL.map(|stream| (stream.name(), stream));
                    entry.stream = Some(self.one_of(&found, &streams)?);
                }
                "resume" => entry.resume = Some(self.resume(&found)?),
                "prompt" => {
                    let ways = [("stdin", Prompt::Stdin), ("argument", Prompt::Argument)];
                    entry.prompt = Some(self.one_of(&found, &ways)?);
                }
                "timeout" => entry.timeout = Some(self.duration(&found)?),
                _ => self.unknown(found.key, &at),
            }
        }
        Ok(entry)
    }

    fn run(&mut self, found: &Found<'_, '_>) -> Result<RunEntry, Error> {
        let mut run = RunEntry::default();
        for (name, at, found) in members(&found.key, self.table(found)?) {
            match name {
                "jobs" => {
                    let jobs = self.number(&found, 1, MOST_JOBS)?;
                    run.jobs = usize::try_from(jobs).ok().and_then(NonZeroUsize::new);
                }
                "retries" => {
                    run.retries = u32::try_from(self.number(&found, 0, MOST_RETRIES)?).ok();
                }
                "timeout" => run.timeout = Some(self.duration(&found)?),
                "verify" => run.verify = Some(self.commands(&found)?),
                "max_cost" => run.max_cost = Some(self.money(&found)?),
                _ => self.unknown(found.key, &at),
            }
        }
        Ok(run)
    }

    fn notify(&mut self, found: &Found<'_, '_>) -> Result<Notify, Error> {
        let mut notify = Notify::default();
        for (name, at, found) in members(&found.key, self.table(found)?) {
            match name {
                "command" => notify.command = Some(self.text(&found)?),
                "bell" => notify.bell = self.switch(&found)?,
                "desktop" => notify.desktop = self.switch(&found)?,
                _ => self.unknown(found.key, &at),
            }
        }
        Ok(notify)
    }

    pub(super) fn switch(&self, found: &Found<'_, '_>) -> Result<bool, Error> {
        let value = found.value.get_ref().as_bool();
        value.ok_or_else(|| self.wrong_type(found, "`true` or `false`"))
    }

    fn table<'v, 'i>(&self, found: &Found<'v, 'i>) -> Result<&'v DeTable<'i>, Error> {
        let table = found.value.get_ref().as_table();
        table.ok_or_else(|| self.wrong_type(found, "a table"))
    }

    fn text(&self, found: &Found<'_, '_>) -> Result<String, Error> {
        let text = found.value.get_ref().as_str();
        let text = text.ok_or_else(|| self.wrong_type(found, "a string"))?;
        if text.trim().is_empty() {
            return Err(self.wrong(found, "must not be empty"));
        }
        if text.contains('\0') {
            return Err(self.wrong(found, "must not contain a zero byte"));
        }
        Ok(text.to_owned())
    }

    pub(super) fn texts(&self, found: &Found<'_, '_>) -> Result<Vec<String>, Error> {
        const EXPECTED: &str = "a list of strings";
        let list = found.value.get_ref().as_array();
        let list = list.ok_or_else(|| self.wrong_type(found, EXPECTED))?;
        let mut texts = Vec::new();
        for value in list {
            let found = Found {
                key: found.key.clone(),
                value,
            };
            let text = value.get_ref().as_str();
            let text = text.ok_or_else(|| self.wrong_type(&found, EXPECTED))?;
            if text.contains('\0') {
                return Err(self.wrong(&found, "must not contain a zero byte"));
            }
            texts.push(text.to_owned());
        }
        Ok(texts)
    }

    /// Reads commands; an empty one would succeed and check nothing.
    fn commands(&self, found: &Found<'_, '_>) -> Result<Vec<String>, Error> {
        let commands = self.texts(found)?;
        if commands.iter().any(|command| command.trim().is_empty()) {
            return Err(self.wrong(found, "must not contain an empty command"));
        }
        Ok(commands)
    }

    fn resume(&self, found: &Found<'_, '_>) -> Result<Vec<String>, Error> {
        let words = self.texts(found)?;
        if !words.iter().any(|word| word.contains("{session}")) {
            return Err(self.wrong(found, "must contain `{session}`"));
        }
        Ok(words)
    }

    fn one_of<T: Copy>(
        &self,
        found: &Found<'_, '_>,
        known: &[(&'static str, T)],
    ) -> Result<T, Error> {
        let text = self.text(found)?;
        if let Some((_, value)) = known.iter().find(|(name, _)| *name == text) {
            return Ok(*value);
        }
        let names: Vec<String> = known.iter().map(|(name, _)| (*name).to_owned()).collect();
        Err(self.wrong(found, &format!("must be one of {}", listed(&names))))
    }

    pub(super) fn duration(&self, found: &Found<'_, '_>) -> Result<Duration, Error> {
        let text = found.value.get_ref().as_str();
        let text = text.ok_or_else(|| self.wrong_type(found, "a duration in quotes"))?;
        parse_duration(text).map_err(|problem| self.wrong(found, problem))
    }

    fn number(&self, found: &Found<'_, '_>, least: u64, most: u64) -> Result<u64, Error> {
        let number = found.value.get_ref().as_integer();
        let number = number.ok_or_else(|| self.wrong_type(found, "a whole number"))?;
        let read = u64::from_str_radix(number.as_str(), number.radix());
        let fits = read.ok().filter(|number| (least..=most).contains(number));
        fits.ok_or_else(|| self.wrong(found, &format!("must be from {least} to {most}")))
    }

    fn money(&self, found: &Found<'_, '_>) -> Result<f64, Error> {
        let value = found.value.get_ref();
        let text = value.as_float().map(DeFloat::as_str);
        let text = text.or(value.as_integer().map(DeInteger::as_str));
        let text = text.ok_or_else(|| self.wrong_type(found, "a number"))?;
        let read: Option<f64> = text.parse().ok();
        let fits = read.filter(|usd| usd.is_finite() && *usd > 0.0);
        fits.ok_or_else(|| self.wrong(found, "must be more than zero"))
    }

    /// Checks a name, which is used in messages and command lines.
    fn check_name(&self, name: &str, key: &str, at: &Range<usize>) -> Result<(), Error> {
        let known = |char: char| char.is_ascii_alphanumeric() || "-_.".contains(char);
        if name.chars().all(known) && name.starts_with(|char: char| char.is_ascii_alphanumeric()) {
            return Ok(());
        }
        let problem = "must be a name of letters, digits, `-`, `_` and `.`";
        Err(self.invalid(at, format!("`{key}` {problem}")))
    }

    pub(super) fn unknown(&mut self, key: String, at: &Range<usize>) {
        self.warnings.push(Warning {
            path: self.path.to_owned(),
            line: self.line(at),
            meant: meant(&key),
            key,
        });
    }

    pub(super) fn wrong(&self, found: &Found<'_, '_>, problem: &str) -> Error {
        self.invalid(&found.value.span(), format!("`{}` {problem}", found.key))
    }

    pub(super) fn wrong_type(&self, found: &Found<'_, '_>, expected: &str) -> Error {
        let kind = kind(found.value.get_ref());
        self.wrong(found, &format!("must be {expected}, not {kind}"))
    }

    fn invalid(&self, at: &Range<usize>, problem: String) -> Error {
        Error::Invalid {
            path: self.path.to_owned(),
            line: self.line(at),
            problem,
        }
    }

    fn line(&self, span: &Range<usize>) -> usize {
        line(self.text, span.start)
    }
}

/// Returns the line of a place in a text, from 1.
pub(super) fn line(text: &str, at: usize) -> usize {
    let before = text.as_bytes().get(..at).unwrap_or_default();
    before.split(|byte| *byte == b'\n').count()
}

/// Returns the key that was probably meant.
fn meant(key: &str) -> Option<&'static str> {
    let (table, last) = key.rsplit_once('.').unwrap_or(("", key));
    let table = match table.split_once('.') {
        Some(("agents", _)) => "agents.NAME",
        Some(_) | None => table,
    };
    let (_, known) = KNOWN.iter().find(|(name, _)| *name == table)?;
    rekindle_text::nearest(last, known)
}

/// Returns the members of a table in file order, each with its position and its full key.
pub(super) fn members<'v, 'i>(
    path: &str,
    table: &'v DeTable<'i>,
) -> Vec<(&'v str, Range<usize>, Found<'v, 'i>)> {
    let mut members: Vec<_> = table
        .iter()
        .map(|(name, value)| {
            let at = name.span();
            let name = name.get_ref().as_ref();
            let key = joined(path, name);
            (name, at, Found { key, value })
        })
        .collect();
    members.sort_by_key(|(_, at, _)| at.start);
    members
}

pub(super) fn joined(path: &str, name: &str) -> String {
    let bare = |char: char| char.is_ascii_alphanumeric() || char == '-' || char == '_';
    let name = if !name.is_empty() && name.chars().all(bare) {
        name.to_owned()
    } else {
        format!("{name:?}")
    };
    if path.is_empty() {
        name
    } else {
        format!("{path}.{name}")
    }
}

fn kind(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a string",
        DeValue::Integer(_) => "a whole number",
        DeValue::Float(_) => "a float",
        DeValue::Boolean(_) => "a boolean",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}
