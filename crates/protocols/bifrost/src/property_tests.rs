//! Any bytes as session, tasks and marker: no panic, no write to corrupt files, and no other line
//! changes.

use proptest::prelude::*;
use rekindle_model::{Action, Intent};
use rekindle_world::MemoryWorld;

use super::Bifrost;
use super::scene_tests::{NOW, PLAN, SPEC, TASKS, block, codes, named, session};
use super::session::Session;
use rekindle_protocol::capability::CheckpointList;
use rekindle_protocol::{Ask, Protocol, ResumeOption};

/// Lines that mean something, torn and whole, so that random pages are full of near misses.
const PIECES: [&str; 24] = [
    "# Session Memory",
    "**Last Updated**: 2026-03-13",
    "## 🎯 Active Focus",
    "- **Feature**: f",
    "- **Phase**: implement",
    "- **Status**: Error Recovery",
    "- **Error Type**: x",
    "### Session History (Last 5)",
    "1. **2026-03-13** - Plan: x",
    "- **2026-03-13** - x",
    "**2026-03-13** - x",
    "#### Latest Checkpoint",
    "**CP-007** (2026-03-13 15:20): Task T003 complete",
    "**CP-00",
    "  - **Phase**: implement",
    "  - **Artifacts**: a.md, `b`, (c",
    "  - **Next**: `/implement f T001`",
    "    - nested",
    "#### Checkpoint History",
    "1. **CP-006** (2026-03-13 10:02): Plan validated",
    "### Recovery Checkpoints",
    "- **CP-001** (2026-01-01 10:00): Spec",
    "```",
    "### Current Blockers",
];

fn page() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        8 => prop::sample::select(&PIECES[..]).prop_map(str::to_owned),
        1 => "[ -~]{0,20}",
        1 => any::<String>(),
        1 => Just(String::new()),
    ];
    let eol = prop::sample::select(&["\n", "\r\n"][..]);
    (prop::collection::vec(line, 0..30), eol).prop_map(|(lines, eol)| lines.join(eol))
}

fn world(session: &[u8], tasks: &[u8], marker: &[u8]) -> MemoryWorld {
    MemoryWorld::new("/w/p", NOW.parse().unwrap())
        .file("specs/f/session.md", session)
        .file("specs/f/spec.md", SPEC)
        .file("specs/f/plan.md", PLAN)
        .file("specs/f/tasks.md", tasks)
        .file(".bifrost/active-workflow", marker)
}

/// Inspects a world in every way; returns the paths that a resume would write.
fn all(world: &MemoryWorld, ask: &Ask) -> Vec<String> {
    let case = Bifrost.inspect(world, ask);
    case.checkpoints();
    case.checkpoints().and_then(CheckpointList::timeline);
    Bifrost.explain(world, ask, "T001");
    super::migrate::migration(world, None);
    let note = "n".to_owned();
    let checkpoint = case.plan(world, &Intent::Checkpoint { note });
    let go_on = case.plan(world, &Intent::GoOn { log: "".into() });
    let plans = [
        checkpoint,
        go_on,
        case.checkpoints().and_then(CheckpointList::archive),
        case.plan(world, &Intent::Open),
    ];
    let steps = plans.into_iter().flatten().flat_map(|plan| plan.steps);
    let written = steps.filter_map(|step| {
        let (Action::Create { path, .. } | Action::Edit { path, .. }) = step.action else {
            return None;
        };
        Some(path.into_string())
    });
    written.collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]

    #[test]
    fn any_page_is_looked_at_without_a_panic(session in page(), tasks in page(), marker in any::<String>(), cp in "(CP-)?[0-9]{0,4}|[ -~]{0,5}") {
        let ask = Ask { options: vec![(ResumeOption::CHECKPOINT, cp), (ResumeOption::VALIDATE, String::new())], ..named("f") };
        let world = world(session.as_bytes(), tasks.as_bytes(), marker.as_bytes());
        for path in all(&world, &ask).into_iter().chain(all(&world, &named("f"))) {
            let is_own = path.starts_with("specs/f/session") || path.starts_with(".bifrost/");
            prop_assert!(is_own, "{path}");
        }
    }

    #[test]
    fn what_is_no_text_is_never_written(before in page(), torn in 0x80_u8..=0xff, after in page()) {
        let bytes = [before.as_bytes(), &[torn], after.as_bytes()].concat();
        let world = world(&bytes, TASKS.as_bytes(), b"specs/f:plan|spec\n");
        prop_assert_eq!(codes(Bifrost.inspect(&world, &named("f")).assessment()), "CORRUPT_SESSION");
        prop_assert!(all(&world, &named("f")).is_empty());
    }

    #[test]
    fn any_bytes_as_tasks_leave_the_session_readable(tasks in prop::collection::vec(any::<u8>(), 0..200)) {
        let text = session(&block("implement", "Complete", "`/implement f T001`"), "");
        let world = world(text.as_bytes(), &tasks, b"");
        all(&world, &named("f"));
    }

    #[test]
    fn names_lead_nowhere_but_below_specs(name in "[./a:\\\\\n -]{0,8}") {
        let world = world(b"", b"", b"");
        let found = Bifrost.inspect(&world, &named(&name));
        if let Some(id) = &found.assessment().id {
            let parts: Vec<&str> = id.name.split('/').collect();
            prop_assert!(parts.iter().all(|part| !["", ".", ".."].contains(part)), "{}", id.name);
            prop_assert!(!id.name.contains([':', '\n']));
        }
    }

    #[test]
    fn a_resume_keeps_every_line_that_is_not_its_own(text in page()) {
        let Some(before) = Session::parse(text.clone().into_bytes()) else {
            return Ok(());
        };
        let said = ["**2026-03-14** - Resume: x".to_owned()];
        let (after, cut) = before.resumed("2026-03-14", &said);
        let after = String::from_utf8(after.bytes().to_vec()).unwrap();
        for entry in before.history() {
            let is_cut = cut.iter().any(|text| text.contains(&entry.text));
            prop_assert!(after.contains(&entry.text) || is_cut, "{:?} of {text:?}", entry.text);
        }
        // Lines that are neither list entries nor our fields.
        let is_ours = |line: &str| {
            let text = line.trim_start();
            let bare = text.trim_start_matches(|c: char| c.is_ascii_digit() || "-*.) ".contains(c));
            bare.len() < text.len() || text.starts_with("**") || text.is_empty()
        };
        let kept = |text: &str| -> Vec<String> {
            let lines = text.split('\n').map(|line| line.trim_end_matches('\r').to_owned());
            lines.filter(|line| !is_ours(line)).collect()
        };
        let (old, new) = (kept(&text), kept(&after));
        let mut rest = new.iter();
        for line in &old {
            // A wrapped line of an entry that is cut goes with it.
            let is_wrapped = !line.starts_with('#');
            prop_assert!(rest.clone().any(|found| found == line) || is_wrapped, "{line:?} of {text:?} in {after:?}");
            if let Some(at) = rest.clone().position(|found| found == line) {
                rest.nth(at);
            }
        }
    }
}
