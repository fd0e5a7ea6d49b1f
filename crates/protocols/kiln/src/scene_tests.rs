//! Whole projects as values: recognition, facts, and arbitrary file contents.

use proptest::prelude::*;
use rekindle_model::{Action, Assessment, Code, Ended, Fact, Intent, Plan, Severity, State, Then};
use rekindle_world::{MemoryWorld, World as _};

use super::Kiln;
use rekindle_protocol::{Ask, Case, Protocol};

pub(super) const DIR: &str = "/h/.claude/projects/-w-ledger/memory";
pub(super) const PLAN: &str = "# Master Plan\n## Phases\n### Phase 1: Storage\nGoal one\n\n### Phase 2: Engine\nGoal two\n\n### Phase 3: Reports\nGoal three\n## Risks\n- none\n";

/// A project in the making.
#[derive(Clone)]
pub(super) struct Scene {
    runtime: Vec<(&'static str, String)>,
    note: String,
    phases: Vec<String>,
    tail: String,
    world: MemoryWorld,
}

impl Scene {
    pub(super) fn new(stage: &str, status: &str) -> Self {
        let now = "2026-02-20T12:00:00Z".parse().unwrap();
        Self {
            runtime: vec![("stage", stage.to_owned()), ("status", status.to_owned())],
            note: "note".to_owned(),
            phases: Vec::new(),
            tail: String::new(),
            world: MemoryWorld::new("/w/ledger", now).with_variable("HOME", "/h"),
        }
        .memory_file("master-plan.md", PLAN)
        .memory_file("vision.md", "# Vision\nThe vision.\n")
    }

    pub(super) fn execution() -> Self {
        Self::new("execution", "in_progress").set("phase_total", "3")
    }

    pub(super) fn set(mut self, key: &'static str, value: &str) -> Self {
        self.runtime.push((key, value.to_owned()));
        self
    }

    pub(super) fn note(mut self, note: &str) -> Self {
        note.clone_into(&mut self.note);
        self
    }

    pub(super) fn phase(mut self, number: u32, name: &str, status: &str) -> Self {
        self.phases.push(format!(
            "- phase_number: {number} | phase_name: {name} | phase_status: {status}\n"
        ));
        self
    }

    pub(super) fn tail(mut self, text: &str) -> Self {
        self.tail.push_str(text);
        self
    }

    pub(super) fn memory_file(mut self, name: &str, text: &str) -> Self {
        self.world = self.world.file(format!("{DIR}/{name}"), text);
        self
    }

    pub(super) fn without_plan(mut self) -> Self {
        let now = self.world.now();
        self.world = MemoryWorld::new("/w/ledger", now).with_variable("HOME", "/h");
        self
    }

    pub(super) fn kiln_file(mut self, name: &str, text: &str) -> Self {
        self.world = self.world.file(format!("/w/ledger/.kiln/{name}"), text);
        self
    }

    pub(super) fn state(self, phase: u32, events: &[&str]) -> Self {
        let lines = events.iter().fold(String::new(), |lines, event| {
            lines + "- [2026-02-20T07:30:00Z] [Maestro] [" + event + "\n"
        });
        let text = format!(
            "# Phase {phase} State\nstatus: in_progress\nbranch: kiln/phase-{phase}-x\n\n## Events\n{lines}"
        );
        self.kiln_file(&format!("phase_{phase}_state.md"), &text)
    }

    pub(super) fn names(mut self) -> Self {
        let names = r#"{"kiln-phase-executor": {"quotes": ["one", "two", "three"]}, "kiln-validator": {"quotes": ["eyes", "blink"]}}"#;
        self.world = self.world.file("/h/.claude/kilntwo/names.json", names);
        self
    }

