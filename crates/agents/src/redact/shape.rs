//! The shapes of well-known tokens.
//!
//! These are wider than the rules of gitleaks: truncated tokens and odd lengths count too.

use std::sync::LazyLock;

use Follows::{Bot, Capitals, DotInside, Dotted, Word, WordWithDigit};

use super::names::is_word;

/// A kind of token: a prefix that stays readable, and the rest.
pub(super) struct Shape {
    pub(super) prefix: &'static str,
    /// The least length of the rest.
    least: usize,
    follows: Follows,
}

#[derive(Clone, Copy)]
enum Follows {
    /// Letters, digits, `-` and `_`.
    Word,
    /// The same with a digit, for common prefixes.
    WordWithDigit,
    /// Capital letters and digits.
    Capitals,
    /// Three parts of [`Word`] with dots between.
    Dotted,
    /// The same with at least one dot.
    DotInside,
    /// Three parts with dots between, the second of six characters.
    Bot,
}

/// Prefixes, the least length of the rest, and its form; longer prefixes first.
const SHAPES: &[(&str, usize, Follows)] = &[
    // Anthropic, OpenAI and compatible
    ("sk-ant-", 8, Word),
    ("sk-proj-", 16, Word),
    ("sk-", 20, WordWithDigit),
    // GitHub, GitLab
    (
        "github_pat_ ghp_ gho_ ghu_ ghs_ ghr_ glpat- gldt- glrt- glptt-",
        16,
        Word,
    ),
    // Amazon, age
    ("AKIA ASIA AGE-SECRET-KEY-1", 16, Capitals),
    // Slack
    ("xoxa- xoxb- xoxe- xoxp- xoxr- xoxs- xapp-", 8, Word),
    // Google, npm, Hugging Face
    ("AIza hf_", 30, Word),
    ("npm_", 30, WordWithDigit),
    ("ya29. GOCSPX-", 16, Word),
    // Stripe, Square, Shopify
    ("sk_live_ sk_test_ rk_live_ rk_test_", 10, Word),
    ("whsec_ sq0atp- sq0csp- shpat_ shpss_", 16, Word),
    // SendGrid, Sendinblue
    ("SG.", 32, DotInside),
    ("xkeysib-", 16, Word),
    // PyPI, RubyGems, crates.io, Docker
    ("pypi-", 30, WordWithDigit),
    ("cio", 32, WordWithDigit),
    ("rubygems_ dckr_pat_ dckr_oat_", 16, Word),
    // Vault, DigitalOcean, Databricks, Fly, Pulumi, Tailscale, Heroku, Netlify, Supabase
    (
        "hvs. hvb. hvr. dop_v1_ doo_v1_ dor_v1_ tskey- HRKU-",
        16,
        Word,
    ),
    ("dapi", 32, WordWithDigit),
    ("fo1_", 30, Word),
    ("pul-", 40, WordWithDigit),
    ("nfp_ sbp_", 24, Word),
    // Atlassian, Linear, Notion, Figma, Postman, Grafana, Doppler, Sentry, CircleCI
    ("ATATT3 PMAK- glsa_ dp.pt. sntrys_ sntryu_", 24, Word),
    ("lin_api_ figd_ CCIPAT_", 16, Word),
    ("ntn_", 24, WordWithDigit),
    ("glc_", 32, WordWithDigit),
    ("dp.st.", 24, DotInside),
    // Groq, xAI, Replicate, Perplexity
    ("gsk_ xai- r8_", 30, WordWithDigit),
    ("pplx-", 30, Word),
    // Discord bots: a number in base64
    ("MD MT Mj Mz ND NT Nj Nz OD OT", 54, Bot),
    // Signed tokens: `{"` in base64
    ("eyJ", 30, Dotted),
];

/// The shapes by the first byte of their prefix.
static BY_FIRST: LazyLock<Vec<Vec<Shape>>> = LazyLock::new(|| {
    let mut by_first: Vec<Vec<Shape>> = (0..=u8::MAX).map(|_| Vec::new()).collect();
    for &(prefixes, least, follows) in SHAPES {
        for prefix in prefixes.split(' ') {
            by_first[usize::from(prefix.as_bytes()[0])].push(Shape {
                prefix,
                least,
                follows,
            });
        }
    }
    by_first
});

/// Returns the shape of the token at the start of bytes.
pub(super) fn at(bytes: &[u8]) -> Option<&'static Shape> {
    let mut candidates = BY_FIRST.get(usize::from(*bytes.first()?))?.iter();
    candidates.find(|shape| shape.fits(bytes) || shape.is_cut(bytes))
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
                Word | Capitals => true,
                WordWithDigit => value.iter().any(u8::is_ascii_digit),
                Dotted => value.split(|byte| *byte == b'.').count() >= 3,
                DotInside => value.contains(&b'.'),
                Bot => {
                    let mut parts = value.split(|byte| *byte == b'.').map(<[u8]>::len);
                    let lengths = (parts.next(), parts.next(), parts.next());
                    matches!(lengths, (Some(20..=28), Some(6), Some(27..=40)))
                }
            }
    }

    /// Returns whether a line ends within such a token, which was wrapped.
    pub(super) fn is_cut(&self, bytes: &[u8]) -> bool {
        const LEAST: usize = 6;
        let Some(rest) = bytes.strip_prefix(self.prefix.as_bytes()) else {
            return false;
        };
        let value = rest.get(..self.length(rest)).unwrap_or_default();
        let is_at_end = rest
            .get(value.len())
            .is_none_or(|byte| b"\r\n".contains(byte));
        // Shorter prefixes begin too many words.
        self.prefix.len() > 3
            && is_at_end
            && value.len() >= LEAST
            && value.iter().any(u8::is_ascii_digit)
            && matches!(self.follows, Word | Capitals)
    }

    /// Returns the length of the token after its prefix.
    pub(super) fn length(&self, rest: &[u8]) -> usize {
        let fits = |byte: u8| match self.follows {
            Word | WordWithDigit => is_word(byte),
            Capitals => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
            Dotted | DotInside | Bot => is_word(byte) || byte == b'.',
        };
        let end = rest.iter().position(|byte| !fits(*byte));
        end.unwrap_or(rest.len())
    }
}
