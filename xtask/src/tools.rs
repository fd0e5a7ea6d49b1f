//! The programs that the tests need: looks for them, says what to install, installs where it may.

use std::path::Path;
use std::process::Command;

use crate::run;

/// Everything that must be on the path; the packages are Debian's.
const NEEDED: &[Tool] = &[
    Tool {
        program: "git",
        package: "git",
        at_least: (2, 38),
    },
    // For the clients of others that the MCP server is tested with.
    Tool {
        program: "python3",
        package: "python3-venv",
        at_least: (3, 10),
    },
    Tool {
        program: "node",
        package: "nodejs",
        at_least: (20, 0),
    },
    Tool {
        program: "npm",
        package: "npm",
        at_least: (9, 0),
    },
];

/// A program with the oldest version that will do.
struct Tool {
    program: &'static str,
    package: &'static str,
    at_least: Version,
}

/// Major and minor number.
type Version = (u32, u32);

/// Makes sure that every program is there, and installs what is missing where that is possible.
pub(crate) fn ready() -> Result<(), String> {
    for tool in NEEDED {
        let Some(problem) = problem_with(tool) else {
            continue;
        };
        println!("{problem}");
        if may_install() {
            install(tool.package)?;
        }
        if let Some(problem) = problem_with(tool) {
            return Err(format!(
                "{problem}\n\nhint: install it with `{}`",
                advice(tool)
            ));
        }
    }
    Ok(())
}

fn problem_with(tool: &Tool) -> Option<String> {
    let Tool {
        program,
        at_least: (major, minor),
        ..
    } = tool;
    let wanted = format!("the tests need `{program}` {major}.{minor} or newer");
    match run::output_of(program, &["--version"]) {
        None => Some(format!("{wanted}, and there is none on the path")),
        Some(text) => match version_in(&text) {
            Some(found) if found >= tool.at_least => None,
            Some((major, minor)) => Some(format!("{wanted}, and this is {major}.{minor}")),
            None => Some(format!("{wanted}, and this one says `{text}`")),
        },
    }
}

/// Returns the first version number in a text such as `git version 2.47.3`.
fn version_in(text: &str) -> Option<Version> {
    text.split_whitespace().find_map(|word| {
        let mut numbers = word.trim_start_matches('v').split('.');
        let major = numbers.next()?.parse().ok()?;
        let minor = numbers.next()?.parse().ok()?;
        Some((major, minor))
    })
}

/// Only root may, and only where packages come by apt.
pub(crate) fn may_install() -> bool {
    is_debian() && run::output_of("id", &["-u"]).as_deref() == Some("0")
}

fn is_debian() -> bool {
    Path::new("/etc/debian_version").exists() && run::output_of("apt-get", &["--version"]).is_some()
}

pub(crate) fn install(package: &str) -> Result<(), String> {
    for args in [
        &["update"][..],
        &["install", "--yes", "--no-install-recommends", package],
    ] {
        let mut command = Command::new("apt-get");
        command.args(args).env("DEBIAN_FRONTEND", "noninteractive");
        println!("apt-get {}", args.join(" "));
        if !run::watched(&mut command)? {
            return Err(format!("`apt-get {}` failed", args.join(" ")));
        }
    }
    Ok(())
}

fn advice(tool: &Tool) -> String {
    let package = tool.package;
    if is_debian() {
        format!("sudo apt-get install {package}")
    } else if cfg!(target_os = "macos") {
        format!("brew install {package}")
    } else {
        format!("your system's package manager, package {package}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_found_in_every_vendors_wording() {
        assert_eq!(version_in("git version 2.47.3"), Some((2, 47)));
        assert_eq!(
            version_in("git version 2.39.5 (Apple Git-154)"),
            Some((2, 39))
        );
        assert_eq!(version_in("git version 2.51.0.windows.1"), Some((2, 51)));
        assert_eq!(version_in("v20.20.2"), Some((20, 20)));
        assert_eq!(version_in("Python 3.11.7"), Some((3, 11)));
        assert_eq!(version_in("git"), None);
    }

    #[test]
    fn a_program_that_is_not_there_is_named_with_its_version() {
        let tool = Tool {
            program: "no-such-program",
            package: "none",
            at_least: (2, 38),
        };
        let expect =
            "the tests need `no-such-program` 2.38 or newer, and there is none on the path";
        assert_eq!(problem_with(&tool).as_deref(), Some(expect));
    }
}
