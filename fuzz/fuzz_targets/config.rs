//! libFuzzer for `rekindle_fuzz::config`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| rekindle_fuzz::config(data));
