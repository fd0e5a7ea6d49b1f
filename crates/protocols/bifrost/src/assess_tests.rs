//! Tests of checkpoints compared with the project, as tables.

use super::super::scene_tests::{
    PLACEHOLDER, SPEC, Scene, TASKS, back_to, block, codes, fact, named, session,
};
use rekindle_protocol::{Ask, ResumeOption};

/// Phase, status, existing files, blockers, the marker.
const MATRIX: [(&str, &str, &str, &str, &str); 17] = [
    ("spec", "Started", "spec", "", "specs/f:spec|"),
    ("spec", "Complete", "spec", "", "specs/f:spec|spec"),
    ("spec", "Started", "", "MISSING_CRITICAL", ""),
    ("plan", "In Progress", "spec plan", "", "specs/f:plan|spec"),
    ("plan", "In Progress", "spec", "MISSING_CRITICAL", ""),
    ("plan", "In Progress", "spec -plan", "", "specs/f:plan|spec"),
    (
        "plan",
        "Complete",
        "spec plan",
        "",
        "specs/f:plan|spec,plan",
    ),
    ("plan", "Complete", "spec -plan", "PLACEHOLDER_ARTIFACT", ""),
    (
        "plan",
        "Complete",
        "spec plan -tasks",
        "",
        "specs/f:plan|spec,plan",
    ),
    (
        "tasks",
        "Complete",
        "spec plan tasks",
        "",
        "specs/f:tasks|spec,plan,tasks",
    ),
    (
        "tasks",
        "In Progress",
        "spec plan tasks",
        "",
        "specs/f:tasks|spec,plan",
    ),
    (
        "tasks",
        "Complete",
        "spec plan -tasks",
        "PLACEHOLDER_ARTIFACT",
        "",
    ),
    ("tasks", "Complete", "spec plan", "MISSING_CRITICAL", ""),
    (
        "implement",
        "Complete",
        "spec plan tasks",
        "",
        "specs/f:implement|spec,plan,tasks",
    ),
    (
        "implement",
        "Complete",
        "spec plan all",
        "",
        "specs/f:implement|spec,plan,tasks,implement",
    ),
    (
        "implement",
        "Complete",
        "plan tasks",
        "MISSING_CRITICAL",
        "",
    ),
    (
        "implement",
        "In Progress",
        "spec -plan",
        "MISSING_CRITICAL PLACEHOLDER_ARTIFACT",
        "",
    ),
];

#[test]
fn each_phase_needs_its_files_and_sets_the_marker() {
    for (phase, status, there, blockers, marker) in MATRIX {
        let world = rekindle_world::MemoryWorld::new(
            "/w/p",
            super::super::scene_tests::NOW.parse().unwrap(),
        );
        let mut scene = Scene::at(phase, status);
        scene.world = world;
        for file in there.split_whitespace() {
            scene = match file {
                "spec" => scene.file("specs/f/spec.md", SPEC),
                "plan" => scene.file("specs/f/plan.md", "# Plan\n"),
                "-plan" => scene.file("specs/f/plan.md", PLACEHOLDER),
                "-tasks" => scene.file("specs/f/tasks.md", PLACEHOLDER),
                "all" => scene.file("specs/f/tasks.md", "### T001: A\n**Status**: ✅ Complete\n"),
                _ => scene.file("specs/f/tasks.md", TASKS),
            };
        }
        let found = scene.codes(&named("f"));
        assert_eq!(found, blockers, "{phase} {status} with {there}");
        if blockers.is_empty() {
            let evidence = super::super::read::evidence(&scene.world(), &named("f"));
            let super::super::read::Evidence::Feature(feature) = evidence else {
                panic!("{evidence:?}");
            };
            let judged = super::assess(*feature);
            assert_eq!(
                judged.marker(),
                format!("{marker}\n"),
                "{phase} {status} with {there}"
            );
        }
    }
}

#[test]
fn warns_about_checkpoints_older_than_7_and_30_days() {
    for (time, code, days) in [
        ("2026-03-14 09:00", "", "0"),
        ("2026-03-07 09:00", "", "7"),
        ("2026-03-07 08:59", "STALE_7D", "7"),
        ("2026-02-12 09:00", "STALE_7D", "30"),
        ("2026-02-12 08:59", "STALE_30D", "30"),
        ("2026-03-14 09:01", "FUTURE_TIMESTAMP", "0"),
        ("2026-09-14 09:01", "FUTURE_TIMESTAMP", "0"),
    ] {
        let scene = Scene::new().edit("(2026-03-14 08:00)", &format!("({time})"));
        assert_eq!(scene.codes(&named("f")), code, "{time}");
        assert_eq!(scene.fact("age_days"), days, "{time}");
    }
}

