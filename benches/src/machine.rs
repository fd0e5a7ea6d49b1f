//! The facts about this machine that figures depend on, without its name.

use xtask::origin::{Origin, unknown};
use xtask::{files, run};

/// Returns the facts, with the load before and after the benches.
pub(crate) fn facts(origin: Origin, load_before: Option<String>) -> Vec<(&'static str, String)> {
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
pub(crate) fn load() -> Option<String> {
    let text = files::read("/proc/loadavg").ok()?;
    text.split_whitespace().next().map(str::to_owned)
}

fn system() -> Option<String> {
    let kernel = run::output_of("uname", &["-sr"])?;
    let release = files::read("/etc/os-release").unwrap_or_default();
    let mut lines = release.lines();
    Some(
        match lines.find_map(|line| line.strip_prefix("PRETTY_NAME=")) {
            Some(name) => format!("{}, {kernel}", name.trim_matches('"')),
            None => kernel,
        },
    )
}

fn processor() -> Option<String> {
    let text = files::read("/proc/cpuinfo").ok()?;
    let mut lines = text.lines().filter_map(|line| line.split_once(':'));
    let (_, model) = lines.find(|(name, _)| name.trim() == "model name")?;
    Some(model.trim().to_owned())
}
