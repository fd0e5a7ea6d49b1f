//! libFuzzer for `rekindle_fuzz::markdown`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| rekindle_fuzz::markdown(data));
