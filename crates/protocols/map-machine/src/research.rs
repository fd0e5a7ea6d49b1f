//! `research/<subtask>__<kind>.md`: the research before a subtask is implemented, as strict JSON.

use rekindle_model::Action;
use rekindle_text::python_json::{self, Json, Object};
use rekindle_text::python_text::{rstrip, split_lines, strip};
use rekindle_world::Kind;

use crate::desk::{Desk, decoded};
use crate::reply::{Body, Fault, Reply};

const LARGEST: usize = 64 * 1024;
const MOST_LOCATIONS: usize = 5;
const MOST_LINES: i64 = 200;
const STATUSES: &[&str] = &["NO_RESULTS", "OK", "PARTIAL_RESULTS", "SEARCH_FAILED"];
const ABSENT: &[&str] = &["absent", "missing", "new", "not_found"];
const LONGEST_ID: usize = 64;

/// Returns the report on the research of a subtask: of one kind, or of all that exist.
pub(crate) fn report(desk: Desk<'_>, subtask: &str, kind: Option<&str>) -> Result<Object, Fault> {
    check_names(subtask, kind.unwrap_or("actor"))?;
    let folder = desk.branch.file("research");
    let (mut errors, mut warnings): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
    let mut names: Vec<String> = Vec::new();
    if let Some(kind) = kind {
        names.push(format!("{subtask}__{kind}.md"));
    } else {
        let files = files_of(desk, &folder, subtask).into_iter();
        for (name, kind) in files.filter(|(name, _)| !name.contains(".attempt-")) {
            if is_kind(&kind) {
                names.push(name);
            } else {
                errors.push(format!("`{name}` does not end in a kind of research"));
            }
        }
    }
    let is_missing = names.is_empty();
    if is_missing {
        let path = desk.place(&folder);
        errors = vec![format!("there is no research on {subtask} in {path}")];
    }
    let mut artifacts = Vec::new();
    for name in names {
        let artifact = artifact(desk, &format!("{folder}/{name}"))?;
        for (key, list) in [("errors", &mut errors), ("warnings", &mut warnings)] {
            list.extend(artifact.texts(key).map(|text| format!("{name}: {text}")));
        }
        artifacts.push(artifact);
    }
    let is_valid = errors.is_empty();
    let status = match (is_missing, is_valid) {
        (true, _) => "missing",
        (false, true) => "valid",
        (false, false) => "invalid",
    };
    let report = Object::new()
        .with("valid", is_valid)
        .with("status", status)
        .with("subtask_id", subtask)
        .with("kind", kind)
        .with("artifacts", artifacts)
        .with("errors", errors)
        .with("warnings", warnings);
    Ok(with_skeleton(report))
}

/// Adds an example of valid research to the report on an invalid one.
fn with_skeleton(report: Object) -> Object {
    if report.is_true("valid") {
        return report;
    }
    let stats = Object::new()
        .with("files_scanned", 12_i64)
        .with("total_matches_found", 4_i64)
        .with("results_truncated", false);
    let location = Object::new()
        .with("path", "src/example.py")
        .with("lines", vec![10_i64, 42])
        .with("relevance", "why these lines matter for the subtask");
    let skeleton = Object::new()
        .with("status", "OK")
        .with("confidence", 0.8)
        .with("search_stats", stats)
        .with("relevant_locations", vec![location]);
    report.with("skeleton", skeleton.to_lines())
}

/// Returns the files about a subtask with the kinds in their names.
fn files_of(desk: Desk<'_>, folder: &str, subtask: &str) -> Vec<(String, String)> {
    let prefix = format!("{subtask}__");
    let names = desk.names(folder).into_iter();
    let files = names.filter(|name| name.starts_with(&prefix));
    let with_kind = files.filter_map(|name| {
        let (_, kind) = name.strip_suffix(".md")?.rsplit_once("__")?;
        let kind = kind.to_owned();
        Some((name, kind))
    });
    with_kind.collect()
}

fn is_kind(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    text.starts_with(|c: char| c.is_ascii_lowercase()) && text.chars().all(plain)
}

