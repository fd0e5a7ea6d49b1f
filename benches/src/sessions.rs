//! How long `rekindle sessions` takes in a home with very many transcripts, and what sessions cost
//! `rekindle` in a project.

use std::path::PathBuf;
use std::process::Command;

use xtask::files;

use crate::chore::Setting;
use crate::generate::Project;
use crate::measure::{Contender, Meter, Usage, compact_json};
use crate::report::{Section, Table, Target, figure, millions};
use crate::sessions_home;

const N_RUNS: u32 = 9;
const N_COLD_RUNS: u32 = 3;
const MOST_WARM_SECONDS: f64 = 0.3;
const MOST_COLD_SECONDS: f64 = 1.0;
const MOST_MB: f64 = 64.0;
/// What sessions may cost `rekindle` in a project.
const MOST_MS: f64 = 50.0;
/// Writing here makes Linux forget all files that it has read; only root may.
const FORGET: &str = "/proc/sys/vm/drop_caches";

pub(crate) fn bench(setting: &Setting) -> Result<Section, String> {
    let made = sessions_home::RECIPE.project(&setting.folder)?;
    let home = Home {
        setting,
        made: &made,
    };
    home.check()?;
    let meter = Meter::new(&setting.folder)?;
    let contenders = home.contenders();
    let warm: Vec<Usage> = meter.in_turns(&contenders)?.into_iter().flatten().collect();
    let [listed, limit, with, without] = warm.as_slice() else {
        return Err("nothing was measured".to_owned());
    };
    let mut rows: Vec<Vec<String>> = contenders
        .iter()
        .zip(&warm)
        .map(|(one, usage)| row(&one.shown, usage, limit))
        .collect();
    let extra_ms = (seconds(with) - seconds(without)) * 1000.0;
    let cost = "what 400 sessions cost `rekindle` in their project";
    let mut targets = vec![
        Target::below("wall time", seconds(listed), MOST_WARM_SECONDS, "s"),
        Target::below("memory", millions(listed.peak), MOST_MB, "MB"),
        Target::below(cost, extra_ms, MOST_MS, "ms"),
    ];
    let cold = home.cold(&meter)?;
    if let Some([listed, limit]) = cold {
        let what = "wall time, nothing in the page cache";
        targets.push(Target::below(
            what,
            seconds(&listed),
            MOST_COLD_SECONDS,
            "s",
        ));
        rows.push(row(
            "`rekindle sessions`, nothing in the page cache",
            &listed,
            &limit,
        ));
        rows.push(row("`find`, nothing in the page cache", &limit, &limit));
    }
    let how_cold = match cold {
        Some(_) => "the best of three with an empty page cache",
        None => "only root can measure with an empty page cache",
    };
    Ok(Section {
        title: "Sessions",
        about: format!(
            "A home with {} transcripts of Claude Code and Codex in 500 folders, 1 MB each with a hole in the middle, the newest 500 of the last week; and a project with {} of them, a twentieth cut off in a tool.\n\
             Best of {N_RUNS} runs in turns, files in the page cache; {how_cold}.\n\
             `find` prints the times of all transcripts, the limit of what can be known without reading one.\n\
             The picker of `claude --resume` shows itself on a terminal only and cannot be timed beside these.",
            figure(millions(sessions_home::N_SESSIONS) * 1e6),
            sessions_home::N_OF_PROJECT,
        ),
        table: Table {
            n_text: 1,
            head: &["program", "wall s", "CPU s", "memory MB", "× find"],
            rows,
        },
        targets,
        ..Section::default()
    })
}

/// The generated homes and the programs that look at them.
struct Home<'a> {
    setting: &'a Setting,
    made: &'a Project,
}

impl Home<'_> {
    fn folder(&self, name: &str) -> PathBuf {
        self.made.folder.join(name)
    }

    fn rekindle(&self, home: &str, folder: &str, args: &[&str]) -> Command {
        let mut command = Command::new(&self.setting.rekindle);
        command
            .args(args)
            .current_dir(self.folder(folder))
            .env("HOME", self.folder(home))
            .env("REKINDLE_NOW", sessions_home::now());
        for name in [
            "CLAUDE_CONFIG_DIR",
            "CODEX_HOME",
            "GEMINI_CLI_HOME",
            "XDG_DATA_HOME",
        ] {
            command.env(name, "");
        }
        command
    }

    fn find(&self) -> Command {
        let mut find = Command::new("find");
        find.arg(self.folder("all"));
        find.args(["-name", "*.jsonl", "-printf", "%s %T@\n"]);
        find
    }

    /// Checks that what is measured is right.
    fn check(&self) -> Result<(), String> {
        let mut status = self.rekindle("one", "project", &["status", "--json"]);
        let json = compact_json(&mut status)?;
        let found = json.matches(r#""state":"interrupted""#).count();
        let expected = &self.made.expected;
        if found.to_string() == *expected {
            return Ok(());
        }
        Err(format!(
            "rekindle shows {found} interrupted sessions; expected {expected}"
        ))
    }

    fn contenders(&self) -> [Contender; 4] {
        let contender = |shown: &str, command: Command| Contender {
            shown: shown.to_owned(),
            command: Some(command),
            n_runs: N_RUNS,
        };
        [
            contender(
                "`rekindle sessions`",
                self.rekindle("all", "none", &["sessions"]),
            ),
            contender("`find`", self.find()),
            contender(
                "`rekindle` in a project with 400 sessions",
                self.rekindle("one", "project", &[]),
            ),
            contender(
                "`rekindle` there without a session",
                self.rekindle("none", "project", &[]),
            ),
        ]
    }

    /// Measures `rekindle sessions` and `find` with an empty page cache, if that can be had.
    fn cold(&self, meter: &Meter<'_>) -> Result<Option<[Usage; 2]>, String> {
        let mut best: [Option<Usage>; 2] = [None, None];
        for _ in 0..N_COLD_RUNS {
            let commands = [self.rekindle("all", "none", &["sessions"]), self.find()];
            for (command, best) in commands.into_iter().zip(&mut best) {
                if files::write(FORGET, "3\n").is_err() {
                    return Ok(None);
                }
                let contender = Contender {
                    shown: String::new(),
                    command: Some(command),
                    n_runs: 1,
                };
                let usage = meter.in_turns(&[contender])?;
                let now = usage.into_iter().flatten().next();
                *best = match (*best, now) {
                    (Some(old), Some(now)) if old.wall <= now.wall => Some(old),
                    (old, now) => now.or(old),
                };
            }
        }
        Ok(best[0].zip(best[1]).map(|(listed, limit)| [listed, limit]))
    }
}

fn seconds(usage: &Usage) -> f64 {
    usage.wall.as_secs_f64()
}

fn row(shown: &str, usage: &Usage, limit: &Usage) -> Vec<String> {
    vec![
        shown.to_owned(),
        format!("{:.3}", seconds(usage)),
        format!("{:.3}", usage.cpu.as_secs_f64()),
        figure(millions(usage.peak)),
        figure(seconds(usage) / seconds(limit).max(0.001)),
    ]
}
