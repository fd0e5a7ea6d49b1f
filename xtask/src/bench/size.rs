//! What must be installed: one binary, beside the packages of others.

use std::path::Path;

use super::chart::{Bar, Chart};
use super::chore::{Bench, Setting};
use super::engines::{DBOS, LANGGRAPH};
use super::folders::{self, Held};
use super::peer::{DUCKDB, SNAKEMAKE, TASK_MASTER};
use super::report::{Section, Table, Target, count, figure};
use super::standing::{Better, Standing};
use crate::packages::{self, Package, Python};

pub(super) const BENCH: Bench = Bench {
    name: "size",
    run: bench,
};

const MOST_MB: f64 = 20.0;
/// What a virtual environment brings along without any package.
const NOT_THEIRS: [&str; 4] = ["pip", "setuptools", "_distutils_hack", "distutils"];

fn bench(setting: &Setting) -> Result<Section, String> {
    let own = folders::held(&setting.rekindle)?;
    let mut sizes = vec![("`rekindle`".to_owned(), own)];
    for python in [LANGGRAPH.python, DBOS.python, SNAKEMAKE, DUCKDB] {
        sizes.push((shown(python.packages[0]), of_python(&python)?));
    }
    let node = packages::node(TASK_MASTER)?.join("node_modules");
    sizes.push((shown(TASK_MASTER), folders::held(&node)?));
    let own = megabytes(own.bytes);
    Ok(Section {
        title: "Size",
        about: vec![
            "The binary as it is released, beside the packages of others with all that they need, without the \
             interpreter that runs them; MB are millions of bytes."
                .to_owned(),
        ],
        table: Table {
            n_text: 1,
            head: vec!["program", "files", "MB", "ratio"],
            rows: sizes
                .iter()
                .map(|(shown, held)| {
                    let size = megabytes(held.bytes);
                    vec![
                        shown.clone(),
                        count(held.n_files),
                        figure(size),
                        figure(size / own),
                    ]
                })
                .collect(),
        },
        targets: vec![Target::below("the binary", own, MOST_MB, "MB")],
        standings: vec![Standing {
            what: "installed, MB".to_owned(),
            better: Better::Less,
            ours: own,
            peers: (sizes[1..].iter())
                .map(|(shown, held)| (shown.clone(), megabytes(held.bytes)))
                .collect(),
            if_behind: "it would take a build with fewer of its faces",
        }],
        chart: Some(Chart {
            name: "size",
            title: "What is installed, MB (less is better)".to_owned(),
            bars: sizes
                .iter()
                .map(|(shown, held)| Bar::new(shown.as_str(), megabytes(held.bytes)))
                .collect(),
        }),
    })
}

fn shown((package, version): Package) -> String {
    format!("{package} {version}")
}

/// Returns what the packages of an environment hold.
fn of_python(python: &Python) -> Result<Held, String> {
    let lib = python.folder()?.join("lib");
    let mut sum = Held::default();
    for version in list(&lib)? {
        for package in list(&version.join("site-packages"))? {
            let name = package.file_name().unwrap_or_default().to_string_lossy();
            if NOT_THEIRS.iter().any(|other| name.starts_with(other)) {
                continue;
            }
            let held = folders::held(&package)?;
            sum.n_files += held.n_files;
            sum.bytes += held.bytes;
        }
    }
    Ok(sum)
}

fn list(folder: &Path) -> Result<Vec<std::path::PathBuf>, String> {
    let cannot = |e| format!("cannot list `{}`: {e}", folder.display());
    let entries = std::fs::read_dir(folder).map_err(cannot)?;
    entries
        .map(|entry| Ok(entry.map_err(cannot)?.path()))
        .collect()
}

#[expect(clippy::cast_precision_loss, reason = "sizes here are far below 2^53")]
fn megabytes(bytes: u64) -> f64 {
    bytes as f64 / 1e6
}
