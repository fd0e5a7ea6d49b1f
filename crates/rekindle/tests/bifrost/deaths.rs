//! Dies at every named point, at every passing of it: marker and session are both old, or after the
//! next start both new.

use anyhow::{Result, bail, ensure};
use rekindle_app::CRASH_POINTS;
use rekindle_testkit::sandbox::Ran;

use crate::project::{LEGACY, MARKER, Project, SESSION, TEXT};

/// The binary dies as by a fault; no image of it is wanted.
const WITHOUT_CORE: [&str; 4] = ["sh", "-c", r#"ulimit -c 0 && exec "$@""#, "sh"];
const ABORTED: i32 = 6;
/// More often than any point is passed in the stories.
const MOST_PASSINGS: u32 = 30;
const EFFECTS: [&str; 6] = [
    "create-before",
    "edit-before-replace",
    "edit-after-replace",
    "move-file-before",
    "move-file-after",
    "after-repeat",
];

fn run(project: &Project, args: &[&str], place: Option<&str>) -> Result<Ran> {
    let typed = project.typed(args).through(&WITHOUT_CORE);
    Ok(match place {
        Some(place) => typed.with("REKINDLE_CRASH_AT", place).run()?,
        None => typed.run()?,
    })
}

/// Lets a story die at every passing of every point; `check` looks at what is there after the next start.
fn dies_everywhere(
    args: &[&str],
    lay_out: impl Fn() -> Result<Project>,
    check: impl Fn(&Project, &str) -> Result<()>,
) -> Result<u32> {
    let mut n_deaths = 0;
    for point in CRASH_POINTS.iter().copied().chain(EFFECTS) {
        let mut nth = 1;
        loop {
            let project = lay_out()?;
            let place = format!("{point}:{nth}");
            let first = run(&project, args, Some(&place))?;
            if first.signal() != Some(ABORTED) {
                ensure!(first.code() == Some(0), "{place}: {first}");
                break;
            }
            n_deaths += 1;
            check(&project, &place)?;
            nth += 1;
            if nth > MOST_PASSINGS {
                bail!("{point} is passed more than {MOST_PASSINGS} times");
            }
        }
    }
    Ok(n_deaths)
}

#[test]
fn a_killed_resume_leaves_both_files_old_or_both_new() -> Result<()> {
    let args = ["resume", "user-authentication", "--yes"];
    let deaths = dies_everywhere(&args, Project::new, |project, place| {
        // A no takes nothing up; a yes finishes what was begun and resumes once more.
        let second = run(project, &args, None)?;
        ensure!(second.code() == Some(0), "{place}: {second}");
        let marker = project.read(MARKER)?;
        ensure!(
            marker == "specs/user-authentication:implement|spec,plan,tasks\n",
            "{place}: {marker}"
        );
        let session = project.read(SESSION)?;
        let resumes = session.matches(" - Resume: Resumed ").count();
        ensure!((1..=2).contains(&resumes), "{place}: {session}");
        let lasting = |text: &str| -> Vec<String> {
            let passing = [
                "**Last Updated**",
                "- **Status**: ",
                "1. **2",
                "2. **2",
                "3. **2",
                "4. **2",
                "5. **2",
            ];
            let lines = text
                .lines()
                .filter(|line| !passing.iter().any(|start| line.starts_with(start)));
            lines.map(str::to_owned).collect()
        };
        ensure!(lasting(&session) == lasting(TEXT), "{place}: {session}");
        Ok(())
    })?;
    ensure!(deaths >= 10, "it died only {deaths} times");
    Ok(())
}

#[test]
fn a_no_after_a_death_leaves_both_files_old_or_both_new() -> Result<()> {
    let args = ["resume", "user-authentication", "--yes"];
    let old = "specs/user-authentication:plan|spec\n";
    let mut n_new = 0;
    let mut n_deaths = 0;
    for point in EFFECTS {
        for nth in 1..=2 {
            let project = Project::new()?;
            let place = format!("{point}:{nth}");
            if run(&project, &args, Some(&place))?.signal() != Some(ABORTED) {
                break;
            }
            n_deaths += 1;
            let second = project.typed(&["resume", "user-authentication"]);
            let second = second.answering("n\n").run()?;
            ensure!(second.code() == Some(0), "{place}: {second}");
            let is_marker_new = project.read(MARKER)? != old;
            let session = project.read(SESSION)?;
            let is_session_new = session.contains(" - Resume: Resumed ");
            ensure!(is_marker_new == is_session_new, "{place}: {second}");
            ensure!(is_session_new || session == TEXT, "{place}: {session}");
            // What is told and asked is of the files as they are now.
            let told = second.stdout().contains("MARKER_MISMATCH");
            ensure!(told != is_marker_new, "{place}: {second}");
            n_new += u32::from(is_marker_new);
        }
    }
    ensure!(n_deaths >= 3, "it died only {n_deaths} times");
    ensure!(n_new >= 3, "only {n_new} deaths were finished");
    Ok(())
}

#[test]
fn a_killed_rollback_never_loses_what_it_replaces() -> Result<()> {
    let args = ["rollback", "user-authentication", "CP-003", "--yes"];
    let deaths = dies_everywhere(&args, Project::new, |project, place| {
        let backup = ".bifrost/rollback-backup/20260314-100000/session.md";
        let is_kept = project.read(backup).is_ok_and(|text| text == TEXT);
        let is_old = project.read(SESSION)? == TEXT;
        ensure!(is_kept || is_old, "{place}: the old session is nowhere");
        let second = run(project, &args, None)?;
        ensure!(second.code() == Some(0), "{place}: {second}");
        ensure!(
            project.read(backup)? == TEXT,
            "{place}: the backup is not what was replaced"
        );
        ensure!(project.read(MARKER)? == "specs/user-authentication:plan|spec,plan\n");
        Ok(())
    })?;
    ensure!(deaths >= 12, "it died only {deaths} times");
    Ok(())
}

#[test]
fn a_killed_checkpoint_never_loses_an_older_one() -> Result<()> {
    let third = "3. **CP-003** (2026-03-10 16:20): Plan validated, ready for tasks\n";
    let more = "4. **CP-002** (2026-03-02 08:00): Plan started\n5. **CP-001** (2026-03-01 08:00): Session initialized\n";
    let lay_out = || -> Result<Project> {
        let project = Project::new()?;
        project.write(SESSION, &TEXT.replace(third, &format!("{third}{more}")))?;
        Ok(project)
    };
    let args = ["checkpoint", "-m", "New"];
    let archive = "specs/user-authentication/session-archive.md";
    let deaths = dies_everywhere(&args, lay_out, |project, place| {
        for is_after in [false, true] {
            if is_after {
                let second = run(project, &args, None)?;
                ensure!(second.code() == Some(0), "{place}: {second}");
            }
            let session = project.read(SESSION)?;
            let archive = project.read(archive).unwrap_or_default();
            for id in ["CP-007", "CP-004", "CP-003", "CP-002", "CP-001"] {
                let line = format!("**{id}** (");
                let is_kept = session.contains(&line) || archive.contains(&line);
                ensure!(is_kept, "{place}: {id} is nowhere");
            }
        }
        Ok(())
    })?;
    ensure!(deaths >= 8, "it died only {deaths} times");
    Ok(())
}

#[test]
fn a_killed_migration_is_finished_by_the_next() -> Result<()> {
    let lay_out = || -> Result<Project> {
        let project = Project::new()?;
        fs_err::create_dir_all(project.sandbox.path(".bifrost/memory"))?;
        fs_err::rename(project.sandbox.path(SESSION), project.sandbox.path(LEGACY))?;
        project.write(".bifrost/memory/project-session.md", "# Project\n")?;
        Ok(project)
    };
    let args = ["migrate", "user-authentication"];
    let deaths = dies_everywhere(&args, lay_out, |project, place| {
        let second = run(project, &args, None)?;
        // Killed after its last step, there is nothing left to migrate.
        ensure!(matches!(second.code(), Some(0 | 1)), "{place}: {second}");
        ensure!(project.read(SESSION)? == TEXT, "{place}");
        ensure!(project.read(LEGACY)? == "# Project\n", "{place}");
        let kept = ".bifrost/memory/session.md.backup-20260314-100000";
        ensure!(project.read(kept)? == TEXT, "{place}");
        Ok(())
    })?;
    ensure!(deaths >= 10, "it died only {deaths} times");
    Ok(())
}
