//! Distinguishes unquoted secrets from words of prose and code.

use super::names::Name;

/// Words in lower case that follow `password:` or `token =` and are not secrets.
const WORDS: &str = "
    a an and any args array async authentication auto await bool boolean byte bytes changed
    char data default denied disabled else empty enabled error expired fail failed failure
    false float for from function hidden if in incorrect input int integer invalid is it
    lambda list map masked match missing must new nil no none not null number object off ok
    omitted on option optional or pass passed pathbuf redacted ref removed required result
    self set should str string struct success tbd text the this to todo true type undefined
    unknown unset updated valid value vec void wrong yes
";

/// The context of a value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Context {
    /// The only value of a line that begins with its name.
    Setting,
    /// A sentence or code.
    Sentence,
}

/// Returns whether a value without quotes, after `:` or ` = `, is a secret.
pub(super) fn is_secret(name: Name, value: &str, context: Context) -> bool {
    let value = value.trim_end_matches([',', ';', '.', ')', ']', '}', '"', '\'', '`']);
    if value.is_empty() || is_reference(value) || is_code(value) {
        return false;
    }
    let is_number = value.bytes().all(|byte| byte.is_ascii_digit());
    if is_number {
        return name == Name::Password && value.len() >= 4 && context == Context::Setting;
    }
    if is_mixed(value) && value.len() >= 6 {
        return name != Name::Weak || is_random(value);
    }
    let small = value.to_ascii_lowercase();
    // `SecretString` and `user.password` are code that handles the secret.
    let is_named = ["password", "passwd", "secret", "token", "key"]
        .iter()
        .any(|name| small.contains(name));
    let is_word = WORDS.split_ascii_whitespace().any(|word| word == small);
    match (context, name) {
        (Context::Setting, Name::Password | Name::Secret) => !is_named && !is_word,
        (Context::Setting, Name::Token) => !is_named && !is_word && value.len() >= 12,
        (Context::Setting, Name::Weak) | (Context::Sentence, _) => false,
    }
}

/// Returns whether it mixes letters with digits or special characters.
fn is_mixed(value: &str) -> bool {
    let has = |fits: fn(u8) -> bool| value.bytes().any(fits);
    let has_letter = has(|byte| byte.is_ascii_alphabetic());
    has_letter && (has(|byte| byte.is_ascii_digit()) || has(|byte| b"!@#%^&*+=~?$".contains(&byte)))
}

/// Returns whether a value looks generated.
pub(super) fn is_random(value: &str) -> bool {
    let has = |fits: fn(u8) -> bool| value.bytes().any(fits);
    value.len() >= 8
        && !value.contains(char::is_whitespace)
        && has(|byte| byte.is_ascii_alphabetic())
        && has(|byte| byte.is_ascii_digit() || byte == b'=')
        && super::rules::entropy(value.as_bytes()) > 2.5
}

/// Returns whether a value refers to a secret: a variable, a template, a path or a URL.
pub(super) fn is_reference(value: &str) -> bool {
    const STARTS: [&str; 13] = [
        "$(", "${", "{", "<", "[", "%(", "&", "|", ">", "/", "./", "~/", "***",
    ];
    if STARTS.iter().any(|start| value.starts_with(start)) || value.contains("://") {
        return true;
    }
    let is_variable = |name: &str| {
        let name = name.strip_prefix("env:").unwrap_or(name);
        !name.is_empty()
            && name
                .bytes()
                .all(|byte| byte.is_ascii_uppercase() || byte == b'_')
    };
    value.strip_prefix('$').is_some_and(is_variable)
}

/// Returns whether a value is an expression: a call, an index or a path.
fn is_code(value: &str) -> bool {
    let name_end = value
        .find(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '_' | '.' | ':'))
        .unwrap_or(value.len());
    let (head, rest) = value.split_at_checked(name_end).unwrap_or_default();
    let starts_as_name = head.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    let is_call = starts_as_name && rest.starts_with(['(', '[', '<', '{']);
    let is_path = starts_as_name
        && rest.is_empty()
        && (head.contains("::")
            || (head.contains('.') && !head.contains(|c: char| c.is_ascii_digit())));
    is_call || is_path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_distinguished_from_words_and_code() {
        use Context::{Sentence, Setting};
        use Name::{Password, Secret, Token, Weak};
        for (name, value, context, expected) in [
            (Password, "x", Setting, true),
            (Password, "hunter2", Sentence, true),
            (Password, "correct!horse", Sentence, true),
            (Password, "1234", Setting, true),
            (Password, "1234", Sentence, false),
            (Password, "correcthorse", Sentence, false),
            (Password, "string;", Setting, false),
            (Password, "user.password", Setting, false),
            (Password, "hash(input)", Setting, false),
            (Password, "${DB_PASSWORD}", Setting, false),
            (Password, "$PASSWORD", Setting, false),
            (Password, "<your-password>", Setting, false),
            (Secret, "SecretString,", Setting, false),
            (Secret, "wJalrXUtnFEMI/K7MDENG", Sentence, true),
            (Token, "identifier", Setting, false),
            (Token, "abc123def456", Sentence, true),
            (Token, "4096", Setting, false),
            (Weak, "none", Setting, false),
            (Weak, "dXNlcjpwYXNzMQ==", Setting, true),
        ] {
            assert_eq!(is_secret(name, value, context), expected, "{value}");
        }
    }
}
