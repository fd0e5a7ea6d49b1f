//! Hostile text in every field of every file: it reaches no terminal as it is, and no path.

use anyhow::{Context as _, Result, ensure};
use camino::{Utf8Path, Utf8PathBuf};
use rekindle_testkit::sandbox::{Ran, Sandbox};
use rekindle_testkit::waves::Chance;
use serde_json::Value;

use crate::scenes::{cases, files, lay_out, run};

/// Sets the window's title, clears the screen, turns the text around, goes back to the line's beginning.
const ESCAPES: &str = "\u{1b}]0;evil\u{7}\u{1b}[2Jevil\u{9b}31m\u{202e}\r";

/// What is put into files; none of it may become a path, an option, a line of its own or a command.
const PAYLOADS: [&str; 7] = [
    ESCAPES,
    "/../../../../../../../../dev/shm/escaped-by-name",
    "-rf",
    "a\nb\r\nc\u{2028}d",
    "nul\0nul",
    "$(touch escaped-by-name)`touch escaped-by-name`;touch escaped-by-name",
    // Made longer than any name of a file can be.
    LONG,
];

/// Stands for a name of 5,000 characters.
const LONG: &str = "long";

/// Puts a payload behind about every third text of a file.
pub(crate) fn poisoned(path: &Utf8Path, payload: &str, chance: &mut Chance) -> Result<String> {
    let text = String::from_utf8_lossy(&fs_err::read(path)?).into_owned();
    if let Ok(mut value) = serde_json::from_str::<Value>(&text) {
        poison(&mut value, payload, chance);
        return Ok(format!("{value:#}"));
    }
    let line = |line: &str| match serde_json::from_str::<Value>(line) {
        Ok(mut value) => {
            poison(&mut value, payload, chance);
            value.to_string()
        }
        Err(_) if chance.below(3) == 0 => format!("{line}{payload}"),
        Err(_) => line.to_owned(),
    };
    Ok(text.lines().map(line).collect::<Vec<_>>().join("\n"))
}

fn poison(value: &mut Value, payload: &str, chance: &mut Chance) {
    match value {
        Value::String(text) if chance.below(3) == 0 => text.push_str(payload),
        Value::Array(items) => items
            .iter_mut()
            .for_each(|item| poison(item, payload, chance)),
        Value::Object(fields) => {
            for (_, field) in fields.iter_mut() {
                poison(field, payload, chance);
            }
            if chance.below(6) == 0 {
                fields.insert(format!("key{payload}"), Value::String(payload.to_owned()));
            }
        }
        Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Checks that nothing of an output could move a terminal; colors of our own are switched off here.
fn is_harmless(ran: &Ran, args: &[&str]) -> Result<()> {
    for text in [ran.stdout(), ran.stderr()] {
        let is_json = args.contains(&"--json");
        let bad = text.chars().find(|&c| {
            let is_unsafe = c.is_control() && c != '\n' && c != '\t';
            // JSON is for programs; of what it must not hold, ESC is what a terminal minds.
            if is_json {
                c == '\u{1b}'
            } else {
                is_unsafe || "\u{202e}\u{2028}".contains(c)
            }
        });
        ensure!(bad.is_none(), "{bad:?} of {args:?}: {text:?}");
    }
    Ok(())
}

/// Runs everything that shows something, and then what goes on with the work.
fn show_everything(sandbox: &Sandbox, protocol: &str, payload: &str) -> Result<()> {
    let listed = run(sandbox, &["status", "--json"])?.json()?;
    let first = listed["workflows"][0]["id"].as_str().unwrap_or("none");
    // A name that no command line can carry.
    let payload = &payload.replace('\0', "");
    let named = ["--protocol", protocol];
    for args in [
        &["status", "-v"][..],
        &["status", "--json"],
        &[&["inspect", "-v"], &named[..]].concat(),
        &[&["inspect", "--json"], &named[..]].concat(),
        &["inspect", "--", first],
        &["plan", "--", first],
        &["plan", "--json", "--", first],
        &["explain", "--", first, "T001"],
        &["explain", "--", first, "ST-001"],
        &["explain", "--", first, payload],
        &["explain", "--", payload],
        &["checkpoints", "--", first],
        &["doctor"],
        &["rescue", "list"],
        &["hook", "session-start"],
        &[&["resume"], &named[..]].concat(),
        &["resume", "--", payload],
        &[&["resume", "--yes", "--no-agent"], &named[..]].concat(),
        &[&["resume", "--yes", "--agent-cmd", "exit 1"], &named[..]].concat(),
    ] {
        is_harmless(&run(sandbox, args)?, args)?;
    }
    Ok(())
}

/// Returns every place below the sandbox, and where a name that leads up would end, that such a name made.
fn escaped(sandbox: &Sandbox) -> Vec<Utf8PathBuf> {
    let mut found = Vec::new();
    let up = Utf8PathBuf::from("/dev/shm");
    let mut open = vec![sandbox.root().to_owned(), up.clone()];
    while let Some(folder) = open.pop() {
        // Folders of other tests stand beside ours, and come and go.
        for entry in folder.read_dir_utf8().into_iter().flatten().flatten() {
            if entry.file_name() == "escaped-by-name" {
                found.push(entry.into_path());
            } else if folder != up && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                open.push(entry.into_path());
            }
        }
    }
    found
}

fn check(protocol: &str) -> Result<()> {
    for (case, name) in cases(protocol).iter().enumerate() {
        for (number, payload) in PAYLOADS.iter().enumerate() {
            let payload = &match *payload {
                LONG => LONG.repeat(1250),
                short => short.to_owned(),
            };
            let sandbox = lay_out(protocol, name)?;
            let mut chance = Chance(u64::try_from(case * 100 + number)?);
            for path in files(&sandbox)? {
                fs_err::write(&path, poisoned(&path, payload, &mut chance)?)?;
            }
            let shown = show_everything(&sandbox, protocol, payload);
            shown.with_context(|| format!("{name} with {payload:.80?}"))?;
            let found = escaped(&sandbox);
            ensure!(found.is_empty(), "{name} with {payload:.80?}: {found:?}");
        }
    }
    Ok(())
}

#[test]
fn hostile_text_of_agent_memory_reaches_no_terminal_and_no_path() -> Result<()> {
    check("agent-memory")
}

#[test]
fn hostile_text_of_bifrost_reaches_no_terminal_and_no_path() -> Result<()> {
    check("bifrost")
}

#[test]
fn hostile_text_of_kiln_reaches_no_terminal_and_no_path() -> Result<()> {
    check("kiln")
}

#[test]
fn hostile_text_of_kiln_teams_reaches_no_terminal_and_no_path() -> Result<()> {
    check("kiln-teams")
}

#[test]
fn hostile_text_of_map_reaches_no_terminal_and_no_path() -> Result<()> {
    check("map")
}

#[test]
fn the_poison_is_seen_where_it_is_shown() -> Result<()> {
    let sandbox = Sandbox::new("/bin/sh")?;
    for payload in [ESCAPES, "a\rb", "\u{2028}"] {
        let ran = sandbox.run(&["-c", "printf %s \"$0\"", payload])?;
        assert!(is_harmless(&ran, &[]).is_err(), "{payload:?}");
    }
    Ok(())
}
