//! The MCP server: any bytes on its input, in an empty project.

use std::collections::BTreeMap;

use rekindle_app::{Clock, Project, Zone};

use crate::files::scratch;

/// Frames, one a line.
pub fn mcp(data: &[u8]) {
    let folder = scratch();
    let now = jiff::Timestamp::from_second(1_771_254_000).unwrap_or_default();
    let project = Project {
        folder: folder.clone(),
        clock: Clock::Fixed(now),
        zone: Zone::Fixed(jiff::tz::TimeZone::UTC),
        variables: BTreeMap::from([("HOME".to_owned(), folder.to_string())]),
        program: "/nonexistent".into(),
        search_path: std::ffi::OsString::new(),
    };
    // That a conversation can not begin is an answer too.
    drop(rekindle_mcp::serve_over(
        project,
        std::io::Cursor::new(data.to_vec()),
        tokio::io::sink(),
    ));
}
