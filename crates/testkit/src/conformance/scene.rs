//! One case laid out in a scratch folder: project, home, environment, repository, file times.

use std::ffi::OsStr;
use std::fs::FileTimes;
use std::io::{self, ErrorKind};
use std::process::Output;
use std::time::{Duration, SystemTime};

use camino::{Utf8Path, Utf8PathBuf};
use rekindle_text::claude_folder_name;
use serde_json::Value;
use tempfile::TempDir;

use super::case::{Case, Committed, Head, Repository};
use super::error::{Error, mismatch};
use super::snapshot::{Snapshot, files_below};
use super::{clock, teams};
use crate::hermetic;
use crate::process::{Call, Environment};
use crate::sandbox::{Sandbox, scratch_in_memory};

/// How long one command may take.
const LIMIT: Duration = Duration::from_secs(60);

/// How the project's path is spelled in texts of the cases.
const PROJECT_PATH: &str = "/DEV/ledger-api";

/// How the project's path is spelled in names of folders.
const PROJECT_NAME: &str = "-DEV-ledger-api";

/// A case as it stands on disk; dropping it removes everything.
#[derive(Debug)]
pub struct Scene<'a> {
    case: &'a Case,
    root: Utf8PathBuf,
    home: Utf8PathBuf,
    project: Utf8PathBuf,
    /// The project's path with a dash for every slash, as agents name folders after it.
    encoded: String,
    environment: Environment,
    scratch: TempDir,
}

impl<'a> Scene<'a> {
    /// Lays the case out in a new scratch folder.
    pub fn lay_out(case: &'a Case) -> Result<Self, Error> {
        let scratch = tempfile::Builder::new()
            .prefix("rekindle-case-")
            .tempdir()?;
        Self::lay_out_in(case, scratch)
    }

    /// Lays the case out in memory, where the system offers that.
    pub fn lay_out_in_memory(case: &'a Case) -> Result<Self, Error> {
        Self::lay_out_in(case, scratch_in_memory()?)
    }

    /// Lays the case out in a folder that is empty.
    pub(crate) fn lay_out_in(case: &'a Case, scratch: TempDir) -> Result<Self, Error> {
        let Some(given) = Utf8Path::from_path(scratch.path()) else {
            return mismatch("the folder for temporary files has a name that is not UTF-8");
        };
        let root = given.canonicalize_utf8()?;
        let home = root.join("home");
        let project = root.join("work/ledger-api");
        for (name, target) in [("home", &home), ("project", &project)] {
            fs_err::create_dir_all(target)?;
            copy_tree(&case.folder.join(name), target)?;
        }
        let mut environment = hermetic::environment(&home, &project);
        environment.insert("TZ".into(), case.tz.clone().into());
        environment.insert(
            "REKINDLE_NOW".into(),
            clock::now(&case.now, &case.tz)?.into(),
        );
        let is_of_sessions = case.protocol == "sessions";
        let encoded = if is_of_sessions {
            claude_folder_name(project.as_str())
        } else {
            project.as_str().replace('/', "-")
        };
        let mut scene = Self {
            case,
            root,
            home,
            project,
            encoded,
            environment,
            scratch,
        };
        if is_of_sessions {
            scene.lay_out_sessions()?;
        } else {
            scene.name_the_project()?;
        }
        if let Some(spec) = &case.teams {
            teams::build(&mut scene, spec)?;
        }
        if let Some(repository) = &case.map {
            scene.start_repository(repository)?;
        }
        scene.set_times()?;
        if let Some(repository) = &case.git {
            scene.commit_all(repository)?;
        }
        Ok(scene)
    }

    /// Makes it a sandbox, in which commands are typed by hand.
    pub fn into_sandbox(self, binary: &str) -> Sandbox {
        Sandbox::standing(
            binary,
            self.root,
            self.project,
            self.environment,
            self.scratch,
        )
    }

