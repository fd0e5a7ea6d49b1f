//! Homes with very many sessions of coding agents: long transcripts of which only the ends are on the
//! disk.

use std::fs::{File, FileTimes};
use std::io::{Seek as _, SeekFrom, Write as _};
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use xtask::files;

use crate::generate::{Instant, Recipe};

pub(crate) const RECIPE: Recipe = Recipe {
    name: "sessions",
    sources: &[include_str!("sessions_home.rs")],
    make,
};

pub(crate) const N_SESSIONS: u64 = 10_000;
/// The sessions of the one project.
pub(crate) const N_OF_PROJECT: u64 = 400;
const N_FOLDERS: u64 = 500;
/// Each transcript is so long, and its last bytes are rows.
const LENGTH: u64 = 1_000_000;
/// One in so many was cut off in a tool.
const CUT_OFF: u64 = 20;
/// The newest one, and how many seconds there are between two: a few hundred are of the last week.
const NEWEST: u64 = 1_768_906_800;
const BETWEEN: u64 = 1200;
/// 2026-01-20T12:00:00Z.
pub(crate) const NOW: u64 = 1_768_910_400;

pub(crate) fn now() -> String {
    Instant(NOW).long()
}

/// Makes a home with many sessions, one with a project's, and an empty one.
fn make(folder: &Path) -> Result<String, String> {
    let all = folder.join("all");
    for number in 0..N_SESSIONS {
        let work = folder.join(format!("work/p{}", number % N_FOLDERS));
        if number < N_FOLDERS {
            files::make_folder(&work)?;
        }
        if number % 5 == 4 {
            codex(&all, &work, number)?;
        } else {
            claude(&all, &work, number)?;
        }
    }
    let project = folder.join("project");
    files::make_folder(&project)?;
    for number in 0..N_OF_PROJECT {
        claude(&folder.join("one"), &project, number)?;
    }
    files::make_folder(folder.join("none"))?;
    let n_read = NOW.saturating_sub(7 * 24 * 3600);
    let of_week = (NEWEST - n_read) / BETWEEN + 1;
    Ok(of_week.min(N_OF_PROJECT).div_ceil(CUT_OFF).to_string())
}

fn claude(home: &Path, work: &Path, number: u64) -> Result<(), String> {
    let name: String = work
        .to_string_lossy()
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
        .collect();
    let id = format!("{number:08x}-5b1e-4c77-9a10-2d6c1b7e0001");
    let at = Instant(NEWEST - number * BETWEEN).long();
    let cwd = work.display();
    let row = |kind: &str, uuid: u64, more: &str| {
        format!(
            "{{\"type\":\"{kind}\",\"uuid\":\"{number:08x}-{uuid}\",\"cwd\":\"{cwd}\",\"gitBranch\":\"main\",\"entrypoint\":\"cli\",\"timestamp\":\"{at}\",{more}}}\n"
        )
    };
    let call = |n: u64| {
        format!(
            "\"message\":{{\"id\":\"m{n}\",\"content\":[{{\"type\":\"tool_use\",\"id\":\"t{n}\",\"name\":\"Bash\",\"input\":{{\"command\":\"make step-{n}\"}}}}],\"stop_reason\":\"tool_use\"}}"
        )
    };
    let mut rows = row(
        "user",
        0,
        "\"promptSource\":\"typed\",\"message\":{\"content\":\"Port the importer\"}",
    );
    let output = "lorem ipsum ".repeat(100);
    for n in 1..=20 {
        rows += &row("assistant", 2 * n, &call(n));
        let result = format!(
            "\"message\":{{\"content\":[{{\"type\":\"tool_result\",\"tool_use_id\":\"t{n}\",\"content\":\"{output}\"}}]}}"
        );
        rows += &row("user", 2 * n + 1, &result);
    }
    if number.is_multiple_of(CUT_OFF) {
        rows += &row("assistant", 99, &call(99));
    } else {
        rows += &row(
            "assistant",
            99,
            "\"message\":{\"id\":\"m99\",\"content\":[{\"type\":\"text\",\"text\":\"It is done.\"}],\"stop_reason\":\"end_turn\"}",
        );
        rows += &row("system", 100, "\"subtype\":\"turn_duration\"");
    }
    rows += &format!(
        "{{\"type\":\"last-prompt\",\"lastPrompt\":\"Port the importer\",\"sessionId\":\"{id}\"}}\n"
    );
    let file = home
        .join(".claude/projects")
        .join(name)
        .join(format!("{id}.jsonl"));
    sparse(&file, "", &rows, number)
}

fn codex(home: &Path, work: &Path, number: u64) -> Result<(), String> {
    let id = format!("019bdb10-aaaa-7bbb-8ccc-{number:012x}");
    let at = Instant(NEWEST - number * BETWEEN);
    let cwd = work.display();
    let row = |kind: &str, payload: &str| {
        format!(
            "{{\"timestamp\":\"{}\",\"type\":\"{kind}\",\"payload\":{{{payload}}}}}\n",
            at.long()
        )
    };
    let first = row(
        "session_meta",
        &format!(
            "\"id\":\"{id}\",\"cwd\":\"{cwd}\",\"originator\":\"codex-tui\",\"source\":\"cli\",\"thread_source\":\"user\""
        ),
    );
    let mut rows = row("event_msg", "\"type\":\"task_started\"");
    rows += &row("turn_context", &format!("\"cwd\":\"{cwd}\""));
    rows += &row(
        "event_msg",
        "\"type\":\"item_completed\",\"item\":{\"type\":\"UserMessage\",\"content\":[{\"type\":\"text\",\"text\":\"Port the importer\"}]}",
    );
    let output = "lorem ipsum ".repeat(100);
    for n in 1..=10 {
        rows += &row(
            "response_item",
            &format!(
                "\"type\":\"function_call\",\"name\":\"exec_command\",\"call_id\":\"c{n}\",\"arguments\":\"{{}}\""
            ),
        );
        rows += &row(
            "response_item",
            &format!(
                "\"type\":\"function_call_output\",\"call_id\":\"c{n}\",\"output\":\"{output}\""
            ),
        );
    }
    rows += &row(
        "event_msg",
        "\"type\":\"task_complete\",\"last_agent_message\":\"It is done.\"",
    );
    let day = at.long();
    let day = day.get(..10).unwrap_or_default();
    let file = home
        .join(".codex/sessions")
        .join(day.replace('-', "/"))
        .join(format!("rollout-{day}T00-00-00-{id}.jsonl"));
    sparse(&file, &first, &rows, number)
}

/// Writes a file with a beginning and an end, and a hole in between.
fn sparse(path: &Path, beginning: &str, end: &str, number: u64) -> Result<(), String> {
    let failed = |error: std::io::Error| format!("cannot write `{}`: {error}", path.display());
    files::write(path, beginning)?;
    let mut file = File::options().write(true).open(path).map_err(failed)?;
    let at = LENGTH.saturating_sub(end.len() as u64 + 1);
    file.seek(SeekFrom::Start(at)).map_err(failed)?;
    file.write_all(b"\n").map_err(failed)?;
    file.write_all(end.as_bytes()).map_err(failed)?;
    let written: SystemTime = UNIX_EPOCH + Duration::from_secs(NEWEST - number * BETWEEN);
    file.set_times(FileTimes::new().set_modified(written))
        .map_err(failed)
}
