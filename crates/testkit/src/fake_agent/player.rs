//! Does what a script says.

use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::Duration;

use camino::{Utf8Component, Utf8Path, Utf8PathBuf};
use serde_json::Value;

use super::{Act, Ending, Error, Outcome, Script, Start, claude};

/// How long `hang` hangs. No test waits as long, and what a test leaves behind is gone some day.
const HANG: Duration = Duration::from_secs(15 * 60);
/// The exit code after that.
const HANG_CODE: u8 = 96;

/// `wait-for` looks this often, and 6000 times.
const TICK: Duration = Duration::from_millis(10);
const TICKS: usize = 6000;

pub(super) struct Player<'a> {
    start: &'a Start,
    /// Where the script is.
    folder: &'a Utf8Path,
    stdin: &'a mut dyn io::Read,
    stdout: &'a mut dyn io::Write,
    stderr: &'a mut dyn io::Write,
    claude: bool,
    session: String,
    cost: f64,
    denied: Vec<String>,
    ended: Option<Outcome>,
}

impl<'a> Player<'a> {
    pub(super) fn new(
        start: &'a Start,
        folder: &'a Utf8Path,
        stdin: &'a mut dyn io::Read,
        stdout: &'a mut dyn io::Write,
        stderr: &'a mut dyn io::Write,
    ) -> Self {
        Self {
            start,
            folder,
            stdin,
            stdout,
            stderr,
            claude: false,
            session: start.session(),
            cost: 0.0,
            denied: Vec::new(),
            ended: None,
        }
    }

    pub(super) fn play(mut self, script: &Script) -> Result<Ending, Error> {
        for act in &script.acts {
            if let Some(ending) = self.act(act)? {
                return Ok(ending);
            }
        }
        if self.claude && self.ended.is_none() {
            self.result(&Outcome::Success);
        }
        Ok(Ending::Exit(match self.ended {
            Some(Outcome::Error(_) | Outcome::Limit(_)) => 1,
            Some(Outcome::Success) | None => 0,
        }))
    }

    fn act(&mut self, act: &Act) -> Result<Option<Ending>, Error> {
        match act {
            Act::Say(text) if self.claude => self.event(&claude::message(&self.session, text)),
            Act::Say(text) => self.print(&format!("{text}\n")),
            Act::Warn(text) => self.complain(text),
            Act::Half(text) => self.print(text),
            Act::Flood(bytes) => self.flood(*bytes),
            Act::ReadPrompt(file) => self.read_prompt(file)?,
            Act::Write { path, text } => write(&self.inside(path)?, text)?,
            Act::Append { path, text } => append(&self.inside(path)?, text)?,
            Act::WriteOutside { path, text } => write(&self.start.worktree.join(path), text)?,
            Act::Delete(path) => delete(&self.inside(path)?)?,
            Act::Chmod { path, mode } => {
                let mode = std::fs::Permissions::from_mode(*mode);
                fs_err::set_permissions(self.inside(path)?, mode)?;
            }
            Act::Symlink { path, target } => {
                let path = self.inside(path)?;
                make_folder_of(&path)?;
                fs_err::os::unix::fs::symlink(target, path)?;
            }
            Act::Run(command) => self.run(command)?,
            Act::StreamClaude => {
                self.claude = true;
                self.init();
            }
            Act::Session(id) => {
                if self.start.session.is_none() {
                    self.session.clone_from(id);
                }
                // As after a switch of the session in the middle of it all.
                if self.claude {
                    self.init();
                }
            }
            Act::Cost(usd) => self.cost = *usd,
            Act::PermissionDenied(tool) => self.deny(tool),
            Act::Result(outcome) => self.result(outcome),
            Act::Touch(file) => put(&self.folder.join(file), b"")?,
            Act::WaitFor(file) => wait_for(&self.folder.join(file))?,
            Act::Hang => {
                thread::sleep(HANG);
                return Ok(Some(Ending::Exit(HANG_CODE)));
            }
            Act::IgnoreTerm => ignore_term()?,
            Act::ForkGrandchild(file) => fork_grandchild(&self.folder.join(file))?,
            Act::Exit(code) => return Ok(Some(Ending::Exit(*code))),
            Act::Die(signal) => return Ok(Some(Ending::Die(*signal))),
        }
        Ok(None)
    }

    /// Prints at once. That nobody listens any more does not keep an agent from its work.
    fn print(&mut self, text: &str) {
        self.stdout.write_all(text.as_bytes()).ok();
        self.stdout.flush().ok();
    }

    fn event(&mut self, event: &Value) {
        self.print(&format!("{event}\n"));
    }

    fn complain(&mut self, text: &str) {
        self.stderr.write_all(format!("{text}\n").as_bytes()).ok();
        self.stderr.flush().ok();
    }

    fn flood(&mut self, bytes: u64) {
        const LINE: usize = 80;
        let line = format!("{}\n", "x".repeat(LINE - 1));
        let mut left = bytes;
        while left > 0 {
            let length = usize::try_from(left).unwrap_or(LINE).min(LINE);
            // The end of a line, so that the last one is whole as well.
            let part = line.get(LINE - length..).unwrap_or_default();
            if self.stdout.write_all(part.as_bytes()).is_err() {
                return;
            }
            left -= length as u64;
        }
        self.stdout.flush().ok();
    }

