//! Secrets and control characters in the texts of a picture: reports are sent to other people.

use rekindle_agents::redact;
use rekindle_text::printable;
use rekindle_wire::Picture;

/// Returns a picture with the secrets masked, and control characters shown as codes, in every text that comes from files or agents.
///
/// Ids stay as they are: commands name them.
pub(super) fn masked(mut picture: Picture) -> Picture {
    mask(&mut picture.title);
    picture.marks.iter_mut().for_each(|one| mask(&mut one.name));
    for need in &mut picture.needs_person {
        mask(&mut need.text);
    }
    for finding in &mut picture.findings {
        mask(&mut finding.message);
        finding.hint.iter_mut().for_each(mask);
    }
    for task in &mut picture.tasks {
        mask(&mut task.title);
        task.reason.iter_mut().for_each(mask);
        let reasons = task
            .attempts
            .iter_mut()
            .filter_map(|one| one.reason.as_mut());
        reasons.for_each(mask);
    }
    picture
}

fn mask(text: &mut String) {
    *text = printable(&redact(text)).into_owned();
}
