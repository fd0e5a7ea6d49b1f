//! What a worktree has besides its commit: setup, copies, links, submodules, ports.

use std::collections::BTreeSet;
use std::fs;

use rekindle_testkit::repository::{Project, WRITE, text};

use super::assert_done;

/// Makes a project with secrets that git ignores, and this section of the configuration.
pub(super) fn project(tasks: &str, section: &str) -> Project {
    let project = Project::new(env!("CARGO_BIN_EXE_rekindle"));
    let ignored = "node_modules/\n.env*\n!.env.example\n*.seen\n/diary\n/.rekindle\n";
    write(&project, ".gitignore", ignored);
    write(&project, "package-lock.json", "1\n");
    write(&project, ".env.example", "TOKEN=\n");
    project.git(&["add", "."]);
    project.git(&["commit", "-qm", "files"]);
    write(&project, ".env", "TOKEN=s3cret-of-the-user\n");
    write(&project, "sub/.env.local", "OTHER=an0ther-secret\n");
    write(&project, "node_modules/dep/index.js", "1\n");
    configure(&project, section);
    project.plan(tasks);
    project
}

pub(super) fn configure(project: &Project, section: &str) {
    write(
        project,
        ".rekindle/config.toml",
        &format!("[worktree]\n{section}\n"),
    );
}

