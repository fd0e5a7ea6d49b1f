//! Every known way in which a git repository can make git run something, and rekindle looking at it.
//!
//! `layouts.sh` lays each way out with a program that leaves a trace. Plain git is then seen to run
//! each of them, so that the check can fail. After that, every reading command, hook event and MCP
//! tool looks at the project, and no trace may appear. `docs/threat-model.md` lists the settings that
//! are behind this.

#![cfg(target_os = "linux")]
#![expect(
    clippy::disallowed_methods,
    reason = "the layouts are made by a script, with plain git"
)]

mod look;

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, ensure};
use camino::{Utf8Path, Utf8PathBuf};
use rekindle_testkit::conformance::{Case, Scene};
use rekindle_testkit::sandbox::Sandbox;

const BINARY: &str = env!("CARGO_BIN_EXE_rekindle");

/// One case of each protocol.
const CASES: [(&str, &str); 5] = [
    ("agent-memory", "06-phase2-mid-deps"),
    ("bifrost", "05-tasks-complete"),
    ("kiln", "05-execution-mid-phase"),
    ("kiln-teams", "01-crash-mid-wave"),
    ("map", "20-monitor-failed-once"),
];

/// One case of each format of task lists; two layouts have all ways to run something.
const LISTS: [(&str, &str); 3] = [
    ("spec-kit", "02-half-done-parallel"),
    ("openspec", "02-half-done-newer-project"),
    ("kiro", "02-stopped-in-progress"),
];
const LAYOUTS_OF_LISTS: [&str; 2] = ["archive", "partial"];

/// What a repository came as, and how many ways to run something it has.
const LAYOUTS: [(&str, usize); 4] = [
    // An unpacked archive with a `.git` of its own, submodule and hooks included.
    ("archive", 21),
    // A partial clone that lacks the commit of HEAD, with four remotes to get it from.
    ("partial", 4),
    // The same, as a folder that is itself a bare repository.
    ("bare", 4),
    // A `.git` file that leads to a repository in another folder of the project.
    ("link", 21),
];

/// A project that holds a workflow and a hostile repository.
pub(crate) struct Hostile {
    pub(crate) sandbox: Sandbox,
    marks: Utf8PathBuf,
}

impl Hostile {
    fn lay_out((protocol, case): (&str, &str), layout: &str) -> Result<Self> {
        let top = Utf8Path::new(env!("CARGO_MANIFEST_DIR"));
        let case = Case::load(
            &top.join("../../tests/conformance")
                .join(protocol)
                .join(case),
        )?;
        let sandbox = Scene::lay_out_in_memory(&case)?.into_sandbox(BINARY);
        let marks = sandbox.root().join("marks");
        fs_err::create_dir(&marks)?;
        let hostile = Self { sandbox, marks };
        hostile.script(layout)?;
        Ok(hostile)
    }

    /// Runs a part of `layouts.sh` in the project.
    fn script(&self, part: &str) -> Result<()> {
        let script = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/tests/hostile_clone/layouts.sh"
        );
        let output = Command::new("/bin/sh")
            .args([script, part])
            .env_clear()
            .envs(self.sandbox.environment())
            .env("MARKS", &self.marks)
            .current_dir(self.sandbox.project())
            .stdin(Stdio::null())
            .output()?;
        ensure!(
            output.status.success(),
            "{part}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        Ok(())
    }

    /// Returns what has run since this was last asked.
    pub(crate) fn ran(&self) -> Result<BTreeSet<String>> {
        let mut names = BTreeSet::new();
        for entry in self.marks.read_dir_utf8()? {
            let entry = entry?;
            fs_err::remove_file(entry.path())?;
            names.insert(entry.file_name().to_owned());
        }
        Ok(names)
    }
}

fn check(layout: &str, n_ways: usize) -> Result<()> {
    let lists = LISTS.iter().filter(|_| LAYOUTS_OF_LISTS.contains(&layout));
    for &case in CASES.iter().chain(lists) {
        let hostile = Hostile::lay_out(case, layout)?;
        hostile.ran()?;
        // Only once: the ways are the same for every protocol.
        if case == CASES[0] {
            hostile.script(&format!("prove-{layout}"))?;
            let live = hostile.ran()?;
            ensure!(
                live.len() == n_ways,
                "plain git runs {} of {n_ways}: {live:?}",
                live.len()
            );
        }
        hostile.script("touch")?;
        look::with_everything(&hostile).with_context(|| format!("{case:?} in `{layout}`"))?;
    }
    Ok(())
}

#[test]
fn looking_at_a_hostile_repository_runs_nothing() -> Result<()> {
    std::thread::scope(|scope| {
        let checks = LAYOUTS.map(|(layout, n_ways)| scope.spawn(move || check(layout, n_ways)));
        let mut all = Ok(());
        for (check, (layout, _)) in checks.into_iter().zip(LAYOUTS) {
            let result = check
                .join()
                .unwrap_or_else(|_| Err(anyhow::anyhow!("`{layout}` panicked")));
            all = all.and(result);
        }
        all
    })
}

/// A relative folder on PATH is wherever one happens to be: in the clone.
#[test]
fn programs_of_the_project_are_not_found_through_a_relative_path() -> Result<()> {
    let hostile = Hostile::lay_out(CASES[0], "relative-path")?;
    let path = hostile.sandbox.environment().get(OsStr::new("PATH"));
    let path = path.and_then(|path| path.to_str()).unwrap_or_default();
    let path = format!(".:bin:{path}");
    hostile.script("prove-relative-path")?;
    ensure!(
        hostile.ran()?.contains("relative-git"),
        "plain lookup runs it"
    );
    // The user is told of what was found interrupted by programs that are not the project's.
    let config = hostile.sandbox.root().join("config/rekindle");
    fs_err::create_dir_all(&config)?;
    let notify = "[notify]\ncommand = \"cat > /dev/null\"\ndesktop = true\n";
    fs_err::write(config.join("config.toml"), notify)?;
    let config = config.parent().context("a folder")?;
    let others: [&[&str]; 2] = [&["demo"], &["torture", "--kills", "1"]];
    for words in look::COMMANDS.iter().chain(&others) {
        let typed = hostile.sandbox.typed(words).with("PATH", path.as_str());
        let typed = typed.with("XDG_CONFIG_HOME", config.as_str());
        typed.without("REKINDLE_NOW").run()?;
        let ran = hostile.ran()?;
        ensure!(ran.is_empty(), "{words:?} ran {ran:?}");
    }
    let words = ["run", "bait-plan.md", "--yes", "--agent", "claude"];
    let refused = hostile
        .sandbox
        .typed(&words)
        .with("PATH", path.as_str())
        .run()?;
    ensure!(refused.code() == Some(1), "{refused}");
    ensure!(
        refused
            .stderr()
            .contains("in whatever folder it is started"),
        "{refused}"
    );
    ensure!(hostile.ran()?.is_empty(), "{refused}");
    Ok(())
}
