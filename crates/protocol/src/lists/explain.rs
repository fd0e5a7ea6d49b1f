//! Why a task of a list is in its state.

use rekindle_model::{Explanation, Place, ProtocolName, Said};
use rekindle_text::excerpt;

use crate::lists::assess::Judged;
use crate::lists::table::{Claim, TaskState};

/// No more needs than this are listed.
const MOST: usize = 50;

/// Explains the state of a task; `None` if the list has no such task.
pub(crate) fn explain(protocol: ProtocolName, judged: &Judged, id: &str) -> Option<Explanation> {
    let tasks = &judged.list.file.tasks;
    let at = tasks.iter().position(|task| task.id == id)?;
    let standing = &judged.standing;
    let task = &tasks[at];
    let state = standing.states[at];
    let place = |task: usize| Place::line(judged.list.source(), tasks[task].line);
    let has_landed = standing.landed.contains(&at);
    let claim = match task.claim {
        Claim::Open => "its mark says open",
        Claim::InProgress => "its mark says in progress",
        Claim::Done => "its mark says done",
        Claim::Skipped => "the list leaves it out",
    };
    let mut said = vec![Said::new(place(at), claim, !has_landed)];
    if has_landed {
        said.push(Said::new(
            place(at),
            "a commit with its trailers has landed",
            true,
        ));
    }
    if standing.at_hand.contains(&at) {
        let what = "the last session of a coding agent was working on it";
        said.push(Said::new(place(at), what, state == TaskState::InProgress));
    }
    let mut left_out = 0;
    let others = standing.children[at].iter().map(|part| ("part", *part));
    let needs = if standing.is_work[at] {
        standing.needs.of_task(at)
    } else {
        Vec::new()
    };
    let needs = needs
        .into_iter()
        .filter(|need| !standing.children[at].contains(need));
    for (word, other) in others.chain(needs.map(|need| ("needs", need))) {
        if said.len() > MOST {
            left_out += 1;
            continue;
        }
        let other_state = standing.states[other];
        let what = format!(
            "{word} `{}`, which is {}",
            excerpt(&tasks[other].id, 80),
            other_state.as_str()
        );
        said.push(Said::new(
            place(other),
            what,
            !other_state.is_finished() && !state.is_finished(),
        ));
    }
    let rule = rule(judged, at, state, has_landed);
    let explanation = Explanation::new(
        judged.id(protocol),
        task.id.clone(),
        state.as_str(),
        rule,
        said,
    );
    Some(Explanation {
        left_out,
        ..explanation
    })
}

/// Returns the rule that decided, as a clause.
fn rule(judged: &Judged, at: usize, state: TaskState, has_landed: bool) -> String {
    let standing = &judged.standing;
    if has_landed {
        return "a landed commit proves a task done, whatever its mark says".to_owned();
    }
    if standing.marked_early.contains(&at) {
        return "it is marked as done, but a part of it is open".to_owned();
    }
    if !standing.is_work[at] {
        return "its parts decide; it is not work of its own".to_owned();
    }
    match state {
        TaskState::Done => "its mark says that it is done".to_owned(),
        TaskState::Skipped => "the list can do without it".to_owned(),
        TaskState::Blocked => "it waits for itself through others".to_owned(),
        TaskState::InProgress if judged.list.file.tasks[at].claim == Claim::Open => {
            "the last session of a coding agent was working on it".to_owned()
        }
        TaskState::InProgress => "its mark says that somebody began it".to_owned(),
        TaskState::Pending if standing.runnable.contains(&at) => {
            "everything that it needs is finished, so it can start".to_owned()
        }
        TaskState::Pending => {
            "something that it needs, or that comes before it, is open".to_owned()
        }
    }
}
