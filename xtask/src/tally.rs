//! Adds up the results that test binaries print.

use std::collections::BTreeMap;
use std::fmt;

/// The sum over all test binaries.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) passed: u64,
    pub(crate) failed: u64,
    pub(crate) skipped: u64,
    /// Conformance cases of protocols that are not implemented yet, by protocol.
    pub(crate) pending: BTreeMap<String, u64>,
}

impl Tally {
    /// Adds one line of a test binary's output.
    pub(crate) fn take(&mut self, line: &str) {
        if let Some(counts) = line.strip_prefix("test result: ") {
            self.passed += count_before(counts, "passed");
            self.failed += count_before(counts, "failed");
            self.skipped += count_before(counts, "ignored");
        } else if let Some(folder) = pending_folder(line) {
            // Bifrost's validators have a folder of their own.
            let protocol = folder.strip_suffix("-validate").unwrap_or(folder);
            *self.pending.entry(protocol.to_owned()).or_default() += 1;
        }
    }

    /// Returns the pending cases as one line, if there are any.
    pub(crate) fn pending_line(&self) -> Option<String> {
        if self.pending.is_empty() {
            return None;
        }
        let sum: u64 = self.pending.values().sum();
        let each = self.pending.iter();
        let each: Vec<String> = each.map(|(name, n)| format!("{name} {n}")).collect();
        let each = each.join(", ");
        Some(format!("pending conformance cases: {sum} ({each})"))
    }
}

/// The last line of every run.
impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            passed,
            failed,
            skipped,
            ..
        } = self;
        write!(f, "{passed} passed, {failed} failed, {skipped} skipped")
    }
}

/// Returns the number before a word in `ok. 3 passed; 0 failed; 1 ignored; …`.
fn count_before(counts: &str, word: &str) -> u64 {
    let mut parts = counts.split(['.', ';']).map(str::trim);
    let found = parts.find_map(|part| part.strip_suffix(word)?.trim().parse().ok());
    found.unwrap_or(0)
}

/// Returns the folder in `test [pending] map/02-initialize-only ... ignored`.
fn pending_folder(line: &str) -> Option<&str> {
    let name = line.strip_prefix("test [pending] ")?;
    let (folder, _) = name.split_once('/')?;
    name.ends_with("ignored").then_some(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_of_all_binaries_are_added_up() {
        let mut tally = Tally::default();
        for line in [
            "running 3 tests",
            "test a ... ok",
            "test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.10s",
            "test result: FAILED. 10 passed; 2 failed; 199 ignored; 0 measured; 5 filtered out; finished in 1.5s",
            "   Doc-tests rekindle",
            "said: test result: ok. 9 passed; 9 failed; 9 ignored;",
        ] {
            tally.take(line);
        }
        assert_eq!(tally.to_string(), "13 passed, 2 failed, 200 skipped");
    }

    #[test]
    fn pending_cases_are_counted_by_protocol() {
        let mut tally = Tally::default();
        for line in [
            "test [pending] map/02-initialize-only                ... ignored",
            "test [pending] bifrost/01-spec                       ... ignored",
            "test [pending] bifrost-validate/plan-ok              ... ignored",
            "test [pending] kiln/01-brainstorm                    ... ok",
            "test           agent-memory/01a-fresh-no-agent-memory ... ok",
        ] {
            tally.take(line);
        }
        let expect = "pending conformance cases: 3 (bifrost 2, map 1)";
        assert_eq!(tally.pending_line().as_deref(), Some(expect));
        assert_eq!(Tally::default().pending_line(), None);
    }
}
