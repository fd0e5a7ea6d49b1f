//! One page that needs nothing else: no request of any kind, and readable without scripts.
//!
//! Its policy allows one script and one style, by their digests. The object is inside as data with every
//! `<` escaped, so that nothing in it can end its element; the script writes text only as text.

use rekindle_text::spoken_seconds;
use rekindle_wire::{NeedOut, Picture, PictureCounts, ReportPage};

use crate::label::grouped;
use crate::scene::Scene;
use crate::svg::{Place, STYLE, escaped, number};
use crate::timeline::Room;
use crate::{graph, icon, legend, table, timeline};

const PAGE_STYLE: &str = include_str!("../assets/page.css");
const SCRIPT: &str = include_str!("../assets/page.js");
/// The most findings that are listed.
const MOST_FINDINGS: usize = 200;

/// Returns the page of a report.
pub fn page(report: &ReportPage) -> String {
    let picture = &report.picture;
    let scene = Scene::new(picture);
    let style = format!("{STYLE}{PAGE_STYLE}");
    let policy = format!(
        "default-src 'none'; script-src 'sha256-{}'; style-src 'sha256-{}'; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
        digest(SCRIPT),
        digest(&style),
    );
    let data = data(report);
    let mut html = String::with_capacity(data.len() + 100_000);
    html.push_str(&format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta name=\"color-scheme\" content=\"light dark\">\n<meta name=\"referrer\" content=\"no-referrer\">\n<title>{} – rekindle</title>\n<style>{style}</style>\n</head>\n<body>\n",
        escaped(&picture.title)
    ));
    html.push_str(&header(picture));
    html.push_str("<main id=\"main\">\n");
    html.push_str(&head(picture));
    html.push_str(&numbers(picture));
    picture
        .needs_person
        .iter()
        .for_each(|need| html.push_str(&needs(need)));
    if scene.has_times() {
        html.push_str(&timeline_section(&scene));
    }
    if graph::is_of_use(picture) {
        html.push_str(&format!(
            "<section class=\"card\" aria-labelledby=\"h-graph\"><h2 id=\"h-graph\">What needs what</h2><div class=\"scroll\" role=\"group\" tabindex=\"0\" aria-label=\"Graph of the tasks, scrolls sideways\">{}</div></section>\n",
            graph::draw(picture, Place::Page("g-"))
        ));
    }
    html.push_str(&format!(
        "<section class=\"card\" aria-labelledby=\"h-tasks\"><h2 id=\"h-tasks\">Tasks</h2><div id=\"tasks\"></div><noscript>{}</noscript></section>\n",
        table::table(picture, &report.details)
    ));
    html.push_str(&findings(picture));
    html.push_str(&format!(
        "<footer>Made by <code>rekindle report</code> at {}. Times are local to the project{}. This page requests nothing.</footer>\n</main>\n",
        escaped(&picture.now),
        zone(picture.utc_offset),
    ));
    html.push_str(&format!(
        "<script type=\"application/json\" id=\"data\">{data}</script>\n<script>{SCRIPT}</script>\n</body>\n</html>\n"
    ));
    html
}

/// Returns the object as JSON that ends no element and has no control characters, which could turn the
/// direction of a text.
fn data(report: &ReportPage) -> String {
    let json = serde_json::to_string(report).unwrap_or_default();
    let mut data = String::with_capacity(json.len() + json.len() / 16);
    let mut one = [0; 4];
    for c in json.chars() {
        let shown = rekindle_text::printable(c.encode_utf8(&mut one));
        match c {
            '<' => data.push_str("\\u003c"),
            c if c.is_ascii() || *shown == *c.encode_utf8(&mut [0; 4]) => data.push(c),
            _ => data.push_str(&shown.replace('\\', "\\\\")),
        }
    }
    data
}

fn header(picture: &Picture) -> String {
    format!(
        "<a class=\"skip\" href=\"#main\">Skip to the content</a>\n<header class=\"top\"><span class=\"mark\">{} rekindle</span><span class=\"crumb\"><code>{}</code></span></header>\n",
        icon::inline(icon::FLAME),
        escaped(&picture.id)
    )
}

