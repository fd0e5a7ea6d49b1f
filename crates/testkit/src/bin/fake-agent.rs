//! The scripted agent as a program: environment and arguments in, the script's end out.

use std::io::{self, Write as _};
use std::process::ExitCode;

use camino::Utf8PathBuf;
use rekindle_testkit::fake_agent::{Ending, Error, Start, end_as, grandchild};

/// The exit code of a script that could not be played.
const BROKEN: u8 = 97;

fn main() -> ExitCode {
    let ending = play().unwrap_or_else(|error| {
        writeln!(io::stderr(), "fake-agent: {error}").ok();
        Ending::Exit(BROKEN)
    });
    end_as(ending)
}

#[expect(
    clippy::disallowed_methods,
    reason = "the environment is how a runner talks to its agents"
)]
fn play() -> Result<Ending, Error> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let Some(ending) = grandchild(&arguments)? {
        return Ok(ending);
    }
    let folder = Utf8PathBuf::from_path_buf(std::env::current_dir()?)
        .map_err(|path| io::Error::other(format!("{} is not UTF-8", path.display())))?;
    let start = Start::new(|name| std::env::var(name).ok(), &arguments, folder)?;
    start.play(&mut io::stdin(), &mut io::stdout(), &mut io::stderr())
}
