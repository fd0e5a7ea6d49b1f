//! Who is ahead: one line for each figure and peer, gathered from all sections into one table.

use super::report::{Table, figure};

/// A figure of rekindle's beside those of others.
pub(super) struct Standing {
    /// What is measured, with its unit.
    pub(super) what: String,
    pub(super) better: Better,
    pub(super) ours: f64,
    /// The others with their figures.
    pub(super) peers: Vec<(String, f64)>,
    /// Why rekindle is behind where it is, and what being ahead would take.
    pub(super) if_behind: &'static str,
}

/// Which figures are good.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Better {
    Less,
    More,
}

impl Standing {
    /// Returns how many times better ours is: below 1 is behind.
    fn ratio(&self, theirs: f64) -> f64 {
        // Nothing at all on both sides is a draw.
        if self.ours <= 0.0 && theirs <= 0.0 {
            return 1.0;
        }
        match self.better {
            Better::Less => theirs / self.ours,
            Better::More => self.ours / theirs,
        }
    }

    fn rows(&self) -> impl Iterator<Item = Vec<String>> {
        self.peers.iter().map(|(peer, theirs)| {
            let ratio = self.ratio(*theirs);
            let (ratio, remark) = match ratio {
                _ if ratio.is_infinite() => ("∞".to_owned(), "ahead".to_owned()),
                _ if ratio > 1.0 => (figure(ratio), "ahead".to_owned()),
                // Nothing is better than nothing.
                _ if ratio >= 1.0 && self.ours <= 0.0 => (figure(ratio), "level".to_owned()),
                _ if ratio >= 1.0 => (figure(ratio), format!("level; {}", self.if_behind)),
                _ => (figure(ratio), self.if_behind.to_owned()),
            };
            vec![
                self.what.clone(),
                peer.clone(),
                remark,
                figure(self.ours),
                figure(*theirs),
                ratio,
            ]
        })
    }
}

/// Returns the table of all of them.
pub(super) fn table<'a>(standings: impl Iterator<Item = &'a Standing>) -> Table {
    Table {
        n_text: 3,
        head: vec![
            "what",
            "peer",
            "standing",
            "rekindle",
            "peer's",
            "times better",
        ],
        rows: standings.flat_map(Standing::rows).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_says_who_is_ahead_and_why_not() {
        let standing = |better, ours, theirs| Standing {
            what: "time, ms".to_owned(),
            better,
            ours,
            peers: vec![("make".to_owned(), theirs)],
            if_behind: "it does less",
        };
        for (better, ours, theirs, expect) in [
            (Better::Less, 2.0, 10.0, ["ahead", "2.00", "10.0", "5.00"]),
            (
                Better::Less,
                10.0,
                2.0,
                ["it does less", "10.0", "2.00", "0.200"],
            ),
            (Better::More, 10.0, 2.0, ["ahead", "10.0", "2.00", "5.00"]),
            (
                Better::More,
                2.0,
                10.0,
                ["it does less", "2.00", "10.0", "0.200"],
            ),
            (
                Better::Less,
                2.0,
                2.0,
                ["level; it does less", "2.00", "2.00", "1.00"],
            ),
            (Better::Less, 0.0, 0.0, ["level", "0", "0", "1.00"]),
            (Better::Less, 0.0, 0.5, ["ahead", "0", "0.500", "∞"]),
        ] {
            let rows = table([standing(better, ours, theirs)].iter()).rows;
            let expect = [&["time, ms", "make"][..], &expect].concat();
            assert_eq!(rows, [expect]);
        }
    }
}
