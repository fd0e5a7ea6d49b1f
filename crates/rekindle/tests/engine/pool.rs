//! Worktrees that tasks use one after the other, whatever was done in them.

use std::collections::BTreeSet;
use std::fs;

use rekindle_testkit::repository::{Project, WRITE, text};

use super::assert_done;

/// Writes down what a task finds in its worktree, and leaves all kinds of files in it.
const LOOK: &str = r#"cat > /dev/null
    { pwd; git rev-parse HEAD; git status --porcelain; git ls-files -v | grep -v '^H'; git symbolic-ref -q HEAD; find . -mindepth 1 -not -path './cache*' -not -name .git -not -path './.rekindle*'; } > "$REKINDLE_TASK.seen"
    echo "$REKINDLE_TASK" > "$REKINDLE_TASK.txt""#;

/// Makes a repository that ignores a folder, with some files.
fn project(tasks: &str) -> Project {
    let project = Project::new(env!("CARGO_BIN_EXE_rekindle"));
    fs::write(project.path().join(".gitignore"), "cache/\n*.seen\n").unwrap();
    fs::create_dir(project.path().join("src")).unwrap();
    for name in ["a", "b", "src/c"] {
        fs::write(project.path().join(name), format!("{name}\n")).unwrap();
    }
    project.git(&["add", "."]);
    project.git(&["commit", "-qm", "files"]);
    project.plan(tasks);
    project
}

/// Returns the lines of a file that an agent wrote into its worktree, and committed by force.
fn seen(project: &Project, task: &str) -> Vec<String> {
    let seen = project.git(&["show", &format!("result:{task}.seen")]);
    seen.lines().map(str::to_owned).collect()
}

/// Returns the files and folders of a commit, as `find` names them.
fn expected(project: &Project, commit: &str) -> BTreeSet<String> {
    let tree = project.git(&["ls-tree", "-r", "-t", "--name-only", commit]);
    tree.lines().map(|name| format!("./{name}")).collect()
}

/// Asserts that a task found its base and nothing else.
#[track_caller]
fn assert_found_its_base(project: &Project, task: &str) {
    let seen = seen(project, task);
    let [place, commit, found @ ..] = &seen[..] else {
        panic!("{task}: {seen:?}");
    };
    assert!(place.contains("/.rekindle/worktrees/pool/"), "{place}");
    let mut found: BTreeSet<String> = found.iter().cloned().collect();
    // Its own file is there while it writes it.
    assert!(found.remove(&format!("./{task}.seen")), "{task}: {found:?}");
    assert_eq!(found, expected(project, commit), "{task}");
}

#[test]
fn tasks_use_worktrees_again_and_find_their_base_and_what_git_ignores() {
    let project = project("A B C D E F");
    let agent = format!(
        r#"{LOOK}; git add -f "$REKINDLE_TASK.seen"
        test -e cache/made || {{ mkdir -p cache; echo >> "$PWD/../../../../made"; touch cache/made; }}
        touch untracked; mkdir -p empty/er; echo changed > a; rm -r src; git add b; mv b B; git checkout -q -- a src; mv B b; rm untracked"#
    );
    assert_done(&project.run(&agent, &["--jobs", "2"]));
    assert_eq!(project.landed().len(), 6);
    let places: BTreeSet<String> = ["A", "B", "C", "D", "E", "F"]
        .into_iter()
        .map(|task| seen(&project, task).remove(0))
        .collect();
    assert_eq!(places.len(), 2, "{places:?}");
    for task in ["A", "B", "C", "D", "E", "F"] {
        assert_found_its_base(&project, task);
    }
    // What git ignores was made once in each of them.
    let made = fs::read_to_string(project.path().join("made")).unwrap();
    assert_eq!(made.lines().count(), 2);
    assert_eq!(project.git(&["for-each-ref", "refs/rekindle"]), "");
    // The next run uses them too.
    project.plan("G");
    let run = [
        "run",
        "plan.json",
        "--branch",
        "next",
        "--yes",
        "--agent-cmd",
    ];
    assert_done(&project.rekindle(&[&run[..], &[&agent]].concat()));
    assert_eq!(project.pooled().len(), 2);
}

#[test]
fn worktrees_are_new_for_every_task_if_the_user_says_so() {
    for by_file in [false, true] {
        let project = project("A B");
        let mut more = vec!["--jobs", "1"];
        if by_file {
            fs::create_dir_all(project.path().join(".rekindle")).unwrap();
            let config = "[worktree]\nfresh = true\n";
            fs::write(project.path().join(".rekindle/config.toml"), config).unwrap();
        } else {
            more.push("--fresh-worktrees");
        }
        let agent = format!("pwd >> \"$PWD/../../../../places\"; {WRITE}");
        assert_done(&project.run(&agent, &more));
        let places = fs::read_to_string(project.path().join("places")).unwrap();
        assert!(!places.contains("/pool/"), "{places}");
        assert_eq!(places.lines().collect::<BTreeSet<_>>().len(), 2);
        assert_eq!(project.git(&["worktree", "list"]).lines().count(), 1);
    }
}

