//! What an agent printed, kept with a limit and without secrets.

use std::io::Write as _;

use camino::Utf8Path;
use rekindle_agents::Redactor;

use crate::Error;

/// The beginning is kept up to here, then only the last lines.
const MOST: u64 = 8 * 1024 * 1024;
/// How many of the last lines are kept when the limit is reached.
const LAST: usize = 200;

/// The output of one attempt.
#[derive(Debug)]
pub(crate) struct OutputLog {
    file: std::fs::File,
    written: u64,
    dropped: u64,
    last: std::collections::VecDeque<String>,
    redactor: Redactor,
}

impl OutputLog {
    pub(crate) fn create(path: &Utf8Path) -> Result<Self, Error> {
        Ok(Self {
            file: rekindle_fs::create_output(path)?,
            written: 0,
            dropped: 0,
            last: [].into(),
            redactor: Redactor::new(),
        })
    }

    /// Keeps a line and returns it without its secrets.
    ///
    /// Output is evidence, not state, so a full disk does not stop the work.
    pub(crate) fn line(&mut self, line: &str) -> String {
        let line = self.redactor.line(line).into_owned();
        if self.written < MOST {
            let len = u64::try_from(line.len()).unwrap_or(u64::MAX);
            self.written += len.saturating_add(1);
            writeln!(self.file, "{line}").ok();
            return line;
        }
        self.dropped += 1;
        self.last.push_back(line.clone());
        if self.last.len() > LAST {
            self.last.pop_front();
        }
        line
    }
}

/// Returns the last line of a file that may be large, for a screen.
pub(crate) fn last_line(path: &Utf8Path) -> String {
    use std::io::{Read as _, Seek as _, SeekFrom};
    let read = || -> std::io::Result<Vec<u8>> {
        let mut file = fs_err::File::open(path)?;
        let len = file.metadata()?.len();
        file.seek(SeekFrom::Start(len.saturating_sub(2048)))?;
        let mut tail = Vec::new();
        file.read_to_end(&mut tail)?;
        Ok(tail)
    };
    let tail = read().unwrap_or_default();
    let text = String::from_utf8_lossy(&tail);
    let last = text
        .lines()
        .rev()
        .find(|line| !line.trim().is_empty())
        .unwrap_or_default();
    rekindle_text::excerpt(last.trim(), 120)
}

impl Drop for OutputLog {
    fn drop(&mut self) {
        if self.dropped == 0 {
            return;
        }
        let kept = self.last.len();
        writeln!(
            self.file,
            "[{} lines were left out here; the last {kept} follow]",
            self.dropped
        )
        .ok();
        for line in &self.last {
            writeln!(self.file, "{line}").ok();
        }
    }
}
