//! Every file of every protocol cut at every byte, and with every byte flipped.
//!
//! The scenes are conformance cases, read into a world in memory. Whatever is broken, reading must not
//! panic, must not plan to overwrite what it could not read, must not find the workflow further than
//! it was, and must name a file of JSON that it had to leave out. A part of all damages every time,
//! all of them in a soak. What kiln-teams reads stands in git too; its files are broken in
//! `src/kiln_teams/torn_tests.rs`.

#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a test reads its cases, and whether all damages are wanted; without a case it fails"
)]

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use camino::{Utf8Path, Utf8PathBuf};
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use rekindle_model::{Action, Assessment, Intent, Plan, ProtocolName, Severity, State, Then};
use rekindle_protocol::Ask;
use rekindle_registry::find;
use rekindle_world::{GitAnswer, GitHeadName, GitQuestion, MemoryWorld};
use serde_json::Value;

const PROJECT: &str = "/DEV/ledger-api";
const HOME: &str = "/HOME";
/// How many cuts of a scene are tried when not all are, and as many flips.
const USUAL: usize = 150;
/// How many lines of a broken file an edit may take away beside those of the whole one: what stands
/// at the break can belong to the place that is edited.
const AT_THE_BREAK: usize = 2;

/// What agents are called; without it they have their usual names.
const NAMES: &str = "kilntwo/names.json";

type Files = BTreeMap<Utf8PathBuf, Vec<u8>>;

/// A case, laid out in memory.
struct Scene {
    protocol: ProtocolName,
    world: MemoryWorld,
    files: Files,
}

/// What a protocol makes of a world.
struct Reading {
    assessment: Assessment,
    plan: Option<Plan>,
}

/// What is done to a file.
#[derive(Debug, Clone, Copy)]
enum Damage {
    CutAt(usize),
    Flipped(usize, u8),
}

impl Damage {
    fn apply(self, bytes: &[u8]) -> Vec<u8> {
        let mut bytes = bytes.to_vec();
        match self {
            Self::CutAt(length) => bytes.truncate(length),
            Self::Flipped(at, mask) => bytes[at] ^= mask,
        }
        bytes
    }
}

#[test]
fn a_broken_run_of_agent_memory_is_never_lost() {
    for case in [
        "04-phase1-awaiting-approval",
        "06-phase2-mid-deps",
        "08-failed-and-blocked",
        "13-phase4-consolidation",
    ] {
        survives(&Scene::read(ProtocolName::new("agent-memory"), case));
    }
}

#[test]
fn a_document_that_was_only_started_advances_no_run() {
    for case in [
        "04-phase1-awaiting-approval",
        "06-phase2-mid-deps",
        "11-phase3-cleanup-pending",
        "13-phase4-consolidation",
    ] {
        let scene = Scene::read(ProtocolName::new("agent-memory"), case);
        let before = Reached::of(scene.protocol, &scene.look(&scene.world).assessment);
        let mut paths = scene.files.keys();
        let graph = paths.find(|path| path.ends_with("task-graph.json"));
        let run = graph.and_then(|graph| graph.parent()).unwrap();
        let documents = [
            "prd.md",
            "plan.md",
            "constitution.md",
            "cleanup-report.md",
            "pr-checklist.md",
            "summary.md",
        ];
        for document in documents.map(|name| run.join(name)) {
            let world = scene.world.clone().file(&document, "");
            let reading = scene.look(&world);
            let after = Reached::of(scene.protocol, &reading.assessment);
            assert!(
                !after.is_beyond(&before),
                "{document}: it went on from {before:?} to {after:?}"
            );
            let next = |reading: &Reading| reading.assessment.workflows[0].next.kind;
            let is_made = scene.files.contains_key(&document);
            let whole = scene.look(&scene.world);
            assert!(is_made || next(&reading) == next(&whole), "{document}");
        }
    }
}

#[test]
fn a_broken_task_list_is_never_further_than_it_was() {
    for (format, cases) in [
        (
            "spec-kit",
            &[
                "02-half-done-parallel",
                "13-feature-json",
                "16-nested-parents-are-work",
            ][..],
        ),
        ("openspec", &["02-half-done-newer-project", "07-parents"]),
        (
            "kiro",
            &["02-stopped-in-progress", "09-waves", "10-cc-sdd-parallel"],
        ),
    ] {
        for case in cases {
            survives(&Scene::read(ProtocolName::new(format), case));
        }
    }
}

