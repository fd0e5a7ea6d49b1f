//! The protocols: arbitrary files are assessed and planned for, without a panic and with the same result twice.

use camino::Utf8PathBuf;
use rekindle_map_machine::Request;
use rekindle_model::{Before, Ended, Happened, Intent, ProtocolName, Report, Then};
use rekindle_protocol::{Ask, Case, ResumeOption};
use rekindle_registry::find;
use rekindle_world::{Recorder, Recording, World};

use crate::world::{Grown, sections};

/// The rounds of a resume; nothing is written between them, so they only repeat.
const MOST_ROUNDS: usize = 3;

/// Files of runs with event logs.
pub fn agent_memory(data: &[u8]) {
    assess_files("agent-memory", data);
}

/// Files of a Kiln project.
pub fn kiln(data: &[u8]) {
    assess_files("kiln", data);
}

/// Files of a Kiln Teams wave, with the host's task list and worktrees.
pub fn kiln_teams(data: &[u8]) {
    assess_files("kiln-teams", data);
}

/// Files of a MAP branch.
pub fn map(data: &[u8]) {
    assess_files("map", data);
}

/// Features of spec-kit.
pub fn spec_kit(data: &[u8]) {
    assess_files("spec-kit", data);
}

/// Changes of OpenSpec.
pub fn openspec(data: &[u8]) {
    assess_files("openspec", data);
}

/// Specs of Kiro.
pub fn kiro(data: &[u8]) {
    assess_files("kiro", data);
}

/// Check boxes of any file.
pub fn checklist(data: &[u8]) {
    let world = Grown::new(data);
    let protocol = find(ProtocolName::new("checklist"));
    for name in [Some("TODO.md"), Some("docs/plan.md"), None] {
        let ask = Ask {
            name: name.map(str::to_owned),
            all: true,
            ..Ask::default()
        };
        let case = protocol.inspect(&world, &ask);
        resume(case.as_ref(), &world);
        ask_all(case.as_ref(), &world);
    }
    let Some(marks) = protocol.marks() else {
        return;
    };
    for task in ["1", "2", "T001"] {
        let marked = marks.mark(data, task, "a");
        let same = marked.map(|marked| marks.with_marks_of(data, &marked));
        assert!(same.is_none_or(|same| same == data), "only marks change");
    }
}

fn assess_files(protocol: &'static str, data: &[u8]) {
    assess(ProtocolName::new(protocol), &Grown::new(data), data.len());
}

/// Files of Bifrost's features: sessions, checkpoints, specs and plans.
pub fn bifrost(data: &[u8]) {
    let world = Grown::new(data);
    let turn = data.len();
    assess(ProtocolName::new("bifrost"), &world, turn);
    if turn % 8 != 3 {
        return;
    }
    let ask = if turn.is_multiple_of(3) {
        Ask::default().with(ResumeOption::CHECKPOINT, "CP-001")
    } else {
        let ask = Ask::default().with(ResumeOption::FRESH, "");
        ask.with(ResumeOption::VALIDATE, "")
    };
    let case = find(ProtocolName::new("bifrost")).inspect(&world, &ask);
    resume(case.as_ref(), &world);
    // Any result is valid.
    if let Some((_, validator)) = rekindle_registry::validator() {
        drop(validator.workflow(&world, "user-authentication"));
    }
    if let Some((_, migrator)) = rekindle_registry::migrator() {
        drop(migrator.migration(&world, None));
    }
}

/// A command of `rekindle map` on arbitrary files: the first section has the arguments, one per line, and the
/// second one standard input.
pub fn map_commands(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let mut parts = sections(&text);
    let arguments = parts.next().map_or("", |part| part.contents);
    let input = parts.next().map_or("", |part| part.contents);
    let arguments: Vec<String> = arguments.lines().map(str::to_owned).collect();
    let Ok(request) = Request::parse(&arguments) else {
        return;
    };
    let world = Grown::new(data);
    let branch = request.branch(&world);
    if branch.refusal(&world).is_none() {
        let answer = || request.answer(&world, &branch, input.as_bytes());
        assert_eq!(answer(), answer());
    }
}

/// A recording, read by every protocol; or a world, whose recording must give the same assessment.
pub fn recording(data: &[u8]) {
    if data.starts_with(b"== ") {
        return recorded(&Grown::new(data));
    }
    let Ok(world) = Recording::parse(data) else {
        return;
    };
    for protocol in rekindle_registry::ALL {
        if protocol.is_here(&world) {
            assess(protocol.name(), &world, data.len());
        }
    }
}

fn recorded(world: &Grown) {
    for protocol in rekindle_registry::ALL {
        // The others read nothing.
        if !protocol.is_here(world) {
            continue;
        }
        let recorder = Recorder::new(world);
        let ask = Ask::default();
        let case = protocol.inspect(&recorder, &ask);
        let file = recorder.finish();
        let played = Recording::parse(&file).unwrap_or_else(|error| panic!("{error}"));
        let again = protocol.inspect(&played, &ask);
        assert_eq!(case.assessment(), again.assessment(), "played back");
    }
}

