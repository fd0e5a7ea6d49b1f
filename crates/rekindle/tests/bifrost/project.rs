//! A feature on disk, in the shape that real sessions have.

use std::time::SystemTime;

use anyhow::Result;
use rekindle_testkit::sandbox::{Ran, Sandbox, Typed};
use serde_json::Value;

const BINARY: &str = env!("CARGO_BIN_EXE_rekindle");
pub(crate) const SESSION: &str = "specs/user-authentication/session.md";
pub(crate) const MARKER: &str = ".bifrost/active-workflow";
pub(crate) const LEGACY: &str = ".bifrost/memory/session.md";

/// The session before anything happens to it; the notes, the odd spacing and the doubled section are
/// nobody's to touch.
pub(crate) const TEXT: &str = "# Session Memory

**Last Updated**: 2026-03-13

## 🎯 Active Focus

- **Feature**: user-authentication
- **Phase**: implement
- **Status**: Awaiting next action
- **Active Task**:
  - **Task ID**: T003 complete

## 📝 Recent Session Context

### Session History (Last 5)

1. **2026-03-13** - Implement Phase 2: Completed T003. Login contract test created.
2. **2026-03-12 21:00** - Tasks: Created 8 tasks.
2. **2026-03-10** - Plan: Completed technical planning.


### Context Carryover

#### From Plan
- Argon2id,  64 MiB

#### From Plan
- (To be filled during workflow execution)

### Manual Notes

\tkeep  this | as: it is

### Recovery Checkpoints

#### Latest Checkpoint

**CP-007** (2026-03-13 15:20): Task T003 complete - login contract test created
  - **Phase**: implement
  - **Status**: Complete
  - **Artifacts**: tests/login.test.ts
  - **Dependencies**: T003 complete
  - **Next**: `/implement user-authentication T004` to create the lockout test

#### Checkpoint History

1. **CP-007** (2026-03-13 15:20): Task T003 complete - login contract test created
2. **CP-004** (2026-03-12 17:00): Tasks breakdown complete, T001-T004 ready
3. **CP-003** (2026-03-10 16:20): Plan validated, ready for tasks

## 🏷️ Metadata

- **Last Phase**: plan
";

const TASKS: &str = "# Tasks\n\n**Total Tasks**: 4\n\n### T001: a\n**Status**: ✅ Complete\n### T002: b\n**Status**: ✅ Complete\n### T003: c\n**Status**: ✅ Complete\n### T004: d\n**Status**:\n";

/// A project with one feature.
pub(crate) struct Project {
    pub(crate) sandbox: Sandbox,
}

impl Project {
    pub(crate) fn new() -> Result<Self> {
        let project = Self {
            sandbox: Sandbox::in_memory(BINARY)?,
        };
        let folder = "specs/user-authentication";
        for (path, text) in [
            (SESSION, TEXT),
            (MARKER, "specs/user-authentication:plan|spec\n"),
            (&format!("{folder}/spec.md"), "# Spec\n"),
            (&format!("{folder}/plan.md"), "# Plan\n"),
            (&format!("{folder}/tasks.md"), TASKS),
            ("tests/login.test.ts", "// FR-001\n"),
        ] {
            project.write(path, text)?;
        }
        Ok(project)
    }

    /// Writes a file that is older than every checkpoint.
    pub(crate) fn write(&self, path: &str, text: &str) -> Result<()> {
        self.sandbox.write(path, text)?;
        self.touch(path, "2026-03-01T00:00:00Z")
    }

    /// Says when a file was written.
    pub(crate) fn touch(&self, path: &str, at: &str) -> Result<()> {
        let at: jiff::Timestamp = at.parse()?;
        let file = fs_err::File::open(self.sandbox.path(path))?;
        Ok(file.file().set_modified(SystemTime::from(at))?)
    }

    pub(crate) fn read(&self, path: &str) -> Result<String> {
        Ok(self.sandbox.read(path)?)
    }

    /// Returns a command at ten o'clock in Oslo.
    pub(crate) fn typed(&self, args: &[&str]) -> Typed<'_> {
        let typed = self.sandbox.typed(args).at("2026-03-14T09:00:00Z");
        typed.with("TZ", "Europe/Oslo")
    }

    pub(crate) fn run(&self, args: &[&str]) -> Result<Ran> {
        Ok(self.typed(args).run()?)
    }

    pub(crate) fn json(&self, args: &[&str]) -> Result<Value> {
        let args: Vec<&str> = args.iter().copied().chain(["--json"]).collect();
        Ok(self.run(&args)?.json()?)
    }
}
