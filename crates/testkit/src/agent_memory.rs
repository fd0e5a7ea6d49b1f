//! Runs of the agent-memory protocol, built up file by file, and what their logs tell.

use std::collections::BTreeMap;
use std::io;

use camino::{Utf8Path, Utf8PathBuf};
use serde_json::{Value, json};

use crate::sandbox::Sandbox;

/// A shell script that does every step of a run as it is asked.
pub const DILIGENT_AGENT: &str = include_str!("diligent_agent.sh");

/// A run that is about to be laid out.
#[derive(Debug, Clone)]
pub struct Run {
    id: String,
    documents: BTreeMap<String, String>,
    tasks: Vec<Value>,
    /// One list of lines for each actor.
    logs: BTreeMap<String, Vec<String>>,
}

impl Run {
    /// Returns a run of which nothing but its folder is there.
    pub fn new(id: &str) -> Self {
        Self {
            id: id.to_owned(),
            documents: BTreeMap::new(),
            tasks: Vec::new(),
            logs: BTreeMap::new(),
        }
    }

    /// Returns a run whose plan waits for approval; tasks are added with [`Run::task`].
    pub fn awaiting_approval(id: &str) -> Self {
        Self::new(id)
            .document("prd.md", "# PRD: orders\n")
            .document("plan.md", "# Implementation Plan: orders\n")
            .event(
                "09:05",
                "phase_transition",
                &json!({"from_phase": 0, "to_phase": 1}),
            )
    }

    /// Returns a run whose plan was approved and is being executed.
    pub fn in_execution(id: &str) -> Self {
        Self::awaiting_approval(id)
            .document("constitution.md", "# Constitution\n")
            .event(
                "09:30",
                "phase_transition",
                &json!({"from_phase": 1, "to_phase": 2}),
            )
    }

    /// Returns a run that is over.
    pub fn complete(id: &str) -> Self {
        let over = json!({"total_tasks": 1, "tasks_completed": 1});
        Self::in_execution(id)
            .task("T001", "Add model", &[])
            .task_event("10:00", "task_completed", "T001")
            .event("11:00", "run_completed", &over)
    }

    /// Returns a run that was interrupted: one task is done, one begun, one waits for it.
    pub fn interrupted(id: &str) -> Self {
        Self::in_execution(id)
            .task("T001", "Add model", &[])
            .task("T002", "Add endpoint", &["T001"])
            .task("T003", "Add docs", &["T002"])
            .task_event("09:40", "task_started", "T001")
            .task_event("10:00", "task_completed", "T001")
            .task_event("10:01", "task_started", "T002")
    }

    /// Returns the run's name.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns a path below the run's folder, relative to the project.
    pub fn path(&self, below: &str) -> Utf8PathBuf {
        Utf8Path::new(".agent-memory/runs")
            .join(&self.id)
            .join(below)
    }

    /// Adds a document.
    #[must_use]
    pub fn document(mut self, name: &str, text: &str) -> Self {
        self.documents.insert(name.to_owned(), text.to_owned());
        self
    }

    /// Adds a task to the graph, and its contract.
    #[must_use]
    pub fn task(mut self, id: &str, title: &str, dependencies: &[&str]) -> Self {
        self.tasks
            .push(json!({"id": id, "title": title, "dependencies": dependencies}));
        self.document(&format!("tasks/{id}.md"), &format!("## Task: {id}\n"))
    }

    /// Adds a command that checks the last task's work.
    #[must_use]
    pub fn checked_by(mut self, command: &str) -> Self {
        if let Some(task) = self.tasks.last_mut() {
            task["verification_commands"] = json!([command]);
        }
        self
    }

    /// Adds an event of the orchestrator, at a time of 2026-01-19.
    #[must_use]
    pub fn event(self, time: &str, kind: &str, details: &Value) -> Self {
        let line = json!({
            "event_type": kind,
            "run_id": self.id,
            "timestamp": format!("2026-01-19T{time}:00Z"),
            "actor": "orchestrator",
            "details": details,
        });
        self.line("orchestrator", &line.to_string())
    }

