//! The cost of a task's worktree in repositories of several sizes, beside what a shell loop of git
//! commands takes, and beside the least that git needs to go from one commit to another.

use std::path::Path;
use std::process::Command;

use xtask::files;

use crate::chore::Setting;
use crate::generate;
use crate::measure::milliseconds;
use crate::overhead::timed;
use crate::report::{Section, Table, Target, count, figure};
use crate::standing::Standing;

/// How many files, and how many tasks are timed.
const SIZES: [(u32, u32); 3] = [(100, 40), (1_700, 40), (20_000, 20)];
/// This one takes minutes, so it needs `--full`.
const FULL_SIZE: (u32, u32) = (100_000, 10);
/// The size that has targets.
const TARGET_SIZE: u32 = 20_000;
/// How many times faster than the loop a task is to be there.
const LEAST_FASTER: f64 = 20.0;
/// How many times the least a task may take there.
const MOST_OF_LEAST: f64 = 2.0;
/// How many files of a folder.
const IN_A_FOLDER: u32 = 100;
/// An agent that writes one file.
const AGENT: &str = r#"cat > /dev/null; echo "$REKINDLE_TASK" > "$REKINDLE_TASK.txt""#;
/// What other tools do for a task; `$1` is the number of tasks.
const LOOP: &str = r#"set -e; git checkout -q -B result main
for n in $(seq "$1"); do
  git worktree add -q --detach ../loop HEAD
  echo "$n" > "../loop/T$n.txt"
  git -C ../loop add -A
  git -C ../loop commit -qm "T$n"
  git merge -q "$(git -C ../loop rev-parse HEAD)"
  git worktree remove --force ../loop
done"#;
/// The least: one worktree goes back and forth between two commits that differ in one file.
const LEAST: &str = r#"set -e; git checkout -q --detach main; echo x > least.txt
git add least.txt; git commit -qm least; other=$(git rev-parse HEAD)
git tag -f least-base main; git tag -f least-other "$other""#;
const BACK_AND_FORTH: &str = r#"for n in $(seq "$1"); do
  if [ $((n % 2)) = 0 ]; then git checkout -q least-base; else git checkout -q least-other; fi
done"#;
const WHY_BEHIND: &str = "a task also has a worker, an agent, a commit that is complete and synced, and a landing; the loop records nothing and syncs nothing";

/// The milliseconds a task of one size.
struct Measured {
    files: u32,
    one: f64,
    two: f64,
    first: f64,
    by_loop: f64,
    least: f64,
}

pub(crate) fn bench(setting: &Setting) -> Result<Section, String> {
    let mut measured = Vec::new();
    for (files, tasks) in SIZES.into_iter().chain(setting.full.then_some(FULL_SIZE)) {
        println!("{} files", count(u64::from(files)));
        measured.push(measure(setting, files, tasks)?);
    }
    let mut rows = Vec::new();
    let mut standings = Vec::new();
    for one in &measured {
        let n_files = count(u64::from(one.files));
        for (name, ms) in [
            ("`rekindle run --jobs 1`", one.one),
            ("`rekindle run --jobs 2`", one.two),
            ("`rekindle run --jobs 1`, its first run", one.first),
            ("`git worktree add`, commit, `merge`, `remove`", one.by_loop),
            ("`git checkout` of the other commit", one.least),
        ] {
            rows.push(vec![
                name.to_owned(),
                n_files.clone(),
                figure(ms),
                figure(one.by_loop / ms),
                figure(ms / one.least),
            ]);
        }
        let peer = "a shell loop of `git worktree`".to_owned();
        let what = format!("a task in a repository of {n_files} files, ms");
        let standing = Standing::less(what, one.one, vec![(peer, one.by_loop)], WHY_BEHIND);
        standings.push(if one.files == TARGET_SIZE {
            standing.headline()
        } else {
            standing
        });
    }
    let mut about = "A plan of tasks that need nothing of each other, whose agent writes one file; nothing is checked.\n\
         The runs use the worktrees that an earlier run left, as they do between runs; the first run makes its own.\n\
         The loop does what a script does for each task: it makes a worktree, commits, merges into a checked-out branch, and removes it.\n\
         The least is one checkout that goes between two commits which differ in one file, without a commit, a merge or a sync.\n\
         Wall time divided by the number of tasks."
        .to_owned();
    if !setting.full {
        let large = count(u64::from(FULL_SIZE.0));
        about.push_str(&format!(
            "\n`cargo xtask bench --full` adds a repository of {large} files."
        ));
    }
    Ok(Section {
        title: "A worktree for a task",
        about,
        table: Table {
            n_text: 1,
            head: &[
                "",
                "files",
                "ms per task",
                "times faster than the loop",
                "times the least",
            ],
            rows,
        },
        targets: targets(&measured),
        standings,
        ..Section::default()
    })
}

