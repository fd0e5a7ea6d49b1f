//! MAP's own scripts, in a virtual environment of their own: what `rekindle map` is held against.

use std::path::PathBuf;
use std::process::Command;

use crate::run;

/// The release that is the reference.
const PACKAGE: &str = "mapify-cli==3.25.0";
/// The variable that tells the walks where Python is.
pub(crate) const VARIABLE: &str = "REKINDLE_MAP_PEER";

/// Returns the Python that has the scripts, after installing them where they are not yet.
pub(crate) fn python() -> Result<PathBuf, String> {
    let folder = run::root().join("target/map-peer");
    let python = folder.join("bin/python");
    if is_installed(&python) {
        return Ok(python);
    }
    println!("installing {PACKAGE} into {}", folder.display());
    let mut environment = Command::new("python3");
    environment.args(["-m", "venv"]).arg(&folder);
    let mut install = Command::new(&python);
    install.args(["-m", "pip", "install", "--quiet", PACKAGE]);
    for command in [&mut environment, &mut install] {
        if !run::watched(command)? {
            let hint =
                "the walks beside MAP's scripts need `python3` with `venv`, and its packages";
            return Err(format!("`{command:?}` failed; {hint}"));
        }
    }
    if is_installed(&python) {
        Ok(python)
    } else {
        Err(format!("{PACKAGE} was installed and is not there"))
    }
}

/// Returns the folder of the scripts.
pub(crate) fn scripts() -> Result<PathBuf, String> {
    let code = "import mapify_cli, pathlib; print(pathlib.Path(mapify_cli.__file__).parent / 'templates/map/scripts')";
    let python = python()?;
    let folder = run::output_of(&python.to_string_lossy(), &["-c", code]);
    folder
        .map(PathBuf::from)
        .ok_or_else(|| "the scripts of mapify-cli are not where they should be".to_owned())
}

fn is_installed(python: &std::path::Path) -> bool {
    let code = "import importlib.metadata as m; print('mapify-cli==' + m.version('mapify-cli'))";
    let found = run::output_of(&python.to_string_lossy(), &["-c", code]);
    found.as_deref() == Some(PACKAGE)
}
