//! libFuzzer for `rekindle_fuzz::times`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| rekindle_fuzz::times(data));
