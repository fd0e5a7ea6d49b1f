//! Horizontal bars as SVG, readable on light and dark backgrounds.

use std::fmt::Write as _;

use crate::report::figure;

/// Figures as bars.
pub(crate) struct Chart {
    /// The file's name without its extension.
    pub(crate) name: &'static str,
    /// What is shown, with its unit.
    pub(crate) title: String,
    /// Labels and figures; those of rekindle are highlighted.
    pub(crate) bars: Vec<(String, f64)>,
}

const WIDTH: f64 = 840.0;
/// The left edge of the bars, right of the labels.
const LEFT: f64 = 400.0;
/// The length of the longest bar.
const LONGEST: f64 = 340.0;
const TOP: f64 = 44.0;
const PITCH: f64 = 26.0;
const THICKNESS: f64 = 16.0;
/// With a larger ratio of the figures, the smallest linear bar would be invisible.
const LOGARITHMIC_FROM: f64 = 50.0;

impl Chart {
    /// Returns the picture.
    pub(crate) fn svg(&self) -> String {
        let scale = Scale::of(&self.bars);
        let remark = match scale {
            Scale::Linear { .. } => "",
            Scale::Logarithmic { .. } => " (logarithmic)",
        };
        let n_bars = u32::try_from(self.bars.len()).unwrap_or(u32::MAX);
        let height = TOP + f64::from(n_bars) * PITCH + 10.0;
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" \
             font-family=\"system-ui, sans-serif\" font-size=\"13\" fill=\"#848d97\" role=\"img\">\n\
             <title>{title}</title>\n\
             <text x=\"10\" y=\"24\" font-size=\"15\" font-weight=\"600\">{title}{remark}</text>\n",
            title = escaped(&self.title),
        );
        for ((label, value), row) in self.bars.iter().zip(0_u32..) {
            let y = TOP + f64::from(row) * PITCH;
            let length = scale.length(*value);
            let label = escaped(&label.replace('`', ""));
            let (color, weight) = if label.starts_with("rekindle") {
                ("#e36209", "600")
            } else {
                ("#8b949e", "400")
            };
            let base = y + THICKNESS - 3.5;
            let _ = writeln!(
                svg,
                "<text x=\"{x}\" y=\"{base}\" text-anchor=\"end\" font-weight=\"{weight}\">{label}</text>\n\
                 <rect x=\"{LEFT}\" y=\"{y}\" width=\"{length:.1}\" height=\"{THICKNESS}\" rx=\"2\" fill=\"{color}\"/>\n\
                 <text x=\"{end:.1}\" y=\"{base}\" font-weight=\"{weight}\">{value}</text>",
                x = LEFT - 8.0,
                end = LEFT + length + 6.0,
                value = figure(*value),
            );
        }
        svg.push_str("</svg>\n");
        svg
    }
}

/// How long a bar is.
enum Scale {
    Linear {
        largest: f64,
    },
    /// From the power of ten below the smallest figure.
    Logarithmic {
        from: f64,
        largest: f64,
    },
}

impl Scale {
    fn of(bars: &[(String, f64)]) -> Self {
        let values = || bars.iter().map(|(_, value)| *value);
        let largest = values().fold(0.0, f64::max);
        let smallest = values().fold(f64::INFINITY, f64::min);
        if smallest > 0.0 && largest / smallest >= LOGARITHMIC_FROM {
            let from = 10_f64.powf(smallest.log10().ceil() - 1.0);
            Self::Logarithmic { from, largest }
        } else {
            Self::Linear { largest }
        }
    }

    fn length(&self, value: f64) -> f64 {
        let share = match self {
            Self::Linear { largest } if *largest > 0.0 => value / largest,
            Self::Linear { .. } => 0.0,
            Self::Logarithmic { from, largest } => {
                (value / from).log10() / (largest / from).log10()
            }
        };
        // Zero is drawn as a thin line.
        (share * LONGEST).max(1.0)
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lengths(values: &[f64]) -> Vec<f64> {
        let bars: Vec<_> = values
            .iter()
            .map(|value| ("x".to_owned(), *value))
            .collect();
        let scale = Scale::of(&bars);
        values.iter().map(|value| scale.length(*value)).collect()
    }

    #[test]
    fn bars_are_proportional_to_their_figures() {
        assert_eq!(lengths(&[5.0, 10.0]), [LONGEST / 2.0, LONGEST]);
        assert_eq!(lengths(&[0.0, 10.0]), [1.0, LONGEST]);
        assert_eq!(lengths(&[0.0]), [1.0]);
        // One, ten and a hundred, from a tenth on.
        let near = |length: f64, share: f64| (length - share * LONGEST).abs() < 1e-6;
        let all = lengths(&[1.0, 10.0, 100.0]);
        assert!(near(all[0], 1.0 / 3.0) && near(all[1], 2.0 / 3.0) && near(all[2], 1.0));
    }

    #[test]
    fn a_picture_has_every_label_and_figure_escaped() {
        let chart = Chart {
            name: "speed",
            title: "a < b".to_owned(),
            bars: vec![
                ("`rekindle` & co".to_owned(), 1234.0),
                ("jq".to_owned(), 1.5),
            ],
        };
        let svg = chart.svg();
        for part in [
            "<title>a &lt; b</title>",
            "a &lt; b (logarithmic)",
            ">rekindle &amp; co</text>",
            ">1,234</text>",
            ">1.50</text>",
            "fill=\"#e36209\"",
        ] {
            assert!(svg.contains(part), "{part} is not in {svg}");
        }
        assert_eq!(svg.matches("<rect").count(), 2);
        assert!(svg.ends_with("</svg>\n"));
    }
}
