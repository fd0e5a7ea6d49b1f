//! Inputs to begin with: the conformance cases in the form of each target, the recorded streams of agents, and a
//! few written by hand.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Targets that take the files of one protocol's cases.
const WORLDS: [(&str, &[&str]); 4] = [
    ("agent_memory", &["agent-memory"]),
    ("kiln", &["kiln"]),
    ("bifrost", &["bifrost", "bifrost-validate"]),
    ("map", &["map"]),
];

/// Targets that take single files of all cases, by the ending of their names.
const SINGLE: [(&str, &str); 7] = [
    ("python_json", "json"),
    ("json_edit", "json"),
    ("settings", "json"),
    ("json_members", "json"),
    ("markdown", "md"),
    ("plans", "md"),
    ("event_lines", "jsonl"),
];

/// What agent programs printed.
const STREAMS: &str = "crates/agents/tests/streams";

/// The path of the cases' project, and the one that it has in a target's world.
const PATHS: [(&str, &str); 2] = [("/DEV/ledger-api", "/w"), ("-DEV-ledger-api", "-w")];

/// What is typed at `rekindle map` in the inputs of `map_commands`, a word a line.
const TYPED: [&str; 12] = [
    "get_next_step",
    "peek_current_step",
    "validate_step\n2.3",
    "get_plan_progress",
    "get_wave_step",
    "advance_wave",
    "resume_from_plan",
    "build_resume_briefing",
    "monitor_failed\n--feedback\nit does not work",
    "record_subtask_result\nST-001\nvalid\n--files\nsrc/a.py",
    "save_research\nmain\nST-001",
    "update_plan_status\nST-001\ncomplete",
];

/// Writes the inputs of every target into a folder of its own below `out`.
pub(super) fn write(root: &Path, out: &Path, targets: &[String]) -> Result<(), String> {
    let cannot = |e: io::Error| format!("cannot make inputs to begin with: {e}");
    if out.exists() {
        fs::remove_dir_all(out).map_err(cannot)?;
    }
    for target in targets {
        fs::create_dir_all(out.join(target)).map_err(cannot)?;
        let by_hand = root.join("fuzz/seeds").join(target);
        for file in files(&by_hand).map_err(cannot)? {
            let name = file.file_name().unwrap_or_default();
            fs::copy(&file, out.join(target).join(name)).map_err(cannot)?;
        }
    }
    // The cases of Kiln Teams are told and not laid out, so its wave is written by hand; it can be recorded too.
    for file in files(&root.join("fuzz/seeds/kiln_teams")).map_err(cannot)? {
        let name = file.file_name().unwrap_or_default();
        fs::copy(&file, out.join("recording").join(name)).map_err(cannot)?;
    }
    for file in files(&root.join(STREAMS)).map_err(cannot)? {
        let name = file.file_name().unwrap_or_default();
        fs::copy(&file, out.join("streams").join(name)).map_err(cannot)?;
    }
    from_cases(&root.join("tests/conformance"), out).map_err(cannot)
}

fn from_cases(cases: &Path, out: &Path) -> io::Result<()> {
    for (target, protocols) in WORLDS {
        for protocol in protocols {
            for case in folders(&cases.join(protocol))? {
                let name = case.file_name().unwrap_or_default().to_string_lossy();
                let world = world_of(&case)?;
                fs::write(out.join(target).join(&*name), &world)?;
                fs::write(
                    out.join("recording").join(format!("{target}-{name}")),
                    &world,
                )?;
                if target == "map" {
                    let mut number = name
                        .bytes()
                        .fold(0_usize, |sum, byte| sum + usize::from(byte));
                    number %= TYPED.len();
                    let typed =
                        [b"== typed\n", TYPED[number].as_bytes(), b"\n== input\n{}\n"].concat();
                    fs::write(
                        out.join("map_commands").join(&*name),
                        [typed, world].concat(),
                    )?;
                }
            }
        }
    }
    for (number, file) in all_files(cases)?.into_iter().enumerate() {
        let ending = file
            .extension()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        for (target, wanted) in SINGLE {
            if ending == wanted {
                fs::copy(&file, out.join(target).join(format!("case-{number}")))?;
            }
        }
    }
    Ok(())
}

/// Returns a case's files in the form of `fuzz/src/world.rs`.
fn world_of(case: &Path) -> io::Result<Vec<u8>> {
    let mut world = Vec::new();
    let mut branch = "main".to_owned();
    for (folder, prefix) in [("project", ""), ("home", "~/")] {
        let top = case.join(folder);
        for file in all_files(&top)? {
            let name = file.strip_prefix(&top).unwrap_or(&file).to_string_lossy();
            if let Some((inner, _)) = name
                .strip_prefix(".map/")
                .and_then(|rest| rest.split_once('/'))
            {
                inner.clone_into(&mut branch);
            }
            let contents = fs::read(&file)?;
            let contents = String::from_utf8(contents);
            let contents = contents.map_or_else(std::string::FromUtf8Error::into_bytes, |text| {
                placed(&text).into_bytes()
            });
            world.extend(format!("== {prefix}{}\n", placed(&name)).into_bytes());
            world.extend(contents);
            if !world.ends_with(b"\n") {
                world.push(b'\n');
            }
        }
    }
    world.extend(
        format!("== .git/branch\n{branch}\n== .git/subjects\nchore: scaffold\n").into_bytes(),
    );
    Ok(world)
}

fn placed(text: &str) -> String {
    PATHS
        .iter()
        .fold(text.to_owned(), |text, (from, to)| text.replace(from, to))
}

/// Returns the files of a folder, sorted; none where there is no folder.
fn files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    Ok(entries(folder)?
        .into_iter()
        .filter(|path| path.is_file())
        .collect())
}

fn folders(folder: &Path) -> io::Result<Vec<PathBuf>> {
    Ok(entries(folder)?
        .into_iter()
        .filter(|path| path.is_dir())
        .collect())
}

fn entries(folder: &Path) -> io::Result<Vec<PathBuf>> {
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder)? {
        paths.push(entry?.path());
    }
    paths.sort();
    Ok(paths)
}

/// Returns all files below a folder, sorted.
fn all_files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut all = files(folder)?;
    for inner in folders(folder)? {
        all.extend(all_files(&inner)?);
    }
    all.sort();
    Ok(all)
}
