//! Instants as event logs, run ids and file names write them.
//!
//! The reader is lenient about the form and strict about the calendar: it refuses `2026-02-30`. A
//! time without a zone is UTC, so that a file means the same on every machine.
//! Start at [`parse_instant`].

use jiff::Timestamp;
use jiff::civil::{Date, DateTime, Time};
use jiff::tz::Offset;

/// Reads an instant in ISO 8601 form.
///
/// Accepted besides `2026-01-15T10:30:00Z`: a date alone (midnight UTC); `t` or a blank for `T`;
/// no seconds; a fraction after `.` or `,`, of which nine digits count; `z`, `+01:00`, `+0100`,
/// `+01` or no zone (UTC); white space around it all. A leap second, `:60`, is read as `:59`.
pub fn parse_instant(text: &str) -> Option<Timestamp> {
    let mut reader = Reader {
        rest: text.as_bytes().trim_ascii(),
    };
    let date = reader.dashed_date()?;
    if reader.rest.is_empty() {
        return instant(date, Time::midnight());
    }
    reader.one_of(b"Tt ")?;
    let hour = reader.number(2)?;
    reader.one_of(b":")?;
    let minute = reader.number(2)?;
    let (mut second, mut nanosecond) = (0, 0);
    if reader.one_of(b":").is_some() {
        second = reader.number(2)?;
        if reader.one_of(b".,").is_some() {
            nanosecond = reader.fraction()?;
        }
    }
    let offset = reader.offset()?;
    let local = DateTime::from_parts(date, time(hour, minute, second, nanosecond)?);
    let instant = offset.to_timestamp(local).ok();
    instant.filter(|_| reader.rest.is_empty())
}

/// Reads the time, as UTC, at the beginning of the name of a log file or a run id.
///
/// The forms are `20260119-1030`, `20260119-103000` and `2026-01-19T10-30-00Z`, followed by
/// nothing or by `.`, `-` or `_` and anything: in `20260119-0900-1234` the time is 09:00.
pub fn file_stamp(name: &str) -> Option<Timestamp> {
    let reader = || Reader {
        rest: name.as_bytes(),
    };
    reader().compact_stamp().or_else(|| reader().dashed_stamp())
}

/// Returns the instant as `2026-01-19T10:51:00Z`: UTC, truncated to the second.
pub fn format_seconds(instant: Timestamp) -> String {
    format!("{instant:.0}")
}

/// Returns a length of time in its two largest units: `42 s`, `25 min`, `2 h 48 min`, `3 d 1 h`.
pub fn spoken_seconds(seconds: i64) -> String {
    const UNITS: [(i64, &str); 4] = [(86_400, "d"), (3_600, "h"), (60, "min"), (1, "s")];
    let seconds = seconds.max(0);
    let first = UNITS.iter().position(|(unit, _)| seconds >= *unit);
    let first = first.unwrap_or(UNITS.len() - 1);
    let (unit, name) = UNITS[first];
    let whole = format!("{} {name}", seconds / unit);
    match UNITS.get(first + 1) {
        // Nobody asks for the seconds of an hour, nor for those of many minutes.
        Some((next, name)) if seconds % unit >= *next && seconds < unit * 10 && *next > 1 => {
            format!("{whole} {} {name}", seconds % unit / next)
        }
        Some(_) | None => whole,
    }
}

/// Returns the instant as `2026-01-19T10:51:00.25Z`: UTC, with up to six digits of a second, so that
/// events of one second in different logs keep their order.
pub fn format_instant(instant: Timestamp) -> String {
    let whole = format!("{instant:.6}");
    let digits = whole.trim_end_matches('Z').trim_end_matches('0');
    format!("{}Z", digits.trim_end_matches('.'))
}

fn time(hour: i8, minute: i8, second: i8, nanosecond: i32) -> Option<Time> {
    let second = if second == 60 { 59 } else { second };
    Time::new(hour, minute, second, nanosecond).ok()
}

