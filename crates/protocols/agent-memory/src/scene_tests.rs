//! A run described by a short text, and its facts as a short text.
//!
//! A scene is one thing a line:
//!
//! ```text
//! now 2026-01-20T12:00:00Z        the clock
//! ask 20260119                    the given name
//! run NAME                        another run from here on; the first needs no line
//! docs prd plan                   prd.md and plan.md
//! graph T1 T2<T1,T3 Q1@2 T4!      ids with dependencies, phase and `!` for skipped; contracts too
//! bare T1                         the same without contracts
//! file PATH CONTENT               a file of the run, `\n` is a line end
//! link PATH TARGET | denied PATH | folder PATH
//! log executor/a.jsonl            a log; what follows are its lines:
//!   10:00 task_started T1         an event of 2026-01-19 with a task
//!   10:00 phase_transition 1>2    a transition; `KEY=VALUE` adds a field with text or, if it parses, JSON
//!   - task_started T1             an event without a time
//!   |RAW                          a literal line
//!   ~RAW                          the same without a line end
//! ```

use camino::{Utf8Path, Utf8PathBuf};
use jiff::Timestamp;
use rekindle_model::{Assessment, Fact};
use rekindle_world::{MemoryWorld, World};
use serde_json::{Map, Value, json};

use super::AgentMemory;
use rekindle_protocol::{Ask, Case, Protocol};

/// The name of the run that a scene is about.
pub(super) const RUN: &str = "20260119-0900-orders-api-k2l3";

/// A project in memory, and the question about it.
#[derive(Clone)]
pub(super) struct Scene {
    pub(super) world: MemoryWorld,
    pub(super) ask: Ask,
}

impl Scene {
    pub(super) fn new(text: &str) -> Self {
        let mut builder = Builder::new(text);
        for line in text.lines().map(str::trim_start).filter(|l| !l.is_empty()) {
            builder.take(line);
        }
        builder.finish()
    }

    /// Adds a file to the run.
    pub(super) fn with(mut self, path: &str, contents: impl AsRef<[u8]>) -> Self {
        self.world = self.world.file(in_run(RUN, path), contents);
        self
    }

    pub(super) fn case(&self) -> Box<dyn Case> {
        AgentMemory.inspect(&self.world, &self.ask)
    }

    pub(super) fn assessment(&self) -> Assessment {
        self.case().assessment().clone()
    }

    pub(super) fn facts(&self) -> Fact {
        self.assessment().facts
    }

    /// Returns a part of the run's facts, or of all facts if the path starts with `/`.
    pub(super) fn fact(&self, path: &str) -> Fact {
        part(&self.facts(), path).clone()
    }
}

/// Returns a part of the run's facts, or of all facts if the path starts with `/`.
pub(super) fn part<'f>(facts: &'f Fact, path: &str) -> &'f Fact {
    match path.strip_prefix('/') {
        Some(path) => at(facts, path),
        None => at(at(at(facts, "runs"), RUN), path),
    }
}

/// Compares parts of a run's facts with the expected values: a path and its value a line.
pub(super) fn check(scene: &str, expected: &str) {
    check_scene(&Scene::new(scene), expected);
}

pub(super) fn check_scene(scene: &Scene, expected: &str) {
    let expected: Vec<&str> = expected
        .lines()
        .map(str::trim)
        .filter(|l| !l.is_empty())
        .collect();
    let facts = scene.facts();
    let actual: Vec<String> = expected
        .iter()
        .map(|line| {
            let path = line.split(' ').next().unwrap_or_default();
            format!("{path} {}", render(part(&facts, path)))
        })
        .collect();
    assert_eq!(actual.join("\n"), expected.join("\n"));
}

/// Returns a fact in one line: JSON without quotes.
pub(super) fn render(fact: &Fact) -> String {
    match fact {
        Fact::Null => "null".to_owned(),
        Fact::Bool(value) => value.to_string(),
        Fact::Int(value) => value.to_string(),
        Fact::Text(text) => text.clone(),
        Fact::List(items) => {
            let items: Vec<String> = items.iter().map(render).collect();
            format!("[{}]", items.join(","))
        }
        Fact::Object(entries) => {
            let entry = |(key, value)| format!("{key}:{}", render(value));
            let entries: Vec<String> = entries.iter().map(entry).collect();
            format!("{{{}}}", entries.join(","))
        }
    }
}

/// Returns the value at a path of keys; keys cannot contain dots.
fn at<'f>(fact: &'f Fact, path: &str) -> &'f Fact {
    let mut fact = fact;
    for key in path.split('.') {
        let Fact::Object(entries) = fact else {
            panic!("`{key}` of `{path}`: no object")
        };
        fact = entries
            .get(key)
            .unwrap_or_else(|| panic!("`{key}` of `{path}` is not there"));
    }
    fact
}

pub(super) fn in_run(run: &str, path: &str) -> Utf8PathBuf {
    Utf8Path::new(".agent-memory/runs").join(run).join(path)
}

struct Builder {
    world: Option<MemoryWorld>,
    ask: Ask,
    run: String,
    log: Option<(Utf8PathBuf, String)>,
}

impl Builder {
    fn new(text: &str) -> Self {
        let clock = |line: &str| line.trim().strip_prefix("now ")?.parse().ok();
        let now: Timestamp = text
            .lines()
            .find_map(clock)
            .unwrap_or_else(|| "2026-01-20T12:00:00Z".parse().unwrap());
        Self {
            world: Some(MemoryWorld::new("/project", now)),
            ask: Ask::default(),
            run: RUN.to_owned(),
            log: None,
        }
    }

