//! The MCP server: arbitrary input, in an empty project and in one with a workflow.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use camino::Utf8PathBuf;
use rekindle_app::{Clock, Project, Zone};
use tokio::io::AsyncWrite;

use crate::files::scratch;

/// The length of the input selects one of these projects.
const PROJECTS: [&str; 4] = [
    "agent-memory/06-phase2-mid-deps",
    "agent-memory/05-multiple-incomplete",
    "bifrost/17c-details-then-yes",
    "map/13-mid-monitor",
];

/// Frames, one per line, in an empty project.
pub fn mcp(data: &[u8]) {
    serve(scratch(), data);
}

/// Frames, one per line, in a project with a workflow; tools may write to it.
pub fn mcp_project(data: &[u8]) {
    let folder = scratch().join("served");
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/conformance");
    let case = cases.join(PROJECTS[data.len() % PROJECTS.len()]);
    copy(&case.join("project"), folder.as_std_path())
        .unwrap_or_else(|error| panic!("`{}`: {error}", case.display()));
    serve(folder, data);
}

/// Serves the input; every answer must be a frame.
fn serve(folder: Utf8PathBuf, data: &[u8]) {
    let now = jiff::Timestamp::from_second(1_771_254_000).unwrap_or_default();
    let project = Project {
        folder: folder.clone(),
        typed_in: folder.clone(),
        clock: Clock::Fixed(now),
        zone: Zone::Fixed(jiff::tz::TimeZone::UTC),
        variables: BTreeMap::from([("HOME".to_owned(), folder.to_string())]),
        program: "/nonexistent".into(),
        search_path: std::ffi::OsString::new(),
        key: None,
    };
    let answers = Answers::default();
    // An error is a valid result too.
    drop(rekindle_mcp::serve_over(
        project,
        io::Cursor::new(data.to_vec()),
        answers.clone(),
    ));
    let answers = answers.0.lock().unwrap_or_else(PoisonError::into_inner);
    let lines = answers.split(|byte| *byte == b'\n');
    for line in lines.filter(|line| !line.is_empty()) {
        let frame = serde_json::from_slice::<serde_json::Value>(line);
        let frame = frame.unwrap_or_else(|error| panic!("{error}: {line:?}"));
        assert_eq!(frame["jsonrpc"], "2.0", "{frame}");
    }
}

/// The output of the server.
#[derive(Clone, Default)]
struct Answers(Arc<Mutex<Vec<u8>>>);

impl AsyncWrite for Answers {
    fn poll_write(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let mut answers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        answers.extend_from_slice(bytes);
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

/// Replaces the previous project, which may have been changed.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    if to.exists() {
        std::fs::remove_dir_all(to)?;
    }
    copy_folder(from, to)
}

fn copy_folder(from: &Path, to: &Path) -> io::Result<()> {
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        let to = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_folder(&entry.path(), &to)?;
        } else {
            std::fs::copy(entry.path(), to)?;
        }
    }
    Ok(())
}
