//! The graph of the tasks: what needs what.

use rekindle_text::excerpt;
use rekindle_wire::{Picture, PictureTask};

use crate::icon;
use crate::label::grouped;
use crate::svg::{Drawing, Place, finish, number};

/// More tasks are drawn as one box for each column.
const MOST_NODES: usize = 300;
/// The size of a box, and the room between two.
const WIDTH: f64 = 148.0;
const HEIGHT: f64 = 46.0;
const BESIDE: f64 = 46.0;
const BELOW: f64 = 16.0;
const MARGIN: f64 = 18.0;

/// Returns the graph as a drawing by itself, for both themes.
pub fn graph(picture: &Picture) -> String {
    draw(picture, Place::File)
}

/// Returns whether there is anything to see in a graph.
pub(crate) fn is_of_use(picture: &Picture) -> bool {
    picture.tasks.iter().any(|task| !task.needs.is_empty())
}

pub(crate) fn draw(picture: &Picture, place: Place) -> String {
    let title = format!("What needs what in {}", excerpt(&picture.title, 80));
    let mut drawing = Drawing::default();
    let size = if picture.tasks.len() > MOST_NODES {
        columns(&mut drawing, picture)
    } else {
        nodes(&mut drawing, picture)
    };
    finish(&drawing.text, size, place, &title)
}

fn nodes(drawing: &mut Drawing, picture: &Picture) -> (f64, f64) {
    let tasks = &picture.tasks;
    let n_layers = tasks.iter().map(|task| task.layer + 1).max().unwrap_or(1);
    let mut heights = vec![0_usize; n_layers];
    for task in tasks {
        heights[task.layer] += 1;
    }
    let most = heights.iter().copied().max().unwrap_or(1);
    let at = |task: &PictureTask| {
        // Columns are centered, so that lines are short.
        let free = float(most - heights[task.layer]) / 2.0;
        (
            MARGIN + float(task.layer) * (WIDTH + BESIDE),
            MARGIN + (float(task.place) + free) * (HEIGHT + BELOW),
        )
    };
    for task in tasks {
        let (x, y) = at(task);
        for need in task.needs.iter().filter_map(|need| tasks.get(*need)) {
            let (from_x, from_y) = at(need);
            let from = (from_x + WIDTH, from_y + HEIGHT / 2.0);
            let to = (x, y + HEIGHT / 2.0);
            let class = match (need.state.as_str(), task.state.as_str()) {
                (_, "done") => "s-line2 w14",
                ("needs_person", _) => "s-you w16 dashes",
                ("done", _) => "s-soft w14",
                _ => "s-idle w14 dashes",
            };
            let mut path = format!("M{} {}", number(from.0), number(from.1));
            let mut pen = from;
            // A line that skips a column passes between its boxes.
            let between = heights.iter().enumerate().take(task.layer);
            for (layer, &n_boxes) in between.skip(need.layer + 1) {
                let left = MARGIN + float(layer) * (WIDTH + BESIDE);
                let part = float(layer - need.layer) / float(task.layer - need.layer);
                let wanted = from.1 + (to.1 - from.1) * part;
                let height = gap(n_boxes, most, wanted);
                curve(&mut path, pen, (left, height));
                pen = (left + WIDTH, height);
                path.push_str(&format!("H{}", number(pen.0)));
            }
            curve(&mut path, pen, to);
            drawing.path(&path, &format!("class=\"{class}\""));
        }
    }
    for (place, task) in tasks.iter().enumerate() {
        node(drawing, place, task, at(task));
    }
    let width = 2.0 * MARGIN + float(n_layers) * (WIDTH + BESIDE) - BESIDE;
    let height = 2.0 * MARGIN + float(most.max(1)) * (HEIGHT + BELOW) - BELOW;
    (width, height)
}

/// Returns the height nearest to a wanted one at which a column of so many boxes has none.
fn gap(n_boxes: usize, most: usize, wanted: f64) -> f64 {
    let free = float(most - n_boxes) / 2.0;
    let step = HEIGHT + BELOW;
    let first = MARGIN + free * step - BELOW / 2.0;
    let n = ((wanted - first) / step).round().clamp(0.0, float(n_boxes));
    first + n * step
}

/// Adds a line from the right of one box to the left of another.
fn curve(path: &mut String, from: (f64, f64), to: (f64, f64)) {
    let bend = ((to.0 - from.0) / 2.0).clamp(16.0, 60.0);
    path.push_str(&format!(
        "C{} {} {} {} {} {}",
        number(from.0 + bend),
        number(from.1),
        number(to.0 - bend),
        number(to.1),
        number(to.0),
        number(to.1)
    ));
}

