//! Stories that are killed at every place they pass, and that find the disk full at every change.
//!
//! A [`Story`] is a scene and a command. [`dies_everywhere`] notes the places that an undisturbed run
//! passes, kills the command at each, lets the next one take it up, kills that one too, and looks
//! whether the end is the same as if nothing had happened. [`fails_everywhere`] does so with errors
//! of the disk instead of deaths. Both need a binary with the feature `crash-points`; which variables
//! it listens to is told in `rekindle-fault`.
//!
//! All places take long. A story says how many of its own are gone through every time; in a [`soak`]
//! it is all of them, with ten times as many deaths of the recovery. Of a story that is like others it
//! is ten times as many of everything.

mod census;
mod damage;
mod order;
mod scene;

use std::collections::BTreeSet;
use std::fmt;

use anyhow::{Context as _, Result, ensure};

pub use self::census::Census;
use self::census::spread;
pub use self::damage::survives_damage;
use self::scene::Scene;
use crate::sandbox::{Ran, Sandbox, Typed};
use crate::soak;

/// The binary dies as by a fault; no image of it is wanted.
const WITHOUT_CORE: [&str; 4] = ["sh", "-c", r#"ulimit -c 0 && exec "$@""#, "sh"];
const ABORTED: i32 = 6;
/// What the disk is made to say, the words for it, and whether it is said to every change: what needs no
/// room finds it on a full disk.
const ERRORS: [(&str, &str, bool); 2] = [
    ("enospc", "No space left on device", false),
    ("eio", "Input/output error", true),
];

/// How often a soak breaks each file: every answer takes a process, and every byte is broken in the
/// tests of `rekindle-protocols` without one.
const DAMAGES_OF_A_SOAK: usize = 4;

/// Places that no undisturbed story passes, and at which `crates/runner/tests/effects` dies instead.
///
/// That test goes through this list and fails at a place that it does not reach, and so does the one
/// that looks whether every place is passed somewhere: neither can say what the other does not do.
pub const DIED_AT_IN_EFFECTS: &[&str] = &[
    "before-end-worker",
    "after-end-worker",
    "end-worker-before-term",
    "end-worker-after-end",
    "land-after-clear",
    "move-after-copy",
    "move-after-place",
    "move-after-removal",
];

/// A scene, a command in it, and what that comes to.
pub trait Story {
    /// What it comes to, without times, ids and whatever else a death may change.
    type End: PartialEq + fmt::Debug;

    /// Returns where it takes place; all that is below its root is put back for every death.
    fn sandbox(&self) -> &Sandbox;

    /// Returns the command, for the first time (0) or for taking it up again.
    fn typed(&self, session: u32) -> Typed<'_>;

    /// Returns whether a session ended as one must that nothing disturbs.
    fn is_good(&self, ran: &Ran) -> bool {
        ran.code() == Some(0)
    }

    /// Returns the exit code of a session that could not write.
    fn failure(&self) -> i32 {
        1
    }

    /// Looks at what a disturbed session has left, before the next one.
    fn look(&self) -> Result<()> {
        Ok(())
    }

    /// Returns whether the next session waits until all processes of a dead one have ended.
    fn is_waited_for(&self) -> bool {
        true
    }

    /// Returns whether a place may be missed because the order of things is not always the same.
    fn is_by_chance(&self) -> bool {
        false
    }

    /// Returns what it came to.
    fn end(&self) -> Result<Self::End>;
}

/// How much is gone through where not everything is.
#[derive(Debug, Clone, Copy)]
pub struct Extent {
    /// How many places the first session dies at.
    pub first: usize,
    /// After how many of these deaths the second session dies too, at another place each time.
    pub second: usize,
    /// How many changes fail, with each error.
    pub failures: usize,
    /// How often each file is broken.
    pub damages: usize,
    /// Whether other stories pass the same places, so that not even a soak goes through all of them.
    pub is_alike: bool,
}

impl Extent {
    /// Returns this extent, or everything if a soak is wanted.
    fn wanted(self) -> Self {
        if !soak::is_wanted() {
            return self;
        }
        let most = |usual: usize| {
            if self.is_alike {
                usual.saturating_mul(10)
            } else {
                usize::MAX
            }
        };
        Self {
            first: most(self.first),
            second: self.second.saturating_mul(10),
            failures: most(self.failures),
            damages: DAMAGES_OF_A_SOAK,
            is_alike: self.is_alike,
        }
    }
}

/// Returns the places that an undisturbed run passes.
pub fn passed<S: Story>(story: &S) -> Result<Census> {
    let told = Told::new(story)?;
    Ok(told.calm()?.1)
}

/// Returns the places that a session passes which takes up a story that died.
pub fn passed_after<S: Story>(story: &S, place: &str) -> Result<Census> {
    let told = Told::new(story)?;
    ensure!(told.dies(0, place)?, "it did not die at {place}");
    Ok(told.session(1, &[])?.1)
}

/// Checks that all that an undisturbed run has written and renamed is synced whenever it passes one of
/// these points, and that it passes each of them.
pub fn is_synced_at<S: Story>(story: &S, points: &[&str]) -> Result<()> {
    let told = Told::new(story)?;
    told.calm()?;
    let notes = told.scene.notes()?;
    order::check(&notes, points)
}

/// Kills a story at its places, and its recovery at those of the recovery.
pub fn dies_everywhere<S: Story>(story: &S, extent: Extent) -> Result<()> {
    let extent = extent.wanted();
    let told = Told::new(story)?;
    let (calm, census) = told.calm()?;
    let first = census.places(extent.first);
    ensure!(!first.is_empty(), "no place is ever passed");
    let mut n_deaths = 0;
    let mut n_second = 0;
    for (number, place) in first.iter().enumerate() {
        let after = || format!("after a death at {place}");
        told.scene.put_back()?;
        if !told.dies(0, place).with_context(after)? {
            continue;
        }
        n_deaths += 1;
        let (ran, recovery) = told.session(1, &[])?;
        told.compare(&calm, &ran).with_context(after)?;
        if n_second >= extent.second {
            continue;
        }
        // Another one each time: the last are as likely as the first.
        let places = recovery.places(usize::MAX);
        let Some(again) = spread(&places, number) else {
            continue;
        };
        told.scene.put_back()?;
        if !told.dies(0, place)? || !told.dies(1, again).with_context(after)? {
            continue;
        }
        n_second += 1;
        let (ran, _) = told.session(2, &[])?;
        told.compare(&calm, &ran)
            .with_context(|| format!("after deaths at {place} and {again}"))?;
    }
    ensure!(n_deaths > 0, "it never died");
    soak::note(&[("deaths", n_deaths), ("second deaths", n_second)])?;
    Ok(())
}

/// Lets changes on the disk fail, each with every error, and the next session go on.
pub fn fails_everywhere<S: Story>(story: &S, extent: Extent) -> Result<()> {
    let extent = extent.wanted();
    let told = Told::new(story)?;
    let (calm, census) = told.calm()?;
    let changes = census.changes(extent.failures);
    ensure!(!changes.is_empty(), "nothing is ever changed");
    let mut n_failed = 0;
    for (command, nth) in changes {
        for (error, words, is_always) in ERRORS {
            let place = format!("{command}/{error}:{nth}");
            let has_failed = told
                .fails(&calm, &place, words)
                .with_context(|| format!("after {place}"))?;
            let may_pass = !is_always || story.is_by_chance();
            ensure!(has_failed || may_pass, "nothing failed at {place}");
            n_failed += usize::from(has_failed);
        }
    }
    ensure!(n_failed > 0, "nothing ever failed");
    soak::note(&[("failed changes", n_failed)])?;
    Ok(())
}

/// Returns the lines in which two ends differ, `-` before those that should be there.
fn other_lines(calm: &impl fmt::Debug, end: &impl fmt::Debug) -> String {
    let (calm, end) = (format!("{calm:#?}"), format!("{end:#?}"));
    let others = |one: &str, other: &str, sign: &str| {
        let known: BTreeSet<&str> = other.lines().collect();
        let lines = one.lines().filter(|line| !known.contains(line));
        let lines: Vec<String> = lines.map(|line| format!("{sign} {line}\n")).collect();
        lines.concat()
    };
    others(&calm, &end, "-") + &others(&end, &calm, "+")
}

/// A story with its scene kept aside.
struct Told<'s, S> {
    story: &'s S,
    scene: Scene,
}

