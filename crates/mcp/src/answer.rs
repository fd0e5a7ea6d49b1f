//! Results of tools: one of our objects, made safe, or a page of it if it is too long.

use rekindle_text::printable_block;
use rekindle_wire::{Page, Piece};
use rmcp::model::{CallToolResult, ContentBlock};
use serde::Serialize;
use serde_json::Value;

use crate::failure::Failure;

/// The most bytes of an answer or a page. Agents cut what is longer, or refuse it.
pub(crate) const LONGEST: usize = 24 * 1024;

/// The result of a tool.
pub(crate) struct Answer {
    object: Value,
    offset: usize,
}

impl Answer {
    /// Returns a result with this object.
    pub(crate) fn new(object: &impl Serialize) -> Result<Self, Failure> {
        let object = serde_json::to_value(object)
            .map_err(|error| Failure::mistake(format!("the answer cannot be written: {error}")))?;
        let object = safe(object);
        Ok(Self { object, offset: 0 })
    }

    /// Returns the same result from an offset on, if one was given.
    pub(crate) fn from(self, offset: Option<usize>) -> Self {
        Self {
            offset: offset.unwrap_or_default(),
            ..self
        }
    }

    /// Converts it to a response: the object itself if it is short, else a page of it.
    pub(crate) fn result(self) -> Result<CallToolResult, Failure> {
        let text = self.object.to_string();
        if self.offset == 0 && text.len() <= LONGEST {
            return Ok(structured(self.object, text));
        }
        page(&text, self.offset)
    }

    /// Returns all of it as text, if it is too long for one response.
    pub(crate) fn long(&self) -> Option<String> {
        let text = self.object.to_string();
        (text.len() > LONGEST).then_some(text)
    }
}

/// Returns the piece of a result that starts at `offset`.
pub(crate) fn page(answer: &str, offset: usize) -> Result<CallToolResult, Failure> {
    let total = answer.len();
    let Some((piece, next_offset)) = cut(answer, offset) else {
        let message =
            format!("`offset` {offset} is past the end of the answer, which has {total} bytes");
        return Err(Failure::usage(message).hint("call it without `offset`"));
    };
    let page = Page {
        schema: "rekindle.page/1",
        piece: Piece {
            text: piece.to_owned(),
            offset,
            next_offset,
            total,
        },
    };
    let object = Answer::new(&page)?.object;
    let text = object.to_string();
    Ok(structured(object, text))
}

fn structured(object: Value, text: String) -> CallToolResult {
    let mut result = CallToolResult::success(vec![ContentBlock::text(text)]);
    result.structured_content = Some(object);
    result
}

/// Returns the piece of a text that starts at `offset`, and where the next one starts.
///
/// `None` if `offset` is past the end or inside a character.
pub(crate) fn cut(text: &str, offset: usize) -> Option<(&str, Option<usize>)> {
    let rest = text.get(offset..)?;
    if rest.is_empty() && offset > 0 {
        return None;
    }
    let mut end = rest.len().min(LONGEST);
    while !rest.is_char_boundary(end) {
        end -= 1;
    }
    if end < rest.len() {
        // Lines are kept whole if there are any.
        end = rest[..end].rfind('\n').map_or(end, |at| at + 1);
    }
    let next = (end < rest.len()).then_some(offset + end);
    Some((&rest[..end], next))
}

/// Returns the object with control characters in its texts made visible.
pub(crate) fn safe(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(printable_block(&text).into_owned()),
        Value::Array(items) => items.into_iter().map(safe).collect(),
        Value::Object(entries) => {
            let entries = entries.into_iter();
            entries
                .map(|(key, value)| (printable_block(&key).into_owned(), safe(value)))
                .collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_short_answer_is_its_object_and_the_same_as_text() {
        let result = Answer::new(&json!({"schema": "x/1", "n": 1})).unwrap();
        let result = result.result().unwrap();
        assert_eq!(
            result.structured_content,
            Some(json!({"schema": "x/1", "n": 1}))
        );
        let text = result.content[0].as_text().unwrap();
        assert_eq!(text.text, r#"{"n":1,"schema":"x/1"}"#);
        assert_eq!(result.is_error, Some(false));
    }

    #[test]
    fn nothing_that_disturbs_a_terminal_or_a_model_is_left() {
        let object = json!({"a\u{1b}": ["x\u{202e}y\u{7}", {"b": "line\n\ttab"}]});
        assert_eq!(
            safe(object),
            json!({"a\\u{1b}": ["x\\u{202e}y\\u{7}", {"b": "line\n\ttab"}]})
        );
    }

    #[test]
    fn an_offset_behind_the_end_is_reported() {
        let answer = Answer::new(&json!({"schema": "x/1"})).unwrap();
        assert!(answer.from(Some(1000)).result().is_err());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn pages_put_together_are_the_whole_answer(
            texts in prop::collection::vec((".{0,6}", 0_usize..2000), 0..12),
        ) {
            let texts: Vec<String> = texts.iter().map(|(text, n)| text.repeat(*n)).collect();
            let object = json!({"schema": "x/1", "texts": texts});
            let whole = safe(object.clone()).to_string();
            let mut read = String::new();
            let mut offset = None;
            loop {
                let answer = Answer::new(&object).unwrap().from(offset);
                let object = answer.result().unwrap().structured_content.unwrap();
                let page = &object["piece"];
                if page.is_null() {
                    prop_assert!(whole.len() <= LONGEST);
                    prop_assert_eq!(object.to_string(), whole);
                    return Ok(());
                }
                prop_assert_eq!(page["total"].as_u64(), Some(whole.len() as u64));
                let piece = page["text"].as_str().unwrap();
                prop_assert!(!piece.is_empty() && piece.len() <= LONGEST);
                read.push_str(piece);
                match page["next_offset"].as_u64() {
                    Some(next) => offset = usize::try_from(next).ok(),
                    None => break,
                }
            }
            prop_assert_eq!(read, whole);
        }
    }
}
