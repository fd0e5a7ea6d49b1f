//! Effects against real git and real folders: what lands, what is refused, and what survives a death.
//!
//! With the feature `crash-points` it also dies at every point of every effect:
//! `cargo test -p rekindle-runner --features crash-points --test effects`.

#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "tests make the files they look at, and fail by panicking"
)]

#[cfg(feature = "crash-points")]
mod deaths;
mod files;
mod landings;
mod refusals;
mod scene;
mod workers;

use std::process::{Command, ExitCode};

use libtest_mimic::{Arguments, Trial};

/// Says that the environment is one of tests already.
const HERMETIC: &str = "EFFECTS_TEST_IS_HERMETIC";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let Some("child") = arguments.first().map(String::as_str) {
        return scene::child(&arguments[1..]);
    }
    // The runner's git reads the user's settings, which differ from machine to machine.
    if std::env::var_os(HERMETIC).is_none() {
        let home = tempfile::tempdir().unwrap();
        let home = camino::Utf8Path::from_path(home.path()).unwrap();
        let status = Command::new(std::env::current_exe().unwrap())
            .args(&arguments)
            .env_clear()
            .envs(rekindle_testkit::hermetic::environment(home, home))
            .env(HERMETIC, "1")
            .status()
            .unwrap();
        return ExitCode::from(u8::try_from(status.code().unwrap_or(1)).unwrap_or(1));
    }
    let mut trials = landings::trials();
    trials.extend(refusals::trials());
    trials.extend(files::trials());
    trials.extend(workers::trials());
    #[cfg(feature = "crash-points")]
    trials.extend(deaths::trials());
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

/// Returns a test; its name is a sentence.
fn trial(name: &str, test: impl FnOnce() + Send + 'static) -> Trial {
    Trial::test(name.replace([' ', '-'], "_"), move || {
        test();
        Ok(())
    })
}
