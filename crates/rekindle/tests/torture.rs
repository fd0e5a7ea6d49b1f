//! `rekindle torture` as a user calls it.

#![expect(
    clippy::disallowed_methods,
    reason = "tests make the files they look at"
)]

use std::ffi::OsString;
use std::fs::{self};
use std::io;
use std::path::Path;
use std::process::Output;

use camino::{Utf8Path, Utf8PathBuf};
use rekindle_testkit::gate::Gate;
use rekindle_testkit::process::write_script;
use rekindle_testkit::repository::{Project, kill, text};
use rekindle_torture::{Interruption, LIMIT, Options};
use rekindle_wire::torture::Score;
use serde_json::Value;

/// What CI does; `cargo xtask soak` asks for thousands.
const KILLS: u64 = 36;

fn score(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("{}\n{}", text(&output.stdout), text(&output.stderr)))
}

fn names(folder: &Path) -> io::Result<Vec<OsString>> {
    let entries = fs::read_dir(folder)?;
    entries.map(|entry| Ok(entry?.file_name())).collect()
}

#[test]
fn killed_at_random_moments_runs_end_as_if_nobody_had() {
    let project = Project::new(env!("CARGO_BIN_EXE_rekindle"));
    let temporary = tempfile::tempdir().unwrap();
    let before = project.git(&["for-each-ref"]);
    let mut command = project.command(&["torture", "--json", "--kills", &KILLS.to_string()]);
    let output = command.env("TMPDIR", temporary.path()).output().unwrap();
    let score = score(&output);
    assert_eq!(score["wrong"], serde_json::json!([]), "{score}");
    assert_eq!(output.status.code(), Some(0));
    let killed = score["killed"].as_object().unwrap().values();
    let killed: u64 = killed.map(|count| count.as_u64().unwrap()).sum();
    assert!(killed >= KILLS, "{score}");
    let from = project.path().canonicalize().unwrap();
    let copied = serde_json::json!({"kind": "copied", "from": from});
    assert_eq!(score["repository"], copied);
    // What was tortured is a copy, and nothing is left of it.
    assert_eq!(project.git(&["for-each-ref"]), before);
    assert!(!project.path().join(".agent-memory").exists());
    assert!(names(temporary.path()).unwrap().is_empty());
}

/// A hook or an alias says where its repository is; the user has hooks of his own, signs without a
/// key, ignores what the agent writes, has a run, a branch and a tag with names of ours, and a filter
/// that is needed for a file and that fails, as that of Git LFS where it is not installed.
#[test]
fn the_repository_and_the_settings_of_a_user_do_not_matter_and_are_not_touched() {
    let project = Project::new(env!("CARGO_BIN_EXE_rekindle"));
    let path = project.path();
    let home = tempfile::tempdir().unwrap();
    let hooks = home.path().join("hooks");
    fs::create_dir(&hooks).unwrap();
    let ran = home.path().join("ran");
    for hook in ["pre-commit", "post-checkout", "reference-transaction"] {
        write_script(
            &hooks.join(hook),
            &format!("#!/bin/sh\necho {hook} >> '{}'\nexit 1\n", ran.display()),
        )
        .unwrap();
    }
    fs::create_dir_all(path.join(".agent-memory/runs/theirs")).unwrap();
    fs::write(path.join(".agent-memory/runs/theirs/run.json"), "{}").unwrap();
    fs::write(path.join(".gitignore"), "*.log\n*.txt\n").unwrap();
    fs::write(path.join("a.bin"), "pointer\n").unwrap();
    fs::write(path.join(".gitattributes"), "*.bin filter=theirs\n").unwrap();
    project.git(&["checkout", "-q", "-b", "rekindle-torture"]);
    project.git(&["add", "."]);
    project.git(&["commit", "-qm", "theirs"]);
    project.git(&["tag", "rekindle-torture", "HEAD^"]);
    project.git(&["checkout", "-q", "-b", "other"]);
    project.git(&["remote", "add", "origin", "https://example.invalid/theirs"]);
    let settings = home.path().join("gitconfig");
    let filter = home.path().join("filter");
    let script = format!("#!/bin/sh\necho filter >> '{}'\nexit 1\n", ran.display());
    write_script(&filter, &script).unwrap();
    let text_of_settings = format!(
        "[core]\n\thooksPath = {}\n[commit]\n\tgpgSign = true\n[gpg]\n\tprogram = /bin/false\n\
         [clone]\n\tdefaultRemoteName = theirs\n[grep]\n\tlineNumber = true\n\
         [filter \"theirs\"]\n\tsmudge = {filter}\n\tclean = {filter}\n\trequired = true\n",
        hooks.display(),
        filter = filter.display()
    );
    fs::write(&settings, text_of_settings).unwrap();
    let state = || {
        let config = fs::read(path.join(".git/config")).unwrap();
        (
            project.git(&["for-each-ref"]),
            text(&config),
            project.git(&["status", "--porcelain"]),
        )
    };
    let before = state();
    let mut command = project.command(&["torture", "--json", "--kills", "1"]);
    command
        .env("GIT_CONFIG_GLOBAL", &settings)
        .env("GIT_DIR", path.join(".git"))
        .env("GIT_INDEX_FILE", path.join(".git/index"));
    let output = command.output().unwrap();
    assert_eq!(score(&output)["wrong"], serde_json::json!([]));
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(state(), before);
    assert!(!ran.exists(), "{}", fs::read_to_string(&ran).unwrap());
}

