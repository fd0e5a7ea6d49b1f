//! `cargo xtask docs`: writes the documents that are generated from the program.
//!
//! `docs/reference/` has the help of every command, the JSON schemas and the index of findings,
//! `docs/decisions/` the decision tables of the protocols, `docs/demo.svg` what a real run of
//! `rekindle demo` printed, and `docs/run.svg` what happened in it. The same program makes the same bytes,
//! so `--check` can list outdated files; it skips the pictures, which need a real run.

mod decisions;
mod picture;

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use xtask::{files, run};

/// The width of help texts.
const COLUMNS: &str = "100";

const GENERATED: &str =
    "<!-- Made by `cargo xtask docs`; change the program instead of this file. -->\n";

/// Files by their path in the workspace.
type Files = BTreeMap<String, String>;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    run::exit_code(match words.as_slice() {
        [] => write(),
        ["--check"] => check(),
        _ => Err("usage: cargo xtask docs [--check]".to_owned()),
    })
}

fn write() -> Result<bool, String> {
    let program = Program::build()?;
    let made = generated(&program)?;
    for (path, text) in &made {
        write_if_changed(path, text)?;
    }
    for path in leftovers(&made)? {
        fs::remove_file(at(&path)).map_err(|e| format!("cannot remove `{path}`: {e}"))?;
        println!("removed {path}");
    }
    let demo = program.demo()?;
    write_if_changed("docs/demo.svg", &picture::draw(&demo.shown))?;
    write_if_changed("docs/run.svg", &demo.timeline)?;
    Ok(true)
}

/// Lists outdated files; returns whether there are none.
fn check() -> Result<bool, String> {
    let made = generated(&Program::build()?)?;
    let outdated = made.iter().filter(|(path, text)| !is_current(path, text));
    let outdated: Vec<String> = outdated
        .map(|(path, _)| path.clone())
        .chain(leftovers(&made)?)
        .collect();
    for path in &outdated {
        println!("{path} is outdated");
    }
    if !outdated.is_empty() {
        println!("\nhint: run `cargo xtask docs`");
    }
    Ok(outdated.is_empty())
}

/// Returns every generated file except the picture.
fn generated(program: &Program) -> Result<Files, String> {
    let mut made = decisions::pages();
    let mut add = |path: &str, text: String| made.insert(format!("docs/reference/{path}"), text);
    let mut help = format!("# Command line\n\n{GENERATED}");
    write_help(program, &[], &mut help)?;
    add("cli.md", help);
    add("findings.md", findings(program)?);
    let mut rows = String::new();
    for (name, schema) in rekindle_wire::schemas() {
        let file = schema_file(name);
        let schema = schema.as_value();
        let about = schema["description"].as_str().unwrap_or_default();
        rows.push_str(&format!("| [`{name}`]({file}) | {about} |\n"));
        add(&format!("json/{file}"), format!("{schema:#}\n"));
    }
    let readme = format!(
        "# JSON output\n\n{GENERATED}\n\
         Every object has a `schema` that names its form and version.\n\
         Within a version keys are added, never changed or removed.\n\n\
         | schema | printed by |\n| --- | --- |\n{rows}"
    );
    add("json/README.md", readme);
    Ok(made)
}

/// Turns `rekindle.status/1` into the name of its file.
fn schema_file(name: &str) -> String {
    let short = name.strip_prefix("rekindle.").unwrap_or(name);
    format!("{}.schema.json", short.replace('/', "-"))
}

/// Writes the help of a command and of every command below it.
fn write_help(program: &Program, command: &[&str], text: &mut String) -> Result<(), String> {
    let help = program.output(&[command, &["--help"]].concat())?;
    let name = [&["rekindle"], command].concat().join(" ");
    let lines: Vec<&str> = help.lines().map(str::trim_end).collect();
    let body = lines.join("\n");
    let body = body.trim_end();
    text.push_str(&format!("\n## `{name}`\n\n```text\n{body}\n```\n"));
    // MAP's own commands have no help of their own: `rekindle map` lists them.
    if command == ["map"] {
        return Ok(());
    }
    for sub in commands_in(&help) {
        write_help(program, &[command, &[sub]].concat(), text)?;
    }
    Ok(())
}

/// Returns the commands that a help text lists, except `help` itself.
fn commands_in(help: &str) -> Vec<&str> {
    let lines = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    lines
        .take_while(|line| !line.is_empty())
        .filter_map(|line| line.strip_prefix("  ")?.split(' ').next())
        .filter(|name| !name.is_empty() && *name != "help")
        .collect()
}

/// Lists every page of `docs/findings/` with its severity and its first sentence.
fn findings(program: &Program) -> Result<String, String> {
    let mut rows = String::new();
    for name in names_in("docs/findings")? {
        let Some(code) = name.strip_suffix(".md") else {
            continue;
        };
        let page = program.output(&["explain", code])?;
        let json = program.output(&["explain", code, "--json"])?;
        let severity = field(&json, "severity")
            .ok_or_else(|| format!("`rekindle explain {code} --json` has no severity"))?;
        let about = first_sentence(&page)
            .ok_or_else(|| format!("docs/findings/{name} does not say what it means"))?;
        rows.push_str(&format!(
            "| [`{code}`](../findings/{name}) | {severity} | {about} |\n"
        ));
    }
    Ok(format!(
        "# Findings and errors\n\n{GENERATED}\n\
         A code never changes its meaning.\n\
         `rekindle explain CODE` prints its page.\n\
         A blocker keeps a workflow from being resumed, a warning does not, a note is shown with `-v`.\n\n\
         | code | severity | what it means |\n| --- | --- | --- |\n{rows}"
    ))
}

