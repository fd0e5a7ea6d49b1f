//! `cargo xtask docs`: the documents that are made from the program itself.
//!
//! `docs/reference/` has the help of every command, the JSON schemas and the index of findings;
//! `docs/decisions/` the decision tables of the protocols;
//! `docs/demo.svg` shows a real run of `rekindle demo`. The same program gives the same bytes, so
//! `--check` can say what is out of date. It leaves the picture aside: that one takes a real run.

mod decisions;
mod picture;

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use crate::{Chore, run};

pub(crate) const CHORE: Chore = Chore {
    name: "docs",
    about: "write docs/reference, docs/decisions and docs/demo.svg; `--check` says what is out of date",
    run: chore,
};

/// The workspace's folder.
const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

/// The columns that help texts are wrapped to.
const COLUMNS: &str = "100";

/// Files by their path in the workspace.
type Files = BTreeMap<String, String>;

fn chore(args: &[String]) -> Result<ExitCode, String> {
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    let check = match words.as_slice() {
        [] => false,
        ["--check"] => true,
        _ => return Err("usage: cargo xtask docs [--check]".to_owned()),
    };
    let program = Program::build()?;
    let mut files = reference(&program)?;
    files.extend(decisions::pages());
    let forgotten = forgotten(&files)?;
    if check {
        return Ok(report(&files, &forgotten));
    }
    for (path, text) in &files {
        renew(path, text)?;
    }
    for path in &forgotten {
        fs::remove_file(at(path)).map_err(|e| format!("cannot remove `{path}`: {e}"))?;
        println!("removed {path}");
    }
    renew("docs/demo.svg", &picture::draw(&program.demo()?))?;
    Ok(ExitCode::SUCCESS)
}

/// Says which files are not what the program would make of them.
fn report(files: &Files, forgotten: &[String]) -> ExitCode {
    let old = files.iter().filter(|(path, text)| !is_current(path, text));
    let mut good = true;
    for path in old.map(|(path, _)| path).chain(forgotten) {
        println!("{path} is out of date");
        good = false;
    }
    if good {
        return ExitCode::SUCCESS;
    }
    println!("\nhint: `cargo xtask docs` writes them anew");
    ExitCode::FAILURE
}

/// Makes everything below `docs/reference/` that is not written by hand.
fn reference(program: &Program) -> Result<Files, String> {
    let mut files = Files::new();
    files.insert("docs/reference/cli.md".to_owned(), command_line(program)?);
    files.insert("docs/reference/findings.md".to_owned(), findings(program)?);
    let mut rows = Vec::new();
    for (name, schema) in rekindle_wire::schemas() {
        let file = schema_file(name);
        let schema = schema.as_value();
        let about = schema["description"].as_str().unwrap_or_default();
        rows.push(format!("| [`{name}`]({file}) | {about} |\n"));
        files.insert(
            format!("docs/reference/json/{file}"),
            format!("{schema:#}\n"),
        );
    }
    files.insert(
        "docs/reference/json/README.md".to_owned(),
        format!(
            "# JSON output\n\n{GENERATED}\n\
             Every object has a `schema` that names its form and version.\n\
             Within a version keys are added, never changed or removed.\n\n\
             | schema | printed by |\n| --- | --- |\n{}",
            rows.concat()
        ),
    );
    Ok(files)
}

const GENERATED: &str =
    "<!-- Made by `cargo xtask docs`; change the program instead of this file. -->\n";

/// Turns `rekindle.status/1` into the name of its file.
fn schema_file(name: &str) -> String {
    let short = name.strip_prefix("rekindle.").unwrap_or(name);
    format!("{}.schema.json", short.replace('/', "-"))
}

fn command_line(program: &Program) -> Result<String, String> {
    let mut text = format!("# Command line\n\n{GENERATED}");
    write_help(program, &[], &mut text)?;
    Ok(text)
}

/// Writes the help of a command and of every command below it.
fn write_help(program: &Program, command: &[&str], text: &mut String) -> Result<(), String> {
    let help = program.says(&[command, &["--help"]].concat())?;
    let name = [&["rekindle"], command].concat().join(" ");
    let tidied = tidy(&help);
    let body = tidied.trim_end();
    for part in ["\n## `", &name, "`\n\n```text\n", body, "\n```\n"] {
        text.push_str(part);
    }
    // MAP's own commands have no help of their own: `rekindle map` lists them.
    if command == ["map"] {
        return Ok(());
    }
    for sub in commands_in(&help) {
        write_help(program, &[command, &[sub]].concat(), text)?;
    }
    Ok(())
}

