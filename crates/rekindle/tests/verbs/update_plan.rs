//! A plan file that is edited while its run is open.

use rekindle_testkit::repository::{Project, text};

use crate::stage::{assert_ended, project, said, typed, write};

/// An agent that works on every task but the second.
const AGENT: &str = r#"cat > /dev/null; [ "$REKINDLE_TASK" = 2 ] && [ ! -e ../../../../fixed ] && exit 3; echo x > "f$REKINDLE_TASK""#;

const PLAN: &str = "# Shop\n\n- [ ] Add login\n- [ ] Add logout\n- [ ] Add search (needs: 2)\n";

/// Starts a run of the plan, of which the first task lands and the second fails.
fn started() -> Project {
    let project = project();
    write(&project, "plan.md", PLAN);
    let ran = project.rekindle(&[
        "run",
        "plan.md",
        "--branch",
        "result",
        "--yes",
        "--retries",
        "0",
        "--agent-cmd",
        AGENT,
    ]);
    said(&ran, 1);
    assert_eq!(project.tasks(), "1");
    write(&project, "fixed", "");
    project
}

fn graph(project: &Project) -> Vec<(String, String, bool)> {
    let runs = project.path().join(".agent-memory/runs");
    let run = fs_err::read_dir(runs).unwrap().next().unwrap().unwrap();
    let text = fs_err::read(run.path().join("task-graph.json")).unwrap();
    let graph: serde_json::Value = serde_json::from_slice(&text).unwrap();
    let tasks = graph["tasks"].as_array().unwrap().iter();
    let word = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    tasks
        .map(|task| {
            (
                word(&task["id"]),
                word(&task["title"]),
                task["status"] == "skipped",
            )
        })
        .collect()
}

#[test]
fn changes_are_taken_over_on_demand_and_what_was_given_up_is_tried_again() {
    let project = started();
    // One task more between the others, a check, and one task less.
    let edited = "# Shop\n\nSome prose.\n\n- [ ] Add login\n- [ ] Add wishes\n- [ ] Add logout\n  Verify: `test -e f2`\n";
    write(&project, "plan.md", edited);
    let ran = project.rekindle(&["resume", "--yes", "--update-plan"]);
    assert_ended(
        &ran,
        0,
        &[
            "taken over from plan.md: `4`: new (Add wishes); `2`: checks; `3`: left out\n",
            "check: `test -e f2`",
            "done: 3 of 4 tasks landed",
        ],
    );
    assert_eq!(project.tasks(), "1 4 2");
    assert_eq!(project.events("plan_updated", "2"), 0);
    let expected = [
        ("1", "Add login", false),
        ("4", "Add wishes", false),
        ("2", "Add logout", false),
        ("3", "Add search", true),
    ];
    let graph = graph(&project);
    let found: Vec<_> = graph
        .iter()
        .map(|(id, title, is_out)| (id.as_str(), title.as_str(), *is_out))
        .collect();
    assert_eq!(found, expected);
}

#[test]
fn without_a_word_the_old_plan_holds_and_a_line_says_so() {
    let project = started();
    write(&project, "plan.md", &PLAN.replace("logout", "sign-out"));
    let note = "note: plan.md has changed (`2`: title); the run goes on by its old plan, `rekindle resume --update-plan` takes the changes over\n";
    said(&project.rekindle(&["retry"]), 0);
    let ran = project.rekindle(&["resume", "--yes"]);
    assert_ended(&ran, 0, &[note]);
    assert_eq!(project.tasks(), "1 2 3");
    let titles = project.git(&["log", "--format=%s", "result"]);
    assert!(titles.contains("[2] Add logout"), "{titles}");
}

#[test]
fn a_person_is_asked_and_a_no_leaves_the_run_as_it_is() {
    let project = started();
    write(
        &project,
        "plan.md",
        &PLAN.replace("Add search (needs: 2)", "Add search"),
    );
    let question = "plan.md has changed:\n  `3`: needs\nTake the changes over? [y/N]";
    let ran = typed(&project, &["resume"], "n\nn\n");
    assert_ended(&ran, 0, &[question, "the run goes on by its old plan"]);
    assert_eq!(project.tasks(), "1");
    let ran = typed(&project, &["resume"], "y\ny\n");
    assert_ended(
        &ran,
        1,
        &[question, "taken over from plan.md: `3`: needs\n"],
    );
    assert_eq!(project.tasks(), "1 3");
    // Nothing is left to take over.
    let again = typed(&project, &["resume"], "n\n");
    assert!(!said(&again, 0).contains("has changed"));
}

#[test]
fn what_has_landed_stays_whatever_the_plan_says_now() {
    let project = started();
    let edited = "# Shop\n\n- [ ] Add sign-in\n- [ ] Add logout\n- [x] Add search (needs: 2)\n";
    write(&project, "plan.md", edited);
    let ran = project.rekindle(&["resume", "--yes", "--update-plan"]);
    assert_ended(
        &ran,
        1,
        &[
            "taken over from plan.md: `3`: left out\n",
            "note: `1` has landed, so it stays as it is\n",
        ],
    );
    assert_eq!(graph(&project)[0].1, "Add login");
    // A tick on what has landed, and prose, are no differences.
    let ticked = edited
        .replace("[ ] Add sign-in", "[x] Add login")
        .replace("# Shop", "# Our shop");
    write(&project, "plan.md", &ticked);
    let ran = project.rekindle(&["resume", "--yes"]);
    assert!(
        !text(&ran.stderr).contains("has changed"),
        "{}",
        text(&ran.stderr)
    );
}

#[test]
fn a_plan_that_is_not_valid_any_more_is_not_taken_over() {
    let project = started();
    for (broken, fault) in [
        (PLAN.replace("needs: 2", "needs: 9"), "UNKNOWN_DEPENDENCY"),
        (
            PLAN.replace("logout", "logout (needs: 3)"),
            "DEPENDENCY_CYCLE",
        ),
        (format!("{PLAN}  Verfy: x\n"), "MISSPELT_KEY"),
    ] {
        write(&project, "plan.md", &broken);
        let before = graph(&project);
        let ran = project.rekindle(&["resume", "--yes", "--update-plan"]);
        assert_ended(&ran, 1, &["`plan.md` is not a valid plan"]);
        let ran = project.rekindle(&["resume", "--yes"]);
        assert_ended(&ran, 1, &["plan.md has changed and is not a valid plan"]);
        assert_eq!(graph(&project), before, "{fault}");
    }
    for gone in ["", "no tasks here\n"] {
        write(&project, "plan.md", gone);
        let ran = project.rekindle(&["resume", "--yes", "--update-plan"]);
        assert_ended(&ran, 1, &["`plan.md` is not a valid plan"]);
    }
    fs_err::remove_file(project.path().join("plan.md")).unwrap();
    let ran = project.rekindle(&["resume", "--yes", "--update-plan"]);
    assert!(!said(&ran, 1).contains("plan.md"));
}
