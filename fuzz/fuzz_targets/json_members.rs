//! libFuzzer for `rekindle_fuzz::json_members`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| rekindle_fuzz::json_members(data));
