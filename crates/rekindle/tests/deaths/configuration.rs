//! The configuration that `rekindle init` writes: all of it, or nothing.

use anyhow::Result;
use rekindle_testkit::deaths::Story;
use rekindle_testkit::sandbox::{Sandbox, Typed};

use crate::{BINARY, shell};

pub(crate) struct Init {
    sandbox: Sandbox,
}

impl Init {
    pub(crate) fn new() -> Result<Self> {
        let sandbox = Sandbox::new(BINARY)?;
        Ok(Self { sandbox })
    }
}

impl Story for Init {
    /// The names in the project, and the text of the file.
    type End = String;

    fn sandbox(&self) -> &Sandbox {
        &self.sandbox
    }

    fn typed(&self, _session: u32) -> Typed<'_> {
        self.sandbox.typed(&["init"])
    }

    fn end(&self) -> Result<Self::End> {
        shell(&self.sandbox, "ls; cat rekindle.toml")
    }
}
