//! `research/<subtask>__<kind>.md`: what was found out before the actor began, as strict JSON.

use camino::Utf8Path;
use rekindle_model::Action;
use rekindle_text::python_json::{self, Json, Object};
use rekindle_text::python_text::{rstrip, split_lines, strip};
use rekindle_world::Kind;

use super::desk::{Desk, decoded};
use super::fault::Fault;
use super::reply::{Body, Reply};

const LARGEST: usize = 64 * 1024;
const MOST_LOCATIONS: usize = 5;
const MOST_LINES: i64 = 200;
const STATUSES: &[&str] = &["NO_RESULTS", "OK", "PARTIAL_RESULTS", "SEARCH_FAILED"];
const ABSENT: &[&str] = &["absent", "missing", "new", "not_found"];
const LONGEST_ID: usize = 64;

/// Returns the report on the research of a subtask: of one kind, or of all that are there.
pub(crate) fn report(desk: Desk<'_>, subtask: &str, kind: Option<&str>) -> Result<Object, Fault> {
    refuse_odd(subtask, kind.unwrap_or("actor"))?;
    let folder = desk.branch.file("research");
    let mut errors: Vec<String> = Vec::new();
    let mut names: Vec<String> = Vec::new();
    match kind {
        Some(kind) => names.push(format!("{subtask}__{kind}.md")),
        None => {
            for (name, kind) in files_of(desk, &folder, subtask) {
                if name.contains(".attempt-") {
                    continue;
                }
                if is_kind(&kind) {
                    names.push(name);
                } else {
                    errors.push(format!("`{name}` ends in no kind of research"));
                }
            }
        }
    }
    if names.is_empty() {
        let place = desk.place(&folder);
        let errors = vec![format!("nothing about {subtask} is in {place}")];
        return Ok(summary(
            subtask,
            kind,
            "missing",
            Vec::new(),
            errors,
            Vec::new(),
        ));
    }
    let (mut artifacts, mut warnings) = (Vec::new(), Vec::new());
    for name in names {
        let artifact = artifact(desk, &format!("{folder}/{name}"))?;
        for (key, list) in [("errors", &mut errors), ("warnings", &mut warnings)] {
            let told = artifact
                .get(key)
                .and_then(Json::as_list)
                .unwrap_or_default();
            let told = told.iter().filter_map(Json::as_text);
            list.extend(told.map(|text| format!("{name}: {text}")));
        }
        artifacts.push(artifact);
    }
    let status = if errors.is_empty() {
        "valid"
    } else {
        "invalid"
    };
    Ok(summary(subtask, kind, status, artifacts, errors, warnings))
}

fn summary(
    subtask: &str,
    kind: Option<&str>,
    status: &str,
    artifacts: Vec<Object>,
    errors: Vec<String>,
    warnings: Vec<String>,
) -> Object {
    let is_valid = errors.is_empty();
    let mut report = Object::new()
        .with("valid", is_valid)
        .with("status", status)
        .with("subtask_id", subtask)
        .with("kind", kind)
        .with("artifacts", artifacts)
        .with("errors", errors)
        .with("warnings", warnings);
    if !is_valid {
        report.set("skeleton", skeleton());
    }
    report
}

/// A file that would pass, to be filled in.
fn skeleton() -> String {
    let stats = Object::new()
        .with("files_scanned", 12_i64)
        .with("total_matches_found", 4_i64)
        .with("results_truncated", false);
    let location = Object::new()
        .with("path", "src/example.py")
        .with("lines", vec![10_i64, 42])
        .with("relevance", "why these lines matter for the subtask");
    Object::new()
        .with("status", "OK")
        .with("confidence", 0.8)
        .with("search_stats", stats)
        .with("relevant_locations", vec![location])
        .to_lines()
}

