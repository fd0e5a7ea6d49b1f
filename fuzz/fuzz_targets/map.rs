//! libFuzzer for `rekindle_fuzz::map`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| rekindle_fuzz::map(data));
