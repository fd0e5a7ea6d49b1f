//! What secrets look like: the beginnings of well-known tokens.
//!
//! These are wider than the rules of gitleaks: a token that is cut off or of an odd length is one too.

use std::sync::LazyLock;

use super::names::is_word;

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
    /// The same with one dot or more.
    DotInside,
    /// Three parts with dots between, the second of six characters.
    Bot,
}

/// Longer beginnings first.
const SHAPES: &[Shape] = &[
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
    shape("gldt-", 16, Follows::Word),
    shape("glrt-", 16, Follows::Word),
    shape("glptt-", 16, Follows::Word),
    // Amazon
    shape("AKIA", 16, Follows::Capitals),
    shape("ASIA", 16, Follows::Capitals),
    // Slack
    shape("xoxa-", 8, Follows::Word),
    shape("xoxb-", 8, Follows::Word),
    shape("xoxe-", 8, Follows::Word),
    shape("xoxp-", 8, Follows::Word),
    shape("xoxr-", 8, Follows::Word),
    shape("xoxs-", 8, Follows::Word),
    shape("xapp-", 8, Follows::Word),
    // Google, npm, Hugging Face
    shape("AIza", 30, Follows::Word),
    shape("npm_", 30, Follows::WordWithDigit),
    shape("hf_", 30, Follows::Word),
    shape("ya29.", 16, Follows::Word),
    shape("GOCSPX-", 16, Follows::Word),
    // Payment: Stripe, Square, Shopify
    shape("sk_live_", 10, Follows::Word),
    shape("sk_test_", 10, Follows::Word),
    shape("rk_live_", 10, Follows::Word),
    shape("rk_test_", 10, Follows::Word),
    shape("whsec_", 16, Follows::Word),
    shape("sq0atp-", 16, Follows::Word),
    shape("sq0csp-", 16, Follows::Word),
    shape("shpat_", 16, Follows::Word),
    shape("shpss_", 16, Follows::Word),
    // Mail: SendGrid, Sendinblue
    shape("SG.", 32, Follows::DotInside),
    shape("xkeysib-", 16, Follows::Word),
    // Packages: PyPI, RubyGems, crates.io, Docker
    shape("pypi-", 30, Follows::WordWithDigit),
    shape("rubygems_", 16, Follows::Word),
    shape("cio", 32, Follows::WordWithDigit),
    shape("dckr_pat_", 16, Follows::Word),
    shape("dckr_oat_", 16, Follows::Word),
    // Machines: Vault, DigitalOcean, Databricks, Fly, Pulumi, Tailscale, Heroku, Netlify, Supabase
    shape("hvs.", 16, Follows::Word),
    shape("hvb.", 16, Follows::Word),
    shape("hvr.", 16, Follows::Word),
    shape("dop_v1_", 16, Follows::Word),
    shape("doo_v1_", 16, Follows::Word),
    shape("dor_v1_", 16, Follows::Word),
    shape("dapi", 32, Follows::WordWithDigit),
    shape("fo1_", 30, Follows::Word),
    shape("pul-", 40, Follows::WordWithDigit),
    shape("tskey-", 16, Follows::Word),
    shape("HRKU-", 16, Follows::Word),
    shape("nfp_", 24, Follows::Word),
    shape("sbp_", 24, Follows::Word),
    // Tools: Atlassian, Linear, Notion, Figma, Postman, Grafana, Doppler, Sentry, CircleCI
    shape("ATATT3", 24, Follows::Word),
    shape("lin_api_", 16, Follows::Word),
    shape("ntn_", 24, Follows::WordWithDigit),
    shape("figd_", 16, Follows::Word),
    shape("PMAK-", 24, Follows::Word),
    shape("glsa_", 24, Follows::Word),
    shape("glc_", 32, Follows::WordWithDigit),
    shape("dp.pt.", 24, Follows::Word),
    shape("dp.st.", 24, Follows::DotInside),
    shape("sntrys_", 24, Follows::Word),
    shape("sntryu_", 24, Follows::Word),
    shape("CCIPAT_", 16, Follows::Word),
    // Models: Groq, xAI, Replicate, Perplexity
    shape("gsk_", 30, Follows::WordWithDigit),
    shape("xai-", 30, Follows::WordWithDigit),
    shape("r8_", 30, Follows::WordWithDigit),
    shape("pplx-", 30, Follows::Word),
    // age
    shape("AGE-SECRET-KEY-1", 16, Follows::Capitals),
    // Discord's bots: a number in base64
    shape("MD", 54, Follows::Bot),
    shape("MT", 54, Follows::Bot),
    shape("Mj", 54, Follows::Bot),
    shape("Mz", 54, Follows::Bot),
    shape("ND", 54, Follows::Bot),
    shape("NT", 54, Follows::Bot),
    shape("Nj", 54, Follows::Bot),
    shape("Nz", 54, Follows::Bot),
    shape("OD", 54, Follows::Bot),
    shape("OT", 54, Follows::Bot),
    // A signed token: `{"` in base64
    shape("eyJ", 30, Follows::Dotted),
];

/// The kinds of tokens by their first byte: most words begin with a letter that few tokens begin with.
static BY_FIRST: LazyLock<Vec<Vec<&'static Shape>>> = LazyLock::new(|| {
    let begins = |first: u8| {
        let shapes = SHAPES.iter();
        shapes
            .filter(|shape| shape.prefix.as_bytes().first() == Some(&first))
            .collect()
    };
    (0..=u8::MAX).map(begins).collect()
});

/// Returns the kind of token that bytes begin with.
pub(super) fn at(bytes: &[u8]) -> Option<&'static Shape> {
    let candidates = BY_FIRST.get(usize::from(*bytes.first()?))?;
    let mut fitting = candidates
        .iter()
        .filter(|shape| shape.fits(bytes) || shape.is_cut(bytes));
    fitting.next().copied()
}

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
                Follows::DotInside => value.contains(&b'.'),
                Follows::Bot => {
                    let mut parts = value.split(|byte| *byte == b'.').map(<[u8]>::len);
                    let lengths = (parts.next(), parts.next(), parts.next());
                    matches!(lengths, (Some(20..=28), Some(6), Some(27..=40)))
                }
            }
    }

    /// Returns whether a line ends within such a token: a terminal or a program wrapped it.
    pub(super) fn is_cut(&self, bytes: &[u8]) -> bool {
        const LEAST: usize = 6;
        let Some(rest) = bytes.strip_prefix(self.prefix.as_bytes()) else {
            return false;
        };
        let value = rest.get(..self.length(rest)).unwrap_or_default();
        let is_at_end = rest
            .get(value.len())
            .is_none_or(|byte| b"\r\n".contains(byte));
        // Three letters begin too many words.
        self.prefix.len() > 3
            && is_at_end
            && value.len() >= LEAST
            && value.iter().any(u8::is_ascii_digit)
            && matches!(self.follows, Follows::Word | Follows::Capitals)
    }

    /// Returns how much of what follows the prefix belongs to the token.
    pub(super) fn length(&self, rest: &[u8]) -> usize {
        let fits = |byte: u8| match self.follows {
            Follows::Word | Follows::WordWithDigit => is_word(byte),
            Follows::Capitals => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
            Follows::Dotted | Follows::DotInside | Follows::Bot => is_word(byte) || byte == b'.',
        };
        let end = rest.iter().position(|byte| !fits(*byte));
        end.unwrap_or(rest.len())
    }
}
