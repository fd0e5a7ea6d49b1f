//! Files in place of a list that nobody in their right mind would write.

use std::os::unix::fs::symlink;

use rekindle_testkit::gate::make_pipe;
use rekindle_testkit::sandbox::Sandbox;

/// The file with the tasks of each format, and the id of its list.
const LISTS: [(&str, &str); 4] = [
    ("specs/001-a/tasks.md", "spec-kit:001-a"),
    ("openspec/changes/add-b/tasks.md", "openspec:add-b"),
    (".kiro/specs/c/tasks.md", "kiro:c"),
    ("TODO.md", "checklist:TODO.md"),
];
const SECRET: &str = "the secret of somebody else";

/// Lays out a project whose list is made by `make`, looks at it with every command, and returns what
/// was said.
fn looked_at(make: impl Fn(&Sandbox, &str)) -> Vec<(&'static str, String)> {
    let mut said = Vec::new();
    for (file, id) in LISTS {
        let sandbox = Sandbox::new(env!("CARGO_BIN_EXE_rekindle")).unwrap();
        let folder = sandbox.path(file).parent().unwrap().to_owned();
        fs_err::create_dir_all(folder).unwrap();
        fs_err::write(
            sandbox.root().join("outside.md"),
            format!("- [ ] 1.1 {SECRET}\n"),
        )
        .unwrap();
        make(&sandbox, file);
        let mut all = String::new();
        for words in [
            &["status", "-v", "--all"][..],
            &["status", "--json"],
            &["inspect", id],
            &["inspect", id, "--json"],
            &["plan", id],
            &["explain", id, "1.1"],
            &["resume", id],
        ] {
            let ran = sandbox.run(words).unwrap();
            assert!(
                matches!(ran.code(), Some(0 | 1 | 3)),
                "{id} {words:?}: {ran}"
            );
            assert!(!ran.stderr().contains("panicked"), "{id} {words:?}: {ran}");
            all.push_str(&ran.stdout());
            all.push_str(&ran.stderr());
        }
        said.push((id, all));
    }
    said
}

#[test]
fn a_link_out_of_the_project_is_not_followed() {
    let said = looked_at(|sandbox, file| {
        symlink(sandbox.root().join("outside.md"), sandbox.path(file)).unwrap();
    });
    for (id, said) in said {
        assert!(!said.contains(SECRET), "{id}: {said}");
        let is_told = said.contains("UNREADABLE_LIST") || said.contains("no workflow");
        assert!(is_told || id.starts_with("checklist"), "{id}: {said}");
    }
}

#[test]
fn a_folder_that_is_a_link_out_of_the_project_is_not_followed() {
    let said = looked_at(|sandbox, file| {
        let Some(folder) = camino::Utf8Path::new(file)
            .parent()
            .filter(|folder| *folder != "")
        else {
            return;
        };
        let outside = sandbox.root().join("elsewhere");
        fs_err::create_dir_all(&outside).unwrap();
        fs_err::write(outside.join("tasks.md"), format!("- [ ] 1.1 {SECRET}\n")).unwrap();
        fs_err::remove_dir(sandbox.path(folder)).unwrap();
        symlink(outside, sandbox.path(folder)).unwrap();
    });
    for (id, said) in said {
        assert!(!said.contains(SECRET), "{id}: {said}");
    }
}

#[test]
fn a_pipe_is_never_waited_for_and_a_folder_is_not_a_list() {
    looked_at(|sandbox, file| make_pipe(&sandbox.path(file)).unwrap());
    looked_at(|sandbox, file| fs_err::create_dir(sandbox.path(file)).unwrap());
}

#[test]
fn bytes_that_are_no_text_lose_no_task_and_reach_no_terminal() {
    let said = looked_at(|sandbox, file| {
        let mut bytes = b"- [ ] 1.1 T001 \x1b]0;evil\x07\xff\xfe name\r\n".to_vec();
        bytes.extend_from_slice(b"- [x] T002 \x9b31m red\n- [ ] 1.2 T003 a\0b\n");
        fs_err::write(sandbox.path(file), bytes).unwrap();
    });
    for (id, said) in said {
        assert!(said.contains("NOT_UTF8"), "{id}: {said}");
        assert!(
            !said.contains('\u{1b}') && !said.contains('\u{7}'),
            "{id}: {said}"
        );
    }
}

#[test]
fn deep_nesting_long_lines_and_rings_end() {
    let said = looked_at(|sandbox, file| {
        let mut text = String::new();
        for depth in 0..3_000 {
            text.push_str(&format!(
                "{}- [ ] {depth}.1 T{depth:04} depends on T{:04}\n",
                " ".repeat(depth % 200),
                (depth + 1) % 3_000
            ));
        }
        text.push_str(&format!("- [ ] 9999. T9999 {}\n", "long ".repeat(100_000)));
        fs_err::write(sandbox.path(file), text).unwrap();
    });
    for (id, said) in said {
        assert!(said.len() < 20_000_000, "{id}: {} bytes", said.len());
    }
}
