//! Tests of the files that a feature requires or names.

use super::super::scene_tests::{PLACEHOLDER, SPEC, Scene, TASKS, named};
use rekindle_protocol::{Ask, ResumeOption};

#[test]
fn unreadable_files_are_not_missing() {
    let path = "specs/f/spec.md";
    let large = "x".repeat(8 * 1024 * 1024 + 1);
    let mut denied = Scene::new();
    denied.world = denied.world.denied(path);
    for scene in [denied, Scene::new().file(path, &large)] {
        let fresh = Ask {
            options: vec![(ResumeOption::FRESH, String::new())],
            ..named("f")
        };
        assert_eq!(scene.codes(&fresh), "UNREADABLE_FILE");
        assert_eq!(scene.fact("missing"), "");
        let plan = scene
            .case(&named("f"))
            .plan(&scene.world(), &rekindle_model::Intent::Open);
        let said = plan.unwrap().before_asking;
        assert!(
            said.contains("Make specs/f/spec.md readable (it "),
            "{said}"
        );
        assert!(!said.contains("git "), "{said}");
    }
}

#[test]
fn offers_git_only_for_committed_files() {
    use rekindle_world::{GitAnswer, GitChange, GitEntry, GitQuestion, GitRepository};
    let mut scene = Scene::new();
    scene.world =
        rekindle_world::MemoryWorld::new("/w/p", super::super::scene_tests::NOW.parse().unwrap())
            .file("specs/f/plan.md", super::super::scene_tests::PLAN)
            .file("specs/f/tasks.md", super::super::scene_tests::TASKS);
    let said = |scene: &Scene| {
        assert_eq!(scene.codes(&named("f")), "MISSING_CRITICAL");
        let plan = scene
            .case(&named("f"))
            .plan(&scene.world(), &rekindle_model::Intent::Open);
        plan.unwrap().before_asking
    };
    assert!(!said(&scene).contains("git "));
    let entry = GitEntry {
        mode: "100644".to_owned(),
        id: "b".repeat(40),
    };
    let gone = |path: &str| GitChange {
        path: path.into(),
        from: None,
        before: Some(entry.clone()),
        after: None,
    };
    let base = "a".repeat(40);
    for (path, is_offered) in [("p/specs/f/spec.md", true), ("specs/f/spec.md", false)] {
        let mut saved = scene.clone();
        let repository = GitRepository {
            top_level: "/w".into(),
            common_dir: "/w/.git".into(),
            head: Some(base.clone()),
            branch: None,
        };
        let changes = GitQuestion::Changes { base: base.clone() };
        saved.world = saved
            .world
            .git_says(
                "",
                GitQuestion::Repository,
                GitAnswer::Repository(repository),
            )
            .git_says("", changes, GitAnswer::Changes(vec![gone(path)]));
        let said = said(&saved);
        let offer = "`git checkout HEAD -- specs/f/spec.md`";
        assert_eq!(said.contains(offer), is_offered, "{said}");
    }
}

#[test]
fn files_of_a_later_minute_are_modified() {
    let written = |at: &str| Scene::new().written_at("specs/f/plan.md", at);
    assert_eq!(written("2026-03-14T08:00:59Z").fact("modified"), "");
    let later = written("2026-03-14T08:01:00Z");
    assert_eq!(later.fact("modified"), "specs/f/plan.md");
    assert_eq!(later.codes(&named("f")), "MODIFIED_AFTER");
    let future = later.edit("(2026-03-14 08:00)", "(2026-03-15 08:00)");
    assert_eq!(future.fact("modified"), "");
    // A folder counts by its newest file, the session never.
    let scene = Scene::new()
        .edit("**Artifacts**: spec.md", "**Artifacts**: contracts/")
        .file("specs/f/contracts/a.yaml", "")
        .file("specs/f/contracts/deep/b.yaml", "")
        .written_at("specs/f/contracts/deep/b.yaml", "2026-03-14T08:30:00Z")
        .written_at("specs/f/session.md", "2026-03-14T08:30:00Z");
    assert_eq!(scene.fact("modified"), "specs/f/contracts");
    for named in [
        "session.md",
        "specs/f/",
        "specs/",
        ".bifrost/",
        ".bifrost/active-workflow",
    ] {
        let own = scene
            .clone()
            .edit(
                "**Artifacts**: contracts/",
                &format!("**Artifacts**: {named}"),
            )
            .written_at("specs/f/contracts/deep/b.yaml", "2026-03-14T07:30:00Z")
            .written_at(".bifrost/active-workflow", "2026-03-14T08:30:00Z");
        assert_eq!(own.fact("artifacts_listed"), "1 1", "{named}");
        assert_eq!(own.fact("modified"), "", "{named}");
    }
    assert_eq!(scene.fact("artifacts_listed"), "1 1");
    assert_eq!(scene.fact("artifacts_verified"), "4 4");
}

