//! libFuzzer for `rekindle_fuzz::map_commands`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| rekindle_fuzz::map_commands(data));