/// Returns the commands that a help text lists, but for `help` itself.
fn commands_in(help: &str) -> Vec<&str> {
    let lines = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    lines
        .take_while(|line| !line.is_empty())
        .filter_map(|line| line.strip_prefix("  ")?.split(' ').next())
        .filter(|name| !name.is_empty() && *name != "help")
        .collect()
}

/// Cuts the blanks off the ends of lines.
fn tidy(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    lines.join("\n")
}

/// Lists every page of `docs/findings/` with its severity and its first sentence.
fn findings(program: &Program) -> Result<String, String> {
    let mut rows = Vec::new();
    for name in names_in("docs/findings")? {
        let Some(code) = name.strip_suffix(".md") else {
            continue;
        };
        let page = program.says(&["explain", code])?;
        let said = program.says(&["explain", code, "--json"])?;
        let severity = field(&said, "severity")
            .ok_or_else(|| format!("`rekindle explain {code} --json` names no severity"))?;
        let about = first_sentence(&page)
            .ok_or_else(|| format!("docs/findings/{name} does not say what it means"))?;
        rows.push(format!(
            "| [`{code}`](../findings/{name}) | {severity} | {about} |\n"
        ));
    }
    Ok(format!(
        "# Findings and errors\n\n{GENERATED}\n\
         A code never changes its meaning.\n\
         `rekindle explain CODE` prints its page.\n\
         A blocker keeps a workflow from being resumed, a warning does not, a note is shown with `-v`.\n\n\
         | code | severity | what it means |\n| --- | --- | --- |\n{}",
        rows.concat()
    ))
}

/// Returns a field of a JSON object whose value is a plain word.
fn field<'a>(json: &'a str, name: &str) -> Option<&'a str> {
    let key = format!("\"{name}\":\"");
    let (_, rest) = json.split_once(&key)?;
    rest.split('"').next()
}

/// Returns the first sentence under `What it means`.
fn first_sentence(page: &str) -> Option<String> {
    let (_, meaning) = page.split_once("## What it means\n\n")?;
    let paragraph = meaning.split("\n\n").next()?.replace('\n', " ");
    let end = paragraph
        .find(". ")
        .map_or(paragraph.trim_end().len(), |at| at + 1);
    Some(paragraph[..end].to_owned())
}

/// Returns the schemas and pages on disk that the program no longer has.
fn forgotten(files: &Files) -> Result<Vec<String>, String> {
    let mut forgotten = Vec::new();
    for folder in ["docs/reference/json", decisions::FOLDER] {
        if !at(folder).is_dir() {
            continue;
        }
        let names = names_in(folder)?.into_iter();
        let paths = names.map(|name| format!("{folder}/{name}"));
        forgotten.extend(paths.filter(|path| !files.contains_key(path)));
    }
    Ok(forgotten)
}

/// Returns the names in a folder of the workspace, sorted.
fn names_in(folder: &str) -> Result<Vec<String>, String> {
    let problem = |e: io::Error| format!("cannot list `{folder}`: {e}");
    let mut names = Vec::new();
    for entry in fs::read_dir(at(folder)).map_err(problem)? {
        let name = entry.map_err(problem)?.file_name();
        names.push(name.to_string_lossy().into_owned());
    }
    names.sort();
    Ok(names)
}

fn at(path: &str) -> PathBuf {
    Path::new(ROOT).join(path)
}

fn is_current(path: &str, text: &str) -> bool {
    fs::read_to_string(at(path)).is_ok_and(|old| old == text)
}

/// Writes a file that is not what it should be.
fn renew(path: &str, text: &str) -> Result<(), String> {
    if is_current(path, text) {
        return Ok(());
    }
    let file = at(path);
    let folder = file.parent().map_or(Ok(()), fs::create_dir_all);
    folder
        .and_then(|()| fs::write(file, text))
        .map_err(|e| format!("cannot write `{path}`: {e}"))?;
    println!("wrote {path}");
    Ok(())
}

