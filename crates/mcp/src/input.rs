//! The lines of the input, before the library reads them.
//!
//! rmcp drops a line that it cannot parse, and answers one of a wrong shape without its number or
//! with a wrong reason. If such a line has a number, the client waits for an answer, and gets one.

use rmcp::ErrorData;
use rmcp::model::{NumberOrString, RequestId};
use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::io::{BufReader, DuplexStream};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

/// The size of the buffer between the input and the library.
const BUFFER: usize = 64 * 1024;
/// A longer line is not checked; the library drops it.
const LONGEST: u64 = 16 * 1024 * 1024;
const BOM: &[u8] = b"\xEF\xBB\xBF";

/// A request that is refused, and why.
pub(crate) struct Refused {
    pub(crate) id: RequestId,
    pub(crate) error: ErrorData,
}

/// Returns the input without the invalid requests, and those.
pub(crate) fn readable(
    input: impl AsyncRead + Send + Unpin + 'static,
) -> (DuplexStream, UnboundedReceiver<Refused>) {
    let (mut onward, readable) = tokio::io::duplex(BUFFER);
    let (refuse, refused) = unbounded_channel();
    tokio::spawn(async move {
        let mut input = BufReader::new(input);
        let mut line = Vec::new();
        let mut is_rest = false;
        loop {
            line.clear();
            let mut piece = (&mut input).take(LONGEST);
            if !matches!(piece.read_until(b'\n', &mut line).await, Ok(1..)) {
                break;
            }
            let is_whole = line.ends_with(b"\n");
            match refusal(&line).filter(|_| is_whole && !is_rest) {
                // If the receiver is gone, the server has ended.
                Some(refusal) => refuse.send(refusal).unwrap_or_default(),
                None if onward.write_all(&line).await.is_err() => break,
                None => {}
            }
            is_rest = !is_whole;
        }
    });
    (readable, refused)
}

/// Returns why a line is refused; `None` if it is valid, or if nobody waits for an answer.
fn refusal(line: &[u8]) -> Option<Refused> {
    let line = line.strip_prefix(BOM).unwrap_or(line).trim_ascii();
    let (id, error) = match serde_json::from_slice(line) {
        Ok(Value::Object(frame)) => {
            let method = frame.get("method")?.as_str()?;
            let problem = odd(method, frame.get("params"))?;
            let error = ErrorData::invalid_params(problem, None);
            (id_of(frame.get("id")?)?, error)
        }
        Ok(_) => return None,
        Err(error) => {
            let message = format!("cannot read the request: {error}");
            (id_in(line)?, ErrorData::parse_error(message, None))
        }
    };
    Some(Refused { id, error })
}

/// Returns what is wrong with the shape of parameters.
fn odd(method: &str, params: Option<&Value>) -> Option<&'static str> {
    let is_odd = |value: &Value| !value.is_object() && !value.is_null();
    if params.is_some_and(is_odd) {
        return Some("`params` must be an object");
    }
    if method != "tools/call" {
        return None;
    }
    let member = |name: &str| params.and_then(|params| params.get(name));
    if !member("name").is_some_and(Value::is_string) {
        return Some("`name` must be the name of a tool");
    }
    let has_odd_arguments = member("arguments").is_some_and(is_odd);
    has_odd_arguments.then_some("`arguments` must be an object")
}

fn id_of(value: &Value) -> Option<RequestId> {
    match value {
        Value::String(text) => Some(NumberOrString::String(text.as_str().into())),
        Value::Number(number) => number.as_i64().map(NumberOrString::Number),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

/// Returns the number of a request in a line that is not JSON, or nested too deeply for it.
fn id_in(line: &[u8]) -> Option<RequestId> {
    let mut depth = 0_u32;
    let mut rest = line;
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        match first {
            b'{' | b'[' => depth = depth.saturating_add(1),
            b'}' | b']' => depth = depth.saturating_sub(1),
            b'"' => {
                let (text, behind) = text_in(after)?;
                rest = behind;
                let value = behind.trim_ascii_start().strip_prefix(b":");
                if let (1, b"id", Some(value)) = (depth, text, value) {
                    return value_of_id(value.trim_ascii_start());
                }
            }
            _ => {}
        }
    }
    None
}

fn value_of_id(value: &[u8]) -> Option<RequestId> {
    if let Some(text) = value.strip_prefix(b"\"") {
        let text = std::str::from_utf8(text_in(text)?.0).ok()?;
        return Some(NumberOrString::String(text.into()));
    }
    let is_part = |byte: &u8| byte.is_ascii_digit() || *byte == b'-';
    let digits: Vec<u8> = value.iter().copied().take_while(is_part).collect();
    let number = std::str::from_utf8(&digits).ok()?.parse().ok()?;
    Some(NumberOrString::Number(number))
}

/// Splits a text after the first quote into what is in quotes and what follows.
fn text_in(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let mut is_escaped = false;
    let end = text.iter().position(|&byte| {
        let is_end = byte == b'"' && !is_escaped;
        is_escaped = byte == b'\\' && !is_escaped;
        is_end
    })?;
    Some((&text[..end], &text[end + 1..]))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn refused(line: &str) -> Option<String> {
        let refused = refusal(line.as_bytes())?;
        Some(format!("{} {}", refused.id, refused.error.code.0))
    }

    #[test]
    fn who_waits_is_answered_and_what_can_be_read_is_passed_on() {
        let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
        let deep = format!(r#"{{"params":{{"id":8,"a":{deep}}},"id":77,"method":"x"}}"#);
        for (line, expected) in [
            (r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#, None),
            (r#"{"jsonrpc":"2.0","method":"x","params":7}"#, None),
            (r#"{"id":1,"result":[]}"#, None),
            ("", None),
            ("nonsense", None),
            ("[1]", None),
            (r#"{"id":7,"method":"ping","params":"x"}"#, Some("7 -32602")),
            (r#"{"id":7,"method":"tools/call"}"#, Some("7 -32602")),
            (
                r#"{"id":"a","method":"tools/call","params":{"name":"list","arguments":[1]}}"#,
                Some("a -32602"),
            ),
            (
                r#"{"id":1,"method":"tools/call","params":{"name":"list"}}"#,
                None,
            ),
            (r#"{"id":1.5,"method":"ping","params":[]}"#, None),
            (r#"{"id": 9, "method": "#, Some("9 -32700")),
            (r#"{"x":"\"id\":3","id":"b","#, Some("b -32700")),
            (r#"{"params":{"id":3}"#, None),
            (&deep, Some("77 -32700")),
        ] {
            assert_eq!(refused(line).as_deref(), expected, "{line}");
        }
    }

    proptest! {
        #[test]
        fn no_line_can_break_it(line in any::<Vec<u8>>(), text in "[{}\\[\\]\":,id0-9\\\\ -]{0,40}") {
            refusal(&line);
            refusal(text.as_bytes());
        }
    }
}
