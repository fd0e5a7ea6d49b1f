//! Recorded outputs of the real programs: the content of each line, and the verdict.
//!
//! Every file of `tests/streams` is one run: the exit status on the first line, then both outputs.
//! Most were printed by Claude Code 2.1.325, Codex CLI 0.166.0, opencode 1.18.33 and Gemini CLI 0.61.0
//! with a scripted model; the rest (subscription limits, policies, declined commands) follows the
//! types and texts in the programs.

use camino::Utf8Path;
use proptest::prelude::*;
use rekindle_agents::{Exit, Stream, StreamReader, Summary, Update, judge};

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

#[test]
fn every_recorded_output_is_read_and_judged() -> Outcome<()> {
    let mut all = String::new();
    for (name, text) in recorded()? {
        all.push_str(&format!("## {name}\n{}\n", read(&name, &text)?));
    }
    insta::assert_snapshot!("streams", all);
    Ok(())
}

/// Returns every file of the folder with its name, in order.
fn recorded() -> Outcome<Vec<(String, String)>> {
    let folder = Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/streams");
    let mut files = Vec::new();
    for entry in folder.read_dir_utf8()? {
        let path = entry?.into_path();
        let name = path.file_stem().unwrap_or_default().to_owned();
        files.push((name, fs_err::read_to_string(path)?));
    }
    files.sort();
    Ok(files)
}

/// A file's name begins with the program's.
fn stream_of(name: &str) -> Outcome<Stream> {
    let program = name.split('-').next().unwrap_or_default();
    let stream = Stream::of(program).or(Stream::of(&format!("{program}-json")));
    Ok(stream.ok_or_else(|| format!("`{name}` is of no known program"))?)
}

proptest! {
    #[test]
    fn no_line_causes_a_panic(
        line in r#"(\{|\}|"type":|"(result|system|assistant|error|item.completed|step_finish)",?|"subtype":"init",|"part":|"item":|[0-9]|null|"[a-z\\\\]*":?|,|\PC){0,16}"#,
        code in any::<i32>(),
    ) {
        for stream in Stream::ALL {
            let mut reader = StreamReader::new(stream);
            reader.push_line(&line);
            reader.push_line(&format!("{{{line}}}"));
            judge(reader.summary(), Exit::Code(code));
        }
    }
}

#[test]
fn a_truncated_line_has_no_content() -> Outcome<()> {
    for (name, text) in recorded()? {
        let stream = stream_of(&name)?;
        if stream == Stream::Plain {
            continue;
        }
        for line in text.lines().skip(1) {
            for (cut, _) in line.char_indices() {
                let update = StreamReader::new(stream).push_line(&line[..cut]);
                assert_eq!(update, None, "{name}: {}", &line[..cut]);
            }
        }
    }
    Ok(())
}

fn read(name: &str, text: &str) -> Outcome<String> {
    let mut reader = StreamReader::new(stream_of(name)?);
    let (end, lines) = text.split_once('\n').unwrap_or((text, ""));
    let mut content = String::new();
    for (number, line) in (1..).zip(lines.lines()) {
        if let Some(update) = reader.push_line(line) {
            content.push_str(&format!("{number}: {}\n", update_line(&update)));
        }
    }
    let summary = reader.into_summary();
    let verdict = judge(&summary, exit(end)?);
    let summary = summary_line(&summary);
    Ok(format!("{content}= {summary}\n> {end}: {verdict:?}\n"))
}

fn exit(line: &str) -> Outcome<Exit> {
    match line.split(' ').collect::<Vec<_>>()[..] {
        ["#", "exit", code] => Ok(Exit::Code(code.parse()?)),
        ["#", "signal", signal] => Ok(Exit::Signal(signal.parse()?)),
        _ => Err(format!("`{line}` says not how it ended").into()),
    }
}

fn update_line(update: &Update) -> String {
    let parts = [
        update.session.as_ref().map(|id| format!("session {id}")),
        update.text.as_ref().map(|text| format!("text {text:?}")),
        update.cost_usd.map(|usd| format!("cost {usd}")),
        update
            .permission_denied
            .as_ref()
            .map(|tool| format!("denied {tool}")),
        update
            .limit
            .as_ref()
            .map(|limit| format!("limit {:?}", limit.resets_at)),
        update.ended.as_ref().map(|end| format!("ended {end:?}")),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn summary_line(summary: &Summary) -> String {
    format!(
        "session {}, cost {:?}, denied {:?}",
        summary.session.as_deref().unwrap_or("-"),
        summary.cost_usd,
        summary.denied
    )
}
