//! Repeated work after a crash: engines whose steps start an agent, killed on the same schedule.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use xtask::{files, run};

use crate::chart::Chart;
use crate::chore::Setting;
use crate::engines::{DBOS_WAL, Engine, LANGGRAPH};
use crate::generate::Random;
use crate::overhead;
use crate::report::{Section, Table, figure};
use crate::standing::Standing;

/// The number of steps, and the most kills.
const SHORT: (u32, u32) = (20, 5);
const FULL: (u32, u32) = (160, 40);
/// How long an agent works, in seconds.
const WORK: &str = "0.15";
/// A kill comes this many milliseconds after the first sign of work since the previous one.
const KILL_AFTER: (u64, u64) = (10, 400);
const SEED: u64 = 20_261_116;
/// How long to wait for a sign of work, or for the end.
const TIMEOUT: Duration = Duration::from_secs(300);
const PAUSE: Duration = Duration::from_millis(2);

/// The agent records its start, works, and records its end.
const AGENT: &str = "#!/bin/sh\necho \"begin $1\" >> \"$LEDGER\"\nsleep \"$WORK\"\necho \"end $1\" >> \"$LEDGER\"\n";
/// An environment variable that marks every process of a bench.
const MARK: &str = "REKINDLE_BENCH_ARENA";
const WHY_RESTARTED: &str = "every engine must restart an agent that is killed during its work; the rest depends on how often a kill falls between two agents, where rekindle lands work and the others do less";
const WHY_REPEATED: &str = "the end of an agent counts once it is synced, some milliseconds after it; a kill between the two repeats it";

/// What is killed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Victim {
    /// The program alone, as by a closed terminal or a lack of memory.
    Program,
    /// The program and everything that it started, as by a power cut.
    Everything,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Score {
    n_kills: u32,
    /// Agents that were started for a step that had one before.
    restarted: u32,
    /// Agents that ended on a step on which another had ended before.
    repeated: u32,
}

pub(crate) fn bench(setting: &Setting) -> Result<Section, String> {
    let (n_steps, most_kills) = if setting.full { FULL } else { SHORT };
    let subjects = [
        ("`rekindle run`, then `rekindle resume`", None),
        (LANGGRAPH.shown, Some(LANGGRAPH)),
        (DBOS_WAL.shown, Some(DBOS_WAL)),
    ];
    let (mut rows, mut standings, mut bars) = (Vec::new(), Vec::new(), Vec::new());
    for (victim, killed) in [
        (Victim::Program, "the program"),
        (Victim::Everything, "everything"),
    ] {
        let [mut restarted, mut repeated] = [const { Vec::new() }; 2];
        for (shown, engine) in &subjects {
            let arena = Arena::new(setting, n_steps)?;
            let score = arena.play(engine.as_ref(), victim, most_kills)?;
            let a_kill = |count: u32| f64::from(count) / f64::from(score.n_kills.max(1));
            let rate = a_kill(score.restarted);
            let mut row = vec![(*shown).to_owned(), killed.to_owned()];
            row.extend([score.n_kills, score.restarted, score.repeated].map(|n| n.to_string()));
            row.push(figure(rate));
            rows.push(row);
            let short = shown.split(',').next().unwrap_or(shown);
            bars.push((format!("{short}, {killed}"), rate));
            restarted.push(((*shown).to_owned(), rate));
            repeated.push(((*shown).to_owned(), a_kill(score.repeated)));
        }
        for (what, mut rates, if_behind) in [
            ("agents restarted per kill", restarted, WHY_RESTARTED),
            ("work repeated per kill", repeated, WHY_REPEATED),
        ] {
            let (_, own) = rates.remove(0);
            let what = format!("{what} of {killed}");
            standings.push(Standing::less(what, own, rates, if_behind).headline());
        }
    }
    let (soonest, latest) = KILL_AFTER;
    Ok(Section {
        title: "Repeated work after a crash",
        about: format!(
            "{n_steps} steps one after another, each of which starts an agent that works for {WORK} s; at most {most_kills} kills with `kill -9`, each followed by a resume.\n\
             A kill comes {soonest} to {latest} ms after the first sign of work since the previous one, on the same random schedule for all; a faster program gets fewer kills.\n\
             Either the program alone is killed, whose agent then continues to work, or the program with everything that it started.\n\
             Restarted agents worked on a step that had an agent before; repeated ones ended after the previous one had ended too."
        ),
        table: Table {
            n_text: 2,
            head: &[
                "program",
                "killed",
                "kills",
                "restarted",
                "repeated",
                "restarted per kill",
            ],
            rows,
        },
        standings,
        chart: Some(Chart {
            name: "done-again",
            title: "Agents restarted per kill (less is better)".to_owned(),
            bars,
        }),
        ..Section::default()
    })
}

/// A folder in which one program works.
struct Arena<'a> {
    setting: &'a Setting,
    folder: PathBuf,
    n_steps: u32,
    /// Marks every process of this arena.
    mark: String,
}

impl<'a> Arena<'a> {
    fn new(setting: &'a Setting, n_steps: u32) -> Result<Self, String> {
        let folder = files::empty_folder(setting.folder.join("crashes"))?;
        overhead::prepare(&folder.join("project"), n_steps)?;
        files::write(folder.join("agent.sh"), AGENT)?;
        files::write(folder.join("ledger"), "")?;
        files::make_folder(folder.join("store"))?;
        Ok(Self {
            setting,
            mark: format!("{}-{}", std::process::id(), folder.display()),
            folder,
            n_steps,
        })
    }

