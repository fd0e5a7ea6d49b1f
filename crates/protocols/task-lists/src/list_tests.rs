//! Whole projects: where lists are, which one is current, their documents, stages and order.

use rekindle_model::{Intent, Then};
use rekindle_protocol::Protocol as _;
use rekindle_world::{GitAnswer, GitHeadName, GitQuestion, GitTouch, GitTouched, MemoryWorld};

use crate::scene_tests::{codes, inspected, overview, project, with};
use crate::{KIRO, OPENSPEC, SPEC_KIT};

const OPEN: &str = "# Tasks: A\n- [x] T001 a\n- [ ] T002 b\n";
const READY: &str = "- [ ] T001 a\n";
const DONE: &str = "- [x] T001 a\n";
const TEXT: &str = "# A\n\nText.\n";

/// A project with a branch checked out.
fn on_branch(world: MemoryWorld, branch: &str) -> MemoryWorld {
    let head = GitHeadName {
        top_level: "/DEV/app".into(),
        git_dir: None,
        name: Some(branch.to_owned()),
    };
    world.git_says("", GitQuestion::HeadName, GitAnswer::HeadName(head))
}

#[test]
fn spec_kit_is_known_by_its_folder_or_by_numbered_features() {
    let is_here = |world: MemoryWorld| SPEC_KIT.is_here(&world);
    assert!(is_here(project().folder(".specify")));
    assert!(is_here(project().file("specs/001-a/tasks.md", OPEN)));
    assert!(!is_here(project().file("specs/01-a/tasks.md", OPEN)));
    assert!(!is_here(project().file("specs/albums/tasks.md", OPEN)));
    assert!(!is_here(project().file("specs/001-a/notes.md", OPEN)));
    let bifrost = project()
        .folder(".bifrost")
        .file("specs/001-a/tasks.md", OPEN);
    assert!(!is_here(bifrost.clone()));
    assert!(is_here(bifrost.folder(".specify")));
}

