//! A plan as people write it: any Markdown page with tasks, with or without ids.
//!
//! ```markdown
//! # Orders API
//!
//! ## T001: Add the endpoint
//! Files: src/api.rs, src/lib.rs
//! Verify: `cargo test`
//!
//! The description, in prose.
//!
//! - [ ] T002 Document it (depends: T001)
//!   - verify: `mdbook test`
//! ```
//!
//! A task is a heading of level 2 or deeper, or a check box, whose first word is an id: letters with a
//! digit. Where no task has an id, the page has one form, the first of `Form::ALL` that any of its
//! lines has, and the tasks are numbered. A few words with a digit, `K8s` or `E2E`, make no ids. What is nested below a task is part of its text: fields, and
//! the description. Fences, comments, quotes and front matter begin nothing.

use rekindle_text::Document;
use rekindle_text::markdown;
use rekindle_text::markdown::line::{id_and_title, is_id, list_item};

use super::Claim;
use super::fields::{self, Below};
use super::grammar::{Boxed, is_torn, notice_empty};
use super::person;
use super::reading::Ids;
use super::remarks;
use super::scan::{self, CheckBox, Hidden, Item, Mark, Page, number};
use super::task::{Notice, Noticed, Task, TaskFile};

/// One task of so many has to have an id.
const ONE_IN: usize = 4;

/// How a page marks its tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// `## T1: Add the endpoint`, `- [ ] T1 Add the endpoint`
    Ids,
    /// `## Task 1: Add the endpoint`
    NamedHeading,
    /// `- [ ] Add the endpoint`
    CheckBox,
    /// `## 1. Add the endpoint`
    NumberedHeading,
    /// `1. Add the endpoint`
    NumberedItem,
}

/// What begins a task.
#[derive(Clone, Copy)]
enum By<'l> {
    /// A heading of this level.
    Heading(usize),
    /// A check box.
    Box(CheckBox<'l>),
    /// A numbered item, indented by so many bytes.
    Item(usize),
}

/// A task that a line begins.
struct Begun<'l> {
    by: By<'l>,
    /// The id, or the number that the page itself gives it.
    id: Option<&'l str>,
    title: &'l str,
}

