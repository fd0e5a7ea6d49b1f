//! The timeline: who lived when, and what became of every attempt.

use rekindle_text::{excerpt, spoken_seconds};
use rekindle_wire::Picture;

use crate::axis::Axis;
use crate::icon;
use crate::scene::{Bar, End, Life, Row, Scene};
use crate::svg::{Drawing, Place, finish, number};

/// The height of a row, and of a bar in it.
const ROW: f64 = 27.0;
const BAR: f64 = 13.0;
/// Where the line of the orchestrator is, and where the rows begin.
const LIFELINE: f64 = 52.0;
const TOP: f64 = 74.0;
/// A bar is at least this long, and two of a row are this far apart.
const SHORTEST: f64 = 2.5;
const APART: f64 = 1.0;
/// Silence of this many milliseconds is told.
const SILENT: i64 = 180_000;

/// How much room there is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Room {
    /// For a screen: titles and words.
    Wide,
    /// For a phone: ids only.
    Slim,
}

/// Returns the timeline as a drawing by itself, for both themes.
pub fn timeline(picture: &Picture) -> String {
    draw(&Scene::new(picture), Room::Wide, Place::File)
}

/// The measures of a drawing.
struct Frame<'s> {
    scene: &'s Scene<'s>,
    room: Room,
    prefix: &'static str,
    axis: Axis,
    width: f64,
    left: f64,
    right: f64,
    bottom: f64,
}

pub(crate) fn draw(scene: &Scene<'_>, room: Room, place: Place) -> String {
    let (width, left, right) = match room {
        Room::Wide => (1380.0, 334.0, 1262.0),
        Room::Slim => (360.0, 74.0, 336.0),
    };
    let pauses = scene.pauses();
    let offset = scene.picture.utc_offset;
    let bottom = TOP + ROW * rows(scene.rows.len());
    let frame = Frame {
        axis: Axis::new(
            (scene.from, scene.to),
            &pauses,
            (left, right - left),
            offset,
        ),
        scene,
        room,
        prefix: place.prefix(),
        width,
        left,
        right,
        bottom,
    };
    let mut drawing = Drawing::default();
    let mut height = bottom + 6.0;
    frame.stripes(&mut drawing);
    if scene.has_times() {
        frame.grid(&mut drawing);
        frame.bands(&mut drawing);
        frame.orchestrator(&mut drawing);
        height = bottom + 28.0;
    }
    for (n, row) in scene.rows.iter().enumerate() {
        frame.row(&mut drawing, TOP + ROW * rows(n), row);
    }
    if scene.hidden > 0 {
        let text = format!(
            "{} more tasks are not drawn: {}",
            grouped(scene.hidden),
            match scene.rows.len() {
                0 => "the table has them",
                _ => "those here are open, had trouble, or are on the longest way",
            }
        );
        drawing.text(18.0, height + 8.0, "class=\"t12 c-soft\"", &text);
        height += 20.0;
    }
    let title = format!("Timeline of {}", excerpt(&scene.picture.title, 80));
    finish(&drawing.text, (width, height), place, &title)
}

