//! A thousand tasks: git runs only for those that may land.

use std::collections::BTreeMap;

use anyhow::{Result, ensure};
use rekindle_testkit::conformance::Stage;
use rekindle_testkit::process::write_script;
use rekindle_testkit::sandbox::quoted;
use serde_json::{Value, json};

use crate::scenes::{id, plan_id, ready, wave};

const N_READY: u32 = 50;
const N_DEAD: u32 = 50;
/// Git is asked a handful of questions about each worktree that could land, and a few about the project.
// Two of them only prevent filters and submodules from running.
const MOST_PER_TREE: usize = 6;
const MOST_FOR_ALL: usize = 23;

/// Lays out so many tasks with a worktree each, without the thousand runs of `git worktree add`.
fn large(n_tasks: u32) -> Result<Stage> {
    let stage = wave(&[ready(1, 1, json!({"made/1.txt": "1\n"}))])?;
    let project = stage.sandbox().project().to_owned();
    let head = stage.git(&["rev-parse", "HEAD"])?;
    let base: Vec<(String, Vec<u8>)> = stage
        .git(&["ls-files", "-z"])?
        .split_terminator('\0')
        .map(|path| Ok((path.to_owned(), fs_err::read(project.join(path))?)))
        .collect::<Result<_>>()?;
    let pattern = stage.task(1)?;
    fs_err::remove_file(stage.task_list().join("2.json"))?;
    for number in 2..=n_tasks {
        let there = stage.worktree(1, number);
        let name = there.file_name().unwrap_or_default();
        let admin = project.join(".git/worktrees").join(name);
        fs_err::create_dir_all(&admin)?;
        fs_err::create_dir_all(&there)?;
        fs_err::write(admin.join("HEAD"), &head)?;
        fs_err::write(admin.join("commondir"), "../..\n")?;
        fs_err::write(admin.join("gitdir"), format!("{there}/.git\n"))?;
        fs_err::write(there.join(".git"), format!("gitdir: {admin}\n"))?;
        let mut task = pattern.clone();
        task["id"] = json!(number.to_string());
        task["subject"] = json!(id(1, number));
        task["metadata"]["kiln_plan_task_id"] = json!(plan_id(1, number));
        task["metadata"]["kiln_worktree"] = json!(there);
        if number <= N_READY {
            fs_err::copy(project.join(".git/index"), admin.join("index"))?;
            let made = format!("made/{number}.txt");
            let operations = json!([{"op": "add", "path": made}]).to_string();
            let artifacts = format!(".kiln-artifacts/{}", plan_id(1, number));
            let evidence = [
                (made, b"x\n".to_vec()),
                (
                    format!("{artifacts}/changed_ops.json"),
                    operations.into_bytes(),
                ),
                (
                    format!("{artifacts}/verify_summary.json"),
                    br#"{"result":"pass"}"#.to_vec(),
                ),
            ];
            for (path, bytes) in base.iter().chain(&evidence) {
                let path = there.join(path);
                fs_err::create_dir_all(path.parent().unwrap_or(&there))?;
                fs_err::write(path, bytes)?;
            }
        } else {
            let (status, beat) = match number {
                _ if number <= N_READY + N_DEAD => ("in_progress", "2026-02-16T12:00:00Z"),
                _ if number % 2 == 0 => ("in_progress", "2026-02-16T14:59:00Z"),
                _ => ("pending", "2026-02-16T14:59:00Z"),
            };
            task["status"] = json!(status);
            task["metadata"]["kiln_stage"] = json!("implementing");
            task["metadata"]["kiln_last_heartbeat"] = json!(beat);
        }
        stage.write_task(&number.to_string(), &task)?;
    }
    Ok(stage)
}

