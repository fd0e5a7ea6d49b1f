//! The facts about this machine that figures depend on; nothing that names it or its folders.

use crate::origin::{Origin, unknown};
use crate::run;

/// Returns the facts, with the load before and now.
pub(super) fn facts(origin: Origin, load_before: Option<String>) -> Vec<(&'static str, String)> {
    let load = match (load_before, load()) {
        (Some(before), Some(after)) => format!("{before} before, {after} after"),
        (before, after) => before.or(after).unwrap_or_else(unknown),
    };
    let compiler = run::output_of("rustc", &["--version"]);
    vec![
        ("date", origin.date),
        ("binary", origin.binary),
        ("compiler", compiler.unwrap_or_else(unknown)),
        ("system", system().unwrap_or_else(unknown)),
        ("processor", processor().unwrap_or_else(unknown)),
        ("cores", origin.cores),
        ("load of one minute", load),
    ]
}

/// Returns the mean number of running processes over the last minute.
pub(super) fn load() -> Option<String> {
    let text = std::fs::read_to_string("/proc/loadavg").ok()?;
    text.split_whitespace().next().map(str::to_owned)
}

fn system() -> Option<String> {
    let kernel = run::output_of("uname", &["-sr"])?;
    let release = std::fs::read_to_string("/etc/os-release").ok();
    let name = release.as_deref().and_then(|text| {
        let mut lines = text.lines();
        lines.find_map(|line| line.strip_prefix("PRETTY_NAME="))
    });
    Some(match name {
        Some(name) => format!("{}, {kernel}", name.trim_matches('"')),
        None => kernel,
    })
}

fn processor() -> Option<String> {
    let text = std::fs::read_to_string("/proc/cpuinfo").ok()?;
    let mut lines = text.lines().filter_map(|line| line.split_once(':'));
    let (_, model) = lines.find(|(name, _)| name.trim() == "model name")?;
    Some(model.trim().to_owned())
}
