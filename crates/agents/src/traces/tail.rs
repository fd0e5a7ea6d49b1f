//! The end of a transcript.

use camino::Utf8Path;
use rekindle_world::{End, ReadError, World};
use serde_json::Value;

/// The maximum number of bytes: a row can contain a whole file.
pub(super) const LONGEST: usize = 8 * 1024 * 1024;

/// The rows at the end of a transcript.
#[derive(Debug, Default)]
pub struct Tail {
    /// The rows, oldest first; lines that are not objects are ignored.
    pub rows: Vec<Value>,
    /// Whether there is more before them.
    pub is_cut: bool,
    /// Whether the last line is damaged and has no line end.
    pub is_torn: bool,
    /// The number of other damaged lines.
    pub n_damaged: usize,
    /// The number of bytes that were read.
    pub len: usize,
}

impl Tail {
    /// Reads the last `first` bytes, and four times as many until the rows are enough.
    pub fn read(
        world: &dyn World,
        file: &Utf8Path,
        first: usize,
        is_enough: impl Fn(&Self) -> bool,
    ) -> Result<Self, ReadError> {
        let mut most = first.min(LONGEST);
        loop {
            let bytes = world.read_end(file, End::Tail, most)?;
            let tail = Self::parse(&bytes, bytes.len() >= most);
            if !tail.is_cut || most >= LONGEST || is_enough(&tail) {
                return Ok(tail);
            }
            most = (most * 4).min(LONGEST);
        }
    }

    /// Reads as much of the end as is ever read.
    pub fn longest(world: &dyn World, file: &Utf8Path) -> Result<Self, ReadError> {
        Self::read(world, file, LONGEST, |_| true)
    }

    fn parse(bytes: &[u8], is_cut: bool) -> Self {
        let mut tail = Self {
            is_cut,
            len: bytes.len(),
            ..Self::default()
        };
        let mut lines = bytes.split(|&byte| byte == b'\n').peekable();
        if is_cut {
            // The first line is not whole.
            lines.next();
        }
        while let Some(line) = lines.next() {
            // Programs write UTF-8, but the output of a tool in a row can be anything.
            let text = String::from_utf8_lossy(line.trim_ascii());
            if text.is_empty() {
                continue;
            }
            match serde_json::from_str::<Value>(&text) {
                Ok(row) if row.is_object() => tail.rows.push(row),
                Ok(_) | Err(_) if lines.peek().is_none() => tail.is_torn = true,
                Ok(_) | Err(_) => tail.n_damaged += 1,
            }
        }
        tail
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn damage_at_the_end_is_torn_and_elsewhere_counted() {
        let rows = |text: &str| {
            let tail = Tail::parse(text.as_bytes(), false);
            (tail.rows.len(), tail.is_torn, tail.n_damaged)
        };
        assert_eq!(rows(""), (0, false, 0));
        assert_eq!(rows("{}\r\n{}\r\n"), (2, false, 0));
        assert_eq!(rows("{}\n{}"), (2, false, 0));
        assert_eq!(rows("{}\n{\"a\":"), (1, true, 0));
        assert_eq!(rows("{}\n{\"a\":\n{}\n"), (2, false, 1));
        assert_eq!(rows("{}\n7\n"), (1, false, 1));
        assert_eq!(Tail::parse(b"\"}\n{\"a\":\"\xff\"}\n", true).rows.len(), 1);
    }
}
