//! The note why an agent's last turn here ended: who may write it, and which note is kept.

use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};
use rekindle_agents::hook::{Ending, Event};
use rekindle_agents::limit;
use rekindle_fs::Content;
use rekindle_text::{excerpt, format_seconds};
use rekindle_wire::stopped::{STOPPED_SCHEMA, Stopped, WhyStopped};
use rekindle_world::World;

use crate::last_session::{LARGEST_NOTE, limit_ends};
use crate::{Error, Project, survey};

/// Records why the agent's turn ended, if a workflow is open.
pub(super) fn note(project: &Project, event: &Event) -> Result<(), Error> {
    let world = project.world();
    let Some(ending) = &event.ending else {
        return Ok(());
    };
    let open = survey::quick_open(project, &world);
    // A workflow that was not read may be open, and an unneeded note does no harm.
    if open.workflows.is_empty() && open.unread == 0 {
        return Ok(());
    }
    let now = world.now();
    let stopped = Stopped {
        schema: STOPPED_SCHEMA.to_owned(),
        agent: event.agent.map(|agent| agent.name().to_owned()),
        session: event.session.clone(),
        at: format_seconds(now),
        why: why(ending, &now.to_zoned(world.zone())),
    };
    let folder = project.state();
    folder.ensure()?;
    let path = folder.stopped()?;
    let noted = rekindle_fs::read_within(project.folder(), &path, LARGEST_NOTE)?;
    let content = noted.as_deref().map_or(Content::Absent, Content::of);
    let noted = noted.as_deref().and_then(Stopped::parse);
    if noted.is_some_and(|noted| outlives(&noted, &stopped, now)) {
        return Ok(());
    }
    match rekindle_fs::replace(&path, &content, &stopped.to_bytes()) {
        // Another session has just recorded its own end, which is as good.
        Ok(()) | Err(rekindle_fs::Error::Changed { .. }) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

fn why(ending: &Ending, now: &Zoned) -> WhyStopped {
    match ending {
        Ending::Done => WhyStopped::Done,
        Ending::Limited(met) => WhyStopped::Limit {
            until: met.resets_at.as_ref().map(|words| {
                limit::reset_time(words, now, |name| TimeZone::get(name).ok())
                    .map_or_else(|| words.clone(), format_seconds)
            }),
        },
        Ending::Failed(reason) => WhyStopped::Error {
            reason: excerpt(&rekindle_agents::redact(reason), 400),
        },
    }
}

/// Returns whether an older note must be kept: a usage limit that still holds, of another session.
///
/// A limit without a time is over once the same program completes a turn.
fn outlives(noted: &Stopped, done: &Stopped, now: Timestamp) -> bool {
    let (WhyStopped::Limit { until }, WhyStopped::Done) = (&noted.why, &done.why) else {
        return false;
    };
    let is_another = match (&noted.session, &done.session) {
        (Some(noted), Some(done)) => noted != done,
        // It may be the same.
        (None, _) | (_, None) => false,
    };
    is_another
        && match limit_ends(until.as_deref()) {
            Some(end) => now < end,
            None => noted.agent != done.agent,
        }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noted(agent: &str, session: &str, why: WhyStopped) -> Stopped {
        Stopped {
            schema: STOPPED_SCHEMA.to_owned(),
            agent: Some(agent.to_owned()),
            session: Some(session.to_owned()).filter(|session| !session.is_empty()),
            at: "2026-01-20T12:00:00Z".to_owned(),
            why,
        }
    }

    #[test]
    fn a_limit_outlives_the_turns_of_others_for_as_long_as_it_holds() {
        let limit = |until: &str| WhyStopped::Limit {
            until: Some(until.to_owned()).filter(|until| !until.is_empty()),
        };
        let error = || WhyStopped::Error {
            reason: "x".to_owned(),
        };
        let (before, after) = ("2026-01-20T14:59:59Z", "2026-01-20T15:00:00Z");
        let at_three = || limit(after);
        let done = || WhyStopped::Done;
        for (old, new, now, expected) in [
            (
                ("claude", "a", at_three()),
                ("claude", "b", done()),
                before,
                true,
            ),
            (
                ("claude", "a", at_three()),
                ("codex", "b", done()),
                before,
                true,
            ),
            (
                ("claude", "a", at_three()),
                ("claude", "b", done()),
                after,
                false,
            ),
            // It is the very session, or could be.
            (
                ("claude", "a", at_three()),
                ("claude", "a", done()),
                before,
                false,
            ),
            (
                ("claude", "", at_three()),
                ("claude", "b", done()),
                before,
                false,
            ),
            (
                ("claude", "a", at_three()),
                ("claude", "", done()),
                before,
                false,
            ),
            // Whatever else stopped somebody is news.
            (
                ("claude", "a", at_three()),
                ("claude", "b", error()),
                before,
                false,
            ),
            (
                ("claude", "a", at_three()),
                ("claude", "b", limit("")),
                before,
                false,
            ),
            (
                ("claude", "a", error()),
                ("claude", "b", done()),
                before,
                false,
            ),
            // No time that can be read.
            (
                ("claude", "a", limit("")),
                ("claude", "b", done()),
                before,
                false,
            ),
            (
                ("claude", "a", limit("soon")),
                ("claude", "b", done()),
                before,
                false,
            ),
            (
                ("claude", "a", limit("soon")),
                ("codex", "b", done()),
                after,
                true,
            ),
        ] {
            let [old, new] = [old, new].map(|(agent, session, why)| noted(agent, session, why));
            let now = now.parse().unwrap();
            assert_eq!(outlives(&old, &new, now), expected, "{old:?} {new:?} {now}");
        }
    }
}
