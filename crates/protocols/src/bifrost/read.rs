//! World to evidence: which feature is meant, its session, and all that stands beside it.
//!
//! Reading ends where nothing more could count: at a name that is none, a session that is not there
//! or no text, a checkpoint that can not be had. Everything else is noted, and the reading goes on.

use camino::{Utf8Path, Utf8PathBuf};
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use rekindle_world::{Kind, World};
use serde::Deserialize;

use super::artifacts::{self, Kind as Sureness};
use super::checkpoint::{Checkpoints, Choice, Entry};
use super::layout;
use super::marker::Marker;
use super::phase::Phase;
use super::session::Session;
use super::tasks::Tasks;
use super::tree::{Tree, markdown_bytes, written_at};
use crate::Ask;

/// What a project shows.
#[derive(Debug)]
pub(super) enum Evidence {
    /// Several features, or one, and none is named: a person must choose.
    Choice,
    /// Nothing of a feature can be read further.
    Halted(Box<Halt>),
    /// A feature with a checkpoint that can be resumed from.
    Feature(Box<Feature>),
}

/// Where reading ended.
#[derive(Debug)]
pub(super) struct Halt {
    pub(super) why: Why,
    /// The feature, where the name can be one.
    pub(super) feature: Option<String>,
    /// Whether anything of the feature is there.
    pub(super) is_known: bool,
    /// The session that was read, or would have been.
    pub(super) session_path: Option<Utf8PathBuf>,
    /// The checkpoints, where they could be read.
    pub(super) checkpoints: Checkpoints,
    /// The feature as a first checkpoint would find it, where only that is missing.
    pub(super) standing: Option<Box<Feature>>,
}

/// Why reading ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Why {
    BadName {
        typed: String,
        reason: &'static str,
    },
    NoFeatures,
    NoSession,
    Corrupt {
        reason: String,
    },
    /// The legacy session is this feature's.
    OtherFeature {
        named: String,
    },
    NoCheckpoint,
    CorruptCheckpoint {
        reason: &'static str,
    },
    UnknownCheckpoint {
        wanted: String,
    },
}

/// All that was read of a feature.
#[derive(Debug, Clone)]
pub(super) struct Feature {
    pub(super) name: String,
    /// The session that is used, relative to the project.
    pub(super) session_path: Utf8PathBuf,
    pub(super) session: Session,
    pub(super) checkpoints: Checkpoints,
    /// The checkpoint that is resumed from.
    pub(super) chosen: Entry,
    pub(super) marker: MarkerFile,
    /// The tasks, once tasks.md is more than a placeholder.
    pub(super) tasks: Option<Tasks>,
    /// The files that the phase requires, in order, and the named ones.
    pub(super) files: Vec<Artifact>,
    /// Files that were written after a checkpoint that is gone back to.
    pub(super) later_work: Vec<Utf8PathBuf>,
    /// The context that the feature's pages take, in percent.
    pub(super) estimated_context: u32,
    /// What the state of the tests says, if it is about this feature.
    pub(super) test_state: Option<String>,
    pub(super) spec: Option<String>,
    pub(super) plan: Option<String>,
    pub(super) has_rules: bool,
    /// A folder that is free for what a rollback replaces.
    pub(super) backup: Utf8PathBuf,
    /// What was taken out of the session before.
    pub(super) archive: Option<Vec<u8>>,
    pub(super) asked: Asked,
    pub(super) now: DateTime,
    pub(super) zone: TimeZone,
}

/// How the resume was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Asked {
    /// With as little context as possible.
    pub(super) fresh: bool,
    /// After a look of the validators.
    pub(super) validate: bool,
}

/// The marker's file, as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum MarkerFile {
    Absent,
    Present(Vec<u8>),
    /// Something that is no file, or leads out of the project.
    Odd(&'static str),
}

impl MarkerFile {
    pub(super) fn marker(&self) -> Option<Marker> {
        match self {
            Self::Present(bytes) => Marker::parse(bytes),
            Self::Absent | Self::Odd(_) => None,
        }
    }
}

/// A file or folder that a checkpoint names or its phase requires.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Artifact {
    /// The path from the project, or the name as it is written if nothing is found.
    pub(super) path: String,
    pub(super) is_named: bool,
    pub(super) is_required: bool,
    pub(super) state: Presence,
    /// When it was last written, in the user's own time.
    pub(super) written: Option<DateTime>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Presence {
    Present,
    /// It is there, but nobody has filled it in.
    Placeholder,
    Absent,
}

