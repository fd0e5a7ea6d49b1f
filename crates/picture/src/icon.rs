//! The sign of each state: a shape, a color and a word, the same ones everywhere.

use crate::svg::number;

/// The size of an icon.
pub(crate) const SIZE: f64 = 14.0;

const TICK: &str = "<circle cx=\"7\" cy=\"7\" r=\"6.2\" class=\"f-landed\"/><path d=\"M4 7.3 6.2 9.5 10.2 4.9\" class=\"s-card w18\"/>";
const SECTOR: &str = "<circle cx=\"7\" cy=\"7\" r=\"5.6\" class=\"s-run w16\"/><path d=\"M7 7V1.4A5.6 5.6 0 0 1 11.9 9.8Z\" class=\"f-run\"/>";
const DIAMOND: &str = "<path d=\"M7 .8 13.2 7 7 13.2.8 7Z\" class=\"f-you\"/><path d=\"M7 3.9v3.6M7 9.7v.3\" class=\"s-card w18\"/>";
const CROSS: &str = "<path d=\"M3 3 11 11M11 3 3 11\" class=\"s-kill w22\"/>";
const BAR: &str = "<rect x=\"2\" y=\"3.5\" width=\"10\" height=\"7\" rx=\"1.5\" class=\"s-kill w14\"/><path d=\"M10.4 3.5v7\" class=\"s-kill w22\"/>";
const HOURGLASS: &str = "<path d=\"M3.4 1.8h7.2M3.4 12.2h7.2M4.2 1.8c0 3 5.6 3.6 5.6 10.4M9.8 1.8c0 3-5.6 3.6-5.6 10.4\" class=\"s-wait w14\"/>";
const RING: &str = "<circle cx=\"7\" cy=\"7\" r=\"5.8\" class=\"s-idle w14 dash\"/>";
const DASH: &str = "<path d=\"M3 7h8\" class=\"s-idle w18\"/>";
/// A flame: here work went on.
pub(crate) const FLAME: &str = "<path d=\"M7.2 .6c.5 2.4 4.2 3.6 4.2 7.4A4.4 4.4 0 0 1 7 12.9 4.4 4.4 0 0 1 2.6 8.2C2.6 6 4 5 4.6 3.6c.6.7 1 1.3 1.1 2.2C6.9 4.6 7.4 2.7 7.2 .6Z\" class=\"f-ember\"/>";
/// A lifebuoy: what an attempt left behind is saved.
pub(crate) const BUOY: &str = "<circle cx=\"7\" cy=\"7\" r=\"4.6\" class=\"s-soft w14\"/><circle cx=\"7\" cy=\"7\" r=\"1.7\" class=\"s-soft w14\"/><path d=\"M3.8 3.8 5.6 5.6M10.2 3.8 8.4 5.6M3.8 10.2 5.6 8.4M10.2 10.2 8.4 8.4\" class=\"s-soft w14\"/>";

/// Returns the sign of a task's state.
pub(crate) fn of_state(state: &str) -> &'static str {
    match state {
        "done" => TICK,
        "running" => SECTOR,
        "needs_person" => DIAMOND,
        "interrupted" => CROSS,
        "failed" => BAR,
        "limited" => HOURGLASS,
        "skipped" => DASH,
        _ => RING,
    }
}

/// Returns the class of a state's words.
pub(crate) fn color(state: &str) -> &'static str {
    match state {
        "done" | "complete" => "landed",
        "running" => "run",
        "needs_person" | "waiting" | "blocked" => "you",
        "interrupted" | "failed" | "corrupt" => "kill",
        "limited" => "wait",
        _ => "idle",
    }
}

/// Returns the cross of an interruption.
pub(crate) const fn cross() -> &'static str {
    CROSS
}

pub(crate) const fn tick() -> &'static str {
    TICK
}

pub(crate) const fn hourglass() -> &'static str {
    HOURGLASS
}

/// Returns a sign at a place, with its middle there.
pub(crate) fn at(sign: &str, x: f64, y: f64, scale: f64) -> String {
    let half = SIZE * scale / 2.0;
    let (x, y) = (number(x - half), number(y - half));
    if (scale - 1.0).abs() < f64::EPSILON {
        format!("<g transform=\"translate({x} {y})\">{sign}</g>")
    } else {
        format!("<g transform=\"translate({x} {y}) scale({scale:.2})\">{sign}</g>")
    }
}

/// Returns a sign as a small drawing for a line of text.
pub(crate) fn inline(sign: &str) -> String {
    format!(
        "<svg class=\"icon\" width=\"14\" height=\"14\" viewBox=\"0 0 14 14\" aria-hidden=\"true\" focusable=\"false\">{sign}</svg>"
    )
}
