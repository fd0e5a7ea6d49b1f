//! What secrets look like: the beginnings of well-known tokens, and the names that stand before one.

/// A kind of token: a beginning that stays readable, and what follows it.
pub(super) struct Shape {
    pub(super) prefix: &'static str,
    /// How much must follow.
    least: usize,
    follows: Follows,
}

#[derive(Clone, Copy)]
enum Follows {
    /// Letters, digits, `-` and `_`.
    Word,
    /// The same, and one of them is a digit: the beginning alone is too common.
    WordWithDigit,
    /// Capital letters and digits.
    Capitals,
    /// Three parts of [`Follows::Word`] with dots between.
    Dotted,
}

/// Longer beginnings first.
pub(super) const SHAPES: &[Shape] = &[
    // Anthropic, OpenAI and those who do like them
    shape("sk-ant-", 8, Follows::Word),
    shape("sk-proj-", 16, Follows::Word),
    shape("sk-", 20, Follows::WordWithDigit),
    // GitHub and GitLab
    shape("github_pat_", 16, Follows::Word),
    shape("ghp_", 16, Follows::Word),
    shape("gho_", 16, Follows::Word),
    shape("ghu_", 16, Follows::Word),
    shape("ghs_", 16, Follows::Word),
    shape("ghr_", 16, Follows::Word),
    shape("glpat-", 16, Follows::Word),
    // Amazon
    shape("AKIA", 16, Follows::Capitals),
    shape("ASIA", 16, Follows::Capitals),
    // Slack
    shape("xoxa-", 8, Follows::Word),
    shape("xoxb-", 8, Follows::Word),
    shape("xoxe-", 8, Follows::Word),
    shape("xoxp-", 8, Follows::Word),
    shape("xoxs-", 8, Follows::Word),
    // Google, npm, Hugging Face
    shape("AIza", 30, Follows::Word),
    shape("npm_", 30, Follows::WordWithDigit),
    shape("hf_", 30, Follows::Word),
    // A signed token: `{"` in base64
    shape("eyJ", 30, Follows::Dotted),
];

const fn shape(prefix: &'static str, least: usize, follows: Follows) -> Shape {
    Shape {
        prefix,
        least,
        follows,
    }
}

impl Shape {
    /// Returns whether bytes begin with such a token.
    pub(super) fn fits(&self, bytes: &[u8]) -> bool {
        let Some(rest) = bytes.strip_prefix(self.prefix.as_bytes()) else {
            return false;
        };
        let length = self.length(rest);
        let value = rest.get(..length).unwrap_or_default();
        length >= self.least
            && match self.follows {
                Follows::Word | Follows::Capitals => true,
                Follows::WordWithDigit => value.iter().any(u8::is_ascii_digit),
                Follows::Dotted => value.split(|byte| *byte == b'.').count() >= 3,
            }
    }

    /// Returns how much of what follows the prefix belongs to the token.
    pub(super) fn length(&self, rest: &[u8]) -> usize {
        let fits = |byte: u8| match self.follows {
            Follows::Word | Follows::WordWithDigit => is_word(byte),
            Follows::Capitals => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
            Follows::Dotted => is_word(byte) || byte == b'.',
        };
        let end = rest.iter().position(|byte| !fits(*byte));
        end.unwrap_or(rest.len())
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_')
}

/// The ends of names whose value is a secret, in small letters and without `_` and `-`.
const NAMES: [&[u8]; 10] = [
    b"password",
    b"passwd",
    b"passphrase",
    b"pwd",
    b"secret",
    b"token",
    b"apikey",
    b"accesskey",
    b"secretkey",
    b"privatekey",
];

/// Returns whether what stands before `=` or `:` ends with the name of a secret.
pub(super) fn is_secret_name(before: &[u8]) -> bool {
    // The longest name and a few `_`: more need not be looked at.
    let letters = before
        .iter()
        .rev()
        .take(20)
        .take_while(|byte| is_word(**byte))
        .filter(|byte| byte.is_ascii_alphanumeric());
    let mut name = [0; 20];
    let mut length = 0;
    for (place, byte) in name.iter_mut().rev().zip(letters) {
        *place = byte.to_ascii_lowercase();
        length += 1;
    }
    let name = name.get(name.len() - length..).unwrap_or_default();
    // A line of the shell that shows where it stands is no secret.
    name != b"pwd" && NAMES.iter().any(|known| name.ends_with(known))
}
