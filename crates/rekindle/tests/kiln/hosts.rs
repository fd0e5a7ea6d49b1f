//! A coding agent that calls rekindle and does every step itself.

use anyhow::{Result, ensure};
use serde_json::{Value, json};

use crate::project::Project;

/// Resumes as a host does, and returns the JSON object.
fn resume(project: &Project) -> Result<Value> {
    let typed = project.alone(&["--yes", "--json"]);
    Ok(typed.with("CLAUDECODE", "1").run()?.json()?)
}

/// Returns the work that was handed back.
fn task(object: &Value) -> &str {
    object["agent"]["task"].as_str().unwrap_or_default()
}

/// Writes a report as Argus does; every report is different.
fn report(project: &Project, n: u32, verdict: &str) -> Result<()> {
    let text = format!(
        "# Validation Report {n}\n\n## Correction Tasks\n### Correction Task 1: Totals\nFailure: {n}\n\n## Verdict: {verdict}\n"
    );
    Ok(project.sandbox.write(".kiln/validation/report.md", &text)?)
}

fn validating() -> Result<Project> {
    let phases = [(1, "Storage"), (2, "Engine"), (3, "Reports")].map(|(n, name)| {
        format!("- phase_number: {n} | phase_name: {name} | phase_status: completed\n")
    });
    Project::new("stage: validation\nstatus: in_progress\n", &phases.concat())
}

#[test]
fn the_next_resume_records_what_the_callers_agents_did() -> Result<()> {
    let project = Project::new(
        "stage: execution\nstatus: in_progress\nphase_total: 3\n",
        "- phase_number: 1 | phase_name: Storage | phase_status: completed\n\
         - phase_number: 2 | phase_name: Engine | phase_status: completed\n",
    )?;
    assert_eq!(task(&resume(&project)?), "phase-3");
    let summary = ".kiln/archive/phase_03/phase_summary.md";
    project.sandbox.write(summary, "# Phase 3 Summary\n")?;
    assert_eq!(task(&resume(&project)?), "validation");
    // A host that resumes again without working gets the same request.
    assert_eq!(task(&resume(&project)?), "validation");
    assert_eq!(project.facts()?["spawn"]["name"], "Argus");
    report(&project, 1, "FAIL")?;
    assert_eq!(project.facts()?["spawn"], json!(null));
    let object = resume(&project)?;
    assert_eq!(task(&object), "correction-1");
    let prompt = object["agent"]["prompt"].as_str().unwrap_or_default();
    ensure!(prompt.contains("### Correction Task 1: Totals"), "{prompt}");
    assert_eq!(project.field("correction_cycle")?, "1");
    assert_eq!(task(&resume(&project)?), "validation");
    report(&project, 2, "PASS")?;
    let object = resume(&project)?;
    assert_eq!(object["outcome"], "done", "{object}");
    assert_eq!(project.field("stage")?, "complete");
    let memory = project.memory()?;
    assert_eq!(memory.matches("- Resumed: ").count(), 6, "{memory}");
    assert_eq!(memory.matches("[correction_start]").count(), 1, "{memory}");
    assert_eq!(
        memory.matches("[correction_complete]").count(),
        1,
        "{memory}"
    );
    project.unrelated_is_untouched()
}

#[test]
fn corrections_of_the_caller_are_counted() -> Result<()> {
    let project = validating()?;
    for cycle in 1..=3 {
        assert_eq!(task(&resume(&project)?), "validation");
        report(&project, cycle, "FAIL")?;
        assert_eq!(task(&resume(&project)?), format!("correction-{cycle}"));
    }
    assert_eq!(task(&resume(&project)?), "validation");
    report(&project, 4, "PARTIAL")?;
    let object = resume(&project)?;
    assert_eq!(object["agent"], json!(null), "{object}");
    let answers = json!(["retry validation", "fix manually", "mark complete"]);
    assert_eq!(object["question"]["answers"], answers);
    assert_eq!(project.field("status")?, "blocked");
    Ok(())
}

#[test]
fn a_report_without_a_verdict_does_not_count() -> Result<()> {
    let project = validating()?;
    assert_eq!(task(&resume(&project)?), "validation");
    report(&project, 1, "PASS | PARTIAL | FAIL")?;
    assert_eq!(task(&resume(&project)?), "validation");
    assert_eq!(project.field("stage")?, "validation");
    Ok(())
}

#[test]
fn a_report_from_before_a_crash_is_validated_again() -> Result<()> {
    let project = validating()?;
    project.verdicts(&["PASS"])?;
    // The agent is killed after its report, before rekindle records it.
    let script = "cat > /dev/null; mkdir -p .kiln/validation; printf '## Verdict\\nPASS\\n' > .kiln/validation/report.md; exit 9";
    let args = [
        "resume",
        "--protocol",
        "kiln",
        "--yes",
        "--agent-cmd",
        script,
    ];
    let ran = project.sandbox.typed(&args).run()?;
    ensure!(ran.code() == Some(1), "{ran}");
    assert_eq!(task(&resume(&project)?), "validation");
    Ok(())
}
