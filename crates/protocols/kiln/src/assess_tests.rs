//! Which phase comes next and why, and where each stage leads.

use rekindle_model::Code;

use super::super::scene_tests::{Scene, fact};

/// Returns the phase, the reason, the route and the inventory's states.
fn shown(scene: &Scene) -> String {
    let facts = scene.facts();
    let inventory = fact(&facts, "inventory");
    let states: Vec<&str> = inventory
        .split(' ')
        .filter_map(|phase| phase.split('/').nth(2))
        .collect();
    format!(
        "{} {} [{}] {}",
        fact(&facts, "phase"),
        fact(&facts, "reason"),
        fact(&facts, "route"),
        states.join(" ")
    )
}

#[test]
fn the_next_phase_is_picked_in_the_prescribed_order() {
    let base = || Scene::execution().phase(1, "Storage", "completed");
    for (scene, wanted) in [
        (
            base(),
            "2 lowest_pending [execution] completed pending pending",
        ),
        (
            base().phase(2, "Engine", "in_progress"),
            "2 in_progress [execution] completed in_progress pending",
        ),
        (
            base().phase(2, "Engine", "failed"),
            "2 failed [execution] completed failed pending",
        ),
        (
            base()
                .phase(3, "Reports", "in_progress")
                .phase(2, "Engine", "failed"),
            "3 in_progress [execution] completed failed in_progress",
        ),
        (
            base().note("Executing phase 2: Engine."),
            "2 handoff_note [execution] completed pending pending",
        ),
        (
            base().note("Phase 3 task 1/2 running"),
            "3 handoff_note [execution] completed pending pending",
        ),
        // Structured lines count before the note, and a note never reopens a phase.
        (
            base()
                .phase(2, "Engine", "failed")
                .note("Phase 2 task 3 failed; fix it"),
            "2 failed [execution] completed failed pending",
        ),
        (
            base().note("Phase 1 task 2 running"),
            "2 lowest_pending [execution] completed pending pending",
        ),
        (
            base()
                .phase(2, "Engine", "completed")
                .phase(3, "Reports", "completed"),
            "- all_done [execution validation] completed completed completed",
        ),
    ] {
        assert_eq!(shown(&scene), wanted, "{}", scene.text());
    }
}

#[test]
fn the_archive_can_only_complete_a_phase() {
    let summary = |scene: Scene, phase: u32| {
        scene.kiln_file(&format!("archive/phase_{phase:02}/phase_summary.md"), "x")
    };
    let scene = summary(
        Scene::execution()
            .phase(1, "Storage", "in_progress")
            .phase(2, "Engine", "failed"),
        1,
    );
    assert_eq!(
        shown(&scene),
        "2 failed [execution] completed failed pending"
    );
    let scene = summary(summary(summary(Scene::execution(), 1), 2), 3);
    assert_eq!(
        shown(&scene),
        "- all_done [execution validation] completed completed completed"
    );
    // A phase that the memory lists as completed is completed without an archive.
    assert_eq!(
        shown(&Scene::execution().phase(1, "S", "completed")),
        "2 lowest_pending [execution] completed pending pending"
    );
}

#[test]
fn odd_phase_lines_of_the_memory_are_understood() {
    // The last of two lines counts, a damaged one is pending, an unplanned one is ignored.
    let scene = Scene::execution()
        .phase(1, "Storage", "failed")
        .phase(1, "Storage", "completed")
        .phase(2, "E", "done")
        .phase(9, "X", "in_progress");
    assert_eq!(
        shown(&scene),
        "2 lowest_pending [execution] completed pending pending"
    );
    let several = Scene::execution()
        .phase(3, "R", "in_progress")
        .phase(2, "E", "in_progress");
    assert_eq!(
        shown(&several),
        "2 in_progress [execution] pending in_progress in_progress"
    );
    assert_eq!(several.codes(), ["SEVERAL_OPEN_PHASES"]);
}

#[test]
fn without_a_plan_nothing_is_marked_done() {
    let unplanned =
        |scene: Scene| scene.memory_file("master-plan.md", "# Master Plan\n_To be populated_\n");
    let scene = unplanned(Scene::execution().phase(2, "Engine", "in_progress").phase(
        1,
        "Storage",
        "completed",
    ));
    assert_eq!(
        shown(&scene),
        "2 in_progress [execution] in_progress completed"
    );
    let done = || {
        Scene::execution()
            .phase(1, "S", "completed")
            .phase(2, "E", "completed")
    };
    let gone = |scene: Scene| scene.memory_file("master-plan.md", "");
    for scene in [unplanned(done()), gone(done()), done().without_plan()] {
        assert_eq!(shown(&scene), "- - [execution] completed completed");
        assert_eq!(scene.codes(), ["NO_PHASES"]);
        assert_eq!(fact(&scene.facts(), "spawn"), "-");
        assert_eq!(fact(&scene.facts(), "validation_branch"), "-");
    }
    let empty = unplanned(Scene::execution());
    assert_eq!(shown(&empty), "- - [execution] ");
    assert_eq!(empty.codes(), ["NO_PHASES"]);
    assert_eq!(fact(&empty.facts(), "spawn"), "-");
}

