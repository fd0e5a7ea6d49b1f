//! libFuzzer for `rekindle_fuzz::kiro`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| rekindle_fuzz::kiro(data));
