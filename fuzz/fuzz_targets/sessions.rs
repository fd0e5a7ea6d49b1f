//! libFuzzer for `rekindle_fuzz::sessions`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| rekindle_fuzz::sessions(data));
