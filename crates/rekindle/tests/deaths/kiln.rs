//! kiln: two phases and a validation that fails once, and a memory that is archived.

use anyhow::{Result, ensure};
use rekindle_testkit::deaths::Story;
use rekindle_testkit::sandbox::{Ran, Sandbox, Typed};

use crate::kiln_project::Project;

/// Two phases are left, and a validation that fails once.
pub(crate) struct Phases {
    project: Project,
}

impl Phases {
    pub(crate) fn new() -> Result<Self> {
        let runtime = "stage: execution\nstatus: paused\nphase_number: null\nphase_name: null\nphase_total: 3\n";
        let done = "- phase_number: 1 | phase_name: Storage | phase_status: completed\n";
        let project = Project::new(runtime, done)?;
        Ok(Self { project })
    }
}

impl Story for Phases {
    /// The lines of the memory without times and without what a repeated step notes again.
    type End = Vec<String>;

    fn sandbox(&self) -> &Sandbox {
        &self.project.sandbox
    }

    fn typed(&self, session: u32) -> Typed<'_> {
        self.project.resume(&format!("{}:00", 12 + session))
    }

    fn look(&self) -> Result<()> {
        self.project.unrelated_is_untouched()
    }

    fn end(&self) -> Result<Vec<String>> {
        self.project.unrelated_is_untouched()?;
        let passing = [
            "- Resumed: ",
            "- [",
            "- Cycle ",
            "last_updated: ",
            "completed_at: ",
        ];
        let memory = self.project.memory()?;
        let lasting = memory
            .lines()
            .filter(|line| !passing.iter().any(|start| line.starts_with(start)));
        Ok(lasting.map(str::to_owned).collect())
    }
}

/// A memory that is complete and put away.
pub(crate) struct Archive {
    project: Project,
    memory: String,
}

impl Archive {
    pub(crate) fn new() -> Result<Self> {
        let project = Project::new("stage: complete\nstatus: complete\n", "")?;
        let memory = project.memory()?;
        Ok(Self { project, memory })
    }

    fn kept(&self) -> Option<String> {
        let archive = self.project.memory_dir().with_file_name("memory-archive");
        fs_err::read_to_string(archive.join("2026-02-20T12-00-00Z/MEMORY.md")).ok()
    }
}

impl Story for Archive {
    type End = (Option<String>, bool);

    fn sandbox(&self) -> &Sandbox {
        &self.project.sandbox
    }

    fn typed(&self, _session: u32) -> Typed<'_> {
        self.project.alone(&[]).answering("4\n")
    }

    /// Where it is put away already there is nothing left to resume.
    fn is_good(&self, ran: &Ran) -> bool {
        let is_gone = ran.stdout().contains("[kiln:resume] No memory found at ");
        ran.code() == Some(0) || (ran.code() == Some(1) && is_gone)
    }

    fn look(&self) -> Result<()> {
        let is_there = self.project.memory().is_ok_and(|text| text == self.memory);
        let is_kept = self.kept().as_ref() == Some(&self.memory);
        ensure!(is_there || is_kept, "the memory is nowhere");
        Ok(())
    }

    fn end(&self) -> Result<(Option<String>, bool)> {
        Ok((self.kept(), self.project.memory_dir().exists()))
    }
}
