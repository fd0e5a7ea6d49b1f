//! World to evidence: the feature, its session and its files.
//!
//! Reading stops at an invalid name and at a missing or unreadable session or checkpoint;
//! everything else becomes a finding.

mod feature;
mod saved;

use camino::{Utf8Path, Utf8PathBuf};
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use rekindle_model::OfferKind;
use rekindle_text::{headings, prose};
use rekindle_world::{Kind, World};

use self::feature::Reader;
pub(super) use self::feature::{Artifact, Presence};
use self::saved::is_saved;
use super::checkpoint::{self, Checkpoints, Choice, Entry};
use super::layout;
use super::marker::Marker;
use super::phase::Phase;
use super::session::Session;
use super::tasks::Tasks;
use super::tree::kind_at;
use rekindle_protocol::{Ask, ResumeOption};

/// What the project contains.
#[derive(Debug)]
pub(super) enum Evidence {
    /// Several features, or one, and none is named: a person must choose.
    Choice,
    /// Nothing of a feature can be read further.
    Halted(Box<Halt>),
    /// A feature with a checkpoint that can be resumed from.
    Feature(Box<Feature>),
}

/// Where and why reading stopped.
#[derive(Debug)]
pub(super) struct Halt {
    pub(super) why: Why,
    /// The feature, if its name is valid.
    pub(super) feature: Option<String>,
    /// Whether the feature exists.
    pub(super) is_known: bool,
    /// The session that was read, or would have been.
    pub(super) session_path: Option<Utf8PathBuf>,
    /// Existing features whose names start with the given one.
    pub(super) near: Vec<String>,
    /// Whether version control has another version of that session.
    pub(super) is_session_saved: bool,
    /// The checkpoints, if they were read.
    pub(super) checkpoints: Checkpoints,
    /// The feature as a first checkpoint would find it, if only the checkpoint is missing.
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
    NoCheckpoint {
        /// The index of a line in code or a comment that looks like a checkpoint.
        hidden: Option<usize>,
    },
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
    /// The required and the named files.
    pub(super) files: Vec<Artifact>,
    /// Required files that are gone and that version control can bring back.
    pub(super) saved: Vec<String>,
    /// Files that were written after a checkpoint that is gone back to.
    pub(super) later_work: Vec<Utf8PathBuf>,
    /// The context that the feature's pages take, in percent.
    pub(super) estimated_context: u32,
    /// The state of the tests of this feature.
    pub(super) test_state: Option<String>,
    pub(super) spec: Option<String>,
    pub(super) plan: Option<String>,
    pub(super) has_rules: bool,
    /// A free folder for the backup of a rollback.
    pub(super) backup: Utf8PathBuf,
    /// Why the backup cannot be made, if it is needed.
    pub(super) odd_backups: Option<&'static str>,
    /// The archive of the session.
    pub(super) archive: Archive,
    /// The design documents of the plan phase, each with whether it exists.
    pub(super) design: Vec<(&'static str, bool)>,
    pub(super) asked: Asked,
    pub(super) now: DateTime,
    pub(super) zone: TimeZone,
}

/// The file for entries that leave a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Archive {
    pub(super) path: Utf8PathBuf,
    /// Its content, if it exists.
    pub(super) before: Option<Vec<u8>>,
}

/// How the resume was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Asked {
    /// With as little context as possible.
    pub(super) fresh: bool,
    /// After a look of the validators.
    pub(super) validate: bool,
    /// The offers that were accepted.
    pub(super) accepted: Vec<OfferKind>,
}

/// The marker's file, as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum MarkerFile {
    Absent,
    Present(Vec<u8>),
    /// Something else is at this path, and why it cannot be used.
    Odd(&'static str, &'static str),
}

impl MarkerFile {
    pub(super) fn marker(&self) -> Option<Marker> {
        match self {
            Self::Present(bytes) => Marker::parse(bytes),
            Self::Absent | Self::Odd(..) => None,
        }
    }
}

impl Feature {
    /// Returns the path that cannot be written to, and why.
    pub(super) fn in_the_way(&self) -> Option<(&'static str, &'static str)> {
        match self.marker {
            MarkerFile::Odd(path, reason) => Some((path, reason)),
            MarkerFile::Absent | MarkerFile::Present(_) => {
                Some((layout::BACKUPS, self.odd_backups?))
            }
        }
    }
}

