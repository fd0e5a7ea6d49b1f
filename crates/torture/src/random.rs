//! Repeatable random numbers.

/// A random number generator (SplitMix64): the same on every machine and in every version.
#[derive(Debug)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number below a limit; 0 when the limit is 0.
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.next().checked_rem(limit).unwrap_or(0)
    }

    /// Returns true one time in `n`.
    pub(crate) fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }

    /// Returns an independent generator.
    pub(crate) fn stream(&mut self) -> Self {
        Self(self.next())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_random_seed_always_gives_the_same_numbers() {
        // The reference values of SplitMix64 for the seed 1234567.
        let mut random = Random::new(1_234_567);
        let first: Vec<u64> = (0..3).map(|_| random.next()).collect();
        assert_eq!(
            first,
            [
                6_457_827_717_110_365_317,
                3_203_168_211_198_807_973,
                9_817_491_932_198_370_423
            ]
        );
    }

    #[test]
    fn below_nothing_is_zero() {
        let mut random = Random::new(7);
        assert_eq!(random.below(0), 0);
        assert!((0..100).all(|_| random.below(3) < 3));
    }
}
