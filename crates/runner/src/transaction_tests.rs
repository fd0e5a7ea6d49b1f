use std::os::unix::fs::symlink;

use super::*;

struct Scene {
    _folder: tempfile::TempDir,
    project: Utf8PathBuf,
}

impl Scene {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let project = Utf8PathBuf::try_from(folder.path().canonicalize().unwrap()).unwrap();
        let project = project.join("project");
        rekindle_fs::create(&project.join("old"), b"before").unwrap();
        rekindle_fs::ensure_dir(&project.join("../outside")).unwrap();
        Self {
            _folder: folder,
            project,
        }
    }

    fn open(&self) -> Result<Transaction, Error> {
        let now = Timestamp::UNIX_EPOCH;
        let path = std::ffi::OsStr::new("");
        Transaction::open(
            &self.state(),
            path,
            "x",
            "a test",
            now,
            "foreign.lock".into(),
        )
    }

    fn state(&self) -> StateFolder {
        StateFolder::of(&self.project, Some(&self.project.join("../keys/key")), &[])
    }

    fn redo(&self) -> Utf8PathBuf {
        self.state().redo("x")
    }

    /// Everything in the project but rekindle's own files.
    fn files(&self) -> Vec<(String, Vec<u8>)> {
        let names = self.project.read_dir_utf8().unwrap();
        let names = names.map(|entry| entry.unwrap().into_path());
        let mut files: Vec<_> = names
            .filter(|path| path.is_file())
            .map(|path| {
                let name = path.file_name().unwrap().to_owned();
                (name, fs_err::read(&path).unwrap())
            })
            .collect();
        files.sort();
        files
    }
}

fn create(path: &str) -> Action {
    Action::Create {
        path: path.into(),
        contents: b"new".to_vec(),
    }
}

fn edit(before: &str) -> Action {
    Action::Edit {
        path: "old".into(),
        before: before.into(),
        after: b"after".to_vec(),
    }
}

fn move_file(from: &str, to: &str, contents: &str) -> Action {
    Action::MoveFile {
        from: from.into(),
        to: to.into(),
        contents: contents.into(),
    }
}

#[test]
fn a_command_that_failed_leaves_everything_as_it_was_and_is_not_carried_out_later() {
    let long = format!("folder/{}", "x".repeat(300));
    let failing = [
        ("a file that changed", edit("other")),
        ("a file that is there", create("old")),
        ("a name that is too long", create(&long)),
        ("a path that leads out", create("../outside/x")),
        (
            "a file that is gone",
            move_file("nothing", "something", "x"),
        ),
        ("a name that is taken", move_file("moved", "old", "x")),
    ];
    for (what, last) in failing {
        let scene = Scene::new();
        let before = scene.files();
        let transaction = scene.open().unwrap();
        let actions = [
            create("a"),
            edit("before"),
            move_file("old", "moved", "after"),
        ];
        let actions: Vec<Action> = actions.into_iter().chain([last]).collect();
        // Where the state was moved away the last one must fail for another reason than before.
        let actions = match what {
            "a file that is there" | "a name that is taken" => {
                vec![actions[0].clone(), actions[1].clone(), actions[3].clone()]
            }
            _ => actions,
        };
        transaction.commit(&actions).unwrap_err();
        assert_eq!(scene.files(), before, "{what}");
        drop(transaction);
        scene.open().unwrap();
        assert_eq!(scene.files(), before, "{what}, later");
        assert!(!scene.redo().exists(), "{what}");
    }
}

#[test]
fn paths_are_looked_at_before_anything_is_recorded() {
    let scene = Scene::new();
    symlink("../outside", scene.project.join("link")).unwrap();
    let transaction = scene.open().unwrap();
    let refused = transaction.commit(&[create("a"), create("link/x")]);
    assert!(matches!(
        refused,
        Err(Error::Files(rekindle_fs::Error::Outside { .. }))
    ));
    assert!(!scene.redo().parent().unwrap().exists());
}

#[test]
fn what_somebody_wrote_meanwhile_is_not_taken_back() {
    let scene = Scene::new();
    let transaction = scene.open().unwrap();
    let actions = [create("a")];
    transaction.commit(&actions).unwrap();
    let path = scene.project.join("a");
    rekindle_fs::replace(&path, &Content::of(b"new"), b"theirs").unwrap();
    let error = transaction.give_up(&actions, Error::NoBranch, b"");
    assert!(
        !matches!(error, Error::HalfDone { .. }),
        "a refusal did nothing"
    );
    let failure = || Error::Runtime(std::io::ErrorKind::StorageFull.into());
    let error = transaction.give_up(&actions, failure(), b"");
    assert!(matches!(error, Error::HalfDone { .. }), "{error}");
    assert_eq!(fs_err::read(path).unwrap(), b"theirs");
}

