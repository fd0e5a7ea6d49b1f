//! The timeline: who lived when, and what became of every attempt.

use rekindle_text::{excerpt, spoken_seconds};
use rekindle_wire::Picture;

use crate::axis::Axis;
use crate::bar::{SHORTEST, spans};
use crate::icon;
use crate::label::{Labels, columns, grouped, rows, size, width_of};
use crate::scene::{End, Row, Scene};
use crate::svg::{Drawing, Place, finish, number};

/// The height of a row.
const ROW: f64 = 27.0;
/// Where the line of the orchestrator is, and where the rows begin.
const LIFELINE: f64 = 52.0;
const TOP: f64 = 74.0;

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
pub(crate) struct Frame<'s> {
    pub(crate) scene: &'s Scene<'s>,
    pub(crate) room: Room,
    pub(crate) prefix: &'static str,
    pub(crate) axis: Axis,
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
        let mut labels = Labels::new(self.width.min(self.right + 60.0) - 2.0);
        for (n, life) in self.scene.lives.iter().enumerate() {
            let (x, end) = (self.axis.x(life.from), self.axis.x(life.to));
            let end = end.max(x + SHORTEST);
            let path = format!("M{} {LIFELINE}H{}", number(x), number(end));
            drawing.path(&path, "class=\"s-ember w40\"");
            // On a phone the signs have to do.
            let at = |at: i64, word: &str| match self.room {
                Room::Wide => format!("{} {word}", self.axis.clock(at)),
                Room::Slim => self.axis.clock(at),
            };
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
            let word = match self.room {
                Room::Wide => " limit",
                Room::Slim => "",
            };
            labels.add(x, "b c-wait", self.axis.clock(from) + word);
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
