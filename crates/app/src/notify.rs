//! Tells a person who is elsewhere that a run has ended, needs them, or was interrupted; of each once.

use rekindle_model::{Condition, Destination, Work, WorkflowId};
use rekindle_runner::Ending;
use rekindle_text::{count, excerpt, shell_word};
use rekindle_wire::Notice;

use crate::hook::told::{Knows, note};
use crate::{Error, Face, News, Overview, Project, configured};

/// The longest reason that is quoted.
const LONGEST: usize = 200;

/// Tells how the engine ended with a run, unless a person at the terminal ended it.
pub(crate) fn ended(
    project: &Project,
    id: &WorkflowId,
    work: &Work,
    ending: Result<&Ending, &Error>,
    face: &mut dyn Face,
) {
    if work.destination != Destination::Branch {
        return;
    }
    let (done, total) = match ending {
        Ok(ending) => (
            ending.tally.landed + ending.tally.skipped,
            ending.tally.total,
        ),
        Err(_) => (0, work.tasks.len()),
    };
    let landed = format!("{done} of {}", count(total, "task"));
    let word = shell_word(&id.to_string()).into_owned();
    let resume = format!("rekindle resume {word}");
    let (reason, text, command) = match ending {
        Ok(ending) if done == total => {
            let branch = excerpt(&ending.branch, LONGEST);
            let merge = format!("git merge {}", shell_word(&ending.branch));
            ("ended", format!("{landed} landed on `{branch}`"), merge)
        }
        Ok(ending) if ending.stopped => return,
        Ok(ending) => {
            let why = match (&ending.cannot_start, ending.given_up.first()) {
                (Some(reason), _) => format!("the agent cannot start: {reason}"),
                (None, Some(task)) => format!("{} is blocked: {}", task.task, task.reason),
                (None, None) => "the cost limit is reached".to_owned(),
            };
            let why = excerpt(&why, LONGEST);
            let look = format!("rekindle inspect {word}");
            ("needs_person", format!("{landed} landed; {why}"), look)
        }
        Err(error) => ("needs_person", excerpt(&error.to_string(), LONGEST), resume),
    };
    let attempts: u32 = work.tasks.iter().map(|task| task.attempts).sum();
    let notice = Notice {
        schema: "rekindle.notice/1",
        reason,
        run: id.to_string(),
        project: project.folder.to_string(),
        title: work.settings.title.clone(),
        done,
        total: Some(total),
        at: rekindle_text::format_seconds(project.now()),
        text,
        command,
    };
    // Whatever was tried since the last notice is something new.
    let state = format!("{reason} {} {attempts} {}", notice.done, notice.text);
    tell(project, &notice, &state, face);
}

/// Tells of the runs of ours that an overview found interrupted.
pub fn interrupted(project: &Project, overview: &Overview, face: &mut dyn Face) {
    for summary in &overview.workflows {
        let is_interrupted = overview.condition(summary) == Condition::Interrupted;
        if !summary.view.is_ours || !is_interrupted {
            continue;
        }
        let id = summary.id.to_string();
        let at = summary.last_activity.map(rekindle_text::format_seconds);
        let at = at.unwrap_or_default();
        let notice = Notice {
            schema: "rekindle.notice/1",
            reason: "interrupted",
            run: id.clone(),
            project: project.folder.to_string(),
            title: summary.view.title.clone().unwrap_or_default(),
            done: summary.progress.done,
            total: summary.progress.total,
            at: rekindle_text::format_seconds(project.now()),
            text: format!("interrupted; {} tasks are done", summary.progress),
            command: format!("rekindle resume {}", shell_word(&id)),
        };
        tell(project, &notice, &format!("interrupted {at}"), face);
    }
}

fn tell(project: &Project, notice: &Notice, state: &str, face: &mut dyn Face) {
    let Ok(configured) = configured(project) else {
        // The command itself reports it.
        return;
    };
    let wanted = &configured.config.notify;
    if wanted.is_nothing() {
        return;
    }
    // The note comes first: a notice that is lost in a crash is better than one that comes twice.
    match is_new(project, &notice.run, state) {
        Ok(true) => {}
        Ok(false) => return,
        Err(error) => {
            face.tell(&News::NotNotified(&error.to_string()));
            return;
        }
    }
    let title = match notice.title.as_str() {
        "" => "rekindle".to_owned(),
        title => format!("rekindle: {}", excerpt(title, 80)),
    };
    if let Some(command) = &wanted.command {
        let mut json = serde_json::to_vec(notice).unwrap_or_default();
        json.push(b'\n');
        start(project, &["sh", "-c", command], &json, face);
    }
    if wanted.desktop {
        let words = [
            "notify-send",
            "--app-name=rekindle",
            "--",
            &title,
            &notice.text,
        ];
        start(project, &words, b"", face);
    }
    face.tell(&News::Notice {
        title: &title,
        text: &notice.text,
        bell: wanted.bell,
        desktop: wanted.desktop,
    });
}

fn start(project: &Project, words: &[&str], input: &[u8], face: &mut dyn Face) {
    if let Err(untold) =
        rekindle_runner::notify(words, project.folder(), &project.search_path, input)
    {
        let program = words.last().filter(|_| words[0] == "sh");
        let program = excerpt(program.unwrap_or(&words[0]), LONGEST);
        face.tell(&News::NotNotified(&format!("`{program}`: {untold}")));
    }
}

/// Records that a person is told of a state of a run, and returns whether they do not know it.
fn is_new(project: &Project, run: &str, state: &str) -> Result<bool, Error> {
    let folder = project.state();
    folder.ensure()?;
    let path = folder.notified()?;
    Ok(note(project, &path, run, state)? != Knows::All)
}