    fn init(&mut self) {
        let event = claude::init(&self.session, self.start.worktree.as_str());
        self.event(&event);
    }

    fn deny(&mut self, tool: &str) {
        self.denied.push(tool.to_owned());
        if self.claude {
            self.event(&claude::denied(&self.session, tool));
        } else {
            self.complain(&format!("`{tool}` was refused"));
        }
    }

    fn result(&mut self, outcome: &Outcome) {
        if self.claude {
            if let Outcome::Limit(resets_at) = outcome {
                self.event(&claude::limit(&self.session, *resets_at));
            }
            let event = claude::result(&self.session, outcome, self.cost, &self.denied);
            self.event(&event);
        } else {
            match outcome {
                Outcome::Success => {}
                Outcome::Error(reason) => self.complain(reason),
                Outcome::Limit(_) => self.complain("usage limit reached"),
            }
        }
        self.ended = Some(outcome.clone());
    }

    fn read_prompt(&mut self, file: &str) -> Result<(), Error> {
        let mut prompt = Vec::new();
        self.stdin.read_to_end(&mut prompt)?;
        Ok(put(&self.folder.join(file), &prompt)?)
    }

    /// Returns a path in the worktree; a script that means another place says so.
    fn inside(&self, path: &str) -> Result<Utf8PathBuf, Error> {
        let plain = |part| matches!(part, Utf8Component::Normal(_) | Utf8Component::CurDir);
        if !Utf8Path::new(path).components().all(plain) {
            let told = format!("`{path}` is not in the worktree; there is `write-outside`");
            return Err(io::Error::other(told).into());
        }
        Ok(self.start.worktree.join(path))
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "the scripted agent runs commands, as agents do"
    )]
    fn run(&mut self, command: &str) -> Result<(), Error> {
        let done = Command::new("/bin/sh")
            .args(["-c", command])
            .current_dir(&self.start.worktree)
            .stdin(Stdio::null())
            .output()?;
        if done.status.success() {
            return Ok(());
        }
        self.complain(&String::from_utf8_lossy(&done.stderr));
        Err(Error::Command(command.to_owned()))
    }
}

fn make_folder_of(path: &Utf8Path) -> io::Result<()> {
    path.parent().map_or(Ok(()), fs_err::create_dir_all)
}

fn write(path: &Utf8Path, text: &str) -> io::Result<()> {
    make_folder_of(path)?;
    fs_err::write(path, format!("{text}\n"))
}

fn append(path: &Utf8Path, text: &str) -> io::Result<()> {
    use io::Write as _;
    make_folder_of(path)?;
    let mut file = fs_err::OpenOptions::new()
        .create(true)
        .append(true)
        .open(path)?;
    file.write_all(format!("{text}\n").as_bytes())
}

fn delete(path: &Utf8Path) -> io::Result<()> {
    let is_folder = fs_err::symlink_metadata(path)?.is_dir();
    if is_folder {
        fs_err::remove_dir_all(path)
    } else {
        fs_err::remove_file(path)
    }
}

/// Writes a file that is there at once with all its bytes: somebody waits for it.
fn put(path: &Utf8Path, bytes: &[u8]) -> io::Result<()> {
    make_folder_of(path)?;
    let draft = Utf8PathBuf::from(format!("{path}.{}.draft", std::process::id()));
    fs_err::write(&draft, bytes)?;
    fs_err::rename(draft, path)
}

fn wait_for(path: &Utf8Path) -> Result<(), Error> {
    for _ in 0..TICKS {
        if path.exists() {
            return Ok(());
        }
        thread::sleep(TICK);
    }
    Err(Error::NotInTime(path.to_owned()))
}

/// A signal that only raises a flag nobody looks at does nothing.
fn ignore_term() -> io::Result<()> {
    let nobody = Arc::new(AtomicBool::new(false));
    signal_hook::flag::register(signal_hook::consts::SIGTERM, nobody)?;
    Ok(())
}

/// Starts this very program as a grandchild and waits until it has told its number.
#[expect(
    clippy::disallowed_methods,
    reason = "to leave a process behind is what it is for"
)]
fn fork_grandchild(file: &Utf8Path) -> Result<(), Error> {
    Command::new(std::env::current_exe()?)
        .args([GRANDCHILD, file.as_str()])
        .stdin(Stdio::null())
        .spawn()?;
    wait_for(file)
}

/// The argument that makes the program a grandchild.
const GRANDCHILD: &str = "--be-a-grandchild";

/// Is a grandchild if the arguments say so: in a session of its own, deaf to SIGTERM, hanging.
pub fn grandchild(arguments: &[String]) -> Result<Option<Ending>, Error> {
    let [word, file] = arguments else {
        return Ok(None);
    };
    if word != GRANDCHILD {
        return Ok(None);
    }
    rustix::process::setsid().map_err(io::Error::from)?;
    ignore_term()?;
    put(
        Utf8Path::new(file),
        std::process::id().to_string().as_bytes(),
    )?;
    thread::sleep(HANG);
    Ok(Some(Ending::Exit(HANG_CODE)))
}
