//! Whether a retry goes on in its agent's session: only if the agent's own record says that it can.

use crate::stage::{KEEP_WORDS, Stage};

/// Leaves the transcript of session `s-1` where Claude Code would, with these words in it.
fn transcript(words: &str) -> String {
    format!(
        "kept=$HOME/.claude/projects/$(pwd -P | sed 's/[^A-Za-z0-9]/-/g')\n\
         mkdir -p \"$kept\"\nprintf '{words}' \"$(pwd -P)\" > \"$kept/s-1.jsonl\"\n"
    )
}

/// Fails once after that shell script and returns the words that the second attempt was started with.
fn second_words(script: &str) -> String {
    let first = "session s-1\nstream claude\nrun sh $FAKE_AGENT_SCRIPT/keep.sh\nresult error no";
    let second = format!("{KEEP_WORDS}\nstream claude\nwrite A.txt x");
    let scripts = [
        ("A.1", first),
        ("A.2", second.as_str()),
        ("keep.sh", script),
    ];
    let stage = Stage::new("A", &scripts);
    stage.run(&["--retries", "1"]).done();
    stage.words("A", 2)
}

const FRESH: &str = "claude -p --output-format stream-json --verbose";

fn continued() -> String {
    format!("{FRESH} --resume s-1")
}

#[test]
fn a_session_whose_transcript_is_whole_goes_on() {
    let whole = transcript(r#"{"type":"user","cwd":"%s"}\n"#);
    assert_eq!(second_words(&whole), continued());
}

#[test]
fn a_session_that_is_cut_off_or_of_another_folder_is_not_asked_for() {
    let torn = transcript(r#"{"type":"user","cwd":"%s"}\n{"type":"assis"#);
    assert_eq!(second_words(&torn), FRESH);
    let elsewhere = transcript(r#"{"type":"user","cwd":"/elsewhere%s"}\n"#);
    assert_eq!(second_words(&elsewhere), FRESH);
    let other = transcript(r#"{"type":"user","cwd":"%s"}\n"#).replace("s-1", "s-2");
    assert_eq!(second_words(&other), FRESH);
}

#[test]
fn a_session_that_a_living_process_has_is_not_asked_for_and_one_of_a_dead_process_is() {
    let listed = |pid: &str, start: &str| {
        format!(
            "{}mkdir -p $HOME/.claude/sessions\npid={pid}\nstart={start}\n\
             echo '{{\"pid\":'$pid',\"sessionId\":\"s-1\",\"procStart\":\"'$start'\"}}' \
             > $HOME/.claude/sessions/$pid.json\n",
            transcript(r#"{"type":"user","cwd":"%s"}\n"#)
        )
    };
    let own = std::process::id().to_string();
    let start = r"$(sed 's/.*) //' /proc/$pid/stat | cut -d' ' -f20)";
    assert_eq!(second_words(&listed(&own, start)), FRESH);
    assert_eq!(second_words(&listed(&own, "1")), continued());
}