fn node(drawing: &mut Drawing, place: usize, task: &PictureTask, (x, y): (f64, f64)) {
    let color = match task.state.as_str() {
        "open" | "skipped" => "s-idle w14 dashes",
        "done" => "s-line2 w14",
        "running" => "s-run w16",
        "needs_person" => "s-you w18",
        "limited" => "s-wait w16",
        _ => "s-kill w16",
    };
    let fill = if task.state == "needs_person" {
        "f-you-bg"
    } else {
        "f-card"
    };
    drawing.put(&format!("<g data-task=\"{place}\">"));
    drawing.rect(
        (x, y),
        (WIDTH, HEIGHT),
        &format!("rx=\"7\" class=\"{fill}\""),
    );
    drawing.rect(
        (x, y),
        (WIDTH, HEIGHT),
        &format!("rx=\"7\" class=\"{color}\""),
    );
    drawing.put(&icon::at(
        icon::of_state(&task.state),
        x + 16.0,
        y + 15.0,
        1.0,
    ));
    drawing.text(
        x + 29.0,
        y + 19.0,
        "class=\"mono c-soft\"",
        &excerpt(&task.id, 11),
    );
    let killed = task
        .attempts
        .iter()
        .filter(|one| one.end == "killed")
        .count();
    if killed > 0 {
        drawing.put(&icon::at(icon::cross(), x + WIDTH - 14.0, y + 15.0, 0.86));
        if killed > 1 {
            let (x, class) = (x + WIDTH - 24.0, "class=\"t11 end c-kill\"");
            drawing.text(x, y + 19.0, class, &killed.to_string());
        }
    }
    drawing.text(
        x + 9.0,
        y + 37.0,
        "class=\"t12\"",
        &excerpt(&task.title, 19),
    );
    drawing.put("</g>");
}

/// Draws so many tasks that only their numbers can be read: a box for each column.
fn columns(drawing: &mut Drawing, picture: &Picture) -> (f64, f64) {
    const MOST_COLUMNS: usize = 60;
    let n_layers = picture
        .tasks
        .iter()
        .map(|task| task.layer + 1)
        .max()
        .unwrap_or(1);
    let mut counts = vec![(0_usize, 0_usize, 0_usize); n_layers];
    for task in &picture.tasks {
        let count = &mut counts[task.layer];
        count.0 += 1;
        count.1 += usize::from(task.state == "done");
        count.2 += usize::from(task.state == "needs_person");
    }
    let per_line = 8_usize;
    for (layer, (all, done, need)) in counts.iter().take(MOST_COLUMNS).enumerate() {
        let x = MARGIN + float(layer % per_line) * (WIDTH + 16.0);
        let y = MARGIN + float(layer / per_line) * (HEIGHT + BELOW);
        drawing.rect((x, y), (WIDTH, HEIGHT), "rx=\"7\" class=\"s-line2 w14\"");
        let part = float(*done) / float((*all).max(1));
        drawing.rect(
            (x + 9.0, y + 33.0),
            (WIDTH - 18.0, 6.0),
            "rx=\"3\" class=\"f-idle-bg\"",
        );
        drawing.rect(
            (x + 9.0, y + 33.0),
            ((WIDTH - 18.0) * part, 6.0),
            "rx=\"3\" class=\"f-landed\"",
        );
        let text = format!(
            "step {}: {} of {}",
            layer + 1,
            grouped(*done),
            grouped(*all)
        );
        drawing.text(x + 9.0, y + 22.0, "class=\"t12\"", &text);
        if *need > 0 {
            drawing.put(&icon::at(
                icon::of_state("needs_person"),
                x + WIDTH - 14.0,
                y + 17.0,
                1.0,
            ));
        }
    }
    let lines = counts.len().min(MOST_COLUMNS).div_ceil(per_line);
    let mut height = 2.0 * MARGIN + float(lines) * (HEIGHT + BELOW);
    if counts.len() > MOST_COLUMNS {
        let text = format!(
            "{} more steps are not drawn",
            grouped(counts.len() - MOST_COLUMNS)
        );
        drawing.text(MARGIN, height, "class=\"t12 c-soft\"", &text);
        height += 20.0;
    }
    let width = 2.0 * MARGIN + float(counts.len().min(per_line)) * (WIDTH + 16.0) - 16.0;
    (width, height)
}

#[expect(
    clippy::cast_precision_loss,
    reason = "a drawing has at most some hundred boxes in a row"
)]
fn float(n: usize) -> f64 {
    n as f64
}
