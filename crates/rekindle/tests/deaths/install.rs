//! Settings of an agent, which stand in two files: both are changed, and both are given back.

use anyhow::{Result, ensure};
use camino::Utf8PathBuf;
use rekindle_testkit::deaths::Story;
use rekindle_testkit::sandbox::{Sandbox, Typed};

use crate::BINARY;

/// An agent, and its two files with what somebody wrote there; nothing where there is no file.
pub(crate) type Theirs = (&'static str, [(&'static str, Option<&'static str>); 2]);

/// Both files are there, one of them is, or none.
pub(crate) const AGENTS: [Theirs; 4] = [
    (
        "claude",
        [
            (
                ".claude/settings.json",
                Some("{\r\n\t// mine\r\n\t\"model\": \"opus\"\r\n}\r\n"),
            ),
            (
                ".claude.json",
                Some("{\"mcpServers\":{\"other\":{\"command\":\"x\"}},\"n\":1.0}"),
            ),
        ],
    ),
    (
        "claude",
        [(".claude/settings.json", None), (".claude.json", None)],
    ),
    (
        "codex",
        [
            (".codex/hooks.json", None),
            (
                ".codex/config.toml",
                Some("# mine\nmodel = \"x\"\n\n[mcp_servers.other]\ncommand = \"x\""),
            ),
        ],
    ),
    (
        "codex",
        [
            (".codex/hooks.json", Some("{\"hooks\": {\"Stop\": []}}\n")),
            (".codex/config.toml", None),
        ],
    ),
];

/// What is done to the settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Deed {
    Install,
    Uninstall,
}

pub(crate) struct Settings {
    sandbox: Sandbox,
    theirs: Theirs,
    deed: Deed,
}

impl Settings {
    pub(crate) fn new(theirs: Theirs, deed: Deed) -> Result<Self> {
        let settings = Self {
            sandbox: Sandbox::new(BINARY)?,
            theirs,
            deed,
        };
        for (path, text) in theirs.1 {
            let path = settings.home(path);
            fs_err::create_dir_all(path.parent().unwrap_or(&path))?;
            if let Some(text) = text {
                fs_err::write(&path, text)?;
            }
        }
        if deed == Deed::Uninstall {
            let ran = settings.call("install").run()?;
            ensure!(ran.code() == Some(0), "{ran}");
        }
        Ok(settings)
    }

    fn home(&self, path: &str) -> Utf8PathBuf {
        self.sandbox.root().join("home").join(path)
    }

    fn call(&self, word: &str) -> Typed<'_> {
        let folder = Utf8PathBuf::from(BINARY);
        let folder = folder.parent().unwrap_or(&folder);
        let path = format!("{folder}:/usr/bin:/bin");
        let typed = self.sandbox.typed(&[word, self.theirs.0, "--yes"]);
        typed.with("PATH", path)
    }

    /// Returns both files as they are.
    fn texts(&self) -> Result<[Option<String>; 2]> {
        let [first, second] = self.theirs.1.map(|(path, _)| {
            let path = self.home(path);
            let text = path.exists().then(|| fs_err::read_to_string(&path));
            text.transpose()
        });
        Ok([first?, second?])
    }

    fn are_theirs(&self, texts: &[Option<String>; 2]) -> bool {
        let theirs = self.theirs.1.map(|(_, text)| text);
        texts.each_ref().map(Option::as_deref) == theirs
    }
}

impl Story for Settings {
    /// Both files after the deed, and all that stands in the home after they were given back.
    type End = ([Option<String>; 2], Vec<String>);

    fn sandbox(&self) -> &Sandbox {
        &self.sandbox
    }

    fn typed(&self, _session: u32) -> Typed<'_> {
        self.call(match self.deed {
            Deed::Install => "install",
            Deed::Uninstall => "uninstall",
        })
    }

    /// Each file is old or new, and never a part of one.
    fn look(&self) -> Result<()> {
        for ((_, theirs), text) in self.theirs.1.iter().zip(self.texts()?) {
            let is_ours = text.as_ref().is_some_and(|text| {
                let is_whole = text.starts_with(['{', '#', '[']) && text.contains("rekindle");
                is_whole && theirs.is_none_or(|theirs| text.len() > theirs.len())
            });
            ensure!(is_ours || text.as_deref() == *theirs, "{text:?}");
        }
        Ok(())
    }

    fn end(&self) -> Result<Self::End> {
        let after = self.texts()?;
        match self.deed {
            Deed::Install => {
                let has_ours = |text: &Option<String>| {
                    text.as_ref().is_some_and(|text| text.contains("rekindle"))
                };
                ensure!(after.iter().all(has_ours), "{after:?}");
                let ran = self.call("uninstall").run()?;
                ensure!(ran.code() == Some(0), "{ran}");
            }
            Deed::Uninstall => {}
        }
        let back = self.texts()?;
        ensure!(self.are_theirs(&back), "{back:?}");
        let mut names = Vec::new();
        let mut open = vec![self.home("")];
        while let Some(folder) = open.pop() {
            for entry in folder.read_dir_utf8()? {
                let path = entry?.into_path();
                names.push(path.to_string());
                if path.is_dir() {
                    open.push(path);
                }
            }
        }
        names.sort();
        Ok((after, names))
    }
}
