//! libFuzzer for `rekindle_fuzz::kiln_teams`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| rekindle_fuzz::kiln_teams(data));
