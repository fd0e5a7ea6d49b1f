//! What a git that looks does not start, and what a git that works does.
//!
//! `crates/rekindle/tests/hostile_clone` has the same for the whole binary. Here each setting is shown
//! alone: without it, plain git runs the program.

use camino::Utf8PathBuf;
use rekindle_git::{
    Error, Expected, Program, Repo, SETTINGS, VARIABLES, VARIABLES_TO_LOOK, VARIABLES_TO_READ,
    Version,
};

use crate::fixture::{Fixture, hermetic, path_variable};

/// A program that leaves a file behind when it is run.
struct Canary {
    program: Utf8PathBuf,
    mark: Utf8PathBuf,
}

impl Canary {
    fn new(fixture: &Fixture) -> Self {
        let mark = fixture.root.join("canary-ran");
        let folder = fixture.script("canary", &format!("echo \"$*\" >>'{mark}'\ncat"));
        Self {
            program: folder.join("canary"),
            mark,
        }
    }

    /// Returns whether it ran since this was last asked.
    fn ran(&self) -> bool {
        std::fs::remove_file(&self.mark).is_ok()
    }
}

fn looking(fixture: &Fixture) -> Repo {
    Repo::at(&fixture.program.for_looking(), &fixture.dir)
}

/// Makes git read a file again although its content is the same.
fn touch(fixture: &Fixture, name: &str) {
    let file = std::fs::File::options()
        .write(true)
        .open(fixture.path(name))
        .unwrap();
    let times = file.metadata().unwrap().modified().unwrap() - std::time::Duration::from_secs(60);
    file.set_modified(times).unwrap();
}

#[test]
fn a_git_that_looks_runs_no_filter_and_a_git_that_works_does() {
    let fixture = Fixture::new();
    let canary = Canary::new(&fixture);
    let base = fixture.git_id(["rev-parse", "HEAD"]);
    // A name may hold what ends a name elsewhere.
    for (name, key) in [("x", "clean"), ("x=y", "clean"), ("a.b", "process")] {
        let command = format!("{} {name}", canary.program);
        fixture.git(["config", &format!("filter.{name}.{key}"), &command]);
        fixture.git(["config", &format!("filter.{name}.required"), "true"]);
        fixture.write(".git/info/attributes", format!("base.txt filter={name}\n"));
        touch(&fixture, "base.txt");
        fixture.try_git(&fixture.dir, ["--no-optional-locks", "status"]);
        assert!(canary.ran(), "plain git runs the filter {name}");
        let repo = looking(&fixture);
        assert_eq!(repo.status().unwrap(), []);
        repo.changes(&base).unwrap();
        repo.ignored().unwrap();
        repo.printed_status(rekindle_git::Untracked::Files).unwrap();
        repo.printed_names_since(base.as_str()).unwrap();
        assert!(!canary.ran(), "{name}");
        if key == "clean" {
            touch(&fixture, "base.txt");
            fixture.repo().snapshot_tree(&[]).unwrap();
            assert!(canary.ran(), "work needs the filter {name}");
        }
        fixture.git(["config", "--remove-section", &format!("filter.{name}")]);
    }
}

#[test]
fn a_git_that_looks_starts_no_git_in_a_submodule() {
    let fixture = Fixture::new();
    let canary = Canary::new(&fixture);
    fixture.git(["clone", "--quiet", ".", "sub"]);
    let base = fixture.commit_all("with a submodule");
    let sub = fixture.dir.join("sub");
    fixture.git_in(&sub, ["config", "filter.x.clean", canary.program.as_str()]);
    fixture.write("sub/.git/info/attributes", "base.txt filter=x\n");
    touch(&fixture, "sub/base.txt");
    fixture.git(["--no-optional-locks", "status"]);
    assert!(canary.ran(), "plain git starts one");
    touch(&fixture, "sub/base.txt");
    let repo = looking(&fixture);
    assert_eq!(repo.status().unwrap(), []);
    assert_eq!(repo.changes(&base).unwrap(), []);
    repo.printed_status(rekindle_git::Untracked::Files).unwrap();
    repo.printed_names_since(base.as_str()).unwrap();
    assert!(!canary.ran());

    // That it is at another commit is seen all the same, and that it is gone.
    fixture.git_in(&sub, ["commit", "--quiet", "--allow-empty", "-m", "next"]);
    let paths = |changes: Vec<rekindle_git::Change>| -> Vec<String> {
        let paths = changes.iter().map(|change| change.path.to_string());
        paths.collect()
    };
    assert_eq!(paths(repo.changes(&base).unwrap()), ["sub"]);
    assert_eq!(repo.status().unwrap().len(), 1);
    std::fs::remove_dir_all(&sub).unwrap();
    assert_eq!(paths(repo.changes(&base).unwrap()), ["sub"]);
}

