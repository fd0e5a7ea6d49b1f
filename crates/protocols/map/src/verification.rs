//! `write_verification_summary`: the verdict on the whole, with what can be counted added to it.

use std::collections::{BTreeMap, BTreeSet};

use rekindle_text::python_json::{Json, Object};
use rekindle_text::python_text::{split_lines, strip};
use rekindle_world::{GitAnswer, GitQuestion, Kind};

use super::blueprint;
use super::desk::{Desk, Document};
use super::documents;
use super::fault::Fault;
use super::layout;
use super::reply::Reply;

/// More changed files than these are not counted.
const MOST_FILES: usize = 500;
/// As much of a review is looked through.
const REVIEW: usize = 4000;

/// What a verifier says.
#[derive(Debug, Clone, Default)]
pub(crate) struct Said {
    pub(crate) verdict: String,
    pub(crate) task: String,
    pub(crate) checks: String,
    pub(crate) findings: String,
    pub(crate) next: String,
}

/// `write_verification_summary`.
pub(crate) fn write(desk: Desk<'_>, said: &Said) -> Result<Reply, Fault> {
    let or = |text: &str, otherwise: &str| {
        let text = if text.is_empty() { otherwise } else { text };
        text.to_owned()
    };
    let none = "- [not recorded]";
    let mut text = format!(
        "# Verification Summary\n\n- Branch: {}\n- Task: {}\n- Verdict: {}\n\n## Checks Run\n{}\n\n## Findings\n{}\n\n## Next Action\n{}\n",
        desk.branch,
        or(&said.task, "[not provided]"),
        said.verdict,
        or(&said.checks, none),
        or(&said.findings, none),
        or(&said.next, none),
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
    let unknown = |status: &str, reason: String| {
        Object::new()
            .with("status", status)
            .with("branch", desk.branch.as_str())
            .with("reason", reason)
            .with("requirements", Vec::<Json>::new())
            .with("summary", counts("total", 0, "covered", 0, 0))
    };
    let whole = match desk.json(&path)? {
        Document::Absent => {
            return Ok(unknown(
                "missing_blueprint",
                "there is no blueprint".to_owned(),
            ));
        }
        Document::Broken(reason) => return Ok(unknown("missing_blueprint", reason)),
        Document::Value(value) if value.as_object().is_none() => {
            return Ok(unknown(
                "missing_blueprint",
                "the blueprint is no object".to_owned(),
            ));
        }
        Document::Value(value) => value,
    };
    let body = blueprint::body(&whole)?;
    let outer = whole
        .as_object()
        .and_then(|whole| whole.get("coverage_map"));
    let map = body.get("coverage_map").or(outer).and_then(Json::as_object);
    let subtasks = body.get("subtasks").and_then(Json::as_list);
    let (Some(map), Some(subtasks)) = (map, subtasks) else {
        let reason = "the blueprint lacks coverage_map or subtasks".to_owned();
        return Ok(unknown("invalid_blueprint", reason));
    };
    let evidence = evidence(desk, summary)?;
    let mut owners: Vec<(&str, &Json)> = map.iter().collect();
    owners.sort_by_key(|(tag, _)| *tag);
    let mut covered = 0;
    let requirements: Vec<Object> = owners
        .into_iter()
        .map(|(tag, owner)| {
            let named = evidence.iter().filter(|(_, tags)| tags.contains(tag));
            let named: Vec<&String> = named.map(|(source, _)| source).collect();
            covered += usize::from(!named.is_empty());
            let status = if named.is_empty() {
                "missing_evidence"
            } else {
                "covered"
            };
            Object::new()
                .with("id", tag)
                .with("owner", owner.as_text())
                .with(
                    "validation_criteria_cited",
                    is_cited(subtasks, owner.as_text(), tag),
                )
                .with("evidence_artifacts", named)
                .with("status", status)
        })
        .collect();
    let total = requirements.len();
    let sources = evidence.iter().filter(|(_, tags)| !tags.is_empty());
    let sources: Vec<&String> = sources.map(|(source, _)| source).collect();
    Ok(Object::new()
        .with("status", "success")
        .with("branch", desk.branch.as_str())
        .with("blueprint_path", path)
        .with("evidence_sources", sources)
        .with("requirements", requirements)
        .with(
            "summary",
            counts("total", total, "covered", covered, total - covered),
        ))
}

fn counts(all: &str, total: usize, part: &str, has: usize, missing: usize) -> Object {
    Object::new()
        .with(all, total)
        .with(part, has)
        .with("missing", missing)
}

fn is_cited(subtasks: &[Json], owner: Option<&str>, tag: &str) -> bool {
    let subtasks = subtasks.iter().rev().filter_map(Json::as_object);
    let mut owned = subtasks.filter(|subtask| owner.is_some() && subtask.text("id") == owner);
    let criteria = owned
        .next()
        .and_then(|subtask| subtask.get("validation_criteria"));
    let criteria = criteria.and_then(Json::as_list).unwrap_or_default();
    let mut criteria = criteria.iter().filter_map(Json::as_text);
    criteria.any(|criterion| criterion.contains(&format!("[{tag}]")))
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
        let begins = format!("{prefix}_");
        for name in names
            .iter()
            .filter(|name| name.starts_with(&begins) && name.ends_with(suffix))
        {
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
    let numbered = word
        .as_bytes()
        .windows(2)
        .any(|pair| pair[0] == b'-' && pair[1].is_ascii_digit());
    numbered && word.starts_with(|c: char| c.is_ascii_alphabetic()) && word.chars().all(plain)
}

fn number(object: &Object, key: &str) -> String {
    let summary = object.get("summary").and_then(Json::as_object);
    let number = summary.and_then(|summary| summary.get(key));
    number.map_or_else(|| "0".to_owned(), Json::to_line)
}

fn objects<'a>(object: &'a Object, key: &str) -> impl Iterator<Item = &'a Object> {
    let items = object.get(key).and_then(Json::as_list).unwrap_or_default();
    items.iter().filter_map(Json::as_object)
}

