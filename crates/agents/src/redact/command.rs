//! Secrets in command lines.
//!
//! After `--password`, in a header or in `user:password` a command has a secret where a sentence has an
//! ordinary word. So only known commands and the arguments of [`PROGRAMS`] are searched.

use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

use super::{names, redact};

/// Programs that take a password after `-p`.
const TAKE_P: [&str; 5] = ["docker", "mariadb", "mysql", "mysqldump", "sshpass"];
/// Programs with options for logins or passwords.
const PROGRAMS: &str = "curl docker mariadb mysql mysqldump openssl podman redis-cli sshpass wget";

/// Returns a command line with its secrets masked.
pub(crate) fn redact_command(line: &str) -> String {
    let line = redact(line);
    let mut secrets = Vec::new();
    spans(&line, 0, true, &mut secrets);
    super::apply(&line, &super::masks(super::tidy(&line, secrets)))
}

/// Adds the secrets in the arguments of [`PROGRAMS`].
pub(super) fn find(text: &str, secrets: &mut Vec<Range<usize>>) {
    static NAMES: LazyLock<Option<AhoCorasick>> =
        LazyLock::new(|| AhoCorasick::new(PROGRAMS.split(' ')).ok());
    let Some(names) = NAMES.as_ref() else { return };
    let mut seen = 0;
    for name in names.find_iter(text) {
        if name.start() < seen {
            continue;
        }
        let rest = text.get(name.start()..).unwrap_or_default();
        let before = text.get(..name.start()).unwrap_or_default();
        let is_word = !before.ends_with(|c: char| c.is_alphanumeric() || "-_.".contains(c));
        let line = rest.split('\n').next().unwrap_or_default();
        let mut words = line.split_whitespace();
        if !is_word || words.next().is_none_or(|word| word.len() != name.len()) {
            continue;
        }
        // `docker run -p 80:80` publishes a port.
        let has_login = words.next() == Some("login");
        let publishes = line.starts_with("docker") || line.starts_with("podman");
        if publishes && !has_login {
            continue;
        }
        seen = name.start() + line.len();
        spans(line, name.start(), false, secrets);
    }
}

/// Adds the secrets of a line; if it `is_command`, words like `token: x` are arguments too.
fn spans(line: &str, offset: usize, is_command: bool, secrets: &mut Vec<Range<usize>>) {
    let mut expected = Expected::Nothing;
    let mut takes_p = false;
    let mut at = 0;
    for piece in line.split_inclusive(char::is_whitespace) {
        let word = piece.trim_end();
        let start = offset + at;
        at += piece.len();
        if word.is_empty() {
            continue;
        }
        let bare = word.trim_matches(['"', '\'']);
        let name = bare.rsplit('/').next().unwrap_or_default();
        takes_p |= TAKE_P.contains(&name);
        let (keep, next) = secret_in(word, bare, &expected, takes_p, is_command);
        if let Some(kept) = keep {
            let quote = word.len() - word.trim_end_matches(['"', '\'']).len();
            let end = (word.len() - quote).max(kept);
            if !super::value::is_reference(&word[kept..end]) {
                secrets.push(start + kept..start + end);
            }
        }
        expected = next;
    }
}

/// The meaning of the next word.
enum Expected {
    /// An ordinary word.
    Nothing,
    /// A secret, up to the end of its quote, if any.
    Secret(Option<char>),
    /// A user name and a password after a colon.
    Login,
}

/// Returns the length of the visible prefix of a word with a secret, and the meaning of the next.
fn secret_in(
    word: &str,
    bare: &str,
    expected: &Expected,
    takes_p: bool,
    is_command: bool,
) -> (Option<usize>, Expected) {
    let opening = word.len() - word.trim_start_matches(['"', '\'']).len();
    let first_quote = word.chars().next().filter(|c| "\"'".contains(*c));
    match expected {
        // The secret follows the scheme.
        Expected::Secret(quote) if ["Bearer", "Basic", "Token"].contains(&bare) => {
            return (None, Expected::Secret(*quote));
        }
        Expected::Secret(open) => {
            let quote = open.or(first_quote);
            // The opening quote does not close it.
            let rest = word.get(usize::from(open.is_none())..).unwrap_or_default();
            let is_closed = quote.is_none_or(|quote| rest.ends_with(quote));
            let next = if is_closed {
                Expected::Nothing
            } else {
                Expected::Secret(quote)
            };
            return ((!bare.is_empty()).then_some(opening), next);
        }
        Expected::Login => {
            let colon = word.find(':').filter(|colon| colon + 1 < word.len());
            return (colon.map(|colon| colon + 1), Expected::Nothing);
        }
        Expected::Nothing => {}
    }
    let is_name = |name: &str| names::is_secret(name.as_bytes());
    match bare.split_once(':').filter(|_| is_command) {
        Some((name, "")) if is_name(name) => return (None, Expected::Secret(first_quote)),
        Some((name, _)) if is_name(name) && !name.contains('/') => {
            return (Some(opening + name.len() + 1), Expected::Nothing);
        }
        Some(_) | None => {}
    }
    match bare {
        "-u" | "--user" | "--proxy-user" => (None, Expected::Login),
        "-p" if takes_p => (None, Expected::Secret(None)),
        "-a" if !is_command => (None, Expected::Secret(None)),
        _ if bare.starts_with("pass:") => (Some(opening + 5), Expected::Nothing),
        _ if takes_p && bare.starts_with("-p") => (Some(opening + 2), Expected::Nothing),
        _ if bare.starts_with("--") && is_name(bare) => (None, Expected::Secret(None)),
        _ => (None, Expected::Nothing),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn secrets_in_arguments_are_masked() {
        for (line, expected) in [
            ("tool --password hunter22 x", "tool --password *** x"),
            ("tool --api-key 'hunter 22' x", "tool --api-key '***' x"),
            ("curl -u user:hunter22 url", "curl -u user:*** url"),
            ("curl --user 'me:hunter22' url", "curl --user 'me:***' url"),
            (
                "curl -H \"X-Api-Key: hunter22\" url",
                "curl -H \"X-Api-Key: ***\" url",
            ),
            (
                "curl -H 'X-Auth-Token:hunter22' url",
                "curl -H 'X-Auth-Token:***' url",
            ),
            (
                "curl -H 'X-Api-Key: a b ' -X POST",
                "curl -H 'X-Api-Key: *** *** ' -X POST",
            ),
            ("tool --token '' x", "tool --token '' x"),
            ("sshpass -p hunter22 ssh x", "sshpass -p *** ssh x"),
            ("/usr/bin/mysql -phunter22 db", "/usr/bin/mysql -p*** db"),
            ("echo SECRET: hunter22", "echo SECRET: ***"),
            ("echo token: Bearer ab", "echo token: Bearer ***"),
            ("DB_PASSWORD=hunter22 make", "DB_PASSWORD=*** make"),
        ] {
            assert_eq!(redact_command(line), expected, "{line}");
        }
    }

    #[test]
    fn other_arguments_are_not_changed() {
        for line in [
            "cargo test --all -p rekindle",
            "mkdir -p a/b && git push -u origin main",
            "docker run -u 1000 image",
            "grep -n  'x: y'\tsrc/lib.rs",
            "pytest tests/test_token.py::test_x",
            "",
        ] {
            assert_eq!(redact_command(line), line);
        }
    }

    proptest! {
        #[test]
        fn no_line_causes_a_panic(line in "[-a-z\"' :=/é🔥]{0,40}", any in any::<String>()) {
            redact_command(&line);
            redact_command(&format!("sshpass {any}"));
            redact_command(&format!("--password {any}"));
        }
    }
}
