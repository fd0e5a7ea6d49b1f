//! The grammar of checkpoints: the line with id and time, and the fields below it.

use jiff::civil::DateTime;

use super::Entry;
use crate::phase::Phase;
use crate::session::{Field, RESTORED, Session, field, number_mark};

/// Fields whose value may continue on the next lines.
const OF_SEVERAL_LINES: [&str; 3] = ["artifacts", "dependencies", "next"];

/// Reads the checkpoints in these lines.
pub(super) fn entries(session: &Session, places: impl Iterator<Item = usize>) -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    // The field whose value may continue.
    let mut open: Option<Field<'_>> = None;
    for at in places {
        let line = session.line(at);
        if starts_like_one(line) {
            entries.push(parse(line, at));
            open = None;
            continue;
        }
        let Some(entry) = entries.last_mut() else {
            continue;
        };
        let is_indented = line.starts_with([' ', '\t']);
        match field(line).filter(|field| open.is_none_or(|open| field.indent <= open.indent)) {
            Some(field) => {
                let goes_on = |key: &&str| field.key.eq_ignore_ascii_case(key);
                open = OF_SEVERAL_LINES.iter().any(goes_on).then_some(field);
                entry.take(field.key, field.value);
                entry.last = at;
            }
            None if line.trim().is_empty() => {}
            None if is_indented => {
                if let Some(open) = open {
                    entry.go_on(open.key, line);
                }
                entry.last = at;
            }
            None => open = None,
        }
    }
    for entry in &mut entries {
        let named = entry.fields.phase.as_deref().and_then(Phase::read);
        entry.phase = named.or_else(|| Phase::infer(&entry.description));
    }
    entries
}

impl Entry {
    fn take(&mut self, key: &str, value: &str) {
        if value.is_empty() {
            return;
        }
        self.is_restored |= key.eq_ignore_ascii_case(RESTORED);
        let value = value.to_owned();
        let fields = &mut self.fields;
        match key.to_lowercase().as_str() {
            "phase" => fields.phase = fields.phase.take().or(Some(value)),
            "status" => fields.status = fields.status.take().or(Some(value)),
            "context" => fields.context = fields.context.take().or(Some(value)),
            "artifacts" => fields.artifacts.push(value),
            "dependencies" => fields.dependencies = fields.dependencies.take().or(Some(value)),
            "next" => fields.next = fields.next.take().or(Some(value)),
            _ => {}
        }
    }

    /// Adds a line to the value of a field.
    fn go_on(&mut self, key: &str, line: &str) {
        let fields = &mut self.fields;
        let text = match key.to_lowercase().as_str() {
            "dependencies" => &mut fields.dependencies,
            "next" => &mut fields.next,
            _ => {
                let said = item(line).into_iter().filter(|text| !text.is_empty());
                fields.artifacts.extend(said.map(str::to_owned));
                return;
            }
        };
        let more = without_mark(line).trim();
        match text {
            Some(text) => text.extend([" ", more]),
            None => *text = Some(more.to_owned()),
        }
    }
}

/// Returns the text of a list item without its bullet, number, box or symbol; text in bold comes
/// apart.
fn item(line: &str) -> [&str; 2] {
    let line = line.trim();
    let text = line
        .strip_prefix("+ ")
        .unwrap_or_else(|| without_mark(line));
    let boxed = text.trim_start().strip_prefix('[');
    let boxed = boxed.and_then(|rest| rest.split_once("] "));
    let text = boxed.map_or(text, |(_, rest)| rest);
    let is_symbol = |c: char| c.is_whitespace() || !c.is_ascii() && !c.is_alphanumeric();
    let text = text.trim_start_matches(is_symbol);
    let bold = text
        .strip_prefix("**")
        .and_then(|rest| rest.split_once("**"));
    bold.map_or([text, ""], |(inside, behind)| {
        [
            inside.trim_end_matches(':'),
            behind.trim_start_matches([':', ' ']),
        ]
    })
}

/// Returns whether a line starts like a checkpoint, even if it was cut off.
pub(super) fn starts_like_one(line: &str) -> bool {
    let rest = without_mark(line);
    let rest = rest.trim_start_matches('*');
    rest.starts_with("CP-") || rest.trim_end() == "CP"
}

/// Reads `**CP-007** (2026-03-13 15:20): text`, with a number or a bullet before it.
pub(super) fn parse(line: &str, at: usize) -> Entry {
    let rest = without_mark(line).trim_start_matches('*');
    let n_id = "CP-".len()
        + rest
            .bytes()
            .skip("CP-".len())
            .take_while(u8::is_ascii_digit)
            .count();
    let (id, behind) = rest.split_at_checked(n_id).unwrap_or((rest, ""));
    let is_whole = n_id >= "CP-000".len() && !behind.starts_with(char::is_alphanumeric);
    let behind = behind.trim_start_matches('*').trim_start();
    let inside = behind
        .strip_prefix('(')
        .and_then(|text| text.split_once(')'));
    let (when, description) = inside.unwrap_or(("", behind));
    let description = description.trim_start_matches('*').trim_start();
    let description = description.strip_prefix(':').unwrap_or(description);
    Entry {
        id: is_whole.then(|| id.to_owned()),
        at: local_time(when),
        when: when.trim().to_owned(),
        description: description.trim().to_owned(),
        line: at,
        last: at,
        ..Entry::unwritten(None)
    }
}

/// Reads a day and a time of 24 hours, to the minute, in the user's own zone.
fn local_time(text: &str) -> Option<DateTime> {
    let (day, time) = text.trim().split_once([' ', 'T'])?;
    let date: jiff::civil::Date = day.parse().ok().filter(|_| day.len() == 10)?;
    let (hour, minute) = time.trim().split_once(':')?;
    let number = |text: &str| {
        let is_number = text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| text.parse::<i8>().ok())?
    };
    let time = jiff::civil::Time::new(number(hour)?, number(minute)?, 0, 0).ok()?;
    Some(date.to_datetime(time))
}

pub(super) fn without_mark(line: &str) -> &str {
    let line = line.trim_start();
    let line = line
        .strip_prefix("- ")
        .or(line.strip_prefix("* "))
        .unwrap_or(line);
    let n_mark = number_mark(line).unwrap_or(0);
    line.get(n_mark..).unwrap_or(line).trim_start()
}
