//! Each fault of a run is found, and a good run has none.

use std::process::Command;
use std::time::Duration;

use camino::Utf8Path;
use rekindle_wire::torture::Tortured;

use super::*;
use crate::scene::tests::{land, scene_of};

/// What `rekindle inspect --json` says of a run that is complete.
const COMPLETE: &str = r#"{"facts":{"incomplete":[],"runs":{"R":{"findings":["STALE_RUN"]}}}}"#;

fn says(answer: &str) -> Scene {
    scene_of(&format!("echo '{answer}'"), Duration::MAX)
}

/// A scene in which both tasks have landed, each with the line that its agent wrote down.
fn good() -> (Scene, String) {
    good_that_says(COMPLETE)
}

fn good_that_says(answer: &str) -> (Scene, String) {
    let scene = says(answer);
    git(
        &scene.project(),
        &["checkout", "-q", "-b", "rekindle-torture"],
    )
    .unwrap();
    for task in ["T001", "T002"] {
        write_down(&scene, &format!("{task} 1 7"));
        land(
            &scene,
            task,
            &[(".txt", "done\n"), (".log", &format!("{task} 1 7\n"))],
        );
    }
    let undisturbed = scene.results().unwrap();
    (scene, undisturbed)
}

fn write_down(scene: &Scene, mark: &str) {
    let before = scene.ledger().unwrap();
    let ledger = scene.project().with_file_name(agent::LEDGER);
    std::fs::write(ledger, format!("{before}{mark}\n")).unwrap();
}

fn checked(scene: &Scene, undisturbed: &str, tally: &Tally) -> (Score, Vec<String>) {
    let made = Tortured::Made {
        because: String::new(),
    };
    let mut score = Score::new(1, 1, made);
    let nobody = Interruption::default();
    let wrong = check(scene, &nobody, undisturbed, tally, &mut score).unwrap();
    (score, wrong)
}

/// Puts a fault into a good scene; returns what is found.
fn with_fault(fault: impl FnOnce(&Scene)) -> (Score, Vec<String>) {
    let (scene, undisturbed) = good();
    fault(&scene);
    checked(&scene, &undisturbed, &Tally::default())
}

#[test]
fn a_good_run_has_no_faults() {
    let (score, wrong) = with_fault(|_| {});
    assert_eq!(wrong, [""; 0]);
    let counts = [
        score.landed_twice,
        score.lost,
        score.bytes_lost,
        score.processes_left,
        score.worktrees_leaked,
        score.never_ended,
    ];
    assert_eq!(counts, [0; 6]);
}

#[test]
fn a_run_that_never_ends_is_found() {
    let (scene, undisturbed) = good();
    let tally = Tally {
        stuck: Some("it hangs\n".to_owned()),
        ..Tally::default()
    };
    let (score, wrong) = checked(&scene, &undisturbed, &tally);
    assert_eq!(score.never_ended, 1);
    assert_eq!(wrong, ["the run did not finish: it hangs"]);
}

#[test]
fn a_task_that_landed_twice_is_found() {
    let (score, wrong) = with_fault(|scene| land(scene, "T001", &[]));
    assert_eq!(score.landed_twice, 1);
    assert_eq!(wrong, ["T001 has landed 2 times"]);
}

/// Files in a later commit do not replace the missing commit.
#[test]
fn a_task_that_has_not_landed_is_found() {
    let (score, wrong) = with_fault(|scene| {
        let message = "Everything\n\nRekindle-Task: T001\nRekindle-Attempt: 1\n";
        let project = scene.project();
        git(&project, &["reset", "-q", "--soft", "HEAD~2"]).unwrap();
        git(&project, &["commit", "-q", "-m", message]).unwrap();
    });
    assert_eq!(score.lost, 1);
    assert_eq!(wrong, ["T002 has not landed"]);
}

#[test]
fn a_tree_that_differs_is_found() {
    let differs = ["the branch differs from that of an undisturbed run"];
    let amended = |suffix: &'static str| {
        with_fault(move |scene| {
            let file = format!("{}/T002{suffix}", agent::FOLDER);
            std::fs::write(scene.project().join(&file), "T002 1 7\nhalf\n").unwrap();
            git(&scene.project(), &["add", "--", &file]).unwrap();
            git(&scene.project(), &["commit", "-q", "--amend", "--no-edit"]).unwrap();
        })
        .1
    };
    assert_eq!(amended(".txt"), differs);
    assert_eq!(amended(".other"), differs);
    // No two runs have the same process ids in there.
    assert_eq!(amended(".log"), [""; 0]);
}

#[test]
fn lost_work_is_found_and_counted_in_bytes() {
    let (score, wrong) = with_fault(|scene| write_down(scene, "T002 2 8"));
    assert_eq!(score.bytes_lost, "T002 2 8\n".len());
    assert_eq!(wrong, ["the work of `T002 2 8` is lost"]);
    let (score, wrong) = with_fault(|scene| {
        write_down(scene, "T002 2 8");
        let project = scene.project();
        land(scene, "T002", &[(".log", "T002 2 8\n")]);
        let rescue = "refs/rekindle/rescue/R/T002/1";
        git(&project, &["update-ref", rescue, "HEAD"]).unwrap();
        git(&project, &["reset", "-q", "--hard", "HEAD^"]).unwrap();
    });
    assert_eq!((score.bytes_lost, wrong), (0, Vec::new()), "it is kept");
}

