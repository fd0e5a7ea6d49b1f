//! `task-graph.json`, with `tasks` at the top or inside `task_graph`.
//!
//! It is read leniently: only a file without a list of tasks with ids is not a graph.

use rekindle_model::graph::{Graph, Problem};
use rekindle_protocol::lists::fields::is_yes;
use serde_json::{Map, Value};

/// The actor of a graph that `rekindle run` made.
pub(super) const MAKER: &str = "rekindle";

/// A task as the graph describes it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Task {
    pub(super) id: String,
    pub(super) title: String,
    pub(super) description: String,
    /// The phase of the plan, which is not the phase of the run.
    pub(super) phase: i64,
    pub(super) kind: String,
    pub(super) skipped: bool,
    pub(super) acceptance: Vec<String>,
    pub(super) files: Vec<String>,
    pub(super) forbidden: Vec<String>,
    /// Commands that check the task's work.
    pub(super) checks: Vec<String>,
    /// Whether an attempt that changes nothing can be its work.
    pub(super) may_be_empty: bool,
}

impl Task {
    fn starts_with_letter(&self, letter: char) -> bool {
        let mut chars = self.id.chars();
        chars.next() == Some(letter) && chars.next().is_some_and(|c| c.is_ascii_digit())
    }

    /// Returns whether it is about quality and so comes before other work.
    pub(super) fn is_quality(&self) -> bool {
        self.kind == "quality" || self.starts_with_letter('Q') || self.starts_with_letter('H')
    }

    /// Returns whether it sets the project up, which later protocols do before all development.
    pub(super) fn is_bootstrap(&self) -> bool {
        self.kind.starts_with("bootstrap") || self.starts_with_letter('B')
    }

    /// Returns whether it is a development task of a later protocol.
    pub(super) fn is_development(&self) -> bool {
        self.starts_with_letter('D')
    }
}

/// The graph of a run's tasks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct TaskGraph {
    /// In graph order, each id once.
    pub(super) tasks: Vec<Task>,
    pub(super) graph: Graph,
    pub(super) problems: Vec<Problem>,
    /// Whether `rekindle run` made it.
    pub(super) is_ours: bool,
}

/// Reads the file, or says why it is not a graph.
pub(super) fn parse(bytes: &[u8]) -> Result<TaskGraph, String> {
    let root = root(bytes)?;
    let is_ours = root.get("actor").and_then(Value::as_str) == Some(MAKER);
    let (mut tasks, edges): (Vec<Task>, Vec<_>) = entries(&root)?
        .into_iter()
        .map(|(task, needs)| {
            let edge = (task.id.clone(), needs);
            (task, edge)
        })
        .unzip();
    let (graph, problems) = Graph::new(edges);
    let mut seen = std::collections::HashSet::new();
    tasks.retain(|task| seen.insert(task.id.clone()));
    Ok(TaskGraph {
        tasks,
        graph,
        problems,
        is_ours,
    })
}

/// Reads the tasks, each with the ids of its dependencies.
pub(super) fn list(bytes: &[u8]) -> Result<Vec<(Task, Vec<String>)>, String> {
    entries(&root(bytes)?)
}

fn root(bytes: &[u8]) -> Result<Value, String> {
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    let text = String::from_utf8_lossy(bytes);
    serde_json::from_str(&text).map_err(|error| error.to_string())
}

fn entries(root: &Value) -> Result<Vec<(Task, Vec<String>)>, String> {
    let root = root.get("task_graph").unwrap_or(root);
    let Some(list) = root.get("tasks").and_then(Value::as_array) else {
        return Err("it has no array `tasks`".to_owned());
    };
    let mut tasks = Vec::with_capacity(list.len());
    for (position, entry) in list.iter().enumerate() {
        let fields = entry.as_object();
        let id = fields.and_then(|fields| scalar(fields, "id"));
        let (Some(fields), Some(id)) = (fields, id.filter(|id| !id.is_empty())) else {
            return Err(format!("entry {} of `tasks` has no id", position + 1));
        };
        tasks.push((task(id, fields), texts(fields.get("dependencies"))));
    }
    Ok(tasks)
}