/// What a line is, whatever the form of the page.
#[derive(Clone, Copy)]
enum Line<'l> {
    Heading(usize, &'l str),
    /// A box, and whether it stands below another one.
    Box(CheckBox<'l>, bool),
    Text(&'l str),
    /// Nothing that could begin a task.
    Hidden,
}

/// Reads a page without the front matter.
pub fn read_text(text: &str) -> TaskFile {
    read(&Page::read(&Document::new(text.as_bytes().to_vec())))
}

/// Reads the tasks of a page.
pub fn read(page: &Page<'_>) -> TaskFile {
    let lines = lines(page);
    let begun = |form: Form| lines.iter().filter_map(move |line| form.begun(*line));
    let form = Form::ALL
        .into_iter()
        .find(|form| begun(*form).next().is_some() && (*form != Form::Ids || have_ids(&lines)));
    // The outermost headings and items are the tasks; what is nested belongs to them.
    let depth = form.and_then(|form| begun(form).map(|task| task.depth()).min());
    // Next to boxes with ids, only a heading with an id beyond doubt is a task.
    let have_boxes_ids = lines
        .iter()
        .any(|line| matches!(line, Line::Box(..)) && Form::Ids.begun(*line).is_some());
    let is_plain = |line: &Line<'_>| matches!(line, Line::Heading(_, text) if !is_surely_id(text));
    let mut reading = Reading::new(page);
    for (at, line) in lines.iter().enumerate() {
        let task = form.and_then(|form| form.begun(*line));
        let is_outermost = |task: &Begun<'_>| {
            if form == Some(Form::Ids) {
                !(have_boxes_ids && is_plain(line))
            } else {
                Some(task.depth()) == depth
            }
        };
        if let Some(task) = task.filter(is_outermost) {
            reading.begin(at, &task);
            continue;
        }
        match line {
            Line::Heading(level, text) => {
                if !reading.heading(*level, text) {
                    continue;
                }
            }
            Line::Box(check, is_below) => reading.notice(at, check, *is_below, form),
            Line::Text(_) | Line::Hidden => {}
        }
        reading.below(at);
    }
    reading.finish()
}

/// Returns what each line is.
fn lines<'p>(page: &'p Page<'_>) -> Vec<Line<'p>> {
    let front = front_matter(page);
    // The list items that the next line can be nested in: their indentation, and whether they are boxes.
    let mut items: Vec<(usize, bool)> = Vec::new();
    let each = page.lines.iter().enumerate().map(|(at, line)| {
        if at < front || line.hidden != Hidden::Not {
            return Line::Hidden;
        }
        if let Some((level, text)) = scan::heading(&line.text) {
            items.clear();
            return Line::Heading(level, text);
        }
        let found = match scan::item(&line.text) {
            Item::Box(check) => Some(check),
            Item::Torn | Item::Nearly | Item::Other => None,
        };
        if let Some(indent) = scan::indent_of(&line.text)
            && (found.is_some() || list_item(&line.text).is_some())
        {
            while items.pop_if(|(above, _)| *above >= indent).is_some() {}
            let is_below = items.iter().any(|(_, is_box)| *is_box);
            items.push((indent, found.is_some()));
            if let Some(check) = found {
                return Line::Box(check, is_below);
            }
        }
        Line::Text(&line.text)
    });
    each.collect()
}

/// Returns whether the words with a digit that tasks begin with are ids: a heading has one that looks
/// like nothing else, or every fourth task has one.
fn have_ids(lines: &[Line<'_>]) -> bool {
    let mut n_ids = 0;
    let mut n_others = 0;
    for line in lines {
        match (Form::Ids.begun(*line), line) {
            (Some(_), Line::Heading(_, text)) if is_surely_id(text) => return true,
            (Some(_), _) => n_ids += 1,
            (None, Line::Box(check, false)) => n_others += usize::from(is_known(check.mark)),
            (None, Line::Box(..) | Line::Heading(..) | Line::Text(_) | Line::Hidden) => {}
        }
    }
    n_ids * ONE_IN >= n_ids + n_others
}

/// Returns whether a heading begins with an id: with a colon or dash behind it, or capitals and a number.
fn is_surely_id(heading: &str) -> bool {
    let text = heading.strip_prefix("Task").unwrap_or(heading);
    let mut words = text.trim_start_matches([':', ' ']).split_whitespace();
    let word = words.next().unwrap_or_default();
    let is_ended = word.ends_with(':')
        || words
            .next()
            .is_some_and(|next| next.starts_with(['-', '–', '—', ':']));
    let number = word.trim_start_matches(|c: char| c.is_ascii_uppercase());
    let number = number.strip_prefix('-').unwrap_or(number);
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    is_ended || is_number
}

/// Returns whether a mark makes a task of a box without an id. Letters and digits do not: `- [1] Knuth`
/// is a reference.
fn is_known(mark: Mark) -> bool {
    match mark {
        Mark::Open | Mark::Done => true,
        Mark::Other(sign) => !sign.is_alphanumeric(),
        Mark::Nothing => false,
    }
}

/// Returns how many lines front matter takes.
fn front_matter(page: &Page<'_>) -> usize {
    let first = page.lines.first();
    if first.is_none_or(|line| !line.raw.starts_with("---")) {
        return 0;
    }
    let mut text = String::new();
    for line in &page.lines {
        text.push_str(&line.raw);
        text.push('\n');
    }
    let inside = markdown::Page::new(&text).front_matter();
    inside.map_or(0, |inside| inside.lines().count() + 2)
}

impl Form {
    const ALL: [Self; 5] = [
        Self::Ids,
        Self::NamedHeading,
        Self::CheckBox,
        Self::NumberedHeading,
        Self::NumberedItem,
    ];

    /// Returns the task that a line begins in this form.
    fn begun(self, line: Line<'_>) -> Option<Begun<'_>> {
        match (self, line) {
            (Self::Ids, Line::Heading(level @ 2.., text)) => {
                let rest = text
                    .strip_prefix("Task ")
                    .or_else(|| text.strip_prefix("Task:"));
                Begun::with_id(By::Heading(level), rest.unwrap_or(text).trim())
            }
            (Self::Ids, Line::Box(check, false)) => {
                Begun::with_id(By::Box(check), check.rest.trim_matches(scan::is_space))
            }
            (Self::NamedHeading, Line::Heading(level, text)) => {
                let rest = ["Task", "Step"].iter().find_map(|name| {
                    let (word, rest) = text.split_at_checked(name.len())?;
                    word.eq_ignore_ascii_case(name).then_some(rest)
                })?;
                let rest = rest.strip_prefix(' ')?.trim_start();
                Begun::numbered(By::Heading(level), rest)
            }
            (Self::NumberedHeading, Line::Heading(level, text)) => {
                Begun::numbered(By::Heading(level), text)
            }
            (Self::CheckBox, Line::Box(check, false)) => {
                let (id, title) = outline_number(check.rest.trim_matches(scan::is_space));
                let by = By::Box(check);
                (is_known(check.mark) && !title.is_empty()).then_some(Begun { by, id, title })
            }
            (Self::NumberedItem, Line::Text(line)) => {
                let text = line.trim_start();
                let title = list_item(line).filter(|title| !title.is_empty())?;
                let by = By::Item(line.len() - text.len());
                let is_numbered = text.starts_with(|c: char| c.is_ascii_digit());
                let id = None;
                is_numbered.then_some(Begun { by, id, title })
            }
            (
                Self::Ids
                | Self::NamedHeading
                | Self::CheckBox
                | Self::NumberedHeading
                | Self::NumberedItem,
                Line::Heading(..) | Line::Box(..) | Line::Text(_) | Line::Hidden,
            ) => None,
        }
    }
}

impl<'l> Begun<'l> {
    /// Reads `T001: Add the endpoint`.
    fn with_id(by: By<'l>, text: &'l str) -> Option<Self> {
        let (id, title) = id_and_title(text);
        is_id(id).then_some(Self {
            by,
            id: Some(id),
            title,
        })
    }

    /// Reads `1: Add the endpoint`, `1. …`, `1) …` or `1 - …`.
    fn numbered(by: By<'l>, text: &'l str) -> Option<Self> {
        let end = text.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let number = text.get(..end)?.trim_end_matches('.');
        let title = text.get(end..)?;
        let title = title
            .trim_start_matches([':', ')', '-', '–', '—', ' '])
            .trim();
        let is_number = number.starts_with(|c: char| c.is_ascii_digit());
        (is_number && !title.is_empty()).then_some(Self {
            by,
            id: Some(number),
            title,
        })
    }

    /// Returns the level of a heading, or the indentation of an item; boxes are outermost at any.
    const fn depth(&self) -> usize {
        match self.by {
            By::Heading(level) => level,
            By::Item(indent) => indent,
            By::Box(_) => 0,
        }
    }
}

/// Splits `1.2 Add the endpoint` into the number of an outline and the rest.
fn outline_number(text: &str) -> (Option<&str>, &str) {
    let (word, rest) = text.split_once(' ').unwrap_or((text, ""));
    let number = word.trim_end_matches('.');
    let is_number = number.contains('.')
        && number
            .split('.')
            .all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()));
    if is_number {
        (Some(number), rest.trim())
    } else {
        (None, text)
    }
}

/// The tasks that were read until here.
struct Reading<'p, 'b> {
    page: &'p Page<'b>,
    file: TaskFile,
    ids: Ids,
    named: Vec<Vec<String>>,
    /// The heading that the current lines belong to: its level, or none for a list item.
    #[expect(
        clippy::option_option,
        reason = "no heading, one without a level, one with it"
    )]
    within: Option<Option<usize>>,
}

