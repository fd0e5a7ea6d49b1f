//! Names of secrets.

/// The ends of names of secrets, in lower case and without `_`, `-` and `.`.
const ENDS: &str = "
    password passwd passphrase passcode pwd secret token apikey accesskey accountkey authkey
    clientkey clientkeydata encryptionkey licensekey masterkey presharedkey privatekey
    secretkey secretkeybase secretvalue servicekey sharedkey signingkey storagekey
    subscriptionkey
";

/// Names of secrets only if the value looks generated.
const WEAK: [&str; 5] = ["auth", "credential", "credentials", "pass", "sig"];

/// The maximum length of a name that is compared.
const LONGEST: usize = 24;

/// The kind of a name.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Name {
    /// A password, which can be a short number.
    Password,
    /// Another secret.
    Secret,
    /// Just `token`, which is also a word of compilers.
    Token,
    /// A secret only if the value looks generated.
    Weak,
}

/// Returns whether a text ends with the name of a secret.
pub(super) fn is_secret(before: &[u8]) -> bool {
    kind(before).is_some_and(|kind| kind != Name::Weak)
}

/// Returns whether a quoted value with a quoted name is a secret.
pub(super) fn claims(name: &[u8], value: &str) -> bool {
    match kind(name) {
        Some(Name::Weak) => super::value::is_random(value),
        Some(Name::Password | Name::Secret | Name::Token) => !value.is_empty(),
        None => false,
    }
}

/// Returns the kind of the name at the end of a text.
pub(super) fn kind(before: &[u8]) -> Option<Name> {
    let word = before
        .iter()
        .rev()
        .take(LONGEST)
        .take_while(|byte| is_word(**byte));
    // `password1` and `TOKEN_2` are numbered.
    let numbered = word.skip_while(|byte| byte.is_ascii_digit() || **byte == b'_');
    let letters = numbered.filter(|byte| byte.is_ascii_alphanumeric());
    let mut buffer = [0; LONGEST];
    let mut length = 0;
    for (slot, byte) in buffer.iter_mut().rev().zip(letters) {
        *slot = byte.to_ascii_lowercase();
        length += 1;
    }
    let name = buffer.get(LONGEST - length..).unwrap_or_default();
    let mut ends = ENDS.split_ascii_whitespace();
    if let Some(known) = ends.find(|known| name.ends_with(known.as_bytes())) {
        return match known {
            // The working directory of a shell.
            "pwd" if name.len() == 3 || name == b"oldpwd" => None,
            "password" | "passwd" | "passphrase" | "passcode" | "pwd" => Some(Name::Password),
            "token" if name.len() == 5 => Some(Name::Token),
            _ => Some(Name::Secret),
        };
    }
    if before.ends_with(b"_pass") || before.ends_with(b"_PASS") {
        return Some(Name::Password);
    }
    if before.ends_with(b"_auth") || before.ends_with(b"_AUTH") {
        return Some(Name::Weak);
    }
    let is_weak = WEAK.iter().any(|known| known.as_bytes() == name);
    is_weak.then_some(Name::Weak)
}

pub(super) fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_secrets_are_known_in_all_spellings() {
        for (name, expected) in [
            ("password", Some(Name::Password)),
            ("spring.datasource.password", Some(Name::Password)),
            ("DB_PASS", Some(Name::Password)),
            ("password1", Some(Name::Password)),
            ("aws_secret_access_key", Some(Name::Secret)),
            ("X-Api-Key", Some(Name::Secret)),
            ("clientSecret", Some(Name::Secret)),
            ("SECRET_KEY_BASE", Some(Name::Secret)),
            ("client-key-data", Some(Name::Secret)),
            ("_authToken", Some(Name::Secret)),
            ("token", Some(Name::Token)),
            ("auth", Some(Name::Weak)),
            ("_auth", Some(Name::Weak)),
            ("max_tokens", None),
            ("session_id", None),
            ("PWD", None),
            ("OLDPWD", None),
            ("primary_key", None),
            ("author", None),
            ("bypass", None),
            ("", None),
        ] {
            assert_eq!(kind(name.as_bytes()), expected, "{name}");
        }
    }
}
