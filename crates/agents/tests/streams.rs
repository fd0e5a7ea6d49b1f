//! Outputs of the real programs, line by line: what each line tells, and what is made of the end.
//!
//! Every file of `tests/streams` is one run: how the process ended on the first line, then what it
//! printed, both outputs together. Most is what Claude Code 2.1.325, Codex CLI 0.166.0, opencode
//! 1.18.33 and Gemini CLI 0.61.0 printed against a scripted model, less what nobody reads; what
//! can not be had there (limits of a subscription, policies, commands that a person declines)
//! follows the types and texts that the programs ship.

use camino::Utf8Path;
use proptest::prelude::*;
use rekindle_agents::{Exit, News, Stream, StreamReader, Summary, judge};

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

#[test]
fn every_recorded_output_is_read_and_judged() -> Outcome<()> {
    let mut all = String::new();
    for (name, text) in recorded()? {
        all.push_str(&format!("## {name}\n{}\n", told(&name, &text)?));
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
    fn no_line_can_break_a_reader(
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
fn a_line_that_is_cut_anywhere_tells_nothing() -> Outcome<()> {
    for (name, text) in recorded()? {
        let stream = stream_of(&name)?;
        if stream == Stream::Plain {
            continue;
        }
        for line in text.lines().skip(1) {
            for (cut, _) in line.char_indices() {
                let news = StreamReader::new(stream).push_line(&line[..cut]);
                assert_eq!(news, None, "{name}: {}", &line[..cut]);
            }
        }
    }
    Ok(())
}

fn told(name: &str, text: &str) -> Outcome<String> {
    let mut reader = StreamReader::new(stream_of(name)?);
    let (end, lines) = text.split_once('\n').unwrap_or((text, ""));
    let mut told = String::new();
    for (number, line) in (1..).zip(lines.lines()) {
        if let Some(news) = reader.push_line(line) {
            told.push_str(&format!("{number}: {}\n", news_line(&news)));
        }
    }
    let summary = reader.into_summary();
    let verdict = judge(&summary, exit(end)?);
    let summary = summary_line(&summary);
    Ok(format!("{told}= {summary}\n> {end}: {verdict:?}\n"))
}

fn exit(line: &str) -> Outcome<Exit> {
    match line.split(' ').collect::<Vec<_>>()[..] {
        ["#", "exit", code] => Ok(Exit::Code(code.parse()?)),
        ["#", "signal", signal] => Ok(Exit::Signal(signal.parse()?)),
        _ => Err(format!("`{line}` says not how it ended").into()),
    }
}

fn news_line(news: &News) -> String {
    let parts = [
        news.session.as_ref().map(|id| format!("session {id}")),
        news.text.as_ref().map(|text| format!("text {text:?}")),
        news.cost_usd.map(|usd| format!("cost {usd}")),
        news.permission_denied
            .as_ref()
            .map(|tool| format!("denied {tool}")),
        news.limit
            .as_ref()
            .map(|limit| format!("limit {:?}", limit.resets_at)),
        news.ended.as_ref().map(|end| format!("ended {end:?}")),
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
