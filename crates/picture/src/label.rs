//! How wide texts are, about, and where those above the timeline find room.

use crate::svg::Drawing;

/// The words above the line of the orchestrator, in two lines; one without room is left out.
pub(crate) struct Labels {
    texts: Vec<(f64, &'static str, String)>,
    right: f64,
}

impl Labels {
    pub(crate) fn new(right: f64) -> Self {
        let texts = Vec::new();
        Self { texts, right }
    }

    pub(crate) fn add(&mut self, x: f64, class: &'static str, text: String) {
        self.texts.push((x, class, text));
    }

    pub(crate) fn draw(mut self, drawing: &mut Drawing) {
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

/// Returns about how wide a small text is.
pub(crate) fn width_of(text: &str) -> f64 {
    columns(text) * 6.6
}

pub(crate) fn columns(text: &str) -> f64 {
    rows(text.chars().count())
}

#[expect(
    clippy::cast_precision_loss,
    reason = "there are at most some hundred rows or characters"
)]
pub(crate) fn rows(n: usize) -> f64 {
    n as f64
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a number of characters"
)]
pub(crate) fn size(room: f64) -> usize {
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