/// Returns the files about a subtask with the kinds that their names end in.
fn files_of(desk: Desk<'_>, folder: &str, subtask: &str) -> Vec<(String, String)> {
    let prefix = format!("{subtask}__");
    let names = desk.names(folder).into_iter();
    let files = names.filter(|name| name.starts_with(&prefix));
    let with_kind = files.filter_map(|name| {
        let stem = name.strip_suffix(".md")?;
        let (_, kind) = stem.rsplit_once("__")?;
        let kind = kind.to_owned();
        Some((name, kind))
    });
    with_kind.collect()
}

fn is_kind(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    text.starts_with(|c: char| c.is_ascii_lowercase()) && text.chars().all(plain)
}

/// Names become parts of paths, so they are held to a few characters.
fn refuse_odd(subtask: &str, kind: &str) -> Result<(), Fault> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_.-".contains(c);
    let begins = subtask.starts_with(|c: char| c.is_ascii_alphanumeric());
    if !begins || subtask.len() > LONGEST_ID || !subtask.chars().all(plain) {
        return Err(Fault::new(format!(
            "`{subtask}` can not be the subtask of a research file: letters, digits, `_`, `.` and `-`, at most {LONGEST_ID}"
        )));
    }
    if !is_kind(kind) {
        return Err(Fault::new(format!(
            "`{kind}` can not be a kind of research: small letters, digits and `_`"
        )));
    }
    Ok(())
}

/// Returns the report on one file.
fn artifact(desk: Desk<'_>, path: &str) -> Result<Object, Fault> {
    let place = desk.place(path);
    let told = |status: &str, error: String| {
        Object::new()
            .with("valid", false)
            .with("status", status)
            .with("artifact_path", place.as_str())
            .with("errors", vec![error])
            .with("warnings", Vec::<Json>::new())
    };
    if desk.kind(path) != Some(Kind::File) {
        return Ok(told("missing", format!("{place} is not there")));
    }
    let bytes = desk.bytes(path)?.unwrap_or_default();
    match decoded(path, &bytes) {
        Ok(text) => Ok(content(desk, place.as_str(), &text)),
        Err(Fault(reason)) => Ok(told("invalid", reason)),
    }
}

fn content(desk: Desk<'_>, path: &str, text: &str) -> Object {
    let mut errors = Vec::new();
    if text.len() > LARGEST {
        errors.push(format!(
            "it is longer than {LARGEST} bytes ({})",
            text.len()
        ));
    }
    let broken = |errors: Vec<String>| {
        Object::new()
            .with("valid", false)
            .with("status", "invalid")
            .with("artifact_path", path)
            .with("errors", errors)
            .with("warnings", Vec::<Json>::new())
            .with("skeleton", skeleton())
    };
    let text = strip(text);
    if text.is_empty() {
        errors.push("it is empty".to_owned());
        return broken(errors);
    }
    if text.contains("```") {
        errors.push("it has a code fence; cite paths and lines instead".to_owned());
    }
    let research = match python_json::parse(text) {
        Ok(Json::Object(research)) => research,
        Ok(other) => {
            errors.push(format!("it is {}, not an object", other.kind()));
            return broken(errors);
        }
        Err(error) => {
            errors.push(format!("it is no JSON: {error}"));
            return broken(errors);
        }
    };
    check_heads(&research, &mut errors);
    let locations = research.get("relevant_locations").and_then(Json::as_list);
    match locations {
        None => errors.push("relevant_locations must be a list".to_owned()),
        Some(locations) => {
            if locations.len() > MOST_LOCATIONS {
                errors.push(format!(
                    "relevant_locations has more than {MOST_LOCATIONS} entries"
                ));
            }
            for (index, location) in locations.iter().enumerate() {
                check_location(desk, location, index, &mut errors);
            }
        }
    }
    let is_valid = errors.is_empty();
    let status = research
        .get("status")
        .filter(|status| status.as_text().is_some());
    let mut report = Object::new()
        .with("valid", is_valid)
        .with("status", if is_valid { "valid" } else { "invalid" })
        .with("artifact_path", path)
        .with("errors", errors)
        .with("warnings", Vec::<Json>::new())
        .with("research_status", status.cloned())
        .with("confidence", research.get("confidence").and_then(as_float))
        .with("location_count", locations.map_or(0, <[Json]>::len));
    if !is_valid {
        report.set("skeleton", skeleton());
    }
    report
}

