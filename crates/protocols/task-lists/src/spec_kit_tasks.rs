//! The tasks of spec-kit: `- [ ] T012 [P] [US1] Create the model in src/model.py`.

use crate::grammar::{self, Bare, Boxed, Boxes, skip_blanks, tag};
use crate::scan::{self, Mark, Page, number};
use crate::table::Claim;
use crate::task::{Ids, Nesting, Notice, Task, TaskFile};
use crate::{person, remarks};

/// Tags by which a list leaves a task out.
const LEFT_OUT: [&str; 3] = ["deferred", "skip", "skipped"];

/// Reads the tasks of a file.
pub(crate) fn read(page: &Page<'_>) -> TaskFile {
    let mut file = TaskFile::default();
    let boxes = Boxes::of(page, &mut file);
    let lines: Vec<Option<TaskLine<'_>>> = boxes.boxes.iter().map(TaskLine::read).collect();
    let have_ids = lines.iter().flatten().any(|line| line.id.is_some());
    let mut reading = Reading::default();
    let mut without_id = Vec::new();
    for (boxed, line) in boxes.boxes.iter().zip(&lines) {
        let Some(line) = line else {
            continue;
        };
        let is_plain = matches!(boxed.check.mark, Mark::Open | Mark::Done);
        if line.id.is_none() && !is_plain {
            continue;
        }
        reading.enter(boxed.group);
        if line.text.is_empty() {
            grammar::notice_empty(&mut file, page, boxed.at);
        } else if line.id.is_none() && have_ids && !line.is_task_by_tag() {
            without_id.push(boxed.at);
        } else {
            reading.take(page, &mut file, boxed, line, have_ids);
        }
    }
    if let Some(first) = without_id.first() {
        file.notice(Notice::NoId, number(*first), without_id.len().to_string());
    }
    grammar::add_details(page, &mut file);
    remarks::add_needs(&mut file, id);
    file
}

/// A box with what stands behind it.
struct TaskLine<'l> {
    id: Option<&'l str>,
    tags: Vec<&'l str>,
    text: &'l str,
    is_struck: bool,
}

impl<'l> TaskLine<'l> {
    fn read(boxed: &Boxed<'l>) -> Option<Self> {
        let mut text = boxed.check.rest;
        let is_apart = text.is_empty() || text.starts_with(scan::BLANKS) || text.starts_with('[');
        if !is_apart || !boxed.check.is_spaced {
            return None;
        }
        let mut line = Self {
            id: None,
            tags: Vec::new(),
            text: "",
            is_struck: false,
        };
        let mut open = Vec::new();
        loop {
            text = skip_blanks(text);
            if line.id.is_none()
                && let Some((id, closed)) = decorated_id(text)
            {
                line.id = Some(id);
                line.is_struck = closed.is_struck;
                open = closed.open;
                text = closed.rest;
            } else if let Some((inside, rest)) = tag(text) {
                match id(inside) {
                    Some(found) if found.len() == inside.len() && line.id.is_none() => {
                        line.id = Some(found);
                    }
                    Some(_) | None => line.tags.push(inside),
                }
                text = rest;
            } else {
                break;
            }
        }
        let (text, is_struck) = grammar::struck(text, &open);
        line.text = text;
        line.is_struck |= is_struck;
        Some(line)
    }

    /// Returns whether a tag says that this is a task although it has no id.
    fn is_task_by_tag(&self) -> bool {
        self.tags.first().is_some_and(|tag| {
            let story = tag.strip_prefix("US");
            *tag == "P" || story.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
        })
    }

    fn is_left_out(&self) -> bool {
        let is_word = |tag: &&str| LEFT_OUT.contains(&tag.to_ascii_lowercase().as_str());
        self.is_struck || self.tags.iter().any(is_word)
    }
}

