//! `rekindle prune`, end to end: what it lists, what it removes after a yes, and what it leaves.

#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "tests make the files they look at, and fail by panicking"
)]

use std::fs;

use rekindle_testkit::repository::{Project, WRITE, text};
use serde_json::Value;

const BINARY: &str = env!("CARGO_BIN_EXE_rekindle");
/// Runs of these tests are so old that their records count as old.
const OLD: (&str, &str) = ("REKINDLE_NOW", "2026-09-01T12:00:00Z");
const NOW: (&str, &str) = ("REKINDLE_NOW", "2026-11-15T12:00:00Z");

struct Scene {
    project: Project,
}

impl Scene {
    fn new() -> Self {
        let project = Project::new(BINARY);
        fs::write(project.path().join(".gitignore"), "/.agent-memory/\n").unwrap();
        project.git(&["add", ".gitignore"]);
        project.git(&["commit", "-qm", "ignore"]);
        project.plan("A");
        Self { project }
    }

    /// Runs the plan to its end with an agent; returns the name of the run.
    fn run(&self, agent: &str, at: (&str, &str)) -> String {
        let before = self.runs();
        let words = [
            "run",
            "plan.json",
            "--yes",
            "--retries",
            "0",
            "--agent-cmd",
            agent,
        ];
        let ran = self
            .project
            .command(&words)
            .env(at.0, at.1)
            .output()
            .unwrap();
        let mut runs = self.runs();
        runs.retain(|run| !before.contains(run));
        assert_eq!(runs.len(), 1, "{}", text(&ran.stderr));
        runs.remove(0)
    }

    fn runs(&self) -> Vec<String> {
        let runs = fs::read_dir(self.project.path().join(".agent-memory/runs"));
        let names = runs.into_iter().flatten();
        names
            .map(|run| run.unwrap().file_name().into_string().unwrap())
            .collect()
    }

    fn prune(&self, words: &[&str]) -> (i32, String, String) {
        let mut command = self.project.command(&[&["prune"], words].concat());
        let output = command.env(NOW.0, NOW.1).output().unwrap();
        let code = output.status.code().unwrap();
        (code, text(&output.stdout), text(&output.stderr))
    }

    fn refs(&self, below: &str) -> Vec<String> {
        let refs = self
            .project
            .git(&["for-each-ref", "--format=%(refname)", below]);
        refs.lines().map(str::to_owned).collect()
    }

    fn has_records(&self, run: &str) -> bool {
        let ours = self.project.path().join(".rekindle");
        let records = [
            format!("runs/agent-memory-{run}"),
            format!("journal/agent-memory-{run}.jsonl"),
            format!("agreed/agent-memory-{run}.json"),
        ];
        records.iter().any(|record| ours.join(record).exists())
    }
}

#[test]
fn finished_and_merged_work_goes_after_a_yes_and_the_rest_stays() {
    let scene = Scene::new();
    let merged = scene.run(WRITE, OLD);
    let branch = format!("rekindle/{merged}");
    scene.project.git(&["merge", "-q", &branch]);
    let tip = scene.project.git(&["rev-parse", &branch]);
    let unmerged = scene.run("echo other > other.txt", OLD);
    let young = scene.run("echo young > young.txt", NOW);
    let young_branch = format!("rekindle/{young}");
    scene.project.git(&["merge", "-q", &young_branch]);
    let blocked = scene.run("exit 1", OLD);

    let (code, _, asked) = scene.prune(&[]);
    assert_eq!(code, 3, "{asked}");
    for wanted in [
        format!("run     agent-memory:{merged}: 75 days old"),
        format!("branch  {branch}: merged into `main`"),
        format!("branch  {young_branch}: merged into `main`"),
        "with what agents and checks printed".to_owned(),
        "`--yes`".to_owned(),
    ] {
        assert!(asked.contains(&wanted), "{wanted}: {asked}");
    }
    for unwanted in [&unmerged, &blocked, &format!("agent-memory:{young}")] {
        assert!(!asked.contains(unwanted), "{unwanted}: {asked}");
    }
    assert!(scene.has_records(&merged), "{asked}");

    let (code, removed, said) = scene.prune(&["--yes"]);
    assert_eq!(code, 0, "{said}");
    let removed_branch = format!("removed branch {branch} (was at {})", &tip[..12]);
    assert!(removed.contains(&removed_branch), "{removed}");
    let kept = format!("kept branch rekindle/{unmerged}: not merged");
    assert!(removed.contains(&kept), "{removed}");
    let kept = format!("its branch `rekindle/{unmerged}` is not merged");
    assert!(removed.contains(&kept), "{removed}");
    assert!(said.contains("`rekindle prune NAME`"), "{said}");
    assert!(!scene.has_records(&merged));
    assert!(scene.has_records(&young) && scene.has_records(&unmerged));
    let mut runs = scene.runs();
    runs.sort();
    let mut left = vec![unmerged.clone(), young, blocked.clone()];
    left.sort();
    assert_eq!(runs, left);
    let heads = scene.refs("refs/heads/rekindle");
    let mut left = [unmerged, blocked].map(|run| format!("refs/heads/rekindle/{run}"));
    left.sort();
    assert_eq!(heads, left);
    let (code, removed, _) = scene.prune(&[]);
    assert_eq!(code, 0, "{removed}");
}

