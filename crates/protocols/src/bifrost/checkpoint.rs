//! Checkpoints: their lines, what is known of each, and which one counts.
//!
//! The latest one has a block of fields. In the history of real files each has one line, so its phase
//! and status are inferred from what it says. Ids are neither dense nor ordered and times not
//! always descending, so only the order of the file counts.

use jiff::civil::DateTime;

use super::next;
use super::phase::Phase;
use super::session::{self, Field, Session, field};
use super::table::{CHOICES, Chosen, FAULTS, Fault, Known, Offer};

/// Fields that may go on below their line.
const OF_SEVERAL_LINES: [&str; 3] = ["artifacts", "dependencies", "next"];

/// One checkpoint as it stands in the session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    /// `CP-007`, where that can be made out.
    pub(super) id: Option<String>,
    /// When it was made, in the user's own time.
    pub(super) at: Option<DateTime>,
    /// The same as it is written.
    pub(super) when: String,
    pub(super) description: String,
    pub(super) fields: Fields,
    /// The phase of the field or the description, else of the next older checkpoint.
    pub(super) phase: Option<Phase>,
    /// The place of its line in the session.
    pub(super) line: usize,
    /// The place of the last line that belongs to it.
    pub(super) last: usize,
}

/// The lines below a checkpoint.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Fields {
    pub(super) phase: Option<String>,
    pub(super) status: Option<String>,
    pub(super) context: Option<String>,
    /// The value and the items of a list below it.
    pub(super) artifacts: Vec<String>,
    pub(super) dependencies: Option<String>,
    pub(super) next: Option<String>,
}

/// All checkpoints of a session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Checkpoints {
    /// What stands under the heading of the latest one, else the newest of a plain list.
    pub(super) latest: Option<Entry>,
    /// What stands under the same heading besides, where the latest was cut off.
    pub(super) beneath: Vec<Entry>,
    /// The history in the order of the file, newest first; or a plain list, turned around.
    pub(super) history: Vec<Entry>,
    /// Whether they are a plain list, oldest first, without a heading for the latest.
    pub(super) is_plain: bool,
}

/// Which checkpoint is resumed from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Choice {
    /// The latest, or one that was named.
    Found(Box<Entry>),
    /// There is none at all.
    Nothing,
    /// The one that is meant can not be read, and says why.
    Corrupt(&'static str),
    /// None has the id that was asked for.
    Unknown,
}

impl Fields {
    /// Returns whether there is none: then all is inferred.
    pub(super) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Returns the fields that a checkpoint must have and this one has not.
    pub(super) fn missing(&self) -> Vec<&'static str> {
        let next = self.next.as_deref();
        let all = [
            ("Phase", self.phase.is_none()),
            ("Status", self.status.is_none()),
            ("Artifacts", self.artifacts.is_empty()),
            ("Dependencies", self.dependencies.is_none()),
            ("Next", next.is_none()),
            ("the end of Next", next.is_some_and(next::is_cut_off)),
        ];
        let missing = all.into_iter().filter(|(_, is_missing)| *is_missing);
        missing.map(|(name, _)| name).collect()
    }
}

impl Entry {
    /// Returns a checkpoint that nobody has written yet.
    pub(super) fn unwritten(phase: Option<Phase>) -> Self {
        Self {
            id: None,
            at: None,
            when: String::new(),
            description: String::new(),
            fields: Fields::default(),
            phase,
            line: 0,
            last: 0,
        }
    }

    /// Returns the id as it is shown.
    pub(super) fn name(&self) -> &str {
        self.id.as_deref().unwrap_or("CP-???")
    }

    /// Returns whether one can go back to it.
    pub(super) fn is_valid(&self) -> bool {
        self.fault().is_none()
    }

