//! What a workflow costs inside an agent: calls of tools, and what the model reads and writes.
//!
//! Nothing is measured here: `crates/rekindle/tests/mcp/stories.rs` counts whole stories and fails
//! when the file with the counts is wrong.

use xtask::{files, run};

use crate::chore::Setting;
use crate::report::{Section, Table};

/// The counts, in the project.
const COUNTS: &str = "docs/numbers/stories.csv";

pub(crate) fn bench(_: &Setting) -> Result<Section, String> {
    let counts = files::read(run::root().join(COUNTS))?;
    let rows = counts.lines().skip(1);
    let rows = rows.map(|row| row.split(',').map(str::to_owned).collect());
    Ok(Section {
        title: "Inside an agent",
        about: "A workflow resumed over MCP, from `plan` to its end or to a question for a person: agent-memory with two tasks up to the pull request, a kiln validation that passes, a bifrost feature, an actor and a monitor of MAP.\n\
                Tokens are those of all arguments and answers, four bytes each; prompts that a protocol prescribes are most of them.\n\
                The list of all tools takes at most 2,500 tokens, the briefing of a project with 30 workflows fewer than 300; tests hold these limits."
            .to_owned(),
        table: Table {
            n_text: 1,
            head: &["story", "calls", "tokens"],
            rows: rows.collect(),
        },
        ..Section::default()
    })
}