impl<'p, 'b> Reading<'p, 'b> {
    fn new(page: &'p Page<'b>) -> Self {
        let noticed = page.noticed.iter().map(|(code, line)| Noticed {
            code: *code,
            line: *line,
            about: String::new(),
        });
        let is_space = |line: &scan::PageLine<'_>| line.raw.trim_matches(scan::is_space).is_empty();
        let file = TaskFile {
            groups: vec![String::new()],
            noticed: noticed.collect(),
            is_blank: page.lines.iter().all(is_space),
            ..TaskFile::default()
        };
        Self {
            page,
            file,
            ids: Ids::default(),
            named: Vec::new(),
            within: None,
        }
    }

    fn begin(&mut self, at: usize, begun: &Begun<'_>) {
        let (title, needs) = fields::without_needs(begun.title);
        let place = (self.file.tasks.len() + 1).to_string();
        let (id, is_taken) = self.ids.take(begun.id.unwrap_or(&place));
        if is_taken && let Some(id) = begun.id {
            self.file.notice(Notice::DuplicateId, number(at), id);
        }
        let base = match begun.by {
            By::Box(check) => Boxed {
                check,
                at,
                group: 0,
            }
            .task(self.page),
            By::Heading(_) | By::Item(_) => Task::unmarked(number(at)),
        };
        let claim = match begun.by {
            By::Box(check) => self.claim(at, check.mark),
            By::Heading(_) | By::Item(_) => Claim::Open,
        };
        self.within = Some(match begun.by {
            By::Heading(level) => Some(level),
            By::Box(_) | By::Item(_) => None,
        });
        self.named.push(needs);
        self.file.tasks.push(Task {
            id,
            is_for_person: person::is_for_person(&title, &[]),
            title,
            claim,
            is_parallel: true,
            is_counted: begun.id.is_none(),
            ..base
        });
    }

