//! libFuzzer for `rekindle_fuzz::bifrost`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| rekindle_fuzz::bifrost(data));
