//! Makes the projects that are measured: the same bytes every time, made once and then reused.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::path::{Path, PathBuf};

/// A generated project.
pub(super) struct Project {
    pub(super) folder: PathBuf,
    /// What its maker says of it; written last, so it is there only if all else is.
    pub(super) told: String,
}

/// What a project is made by.
pub(super) struct Recipe {
    pub(super) name: &'static str,
    /// The text of the files that make it: another text, another project.
    pub(super) sources: &'static [&'static str],
    /// Makes it in an empty folder and returns what is to be told of it.
    pub(super) make: fn(&Path) -> io::Result<String>,
}

impl Recipe {
    /// Returns the project below `parent`, made now if it is not there; older forms of it are removed.
    pub(super) fn project(&self, parent: &Path) -> Result<Project, String> {
        let at = |path: &Path, e: &io::Error| format!("cannot make `{}`: {e}", path.display());
        let folder = parent.join(format!("{}-{:016x}", self.name, self.fingerprint()));
        let note = folder.join("told");
        if let Ok(told) = std::fs::read_to_string(&note) {
            return Ok(Project { folder, told });
        }
        self.clear(parent).map_err(|e| at(parent, &e))?;
        println!("making the project `{}`", self.name);
        let make = || {
            std::fs::create_dir_all(&folder)?;
            let told = (self.make)(&folder)?;
            std::fs::write(&note, &told)?;
            Ok(told)
        };
        let told = make().map_err(|e| at(&folder, &e))?;
        Ok(Project { folder, told })
    }

    fn fingerprint(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        (self.sources, include_str!("generate.rs")).hash(&mut hasher);
        hasher.finish()
    }

    /// Removes every form of the project, also one that was never finished.
    fn clear(&self, parent: &Path) -> io::Result<()> {
        let prefix = format!("{}-", self.name);
        for entry in std::fs::read_dir(parent)? {
            let entry = entry?;
            if entry.file_name().to_string_lossy().starts_with(&prefix) {
                std::fs::remove_dir_all(entry.path())?;
            }
        }
        Ok(())
    }
}

/// Numbers that look random and are the same every time (`SplitMix64`, by Sebastiano Vigna).
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns a number below `end`, which is not 0; the tiny bias of the remainder does not matter here.
    pub(super) fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (mixed ^ (mixed >> 31)) % end
    }

    /// Returns one of the items, of which there is at least one.
    pub(super) fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        let at = self.below(items.len() as u64);
        &items[usize::try_from(at).unwrap_or(0)]
    }
}

/// A time in UTC, in seconds since 1970.
#[derive(Debug, Clone, Copy)]
pub(super) struct Instant(pub(super) u64);

impl Instant {
    /// Returns `2026-01-15T10:30:00Z`.
    pub(super) fn long(self) -> String {
        let (date, [hour, minute, second]) = (self.date(), self.clock());
        format!("{}T{hour:02}:{minute:02}:{second:02}Z", date.join("-"))
    }

    /// Returns `20260115-1030`, as logs and runs are named.
    pub(super) fn short(self) -> String {
        let (date, [hour, minute, _]) = (self.date(), self.clock());
        format!("{}-{hour:02}{minute:02}", date.concat())
    }

    fn clock(self) -> [u64; 3] {
        [self.0 / 3600 % 24, self.0 / 60 % 60, self.0 % 60]
    }

    /// Returns year, month and day (Howard Hinnant, `civil_from_days`).
    fn date(self) -> [String; 3] {
        let days = self.0 / 86_400 + 719_468;
        let (era, of_era) = (days / 146_097, days % 146_097);
        let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
        let of_year = of_era - (365 * year + year / 4 - year / 100);
        let from_march = (5 * of_year + 2) / 153;
        let day = of_year - (153 * from_march + 2) / 5 + 1;
        let month = if from_march < 10 {
            from_march + 3
        } else {
            from_march - 9
        };
        let year = era * 400 + year + u64::from(month <= 2);
        [
            format!("{year:04}"),
            format!("{month:02}"),
            format!("{day:02}"),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_as_the_protocol_does() {
        assert_eq!(Instant(0).long(), "1970-01-01T00:00:00Z");
        assert_eq!(Instant(1_709_210_096).long(), "2024-02-29T12:34:56Z");
        assert_eq!(Instant(1_767_603_600).long(), "2026-01-05T09:00:00Z");
        assert_eq!(Instant(1_767_603_600).short(), "20260105-0900");
    }

    #[test]
    fn the_same_seed_gives_the_same_numbers() {
        let numbers = |seed| {
            let mut random = Random::new(seed);
            [random.below(1000), random.below(1000), random.below(1000)]
        };
        assert_eq!(numbers(7), numbers(7));
        assert_ne!(numbers(7), numbers(8));
    }
}
