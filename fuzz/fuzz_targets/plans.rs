//! libFuzzer for `rekindle_fuzz::plans`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| rekindle_fuzz::plans(data));
