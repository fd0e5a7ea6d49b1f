//! Reads a log of events line by line, however damaged it is.
//!
//! Damage is a finding, never an error. Three kinds are repaired because real writers produce them:
//! several objects on one line, one object over several lines, and bytes that are not UTF-8.

use std::borrow::Cow;
use std::collections::VecDeque;

use camino::{Utf8Path, Utf8PathBuf};
use jiff::Timestamp;
use rekindle_model::{Code, Place};
use rekindle_text::{LineSplitter, RawLine, Text};
use rekindle_world::{ReadError, World};
use serde::de::IgnoredAny;

use super::event::{Event, Value};
use super::findings::Findings;
use super::{scan, surrogate};

/// The longest line, in bytes.
const LONGEST_LINE: usize = 8 * 1024 * 1024;
/// An object printed over more than this is not put together.
const LONGEST_OBJECT: usize = 1024 * 1024;
/// After this many bytes without result, a log is not searched for multi-line objects any more, so
/// that the search stays linear.
const MOST_WASTED: usize = 4 * LONGEST_OBJECT;
/// The overhead of a line in memory.
const LINE_COST: usize = 64;

/// The position and time of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Mark {
    /// Its time in the order of events; without any time at all it counts as the earliest.
    pub(super) at: Option<Timestamp>,
    /// Its time as it was stamped, which the order may not follow; see [`rekindle_model::Moment`].
    pub(super) stamp: Option<Timestamp>,
    /// The index of the log in the sorted list.
    pub(super) file: usize,
    /// The 1-based line.
    pub(super) line: u64,
    /// The event's number in its log; a line can hold several.
    pub(super) number: u64,
}

impl Mark {
    /// Returns whether this one surely came after `other`: later in time, or at the same time below it in the same log.
    pub(super) fn is_after(self, other: Self) -> bool {
        self.at > other.at
            || (self.at == other.at && self.file == other.file && self.number > other.number)
    }

    /// Returns the order of last resort: time, then log, then position.
    pub(super) fn order(self) -> (Option<Timestamp>, usize, u64) {
        (self.at, self.file, self.number)
    }
}

/// Reads one log and hands its events on in the order of their lines.
pub(super) fn read(
    world: &dyn World,
    path: &Utf8Path,
    shown_as: Utf8PathBuf,
    file: usize,
    findings: &mut Findings,
    sink: &mut dyn FnMut(&Event<'_>, Mark),
) -> Result<(), ReadError> {
    let name = path.file_name().unwrap_or_default();
    let mut reader = Reader {
        file,
        name_time: rekindle_text::file_stamp(name),
        path: shown_as,
        findings,
        sink,
        previous: None,
        latest: None,
        n_events: 0,
        open: None,
        wasted: 0,
    };
    let mut splitter = LineSplitter::new(LONGEST_LINE);
    world.stream(path, &mut |piece| {
        splitter.push(piece, &mut |line| reader.line(&line));
    })?;
    splitter.finish(&mut |line| reader.line(&line));
    reader.close();
    Ok(())
}

struct Reader<'r> {
    file: usize,
    path: Utf8PathBuf,
    /// The time in the log's name, for events before the first that has one.
    name_time: Option<Timestamp>,
    findings: &'r mut Findings,
    sink: &'r mut dyn FnMut(&Event<'_>, Mark),
    previous: Option<Timestamp>,
    latest: Option<Timestamp>,
    n_events: u64,
    open: Option<OpenObject>,
    /// Bytes that were held for objects which came to nothing.
    wasted: usize,
}

