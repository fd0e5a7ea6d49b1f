//! Reads what git records about its processes if `GIT_TRACE2_EVENT` is set.
//!
//! git appends a line of JSON for each step of each process: when it started and ended, in which worktree,
//! how often it synced. The `sid` identifies the process; that of a child starts with that of its parent.

use std::collections::BTreeMap;

/// The variable that names the file; rekindle passes it on to git.
pub(crate) const VARIABLE: &str = "GIT_TRACE2_EVENT";

/// A git process that rekindle started, with its children.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Process {
    /// Microseconds since 1970.
    pub(crate) begin: i64,
    pub(crate) end: i64,
    /// Its worktree; empty if it needed none.
    pub(crate) worktree: String,
    /// The subcommand.
    pub(crate) command: String,
    /// All arguments, as in the trace.
    pub(crate) arguments: String,
    /// The number of processes, itself included.
    pub(crate) n_processes: u32,
    pub(crate) n_syncs: u32,
}

/// Returns the processes of a trace that ended, in the order of their start.
pub(crate) fn read(trace: &str) -> Vec<Process> {
    let mut by_id: BTreeMap<&str, Process> = BTreeMap::new();
    for line in trace.lines() {
        let (Some(event), Some(id)) = (text(line, "event"), text(line, "sid")) else {
            continue;
        };
        let root = id.split('/').next().unwrap_or(id);
        let process = by_id.entry(root).or_default();
        if event == "start" {
            process.n_processes += 1;
        }
        if event == "counter" && text(line, "category") == Some("fsync") {
            let count = number(line, "count").and_then(|count| count.parse::<u32>().ok());
            process.n_syncs += count.unwrap_or(0);
        }
        if root == id {
            process.add(event, line);
        }
    }
    let mut processes: Vec<Process> = by_id
        .into_values()
        .filter(|process| process.begin > 0 && process.end > 0)
        .collect();
    processes.sort_by_key(|process| process.begin);
    processes
}

impl Process {
    /// Adds one of its own lines.
    fn add(&mut self, event: &str, line: &str) {
        let time = || text(line, "time").and_then(moment).unwrap_or(0);
        let field = |name: &str| text(line, name).unwrap_or_default().to_owned();
        match event {
            "start" => {
                // The line says how long before it the process started.
                let after = number(line, "t_abs").and_then(microseconds).unwrap_or(0);
                self.begin = time() - after;
                let arguments = line.split_once("\"argv\":");
                self.arguments = arguments.map_or(String::new(), |(_, words)| words.to_owned());
            }
            "def_repo" => self.worktree = field("worktree"),
            "cmd_name" => self.command = field("name"),
            "atexit" => self.end = time(),
            _ => {}
        }
    }
}

/// Returns a text of a line by its key; both writers of such lines write compact JSON.
pub(crate) fn text<'a>(line: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = line.split_once(&format!("\"{name}\":\""))?;
    rest.split('"').next()
}

fn number<'a>(line: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = line.split_once(&format!("\"{name}\":"))?;
    rest.split([',', '}']).next()
}

/// Reads `2026-11-16T00:46:11.132298Z`, with or without a fraction, as microseconds since 1970.
pub(crate) fn moment(text: &str) -> Option<i64> {
    let (date, clock) = text.strip_suffix('Z')?.split_once('T')?;
    let mut numbers = date.split('-').chain(clock.splitn(3, ':'));
    let mut next = || numbers.next()?.parse::<i64>().ok();
    let days = days(next()?, next()?, next()?);
    let minutes = (days * 24 + next()?) * 60 + next()?;
    Some(minutes * 60_000_000 + microseconds(numbers.next()?)?)
}

/// Returns the days from 1970 to a day (Howard Hinnant, `days_from_civil`).
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let (era, of_era) = (year / 400, year % 400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// Reads seconds with up to six digits after the point.
fn microseconds(text: &str) -> Option<i64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let fraction: i64 = format!("{fraction:0<6}").get(..6)?.parse().ok()?;
    Some(whole.parse::<i64>().ok()? * 1_000_000 + fraction)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_to_the_microsecond() {
        for (text, expect) in [
            ("1970-01-01T00:00:00Z", Some(0)),
            ("1970-01-01T00:00:01.5Z", Some(1_500_000)),
            ("2024-02-29T12:34:56.000007Z", Some(1_709_210_096_000_007)),
            ("2026-01-05T09:00:00Z", Some(1_767_603_600_000_000)),
            ("2026-01-05", None),
            ("", None),
        ] {
            assert_eq!(moment(text), expect, "{text}");
        }
    }

    #[test]
    fn lines_are_grouped_by_process_and_children_count_with_their_parent() {
        let trace = r#"{"event":"version","sid":"A","time":"1970-01-01T00:00:01.000500Z"}
{"event":"start","sid":"A","thread":"main","time":"1970-01-01T00:00:01.000600Z","t_abs":0.000600,"argv":["git","worktree","add","/w/T1"]}
{"event":"start","sid":"B","time":"1970-01-01T00:00:00.900100Z","t_abs":0.000100,"argv":["git","add"]}
{"event":"def_repo","sid":"A","repo":1,"worktree":"/p"}
{"event":"cmd_name","sid":"A","name":"worktree","hierarchy":"worktree"}
{"event":"start","sid":"A/C","time":"1970-01-01T00:00:01.001000Z","t_abs":0.000100,"argv":["git","reset"]}
{"event":"cmd_name","sid":"A/C","name":"reset","hierarchy":"worktree/reset"}
{"event":"counter","sid":"A/C","category":"fsync","name":"hardware-flush","count":2}
{"event":"atexit","sid":"A/C","time":"1970-01-01T00:00:01.002000Z","t_abs":0.001,"code":0}
{"event":"counter","sid":"A","category":"fsync","name":"writeout-only","count":1}
{"event":"counter","sid":"A","category":"other","name":"x","count":9}
{"event":"atexit","sid":"A","time":"1970-01-01T00:00:01.003000Z","t_abs":0.003,"code":0}
{"event":"atexit","sid":"B","time":"1970-01-01T00:00:00.950000Z","t_abs":0.05,"code":0}
{"event":"start","sid":"killed","time":"1970-01-01T00:00:02Z","t_abs":0.0,"argv":["git"]}
"#;
        let processes = read(trace);
        assert_eq!(processes.len(), 2);
        assert_eq!((processes[0].begin, processes[0].end), (900_000, 950_000));
        let expect = Process {
            begin: 1_000_000,
            end: 1_003_000,
            worktree: "/p".to_owned(),
            command: "worktree".to_owned(),
            arguments: r#"["git","worktree","add","/w/T1"]}"#.to_owned(),
            n_processes: 2,
            n_syncs: 3,
        };
        assert_eq!(processes[1], expect);
    }
}
