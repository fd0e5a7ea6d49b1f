//! The scripted agent itself, as a process.

use std::error::Error;

use rekindle_testkit::fake_agent;
use rekindle_testkit::running::wait_until_gone;
use rekindle_testkit::sandbox::{LIMIT, Sandbox, Typed};
use rustix::process::{Pid, Signal, getsid, kill_process};
use serde_json::Value;

type Outcome = Result<(), Box<dyn Error>>;

const BINARY: &str = env!("CARGO_BIN_EXE_fake-agent");

/// Lays out a script for task T1, attempt 2; the sandbox's project is the worktree.
fn stage(script: &str) -> Result<Sandbox, Box<dyn Error>> {
    let sandbox = Sandbox::new(BINARY)?;
    let folder = sandbox.root().join("scripts");
    fs_err::create_dir(&folder)?;
    fs_err::write(folder.join("T1"), script)?;
    Ok(sandbox)
}

fn typed<'s>(sandbox: &'s Sandbox, args: &[&str]) -> Typed<'s> {
    sandbox
        .typed(args)
        .answering("the prompt\n")
        .with("FAKE_AGENT_SCRIPT", sandbox.root().join("scripts").as_str())
        .with("REKINDLE_RUN", "run-1")
        .with("REKINDLE_TASK", "T1")
        .with("REKINDLE_ATTEMPT", "2")
        .with("REKINDLE_WORKTREE", sandbox.project().as_str())
}

#[test]
fn files_are_made_and_the_prompt_is_kept() -> Outcome {
    let sandbox = stage(
        r#"
        say working on $TASK.$ATTEMPT of $RUN
        read-prompt prompt.txt
        write src/new.rs fn a() {}\nfn b() {}
        append src/new.rs // end
        chmod src/new.rs 755
        symlink "a link" src/new.rs
        write gone.txt x
        delete gone.txt
        write-outside ../outside.txt by $TASK
        run cp src/new.rs copy.rs
        "#,
    )?;
    let ran = typed(&sandbox, &["-p", "--verbose"]).run()?;
    assert_eq!(ran.code(), Some(0), "{ran}");
    assert_eq!(ran.stdout(), "working on T1.2 of run-1\n");
    let text = "fn a() {}\nfn b() {}\n// end\n";
    assert_eq!(sandbox.read("a link")?, text);
    assert_eq!(sandbox.read("copy.rs")?, text);
    assert!(!sandbox.path("gone.txt").exists());
    let beside = |name: &str| fs_err::read_to_string(sandbox.root().join(name));
    assert_eq!(beside("outside.txt")?, "by T1\n");
    assert_eq!(beside("scripts/prompt.txt")?, "the prompt\n");
    Ok(())
}

#[test]
fn a_script_that_cannot_be_played_ends_with_97() -> Outcome {
    for (script, told) in [
        (
            "say a\ndance",
            "line 2 of the script: there is no instruction `dance`",
        ),
        (
            "write ../x y",
            "`../x` is not in the worktree; there is `write-outside`",
        ),
        ("run exit 3", "`exit 3` failed"),
    ] {
        let ran = typed(&stage(script)?, &[]).run()?;
        assert_eq!(ran.code(), Some(97), "{script}");
        assert!(ran.stderr().contains(told), "{ran}");
    }
    Ok(())
}

#[test]
fn claude_is_spoken_from_the_session_to_the_result() -> Outcome {
    let sandbox = stage(
        "session s-1\nstream claude\nsay hello\npermission-denied Bash\ncost 0.5\nresult limit 1794782400",
    )?;
    let ran = typed(&sandbox, &[]).run()?;
    assert_eq!(ran.code(), Some(1));
    let events: Vec<Value> = ran
        .stdout()
        .lines()
        .map(serde_json::from_str)
        .collect::<Result<_, _>>()?;
    let kinds: Vec<_> = events.iter().map(|event| &event["type"]).collect();
    assert_eq!(
        kinds,
        [
            "system",
            "assistant",
            "system",
            "rate_limit_event",
            "result"
        ]
    );
    assert!(events.iter().all(|event| event["session_id"] == "s-1"));
    let result = &events[4];
    assert_eq!(result["total_cost_usd"], 0.5);
    assert_eq!(result["is_error"], true);
    assert_eq!(result["permission_denials"][0]["tool_name"], "Bash");
    Ok(())
}

