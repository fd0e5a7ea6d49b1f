//! Kiln Teams waves to lay out: a few kinds of tasks, put together by hand or by chance.
//!
//! What is made here is the `teams` object of a case, for [`crate::conformance::Stage`].

use serde_json::{Map, Value, json};

/// Returns a task's id.
pub fn id(wave: u32, number: u32) -> String {
    format!("phase-1:exec:wave-{wave}:task-{number}")
}

/// Returns a task's name in the plan, such as `P1-T12` for the second of wave 1.
pub fn plan_id(wave: u32, number: u32) -> String {
    format!("P1-T{wave}{number}")
}

/// Returns the subject of a task's commit.
pub fn subject(wave: u32, number: u32) -> String {
    format!("phase-1/{}: Work {wave}.{number}", plan_id(wave, number))
}

/// Returns a task that has not begun.
pub fn idle(wave: u32, number: u32) -> Value {
    json!({"task": id(wave, number), "plan": plan_id(wave, number), "status": "pending"})
}

/// Returns a task whose worker gave a sign of life five minutes ago.
pub fn alive(wave: u32, number: u32) -> Value {
    with(
        idle(wave, number),
        json!({"status": "in_progress", "stage": "implementing", "heartbeat_age": 5,
               "owner": format!("worker-{number}"), "artifacts": "partial"}),
    )
}

/// Returns a task whose worker died over half a change.
pub fn dead(wave: u32, number: u32) -> Value {
    with(
        alive(wave, number),
        json!({"heartbeat_age": 50, "change": {"write": {"src/index.js": "half\n", "junk.txt": "junk\n"}}}),
    )
}

/// Returns a task that says it succeeded, with these files written.
pub fn ready(wave: u32, number: u32, write: Value) -> Value {
    let change = Map::from_iter([("write".to_owned(), write)]);
    with(
        alive(wave, number),
        json!({"status": "completed", "stage": "verified", "heartbeat_age": 20,
               "artifacts": "pass", "change": change}),
    )
}

/// Returns a task whose work is on main.
pub fn landed(wave: u32, number: u32, write: Value) -> Value {
    with(
        ready(wave, number, write),
        json!({"integrated": "committed"}),
    )
}

/// Returns an object with more fields, or with others.
pub fn with(mut value: Value, more: Value) -> Value {
    let (Value::Object(fields), Value::Object(more)) = (&mut value, more) else {
        return value;
    };
    fields.extend(more);
    value
}

/// Returns a scene of these tasks; the plan has them in the same order.
pub fn scene(tasks: &[Value]) -> Value {
    let plan: Vec<Value> = tasks.iter().map(planned).collect();
    json!({"plan": plan, "tasks": tasks})
}

fn planned(task: &Value) -> Value {
    let name = task["task"].as_str().unwrap_or_default();
    let mut numbers = name
        .split([':', '-'])
        .filter_map(|part| part.parse::<u32>().ok())
        .skip(1);
    let (wave, number) = (numbers.next(), numbers.next());
    let (wave, number) = (wave.unwrap_or_default(), number.unwrap_or_default());
    json!({"id": task["plan"], "title": format!("Work {wave}.{number}"), "wave": wave})
}

/// Returns an object of one key for each task, as facts about tasks are.
pub fn of_tasks(facts: &[(u32, u32, &str)]) -> Value {
    let fields = facts
        .iter()
        .map(|(wave, number, fact)| (id(*wave, *number), json!(fact)));
    Value::Object(fields.collect::<Map<_, _>>())
}

/// Returns the codes of everything that an answer of `inspect` remarks, sorted.
pub fn codes(answer: &Value) -> Vec<&str> {
    let findings = answer["findings"].as_array().into_iter().flatten();
    let mut codes: Vec<&str> = findings
        .filter_map(|finding| finding["code"].as_str())
        .collect();
    codes.sort_unstable();
    codes
}

/// Returns a scene that chance put together; the same seed gives the same one.
///
/// Every path belongs to one task, and what has landed comes first, as the plan has it.
pub fn generated(seed: u64) -> Value {
    let mut chance = Chance(seed);
    let n_first = 2 + chance.below(4);
    let mut kinds: Vec<u64> = (0..n_first).map(|_| chance.below(10)).collect();
    kinds.sort_unstable();
    let mut pool = vec!["README.md", "src/index.js", "src/log.js", "src/legacy.js"];
    let mut tasks = Vec::new();
    let mut rows = Vec::new();
    for (number, kind) in (1..).zip(kinds) {
        let change = change(&mut chance, &mut pool, number);
        let ready = with(ready(1, number, json!({})), json!({"change": change}));
        tasks.push(match kind {
            0 => with(ready, json!({"integrated": "committed"})),
            1 | 2 => ready,
            3 => with(ready, json!({"staged": true})),
            4 => with(ready, json!({"integrated": "partial"})),
            5 => with(ready, json!({"staged": true, "commit": true})),
            6 => with(ready, json!({"stage": "failed", "artifacts": "fail"})),
            7 => with(
                ready,
                json!({"stage": "shutdown_ack", "artifacts": "partial"}),
            ),
            8 => dead(1, number),
            _ => idle(1, number),
        });
        if kind > 4 && chance.below(3) == 0 {
            let retries = chance.below(2).to_string();
            let row = [
                &plan_id(1, number),
                "1",
                &retries,
                "2026-02-16T13:00:00Z",
                "failed",
                "retry",
            ];
            rows.push(row.map(str::to_owned));
        }
    }
    tasks.extend((1..=chance.below(3)).map(|number| idle(2, u32::try_from(number).unwrap_or(1))));
    with(
        scene(&tasks),
        json!({"state": {"ledger": rows}, "no_exclude": chance.below(2) == 0}),
    )
}

/// Makes up what a task changed: files of its own, and some of the project's that nobody else has.
fn change(chance: &mut Chance, pool: &mut Vec<&str>, number: u32) -> Value {
    let mut write = Map::new();
    for file in 0..=chance.below(2) {
        write.insert(
            format!("made/{number}/{file}.txt"),
            json!(format!("{number} {file}\n")),
        );
    }
    let (mut delete, mut rename) = (Vec::new(), Vec::new());
    if chance.below(2) == 0
        && let Some(path) = pool.pop()
    {
        match chance.below(3) {
            0 => drop(write.insert(path.to_owned(), json!(format!("changed by {number}\n")))),
            1 => delete.push(path.to_owned()),
            _ => rename.push((path.to_owned(), format!("moved/{number}/{path}"))),
        }
    }
    json!({"write": write, "delete": delete, "rename": rename})
}

/// Numbers that look like chance (`SplitMix64`).
#[derive(Debug)]
pub struct Chance(pub u64);

impl Chance {
    /// Returns a number below a limit.
    pub fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % limit.max(1)
    }
}