    /// Returns MEMORY.md.
    pub(super) fn text(&self) -> String {
        let runtime = self
            .runtime
            .iter()
            .fold(String::new(), |lines, (key, value)| {
                lines + key + ": " + value + "\n"
            });
        format!(
            "# Kiln Project Memory\n\n## Metadata\nproject_path: /w/ledger\nlast_updated: 2026-02-20T08:15:00Z\n\n\
             ## Runtime\n{runtime}\n## Handoff\nhandoff_note: {}\n\n## Phase Statuses\n{}\n\
             ## Resume Log\n- 2026-02-19T09:00:00Z Initialized via /kiln:start\n{}",
            self.note,
            self.phases.concat(),
            self.tail
        )
    }

    pub(super) fn world(&self) -> MemoryWorld {
        self.world
            .clone()
            .file(format!("{DIR}/MEMORY.md"), self.text())
    }

    pub(super) fn case(&self) -> Box<dyn Case> {
        Kiln.inspect(&self.world(), &Ask::default())
    }

    pub(super) fn assessment(&self) -> Assessment {
        self.case().assessment().clone()
    }

    /// Returns the facts of the same project with another MEMORY.md.
    pub(super) fn with_memory(&self, memory: &[u8]) -> Fact {
        let world = self.world.clone().file(format!("{DIR}/MEMORY.md"), memory);
        let case = Kiln.inspect(&world, &Ask::default());
        case.assessment().facts.clone()
    }

    pub(super) fn facts(&self) -> Fact {
        self.assessment().facts
    }

    pub(super) fn plan(&self, intent: &Intent) -> Plan {
        self.case().plan(&self.world(), intent).unwrap()
    }

    /// Returns the codes of the findings, sorted.
    pub(super) fn codes(&self) -> Vec<&'static str> {
        let mut codes: Vec<_> = self
            .assessment()
            .findings
            .iter()
            .map(|finding| finding.code.as_str())
            .collect();
        codes.sort_unstable();
        codes.dedup();
        codes
    }
}

/// Returns one of the facts as short text.
pub(super) fn fact(facts: &Fact, key: &str) -> String {
    let Fact::Object(entries) = facts else {
        return String::new();
    };
    shown(&entries[key])
}

fn shown(fact: &Fact) -> String {
    match fact {
        Fact::Null => "-".to_owned(),
        Fact::Bool(value) => value.to_string(),
        Fact::Int(value) => value.to_string(),
        Fact::Text(text) => text.clone(),
        Fact::List(items) => items.iter().map(shown).collect::<Vec<_>>().join(" "),
        Fact::Object(entries) => entries.values().map(shown).collect::<Vec<_>>().join("/"),
    }
}

/// Returns the text of a plan as it would be on standard output.
pub(super) fn said(plan: &Plan) -> String {
    let printed = plan.steps.iter().filter_map(|step| match &step.action {
        Action::Print(text) => Some(text.as_str()),
        Action::Append { .. }
        | Action::Create { .. }
        | Action::Edit { .. }
        | Action::MoveFolder { .. }
        | Action::MoveFile { .. }
        | Action::Land(_)
        | Action::EndWorker { .. }
        | Action::AskHost { .. } => None,
    });
    format!("{}{}", plan.before_asking, printed.collect::<String>())
}

/// Returns the new text of MEMORY.md, if the plan writes it.
pub(super) fn written(plan: &Plan) -> Option<String> {
    plan.steps.iter().find_map(|step| match &step.action {
        Action::Edit { path, after, .. } => {
            assert_eq!(path.as_str(), format!("{DIR}/MEMORY.md"));
            Some(String::from_utf8(after.clone()).unwrap())
        }
        Action::Append { .. }
        | Action::Create { .. }
        | Action::MoveFolder { .. }
        | Action::MoveFile { .. }
        | Action::Land(_)
        | Action::EndWorker { .. }
        | Action::AskHost { .. }
        | Action::Print(_) => None,
    })
}

#[test]
fn a_project_is_here_if_its_memory_is_kilns() {
    assert!(Kiln.is_here(&Scene::execution().world()));
    let other = Scene::execution().memory_file("MEMORY.md", "# Notes\n");
    assert!(!Kiln.is_here(&other.world.clone()));
}

