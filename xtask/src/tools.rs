//! The programs that the tests need: checks them, installs missing ones if possible, or says how.

use std::path::Path;
use std::process::Command;

use crate::run;

/// Major and minor number.
type Version = (u32, u32);

/// Every needed program, its Debian package and its oldest supported version.
const NEEDED: [(&str, &str, Version); 8] = [
    ("git", "git", (2, 38)),
    // For the MCP clients that the server is tested with.
    ("python3", "python3-venv", (3, 10)),
    ("node", "nodejs", (20, 0)),
    ("npm", "npm", (9, 0)),
    // Read the completions and the manual pages of the packages.
    ("zsh", "zsh", (5, 0)),
    ("fish", "fish", (3, 0)),
    ("man", "man-db", (2, 8)),
    // Opens reports.
    ("chromium", "chromium", (120, 0)),
];

/// Programs of which every version will do, with their Debian packages: most do not say their version.
const ANY_VERSION: [(&str, &str); 2] = [
    // Makes keys for signed commits.
    ("ssh-keygen", "openssh-client"),
    // Gives a test's program a terminal of its own.
    ("setsid", "util-linux"),
];

/// Checks that every program is there, and installs missing ones where that is possible.
pub fn ready() -> Result<(), String> {
    for (program, package) in ANY_VERSION {
        if !is_on_path(program) && may_install() {
            install(package)?;
        }
        if !is_on_path(program) {
            let advice = advice(package);
            let problem = format!("the tests need `{program}`, which is not on the path");
            return Err(format!("{problem}\n\nhint: install it with `{advice}`"));
        }
    }
    for (program, package, oldest) in NEEDED {
        let Some(problem) = problem_with(program, oldest) else {
            continue;
        };
        println!("{problem}");
        if may_install() {
            install(package)?;
        }
        if let Some(problem) = problem_with(program, oldest) {
            let advice = advice(package);
            return Err(format!("{problem}\n\nhint: install it with `{advice}`"));
        }
    }
    Ok(())
}

fn is_on_path(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

fn problem_with(program: &str, oldest: Version) -> Option<String> {
    let problem = match run::output_of(program, &["--version"]) {
        None => "it is not on the path".to_owned(),
        Some(text) => match version_in(&text) {
            Some(found) if found >= oldest => return None,
            Some((major, minor)) => format!("the installed version is {major}.{minor}"),
            None => format!("its version `{text}` is unknown"),
        },
    };
    let (major, minor) = oldest;
    Some(format!(
        "the tests need `{program}` {major}.{minor} or newer; {problem}"
    ))
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

/// Returns whether this user is root on a system with apt.
pub fn may_install() -> bool {
    is_debian() && run::output_of("id", &["-u"]).as_deref() == Some("0")
}

fn is_debian() -> bool {
    Path::new("/etc/debian_version").exists() && run::output_of("apt-get", &["--version"]).is_some()
}

/// Installs a Debian package.
pub fn install(package: &str) -> Result<(), String> {
    for args in [
        &["update"][..],
        &["install", "--yes", "--no-install-recommends", package],
    ] {
        let mut command = Command::new("apt-get");
        command.args(args).env("DEBIAN_FRONTEND", "noninteractive");
        println!("apt-get {}", args.join(" "));
        run::check(&mut command)?;
    }
    Ok(())
}

fn advice(package: &str) -> String {
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
    fn versions_are_found_in_the_wording_of_every_vendor() {
        for (text, expect) in [
            ("git version 2.47.3", Some((2, 47))),
            ("git version 2.39.5 (Apple Git-154)", Some((2, 39))),
            ("git version 2.51.0.windows.1", Some((2, 51))),
            ("v20.20.2", Some((20, 20))),
            ("Python 3.11.7", Some((3, 11))),
            ("git", None),
        ] {
            assert_eq!(version_in(text), expect, "{text}");
        }
    }

    #[test]
    fn a_missing_program_is_reported_with_its_version() {
        let expect = "the tests need `no-such-program` 2.38 or newer; it is not on the path";
        let problem = problem_with("no-such-program", (2, 38));
        assert_eq!(problem.as_deref(), Some(expect));
    }
}
