//! Draws colored terminal output as an SVG.
//!
//! It knows the styles that rekindle prints: bold, dim and the eight named colors. The picture needs no
//! external font or script. What changes from run to run (the scratch folder and the times) is masked,
//! and `⋮` marks the lines that [`SHOWN`] omits. The demo's explanations are blue, and commands are bold.

/// The width of the terminal, in characters.
const COLUMNS: usize = 108;
/// The width of a character and the height of a line, for a font of 14 pixels.
const CHARACTER: f64 = 8.43;
const LINE: usize = 19;
const MARGIN: usize = 20;
/// The height of the window's title bar.
const BAR: usize = 36;

/// Which lines of each part of the demo are shown; a part starts with a rule.
const SHOWN: &[Part] = &[
    Part::Nothing,
    Part::Ends { first: 7, last: 3 },
    Part::Whole,
    Part::Ends { first: 21, last: 2 },
    Part::Whole,
];

#[derive(Clone, Copy)]
enum Part {
    Nothing,
    Whole,
    /// Only the first and the last lines.
    Ends {
        first: usize,
        last: usize,
    },
}

/// Draws the output of the demo.
pub(super) fn draw(shown: &str) -> String {
    let masked = mask(shown);
    let mut lines = Vec::new();
    for (number, part) in parts(&masked).into_iter().enumerate() {
        let wanted = SHOWN.get(number).copied().unwrap_or(Part::Whole);
        lines.extend(select(&part, wanted));
    }
    let is_filled = |line: &String| !line.trim().is_empty();
    let first = lines.iter().position(is_filled).unwrap_or(0);
    let end = lines.iter().rposition(is_filled).map_or(0, |last| last + 1);
    let lines = lines.get(first..end).unwrap_or_default().iter();
    let rows: Vec<Vec<Span>> = lines.flat_map(|line| wrap(&spans(line))).collect();
    page(&rows)
}

/// Splits the demo's output at its rules and removes them; the line below a rule is an explanation.
fn parts(text: &str) -> Vec<Vec<String>> {
    let mut parts = vec![Vec::new()];
    for line in text.lines() {
        if line.starts_with("──────") {
            parts.push(Vec::new());
        } else if let Some(part) = parts.last_mut() {
            part.push(line.to_owned());
        }
    }
    for line in parts.iter_mut().skip(1).filter_map(|part| part.first_mut()) {
        *line = format!("\u{1b}[34m{line}\u{1b}[0m");
    }
    parts
}

fn select(part: &[String], wanted: Part) -> Vec<String> {
    let (first, last) = match wanted {
        Part::Nothing => return Vec::new(),
        Part::Whole => return part.to_vec(),
        Part::Ends { first, last } => (first, last),
    };
    let end = part.iter().rposition(|line| !line.is_empty());
    let (filled, blank) = part.split_at(end.map_or(0, |end| end + 1));
    if filled.len() <= first + last + 1 {
        return part.to_vec();
    }
    let mark = "\u{1b}[2m⋮\u{1b}[0m".to_owned();
    let (beginning, ending) = (&filled[..first], &filled[filled.len() - last..]);
    [beginning, &[mark], ending, blank].concat()
}

/// Replaces the scratch folder and all times with fixed texts.
fn mask(text: &str) -> String {
    let folder = text.split('`').nth(1).unwrap_or_default();
    let text = if folder.contains("rekindle-demo-") {
        text.replace(folder, "/tmp/rekindle-demo")
    } else {
        text.to_owned()
    };
    // The longer form comes first: the shorter one is a prefix of it.
    let forms = [
        ("dddd-dd-ddTdd:dd:ddZ", "2026-01-19T09:00:00Z"),
        ("dddddddd-dddddd", "20260119-090000"),
        ("dddddddd-dddd", "20260119-0900"),
    ];
    let mut masked = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while let Some(first) = rest.chars().next() {
        let found = forms.iter().find(|(form, _)| matches(rest, form));
        if let Some((form, fixed)) = found {
            masked.push_str(fixed);
            rest = &rest[form.len()..];
        } else {
            masked.push(first);
            rest = &rest[first.len_utf8()..];
        }
    }
    masked
}

/// Returns whether a text starts with a form, in which `d` is any digit.
fn matches(text: &str, form: &str) -> bool {
    let mut bytes = text.bytes();
    form.bytes().all(|wanted| {
        bytes.next().is_some_and(|found| match wanted {
            b'd' => found.is_ascii_digit(),
            other => found == other,
        })
    })
}

/// A piece of a line in one style.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Span {
    text: String,
    style: Style,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Style {
    bold: bool,
    dim: bool,
    color: Option<u8>,
}

/// Reads a line's escapes and drops those that are not styles.
fn spans(line: &str) -> Vec<Span> {
    let mut style = Style {
        // A command.
        bold: line.starts_with("$ "),
        ..Style::default()
    };
    let mut spans: Vec<Span> = Vec::new();
    let mut pieces = line.split("\u{1b}[");
    let mut add = |text: &str, style: Style| {
        if !text.is_empty() {
            let text = text.to_owned();
            spans.push(Span { text, style });
        }
    };
    add(pieces.next().unwrap_or_default(), style);
    for piece in pieces {
        let (codes, text) = piece.split_once('m').unwrap_or((piece, ""));
        for code in codes.split(';') {
            match code.parse().unwrap_or(0) {
                0 => style = Style::default(),
                1 => style.bold = true,
                2 => style.dim = true,
                color @ 30..=37 => style.color = Some(color - 30),
                39 => style.color = None,
                _ => {}
            }
        }
        add(text, style);
    }
    spans
}