#[test]
fn a_broken_memory_of_kiln_is_never_lost() {
    for case in [
        "02-planning-debate",
        "05-execution-mid-phase",
        "11-validation-blocked",
    ] {
        survives(&Scene::read(ProtocolName::new("kiln"), case));
    }
}

#[test]
fn a_broken_session_of_bifrost_is_never_lost() {
    for case in [
        "05-tasks-complete",
        "17-marker-mismatch",
        "27-rollback-full-history",
    ] {
        survives(&Scene::read(ProtocolName::new("bifrost"), case));
    }
}

#[test]
fn a_broken_state_of_map_is_never_lost() {
    for case in [
        "13-mid-monitor",
        "51-waves-parallel-mid",
        "21-clean-retry-required",
        "03-review-plan-unapproved",
    ] {
        survives(&Scene::read(ProtocolName::new("map"), case));
    }
}

#[test]
fn a_broken_journal_of_a_repair_never_lets_a_suspended_run_go_on() {
    let mut scene = Scene::read(ProtocolName::new("map"), "13-mid-monitor");
    let state = Utf8Path::new(PROJECT).join(".map/main/step_state.json");
    let operation = "repair-0123456789abcdef01234567";
    let folder = Utf8Path::new(PROJECT)
        .join(".git/map-repairs")
        .join(operation);
    let mut marked: Value = serde_json::from_slice(&scene.files[&state]).unwrap();
    marked["active_interruption"] =
        serde_json::json!({"operation_id": operation, "contract_digest": "0123abcd"});
    let journal = serde_json::json!({
        "operation_id": operation, "contract_digest": "0123abcd", "branch": "main", "root": PROJECT,
        "stage": "active", "private_checkout": folder.join("checkout"), "frame": {"x": [1, "a"]},
    });
    for (path, value) in [(state, marked), (folder.join("journal.json"), journal)] {
        let bytes = value.to_string().into_bytes();
        scene.world = scene.world.file(&path, &bytes);
        scene.files.insert(path, bytes);
    }
    assert_eq!(scene.look(&scene.world).assessment.state, State::Waiting);
    survives(&scene);
    let path = folder.join("journal.json");
    for at in 0..scene.files[&path].len() {
        let broken = Damage::CutAt(at).apply(&scene.files[&path]);
        let reading = scene.look(&scene.world.clone().file(&path, &broken));
        assert_eq!(reading.assessment.state, State::Waiting, "cut at {at}");
        let plan = reading.plan.unwrap();
        assert!(plan.steps.is_empty(), "cut at {at}");
        assert!(matches!(plan.then, Then::Stop(_)), "cut at {at}");
    }
}

/// Tries all damages of all files of a scene.
fn survives(scene: &Scene) {
    let whole = scene.look(&scene.world);
    let n_bytes: usize = scene.files.values().map(Vec::len).sum();
    let stride = match std::env::var_os("REKINDLE_SOAK") {
        None => n_bytes.div_ceil(USUAL),
        Some(_) => 1,
    };
    let mut n_noticed = 0;
    for (path, bytes) in &scene.files {
        let cuts = (0..bytes.len()).step_by(stride).map(Damage::CutAt);
        // One bit makes another letter, the highest one a byte that is no text.
        let masks = [0x01, 0x80];
        let flips = masks.into_iter().flat_map(|mask| {
            let places = (0..bytes.len()).step_by(stride * masks.len());
            places.map(move |at| Damage::Flipped(at, mask))
        });
        for damage in cuts.chain(flips) {
            let about = format!("{path}, {damage:?}");
            let broken = damage.apply(bytes);
            let world = scene.world.clone().file(path, &broken);
            let reading = catch_unwind(AssertUnwindSafe(|| scene.look(&world)));
            let reading = reading.unwrap_or_else(|_| panic!("{about}: it panicked"));
            let mut files = scene.files.clone();
            files.insert(path.clone(), broken);
            keeps(&files, &reading, &whole, &about);
            stays(scene, damage, bytes, (&reading, &whole), &about);
            if reading.assessment != whole.assessment {
                n_noticed += 1;
                is_named(path, &files[path], &reading, &about);
            }
        }
    }
    let state = whole.assessment.state;
    assert!(n_noticed > 0, "no damage of {state:?} was ever noticed");
}

