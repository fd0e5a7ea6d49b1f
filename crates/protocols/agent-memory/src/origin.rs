//! Whether `rekindle run` started a run, and its settings.
//!
//! The work of such a run lands as commits from worktrees. A damaged or missing file must never
//! make rekindle continue it in the project's folder, so other traces of the run are checked too.

use camino::{Utf8Path, Utf8PathBuf};
use rekindle_model::{Code, Place};
use rekindle_world::{Kind, ReadError, World};

use super::findings::Findings;
use super::fold::Folded;
use super::layout;
use super::read::{GraphFile, SettingsFile, inside, shown};
use super::settings;

/// The file is a few lines; commands in it may be long.
const LARGEST: u64 = 1024 * 1024;

/// The parts of a run that show its settings.
pub(super) struct Record<'a> {
    pub(super) world: &'a dyn World,
    pub(super) id: &'a str,
    /// Absolute.
    pub(super) folder: &'a Utf8Path,
    pub(super) graph: &'a GraphFile,
    pub(super) folded: &'a Folded,
}

impl Record<'_> {
    /// Reads how the run is to be done; a damaged record is a finding that blocks.
    pub(super) fn settings(&self, findings: &mut Findings) -> SettingsFile {
        let path = self.folder.join(settings::FILE);
        let broken = match self.read(&path) {
            Ok(Some(settings)) => match self.graph {
                GraphFile::Read(_) => return SettingsFile::Read(Box::new(settings)),
                GraphFile::Corrupt => "`task-graph.json` cannot be read".to_owned(),
                GraphFile::Absent => "`task-graph.json` is missing".to_owned(),
            },
            Ok(None) => match self.sign() {
                Some(sign) => format!("`{}` is missing, although {sign}", settings::FILE),
                None => return SettingsFile::Absent,
            },
            Err(reason) => format!("`{}` cannot be used: {reason}", settings::FILE),
        };
        let place = Place::path(shown(self.world, &path));
        findings.add_about(Code::BrokenRunRecord, broken, || place);
        SettingsFile::Unusable
    }

    fn read(&self, path: &Utf8Path) -> Result<Option<rekindle_model::Settings>, String> {
        match self.world.stat(path).map(|meta| meta.kind) {
            Ok(Kind::File) => {}
            Ok(Kind::Link) if inside(self.world, path, &mut Findings::default()).is_some() => {}
            Ok(Kind::Link) => {
                return Err("it is a link that leads nowhere in the project".to_owned());
            }
            Ok(Kind::Folder | Kind::Other) => return Err("it is not a file".to_owned()),
            Err(ReadError::NotFound) => return Ok(None),
            Err(error) => return Err(error.to_string()),
        }
        let bytes = self.world.read(path, LARGEST);
        settings::parse(&bytes.map_err(|error| error.to_string())?).map(Some)
    }

    /// Returns the evidence that `rekindle run` started the run.
    fn sign(&self) -> Option<&'static str> {
        if self.graph.get().is_some_and(|graph| graph.is_ours) {
            return Some("`rekindle run` made its task graph");
        }
        if self.folded.is_of_the_engine {
            return Some("its events say that `rekindle run` started it");
        }
        let names = [Some(self.id), self.folded.renamed_from.as_deref()];
        let mut names = names.into_iter().flatten();
        let has_orders = names.any(|name| self.world.stat(&self.orders(name)).is_ok());
        has_orders.then_some("orders of its workers are below `.rekindle/runs/`")
    }

    /// Returns the folder of the workers' orders.
    fn orders(&self, name: &str) -> Utf8PathBuf {
        self.world
            .project()
            .join(layout::ORDERS)
            .join(format!("agent-memory-{name}"))
    }
}