fn head(picture: &Picture) -> String {
    let sign = match picture.state.as_str() {
        "complete" => icon::of_state("done"),
        "running" => icon::of_state("running"),
        "waiting" | "blocked" => icon::of_state("needs_person"),
        "interrupted" | "corrupt" => icon::of_state("interrupted"),
        _ => icon::of_state("open"),
    };
    let branch = picture.branch.as_ref().map(|branch| {
        format!(
            "<p class=\"meta\">branch <code>{}</code></p>",
            escaped(branch)
        )
    });
    let mut story = picture.story.iter().map(|sentence| escaped(sentence));
    let first = story.next().unwrap_or_default();
    let rest = story.fold(String::new(), |rest, sentence| rest + " " + &sentence);
    format!(
        "<h1>{}<span class=\"pill {}\">{} {}</span></h1>\n{}<p class=\"story\"><b>{first}</b>{rest}</p>\n",
        escaped(&picture.title),
        icon::color(&picture.state),
        icon::inline(sign),
        escaped(&picture.word),
        branch.unwrap_or_default(),
    )
}

fn numbers(picture: &Picture) -> String {
    let counts = &picture.counts;
    let mut cells = vec![format!(
        "<div class=\"tasks\"><dt>Tasks</dt><dd>{}<small>{}</small></dd></div>",
        strip(picture),
        escaped(&parts_of_tasks(picture))
    )];
    let mut cell = |name: &str, number: String, small: String| {
        cells.push(format!(
            "<div><dt>{name}</dt><dd>{}<small>{}</small></dd></div>",
            escaped(&number),
            escaped(&small)
        ));
    };
    if !picture.lives.is_empty() {
        let name = if picture.state == "running" {
            "Since the start"
        } else {
            "From start to end"
        };
        let alone = match counts.seconds_alone {
            0 => String::new(),
            seconds => format!("{} of it nobody was here", spoken_seconds(seconds)),
        };
        cell(name, spoken_seconds(counts.seconds), alone);
        let times = if counts.interruptions == 1 {
            "time"
        } else {
            "times"
        };
        let limits = match counts.limits {
            0 => String::new(),
            1 => "1 usage limit".to_owned(),
            n => format!("{n} usage limits"),
        };
        cell(
            "Interrupted",
            format!("{} {times}", counts.interruptions),
            limits,
        );
    }
    if counts.attempts > 0 {
        cell(
            "Attempts",
            grouped(counts.attempts),
            parts_of_attempts(counts),
        );
    }
    if let Some(cost) = counts.cost_microdollars {
        let unknown = match counts.cost_unknown {
            0 => String::new(),
            n => format!("unknown for {n}"),
        };
        let cents = cost / 10_000;
        cell(
            "Cost",
            format!("${}.{:02}", cents / 100, cents % 100),
            unknown,
        );
    }
    format!("<dl class=\"card stats\">{}</dl>\n", cells.concat())
}

/// Returns a small box for each task, or of many tasks a bar of their states.
fn strip(picture: &Picture) -> String {
    const MOST_BOXES: usize = 60;
    let n = picture.tasks.len();
    if n == 0 {
        return String::new();
    }
    let mut shapes = String::new();
    let groups = states(picture);
    let mut x = 0.0;
    let width = 364.0;
    for (state, count) in groups {
        let class = match state {
            "open" | "skipped" => "idle-bg",
            state => icon::color(state),
        };
        #[expect(clippy::cast_precision_loss, reason = "a number of tasks")]
        let (step, part) = (width / n as f64, width * count as f64 / n as f64);
        let gap = if n <= MOST_BOXES { 2.0 } else { 0.0 };
        let boxes = if n <= MOST_BOXES { count } else { 1 };
        let length = if n <= MOST_BOXES { step } else { part };
        for _ in 0..boxes {
            shapes.push_str(&format!(
                "<rect x=\"{}\" y=\"0\" width=\"{}\" height=\"14\" rx=\"2\" class=\"f-{class}\"/>",
                number(x),
                number((length - gap).max(0.5))
            ));
            x += length;
        }
    }
    format!(
        "<svg class=\"strip\" width=\"364\" height=\"14\" viewBox=\"0 0 364 14\" preserveAspectRatio=\"none\" aria-hidden=\"true\" focusable=\"false\">{shapes}</svg>"
    )
}

/// Returns how many tasks are in each state, done ones first.
fn states(picture: &Picture) -> Vec<(&str, usize)> {
    const ORDER: [&str; 8] = [
        "done",
        "running",
        "needs_person",
        "interrupted",
        "failed",
        "limited",
        "open",
        "skipped",
    ];
    let count = |state: &str| {
        picture
            .tasks
            .iter()
            .filter(|task| task.state == state)
            .count()
    };
    let counted = ORDER.into_iter().map(|state| (state, count(state)));
    counted.filter(|(_, n)| *n > 0).collect()
}

