//! Starts the command that tells a person of something.

use std::ffi::OsStr;
use std::fmt;
use std::io;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use camino::Utf8Path;
use rustix::process::{Pid, Signal, kill_process_group};
use tokio::process::Command;

/// A notice that takes longer is not worth the wait.
const LIMIT: Duration = Duration::from_secs(10);

/// Why a command did not tell anybody; a clause for a person.
#[derive(Debug)]
pub enum Untold {
    /// It did not start.
    Start(io::Error),
    /// It ended otherwise than well.
    Ended(ExitStatus),
    /// It took too long, and was killed.
    Slow,
}

impl fmt::Display for Untold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Start(error) => write!(f, "it did not start: {error}"),
            Self::Ended(status) => write!(f, "it ended with {status}"),
            Self::Slow => write!(f, "it took longer than {} s", LIMIT.as_secs()),
        }
    }
}

/// Runs a command in a folder with a notice on its standard input, and waits for its end.
///
/// Its program is looked for in the absolute folders of `search_path`: others could be in a clone.
pub fn notify(
    words: &[&str],
    folder: &Utf8Path,
    search_path: &OsStr,
    notice: &[u8],
) -> Result<(), Untold> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(Untold::Start)?;
    runtime.block_on(run(words, folder, search_path, notice))
}

async fn run(
    words: &[&str],
    folder: &Utf8Path,
    search_path: &OsStr,
    notice: &[u8],
) -> Result<(), Untold> {
    let (program, arguments) = words
        .split_first()
        .ok_or_else(|| Untold::Start(io::ErrorKind::InvalidInput.into()))?;
    // A file and not a pipe: a command that does not read must not make us wait.
    let input = rekindle_fs::scratch(notice).map_err(Untold::Start)?;
    let child = Command::new(program)
        .args(arguments)
        .env("PATH", rekindle_git::absolute_folders(search_path))
        .current_dir(folder)
        .stdin(Stdio::from(input))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        // What it starts must end with it.
        .process_group(0)
        .spawn();
    let mut child = child.map_err(Untold::Start)?;
    let group = child.id().and_then(|pid| i32::try_from(pid).ok());
    let group = group.and_then(Pid::from_raw);
    match tokio::time::timeout(LIMIT, child.wait()).await {
        Ok(Ok(status)) if status.success() => Ok(()),
        Ok(Ok(status)) => Err(Untold::Ended(status)),
        Ok(Err(error)) => Err(Untold::Start(error)),
        Err(_) => {
            if let Some(group) = group {
                kill_process_group(group, Signal::KILL).ok();
            }
            child.wait().await.ok();
            Err(Untold::Slow)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_reads_the_notice_and_may_fail() {
        let folder = tempfile::tempdir().unwrap();
        let folder = Utf8Path::from_path(folder.path()).unwrap();
        let path = OsStr::new("/usr/bin:/bin");
        let told = |line: &str| notify(&["sh", "-c", line], folder, path, b"{\"a\":1}\n");
        told("cat > heard").unwrap();
        let heard = rekindle_fs::read_within(folder, &folder.join("heard"), 100);
        assert_eq!(heard.unwrap().unwrap(), b"{\"a\":1}\n");
        let failed = told("exit 3").unwrap_err();
        assert_eq!(failed.to_string(), "it ended with exit status: 3");
        let missing = notify(&["./no-such-program"], folder, path, b"");
        assert!(matches!(missing, Err(Untold::Start(_))), "{missing:?}");
    }
}