    /// Returns why one can not go back to it.
    pub(super) fn fault(&self) -> Option<&'static str> {
        let fault = FAULTS.decide(Known {
            has_id: self.id.is_some(),
            is_dated: self.at.is_some(),
            has_phase: self.phase.is_some(),
        });
        (*fault != Fault::None).then_some(fault.as_str())
    }

    /// Returns whether what it is about is complete; in the implement phase that is a task.
    pub(super) fn is_complete(&self) -> bool {
        match &self.fields.status {
            Some(status) => has_word(status, "complete"),
            None => is_described_as_complete(&self.description),
        }
    }

    /// Returns whether it is what the template left for somebody to fill in.
    fn is_template(&self) -> bool {
        self.when.contains('{')
    }

    /// Returns whether its line was cut off: what it begins with is not all there.
    fn is_torn(&self) -> bool {
        let is_whole = self.id.is_some() && self.at.is_some();
        !is_whole && !self.is_template()
    }

    /// Returns the percentage of the context that was recorded, without what is behind its point.
    pub(super) fn context(&self) -> Option<u32> {
        let (before, _) = self.fields.context.as_deref()?.split_once('%')?;
        let before = before.trim_end();
        let is_of_number = |byte: &u8| byte.is_ascii_digit() || matches!(byte, b'.' | b',');
        let n_number = before.bytes().rev().take_while(is_of_number).count();
        let number = before.get(before.len() - n_number..)?;
        number.split(['.', ',']).next()?.parse().ok()
    }

    /// Returns its first line as it stands in a list.
    pub(super) fn shown(&self) -> String {
        format!("{} ({}): {}", self.name(), self.when, self.description)
    }
}

impl Checkpoints {
    /// Reads the checkpoints of a session.
    pub(super) fn read(session: &Session) -> Self {
        let mut history = entries(session, session.places(session::HISTORY));
        let under_latest = session.places_by_section(session::LATEST);
        let (latest, mut beneath) = latest_of(
            under_latest
                .map(|places| entries(session, places))
                .collect(),
        );
        let listed = entries(session, session.places(session::CHECKPOINTS));
        let is_plain = latest.is_none() && history.is_empty() && !listed.is_empty();
        if is_plain {
            history = listed;
            history.reverse();
        }
        // From the oldest on, so that each can take over what the one before it is about.
        let mut older = None;
        for entry in history.iter_mut().rev() {
            entry.phase = entry.phase.or(older);
            older = entry.phase;
        }
        let inherit = |entry: &mut Entry| {
            let before = history.iter().find(|older| older.id != entry.id);
            entry.phase = entry.phase.or_else(|| before?.phase);
        };
        beneath.iter_mut().for_each(inherit);
        let latest = if is_plain {
            newest(&history)
        } else {
            latest.map(|mut latest| {
                inherit(&mut latest);
                latest
            })
        };
        Self {
            latest,
            beneath,
            history,
            is_plain,
        }
    }

    /// Finds the checkpoint that is meant.
    pub(super) fn choose(&self, wanted: Option<&str>) -> Choice {
        let all = || self.under_latest().chain(&self.history);
        let found = match wanted {
            Some(wanted) => {
                let wanted = canonical(wanted);
                let is_it = |entry: &&Entry| entry.id.as_ref() == Some(&wanted);
                // Where the block is damaged, its line in the history may do.
                let mut readable = all().filter(is_it).filter(|entry| entry.is_valid());
                readable.next().or_else(|| all().find(is_it))
            }
            None => self.latest.as_ref(),
        };
        let chosen = CHOICES.decide(Offer {
            has_any: all().next().is_some(),
            is_named: wanted.is_some(),
            is_found: found.is_some(),
            is_fit: found.is_some_and(Entry::is_valid),
        });
        match (chosen, found) {
            (Chosen::Found, Some(entry)) => Choice::Found(Box::new(entry.clone())),
            (Chosen::Unfit, Some(entry)) => Choice::Corrupt(entry.fault().unwrap_or_default()),
            (Chosen::Nothing, _) => Choice::Nothing,
            (Chosen::Unknown, _) => Choice::Unknown,
            (Chosen::Found | Chosen::Unfit, None) | (Chosen::Empty, _) => {
                Choice::Corrupt("nothing stands under its heading")
            }
        }
    }

    /// Returns what stands under the heading of the latest.
    fn under_latest(&self) -> impl Iterator<Item = &Entry> {
        self.latest.iter().chain(&self.beneath)
    }

    /// Returns every checkpoint once, newest first.
    pub(super) fn all(&self) -> Vec<&Entry> {
        if self.is_plain {
            return self.history.iter().collect();
        }
        // A block says more than the line in the history, if it can be read.
        let has_block = |entry: &&Entry| {
            let mut blocks = self.under_latest();
            blocks.any(|block| block.is_valid() && block.id == entry.id)
        };
        let others = self.history.iter().filter(|entry| !has_block(entry));
        self.under_latest().chain(others).collect()
    }

    /// Returns the history in the order of the file.
    pub(super) fn in_file_order(&self) -> Vec<&Entry> {
        let mut history: Vec<&Entry> = self.history.iter().collect();
        history.sort_by_key(|entry| entry.line);
        history
    }