#[test]
fn a_project_whose_memory_was_lost_is_still_here() {
    let bare = || Scene::execution().without_plan();
    let archived = |scene: Scene| Scene {
        world: scene
            .world
            .folder("/h/.claude/projects/-w-ledger/memory-archive"),
        ..scene
    };
    let begun = |scene: Scene| scene.state(2, &["setup] — x"]);
    for (scene, is_here) in [
        (bare(), false),
        (begun(bare()), true),
        (begun(bare()).memory_file("MEMORY.md", ""), true),
        (begun(bare()).memory_file("MEMORY.md", "# Kiln Pro"), true),
        (archived(begun(bare())), false),
        (archived(begun(bare())).memory_file("MEMORY.md", ""), true),
        // kiln-teams has the same folder, and Claude Code keeps its own notes.
        (
            begun(bare()).kiln_file("STATE.md", "# Project State\n"),
            false,
        ),
        (bare().kiln_file("config.json", "{}"), false),
        (bare().kiln_file("phase_x_state.md", ""), false),
        (bare().memory_file("MEMORY.md", ""), false),
        // With a plan next to it, a truncated memory counts.
        (Scene::execution().memory_file("MEMORY.md", ""), true),
        (Scene::execution().memory_file("MEMORY.md", "# Kiln"), true),
        (
            Scene::execution().memory_file("MEMORY.md", "# Notes\n"),
            false,
        ),
        (Scene::execution(), false),
    ] {
        assert_eq!(Kiln.is_here(&scene.world), is_here, "{:?}", scene.world);
    }
    let lost = begun(bare()).memory_file("MEMORY.md", "");
    let case = Kiln.inspect(&lost.world, &Ask::default());
    let assessment = case.assessment();
    assert_eq!(assessment.findings[0].code, Code::MemoryMissing);
    assert_eq!(assessment.workflows[0].state, State::Corrupt);
}

#[test]
fn a_missing_or_empty_memory_prints_one_text_and_writes_nothing() {
    let scene = Scene::execution();
    let now = "2026-02-20T12:00:00Z".parse().unwrap();
    let homeless = MemoryWorld::new("/w/ledger", now);
    let block = |folder: &str| {
        format!(
            "[kiln:resume] No memory found at {folder}.\nMemory may not have been initialized. Run /kiln:start to begin a new project session.\n"
        )
    };
    for (world, folder) in [
        (scene.world.clone(), DIR),
        (
            scene.world.clone().file(format!("{DIR}/MEMORY.md"), ""),
            DIR,
        ),
        (
            scene
                .world
                .clone()
                .file(format!("{DIR}/MEMORY.md"), "\u{feff} \r\n\t\n"),
            DIR,
        ),
        (homeless, "$HOME/.claude/projects/-w-ledger/memory"),
    ] {
        let case = Kiln.inspect(&world, &Ask::default());
        assert_eq!(fact(&case.assessment().facts, "verdict"), "no_memory");
        let plan = case.plan(&world, &Intent::Open).unwrap();
        assert_eq!(said(&plan), block(folder));
        assert_eq!(plan.steps, []);
    }
}

#[test]
fn an_unreadable_memory_is_corrupt_with_a_reason() {
    let world = Scene::execution().world.denied(format!("{DIR}/MEMORY.md"));
    let case = Kiln.inspect(&world, &Ask::default());
    assert_eq!(fact(&case.assessment().facts, "verdict"), "corrupt");
    assert!(
        case.assessment().findings[0]
            .message
            .contains("permission denied")
    );
    assert_eq!(case.plan(&world, &Intent::Open).unwrap().steps, []);
}

