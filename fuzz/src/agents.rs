//! Streams, transcripts and hooks of agent programs, and their configuration.

use camino::Utf8Path;
use rekindle_agents::config::File;
use rekindle_agents::hook::{Event, Moment};
use rekindle_agents::{Preset, Redactor, Stream, StreamReader, redact, traces};

use crate::world::{Grown, PROJECT};

/// The output of an agent, in each format.
pub fn streams(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    for stream in Stream::ALL {
        let mut reader = StreamReader::new(stream);
        for line in text.lines() {
            drop(reader.push_line(line));
        }
        drop(reader.into_summary());
    }
    let mut redactor = Redactor::new();
    for line in text.lines() {
        drop(redactor.line(line).into_owned());
        let once = redact(line).into_owned();
        assert_eq!(redact(&once), once, "redacting twice changes nothing");
    }
}

/// The transcripts of Claude Code and Codex in the home folder.
pub fn agent_traces(data: &[u8]) {
    let world = Grown::new(data);
    let folder = Utf8Path::new(PROJECT);
    let last = traces::last_session(&world, folder, &|_, _| false);
    let again = traces::last_session(&world, folder, &|_, _| false);
    assert_eq!(format!("{last:?}"), format!("{again:?}"));
    let session = "11111111-2222-4333-8444-555555555555";
    for agent in Preset::ALL {
        drop(traces::fitness(&world, agent, session, folder));
    }
}

/// The input of a hook.
pub fn hook_input(data: &[u8]) {
    for moment in Moment::ALL {
        for agent in [None, Some(Preset::Claude), Some(Preset::Codex)] {
            drop(Event::parse(moment, agent, data));
        }
    }
}

/// The configuration.
pub fn config(data: &[u8]) {
    if let Ok(text) = std::str::from_utf8(data) {
        drop(File::parse(Utf8Path::new("config.toml"), text));
    }
}
