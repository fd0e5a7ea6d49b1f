//! The same as a trace, for viewers of traces: <https://ui.perfetto.dev>, `chrome://tracing`, Speedscope.
//!
//! A track for the orchestrator and one for each task, so that nothing overlaps. The time in which no
//! orchestrator lived is a gap in its track; workers that went on alone are whole in theirs.

use rekindle_wire::{Picture, PictureAttempt};
use serde_json::{Value, json};

use crate::scene::{End, Scene, milliseconds};

/// Returns the picture in the Trace Event format, an event a line, in the order of time.
pub fn trace(picture: &Picture) -> String {
    let scene = Scene::new(picture);
    let mut events = Events::default();
    events.name("process_name", 0, &picture.title);
    events.name("thread_name", 0, "orchestrator");
    let mut free = i64::MIN;
    for life in &scene.lives {
        let from = life.from.max(free);
        free = life.to.max(from + 1);
        events.add(
            from,
            json!({"ph": "B", "name": "rekindle", "cat": "life"}),
            0,
        );
        events.add(free, json!({"ph": "E"}), 0);
        let word = match life.end {
            End::Alive | End::Finished => None,
            End::Stopped => Some("stopped"),
            End::Interrupted => Some("interrupted"),
            End::Restarted => Some("machine restarted"),
        };
        if let Some(word) = word {
            events.instant(life.to, word, 0, "g");
        }
    }
    for life in scene.lives.iter().skip(1) {
        events.instant(life.from, "resumed", 0, "g");
    }
    for &(from, to) in &scene.waits {
        events.add(
            from,
            json!({"ph": "b", "id": from, "name": "usage limit", "cat": "limit"}),
            0,
        );
        events.add(
            to,
            json!({"ph": "e", "id": from, "name": "usage limit", "cat": "limit"}),
            0,
        );
    }
    for (at, name) in &scene.marks {
        events.instant(*at, name, 0, "t");
    }
    for (place, task) in (1..).zip(&picture.tasks) {
        events.name("thread_name", place, &format!("{} {}", task.id, task.title));
        let mut free = i64::MIN;
        for (n, attempt) in task.attempts.iter().enumerate() {
            let next = task.attempts.get(n + 1);
            events.attempt(&task.id, attempt, next, (place, scene.now), &mut free);
        }
    }
    events.finish(picture)
}

/// Events with their time in milliseconds.
#[derive(Default)]
struct Events {
    names: Vec<Value>,
    timed: Vec<(i64, u8, Value)>,
    arrows: usize,
}

impl Events {
    fn name(&mut self, what: &str, track: usize, name: &str) {
        let name = rekindle_text::excerpt(name, 120);
        self.names
            .push(json!({"ph": "M", "pid": 1, "tid": track, "name": what, "args": {"name": name}}));
        if what == "thread_name" {
            self.names.push(json!({
                "ph": "M", "pid": 1, "tid": track, "name": "thread_sort_index", "args": {"sort_index": track}
            }));
        }
    }

    fn add(&mut self, at: i64, event: Value, track: usize) {
        let mut event = event;
        // An end comes before the beginning of what follows at the same moment.
        let rank = u8::from(event["ph"] != "E");
        event["pid"] = json!(1);
        event["tid"] = json!(track);
        event["ts"] = json!(at * 1000);
        self.timed.push((at, rank, event));
    }

    fn instant(&mut self, at: i64, name: &str, track: usize, scope: &str) {
        let name = rekindle_text::excerpt(name, 120);
        self.add(at, json!({"ph": "i", "name": name, "s": scope}), track);
    }

    fn attempt(
        &mut self,
        task: &str,
        attempt: &PictureAttempt,
        next: Option<&PictureAttempt>,
        (track, now): (usize, i64),
        free: &mut i64,
    ) {
        let Some(from) = milliseconds(&attempt.from) else {
            return;
        };
        // Two of a track never overlap, and none begins where it ends.
        let from = from.max(*free);
        let to = attempt.to.as_deref().and_then(milliseconds).unwrap_or(now);
        let to = to.max(from + 1);
        *free = to;
        let begin = next.and_then(|next| milliseconds(&next.from));
        let begin = begin.map(|begin| begin.max(to));
        let name = format!(
            "{} #{} {}",
            rekindle_text::excerpt(task, 60),
            attempt.number,
            attempt.end
        );
        self.add(from, json!({
            "ph": "B", "name": name, "cat": attempt.end,
            "args": {
                "task": rekindle_text::excerpt(task, 60),
                "attempt": attempt.number,
                "commit": attempt.commit.as_deref().map(|commit| rekindle_text::excerpt(commit, 64)),
                "saved": attempt.saved.as_deref().map(|saved| rekindle_text::excerpt(saved, 120)),
                "cost_microdollars": attempt.cost_microdollars,
            }
        }), track);
        self.add(to, json!({"ph": "E"}), track);
        if let Some(landed) = attempt.landed.as_deref().and_then(milliseconds) {
            self.instant(landed, "landed", track, "t");
        }
        if attempt.end == "killed" {
            self.instant(to, "killed", track, "t");
            if let Some(begin) = begin {
                self.arrows += 1;
                let id = self.arrows;
                self.add(
                    to - 1,
                    json!({"ph": "s", "id": id, "name": "done again", "cat": "again"}),
                    track,
                );
                self.add(
                    begin,
                    json!({"ph": "f", "bp": "e", "id": id, "name": "done again", "cat": "again"}),
                    track,
                );
            }
        }
    }

    fn finish(mut self, picture: &Picture) -> String {
        self.timed.sort_by_key(|(at, rank, _)| (*at, *rank));
        let events = self.timed.into_iter().map(|(_, _, event)| event);
        let lines: Vec<String> = self
            .names
            .into_iter()
            .chain(events)
            .map(|event| event.to_string())
            .collect();
        let about = json!({"schema": picture.schema, "id": picture.id});
        format!(
            "{{\"displayTimeUnit\":\"ms\",\"otherData\":{about},\"traceEvents\":[\n{}\n]}}\n",
            lines.join(",\n")
        )
    }
}