/// Reads what is meant by a name, or by the marker.
pub(super) fn evidence(world: &dyn World, ask: &Ask) -> Evidence {
    let named = match &ask.name {
        Some(typed) => match layout::feature_name(typed) {
            Ok(name) => Some(whole_name(world, &name)),
            Err(reason) => {
                let typed = typed.clone();
                return halted(Halt::new(Why::BadName { typed, reason }, None));
            }
        },
        None => marker_file(world)
            .marker()
            .and_then(|marker| marker.feature),
    };
    match named {
        Some(name) => feature(world, &name, ask),
        None if features(world).is_empty() => halted(Halt::new(Why::NoFeatures, None)),
        None => Evidence::Choice,
    }
}

/// Returns the features that have a folder, sorted.
pub(super) fn features(world: &dyn World) -> Vec<String> {
    let folder = world.project().join(layout::SPECS);
    let entries = world.list(&folder).unwrap_or_default();
    let is_feature = |entry: &rekindle_world::Entry| {
        let is_folder = match entry.kind {
            Kind::Folder => true,
            // A link to a folder of the project is as good as one.
            Kind::Link => world.list(&folder.join(&entry.name)).is_ok(),
            Kind::File | Kind::Other => false,
        };
        let is_name = layout::feature_name(&entry.name).is_ok_and(|name| name == entry.name);
        is_folder && is_name && !entry.name.starts_with('.')
    };
    let named = entries.into_iter().filter(is_feature);
    named.map(|entry| entry.name).collect()
}

/// Returns the name that is meant: itself, or the only feature that begins with it.
fn whole_name(world: &dyn World, name: &str) -> String {
    let is_there = world
        .stat(&world.project().join(layout::folder(name)))
        .is_ok();
    if is_there || legacy_feature(world).as_deref() == Some(name) {
        return name.to_owned();
    }
    let features = features(world);
    let mut begun = features.iter().filter(|feature| feature.starts_with(name));
    match (begun.next(), begun.next()) {
        (Some(only), None) => only.clone(),
        (_, _) => name.to_owned(),
    }
}

/// Returns the feature that the legacy session is about.
fn legacy_feature(world: &dyn World) -> Option<String> {
    let bytes = bytes(world, Utf8Path::new(layout::LEGACY_SESSION)).ok()??;
    let session = Session::parse(bytes)?;
    session.focus("Feature").map(str::to_owned)
}

/// Reads the marker.
pub(super) fn marker_file(world: &dyn World) -> MarkerFile {
    match bytes(world, Utf8Path::new(layout::MARKER)) {
        Ok(Some(bytes)) => MarkerFile::Present(bytes),
        Ok(None) if world.stat(&world.project().join(layout::MARKER)).is_err() => {
            MarkerFile::Absent
        }
        Ok(None) => MarkerFile::Odd("it is no file"),
        Err(reason) => MarkerFile::Odd(reason),
    }
}

/// Reads a feature whose name is good.
pub(super) fn feature(world: &dyn World, name: &str, ask: &Ask) -> Evidence {
    let halt = |why: Why| Halt::new(why, Some(name.to_owned()));
    let is_known = world
        .stat(&world.project().join(layout::folder(name)))
        .is_ok();
    if !layout::is_inside(world, &layout::folder(name)) {
        let typed = name.to_owned();
        let reason = "its folder is a link that leads out of the project";
        return halted(halt(Why::BadName { typed, reason }));
    }
    let (session_path, session) = match session(world, name) {
        Ok(found) => found,
        Err((path, why)) => {
            return halted(Halt {
                session_path: path,
                is_known,
                ..halt(why)
            });
        }
    };
    let checkpoints = Checkpoints::read(&session);
    let read = |chosen: Entry| {
        let reader = Reader {
            world,
            name,
            folder: layout::folder(name),
            zone: world.zone(),
            tree: None,
        };
        let (path, session) = (session_path.clone(), session.clone());
        Box::new(reader.feature(path, session, checkpoints.clone(), chosen, ask))
    };
    let why = match checkpoints.choose(ask.checkpoint.as_deref()) {
        Choice::Found(chosen) => return Evidence::Feature(read(*chosen)),
        Choice::Nothing => Why::NoCheckpoint,
        Choice::Corrupt(reason) => Why::CorruptCheckpoint { reason },
        Choice::Unknown => Why::UnknownCheckpoint {
            wanted: ask.checkpoint.clone().unwrap_or_default(),
        },
    };
    let standing = ask
        .checkpoint
        .is_none()
        .then(|| read(stand_in(world, name, &session)));
    halted(Halt {
        session_path: Some(session_path),
        is_known: true,
        checkpoints,
        standing,
        ..halt(why)
    })
}

/// Returns what stands for a checkpoint where there is none: the phase that the marker or the
/// session tells, and nothing else.
fn stand_in(world: &dyn World, name: &str, session: &Session) -> Entry {
    let marker = marker_file(world).marker();
    let ours = marker.filter(|marker| marker.feature.as_deref() == Some(name));
    let focus = session.focus("Phase").and_then(Phase::read);
    Entry::unwritten(ours.and_then(|marker| marker.phase).or(focus))
}

