//! All tasks in words: what drawings show, for those who cannot see them or have no scripts.

use rekindle_wire::{Picture, PictureAttempt, PictureTask, TaskDetail};

use crate::axis::clock;
use crate::icon;
use crate::scene::milliseconds;
use crate::svg::escaped;

/// Returns the table of all tasks, with the reason of those that have one.
pub(crate) fn table(picture: &Picture, details: &[TaskDetail]) -> String {
    let mut text = String::from(
        "<table class=\"all\"><thead><tr><th scope=\"col\">Task</th><th scope=\"col\">State</th><th scope=\"col\">Attempts</th></tr></thead><tbody>\n",
    );
    let mut details = details.iter().peekable();
    for (place, task) in picture.tasks.iter().enumerate() {
        let detail = details.next_if(|detail| detail.task == place);
        let rule = detail
            .and_then(|detail| detail.why.as_ref())
            .map(|why| why.rule.as_str());
        let why = rule.or(task.reason.as_deref());
        let why = why.map(|why| format!("<br><small>{}</small>", escaped(why)));
        text.push_str(&format!(
            "<tr><th scope=\"row\"><code>{}</code> {}</th><td class=\"state {}\">{} {}</td><td>{}{}</td></tr>\n",
            escaped(&task.id),
            escaped(&task.title),
            icon::color(&task.state),
            icon::inline(icon::of_state(&task.state)),
            escaped(&task.word),
            escaped(&words(task, picture.utc_offset)),
            why.unwrap_or_default(),
        ));
    }
    text.push_str("</tbody></table>\n");
    text
}

/// Returns the attempts of a task in words, as the script writes them too.
fn words(task: &PictureTask, offset: i32) -> String {
    if task.attempts.is_empty() {
        return String::new();
    }
    let attempts = task.attempts.iter().map(|attempt| one(attempt, offset));
    attempts.collect::<Vec<_>>().join("; ")
}

fn one(attempt: &PictureAttempt, offset: i32) -> String {
    let at = |time: &str| {
        let at = milliseconds(time).unwrap_or_default();
        clock(at, i64::from(offset), true)
    };
    let mut text = format!("#{} {}", attempt.number, at(&attempt.from));
    if let Some(to) = &attempt.to {
        text.push_str(&format!("–{}", at(to)));
    }
    text.push_str(&format!(" {}", attempt.end));
    if let Some(landed) = &attempt.landed {
        text.push_str(&format!(", landed {}", at(landed)));
    }
    if attempt.saved.is_some() {
        text.push_str(", saved");
    }
    text
}
