//! What `doctor` says of the agents that call rekindle.

use anyhow::{Result, ensure};
use camino::Utf8Path;
use rekindle_testkit::sandbox::{Sandbox, Typed};

use crate::{BINARY, interrupted};

/// Returns a command line for which `rekindle` is on the path.
fn typed<'s>(sandbox: &'s Sandbox, args: &[&str]) -> Typed<'s> {
    let own = Utf8Path::new(BINARY).parent().unwrap_or(Utf8Path::new("/"));
    sandbox
        .typed(args)
        .with("PATH", format!("{own}:/usr/bin:/bin"))
}

fn done(sandbox: &Sandbox, args: &[&str]) -> Result<()> {
    let ran = typed(sandbox, args).run()?;
    ensure!(ran.code() == Some(0), "{args:?}: {ran}");
    Ok(())
}

#[test]
fn doctor_says_by_what_each_agent_calls_rekindle_and_what_is_there_twice() -> Result<()> {
    let (sandbox, _) = interrupted()?;
    let said = || -> Result<String> {
        let ran = typed(&sandbox, &["doctor"]).run()?;
        Ok(ran.stdout().into_owned())
    };
    let nothing = said()?;
    ensure!(!nothing.contains("calls rekindle"), "{nothing}");
    ensure!(!nothing.contains("hooks: "), "{nothing}");

    done(&sandbox, &["install", "claude", "--user", "--yes"])?;
    let once = said()?;
    ensure!(once.contains("ok  claude: calls rekindle by "), "{once}");
    // It has called its own hook.
    let works = "ok  hooks: a new session is told what is interrupted";
    ensure!(once.contains(works), "{once}");

    done(&sandbox, &["install", "claude", "--project", "--yes"])?;
    let twice = said()?;
    ensure!(twice.contains("so each event is handled twice"), "{twice}");
    let hint = "hint: keep one: `rekindle uninstall claude --";
    ensure!(twice.contains(hint), "{twice}");
    done(&sandbox, &["uninstall", "claude", "--project", "--yes"])?;

    let plugins = sandbox.root().join("home/.claude/plugins");
    fs_err::create_dir_all(&plugins)?;
    let list = r#"{"version": 2, "plugins": {"rekindle@rekindle": []}}"#;
    fs_err::write(plugins.join("installed_plugins.json"), list)?;
    let both = said()?;
    ensure!(
        both.contains("and plugin, so each event is handled twice"),
        "{both}"
    );
    done(&sandbox, &["uninstall", "claude", "--user", "--yes"])?;
    let plugin = said()?;
    ensure!(
        plugin.contains("ok  claude: calls rekindle by plugin"),
        "{plugin}"
    );
    let ran = sandbox
        .typed(&["doctor"])
        .with("PATH", "/usr/bin:/bin")
        .run()?;
    let lost = "problem  claude: the plugin calls `rekindle`, which is not on the path";
    ensure!(ran.stdout().contains(lost), "{ran}");

    done(&sandbox, &["install", "codex", "--yes"])?;
    let codex = said()?;
    ensure!(codex.contains("ok  codex: calls rekindle by "), "{codex}");
    ensure!(
        codex.contains("Codex skips hooks until you trust them"),
        "{codex}"
    );
    Ok(())
}
