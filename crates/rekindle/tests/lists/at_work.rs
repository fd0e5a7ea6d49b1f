//! What is at work on a list is shown, and its output found, by the list's own name and without one.

use camino::Utf8Path;
use rekindle_testkit::gate::Gate;
use rekindle_testkit::repository::text;

use crate::stage::{assert_ended, project};
use crate::{committed, json};

const FILE: &str = "specs/001-a/tasks.md";
const TASKS: &str = "# Tasks: A\n\n- [ ] T001 first\n- [ ] T002 second\n";

#[test]
fn a_run_of_a_list_is_shown_followed_and_read_like_any_other() {
    let project = project();
    committed(&project, FILE, TASKS);
    let folder = tempfile::tempdir().unwrap();
    let mut gate = Gate::new(Utf8Path::from_path(folder.path()).unwrap()).unwrap();
    let agent = format!(
        "cat > /dev/null; echo hello from $REKINDLE_TASK; echo x > $REKINDLE_TASK\n{}",
        gate.script()
    );
    let words = ["resume", "--yes", "--branch", "b", "--agent-cmd", &agent];
    let run = project.start(&words, &[]);
    gate.wait().unwrap();
    let status = json(&project, &["status", "--json"]);
    let at_work = &status["at_work"];
    assert_eq!(at_work[0]["id"], "spec-kit:001-a", "{status}");
    let following = project.start(&["attach"], &[]);
    following.wait_for("T001").unwrap();
    for words in [&["logs"][..], &["logs", "T001"], &["logs", "001-a", "T001"]] {
        let ran = project.rekindle(words);
        assert!(text(&ran.stdout).contains("hello from T001"), "{words:?}");
    }
    gate.open().unwrap();
    gate.wait().unwrap();
    gate.open().unwrap();
    assert_ended(&run.finish().unwrap(), 0, &["done: 2 of 2 tasks landed"]);
    assert_ended(&following.finish().unwrap(), 0, &["landed T002"]);
}
