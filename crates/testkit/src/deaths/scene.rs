//! A scene that is put back again and again, and the processes that live in it.

use std::ffi::OsStr;
use std::io;

use anyhow::{Result, bail, ensure};
use camino::{Utf8Path, Utf8PathBuf};
use tempfile::TempDir;

use crate::running::wait_until_gone;
use crate::sandbox::{LIMIT, Sandbox, quoted, scratch_in_memory};

/// How often it is looked for processes that others have started meanwhile.
const MOST_LOOKS: u32 = 50;

/// A copy of everything below a root, to be put back.
pub(super) struct Scene {
    root: Utf8PathBuf,
    home: Vec<u8>,
    copy: Utf8PathBuf,
    notes: Utf8PathBuf,
    _scratch: TempDir,
}

impl Scene {
    /// Takes a copy of a sandbox as it stands.
    pub(super) fn keep(sandbox: &Sandbox) -> Result<Self> {
        let scratch = scratch_in_memory()?;
        let Some(place) = Utf8Path::from_path(scratch.path()) else {
            bail!("{} is not UTF-8", scratch.path().display());
        };
        let home = sandbox.environment().get(OsStr::new("HOME"));
        let home = home.map(|home| home.as_encoded_bytes().to_vec());
        let scene = Self {
            root: sandbox.root().to_owned(),
            home: [b"HOME=", home.unwrap_or_default().as_slice()].concat(),
            copy: place.join("copy"),
            notes: place.join("notes"),
            _scratch: scratch,
        };
        fs_err::create_dir(&scene.copy)?;
        scene.shell(&scene.root, &scene.copy, ":")?;
        Ok(scene)
    }

    /// Puts everything back, once nobody is at work in it.
    pub(super) fn put_back(&self) -> Result<()> {
        self.wait_for_processes()?;
        // What an agent may have made read-only must not stay; the root itself does.
        let clear = "find . -type d ! -perm -u+w -exec chmod u+w {} + && find . -mindepth 1 -maxdepth 1 -exec rm -rf {} +";
        self.shell(&self.copy, &self.root, clear)
    }

    /// Copies one folder into another, in which a script is run before.
    fn shell(&self, from: &Utf8Path, to: &Utf8Path, script: &str) -> Result<()> {
        let (from, to) = (quoted(from.as_str()), quoted(to.as_str()));
        let script = format!("cd {to} && {script} && cp -a {from}/. {to}/");
        let environment = [("PATH".into(), "/usr/bin:/bin".into())].into();
        let call = crate::process::Call {
            program: "/bin/sh",
            args: &["-c".to_owned(), script],
            folder: "/".into(),
            environment: &environment,
            stdin: "",
            limit: LIMIT,
        };
        let output = call.run()?;
        let said = String::from_utf8_lossy(&output.stderr);
        ensure!(
            output.status.success(),
            "the scene can not be laid out: {said}"
        );
        Ok(())
    }

    /// Returns where the next session takes its notes; nothing stands there.
    pub(super) fn fresh_notes(&self) -> io::Result<Utf8PathBuf> {
        for path in [self.notes.clone(), self.struck()] {
            match fs_err::remove_file(path) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                other => other?,
            }
        }
        Ok(self.notes.clone())
    }

    /// Returns what the last session has noted.
    pub(super) fn notes(&self) -> io::Result<String> {
        fs_err::read_to_string(&self.notes)
    }

    /// Returns whether what the last session was ordered has happened.
    pub(super) fn has_struck(&self) -> bool {
        self.struck().exists()
    }

    fn struck(&self) -> Utf8PathBuf {
        self.notes.with_extension("struck")
    }

    /// Waits until nobody is left who was started in this scene.
    pub(super) fn wait_for_processes(&self) -> Result<()> {
        for _ in 0..MOST_LOOKS {
            let living = self.processes();
            if living.is_empty() {
                return Ok(());
            }
            for pid in living {
                wait_until_gone(pid, LIMIT)?;
            }
        }
        bail!("processes are started again and again");
    }

    /// Returns who has this scene's home in the environment.
    fn processes(&self) -> Vec<u32> {
        let entries = fs_err::read_dir("/proc").into_iter().flatten().flatten();
        let is_ours = |pid: &u32| {
            let variables = fs_err::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            let mut variables = variables.split(|&byte| byte == 0);
            variables.any(|variable| variable == self.home)
        };
        entries
            .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
            .filter(is_ours)
            .collect()
    }
}