/// Returns the targets of the size that has some.
fn targets(measured: &[Measured]) -> Vec<Target> {
    let with_target = measured.iter().filter(|one| one.files == TARGET_SIZE);
    with_target
        .flat_map(|one| {
            let n_files = count(u64::from(one.files));
            let faster = format!("a task at {n_files} files, beside the loop");
            let of_least = format!("a task at {n_files} files, beside one `git checkout`");
            [
                Target::above(&faster, one.by_loop / one.one, LEAST_FASTER, "times faster"),
                Target::below(&of_least, one.one / one.least, MOST_OF_LEAST, "times"),
            ]
        })
        .collect()
}

fn measure(setting: &Setting, n_files: u32, tasks: u32) -> Result<Measured, String> {
    let folder = setting.folder.join("worktrees");
    let project = folder.join("project");
    prepare(&project, n_files, tasks)?;
    let run = |branch: &str, jobs: u32| {
        let mut command = Command::new(&setting.rekindle);
        command
            .args(["run", "plan.json", "--yes", "--branch", branch])
            .args(["--agent-cmd", AGENT, "--jobs", &jobs.to_string()]);
        timed(&mut command, &project, tasks)
    };
    let first = run("first", 1)?;
    let one = run("one", 1)?;
    // Makes the second worktree.
    run("warm", 2)?;
    let two = run("two", 2)?;
    let shell = |script: &str, n: u32| {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", script, "sh", &n.to_string()]);
        milliseconds(command.current_dir(&project)).map(|ms| ms / f64::from(n))
    };
    shell(LEAST, 1)?;
    shell(BACK_AND_FORTH, 2)?;
    let least = shell(BACK_AND_FORTH, tasks)?;
    let by_loop = shell(LOOP, tasks.min(20))?;
    files::empty_folder(&folder)?;
    Ok(Measured {
        files: n_files,
        one,
        two,
        first,
        by_loop,
        least,
    })
}

/// Makes a repository of small files, with a plan.
fn prepare(project: &Path, n_files: u32, tasks: u32) -> Result<(), String> {
    files::empty_folder(project)?;
    for n in 0..n_files {
        let file = format!("src/{:04}/{n:06}.txt", n / IN_A_FOLDER);
        files::write(project.join(file), format!("the contents of file {n}\n"))?;
    }
    generate::repository(project)?;
    let tasks: Vec<String> = (0..tasks)
        .map(|n| format!(r#"{{"id":"T{n}","title":"Task {n}"}}"#))
        .collect();
    let plan = format!(
        "{{\"title\":\"worktrees\",\"tasks\":[{}]}}",
        tasks.join(",")
    );
    files::write(project.join("plan.json"), plan)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_are_about_the_size_that_has_them() {
        let measured = |files: u32| Measured {
            files,
            one: 50.0,
            two: 40.0,
            first: 90.0,
            by_loop: 2000.0,
            least: 20.0,
        };
        let section = Section {
            targets: targets(&[measured(100), measured(TARGET_SIZE)]),
            ..Section::default()
        };
        let text = section.to_string();
        let lines: Vec<&str> = text.lines().filter(|line| line.starts_with('*')).collect();
        assert_eq!(
            lines,
            [
                "* a task at 20,000 files, beside the loop > 20.0 times faster: 40.0 times faster, reached",
                "* a task at 20,000 files, beside one `git checkout` < 2.00 times: 2.50 times, MISSED",
            ]
        );
    }
}