fn task(id: String, fields: &Map<String, Value>) -> Task {
    let nested = |group: &str, key: &str| texts(fields.get(group).and_then(|g| g.get(key)));
    let text = |key: &str| scalar(fields, key).unwrap_or_default();
    let mut files = texts(fields.get("files_likely"));
    files.extend(nested("files", "allowed"));
    let mut checks = nested("verification", "commands");
    checks.extend(texts(fields.get("verification_commands")));
    Task {
        id,
        title: text("title"),
        description: text("description"),
        phase: text("phase").parse().unwrap_or(0),
        kind: text("type").to_ascii_lowercase(),
        skipped: text("status").eq_ignore_ascii_case("skipped"),
        acceptance: texts(fields.get("acceptance_criteria")),
        files,
        forbidden: nested("files", "forbidden"),
        checks,
        may_be_empty: fields
            .get("allow_empty")
            .is_some_and(|value| value == true || value.as_str().is_some_and(is_yes)),
    }
}

/// Returns a text, or a number as text.
fn scalar(fields: &Map<String, Value>, key: &str) -> Option<String> {
    let value = fields.get(key)?;
    if let Some(text) = value.as_str() {
        return Some(text.to_owned());
    }
    value.as_i64().map(|number| number.to_string())
}

/// Returns the texts of a list; a single text counts as a list of one.
fn texts(value: Option<&Value>) -> Vec<String> {
    let text = |value: &Value| {
        value
            .as_str()
            .map(str::to_owned)
            .or_else(|| value.as_i64().map(|number| number.to_string()))
    };
    match value {
        Some(Value::Array(items)) => items.iter().filter_map(text).collect(),
        Some(single) => text(single).into_iter().collect(),
        None => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(bytes: &[u8]) -> Result<String, String> {
        parse(bytes).map(|graph| graph.graph.ids().join(" "))
    }

    #[test]
    fn both_shapes_are_read() {
        assert_eq!(
            ids(br#"{"tasks":[{"id":"T1"},{"id":"T2","dependencies":["T1"]}]}"#).unwrap(),
            "T1 T2"
        );
        assert_eq!(
            ids(br#"{"task_graph":{"tasks":[{"id":"T1"}]}}"#).unwrap(),
            "T1"
        );
        assert_eq!(ids(b"\xEF\xBB\xBF{\"tasks\":[]}").unwrap(), "");
    }

    #[test]
    fn explains_invalid_graphs() {
        assert_eq!(ids(b"[]"), Err("it has no array `tasks`".to_owned()));
        assert_eq!(
            ids(br#"{"tasks":[{"title":"x"}]}"#),
            Err("entry 1 of `tasks` has no id".to_owned())
        );
        assert!(ids(b"{\"tasks\":").unwrap_err().contains("EOF"));
    }

    #[test]
    fn reads_the_fields_of_a_task() {
        let graph = parse(
            br#"{"tasks":[{"id":7,"title":"t","phase":"2","type":"Quality","status":"SKIPPED","dependencies":"T1",
                "files":{"allowed":["a"],"forbidden":["b"]},"files_likely":["c"],
                "verification":{"commands":["x"]},"verification_commands":["y"]}]}"#,
        )
        .unwrap();
        let task = &graph.tasks[0];
        assert_eq!(task.id, "7");
        assert_eq!(task.phase, 2);
        assert!(task.skipped && task.is_quality());
        assert_eq!(task.files, ["c", "a"]);
        assert_eq!(task.checks, ["x", "y"]);
        assert_eq!(graph.problems.len(), 1);
    }

    #[test]
    fn only_a_yes_allows_an_attempt_without_changes() {
        for (value, expected) in [
            ("true", true),
            ("\"Yes\"", true),
            ("false", false),
            ("\"no\"", false),
            ("1", false),
            ("null", false),
        ] {
            let text = format!(r#"{{"tasks":[{{"id":"T1","allow_empty":{value}}}]}}"#);
            let graph = parse(text.as_bytes()).unwrap();
            assert_eq!(graph.tasks[0].may_be_empty, expected, "{value}");
        }
    }

    #[test]
    fn recognizes_the_kind_of_a_task_by_its_id() {
        let task = |id: &str| Task {
            id: id.to_owned(),
            ..Task::default()
        };
        assert!(task("Q001").is_quality() && task("H2").is_quality());
        assert!(task("B999").is_bootstrap() && task("D001").is_development());
        assert!(!task("Build").is_bootstrap() && !task("D").is_development());
    }
}
