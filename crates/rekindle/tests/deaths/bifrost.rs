//! bifrost: a resume, a rollback, a checkpoint and a migration.

use anyhow::{Result, ensure};
use rekindle_testkit::deaths::Story;
use rekindle_testkit::sandbox::{Ran, Sandbox, Typed};

use crate::bifrost_project::{LEGACY, MARKER, Project, SESSION, TEXT};

/// What is done to the feature.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Deed {
    Resume,
    Rollback,
    Checkpoint,
    Migrate,
    /// A resume that archives, compacts and updates the timestamp.
    Compact,
}

const ARCHIVE: &str = "specs/user-authentication/session-archive.md";
const BACKUP: &str = ".bifrost/rollback-backup/20260314-100000/session.md";
const MIGRATED: &str = ".bifrost/memory/session.md.backup-20260314-100000";
/// Checkpoints of the session that is laid out for a new one, all to be kept.
const KEPT: [&str; 5] = ["CP-007", "CP-004", "CP-003", "CP-002", "CP-001"];

const SPEC: &str = "## User Scenarios & Testing\n## Requirements\n- **FR-001**: x\n## Review & Acceptance Checklist\n";
const PLAN: &str = "## Technical Context\n## Constitution Check\n## Phase 0: ACE-Enhanced Research & Exploration\n## Phase 1: Design & Contracts\n";
/// Entries of the session history, none of which may be lost.
const HISTORY: &str = "**2026-03-10** - Plan: Completed technical planning.\n**2026-03-09** - Resume: Resumed before.\n**2026-03-08** - Spec: Written.\n";

/// Returns a session with a full history and an old checkpoint with a high context.
fn crowded() -> String {
    let third = "**2026-03-10** - Plan: Completed technical planning.\n";
    TEXT.replace(third, HISTORY)
        .replace("(2026-03-13 15:20)", "(2026-02-01 15:20)")
        .replace(
            "  - **Artifacts**",
            "  - **Context**: 72% utilization\n  - **Artifacts**",
        )
}

pub(crate) struct Feature {
    project: Project,
    deed: Deed,
}

impl Feature {
    pub(crate) fn new(deed: Deed) -> Result<Self> {
        let project = Project::new()?;
        match deed {
            Deed::Resume | Deed::Rollback => {}
            Deed::Compact => {
                project.write(SESSION, &crowded())?;
                project.write("specs/user-authentication/spec.md", SPEC)?;
                project.write("specs/user-authentication/plan.md", PLAN)?;
            }
            Deed::Checkpoint => {
                let third = "3. **CP-003** (2026-03-10 16:20): Plan validated, ready for tasks\n";
                let more = "4. **CP-002** (2026-03-02 08:00): Plan started\n5. **CP-001** (2026-03-01 08:00): Session initialized\n";
                project.write(SESSION, &TEXT.replace(third, &format!("{third}{more}")))?;
            }
            Deed::Migrate => {
                fs_err::create_dir_all(project.sandbox.path(".bifrost/memory"))?;
                fs_err::rename(project.sandbox.path(SESSION), project.sandbox.path(LEGACY))?;
                project.write(".bifrost/memory/project-session.md", "# Project\n")?;
            }
        }
        Ok(Self { project, deed })
    }

    fn text(&self, path: &str) -> String {
        self.project.read(path).unwrap_or_default()
    }

    /// Returns the session without times and without what a second resume notes again.
    fn lasting(&self) -> Vec<String> {
        let numbered = ["1. **2", "2. **2", "3. **2", "4. **2", "5. **2"];
        let passing = ["**Last Updated**", "- **Status**: "];
        let session = self.text(SESSION);
        let lines = session.lines().filter(|line| {
            let mut starts = passing.iter().chain(&numbered);
            !starts.any(|start| line.starts_with(start))
        });
        lines.map(str::to_owned).collect()
    }
}

impl Story for Feature {
    /// Texts that must be the same in the end.
    type End = Vec<String>;

    fn sandbox(&self) -> &Sandbox {
        &self.project.sandbox
    }