#[test]
fn an_interruption_ends_everything_and_removes_the_copy() {
    let project = Project::new(env!("CARGO_BIN_EXE_rekindle"));
    let temporary = tempfile::tempdir().unwrap();
    // Every agent sleeps, and here it stops at a gate instead.
    let tools = tempfile::tempdir().unwrap();
    let gate = Gate::new(Utf8Path::from_path(tools.path()).unwrap()).unwrap();
    let sleep = format!("#!/bin/sh\n{}", gate.script());
    write_script(&tools.path().join("sleep"), &sleep).unwrap();
    let path = std::env::var("PATH").unwrap();
    let running = project.start(
        &["torture", "--json"],
        &[
            ("TMPDIR", temporary.path().to_str().unwrap()),
            ("PATH", &format!("{}:{path}", tools.path().display())),
        ],
    );
    gate.wait().unwrap();
    assert_eq!(
        names(temporary.path()).unwrap().len(),
        1,
        "the copy is there"
    );
    kill(running.pid(), "INT");
    let output = running.finish().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let said: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        said["error"]["message"],
        "interrupted: all started processes were stopped, and the copy was removed"
    );
    assert!(names(temporary.path()).unwrap().is_empty());
    assert!(project.processes().is_empty(), "{:?}", project.processes());
}

/// A score of something else would say nothing about it.
#[test]
fn a_repository_of_another_user_is_refused_with_what_to_type() {
    let project = Project::new(env!("CARGO_BIN_EXE_rekindle"));
    let mut command = project.command(&["torture"]);
    let output = command.env("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1").output();
    let output = output.unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(text(&output.stdout), "");
    let said = text(&output.stderr);
    for words in [
        "belongs to another user, and git does not work in it",
        "if you trust it: `git config --global --add safe.directory '",
    ] {
        assert!(said.contains(words), "{said}");
    }
}

#[test]
fn no_kills_and_no_workers_are_refused() {
    let project = Project::new(env!("CARGO_BIN_EXE_rekindle"));
    for option in ["--kills", "--jobs"] {
        let output = project.rekindle(&["torture", option, "0"]);
        assert_eq!(output.status.code(), Some(2));
        let said = text(&output.stderr);
        assert!(said.contains("0 is not in 1..="), "{said}");
    }
}

fn options(program: impl Into<Utf8PathBuf>) -> Options {
    Options {
        program: program.into(),
        search_path: std::env::var_os("PATH").unwrap_or_default(),
        repository: None,
        kills: 1,
        seed: 5,
        jobs: 4,
        limit: LIMIT,
        interruption: Interruption::default(),
    }
}

/// Returns the folder of a run that went wrong, which is kept for a person.
fn kept(score: &Score) -> Option<&Path> {
    let project = score.wrong.last()?.split('`').nth(1)?;
    Path::new(project).parent()
}

/// A program that answers like rekindle and forgets the work of what was killed must be found out.
#[test]
fn a_program_that_loses_work_gets_no_good_score() {
    let project = Project::new(env!("CARGO_BIN_EXE_rekindle"));
    let forgetful = project.path().join("rekindle-forgetful");
    let script = format!(
        "#!/bin/sh\n\"{}\" \"$@\"; code=$?\ngit for-each-ref --format='delete %(refname)' refs/rekindle | git update-ref --stdin\nexit $code\n",
        env!("CARGO_BIN_EXE_rekindle")
    );
    write_script(&forgetful, &script).unwrap();
    let options = Options {
        kills: 200,
        ..options(Utf8PathBuf::try_from(forgetful).unwrap())
    };
    let score = rekindle_torture::torture(&options, &mut |_| {}).unwrap();
    assert!(score.bytes_lost > 0, "{score:?}");
    fs::remove_dir_all(kept(&score).unwrap()).unwrap();
}

/// What rekindle itself says of the logs, the refs and the folders is what is looked at: a program
/// that does all of its work and then spoils it must be found out by each of them.
#[test]
fn a_program_that_leaves_a_mess_gets_no_good_score() {
    let project = Project::new(env!("CARGO_BIN_EXE_rekindle"));
    let messy = project.path().join("rekindle-messy");
    let script = format!(
        r#"#!/bin/sh
"{}" "$@" || exit
case $1 in run | resume) ;; *) exit ;; esac
sleep 1000 > /dev/null 2>&1 &
mkdir -p .rekindle/worktrees/R/T001.left-1
tip=refs/heads/rekindle-torture
git update-ref refs/rekindle/work/R/T001/9 $tip
trailers="Rekindle-Task: T001
Rekindle-Attempt: 9"
identity="-c user.name=t -c user.email=t@example.invalid"
twice=$(git $identity commit-tree -p $tip -m Again -m "$trailers" $tip^{{tree}})
git update-ref $tip "$twice"
for log in .agent-memory/runs/*/events/*/*.jsonl; do printf '{{"half' >> "$log"; done
"#,
        env!("CARGO_BIN_EXE_rekindle")
    );
    write_script(&messy, &script).unwrap();
    let options = options(Utf8PathBuf::try_from(messy).unwrap());
    let score = rekindle_torture::torture(&options, &mut |_| {}).unwrap();
    let wrong = score.wrong.join("\n");
    assert_eq!((score.landed_twice, score.lost), (1, 0), "{wrong}");
    assert!(score.processes_left > 0, "{wrong}");
    // A git that outlives its killed worker can leave a ref of its own besides.
    assert!(score.worktrees_leaked >= 2, "{wrong}");
    for found in [
        "worktrees/R/T001.left-1` was not removed",
        "`refs/rekindle/work/R/T001/9` was not removed",
        "is damaged: TRUNCATED_LINE",
    ] {
        assert!(wrong.contains(found), "{found}: {wrong}");
    }
    fs::remove_dir_all(kept(&score).unwrap()).unwrap();
}

#[test]
fn a_program_that_cannot_even_run_a_plan_is_named() {
    let options = options("/bin/false");
    let error = rekindle_torture::torture(&options, &mut |_| {}).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the undisturbed run failed: exit status: 1"
    );
}
