//! Crash points of all other builds: they do nothing.

use std::io;

/// Passes a crash point without a change.
#[inline]
pub fn point(_name: &str) {}

/// Passes a crash point before a change that needs no room on the disk.
#[inline]
pub fn change(_name: &str) -> io::Result<()> {
    Ok(())
}

/// Passes a crash point before a change that may need room on the disk.
#[inline]
pub fn growth(_name: &str) -> io::Result<()> {
    Ok(())
}

/// Writes bytes.
#[inline]
pub fn write<T>(
    _name: &str,
    bytes: &[u8],
    write: impl FnOnce(&[u8]) -> io::Result<T>,
) -> io::Result<T> {
    write(bytes)
}