    fn take(&mut self, line: &str) {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        match word {
            "now" => {}
            "ask" => self.ask.name = Some(rest.to_owned()),
            "run" => rest.clone_into(&mut self.run),
            "docs" => rest
                .split(' ')
                .for_each(|name| self.put(&format!("{name}.md"), b"text\n")),
            "graph" | "bare" => self.graph(rest, word == "graph"),
            "file" => {
                let (path, content) = rest.split_once(' ').unwrap_or((rest, ""));
                self.put(path, content.replace("\\n", "\n").as_bytes());
            }
            "folder" => self.change(|world, run| world.folder(in_run(run, rest))),
            "denied" => self.change(|world, run| world.denied(in_run(run, rest))),
            "link" => {
                let (path, target) = rest.split_once(' ').unwrap();
                self.change(|world, run| world.link(in_run(run, path), target));
            }
            "log" => {
                self.flush();
                self.log = Some((in_run(&self.run, "events").join(rest), String::new()));
            }
            _ => self.log_line(line),
        }
        if !self.run.is_empty() && word != "link" {
            self.change(|world, run| world.folder(in_run(run, "")));
        }
    }

    fn change(&mut self, change: impl FnOnce(MemoryWorld, &str) -> MemoryWorld) {
        self.world = self.world.take().map(|world| change(world, &self.run));
    }

    fn put(&mut self, path: &str, contents: &[u8]) {
        self.change(|world, run| world.file(in_run(run, path), contents));
    }

    fn graph(&mut self, tasks: &str, with_contracts: bool) {
        let mut list = Vec::new();
        for token in tasks.split_whitespace() {
            let (token, skipped) = token
                .strip_suffix('!')
                .map_or((token, false), |t| (t, true));
            let (token, phase) = token
                .split_once('@')
                .map_or((token, None), |(t, p)| (t, Some(p)));
            let (id, dependencies) = token.split_once('<').unwrap_or((token, ""));
            let dependencies: Vec<&str> =
                dependencies.split(',').filter(|d| !d.is_empty()).collect();
            let mut task =
                json!({"id": id, "title": format!("Do {id}"), "dependencies": dependencies});
            if let Some(phase) = phase {
                task["phase"] = phase.parse::<i64>().unwrap().into();
            }
            if skipped {
                task["status"] = "SKIPPED".into();
            }
            if with_contracts {
                self.put(
                    &format!("tasks/{id}.md"),
                    format!("## Task: {id}\n").as_bytes(),
                );
            }
            list.push(task);
        }
        let graph = json!({ "tasks": list }).to_string();
        self.put("task-graph.json", graph.as_bytes());
    }

    fn log_line(&mut self, line: &str) {
        let text = match line.split_at(1) {
            ("|", raw) => format!("{raw}\n"),
            ("~", raw) => raw.to_owned(),
            _ => format!("{}\n", event(line)),
        };
        let (_, log) = self.log.as_mut().expect("an event stands in a log");
        log.push_str(&text);
    }

    fn flush(&mut self) {
        if let Some((path, text)) = self.log.take() {
            self.change(|world, _| world.file(path, text));
        }
    }

    fn finish(mut self) -> Scene {
        self.flush();
        Scene {
            world: self.world.expect("it is only ever taken to be put back"),
            ask: self.ask,
        }
    }
}

/// Returns the JSON of `10:00 task_started T1 KEY=VALUE`.
fn event(line: &str) -> Value {
    let mut words = line.split(' ');
    let time = words.next().unwrap_or_default();
    let mut event = Map::new();
    match time.len() {
        1 => {}
        5 => {
            event.insert("timestamp".into(), format!("2026-01-19T{time}:00Z").into());
        }
        8 => {
            event.insert("timestamp".into(), format!("2026-01-19T{time}Z").into());
        }
        _ => panic!("`{line}` begins with no time"),
    }
    event.insert("event_type".into(), words.next().unwrap_or_default().into());
    for word in words {
        if let Some((key, value)) = word.split_once('=') {
            let value = serde_json::from_str(value).unwrap_or_else(|_| value.into());
            event.insert(key.into(), value);
        } else if let Some((from, to)) = word.split_once('>') {
            if let Ok(from) = from.parse::<i64>() {
                event.insert("from_phase".into(), from.into());
            }
            event.insert("to_phase".into(), to.parse::<i64>().unwrap().into());
        } else {
            event.insert("task_id".into(), word.into());
        }
    }
    Value::Object(event)
}

#[test]
fn a_scene_is_what_its_text_says() {
    let scene = Scene::new(
        "docs prd
         graph T1 T2<T1@2!
         log a/b.jsonl
           10:00 task_started T1 reason=why details={\"n\":1}
           - phase_transition 1>2
           |raw
           ~torn",
    );
    let read = |path: &str| {
        let bytes = scene
            .world
            .read(&Utf8Path::new("/project").join(in_run(RUN, path)), 1000);
        String::from_utf8(bytes.unwrap()).unwrap()
    };
    assert_eq!(read("prd.md"), "text\n");
    assert_eq!(
        read("events/a/b.jsonl"),
        "{\"details\":{\"n\":1},\"event_type\":\"task_started\",\"reason\":\"why\",\"task_id\":\"T1\",\"timestamp\":\"2026-01-19T10:00:00Z\"}\n\
         {\"event_type\":\"phase_transition\",\"from_phase\":1,\"to_phase\":2}\n\
         raw\n\
         torn"
    );
    assert_eq!(
        read("task-graph.json"),
        "{\"tasks\":[{\"dependencies\":[],\"id\":\"T1\",\"title\":\"Do T1\"},{\"dependencies\":[\"T1\"],\"id\":\"T2\",\"phase\":2,\"status\":\"SKIPPED\",\"title\":\"Do T2\"}]}"
    );
}