/// Reads the given feature, or the one of the marker.
pub(super) fn evidence(world: &dyn World, ask: &Ask) -> Evidence {
    let named = match &ask.name {
        Some(typed) => match layout::feature_name(typed) {
            Ok(name) => Some(name),
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

/// Returns the longer names of features that start with a name.
fn near(world: &dyn World, name: &str) -> Vec<String> {
    let mut features = features(world);
    features.retain(|feature| feature.starts_with(name) && feature != name);
    features
}

/// Returns the feature of a session, if it names one.
pub(super) fn feature_of(session: &Session) -> Option<String> {
    let said = session.focus("Feature")?.trim_matches('`').trim();
    let is_left_open = said.eq_ignore_ascii_case("none") || said.starts_with(['(', '{', '[', '<']);
    if said.is_empty() || is_left_open {
        return None;
    }
    Some(layout::feature_name(said).unwrap_or_else(|_| said.to_owned()))
}

/// Reads the marker.
pub(super) fn marker_file(world: &dyn World) -> MarkerFile {
    let folder = layout::BIFROST;
    if let Some(reason) = layout::odd_folder(world, Utf8Path::new(folder)) {
        return MarkerFile::Odd(folder, reason);
    }
    match bytes(world, Utf8Path::new(layout::MARKER)) {
        Ok(Some(bytes)) => MarkerFile::Present(bytes),
        Ok(None) if world.stat(&world.project().join(layout::MARKER)).is_err() => {
            MarkerFile::Absent
        }
        Ok(None) => MarkerFile::Odd(layout::MARKER, "it is not a file"),
        Err(reason) => MarkerFile::Odd(layout::MARKER, reason),
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
            let is_corrupt = matches!(why, Why::Corrupt { .. });
            let broken = path.as_ref().filter(|_| is_corrupt);
            return halted(Halt {
                is_session_saved: broken.is_some_and(|path| is_saved(world, path)),
                session_path: path,
                is_known,
                near: near(world, name),
                ..halt(why)
            });
        }
    };
    let checkpoints = Checkpoints::read(&session);
    let read = |chosen: Entry| {
        let reader = Reader::new(world, name);
        let (path, session) = (session_path.clone(), session.clone());
        Box::new(reader.feature(path, session, checkpoints.clone(), chosen, ask))
    };
    let why = match checkpoints.choose(ask.option(ResumeOption::CHECKPOINT)) {
        Choice::Found(chosen) => return Evidence::Feature(read(*chosen)),
        Choice::Nothing => Why::NoCheckpoint {
            hidden: checkpoint::hidden(&session),
        },
        Choice::Corrupt(reason) => Why::CorruptCheckpoint { reason },
        Choice::Unknown => Why::UnknownCheckpoint {
            wanted: ask
                .option(ResumeOption::CHECKPOINT)
                .unwrap_or_default()
                .to_owned(),
        },
    };
    let standing =
        (!ask.has(ResumeOption::CHECKPOINT)).then(|| read(stand_in(world, name, &session)));
    halted(Halt {
        session_path: Some(session_path),
        is_known: true,
        checkpoints,
        standing,
        ..halt(why)
    })
}

/// Returns a substitute for a missing checkpoint, with the phase of the marker or the session.
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
            near: Vec::new(),
            is_session_saved: false,
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
        let other = feature_of(&session).filter(|other| other != name);
        if let Some(named) = other.filter(|_| is_legacy) {
            return Err((Some(path), Why::OtherFeature { named }));
        }
        return Ok((path, session));
    }
    Err((None, Why::NoSession))
}

/// Reads a file of the project; `None` if it does not exist.
pub(super) fn bytes(world: &dyn World, path: &Utf8Path) -> Result<Option<Vec<u8>>, &'static str> {
    if !layout::is_inside(world, path) {
        return Err("it is a link that leads out of the project");
    }
    match world.read(&world.project().join(path), layout::LARGEST) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(rekindle_world::ReadError::NotFound) => Ok(None),
        Err(rekindle_world::ReadError::Denied) => Err("it may not be read"),
        Err(rekindle_world::ReadError::TooLarge { .. }) => Err("it is larger than 2 MiB"),
        Err(rekindle_world::ReadError::Failed(_)) => Err("it cannot be read"),
    }
}

/// Reads a text file of the project; `None` if it does not exist.
///
/// # Errors
/// Why it cannot be read.
pub(super) fn text(world: &dyn World, path: &Utf8Path) -> Result<Option<String>, &'static str> {
    match bytes(world, path)? {
        Some(bytes) => Ok(Some(String::from_utf8_lossy(&bytes).into_owned())),
        None if kind_at(world, path).is_some() => Err("it is not a file"),
        None => Ok(None),
    }
}

/// Returns whether a page is a placeholder of `/spec`, without sections or tasks.
pub(super) fn is_placeholder(text: &str) -> bool {
    let says_so = |line: rekindle_text::Line| {
        let line = text.get(line.content.range()).unwrap_or_default();
        line.trim().starts_with("*This file will be populated")
    };
    let has_sections = || headings(text).iter().any(|heading| heading.level > 1);
    prose(text).any(says_so) && !has_sections() && Tasks::parse(text).all.is_empty()
}

/// Returns a time without its seconds.
pub(super) fn minute_of(at: DateTime) -> DateTime {
    let time = jiff::civil::Time::new(at.hour(), at.minute(), 0, 0);
    time.map_or(at, |time| at.date().to_datetime(time))
}
