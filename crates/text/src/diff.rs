//! Differences of two texts for people.

use similar::TextDiff;

/// Returns a unified diff without file names; bytes that are not UTF-8 are replaced.
pub fn diff(before: &[u8], after: &[u8]) -> String {
    let before = String::from_utf8_lossy(before);
    let after = String::from_utf8_lossy(after);
    TextDiff::from_lines(before.as_ref(), after.as_ref())
        .unified_diff()
        .context_radius(1)
        .missing_newline_hint(false)
        .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_diff_shows_changed_lines_and_their_neighbors() {
        let shown = diff(b"1\n2\n3\n4\n5\n", b"1\n2\n3!\n4\n5\n");
        assert_eq!(shown, "@@ -2,3 +2,3 @@\n 2\n-3\n+3!\n 4\n");
        assert_eq!(diff(b"same", b"same"), "");
    }
}
