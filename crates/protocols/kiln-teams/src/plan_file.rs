//! `PLAN.md`: the packets of a phase's tasks, in the order in which their work lands.
//!
//! ```markdown
//! ### Task P1-T02: Balances
//!
//! **Goal:** …
//! **Files:**
//! - `src/balance.js` (add) — the sum of postings
//!
//! **Dependencies:** [P1-T01]
//! **Wave:** 2
//! ```
//!
//! The file is read leniently and never changed. The first field of a name counts; the rest of a packet
//! is text for the agent that does it.

use rekindle_text::markdown::Page;
use rekindle_text::markdown::line::{bold_field, id_and_title};

/// What was read of a plan.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct PlanFile {
    /// In order of appearance, each id once.
    pub(super) tasks: Vec<PlannedTask>,
    /// Packets with a repeated id, with their lines; they do not count.
    pub(super) duplicates: Vec<(String, usize)>,
}

/// A task's packet.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct PlannedTask {
    pub(super) id: String,
    pub(super) title: String,
    pub(super) wave: Option<u32>,
    pub(super) dependencies: Vec<String>,
    /// The files it is to touch, as the plan names them.
    pub(super) files: Vec<String>,
    /// The whole packet, from its heading on.
    pub(super) text: String,
    /// The 1-based line of its heading.
    pub(super) line: usize,
}

impl PlanFile {
    /// Reads any bytes; text outside tasks is ignored.
    pub(super) fn parse(bytes: &[u8]) -> Self {
        let source = String::from_utf8_lossy(bytes);
        let page = Page::new(&source);
        let mut plan = Self::default();
        for section in page.sections_until(|next, title| starts_task(next.level, title).is_some()) {
            let heading = section.heading;
            let Some((id, title)) = starts_task(heading.level, section.title) else {
                continue;
            };
            if plan.tasks.iter().any(|task| task.id == id) {
                plan.duplicates.push((id.to_owned(), heading.line));
                continue;
            }
            let packet: Vec<&str> = section.text.lines().collect();
            plan.tasks.push(PlannedTask {
                id: id.to_owned(),
                title: title.to_owned(),
                text: text(&packet),
                line: heading.line,
                ..fields(&packet)
            });
        }
        let ids: Vec<String> = plan.tasks.iter().map(|task| task.id.clone()).collect();
        for task in &mut plan.tasks {
            // There may be words between the ids; an id of another form must be one of the plan.
            task.dependencies.retain(|id| is_id(id) || ids.contains(id));
        }
        plan
    }
}

/// Returns the id and the title of a heading that starts a packet.
fn starts_task(level: u8, words: &str) -> Option<(&str, &str)> {
    if !(2..=4).contains(&level) {
        return None;
    }
    let (is_named, words) = match words.split_once([' ', ':']) {
        Some((first, rest)) if first.eq_ignore_ascii_case("task") => (true, rest.trim_start()),
        Some(_) | None => (false, words),
    };
    let (id, title) = id_and_title(words);
    let id = id.trim_matches(['*', '`', ':', '[', ']', '.']);
    let looks_right = id.contains(|c: char| c.is_ascii_digit())
        && id
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c));
    let is_task = is_id(id) || (is_named && looks_right);
    is_task.then_some((id, title))
}

/// Returns whether a word is an id like `P1-T02`.
fn is_id(word: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    word.strip_prefix('P')
        .and_then(|rest| rest.split_once("-T"))
        .is_some_and(|(phase, task)| digits(phase) && digits(task))
}

/// Returns the packet's text without the rule at its end.
fn text(packet: &[&str]) -> String {
    let is_rule = |line: &&str| line.trim().is_empty() || line.trim().trim_matches('-').is_empty();
    let n_lines = packet
        .iter()
        .rposition(|line| !is_rule(line))
        .map_or(0, |last| last + 1);
    packet[..n_lines].join("\n")
}

/// Reads the fields of a packet.
fn fields(packet: &[&str]) -> PlannedTask {
    let mut task = PlannedTask::default();
    let mut seen: Vec<String> = Vec::new();
    for (at, line) in packet.iter().enumerate() {
        let Some(field) = bold_field(line) else {
            continue;
        };
        let (name, value) = (field.key.to_lowercase(), field.value);
        if seen.contains(&name) {
            continue;
        }
        let below = || packet[at + 1..].iter().copied();
        match name.as_str() {
            "wave" => task.wave = first_number(value),
            "files" => {
                task.files = one_line_of_files(value);
                task.files
                    .extend(items(below()).flat_map(|item| file(item).0));
            }
            "dependencies" => {
                task.dependencies = words(value);
                task.dependencies.extend(items(below()).flat_map(words));
            }
            _ => continue,
        }
        seen.push(name);
    }
    task
}

/// Returns the items of a list below a field.
fn items<'l>(lines: impl Iterator<Item = &'l str>) -> impl Iterator<Item = &'l str> {
    lines
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .map_while(|line| {
            line.strip_prefix(['-', '*', '+'])?
                .strip_prefix([' ', '\t'])
        })
        .take_while(|item| !item.trim_start().starts_with("**"))
        .map(str::trim)
}

/// Reads `a.js (add), b.js (modify) — why`.
///
/// The words after a file can have commas too: if one file has its operation, all must.
fn one_line_of_files(value: &str) -> Vec<String> {
    let pieces: Vec<(Vec<String>, bool)> = value.split(',').map(file).collect();
    let has_marks = pieces.iter().any(|(_, is_marked)| *is_marked);
    let real = pieces
        .into_iter()
        .filter(|(_, is_marked)| *is_marked || !has_marks);
    real.flat_map(|(paths, _)| paths).collect()
}

/// Reads the path of an item, or both of a rename, and whether it is marked as a file.
fn file(item: &str) -> (Vec<String>, bool) {
    let item = item.trim();
    let code: Vec<&str> = item.split('`').skip(1).step_by(2).collect();
    let named = [" — ", " – ", " - ", " ("].iter().fold(item, |rest, end| {
        rest.split_once(end).map_or(rest, |(before, _)| before)
    });
    let is_code = item.starts_with('`');
    let is_marked = is_code || item.contains('(');
    let paths: Vec<&str> = if is_code {
        // After an arrow there may be a second path; other code is part of the reason.
        let is_rename = named.contains("→") || named.contains("->");
        code.into_iter()
            .take(if is_rename { 2 } else { 1 })
            .collect()
    } else {
        named.split("→").flat_map(|part| part.split("->")).collect()
    };
    let paths = paths.into_iter().map(str::trim);
    let paths = paths.map(|path| path.strip_prefix("./").unwrap_or(path));
    let is_path = |path: &&str| {
        let is_none = path.eq_ignore_ascii_case("none") || *path == "[]";
        !path.is_empty() && !is_none && (is_code || !path.contains(char::is_whitespace))
    };
    (
        paths.filter(is_path).map(str::to_owned).collect(),
        is_marked,
    )
}

fn words(value: &str) -> Vec<String> {
    let trim = |word: &str| {
        word.trim_matches(['`', '*', '\'', '"', '.', ':'])
            .to_owned()
    };
    value
        .split([',', ' ', '[', ']', '(', ')', ';'])
        .map(trim)
        .filter(|word| !word.is_empty())
        .collect()
}

fn first_number(value: &str) -> Option<u32> {
    let mut numbers = value.split(|c: char| !c.is_ascii_digit());
    numbers.find(|digits| !digits.is_empty())?.parse().ok()
}

#[cfg(test)]
#[path = "plan_file_tests.rs"]
mod tests;
