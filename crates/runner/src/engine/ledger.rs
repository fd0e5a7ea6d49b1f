//! The cost of a run: every attempt counts, no matter how it ended and who started it.

use std::collections::{BTreeMap, BTreeSet};

use rekindle_model::WorkTask;

/// The cost of a run as reported by its agents.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Cost {
    /// The sum of the reported costs, in millionths of a dollar; `None` if no attempt reported any.
    pub told: Option<u64>,
    /// The number of attempts without a reported cost.
    pub untold: usize,
}

impl Cost {
    /// Returns what the record of a run tells.
    pub fn of(tasks: &[WorkTask]) -> Self {
        Ledger::new(tasks).cost()
    }
}

/// The costs of all attempts, those of earlier orchestrators too.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    begun: BTreeSet<(usize, u32)>,
    told: BTreeMap<(usize, u32), u64>,
    /// The sum of all reported costs: it is read before every start.
    sum: u64,
}

impl Ledger {
    /// Returns the costs from a run's record.
    pub(super) fn new(tasks: &[WorkTask]) -> Self {
        let mut ledger = Self::default();
        for (task, entry) in tasks.iter().enumerate() {
            for attempt in 1..=entry.attempts {
                ledger.begin(task, attempt);
            }
            for (&attempt, &cost) in &entry.costs {
                ledger.pay(task, attempt, cost);
            }
        }
        ledger
    }

    /// Records the start of an attempt.
    pub(super) fn begin(&mut self, task: usize, attempt: u32) {
        self.begun.insert((task, attempt));
    }

    /// Records the current cost of an attempt; repeating it changes nothing.
    pub(super) fn pay(&mut self, task: usize, attempt: u32, cost: u64) {
        self.begin(task, attempt);
        let known = self.told.entry((task, attempt)).or_default();
        let more = cost.saturating_sub(*known);
        *known += more;
        self.sum = self.sum.saturating_add(more);
    }

    /// Returns how many attempts there were.
    pub(super) fn attempts(&self) -> usize {
        self.begun.len()
    }

    /// Returns what all of it has cost.
    pub(super) fn cost(&self) -> Cost {
        Cost {
            told: (!self.told.is_empty()).then_some(self.sum),
            untold: self.begun.len() - self.told.len(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_attempt_counts_once_and_silence_is_not_nothing() {
        let mut ledger = Ledger::default();
        assert_eq!(ledger.cost(), Cost::default());
        ledger.begin(0, 1);
        let unknown = Cost {
            told: None,
            untold: 1,
        };
        assert_eq!(ledger.cost(), unknown);
        for cost in [5, 7, 7] {
            ledger.pay(0, 2, cost);
        }
        ledger.pay(0, 2, 6);
        ledger.pay(1, 1, 0);
        let partly = Cost {
            told: Some(7),
            untold: 1,
        };
        assert_eq!(ledger.cost(), partly);
    }
}
