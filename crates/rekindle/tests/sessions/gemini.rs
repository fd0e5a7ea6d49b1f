//! Copies of transcripts of Gemini CLI, which deletes a session that was resumed.

use std::os::unix::fs::MetadataExt as _;

use anyhow::Result;
use camino::Utf8PathBuf;
use rekindle_testkit::sandbox::Sandbox;
use rekindle_testkit::transcripts::{Transcripts, gemini_id};

use crate::BINARY;

const ID: &str = "session:gemini:5d5d5d5d";

/// Returns the copies of the session, oldest first.
fn copies(home: &Transcripts<'_>) -> Result<Vec<Utf8PathBuf>> {
    let folder = format!("gemini-{}", gemini_id("5d5d5d5d"));
    let state = home.home().join(".local/state/rekindle/agent-sessions");
    let folder = state.join("copies").join(folder);
    let mut paths = Vec::new();
    for entry in folder.read_dir_utf8()? {
        paths.push(entry?.into_path());
    }
    paths.sort_by_key(|path| path.file_stem().and_then(|stem| stem.parse::<u32>().ok()));
    Ok(paths)
}

#[test]
fn what_is_there_before_and_after_a_run_is_kept_and_told() -> Result<()> {
    let sandbox = Sandbox::new(BINARY)?;
    let home = Transcripts::new(&sandbox)?;
    let folder = home.folder("notes")?;
    let transcript = home.gemini(&folder, "5d5d5d5d", 13, "Look around")?;
    let before = fs_err::read(&transcript)?;
    home.then(&format!("echo '{{\"more\":1}}' >>{transcript}\n"))?;
    // It is planned for, and no fact of the session.
    let plan = home.typed(&["plan", ID, "--json"]).run()?.json()?;
    assert_eq!(plan["findings"][0]["code"], "GEMINI_FORGETS", "{plan}");
    let inspected = home.typed(&["inspect", ID, "--json"]).run()?.json()?;
    assert_eq!(inspected["findings"], serde_json::json!([]), "{inspected}");
    let ran = home.typed(&["resume", ID, "--yes"]).run()?;
    assert_eq!(ran.code(), Some(0), "{ran}");
    let kept = copies(&home)?;
    let bytes: Vec<Vec<u8>> = kept.iter().map(fs_err::read).collect::<Result<_, _>>()?;
    let after = fs_err::read(&transcript)?;
    assert_eq!(bytes, [before, after]);
    let newest = kept.last().map(ToString::to_string).unwrap_or_default();
    let told = format!("`gemini --session-file {newest}` opens it as a new session");
    assert!(ran.stderr().contains(&told), "{ran}");
    assert_eq!(ran.stderr().matches("GEMINI_FORGETS]").count(), 1, "{ran}");
    for path in kept
        .iter()
        .map(Utf8PathBuf::as_path)
        .chain(kept[0].parent())
    {
        let mode = fs_err::metadata(path)?.mode();
        assert_eq!(mode & 0o077, 0, "{path}");
    }
    Ok(())
}

#[test]
fn at_most_five_copies_are_kept_and_equal_ones_once() -> Result<()> {
    let sandbox = Sandbox::new(BINARY)?;
    let home = Transcripts::new(&sandbox)?;
    let folder = home.folder("notes")?;
    let transcript = home.gemini(&folder, "5d5d5d5d", 13, "Look around")?;
    let resume = || home.typed(&["resume", ID, "--yes"]).run();
    for _ in 0..2 {
        assert_eq!(resume()?.code(), Some(0));
    }
    assert_eq!(copies(&home)?.len(), 1);
    home.then(&format!("echo '{{\"more\":1}}' >>{transcript}\n"))?;
    for _ in 0..6 {
        assert_eq!(resume()?.code(), Some(0));
    }
    let kept = copies(&home)?;
    let names: Vec<_> = kept.iter().filter_map(|path| path.file_name()).collect();
    assert_eq!(
        names,
        ["3.jsonl", "4.jsonl", "5.jsonl", "6.jsonl", "7.jsonl"]
    );
    Ok(())
}

#[test]
fn without_a_copy_nothing_is_started() -> Result<()> {
    let sandbox = Sandbox::new(BINARY)?;
    let home = Transcripts::new(&sandbox)?;
    let folder = home.folder("notes")?;
    home.gemini(&folder, "5d5d5d5d", 13, "Look around")?;
    let state = home.home().join(".local/state/rekindle/agent-sessions");
    fs_err::create_dir_all(&state)?;
    fs_err::write(state.join("copies"), "in the way")?;
    let ran = home.typed(&["resume", ID, "--yes"]).run()?;
    assert_eq!(ran.code(), Some(1), "{ran}");
    assert_eq!(home.calls()?, []);
    Ok(())
}