/// The plan of a new run, as JSON and as Markdown, and Bifrost's validators on the same text.
pub fn plans(data: &[u8]) {
    for name in ["plan.json", "plan.md"] {
        let path = Utf8PathBuf::from(name);
        let [once, again] = [(); 2].map(|()| {
            let draft = rekindle_registry::starter().1.draft(&path, data);
            let title = draft.title().to_owned();
            (title, draft.n_tasks(), draft.findings().to_vec())
        });
        assert_eq!(once, again);
    }
    if let Ok(text) = std::str::from_utf8(data) {
        let Some((_, validator)) = rekindle_registry::validator() else {
            return;
        };
        drop(validator.spec("spec.md", Some(text)));
        drop(validator.plan("plan.md", Some(text), text.len().is_multiple_of(2)));
    }
}

/// Lines of attempts, and the host's record of a task with what happened in it.
pub fn event_lines(data: &[u8]) {
    let now = jiff::Timestamp::from_second(1_771_254_000).unwrap_or_default();
    let protocols = rekindle_registry::ALL.iter();
    for logs in protocols.filter_map(|found| found.engine()) {
        for line in String::from_utf8_lossy(data).lines() {
            let Some((task, attempt, happened)) = logs.heard(line) else {
                continue;
            };
            // A line that was read can be written and is read as the same.
            let written = logs.record("r", "executor-1", &task, attempt, &happened, now.into());
            if let Some(again) = logs.heard(&written) {
                assert_eq!(
                    again,
                    (task, attempt, happened),
                    "{line:?} became {written:?}"
                );
            }
        }
        let base = "0123456789".repeat(4);
        for happened in [Happened::Claimed, Happened::Started { base }] {
            drop(logs.mirrored(data, &happened, now));
        }
    }
}

/// Assesses a world and plans for it; `turn` selects what else is asked, since everything would take too long.
fn assess(name: ProtocolName, world: &dyn World, turn: usize) {
    let protocol = find(name);
    let _ = protocol.is_here(world);
    let ask = Ask::default();
    let case = protocol.inspect(world, &ask);
    resume(case.as_ref(), world);
    match turn % 4 {
        0 => {
            let again = protocol.inspect(world, &ask);
            assert_eq!(case.assessment(), again.assessment());
            let plans = [&case, &again].map(|case| case.plan(world, &Intent::Open));
            assert_eq!(plans[0], plans[1]);
        }
        1 => {
            let known = ["T001", "P1-T01", "phase-1:exec:wave-1:task-1", "ST-001"];
            drop(protocol.explain(world, &ask, known[turn / 4 % known.len()]));
        }
        2 => {
            let chosen = case.assessment().chosen();
            let name = chosen.map_or_else(|| "a".to_owned(), |chosen| chosen.id.name.clone());
            let named = Ask {
                name: Some(name),
                ..Ask::default()
            };
            resume(protocol.inspect(world, &named).as_ref(), world);
        }
        _ => ask_all(case.as_ref(), world),
    }
}

/// Asks a case for everything but a plan to resume.
fn ask_all(case: &dyn Case, world: &dyn World) {
    drop((case.belongings(), case.refusal()));
    if let Some(list) = case.list() {
        drop((list.tasks(world), list.unmarked(world)));
    }
    if let Some(checkpoints) = case.checkpoints() {
        drop((checkpoints.list(), checkpoints.timeline()));
        drop(checkpoints.archive());
    }
    if let Some(tasks) = case.tasks() {
        for at in 0..tasks.work().map_or(0, |work| work.tasks.len().min(4)) {
            drop(tasks.brief(world, at, 2, Some(Before::Failed("it failed"))));
        }
    }
    let note = "a note".to_owned();
    drop(case.plan(world, &Intent::Checkpoint { note }));
    let report = Report {
        event: "task_started".to_owned(),
        actor: "agent".to_owned(),
        task: Some("T001".to_owned()),
        details: Some("{}".to_owned()),
    };
    drop(case.plan(world, &Intent::Report(report)));
}

/// Plans a resume for a few rounds.
fn resume(case: &dyn Case, world: &dyn World) {
    let mut intent = Intent::Open;
    for round in 0..MOST_ROUNDS {
        let Some(plan) = case.plan(world, &intent) else {
            return;
        };
        let log = plan.log;
        intent = match plan.then {
            Then::Agent(task) => {
                let reason = "it failed".to_owned();
                let ended = if round == 0 {
                    Ended::Succeeded
                } else {
                    Ended::Failed { reason }
                };
                Intent::Settle { log, task, ended }
            }
            Then::Ask(question) => {
                let answer = question.answers.first();
                Intent::Answer {
                    log,
                    question: question.id,
                    is_about_a_blocker: question.is_about_a_blocker,
                    answer: answer.map_or_else(String::new, |(label, _)| (*label).to_owned()),
                }
            }
            Then::Check(checks) => Intent::Checked {
                log,
                checks,
                ended: Ended::Succeeded,
            },
            Then::Again => Intent::GoOn { log },
            Then::Workers => Intent::Finish {
                log,
                tip: "0123456789".repeat(4),
            },
            Then::Stop(_) => return,
        };
    }
}
