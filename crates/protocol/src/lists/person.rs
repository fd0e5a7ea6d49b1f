//! Which tasks a person has to do by hand, by the words that lists use for it.

/// What makes a task that begins with `Manual` one for a person.
const KINDS: [&str; 19] = [
    "test",
    "tests",
    "testing",
    "check",
    "checks",
    "verification",
    "validation",
    "review",
    "smoke",
    "sanity",
    "qa",
    "acceptance",
    "quickstart",
    "end-to-end",
    "spot-check",
    "walkthrough",
    "walk-through",
    "step",
    "steps",
];

/// Returns whether a person has to do a task by hand, by its text and its tags.
pub fn is_for_person(text: &str, tags: &[&str]) -> bool {
    let text = text.to_lowercase();
    let plain = text.trim_start_matches(['*', '_', '~', '`', ' ', '\t']);
    let is_named =
        |tag: &&str| tag.eq_ignore_ascii_case("manual") || tag.eq_ignore_ascii_case("human");
    tags.iter().any(is_named)
        || text.contains("[manual]")
        || text.contains("[human]")
        || begins_by_hand(plain)
        || text
            .match_indices('(')
            .any(|(at, _)| is_remark(&text[at + 1..]))
}

fn begins_by_hand(text: &str) -> bool {
    let Some(rest) = text.strip_prefix("manual") else {
        return false;
    };
    if let Some(after) = rest.strip_prefix("ly") {
        return !after.starts_with(char::is_alphanumeric);
    }
    let after = rest.trim_start();
    if after.starts_with(':') {
        return true;
    }
    let is_separate = after.len() < rest.len();
    let is_end = |c: char| !(c.is_alphanumeric() || c == '-');
    let word = after.split(is_end).next().unwrap_or_default();
    is_separate && KINDS.contains(&word.trim_end_matches('-'))
}

/// Returns whether a remark in brackets is about work by hand.
fn is_remark(inside: &str) -> bool {
    let Some(rest) = inside.trim_start().strip_prefix("manual") else {
        return false;
    };
    let is_alternative = rest
        .strip_prefix(" or")
        .is_some_and(|after| !after.starts_with(char::is_alphanumeric));
    !is_alternative
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_by_hand_is_known_by_its_words() {
        for (text, expected) in [
            ("Manually click through the wizard", true),
            ("manual: check the printout", true),
            ("Manual test of the printer", true),
            ("Manual QA on a phone", true),
            ("Manual end-to-end run", true),
            ("**Manual verification** of totals", true),
            ("Run quickstart.md manually", false),
            ("Manual page for the command", false),
            ("Manuals for three products", false),
            ("Test the export (manual verification)", true),
            ("Test the export (manually)", true),
            ("Test the export (manual)", true),
            ("Test the export (manual or automated)", false),
            ("Test [MANUAL] the export", true),
            ("[human] decide", true),
            ("Write the manual (short)", false),
        ] {
            assert_eq!(is_for_person(text, &[]), expected, "{text}");
        }
        assert!(is_for_person("Sign the release", &["MANUAL"]));
        assert!(is_for_person("Sign the release", &["P", "Human"]));
        assert!(!is_for_person("Sign the release", &["P"]));
    }
}
