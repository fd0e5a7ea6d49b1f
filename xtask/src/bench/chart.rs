//! Bars with labels, written as SVG: readable on light and dark ground, and without any program.

use std::fmt::Write as _;

use super::report::figure;

/// Figures as bars.
pub(super) struct Chart {
    /// The file's name without its ending.
    pub(super) name: &'static str,
    /// What is shown, with its unit.
    pub(super) title: String,
    pub(super) bars: Vec<Bar>,
}

/// One figure.
pub(super) struct Bar {
    pub(super) label: String,
    pub(super) value: f64,
    /// Whether it is rekindle's.
    pub(super) own: bool,
}

impl Bar {
    pub(super) fn new(label: impl Into<String>, value: f64) -> Self {
        let label = label.into().replace('`', "");
        let own = label.starts_with("rekindle");
        Self { label, value, own }
    }
}

const WIDTH: f64 = 840.0;
/// Where bars begin; labels stand before.
const LEFT: f64 = 400.0;
/// The longest bar; its figure stands behind it.
const LONGEST: f64 = 340.0;
const TOP: f64 = 44.0;
const PITCH: f64 = 26.0;
const THICKNESS: f64 = 16.0;
/// From this ratio of the largest to the smallest figure on, a linear bar of the smallest can not be seen.
const LOGARITHMIC_FROM: f64 = 50.0;

impl Chart {
    /// Returns the picture.
    pub(super) fn svg(&self) -> String {
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
        for (bar, row) in self.bars.iter().zip(0_u32..) {
            let y = TOP + f64::from(row) * PITCH;
            let length = scale.length(bar.value);
            let color = if bar.own { "#e36209" } else { "#8b949e" };
            let weight = if bar.own { "600" } else { "400" };
            let base = y + THICKNESS - 3.5;
            let _ = writeln!(
                svg,
                "<text x=\"{x}\" y=\"{base}\" text-anchor=\"end\" font-weight=\"{weight}\">{label}</text>\n\
                 <rect x=\"{LEFT}\" y=\"{y}\" width=\"{length:.1}\" height=\"{THICKNESS}\" rx=\"2\" fill=\"{color}\"/>\n\
                 <text x=\"{end:.1}\" y=\"{base}\" font-weight=\"{weight}\">{value}</text>",
                x = LEFT - 8.0,
                label = escaped(&bar.label),
                end = LEFT + length + 6.0,
                value = figure(bar.value),
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
    fn of(bars: &[Bar]) -> Self {
        let values = || bars.iter().map(|bar| bar.value);
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
        // A bar of nothing is a line still.
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
        let bars: Vec<Bar> = values.iter().map(|value| Bar::new("x", *value)).collect();
        let scale = Scale::of(&bars);
        values.iter().map(|value| scale.length(*value)).collect()
    }

    #[test]
    fn bars_are_as_long_as_their_figures_are_large() {
        assert_eq!(lengths(&[5.0, 10.0]), [LONGEST / 2.0, LONGEST]);
        assert_eq!(lengths(&[0.0, 10.0]), [1.0, LONGEST]);
        assert_eq!(lengths(&[0.0]), [1.0]);
        // One, ten and a hundred, from a tenth on.
        let near = |length: f64, share: f64| (length - share * LONGEST).abs() < 1e-6;
        let all = lengths(&[1.0, 10.0, 100.0]);
        assert!(near(all[0], 1.0 / 3.0) && near(all[1], 2.0 / 3.0) && near(all[2], 1.0));
    }

    #[test]
    fn a_picture_has_every_label_and_figure_and_no_markup_of_theirs() {
        let chart = Chart {
            name: "speed",
            title: "a < b".to_owned(),
            bars: vec![Bar::new("`rekindle` & co", 1234.0), Bar::new("jq", 1.5)],
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