/// Where reading is, and which ids are taken.
#[derive(Default)]
struct Reading {
    ids: Ids,
    nesting: Nesting,
    group: Option<usize>,
    /// How many groups had a box until here, boxes of this one, and tasks of this one.
    n_groups: usize,
    n_boxes: usize,
    n_tasks: usize,
}

impl Reading {
    fn enter(&mut self, group: usize) {
        if self.group != Some(group) {
            self.group = Some(group);
            self.n_groups += 1;
            self.n_boxes = 0;
            self.n_tasks = 0;
            self.nesting.clear();
        }
        self.n_boxes += 1;
    }

    fn take(
        &mut self,
        page: &Page<'_>,
        file: &mut TaskFile,
        boxed: &Boxed<'_>,
        line: &TaskLine<'_>,
        have_ids: bool,
    ) {
        self.n_tasks += 1;
        let (id, is_taken) = match line.id {
            Some(id) => self.ids.take(id),
            None => (self.ids.take(&self.place(have_ids)).0, false),
        };
        if is_taken {
            file.notice(
                Notice::DuplicateId,
                number(boxed.at),
                line.id.unwrap_or_default(),
            );
        }
        let mut claim = grammar::plain_claim(file, boxed);
        if boxed.check.mark == Mark::Open && line.is_left_out() {
            claim = Claim::Skipped;
        }
        let at = file.tasks.len();
        let parent = self.nesting.enter(at, boxed.check.indent);
        file.tasks.push(Task {
            id,
            title: line.text.to_owned(),
            claim,
            parent,
            is_parallel: line.tags.contains(&"P"),
            is_for_person: person::is_for_person(line.text, &line.tags),
            ..boxed.task(page)
        });
    }

    /// Returns the place of a box in its group, which is its id where it has none.
    fn place(&self, have_ids: bool) -> String {
        let own = if have_ids { self.n_tasks } else { self.n_boxes };
        match self.group {
            Some(0) | None => own.to_string(),
            Some(_) => format!("{}.{own}", self.n_groups),
        }
    }
}

/// Returns the id at the start of a text, decorated or not, and what follows it.
fn decorated_id(text: &str) -> Option<(&str, grammar::Closed<'_>)> {
    let bare = Bare::of(text);
    let found = id(bare.text)?;
    let rest = &bare.text[found.len()..];
    let closed = bare.close(rest, &[':', '.']);
    let is_end = closed.rest.is_empty() || closed.rest.starts_with(scan::BLANKS);
    let is_apart = is_end || closed.rest.starts_with('[') || closed.end == Some(':');
    is_apart.then_some((found, closed))
}

/// Returns the id at the start of a text: `T012`, `T-12`, `T-HF01`, `T030b`, `T030.2`, `G001`, `TXXX`.
pub(crate) fn id(text: &str) -> Option<&str> {
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let bytes = text.as_bytes();
    let first = bytes.first().filter(|byte| byte.is_ascii_uppercase())?;
    if text.starts_with("TXXX") && !text[4..].starts_with(|c: char| c.is_ascii_alphanumeric()) {
        return Some(&text[..4]);
    }
    let mut at = 1 + usize::from(bytes.get(1) == Some(&b'-'));
    let mut least = 3;
    if *first == b'T' {
        let capitals = bytes[at..]
            .iter()
            .take_while(|byte| byte.is_ascii_uppercase());
        at += capitals.count().min(4);
        least = 1;
    }
    let n_digits = digits(text.get(at..)?);
    if n_digits < least {
        return None;
    }
    at += n_digits;
    at += usize::from(bytes.get(at).is_some_and(u8::is_ascii_alphabetic));
    while bytes.get(at) == Some(&b'.') && digits(text.get(at + 1..)?) > 0 {
        at += 1 + digits(&text[at + 1..]);
    }
    let follows = text[at..].chars().next();
    (!follows.is_some_and(|c| c.is_alphanumeric() || c == '_' && !text[at..].starts_with("__")))
        .then(|| &text[..at])
}
