//! An agent that prints without end.

use crate::stage::Stage;

/// What is kept at most, the last lines aside.
const MOST: u64 = 8 << 20;
/// What is printed: more than a worker needs for itself.
const FLOOD: u64 = 48 << 20;

#[test]
fn a_flood_is_kept_within_bounds_on_disk_and_in_memory_and_the_work_still_lands() {
    // At its end the agent looks at the most memory that the worker, its parent, ever had.
    let look =
        "run cat /proc/$(cut -d ' ' -f 4 /proc/$PPID/stat)/status >$FAKE_AGENT_SCRIPT/worker";
    let work = format!("stream claude\nflood {FLOOD}\nwrite A.txt x\n{look}\nsay the end");
    let stage = Stage::new("A", &[("A", &work)]);
    stage.run(&[]).done();
    assert_eq!(stage.tree(), "A.txt README");
    let kept = fs_err::read_to_string(stage.output("A", 1)).unwrap();
    let length = u64::try_from(kept.len()).unwrap();
    assert!((MOST..MOST + MOST / 8).contains(&length), "{length}");
    // The beginning and the end are there, and the gap is named.
    let first = kept.lines().next().unwrap();
    assert!(first.contains("\"subtype\":\"init\""), "{first}");
    assert!(kept.contains("lines were left out here; the last 200 follow]\n"));
    let end: Vec<&str> = kept.lines().rev().take(2).collect();
    assert!(end[0].contains("\"type\":\"result\""), "{}", end[0]);
    assert!(end[1].contains("the end"), "{}", end[1]);
    let memory = memory(&stage.note("worker"));
    assert!(memory < FLOOD, "{memory} bytes of memory");
}

/// Reads the most memory that a process had out of its `status`.
fn memory(status: &str) -> u64 {
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let number = line.and_then(|line| line.split_whitespace().next());
    number
        .and_then(|number| number.parse::<u64>().ok())
        .map_or(u64::MAX, |kib| kib << 10)
}
