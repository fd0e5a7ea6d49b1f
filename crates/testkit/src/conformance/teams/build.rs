//! Lays the wave out: repository, worktrees, artifacts, and what of it has reached the main tree.

use std::io::{self, Write};

use camino::Utf8Path;
use indexmap::IndexMap;

use super::super::clock;
use super::super::error::Error;
use super::super::scene::{Scene, copy_tree};
use super::layout::worktree_root;
use super::spec::{Artifacts, Change, Integrated, Spec, Task, Worktree};
use super::{documents, task_list};

/// What git passes over in a project that Kiln has set up.
const EXCLUDED: &str = ".kiln-snapshot/\n.kiln-artifacts/\n";

/// Builds the scene's repository, its worktrees and the task list.
pub(crate) fn build(scene: &mut Scene, spec: &Spec) -> Result<(), Error> {
    let root = worktree_root(scene);
    let now = clock::now(&scene.case().now, &scene.case().tz)?;
    fs_err::create_dir_all(&root)?;
    if let Some(parent) = root.parent() {
        scene.set_variable("KILN_WORKTREE_ROOT", parent.as_str());
    }
    let base = scaffold(scene, spec, &now)?;
    for task in &spec.tasks {
        let path = root.join(task.slug());
        match task.worktree {
            Worktree::Real if task.status != "pending" => {
                add_worktree(scene, &path, &base)?;
                work(scene, &path, task)?;
                integrate(scene, &path, spec, task)?;
                if task.worktree_lost {
                    fs_err::remove_dir_all(&path)?;
                }
            }
            Worktree::Hollow => fs_err::create_dir_all(&path)?,
            Worktree::Real | Worktree::None => {}
        }
    }
    for name in &spec.stray_worktrees {
        add_worktree(scene, &root.join(name), &base)?;
    }
    for name in &spec.stray_folders {
        put(&root.join(name), "notes.txt", "left over\n")?;
    }
    task_list::write(scene, spec, &root, &now)
}

/// Writes the project before any task and commits it; returns the commit.
fn scaffold(scene: &Scene, spec: &Spec, now: &str) -> Result<String, Error> {
    let project = scene.project();
    for (path, text) in documents::BASE_FILES {
        put(project, path, text)?;
    }
    let kiln = project.join(".kiln");
    put(
        &kiln,
        "config.json",
        &format!("{:#}", documents::config(spec)),
    )?;
    put(&kiln, "ROADMAP.md", documents::ROADMAP)?;
    put(
        &kiln,
        "tracks/phase-1/PLAN.md",
        &documents::plan(&spec.plan),
    )?;
    for name in ["TECH_STACK", "PATTERNS", "DECISIONS", "PITFALLS"] {
        put(&kiln, &format!("docs/{name}.md"), &format!("# {name}\n"))?;
    }
    put(
        &kiln,
        "STATE.md",
        &documents::state(spec, &clock::ago(now, 20.0)?),
    )?;
    scene.git(project, &["init", "-q", "-b", "main"])?;
    scene.git(project, &["add", "-A"])?;
    scene.git(project, &["commit", "-q", "-m", "chore: scaffold"])?;
    if !spec.no_exclude {
        let exclude = project.join(".git/info/exclude");
        let mut file = fs_err::OpenOptions::new()
            .append(true)
            .create(true)
            .open(exclude)?;
        file.write_all(EXCLUDED.as_bytes())?;
    }
    Ok(scene
        .git(project, &["rev-parse", "HEAD"])?
        .trim()
        .to_owned())
}

fn add_worktree(scene: &Scene, path: &Utf8Path, base: &str) -> Result<(), Error> {
    let args = ["worktree", "add", "-q", "--detach", path.as_str(), base];
    scene.git(scene.project(), &args).map(drop)
}

/// Does what the task's worker did in its worktree.
fn work(scene: &Scene, path: &Utf8Path, task: &Task) -> Result<(), Error> {
    put(path, ".kiln-snapshot/config.json", "{}")?;
    put(path, ".kiln-snapshot/STATE.md", "# Project State\n")?;
    mutate(path, &task.change)?;
    if task.staged {
        scene.git(path, &["add", "-A"])?;
    }
    if task.commit {
        scene.git(path, &["commit", "-q", "-m", "worker commit"])?;
    }
    write_artifacts(path, task)?;
    Ok(())
}

fn write_artifacts(path: &Utf8Path, task: &Task) -> io::Result<()> {
    let folder = path.join(".kiln-artifacts").join(&task.plan);
    if task.artifacts == Artifacts::None {
        return Ok(());
    }
    put(&folder, "sharpened.md", &format!("# {}\n", task.plan))?;
    let result = match task.artifacts {
        Artifacts::None | Artifacts::Partial => return Ok(()),
        Artifacts::Pass => "pass",
        Artifacts::Fail => "fail",
    };
    put(
        &folder,
        "changed_ops.json",
        &documents::operations(&task.change).to_string(),
    )?;
    put(
        &folder,
        "verify_summary.json",
        &documents::verify_summary(result).to_string(),
    )?;
    if task.artifacts == Artifacts::Fail {
        put(
            &folder,
            "error_context.json",
            &documents::error_context().to_string(),
        )?;
    }
    Ok(())
}

/// Brings as much of the task's change into the main tree as the case says.
fn integrate(scene: &Scene, path: &Utf8Path, spec: &Spec, task: &Task) -> Result<(), Error> {
    let project = scene.project();
    let first = task.change.write.first();
    match task.integrated {
        None => {}
        Some(Integrated::Committed) => {
            mutate(project, &task.change)?;
            let made = path.join(".kiln-artifacts").join(&task.plan);
            copy_tree(
                &made,
                &project
                    .join(".kiln/tracks/phase-1/artifacts")
                    .join(&task.plan),
            )?;
            let title = spec.plan.iter().find(|planned| planned.id == task.plan);
            let title = title.map_or("", |planned| &planned.title);
            scene.git(project, &["add", "-A", "--", ":!.kiln/STATE.md"])?;
            let subject = format!("phase-1/{}: {title}", task.plan);
            scene.git(project, &["commit", "-q", "-m", &subject])?;
        }
        Some(Integrated::Partial) => {
            mutate(
                project,
                &written(first.map(|(path, text)| (path, text.as_str()))),
            )?;
        }
        Some(Integrated::Foreign) => {
            let text = "// someone else's content\n";
            mutate(project, &written(first.map(|(path, _)| (path, text))))?;
        }
    }
    Ok(())
}

fn written(file: Option<(&String, &str)>) -> Change {
    let write: IndexMap<String, String> = file
        .into_iter()
        .map(|(path, text)| (path.clone(), text.to_owned()))
        .collect();
    Change {
        write,
        ..Change::default()
    }
}

fn mutate(root: &Utf8Path, change: &Change) -> io::Result<()> {
    for (path, text) in &change.write {
        put(root, path, text)?;
    }
    for path in &change.delete {
        fs_err::remove_file(root.join(path))?;
    }
    for (old, new) in &change.rename {
        let target = root.join(new);
        if let Some(folder) = target.parent() {
            fs_err::create_dir_all(folder)?;
        }
        fs_err::rename(root.join(old), target)?;
    }
    Ok(())
}

fn put(root: &Utf8Path, path: &str, text: &str) -> io::Result<()> {
    let full = root.join(path);
    if let Some(folder) = full.parent() {
        fs_err::create_dir_all(folder)?;
    }
    fs_err::write(full, text)
}