/// Makes the repository a partial clone that lacks an object, whose remote is the canary.
fn lacking(fixture: &Fixture, canary: &Canary) {
    let upload_pack = format!("{} </dev/null; false", canary.program);
    for (key, value) in [
        ("core.repositoryFormatVersion", "1"),
        ("extensions.partialClone", "origin"),
        ("remote.origin.url", "."),
        ("remote.origin.promisor", "true"),
        ("remote.origin.uploadpack", upload_pack.as_str()),
        ("protocol.file.allow", "always"),
    ] {
        fixture.git(["config", key, value]);
    }
    let blob = fixture.git(["rev-parse", "HEAD:base.txt"]);
    let (folder, file) = blob.split_at(2);
    std::fs::remove_file(fixture.path(format!(".git/objects/{folder}/{file}"))).unwrap();
}

#[test]
fn no_git_of_ours_fetches_and_the_missing_object_is_explained() {
    let fixture = Fixture::new();
    let canary = Canary::new(&fixture);
    lacking(&fixture, &canary);
    fixture.try_git(&fixture.dir, ["cat-file", "-p", "HEAD:base.txt"]);
    assert!(canary.ran(), "plain git fetches");
    let path = "base.txt".into();
    let blob = fixture.git_id(["rev-parse", "HEAD:base.txt"]);
    assert!(looking(&fixture).as_checked_out(&blob, &path).is_err());
    let head = fixture.git_id(["rev-parse", "HEAD"]);
    let add = |repo: Repo, name: &str| {
        let path = fixture.root.join(name);
        repo.add_worktree(&path, &head, rekindle_git::Checkout::Detached)
    };
    let error = add(fixture.repo(), "made").unwrap_err();
    assert!(matches!(&error, Error::NotFetched { .. }), "{error}");
    assert!(error.to_string().contains("fetch --refetch"), "{error}");
    assert!(!canary.ran());

    // Versions before 2.45 do not know `GIT_NO_LAZY_FETCH`.
    let real = Program::locate(&path_variable()).unwrap();
    let real = real.to_str().unwrap();
    let script = format!("unset GIT_NO_LAZY_FETCH; exec '{real}' \"$@\"");
    let old = hermetic(
        Program::find(&fixture.fake_git(&script)).unwrap(),
        &fixture.root,
    );
    for program in [old.clone(), old.for_work()] {
        let repo = Repo::at(&program, &fixture.dir);
        assert!(repo.as_checked_out(&blob, &path).is_err());
        assert!(!canary.ran());
    }
}

#[test]
fn a_bare_repository_in_a_folder_is_not_used() {
    let fixture = Fixture::new();
    let canary = Canary::new(&fixture);
    lacking(&fixture, &canary);
    std::fs::rename(fixture.path(".git"), fixture.path("inner")).unwrap();
    let inner = fixture.dir.join("inner");
    fixture.try_git(&inner, ["cat-file", "-p", "HEAD:base.txt"]);
    assert!(canary.ran(), "plain git uses it");
    for program in [fixture.program.clone(), fixture.program.for_looking()] {
        let error = Repo::at(&program, &inner).head().unwrap_err();
        assert!(
            matches!(&error, Error::Bare(dir) if *dir == inner),
            "{error}"
        );
    }
    assert!(!canary.ran());
}