    fn typed(&self, _session: u32) -> Typed<'_> {
        self.project.typed(match self.deed {
            Deed::Resume => &["resume", "user-authentication", "--yes"],
            Deed::Rollback => &["rollback", "user-authentication", "CP-003", "--yes"],
            Deed::Checkpoint => &["checkpoint", "-m", "New"],
            Deed::Migrate => &["migrate", "user-authentication", "--yes"],
            Deed::Compact => &[
                "resume",
                "user-authentication",
                "--validate",
                "--fresh",
                "--yes",
            ],
        })
    }

    /// Killed after its last step, a migration has nothing left to do.
    fn is_good(&self, ran: &Ran) -> bool {
        let is_done = self.deed == Deed::Migrate
            && ran.code() == Some(1)
            && self.project.read(MIGRATED).is_ok();
        ran.code() == Some(0) || is_done
    }

    /// As the tool's own script has it, which can not write.
    fn failure(&self) -> i32 {
        match self.deed {
            Deed::Resume | Deed::Rollback | Deed::Checkpoint | Deed::Compact => 1,
            Deed::Migrate => 3,
        }
    }

    fn look(&self) -> Result<()> {
        match self.deed {
            Deed::Resume => {}
            Deed::Rollback => {
                let is_kept = self.text(BACKUP) == TEXT || self.text(SESSION) == TEXT;
                ensure!(is_kept, "the old session is nowhere");
            }
            Deed::Checkpoint => {
                let (session, archive) = (self.text(SESSION), self.text(ARCHIVE));
                for id in KEPT {
                    let line = format!("**{id}** (");
                    let is_kept = session.contains(&line) || archive.contains(&line);
                    ensure!(is_kept, "{id} is nowhere");
                }
            }
            Deed::Compact => {
                let both = self.text(SESSION) + &self.text(ARCHIVE);
                for line in HISTORY.lines() {
                    ensure!(both.contains(line), "{line} is nowhere");
                }
            }
            Deed::Migrate => {
                let mut places = [SESSION, LEGACY, MIGRATED].iter();
                let is_kept = places.any(|place| self.text(place) == TEXT);
                ensure!(is_kept, "the session is nowhere");
            }
        }
        Ok(())
    }

    fn end(&self) -> Result<Vec<String>> {
        self.look()?;
        Ok(match self.deed {
            Deed::Resume => {
                let session = self.text(SESSION);
                let n = session.matches(" - Resume: Resumed ").count();
                ensure!((1..=3).contains(&n), "{session}");
                let mut end = self.lasting();
                end.push(self.text(MARKER));
                end
            }
            Deed::Rollback => vec![self.text(BACKUP), self.text(MARKER)],
            Deed::Checkpoint => {
                let is_made = self.text(SESSION).contains("): New");
                ensure!(is_made, "no new checkpoint");
                Vec::new()
            }
            Deed::Compact => {
                let session = self.text(SESSION);
                for said in ["Context: Compacted", "Checkpoint: Timestamp of CP-007"] {
                    let both = session.clone() + &self.text(ARCHIVE);
                    ensure!(both.contains(said), "{said} is nowhere: {both}");
                }
                let latest = "#### Latest Checkpoint\n\n**CP-007** (2026-03-14 10:00)";
                ensure!(session.contains(latest), "{session}");
                vec![self.text(MARKER)]
            }
            Deed::Migrate => [SESSION, LEGACY, MIGRATED]
                .map(|path| self.text(path))
                .to_vec(),
        })
    }
}

/// A person who says no after a death finds both files old or both new.
pub(crate) fn a_no_after_a_death_leaves_both_files_old_or_both_new() -> Result<()> {
    let old = "specs/user-authentication:plan|spec\n";
    let (mut n_new, mut n_deaths) = (0, 0);
    let points = ["before-create", "before-edit", "after-edit", "fs-rename"];
    for point in points
        .iter()
        .flat_map(|point| (1..=2).map(move |nth| format!("{point}:{nth}")))
    {
        let project = Project::new()?;
        let first = project.typed(&["resume", "user-authentication", "--yes"]);
        let first = first.with("REKINDLE_CRASH_AT", point.as_str()).run()?;
        if first.signal().is_none() {
            continue;
        }
        n_deaths += 1;
        let before = project.read(MARKER)?;
        let second = project.typed(&["resume", "user-authentication"]);
        let second = second.answering("n\n").run()?;
        ensure!(second.code() == Some(0), "{point}: {second}");
        let is_marker_new = project.read(MARKER)? != old;
        let session = project.read(SESSION)?;
        let is_session_new = session.contains(" - Resume: Resumed ");
        ensure!(is_marker_new == is_session_new, "{point}: {second}");
        ensure!(is_session_new || session == TEXT, "{point}: {session}");
        let is_denied = second.stderr().contains("nothing was changed");
        ensure!(
            !is_denied || project.read(MARKER)? == before,
            "{point}: {second}"
        );
        // What is told and asked is of the files as they are now.
        let told = second.stdout().contains("MARKER_MISMATCH");
        ensure!(told != is_marker_new, "{point}: {second}");
        n_new += u32::from(is_marker_new);
    }
    ensure!(n_deaths >= 3, "it died only {n_deaths} times");
    ensure!(n_new >= 3, "only {n_new} deaths were finished");
    Ok(())
}
