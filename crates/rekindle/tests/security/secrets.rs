//! Secrets that an agent prints: they stay out of everything that is kept.

use anyhow::{Result, ensure};
use rekindle_testkit::agent_memory::Run;
use rekindle_testkit::repository::{Project, text};
use rekindle_testkit::sandbox::Sandbox;
use serde_json::json;

use crate::BINARY;

/// Shapes that nobody can mistake; none was ever valid.
const SECRETS: [&str; 3] = [
    "sk-ant-api03-AbCdEfGhIjKlMnOpQrStUvWxYz0123456789AbCdEfGhIjKlMnOpQrStUvWxYz0123456789AbCdEfGh-AbCdEfAA",
    "ghp_AbCdEfGhIjKlMnOpQrStUvWxYz0123456789",
    "AKIAIOSFODNN7EXAMPLE",
];

#[test]
fn what_an_agent_prints_is_kept_without_its_secrets() -> Result<()> {
    let project = Project::new(BINARY);
    project.plan("A");
    let [anthropic, github, amazon] = SECRETS;
    let agent = format!(
        "cat > /dev/null; echo 'export ANTHROPIC_API_KEY={anthropic}'; echo 'remote: https://x:{github}@github.com/a/b' >&2; echo '{amazon}'; echo \"last words: {anthropic}\"; exit 1"
    );
    // The command line itself is the user's own and stands where they put it: a script has the secrets.
    let script = project.path().join("agent.sh");
    fs_err::write(&script, agent)?;
    let run = project.run(&format!("sh {}", script.display()), &["--retries", "1"]);
    fs_err::remove_file(&script)?;
    let said = text(&run.stderr);
    for secret in SECRETS {
        let found = project.shell(&format!(
            "grep -rlF -e '{secret}' .rekindle .agent-memory .git"
        ));
        assert_eq!(text(&found.stdout), "", "{secret}");
        ensure!(!said.contains(secret), "{said}");
        for words in [
            &["status", "-v"][..],
            &["inspect", "-v"],
            &["inspect", "--json"],
            &["plan"],
        ] {
            let shown = text(&project.rekindle(words).stdout);
            ensure!(!shown.contains(secret), "{words:?}: {shown}");
        }
    }
    let kept = project.shell("cat .rekindle/runs/*/A/1/output.log");
    ensure!(
        text(&kept.stdout).contains("ANTHROPIC_API_KEY=***"),
        "{}",
        text(&kept.stdout)
    );
    Ok(())
}

#[test]
fn no_report_has_a_secret_of_a_plan_a_reason_or_a_diff() -> Result<()> {
    let project = Project::new(BINARY);
    let [_, github, _] = SECRETS;
    let plan = format!("# Push\n\n- [ ] T1 Push with {github}\n- [ ] T2 Fail\n");
    fs_err::write(project.path().join("plan.md"), plan)?;
    let script = project.path().join("agent.sh");
    let lines = format!(
        "cat > /dev/null\necho '{github}' > $REKINDLE_TASK.txt\necho 'refused: {github}'\n[ $REKINDLE_TASK = T1 ]\n"
    );
    fs_err::write(&script, lines)?;
    let agent = format!("sh {}", script.display());
    let ran = project.rekindle(&[
        "run",
        "plan.md",
        "--yes",
        "--retries",
        "0",
        "--agent-cmd",
        &agent,
    ]);
    ensure!(ran.status.code() == Some(1), "{}", text(&ran.stderr));
    for words in [
        &["report", "--with-output", "-o", "-"][..],
        &["report", "--json"],
        &["report", "--trace", "-o", "-"],
        &["report", "--svg", "graph", "-o", "-"],
        &["report", "--svg", "timeline", "-o", "-"],
    ] {
        let shown = text(&project.rekindle(words).stdout);
        ensure!(
            shown.contains("Push with") || words[1] == "--svg",
            "{words:?}: {shown}"
        );
        ensure!(!shown.contains(&github[4..]), "{words:?}: {shown}");
    }
    Ok(())
}

#[test]
fn secrets_behind_names_colors_and_base64_are_kept_out_of_the_output() -> Result<()> {
    let project = Project::new(BINARY);
    project.plan("A");
    let secret = "hunter2pass";
    // `API_TOKEN=` and the secret, as base64.
    let encoded = ["QVBJX1RPS0VOPWh1", "bnRlcjJwYXNz"].concat();
    let script = project.path().join("agent.sh");
    let lines = format!(
        "cat > /dev/null\n\
         printf 'password: {secret}\\naws_secret_access_key = {secret}\\nX-Api-Key: {secret}\\n'\n\
         printf 'Set-Cookie: sid={secret}; Path=/\\ncurl -u me:{secret} https://host\\n'\n\
         printf 'pass\\033[31mword=hunter2\\033[0mpass\\n'\n\
         echo 'payload {encoded}'\nexit 1\n"
    );
    fs_err::write(&script, lines)?;
    project.run(&format!("sh {}", script.display()), &["--retries", "1"]);
    fs_err::remove_file(&script)?;
    for hidden in [secret, &encoded, "hunter2"] {
        let found = project.shell(&format!("grep -rlF -e '{hidden}' .rekindle .agent-memory"));
        assert_eq!(text(&found.stdout), "", "{hidden}");
    }
    Ok(())
}

#[test]
fn what_an_agent_sends_to_its_hook_is_kept_without_its_secrets() -> Result<()> {
    let sandbox = Sandbox::new(BINARY)?;
    Run::interrupted("20260119-0900-orders-api-k2l3").lay_out(&sandbox)?;
    for secret in SECRETS {
        let told = json!({"session_id": "s", "cwd": sandbox.project(), "hook_event_name": "StopFailure",
            "error": "server_error", "error_details": format!("no access with {secret}"),
            "last_assistant_message": format!("API_KEY={secret}")});
        let hook = sandbox.typed(&["hook", "stop-failure", "--agent", "claude"]);
        let ran = hook.answering(&told.to_string()).run()?;
        ensure!(ran.code() == Some(0), "{ran}");
        let note = sandbox.read(".rekindle/stopped.json")?;
        ensure!(!note.contains(secret), "{note}");
        let status = sandbox.run(&["status"])?;
        ensure!(!status.to_string().contains(secret), "{status}");
    }
    Ok(())
}
