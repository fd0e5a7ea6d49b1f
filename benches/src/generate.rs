//! Generates the projects that are measured: the same bytes every time, made once and then reused.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;

use xtask::{files, run};

/// A generated project.
pub(crate) struct Project {
    pub(crate) folder: PathBuf,
    /// What a reader must find in it; written last, so it exists only if everything else does.
    pub(crate) expected: String,
}

/// How a project is made.
pub(crate) struct Recipe {
    pub(crate) name: &'static str,
    /// The text of the files that make it: when they change, the project is made again.
    pub(crate) sources: &'static [&'static str],
    /// Makes it in an empty folder; returns what a reader must find in it.
    pub(crate) make: fn(&Path) -> Result<String, String>,
}

impl Recipe {
    /// Returns the project below `parent`; makes it if it is missing, and removes outdated ones.
    pub(crate) fn project(&self, parent: &Path) -> Result<Project, String> {
        let mut hasher = DefaultHasher::new();
        (self.sources, include_str!("generate.rs")).hash(&mut hasher);
        let folder = parent.join(format!("{}-{:016x}", self.name, hasher.finish()));
        let note = folder.join("expected");
        if let Ok(expected) = files::read(&note) {
            return Ok(Project { folder, expected });
        }
        let prefix = format!("{}-", self.name);
        for path in files::list(parent)? {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            if name.starts_with(&prefix) {
                let removed = std::fs::remove_dir_all(&path);
                removed.map_err(|e| format!("cannot remove `{}`: {e}", path.display()))?;
            }
        }
        println!("making the project `{}`", self.name);
        files::make_folder(&folder)?;
        let expected = (self.make)(&folder)?;
        files::write(&note, &expected)?;
        Ok(Project { folder, expected })
    }
}

/// Runs git in a folder.
pub(crate) fn git(folder: &Path, args: &[&str]) -> Result<(), String> {
    let mut command = Command::new("git");
    command.args(["-c", "user.name=bench", "-c", "user.email=bench@localhost"]);
    run::check(command.args(args).current_dir(folder))
}

/// Makes a repository with one commit of everything in the folder.
pub(crate) fn repository(folder: &Path) -> Result<(), String> {
    git(folder, &["init", "-q", "-b", "main"])?;
    git(folder, &["add", "-A"])?;
    git(folder, &["commit", "-q", "--allow-empty", "-m", "start"])
}

/// Pseudorandom numbers, the same every time (`SplitMix64`, by Sebastiano Vigna).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    /// Returns a number below `end`, which is not 0.
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (mixed ^ (mixed >> 31)) % end
    }

    /// Returns one of the items, which must not be empty.
    pub(crate) fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        let at = self.below(items.len() as u64);
        &items[usize::try_from(at).unwrap_or(0)]
    }
}

/// A time in UTC, in seconds since 1970.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Instant(pub(crate) u64);

impl Instant {
    /// Returns `2026-01-15T10:30:00Z`.
    pub(crate) fn long(self) -> String {
        let (date, [hour, minute, second]) = (self.date(), self.clock());
        format!("{}T{hour:02}:{minute:02}:{second:02}Z", date.join("-"))
    }

    /// Returns `20260115-1030`, as logs and runs are named.
    pub(crate) fn short(self) -> String {
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
        let month = (from_march + 2) % 12 + 1;
        let year = era * 400 + year + u64::from(month <= 2);
        let year = format!("{year:04}");
        [year, format!("{month:02}"), format!("{day:02}")]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_the_formats_of_the_protocol() {
        assert_eq!(Instant(0).long(), "1970-01-01T00:00:00Z");
        assert_eq!(Instant(1_709_210_096).long(), "2024-02-29T12:34:56Z");
        assert_eq!(Instant(1_767_603_600).long(), "2026-01-05T09:00:00Z");
        assert_eq!(Instant(1_767_603_600).short(), "20260105-0900");
    }

    #[test]
    fn the_same_seed_gives_the_same_numbers() {
        let numbers = |seed| {
            let mut random = Random(seed);
            [random.below(1000), random.below(1000), random.below(1000)]
        };
        assert_eq!(numbers(7), numbers(7));
        assert_ne!(numbers(7), numbers(8));
    }
}