    /// Adds an event of an executor about a task, at a time of 2026-01-19.
    #[must_use]
    pub fn task_event(self, time: &str, kind: &str, task: &str) -> Self {
        let line = json!({
            "event_type": kind,
            "run_id": self.id,
            "timestamp": format!("2026-01-19T{time}:00Z"),
            "actor": "executor",
            "task_id": task,
        });
        self.line("executor", &line.to_string())
    }

    /// Adds a line to the log of an actor, whatever it is.
    #[must_use]
    pub fn line(mut self, actor: &str, line: &str) -> Self {
        let log = self.logs.entry(actor.to_owned()).or_default();
        log.push(line.to_owned());
        self
    }

    /// Writes everything into a project.
    pub fn lay_out(&self, sandbox: &Sandbox) -> io::Result<()> {
        fs_err::create_dir_all(sandbox.path(self.path("")))?;
        for (name, text) in &self.documents {
            sandbox.write(self.path(name), text)?;
        }
        if !self.tasks.is_empty() {
            let graph = json!({"run_id": self.id, "tasks": self.tasks});
            sandbox.write(self.path("task-graph.json"), format!("{graph:#}\n"))?;
        }
        for (actor, lines) in &self.logs {
            let log = format!("events/{actor}/20260119-0900.jsonl");
            sandbox.write(self.path(&log), format!("{}\n", lines.join("\n")))?;
        }
        Ok(())
    }

    /// Returns the events that the orchestrator wrote on 2026-01-20 and later, in order, one a line.
    ///
    /// A line is the type, then the task, then the details that a reader of the log goes by.
    pub fn told(&self, sandbox: &Sandbox) -> io::Result<String> {
        let mut told = String::new();
        for (_, event) in self.events(sandbox)? {
            let is_new = text(&event["timestamp"]) >= "2026-01-20";
            if !is_new || event["actor"] != "orchestrator" {
                continue;
            }
            told.push_str(text(&event["event_type"]));
            if let Some(task) = event["task_id"].as_str() {
                told.push_str(&format!(" {task}"));
            }
            for key in ["attempt", "to_phase", "trigger", "notes", "error", "reason"] {
                let said = &event["details"][key];
                if !said.is_null() {
                    told.push_str(&format!(" {key}={said}"));
                }
            }
            told.push('\n');
        }
        Ok(told)
    }

    /// Returns every event of every log with the log's path, in the order of paths and lines.
    ///
    /// A line that is no JSON is passed over, as by every reader: a death may have cut it short.
    pub fn events(&self, sandbox: &Sandbox) -> io::Result<Vec<(Utf8PathBuf, Value)>> {
        let mut logs = Vec::new();
        for actor in sandbox.path(self.path("events")).read_dir_utf8()? {
            for log in actor?.path().read_dir_utf8()? {
                logs.push(log?.path().to_owned());
            }
        }
        // `x.jsonl` was written before `x-2.jsonl`, which stands before it in plain order.
        logs.sort_by_key(|log| log.with_extension(""));
        let mut events = Vec::new();
        for log in logs {
            for line in fs_err::read_to_string(&log)?.lines() {
                let event = serde_json::from_str(line).ok();
                events.extend(event.map(|event| (log.clone(), event)));
            }
        }
        Ok(events)
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_laid_out_and_its_new_events_are_reported_in_order() {
        let sandbox = Sandbox::new("/bin/sh").unwrap();
        let run = Run::in_execution("r").task("T1", "Title", &["T0"]);
        run.lay_out(&sandbox).unwrap();
        let graph = sandbox.read(run.path("task-graph.json")).unwrap();
        assert!(graph.contains("\"T0\""), "{graph}");
        assert_eq!(run.told(&sandbox).unwrap(), "");
        let event = |kind: &str| {
            json!({"event_type": kind, "timestamp": "2026-01-20T00:00:00Z",
                "actor": "orchestrator", "task_id": "T1", "details": {"attempt": 2, "error": "no"}})
        };
        let log = |name: &str| run.path(&format!("events/orchestrator/{name}.jsonl"));
        sandbox
            .write(log("20260120-2"), event("second").to_string())
            .unwrap();
        sandbox
            .write(log("20260120"), event("first").to_string())
            .unwrap();
        assert_eq!(
            run.told(&sandbox).unwrap(),
            "first T1 attempt=2 error=\"no\"\nsecond T1 attempt=2 error=\"no\"\n"
        );
    }
}
