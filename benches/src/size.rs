//! The size of the binary next to that of other programs' packages.

use xtask::files;
use xtask::packages::{self, Package, Python};

use crate::chart::Chart;
use crate::chore::Setting;
use crate::engines::{DBOS, LANGGRAPH};
use crate::folders::{self, Held};
use crate::peer::{DUCKDB, SNAKEMAKE, TASK_MASTER};
use crate::report::{Section, Table, Target, count, figure, millions};
use crate::standing::Standing;

const MOST_MB: f64 = 20.0;
/// Packages that every virtual environment has.
const NOT_THEIRS: [&str; 4] = ["pip", "setuptools", "_distutils_hack", "distutils"];

pub(crate) fn bench(setting: &Setting) -> Result<Section, String> {
    let own = folders::held(&setting.rekindle)?;
    let mut sizes = vec![("`rekindle`".to_owned(), own)];
    for python in [LANGGRAPH.python, DBOS.python, SNAKEMAKE, DUCKDB] {
        sizes.push((shown(python.packages[0]), of_python(&python)?));
    }
    let node = packages::node(TASK_MASTER)?.join("node_modules");
    sizes.push((shown(TASK_MASTER), folders::held(&node)?));
    let own = millions(own.bytes);
    let named: Vec<(String, f64)> = (sizes.iter())
        .map(|(shown, held)| (shown.clone(), millions(held.bytes)))
        .collect();
    let rows = sizes.into_iter().map(|(shown, held)| {
        let size = millions(held.bytes);
        vec![shown, count(held.n_files), figure(size), figure(size / own)]
    });
    Ok(Section {
        title: "Size",
        about: "The release binary next to the packages of others with all their dependencies, without the interpreter; MB are millions of bytes."
            .to_owned(),
        table: Table {
            n_text: 1,
            head: &["program", "files", "MB", "ratio"],
            rows: rows.collect(),
        },
        targets: vec![Target::below("the binary", own, MOST_MB, "MB")],
        standings: vec![Standing::less(
            "installed, MB",
            own,
            named[1..].to_vec(),
            "being ahead requires a build with fewer front ends",
        ).headline()],
        chart: Some(Chart {
            name: "size",
            title: "Installed, MB (less is better)".to_owned(),
            bars: named,
        }),
    })
}

fn shown((package, version): Package) -> String {
    format!("{package} {version}")
}

/// Returns the size of the packages of an environment.
fn of_python(python: &Python) -> Result<Held, String> {
    let mut sum = Held::default();
    for version in files::list(python.folder()?.join("lib"))? {
        for package in files::list(version.join("site-packages"))? {
            let name = package.file_name().unwrap_or_default().to_string_lossy();
            if !NOT_THEIRS.iter().any(|other| name.starts_with(other)) {
                sum += folders::held(&package)?;
            }
        }
    }
    Ok(sum)
}
