//! The plan and disturbances of a round, drawn before it starts, so that they do not depend on the
//! machine's speed.

use std::time::Duration;

use crate::processes::Role;
use crate::random::Random;

/// How many tasks the plan of a round has.
pub(crate) const TASKS: usize = 40;

/// How often a round is disturbed before it may end.
const DISTURBANCES: usize = 12;

/// The longest pause before a disturbance.
const PAUSE_MS: u64 = 120;

/// A round's plan and its disturbances.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ordeal {
    /// For each task the earlier ones that it needs.
    pub(crate) needs: Vec<Vec<usize>>,
    pub(crate) disturbances: Vec<Disturbance>,
}

/// One disturbance; it waits until a process matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Disturbance {
    /// The time since the previous one, or since the start of the orchestrator.
    pub(crate) after: Duration,
    pub(crate) what: What,
    /// Which of the matching processes, modulo their number.
    rank: u64,
}

/// What is done to a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum What {
    Kill(Role),
    KillAll,
    /// Stopped for longer than a silent worker is tolerated, then continued.
    Stop(Role),
}

impl Ordeal {
    pub(crate) fn draw(random: &mut Random) -> Self {
        let needs = (0..TASKS)
            .map(|task| (0..task).filter(|_| random.one_in(8)).collect())
            .collect();
        let disturbances = (0..DISTURBANCES).map(|_| Disturbance::draw(random));
        Self {
            needs,
            disturbances: disturbances.collect(),
        }
    }
}

impl Disturbance {
    fn draw(random: &mut Random) -> Self {
        Self {
            after: Duration::from_millis(random.below(PAUSE_MS)),
            what: match random.below(20) {
                0..=4 => What::Kill(Role::Orchestrator),
                5..=10 => What::Kill(Role::Worker),
                11..=15 => What::Kill(Role::Agent),
                16..=17 => What::KillAll,
                18 => What::Stop(Role::Worker),
                _ => What::Stop(Role::Orchestrator),
            },
            rank: random.below(u64::MAX),
        }
    }

    /// Returns the selected one, or `None` of none.
    pub(crate) fn among<T: Copy>(&self, fitting: &[T]) -> Option<T> {
        let len = u64::try_from(fitting.len()).ok()?;
        let at = usize::try_from(self.rank.checked_rem(len)?).ok()?;
        fitting.get(at).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ordeals(seed: u64) -> Vec<Ordeal> {
        let mut random = Random::new(seed);
        (0..3).map(|_| Ordeal::draw(&mut random.stream())).collect()
    }

    #[test]
    fn a_random_seed_gives_the_same_rounds_and_no_two_are_equal() {
        let rounds = ordeals(1);
        assert_eq!(rounds, ordeals(1));
        assert_ne!(rounds, ordeals(2));
        assert_ne!(rounds[0], rounds[1]);
        assert_ne!(rounds[1], rounds[2]);
        assert!(rounds.iter().all(|round| {
            round.needs.len() == TASKS
                && round.disturbances.len() == DISTURBANCES
                && round
                    .disturbances
                    .iter()
                    .all(|one| one.after.as_millis() < u128::from(PAUSE_MS))
        }));
    }

    #[test]
    fn draws_of_one_round_do_not_change_the_next() {
        let mut random = Random::new(1);
        let mut first = random.stream();
        for _ in 0..1000 {
            first.below(7);
        }
        assert_eq!(Ordeal::draw(&mut random.stream()), ordeals(1)[1]);
    }

    #[test]
    fn the_selected_process_is_the_rank_modulo_their_number() {
        let of = |rank: u64, fitting: &[u8]| {
            Disturbance {
                after: Duration::ZERO,
                what: What::KillAll,
                rank,
            }
            .among(fitting)
        };
        assert_eq!(of(7, &[]), None);
        assert_eq!(of(7, &[10, 11, 12]), Some(11));
        assert_eq!(of(u64::MAX, &[10]), Some(10));
    }
}