#[test]
fn an_error_is_active_until_it_is_resolved() {
    let error = "- **Status**: Error Recovery\n- **Error Type**: Validation Failure";
    let blocker = |status: &str| {
        format!(
            "## ⚠️ Known Issues & Blockers\n\n### Current Blockers\n\n- **Tool Failure (2026-03-13)**: x\n  - **Status**: {status}\n\n## 🔄 Next Actions"
        )
    };
    let table = [
        (false, "", ""),
        (true, "", "ACTIVE_ERROR"),
        (true, "In Progress", "ACTIVE_ERROR"),
        (false, "Stopped", "ACTIVE_ERROR"),
        (false, "Unresolved", "ACTIVE_ERROR"),
        (true, "Resolved", ""),
        (false, "✅ Resolved (2026-03-14)", ""),
    ];
    for (is_recovering, status, code) in table {
        let mut scene = Scene::new();
        if is_recovering {
            scene = scene.edit("- **Status**: Idle", error);
        }
        if !status.is_empty() {
            scene = scene.edit("## 🔄 Next Actions", &blocker(status));
        }
        assert_eq!(scene.codes(&named("f")), code, "{is_recovering} {status}");
        // A rollback is a way out.
        let back = scene.codes(&back_to("CP-002"));
        assert_eq!(back, "ROLLBACK", "{is_recovering} {status}");
    }
    let untold = blocker("").replace("  - **Status**: \n", "  - **Recovery**: retry\n");
    let untold = Scene::new().edit("## 🔄 Next Actions", &untold);
    assert_eq!(untold.codes(&named("f")), "ACTIVE_ERROR");
    let prose = Scene::new().edit(
        "## 🔄 Next Actions",
        "### Blockers & Issues\n\n**Known Issues:**\n- slow tests\n\n## 🔄 Next Actions",
    );
    assert_eq!(prose.codes(&named("f")), "");
}

#[test]
fn compares_the_marker_with_the_latest_checkpoint() {
    for (marker, code) in [
        ("specs/f:implement|spec,plan,tasks\n", ""),
        ("specs/f:implement|\n", ""),
        ("", ""),
        ("specs/f:plan|spec\n", "MARKER_MISMATCH"),
        ("specs/g:implement|spec,plan,tasks\n", "MARKER_MISMATCH"),
        ("specs/f:implementation|spec\n", "MARKER_MALFORMED"),
        (
            "specs/f: plan |spec\r\n",
            "MARKER_MALFORMED MARKER_MISMATCH",
        ),
        ("garbage\n", "MARKER_MALFORMED MARKER_MISMATCH"),
        ("../x:plan|\n", "MARKER_MALFORMED MARKER_MISMATCH"),
    ] {
        assert_eq!(
            Scene::new().marker(marker).codes(&named("f")),
            code,
            "{marker:?}"
        );
    }
    let back = Scene::new().codes(&back_to("CP-002"));
    assert_eq!(back, "ROLLBACK");
}

#[test]
fn warns_about_a_context_over_60_percent() {
    let recorded = |percent: &str| {
        Scene::new().edit(
            "  - **Artifacts**",
            &format!("  - **Context**: {percent} utilization\n  - **Artifacts**"),
        )
    };
    assert_eq!(recorded("~60%").codes(&named("f")), "");
    assert_eq!(recorded("61%").codes(&named("f")), "HIGH_CONTEXT");
    assert_eq!(recorded("~61%").fact("context_pct"), "61");
    assert_eq!(recorded("~72.5%").codes(&named("f")), "HIGH_CONTEXT");
    let fresh = Ask {
        options: vec![(ResumeOption::FRESH, String::new())],
        ..named("f")
    };
    assert_eq!(recorded("72%").codes(&fresh), "");
    let big = Scene::new().file("specs/f/notes/big.md", &"x".repeat(130_000));
    assert_eq!(big.codes(&named("f")), "HIGH_CONTEXT");
    assert_eq!(big.fact("context_pct"), "null");
    // It may have grown since it was recorded; the archive is not loaded.
    let table = [
        ("40%", 130_000, "HIGH_CONTEXT"),
        ("60%", 130_000, "HIGH_CONTEXT"),
        ("40%", 110_000, ""),
        ("70%", 130_000, "HIGH_CONTEXT"),
        ("70%", 1, "HIGH_CONTEXT"),
    ];
    for (percent, len, wanted) in table {
        let both = recorded(percent).file("specs/f/notes/big.md", &"x".repeat(len));
        assert_eq!(both.codes(&named("f")), wanted, "{percent} {len}");
        assert_eq!(both.codes(&fresh), "", "{percent} {len}");
    }
    let archived = recorded("40%").file("specs/f/session-archive.md", &"x".repeat(130_000));
    assert_eq!(archived.codes(&named("f")), "");
}

