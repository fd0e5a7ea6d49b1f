//! `write_verification_summary`: the verdict on the whole workflow, with counts added.

use std::collections::{BTreeMap, BTreeSet};

use rekindle_text::python_json::{Json, Object};
use rekindle_text::python_text::{split_lines, strip};
use rekindle_world::{GitAnswer, GitQuestion, Kind};

use crate::desk::{Desk, Document};
use crate::reply::{Fault, Reply};
use crate::{documents, layout};

/// The largest number of changed files.
const MOST_FILES: usize = 500;
/// The number of characters of a review that are searched.
const REVIEW: usize = 4000;

/// `write_verification_summary`: verdict, task, checks, findings and next action.
pub(crate) fn write(desk: Desk<'_>, words: [&str; 5]) -> Result<Reply, Fault> {
    let [verdict, task, checks, findings, next] = words;
    let or = |text: &str, default: &str| if text.is_empty() { default } else { text }.to_owned();
    let none = "- [not recorded]";
    let mut text = format!(
        "# Verification Summary\n\n- Branch: {}\n- Task: {}\n- Verdict: {verdict}\n\n## Checks Run\n{}\n\n## Findings\n{}\n\n## Next Action\n{}\n",
        desk.branch,
        or(task, "[not provided]"),
        or(checks, none),
        or(findings, none),
        or(next, none),
    );
    let coverage = coverage(desk, &text)?;
    text.push_str(&coverage_section(&coverage));
    let inputs = inputs(desk);
    text.push_str(&inputs_section(&inputs));
    let path = desk.branch.file(layout::VERIFICATION);
    let action = desk.written(&path, text)?;
    let answer = Reply::success()
        .with("path", path)
        .with("acceptance_coverage", coverage)
        .with("prior_stage_consumption", inputs);
    Ok(Reply::of(answer).doing(action))
}

/// Returns which acceptance tags of the blueprint are named by which file.
fn coverage(desk: Desk<'_>, summary: &str) -> Result<Object, Fault> {
    let path = desk.branch.file(layout::BLUEPRINT);
    let unknown = |status: &str, reason: &str| {
        Ok(Object::new()
            .with("status", status)
            .with("branch", desk.branch.as_str())
            .with("reason", reason)
            .with("requirements", Vec::<Json>::new())
            .with("summary", counts("total", 0, "covered", 0)))
    };
    let whole = match desk.json(&path)? {
        Document::Absent => return unknown("missing_blueprint", "there is no blueprint"),
        Document::Broken(reason) => return unknown("missing_blueprint", &reason),
        Document::Value(Json::Object(whole)) => whole,
        Document::Value(_) => {
            return unknown("missing_blueprint", "the blueprint is not an object");
        }
    };
    let body = whole.object("blueprint").unwrap_or(&whole);
    let map = body.get("coverage_map").or(whole.get("coverage_map"));
    let Some(map) = map
        .and_then(Json::as_object)
        .filter(|_| body.get("subtasks").and_then(Json::as_list).is_some())
    else {
        let reason = "the blueprint lacks coverage_map or subtasks";
        return unknown("invalid_blueprint", reason);
    };
    let evidence = evidence(desk, summary)?;
    let mut owners: Vec<(&str, &Json)> = map.iter().collect();
    owners.sort_by_key(|(tag, _)| *tag);
    let mut covered = 0;
    let requirement = |(tag, owner): (&str, &Json)| {
        let named = evidence.iter().filter(|(_, tags)| tags.contains(tag));
        let named: Vec<&String> = named.map(|(source, _)| source).collect();
        covered += usize::from(!named.is_empty());
        let status = match named.as_slice() {
            [] => "missing_evidence",
            [..] => "covered",
        };
        let is_cited = is_cited(body, owner.as_text(), tag);
        Object::new()
            .with("id", tag)
            .with("owner", owner.as_text())
            .with("validation_criteria_cited", is_cited)
            .with("evidence_artifacts", named)
            .with("status", status)
    };
    let requirements: Vec<Object> = owners.into_iter().map(requirement).collect();
    let total = requirements.len();
    let sources = evidence.iter().filter(|(_, tags)| !tags.is_empty());
    let sources: Vec<&String> = sources.map(|(source, _)| source).collect();
    Ok(Object::new()
        .with("status", "success")
        .with("branch", desk.branch.as_str())
        .with("blueprint_path", path)
        .with("evidence_sources", sources)
        .with("requirements", requirements)
        .with("summary", counts("total", total, "covered", covered)))
}