    fn claim(&mut self, at: usize, mark: Mark) -> Claim {
        match mark {
            Mark::Open => Claim::Open,
            Mark::Done | Mark::Other('✓' | '✔' | '✅' | '☑') => Claim::Done,
            Mark::Other(_) | Mark::Nothing => {
                let sign = mark.sign();
                self.file.notice(Notice::UnknownMark, number(at), sign);
                Claim::Open
            }
        }
    }

    /// Takes a heading that begins no task; returns whether it belongs to the task above it.
    fn heading(&mut self, level: usize, text: &str) -> bool {
        if level == 1 && self.file.heading.is_none() && self.file.tasks.is_empty() {
            self.file.heading = Some(text.to_owned());
        }
        // A deeper heading is a part of the task that has a heading.
        let is_part = matches!(self.within, Some(Some(above)) if level > above);
        if !is_part {
            self.within = None;
        }
        is_part
    }

    /// Notices a box that begins no task where it could.
    fn notice(&mut self, at: usize, check: &CheckBox<'_>, is_below: bool, form: Option<Form>) {
        let is_step = is_below || matches!(self.within, Some(Some(_)));
        if is_step || !is_known(check.mark) {
            return;
        }
        if check.rest.trim_matches(scan::is_space).is_empty() {
            notice_empty(&mut self.file, self.page, at);
        } else if form == Some(Form::Ids) && check.mark == Mark::Open {
            self.file.notice(Notice::NoId, number(at), "");
        }
    }

    /// Gives a line to the task above it.
    fn below(&mut self, at: usize) {
        let line = &self.page.lines[at];
        match scan::item(&line.text) {
            Item::Torn if is_torn(self.page, at) => {
                self.file.notice(Notice::TornLine, number(at), "");
            }
            Item::Nearly => self.file.notice(Notice::NearlyABox, number(at), ""),
            Item::Box(_) | Item::Torn | Item::Other => {}
        }
        let (Some(_), Some(last)) = (self.within, self.file.tasks.last_mut()) else {
            return;
        };
        let text = line.raw.trim_matches(|c: char| c.is_whitespace());
        let is_prose = line.hidden == Hidden::Not;
        let taken = match self.named.last_mut() {
            Some(needs) if is_prose => fields::take(text, &mut last.fields, needs),
            Some(_) | None => Below::Text,
        };
        if taken == Below::Field {
            return;
        }
        last.details.push_str(text);
        last.details.push('\n');
        if let Below::Misspelt { key, meant } = taken {
            let key = rekindle_text::excerpt(&key, 40);
            let about = format!("unknown key `{key}`; did you mean `{meant}`?");
            self.file.notice(Notice::MisspeltKey, number(at), about);
        }
    }

    fn finish(mut self) -> TaskFile {
        for task in &mut self.file.tasks {
            task.details = task.details.trim().to_owned();
        }
        for (task, named) in self.file.tasks.iter_mut().zip(&self.named) {
            task.names.clone_from(named);
        }
        remarks::connect(&mut self.file, self.named);
        self.file.noticed.sort_by_key(|noticed| noticed.line);
        self.file
    }
}

#[cfg(test)]
#[path = "plain_tests.rs"]
mod tests;
