//! Tests of the summary of a phase: open work, progress and errors.

use rekindle_model::Intent;

use super::super::scene_tests::{PLACEHOLDER, Scene, TASKS, named};

/// Returns the text before the question.
fn opening(scene: &Scene) -> String {
    let plan = scene.case(&named("f")).plan(&scene.world(), &Intent::Open);
    plan.unwrap().before_asking
}

/// Returns the open work of the phase.
fn left(scene: &Scene) -> String {
    let text = opening(scene);
    let (_, left) = text.split_once("\nLeft in the ").unwrap();
    let (left, _) = left.split_once("\n\n").unwrap();
    left.to_owned()
}

#[test]
fn a_spec_shows_open_clarifications_and_missing_sections() {
    let spec = Scene::at("spec", "Started").file(
        "specs/f/spec.md",
        "## Requirements\r\n- who? [NEEDS CLARIFICATION: which users]\r\n- [NEEDS CLARIFICATION] when\r\n",
    );
    assert_eq!(
        left(&spec),
        "spec phase:\n- Open clarifications (2)\n  - spec.md:2 - who? [NEEDS CLARIFICATION: which users]\n  - spec.md:3 - [NEEDS CLARIFICATION] when\n- Missing sections of spec.md: User Scenarios & Testing, Review & Acceptance Checklist"
    );
    let done = Scene::at("spec", "Complete");
    assert_eq!(left(&done), "spec phase:\n- nothing, by its documents");
}

#[test]
fn a_plan_shows_missing_artifacts_and_open_questions() {
    let plan = "## Technical Context\n## Constitution Check\n## Phase 0: ACE-Enhanced Research & Exploration\n## Phase 1: Design & Contracts\n\
        Storage: [NEEDS CLARIFICATION: which]\n## Open Questions\n- How long?\n- [x] Who?\n1. Where?\n## Next\n- not one\n";
    let scene = Scene::at("plan", "In Progress")
        .file("specs/f/plan.md", plan)
        .file("specs/f/research.md", "x")
        .file("specs/f/contracts/a.yaml", "");
    assert_eq!(
        left(&scene),
        "plan phase:\n- Missing artifacts (1)\n  - data-model.md (where the plan needs it)\n- Open questions (3)\n  - plan.md:5 Storage: [NEEDS CLARIFICATION: which]\n  - How long?\n  - 1. Where?"
    );
    let open = Scene::at("plan", "In Progress").file("specs/f/plan.md", PLACEHOLDER);
    assert!(left(&open).contains("  - plan.md (still a placeholder)\n"));
}

#[test]
fn tasks_show_their_groups_and_dependencies() {
    let tasks = "# Tasks\n**Total Tasks**: 5\n## Phase 1: Setup (Complete)\n### T001: A\n**Status**: ✅ Complete\n### T002: B\n**Dependencies**: None\n\
        ## ✅ Phase 2: Core (T003-T005)\n### T003: C\n**Dependencies**: T001, T002 (class exists)\n### T004: D\n**Dependencies**: T001-T003, T099\n### T005: E\n**Dependencies**: Phase 1 complete\n## Summary\n";
    let at = |phase: &str| Scene::at(phase, "Complete").file("specs/f/tasks.md", tasks);
    assert_eq!(
        left(&at("tasks")),
        "tasks phase:\n- Phase 1: Setup (2 tasks, 1 settled)\n  - T001 A\n  - T002 B\n- Phase 2: Core (3 tasks)\n  - T003 C\n  - T004 D\n  - T005 E"
    );
    assert_eq!(
        left(&at("implement")),
        "implement phase:\n- Open tasks (4)\n  - T002 B: open, waits for nothing\n  - T003 C: open, waits for T002\n  - T004 D: open, waits for T002, T003, T099 (not in tasks.md)\n  - T005 E: open, waits for Phase 1: Setup"
    );
    let boxes = "## Phase 1: Setup\n- [x] **T001**: a\n- [ ] **T002**: b (depends on T001, T003)\n- [ ] T003: c\n";
    let boxes = Scene::new().file("specs/f/tasks.md", boxes);
    assert!(left(&boxes).contains("(depends on T001, T003): open, waits for T003\n"));
}

#[test]
fn a_phase_with_open_tasks_is_not_shown_as_complete() {
    let done = "### T001: A\n**Status**: ✅ Complete\n";
    let lost = format!("**Total Tasks**: 2\n{done}");
    for (phase, status, tasks, wanted) in [
        ("implement", "Complete", TASKS, "implement (In Progress)"),
        (
            "implement",
            "Complete (6 tasks)",
            TASKS,
            "implement (In Progress)",
        ),
        (
            "implement",
            "Phase 2 Complete",
            TASKS,
            "implement (In Progress)",
        ),
        (
            "implement",
            "Complete",
            lost.as_str(),
            "implement (In Progress)",
        ),
        ("implement", "Complete", done, "implement (Complete)"),
        ("tasks", "Complete", TASKS, "tasks (Complete)"),
        ("plan", "In Progress", TASKS, "plan (In Progress)"),
    ] {
        let scene = Scene::at(phase, status).file("specs/f/tasks.md", tasks);
        let text = opening(&scene);
        assert!(text.contains(&format!("- Phase: {wanted}\n")), "{text}");
        let has = text.contains("(Complete)");
        assert_eq!(has, wanted.ends_with("(Complete)"), "{text}");
    }
}

#[test]
fn a_resolved_error_is_not_among_the_issues() {
    let shown = |section: &str| {
        let scene = Scene::new().edit(
            "## 🔄 Next Actions",
            &format!("{section}\n\n## 🔄 Next Actions"),
        );
        opening(&scene)
    };
    for error in [
        "### Current Blockers\n- **Tool Failure (2026-03-13)**: broke\n  - **Recovery**: retry\n  - **Status**: Resolved\n  - a note",
        "### Current Blockers\n- **Tool Failure (2026-03-13)**: broke\n  - **Status**: ✅ RESOLVED (by a retry)",
        "### Blockers & Issues\n- Tool broke\n  - Status: resolved on 2026-03-12",
        "### Known Issues\n- Tool broke - Resolved 2026-03-12",
        "### Known Issues\n- ✅ Resolved: tool broke",
        "### Known Issues\n- [RESOLVED] tool broke",
        "### Known Issues\n- tool broke (resolved)",
        "### Known Issues\n- ~~tool broke~~",
        "## ⚠️ Known Issues & Blockers\n#### Tool broke\n- **Status**: **Resolved**",
        "### Current Blockers\r\n- **Tool Failure (2026-03-13)**: broke (Resolved)",
    ] {
        let text = shown(error);
        assert!(!text.to_lowercase().contains("broke"), "{error}: {text}");
        assert!(!text.contains("Known Issues & Blockers"), "{error}: {text}");
    }
    for issue in [
        "### Known Issues\n- tool broke - not resolved",
        "### Known Issues\n- tool broke (partially resolved)",
        "### Known Issues\n- Resolved in part: tool broke",
    ] {
        assert!(shown(issue).contains("tool broke"), "{issue}");
    }
    let both = shown("### Known Issues\n- a\n  - **Status**: Resolved\n- slow tests");
    assert!(
        both.contains("- Known Issues & Blockers:\n  - slow tests\n"),
        "{both}"
    );
}
