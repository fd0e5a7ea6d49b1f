//! The steps of a workflow as the state machine counts them, and what each asks for.

use rekindle_text::shell_word;

use super::fault::Fault;
use super::layout::Branch;
use super::state::{State, key};
use super::table::{self, Retry, STEPS, Step};

/// Steps of a workflow without test-first steps.
pub(crate) const STANDARD: &[&str] = &ids::<{ n_steps(Kind::Standard) }>(Kind::Standard);
/// Steps of a workflow with them.
const TEST_FIRST: &[&str] = &ids::<{ n_steps(Kind::All) }>(Kind::All);
/// The test-first steps alone, the only ones that can be skipped.
pub(crate) const SKIPPABLE: &[&str] = &ids::<{ n_steps(Kind::TestFirst) }>(Kind::TestFirst);
/// How many steps come before the first subtask's.
const N_BEFORE: usize = n_steps(Kind::Once);

/// Some of the steps.
#[derive(Clone, Copy)]
enum Kind {
    All,
    Standard,
    TestFirst,
    /// Those that are not repeated for each subtask.
    Once,
}

const fn is_of(step: &Step, kind: Kind) -> bool {
    match kind {
        Kind::All => true,
        Kind::Standard => !step.is_test_first,
        Kind::TestFirst => step.is_test_first,
        Kind::Once => !step.is_of_subtask,
    }
}

const fn n_steps(kind: Kind) -> usize {
    let (mut at, mut n) = (0, 0);
    while at < STEPS.len() {
        if is_of(&STEPS[at], kind) {
            n += 1;
        }
        at += 1;
    }
    n
}

/// Returns the ids of the steps of a kind, while compiling.
const fn ids<const N: usize>(kind: Kind) -> [&'static str; N] {
    let mut ids = [""; N];
    let (mut at, mut n) = (0, 0);
    while at < STEPS.len() {
        if is_of(&STEPS[at], kind) {
            ids[n] = STEPS[at].id;
            n += 1;
        }
        at += 1;
    }
    ids
}

/// The isolation of an attempt that must not know what the failed ones tried.
pub(crate) const CLEAN_RETRY: &str = Retry::Clean.as_str();

/// Returns the steps in order.
pub(crate) fn order(is_tdd: bool) -> &'static [&'static str] {
    if is_tdd { TEST_FIRST } else { STANDARD }
}

/// Returns the steps that are repeated for each subtask.
pub(crate) fn of_subtask(is_tdd: bool) -> &'static [&'static str] {
    &order(is_tdd)[N_BEFORE..]
}

/// Returns the phase of a step.
pub(crate) fn phase(step: &str) -> Option<&'static str> {
    table::step(step).map(|step| step.phase)
}

/// Returns the phase of a step, or the word for one that nobody knows.
pub(crate) fn phase_or_unknown(step: &str) -> &'static str {
    phase(step).unwrap_or("UNKNOWN")
}

/// Returns what is to be done in a step.
pub(crate) fn instruction(step: &str, state: &State, branch: &Branch) -> Result<String, Fault> {
    let subtask = state.subtask().unwrap_or("None");
    let id = state.subtask().map_or("<subtask_id>".into(), shell_word);
    let clean_retry = clean_retry(state, state.subtask_key())?;
    Ok(match step {
        "1.0" => "Have the task-decomposer agent split the task into at most 20 small subtasks, each with criteria to check it by.".to_owned(),
        "1.5" => format!("Write {} from the blueprint: the goal, the current phase, a status line for every subtask, and everything parked under deferred_yagni where a reader sees it.", branch.plan()),
        "1.55" => "Show the plan to the user (goal, subtask titles, risks, parked items) and wait for a clear yes. A parked item comes back with `rekindle map restore_deferred_yagni YG-NNN`. Record the yes with `rekindle map set_plan_approved true`.".to_owned(),
        "1.56" => "Nothing to do: the mode is batch. Ask for the next step.".to_owned(),
        "1.6" => "Let step_state.json list the subtasks of the plan; it is what every later step goes by.".to_owned(),
        "2.2" => format!("Save what is known about the code that this subtask touches with `rekindle map save_research {branch} {id}`; without that file the step does not close. Use the research-agent when the place is unclear. A subtask that is already done, or needs nothing, is closed with `rekindle map mark_subtask_complete {id} --reason \"...\"`."),
        "2.25" => format!("Have the actor agent, with <TDD_Mode>test_writer</TDD_Mode>, write tests and nothing else for {subtask}, from its contract and not from code."),
        "2.26" => "Run the new tests. They must fail by assertion, since nothing is implemented yet; tests that pass go back to the test writer.".to_owned(),
        "2.3" => actor(subtask, state.is_tdd(), clean_retry),
        "2.4" => "Have the monitor agent check the actor's work: correct, safe, in style, tested.".to_owned(),
        other => format!("Execute step {other} ({}).", phase_or_unknown(other)),
    })
}

fn actor(subtask: &str, is_tdd: bool, clean_retry: Option<&str>) -> String {
    let mode = if is_tdd {
        format!(
            " Pass <TDD_Mode>code_only</TDD_Mode>: the tests that are there must pass and stay as they are; read test_contract_{subtask}.md and test_handoff_{subtask}.json first if they exist."
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

/// Returns the quarantine file that the next attempt at a subtask must go by, if there is one.
pub(crate) fn clean_retry<'a>(state: &'a State, subtask: &str) -> Result<Option<&'a str>, Fault> {
    let isolation = state.map(key::ISOLATION)?.text(subtask);
    let path = state.map(key::QUARANTINES)?.text(subtask);
    let is_due = isolation == Some(CLEAN_RETRY);
    Ok(path.filter(|path| is_due && !path.is_empty()))
}
