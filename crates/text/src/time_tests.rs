//! One line per input, and jiff's own parser as the oracle where both read the same form.

use proptest::prelude::*;

use super::*;

#[test]
fn the_usual_form_is_read() {
    check("2026-01-15T10:30:00Z", "2026-01-15T10:30:00Z");
    check("1970-01-01T00:00:00Z", "1970-01-01T00:00:00Z");
    check("1969-12-31T23:59:59Z", "1969-12-31T23:59:59Z");
    check("2024-02-29T12:00:00Z", "2024-02-29T12:00:00Z");
    check("2000-02-29T00:00:00Z", "2000-02-29T00:00:00Z");
    check("0000-01-01T00:00:00Z", "0000-01-01T00:00:00Z");
    check("9999-12-30T21:59:59Z", "9999-12-30T21:59:59Z");
}

#[test]
fn date_and_time_may_be_separated_by_t_or_a_blank() {
    check("2026-01-15t10:30:00Z", "2026-01-15T10:30:00Z");
    check("2026-01-15 10:30:00Z", "2026-01-15T10:30:00Z");
    refuse("2026-01-15_10:30:00Z");
    refuse("2026-01-15  10:30:00Z");
}

#[test]
fn seconds_may_be_missing() {
    check("2026-01-15T10:30Z", "2026-01-15T10:30:00Z");
    check("2026-01-15 10:30", "2026-01-15T10:30:00Z");
    check("2026-01-15T10:30+01:00", "2026-01-15T09:30:00Z");
    refuse("2026-01-15T10Z");
    refuse("2026-01-15T10:30:Z");
    refuse("2026-01-15T10:30.5Z");
}

#[test]
fn a_date_alone_is_midnight_utc() {
    check("2026-01-15", "2026-01-15T00:00:00Z");
    refuse("2026-01-15Z");
    refuse("2026-01-15T");
    refuse("2026-01");
    refuse("2026");
}

#[test]
fn fractions_may_have_any_number_of_digits() {
    check("2026-01-15T10:30:00.5Z", "2026-01-15T10:30:00.5Z");
    check("2026-01-15T10:30:00,123", "2026-01-15T10:30:00.123Z");
    check(
        "2026-01-15T10:30:00.000000001Z",
        "2026-01-15T10:30:00.000000001Z",
    );
    check(
        "2026-01-15T10:30:00.123456789987654321+00:00",
        "2026-01-15T10:30:00.123456789Z",
    );
    check(
        "2026-01-15T10:30:00.99999999999999999999999",
        "2026-01-15T10:30:00.999999999Z",
    );
    check("1969-12-31T23:59:59.25Z", "1969-12-31T23:59:59.25Z");
    refuse("2026-01-15T10:30:00.Z");
    refuse("2026-01-15T10:30:00.");
}

#[test]
fn zones_are_read_and_none_means_utc() {
    check("2026-01-15T10:30:00", "2026-01-15T10:30:00Z");
    check("2026-01-15T10:30:00z", "2026-01-15T10:30:00Z");
    check("2026-01-15T10:30:00+01:30", "2026-01-15T09:00:00Z");
    check("2026-01-15T10:30:00-0130", "2026-01-15T12:00:00Z");
    check("2026-01-15T10:30:00+05", "2026-01-15T05:30:00Z");
    check("2026-01-15T10:30:00-00:00", "2026-01-15T10:30:00Z");
    check("2026-01-01T00:30:00+23:59", "2025-12-31T00:31:00Z");
    check("2026-01-15T10:30:00.75-08:00", "2026-01-15T18:30:00.75Z");
    for zone in [
        "+24:00", "+01:60", "+1", "+1:00", "+010", "+01:", "+01:0", "+", "Z+01", "ZZ",
    ] {
        refuse(&format!("2026-01-15T10:30:00{zone}"));
    }
    for zone in [" Z", " +01:00", "UTC", "[UTC]", "+01:00:00", "+01:00Z"] {
        refuse(&format!("2026-01-15T10:30:00{zone}"));
    }
}

#[test]
fn surrounding_blanks_are_accepted() {
    check("  2026-01-15T10:30:00Z\t", "2026-01-15T10:30:00Z");
    check("2026-01-15T10:30:00Z\r\n", "2026-01-15T10:30:00Z");
    check(" 2026-01-15 ", "2026-01-15T00:00:00Z");
}

#[test]
fn a_leap_second_is_the_last_second_of_its_minute() {
    check("2016-12-31T23:59:60Z", "2016-12-31T23:59:59Z");
    check("2016-12-31T23:59:60.5Z", "2016-12-31T23:59:59.5Z");
    check("2017-01-01T05:29:60+05:30", "2016-12-31T23:59:59Z");
    refuse("2016-12-31T23:59:61Z");
}

