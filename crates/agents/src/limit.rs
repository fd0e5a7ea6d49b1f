//! Usage limits in error messages, and the time at which they end.
//!
//! Only errors are searched, never the words of a model, which may talk about rate limits too.

use jiff::civil::{Date, DateTime, Time};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp, Zoned};

/// A usage limit that stopped an agent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Limit {
    /// Its end, in RFC 3339 or in the words of the program (`10:40 PM`, `2h3m`), for [`reset_time`].
    pub resets_at: Option<String>,
}

impl Limit {
    /// Returns the precision of the time: 2 for an instant, 1 for words, 0 for none.
    pub(crate) fn exactness(&self) -> u8 {
        let time = self.resets_at.as_ref();
        time.map_or(0, |time| 1 + u8::from(time.parse::<Timestamp>().is_ok()))
    }
}

/// Words that mean a limit by themselves.
const LIMITED: &str = "usage limit|hit your|limit reached|rate limit|rate_limit|too many requests|\
    resource_exhausted|exhausted your|overloaded|high demand";

/// Words before the time, the more specific first.
const BEFORE_TIME: &str = "try again at |try again in |retry in |retry after |reset after |\
    resets at |resets in |resets on |resets ";

/// Returns the limit in an error message.
pub fn in_words(text: &str) -> Option<Limit> {
    let lower = text.to_ascii_lowercase();
    let resets_at = time_words(text, &lower);
    // A quota without a time is about money.
    let limited = LIMITED.split('|').any(|words| lower.contains(words))
        || (resets_at.is_some() && lower.contains("quota"));
    limited.then_some(Limit { resets_at })
}

/// Returns the limit of an error that is known to be one, with its time if the words have one.
pub fn known(text: &str) -> Limit {
    let resets_at = time_words(text, &text.to_ascii_lowercase());
    Limit { resets_at }
}

pub(crate) fn stamp(seconds: i64) -> Option<String> {
    Some(Timestamp::from_second(seconds).ok()?.to_string())
}

/// Extracts the time; `lower` is `text` in ASCII lower case.
fn time_words(text: &str, lower: &str) -> Option<String> {
    // Claude Code used to write `Claude AI usage limit reached|1763247600`.
    if let Some((_, seconds)) = text.trim().rsplit_once('|')
        && let Ok(seconds) = seconds.parse()
    {
        return stamp(seconds);
    }
    let start = BEFORE_TIME
        .split('|')
        .find_map(|before| Some(lower.find(before)? + before.len()))?;
    let rest = text.get(start..)?.lines().next()?;
    let end = [". ", " ·", " ∙", "; ", " or "]
        .iter()
        .filter_map(|end| rest.find(end))
        .min()
        .unwrap_or(rest.len());
    let time = rest.get(..end)?.trim_end_matches(['.', ']']).trim();
    let sensible =
        !time.is_empty() && time.len() <= 60 && time.contains(|char: char| char.is_ascii_digit());
    sensible.then(|| time.to_owned())
}

/// Returns the instant of the time of a [`Limit`], relative to `now`.
///
/// Accepts RFC 3339, a time of day with an optional day and zone (`10:40 PM`,
/// `Nov 22nd, 2026 9:20 PM`, `Mon 3am (Europe/Berlin)`), and a duration (`2h3m`, `11.054s`,
/// `5 minutes`). The default zone is that of `now`; `zone` looks up the others.
pub fn reset_time(
    words: &str,
    now: &Zoned,
    zone: impl Fn(&str) -> Option<TimeZone>,
) -> Option<Timestamp> {
    let words = words.trim();
    if let Ok(instant) = words.parse() {
        return Some(instant);
    }
    if let Some(duration) = duration(words) {
        return now.timestamp().checked_add(duration).ok();
    }
    let (words, there) = match words.split_once('(') {
        Some((words, name)) => {
            let zone = zone(name.trim_end().trim_end_matches(')').trim())?;
            (words, now.with_time_zone(zone))
        }
        None => (words, now.clone()),
    };
    day_time(&words.to_ascii_lowercase().replace([',', '@'], " "), &there)
}