/// Wraps a line as a terminal does.
fn wrap(line: &[Span]) -> Vec<Vec<Span>> {
    let mut rows = vec![Vec::new()];
    let mut used = 0;
    for span in line {
        let mut text = String::new();
        for c in span.text.chars() {
            if used == COLUMNS {
                push(&mut rows, &mut text, span.style);
                rows.push(Vec::new());
                used = 0;
            }
            text.push(c);
            used += 1;
        }
        push(&mut rows, &mut text, span.style);
    }
    rows
}

fn push(rows: &mut [Vec<Span>], text: &mut String, style: Style) {
    let text = std::mem::take(text);
    if let Some(row) = rows.last_mut()
        && !text.is_empty()
    {
        row.push(Span { text, style });
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "some hundred columns of eight pixels"
)]
fn page(rows: &[Vec<Span>]) -> String {
    let width = (COLUMNS as f64 * CHARACTER) as usize + 2 * MARGIN;
    let height = BAR + rows.len() * LINE + MARGIN;
    let mut svg = vec![format!(
        r##"<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" role="img" aria-labelledby="title">
<title id="title">A run is killed in the middle of a task; rekindle shows its state and resumes it</title>
<style>
text {{ font: 14px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", "Liberation Mono", monospace; fill: #c9d1d9; white-space: pre; }}
.bold {{ font-weight: bold; fill: #f0f6fc; }}
.dim {{ fill: #8b949e; }}
.red {{ fill: #ff7b72; }}
.green {{ fill: #7ee787; }}
.yellow {{ fill: #f2cc60; }}
.blue {{ fill: #79c0ff; }}
.magenta {{ fill: #d2a8ff; }}
.cyan {{ fill: #76e3ea; }}
</style>
<rect width="{width}" height="{height}" rx="8" fill="#0d1117"/>
<circle cx="22" cy="19" r="6" fill="#ff5f57"/><circle cx="42" cy="19" r="6" fill="#febc2e"/><circle cx="62" cy="19" r="6" fill="#28c840"/>
"##
    )];
    for (number, row) in rows.iter().enumerate().filter(|(_, row)| !row.is_empty()) {
        let y = BAR + number * LINE + 14;
        let text: String = row.iter().map(tspan).collect();
        svg.push(format!(
            "<text x=\"{MARGIN}\" y=\"{y}\" xml:space=\"preserve\">{text}</text>\n"
        ));
    }
    svg.push("</svg>\n".to_owned());
    svg.concat()
}

fn tspan(span: &Span) -> String {
    let text = span
        .text
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;");
    let classes = classes(span.style);
    if classes.is_empty() {
        return text;
    }
    format!(r#"<tspan class="{}">{text}</tspan>"#, classes.join(" "))
}

fn classes(style: Style) -> Vec<&'static str> {
    let color = style.color.map(|color| match color {
        1 => "red",
        2 => "green",
        3 => "yellow",
        4 => "blue",
        5 => "magenta",
        6 => "cyan",
        // rekindle uses neither black nor white, which are invisible on some backgrounds.
        _ => "dim",
    });
    let bold = style.bold.then_some("bold");
    let dim = style.dim.then_some("dim");
    [bold, dim, color].into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_and_times_are_masked() {
        let text = "in `/tmp/x/rekindle-demo-77`.\n20261115-2232-page 20261115-223203.jsonl 2026-11-15T22:32:03Z\nsee `/tmp/x/rekindle-demo-77/a`";
        let expect = "in `/tmp/rekindle-demo`.\n20260119-0900-page 20260119-090000.jsonl 2026-01-19T09:00:00Z\nsee `/tmp/rekindle-demo/a`";
        assert_eq!(mask(text), expect);
    }

    #[test]
    fn escapes_become_styles() {
        let found = spans("a \u{1b}[1m\u{1b}[31merror\u{1b}[0m: b\u{1b}[2K");
        let texts: Vec<(&str, Vec<&str>)> = found
            .iter()
            .map(|span| (span.text.as_str(), classes(span.style)))
            .collect();
        let expect = [
            ("a ", vec![]),
            ("error", vec!["bold", "red"]),
            (": b", vec![]),
        ];
        assert_eq!(texts, expect);
    }

    #[test]
    fn long_lines_wrap_as_in_a_terminal() {
        let rows = wrap(&spans(&"x".repeat(COLUMNS + 1)));
        let lengths: Vec<usize> = rows.iter().map(|row| row[0].text.len()).collect();
        assert_eq!(lengths, [COLUMNS, 1]);
        assert_eq!(wrap(&spans("")).len(), 1);
    }

    #[test]
    fn omitted_lines_are_marked() {
        let lines = ["1", "2", "3", "4", "5", ""].map(str::to_owned);
        let left = select(&lines, Part::Ends { first: 1, last: 1 });
        assert_eq!(left, ["1", "\u{1b}[2m⋮\u{1b}[0m", "5", ""]);
        assert_eq!(select(&lines, Part::Ends { first: 2, last: 2 }), lines);
        assert!(select(&lines, Part::Nothing).is_empty());
    }

    #[test]
    fn markup_in_the_text_is_escaped() {
        let style = Style::default();
        let text = "<script> & x".to_owned();
        assert_eq!(tspan(&Span { text, style }), "&lt;script&gt; &amp; x");
    }
}