/// What an agent can do to its worktree before it fails; `$D` is its folder in the repository.
const WORST: &[(&str, &str)] = &[
    ("deleted", "rm .git"),
    ("elsewhere", "echo gitdir: /nowhere > .git"),
    ("users", "echo gitdir: $REPO/.git > .git"),
    ("repository", "rm .git; git init -q ."),
    ("pipe", "rm .git; mkfifo .git"),
    ("branch", "git checkout -q -b foreign; git commit -qam mine"),
    ("orphan", "git checkout -q --orphan lost"),
    ("nested", "git init -q inner; echo x > inner/precious"),
    (
        "rights",
        "mkdir -p shut/in; echo x > shut/in/f; chmod 000 shut/in; chmod 500 shut src",
    ),
    ("locks", ": > $D/index.lock; : > $D/HEAD.lock"),
    ("garbage", "echo none > $D/index"),
    ("no-index", "rm $D/index"),
    ("index-pipe", "rm $D/index; mkfifo $D/index"),
    ("no-head", "echo none > $D/HEAD"),
    ("unregistered", "rm -r $D"),
    ("sparse", "git sparse-checkout set --no-cone /a"),
    (
        "skipped",
        "git update-index --skip-worktree a; echo hidden > a",
    ),
    (
        "assumed",
        "git update-index --assume-unchanged a; echo hidden > a",
    ),
    (
        "merging",
        "git commit -qam one; git reset -q --hard HEAD~1; echo two > a; git commit -qam two; git merge -q ORIG_HEAD || true",
    ),
    (
        "rebasing",
        "mkdir $D/rebase-merge; echo x > $D/rebase-merge/head-name; echo x > $D/BISECT_LOG",
    ),
    ("locked", "git worktree lock --reason initializing ."),
    (
        "submodule",
        "git init -q ../../../../sub; git -C ../../../../sub commit -q --allow-empty -m x; git -c protocol.file.allow=always submodule --quiet add ../../../../sub sub",
    ),
    ("link", "cd ..; mv $W $W.moved; ln -s $REPO $W"),
    ("link-out", "cd ..; mv $W $W.moved; ln -s /tmp $W"),
    ("fifo", "cd ..; mv $W $W.moved; mkfifo $W"),
    ("file", "cd ..; mv $W $W.moved; : > $W"),
    ("gone", "cd ..; rm -rf $W"),
];

/// Every other task breaks the one worktree there is, and the one after it must not notice.
#[test]
fn an_agent_that_does_its_worst_costs_its_worktree_and_not_the_run() {
    let ids = WORST.iter().map(|(name, _)| format!("{name} ok-{name}"));
    let project = project(&ids.collect::<Vec<_>>().join(" "));
    let cases = WORST
        .iter()
        .map(|(name, worst)| format!("{name}) {worst};;\n"));
    let agent = format!(
        r#"case $REKINDLE_TASK in ok-*) {LOOK}; git add -f "$REKINDLE_TASK.seen"; exit 0;; esac
        cat > /dev/null; REPO={}; W=$PWD; D=$(git rev-parse --absolute-git-dir)
        echo changed > a; echo half > half.txt
        case $REKINDLE_TASK in {} esac; exit 1"#,
        project.path().display(),
        cases.collect::<String>()
    );
    let before = project.git(&["rev-parse", "HEAD", "main"]);
    let output = project.run(&agent, &["--jobs", "1", "--retries", "0"]);
    let said = text(&output.stderr);
    let wanted: Vec<String> = WORST.iter().map(|(name, _)| format!("ok-{name}")).collect();
    assert_eq!(project.tasks(), wanted.join(" "), "{said}");
    for task in &wanted {
        assert_found_its_base(&project, task);
    }
    // Nothing of the user's own has changed.
    assert_eq!(project.git(&["rev-parse", "HEAD", "main"]), before);
    let status = project.git(&["status", "--porcelain"]);
    assert_eq!(status, "?? .agent-memory/\n?? plan.json\n?? sub/\n");
    // What was half done is in a rescue of its task, or in a folder that was put aside for it.
    let refs = project.git(&[
        "for-each-ref",
        "--format=%(refname)",
        "refs/rekindle/rescue",
    ]);
    for (name, _) in WORST.iter().filter(|(name, _)| *name != "gone") {
        let is_rescued = refs.lines().any(|line| {
            line.contains(&format!("/{name}/"))
                && project.git(&["show", &format!("{line}:half.txt")]) == "half\n"
        });
        let kept = format!(
            "cat .rekindle/worktrees/*/{name}.left-*/half.txt .rekindle/worktrees/pool/*.moved*/half.txt"
        );
        let kept = text(&project.shell(&kept).stdout);
        assert!(is_rescued || kept.contains("half\n"), "{name}: {refs}");
    }
}