#[expect(
    clippy::cast_precision_loss,
    reason = "a confidence between 0 and 1 is compared, and shown as the peer shows it"
)]
fn as_float(value: &Json) -> Option<f64> {
    match value {
        Json::Int(number) => Some(*number as f64),
        Json::LargeInt(digits) => digits.parse().ok(),
        Json::Float(number) => Some(number.value()),
        Json::Null | Json::Bool(_) | Json::Text(_) | Json::List(_) | Json::Object(_) => None,
    }
}

fn check_heads(research: &Object, errors: &mut Vec<String>) {
    if !research
        .text("status")
        .is_some_and(|status| STATUSES.contains(&status))
    {
        errors.push(format!("status must be one of {}", STATUSES.join(", ")));
    }
    let confidence = research.get("confidence").and_then(as_float);
    if !confidence.is_some_and(|confidence| (0.0..=1.0).contains(&confidence)) {
        errors.push("confidence must be a number between 0 and 1".to_owned());
    }
    let Some(stats) = research.get("search_stats").and_then(Json::as_object) else {
        errors.push("search_stats must be an object".to_owned());
        return;
    };
    for key in ["files_scanned", "total_matches_found"] {
        if !is_count(stats.get(key), 0) {
            errors.push(format!("search_stats.{key} must be a whole number from 0"));
        }
    }
    if !matches!(stats.get("results_truncated"), Some(Json::Bool(_))) {
        errors.push("search_stats.results_truncated must be true or false".to_owned());
    }
}

fn is_count(value: Option<&Json>, least: i64) -> bool {
    match value {
        Some(Json::Int(number)) => *number >= least,
        Some(Json::LargeInt(digits)) => !digits.starts_with('-'),
        _ => false,
    }
}

fn check_location(desk: Desk<'_>, location: &Json, index: usize, errors: &mut Vec<String>) {
    let name = format!("relevant_locations[{index}]");
    let Some(location) = location.as_object() else {
        errors.push(format!("{name} must be an object"));
        return;
    };
    let path = location
        .text("path")
        .map(strip)
        .filter(|path| !path.is_empty());
    match path {
        None => errors.push(format!(
            "{name}.path must be a path relative to the repository"
        )),
        Some(path) if !is_safe(path) || path.starts_with('~') => {
            errors.push(format!("{name}.path must stay in the repository"));
        }
        Some(path) => match desk.kind(path) {
            Some(Kind::File) => {}
            Some(Kind::Folder | Kind::Link | Kind::Other) => {
                errors.push(format!("{name}.path is not a file"));
            }
            None if is_marked_absent(location) => {}
            None => errors.push(format!(
                "{name}.path is not there; mark it as absent or new if that is meant"
            )),
        },
    }
    check_lines(desk, location, path, &name, errors);
    let relevance = location.text("relevance").map(strip).unwrap_or_default();
    if relevance.is_empty() {
        errors.push(format!("{name}.relevance must say why the place matters"));
    }
    for key in ["content", "file_contents", "raw_code"] {
        if location.has(key) {
            errors.push(format!(
                "{name}.{key} must not be there; cite paths and lines"
            ));
        }
    }
}

fn is_safe(path: &str) -> bool {
    let parts = path.split('/');
    !path.starts_with('/') && !path.contains('\\') && !parts.into_iter().any(|part| part == "..")
}

fn is_marked_absent(location: &Object) -> bool {
    let status = location
        .text("status")
        .map(|status| strip(status).to_lowercase());
    location.get("exists") == Some(&Json::Bool(false))
        || location.get("absent") == Some(&Json::Bool(true))
        || status.is_some_and(|status| ABSENT.contains(&status.as_str()))
}

