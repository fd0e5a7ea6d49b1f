//! The tasks of Kiro: `- [ ]* 1.2 Test the parser (P)`, and the graph of waves below them.

use std::collections::{HashMap, HashSet};

use rekindle_text::python_json::{Json, parse};

use crate::grammar::{self, Boxed, Boxes, skip_blanks};
use crate::numbered::{self, Form, numbered};
use crate::order::work_below;
use crate::scan::{self, Hidden, Mark, Page, number};
use crate::table::Claim;
use crate::task::{Ids, Nesting, Notice, Task, TaskFile};
use crate::{person, remarks};

const GRAPH: &str = "task dependency graph";

/// Reads the tasks of a file.
pub(crate) fn read(page: &Page<'_>) -> TaskFile {
    let mut file = TaskFile::default();
    let boxes = Boxes::of(page, &mut file);
    let lines: Vec<TaskLine<'_>> = boxes.boxes.iter().map(TaskLine::read).collect();
    let have_ids = lines.iter().any(|line| line.id.is_some());
    let mut ids = Ids::default();
    let mut outline = Outline::default();
    let mut steps = Vec::new();
    for (boxed, line) in boxes.boxes.iter().zip(&lines) {
        let is_known =
            !matches!(boxed.check.mark, Mark::Nothing | Mark::Other(_)) || is_own(boxed.check.mark);
        if line.id.is_none() && !is_known {
            continue;
        }
        if line.text.is_empty() {
            grammar::notice_empty(&mut file, page, boxed.at);
            continue;
        }
        if line.id.is_none() && have_ids {
            steps.push(boxed.at);
            continue;
        }
        let parent = outline.enter(boxed, line.id);
        let id = line
            .id
            .map_or_else(|| outline.place(&file, parent), str::to_owned);
        let (id, is_taken) = ids.take(&id);
        if is_taken {
            file.notice(
                Notice::DuplicateId,
                number(boxed.at),
                line.id.unwrap_or_default(),
            );
        }
        let is_optional =
            line.is_optional || parent.is_some_and(|parent| file.tasks[parent].is_optional);
        let claim = claim(&mut file, boxed, line, is_optional);
        file.tasks.push(Task {
            id,
            title: line.text.to_owned(),
            claim,
            parent,
            is_optional,
            is_parallel: line.is_parallel,
            is_for_person: person::is_for_person(line.text, &[]),
            ..boxed.task(page)
        });
    }
    if let Some(first) = steps.first() {
        file.notice(Notice::NoId, number(*first), steps.len().to_string());
    }
    grammar::add_details(page, &mut file);
    group(&mut file);
    let named = file
        .tasks
        .iter()
        .map(|task| depends(&task.details))
        .collect();
    remarks::connect(&mut file, named);
    file.waves = graph(page, &mut file);
    file
}

/// Returns whether a sign means something to Kiro besides done and open.
const fn is_own(mark: Mark) -> bool {
    matches!(mark, Mark::Other('-' | '~'))
}

fn claim(file: &mut TaskFile, boxed: &Boxed<'_>, line: &TaskLine<'_>, is_optional: bool) -> Claim {
    match boxed.check.mark {
        Mark::Other('-') => Claim::InProgress,
        // Queued: somebody asked for it, and nothing keeps the queue after a crash.
        Mark::Other('~') => Claim::Open,
        Mark::Open if is_optional || line.is_struck => Claim::Skipped,
        Mark::Open | Mark::Done | Mark::Other(_) | Mark::Nothing => {
            grammar::plain_claim(file, boxed)
        }
    }
}

/// A box with what stands behind it.
struct TaskLine<'l> {
    id: Option<&'l str>,
    text: &'l str,
    is_optional: bool,
    is_parallel: bool,
    is_struck: bool,
}