#[test]
fn what_is_not_merged_goes_by_its_name_and_what_is_in_use_never() {
    let scene = Scene::new();
    let unmerged = scene.run(WRITE, NOW);
    let branch = format!("rekindle/{unmerged}");
    let (code, _, asked) = scene.prune(&[&branch]);
    assert_eq!(code, 3, "{asked}");
    assert!(asked.contains("not merged"), "{asked}");
    let (code, removed, said) = scene.prune(&[&branch, &unmerged, "--yes"]);
    assert_eq!(code, 0, "{said}");
    assert_eq!(removed.matches("removed ").count(), 2, "{removed}");
    assert_eq!(scene.refs("refs/heads/rekindle"), [""; 0]);
    assert_eq!(scene.runs(), [""; 0]);

    let blocked = scene.run("exit 1", OLD);
    let branch = format!("rekindle/{blocked}");
    let (code, _, said) = scene.prune(&[&branch, "--yes"]);
    assert_eq!(code, 1, "{said}");
    assert!(said.contains("its run is not finished"), "{said}");
    let open = scene.run(WRITE, OLD);
    let branch = format!("rekindle/{open}");
    scene.project.git(&["checkout", "-q", &branch]);
    let (code, _, said) = scene.prune(&[&branch, "--yes"]);
    assert_eq!(code, 1, "{said}");
    assert!(said.contains("it is checked out"), "{said}");
    let (code, _, said) = scene.prune(&["main", "--yes"]);
    assert_eq!(code, 1, "{said}");
    assert!(said.contains("`main` cannot be pruned"), "{said}");
    assert!(scene.refs("refs/heads/main").len() == 1);
}

/// Leaves a rescue of a task that failed after it wrote a file, in a run that is cancelled.
fn rescued(scene: &Scene, contents: &str) -> String {
    let before = scene.refs("refs/rekindle/rescue");
    let run = scene.run(&format!("printf '{contents}' > kept.txt; exit 1"), OLD);
    scene.project.rekindle(&["cancel", &run, "--yes"]);
    scene.project.rekindle(&["clean", "--yes"]);
    let mut after = scene.refs("refs/rekindle/rescue");
    after.retain(|name| !before.contains(name));
    assert_eq!(after.len(), 1, "{after:?}");
    let name = after.remove(0);
    name.trim_start_matches("refs/rekindle/rescue/").to_owned()
}

#[test]
fn a_rescue_goes_when_all_of_it_has_landed_or_when_it_is_old() {
    let scene = Scene::new();
    let landed = rescued(&scene, "the same");
    let other = rescued(&scene, "something else");
    fs::write(scene.project.path().join("kept.txt"), "the same").unwrap();
    scene.project.git(&["add", "kept.txt"]);
    scene.project.git(&["commit", "-qm", "by hand"]);
    // The commits of rescues have the time of the system's clock, so they are young.
    let list = |words: &[&str]| {
        let output = scene
            .project
            .rekindle(&[&["prune", "--json", "--yes"], words].concat());
        let object: Value = serde_json::from_slice(&output.stdout).unwrap();
        let names = |key: &str| -> Vec<String> {
            let list = object[key].as_array().unwrap().iter();
            let rescues = list.filter(|one| one["kind"] == "backup");
            rescues
                .map(|one| one["name"].as_str().unwrap().to_owned())
                .collect()
        };
        (names("removed"), names("kept"))
    };
    assert_eq!(list(&[]), (vec![landed], vec![other.clone()]));
    assert_eq!(list(&["--older-than", "1h"]), (vec![], vec![other.clone()]));
    let (code, removed, said) = scene.prune(&[&other, "--yes"]);
    assert_eq!(code, 0, "{said}");
    assert!(
        removed.contains(&format!("removed backup {other}")),
        "{removed}"
    );
    let old = rescued(&scene, "old");
    let later = scene
        .project
        .command(&["prune", "--yes"])
        .env("REKINDLE_NOW", "2099-01-01T00:00:00Z")
        .output()
        .unwrap();
    let removed = text(&later.stdout);
    assert!(
        removed.contains(&format!("removed backup {old}")),
        "{removed}"
    );
    assert_eq!(scene.refs("refs/rekindle/rescue"), [""; 0]);
}

#[test]
fn a_run_that_git_tracks_keeps_its_folder_and_a_link_is_not_followed() {
    let scene = Scene::new();
    let tracked = scene.run(WRITE, OLD);
    let folder = format!(".agent-memory/runs/{tracked}");
    scene.project.git(&["add", "-f", &folder]);
    scene.project.git(&["commit", "-qm", "track"]);
    scene
        .project
        .git(&["merge", "-q", "-m", "m", &format!("rekindle/{tracked}")]);
    let linked = scene.run("echo other > other.txt", OLD);
    scene
        .project
        .git(&["merge", "-q", "-m", "m", &format!("rekindle/{linked}")]);
    let elsewhere = tempfile::tempdir().unwrap();
    let place = scene
        .project
        .path()
        .join(".agent-memory/runs")
        .join(&linked);
    let moved = elsewhere.path().join("run");
    assert!(
        scene
            .project
            .shell(&format!(
                "mv {0} {1} && ln -s {1} {0}",
                place.display(),
                moved.display()
            ))
            .status
            .success()
    );
    let (_, removed, said) = scene.prune(&["--yes"]);
    assert!(
        scene.project.path().join(&folder).exists(),
        "{removed}{said}"
    );
    assert!(!scene.has_records(&tracked), "{removed}{said}");
    assert!(moved.join("rekindle-run.json").exists(), "{removed}{said}");
}
