//! What is done again after a crash: engines whose steps start an agent, killed by the same schedule.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use super::chart::{Bar, Chart};
use super::chore::{Bench, Setting};
use super::engines::{DBOS_WAL, Engine, LANGGRAPH};
use super::generate::Random;
use super::report::{Section, Table, figure};
use super::standing::{Better, Standing};
use super::{folders, overhead};
use crate::run;

pub(super) const BENCH: Bench = Bench {
    name: "crashes",
    run: bench,
};

/// How many steps there are, and how many kills at most.
const SHORT: (u32, u32) = (20, 5);
const FULL: (u32, u32) = (160, 40);
/// How long an agent works, in seconds.
const WORK: &str = "0.15";
/// A kill comes so many milliseconds after the first sign of work since the last one.
const KILL_AFTER: (u64, u64) = (10, 400);
const SEED: u64 = 20_261_116;
/// How long a program may take to its first sign of work, or to its end.
const PATIENCE: Duration = Duration::from_secs(300);
const PAUSE: Duration = Duration::from_millis(2);

/// The agent: it writes down that it begins, works, and writes down that it has ended.
const AGENT: &str = "#!/bin/sh\necho \"begin $1\" >> \"$LEDGER\"\nsleep \"$WORK\"\necho \"end $1\" >> \"$LEDGER\"\n";
/// Every process that a bench starts has it in its environment.
const MARK: &str = "REKINDLE_BENCH_ARENA";

/// Who is killed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Victim {
    /// The program that was started, as by a closed terminal or a lack of memory.
    Orchestrator,
    /// It and everything that it started, as by a power cut.
    All,
}

/// Who is measured.
enum Subject {
    Rekindle,
    Engine(Engine),
}

/// What came of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Score {
    n_kills: u32,
    /// Agents that were started for a step that had one before.
    begun_again: u32,
    /// Agents that worked to their end on a step that was worked to its end before.
    ended_again: u32,
}

fn bench(setting: &Setting) -> Result<Section, String> {
    let (n_steps, most_kills) = if setting.full { FULL } else { SHORT };
    let subjects = [
        ("`rekindle run`, then `rekindle resume`", Subject::Rekindle),
        (LANGGRAPH.shown, Subject::Engine(LANGGRAPH)),
        (DBOS_WAL.shown, Subject::Engine(DBOS_WAL)),
    ];
    let mut rows = Vec::new();
    let mut standings = Vec::new();
    let mut bars = Vec::new();
    for victim in [Victim::Orchestrator, Victim::All] {
        let mut rates = Vec::new();
        for (shown, subject) in &subjects {
            let arena = Arena::new(setting, n_steps)?;
            let score = arena.play(subject, victim, most_kills)?;
            let a_kill = |count: u32| f64::from(count) / f64::from(score.n_kills.max(1));
            rows.push(vec![
                (*shown).to_owned(),
                victim.shown().to_owned(),
                score.n_kills.to_string(),
                score.begun_again.to_string(),
                score.ended_again.to_string(),
                figure(a_kill(score.begun_again)),
            ]);
            bars.push(Bar::new(
                format!("{}, {}", short(shown), victim.shown()),
                a_kill(score.begun_again),
            ));
            rates.push((
                (*shown).to_owned(),
                a_kill(score.begun_again),
                a_kill(score.ended_again),
            ));
        }
        let peers = |pick: fn(&(String, f64, f64)) -> f64| {
            let others = rates[1..].iter();
            others.map(|rate| (rate.0.clone(), pick(rate))).collect()
        };
        standings.push(Standing {
            what: format!("agents started again a kill, {}", victim.shown()),
            better: Better::Less,
            ours: rates[0].1,
            peers: peers(|rate| rate.1),
            if_behind: "an agent that is killed in the middle of its work has to be started again, by anybody; what differs is how often a kill falls between two agents, where rekindle lands work and the others do less",
        });
        standings.push(Standing {
            what: format!("work done twice a kill, {}", victim.shown()),
            better: Better::Less,
            ours: rates[0].2,
            peers: peers(|rate| rate.2),
            if_behind: "an agent's end counts once its work is a commit, and a kill between the two has it done again; being ahead would take a synced event of the end before the delivery",
        });
    }
    Ok(Section {
        title: "Work done again after a crash",
        about: about(n_steps, most_kills),
        table: Table {
            n_text: 2,
            head: vec![
                "program",
                "killed",
                "kills",
                "begun again",
                "done twice",
                "begun again a kill",
            ],
            rows,
        },
        targets: Vec::new(),
        standings,
        chart: Some(Chart {
            name: "done-again",
            title: "Agents started again a kill (less is better)".to_owned(),
            bars,
        }),
    })
}

