//! What the signs of the timeline mean.

use crate::icon;
use crate::scene::Scene;

/// Returns the legend: only what is in the picture.
pub(crate) fn legend(scene: &Scene<'_>) -> String {
    let bars = || scene.rows.iter().flat_map(|row| &row.bars);
    let has = |end: &str| bars().any(|bar| bar.attempt.end == end);
    let bar = |class: &str| {
        icon_of(&format!(
            "<rect x=\"1\" y=\"1.5\" width=\"22\" height=\"11\" rx=\"3\" class=\"bar {class}\"/>"
        ))
    };
    let items = [
        (
            bars().any(|bar| bar.landed.is_some()),
            icon::inline(icon::tick()),
            if scene.picture.branch.is_some() {
                "landed"
            } else {
                "done"
            },
        ),
        (
            has("killed"),
            icon_of("<path d=\"M1 1.5H23L19 4.2 23 7 19 9.8 23 12.5H1Z\" class=\"bar killed\"/>"),
            "killed",
        ),
        (
            bars().any(|bar| bar.attempt.saved.is_some()),
            icon::inline(icon::BUOY),
            "what it wrote is saved",
        ),
        (
            has("failed"),
            icon_of(
                "<rect x=\"1\" y=\"1.5\" width=\"22\" height=\"11\" rx=\"2\" class=\"bar failed\"/><path d=\"M21.5 2.5v9\" class=\"s-kill w22\"/>",
            ),
            "failed",
        ),
        (
            has("limited") || !scene.waits.is_empty(),
            bar("limited"),
            "usage limit",
        ),
        (
            has("running"),
            icon_of(
                "<rect x=\"1\" y=\"1.5\" width=\"22\" height=\"9\" rx=\"3\" class=\"bar running f-run-bg\"/><path d=\"M4 12v3M10 12v3M16 12v3\" class=\"s-run\"/>",
            ),
            "running, a tick a heartbeat",
        ),
        (
            !scene.gaps().is_empty(),
            // Not the pattern of a drawing, which may be hidden.
            icon_of(
                "<defs><pattern id=\"l-hatch\" width=\"7\" height=\"7\" patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(45)\"><rect width=\"7\" height=\"7\" class=\"f-dark\"/><rect width=\"1.3\" height=\"7\" class=\"f-line2\"/></pattern></defs><rect x=\"1\" y=\"1.5\" width=\"22\" height=\"11\" fill=\"url(#l-hatch)\"/>",
            ),
            "no orchestrator alive",
        ),
        (scene.lives.len() > 1, icon::inline(icon::FLAME), "resumed"),
    ];
    let shown = items.into_iter().filter(|(is_there, _, _)| *is_there);
    let shown = shown.map(|(_, sign, word)| format!("<li>{sign} {word}</li>"));
    format!(
        "<ul class=\"legend\" aria-hidden=\"true\">{}</ul>\n",
        shown.collect::<String>()
    )
}

fn icon_of(shapes: &str) -> String {
    format!(
        "<svg width=\"24\" height=\"16\" viewBox=\"0 0 24 16\" aria-hidden=\"true\" focusable=\"false\">{shapes}</svg>"
    )
}