#[test]
fn finds_artifacts_and_ignores_prose() {
    let scene = |value: &str| {
        Scene::new()
            .edit("**Artifacts**: spec.md", &format!("**Artifacts**: {value}"))
            .file("backend/tests/a.py", "")
            .file("backend/tests/b.py", "")
            .file("backend/Dockerfile", "")
            .file("backend/cloudbuild.yaml", "")
            .file("specs/g/only-there.md", "")
            .file("specs/g/both.md", "")
            .file("src/both.md", "")
            .file(".bifrost/memory/project-session.md", "")
            .file(".rekindle/worktrees/x/kept.js", "")
            .file("node_modules/x/lost.js", "")
    };
    for (value, listed, missing, code) in [
        ("spec.md", "1 1", "", ""),
        ("specs/f/spec.md (validated), plan.md", "2 2", "", ""),
        ("backend/tests/a.py, b.py", "2 2", "", ""),
        ("backend/Dockerfile (39 lines), CI/CD", "1 1", "", ""),
        ("cloudbuild.yaml", "1 1", "", ""),
        ("All files for f", "0 0", "", ""),
        ("a.py, gone.py", "1 2", "gone.py", "MISSING_ARTIFACT"),
        ("only-there.md, project-session.md", "2 2", "", ""),
        ("both.md", "0 1", "both.md", "MISSING_ARTIFACT"),
        ("kept.js", "0 1", "kept.js", "MISSING_ARTIFACT"),
        ("lost.js", "0 1", "lost.js", "MISSING_ARTIFACT"),
        ("../../etc/passwd, /etc/passwd", "0 0", "", ""),
    ] {
        let scene = scene(value);
        assert_eq!(scene.fact("artifacts_listed"), listed, "{value}");
        assert_eq!(scene.fact("missing"), missing, "{value}");
        assert_eq!(scene.codes(&named("f")), code, "{value}");
    }
}

#[test]
fn pages_of_other_features_do_not_count() {
    let mut scene = Scene::new().edit("**Artifacts**: spec.md", "**Artifacts**: plan.md");
    scene.world =
        rekindle_world::MemoryWorld::new("/w/p", super::super::scene_tests::NOW.parse().unwrap())
            .file("specs/f/spec.md", SPEC)
            .file("specs/f/tasks.md", TASKS)
            .file("specs/g/plan.md", "# Plan\n");
    assert_eq!(scene.codes(&named("f")), "MISSING_CRITICAL");
    assert_eq!(scene.fact("missing"), "specs/f/plan.md");
    assert_eq!(scene.fact("artifacts_listed"), "0 1");
}

#[test]
fn follows_links_to_artifacts() {
    let scene = |value: &str| {
        let mut scene = Scene::new()
            .edit("**Artifacts**: spec.md", &format!("**Artifacts**: {value}"))
            .file("src/a.ts", "")
            .written_at("src/a.ts", "2026-03-14T07:00:00Z")
            .written_at("src", "2026-03-14T08:30:00Z");
        scene.world = scene
            .world
            .link("dang.ts", "/w/p/nowhere")
            .link("b.ts", "/w/p/src/a.ts")
            .link("lib", "/w/p/src");
        scene
    };
    for (value, listed, missing) in [("b.ts, lib/", "2 2", ""), ("dang.ts", "0 1", "dang.ts")] {
        let scene = scene(value);
        assert_eq!(scene.fact("artifacts_listed"), listed, "{value}");
        assert_eq!(scene.fact("missing"), missing, "{value}");
        assert_eq!(scene.fact("modified"), "", "{value}");
    }
    let later = scene("b.ts, lib/").written_at("src/a.ts", "2026-03-14T08:30:00Z");
    assert_eq!(later.fact("modified"), "b.ts lib");
    // A required page that is a broken link is missing.
    let mut scene = Scene::new();
    scene.world =
        rekindle_world::MemoryWorld::new("/w/p", super::super::scene_tests::NOW.parse().unwrap())
            .file("specs/f/plan.md", super::super::scene_tests::PLAN)
            .file("specs/f/tasks.md", TASKS)
            .link("specs/f/spec.md", "/w/p/nowhere.md");
    assert_eq!(scene.codes(&named("f")), "MISSING_CRITICAL");
    assert_eq!(scene.fact("missing"), "specs/f/spec.md");
}

#[test]
fn a_filled_page_is_not_a_placeholder() {
    let line = "*This file will be populated by `/plan`.*";
    let quoted = format!("# Plan\n\n```md\n{line}\n```\n");
    let left_over = format!("{PLACEHOLDER}\n## Technical Context\n\nRust\n");
    let listed = format!("# Tasks\n\n{line}\n\n- [ ] **T001**: x\n");
    for (page, code) in [
        (PLACEHOLDER, "PLACEHOLDER_ARTIFACT"),
        (&PLACEHOLDER.replace("\n\n", "\n"), "PLACEHOLDER_ARTIFACT"),
        (&quoted, ""),
        (&left_over, ""),
        (&listed, ""),
    ] {
        let scene = Scene::new().file("specs/f/plan.md", page);
        assert_eq!(scene.codes(&named("f")), code, "{page}");
    }
}
