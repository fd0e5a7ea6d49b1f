//! From a time to a place on the page: a long time in which nothing happened is shortened.

/// A long pause takes at most this part of the time in which something happened.
const SHORTENED: f64 = 0.14;
/// Steps between two labels, in seconds.
const STEPS: [i64; 18] = [
    1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400, 28_800, 43_200, 86_400,
];
const DAY: i64 = 86_400;

/// The time axis of a drawing.
#[derive(Debug, Clone)]
pub(crate) struct Axis {
    left: f64,
    width: f64,
    from: i64,
    to: i64,
    /// Pauses that are shortened, and how many milliseconds of each are left.
    pauses: Vec<(i64, i64, f64)>,
    total: f64,
    offset: i64,
}

impl Axis {
    /// Returns the axis of a time in milliseconds, with the pauses in which nothing happened.
    pub(crate) fn new(
        (from, to): (i64, i64),
        pauses: &[(i64, i64)],
        (left, width): (f64, f64),
        offset: i32,
    ) -> Self {
        let to = to.max(from + 1);
        let length = |(a, b): &(i64, i64)| length(b - a);
        let active = length(&(from, to)) - pauses.iter().map(length).sum::<f64>();
        let most = active.max(1.0) * SHORTENED;
        let pauses: Vec<(i64, i64, f64)> = pauses
            .iter()
            .filter(|pause| length(pause) > most)
            .map(|&(a, b)| (a, b, most))
            .collect();
        let saved: f64 = pauses
            .iter()
            .map(|(a, b, left)| length(&(*a, *b)) - left)
            .sum();
        Self {
            left,
            width,
            from,
            to,
            total: (length(&(from, to)) - saved).max(1.0),
            pauses,
            offset: i64::from(offset),
        }
    }

    /// Returns where a time is.
    pub(crate) fn x(&self, at: i64) -> f64 {
        let at = at.clamp(self.from, self.to);
        let mut passed = length(at - self.from);
        for &(begin, end, left) in &self.pauses {
            if at >= end {
                passed -= length(end - begin) - left;
            } else if at > begin {
                let part = length(at - begin);
                passed -= part - part / length(end - begin) * left;
            }
        }
        self.left + passed / self.total * self.width
    }

    /// Returns the labels below the axis: where, and what.
    pub(crate) fn labels(&self, room: f64) -> Vec<(f64, String)> {
        let seconds = self.total / 1000.0;
        let most = (self.width / room).floor().max(1.0);
        let step = STEPS
            .iter()
            .copied()
            .find(|step| seconds / length(*step) <= most);
        // Beyond the steps: whole days.
        let days = || (seconds / most / length(DAY)).ceil();
        let step = step.unwrap_or_else(|| whole(days()).max(1) * DAY);
        let first = (self.from.div_euclid(1000) + self.offset).div_euclid(step) + 1;
        let last = (self.to.div_euclid(1000) + self.offset).div_euclid(step);
        let is_long = seconds > 20.0 * 3600.0 || !self.pauses.is_empty();
        let mut labels: Vec<(f64, String)> = Vec::new();
        let mut n = first;
        while n <= last {
            let local = n * step;
            let at = (local - self.offset) * 1000;
            n += 1;
            if let Some(&(_, end, _)) = self.pauses.iter().find(|(a, b, _)| *a < at && at < *b) {
                n = n.max((end.div_euclid(1000) + self.offset).div_euclid(step) + 1);
                continue;
            }
            let x = self.x(at);
            if labels.last().is_none_or(|(last, _)| x - last >= room * 0.6) {
                labels.push((x, label(local, step, is_long)));
            }
        }
        labels
    }

    /// Returns the time of the day at a place, for a label.
    pub(crate) fn clock(&self, at: i64) -> String {
        clock(at, self.offset, self.total < 600_000.0)
    }
}

/// Returns the time of the day of an instant in milliseconds.
pub(crate) fn clock(at: i64, offset: i64, with_seconds: bool) -> String {
    let local = at.div_euclid(1000) + offset;
    let second = local.rem_euclid(DAY);
    let text = format!("{:02}:{:02}", second / 3600, second / 60 % 60);
    if with_seconds {
        format!("{text}:{:02}", second % 60)
    } else {
        text
    }
}

fn label(local: i64, step: i64, is_long: bool) -> String {
    let clock = clock(local * 1000, 0, step < 60);
    if !is_long {
        return clock;
    }
    let (month, day) = date(local.div_euclid(DAY));
    if step >= DAY {
        return format!("{month} {day}");
    }
    format!("{month} {day} {clock}")
}

/// Returns month and day of a number of days since 1970, after Howard Hinnant's `civil_from_days`.
fn date(days: i64) -> (&'static str, i64) {
    const NAMES: [&str; 12] = [
        "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec", "Jan", "Feb",
    ];
    let shifted = days + 719_468;
    let of_era = shifted.rem_euclid(146_097);
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let name = usize::try_from(month)
        .ok()
        .and_then(|month| NAMES.get(month));
    (name.copied().unwrap_or(""), day)
}

#[expect(
    clippy::cast_precision_loss,
    reason = "a drawing has a thousand pixels, and a time of thousands of years is exact"
)]
fn length(milliseconds: i64) -> f64 {
    milliseconds as f64
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "a number of days between two labels"
)]
fn whole(value: f64) -> i64 {
    value as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: i64 = 3_600_000;

    #[test]
    fn a_long_pause_is_shortened_and_has_no_labels() {
        let axis = Axis::new((0, 62 * HOUR), &[(HOUR, 61 * HOUR)], (0.0, 228.0), 0);
        let places = [0, HOUR, 61 * HOUR, 62 * HOUR].map(|at| axis.x(at).round());
        assert!(places.is_sorted(), "{places:?}");
        let [first, second, _, last] = places;
        assert_eq!((first, second, last), (0.0, 100.0, 228.0));
        let labels = axis.labels(60.0);
        let labels: Vec<&str> = labels.iter().map(|(_, label)| label.as_str()).collect();
        assert_eq!(labels, ["Jan 1 01:00", "Jan 3 14:00"]);
    }

    #[test]
    fn labels_are_local_and_few() {
        let axis = Axis::new((0, 3 * HOUR), &[], (0.0, 900.0), 5400);
        let labels: Vec<String> = axis
            .labels(90.0)
            .into_iter()
            .map(|(_, text)| text)
            .collect();
        assert_eq!(
            labels,
            ["02:00", "02:30", "03:00", "03:30", "04:00", "04:30"]
        );
        let short = Axis::new((0, 4000), &[], (0.0, 900.0), 0);
        assert_eq!(short.labels(90.0)[0].1, "00:00:01");
        assert_eq!(date(20_454), ("Jan", 1));
        assert_eq!(date(19_782), ("Feb", 29));
    }
}
