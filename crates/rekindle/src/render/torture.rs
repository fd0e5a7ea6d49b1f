//! What `rekindle torture` shows: the score.

use std::fmt::Write as _;

use rekindle_wire::torture::{Score, Tortured};

use super::{GOOD, WARNING, styled};

/// One line before the first run, and one after each.
pub(crate) fn torture_so_far(score: &Score) -> String {
    if score.runs == 0 {
        return format!(
            "killing runs in {}; Ctrl-C stops and removes the copy, a second Ctrl-C stops at once and leaves it in the temporary folder\n",
            tortured(&score.repository)
        );
    }
    let counted = |count: usize, unit: &str| {
        let plural = if count == 1 { "" } else { "s" };
        format!("{count} {unit}{plural}")
    };
    let words = [
        counted(score.runs, "run"),
        counted(score.kills(), "kill"),
        counted(score.stopped, "stop"),
        counted(score.resumes, "resume"),
        counted(score.wrong.len(), "fault"),
    ];
    format!("{}\n", words.join(", "))
}

fn tortured(repository: &Tortured) -> String {
    match repository {
        Tortured::Copied { from } => format!("a copy of `{}`", rekindle_text::printable(from)),
        Tortured::Made { because } => {
            format!(
                "a small new repository, because {}",
                rekindle_text::printable(because)
            )
        }
    }
}

pub(crate) fn torture(score: &Score) -> String {
    let mut text = String::new();
    let mut line = |name: &str, value: String| {
        put!(text, "{name:<28} {value}\n");
    };
    let killed = &score.killed;
    line("on", tortured(&score.repository));
    line("seed, workers", format!("{}, {}", score.seed, score.jobs));
    line("runs, tasks", format!("{}, {}", score.runs, score.tasks));
    line(
        "kills",
        format!(
            "{} (orchestrators {}, workers {}, agents {}, all at once {})",
            score.kills(),
            killed.orchestrators,
            killed.workers,
            killed.agents,
            killed.everything
        ),
    );
    line("suspended and continued", score.stopped.to_string());
    line("resumes", score.resumes.to_string());
    line("tasks landed twice", score.landed_twice.to_string());
    line("tasks lost", score.lost.to_string());
    line("bytes of work lost", score.bytes_lost.to_string());
    line("processes left", score.processes_left.to_string());
    line("worktrees leaked", score.worktrees_leaked.to_string());
    line("runs that never ended", score.never_ended.to_string());
    if let Some(restart) = &score.restart {
        line(
            "restart to first change",
            format!(
                "median {:.1} ms, 99 % below {:.1} ms, of {}",
                restart.median_ms, restart.p99_ms, restart.count
            ),
        );
    }
    if score.wrong.is_empty() {
        put!(text, "\n{}\n", styled(GOOD, "No problems."));
    } else {
        put!(text, "\n{}\n", styled(WARNING, "Wrong:"));
        for fault in &score.wrong {
            put!(text, "- {}\n", rekindle_text::excerpt(fault, 2000));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_repository_is_named_and_one_is_singular() {
        let made = Tortured::Made {
            because: "`/x` is not in a git repository".to_owned(),
        };
        let mut score = Score::new(1, 4, made);
        let words = "a small new repository, because `/x` is not in a git repository";
        assert!(torture_so_far(&score).starts_with(&format!("killing runs in {words}; Ctrl-C ")));
        assert!(torture(&score).starts_with(&format!("{:<28} {words}\n", "on")));
        score.repository = Tortured::Copied {
            from: "/y".to_owned(),
        };
        assert!(torture(&score).starts_with(&format!("{:<28} a copy of `/y`\n", "on")));
        (score.runs, score.stopped, score.resumes) = (1, 1, 2);
        score.killed.agents = 1;
        let line = "1 run, 1 kill, 1 stop, 2 resumes, 0 faults\n";
        assert_eq!(torture_so_far(&score), line);
    }
}