fn parts_of_tasks(picture: &Picture) -> String {
    let done = if picture.branch.is_some() {
        "landed"
    } else {
        "done"
    };
    let word = |state: &str| match state {
        "done" => done.to_owned(),
        "needs_person" => "needs you".to_owned(),
        "open" => "not started".to_owned(),
        "limited" => "usage limit".to_owned(),
        other => other.to_owned(),
    };
    let states = states(picture).into_iter();
    let parts: Vec<String> = states
        .map(|(state, n)| format!("{} {}", grouped(n), word(state)))
        .collect();
    parts.join(" · ")
}

fn parts_of_attempts(counts: &PictureCounts) -> String {
    let parts = [
        (counts.killed, "killed"),
        (counts.failed, "failed"),
        (counts.limited, "limited"),
    ];
    let parts = parts.into_iter().filter(|(n, _)| *n > 0);
    parts
        .map(|(n, word)| format!("{} {word}", grouped(n)))
        .collect::<Vec<_>>()
        .join(" · ")
}

fn needs(need: &NeedOut) -> String {
    let task = need
        .task
        .as_ref()
        .map(|task| format!("<b>{} needs you.</b> ", escaped(task)));
    let command = need
        .command
        .as_ref()
        .map(|command| format!("<code>{}</code>", escaped(command)));
    format!(
        "<div class=\"need\">{}<p>{}{}</p>{}</div>\n",
        icon::inline(icon::of_state("needs_person")),
        task.unwrap_or_default(),
        escaped(&rekindle_text::excerpt(&need.text, 400)),
        command.unwrap_or_default(),
    )
}

fn timeline_section(scene: &Scene<'_>) -> String {
    format!(
        "<section class=\"card\" aria-labelledby=\"h-time\"><h2 id=\"h-time\">Timeline</h2><p class=\"hidden\">The drawing shows what the table of tasks says in words.</p><div class=\"scroll wide\" role=\"group\" tabindex=\"0\" aria-label=\"Timeline, scrolls sideways\">{}</div><div class=\"slim\">{}</div>{}</section>\n",
        timeline::draw(scene, Room::Wide, Place::Page("w-")),
        timeline::draw(scene, Room::Slim, Place::Page("n-")),
        legend::legend(scene),
    )
}

fn findings(picture: &Picture) -> String {
    if picture.findings.is_empty() {
        return String::new();
    }
    let shown = picture.findings.iter().take(MOST_FINDINGS).map(|finding| {
        let place = finding
            .place
            .as_ref()
            .map(|place| format!(" <code>{}</code>", escaped(place)));
        let hint = finding
            .hint
            .as_ref()
            .map(|hint| format!("<br><small>{}</small>", escaped(hint)));
        format!(
            "<li><b class=\"{}\">{}</b> {}{}{}</li>\n",
            escaped(&finding.severity),
            escaped(&finding.code),
            escaped(&finding.message),
            place.unwrap_or_default(),
            hint.unwrap_or_default()
        )
    });
    let shown: String = shown.collect();
    let left_out = picture.findings.len().saturating_sub(MOST_FINDINGS);
    let more = match left_out {
        0 => String::new(),
        n => format!(
            "<p class=\"meta\">{} more; <code>rekindle inspect</code> has all</p>",
            grouped(n)
        ),
    };
    format!(
        "<section class=\"card\" aria-labelledby=\"h-findings\"><h2 id=\"h-findings\">Findings</h2><ul class=\"findings\">{shown}</ul>{more}</section>\n"
    )
}

fn zone(offset: i32) -> String {
    let sign = if offset < 0 { '−' } else { '+' };
    let minutes = offset.abs() / 60;
    match minutes {
        0 => " (UTC)".to_owned(),
        minutes => format!(" (UTC{sign}{:02}:{:02})", minutes / 60, minutes % 60),
    }
}

/// Returns the SHA-256 of a text in base64, as a policy names it.
pub(crate) fn digest(text: &str) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let hex = rekindle_text::sha256_hex(text.as_bytes(), 32);
    let value = |digit: &u8| char::from(*digit).to_digit(16).unwrap_or_default();
    let nibbles: Vec<u32> = hex.as_bytes().iter().map(value).collect();
    let mut text = String::new();
    // Three nibbles are two digits of base64.
    for three in nibbles.chunks(3) {
        let bits =
            three.iter().fold(0, |bits, nibble| bits << 4 | nibble) << (4 * (3 - three.len()));
        for digit in [bits >> 6, bits & 63].into_iter().take(three.len().min(2)) {
            let digit = usize::try_from(digit).unwrap_or_default();
            text.push(char::from(DIGITS[digit % 64]));
        }
    }
    while !text.len().is_multiple_of(4) {
        text.push('=');
    }
    text
}