fn counts(all: &str, total: usize, part: &str, has: usize) -> Object {
    Object::new()
        .with(all, total)
        .with(part, has)
        .with("missing", total - has)
}

fn is_cited(blueprint: &Object, owner: Option<&str>, tag: &str) -> bool {
    let mut subtasks = blueprint.objects("subtasks").rev();
    let owned = subtasks.find(|subtask| owner.is_some() && subtask.text("id") == owner);
    owned.is_some_and(|subtask| {
        let mut criteria = subtask.texts("validation_criteria");
        criteria.any(|criterion| criterion.contains(&format!("[{tag}]")))
    })
}

/// Returns the tags that each file names, by a word for the file.
fn evidence(desk: Desk<'_>, summary: &str) -> Result<BTreeMap<String, BTreeSet<String>>, Fault> {
    let mut evidence = BTreeMap::new();
    let read = |name: &str| -> Result<Option<String>, Fault> {
        let path = desk.branch.file(name);
        if desk.kind(&path) != Some(Kind::File) {
            return Ok(None);
        }
        let bytes = desk.bytes(&path)?.unwrap_or_default();
        Ok(Some(String::from_utf8_lossy(&bytes).into_owned()).filter(|text| !text.is_empty()))
    };
    for (source, name) in [("qa", "qa-001.md"), ("pr_draft", "pr-draft.md")] {
        if let Some(text) = read(name)?.filter(|text| !documents::is_skeleton(name, text)) {
            evidence.insert(source.to_owned(), tags(&text));
        }
    }
    let names = desk.names(&desk.branch.file(""));
    if let Some((_, name)) = documents::numbered(&names, "code-review").filter(|(n, _)| *n > 0)
        && let Some(text) = read(name)?
    {
        let text: String = text.chars().take(REVIEW).collect();
        evidence.insert("latest_code_review".to_owned(), tags(&text));
    }
    for (prefix, suffix) in [("test_contract", ".md"), ("test_handoff", ".json")] {
        let start = format!("{prefix}_");
        let is_it = |name: &&String| name.starts_with(&start) && name.ends_with(suffix);
        for name in names.iter().filter(is_it) {
            if let Some(text) = read(name)? {
                evidence.insert(format!("{prefix}:{name}"), tags(&text));
            }
        }
    }
    evidence.insert("verification_summary".to_owned(), tags(summary));
    Ok(evidence)
}

/// Returns the words in square brackets that look like `AC-1`.
fn tags(text: &str) -> BTreeSet<String> {
    let words = text.split('[').skip(1).filter_map(|rest| {
        let (word, _) = rest.split_once(']')?;
        is_tag(word).then(|| word.to_owned())
    });
    words.collect()
}

fn is_tag(word: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let mut pairs = word.as_bytes().windows(2);
    let is_numbered = pairs.any(|pair| pair[0] == b'-' && pair[1].is_ascii_digit());
    is_numbered && word.starts_with(|c: char| c.is_ascii_alphabetic()) && word.chars().all(plain)
}

fn number(object: &Object, key: &str) -> String {
    let number = object.object("summary").and_then(|it| it.get(key));
    number.map_or_else(|| "0".to_owned(), Json::to_line)
}

fn coverage_section(coverage: &Object) -> String {
    if coverage.text("status") != Some("success") {
        let reason = coverage.text("reason").unwrap_or_default();
        return format!("\n## Acceptance Coverage\n- Status: not available\n- Reason: {reason}\n");
    }
    let [covered, total, missing] =
        ["covered", "total", "missing"].map(|key| number(coverage, key));
    let mut text = format!(
        "\n## Acceptance Coverage\n- Covered tags: {covered}/{total}\n- Missing evidence: {missing}\n"
    );
    for requirement in coverage.objects("requirements") {
        let named: Vec<&str> = requirement.texts("evidence_artifacts").collect();
        let named = match named.as_slice() {
            [] => "missing".to_owned(),
            named => named.join(", "),
        };
        let owner = requirement.text("owner").filter(|owner| !owner.is_empty());
        text.push_str(&format!(
            "- [{}] {} owned by {}; evidence: {named}\n",
            requirement.text("status").unwrap_or_default(),
            requirement.text("id").unwrap_or_default(),
            owner.unwrap_or("unknown"),
        ));
    }
    text
}