#[test]
fn a_worktree_that_is_configured_somewhere_else_is_refused() {
    let fixture = Fixture::new();
    let home = fixture.root.join("home");
    std::fs::create_dir(&home).unwrap();
    fixture.git(["config", "core.worktree", home.as_str()]);
    let error = looking(&fixture).top_level().unwrap_err();
    assert!(
        matches!(&error, Error::Elsewhere { top_level, .. } if *top_level == home),
        "{error}"
    );
    let base = fixture.git_id(["rev-parse", "HEAD"]);
    looking(&fixture).changes(&base).unwrap_err();
}

#[test]
fn hooks_and_monitors_are_off_for_looking_and_working_alike() {
    let fixture = Fixture::new();
    let canary = Canary::new(&fixture);
    fixture.git(["config", "core.fsmonitor", canary.program.as_str()]);
    let hooks = fixture.dir.join(".git/hooks");
    std::fs::create_dir_all(&hooks).unwrap();
    for name in [
        "post-index-change",
        "reference-transaction",
        "post-checkout",
    ] {
        std::os::unix::fs::symlink(&canary.program, hooks.join(name)).unwrap();
    }
    fixture.git(["status"]);
    assert!(canary.ran(), "plain git runs the monitor");
    fixture.git(["update-ref", "refs/rekindle/x", "HEAD"]);
    assert!(canary.ran(), "plain git runs the hook");
    fixture.write("new", "x");
    let head = fixture.git_id(["rev-parse", "HEAD"]);
    canary.ran();
    for (n, repo) in [fixture.repo(), looking(&fixture)].iter().enumerate() {
        repo.status().unwrap();
        repo.changes(&head).unwrap();
        // The settings of the repository are included in some calls, and must not win.
        repo.rescue("w", "t").unwrap();
        let name = format!("refs/rekindle/run/{n}");
        repo.update_ref(&name, &head, &Expected::Missing).unwrap();
        assert!(!canary.ran());
    }
}

/// Since 2.54 settings can name hooks, which `core.hooksPath` does not switch off.
#[test]
fn hooks_that_settings_name_are_switched_off_by_name() {
    let fixture = Fixture::new();
    fixture.git(["config", "hook.spy.command", "true"]);
    fixture.git(["config", "hook.spy.event", "reference-transaction"]);
    let real = Program::locate(&path_variable()).unwrap();
    let log = fixture.root.join("log");
    let script = format!("echo \"$*\" >>'{log}'\nexec '{}' \"$@\"", real.display());
    let path = fixture.script("git", &script).join("git");
    let head = fixture.git_id(["rev-parse", "HEAD"]);
    for (minor, is_off) in [(53, false), (54, true)] {
        let version = Version {
            major: 2,
            minor,
            patch: 0,
        };
        let program = Program::checked(path.clone().into(), version).for_work();
        let repo = Repo::at(&hermetic(program, &fixture.root), &fixture.dir);
        for n in 0..2 {
            let name = format!("refs/rekindle/{minor}/{n}");
            repo.update_ref(&name, &head, &Expected::Missing).unwrap();
        }
        let said = std::fs::read_to_string(&log).unwrap();
        std::fs::remove_file(&log).unwrap();
        let off = "--config-env=hook.spy.event=REKINDLE_GIT_EMPTY";
        let updates = said.lines().filter(|line| line.contains(" update-ref "));
        assert!(updates.clone().count() == 2);
        assert!(
            updates.clone().all(|line| line.contains(off) == is_off),
            "{said}"
        );
        // Asked once for a folder.
        let n_questions = said
            .lines()
            .filter(|line| line.contains("--get-regexp"))
            .count();
        assert_eq!(n_questions, usize::from(is_off));
    }
}

#[test]
fn the_threat_model_lists_every_setting_and_variable() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/threat-model.md");
    let text = std::fs::read_to_string(path).unwrap();
    let variables = [VARIABLES, VARIABLES_TO_LOOK, VARIABLES_TO_READ].concat();
    let variables = variables
        .iter()
        .map(|(name, value)| format!("`{name}={value}`"));
    let settings = SETTINGS.iter().map(|setting| format!("`{setting}`"));
    let missing: Vec<String> = variables
        .chain(settings)
        .filter(|entry| !text.contains(entry))
        .collect();
    assert_eq!(missing, [""; 0]);
}