/// Reads `2h3m4s`, `1.5s`, `5 minutes`, `1 hour 30 minutes`; a limit is at most a year.
fn duration(words: &str) -> Option<SignedDuration> {
    let span: jiff::Span = words.to_ascii_lowercase().parse().ok()?;
    let days = jiff::SpanRelativeTo::days_are_24_hours();
    let duration = span.to_duration(days).ok()?;
    let year = SignedDuration::from_hours(365 * 24);
    (SignedDuration::ZERO..year)
        .contains(&duration)
        .then_some(duration)
}

/// Reads a time of day with an optional day.
fn day_time(words: &str, now: &Zoned) -> Option<Timestamp> {
    let mut words: Vec<&str> = words
        .split_whitespace()
        .filter(|word| *word != "at")
        .collect();
    // `9:20 pm` in two words.
    let half = words.pop_if(|word| matches!(*word, "am" | "pm"));
    let time = time(words.pop()?, half)?;
    let instant = |date: Date| {
        let moment = DateTime::from_parts(date, time);
        Some(moment.to_zoned(now.time_zone().clone()).ok()?.timestamp())
    };
    if !words.is_empty() {
        return instant(date(&words, now)?);
    }
    let today = instant(now.date())?;
    if today > now.timestamp() {
        return Some(today);
    }
    instant(now.date().tomorrow().ok()?)
}

fn time(word: &str, half: Option<&str>) -> Option<Time> {
    let (word, half) = match (word.strip_suffix("am"), word.strip_suffix("pm")) {
        (Some(word), _) => (word, Some("am")),
        (_, Some(word)) => (word, Some("pm")),
        (None, None) => (word, half),
    };
    let (hour, minute) = word.split_once(':').unwrap_or((word, "0"));
    let (hour, minute): (i8, i8) = (hour.parse().ok()?, minute.parse().ok()?);
    let hour = match half {
        Some(_) if !(1..=12).contains(&hour) => return None,
        Some("pm") => hour % 12 + 12,
        Some(_) => hour % 12,
        None => hour,
    };
    Time::new(hour, minute, 0, 0).ok()
}

/// Reads `nov 22nd 2026`, `nov 22`, `mon`.
fn date(words: &[&str], now: &Zoned) -> Option<Date> {
    const MONTHS: [&str; 12] = [
        "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
    ];
    const DAYS: [&str; 7] = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];
    match words {
        [] => None,
        [day] => {
            let ahead = position(&DAYS, day)? - now.weekday().to_monday_one_offset();
            // The name of today means a week from now.
            let ahead = if ahead > 0 { ahead } else { ahead + 7 };
            now.date().checked_add(jiff::Span::new().days(ahead)).ok()
        }
        [month, day, year @ ..] => {
            let month = position(&MONTHS, month)?;
            let day = day.trim_end_matches(|char: char| char.is_ascii_alphabetic());
            let date = |year| Date::new(year, month, day.parse().ok()?).ok();
            match year {
                [year] => date(year.parse().ok()?),
                [] => {
                    let this = date(now.year())?;
                    let is_past = this < now.date();
                    if is_past {
                        date(now.year() + 1)
                    } else {
                        Some(this)
                    }
                }
                [_, _, ..] => None,
            }
        }
    }
}

/// Returns the position, from 1, of the name that a word begins with.
fn position(names: &[&str], word: &str) -> Option<i8> {
    let (position, _) = (1..)
        .zip(names)
        .find(|(_, name)| word.starts_with(**name))?;
    Some(position)
}

#[cfg(test)]
mod tests {
    use jiff::civil;
    use proptest::prelude::*;

    use super::*;

    fn words(text: &str) -> String {
        match in_words(text) {
            None => "no limit".to_owned(),
            Some(Limit { resets_at: None }) => "limit".to_owned(),
            Some(Limit {
                resets_at: Some(time),
            }) => format!("until {time}"),
        }
    }

