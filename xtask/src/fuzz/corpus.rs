//! The first inputs: the conformance cases in the form of each target, recorded streams of agents, and a
//! few written by hand.

use std::fs;
use std::path::Path;

use xtask::files;

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

/// Recorded output of agent programs.
const STREAMS: &str = "crates/agents/tests/streams";

/// How the cases spell the project's path, and how a target's world does.
const PATHS: [(&str, &str); 2] = [("/DEV/ledger-api", "/w"), ("-DEV-ledger-api", "-w")];

/// The arguments of `rekindle map` in the inputs of `map_commands`, one per line.
const MAP_COMMANDS: [&str; 12] = [
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
    files::empty_folder(out)?;
    for target in targets {
        files::make_folder(out.join(target))?;
        copy(&root.join("fuzz/seeds").join(target), &out.join(target))?;
    }
    // The cases of Kiln Teams have no files, so its wave is written by hand; it can be recorded too.
    copy(&root.join("fuzz/seeds/kiln_teams"), &out.join("recording"))?;
    copy(&root.join(STREAMS), &out.join("streams"))?;
    from_cases(&root.join("tests/conformance"), out)
}

/// Copies the files of a folder, if it exists.
fn copy(from: &Path, to: &Path) -> Result<(), String> {
    for file in files::list_all(from)? {
        files::write(to.join(file.file_name().unwrap_or_default()), read(&file)?)?;
    }
    Ok(())
}

fn from_cases(cases: &Path, out: &Path) -> Result<(), String> {
    for (target, protocols) in WORLDS {
        for protocol in protocols {
            let folders = files::list(cases.join(protocol))?.into_iter();
            for case in folders.filter(|path| path.is_dir()) {
                let name = case.file_name().unwrap_or_default().to_string_lossy();
                let world = world_of(&case)?;
                files::write(out.join(target).join(&*name), &world)?;
                files::write(
                    out.join("recording").join(format!("{target}-{name}")),
                    &world,
                )?;
                if target == "map" {
                    let sum: usize = name.bytes().map(usize::from).sum();
                    let typed = MAP_COMMANDS[sum % MAP_COMMANDS.len()];
                    let head = format!("== typed\n{typed}\n== input\n{{}}\n");
                    let input = [head.as_bytes(), &world].concat();
                    files::write(out.join("map_commands").join(&*name), input)?;
                }
            }
        }
    }
    for (number, file) in files::list_all(cases)?.into_iter().enumerate() {
        let ending = file.extension().unwrap_or_default().to_string_lossy();
        for (target, _) in SINGLE.iter().filter(|(_, wanted)| ending == *wanted) {
            let input = out.join(target).join(format!("case-{number}"));
            files::write(input, read(&file)?)?;
        }
    }
    Ok(())
}

/// Returns a case's files in the form of `fuzz/src/world.rs`.
fn world_of(case: &Path) -> Result<Vec<u8>, String> {
    let mut world = Vec::new();
    let mut branch = "main".to_owned();
    for (folder, prefix) in [("project", ""), ("home", "~/")] {
        let top = case.join(folder);
        for file in files::list_all(&top)? {
            let name = file.strip_prefix(&top).unwrap_or(&file).to_string_lossy();
            let in_map = name
                .strip_prefix(".map/")
                .and_then(|rest| rest.split_once('/'));
            if let Some((inner, _)) = in_map {
                inner.clone_into(&mut branch);
            }
            world.extend(format!("== {prefix}{}\n", with_paths(&name)).into_bytes());
            world.extend(match String::from_utf8(read(&file)?) {
                Ok(text) => with_paths(&text).into_bytes(),
                Err(error) => error.into_bytes(),
            });
            if !world.ends_with(b"\n") {
                world.push(b'\n');
            }
        }
    }
    let git = format!("== .git/branch\n{branch}\n== .git/subjects\nchore: scaffold\n");
    world.extend(git.into_bytes());
    Ok(world)
}

fn with_paths(text: &str) -> String {
    PATHS
        .iter()
        .fold(text.to_owned(), |text, (from, to)| text.replace(from, to))
}

fn read(file: &Path) -> Result<Vec<u8>, String> {
    fs::read(file).map_err(|e| format!("cannot read `{}`: {e}", file.display()))
}
