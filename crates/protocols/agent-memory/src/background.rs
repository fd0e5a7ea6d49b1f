//! What a run is for, what was decided in it and what failed, as its files say.

use rekindle_model::Background;
use rekindle_text::{markdown::Page, opening};
use rekindle_world::World;

use super::assess::RunVerdict;
use super::layout::{self, Artifact};
use super::read;

/// The sections of a requirements document that say what it is for.
const INTENTS: [&str; 5] = ["goal", "objective", "problem", "overview", "summary"];

/// Reads the background of a run.
pub(super) fn background(world: &dyn World, run: &RunVerdict) -> Background {
    let folded = &run.evidence.folded;
    let folder = world.project().join(layout::run_folder(&run.evidence.id));
    let written = |artifact: Artifact| {
        let is_there = run.evidence.artifacts.contains(&artifact);
        let path = folder.join(artifact.file_name());
        is_there.then(|| read::document(world, &path)).flatten()
    };
    // What `rekindle run` writes itself says nothing; the user's plan does.
    let (about, transitions) = if folded.is_of_the_engine {
        (Artifact::Plan, &[][..])
    } else {
        (Artifact::Prd, folded.transitions.as_slice())
    };
    let intent = written(about).as_deref().and_then(intent);
    let transitions = transitions.iter().rev();
    let decisions = transitions.filter_map(|transition| {
        let notes = transition.notes.as_deref()?.trim();
        (!notes.is_empty()).then(|| format!("phase {}: {notes}", transition.to))
    });
    let mut failed: Vec<_> = folded
        .tasks
        .iter()
        .filter(|(_, record)| record.failures > 0)
        .collect();
    failed
        .sort_by_key(|(_, record)| std::cmp::Reverse(record.decided.map(|last| last.mark.order())));
    let failures = failed.into_iter().map(|(task, record)| {
        let reason = record.reason.as_deref().unwrap_or("no reason is recorded");
        // A task that was given up names the count itself.
        match record.failures {
            2.. if !reason.starts_with("it failed") => {
                format!("{task}, {} times: {reason}", record.failures)
            }
            _ => format!("{task}: {reason}"),
        }
    });
    Background {
        intent,
        decisions: decisions.collect(),
        failures: failures.collect(),
    }
}

/// Returns the first line of the section that says what is wanted, else of the document.
fn intent(text: &str) -> Option<String> {
    let page = Page::new(text);
    let mut sections = page.sections();
    let named = sections.find_map(|section| {
        let title = section.title.to_lowercase();
        let is_named = INTENTS.iter().any(|word| title.contains(word));
        opening(section.body).filter(|_| is_named)
    });
    named.or_else(|| opening(text)).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene_tests::Scene;

    fn of(scene: &Scene) -> Background {
        scene.case().background(&scene.world)
    }

    #[test]
    fn reads_goal_approvals_and_failures_of_a_run() {
        let scene = Scene::new(
            "docs plan constitution
             graph T1 T2 T3
             log orchestrator/a.jsonl
               09:00 phase_transition 0>1
               09:30 phase_transition 1>2 notes=approved
             log executor/a.jsonl
               10:00 task_started T1
               10:01 task_failed T1 reason=first
               10:02 task_started T2
               10:03 task_failed T2 reason=red
               10:04 task_failed T1 reason=again",
        );
        let prd = "# PRD: Orders\n**Status:** draft\n\nIn short.\n\n## Goals\n- Serve orders.\n";
        let background = of(&scene.with("prd.md", prd));
        assert_eq!(background.intent.as_deref(), Some("Serve orders."));
        assert_eq!(background.decisions, ["phase 2: approved"]);
        assert_eq!(background.failures, ["T1, 2 times: again", "T2: red"]);
    }

    #[test]
    fn of_a_run_that_rekindle_started_the_users_plan_says_what_it_is_for() {
        let scene = Scene::new(
            "docs prd
             graph T1
             log orchestrator/a.jsonl
               09:30 phase_transition 1>2 notes=started",
        );
        let scene = scene.with("plan.md", "# Orders\n\nServe orders.\n\n- [ ] T1 Do it\n");
        let events =
            "{\"event_type\":\"run_started\",\"details\":{\"initiated_by\":\"rekindle run\"}}\n";
        let background = of(&scene.with("events/orchestrator/b.jsonl", events));
        assert_eq!(background.intent.as_deref(), Some("Serve orders."));
        assert_eq!(background.decisions, [""; 0]);
    }

    #[test]
    fn a_run_whose_files_say_nothing_has_no_background() {
        assert_eq!(of(&Scene::new("graph T1")), Background::default());
    }
}
