//! The prompts of Maestro and Argus: the prescribed parts, and where the work continues.

use rekindle_model::AgentTask;
use rekindle_text::excerpt;

use super::assess::{Execution, Judged, MOST_CORRECTIONS};
use super::layout;
use super::marks;
use super::messages;
use super::names::Helper;
use rekindle_protocol::prompt::Prompt;

/// Returns the work on a phase.
pub(super) fn phase(judged: &Judged, execution: &Execution, attempt: u32) -> AgentTask {
    let number = execution.phase.number;
    let named = messages::named(number, &execution.phase.name);
    let mut prompt = begin(
        judged,
        Helper::Maestro,
        &format!("Resume phase {number} and complete it."),
    );
    prompt = prompt.line(format!(
        "Inputs:\nphase_number: {number}\ndebate_mode: {}",
        judged.project.fields.debate_mode
    ));
    prompt = restart(prompt, judged, execution);
    if attempt > 1 {
        prompt = prompt.line("An earlier attempt of this session did not complete the phase; the handoff note says why.");
    }
    let planned = judged.project.plan.phase(number);
    prompt = match planned {
        Some(planned) => prompt.document(
            &format!("Phase {number} of master-plan.md"),
            &planned.section,
        ),
        None => prompt.line(format!(
            "master-plan.md has no section for phase {number}; follow the memory."
        )),
    };
    AgentTask {
        task: Some(format!("phase-{number}")),
        attempt,
        seen: Some(marks::before_phase(&judged.project, number)),
        ..task(
            Helper::Maestro,
            &format!("resume {named}"),
            memory(prompt, judged),
        )
    }
}

/// Returns the work on what validation found.
pub(super) fn correction(judged: &Judged, attempt: u32) -> AgentTask {
    let cycle = judged.project.fields.correction_cycle;
    let order =
        format!("Do correction cycle {cycle}/{MOST_CORRECTIONS}: fix what validation found.");
    let mut prompt = begin(judged, Helper::Maestro, &order).line(
        "This is a correction phase: it has no number in the master plan, so do not write a phase state file or an archive of a planned phase.",
    );
    if let Some(report) = &judged.project.report {
        prompt = if report.corrections.is_empty() {
            prompt.document("The validation report", &report.text)
        } else {
            prompt.document(
                "The correction tasks of the validation report",
                &report.corrections,
            )
        };
    }
    let summary =
        format!("fix what validation found (correction cycle {cycle}/{MOST_CORRECTIONS})");
    AgentTask {
        task: Some(format!("correction-{cycle}")),
        attempt,
        seen: Some(marks::before_correction(&judged.project.fields)),
        ..task(Helper::Maestro, &summary, memory(prompt, judged))
    }
}

/// Returns the validation of all that was built.
pub(super) fn validation(judged: &Judged) -> AgentTask {
    let project = &judged.project;
    let cycle = project.fields.correction_cycle;
    let report = project.layout.in_kiln(layout::REPORT);
    let mut prompt = begin(judged, Helper::Argus, "Validate what was built against the master plan.")
        .line(format!(
            "Write your report to `{report}`, replacing any existing one. \
             Below its heading `## Verdict` write one word: PASS, PARTIAL or FAIL. \
             For each failure write a `### Correction Task N: title` below `## Correction Tasks`, with Failure, Evidence, Affected files, Suggested fix and Verification. \
             Missing credentials alone are never a FAIL. Apart from the report, write only the `## Validation` section of MEMORY.md."
        ))
        .line(format!("correction_cycle: {cycle}"));
    prompt = match project.document(layout::MASTER_PLAN) {
        Some(text) => prompt.document("master-plan.md", text),
        None => prompt.line("master-plan.md is absent."),
    };
    for (number, text) in &project.results {
        prompt = prompt.document(&format!("phase-{number}-results.md"), text);
    }
    AgentTask {
        task: Some("validation".to_owned()),
        attempt: cycle.saturating_add(1),
        seen: Some(marks::before_validation(project)),
        ..task(Helper::Argus, "validate what was built", prompt)
    }
}

/// Starts with the agent's role and its working folder.
fn begin(judged: &Judged, helper: Helper, order: &str) -> Prompt {
    let project = &judged.project;
    let prompt = Prompt::new(format!(
        "You are {} ({}). {order}\n\
         \n\
         PROJECT_PATH: {}\n\
         MEMORY_DIR: {}\n\
         \n\
         Work in PROJECT_PATH; kiln's own files are in PROJECT_PATH/.kiln. \
         If you were started as a program, exit with code 0 when it is done, and with any other code when it is not.\n",
        helper.alias(),
        helper.kind(),
        project.layout.project,
        project.memory_dir,
    ));
    match judged.quote(helper) {
        Some((_, quote)) => prompt.quote("names.json, your quote", quote),
        None => prompt,
    }
}

/// Adds where the phase continues.
fn restart(prompt: Prompt, judged: &Judged, execution: &Execution) -> Prompt {
    let number = execution.phase.number;
    let Some(state) = judged.project.states.get(&number) else {
        return prompt.line("The phase has no state file yet: its section of the master plan is the authoritative plan.");
    };
    let path = judged.project.layout.in_kiln(&layout::phase_state(number));
    let restart = &execution.restart;
    let mut text = format!(
        "Restart point: step {} — {}. `{path}` is the authoritative running log.",
        restart.step.as_str(),
        restart.how
    );
    if let Some(task) = &restart.task {
        text.push_str(&format!("\nnext task: {task}"));
    }
    if let Some(round) = restart.review_round {
        text.push_str(&format!("\nnext review round: {round}"));
    }
    let mut said = Vec::new();
    if !state.branch.is_empty() {
        said.push(format!("git_branch_name: {}", excerpt(&state.branch, 200)));
    }
    if !state.status.is_empty() {
        said.push(format!("status: {}", excerpt(&state.status, 80)));
    }
    if let Some(last) = state.last() {
        said.push(format!(
            "last event: {} — {}",
            last.kind.as_str(),
            excerpt(&last.description, 300)
        ));
    }
    let mut prompt = prompt.line(text);
    if !said.is_empty() {
        prompt = prompt.quote(&format!("`{path}`"), &said.join("\n"));
    }
    prompt.line(
        "The handoff note in MEMORY.md says what was happening; trust it over anything inferred.",
    )
}

/// Adds the whole memory, which every executor gets.
fn memory(prompt: Prompt, judged: &Judged) -> Prompt {
    let project = &judged.project;
    let mut prompt = prompt.document("MEMORY.md", &project.memory.text());
    prompt = match project.document(layout::VISION) {
        Some(text) => prompt.document("vision.md", text),
        None => prompt.line("vision.md is absent."),
    };
    if project.fields.handoff_context.is_empty() {
        return prompt;
    }
    prompt.document("handoff_context", &project.fields.handoff_context)
}

fn task(helper: Helper, summary: &str, prompt: Prompt) -> AgentTask {
    let summary = format!("{}: {summary}", helper.alias());
    AgentTask::new(helper.kind(), summary, prompt.finish())
}
