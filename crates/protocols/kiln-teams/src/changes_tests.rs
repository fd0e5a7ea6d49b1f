use super::*;

fn entry(id: &str) -> GitEntry {
    GitEntry {
        mode: "100644".to_owned(),
        id: id.to_owned(),
    }
}

fn change(path: &str, before: Option<GitEntry>, after: Option<GitEntry>) -> GitChange {
    GitChange {
        path: path.into(),
        from: None,
        before,
        after,
    }
}

fn task(number: u32) -> TaskId {
    format!("phase-1:exec:wave-1:task-{number}")
        .parse()
        .unwrap()
}

#[test]
fn a_move_is_a_deletion_and_an_addition_and_kilns_files_do_not_count() {
    let moved = GitChange {
        from: Some("src/log.js".into()),
        ..change("src/util/log.js", Some(entry("a")), Some(entry("a")))
    };
    let kept = change(".kiln-artifacts/P1-T01/x", None, Some(entry("b")));
    let touched = Touched::of(&[moved, kept]);
    let wanted: Vec<(&str, bool, bool)> = touched
        .0
        .iter()
        .map(|(path, sides)| {
            let path = std::str::from_utf8(path.as_bytes()).unwrap();
            (path, sides.before.is_some(), sides.after.is_some())
        })
        .collect();
    assert_eq!(
        wanted,
        [
            ("src/log.js", true, false),
            ("src/util/log.js", false, true)
        ]
    );
}

#[test]
fn changed_paths_of_a_worker_must_be_paths_of_the_project() {
    let paths = |text: &str| {
        reported(text.as_bytes()).map(|paths| {
            let shown: Vec<String> = paths.iter().map(ToString::to_string).collect();
            shown.join(" ")
        })
    };
    assert_eq!(
        paths(
            r#"[{"op":"rename","path":"./b//c","from_path":"x/../a"},{"op":"add","path":".kiln/STATE.md"}]"#
        ),
        Ok("a b/c".to_owned())
    );
    assert_eq!(paths("[]"), Ok(String::new()));
    for bad in [
        "",
        "{}",
        "[1]",
        r#"[{"op":"add"}]"#,
        r#"[{"path":7}]"#,
        r#"[{"path":"/etc/passwd"}]"#,
        r#"[{"path":"a/../../b"}]"#,
        r#"[{"path":"."}]"#,
    ] {
        assert!(paths(bad).is_err(), "{bad}");
    }
}

#[test]
fn main_must_have_the_old_or_the_new_content() {
    let touched = Touched::of(&[change("f", Some(entry("old")), Some(entry("new")))]);
    let of = |after: &str| Touched::of(&[change("f", Some(entry("old")), Some(entry(after)))]);
    let gone = Touched::of(&[change("f", Some(entry("old")), None)]);
    let nothing = BTreeSet::new();
    let cases = [
        ("untouched", Main::default(), false),
        (
            "copied",
            Main {
                files: of("new"),
                ..Main::default()
            },
            false,
        ),
        (
            "copied and staged",
            Main {
                files: of("new"),
                staged: of("new"),
                ..Main::default()
            },
            false,
        ),
        (
            "committed",
            Main {
                committed: of("new"),
                ..Main::default()
            },
            false,
        ),
        (
            "committed, then put back by hand",
            Main {
                committed: of("new"),
                files: of("old"),
                ..Main::default()
            },
            false,
        ),
        (
            "changed by a person",
            Main {
                files: of("third"),
                ..Main::default()
            },
            true,
        ),
        (
            "staged by a person",
            Main {
                staged: of("third"),
                ..Main::default()
            },
            true,
        ),
        (
            "committed by a person",
            Main {
                committed: of("third"),
                ..Main::default()
            },
            true,
        ),
        (
            "deleted by a person",
            Main {
                files: gone,
                ..Main::default()
            },
            true,
        ),
    ];
    for (name, main, is_strange) in cases {
        assert_eq!(
            main.stranger(&touched, &nothing).is_some(),
            is_strange,
            "{name}"
        );
    }
    let by_a_peer = Main {
        committed: of("third"),
        ..Main::default()
    };
    let explained = BTreeSet::from(["f".into()]);
    assert_eq!(by_a_peer.stranger(&touched, &explained), None);
}

#[test]
fn a_file_and_a_path_below_it_collide() {
    let wave = |tasks: &[(u32, &[&str])]| {
        let tasks: Vec<_> = tasks
            .iter()
            .map(|(number, paths)| {
                (
                    task(*number),
                    paths.iter().map(|path| (*path).into()).collect(),
                )
            })
            .collect();
        collisions(&tasks)
            .into_iter()
            .map(|found| {
                let tasks: Vec<u32> = found.tasks.iter().map(|task| task.number).collect();
                (found.path.to_string(), tasks)
            })
            .collect::<Vec<_>>()
    };
    assert_eq!(wave(&[(1, &["a", "b"]), (2, &["c"])]), []);
    assert_eq!(
        wave(&[(1, &["a"]), (2, &["a"]), (10, &["a"])]),
        [("a".to_owned(), vec![1, 2, 10])]
    );
    assert_eq!(
        wave(&[(1, &["a"]), (2, &["a/b/c"])]),
        [("a".to_owned(), vec![1, 2])]
    );
    assert_eq!(wave(&[(1, &["a", "a/b"]), (2, &["ab"])]), []);
}