/// Refuses names that are unsafe in a path.
fn check_names(subtask: &str, kind: &str) -> Result<(), Fault> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_.-".contains(c);
    let begins = subtask.starts_with(|c: char| c.is_ascii_alphanumeric());
    if !begins || subtask.len() > LONGEST_ID || !subtask.chars().all(plain) {
        return Err(Fault::new(format!(
            "`{subtask}` is not a valid subtask of a research file: use at most {LONGEST_ID} letters, digits, `_`, `.` and `-`"
        )));
    }
    if !is_kind(kind) {
        return Err(Fault::new(format!(
            "`{kind}` is not a valid kind of research: use lowercase letters, digits and `_`"
        )));
    }
    Ok(())
}

/// Returns the report on one file.
fn artifact(desk: Desk<'_>, path: &str) -> Result<Object, Fault> {
    let place = desk.place(path);
    let place = place.as_str();
    if desk.kind(path) != Some(Kind::File) {
        let error = format!("{place} does not exist");
        return Ok(artifact_report(place, "missing", vec![error]));
    }
    let bytes = desk.bytes(path)?.unwrap_or_default();
    Ok(match decoded(path, &bytes) {
        Ok(text) => with_skeleton(content(desk, place, &text)),
        Err(Fault(reason)) => artifact_report(place, "invalid", vec![reason]),
    })
}

fn artifact_report(path: &str, status: &str, errors: Vec<String>) -> Object {
    Object::new()
        .with("valid", errors.is_empty())
        .with("status", status)
        .with("artifact_path", path)
        .with("errors", errors)
        .with("warnings", Vec::<Json>::new())
}

