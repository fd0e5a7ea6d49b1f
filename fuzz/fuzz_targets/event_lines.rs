//! libFuzzer for `rekindle_fuzz::event_lines`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| rekindle_fuzz::event_lines(data));
