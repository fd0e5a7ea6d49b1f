//! Files and folders that the user may not read or write.

use std::os::unix::fs::PermissionsExt;

use anyhow::Result;
use camino::{Utf8Path, Utf8PathBuf};
use rekindle_testkit::sandbox::{Ran, Sandbox, quoted};

use crate::interrupted;

/// A user for whom permissions count. For root they do not, so root becomes nobody.
struct Anybody<'s> {
    sandbox: &'s Sandbox,
    /// A copy of the binary, where nobody can reach it.
    copy: Option<Utf8PathBuf>,
}

impl<'s> Anybody<'s> {
    /// Opens the whole sandbox to others; gives nothing where there is no way to become one.
    fn of(sandbox: &'s Sandbox) -> Result<Option<Self>> {
        let sh = |script: &str| sandbox.typed(&[]).through(&["sh", "-c", script]).run();
        if sh("id -u")?.stdout().trim() != "0" {
            let copy = None;
            return Ok(Some(Self { sandbox, copy }));
        }
        if sh("command -v setpriv")?.code() != Some(0) {
            return Ok(None);
        }
        let copy = sandbox.root().join("rekindle");
        fs_err::copy(sandbox.binary(), &copy)?;
        sh(&format!(
            "chmod -R a+rX {}",
            quoted(sandbox.root().as_str())
        ))?;
        let copy = Some(copy);
        Ok(Some(Self { sandbox, copy }))
    }

    fn run(&self, args: &[&str]) -> Result<Ran> {
        let typed = self.sandbox.typed(args);
        let Some(copy) = &self.copy else {
            return Ok(typed.run()?);
        };
        let nobody = r#"shift; exec setpriv --reuid=65534 --regid=65534 --clear-groups "$0" "$@""#;
        Ok(typed.through(&["sh", "-c", nobody, copy.as_str()]).run()?)
    }
}

fn set_mode(path: &Utf8Path, mode: u32) -> Result<()> {
    Ok(fs_err::set_permissions(
        path,
        PermissionsExt::from_mode(mode),
    )?)
}

#[test]
fn a_log_that_may_not_be_read_stops_the_resume_and_is_named() -> Result<()> {
    let (sandbox, run) = interrupted()?;
    let Some(anybody) = Anybody::of(&sandbox)? else {
        return Ok(());
    };
    let log = run.path("events/executor/20260119-0900.jsonl");
    set_mode(&sandbox.path(&log), 0o000)?;
    let ran = anybody.run(&["resume", "--yes", "--no-agent"])?;
    assert_eq!(ran.code(), Some(1), "{ran}");
    assert!(
        ran.stderr()
            .contains("files that the state depends on cannot be read"),
        "{ran}"
    );
    let inspected = anybody.run(&["inspect", "--json"])?.json()?;
    assert_eq!(inspected["findings"][0]["code"], "UNREADABLE_FILE");
    assert_eq!(inspected["findings"][0]["where"], log.as_str());
    Ok(())
}

#[test]
fn a_folder_that_may_not_be_entered_stops_the_resume() -> Result<()> {
    let (sandbox, run) = interrupted()?;
    let Some(anybody) = Anybody::of(&sandbox)? else {
        return Ok(());
    };
    let events = sandbox.path(run.path("events"));
    set_mode(&events, 0o000)?;
    let ran = anybody.run(&["resume", "--yes", "--no-agent"])?;
    // Or else the folder could not be removed in the end.
    set_mode(&events, 0o755)?;
    assert_eq!(ran.code(), Some(1), "{ran}");
    assert!(ran.stderr().contains("cannot be read"), "{ran}");
    Ok(())
}

#[test]
fn a_project_that_may_not_be_written_can_be_looked_at_and_not_resumed() -> Result<()> {
    let (sandbox, run) = interrupted()?;
    let Some(anybody) = Anybody::of(&sandbox)? else {
        return Ok(());
    };
    set_mode(sandbox.project(), 0o555)?;
    let status = anybody.run(&["status"])?;
    let resumed = anybody.run(&["resume", "--yes", "--no-agent"])?;
    set_mode(sandbox.project(), 0o755)?;
    assert_eq!(status.code(), Some(0), "{status}");
    insta::assert_snapshot!(resumed, @"
    exit 1
    --- stderr
    error: the plan could not be applied
      cause: cannot make the folder `[PROJECT]/.rekindle`
      cause: Permission denied (os error 13)

    hint: `rekindle doctor` checks what rekindle needs
    ");
    assert_eq!(run.told(&sandbox)?, "");
    Ok(())
}
