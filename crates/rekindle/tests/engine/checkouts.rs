//! Files of a worktree beside those of one whole commit: submodules, git-lfs, some folders only; and
//! what `doctor` proposes.

use std::fs;

use rekindle_testkit::repository::{Project, WRITE, text};

use super::assert_done;
use super::outfit::{configure, project, write};

#[test]
fn submodules_come_from_the_main_checkouts_objects_without_a_network() {
    let project = Project::new(env!("CARGO_BIN_EXE_rekindle"));
    let commit = "git -c user.name=a -c user.email=a@b commit -qam x";
    let made = project.shell(&format!(
        "set -e; allow='-c protocol.file.allow=always'; D=$PWD/.git/origins; mkdir -p $D/inner $D/lib
        cd $D/inner; git init -q; echo inner > f; git add f; {commit}
        cd $D/lib; git init -q; echo one > f; git add f; git $allow submodule -q add $D/inner deep; {commit}
        cd ../../..; git $allow submodule -q add $D/lib third/lib; git $allow submodule -q update --init --recursive; git commit -qm sub
        cd third/lib; echo two > f; {commit}; cd ../..; mv $D $D.away"
    ));
    assert!(made.status.success(), "{}", text(&made.stderr));
    project.plan("A B<A C<B");
    let look = "{ cat third/lib/f third/lib/deep/f; git submodule status --recursive | cut -c1; git status --porcelain third; } >> $REKINDLE_PROJECT/.git/seen";
    let two = "git -C third/lib checkout -q $(git -C $REKINDLE_PROJECT/third/lib rev-parse HEAD)";
    let agent = format!("{WRITE}; {look}; [ $REKINDLE_TASK != A ] || {two}");
    assert_done(&project.run(&agent, &["--jobs", "1", "--retries", "0"]));
    let seen = fs::read_to_string(project.path().join(".git/seen")).unwrap();
    let found = |commit: &str| format!("{commit}\ninner\n \n \n");
    assert_eq!(seen, format!("{}{}", found("one"), found("two").repeat(2)));
    // The main checkout's own submodule is as it was.
    assert_eq!(
        project.git(&["status", "--porcelain", "third"]),
        " M third/lib\n"
    );
}

#[test]
fn lfs_files_come_from_the_local_store_and_nothing_is_downloaded() {
    let project = project("A", "");
    // As git-lfs does: with this variable it gives out what is stored, and downloads nothing.
    let filter = "#!/bin/sh\nread -r id; if [ -e $STORE/$id ]; then cat $STORE/$id; elif [ \"$GIT_LFS_SKIP_SMUDGE\" = 1 ]; then echo $id; else echo downloaded; fi\n";
    write(
        &project,
        ".git/lfs/smudge",
        &filter.replace("$STORE", &format!("{}/.git/lfs", project.path().display())),
    );
    write(&project, ".git/lfs/here", "large\n");
    project.shell("chmod +x .git/lfs/smudge");
    let smudge = format!("{}/.git/lfs/smudge", project.path().display());
    project.git(&["config", "filter.lfs.smudge", &smudge]);
    project.git(&[
        "config",
        "filter.lfs.clean",
        "case $(cat) in large) echo here;; *) echo away;; esac",
    ]);
    write(&project, ".gitattributes", "*.bin filter=lfs\n");
    write(&project, "one.bin", "large\n");
    write(&project, "two.bin", "away\n");
    project.git(&["add", "-A"]);
    project.git(&["commit", "-qm", "lfs"]);
    let agent = format!("{WRITE}; cat *.bin > $REKINDLE_PROJECT/.git/seen");
    assert_done(&project.run(&agent, &[]));
    let seen = fs::read_to_string(project.path().join(".git/seen")).unwrap();
    assert_eq!(seen, "large\naway\n");
}

#[test]
fn only_the_folders_of_the_configuration_have_files_and_all_others_stay_in_git() {
    let project = project("A B<A", "sparse = [\"apps/web\"]");
    for name in ["apps/web/a", "apps/api/b", "apps/c", "other/d"] {
        write(&project, name, "1\n");
    }
    project.git(&["add", "apps", "other"]);
    project.git(&["commit", "-qm", "apps"]);
    let look = "git status --porcelain; find . -type f -not -name .git | sort";
    let seen = |task: &str| {
        let file = project.path().join(".git").join(task);
        fs::read_to_string(file).unwrap()
    };
    let agent = format!(
        "cat > /dev/null; {{ {look}; }} > $REKINDLE_PROJECT/.git/$REKINDLE_TASK; echo 2 >> apps/web/a; echo > apps/web/$REKINDLE_TASK"
    );
    assert_done(&project.run(&agent, &["--jobs", "1", "--verify", "test ! -e other"]));
    let around = "./.env.example\n./.gitignore\n./README\n./apps/c\n";
    assert_eq!(
        seen("A"),
        format!("{around}./apps/web/a\n./package-lock.json\n")
    );
    assert_eq!(
        seen("B"),
        format!("{around}./apps/web/A\n./apps/web/a\n./package-lock.json\n")
    );
    let changed = project.git(&["diff", "--name-status", "main", "result"]);
    assert_eq!(changed, "A\tapps/web/A\nA\tapps/web/B\nM\tapps/web/a\n");
    assert_eq!(
        text(
            &project
                .shell("git config --get-regexp -i 'sparse|worktreeconfig'")
                .stdout
        ),
        ""
    );
    // Without the setting the same worktree has all files again.
    configure(&project, "");
    project.plan("C");
    let words = [
        "run",
        "plan.json",
        "--branch",
        "next",
        "--yes",
        "--agent-cmd",
        &agent,
    ];
    assert_done(&project.rekindle(&words));
    assert!(
        seen("C").contains("./apps/api/b\n") && seen("C").contains("./other/d\n"),
        "{}",
        seen("C")
    );
    assert!(!seen("C").contains(" D "), "{}", seen("C"));
}

#[test]
fn doctor_looks_at_the_project_and_proposes_what_its_worktrees_need() {
    let project = project("A", "");
    let look = || {
        let output = project.rekindle(&["doctor", "--json"]);
        let found: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let checks = found["checks"].as_array().unwrap().clone();
        let is_it = |check: &&serde_json::Value| check["name"] == "worktrees";
        checks.iter().find(is_it).unwrap().clone()
    };
    let found = look();
    assert_eq!(found["verdict"], "note", "{found}");
    let seen = found["seen"].as_str().unwrap();
    assert!(seen.contains("`package-lock.json`"), "{seen}");
    assert!(
        seen.contains("`.env`, `sub/.env.local`, which git ignores"),
        "{seen}"
    );
    let hint = found["hint"].as_str().unwrap();
    let (about, section) = hint.split_once('\n').unwrap();
    assert!(about.contains("`[worktree]`"), "{hint}");
    assert_eq!(
        section,
        "setup = [\"npm ci --prefer-offline --no-audit --no-fund\"]\nsetup_when = [\"package-lock.json\"]\ncopy = [\".env*\"]"
    );
    assert!(!about.contains(".gitignore"), "{hint}");
    fs::remove_dir_all(project.path().join("node_modules")).unwrap();
    assert_eq!(look()["hint"], hint);
    // What it proposes is enough.
    configure(&project, section);
    assert_eq!(look()["verdict"], "ok");
    project.git(&["rm", "-q", "--cached", ".gitignore"]);
    write(&project, ".gitignore", ".env*\n");
    configure(&project, "");
    let hint = look()["hint"].to_string();
    assert!(
        hint.contains("add `node_modules/` to `.gitignore`, then"),
        "{hint}"
    );
}
