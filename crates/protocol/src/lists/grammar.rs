//! The words of a task line that formats share: decorations, tags, struck-out text, places as ids.

use crate::lists::scan::{self, BLANKS, CheckBox, Item, Page, number};
use crate::lists::task::{Notice, Noticed, Task, TaskFile};

/// The boxes of a page, each with the group it is in.
pub struct Boxes<'p> {
    /// In the order of the file.
    pub boxes: Vec<Boxed<'p>>,
    /// The level-2 headings, each with the boxes below it; the first is for what comes before them.
    pub groups: Vec<String>,
}

/// A box and where it is.
#[derive(Clone, Copy)]
pub struct Boxed<'p> {
    /// The box.
    pub check: CheckBox<'p>,
    /// The line, from 0.
    pub at: usize,
    /// The group.
    pub group: usize,
}

impl<'p> Boxes<'p> {
    /// Finds the boxes; a line that ends inside one is noticed.
    pub fn of(page: &'p Page<'_>, file: &mut TaskFile) -> Self {
        let mut found = Self {
            boxes: Vec::new(),
            groups: vec![String::new()],
        };
        for (at, line) in page.lines.iter().enumerate() {
            if let Some((level, title)) = scan::heading(&line.text) {
                if level == 1 && file.heading.is_none() {
                    file.heading = Some(title.to_owned());
                }
                if level == 2 {
                    found.groups.push(title.to_owned());
                }
                continue;
            }
            let group = found.groups.len() - 1;
            match scan::item(&line.text) {
                Item::Box(check) => found.boxes.push(Boxed { check, at, group }),
                Item::Torn if is_torn(page, at) => file.notice(Notice::TornLine, number(at), ""),
                Item::Nearly => file.notice(Notice::NearlyABox, number(at), ""),
                Item::Torn | Item::Other => {}
            }
        }
        file.groups.clone_from(&found.groups);
        file.is_blank = page
            .lines
            .iter()
            .all(|line| line.raw.trim_matches(scan::is_space).is_empty());
        let noticed = page.noticed.iter();
        file.noticed.extend(noticed.map(|(code, line)| Noticed {
            code: *code,
            line: *line,
            about: String::new(),
        }));
        found
    }
}

/// Returns whether a line is the last one and has no line end.
pub fn is_torn(page: &Page<'_>, at: usize) -> bool {
    !page.is_ended && at + 1 == page.lines.len()
}

/// Notices a box that has nothing to do in it.
pub fn notice_empty(file: &mut TaskFile, page: &Page<'_>, at: usize) {
    let code = if is_torn(page, at) {
        Notice::TornLine
    } else {
        Notice::NoText
    };
    file.notice(code, number(at), "");
}

/// Decorations that can stand around an id.
const DECORATIONS: [&str; 4] = ["~~", "**", "__", "`"];

/// A text without the decorations before it.
pub struct Bare<'t> {
    /// The rest.
    pub text: &'t str,
    /// The decorations, the outermost first.
    pub opened: Vec<&'static str>,
}

impl<'t> Bare<'t> {
    /// Takes the decorations before a text away.
    pub fn of(mut text: &'t str) -> Self {
        let mut opened = Vec::new();
        while let Some(sign) = DECORATIONS.iter().find(|sign| text.starts_with(**sign)) {
            text = &text[sign.len()..];
            opened.push(*sign);
        }
        Self { text, opened }
    }

    /// Takes the decorations away that end where `rest` begins, and returns what is left of both.
    ///
    /// A colon or a full stop may be inside of them or behind; `is_struck` says whether the part was.
    pub fn close(mut self, rest: &'t str, ends: &[char]) -> Closed<'t> {
        let mut rest = rest;
        let mut end = None;
        let mut is_struck = false;
        let mut is_bold = false;
        loop {
            if end.is_none() && rest.starts_with(ends) {
                end = rest.chars().next();
                rest = &rest[1..];
                continue;
            }
            match self.opened.last() {
                Some(sign) if rest.starts_with(*sign) => {
                    rest = &rest[sign.len()..];
                    is_struck |= *sign == "~~";
                    is_bold |= matches!(*sign, "**" | "__");
                    self.opened.pop();
                }
                Some(_) | None => break,
            }
        }
        Closed {
            rest,
            end,
            is_struck,
            is_bold,
            open: self.opened,
        }
    }
}

/// What follows an id.
pub struct Closed<'t> {
    /// The text behind it.
    pub rest: &'t str,
    /// The sign that ended it.
    pub end: Option<char>,
    /// Whether the id alone is struck out.
    pub is_struck: bool,
    /// Whether it is bold.
    pub is_bold: bool,
    /// Decorations that are still open.
    pub open: Vec<&'static str>,
}

/// Returns a text without one pair of `~~` around all of it, and whether there was one; `open` are the
/// decorations that were opened before it.
pub fn struck<'t>(text: &'t str, open: &[&str]) -> (&'t str, bool) {
    let mut text = text.trim_matches(scan::is_space);
    let mut is_struck = false;
    for sign in open.iter().rev() {
        let Some(inner) = text.strip_suffix(sign) else {
            break;
        };
        text = inner;
        is_struck |= *sign == "~~" && !inner.contains("~~");
    }
    let inner = text
        .strip_prefix("~~")
        .and_then(|rest| rest.strip_suffix("~~"));
    match inner.filter(|inner| !inner.contains("~~") && !inner.trim().is_empty()) {
        Some(inner) => (inner, true),
        None => (text, is_struck),
    }
}

/// Takes a tag, `[P]`, from the start of a text.
pub fn tag(text: &str) -> Option<(&str, &str)> {
    let inside = text.strip_prefix('[')?;
    let (tag, rest) = inside.split_once(']')?;
    let is_tag = (1..=24).contains(&tag.chars().count()) && !tag.contains('[');
    (is_tag && !rest.starts_with('(')).then_some((tag, rest))
}

/// Returns a text without the blanks before it.
pub fn skip_blanks(text: &str) -> &str {
    text.trim_start_matches(BLANKS)
}

impl Boxed<'_> {
    /// Returns a task of which only the place is known.
    pub fn task(&self, page: &Page<'_>) -> Task {
        Task {
            indent: self.check.indent,
            mark_at: Some(page.lines[self.at].in_file(self.check.mark_at)),
            group: self.group,
            ..Task::unmarked(number(self.at))
        }
    }
}

/// Gives each task the lines below it that are indented deeper, up to the next task or heading.
pub fn add_details(page: &Page<'_>, file: &mut TaskFile) {
    let at = |task: &Task| usize::try_from(task.line).map_or(usize::MAX, |line| line - 1);
    let starts: Vec<usize> = file.tasks.iter().map(at).collect();
    for (place, task) in file.tasks.iter_mut().enumerate() {
        let next = starts.get(place + 1).copied().unwrap_or(page.lines.len());
        task.details = details(page, starts[place], task.indent, next);
    }
}

fn details(page: &Page<'_>, at: usize, indent: usize, next: usize) -> String {
    let mut text = String::new();
    for line in page.lines.get(at + 1..next).unwrap_or_default() {
        let shown = match line.hidden {
            scan::Hidden::Not => &line.text,
            scan::Hidden::Fenced | scan::Hidden::Quoted => &line.raw,
            scan::Hidden::Dropped => continue,
        };
        match scan::indent_of(shown) {
            None => continue,
            Some(own) if own <= indent => break,
            Some(_) => {}
        }
        text.push_str(shown.trim_end());
        text.push('\n');
    }
    text
}
