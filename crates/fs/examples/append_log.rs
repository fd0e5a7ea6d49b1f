//! Appends events to a log as the engine does, for `cargo xtask bench durable`: `append_log PATH NUMBER`.

use std::error::Error;

use camino::Utf8PathBuf;
use rekindle_fs::{Log, Tail};

/// An event of usual length.
const EVENT: &[u8] = br#"{"event_type":"task_implemented","run_id":"20260105-0900-steps-a1b2","timestamp":"2026-01-05T09:00:00.000000Z","actor":"executor-1","task_id":"T0001","details":{"attempt":1,"commit":"5f3ed2c6b3a8d1f0e9c7b6a5948372615f4e3d2c"}}"#;

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let (Some(path), Some(number), None) = (args.next(), args.next(), args.next()) else {
        return Err("usage: append_log PATH NUMBER".into());
    };
    let mut log = Log::create(&Utf8PathBuf::from(path))?;
    for _ in 0..number.parse::<u32>()? {
        if log.append(EVENT)? == Tail::Torn {
            return Err("a line was left unfinished".into());
        }
    }
    Ok(())
}
