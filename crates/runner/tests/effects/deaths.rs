//! Dies at every point of every effect, at every passing of it, and continues.

use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Output, Stdio};

use libtest_mimic::Trial;
use rekindle_runner::crash_places;
use rekindle_testkit::deaths::DIED_AT_IN_EFFECTS;

use crate::scene::{Files, SUBJECT, Scene, files, text};
use crate::trial;
use crate::workers::{Holder, Innocent, wait_until};

const ABORTED: i32 = 6;
/// More often than any point is passed in the story.
const MOST_PASSINGS: usize = 40;
/// This one is passed only by a runner that recovers.
const ONLY_AGAIN: &str = "after-repeat";

const BASE: &str =
    "mkdir -p .kiln/near d/deep gone; printf 'before\\r\\n' > .kiln/STATE.md; echo n > .kiln/near/n; echo old > .kiln/old.md
    echo a > a; echo b > d/b; echo c > d/deep/c; echo g > gone/g; echo f > f; echo x > x; ln -s a l
    printf '*.crlf text eol=crlf\\n' > .gitattributes; printf 'one\\r\\n' > w.crlf";

/// All kinds of change; the folder that becomes a file still holds an empty one in the project.
const WORK: &str = "echo aa > a; rm -r d gone; echo d > d; rm f; mkdir f; echo g > f/g; chmod +x x
    ln -sfn x l; ln -s nowhere m; echo n > n; echo '*.crlf -text' > .gitattributes; printf 'two\\r\\n' > w.crlf";

pub(crate) fn trials() -> Vec<Trial> {
    points()
        .map(|point| {
            trial(&format!("a death {point} leaves no trace"), move || {
                if point.contains("end-worker") {
                    dies_over_a_worker(point);
                } else {
                    dies_at_every_passing(point);
                }
            })
        })
        .chain([
            trial("a death of the recovery leaves no trace either", || {
                assert!(dies_twice("land-before-remove:2", ONLY_AGAIN, &calm()));
            }),
            trial(
                "a number that another process has now is not ended",
                spares_an_innocent,
            ),
        ])
        .collect()
}

/// Returns the points inside of effects, which a first runner passes, and whatever else is died at
/// nowhere but here.
fn points() -> impl Iterator<Item = &'static str> {
    let within = ["move-", "land-", "fs-make-link"];
    let is_within = move |point: &str| within.iter().any(|start| point.starts_with(start));
    crash_places().filter(move |point| is_within(point) || DIED_AT_IN_EFFECTS.contains(point))
}

/// What a story comes to.
type End = (String, Files, Files);

fn scene() -> Scene {
    let scene = Scene::new(BASE, WORK);
    scene.shell(&scene.top(), "mkdir -p d/empty/er");
    scene
}

fn end(scene: &Scene) -> End {
    (scene.history(), scene.files(), files(&scene.worktree))
}

fn calm() -> End {
    let scene = scene();
    let ran = scene.child("apply", None);
    assert!(ran.status.success(), "{}", text(&ran));
    let end = end(&scene);
    assert!(end.0.starts_with(SUBJECT), "{}", end.0);
    let state = end.1.get(Path::new(".kiln/STATE.md")).map(String::as_str);
    assert_eq!(state, Some("0 after\\r\\n"));
    let moved = ".kiln/tracks/phase-1/artifacts/P1-T01/verify/log";
    assert!(end.1.contains_key(Path::new(moved)));
    end
}

fn has_died(ran: &Output) -> bool {
    let died = ran.status.signal() == Some(ABORTED);
    assert!(died || ran.status.success(), "{}", text(ran));
    died
}

fn dies_at_every_passing(point: &str) {
    let calm = calm();
    for nth in 1..MOST_PASSINGS {
        let place = format!("{point}:{nth}");
        // The same plan is finished from the journal.
        let story = scene();
        if !has_died(&story.child("apply", Some(&place))) {
            assert!(nth > 1, "{point} is never reached");
            assert_eq!(end(&story), calm, "{place}");
            return;
        }
        assert!(!has_died(&story.child("recover", None)));
        assert_eq!(end(&story), calm, "{place}");
        // The journal is lost, and the same plan is made again.
        let story = scene();
        assert!(has_died(&story.child("apply", Some(&place))));
        story.shell(&story.project, "rm -r .rekindle");
        assert!(!has_died(&story.child("apply", None)));
        assert_eq!(end(&story), calm, "{place} without a journal");
        // The recovery dies too: at the same place, and at another each time.
        let all: Vec<&str> = points().chain([ONLY_AGAIN]).collect();
        let other = all[(nth * 7 + point.len()) % all.len()];
        for again in [point, other] {
            dies_twice(&place, again, &calm);
        }
    }
    panic!("{point} is passed more than {MOST_PASSINGS} times");
}

/// Returns whether it died the second time, too.
fn dies_twice(place: &str, again: &str, calm: &End) -> bool {
    let story = scene();
    assert!(has_died(&story.child("apply", Some(place))));
    let died = has_died(&story.child("recover", Some(again)));
    assert!(!has_died(&story.child("recover", None)));
    assert_eq!(end(&story), *calm, "{place}, then {again}");
    died
}

fn dies_over_a_worker(point: &str) {
    let scene = Scene::new(":", ":");
    let mut worker = Holder::start(&scene, "");
    assert!(has_died(&scene.child("end", Some(point))));
    assert!(!has_died(&scene.child("recover", None)));
    worker.has_ended();
}

/// The claim is held, but by the text in it the holder is a process that got the number of another.
fn spares_an_innocent() {
    let scene = Scene::new(":", ":");
    let mut worker = Holder::start(&scene, "");
    let mut innocent = Innocent::start();
    innocent.is_named_by(&worker);
    let notes = scene.root.join("notes");
    let mut command = scene.child_command("end", None);
    command.env("REKINDLE_POINTS", &notes);
    let mut ending = command.stderr(Stdio::piped()).spawn().unwrap();
    let noted = "end-worker-before-term";
    wait_until(&mut ending, || {
        fs::read_to_string(&notes).is_ok_and(|notes| notes.contains(noted))
    });
    // It has looked, sent what it would send, and waits.
    let stat = format!("/proc/{}/stat", ending.id());
    wait_until(&mut ending, || {
        fs::read_to_string(&stat).is_ok_and(|stat| stat.contains(") S "))
    });
    worker.die();
    let ended = ending.wait_with_output().unwrap();
    assert!(ended.status.success(), "{}", text(&ended));
    innocent.lives();
}