fn halted(halt: Halt) -> Evidence {
    Evidence::Halted(Box::new(halt))
}

impl Halt {
    fn new(why: Why, feature: Option<String>) -> Self {
        Self {
            why,
            feature,
            is_known: false,
            session_path: None,
            checkpoints: Checkpoints::default(),
            standing: None,
        }
    }
}

/// Finds and reads the session: the feature's own, else the legacy one.
pub(super) fn session(
    world: &dyn World,
    name: &str,
) -> Result<(Utf8PathBuf, Session), (Option<Utf8PathBuf>, Why)> {
    for path in [layout::session(name), layout::LEGACY_SESSION.into()] {
        let is_legacy = path == layout::LEGACY_SESSION;
        let corrupt = |reason: &str| {
            let reason = reason.to_owned();
            Err((Some(path.clone()), Why::Corrupt { reason }))
        };
        let found = match bytes(world, &path) {
            Ok(None) => continue,
            Ok(Some(bytes)) => Session::parse(bytes),
            Err(reason) => return corrupt(reason),
        };
        let Some(session) = found else {
            return corrupt("it is not UTF-8 text");
        };
        let other = session.focus("Feature").filter(|other| *other != name);
        if let Some(named) = other.filter(|_| is_legacy) {
            let named = named.to_owned();
            return Err((Some(path), Why::OtherFeature { named }));
        }
        return Ok((path, session));
    }
    Err((None, Why::NoSession))
}

/// Reads a file of the project; `None` when there is none.
pub(super) fn bytes(world: &dyn World, path: &Utf8Path) -> Result<Option<Vec<u8>>, &'static str> {
    if !layout::is_inside(world, path) {
        return Err("it is a link that leads out of the project");
    }
    match world.read(&world.project().join(path), layout::LARGEST) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(rekindle_world::ReadError::NotFound) => Ok(None),
        Err(rekindle_world::ReadError::Denied) => Err("it may not be read"),
        Err(rekindle_world::ReadError::TooLarge { .. }) => Err("it is larger than 8 MiB"),
        Err(rekindle_world::ReadError::Failed(_)) => Err("it can not be read"),
    }
}

/// Returns a file of the project as text, if it is one.
pub(super) fn text(world: &dyn World, path: &Utf8Path) -> Option<String> {
    let bytes = bytes(world, path).ok()??;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// Returns whether a page is what `/spec` left for a later phase to fill in.
pub(super) fn is_placeholder(text: &str) -> bool {
    text.lines()
        .any(|line| line.trim().starts_with("*This file will be populated"))
}

struct Reader<'w> {
    world: &'w dyn World,
    name: &'w str,
    folder: Utf8PathBuf,
    zone: TimeZone,
    /// The whole project, once it was needed.
    tree: Option<Tree>,
}