#[test]
fn odd_content_is_reported_and_does_not_stop_the_resume() {
    let scene = Scene::execution()
        .set("debate_mode", "9")
        .set("project_path", "/elsewhere")
        .phase(1, "Storage", "done")
        .phase(7, "Extra", "completed")
        .memory_file("master-plan.md", &format!("{PLAN}### Phase Summary\n"))
        .state(1, &["setup] — x", "deploy_start] — y"]);
    assert_eq!(
        scene.codes(),
        [
            "ODD_MEMORY_FIELD",
            "ODD_PHASE_EVENT",
            "ODD_PHASE_HEADING",
            "ODD_PHASE_LINE",
            "UNPLANNED_PHASE"
        ]
    );
    let blockers = scene
        .assessment()
        .findings
        .iter()
        .filter(|f| f.severity() == Severity::Blocker)
        .count();
    assert_eq!(blockers, 0);
    assert_eq!(fact(&scene.facts(), "phase"), "1");
}

#[test]
fn repeated_and_misplaced_lines_are_reported() {
    let messages = |scene: &Scene| -> Vec<String> {
        let findings = scene.assessment().findings;
        findings
            .into_iter()
            .map(|finding| format!("{} {}", finding.code.as_str(), finding.message))
            .collect()
    };
    let twice = Scene::execution().set("stage", "complete");
    assert_eq!(
        messages(&twice),
        ["ODD_MEMORY_FIELD `stage` is repeated; the first in its section counts"]
    );
    assert_eq!(fact(&twice.facts(), "stage"), "execution");
    let many = Scene::new("validation", "blocked").set("correction_cycle", "7");
    assert_eq!(
        messages(&many),
        ["ODD_MEMORY_FIELD `correction_cycle: 7` is more than kiln's 3; no correction is started"]
    );
    for stray in [
        "phase_number: 1 | phase_name: S | phase_status: completed\n",
        "  - phase_number: 1 | phase_name: S | phase_status: completed\n",
    ] {
        let mut scene = Scene::execution();
        scene.phases.push(stray.to_owned());
        assert_eq!(scene.codes(), ["ODD_PHASE_LINE"], "{stray}");
        assert_eq!(fact(&scene.facts(), "phase"), "1");
    }
    assert_eq!(messages(&Scene::execution()), [""; 0]);
}

#[test]
fn an_unreadable_document_is_absent_and_reported() {
    let mut scene = Scene::new("planning", "paused");
    scene.world = scene.world.denied(format!("{DIR}/vision.md"));
    assert_eq!(scene.codes(), ["UNREADABLE_DOCUMENT"]);
    assert_eq!(
        fact(&scene.facts(), "absent"),
        "PATTERNS.md decisions.md pitfalls.md vision.md"
    );
}

#[test]
fn a_workflow_is_named_after_its_folder_only() {
    let world = Scene::execution().world();
    let asked = |name: &str| {
        let ask = Ask {
            name: Some(name.to_owned()),
            ..Ask::default()
        };
        Kiln.inspect(&world, &ask).assessment().state
    };
    assert_eq!(asked("ledger"), State::Interrupted);
    assert_eq!(asked("led"), State::Interrupted);
    assert_eq!(asked("other"), State::Unknown);
    assert_eq!(asked(""), State::Unknown);
}