#[test]
fn days_and_times_that_do_not_exist_are_refused() {
    for date in [
        "2026-02-29",
        "2026-02-30",
        "1900-02-29",
        "2100-02-29",
        "2026-04-31",
        "2026-01-32",
    ] {
        refuse(date);
        refuse(&format!("{date}T00:00:00Z"));
    }
    for date in [
        "2026-00-10",
        "2026-13-10",
        "2026-01-00",
        "2026-06-31",
        "2026-09-31",
        "2026-11-31",
    ] {
        refuse(&format!("{date}T00:00:00Z"));
    }
    for time in ["24:00:00", "23:60:00", "99:99:99"] {
        refuse(&format!("2026-01-15T{time}Z"));
    }
}

#[test]
fn instants_beyond_the_range_of_jiff_are_refused() {
    refuse("9999-12-31T23:59:59Z");
    refuse("9999-12-31");
    refuse("9999-12-30T12:00:00-23:59");
}

#[test]
fn other_text_is_refused() {
    for text in [
        "",
        " ",
        "Z",
        "now",
        "null",
        "1768473000",
        "20260115T103000Z",
        "15.01.2026",
    ] {
        refuse(text);
    }
    for text in [
        "2026-1-15",
        "+2026-01-15",
        "-2026-01-15",
        "12026-01-15",
        "2026-W03-4",
        "2026-015",
    ] {
        refuse(text);
    }
    for text in [
        "2026-01-15T1O:30:00Z",
        "２０２６-01-15",
        "2026\u{2010}01\u{2010}15",
        "2026-01-15T-1:30:00Z",
    ] {
        refuse(text);
    }
}

#[test]
fn the_stamp_of_a_file_or_run_is_read() {
    check_stamp("20260119-1030", Some("2026-01-19T10:30:00Z"));
    check_stamp("20260119-103059", Some("2026-01-19T10:30:59Z"));
    check_stamp("2026-01-19T10-30-59Z", Some("2026-01-19T10:30:59Z"));
    check_stamp("20260119-103000-T001.jsonl", Some("2026-01-19T10:30:00Z"));
    check_stamp(
        "20260119-0900-orders-api-k2l3",
        Some("2026-01-19T09:00:00Z"),
    );
    check_stamp("20260119-0900-1234", Some("2026-01-19T09:00:00Z"));
    check_stamp("20260119-0900_12", Some("2026-01-19T09:00:00Z"));
    check_stamp("20260119-0900.log", Some("2026-01-19T09:00:00Z"));
    check_stamp(
        "2026-01-19T10-30-59Z_worker-1.jsonl",
        Some("2026-01-19T10:30:59Z"),
    );
    check_stamp("2026-01-19T10-30-59Z.", Some("2026-01-19T10:30:59Z"));
}

#[test]
fn names_without_a_valid_stamp_give_none() {
    for name in [
        "",
        "notes.md",
        "20260119",
        "20260119-",
        "20260119-09",
        "20260119-090",
        "20260119.0900",
    ] {
        check_stamp(name, None);
    }
    for name in [
        "20260119-09000",
        "20260119-0900001",
        "20260119-0900T",
        "20260119-090000Z",
        "x20260119-0900",
    ] {
        check_stamp(name, None);
    }
    for name in [
        "20260230-0900",
        "20261301-0900",
        "20260119-2400",
        "20260119-0960",
        "20260119-090061",
    ] {
        check_stamp(name, None);
    }
    for name in [
        "2026-01-19T10-30-59",
        "2026-01-19T10:30:59Z",
        "2026-01-19T10-30-59ZZ",
        "2026-01-19",
        "2026-02-29T10-30-59Z",
    ] {
        check_stamp(name, None);
    }
    check_stamp("202６0119-0900", None);
}

#[test]
fn seconds_are_truncated_not_rounded() {
    let check = |instant: &str, expected: &str| {
        assert_eq!(format_seconds(instant.parse().unwrap()), expected);
    };
    check("2026-01-19T10:51:00Z", "2026-01-19T10:51:00Z");
    check("2026-01-19T10:51:00.999999999Z", "2026-01-19T10:51:00Z");
    check("1969-12-31T23:59:59.999999999Z", "1969-12-31T23:59:59Z");
    check("0001-02-03T04:05:06.7Z", "0001-02-03T04:05:06Z");
    assert_eq!(format_seconds(Timestamp::MAX), "9999-12-30T22:00:00Z");
}

#[test]
fn nine_centuries_of_days_are_consecutive() {
    let first: Timestamp = "1599-12-31T00:00:00Z".parse().unwrap();
    let mut expected = first.as_second();
    for year in 1600..2500 {
        for month in 1..=12 {
            for day in 1..=31 {
                if let Some(found) = parse_instant(&format!("{year}-{month:02}-{day:02}")) {
                    expected += 86_400;
                    assert_eq!(found.as_second(), expected, "{year}-{month}-{day}");
                }
            }
        }
    }
    assert_eq!(
        expected,
        "2499-12-31T00:00:00Z"
            .parse::<Timestamp>()
            .unwrap()
            .as_second()
    );
}

