//! Instants as event logs, run ids and file names write them.
//!
//! Logs are written by many hands, so the reader is lenient about the form and strict about the
//! calendar: `2026-02-30` is no date. A time without a zone is read as UTC, never as local time,
//! so that the same file means the same on every machine. The present time is not known here.
//! Start at [`parse_instant`].

use jiff::Timestamp;

/// Reads an instant in ISO 8601 form, or returns nothing.
///
/// Accepted besides `2026-01-15T10:30:00Z`: a date alone (midnight UTC); `t` or a blank for `T`;
/// no seconds; a fraction after `.` or `,`, of which nine digits count; `z`, `+01:00`, `+0100`,
/// `+01` or no zone, which is UTC; white space around it all. A leap second, `:60`, is read as
/// `:59`, as jiff itself does: it stays in its minute and on its day.
pub fn parse_instant(text: &str) -> Option<Timestamp> {
    let bytes = text.as_bytes();
    // Nearly every line of a log has the fixed form. Measured: 14 ns for it, 23 to 28 ns for the
    // general form, 38 to 47 ns for jiff's parser. What the first does not read, whether valid or
    // not, is rare enough to be looked at twice.
    fixed_form(bytes).or_else(|| general_form(bytes.trim_ascii()))
}

/// Reads the time, as UTC, that the name of a log file or a run id begins with.
///
/// The forms are `20260119-1030`, `20260119-103000` and `2026-01-19T10-30-00Z`, followed by
/// nothing or by `.`, `-` or `_` and anything: in `20260119-0900-1234` the time is 09:00.
pub fn file_stamp(name: &str) -> Option<Timestamp> {
    let bytes = name.as_bytes();
    compact_stamp(bytes).or_else(|| dashed_stamp(bytes))
}

/// Returns the instant as `2026-01-19T10:51:00Z`: UTC, with the part below a second cut off.
pub fn format_seconds(instant: Timestamp) -> String {
    format!("{instant:.0}")
}

/// Returns the instant as `2026-01-19T10:51:00.25Z`: UTC, to the microsecond where there is a part below a second.
///
/// Several events of one second in different logs keep their order by it.
pub fn format_instant(instant: Timestamp) -> String {
    // The digits come from the calendar: counted from 1970, the part below a second is negative before it.
    let whole = format!("{instant:.6}");
    let digits = whole.trim_end_matches('Z').trim_end_matches('0');
    format!("{}Z", digits.trim_end_matches('.'))
}

/// Reads `YYYY-MM-DDTHH:MM:SSZ`, with up to nine digits of a fraction, and nothing else.
fn fixed_form(bytes: &[u8]) -> Option<Timestamp> {
    let (b, rest) = bytes.split_first_chunk::<19>()?;
    if [b[4], b[7], b[10], b[13], b[16]] != *b"--T::" {
        return None;
    }
    let nanoseconds = match rest {
        b"Z" => 0,
        [b'.', digits @ .., b'Z'] if (1..=9).contains(&digits.len()) => {
            let mut nanoseconds = 0;
            for digit in digits {
                nanoseconds = nanoseconds * 10 + digit_value(*digit)?;
            }
            nanoseconds * 10_u32.pow(9 - u32::try_from(digits.len()).ok()?)
        }
        _ => return None,
    };
    let d = b.map(|byte| u32::from(byte.wrapping_sub(b'0')));
    let digits = [
        d[0], d[1], d[2], d[3], d[5], d[6], d[8], d[9], d[11], d[12], d[14], d[15], d[17], d[18],
    ];
    // A digit plus 6 stays below 16, anything else does not: one branch instead of fourteen.
    if digits.iter().fold(0, |all, digit| all | (digit + 6)) >= 16 {
        return None;
    }
    let civil = Civil {
        year: d[0] * 1000 + d[1] * 100 + d[2] * 10 + d[3],
        month: d[5] * 10 + d[6],
        day: d[8] * 10 + d[9],
        hour: d[11] * 10 + d[12],
        minute: d[14] * 10 + d[15],
        second: d[17] * 10 + d[18],
    };
    Timestamp::new(civil.unix_seconds()?, i32::try_from(nanoseconds).ok()?).ok()
}

fn general_form(bytes: &[u8]) -> Option<Timestamp> {
    let mut reader = Reader { rest: bytes };
    let mut civil = reader.dashed_date()?;
    if reader.rest.is_empty() {
        return Timestamp::from_second(civil.unix_seconds()?).ok();
    }
    reader.one_of(b"Tt ")?;
    civil.hour = reader.number(2)?;
    reader.one_of(b":")?;
    civil.minute = reader.number(2)?;
    let mut nanoseconds = 0;
    if reader.one_of(b":").is_some() {
        civil.second = reader.number(2)?;
        if reader.one_of(b".,").is_some() {
            nanoseconds = reader.fraction()?;
        }
    }
    let offset = reader.offset_seconds()?;
    if !reader.rest.is_empty() {
        return None;
    }
    Timestamp::new(civil.unix_seconds()? - offset, nanoseconds).ok()
}

/// Reads `YYYYMMDD-HHMM` and `YYYYMMDD-HHMMSS`.
fn compact_stamp(bytes: &[u8]) -> Option<Timestamp> {
    let mut reader = Reader { rest: bytes };
    let mut civil = Civil {
        year: reader.number(4)?,
        month: reader.number(2)?,
        day: reader.number(2)?,
        ..Civil::default()
    };
    reader.one_of(b"-")?;
    civil.hour = reader.number(2)?;
    civil.minute = reader.number(2)?;
    if reader.rest.first().is_some_and(u8::is_ascii_digit) {
        civil.second = reader.number(2)?;
    }
    reader.end_of_stamp()?;
    Timestamp::from_second(civil.unix_seconds()?).ok()
}