impl Frame<'_> {
    fn stripes(&self, drawing: &mut Drawing) {
        for (n, row) in self.scene.rows.iter().enumerate() {
            let y = TOP + ROW * rows(n);
            if row.task.state == "needs_person" {
                drawing.rect((0.0, y), (self.width, ROW), "class=\"f-sel\"");
                drawing.rect((0.0, y), (3.0, ROW), "class=\"f-you\"");
            } else if n % 2 == 0 {
                drawing.rect(
                    (0.0, y),
                    (self.width, ROW),
                    "class=\"f-row\" opacity=\".7\"",
                );
            }
        }
    }

    fn grid(&self, drawing: &mut Drawing) {
        let room = match self.room {
            Room::Wide => 96.0,
            Room::Slim => 62.0,
        };
        for (x, label) in self.axis.labels(room) {
            let path = format!(
                "M{} {}V{}",
                number(x),
                number(TOP - 4.0),
                number(self.bottom)
            );
            drawing.path(&path, "class=\"s-line\"");
            let attributes = "class=\"t11 mid c-faint\"";
            drawing.text(x, self.bottom + 16.0, attributes, &label);
        }
    }

    /// Draws what holds for all rows: nobody lived, or a limit was waited for.
    fn bands(&self, drawing: &mut Drawing) {
        let top = LIFELINE - 9.0;
        let height = self.bottom - top;
        for &(from, to) in &self.scene.waits {
            let (x, end) = (self.axis.x(from), self.axis.x(to));
            let fill = format!("fill=\"url(#{}dots)\"", self.prefix);
            drawing.rect((x, top), ((end - x).max(SHORTEST), height), &fill);
        }
        for (life, until) in self.scene.gaps() {
            let (x, end) = (self.axis.x(life.to), self.axis.x(until));
            let fill = format!("fill=\"url(#{}hatch)\" opacity=\".62\"", self.prefix);
            drawing.rect((x, top), ((end - x).max(1.0), height), &fill);
            if life.end.is_interruption() {
                drawing.path(&torn(x, top, self.bottom), "class=\"s-kill w14\"");
            }
        }
        for pair in self.scene.lives.windows(2) {
            let x = self.axis.x(pair[1].from);
            let path = format!("M{} {}V{}", number(x), number(top), number(self.bottom));
            drawing.path(&path, "class=\"s-ember w18\"");
        }
        if self.scene.is_running() {
            let x = number(self.axis.x(self.scene.now));
            let path = format!("M{x} {}V{}", number(top), number(self.bottom));
            drawing.path(&path, "class=\"s-run w14 dashes\"");
        }
    }

    fn orchestrator(&self, drawing: &mut Drawing) {
        let baseline = LIFELINE + 4.0;
        if self.room == Room::Wide {
            drawing.text(18.0, baseline, "class=\"b\"", "orchestrator");
        }
        let mut labels = Labels::new(self.right + 60.0);
        for (n, life) in self.scene.lives.iter().enumerate() {
            let (x, end) = (self.axis.x(life.from), self.axis.x(life.to));
            let end = end.max(x + SHORTEST);
            let path = format!("M{} {LIFELINE}H{}", number(x), number(end));
            drawing.path(&path, "class=\"s-ember w40\"");
            let at = |at: i64, word: &str| format!("{} {word}", self.axis.clock(at));
            if n == 0 {
                drawing.put(&format!(
                    "<circle cx=\"{}\" cy=\"{LIFELINE}\" r=\"4.5\" class=\"f-ember\"/>",
                    number(x)
                ));
                labels.add(x - 4.0, "b", at(life.from, "started"));
            } else {
                let disc = format!(
                    "<circle cx=\"{}\" cy=\"{LIFELINE}\" r=\"11\" class=\"f-card\"/>",
                    number(x)
                );
                drawing.put(&disc);
                drawing.put(&icon::at(icon::FLAME, x, LIFELINE, 1.28));
                labels.add(x - 4.0, "b c-ember", at(life.from, "resumed"));
            }
            match life.end {
                End::Interrupted | End::Restarted => {
                    drawing.put(&icon::at(icon::cross(), end, LIFELINE, 1.14));
                    let word = if life.end == End::Restarted {
                        "restart"
                    } else {
                        "interrupted"
                    };
                    labels.add(end - 4.0, "b c-kill", at(life.to, word));
                }
                End::Stopped => {
                    drawing.rect(
                        (end - 4.0, LIFELINE - 5.0),
                        (8.0, 10.0),
                        "rx=\"1\" class=\"f-idle\"",
                    );
                    labels.add(end - 4.0, "b c-soft", at(life.to, "stopped"));
                }
                End::Finished => {
                    drawing.put(&icon::at(icon::tick(), end, LIFELINE, 1.14));
                    labels.add(end - 4.0, "b c-landed", at(life.to, "complete"));
                }
                End::Alive => labels.add(end + 5.0, "b c-run", "now".to_owned()),
            }
        }
        for &(from, to) in &self.scene.waits {
            let x = self.axis.x(from);
            let middle = f64::midpoint(x, self.axis.x(to));
            drawing.put(&icon::at(icon::hourglass(), middle, LIFELINE, 1.14));
            labels.add(x, "b c-wait", format!("{} limit", self.axis.clock(from)));
        }
        for (at, name) in &self.scene.marks {
            let x = self.axis.x(*at);
            let (x1, y) = (number(x), number(LIFELINE + 7.0));
            drawing.path(&format!("M{x1} {y}l4 7h-8Z"), "class=\"f-idle\"");
            labels.add(x, "c-soft", excerpt(name, 28));
        }
        for (life, until) in self.scene.gaps() {
            let (x, end) = (self.axis.x(life.to), self.axis.x(until));
            let is_over = self.scene.lives.iter().any(|next| next.from == until);
            let text = if is_over {
                format!("nobody here, {}", spoken_seconds((until - life.to) / 1000))
            } else {
                "nobody here".to_owned()
            };
            if end - x > 24.0 + width_of(&text) {
                let middle = f64::midpoint(x, end);
                drawing.text(middle, baseline, "class=\"t11 mid c-dark\"", &text);
            }
        }
        labels.draw(drawing);
    }

    fn row(&self, drawing: &mut Drawing, y: f64, row: &Row<'_>) {
        let task = row.task;
        let (middle, baseline) = (y + ROW / 2.0, y + ROW / 2.0 + 4.5);
        drawing.put(&format!("<g data-task=\"{}\">", row.place));
        let color = icon::color(&task.state);
        match self.room {
            Room::Wide => {
                drawing.put(&icon::at(icon::of_state(&task.state), 23.0, middle, 1.0));
                let id = excerpt(&task.id, 12);
                drawing.text(38.0, baseline, "class=\"mono c-soft\"", &id);
                let begin = 46.0 + 7.3 * columns(&id).max(4.0);
                let word = excerpt(&task.word, 18);
                let end = self.left - 24.0;
                drawing.text(
                    end,
                    baseline,
                    &format!("class=\"t12 end c-{color}\""),
                    &word,
                );
                let room = (end - width_of(&word) - 10.0 - begin) / 6.9;
                let title = excerpt(&task.title, size(room));
                drawing.text(begin, baseline, "", &title);
            }
            Room::Slim => {
                drawing.put(&icon::at(icon::of_state(&task.state), 12.0, middle, 0.86));
                let id = excerpt(&task.id, 6);
                drawing.text(23.0, baseline, "class=\"mono c-soft\"", &id);
            }
        }
        let spans = spans(&row.bars, &self.axis);
        for (n, (bar, &span)) in row.bars.iter().zip(&spans).enumerate() {
            let next = spans.get(n + 1).map(|(x, _)| *x);
            self.bar(drawing, middle, bar, span, next);
        }
        drawing.put("</g>");
    }

    fn bar(
        &self,
        drawing: &mut Drawing,
        middle: f64,
        bar: &Bar<'_>,
        (x, end): (f64, f64),
        next: Option<f64>,
    ) {
        let y = middle - BAR / 2.0;
        let size = (end - x, BAR);
        let attempt = bar.attempt;
        match attempt.end.as_str() {
            "done" | "delivered" => drawing.rect((x, y), size, "rx=\"3\" class=\"bar landed\""),
            "killed" => drawing.path(&torn_bar(x, y, end), "class=\"bar killed\""),
            "failed" => {
                drawing.rect((x, y), size, "rx=\"2\" class=\"bar failed\"");
                let path = format!(
                    "M{} {}v{}",
                    number(end - 1.5),
                    number(y + 1.0),
                    number(BAR - 2.0)
                );
                drawing.path(&path, "class=\"s-kill w22\"");
            }
            "limited" => drawing.rect((x, y), size, "rx=\"3\" class=\"bar limited\""),
            "running" => {
                let class = format!(
                    "rx=\"3\" class=\"bar running\" fill=\"url(#{}fade)\"",
                    self.prefix
                );
                drawing.rect((x, y), size, &class);
                self.beats(drawing, y + BAR + 2.0, bar);
            }
            _ => drawing.rect((x, y), size, "rx=\"3\" class=\"bar stopped\""),
        }
        if end - x > 16.0 && (attempt.number > 1 || next.is_some()) {
            let color = match attempt.end.as_str() {
                "done" | "delivered" => "landed",
                "killed" | "failed" => "kill",
                "limited" => "wait",
                "running" => "run",
                _ => "idle",
            };
            let class = format!("class=\"t11 c-{color}\"");
            drawing.text(x + 5.0, middle + 4.0, &class, &attempt.number.to_string());
        }
        self.after(drawing, middle, bar, end, next);
    }

    /// Draws what comes after an attempt: its landing, what is saved of it, the way to the next one.
    fn after(
        &self,
        drawing: &mut Drawing,
        middle: f64,
        bar: &Bar<'_>,
        end: f64,
        next: Option<f64>,
    ) {
        let room = next.map_or(f64::MAX, |next| next - end);
        if let Some(landed) = bar.landed {
            let x = self.axis.x(landed).max(end);
            if x - end > 14.0 {
                let path = format!(
                    "M{} {}H{}",
                    number(end + 4.0),
                    number(middle),
                    number(x - 6.0)
                );
                drawing.path(&path, "class=\"s-landed w14 dashes\"");
                drawing.put(&format!(
                    "<circle cx=\"{}\" cy=\"{}\" r=\"3.6\" class=\"f-card\"/><circle cx=\"{0}\" cy=\"{1}\" r=\"3.6\" class=\"s-landed w14\"/>",
                    number(end),
                    number(middle)
                ));
                let is_alone = |(life, until): &(Life, i64)| life.to < bar.to && bar.to < *until;
                if x - end > 110.0 && self.scene.gaps().iter().any(is_alone) {
                    let attributes = "class=\"t11 mid c-landed\"";
                    drawing.text(
                        f64::midpoint(end, x),
                        middle - 4.0,
                        attributes,
                        "delivered alone",
                    );
                }
            }
            drawing.put(&icon::at(icon::tick(), x, middle, 0.93));
            return;
        }
        let color = match bar.attempt.end.as_str() {
            "killed" => "ember",
            "limited" => "wait",
            _ => return self.running(drawing, middle, bar, end),
        };
        let mut from = end + 3.0;
        if bar.attempt.saved.is_some() && room > 18.0 {
            drawing.put(&icon::at(icon::BUOY, end + 10.0, middle, 0.86));
            from = end + 19.0;
        }
        if let Some(next) = next.filter(|next| next - from > 12.0) {
            let path = format!(
                "M{} {}H{}",
                number(from),
                number(middle),
                number(next - 6.0)
            );
            drawing.path(&path, &format!("class=\"s-{color} w18 dots\""));
            let tip = format!("M{} {}l5 3-5 3Z", number(next - 6.0), number(middle - 3.0));
            drawing.path(&tip, &format!("class=\"f-{color}\""));
        }
    }

    /// Draws what a running attempt does, and its silence.
    fn running(&self, drawing: &mut Drawing, middle: f64, bar: &Bar<'_>, end: f64) {
        if bar.attempt.to.is_some() || self.room == Room::Slim {
            return;
        }
        let last = bar
            .attempt
            .beats
            .last()
            .map_or(bar.from, |beat| bar.from + i64::from(*beat) * 1000);
        let silence = self.scene.now - last;
        let (text, color) = if silence >= SILENT {
            (format!("silent {}", spoken_seconds(silence / 1000)), "wait")
        } else {
            match bar.attempt.stage.as_deref() {
                Some("verifying") => ("checks run".to_owned(), "soft"),
                Some(_) | None => return,
            }
        };
        let class = format!("class=\"t12 c-{color}\"");
        drawing.text(end + 8.0, middle + 4.5, &class, &text);
    }

    fn beats(&self, drawing: &mut Drawing, y: f64, bar: &Bar<'_>) {
        let mut path = String::new();
        let mut last = f64::MIN;
        for beat in &bar.attempt.beats {
            let x = self.axis.x(bar.from + i64::from(*beat) * 1000);
            if x - last >= 3.0 {
                path.push_str(&format!("M{} {}v3", number(x), number(y)));
                last = x;
            }
        }
        if !path.is_empty() {
            drawing.path(&path, "class=\"s-run\"");
        }
    }
}