    /// Returns the case that stands here.
    pub fn case(&self) -> &'a Case {
        self.case
    }

    /// Returns the scratch folder that holds project and home.
    pub fn root(&self) -> &Utf8Path {
        &self.root
    }

    /// Returns the folder that is `HOME`.
    pub fn home(&self) -> &Utf8Path {
        &self.home
    }

    /// Returns the project's folder, in which every command starts.
    pub fn project(&self) -> &Utf8Path {
        &self.project
    }

    /// Returns the environment of every command.
    pub fn environment(&self) -> &Environment {
        &self.environment
    }

    /// Runs a program in the project.
    pub fn call(&self, binary: &str, args: &[String], stdin: &str) -> Result<Output, Error> {
        let call = Call {
            program: binary,
            args,
            folder: &self.project,
            environment: &self.environment,
            stdin,
            limit: LIMIT,
        };
        Ok(call.run()?)
    }

    /// Returns the text with this scene's paths for the spelled ones.
    pub fn expand(&self, text: &str) -> String {
        text.replace(PROJECT_PATH, self.project.as_str())
            .replace(PROJECT_NAME, &self.encoded)
            .replace("<HOME>", self.home.as_str())
            .replace("<ROOT>", self.root.as_str())
            .replace("<PROJECT>", self.project.as_str())
    }

    /// Returns the value with every text in it expanded; keys stand as they are.
    pub(crate) fn expand_value(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.expand(text)),
            Value::Array(items) => items.iter().map(|item| self.expand_value(item)).collect(),
            Value::Object(fields) => fields
                .iter()
                .map(|(key, item)| (key.clone(), self.expand_value(item)))
                .collect(),
            Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
        }
    }

    /// Returns the bytes of a file, or nothing where no file stands; `~/` is the home.
    pub(crate) fn bytes_of(&self, path: &str) -> Result<Option<Vec<u8>>, Error> {
        let full = match path.strip_prefix("~/") {
            Some(below) => self.home.join(below),
            None => self.project.join(path),
        };
        match fs_err::read(full.as_str().replace(PROJECT_NAME, &self.encoded)) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(e) if matches!(e.kind(), ErrorKind::NotFound | ErrorKind::IsADirectory) => Ok(None),
            Err(e) => Err(e.into()),
        }
    }

    /// Takes every file of the project and of the agent's own folder; sessions are in the whole home.
    pub(crate) fn snapshot(&self) -> Result<Snapshot, Error> {
        let home = if self.case.protocol == "sessions" {
            self.home.clone()
        } else {
            self.home.join(".claude")
        };
        Ok(Snapshot::take(&[&self.project, &home])?)
    }

    /// Runs git in a folder and returns what it printed.
    pub(crate) fn git(&self, folder: &Utf8Path, args: &[&str]) -> Result<String, Error> {
        let args: Vec<String> = args.iter().map(|&arg| arg.to_owned()).collect();
        let environment = &self.environment;
        let call = Call {
            program: "git",
            args: &args,
            folder,
            environment,
            stdin: "",
            limit: LIMIT,
        };
        let done = call.run()?;
        if !done.status.success() {
            let stderr = String::from_utf8_lossy(&done.stderr).trim().to_owned();
            return Err(Error::Git {
                args: args.join(" "),
                stderr,
            });
        }
        Ok(String::from_utf8_lossy(&done.stdout).into_owned())
    }

    /// Adds a variable to the environment of every command.
    pub(crate) fn set_variable(&mut self, name: &str, value: &str) {
        self.environment.insert(name.into(), value.into());
    }

    /// Gives the agent's folder of this project its real name.
    fn name_the_project(&self) -> io::Result<()> {
        let projects = self.home.join(".claude/projects");
        let spelled = projects.join(PROJECT_NAME);
        if spelled.is_dir() {
            fs_err::rename(spelled, projects.join(&self.encoded))?;
        }
        Ok(())
    }

    fn start_repository(&self, repository: &Repository) -> Result<(), Error> {
        let branch = match repository.branch.as_str() {
            "(detached)" => "main",
            named => named,
        };
        let init: &[&str] = &["init", "-q", "-b", branch];
        let commit: &[&str] = &["commit", "-q", "--allow-empty", "-m", "start"];
        let detach: &[&str] = &["checkout", "-q", "--detach"];
        let steps = match repository.git {
            Head::None => vec![],
            Head::Unborn => vec![init],
            Head::Branch => vec![init, commit],
            Head::Detached => vec![init, commit, detach],
        };
        for step in steps {
            self.git(&self.project, step)?;
        }
        Ok(())
    }

    /// Makes the project a repository whose first commit has its files.
    fn commit_all(&mut self, want: &Committed) -> Result<(), Error> {
        let folder = self.project.clone();
        self.git(&folder, &["init", "-q", "-b", "main"])?;
        let everything = [".".to_owned()];
        for path in want.commit.as_deref().unwrap_or(&everything) {
            self.git(&folder, &["add", "-f", "--", path])?;
        }
        let dates = ["GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE"];
        let usual = dates.map(|name| self.environment.get(OsStr::new(name)).cloned());
        if let Some(date) = &want.date {
            for name in dates {
                self.set_variable(name, date);
            }
        }
        self.git(&folder, &["commit", "-q", "--allow-empty", "-m", "start"])?;
        for (name, value) in dates.into_iter().zip(usual) {
            match value {
                Some(value) => self.environment.insert(name.into(), value),
                None => self.environment.remove(OsStr::new(name)),
            };
        }
        if want.branch != "main" {
            self.git(&folder, &["checkout", "-q", "-b", &want.branch])?;
        }
        if want.detached {
            self.git(&folder, &["checkout", "-q", "--detach"])?;
        }
        Ok(())
    }

    fn set_times(&self) -> Result<(), Error> {
        let Some(default) = &self.case.default_mtime else {
            return Ok(());
        };
        let usual = clock::instant(default, &self.case.tz)?;
        files_below(&self.project, &[], &mut |path, _| touch_at(path, usual))?;
        for (path, when) in &self.case.mtimes {
            touch_at(
                &self.project.join(path),
                clock::instant(when, &self.case.tz)?,
            )?;
        }
        Ok(())
    }
}

/// Sets the times of a file; its owner may do that to a file that is open for reading only.
pub(super) fn touch_at(path: &Utf8Path, at: SystemTime) -> io::Result<()> {
    let times = FileTimes::new().set_accessed(at).set_modified(at);
    fs_err::File::open(path)?.file().set_times(times)
}

/// Copies what stands below a folder, links as links; a folder that does not exist holds nothing.
pub(crate) fn copy_tree(from: &Utf8Path, to: &Utf8Path) -> io::Result<()> {
    if !from.is_dir() {
        return Ok(());
    }
    fs_err::create_dir_all(to)?;
    for entry in from.read_dir_utf8()? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        let kind = entry.file_type()?;
        if kind.is_symlink() {
            fs_err::os::unix::fs::symlink(entry.path().read_link_utf8()?, target)?;
        } else if kind.is_dir() {
            copy_tree(entry.path(), &target)?;
        } else {
            fs_err::copy(entry.path(), target)?;
        }
    }
    Ok(())
}