impl<'s, S: Story> Told<'s, S> {
    fn new(story: &'s S) -> Result<Self> {
        let scene = Scene::keep(story.sandbox())?;
        Ok(Self { story, scene })
    }

    /// Runs the story undisturbed.
    fn calm(&self) -> Result<(S::End, Census)> {
        let (ran, census) = self.session(0, &[])?;
        ensure!(self.story.is_good(&ran), "undisturbed: {ran}");
        let end = self.story.end().context("undisturbed")?;
        Ok((end, census))
    }

    /// Runs a session to its end; returns the places that it passed.
    fn session(&self, number: u32, orders: &[(&str, &str)]) -> Result<(Ran, Census)> {
        let notes = self.scene.fresh_notes()?;
        let typed = self.story.typed(number).through(&WITHOUT_CORE);
        let typed = orders
            .iter()
            .fold(typed, |typed, (name, value)| typed.with(name, *value));
        let ran = typed.with("REKINDLE_POINTS", notes.as_str()).run()?;
        Ok((ran, Census::read(&notes)?))
    }

    /// Lets a session die. Returns whether it did.
    fn dies(&self, number: u32, place: &str) -> Result<bool> {
        let (ran, _) = self.session(number, &[("REKINDLE_CRASH_AT", place)])?;
        if !self.scene.has_struck() {
            ensure!(
                self.story.is_by_chance(),
                "it did not die at {place}: {ran}"
            );
            return Ok(false);
        }
        // Where a process beside the first one died, that one may have come to its end.
        let is_over = ran.signal() == Some(ABORTED) || ran.signal().is_none();
        ensure!(is_over, "{ran}");
        if self.story.is_waited_for() {
            self.scene.wait_for_processes()?;
        }
        self.story.look()?;
        Ok(true)
    }