impl<'l> TaskLine<'l> {
    fn read(boxed: &Boxed<'l>) -> Self {
        let star = |text: &'l str| {
            let rest = text.strip_prefix("\\*").or_else(|| text.strip_prefix('*'));
            // Two of them begin a bold text.
            rest.filter(|rest| !rest.starts_with('*'))
        };
        let mut text = boxed.check.rest;
        let mut is_optional = false;
        if let Some(rest) = star(text) {
            is_optional = true;
            text = rest;
        }
        text = skip_blanks(text);
        let mut id = None;
        let mut open = Vec::new();
        if let Some(found) = numbered(text, Form::Numbers) {
            id = Some(found.id);
            open = found.after.open;
            text = found.after.rest;
            let behind = star(skip_blanks(text));
            let is_alone = |rest: &&str| {
                found.is_starred
                    || rest.is_empty()
                    || rest.starts_with(scan::BLANKS)
                    || !rest.contains('*')
            };
            if let Some(rest) = behind.filter(is_alone) {
                is_optional = true;
                text = rest;
            }
        }
        text = text.trim_matches(scan::is_space);
        let mut is_parallel = false;
        if let Some(rest) = text.strip_prefix("(P)") {
            is_parallel = true;
            text = rest.trim_start_matches(scan::BLANKS);
        }
        if let Some(rest) = text.strip_suffix("(P)") {
            is_parallel = true;
            text = rest;
        }
        let (text, is_struck) = grammar::struck(text, &open);
        Self {
            id,
            text,
            is_optional,
            is_parallel,
            is_struck,
        }
    }
}

/// Where reading is in the outline.
#[derive(Default)]
struct Outline<'l> {
    written: HashMap<&'l str, usize>,
    nesting: Nesting,
    n_parts: Vec<usize>,
    n_tops: usize,
}

impl<'l> Outline<'l> {
    /// Takes the next task; with ids these say what it is a part of, and only without them indentation.
    fn enter(&mut self, boxed: &Boxed<'_>, id: Option<&'l str>) -> Option<usize> {
        let at = self.n_parts.len();
        let parent = match id {
            Some(id) => {
                let parent = numbered::parent(id).and_then(|id| self.written.get(id).copied());
                self.written.insert(id, at);
                parent
            }
            None => self.nesting.enter(at, boxed.check.indent),
        };
        self.n_parts.push(0);
        match parent {
            Some(parent) => self.n_parts[parent] += 1,
            None => self.n_tops += 1,
        }
        parent
    }

    /// Returns the place of the task that was taken last.
    fn place(&self, file: &TaskFile, parent: Option<usize>) -> String {
        match parent {
            Some(parent) => format!("{}.{}", file.tasks[parent].id, self.n_parts[parent]),
            None => self.n_tops.to_string(),
        }
    }
}

/// Groups tasks: one with parts and these are a group, and so are those without that follow one another.
fn group(file: &mut TaskFile) {
    let children = file.children();
    let mut n_groups = 0;
    let mut was_alone = false;
    for (at, parts) in children.iter().enumerate() {
        if let Some(parent) = file.tasks[at].parent {
            file.tasks[at].group = file.tasks[parent].group;
            continue;
        }
        if !(parts.is_empty() && was_alone) {
            n_groups += 1;
        }
        was_alone = parts.is_empty();
        file.tasks[at].group = n_groups - 1;
    }
    file.groups = vec![String::new(); n_groups];
}

/// Returns the ids of a line `_Depends: 1.2, 2.3_`.
fn depends(details: &str) -> Vec<String> {
    let value = |line: &str| {
        let lower = line.to_ascii_lowercase();
        let mut keys = ["_depends:", "_dependencies:"].iter();
        let (key, at) = keys.find_map(|key| Some((key, lower.find(key)?)))?;
        let rest = &line[at + key.len()..];
        Some(
            rest.split('_')
                .find(|part| !part.trim().is_empty())?
                .to_owned(),
        )
    };
    let values = details.lines().filter_map(value);
    let words = values.flat_map(|value| {
        let words = value.split(|c: char| c == ',' || c.is_whitespace());
        let trim = |word: &str| word.trim_matches(|c: char| !c.is_alphanumeric()).to_owned();
        words.map(trim).collect::<Vec<_>>()
    });
    let is_id = |word: &String| word.starts_with(|c: char| c.is_ascii_digit());
    words.filter(is_id).collect()
}