/// Returns which inputs of the implementation exist.
fn inputs(desk: Desk<'_>) -> Object {
    let file = |key: &str, label: &str, path: String| {
        let count = usize::from(desk.kind(&path) == Some(Kind::File));
        let reason = format!("{path} does not exist");
        input([key, label, "file", &path], count, None, reason)
    };
    let names = desk.names(&desk.branch.file(""));
    let is_contract =
        |name: &&String| name.starts_with("test_contract_") && name.strip_suffix(".md").is_some();
    let contracts = names.iter().filter(is_contract);
    let contracts = contracts.map(|name| desk.branch.file(name));
    let contracts: Vec<String> = contracts
        .filter(|path| desk.kind(path) == Some(Kind::File))
        .collect();
    let pattern = desk.branch.file("test_contract_*.md");
    let (count, reason) = (contracts.len(), format!("no file matches {pattern}"));
    let contract = ["test_contract", "test contract", "glob", &pattern];
    let contracts = input(contract, count, Some(contracts), reason);
    let base = "HEAD".to_owned();
    let changed = desk.git(&GitQuestion::PrintedNamesSince { base });
    let changed = changed.and_then(GitAnswer::printed).unwrap_or_default();
    let changed = split_lines(&changed).filter(|name| !strip(name).is_empty());
    let changed = changed.take(MOST_FILES).count();
    let diff = ["code_diff", "code diff", "git-diff", "git diff --stat HEAD"];
    let diff = input(diff, changed, None, "no file differs from HEAD".to_owned());
    let spec = desk.branch.file(&format!("spec_{}.md", desk.branch));
    let blueprint = desk.branch.file(layout::BLUEPRINT);
    let entries = vec![
        file("spec", "specification", spec),
        file("task_plan", "task plan", desk.branch.plan()),
        file("blueprint", "blueprint", blueprint),
        contracts,
        diff,
    ];
    let missing = entries.iter().filter(|entry| !entry.is_true("consumed"));
    let errors = missing.filter_map(|entry| entry.text("reason").map(str::to_owned));
    let errors: Vec<String> = errors.collect();
    let is_valid = errors.is_empty();
    let total = entries.len();
    let summary = counts("required", total, "consumed", total - errors.len());
    Object::new()
        .with("status", if is_valid { "ready" } else { "blocked" })
        .with("valid", is_valid)
        .with("stage", "implementation")
        .with("branch", desk.branch.as_str())
        .with("required_artifacts", entries)
        .with("summary", summary)
        .with("errors", errors)
}

/// Returns the entry of an input: key, label, kind and path, and how many there are.
fn input(names: [&str; 4], count: usize, paths: Option<Vec<String>>, reason: String) -> Object {
    let mut entry = Object::new();
    for (key, value) in ["key", "label", "kind", "path"].into_iter().zip(names) {
        entry.set(key, value);
    }
    if let Some(paths) = paths {
        entry.set("paths", paths);
    }
    let reason = if count > 0 { String::new() } else { reason };
    entry
        .with("required", true)
        .with("present", count > 0)
        .with("consumed", count > 0)
        .with("count", count)
        .with("reason", reason)
}

fn inputs_section(inputs: &Object) -> String {
    let mut text = format!(
        "\n## Prior-Stage Consumption\n- Stage: {}\n- Status: {}\n- Consumed required inputs: {}/{}\n",
        inputs.text("stage").unwrap_or_default(),
        inputs.text("status").unwrap_or_default(),
        number(inputs, "consumed"),
        number(inputs, "required"),
    );
    for entry in inputs.objects("required_artifacts") {
        let is_there = entry.is_true("consumed");
        let status = if is_there { "consumed" } else { "missing" };
        let value = |key: &str| entry.text(key).unwrap_or_default();
        let count = entry.get("count").map_or_else(String::new, Json::to_line);
        let detail = match value("reason") {
            "" => String::new(),
            reason => format!("; {reason}"),
        };
        let (label, path) = (value("label"), value("path"));
        text.push_str(&format!(
            "- [{status}] {label}: `{path}` ({count}){detail}\n"
        ));
    }
    if number(inputs, "missing") != "0" {
        text.push_str("- Action: create the missing inputs before calling the work ready.\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_words_in_brackets_with_a_number() {
        let found = tags("[AC-1] [x] [VC1] [a-b-2c] [[INV-10]] [1-2] [A C-1] [open-3");
        let expected: Vec<String> = ["AC-1", "INV-10", "a-b-2c"].map(str::to_owned).to_vec();
        assert_eq!(found.into_iter().collect::<Vec<_>>(), expected);
    }
}
