//! Tests of what is recorded after an agent has ended.

use rekindle_model::{AgentTask, Ended, Intent};

use super::plan_tests::{FAILED, READY, WAITING, check_plan, log};
use super::scene_tests::RUN;

fn settle(role: &'static str, task: Option<&str>, attempt: u32, ended: Ended) -> Intent {
    Intent::Settle {
        log: log(),
        task: AgentTask {
            role,
            task: task.map(str::to_owned),
            attempt,
            summary: String::new(),
            prompt: String::new(),
            checks: Vec::new(),
            by_hand: Vec::new(),
            seen: None,
        },
        ended,
    }
}

fn failed() -> Ended {
    Ended::Failed {
        reason: "it broke".to_owned(),
    }
}

fn check_failed() -> Ended {
    Ended::CheckFailed {
        check: "cargo test".to_owned(),
        reason: "exit code 1".to_owned(),
    }
}

#[test]
fn records_the_end_of_an_executor() {
    let executor = |attempt, ended| settle("executor", Some("T1"), attempt, ended);
    let started = format!("{READY} 10:00 task_started T1");
    check_plan(
        &started,
        &executor(1, Ended::Succeeded),
        "append task_implemented T1 {\"attempt\":1}\nagain",
    );
    check_plan(
        &started,
        &executor(2, failed()),
        "append task_failed T1 {\"attempt\":2,\"error\":\"it broke\"}\nagain",
    );
    check_plan(
        &started,
        &executor(1, check_failed()),
        "append task_failed T1 {\"attempt\":1,\"error\":\"exit code 1\"}\nagain",
    );
    // A retry of the user is verified at once.
    check_plan(
        &format!("{FAILED} 10:03 task_started T1"),
        &executor(4, Ended::Succeeded),
        "append task_implemented T1 {\"attempt\":4}\nagent verifier T1 attempt 4",
    );
}

#[test]
fn records_the_end_of_a_verifier() {
    let verifier = |ended| settle("verifier", Some("T1"), 1, ended);
    let scene = |report: &str| {
        format!("{READY} 10:00 task_implemented T1\n file verifications/T1.md {report}")
    };
    let passed =
        "append task_verified T1 {\"attempt\":1}\nappend task_completed T1 {\"attempt\":1}\nagain";
    let refused = |reason: &str| {
        format!(
            "append task_verification_failed T1 {{\"attempt\":1,\"reason\":\"{reason}\"}}\nagain"
        )
    };
    for report in [
        "",
        "no verdict",
        "---\\nresult: passed\\n---\\n",
        "### Result: PASSED\\n",
        "---\\nresult: \"PASSED_WITH_WARNINGS\"\\n",
    ] {
        check_plan(&scene(report), &verifier(Ended::Succeeded), passed);
    }
    let says_failed = "---\\nresult: failed\\n---\\n";
    check_plan(
        &scene(says_failed),
        &verifier(Ended::Succeeded),
        &refused("the verifier's report says failed"),
    );
    check_plan(
        &scene("### Result: BLOCKED\\n"),
        &verifier(Ended::Succeeded),
        "append task_blocked T1 {\"blocking\":true,\"reason\":\"the verifier's report says blocked\"}\nagain",
    );
    // A failed check or agent counts whatever the report says.
    let says_passed = scene("---\\nresult: passed\\n---\\n");
    check_plan(&says_passed, &verifier(failed()), &refused("it broke"));
    check_plan(
        &says_passed,
        &verifier(check_failed()),
        &refused("`cargo test`: exit code 1"),
    );
    // A second attempt has a report of its own.
    check_plan(
        &format!("{}\n 09:30 task_failed T1", scene(says_failed)),
        &settle("verifier", Some("T1"), 2, Ended::Succeeded),
        "append task_verified T1 {\"attempt\":2}\nappend task_completed T1 {\"attempt\":2}\nagain",
    );
}

#[test]
fn records_a_step_if_its_document_exists() {
    let step = |role| settle(role, None, 1, Ended::Succeeded);
    let at = |phase: u8, docs: &str| {
        format!(
            "docs prd plan constitution {docs}\n graph T1\n log a/a.jsonl\n 09:00 phase_transition 0>{phase}\n"
        )
    };
    let moved = |from, to, trigger: &str| {
        format!(
            "append phase_transition {{\"from_phase\":{from},\"to_phase\":{to},\"trigger\":\"{trigger}\"}}\nagain"
        )
    };
    check_plan("folder tasks", &step("spec-writer"), "again");
    check_plan(
        "docs prd\n log a/a.jsonl\n 09:00 phase_transition 0>0",
        &step("spec-writer"),
        &moved(0, 1, "prd_ready"),
    );
    check_plan("docs prd plan", &step("planner"), "again");
    check_plan(WAITING, &step("task-breaker"), "again");
    check_plan(
        &at(2, "x"),
        &step("verifier"),
        &moved(2, 3, "all_tasks_finished"),
    );
    check_plan(
        "docs constitution",
        &step("executor"),
        &moved(2, 3, "small_task_done"),
    );
    check_plan(
        &at(3, "x"),
        &step("cleanup"),
        "append cleanup_completed\nagain",
    );
    check_plan(&at(3, "cleanup-report"), &step("pr-prep"), "again");
    check_plan(&at(4, "x"), &step("memory-consolidator"), "again");
    check_plan(
        &format!("ask {RUN}\n {}", at(4, "summary")),
        &step("memory-consolidator"),
        "append run_completed {\"tasks_completed\":0,\"total_tasks\":1}\nagain",
    );
    for ended in [failed(), check_failed()] {
        let reason = if ended == failed() {
            "it broke"
        } else {
            "exit code 1"
        };
        check_plan(
            "docs prd",
            &settle("planner", None, 1, ended),
            &format!("stop Blocked: the planner failed: {reason}"),
        );
    }
}
