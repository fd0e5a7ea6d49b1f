//! libFuzzer for `rekindle_fuzz::git_output`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| rekindle_fuzz::git_output(data));
