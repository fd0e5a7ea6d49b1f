//! Whole projects as values: the selected feature, its facts and its findings.

use rekindle_model::{Assessment, Fact, Severity, State};
use rekindle_world::{MemoryWorld, Recorder, Recording, World as _};

use super::Bifrost;
use rekindle_protocol::{Ask, Case, Protocol, ResumeOption};

pub(super) const NOW: &str = "2026-03-14T09:00:00Z";
pub(super) const SPEC: &str = "## User Scenarios & Testing\n## Requirements\n- **FR-001**: x\n## Review & Acceptance Checklist\n";
pub(super) const PLAN: &str = "## Technical Context\n## Constitution Check\n## Phase 0: ACE-Enhanced Research & Exploration\n## Phase 1: Design & Contracts\n";
pub(super) const TASKS: &str =
    "**Total Tasks**: 3\n### T001: A\n**Status**: ✅ Complete\n### T002: B\n### T003: C\n";
pub(super) const PLACEHOLDER: &str = "# Implementation Plan: f\n\n**Status**: Pending\n\n---\n\n*This file will be populated by `/plan`.*\n";

/// A feature `f` in the making: a session around one block of checkpoints.
#[derive(Clone)]
pub(super) struct Scene {
    pub(super) session: String,
    pub(super) world: MemoryWorld,
    path: &'static str,
}

/// Returns a session with these checkpoints.
pub(super) fn session(latest: &str, history: &str) -> String {
    format!(
        "# Session Memory\n\n**Last Updated**: 2026-03-13\n\n## 🎯 Active Focus\n\n- **Feature**: f\n- **Phase**: implement\n- **Status**: Idle\n\n\
         ### Session History (Last 5)\n\n1. **2026-03-13** - Implement Phase 1: Completed T001.\n2. **2026-03-12** - Tasks: Created 3 tasks.\n\n\n\
         ### Context Carryover\n\n#### From Plan\n- keep cents\n\n### Recovery Checkpoints\n\n#### Latest Checkpoint\n\n{latest}\n\n#### Checkpoint History\n\n{history}\n\n## 🔄 Next Actions\n\nnone\n"
    )
}

/// Returns the block of a checkpoint that was made an hour ago.
pub(super) fn block(phase: &str, status: &str, next: &str) -> String {
    format!(
        "**CP-003** (2026-03-14 08:00): Work\n  - **Phase**: {phase}\n  - **Status**: {status}\n  - **Artifacts**: spec.md\n  - **Dependencies**: None\n  - **Next**: {next}"
    )
}

const HISTORY: &str = "1. **CP-003** (2026-03-14 08:00): Work\n2. **CP-002** (2026-03-13 10:00): Plan validated, ready for tasks\n3. **CP-001** (2026-03-12 09:00): Session initialized";

impl Scene {
    /// A complete feature in the implement phase.
    pub(super) fn new() -> Self {
        Self::with(&session(
            &block("implement", "Complete", "`/implement f T002`"),
            HISTORY,
        ))
    }

    /// A feature at a checkpoint of this phase and status.
    pub(super) fn at(phase: &str, status: &str) -> Self {
        Self::with(&session(&block(phase, status, "go on"), HISTORY))
    }

    pub(super) fn with(session: &str) -> Self {
        let world = MemoryWorld::new("/w/p", NOW.parse().unwrap())
            .file("specs/f/spec.md", SPEC)
            .file("specs/f/plan.md", PLAN)
            .file("specs/f/tasks.md", TASKS)
            .file(
                ".bifrost/active-workflow",
                "specs/f:implement|spec,plan,tasks\n",
            );
        Self {
            session: session.to_owned(),
            world,
            path: "specs/f/session.md",
        }
    }

    pub(super) fn legacy(mut self) -> Self {
        self.path = ".bifrost/memory/session.md";
        self
    }

    pub(super) fn file(mut self, path: &str, contents: &str) -> Self {
        self.world = self.world.file(path, contents);
        self
    }

    pub(super) fn marker(self, marker: &str) -> Self {
        self.file(".bifrost/active-workflow", marker)
    }

    /// Replaces a part of the session.
    pub(super) fn edit(mut self, from: &str, to: &str) -> Self {
        assert!(self.session.contains(from), "{from}");
        self.session = self.session.replacen(from, to, 1);
        self
    }

    pub(super) fn written_at(mut self, path: &str, at: &str) -> Self {
        self.world = self.world.written_at(path, at.parse().unwrap());
        self
    }

    pub(super) fn world(&self) -> MemoryWorld {
        self.world.clone().file(self.path, &self.session)
    }

    pub(super) fn case(&self, ask: &Ask) -> Box<dyn Case> {
        Bifrost.inspect(&self.world(), ask)
    }

    pub(super) fn assessment(&self, ask: &Ask) -> Assessment {
        self.case(ask).assessment().clone()
    }

    /// Returns the codes of blockers and warnings, as one text.
    pub(super) fn codes(&self, ask: &Ask) -> String {
        codes(&self.assessment(ask))
    }

    pub(super) fn fact(&self, key: &str) -> String {
        fact(&self.assessment(&named("f")), key)
    }
}

