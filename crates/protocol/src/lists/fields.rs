//! What the lines below a task of a plan say: `Depends on:`, `Files:`, `Verify:` and the like.

use super::task::Fields;

/// No key is longer.
const LONGEST_KEY: usize = 24;
/// The keys in lower case.
const KEYS: &[&str] = &[
    "accept",
    "acceptance",
    "acceptance criteria",
    "allow empty",
    "allow-empty",
    "allowed files",
    "check",
    "dependencies",
    "depends",
    "depends on",
    "file",
    "files",
    "files affected",
    "needs",
    "verification",
    "verify",
];

/// What a line below a task is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Below {
    /// A field, which was taken.
    Field,
    /// Text.
    Text,
    /// Text whose key is probably a misspelt one.
    Misspelt {
        /// The key.
        key: String,
        /// The one that was probably meant.
        meant: &'static str,
    },
}

/// Takes a line below a task: a field is added to `fields`, and the ids that it needs to `needs`.
pub(crate) fn take(line: &str, fields: &mut Fields, needs: &mut Vec<String>) -> Below {
    let field = line.trim_start_matches(['-', '*', ' ']).replace("**", "");
    let Some((key, value)) = field.split_once(':') else {
        return Below::Text;
    };
    match key.trim().to_ascii_lowercase().as_str() {
        key if is_needs(key) => needs.extend(ids(value)),
        "file" | "files" | "files affected" | "allowed files" => fields.files.extend(words(value)),
        "verify" | "verification" | "check" => {
            let command = value.trim().trim_matches('`').trim();
            let command = (!command.is_empty()).then(|| command.to_owned());
            fields.checks.extend(command);
        }
        "allow-empty" | "allow empty" => fields.may_be_empty = is_yes(value),
        "accept" | "acceptance" | "acceptance criteria" if !value.trim().is_empty() => {
            fields.acceptance.push(value.trim().to_owned());
        }
        _ => {
            let is_key = !key.is_empty() && key.len() <= LONGEST_KEY;
            return match meant(key).filter(|_| is_key) {
                Some(meant) => Below::Misspelt {
                    key: key.trim().to_owned(),
                    meant,
                },
                None => Below::Text,
            };
        }
    }
    Below::Field
}

/// Takes `(depends: T001, T002)` out of a title, and returns the ids in it.
pub(crate) fn without_needs(title: &str) -> (String, Vec<String>) {
    for (open, _) in title.match_indices('(') {
        let (before, rest) = title.split_at(open);
        let Some((inside, after)) = rest.split_once(')') else {
            break;
        };
        let (key, value) = inside
            .trim_start_matches('(')
            .split_once(':')
            .unwrap_or_default();
        if is_needs(key) {
            let title = format!("{} {}", before.trim_end(), after.trim_start());
            return (title.trim().to_owned(), ids(value));
        }
    }
    (title.to_owned(), Vec::new())
}

/// Returns whether a value of a plan says yes.
pub fn is_yes(value: &str) -> bool {
    let words = ["yes", "true"];
    let value = value.trim().trim_matches('`');
    words.iter().any(|word| value.eq_ignore_ascii_case(word))
}

/// Returns whether a key means dependencies.
fn is_needs(key: &str) -> bool {
    let names = ["depends on", "depends", "dependencies", "needs"];
    names
        .iter()
        .any(|name| key.trim().eq_ignore_ascii_case(name))
}

fn ids(value: &str) -> Vec<String> {
    let mut ids = words(value);
    // `Task 1` means the task with the number 1.
    let is_id = |id: &String| {
        let words = ["none", "task", "step"];
        !words.iter().any(|word| id.eq_ignore_ascii_case(word))
    };
    ids.retain(is_id);
    ids
}

fn words(value: &str) -> Vec<String> {
    let trim = |word: &str| word.trim_matches(['`', '[', ']', '.', ' ']).to_owned();
    value
        .split([',', ' '])
        .map(trim)
        .filter(|word| !word.is_empty())
        .collect()
}

/// Returns the key that was probably meant by one that no field has.
fn meant(key: &str) -> Option<&'static str> {
    let key = key.trim().to_lowercase();
    if KEYS.contains(&key.as_str()) {
        return None;
    }
    rekindle_text::nearest(&key, KEYS)
}