fn short(shown: &str) -> &str {
    shown.split(',').next().unwrap_or(shown)
}

fn about(n_steps: u32, most_kills: u32) -> Vec<String> {
    let (soonest, latest) = KILL_AFTER;
    vec![
        format!(
            "{n_steps} steps one after another, each of which starts an agent that works for {WORK} s; at most \
             {most_kills} kills with `kill -9`, each followed at once by a start that goes on."
        ),
        format!(
            "A kill comes {soonest} to {latest} ms after the first sign of work since the last one, by the same \
             seeded schedule for all; who is sooner through has fewer."
        ),
        "Killed is the program alone, whose agent then works on, or the program with all that it has started."
            .to_owned(),
        "Begun again are agents that were started for a step that had one before; done twice those of them that \
         ended after the one before had ended too."
            .to_owned(),
    ]
}

impl Victim {
    fn shown(self) -> &'static str {
        match self {
            Self::Orchestrator => "the program",
            Self::All => "everything",
        }
    }
}

/// A folder in which one program works.
struct Arena<'a> {
    setting: &'a Setting,
    folder: PathBuf,
    n_steps: u32,
    /// Names every process of this arena.
    mark: String,
}

impl<'a> Arena<'a> {
    fn new(setting: &'a Setting, n_steps: u32) -> Result<Self, String> {
        let folder = folders::fresh(&setting.folder.join("crashes"))?;
        overhead::prepare(&folder.join("project"), n_steps)?;
        let cannot = |e| format!("cannot lay out an arena: {e}");
        fs::write(folder.join("agent.sh"), AGENT).map_err(cannot)?;
        fs::write(folder.join("ledger"), "").map_err(cannot)?;
        fs::create_dir(folder.join("store")).map_err(cannot)?;
        Ok(Self {
            setting,
            mark: format!("{}-{}", std::process::id(), folder.display()),
            folder,
            n_steps,
        })
    }

    /// Starts, kills and goes on until all is done.
    fn play(&self, subject: &Subject, victim: Victim, most_kills: u32) -> Result<Score, String> {
        let mut random = Random::new(SEED);
        let mut n_kills = 0;
        let mut is_first = true;
        while n_kills < most_kills {
            let (soonest, latest) = KILL_AFTER;
            let delay = Duration::from_millis(soonest + random.below(latest - soonest));
            let mut child = self.start(subject, is_first)?;
            is_first = false;
            if self.is_over_before(&mut child, delay)? {
                return self.score(n_kills);
            }
            self.kill(&mut child, victim)?;
            n_kills += 1;
        }
        let mut child = self.start(subject, is_first)?;
        if !self.is_over_before(&mut child, PATIENCE)? {
            self.kill(&mut child, Victim::All)?;
            return Err("a program did not come to its end after the last kill".to_owned());
        }
        self.score(n_kills)
    }

