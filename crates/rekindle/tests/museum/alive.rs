//! Who is alive and who is not: an agent that says nothing, and a worker that can not.

use anyhow::{Context as _, Result, ensure};
use camino::Utf8PathBuf;
use rekindle_testkit::gate::Gate;
use rekindle_testkit::repository::{Project, kill, run_words};
use rekindle_testkit::running::Running;

use crate::BINARY;

/// After so many seconds without a sign a worker is given up here; a tenth of it lies between two signs.
const LIMIT: &str = "3";
/// So many signs take longer than the limit.
const MANY_BEATS: usize = 13;

/// Starts a run of one task whose first attempt says nothing and waits at a gate.
fn quiet() -> Result<(Project, Gate, Running)> {
    let project = Project::new(BINARY);
    project.plan("A");
    let folder = Utf8PathBuf::try_from(project.path().join(".git"))?;
    let gate = Gate::new(&folder)?;
    let agent = format!(
        "cat > /dev/null; if [ $REKINDLE_ATTEMPT = 1 ]; then {} fi\necho x > x.txt",
        gate.script()
    );
    let run = project.start(&run_words(&agent), &[("REKINDLE_SILENT_AFTER", LIMIT)]);
    gate.wait()?;
    Ok((project, gate, run))
}

/// Elsewhere healthy workers were killed as stalled, because what they did was quiet.
#[test]
fn orca_18368_an_agent_that_is_quiet_for_longer_than_the_limit_is_left_at_work() -> Result<()> {
    let (project, mut gate, run) = quiet()?;
    while project.events("heartbeat", "A") < MANY_BEATS {
        let given_up = project.events("attempt_interrupted", "A") > 0;
        ensure!(!given_up && !project.processes().is_empty(), "it is over");
    }
    gate.open()?;
    let ran = run.finish()?;
    ensure!(ran.status.success(), "{ran:?}");
    assert_eq!(project.landed(), [("A".to_owned(), 1)]);
    Ok(())
}

/// Elsewhere a task stayed with a worker that nobody heard of anymore.
#[test]
fn hatchet_2432_a_worker_that_gives_no_sign_is_given_up_and_its_task_is_done_again() -> Result<()> {
    let (project, _gate, run) = quiet()?;
    let processes = project.processes();
    let mut workers = processes
        .iter()
        .filter(|(_, line)| line.contains(" worker "));
    let (worker, _) = workers.next().context("no worker")?;
    kill(*worker, "STOP");
    let ran = run.finish()?;
    ensure!(ran.status.success(), "{ran:?}");
    assert_eq!(project.landed(), [("A".to_owned(), 2)]);
    assert_eq!(project.events("attempt_interrupted", "A"), 1);
    Ok(())
}