impl Reader<'_> {
    fn feature(
        mut self,
        session_path: Utf8PathBuf,
        session: Session,
        checkpoints: Checkpoints,
        chosen: Entry,
        ask: &Ask,
    ) -> Feature {
        let world = self.world;
        let page = |name: &str| text(world, &layout::file(self.name, name));
        let (spec, plan, tasks) = (page("spec.md"), page("plan.md"), page("tasks.md"));
        let now = self.local(world.now());
        let is_rollback = checkpoints
            .latest
            .as_ref()
            .is_none_or(|latest| latest.id != chosen.id);
        let files = self.artifacts(&chosen, [&spec, &plan, &tasks]);
        let later_work = match chosen.at.filter(|_| is_rollback) {
            Some(at) => self.written_after(at, &session_path),
            None => Vec::new(),
        };
        let stamp = now.strftime("%Y%m%d-%H%M%S").to_string();
        Feature {
            name: self.name.to_owned(),
            marker: marker_file(world),
            tasks: tasks
                .as_deref()
                .filter(|text| !is_placeholder(text))
                .map(Tasks::parse),
            files,
            later_work,
            estimated_context: context(markdown_bytes(world, &self.folder)),
            test_state: self.test_state(),
            spec,
            plan,
            has_rules: world.is_file(&world.project().join(layout::RULES)),
            backup: layout::free(world, layout::backup(&stamp)),
            archive: bytes(world, &layout::archive(&session_path)).ok().flatten(),
            asked: Asked {
                fresh: ask.fresh,
                validate: ask.validate,
            },
            now,
            zone: self.zone,
            session_path,
            session,
            checkpoints,
            chosen,
        }
    }

    fn local(&self, at: jiff::Timestamp) -> DateTime {
        self.zone.to_datetime(at)
    }

    /// Returns what the phase requires and the checkpoint names, each once, sorted by path.
    fn artifacts(&mut self, chosen: &Entry, pages: [&Option<String>; 3]) -> Vec<Artifact> {
        let phase = chosen.phase.unwrap_or(Phase::Spec);
        // What `/spec` left is enough until the plan is complete.
        let must_be_filled = phase > Phase::Plan || phase == Phase::Plan && chosen.is_complete();
        let mut found: Vec<Artifact> = Vec::new();
        for (name, page) in ["spec.md", "plan.md", "tasks.md"].into_iter().zip(pages) {
            if !phase.needs().required.contains(&name) {
                continue;
            }
            let state = match page {
                Some(text) if must_be_filled && is_placeholder(text) => Presence::Placeholder,
                Some(_) => Presence::Present,
                None => Presence::Absent,
            };
            let path = layout::file(self.name, name);
            found.push(Artifact {
                written: self.written(&path),
                path: path.into_string(),
                is_named: false,
                is_required: true,
                state,
            });
        }
        let mut previous: Option<Utf8PathBuf> = None;
        for named in artifacts::named(&chosen.fields.artifacts) {
            let path = self.find(&named.text, previous.as_deref());
            if let Some(path) = &path {
                previous = path.parent().map(Utf8Path::to_owned);
            }
            let (path, is_there) = match (path, named.kind) {
                (Some(path), _) => (path.into_string(), true),
                (None, Sureness::Path) => {
                    // Where it should be, a required file is known by its path.
                    let expected = self.folder.join(&named.text).into_string();
                    let is_required = found.iter().any(|file| file.path == expected);
                    let text = if is_required { expected } else { named.text };
                    (text, false)
                }
                (None, Sureness::Maybe) => continue,
            };
            if let Some(known) = found.iter_mut().find(|file| file.path == path) {
                known.is_named = true;
                continue;
            }
            found.push(Artifact {
                written: is_there
                    .then(|| self.written(Utf8Path::new(&path)))
                    .flatten(),
                path,
                is_named: true,
                is_required: false,
                state: if is_there {
                    Presence::Present
                } else {
                    Presence::Absent
                },
            });
        }
        found.sort_by(|a, b| a.path.cmp(&b.path));
        found
    }

    /// Finds what a checkpoint names.
    fn find(&mut self, name: &str, previous: Option<&Utf8Path>) -> Option<Utf8PathBuf> {
        let world = self.world;
        let is_there = |path: &Utf8PathBuf| world.stat(&world.project().join(path)).is_ok();
        let places = artifacts::places(name, &self.folder, previous);
        if let Some(place) = places.into_iter().find(is_there) {
            return Some(place);
        }
        let tree = self.tree.get_or_insert_with(|| Tree::of(world));
        tree.only_named(name, &self.folder).cloned()
    }

    fn written(&self, path: &Utf8Path) -> Option<DateTime> {
        written_at(self.world, path).map(|at| self.local(at))
    }

    /// Returns the files of the project that were written after a minute.
    fn written_after(&mut self, minute: DateTime, session: &Utf8Path) -> Vec<Utf8PathBuf> {
        let world = self.world;
        let zone = self.zone.clone();
        let tree = self.tree.get_or_insert_with(|| Tree::of(world));
        let is_later = |path: &&Utf8PathBuf| {
            let at = world.modified(&world.project().join(path));
            at.is_some_and(|at| minute_of(zone.to_datetime(at)) > minute)
        };
        let is_work = |path: &&Utf8PathBuf| {
            let is_session = path.as_path() == session;
            let is_own = path
                .components()
                .any(|part| part.as_str() == layout::BIFROST);
            !is_session && !is_own
        };
        let files = tree.files.iter().filter(is_work).filter(is_later);
        files.cloned().collect()
    }

    fn test_state(&self) -> Option<String> {
        #[derive(Deserialize)]
        struct TestState {
            state: Option<String>,
            feature: Option<String>,
        }
        let bytes = bytes(self.world, Utf8Path::new(layout::TEST_STATE)).ok()??;
        let found: TestState = serde_json::from_slice(&bytes).ok()?;
        let is_ours = found.feature.as_deref() == Some(self.name);
        found.state.filter(|_| is_ours)
    }
}

/// Returns a time without what is below its minute.
pub(super) fn minute_of(at: DateTime) -> DateTime {
    let time = jiff::civil::Time::new(at.hour(), at.minute(), 0, 0);
    time.map_or(at, |time| at.date().to_datetime(time))
}

/// Returns the part of a context of 200,000 characters, in percent.
fn context(n_bytes: u64) -> u32 {
    let percent = n_bytes.saturating_mul(100) / 200_000;
    u32::try_from(percent.min(100)).unwrap_or(100)
}
