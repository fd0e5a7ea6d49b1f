//! Edits and moved folders, and what a journal of somebody else's may not do.

use std::fs;

use libtest_mimic::Trial;
use rekindle_model::Action;
use rekindle_runner::{Error, Recovered};

use crate::scene::Scene;
use crate::trial;

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("an edit changes what was read and nothing else", an_edit),
        trial("an edit reaches only what the protocol owns", confined),
        trial("a folder moves near and far", a_moved_folder),
        trial(
            "a moved folder that is there already is kept where it differs",
            both_are_kept,
        ),
        trial(
            "what was begun and can not be finished is left alone",
            superseded,
        ),
    ]
}

fn edit(path: &str, before: &[u8], after: &[u8]) -> Action {
    Action::Edit {
        path: path.into(),
        before: before.to_vec(),
        after: after.to_vec(),
    }
}

fn an_edit() {
    let scene = Scene::new("mkdir .kiln", ":");
    let file = scene.project.join(".kiln/STATE.md");
    let name = ".kiln/STATE.md";
    for (before, after) in [
        (&b"\xff\r\n"[..], &b"\xfe\r\n"[..]),
        (b"", b"x"),
        (b"x", b""),
    ] {
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, before).unwrap();
        scene.apply(vec![edit(name, before, after)]).unwrap();
        assert_eq!(fs::read(&file).unwrap(), after);
        // It is so already.
        scene.apply(vec![edit(name, before, after)]).unwrap();
        fs::write(&file, "third").unwrap();
        let error = scene.apply(vec![edit(name, before, after)]).unwrap_err();
        assert!(matches!(error, Error::Changed { .. }), "{error}");
        assert!(error.hint().unwrap().contains("again"));
        assert_eq!(fs::read(&file).unwrap(), b"third");
    }
    fs::remove_file(&file).unwrap();
    let error = scene.apply(vec![edit(name, b"x", b"y")]).unwrap_err();
    assert!(matches!(error, Error::Changed { .. }), "{error}");
    assert!(!file.exists());
}

fn confined() {
    let scene = Scene::new(":", ":");
    let inside = scene.worktree.join("task.json");
    fs::write(&inside, "1").unwrap();
    scene
        .apply(vec![edit(inside.as_str(), b"1", b"2")])
        .unwrap();
    assert_eq!(fs::read(&inside).unwrap(), b"2");
    let outside = scene.root.join("outside");
    fs::write(&outside, "1").unwrap();
    std::os::unix::fs::symlink(&outside, scene.worktree.join("link")).unwrap();
    let config = fs::read(scene.top().join(".git/config")).unwrap();
    for path in [
        outside.as_str(),
        scene.worktree.join("link").as_str(),
        "../outside",
    ] {
        let error = scene.apply(vec![edit(path, b"1", b"2")]).unwrap_err();
        assert!(matches!(error, Error::Files(_)), "{path}: {error}");
        // What is in a journal is held to the same.
        let error = scene.apply(Vec::new()).unwrap_err();
        assert!(matches!(error, Error::Files(_)), "{path}: {error}");
        fs::remove_dir_all(scene.project.join(".rekindle/journal")).unwrap();
    }
    let error = scene
        .apply(vec![edit(".git/config", &config, b"")])
        .unwrap_err();
    assert!(matches!(error, Error::GitsOwn { .. }), "{error}");
    assert_eq!(fs::read(outside).unwrap(), b"1");
}

fn a_moved_folder() {
    let scene = Scene::new(":", ":");
    let far = scene.worktree.join(".kiln-artifacts/P1-T01");
    let to = scene.project.join(".kiln/tracks/phase-1/artifacts/P1-T01");
    let before = crate::scene::files(&far);
    let there_and_back = [
        (far.as_str(), ".kiln/tracks/phase-1/artifacts/P1-T01"),
        (".kiln/tracks/phase-1/artifacts/P1-T01", ".kiln/near"),
        (".kiln/near", far.as_str()),
        (far.as_str(), ".kiln/tracks/phase-1/artifacts/P1-T01"),
    ];
    for (from, to) in there_and_back {
        let step = Action::MoveFolder {
            from: from.into(),
            to: to.into(),
        };
        scene.apply(vec![step.clone()]).unwrap();
        // It is there already.
        scene.apply(vec![step]).unwrap();
    }
    assert_eq!(crate::scene::files(&to), before);
    assert!(!far.exists() && far.parent().unwrap().exists());
    let step = Action::MoveFolder {
        from: "no".into(),
        to: "where".into(),
    };
    let error = scene.apply(vec![step]).unwrap_err();
    assert!(matches!(error, Error::NoFolder { .. }), "{error}");
}

fn both_are_kept() {
    let scene = Scene::new(":", ":");
    let far = scene.worktree.join(".kiln-artifacts/P1-T01");
    let to = scene.project.join(".kiln/artifacts");
    fs::create_dir_all(&to).unwrap();
    fs::write(to.join("changed_ops.json"), "another").unwrap();
    let before = (crate::scene::files(&far), crate::scene::files(&to));
    let step = Action::MoveFolder {
        from: far.clone(),
        to: ".kiln/artifacts".into(),
    };
    scene.apply(vec![step]).unwrap();
    assert_eq!(
        (crate::scene::files(&far), crate::scene::files(&to)),
        before
    );
}

/// A runner of before has written its intent and nothing else; then the world moved.
fn superseded() {
    let scene = Scene::new(
        "mkdir .kiln; printf 'before\\r\\n' > .kiln/STATE.md",
        "echo n > n",
    );
    let folder = scene.project.join(".rekindle");
    let landing = scene.landing();
    let steps = vec![
        Action::Land(landing),
        edit(".kiln/STATE.md", b"before\r\n", b"after\r\n"),
    ];
    // A git that is not there ends it after the intent, as a death would.
    scene.apply_with(steps, "/nowhere".into()).unwrap_err();
    assert!(folder.exists());
    scene.shell(&scene.worktree, "echo more >> n");
    let recovered = scene.apply(Vec::new()).unwrap();
    let expected = Recovered {
        superseded: 2,
        ..Recovered::default()
    };
    assert_eq!(recovered, expected);
    assert_eq!(scene.git("log --format=%s"), "base\n");
    assert_eq!(
        fs::read(scene.project.join(".kiln/STATE.md")).unwrap(),
        b"before\r\n"
    );
    // It is over: nothing is left to resume.
    assert_eq!(scene.apply(Vec::new()).unwrap(), Recovered::default());
}