/// Reads the graph of waves, if the file has one.
fn graph(page: &Page<'_>, file: &mut TaskFile) -> Option<Vec<Vec<usize>>> {
    let (at, text) = graph_text(page)?;
    let Some(waves) = waves(&text) else {
        file.notice(Notice::BadGraph, number(at), "");
        return None;
    };
    let children = file.children();
    let is_work: Vec<bool> = children.iter().map(Vec::is_empty).collect();
    let entries = file.tasks.iter().enumerate();
    let places: HashMap<String, usize> = entries.map(|(at, task)| (task.id.clone(), at)).collect();
    let mut seen = HashSet::new();
    let mut found = Vec::new();
    for wave in waves {
        let mut leaves = Vec::new();
        for id in wave {
            match places.get(&id) {
                Some(&task) => leaves.extend(work_below(task, &is_work, &children)),
                None => file.notice(
                    Notice::UnknownNeed,
                    number(at),
                    format!("the graph names `{id}`"),
                ),
            }
        }
        leaves.retain(|leaf| seen.insert(*leaf));
        leaves.sort_unstable();
        if !leaves.is_empty() {
            found.push(leaves);
        }
    }
    Some(found)
}

/// Returns the text of the graph below its heading, and the line on which it begins.
fn graph_text(page: &Page<'_>) -> Option<(usize, String)> {
    // The level of the heading that it is below; one that is deeper belongs to it.
    let mut below = None;
    let mut lines = page.lines.iter().enumerate();
    while let Some((at, line)) = lines.next() {
        if let Some((level, title)) = scan::heading(&line.text) {
            if title.eq_ignore_ascii_case(GRAPH) {
                below = Some(level);
            } else if below.is_some_and(|above| level <= above) {
                below = None;
            }
            continue;
        }
        let opening = line.raw.trim_matches(scan::is_space);
        let word = opening.trim_start_matches(['`', '~']);
        let is_fence =
            below.is_some() && opening.len() >= word.len() + 3 && line.hidden != Hidden::Dropped;
        if !is_fence {
            continue;
        }
        let sign = &opening[..opening.len() - word.len()];
        let inside = lines.by_ref().map(|(_, line)| &*line.raw);
        let inside = inside.take_while(|line| !line.trim_matches(scan::is_space).starts_with(sign));
        let text = inside.collect::<Vec<_>>().join("\n");
        let word = word.trim();
        if word.eq_ignore_ascii_case("json")
            || word.is_empty() && text.trim_start().starts_with('{')
        {
            return Some((at, text));
        }
    }
    None
}

/// Reads `{"waves": [{"tasks": ["1.1"]}, ["1.2", 2]]}`.
fn waves(text: &str) -> Option<Vec<Vec<String>>> {
    let parsed = parse(text.trim()).ok()?;
    let waves = parsed.as_object()?.get("waves")?.as_list()?;
    let wave = |wave: &Json| {
        let tasks = match wave.as_object() {
            Some(object) => object.get("tasks")?.as_list()?,
            None => wave.as_list()?,
        };
        let id = |id: &Json| match id {
            Json::Text(text) => Some(text.trim().to_owned()),
            Json::Int(_) | Json::LargeInt(_) | Json::Float(_) => Some(id.to_plain_text()),
            Json::Null | Json::Bool(_) | Json::List(_) | Json::Object(_) => None,
        };
        tasks.iter().map(id).collect()
    };
    waves.iter().map(wave).collect()
}