#[test]
fn fractions_of_a_second_are_written_only_if_present() {
    let shown = |text: &str| crate::format_instant(text.parse().unwrap());
    assert_eq!(shown("2026-01-19T10:51:00Z"), "2026-01-19T10:51:00Z");
    assert_eq!(shown("2026-01-19T10:51:00.25Z"), "2026-01-19T10:51:00.25Z");
    assert_eq!(
        shown("2026-01-19T10:51:00.000001999Z"),
        "2026-01-19T10:51:00.000001Z"
    );
    assert_eq!(
        shown("2026-01-19T10:51:00.123456Z"),
        "2026-01-19T10:51:00.123456Z"
    );
}

proptest! {
    #[test]
    fn formatting_and_reading_gives_the_instant_back(instant in four_digit_years()) {
        let text = format_seconds(instant);
        prop_assert_eq!(text.len(), 20);
        let read = parse_instant(&text).unwrap();
        prop_assert_eq!(i128::from(read.as_second()), instant.as_nanosecond().div_euclid(1_000_000_000));
        // With all digits, as jiff writes it, nothing is lost.
        prop_assert_eq!(parse_instant(&instant.to_string()), Some(instant));
    }

    #[test]
    fn reading_agrees_with_jiff(
        instant in four_digit_years(),
        near in "[0-2][0-9]{3}-[0-3][0-9]-[0-3][0-9]T[0-2][0-9]:[0-6][0-9]:[0-6][0-9]Z",
    ) {
        for text in [format_seconds(instant), near] {
            prop_assert_eq!(parse_instant(&text), text.parse().ok());
        }
    }

    #[test]
    fn one_wrong_byte_is_refused(at in 0_usize..20, wrong in any::<char>()) {
        let mut text = "2026-01-15T10:30:00Z".to_owned();
        text.replace_range(at..=at, &wrong.to_string());
        prop_assume!(!wrong.is_ascii_digit() && !matches!((at, wrong), (10, 't' | 'T' | ' ') | (19, 'Z' | 'z')));
        prop_assume!(!(matches!(at, 0 | 19) && wrong.is_ascii_whitespace()));
        prop_assume!(!matches!((at, wrong), (4 | 7, '-') | (13 | 16, ':')));
        prop_assert_eq!(parse_instant(&text), None);
    }

    #[test]
    fn all_forms_of_an_instant_are_read_equally(
        instant in four_digit_years(),
        separator in "[Tt ]",
        zone in "([Zz]|[+-]00(:?00)?)?",
        blanks in "[ \t]{0,2}",
    ) {
        let text = instant.to_string();
        let (date, time) = text.split_at(10);
        let time = &time[1..time.len() - 1];
        prop_assert_eq!(parse_instant(&format!("{blanks}{date}{separator}{time}{zone}{blanks}")), Some(instant));
    }

    #[test]
    fn stamps_of_an_instant_are_read_back(instant in four_digit_years(), tail in "([._-].{0,8})?") {
        let text = format_seconds(instant);
        let read = parse_instant(&text);
        let dashed = text.replace(':', "-");
        let compact = text.replace(['-', ':', 'Z'], "").replace('T', "-");
        prop_assert_eq!(file_stamp(&format!("{dashed}{tail}")), read);
        prop_assert_eq!(file_stamp(&format!("{compact}{tail}")), read);
    }

    #[test]
    fn no_text_causes_a_panic(text in any::<String>(), near in "[0-9TtZz:.,+ _-]{0,30}") {
        for text in [text, near.clone(), format!("2026-01-15{near}"), format!("2026-01-15T10:30:00{near}")] {
            parse_instant(&text);
            file_stamp(&text);
        }
    }
}

fn check(text: &str, expected: &str) {
    let expected: Timestamp = expected.parse().unwrap();
    assert_eq!(parse_instant(text), Some(expected), "{text:?}");
}

fn refuse(text: &str) {
    assert_eq!(parse_instant(text), None, "{text:?}");
}

fn check_stamp(name: &str, expected: Option<&str>) {
    let expected: Option<Timestamp> = expected.map(|text| text.parse().unwrap());
    assert_eq!(file_stamp(name), expected, "{name:?}");
}

/// Instants from year 0 to the end of jiff's range, to the nanosecond.
fn four_digit_years() -> impl Strategy<Value = Timestamp> {
    let first = "0000-01-01T00:00:00Z"
        .parse::<Timestamp>()
        .unwrap()
        .as_second();
    let last = Timestamp::MAX.as_second();
    let second = prop_oneof![first..=last, 0_i64..4_000_000_000];
    (second, 0..1_000_000_000).prop_filter_map("out of range", |(second, nanosecond)| {
        Timestamp::new(second, nanosecond).ok()
    })
}

#[test]
fn an_instant_before_1970_with_a_fraction_survives_a_round_trip() {
    for (text, shown) in [
        ("0200-03-30T22:00:00.99999Z", "0200-03-30T22:00:00.99999Z"),
        (
            "1969-12-31T23:59:59.123456789Z",
            "1969-12-31T23:59:59.123456Z",
        ),
        ("1969-12-31T23:59:59.5Z", "1969-12-31T23:59:59.5Z"),
    ] {
        let written = crate::format_instant(parse_instant(text).unwrap());
        assert_eq!(written, shown);
        assert!(parse_instant(&written).is_some());
    }
}
