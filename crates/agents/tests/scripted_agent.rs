//! The output of the scripted agent is readable as a stream.

use camino::{Utf8Path, Utf8PathBuf};
use rekindle_agents::{Exit, Stream, StreamReader, Summary, Verdict, judge};
use rekindle_testkit::fake_agent::{Ending, Start};

type Outcome = Result<(), Box<dyn std::error::Error>>;

/// Plays a script in memory and reads its output as that of Claude Code.
fn play(script: &str) -> Result<(Summary, Verdict), Box<dyn std::error::Error>> {
    let scratch = tempfile::tempdir()?;
    let folder = Utf8Path::from_path(scratch.path()).ok_or("no UTF-8")?;
    fs_err::write(folder.join("script"), script)?;
    let start = Start {
        script: folder.join("script"),
        run: "run-1".to_owned(),
        task: "T1".to_owned(),
        attempt: "1".to_owned(),
        worktree: Utf8PathBuf::from("/nowhere"),
        session: None,
    };
    let mut said = Vec::new();
    let ending = start.play(&mut std::io::empty(), &mut said, &mut std::io::sink())?;
    let mut reader = StreamReader::new(Stream::ClaudeJson);
    for line in String::from_utf8(said)?.lines() {
        reader.push_line(line);
    }
    let exit = match ending {
        Ending::Exit(code) => Exit::Code(i32::from(code)),
        Ending::Die(_) => Exit::Signal(9),
    };
    let verdict = judge(reader.summary(), exit);
    Ok((reader.into_summary(), verdict))
}

#[test]
fn success_with_session_text_cost_and_a_refused_tool() -> Outcome {
    let (summary, verdict) = play(
        "session s-1\nstream claude\nsay one\\ntwo\npermission-denied Bash\ncost 0.25\nresult success",
    )?;
    assert_eq!(verdict, Verdict::Succeeded);
    assert_eq!(summary.session.as_deref(), Some("s-1"));
    assert_eq!(summary.cost_usd, Some(0.25));
    assert_eq!(summary.denied, ["Bash"]);
    Ok(())
}

#[test]
fn every_other_end() -> Outcome {
    let cases = [
        ("result error no way", Verdict::Failed("no way".to_owned())),
        (
            "result limit 1794782400",
            Verdict::Limited {
                until: Some("2026-11-15T22:40:00Z".to_owned()),
            },
        ),
        ("result limit", Verdict::Limited { until: None }),
        ("half {\"type\":\"resu\ndie KILL", Verdict::Killed(9)),
        ("say hello\nexit 143", Verdict::Killed(15)),
        (
            "say hello\nexit 0",
            Verdict::Failed("it ended without finishing its work".to_owned()),
        ),
        (
            "result error no way\nexit 0",
            Verdict::Failed("no way".to_owned()),
        ),
        ("result success\nexit 1", Verdict::Succeeded),
        ("flood 1k", Verdict::Succeeded),
    ];
    for (script, expected) in cases {
        let (_, verdict) = play(&format!("stream claude\n{script}\n"))?;
        assert_eq!(verdict, expected, "{script}");
    }
    Ok(())
}