fn content(desk: Desk<'_>, path: &str, text: &str) -> Object {
    let mut errors = Vec::new();
    if text.len() > LARGEST {
        let n_bytes = text.len();
        errors.push(format!("it has {n_bytes} bytes, more than {LARGEST}"));
    }
    let text = strip(text);
    if text.is_empty() {
        errors.push("it is empty".to_owned());
        return artifact_report(path, "invalid", errors);
    }
    if text.contains("```") {
        errors.push("it has a code fence; cite paths and lines instead".to_owned());
    }
    let research = match python_json::parse(text) {
        Ok(Json::Object(research)) => research,
        other => {
            errors.push(match other {
                Ok(other) => format!("it is {}, not an object", other.kind()),
                Err(error) => format!("it is not JSON: {error}"),
            });
            return artifact_report(path, "invalid", errors);
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
    let status = if errors.is_empty() {
        "valid"
    } else {
        "invalid"
    };
    artifact_report(path, status, errors)
        .with("research_status", research.text("status"))
        .with("confidence", research.get("confidence").and_then(as_float))
        .with("location_count", locations.map_or(0, <[Json]>::len))
}

#[expect(
    clippy::cast_precision_loss,
    reason = "a confidence is between 0 and 1, and printed as Python prints it"
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
    let status = research.text("status");
    if !status.is_some_and(|status| STATUSES.contains(&status)) {
        errors.push(format!("status must be one of {}", STATUSES.join(", ")));
    }
    let confidence = research.get("confidence").and_then(as_float);
    if !confidence.is_some_and(|confidence| (0.0..=1.0).contains(&confidence)) {
        errors.push("confidence must be a number between 0 and 1".to_owned());
    }
    let Some(stats) = research.object("search_stats") else {
        errors.push("search_stats must be an object".to_owned());
        return;
    };
    for key in ["files_scanned", "total_matches_found"] {
        let is_count = match stats.get(key) {
            Some(Json::Int(number)) => *number >= 0,
            Some(Json::LargeInt(digits)) => !digits.starts_with('-'),
            _ => false,
        };
        if !is_count {
            errors.push(format!(
                "search_stats.{key} must be an integer of at least 0"
            ));
        }
    }
    if !matches!(stats.get("results_truncated"), Some(Json::Bool(_))) {
        errors.push("search_stats.results_truncated must be true or false".to_owned());
    }
}

fn check_location(desk: Desk<'_>, location: &Json, index: usize, errors: &mut Vec<String>) {
    let name = format!("relevant_locations[{index}]");
    let mut add = |rule: &str| errors.push(format!("{name}{rule}"));
    let Some(location) = location.as_object() else {
        return add(" must be an object");
    };
    let path = location.text("path").map(strip);
    let path = path.filter(|path| !path.is_empty());
    match path {
        None => add(".path must be a path relative to the repository"),
        Some(path) if !is_safe(path) || path.starts_with('~') => {
            add(".path must stay in the repository");
        }
        Some(path) => match desk.kind(path) {
            Some(Kind::File) => {}
            Some(Kind::Folder | Kind::Link | Kind::Other) => add(".path is not a file"),
            None if is_marked_absent(location) => {}
            None => add(".path does not exist; if that is intended, mark it as absent or new"),
        },
    }
    if let Some(rule) = lines_error(desk, location, path) {
        add(&format!(".lines {rule}"));
    }
    let relevance = location.text("relevance").map(strip).unwrap_or_default();
    if relevance.is_empty() {
        add(".relevance must say why the lines matter");
    }
    for key in ["content", "file_contents", "raw_code"] {
        if location.has(key) {
            add(&format!(".{key} is not allowed; cite paths and lines"));
        }
    }
}

fn is_safe(path: &str) -> bool {
    !path.starts_with('/') && !path.contains('\\') && !path.split('/').any(|part| part == "..")
}

fn is_marked_absent(location: &Object) -> bool {
    let status = strip(location.text("status").unwrap_or_default()).to_lowercase();
    location.get("exists") == Some(&Json::Bool(false))
        || location.is_true("absent")
        || ABSENT.contains(&status.as_str())
}

fn lines_error(desk: Desk<'_>, location: &Object, path: Option<&str>) -> Option<String> {
    let lines = location.get("lines").or_else(|| location.get("line_range"));
    let Some([start, end]) = lines.and_then(Json::as_list) else {
        return Some("must be [first, last]".to_owned());
    };
    let (Json::Int(start), Json::Int(end)) = (start, end) else {
        return Some("must be integers".to_owned());
    };
    if *start < 1 || start > end {
        return Some("must be a range from a line to the same or a later line".to_owned());
    }
    if end - start + 1 > MOST_LINES {
        return Some(format!("must be at most {MOST_LINES}"));
    }
    let text = desk.text(path.filter(|path| is_safe(path))?).ok()??;
    let count = i64::try_from(split_lines(&text).count()).unwrap_or(i64::MAX);
    let is_beyond = count > 0 && *end > count;
    is_beyond.then(|| format!("end after the end of the file ({count})"))
}

/// `validate_research`.
pub(crate) fn validate(desk: Desk<'_>, subtask: &str, kind: Option<&str>) -> Reply {
    match report(desk, subtask, kind) {
        Ok(report) => {
            let is_valid = report.is_true("valid");
            Reply::of(report).failing_if(!is_valid)
        }
        Err(Fault(message)) => on_one_line(Reply::error(message)).failing(),
    }
}

/// `save_research`: with an attempt, the previous research is saved under its number.
pub(crate) fn save(
    desk: Desk<'_>,
    subtask: &str,
    kind: &str,
    attempt: Option<i64>,
    text: String,
) -> Result<Reply, Fault> {
    if let Err(Fault(message)) = check_names(subtask, kind) {
        return Ok(on_one_line(Reply::error(message)).failing());
    }
    let folder = desk.branch.file("research");
    let path = format!("{folder}/{subtask}__{kind}.md");
    let mut actions: Vec<Action> = Vec::new();
    if let Some(attempt) = attempt
        && let Some(before) = desk.text(&path)?
    {
        let saved = format!("{folder}/{subtask}__{kind}.attempt-{attempt}.md");
        actions.extend(desk.written(&saved, before)?);
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
    check_names(subtask, if all { "actor" } else { kind })?;
    let folder = desk.branch.file("research");
    let text = if all {
        merged(desk, &folder, subtask)?
    } else {
        let path = format!("{folder}/{subtask}__{kind}.md");
        desk.text(&path)?.unwrap_or_default()
    };
    Ok(Reply::plain(text))
}

fn merged(desk: Desk<'_>, folder: &str, subtask: &str) -> Result<String, Fault> {
    let known = ["actor", "monitor", "decomposer"];
    let mut files: Vec<(usize, String, String)> = Vec::new();
    for (name, kind) in files_of(desk, folder, subtask) {
        if is_kind(&kind) {
            let rank = known.iter().position(|known| *known == kind);
            let text = desk.text(&format!("{folder}/{name}"))?;
            let text = text.unwrap_or_default();
            files.push((rank.unwrap_or(known.len()), kind, text));
        }
    }
    files.sort();
    let part =
        |(_, kind, text): &(usize, String, String)| format!("# kind={kind}\n{}\n", rstrip(text));
    let merged = files.iter().map(part).collect::<Vec<_>>().join("\n");
    if merged.is_empty() {
        return Ok(merged);
    }
    Ok(format!("{}\n", rstrip(&merged)))
}
