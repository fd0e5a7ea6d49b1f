//! The word that was probably meant by a misspelt one.

/// Returns the known word that was probably meant, if one is near; no word is meant by itself.
///
/// Both begin with the same letter, and at most two letters differ, or one of a short word.
pub fn nearest<'k>(typed: &str, known: &[&'k str]) -> Option<&'k str> {
    let near = known.iter().filter_map(|known| {
        let most = if known.len() > 5 { 2 } else { 1 };
        let away = distance(known, typed);
        let is_near = known.chars().next() == typed.chars().next() && (1..=most).contains(&away);
        is_near.then_some((away, *known))
    });
    near.min().map(|(_, known)| known)
}

/// Returns how many letters have to be added, removed, changed or swapped with a neighbor.
fn distance(one: &str, other: &str) -> usize {
    let (one, other): (Vec<char>, Vec<char>) = (one.chars().collect(), other.chars().collect());
    let mut rows: Vec<Vec<usize>> = vec![(0..=other.len()).collect()];
    for (i, a) in one.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, b) in other.iter().enumerate() {
            let mut least = (rows[i][j] + usize::from(a != b))
                .min(rows[i][j + 1] + 1)
                .min(row[j] + 1);
            let is_swap = i > 0 && j > 0 && *a == other[j - 1] && one[i - 1] == *b;
            if is_swap {
                least = least.min(rows[i - 1][j - 1] + 1);
            }
            row.push(least);
        }
        rows.push(row);
    }
    rows[one.len()][other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelt_word_means_the_nearest_known_one() {
        let known = ["default", "jobs", "retries", "run", "verify"];
        for (typed, meant) in [
            ("defualt", Some("default")),
            ("job", Some("jobs")),
            ("jobs", None),
            ("retry", None),
            ("retires", Some("retries")),
            ("runs", Some("run")),
            ("xun", None),
            ("", None),
        ] {
            assert_eq!(nearest(typed, &known), meant, "{typed}");
        }
    }
}