/// Looks at a project through a git that keeps a list of where and with what it was started.
fn inspect_counted(stage: &Stage) -> Result<(Value, Vec<String>)> {
    let root = stage.sandbox().root();
    let (tools, list) = (root.join("tools"), root.join("git-calls"));
    fs_err::create_dir_all(&tools)?;
    let real = stage
        .sandbox()
        .typed(&[])
        .through(&["sh", "-c", "command -v git"])
        .run()?;
    let script = format!(
        "#!/bin/sh\necho \"$PWD $*\" >> {}\nexec {} \"$@\"\n",
        quoted(list.as_str()),
        quoted(real.stdout().trim())
    );
    write_script(tools.join("git").as_std_path(), &script)?;
    let path = stage
        .sandbox()
        .environment()
        .get(std::ffi::OsStr::new("PATH"));
    let path = path.map_or_else(String::new, |path| path.to_string_lossy().into_owned());
    let typed = stage
        .typed("inspect", &["--json"])
        .with("PATH", format!("{tools}:{path}"));
    let answer = typed.run()?.json()?;
    let calls = fs_err::read_to_string(&list)?;
    Ok((answer, calls.lines().map(str::to_owned).collect()))
}

fn classes(answer: &Value) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    let all = answer["facts"]["classification"].as_object();
    for class in all.into_iter().flat_map(serde_json::Map::values) {
        *counts
            .entry(class.as_str().unwrap_or_default().to_owned())
            .or_default() += 1;
    }
    counts
}

#[test]
fn git_runs_only_for_tasks_that_may_land() -> Result<()> {
    let stage = large(1000)?;
    let (answer, calls) = inspect_counted(&stage)?;
    let wanted = [
        ("in_progress", 450),
        ("pending", 450),
        ("ready_for_integration", 50),
        ("rerun_required", 50),
    ];
    let wanted = wanted.map(|(class, count)| (class.to_owned(), count));
    assert_eq!(classes(&answer), BTreeMap::from(wanted));
    let most = MOST_PER_TREE * usize::try_from(N_READY)? + MOST_FOR_ALL;
    ensure!(calls.len() <= most, "git was started {} times", calls.len());
    for number in N_READY + 1..=1000 {
        let there = stage.worktree(1, number);
        let entered = calls
            .iter()
            .find(|call| call.split(' ').any(|word| word == there));
        ensure!(entered.is_none(), "{entered:?}");
    }
    // Nine hundred fewer tasks cost git just as much.
    let (_, fewer) = inspect_counted(&large(N_READY + N_DEAD)?)?;
    assert_eq!(calls.len(), fewer.len());
    Ok(())
}

/// Puts the work of all tasks from a number on onto main, one commit each.
fn land_from(stage: &Stage, first: u32) -> Result<()> {
    use std::fmt::Write as _;

    let mut stream = String::new();
    for number in first..=1000 {
        let subject = format!("phase-1/{}: Work", plan_id(1, number));
        let from = if number == first {
            "from refs/heads/main^0\n"
        } else {
            ""
        };
        writeln!(
            stream,
            "commit refs/heads/main\ncommitter t <t@example.invalid> 1771250400 +0000"
        )?;
        writeln!(stream, "data {}\n{subject}", subject.len())?;
        writeln!(
            stream,
            "{from}M 100644 inline landed/{number}.txt\ndata 2\nx\n"
        )?;
        stage.change_task(number, |task| {
            task["status"] = json!("completed");
            task["metadata"]["kiln_stage"] = json!("verified");
        })?;
    }
    let import = ["sh", "-c", "git fast-import --quiet && git reset -q --hard"];
    let ran = stage
        .sandbox()
        .typed(&[])
        .through(&import)
        .answering(&stream)
        .run()?;
    ensure!(ran.code() == Some(0), "{ran}");
    Ok(())
}

#[test]
fn git_does_not_run_for_landed_tasks() -> Result<()> {
    let stage = large(1000)?;
    land_from(&stage, N_READY + N_DEAD + 1)?;
    let (answer, calls) = inspect_counted(&stage)?;
    let wanted = [
        ("done", 900),
        ("ready_for_integration", 50),
        ("rerun_required", 50),
    ];
    let wanted = wanted.map(|(class, count)| (class.to_owned(), count));
    assert_eq!(classes(&answer), BTreeMap::from(wanted));
    let most = MOST_PER_TREE * usize::try_from(N_READY)? + MOST_FOR_ALL;
    ensure!(calls.len() <= most, "git was started {} times", calls.len());
    Ok(())
}
