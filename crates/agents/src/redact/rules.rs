//! The rules of gitleaks (`rules/gitleaks.toml`), read on first use.
//!
//! A regular expression is compiled and run only near a keyword of its rule, so text without keywords
//! costs one pass of an automaton.

use std::ops::Range;
use std::sync::{LazyLock, OnceLock};

use aho_corasick::AhoCorasick;
use regex::bytes::{Captures, Regex, RegexBuilder};
use toml::de::{DeFloat, DeInteger, DeTable, DeValue};

const GITLEAKS: &str = include_str!("../../rules/gitleaks.toml");
const OURS: &str = include_str!("../../rules/rekindle.toml");

/// Unused rules with the reason.
const LEFT_OUT: [(&str, &str); 5] = [
    ("pkcs12-file", "matches names of files, not text"),
    ("private-key", "needs the end of the key; see `Scan`"),
    ("kubernetes-secret-yaml", "needs several lines; see `Scan`"),
    (
        "curl-auth-user",
        "masks the user and the quotes too; see `command`",
    ),
    (
        "generic-api-key",
        "matches commit ids and cache keys; see `Scan`",
    ),
];

/// The end of a value in gitleaks; agents print values before other characters too.
const CLOSED: &str = r#"(?:[\x60'"\s;]|\\[nr]|$)"#;
/// The replacement: any character that is not part of a value.
const CLOSED_BY_ANYTHING: &str = r"(?:[^0-9A-Za-z_-]|$)";

/// The maximum distance from the start of a match to a keyword.
const BEFORE: usize = 160;
/// The maximum distance from a keyword to the end of a match.
const BEHIND: usize = 1_200;

static RULES: LazyLock<Rules> = LazyLock::new(|| Rules::read(&[GITLEAKS, OURS]));

/// Adds the secrets that match a rule.
pub(super) fn find(text: &str, found: &mut Vec<Range<usize>>) {
    RULES.find(text, found);
}

struct Rules {
    all: Vec<Rule>,
    keywords: Option<AhoCorasick>,
    /// The rule of each keyword.
    rule_of: Vec<usize>,
}

struct Rule {
    pattern: String,
    regex: OnceLock<Option<Regex>>,
    /// The least entropy of a secret.
    entropy: f64,
    group: Option<usize>,
}

impl Rules {
    fn read(files: &[&str]) -> Self {
        let (mut rules, mut keywords, mut rule_of) = (Vec::new(), Vec::new(), Vec::new());
        let files: Vec<_> = files
            .iter()
            .filter_map(|file| DeTable::parse(file).ok())
            .collect();
        let lists = files.iter().filter_map(|file| file.get_ref().get("rules"));
        for rule in lists.filter_map(|list| list.get_ref().as_array()).flatten() {
            let member = |name: &str| Some(rule.get_ref().get(name)?.get_ref());
            let (Some(id), Some(pattern)) = (
                member("id").and_then(DeValue::as_str),
                member("regex").and_then(DeValue::as_str),
            ) else {
                continue;
            };
            if LEFT_OUT.iter().any(|(left_out, _)| *left_out == id) {
                continue;
            }
            let words = member("keywords").and_then(DeValue::as_array);
            for word in words.into_iter().flatten() {
                keywords.extend(word.get_ref().as_str().map(str::to_owned));
                rule_of.resize(keywords.len(), rules.len());
            }
            rules.push(Rule {
                pattern: pattern.replace(CLOSED, CLOSED_BY_ANYTHING),
                regex: OnceLock::new(),
                entropy: member("entropy").and_then(number).unwrap_or_default(),
                group: member("secretGroup").and_then(number),
            });
        }
        let keywords = AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .build(keywords);
        Self {
            all: rules,
            keywords: keywords.ok(),
            rule_of,
        }
    }

