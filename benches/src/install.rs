//! How long an installation takes: the packages of a release next to those of others.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use xtask::packages::{Package, Python};
use xtask::{files, packages, run};

use crate::chore::Setting;
use crate::engines::{DBOS, LANGGRAPH};
use crate::folders;
use crate::peer::{SNAKEMAKE, TASK_MASTER};
use crate::report::{Section, Table, figure, millions};
use crate::standing::Standing;

/// The first installation of another's package fills its cache; the second is measured.
const ROUNDS: u32 = 2;
const NPM: &str = "npm install --silent --ignore-scripts --no-audit --no-fund --global --prefix";
/// As `cargo xtask test` uses it to install the wheel.
const UV: Python = Python {
    packages: &[("uv", "0.13.8")],
};

/// A way to install something into the folder `$PLACE`.
struct Way {
    shown: String,
    /// The package itself, where it is a file of ours.
    package: Option<String>,
    line: String,
}

pub(crate) fn bench(setting: &Setting) -> Result<Section, String> {
    run::check(&mut run::cargo(&["xtask", "dist"]))?;
    let dist = run::target_folder()?.join("dist");
    let mut rows = Vec::new();
    let mut seconds = Vec::new();
    for way in ways(&dist)? {
        let (took, place) = installed(&way, &setting.folder.join("install"))?;
        let size = |path: &Path| Ok::<_, String>(figure(millions(folders::held(path)?.bytes)));
        let package = way.package.as_ref().map(|file| size(Path::new(file)));
        rows.push(vec![
            way.shown.clone(),
            package.transpose()?.unwrap_or_else(|| "many".to_owned()),
            size(&place)?,
            figure(took.as_secs_f64()),
        ]);
        seconds.push((way, took.as_secs_f64()));
    }
    let is_ours = |way: &Way| way.package.is_some();
    let (ours, others): (Vec<_>, Vec<_>) = seconds.into_iter().partition(|(way, _)| is_ours(way));
    let slowest = ours.iter().map(|(_, took)| *took).fold(0.0, f64::max);
    let others = others.into_iter().map(|(way, took)| (way.shown, took));
    Ok(Section {
        title: "Installation",
        about: "One command into an empty prefix, best of two; ours come from a file, others from the cache of their package manager, which asks its registry what is in it.\nWithout the interpreter; MB are millions of bytes."
            .to_owned(),
        table: Table {
            n_text: 1,
            head: &["installed", "package MB", "installed MB", "s"],
            rows,
        },
        targets: Vec::new(),
        standings: vec![Standing::less(
            "the slowest installation, s",
            slowest,
            others.collect(),
            "being ahead requires a smaller program",
        )],
        chart: None,
    })
}

fn ways(dist: &Path) -> Result<Vec<Way>, String> {
    let packages = files::list(dist)?;
    let ours = |shown: &str, end: &str, line: &str| {
        let mut paths = packages.iter().map(|path| path.to_string_lossy());
        let package = paths.find(|path| path.ends_with(end));
        let package = package
            .ok_or_else(|| format!("no package `*{end}`"))?
            .into_owned();
        Ok::<_, String>(Way {
            shown: format!("rekindle, {shown}"),
            line: format!("{line} {package}"),
            package: Some(package),
        })
    };
    let uv = UV.program("uv")?;
    let uv = format!(
        "UV_TOOL_DIR=$PLACE UV_TOOL_BIN_DIR=$PLACE/bin {} tool install --quiet --offline --no-index",
        uv.display()
    );
    let of_npm = |(name, version): Package| Way {
        shown: format!("{name} {version}, `npm install`"),
        package: None,
        line: format!("{NPM} $PLACE {name}@{version}"),
    };
    let of_pip = |python: &Python| {
        let wanted = python
            .packages
            .iter()
            .map(|(name, version)| format!("{name}=={version}"));
        let wanted: Vec<String> = wanted.collect();
        let (name, version) = python.packages[0];
        Way {
            shown: format!("{name} {version}, `pip install`"),
            package: None,
            line: format!(
                "python3 -m pip install --quiet --target $PLACE {}",
                wanted.join(" ")
            ),
        }
    };
    let mut ways = vec![
        ours("`tar -xzf`", ".tar.gz", "tar -C $PLACE -xzf")?,
        ours("`dpkg-deb -x`", ".deb", "f() { dpkg-deb -x $1 $PLACE; }; f")?,
        ours("`npm install`", ".tgz", &format!("{NPM} $PLACE"))?,
        ours("`uv tool install`", ".whl", &uv)?,
    ];
    ways.extend(
        [DBOS.python, LANGGRAPH.python, SNAKEMAKE, packages::MAPIFY]
            .iter()
            .map(of_pip),
    );
    ways.push(of_npm(TASK_MASTER));
    Ok(ways)
}

/// Installs it several times, each into an empty folder; returns the best time and the last folder.
fn installed(way: &Way, folder: &Path) -> Result<(Duration, std::path::PathBuf), String> {
    let mut best = Duration::MAX;
    for _ in 0..ROUNDS {
        let place = files::empty_folder(folder)?;
        let start = Instant::now();
        let mut shell = Command::new("sh");
        run::output(shell.args(["-euc", &way.line]).env("PLACE", &place))?;
        best = best.min(start.elapsed());
    }
    Ok((best, folder.to_owned()))
}
