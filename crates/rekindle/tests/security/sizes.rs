//! Files that are too large or too deep, in the place of every file that is read.

use anyhow::{Context as _, Result, ensure};
use camino::Utf8Path;
use rekindle_testkit::sandbox::Sandbox;

use crate::scenes::{CASES, check, files, lay_out, run};

/// Runs a command in at most 150 MB of memory: what can not be mapped can not be resident.
const IN_LITTLE_MEMORY: [&str; 4] = ["sh", "-c", r#"ulimit -v 153600 && exec "$@""#, "sh"];

/// Lays out the first case of each protocol and hands out its files one by one; each is as it was
/// before the next one is changed.
fn each_file(look: impl Fn(&Sandbox, &str, &Utf8Path) -> Result<()>) -> Result<()> {
    for (protocol, cases) in CASES {
        let sandbox = lay_out(protocol, cases[0])?;
        for path in files(&sandbox)? {
            let before = fs_err::read(&path)?;
            look(&sandbox, protocol, &path).with_context(|| path.to_string())?;
            fs_err::write(&path, before)?;
        }
    }
    Ok(())
}

#[test]
fn a_huge_file_in_place_of_any_takes_little_memory() -> Result<()> {
    each_file(|sandbox, protocol, path| {
        // Sparse, so that it takes no room; more than the limit on memory, and on any file that is read whole.
        fs_err::File::create(path)?.file().set_len(300 << 20)?;
        let args = ["inspect", "--json", "--protocol", protocol];
        let ran = sandbox.typed(&args).through(&IN_LITTLE_MEMORY).run()?;
        check(&ran, &args)
    })
}

#[test]
fn a_file_without_end_in_place_of_any_is_not_read_to_its_end() -> Result<()> {
    each_file(|sandbox, protocol, path| {
        // Sparse; reading all of it would take hours.
        fs_err::File::create(path)?.file().set_len(1 << 42)?;
        run(sandbox, &["status"])?;
        let inspected = run(sandbox, &["inspect", "--json", "--protocol", protocol])?;
        let is_log =
            path.as_str().contains("/.agent-memory/runs/") && path.as_str().contains("/events/");
        ensure!(
            !is_log || inspected.stdout().contains("over the limit"),
            "{inspected}"
        );
        Ok(())
    })
}

#[test]
fn values_in_values_without_end_in_place_of_any_file_end_nothing() -> Result<()> {
    let deep = ["[".repeat(100_000), "{\"a\":".repeat(100_000)];
    let nested = ["- ".repeat(50_000), "> ".repeat(50_000)];
    each_file(|sandbox, protocol, path| {
        let is_json = path
            .extension()
            .is_some_and(|extension| extension.starts_with("json"));
        for bomb in if is_json { &deep } else { &nested } {
            fs_err::write(path, format!("{bomb}\n"))?;
            run(sandbox, &["inspect", "--json", "--protocol", protocol])?;
        }
        Ok(())
    })
}

#[test]
fn ten_thousand_files_next_to_the_state_are_handled() -> Result<()> {
    for (protocol, cases) in CASES {
        let sandbox = lay_out(protocol, cases[0])?;
        let state = files(&sandbox)?
            .into_iter()
            .find(|path| path.starts_with(sandbox.project()));
        let folder = state
            .as_deref()
            .and_then(Utf8Path::parent)
            .context("a folder")?;
        for number in 0..10_000 {
            fs_err::write(folder.join(format!("many-{number}.json")), "")?;
        }
        run(&sandbox, &["status"])?;
    }
    Ok(())
}