    fn find(&self, text: &str, found: &mut Vec<Range<usize>>) {
        let Some(keywords) = &self.keywords else {
            return;
        };
        // The next range of each rule, which grows with every keyword.
        let mut open: Vec<(usize, Range<usize>)> = Vec::new();
        for keyword in keywords.find_overlapping_iter(text) {
            let Some(&rule) = self.rule_of.get(keyword.pattern().as_usize()) else {
                continue;
            };
            let window = keyword.start().saturating_sub(BEFORE)
                ..keyword.end().saturating_add(BEHIND).min(text.len());
            match open.iter_mut().find(|(of, _)| *of == rule) {
                Some((_, last)) if window.start <= last.end => last.end = window.end,
                Some((_, last)) => {
                    let whole = std::mem::replace(last, window);
                    self.look(rule, text, whole, found);
                }
                None => open.push((rule, window)),
            }
        }
        for (rule, window) in open {
            self.look(rule, text, window, found);
        }
    }

    /// Runs a rule over a range of a text.
    fn look(&self, rule: usize, text: &str, window: Range<usize>, found: &mut Vec<Range<usize>>) {
        let Some(rule) = self.all.get(rule) else {
            return;
        };
        let Some(regex) = rule.regex() else { return };
        let bytes = text.as_bytes().get(..window.end).unwrap_or_default();
        let mut at = window.start;
        while let Some(captures) = regex.captures_at(bytes, at) {
            let whole = captures.get(0).map_or(at..at, |whole| whole.range());
            at = whole.end.max(at + 1);
            let secret = rule.secret(&captures).unwrap_or(whole);
            if entropy(bytes.get(secret.clone()).unwrap_or_default()) > rule.entropy {
                found.push(at_characters(text, secret));
            }
            if at > bytes.len() {
                break;
            }
        }
    }
}

impl Rule {
    fn regex(&self) -> Option<&Regex> {
        let compiled = self.regex.get_or_init(|| {
            let regex = RegexBuilder::new(&self.pattern).unicode(false).build();
            regex.ok()
        });
        compiled.as_ref()
    }

    /// Returns the secret of a match: the group of the rule, or the first that is not empty.
    fn secret(&self, captures: &Captures<'_>) -> Option<Range<usize>> {
        if let Some(group) = self.group {
            return captures.get(group).map(|group| group.range());
        }
        let mut groups = captures.iter().skip(1).flatten();
        let first = groups.find(|group| !group.is_empty())?;
        Some(first.range())
    }
}

fn number<T: std::str::FromStr>(value: &DeValue<'_>) -> Option<T> {
    let whole = value.as_integer().map(DeInteger::as_str);
    let text = whole.or_else(|| value.as_float().map(DeFloat::as_str));
    text?.parse().ok()
}

/// Returns the Shannon entropy in bits per byte.
pub(super) fn entropy(bytes: &[u8]) -> f64 {
    let mut counts = [0_u32; 256];
    for byte in bytes {
        counts[usize::from(*byte)] += 1;
    }
    let Ok(length) = u32::try_from(bytes.len()) else {
        return 8.0;
    };
    let length = f64::from(length);
    let shares = counts
        .iter()
        .filter(|count| **count > 0)
        .map(|count| f64::from(*count) / length);
    shares.map(|share| -share * share.log2()).sum()
}

/// Widens a range of bytes to whole characters.
fn at_characters(text: &str, range: Range<usize>) -> Range<usize> {
    let (mut start, mut end) = (range.start, range.end);
    while !text.is_char_boundary(start) {
        start -= 1;
    }
    while !text.is_char_boundary(end) {
        end += 1;
    }
    start..end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_is_used_or_excluded_with_a_reason() {
        let n_rules: usize = [GITLEAKS, OURS]
            .map(|file| file.matches("\n[[rules]]\n").count())
            .iter()
            .sum();
        assert_eq!(RULES.all.len() + LEFT_OUT.len(), n_rules);
        for rule in &RULES.all {
            assert!(rule.regex().is_some(), "{}", rule.pattern);
        }
        for (id, _) in LEFT_OUT {
            assert!(GITLEAKS.contains(&format!("\nid = \"{id}\"\n")), "{id}");
        }
        assert!(RULES.keywords.is_some());
    }

    #[test]
    fn words_have_less_entropy_than_tokens() {
        assert!(entropy(b"") < 0.1);
        assert!(entropy(b"aaaaaaaaaaaaaaaa") < 0.1);
        assert!(entropy(b"0123456789abcdef") > 3.9);
    }
}
