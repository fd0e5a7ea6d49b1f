//! libFuzzer for `rekindle_fuzz::sessions_claude`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| rekindle_fuzz::sessions_claude(data));
