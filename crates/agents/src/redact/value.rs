//! Values that follow the name of a secret without quotes: are they one, or a word of prose or code?

use super::names::Name;

/// Words that follow `password:` or `token =` and are not a secret, in small letters.
const WORDS: &[&str] = &[
    "a",
    "an",
    "and",
    "any",
    "args",
    "array",
    "async",
    "authentication",
    "auto",
    "await",
    "bool",
    "boolean",
    "byte",
    "bytes",
    "changed",
    "char",
    "data",
    "default",
    "denied",
    "disabled",
    "else",
    "empty",
    "enabled",
    "error",
    "expired",
    "fail",
    "failed",
    "failure",
    "false",
    "float",
    "for",
    "from",
    "function",
    "hidden",
    "if",
    "in",
    "incorrect",
    "input",
    "int",
    "integer",
    "invalid",
    "is",
    "it",
    "lambda",
    "list",
    "map",
    "masked",
    "match",
    "missing",
    "must",
    "new",
    "nil",
    "no",
    "none",
    "not",
    "null",
    "number",
    "object",
    "off",
    "ok",
    "omitted",
    "on",
    "option",
    "optional",
    "or",
    "pass",
    "passed",
    "pathbuf",
    "redacted",
    "ref",
    "removed",
    "required",
    "result",
    "self",
    "set",
    "should",
    "str",
    "string",
    "struct",
    "success",
    "tbd",
    "text",
    "the",
    "this",
    "to",
    "todo",
    "true",
    "type",
    "undefined",
    "unknown",
    "unset",
    "updated",
    "valid",
    "value",
    "vec",
    "void",
    "wrong",
    "yes",
];

/// Where a value is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Place {
    /// The only value of its line, behind a name that begins the line: a line of settings.
    Setting,
    /// Anywhere else: in a sentence or in code.
    Sentence,
}

/// Returns whether a value without quotes, after `:` or ` = `, is a secret.
pub(super) fn is_secret(name: Name, value: &str, place: Place) -> bool {
    let value = value.trim_end_matches([',', ';', '.', ')', ']', '}', '"', '\'', '`']);
    if value.is_empty() || is_reference(value) || is_code(value) {
        return false;
    }
    let is_number = value.bytes().all(|byte| byte.is_ascii_digit());
    if is_number {
        return name == Name::Password && value.len() >= 4 && place == Place::Setting;
    }
    if is_mixed(value) && value.len() >= 6 {
        return name != Name::Weak || is_random(value);
    }
    let small = value.to_ascii_lowercase();
    // `SecretString` and `user.password` are of the program that handles the secret.
    let is_named = ["password", "passwd", "secret", "token", "key"]
        .iter()
        .any(|name| small.contains(name));
    let is_word = WORDS.contains(&small.as_str());
    match (place, name) {
        (Place::Setting, Name::Password | Name::Secret) => !is_named && !is_word,
        (Place::Setting, Name::Token) => !is_named && !is_word && value.len() >= 12,
        (Place::Setting, Name::Weak) | (Place::Sentence, _) => false,
    }
}

/// Returns whether letters and digits, or signs that words do not have, are in it.
fn is_mixed(value: &str) -> bool {
    let has = |fits: fn(u8) -> bool| value.bytes().any(fits);
    let has_letter = has(|byte| byte.is_ascii_alphabetic());
    has_letter && (has(|byte| byte.is_ascii_digit()) || has(|byte| b"!@#%^&*+=~?$".contains(&byte)))
}

/// Returns whether a value looks as if a machine had made it.
pub(super) fn is_random(value: &str) -> bool {
    let has = |fits: fn(u8) -> bool| value.bytes().any(fits);
    value.len() >= 8
        && !value.contains(char::is_whitespace)
        && has(|byte| byte.is_ascii_alphabetic())
        && has(|byte| byte.is_ascii_digit() || byte == b'=')
        && super::rules::entropy(value.as_bytes()) > 2.5
}

/// A value that says where the secret is: a variable, a template, a path, an address.
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

/// An expression of a program: a call, an index, a path of names.
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
    fn values_are_told_from_words_and_code() {
        use Name::{Password, Secret, Token, Weak};
        use Place::{Sentence, Setting};
        for (name, value, place, expected) in [
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
            assert_eq!(is_secret(name, value, place), expected, "{value}");
        }
    }
}
