//! Dies at every named point, at every passing of it, and comes to the same end.

use anyhow::{Context as _, Result, bail, ensure};
use rekindle_app::CRASH_POINTS;
use rekindle_testkit::running::wait_until_gone;
use rekindle_testkit::sandbox::{LIMIT, Ran};
use serde_json::Value;

use crate::project::Project;

/// The binary dies as by a fault; no image of it is wanted.
const WITHOUT_CORE: [&str; 4] = ["sh", "-c", r#"ulimit -c 0 && exec "$@""#, "sh"];
const ABORTED: i32 = 6;
/// More often than any point is passed in the story.
const MOST_PASSINGS: u32 = 60;

#[test]
fn a_death_at_any_point_changes_nothing_of_the_end() -> Result<()> {
    let calm = story()?;
    let ran = resume(&calm, "12:00", None)?;
    ensure!(ran.code() == Some(0), "{ran}");
    let points = CRASH_POINTS.iter().copied();
    for point in points.chain(["edit-before-replace", "edit-after-replace"]) {
        dies_at_every_passing(point, &lasting(&calm.memory()?))?;
    }
    Ok(())
}

#[test]
fn a_death_while_the_memory_is_archived_is_made_good_by_the_next_resume() -> Result<()> {
    for point in [
        "after-intent",
        "move-before-rename",
        "move-after-rename",
        "after-effect",
        "after-done",
        "after-end",
    ] {
        let project = Project::new("stage: complete\nstatus: complete\n", "")?;
        let before = project.memory()?;
        let typed = project.alone(&[]).through(&WITHOUT_CORE);
        let first = typed
            .with("REKINDLE_CRASH_AT", point)
            .answering("4\n")
            .run()?;
        ensure!(first.signal() == Some(ABORTED), "{point}: {first}");
        let second = project.alone(&["--yes"]).run()?;
        ensure!(
            !second.stderr().contains("leads outside"),
            "{point}: {second}"
        );
        let third = project.alone(&["--yes"]).run()?;
        ensure!(third.code() == Some(1), "{point}: {third}");
        let said = third.stdout();
        ensure!(
            said.starts_with("[kiln:resume] No memory found at "),
            "{point}: {third}"
        );
        ensure!(!third.stderr().contains("error"), "{point}: {third}");
        let archive = project.memory_dir().with_file_name("memory-archive");
        let kept = fs_err::read_to_string(archive.join("2026-02-20T12-00-00Z/MEMORY.md"))?;
        assert_eq!(kept, before, "{point}");
        ensure!(!project.memory_dir().exists(), "{point}");
    }
    Ok(())
}

fn dies_at_every_passing(point: &str, end: &[String]) -> Result<()> {
    for nth in 1..=MOST_PASSINGS {
        let project = story()?;
        let place = format!("{point}:{nth}");
        let first = resume(&project, "12:00", Some(&place))?;
        if first.signal() != Some(ABORTED) {
            ensure!(first.code() == Some(0), "{place}: {first}");
            ensure!(nth > 1, "{point} is never reached");
            return Ok(());
        }
        wait_for_agents(&project)?;
        let second = resume(&project, "13:00", None)?;
        ensure!(second.code() == Some(0), "{place}: {second}");
        project.unrelated_is_untouched().context(place.clone())?;
        assert_eq!(lasting(&project.memory()?), end, "after a death at {place}");
    }
    bail!("{point} is passed more than {MOST_PASSINGS} times")
}

/// Two phases are left, and a validation that fails once.
fn story() -> Result<Project> {
    let runtime =
        "stage: execution\nstatus: paused\nphase_number: null\nphase_name: null\nphase_total: 3\n";
    Project::new(
        runtime,
        "- phase_number: 1 | phase_name: Storage | phase_status: completed\n",
    )
}

fn resume(project: &Project, time: &str, place: Option<&str>) -> Result<Ran> {
    let typed = project.resume(time).through(&WITHOUT_CORE);
    Ok(match place {
        Some(place) => typed.with("REKINDLE_CRASH_AT", place).run()?,
        None => typed.run()?,
    })
}

/// Returns the lines of a memory without times and without what a repeated step notes again.
fn lasting(memory: &str) -> Vec<String> {
    let passing = [
        "- Resumed: ",
        "- [",
        "- Cycle ",
        "last_updated: ",
        "completed_at: ",
    ];
    let is_lasting = |line: &&str| !passing.iter().any(|start| line.starts_with(start));
    memory
        .lines()
        .filter(is_lasting)
        .map(str::to_owned)
        .collect()
}

/// Waits for what a dead rekindle has left at work.
fn wait_for_agents(project: &Project) -> Result<()> {
    let path = ".rekindle/journal/kiln-ledger-api.jsonl";
    if !project.sandbox.path(path).exists() {
        return Ok(());
    }
    for line in project.sandbox.read(path)?.lines() {
        let record: Value = serde_json::from_str(line).context(line.to_owned())?;
        if let Some(pid) = record["entry"]["begin"]["body"]["agent"]["process"]["pid"].as_u64() {
            wait_until_gone(pid.try_into()?, LIMIT)?;
        }
    }
    Ok(())
}