impl Reader<'_> {
    fn line(&mut self, line: &RawLine<'_>) {
        let bytes = match line.text {
            Text::Whole(bytes) => bytes,
            Text::Oversized { .. } => {
                self.close();
                self.note(Code::OversizedLine, line.number);
                self.damaged(line.number, line.terminated);
                return;
            }
        };
        // Checking the whole line first finds bytes that the parser would pass over unseen.
        let text = if let Ok(text) = std::str::from_utf8(bytes) {
            Cow::Borrowed(text)
        } else {
            self.note(Code::InvalidUtf8, line.number);
            String::from_utf8_lossy(bytes)
        };
        if self.open.is_none() && text.starts_with('{') {
            let mut event = Event::default();
            if scan::event(&text, &mut event) {
                self.event(&event, line.number);
                return;
            }
        }
        // Logs that were joined have the mark in the middle.
        let text = text.trim_start_matches('\u{FEFF}');
        if text.trim().is_empty() {
            return;
        }
        let line = Line {
            text: Cow::Borrowed(text),
            number: line.number,
            terminated: line.terminated,
        };
        if self.open.is_some() {
            self.lines(vec![line.into_held()]);
        } else {
            self.alone(line);
        }
    }

    /// Reads lines of which the first may belong to the open object.
    fn lines(&mut self, lines: Vec<Line<'static>>) {
        let mut waiting = VecDeque::from(lines);
        while let Some(line) = waiting.pop_front() {
            if let Some(open) = self.open.take() {
                for given_back in self.extend(open, line).into_iter().rev() {
                    waiting.push_front(given_back);
                }
            } else {
                self.alone(line);
            }
        }
    }

    /// Reads a line outside of an open object.
    fn alone(&mut self, line: Line<'_>) {
        match serde_json::from_str::<Event<'_>>(&line.text) {
            Ok(event) => self.event(&event, line.number),
            Err(error) if error.is_eof() && line.text.starts_with('{') => {
                let mut shape = Shape::default();
                if self.wasted <= MOST_WASTED && shape.take(&line.text) == Reach::Open {
                    let lines = vec![line.into_held()];
                    self.open = Some(OpenObject { lines, shape });
                } else {
                    self.damaged(line.number, line.terminated);
                }
            }
            Err(_) => self.mend(&line),
        }
    }

    /// Adds a line to the open object, and returns the lines that do not belong to it.
    ///
    /// An event in the first column is a record of its own, so the open object was torn.
    fn extend(&mut self, mut open: OpenObject, line: Line<'static>) -> Vec<Line<'static>> {
        let is_event = || serde_json::from_str::<Event<'_>>(&line.text).is_ok();
        let reach = if line.text.starts_with('{') && is_event() {
            Reach::Torn
        } else {
            open.shape.take(&line.text)
        };
        if reach == Reach::Open && open.shape.cost <= LONGEST_OBJECT {
            open.lines.push(line);
            self.open = Some(open);
            return Vec::new();
        }
        if let Reach::Closed { end } = reach
            && let Some(rest) = self.complete(&open, &line, end)
        {
            let rest = (!rest.is_empty()).then(|| Line {
                text: Cow::Owned(rest.to_owned()),
                ..line
            });
            return rest.into_iter().collect();
        }
        open.lines.push(line);
        self.give_up(open)
    }

    /// Reads the event that ends at `end` of its last line, and returns the rest of that line.
    fn complete<'l>(
        &mut self,
        open: &OpenObject,
        last: &'l Line<'_>,
        end: usize,
    ) -> Option<&'l str> {
        let (end, rest) = last.text.split_at_checked(end)?;
        let rest = rest.trim();
        if !rest.is_empty() && !rest.starts_with('{') {
            return None;
        }
        let lines = open.lines.iter().map(|line| &*line.text);
        let text = lines.chain([end]).collect::<Vec<_>>().join("\n");
        let event = serde_json::from_str::<Event<'_>>(&text).ok()?;
        let first = open.lines.first()?.number;
        self.note(Code::MultilineJsonRecovered, first);
        self.event(&event, first);
        Some(rest)
    }

    /// Counts the open object's first line as damage, and returns the others to be read by themselves.
    fn give_up(&mut self, open: OpenObject) -> Vec<Line<'static>> {
        self.wasted += open.shape.cost;
        let mut lines = open.lines.into_iter();
        if let Some(first) = lines.next() {
            self.damaged(first.number, first.terminated);
        }
        lines.collect()
    }

    /// Gives up whatever is open: nothing that could complete it will come.
    fn close(&mut self) {
        while let Some(open) = self.open.take() {
            let rest = self.give_up(open);
            self.lines(rest);
        }
    }

    /// Reads several objects on one line, or reports the damage.
    fn mend(&mut self, line: &Line<'_>) {
        let text = &*line.text;
        let objects: Result<Vec<Event<'_>>, _> = serde_json::Deserializer::from_str(text)
            .into_iter()
            .collect();
        if let Ok(events) = objects {
            self.note(Code::ConcatenatedJsonRecovered, line.number);
            for event in &events {
                self.event(event, line.number);
            }
            return;
        }
        if serde_json::from_str::<IgnoredAny>(text).is_err() {
            self.damaged(line.number, line.terminated);
        } else if !text.trim_start().starts_with('{') {
            self.note(Code::NonObjectLine, line.number);
        } else {
            // JSON it is, but with half of a pair of escapes: a writer cut a text in the middle of one.
            match serde_json::from_str(&surrogate::replace_halves(text)) {
                Ok(event) => self.event(&event, line.number),
                Err(_) => self.damaged(line.number, line.terminated),
            }
        }
    }

    /// A line without its end was being written when its writer died; any other is damage.
    fn damaged(&mut self, line: u64, terminated: bool) {
        let code = if terminated {
            Code::CorruptLine
        } else {
            Code::TruncatedLine
        };
        self.note(code, line);
    }

    fn event(&mut self, event: &Event<'_>, line: u64) {
        let own = match &event.timestamp {
            Value::Absent => {
                self.note(Code::MissingTimestamp, line);
                None
            }
            Value::Text(text) => {
                let at = rekindle_text::parse_instant(text);
                if at.is_none() {
                    self.note(Code::BadTimestamp, line);
                }
                at
            }
            Value::Integer(_) | Value::Boolean(_) | Value::Opaque => {
                self.note(Code::BadTimestamp, line);
                None
            }
        };
        let after = event.after.text().and_then(rekindle_text::parse_instant);
        if own.is_some() {
            // rekindle records the lower bound of an event's time if its clock was set back.
            if own < self.latest && after.is_none() {
                self.note(Code::NonmonotonicFile, line);
            }
            self.latest = self.latest.max(own);
        }
        let stamp = own.or(self.previous).or(self.name_time);
        let at = stamp.max(after);
        self.previous = at;
        let mark = Mark {
            at,
            stamp,
            file: self.file,
            line,
            number: self.n_events,
        };
        self.n_events += 1;
        (self.sink)(event, mark);
    }

    fn note(&mut self, code: Code, line: u64) {
        self.findings
            .add(code, || Place::line(self.path.clone(), line));
    }
}