    fn start(&self, subject: &Subject, is_first: bool) -> Result<Child, String> {
        let agent = self.folder.join("agent.sh");
        let agent = agent.to_string_lossy();
        let project = self.folder.join("project");
        let mut command = match subject {
            Subject::Rekindle => {
                let mut command = Command::new(&self.setting.rekindle);
                let verb: &[&str] = if is_first {
                    &["run", "plan.json", "--branch", "result"]
                } else {
                    &["resume"]
                };
                let agent = format!("sh '{agent}' \"$REKINDLE_TASK\"");
                command
                    .args(verb)
                    .args(["--yes", "--jobs", "1", "--agent-cmd", &agent]);
                command
            }
            Subject::Engine(engine) => {
                let store = self.folder.join("store");
                engine.command(self.setting, &store, self.n_steps, &["sh", &agent])?
            }
        };
        command
            .current_dir(project)
            .env(MARK, &self.mark)
            .env("LEDGER", self.folder.join("ledger"))
            .env("WORK", WORK)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|e| format!("cannot start a program: {e}"))
    }

    /// Waits for a sign of work and then for this long; returns whether the program came to a good end by then.
    fn is_over_before(&self, child: &mut Child, delay: Duration) -> Result<bool, String> {
        let known = self.ledger()?.len();
        let begun = Instant::now();
        let mut seen: Option<Instant> = None;
        loop {
            match child.try_wait() {
                Ok(Some(status)) if status.success() => return Ok(true),
                Ok(Some(status)) => return Err(format!("a program failed by itself: {status}")),
                Ok(None) => {}
                Err(e) => return Err(format!("cannot wait for a program: {e}")),
            }
            match seen {
                Some(since) if since.elapsed() >= delay => return Ok(false),
                None if self.ledger()?.len() > known => seen = Some(Instant::now()),
                None if begun.elapsed() > PATIENCE => {
                    self.kill(child, Victim::All)?;
                    return Err("a program gave no sign of work".to_owned());
                }
                Some(_) | None => {}
            }
            thread::sleep(PAUSE);
        }
    }

    fn kill(&self, child: &mut Child, victim: Victim) -> Result<(), String> {
        let cannot = |e| format!("cannot kill a program: {e}");
        child.kill().map_err(cannot)?;
        child.wait().map_err(cannot)?;
        // What is started while the others are killed is found the next time.
        loop {
            let marked = match victim {
                Victim::Orchestrator => Vec::new(),
                Victim::All => self.marked(),
            };
            if marked.is_empty() {
                return Ok(());
            }
            let pids: Vec<&str> = marked.iter().map(String::as_str).collect();
            // One that has ended since is no failure.
            drop(run::output_of("kill", &[&["-9"][..], &pids].concat()));
            thread::sleep(PAUSE);
        }
    }

    /// Returns the processes of this arena.
    fn marked(&self) -> Vec<String> {
        let wanted = format!("{MARK}={}", self.mark);
        let is_marked = |process: &Path| {
            let environment = fs::read(process.join("environ")).unwrap_or_default();
            environment
                .split(|byte| *byte == 0)
                .any(|one| one == wanted.as_bytes())
        };
        let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
        entries
            .filter(|entry| is_marked(&entry.path()))
            .filter_map(|entry| entry.file_name().into_string().ok())
            .filter(|name| name.parse::<u32>().is_ok())
            .collect()
    }

    fn ledger(&self) -> Result<String, String> {
        let path = self.folder.join("ledger");
        fs::read_to_string(&path).map_err(|e| format!("cannot read `{}`: {e}", path.display()))
    }

    /// Counts what the agents wrote down.
    fn score(&self, n_kills: u32) -> Result<Score, String> {
        // An agent whose program is gone may be at it still.
        let begun = Instant::now();
        while !self.marked().is_empty() {
            if begun.elapsed() > PATIENCE {
                return Err("something still works after the end".to_owned());
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
    let ended: std::collections::BTreeSet<&str> = ledger
        .lines()
        .filter_map(|line| line.strip_prefix("end "))
        .collect();
    if u32::try_from(ended.len()) != Ok(n_steps) {
        let n_ended = ended.len();
        return Err(format!(
            "{n_ended} of {n_steps} steps were worked to their end"
        ));
    }
    Ok(Score {
        n_kills,
        begun_again: lines("begin ") - n_steps,
        ended_again: lines("end ") - n_steps,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_begun_or_ended_more_than_once_is_counted() {
        let ledger =
            "begin T0\nend T0\nbegin T1\nbegin T1\nend T1\nend T1\nbegin T2\nbegin T2\nend T2\n";
        let expect = Score {
            n_kills: 3,
            begun_again: 2,
            ended_again: 1,
        };
        assert_eq!(score(ledger, 3, 3), Ok(expect));
        assert!(score("begin T0\nend T0\nbegin T1\n", 2, 1).is_err());
    }
}
