//! The tasks of Kiro: `- [ ]* 1.2 Test the parser (P)`, and the graph of waves below them.

use rekindle_protocol::lists::Claim;
use rekindle_protocol::lists::grammar::{self, Boxed, skip_blanks};
use rekindle_protocol::lists::numbered::{Form, numbered};
use rekindle_protocol::lists::reading::{self, Grammar, Parents, WithoutId, Words, plain_claim};
use rekindle_protocol::lists::remarks;
use rekindle_protocol::lists::scan::{self, Mark, Page, number};
use rekindle_protocol::lists::task::{Notice, TaskFile};
use rekindle_text::python_json::{Json, parse};

const GRAPH: &str = "task dependency graph";
const GRAMMAR: Grammar = Grammar {
    words,
    claim,
    without_id: WithoutId::StepsInOutline,
    parents: Parents::Id,
    has_groups: false,
};

/// Reads the tasks of a file.
pub(crate) fn read(page: &Page<'_>) -> TaskFile {
    let mut file = reading::read(page, &GRAMMAR);
    group(&mut file);
    let named = file.tasks.iter().map(|task| depends(&task.details));
    let named = named.collect();
    remarks::connect(&mut file, named);
    if let Some((at, text)) = graph(page) {
        match waves(&text) {
            Some(waves) => reading::set_waves(&mut file, waves, number(at)),
            None => file.notice(Notice::BadGraph, number(at), ""),
        }
    }
    file
}

fn claim(mark: Mark) -> Option<Claim> {
    match mark {
        Mark::Other('-') => Some(Claim::InProgress),
        // Queued: somebody asked for it, and nothing keeps the queue after a crash.
        Mark::Other('~') => Some(Claim::Open),
        Mark::Open | Mark::Done | Mark::Other(_) | Mark::Nothing => plain_claim(mark),
    }
}

/// Returns what stands behind a box.
#[expect(clippy::unnecessary_wraps, reason = "a grammar may refuse a line")]
fn words<'l>(boxed: &Boxed<'l>) -> Option<Words<'l>> {
    let star = |text: &'l str| {
        let rest = text.strip_prefix("\\*").or_else(|| text.strip_prefix('*'));
        // Two of them begin a bold text.
        rest.filter(|rest| !rest.starts_with('*'))
    };
    let mut words = Words::default();
    let mut text = boxed.check.rest;
    let mut open = Vec::new();
    if let Some(rest) = star(text) {
        words.is_optional = true;
        text = rest;
    }
    text = skip_blanks(text);
    if let Some(found) = numbered(text, Form::Numbers) {
        words.id = Some(found.id);
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
            words.is_optional = true;
            text = rest;
        }
    }
    text = text.trim_matches(scan::is_space);
    if let Some(rest) = text.strip_prefix("(P)") {
        words.is_parallel = true;
        text = rest.trim_start_matches(scan::BLANKS);
    }
    if let Some(rest) = text.strip_suffix("(P)") {
        words.is_parallel = true;
        text = rest;
    }
    (words.text, words.is_left_out) = grammar::struck(text, &open);
    Some(words)
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

/// Returns the text of the graph below its heading, and the line on which it begins.
fn graph(page: &Page<'_>) -> Option<(usize, String)> {
    let fenced = page.fenced_below(GRAPH).into_iter();
    let mut graphs = fenced.filter(|(_, word, text)| {
        let is_bare = word.is_empty() && text.trim_start().starts_with('{');
        is_bare || word.eq_ignore_ascii_case("json")
    });
    graphs.next().map(|(at, _, text)| (at, text))
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
