//! `rekindle report`: what happened to a workflow, as a page, a drawing or a trace.

use camino::Utf8PathBuf;
use rekindle_app::{Project, Query, ReportWish};
use rekindle_text::shell_word;
use rekindle_wire::{Picture, ReportPage, exit};

use crate::arguments::{ReportArguments, SvgKind};
use crate::failure::Failure;
use crate::terminal::Terminal;

/// Standard output, as a file is named.
const STANDARD_OUTPUT: &str = "-";

pub(super) fn report(
    project: &Project,
    arguments: &ReportArguments,
    terminal: &mut Terminal,
) -> Result<u8, Failure> {
    let query = Query {
        protocol: arguments.protocol,
        name: arguments.id.clone(),
        ..Query::default()
    };
    let is_file = |output: &Utf8PathBuf| output != STANDARD_OUTPUT;
    if terminal.is_json() && !arguments.output.as_ref().is_some_and(is_file) {
        terminal.json(&rekindle_app::picture(project, &query)?);
        return Ok(exit::DONE);
    }
    let made = make(project, &query, arguments)?;
    if terminal.is_json() {
        terminal.json(&made.picture);
    }
    match &arguments.output {
        Some(output) if !is_file(output) => terminal.verbatim(&made.text),
        output => {
            let bytes = made.text.as_bytes();
            let path = if let Some(output) = output {
                let path = project.typed_path(output);
                rekindle_app::write_report(&path, bytes)?;
                path
            } else {
                let name = default_name(&made.picture.id);
                rekindle_app::write_new_report(&project.typed_in, &name, made.ending, bytes)?
            };
            let shown = path.strip_prefix(&project.typed_in).unwrap_or(&path);
            if !terminal.is_json() {
                terminal.result(&format!("{}\n", told(&made, shown.as_str())));
            }
        }
    }
    Ok(exit::DONE)
}

/// What was made, and from what.
struct Made {
    picture: Picture,
    text: String,
    /// What the default name of its file ends with.
    ending: &'static str,
    /// What is in it.
    contents: String,
}

fn make(project: &Project, query: &Query, arguments: &ReportArguments) -> Result<Made, Failure> {
    let picture = |ending, contents: &str, paint: fn(&Picture) -> String| {
        let picture = rekindle_app::picture(project, query)?;
        Ok(Made {
            text: paint(&picture),
            picture,
            ending,
            contents: contents.to_owned(),
        })
    };
    match (arguments.svg, arguments.trace) {
        (Some(SvgKind::Timeline), _) => {
            picture("-timeline.svg", "the timeline", rekindle_picture::timeline)
        }
        (Some(SvgKind::Graph), _) => picture(
            "-graph.svg",
            "the graph of the tasks",
            rekindle_picture::graph,
        ),
        (None, true) => picture("-trace.json", "the trace", rekindle_picture::trace),
        (None, false) => {
            let wish = ReportWish {
                output: arguments.with_output,
            };
            let page = rekindle_app::report_page(project, query, wish)?;
            Ok(Made {
                text: rekindle_picture::page(&page),
                contents: contents(&page, arguments.with_output),
                picture: page.picture,
                ending: ".html",
            })
        }
    }
}

/// Returns the name of the file without its ending: that of the workflow, as far as it is a plain word.
fn default_name(id: &str) -> String {
    let (_, name) = rekindle_app::split_id(id);
    let is_plain = |c: char| c.is_alphanumeric() || "-_.".contains(c);
    let plain: String = name
        .chars()
        .map(|c| if is_plain(c) { c } else { '-' })
        .collect();
    let plain: String = plain
        .trim_start_matches(['.', '-'])
        .chars()
        .take(80)
        .collect();
    if plain.is_empty() {
        "report".to_owned()
    } else {
        plain
    }
}

fn contents(page: &ReportPage, with_output: bool) -> String {
    let count =
        |is: fn(&&rekindle_wire::TaskDetail) -> bool| page.details.iter().filter(is).count();
    let tasks = match page.picture.tasks.len() {
        1 => "1 task".to_owned(),
        n => format!("{n} tasks"),
    };
    let mut parts = vec![format!("the story, {tasks}")];
    match count(|detail| detail.diff.is_some()) {
        0 => {}
        1 => parts.push("1 diff".to_owned()),
        n => parts.push(format!("{n} diffs")),
    }
    if with_output {
        let n = count(|detail| detail.output.is_some());
        parts.push(format!("the output of {n}"));
    } else {
        parts.push("no output of agents (`--with-output` adds it)".to_owned());
    }
    parts.join(", ")
}

fn told(made: &Made, path: &str) -> String {
    let size = made.text.len().div_ceil(1024);
    format!("wrote {} ({size} KiB): {}", shell_word(path), made.contents)
}