/// The binary, built from the sources as they are.
struct Program {
    path: PathBuf,
}

impl Program {
    fn build() -> Result<Self, String> {
        let mut path = None;
        let mut command = run::cargo(&["build", "--package", "rekindle"]);
        command.arg("--message-format=json-render-diagnostics");
        let built = run::line_by_line(&mut command, |line| {
            if line.contains("\"reason\":\"compiler-artifact\"")
                && let Some(executable) = field(line, "executable")
            {
                path = Some(PathBuf::from(executable));
            }
        })?;
        match path {
            Some(path) if built => Ok(Self { path }),
            _ => Err("rekindle could not be built".to_owned()),
        }
    }

    /// Returns a command of the program that shows the same on every machine.
    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(&self.path);
        command
            .args(args)
            .env("COLUMNS", COLUMNS)
            .env_remove("REKINDLE_NOW")
            .stdin(Stdio::null());
        command
    }

    /// Returns what the program prints.
    fn says(&self, args: &[&str]) -> Result<String, String> {
        let done = self.command(args).output();
        let done = done.map_err(|e| format!("cannot run rekindle: {e}"))?;
        if !done.status.success() {
            return Err(format!("`rekindle {}` failed", args.join(" ")));
        }
        Ok(String::from_utf8_lossy(&done.stdout).into_owned())
    }

    /// Runs the demo and returns all it showed, both streams in the order in which they came.
    fn demo(&self) -> Result<String, String> {
        let problem = |e: io::Error| format!("cannot run the demo: {e}");
        let scratch = std::env::temp_dir().join(format!("rekindle-docs-{}", std::process::id()));
        fs::create_dir_all(&scratch).map_err(problem)?;
        let mut command = self.command(&["demo", "--color", "always"]);
        command
            .env("TMPDIR", &scratch)
            // The demo starts rekindle itself; this reaches those too.
            .env("CLICOLOR_FORCE", "1")
            .env_remove("NO_COLOR");
        let ran = merged(command).map_err(problem);
        // The demo leaves its folder to be looked at, and here nobody will.
        fs::remove_dir_all(&scratch).map_err(problem)?;
        let (good, shown) = ran?;
        if good {
            Ok(shown)
        } else {
            Err(format!("the demo failed:\n{shown}"))
        }
    }
}

/// Runs a command with both its streams in one pipe; returns whether it succeeded and what it said.
fn merged(mut command: Command) -> io::Result<(bool, String)> {
    let (mut reader, writer) = io::pipe()?;
    command.stdout(writer.try_clone()?).stderr(writer);
    let mut child = command.spawn()?;
    // The command holds the pipe's other end; reading would never end while it lives.
    drop(command);
    let mut shown = Vec::new();
    reader.read_to_end(&mut shown)?;
    let good = child.wait()?.success();
    Ok((good, String::from_utf8_lossy(&shown).into_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_read_from_the_help() {
        let help = "About\n\nCommands:\n  status  Shows it\n  man     Prints\n  help    Print this\n\nOptions:\n  -h  Help\n";
        assert_eq!(commands_in(help), ["status", "man"]);
        assert!(commands_in("Usage: x\n").is_empty());
    }

    #[test]
    fn a_page_is_listed_with_its_first_sentence() {
        let page = "# X\n\n## What it means\n\nA line (1.5 MB) is bad. It was skipped.\n\n## What to do\n\nY.\n";
        let expect = "A line (1.5 MB) is bad.";
        assert_eq!(first_sentence(page).as_deref(), Some(expect));
        let one = "## What it means\n\nOver two\nlines.\n";
        assert_eq!(first_sentence(one).as_deref(), Some("Over two lines."));
        assert_eq!(first_sentence("# X\n"), None);
    }

    #[test]
    fn a_schema_has_a_file_of_its_name_and_version() {
        assert_eq!(schema_file("rekindle.status/1"), "status-1.schema.json");
    }

    #[test]
    fn a_field_is_found_in_an_object() {
        assert_eq!(field(r#"{"a":"x","b":"y z"}"#, "b"), Some("y z"));
        assert_eq!(field(r#"{"executable":null}"#, "executable"), None);
    }
}
