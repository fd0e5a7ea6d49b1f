//! libFuzzer for `rekindle_fuzz::json_edit`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| rekindle_fuzz::json_edit(data));