/// Checks that a workflow is nowhere further than the whole one.
///
/// A file that was cut never moves it on, whatever is said. A byte that became another one does so
/// only with a finding: kiln's plan decides which phases there are, so that a phase whose heading is
/// broken comes last, and is warned of. A digit that became another digit is the exception, since
/// nobody can tell that number from a true one.
fn stays(scene: &Scene, damage: Damage, bytes: &[u8], seen: (&Reading, &Reading), about: &str) {
    let (reading, whole) = seen;
    let before = Reached::of(scene.protocol, &whole.assessment);
    let after = Reached::of(scene.protocol, &reading.assessment);
    let known = &whole.assessment.findings;
    let mut new = reading.assessment.findings.iter();
    let is_told = new.any(|new| new.severity() != Severity::Note && !known.contains(new));
    let may_advance = match damage {
        Damage::CutAt(_) => false,
        Damage::Flipped(at, mask) => {
            let is_number = bytes[at].is_ascii_digit() && (bytes[at] ^ mask).is_ascii_digit();
            is_told || is_number
        }
    };
    assert!(
        may_advance || !after.is_beyond(&before),
        "{about}: it went on from {before:?} to {after:?}"
    );
}

/// How far a workflow is.
#[derive(Debug)]
struct Reached {
    is_complete: bool,
    /// The stage by its place among all, and the phase within it.
    stage: (usize, u32),
    n_done: usize,
}

impl Reached {
    fn of(protocol: ProtocolName, assessment: &Assessment) -> Self {
        let Some(summary) = assessment.workflows.first() else {
            let stage = (0, 0);
            return Self {
                is_complete: false,
                stage,
                n_done: 0,
            };
        };
        let stages: &[&str] = match protocol.as_str() {
            "agent-memory" => &["phase 0", "phase 1", "phase 2", "phase 3", "phase 4"],
            "bifrost" => &["spec", "plan", "tasks", "implement"],
            "kiln" => &[
                "brainstorm",
                "planning",
                "execution",
                "validation",
                "complete",
            ],
            "map" => &[
                "DECOMPOSE",
                "INIT_PLAN",
                "REVIEW_PLAN",
                "CHOOSE_MODE",
                "INIT_STATE",
                "RESEARCH",
                "TEST_WRITER",
                "TEST_FAIL_GATE",
                "ACTOR",
                "MONITOR",
                "COMPLETE",
            ],
            _ => &[],
        };
        let mut known = stages.iter();
        let place = known.position(|stage| summary.stage.starts_with(stage));
        let phase = summary.stage.rsplit(' ').next().unwrap_or_default();
        Self {
            // Nothing but the list says how many tasks there are: one that lost its end is a shorter one.
            is_complete: summary.state == State::Complete && !summary.view.is_list,
            stage: (place.map_or(0, |at| at + 1), phase.parse().unwrap_or(0)),
            n_done: summary.progress.done,
        }
    }

    fn is_beyond(&self, other: &Self) -> bool {
        self.is_complete && !other.is_complete
            || self.stage > other.stage
            || self.n_done > other.n_done
    }
}

/// Checks that a plan takes away nothing of what stands there.
fn keeps(files: &Files, reading: &Reading, whole: &Reading, about: &str) {
    let Some(plan) = &reading.plan else {
        return;
    };
    let n_usual = whole.plan.as_ref().map(n_lost).unwrap_or_default();
    let n_lost = n_lost(plan);
    assert!(
        n_lost <= n_usual + AT_THE_BREAK,
        "{about}: it would lose {n_lost} lines: {plan:#?}"
    );
    for step in &plan.steps {
        match &step.action {
            Action::Edit { path, before, .. } => {
                let found = files.get(&Utf8Path::new(PROJECT).join(path));
                let is_read = found == Some(before);
                assert!(is_read, "{about}: it edits {path} and has not read it");
            }
            Action::Create { path, .. } => {
                let path = Utf8Path::new(PROJECT).join(path);
                assert!(!files.contains_key(&path), "{about}: it makes {path} anew");
            }
            Action::Append { .. }
            | Action::MoveFolder { .. }
            | Action::MoveFile { .. }
            | Action::Land(_)
            | Action::EndWorker { .. }
            | Action::AskHost { .. }
            | Action::Print(_) => {}
        }
    }
}