#[test]
fn reports_unusual_sessions() {
    let six: Vec<String> = (1..=6)
        .map(|n| format!("{n}. **CP-00{n}** (2026-03-1{n} 08:00): Phase {n} complete"))
        .collect();
    let six = six.join("\n");
    let latest = block("implement", "Complete", "x");
    for (scene, code) in [
        (
            Scene::new().edit(
                "- **Phase**: implement\n- **Status**",
                "- **Phase**: implementation\n- **Status**",
            ),
            "PHASE_NONCANONICAL",
        ),
        (
            Scene::new().edit(
                "  - **Phase**: implement",
                "  - **Phase**: implement (Task 1 of 3)",
            ),
            "",
        ),
        (
            Scene::new().edit("  - **Phase**: implement", "  - **Phase**: Implementing"),
            "PHASE_NONCANONICAL",
        ),
        (
            Scene::new().edit("  - **Dependencies**: None\n", ""),
            "INCOMPLETE_METADATA",
        ),
        (
            Scene::new().edit("`/implement f T002`", "`/implement f T0"),
            "INCOMPLETE_METADATA",
        ),
        (
            Scene::new().edit("`/implement f T002`", "`/implement f T001`"),
            "NEXT_STALE",
        ),
        (
            Scene::new().edit("`/implement f T002`", "`/implement f T009`"),
            "NEXT_STALE",
        ),
        (
            Scene::new().file("specs/f/tasks.md", "**Total Tasks**: 4\n### T002: B\n"),
            "TASK_COUNT_MISMATCH",
        ),
        (Scene::with(&session(&latest, &six)), "HISTORY_OVERFLOW"),
        (
            Scene::with(&session(
                &latest,
                "1. **CP-001** (2026-03-11 08:00): Phase 1",
            )),
            "LATEST_NOT_IN_HISTORY",
        ),
        (Scene::with(&session(&latest, "")), ""),
    ] {
        assert_eq!(scene.codes(&named("f")), code, "{}", scene.session);
    }
}

#[test]
fn stops_at_unusable_checkpoints() {
    let history = "1. **CP-002** (2026-03-13 10:00): Plan validated\n2. **CP-001** (cut";
    let table = [
        ("None", "(none yet)", None, "NO_CHECKPOINT"),
        ("", history, None, "CORRUPT_CHECKPOINT"),
        ("**CP-003** (2026-03", history, None, "CORRUPT_CHECKPOINT"),
        (
            "**CP-003** ({DATE} {TIME}): Session initialized",
            "",
            None,
            "CORRUPT_CHECKPOINT",
        ),
        ("**CP-00", history, None, "CORRUPT_CHECKPOINT"),
        (
            "**CP-004** (2026-03-1\n\n**CP-003** (2026-03-14 08:00): Plan validated",
            history,
            None,
            "CORRUPT_CHECKPOINT",
        ),
        (
            "**CP-004** (2026-03-1\n\n**CP-003** (2026-03-14 08:00): Plan validated",
            history,
            Some("CP-003"),
            "LATEST_NOT_IN_HISTORY ROLLBACK",
        ),
        (
            "**CP-003** (2026-13-40 10:00): Plan",
            history,
            None,
            "CORRUPT_CHECKPOINT",
        ),
        (
            "**CP-003** (2026-03-14 08:00): Something",
            "",
            None,
            "CORRUPT_CHECKPOINT",
        ),
        (
            "**CP-003** (2026-03",
            history,
            Some("CP-002"),
            "LATEST_NOT_IN_HISTORY ROLLBACK",
        ),
        (
            "**CP-003** (2026-03",
            history,
            Some("CP-001"),
            "CORRUPT_CHECKPOINT",
        ),
        ("**CP-002** (2026-03", history, Some("CP-002"), ""),
        (
            "**CP-003** (2026-03-14 08:00): Plan validated",
            history,
            Some("CP-009"),
            "UNKNOWN_CHECKPOINT",
        ),
    ];
    for (latest, history, wanted, code) in table {
        let scene = Scene::with(&session(latest, history)).marker("");
        let ask = Ask {
            options: wanted
                .iter()
                .map(|name| (ResumeOption::CHECKPOINT, (*name).to_owned()))
                .collect(),
            ..named("f")
        };
        assert_eq!(scene.codes(&ask), code, "{latest:?} {history:?} {wanted:?}");
    }
    let scene = Scene::with(&session("**CP-003** (cut", history));
    let found = scene.assessment(&named("f"));
    assert_eq!(fact(&found, "history_ids"), "CP-002 CP-001");
    assert_eq!(fact(&found, "valid_history"), "CP-002");
}

