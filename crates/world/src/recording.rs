//! Recordings of a world: made here, played back on another machine.
//!
//! The file is a header line (`{"schema":"rekindle.capture/1",…}`) and one line per question with
//! its answer. It contains the files that were read, so it is as private as they are. A reader
//! refuses an unknown schema.

use std::cell::RefCell;
use std::collections::BTreeMap;

use camino::{Utf8Path, Utf8PathBuf};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};

use crate::{
    DatabaseQuestion, DatabaseRow, End, Entry, GitAnswer, GitQuestion, Meta, Ownership,
    ProcessAnswer, ProcessQuestion, ReadError, World,
};

/// The name and version of the file's form.
pub const CAPTURE_SCHEMA: &str = "rekindle.capture/1";

#[derive(Debug, Serialize, Deserialize)]
struct Header {
    schema: String,
    project: Utf8PathBuf,
    now: Timestamp,
    /// Older recordings have none and were made in UTC.
    #[serde(default, with = "jiff::fmt::serde::tz::optional")]
    zone: Option<TimeZone>,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Question {
    Variable(String),
    Stat(Utf8PathBuf),
    List(Utf8PathBuf),
    Resolve(Utf8PathBuf),
    Contents(Utf8PathBuf),
    /// A part of a file, which is recorded apart from its whole contents.
    End(Utf8PathBuf, End, usize),
    Ownership(Utf8PathBuf),
    Modified(Utf8PathBuf),
    Git(Utf8PathBuf, GitQuestion),
    Database(Utf8PathBuf, DatabaseQuestion),
    Processes(ProcessQuestion),
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Answer {
    Variable(Option<String>),
    Meta(Meta),
    Entries(Vec<Entry>),
    Path(Utf8PathBuf),
    /// Contents that are UTF-8.
    Text(String),
    /// Contents that are not.
    Bytes(Vec<u8>),
    Ownership(Ownership),
    Modified(Option<Timestamp>),
    Git(GitAnswer),
    Rows(Vec<DatabaseRow>),
    Processes(ProcessAnswer),
    Error(ReadError),
}

#[derive(Debug, Serialize, Deserialize)]
struct Line {
    ask: Question,
    got: Answer,
}

/// Passes every question on and records the answers.
pub struct Recorder<'w> {
    inner: &'w dyn World,
    answers: RefCell<BTreeMap<Question, Answer>>,
}

impl<'w> Recorder<'w> {
    /// Returns a recorder of `inner` that has kept nothing yet.
    pub fn new(inner: &'w dyn World) -> Self {
        Self {
            inner,
            answers: RefCell::new(BTreeMap::new()),
        }
    }

    /// Returns the recording as the bytes of a file.
    pub fn finish(self) -> Vec<u8> {
        let header = Header {
            schema: CAPTURE_SCHEMA.to_owned(),
            project: self.inner.project().to_owned(),
            now: self.inner.now(),
            zone: Some(portable(self.inner.zone(), self.inner.now())),
        };
        let mut file = Vec::new();
        // Serializing plain values into memory cannot fail.
        let mut line = |value: serde_json::Result<Vec<u8>>| {
            file.extend(value.unwrap_or_default());
            file.push(b'\n');
        };
        line(serde_json::to_vec(&header));
        for (ask, got) in self.answers.into_inner() {
            line(serde_json::to_vec(&Line { ask, got }));
        }
        file
    }

    fn keep(&self, ask: Question, got: Answer) {
        let mut answers = self.answers.borrow_mut();
        // Contents once read answer for every limit; a refusal answers only for its own.
        let refused = matches!(got, Answer::Error(ReadError::TooLarge { .. }));
        if !(refused && answers.contains_key(&ask)) {
            answers.insert(ask, got);
        }
    }

    fn kept<T: Clone>(
        &self,
        ask: Question,
        answer: Result<T, ReadError>,
        wrap: impl Fn(T) -> Answer,
    ) -> Result<T, ReadError> {
        let got = match &answer {
            Ok(value) => wrap(value.clone()),
            Err(error) => Answer::Error(error.clone()),
        };
        self.keep(ask, got);
        answer
    }
}

/// Returns a zone that can be recorded: one without a name becomes its current offset.
fn portable(zone: TimeZone, now: Timestamp) -> TimeZone {
    if zone.iana_name().is_some() || zone.to_fixed_offset().is_ok() {
        return zone;
    }
    TimeZone::fixed(zone.to_offset(now))
}

fn contents(bytes: Vec<u8>) -> Answer {
    match String::from_utf8(bytes) {
        Ok(text) => Answer::Text(text),
        Err(error) => Answer::Bytes(error.into_bytes()),
    }
}

impl World for Recorder<'_> {
    fn project(&self) -> &Utf8Path {
        self.inner.project()
    }

