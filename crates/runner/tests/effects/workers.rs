//! Workers that hold a task and are ended.

use std::fs;
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use libtest_mimic::Trial;
use rekindle_fs::{Lock, Occupancy};
use rekindle_model::Action;

use crate::scene::Scene;
use crate::trial;

const CLAIM: &str = ".rekindle/runs/kiln-teams-phase-1/P1-T01/2/claim";

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("a worker that holds a task is asked to end", || ends("")),
        trial("a worker that is stopped is ended too", || {
            ends("STOP");
        }),
        trial("a worker that does not listen is killed", || {
            ends("trap '' TERM");
        }),
        trial("a task that nobody holds is done", nobody),
        trial(
            "a number that another process has now says nothing of a free task",
            free_by_an_innocent,
        ),
    ]
}

/// The child that plays the worker: it takes the claim, says so, and waits.
pub(crate) fn hold(arguments: &[String]) -> ExitCode {
    let claim: &Utf8Path = arguments[0].as_str().into();
    let lock = Lock::acquire(claim, "P1-T01 attempt 2", "2026-01-20T12:00:00Z".to_owned());
    let _lock = lock.unwrap();
    // A worker that is stopped stops itself: until then nothing can be asked of it.
    if arguments.get(1).is_some_and(|how| how == "STOP") {
        let own = std::process::id().to_string();
        Command::new("kill").args(["-STOP", &own]).status().unwrap();
    }
    loop {
        std::thread::park();
    }
}

/// A worker that holds the task's newest claim.
pub(crate) struct Holder {
    process: Child,
    claim: Utf8PathBuf,
}

impl Holder {
    pub(crate) fn start(scene: &Scene, how: &str) -> Self {
        let claim = scene.project.join(CLAIM);
        fs::create_dir_all(claim.parent().unwrap()).unwrap();
        fs::create_dir_all(claim.parent().unwrap().with_file_name("1")).unwrap();
        let ignored = if how.starts_with("trap") { how } else { ":" };
        let mut process = Command::new("sh")
            .args(["-c", &format!("{ignored}; exec \"$@\""), "sh"])
            .arg(std::env::current_exe().unwrap())
            .args(["child", "hold", claim.as_str(), how])
            .args(["worker", claim.with_file_name("order.json").as_str()])
            .stdin(Stdio::null())
            .spawn()
            .unwrap();
        wait_until(&mut process, || {
            matches!(Lock::probe(&claim), Ok(Occupancy::Held(Some(_))))
        });
        Self { process, claim }
    }

    /// Kills it, so that it cannot take its name out of the claim.
    pub(crate) fn die(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }

    pub(crate) fn has_ended(&mut self) {
        assert_eq!(Lock::probe(&self.claim).unwrap(), Occupancy::Free);
        assert!(!self.process.wait().unwrap().success());
    }
}

fn ends(how: &str) {
    let scene = Scene::new(":", ":");
    let mut worker = Holder::start(&scene, how);
    let task = "P1-T01".to_owned();
    scene.apply(vec![Action::EndWorker { task }]).unwrap();
    worker.has_ended();
}

pub(crate) fn wait_until(worker: &mut Child, is_so: impl Fn() -> bool) {
    for _ in 0..2000 {
        if is_so() {
            return;
        }
        assert_eq!(worker.try_wait().unwrap(), None, "it ended by itself");
        std::thread::sleep(Duration::from_millis(5));
    }
    panic!("nothing happened");
}

fn nobody() {
    let scene = Scene::new(":", ":");
    for _ in 0..2 {
        let task = "P1-T01".to_owned();
        scene.apply(vec![Action::EndWorker { task }]).unwrap();
        // The second time, a worker has been there.
        let claim = scene.project.join(CLAIM);
        fs::create_dir_all(claim.parent().unwrap()).unwrap();
        fs::write(&claim, "").unwrap();
    }
}

/// A worker has died, and its number was given to another process.
fn free_by_an_innocent() {
    let scene = Scene::new(":", ":");
    let mut worker = Holder::start(&scene, "");
    let mut innocent = Innocent::start();
    innocent.is_named_by(&worker);
    worker.die();
    let task = "P1-T01".to_owned();
    scene.apply(vec![Action::EndWorker { task }]).unwrap();
    innocent.lives();
}

/// A process that has nothing to do with any of this; it ends when it is dropped.
pub(crate) struct Innocent(Child);

impl Innocent {
    pub(crate) fn start() -> Self {
        let mut process = Command::new("sh");
        process.args(["-c", "read _"]).stdin(Stdio::piped());
        Self(process.spawn().unwrap())
    }

    /// Lets the claim of a worker name this process by its number, with the start of another one.
    pub(crate) fn is_named_by(&self, worker: &Holder) {
        let text = fs::read_to_string(&worker.claim).unwrap();
        let mut holder: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert!(holder["process"]["start_time"].is_u64(), "{holder}");
        holder["process"]["pid"] = self.0.id().into();
        holder["process"]["start_time"] = 1.into();
        fs::write(&worker.claim, holder.to_string()).unwrap();
    }

    pub(crate) fn lives(&mut self) {
        assert_eq!(self.0.try_wait().unwrap(), None, "an innocent was ended");
    }
}

impl Drop for Innocent {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        self.0.wait().ok();
    }
}
