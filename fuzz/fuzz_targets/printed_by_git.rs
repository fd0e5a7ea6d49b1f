//! libFuzzer for `rekindle_fuzz::printed_by_git`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| rekindle_fuzz::printed_by_git(data));
