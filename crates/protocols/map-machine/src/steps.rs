//! The steps of a workflow and their instructions.

use rekindle_text::shell_word;

use crate::layout::Branch;
use crate::reply::Fault;
use crate::state::{State, key};
use crate::table::{self, Retry};

/// The steps of a workflow without test-first steps.
pub(crate) const STANDARD: &[&str] = &["1.0", "1.5", "1.55", "1.56", "1.6", "2.2", "2.3", "2.4"];
/// The steps of a workflow with test-first steps.
const TEST_FIRST: &[&str] = &[
    "1.0", "1.5", "1.55", "1.56", "1.6", "2.2", "2.25", "2.26", "2.3", "2.4",
];
/// The test-first steps, the only ones that can be skipped.
pub(crate) const SKIPPABLE: &[&str] = &["2.25", "2.26"];
/// The number of steps before the first subtask.
const N_BEFORE: usize = 5;

/// The isolation of an attempt without the context of failed ones.
pub const CLEAN_RETRY: &str = Retry::Clean.as_str();

/// Returns the steps in order.
pub(crate) fn order(is_tdd: bool) -> &'static [&'static str] {
    if is_tdd { TEST_FIRST } else { STANDARD }
}

/// Returns the steps that are repeated for each subtask.
pub(crate) fn of_subtask(is_tdd: bool) -> &'static [&'static str] {
    &order(is_tdd)[N_BEFORE..]
}

/// Returns the phase of a step.
pub fn phase(step: &str) -> Option<&'static str> {
    table::step(step).map(|step| step.phase)
}

/// Returns the instruction of a step.
pub(crate) fn instruction(step: &str, state: &State, branch: &Branch) -> Result<String, Fault> {
    let subtask = state.subtask().unwrap_or("None");
    let id = state.subtask().map_or("<subtask_id>".into(), shell_word);
    let clean_retry = clean_retry(state, state.subtask_key())?;
    Ok(match step {
        "1.0" => "Have the task-decomposer agent split the task into at most 20 small subtasks, each with criteria to check it by.".to_owned(),
        "1.5" => format!("Write {} from the blueprint: the goal, the current phase, a status line for every subtask, and the items parked under deferred_yagni where a reader sees them.", branch.plan()),
        "1.55" => "Show the plan to the user (goal, subtask titles, risks, parked items) and wait for clear approval. Restore a parked item with `rekindle map restore_deferred_yagni YG-NNN`. Record the approval with `rekindle map set_plan_approved true`.".to_owned(),
        "1.56" => "Nothing to do: the mode is batch. Ask for the next step.".to_owned(),
        "1.6" => "Let step_state.json list the subtasks of the plan; every later step depends on it.".to_owned(),
        "2.2" => format!("Save research on the code that this subtask touches with `rekindle map save_research {branch} {id}`; without that file the step does not close. Use the research-agent when the location is unclear. A subtask that is already done, or needs nothing, is closed with `rekindle map mark_subtask_complete {id} --reason \"...\"`."),
        "2.25" => format!("Have the actor agent, with <TDD_Mode>test_writer</TDD_Mode>, write tests and nothing else for {subtask}, from its contract and not from code."),
        "2.26" => "Run the new tests. They must fail by assertion, since nothing is implemented yet; tests that pass go back to the test writer.".to_owned(),
        "2.3" => actor(subtask, state.is_tdd(), clean_retry),
        "2.4" => "Have the monitor agent check the actor's work: correct, safe, in style, tested.".to_owned(),
        other => format!("Execute step {other} ({}).", phase(other).unwrap_or("UNKNOWN")),
    })
}

fn actor(subtask: &str, is_tdd: bool, clean_retry: Option<&str>) -> String {
    let mode = if is_tdd {
        format!(
            " Pass <TDD_Mode>code_only</TDD_Mode>: the existing tests must pass without changes; read test_contract_{subtask}.md and test_handoff_{subtask}.json first if they exist."
        )
    } else {
        " Pass its contract and its context.".to_owned()
    };
    let clean = clean_retry.map_or_else(String::new, |path| {
        format!(
            " CLEAN_RETRY: read {path}, take context only from it, the blueprint and the plan, and not from the feedback files of failed attempts; keep its constraints, and do not repeat what was rejected."
        )
    });
    format!("Have the actor agent implement {subtask}.{mode}{clean}")
}

/// Returns the quarantine file for a clean retry of a subtask.
pub(crate) fn clean_retry<'a>(state: &'a State, subtask: &str) -> Result<Option<&'a str>, Fault> {
    let isolation = state.map(key::ISOLATION)?.text(subtask);
    let path = state.map(key::QUARANTINES)?.text(subtask);
    let is_clean = isolation == Some(CLEAN_RETRY);
    Ok(path.filter(|path| is_clean && !path.is_empty()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::{STEPS, Step};

    #[test]
    fn the_lists_of_steps_agree_with_the_table() {
        let ids = |which: fn(&&Step) -> bool| -> Vec<&str> {
            STEPS.iter().filter(which).map(|step| step.id).collect()
        };
        assert_eq!(TEST_FIRST, ids(|_| true));
        assert_eq!(STANDARD, ids(|step| !step.is_test_first));
        assert_eq!(SKIPPABLE, ids(|step| step.is_test_first));
        assert_eq!(STANDARD[..N_BEFORE], ids(|step| !step.is_of_subtask));
    }
}