/// Returns where the bars of a row are: at least a little long, and never one over another.
pub(crate) fn spans(bars: &[Bar<'_>], axis: &Axis) -> Vec<(f64, f64)> {
    let mut spans: Vec<(f64, f64)> = Vec::new();
    let mut free = f64::MIN;
    for bar in bars {
        let x = axis.x(bar.from).max(free);
        let end = axis.x(bar.to).max(x + SHORTEST);
        free = end + APART;
        spans.push((x, end));
    }
    spans
}

/// The words above the line of the orchestrator, in two lines; one without room is left out.
struct Labels {
    texts: Vec<(f64, &'static str, String)>,
    right: f64,
}

impl Labels {
    fn new(right: f64) -> Self {
        let texts = Vec::new();
        Self { texts, right }
    }

    fn add(&mut self, x: f64, class: &'static str, text: String) {
        self.texts.push((x, class, text));
    }

    fn draw(mut self, drawing: &mut Drawing) {
        self.texts.sort_by(|one, other| one.0.total_cmp(&other.0));
        let mut free = [f64::MIN; 2];
        for (x, class, text) in &self.texts {
            let width = width_of(text);
            let x = x.min(self.right - width).max(2.0);
            let lines = [(0, 33.0), (1, 17.0)];
            let line = lines.into_iter().find(|(line, _)| x >= free[*line]);
            if let Some((line, y)) = line {
                free[line] = x + width + 10.0;
                drawing.text(x, y, &format!("class=\"t12 {class}\""), text);
            }
        }
    }
}

/// Returns the jagged line where a life ended.
fn torn(x: f64, top: f64, bottom: f64) -> String {
    let mut path = format!("M{} {}", number(x), number(top - 3.0));
    let (mut y, mut side) = (top + 3.0, 2.6);
    while y < bottom {
        path.push_str(&format!("L{} {}", number(x + side), number(y)));
        y += 6.0;
        side = -side;
    }
    path
}

/// Returns a bar with a torn end.
fn torn_bar(x: f64, y: f64, end: f64) -> String {
    let bite = ((end - x) / 2.0).min(4.0);
    let mut path = format!("M{} {}H{}", number(x), number(y), number(end));
    let step = BAR / 4.0;
    for (n, inwards) in [(1.0, true), (2.0, false), (3.0, true), (4.0, false)] {
        let to = if inwards { end - bite } else { end };
        path.push_str(&format!("L{} {}", number(to), number(y + step * n)));
    }
    path.push_str(&format!("H{}Z", number(x)));
    path
}

/// Returns about how wide a small text is.
fn width_of(text: &str) -> f64 {
    columns(text) * 6.6
}

fn columns(text: &str) -> f64 {
    rows(text.chars().count())
}

#[expect(
    clippy::cast_precision_loss,
    reason = "there are at most some hundred rows or characters"
)]
fn rows(n: usize) -> f64 {
    n as f64
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a number of characters"
)]
fn size(room: f64) -> usize {
    room.max(1.0) as usize
}

/// Returns a number with its thousands set apart.
pub(crate) fn grouped(n: usize) -> String {
    let digits = n.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