#[test]
fn a_session_is_continued_and_success_is_said_at_the_end_of_the_script() -> Outcome {
    let sandbox = stage("session other\nstream claude\nsay $SESSION")?;
    let ran = typed(&sandbox, &["-p", "--resume", "abc"]).run()?;
    assert_eq!(ran.code(), Some(0));
    let said = ran.stdout();
    let last: Value = serde_json::from_str(said.lines().last().unwrap_or_default())?;
    assert_eq!(
        (&last["session_id"], &last["subtype"]),
        (&"abc".into(), &"success".into())
    );
    assert!(said.contains(r#""text":"abc""#), "{said}");
    Ok(())
}

#[test]
fn it_ends_as_ordered() -> Outcome {
    let code = |script: &str| Ok::<_, Box<dyn Error>>(typed(&stage(script)?, &[]).run()?);
    assert_eq!(code("exit 3\nsay never")?.code(), Some(3));
    assert_eq!(code("result error no")?.code(), Some(1));
    assert_eq!(code("result error no\nexit 0")?.code(), Some(0));
    assert_eq!(
        code("stream claude\nhalf {\"type\":\ndie KILL")?.signal(),
        Some(9)
    );
    assert_eq!(code("die TERM")?.signal(), Some(15));
    assert_eq!(code("ignore-term\ndie TERM")?.code(), Some(95));
    let flood = code("flood 200k")?;
    assert_eq!(flood.stdout_bytes().len(), 200 << 10);
    assert!(flood.stdout_bytes().ends_with(b"x\n"));
    Ok(())
}

#[test]
fn it_waits_for_a_test_and_does_not_hear_sigterm() -> Outcome {
    let sandbox = stage("ignore-term\nwarn ready\nwait-for go\ntouch done\nsay survived")?;
    let typed = typed(&sandbox, &[]);
    let running = typed.start()?;
    running.wait_for("ready")?;
    kill_process(pid(running.pid())?, Signal::TERM)?;
    fs_err::write(sandbox.root().join("scripts/go"), "")?;
    let ran = typed.ran(running.finish()?);
    assert_eq!(ran.stdout(), "survived\n");
    assert!(sandbox.root().join("scripts/done").exists());
    Ok(())
}

#[test]
fn a_grandchild_stays_behind_in_a_session_of_its_own() -> Outcome {
    let sandbox = stage("fork-grandchild pid\nwarn forked")?;
    let typed = typed(&sandbox, &[]);
    let running = typed.start()?;
    running.wait_for("forked")?;
    let number: u32 = fs_err::read_to_string(sandbox.root().join("scripts/pid"))?.parse()?;
    let grandchild = pid(number)?;
    let reaper = Reaper(grandchild);
    wait_until_gone(running.pid(), LIMIT)?;
    kill_process(grandchild, Signal::TERM)?;
    assert_eq!(getsid(Some(grandchild))?, grandchild);
    drop(reaper);
    wait_until_gone(number, LIMIT)?;
    assert_eq!(typed.ran(running.finish()?).code(), Some(0));
    Ok(())
}

#[test]
fn a_hanging_agent_hangs_until_it_is_killed() -> Outcome {
    let sandbox = stage("warn here\nhang")?;
    let running = typed(&sandbox, &[]).start()?;
    running.wait_for("here")?;
    running.kill()?;
    Ok(())
}

#[test]
fn the_binary_is_where_other_crates_look_for_it() -> Outcome {
    assert!(fake_agent::program()?.is_file());
    Ok(())
}

/// Ends the grandchild also where a test fails in the middle.
struct Reaper(Pid);

impl Drop for Reaper {
    fn drop(&mut self) {
        kill_process(self.0, Signal::KILL).ok();
    }
}

fn pid(number: u32) -> Result<Pid, Box<dyn Error>> {
    let number = i32::try_from(number)?;
    Ok(Pid::from_raw(number).ok_or("no process has the number 0")?)
}