    fn now(&self) -> Timestamp {
        self.inner.now()
    }

    fn zone(&self) -> TimeZone {
        self.inner.zone()
    }

    fn variable(&self, name: &str) -> Option<String> {
        let value = self.inner.variable(name);
        self.keep(
            Question::Variable(name.into()),
            Answer::Variable(value.clone()),
        );
        value
    }

    fn stat(&self, path: &Utf8Path) -> Result<Meta, ReadError> {
        self.kept(
            Question::Stat(path.into()),
            self.inner.stat(path),
            Answer::Meta,
        )
    }

    fn list(&self, folder: &Utf8Path) -> Result<Vec<Entry>, ReadError> {
        self.kept(
            Question::List(folder.into()),
            self.inner.list(folder),
            Answer::Entries,
        )
    }

    fn resolve(&self, path: &Utf8Path) -> Result<Utf8PathBuf, ReadError> {
        self.kept(
            Question::Resolve(path.into()),
            self.inner.resolve(path),
            Answer::Path,
        )
    }

    fn read(&self, path: &Utf8Path, limit: u64) -> Result<Vec<u8>, ReadError> {
        self.kept(
            Question::Contents(path.into()),
            self.inner.read(path, limit),
            contents,
        )
    }

    fn stream(&self, path: &Utf8Path, sink: &mut dyn FnMut(&[u8])) -> Result<(), ReadError> {
        let mut all = Vec::new();
        let answer = self.inner.stream(path, &mut |piece| {
            all.extend_from_slice(piece);
            sink(piece);
        });
        self.kept(Question::Contents(path.to_owned()), answer, |()| {
            contents(all.clone())
        })
    }

    fn read_end(&self, path: &Utf8Path, end: End, most: usize) -> Result<Vec<u8>, ReadError> {
        self.kept(
            Question::End(path.into(), end, most),
            self.inner.read_end(path, end, most),
            contents,
        )
    }

    fn ownership(&self, path: &Utf8Path) -> Result<Ownership, ReadError> {
        let (ask, answer) = (Question::Ownership(path.into()), self.inner.ownership(path));
        self.kept(ask, answer, Answer::Ownership)
    }

    fn modified(&self, path: &Utf8Path) -> Option<Timestamp> {
        let at = self.inner.modified(path);
        self.keep(Question::Modified(path.to_owned()), Answer::Modified(at));
        at
    }

    fn git(&self, folder: &Utf8Path, question: &GitQuestion) -> Result<GitAnswer, ReadError> {
        let answer = self.inner.git(folder, question);
        let ask = Question::Git(folder.to_owned(), question.clone());
        self.kept(ask, answer, Answer::Git)
    }

    fn git_of_each(
        &self,
        questions: &[(Utf8PathBuf, GitQuestion)],
    ) -> Vec<Result<GitAnswer, ReadError>> {
        let answers = self.inner.git_of_each(questions);
        let both = questions.iter().zip(answers);
        both.map(|((folder, question), answer)| {
            let ask = Question::Git(folder.clone(), question.clone());
            self.kept(ask, answer, Answer::Git)
        })
        .collect()
    }

    fn database(
        &self,
        path: &Utf8Path,
        question: &DatabaseQuestion,
    ) -> Result<Vec<DatabaseRow>, ReadError> {
        let answer = self.inner.database(path, question);
        let ask = Question::Database(path.to_owned(), question.clone());
        self.kept(ask, answer, Answer::Rows)
    }

    fn processes(&self, question: &ProcessQuestion) -> Result<ProcessAnswer, ReadError> {
        let answer = self.inner.processes(question);
        self.kept(
            Question::Processes(question.clone()),
            answer,
            Answer::Processes,
        )
    }
}

/// Why a file is not a recording that can be played back.
#[derive(Debug, thiserror::Error)]
pub enum RecordingError {
    /// The first line is not a header.
    #[error("line 1 is not the header of a recording")]
    NoHeader,
    /// The file was made by another version.
    #[error("the recording is of the form `{0}`, and `{CAPTURE_SCHEMA}` can be read")]
    Schema(String),
    /// A line cannot be read.
    #[error("line {line} of the recording is damaged")]
    #[expect(missing_docs, reason = "the message explains the fields")]
    Damaged {
        line: usize,
        source: serde_json::Error,
    },
}

/// A world that answers as recorded; other questions are not found.
#[derive(Debug)]
pub struct Recording {
    header: Header,
    answers: BTreeMap<Question, Answer>,
}