/// A line with something on it.
struct Line<'a> {
    text: Cow<'a, str>,
    number: u64,
    terminated: bool,
}

impl Line<'_> {
    fn into_held(self) -> Line<'static> {
        Line {
            text: Cow::Owned(self.text.into_owned()),
            ..self
        }
    }
}

/// An object whose end has not come yet.
struct OpenObject {
    lines: Vec<Line<'static>>,
    shape: Shape,
}

/// The nesting depth of an incomplete object, by its brackets and quotes.
#[derive(Default)]
struct Shape {
    depth: usize,
    /// Its size in memory, in bytes.
    cost: usize,
}

/// How far a line brings an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reach {
    /// There must be more.
    Open,
    /// It is complete, and ends here in the line.
    Closed { end: usize },
    /// Incomplete: a JSON string cannot span lines.
    Torn,
}

impl Shape {
    fn take(&mut self, line: &str) -> Reach {
        self.cost += line.len() + LINE_COST;
        let mut in_text = false;
        let mut escaped = false;
        for (at, byte) in line.bytes().enumerate() {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = in_text,
                b'"' => in_text = !in_text,
                _ if in_text => {}
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' => {
                    self.depth = self.depth.saturating_sub(1);
                    if self.depth == 0 {
                        return Reach::Closed { end: at + 1 };
                    }
                }
                _ => {}
            }
        }
        if in_text { Reach::Torn } else { Reach::Open }
    }
}
