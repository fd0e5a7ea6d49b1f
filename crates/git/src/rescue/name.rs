//! The refs of rescues: workflow, task and number.

use crate::ref_part::{decode_part, ref_part};

pub(super) const PREFIX: &str = "refs/rekindle/rescue/";

/// No rescue has a larger number, so that counting never overflows.
const LARGEST: u32 = 1_000_000_000;

/// Returns the name of the ref.
pub(super) fn encode(workflow: &str, task: &str, number: u32) -> String {
    format!("{PREFIX}{}/{}/{number}", ref_part(workflow), ref_part(task))
}

/// Returns workflow, task and number, if the name was made by [`encode`].
pub(super) fn decode(name: &str) -> Option<(String, String, u32)> {
    let mut pieces = name.strip_prefix(PREFIX)?.split('/');
    let workflow = decode_part(&mut pieces)?;
    let task = decode_part(&mut pieces)?;
    let number = pieces.next()?.parse().ok()?;
    let is_ours = pieces.next().is_none() && number <= LARGEST;
    (is_ours && encode(&workflow, &task, number) == name).then_some((workflow, task, number))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn usual_names_stay_readable() {
        assert_eq!(
            encode("map", "T-1.2_a", 3),
            "refs/rekindle/rescue/map/T-1.2_a/3"
        );
        let teams = encode("kiln-teams:phase-1", "phase-1:exec", 1);
        assert_eq!(
            teams,
            "refs/rekindle/rescue/kiln-teams%3Aphase-1/phase-1%3Aexec/1"
        );
        assert_eq!(
            encode("..", "a.lock", 1),
            "refs/rekindle/rescue/%2E%2E/a%2Elock/1"
        );
    }

    #[test]
    fn a_long_name_is_split_and_no_piece_starts_with_a_dot() {
        for n_letters in 191..209 {
            let text = "a".repeat(n_letters) + ".b";
            let name = encode(&text, "t", 1);
            assert!(
                name.split('/')
                    .all(|piece| !piece.starts_with('.') && piece.len() < 250)
            );
            assert_eq!(decode(&name), Some((text, "t".to_owned(), 1)));
        }
    }

    #[test]
    fn foreign_names_are_ignored() {
        for name in [
            "refs/heads/main",
            "refs/rekindle/rescue/a/1",
            "refs/rekindle/rescue/a/b/x",
            "refs/rekindle/rescue/a/b/01",
            "refs/rekindle/rescue/a/b/1/2",
            "refs/rekindle/rescue/a/b/4294967295",
            "refs/rekindle/rescue/a%3a/b/1",
            "refs/rekindle/rescue/a%/b%/1",
            "refs/rekindle/rescue/a%zz/b/1",
        ] {
            assert_eq!(decode(name), None, "{name}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn every_name_can_be_read_back(workflow in ".{0,300}", task in "[a.%/~-]{0,300}", n in 1..=LARGEST) {
            let name = encode(&workflow, &task, n);
            prop_assert_eq!(decode(&name), Some((workflow, task, n)));
            for piece in name.split('/') {
                prop_assert!(!piece.is_empty() && piece.len() < 250);
                prop_assert!(!piece.starts_with('.') && !piece.ends_with('.'));
                prop_assert!(!piece.contains("..") && piece.rsplit_once('.').unwrap_or_default().1 != "lock");
            }
        }
    }
}
