//! JSON as Python's `json` module reads and writes it.
//!
//! Files shared with Python programs must mean the same and be written with the same bytes: of equal
//! keys the last value wins at the position of the first, whole numbers have any size, `NaN` and
//! `Infinity` are numbers, and non-ASCII characters are written as `\uXXXX`. A byte order mark, text
//! after the end and control characters in a string are refused.
//! Two differences: a number with a fraction or an exponent keeps its spelling, since Python would
//! write `1.0e400` as `Infinity`; and half of a surrogate pair is refused, since no `String` holds it.

mod read;
mod write;

use indexmap::IndexMap;

pub use read::{ParseError, parse};

/// A JSON value.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Json {
    /// `null`.
    #[default]
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A whole number that fits.
    Int(i64),
    /// A larger whole number, in decimal digits.
    LargeInt(String),
    /// Any other number.
    Float(Float),
    /// A string.
    Text(String),
    /// An array.
    List(Vec<Json>),
    /// An object.
    Object(Object),
}

/// A number with a fraction or an exponent; one that was read keeps its spelling.
#[derive(Debug, Clone)]
pub struct Float {
    value: f64,
    spelling: Option<Box<str>>,
}

impl Float {
    /// Returns the number.
    pub fn value(&self) -> f64 {
        self.value
    }

    fn parse(text: &str) -> Self {
        Self {
            value: text.parse().unwrap_or(f64::NAN),
            spelling: Some(text.into()),
        }
    }
}

impl From<f64> for Float {
    fn from(value: f64) -> Self {
        let spelling = None;
        Self { value, spelling }
    }
}

/// Compares the numbers, not their spelling.
impl PartialEq for Float {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

/// A JSON object with its keys in insertion order.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Object(IndexMap<String, Json>);

impl Json {
    /// Returns the string, if it is one.
    pub fn as_text(&self) -> Option<&str> {
        let Self::Text(text) = self else { return None };
        Some(text)
    }

    /// Returns the items, if it is an array.
    pub fn as_list(&self) -> Option<&[Self]> {
        let Self::List(items) = self else { return None };
        Some(items)
    }

    /// Returns the object, if it is one.
    pub fn as_object(&self) -> Option<&Object> {
        let Self::Object(object) = self else {
            return None;
        };
        Some(object)
    }

    /// Returns whether it is this string.
    pub fn is_text(&self, text: &str) -> bool {
        self.as_text() == Some(text)
    }

    /// Returns the string, or any other value as JSON on one line.
    pub fn to_plain_text(&self) -> String {
        self.as_text().map_or_else(|| self.to_line(), str::to_owned)
    }

    /// Returns what Python's `if` makes of it: nothing, zero and what is empty are false.
    pub fn is_truthy(&self) -> bool {
        match self {
            Self::Null => false,
            Self::Bool(value) => *value,
            Self::Int(number) => *number != 0,
            Self::LargeInt(_) => true,
            Self::Float(number) => number.value != 0.0,
            Self::Text(text) => !text.is_empty(),
            Self::List(items) => !items.is_empty(),
            Self::Object(object) => !object.is_empty(),
        }
    }

    /// Returns its type with an article, for messages.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "a boolean",
            Self::Int(_) | Self::LargeInt(_) | Self::Float(_) => "a number",
            Self::Text(_) => "a string",
            Self::List(_) => "an array",
            Self::Object(_) => "an object",
        }
    }
}

impl Object {
    /// Returns an object without keys.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets a key and returns the object.
    #[must_use]
    pub fn with(mut self, key: &str, value: impl Into<Json>) -> Self {
        self.set(key, value);
        self
    }

    /// Sets a key; a present one keeps its position.
    pub fn set(&mut self, key: impl Into<String>, value: impl Into<Json>) {
        self.0.insert(key.into(), value.into());
    }

    /// Returns the value of a key.
    pub fn get(&self, key: &str) -> Option<&Json> {
        self.0.get(key)
    }

    /// Returns the mutable value of a key.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut Json> {
        self.0.get_mut(key)
    }

    /// Returns the string of a key, if it has one.
    pub fn text(&self, key: &str) -> Option<&str> {
        self.get(key).and_then(Json::as_text)
    }

    /// Returns the object of a key, if it has one.
    pub fn object(&self, key: &str) -> Option<&Self> {
        self.get(key).and_then(Json::as_object)
    }

    /// Returns the items of the array of a key; any other value has none.
    pub fn list(&self, key: &str) -> &[Json] {
        self.get(key).and_then(Json::as_list).unwrap_or_default()
    }

    /// Returns the strings in the array of a key.
    pub fn texts(&self, key: &str) -> impl Iterator<Item = &str> {
        self.list(key).iter().filter_map(Json::as_text)
    }

    /// Returns the objects in the array of a key.
    pub fn objects(&self, key: &str) -> impl DoubleEndedIterator<Item = &Self> {
        self.list(key).iter().filter_map(Json::as_object)
    }

    /// Returns whether the value of a key is `true`.
    pub fn is_true(&self, key: &str) -> bool {
        self.get(key) == Some(&Json::Bool(true))
    }

    /// Returns whether there is such a key.
    pub fn has(&self, key: &str) -> bool {
        self.0.contains_key(key)
    }

    /// Removes a key; the others keep their order.
    pub fn remove(&mut self, key: &str) -> Option<Json> {
        self.0.shift_remove(key)
    }

    /// Returns whether it has no keys.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the number of keys.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns keys and values in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Json)> {
        self.0.iter().map(|(key, value)| (key.as_str(), value))
    }

    /// Returns keys and mutable values in order.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (&str, &mut Json)> {
        self.0.iter_mut().map(|(key, value)| (key.as_str(), value))
    }
}

impl FromIterator<(String, Json)> for Object {
    fn from_iter<T: IntoIterator<Item = (String, Json)>>(pairs: T) -> Self {
        Self(pairs.into_iter().collect())
    }
}

impl IntoIterator for Object {
    type Item = (String, Json);
    type IntoIter = indexmap::map::IntoIter<String, Json>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

macro_rules! from {
    ($($type:ty: $value:ident => $json:expr;)*) => {$(
        impl From<$type> for Json {
            fn from($value: $type) -> Self {
                $json
            }
        }
    )*};
}

from! {
    bool: value => Self::Bool(value);
    i64: number => Self::Int(number);
    usize: number => {
        i64::try_from(number).map_or_else(|_| Self::LargeInt(number.to_string()), Self::Int)
    };
    f64: number => Self::Float(number.into());
    &str: text => Self::Text(text.to_owned());
    String: text => Self::Text(text);
    &String: text => Self::Text(text.clone());
    Object: object => Self::Object(object);
    &Json: value => value.clone();
}

impl<T: Into<Json>> From<Option<T>> for Json {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

impl<T: Into<Json>> From<Vec<T>> for Json {
    fn from(items: Vec<T>) -> Self {
        Self::List(items.into_iter().map(Into::into).collect())
    }
}

impl<T: Clone + Into<Json>> From<&[T]> for Json {
    fn from(items: &[T]) -> Self {
        Self::List(items.iter().cloned().map(Into::into).collect())
    }
}

#[cfg(test)]
#[path = "python_json_tests.rs"]
mod tests;