/// Reads `YYYY-MM-DDTHH-MM-SSZ`: the fixed form for file systems that allow no colon.
fn dashed_stamp(bytes: &[u8]) -> Option<Timestamp> {
    let mut reader = Reader { rest: bytes };
    let mut civil = reader.dashed_date()?;
    reader.one_of(b"T")?;
    civil.hour = reader.number(2)?;
    reader.one_of(b"-")?;
    civil.minute = reader.number(2)?;
    reader.one_of(b"-")?;
    civil.second = reader.number(2)?;
    reader.one_of(b"Z")?;
    reader.end_of_stamp()?;
    Timestamp::from_second(civil.unix_seconds()?).ok()
}

/// What a calendar and a clock in UTC show, as it was read and not yet checked.
#[derive(Default)]
struct Civil {
    year: u32,
    month: u32,
    day: u32,
    hour: u32,
    minute: u32,
    second: u32,
}

impl Civil {
    /// Returns the seconds since 1970, or nothing when there is no such day or time of day.
    fn unix_seconds(&self) -> Option<i64> {
        let is_time = self.hour <= 23 && self.minute <= 59 && self.second <= 60;
        if !is_time || self.day < 1 || self.day > self.days_in_month()? {
            return None;
        }
        let second = self.second.min(59);
        let of_day = self.hour * 3600 + self.minute * 60 + second;
        Some(self.days_since_1970() * 86_400 + i64::from(of_day))
    }

    fn days_in_month(&self) -> Option<u32> {
        match self.month {
            1 | 3 | 5 | 7 | 8 | 10 | 12 => Some(31),
            4 | 6 | 9 | 11 => Some(30),
            2 => Some(if self.is_leap_year() { 29 } else { 28 }),
            _ => None,
        }
    }

    fn is_leap_year(&self) -> bool {
        self.year.is_multiple_of(4)
            && (!self.year.is_multiple_of(100) || self.year.is_multiple_of(400))
    }

    /// Counts days by years that begin on the first of March, so that the leap day comes last.
    ///
    /// See Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms", `days_from_civil`. The
    /// 400 years (146,097 days) keep January of the year 0 from going below zero.
    fn days_since_1970(&self) -> i64 {
        let is_before_march = self.month <= 2;
        let year = self.year + 400 - u32::from(is_before_march);
        let month = if is_before_march {
            self.month + 9
        } else {
            self.month - 3
        };
        let day_of_year = (153 * month + 2) / 5 + self.day - 1;
        let days = year * 365 + year / 4 - year / 100 + year / 400 + day_of_year;
        i64::from(days) - 719_468 - 146_097
    }
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
    fn number(&mut self, n_digits: usize) -> Option<u32> {
        let (digits, rest) = self.rest.split_at_checked(n_digits)?;
        let mut value = 0;
        for digit in digits {
            value = value * 10 + digit_value(*digit)?;
        }
        self.rest = rest;
        Some(value)
    }

    /// Takes `YYYY-MM-DD`, as midnight of that day.
    fn dashed_date(&mut self) -> Option<Civil> {
        let year = self.number(4)?;
        self.one_of(b"-")?;
        let month = self.number(2)?;
        self.one_of(b"-")?;
        let day = self.number(2)?;
        Some(Civil {
            year,
            month,
            day,
            ..Civil::default()
        })
    }

    /// Takes all digits there are, at least one, and returns the first nine as nanoseconds.
    fn fraction(&mut self) -> Option<i32> {
        let n_digits = self
            .rest
            .iter()
            .take_while(|byte| byte.is_ascii_digit())
            .count();
        let (digits, rest) = self
            .rest
            .split_at_checked(n_digits)
            .filter(|_| n_digits > 0)?;
        self.rest = rest;
        let mut nanoseconds = 0;
        let mut weight = 100_000_000;
        for digit in digits.iter().take(9) {
            nanoseconds += weight * i32::from(digit - b'0');
            weight /= 10;
        }
        Some(nanoseconds)
    }

    /// Takes a zone, if there is one, and returns how far its clocks are ahead of UTC.
    fn offset_seconds(&mut self) -> Option<i64> {
        if self.rest.is_empty() || self.one_of(b"Zz").is_some() {
            return Some(0);
        }
        let is_west = self.one_of(b"+-")? == b'-';
        let hours = self.number(2)?;
        let minutes = if self.rest.is_empty() {
            0
        } else {
            // The colon may be there or not; `+01:` alone fails at the missing number.
            let _ = self.one_of(b":");
            self.number(2)?
        };
        if hours > 23 || minutes > 59 {
            return None;
        }
        let ahead = i64::from(hours * 3600 + minutes * 60);
        Some(if is_west { -ahead } else { ahead })
    }

    /// Checks that the stamp is not the beginning of a longer number or word.
    fn end_of_stamp(&self) -> Option<()> {
        matches!(self.rest.first(), None | Some(b'.' | b'-' | b'_')).then_some(())
    }
}

fn digit_value(digit: u8) -> Option<u32> {
    digit.is_ascii_digit().then(|| u32::from(digit - b'0'))
}

#[cfg(test)]
#[path = "time_tests.rs"]
mod tests;