#[test]
fn lists_are_shown_current_first_then_by_state() {
    let world = project()
        .file("specs/001-a/tasks.md", DONE)
        .file("specs/002-b/tasks.md", READY)
        .file("specs/003-c/spec.md", TEXT)
        .file("specs/004-d/tasks.md", OPEN)
        .file("specs/005-e/tasks.md", OPEN)
        .file(".specify/specs/002-b/tasks.md", READY);
    insta::assert_snapshot!(overview(&SPEC_KIT, &on_branch(world, "feat/005-other")), @"
    spec-kit:005-e interrupted current Line implement: do T002
    spec-kit:004-d interrupted Line implement: do T002
    spec-kit:002-b ready Line implement: do T001
    spec-kit:002-b~2 ready Line implement: do T001
    spec-kit:003-c drafting Line plan: write `plan`
    spec-kit:001-a complete Counted complete: nothing is left to do
    ");
}

#[test]
fn the_current_feature_is_named_by_a_file_a_branch_or_the_highest_number() {
    let features = || {
        project()
            .file("specs/001-a/tasks.md", OPEN)
            .file("specs/002-b/tasks.md", OPEN)
            .file("docs/c/tasks.md", OPEN)
    };
    let current = |world: MemoryWorld| {
        inspected(&SPEC_KIT, &world, None)
            .assessment()
            .id
            .clone()
            .map(|id| id.name)
    };
    let named = |json: &str| features().file(".specify/feature.json", json);
    assert_eq!(
        current(features()).as_deref(),
        Some("002-b"),
        "the highest number"
    );
    assert_eq!(
        current(on_branch(features(), "x/001-a")).as_deref(),
        Some("001-a")
    );
    assert_eq!(current(on_branch(features(), "main")), None);
    let docs = on_branch(
        named(r#"{"feature_directory": "/DEV/app/docs/c/"}"#),
        "001-a",
    );
    assert_eq!(current(docs).as_deref(), Some("c"));
    let missing = on_branch(named(r#"{"feature_directory": "specs/009"}"#), "001-a");
    assert!(codes(&SPEC_KIT, &missing, "001-a").contains(&"CURRENT_MISSING"));
    assert_eq!(current(missing).as_deref(), Some("001-a"));
    for folder in ["", ".", "/", "../c", "/DEV/other/001-a", "/DEV/app"] {
        let json = format!(r#"{{"feature_directory": "{folder}"}}"#);
        let world = named(&json)
            .file("spec.md", TEXT)
            .file("/DEV/c/spec.md", TEXT);
        assert_eq!(
            codes(&SPEC_KIT, &world, "001-a"),
            ["CURRENT_MISSING", "DOCUMENT_MISSING"],
            "{folder}"
        );
        assert!(
            !overview(&SPEC_KIT, &world).contains("spec-kit:c "),
            "{folder}"
        );
    }
    for folder in ["./docs/c", "docs//c/", "docs/./c"] {
        let json = format!(r#"{{"feature_directory": "{folder}"}}"#);
        assert_eq!(current(named(&json)).as_deref(), Some("c"), "{folder}");
    }
    for json in ["{", "[]", "{}", r#"{"feature_directory": 1}"#] {
        let codes = codes(&SPEC_KIT, &named(json), "001-a");
        assert!(
            codes.contains(&"BAD_FILE") && !codes.contains(&"CURRENT_MISSING"),
            "{json}"
        );
    }
}

#[test]
fn a_template_is_an_empty_document() {
    let stage = |spec: &str| {
        let world = project().file("specs/001-a/spec.md", spec);
        inspected(&SPEC_KIT, &world, None).assessment().workflows[0]
            .stage
            .clone()
    };
    assert_eq!(
        stage("# Feature Specification: [FEATURE NAME]\n\ntext\n"),
        "specify"
    );
    assert_eq!(stage("# A\n\n<!--\ntext\n-->\n---\n"), "specify");
    assert_eq!(stage("# A\n\n> quoted\n"), "plan");
    assert_eq!(stage("# A\n\ntext [NEEDS CLARIFICATION: why]\n"), "clarify");
    assert_eq!(stage("# A\n\n> [NEEDS CLARIFICATION: why]\n"), "clarify");
    assert_eq!(
        stage("# A\n\ntext\n<!--\n[NEEDS CLARIFICATION: why]\n-->\n"),
        "plan"
    );
    assert_eq!(
        stage("# A\n\ntext\n```\n[NEEDS CLARIFICATION: why]\n```\n"),
        "plan"
    );
}

#[test]
fn findings_say_what_is_missing_or_odd() {
    let world = project().file("specs/001-a/tasks.md", OPEN);
    let world = world.file("specs/001-a/checklists/ux.md", "- [ ] looks good\n");
    assert_eq!(
        codes(&SPEC_KIT, &world, "001-a"),
        ["CHECKLIST_OPEN", "DOCUMENT_MISSING"]
    );
    let empty = project().file("specs/001-a/tasks.md", "Only text.\n");
    assert_eq!(codes(&SPEC_KIT, &empty, "001-a"), ["NO_TASKS"]);
    let denied = project().denied("specs/001-a/tasks.md");
    assert_eq!(codes(&SPEC_KIT, &denied, "001-a"), ["UNREADABLE_LIST"]);
    let folder = project()
        .file("specs/001-a/spec.md", TEXT)
        .file("specs/001-a/tasks.md/x", OPEN);
    assert_eq!(codes(&SPEC_KIT, &folder, "001-a"), ["UNREADABLE_LIST"]);
    let linked = project().folder("specs").link("specs/001-a", "/elsewhere");
    let linked = linked.file("/elsewhere/tasks.md", OPEN).folder(".specify");
    assert_eq!(overview(&SPEC_KIT, &linked), "");
    assert_eq!(codes(&SPEC_KIT, &linked, "001-a"), ["OUTSIDE_PROJECT"]);
}

#[test]
fn openspec_knows_its_stages_generations_and_archive() {
    let change = |world, name: &str, files: &[(&str, &str)]| {
        with(world, &format!("openspec/changes/{name}"), files)
    };
    let mut world = project()
        .file("openspec/project.md", TEXT)
        .folder("openspec/changes/empty");
    world = change(
        world,
        "applied",
        &[
            ("tasks.md", "- [x] 1.1 a\n- [ ] 1.2 b\n"),
            ("proposal.md", "# Change: Add it\n\ntext\n"),
        ],
    );
    world = change(
        world,
        "done",
        &[
            ("tasks.md", "- [x] 1.1 a\n"),
            (".openspec.yaml", "schema: x\n"),
        ],
    );
    world = change(
        world,
        "drafted",
        &[
            ("proposal.md", TEXT),
            (".openspec.yaml", "skip_specs: true\n"),
        ],
    );
    world = change(
        world,
        "archive/2026-01-01-old",
        &[("tasks.md", "- [ ] 1.1 a\n")],
    );
    world = change(world, ".hidden", &[("tasks.md", "- [ ] 1.1 a\n")]);
    insta::assert_snapshot!(overview(&OPENSPEC, &on_branch(world.clone(), "feat/drafted")), @"
    openspec:drafted drafting current Line tasks: write `tasks`
    openspec:applied interrupted Line apply: do 1.2
    openspec:done interrupted Line archive: close it with `/opsx:archive done`
    openspec:empty drafting Line proposal: write `proposal`
    openspec:2026-01-01-old complete Counted archived: nothing is left to do
    ");
    assert_eq!(
        codes(&OPENSPEC, &world, "2026-01-01-old"),
        ["ARCHIVED_OPEN", "DOCUMENT_MISSING"]
    );
    assert_eq!(codes(&OPENSPEC, &world, "applied"), [""; 0]);
    let case = inspected(&OPENSPEC, &world, Some("applied"));
    assert_eq!(
        case.assessment().workflows[0].view.title.as_deref(),
        Some("Add it")
    );
}

#[test]
fn kiro_knows_its_documents_stages_and_commands() {
    let spec = |world, name: &str, files: &[(&str, &str)]| {
        with(world, &format!(".kiro/specs/{name}"), files)
    };
    let mut world = spec(project(), "fix", &[("bugfix.md", TEXT)]);
    world = spec(
        world,
        "first",
        &[
            ("design.md", TEXT),
            (".config.kiro", r#"{"workflowType": "design-first"}"#),
        ],
    );
    world = spec(
        world,
        "cc",
        &[
            ("requirements.md", TEXT),
            (
                "spec.json",
                r#"{"approvals": {"requirements": {"generated": false}}}"#,
            ),
        ],
    );
    world = spec(
        world,
        "open",
        &[
            ("tasks.md", "# Implementation Plan - Open\n- [ ] 1. a\n"),
            (
                "spec.json",
                r#"{"approvals": {"tasks": {"approved": false}}}"#,
            ),
        ],
    );
    world = spec(
        world,
        "broken",
        &[(".config.kiro", "{"), ("requirements.md", TEXT)],
    );
    world = spec(
        world,
        "ungenerated",
        &[
            ("tasks.md", "- [x] 1. a\n"),
            (
                "spec.json",
                r#"{"approvals": {"tasks": {"generated": false}}}"#,
            ),
        ],
    );
    world = spec(world, "_template", &[("tasks.md", "- [ ] 1. a\n")]);
    world = spec(world, "empty", &[("notes.md", TEXT)]);
    insta::assert_snapshot!(overview(&KIRO, &world), @"
    kiro:open ready Line implement: do 1
    kiro:broken drafting Line design: write `design`
    kiro:cc drafting Line requirements: write `requirements`
    kiro:first drafting Line requirements: write `requirements`
    kiro:fix drafting Line design: write `design`
    kiro:ungenerated complete Counted complete: nothing is left to do
    ");
    assert_eq!(
        codes(&KIRO, &world, "open"),
        ["DOCUMENT_MISSING", "NOT_APPROVED"]
    );
    assert_eq!(codes(&KIRO, &world, "broken"), ["BAD_FILE"]);
    assert_eq!(codes(&KIRO, &world, "ungenerated"), ["DOCUMENT_MISSING"]);
}

#[test]
fn a_commit_with_trailers_proves_a_task_done() {
    let trailer = |key: &str, value: &str| (key.to_owned(), value.to_owned());
    let touch = GitTouch {
        at: 1_772_000_000,
        subject: String::new(),
        trailers: vec![
            trailer("Rekindle-List", "spec-kit:001-a"),
            trailer("Rekindle-Task", "T002"),
        ],
        paths: vec!["specs/001-a/tasks.md".into()],
    };
    let question = GitQuestion::Touched {
        paths: vec!["specs/001-a".to_owned()],
    };
    let older = GitTouch {
        at: 1_771_000_000,
        subject: String::new(),
        trailers: Vec::new(),
        paths: touch.paths.clone(),
    };
    let touched = GitTouched {
        commits: vec![older, touch],
        uncommitted: Vec::new(),
    };
    let world = project().file("specs/001-a/tasks.md", OPEN);
    let world = world.git_says("", question, GitAnswer::Touched(touched));
    assert!(codes(&SPEC_KIT, &world, "001-a").contains(&"MARK_MISSING"));
    let case = inspected(&SPEC_KIT, &world, Some("001-a"));
    let list = &case.assessment().workflows[0];
    assert_eq!((list.word(), list.progress.done), ("complete", 2));
    assert_eq!(
        list.last_activity.map(jiff::Timestamp::as_second),
        Some(1_772_000_000)
    );
}

#[test]
fn a_stage_without_tasks_is_one_step_with_the_tools_own_command() {
    let world = project().file("specs/001-a/spec.md", TEXT);
    let case = inspected(&SPEC_KIT, &world, Some("001-a"));
    let plan = case.plan(&world, &Intent::Open).unwrap();
    let Then::Agent(task) = plan.then else {
        panic!("{plan:?}");
    };
    assert_eq!(task.prompt, "/speckit.plan\n");
}

#[test]
fn kiro_has_commands_only_where_cc_sdd_keeps_its_state() {
    let prompt = |files: &[(&str, &str)], has_skills: bool| {
        let mut world = with(
            project().file(".kiro/specs/a/design.md", TEXT),
            ".kiro/specs/a",
            files,
        );
        if has_skills {
            world = world.folder(".claude/skills/kiro-impl");
        }
        let case = inspected(&KIRO, &world, Some("a"));
        let plan = case.plan(&world, &Intent::Open).unwrap();
        let Then::Agent(task) = plan.then else {
            panic!("{plan:?}");
        };
        task.prompt.lines().next().unwrap_or_default().to_owned()
    };
    let state = ("spec.json", "{}");
    assert_eq!(prompt(&[state], false), "/kiro:spec-requirements a");
    assert_eq!(prompt(&[state], true), "/kiro-spec-requirements a");
    for has_skills in [true, false] {
        assert!(prompt(&[], has_skills).starts_with("Write "));
        assert!(prompt(&[("spec.json", "[")], has_skills).starts_with("Write "));
    }
}

#[test]
fn a_title_is_a_heading_without_the_words_of_its_template() {
    let title = |spec: &str| {
        let world = project().file("specs/001-a/spec.md", spec);
        let world = world.file("specs/001-a/tasks.md", "# Tasks: Fallback\n");
        inspected(&SPEC_KIT, &world, None).assessment().workflows[0]
            .view
            .title
            .clone()
    };
    for (spec, expected) in [
        ("# Feature Specification: Albums\n", "Albums"),
        ("# Learn C#\n", "Learn C#"),
        ("# Albums ##\n", "Albums"),
        ("## Albums\n", "Fallback"),
        ("# Feature Specification:\n", "Fallback"),
    ] {
        assert_eq!(title(spec).as_deref(), Some(expected), "{spec}");
    }
}
