//! The task list: a folder of files, or one file that a person named.

use camino::Utf8Path;
use rekindle_model::{Code, Finding, Place};
use rekindle_world::ReadError;

use super::super::task_list::{self, TaskFile};
use super::{LARGEST, Reader, shown};

impl Reader<'_> {
    /// Returns the team's tasks on disk.
    pub(super) fn listed(&mut self, folder: &Utf8Path) -> Vec<TaskFile> {
        let entries = match self.world.list(folder) {
            Ok(entries) => entries,
            Err(ReadError::NotFound) => Vec::new(),
            Err(error) => {
                self.unreadable_list(folder, &error);
                Vec::new()
            }
        };
        let names = entries
            .iter()
            .filter(|entry| Utf8Path::new(&entry.name).extension() == Some("json"));
        let mut files = Vec::new();
        for entry in names {
            let path = folder.join(&entry.name);
            let parsed = match self.world.read(&path, LARGEST) {
                Ok(bytes) => TaskFile::parse(path.clone(), bytes),
                Err(error) => Err(error.to_string()),
            };
            match parsed {
                Ok(file) => files.push(file),
                Err(reason) => self.unreadable_task(&path, &reason),
            }
        }
        files
    }

    /// Returns the tasks of a file that a person named.
    pub(super) fn listed_in_file(&mut self, path: &Utf8Path) -> Vec<TaskFile> {
        let path = self.world.project().join(path);
        let bytes = match self.world.read(&path, LARGEST) {
            Ok(bytes) => bytes,
            Err(error) => {
                self.unreadable_list(&path, &error);
                return Vec::new();
            }
        };
        let mut files = Vec::new();
        for parsed in task_list::parse_list(&path, &bytes) {
            match parsed {
                Ok(file) => files.push(file),
                Err(reason) => self.unreadable_task(&path, &reason),
            }
        }
        files
    }

    fn unreadable_list(&mut self, path: &Utf8Path, error: &ReadError) {
        let message = format!("`{path}` cannot be read: {error}");
        self.notice(Finding::new(Code::UnreadableFile, message).at(Place::path(path)));
    }

    fn unreadable_task(&mut self, path: &Utf8Path, reason: &str) {
        let message = format!("a task cannot be read: {}", shown(reason));
        self.notice(Finding::new(Code::UnreadableTask, message).at(Place::path(path)));
    }
}
