//! The home of a case about sessions: real paths in transcripts, databases, file times, variables.

use std::io;
use std::time::SystemTime;

use camino::Utf8Path;
use rekindle_text::claude_folder_name;

use super::error::Error;
use super::scene::{Scene, touch_at};
use super::snapshot::files_below;

/// How the folder around the project is spelled in files.
const AROUND: &str = "/DEV/";
/// How it is spelled in names of folders.
const AROUND_NAME: &str = "-DEV-";
/// A database as the commands that make it.
const DATABASE: &str = ".db.sql";

impl Scene<'_> {
    /// Puts the scene's paths into the files and folders of the home, and makes its databases.
    pub(super) fn lay_out_sessions(&mut self) -> Result<(), Error> {
        let work = self.project().parent().unwrap_or(self.project()).to_owned();
        let home = self.home().to_owned();
        files_below(&home, &[], &mut |path, is_link| {
            if is_link {
                return Ok(());
            }
            let data = fs_err::read(path)?;
            let real = replaced(&data, AROUND.as_bytes(), format!("{work}/").as_bytes());
            let real = replaced(&real, b"<HOME>", home.as_str().as_bytes());
            if real != data {
                fs_err::write(path, &real)?;
            }
            match path.as_str().strip_suffix(DATABASE) {
                Some(stem) => make_database(&format!("{stem}.db"), &real, path),
                None => Ok(()),
            }
        })?;
        rename_folders(&home, &claude_folder_name(work.as_str()))?;
        let usual = self
            .case()
            .home_mtime
            .as_deref()
            .unwrap_or(&self.case().now);
        let usual = instant(usual)?;
        files_below(&home, &[], &mut |path, is_link| {
            if is_link {
                Ok(())
            } else {
                touch_at(path, usual)
            }
        })?;
        for (path, when) in &self.case().home_mtimes {
            touch_at(&home.join(self.expand(path)), instant(when)?)?;
        }
        let case = self.case();
        for (name, value) in &case.env {
            let value = self.expand(value);
            self.set_variable(name, &value);
        }
        Ok(())
    }
}

fn instant(text: &str) -> Result<SystemTime, Error> {
    let at: jiff::Timestamp = text.parse()?;
    Ok(at.into())
}

fn replaced(data: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(data.len());
    let mut rest = data;
    while let Some(at) = rest.windows(from.len()).position(|part| part == from) {
        out.extend_from_slice(&rest[..at]);
        out.extend_from_slice(to);
        rest = &rest[at + from.len()..];
    }
    out.extend_from_slice(rest);
    out
}

fn make_database(database: &str, commands: &[u8], source: &Utf8Path) -> io::Result<()> {
    let made = rusqlite::Connection::open(database)
        .and_then(|database| database.execute_batch(&String::from_utf8_lossy(commands)));
    made.map_err(io::Error::other)?;
    fs_err::remove_file(source)
}

/// Gives folders that are named after one next to the project the names that Claude Code would give.
fn rename_folders(folder: &Utf8Path, around: &str) -> io::Result<()> {
    for entry in folder.read_dir_utf8()? {
        let entry = entry?;
        if !entry.file_type()?.is_dir() {
            continue;
        }
        rename_folders(entry.path(), around)?;
        if let Some(name) = entry.file_name().strip_prefix(AROUND_NAME) {
            fs_err::rename(entry.path(), folder.join(format!("{around}-{name}")))?;
        }
    }
    Ok(())
}