/// Returns a field of a JSON object whose value is a plain word.
fn field<'a>(json: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = json.split_once(&format!("\"{name}\":\""))?;
    rest.split('"').next()
}

/// Returns the first sentence under `What it means`.
fn first_sentence(page: &str) -> Option<String> {
    let (_, meaning) = page.split_once("## What it means\n\n")?;
    let paragraph = meaning.split("\n\n").next()?.replace('\n', " ");
    let end = paragraph.find(". ").map(|at| at + 1);
    let end = end.unwrap_or(paragraph.trim_end().len());
    Some(paragraph[..end].to_owned())
}

/// Returns the schemas and pages on disk that the program no longer has.
fn leftovers(made: &Files) -> Result<Vec<String>, String> {
    let mut leftovers = Vec::new();
    for folder in ["docs/reference/json", decisions::FOLDER] {
        if at(folder).is_dir() {
            let names = names_in(folder)?.into_iter();
            let paths = names.map(|name| format!("{folder}/{name}"));
            leftovers.extend(paths.filter(|path| !made.contains_key(path)));
        }
    }
    Ok(leftovers)
}

/// Returns the names in a folder of the workspace, sorted.
fn names_in(folder: &str) -> Result<Vec<String>, String> {
    let paths = files::list(at(folder))?;
    let names = paths.iter().filter_map(|path| path.file_name());
    Ok(names
        .map(|name| name.to_string_lossy().into_owned())
        .collect())
}

fn at(path: &str) -> PathBuf {
    run::root().join(path)
}

fn is_current(path: &str, text: &str) -> bool {
    files::read(at(path)).is_ok_and(|old| old == text)
}

fn write_if_changed(path: &str, text: &str) -> Result<(), String> {
    if !is_current(path, text) {
        files::write(at(path), text)?;
        println!("wrote {path}");
    }
    Ok(())
}

/// The binary, built from the current source.
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
        let path = path.filter(|_| built).ok_or("cannot build rekindle")?;
        Ok(Self { path })
    }

    /// Returns a command of the program whose output is the same on every machine.
    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(&self.path);
        command
            .args(args)
            .env("COLUMNS", COLUMNS)
            .env_remove("REKINDLE_NOW")
            .stdin(Stdio::null());
        command
    }

    fn output(&self, args: &[&str]) -> Result<String, String> {
        let done = self.command(args).output();
        let done = done.map_err(|e| format!("cannot run rekindle: {e}"))?;
        if !done.status.success() {
            return Err(format!("`rekindle {}` failed", args.join(" ")));
        }
        Ok(String::from_utf8_lossy(&done.stdout).into_owned())
    }

    /// Runs the demo.
    fn demo(&self) -> Result<Demo, String> {
        let problem = |e: io::Error| format!("cannot run the demo: {e}");
        let scratch = std::env::temp_dir().join(format!("rekindle-docs-{}", std::process::id()));
        fs::create_dir_all(&scratch).map_err(problem)?;
        let mut command = self.command(&["demo", "--color", "always"]);
        command
            .env("TMPDIR", &scratch)
            // For the rekindle processes that the demo starts.
            .env("CLICOLOR_FORCE", "1")
            .env_remove("NO_COLOR");
        let ran = merged(command).map_err(problem);
        let timeline = self.timeline(&scratch);
        // The demo leaves its folder for inspection, which is not needed after that.
        fs::remove_dir_all(&scratch).map_err(problem)?;
        let (succeeded, shown) = ran?;
        if !succeeded {
            return Err(format!("the demo failed:\n{shown}"));
        }
        let timeline = timeline?;
        Ok(Demo { shown, timeline })
    }

    /// Returns the timeline of the demo whose folder is in this one.
    fn timeline(&self, scratch: &Path) -> Result<String, String> {
        let folders = files::list(scratch)?;
        let folder = folders.first().and_then(|folder| folder.to_str());
        let folder = folder.ok_or("the demo left no folder")?;
        self.output(&["-C", folder, "report", "--svg", "timeline", "--output", "-"])
    }
}

/// A run of the demo.
struct Demo {
    /// Its output, both streams in their order.
    shown: String,
    /// What happened, as SVG.
    timeline: String,
}

/// Runs a command with both streams in one pipe; returns whether it succeeded, and its output.
fn merged(mut command: Command) -> io::Result<(bool, String)> {
    let (mut reader, writer) = io::pipe()?;
    command.stdout(writer.try_clone()?).stderr(writer);
    let mut child = command.spawn()?;
    // The command holds the pipe's other end; reading would never end while it lives.
    drop(command);
    let mut shown = Vec::new();
    reader.read_to_end(&mut shown)?;
    let succeeded = child.wait()?.success();
    Ok((succeeded, String::from_utf8_lossy(&shown).into_owned()))
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
