//! Values as they are typed: protocols, dollars, JSON objects.

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

pub(super) fn parse_object(text: &str) -> Result<String, String> {
    let value: serde_json::Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
    if value.is_object() {
        Ok(value.to_string())
    } else {
        Err("details are one JSON object, such as `{\"reason\":\"…\"}`".to_owned())
    }
}
