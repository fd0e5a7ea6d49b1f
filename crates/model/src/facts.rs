//! Facts: what a protocol concluded, as a neutral tree that `wire` turns into JSON.

use indexmap::IndexMap;

/// One value of a protocol's own facts; objects keep their order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fact {
    /// Unknown, or not there.
    Null,
    /// Yes or no.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A text.
    Text(String),
    /// Values in order.
    List(Vec<Fact>),
    /// Named values in order.
    Object(IndexMap<String, Fact>),
}

impl Fact {
    /// Returns an object of the given entries.
    pub fn object<K: Into<String>>(entries: impl IntoIterator<Item = (K, Fact)>) -> Self {
        Self::Object(entries.into_iter().map(|(k, v)| (k.into(), v)).collect())
    }

    /// Returns a list of what can each become a fact.
    pub fn list<T: Into<Fact>>(items: impl IntoIterator<Item = T>) -> Self {
        Self::List(items.into_iter().map(Into::into).collect())
    }
}

impl From<bool> for Fact {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<i64> for Fact {
    fn from(value: i64) -> Self {
        Self::Int(value)
    }
}

impl From<u32> for Fact {
    fn from(value: u32) -> Self {
        Self::Int(i64::from(value))
    }
}

impl From<usize> for Fact {
    fn from(value: usize) -> Self {
        Self::Int(i64::try_from(value).unwrap_or(i64::MAX))
    }
}

impl From<&str> for Fact {
    fn from(value: &str) -> Self {
        Self::Text(value.to_owned())
    }
}

impl From<String> for Fact {
    fn from(value: String) -> Self {
        Self::Text(value)
    }
}

impl<T: Into<Fact>> From<Option<T>> for Fact {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}
