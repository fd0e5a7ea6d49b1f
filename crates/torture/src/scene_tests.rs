//! A run can start in a copy of any repository.

use std::os::unix::fs::symlink;

use super::*;
use crate::git::search;
use crate::source;
use rekindle_testkit::process::write_script;

/// Makes a repository with one commit and returns what keeps it.
fn repository(fill: impl FnOnce(&Utf8Path)) -> (tempfile::TempDir, Utf8PathBuf) {
    let kept = tempfile::tempdir().unwrap();
    let folder = Utf8PathBuf::from_path_buf(kept.path().join("theirs")).unwrap();
    std::fs::create_dir(&folder).unwrap();
    git(&folder, &["init", "--quiet"]).unwrap();
    fill(&folder);
    git(&folder, &["add", "--force", "--all"]).unwrap();
    git(&folder, &["commit", "--quiet", "--message", "Theirs"]).unwrap();
    (kept, folder)
}

fn options() -> Options {
    Options {
        program: "/bin/false".into(),
        search_path: std::env::var_os("PATH").unwrap(),
        repository: None,
        kills: 1,
        seed: 1,
        jobs: 1,
        limit: Duration::MAX,
        interruption: Interruption::default(),
    }
}

fn scene(repository: &Utf8Path) -> Scene {
    let options = options();
    let source = source::find(&options.search_path, Some(repository)).unwrap();
    Scene::build(&options, &source, &[Vec::new()]).unwrap()
}

/// Makes a scene of two tasks, the second of which needs the first, in which a script replaces
/// rekindle.
pub(crate) fn scene_of(script: &str, limit: Duration) -> Scene {
    let options = Options { limit, ..options() };
    let made = Tortured::Made {
        because: String::new(),
    };
    let mut scene = Scene::build(&options, &made, &[Vec::new(), vec![0]]).unwrap();
    let program = scene.folder.join("rekindle");
    write_script(program.as_std_path(), &format!("#!/bin/sh\n{script}\n")).unwrap();
    scene.program = program;
    scene
}

/// Commits what a task lands, on the branch that is checked out.
pub(crate) fn land(scene: &Scene, task: &str, files: &[(&str, &str)]) {
    let project = scene.project();
    for (suffix, contents) in files {
        let file = project.join(agent::FOLDER).join(format!("{task}{suffix}"));
        write(&file, contents).unwrap();
    }
    git(&project, &["add", "--all", "--", agent::FOLDER]).unwrap();
    let message = format!("{task}\n\nRekindle-Task: {task}\nRekindle-Attempt: 1\n");
    let arguments = ["commit", "--quiet", "--allow-empty", "--message", &message];
    git(&project, &arguments).unwrap();
}

#[test]
fn ignore_rules_and_attributes_of_the_repository_do_not_affect_the_agent() {
    for rules in ["*.log\n*.txt", "/torture/", "torture", "*\n!*.md\n", "**/*"] {
        let (_kept, theirs) = repository(|folder| {
            write(&folder.join(".gitignore"), rules).unwrap();
            write(
                &folder.join(".gitattributes"),
                "* filter=none ident eol=crlf\n",
            )
            .unwrap();
        });
        let scene = scene(&theirs);
        let asked = ["check-ignore", "torture/T001.log", "torture/T001.txt"];
        assert_eq!(search(&scene.project(), &asked).unwrap(), "", "{rules}");
        let asked = ["check-attr", "filter", "ident", "--", "torture/T001.log"];
        let attributes = git(&scene.project(), &asked).unwrap();
        assert!(attributes.contains("filter: unset"), "{attributes}");
        assert!(attributes.contains("ident: unset"), "{attributes}");
        // What they ignore besides is still ignored.
        let asked = ["check-ignore", "--no-index", "other/torture/T001.log"];
        let is_ignored = !search(&scene.project(), &asked).unwrap().is_empty();
        assert_eq!(is_ignored, rules != "/torture/", "{rules}");
    }
}

#[test]
fn the_copy_has_no_earlier_workflow_or_branch() {
    let (_kept, theirs) = repository(|folder| {
        write(&folder.join(".agent-memory/runs/theirs/run.json"), "{}").unwrap();
        write(&folder.join(".rekindle/config.toml"), "").unwrap();
        git(folder, &["checkout", "--quiet", "-b", BRANCH]).unwrap();
    });
    git(&theirs, &["tag", BRANCH]).unwrap();
    let scene = scene(&theirs);
    let project = scene.project();
    assert!(!scene.has_run());
    assert!(!project.join(".rekindle").exists());
    let refs = git(&project, &["for-each-ref", "--format=%(refname)"]).unwrap();
    assert_eq!(refs, "refs/heads/main\n");
    assert_eq!(git(&project, &["status", "--porcelain"]).unwrap(), "");
}

#[test]
fn nothing_is_written_through_a_link_of_the_repository() {
    let elsewhere = tempfile::tempdir().unwrap();
    let rules = elsewhere.path().join("rules");
    std::fs::write(&rules, "*\n").unwrap();
    let (_kept, theirs) = repository(|folder| {
        symlink(elsewhere.path(), folder.join(agent::FOLDER)).unwrap();
        symlink(elsewhere.path(), folder.join(".agent-memory")).unwrap();
        symlink(&rules, folder.join(".gitignore")).unwrap();
    });
    let scene = scene(&theirs);
    assert!(!scene.has_run());
    let left: Vec<_> = std::fs::read_dir(elsewhere.path()).unwrap().collect();
    assert_eq!(left.len(), 1, "{left:?}");
    assert_eq!(std::fs::read_to_string(&rules).unwrap(), "*\n");
}

/// git reads rules from a file only.
#[test]
fn a_folder_named_gitignore_is_replaced() {
    let (_kept, theirs) = repository(|folder| {
        write(&folder.join(".gitignore/a.md"), "a\n").unwrap();
    });
    let scene = scene(&theirs);
    let rules = std::fs::read_to_string(scene.project().join(".gitignore"));
    assert_eq!(rules.unwrap(), "\n!/torture/\n");
    assert_eq!(
        git(&scene.project(), &["status", "--porcelain"]).unwrap(),
        ""
    );
}

#[test]
fn a_bare_repository_and_the_inside_of_one_can_be_copied() {
    let (kept, theirs) = repository(|folder| write(&folder.join("a.md"), "a\n").unwrap());
    let parent = Utf8Path::from_path(kept.path()).unwrap();
    git(parent, &["clone", "--quiet", "--bare", "theirs", "bare"]).unwrap();
    for folder in [parent.join("bare"), theirs.join(".git")] {
        assert!(scene(&folder).project().join("a.md").exists(), "{folder}");
    }
}

/// The processes of a scene end with it, stopped ones too.
#[test]
fn dropping_a_scene_kills_its_processes() {
    let (_kept, theirs) = repository(|folder| write(&folder.join("a.md"), "a\n").unwrap());
    let scene = scene(&theirs);
    let (folder, mark) = (scene.folder.clone(), scene.mark.clone());
    let mut command = Command::new("sh");
    command.args(["-c", "sleep 1000 & kill -STOP $$"]);
    let mut child = command.env(processes::MARK, &mark).spawn().unwrap();
    drop(scene);
    child.wait().unwrap();
    assert_eq!(processes::living(&mark), []);
    assert!(!folder.exists());
}
