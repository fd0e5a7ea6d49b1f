//! Durations in the configuration and in options: `90s`, `45m`, `2h`, `1h30m`.

use std::time::Duration;

use jiff::SignedDuration;

const WEEK: Duration = Duration::from_secs(7 * 24 * 3600);

/// Returns the duration of a text, or the problem with it.
pub fn parse_duration(text: &str) -> Result<Duration, &'static str> {
    const FORM: &str = "must be a duration like \"90s\", \"45m\" or \"1h30m\"";
    // jiff accepts more units, fractions and blanks.
    let is_plain = text
        .bytes()
        .all(|byte| byte.is_ascii_digit() || b"hms".contains(&byte));
    let duration: SignedDuration = match text.parse() {
        Ok(duration) if is_plain && !text.contains("ms") => duration,
        Ok(_) | Err(_) => return Err(FORM),
    };
    match duration.unsigned_abs() {
        Duration::ZERO => Err("must be more than zero"),
        duration if duration > WEEK => Err("must be at most a week"),
        duration => Ok(duration),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn durations_are_numbers_with_units_in_descending_order() {
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
            let read = parse_duration(text).ok().map(|duration| duration.as_secs());
            assert_eq!(read, seconds, "{text}");
        }
    }

    proptest! {
        #[test]
        fn no_text_causes_a_panic(text in "[0-9hmsä ]{0,24}") {
            let _read = parse_duration(&text);
        }
    }
}
