//! The files of a feature and of the project, and their times.

use std::collections::BTreeMap;

use camino::{Utf8Path, Utf8PathBuf};
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use rekindle_world::{Kind, World};
use serde::Deserialize;

use super::super::artifacts::{self, Kind as Sureness};
use super::super::checkpoint::{Checkpoints, Entry};
use super::super::layout;
use super::super::phase::Phase;
use super::super::session::Session;
use super::super::tasks::Tasks;
use super::super::tree::{Tree, kind_at, markdown_bytes, written_at};
use super::{
    Archive, Asked, Feature, bytes, is_placeholder, is_saved, marker_file, minute_of, text,
};
use rekindle_protocol::{Ask, ResumeOption};

/// A file or folder that a checkpoint names or its phase requires.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Artifact {
    /// The path from the project, or the name as it is written if nothing is found.
    pub(crate) path: String,
    pub(crate) is_named: bool,
    pub(crate) is_required: bool,
    pub(crate) state: Presence,
    pub(crate) is_folder: bool,
    /// When it was last written, in the user's own time.
    pub(crate) written: Option<DateTime>,
}

impl Artifact {
    /// Returns the command that fills in the file.
    pub(crate) fn made_by(&self) -> &'static str {
        if self.path.ends_with("plan.md") {
            "plan"
        } else {
            "tasks"
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Presence {
    Present,
    /// It exists, but is not filled in.
    Placeholder,
    /// It exists, but cannot be read for this reason.
    Unreadable(&'static str),
    Absent,
}

/// A larger archive gets no more entries, so that it stays small enough to be read.
const FULL_ARCHIVE: usize = 1024 * 1024;

/// A page of the feature: its text if it exists, or why it cannot be read.
type Page = Result<Option<String>, &'static str>;

/// Reads the files of one feature.
pub(super) struct Reader<'w> {
    world: &'w dyn World,
    name: &'w str,
    folder: Utf8PathBuf,
    zone: TimeZone,
    /// The whole project, once it was needed.
    tree: Option<Tree>,
}

impl<'w> Reader<'w> {
    pub(super) fn new(world: &'w dyn World, name: &'w str) -> Self {
        Self {
            world,
            name,
            folder: layout::folder(name),
            zone: world.zone(),
            tree: None,
        }
    }

    pub(super) fn feature(
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
        let is_restored = !checkpoints.is_latest(&chosen);
        let files = self.artifacts(&chosen, [&spec, &plan, &tasks]);
        let filled = |page: Page| page.ok().flatten();
        let is_gone = |file: &&Artifact| file.is_required && file.state == Presence::Absent;
        let saved = files.iter().filter(is_gone).map(|file| file.path.clone());
        let saved = saved
            .filter(|path| is_saved(world, Utf8Path::new(path)))
            .collect();
        let later_work = match chosen.at.filter(|_| is_rollback) {
            Some(at) => self.written_after(at, &session_path),
            None => Vec::new(),
        };
        let stamp = now.strftime("%Y%m%d-%H%M%S").to_string();
        Feature {
            name: self.name.to_owned(),
            marker: marker_file(world),
            tasks: filled(tasks)
                .filter(|text| !is_placeholder(text))
                .map(|text| Tasks::parse(&text)),
            files,
            saved,
            later_work,
            estimated_context: context(markdown_bytes(world, &self.folder)),
            test_state: self.test_state(),
            spec: filled(spec),
            plan: filled(plan),
            has_rules: world.is_file(&world.project().join(layout::RULES)),
            backup: layout::free(world, layout::backup(&stamp)),
            odd_backups: layout::odd_folder(world, Utf8Path::new(layout::BACKUPS))
                .filter(|_| is_restored),
            archive: archive(world, &session_path),
            design: self.design(),
            asked: Asked {
                fresh: ask.has(ResumeOption::FRESH),
                validate: ask.has(ResumeOption::VALIDATE),
                accepted: ask.accepted.clone(),
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

    /// Returns the required and the named files, sorted by path.
    fn artifacts(&mut self, chosen: &Entry, pages: [&Page; 3]) -> Vec<Artifact> {
        let phase = chosen.phase.unwrap_or(Phase::Spec);
        // A placeholder is enough until the plan is complete.
        let must_be_filled = phase > Phase::Plan || phase == Phase::Plan && chosen.is_complete();
        let mut found: BTreeMap<String, Artifact> = BTreeMap::new();
        for (name, page) in ["spec.md", "plan.md", "tasks.md"].into_iter().zip(pages) {
            if !phase.needs().required.contains(&name) {
                continue;
            }
            let state = match page {
                Ok(Some(text)) if must_be_filled && is_placeholder(text) => Presence::Placeholder,
                Ok(Some(_)) => Presence::Present,
                Ok(None) => Presence::Absent,
                Err(reason) => Presence::Unreadable(reason),
            };
            let path = layout::file(self.name, name);
            let artifact = Artifact {
                written: self.written(&path),
                path: path.to_string(),
                is_named: false,
                is_required: true,
                is_folder: false,
                state,
            };
            found.insert(path.into_string(), artifact);
        }
        let mut previous: Option<Utf8PathBuf> = None;
        for named in artifacts::named(&chosen.fields.artifacts) {
            // A required file is expected at its path only.
            let expected = self.folder.join(&named.text).into_string();
            let is_required = found.contains_key(&expected);
            let path = self.find(&named.text, previous.as_deref(), is_required);
            if let Some(path) = &path {
                previous = path.parent().map(Utf8Path::to_owned);
            }
            let (path, is_there) = match (path, named.kind) {
                (Some(path), _) => (path.into_string(), true),
                (None, Sureness::Path) if is_required => (expected, false),
                (None, Sureness::Path) => (named.text, false),
                (None, Sureness::Maybe) => continue,
            };
            if let Some(known) = found.get_mut(&path) {
                known.is_named = true;
                continue;
            }
            let state = if is_there {
                Presence::Present
            } else {
                Presence::Absent
            };
            let kind = kind_at(self.world, Utf8Path::new(&path));
            let artifact = Artifact {
                written: is_there
                    .then(|| self.written(Utf8Path::new(&path)))
                    .flatten(),
                path: path.clone(),
                is_named: true,
                is_required: false,
                is_folder: kind == Some(Kind::Folder),
                state,
            };
            found.insert(path, artifact);
        }
        found.into_values().collect()
    }

    /// Finds a named file: nearby, then by its name anywhere, unless it is required.
    fn find(
        &mut self,
        name: &str,
        previous: Option<&Utf8Path>,
        is_bound: bool,
    ) -> Option<Utf8PathBuf> {
        let world = self.world;
        let is_there = |path: &Utf8PathBuf| kind_at(world, path).is_some();
        let places = artifacts::places(name, &self.folder, previous);
        if let Some(place) = places.into_iter().find(is_there) {
            return Some(place);
        }
        if is_bound {
            return None;
        }
        let tree = self.tree.get_or_insert_with(|| Tree::of(world));
        tree.only_named(name).cloned()
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
            let is_session = path.as_path() == session || layout::is_archive(path);
            let is_own = path
                .components()
                .any(|part| part.as_str() == layout::BIFROST);
            !is_session && !is_own
        };
        let files = tree.files.iter().filter(is_work).filter(is_later);
        files.cloned().collect()
    }

    /// Returns the design documents of the plan phase, each with whether it exists.
    fn design(&self) -> Vec<(&'static str, bool)> {
        let names = ["research.md", "data-model.md", "contracts/"].into_iter();
        let is_there = |name: &str| kind_at(self.world, &self.folder.join(name)).is_some();
        names.map(|name| (name, is_there(name))).collect()
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

/// Finds the first archive that has room or does not exist yet.
fn archive(world: &dyn World, session: &Utf8Path) -> Archive {
    let mut numbered = (1..1000).map(|number| layout::archive(session, number));
    let found = numbered.find_map(|path| {
        let is_absent = world.stat(&world.project().join(&path)).is_err();
        let before = bytes(world, &path).ok().flatten();
        let has_room = before
            .as_ref()
            .is_some_and(|text| text.len() <= FULL_ARCHIVE);
        (is_absent || has_room).then_some(Archive { path, before })
    });
    found.unwrap_or_else(|| Archive {
        path: layout::archive(session, 1),
        before: None,
    })
}

/// Returns the part of a context of 200,000 characters, in percent.
fn context(n_bytes: u64) -> u32 {
    let percent = n_bytes.saturating_mul(100) / 200_000;
    u32::try_from(percent.min(100)).unwrap_or(100)
}