impl Recording {
    /// Reads what [`Recorder::finish`] made.
    pub fn parse(file: &[u8]) -> Result<Self, RecordingError> {
        let mut lines = file
            .split(|&byte| byte == b'\n')
            .enumerate()
            .filter(|(_, line)| !line.is_empty());
        let first = lines.next().map_or(&[] as &[u8], |(_, line)| line);
        let header: Header = serde_json::from_slice(first).map_err(|_| RecordingError::NoHeader)?;
        if header.schema != CAPTURE_SCHEMA {
            return Err(RecordingError::Schema(header.schema));
        }
        let mut answers = BTreeMap::new();
        for (at, line) in lines {
            let Line { ask, got } =
                serde_json::from_slice(line).map_err(|source| RecordingError::Damaged {
                    line: at + 1,
                    source,
                })?;
            answers.insert(ask, got);
        }
        Ok(Self { header, answers })
    }

    fn answer(&self, ask: &Question) -> Result<&Answer, ReadError> {
        match self.answers.get(ask) {
            Some(Answer::Error(error)) => Err(error.clone()),
            Some(answer) => Ok(answer),
            None => Err(ReadError::NotFound),
        }
    }

    fn contents(&self, question: &Question) -> Result<&[u8], ReadError> {
        let answer = self.answer(question)?;
        if let Answer::Text(text) = answer {
            Ok(text.as_bytes())
        } else if let Answer::Bytes(bytes) = answer {
            Ok(bytes)
        } else {
            Err(mismatch(answer))
        }
    }
}

/// Only a recording edited by hand has an answer of another kind.
fn mismatch(answer: &Answer) -> ReadError {
    ReadError::Failed(format!("the recording answers with {answer:?}"))
}

/// Returns the recorded answer to a question, which must be of the given kind.
macro_rules! recorded {
    ($recording:ident, $question:expr, $kind:ident) => {{
        let answer = $recording.answer(&$question)?;
        if let Answer::$kind(value) = answer {
            return Ok(value.clone());
        }
        Err(mismatch(answer))
    }};
}

impl World for Recording {
    fn project(&self) -> &Utf8Path {
        &self.header.project
    }

    fn now(&self) -> Timestamp {
        self.header.now
    }

    fn zone(&self) -> TimeZone {
        self.header.zone.clone().unwrap_or(TimeZone::UTC)
    }

    fn variable(&self, name: &str) -> Option<String> {
        let answer = self.answer(&Question::Variable(name.to_owned())).ok()?;
        let Answer::Variable(value) = answer else {
            return None;
        };
        value.clone()
    }

    fn stat(&self, path: &Utf8Path) -> Result<Meta, ReadError> {
        recorded!(self, Question::Stat(path.to_owned()), Meta)
    }

    fn list(&self, folder: &Utf8Path) -> Result<Vec<Entry>, ReadError> {
        recorded!(self, Question::List(folder.to_owned()), Entries)
    }

    fn resolve(&self, path: &Utf8Path) -> Result<Utf8PathBuf, ReadError> {
        recorded!(self, Question::Resolve(path.to_owned()), Path)
    }

    fn read(&self, path: &Utf8Path, limit: u64) -> Result<Vec<u8>, ReadError> {
        let bytes = self.contents(&Question::Contents(path.to_owned()))?;
        let len = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        if len > limit {
            return Err(ReadError::TooLarge { len, limit });
        }
        Ok(bytes.to_vec())
    }

    fn stream(&self, path: &Utf8Path, sink: &mut dyn FnMut(&[u8])) -> Result<(), ReadError> {
        sink(self.contents(&Question::Contents(path.to_owned()))?);
        Ok(())
    }

    fn read_end(&self, path: &Utf8Path, end: End, most: usize) -> Result<Vec<u8>, ReadError> {
        let part = self.contents(&Question::End(path.to_owned(), end, most))?;
        Ok(part.to_vec())
    }

    fn ownership(&self, path: &Utf8Path) -> Result<Ownership, ReadError> {
        recorded!(self, Question::Ownership(path.to_owned()), Ownership)
    }

    fn modified(&self, path: &Utf8Path) -> Option<Timestamp> {
        let answer = self.answer(&Question::Modified(path.to_owned())).ok()?;
        let Answer::Modified(at) = answer else {
            return None;
        };
        *at
    }

    fn git(&self, folder: &Utf8Path, question: &GitQuestion) -> Result<GitAnswer, ReadError> {
        recorded!(
            self,
            Question::Git(folder.to_owned(), question.clone()),
            Git
        )
    }

    fn database(
        &self,
        path: &Utf8Path,
        question: &DatabaseQuestion,
    ) -> Result<Vec<DatabaseRow>, ReadError> {
        recorded!(
            self,
            Question::Database(path.to_owned(), question.clone()),
            Rows
        )
    }

    fn processes(&self, question: &ProcessQuestion) -> Result<ProcessAnswer, ReadError> {
        recorded!(self, Question::Processes(question.clone()), Processes)
    }
}
