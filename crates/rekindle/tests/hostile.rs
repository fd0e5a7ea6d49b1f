//! Files that nobody in their right mind would write: no panic, no hang, no byte outside of the project.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{PermissionsExt, symlink};

use anyhow::{Context as _, Result};
use camino::{Utf8Path, Utf8PathBuf};
use rekindle_testkit::agent_memory::{DILIGENT_AGENT, Run};
use rekindle_testkit::gate::make_pipe;
use rekindle_testkit::sandbox::{Ran, Sandbox, quoted};
use serde_json::json;

const BINARY: &str = env!("CARGO_BIN_EXE_rekindle");
const ORDERS: &str = "20260119-0900-orders-api-k2l3";
const NOTHING: [&str; 0] = [];

/// Runs a command in at most 150 MB of memory: what can not be mapped can not be resident.
const IN_LITTLE_MEMORY: [&str; 4] = ["sh", "-c", r#"ulimit -v 153600 && exec "$@""#, "sh"];

fn interrupted() -> Result<(Sandbox, Run)> {
    let sandbox = Sandbox::new(BINARY)?;
    let run = Run::interrupted(ORDERS);
    run.lay_out(&sandbox)?;
    Ok((sandbox, run))
}

/// Runs every command that looks; none may die by a signal, panic or run out of time.
fn look_at_everything(sandbox: &Sandbox, task: &str) -> Result<Vec<Ran>> {
    let mut seen = Vec::new();
    for args in [
        &["status", "-v"][..],
        &["inspect", "-v"],
        &["inspect", "--json"],
        &["inspect", ORDERS],
        &["plan"],
        &["plan", ORDERS],
        &["plan", "--json"],
        &["explain", ORDERS, task],
        &["checkpoints"],
        &["checkpoints", ORDERS],
        &["doctor"],
        &["resume"],
    ] {
        let ran = sandbox.run(args)?;
        assert!(matches!(ran.code(), Some(0 | 1 | 3)), "{args:?}: {ran}");
        assert!(!ran.stderr().contains("panicked"), "{args:?}: {ran}");
        seen.push(ran);
    }
    Ok(seen)
}

/// Returns the codes of everything that is noticed.
fn codes(sandbox: &Sandbox) -> Result<Vec<String>> {
    let inspected = sandbox.run(&["inspect", "--json"])?.json()?;
    let findings = inspected["findings"].as_array().context("findings")?;
    let codes = findings
        .iter()
        .filter_map(|finding| finding["code"].as_str());
    Ok(codes.map(str::to_owned).collect())
}

fn done(sandbox: &Sandbox) -> Result<u64> {
    let inspected = sandbox.run(&["inspect", "--json"])?.json()?;
    let done = &inspected["facts"]["runs"][ORDERS]["done"];
    done.as_u64().with_context(|| inspected.to_string())
}

#[test]
fn bytes_that_are_not_text_are_noticed_and_the_rest_counts() -> Result<()> {
    let (sandbox, run) = interrupted()?;
    let event = br#"{"event_type":"task_completed","task_id":"T002","timestamp":"2026-01-19T11:00:00Z","details":{"note":""#;
    let bytes = [event.as_slice(), b"\xff\xfe\x80", b"\"}}\n\xff\xff\n"].concat();
    sandbox.write(run.path("events/executor/x.jsonl"), bytes)?;
    for name in ["prd.md", "plan.md", "constitution.md", "tasks/T003.md"] {
        sandbox.write(run.path(name), b"\xff\xfe\x00 \xc3\x28")?;
    }
    look_at_everything(&sandbox, "T003")?;
    assert_eq!(codes(&sandbox)?, ["CORRUPT_LINE", "INVALID_UTF8"]);
    assert_eq!(done(&sandbox)?, 2);
    let ran = sandbox.run(&["resume", "--yes", "--no-agent", "--json"])?;
    assert_eq!(ran.code(), Some(0), "{ran}");
    Ok(())
}

#[test]
fn a_graph_that_is_not_text_is_a_corrupt_graph() -> Result<()> {
    let (sandbox, run) = interrupted()?;
    sandbox.write(run.path("task-graph.json"), b"\xff\xfe{\"tasks\":[]}")?;
    look_at_everything(&sandbox, "T001")?;
    assert_eq!(codes(&sandbox)?, ["CORRUPT_TASK_GRAPH", "MISSING_ARTIFACT"]);
    Ok(())
}

/// Wrong as it is: what stands in such a log should count, or at least stop the resume. Its name is
/// made into text on listing and the file is then not found, which is a note that few will read.
#[test]
fn a_log_whose_name_is_not_text_does_not_count_and_is_noted() -> Result<()> {
    let (sandbox, run) = interrupted()?;
    let events = sandbox.path(run.path("events"));
    let odd = events
        .as_std_path()
        .join(OsStr::from_bytes(b"odd-\xff.jsonl"));
    let event =
        r#"{"event_type":"task_completed","task_id":"T002","timestamp":"2026-01-19T11:00:00Z"}"#;
    fs_err::write(odd, format!("{event}\n"))?;
    look_at_everything(&sandbox, "T002")?;
    assert_eq!(codes(&sandbox)?, ["VANISHED_FILE"]);
    assert_eq!(done(&sandbox)?, 1);
    Ok(())
}

/// Wrong as it is: the run shows under a name that is not its own, and a resume would make a folder
/// of that name beside it.
#[test]
fn a_run_whose_name_is_not_text_shows_under_another_and_does_no_harm_to_the_rest() -> Result<()> {
    let (sandbox, run) = interrupted()?;
    let odd = OsStr::from_bytes(b"20260101\xff");
    let runs = sandbox.path(".agent-memory/runs");
    fs_err::create_dir(runs.as_std_path().join(odd))?;
    let tasks = sandbox.path(run.path("tasks"));
    fs_err::write(tasks.as_std_path().join(odd), "")?;
    let seen = look_at_everything(&sandbox, "T001")?;
    assert!(seen[0].stdout().contains("20260101\u{fffd}"));
    assert_eq!(done(&sandbox)?, 1);
    Ok(())
}

#[test]
fn arguments_and_folders_that_are_not_text_are_wrong_usage() -> Result<()> {
    let (sandbox, _) = interrupted()?;
    let odd = sandbox
        .project()
        .as_std_path()
        .join(OsStr::from_bytes(b"odd-\xff"));
    fs_err::create_dir(&odd)?;
    for script in [
        r#"exec "$1" inspect "$(printf '\377')""#,
        r#"exec "$1" -C "$(printf 'odd-\377')""#,
        r#"cd "$(printf 'odd-\377')" && exec "$1""#,
        r#"exec "$1" "$(printf '\377')""#,
    ] {
        let ran = sandbox
            .typed(&[])
            .through(&["sh", "-c", script, "sh"])
            .run()?;
        assert_eq!(ran.code(), Some(2), "{script}: {ran}");
        assert!(ran.stderr().starts_with("error: "), "{script}: {ran}");
    }
    Ok(())
}

#[test]
fn an_answer_that_is_not_text_counts_as_none() -> Result<()> {
    let (sandbox, _) = interrupted()?;
    let before = sandbox.files()?;
    let script = r#"printf 'y\377\n' | "$1" resume --no-agent"#;
    let ran = sandbox
        .typed(&[])
        .through(&["sh", "-c", script, "sh"])
        .run()?;
    assert_eq!((ran.code(), ran.stdout().as_ref()), (Some(3), ""), "{ran}");
    assert_eq!(before.changes(&sandbox.files()?), NOTHING);
    Ok(())
}

#[test]
fn a_line_of_a_gigabyte_is_passed_over_in_little_memory() -> Result<()> {
    let (sandbox, run) = interrupted()?;
    let log = sandbox.path(run.path("events/executor/huge.jsonl"));
    // Sparse, so that it takes no room on the disk.
    fs_err::File::create(&log)?.file().set_len(1 << 30)?;
    let typed = sandbox.typed(&["inspect", "-v"]).through(&IN_LITTLE_MEMORY);
    let ran = typed.run()?;
    fs_err::remove_file(log)?;
    assert_eq!(ran.code(), Some(0), "{ran}");
    let noticed = ran.stdout().split("findings: ").nth(1).map(str::to_owned);
    insta::assert_snapshot!(noticed.unwrap_or_default(), @"
    TRUNCATED_LINE
    note[OVERSIZED_LINE]: a line too long to be read
      at .agent-memory/runs/20260119-0900-orders-api-k2l3/events/executor/huge.jsonl:1
    warning[TRUNCATED_LINE]: a log ends in the middle of a line, which did not count
      at .agent-memory/runs/20260119-0900-orders-api-k2l3/events/executor/huge.jsonl:1
    hint: see `rekindle explain OVERSIZED_LINE`
    ");
    Ok(())
}

#[test]
fn the_limit_of_memory_is_one_that_can_be_met() -> Result<()> {
    let sandbox = Sandbox::new("/bin/sh")?;
    let much = "head -c 300000000 /dev/zero | tail -c 250000000 >/dev/null";
    let typed = sandbox.typed(&["-c", much]).through(&IN_LITTLE_MEMORY);
    assert_ne!(typed.run()?.stderr(), "");
    Ok(())
}

#[test]
fn a_graph_of_a_gigabyte_is_not_read_and_stops_the_resume() -> Result<()> {
    let (sandbox, run) = interrupted()?;
    let graph = sandbox.path(run.path("task-graph.json"));
    fs_err::File::create(&graph)?.file().set_len(1 << 30)?;
    let typed = sandbox.typed(&["resume", "--yes", "--no-agent"]);
    let ran = typed.through(&IN_LITTLE_MEMORY).run()?;
    fs_err::remove_file(graph)?;
    insta::assert_snapshot!(ran, @"
    exit 1
    --- stderr
    error: `agent-memory:20260119-0900-orders-api-k2l3` cannot be resumed

    hint: files that the state depends on cannot be read: `.agent-memory/runs/20260119-0900-orders-api-k2l3/task-graph.json: 1073741824 bytes long, over the limit of 268435456`; `rekindle explain UNREADABLE_FILE` says what to do
    hint: `rekindle inspect agent-memory:20260119-0900-orders-api-k2l3` shows where
    ");
    Ok(())
}

#[test]
fn arrays_in_arrays_a_million_deep_are_passed_over() -> Result<()> {
    let (sandbox, run) = interrupted()?;
    let deep = |n: usize| ("[".repeat(n), "]".repeat(n));
    let ((open, close), (short, shut)) = (deep(1_000_000), deep(1_000));
    let bombs = [
        format!("{open}{close}"),
        open,
        format!("{{\"event_type\":\"x\",\"details\":{short}{shut}}}"),
        format!("{{\"timestamp\":{short}{shut}}}"),
        "{\"a\":".repeat(10_000),
        format!("{}1{}", "{\"a\":".repeat(10_000), "}".repeat(10_000)),
    ];
    let after =
        r#"{"event_type":"task_completed","task_id":"T002","timestamp":"2026-01-19T11:00:00Z"}"#;
    let log = format!("{}\n{after}\n", bombs.join("\n"));
    sandbox.write(run.path("events/executor/bomb.jsonl"), log)?;
    let ran = sandbox.run(&["explain", ORDERS, "T002"])?;
    assert!(
        ran.stdout().contains("is done"),
        "what follows the bombs counts: {ran}"
    );
    assert_eq!(
        codes(&sandbox)?,
        [
            "BAD_TIMESTAMP",
            "CORRUPT_LINE",
            "MISSING_TIMESTAMP",
            "NON_OBJECT_LINE"
        ]
    );
    Ok(())
}

#[test]
fn a_graph_that_is_a_bomb_is_a_corrupt_graph() -> Result<()> {
    let (sandbox, run) = interrupted()?;
    let deep = "[".repeat(1_000_000);
    for bomb in [
        deep.clone(),
        format!("{{\"tasks\":{deep}"),
        format!("{{\"tasks\":[{{\"id\":\"T1\",\"dependencies\":{deep}"),
    ] {
        sandbox.write(run.path("task-graph.json"), bomb)?;
        let ran = sandbox.run(&["inspect"])?;
        assert_eq!(ran.code(), Some(0), "{ran}");
        assert_eq!(codes(&sandbox)?, ["CORRUPT_TASK_GRAPH", "MISSING_ARTIFACT"]);
    }
    Ok(())
}

#[test]
fn a_capture_that_is_a_bomb_is_refused() -> Result<()> {
    let sandbox = Sandbox::new(BINARY)?;
    for bomb in [
        "[".repeat(1_000_000),
        "{\"schema\":".repeat(100_000),
        "\0".repeat(1000),
    ] {
        sandbox.write("capture", bomb)?;
        let ran = sandbox.run(&["inspect", "--from", "capture"])?;
        assert_eq!(ran.code(), Some(1), "{ran}");
    }
    Ok(())
}

#[test]
fn a_task_whose_name_leads_elsewhere_is_worked_on_without_a_step_outside() -> Result<()> {
    let sandbox = Sandbox::new(BINARY)?;
    let run = Run::in_execution(ORDERS);
    run.lay_out(&sandbox)?;
    let ids = [
        "../../x",
        "/etc/passwd",
        "-rf",
        "..",
        "a/b",
        "a\nb",
        "",
        "\0",
    ];
    let tasks: Vec<_> = ids
        .iter()
        .take(6)
        .map(|id| json!({"id": id, "title": id}))
        .collect();
    sandbox.write(
        run.path("task-graph.json"),
        json!({"tasks": tasks}).to_string(),
    )?;
    look_at_everything(&sandbox, "../../x")?;
    let outside = beside(&sandbox)?;
    // An agent that does nothing but say that all is well.
    let ran = sandbox
        .typed(&["resume", "--yes", "--agent-cmd", "exit 0"])
        .answering("skip consolidation\n")
        .run()?;
    assert_eq!(beside(&sandbox)?, outside);
    let told = run.told(&sandbox)?;
    assert!(told.contains("task_completed ../../x"), "{ran}\n{told}");
    assert!(told.contains("task_completed /etc/passwd"), "{ran}\n{told}");
    Ok(())
}

/// Returns what stands beside the project.
fn beside(sandbox: &Sandbox) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in sandbox.root().read_dir_utf8()? {
        names.push(entry?.file_name().to_owned());
    }
    names.sort();
    Ok(names)
}

/// Makes a folder outside of the project with a log in it, by which T002 would be done.
fn elsewhere(sandbox: &Sandbox) -> Result<Utf8PathBuf> {
    let folder = sandbox.root().join("elsewhere");
    fs_err::create_dir_all(folder.join("events/executor"))?;
    let log =
        r#"{"event_type":"task_completed","task_id":"T002","timestamp":"2026-01-19T11:00:00Z"}"#;
    fs_err::write(folder.join("events/executor/x.jsonl"), format!("{log}\n"))?;
    Ok(folder)
}

/// Returns everything below a folder, as one text.
fn contents(folder: &Utf8Path) -> Result<String> {
    let mut text = String::new();
    for entry in folder.read_dir_utf8()? {
        let entry = entry?;
        let path = entry.path();
        if entry.file_type()?.is_dir() {
            text.push_str(&format!("{path}/\n{}", contents(path)?));
        } else {
            text.push_str(&format!("{path}\n{}", fs_err::read_to_string(path)?));
        }
    }
    Ok(text)
}

#[test]
fn a_run_that_is_a_link_out_of_the_project_is_not_followed() -> Result<()> {
    let (sandbox, _) = interrupted()?;
    let outside = elsewhere(&sandbox)?;
    symlink(
        &outside,
        sandbox.path(".agent-memory/runs/20260101-0900-away-a1b2"),
    )?;
    let before = contents(&outside)?;
    let seen = look_at_everything(&sandbox, "T002")?;
    assert!(seen.iter().all(|ran| !ran.stdout().contains("away-a1b2  ")));
    assert_eq!(codes(&sandbox)?, ["OUTSIDE_PROJECT"]);
    let ran = sandbox.run(&["resume", "20260101", "--yes", "--no-agent"])?;
    assert_eq!(ran.code(), Some(1), "{ran}");
    assert_eq!(contents(&outside)?, before);
    Ok(())
}

#[test]
fn events_that_are_links_out_of_the_project_are_neither_read_nor_written() -> Result<()> {
    for link in ["events", "events/orchestrator", "events/executor"] {
        let (sandbox, run) = interrupted()?;
        let outside = elsewhere(&sandbox)?;
        let target = match link {
            "events" => outside.join("events"),
            _ => outside.join("events/executor"),
        };
        fs_err::remove_dir_all(sandbox.path(run.path(link)))?;
        symlink(&target, sandbox.path(run.path(link)))?;
        let before = contents(&outside)?;
        look_at_everything(&sandbox, "T002")?;
        let states = sandbox.run(&["inspect", "--json"])?.json()?;
        let states = &states["facts"]["runs"][ORDERS]["states"];
        assert_ne!(states["T002"], "done", "{link}");
        for args in [
            &["resume", "--yes", "--no-agent"][..],
            &["event", ORDERS, "note", "--actor", "executor"],
            &["checkpoint"],
        ] {
            let ran = sandbox.run(args)?;
            assert!(matches!(ran.code(), Some(0 | 1)), "{link} {args:?}: {ran}");
        }
        assert_eq!(contents(&outside)?, before, "{link}");
    }
    Ok(())
}

#[test]
fn a_refused_way_out_is_said_with_its_path() -> Result<()> {
    let (sandbox, run) = interrupted()?;
    let outside = elsewhere(&sandbox)?;
    fs_err::remove_dir_all(sandbox.path(run.path("events/orchestrator")))?;
    symlink(&outside, sandbox.path(run.path("events/orchestrator")))?;
    insta::assert_snapshot!(sandbox.run(&["checkpoint"])?, @"
    exit 1
    --- stderr
    error: the plan could not be applied
      cause: `.agent-memory/runs/20260119-0900-orders-api-k2l3/events/orchestrator/20260120-120000.jsonl` leads outside `[PROJECT]`

    hint: `rekindle doctor` checks what rekindle needs
    ");
    Ok(())
}

#[test]
fn a_log_that_is_a_link_to_a_file_outside_is_neither_read_nor_written() -> Result<()> {
    let (sandbox, run) = interrupted()?;
    let outside = elsewhere(&sandbox)?;
    let target = outside.join("events/executor/x.jsonl");
    symlink(
        &target,
        sandbox.path(run.path("events/executor/linked.jsonl")),
    )?;
    let today = run.path("events/worker/20260120-rekindle.jsonl");
    fs_err::create_dir_all(sandbox.path(run.path("events/worker")))?;
    symlink(&target, sandbox.path(&today))?;
    let before = contents(&outside)?;
    assert_eq!(codes(&sandbox)?, ["OUTSIDE_PROJECT"]);
    assert_eq!(done(&sandbox)?, 1);
    let ran = sandbox.run(&["event", ORDERS, "note", "--actor", "worker"])?;
    assert_eq!(ran.code(), Some(1), "{ran}");
    assert_eq!(contents(&outside)?, before);
    Ok(())
}

#[test]
fn a_state_folder_that_is_a_link_out_of_the_project_is_not_used() -> Result<()> {
    for link in [".rekindle", ".rekindle/locks", ".rekindle/journal"] {
        let (sandbox, run) = interrupted()?;
        let outside = elsewhere(&sandbox)?;
        if link != ".rekindle" {
            fs_err::create_dir(sandbox.path(".rekindle"))?;
        }
        symlink(&outside, sandbox.path(link))?;
        let before = contents(&outside)?;
        let ran = sandbox.run(&["resume", "--yes", "--no-agent"])?;
        assert_eq!(contents(&outside)?, before, "{link}: {ran}");
        assert_eq!(ran.code(), Some(1), "{link}: {ran}");
        assert_eq!(run.told(&sandbox)?, "", "{link}");
    }
    Ok(())
}

#[test]
fn links_that_lead_nowhere_or_in_circles_do_no_harm() -> Result<()> {
    let (sandbox, run) = interrupted()?;
    let at = |name: &str| sandbox.path(run.path(name));
    symlink("nowhere", at("events/executor/dangling.jsonl"))?;
    symlink("circle.jsonl", at("events/executor/circle.jsonl"))?;
    symlink("..", at("events/round"))?;
    symlink("loop", sandbox.path(".agent-memory/runs/loop"))?;
    fs_err::remove_file(at("tasks/T003.md"))?;
    symlink("T003.md", at("tasks/T003.md"))?;
    look_at_everything(&sandbox, "T001")?;
    assert_eq!(done(&sandbox)?, 1);
    let ran = sandbox.run(&["resume", "--yes", "--no-agent"])?;
    assert_eq!(ran.code(), Some(0), "{ran}");
    Ok(())
}

#[test]
fn pipes_and_folders_in_place_of_files_are_never_waited_for() -> Result<()> {
    let (sandbox, run) = interrupted()?;
    make_pipe(&sandbox.path(run.path("events/executor/pipe.jsonl")))?;
    fs_err::create_dir(sandbox.path(run.path("events/executor/folder.jsonl")))?;
    fs_err::remove_file(sandbox.path(run.path("tasks/T002.md")))?;
    make_pipe(&sandbox.path(run.path("tasks/T002.md")))?;
    symlink(
        "pipe.jsonl",
        sandbox.path(run.path("events/executor/to-pipe.jsonl")),
    )?;
    look_at_everything(&sandbox, "T002")?;
    assert_eq!(done(&sandbox)?, 1);
    let ran = sandbox.run(&["resume", "--yes", "--no-agent"])?;
    assert_eq!(ran.code(), Some(0), "{ran}");
    Ok(())
}

#[test]
fn a_pipe_in_place_of_the_graph_is_not_a_graph() -> Result<()> {
    let (sandbox, run) = interrupted()?;
    fs_err::remove_file(sandbox.path(run.path("task-graph.json")))?;
    make_pipe(&sandbox.path(run.path("task-graph.json")))?;
    look_at_everything(&sandbox, "T002")?;
    let next = &sandbox.run(&["status", "--json"])?.json()?["workflows"][0]["next"];
    assert_eq!(next["kind"], "break_tasks");
    Ok(())
}

#[test]
fn pipes_in_place_of_our_own_files_are_an_error_and_no_hang() -> Result<()> {
    let names = [
        (
            ".rekindle/locks",
            format!(".rekindle/locks/agent-memory-{ORDERS}.lock"),
        ),
        (
            ".rekindle/journal",
            format!(".rekindle/journal/agent-memory-{ORDERS}.jsonl"),
        ),
    ];
    for (folder, name) in names {
        let (sandbox, run) = interrupted()?;
        fs_err::create_dir_all(sandbox.path(folder))?;
        make_pipe(&sandbox.path(&name))?;
        let ran = sandbox.run(&["resume", "--yes", "--no-agent"])?;
        assert_eq!(ran.code(), Some(1), "{name}: {ran}");
        assert!(ran.stderr().contains(&name), "{name}: {ran}");
        assert_eq!(run.told(&sandbox)?, "", "{name}");
    }
    Ok(())
}

/// A user for whom permissions count. For root they do not, so root becomes nobody.
struct Anybody<'s> {
    sandbox: &'s Sandbox,
    /// A copy of the binary, where nobody can reach it.
    copy: Option<Utf8PathBuf>,
}

impl<'s> Anybody<'s> {
    /// Opens the whole sandbox to others; gives nothing where there is no way to become one.
    fn of(sandbox: &'s Sandbox) -> Result<Option<Self>> {
        let sh = |script: &str| sandbox.typed(&[]).through(&["sh", "-c", script]).run();
        if sh("id -u")?.stdout().trim() != "0" {
            let copy = None;
            return Ok(Some(Self { sandbox, copy }));
        }
        if sh("command -v setpriv")?.code() != Some(0) {
            return Ok(None);
        }
        let copy = sandbox.root().join("rekindle");
        fs_err::copy(sandbox.binary(), &copy)?;
        sh(&format!(
            "chmod -R a+rX {}",
            quoted(sandbox.root().as_str())
        ))?;
        let copy = Some(copy);
        Ok(Some(Self { sandbox, copy }))
    }

    fn run(&self, args: &[&str]) -> Result<Ran> {
        let typed = self.sandbox.typed(args);
        let Some(copy) = &self.copy else {
            return Ok(typed.run()?);
        };
        let nobody = r#"shift; exec setpriv --reuid=65534 --regid=65534 --clear-groups "$0" "$@""#;
        Ok(typed.through(&["sh", "-c", nobody, copy.as_str()]).run()?)
    }
}

fn set_mode(path: &Utf8Path, mode: u32) -> Result<()> {
    Ok(fs_err::set_permissions(
        path,
        PermissionsExt::from_mode(mode),
    )?)
}

#[test]
fn a_log_that_may_not_be_read_stops_the_resume_and_is_named() -> Result<()> {
    let (sandbox, run) = interrupted()?;
    let Some(anybody) = Anybody::of(&sandbox)? else {
        return Ok(());
    };
    let log = run.path("events/executor/20260119-0900.jsonl");
    set_mode(&sandbox.path(&log), 0o000)?;
    let ran = anybody.run(&["resume", "--yes", "--no-agent"])?;
    assert_eq!(ran.code(), Some(1), "{ran}");
    assert!(
        ran.stderr()
            .contains("files that the state depends on cannot be read"),
        "{ran}"
    );
    let inspected = anybody.run(&["inspect", "--json"])?.json()?;
    assert_eq!(inspected["findings"][0]["code"], "UNREADABLE_FILE");
    assert_eq!(inspected["findings"][0]["where"], log.as_str());
    Ok(())
}

#[test]
fn a_folder_that_may_not_be_entered_stops_the_resume() -> Result<()> {
    let (sandbox, run) = interrupted()?;
    let Some(anybody) = Anybody::of(&sandbox)? else {
        return Ok(());
    };
    let events = sandbox.path(run.path("events"));
    set_mode(&events, 0o000)?;
    let ran = anybody.run(&["resume", "--yes", "--no-agent"])?;
    // Or else the folder could not be removed in the end.
    set_mode(&events, 0o755)?;
    assert_eq!(ran.code(), Some(1), "{ran}");
    assert!(ran.stderr().contains("cannot be read"), "{ran}");
    Ok(())
}

#[test]
fn a_project_that_may_not_be_written_can_be_looked_at_and_not_resumed() -> Result<()> {
    let (sandbox, run) = interrupted()?;
    let Some(anybody) = Anybody::of(&sandbox)? else {
        return Ok(());
    };
    set_mode(sandbox.project(), 0o555)?;
    let status = anybody.run(&["status"])?;
    let resumed = anybody.run(&["resume", "--yes", "--no-agent"])?;
    set_mode(sandbox.project(), 0o755)?;
    assert_eq!(status.code(), Some(0), "{status}");
    insta::assert_snapshot!(resumed, @"
    exit 1
    --- stderr
    error: the plan could not be applied
      cause: cannot make the folder `[PROJECT]/.rekindle`
      cause: Permission denied (os error 13)

    hint: `rekindle doctor` checks what rekindle needs
    ");
    assert_eq!(run.told(&sandbox)?, "");
    Ok(())
}

#[test]
fn a_project_with_an_odd_path_is_resumed_to_its_end() -> Result<()> {
    let sandbox = Sandbox::named(BINARY, "a 'b' \"c\"\n$d `e` \\f -g é")?;
    let run = Run::interrupted(ORDERS);
    run.lay_out(&sandbox)?;
    let agent = sandbox.script("agent.sh", DILIGENT_AGENT)?;
    let project = sandbox.project().as_str();
    let typed = sandbox.typed(&["-C", project, "resume", "--yes", "--agent-cmd", &agent]);
    let ran = typed.from("/").answering("merged\n").run()?;
    assert_eq!(ran.code(), Some(0), "{ran}");
    assert!(run.told(&sandbox)?.ends_with("run_completed\n"));
    assert_eq!(sandbox.read("work/T003.txt")?, "work of T003\n");
    assert_eq!(
        beside(&sandbox)?.len(),
        3,
        "home, the project and the agent"
    );
    let shown = sandbox.run(&["doctor"])?;
    assert_eq!(
        shown.stdout().lines().count(),
        2,
        "a line break in a path breaks no line: {shown}"
    );
    Ok(())
}

/// Sets the window's title, clears the screen, turns the text around: none of it may reach a terminal.
const EVIL: &str = "\u{1b}]0;evil\u{7}\u{1b}[2Jevil\u{9b}31m\u{202e}\r";

#[test]
fn control_characters_from_files_never_reach_the_terminal() -> Result<()> {
    let sandbox = Sandbox::new(BINARY)?;
    let name = format!("20260119-0900-{EVIL}-a1b2");
    let other = format!("20260118-0900-{EVIL}-a1b2");
    let task = format!("T{EVIL}");
    let run = Run::in_execution(&name)
        .event("09:40", "checkpoint_created", &json!({"message": EVIL}))
        .event("09:41", &format!("note{EVIL}"), &json!({"error": EVIL}))
        .task_event("09:42", "task_started", &task)
        .task_event("09:43", "task_failed", &format!("unknown{EVIL}"));
    run.lay_out(&sandbox)?;
    let tasks = json!([
        {"id": task, "title": EVIL, "description": EVIL, "dependencies": [EVIL]},
        {"id": task, "title": EVIL},
        {"id": "T2", "title": EVIL, "acceptance_criteria": [EVIL], "verification_commands": ["false"]},
        {"id": "T3", "title": EVIL},
    ]);
    let blocked = json!({"event_type": "task_blocked", "task_id": "T3",
        "timestamp": "2026-01-19T10:00:00Z", "details": {"reason": EVIL}});
    sandbox.write(
        run.path("task-graph.json"),
        json!({"tasks": tasks}).to_string(),
    )?;
    sandbox.write(
        run.path(&format!("events/{EVIL}.jsonl")),
        format!("{blocked}\n\u{1b}\n"),
    )?;
    Run::complete(&other).lay_out(&sandbox)?;
    let waiting =
        Run::awaiting_approval(&format!("20260117-0900-{EVIL}-a1b2")).task("T1", EVIL, &[]);
    waiting.lay_out(&sandbox)?;
    let below = sandbox.path(format!("below {EVIL}/deep"));
    fs_err::create_dir_all(&below)?;
    for color in ["never", "always"] {
        for args in [
            &["status", "-v"][..],
            &["status", "--json"],
            &["inspect", "-v"],
            &["inspect", "-v", "20260119"],
            &["inspect", "--json"],
            &["inspect", EVIL],
            &["plan", "20260119"],
            &["plan", "--json", "20260119"],
            &["plan"],
            &["explain", "20260119", &task],
            &["explain", "20260119", EVIL],
            &["explain", EVIL],
            &["checkpoints", "20260119"],
            &["checkpoint", "20260119", "-m", EVIL],
            &["checkpoints", "20260119"],
            &["event", "20260119", "note", "--task", EVIL],
            &["doctor"],
            &["resume"],
            &["resume", "20260119"],
            &["resume", "20260118", "--yes"],
            &["resume", "20260117", "--yes"],
            &["resume", "nonsense"],
            &["resume", "20260119", "--yes", "--no-agent"],
            &["resume", "20260119", "--yes", "--agent-cmd", "exit 1"],
            &["resume", "20260119", "--yes", "--agent-cmd", "exit 0"],
            &["-C", EVIL],
            &["inspect", "--from", EVIL],
            &["inspect", "--capture", EVIL],
        ] {
            let args = [&["--color", color], args].concat();
            harmless(&sandbox.run(&args)?, &args);
        }
        let args = ["--color", color, "status"];
        harmless(&sandbox.typed(&args).from(&below).run()?, &args);
        fs_err::remove_file(sandbox.path(EVIL))?;
    }
    Ok(())
}

/// Checks that nothing but our own colors could move a terminal.
#[track_caller]
fn harmless(ran: &Ran, args: &[&str]) {
    for text in [ran.stdout(), ran.stderr()] {
        let mut rest = text.into_owned();
        for code in ["0", "1", "2", "31", "32", "33", "36"] {
            rest = rest.replace(&format!("\u{1b}[{code}m"), "");
        }
        let is_json = args.contains(&"--json");
        let bad = rest.chars().find(|&c| {
            // JSON is for programs; of what it must not hold, ESC is what a terminal minds.
            let unsafe_char = (c.is_control() && c != '\n') || c == '\u{202e}';
            if is_json { c == '\u{1b}' } else { unsafe_char }
        });
        assert_eq!(bad, None, "{args:?}: {rest:?}");
    }
}

#[test]
fn a_thousand_runs_and_a_log_of_many_lines_are_handled() -> Result<()> {
    let (sandbox, run) = interrupted()?;
    for number in 0..1000 {
        let folder = format!(".agent-memory/runs/20260101-0900-many-{number:04}/events");
        fs_err::create_dir_all(sandbox.path(folder))?;
    }
    let line = r#"{"event_type":"heartbeat","task_id":"T002","timestamp":"2026-01-19T11:00:00Z"}"#;
    let log = format!("{line}\n").repeat(50_000);
    sandbox.write(run.path("events/executor/long.jsonl"), log)?;
    let ran = sandbox.run(&["status", "--json"])?;
    let workflows = ran.json()?["workflows"].as_array().map(Vec::len);
    assert_eq!(workflows, Some(1001));
    Ok(())
}

#[test]
fn a_huge_or_hostile_journal_of_a_repair_is_a_finding() -> Result<()> {
    let operation = "repair-0123456789abcdef01234567";
    let path = format!(".git/map-repairs/{operation}/journal.json");
    let huge = format!("{{\"frame\": \"{}\", \"stage\": 1}}", "A".repeat(50 << 20));
    let over = "A".repeat(65 << 20);
    let deep = "[".repeat(1 << 20);
    for hostile in [
        huge.as_bytes(),
        over.as_bytes(),
        deep.as_bytes(),
        b"\xff\x00",
    ] {
        let sandbox = Sandbox::new(BINARY)?;
        let init = [
            "sh",
            "-c",
            "git init -q -b main && git -c user.name=a -c user.email=b commit -q --allow-empty -m start",
        ];
        sandbox.typed(&[]).through(&init).run()?;
        let state =
            json!({"current_step_id": "2.3", "active_interruption": {"operation_id": operation}});
        sandbox.write(".map/main/step_state.json", state.to_string())?;
        sandbox.write(&path, hostile)?;
        for args in [
            &["inspect", "--json"][..],
            &["map", "get_next_step"],
            &["map", "abandon"],
        ] {
            let ran = sandbox.typed(args).through(&IN_LITTLE_MEMORY).run()?;
            assert!(matches!(ran.code(), Some(0 | 1 | 3)), "{args:?}: {ran}");
            assert!(ran.stdout().contains("map-repairs"), "{args:?}: {ran}");
        }
    }
    Ok(())
}
