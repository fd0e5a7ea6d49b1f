//! A report that is written over an older one: there is always a whole one, the old or the new.

use anyhow::{Result, ensure};
use rekindle_testkit::agent_memory::Run;
use rekindle_testkit::deaths::Story;
use rekindle_testkit::sandbox::{Sandbox, Typed};

use crate::BINARY;

const FILE: &str = "report.html";
/// What is there before.
const OLD: &str = "<!doctype html>\n<p>an older report</p>\n</html>\n";

pub(crate) struct Report {
    sandbox: Sandbox,
    old: Option<&'static str>,
}

impl Report {
    /// A report where there is none yet.
    pub(crate) fn first() -> Result<Self> {
        Self::new(None)
    }

    /// A report in the place of an older one.
    pub(crate) fn again() -> Result<Self> {
        Self::new(Some(OLD))
    }

    fn new(old: Option<&'static str>) -> Result<Self> {
        let sandbox = Sandbox::in_memory(BINARY)?;
        Run::interrupted("20260119-0900-orders-api-k2l3").lay_out(&sandbox)?;
        if let Some(old) = old {
            sandbox.write(FILE, old)?;
        }
        Ok(Self { sandbox, old })
    }
}

impl Story for Report {
    type End = String;

    fn sandbox(&self) -> &Sandbox {
        &self.sandbox
    }

    fn typed(&self, _: u32) -> Typed<'_> {
        self.sandbox.typed(&["report", "--output", FILE])
    }

    /// Half a report is none.
    fn look(&self) -> Result<()> {
        let found = self.sandbox.read(FILE).ok();
        let is_old = found.as_deref() == self.old;
        let is_whole = found.as_ref().is_some_and(|text| {
            text.starts_with("<!doctype html>") && text.ends_with("</html>\n") && text.len() > 9000
        });
        ensure!(is_old || is_whole, "half a report: {found:?}");
        Ok(())
    }

    fn end(&self) -> Result<String> {
        Ok(self.sandbox.read(FILE)?)
    }
}
