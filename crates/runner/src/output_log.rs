//! The output of an agent, with a size limit and without secrets.

use std::io::Write as _;

use camino::{Utf8Path, Utf8PathBuf};
use rekindle_agents::{Redactor, Stream, StreamReader};
use rekindle_fs::GuardedFile;

/// Up to this size everything is kept, then only the last lines.
const MOST: u64 = 8 * 1024 * 1024;
/// The number of last lines that are kept after the limit.
const LAST: usize = 200;
/// The most bytes of them, without the very last line: lines may be long.
const LAST_BYTES: usize = 1024 * 1024;

/// The output of one attempt. Its file is made with the first line: most checks print nothing.
#[derive(Debug)]
pub(crate) struct OutputLog {
    path: Utf8PathBuf,
    file: Option<std::fs::File>,
    written: u64,
    dropped: u64,
    last: std::collections::VecDeque<String>,
    last_bytes: usize,
    redactor: Redactor,
}

impl OutputLog {
    /// Makes no file yet; the redactor masks what it knows and finds.
    pub(crate) fn new(path: Utf8PathBuf, redactor: Redactor) -> Self {
        Self {
            path,
            file: None,
            written: 0,
            dropped: 0,
            last: [].into(),
            last_bytes: 0,
            redactor,
        }
    }

    /// Keeps a line and returns it without its secrets.
    ///
    /// Output is evidence, not state, so a full disk does not stop the work.
    pub(crate) fn line(&mut self, line: &str) -> String {
        let line = self.redactor.line(line).into_owned();
        if self.written < MOST {
            let len = u64::try_from(line.len()).unwrap_or(u64::MAX);
            self.written += len.saturating_add(1);
            self.write(&line);
            return line;
        }
        self.dropped += 1;
        self.last_bytes += line.len();
        self.last.push_back(line.clone());
        while self.last.len() > LAST || (self.last_bytes > LAST_BYTES && self.last.len() > 1) {
            let oldest = self.last.pop_front().unwrap_or_default();
            self.last_bytes -= oldest.len();
        }
        line
    }

    fn write(&mut self, line: &str) {
        if self.file.is_none() {
            self.file = rekindle_fs::create_output(&self.path).ok();
        }
        if let Some(file) = &mut self.file {
            file.write_all(format!("{line}\n").as_bytes()).ok();
        }
    }
}

/// How much of an output is looked at for its last line; an event of an agent has a few kilobytes.
const LOOKED_AT: u64 = 64 * 1024;

/// Returns what an agent did last, by a file that may be large, for a screen.
pub(crate) fn last_line(path: &Utf8Path, stream: Stream) -> String {
    let file = GuardedFile::open(path).ok().flatten();
    let tail = file.and_then(|file| file.tail(LOOKED_AT).ok());
    let tail = tail.unwrap_or_default();
    let text = String::from_utf8_lossy(&tail);
    let mut reader = StreamReader::new(stream);
    let lines = text.lines().filter_map(|line| reader.readable(line));
    let last = lines.filter(|line| !line.trim().is_empty()).last();
    rekindle_text::excerpt(last.unwrap_or_default().trim(), 120)
}

impl Drop for OutputLog {
    fn drop(&mut self) {
        if self.dropped == 0 {
            return;
        }
        let kept = self.last.len();
        let dropped = self.dropped;
        self.write(&format!(
            "[{dropped} lines were left out here; the last {kept} follow]"
        ));
        for line in std::mem::take(&mut self.last) {
            self.write(&line);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn however_long_the_lines_are_the_last_ones_are_kept_within_bounds() {
        let folder = tempfile::tempdir().unwrap();
        let path = Utf8Path::from_path(folder.path()).unwrap().join("output");
        let mut log = OutputLog::new(path.clone(), Redactor::new());
        assert!(!path.exists(), "nothing was printed");
        let long = "x".repeat(64 * 1024);
        let most = usize::try_from(MOST).unwrap();
        for _ in 0..=most / long.len() {
            log.line(&long);
        }
        for number in 0..LAST {
            log.line(&format!("{number} {long}"));
        }
        let kept: usize = log.last.iter().map(String::len).sum();
        assert!(kept <= LAST_BYTES, "{kept}");
        assert_eq!(log.last_bytes, kept);
        assert!(path.exists());
        log.line(&"y".repeat(2 * LAST_BYTES));
        assert_eq!(log.last.len(), 1, "the last line is kept in any case");
    }
}