    /// Returns the number that no checkpoint has and that comes after all of them.
    pub(super) fn next_number(&self, archived: &str) -> u32 {
        let known = self.under_latest().chain(&self.history);
        let numbers = known.filter_map(|entry| entry.id.as_deref()?.strip_prefix("CP-"));
        let archived = archived.lines().filter_map(|line| {
            let rest = without_mark(line).strip_prefix("**CP-")?;
            rest.split("**").next()
        });
        let numbers = numbers
            .chain(archived)
            .filter_map(|n| n.parse::<u32>().ok());
        numbers.max().unwrap_or(0).saturating_add(1)
    }
}

/// Returns the newest of a list that is oldest last; of those of the same minute, the last written.
fn newest(newest_first: &[Entry]) -> Option<Entry> {
    let readable = newest_first.iter().filter(|entry| entry.at.is_some());
    // The last of equals in this order is the first in the list.
    let newest = readable.rev().max_by_key(|entry| entry.at);
    newest.or(newest_first.first()).cloned()
}

/// Returns the one that counts of what stands under the headings of the latest, and what else is there
/// if that one was cut off.
///
/// What the template left says nothing. A new one is put on top, so one on top that was cut off is
/// the latest, whatever can be read below it. Else the newest counts, the first of equals.
fn latest_of(mut sections: Vec<Vec<Entry>>) -> (Option<Entry>, Vec<Entry>) {
    let mut all = sections.iter().flatten();
    if all.any(|entry| !entry.is_template()) {
        for entries in &mut sections {
            entries.retain(|entry| !entry.is_template());
        }
    }
    let mut on_top = sections.iter().filter_map(|entries| entries.first());
    let torn = on_top.find(|entry| entry.is_torn()).cloned();
    let mut all = sections.into_iter().flatten().collect::<Vec<_>>();
    if torn.is_none() {
        return (newest(&all), Vec::new());
    }
    all.retain(|entry| Some(entry) != torn.as_ref());
    (torn, all)
}

/// Returns the place of the first line that looks like a checkpoint and is code or in a comment.
pub(super) fn hidden(session: &Session) -> Option<usize> {
    session
        .hidden()
        .find(|at| starts_like_one(session.line(*at)))
}

/// Reads the checkpoints at these places.
fn entries(session: &Session, places: impl Iterator<Item = usize>) -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    // The field that goes on below its line.
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

    /// Takes what stands below a field, as a list or as the rest of a sentence.
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

/// Returns what an item of a list says, without its bullet, number, box or symbol.
///
/// What is in bold may be the item, or the kind of what follows its colon.
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

/// Returns whether a line looks as if it was to be a checkpoint, be it cut off.
fn starts_like_one(line: &str) -> bool {
    let rest = without_mark(line);
    let rest = rest.trim_start_matches('*');
    rest.starts_with("CP-") || rest.trim_end() == "CP"
}

/// Reads `**CP-007** (2026-03-13 15:20): text`, with a number or a bullet before it.
fn parse(line: &str, at: usize) -> Entry {
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

/// Returns an id as it is written, however it was typed: `cp-3` and `3` are `CP-003`.
fn canonical(typed: &str) -> String {
    let upper = typed.trim().to_ascii_uppercase();
    let digits = upper.strip_prefix("CP-").unwrap_or(&upper);
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    if is_number {
        format!("CP-{digits:0>3}")
    } else {
        upper
    }
}

fn without_mark(line: &str) -> &str {
    let line = line.trim_start();
    let line = line
        .strip_prefix("- ")
        .or(line.strip_prefix("* "))
        .unwrap_or(line);
    let n_mark = super::session::number_mark(line).unwrap_or(0);
    line.get(n_mark..).unwrap_or(line).trim_start()
}

fn is_described_as_complete(description: &str) -> bool {
    let words = description.to_lowercase();
    let goes_on = ["research", "in progress", "initialized", "starting"];
    let is_over = has_word(&words, "complete") || has_word(&words, "validated");
    is_over && !goes_on.iter().any(|word| words.contains(word))
}

/// Returns whether a text has a word, or one that begins with it.
fn has_word(text: &str, word: &str) -> bool {
    let mut words = text.split(|c: char| !c.is_alphanumeric());
    words.any(|found| {
        let head = found.get(..word.len());
        head.is_some_and(|head| head.eq_ignore_ascii_case(word))
    })
}

#[cfg(test)]
#[path = "checkpoint_tests.rs"]
mod tests;