#[test]
fn a_rollback_lists_later_files() {
    let scene = Scene::new()
        .file("src/new.rs", "")
        .file("node_modules/x.js", "")
        .file(".git/index", "")
        .written_at("src/new.rs", "2026-03-13T10:01:00Z")
        .written_at("node_modules/x.js", "2026-03-14T10:01:00Z")
        .written_at(".git/index", "2026-03-14T10:01:00Z")
        .written_at("specs/f/tasks.md", "2026-03-13T10:00:59Z")
        .written_at("specs/f/session.md", "2026-03-14T08:00:00Z")
        .written_at(".bifrost/active-workflow", "2026-03-14T08:00:00Z");
    let back = scene.assessment(&back_to("cp-2"));
    assert_eq!(fact(&back, "later_work"), "src/new.rs");
    let mut linked = Scene::new();
    for path in [".git", "lib/.git", "src/a.rs", "src-x/a.rs", "src.old/a.rs"] {
        linked = linked
            .file(path, "")
            .written_at(path, "2026-03-14T10:01:00Z");
    }
    let linked = linked.assessment(&back_to("CP-002"));
    assert_eq!(
        fact(&linked, "later_work"),
        "src-x/a.rs src.old/a.rs src/a.rs"
    );
    assert_eq!(fact(&back, "checkpoint"), "CP-002");
    assert_eq!(fact(&back, "phase"), "plan");
    assert_eq!(fact(&back, "status"), "Complete");
    assert_eq!(fact(&back, "inferred"), "true");
    assert_eq!(fact(&back, "next_command"), "/tasks f");
    assert_eq!(codes(&back), "ROLLBACK");
    // A checkpoint with the id of the latest is not a rollback.
    let same = scene.assessment(&back_to("CP-003"));
    assert_eq!(
        (codes(&same).as_str(), fact(&same, "later_work").as_str()),
        ("", "")
    );
}

#[test]
fn validates_only_on_request() {
    let ask = Ask {
        options: vec![(ResumeOption::VALIDATE, String::new())],
        ..named("f")
    };
    assert_eq!(Scene::new().codes(&ask), "");
    let bad_spec = Scene::new().file("specs/f/spec.md", "a React page\n");
    assert_eq!(bad_spec.codes(&ask), "VALIDATION_FAILED");
    assert_eq!(bad_spec.codes(&named("f")), "");
    let bad_plan = Scene::new().file("specs/f/plan.md", "# Plan\n");
    assert_eq!(bad_plan.codes(&ask), "VALIDATION_FAILED");
    // A plan in progress is not validated yet.
    let open = Scene::at("plan", "In Progress")
        .file("specs/f/plan.md", "# Plan\n")
        .marker("");
    assert_eq!(open.codes(&ask), "");
}

#[test]
fn notes_do_not_block() {
    let scene = Scene::new()
        .file(
            ".bifrost/tdd-state.json",
            r#"{"state": "TEST_FAILING", "feature": "f"}"#,
        )
        .edit("**Dependencies**: None", "**Dependencies**: T002 complete")
        .edit("(2026-03-12 09:00)", "(2026-03-01 09:00)");
    let found = scene.assessment(&named("f"));
    assert_eq!(codes(&found), "");
    let mut notes: Vec<&str> = found
        .findings
        .iter()
        .map(|finding| finding.code.as_str())
        .collect();
    notes.sort_unstable();
    assert_eq!(notes, ["DEPENDENCY_OPEN", "SESSION_GAP", "TEST_STATE"]);
}
