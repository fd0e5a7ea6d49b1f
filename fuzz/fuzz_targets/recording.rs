//! libFuzzer for `rekindle_fuzz::recording`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| rekindle_fuzz::recording(data));
