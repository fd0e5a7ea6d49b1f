//! What git itself tells of every process of a run, by its variable `GIT_TRACE2_EVENT`.
//!
//! git then appends a line of JSON for each thing that it does: when it began and ended, in which
//! worktree, how often it synced. Lines of several processes are mixed and told apart by their `sid`;
//! the one of a git that git started begins with that of its parent.

use std::collections::BTreeMap;

/// The variable that names the file; it is not among those that rekindle keeps from git.
pub(super) const VARIABLE: &str = "GIT_TRACE2_EVENT";

/// A git that rekindle started, together with those that it started in turn.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Process {
    /// When it began and ended, in microseconds since 1970.
    pub(super) begin: i64,
    pub(super) end: i64,
    /// The worktree that it worked in; empty if it needed none.
    pub(super) worktree: String,
    /// The subcommand.
    pub(super) command: String,
    /// All arguments, as they stand in the trace.
    pub(super) arguments: String,
    /// How many processes it is, itself included.
    pub(super) n_processes: u32,
    pub(super) n_syncs: u32,
}

/// Returns the processes of a trace that came to their end, in the order of their begin.
pub(super) fn read(trace: &str) -> Vec<Process> {
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
            process.hear(event, line);
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
    /// Takes in a line of its own.
    fn hear(&mut self, event: &str, line: &str) {
        let time = || text(line, "time").and_then(moment).unwrap_or(0);
        match event {
            "start" => {
                // The line is written a little after the process began, and says by how much.
                let after = number(line, "t_abs").and_then(microseconds).unwrap_or(0);
                self.begin = time() - after;
                let arguments = line.split_once("\"argv\":");
                arguments
                    .map_or("", |(_, words)| words)
                    .clone_into(&mut self.arguments);
            }
            "def_repo" => text(line, "worktree")
                .unwrap_or("")
                .clone_into(&mut self.worktree),
            "cmd_name" => text(line, "name")
                .unwrap_or("")
                .clone_into(&mut self.command),
            "atexit" => self.end = time(),
            _ => {}
        }
    }
}

/// Returns the text that a line has under a name; both writers of such lines leave no blanks.
pub(super) fn text<'a>(line: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = line.split_once(&format!("\"{name}\":\""))?;
    rest.split('"').next()
}

fn number<'a>(line: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = line.split_once(&format!("\"{name}\":"))?;
    rest.split([',', '}']).next()
}

/// Reads `2026-11-16T00:46:11.132298Z`, with or without a fraction, as microseconds since 1970.
pub(super) fn moment(text: &str) -> Option<i64> {
    let (date, clock) = text.strip_suffix('Z')?.split_once('T')?;
    let mut date = date.split('-').map(str::parse::<i64>);
    let mut next = || date.next()?.ok();
    let (year, month, day) = (next()?, next()?, next()?);
    let mut clock = clock.splitn(3, ':');
    let hour: i64 = clock.next()?.parse().ok()?;
    let minute: i64 = clock.next()?.parse().ok()?;
    let seconds = days(year, month, day) * 86_400 + hour * 3600 + minute * 60;
    Some(seconds * 1_000_000 + microseconds(clock.next()?)?)
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
    fn lines_of_several_processes_are_told_apart_and_children_counted_with_their_parent() {
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
