//! How long a list of 100,000 tasks takes: to look at, and to mark one task of.

use std::fmt::Write as _;
use std::process::Command;

use xtask::files;

use crate::chore::Setting;
use crate::measure::{Contender, Meter, compact_json};
use crate::report::{Section, Table, Target, figure, millions};

const N_RUNS: u32 = 9;
const MOST_SECONDS: f64 = 0.5;
const N_GROUPS: usize = 100;
const N_TASKS_A_GROUP: usize = 1_000;
const ID: &str = "spec-kit:001-a";

pub(crate) fn bench(setting: &Setting) -> Result<Section, String> {
    let project = files::empty_folder(setting.folder.join("lists"))?;
    // Kept aside, because every run marks a task.
    let kept = project.join("kept.md");
    files::write(&kept, list())?;
    let source = project.join("specs/001-a/tasks.md");
    files::write(&source, list())?;
    let inspect = || {
        let mut inspect = Command::new(&setting.rekindle);
        inspect
            .args(["inspect", ID, "--json"])
            .current_dir(&project);
        inspect
    };
    let n_tasks = N_GROUPS * N_TASKS_A_GROUP;
    let json = compact_json(&mut inspect())?;
    if !json.contains(&format!(r#""done":{},"total":{n_tasks}"#, n_tasks - 1)) {
        return Err("the tasks were not all counted".to_owned());
    }
    let mut mark = Command::new("sh");
    let words = "cp kept.md specs/001-a/tasks.md && exec \"$0\" resume \"$1\" --in-place --yes --agent-cmd true";
    mark.args(["-c", words]).arg(&setting.rekindle).arg(ID);
    mark.current_dir(&project);
    let contenders = [
        Contender {
            shown: "`rekindle inspect --json`".to_owned(),
            command: Some(inspect()),
            n_runs: N_RUNS,
        },
        Contender {
            shown: "`rekindle resume --in-place` of the last open task, agent `true`".to_owned(),
            command: Some(mark),
            n_runs: N_RUNS,
        },
    ];
    let usages = Meter::new(&setting.folder)?.in_turns(&contenders)?;
    let mut rows = Vec::new();
    for (contender, usage) in contenders.iter().zip(&usages) {
        let usage = usage.ok_or("nothing was measured")?;
        rows.push(vec![
            contender.shown.clone(),
            format!("{:.3}", usage.wall.as_secs_f64()),
            format!("{:.3}", usage.cpu.as_secs_f64()),
            figure(millions(usage.peak)),
        ]);
    }
    if files::read(&source)? != list().replace("[ ]", "[X]") {
        return Err("more than one mark has changed".to_owned());
    }
    let wall = usages[0].map_or(f64::MAX, |usage| usage.wall.as_secs_f64());
    Ok(Section {
        title: "A huge list of tasks",
        about: format!(
            "A `tasks.md` of spec-kit with 100,000 tasks in {N_GROUPS} groups, of which one is open; best of {N_RUNS} runs in turns.\n\
             In place the list is read several times, since everything is read again after every step; then one byte of the file has changed."
        ),
        table: Table {
            n_text: 1,
            head: &["program", "wall s", "CPU s", "memory MB"],
            rows,
        },
        targets: vec![Target::below(
            "wall time of `inspect`",
            wall,
            MOST_SECONDS,
            "s",
        )],
        ..Section::default()
    })
}

fn list() -> String {
    let mut text = String::from("# Tasks: huge\n");
    let last = N_GROUPS * N_TASKS_A_GROUP;
    for number in 1..=last {
        if number % N_TASKS_A_GROUP == 1 {
            let group = number / N_TASKS_A_GROUP + 1;
            let _ = write!(text, "\n## Phase {group}: Group\n\n");
        }
        let mark = if number == last { ' ' } else { 'x' };
        let parallel = if number % 3 == 0 { "" } else { "[P] " };
        let _ = writeln!(
            text,
            "- [{mark}] T{number:06} {parallel}[US1] Do the thing in src/file_{number}.rs"
        );
    }
    text
}
