//! libFuzzer for `rekindle_fuzz::openspec`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| rekindle_fuzz::openspec(data));
