//! Durations as people write them: `90s`, `45m`, `2h`, `1h30m`.

use std::time::Duration;

/// The longest: a week.
const MOST: u64 = 7 * 24 * 3600;

/// Returns the duration of a text, or what is wrong with it.
pub(super) fn parse(text: &str) -> Result<Duration, &'static str> {
    const FORM: &str = "must be a duration like \"90s\", \"45m\" or \"2h\"";
    let mut seconds: u64 = 0;
    let mut largest = u64::MAX;
    let mut rest = text;
    while !rest.is_empty() {
        let digits = rest.find(|char: char| !char.is_ascii_digit()).ok_or(FORM)?;
        let (number, tail) = rest.split_at(digits);
        let unit = match tail.as_bytes() {
            [b's', ..] => 1,
            [b'm', ..] => 60,
            [b'h', ..] => 3600,
            _ => return Err(FORM),
        };
        // Each unit once, the larger first: `30m1h` is more likely an error than meant.
        if unit >= largest {
            return Err(FORM);
        }
        largest = unit;
        let number: u64 = number.parse().map_err(|_| FORM)?;
        seconds = seconds.saturating_add(number.saturating_mul(unit));
        rest = tail.get(1..).unwrap_or_default();
    }
    match seconds {
        0 => Err(if text.is_empty() {
            FORM
        } else {
            "must be longer than nothing"
        }),
        1..=MOST => Ok(Duration::from_secs(seconds)),
        _ => Err("must be a week at most"),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn durations_are_numbers_with_units_the_larger_first() {
        let cases = [
            ("90s", Some(90)),
            ("45m", Some(2700)),
            ("2h", Some(7200)),
            ("1h30m", Some(5400)),
            ("1h0m5s", Some(3605)),
            ("168h", Some(604_800)),
            ("169h", None),
            ("0s", None),
            ("", None),
            ("45", None),
            ("m", None),
            ("30m1h", None),
            ("1m1m", None),
            ("1.5h", None),
            (" 1h", None),
            ("-1h", None),
            ("99999999999999999999h", None),
        ];
        for (text, seconds) in cases {
            let read = parse(text).ok().map(|duration| duration.as_secs());
            assert_eq!(read, seconds, "{text}");
        }
    }

    proptest! {
        #[test]
        fn no_text_can_break_it(text in "[0-9hmsä ]{0,24}") {
            let _read = parse(&text);
        }
    }
}