#[test]
fn explain_lists_all_sources_of_a_phase() {
    let scene = Scene::execution()
        .phase(1, "Storage", "in_progress")
        .phase(2, "Engine", "in_progress")
        .kiln_file("archive/phase_01/phase_summary.md", "# Phase 1 Summary\n")
        .state(2, &["setup] — x", "plan_start] — y"]);
    let explain = |task: &str| Kiln.explain(&scene.world(), &Ask::default(), task);
    let first = explain("1").unwrap();
    assert_eq!(
        (first.verdict.as_str(), first.task.as_str()),
        ("completed", "phase-1")
    );
    assert!(first.said[0].decided && !first.said[1].decided);
    let second = explain("phase-2").unwrap();
    assert_eq!(second.verdict, "in_progress");
    assert!(second.said[1].decided);
    assert!(
        second.said[3]
            .what
            .contains("last event plan_start; continues with step plan"),
        "{:?}",
        second.said
    );
    assert_eq!(explain("3").unwrap().verdict, "pending");
    assert_eq!(explain("4"), None);
    assert_eq!(explain("x"), None);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// Arbitrary files cause no panic, and a corrupt memory is never written.
    #[test]
    fn no_content_breaks_a_resume_and_corrupt_memory_is_never_written(
        head in "(stage: (execution|validation|complete)\nstatus: (in_progress|blocked|paused)\n)?",
        memory in "((stage|status|phase_number|correction_cycle): (execution|validation|blocked|in_progress|[0-9]{1,12}|\\PC{0,6})\n|## (Phase Statuses|Runtime|Reset Notes)\n|- phase_number: [0-9]{0,11} \\| x\n|\\PC{0,12}\n){0,16}",
        plan in "(### Phase [0-9]{0,11}:? ?\\PC{0,6}\n|## x\n|\\PC{0,12}\n){0,8}",
        spawns in "(\\{\"asked\": \"(validation|correction)\", \"cycle\": [0-9]{1,11}, \"seen\": \"[a-z ]{0,3}\"\\}\n|\\PC{0,8}\n){0,3}",
        report in "(## Verdict: (PASS|FAIL|x)\n|\\PC{0,8}\n){0,3}",
        state in "(## Events\n|- \\[t\\] \\[M\\] \\[(task_start|review_rejected|merge|error|x)\\] — (task|round) [0-9]{0,11}\n|\\PC{0,12}\n){0,8}",
    ) {
        let mut scene = Scene::execution().memory_file("master-plan.md", &plan);
        for phase in 0..4 {
            scene = scene.kiln_file(&format!("phase_{phase}_state.md"), &state);
        }
        scene = scene.kiln_file("validation/report.md", &report);
        let world = scene.world.clone()
            .file(format!("{DIR}/MEMORY.md"), head + &memory)
            .file("/w/ledger/.rekindle/logs/kiln/spawns.jsonl", &spawns);
        let case = Kiln.inspect(&world, &Ask::default());
        let is_ok = fact(&case.assessment().facts, "verdict") == "ok";
        let log = camino::Utf8PathBuf::new();
        let mut intents = vec![Intent::Open, Intent::GoOn { log: log.clone() }];
        // The same holds after every result of an agent and every answer.
        while let Some(intent) = intents.pop() {
            let is_first = matches!(intent, Intent::Open | Intent::GoOn { .. });
            let plan = case.plan(&world, &intent).unwrap();
            let writes = plan.steps.iter().any(|step| !matches!(step.action, Action::Print(_)));
            prop_assert!(is_ok || !writes);
            match plan.then {
                Then::Agent(task) if is_first => {
                    let reason = "x".to_owned();
                    for ended in [Ended::Succeeded, Ended::Failed { reason }] {
                        let (log, task) = (log.clone(), task.clone());
                        intents.push(Intent::Settle { log, task, ended });
                    }
                }
                Then::Ask(question) if is_first => intents.extend(question.answers.iter().map(|(answer, _)| {
                    let (log, answer) = (log.clone(), (*answer).to_owned());
                    Intent::Answer { log, question: question.id, is_about_a_blocker: false, answer }
                })),
                Then::Agent(_)
                | Then::Ask(_)
                | Then::Workers
                | Then::Check(_)
                | Then::Again
                | Then::Stop(_) => {}
            }
        }
    }
}

#[test]
fn the_background_has_the_vision_the_newest_decisions_and_the_failures() {
    let scene = Scene::execution()
        .memory_file(
            "decisions.md",
            "# Decisions\n## Format\nx\n## Decision: SQLite\nwhy\n## No ORM\n",
        )
        .phase(1, "storage", "in_progress")
        .state(1, &["setup] — begun", "task_fail] — no table"]);
    let background = scene.case().background(&scene.world());
    assert_eq!(background.intent.as_deref(), Some("The vision."));
    assert_eq!(background.decisions, ["No ORM", "SQLite"]);
    assert_eq!(background.failures, ["phase 1: no table"]);
}