fn instant(date: Date, time: Time) -> Option<Timestamp> {
    Offset::UTC
        .to_timestamp(DateTime::from_parts(date, time))
        .ok()
}

/// Takes one piece after another off the front.
struct Reader<'a> {
    rest: &'a [u8],
}

impl Reader<'_> {
    /// Takes one byte if it is among `wanted`.
    fn one_of(&mut self, wanted: &[u8]) -> Option<u8> {
        let (&first, rest) = self.rest.split_first()?;
        wanted.contains(&first).then(|| {
            self.rest = rest;
            first
        })
    }

    /// Takes exactly this many digits; more may follow.
    fn number<T: TryFrom<i32>>(&mut self, n_digits: usize) -> Option<T> {
        let (digits, rest) = self.rest.split_at_checked(n_digits)?;
        let mut value = 0;
        for digit in digits {
            value = value * 10 + i32::from(digit.is_ascii_digit().then(|| digit - b'0')?);
        }
        self.rest = rest;
        value.try_into().ok()
    }

    /// Takes `YYYY-MM-DD`.
    fn dashed_date(&mut self) -> Option<Date> {
        let year = self.number(4)?;
        self.one_of(b"-")?;
        let month = self.number(2)?;
        self.one_of(b"-")?;
        Date::new(year, month, self.number(2)?).ok()
    }

    /// Takes all digits there are, at least one, and returns the first nine as nanoseconds.
    fn fraction(&mut self) -> Option<i32> {
        let mut nanoseconds = 0;
        let mut weight = 100_000_000;
        let mut digit: Option<i32> = Some(self.number(1)?);
        while let Some(value) = digit {
            nanoseconds += weight * value;
            weight /= 10;
            digit = self.number(1);
        }
        Some(nanoseconds)
    }

    /// Takes the zone; a missing one is UTC.
    fn offset(&mut self) -> Option<Offset> {
        if self.rest.is_empty() || self.one_of(b"Zz").is_some() {
            return Some(Offset::UTC);
        }
        let sign = if self.one_of(b"+-")? == b'-' { -1 } else { 1 };
        let hours: i32 = self.number(2)?;
        let mut minutes = 0;
        if !self.rest.is_empty() {
            // The colon is optional; `+01:` alone fails at the missing number.
            let _ = self.one_of(b":");
            minutes = self.number(2)?;
        }
        let seconds = sign * (hours * 3600 + minutes * 60);
        let offset = Offset::from_seconds(seconds).ok();
        offset.filter(|_| hours <= 23 && minutes <= 59)
    }

    /// Takes `YYYYMMDD-HHMM` or `YYYYMMDD-HHMMSS`.
    fn compact_stamp(&mut self) -> Option<Timestamp> {
        let date = Date::new(self.number(4)?, self.number(2)?, self.number(2)?).ok()?;
        self.one_of(b"-")?;
        let (hour, minute) = (self.number(2)?, self.number(2)?);
        let has_second = self.rest.first().is_some_and(u8::is_ascii_digit);
        let second = if has_second { self.number(2)? } else { 0 };
        self.end_of_stamp(date, time(hour, minute, second, 0)?)
    }

    /// Takes `YYYY-MM-DDTHH-MM-SSZ`, the form for file systems that allow no colon.
    fn dashed_stamp(&mut self) -> Option<Timestamp> {
        let date = self.dashed_date()?;
        self.one_of(b"T")?;
        let hour = self.number(2)?;
        self.one_of(b"-")?;
        let minute = self.number(2)?;
        self.one_of(b"-")?;
        let second = self.number(2)?;
        self.one_of(b"Z")?;
        self.end_of_stamp(date, time(hour, minute, second, 0)?)
    }

    /// Returns the time unless it is the beginning of a longer number or word.
    fn end_of_stamp(&self, date: Date, time: Time) -> Option<Timestamp> {
        let is_end = matches!(self.rest.first(), None | Some(b'.' | b'-' | b'_'));
        instant(date, time).filter(|_| is_end)
    }
}

#[cfg(test)]
#[path = "time_tests.rs"]
mod tests;
