//! Values that are known to be secret, because a file of variables has them.

use std::borrow::Cow;

use super::MASK;

/// Shorter values are words and numbers that occur anywhere.
const SHORTEST: usize = 8;
/// From this length on a value of letters alone is taken for a secret too.
const LONG: usize = 20;

/// Known values, the longest first.
#[derive(Debug, Default)]
pub(super) struct Known(Vec<String>);

impl Known {
    /// Reads files with lines such as `KEY=value`, `export KEY="value"` or `key: value`.
    pub(super) fn of<'f>(files: impl IntoIterator<Item = &'f str>) -> Self {
        let lines = files.into_iter().flat_map(str::lines);
        let mut values = Vec::new();
        for value in lines.filter_map(value).filter(|value| is_secret(value)) {
            // In JSON some characters are written in another way.
            let escaped = value.replace('\\', "\\\\").replace('"', "\\\"");
            values.extend([value.to_owned(), escaped]);
        }
        values.sort_by(|one, other| other.len().cmp(&one.len()).then(one.cmp(other)));
        values.dedup();
        Self(values)
    }

    /// Returns a line with each of the values masked.
    pub(super) fn mask<'a>(&self, line: &'a str) -> Cow<'a, str> {
        let mut text = Cow::Borrowed(line);
        for value in &self.0 {
            if text.contains(value.as_str()) {
                text = Cow::Owned(text.replace(value.as_str(), MASK));
            }
        }
        text
    }
}

/// Returns the value that a line gives to a name.
fn value(line: &str) -> Option<&str> {
    let line = line.trim();
    let line = line.strip_prefix("export ").unwrap_or(line);
    let (name, value) = line.split_once(['=', ':'])?;
    let is_name = |c: char| c.is_ascii_alphanumeric() || "_-.\" '".contains(c);
    let value = value.trim().trim_end_matches(',');
    let is_comment = line.starts_with('#') || !name.chars().all(is_name);
    let quotes = ['"', '\''].into_iter();
    let mut bare = quotes.filter_map(|quote| value.strip_prefix(quote)?.split(quote).next());
    let bare = bare.next().unwrap_or(value);
    (!is_comment).then_some(bare)
}

fn is_secret(value: &str) -> bool {
    let is_plain = value.chars().all(|c| c.is_ascii_alphabetic() || c == '_');
    value.len() >= LONG || (value.len() >= SHORTEST && !is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_files_are_masked_wherever_they_occur() {
        let file = "# KEY=comment-1\nexport TOKEN=\"s3cr\\et val\"\nURL = 'postgres://u:p@h/d' # it\nMODE=production\nPORT=3000\npassword: abcdefghijklmnopqrstuv\nbroken\n=\n";
        let known = Known::of([file, ""]);
        for (line, masked) in [
            (r"say s3cr\et val twice: s3cr\et val", "say *** twice: ***"),
            (r#"{"text":"s3cr\\et val"}"#, r#"{"text":"***"}"#),
            ("at postgres://u:p@h/d now", "at *** now"),
            ("abcdefghijklmnopqrstuv", "***"),
            (
                "in production at 3000, comment-1",
                "in production at 3000, comment-1",
            ),
        ] {
            assert_eq!(known.mask(line), masked);
        }
        assert!(matches!(Known::default().mask("x"), Cow::Borrowed("x")));
    }
}