pub(super) fn named(name: &str) -> Ask {
    Ask {
        name: Some(name.to_owned()),
        ..Ask::default()
    }
}

pub(super) fn back_to(checkpoint: &str) -> Ask {
    Ask {
        options: vec![(ResumeOption::CHECKPOINT, checkpoint.to_owned())],
        ..named("f")
    }
}

pub(super) fn codes(assessment: &Assessment) -> String {
    let mut codes: Vec<&str> = assessment
        .findings
        .iter()
        .filter(|finding| finding.severity() > Severity::Note)
        .map(|finding| finding.code.as_str())
        .collect();
    codes.sort_unstable();
    codes.join(" ")
}

pub(super) fn fact(assessment: &Assessment, key: &str) -> String {
    let Fact::Object(facts) = &assessment.facts else {
        panic!("{:?}", assessment.facts);
    };
    shown(facts.get(key).unwrap_or(&Fact::Null))
}

fn shown(fact: &Fact) -> String {
    match fact {
        Fact::Null => "null".to_owned(),
        Fact::Bool(value) => value.to_string(),
        Fact::Int(value) => value.to_string(),
        Fact::Text(text) => text.clone(),
        Fact::List(items) => items.iter().map(shown).collect::<Vec<_>>().join(" "),
        Fact::Object(_) => "{}".to_owned(),
    }
}

#[test]
fn selects_the_named_feature_or_the_markers_or_asks() {
    let scene = Scene::new()
        .file("specs/g/spec.md", SPEC)
        .file("specs/README.md", "");
    let scene = scene.file("specs/.hidden/spec.md", SPEC);
    for name in ["f", "specs/f", "specs/f/"] {
        assert_eq!(fact(&scene.assessment(&named(name)), "feature"), "f");
    }
    assert_eq!(fact(&scene.assessment(&Ask::default()), "feature"), "f");
    for blank in ["", "\n", "  \n"] {
        let open = scene.clone().marker(blank).assessment(&Ask::default());
        assert_eq!(fact(&open, "features"), "f g", "{blank:?}");
        assert_eq!((open.state, codes(&open).as_str()), (State::Choice, ""));
        let names: Vec<&str> = open
            .workflows
            .iter()
            .map(|found| found.id.name.as_str())
            .collect();
        assert_eq!(names, ["f", "g"]);
        assert!(open.workflows.iter().all(|found| found.state.is_open()));
    }
}

#[test]
fn names_must_match_and_missing_features_are_named() {
    let scene = Scene::new()
        .file("specs/billing-export/spec.md", SPEC)
        .file("specs/billing-import/spec.md", SPEC);
    let found = |name: &str| scene.assessment(&named(name));
    assert_eq!(fact(&found("billing-e"), "feature"), "billing-e");
    assert_eq!(codes(&found("billing-e")), "NO_SESSION");
    assert_eq!(fact(&found("billing"), "feature"), "billing");
    assert_eq!(codes(&found("billing")), "NO_SESSION");
    assert_eq!(found("billing").state, State::Unknown);
    let hints = |name: &str| {
        let plan = scene.case(&named(name));
        let plan = plan.plan(&scene.world(), &rekindle_model::Intent::Open);
        let rekindle_model::Then::Stop(stop) = plan.unwrap().then else {
            panic!("{name}");
        };
        stop.hints.join(", ")
    };
    assert_eq!(
        hints("billing"),
        "`rekindle resume billing-export`, `rekindle resume billing-import`"
    );
    assert_eq!(hints("billing-export"), "");
    assert_eq!(hints("else"), "");
    assert_eq!(found("billing-export").state, State::Corrupt);
    let gone = scene.clone().marker("specs/gone:plan|spec\n");
    assert_eq!(gone.codes(&Ask::default()), "NO_SESSION");
}

#[test]
fn names_that_leave_specs_are_refused() {
    for name in ["..", "../f", "/etc", "a:b", "specs/../f", ""] {
        let found = Scene::new().assessment(&named(name));
        assert_eq!(codes(&found), "BAD_FEATURE_NAME", "{name:?}");
        assert_eq!((found.id, found.state), (None, State::Unknown));
    }
    let world = MemoryWorld::new("/w/p", NOW.parse().unwrap())
        .file(
            "/elsewhere/session.md",
            session(&block("spec", "Started", "x"), ""),
        )
        .link("specs/f", "/elsewhere");
    let found = Bifrost.inspect(&world, &named("f"));
    assert_eq!(codes(found.assessment()), "BAD_FEATURE_NAME");
    let world = MemoryWorld::new("/w/p", NOW.parse().unwrap())
        .file("/elsewhere.md", session(&block("spec", "Started", "x"), ""))
        .link("specs/f/session.md", "/elsewhere.md");
    let found = Bifrost.inspect(&world, &named("f"));
    assert_eq!(codes(found.assessment()), "CORRUPT_SESSION");
}

