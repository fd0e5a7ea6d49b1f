//! Secrets in the command lines that tools were called with.
//!
//! In a command a secret stands where it would be an ordinary word of prose: behind `--password`, in a
//! header, in `user:password`. So this is for lines that are known to be commands.

use super::{MASK, redact, shape};

/// Programs that take a password right behind `-p`.
const TAKE_P: [&str; 4] = ["mariadb", "mysql", "mysqldump", "sshpass"];

/// Returns a command line with its secrets masked.
pub(crate) fn redact_command(line: &str) -> String {
    let line = redact(line);
    let mut shown = String::with_capacity(line.len());
    let mut expected = Expected::Nothing;
    let mut takes_p = false;
    for piece in line.split_inclusive(char::is_whitespace) {
        let word = piece.trim_end();
        if word.is_empty() {
            shown.push_str(piece);
            continue;
        }
        let bare = word.trim_matches(['"', '\'']);
        let name = bare.rsplit('/').next().unwrap_or_default();
        takes_p |= TAKE_P.contains(&name);
        let (keep, next) = secret_in(word, bare, &expected, takes_p);
        match keep {
            Some(kept) => {
                let quote = word.len() - word.trim_end_matches(['"', '\'']).len();
                shown.push_str(&word[..kept]);
                shown.push_str(MASK);
                shown.push_str(&word[word.len() - quote..]);
                shown.push_str(&piece[word.len()..]);
            }
            None => shown.push_str(piece),
        }
        expected = next;
    }
    shown
}

/// What the next word is.
enum Expected {
    /// A word like any other.
    Nothing,
    /// A secret, up to the end of the quote that it stands in, if it stands in one.
    Secret(Option<char>),
    /// A name, and the password behind a colon.
    Login,
}

/// Returns how much of a word is shown if a secret is in it, and what comes after it.
fn secret_in(
    word: &str,
    bare: &str,
    expected: &Expected,
    takes_p: bool,
) -> (Option<usize>, Expected) {
    let opening = word.len() - word.trim_start_matches(['"', '\'']).len();
    let first_quote = word.chars().next().filter(|c| "\"'".contains(*c));
    match expected {
        // A scheme stands before what it is the scheme of.
        Expected::Secret(quote) if ["Bearer", "Basic", "Token"].contains(&bare) => {
            return (None, Expected::Secret(*quote));
        }
        Expected::Secret(open) => {
            let quote = open.or(first_quote);
            // The quote that opens it here does not close it as well.
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
    let is_name = |name: &str| shape::is_secret_name(name.as_bytes());
    match bare.split_once(':') {
        Some((name, "")) if is_name(name) => return (None, Expected::Secret(first_quote)),
        Some((name, _)) if is_name(name) && !name.contains('/') => {
            return (Some(opening + name.len() + 1), Expected::Nothing);
        }
        Some(_) | None => {}
    }
    match bare {
        "-u" | "--user" | "--proxy-user" => (None, Expected::Login),
        "-p" if takes_p => (None, Expected::Secret(None)),
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
    fn secrets_of_commands_are_masked_where_only_a_command_has_them() {
        for (line, expected) in [
            ("tool --password hunter22 x", "tool --password *** x"),
            ("tool --api-key 'hunter 22' x", "tool --api-key '*** ***' x"),
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
    fn other_words_of_commands_are_left_alone() {
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
        fn no_line_can_break_it(line in "[-a-z\"' :=/é🔥]{0,40}", any in any::<String>()) {
            redact_command(&line);
            redact_command(&format!("sshpass {any}"));
            redact_command(&format!("--password {any}"));
        }
    }
}