fn check_lines(
    desk: Desk<'_>,
    location: &Object,
    path: Option<&str>,
    name: &str,
    errors: &mut Vec<String>,
) {
    let lines = location.get("lines").or_else(|| location.get("line_range"));
    let Some([start, end]) = lines.and_then(Json::as_list) else {
        errors.push(format!("{name}.lines must be [first, last]"));
        return;
    };
    let (Json::Int(start), Json::Int(end)) = (start, end) else {
        errors.push(format!("{name}.lines must be whole numbers"));
        return;
    };
    if *start < 1 || *end < 1 || start > end {
        errors.push(format!(
            "{name}.lines must go from a line to the same or a later one"
        ));
    } else if end - start + 1 > MOST_LINES {
        errors.push(format!("{name}.lines are more than {MOST_LINES}"));
    } else if let Some(path) = path.filter(|path| is_safe(path))
        && let Ok(Some(text)) = desk.text(path)
    {
        let count = i64::try_from(split_lines(&text).count()).unwrap_or(i64::MAX);
        if count > 0 && *end > count {
            errors.push(format!(
                "{name}.lines go on after the end of the file ({count})"
            ));
        }
    }
}

/// `validate_research`.
pub(crate) fn validate(desk: Desk<'_>, subtask: &str, kind: Option<&str>) -> Reply {
    match report(desk, subtask, kind) {
        Ok(report) if report.get("valid") == Some(&Json::Bool(true)) => Reply::of(report),
        Ok(report) => Reply::of(report).failing(),
        Err(Fault(message)) => on_one_line(Reply::error(message)).failing(),
    }
}

/// `save_research`: with an attempt, what was there is kept under its number.
pub(crate) fn save(
    desk: Desk<'_>,
    subtask: &str,
    kind: &str,
    attempt: Option<i64>,
    text: String,
) -> Result<Reply, Fault> {
    if let Err(Fault(message)) = refuse_odd(subtask, kind) {
        return Ok(on_one_line(Reply::error(message)).failing());
    }
    let folder = desk.branch.file("research");
    let path = format!("{folder}/{subtask}__{kind}.md");
    let mut actions: Vec<Action> = Vec::new();
    if let Some(attempt) = attempt
        && let Some(before) = desk.text(&path)?
    {
        let kept = format!("{folder}/{subtask}__{kind}.attempt-{attempt}.md");
        actions.extend(desk.written(&kept, before)?);
    }
    actions.extend(desk.written(&path, text)?);
    let answer = Reply::success().with("path", desk.place(&path).as_str());
    Ok(on_one_line(Reply::of(answer)).doing(actions))
}

fn on_one_line(mut reply: Reply) -> Reply {
    if let Body::Lines(object) = reply.body {
        reply.body = Body::Line(object);
    }
    reply
}

/// `load_research`: one kind, or all with a heading each.
pub(crate) fn load(desk: Desk<'_>, subtask: &str, kind: &str, all: bool) -> Result<Reply, Fault> {
    refuse_odd(subtask, if all { "actor" } else { kind })?;
    let folder = desk.branch.file("research");
    let text = if all {
        merged(desk, &folder, subtask)?
    } else {
        let path = format!("{folder}/{subtask}__{kind}.md");
        desk.text(&path)?.unwrap_or_default()
    };
    let mut reply = Reply::of(Object::new());
    reply.body = Body::Text(text);
    Ok(reply)
}

fn merged(desk: Desk<'_>, folder: &str, subtask: &str) -> Result<String, Fault> {
    let mut files: Vec<(usize, String, String)> = Vec::new();
    for (name, kind) in files_of(desk, folder, subtask) {
        if !is_kind(&kind) {
            continue;
        }
        let known = ["actor", "monitor", "decomposer"];
        let rank = known.iter().position(|known| *known == kind);
        let path = Utf8Path::new(folder).join(&name);
        let text = desk.text(path.as_str())?.unwrap_or_default();
        files.push((rank.unwrap_or(known.len()), kind, text));
    }
    files.sort();
    let parts = files
        .iter()
        .map(|(_, kind, text)| format!("# kind={kind}\n{}\n", rstrip(text)));
    let merged = parts.collect::<Vec<_>>().join("\n");
    if merged.is_empty() {
        return Ok(merged);
    }
    Ok(format!("{}\n", rstrip(&merged)))
}
