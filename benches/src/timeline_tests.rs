use super::*;

/// One task of 40 ms that starts at a time in milliseconds, with the worker and the orchestrator one after the other.
fn task(name: &str, begin: i64) -> (String, Vec<Process>) {
    let at = |ms: i64| (begin + ms) * 1000;
    let line = |word: &str, ms: i64| {
        let ms = begin + ms;
        let (seconds, rest) = (ms / 1000, ms % 1000);
        format!(
            "{{\"event_type\":\"{word}\",\"timestamp\":\"1970-01-01T00:00:{seconds:02}.{rest:03}Z\",\
             \"actor\":\"a\",\"task_id\":\"{name}\",\"details\":{{}}}}\n"
        )
    };
    let logs = [
        line("task_claimed", 0),
        line("task_started", 10),
        line("heartbeat", 11),
        line("task_implemented", 25),
        line("task_completed", 35),
    ];
    let git = |command: &str, worktree: &str, begin: i64, end: i64, n_syncs: u32| Process {
        begin: at(begin),
        end: at(end),
        worktree: worktree.to_owned(),
        command: command.to_owned(),
        arguments: String::new(),
        n_processes: 1,
        n_syncs,
    };
    let inside = format!("/p/w/{name}");
    let worktree = |word: &str, begin: i64, end: i64, n_syncs: u32| Process {
        arguments: format!("[\"git\",\"worktree\",\"{word}\",\"{inside}\",\"x\"]}}"),
        n_processes: 2,
        ..git("worktree", "/p", begin, end, n_syncs)
    };
    let commit = format!("{begin:040x}");
    let with = |arguments: String, process: Process| Process {
        arguments,
        ..process
    };
    let save = format!("[\"git\",\"update-ref\",\"refs/work/{name}/1\",\"{commit}\"]}}");
    let look = format!("[\"git\",\"rev-list\",\"{commit}\"]}}");
    // An event takes 2 ms, a pause between two processes 1 ms.
    let processes = vec![
        worktree("add", 3, 9, 2),
        git("rev-parse", &inside, 15, 16, 0),
        with(save, git("update-ref", "/p", 17, 20, 1)),
        with(look, git("rev-list", "/p", 20, 21, 0)),
        git("status", &inside, 21, 22, 0),
        worktree("remove", 23, 24, 0),
        git("commit-tree", "/p", 30, 31, 1),
        git("update-ref", "/p", 32, 34, 1),
    ];
    (logs.concat(), processes)
}

fn run(begins: &[i64]) -> (String, Vec<Process>) {
    let mut logs = String::new();
    let mut processes = Vec::new();
    for (n, begin) in begins.iter().enumerate() {
        let (lines, started) = task(&format!("T{n}"), *begin);
        logs.push_str(&lines);
        processes.extend(started);
    }
    processes.sort_by_key(|process| process.begin);
    (logs, processes)
}

fn close(measured: f64, expect: f64) {
    assert!(
        (measured - expect).abs() < 1e-9,
        "{measured} instead of {expect}"
    );
}

#[test]
fn the_parts_of_one_worker_add_up() {
    let (logs, processes) = run(&[1000, 1040, 1080, 1120]);
    let found = timeline(&logs, &processes, 1, 41.0).unwrap();
    close(found.one_event, 2.0);
    close(found.pause, 1.0);
    // Three of four tasks are followed by another: (5 - 2) * 3 / 4.
    let expect = [2.25, 8.0, 2.0, 6.0, 5.0, 2.0, 6.0, 7.5, 41.0 - 38.75];
    for (part, expect) in found.parts.iter().zip(expect) {
        close(part.milliseconds, expect);
    }
    close(sum(&found), 41.0);
}

fn sum(timeline: &Timeline) -> f64 {
    timeline.parts.iter().map(|part| part.milliseconds).sum()
}

#[test]
fn processes_and_syncs_are_counted_by_part() {
    let (logs, processes) = run(&[1000, 1040]);
    let [_, worktree, agent, snapshot, removal, _, landing, ..] =
        timeline(&logs, &processes, 1, 41.0).unwrap().parts;
    for (part, [n_processes, n_syncs]) in [
        (worktree, [2.0, 2.0]),
        (snapshot, [2.0, 1.0]),
        (removal, [4.0, 0.0]),
        (landing, [2.0, 2.0]),
        (agent, [0.0, 0.0]),
    ] {
        close(part.n_processes, n_processes);
        close(part.n_syncs, n_syncs);
    }
}

#[test]
fn two_workers_share_the_wall_time() {
    // Two workers in parallel, five milliseconds apart; each ends a task every 40 ms.
    let (logs, processes) = run(&[1000, 1005, 1040, 1045]);
    let found = timeline(&logs, &processes, 2, 20.0).unwrap();
    let [order, worktree, ..] = found.parts;
    close(worktree.milliseconds, 4.0);
    // Two of four tasks are followed by another on the same worker.
    close(order.milliseconds, 3.0 * 2.0 / 4.0 / 2.0);
    close(sum(&found), 20.0);
}

#[test]
fn a_landing_that_waits_for_another_counts_as_waiting_for_the_orchestrator() {
    let (logs, mut processes) = run(&[1000, 1001]);
    // The second delivery arrives before the first has landed, and lands after it.
    for process in &mut processes {
        if process.begin == 1_031_000 && process.worktree == "/p" {
            process.begin = 1_035_500;
        }
    }
    let found = timeline(&logs, &processes, 2, 20.0).unwrap();
    let [.., turn, _, _, _] = found.parts;
    close(turn.milliseconds, 4.25 / 2.0);
}

#[test]
fn missing_events_and_processes_are_errors() {
    let (logs, processes) = run(&[1000, 1040]);
    let without_last: Vec<&str> = logs.lines().filter(|l| !l.contains("completed")).collect();
    let problem = timeline(&without_last.join("\n"), &processes, 1, 41.0).unwrap_err();
    assert_eq!(problem, "the log lacks an event of `T0`");
    let problem = timeline(&logs, &processes[..5], 1, 41.0).unwrap_err();
    assert_eq!(problem, "git's trace lacks a step of `T0`");
}
