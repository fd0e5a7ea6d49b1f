//! Values as they are typed: protocols, dollars, JSON objects.

use std::time::Duration;

use rekindle_model::ProtocolName;

pub(super) fn parse_protocol(text: &str) -> Result<ProtocolName, String> {
    rekindle_app::parse_protocol(text).ok_or_else(|| {
        let known: Vec<&str> = rekindle_app::protocol_names()
            .iter()
            .map(|name| name.as_str())
            .collect();
        format!("`{text}` is not a protocol; known: {}", known.join(", "))
    })
}

/// Reads dollars into millionths of one.
pub(super) fn parse_dollars(text: &str) -> Result<u64, String> {
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !digits(whole) || !digits(part) || part.len() > 6 {
        return Err("write dollars as `5` or `2.50`".to_owned());
    }
    let millionths = format!("{whole}{part:0<6}");
    millionths
        .parse()
        .map_err(|_| "that is too much".to_owned())
}

/// Reads a shell command; an empty one would succeed and do nothing.
pub(super) fn parse_command(text: &str) -> Result<String, String> {
    if text.trim().is_empty() {
        return Err("the command is empty".to_owned());
    }
    Ok(text.to_owned())
}

/// Reads an age: a number of hours, days or weeks.
pub(super) fn parse_age(text: &str) -> Result<Duration, String> {
    let form = || "write an age as `12h`, `30d` or `8w`".to_owned();
    let (unit_at, unit) = text.char_indices().next_back().ok_or_else(form)?;
    let hours = match unit {
        'h' => 1,
        'd' => 24,
        'w' => 7 * 24,
        _ => return Err(form()),
    };
    let number: u64 = text[..unit_at].parse().map_err(|_| form())?;
    let seconds = number.checked_mul(hours * 3600);
    seconds
        .map(Duration::from_secs)
        .ok_or_else(|| "that is too long".to_owned())
}

pub(super) fn parse_object(text: &str) -> Result<String, String> {
    let value: serde_json::Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
    if value.is_object() {
        Ok(value.to_string())
    } else {
        Err("details are one JSON object, such as `{\"reason\":\"…\"}`".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_age_is_a_number_with_a_unit() {
        for (text, hours) in [
            ("12h", Some(12)),
            ("30d", Some(720)),
            ("8w", Some(1344)),
            ("0d", Some(0)),
            ("30", None),
            ("d", None),
            ("-1d", None),
            ("1.5d", None),
            ("1y", None),
            ("", None),
            ("1ä", None),
            ("99999999999999999999d", None),
            ("999999999999999999w", None),
        ] {
            let read = parse_age(text).ok().map(|age| age.as_secs() / 3600);
            assert_eq!(read, hours, "{text}");
        }
    }
}