    /// Starts, kills and resumes until everything is done; without an engine, rekindle is measured.
    fn play(
        &self,
        engine: Option<&Engine>,
        victim: Victim,
        most_kills: u32,
    ) -> Result<Score, String> {
        let mut random = Random(SEED);
        let (soonest, latest) = KILL_AFTER;
        for n_kills in 0..most_kills {
            let delay = Duration::from_millis(soonest + random.below(latest - soonest));
            let mut child = self.start(engine, n_kills == 0)?;
            if self.ends_within(&mut child, delay)? {
                return self.score(n_kills);
            }
            self.kill(&mut child, victim)?;
        }
        let mut child = self.start(engine, most_kills == 0)?;
        if self.ends_within(&mut child, TIMEOUT)? {
            return self.score(most_kills);
        }
        self.kill(&mut child, Victim::Everything)?;
        Err("a program did not end after the last kill".to_owned())
    }

    fn start(&self, engine: Option<&Engine>, is_first: bool) -> Result<Child, String> {
        let agent = self.folder.join("agent.sh");
        let agent = agent.to_string_lossy();
        let mut command = if let Some(engine) = engine {
            let store = self.folder.join("store");
            engine.command(self.setting, &store, self.n_steps, &["sh", &agent])?
        } else {
            let mut command = Command::new(&self.setting.rekindle);
            if is_first {
                command.args(["run", "plan.json", "--branch", "result"]);
            } else {
                command.arg("resume");
            }
            let agent = format!("sh '{agent}' \"$REKINDLE_TASK\"");
            command.args(["--yes", "--jobs", "1", "--agent-cmd", &agent]);
            command
        };
        command
            .current_dir(self.folder.join("project"))
            .env(MARK, &self.mark)
            .env("LEDGER", self.folder.join("ledger"))
            .env("WORK", WORK)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|e| format!("cannot start a program: {e}"))
    }

    /// Waits for a sign of work and then for this long; returns whether the program succeeded by then.
    fn ends_within(&self, child: &mut Child, delay: Duration) -> Result<bool, String> {
        let known = self.ledger()?.len();
        let start = Instant::now();
        let mut seen: Option<Instant> = None;
        loop {
            match child.try_wait() {
                Ok(Some(status)) if status.success() => return Ok(true),
                Ok(Some(status)) => return Err(format!("a program failed: {status}")),
                Ok(None) => {}
                Err(e) => return Err(format!("cannot wait for a program: {e}")),
            }
            match seen {
                Some(since) if since.elapsed() >= delay => return Ok(false),
                None if self.ledger()?.len() > known => seen = Some(Instant::now()),
                None if start.elapsed() > TIMEOUT => {
                    self.kill(child, Victim::Everything)?;
                    return Err("a program gave no sign of work".to_owned());
                }
                Some(_) | None => {}
            }
            thread::sleep(PAUSE);
        }
    }

    fn kill(&self, child: &mut Child, victim: Victim) -> Result<(), String> {
        let killed = child.kill().and_then(|()| child.wait());
        killed.map_err(|e| format!("cannot kill a program: {e}"))?;
        if victim == Victim::Program {
            return Ok(());
        }
        // The next round finds processes that were started during this one.
        loop {
            let marked = self.marked();
            if marked.is_empty() {
                return Ok(());
            }
            let pids = marked.iter().map(String::as_str);
            let args: Vec<&str> = ["-9"].into_iter().chain(pids).collect();
            // Some may have ended meanwhile.
            drop(run::output_of("kill", &args));
            thread::sleep(PAUSE);
        }
    }

    /// Returns the processes of this arena.
    fn marked(&self) -> Vec<String> {
        let wanted = format!("{MARK}={}", self.mark);
        let is_marked = |process: &Path| {
            let environment = fs::read(process.join("environ")).unwrap_or_default();
            let mut variables = environment.split(|byte| *byte == 0);
            variables.any(|one| one == wanted.as_bytes())
        };
        let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
        entries
            .filter(|entry| is_marked(&entry.path()))
            .filter_map(|entry| entry.file_name().into_string().ok())
            .filter(|name| name.parse::<u32>().is_ok())
            .collect()
    }

    fn ledger(&self) -> Result<String, String> {
        files::read(self.folder.join("ledger"))
    }

    /// Counts what the agents recorded.
    fn score(&self, n_kills: u32) -> Result<Score, String> {
        // An agent whose program was killed may still work.
        let start = Instant::now();
        while !self.marked().is_empty() {
            if start.elapsed() > TIMEOUT {
                return Err("a process still runs after the end".to_owned());
            }
            thread::sleep(PAUSE);
        }
        score(&self.ledger()?, self.n_steps, n_kills)
    }
}

fn score(ledger: &str, n_steps: u32, n_kills: u32) -> Result<Score, String> {
    let lines = |word: &str| {
        let count = ledger.lines().filter(|line| line.starts_with(word)).count();
        u32::try_from(count).unwrap_or(u32::MAX)
    };
    let ended = ledger.lines().filter_map(|line| line.strip_prefix("end "));
    let n_ended = ended.collect::<BTreeSet<&str>>().len();
    if u32::try_from(n_ended) != Ok(n_steps) {
        return Err(format!("only {n_ended} of {n_steps} steps were completed"));
    }
    Ok(Score {
        n_kills,
        restarted: lines("begin ") - n_steps,
        repeated: lines("end ") - n_steps,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn restarted_and_repeated_steps_are_counted() {
        let ledger =
            "begin T0\nend T0\nbegin T1\nbegin T1\nend T1\nend T1\nbegin T2\nbegin T2\nend T2\n";
        let expect = Score {
            n_kills: 3,
            restarted: 2,
            repeated: 1,
        };
        assert_eq!(score(ledger, 3, 3), Ok(expect));
        assert!(score("begin T0\nend T0\nbegin T1\n", 2, 1).is_err());
    }
}