    /// Lets a change fail, and the next session go on without a fault. Returns whether one failed.
    fn fails(&self, calm: &S::End, place: &str, words: &str) -> Result<bool> {
        self.scene.put_back()?;
        let (ran, _) = self.session(0, &[("REKINDLE_FAIL_AT", place)])?;
        if !self.scene.has_struck() {
            ensure!(self.story.is_good(&ran), "{ran}");
            return Ok(false);
        }
        let is_failure = ran.code() == Some(self.story.failure());
        ensure!(is_failure || self.story.is_good(&ran), "{ran}");
        ensure!(!ran.stderr().contains("panicked"), "{ran}");
        // A failure says which of the two it was; one that was got over need not be told.
        let is_told = ran.stderr().contains(words) || ran.stdout().contains(words);
        ensure!(self.story.is_good(&ran) || is_told, "no word of it: {ran}");
        self.scene.wait_for_processes()?;
        self.story.look()?;
        let (next, _) = self.session(1, &[])?;
        self.compare(calm, &next)
            .with_context(|| format!("after {ran}"))?;
        Ok(true)
    }

    fn compare(&self, calm: &S::End, ran: &Ran) -> Result<()> {
        ensure!(self.story.is_good(ran), "{ran}");
        let end = self.story.end()?;
        ensure!(
            end == *calm,
            "another end:\n{}{ran}",
            other_lines(calm, &end)
        );
        Ok(())
    }
}