    #[test]
    fn limits_and_their_times_are_found_in_errors() {
        let cases = [
            // Codex CLI 0.166.0, as printed.
            (
                "You’ve hit your usage limit. Upgrade to Pro (https://chatgpt.com/explore/pro), visit https://chatgpt.com/settings/usage to purchase more credits or try again at 10:40 PM.",
                "until 10:40 PM",
            ),
            (
                "You’ve hit your usage limit. Upgrade to Pro (https://chatgpt.com/explore/pro), visit https://chatgpt.com/settings/usage to purchase more credits or try again at Nov 22nd, 2026 9:20 PM.",
                "until Nov 22nd, 2026 9:20 PM",
            ),
            (
                "You’ve hit your usage limit. Upgrade to Pro, or try again later.",
                "limit",
            ),
            (
                "exceeded retry limit, last status: 429 Too Many Requests",
                "limit",
            ),
            (
                "We’re currently experiencing high demand, which may cause temporary errors.",
                "limit",
            ),
            (
                "Quota exceeded. Check your plan and billing details.",
                "no limit",
            ),
            ("unexpected status 401 Unauthorized", "no limit"),
            // Claude Code, as printed now and earlier.
            (
                "API Error: Request rejected (429) · This request would exceed your rate limit",
                "limit",
            ),
            (
                "You've hit your limit · resets 3am (America/New_York)",
                "until 3am (America/New_York)",
            ),
            ("5-hour limit reached ∙ resets 3pm", "until 3pm"),
            (
                "Claude AI usage limit reached|1794782400",
                "until 2026-11-15T22:40:00Z",
            ),
            ("Reached maximum number of turns (1)", "no limit"),
            // Gemini CLI.
            (
                "You have exhausted your capacity on this model. Your quota will reset after 2h3m4s.",
                "until 2h3m4s",
            ),
            (
                "[API Error: You exceeded your current quota. Please retry in 11.054s.]",
                "until 11.054s",
            ),
            (
                "You have exhausted your daily quota on this model.",
                "limit",
            ),
        ];
        for (text, expected) in cases {
            assert_eq!(words(text), expected, "{text}");
        }
    }

    fn at(words: &str) -> String {
        let zone = TimeZone::fixed(jiff::tz::offset(1));
        let now = civil::date(2026, 11, 15)
            .at(22, 30, 0, 0)
            .to_zoned(zone)
            .unwrap();
        let known = |name: &str| (name == "Far/East").then(|| TimeZone::fixed(jiff::tz::offset(9)));
        reset_time(words, &now, known).map_or_else(|| "?".to_owned(), |time| time.to_string())
    }

    #[test]
    fn every_known_spelling_of_a_time_is_read() {
        let cases = [
            ("2026-11-15T22:40:00Z", "2026-11-15T22:40:00Z"),
            ("10:40 PM", "2026-11-15T21:40:00Z"),
            ("10:20 PM", "2026-11-16T21:20:00Z"),
            ("3am", "2026-11-16T02:00:00Z"),
            ("12:15am", "2026-11-15T23:15:00Z"),
            ("12pm", "2026-11-16T11:00:00Z"),
            ("23:10", "2026-11-15T22:10:00Z"),
            ("3pm (Far/East)", "2026-11-16T06:00:00Z"),
            ("3pm (No/Where)", "?"),
            ("Nov 22nd, 2026 9:20 PM", "2026-11-22T20:20:00Z"),
            ("Jan 2, 9am", "2027-01-02T08:00:00Z"),
            ("Mon 3am", "2026-11-16T02:00:00Z"),
            ("Sun 3am", "2026-11-22T02:00:00Z"),
            ("2h3m4s", "2026-11-15T23:33:04Z"),
            ("11.054s", "2026-11-15T21:30:11.054Z"),
            ("5 minutes", "2026-11-15T21:35:00Z"),
            ("1 hour 30 minutes", "2026-11-15T23:00:00Z"),
            ("later", "?"),
            ("", "?"),
            ("13pm", "?"),
            ("25:00", "?"),
            ("Feb 30, 2026 1am", "?"),
            ("9999999999h", "?"),
        ];
        for (words, expected) in cases {
            assert_eq!(at(words), expected, "{words}");
        }
    }

    proptest! {
        #[test]
        fn no_words_cause_a_panic(text in r"(resets |try again at |[0-9apm:,. ()\|äA-Za-z]){0,12}") {
            in_words(&text);
            at(&text);
        }
    }
}
