//! JSON as Python's `json` module reads and writes it.
//!
//! Files that Python programs share must read the same and be written with the same bytes: the last
//! of two equal keys wins but keeps the place of the first, whole numbers have no size, `NaN` and
//! `Infinity` are numbers, everything outside of ASCII is written as `\uXXXX`. What Python refuses
//! (a byte order mark, text after the end, control characters in a string) is refused here too.
//! One thing is written differently: a number with a fraction or an exponent keeps its spelling, since
//! Python would turn `1.0e400` into `Infinity`, which is not JSON.
//! One thing is refused that Python takes: half of a surrogate pair, which no `String` can hold.

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
    /// A whole number of a usual size.
    Int(i64),
    /// A whole number of any other size, in decimal digits.
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

/// A number with a fraction or an exponent. One that was read is written as it was spelled.
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

    /// Reads a number; how it is spelled is kept.
    fn parse(text: &str) -> Self {
        Self {
            value: text.parse().unwrap_or(f64::NAN),
            spelling: Some(text.into()),
        }
    }
}

impl From<f64> for Float {
    fn from(value: f64) -> Self {
        Self {
            value,
            spelling: None,
        }
    }
}

/// Numbers are equal whatever their spelling is.
impl PartialEq for Float {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

/// A JSON object: keys in the order in which they were first set.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Object(IndexMap<String, Json>);

impl Json {
    /// Returns the string, if it is one.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Null
            | Self::Bool(_)
            | Self::Int(_)
            | Self::LargeInt(_)
            | Self::Float(_)
            | Self::List(_)
            | Self::Object(_) => None,
        }
    }

    /// Returns the items, if it is an array.
    pub fn as_list(&self) -> Option<&[Self]> {
        match self {
            Self::List(items) => Some(items),
            Self::Null
            | Self::Bool(_)
            | Self::Int(_)
            | Self::LargeInt(_)
            | Self::Float(_)
            | Self::Text(_)
            | Self::Object(_) => None,
        }
    }

    /// Returns the object, if it is one.
    pub fn as_object(&self) -> Option<&Object> {
        match self {
            Self::Object(object) => Some(object),
            Self::Null
            | Self::Bool(_)
            | Self::Int(_)
            | Self::LargeInt(_)
            | Self::Float(_)
            | Self::Text(_)
            | Self::List(_) => None,
        }
    }

    /// Returns whether it is this string.
    pub fn is_text(&self, text: &str) -> bool {
        self.as_text() == Some(text)
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

    /// Returns what it is, for a sentence about what was expected.
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

    /// Sets a key and returns the object, for building one in a row.
    #[must_use]
    pub fn with(mut self, key: &str, value: impl Into<Json>) -> Self {
        self.set(key, value);
        self
    }

    /// Sets a key; one that is there keeps its place.
    pub fn set(&mut self, key: impl Into<String>, value: impl Into<Json>) {
        self.0.insert(key.into(), value.into());
    }

    /// Returns the value of a key.
    pub fn get(&self, key: &str) -> Option<&Json> {
        self.0.get(key)
    }

    /// Returns the value of a key, to be changed.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut Json> {
        self.0.get_mut(key)
    }

    /// Returns the string of a key, if it has one.
    pub fn text(&self, key: &str) -> Option<&str> {
        self.get(key).and_then(Json::as_text)
    }

    /// Returns whether there is such a key.
    pub fn has(&self, key: &str) -> bool {
        self.0.contains_key(key)
    }

    /// Takes a key out; the others keep their order.
    pub fn remove(&mut self, key: &str) -> Option<Json> {
        self.0.shift_remove(key)
    }

    /// Returns whether there is no key.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns how many keys there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns keys and values in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Json)> {
        self.0.iter().map(|(key, value)| (key.as_str(), value))
    }

    /// Returns keys and values in order, the values to be changed.
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

impl From<bool> for Json {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<i64> for Json {
    fn from(number: i64) -> Self {
        Self::Int(number)
    }
}

impl From<usize> for Json {
    fn from(number: usize) -> Self {
        i64::try_from(number).map_or_else(|_| Self::LargeInt(number.to_string()), Self::Int)
    }
}

impl From<f64> for Json {
    fn from(number: f64) -> Self {
        Self::Float(number.into())
    }
}

impl From<&str> for Json {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Json {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<&String> for Json {
    fn from(text: &String) -> Self {
        Self::Text(text.clone())
    }
}

impl From<Object> for Json {
    fn from(object: Object) -> Self {
        Self::Object(object)
    }
}

impl From<&Json> for Json {
    fn from(value: &Json) -> Self {
        value.clone()
    }
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
