//! The end of an agent that has done its work: recorded before anything else happens, so that a worker
//! that dies afterwards is followed by one that only checks and delivers.

use rekindle_agents::{Exit, Summary};
use rekindle_model::{AgentEnd, Happened};

use super::{Worker, microdollars};
use crate::Error;
use crate::port::Position;

/// What is known of an agent that has done its work.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Done {
    pub(super) session: Option<String>,
    /// In millionths of a dollar.
    pub(super) cost: Option<u64>,
    /// The last tool that it was not allowed to use.
    pub(super) denied: Option<String>,
}

impl Worker<'_> {
    /// Records that the agent has done its work. `exit` is how its process ended, if it did so by itself.
    pub(super) fn done(&self, summary: &Summary, exit: Option<Exit>) -> Result<Done, Error> {
        let done = Done {
            session: summary.session.clone(),
            cost: summary.cost_usd.map(microdollars),
            denied: summary.denied.last().cloned(),
        };
        self.say(&Happened::Ended(AgentEnd {
            exit: match exit {
                Some(Exit::Code(code)) => Some(code),
                Some(Exit::Signal(_)) | None => None,
            },
            denied: done.denied.clone(),
            boot: crate::engine::boot(),
        }))?;
        crate::crash::point("after-agent-done");
        Ok(done)
    }

    /// Returns what an earlier worker of this very attempt recorded when the agent had done its work.
    pub(super) fn done_before(&self) -> Option<Done> {
        let (lines, _) = self.port.read(&self.order.log, Position::default());
        let heard = lines.iter().filter_map(|line| self.scribe.heard(line));
        let mine = heard.filter(|(task, attempt, _)| {
            (task, *attempt) == (&self.order.task, self.order.attempt)
        });
        done_by(mine.map(|(_, _, happened)| happened))
    }

    /// Leaves the worktree as it is, for an agent that goes on in it.
    pub(super) fn keep(&self) -> Result<(), Error> {
        self.own()?.break_locks()?;
        match self.slot().and_then(|slot| Some((slot.record()?, slot))) {
            Some((record, slot)) => slot.kept_by(self.order.attempt, record),
            None => Ok(()),
        }
    }
}

/// Returns what the reports of an attempt say about its agent, if its work was done and nothing followed.
fn done_by(reports: impl Iterator<Item = Happened>) -> Option<Done> {
    let mut done = Done::default();
    let mut is_done = false;
    for happened in reports {
        match happened {
            Happened::Session { id } => done.session = Some(id),
            Happened::Cost { microdollars } => done.cost = Some(microdollars),
            Happened::Ended(end) => (is_done, done.denied) = (true, end.denied),
            // A check that was stopped or killed says nothing about the work.
            Happened::Beat { .. } | Happened::Stopped { .. } => {}
            Happened::Claimed
            | Happened::Started { .. }
            | Happened::Implemented(_)
            | Happened::Failed { .. }
            | Happened::Limited { .. }
            | Happened::Interrupted(_)
            | Happened::Completed { .. }
            | Happened::Blocked { .. }
            | Happened::Reopened { .. } => is_done = false,
        }
    }
    is_done.then_some(done)
}

#[cfg(test)]
mod tests {
    use rekindle_model::Stage;

    use super::*;

    #[test]
    fn work_is_there_if_the_agent_ended_and_nothing_was_reported_about_it() {
        let started = || Happened::Started {
            base: "b".to_owned(),
        };
        let ended = || {
            Happened::Ended(AgentEnd {
                exit: Some(0),
                denied: Some("Write".to_owned()),
                boot: None,
            })
        };
        let session = || Happened::Session { id: "s".to_owned() };
        let cost = |microdollars| Happened::Cost { microdollars };
        let beat = || Happened::Beat {
            stage: Stage::Verifying,
        };
        let stopped = || Happened::Stopped { killed: None };
        let done = Done {
            session: Some("s".to_owned()),
            cost: Some(7),
            denied: Some("Write".to_owned()),
        };
        let all = vec![
            Happened::Claimed,
            started(),
            session(),
            cost(5),
            cost(7),
            ended(),
            beat(),
        ];
        assert_eq!(done_by(all.clone().into_iter()), Some(done.clone()));
        let and = |last: Happened| all.clone().into_iter().chain([last]);
        assert_eq!(done_by(and(stopped())), Some(done));
        let failed = Happened::Failed {
            reason: "no".to_owned(),
            kind: rekindle_model::FailureKind::Work,
        };
        assert_eq!(done_by(and(failed)), None);
        assert_eq!(done_by([started(), stopped()].into_iter()), None);
        assert_eq!(
            done_by([Happened::Claimed, started(), session()].into_iter()),
            None
        );
        assert_eq!(done_by(std::iter::empty()), None);
    }
}
