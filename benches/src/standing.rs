//! Who is ahead: one row for each figure and peer, from all sections.

use crate::report::{Table, figure};

/// A figure of rekindle next to those of other programs.
pub(crate) struct Standing {
    /// What is measured, with its unit.
    what: String,
    less_is_better: bool,
    ours: f64,
    peers: Vec<(String, f64)>,
    /// Why rekindle is behind if it is, and what being ahead would require.
    if_behind: &'static str,
    /// Whether the summary has it.
    is_headline: bool,
}

impl Standing {
    /// Compares figures of which the smallest is the best.
    pub(crate) fn less(
        what: impl Into<String>,
        ours: f64,
        peers: Vec<(String, f64)>,
        if_behind: &'static str,
    ) -> Self {
        Self {
            what: what.into(),
            less_is_better: true,
            ours,
            peers,
            if_behind,
            is_headline: false,
        }
    }

    /// Puts the strongest peer into the summary.
    #[must_use]
    pub(crate) fn headline(mut self) -> Self {
        self.is_headline = true;
        self
    }

    /// Compares figures of which the largest is the best.
    pub(crate) fn more(
        what: impl Into<String>,
        ours: f64,
        peers: Vec<(String, f64)>,
        if_behind: &'static str,
    ) -> Self {
        Self {
            less_is_better: false,
            ..Self::less(what, ours, peers, if_behind)
        }
    }

    /// Returns how many times better ours is: below 1 is behind.
    fn ratio(&self, theirs: f64) -> f64 {
        match self.less_is_better {
            _ if self.ours <= 0.0 && theirs <= 0.0 => 1.0,
            true => theirs / self.ours,
            false => self.ours / theirs,
        }
    }

    fn row(&self, peer: &str, theirs: f64) -> Vec<String> {
        let ratio = self.ratio(theirs);
        let ratio = if ratio.is_infinite() {
            "∞".to_owned()
        } else {
            figure(ratio)
        };
        let figures = [figure(self.ours), figure(theirs), ratio];
        let names = [self.what.clone(), peer.to_owned()];
        names.into_iter().chain(figures).collect()
    }

    /// Returns the peer that is furthest ahead, or closest.
    fn strongest(&self) -> Option<&(String, f64)> {
        let mut peers = self.peers.iter().collect::<Vec<_>>();
        peers.sort_by(|(_, a), (_, b)| self.ratio(*a).total_cmp(&self.ratio(*b)));
        peers.first().copied()
    }

    fn is_behind(&self) -> bool {
        self.strongest()
            .is_some_and(|(_, theirs)| self.ratio(*theirs) < 1.0)
    }
}

fn rows(rows: Vec<Vec<String>>) -> Table {
    Table {
        n_text: 2,
        head: &[
            "what",
            "compared with",
            "rekindle",
            "the other",
            "times better",
        ],
        rows,
    }
}

/// Returns the table of all figures with all programs.
pub(crate) fn table<'a>(standings: impl Iterator<Item = &'a Standing>) -> Table {
    let of_peers = |one: &'a Standing| {
        let peers = one.peers.iter();
        peers.map(move |(peer, theirs)| one.row(peer, *theirs))
    };
    rows(standings.flat_map(of_peers).collect())
}

/// Returns the table of the headlines, each with its strongest peer.
pub(crate) fn summary<'a>(standings: impl Iterator<Item = &'a Standing>) -> Table {
    let headlines = standings.filter(|standing| standing.is_headline);
    let row = |one: &Standing| one.strongest().map(|(peer, theirs)| one.row(peer, *theirs));
    rows(headlines.filter_map(row).collect())
}

/// Returns why rekindle is behind, one line for each reason.
pub(crate) fn reasons<'a>(standings: impl Iterator<Item = &'a Standing>) -> String {
    let mut known: Vec<&str> = Vec::new();
    let mut text = String::new();
    for standing in standings.filter(|standing| standing.is_behind()) {
        if !known.contains(&standing.if_behind) {
            known.push(standing.if_behind);
            text.push_str(&format!("* {}: {}\n", standing.what, standing.if_behind));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_has_both_figures_and_how_many_times_better_ours_is() {
        let standing = |new: fn(_, _, _, _) -> Standing, ours, theirs| {
            let peers = vec![("make".to_owned(), theirs)];
            new("time, ms".to_owned(), ours, peers, "it does less")
        };
        let (less, more) = (Standing::less as fn(_, _, _, _) -> _, Standing::more as _);
        for (new, ours, theirs, is_behind, expect) in [
            (less, 2.0, 10.0, false, ["2.00", "10.0", "5.00"]),
            (less, 10.0, 2.0, true, ["10.0", "2.00", "0.200"]),
            (more, 10.0, 2.0, false, ["10.0", "2.00", "5.00"]),
            (more, 2.0, 10.0, true, ["2.00", "10.0", "0.200"]),
            (less, 2.0, 2.0, false, ["2.00", "2.00", "1.00"]),
            (less, 0.0, 0.0, false, ["0", "0", "1.00"]),
            (less, 0.0, 0.5, false, ["0", "0.500", "∞"]),
        ] {
            let all = [standing(new, ours, theirs)];
            let expect = [&["time, ms", "make"][..], &expect].concat();
            assert_eq!(table(all.iter()).rows, [expect]);
            let reason = if is_behind {
                "* time, ms: it does less\n"
            } else {
                ""
            };
            assert_eq!(reasons(all.iter()), reason);
        }
    }
}
