//! libFuzzer for `rekindle_fuzz::spec_kit`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| rekindle_fuzz::spec_kit(data));
