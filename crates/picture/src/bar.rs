//! One attempt in a row of the timeline, and what comes after it.

use rekindle_text::spoken_seconds;

use crate::axis::Axis;
use crate::icon;
use crate::scene::{Bar, Life};
use crate::svg::{Drawing, number};
use crate::timeline::{Frame, Room};

/// The height of a bar.
pub(crate) const BAR: f64 = 13.0;
/// A bar is at least this long, and two of a row are this far apart.
pub(crate) const SHORTEST: f64 = 2.5;
const APART: f64 = 1.0;
/// Silence of this many milliseconds is told.
const SILENT: i64 = 180_000;

impl Frame<'_> {
    pub(crate) fn bar(
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