/// Returns how many lines are gone after the edits of a plan.
fn n_lost(plan: &Plan) -> usize {
    let mut n_lost = 0;
    for step in &plan.steps {
        let Action::Edit { before, after, .. } = &step.action else {
            continue;
        };
        let mut left: BTreeMap<&[u8], usize> = BTreeMap::new();
        for line in after.split(|&byte| byte == b'\n') {
            *left.entry(line).or_default() += 1;
        }
        for line in before.split(|&byte| byte == b'\n') {
            match left.get_mut(line) {
                Some(n) if *n > 0 => *n -= 1,
                Some(_) | None => n_lost += 1,
            }
        }
    }
    n_lost
}

/// Checks that a file of JSON that can not be read any more is named by a finding.
fn is_named(path: &Utf8Path, broken: &[u8], reading: &Reading, about: &str) {
    // Bytes that are no text are read as such, wherever they stand.
    let is_json = |bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes);
        serde_json::from_str::<Value>(&text).is_ok()
    };
    let is_readable = match path.extension() {
        Some(_) if path.ends_with(NAMES) => true,
        Some("json") => is_json(broken),
        Some("jsonl") => broken
            .split(|&byte| byte == b'\n')
            .filter(|line| !line.trim_ascii().is_empty())
            .all(is_json),
        Some(_) | None => true,
    };
    let short = path.strip_prefix(PROJECT).unwrap_or(path);
    let mut findings = reading.assessment.findings.iter();
    let is_named = findings.any(|finding| {
        let place = finding.place.as_ref();
        place.is_some_and(|place| place.path == short || place.path == path)
            || finding.message.contains(short.as_str())
    });
    assert!(
        is_readable || is_named,
        "{about}: no finding names it: {:#?}",
        reading.assessment.findings
    );
}

impl Scene {
    fn read(protocol: ProtocolName, case: &str) -> Self {
        let top = Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/conformance");
        let folder = top.join(protocol.to_string()).join(case);
        let text = std::fs::read_to_string(folder.join("case.json")).unwrap();
        let case: Value = serde_json::from_str(&text).unwrap();
        let time = |key: &str| {
            let text = case[key].as_str()?;
            let local = || text.parse::<DateTime>().ok()?.to_zoned(TimeZone::UTC).ok();
            text.parse().ok().or_else(|| Some(local()?.timestamp()))
        };
        let mut files = Files::new();
        for (name, place) in [("project", PROJECT), ("home", HOME)] {
            collect(&folder.join(name), Utf8Path::new(place), &mut files);
        }
        let mut world = MemoryWorld::new(PROJECT, time("now").unwrap()).with_variable("HOME", HOME);
        for (path, bytes) in &files {
            world = world.file(path, bytes);
            if let Some(at) = time("default_mtime") {
                world = world.written_at(path, at);
            }
        }
        if let Some(branch) = case["map"]["branch"].as_str() {
            let name = GitHeadName {
                top_level: PROJECT.into(),
                git_dir: Some(Utf8Path::new(PROJECT).join(".git")),
                name: Some(branch.to_owned()),
            };
            let answer = GitAnswer::HeadName(name);
            world = world.git_says(PROJECT, GitQuestion::HeadName, answer);
        }
        Self {
            protocol,
            world,
            files,
        }
    }

    fn look(&self, world: &MemoryWorld) -> Reading {
        let case = find(self.protocol).inspect(world, &Ask::default());
        let assessment = case.assessment().clone();
        let plan = case.plan(world, &Intent::Open);
        Reading { assessment, plan }
    }
}

fn collect(folder: &Utf8Path, place: &Utf8Path, files: &mut Files) {
    for entry in folder.read_dir_utf8().into_iter().flatten() {
        let entry = entry.unwrap();
        let place = place.join(entry.file_name());
        if entry.path().is_dir() {
            collect(entry.path(), &place, files);
        } else {
            files.insert(place, std::fs::read(entry.path()).unwrap());
        }
    }
}