#[test]
fn a_remaining_process_is_found() {
    let (scene, undisturbed) = good();
    let mut sleep = Command::new("sleep");
    let mut left = sleep
        .arg("1000")
        .env(processes::MARK, scene.mark())
        .spawn()
        .unwrap();
    let (score, wrong) = checked(&scene, &undisturbed, &Tally::default());
    assert_eq!(score.processes_left, 1);
    let described = format!(
        "processes are still running (1): process {} `sleep 1000`",
        left.id()
    );
    assert_eq!(wrong, [described]);
    drop(scene);
    left.wait().unwrap();
}

#[test]
fn a_remaining_worktree_is_found_whether_registered_or_not() {
    let folder = |scene: &Scene, name: &str| {
        let project = scene.project().canonicalize_utf8().unwrap();
        project.join(".rekindle/worktrees/R").join(name)
    };
    let known = |scene: &Scene, path: &Utf8Path| {
        let arguments = ["worktree", "add", "-q", "--detach", path.as_str()];
        git(&scene.project(), &arguments).unwrap();
    };
    let (scene, undisturbed) = good();
    let (inside, aside) = (folder(&scene, "T001"), folder(&scene, "T001.left-1"));
    let outside = scene.project().canonicalize_utf8().unwrap();
    let outside = outside.with_file_name("elsewhere");
    known(&scene, &inside);
    known(&scene, &outside);
    std::fs::create_dir(&aside).unwrap();
    let (score, wrong) = checked(&scene, &undisturbed, &Tally::default());
    assert_eq!(score.worktrees_leaked, 3);
    assert_eq!(
        wrong,
        [
            format!("the worktree `{outside}` was not removed"),
            format!("the worktree `{inside}` was not removed"),
            format!("the folder `{aside}` was not removed, and git does not know it as a worktree"),
        ]
    );
}

#[test]
fn the_ref_of_work_that_has_landed_is_found() {
    let (score, wrong) = with_fault(|scene| {
        let work = "refs/rekindle/work/R/T001/1";
        git(&scene.project(), &["update-ref", work, "HEAD"]).unwrap();
    });
    assert_eq!(score.worktrees_leaked, 1);
    assert_eq!(
        wrong,
        ["`refs/rekindle/work/R/T001/1` was not removed, although its work has landed"]
    );
    let (_, wrong) = with_fault(|scene| {
        let work = "refs/rekindle/work/R/T001/2";
        git(&scene.project(), &["update-ref", work, "HEAD"]).unwrap();
    });
    assert_eq!(
        wrong, [""; 0],
        "nothing else may keep the work of another attempt"
    );
}

#[test]
fn damaged_logs_and_open_runs_are_found() {
    let found = |answer: &str| books(&says(answer), &Interruption::default()).unwrap();
    assert_eq!(found(COMPLETE), [""; 0]);
    for damage in [
        "CONCATENATED_JSON_RECOVERED",
        "CORRUPT_LINE",
        "INVALID_UTF8",
        "MULTILINE_JSON_RECOVERED",
        "TRUNCATED_LINE",
    ] {
        let answer = COMPLETE.replace("STALE_RUN", damage);
        let wrong = format!("a log of the run `R` is damaged: {damage}");
        assert_eq!(found(&answer), [wrong]);
    }
    let open = ["rekindle does not report the run as complete"];
    assert_eq!(found(&COMPLETE.replace("[]", "[\"R\"]")), open);
    assert_eq!(found(r#"{"facts":{"incomplete":[],"runs":{}}}"#), open);
    let (scene, undisturbed) = good_that_says(&COMPLETE.replace("[]", "[\"R\"]"));
    let (_, wrong) = checked(&scene, &undisturbed, &Tally::default());
    assert_eq!(wrong, open);
}

#[test]
fn a_failing_inspect_is_found() {
    let found = |script: &str, limit: Duration| {
        let scene = scene_of(script, limit);
        let wrong = books(&scene, &Interruption::default()).unwrap();
        assert_eq!(wrong.len(), 1, "{wrong:?}");
        wrong[0].clone()
    };
    let begin = "`rekindle inspect --json` gave no answer: ";
    for script in [
        "echo no",
        "echo no >&2; exit 1",
        &format!("echo '{COMPLETE}'; echo no >&2; exit 1"),
    ] {
        let said = found(script, Duration::MAX);
        assert!(said.starts_with(begin) && said.ends_with("no"), "{said}");
    }
    let said = found("exec sleep 1000", Duration::ZERO);
    assert!(
        said.starts_with(&format!("{begin}it did not end ")),
        "{said}"
    );
}
