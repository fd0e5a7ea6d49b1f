//! A session of Gemini CLI that is continued: it is claimed, and copies of its transcript are kept.

use anyhow::{Result, ensure};
use camino::Utf8PathBuf;
use rekindle_testkit::deaths::Story;
use rekindle_testkit::sandbox::{Sandbox, Typed};
use rekindle_testkit::transcripts::{Transcripts, gemini_id};

use crate::BINARY;

const SHORT: &str = "5d5d5d5d";
/// As many copies as are kept.
const N_COPIES: usize = 5;

pub(crate) struct Continued {
    sandbox: Sandbox,
    transcript: Utf8PathBuf,
    /// What it held at the beginning.
    before: Vec<u8>,
}

impl Continued {
    /// Lays out a session with as many older copies as are kept, so that one has to go.
    pub(crate) fn new() -> Result<Self> {
        let sandbox = Sandbox::new(BINARY)?;
        let home = Transcripts::new(&sandbox)?;
        let folder = home.folder("notes")?;
        let transcript = home.gemini(&folder, SHORT, 13, "Look around")?;
        let before = fs_err::read(&transcript)?;
        let continued = Self {
            sandbox,
            transcript,
            before,
        };
        for _ in 0..N_COPIES {
            let ran = continued.call().run()?;
            ensure!(ran.code() == Some(0), "{ran}");
            let grown = format!("{}{{\"more\":1}}\n", continued.text()?);
            fs_err::write(&continued.transcript, grown)?;
        }
        Ok(Self {
            before: fs_err::read(&continued.transcript)?,
            ..continued
        })
    }

    fn text(&self) -> Result<String> {
        Ok(fs_err::read_to_string(&self.transcript)?)
    }

    fn call(&self) -> Typed<'_> {
        let id = format!("session:gemini:{SHORT}");
        let path = self.sandbox.root().join("home/bin");
        let typed = self.sandbox.typed(&["resume", &id, "--yes"]);
        typed.with("PATH", format!("{path}:/usr/bin:/bin"))
    }

    /// Returns the names of the copies and their lengths in lines, oldest first.
    fn copies(&self) -> Result<Vec<(String, usize)>> {
        let state = "home/.local/state/rekindle/agent-sessions/copies";
        let name = format!("gemini-{}", gemini_id(SHORT));
        let mut copies = Vec::new();
        for entry in self.sandbox.root().join(state).join(name).read_dir_utf8()? {
            let entry = entry?;
            let text = fs_err::read_to_string(entry.path())?;
            let whole = String::from_utf8_lossy(&self.before);
            ensure!(whole.starts_with(&text), "{}: {text:?}", entry.path());
            copies.push((entry.file_name().to_owned(), text.lines().count()));
        }
        copies.sort();
        Ok(copies)
    }
}

impl Story for Continued {
    /// The copies.
    type End = Vec<(String, usize)>;

    fn sandbox(&self) -> &Sandbox {
        &self.sandbox
    }

    fn typed(&self, _session: u32) -> Typed<'_> {
        self.call()
    }

    /// A program that ends at once is not noted.
    fn is_by_chance(&self) -> bool {
        true
    }

    /// Nothing has written to the transcript, and every copy is a state that it had.
    fn look(&self) -> Result<()> {
        ensure!(fs_err::read(&self.transcript)? == self.before);
        self.copies().map(drop)
    }

    fn end(&self) -> Result<Self::End> {
        self.look()?;
        self.copies()
    }
}
