use super::*;

/// One task of 40 ms that begins at a time in milliseconds, with the worker and the orchestrator one after the other.
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
    // An event takes 2 ms, a pause between two processes 1 ms.
    let processes = vec![
        worktree("add", 3, 9, 2),
        git("rev-parse", &inside, 15, 16, 0),
        git("update-ref", &inside, 17, 20, 1),
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
        let (said, started) = task(&format!("T{n}"), *begin);
        logs.push_str(&said);
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
fn with_one_worker_the_parts_lie_end_to_end() {
    let (logs, processes) = run(&[1000, 1040, 1080, 1120]);
    let found = timeline(&logs, &processes, 1, 41.0).unwrap();
    close(found.one_event, 2.0);
    close(found.pause, 1.0);
    // Three of four tasks are followed by another: (5 - 2) * 3 / 4.
    close(found.order.milliseconds, 2.25);
    close(found.worktree.milliseconds, 8.0);
    close(found.agent.milliseconds, 2.0);
    close(found.snapshot.milliseconds, 6.0);
    close(found.removal.milliseconds, 5.0);
    close(found.turn.milliseconds, 2.0);
    close(found.landing.milliseconds, 6.0);
    close(found.events.milliseconds, 7.5);
    close(found.rest.milliseconds, 41.0 - 38.75);
    close(found.sum(), 41.0);
}

#[test]
fn processes_and_syncs_are_counted_where_they_belong() {
    let (logs, processes) = run(&[1000, 1040]);
    let found = timeline(&logs, &processes, 1, 41.0).unwrap();
    let counts = |part: Part| [part.n_processes, part.n_syncs];
    for (part, [n_processes, n_syncs]) in [
        (found.worktree, [2.0, 2.0]),
        (found.snapshot, [2.0, 1.0]),
        (found.removal, [3.0, 0.0]),
        (found.landing, [2.0, 2.0]),
        (found.agent, [0.0, 0.0]),
    ] {
        close(counts(part)[0], n_processes);
        close(counts(part)[1], n_syncs);
    }
}

#[test]
fn two_workers_share_the_wall_time() {
    // Two workers side by side, five milliseconds apart; each ends a task every 40 ms.
    let (logs, processes) = run(&[1000, 1005, 1040, 1045]);
    let found = timeline(&logs, &processes, 2, 20.0).unwrap();
    close(found.worktree.milliseconds, 4.0);
    // Two of four tasks are followed by another on the same worker.
    close(found.order.milliseconds, 3.0 * 2.0 / 4.0 / 2.0);
    close(found.sum(), 20.0);
}

#[test]
fn a_landing_that_waits_for_another_counts_the_waiting_as_the_orchestrators() {
    let (logs, mut processes) = run(&[1000, 1001]);
    // The second delivery is there before the first has landed, and lands after it.
    for process in &mut processes {
        if process.begin == 1_031_000 && process.worktree == "/p" {
            process.begin = 1_035_500;
        }
    }
    let found = timeline(&logs, &processes, 2, 20.0).unwrap();
    close(found.turn.milliseconds, 4.25 / 2.0);
}

#[test]
fn what_is_not_told_is_said_and_not_guessed() {
    let (logs, processes) = run(&[1000, 1040]);
    let without_last: Vec<&str> = logs.lines().filter(|l| !l.contains("completed")).collect();
    let problem = timeline(&without_last.join("\n"), &processes, 1, 41.0).unwrap_err();
    assert_eq!(problem, "the run's log lacks a word on `T0`");
    let problem = timeline(&logs, &processes[..5], 1, 41.0).unwrap_err();
    assert_eq!(problem, "git's trace does not tell all steps of `T0`");
}