fn coverage_section(coverage: &Object) -> String {
    if coverage.text("status") != Some("success") {
        let reason = coverage.text("reason").unwrap_or_default();
        return format!("\n## Acceptance Coverage\n- Status: not available\n- Reason: {reason}\n");
    }
    let mut text = format!(
        "\n## Acceptance Coverage\n- Covered tags: {}/{}\n- Missing evidence: {}\n",
        number(coverage, "covered"),
        number(coverage, "total"),
        number(coverage, "missing"),
    );
    for requirement in objects(coverage, "requirements") {
        let named = requirement
            .get("evidence_artifacts")
            .and_then(Json::as_list);
        let named: Vec<&str> = named
            .unwrap_or_default()
            .iter()
            .filter_map(Json::as_text)
            .collect();
        let named = if named.is_empty() {
            "missing".to_owned()
        } else {
            named.join(", ")
        };
        text.push_str(&format!(
            "- [{}] {} owned by {}; evidence: {named}\n",
            requirement.text("status").unwrap_or_default(),
            requirement.text("id").unwrap_or_default(),
            requirement
                .text("owner")
                .filter(|owner| !owner.is_empty())
                .unwrap_or("unknown"),
        ));
    }
    text
}

/// Returns which of the files that an implementation is built on are there.
fn inputs(desk: Desk<'_>) -> Object {
    let file = |key: &str, label: &str, path: String| {
        let is_there = desk.kind(&path) == Some(Kind::File);
        let reason = format!("{path} is not there");
        entry(
            key,
            label,
            "file",
            &path,
            usize::from(is_there),
            None,
            reason,
        )
    };
    let names = desk.names(&desk.branch.file(""));
    let contracts: Vec<String> = names
        .iter()
        .filter(|name| name.starts_with("test_contract_") && name.strip_suffix(".md").is_some())
        .map(|name| desk.branch.file(name))
        .filter(|path| desk.kind(path) == Some(Kind::File))
        .collect();
    let pattern = desk.branch.file("test_contract_*.md");
    let reason = format!("nothing is at {pattern}");
    let count = contracts.len();
    let contracts = entry(
        "test_contract",
        "test contract",
        "glob",
        &pattern,
        count,
        Some(contracts),
        reason,
    );
    let question = GitQuestion::PrintedNamesSince {
        base: "HEAD".to_owned(),
    };
    let changed = desk
        .git(&question)
        .and_then(GitAnswer::printed)
        .unwrap_or_default();
    let changed = split_lines(&changed).filter(|name| !strip(name).is_empty());
    let changed = changed.take(MOST_FILES).count();
    let reason = "no file differs from HEAD".to_owned();
    let diff = entry(
        "code_diff",
        "code diff",
        "git-diff",
        "git diff --stat HEAD",
        changed,
        None,
        reason,
    );
    let entries = vec![
        file(
            "spec",
            "specification",
            desk.branch.file(&format!("spec_{}.md", desk.branch)),
        ),
        file("task_plan", "task plan", desk.branch.plan()),
        file(
            "blueprint",
            "blueprint",
            desk.branch.file(layout::BLUEPRINT),
        ),
        contracts,
        diff,
    ];
    let missing = entries
        .iter()
        .filter(|entry| entry.get("consumed") == Some(&Json::Bool(false)));
    let errors: Vec<String> = missing
        .filter_map(|entry| entry.text("reason").map(str::to_owned))
        .collect();
    let status = if errors.is_empty() {
        "ready"
    } else {
        "blocked"
    };
    let (total, missing) = (entries.len(), errors.len());
    Object::new()
        .with("status", status)
        .with("valid", errors.is_empty())
        .with("stage", "implementation")
        .with("branch", desk.branch.as_str())
        .with("required_artifacts", entries)
        .with(
            "summary",
            counts("required", total, "consumed", total - missing, missing),
        )
        .with("errors", errors)
}

fn entry(
    key: &str,
    label: &str,
    kind: &str,
    path: &str,
    count: usize,
    paths: Option<Vec<String>>,
    reason: String,
) -> Object {
    let mut entry = Object::new()
        .with("key", key)
        .with("label", label)
        .with("kind", kind)
        .with("path", path);
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
    for entry in objects(inputs, "required_artifacts") {
        let is_there = entry.get("consumed") == Some(&Json::Bool(true));
        let status = if is_there { "consumed" } else { "missing" };
        let told = |key: &str| entry.text(key).unwrap_or_default();
        let count = entry.get("count").map_or_else(String::new, Json::to_line);
        let detail = match told("reason") {
            "" => String::new(),
            reason => format!("; {reason}"),
        };
        text.push_str(&format!(
            "- [{status}] {}: `{}` ({count}){detail}\n",
            told("label"),
            told("path")
        ));
    }
    if number(inputs, "missing") != "0" {
        text.push_str("- Action: make what is missing before the work is called ready.\n");
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
