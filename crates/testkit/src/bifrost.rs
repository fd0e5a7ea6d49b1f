//! A feature of Bifrost with checkpoints to go back to.

use std::io;

use crate::sandbox::Sandbox;

/// What the feature is called.
pub const FEATURE: &str = "user-login";

const SESSION: &str = "# Session Memory

## 🎯 Active Focus

- **Feature**: user-login
- **Phase**: plan
- **Status**: Awaiting next action

### Recovery Checkpoints

#### Latest Checkpoint

**CP-003** (2026-01-19 15:20): Tasks breakdown complete, T001-T002 ready
  - **Phase**: tasks
  - **Status**: Complete
  - **Artifacts**: tasks.md
  - **Next**: `/implement user-login T001`

#### Checkpoint History

1. **CP-003** (2026-01-19 15:20): Tasks breakdown complete, T001-T002 ready
2. **CP-002** (2026-01-18 16:20): Plan validated, ready for tasks
3. **CP-001** (2026-01-17 16:20): Spec validated, ready for planning
";

/// Lays the feature out.
pub fn feature(sandbox: &Sandbox) -> io::Result<()> {
    let folder = format!("specs/{FEATURE}");
    let tasks = "# Tasks\n\n### T001: a\n**Status**:\n### T002: b\n**Status**:\n";
    for (name, text) in [
        ("session.md", SESSION),
        ("spec.md", "# Spec\n"),
        ("plan.md", "# Plan\n"),
        ("tasks.md", tasks),
    ] {
        sandbox.write(format!("{folder}/{name}"), text)?;
    }
    let marker = format!("{folder}:tasks|spec,plan\n");
    sandbox.write(".bifrost/active-workflow", marker)?;
    Ok(())
}