fn died(scene: &Scene, actions: &[Action]) {
    put(scene, &scene.state(), &pending(actions));
}

fn pending(actions: &[Action]) -> String {
    let pending = Pending {
        v: Pending::VERSION,
        seal: String::new(),
        effects: actions.iter().map(effects::written).collect(),
    };
    serde_json::to_string(&pending).unwrap()
}

/// Writes a record with a valid seal of this folder.
fn put(scene: &Scene, writer: &StateFolder, text: &str) {
    let place = writer.redo("x");
    let text = writer.sealing(&place).unwrap().stamp(text);
    rekindle_fs::create(&scene.redo(), text.as_bytes()).unwrap();
}

/// Puts something in the place of a record.
type Forge = fn(&Scene, &str);

#[test]
fn a_record_that_was_not_written_here_is_put_aside_and_never_carried_out() {
    let actions = [create("a"), edit("before")];
    let forged: [(&str, Forge); 5] = [
        ("another folder", |scene, text| {
            let other = scene.project.join("../outside");
            let key = scene.project.join("../keys/key");
            put(scene, &StateFolder::of(&other, Some(&key), &[]), text);
        }),
        ("another key", |scene, text| {
            let key = scene.project.join("../other-keys/key");
            put(
                scene,
                &StateFolder::of(&scene.project, Some(&key), &[]),
                text,
            );
        }),
        ("no seal", |scene, text| {
            rekindle_fs::create(&scene.redo(), text.as_bytes()).unwrap();
        }),
        ("version 1", |scene, text| {
            let text = text.replace(r#""v":2,"seal":"","#, r#""v":1,"#);
            rekindle_fs::create(&scene.redo(), text.as_bytes()).unwrap();
        }),
        ("no record at all", |scene, _| {
            rekindle_fs::create(&scene.redo(), b"{").unwrap();
        }),
    ];
    for (what, forge) in forged {
        let scene = Scene::new();
        let before = scene.files();
        forge(&scene, &pending(&actions));
        let transaction = scene.open().unwrap();
        assert_eq!(scene.files(), before, "{what}");
        let [note] = transaction.notes() else {
            panic!("{what}: {:?}", transaction.notes());
        };
        let aside = format!("{}.aside-1", scene.redo());
        assert!(note.contains(&aside), "{what}: {note}");
        assert!(
            Utf8Path::new(&aside).exists() && !scene.redo().exists(),
            "{what}"
        );
        transaction.commit(&actions).unwrap();
        drop(transaction);
        assert!(scene.open().unwrap().notes().is_empty(), "{what}");
    }
}

#[test]
fn the_steps_of_a_dead_command_are_finished() {
    let scene = Scene::new();
    died(&scene, &[create("a"), edit("before")]);
    let transaction = scene.open().unwrap();
    let notes = transaction.notes().join("\n");
    assert!(
        notes.contains("create `a`") && notes.contains("change `old`"),
        "{notes}"
    );
    drop(transaction);
    let files = [
        ("a".to_owned(), b"new".to_vec()),
        ("old".to_owned(), b"after".to_vec()),
    ];
    assert_eq!(scene.files(), files);
    assert!(!scene.redo().exists());
}

#[test]
fn what_can_never_be_finished_fails_one_command_and_no_other() {
    let scene = Scene::new();
    for n in 1..=2 {
        died(&scene, &[create("../outside/x"), create("a")]);
        let error = scene.open().unwrap_err();
        let Error::PutAside { aside, .. } = &error else {
            panic!("{error}");
        };
        assert!(aside.as_str().ends_with(&format!(".aside-{n}")) && aside.exists());
        assert!(error.hint().is_some());
        scene.open().unwrap();
    }
    assert!(!scene.project.join("a").exists());
}

#[test]
fn a_record_of_a_later_version_stays_and_it_is_said_what_to_do() {
    let scene = Scene::new();
    put(&scene, &scene.state(), r#"{"v":3,"seal":"","effects":[]}"#);
    let error = scene.open().unwrap_err();
    assert!(matches!(error, Error::Unfinished { .. }) && error.hint().is_some());
    assert!(scene.redo().exists());
}
