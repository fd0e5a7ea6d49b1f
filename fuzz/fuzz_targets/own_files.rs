//! libFuzzer for `rekindle_fuzz::own_files`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| rekindle_fuzz::own_files(data));