#[test]
fn a_truncated_plan_is_never_marked_done() {
    let torn = |scene: Scene| scene.memory_file("master-plan.md", "### Phase 1: Storage\nGoal\n");
    let first = || Scene::execution().phase(1, "Storage", "completed");
    let uncounted = || Scene::new("execution", "in_progress").phase(1, "Storage", "completed");
    for (scene, wanted) in [
        (first(), "2 of the 3 phases that MEMORY.md counts"),
        (
            first().phase(2, "Engine", "in_progress"),
            "2 of the 3 phases that MEMORY.md counts, among them phase 2 (in progress)",
        ),
        (
            first().phase(2, "Engine", "pending"),
            "2 of the 3 phases that MEMORY.md counts",
        ),
        (
            uncounted()
                .phase(2, "Engine", "failed")
                .phase(3, "Reports", "in_progress"),
            "phase 2 (failed) and phase 3 (in progress)",
        ),
    ] {
        let scene = torn(scene);
        assert_eq!(shown(&scene), "- - [execution] completed");
        assert_eq!(fact(&scene.facts(), "spawn"), "-");
        let assessment = scene.assessment();
        let mut findings = assessment.findings.iter();
        let missing = findings.find(|finding| finding.code == Code::PhasesMissing);
        assert_eq!(
            missing.map(|finding| finding.message.as_str()),
            Some(format!("master-plan.md lacks {wanted}, so not all phases are done").as_str())
        );
    }
    // Completed phases are not missing, and neither is the phase of a correction.
    for scene in [
        uncounted().phase(2, "Engine", "pending"),
        first()
            .phase(2, "Engine", "completed")
            .phase(3, "Reports", "completed"),
        first()
            .set("correction_cycle", "1")
            .phase(4, "Correction", "in_progress"),
    ] {
        let route = fact(&torn(scene).facts(), "route");
        assert_eq!(route, "execution validation");
    }
}

#[test]
fn validation_branches_by_cycle_and_status() {
    for (status, cycle, branch, spawn) in [
        ("in_progress", "0", "fresh", "Argus/kiln-validator/eyes"),
        ("blocked", "0", "fresh", "Argus/kiln-validator/eyes"),
        ("blocked", "3", "blocked", "-"),
        ("blocked", "1", "blocked", "-"),
        (
            "in_progress",
            "1",
            "correction",
            "Argus/kiln-validator/blink",
        ),
        (
            "in_progress",
            "3",
            "correction",
            "Argus/kiln-validator/blink",
        ),
        ("paused", "2", "fresh", "Argus/kiln-validator/eyes"),
        ("complete", "2", "fresh", "Argus/kiln-validator/eyes"),
    ] {
        let scene = Scene::new("validation", status)
            .set("correction_cycle", cycle)
            .names();
        let facts = scene.facts();
        assert_eq!(
            (fact(&facts, "validation_branch"), fact(&facts, "spawn")),
            (branch.to_owned(), spawn.to_owned()),
            "{status} {cycle}"
        );
    }
}

#[test]
fn an_interrupted_correction_leads_to_validation() {
    let done = |scene: Scene| {
        scene
            .phase(1, "S", "completed")
            .phase(2, "E", "completed")
            .phase(3, "R", "completed")
    };
    let scene = done(Scene::execution().set("correction_cycle", "1"));
    let facts = scene.facts();
    assert_eq!(fact(&facts, "route"), "execution validation");
    assert_eq!(fact(&facts, "validation_branch"), "correction");
}

#[test]
fn planning_without_a_known_sub_stage_is_dual_plan() {
    for (value, wanted) in [
        ("debate", "debate"),
        ("synthesis", "synthesis"),
        ("null", "dual_plan"),
        ("odd", "dual_plan"),
        ("", "dual_plan"),
    ] {
        let facts = Scene::new("planning", "paused")
            .set("planning_sub_stage", value)
            .facts();
        assert_eq!(fact(&facts, "planning_sub_stage"), wanted, "{value}");
    }
}

#[test]
fn quotes_follow_the_phase_until_one_is_logged() {
    let scene = Scene::execution().phase(1, "S", "completed").names();
    assert_eq!(
        fact(&scene.facts(), "spawn"),
        "Maestro/kiln-phase-executor/two"
    );
    let used = scene
        .clone()
        .kiln_file("../.rekindle/logs/kiln/spawns.jsonl", "");
    assert_eq!(
        fact(&used.facts(), "spawn"),
        "Maestro/kiln-phase-executor/two"
    );
    let nameless = Scene::execution();
    assert_eq!(
        fact(&nameless.facts(), "spawn"),
        "Maestro/kiln-phase-executor/"
    );
}

#[test]
fn a_phase_that_waits_for_the_operator_starts_no_agent() {
    let scene = Scene::execution()
        .phase(1, "S", "in_progress")
        .state(1, &["review_rejected] — Phase rejected on round 3"]);
    let facts = scene.facts();
    assert_eq!(fact(&facts, "spawn"), "-");
    assert_eq!(fact(&facts, "restart"), "review/-/4");
}
