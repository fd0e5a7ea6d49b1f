//! Runs every case below `tests/conformance` against the built binary, one test each.
//!
//! A test is named after its folder, `protocol/case`; `protocol-WORD` is a folder of the protocol too.

use std::collections::BTreeMap;
use std::process::ExitCode;

use anyhow::{Context, ensure};
use camino::{Utf8Path, Utf8PathBuf};
use libtest_mimic::{Arguments, Failed, Trial};
use rekindle_testkit::conformance::{Case, check};

fn main() -> anyhow::Result<ExitCode> {
    let arguments = Arguments::from_args();
    let top = Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/conformance");
    let cases = folders_below(&top)?;
    let mut trials = Vec::new();
    for (folder, cases) in &cases {
        for case in cases {
            let (name, case) = (format!("{folder}/{}", name_of(case)), case.clone());
            trials.push(Trial::test(name, move || run(&case)));
        }
    }
    trials.push(Trial::test(
        "every_folder_is_a_case_of_a_known_protocol",
        move || layout(&cases).map_err(|wrong| Failed::from(format!("{wrong:#}"))),
    ));
    Ok(libtest_mimic::run(&arguments, trials).exit_code())
}

fn run(folder: &Utf8Path) -> Result<(), Failed> {
    let binary = Utf8Path::new(env!("CARGO_BIN_EXE_rekindle"));
    let checked = Case::load(folder).and_then(|case| check(&case, binary));
    checked.map_err(|wrong| Failed::from(wrong.chain()))
}

/// Checks that no case is left out: each can be read, and is where its protocol's cases are.
fn layout(cases: &BTreeMap<String, Vec<Utf8PathBuf>>) -> anyhow::Result<()> {
    for (folder, cases) in cases {
        let protocol = protocol_of(folder)
            .with_context(|| format!("tests/conformance/{folder} is not named after a protocol"))?;
        ensure!(
            !cases.is_empty(),
            "there are no cases in tests/conformance/{folder}"
        );
        for case in cases {
            let said = Case::load(case).with_context(|| format!("in {folder}"))?;
            ensure!(
                said.protocol() == protocol,
                "{case} is about `{}`, but stands among the cases of `{protocol}`",
                said.protocol()
            );
        }
    }
    Ok(())
}

/// Returns the protocol that a folder is named after, with or without a word behind it.
fn protocol_of(folder: &str) -> Option<&'static str> {
    let is_named = |name: &&str| {
        let rest = folder.strip_prefix(name);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
    };
    let names = rekindle_app::protocol_names().iter();
    let named = names.map(|name| name.as_str()).filter(is_named);
    named.max_by_key(|name| name.len())
}

/// Returns the case folders of every folder, both in order.
fn folders_below(top: &Utf8Path) -> anyhow::Result<BTreeMap<String, Vec<Utf8PathBuf>>> {
    let mut all = BTreeMap::new();
    for folder in folders_in(top)? {
        all.insert(name_of(&folder).to_owned(), folders_in(&folder)?);
    }
    Ok(all)
}

fn folders_in(top: &Utf8Path) -> anyhow::Result<Vec<Utf8PathBuf>> {
    let mut folders = Vec::new();
    for entry in top
        .read_dir_utf8()
        .with_context(|| format!("cannot list {top}"))?
    {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            folders.push(entry.into_path());
        }
    }
    folders.sort();
    Ok(folders)
}

fn name_of(folder: &Utf8Path) -> &str {
    folder.file_name().unwrap_or_default()
}