#[test]
fn an_empty_project_has_no_features() {
    let world = MemoryWorld::new("/w/p", NOW.parse().unwrap());
    assert!(!Bifrost.is_here(&world));
    let found = Bifrost
        .inspect(&world, &Ask::default())
        .assessment()
        .clone();
    assert_eq!(
        (found.state, codes(&found).as_str()),
        (State::Nothing, "NO_FEATURES")
    );
    assert!(Bifrost.is_here(&Scene::new().world()));
    // Specs alone may be another tool's.
    assert!(!Bifrost.is_here(&world.file("specs/f/spec.md", SPEC)));
}

#[test]
fn uses_a_legacy_session_of_the_same_feature() {
    let scene = Scene::new().legacy();
    assert_eq!(scene.codes(&named("f")), "LEGACY_SESSION");
    assert_eq!(scene.fact("session_path"), ".bifrost/memory/session.md");
    let other = scene.clone().edit("**Feature**: f", "**Feature**: g");
    assert_eq!(other.codes(&named("f")), "FEATURE_MISMATCH LEGACY_SESSION");
    let torn = scene
        .clone()
        .edit("**CP-003** (2026-03-14", "**CP-003** (2026-");
    assert_eq!(torn.codes(&named("f")), "CORRUPT_CHECKPOINT LEGACY_SESSION");
    for halted in [&other, &torn] {
        let plan = halted
            .case(&named("f"))
            .plan(&halted.world(), &rekindle_model::Intent::Open);
        let said = plan.unwrap().before_asking;
        let warning = "⚠️  Using legacy session format. Consider migrating: .bifrost/scripts/migrate-session-memory.sh f\n";
        assert!(said.starts_with(warning), "{said}");
    }
    let nobody = scene.edit("**Feature**: f", "**Feature**:");
    assert_eq!(nobody.codes(&named("f")), "LEGACY_SESSION");
    for (said, wanted) in [
        ("None", "LEGACY_SESSION"),
        ("none", "LEGACY_SESSION"),
        ("{FEATURE_NAME}", "LEGACY_SESSION"),
        ("[feature-name]", "LEGACY_SESSION"),
        ("(To be filled during workflow execution)", "LEGACY_SESSION"),
        ("` `", "LEGACY_SESSION"),
        ("specs/f", "LEGACY_SESSION"),
        ("`specs/f/`", "LEGACY_SESSION"),
        ("`f`", "LEGACY_SESSION"),
        ("`specs/g/`", "FEATURE_MISMATCH LEGACY_SESSION"),
    ] {
        let named_so = nobody
            .clone()
            .edit("**Feature**:", &format!("**Feature**: {said}"));
        assert_eq!(named_so.codes(&named("f")), wanted, "{said}");
    }
    let project = Scene::with("# Project Session\n\n## 🏗️ Architectural Patterns\n").legacy();
    assert_eq!(project.codes(&named("f")), "LEGACY_SESSION NO_CHECKPOINT");
}

#[test]
fn finds_files_by_unique_name() {
    let scene = Scene::new()
        .edit(
            "**Artifacts**: spec.md",
            "**Artifacts**: a.py, b.py, c.py, deep/",
        )
        .file("backend/x/a.py", "")
        .file("one/b.py", "")
        .file("two/b.py", "")
        .file("specs/g/c.py", "")
        .file("one/deep/x.py", "");
    assert_eq!(scene.fact("artifacts_listed"), "3 4");
    assert_eq!(scene.fact("missing"), "b.py");
}

#[test]
fn binary_sessions_are_corrupt() {
    for bytes in [&b"# Session \xff"[..], b"# Session\0\0\0"] {
        let world = Scene::new().world().file("specs/f/session.md", bytes);
        let found = Bifrost.inspect(&world, &named("f"));
        assert_eq!(codes(found.assessment()), "CORRUPT_SESSION");
    }
}

#[test]
fn a_recorded_world_gives_the_same_verdict() {
    let scene = Scene::new()
        .written_at("specs/f/spec.md", "2026-03-14T08:30:00Z")
        .written_at("specs/f/plan.md", "2026-03-14T07:30:00Z");
    let oslo = jiff::tz::TimeZone::get("Europe/Oslo").unwrap();
    let world = scene.world().in_zone(oslo);
    let recorder = Recorder::new(&world);
    let here = Bifrost.inspect(&recorder, &named("f")).assessment().clone();
    // In Oslo it is 10:00, and the checkpoint was made at 08:00.
    assert_eq!(fact(&here, "modified"), "specs/f/plan.md specs/f/spec.md");
    let recording = Recording::parse(&recorder.finish()).unwrap();
    let there = Bifrost
        .inspect(&recording, &named("f"))
        .assessment()
        .clone();
    assert_eq!(here, there);
    assert_eq!(recording.zone().iana_name(), Some("Europe/Oslo"));
}

#[test]
fn the_background_has_the_spec_the_decisions_and_the_errors() {
    let scene = Scene::new().file(
        "specs/f/spec.md",
        "# Spec\n\n**Status**: Draft\n\nInvoices in cents.\n",
    );
    let background = scene.case(&Ask::default()).background(&scene.world());
    assert_eq!(background.intent.as_deref(), Some("Invoices in cents."));
    assert_eq!(background.decisions, ["keep cents"]);
    assert_eq!(background.failures, [""; 0]);
}