pub(super) fn write(project: &Project, name: &str, text: &str) {
    let path = project.path().join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// Returns what setups, agents and checks wrote down in the project's folder.
fn diary(project: &Project) -> String {
    fs::read_to_string(project.path().join("diary")).unwrap_or_default()
}

/// Returns the output of the only attempt at a task.
fn output(project: &Project, task: &str) -> String {
    let line = format!("cat .rekindle/runs/*/{task}/1/output.log");
    text(&project.shell(&line).stdout)
}

/// Returns the names of all files of all commits that a ref of the repository reaches.
fn committed(project: &Project) -> BTreeSet<String> {
    let names = project.git(&["log", "--all", "-m", "--format=", "--name-only"]);
    names.lines().map(str::to_owned).collect()
}

#[test]
fn a_setup_runs_once_in_each_worktree_and_again_when_its_files_change() {
    let section = r#"setup = ["echo setup >> $REKINDLE_PROJECT/diary", "mkdir -p node_modules && cp package-lock.json node_modules/installed"]
        setup_when = ["package-lock.json"]"#;
    let project = project("A B<A C<B D<C", section);
    let agent = format!(
        "{WRITE}; echo $REKINDLE_TASK $(cat node_modules/installed) >> $REKINDLE_PROJECT/diary; [ $REKINDLE_TASK != B ] || echo 2 > package-lock.json"
    );
    assert_done(&project.run(&agent, &["--jobs", "1"]));
    assert_eq!(diary(&project), "setup\nA 1\nB 1\nsetup\nC 2\nD 2\n");
    assert!(output(&project, "A").starts_with("[worktree] setup: echo setup >>"));
    // The next run finds what this one has made, unless it wants new worktrees.
    project.plan("E F<E");
    let next = |branch: &str, more: &[&str]| {
        let words = ["run", "plan.json", "--yes", "--jobs", "1", "--agent-cmd"];
        let words = [&words[..], &[WRITE, "--branch", branch], more].concat();
        assert_done(&project.rekindle(&words));
        diary(&project).matches("setup").count()
    };
    project.git(&["branch", "next", "result"]);
    assert_eq!(next("next", &[]), 2);
    assert_eq!(next("fresh", &["--fresh-worktrees"]), 4);
}

#[test]
fn a_setup_that_fails_stops_the_run_before_any_agent_starts() {
    for (section, said) in [
        (
            r#"setup = ["echo first", "echo no such registry >&2; exit 3"]"#,
            "`echo no such registry >&2; exit 3` of `[worktree] setup` ended with exit code 3: no such registry",
        ),
        (
            "setup = [\"sleep 600\"]\ntimeout = \"1s\"",
            "`sleep 600` of `[worktree] setup` took longer than 1 s",
        ),
        (
            r#"setup = ["echo 2 > package-lock.json; echo > made"]"#,
            "the setup of its worktree changed `package-lock.json`, `made`: add to `.gitignore`",
        ),
    ] {
        let project = project("A B C", section);
        let agent = format!("{WRITE}; echo agent >> $REKINDLE_PROJECT/diary");
        let output = project.run(&agent, &["--jobs", "2"]);
        assert_eq!(output.status.code(), Some(1));
        let stderr = text(&output.stderr);
        assert!(stderr.contains(said), "{stderr}");
        assert_eq!(diary(&project), "", "{stderr}");
        // Nothing is counted against a task: with another setup all of them land.
        configure(&project, r#"setup = ["true"]"#);
        let resume = ["resume", "--yes", "--agent-cmd", WRITE];
        assert_done(&project.rekindle(&resume));
        assert_eq!(project.landed().len(), 3);
    }
}

#[test]
fn commands_of_the_projects_file_are_shown_before_the_question_and_do_not_run_without_a_yes() {
    let section = r#"setup = ["echo setup >> $REKINDLE_PROJECT/diary"]
        teardown = ["echo teardown >> $REKINDLE_PROJECT/diary"]"#;
    let project = project("A", section);
    let words = [
        "run",
        "plan.json",
        "--branch",
        "result",
        "--agent-cmd",
        WRITE,
    ];
    let asked = project.rekindle(&words);
    let dry = project.rekindle(&[&words[..], &["--dry-run"]].concat());
    for shown in [text(&asked.stderr), text(&dry.stdout)] {
        for (role, file) in [
            ("setup", "`.rekindle/config.toml`"),
            ("teardown", "a file of the project"),
        ] {
            let line = shown
                .lines()
                .find(|line| line.trim_start().starts_with(role));
            let line = line.unwrap_or_else(|| panic!("{role}: {shown}"));
            assert!(line.contains(&format!("`echo {role} >>")), "{line}");
            assert!(line.contains(file), "{line}");
        }
    }
    assert_eq!(diary(&project), "");
    let dry = project.rekindle(&[&words[..], &["--dry-run", "--json"]].concat());
    let outline: serde_json::Value = serde_json::from_slice(&dry.stdout).unwrap();
    assert_eq!(outline["setup"][0], "echo setup >> $REKINDLE_PROJECT/diary");
    assert_eq!(
        outline["teardown"][0],
        "echo teardown >> $REKINDLE_PROJECT/diary"
    );
}

const BROUGHT: &str = "copy = [\".env*\"]\nlink = [\"node_modules\"]";

#[test]
fn ignored_files_are_brought_as_they_are_now_and_only_where_git_ignores_them() {
    let project = project("A B<A", BROUGHT);
    write(&project, "notes", "mine\n");
    write(
        &project,
        ".worktreeinclude",
        "# as elsewhere\n*.seen\nnotes\n!skipped.seen\n",
    );
    for name in ["one.seen", "skipped.seen"] {
        write(&project, name, "1\n");
    }
    let agent = format!(
        "{WRITE}; find . -name .git -o -name '*.txt' -o -type f -print -o -type l -print | sort > $REKINDLE_PROJECT/.git/$REKINDLE_TASK.files; ls node_modules/dep; stat -c %a .env; [ $REKINDLE_TASK != A ] || {{ rm $REKINDLE_PROJECT/one.seen; echo TOKEN=changed-by-the-user-1 > $REKINDLE_PROJECT/.env; echo spoiled > sub/.env.local; }}; cat .env > $REKINDLE_PROJECT/.git/$REKINDLE_TASK.env; cat sub/.env.local > $REKINDLE_PROJECT/.git/$REKINDLE_TASK.local"
    );
    assert_done(&project.run(&agent, &["--jobs", "1"]));
    let read = |name: &str| fs::read_to_string(project.path().join(".git").join(name)).unwrap();
    let tracked = "./.env\n./.env.example\n./.gitignore\n./README\n./node_modules\n";
    let of_a = format!("{tracked}./one.seen\n./package-lock.json\n./sub/.env.local\n");
    assert_eq!(read("A.files"), of_a);
    assert_eq!(read("B.files"), of_a.replace("./one.seen\n", ""));
    assert_eq!(read("B.env"), "TOKEN=changed-by-the-user-1\n");
    assert_eq!(read("B.local"), "OTHER=an0ther-secret\n");
    assert!(output(&project, "A").contains("index.js"));
}

/// What an agent may do with a copy or a link so that it could get into git.
const WAYS: &[(&str, &str)] = &[
    ("forced", "git add -f .env node_modules sub/.env.local"),
    (
        "committed",
        "git add -f .env node_modules; git commit -qm all; echo more > more",
    ),
    (
        "twice",
        "git add -f .env; git commit -qm one; git rm -q --cached .env; git commit -qm two",
    ),
    ("unignored", "echo > .gitignore; git add -A"),
    (
        "changed",
        "echo > .gitignore; echo X=1 >> .env; git add -A; git commit -qm all",
    ),
    ("intended", "git add -f -N .env"),
];

#[test]
fn what_was_brought_never_lands_and_is_in_no_rescue_whatever_an_agent_does() {
    let ids = WAYS.iter().map(|(name, _)| format!("{name} {name}-fails"));
    let project = project(&ids.collect::<Vec<_>>().join(" "), BROUGHT);
    let ways: Vec<String> = WAYS
        .iter()
        .map(|(name, way)| format!("{name}*) {way};;"))
        .collect();
    let agent = format!(
        "{WRITE}; case $REKINDLE_TASK in {} esac; case $REKINDLE_TASK in *-fails) exit 1;; esac",
        ways.join(" ")
    );
    let run = project.run(&agent, &["--jobs", "1", "--retries", "0"]);
    // A task that lands has its own file; those that fail are rescued by the next in the worktree.
    assert_eq!(project.landed().len(), WAYS.len(), "{}", text(&run.stderr));
    project.rekindle(&["clean", "--yes"]);
    let rescued = project.git(&[
        "for-each-ref",
        "--format=%(refname)",
        "refs/rekindle/rescue",
    ]);
    assert_eq!(rescued.lines().count(), WAYS.len(), "{rescued}");
    let committed = committed(&project);
    for (name, _) in WAYS {
        for task in [name.to_string(), format!("{name}-fails")] {
            assert!(
                committed.contains(&format!("{task}.txt")),
                "{task}: {committed:?}"
            );
        }
    }
    let leaked = |name: &&String| {
        name.contains("node_modules") || (name.contains(".env") && *name != ".env.example")
    };
    let leaked: Vec<&String> = committed.iter().filter(leaked).collect();
    assert_eq!(leaked, [""; 0]);
    // No object has them either, unless an agent put them there itself.
    assert!(
        !text(&run.stderr).contains("s3cret"),
        "{}",
        text(&run.stderr)
    );
}

#[test]
fn a_copy_of_what_was_brought_does_not_land_under_another_name() {
    let project = project("A", BROUGHT);
    let output = project.run(
        "cat > /dev/null; cp .env notes.txt; echo x > other",
        &["--retries", "0"],
    );
    assert_eq!(output.status.code(), Some(1));
    let said = text(&output.stderr);
    let wanted = "`notes.txt` is a copy of `.env`, a file that was brought into the worktree";
    assert!(said.contains(wanted), "{said}");
    assert_eq!(project.landed().len(), 0);
}

#[test]
fn values_of_brought_files_are_in_no_output() {
    let section = format!("{BROUGHT}\nsetup = [\"cat .env\"]");
    let project = project("A", &section);
    let agent = format!("{WRITE}; cat .env sub/.env.local; . ./.env; echo so: $TOKEN");
    let run = project.run(
        &agent,
        &["--retries", "0", "--verify", ". ./.env; echo $TOKEN >&2"],
    );
    assert_done(&run);
    let said = format!("{}{}", output(&project, "A"), text(&run.stderr));
    assert!(said.contains("so: ***"), "{said}");
    let kept = project
        .shell("grep -rlE 's3cret-of|an0ther-secret' .rekindle/runs .rekindle/logs .agent-memory");
    assert_eq!(text(&kept.stdout), "");
}

#[test]
fn checks_of_merged_work_find_the_setup_and_the_copies() {
    let section =
        format!("{BROUGHT}\nsetup = [\"echo setup >> $REKINDLE_PROJECT/diary; echo > .env.made\"]");
    let project = project("A B C", &section);
    let check = "test -e .env.made && grep -q s3cret .env && test -e node_modules/dep/index.js";
    assert_done(&project.run(WRITE, &["--jobs", "3", "--verify", check]));
    assert_eq!(project.landed().len(), 3);
    // Once in each of three worktrees, and in that of the checks.
    assert_eq!(diary(&project), "setup\n".repeat(4));
}

#[test]
fn parallel_tasks_have_a_slot_and_ten_ports_of_their_own() {
    let project = project("A B C D", "");
    let agent =
        format!("{WRITE}; echo $REKINDLE_SLOT $REKINDLE_PORT $PWD >> $REKINDLE_PROJECT/diary");
    assert_done(&project.run(
        &agent,
        &["--jobs", "2", "--verify", "test $REKINDLE_PORT -gt 1024"],
    ));
    let mut seen = BTreeSet::new();
    for line in diary(&project).lines() {
        let words: Vec<&str> = line.split(' ').collect();
        assert!(words[2].ends_with(&format!("/pool/{}", words[0])), "{line}");
        seen.insert((words[0].to_owned(), words[1].parse::<u16>().unwrap()));
    }
    // Nobody of a test listens there, so a slot has the same ports for every task.
    let ports: Vec<u16> = seen.iter().map(|(_, port)| *port).collect();
    assert!(seen.len() <= 2, "{seen:?}");
    assert!(
        ports.windows(2).all(|pair| pair[0].abs_diff(pair[1]) >= 10),
        "{seen:?}"
    );
}

#[test]
fn a_teardown_runs_before_a_worktree_is_removed_and_keeps_it_where_it_fails() {
    let section = "teardown = [\"test -e README && echo down >> $REKINDLE_PROJECT/diary\"]";
    let fresh = project("A", section);
    assert_done(&fresh.run(WRITE, &["--fresh-worktrees"]));
    assert_eq!(diary(&fresh), "down\n");
    let project = project("A", section);
    assert_done(&project.run(WRITE, &[]));
    assert_eq!(diary(&project), "");
    configure(&project, "teardown = [\"echo still used >&2; exit 4\"]");
    let failed = project.rekindle(&["clean", "--yes"]);
    let said = text(&failed.stderr);
    assert_eq!(failed.status.code(), Some(1), "{said}");
    assert!(
        said.contains("- teardown: `echo still used >&2; exit 4` (from"),
        "{said}"
    );
    assert!(
        said.contains("did not go well: exit status: 4: still used"),
        "{said}"
    );
    assert_eq!(project.pooled().len(), 1);
    configure(&project, section);
    assert_done(&project.rekindle(&["clean", "--yes"]));
    assert_eq!(diary(&project), "down\n");
    assert_eq!(project.pooled(), [""; 0]);
}

#[test]
fn copies_are_not_named_as_what_a_clean_loses() {
    let project = project("A", BROUGHT);
    project.run(
        "cat > /dev/null; echo x > own.seen; exit 1",
        &["--retries", "0"],
    );
    let asked = text(&project.rekindle(&["clean"]).stderr);
    assert!(
        asked.contains("not saved, because git ignores them: `own.seen`"),
        "{asked}"
    );
    assert!(!asked.contains(".env"), "{asked}");
}

#[test]
fn unused_worktrees_of_the_pool_are_removed_by_number_and_by_age() {
    let project = project("A B C D E F", "");
    // All six are at work at once.
    let agent = format!(
        "{WRITE}; echo > $REKINDLE_PROJECT/.git/at-$REKINDLE_TASK; while [ $(ls $REKINDLE_PROJECT/.git/at-* | wc -l) -lt 6 ]; do sleep 0.01; done"
    );
    assert_done(&project.run(&agent, &["--jobs", "6"]));
    assert_eq!(project.pooled().len(), 6);
    let next = |branch: &str| {
        let words = [
            "run",
            "plan.json",
            "--yes",
            "--jobs",
            "1",
            "--agent-cmd",
            WRITE,
        ];
        assert_done(&project.rekindle(&[&words[..], &["--branch", branch]].concat()));
        project.pooled().len()
    };
    project.plan("G");
    assert_eq!(next("fewer"), 4);
    project.shell("touch -d '15 days ago' .rekindle/worktrees/pool/*.json");
    assert_eq!(next("later"), 1);
}
